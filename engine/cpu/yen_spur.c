/*
 * yen_spur.c: first path of a class: the best path that shares a prefix with another path, up to
 * its vertex `at`, the spur, and does not continue with a banned vertex
 *
 * Method. An A* search from the spur, which avoids the prefix, finds the length of the shortest
 * continuation in the arithmetic of SSSP; it covers all vertices on continuations of that length.
 * Backward from the target, each of these gets the latest distance at which it still is in time:
 * the largest double from which the sum stays within that length, so that rounding changes nothing.
 * Then a depth-first search that takes the smallest vertex in time at each step finds the first
 * path. It backtracks only if the way ahead crosses the path itself, by cycles of length zero. A
 * vertex abandoned at a distance is not tried again at that or a larger distance: the vertices that
 * blocked it are still on the path, or a path would have been found over it.
 *
 * The bounds of yen_bounds.c are shared by all classes, and may be too low for one. If a search with
 * them scans more edges than the search for the first path, the class gets one of its own from both
 * ends (yen_both_ends.c). That is limited by a path found for another class, the first time.
 *
 * If sums are exact, as of integers, the bounds alone tell which vertices are in time for a path
 * whose length is the lower bound of the class, and mostly there is one: then the depth-first
 * search is the only one. If sums are rounded, the latest distances of the first path are kept for
 * other paths of that length.
 */
#include "cpu/yen_parts.h"

#include <stdlib.h>

/* Source of the latest distances. */
typedef enum Clock
{
	BY_BOUNDS,					/* the bounds are exact for everything that is not banned */
	BY_KEPT,
	BY_SEARCH
} Clock;

/* ---- states of vertices ---- */

EmogiSpurNode *
emogi_yen_spur_node(EmogiYen *ranking, uint32_t vertex)
{
	EmogiSpurNode *node = &emogi_yen_state(ranking, vertex)->node;

	if (node->stamp != ranking->stamp)
		*node = (EmogiSpurNode) {.stamp = ranking->stamp,.excluded = node->excluded,
								 .value = (double) INFINITY,.latest = -1.0,
								 .dead = (double) INFINITY,.rest = (double) INFINITY};
	return node;
}

void
emogi_yen_spur_enter(EmogiYen *ranking, const EmogiYenPath *path, uint64_t count)
{
	ranking->stamp++;
	for (uint64_t i = 0; i < count; i++)
		emogi_yen_spur_node(ranking, path->vertices[i])->banned = true;
}

/* Raise the lower bound of a class: any vertex may then be the next on its paths. */
void
emogi_yen_raise_key(EmogiYenClass *class, double key)
{
	class->key = key > class->key ? key : nextafter(class->key, (double) INFINITY);
	class->is_open = true;
}

/* ---- length of the shortest path ---- */

/* Relax a vertex. */
static bool
relax(EmogiYen *ranking, uint32_t vertex, double value, double *length)
{
	EmogiSpurNode *node = emogi_yen_spur_node(ranking, vertex);
	double		bound;

	if (node->banned || !(value < node->value))
		return true;
	node->value = value;
	if (vertex == ranking->target)
	{
		*length = value;
		return true;
	}
	bound = emogi_yen_bound(ranking, vertex);
	if (bound == (double) INFINITY || emogi_yen_add(value, bound) > *length * ranking->slack)
		return true;
	return emogi_yen_push(ranking, &ranking->queue,
						  (EmogiYenEntry) {emogi_yen_add(value, bound), value, vertex});
}

/* Relax the list of a vertex. is_spur: skip barred vertices. */
static bool
relax_list(EmogiYen *ranking, uint32_t vertex, double value, bool is_spur, double *length)
{
	const EmogiListRange list = emogi_yen_list(ranking, true, vertex);
	const EmogiAdjacency *lists = list.lists;
	const EmogiWeightType type = ranking->graph->weight_type;
	const uint64_t first = list.first;
	const uint64_t end = list.end;

	if (emogi_yen_count_scanned(ranking, end - first + 1))
		return false;
	for (uint64_t e = first; e < end; e++)
	{
		const double next = emogi_path_candidate(EMOGI_SSSP, value,
												 emogi_weight(lists->weights, type, e));

		if (emogi_yen_repeats(lists, first, e) || !(next < (double) INFINITY) ||
			(is_spur && emogi_yen_is_excluded(ranking, lists->targets[e])))
			continue;
		if (!relax(ranking, lists->targets[e], next, length) ||
			emogi_yen_poll_in_list(ranking, e - first))
			return false;
	}
	return true;
}

/* Settle the next vertex of the queue, if its bound is as sharp as possible. */
static bool
settle(EmogiYen *ranking, double *length)
{
	const EmogiYenEntry entry = emogi_yen_pop(&ranking->queue);
	double		key;

	if (emogi_yen_spur_node(ranking, entry.vertex)->value != entry.value)
		return true;
	key = emogi_yen_add(entry.value,
						emogi_yen_bound_within(ranking, entry.vertex, entry.value, entry.key));
	if (key == (double) INFINITY)
		return true;
	if (key > entry.key)
		return emogi_yen_push(ranking, &ranking->queue,
							  (EmogiYenEntry) {key, entry.value, entry.vertex});
	return relax_list(ranking, entry.vertex, entry.value, false, length);
}

/*
 * Find the length of the shortest path of a class, if it is at most `allowed`, by the bounds of all
 * classes. The outcome is void if the budget is spent.
 */
static bool
find_bounded_length(EmogiYen *ranking, const EmogiYenPath *path, EmogiYenClass *class,
					double allowed, double *length, EmogiSpurOutcome *outcome)
{
	EmogiYenQueue *queue = &ranking->queue;
	double		key;
	bool		relaxed;

	queue->count = 0;
	*length = (double) INFINITY;
	emogi_yen_bar(ranking, class, true);
	relaxed = relax_list(ranking, path->vertices[class->at], path->distance[class->at], true,
						 length);
	emogi_yen_bar(ranking, class, false);
	if (!relaxed)
		return false;
	while (queue->count > 0 && !emogi_yen_is_spent(ranking) &&
		   !(queue->entries[0].key > (*length < allowed ? *length : allowed) * ranking->slack))
		if (!settle(ranking, length))
			return false;
	*outcome = EMOGI_SPUR_FOUND;
	if (*length <= allowed && *length < (double) INFINITY)
		return true;
	*outcome = EMOGI_SPUR_NONE;
	if (*length == (double) INFINITY && queue->count == 0)
		return true;
	*outcome = EMOGI_SPUR_LATER;
	key = queue->count > 0 && queue->entries[0].key < *length ? queue->entries[0].key : *length;
	emogi_yen_raise_key(class, emogi_yen_deflate(ranking, key));
	return true;
}

/* Likewise, by a search from both ends if the budget is spent. */
static bool
find_length(EmogiYen *ranking, const EmogiYenPath *path, EmogiYenClass *class, double allowed,
			double *length, EmogiSpurOutcome *outcome)
{
	const double key = class->key;
	const bool	is_open = class->is_open;

	emogi_yen_spur_enter(ranking, path, class->at + 1);
	if (!emogi_yen_is_spent(ranking) &&
		!find_bounded_length(ranking, path, class, allowed, length, outcome))
		return false;
	if (!emogi_yen_is_spent(ranking))
		return true;
	class->key = key;
	class->is_open = is_open;
	if (!class->is_tried && allowed > ranking->found_key)
		allowed = ranking->found_key > key ? ranking->found_key : key;
	class->is_tried = true;
	emogi_yen_spur_enter(ranking, path, class->at + 1);
	if (!emogi_yen_both_ends_find(ranking, path, class, allowed, length, outcome))
		return false;
	return true;
}

/* ---- latest distances ---- */

/*
 * Get the largest distance to which a weight can be added without exceeding `latest`; -1 = there is
 * none.
 */
static double
latest_before(const EmogiYen *ranking, double latest, double weight)
{
	double		best = latest - weight;
	uint64_t	low;
	uint64_t	high;

	if (!(weight <= latest))
		return -1.0;
	if (ranking->is_exact || weight == 0.0)
		return best;
	if (best + weight <= latest && nextafter(best, (double) INFINITY) + weight > latest)
		return best;
	if (latest + weight <= latest)
		return latest;
	low = emogi_yen_bits(0.0);
	high = emogi_yen_bits(latest);
	while (high - low > 1)
	{
		const uint64_t middle = low + (high - low) / 2;

		if (emogi_yen_value(middle) + weight <= latest)
			low = middle;
		else
			high = middle;
	}
	return emogi_yen_value(low);
}

/* Set the latest distance of a vertex. */
static bool
note_latest(EmogiYen *ranking, uint32_t vertex, double latest, bool keep)
{
	emogi_yen_spur_node(ranking, vertex)->latest = latest;
	if (keep)
		emogi_yen_state(ranking, vertex)->kept = emogi_yen_bits(latest);
	return emogi_yen_push(ranking, &ranking->queue, (EmogiYenEntry) {-latest, 0.0, vertex});
}

/* Compute the latest distances of the reached vertices for a path of a length. */
static bool
find_latest(EmogiYen *ranking, double length, bool keep)
{
	const EmogiWeightType type = ranking->graph->weight_type;

	ranking->queue.count = 0;
	if (!note_latest(ranking, ranking->target, length, keep))
		return false;
	while (ranking->queue.count > 0)
	{
		const EmogiYenEntry entry = emogi_yen_pop(&ranking->queue);
		const EmogiListRange list = emogi_yen_list(ranking, false, entry.vertex);
		const EmogiAdjacency *lists = list.lists;
		const uint64_t first = list.first;
		const uint64_t end = list.end;

		if (-entry.key != emogi_yen_spur_node(ranking, entry.vertex)->latest)
			continue;
		if (emogi_yen_count_scanned(ranking, end - first + 1))
			return false;
		for (uint64_t e = first; e < end; e++)
		{
			const uint32_t u = lists->targets[e];
			const EmogiYenState *state = emogi_yen_find_state(ranking, u);
			const EmogiSpurNode *node = state != NULL ? &state->node : NULL;
			double		latest;

			if (emogi_yen_repeats(lists, first, e) || node == NULL || node->stamp != ranking->stamp ||
				node->banned || u == ranking->target)
				continue;
			latest = latest_before(ranking, -entry.key, emogi_weight(lists->weights, type, e));
			if (latest >= node->value && latest > node->latest &&
				!note_latest(ranking, u, latest, keep))
				return false;
		}
	}
	return true;
}

/* ---- the path ---- */

/* Return true if a vertex reached at a distance is in time for a path of a length. */
static bool
is_in_time(EmogiYen *ranking, Clock clock, uint32_t vertex, double value, double length)
{
	const uint64_t kept = clock == BY_KEPT ? emogi_yen_state(ranking, vertex)->kept : 0;

	switch (clock)
	{
		case BY_BOUNDS:
			return emogi_yen_add(value, emogi_yen_bound_within(ranking, vertex, value, length)) <=
				length;
		case BY_KEPT:
			return kept != 0 && value <= emogi_yen_value(kept);
		case BY_SEARCH:
			break;
	}
	return value <= emogi_yen_spur_node(ranking, vertex)->latest;
}

/* Advance to a vertex. */
static bool
push_step(EmogiYen *ranking, uint32_t vertex, double value)
{
	const EmogiListRange list = emogi_yen_list(ranking, true, vertex);

	if (emogi_yen_count_scanned(ranking, list.end - list.first + 1) ||
		!emogi_yen_reserve(ranking, (void **) &ranking->steps, &ranking->steps_room,
						   ranking->nsteps + 1, sizeof *ranking->steps))
		return false;
	emogi_yen_spur_node(ranking, vertex)->on_path = true;
	ranking->steps[ranking->nsteps++] = (EmogiSpurStep) {value, list.first, vertex};
	return true;
}

/* Backtrack from the last vertex. */
static void
pop_step(EmogiYen *ranking)
{
	const EmogiSpurStep *step = &ranking->steps[--ranking->nsteps];
	EmogiSpurNode *node = emogi_yen_spur_node(ranking, step->vertex);

	node->on_path = false;
	node->dead = step->value < node->dead ? step->value : node->dead;
}

/* Return true if the path may continue with a vertex, as far as known. */
static bool
may_enter(EmogiYen *ranking, Clock clock, uint32_t vertex, double value, double length)
{
	const EmogiSpurNode *node = emogi_yen_spur_node(ranking, vertex);

	if (node->banned || node->on_path || !(value <= length) ||
		(ranking->nsteps == 1 && node->excluded))
		return false;
	return vertex == ranking->target ||
		(value < node->dead && is_in_time(ranking, clock, vertex, value, length));
}

/*
 * Extend the steps from the spur, the first one, to the target, with the vertices barred that may
 * not follow it; no step is left if there is no such path, or if the budget is spent.
 */
static bool
make_steps(EmogiYen *ranking, Clock clock, double length)
{
	const EmogiWeightType type = ranking->graph->weight_type;

	while (ranking->nsteps > 0 && ranking->steps[ranking->nsteps - 1].vertex != ranking->target)
	{
		EmogiSpurStep *step = &ranking->steps[ranking->nsteps - 1];
		const EmogiListRange list = emogi_yen_list(ranking, true, step->vertex);
		const EmogiAdjacency *lists = list.lists;
		const uint64_t e = step->entry++;
		double		value;

		if (clock == BY_BOUNDS && emogi_yen_is_spent(ranking))
		{
			ranking->nsteps = 0;
			break;
		}
		if (e == list.end)
		{
			pop_step(ranking);
			continue;
		}
		value = emogi_path_candidate(EMOGI_SSSP, step->value,
									 emogi_weight(lists->weights, type, e));
		if (emogi_yen_repeats(lists, list.first, e) || !(value < (double) INFINITY))
			continue;
		if (may_enter(ranking, clock, lists->targets[e], value, length) &&
			!push_step(ranking, lists->targets[e], value))
			return false;
		if (emogi_yen_poll_in_list(ranking, e))
			return false;
	}
	return true;
}

/*
 * Find the first path of a class no longer than `length`: the steps from the spur on; no steps =
 * there is no such path.
 */
static bool
find_steps(EmogiYen *ranking, const EmogiYenPath *path, const EmogiYenClass *class, Clock clock,
		   double length)
{
	bool		made;

	ranking->nsteps = 0;
	emogi_yen_bar(ranking, class, true);
	made = push_step(ranking, path->vertices[class->at], path->distance[class->at]) &&
		make_steps(ranking, clock, length);
	emogi_yen_bar(ranking, class, false);
	return made;
}

/* Store the path of the steps in the class. */
static bool
store_path(EmogiYen *ranking, const EmogiYenPath *path, EmogiYenClass *class)
{
	const uint64_t length = class->at + ranking->nsteps;
	uint64_t	vertices_room = 0;
	uint64_t	distance_room = 0;

	if (!emogi_yen_reserve(ranking, (void **) &class->vertices, &vertices_room, length,
						   sizeof *class->vertices) ||
		!emogi_yen_reserve(ranking, (void **) &class->distance, &distance_room, length,
						   sizeof *class->distance))
		return false;
	class->length = length;
	memcpy(class->vertices, path->vertices, class->at * sizeof *class->vertices);
	memcpy(class->distance, path->distance, class->at * sizeof *class->distance);
	for (uint64_t i = 0; i < ranking->nsteps; i++)
	{
		class->vertices[class->at + i] = ranking->steps[i].vertex;
		class->distance[class->at + i] = ranking->steps[i].value;
	}
	class->key = class->distance[length - 1];
	class->next = class->vertices[class->at + 1];
	class->is_open = false;
	return true;
}

/* Search a path of a class with known latest distances; no steps if there is none. */
static bool
find_known(EmogiYen *ranking, const EmogiYenPath *path, const EmogiYenClass *class, double *length)
{
	ranking->nsteps = 0;
	*length = ranking->is_exact ? class->key : ranking->first_distance;
	if (!ranking->is_exact && (!ranking->has_kept || class->key > ranking->first_distance))
	{
		*length = -1.0;
		return true;
	}
	emogi_yen_spur_enter(ranking, path, class->at);
	return find_steps(ranking, path, class, ranking->is_exact ? BY_BOUNDS : BY_KEPT, *length);
}

bool
emogi_yen_spur_find(EmogiYen *ranking, const EmogiYenPath *path, EmogiYenClass *class,
					double allowed, EmogiSpurOutcome *outcome)
{
	const bool	is_first = ranking->npaths == 1;
	double		length;

	*outcome = EMOGI_SPUR_FOUND;
	ranking->scan_limit = is_first ? UINT64_MAX : ranking->nscanned + ranking->budget;
	if (!find_known(ranking, path, class, &length))
		return false;
	if (ranking->nsteps > 0)
		return store_path(ranking, path, class);
	if (length >= allowed && !emogi_yen_is_spent(ranking))
	{
		*outcome = EMOGI_SPUR_LATER;
		emogi_yen_raise_key(class, nextafter(length, (double) INFINITY));
		return true;
	}
	if (!find_length(ranking, path, class, allowed, &length, outcome))
		return false;
	if (*outcome != EMOGI_SPUR_FOUND)
		return true;
	ranking->has_kept |= is_first && !ranking->is_exact;
	if (!find_latest(ranking, length, is_first && !ranking->is_exact))
		return false;
	emogi_yen_spur_node(ranking, path->vertices[class->at])->banned = false;
	if (!find_steps(ranking, path, class, BY_SEARCH, length))
		return false;
	if (ranking->nsteps > 0)
		return store_path(ranking, path, class);
	*outcome = EMOGI_SPUR_NONE;
	return true;
}
