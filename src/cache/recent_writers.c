/*
 * recent_writers.c: the transactions that have recently changed each tracked table; they decide
 * whether a cached graph is still exact.
 *
 * A cached graph may serve a call if and only if it holds exactly the rows that the call's snapshot
 * sees. Snapshots of one table differ only in the transactions that they see as ended. So it is
 * enough to know every transaction that may have changed the table since the graph's snapshot, and
 * to check that both snapshots see each of them alike.
 *
 * Writers. A transaction that is about to commit or to be prepared appends its full transaction id
 * to the ring of each tracked table on which it holds a lock that only writers take, or has counted
 * changes. It does so before it becomes visible, so if a snapshot sees its changes, it is in the
 * ring. Transactions that abort afterwards stay in the ring and do no harm. Uncommitted changes are
 * visible only to their own transaction, which neither uses nor publishes graphs of the tables that
 * it has changed.
 *
 * A writer pays only for its own locks. It scans them, fast-path locks first: another process may
 * move such a lock to the main table at any time, but adds it there before removing it here. A
 * filter (tables.c) is read without a lock and excludes nearly all untracked tables; the other
 * tables are looked up under cache_lock.
 *
 * Registration. A transaction that passed this point before the table was tracked is in no ring.
 * Tracking a table therefore takes three steps: (1) the table is counted in the filter, visible to
 * all; (2) R = the next transaction id; (3) if no process holds a writer's lock on the table, the
 * transactions running now are harmless: they will find the table in the filter when they commit,
 * wait for cache_lock, and find the entry. The lock manager is asked without holding cache_lock,
 * because this takes long for many leaves; a reference keeps the entry meanwhile. A snapshot is
 * usable for the table if and only if each transaction below R that it sees as running is harmless.
 *
 * Overflow. A full ring is cleared of the transactions that have ended, and records the highest of
 * them and the next transaction id at that time: a snapshot whose xmin is above the former, or that
 * was certainly taken later, sees them all as ended. If a running transaction has to be removed,
 * only the first test applies to it.
 *
 * Standby. Writers' callbacks do not run there; graphs serve equal snapshots. Promotion starts
 * anew. The same holds on any server without preloading, because sessions that have not loaded
 * emogi have no callbacks.
 *
 * Locks: everything is under EmogiShared.cache_lock, except the filter, which writers read without
 * it. If a writer reads 0 there because the entry is just being made, registration finds the
 * writer's lock, or the writer has ended before.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lock.h"
#include "storage/procarray.h"
#include "utils/memutils.h"

#include "cache/tables.h"
#include "base/compat.h"
#include "base/fault.h"

/* Locks that only writers take. */
#define EMOGI_WRITER_LOCKS \
	(LOCKBIT_ON(RowExclusiveLock) | LOCKBIT_ON(ExclusiveLock) | LOCKBIT_ON(AccessExclusiveLock))

/* tables that this transaction has changed and that the filter may include, see enter_my_changes */
static List *suspects;
static bool is_entered = false;		/* this transaction has entered itself in a ring */

/* ---- writers ---- */

/* Check whether this transaction holds a lock on the table that only writers take. */
static bool
holds_writer_lock(Oid relid)
{
	return emogi_compat_holds_lock(relid, RowExclusiveLock) ||
		emogi_compat_holds_lock(relid, ExclusiveLock) ||
		emogi_compat_holds_lock(relid, AccessExclusiveLock);
}

/*
 * Check whether this transaction has changed the table so far. Locks reveal all ways of writing;
 * counters reveal most.
 */
bool
emogi_recent_writers_changed_by_me(Oid relid)
{
	return FullTransactionIdIsValid(GetTopFullTransactionIdIfAny()) &&
		(holds_writer_lock(relid) || emogi_compat_counts_changes(relid));
}

/* Make room in a full ring. */
static void
clear_writers(EmogiTable *table)
{
	uint64		next = U64FromFullTransactionId(ReadNextFullTransactionId());
	int			kept = 0;

	for (int i = 0; i < table->nwriters; i++)
	{
		uint64		xid = table->writers[i];

		if (TransactionIdIsInProgress((TransactionId) xid))
			table->writers[kept++] = xid;
		else
			table->dropped_max = Max(table->dropped_max, xid);
	}
	table->dropped_next = next;
	table->nclears++;
	if (kept == EMOGI_RECENT_WRITERS)
	{
		table->lost_max = Max(table->lost_max, table->writers[0]);
		memmove(table->writers, table->writers + 1, --kept * sizeof(uint64));
	}
	table->nwriters = kept;
}

/* Enter this transaction in a table's ring, once. Caller holds cache_lock exclusively. */
static void
enter_writer(EmogiTable *table)
{
	uint64		xid = U64FromFullTransactionId(GetTopFullTransactionId());

	if (table->nwriters > 0 && table->writers[table->nwriters - 1] == xid)
		return;
	if (table->nwriters == EMOGI_RECENT_WRITERS)
		clear_writers(table);
	table->writers[table->nwriters++] = xid;
	is_entered = true;
}

/* Remember a table that this transaction has changed, unless the filter excludes it. */
static void
suspect(Oid relid)
{
	if (emogi_tables_may_have(relid))
		suspects = lappend_oid(suspects, relid);
}

/* Enter this transaction in the rings of the suspects that are tracked. */
static void
enter_suspects(void)
{
	ListCell   *cell;

	LWLockAcquire(emogi_shared->cache_lock, LW_EXCLUSIVE);
	foreach(cell, suspects)
	{
		EmogiTable *table = emogi_tables_find(MyDatabaseId, lfirst_oid(cell));

		if (table != NULL)
			enter_writer(table);
	}
	emogi_tables_free_idle();
	LWLockRelease(emogi_shared->cache_lock);
}

/*
 * Enter this transaction, which is about to commit or to be prepared, in the rings of the tables
 * that it has changed. Every writing transaction pays for this. To hold no lock of the lock manager
 * while waiting for cache_lock, scan all locks first, then enter the tables found.
 */
static void
enter_my_changes(void)
{
	MemoryContext old;

	if (!FullTransactionIdIsValid(GetTopFullTransactionIdIfAny()))
		return;
	old = MemoryContextSwitchTo(TopTransactionContext);
	suspects = NIL;
	emogi_compat_each_lock(EMOGI_WRITER_LOCKS, suspect);
	emogi_compat_each_counted(suspect);
	MemoryContextSwitchTo(old);
	if (suspects != NIL)
		enter_suspects();
	list_free(suspects);
	suspects = NIL;
	if (is_entered)
		emogi_fault_sleep(EMOGI_FAULT_AT_PRE_COMMIT);
}

static void
at_end_of_transaction(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			is_entered = false;
			if (!emogi_trial_is_on && emogi_tables != NULL &&
				pg_atomic_read_u32(&emogi_tables->ntracked) > 0)
				enter_my_changes();
			break;
		case XACT_EVENT_COMMIT:
			if (is_entered)
				emogi_fault_sleep(EMOGI_FAULT_AT_COMMITTED);
			break;
		default:
			break;
	}
}

/* Register the transaction callback; called once, in the postmaster. */
void
emogi_recent_writers_init(void)
{
	RegisterXactCallback(at_end_of_transaction, NULL);
}

/* ---- registration ---- */

/*
 * Check whether another transaction, perhaps a prepared one, holds a lock on a table of this
 * database that only writers take.
 */
static bool
has_writers(Oid relid)
{
	LOCKTAG		tag;
	int			count;

	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relid);
	pfree(GetLockConflicts(&tag, ShareLock, &count));
	return count > 0;
}

/*
 * Get the transactions that are running now; return false if they are too many to remember. The
 * caller frees xids->running.
 */
static bool
take_running(EmogiTransactionSnapshot *xids)
{
	static SnapshotData snapshot = {SNAPSHOT_MVCC};

	/*
	 * not GetLatestSnapshot, which fails in parallel mode; the caller's snapshot keeps MyProc->xmin
	 */
	GetSnapshotData(&snapshot);
	if (!emogi_transaction_snapshot_take(&snapshot, xids))
		return false;
	if (xids->nrunning <= EMOGI_HARMLESS_WRITERS)
		return true;
	pfree(xids->running);
	return false;
}

/*
 * Remember transactions as harmless to a table: no writer's lock was held while they were running
 * and the entry was visible.
 */
static void
remember_harmless(EmogiTable *table, const EmogiTransactionSnapshot *xids)
{
	table->harmless_xmax = xids->xmax;
	memcpy(table->harmless, xids->running, xids->nrunning * sizeof(uint64));
	table->nharmless = (int) xids->nrunning;
}

/* ---- comparison of snapshots; caller holds cache_lock ---- */

/* Are the rings incomplete, so that graphs serve only snapshots equal to their own? */
static bool
serves_equal_only(const EmogiTransactionSnapshot *xids)
{
	return xids->recovery || (emogi_trial_is_on && !emogi_faults.trusts_rings);
}

/* Check whether this transaction, below R, is known to find the entry when it commits. */
static bool
is_harmless(const EmogiTable *table, uint64 xid)
{
	if (table->nharmless < 0)
		return false;
	return xid >= table->harmless_xmax ||
		bsearch(&xid, table->harmless, table->nharmless, sizeof(uint64),
				emogi_transaction_snapshot_compare) != NULL;
}

/* Check whether a snapshot sees every transaction that the ring has dropped as ended. */
static bool
is_past_dropped(const EmogiTable *table, const EmogiTransactionSnapshot *xids)
{
	return table->lost_max < xids->xmin &&
		(table->dropped_max < xids->xmin || xids->xmax > table->dropped_next);
}

/* Check whether a snapshot satisfies the rule of registration. */
static bool
is_registered(const EmogiTable *table, const EmogiTransactionSnapshot *xids)
{
	uint64		xid;

	if (xids->xmin >= table->registered)
		return true;
	if (table->nharmless < 0)
		return false;
	for (uint32 i = 0; i < xids->nrunning && xids->running[i] < table->registered; i++)
		if (!is_harmless(table, xids->running[i]))
			return false;
	for (xid = xids->xmax; xid < Min(table->registered, table->harmless_xmax); xid++)
		if (!is_harmless(table, xid))
			return false;
	return true;
}

/* Check whether graphs of a table can be used and published under this snapshot. */
bool
emogi_recent_writers_allow_snapshot(int index, const EmogiTransactionSnapshot *xids)
{
	const EmogiTable *table = &emogi_tables->tables[index];

	if (xids->recovery)
		return table->recovery;
	if (serves_equal_only(xids))
		return true;
	return !table->recovery && is_past_dropped(table, xids) &&
		(emogi_faults.no_registration_rule || is_registered(table, xids));
}

/*
 * Check whether both snapshots see the same rows of a table, but for those of some transactions,
 * ascending. b must be usable, and a must have been usable when it was published.
 */
bool
emogi_recent_writers_see_same_rows(int index, const EmogiTransactionSnapshot *a,
								   const EmogiTransactionSnapshot *b, const uint64 *except,
								   int nexcept)
{
	const EmogiTable *table = &emogi_tables->tables[index];

	if (serves_equal_only(a) || serves_equal_only(b))
		return emogi_transaction_snapshot_equal(a, b);
	if (!is_past_dropped(table, a))
		return false;
	for (int i = 0; i < table->nwriters; i++)
	{
		uint64		xid = table->writers[i];

		if (emogi_transaction_snapshot_running(a, xid) !=
			emogi_transaction_snapshot_running(b, xid) &&
			bsearch(&xid, except, nexcept, sizeof xid, emogi_transaction_snapshot_compare) ==
			NULL && emogi_transaction_snapshot_committed(xid))
			return false;
	}
	return true;
}

/*
 * Check whether two snapshots of this session see the same rows of a table, but for those that the
 * current transaction and some others, ascending, have written; false if that is unknown.
 */
bool
emogi_recent_writers_left_alone(Oid relid, const EmogiTransactionSnapshot *a,
								const EmogiTransactionSnapshot *b, const uint64 *except,
								int nexcept)
{
	const EmogiTable *table = emogi_tables_find(MyDatabaseId, relid);
	const int	index = table != NULL ? (int) (table - emogi_tables->tables) : -1;

	return table != NULL && emogi_recent_writers_allow_snapshot(index, a) &&
		emogi_recent_writers_allow_snapshot(index, b) &&
		emogi_recent_writers_see_same_rows(index, a, b, except, nexcept);
}

/*
 * Check whether no snapshot will ever again see the rows that this snapshot sees. All snapshots see
 * transactions below oldest_xid as ended.
 */
bool
emogi_recent_writers_outdated(int index, const EmogiTransactionSnapshot *xids,
							  TransactionId oldest_xid)
{
	const EmogiTable *table = &emogi_tables->tables[index];
	uint64		oldest =
		emogi_transaction_snapshot_full(oldest_xid,
										U64FromFullTransactionId(ReadNextFullTransactionId()));

	/* such snapshots are compared for equality, and xmin never decreases */
	if (serves_equal_only(xids))
		return xids->recovery != RecoveryInProgress() || xids->xmin < oldest;
	if (!is_past_dropped(table, xids))
		return true;
	for (int i = 0; i < table->nwriters; i++)
	{
		uint64		xid = table->writers[i];

		if (xid < oldest && emogi_transaction_snapshot_running(xids, xid) &&
			emogi_transaction_snapshot_committed(xid))
			return true;
	}
	return false;
}

/* Check whether no snapshot as new as `newer` or newer sees the rows that this snapshot sees. */
bool
emogi_recent_writers_are_superseded(int index, const EmogiTransactionSnapshot *xids,
									const EmogiTransactionSnapshot *newer)
{
	const EmogiTable *table = &emogi_tables->tables[index];

	if (serves_equal_only(xids))
		return xids->recovery != newer->recovery || newer->xmax > xids->xmax;
	if (!is_past_dropped(table, xids))
		return true;
	for (int i = 0; i < table->nwriters; i++)
	{
		uint64		xid = table->writers[i];

		if (emogi_transaction_snapshot_running(xids, xid) &&
			!emogi_transaction_snapshot_running(newer, xid) &&
			emogi_transaction_snapshot_committed(xid))
			return true;
	}
	return false;
}

/* ---- tracking; caller holds cache_lock exclusively, unless stated otherwise ---- */

/*
 * Track a table and take a reference to its entry, until emogi_tables_release; return -1 if there
 * is no room. The caller has locked the table.
 */
int
emogi_recent_writers_track(Oid relid, const EmogiTransactionSnapshot *xids)
{
	EmogiTable *table = emogi_tables_find(MyDatabaseId, relid);

	if (table == NULL)
		table = emogi_tables_add(relid);
	if (table == NULL)
		return -1;
	if (table->references++ == 0)
		dlist_delete(&table->rest);
	table->unwanted = false;
	if (xids->recovery)
		table->recovery = emogi_tables->any_recovery = true;
	else if (table->registered == PG_UINT64_MAX)
		table->registered = U64FromFullTransactionId(ReadNextFullTransactionId());
	return (int) (table - emogi_tables->tables);
}

/*
 * Check whether a snapshot violates the rule of registration, so that emogi_recent_writers_register
 * may help.
 */
bool
emogi_recent_writers_must_register(int index, const EmogiTransactionSnapshot *xids)
{
	return !serves_equal_only(xids) && !is_registered(&emogi_tables->tables[index], xids);
}

/* Tables to register. */
typedef struct Registering
{
	const int  *tables;			/* [ntables], with a reference to each */
	const Oid  *relids;			/* [ntables] */
	int			ntables;
	const EmogiTransactionSnapshot *xids;
} Registering;

/*
 * Find those tables to be registered that have no writers, and remember the running transactions as
 * harmless to them. Caller does not hold cache_lock.
 */
static void
register_tables(const Registering *batch)
{
	bool	   *is_quiet = palloc(batch->ntables * sizeof(bool));
	EmogiTransactionSnapshot running;

	LWLockAcquire(emogi_shared->cache_lock, LW_SHARED);
	for (int i = 0; i < batch->ntables; i++)
		is_quiet[i] = emogi_recent_writers_must_register(batch->tables[i], batch->xids);
	LWLockRelease(emogi_shared->cache_lock);
	for (int i = 0; i < batch->ntables; i++)
	{
		if (is_quiet[i])
			is_quiet[i] = !has_writers(batch->relids[i]);
		CHECK_FOR_INTERRUPTS();
	}
	emogi_fault_sleep(EMOGI_FAULT_AT_REGISTERING);
	CHECK_FOR_INTERRUPTS();
	if (take_running(&running))
	{
		emogi_cache_lock();
		for (int i = 0; i < batch->ntables; i++)
			if (is_quiet[i])
				remember_harmless(&emogi_tables->tables[batch->tables[i]], &running);
		emogi_cache_unlock();
		pfree(running.running);
	}
	pfree(is_quiet);
}

/* Release the references to the tables to be registered, after an error. */
static void
release_references(int code, Datum registering)
{
	const Registering *batch = (Registering *) DatumGetPointer(registering);

	emogi_cache_lock();
	for (int i = 0; i < batch->ntables; i++)
		emogi_tables_release(batch->tables[i]);
	emogi_cache_unlock();
}

/*
 * Register again those tables for which emogi_recent_writers_must_register is true, so that one
 * writer at the wrong moment does not leave a table uncached for long. The caller does not hold
 * cache_lock, and has a reference to each table; an error, including a cancel, releases them.
 */
void
emogi_recent_writers_register(const int *tables, const Oid *relids, int ntables,
							  const EmogiTransactionSnapshot *xids)
{
	Registering batch = {tables, relids, ntables, xids};

	PG_ENSURE_ERROR_CLEANUP(release_references, PointerGetDatum(&batch));
	register_tables(&batch);
	PG_END_ENSURE_ERROR_CLEANUP(release_references, PointerGetDatum(&batch));
}

/* Fill in the version of a table that a usable snapshot sees. */
static void
tell(EmogiTable *table, const EmogiTransactionSnapshot *xids, EmogiTableVersion *version)
{
	memset(version, 0, sizeof *version);
	memcpy(version->epoch, emogi_tables->epoch, sizeof version->epoch);
	version->number = table->number;
	version->nclears = table->nclears;
	for (int i = 0; i < table->nwriters; i++)
		if (!emogi_transaction_snapshot_running(xids, table->writers[i]) &&
			emogi_transaction_snapshot_committed(table->writers[i]))
			version->seen[version->nseen++] = table->writers[i];
	qsort(version->seen, version->nseen, sizeof(uint64), emogi_transaction_snapshot_compare);
	table->stamped = true;
}

/*
 * Get the version of a table that a snapshot sees: within one epoch, equal versions guarantee equal
 * rows, forever. Return false if there is none: on a standby, if the rules do not allow the
 * snapshot, or without room. The caller has locked the table, has not changed it, and does not hold
 * cache_lock.
 *
 * Besides the transactions in the ring, a usable snapshot sees as ended all that have ever changed
 * the table: those before its entry was made, and those that the ring has dropped (either they are
 * below the snapshot's xmin, or it sees none of them as running).
 */
bool
emogi_recent_writers_table_version(Oid relid, const EmogiTransactionSnapshot *xids,
								   EmogiTableVersion *version)
{
	int			index;
	bool		usable;
	bool		must_register;

	emogi_cache_lock();
	emogi_recent_writers_forget_recovery();
	index = emogi_recent_writers_track(relid, xids);
	must_register = index >= 0 && emogi_recent_writers_must_register(index, xids);
	emogi_cache_unlock();
	if (index < 0)
		return false;
	if (must_register)
		emogi_recent_writers_register(&index, &relid, 1, xids);
	emogi_cache_lock();
	usable = !serves_equal_only(xids) && emogi_recent_writers_allow_snapshot(index, xids);
	if (usable)
		tell(&emogi_tables->tables[index], xids, version);
	emogi_tables_release(index);
	emogi_cache_unlock();
	return usable;
}

/*
 * After a promotion, register again the tables that were tracked on the standby. Caller holds
 * cache_lock exclusively.
 */
void
emogi_recent_writers_forget_recovery(void)
{
	if (!emogi_tables->any_recovery || RecoveryInProgress())
		return;
	for (uint32 i = 0; i < emogi_tables->nused; i++)
	{
		EmogiTable *table = &emogi_tables->tables[i];

		if (OidIsValid(table->relid) && table->recovery)
		{
			table->recovery = false;
			table->registered = U64FromFullTransactionId(ReadNextFullTransactionId());
			table->nharmless = -1;
		}
	}
	emogi_tables->any_recovery = false;
}
