/*
 * recent_writers.c: which transactions have changed which tables: what decides whether a cached Graph is still exact.
 *
 * A cached Graph may serve a call iff it holds exactly the rows that the call's snapshot sees. Snapshots of one table
 * differ in nothing but the transactions that they see as ended, so it is enough to know every transaction that may
 * have changed the table since the Graph's snapshot, and to ask of each whether both snapshots see it alike.
 *
 * Writers. Every transaction that is about to commit or to be prepared, and that holds a lock on a tracked table such
 * as only writers take (or has counted changes of it), appends its full transaction id to the table's ring. It does so
 * before it becomes visible, so nobody sees its changes without finding it in the ring. Transactions that abort
 * afterwards stay and do no harm. What an unfinished transaction writes is seen by itself alone, and it neither uses
 * nor publishes Graphs of tables that it has changed.
 *
 * A writer pays for its own locks only. It walks them, those of the fast path first: another process may move such a lock
 * to the main table at any time, and puts it there before it takes it away. A filter (tables.c) is read without any lock and
 * tells of nearly every table that is not tracked; the others are looked up under cache_lock.
 *
 * Registration. A transaction that passed this point before the table was tracked is in no ring. So, when a table is
 * tracked: it is counted in the filter, visible to all; then R = the next transaction id; then, if nobody holds a writer's
 * lock on the table, the transactions that are running now are harmless: they will find the table in the filter when they
 * commit, wait for cache_lock, and find the entry. The lock manager is asked without cache_lock: to ask for each of many
 * leaves takes long, and a reference keeps the entry meanwhile. A snapshot is usable for the table iff each transaction below R that it
 * sees as running is harmless.
 *
 * Overflow. A full ring is cleared of the transactions that have ended, and remembers the highest of them and the next
 * transaction id of that moment: a snapshot that has all of them behind it, or that was certainly taken later, sees
 * them all as ended. What is still running and must go all the same can only be tolerated by the first test.
 *
 * Standby. No writer's callback runs there; Graphs serve snapshots that are equal. Promotion starts anew.
 *
 * Locks: all under EmogiShared.cache_lock, but for the filter, which writers read without it. A writer that finds 0 there
 * because the entry was just being made is one that registration finds by its lock, or that has ended before.
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
#include "utils/snapmgr.h"

#include "cache/tables.h"
#include "base/compat.h"
#include "base/fault.h"

/* The locks that writers take, and only they. */
#define EMOGI_WRITER_LOCKS	(LOCKBIT_ON(RowExclusiveLock) | LOCKBIT_ON(ExclusiveLock) | LOCKBIT_ON(AccessExclusiveLock))

static List *suspects;			/* tables that this transaction has changed and the filter knows, see enter_my_changes */
static bool noted = false;		/* this transaction has entered itself in a ring */

/* ---- writers ---- */

/* Does the own transaction hold a lock on this table such as only writers take? */
static bool
holds_writer_lock(Oid relid)
{
	return emogi_compat_holds_lock(relid, RowExclusiveLock) ||
		emogi_compat_holds_lock(relid, ExclusiveLock) ||
		emogi_compat_holds_lock(relid, AccessExclusiveLock);
}

/* Has the own transaction, so far, changed this table? Locks tell of all ways to write; the counts of most. */
bool
emogi_recent_writers_changed_by_me(Oid relid)
{
	return FullTransactionIdIsValid(GetTopFullTransactionIdIfAny()) &&
		(holds_writer_lock(relid) || emogi_compat_counts_changes(relid));
}

/* Make room in a full ring. */
static void
clear_ring(EmogiTable *table)
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
	if (kept == EMOGI_RING_WRITERS)
	{
		table->lost_max = Max(table->lost_max, table->writers[0]);
		memmove(table->writers, table->writers + 1, --kept * sizeof(uint64));
	}
	table->nwriters = kept;
}

/* Enter the own transaction in a table's ring, once. Caller holds cache_lock exclusively. */
static void
enter_writer(EmogiTable *table)
{
	uint64		xid = U64FromFullTransactionId(GetTopFullTransactionId());

	if (table->nwriters > 0 && table->writers[table->nwriters - 1] == xid)
		return;
	if (table->nwriters == EMOGI_RING_WRITERS)
		clear_ring(table);
	table->writers[table->nwriters++] = xid;
	noted = true;
}

/* Remember a table that this transaction has changed, unless it is certainly not tracked. */
static void
suspect(Oid relid)
{
	if (emogi_tables_may_have(relid))
		suspects = lappend_oid(suspects, relid);
}

/* Enter the own transaction in the rings of those of its suspects that are tracked. */
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
 * Enter this transaction, which is about to commit or to be prepared, in the rings of the tables that it has changed. Every
 * transaction that writes pays for this. No lock of the lock manager is held while it waits for cache_lock: first all are
 * walked, then what was found is entered.
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
	if (noted)
		emogi_fault_sleep(EMOGI_AT_PRE_COMMIT);
}

static void
at_end_of_transaction(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			noted = false;
			if (emogi_tables != NULL && pg_atomic_read_u32(&emogi_tables->ntracked) > 0)
				enter_my_changes();
			break;
		case XACT_EVENT_COMMIT:
			if (noted)
				emogi_fault_sleep(EMOGI_AT_COMMITTED);
			break;
		default:
			break;
	}
}

/* Watch the ends of transactions; called once, in the postmaster. */
void
emogi_recent_writers_init(void)
{
	RegisterXactCallback(at_end_of_transaction, NULL);
}

/* ---- registration ---- */

/* Does anybody else hold a lock on a table of this database that only writers take? Prepared transactions count. */
static bool
has_writers(Oid relid)
{
	LOCKTAG		tag;
	int			count;

	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relid);
	pfree(GetLockConflicts(&tag, ShareLock, &count));
	return count > 0;
}

/* Get the transactions that are running now; false when they are too many to remember. The caller frees *xids. */
static bool
take_running(EmogiTransactionSnapshot *xids)
{
	static SnapshotData snapshot = {SNAPSHOT_MVCC};

	/* not GetLatestSnapshot, which refuses in parallel mode; the caller's snapshot keeps MyProc->xmin */
	GetSnapshotData(&snapshot);
	if (!emogi_transaction_snapshot_take(&snapshot, xids))
		return false;
	if (xids->nrunning <= EMOGI_RING_HARMLESS)
		return true;
	pfree(xids->running);
	return false;
}

/* Remember transactions as harmless to a table: nobody held a writer's lock when they were running and the entry was visible. */
static void
remember_harmless(EmogiTable *table, const EmogiTransactionSnapshot *xids)
{
	table->harmless_xmax = xids->xmax;
	memcpy(table->harmless, xids->running, xids->nrunning * sizeof(uint64));
	table->nharmless = (int) xids->nrunning;
}

/* ---- verdicts; caller holds cache_lock ---- */

/* Is this transaction, below R, known to find the entry when it commits? */
static bool
is_harmless(const EmogiTable *table, uint64 xid)
{
	if (table->nharmless < 0)
		return false;
	return xid >= table->harmless_xmax ||
		bsearch(&xid, table->harmless, table->nharmless, sizeof(uint64), emogi_transaction_snapshot_compare) != NULL;
}

/* Does a snapshot see every transaction that the ring has dropped as ended? */
static bool
is_past_dropped(const EmogiTable *table, const EmogiTransactionSnapshot *xids)
{
	return table->lost_max < xids->xmin &&
		(table->dropped_max < xids->xmin || xids->xmax > table->dropped_next);
}

/* Does a snapshot obey the rule of registration? */
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

/* May Graphs of a table be used and published under this snapshot? */
bool
emogi_recent_writers_usable(int index, const EmogiTransactionSnapshot *xids)
{
	const EmogiTable *table = &emogi_tables->tables[index];

	if (xids->recovery)
		return table->recovery;
	return !table->recovery && is_past_dropped(table, xids) &&
		(emogi_faults.no_registration_rule || is_registered(table, xids));
}

/* Do both snapshots see the same rows of a table? b is usable, and a was when it was published. */
bool
emogi_recent_writers_alike(int index, const EmogiTransactionSnapshot *a, const EmogiTransactionSnapshot *b)
{
	const EmogiTable *table = &emogi_tables->tables[index];

	if (a->recovery || b->recovery)
		return emogi_transaction_snapshot_equal(a, b);
	if (!is_past_dropped(table, a))
		return false;
	for (int i = 0; i < table->nwriters; i++)
	{
		uint64		xid = table->writers[i];

		if (emogi_transaction_snapshot_running(a, xid) != emogi_transaction_snapshot_running(b, xid) && emogi_transaction_snapshot_committed(xid))
			return false;
	}
	return true;
}

/* Will no snapshot ever again see the rows that this snapshot sees? All snapshots see what is below oldest_xid as ended. */
bool
emogi_recent_writers_outdated(int index, const EmogiTransactionSnapshot *xids, TransactionId oldest_xid)
{
	const EmogiTable *table = &emogi_tables->tables[index];
	uint64		oldest = emogi_transaction_snapshot_full(oldest_xid, U64FromFullTransactionId(ReadNextFullTransactionId()));

	if (xids->recovery)
		return !RecoveryInProgress() || xids->xmin < oldest;	/* snapshots there are equal or not, and xmin never goes back */
	if (!is_past_dropped(table, xids))
		return true;
	for (int i = 0; i < table->nwriters; i++)
	{
		uint64		xid = table->writers[i];

		if (xid < oldest && emogi_transaction_snapshot_running(xids, xid) && emogi_transaction_snapshot_committed(xid))
			return true;
	}
	return false;
}

/* Will no snapshot that is not older than `newer` see the rows that this snapshot sees? */
bool
emogi_recent_writers_passed(int index, const EmogiTransactionSnapshot *xids, const EmogiTransactionSnapshot *newer)
{
	const EmogiTable *table = &emogi_tables->tables[index];

	if (xids->recovery)
		return !newer->recovery || newer->xmax > xids->xmax;
	if (!is_past_dropped(table, xids))
		return true;
	for (int i = 0; i < table->nwriters; i++)
	{
		uint64		xid = table->writers[i];

		if (emogi_transaction_snapshot_running(xids, xid) && !emogi_transaction_snapshot_running(newer, xid) && emogi_transaction_snapshot_committed(xid))
			return true;
	}
	return false;
}

/* ---- tracking; caller holds cache_lock exclusively, unless otherwise said ---- */

/*
 * Track a table and take a reference to its entry, until emogi_tables_release; -1 when there is no room. The table is
 * locked by the caller.
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

/* Is the rule of registration against a snapshot, which emogi_recent_writers_register may change? */
bool
emogi_recent_writers_must_register(int index, const EmogiTransactionSnapshot *xids)
{
	return !xids->recovery && !is_registered(&emogi_tables->tables[index], xids);
}

/* Tables that are being registered. */
typedef struct Registering
{
	const int  *tables;			/* [ntables], with a reference to each */
	const Oid  *relids;			/* [ntables] */
	int			ntables;
	const EmogiTransactionSnapshot *xids;
} Registering;

/* Find out which tables nobody writes of those that must be registered, and remember who is harmless to them. Caller does not hold cache_lock. */
static void
register_tables(const Registering *what)
{
	bool	   *is_quiet = palloc(what->ntables * sizeof(bool));
	EmogiTransactionSnapshot running;

	LWLockAcquire(emogi_shared->cache_lock, LW_SHARED);
	for (int i = 0; i < what->ntables; i++)
		is_quiet[i] = emogi_recent_writers_must_register(what->tables[i], what->xids);
	LWLockRelease(emogi_shared->cache_lock);
	for (int i = 0; i < what->ntables; i++)
	{
		if (is_quiet[i])
			is_quiet[i] = !has_writers(what->relids[i]);
		CHECK_FOR_INTERRUPTS();
	}
	emogi_fault_sleep(EMOGI_AT_REGISTERING);
	CHECK_FOR_INTERRUPTS();
	if (take_running(&running))
	{
		emogi_cache_lock();
		for (int i = 0; i < what->ntables; i++)
			if (is_quiet[i])
				remember_harmless(&emogi_tables->tables[what->tables[i]], &running);
		emogi_cache_unlock();
		pfree(running.running);
	}
	pfree(is_quiet);
}

/* Give the references back to tables that are being registered, after an error. */
static void
give_back(int code, Datum registering)
{
	const Registering *what = (Registering *) DatumGetPointer(registering);

	emogi_cache_lock();
	for (int i = 0; i < what->ntables; i++)
		emogi_tables_release(what->tables[i]);
	emogi_cache_unlock();
}

/*
 * Register tables anew that emogi_recent_writers_must_register says so of, so that one writer at the wrong moment does not keep a table uncached for long.
 * The caller does not hold cache_lock, and has a reference to each table: an error, which may be a cancel, gives them back.
 */
void
emogi_recent_writers_register(const int *tables, const Oid *relids, int ntables, const EmogiTransactionSnapshot *xids)
{
	Registering what = {tables, relids, ntables, xids};

	PG_ENSURE_ERROR_CLEANUP(give_back, PointerGetDatum(&what));
	register_tables(&what);
	PG_END_ENSURE_ERROR_CLEANUP(give_back, PointerGetDatum(&what));
}

/* Tell what a usable snapshot sees of a table. */
static void
tell(EmogiTable *table, const EmogiTransactionSnapshot *xids, EmogiWriterTold *told)
{
	memset(told, 0, sizeof *told);
	memcpy(told->epoch, emogi_tables->epoch, sizeof told->epoch);
	told->number = table->number;
	told->nclears = table->nclears;
	for (int i = 0; i < table->nwriters; i++)
		if (!emogi_transaction_snapshot_running(xids, table->writers[i]) && emogi_transaction_snapshot_committed(table->writers[i]))
			told->seen[told->nseen++] = table->writers[i];
	qsort(told->seen, told->nseen, sizeof(uint64), emogi_transaction_snapshot_compare);
	table->told = true;
}

/*
 * Tell what tells the rows of a table that a snapshot sees from all others, ever: who is told the same twice, of one epoch, has been told of the same rows. False when
 * that is not to be had: on a standby, where the rules are against the snapshot, where there is no room. The table is locked by the caller, who has
 * not changed it, and does not hold cache_lock.
 *
 * Beside the transactions that the ring has, a usable snapshot sees all as ended that have ever changed the table: those from before its entry was made, and
 * those that the ring has dropped, be it because they are behind the snapshot or because it waits for none of them.
 */
bool
emogi_recent_writers_tell(Oid relid, const EmogiTransactionSnapshot *xids, EmogiWriterTold *told)
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
	usable = !xids->recovery && emogi_recent_writers_usable(index, xids);
	if (usable)
		tell(&emogi_tables->tables[index], xids, told);
	emogi_tables_release(index);
	emogi_cache_unlock();
	return usable;
}

/* After a promotion: register anew what was tracked on the standby. Caller holds cache_lock exclusively. */
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
