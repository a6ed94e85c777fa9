/*
 * contraction_follow.c: follow edges back from the targets of swept distances, and form SSSP's sums
 * (contraction_sweep.c has the method)
 */
#include "contraction_sweep.h"

#include "contract/semirings.h"

#include <math.h>

#define LANES EMOGI_CONTRACTION_LANES
#define SLACK 4.5				/* times the error of a sum: 4, plus terms of higher order */

/*
 * The stages of a vertex whose edges are followed back. In each stage, the data of the next stage
 * have been prefetched.
 */
typedef enum Stage
{
	VISITED,					/* its adjacency list */
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

/*
 * Mark a vertex visited, push a frame for it, and prefetch its list; false, with the job failed, if
 * out of memory.
 */
static bool
visit(EmogiSweep *sweep, EmogiSweepRow *row, uint32_t v)
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
unwind(EmogiSweepRow *row, double sum)
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
leads_to(const EmogiSweep *sweep, const uint32_t *ranks, int lane, uint32_t v, double max,
		 uint64_t edge)
{
	const uint32_t u = sweep->graph->backward.targets[edge];
	const double weight = emogi_weight(sweep->graph->backward.weights, sweep->graph->weight_type,
									   edge);

	return sweep->near[(uint64_t) ranks[u] * LANES + (uint64_t) lane] + weight <= max && u != v;
}

/* Prefetch the distances of a visited vertex's neighbors. */
static void
prefetch_list(const EmogiSweep *sweep, Frame *frame, const uint32_t *ranks)
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
scan_list(EmogiSweep *sweep, Frame *frame, const uint32_t *ranks, int lane, double max)
{
	const EmogiSweepRow *row = &sweep->rows[lane];
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
follow(EmogiSweep *sweep, EmogiSweepRow *row, const uint32_t *ranks, int lane)
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
search_visited(EmogiSweep *sweep, EmogiSweepRow *row)
{
	const EmogiAdjacency *lists = &sweep->graph->forward;

	for (uint64_t i = 0; i < row->visited.count; i++)
		row->sums[((uint32_t *) row->visited.items)[i]].sum = (double) INFINITY;
	row->sums[row->source].sum = 0.0;
	sweep->heap.count = 0;
	if (!emogi_sweep_push(sweep, (EmogiSweepEntry) {0.0, row->source}))
		return false;
	while (sweep->heap.count > 0)
	{
		const EmogiSweepEntry entry = emogi_sweep_pop(sweep);

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
			if (!emogi_sweep_push(sweep, (EmogiSweepEntry) {sum, w}))
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
choose_slack(EmogiSweep *sweep, EmogiSweepRow *row, const uint32_t *ranks, const EmogiQuery *query,
			 int lane)
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
bool
emogi_contraction_begin_row(EmogiSweep *sweep, const uint32_t *ranks, const EmogiQuery *query,
							uint32_t source, int lane)
{
	EmogiSweepRow *row = &sweep->rows[lane];

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
step_back(EmogiSweep *sweep, const uint32_t *ranks, const EmogiQuery *query, int lane,
		  bool *is_done)
{
	EmogiSweepRow *row = &sweep->rows[lane];

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
bool
emogi_contraction_end_row(EmogiSweep *sweep, const EmogiQuery *query, int lane, double *distance)
{
	EmogiSweepRow *row = &sweep->rows[lane];

	if (row->is_circular && !search_visited(sweep, row))
		return false;
	for (uint64_t t = 0; t < query->ntargets; t++)
		distance[t] = row->sums[query->targets[t]].mark == 2 * row->number + 1
			? row->sums[query->targets[t]].sum : (double) INFINITY;
	return true;
}

/* Follow back for all sources of the sweep, in turn. */
bool
emogi_contraction_follow(EmogiSweep *sweep, const uint32_t *ranks, const EmogiQuery *query,
						 int count)
{
	bool		is_done[LANES] = {false};
	uint64_t	steps = 0;

	for (int left = count; left > 0;)
		for (int lane = 0; lane < count; lane++)
		{
			if (is_done[lane])
				continue;
			if (!step_back(sweep, ranks, query, lane, &is_done[lane]) ||
				(++steps % EMOGI_SWEEP_POLL_RANKS == 0 && emogi_sweep_is_stopped(sweep)))
				return false;
			left -= is_done[lane];
		}
	return true;
}
