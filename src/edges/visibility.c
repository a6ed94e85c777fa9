/*
 * visibility.c: which tuples of a heap page a snapshot sees, and what may make another snapshot see it otherwise.
 *
 * A page is pruned, locked in share mode and looked through for the tuples that the snapshot sees, by the rules of the
 * server's own sequential scan (heap_prepare_pagescan; heapgetpage before 17): the bit that says that all see all is
 * believed, unless the snapshot is a standby's. Then the lock is given back.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "storage/predicate.h"

#include "cache/cache.h"
#include "edges/visibility.h"
#include "base/compat.h"
#include "base/fault.h"

/* Collect all tuples of a page, which the caller has locked. */
static void
see_all(EmogiVisiblePage *seen)
{
	int			nlines = PageGetMaxOffsetNumber(seen->page);
	int			nitems = 0;

	for (OffsetNumber line = FirstOffsetNumber; line <= nlines; line++)
	{
		ItemId		item = PageGetItemId(seen->page, line);

		seen->items[nitems] = *item;
		nitems += ItemIdIsNormal(item);
	}
	seen->nitems = nitems;
}

/* Collect the tuples of a page, which the caller has locked, that a snapshot sees. */
static void
see_visible(EmogiVisiblePage *seen, Relation rel, Snapshot snapshot, Buffer buffer, bool all_visible, bool serializable)
{
	int			nlines = PageGetMaxOffsetNumber(seen->page);
	BlockNumber block = BufferGetBlockNumber(buffer);
	HeapTupleData tuple;

	tuple.t_tableOid = RelationGetRelid(rel);
	for (OffsetNumber line = FirstOffsetNumber; line <= nlines; line++)
	{
		ItemId		item = PageGetItemId(seen->page, line);
		bool		visible;

		if (!ItemIdIsNormal(item))
			continue;
		tuple.t_data = (HeapTupleHeader) PageGetItem(seen->page, item);
		tuple.t_len = ItemIdGetLength(item);
		ItemPointerSet(&tuple.t_self, block, line);
		visible = all_visible || HeapTupleSatisfiesVisibility(&tuple, snapshot, buffer);
		if (serializable)
			HeapCheckForSerializableConflictOut(visible, rel, &tuple, buffer, snapshot);
		if (visible)
			seen->items[seen->nitems++] = *item;
	}
}

/* What is known of the transactions on a page. */
typedef struct Judgement
{
	Snapshot	snapshot;
	TransactionId last;			/* that was asked about, and found to have ended */
	TransactionId highest;		/* InvalidTransactionId = none yet */
	bool		undecided;
	bool		others;				/* ... by another transaction than the own one */
	bool		own;
	CommandId	last_command;		/* of the own transaction */
} Judgement;

/* Note a transaction that has put or taken a tuple: has it ended for the snapshot? True when it is the own one. */
static inline bool
judge_xid(Judgement *judgement, TransactionId xid)
{
	if (xid == judgement->last || !TransactionIdIsNormal(xid))
		return false;
	if (!TransactionIdIsValid(judgement->highest) || TransactionIdFollows(xid, judgement->highest))
		judgement->highest = xid;
	if (TransactionIdIsCurrentTransactionId(xid))
		return judgement->own = judgement->undecided = true;
	if (XidInMVCCSnapshot(xid, judgement->snapshot))
		judgement->others = judgement->undecided = true;
	else
		judgement->last = xid;
	return false;
}

/* Note a command of the own transaction that has put or taken a tuple. */
static inline void
judge_command(Judgement *judgement, CommandId command)
{
	judgement->last_command = Max(judgement->last_command, command);
}

/*
 * Note the transactions of a tuple, after the test of its visibility. One whose insertion is known to have failed is seen by
 * nobody, and a lock changes nothing.
 */
static inline void
judge_tuple(Judgement *judgement, HeapTupleHeader tuple)
{
	uint16		mask = tuple->t_infomask;

	if (mask & HEAP_MOVED)
		judgement->others = judgement->undecided = true;
	if (!HeapTupleHeaderXminFrozen(tuple))
	{
		if (mask & HEAP_XMIN_INVALID)
			return;
		if (judge_xid(judgement, HeapTupleHeaderGetRawXmin(tuple)))
			judge_command(judgement, HeapTupleHeaderGetCmin(tuple));
	}
	if ((mask & HEAP_XMAX_INVALID) == 0 && !HEAP_XMAX_IS_LOCKED_ONLY(mask) && judge_xid(judgement, HeapTupleHeaderGetUpdateXid(tuple)))
		judge_command(judgement, HeapTupleHeaderGetCmax(tuple));
}

/*
 * Note what may make another snapshot see a page otherwise; the caller has locked it and tested its tuples. The LSN is read
 * last: the tests may have moved it by setting hint bits, and no writer can while the lock is held. That a page says that all see
 * all of it is true of all snapshots of a primary; on a standby its tuples are asked all the same.
 */
static void
judge_page(EmogiPageScan *look, Page page, Snapshot snapshot, Buffer buffer)
{
	Judgement	judgement = {.snapshot = snapshot};
	int			nlines = PageGetMaxOffsetNumber(page);
	bool		believed = PageIsAllVisible(page) && !snapshot->takenDuringRecovery;

	for (OffsetNumber line = FirstOffsetNumber; line <= nlines && !believed; line++)
	{
		ItemId		item = PageGetItemId(page, line);

		if (ItemIdIsNormal(item))
			judge_tuple(&judgement, (HeapTupleHeader) PageGetItem(page, item));
	}
	look->all_visible = PageIsAllVisible(page) && !judgement.undecided;
	look->looked = true;
	look->own = judgement.own;
	look->others = judgement.others;
	look->last_command = judgement.last_command;
	look->buffer = buffer;
	look->newest = TransactionIdIsValid(judgement.highest) ?
		emogi_transaction_snapshot_full(judgement.highest, U64FromFullTransactionId(ReadNextFullTransactionId())) : 0;
	if (emogi_faults.live[EMOGI_LIVE_LSN_LOCKED])
	{
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		emogi_fault_sleep(EMOGI_AT_LIVE_LOOK);
	}
	look->page_lsn = BufferGetLSNAtomic(buffer);
	look->lsn = judgement.undecided && !emogi_faults.live[EMOGI_LIVE_UNDECIDED] ? EMOGI_UNDECIDED : look->page_lsn;
	if (emogi_faults.live[EMOGI_LIVE_LSN_LOCKED])
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
}

/* Collect the tuples that a snapshot sees of a page, which is pinned. look: NULL, or what else is wanted of it. */
void
emogi_visibility_page(EmogiVisiblePage *seen, Relation rel, Snapshot snapshot, Buffer buffer, EmogiPageScan *look)
{
	bool		all_visible;
	bool		serializable;

	seen->page = BufferGetPage(buffer);
	seen->nitems = 0;
	heap_page_prune_opt(rel, buffer);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	emogi_compat_check_snapshot_age(snapshot, rel, seen->page);
	all_visible = PageIsAllVisible(seen->page) && !snapshot->takenDuringRecovery;
	serializable = CheckForSerializableConflictOutNeeded(rel, snapshot);
	if (all_visible && !serializable)
		see_all(seen);
	else
		see_visible(seen, rel, snapshot, buffer, all_visible, serializable);
	if (look != NULL)
		judge_page(look, seen->page, snapshot, buffer);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
}
