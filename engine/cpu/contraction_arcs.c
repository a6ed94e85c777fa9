/*
 * contraction_arcs.c: the arcs of a hierarchy under construction, and their final packed block.
 *
 * Each arc is in two lists, the out-list of one endpoint and the in-list of the other, with the
 * same weight and alternatives. A full list moves to the end of the pool. The lists of a contracted
 * vertex stay as they are: they lead to vertices contracted later, and are its arcs of the
 * hierarchy.
 */
#include "contraction_parts.h"

#include "contract/semirings.h"

#include <stdlib.h>
#include <string.h>

#define SPARE_ROOM 2			/* initial room of a list, arcs */
#define MIN_ROOM 4096

/*
 * Enlarge an array for `more` elements; false, with the job failed or given up, if that is
 * impossible.
 */
static bool
reserve(EmogiContractionBuild *work, void **array, uint64_t count, uint64_t *room, uint64_t more,
		size_t bytes)
{
	uint64_t	wanted = *room + *room / 2 + MIN_ROOM;
	void	   *larger = NULL;

	if (count + more <= *room)
		return true;
	if (wanted < count + more)
		wanted = count + more;
	if (wanted * bytes > work->max_bytes)
	{
		work->gave_up = true;
		return false;
	}
	if (emogi_job_may_allocate(&work->job))
		larger = realloc(*array, wanted * bytes);
	if (larger == NULL)
	{
		emogi_job_fail(&work->job, EMOGI_NO_MEMORY);
		return false;
	}
	*array = larger;
	*room = wanted;
	return true;
}

/* Find the arc of a list that leads to, or comes from, a vertex; NULL if there is none. */
static EmogiArc *
find_arc(const EmogiContractionBuild *work, int side, uint32_t v, uint32_t other)
{
	EmogiArc   *arcs = emogi_contraction_make_arcs(work, side, v);

	for (uint32_t i = 0; i < work->lists[side][v].count; i++)
		if (arcs[i].to == other)
			return &arcs[i];
	return NULL;
}

/* Append an arc to a list. */
static bool
append(EmogiContractionBuild *work, int side, uint32_t v, EmogiArc arc)
{
	EmogiArcList *list = &work->lists[side][v];

	if (list->count == EMOGI_CONTRACTION_MAX_NEIGHBORS)
	{
		work->gave_up = true;
		return false;
	}
	if (list->count == list->room)
	{
		const uint32_t room = list->room * 2 + SPARE_ROOM;

		if (!reserve(work, (void **) &work->pool, work->pool_end, &work->pool_room, room,
					 sizeof(EmogiArc)))
			return false;
		memcpy(work->pool + work->pool_end, work->pool + list->first,
			   list->count * sizeof(EmogiArc));
		list->first = work->pool_end;
		list->room = room;
		work->pool_end += room;
	}
	work->pool[list->first + list->count++] = arc;
	return true;
}

/* Add an alternative, equal but for rounding, to an arc; *ways: the arc's new `over`. */
static bool
add_way(EmogiContractionBuild *work, const EmogiArc *arc, uint32_t over, double weight,
		uint32_t *ways)
{
	uint32_t	next = arc->over & ~EMOGI_ARC_ALTERNATIVES;

	if (!reserve(work, (void **) &work->ways, work->nways, &work->way_room, 2,
				 sizeof(EmogiArcAlternative)))
		return false;
	if ((arc->over & EMOGI_ARC_ALTERNATIVES) == 0)
	{
		work->ways[work->nways] = (EmogiArcAlternative) {arc->weight, arc->over,
														 EMOGI_NO_ALTERNATIVE};
		next = (uint32_t) work->nways++;
	}
	work->ways[work->nways] = (EmogiArcAlternative) {weight, over, next};
	*ways = EMOGI_ARC_ALTERNATIVES | (uint32_t) work->nways++;
	return work->nways < EMOGI_ARC_OWN;
}

/*
 * Add an arc, or an alternative to an existing arc. An alternative that is longer by more than the
 * tolerance is dropped, whichever of the two it is.
 */
bool
emogi_contraction_make_add(EmogiContractionBuild *work, uint32_t from, uint32_t to, uint32_t over,
						   double weight)
{
	EmogiArc   *arc = find_arc(work, 0, from, to);
	EmogiArc   *twin;

	if (arc == NULL)
	{
		work->narcs++;
		return append(work, 0, from, (EmogiArc) {weight, to, over}) &&
			append(work, 1, to, (EmogiArc) {weight, from, over});
	}
	if (weight > arc->weight + work->tolerance)
		return true;
	twin = find_arc(work, 1, to, from);
	if (weight >= arc->weight - work->tolerance && !add_way(work, arc, over, weight, &over))
		return false;
	arc->weight = twin->weight = weight < arc->weight ? weight : arc->weight;
	arc->over = twin->over = over;
	return true;
}

/* Remove a vertex from the lists of its neighbors. */
void
emogi_contraction_make_remove(EmogiContractionBuild *work, uint32_t v)
{
	for (int side = 0; side < 2; side++)
	{
		const EmogiArc *arcs = emogi_contraction_make_arcs(work, side, v);

		for (uint32_t i = 0; i < work->lists[side][v].count; i++)
		{
			EmogiArc   *arc = find_arc(work, 1 - side, arcs[i].to, v);
			EmogiArcList *list = &work->lists[1 - side][arcs[i].to];

			*arc = work->pool[list->first + --list->count];
			work->narcs--;
		}
	}
}

/* Place the lists in the pool, each with room for its edges and SPARE_ROOM more. */
static bool
place_lists(EmogiContractionBuild *work, const EmogiGraph *graph)
{
	uint64_t	end = 0;

	for (uint64_t v = 0; v < work->nvertices; v++)
		for (int side = 0; side < 2; side++)
		{
			const uint64_t *offsets = (side == 0 ? graph->forward : graph->backward).offsets;

			work->lists[side][v] = (EmogiArcList) {.first = end,
				.room = (uint32_t) (offsets[v + 1] - offsets[v]) + SPARE_ROOM};
			end += work->lists[side][v].room;
		}
	if (!reserve(work, (void **) &work->pool, 0, &work->pool_room, end + end / 2, sizeof(EmogiArc)))
		return false;
	work->pool_end = end;
	return true;
}

/*
 * Convert the edges of a graph to arcs: of parallel edges the lightest, and no loops. Adjacency
 * lists are sorted by (target, weight).
 */
bool
emogi_contraction_make_read(EmogiContractionBuild *work, const EmogiGraph *graph)
{
	if (!place_lists(work, graph))
		return false;
	for (uint64_t v = 0; v < work->nvertices; v++)
		for (int side = 0; side < 2; side++)
		{
			const EmogiAdjacency *lists = side == 0 ? &graph->forward : &graph->backward;
			EmogiArcList *list = &work->lists[side][v];

			work->gave_up |= lists->offsets[v + 1] - lists->offsets[v] >
				EMOGI_CONTRACTION_MAX_NEIGHBORS;
			for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
			{
				const double weight = emogi_weight(lists->weights, graph->weight_type, e);

				if (lists->targets[e] == v || !(weight < (double) INFINITY) ||
					(e > lists->offsets[v] && lists->targets[e - 1] == lists->targets[e]))
					continue;
				work->pool[list->first + list->count++] = (EmogiArc) {weight, lists->targets[e],
					EMOGI_ARC_OWN};
				work->narcs += side == 0;
			}
		}
	return !work->gave_up;
}

/* Map an arc's `over` from vertices to ranks. */
static uint32_t
rank_over(uint32_t over, const uint32_t *ranks)
{
	return over == EMOGI_ARC_OWN || (over & EMOGI_ARC_ALTERNATIVES) != 0 ? over : ranks[over];
}

/*
 * Sort arcs by weight, because short arcs are the ones that stall a search at a vertex, and those
 * are tested first. Insertion sort suffices for their number.
 */
static void
sort_arcs(EmogiArc *arcs, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
	{
		const EmogiArc arc = arcs[i];
		uint32_t	j = i;

		for (; j > 0 && arc.weight < arcs[j - 1].weight; j--)
			arcs[j] = arcs[j - 1];
		arcs[j] = arc;
	}
}

/* Write the arcs of one side, by rank. */
static void
pack_arcs(const EmogiContractionBuild *work, const uint32_t *order, const uint32_t *ranks, int side,
		  uint64_t *firsts, EmogiArc *arcs)
{
	uint64_t	end = 0;

	for (uint64_t r = 0; r < work->nvertices; r++)
	{
		const EmogiArcList *list = &work->lists[side][order[r]];

		firsts[r] = end;
		for (uint32_t i = 0; i < list->count; i++)
		{
			const EmogiArc arc = work->pool[list->first + i];

			arcs[end++] = (EmogiArc) {arc.weight, ranks[arc.to], rank_over(arc.over, ranks)};
		}
		sort_arcs(arcs + firsts[r], list->count);
	}
	firsts[work->nvertices] = end;
}

/*
 * Make the block of the hierarchy; NULL, with the job failed, if out of memory. order: [nvertices],
 * the vertices by rank.
 */
EmogiContraction *
emogi_contraction_make_pack(EmogiContractionBuild *work, const uint32_t *order)
{
	const uint64_t n = work->nvertices;
	EmogiContraction head = {.nvertices = n, .nways = work->nways, .tolerance = work->tolerance,
		.bytes = sizeof head};
	uint64_t	narcs[2] = {0};
	EmogiContraction *made = NULL;
	uint32_t   *ranks;

	for (uint64_t v = 0; v < n; v++)
		for (int side = 0; side < 2; side++)
			narcs[side] += work->lists[side][v].count;
	head.narcs = narcs[0] + narcs[1];
	for (int side = 0; side < 2; side++)
	{
		head.arcs[side] = head.bytes;
		head.bytes += narcs[side] * sizeof(EmogiArc);
		head.firsts[side] = head.bytes;
		head.bytes += (n + 1) * sizeof(uint64_t);
	}
	head.ways = head.bytes;
	head.bytes += work->nways * sizeof(EmogiArcAlternative);
	head.ranks = head.bytes;
	head.vertices = head.bytes + n * sizeof(uint32_t);
	head.bytes += 2 * n * sizeof(uint32_t);
	if (emogi_job_may_allocate(&work->job))
		made = malloc(head.bytes);
	if (made == NULL)
	{
		emogi_job_fail(&work->job, EMOGI_NO_MEMORY);
		return NULL;
	}
	*made = head;
	ranks = (uint32_t *) emogi_contraction_ranks(made);
	for (uint64_t r = 0; r < n; r++)
		ranks[order[r]] = (uint32_t) r;
	memcpy((uint32_t *) emogi_contraction_vertices(made), order, n * sizeof(uint32_t));
	for (int side = 0; side < 2; side++)
		pack_arcs(work, order, ranks, side, (uint64_t *) emogi_contraction_firsts(made, side),
				  (EmogiArc *) emogi_contraction_arcs(made, side));
	for (uint64_t i = 0; i < work->nways; i++)
		((EmogiArcAlternative *) emogi_contraction_alternatives(made))[i] =
			(EmogiArcAlternative) {work->ways[i].weight, rank_over(work->ways[i].over, ranks),
			work->ways[i].next};
	return made;
}

void
emogi_contraction_make_free(EmogiContractionBuild *work)
{
	free(work->lists[0]);
	free(work->lists[1]);
	free(work->pool);
	free(work->ways);
	free(work->nodes);
	free(work->heap);
}
