/*
 * algorithms.h: the table of all algorithms.
 *
 * It generates the enum, the dispatch of both engines and of the systems of the papers, the checks
 * of queries, the selection of verifiers, the SQL side (arguments, rows, allocation, plans),
 * emogi_bench, and the comparisons of tests. algorithm.c makes it available at run time.
 *
 * An algorithm is a row:
 *
 *   OTHER(NAME, name, cpu, cuda, papers, verifier, shape, lists, weights, traits, (parameters),
 *         (columns))
 *
 * NAME        EMOGI_NAME is the algorithm, emogi_name its SQL function
 * cpu         the functions that implement it: emogi_cpu_CPU in engine/cpu, emogi_cuda_CUDA in
 *             cuda, emogi_papers_PAPERS and emogi_shards_PAPERS in cuda/papers;
 *             emogi_verify_VERIFIER in engine/verify checks a result. `none`: this engine has no
 *             function for it, so the CPU runs it and reports a reason
 * shape       EmogiAnswerShape: what a row of the answer is, EMOGI_SHAPE_*
 * lists       EmogiLists: which adjacency lists of the graph it reads
 * weights     EmogiWeights: which weights it reads and which it refuses
 * traits      EMOGI_* below, or 0
 * parameters  {kind, default}, in the order of the SQL function's arguments after the graph
 * columns     {name, type, value of a vertex without a row}, in the order of the SQL function's
 *             columns after `vertex`; the first column determines whether a vertex has a row; NAN:
 *             every vertex has one
 *
 * Two semirings cover the applications of EMOGI, CuSha, EtaGraph and Subway (compare CuSha, HPDC
 * 2014, Table 3). Their rows are complete definitions, including the formulas; semirings.h turns
 * these into functions. All arithmetic is in double.
 *
 * The path semiring computes the best value over all paths. A value only gets worse along a path,
 * so the result is bitwise independent of the order of execution: emogi_NAME(graph, source,
 * direction) or, with EMOGI_PATH_ADDITIVE, emogi_NAME(graph, source, max_distance, direction).
 *
 *   PATH(NAME, name, column, order, source, traits, candidate)
 *
 * order       EMOGI_MINIMIZE: smaller values are better, +inf = not reached; EMOGI_MAXIMIZE: larger
 *             values are better, -1 = not reached
 * source      value of the empty path
 * traits      EMOGI_PATH_ADDITIVE or 0; EMOGI_PATH_ADDITIVE requires EMOGI_MINIMIZE and a finite
 *             source
 * candidate   value offered to v, from the value of u and the weight of u -> v; taken if it is
 *             better. Values are never negative, nor -0. Weights are lengths >= 0, possibly > 1;
 *             +inf is impassable: the candidate is then no better than the value of an unreached
 *             vertex. A candidate is never better than the value it extends, and it is monotone: a
 *             better value does not give a worse candidate
 *
 * The sum semiring iterates sums over the incoming edges of each vertex from given start values:
 * emogi_NAME(graph, start, max_iterations, tolerance, direction). The maximum change of a vertex is
 * compared with the tolerance.
 *
 *   SUM(NAME, name, direction, weights, traits, contribution, finish, lipschitz)
 *
 * direction     default
 * traits        EMOGI_SUM_USES_OWN_VALUE, EMOGI_SUM_DIRICHLET, EMOGI_SUM_KEEPS_ISOLATED, or 0
 * contribution  of u to v over an edge u -> v, from the value of u (other), the value of v (own)
 *               and the weight
 * finish        new value of v, from its value (own), the sum of the contributions in an order that
 *               depends only on the list, and the sum of the weights (total; 0 without
 *               EMOGI_SUM_DIRICHLET)
 * lipschitz     upper bound of the factor by which the maximum difference of two sets of values can
 *               grow in an iteration, from the sum of v's weights (total) and the sum of their
 *               absolute values (magnitude)
 */
#ifndef EMOGI_ALGORITHMS_H
#define EMOGI_ALGORITHMS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The direction in which a traversal follows a stored edge src -> dst. */
typedef enum EmogiDirection
{
	EMOGI_OUT = 0,				/* src to dst */
	EMOGI_IN,					/* dst to src */
	EMOGI_BOTH					/* both: every edge is in two adjacency lists, a self-loop in one */
} EmogiDirection;

/*
 * The shapes of answers: what the columns of a result contain, and what a row of the SQL function
 * is. Rows are read from the columns as the row kind says (src/function/cursor.h).
 *
 *   PLAIN(NAME)               a column has an element for each vertex, and a row is a vertex with
 *                             the columns, or there are none
 *   ROWS(NAME, kind)          likewise, with rows of a kind of their own, emogi_KIND
 *   LIST(NAME, kind, count, each)
 *                             a column has count * each elements, which depend on `graph` and
 *                             `query`, and each of them may be a row; lists are last
 *
 * VERTICES         no column is NULL
 * SCALAR           no rows: the SQL function returns a number computed from the sum of the first
 *                  column, and takes vertices of any type
 * EDGES            the first column is another vertex: the edge between the two, smaller endpoint
 *                  first
 * WEIGHTED_EDGES   likewise, with the weight in the second column
 * BLOCKS           the columns encode blocks (biconnected.h): a vertex in a block
 * BFS_TREE         the columns encode a search forest: a vertex with the previous vertex on its
 *                  path, NULL at a root
 * PATH_TREE        likewise, by weights
 * HIERARCHY        the columns encode a hierarchy (hierarchy.h): a vertex at a level
 * STEPS            a step of a path
 * SIMILARITIES     two vertices with their similarity
 * DISTANCES        two vertices with their distance
 * FLOWS            an edge with its flow and residual capacity (engine/cpu/max_flow.c)
 * CUT              an edge of a cut, as in FLOWS
 * TOTAL            no rows: likewise a number, from a list as in FLOWS
 * WALKS            a step of a random walk
 * AGGREGATES       no SQL function: plans use them instead of the rows of another function
 */
#define EMOGI_SHAPES(PLAIN, ROWS, LIST) \
	PLAIN(VERTICES) \
	PLAIN(SCALAR) \
	ROWS(EDGES, edge_rows) \
	ROWS(WEIGHTED_EDGES, weighted_edge_rows) \
	ROWS(BLOCKS, block_rows) \
	ROWS(BFS_TREE, bfs_tree_rows) \
	ROWS(PATH_TREE, shortest_path_tree_rows) \
	ROWS(HIERARCHY, hierarchy_rows) \
	ROWS(STEPS, path_rows) \
	LIST(SIMILARITIES, similarity_rows, \
		 query->pairs != NULL ? query->npairs : \
		 query->ntargets > 0 ? query->ntargets : graph->nvertices, \
		 query->pairs != NULL ? 1 : (uint64_t) query->top_k) \
	LIST(DISTANCES, distance_rows, query->nsources, query->ntargets) \
	LIST(FLOWS, flow_rows, graph->forward.nedges, 1) \
	LIST(CUT, cut_rows, graph->forward.nedges, 1) \
	LIST(TOTAL, no_rows, graph->forward.nedges, 1) \
	LIST(WALKS, walk_rows, query->nsources * (uint64_t) query->walks, \
		 (uint64_t) query->length + 1) \
	LIST(AGGREGATES, no_rows, query->nsources, 1)

typedef enum EmogiAnswerShape
{
#define EMOGI_SHAPE(NAME, ...) EMOGI_SHAPE_##NAME,
	EMOGI_SHAPES(EMOGI_SHAPE, EMOGI_SHAPE, EMOGI_SHAPE)
#undef EMOGI_SHAPE
	EMOGI_NSHAPES
} EmogiAnswerShape;

/* The adjacency lists that an algorithm reads, if the call's direction is `out`. */
typedef enum EmogiLists
{
	EMOGI_LISTS_FORWARD = 0,	/* along the edges: traversals */
	EMOGI_LISTS_BACKWARD,		/* against the edges: sums over incoming edges */
	EMOGI_LISTS_BOTH,			/* both directions, whatever the direction of the call: undirected,
								 * with parallel edges and self-loops */
	EMOGI_LISTS_ANY				/* any of the above, whichever exists */
} EmogiLists;

/* Similarity measure of two sets A and B. */
typedef enum EmogiMeasure
{
	EMOGI_JACCARD = 0,			/* |A and B| / |A or B| */
	EMOGI_OVERLAP,				/* |A and B| / min(|A|, |B|) */
	EMOGI_COSINE				/* |A and B| / sqrt(|A| |B|) */
} EmogiMeasure;

/* The weights that a call reads and accepts. NaN and NULL are always refused. */
typedef enum EmogiWeights
{
	EMOGI_WEIGHTS_UNUSED = 0,	/* every edge has weight 1, and no weight column is read */
	EMOGI_WEIGHTS_LENGTHS,		/* 0 .. +infinity; negative weights are refused */
	EMOGI_WEIGHTS_CONDUCTANCES, /* >= 0, finite */
	EMOGI_WEIGHTS_CAPACITIES,	/* likewise, of columns that may be named capacity */
	EMOGI_WEIGHTS_FACTORS,		/* any finite number */
	EMOGI_WEIGHTS_ANY			/* any number; not used by algorithms, but by functions that read a
								 * graph as it is */
} EmogiWeights;

/* Arguments of an algorithm besides the graph. parameters.h has types and ranges. */
typedef enum EmogiParameterKind
{
	EMOGI_NO_PARAMETER = 0,		/* end of a parameter list */
	EMOGI_SOURCES,				/* one or more vertices */
	EMOGI_TARGETS,				/* one or more vertices: ends of the requested paths */
	EMOGI_MAX_DEPTH,			/* int, hops, >= 0, -1 = unlimited: first column <= max_depth */
	EMOGI_MAX_DISTANCE,			/* double, >= 0, +inf = unlimited: first column <= max_distance */
	EMOGI_DAMPING,				/* double, 0 .. 1 */
	EMOGI_ALPHA,				/* double, >= 0, finite: attenuation per edge */
	EMOGI_BETA,					/* double, finite: value that every vertex has by itself */
	EMOGI_START,				/* a query of start values: a double per vertex */
	EMOGI_TELEPORT,					/* likewise, >= 0, or none: proportions of teleports */
	EMOGI_MAX_ITERATIONS,		/* int, >= 1 */
	EMOGI_TOLERANCE,			/* double, >= 0: stop after a smaller change; 0 = never */
	EMOGI_SAMPLES,				/* int, >= 1: estimate from searches from this many vertices;
								 * 0 = exact, from all */
	EMOGI_RESOLUTION,			/* double, >= 0, finite */
	EMOGI_THETA,				/* double, >= 0 */
	EMOGI_MAX_CLUSTER_SIZE,		/* int, >= 1; 0 = unlimited */
	EMOGI_MAX_LEVELS,			/* int, >= 1; 0 = unlimited */
	EMOGI_COMMUNITIES,			/* a query of communities: a double per vertex */
	EMOGI_SEED,					/* int64: seed of random choices */
	EMOGI_NORMALIZED,			/* bool, 0 or 1 */
	EMOGI_LENGTH,				/* int, >= 0: maximum number of steps of a walk */
	EMOGI_WALKS,				/* int, >= 1: walks from each source */
	EMOGI_RETURN,				/* double, > 0, finite: node2vec's p */
	EMOGI_IN_OUT,				/* double, > 0, finite: node2vec's q */
	EMOGI_MEASURE,				/* EmogiMeasure */
	EMOGI_TOP_K,				/* int, >= 1: results per vertex */
	EMOGI_CUTOFF,				/* double, 0 .. 1: smaller similarities are omitted */
	EMOGI_PAIRS,				/* a query of pairs of vertices, or none: all pairs */
	EMOGI_MAXIMUM,				/* bool: prefer the heaviest edges instead of the lightest */
	EMOGI_DIRECTION,			/* EmogiDirection */
	EMOGI_WEIGHTED				/* bool: use the weights of edges, which are read as conductances */
} EmogiParameterKind;

typedef struct EmogiParameter
{
	EmogiParameterKind kind;
	double		default_value;	/* default */
} EmogiParameter;

typedef enum EmogiColumnType
{
	EMOGI_INT32,				/* >= 0, except for `none` */
	EMOGI_INT64,				/* likewise */
	EMOGI_FLOAT64,
	EMOGI_VERTEX,				/* uint32, a vertex number; its key in SQL */
	EMOGI_EDGE					/* an edge id, unknown to the engines: src/function/edge_names.c */
} EmogiColumnType;

typedef struct EmogiResultColumn
{
	const char *name;			/* NULL = end of a column list */
	EmogiColumnType type;
	double		none;			/* value of a vertex without a row; NAN = every vertex has a row */
} EmogiResultColumn;

#define EMOGI_NO_VERTEX UINT32_C(0xFFFFFFFF)	/* no vertex number */
#define EMOGI_MAX_PARAMETERS 8
#define EMOGI_MAX_COLUMNS 7

/* Traits of the path semiring. */
#define EMOGI_PATH_ADDITIVE 0x01u		/* values are sums of weights: bounded by max_distance and
										 * by targets, and searched in equal steps; other values are
										 * weights or similar, and searched at quantiles of the
										 * weights */

/* Traits of the sum semiring. */
#define EMOGI_SUM_USES_OWN_VALUE 0x02u			/* a contribution depends on the value of its target
												 * vertex */
#define EMOGI_SUM_DIRICHLET 0x04u		/* start values are fixed (a Dirichlet boundary); the other
										 * vertices, which have NaN as the start value, begin with
										 * 0, and finish gets the sum of their weights */
#define EMOGI_SUM_KEEPS_ISOLATED 0x08u		/* a vertex without incoming edges keeps its value */

/* Traits of any algorithm. */
#define EMOGI_STOPS 0x10u		/* may stop when the targets of the query are settled, if only these
								 * are requested */
#define EMOGI_NEEDS_BACKWARD 0x20u	/* also reads the transpose of its lists */
#define EMOGI_WEIGHS_BACKWARD 0x800u	/* likewise, if weights are requested (EMOGI_WEIGHTED) */
#define EMOGI_HAS_MSBFS 0x40u	/* supports independent searches from many sources at once
								 * (contract/msbfs.h) */
#define EMOGI_MAY_DIVERGE 0x80u /* values may overflow, which is an error */
#define EMOGI_SUMS_LISTS 0x100u /* a vertex's values are the length of its list and the sum of the
								 * list's weights, which overflows only if these are doubles */
#define EMOGI_INDEX_SEARCH 0x200u	/* a breadth-first search over table indexes can answer it */
#define EMOGI_COUNTS_PATHS 0x400u	/* the search also counts paths, so targets do not end it */
#define EMOGI_NAMES_MEMBERS 0x1000u /* the first column is the smallest vertex of a component */
#define EMOGI_KEEPS_COMPONENTS 0x2000u	/* the components of a run are kept with the graph, for
										 * later calls and for the planner */
#define EMOGI_FEW_ROWS 0x4000u	/* few vertices have a row */
#define EMOGI_OF_TARGETS 0x8000u	/* computes only the rows of the query's targets, if given */
#define EMOGI_COUNTS_CORNERS 0x10000u	/* the SQL function's number is a third of the sum, which
										 * counts a triangle at each corner */
#define EMOGI_CPU_AGGREGATES 0x20000u	/* the CPU engine aggregates values as it assigns them */
#define EMOGI_MAY_NOT_CONVERGE 0x40000u /* a result whose tolerance was not reached is an answer,
										 * with a warning */
#define EMOGI_DAMPED 0x80000u	/* sums are damped; teleports instead of start values */
#define EMOGI_OF_REACHED 0x100000u	/* rows depend only on the edges that the sources reach within
									 * max_depth (contract/reached_graph.h) */
#define EMOGI_MINIMIZE 0
#define EMOGI_MAXIMIZE 1

/*
 * BFS       Breadth-first search (Beamer et al., SC 2012). level: hops from the nearest source.
 * BFS_SUMS  Aggregates of BFS levels, for each source separately, over the levels first_level ..
 *           max_depth. Element i belongs to sources[i]. count: number of vertices reached there.
 *           sum, least, most: sum, minimum and maximum of their levels. harmonic: sum of count /
 *           level, level by level in ascending order, without level 0. If count is 0, so are the
 *           others.
 * SSSP      Shortest paths. Floating-point addition is monotone, so the minimum over all paths of
 *           the sum from left to right is well defined, and is found by any order of execution.
 * SSWP      Widest paths. The width of a path is its smallest weight, +inf for the empty path; +inf
 *           is impassable here, too.
 * BFS_TREE  level: as in BFS. predecessor: the previous vertex on a path of this length,
 *           EMOGI_NO_VERTEX at a source. source: the first vertex of the path. Among several paths,
 *           the one with the smallest source is chosen, then the one with the smallest predecessor.
 *           A source is its own source, so no path leads through another source; following
 *           predecessors leads to the source.
 * SHORTEST_PATH_TREE  Likewise with weights. distance: as in SSSP; an edge u -> v is on a path if
 *           distance(v) is exactly distance(u) + weight. Among several paths, the one with the
 *           smallest source is chosen, then the one with the fewest edges, then the one with the
 *           smallest predecessor.
 * SSNSP     Number of shortest paths by hops, up to max_depth hops, exact up to 2^53.
 * CC        Weakly connected components. component: the smallest vertex number of the component.
 * SCC       Strongly connected components. component: the smallest vertex number of the component.
 * TRIANGLES Of the simple undirected graph: parallel edges and self-loops are ignored. triangles:
 *           the number of triangles that contain the vertex.
 * TRIANGLE_COUNT  Likewise; the SQL function returns a third of their sum.
 * LCC       Local clustering coefficient (Iosup et al., arXiv:2011.15028, 2.3.5). N: the d
 *           neighbors in either direction, without the vertex itself. coefficient: the number of
 *           edges from N to N, divided by d (d - 1); 0 if d < 2. Parallel edges and self-loops are
 *           ignored. If lists are symmetric, every edge leads in both directions.
 * CORE      Of the simple undirected graph. core: the largest k such that the vertex is in a
 *           subgraph with all degrees >= k.
 * CDLP      Community detection by label propagation (same paper, 2.3.3): label' = the most
 *           frequent label of the neighbors, the smallest one if there is a tie; initially the
 *           vertex itself. A neighbor in both directions counts twice; parallel edges and
 *           self-loops are ignored. If lists are symmetric, a neighbor counts once.
 * LOUVAIN   Communities by modularity, weighted and undirected (Blondel et al., J. Stat. Mech.
 *           P10008, 2008), as a hierarchy.
 * LEIDEN    Likewise (Traag, Waltman, van Eck, Scientific Reports 9:5233, 2019): communities are
 *           connected.
 * MODULARITY  part: the contribution of a vertex to the modularity of given communities (Newman and
 *           Girvan, Physical Review E 69, 2004).
 * DEGREE    degree: number of edges in the adjacency list. strength: the sum of their weights in
 *           list order.
 * CLOSENESS reached: the number of vertices that the vertex reaches, including itself. farness: the
 *           sum of the hops to them. closeness: with r = reached - 1 out of n - 1, r / farness * r
 *           / (n - 1) (Wasserman, Faust, Social Network Analysis, 1994, 5.2), 0 if r = 0. harmonic:
 *           the sum of 1 / hops to the others. With samples, the same is estimated from the
 *           distances to those samples that are other vertices (Eppstein, Wang, J. Graph Algorithms
 *           and Applications 8(1), 2004); exact if all vertices are samples.
 * BETWEENNESS  Of the simple graph, without weights. centrality: the sum over all pairs s, t of
 *           other vertices of the fraction of the shortest paths from s to t that pass through the
 *           vertex; if lists are symmetric, every pair counts once. Normalized: divided by the
 *           number of pairs. With samples, only these are used as s, and the sum is extrapolated
 *           (Brandes, Pich, Bifurcation and Chaos 17(7), 2007).
 * TOPOLOGICAL_ORDER  Of an acyclic graph. level: number of edges of the longest path to the vertex.
 *           position: its rank, from 0, in the order of (level, vertex). A graph with a cycle is
 *           refused (EmogiRefusal).
 * LONGEST_PATH  Of an acyclic graph. distance: the maximum sum of weights, from left to right, of a
 *           path to the vertex that begins at a vertex without incoming edges; 0 for such a vertex.
 *           Rounded sums are monotone, so this is well defined as for SSSP.
 * ROLLUP    quantity: the sum, over all paths from the sources of at most max_depth edges, of the
 *           product of the weights of the path; 1 for the path of a source alone. Parallel edges
 *           are different paths. level: the number of edges of the longest of these paths. Edges
 *           that lead from vertices nearer than max_depth hops to the sources must not form a cycle:
 *           otherwise the graph is refused (EmogiRefusal).
 * SIMILARITY  Of the sets of targets of two adjacency lists; 0 if both are empty. Without pairs,
 *           elements v * top_k .. v * top_k + top_k - 1 are the vertices most similar to v, with a
 *           similarity > 0 and >= cutoff, ties by vertex; with targets, elements i * top_k ...
 *           belong to target i. With pairs, element i is pair i.
 * RANDOM_WALK  Elements (s * walks + i) * (length + 1) ... are the vertices of walk i from
 *           sources[s], beginning with the source, until a vertex without outgoing edges. Each step
 *           chooses an edge of the list with equal probability, or proportionally to the weights;
 *           from the second step on, these are divided by p for an edge back to the previous
 *           vertex, and by q for an edge to a vertex that is not a neighbor of the previous one
 *           (Grover, Leskovec, node2vec, KDD 2016, 3.2). A walk depends only on the seed, the
 *           source and i.
 * DISTANCE_MATRIX  Element s * ntargets + t is the distance from sources[s] to targets[t], as in
 *           SSSP; +inf: not reachable.
 * MAX_FLOW  The largest flow from all sources together to all targets together; weights are
 *           capacities. A vertex that is a source and a target is refused (EmogiRefusal). flow: its
 *           sum is that value.
 * MAX_FLOW_EDGES  Such a flow, without cycles, as a list of edges: the flow and residual capacity
 *           of the edge src -> dst. Parallel edges are listed together, ascending by capacity,
 *           if one of them carries flow.
 * MIN_CUT   The edges that cross the minimum cut nearest to the targets, likewise.
 * SPANNING_FOREST  Of the undirected graph: among parallel edges the lightest is used, or the
 *           heaviest if the maximum is requested; self-loops are ignored. Edges are strictly
 *           ordered by (weight, smaller endpoint, larger endpoint), with the largest weight first
 *           if the maximum is requested. The forest is the one whose sorted edges come first. Each
 *           tree is rooted at its smallest vertex. parent: the parent in the tree, by an edge of
 *           that weight; EMOGI_NO_VERTEX and 0 at a root.
 * BRIDGES   Of the undirected graph, like the following two. An edge whose removal increases the
 *           number of components; it has no parallel edge. other: its endpoint that is nearer to
 *           the smallest vertex of the component.
 * ARTICULATION_POINTS  components: the number of blocks that contain the vertex, if there are at
 *           least two, so that its removal increases the number of components; 0 for other
 *           vertices.
 * BICONNECTED  Blocks, the biconnected components: sets of edges any two of which are on a simple
 *           cycle, or one bridge with its parallel edges; self-loops are in no block. Blocks are
 *           numbered from 0 in ascending order of their two smallest vertices. component, parent:
 *           biconnected.h.
 * PAGERANK  Start: 1/n. rank' = (1 - damping) / n + damping * (sum + dangling / n), where u
 *           contributes rank / (number of outgoing edges, including parallel ones), and dangling is
 *           the rank of all vertices without outgoing edges. The L1 change of an iteration is
 *           compared with the tolerance. With personalization, p(v) replaces both 1 / n in rank'.
 *           With weights, u contributes rank * weight / (sum of the weights of its outgoing edges),
 *           and is dangling if that sum is 0.
 * EIGENVECTOR  Start: all equal. centrality'(v) = centrality(v) + the sum of centrality(u) * weight
 *           over the edges u -> v, divided by the Euclidean norm of all. The maximum change of a
 *           vertex is compared with the tolerance.
 * KATZ      centrality(v) = beta + alpha * the sum of centrality(u) * weight over the edges u -> v;
 *           normalized: Euclidean norm 1. The maximum increase of a vertex in an iteration, before
 *           normalization, is compared with the tolerance. A query that is not proven to converge,
 *           or has not converged within max_iterations, is refused (EmogiRefusal).
 * HITS      Hubs start as 1 / n. authority'(v) = the sum of hub(u) * weight over the edges u -> v;
 *           hub'(v) = the sum of authority'(w) * weight over the edges v -> w; each divided by its
 *           sum over all vertices. The L1 change of the hubs is compared with the tolerance.
 * HEAT      CuSha's HS. value' = value + the sum of weight * (value of u - value): the flow over
 *           each edge in one time step.
 * CIRCUIT   CuSha's CS. Weights are conductances. Vertices with a start value keep it; the others
 *           get the mean of their neighbors weighted by conductance (Kirchhoff's current law), 0 if
 *           no conductance leads to them.
 * NEURAL    CuSha's NN. value' = tanh(sum of weight * value of u); a vertex without incoming edges
 *           keeps its value.
 */
#define EMOGI_ALGORITHMS(OTHER, PATH, SUM) \
	OTHER(BFS, bfs, bfs, bfs, path, bfs, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_UNUSED, \
		  EMOGI_STOPS | EMOGI_HAS_MSBFS | EMOGI_INDEX_SEARCH | EMOGI_CPU_AGGREGATES, \
		  ({EMOGI_SOURCES, 0}, {EMOGI_MAX_DEPTH, -1}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"level", EMOGI_INT32, -1})) \
	OTHER(BFS_SUMS, bfs_sums, bfs_sums, bfs_sums, none, bfs_sums, \
		  EMOGI_SHAPE_AGGREGATES, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_UNUSED, 0, \
		  ({EMOGI_SOURCES, 0}, {EMOGI_MAX_DEPTH, -1}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"count", EMOGI_INT64, NAN}, {"sum", EMOGI_INT64, NAN}, {"least", EMOGI_INT32, NAN}, \
		   {"most", EMOGI_INT32, NAN}, \
		   {"harmonic", EMOGI_FLOAT64, NAN})) \
	PATH(SSSP, sssp, distance, EMOGI_MINIMIZE, 0.0, EMOGI_PATH_ADDITIVE, value + weight) \
	PATH(SSWP, sswp, width, EMOGI_MAXIMIZE, (double) INFINITY, 0, \
		 weight == (double) INFINITY ? -1.0 : value < weight ? value : weight) \
	OTHER(BFS_TREE, bfs_tree, trees, none, none, trees, \
		  EMOGI_SHAPE_BFS_TREE, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_UNUSED, 0, \
		  ({EMOGI_SOURCES, 0}, {EMOGI_MAX_DEPTH, -1}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"level", EMOGI_INT32, -1}, {"predecessor", EMOGI_VERTEX, EMOGI_NO_VERTEX}, \
		   {"source", EMOGI_VERTEX, EMOGI_NO_VERTEX})) \
	OTHER(SHORTEST_PATH_TREE, shortest_path_tree, trees, none, none, trees, \
		  EMOGI_SHAPE_PATH_TREE, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_LENGTHS, 0, \
		  ({EMOGI_SOURCES, 0}, {EMOGI_MAX_DISTANCE, (double) INFINITY}, \
		   {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"distance", EMOGI_FLOAT64, (double) INFINITY}, \
		   {"predecessor", EMOGI_VERTEX, EMOGI_NO_VERTEX}, \
		   {"source", EMOGI_VERTEX, EMOGI_NO_VERTEX})) \
	OTHER(SSNSP, ssnsp, ssnsp, ssnsp, ssnsp, ssnsp, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_UNUSED, \
		  EMOGI_NEEDS_BACKWARD | EMOGI_INDEX_SEARCH | EMOGI_COUNTS_PATHS, \
		  ({EMOGI_SOURCES, 0}, {EMOGI_MAX_DEPTH, -1}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"level", EMOGI_INT32, -1}, {"paths", EMOGI_FLOAT64, 0})) \
	OTHER(CC, cc, cc, cc, path, cc, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_ANY, EMOGI_WEIGHTS_UNUSED, \
		  EMOGI_NAMES_MEMBERS | EMOGI_KEEPS_COMPONENTS, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"component", EMOGI_VERTEX, NAN})) \
	OTHER(SCC, scc, scc, scc, none, scc, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_UNUSED, \
		  EMOGI_NEEDS_BACKWARD | EMOGI_NAMES_MEMBERS, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"component", EMOGI_VERTEX, NAN})) \
	OTHER(TRIANGLES, triangles, triangles, triangles, none, triangles, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_BOTH, EMOGI_WEIGHTS_UNUSED, 0, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"triangles", EMOGI_INT64, NAN})) \
	OTHER(TRIANGLE_COUNT, triangle_count, triangles, triangles, none, triangles, \
		  EMOGI_SHAPE_SCALAR, EMOGI_LISTS_BOTH, EMOGI_WEIGHTS_UNUSED, EMOGI_COUNTS_CORNERS, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"triangles", EMOGI_INT64, NAN})) \
	OTHER(LCC, lcc, lcc, lcc, none, lcc, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_UNUSED, EMOGI_NEEDS_BACKWARD, \
		  ({EMOGI_DIRECTION, EMOGI_BOTH}), \
		  ({"coefficient", EMOGI_FLOAT64, NAN})) \
	OTHER(CORE, core, core, core, none, core, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_BOTH, EMOGI_WEIGHTS_UNUSED, 0, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"core", EMOGI_INT32, NAN})) \
	OTHER(CDLP, cdlp, cdlp, cdlp, none, cdlp, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_UNUSED, EMOGI_NEEDS_BACKWARD, \
		  ({EMOGI_MAX_ITERATIONS, 10}, {EMOGI_DIRECTION, EMOGI_BOTH}), \
		  ({"label", EMOGI_VERTEX, NAN})) \
	OTHER(LOUVAIN, louvain, louvain, louvain, none, communities, \
		  EMOGI_SHAPE_HIERARCHY, EMOGI_LISTS_BOTH, EMOGI_WEIGHTS_CONDUCTANCES, 0, \
		  ({EMOGI_RESOLUTION, 1}, {EMOGI_MAX_LEVELS, 0}, {EMOGI_TOLERANCE, 1e-7}, \
		   {EMOGI_SEED, 0}), \
		  ({"heads", EMOGI_INT32, NAN}, {"joins", EMOGI_VERTEX, NAN})) \
	OTHER(LEIDEN, leiden, leiden, leiden, none, communities, \
		  EMOGI_SHAPE_HIERARCHY, EMOGI_LISTS_BOTH, EMOGI_WEIGHTS_CONDUCTANCES, 0, \
		  ({EMOGI_RESOLUTION, 1}, {EMOGI_THETA, 0.01}, {EMOGI_MAX_CLUSTER_SIZE, 0}, \
		   {EMOGI_MAX_LEVELS, 0}, {EMOGI_SEED, 0}), \
		  ({"heads", EMOGI_INT32, NAN}, {"joins", EMOGI_VERTEX, NAN})) \
	OTHER(MODULARITY, modularity, modularity, modularity, none, modularity, \
		  EMOGI_SHAPE_SCALAR, EMOGI_LISTS_BOTH, EMOGI_WEIGHTS_CONDUCTANCES, 0, \
		  ({EMOGI_COMMUNITIES, 0}, {EMOGI_RESOLUTION, 1}), \
		  ({"part", EMOGI_FLOAT64, NAN})) \
	OTHER(DEGREE, degree, degree, degree, none, degree, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_FACTORS, \
		  EMOGI_MAY_DIVERGE | EMOGI_SUMS_LISTS, \
		  ({EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"degree", EMOGI_INT64, NAN}, {"strength", EMOGI_FLOAT64, NAN})) \
	OTHER(CLOSENESS, closeness, closeness, closeness, none, closeness, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_UNUSED, EMOGI_NEEDS_BACKWARD, \
		  ({EMOGI_SAMPLES, 0}, {EMOGI_SEED, 0}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"reached", EMOGI_INT64, NAN}, {"farness", EMOGI_FLOAT64, NAN}, \
		   {"closeness", EMOGI_FLOAT64, NAN}, \
		   {"harmonic", EMOGI_FLOAT64, NAN})) \
	OTHER(BETWEENNESS, betweenness, betweenness, betweenness, none, betweenness, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_UNUSED, EMOGI_NEEDS_BACKWARD, \
		  ({EMOGI_SAMPLES, 0}, {EMOGI_SEED, 0}, {EMOGI_NORMALIZED, 1}, \
		   {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"centrality", EMOGI_FLOAT64, NAN})) \
	OTHER(TOPOLOGICAL_ORDER, topological_order, topological_order, none, none, topological_order, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_UNUSED, 0, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"level", EMOGI_INT32, NAN}, {"position", EMOGI_INT64, NAN})) \
	OTHER(LONGEST_PATH, longest_path, topological_order, none, none, topological_order, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_FACTORS, EMOGI_MAY_DIVERGE, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"distance", EMOGI_FLOAT64, NAN})) \
	OTHER(ROLLUP, rollup, rollup, none, none, rollup, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_FACTORS, \
		  EMOGI_NEEDS_BACKWARD | EMOGI_MAY_DIVERGE | EMOGI_OF_REACHED, \
		  ({EMOGI_SOURCES, 0}, {EMOGI_MAX_DEPTH, -1}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"level", EMOGI_INT32, -1}, {"quantity", EMOGI_FLOAT64, 0})) \
	OTHER(SIMILARITY, similarity, similarity, similarity, none, similarity, \
		  EMOGI_SHAPE_SIMILARITIES, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_UNUSED, \
		  EMOGI_NEEDS_BACKWARD | EMOGI_OF_TARGETS, \
		  ({EMOGI_MEASURE, EMOGI_JACCARD}, {EMOGI_TOP_K, 10}, {EMOGI_CUTOFF, 0}, {EMOGI_PAIRS, 0}, \
		   {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"vertex2", EMOGI_VERTEX, EMOGI_NO_VERTEX}, {"similarity", EMOGI_FLOAT64, 0})) \
	OTHER(RANDOM_WALK, random_walk, random_walk, random_walk, none, random_walk, \
		  EMOGI_SHAPE_WALKS, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_UNUSED, 0, \
		  ({EMOGI_SOURCES, 0}, {EMOGI_LENGTH, 80}, {EMOGI_WALKS, 1}, {EMOGI_RETURN, 1}, \
		   {EMOGI_IN_OUT, 1}, {EMOGI_SEED, 0}, \
		   {EMOGI_DIRECTION, EMOGI_OUT}, {EMOGI_WEIGHTED, 0}), \
		  ({"vertex", EMOGI_VERTEX, EMOGI_NO_VERTEX})) \
	OTHER(DISTANCE_MATRIX, distance_matrix, distance_matrix, none, none, distance_matrix, \
		  EMOGI_SHAPE_DISTANCES, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_LENGTHS, 0, \
		  ({EMOGI_SOURCES, 0}, {EMOGI_TARGETS, 0}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"distance", EMOGI_FLOAT64, (double) INFINITY})) \
	OTHER(MAX_FLOW, max_flow, max_flow, none, none, max_flow, \
		  EMOGI_SHAPE_TOTAL, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_CAPACITIES, EMOGI_NEEDS_BACKWARD, \
		  ({EMOGI_SOURCES, 0}, {EMOGI_TARGETS, 0}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"flow", EMOGI_FLOAT64, NAN}, {"residual", EMOGI_FLOAT64, NAN}, \
		   {"src", EMOGI_VERTEX, EMOGI_NO_VERTEX}, {"dst", EMOGI_VERTEX, EMOGI_NO_VERTEX})) \
	OTHER(MAX_FLOW_EDGES, max_flow_edges, max_flow, none, none, max_flow, \
		  EMOGI_SHAPE_FLOWS, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_CAPACITIES, EMOGI_NEEDS_BACKWARD, \
		  ({EMOGI_SOURCES, 0}, {EMOGI_TARGETS, 0}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"flow", EMOGI_FLOAT64, NAN}, {"residual", EMOGI_FLOAT64, NAN}, \
		   {"src", EMOGI_VERTEX, EMOGI_NO_VERTEX}, {"dst", EMOGI_VERTEX, EMOGI_NO_VERTEX})) \
	OTHER(MIN_CUT, min_cut, max_flow, none, none, max_flow, \
		  EMOGI_SHAPE_CUT, EMOGI_LISTS_FORWARD, EMOGI_WEIGHTS_CAPACITIES, EMOGI_NEEDS_BACKWARD, \
		  ({EMOGI_SOURCES, 0}, {EMOGI_TARGETS, 0}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"flow", EMOGI_FLOAT64, NAN}, {"residual", EMOGI_FLOAT64, NAN}, \
		   {"src", EMOGI_VERTEX, EMOGI_NO_VERTEX}, {"dst", EMOGI_VERTEX, EMOGI_NO_VERTEX})) \
	OTHER(SPANNING_FOREST, spanning_forest, spanning_forest, spanning_forest, none, \
		  spanning_forest, EMOGI_SHAPE_WEIGHTED_EDGES, EMOGI_LISTS_BOTH, EMOGI_WEIGHTS_FACTORS, 0, \
		  ({EMOGI_MAXIMUM, 0}), \
		  ({"parent", EMOGI_VERTEX, EMOGI_NO_VERTEX}, {"weight", EMOGI_FLOAT64, NAN})) \
	OTHER(BRIDGES, bridges, blocks, blocks, none, blocks, \
		  EMOGI_SHAPE_EDGES, EMOGI_LISTS_BOTH, EMOGI_WEIGHTS_UNUSED, EMOGI_FEW_ROWS, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"other", EMOGI_VERTEX, EMOGI_NO_VERTEX})) \
	OTHER(ARTICULATION_POINTS, articulation_points, blocks, blocks, none, blocks, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_BOTH, EMOGI_WEIGHTS_UNUSED, EMOGI_FEW_ROWS, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"components", EMOGI_INT64, 0})) \
	OTHER(BICONNECTED, biconnected, blocks, blocks, none, blocks, \
		  EMOGI_SHAPE_BLOCKS, EMOGI_LISTS_BOTH, EMOGI_WEIGHTS_UNUSED, 0, \
		  ({EMOGI_NO_PARAMETER, 0}), \
		  ({"component", EMOGI_INT64, -1}, {"parent", EMOGI_VERTEX, EMOGI_NO_VERTEX})) \
	OTHER(PAGERANK, pagerank, pagerank, semiring_sum, sum, pagerank, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_BACKWARD, EMOGI_WEIGHTS_UNUSED, \
		  EMOGI_WEIGHS_BACKWARD | EMOGI_DAMPED, \
		  ({EMOGI_DAMPING, 0.85}, {EMOGI_MAX_ITERATIONS, 100}, {EMOGI_TOLERANCE, 1e-6}, \
		   {EMOGI_TELEPORT, 0}, {EMOGI_DIRECTION, EMOGI_OUT}, \
		   {EMOGI_WEIGHTED, 0}), \
		  ({"rank", EMOGI_FLOAT64, NAN})) \
	OTHER(EIGENVECTOR, eigenvector, eigenvector, powers, none, eigenvector, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_BACKWARD, EMOGI_WEIGHTS_UNUSED, \
		  EMOGI_MAY_NOT_CONVERGE, \
		  ({EMOGI_MAX_ITERATIONS, 100}, {EMOGI_TOLERANCE, 1e-6}, {EMOGI_WEIGHTED, 0}, \
		   {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"centrality", EMOGI_FLOAT64, NAN})) \
	OTHER(KATZ, katz, katz, powers, none, katz, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_BACKWARD, EMOGI_WEIGHTS_UNUSED, EMOGI_MAY_DIVERGE, \
		  ({EMOGI_ALPHA, 0.1}, {EMOGI_BETA, 1}, {EMOGI_MAX_ITERATIONS, 1000}, \
		   {EMOGI_TOLERANCE, 1e-6}, {EMOGI_NORMALIZED, 1}, \
		   {EMOGI_WEIGHTED, 0}, {EMOGI_DIRECTION, EMOGI_OUT}), \
		  ({"centrality", EMOGI_FLOAT64, NAN})) \
	OTHER(HITS, hits, hits, powers, none, hits, \
		  EMOGI_SHAPE_VERTICES, EMOGI_LISTS_BACKWARD, EMOGI_WEIGHTS_UNUSED, \
		  EMOGI_NEEDS_BACKWARD | EMOGI_MAY_NOT_CONVERGE, \
		  ({EMOGI_MAX_ITERATIONS, 100}, {EMOGI_TOLERANCE, 1e-8}, {EMOGI_WEIGHTED, 0}, \
		   {EMOGI_DIRECTION, EMOGI_OUT}), \
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

/*
 * In a switch over the rows of one kind, EMOGI_LEAVE handles the other kinds. In a list of one
 * kind, EMOGI_NOTHING omits them.
 */
#define EMOGI_LEAVE(NAME, ...) case EMOGI_##NAME: break;
#define EMOGI_NOTHING(...)

/* A row of the table at run time. */
typedef struct EmogiAlgorithmRow
{
	EmogiAlgorithm algorithm;
	EmogiAlgorithm search;		/* the underlying search of a search forest; otherwise itself */
	const char *name;
	const char *cuda;			/* kernels of emogi that implement it; "none" = none */
	const char *papers;			/* likewise, kernels of the papers' systems */
	EmogiAnswerShape	shape;
	EmogiLists	lists;
	EmogiWeights weights;
	uint32_t	traits;			/* EMOGI_* */
	EmogiParameter parameters[EMOGI_MAX_PARAMETERS + 1];
	EmogiResultColumn columns[EMOGI_MAX_COLUMNS + 1];
} EmogiAlgorithmRow;

/* Check whether the columns of a result have emogi_query_length elements, not one per vertex. */
static inline bool
emogi_shape_is_list(EmogiAnswerShape shape)
{
	return shape >= EMOGI_SHAPE_SIMILARITIES;
}

/* Check whether the SQL function returns one number, the sum of the first column. */
static inline bool
emogi_shape_is_number(EmogiAnswerShape shape)
{
	return shape == EMOGI_SHAPE_SCALAR || shape == EMOGI_SHAPE_TOTAL;
}

/* Check whether the columns encode a search forest. */
static inline bool
emogi_shape_is_tree(EmogiAnswerShape shape)
{
	return shape == EMOGI_SHAPE_BFS_TREE || shape == EMOGI_SHAPE_PATH_TREE;
}

extern const EmogiAlgorithmRow emogi_algorithm_rows[EMOGI_NALGORITHMS];

/* Get the row of an algorithm. */
static inline const EmogiAlgorithmRow *
emogi_algorithm_row(EmogiAlgorithm algorithm)
{
	return &emogi_algorithm_rows[algorithm];
}

/* Check whether an algorithm has one of these traits. */
static inline bool
emogi_algorithm_has(EmogiAlgorithm algorithm, uint32_t traits)
{
	return (emogi_algorithm_row(algorithm)->traits & traits) != 0;
}

/* Find an algorithm by name; NULL if there is none. */
extern const EmogiAlgorithmRow *emogi_algorithm_named(const char *name);

/* Get the index of a parameter of an algorithm; -1 if it does not take it. */
extern int	emogi_algorithm_takes(const EmogiAlgorithmRow *row, EmogiParameterKind kind);

/* Check whether an algorithm iterates over all edges. */
extern bool emogi_algorithm_iterates(EmogiAlgorithm algorithm);

/* Check whether emogi has kernels for an algorithm. */
extern bool emogi_algorithm_is_on_cuda(const EmogiAlgorithmRow *row);

/* Get the size of a value. */
extern uint32_t emogi_algorithm_column_bytes(EmogiColumnType type);

#ifdef __cplusplus
}
#endif
#endif							/* EMOGI_ALGORITHMS_H */
