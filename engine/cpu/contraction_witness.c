/*
 * contraction_witness.c: the shortcuts that contracting a vertex needs: those between neighbors for
 * which no other path, a witness, is shorter by more than the tolerance.
 *
 * Witnesses of two arcs are searched first: the first arc from one neighbor, the second arc
 * backward from the other. If a contraction is only being evaluated, these must suffice; if it is
 * performed and they do not suffice, a bounded Dijkstra search from the neighbor follows. A missed
 * witness costs an additional shortcut, but never correctness.
 */
#include "contraction_parts.h"

#include <math.h>

#define MAX_SETTLED 60			/* vertices */
/* if the remaining graph is dense, where needless shortcuts cost more */
#define MAX_SETTLED_LATE 400
#define POLL_SETTLED 65536		/* vertices between two polls */
#define LATE_ARCS 12			/* ... at the vertex where the search begins */

#define HEAP_PREFIX entry
#define HEAP_ELEMENT EmogiWitnessEntry
#define HEAP_BEFORE(heap, a, b) ((a).distance < (b).distance)
#include "containers/heap.h"

/*
 * Search from a vertex, avoiding another, up to a distance of `max`, until nwanted marked vertices
 * are settled; returns the largest settled distance.
 */
static double
search_around(EmogiContractionBuild *work, uint32_t source, uint32_t around, double max,
			  uint64_t max_settled, uint32_t nwanted)
{
	double		farthest = 0.0;

	work->heap_end = 0;
	work->nodes[source].distance = 0.0;
	work->nodes[source].search = work->search;
	entry_push(work->heap, &work->heap_end, (EmogiWitnessEntry) {0.0, source});
	for (uint64_t nsettled = 0; work->heap_end > 0 && nsettled < max_settled; nsettled++)
	{
		const EmogiWitnessEntry entry = entry_pop(work->heap, &work->heap_end);
		const EmogiArc *arcs = emogi_contraction_make_arcs(work, 0, entry.vertex);
		const uint32_t count = work->lists[0][entry.vertex].count;

		if (nsettled % POLL_SETTLED == POLL_SETTLED - 1 && emogi_contraction_make_stopped(work))
			break;
		if (entry.distance > work->nodes[entry.vertex].distance)
			continue;
		if (entry.distance >= max ||
			(work->nodes[entry.vertex].wanted == work->search && --nwanted == 0))
			break;
		farthest = entry.distance;
		work->work += count;
		for (uint32_t i = 0; i < count && work->heap_end < work->heap_room; i++)
		{
			const double distance = entry.distance + arcs[i].weight;
			EmogiWitnessNode *node = &work->nodes[arcs[i].to];

			if (arcs[i].to == around || distance >= max ||
				(node->search == work->search && node->distance <= distance))
				continue;
			node->distance = distance;
			node->search = work->search;
			entry_push(work->heap, &work->heap_end, (EmogiWitnessEntry) {distance, arcs[i].to});
		}
	}
	return farthest;
}

double
emogi_contraction_make_farthest(EmogiContractionBuild *work, uint32_t source)
{
	work->search++;
	return search_around(work, source, EMOGI_NO_VERTEX, (double) INFINITY, UINT64_MAX, 0);
}

/* Check whether the search has found a path to a vertex, avoiding another, shorter than `max`. */
static bool
has_witness(EmogiContractionBuild *work, uint32_t to, uint32_t around, double max)
{
	const EmogiArc *arcs = emogi_contraction_make_arcs(work, 1, to);
	const uint32_t count = work->lists[1][to].count;

	if (work->nodes[to].search == work->search && work->nodes[to].distance < max)
		return true;
	work->work += count;
	for (uint32_t i = 0; i < count; i++)
	{
		const EmogiWitnessNode *node = &work->nodes[arcs[i].to];

		if (node->search == work->search && node->distance + arcs[i].weight < max &&
			arcs[i].to != around)
			return true;
	}
	return false;
}

/* Set the distances of a vertex's neighbors, except for one vertex. */
static void
mark_neighbors(EmogiContractionBuild *work, uint32_t source, uint32_t around)
{
	const EmogiArc *arcs = emogi_contraction_make_arcs(work, 0, source);
	const uint32_t count = work->lists[0][source].count;

	work->work += count;
	for (uint32_t i = 0; i < count; i++)
	{
		EmogiWitnessNode *node = &work->nodes[arcs[i].to];

		if (arcs[i].to == around)
			continue;
		node->distance = arcs[i].weight;
		node->search = work->search;
	}
}

/* Check whether each path from a neighbor over v to another neighbor has a witness. */
static bool
have_witnesses(EmogiContractionBuild *work, EmogiArc from, uint32_t v)
{
	const EmogiArcList *out = &work->lists[0][v];

	for (uint32_t j = 0; j < out->count; j++)
	{
		const EmogiArc to = work->pool[out->first + j];

		if (to.to != from.to &&
			!has_witness(work, to.to, v, from.weight + to.weight - work->tolerance))
			return false;
	}
	return true;
}

/*
 * Search for witnesses from a neighbor of v to all others. False if no shortcut is needed, because
 * all have witnesses.
 */
static bool
search_from(EmogiContractionBuild *work, EmogiArc from, uint32_t v, bool adds)
{
	const EmogiArcList *out = &work->lists[0][v];
	double		longest = 0.0;
	uint32_t	nothers = 0;

	work->search++;
	mark_neighbors(work, from.to, v);
	if (!adds)
		return true;
	if (have_witnesses(work, from, v))
		return false;
	work->search++;
	for (uint32_t j = 0; j < out->count; j++)
	{
		const EmogiArc to = work->pool[out->first + j];

		if (to.to == from.to)
			continue;
		work->nodes[to.to].wanted = work->search;
		longest = to.weight > longest ? to.weight : longest;
		nothers++;
	}
	(void) search_around(work, from.to, v, from.weight + longest - work->tolerance,
						 work->lists[0][from.to].count > LATE_ARCS ? MAX_SETTLED_LATE
						 : MAX_SETTLED, nothers);
	return true;
}

bool
emogi_contraction_make_shortcuts(EmogiContractionBuild *work, uint32_t v, bool adds,
								 uint64_t *count)
{
	const EmogiArcList in = work->lists[1][v];
	const EmogiArcList out = work->lists[0][v];

	*count = 0;
	for (uint32_t i = 0; i < in.count; i++)
	{
		const EmogiArc from = work->pool[in.first + i];

		if (!search_from(work, from, v, adds))
			continue;
		for (uint32_t j = 0; j < out.count; j++)
		{
			const EmogiArc to = work->pool[out.first + j];
			const double weight = from.weight + to.weight;

			if (to.to == from.to || has_witness(work, to.to, v, weight - work->tolerance))
				continue;
			++*count;
			if (adds && weight < (double) INFINITY &&
				!emogi_contraction_make_add(work, from.to, to.to, v, weight))
				return false;
		}
	}
	return true;
}
