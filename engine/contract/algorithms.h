/*
 * algorithms.h: the one table of all algorithms. The enum, the dispatch of both engines and of the papers' systems, the checks of
 * queries, the verifiers, the SQL side (arguments, rows, allocation, plans), emogi_bench and the comparisons of tests are made
 * of it; algorithm.c keeps it for run time.
 *
 * An algorithm is a row:
 *
 *   OTHER(NAME, name, cpu, cuda, papers, verifier, lists, weights, traits, (parameters), (columns))
 *
 * NAME        EMOGI_NAME is the algorithm, emogi_name its SQL function
 * cpu         emogi_cpu_CPU of engine/cpu answers it, emogi_cuda_CUDA of cuda, emogi_papers_PAPERS and
 *             emogi_shards_PAPERS of cuda/papers; emogi_verify_VERIFIER of engine/verify says whether an answer is
 *             right. `none`: there is nothing there, and the CPU answers, with a reason
 * lists       EmogiLists: which lists of the Graph it reads
 * weights     EmogiWeights: which weights it reads, and which it refuses
 * traits      EMOGI_* below, or 0
 * parameters  {kind, value when the call names none}, in the order of the SQL function's arguments after the graph
 * columns     {name, type, value of a vertex that has no row}, in the order of the SQL function's columns after `vertex`; the
 *             first decides whether a vertex has a row; NAN: every vertex has
 *
 * Two semirings cover the applications of EMOGI, CuSha, EtaGraph and Subway (CuSha, HPDC 2014, Table 3, shows how). A row of
 * theirs is the whole definition, with its formulas; semirings.h makes functions of these. All arithmetic is double.
 *
 * The path semiring takes the best over all paths of a value that only gets worse along a path, so that the answer does not
 * depend on the order of the work, bit for bit: emogi_NAME(graph, source, direction), or with EMOGI_PATH_ADDITIVE (graph, source,
 * max_distance, direction).
 *
 *   PATH(NAME, name, column, order, source, traits, candidate)
 *
 * order       EMOGI_LEAST: the less a value, the better, +inf = not reached; EMOGI_MOST: the more, -1 = not reached
 * source      value of the path without an edge
 * traits      EMOGI_PATH_ADDITIVE or 0; with EMOGI_PATH_ADDITIVE the order is EMOGI_LEAST and the source finite
 * candidate   of the value of u and the weight of u -> v: an offer to v, taken when better. Values are never below 0, nor -0.
 *             Weights are lengths, 0 or more, also above 1; +inf is impassable: its offer is no better than the value of what is
 *             not reached. No offer is better than the value it is made of, and better values make no worse offers
 *
 * The sum semiring gathers over the edges that end in a vertex, iteration by iteration, from given start values:
 * emogi_NAME(graph, start, max_iterations, tolerance, direction). The largest change of a vertex is compared with the tolerance.
 *
 *   SUM(NAME, name, direction, weights, traits, contribution, finish, lipschitz)
 *
 * direction     when the call names none
 * traits        EMOGI_SUM_USES_OWN_VALUE, EMOGI_SUM_DIRICHLET, EMOGI_SUM_KEEPS_ISOLATED, or 0
 * contribution  of u to v by an edge u -> v: of the value of u (other), that of v (own) and the weight
 * finish        the new value of v: of its value (own), the sum of the contributions in an order set by the list alone, and the
 *               sum of the weights (total; 0 where the application has not EMOGI_SUM_DIRICHLET)
 * lipschitz     how many times the difference of two sets of values, the largest of a vertex, can be larger after an iteration,
 *               at most: of the sum of v's weights (total) and that of their sizes (magnitude)
 */
#ifndef EMOGI_ALGORITHMS_H
#define EMOGI_ALGORITHMS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which way a traversal follows a stored edge src -> dst. */
typedef enum EmogiDirection
{
	EMOGI_OUT = 0,				/* src to dst */
	EMOGI_IN,					/* dst to src */
	EMOGI_BOTH					/* either way: every edge enters two lists, a self-loop one */
} EmogiDirection;

/* Which lists an algorithm reads: where the list of a vertex leads, when the call's direction is `out`. */
typedef enum EmogiLists
{
	EMOGI_LISTS_ALONG = 0,		/* along the edges: a traversal */
	EMOGI_LISTS_AGAINST,		/* against the edges: a vertex gathers from where edges come */
	EMOGI_LISTS_BOTH_WAYS,		/* either way, whatever the direction: undirected, parallel edges and self-loops kept */
	EMOGI_LISTS_ANY				/* one of the above, whichever is there */
} EmogiLists;

/* How alike two sets A and B are. */
typedef enum EmogiMeasure
{
	EMOGI_JACCARD = 0,			/* |A and B| / |A or B| */
	EMOGI_OVERLAP,				/* |A and B| / min(|A|, |B|) */
	EMOGI_COSINE				/* |A and B| / sqrt(|A| |B|) */
} EmogiMeasure;

/* What weights a call reads, and which it refuses. NaN and NULL are refused always. */
typedef enum EmogiWeights
{
	EMOGI_WEIGHTS_UNUSED = 0,	/* every edge weighs 1, and no weight column is read */
	EMOGI_WEIGHTS_LENGTHS,		/* 0 .. +infinity: negative ones are refused */
	EMOGI_WEIGHTS_CONDUCTANCES, /* 0 and more, finite */
	EMOGI_WEIGHTS_FACTORS,		/* any finite number */
	EMOGI_WEIGHTS_ANY			/* any number: no algorithm's, but of who looks at a Graph as it is */
} EmogiWeights;

/* What an algorithm takes, beside the Graph. parameters.h has types and ranges of numbers and switches. */
typedef enum EmogiParameterKind
{
	EMOGI_NO_PARAMETER = 0,		/* ends a list of parameters */
	EMOGI_SOURCES,				/* one vertex or several */
	EMOGI_TARGETS,				/* several vertices: where the ways that are asked for end */
	EMOGI_MAX_DEPTH,			/* hops, -1 = no bound: first column <= it */
	EMOGI_MAX_DISTANCE,			/* +inf = no bound: first column <= it */
	EMOGI_DAMPING,				/* probability of a step along an edge */
	EMOGI_ALPHA,				/* what an edge more is worth */
	EMOGI_BETA,					/* what every vertex has by itself */
	EMOGI_START,				/* a query of start values: a double a vertex */
	EMOGI_LEAP,					/* the same, 0 and more, or none: where leaps go, in these proportions */
	EMOGI_MAX_ITERATIONS,
	EMOGI_TOLERANCE,			/* stop after a change below it; 0 = exactly max_iterations */
	EMOGI_SAMPLES,				/* estimate from searches from so many vertices; 0 = exactly, from all */
	EMOGI_RESOLUTION,			/* of modularity */
	EMOGI_THETA,				/* how random choices are; 0 = not at all */
	EMOGI_MAX_CLUSTER_SIZE,		/* vertices of a community; 0 = no bound */
	EMOGI_MAX_LEVELS,			/* of a hierarchy; 0 = no bound */
	EMOGI_COMMUNITIES,			/* a query of communities: a double a vertex, equal for those of one */
	EMOGI_SEED,					/* of the random choices */
	EMOGI_NORMALIZED,			/* divide by the number of pairs, or to length 1 */
	EMOGI_LENGTH,				/* steps of a walk, at most */
	EMOGI_WALKS,				/* from each source */
	EMOGI_RETURN,				/* node2vec's p */
	EMOGI_IN_OUT,				/* node2vec's q */
	EMOGI_MEASURE,				/* EmogiMeasure */
	EMOGI_TOP_K,				/* of each vertex */
	EMOGI_CUTOFF,				/* what is less is passed over */
	EMOGI_PAIRS,				/* a query of pairs of vertices, or none: all are looked at */
	EMOGI_MAXIMUM,				/* the heaviest edges are wanted, not the lightest */
	EMOGI_DIRECTION,			/* EmogiDirection */
	EMOGI_WEIGHTED				/* weights of the edges are read, as conductances are */
} EmogiParameterKind;

typedef struct EmogiParameter
{
	EmogiParameterKind kind;
	double		otherwise;		/* when the call names none */
} EmogiParameter;

typedef enum EmogiColumnType
{
	EMOGI_INT32,				/* 0 and more, but for `none` */
	EMOGI_INT64,				/* likewise */
	EMOGI_FLOAT64,
	EMOGI_VERTEX,				/* uint32, a vertex number; its key in SQL */
	EMOGI_EDGE					/* an edge's name, which no engine knows: src/function/edge_names.c */
} EmogiColumnType;

typedef struct EmogiResultColumn
{
	const char *name;			/* NULL ends a list of columns */
	EmogiColumnType type;
	double		none;			/* value of a vertex that has no row; NAN = every vertex has one */
} EmogiResultColumn;

#define EMOGI_NO_VERTEX UINT32_C(0xFFFFFFFF)	/* no vertex number */
#define EMOGI_MAX_PARAMETERS 8
#define EMOGI_MAX_COLUMNS 7

/* Traits of the path semiring. */
#define EMOGI_PATH_ADDITIVE 0x01u		/* values are sums of weights: they are bounded by max_distance and by targets, and searched at
								 * equal steps; others are weights or near them, and searched at quantiles of the weights */

/* Traits of the sum semiring. */
#define EMOGI_SUM_USES_OWN_VALUE 0x02u			/* a contribution looks at the value of the vertex that it goes to */
#define EMOGI_SUM_DIRICHLET 0x04u		/* start values stay (a Dirichlet boundary); the other vertices, NaN at the start, begin with 0, and
								 * finish gets their weights */
#define EMOGI_SUM_KEEPS_ISOLATED 0x08u		/* a vertex without an edge in keeps its value */

/* Traits of any algorithm. */
#define EMOGI_STOPS 0x10u		/* may stop when the targets of the query are settled, when they are all that is wanted */
#define EMOGI_NEEDS_BACKWARD 0x20u	/* reads the transpose of its lists, too */
#define EMOGI_WEIGHS_BACKWARD 0x800u	/* the same where weights are asked for (EMOGI_WEIGHTED) */
#define EMOGI_HAS_MSBFS 0x40u	/* many sources at once can be searched from, each by itself (cpu/msbfs.h) */
#define EMOGI_MAY_DIVERGE 0x80u /* values can grow out of range, which is an error of the call */
#define EMOGI_IS_TOTAL 0x200u	/* the SQL function returns a number made of the sum of the first column, no rows; it takes vertices of any type */
#define EMOGI_IS_LIST 0x400u	/* the columns have an element for each of query.h's emogi_query_length, and so has the SQL function a row */
#define EMOGI_IS_HIERARCHY 0x100u	/* the columns tell a hierarchy (hierarchy.h): a row of the SQL function is a vertex at a level */
#define EMOGI_IS_EDGES 0x1000u	/* the first column is another vertex: a row of the SQL function is the edge between the two, smaller end first,
								 * and the other columns */
#define EMOGI_IS_BLOCKS 0x2000u	/* the columns tell blocks (blocks.h): a row of the SQL function is a vertex in a block */
#define EMOGI_IS_TREE 0x4000u	/* the columns tell a forest of searches: a row of the SQL function is a vertex with its way there, NULL at a root */
#define EMOGI_IS_PART 0x8000u	/* there is no SQL function: a plan asks for it in the place of another function's rows */
#define EMOGI_HAS_OTHER_ROWS (EMOGI_IS_HIERARCHY | EMOGI_IS_TOTAL | EMOGI_IS_LIST | EMOGI_IS_EDGES | EMOGI_IS_BLOCKS | \
							  EMOGI_IS_TREE)	/* rows are not vertices, or have NULLs */

#define EMOGI_LEAST 0
#define EMOGI_MOST 1

/*
 * BFS       Breadth-first search (Beamer et al., SC 2012). level: hops from the nearest source.
 * BFS_SUMS  What the levels of a BFS come to, for each source by itself, up to max_depth: of those from first_level on. Element i is of sources[i]. count:
 *           of the vertices reached there. sum, least, most: of their levels. harmonic: the sum of count / level, level by level in
 *           ascending order, without level 0. All are 0 where the count is.
 * SSSP      Shortest paths. Floating-point addition is monotone, so the least value over all paths of the sum from left to right is
 *           well defined, and every order of work finds it.
 * SSWP      Widest paths. The width of a path is its smallest weight, +inf without an edge; +inf is impassable here too.
 * BFS_TREE  level: as BFS has it. predecessor: the vertex before on a path of so many edges, EMOGI_NO_VERTEX at a source. source: where that path
 *           begins. Of several paths that of the smallest source counts, then that whose last vertex before is the smallest. A source
 *           is its own, so no path leads through another source; following predecessors leads to the source.
 * SHORTEST_PATH_TREE  The same with weights. distance: as SSSP has it; an edge is on a path where the distance of its end is exactly what the
 *           distance of its beginning and its weight add up to. Of several paths that of the smallest source counts, then that of the fewest
 *           edges, then that whose last vertex before is the smallest.
 * SSNSP     Number of shortest paths by hops, within max_depth of them, exact to 2^53.
 * CC        Weakly connected components. component: the smallest vertex number of the component.
 * SCC       Strongly connected components. component: the smallest vertex number of the component.
 * TRIANGLES Of the simple undirected graph: repeats and loops are passed over. triangles: those that the vertex is in.
 * TRIANGLE_COUNT The same; the SQL function returns a third of their sum.
 * LCC       Local clustering coefficient (Iosup et al., arXiv:2011.15028, 2.3.5). N: the neighbours in either direction, without the
 *           vertex; d of them. coefficient: the edges that lead from one of N to one of N, over d (d - 1); 0 where d < 2. Repeats and
 *           loops are passed over. Where lists are symmetric every edge leads both ways.
 * CORE      Of the simple undirected graph. core: the largest k such that the vertex is in a subgraph of degrees k and more.
 * CDLP      Community detection by label propagation (same paper, 2.3.3): label' = the label that most neighbours have, of several the
 *           smallest; at first the vertex itself. A neighbour in both directions counts twice; repeats and loops are passed over. Where
 *           lists are symmetric a neighbour counts once.
 * LOUVAIN   Communities by modularity, weighted and undirected (Blondel et al., J. Stat. Mech. P10008, 2008), a hierarchy.
 * LEIDEN    The same (Traag, Waltman, van Eck, Scientific Reports 9:5233, 2019): communities are connected.
 * MODULARITY part: what a vertex adds to the modularity of given communities (Newman and Girvan, Physical Review E 69, 2004).
 * DEGREE    degree: list entries. strength: the sum of their weights in the order of the list.
 * CLOSENESS reached: the vertices that the vertex leads to, itself among them. farness: the sum of the hops to them. closeness: with
 *           r = reached - 1 others, of n - 1, r / farness * r / (n - 1) (Wasserman, Faust, Social Network Analysis, 1994, 5.2), 0 where
 *           r = 0. harmonic: the sum of 1 / hops to the others. With samples the same estimated from those of the samples that are other
 *           vertices, as if the rest were like them (Eppstein, Wang, J. Graph Algorithms and Applications 8(1), 2004); all samples:
 *           exactly.
 * BETWEENNESS Of the simple graph, without weights. centrality: the sum over all pairs s, t of other vertices of the share of the shortest
 *           paths from s to t that pass through the vertex; where lists are symmetric every pair counts once. Normalized: divided by the
 *           number of pairs. With samples these alone are s, and the sum is as large as if the others were like them (Brandes, Pich,
 *           Bifurcation and Chaos 17(7), 2007).
 * TOPOLOGICAL_ORDER  Of a graph without a cycle. level: edges of the longest path to the vertex. position: its place, from 0, in the order of
 *           (level, vertex). A graph with a cycle is refused (EmogiRefusal).
 * LONGEST_PATH  Of a graph without a cycle. distance: the largest sum of weights, from left to right, of a path to the vertex that begins at
 *           a vertex without an edge in; of such a vertex 0. Rounded sums are monotone, so this is well defined as for SSSP.
 * SIMILARITY Of the sets of vertices that the lists of two vertices lead to; 0 where both are empty. Without pairs elements v * top_k and on
 *           are the top_k vertices that are most like v, more than 0 and at least cutoff, ties by vertex; of targets those from i * top_k on are
 *           like target i. With pairs element i is pair i.
 * RANDOM_WALK  Elements (s * walks + i) * (length + 1) and on are the vertices of walk i from sources[s], that one first, up to a vertex that
 *           nothing leads away from. A step goes along each edge of the list with the same chance, or in proportion to the weights; from
 *           the second on these are divided by p for an edge back to the vertex before, and by q for one to where no edge leads from there
 *           (Grover, Leskovec, node2vec, KDD 2016, 3.2). Walks depend on the seed, the source and i alone.
 * DISTANCE_MATRIX  Element s * ntargets + t is the distance from sources[s] to targets[t], as SSSP has it; +inf: no way leads there.
 * SPANNING_FOREST  Of the undirected graph: of parallel edges the lightest counts, or the heaviest where the maximum is wanted; loops do not.
 *           Edges are in a strict order, by (weight, smaller end, larger end), where the maximum is wanted with the largest weight first. The
 *           forest is the one whose sorted edges come first. Each tree hangs from its smallest vertex. parent: the vertex above, by an edge
 *           of that weight; of a root EMOGI_NO_VERTEX and 0.
 * BRIDGES   Of the undirected graph, like the two that follow. An edge whose removal leaves more components: it has no parallel one. other:
 *           its end that is nearer to the smallest vertex of the component.
 * ARTICULATION_POINTS  components: how many blocks the vertex is in, where these are two or more: then its removal leaves more components.
 *           0 of other vertices.
 * BICONNECTED Blocks, the biconnected components: sets of edges of which any two lie on a simple cycle, or one bridge with its parallel
 *           edges; loops are in none. A block goes by its number, from 0, in ascending order of its two smallest vertices. component,
 *           parent: blocks.h.
 * PAGERANK  Start 1/n. rank' = (1 - damping) / n + damping * (sum + dangling / n), where u contributes rank / (its edges out, parallel
 *           ones counted) and dangling is the rank of all vertices without an edge out. The L1 change of an iteration is compared
 *           with the tolerance. With proportions p for leaps p(v) stands in the place of both 1 / n of rank'. With weights u contributes
 *           rank * weight / (the sum of the weights of its edges out), and dangles where that sum is 0.
 * EIGENVECTOR  Start: all equal. centrality' = centrality + the sum of that of u, times the weight, over the edges u -> v; divided by the
 *           Euclidean length of the whole. The largest change of a vertex is compared with the tolerance.
 * KATZ      centrality = beta + alpha * the sum of that of u, times the weight, over the edges u -> v; normalized: of Euclidean length 1. The
 *           largest that an iteration adds to a vertex, before that, is compared with the tolerance. What is not proven to converge, or has
 *           not within max_iterations, is refused (EmogiRefusal).
 * HITS      Hubs start as 1 / n. authority' = the sum of hub of u, times the weight, over the edges u -> v; hub' = that of authority' of w
 *           over the edges v -> w; each divided by its sum over all vertices. The L1 change of hubs is compared with the tolerance.
 * HEAT      CuSha's HS. value' = value + the sum of weight * (value of u - value): what flows in over each edge in one step of time.
 * CIRCUIT   CuSha's CS. Weights are conductances. Vertices with a start value keep it; the others take the mean of their neighbours
 *           weighted by conductance (Kirchhoff's current law), 0 where no conductance leads to them.
 * NEURAL    CuSha's NN. value' = tanh(sum of weight * value of u); a vertex without an edge in keeps its value.
 */
#define EMOGI_ALGORITHMS(OTHER, PATH, SUM) \
	OTHER(BFS, bfs, bfs, bfs, path, bfs, \
		  EMOGI_LISTS_ALONG, EMOGI_WEIGHTS_UNUSED, EMOGI_STOPS | EMOGI_HAS_MSBFS, \
		  ({EMOGI_SOURCES, 0}, {EMOGI_MAX_DEPTH, -1}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"level", EMOGI_INT32, -1})) \
	OTHER(BFS_SUMS, bfs_sums, bfs_sums, bfs_sums, none, bfs_sums, \
		  EMOGI_LISTS_ALONG, EMOGI_WEIGHTS_UNUSED, EMOGI_IS_LIST | EMOGI_IS_PART, \
		  ({EMOGI_SOURCES, 0}, {EMOGI_MAX_DEPTH, -1}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"count", EMOGI_INT64, NAN}, {"sum", EMOGI_INT64, NAN}, {"least", EMOGI_INT32, NAN}, {"most", EMOGI_INT32, NAN}, \
		   {"harmonic", EMOGI_FLOAT64, NAN})) \
	PATH(SSSP, sssp, distance, EMOGI_LEAST, 0.0, EMOGI_PATH_ADDITIVE, value + weight) \
	PATH(SSWP, sswp, width, EMOGI_MOST, (double) INFINITY, 0, \
		 weight == (double) INFINITY ? -1.0 : value < weight ? value : weight) \
	OTHER(BFS_TREE, bfs_tree, trees, none, none, trees, \
		  EMOGI_LISTS_ALONG, EMOGI_WEIGHTS_UNUSED, EMOGI_IS_TREE, \
		  ({EMOGI_SOURCES, 0}, {EMOGI_MAX_DEPTH, -1}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"level", EMOGI_INT32, -1}, {"predecessor", EMOGI_VERTEX, EMOGI_NO_VERTEX}, {"source", EMOGI_VERTEX, EMOGI_NO_VERTEX})) \
	OTHER(SHORTEST_PATH_TREE, shortest_path_tree, trees, none, none, trees, \
		  EMOGI_LISTS_ALONG, EMOGI_WEIGHTS_LENGTHS, EMOGI_IS_TREE, \
		  ({EMOGI_SOURCES, 0}, {EMOGI_MAX_DISTANCE, (double) INFINITY}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"distance", EMOGI_FLOAT64, (double) INFINITY}, {"predecessor", EMOGI_VERTEX, EMOGI_NO_VERTEX}, \
		   {"source", EMOGI_VERTEX, EMOGI_NO_VERTEX})) \
	OTHER(SSNSP, ssnsp, ssnsp, ssnsp, ssnsp, ssnsp, \
		  EMOGI_LISTS_ALONG, EMOGI_WEIGHTS_UNUSED, EMOGI_NEEDS_BACKWARD, \
		  ({EMOGI_SOURCES, 0}, {EMOGI_MAX_DEPTH, -1}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"level", EMOGI_INT32, -1}, {"paths", EMOGI_FLOAT64, 0})) \
	OTHER(CC, cc, cc, cc, path, cc, \
		  EMOGI_LISTS_ANY, EMOGI_WEIGHTS_UNUSED, 0, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"component", EMOGI_VERTEX, NAN})) \
	OTHER(SCC, scc, scc, scc, none, scc, \
		  EMOGI_LISTS_ALONG, EMOGI_WEIGHTS_UNUSED, EMOGI_NEEDS_BACKWARD, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"component", EMOGI_VERTEX, NAN})) \
	OTHER(TRIANGLES, triangles, triangles, triangles, none, triangles, \
		  EMOGI_LISTS_BOTH_WAYS, EMOGI_WEIGHTS_UNUSED, 0, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"triangles", EMOGI_INT64, NAN})) \
	OTHER(TRIANGLE_COUNT, triangle_count, triangles, triangles, none, triangles, \
		  EMOGI_LISTS_BOTH_WAYS, EMOGI_WEIGHTS_UNUSED, EMOGI_IS_TOTAL, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"triangles", EMOGI_INT64, NAN})) \
	OTHER(LCC, lcc, lcc, lcc, none, lcc, \
		  EMOGI_LISTS_ALONG, EMOGI_WEIGHTS_UNUSED, EMOGI_NEEDS_BACKWARD, \
		  ({EMOGI_DIRECTION, EMOGI_BOTH}), \
		  ({"coefficient", EMOGI_FLOAT64, NAN})) \
	OTHER(CORE, core, core, core, none, core, \
		  EMOGI_LISTS_BOTH_WAYS, EMOGI_WEIGHTS_UNUSED, 0, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"core", EMOGI_INT32, NAN})) \
	OTHER(CDLP, cdlp, cdlp, cdlp, none, cdlp, \
		  EMOGI_LISTS_ALONG, EMOGI_WEIGHTS_UNUSED, EMOGI_NEEDS_BACKWARD, \
		  ({EMOGI_MAX_ITERATIONS, 10}, {EMOGI_DIRECTION, EMOGI_BOTH}), \
		  ({"label", EMOGI_VERTEX, NAN})) \
	OTHER(LOUVAIN, louvain, louvain, louvain, none, communities, \
		  EMOGI_LISTS_BOTH_WAYS, EMOGI_WEIGHTS_CONDUCTANCES, EMOGI_IS_HIERARCHY, \
		  ({EMOGI_RESOLUTION, 1}, {EMOGI_MAX_LEVELS, 0}, {EMOGI_TOLERANCE, 1e-7}, {EMOGI_SEED, 0}), \
		  ({"heads", EMOGI_INT32, NAN}, {"joins", EMOGI_VERTEX, NAN})) \
	OTHER(LEIDEN, leiden, leiden, leiden, none, communities, \
		  EMOGI_LISTS_BOTH_WAYS, EMOGI_WEIGHTS_CONDUCTANCES, EMOGI_IS_HIERARCHY, \
		  ({EMOGI_RESOLUTION, 1}, {EMOGI_THETA, 0.01}, {EMOGI_MAX_CLUSTER_SIZE, 0}, {EMOGI_MAX_LEVELS, 0}, {EMOGI_SEED, 0}), \
		  ({"heads", EMOGI_INT32, NAN}, {"joins", EMOGI_VERTEX, NAN})) \
	OTHER(MODULARITY, modularity, modularity, modularity, none, modularity, \
		  EMOGI_LISTS_BOTH_WAYS, EMOGI_WEIGHTS_CONDUCTANCES, EMOGI_IS_TOTAL, \
		  ({EMOGI_COMMUNITIES, 0}, {EMOGI_RESOLUTION, 1}), \
		  ({"part", EMOGI_FLOAT64, NAN})) \
	OTHER(DEGREE, degree, degree, degree, none, degree, \
		  EMOGI_LISTS_ALONG, EMOGI_WEIGHTS_FACTORS, EMOGI_MAY_DIVERGE, \
		  ({EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"degree", EMOGI_INT64, NAN}, {"strength", EMOGI_FLOAT64, NAN})) \
	OTHER(CLOSENESS, closeness, closeness, closeness, none, closeness, \
		  EMOGI_LISTS_ALONG, EMOGI_WEIGHTS_UNUSED, EMOGI_NEEDS_BACKWARD, \
		  ({EMOGI_SAMPLES, 0}, {EMOGI_SEED, 0}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"reached", EMOGI_INT64, NAN}, {"farness", EMOGI_FLOAT64, NAN}, {"closeness", EMOGI_FLOAT64, NAN}, \
		   {"harmonic", EMOGI_FLOAT64, NAN})) \
	OTHER(BETWEENNESS, betweenness, betweenness, betweenness, none, betweenness, \
		  EMOGI_LISTS_ALONG, EMOGI_WEIGHTS_UNUSED, EMOGI_NEEDS_BACKWARD, \
		  ({EMOGI_SAMPLES, 0}, {EMOGI_SEED, 0}, {EMOGI_NORMALIZED, 1}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"centrality", EMOGI_FLOAT64, NAN})) \
	OTHER(TOPOLOGICAL_ORDER, topological_order, topological_order, none, none, topological_order, \
		  EMOGI_LISTS_ALONG, EMOGI_WEIGHTS_UNUSED, 0, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"level", EMOGI_INT32, NAN}, {"position", EMOGI_INT64, NAN})) \
	OTHER(LONGEST_PATH, longest_path, topological_order, none, none, topological_order, \
		  EMOGI_LISTS_ALONG, EMOGI_WEIGHTS_FACTORS, EMOGI_MAY_DIVERGE, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"distance", EMOGI_FLOAT64, NAN})) \
	OTHER(SIMILARITY, similarity, similarity, similarity, none, similarity, \
		  EMOGI_LISTS_ALONG, EMOGI_WEIGHTS_UNUSED, EMOGI_NEEDS_BACKWARD | EMOGI_IS_LIST, \
		  ({EMOGI_MEASURE, EMOGI_JACCARD}, {EMOGI_TOP_K, 10}, {EMOGI_CUTOFF, 0}, {EMOGI_PAIRS, 0}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"vertex2", EMOGI_VERTEX, EMOGI_NO_VERTEX}, {"similarity", EMOGI_FLOAT64, 0})) \
	OTHER(RANDOM_WALK, random_walk, random_walk, random_walk, none, random_walk, \
		  EMOGI_LISTS_ALONG, EMOGI_WEIGHTS_UNUSED, EMOGI_IS_LIST, \
		  ({EMOGI_SOURCES, 0}, {EMOGI_LENGTH, 80}, {EMOGI_WALKS, 1}, {EMOGI_RETURN, 1}, {EMOGI_IN_OUT, 1}, {EMOGI_SEED, 0}, \
		   {EMOGI_DIRECTION, EMOGI_OUT}, {EMOGI_WEIGHTED, 0}), \
		  ({"vertex", EMOGI_VERTEX, EMOGI_NO_VERTEX})) \
	OTHER(DISTANCE_MATRIX, distance_matrix, distance_matrix, none, none, distance_matrix, \
		  EMOGI_LISTS_ALONG, EMOGI_WEIGHTS_LENGTHS, EMOGI_IS_LIST, \
		  ({EMOGI_SOURCES, 0}, {EMOGI_TARGETS, 0}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"distance", EMOGI_FLOAT64, (double) INFINITY})) \
	OTHER(SPANNING_FOREST, spanning_forest, spanning_forest, spanning_forest, none, spanning_forest, \
		  EMOGI_LISTS_BOTH_WAYS, EMOGI_WEIGHTS_FACTORS, EMOGI_IS_EDGES, \
		  ({EMOGI_MAXIMUM, 0}), \
		  ({"parent", EMOGI_VERTEX, EMOGI_NO_VERTEX}, {"weight", EMOGI_FLOAT64, NAN})) \
	OTHER(BRIDGES, bridges, blocks, blocks, none, blocks, \
		  EMOGI_LISTS_BOTH_WAYS, EMOGI_WEIGHTS_UNUSED, EMOGI_IS_EDGES, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"other", EMOGI_VERTEX, EMOGI_NO_VERTEX})) \
	OTHER(ARTICULATION_POINTS, articulation_points, blocks, blocks, none, blocks, \
		  EMOGI_LISTS_BOTH_WAYS, EMOGI_WEIGHTS_UNUSED, 0, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"components", EMOGI_INT64, 0})) \
	OTHER(BICONNECTED, biconnected, blocks, blocks, none, blocks, \
		  EMOGI_LISTS_BOTH_WAYS, EMOGI_WEIGHTS_UNUSED, EMOGI_IS_BLOCKS, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"component", EMOGI_INT64, -1}, {"parent", EMOGI_VERTEX, EMOGI_NO_VERTEX})) \
	OTHER(PAGERANK, pagerank, pagerank, gather, sum, pagerank, \
		  EMOGI_LISTS_AGAINST, EMOGI_WEIGHTS_UNUSED, EMOGI_WEIGHS_BACKWARD, \
		  ({EMOGI_DAMPING, 0.85}, {EMOGI_MAX_ITERATIONS, 100}, {EMOGI_TOLERANCE, 1e-6}, {EMOGI_LEAP, 0}, {EMOGI_DIRECTION, EMOGI_OUT}, \
		   {EMOGI_WEIGHTED, 0}), \
		  ({"rank", EMOGI_FLOAT64, NAN})) \
	OTHER(EIGENVECTOR, eigenvector, eigenvector, powers, none, eigenvector, \
		  EMOGI_LISTS_AGAINST, EMOGI_WEIGHTS_UNUSED, 0, \
		  ({EMOGI_MAX_ITERATIONS, 100}, {EMOGI_TOLERANCE, 1e-6}, {EMOGI_WEIGHTED, 0}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"centrality", EMOGI_FLOAT64, NAN})) \
	OTHER(KATZ, katz, katz, powers, none, katz, \
		  EMOGI_LISTS_AGAINST, EMOGI_WEIGHTS_UNUSED, EMOGI_MAY_DIVERGE, \
		  ({EMOGI_ALPHA, 0.1}, {EMOGI_BETA, 1}, {EMOGI_MAX_ITERATIONS, 1000}, {EMOGI_TOLERANCE, 1e-6}, {EMOGI_NORMALIZED, 1}, \
		   {EMOGI_WEIGHTED, 0}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"centrality", EMOGI_FLOAT64, NAN})) \
	OTHER(HITS, hits, hits, powers, none, hits, \
		  EMOGI_LISTS_AGAINST, EMOGI_WEIGHTS_UNUSED, EMOGI_NEEDS_BACKWARD, \
		  ({EMOGI_MAX_ITERATIONS, 100}, {EMOGI_TOLERANCE, 1e-8}, {EMOGI_WEIGHTED, 0}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"hub", EMOGI_FLOAT64, NAN}, {"authority", EMOGI_FLOAT64, NAN})) \
	SUM(HEAT, heat, EMOGI_BOTH, EMOGI_WEIGHTS_FACTORS, EMOGI_SUM_USES_OWN_VALUE, \
		weight * (other - own), own + sum, fabs(1.0 - total) + magnitude) \
	SUM(CIRCUIT, circuit, EMOGI_BOTH, EMOGI_WEIGHTS_CONDUCTANCES, EMOGI_SUM_DIRICHLET, \
		weight * other, total > 0.0 ? sum / total : 0.0, 1.0) \
	SUM(NEURAL, neural, EMOGI_OUT, EMOGI_WEIGHTS_FACTORS, EMOGI_SUM_KEEPS_ISOLATED, \
		weight * other, tanh(sum), magnitude)

#define EMOGI_ROW(NAME, ...) EMOGI_##NAME,
typedef enum EmogiAlgorithm
{
	EMOGI_ALGORITHMS(EMOGI_ROW, EMOGI_ROW, EMOGI_ROW)
} EmogiAlgorithm;
#undef EMOGI_ROW

#define EMOGI_ROW(NAME, ...) + 1
#define EMOGI_NALGORITHMS (0 EMOGI_ALGORITHMS(EMOGI_ROW, EMOGI_ROW, EMOGI_ROW))

/* For a switch over the rows of one kind: those of other kinds. For lists of one kind: nothing. */
#define EMOGI_LEAVE(NAME, ...) case EMOGI_##NAME: break;
#define EMOGI_NOTHING(...)

/* A row at run time. */
typedef struct EmogiAlgorithmRow
{
	EmogiAlgorithm algorithm;
	const char *name;
	const char *cuda;			/* which kernels of ours answer it, "none" = none do */
	const char *papers;			/* which of the papers', likewise */
	EmogiLists	lists;
	EmogiWeights weights;
	uint32_t	traits;			/* EMOGI_* */
	EmogiParameter parameters[EMOGI_MAX_PARAMETERS + 1];
	EmogiResultColumn columns[EMOGI_MAX_COLUMNS + 1];
} EmogiAlgorithmRow;

/* Get the row of an algorithm. */
extern const EmogiAlgorithmRow *emogi_algorithm_row(EmogiAlgorithm algorithm);

/* Find an algorithm by its name; NULL when there is none. */
extern const EmogiAlgorithmRow *emogi_algorithm_named(const char *name);

/* Get the place of a parameter among those that an algorithm takes, from 0; -1 = it takes none. */
extern int	emogi_algorithm_takes(const EmogiAlgorithmRow *row, EmogiParameterKind kind);

/* Say whether it makes iterations over all edges. */
extern bool emogi_algorithm_iterates(EmogiAlgorithm algorithm);

/* Say whether there are kernels of ours for it. */
extern bool emogi_algorithm_is_on_cuda(const EmogiAlgorithmRow *row);

/* Get the bytes of a value. */
extern uint32_t emogi_algorithm_column_bytes(EmogiColumnType type);

#ifdef __cplusplus
}
#endif
#endif							/* EMOGI_ALGORITHMS_H */
