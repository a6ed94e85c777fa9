/*
 * simple_paths.c: enumeration of the simple paths from a source to targets, fewest edges first
 *
 * Method. Iterative deepening [1]: for each number of edges, a depth-first search from the source
 * finds the paths of exactly this many edges, in the order of their vertices, so that no path has
 * to be stored. It enters only vertices from which the remaining edges suffice to reach a target,
 * by their hops against the edges. A breadth-first search from the targets finds these hops, one
 * level for each length. Therefore no path waits for parts of the graph beyond its reach.
 *
 * The next length is the smallest one that could have admitted a vertex that was refused. If none
 * was refused by its hops, there are no longer paths. The hops of a vertex that was not reached are
 * bounded from below by the levels that are complete. So the last level before max_depth need not
 * be searched if it costs more than the edges of the first vertices of the paths.
 *
 * With max_cost, Dijkstra's algorithm first finds the distances to the nearest target, up to
 * max_cost, and the searches leave out all other vertices. Sums that are rounded in another order
 * differ a little, so this bound has a tolerance; the cost of a path itself is compared exactly.
 *
 * simple_paths_bounds.c finds hops and distances.
 *
 * [1] R. Korf. Depth-First Iterative-Deepening. Artificial Intelligence 27(1), 1985. Section 5.
 */
#include "cpu/simple_paths_parts.h"

#include <stdio.h>
#include <stdlib.h>

#define MIN_STEPS 6				/* room for the steps of a path; it grows with the path */

/* Ensure capacity for a path of this many steps. */
static bool
reserve_steps(EmogiSimplePaths *paths, uint64_t count)
{
	const uint64_t room = count + paths->room;

	if (count <= paths->room)
		return true;
	if (!emogi_simple_paths_reserve(paths, (void **) &paths->steps, paths->room, room,
									sizeof *paths->steps) ||
		!emogi_simple_paths_reserve(paths, (void **) &paths->vertices, paths->room, room + 1,
									sizeof *paths->vertices) ||
		!emogi_simple_paths_reserve(paths, (void **) &paths->distance, paths->room, room + 1,
									sizeof *paths->distance))
		return false;
	paths->room = room;
	return true;
}

/* Advance to a vertex. */
static void
push_step(EmogiSimplePaths *paths, uint32_t vertex, double distance)
{
	const EmogiListRange list = emogi_contiguous_list(&paths->forward, vertex);
	EmogiReached *known = emogi_simple_paths_find(paths, vertex);

	if (emogi_simple_paths_scan(paths, list.end - list.first + 1) ||
		!reserve_steps(paths, paths->nsteps + 1))
		return;
	/* a vertex that was not reached is the first of the path, which enters it no second time */
	if (known->vertex != 0)
		known->on_path = true;
	paths->vertices[paths->nsteps] = vertex;
	paths->distance[paths->nsteps] = distance;
	paths->steps[paths->nsteps++] = (EmogiSimpleStep) {list, list.first};
}

/* Go back from the last vertex. */
static void
pop_step(EmogiSimplePaths *paths)
{
	EmogiReached *known = emogi_simple_paths_find(paths, paths->vertices[--paths->nsteps]);

	if (known->vertex != 0)
		known->on_path = false;
}

/* Note that a path of a length that is not less than this may exist. */
static inline void
note_length(EmogiSimplePaths *paths, uint64_t length)
{
	if (length < paths->next_length)
		paths->next_length = length;
}

/*
 * Return true if a path of the current length may go on to a vertex, at a distance from the source.
 * If only its hops forbid that, note the length that allows it.
 */
static inline bool
may_enter(EmogiSimplePaths *paths, uint32_t vertex, double distance)
{
	const EmogiReached *known = emogi_simple_paths_find(paths, vertex);
	const uint64_t hops = emogi_simple_paths_least_hops(paths, known);

	if (hops == UINT64_MAX || known->on_path || !(distance < (double) INFINITY) ||
		(paths->is_bounded && !(distance + known->cost <= emogi_simple_paths_max_cost(paths))))
		return false;
	if (paths->nsteps + hops > paths->length)
	{
		note_length(paths, paths->nsteps + hops);
		return false;
	}
	/* a path to the only target does not go on from there */
	return !known->is_target || !paths->has_one_target || paths->nsteps == paths->length;
}

/*
 * Follow the edges of the last vertex up to the next one that the path may enter, or go back from
 * it. Returns true if that completes a path of the current length.
 */
static bool
go_on(EmogiSimplePaths *paths)
{
	EmogiSimpleStep *step = &paths->steps[paths->nsteps - 1];
	const EmogiListRange list = step->list;
	const uint32_t *targets = list.lists->targets;
	const bool	is_last = paths->nsteps == paths->length;
	double		distance = 0.0;
	uint64_t	e = step->entry;

	/* of parallel edges, the first has the minimum weight */
	for (; e < list.end; e++)
	{
		distance = emogi_path_candidate(EMOGI_SSSP, paths->distance[paths->nsteps - 1],
										emogi_simple_paths_weight(paths, list.lists, e));
		if ((e == list.first || targets[e] != targets[e - 1]) &&
			may_enter(paths, targets[e], distance))
			break;
	}
	step->entry = e + 1;
	if (e == list.end)
		pop_step(paths);
	else if (!is_last)
		push_step(paths, targets[e], distance);
	else
	{
		paths->vertices[paths->nsteps] = targets[e];
		paths->distance[paths->nsteps] = distance;
		if (!paths->has_one_target) /* a path to another target may pass through this one */
			note_length(paths, paths->length + 1);
	}
	return e < list.end && is_last && distance <= paths->query.max_cost;
}

/* Start with the paths of the next length; false if there are none or the job has failed. */
static bool
begin_length(EmogiSimplePaths *paths)
{
	uint64_t	hops;

	if (paths->next_length > paths->query.max_depth || paths->next_length == UINT64_MAX)
		return false;
	paths->length = paths->next_length;
	paths->next_length = UINT64_MAX;
	if (!emogi_simple_paths_reach(paths))
		return false;
	hops = emogi_simple_paths_least_hops(paths,
										 emogi_simple_paths_find(paths, paths->query.source));
	if (hops != UINT64_MAX && hops > paths->length)
		note_length(paths, hops);
	else if (hops != UINT64_MAX)
		push_step(paths, paths->query.source, 0.0);
	return true;
}

/*
 * Begin with the path of no edges; return true if the source is a target. No other path to the only
 * target begins there.
 */
static bool
begin_paths(EmogiSimplePaths *paths)
{
	const bool	is_target = emogi_simple_paths_find(paths, paths->query.source)->is_target;

	paths->has_begun = true;
	paths->next_length = is_target && paths->has_one_target ? UINT64_MAX : 1;
	paths->vertices[0] = paths->query.source;
	paths->distance[0] = 0.0;
	return is_target;
}

/* Set the error message. */
static EmogiStatus
end_job(EmogiSimplePaths *paths)
{
	if (paths->job.status == EMOGI_NO_MEMORY)
	{
		snprintf(paths->error->message, sizeof paths->error->message,
				 "out of memory while searching for simple paths");
		snprintf(paths->error->detail, sizeof paths->error->detail,
				 "%llu bytes in use; %llu are allowed", (unsigned long long) paths->bytes,
				 (unsigned long long) paths->query.max_bytes);
	}
	return (EmogiStatus) paths->job.status;
}

/* Begin the lists, the source and the targets. */
static void
begin_search(EmogiSimplePaths *paths, const uint32_t *targets)
{
	const EmogiSimplePathsQuery *query = &paths->query;

	emogi_contiguous_lists_begin(&paths->forward,
								 emogi_lists_forward(query->graph, query->overlay), &paths->job,
								 &paths->bytes, query->max_bytes);
	emogi_contiguous_lists_begin(&paths->backward,
								 emogi_lists_backward(query->graph, query->overlay), &paths->job,
								 &paths->bytes, query->max_bytes);
	if (reserve_steps(paths, MIN_STEPS) && emogi_simple_paths_add(paths, query->source) != NULL)
		(void) emogi_simple_paths_begin_targets(paths, targets);
}

EmogiStatus
emogi_simple_paths_begin(const EmogiSimplePathsQuery *query, EmogiSimplePaths **paths,
						 EmogiControl *control, EmogiError *error)
{
	EmogiSimplePaths *made = calloc(1, sizeof *made);
	EmogiStatus status;

	error->message[0] = error->detail[0] = '\0';
	*paths = made;
	if (made == NULL)
	{
		snprintf(error->message, sizeof error->message,
				 "out of memory while searching for simple paths");
		return EMOGI_NO_MEMORY;
	}
	*made = (EmogiSimplePaths) {.job = {.control = control},.error = error,.query = *query,
								.is_bounded = query->max_cost < (double) INFINITY};
	made->query.targets = NULL;
	emogi_job_phase(&made->job, EMOGI_PHASE_RUN, 0);
	begin_search(made, query->targets);
	status = end_job(made);
	if (status == EMOGI_OK)
		return status;
	emogi_simple_paths_free(made);
	*paths = NULL;
	return status;
}

EmogiStatus
emogi_simple_paths_next(EmogiSimplePaths *paths, EmogiSimplePath *path)
{
	bool		is_found = !paths->has_begun && begin_paths(paths);

	*path = (EmogiSimplePath) {0};
	while (!is_found && !emogi_job_stopped(&paths->job))
	{
		if (paths->nsteps > 0)
			is_found = go_on(paths);
		else if (!begin_length(paths))
			break;
	}
	if (is_found)
		*path = (EmogiSimplePath) {paths->length + 1, paths->vertices, paths->distance};
	return end_job(paths);
}

uint64_t
emogi_simple_paths_edges_scanned(const EmogiSimplePaths *paths)
{
	return paths->scanned;
}

void
emogi_simple_paths_free(EmogiSimplePaths *paths)
{
	if (paths == NULL)
		return;
	emogi_contiguous_lists_end(&paths->forward);
	emogi_contiguous_lists_end(&paths->backward);
	free((uint32_t *) paths->query.targets);
	free(paths->known);
	free(paths->queue);
	free(paths->offers);
	free(paths->steps);
	free(paths->vertices);
	free(paths->distance);
	free(paths);
}
