/*
 * seen_by.c: which snapshots see the catalogs as one has been found to see them (S10)
 *
 * What a snapshot sees of relations is compared with the newest catalogs (snapshot.c). As long as
 * these do not change, the outcome holds for all snapshots that see as ended every transaction that
 * had ended when the comparison was made; within the same transaction, not for those of earlier
 * commands. A comparison of transaction ids with kept ones needs no epoch: long before 2^31
 * transactions, a vacuum changes the relation's entry in pg_class.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "utils/snapmgr.h"

#include "source/source.h"

/* Does a snapshot see this transaction, which is running, as one that had ended? */
static bool
had_ended(const EmogiSeenBy *seen_by, TransactionId xid)
{
	if (!TransactionIdPrecedes(xid, seen_by->xmax))
		return false;
	for (uint32 i = 0; i < seen_by->nrunning; i++)
		if (seen_by->running[i] == xid)
			return false;
	return true;
}

/*
 * Does a snapshot see as ended all transactions that had ended? Subtransactions end with the
 * transactions that the snapshot lists.
 */
static bool
contains(Snapshot snapshot, const EmogiSeenBy *seen_by)
{
	if (snapshot->snapshot_type != SNAPSHOT_MVCC || snapshot->takenDuringRecovery ||
		TransactionIdPrecedes(snapshot->xmax, seen_by->xmax))
		return false;
	if (!TransactionIdPrecedes(snapshot->xmin, seen_by->xmax))
		return true;
	for (uint32 i = 0; i < snapshot->xcnt; i++)
		if (had_ended(seen_by, snapshot->xip[i]))
			return false;
	return true;
}

/* Is it known that the active snapshot sees the catalogs so, if these have not changed since? */
bool
emogi_seen_by_active(const EmogiSeenBy *seen_by)
{
	const Snapshot snapshot = GetActiveSnapshot();

	return seen_by->is_known && contains(snapshot, seen_by) &&
		(!TransactionIdIsValid(seen_by->own) || seen_by->own != GetTopTransactionIdIfAny() ||
		 snapshot->curcid >= seen_by->command);
}

/* Note that the active snapshot sees the newest catalogs so. */
void
emogi_seen_by_note(EmogiSeenBy *seen_by)
{
	Snapshot	now;

	if (RecoveryInProgress())
		return;
	/* as new as what the catalog caches have */
	now = GetNonHistoricCatalogSnapshot(InvalidOid);
	if (now->xcnt > EMOGI_SEEN_BY_MAX_RUNNING || now->takenDuringRecovery)
		return;
	seen_by->xmax = now->xmax;
	seen_by->nrunning = now->xcnt;
	memcpy(seen_by->running, now->xip, now->xcnt * sizeof(TransactionId));
	seen_by->own = GetTopTransactionIdIfAny();
	seen_by->command = GetCurrentCommandId(false);
	seen_by->is_known = true;
}
