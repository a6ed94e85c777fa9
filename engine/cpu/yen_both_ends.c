/*
 * yen_both_ends.c: length of the shortest path of a class, by a search of its own from both ends
 *
 * The bounds of yen_bounds.c hold for all classes, so they know neither the prefix of a class nor
 * the vertices that may not follow it. They are too low if all short paths lead over these, as
 * between the endpoints of an edge, and an A* search with such bounds scans much of the graph.
 *
 * Method. Two searches, from the spur and from the target, avoid the prefix and meet [1]. They scan
 * few edges, and end at once if one side is a dead end. The search from the spur then continues as
 * an A* search [2], bounded by the labels of the other one, and by its radius for vertices that it
 * has not settled. It settles the vertices on all shortest paths, and few others. Distances from the
 * source are added up in the arithmetic of SSSP, so they are those of yen_spur.c.
 *
 * Sums from the target differ by rounding from those of the paths. Comparisons allow for it twice,
 * because a meeting is such a sum, and so is a bound that is compared with it.
 *
 * [1] I. Pohl. Bi-directional search. Machine Intelligence 6, 1971.
 *
 * [2] T. Ikeda et al. A fast algorithm for finding better routes by AI search techniques. VNIS 1994.
 */
#include "cpu/yen_parts.h"

/* edges that cost as much as settling a vertex */
#define VERTEX_EDGES 8

/* Get the minimum key of a queue; +inf = it is empty. */
static inline double
nearest(const EmogiYenQueue *queue)
{
	return queue->count > 0 ? queue->entries[0].key : (double) INFINITY;
}

/* Get the minimum distance of a vertex that a search has not reached: it follows a queued one. */
static inline double
unreached(const EmogiYen *ranking, const EmogiYenQueue *queue)
{
	return nearest(queue) + ranking->min_weight;
}

/* Get a lower bound of a vertex's distance to the target without the prefix. */
static inline double
bound_of(const EmogiYen *ranking, const EmogiSpurNode *node)
{
	const double radius = unreached(ranking, &ranking->reverse);

	return node->rest < radius ? node->rest : radius;
}

/*
 * Return true if a path of at least this length is not the shortest one. A vertex on no shorter path
 * is not queued, so its label may be too large, but then on such paths alone.
 */
static inline bool
is_too_long(const EmogiYen *ranking, double length)
{
	return length > ranking->meeting * ranking->slack * ranking->slack;
}

/* Note that both searches have reached a vertex. */
static inline void
note_meeting(EmogiYen *ranking, const EmogiSpurNode *node)
{
	const double length = emogi_yen_add(node->value, node->rest);

	if (length < ranking->meeting)
		ranking->meeting = length;
}

/* Relax a vertex in the search from the spur. by_bounds: this is the A* search. */
static bool
relax(EmogiYen *ranking, uint32_t vertex, double value, bool by_bounds)
{
	EmogiSpurNode *node = emogi_yen_spur_node(ranking, vertex);
	double		key;

	if (node->banned || !(value < node->value))
		return true;
	node->value = value;
	note_meeting(ranking, node);
	key = emogi_yen_add(value, bound_of(ranking, node));
	if (vertex == ranking->target || key == (double) INFINITY || is_too_long(ranking, key))
		return true;
	return emogi_yen_push(ranking, &ranking->queue,
						  (EmogiYenEntry) {by_bounds ? key : value, value, vertex});
}

/* Relax a vertex in the search from the target. */
static bool
relax_reverse(EmogiYen *ranking, uint32_t vertex, double rest)
{
	EmogiSpurNode *node = emogi_yen_spur_node(ranking, vertex);
	const double radius = unreached(ranking, &ranking->queue);

	if (node->banned || !(rest < node->rest))
		return true;
	node->rest = rest;
	note_meeting(ranking, node);
	if (is_too_long(ranking, emogi_yen_add(rest, node->value < radius ? node->value : radius)))
		return true;
	return emogi_yen_push(ranking, &ranking->reverse, (EmogiYenEntry) {rest, rest, vertex});
}

/* Relax the list of a vertex in the search from the spur. is_spur: skip barred vertices. */
static bool
relax_list(EmogiYen *ranking, uint32_t vertex, double value, bool by_bounds, bool is_spur)
{
	const EmogiListRange list = emogi_yen_list(ranking, true, vertex);
	const EmogiAdjacency *lists = list.lists;
	const EmogiWeightType type = ranking->graph->weight_type;

	if (emogi_yen_count_scanned(ranking, list.end - list.first + 1))
		return false;
	for (uint64_t e = list.first; e < list.end; e++)
	{
		const double next = emogi_path_candidate(EMOGI_SSSP, value,
												 emogi_weight(lists->weights, type, e));

		if (emogi_yen_repeats(lists, list.first, e) || !(next < (double) INFINITY) ||
			(is_spur && emogi_yen_is_excluded(ranking, lists->targets[e])))
			continue;
		if (!relax(ranking, lists->targets[e], next, by_bounds) ||
			emogi_yen_poll_in_list(ranking, e - list.first))
			return false;
	}
	return true;
}

/* Settle the next vertex of the search from the spur. */
static bool
settle(EmogiYen *ranking, bool by_bounds)
{
	const EmogiYenEntry entry = emogi_yen_pop(&ranking->queue);

	return emogi_yen_spur_node(ranking, entry.vertex)->value != entry.value ||
		relax_list(ranking, entry.vertex, entry.value, by_bounds, false);
}

/* Settle the next vertex of the search from the target. */
static bool
settle_reverse(EmogiYen *ranking)
{
	const EmogiYenEntry entry = emogi_yen_pop(&ranking->reverse);
	const EmogiListRange list = emogi_yen_list(ranking, false, entry.vertex);
	const EmogiAdjacency *lists = list.lists;
	const EmogiWeightType type = ranking->graph->weight_type;

	if (emogi_yen_spur_node(ranking, entry.vertex)->rest != entry.value)
		return true;
	if (emogi_yen_count_scanned(ranking, list.end - list.first + 1))
		return false;
	for (uint64_t e = list.first; e < list.end; e++)
	{
		const double weight = emogi_weight(lists->weights, type, e);

		if (emogi_yen_repeats(lists, list.first, e) || !(weight < (double) INFINITY))
			continue;
		if (!relax_reverse(ranking, lists->targets[e], emogi_yen_add(entry.value, weight)) ||
			emogi_yen_poll_in_list(ranking, e - list.first))
			return false;
	}
	return true;
}

/* Start both searches. */
static bool
enter(EmogiYen *ranking, const EmogiYenPath *path, const EmogiYenClass *class)
{
	bool		relaxed;

	ranking->queue.count = ranking->reverse.count = 0;
	ranking->meeting = (double) INFINITY;
	if (!relax_reverse(ranking, ranking->target, 0.0))
		return false;
	emogi_yen_bar(ranking, class, true);
	relaxed = relax_list(ranking, path->vertices[class->at], path->distance[class->at], false,
						 true);
	emogi_yen_bar(ranking, class, false);
	return relaxed;
}

/* Get a lower bound of paths that the searches have not found. */
static inline double
frontier(const EmogiYen *ranking)
{
	return emogi_yen_add(nearest(&ranking->queue), unreached(ranking, &ranking->reverse));
}

/* Search from both ends until no path can be shorter than the one found, or `allowed`. */
static bool
meet(EmogiYen *ranking, double allowed)
{
	uint64_t	cost[2] = {0, 0};

	while (ranking->queue.count > 0 && ranking->reverse.count > 0 &&
		   frontier(ranking) < ranking->meeting && !(frontier(ranking) > allowed * ranking->slack))
	{
		const bool	forward = cost[1] <= cost[0];
		const uint64_t before = ranking->nscanned;

		if (!(forward ? settle(ranking, false) : settle_reverse(ranking)))
			return false;
		cost[forward] += ranking->nscanned - before + VERTEX_EDGES;
	}
	return true;
}

/* Give the entries of the queue of the search from the spur their bounds of whole paths as keys. */
static bool
turn_to_target(EmogiYen *ranking)
{
	EmogiYenQueue *queue = &ranking->queue;
	const uint64_t count = queue->count;

	queue->count = 0;
	for (uint64_t i = 0; i < count; i++)
	{
		const EmogiYenEntry entry = queue->entries[i];
		const EmogiSpurNode *node = emogi_yen_spur_node(ranking, entry.vertex);
		const double key = emogi_yen_add(entry.value, bound_of(ranking, node));

		if (node->value == entry.value && key < (double) INFINITY && !is_too_long(ranking, key) &&
			!emogi_yen_push(ranking, queue, (EmogiYenEntry) {key, entry.value, entry.vertex}))
			return false;
	}
	return true;
}

/* Settle all vertices on paths as short as the shortest one. */
static bool
complete(EmogiYen *ranking)
{
	if (!turn_to_target(ranking))
		return false;
	while (ranking->queue.count > 0 && !is_too_long(ranking, nearest(&ranking->queue)))
		if (!settle(ranking, true))
			return false;
	return true;
}

bool
emogi_yen_both_ends_find(EmogiYen *ranking, const EmogiYenPath *path, EmogiYenClass *class,
						 double allowed, double *length, EmogiSpurOutcome *outcome)
{
	double		least;

	if (!enter(ranking, path, class) || !meet(ranking, allowed))
		return false;
	least = ranking->meeting < frontier(ranking) ? ranking->meeting : frontier(ranking);
	if (!(least > allowed * ranking->slack) && least < (double) INFINITY)
	{
		if (!complete(ranking))
			return false;
		*length = least = emogi_yen_spur_node(ranking, ranking->target)->value;
	}
	*outcome = least == (double) INFINITY ? EMOGI_SPUR_NONE :
		least <= allowed ? EMOGI_SPUR_FOUND : EMOGI_SPUR_LATER;
	if (*outcome == EMOGI_SPUR_LATER)
		emogi_yen_raise_key(class, emogi_yen_deflate(ranking, least));
	return true;
}
