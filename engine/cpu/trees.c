/*
 * trees.c: trees of shortest paths by the threads of a pool.
 *
 * Fills level[nvertices] or distance[nvertices] as the search without a tree does, by that very
 * search; predecessor[nvertices], the vertex before on the way from a source, EMOGI_NO_VERTEX at a
 * source and where nothing was reached; and source[nvertices], where that way begins.
 *
 * An edge u -> v is tight when what u has and its weight are exactly what v has. Ways follow tight
 * edges. Of several to a vertex that of the smallest source counts, then that of the fewest edges,
 * then that whose vertex before is the smallest: (source, edges) of a vertex is the least (source,
 * edges + 1) of those that a tight edge leads from, and a source has (itself, 0), so that what
 * stands there does not depend on the order of work. Fewest edges matter where edges add nothing:
 * such may lead in a circle, and predecessors never do, for edges ascend along them.
 *
 * Method. From the smallest source on, each source has a breadth-first search over tight edges,
 * which enters no vertex that an earlier one has found, nor a source: so each vertex is visited
 * once, whatever the number of sources. A vertex takes the smallest of those that find it in the
 * same round. Where there is one source and no weights, levels are rounds already: then every
 * vertex takes the first of its backward list that is one level nearer, or, where the Graph has
 * none, all offer themselves along their forward lists, in one step. Where there is one source and
 * no vertex has two tight edges, from different vertices or from one that is as near, there is but
 * one tree: it is looked for first, in one step, which ends where it finds that there are several.
 */
#include "algorithms.h"
#include "cpu/queue_buffer.h"
#include "prefetch.h"
#include "cpu/cpu_run.h"

#include "contract/semirings.h"
#include "graph/csr.h"

#define CLEAR_AT_ONCE 16384
#define VERTICES_AT_ONCE 1024
#define TAKEN_AT_ONCE 32
#define ALONE_ROUND 256			/* so few vertices are not worth waking anyone */
#define LISTS_AHEAD 8	/* lists, and entries, that are asked for before they are looked at */
#define ENTRIES_AHEAD 16
/* as a round: a source, which nobody finds; rounds are fewer than vertices */
#define ROOT UINT32_MAX

typedef struct Tree
{
	EmogiCpuRun run;
	const EmogiGraph *graph;
	const int32_t *level;		/* [nvertices], or NULL */
	const double *distance;		/* [nvertices], or NULL */
	uint32_t   *predecessor;	/* [nvertices], atomic */
	uint32_t   *source;			/* [nvertices] */
	uint32_t   *round;			/* [nvertices], atomic: in which one a vertex was found; 0 = in
								 * none yet */
	uint32_t   *queue;			/* [nvertices]: found, round by round */
	uint64_t	tail;			/* atomic */
	uint64_t	head;			/* where the round begins */
	uint64_t	end;			/* and ends */
	uint32_t	number;			/* of the round, counted over all searches */
	uint32_t	root;			/* of the search */
	bool		has_ties;		/* atomic: there may be several trees */
	uint64_t	looked;			/* atomic: list entries */
	uint64_t	weight_bytes;	/* of a weight in the lists */
} Tree;

/* Is a vertex reached? */
static inline bool
is_reached(const Tree *tree, uint64_t v)
{
	return tree->level != NULL ? tree->level[v] >= 0 : tree->distance[v] < (double) INFINITY;
}

/* Is entry e, which leads from u, which is reached, to v, or back, tight? */
static inline bool
is_tight(const Tree *tree, uint64_t u, uint64_t v, const void *weights, uint64_t e)
{
	double		offer;

	if (tree->level != NULL)
		return tree->level[u] >= 0 && tree->level[v] == tree->level[u] + 1;
	offer = emogi_path_candidate(EMOGI_SSSP, tree->distance[u],
								 emogi_weight(weights, tree->graph->weight_type, e));
	return offer == tree->distance[v] && offer < (double) INFINITY;
}

/* Have a vertex take a predecessor, if it has no smaller one. */
static inline void
take_smaller(uint32_t *predecessor, uint32_t u)
{
	uint32_t	known = __atomic_load_n(predecessor, __ATOMIC_RELAXED);

	while (u < known &&
		   !__atomic_compare_exchange_n(predecessor, &known, u, true, __ATOMIC_RELAXED,
										__ATOMIC_RELAXED))
		;
}

/* Begin without predecessors. Where there is one source all that is reached has it. */
static void
clear_columns(void *arg, int thread, int nthreads)
{
	Tree	   *tree = arg;
	uint64_t	v;

	while (!emogi_job_stopped(&tree->run.job) &&
		   (v = emogi_job_take(&tree->run.next, CLEAR_AT_ONCE)) < tree->graph->nvertices)
	{
		const uint64_t end = emogi_cpu_run_chunk_end(v, CLEAR_AT_ONCE, tree->graph->nvertices);

		for (; v < end; v++)
		{
			tree->predecessor[v] = EMOGI_NO_VERTEX;
			tree->source[v] = tree->root != EMOGI_NO_VERTEX &&
				is_reached(tree, v) ? tree->root : EMOGI_NO_VERTEX;
		}
	}
}

/* ---- one source, no weights ---- */

/*
 * Have v take the first of its backward list that a tight edge leads from; gets the entries that
 * were looked at.
 */
static uint64_t
pull_vertex(Tree *tree, uint64_t v)
{
	const EmogiAdjacency *lists = &tree->graph->backward;
	const bool	has_way = is_reached(tree, v);
	uint64_t	e = lists->offsets[v];

	tree->predecessor[v] = EMOGI_NO_VERTEX;
	tree->source[v] = has_way ? tree->root : EMOGI_NO_VERTEX;
	if (!has_way || v == tree->root)
		return 0;
	for (; e < lists->offsets[v + 1]; e++)
	{
		if (is_tight(tree, lists->targets[e], v, NULL, e))
		{
			tree->predecessor[v] = lists->targets[e];
			return e - lists->offsets[v] + 1;
		}
		if ((e - lists->offsets[v]) % EMOGI_RUN_POLL == EMOGI_RUN_POLL - 1 &&
			emogi_job_stopped(&tree->run.job))
			break;
	}
	return e - lists->offsets[v];
}

/* Offer u to those that a tight edge leads to; gets the entries that were looked at. */
static uint64_t
push_vertex(Tree *tree, uint64_t u)
{
	const EmogiAdjacency *lists = &tree->graph->forward;
	uint64_t	e = lists->offsets[u];

	for (; is_reached(tree, u) && e < lists->offsets[u + 1]; e++)
	{
		if (is_tight(tree, u, lists->targets[e], NULL, e))
			take_smaller(&tree->predecessor[lists->targets[e]], (uint32_t) u);
		if ((e - lists->offsets[u]) % EMOGI_RUN_POLL == EMOGI_RUN_POLL - 1 &&
			emogi_job_stopped(&tree->run.job))
			break;
	}
	return e - lists->offsets[u];
}

/* Find the predecessors of all vertices, in any order. */
static void
find_all(void *arg, int thread, int nthreads)
{
	Tree	   *tree = arg;
	const EmogiAdjacency *lists = tree->graph->backward.offsets != NULL ? &tree->graph->backward
		: &tree->graph->forward;
	const bool	pulls = tree->graph->backward.offsets != NULL;
	uint64_t	looked = 0;
	uint64_t	polled = 0;
	uint64_t	v;

	while (!emogi_job_stopped(&tree->run.job) &&
		   (v = emogi_job_take(&tree->run.next, VERTICES_AT_ONCE)) < tree->graph->nvertices)
	{
		const uint64_t end = emogi_cpu_run_chunk_end(v, VERTICES_AT_ONCE, tree->graph->nvertices);

		for (; v < end; v++)
		{
			if (v + LISTS_AHEAD < end)
				__builtin_prefetch(&lists->targets[lists->offsets[v + LISTS_AHEAD]]);
			looked += pulls ? pull_vertex(tree, v) : push_vertex(tree, v);
			if (looked - polled > EMOGI_RUN_POLL)
			{
				polled = looked;
				if (emogi_job_stopped(&tree->run.job))
					break;
			}
		}
	}
	__atomic_fetch_add(&tree->looked, looked, __ATOMIC_RELAXED);
}

/* ---- one source, weights, one tree ---- */

/* Have those that a tight edge leads to from u take it; gets the entries that were looked at. */
static uint64_t
offer_vertex(Tree *tree, uint64_t u)
{
	const EmogiAdjacency *lists = &tree->graph->forward;
	uint64_t	e = lists->offsets[u];

	for (; is_reached(tree, u) && e < lists->offsets[u + 1]; e++)
	{
		const uint32_t v = lists->targets[e];
		uint32_t	known = EMOGI_NO_VERTEX;

		if (is_tight(tree, u, v, lists->weights, e) &&
			(!(tree->distance[u] < tree->distance[v]) ||
			 (!__atomic_compare_exchange_n(&tree->predecessor[v], &known, (uint32_t) u, false,
										   __ATOMIC_RELAXED, __ATOMIC_RELAXED) && known != u)))
		{
			__atomic_store_n(&tree->has_ties, true, __ATOMIC_RELAXED);
			break;
		}
		if ((e - lists->offsets[u]) % EMOGI_RUN_POLL == EMOGI_RUN_POLL - 1 &&
			emogi_job_stopped(&tree->run.job))
			break;
	}
	return e - lists->offsets[u];
}

/* Find the predecessors of all vertices, in any order, until one has two. */
static void
find_only(void *arg, int thread, int nthreads)
{
	Tree	   *tree = arg;
	uint64_t	looked = 0;
	uint64_t	v;

	while (!emogi_job_stopped(&tree->run.job) &&
		   !__atomic_load_n(&tree->has_ties, __ATOMIC_RELAXED) &&
		   (v = emogi_job_take(&tree->run.next, VERTICES_AT_ONCE)) < tree->graph->nvertices)
	{
		const uint64_t end = emogi_cpu_run_chunk_end(v, VERTICES_AT_ONCE, tree->graph->nvertices);

		for (; v < end; v++)
			looked += offer_vertex(tree, v);
	}
	__atomic_fetch_add(&tree->looked, looked, __ATOMIC_RELAXED);
}

/* Find the tree if there is but one; false when there may be several, or the job has stopped. */
static bool
find_only_tree(Tree *tree)
{
	if (tree->distance == NULL || tree->root == EMOGI_NO_VERTEX ||
		!emogi_cpu_run_step(&tree->run, find_only, tree, false))
		return false;
	return !tree->has_ties;
}

/* ---- any sources, any weights ---- */

/* Find v from u in this round, unless it was found in an earlier one. */
static void
find_vertex(Tree *tree, EmogiQueueBuffer *found, uint32_t u, uint32_t v)
{
	uint32_t	seen = __atomic_load_n(&tree->round[v], __ATOMIC_RELAXED);

	if (seen != 0 && seen != tree->number)
		return;
	if (seen == 0 &&
		__atomic_compare_exchange_n(&tree->round[v], &seen, tree->number, false, __ATOMIC_RELAXED,
									__ATOMIC_RELAXED))
	{
		tree->source[v] = tree->root;
		emogi_queue_buffer_add(found, v, tree->queue, &tree->tail);
	}
	take_smaller(&tree->predecessor[v], u);
}

/* Ask for what a vertex of a list has. */
static inline void
prefetch_vertex(const Tree *tree, uint64_t v)
{
	if (tree->level != NULL)
		emogi_prefetch(&tree->level[v]);
	else
		emogi_prefetch(&tree->distance[v]);
}

/*
 * Ask for what the visits to come look at: of the one after the next where its list stands, then
 * the list, then what its first entries have.
 */
static inline void
prefetch_lists(const Tree *tree, uint64_t i)
{
	const EmogiAdjacency *lists = &tree->graph->forward;
	const uint32_t *queue = tree->queue;

	if (i + LISTS_AHEAD < tree->end)
		emogi_prefetch(&lists->offsets[queue[i + LISTS_AHEAD]]);
	if (i + LISTS_AHEAD / 2 < tree->end)
	{
		const uint64_t e = lists->offsets[queue[i + LISTS_AHEAD / 2]];

		emogi_prefetch(&lists->targets[e]);
		emogi_prefetch(&lists->targets[e + ENTRIES_AHEAD]);
		if (tree->level == NULL && lists->weights != NULL)
			emogi_prefetch((const char *) lists->weights + e * tree->weight_bytes);
	}
	if (i + 1 < tree->end)
	{
		const uint64_t first = lists->offsets[queue[i + 1]];
		const uint64_t end = emogi_cpu_run_chunk_end(first, ENTRIES_AHEAD,
													 lists->offsets[queue[i + 1] + 1]);

		for (uint64_t e = first; e < end; e++)
			prefetch_vertex(tree, lists->targets[e]);
	}
}

/* Visit a vertex; gets the list entries that were looked at. */
static uint64_t
visit_vertex(Tree *tree, EmogiQueueBuffer *found, uint32_t u)
{
	const EmogiAdjacency *lists = &tree->graph->forward;
	const uint64_t end = lists->offsets[u + 1];
	uint64_t	e = lists->offsets[u];

	for (; e < end; e++)
	{
		const uint32_t v = lists->targets[e];

		if (e + ENTRIES_AHEAD < end)
			prefetch_vertex(tree, lists->targets[e + ENTRIES_AHEAD]);
		if (is_tight(tree, u, v, lists->weights, e))
			find_vertex(tree, found, u, v);
		if ((e - lists->offsets[u]) % EMOGI_RUN_POLL == EMOGI_RUN_POLL - 1 &&
			emogi_job_stopped(&tree->run.job))
			break;
	}
	return e - lists->offsets[u];
}

/* Visit the vertices of a round. */
static void
visit_round(void *arg, int thread, int nthreads)
{
	Tree	   *tree = arg;
	const uint64_t count = tree->end - tree->head;
	EmogiQueueBuffer found;
	uint64_t	looked = 0;
	uint64_t	i;

	found.count = 0;
	while (!emogi_job_stopped(&tree->run.job) &&
		   (i = emogi_job_take(&tree->run.next, TAKEN_AT_ONCE)) < count)
	{
		const uint64_t end = emogi_cpu_run_chunk_end(i, TAKEN_AT_ONCE, count);

		emogi_job_done(&tree->run.job, end - i);
		for (; i < end; i++)
		{
			prefetch_lists(tree, tree->head + i);
			looked += visit_vertex(tree, &found, tree->queue[tree->head + i]);
		}
	}
	emogi_queue_buffer_flush(&found, tree->queue, &tree->tail);
	__atomic_fetch_add(&tree->looked, looked, __ATOMIC_RELAXED);
}

/* Grow the tree of a source; false when the job has stopped. */
static bool
grow_from(Tree *tree, uint32_t root)
{
	tree->root = root;
	tree->source[root] = root;
	tree->head = tree->tail;
	tree->queue[tree->tail++] = root;
	for (; tree->head < tree->tail; tree->head = tree->end)
	{
		tree->end = tree->tail;
		tree->number++;
		if (!emogi_cpu_run_step(&tree->run, visit_round, tree,
								tree->end - tree->head <= ALONE_ROUND))
			return false;
	}
	return true;
}

/* Grow the trees of all sources, the smallest first. */
static void
grow_all(Tree *tree, const EmogiQuery *query)
{
	uint32_t	first = EMOGI_NO_VERTEX;
	uint32_t	last = 0;

	tree->round = emogi_cpu_run_scratch(&tree->run, tree->graph->nvertices, sizeof *tree->round);
	tree->queue = emogi_cpu_run_scratch(&tree->run, tree->graph->nvertices, sizeof *tree->queue);
	if (emogi_job_stopped(&tree->run.job))
		return;
	for (uint64_t i = 0; i < query->nsources; i++)
	{
		const uint32_t s = query->sources[i];

		if (i % EMOGI_RUN_POLL == EMOGI_RUN_POLL - 1 && emogi_job_stopped(&tree->run.job))
			return;
		if (!is_reached(tree, s))
			continue;
		tree->round[s] = ROOT;
		first = s < first ? s : first;
		last = s > last ? s : last;
	}
	for (uint64_t v = first; v <= last; v++)
	{
		if (v % EMOGI_RUN_POLL == 0 && emogi_job_stopped(&tree->run.job))
			return;
		if (tree->round[v] == ROOT && !grow_from(tree, (uint32_t) v))
			return;
	}
}

/* ---- the whole ---- */

/* Get the only source of a query; EMOGI_NO_VERTEX when there are several, or none. */
static uint32_t
only_source(const EmogiQuery *query)
{
	for (uint64_t i = 1; i < query->nsources; i++)
		if (query->sources[i] != query->sources[0])
			return EMOGI_NO_VERTEX;
	return query->nsources > 0 ? query->sources[0] : EMOGI_NO_VERTEX;
}

/* Find the levels or distances, as the search without a tree does. */
static EmogiStatus
find_distances(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
			   EmogiResult *distances, EmogiControl *control, EmogiError *error)
{
	EmogiQuery	search = *query;

	search.ntargets = 0;
	search.summary = NULL;
	search.algorithm = query->algorithm == EMOGI_BFS_TREE ? EMOGI_BFS : EMOGI_SSSP;
	return (query->algorithm == EMOGI_BFS_TREE ? emogi_cpu_bfs
			: emogi_cpu_path) (pool, graph, &search, distances, control, error);
}

EmogiStatus
emogi_cpu_trees(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
				EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Tree		tree = {.graph = graph, .root = only_source(query)};
	EmogiResult distances = {.columns = {result->columns[0]}};
	EmogiStatus status = find_distances(pool, graph, query, &distances, control, error);
	bool		has_rounds;

	if (status != EMOGI_OK)
		return status;
	emogi_cpu_run_begin(&tree.run, pool, graph, distances.nreached, result, control, error,
						"a tree of shortest paths");
	tree.run.start_ms -= distances.run_ms;
	tree.weight_bytes = emogi_weight_bytes(graph->weight_type);
	if (query->algorithm == EMOGI_BFS_TREE)
		tree.level = result->columns[0].int32;
	else
		tree.distance = result->columns[0].float64;
	tree.predecessor = result->columns[1].vertex;
	tree.source = result->columns[2].vertex;
	has_rounds = tree.root != EMOGI_NO_VERTEX &&
		(tree.level != NULL || graph->weight_type == EMOGI_WEIGHT_NONE);
	if (has_rounds && graph->backward.offsets != NULL)
		emogi_cpu_run_step(&tree.run, find_all, &tree, false);
	else if (emogi_cpu_run_step(&tree.run, clear_columns, &tree, false))
	{
		if (has_rounds)
			emogi_cpu_run_step(&tree.run, find_all, &tree, false);
		else if (!find_only_tree(&tree) &&
				 emogi_cpu_run_step(&tree.run, clear_columns, &tree, false))
			grow_all(&tree, query);
	}
	result->nreached = distances.nreached;
	result->nlevels = distances.nlevels;
	result->edges_traversed = distances.edges_traversed + tree.looked;
	return emogi_cpu_run_end(&tree.run);
}
