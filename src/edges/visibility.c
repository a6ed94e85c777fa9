/*
 * visibility.c: which tuples of a heap page a snapshot sees, and whether another snapshot may see
 * the page differently.
 *
 * A page is pruned, locked in share mode and scanned for the tuples that the snapshot sees, by the
 * rules of the server's own sequential scan (heap_prepare_pagescan; heapgetpage before 17): the
 * all-visible bit is trusted, unless the snapshot was taken during recovery. Then the lock is
 * released.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "storage/predicate.h"

#include "cache/cache.h"
#include "edges/visibility.h"
#include "base/compat.h"
#include "base/fault.h"

/* Collect all tuples of a page that the caller has locked. */
static void
collect_all(EmogiVisiblePage *visible_page)
{
	int			nlines = PageGetMaxOffsetNumber(visible_page->page);
	int			nitems = 0;

	for (OffsetNumber line = FirstOffsetNumber; line <= nlines; line++)
	{
		ItemId		item = PageGetItemId(visible_page->page, line);

		visible_page->items[nitems] = *item;
		nitems += ItemIdIsNormal(item);
	}
	visible_page->nitems = nitems;
}

/*
 * Decide without the server's function, as it would, whether an MVCC snapshot sees a tuple that
 * nobody has deleted or locked; return false if that takes more than a comparison. own: an
 * inserting transaction that is the caller's; InvalidTransactionId = none.
 */
static inline bool
is_decided(HeapTupleHeader tuple, Snapshot snapshot, TransactionId own, bool *visible)
{
	const uint16 mask = tuple->t_infomask;
	const TransactionId xmin = HeapTupleHeaderGetRawXmin(tuple);

	if ((mask & HEAP_XMAX_INVALID) == 0 || (mask & HEAP_MOVED) != 0)
		return false;
	*visible = true;
	if ((mask & HEAP_XMIN_COMMITTED) != 0)
		return (mask & HEAP_XMIN_INVALID) != 0 || TransactionIdPrecedes(xmin, snapshot->xmin);
	*visible = HeapTupleHeaderGetRawCommandId(tuple) < snapshot->curcid;
	return (mask & (HEAP_XMIN_INVALID | HEAP_COMBOCID)) == 0 && xmin == own;
}

/* Is the inserting transaction of a tuple, as far as its hint bits tell, the caller's? */
static inline bool
is_own(HeapTupleHeader tuple)
{
	return (tuple->t_infomask & (HEAP_XMIN_COMMITTED | HEAP_XMIN_INVALID)) == 0 &&
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmin(tuple));
}

/* Collect the tuples of a page, locked by the caller, that a snapshot sees. */
static void
collect_visible(EmogiVisiblePage *visible_page, Relation rel, Snapshot snapshot, Buffer buffer,
				bool all_visible, bool serializable)
{
	int			nlines = PageGetMaxOffsetNumber(visible_page->page);
	const bool	may_decide = !serializable && snapshot->snapshot_type == SNAPSHOT_MVCC;
	TransactionId own = InvalidTransactionId;
	BlockNumber block = BufferGetBlockNumber(buffer);
	HeapTupleData tuple;

	tuple.t_tableOid = RelationGetRelid(rel);
	for (OffsetNumber line = FirstOffsetNumber; line <= nlines; line++)
	{
		ItemId		item = PageGetItemId(visible_page->page, line);
		bool		visible = all_visible;

		if (!ItemIdIsNormal(item))
			continue;
		tuple.t_data = (HeapTupleHeader) PageGetItem(visible_page->page, item);
		if (!visible && !(may_decide && is_decided(tuple.t_data, snapshot, own, &visible)))
		{
			tuple.t_len = ItemIdGetLength(item);
			ItemPointerSet(&tuple.t_self, block, line);
			visible = HeapTupleSatisfiesVisibility(&tuple, snapshot, buffer);
			if (may_decide && is_own(tuple.t_data))
				own = HeapTupleHeaderGetRawXmin(tuple.t_data);
		}
		if (serializable)
		{
			tuple.t_len = ItemIdGetLength(item);
			ItemPointerSet(&tuple.t_self, block, line);
			HeapCheckForSerializableConflictOut(visible, rel, &tuple, buffer, snapshot);
		}
		if (visible)
			visible_page->items[visible_page->nitems++] = *item;
	}
}

/* Summary of the transactions on a page. */
typedef struct PageXacts
{
	Snapshot	snapshot;
	TransactionId last;			/* last transaction checked and found to have ended */
	TransactionId last_own;		/* last one found to be the caller's */
	TransactionId highest;		/* InvalidTransactionId = none yet */
	bool		undecided;
	bool		others;				/* ... by another transaction than the caller's */
	bool		own;
	CommandId	last_command;		/* of the caller's transaction */
} PageXacts;

/*
 * Add a transaction that has inserted or deleted a tuple: check whether it has ended for the
 * snapshot. Return true if it is the caller's.
 */
static inline bool
add_xid(PageXacts *xacts, TransactionId xid)
{
	if (xid == xacts->last || !TransactionIdIsNormal(xid))
		return false;
	if (xid == xacts->last_own)
		return true;
	if (!TransactionIdIsValid(xacts->highest) || TransactionIdFollows(xid, xacts->highest))
		xacts->highest = xid;
	if (TransactionIdPrecedes(xid, xacts->snapshot->xmin))
	{
		xacts->last = xid;		/* the caller's transaction never precedes xmin */
		return false;
	}
	if (TransactionIdIsCurrentTransactionId(xid))
	{
		xacts->last_own = xid;
		return xacts->own = xacts->undecided = true;
	}
	if (XidInMVCCSnapshot(xid, xacts->snapshot))
		xacts->others = xacts->undecided = true;
	else
		xacts->last = xid;
	return false;
}

/* Add a command of the caller's transaction that has inserted or deleted a tuple. */
static inline void
add_command(PageXacts *xacts, CommandId command)
{
	xacts->last_command = Max(xacts->last_command, command);
}

/*
 * Add the transactions of a tuple, after the test of its visibility. A tuple whose insertion is
 * known to have failed is visible to no snapshot, and a row lock changes nothing.
 */
static inline void
add_tuple(PageXacts *xacts, HeapTupleHeader tuple)
{
	uint16		mask = tuple->t_infomask;

	if (mask & HEAP_MOVED)
		xacts->others = xacts->undecided = true;
	if (!HeapTupleHeaderXminFrozen(tuple))
	{
		if (mask & HEAP_XMIN_INVALID)
			return;
		if (add_xid(xacts, HeapTupleHeaderGetRawXmin(tuple)))
			add_command(xacts, HeapTupleHeaderGetCmin(tuple));
	}
	if ((mask & HEAP_XMAX_INVALID) == 0 && !HEAP_XMAX_IS_LOCKED_ONLY(mask) &&
		add_xid(xacts, HeapTupleHeaderGetUpdateXid(tuple)))
		add_command(xacts, HeapTupleHeaderGetCmax(tuple));
}

/*
 * Record what decides whether another snapshot may see a page differently; the caller has locked
 * the page and tested its tuples. The LSN is read last: the tests may have moved it by setting hint
 * bits, and no writer can while the page is locked. On a primary, an all-visible page is visible to
 * all snapshots; on a standby, its tuples are checked nevertheless.
 */
static void
summarize_page(EmogiPageScan *page_scan, Page page, Snapshot snapshot, Buffer buffer)
{
	PageXacts	xacts = {.snapshot = snapshot};
	int			nlines = PageGetMaxOffsetNumber(page);
	bool		trusted = PageIsAllVisible(page) && !snapshot->takenDuringRecovery;

	for (OffsetNumber line = FirstOffsetNumber; line <= nlines && !trusted; line++)
	{
		ItemId		item = PageGetItemId(page, line);

		if (ItemIdIsNormal(item))
			add_tuple(&xacts, (HeapTupleHeader) PageGetItem(page, item));
	}
	page_scan->all_visible = PageIsAllVisible(page) && !xacts.undecided;
	page_scan->scanned = true;
	page_scan->nlines = (uint16) nlines;
	page_scan->own = xacts.own;
	page_scan->others = xacts.others;
	page_scan->last_command = xacts.last_command;
	page_scan->buffer = buffer;
	page_scan->newest = TransactionIdIsValid(xacts.highest) ?
		emogi_transaction_snapshot_full(xacts.highest,
										U64FromFullTransactionId(ReadNextFullTransactionId())) : 0;
	if (emogi_faults.tracker[EMOGI_TRACKER_LSN_LOCKED])
	{
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		emogi_fault_sleep(EMOGI_FAULT_AT_PAGE_RESCANNED);
	}
	page_scan->page_lsn = BufferGetLSNAtomic(buffer);
	page_scan->lsn = xacts.undecided && !emogi_faults.tracker[EMOGI_TRACKER_UNDECIDED] ?
		EMOGI_UNDECIDED : page_scan->page_lsn;
	if (emogi_faults.tracker[EMOGI_TRACKER_LSN_LOCKED])
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
}

/*
 * Collect the tuples of a pinned page that a snapshot sees. page_scan: filled in with the page
 * scan, unless NULL.
 */
void
emogi_visibility_page(EmogiVisiblePage *visible_page, Relation rel, Snapshot snapshot,
					  Buffer buffer, EmogiPageScan *page_scan)
{
	bool		all_visible;
	bool		serializable;

	visible_page->page = BufferGetPage(buffer);
	visible_page->nitems = 0;
	emogi_compat_prune(rel, buffer);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	emogi_compat_check_snapshot_age(snapshot, rel, visible_page->page);
	all_visible = PageIsAllVisible(visible_page->page) && !snapshot->takenDuringRecovery;
	serializable = CheckForSerializableConflictOutNeeded(rel, snapshot);
	if (all_visible && !serializable)
		collect_all(visible_page);
	else
		collect_visible(visible_page, rel, snapshot, buffer, all_visible, serializable);
	if (page_scan != NULL)
		summarize_page(page_scan, visible_page->page, snapshot, buffer);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
}
