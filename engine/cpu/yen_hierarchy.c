/*
 * yen_hierarchy.c: the distance from a vertex to the target of a k-shortest-paths query, by a
 * contraction hierarchy.
 *
 * A shortest path leads up to some vertex and down from there. One search goes up from the target,
 * against the arcs that lead down to it. The distance of a vertex is the minimum of the distance
 * found by that search and of arc weight + distance over the vertices to which its arcs lead up. It
 * is computed on demand and memoized [1]: a query asks for few vertices, whose upward paths are
 * nearly the same.
 *
 * Here the labels of yen_parts.h are indexed by rank, not by vertex: backward is that of the search
 * from the target, forward the memoized distance.
 *
 * [1] B. Strasser, T. Zeitz. A fast and tight heuristic for A* in road networks. SEA 2021 (lazy
 *     RPHAST).
 */
#include "cpu/yen_parts.h"

/* Offer a vertex, given by rank, a downward distance to the target. */
static bool
offer(EmogiYen *ranking, uint32_t rank, double value)
{
	EmogiYenLabels *labels = &emogi_yen_state(ranking, rank)->labels;

	if (labels->backward != 0 && labels->backward <= emogi_yen_bits(value))
		return true;
	labels->backward = emogi_yen_bits(value);
	return emogi_yen_push(ranking, &ranking->backward, (EmogiYenEntry) {value, value, rank});
}

/* Search up from the target. */
static bool
search_up(EmogiYen *ranking)
{
	const int	side = ranking->reversed ? 0 : 1;
	const uint64_t *firsts = emogi_contraction_firsts(ranking->made, side);
	const EmogiArc *arcs = emogi_contraction_arcs(ranking->made, side);

	if (!offer(ranking, emogi_contraction_ranks(ranking->made)[ranking->target], 0.0))
		return false;
	while (ranking->backward.count > 0)
	{
		const EmogiYenEntry entry = emogi_yen_pop(&ranking->backward);

		if (emogi_yen_labels(ranking, entry.vertex).backward != emogi_yen_bits(entry.value))
			continue;
		if (emogi_yen_count_scanned(ranking, firsts[entry.vertex + 1] - firsts[entry.vertex] + 1))
			return false;
		for (uint64_t i = firsts[entry.vertex]; i < firsts[entry.vertex + 1]; i++)
			if (arcs[i].weight < (double) INFINITY &&
				!offer(ranking, arcs[i].to, emogi_yen_add(entry.value, arcs[i].weight)))
				return false;
	}
	return true;
}

/*
 * Compute the distance of a vertex from those above it; push the ones whose distance is not known
 * yet onto the stack. False if out of memory.
 */
static bool
compute_distance(EmogiYen *ranking, uint32_t rank)
{
	const int	side = ranking->reversed ? 1 : 0;
	const uint64_t *firsts = emogi_contraction_firsts(ranking->made, side);
	const EmogiArc *arcs = emogi_contraction_arcs(ranking->made, side);
	EmogiYenLabels *labels = &emogi_yen_state(ranking, rank)->labels;
	double		distance = emogi_yen_value(labels->backward);
	bool		known = true;

	ranking->nscanned += firsts[rank + 1] - firsts[rank];
	for (uint64_t i = firsts[rank]; i < firsts[rank + 1]; i++)
	{
		const uint64_t above = emogi_yen_labels(ranking, arcs[i].to).forward;
		double		value;

		if (above == 0)
		{
			known = false;
			if (!emogi_yen_reserve(ranking, (void **) &ranking->climb, &ranking->climb_room,
								   ranking->nclimb + 1, sizeof *ranking->climb))
				return false;
			ranking->climb[ranking->nclimb++] = arcs[i].to;
			continue;
		}
		value = emogi_yen_add(arcs[i].weight, emogi_yen_value(above));
		distance = value < distance ? value : distance;
	}
	if (known)
	{
			labels->forward = emogi_yen_bits(distance);
	}
	return true;
}

double
emogi_yen_hierarchy_bound(EmogiYen *ranking, uint32_t vertex)
{
	const uint32_t rank = emogi_contraction_ranks(ranking->made)[vertex];

	if (emogi_yen_labels(ranking, rank).forward != 0)
		return emogi_yen_value(emogi_yen_labels(ranking, rank).forward);
	ranking->nclimb = 0;
	if (!compute_distance(ranking, rank))
		return 0.0;
	while (ranking->nclimb > 0)
	{
		const uint64_t top = ranking->nclimb - 1;

		if (emogi_yen_labels(ranking, ranking->climb[top]).forward != 0)
			ranking->nclimb--;
		else if (!compute_distance(ranking, ranking->climb[top]))
			return 0.0;
	}
	if (!compute_distance(ranking, rank))
		return 0.0;
	return emogi_yen_value(emogi_yen_labels(ranking, rank).forward);
}

bool
emogi_yen_hierarchy_begin(EmogiYen *ranking)
{
	if (!search_up(ranking))
		return false;
	ranking->limit = emogi_yen_hierarchy_bound(ranking, ranking->source);
	return ranking->job.status == EMOGI_OK && ranking->limit < (double) INFINITY;
}
