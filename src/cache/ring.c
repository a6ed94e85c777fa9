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
 * A writer pays for its own locks only. It walks them, those of the fast path first: another process may move such a lock
 * to the main table at any time, and puts it there before it takes it away. A filter, counters by hash of the tracked
 * tables' names, is read without any lock and tells of nearly every table that is not tracked; the others are looked up
 * under cache_lock.
 *
 * Registration. A transaction that passed this point before the table was tracked is in no ring. So, when a table is
 * tracked: it is counted in the filter, visible to all; then R = the next transaction id; then, if nobody holds a writer's
 * lock on the table, the transactions that are running now are harmless: they will find the table in the filter when they
 * commit, wait for cache_lock, and find the entry. A snapshot is usable for the table iff each transaction below R that it
 * sees as running is harmless.
 *
 * Overflow. A full ring is cleared of the transactions that have ended, and remembers the highest of them and the next
 * transaction id of that moment: a snapshot that has all of them behind it, or that was certainly taken later, sees
 * them all as ended. What is still running and must go all the same can only be tolerated by the first test.
 *
 * Standby. No writer's callback runs there; Graphs serve snapshots that are equal. Promotion starts anew.
 *
 * An entry goes when the last Graph on its table is freed. One that never had a published Graph stays for a while, so that
 * its R grows old: under writers that never pause, this is how a table comes to be cached.
 *
 * Locks: all under EmogiShared.cache_lock, but for the filter, which writers read without it. A writer that finds 0 there
 * because the entry was just being made is one that registration finds by its lock, or that has ended before.
 */
#include "server/emogi.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "common/hashfn.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/procarray.h"
#include "storage/shmem.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#define EMOGI_RING_WRITERS	128
#define EMOGI_RING_HARMLESS 128

/* Tables that can be tracked: so many for each MiB of emogi.max_memory, within bounds. */
#define EMOGI_TABLES_PER_MB 4
#define EMOGI_MIN_TABLES	1024
#define EMOGI_MAX_TABLES	65536

/* Counters of the filter; a power of two. */
#define EMOGI_FILTER_SIZE	65536

/* How long an entry that never had a published Graph stays without a reference. */
#define EMOGI_IDLE_MS		60000

/* The locks that writers take, and only they. */
#define EMOGI_WRITER_LOCKS	(LOCKBIT_ON(RowExclusiveLock) | LOCKBIT_ON(ExclusiveLock) | LOCKBIT_ON(AccessExclusiveLock))

typedef struct Table
{
	Oid			relid;			/* InvalidOid = the entry is free */
	Oid			database;
	dlist_node	chain;			/* in the bucket of its name, unless it is free */
	dlist_node	rest;			/* in Ring.idle without references, in Ring.free when it is free */
	int			references;		/* Graphs that stand on it, those that are being built included */
	bool		published;		/* one of them was published: the last reference takes the entry with it */
	bool		unwanted;		/* the same for another reason */
	TimestampTz idle_since;
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
	pg_atomic_uint32 ntracked;	/* entries that are not free; read without lock */
	bool		any_recovery;
	uint32		nused;			/* entries [0, nused) are set up */
	dlist_head	free;
	dlist_head	idle;			/* the one that has been longest without reference first */
	Table		tables[FLEXIBLE_ARRAY_MEMBER];	/* [max_tables()] */
} Ring;

static Ring *ring;
static pg_atomic_uint32 *filter;	/* [EMOGI_FILTER_SIZE], tracked tables by the hash of their names */
static dlist_head *buckets;		/* [max_tables()], the same */
static List *suspects;			/* tables that this transaction has changed and the filter knows, see enter_my_changes */
static bool noted = false;		/* this transaction has entered itself in a ring */

/* Get the number of tables that can be tracked. */
static uint32
max_tables(void)
{
	return (uint32) Min(Max((int64) emogi_max_memory_mb * EMOGI_TABLES_PER_MB, EMOGI_MIN_TABLES), EMOGI_MAX_TABLES);
}

static Size
entries_bytes(void)
{
	return add_size(offsetof(Ring, tables), mul_size(max_tables(), sizeof(Table)));
}

Size
emogi_ring_shmem_size(void)
{
	Size		bytes = MAXALIGN(entries_bytes());

	bytes = add_size(bytes, MAXALIGN(EMOGI_FILTER_SIZE * sizeof(pg_atomic_uint32)));
	return add_size(bytes, MAXALIGN(mul_size(max_tables(), sizeof(dlist_head))));
}

/* Set up the rings, empty. Caller holds AddinShmemInitLock. */
void
emogi_ring_shmem_startup(bool found)
{
	bool		found_ring;

	ring = ShmemInitStruct("emogi ring", entries_bytes(), &found_ring);
	filter = ShmemInitStruct("emogi ring filter", EMOGI_FILTER_SIZE * sizeof(pg_atomic_uint32), &found_ring);
	buckets = ShmemInitStruct("emogi ring buckets", max_tables() * sizeof(dlist_head), &found_ring);
	if (found)
		return;
	memset(ring, 0, offsetof(Ring, tables));	/* an entry is set up when it is first taken */
	pg_atomic_init_u32(&ring->ntracked, 0);
	dlist_init(&ring->free);
	dlist_init(&ring->idle);
	for (uint32 i = 0; i < EMOGI_FILTER_SIZE; i++)
		pg_atomic_init_u32(&filter[i], 0);
	for (uint32 i = 0; i < max_tables(); i++)
		dlist_init(&buckets[i]);
}

/* ---- entries by name ---- */

static uint32
hash_name(Oid database, Oid relid)
{
	return hash_combine(murmurhash32(database), murmurhash32(relid));
}

/* Get the filter's counter for a table. */
static pg_atomic_uint32 *
counter_of(Oid database, Oid relid)
{
	return &filter[hash_name(database, relid) % EMOGI_FILTER_SIZE];
}

static dlist_head *
bucket_of(Oid database, Oid relid)
{
	return &buckets[hash_name(database, relid) % max_tables()];
}

/* Find the entry of a table; NULL when it is not tracked. Caller holds cache_lock. */
static Table *
find_table(Oid database, Oid relid)
{
	dlist_iter	iter;

	dlist_foreach(iter, bucket_of(database, relid))
	{
		Table	   *table = dlist_container(Table, chain, iter.cur);

		if (table->relid == relid && table->database == database)
			return table;
	}
	return NULL;
}

/* Free an entry without references. Caller holds cache_lock exclusively. */
static void
let_go(Table *table)
{
	pg_atomic_fetch_sub_u32(counter_of(table->database, table->relid), 1);
	pg_atomic_fetch_sub_u32(&ring->ntracked, 1);
	dlist_delete(&table->chain);
	dlist_delete(&table->rest);
	dlist_push_head(&ring->free, &table->rest);
	table->relid = InvalidOid;
}

/* Free the entries that have been idle for too long. Caller holds cache_lock exclusively. */
static void
let_go_idle(void)
{
	TimestampTz now;

	if (dlist_is_empty(&ring->idle))
		return;
	now = GetCurrentTimestamp();
	while (!dlist_is_empty(&ring->idle))
	{
		Table	   *table = dlist_head_element(Table, rest, &ring->idle);

		if (!TimestampDifferenceExceeds(table->idle_since, now, EMOGI_IDLE_MS))
			break;
		let_go(table);
	}
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
 * Turn a snapshot into a view, with a palloced running[]; false when it is of a kind that Graphs are not shared under, or
 * sees too many running transactions. The own transaction counts as running: a Graph that it builds never holds changes of
 * its own.
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
	view->running = palloc((count + 1) * sizeof(uint64));
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

/* Enter the own transaction in a table's ring, once. Caller holds cache_lock exclusively. */
static void
enter_writer(Table *table)
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
	if (pg_atomic_read_u32(counter_of(MyDatabaseId, relid)) > 0)
		suspects = lappend_oid(suspects, relid);
}

/* Remember the tracked tables that this transaction has counted changes of, where counts cannot be walked. */
static void
suspect_counted(void)
{
	LWLockAcquire(emogi_shared->cache_lock, LW_SHARED);
	for (uint32 i = 0; i < ring->nused; i++)
	{
		const Table *table = &ring->tables[i];

		if (OidIsValid(table->relid) && table->database == MyDatabaseId && emogi_compat_counts_changes(table->relid))
			suspects = lappend_oid(suspects, table->relid);
	}
	LWLockRelease(emogi_shared->cache_lock);
}

/* Enter the own transaction in the rings of those of its suspects that are tracked. */
static void
enter_suspects(void)
{
	ListCell   *cell;

	LWLockAcquire(emogi_shared->cache_lock, LW_EXCLUSIVE);
	foreach(cell, suspects)
	{
		Table	   *table = find_table(MyDatabaseId, lfirst_oid(cell));

		if (table != NULL)
			enter_writer(table);
	}
	let_go_idle();
	LWLockRelease(emogi_shared->cache_lock);
}

/*
 * Enter this transaction, which is about to commit or to be prepared, in the rings of the tables that it has changed. Every
 * transaction that writes pays for this. No lock of the lock manager may be held with cache_lock, under which registration
 * asks for such locks: so first all are walked, then what was found is entered.
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
	if (!emogi_compat_each_counted(suspect))
		suspect_counted();
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
			if (ring != NULL && pg_atomic_read_u32(&ring->ntracked) > 0)
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
	EmogiView	view;

	/* not GetLatestSnapshot, which refuses in parallel mode; the caller's snapshot keeps MyProc->xmin */
	GetSnapshotData(&snapshot);
	table->nharmless = -1;
	if (!emogi_view_take(&snapshot, &view))
		return;
	if (view.nrunning <= EMOGI_RING_HARMLESS)
	{
		table->harmless_xmax = view.xmax;
		memcpy(table->harmless, view.running, view.nrunning * sizeof(uint64));
		table->nharmless = (int) view.nrunning;
	}
	pfree(view.running);
}

/* Take an entry that is free, or else the one that has been idle for longest; NULL when all have references. */
static Table *
take_entry(void)
{
	if (dlist_is_empty(&ring->free) && ring->nused < max_tables())
		return &ring->tables[ring->nused++];
	if (dlist_is_empty(&ring->free))
	{
		if (dlist_is_empty(&ring->idle))
			return NULL;
		let_go(dlist_head_element(Table, rest, &ring->idle));
	}
	return dlist_container(Table, rest, dlist_pop_head_node(&ring->free));
}

/* Make an entry for a table, without references, seen by every writer that commits from now on; NULL without room. */
static Table *
add_table(Oid relid)
{
	Table	   *table = take_entry();

	if (table == NULL)
		return NULL;
	memset(table, 0, sizeof *table);
	table->relid = relid;
	table->database = MyDatabaseId;
	table->nharmless = -1;
	table->registered = PG_UINT64_MAX;
	dlist_push_tail(bucket_of(MyDatabaseId, relid), &table->chain);
	dlist_push_tail(&ring->idle, &table->rest);
	pg_atomic_fetch_add_u32(&ring->ntracked, 1);
	pg_atomic_fetch_add_u32(counter_of(MyDatabaseId, relid), 1);	/* a barrier: R is read afterwards */
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
	Table	   *table = find_table(MyDatabaseId, relid);

	if (table == NULL)
		table = add_table(relid);
	if (table == NULL)
		return -1;
	if (table->references++ == 0)
		dlist_delete(&table->rest);
	table->unwanted = false;
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

/* Count the tables that are tracked. */
uint32
emogi_ring_ntracked(void)
{
	return pg_atomic_read_u32(&ring->ntracked);
}

/* Can so many tables be tracked, if no others are? */
bool
emogi_ring_can_hold(int ntables)
{
	return (uint32) ntables <= max_tables();
}

/* Note that a Graph on a table has been published. */
void
emogi_ring_publish(int table)
{
	ring->tables[table].published = true;
}

/* Give a reference back; the last one takes the entry with it, or leaves it idle. */
void
emogi_ring_release(int table)
{
	Table	   *entry = &ring->tables[table];

	if (--entry->references > 0)
		return;
	entry->idle_since = GetCurrentTimestamp();
	dlist_push_tail(&ring->idle, &entry->rest);
	if (entry->published || entry->unwanted)
		let_go(entry);
	let_go_idle();
}

/* Track one table no longer than a Graph needs it. */
static void
untrack(Table *table)
{
	table->unwanted = true;
	if (table->references == 0)
		let_go(table);
}

/*
 * Track a table, or all of a database (relid = InvalidOid), no longer: at once, or when the last Graph on it is freed, which
 * may be in use or on a GPU. Whoever tracks it before goes on with what is known. Caller holds cache_lock exclusively.
 */
void
emogi_ring_untrack(Oid database, Oid relid)
{
	Table	   *table = OidIsValid(relid) ? find_table(database, relid) : NULL;

	if (table != NULL)
		untrack(table);
	for (uint32 i = 0; i < ring->nused && !OidIsValid(relid); i++)
		if (OidIsValid(ring->tables[i].relid) && ring->tables[i].database == database)
			untrack(&ring->tables[i]);
}

/* Count the Graphs that stand on a table, those that are being built included. */
int
emogi_ring_references(Oid database, Oid relid)
{
	const Table *table = find_table(database, relid);

	return table != NULL ? table->references : 0;
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
	for (uint32 i = 0; i < ring->nused; i++)
	{
		Table	   *table = &ring->tables[i];

		if (OidIsValid(table->relid) && table->recovery)
		{
			table->recovery = false;
			table->registered = U64FromFullTransactionId(ReadNextFullTransactionId());
			table->nharmless = -1;
		}
	}
	ring->any_recovery = false;
}
