/*
 * seen.h: the tuples of a heap page that a snapshot sees.
 */
#ifndef EMOGI_SEEN_H
#define EMOGI_SEEN_H

#include "access/htup_details.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "edges/edges.h"
#include "edges/pages.h"

/* A page, pinned, and its tuples that are to be decoded. */
typedef struct EmogiSeenPage
{
	Page		page;
	int			nitems;
	ItemIdData	items[MaxHeapTuplesPerPage];	/* copies, made under the lock */
} EmogiSeenPage;

/*
 * A page's first tuple lies at its end and each next one below: no order that processors foresee well. What lies so
 * far ahead is asked for early: a tenth of the time.
 */
#define EMOGI_AHEAD_BYTES 512

/* Get one of the tuples of a page. */
static inline HeapTupleHeader
emogi_seen_tuple(EmogiSeenPage *seen, int i)
{
	HeapTupleHeader tuple = (HeapTupleHeader) PageGetItem(seen->page, &seen->items[i]);

	__builtin_prefetch((const char *) tuple - EMOGI_AHEAD_BYTES);
	return tuple;
}

extern void emogi_seen_page(EmogiSeenPage *seen, Relation rel, Snapshot snapshot, Buffer buffer, EmogiLook *look);

#endif							/* EMOGI_SEEN_H */
