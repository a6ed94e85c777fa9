/*
 * yen_bounds.c: how far the target of a ranking is from a vertex, at least.
 *
 * Two searches, from both ends, go on until they have met for good [1]. The one from the source ends there: its labels, and its radius for
 * what it has not reached, bound from below what a vertex is away from the source. The one from the target then goes on as an A* search
 * with these bounds [2], as far as it is asked to: it settles vertices in the order of the shortest way between the ends that leads
 * over them. So all that is settled lies on ways that are no longer than the frontier, and the frontier bounds all others; a ranking of paths
 * of nearly the least distance has a slim ellipse between the ends settled, and no more.
 *
 * A path may be far longer than the shortest one: the next one between the ends of an edge, say. The search from the source has met the other early then, and
 * its small radius leaves all to the search from the target. So it goes on beside that, at the same cost, once the frontier is LONG_WAYS times the
 * least distance. As the radius grows, the bounds of vertices in the queue of the other search do, too; they are brought up to date when it comes to them.
 * All bounds stay consistent, so that what is settled is so for good. It ends after a share of all list entries: then it would meet nearly all that there is,
 * and its bounds cost more than they save.
 *
 * With sums that are rounded all of this holds but for rounding. The bound from the source is exact: labels are the least sums in SSSP's arithmetic, which
 * is monotone, and what is not settled is no nearer than the radius. Along an edge it grows by no more than the weight, rounded once. So the frontier exceeds
 * the sum of a way over what is not settled by a factor of less than 1 + 2^-53 for each edge of it, and of each addition of a key, at most; and labels that
 * count as settled are as exact. The slack is 16 times as large.
 *
 * Sums from the target on differ by rounding from those of the paths, which are added up from the source on. Who compares them allows for it (slack).
 *
 * [1] I. Pohl. Bi-directional search. Machine Intelligence 6, 1971.
 * [2] P. Hart, N. Nilsson, B. Raphael. A formal basis for the heuristic determination of minimum cost paths. IEEE SSC 4(2), 1968.
 */
#include "cpu/yen_parts.h"

#include <stdlib.h>

#define LONG_WAYS 1.5
#define WIDEN_SHARE 8			/* the search from the source goes on up to this share of all list entries */
#define RADIUS_STEP 1.25		/* the radius grows by this factor at least, as the queue is brought up to date then */

/* Get what a vertex is away from the source, at least. */
static inline double
bound_from_source(const EmogiYen *ranking, uint32_t vertex)
{
	const double label = emogi_yen_value(ranking->labels[vertex].forward);

	return label < ranking->radius ? label : ranking->radius;
}

/* ---- from both ends ---- */

/* Offer a vertex a label of the search from one end. */
static bool
offer(EmogiYen *ranking, bool forward, uint32_t vertex, double value)
{
	EmogiYenLabels *labels = &ranking->labels[vertex];
	const uint64_t bits = emogi_yen_bits(value);
	uint64_t   *mine = forward ? &labels->forward : &labels->backward;
	const uint64_t other = forward ? labels->backward : labels->forward;

	if (*mine != 0 && *mine <= bits)
		return true;
	ranking->nmet += *mine == 0 && other == 0;
	*mine = bits;
	if (other != 0 && emogi_yen_add(value, emogi_yen_value(other)) < ranking->limit)
		ranking->limit = emogi_yen_add(value, emogi_yen_value(other));
	return emogi_yen_push(ranking, forward ? &ranking->forward : &ranking->backward, (EmogiYenEntry) {value, value, vertex});
}

/* Settle the nearest vertex of the search from one end. */
static bool
settle_end(EmogiYen *ranking, bool forward)
{
	const EmogiYenEntry entry = emogi_yen_pop(forward ? &ranking->forward : &ranking->backward);
	const EmogiListRange list = emogi_yen_list(ranking, forward, entry.vertex);
	const EmogiAdjacency *lists = list.lists;
	const EmogiWeightType type = ranking->graph->weight_type;
	const EmogiYenLabels *labels = &ranking->labels[entry.vertex];

	if ((forward ? labels->forward : labels->backward) != emogi_yen_bits(entry.value))
		return true;
	if (forward && entry.vertex == ranking->target)
		return true;			/* no path goes on from there */
	if (emogi_yen_look(ranking, list.end - list.first))
		return false;
	for (uint64_t e = list.first; e < list.end; e++)
	{
		const double weight = emogi_weight(lists->weights, type, e);

		if (weight < (double) INFINITY && !offer(ranking, forward, lists->targets[e], emogi_yen_add(entry.value, weight)))
			return false;
	}
	return true;
}

/* Get the least key of a queue. */
static inline double
nearest(const EmogiYenQueue *queue)
{
	return queue->count > 0 ? queue->entries[0].key : (double) INFINITY;
}

/* Search from both ends, until there is no shorter way than one that was found. */
static bool
meet(EmogiYen *ranking)
{
	uint64_t	looked[2] = {0, 0};

	ranking->limit = (double) INFINITY;
	if (!offer(ranking, true, ranking->source, 0.0) || !offer(ranking, false, ranking->target, 0.0))
		return false;
	while (ranking->forward.count > 0 && ranking->backward.count > 0 &&
		   !(emogi_yen_add(nearest(&ranking->forward), nearest(&ranking->backward)) >= ranking->limit))
	{
		const bool	forward = looked[1] <= looked[0];
		const uint64_t before = ranking->looked;

		if (!settle_end(ranking, forward))
			return false;
		looked[forward] += ranking->looked - before + 1;
	}
	ranking->radius = nearest(&ranking->forward);
	return true;
}

/* ---- from the target on ---- */

/* Bring the frontier up to date. */
static void
look_ahead(EmogiYen *ranking)
{
	const double key = nearest(&ranking->backward);

	if (key > ranking->frontier)
		ranking->frontier = key;
}

/* Put all that the search from the target has in its queue there again, with bounds of the whole way. */
static bool
turn_to_source(EmogiYen *ranking)
{
	EmogiYenQueue before = ranking->backward;
	bool		fine = true;

	ranking->backward = (EmogiYenQueue) {0};
	for (uint64_t i = 0; fine && i < before.count; i++)
	{
		const EmogiYenEntry entry = before.entries[i];

		if (ranking->labels[entry.vertex].backward == emogi_yen_bits(entry.value))
			fine = emogi_yen_push(ranking, &ranking->backward, (EmogiYenEntry)
								   {emogi_yen_add(entry.value, bound_from_source(ranking, entry.vertex)), entry.value, entry.vertex});
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

/* Offer a vertex a way to the target. */
static bool
offer_way(EmogiYen *ranking, uint32_t vertex, double value)
{
	EmogiYenLabels *labels = &ranking->labels[vertex];
	const uint64_t bits = emogi_yen_bits(value);
	double		from_source;

	if (labels->backward != 0 && labels->backward <= bits)
		return true;
	from_source = bound_from_source(ranking, vertex);
	if (from_source == (double) INFINITY)
		return true;			/* no way leads here from the source */
	ranking->nmet += labels->forward == 0 && labels->backward == 0;
	labels->backward = bits;
	return emogi_yen_push(ranking, &ranking->backward, (EmogiYenEntry) {emogi_yen_add(value, from_source), value, vertex});
}

/* Settle the next vertex of the search from the target, which there is, or put it back with the bound that it has by now. */
static bool
settle(EmogiYen *ranking)
{
	const EmogiYenEntry entry = emogi_yen_pop(&ranking->backward);
	const EmogiListRange list = emogi_yen_list(ranking, false, entry.vertex);
	const EmogiAdjacency *lists = list.lists;
	const EmogiWeightType type = ranking->graph->weight_type;
	const double key = emogi_yen_add(entry.value, bound_from_source(ranking, entry.vertex));

	if (ranking->labels[entry.vertex].backward == emogi_yen_bits(entry.value) && key < (double) INFINITY)
	{
		if (key > entry.key && key > nearest(&ranking->backward))
		{
			if (!emogi_yen_push(ranking, &ranking->backward, (EmogiYenEntry) {key, entry.value, entry.vertex}))
				return false;
			look_ahead(ranking);
			return true;
		}
		if (emogi_yen_look(ranking, list.end - list.first + 1))
			return false;
		for (uint64_t e = list.first; e < list.end; e++)
		{
			const double weight = emogi_weight(lists->weights, type, e);

			if (weight < (double) INFINITY && !offer_way(ranking, lists->targets[e], emogi_yen_add(entry.value, weight)))
				return false;
		}
	}
	look_ahead(ranking);
	return true;
}

/* Settle the next vertex of the search from the source, and have its radius grow if that pays. */
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

/* Go on with the search from the target, or with that from the source, where ways are long and it has cost less since they were. */
static bool
advance(EmogiYen *ranking)
{
	const uint64_t before = ranking->looked;
	const bool	is_long = ranking->forward.count > 0 && ranking->frontier > LONG_WAYS * ranking->limit &&
		ranking->looked_on[1] <= ranking->graph->forward.nedges / WIDEN_SHARE;
	const bool	forward = is_long && ranking->looked_on[1] <= ranking->looked_on[0];

	if (!(forward ? widen(ranking) : settle(ranking)))
		return false;
	if (is_long)
		ranking->looked_on[forward] += ranking->looked - before + 1;
	return true;
}

/* Is what is known of the way from a vertex to the target all that there is to know? */
static inline bool
is_settled(const EmogiYen *ranking, uint32_t vertex)
{
	const double label = emogi_yen_value(ranking->labels[vertex].backward);

	return ranking->backward.count == 0 ||
		(label < (double) INFINITY && emogi_yen_add(label, bound_from_source(ranking, vertex)) <= ranking->frontier);
}

double
emogi_yen_bound(EmogiYen *ranking, uint32_t vertex)
{
	double		label;
	double		away;

	if (ranking->made != NULL)
		return emogi_yen_hierarchy_bound(ranking, vertex);
	label = emogi_yen_value(ranking->labels[vertex].backward);
	if (is_settled(ranking, vertex))
		return label;
	away = ranking->frontier - bound_from_source(ranking, vertex);
	return away > 0.0 ? away < label ? away : label : 0.0;
}

double
emogi_yen_bound_within(EmogiYen *ranking, uint32_t vertex, double value, double most)
{
	while (ranking->made == NULL && !is_settled(ranking, vertex) && emogi_yen_add(value, emogi_yen_bound(ranking, vertex)) <= most)
		if (!advance(ranking))
			break;
	return emogi_yen_bound(ranking, vertex);
}
