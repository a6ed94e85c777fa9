/*
 * tables.c: the tracked tables, and references to them
 *
 * A table is tracked for the graphs that are built on it; the state of its writers is managed by
 * recent_writers.c. The filter, counters by the hash of a table's identity, tells a writer without
 * a lock that a table is not tracked, with few false positives.
 *
 * An entry is freed with the last graph on its table. It stays for a while if it never had a
 * published graph, so that its registration ages: this is how a table gets cached under writers
 * that never pause. It also stays if the graph was evicted to make room, so that the next one is
 * also valid for older snapshots. It stays for an hour if another server was given a stamp of it
 * (recent_writers.c), because that server caches a graph by the stamp, and asks again.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"

#include "cache/tables.h"
#include "base/settings.h"

/* Maximum number of tracked tables: per MiB of emogi.max_memory, within bounds. */
#define EMOGI_TABLES_PER_MB 4
#define EMOGI_MIN_TABLES	1024
#define EMOGI_MAX_TABLES	65536

/* Counters of the filter; a power of two. */
#define EMOGI_FILTER_SIZE	65536

/* How long such an entry stays without a reference. */
#define EMOGI_IDLE_MS		60000
#define EMOGI_STAMPED_IDLE_MS	3600000

EmogiTables *emogi_tables;
static pg_atomic_uint32 *filter;	/* [EMOGI_FILTER_SIZE], tracked tables by hash */
static dlist_head *buckets;		/* [max_tables()], tracked tables by hash */

/* Get the maximum number of tracked tables. */
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

	emogi_tables = emogi_shared_struct("emogi tables", entries_bytes(), &found_tables);
	filter = emogi_shared_struct("emogi tables filter",
								 EMOGI_FILTER_SIZE * sizeof(pg_atomic_uint32), &found_tables);
	buckets = emogi_shared_struct("emogi tables buckets", max_tables() * sizeof(dlist_head),
								  &found_tables);
	if (found)
		return;
	memset(emogi_tables, 0, offsetof(EmogiTables, tables));	/* entries are set up on first use */
	pg_atomic_init_u32(&emogi_tables->ntracked, 0);
	dlist_init(&emogi_tables->free);
	dlist_init(&emogi_tables->idle);
	dlist_init(&emogi_tables->stamped);
	if (!pg_strong_random(emogi_tables->epoch, sizeof emogi_tables->epoch))
		elog(ERROR, "could not generate a random number");
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

/* Find the entry of a table; NULL if it is not tracked. Caller holds cache_lock. */
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
free_entry(EmogiTable *table)
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
free_idle(dlist_head *list, int max_ms)
{
	TimestampTz now;

	if (dlist_is_empty(list))
		return;
	now = GetCurrentTimestamp();
	while (!dlist_is_empty(list))
	{
		EmogiTable *table = dlist_head_element(EmogiTable, rest, list);

		if (!TimestampDifferenceExceeds(table->idle_since, now, max_ms))
			break;
		free_entry(table);
	}
}

/* Free the entries that have been idle for too long. Caller holds cache_lock exclusively. */
void
emogi_tables_free_idle(void)
{
	free_idle(&emogi_tables->idle, EMOGI_IDLE_MS);
	free_idle(&emogi_tables->stamped, EMOGI_STAMPED_IDLE_MS);
}

/*
 * May a table of this database be tracked? Reads the filter, without a lock; false positives are
 * rare.
 */
bool
emogi_tables_may_have(Oid relid)
{
	return pg_atomic_read_u32(counter_of(MyDatabaseId, relid)) > 0;
}

/*
 * Take a free entry, or else the one that has been idle for longest; NULL if all have references.
 */
static EmogiTable *
take_entry(void)
{
	if (dlist_is_empty(&emogi_tables->free) && emogi_tables->nused < max_tables())
		return &emogi_tables->tables[emogi_tables->nused++];
	if (dlist_is_empty(&emogi_tables->free))
	{
		dlist_head *idle = dlist_is_empty(&emogi_tables->idle) ? &emogi_tables->stamped :
			&emogi_tables->idle;

		if (dlist_is_empty(idle))
			return NULL;
		free_entry(dlist_head_element(EmogiTable, rest, idle));
	}
	return dlist_container(EmogiTable, rest, dlist_pop_head_node(&emogi_tables->free));
}

/*
 * Add an entry for a table, without references, which every writer that commits from now on sees;
 * NULL if there is no room.
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

/* Get the number of tracked tables. */
uint32
emogi_tables_ntracked(void)
{
	return pg_atomic_read_u32(&emogi_tables->ntracked);
}

/* Can this many tables be tracked, if no others are? */
bool
emogi_tables_can_hold(int ntables)
{
	return (uint32) ntables <= max_tables();
}

/* Record that a graph on a table has been published. */
void
emogi_tables_publish(int table)
{
	emogi_tables->tables[table].published = true;
}

/* Record that a graph on a table has been evicted to make room. */
void
emogi_tables_record_eviction(int table)
{
	emogi_tables->tables[table].published = false;
}

/* Release a reference; the last one frees the entry, or leaves it idle. */
void
emogi_tables_release(int table)
{
	EmogiTable *entry = &emogi_tables->tables[table];

	if (--entry->references > 0)
		return;
	entry->idle_since = GetCurrentTimestamp();
	dlist_push_tail(entry->stamped ? &emogi_tables->stamped : &emogi_tables->idle, &entry->rest);
	if ((entry->published && !entry->stamped) || entry->unwanted)
		free_entry(entry);
	emogi_tables_free_idle();
}

/* Stop tracking a table when no graph needs it. */
static void
untrack(EmogiTable *table)
{
	table->unwanted = true;
	if (table->references == 0)
		free_entry(table);
}

/*
 * Stop tracking a table, or all tables of a database (relid = InvalidOid): at once, or when the
 * last graph on it is freed, which may be in use or on a GPU. If it is tracked again before, its
 * state is still valid. Caller holds cache_lock exclusively.
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

/* Get the number of graphs on a table, including those that are being built. */
int
emogi_tables_references(Oid database, Oid relid)
{
	const EmogiTable *table = emogi_tables_find(database, relid);

	return table != NULL ? table->references : 0;
}
