/*
 * transaction_snapshot.c: snapshots in terms of full transaction ids, which are never reused
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"

#include "cache/cache.h"
#include "base/compat.h"

/* Get the full id of a transaction in a snapshot; next = an id that is not assigned yet. */
uint64
emogi_transaction_snapshot_full(TransactionId xid, uint64 next)
{
	uint64		epoch = next >> 32;

	if (xid > (TransactionId) next)
		epoch--;
	return epoch << 32 | xid;
}

/* Compare two full transaction ids, for qsort and bsearch. */
int
emogi_transaction_snapshot_compare(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return x < y ? -1 : x > y;
}

/*
 * Convert a snapshot, with a palloced running[]; return false if graphs cannot be cached under
 * snapshots of its kind, or if it has too many running transactions. The current transaction counts
 * as running: a graph that it builds never contains its own changes.
 */
bool
emogi_transaction_snapshot_take(Snapshot snapshot, EmogiTransactionSnapshot *xids)
{
	uint64		next = U64FromFullTransactionId(ReadNextFullTransactionId());
	FullTransactionId own = GetTopFullTransactionIdIfAny();
	bool		recovery = snapshot->takenDuringRecovery;
	uint32		count = recovery ? (uint32) Max(snapshot->subxcnt, 0) : snapshot->xcnt;
	const TransactionId *list = recovery ? snapshot->subxip : snapshot->xip;

	if (snapshot->snapshot_type != SNAPSHOT_MVCC || count + 1 > EMOGI_MAX_RUNNING)
		return false;
	xids->xmin = emogi_transaction_snapshot_full(snapshot->xmin, next);
	xids->xmax = emogi_transaction_snapshot_full(snapshot->xmax, next);
	xids->recovery = recovery;
	xids->overflowed = snapshot->suboverflowed;
	xids->nrunning = count;
	xids->running = palloc((count + 1) * sizeof(uint64));
	for (uint32 i = 0; i < count; i++)
		xids->running[i] = emogi_transaction_snapshot_full(list[i], next);
	if (FullTransactionIdIsValid(own) && U64FromFullTransactionId(own) < xids->xmax)
		xids->running[xids->nrunning++] = U64FromFullTransactionId(own);
	qsort(xids->running, xids->nrunning, sizeof(uint64), emogi_transaction_snapshot_compare);
	if (xids->nrunning > 0)
		xids->xmin = Min(xids->xmin, xids->running[0]);
	return true;
}

/* Does a snapshot see this top-level transaction as still running? */
bool
emogi_transaction_snapshot_running(const EmogiTransactionSnapshot *xids, uint64 xid)
{
	if (xid >= xids->xmax)
		return true;
	if (xid < xids->xmin)
		return false;
	return bsearch(&xid, xids->running, xids->nrunning, sizeof(uint64),
				   emogi_transaction_snapshot_compare) != NULL;
}

/*
 * Has this transaction, which has ended, committed? If its status has already been truncated from
 * the commit log it counts as committed, which is the conservative answer.
 */
bool
emogi_transaction_snapshot_committed(uint64 xid)
{
	uint64		next = U64FromFullTransactionId(ReadNextFullTransactionId());
	bool		committed = true;

	if (next - xid > (uint64) INT_MAX)
		return true;
	LWLockAcquire(XactTruncationLock, LW_SHARED);
	if (!TransactionIdPrecedes((TransactionId) xid, emogi_compat_oldest_clog_xid()))
		committed = TransactionIdDidCommit((TransactionId) xid);
	LWLockRelease(XactTruncationLock);
	return committed;
}

/*
 * Does a snapshot see as ended all transactions that the base sees as ended? The current
 * transaction is running in both. Snapshots of a standby may lack subtransactions that the other
 * one has as running: false is the conservative answer.
 */
bool
emogi_transaction_snapshot_contain(const EmogiTransactionSnapshot *xids,
								   const EmogiTransactionSnapshot *base)
{
	if (base->xmax > xids->xmax)
		return false;
	for (uint32 i = 0; i < xids->nrunning; i++)
		if (!emogi_transaction_snapshot_running(base, xids->running[i]))
			return false;
	return true;
}

/*
 * Do two snapshots see the same transactions as ended? On a standby running[] must have all
 * subtransactions for that; on a primary those have ended whose top-level transactions have.
 */
bool
emogi_transaction_snapshot_equal(const EmogiTransactionSnapshot *a,
								 const EmogiTransactionSnapshot *b)
{
	if (a->recovery != b->recovery || (a->recovery && (a->overflowed || b->overflowed)))
		return false;
	return a->xmin == b->xmin &&
		a->xmax == b->xmax &&
		a->nrunning == b->nrunning &&
		memcmp(a->running, b->running, a->nrunning * sizeof(uint64)) == 0;
}
