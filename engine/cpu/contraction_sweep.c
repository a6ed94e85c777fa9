/*
 * contraction_sweep.c: the distances from several sources to many targets by a contraction
 * hierarchy.
 *
 * Method. An upward search from a source, followed by one sweep down over all vertices in
 * descending rank, gives the distances to all vertices [1]. Several sources share a sweep, because
 * each arc is then read only once. These distances are exact but for rounding (contraction.c); let
 * g be the relative error of a sum. If SSSP reaches v over an edge of weight w from u, the swept
 * distances satisfy d(u) + w <= d(v) (1 + 4g). Such edges are followed back from the targets, each
 * vertex once, and SSSP's own sums are formed on the way back; the minimum of them is SSSP's
 * distance. Nearly always, one edge qualifies. If edges of nearly no weight form a cycle,
 * Dijkstra's search among the visited vertices forms the sums. The sources of a sweep are followed
 * back in turn, one step each, so that the cache misses of one overlap with the work of the others.
 *
 * [1] D. Delling, A. V. Goldberg, A. Nowatzyk, R. F. Werneck. PHAST: hardware-accelerated shortest
 *     path trees. IPDPS 2011.
 */
#include "contraction_search.h"

#include "contract/semirings.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LANES EMOGI_CONTRACTION_LANES
#define SLACK 4.5				/* times the error of a sum: 4, plus terms of higher order */
#define POLL_RANKS 65536
#define PREFETCH_DISTANCE 32	/* prefetch distance of the endpoints of arcs, arcs */
#define ARC_PREFETCH_DISTANCE 192	/* prefetch distance of arcs */

/*
 * The stages of a vertex whose edges are followed back. In each stage, the data of the next stage
 * have been prefetched.
 */
typedef enum Stage
{
	VISITED,						/* its adjacency list */
	LISTED,						/* the distances of its neighbors */
	SEEN						/* the sum and the list of the first candidate predecessor */
} Stage;

/* A vertex whose edges are being followed back. */
typedef struct Frame
{
	uint32_t	vertex;
	Stage		stage;
	bool		is_only;		/* exactly one edge may lead to it, with weight `weight` */
	double		weight;
	uint64_t	edge;			/* that edge, or the next candidate */
} Frame;

typedef struct Entry
{
	double		distance;
	uint32_t	vertex;
} Entry;

#define HEAP_PREFIX entry
#define HEAP_ELEMENT Entry
#define HEAP_BEFORE(heap, a, b) ((a).distance < (b).distance)
#include "containers/heap.h"

/* The state of a vertex for one source. */
typedef struct Sum
{
	double		sum;			/* SSSP's distance, if final */
	uint32_t	mark;			/* 2 * row number = visited, 2 * row number + 1 = sum is final */
} Sum;

/* Following back for one source. */
typedef struct Row
{
	uint32_t	source;
	uint64_t	next;			/* the next target */
	bool		is_circular;	/* candidate edges form a cycle */
	uint32_t	number;			/* of the row, from 1 */
	double		slack;
	Sum		   *sums;			/* [nvertices] */
	EmogiGrowingArray visited;	/* uint32_t, the visited vertices */
	EmogiGrowingArray frames;	/* Frame */
} Row;

typedef struct Sweep
{
	EmogiJob   *job;			/* shared by all threads */
	const EmogiContraction *made;
	const EmogiGraph *graph;
	int			up;				/* the side of the arcs that lead up from a source */
	double	   *near;			/* [nvertices][LANES], by rank, each rank in one cache line:
								 * distances but for rounding */
	void	   *near_memory;	/* the allocation that holds it */
	uint64_t   *above;			/* bitmap [nvertices], by rank: reached by an upward search, so
								 * that near is valid */
	Row			rows[LANES];
	EmogiGrowingArray heap;		/* Entry */
	uint64_t	nscanned;
	bool		(*poll) (void);
} Sweep;

/* Check whether the job has been canceled or has failed. */
static bool
is_stopped(Sweep *sweep)
{
	if (sweep->poll != NULL && sweep->poll())
		emogi_job_fail(sweep->job, EMOGI_CANCELED);
	return emogi_job_stopped(sweep->job);
}

/* ---- upward searches and the sweep ---- */

static bool
push(Sweep *sweep, Entry entry)
{
	if (!emogi_contraction_reserve(sweep->job, &sweep->heap, 1, sizeof(Entry)))
		return false;
	entry_push(sweep->heap.items, &sweep->heap.count, entry);
	return true;
}

static Entry
pop(Sweep *sweep)
{
	return entry_pop(sweep->heap.items, &sweep->heap.count);
}

/* Get the distances of a vertex that an upward search reaches. */
static inline double *
get_above(Sweep *sweep, uint32_t rank)
{
	double	   *near = sweep->near + (uint64_t) rank * LANES;

	if ((sweep->above[rank / 64] >> rank % 64 & 1) == 0)
	{
		sweep->above[rank / 64] |= UINT64_C(1) << rank % 64;
		for (int lane = 0; lane < LANES; lane++)
			near[lane] = (double) INFINITY;
	}
	return near;
}

/*
 * Search up from a source, given by rank, in a lane. Vertices are settled in the order of ranks,
 * each once.
 */
static bool
search_up(Sweep *sweep, uint32_t source, int lane)
{
	const EmogiArc *arcs = emogi_contraction_arcs(sweep->made, sweep->up);
	const uint64_t *firsts = emogi_contraction_firsts(sweep->made, sweep->up);

	get_above(sweep, source)[lane] = 0.0;
	sweep->heap.count = 0;
	if (!push(sweep, (Entry) {(double) source, source}))
		return false;
	while (sweep->heap.count > 0)
	{
		const uint32_t rank = pop(sweep).vertex;
		const double distance = sweep->near[(uint64_t) rank * LANES + (uint64_t) lane];

		sweep->nscanned += firsts[rank + 1] - firsts[rank];
		for (uint64_t i = firsts[rank]; i < firsts[rank + 1]; i++)
		{
			double	   *above = &get_above(sweep, arcs[i].to)[lane];
			const bool	is_new = *above == (double) INFINITY;

			if (distance + arcs[i].weight < *above)
				*above = distance + arcs[i].weight;
			if (is_new && *above < (double) INFINITY &&
				!push(sweep, (Entry) {(double) arcs[i].to, arcs[i].to}))
				return false;
		}
	}
	return true;
}

/* Relax an arc in all lanes: low = min(low, high + weight). */
static inline void
relax(double *low, const double *high, double weight)
{
#ifdef __SSE2__
	for (int lane = 0; lane < LANES; lane += 2)
		_mm_storeu_pd(low + lane,
					  _mm_min_pd(_mm_loadu_pd(low + lane),
								 _mm_add_pd(_mm_loadu_pd(high + lane), _mm_set1_pd(weight))));
#else
	for (int lane = 0; lane < LANES; lane++)
		low[lane] = high[lane] + weight < low[lane] ? high[lane] + weight : low[lane];
#endif
}

/* Sweep down over all vertices; false if the job has stopped. */
static bool
sweep_down(Sweep *sweep)
{
	const EmogiArc *arcs = emogi_contraction_arcs(sweep->made, 1 - sweep->up);
	const uint64_t *firsts = emogi_contraction_firsts(sweep->made, 1 - sweep->up);

	for (uint64_t rank = sweep->made->nvertices; rank-- > 0;)
	{
		double		best[LANES];

		if (sweep->above[rank / 64] >> rank % 64 & 1)
			memcpy(best, sweep->near + rank * LANES, sizeof best);
		else
			for (int lane = 0; lane < LANES; lane++)
				best[lane] = (double) INFINITY;
		for (uint64_t i = firsts[rank]; i < firsts[rank + 1]; i++)
		{
			if (i >= ARC_PREFETCH_DISTANCE)
				__builtin_prefetch(&arcs[i - ARC_PREFETCH_DISTANCE]);
			if (i >= PREFETCH_DISTANCE)
				__builtin_prefetch(sweep->near + (uint64_t) arcs[i - PREFETCH_DISTANCE].to * LANES);
			relax(best, sweep->near + (uint64_t) arcs[i].to * LANES, arcs[i].weight);
		}
		memcpy(sweep->near + rank * LANES, best, sizeof best);
		if (rank % POLL_RANKS == 0 && is_stopped(sweep))
			return false;
	}
	sweep->nscanned += firsts[sweep->made->nvertices];
	return true;
}

/* ---- following back, and SSSP's sums ---- */

/*
 * Mark a vertex visited, push a frame for it, and prefetch its list; false, with the job failed, if
 * out of memory.
 */
static bool
visit(Sweep *sweep, Row *row, uint32_t v)
{
	const EmogiAdjacency *lists = &sweep->graph->backward;

	__builtin_prefetch(&lists->targets[lists->offsets[v]]);
	if (!emogi_contraction_reserve(sweep->job, &row->frames, 1, sizeof(Frame)) ||
		!emogi_contraction_reserve(sweep->job, &row->visited, 1, sizeof(uint32_t)))
		return false;
	((Frame *) row->frames.items)[row->frames.count++] = (Frame) {.vertex = v,
		.edge = lists->offsets[v]};
	((uint32_t *) row->visited.items)[row->visited.count++] = v;
	row->sums[v].mark = 2 * row->number;
	row->sums[v].sum = (double) INFINITY;
	return true;
}

/*
 * Set the sum of the vertex on top of the stack, and of those below it that only this one decides.
 */
static void
unwind(Row *row, double sum)
{
	Frame	   *frames = row->frames.items;

	for (;;)
	{
		const uint32_t v = frames[--row->frames.count].vertex;

		row->sums[v].sum = sum;
		row->sums[v].mark = 2 * row->number + 1;
		if (row->frames.count == 0 || !frames[row->frames.count - 1].is_only)
			break;
		sum = emogi_path_candidate(EMOGI_SSSP, sum, frames[row->frames.count - 1].weight);
	}
}

/* Check whether an edge may lie on a path to v that is no longer than `max`. */
static inline bool
leads_to(const Sweep *sweep, const uint32_t *ranks, int lane, uint32_t v, double max, uint64_t edge)
{
	const uint32_t u = sweep->graph->backward.targets[edge];
	const double weight = emogi_weight(sweep->graph->backward.weights, sweep->graph->weight_type,
									   edge);

	return sweep->near[(uint64_t) ranks[u] * LANES + (uint64_t) lane] + weight <= max && u != v;
}

/* Prefetch the distances of a visited vertex's neighbors. */
static void
prefetch_list(const Sweep *sweep, Frame *frame, const uint32_t *ranks)
{
	const EmogiAdjacency *lists = &sweep->graph->backward;

	for (uint64_t e = lists->offsets[frame->vertex]; e < lists->offsets[frame->vertex + 1]; e++)
		__builtin_prefetch(sweep->near + (uint64_t) ranks[lists->targets[e]] * LANES);
	frame->stage = LISTED;
}

/*
 * Scan the list of a visited vertex: find its first candidate edge, and whether it is the only one.
 */
static void
scan_list(Sweep *sweep, Frame *frame, const uint32_t *ranks, int lane, double max)
{
	const Row  *row = &sweep->rows[lane];
	const uint64_t *offsets = sweep->graph->backward.offsets + frame->vertex;
	uint64_t	count = 0;

	for (uint64_t e = offsets[1]; e-- > offsets[0];)
		if (leads_to(sweep, ranks, lane, frame->vertex, max, e))
		{
			frame->edge = e;
			count++;
		}
	if (count == 0)
		frame->edge = offsets[1];
	else
	{
		__builtin_prefetch(&row->sums[sweep->graph->backward.targets[frame->edge]]);
		__builtin_prefetch(&sweep->graph->backward.offsets
						   [sweep->graph->backward.targets[frame->edge]]);
	}
	frame->stage = SEEN;
	frame->is_only = count == 1;
	if (frame->is_only)
		frame->weight = emogi_weight(sweep->graph->backward.weights, sweep->graph->weight_type,
									 frame->edge);
	sweep->nscanned += offsets[1] - offsets[0];
}

/*
 * Continue with the vertex on top of the stack, until another vertex is visited or its sum is
 * final.
 */
static bool
follow(Sweep *sweep, Row *row, const uint32_t *ranks, int lane)
{
	const EmogiAdjacency *lists = &sweep->graph->backward;
	Frame	   *frame = &((Frame *) row->frames.items)[row->frames.count - 1];
	const uint32_t v = frame->vertex;
	const double max = sweep->near[(uint64_t) ranks[v] * LANES + (uint64_t) lane] + row->slack;
	double		sum = row->sums[v].sum;

	if (frame->stage == VISITED)
	{
		prefetch_list(sweep, frame, ranks);
		return true;
	}
	if (frame->stage == LISTED)
	{
		scan_list(sweep, frame, ranks, lane, max);
		return true;
	}
	for (uint64_t end = frame->is_only ? frame->edge + 1 : lists->offsets[v + 1]; frame->edge < end;
		 frame->edge++)
	{
		const uint32_t u = lists->targets[frame->edge];

		if (!frame->is_only && !leads_to(sweep, ranks, lane, v, max, frame->edge))
			continue;
		if (row->sums[u].mark == 2 * row->number)
			row->is_circular = true;
		else if (row->sums[u].mark == 2 * row->number + 1)
			sum = fmin(sum,
					   emogi_path_candidate(EMOGI_SSSP, row->sums[u].sum,
											emogi_weight(lists->weights, sweep->graph->weight_type,
														 frame->edge)));
		else
		{
			row->sums[v].sum = sum;
			return visit(sweep, row, u);
		}
	}
	unwind(row, sum);
	return true;
}

/* Compute the sums of all visited vertices by Dijkstra's search. */
static bool
search_visited(Sweep *sweep, Row *row)
{
	const EmogiAdjacency *lists = &sweep->graph->forward;

	for (uint64_t i = 0; i < row->visited.count; i++)
		row->sums[((uint32_t *) row->visited.items)[i]].sum = (double) INFINITY;
	row->sums[row->source].sum = 0.0;
	sweep->heap.count = 0;
	if (!push(sweep, (Entry) {0.0, row->source}))
		return false;
	while (sweep->heap.count > 0)
	{
		const Entry entry = pop(sweep);

		if (entry.distance > row->sums[entry.vertex].sum)
			continue;
		for (uint64_t e = lists->offsets[entry.vertex]; e < lists->offsets[entry.vertex + 1]; e++)
		{
			const uint32_t w = lists->targets[e];
			const double sum = emogi_path_candidate(EMOGI_SSSP, entry.distance,
													emogi_weight(lists->weights,
																 sweep->graph->weight_type, e));

			if (row->sums[w].mark != 2 * row->number + 1 || !(sum < row->sums[w].sum))
				continue;
			row->sums[w].sum = sum;
			if (!push(sweep, (Entry) {sum, w}))
				return false;
		}
	}
	return true;
}

/*
 * Set the slack of a lane from its farthest target; false if that is too far for the hierarchy's
 * tolerance.
 */
static bool
choose_slack(Sweep *sweep, Row *row, const uint32_t *ranks, const EmogiQuery *query, int lane)
{
	double		farthest = 0.0;

	for (uint64_t t = 0; t < query->ntargets; t++)
	{
		const double distance = sweep->near[(uint64_t) ranks[query->targets[t]] * LANES +
											(uint64_t) lane];

		if (distance < (double) INFINITY && distance > farthest)
			farthest = distance;
	}
	row->slack = SLACK * emogi_contraction_error(sweep->graph) * farthest;
	if (4.0 * row->slack > sweep->made->tolerance)
		emogi_job_fail(sweep->job, EMOGI_UNSUPPORTED);
	return !emogi_job_stopped(sweep->job);
}

/* Begin to follow back for a source whose lane has been swept. */
static bool
begin_row(Sweep *sweep, const uint32_t *ranks, const EmogiQuery *query, uint32_t source, int lane)
{
	Row		   *row = &sweep->rows[lane];

	if (!choose_slack(sweep, row, ranks, query, lane))
		return false;
	row->source = source;
	row->next = 0;
	row->number++;
	row->is_circular = false;
	row->visited.count = row->frames.count = 0;
	row->sums[source].sum = 0.0;
	row->sums[source].mark = 2 * row->number + 1;
	return true;
}

/*
 * Follow back one step, from the vertex on top of the stack or from the next target; *is_done:
 * nothing is left.
 */
static bool
step_back(Sweep *sweep, const uint32_t *ranks, const EmogiQuery *query, int lane, bool *is_done)
{
	Row		   *row = &sweep->rows[lane];

	if (row->frames.count > 0)
		return follow(sweep, row, ranks, lane);
	for (; row->next < query->ntargets; row->next++)
	{
		const uint32_t target = query->targets[row->next];

		if (row->sums[target].mark != 2 * row->number + 1 &&
			sweep->near[(uint64_t) ranks[target] * LANES + (uint64_t) lane] < (double) INFINITY)
			return visit(sweep, row, query->targets[row->next++]);
	}
	*is_done = true;
	return true;
}

/* Write the distances from a source. */
static bool
end_row(Sweep *sweep, const EmogiQuery *query, int lane, double *distance)
{
	Row		   *row = &sweep->rows[lane];

	if (row->is_circular && !search_visited(sweep, row))
		return false;
	for (uint64_t t = 0; t < query->ntargets; t++)
		distance[t] = row->sums[query->targets[t]].mark == 2 * row->number + 1
			? row->sums[query->targets[t]].sum : (double) INFINITY;
	return true;
}

/* Follow back for all sources of the sweep, in turn. */
static bool
follow_all(Sweep *sweep, const uint32_t *ranks, const EmogiQuery *query, int count)
{
	bool		is_done[LANES] = {false};
	uint64_t	steps = 0;

	for (int left = count; left > 0;)
		for (int lane = 0; lane < count; lane++)
		{
			if (is_done[lane])
				continue;
			if (!step_back(sweep, ranks, query, lane, &is_done[lane]) ||
				(++steps % POLL_RANKS == 0 && is_stopped(sweep)))
				return false;
			left -= is_done[lane];
		}
	return true;
}

/*
 * Compute the distances from up to LANES sources, a lane each; false if the job has stopped or
 * given up.
 */
static bool
find_rows(Sweep *sweep, const EmogiQuery *query, uint64_t first, double *distance)
{
	const uint32_t *ranks = emogi_contraction_ranks(sweep->made);
	const int	count = (int) (query->nsources - first < LANES ? query->nsources - first : LANES);

	memset(sweep->above, 0, (sweep->made->nvertices + 63) / 64 * sizeof *sweep->above);
	for (int s = 0; s < count; s++)
		if (!search_up(sweep, ranks[query->sources[first + (uint64_t) s]], s))
			return false;
	if (!sweep_down(sweep))
		return false;
	for (int s = 0; s < count; s++)
		if (!begin_row(sweep, ranks, query, query->sources[first + (uint64_t) s], s))
			return false;
	if (!follow_all(sweep, ranks, query, count))
		return false;
	for (int s = 0; s < count; s++)
		if (!end_row(sweep, query, s, distance + (first + (uint64_t) s) * query->ntargets))
			return false;
	return !is_stopped(sweep);
}

/* ---- threads ---- */

/* Allocate zeroed memory; NULL, with the job failed, if out of memory. */
static void *
allocate(Sweep *sweep, uint64_t count, size_t bytes)
{
	void	   *array = emogi_job_may_allocate(sweep->job) ? calloc(count > 0 ? count : 1, bytes)
		: NULL;

	if (array == NULL)
		emogi_job_fail(sweep->job, EMOGI_NO_MEMORY);
	return array;
}

/*
 * Allocate memory on huge pages for arrays with random access; NULL, with the job failed, if out of
 * memory. Each page is written to first: reading an untouched page would map the kernel's zero
 * page, and the later write would cost a TLB shootdown in all threads.
 */
static void *
allocate_huge(Sweep *sweep, uint64_t bytes, void **memory)
{
	const uintptr_t page = 4096;
	char	   *start;

	*memory = allocate(sweep, bytes + page, 1);
	if (*memory == NULL)
		return NULL;
	start = (char *) (((uintptr_t) *memory + page - 1) & ~(page - 1));
	(void) madvise(start, bytes & ~(page - 1), MADV_HUGEPAGE);
	for (uint64_t i = 0; i < bytes; i += page)
		((volatile char *) start)[i] = 0;
	return start;
}

/* The rows to compute. Each thread takes blocks of LANES rows, and sweeps once for each. */
typedef struct Rows
{
	EmogiJob	job;
	Sweep		common;
	const EmogiQuery *query;
	double	   *distance;
	uint64_t	next;			/* the first row not taken by a thread */
	uint64_t	nscanned;
} Rows;

/*
 * Compute blocks of rows until none are left; a thread's task. Only the caller's thread polls for
 * cancellation.
 */
static void
find_blocks(void *arg, int thread, int nthreads)
{
	Rows	   *rows = arg;
	Sweep		sweep = rows->common;
	Sum		   *sums;
	void	   *sums_memory;
	uint64_t	first;

	(void) nthreads;
	if (thread != 0)
		sweep.poll = NULL;
	sweep.near = allocate_huge(&sweep, sweep.made->nvertices * LANES * sizeof(double),
							   &sweep.near_memory);
	sweep.above = allocate(&sweep, sweep.made->nvertices / 64 + 1, sizeof *sweep.above);
	sums = allocate_huge(&sweep, sweep.made->nvertices * LANES * sizeof(Sum), &sums_memory);
	for (int lane = 0; lane < LANES && sums != NULL; lane++)
		sweep.rows[lane].sums = sums + (uint64_t) lane * sweep.made->nvertices;
	while (!emogi_job_stopped(&rows->job) && (first = emogi_job_claim(&rows->next, LANES)) <
		   rows->query->nsources)
		if (!find_rows(&sweep, rows->query, first, rows->distance))
			break;
	__atomic_fetch_add(&rows->nscanned, sweep.nscanned, __ATOMIC_RELAXED);
	free(sweep.near_memory);
	free(sweep.above);
	free(sums_memory);
	for (int lane = 0; lane < LANES; lane++)
	{
		free(sweep.rows[lane].visited.items);
		free(sweep.rows[lane].frames.items);
	}
	free(sweep.heap.items);
}

EmogiStatus
emogi_contraction_sweep(const EmogiContraction *made, const EmogiGraph *graph, bool reversed,
						const EmogiQuery *query, int nthreads, bool (*poll) (void),
						double *distance, uint64_t *nscanned, EmogiControl *control,
						EmogiError *error)
{
	Rows		rows = {.job = {.control = control}, .query = query, .distance = distance};
	EmogiPool  *pool = nthreads > 1 && query->nsources > LANES ? emogi_pool_create(nthreads) : NULL;

	error->message[0] = error->detail[0] = '\0';
	rows.common = (Sweep) {.job = &rows.job, .made = made, .graph = graph, .up = reversed ? 1 : 0,
		.poll = poll};
	if (pool != NULL)
		emogi_pool_run(pool, find_blocks, &rows);
	else
		find_blocks(&rows, 0, 1);
	emogi_pool_destroy(pool);
	*nscanned = rows.nscanned;
	if (rows.job.status == EMOGI_NO_MEMORY)
	{
		snprintf(error->message, sizeof error->message, "out of memory while computing distances");
		snprintf(error->detail, sizeof error->detail, "%llu vertices",
				 (unsigned long long) made->nvertices);
	}
	return (EmogiStatus) rows.job.status;
}
