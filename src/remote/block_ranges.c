/*
 * block_ranges.c: division of a table's pages into ranges
 *
 * A range costs one statement, a fraction of a millisecond. Therefore a range has enough pages for
 * at least some milliseconds, and there are several ranges per connection, so that the last ones
 * finish at about the same time. A connection costs a server some 5 ms; therefore there is at most
 * one per two ranges of the minimum size.
 */
#include "postgres.h"

#include <math.h>

#include "remote/remote_internal.h"

#define MIN_PAGES 500
#define MAX_PAGES 10000
#define RANGES_PER_CONNECTION 4

/*
 * Pages that justify one more connection. A connection costs both sides some 10 ms of a core, no
 * more than reading this many pages. Packed pages cost a quarter.
 */
#define CONNECTION_PAGES 1000
#define CONNECTION_PACKED_PAGES 4000

/* Divide this many pages among connections. */
EmogiRemoteRanges
emogi_block_ranges_divide(uint64 npages, int nconnections)
{
	const uint64 wanted = npages / ((uint64) nconnections * RANGES_PER_CONNECTION);
	const uint64 clamped = Max(Min(wanted, MAX_PAGES), MIN_PAGES);
	EmogiRemoteRanges ranges = {.npages = npages,
								.length = (clamped + EMOGI_GROUP_PAGES - 1) /
								EMOGI_GROUP_PAGES * EMOGI_GROUP_PAGES,
								.count = 1};

	if (npages > 0)
		ranges.count = (npages + ranges.length - 1) / ranges.length;
	return ranges;
}

/*
 * Get the number of connections that a server's tables justify. Tables without known pages count as
 * one connection each, because their size is unknown.
 */
uint64
emogi_block_ranges_connections(const List *tables)
{
	uint64		nwhole = 0;
	double		part = 0;
	ListCell   *cell;

	foreach(cell, tables)
	{
		const EmogiRemoteTable *table = lfirst(cell);

		if (table->ranges.count == 1 && !OidIsValid(table->oid))
			nwhole++;
		else
			part += (double) table->ranges.npages / (table->packer != NULL ?
													 CONNECTION_PACKED_PAGES : CONNECTION_PAGES);
	}
	return nwhole + (uint64) ceil(part);
}
