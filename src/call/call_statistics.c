/*
 * call_statistics.c: cumulative statistics of calls in shared memory, for emogi_stat_graphs
 *
 * An entry sums the calls of one role in one database: of a function on a table or view, or on a
 * query. It does not depend on any graph. A call is added when it ends, successfully or not, as in
 * the run log; its numbers are those of emogi_runs.
 *
 * Entries are found by hashed keys, in an array of emogi.stat_max. The lock is taken shared to
 * look up an entry, and exclusive to add or remove entries; each entry's own spinlock protects its
 * sums. Thus calls on different tables do not wait for each other, and no call is lost. When all
 * entries are in use, the least used twentieth is evicted; past use decays at each eviction. The
 * sums of evicted entries are added to an entry of the same function and database, without role and
 * graph, so that sums over all entries never decrease.
 *
 * The postmaster writes the entries to a file when it shuts down, and the next one reads and
 * removes the file: after a crash there is none, and counting restarts.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/pg_crc32c.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/spin.h"
#include "utils/timestamp.h"

#include "call/call.h"

#define EMOGI_STAT_FILE PGSTAT_STAT_PERMANENT_DIRECTORY "/emogi.stat"
#define EMOGI_STAT_MAGIC UINT32_C(0x656d7301)	/* changes with the file layout */
#define EMOGI_STAT_DECAY 0.99	/* factor on `use` at each eviction */
#define EMOGI_NONE (-1)

/*
 * One entry. The table's `next` and `order`, and everything except the sums, are protected by
 * EmogiShared.statistics_lock.
 */
typedef struct Entry
{
	slock_t		mutex;			/* protects the sums while the lock is held shared */
	int			next;			/* in its bucket, or in the free list */
	bool		used;
	EmogiStatistic statistic;
} Entry;

typedef struct Table
{
	/* under EmogiShared.statistics_lock */
	int			nentries;
	int			first_free;
	uint64		ngone;			/* evicted entries */
	TimestampTz reset_at;
	Entry		entries[FLEXIBLE_ARRAY_MEMBER];
	/* then: int buckets[emogi_stat_max], int order[emogi_stat_max] */
} Table;

/*
 * Header of the file. nentries EmogiStatistic follow, most used first, and the CRC of everything.
 */
typedef struct FileHeader
{
	uint32		magic;
	uint32		statistic_bytes;
	uint64		nentries;
	uint64		ngone;
	TimestampTz reset_at;
} FileHeader;

static Table *table;
static int *buckets;			/* the first entry of each bucket, EMOGI_NONE = empty */
static int *order;				/* scratch for evictions */

static Size
entries_bytes(void)
{
	return MAXALIGN(add_size(offsetof(Table, entries),
							 mul_size(emogi_stat_max, sizeof(Entry))));
}

Size
emogi_call_statistics_shmem_size(void)
{
	return add_size(entries_bytes(), mul_size(2 * sizeof(int), emogi_stat_max));
}

/* ---- entries ---- */

static int *
bucket_of(const EmogiStatisticKey *key)
{
	return &buckets[hash_bytes((const unsigned char *) key,
							   sizeof *key) % (uint32) emogi_stat_max];
}

/* Remove all entries. */
static void
empty_table(void)
{
	for (int i = 0; i < emogi_stat_max; i++)
	{
		table->entries[i].used = false;
		table->entries[i].next = i + 1 < emogi_stat_max ? i + 1 : EMOGI_NONE;
		buckets[i] = EMOGI_NONE;
	}
	table->first_free = 0;
	table->nentries = 0;
	table->ngone = 0;
	table->reset_at = GetCurrentTimestamp();
}

/* Look up the entry of a key; NULL = none. Caller holds the lock. */
static Entry *
find_entry(const EmogiStatisticKey *key)
{
	for (int i = *bucket_of(key); i != EMOGI_NONE; i = table->entries[i].next)
		if (memcmp(&table->entries[i].statistic.key, key, sizeof *key) == 0)
			return &table->entries[i];
	return NULL;
}

/* Remove an entry. */
static void
remove_entry(int index)
{
	Entry	   *entry = &table->entries[index];
	int		   *link = bucket_of(&entry->statistic.key);

	while (*link != index)
		link = &table->entries[*link].next;
	*link = entry->next;
	entry->used = false;
	entry->next = table->first_free;
	table->first_free = index;
	table->nentries--;
}

static Entry *add_entry(const EmogiStatisticKey *key);

/* Does an entry hold the sums of evicted entries? */
static bool
is_remainder(const Entry *entry)
{
	return !OidIsValid(entry->statistic.key.userid);
}

/*
 * The role whose entries are evicted first, because it has more than its share; InvalidOid = none.
 */
static Oid	over_share = InvalidOid;

/*
 * Compare entries in eviction order: the least used first, then those that hold the sums of evicted
 * entries, then the free ones.
 */
static int
compare_use(const void *a, const void *b)
{
	const Entry *x = &table->entries[*(const int *) a];
	const Entry *y = &table->entries[*(const int *) b];

	if (x->used != y->used)
		return x->used ? -1 : 1;
	if (OidIsValid(over_share) &&
		(x->statistic.key.userid == over_share) != (y->statistic.key.userid == over_share))
		return x->statistic.key.userid == over_share ? -1 : 1;
	if (is_remainder(x) != is_remainder(y))
		return is_remainder(x) ? 1 : -1;
	return x->statistic.use < y->statistic.use ? -1 : x->statistic.use > y->statistic.use;
}

/* Sort the entries into `order`. */
static void
sort_entries(void)
{
	for (int i = 0; i < emogi_stat_max; i++)
		order[i] = i;
	qsort(order, emogi_stat_max, sizeof *order, compare_use);
}

/* Add sums to others, of an earlier or later period. */
static void
add_sums(EmogiStatistic *sums, const EmogiStatistic *more)
{
	const bool	is_first = sums->ncalls == 0;

	sums->min_ms = is_first ? more->min_ms : Min(sums->min_ms, more->min_ms);
	sums->max_ms = Max(sums->max_ms, more->max_ms);
	sums->since = is_first ? more->since : Min(sums->since, more->since);
	sums->last_call = Max(sums->last_call, more->last_call);
	sums->ncalls += more->ncalls;
	sums->nerrors += more->nerrors;
	sums->nhits += more->nhits;
	sums->nsteps += more->nsteps;
	sums->nbuilds += more->nbuilds;
	sums->nprivate += more->nprivate;
	sums->nindex_searches += more->nindex_searches;
	sums->nrows += more->nrows;
	sums->edges_traversed += more->edges_traversed;
	sums->total_ms += more->total_ms;
	sums->build_ms += more->build_ms;
	sums->run_ms += more->run_ms;
	sums->wait_ms += more->wait_ms;
	sums->use += more->use;
}

/*
 * Add an evicted entry's sums to the entry without role and graph of its function. Caller holds the
 * lock exclusively.
 */
static void
add_to_remainder(const EmogiStatistic *evicted)
{
	EmogiStatisticKey key;
	Entry	   *remainder;

	memset(&key, 0, sizeof key);
	key.database = evicted->key.database;
	memcpy(key.function, evicted->key.function, sizeof key.function);
	remainder = find_entry(&key);
	if (remainder == NULL)
		remainder = add_entry(&key);
	add_sums(&remainder->statistic, evicted);
}

/* Count the entries of a role. */
static int
count_entries(Oid userid)
{
	int			count = 0;

	for (int i = 0; i < emogi_stat_max; i++)
		count += table->entries[i].used && table->entries[i].statistic.key.userid == userid;
	return count;
}

/*
 * Evict the least used entries, because all are in use; if the role has more than three quarters of
 * the entries, evict its own first. Add their sums to the entry without role and graph of their
 * function, which may take their place. Such an entry itself is evicted only if there is nothing
 * else, and then its sums are lost.
 */
static void
make_room(Oid userid)
{
	const int	wanted = Max(emogi_stat_max / 20, 1);

	over_share = OidIsValid(userid) && count_entries(userid) > emogi_stat_max / 4 * 3 ? userid :
		InvalidOid;
	sort_entries();
	over_share = InvalidOid;
	for (int i = 0; i < emogi_stat_max && emogi_stat_max - table->nentries < wanted; i++)
	{
		const Entry evicted = table->entries[order[i]];

		remove_entry(order[i]);
		table->ngone++;
		if (!is_remainder(&evicted))
			add_to_remainder(&evicted.statistic);
	}
	for (int i = 0; i < emogi_stat_max; i++)
		table->entries[i].statistic.use *= EMOGI_STAT_DECAY;
}

/* Add an empty entry for a key that has none. Caller holds the lock exclusively. */
static Entry *
add_entry(const EmogiStatisticKey *key)
{
	Entry	   *entry;
	int			index;
	int		   *bucket;

	while (table->first_free == EMOGI_NONE)
		make_room(key->userid);
	index = table->first_free;
	entry = &table->entries[index];
	table->first_free = entry->next;
	table->nentries++;
	memset(&entry->statistic, 0, sizeof entry->statistic);
	entry->statistic.key = *key;
	entry->used = true;
	bucket = bucket_of(key);
	entry->next = *bucket;
	*bucket = index;
	return entry;
}

/* ---- the file ---- */

/* Read bytes of the file, and update the CRC; return false at the end of the file. */
static bool
read_part(FILE *file, void *to, Size bytes, pg_crc32c *crc)
{
	if (fread(to, bytes, 1, file) != 1)
		return false;
	COMP_CRC32C(*crc, to, bytes);
	return true;
}

/*
 * Read the entries of the file; return false if it is truncated, damaged, or has another layout. If
 * it has more entries than fit, keep as many as fit and add up the others.
 */
static bool
read_entries(FILE *file)
{
	FileHeader	header;
	EmogiStatistic statistic;
	pg_crc32c	crc;
	pg_crc32c	written;

	INIT_CRC32C(crc);
	if (!read_part(file, &header, sizeof header, &crc) || header.magic != EMOGI_STAT_MAGIC ||
		header.statistic_bytes != sizeof(EmogiStatistic) ||
		header.nentries > EMOGI_MAX_STAT_ENTRIES)
		return false;
	for (uint64 i = 0; i < header.nentries; i++)
	{
		Entry	   *entry;

		if (!read_part(file, &statistic, sizeof statistic, &crc))
			return false;
		if (find_entry(&statistic.key) != NULL)
			continue;
		if (table->first_free == EMOGI_NONE)
		{
			table->ngone++;
			add_to_remainder(&statistic);
			continue;
		}
		entry = add_entry(&statistic.key);
		entry->statistic = statistic;
	}
	table->ngone += header.ngone;
	table->reset_at = header.reset_at;
	FIN_CRC32C(crc);
	return fread(&written, sizeof written, 1, file) == 1 && EQ_CRC32C(crc, written);
}

/*
 * Read the file of the previous server, once, and remove it: it must not get into a base backup,
 * and after a crash it would be out of date.
 */
static void
load_entries(void)
{
	static bool is_loaded = false;	/* the postmaster survives a crash restart */
	FILE	   *file = is_loaded ? NULL : AllocateFile(EMOGI_STAT_FILE, PG_BINARY_R);

	if (is_loaded)
		return;
	is_loaded = true;
	if (file == NULL)
	{
		if (errno != ENOENT)
			ereport(LOG,
					(errcode_for_file_access(),
					 errmsg("could not read file \"%s\": %m", EMOGI_STAT_FILE)));
		return;
	}
	if (!read_entries(file))
	{
		empty_table();
		ereport(LOG,
				(errmsg("ignoring incomplete or incompatible statistics of emogi in file \"%s\"",
						EMOGI_STAT_FILE)));
	}
	FreeFile(file);
	if (unlink(EMOGI_STAT_FILE) != 0)
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("could not remove file \"%s\": %m", EMOGI_STAT_FILE)));
}

/* Write bytes to the file, and update the CRC. */
static bool
write_part(FILE *file, const void *from, Size bytes, pg_crc32c *crc)
{
	COMP_CRC32C(*crc, from, bytes);
	return fwrite(from, bytes, 1, file) == 1;
}

/* Write the entries, the most used first. */
static bool
write_entries(FILE *file)
{
	FileHeader	header = {
		.magic = EMOGI_STAT_MAGIC,
		.statistic_bytes = sizeof(EmogiStatistic),
		.ngone = table->ngone,
		.reset_at = table->reset_at
	};
	pg_crc32c	crc;
	bool		ok;

	sort_entries();
	while (header.nentries < (uint64) emogi_stat_max &&
		   table->entries[order[header.nentries]].used)
		header.nentries++;
	INIT_CRC32C(crc);
	ok = write_part(file, &header, sizeof header, &crc);
	for (int i = (int) header.nentries - 1; i >= 0 && ok; i--)
		ok = write_part(file, &table->entries[order[i]].statistic, sizeof(EmogiStatistic), &crc);
	FIN_CRC32C(crc);
	return ok && fwrite(&crc, sizeof crc, 1, file) == 1;
}

/*
 * Write the entries to the file at shutdown. No other process is left; a backend that was killed
 * during a call may have left an incomplete entry.
 */
static void
save_entries(int code, Datum arg)
{
	FILE	   *file;
	bool		ok;

	if (code != 0 || table == NULL)
		return;
	file = AllocateFile(EMOGI_STAT_FILE ".tmp", PG_BINARY_W);
	ok = file != NULL && write_entries(file);
	if (file != NULL && FreeFile(file) != 0)
		ok = false;
	if (ok)
		ok = durable_rename(EMOGI_STAT_FILE ".tmp", EMOGI_STAT_FILE, LOG) == 0;
	else
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("could not write file \"%s\": %m", EMOGI_STAT_FILE ".tmp")));
	if (!ok)
		(void) unlink(EMOGI_STAT_FILE ".tmp");
}

/* ---- exported ---- */

/*
 * Set up the entries, at server start and after every crash restart. Caller holds
 * AddinShmemInitLock.
 */
void
emogi_call_statistics_shmem_startup(bool found)
{
	bool		found_table;

	table = emogi_shared_struct("emogi statistics", emogi_call_statistics_shmem_size(),
								&found_table);
	buckets = (int *) ((char *) table + entries_bytes());
	order = buckets + emogi_stat_max;
	if (!IsUnderPostmaster)
		on_shmem_exit(save_entries, (Datum) 0);
	if (found)
		return;
	for (int i = 0; i < emogi_stat_max; i++)
		SpinLockInit(&table->entries[i].mutex);
	empty_table();
	if (!emogi_trial_is_on)
		load_entries();
}

/* Add a call to the sums of an entry. */
static void
add_call(EmogiStatistic *sums, const EmogiCallRecord *run)
{
	const EmogiGraphOrigin origin = run->origin;

	sums->min_ms = sums->ncalls == 0 ? run->total_ms : Min(sums->min_ms, run->total_ms);
	sums->max_ms = Max(sums->max_ms, run->total_ms);
	sums->ncalls++;
	sums->nerrors += run->failed;
	sums->nhits += origin == EMOGI_GRAPH_FOUND || origin == EMOGI_GRAPH_STALE;
	sums->nsteps += origin == EMOGI_GRAPH_MERGED || origin == EMOGI_GRAPH_OVERLAID;
	sums->nbuilds += origin == EMOGI_GRAPH_BUILT;
	sums->nprivate += origin == EMOGI_GRAPH_PRIVATE;
	sums->nindex_searches += origin == EMOGI_GRAPH_INDEX;
	sums->total_ms += run->total_ms;
	sums->build_ms += run->refresh_ms + run->scan_ms + run->keys_ms + run->csr_ms + run->merge_ms;
	sums->run_ms += run->run_ms;
	sums->wait_ms += run->wait_ms;
	sums->nrows += run->nrows;
	sums->edges_traversed += run->edges_traversed;
	sums->last_call = run->caller.started;
}

/* Count a finished call. Raises nothing, so it can run during a transaction's abort. */
void
emogi_call_statistics_count(const EmogiCallRecord *run)
{
	EmogiStatisticKey key;
	Entry	   *entry;

	memset(&key, 0, sizeof key);
	key.database = run->caller.database;
	key.userid = run->caller.userid;
	key.relid = run->relid;
	key.query = run->query;
	strlcpy(key.function, run->caller.function, sizeof key.function);
	LWLockAcquire(emogi_shared->statistics_lock, LW_SHARED);
	entry = find_entry(&key);
	if (entry == NULL)
	{
		LWLockRelease(emogi_shared->statistics_lock);
		LWLockAcquire(emogi_shared->statistics_lock, LW_EXCLUSIVE);
		entry = find_entry(&key);
		if (entry == NULL)
		{
			entry = add_entry(&key);
			strlcpy(entry->statistic.source, run->text, sizeof entry->statistic.source);
			entry->statistic.since = run->caller.started;
		}
	}
	SpinLockAcquire(&entry->mutex);
	add_call(&entry->statistic, run);
	entry->statistic.use++;
	SpinLockRelease(&entry->mutex);
	LWLockRelease(emogi_shared->statistics_lock);
}

/*
 * Copy all entries into statistics[emogi_stat_max], unless it is NULL; return their number, and
 * the totals of the table.
 */
int
emogi_call_statistics_copy(EmogiStatistic *statistics, uint64 *ngone, TimestampTz *reset_at)
{
	int			count = 0;

	LWLockAcquire(emogi_shared->statistics_lock, LW_SHARED);
	for (int i = 0; i < emogi_stat_max && statistics != NULL; i++)
	{
		Entry	   *entry = &table->entries[i];

		if (!entry->used)
			continue;
		SpinLockAcquire(&entry->mutex);
		statistics[count++] = entry->statistic;
		SpinLockRelease(&entry->mutex);
	}
	if (statistics == NULL)
		count = table->nentries;
	*ngone = table->ngone;
	*reset_at = table->reset_at;
	LWLockRelease(emogi_shared->statistics_lock);
	return count;
}

/* Reset all statistics. */
void
emogi_call_statistics_reset(void)
{
	LWLockAcquire(emogi_shared->statistics_lock, LW_EXCLUSIVE);
	empty_table();
	LWLockRelease(emogi_shared->statistics_lock);
}
