/*
 * ranges.c: how the pages of a table are divided.
 *
 * A range costs a statement, a fraction of a millisecond. So it has pages for some milliseconds at least, and there are several for each
 * connection: the last ones end at about the same time. A connection costs some 5 ms of a server, so there is one for two ranges.
 */
#include "postgres.h"

#include "servers/far.h"

#define LEAST_PAGES 500
#define MOST_PAGES 10000
#define RANGES_PER_CONNECTION 4

/* Divide so many pages among connections. */
EmogiFarRanges
emogi_ranges_divide(uint64 npages, int nconnections)
{
	const uint64 wanted = npages / ((uint64) nconnections * RANGES_PER_CONNECTION);
	const uint64 clamped = Max(Min(wanted, MOST_PAGES), LEAST_PAGES);
	EmogiFarRanges ranges = {.npages = npages,.length = (clamped + EMOGI_GROUP_PAGES - 1) / EMOGI_GROUP_PAGES * EMOGI_GROUP_PAGES,.count = 1};

	if (npages > 0)
		ranges.count = (npages + ranges.length - 1) / ranges.length;
	return ranges;
}

/* Get how many connections a table's ranges are enough for. */
uint64
emogi_ranges_connections(const EmogiFarRanges *ranges)
{
	return (ranges->count + 1) / 2;
}
