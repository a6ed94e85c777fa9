/*
 * yen_bounds.c: lower bounds of the distance from a vertex to the target of a ranking
 *
 * Two searches, from both endpoints, run until they have met for good [1]. Neither continues beyond
 * the other's endpoint, because a simple path does not. The one from the source ends there: its
 * labels, and its radius for vertices that it has not reached, are lower bounds of the distance
 * from the source. The one from the target then continues on demand as an A* search with these
 * bounds [2]: it settles vertices in the order of the shortest path between the endpoints through
 * them. So all settled vertices are on paths no longer than the frontier, and the frontier is a
 * lower bound for all others. A ranking of paths of nearly the minimum distance settles a slim
 * ellipse between the endpoints, and no more.
 *
 * A path may be far longer than the shortest one, for example the second one between the endpoints
 * of an edge. Then the search from the source has met the other early, and its small radius leaves
 * all the work to the search from the target. So it continues beside that search, at the same cost,
 * once the frontier is LONG_WAYS times the minimum distance. As the radius grows, so do the bounds
 * of vertices in the queue of the other search; they are updated when they are reached. All bounds
 * stay consistent, so settled vertices stay settled. The search from the source ends after a share
 * of all edges: beyond that it would reach nearly the whole graph, and its bounds would cost more
 * than they save.
 *
 * A vertex that the search from the source has not reached follows one that it has not settled, so
 * it is farther away than the radius by at least the minimum weight. That is known without weights:
 * 1. It saves a level of each search, and the last level is most of the cost in graphs of short
 * paths.
 *
 * In such graphs, the next level from the source may be smaller than that from the target. After
 * the first path, the search with fewer queued vertices takes it: paths longer by an edge need one
 * more level of one of them.
 *
 * With rounded sums, all of this holds except for rounding. The bound from the source is exact:
 * labels are the minimum sums in SSSP's arithmetic, which is monotone, and unsettled vertices are
 * no nearer than the radius. Along an edge it grows by at most the weight, rounded once. So the
 * frontier exceeds the sum of a path over unsettled vertices by a factor of at most 1 + 2^-53 for
 * each of its edges, and of each addition of a key; and the labels of settled vertices are as
 * exact. The slack is 16 times as large.
 *
 * Sums from the target differ by rounding from those of the paths, which are added up from the
 * source. Comparisons allow for it (slack).
 *
 * [1] I. Pohl. Bi-directional search. Machine Intelligence 6, 1971.
 *
 * [2] P. Hart, N. Nilsson, B. Raphael. A formal basis for the heuristic determination of minimum
 * cost paths. IEEE SSC 4(2), 1968.
 */
#include "cpu/yen_parts.h"

#include <stdlib.h>

#define LONG_WAYS 1.5
/* the search from the source scans at most 1 / WIDEN_SHARE of all edges */
#define WIDEN_SHARE 8
/* minimum growth factor of the radius, because each growth updates the queue */
#define RADIUS_STEP 1.25
/* without weights, up to this radius a level is most of the cost of those before it */
#define SHORT_RADIUS 4.0

/* Get a lower bound of a vertex's distance from the source. */
static inline double
bound_from_source(const EmogiYen *ranking, uint32_t vertex)
{
	const double label = emogi_yen_value(emogi_yen_labels(ranking, vertex).forward);
	const double unreached = ranking->radius + ranking->min_weight;

	return label < unreached ? label : unreached;
}

/* ---- bidirectional search ---- */

/* Relax a vertex in the search from one endpoint. */
static bool
relax(EmogiYen *ranking, bool forward, uint32_t vertex, double value)
{
	EmogiYenLabels *labels = &emogi_yen_state(ranking, vertex)->labels;
	const uint64_t bits = emogi_yen_bits(value);
	uint64_t   *mine = forward ? &labels->forward : &labels->backward;
	const uint64_t other = forward ? labels->backward : labels->forward;

	if (*mine != 0 && *mine <= bits)
		return true;
	*mine = bits;
	if (other != 0 && emogi_yen_add(value, emogi_yen_value(other)) < ranking->limit)
		ranking->limit = emogi_yen_add(value, emogi_yen_value(other));
	return emogi_yen_push(ranking, forward ? &ranking->forward : &ranking->backward,
						  (EmogiYenEntry) {value, value, vertex});
}

/* Settle the nearest vertex of the search from one endpoint. */
static bool
settle_end(EmogiYen *ranking, bool forward)
{
	const EmogiYenEntry entry = emogi_yen_pop(forward ? &ranking->forward : &ranking->backward);
	const EmogiListRange list = emogi_yen_list(ranking, forward, entry.vertex);
	const EmogiAdjacency *lists = list.lists;
	const EmogiWeightType type = ranking->graph->weight_type;
	const EmogiYenLabels labels = emogi_yen_labels(ranking, entry.vertex);

	if ((forward ? labels.forward : labels.backward) != emogi_yen_bits(entry.value))
		return true;
	if (entry.vertex == (forward ? ranking->target : ranking->source))
		return true;			/* no path continues from there, or leads there */
	if (emogi_yen_count_scanned(ranking, list.end - list.first))
		return false;
	for (uint64_t e = list.first; e < list.end; e++)
	{
		const double weight = emogi_weight(lists->weights, type, e);

		if (weight < (double) INFINITY &&
			!relax(ranking, forward, lists->targets[e], emogi_yen_add(entry.value, weight)))
			return false;
	}
	return true;
}

/* Get the minimum key of a queue. */
static inline double
nearest(const EmogiYenQueue *queue)
{
	return queue->count > 0 ? queue->entries[0].key : (double) INFINITY;
}

/* Search from both endpoints, until no path can be shorter than the one found. */
static bool
meet(EmogiYen *ranking)
{
	uint64_t	nscanned[2] = {0, 0};

	ranking->limit = (double) INFINITY;
	if (!relax(ranking, true, ranking->source, 0.0) || !relax(ranking, false, ranking->target, 0.0))
		return false;
	while (ranking->forward.count > 0 && ranking->backward.count > 0 &&
		   !(emogi_yen_add(nearest(&ranking->forward), nearest(&ranking->backward)) +
			 ranking->min_weight >= ranking->limit))
	{
		const bool	forward = nscanned[1] <= nscanned[0];
		const uint64_t before = ranking->nscanned;

		if (!settle_end(ranking, forward))
			return false;
		nscanned[forward] += ranking->nscanned - before + 1;
	}
	ranking->radius = nearest(&ranking->forward);
	return true;
}

/* ---- search from the target ---- */

/* Update the frontier. */
static void
look_ahead(EmogiYen *ranking)
{
	const double key = nearest(&ranking->backward);

	if (key > ranking->frontier)
		ranking->frontier = key;
}

/* Rebuild the queue of the search from the target, with bounds of whole paths as keys. */
static bool
turn_to_source(EmogiYen *ranking)
{
	EmogiYenQueue before = ranking->backward;
	bool		fine = true;

	ranking->backward = (EmogiYenQueue) {0};
	for (uint64_t i = 0; fine && i < before.count; i++)
	{
		const EmogiYenEntry entry = before.entries[i];

		if (emogi_yen_labels(ranking, entry.vertex).backward == emogi_yen_bits(entry.value))
			fine = emogi_yen_push(ranking, &ranking->backward,
								  (EmogiYenEntry) {emogi_yen_add(entry.value,
																 bound_from_source(ranking,
																				   entry.vertex)),
												   entry.value, entry.vertex});
	}
	ranking->bytes -= before.room * sizeof *before.entries;
	free(before.entries);
	ranking->frontier = 0.0;
	look_ahead(ranking);
	return fine;
}

bool
emogi_yen_bounds_begin(EmogiYen *ranking)
{
	if (ranking->made != NULL)
		return emogi_yen_hierarchy_begin(ranking);
	return meet(ranking) && ranking->limit < (double) INFINITY && turn_to_source(ranking);
}

/* Relax a vertex in the search from the target. */
static bool
relax_to_target(EmogiYen *ranking, uint32_t vertex, double value)
{
	EmogiYenLabels *labels = &emogi_yen_state(ranking, vertex)->labels;
	const uint64_t bits = emogi_yen_bits(value);
	double		from_source;

	if (labels->backward != 0 && labels->backward <= bits)
		return true;
	from_source = bound_from_source(ranking, vertex);
	if (from_source == (double) INFINITY)
		return true;			/* no path leads here from the source */
	labels->backward = bits;
	return emogi_yen_push(ranking, &ranking->backward,
						  (EmogiYenEntry) {emogi_yen_add(value, from_source), value, vertex});
}

/*
 * Settle the next vertex of the search from the target, which must exist, or requeue it with its
 * current bound.
 */
static bool
settle(EmogiYen *ranking)
{
	const EmogiYenEntry entry = emogi_yen_pop(&ranking->backward);
	const EmogiListRange list = emogi_yen_list(ranking, false, entry.vertex);
	const EmogiAdjacency *lists = list.lists;
	const EmogiWeightType type = ranking->graph->weight_type;
	const double key = emogi_yen_add(entry.value, bound_from_source(ranking, entry.vertex));

	if (emogi_yen_labels(ranking, entry.vertex).backward == emogi_yen_bits(entry.value) &&
		key < (double) INFINITY)
	{
		if (key > entry.key && key > nearest(&ranking->backward))
		{
			if (!emogi_yen_push(ranking, &ranking->backward,
								(EmogiYenEntry) {key, entry.value, entry.vertex}))
				return false;
			look_ahead(ranking);
			return true;
		}
		if (emogi_yen_count_scanned(ranking, list.end - list.first + 1))
			return false;
		for (uint64_t e = list.first; e < list.end && entry.vertex != ranking->source; e++)
		{
			const double weight = emogi_weight(lists->weights, type, e);

			if (weight < (double) INFINITY &&
				!relax_to_target(ranking, lists->targets[e], emogi_yen_add(entry.value, weight)))
				return false;
		}
	}
	look_ahead(ranking);
	return true;
}

/* Settle the next vertex of the search from the source, and increase its radius if that pays. */
static bool
widen(EmogiYen *ranking)
{
	double		radius;

	if (!settle_end(ranking, true))
		return false;
	radius = nearest(&ranking->forward);
	if (radius >= ranking->radius * RADIUS_STEP)
		ranking->radius = radius;
	return true;
}

/* Return true if the search from the source takes the next level, or is in the middle of it. */
static bool
takes_level(const EmogiYen *ranking)
{
	return ranking->is_widening ||
		(ranking->npaths > 1 && ranking->min_weight > 0.0 && ranking->radius <= SHORT_RADIUS &&
		 ranking->forward.count > 0 && ranking->forward.count < ranking->backward.count &&
		 ranking->scanned_from[1] <= ranking->graph->forward.nedges / WIDEN_SHARE);
}

/* Settle a vertex of the next level from the source. */
static bool
take_level(EmogiYen *ranking)
{
	const uint64_t before = ranking->nscanned;
	const double radius = ranking->radius;
	const bool	fine = widen(ranking);

	ranking->scanned_from[1] += ranking->nscanned - before + 1;
	ranking->is_widening = ranking->radius == radius && ranking->forward.count > 0;
	return fine;
}

/*
 * Continue the search from the target, or that from the source if it takes the next level, or if
 * paths are long and it has cost less since they became long.
 */
static bool
advance(EmogiYen *ranking)
{
	const uint64_t before = ranking->nscanned;
	const bool	is_long = ranking->forward.count > 0 &&
		ranking->frontier > LONG_WAYS * ranking->limit &&
		ranking->scanned_from[1] <= ranking->graph->forward.nedges / WIDEN_SHARE;
	const bool	forward = is_long && ranking->scanned_from[1] <= ranking->scanned_from[0];

	if (takes_level(ranking))
		return take_level(ranking);
	if (!(forward ? widen(ranking) : settle(ranking)))
		return false;
	if (is_long)
		ranking->scanned_from[forward] += ranking->nscanned - before + 1;
	return true;
}

/* Return true if the distance from a vertex to the target is final. */
static inline bool
is_settled(const EmogiYen *ranking, uint32_t vertex)
{
	const double label = emogi_yen_value(emogi_yen_labels(ranking, vertex).backward);

	return ranking->backward.count == 0 ||
		(label < (double) INFINITY &&
		 emogi_yen_add(label, bound_from_source(ranking, vertex)) <= ranking->frontier);
}

double
emogi_yen_bound(EmogiYen *ranking, uint32_t vertex)
{
	double		label;
	double		rest;

	if (ranking->made != NULL)
		return emogi_yen_hierarchy_bound(ranking, vertex);
	label = emogi_yen_value(emogi_yen_labels(ranking, vertex).backward);
	if (is_settled(ranking, vertex))
		return label;
	rest = ranking->frontier - bound_from_source(ranking, vertex);
	return rest > 0.0 ? rest < label ? rest : label : 0.0;
}

double
emogi_yen_bound_within(EmogiYen *ranking, uint32_t vertex, double value, double max_distance)
{
	while (ranking->made == NULL && !emogi_yen_is_spent(ranking) && !is_settled(ranking, vertex) &&
		   emogi_yen_add(value, emogi_yen_bound(ranking, vertex)) <= max_distance)
		if (!advance(ranking))
			break;
	return emogi_yen_bound(ranking, vertex);
}
