/*
 * contraction_sweep.c: the distances from several vertices to many, by way of a contraction
 * hierarchy.
 *
 * Method. A search goes up from a source, and one sweep down over all vertices, the highest rank
 * first, gives what lies between it and each of them [1]; several sources are swept at once, for
 * each arc is read but once then. These distances are right but for rounding, as contraction.c has
 * it; let g be the error of a sum. So where an edge of weight w leads from u to v, and SSSP has the
 * distance of v by way of u, u's and w are no longer than v's but for 4g times that: such edges are
 * followed back from the targets, each vertex once, and on the way back SSSP's own sums are made,
 * of which the least is SSSP's distance. Nearly always one edge leads to a vertex. Where edges that
 * weigh next to nothing lead round in a circle, Dijkstra's search among the vertices that were met
 * makes the sums. The sources of a sweep are followed back in turn, a step of each, so that what
 * the one waits for in memory comes while the others go on.
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
#define SLACK 4.5				/* times the error of a sum: 4, and what is of higher order */
#define POLL_RANKS 65536
#define AHEAD 32				/* arcs whose ends are asked for before they are looked at */
#define ARCS_AHEAD 192			/* arcs that are */

/*
 * How far it is with a vertex whose edges are followed back: at each stage what the next one reads
 * has been asked for.
 */
typedef enum Stage
{
	MET,						/* its list */
	LISTED,						/* distances of those in it */
	SEEN						/* sum and list of the first that may lead to it */
} Stage;

/* A vertex whose edges are being followed back. */
typedef struct Frame
{
	uint32_t	vertex;
	Stage		stage;
	bool		is_only;		/* ... and one edge may lead to it, of this weight */
	double		weight;
	uint64_t	edge;			/* that edge, or the next of those */
} Frame;

typedef struct Entry
{
	double		distance;
	uint32_t	vertex;
} Entry;

/* Of a vertex for a source. */
typedef struct Sum
{
	double		sum;			/* if it is met: SSSP's distance */
	uint32_t	mark;			/* 2 * number of the row = met, 2 * number + 1 = its sum is made */
} Sum;

/* What is followed back for a source. */
typedef struct Row
{
	uint32_t	source;
	uint64_t	next;			/* target to be looked at */
	bool		is_circular;	/* edges lead round in a circle */
	uint32_t	number;			/* from 1 */
	double		slack;
	Sum		   *sums;			/* [nvertices] */
	EmogiGrowing met;			/* uint32_t */
	EmogiGrowing frames;		/* Frame */
} Row;

typedef struct Sweep
{
	EmogiJob   *job;			/* of all threads */
	const EmogiContraction *made;
	const EmogiGraph *graph;
	int			up;				/* side of the arcs that lead up from a source */
	double	   *near;			/* [nvertices][LANES], by rank, a rank's in one line of a cache:
								 * distances but for rounding */
	void	   *near_memory;	/* where that lies */
	uint64_t   *above;			/* bitmap [nvertices], by rank: a search up has been there, and
								 * near has something already */
	Row			rows[LANES];
	EmogiGrowing heap;			/* Entry */
	uint64_t	looked;
	bool		(*poll) (void);
} Sweep;

/* Is the job to end? */
static bool
is_stopped(Sweep *sweep)
{
	if (sweep->poll != NULL && sweep->poll())
		emogi_job_fail(sweep->job, EMOGI_CANCELED);
	return emogi_job_stopped(sweep->job);
}

/* ---- up and down ---- */

static bool
push(Sweep *sweep, Entry entry)
{
	Entry	   *entries;
	uint64_t	i;

	if (!emogi_contraction_reserve(sweep->job, &sweep->heap, 1, sizeof(Entry)))
		return false;
	entries = sweep->heap.items;
	for (i = sweep->heap.count++; i > 0 && entry.distance < entries[(i - 1) / 2].distance;
		 i = (i - 1) / 2)
		entries[i] = entries[(i - 1) / 2];
	entries[i] = entry;
	return true;
}

static Entry
pop(Sweep *sweep)
{
	Entry	   *entries = sweep->heap.items;
	const Entry first = entries[0];
	const Entry last = entries[--sweep->heap.count];
	uint64_t	i = 0;

	for (uint64_t child = 1; child < sweep->heap.count; child = 2 * i + 1)
	{
		if (child + 1 < sweep->heap.count && entries[child + 1].distance < entries[child].distance)
			child++;
		if (!(entries[child].distance < last.distance))
			break;
		entries[i] = entries[child];
		i = child;
	}
	entries[i] = last;
	return first;
}

/* Get the distances of a vertex that a search up has come to. */
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
 * Search up from a source, by its rank, in a lane. Here vertices are settled by rank, so that each
 * is once.
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

		sweep->looked += firsts[rank + 1] - firsts[rank];
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

/* Have the distances of a vertex, of all lanes, be no longer than those of another and an arc. */
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

/* Sweep down over all vertices; false when the job has stopped. */
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
			if (i >= ARCS_AHEAD)
				__builtin_prefetch(&arcs[i - ARCS_AHEAD]);
			if (i >= AHEAD)
				__builtin_prefetch(sweep->near + (uint64_t) arcs[i - AHEAD].to * LANES);
			relax(best, sweep->near + (uint64_t) arcs[i].to * LANES, arcs[i].weight);
		}
		memcpy(sweep->near + rank * LANES, best, sizeof best);
		if (rank % POLL_RANKS == 0 && is_stopped(sweep))
			return false;
	}
	sweep->looked += firsts[sweep->made->nvertices];
	return true;
}

/* ---- back, and SSSP's sums ---- */

/*
 * Note that a vertex is met, and is to be followed back, and ask for what that will read; false,
 * with the job failed, without memory.
 */
static bool
meet(Sweep *sweep, Row *row, uint32_t v)
{
	const EmogiAdjacency *lists = &sweep->graph->backward;

	__builtin_prefetch(&lists->targets[lists->offsets[v]]);
	if (!emogi_contraction_reserve(sweep->job, &row->frames, 1, sizeof(Frame)) ||
		!emogi_contraction_reserve(sweep->job, &row->met, 1, sizeof(uint32_t)))
		return false;
	((Frame *) row->frames.items)[row->frames.count++] = (Frame) {.vertex = v,
		.edge = lists->offsets[v]};
	((uint32_t *) row->met.items)[row->met.count++] = v;
	row->sums[v].mark = 2 * row->number;
	row->sums[v].sum = (double) INFINITY;
	return true;
}

/*
 * Note that the sum of the last vertex that was met is made, and make those that it alone decides.
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

/* May an edge lead to a vertex on a path that is no longer than `most`? */
static inline bool
leads_to(const Sweep *sweep, const uint32_t *ranks, int lane, uint32_t v, double most,
		 uint64_t edge)
{
	const uint32_t u = sweep->graph->backward.targets[edge];
	const double weight = emogi_weight(sweep->graph->backward.weights, sweep->graph->weight_type,
									   edge);

	return sweep->near[(uint64_t) ranks[u] * LANES + (uint64_t) lane] + weight <= most && u != v;
}

/* Ask for the distances of those in the list of a vertex that was met. */
static void
ask_list(const Sweep *sweep, Frame *frame, const uint32_t *ranks)
{
	const EmogiAdjacency *lists = &sweep->graph->backward;

	for (uint64_t e = lists->offsets[frame->vertex]; e < lists->offsets[frame->vertex + 1]; e++)
		__builtin_prefetch(sweep->near + (uint64_t) ranks[lists->targets[e]] * LANES);
	frame->stage = LISTED;
}

/*
 * Look at the list of a vertex that was met: where does what may lead there begin, and is it one
 * edge?
 */
static void
look_back(Sweep *sweep, Frame *frame, const uint32_t *ranks, int lane, double most)
{
	const Row  *row = &sweep->rows[lane];
	const uint64_t *offsets = sweep->graph->backward.offsets + frame->vertex;
	uint64_t	count = 0;

	for (uint64_t e = offsets[1]; e-- > offsets[0];)
		if (leads_to(sweep, ranks, lane, frame->vertex, most, e))
		{
			frame->edge = e;
			count++;
		}
	if (count == 0)
		frame->edge = offsets[1];
	else
	{
		__builtin_prefetch(&row->sums[sweep->graph->backward.targets[frame->edge]]);
		__builtin_prefetch(&sweep->graph->backward.offsets[sweep->graph->backward.targets[frame->edge]]);
	}
	frame->stage = SEEN;
	frame->is_only = count == 1;
	if (frame->is_only)
		frame->weight = emogi_weight(sweep->graph->backward.weights, sweep->graph->weight_type,
									 frame->edge);
	sweep->looked += offsets[1] - offsets[0];
}

/* Go on with the last vertex that was met, until another is met or its sum is made. */
static bool
follow(Sweep *sweep, Row *row, const uint32_t *ranks, int lane)
{
	const EmogiAdjacency *lists = &sweep->graph->backward;
	Frame	   *frame = &((Frame *) row->frames.items)[row->frames.count - 1];
	const uint32_t v = frame->vertex;
	const double most = sweep->near[(uint64_t) ranks[v] * LANES + (uint64_t) lane] + row->slack;
	double		sum = row->sums[v].sum;

	if (frame->stage == MET)
	{
		ask_list(sweep, frame, ranks);
		return true;
	}
	if (frame->stage == LISTED)
	{
		look_back(sweep, frame, ranks, lane, most);
		return true;
	}
	for (uint64_t end = frame->is_only ? frame->edge + 1 : lists->offsets[v + 1]; frame->edge < end;
		 frame->edge++)
	{
		const uint32_t u = lists->targets[frame->edge];

		if (!frame->is_only && !leads_to(sweep, ranks, lane, v, most, frame->edge))
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
			return meet(sweep, row, u);
		}
	}
	unwind(row, sum);
	return true;
}

/* Make the sums of all that was met by Dijkstra's search. */
static bool
search_met(Sweep *sweep, Row *row)
{
	const EmogiAdjacency *lists = &sweep->graph->forward;

	for (uint64_t i = 0; i < row->met.count; i++)
		row->sums[((uint32_t *) row->met.items)[i]].sum = (double) INFINITY;
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
 * Choose the slack of a lane by its farthest target; false where that is too far for the hierarchy
 * to tell.
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

/* Begin to follow back for a source, whose lane has been swept. */
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
	row->met.count = row->frames.count = 0;
	row->sums[source].sum = 0.0;
	row->sums[source].mark = 2 * row->number + 1;
	return true;
}

/*
 * Follow back one step, from the vertex met last or from the next target; *is_done: there is none.
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
			return meet(sweep, row, query->targets[row->next++]);
	}
	*is_done = true;
	return true;
}

/* Give the distances of a source. */
static bool
end_row(Sweep *sweep, const EmogiQuery *query, int lane, double *distance)
{
	Row		   *row = &sweep->rows[lane];

	if (row->is_circular && !search_met(sweep, row))
		return false;
	for (uint64_t t = 0; t < query->ntargets; t++)
		distance[t] = row->sums[query->targets[t]].mark == 2 * row->number + 1
			? row->sums[query->targets[t]].sum : (double) INFINITY;
	return true;
}

/* Follow back for all sources that have been swept, in turn. */
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
 * Find the distances from some sources, a lane each; false when the job has stopped, or it has
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

/* ---- all ---- */

/* Take memory; NULL, with the job failed, without. */
static void *
take(Sweep *sweep, uint64_t count, size_t bytes)
{
	void	   *array = emogi_job_may_allocate(sweep->job) ? calloc(count > 0 ? count : 1, bytes)
		: NULL;

	if (array == NULL)
		emogi_job_fail(sweep->job, EMOGI_NO_MEMORY);
	return array;
}

/*
 * Take memory, on large pages, for what is read all over; NULL, with the job failed, without. Each
 * page is written to: a page that is read first is the kernel's page of zeros, and another when it
 * is written to, of which all threads are told.
 */
static void *
take_far(Sweep *sweep, uint64_t bytes, void **memory)
{
	const uintptr_t page = 4096;
	char	   *start;

	*memory = take(sweep, bytes + page, 1);
	if (*memory == NULL)
		return NULL;
	start = (char *) (((uintptr_t) *memory + page - 1) & ~(page - 1));
	(void) madvise(start, bytes & ~(page - 1), MADV_HUGEPAGE);
	for (uint64_t i = 0; i < bytes; i += page)
		((volatile char *) start)[i] = 0;
	return start;
}

/* Rows that threads find, a block of LANES at a time, each by a sweep of its own. */
typedef struct Rows
{
	EmogiJob	job;
	Sweep		common;
	const EmogiQuery *query;
	double	   *distance;
	uint64_t	next;			/* the first row that no thread has taken */
	uint64_t	looked;
} Rows;

/*
 * Find blocks of rows until there are none, in a thread. The caller's asks whether the job is to
 * end.
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
	sweep.near = take_far(&sweep, sweep.made->nvertices * LANES * sizeof(double),
						  &sweep.near_memory);
	sweep.above = take(&sweep, sweep.made->nvertices / 64 + 1, sizeof *sweep.above);
	sums = take_far(&sweep, sweep.made->nvertices * LANES * sizeof(Sum), &sums_memory);
	for (int lane = 0; lane < LANES && sums != NULL; lane++)
		sweep.rows[lane].sums = sums + (uint64_t) lane * sweep.made->nvertices;
	while (!emogi_job_stopped(&rows->job) && (first = emogi_job_take(&rows->next, LANES)) <
		   rows->query->nsources)
		if (!find_rows(&sweep, rows->query, first, rows->distance))
			break;
	__atomic_fetch_add(&rows->looked, sweep.looked, __ATOMIC_RELAXED);
	free(sweep.near_memory);
	free(sweep.above);
	free(sums_memory);
	for (int lane = 0; lane < LANES; lane++)
	{
		free(sweep.rows[lane].met.items);
		free(sweep.rows[lane].frames.items);
	}
	free(sweep.heap.items);
}

EmogiStatus
emogi_contraction_sweep(const EmogiContraction *made, const EmogiGraph *graph, bool reversed,
						const EmogiQuery *query, int nthreads, bool (*poll) (void),
						double *distance, uint64_t *looked, EmogiControl *control,
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
	*looked = rows.looked;
	if (rows.job.status == EMOGI_NO_MEMORY)
	{
		snprintf(error->message, sizeof error->message, "out of memory while searching distances");
		snprintf(error->detail, sizeof error->detail, "%llu vertices",
				 (unsigned long long) made->nvertices);
	}
	return (EmogiStatus) rows.job.status;
}
