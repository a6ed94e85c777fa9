/*
 * kept_indexes.h: indexes and scans that the searches of a plan node leave open for each other
 */
#ifndef EMOGI_KEPT_INDEXES_H
#define EMOGI_KEPT_INDEXES_H

#include "cache/cache.h"
#include "index_search/index_search_read.h"

typedef struct EmogiKeptIndexes
{
	MemoryContext context;		/* of all below; reset when the indexes are closed */
	ResourceOwner owner;		/* of the plan: of relations, locks, tuple descriptors and pins */

	/* what they were opened for */
	uint64		changes;		/* emogi_analysis_count_changes(); 0 = nothing is open */
	Oid			relid;
	AttrNumber	columns[4];		/* of the source: endpoints and costs */
	EmogiDirection direction;
	bool		is_filtered;
	uint8		fingerprint[EMOGI_FINGERPRINT_BYTES];	/* if is_filtered: of the query */
	List	   *leaves;			/* OIDs of heaps */

	EmogiSource source;			/* without its filter, which belongs to a call */
	EmogiSearchIndexes indexes;
	EmogiIndexReaders readers;	/* .readers NULL = none were made yet */

	/* what a search of the same graph needs (acquire/index_search_repeat.c); NULL = not known */
	struct EmogiIndexRepeat *repeat;
} EmogiKeptIndexes;

#endif							/* EMOGI_KEPT_INDEXES_H */
