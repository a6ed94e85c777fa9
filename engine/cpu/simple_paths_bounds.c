/*
 * simple_paths_bounds.c: what bounds a search for simple paths: the hops and distances to the
 * nearest target, on walks that do not return to the source
 */
#include "cpu/simple_paths_parts.h"

#include <stdlib.h>

#define MIN_QUEUE 64
#define EDGES_PER_REACH 2		/* cost of an edge that may reach a vertex, in edges looked up */

#define HEAP_PREFIX offers
#define HEAP_ELEMENT EmogiOffer
#define HEAP_BEFORE(heap, a, b) ((a).cost < (b).cost)
#include "containers/heap.h"

/*
 * Ensure capacity for `count` items of an array that had `before`; false, and the job failed, if
 * out of memory.
 */
bool
emogi_simple_paths_reserve(EmogiSimplePaths *paths, void **items, uint64_t before,
						   uint64_t count, size_t bytes)
{
	void	   *moved = NULL;

	if (paths->bytes + (count - before) * bytes <= paths->query.max_bytes &&
		emogi_job_may_allocate(&paths->job))
		moved = realloc(*items, count * bytes);
	if (moved == NULL)
	{
		emogi_job_fail(&paths->job, EMOGI_NO_MEMORY);
		return false;
	}
	*items = moved;
	paths->bytes += (count - before) * bytes;
	return true;
}

/* Find or add a vertex; NULL, and the job failed, if out of memory. */
EmogiReached *
emogi_simple_paths_add(EmogiSimplePaths *paths, uint32_t vertex)
{
	const uint64_t bytes = (paths->nknown + 1) * 4 * sizeof(EmogiReached);	/* at most */
	EmogiReached *known = paths->nknown > 0 ? emogi_simple_paths_find(paths, vertex) : NULL;

	if (known != NULL && known->vertex != 0)
		return known;
	if (!emogi_reached_fits(paths->known, paths->bits, paths->nknown + 1) &&
		(paths->bytes + bytes > paths->query.max_bytes || !emogi_job_may_allocate(&paths->job) ||
		 !emogi_reached_grow(&paths->known, &paths->bits, paths->nknown + 1)))
	{
		emogi_job_fail(&paths->job, EMOGI_NO_MEMORY);
		return NULL;
	}
	known = emogi_simple_paths_find(paths, vertex);
	*known = (EmogiReached) {.vertex = vertex + 1};
	paths->nknown++;
	return known;
}

/* ---- distances to the targets ---- */

/* EmogiOffer a distance to a vertex. */
static bool
offer(EmogiSimplePaths *paths, uint32_t vertex, double cost)
{
	const uint64_t room = 2 * paths->offers_room + MIN_QUEUE;

	if (!(cost <= emogi_simple_paths_max_cost(paths)))
		return true;
	if (paths->noffers == paths->offers_room)
	{
		if (!emogi_simple_paths_reserve(paths, (void **) &paths->offers, paths->offers_room, room,
										sizeof *paths->offers))
			return false;
		paths->offers_room = room;
	}
	offers_push(paths->offers, &paths->noffers, (EmogiOffer) {cost, vertex});
	return true;
}

/* Settle a vertex, unless it has been settled with a smaller distance. */
static bool
settle(EmogiSimplePaths *paths, EmogiOffer nearest)
{
	const EmogiListRange list = emogi_contiguous_list(&paths->backward, nearest.vertex);
	EmogiReached *known = emogi_simple_paths_add(paths, nearest.vertex);

	if (known == NULL || emogi_simple_paths_scan(paths, list.end - list.first + 1))
		return false;
	if (known->is_near)
		return true;
	known->is_near = true;
	known->cost = nearest.cost;
	if (nearest.vertex == paths->query.source)
		return true;
	for (uint64_t e = list.first; e < list.end; e++)
		if ((e == list.first || list.lists->targets[e] != list.lists->targets[e - 1]) &&
			!offer(paths, list.lists->targets[e],
				   emogi_path_candidate(EMOGI_SSSP, nearest.cost,
										emogi_simple_paths_weight(paths, list.lists, e))))
			return false;
	return true;
}

/* Find the distances to the nearest targets, up to max_cost. */
static void
find_costs(EmogiSimplePaths *paths)
{
	for (uint64_t i = 0; i < paths->query.ntargets; i++)
		if (!offer(paths, paths->query.targets[i], 0.0))
			return;
	while (paths->noffers > 0)
		if (!settle(paths, offers_pop(paths->offers, &paths->noffers)))
			return;
}

/* ---- hops to the targets ---- */

/* Set the hops of a vertex, unless it was reached before or is too far away by cost. */
static bool
meet(EmogiSimplePaths *paths, uint32_t vertex, uint32_t hops)
{
	const uint64_t room = 2 * paths->queue_room + MIN_QUEUE;
	EmogiReached *known = emogi_simple_paths_add(paths, vertex);

	if (known == NULL)
		return false;
	if (known->hops != 0 || (paths->is_bounded && !known->is_near))
		return true;
	if (paths->nmet == paths->queue_room)
	{
		if (!emogi_simple_paths_reserve(paths, (void **) &paths->queue, paths->queue_room, room,
										sizeof *paths->queue))
			return false;
		paths->queue_room = room;
	}
	known->hops = hops;
	paths->queue[paths->nmet++] = vertex;
	return true;
}

/* Find the vertices that are one hop further away; false if there are none or the job failed. */
static bool
go_level(EmogiSimplePaths *paths)
{
	const uint64_t end = paths->nmet;

	for (; paths->head < end; paths->head++)
	{
		const uint32_t v = paths->queue[paths->head];
		const EmogiListRange list = emogi_contiguous_list(&paths->backward, v);
		const uint32_t hops = emogi_simple_paths_find(paths, v)->hops + 1;

		if (v == paths->query.source)
			continue;
		if (emogi_simple_paths_scan(paths, list.end - list.first + 1))
			return false;
		for (uint64_t e = list.first; e < list.end; e++)
			if (emogi_simple_paths_weight(paths, list.lists, e) < (double) INFINITY &&
				!meet(paths, list.lists->targets[e], hops))
				return false;
	}
	paths->nlevels++;
	return paths->head < paths->nmet;
}

/* Count the edges of the first vertices that were not reached, each list as one more. */
static uint64_t
count_first_edges(EmogiSimplePaths *paths)
{
	const EmogiListRange list = emogi_contiguous_list(&paths->forward, paths->query.source);
	const uint32_t *targets = list.lists->targets;
	uint64_t	nedges = 0;

	for (uint64_t e = list.first; e < list.end && !emogi_simple_paths_scan(paths, 1); e++)
		if ((e == list.first || targets[e] != targets[e - 1]) &&
			emogi_simple_paths_find(paths, targets[e])->hops == 0)
			nedges += emogi_lists_degree(&paths->forward.view, targets[e]) + 1;
	return nedges;
}

/* Count the edges to the vertices of the last level, likewise, up to more than `limit`. */
static uint64_t
count_level_edges(EmogiSimplePaths *paths, uint64_t limit)
{
	uint64_t	nedges = 0;

	for (uint64_t i = paths->head;
		 i < paths->nmet && nedges <= limit && !emogi_simple_paths_scan(paths, 1); i++)
		nedges += emogi_lists_degree(&paths->backward.view, paths->queue[i]) + 1;
	return nedges;
}

/*
 * Return true if following the edges of the first vertices costs less than searching the last
 * level, the one before max_depth.
 */
static bool
is_first_cheaper(EmogiSimplePaths *paths)
{
	uint64_t	nfirst;

	if (paths->length != paths->query.max_depth || paths->nlevels + 1 != paths->length)
		return false;
	nfirst = count_first_edges(paths) / EDGES_PER_REACH;
	return nfirst < count_level_edges(paths, nfirst);
}

/* Find the hops that paths of the current length need; false if the job has failed. */
bool
emogi_simple_paths_reach(EmogiSimplePaths *paths)
{
	while (paths->nlevels < paths->length && !emogi_simple_paths_is_exhausted(paths) &&
		   !is_first_cheaper(paths) && go_level(paths))
		;
	return paths->job.status == EMOGI_OK;
}

/* Copy the targets, and enqueue them; false if out of memory. */
bool
emogi_simple_paths_begin_targets(EmogiSimplePaths *paths, const uint32_t *given)
{
	EmogiSimplePathsQuery *query = &paths->query;
	uint32_t   *targets = NULL;

	if (!emogi_simple_paths_reserve(paths, (void **) &targets, 0, query->ntargets + 1,
									sizeof *targets))
		return false;
	for (uint64_t i = 0; i < query->ntargets; i++)
		targets[i] = given[i];
	query->targets = targets;
	if (paths->is_bounded)
		find_costs(paths);
	for (uint64_t i = 0; i < query->ntargets && paths->job.status == EMOGI_OK; i++)
		if (meet(paths, targets[i], 1))
			emogi_simple_paths_find(paths, targets[i])->is_target = true;
	paths->nlevels = 1;			/* those with no hops */
	paths->has_one_target = paths->nmet == 1;
	return paths->job.status == EMOGI_OK;
}
