/*
 * rollup.c: quantities rolled up from sources: the products of the weights along each path, added
 * up over all paths.
 *
 * Fills level[nvertices], the number of edges of the longest path from a source to a vertex, -1 =
 * not reached, and quantity[nvertices], 0 if not reached.
 *
 * Breadth-first search finds the vertices that the sources reach. Kahn's method [1] then takes them
 * level by level, as in topological_order.c, but counts only edges from reached vertices. The
 * quantity of a vertex is pulled from its predecessors when it is taken, over graph->backward,
 * which must exist, in list order: there are no atomic additions, and the result is bit-identical
 * for any number of threads. Reached vertices that are never taken are on a cycle or behind one,
 * and the graph is refused.
 *
 * With max_depth, edges of vertices max_depth hops away are not used. If a path of the remaining
 * edges is longer than max_depth, quantities are computed a second time, by the number of edges of
 * the paths: the quantity that paths of d edges bring to a vertex is the sum over its predecessors
 * of what paths of d - 1 edges bring to them. This costs as many steps as max_depth, each of which
 * reads the edges of the vertices at the ends of such paths.
 *
 * [1] A. Kahn. Topological Sorting of Large Networks. Communications of the ACM 5(11), 1962.
 */
#include "cpu_algorithms.h"
#include "bfs.h"
#include "cpu/cpu_run.h"
#include "cpu/queue_buffer.h"
#include "cpu/remaining_cycle.h"

#include "contract/semirings.h"

#include <stdio.h>
#include <string.h>

#define VERTEX_CHUNK 1024
#define CLAIM_CHUNK 16
#define SERIAL_LEVEL 128		/* so few vertices are processed by the caller alone */

/* What paths of a number of edges bring to the vertices at their ends. */
typedef struct Front
{
	uint32_t   *queue;			/* [nvertices], the vertices */
	uint64_t	count;			/* atomic */
	int32_t    *depth;			/* [nvertices], edges of the last paths in this front to a vertex;
								 * -1 = none */
	double	   *quantity;		/* [nvertices], of these paths */
} Front;

typedef struct Rollup
{
	EmogiCpuRun run;
	const EmogiGraph *graph;
	int32_t    *level;			/* [nvertices]: hops until a vertex is taken */
	double	   *quantity;		/* [nvertices] */
	int64_t		max_depth;		/* -1 = unlimited */
	int32_t    *hops;			/* [nvertices], with max_depth; otherwise NULL */
	uint32_t   *nbefore;		/* [nvertices], atomic: distinct predecessors that have not been
								 * taken */
	uint32_t   *queue;			/* [nvertices]: taken vertices, level by level */
	uint64_t	tail;			/* atomic */
	uint64_t	head;			/* the beginning of the level, */
	uint64_t	end;			/* and its end */
	uint64_t	nlevels;
	uint64_t	nscanned;		/* atomic: edges */
	Front		fronts[2];		/* of an even and an odd number of edges */
	int32_t		depth;			/* of the front that is computed */
} Rollup;

/* Check whether the edges of a vertex are used: it is reached with fewer hops than max_depth. */
static inline bool
is_expanded(const Rollup *rollup, uint64_t v)
{
	return rollup->hops == NULL ? rollup->level[v] >= 0 :
		rollup->hops[v] >= 0 && rollup->hops[v] < rollup->max_depth;
}

/* Get the weight of an edge. */
static inline double
weight_of(const Rollup *rollup, const EmogiAdjacency *lists, uint64_t e)
{
	return emogi_weight(lists->weights, rollup->graph->weight_type, e);
}

/* Count edges, and poll every EMOGI_RUN_POLL of them; false if the job has stopped. */
static inline bool
count_edge(Rollup *rollup, uint64_t *polled)
{
	if (++*polled % EMOGI_RUN_POLL != 0)
		return true;
	return !emogi_job_stopped(&rollup->run.job);
}

/* ---- before the first level ---- */

/* Count the distinct predecessors of every reached vertex. */
static void
count_before(void *arg, int thread, int nthreads)
{
	Rollup	   *rollup = arg;
	const EmogiAdjacency *lists = &rollup->graph->forward;
	uint64_t	polled = 0;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&rollup->run, VERTEX_CHUNK, rollup->graph->nvertices, &v, &end);)
		for (; v < end; v++)
		{
			const uint64_t first = lists->offsets[v];

			if (!is_expanded(rollup, v))
				continue;
			for (uint64_t e = first; e < lists->offsets[v + 1]; e++)
			{
				if (e == first || lists->targets[e] != lists->targets[e - 1])
					__atomic_fetch_add(&rollup->nbefore[lists->targets[e]], 1, __ATOMIC_RELAXED);
				if (!count_edge(rollup, &polled))
					return;
			}
		}
	__atomic_fetch_add(&rollup->nscanned, polled, __ATOMIC_RELAXED);
}

/* Clear the quantities, and append the reached vertices without predecessors: level 0. */
static void
find_first(void *arg, int thread, int nthreads)
{
	Rollup	   *rollup = arg;
	EmogiQueueBuffer found;

	found.count = 0;
	for (uint64_t v, end;
		 emogi_cpu_run_take(&rollup->run, VERTEX_CHUNK, rollup->graph->nvertices, &v, &end);)
		for (; v < end; v++)
		{
			rollup->quantity[v] = 0.0;
			if (rollup->level[v] >= 0 && rollup->nbefore[v] == 0)
				emogi_queue_buffer_add(&found, (uint32_t) v, rollup->queue, &rollup->tail);
		}
	emogi_queue_buffer_flush(&found, rollup->queue, &rollup->tail);
}

/* ---- levels ---- */

/* Add to a vertex what its predecessors bring; false if the job has stopped. */
static inline bool
pull_vertex(Rollup *rollup, uint32_t v, uint64_t *polled)
{
	const EmogiAdjacency *lists = &rollup->graph->backward;
	double		sum = rollup->quantity[v];	/* 1 at a source */

	for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
	{
		const uint32_t u = lists->targets[e];

		if (is_expanded(rollup, u))
			sum += rollup->quantity[u] * weight_of(rollup, lists, e);
		if (!count_edge(rollup, polled))
			return false;
	}
	rollup->quantity[v] = sum;
	return true;
}

/* Count a vertex for its successors; false if the job has stopped. */
static inline bool
push_vertex(Rollup *rollup, EmogiQueueBuffer *found, uint32_t v, uint64_t *polled)
{
	const EmogiAdjacency *lists = &rollup->graph->forward;
	const uint64_t first = lists->offsets[v];

	for (uint64_t e = first; e < lists->offsets[v + 1]; e++)
	{
		const uint32_t w = lists->targets[e];

		if ((e == first || w != lists->targets[e - 1]) &&
			__atomic_sub_fetch(&rollup->nbefore[w], 1, __ATOMIC_RELAXED) == 0)
			emogi_queue_buffer_add(found, w, rollup->queue, &rollup->tail);
		if (!count_edge(rollup, polled))
			return false;
	}
	return true;
}

/* Take the vertices of a level. */
static void
take_level(void *arg, int thread, int nthreads)
{
	Rollup	   *rollup = arg;
	const uint64_t count = rollup->end - rollup->head;
	uint64_t	polled = 0;
	EmogiQueueBuffer found;

	found.count = 0;
	for (uint64_t i, end; emogi_cpu_run_take(&rollup->run, CLAIM_CHUNK, count, &i, &end);)
	{
		emogi_job_done(&rollup->run.job, end - i);
		for (; i < end; i++)
		{
			const uint32_t v = rollup->queue[rollup->head + i];

			if (!pull_vertex(rollup, v, &polled) ||
				(is_expanded(rollup, v) && !push_vertex(rollup, &found, v, &polled)))
				return;
		}
	}
	emogi_queue_buffer_flush(&found, rollup->queue, &rollup->tail);
	__atomic_fetch_add(&rollup->nscanned, polled, __ATOMIC_RELAXED);
}

/* Set the quantity of the sources to 1. */
static void
set_sources(Rollup *rollup, const EmogiQuery *query, double *quantity)
{
	for (uint64_t i = 0; i < query->nsources; i++)
		quantity[query->sources[i]] = 1.0;
}

/* Take all levels; false if the job has stopped. */
static bool
take_levels(Rollup *rollup, const EmogiQuery *query)
{
	if (!emogi_cpu_run_step(&rollup->run, count_before, rollup, false) ||
		!emogi_cpu_run_step(&rollup->run, find_first, rollup, false))
		return false;
	set_sources(rollup, query, rollup->quantity);
	for (rollup->head = 0; rollup->head < rollup->tail; rollup->head = rollup->end)
	{
		rollup->end = rollup->tail;
		for (uint64_t i = rollup->head; i < rollup->end; i++)
			rollup->level[rollup->queue[i]] = (int32_t) rollup->nlevels;
		rollup->run.job.control->level = (uint32_t) rollup->nlevels++;
		if (!emogi_cpu_run_step(&rollup->run, take_level, rollup,
								rollup->end - rollup->head <= SERIAL_LEVEL))
			return false;
	}
	return true;
}

/* ---- by the number of edges ---- */

/* Find the vertices at the ends of paths with one edge more. */
static void
find_front(void *arg, int thread, int nthreads)
{
	Rollup	   *rollup = arg;
	const EmogiAdjacency *lists = &rollup->graph->forward;
	const Front *before = &rollup->fronts[(rollup->depth - 1) % 2];
	Front	   *front = &rollup->fronts[rollup->depth % 2];
	uint64_t	polled = 0;
	EmogiQueueBuffer found;

	found.count = 0;
	for (uint64_t i, end; emogi_cpu_run_take(&rollup->run, CLAIM_CHUNK, before->count, &i, &end);)
		for (; i < end; i++)
		{
			const uint32_t v = before->queue[i];

			for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
			{
				const uint32_t w = lists->targets[e];

				if (__atomic_load_n(&front->depth[w], __ATOMIC_RELAXED) != rollup->depth &&
					__atomic_exchange_n(&front->depth[w], rollup->depth,
										__ATOMIC_RELAXED) != rollup->depth)
					emogi_queue_buffer_add(&found, w, front->queue, &front->count);
				if (!count_edge(rollup, &polled))
					return;
			}
		}
	emogi_queue_buffer_flush(&found, front->queue, &front->count);
	__atomic_fetch_add(&rollup->nscanned, polled, __ATOMIC_RELAXED);
}

/* Compute what these paths bring, and add it to the quantities. */
static void
pull_front(void *arg, int thread, int nthreads)
{
	Rollup	   *rollup = arg;
	const EmogiAdjacency *lists = &rollup->graph->backward;
	const Front *before = &rollup->fronts[(rollup->depth - 1) % 2];
	Front	   *front = &rollup->fronts[rollup->depth % 2];
	uint64_t	polled = 0;

	for (uint64_t i, end; emogi_cpu_run_take(&rollup->run, CLAIM_CHUNK, front->count, &i, &end);)
		for (; i < end; i++)
		{
			const uint32_t v = front->queue[i];
			double		sum = 0.0;

			for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
			{
				const uint32_t u = lists->targets[e];

				if (before->depth[u] == rollup->depth - 1)
					sum += before->quantity[u] * weight_of(rollup, lists, e);
				if (!count_edge(rollup, &polled))
					return;
			}
			front->quantity[v] = sum;
			rollup->quantity[v] += sum;
			rollup->level[v] = rollup->depth;
		}
	__atomic_fetch_add(&rollup->nscanned, polled, __ATOMIC_RELAXED);
}

/* Allocate the two fronts; false if out of memory. */
static bool
open_fronts(Rollup *rollup)
{
	const uint64_t n = rollup->graph->nvertices;

	for (int i = 0; i < 2; i++)
	{
		Front	   *front = &rollup->fronts[i];

		front->queue = emogi_cpu_run_scratch(&rollup->run, n, sizeof *front->queue);
		front->depth = emogi_cpu_run_scratch(&rollup->run, n, sizeof *front->depth);
		front->quantity = emogi_cpu_run_scratch(&rollup->run, n, sizeof *front->quantity);
		if (emogi_job_stopped(&rollup->run.job))
			return false;
		memset(front->depth, 0xFF, n * sizeof *front->depth);
	}
	return true;
}

/* Let the paths begin at the sources: those of 0 edges. */
static void
begin_fronts(Rollup *rollup, const EmogiQuery *query)
{
	Front	   *first = &rollup->fronts[0];

	memset(rollup->quantity, 0, rollup->graph->nvertices * sizeof *rollup->quantity);
	set_sources(rollup, query, rollup->quantity);
	set_sources(rollup, query, first->quantity);
	for (uint64_t i = 0; i < query->nsources; i++)
	{
		const uint32_t source = query->sources[i];

		if (first->depth[source] == 0)
			continue;
		first->depth[source] = rollup->level[source] = 0;
		first->queue[first->count++] = source;
	}
}

/* Compute quantities and levels of paths of at most max_depth edges. */
static void
limit_paths(Rollup *rollup, const EmogiQuery *query)
{
	if (!open_fronts(rollup))
		return;
	begin_fronts(rollup, query);
	for (rollup->depth = 1; rollup->depth <= rollup->max_depth; rollup->depth++)
	{
		const Front *before = &rollup->fronts[(rollup->depth - 1) % 2];
		Front	   *front = &rollup->fronts[rollup->depth % 2];

		front->count = 0;
		if (!emogi_cpu_run_step(&rollup->run, find_front, rollup, before->count <= SERIAL_LEVEL) ||
			!emogi_cpu_run_step(&rollup->run, pull_front, rollup, front->count <= SERIAL_LEVEL))
			return;
	}
	rollup->nlevels = (uint64_t) rollup->max_depth + 1;
}

/* ---- the run ---- */

/* Allocate the scratch memory; false if out of memory. */
static bool
open_rollup(Rollup *rollup, const EmogiResult *found)
{
	const uint64_t n = rollup->graph->nvertices;

	rollup->nbefore = emogi_cpu_run_scratch(&rollup->run, n, sizeof *rollup->nbefore);
	rollup->queue = emogi_cpu_run_scratch(&rollup->run, n, sizeof *rollup->queue);
	/* edges of the last vertices are used unless these are max_depth hops away */
	if (rollup->max_depth >= 0 && (int64_t) found->nlevels > rollup->max_depth)
		rollup->hops = emogi_cpu_run_scratch(&rollup->run, n, sizeof *rollup->hops);
	if (emogi_job_stopped(&rollup->run.job))
		return false;
	if (rollup->hops != NULL)
		memcpy(rollup->hops, rollup->level, n * sizeof *rollup->hops);
	return true;
}

/* Find the vertices that the sources reach within max_depth hops. */
static EmogiStatus
search(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *found,
	   EmogiControl *control, EmogiError *error)
{
	EmogiQuery	search = *query;

	if (graph->backward.offsets == NULL && graph->nvertices > 0)
	{
		snprintf(error->message, sizeof error->message, "a roll-up needs the graph's transpose");
		error->detail[0] = '\0';
		return EMOGI_BAD_INPUT;
	}
	search.algorithm = EMOGI_BFS;
	search.ntargets = 0;
	search.summary = NULL;
	return emogi_cpu_bfs(pool, graph, &search, found, control, error);
}

EmogiStatus
emogi_cpu_rollup(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
				 EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Rollup		rollup = {.graph = graph,.max_depth = query->max_depth,
						  .level = result->columns[0].int32,
						  .quantity = result->columns[1].float64};
	EmogiResult found = {.columns = {result->columns[0]}};
	const EmogiStatus status = search(pool, graph, query, &found, control, error);

	if (status != EMOGI_OK)
		return status;
	emogi_cpu_run_begin(&rollup.run, pool, graph, found.nreached, result, control, error,
						"a roll-up");
	rollup.run.start_ms -= found.run_ms;
	if (open_rollup(&rollup, &found) && take_levels(&rollup, query))
	{
		if (rollup.tail < found.nreached)
			emogi_remaining_cycle_report(&rollup.run,
										 &(EmogiRemaining) {&graph->forward, graph->nvertices,
															found.nreached - rollup.tail,
															rollup.nbefore, rollup.queue,
															rollup.hops, rollup.max_depth});
		else if (rollup.max_depth >= 0 && rollup.nlevels > (uint64_t) rollup.max_depth + 1)
			limit_paths(&rollup, query);
		result->nreached = found.nreached;
		result->nlevels = (uint32_t) rollup.nlevels;
		result->edges_traversed = found.edges_traversed + rollup.nscanned;
	}
	return emogi_cpu_run_end(&rollup.run);
}
