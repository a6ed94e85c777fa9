/*
 * search_trees.c: shortest-path trees.
 *
 * Fills level[nvertices] or distance[nvertices] by the same search as without a tree;
 * predecessor[nvertices], the previous vertex on the path from a source, EMOGI_NO_VERTEX for a
 * source and for unreached vertices; and source[nvertices], where that path begins.
 *
 * An edge u -> v is tight if the value of u plus its weight is exactly the value of v. Paths follow
 * tight edges. Among several paths to a vertex, the one from the smallest source is chosen, then
 * the one with the fewest edges, then the one with the smallest previous vertex: (source, edges) of
 * a vertex is the minimum of (source, edges + 1) over its tight predecessors, and a source has
 * (itself, 0), so that the result does not depend on the order of the work. The number of edges
 * matters if weights are 0: tight edges may then form a cycle, but predecessors never do, because
 * the number of edges increases along them.
 *
 * Method. From the smallest source on, each source starts a breadth-first search over tight edges
 * that skips other sources and the vertices found by earlier searches: so each vertex is visited
 * once, regardless of the number of sources. A vertex takes the smallest of the vertices that find
 * it in the same round. With one source and no weights, rounds equal levels: then every vertex
 * takes the first vertex of its backward list that is one level nearer, or, if there are no
 * backward lists, all vertices offer themselves along their forward lists, in one step. With one
 * source, if no vertex has tight edges from two different vertices, or from one with the same
 * distance, the tree is unique: this case is tried first, in one step that ends as soon as it
 * fails.
 */
#include "cpu_algorithms.h"
#include "cpu/queue_buffer.h"
#include "prefetch.h"
#include "cpu/cpu_run.h"

#include "contract/semirings.h"
#include "contract/builder.h"

#define CLEAR_CHUNK 16384
#define VERTEX_CHUNK 1024
#define CLAIM_CHUNK 32
#define SERIAL_ROUND 256		/* so few vertices are processed by the caller alone */
#define LIST_PREFETCH_DISTANCE 8	/* prefetch distance, lists and edges */
#define EDGE_PREFETCH_DISTANCE 16
/* as a round: a source, which no search may find; there are fewer rounds than vertices */
#define ROOT UINT32_MAX

typedef struct Tree
{
	EmogiCpuRun run;
	const EmogiGraph *graph;
	const int32_t *level;		/* [nvertices], or NULL */
	const double *distance;		/* [nvertices], or NULL */
	uint32_t   *predecessor;	/* [nvertices], atomic */
	uint32_t   *source;			/* [nvertices] */
	uint32_t   *round;			/* [nvertices], atomic: the round in which a vertex was found; 0
								 * = not found yet */
	uint32_t   *queue;			/* [nvertices]: found vertices, round by round */
	uint64_t	tail;			/* atomic */
	uint64_t	head;			/* the beginning of the round, */
	uint64_t	end;			/* and its end */
	uint32_t	number;			/* of the round, counted over all searches */
	uint32_t	root;			/* of the current search */
	bool		has_ties;		/* atomic: the tree may not be unique */
	uint64_t	nscanned;		/* atomic: edges */
	uint64_t	weight_bytes;	/* of a weight in the lists */
} Tree;

/* Check whether a vertex is reached. */
static inline bool
is_reached(const Tree *tree, uint64_t v)
{
	return tree->level != NULL ? tree->level[v] >= 0 : tree->distance[v] < (double) INFINITY;
}

/* Check whether edge e between u, which is reached, and v is tight. */
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

/* Lower a vertex's predecessor to u, if it is greater. */
static inline void
lower_predecessor(uint32_t *predecessor, uint32_t u)
{
	uint32_t	known = __atomic_load_n(predecessor, __ATOMIC_RELAXED);

	while (u < known &&
		   !__atomic_compare_exchange_n(predecessor, &known, u, true, __ATOMIC_RELAXED,
										__ATOMIC_RELAXED))
		;
}

/* Clear the predecessors. With one source, set it as the source of all reached vertices. */
static void
clear_columns(void *arg, int thread, int nthreads)
{
	Tree	   *tree = arg;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&tree->run, CLEAR_CHUNK, tree->graph->nvertices, &v, &end);)
		for (; v < end; v++)
		{
			tree->predecessor[v] = EMOGI_NO_VERTEX;
			tree->source[v] = tree->root != EMOGI_NO_VERTEX &&
				is_reached(tree, v) ? tree->root : EMOGI_NO_VERTEX;
		}
}

/* ---- one source, no weights ---- */

/*
 * Set the predecessor of v to the first tight vertex of its backward list; returns the number of
 * edges examined.
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

/* Offer u to the targets of its tight edges; returns the number of edges examined. */
static uint64_t
push_vertex(Tree *tree, uint64_t u)
{
	const EmogiAdjacency *lists = &tree->graph->forward;
	uint64_t	e = lists->offsets[u];

	for (; is_reached(tree, u) && e < lists->offsets[u + 1]; e++)
	{
		if (is_tight(tree, u, lists->targets[e], NULL, e))
			lower_predecessor(&tree->predecessor[lists->targets[e]], (uint32_t) u);
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
	uint64_t	nscanned = 0;
	uint64_t	polled = 0;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&tree->run, VERTEX_CHUNK, tree->graph->nvertices, &v, &end);)
		for (; v < end; v++)
		{
			if (v + LIST_PREFETCH_DISTANCE < end)
				__builtin_prefetch(&lists->targets[lists->offsets[v + LIST_PREFETCH_DISTANCE]]);
			nscanned += pulls ? pull_vertex(tree, v) : push_vertex(tree, v);
			if (nscanned - polled > EMOGI_RUN_POLL)
			{
				polled = nscanned;
				if (emogi_job_stopped(&tree->run.job))
					break;
			}
		}
	__atomic_fetch_add(&tree->nscanned, nscanned, __ATOMIC_RELAXED);
}

/* ---- one source, weights, unique tree ---- */

/*
 * Offer u to the targets of its tight edges, recording ties; returns the number of edges examined.
 */
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
	uint64_t	nscanned = 0;
	uint64_t	v;

	while (!emogi_job_stopped(&tree->run.job) &&
		   !__atomic_load_n(&tree->has_ties, __ATOMIC_RELAXED) &&
		   (v = emogi_job_claim(&tree->run.next, VERTEX_CHUNK)) < tree->graph->nvertices)
	{
		const uint64_t end = emogi_cpu_run_chunk_end(v, VERTEX_CHUNK, tree->graph->nvertices);

		for (; v < end; v++)
			nscanned += offer_vertex(tree, v);
	}
	__atomic_fetch_add(&tree->nscanned, nscanned, __ATOMIC_RELAXED);
}

/* Find the tree if it is unique; false if it may not be, or the job has stopped. */
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
	lower_predecessor(&tree->predecessor[v], u);
}

/* Prefetch the value of a vertex. */
static inline void
prefetch_vertex(const Tree *tree, uint64_t v)
{
	if (tree->level != NULL)
		emogi_prefetch(&tree->level[v]);
	else
		emogi_prefetch(&tree->distance[v]);
}

/*
 * Prefetch what coming visits read, in three stages: the offset of a list, then the list, then the
 * values of its first vertices.
 */
static inline void
prefetch_lists(const Tree *tree, uint64_t i)
{
	const EmogiAdjacency *lists = &tree->graph->forward;
	const uint32_t *queue = tree->queue;

	if (i + LIST_PREFETCH_DISTANCE < tree->end)
		emogi_prefetch(&lists->offsets[queue[i + LIST_PREFETCH_DISTANCE]]);
	if (i + LIST_PREFETCH_DISTANCE / 2 < tree->end)
	{
		const uint64_t e = lists->offsets[queue[i + LIST_PREFETCH_DISTANCE / 2]];

		emogi_prefetch(&lists->targets[e]);
		emogi_prefetch(&lists->targets[e + EDGE_PREFETCH_DISTANCE]);
		if (tree->level == NULL && lists->weights != NULL)
			emogi_prefetch((const char *) lists->weights + e * tree->weight_bytes);
	}
	if (i + 1 < tree->end)
	{
		const uint64_t first = lists->offsets[queue[i + 1]];
		const uint64_t end = emogi_cpu_run_chunk_end(first, EDGE_PREFETCH_DISTANCE,
													 lists->offsets[queue[i + 1] + 1]);

		for (uint64_t e = first; e < end; e++)
			prefetch_vertex(tree, lists->targets[e]);
	}
}

/* Visit a vertex; returns the number of edges examined. */
static uint64_t
visit_vertex(Tree *tree, EmogiQueueBuffer *found, uint32_t u)
{
	const EmogiAdjacency *lists = &tree->graph->forward;
	const uint64_t end = lists->offsets[u + 1];
	uint64_t	e = lists->offsets[u];

	for (; e < end; e++)
	{
		const uint32_t v = lists->targets[e];

		if (e + EDGE_PREFETCH_DISTANCE < end)
			prefetch_vertex(tree, lists->targets[e + EDGE_PREFETCH_DISTANCE]);
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
	uint64_t	nscanned = 0;

	found.count = 0;
	for (uint64_t i, end; emogi_cpu_run_take(&tree->run, CLAIM_CHUNK, count, &i, &end);)
	{
		emogi_job_done(&tree->run.job, end - i);
		for (; i < end; i++)
		{
			prefetch_lists(tree, tree->head + i);
			nscanned += visit_vertex(tree, &found, tree->queue[tree->head + i]);
		}
	}
	emogi_queue_buffer_flush(&found, tree->queue, &tree->tail);
	__atomic_fetch_add(&tree->nscanned, nscanned, __ATOMIC_RELAXED);
}

/* Grow the tree of a source; false if the job has stopped. */
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
								tree->end - tree->head <= SERIAL_ROUND))
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

/* ---- entry point ---- */

/* Get the only source of a query; EMOGI_NO_VERTEX if there are several or none. */
static uint32_t
only_source(const EmogiQuery *query)
{
	for (uint64_t i = 1; i < query->nsources; i++)
		if (query->sources[i] != query->sources[0])
			return EMOGI_NO_VERTEX;
	return query->nsources > 0 ? query->sources[0] : EMOGI_NO_VERTEX;
}

/* Compute the levels or distances by the search without a tree. */
static EmogiStatus
find_distances(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
			   EmogiResult *distances, EmogiControl *control, EmogiError *error)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(query->algorithm);
	EmogiQuery	search = *query;

	search.ntargets = 0;
	search.summary = NULL;
	search.algorithm = row->search;
	return (row->shape == EMOGI_SHAPE_BFS_TREE ? emogi_cpu_bfs
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
	if (emogi_algorithm_row(query->algorithm)->shape == EMOGI_SHAPE_BFS_TREE)
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
	result->edges_traversed = distances.edges_traversed + tree.nscanned;
	return emogi_cpu_run_end(&tree.run);
}
