/*
 * spanning_forest.c: the minimum or maximum spanning forest of an undirected graph.
 *
 * Fills parent[nvertices], the parent of a vertex in a tree rooted at its smallest vertex,
 * EMOGI_NO_VERTEX for a root, and weight[nvertices], the weight of the edge between the two, 0 for
 * a root.
 *
 * Boruvka's method [1]: in each round, every tree takes the first edge that leads out of it. No two
 * edges are equal in the order (weight, smaller end, larger end), so that the taken edges form no
 * cycle except when two trees take the same edge, and the forest does not depend on the order of
 * the work. Adjacency lists ascend by target, so that among a list's edges of one weight the first
 * in the list is the first in the order. A vertex remembers its first edge out of its tree until
 * the edge's other end has joined the tree; a vertex without such an edge is not processed again.
 * One tree, the giant if there is one, takes no edge: the edges out of it are taken by other trees
 * or not at all, and so most edges need not be examined again.
 *
 * Then the trees are rooted at their smallest vertices (spanning_bfs.h).
 *
 * [1] J. Nesetril, E. Milkova, H. Nesetrilova. Otakar Boruvka on minimum spanning tree problem.
 *     Discrete Mathematics 233, 2001.
 */
#include "cpu_algorithms.h"
#include "cpu/union_find.h"
#include "cpu/spanning_bfs.h"

#include "contract/semirings.h"

#define VERTEX_CHUNK 1024
#define NO_ENTRY UINT64_MAX		/* no edge leads out of the tree */
#define NOT_YET (UINT64_MAX - 1)	/* the list has not been searched */

typedef struct Forest
{
	EmogiCpuRun run;
	const EmogiGraph *graph;
	bool		maximum;
	uint64_t   *entry;			/* [nvertices + 2], index of the vertex's first edge out of its
								 * tree; later the offsets of the forest's lists */
	uint32_t   *tree;			/* [nvertices], the tree of a vertex, identified by one of its
								 * vertices; in the end the smallest */
	uint32_t   *chosen;			/* [nvertices], atomic: by tree, the vertex that remembers the
								 * first edge out of the tree, EMOGI_NO_VERTEX = none yet */
	uint32_t   *link;			/* [nvertices], atomic: by tree, the tree that this one joins, or
								 * itself; shares memory with `level` */
	uint64_t   *taken;			/* [nvertices], by tree, the index of chosen's edge if the tree
								 * has joined another by it */
	uint32_t   *targets;		/* [2 * nvertices], lists of the forest */
	uint32_t	giant;			/* the tree that takes no edge, EMOGI_NO_VERTEX = all do */
	uint64_t	njoined;		/* atomic: trees joined in this round */
	uint64_t	nscanned;		/* atomic: edges examined */
	EmogiSpanningBfs spanning;
} Forest;

/* Take a chunk of vertices; false if none is left or the job has stopped. */
static inline bool
take_chunk(Forest *forest, uint64_t *v, uint64_t *end)
{
	return emogi_cpu_run_take(&forest->run, VERTEX_CHUNK, forest->graph->nvertices, v, end);
}

/* Get the sort key of an edge: its weight, negated for a maximum forest. */
static inline double
rank_of(const Forest *forest, uint64_t e)
{
	const double weight = emogi_weight(forest->graph->forward.weights, forest->graph->weight_type,
									   e);

	return forest->maximum ? -weight : weight;
}

/* Make every vertex a tree of its own. */
static void
make_trees(void *arg, int thread, int nthreads)
{
	Forest	   *forest = arg;

	for (uint64_t v, end; take_chunk(forest, &v, &end);)
		for (; v < end; v++)
		{
			forest->entry[v] = NOT_YET;
			forest->taken[v] = NO_ENTRY;
			forest->tree[v] = (uint32_t) v;
			forest->chosen[v] = EMOGI_NO_VERTEX;
		}
}

/* ---- a round ---- */

/*
 * Find the first edge in a vertex's list that leads out of its tree; `nscanned` counts edges.
 * NO_ENTRY also if the job has stopped.
 */
static uint64_t
find_entry(Forest *forest, uint64_t v, uint64_t *nscanned)
{
	const EmogiAdjacency *lists = &forest->graph->forward;
	const bool	are_equal = forest->graph->weight_type == EMOGI_WEIGHT_NONE;
	const bool	is_alone = forest->entry[v] == NOT_YET; /* in the first round: saves reading
														 * `tree` */
	const uint32_t tree = forest->tree[v];
	const uint64_t first = are_equal && !is_alone ? forest->entry[v] : lists->offsets[v];
	uint64_t	found = NO_ENTRY;
	double		rank = (double) INFINITY;
	uint64_t	e = first;

	for (; e < lists->offsets[v + 1]; e++)
	{
		if (is_alone ? lists->targets[e] != v : forest->tree[lists->targets[e]] != tree)
		{
			const double offer = rank_of(forest, e);

			if (found == NO_ENTRY || offer < rank)
			{
				found = e;
				rank = offer;
			}
			if (are_equal)
				break;
		}
		if ((e - first) % EMOGI_RUN_POLL == EMOGI_RUN_POLL - 1 &&
			emogi_job_stopped(&forest->run.job))
			return NO_ENTRY;
	}
	*nscanned += e - first;
	return found;
}

/* Check whether the edge that u remembers precedes that of v. */
static bool
is_before(const Forest *forest, uint32_t u, uint32_t v)
{
	const uint32_t *targets = forest->graph->forward.targets;
	const uint32_t x = targets[forest->entry[u]];
	const uint32_t y = targets[forest->entry[v]];
	const double of_u = rank_of(forest, forest->entry[u]);
	const double of_v = rank_of(forest, forest->entry[v]);

	if (of_u != of_v)
		return of_u < of_v;
	if ((u < x ? u : x) != (v < y ? v : y))
		return (u < x ? u : x) < (v < y ? v : y);
	return (u < x ? x : u) < (v < y ? y : v);
}

/* Offer a tree the edge that one of its vertices remembers. */
static inline void
offer_edge(Forest *forest, uint32_t v)
{
	uint32_t   *chosen = &forest->chosen[forest->tree[v]];
	uint32_t	known = __atomic_load_n(chosen, __ATOMIC_ACQUIRE);

	while ((known == EMOGI_NO_VERTEX || is_before(forest, v, known)) &&
		   !__atomic_compare_exchange_n(chosen, &known, v, true, __ATOMIC_ACQ_REL,
										__ATOMIC_ACQUIRE))
		;
}

/* Find the first edge out of each tree. */
static void
choose_edges(void *arg, int thread, int nthreads)
{
	Forest	   *forest = arg;
	const uint32_t *targets = forest->graph->forward.targets;
	uint64_t	nscanned = 0;
	uint64_t	polled = 0;

	for (uint64_t v, end; take_chunk(forest, &v, &end);)
		for (; v < end; v++)
		{
			if (forest->entry[v] == NO_ENTRY || forest->tree[v] == forest->giant)
				continue;
			if (forest->entry[v] == NOT_YET ||
				forest->tree[targets[forest->entry[v]]] == forest->tree[v])
				forest->entry[v] = find_entry(forest, v, &nscanned);
			if (forest->entry[v] != NO_ENTRY)
				offer_edge(forest, (uint32_t) v);
			if (nscanned - polled > EMOGI_RUN_POLL)
			{
				polled = nscanned;
				if (emogi_job_stopped(&forest->run.job))
					return;
			}
		}
	emogi_job_claim(&forest->nscanned, nscanned);
}

/* Get the tree to which a tree's edge leads, EMOGI_NO_VERTEX if it has none. */
static inline uint32_t
next_tree(const Forest *forest, uint32_t tree)
{
	if (forest->chosen[tree] == EMOGI_NO_VERTEX)
		return EMOGI_NO_VERTEX;
	return forest->tree[forest->graph->forward.targets[forest->entry[forest->chosen[tree]]]];
}

/*
 * Join each tree to the one its edge leads to; of two trees that have taken the same edge, the one
 * with the smaller number remains.
 */
static void
join_trees(void *arg, int thread, int nthreads)
{
	Forest	   *forest = arg;
	uint64_t	njoined = 0;

	for (uint64_t v, end; take_chunk(forest, &v, &end);)
		for (; v < end; v++)
		{
			uint32_t	other;

			if (forest->tree[v] != v)
				continue;
			forest->link[v] = (uint32_t) v;
			other = next_tree(forest, (uint32_t) v);
			if (other == EMOGI_NO_VERTEX || (v < other && next_tree(forest, other) == v))
				continue;
			forest->link[v] = other;
			forest->taken[v] = forest->entry[forest->chosen[v]];
			njoined++;
		}
	emogi_job_claim(&forest->njoined, njoined);
	emogi_job_done(&forest->run.job, njoined);
}

/* Find the root of a tree's links, halving the path. */
static inline uint32_t
follow_links(uint32_t *link, uint32_t tree)
{
	for (;;)
	{
		const uint32_t next = __atomic_load_n(&link[tree], __ATOMIC_RELAXED);
		const uint32_t after = __atomic_load_n(&link[next], __ATOMIC_RELAXED);

		if (next == after)
			return next;
		__atomic_store_n(&link[tree], after, __ATOMIC_RELAXED);
		tree = after;
	}
}

/* Set all vertices' new trees, and reset the trees' edges. */
static void
update_trees(void *arg, int thread, int nthreads)
{
	Forest	   *forest = arg;

	for (uint64_t v, end; take_chunk(forest, &v, &end);)
		for (; v < end; v++)
		{
			forest->tree[v] = follow_links(forest->link, forest->tree[v]);
			if (forest->tree[v] == v)
				forest->chosen[v] = EMOGI_NO_VERTEX;
		}
}

/* Join trees until no edge leads out of any; false if the job has stopped. */
static bool
join_all(Forest *forest)
{
	EmogiCpuRun *run = &forest->run;

	forest->giant = EMOGI_NO_VERTEX;
	if (!emogi_cpu_run_step(run, make_trees, forest, false))
		return false;
	do
	{
		forest->njoined = 0;
		run->job.control->level = run->result->nlevels++;
		if (!emogi_cpu_run_step(run, choose_edges, forest, false) ||
			!emogi_cpu_run_step(run, join_trees, forest, false) ||
			!emogi_cpu_run_step(run, update_trees, forest, false))
			return false;
		forest->giant = forest->graph->nvertices > 0
			? emogi_union_find_giant(forest->tree, forest->graph->nvertices) : EMOGI_NO_VERTEX;
	} while (forest->njoined > 0);
	return true;
}

/* ---- rooting the trees ---- */

/* Clear the remembered edges, whose memory is reused for offsets. */
static void
clear_offsets(void *arg, int thread, int nthreads)
{
	Forest	   *forest = arg;

	for (uint64_t v, end; take_chunk(forest, &v, &end);)
		for (; v < end; v++)
		{
			forest->entry[v] = 0;
			forest->link[v] = EMOGI_NO_VERTEX;
		}
}

/* Count the edges of each vertex in entry[v + 2], and find the smallest vertex of each tree. */
static void
count_edges(void *arg, int thread, int nthreads)
{
	Forest	   *forest = arg;

	for (uint64_t v, end; take_chunk(forest, &v, &end);)
		for (; v < end; v++)
		{
			emogi_spanning_bfs_lower(&forest->link[forest->tree[v]], (uint32_t) v);
			if (forest->taken[v] == NO_ENTRY)
				continue;
			emogi_job_claim(&forest->entry[forest->chosen[v] + UINT64_C(2)], 1);
			emogi_job_claim(&forest->entry[forest->graph->forward.targets[forest->taken[v]] +
										  UINT64_C(2)], 1);
		}
}

/* Convert counts to offsets, that of v in entry[v + 1]; false if the job has stopped. */
static bool
add_up_offsets(Forest *forest)
{
	for (uint64_t v = 1; v < forest->graph->nvertices + 2; v++)
	{
		forest->entry[v] += forest->entry[v - 1];
		if (v % EMOGI_RUN_POLL == 0 && emogi_job_stopped(&forest->run.job))
			return false;
	}
	return true;
}

/*
 * Write the lists, unordered, which advances each entry[v + 1] to its final offset, and label each
 * tree by its smallest vertex.
 */
static void
write_lists(void *arg, int thread, int nthreads)
{
	Forest	   *forest = arg;

	for (uint64_t v, end; take_chunk(forest, &v, &end);)
		for (; v < end; v++)
		{
			forest->tree[v] = forest->link[forest->tree[v]];
			if (forest->taken[v] != NO_ENTRY)
			{
				const uint32_t u = forest->chosen[v];
				const uint32_t w = forest->graph->forward.targets[forest->taken[v]];

				forest->targets[emogi_job_claim(&forest->entry[u + UINT64_C(1)], 1)] = w;
				forest->targets[emogi_job_claim(&forest->entry[w + UINT64_C(1)], 1)] = u;
			}
		}
}

/* Write the weight of each edge to its lower end, and 0 to roots. */
static void
write_weights(void *arg, int thread, int nthreads)
{
	Forest	   *forest = arg;
	const EmogiArray *columns = forest->run.result->columns;

	for (uint64_t v, end; take_chunk(forest, &v, &end);)
		for (; v < end; v++)
		{
			if (columns[0].vertex[v] == EMOGI_NO_VERTEX)
				columns[1].float64[v] = 0.0;
			if (forest->taken[v] != NO_ENTRY)
			{
				const uint32_t u = forest->chosen[v];
				const uint32_t w = forest->graph->forward.targets[forest->taken[v]];
				const uint32_t below = columns[0].vertex[w] == u ? w : u;

				columns[1].float64[below] = emogi_weight(forest->graph->forward.weights,
														 forest->graph->weight_type,
														 forest->taken[v]);
			}
		}
}

/* Root all trees at their smallest vertices. */
static void
root_trees(Forest *forest)
{
	EmogiCpuRun *run = &forest->run;
	EmogiAdjacency lists;

	if (!emogi_cpu_run_step(run, clear_offsets, forest, false))
		return;
	forest->entry[forest->graph->nvertices] = forest->entry[forest->graph->nvertices + 1] = 0;
	if (!emogi_cpu_run_step(run, count_edges, forest, false) || !add_up_offsets(forest) ||
		!emogi_cpu_run_step(run, write_lists, forest, false))
		return;
	lists = (EmogiAdjacency) {.nedges = forest->entry[forest->graph->nvertices],
		.offsets = forest->entry, .targets = forest->targets};
	forest->spanning.lists = &lists;
	if (emogi_spanning_bfs_build(&forest->spanning))
		emogi_cpu_run_step(run, write_weights, forest, false);
}

/* Allocate the scratch memory; false if out of memory. */
static bool
open_forest(Forest *forest)
{
	const uint64_t n = forest->graph->nvertices;

	forest->entry = emogi_cpu_run_scratch(&forest->run, n + 2, sizeof *forest->entry);
	forest->tree = emogi_cpu_run_scratch(&forest->run, n, sizeof *forest->tree);
	forest->chosen = emogi_cpu_run_scratch(&forest->run, n, sizeof *forest->chosen);
	forest->taken = emogi_cpu_run_scratch(&forest->run, n, sizeof *forest->taken);
	forest->targets = emogi_cpu_run_scratch(&forest->run, 2 * n, sizeof *forest->targets);
	forest->spanning = (EmogiSpanningBfs) {.run = &forest->run, .nvertices = n,
		.component = forest->tree,
		.parent = forest->run.result->columns[0].vertex};
	if (emogi_job_stopped(&forest->run.job) || !emogi_spanning_bfs_open(&forest->spanning))
		return false;
	forest->link = forest->spanning.level;
	return true;
}

EmogiStatus
emogi_cpu_spanning_forest(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
						  EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Forest		forest = {.graph = graph, .maximum = query->maximum};

	emogi_cpu_run_begin(&forest.run, pool, graph, 2 * graph->nvertices, result, control, error,
						"a spanning forest");
	if (open_forest(&forest) && join_all(&forest))
	{
		root_trees(&forest);
		result->nreached = graph->nvertices;
		result->edges_traversed = forest.nscanned;
	}
	return emogi_cpu_run_end(&forest.run);
}
