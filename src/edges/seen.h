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

extern void emogi_seen_page(EmogiSeenPage *seen, Relation rel, Snapshot snapshot, Buffer buffer, EmogiLook *look);

#endif							/* EMOGI_SEEN_H */
