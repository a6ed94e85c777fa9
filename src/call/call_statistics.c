/*
 * call_statistics.c: how often what has been called: sums over calls, in shared memory, for
 * emogi_stat_graphs.
 *
 * An entry is what one role has called in one database: a function and a table or view, or a query.
 * It does not hang on any Graph. A call is added when it ends, well or not, as it is to the
 * history; its numbers are those of emogi_runs.
 *
 * Entries are found by hashed keys, in an array of emogi.stat_entries. The lock is taken shared to
 * find one, and exclusive to add or remove some; an entry's own spinlock is for its sums. So calls
 * of different tables do not wait for each other, and no call is lost. When all entries are taken
 * the twentieth part goes that was used least, where old use counts less each time. Their sums go
 * on in an entry of the function and database, of no role and no graph, so that sums over all
 * entries never become less.
 *
 * The postmaster writes the entries to a file when it ends, and the next one reads it and removes
 * it: after a crash there is none, and counting begins anew.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/pg_crc32c.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/timestamp.h"

#include "call/call.h"

#define EMOGI_STAT_FILE PGSTAT_STAT_PERMANENT_DIRECTORY "/emogi.stat"
#define EMOGI_STAT_MAGIC UINT32_C(0x656d7301)	/* another for another layout */
#define EMOGI_STAT_DECAY 0.99	/* of use, whenever entries go */
#define EMOGI_NONE (-1)

/*
 * One entry. `next` and `order` of the table, and all but the sums, are under
 * EmogiShared.statistics_lock.
 */
typedef struct Entry
{
	slock_t		mutex;			/* of the sums, while the lock is held shared */
	int			next;			/* in its bucket, or of those that are free */
	bool		used;
	EmogiStatistic statistic;
} Entry;

typedef struct Table
{
	/* under EmogiShared.statistics_lock */
	int			nentries;
	int			first_free;
	uint64		ngone;			/* entries that have made room */
	TimestampTz reset_at;
	Entry		entries[FLEXIBLE_ARRAY_MEMBER];
	/* then: int buckets[emogi_stat_entries], int order[emogi_stat_entries] */
} Table;

/*
 * What the file begins with; nentries EmogiStatistic follow, the most used first, and the CRC of
 * all of it.
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
static int *buckets;			/* the first entry of each, EMOGI_NONE = there is none */
static int *order;				/* scratch, of who removes entries */

static Size
entries_bytes(void)
{
	return MAXALIGN(add_size(offsetof(Table, entries),
							 mul_size(emogi_stat_entries, sizeof(Entry))));
}

Size
emogi_call_statistics_shmem_size(void)
{
	return add_size(entries_bytes(), mul_size(2 * sizeof(int), emogi_stat_entries));
}

/* ---- entries ---- */

static int *
bucket_of(const EmogiStatisticKey *key)
{
	return &buckets[hash_bytes((const unsigned char *) key,
							   sizeof *key) % (uint32) emogi_stat_entries];
}

/* Forget all entries. */
static void
empty_table(void)
{
	for (int i = 0; i < emogi_stat_entries; i++)
	{
		table->entries[i].used = false;
		table->entries[i].next = i + 1 < emogi_stat_entries ? i + 1 : EMOGI_NONE;
		buckets[i] = EMOGI_NONE;
	}
	table->first_free = 0;
	table->nentries = 0;
	table->ngone = 0;
	table->reset_at = GetCurrentTimestamp();
}

/* Find the entry of a key; NULL = there is none. Caller holds the lock. */
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

/* Is an entry that of those that have made room? */
static bool
is_rest(const Entry *entry)
{
	return !OidIsValid(entry->statistic.key.userid);
}

/*
 * The role whose entries are evicted first, because it has more than its share; InvalidOid = none.
 */
static Oid	crowding = InvalidOid;

/*
 * Order entries by their use, the least first; those of the rest follow, and those that are free
 * come last.
 */
static int
compare_use(const void *a, const void *b)
{
	const Entry *x = &table->entries[*(const int *) a];
	const Entry *y = &table->entries[*(const int *) b];

	if (x->used != y->used)
		return x->used ? -1 : 1;
	if (OidIsValid(crowding) &&
		(x->statistic.key.userid == crowding) != (y->statistic.key.userid == crowding))
		return x->statistic.key.userid == crowding ? -1 : 1;
	if (is_rest(x) != is_rest(y))
		return is_rest(x) ? 1 : -1;
	return x->statistic.use < y->statistic.use ? -1 : x->statistic.use > y->statistic.use;
}

/* Put the entries into `order`. */
static void
sort_entries(void)
{
	for (int i = 0; i < emogi_stat_entries; i++)
		order[i] = i;
	qsort(order, emogi_stat_entries, sizeof *order, compare_use);
}

/* Add sums to others, of a later time or not. */
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
	sums->nwalks += more->nwalks;
	sums->nrows += more->nrows;
	sums->edges_traversed += more->edges_traversed;
	sums->total_ms += more->total_ms;
	sums->build_ms += more->build_ms;
	sums->run_ms += more->run_ms;
	sums->wait_ms += more->wait_ms;
	sums->use += more->use;
}

/*
 * Add the sums of an entry that has no place to the rest of its function. Caller holds the lock
 * exclusively.
 */
static void
add_to_rest(const EmogiStatistic *gone)
{
	EmogiStatisticKey key;
	Entry	   *rest;

	memset(&key, 0, sizeof key);
	key.database = gone->key.database;
	memcpy(key.function, gone->key.function, sizeof key.function);
	rest = find_entry(&key);
	if (rest == NULL)
		rest = add_entry(&key);
	add_sums(&rest->statistic, gone);
}

/* Count the entries of a role. */
static int
count_entries(Oid userid)
{
	int			count = 0;

	for (int i = 0; i < emogi_stat_entries; i++)
		count += table->entries[i].used && table->entries[i].statistic.key.userid == userid;
	return count;
}

/*
 * Remove the least used entries, for all are taken, of a role itself if it has more than three
 * quarters of them; their sums go to the rest of their function, which may take their place. Of a
 * rest itself, which goes where there is nothing else, they are lost.
 */
static void
make_room(Oid userid)
{
	const int	wanted = Max(emogi_stat_entries / 20, 1);

	crowding = OidIsValid(userid) && count_entries(userid) > emogi_stat_entries / 4 * 3 ? userid :
		InvalidOid;
	sort_entries();
	crowding = InvalidOid;
	for (int i = 0; i < emogi_stat_entries && emogi_stat_entries - table->nentries < wanted; i++)
	{
		const Entry gone = table->entries[order[i]];

		remove_entry(order[i]);
		table->ngone++;
		if (!is_rest(&gone))
			add_to_rest(&gone.statistic);
	}
	for (int i = 0; i < emogi_stat_entries; i++)
		table->entries[i].statistic.use *= EMOGI_STAT_DECAY;
}

/*
 * Add an entry of a key that has none, with nothing counted yet. Caller holds the lock exclusively.
 */
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

/* Read some bytes of the file, and add them to its CRC; false when there are no more. */
static bool
read_part(FILE *file, void *to, Size bytes, pg_crc32c *crc)
{
	if (fread(to, bytes, 1, file) != 1)
		return false;
	COMP_CRC32C(*crc, to, bytes);
	return true;
}

/*
 * Read the entries of a file; false when it is not whole, or of another layout. Where there are
 * more than fit the most used are taken, and the sums of others.
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
		header.nentries > EMOGI_MOST_STAT_ENTRIES)
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
			add_to_rest(&statistic);
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
 * Take what the last server has left, once, and remove the file: it belongs into no base backup,
 * and after a crash it would be of long ago.
 */
static void
load_entries(void)
{
	static bool is_loaded = false;	/* the postmaster stays over a crash */
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
				(errmsg("the statistics of emogi in file \"%s\" are not whole or of another "
						"version: they begin anew", EMOGI_STAT_FILE)));
	}
	FreeFile(file);
	if (unlink(EMOGI_STAT_FILE) != 0)
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("could not remove file \"%s\": %m", EMOGI_STAT_FILE)));
}

/* Write some bytes to the file, and add them to its CRC. */
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
	while (header.nentries < (uint64) emogi_stat_entries &&
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
 * Leave the entries to the next server, when this one ends. Nobody else is there any more; who was
 * ended in the middle of a call may have left a row half filled in.
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

/* ---- what others see ---- */

/*
 * Set up the entries, at server start and after every crash restart. Caller holds
 * AddinShmemInitLock.
 */
void
emogi_call_statistics_shmem_startup(bool found)
{
	bool		found_table;

	table = ShmemInitStruct("emogi statistics", emogi_call_statistics_shmem_size(), &found_table);
	buckets = (int *) ((char *) table + entries_bytes());
	order = buckets + emogi_stat_entries;
	if (!IsUnderPostmaster)
		on_shmem_exit(save_entries, (Datum) 0);
	if (found)
		return;
	for (int i = 0; i < emogi_stat_entries; i++)
		SpinLockInit(&table->entries[i].mutex);
	empty_table();
	load_entries();
}

/* Add a call to the sums of an entry. */
static void
add_call(EmogiStatistic *sums, const EmogiCallRecord *run)
{
	const char *cache = run->cache;

	sums->min_ms = sums->ncalls == 0 ? run->total_ms : Min(sums->min_ms, run->total_ms);
	sums->max_ms = Max(sums->max_ms, run->total_ms);
	sums->ncalls++;
	sums->nerrors += run->failed;
	sums->nhits += strcmp(cache, "hit") == 0 || strcmp(cache, "stale") == 0;
	sums->nsteps += strcmp(cache, "spliced") == 0 || strcmp(cache, "patched") == 0;
	sums->nbuilds += strcmp(cache, "built") == 0;
	sums->nprivate += strcmp(cache, "private") == 0;
	sums->nwalks += strcmp(cache, "index") == 0;
	sums->total_ms += run->total_ms;
	sums->build_ms += run->refresh_ms + run->scan_ms + run->keys_ms + run->csr_ms + run->splice_ms;
	sums->run_ms += run->run_ms;
	sums->wait_ms += run->wait_ms;
	sums->nrows += run->nrows;
	sums->edges_traversed += run->edges_traversed;
	sums->last_call = run->caller.started;
}

/* Count a call that is over. Raises nothing, so it may run while a transaction aborts. */
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
 * Copy all entries into statistics[emogi_stat_entries], or, where that is NULL, none; get their
 * number, and what is known of all.
 */
int
emogi_call_statistics_copy(EmogiStatistic *statistics, uint64 *ngone, TimestampTz *reset_at)
{
	int			count = 0;

	LWLockAcquire(emogi_shared->statistics_lock, LW_SHARED);
	for (int i = 0; i < emogi_stat_entries && statistics != NULL; i++)
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

/* Forget all that has been counted. */
void
emogi_call_statistics_reset(void)
{
	LWLockAcquire(emogi_shared->statistics_lock, LW_EXCLUSIVE);
	empty_table();
	LWLockRelease(emogi_shared->statistics_lock);
}
