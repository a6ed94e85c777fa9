/*
 * tables.c: the tables that are tracked, and who refers to them.
 *
 * A table is tracked for the sake of the Graphs that stand on it; what is known of it is
 * recent_writers.c's. The filter, counters by hash of the names of tracked tables, tells a writer
 * without any lock of nearly every table that is not tracked.
 *
 * An entry goes when the last Graph on its table is freed. It stays for a while, so that its
 * registration grows old, if it never had a published Graph: under writers that never pause, this
 * is how a table comes to be cached; and if the Graph made room for others: it comes back also for
 * snapshots that were taken before. For an hour it stays if another server was told what has
 * changed (recent_writers.c): that keeps a Graph by it, and asks again.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/shmem.h"

#include "cache/tables.h"
#include "base/settings.h"

/* Tables that can be tracked: so many for each MiB of emogi.max_memory, within bounds. */
#define EMOGI_TABLES_PER_MB 4
#define EMOGI_MIN_TABLES	1024
#define EMOGI_MAX_TABLES	65536

/* Counters of the filter; a power of two. */
#define EMOGI_FILTER_SIZE	65536

/* How long such an entry stays without a reference. */
#define EMOGI_IDLE_MS		60000
#define EMOGI_TOLD_IDLE_MS	3600000

EmogiTables *emogi_tables;
static pg_atomic_uint32 *filter;	/* [EMOGI_FILTER_SIZE], tracked tables by the hash of their
									 * names */
static dlist_head *buckets;		/* [max_tables()], the same */

/* Get the number of tables that can be tracked. */
static uint32
max_tables(void)
{
	return (uint32) Min(Max((int64) emogi_max_memory_mb * EMOGI_TABLES_PER_MB, EMOGI_MIN_TABLES),
						EMOGI_MAX_TABLES);
}

static Size
entries_bytes(void)
{
	return add_size(offsetof(EmogiTables, tables), mul_size(max_tables(), sizeof(EmogiTable)));
}

Size
emogi_tables_shmem_size(void)
{
	Size		bytes = MAXALIGN(entries_bytes());

	bytes = add_size(bytes, MAXALIGN(EMOGI_FILTER_SIZE * sizeof(pg_atomic_uint32)));
	return add_size(bytes, MAXALIGN(mul_size(max_tables(), sizeof(dlist_head))));
}

/* Set up the entries, none tracked. Caller holds AddinShmemInitLock. */
void
emogi_tables_shmem_startup(bool found)
{
	bool		found_tables;

	emogi_tables = ShmemInitStruct("emogi tables", entries_bytes(), &found_tables);
	filter = ShmemInitStruct("emogi tables filter", EMOGI_FILTER_SIZE * sizeof(pg_atomic_uint32),
							 &found_tables);
	buckets = ShmemInitStruct("emogi tables buckets", max_tables() * sizeof(dlist_head),
							  &found_tables);
	if (found)
		return;
	memset(emogi_tables, 0, offsetof(EmogiTables, tables));	/* an entry is set up when it is first
															 * taken */
	pg_atomic_init_u32(&emogi_tables->ntracked, 0);
	dlist_init(&emogi_tables->free);
	dlist_init(&emogi_tables->idle);
	dlist_init(&emogi_tables->told);
	if (!pg_strong_random(emogi_tables->epoch, sizeof emogi_tables->epoch))
		elog(ERROR, "no random number could be had");
	for (uint32 i = 0; i < EMOGI_FILTER_SIZE; i++)
		pg_atomic_init_u32(&filter[i], 0);
	for (uint32 i = 0; i < max_tables(); i++)
		dlist_init(&buckets[i]);
}

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
EmogiTable *
emogi_tables_find(Oid database, Oid relid)
{
	dlist_iter	iter;

	dlist_foreach(iter, bucket_of(database, relid))
	{
		EmogiTable *table = dlist_container(EmogiTable, chain, iter.cur);

		if (table->relid == relid && table->database == database)
			return table;
	}
	return NULL;
}

/* Free an entry without references. Caller holds cache_lock exclusively. */
static void
let_go(EmogiTable *table)
{
	pg_atomic_fetch_sub_u32(counter_of(table->database, table->relid), 1);
	pg_atomic_fetch_sub_u32(&emogi_tables->ntracked, 1);
	dlist_delete(&table->chain);
	dlist_delete(&table->rest);
	dlist_push_head(&emogi_tables->free, &table->rest);
	table->relid = InvalidOid;
}

/*
 * Free the entries of a list that have been idle for too long. Caller holds cache_lock exclusively.
 */
static void
let_go_idle(dlist_head *list, int most_ms)
{
	TimestampTz now;

	if (dlist_is_empty(list))
		return;
	now = GetCurrentTimestamp();
	while (!dlist_is_empty(list))
	{
		EmogiTable *table = dlist_head_element(EmogiTable, rest, list);

		if (!TimestampDifferenceExceeds(table->idle_since, now, most_ms))
			break;
		let_go(table);
	}
}

/* Free the entries that have been idle for too long. Caller holds cache_lock exclusively. */
void
emogi_tables_let_go_idle(void)
{
	let_go_idle(&emogi_tables->idle, EMOGI_IDLE_MS);
	let_go_idle(&emogi_tables->told, EMOGI_TOLD_IDLE_MS);
}

/*
 * Is a table of this database perhaps tracked? A look without lock at the filter, which knows
 * nearly all that are not.
 */
bool
emogi_tables_may_have(Oid relid)
{
	return pg_atomic_read_u32(counter_of(MyDatabaseId, relid)) > 0;
}

/*
 * Take an entry that is free, or else the one that has been idle for longest; NULL when all have
 * references.
 */
static EmogiTable *
take_entry(void)
{
	if (dlist_is_empty(&emogi_tables->free) && emogi_tables->nused < max_tables())
		return &emogi_tables->tables[emogi_tables->nused++];
	if (dlist_is_empty(&emogi_tables->free))
	{
		dlist_head *idle = dlist_is_empty(&emogi_tables->idle) ? &emogi_tables->told :
			&emogi_tables->idle;

		if (dlist_is_empty(idle))
			return NULL;
		let_go(dlist_head_element(EmogiTable, rest, idle));
	}
	return dlist_container(EmogiTable, rest, dlist_pop_head_node(&emogi_tables->free));
}

/*
 * Make an entry for a table, without references, seen by every writer that commits from now on;
 * NULL without room.
 */
EmogiTable *
emogi_tables_add(Oid relid)
{
	EmogiTable *table = take_entry();

	if (table == NULL)
		return NULL;
	memset(table, 0, sizeof *table);
	table->relid = relid;
	table->database = MyDatabaseId;
	table->nharmless = -1;
	table->registered = PG_UINT64_MAX;
	table->number = ++emogi_tables->nnumbers;
	dlist_push_tail(bucket_of(MyDatabaseId, relid), &table->chain);
	dlist_push_tail(&emogi_tables->idle, &table->rest);
	pg_atomic_fetch_add_u32(&emogi_tables->ntracked, 1);
	/* a barrier: R is read afterwards */
	pg_atomic_fetch_add_u32(counter_of(MyDatabaseId, relid), 1);
	return table;
}

/* ---- references; caller holds cache_lock exclusively ---- */

/* Count the tables that are tracked. */
uint32
emogi_tables_ntracked(void)
{
	return pg_atomic_read_u32(&emogi_tables->ntracked);
}

/* Can so many tables be tracked, if no others are? */
bool
emogi_tables_can_hold(int ntables)
{
	return (uint32) ntables <= max_tables();
}

/* Note that a Graph on a table has been published. */
void
emogi_tables_publish(int table)
{
	emogi_tables->tables[table].published = true;
}

/* Note that a Graph on a table makes room for others. */
void
emogi_tables_displace(int table)
{
	emogi_tables->tables[table].published = false;
}

/* Give a reference back; the last one takes the entry with it, or leaves it idle. */
void
emogi_tables_release(int table)
{
	EmogiTable *entry = &emogi_tables->tables[table];

	if (--entry->references > 0)
		return;
	entry->idle_since = GetCurrentTimestamp();
	dlist_push_tail(entry->told ? &emogi_tables->told : &emogi_tables->idle, &entry->rest);
	if ((entry->published && !entry->told) || entry->unwanted)
		let_go(entry);
	emogi_tables_let_go_idle();
}

/* Track one table no longer than a Graph needs it. */
static void
untrack(EmogiTable *table)
{
	table->unwanted = true;
	if (table->references == 0)
		let_go(table);
}

/*
 * Track a table, or all of a database (relid = InvalidOid), no longer: at once, or when the last
 * Graph on it is freed, which may be in use or on a GPU. Whoever tracks it before goes on with what
 * is known. Caller holds cache_lock exclusively.
 */
void
emogi_tables_untrack(Oid database, Oid relid)
{
	EmogiTable *table = OidIsValid(relid) ? emogi_tables_find(database, relid) : NULL;

	if (table != NULL)
		untrack(table);
	for (uint32 i = 0; i < emogi_tables->nused && !OidIsValid(relid); i++)
		if (OidIsValid(emogi_tables->tables[i].relid) &&
			emogi_tables->tables[i].database == database)
			untrack(&emogi_tables->tables[i]);
}

/* Count the Graphs that stand on a table, those that are being built included. */
int
emogi_tables_references(Oid database, Oid relid)
{
	const EmogiTable *table = emogi_tables_find(database, relid);

	return table != NULL ? table->references : 0;
}

/* Get the table that an entry with a reference stands for. */
Oid
emogi_tables_relid(int table)
{
	return emogi_tables->tables[table].relid;
}
