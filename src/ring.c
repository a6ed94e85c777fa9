/*
 * ring.c: which transactions have changed which tables: what decides whether a cached Graph is still exact.
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
 * Registration. A transaction that passed this point before the table was tracked is in no ring. So, when a table is
 * tracked: the entry is made visible to all; then R = the next transaction id; then, if nobody holds a writer's lock on
 * the table, the transactions that are running now are harmless: they will find the entry when they commit. A snapshot
 * is usable for the table iff each transaction below R that it sees as running is harmless.
 *
 * Overflow. A full ring is cleared of the transactions that have ended, and remembers the highest of them and the next
 * transaction id of that moment: a snapshot that has all of them behind it, or that was certainly taken later, sees
 * them all as ended. What is still running and must go all the same can only be tolerated by the first test.
 *
 * Standby. No writer's callback runs there; Graphs serve snapshots that are equal. Promotion starts anew.
 *
 * Locks: all under EmogiShared.cache_lock, but for a table's identity, which writers read without it and check again
 * under it. A writer that misses an entry because it was being made is one that registration finds by its lock.
 */
#include "emogi.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/procarray.h"
#include "storage/shmem.h"
#include "utils/snapmgr.h"

#define EMOGI_RING_WRITERS	128
#define EMOGI_RING_HARMLESS 128

typedef struct Table
{
	volatile Oid relid;			/* InvalidOid = free; see above */
	volatile Oid database;
	int			references;		/* cached Graphs that stand on it; an entry without any may be taken for another table */
	bool		unwanted;		/* to be free when the last of them is */
	uint64		last_used;		/* order among those */
	bool		recovery;		/* tracked on a standby */
	uint64		registered;		/* R; PG_UINT64_MAX = not yet */

	int			nharmless;		/* -1 = unknown */
	uint64		harmless_xmax;	/* all from here on are harmless, ... */
	uint64		harmless[EMOGI_RING_HARMLESS];	/* ... and these, ascending */

	uint64		dropped_max;	/* highest that was dropped after it had ended; 0 = none */
	uint64		dropped_next;	/* next transaction id when that was last done */
	uint64		lost_max;		/* highest that was dropped while it was running; 0 = none */
	int			nwriters;
	uint64		writers[EMOGI_RING_WRITERS];	/* full transaction ids, in order of their commits or so */
} Table;

typedef struct Ring
{
	pg_atomic_uint32 ntables;	/* entries [0, ntables) may be in use */
	uint64		clock;			/* for last_used */
	bool		any_recovery;
	Table		tables[EMOGI_MAX_TABLES];
} Ring;

static Ring *ring;
static bool noted = false;		/* this transaction has entered itself in a ring */

Size
emogi_ring_shmem_size(void)
{
	return MAXALIGN(sizeof(Ring));
}

/* Set up the rings, empty. Caller holds AddinShmemInitLock. */
void
emogi_ring_shmem_startup(bool found)
{
	bool		found_ring;

	ring = ShmemInitStruct("emogi ring", emogi_ring_shmem_size(), &found_ring);
	if (found)
		return;
	memset(ring, 0, emogi_ring_shmem_size());
	pg_atomic_init_u32(&ring->ntables, 0);
}

/* ---- snapshots ---- */

/* Get the full id of a transaction that a snapshot or the like has named; next = an id that is not yet given out. */
static uint64
full_xid(TransactionId xid, uint64 next)
{
	uint64		epoch = next >> 32;

	if (xid > (TransactionId) next)
		epoch--;
	return epoch << 32 | xid;
}

static int
compare_xids(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return x < y ? -1 : x > y;
}

/*
 * Turn a snapshot into a view; false when it is of a kind that Graphs are not shared under, or sees too many running
 * transactions. The own transaction counts as running: a Graph that it builds never holds changes of its own.
 */
bool
emogi_view_take(Snapshot snapshot, EmogiView *view)
{
	uint64		next = U64FromFullTransactionId(ReadNextFullTransactionId());
	FullTransactionId own = GetTopFullTransactionIdIfAny();
	bool		recovery = snapshot->takenDuringRecovery;
	uint32		count = recovery ? (uint32) Max(snapshot->subxcnt, 0) : snapshot->xcnt;
	const TransactionId *xids = recovery ? snapshot->subxip : snapshot->xip;

	if (snapshot->snapshot_type != SNAPSHOT_MVCC || count + 1 > EMOGI_MAX_RUNNING)
		return false;
	view->xmin = full_xid(snapshot->xmin, next);
	view->xmax = full_xid(snapshot->xmax, next);
	view->recovery = recovery;
	view->overflowed = snapshot->suboverflowed;
	view->nrunning = count;
	for (uint32 i = 0; i < count; i++)
		view->running[i] = full_xid(xids[i], next);
	if (FullTransactionIdIsValid(own) && U64FromFullTransactionId(own) < view->xmax)
		view->running[view->nrunning++] = U64FromFullTransactionId(own);
	qsort(view->running, view->nrunning, sizeof(uint64), compare_xids);
	if (view->nrunning > 0)
		view->xmin = Min(view->xmin, view->running[0]);
	return true;
}

/* Does a view see this top-level transaction as not yet ended? */
static bool
sees_running(const EmogiView *view, uint64 xid)
{
	if (xid >= view->xmax)
		return true;
	if (xid < view->xmin)
		return false;
	return bsearch(&xid, view->running, view->nrunning, sizeof(uint64), compare_xids) != NULL;
}

/*
 * Has this transaction, which has ended, committed? One whose outcome the server has already thrown away counts as
 * committed, which is the safe side.
 */
static bool
did_commit(uint64 xid)
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
emogi_ring_changed_by_me(Oid relid)
{
	return FullTransactionIdIsValid(GetTopFullTransactionIdIfAny()) &&
		(holds_writer_lock(relid) || emogi_compat_counts_changes(relid));
}

/* Make room in a full ring. */
static void
clear_ring(Table *table)
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
	if (kept == EMOGI_RING_WRITERS)
	{
		table->lost_max = Max(table->lost_max, table->writers[0]);
		memmove(table->writers, table->writers + 1, --kept * sizeof(uint64));
	}
	table->nwriters = kept;
}

/* Enter the own transaction in a table's ring, if the entry is still the table's. */
static void
enter_writer(Table *table, Oid relid)
{
	uint64		xid = U64FromFullTransactionId(GetTopFullTransactionId());

	LWLockAcquire(emogi_shared->cache_lock, LW_EXCLUSIVE);
	if (table->relid == relid && table->database == MyDatabaseId)
	{
		if (table->nwriters == EMOGI_RING_WRITERS)
			clear_ring(table);
		table->writers[table->nwriters++] = xid;
		noted = true;
	}
	LWLockRelease(emogi_shared->cache_lock);
}

/* Find the entry of a table of this database; NULL when it is not tracked. Without lock: see above. */
static Table *
find_table(Oid relid)
{
	uint32		ntables = pg_atomic_read_u32(&ring->ntables);

	for (uint32 i = 0; i < ntables; i++)
		if (ring->tables[i].relid == relid && ring->tables[i].database == MyDatabaseId)
			return &ring->tables[i];
	return NULL;
}

/* Enter the own transaction in the ring of a table that it has counted changes of, unless its lock has told already. */
static void
enter_counted(Oid relid)
{
	Table	   *table = find_table(relid);

	if (table != NULL && !holds_writer_lock(relid))
		enter_writer(table, relid);
}

/*
 * Enter this transaction, which is about to commit or to be prepared, in the rings of the tables that it has changed.
 * Every transaction that writes pays for this: it asks for the locks table by table, but for the counts only once.
 */
static void
enter_my_changes(void)
{
	uint32		ntables = pg_atomic_read_u32(&ring->ntables);
	bool		counted;

	if (!FullTransactionIdIsValid(GetTopFullTransactionIdIfAny()))
		return;
	counted = emogi_compat_each_counted(enter_counted);
	for (uint32 i = 0; i < ntables; i++)
	{
		Table	   *table = &ring->tables[i];
		Oid			relid = table->relid;

		if (OidIsValid(relid) && table->database == MyDatabaseId &&
			(holds_writer_lock(relid) || (!counted && emogi_compat_counts_changes(relid))))
			enter_writer(table, relid);
	}
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
			if (ring != NULL && pg_atomic_read_u32(&ring->ntables) > 0)
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
emogi_ring_init(void)
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

/* Remember the transactions that are running now as harmless. Nobody held a writer's lock after the entry was visible. */
static void
remember_harmless(Table *table)
{
	static SnapshotData snapshot = {SNAPSHOT_MVCC};
	EmogiView  *view = palloc(sizeof *view);

	/* not GetLatestSnapshot, which refuses in parallel mode; the caller's snapshot keeps MyProc->xmin */
	GetSnapshotData(&snapshot);
	table->nharmless = -1;
	if (emogi_view_take(&snapshot, view) && view->nrunning <= EMOGI_RING_HARMLESS)
	{
		table->harmless_xmax = view->xmax;
		memcpy(table->harmless, view->running, view->nrunning * sizeof(uint64));
		table->nharmless = (int) view->nrunning;
	}
	pfree(view);
}

/* Find an entry for another table: a free one, else the one without Graphs that was not used for longest; or NULL. */
static Table *
find_room(void)
{
	uint32		ntables = pg_atomic_read_u32(&ring->ntables);
	Table	   *oldest = NULL;

	for (uint32 i = 0; i < ntables; i++)
	{
		Table	   *table = &ring->tables[i];

		if (!OidIsValid(table->relid))
			return table;
		if (table->references == 0 && (oldest == NULL || table->last_used < oldest->last_used))
			oldest = table;
	}
	return ntables < EMOGI_MAX_TABLES ? &ring->tables[ntables] : oldest;
}

/* Make an entry for a table, seen by every writer that commits from now on. */
static Table *
add_table(Oid relid)
{
	Table	   *table = find_room();

	if (table == NULL)
		return NULL;
	table->relid = InvalidOid;
	pg_memory_barrier();
	memset(table, 0, sizeof *table);
	table->nharmless = -1;
	table->registered = PG_UINT64_MAX;
	table->database = MyDatabaseId;
	pg_memory_barrier();
	table->relid = relid;
	if (table - ring->tables == (ptrdiff_t) pg_atomic_read_u32(&ring->ntables))
		pg_atomic_fetch_add_u32(&ring->ntables, 1);
	pg_memory_barrier();
	return table;
}

/* ---- verdicts; caller holds cache_lock ---- */

/* Is this transaction, below R, known to find the entry when it commits? */
static bool
is_harmless(const Table *table, uint64 xid)
{
	if (table->nharmless < 0)
		return false;
	return xid >= table->harmless_xmax ||
		bsearch(&xid, table->harmless, table->nharmless, sizeof(uint64), compare_xids) != NULL;
}

/* Does a view see every transaction that the ring has dropped as ended? */
static bool
is_past_dropped(const Table *table, const EmogiView *view)
{
	return table->lost_max < view->xmin &&
		(table->dropped_max < view->xmin || view->xmax > table->dropped_next);
}

/* Does a view obey the rule of registration? */
static bool
is_registered(const Table *table, const EmogiView *view)
{
	uint64		xid;

	if (view->xmin >= table->registered)
		return true;
	if (table->nharmless < 0)
		return false;
	for (uint32 i = 0; i < view->nrunning && view->running[i] < table->registered; i++)
		if (!is_harmless(table, view->running[i]))
			return false;
	for (xid = view->xmax; xid < Min(table->registered, table->harmless_xmax); xid++)
		if (!is_harmless(table, xid))
			return false;
	return true;
}

/* May Graphs of a table be used and published under this view? */
bool
emogi_ring_usable(int index, const EmogiView *view)
{
	const Table *table = &ring->tables[index];

	if (view->recovery)
		return table->recovery;
	return !table->recovery && is_past_dropped(table, view) &&
		(emogi_faults.no_registration_rule || is_registered(table, view));
}

/* Are two views of a standby the same snapshot? */
static bool
are_equal(const EmogiView *a, const EmogiView *b)
{
	return a->recovery && b->recovery && !a->overflowed && !b->overflowed && a->xmin == b->xmin && a->xmax == b->xmax &&
		a->nrunning == b->nrunning && memcmp(a->running, b->running, a->nrunning * sizeof(uint64)) == 0;
}

/* Do both views see the same rows of a table? b is usable, and a was when it was published. */
bool
emogi_ring_alike(int index, const EmogiView *a, const EmogiView *b)
{
	const Table *table = &ring->tables[index];

	if (a->recovery || b->recovery)
		return are_equal(a, b);
	if (!is_past_dropped(table, a))
		return false;
	for (int i = 0; i < table->nwriters; i++)
	{
		uint64		xid = table->writers[i];

		if (sees_running(a, xid) != sees_running(b, xid) && did_commit(xid))
			return false;
	}
	return true;
}

/* Will no snapshot ever again see the rows that this view sees? All snapshots see what is below oldest_xid as ended. */
bool
emogi_ring_outdated(int index, const EmogiView *view, TransactionId oldest_xid)
{
	const Table *table = &ring->tables[index];
	uint64		oldest = full_xid(oldest_xid, U64FromFullTransactionId(ReadNextFullTransactionId()));

	if (view->recovery)
		return !RecoveryInProgress();
	if (!is_past_dropped(table, view))
		return true;
	for (int i = 0; i < table->nwriters; i++)
	{
		uint64		xid = table->writers[i];

		if (xid < oldest && sees_running(view, xid) && did_commit(xid))
			return true;
	}
	return false;
}

/* ---- tracking; caller holds cache_lock exclusively ---- */

/*
 * Track a table and take a reference to its entry, until emogi_ring_release; -1 when there is no room. The table is
 * locked by the caller. Where the entry's rule is against the caller's view, it gets to know anew who is harmless, so
 * that one writer at the wrong moment does not keep a table uncached for long.
 */
int
emogi_ring_track(Oid relid, const EmogiView *view)
{
	Table	   *table = find_table(relid);

	if (table == NULL)
		table = add_table(relid);
	if (table == NULL)
		return -1;
	table->references++;
	table->unwanted = false;
	table->last_used = ++ring->clock;
	if (view->recovery)
		table->recovery = ring->any_recovery = true;
	else
	{
		if (table->registered == PG_UINT64_MAX)
			table->registered = U64FromFullTransactionId(ReadNextFullTransactionId());
		if (!is_registered(table, view) && !has_writers(relid))
			remember_harmless(table);
	}
	return (int) (table - ring->tables);
}

/* Give a reference back. Caller holds cache_lock exclusively. */
void
emogi_ring_release(int table)
{
	Table	   *entry = &ring->tables[table];

	if (--entry->references == 0 && entry->unwanted)
		entry->relid = InvalidOid;
}

/*
 * Track a table, or all of a database (relid = InvalidOid), no longer: at once, or when the last Graph on it is freed, which
 * may be in use or on a GPU. Whoever tracks it before goes on with what is known. Caller holds cache_lock exclusively.
 */
void
emogi_ring_untrack(Oid database, Oid relid)
{
	for (uint32 i = 0; i < pg_atomic_read_u32(&ring->ntables); i++)
	{
		Table	   *table = &ring->tables[i];

		if (table->database != database || (OidIsValid(relid) && table->relid != relid))
			continue;
		table->unwanted = true;
		if (table->references == 0)
			table->relid = InvalidOid;
	}
}

/* Get the table that an entry with a reference stands for. */
Oid
emogi_ring_relid(int table)
{
	return ring->tables[table].relid;
}

/* After a promotion: register anew what was tracked on the standby. Caller holds cache_lock exclusively. */
void
emogi_ring_forget_recovery(void)
{
	if (!ring->any_recovery || RecoveryInProgress())
		return;
	for (uint32 i = 0; i < pg_atomic_read_u32(&ring->ntables); i++)
	{
		Table	   *table = &ring->tables[i];

		if (table->recovery)
		{
			table->recovery = false;
			table->registered = U64FromFullTransactionId(ReadNextFullTransactionId());
			table->nharmless = -1;
		}
	}
	ring->any_recovery = false;
}
