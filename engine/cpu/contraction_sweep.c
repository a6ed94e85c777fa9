/*
 * contraction_sweep.c: the distances from several vertices to many, by way of a contraction hierarchy.
 *
 * Method. A search goes up from a source, and one sweep down over all vertices, the highest rank first, gives what lies between it and each
 * of them [1]; several sources are swept at once, for each arc is read but once then. These distances are right but for rounding, as contraction.c
 * has it; let g be the error of a sum. So where an edge of weight w leads from u to v, and SSSP has the distance of v by way of u, u's and w are no
 * longer than v's but for 4g times that: such edges are followed back from the targets, each vertex once, and on the way back SSSP's own sums are
 * made, of which the least is SSSP's distance. Nearly always one edge leads to a vertex. Where edges that weigh next to nothing lead round in a
 * circle, Dijkstra's search among the vertices that were met makes the sums.
 *
 * [1] D. Delling, A. V. Goldberg, A. Nowatzyk, R. F. Werneck. PHAST: hardware-accelerated shortest path trees. IPDPS 2011.
 */
#include "contraction_search.h"

#include "contract/semirings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LANES EMOGI_CONTRACTION_LANES
#define SLACK 4.5				/* times the error of a sum: 4, and what is of higher order */
#define POLL_RANKS 65536
#define AHEAD 32				/* arcs */

/* A vertex whose edges are being followed back. */
typedef struct Frame
{
	uint32_t	vertex;
	uint64_t	edge;			/* the next of its list */
} Frame;

typedef struct Entry
{
	double		distance;
	uint32_t	vertex;
} Entry;

typedef struct Sweep
{
	EmogiJob   *job;			/* of all threads */
	const EmogiContraction *made;
	const EmogiGraph *graph;
	int			up;				/* side of the arcs that lead up from a source */
	bool		is_circular;	/* of the source at hand: edges lead round in a circle */
	double	   *near;			/* [nvertices][LANES], by rank, a rank's in one line of a cache: distances but for rounding */
	void	   *near_memory;	/* where that lies */
	double	   *sums;			/* [nvertices], of those met: SSSP's distance */
	uint32_t   *marks;			/* [nvertices]: 2 * row = met, 2 * row + 1 = its sum is made */
	uint32_t	row;			/* from 1 */
	double		slack;
	EmogiGrowing met;			/* uint32_t */
	EmogiGrowing frames;		/* Frame */
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
	for (i = sweep->heap.count++; i > 0 && entry.distance < entries[(i - 1) / 2].distance; i = (i - 1) / 2)
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

/* Search up from a source, by its rank, in a lane. Here vertices are settled by rank, so that each is once. */
static bool
search_up(Sweep *sweep, uint32_t source, int lane)
{
	const EmogiArc *arcs = emogi_contraction_arcs(sweep->made, sweep->up);
	const uint64_t *firsts = emogi_contraction_firsts(sweep->made, sweep->up);

	sweep->near[(uint64_t) source * LANES + (uint64_t) lane] = 0.0;
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
			double	   *above = &sweep->near[(uint64_t) arcs[i].to * LANES + (uint64_t) lane];
			const bool	is_new = *above == (double) INFINITY;

			if (distance + arcs[i].weight < *above)
				*above = distance + arcs[i].weight;
			if (is_new && *above < (double) INFINITY && !push(sweep, (Entry) {(double) arcs[i].to, arcs[i].to}))
				return false;
		}
	}
	return true;
}

/* Sweep down over all vertices; false when the job has stopped. */
static bool
sweep_down(Sweep *sweep)
{
	const EmogiArc *arcs = emogi_contraction_arcs(sweep->made, 1 - sweep->up);
	const uint64_t *firsts = emogi_contraction_firsts(sweep->made, 1 - sweep->up);

	for (uint64_t rank = sweep->made->nvertices; rank-- > 0;)
	{
		double	   *low = sweep->near + rank * LANES;
		double		best[LANES];

		for (int lane = 0; lane < LANES; lane++)
			best[lane] = low[lane];
		for (uint64_t i = firsts[rank]; i < firsts[rank + 1]; i++)
		{
			const double *high = sweep->near + (uint64_t) arcs[i].to * LANES;

			if (i >= AHEAD)
				__builtin_prefetch(sweep->near + (uint64_t) arcs[i - AHEAD].to * LANES);
			for (int lane = 0; lane < LANES; lane++)
			{
				const double distance = high[lane] + arcs[i].weight;

				best[lane] = distance < best[lane] ? distance : best[lane];
			}
		}
		for (int lane = 0; lane < LANES; lane++)
			low[lane] = best[lane];
		if (rank % POLL_RANKS == 0 && is_stopped(sweep))
			return false;
	}
	sweep->looked += firsts[sweep->made->nvertices];
	return true;
}

/* ---- back, and SSSP's sums ---- */

/* Note that a vertex is met, and is to be followed back, and ask for what that will read; false, with the job failed, without memory. */
static bool
meet(Sweep *sweep, const uint32_t *ranks, uint32_t v)
{
	const EmogiAdjacency *lists = &sweep->graph->backward;

	for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
		__builtin_prefetch(sweep->near + (uint64_t) ranks[lists->targets[e]] * LANES);
	if (!emogi_contraction_reserve(sweep->job, &sweep->frames, 1, sizeof(Frame)) ||
		!emogi_contraction_reserve(sweep->job, &sweep->met, 1, sizeof(uint32_t)))
		return false;
	((Frame *) sweep->frames.items)[sweep->frames.count++] = (Frame) {v, sweep->graph->backward.offsets[v]};
	((uint32_t *) sweep->met.items)[sweep->met.count++] = v;
	sweep->marks[v] = 2 * sweep->row;
	sweep->sums[v] = (double) INFINITY;
	return true;
}

/* Go on with the last vertex that was met, until another is met or its sum is made. */
static bool
follow(Sweep *sweep, const uint32_t *ranks, int lane)
{
	const EmogiAdjacency *lists = &sweep->graph->backward;
	Frame	   *frame = &((Frame *) sweep->frames.items)[sweep->frames.count - 1];
	const uint32_t v = frame->vertex;
	const double most = sweep->near[(uint64_t) ranks[v] * LANES + (uint64_t) lane] + sweep->slack;
	double		sum = sweep->sums[v];

	for (; frame->edge < lists->offsets[v + 1]; frame->edge++)
	{
		const uint32_t u = lists->targets[frame->edge];
		const double weight = emogi_weight(lists->weights, sweep->graph->weight_type, frame->edge);

		if (!(sweep->near[(uint64_t) ranks[u] * LANES + (uint64_t) lane] + weight <= most) || u == v)
			continue;
		if (sweep->marks[u] == 2 * sweep->row)
			sweep->is_circular = true;
		else if (sweep->marks[u] == 2 * sweep->row + 1)
			sum = fmin(sum, emogi_path_candidate(EMOGI_SSSP, sweep->sums[u], weight));
		else
		{
			sweep->sums[v] = sum;
			return meet(sweep, ranks, u);
		}
	}
	sweep->sums[v] = sum;
	sweep->marks[v] = 2 * sweep->row + 1;
	sweep->looked += lists->offsets[v + 1] - lists->offsets[v];
	sweep->frames.count--;
	return true;
}

/* Make the sums of all that was met by Dijkstra's search. */
static bool
search_met(Sweep *sweep, uint32_t source)
{
	const EmogiAdjacency *lists = &sweep->graph->forward;

	for (uint64_t i = 0; i < sweep->met.count; i++)
		sweep->sums[((uint32_t *) sweep->met.items)[i]] = (double) INFINITY;
	sweep->sums[source] = 0.0;
	sweep->heap.count = 0;
	if (!push(sweep, (Entry) {0.0, source}))
		return false;
	while (sweep->heap.count > 0)
	{
		const Entry entry = pop(sweep);

		if (entry.distance > sweep->sums[entry.vertex])
			continue;
		for (uint64_t e = lists->offsets[entry.vertex]; e < lists->offsets[entry.vertex + 1]; e++)
		{
			const uint32_t w = lists->targets[e];
			const double sum = emogi_path_candidate(EMOGI_SSSP, entry.distance, emogi_weight(lists->weights, sweep->graph->weight_type, e));

			if (sweep->marks[w] != 2 * sweep->row + 1 || !(sum < sweep->sums[w]))
				continue;
			sweep->sums[w] = sum;
			if (!push(sweep, (Entry) {sum, w}))
				return false;
		}
	}
	return true;
}

/* Choose the slack of a lane by its farthest target; false where that is too far for the hierarchy to tell. */
static bool
choose_slack(Sweep *sweep, const uint32_t *ranks, const EmogiQuery *query, int lane)
{
	double		farthest = 0.0;

	for (uint64_t t = 0; t < query->ntargets; t++)
	{
		const double distance = sweep->near[(uint64_t) ranks[query->targets[t]] * LANES + (uint64_t) lane];

		if (distance < (double) INFINITY && distance > farthest)
			farthest = distance;
	}
	sweep->slack = SLACK * emogi_contraction_error(sweep->graph) * farthest;
	if (4.0 * sweep->slack > sweep->made->tolerance)
		emogi_job_fail(sweep->job, EMOGI_UNSUPPORTED);
	return !emogi_job_stopped(sweep->job);
}

/* Find the distances from a source, whose lane has been swept. */
static bool
find_row(Sweep *sweep, const EmogiQuery *query, uint32_t source, int lane, double *distance)
{
	const uint32_t *ranks = emogi_contraction_ranks(sweep->made);

	if (!choose_slack(sweep, ranks, query, lane))
		return false;
	sweep->row++;
	sweep->is_circular = false;
	sweep->met.count = 0;
	sweep->sums[source] = 0.0;
	sweep->marks[source] = 2 * sweep->row + 1;
	for (uint64_t t = 0; t < query->ntargets; t++)
	{
		const uint32_t target = query->targets[t];

		if (sweep->marks[target] == 2 * sweep->row + 1 ||
			sweep->near[(uint64_t) ranks[target] * LANES + (uint64_t) lane] == (double) INFINITY)
			continue;
		if (!meet(sweep, ranks, target))
			return false;
		while (sweep->frames.count > 0)
			if (!follow(sweep, ranks, lane))
				return false;
	}
	if (sweep->is_circular && !search_met(sweep, source))
		return false;
	for (uint64_t t = 0; t < query->ntargets; t++)
		distance[t] = sweep->marks[query->targets[t]] == 2 * sweep->row + 1 ? sweep->sums[query->targets[t]] : (double) INFINITY;
	return !is_stopped(sweep);
}

/* Find the distances from some sources, a lane each; false when the job has stopped, or it has given up. */
static bool
find_rows(Sweep *sweep, const EmogiQuery *query, uint64_t first, double *distance)
{
	const uint32_t *ranks = emogi_contraction_ranks(sweep->made);
	const uint64_t count = query->nsources - first < LANES ? query->nsources - first : LANES;

	for (uint64_t i = 0; i < sweep->made->nvertices * LANES; i++)
		sweep->near[i] = (double) INFINITY;
	for (uint64_t s = 0; s < count; s++)
		if (!search_up(sweep, ranks[query->sources[first + s]], (int) s))
			return false;
	if (!sweep_down(sweep))
		return false;
	for (uint64_t s = 0; s < count; s++)
		if (!find_row(sweep, query, query->sources[first + s], (int) s, distance + (first + s) * query->ntargets))
			return false;
	return true;
}

/* ---- all ---- */

/* Take memory; NULL, with the job failed, without. */
static void *
take(Sweep *sweep, uint64_t count, size_t bytes)
{
	void	   *array = emogi_job_may_allocate(sweep->job) ? calloc(count > 0 ? count : 1, bytes) : NULL;

	if (array == NULL)
		emogi_job_fail(sweep->job, EMOGI_NO_MEMORY);
	return array;
}

/* Take memory for the distances of all lanes: on large pages, for it is read all over. */
static void
take_near(Sweep *sweep)
{
	const uint64_t bytes = sweep->made->nvertices * LANES * sizeof(double);
	const uintptr_t page = 4096;
	uintptr_t	start;

	sweep->near_memory = take(sweep, bytes + page, 1);
	start = ((uintptr_t) sweep->near_memory + page - 1) & ~(page - 1);
	sweep->near = (double *) start;
	if (sweep->near_memory != NULL)
		(void) madvise((void *) start, bytes & ~(page - 1), MADV_HUGEPAGE);
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

/* Find blocks of rows until there are none, in a thread. The caller's asks whether the job is to end. */
static void
find_blocks(void *arg, int thread, int nthreads)
{
	Rows	   *rows = arg;
	Sweep		sweep = rows->common;
	uint64_t	first;

	(void) nthreads;
	if (thread != 0)
		sweep.poll = NULL;
	take_near(&sweep);
	sweep.sums = take(&sweep, sweep.made->nvertices, sizeof(double));
	sweep.marks = take(&sweep, sweep.made->nvertices, sizeof(uint32_t));
	while (!emogi_job_stopped(&rows->job) && (first = emogi_job_take(&rows->next, LANES)) < rows->query->nsources)
		if (!find_rows(&sweep, rows->query, first, rows->distance))
			break;
	__atomic_fetch_add(&rows->looked, sweep.looked, __ATOMIC_RELAXED);
	free(sweep.near_memory);
	free(sweep.sums);
	free(sweep.marks);
	free(sweep.met.items);
	free(sweep.frames.items);
	free(sweep.heap.items);
}

EmogiStatus
emogi_contraction_sweep(const EmogiContraction *made, const EmogiGraph *graph, bool reversed, const EmogiQuery *query, int nthreads, bool (*poll) (void),
						double *distance, uint64_t *looked, EmogiControl *control, EmogiError *error)
{
	Rows		rows = {.job = {.control = control}, .query = query, .distance = distance};
	EmogiPool  *pool = nthreads > 1 && query->nsources > LANES ? emogi_pool_create(nthreads) : NULL;

	error->message[0] = error->detail[0] = '\0';
	rows.common = (Sweep) {.job = &rows.job, .made = made, .graph = graph, .up = reversed ? 1 : 0, .poll = poll};
	if (pool != NULL)
		emogi_pool_run(pool, find_blocks, &rows);
	else
		find_blocks(&rows, 0, 1);
	emogi_pool_destroy(pool);
	*looked = rows.looked;
	if (rows.job.status == EMOGI_NO_MEMORY)
	{
		snprintf(error->message, sizeof error->message, "out of memory while searching distances");
		snprintf(error->detail, sizeof error->detail, "%llu vertices", (unsigned long long) made->nvertices);
	}
	return (EmogiStatus) rows.job.status;
}
