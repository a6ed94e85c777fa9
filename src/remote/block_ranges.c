/*
 * block_ranges.c: how the pages of a table are divided.
 *
 * A range costs a statement, a fraction of a millisecond. So it has pages for some milliseconds at
 * least, and there are several for each connection: the last ones end at about the same time. A
 * connection costs some 5 ms of a server, so there is one for two ranges.
 */
#include "postgres.h"

#include <math.h>

#include "remote/remote_internal.h"

#define LEAST_PAGES 500
#define MOST_PAGES 10000
#define RANGES_PER_CONNECTION 4

/*
 * Pages that are worth a connection, which costs both sides some 10 ms of a core: as much as these
 * do, or more. Packed ones cost a quarter.
 */
#define CONNECTION_PAGES 1000
#define CONNECTION_PACKED_PAGES 4000

/* Divide so many pages among connections. */
EmogiRemoteRanges
emogi_block_ranges_divide(uint64 npages, int nconnections)
{
	const uint64 wanted = npages / ((uint64) nconnections * RANGES_PER_CONNECTION);
	const uint64 clamped = Max(Min(wanted, MOST_PAGES), LEAST_PAGES);
	EmogiRemoteRanges ranges = {.npages = npages,
								.length = (clamped + EMOGI_GROUP_PAGES -
										   1) / EMOGI_GROUP_PAGES * EMOGI_GROUP_PAGES,.count = 1};

	if (npages > 0)
		ranges.count = (npages + ranges.length - 1) / ranges.length;
	return ranges;
}

/*
 * Get how many connections a server's tables are enough for. Those without pages of their own are
 * as many as they are: nobody knows how large.
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
