/*
 * contraction_corridor.c: unpack the arcs of a hierarchy to edges of the graph: those of the
 * shortest path of an arc, and of all paths within a budget. contraction.c proves that no needed
 * edge is missing.
 */
#include "contraction_search.h"

#include <stdlib.h>

/*
 * maximum size of a corridor, some ten milliseconds of work; beyond it, searching all distances is
 * faster
 */
#define MAX_EDGES ((uint64_t) 1 << 17)
#define MIN_ITEMS 256
#define POLL 4096				/* arcs */
#define PREFETCH_DISTANCE 6		/* prefetch distance, arcs */

bool
emogi_contraction_reserve(EmogiJob *job, EmogiGrowingArray *array, uint64_t more, size_t bytes)
{
	uint64_t	room = array->room * 2 + MIN_ITEMS;
	void	   *larger = NULL;

	if (array->count + more <= array->room)
		return true;
	if (room < array->count + more)
		room = array->count + more;
	if (emogi_job_may_allocate(job))
		larger = realloc(array->items, room * bytes);
	if (larger == NULL)
	{
		emogi_job_fail(job, EMOGI_NO_MEMORY);
		return false;
	}
	array->items = larger;
	array->room = room;
	return true;
}

#define HASH_PREFIX unpacked
#define HASH_ENTRY EmogiUnpacked
#define HASH_STORED(unpacked) (unpacked)->arc
#define HASH_MIN_BITS 12
#include "containers/hash_table.h"

/* Make room for one more arc; false, with the job failed, if out of memory. */
static bool
reserve_unpacked(EmogiCorridor *corridor)
{
	const uint64_t count = corridor->nunpacked + 1;

	if (unpacked_fits(corridor->unpacked, corridor->bits, count) ||
		(emogi_job_may_allocate(corridor->job) &&
		 unpacked_grow(&corridor->unpacked, &corridor->bits, count)))
		return true;
	emogi_job_fail(corridor->job, EMOGI_NO_MEMORY);
	return false;
}

/* Get the middle vertex of an arc; EMOGI_ARC_OWN if it is an edge or has alternatives. */
static uint32_t
get_over(const EmogiContraction *made, EmogiUnpacking task)
{
	const uint32_t over = emogi_contraction_arcs(made, task.side)[task.arc].over;

	return (over & EMOGI_ARC_ALTERNATIVES) != 0 ? EMOGI_ARC_OWN : over;
}

/* Prefetch the arc offsets of an arc's middle vertex. */
static void
prefetch_firsts(const EmogiContraction *made, EmogiUnpacking task)
{
	const uint32_t over = get_over(made, task);

	for (int side = 0; side < 2 && over != EMOGI_ARC_OWN; side++)
		emogi_prefetch(&emogi_contraction_firsts(made, side)[over]);
}

/*
 * The recorded budget exceeds the requested one by the slack, so that the same arc is not unpacked
 * again for slightly larger budgets.
 */
bool
emogi_contraction_put(EmogiCorridor *corridor, int side, uint32_t low, uint64_t arc, double budget)
{
	EmogiUnpacked *unpacked;
	EmogiUnpacking *task;

	if (!reserve_unpacked(corridor) ||
		!emogi_contraction_reserve(corridor->job, &corridor->queue, 1, sizeof(EmogiUnpacking)))
		return false;
	unpacked = unpacked_find(corridor->unpacked, corridor->bits, 2 * arc + (uint64_t) side);
	if (unpacked->arc != 0 && unpacked->budget >= budget)
		return true;
	budget += corridor->slack;
	corridor->nunpacked += unpacked->arc == 0;
	*unpacked = (EmogiUnpacked) {2 * arc + (uint64_t) side + 1, budget};
	task = (EmogiUnpacking *) corridor->queue.items + corridor->queue.count++;
	*task = (EmogiUnpacking) {budget, arc, low, side};
	prefetch_firsts(corridor->made, *task);
	return true;
}

/* Find the arc between a vertex and a given higher one. */
static uint64_t
find_arc(const EmogiContraction *made, int side, uint32_t low, uint32_t high)
{
	const EmogiArc *arcs = emogi_contraction_arcs(made, side);
	uint64_t	i = emogi_contraction_firsts(made, side)[low];

	while (arcs[i].to != high)
		i++;
	return i;
}

/* Unpack one alternative of an arc. */
static bool
unpack_way(EmogiCorridor *corridor, uint32_t from, uint32_t to, uint32_t over, double weight,
		   double budget)
{
	const EmogiContraction *made = corridor->made;
	uint64_t	before,
				after;

	if (weight > budget)
		return true;
	if (over == EMOGI_ARC_OWN)
	{
		if (!emogi_contraction_reserve(corridor->job, &corridor->edges, 1,
									   sizeof(EmogiCorridorEdge)))
			return false;
		((EmogiCorridorEdge *) corridor->edges.items)[corridor->edges.count++] =
			(EmogiCorridorEdge) {weight, from, to};
		corridor->gave_up = corridor->edges.count > MAX_EDGES;
		return !corridor->gave_up;
	}
	before = find_arc(made, 1, over, from);
	after = find_arc(made, 0, over, to);
	return emogi_contraction_put(corridor, 1, over, before,
								 budget - emogi_contraction_arcs(made, 0)[after].weight) &&
		emogi_contraction_put(corridor, 0, over, after,
							  budget - emogi_contraction_arcs(made, 1)[before].weight);
}

/* Unpack all alternatives of an arc. */
static bool
unpack_ways(EmogiCorridor *corridor, EmogiUnpacking task)
{
	const EmogiArc *arc = &emogi_contraction_arcs(corridor->made, task.side)[task.arc];
	const EmogiArcAlternative *ways = emogi_contraction_alternatives(corridor->made);
	const uint32_t from = task.side == 0 ? task.low : arc->to;
	const uint32_t to = task.side == 0 ? arc->to : task.low;

	if (arc->over == EMOGI_ARC_OWN || (arc->over & EMOGI_ARC_ALTERNATIVES) == 0)
		return unpack_way(corridor, from, to, arc->over, arc->weight, task.budget);
	for (uint32_t i = arc->over & ~EMOGI_ARC_ALTERNATIVES; i != (EMOGI_NO_ALTERNATIVE);
		 i = ways[i].next)
		if (!unpack_way(corridor, from, to, ways[i].over, ways[i].weight, task.budget))
			return false;
	return true;
}

/*
 * Arcs are scattered over the hierarchy, so that most of the time goes into cache misses. The queue
 * order is known in advance, so that later arcs are prefetched while earlier ones are unpacked.
 */
bool
emogi_contraction_unpack(EmogiCorridor *corridor)
{
	for (uint64_t i = 0; i < corridor->queue.count; i++)
	{
		const EmogiUnpacking *tasks = corridor->queue.items;

		const uint32_t over = i + PREFETCH_DISTANCE < corridor->queue.count
			? get_over(corridor->made, tasks[i + PREFETCH_DISTANCE]) : EMOGI_ARC_OWN;

		if (over != EMOGI_ARC_OWN)
			emogi_contraction_prefetch(corridor->made, over);
		if (!unpack_ways(corridor, tasks[i]) ||
			(i % POLL == POLL - 1 && emogi_job_stopped(corridor->job)))
			return false;
	}
	corridor->queue.count = 0;
	return true;
}

void
emogi_contraction_reverse(EmogiCorridor *corridor)
{
	EmogiCorridorEdge *edges = corridor->edges.items;

	for (uint64_t i = 0; i < corridor->edges.count; i++)
		edges[i] = (EmogiCorridorEdge) {edges[i].weight, edges[i].to, edges[i].from};
}

void
emogi_contraction_free(EmogiCorridor *corridor)
{
	free(corridor->edges.items);
	free(corridor->queue.items);
	free(corridor->unpacked);
}
