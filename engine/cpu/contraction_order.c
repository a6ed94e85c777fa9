/*
 * contraction_order.c: the ranks of a hierarchy's vertices.
 *
 * Arcs lead from lower to higher levels, so that any order of ascending levels is valid [1]. This
 * one places vertices that are accessed together side by side: within a level, vertices are sorted
 * by the lowest vertex to which arcs lead up from them, so that the vertices below one crossing are
 * adjacent.
 *
 * [1] D. Delling, A. V. Goldberg, A. Nowatzyk, R. F. Werneck. PHAST: hardware-accelerated shortest
 *     path trees. IPDPS 2011, 4.1.
 */
#include "contraction_parts.h"

#include <stdlib.h>

/* Compare numbers for qsort. */
static int
compare_places(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *) a;
	const uint64_t y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

/* Get the lowest rank to, or from, which an arc leads up; nvertices = none. */
static uint64_t
find_lowest(const EmogiContractionBuild *work, const uint32_t *ranks, uint32_t v)
{
	uint64_t	lowest = work->nvertices;

	for (int side = 0; side < 2; side++)
		for (uint32_t i = 0; i < work->lists[side][v].count; i++)
		{
			const uint32_t rank = ranks[emogi_contraction_make_arcs(work, side, v)[i].to];

			lowest = rank < lowest ? rank : lowest;
		}
	return lowest;
}

/*
 * Order the vertices of a level, places[0] .. places[count - 1]; first: the rank of the first one.
 */
static void
order_level(const EmogiContractionBuild *work, uint64_t *places, uint64_t count, uint64_t first,
			uint32_t *order, uint32_t *ranks)
{
	for (uint64_t i = 0; i < count; i++)
		places[i] |= find_lowest(work, ranks, (uint32_t) places[i]) << 32;
	qsort(places, count, sizeof *places, compare_places);
	for (uint64_t i = 0; i < count; i++)
	{
		order[first + i] = (uint32_t) places[i];
		ranks[(uint32_t) places[i]] = (uint32_t) (first + i);
	}
}

/*
 * Order vertices by rank. levels: [nvertices], below nvertices; a vertex's level is lower than
 * those of the vertices its arcs lead to. places, ranks: [nvertices], scratch; starts: [nvertices +
 * 1], zeroed.
 */
void
emogi_contraction_make_order(const EmogiContractionBuild *work, const uint32_t *levels,
							 uint32_t *order, uint64_t *places, uint32_t *ranks, uint64_t *starts)
{
	const uint64_t n = work->nvertices;

	for (uint64_t v = 0; v < n; v++)
		starts[levels[v] + 1]++;
	for (uint64_t level = 0; level < n; level++)
		starts[level + 1] += starts[level];
	for (uint64_t v = n; v-- > 0;)
		places[--starts[levels[v] + 1]] = v;	/* from here on, starts[level + 1] is where the
												 * level begins */
	for (uint64_t level = n; level-- > 0;)
	{
		const uint64_t first = starts[level + 1];
		const uint64_t end = level + 1 < n ? starts[level + 2] : n;

		order_level(work, places + first, end - first, first, order, ranks);
	}
}
