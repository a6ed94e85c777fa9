/*
 * region.c: the Region, the shared memory in which Graphs, edges and Results stand.
 *
 * One sparse memfd, mapped by the postmaster before it forks, so that every process sees it at one address. It does
 * not live in /dev/shm (64 MB in many containers) and not in PostgreSQL's own shared memory (fixed, never given
 * back). Address space is cheap and memory is not: the mapping is EMOGI_ADDRESS_FACTOR times the budget, so that a
 * large block always finds a gap, and the budget counts the granules in use.
 *
 * Allocation is by granule (2 MiB), first fit from a moving hint; one owner word a granule is all the bookkeeping
 * there is, in PostgreSQL's shared memory, under EmogiShared.lock. Memory is taken from the kernel when a page is
 * first touched (emogi_populate does it in bulk and in parallel) and given back by punching a hole when freed. After a
 * crash restart the postmaster's shmem_startup_hook runs again and empties the Region.
 *
 * Taking pages from the kernel costs as much as a third of a scan, or more than a short traversal. So a part of what is
 * freed stays warm: free, but with its pages, for those who do not care what is in them. Warm granules and those in use
 * are together within the budget; when others need it, warm ones are given back first.
 *
 * Small blocks, of cached Graphs and their entries, share granules: such a granule is cut into units of a page, one bit
 * each, and given back when the last unit is free. No two blocks share a page, for a GPU registers a Graph's memory by the
 * page. Who has a small block keeps account of it; the granule has no owner but all of them.
 */
#include "emogi.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "storage/shmem.h"
#include "utils/builtins.h"

#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1U
#endif

#define EMOGI_ADDRESS_FACTOR 4

/* Marks granules between free and punched: nobody's, but not to be given out yet. */
#define EMOGI_OWNER_LEAVING UINT32_C(0xFFFFFFFF)

/* Marks granules that are free and still have pages, with any content. */
#define EMOGI_OWNER_WARM UINT32_C(0xFFFFFFFE)

/* Marks granules that are cut into units. */
#define EMOGI_OWNER_SMALL UINT32_C(0xFFFFFFFD)

/* A unit is a page, and at least so many bytes. */
#define EMOGI_UNIT_BYTES 4096
#define EMOGI_MAX_UNITS (EMOGI_GRANULE_BYTES / EMOGI_UNIT_BYTES)

/* At most this share of the budget is warm. */
#define EMOGI_WARM_SHARE 8

/* The units of a SMALL granule. */
typedef struct Units
{
	uint32		ntaken;
	uint64		taken[EMOGI_MAX_UNITS / 64];	/* a bit each */
} Units;

typedef struct EmogiRegion
{
	/* under EmogiShared.lock */
	uint64		ngranules;		/* address space */
	uint64		budget;			/* granules that may be in use */
	uint64		used;
	uint64		warm;
	uint64		hint;			/* where the next search begins */
	uint64		nsmall;			/* SMALL granules */
	uint64		ntaken;			/* units in use in all of them */
	uint64		small_hint;		/* where the next search among them begins */
	EmogiOwner	owner[FLEXIBLE_ARRAY_MEMBER];	/* [ngranules] */
} EmogiRegion;

static int	region_fd = -1;
static char *region_start;
static EmogiRegion *region;
static Units *region_units;		/* [ngranules], of SMALL granules; under EmogiShared.lock */
static uint64 unit_bytes;

/* Get the number of granules that hold this many bytes. */
static uint64
granules(uint64 bytes)
{
	return (bytes + EMOGI_GRANULE_BYTES - 1) / EMOGI_GRANULE_BYTES;
}

uint64
emogi_region_budget_bytes(void)
{
	return (uint64) emogi_max_memory_mb * 1024 * 1024;
}

/* Get the budget in granules: not a byte more than the setting says. */
static uint64
budget_granules(void)
{
	return emogi_region_budget_bytes() / EMOGI_GRANULE_BYTES;
}

static uint64
address_granules(void)
{
	return budget_granules() * EMOGI_ADDRESS_FACTOR;
}

static uint64
granule_of(const void *start)
{
	return (uint64) ((const char *) start - region_start) / EMOGI_GRANULE_BYTES;
}

/* Reserve the Region's address space; called once, in the postmaster. */
void
emogi_region_reserve(void)
{
	Size		bytes = address_granules() * EMOGI_GRANULE_BYTES;

	unit_bytes = Max(EMOGI_UNIT_BYTES, sysconf(_SC_PAGESIZE));
	region_fd = memfd_create("emogi", MFD_CLOEXEC);
	if (region_fd < 0 || ftruncate(region_fd, bytes) != 0)
		ereport(FATAL,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("could not create the shared memory of emogi: %m")));
	region_start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, region_fd, 0);
	if (region_start == MAP_FAILED)
		ereport(FATAL,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("could not map %zu bytes of address space for emogi: %m", bytes),
				 errhint("Lower emogi.max_memory.")));
	(void) madvise(region_start, bytes, MADV_DONTDUMP);
	(void) madvise(region_start, bytes, MADV_HUGEPAGE);
}

static Size
owners_bytes(void)
{
	return add_size(offsetof(EmogiRegion, owner), mul_size(address_granules(), sizeof(EmogiOwner)));
}

Size
emogi_region_shmem_size(void)
{
	return add_size(MAXALIGN(owners_bytes()), MAXALIGN(mul_size(address_granules(), sizeof(Units))));
}

/* Give the pages of a run of granules back to the kernel. */
static void
punch(uint64 first, uint64 count)
{
	if (fallocate(region_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				  (off_t) (first * EMOGI_GRANULE_BYTES), (off_t) (count * EMOGI_GRANULE_BYTES)) != 0)
		elog(LOG, "emogi could not give memory back to the kernel: %m");
}

/* Set up the allocator, at server start and again after every crash restart. Caller holds AddinShmemInitLock. */
void
emogi_region_shmem_startup(bool found)
{
	bool		found_region;

	region = ShmemInitStruct("emogi region", owners_bytes(), &found_region);
	region_units = ShmemInitStruct("emogi region units", address_granules() * sizeof(Units), &found_region);
	if (found)
		return;
	memset(region, 0, owners_bytes());	/* units are set up when a granule is cut */
	region->ngranules = address_granules();
	region->budget = budget_granules();
	punch(0, region->ngranules);
}

/* Get the bytes in use: of granules that are cut, those of the units that are taken. */
uint64
emogi_region_used_bytes(void)
{
	uint64		bytes;

	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	bytes = (region->used - region->nsmall) * EMOGI_GRANULE_BYTES + region->ntaken * unit_bytes;
	LWLockRelease(emogi_shared->lock);
	return bytes;
}

/* Raise the error of a full budget, and say if calls of other sessions have a part of it: then it may be room enough later. */
static void
report_full(uint64 needed, uint64 used)
{
	uint64		used_bytes = used * EMOGI_GRANULE_BYTES;
	uint64		others_bytes = used_bytes - Min(emogi_limits_own_bytes(), used_bytes);

	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg(others_bytes > 0 ? "emogi.max_memory is too small for this graph beside those of other calls" :
					"emogi.max_memory is too small for this graph"),
			 errdetail("%llu more bytes are needed; %llu are in use, %llu of them by other sessions. emogi.max_memory allows %llu.",
					   (unsigned long long) needed, (unsigned long long) used_bytes, (unsigned long long) others_bytes,
					   (unsigned long long) emogi_region_budget_bytes()),
			 errhint("Raise emogi.max_memory (%dMB now) and restart the server, or select fewer edges%s.", emogi_max_memory_mb,
					 others_bytes > 0 ? ", or call again when fewer calls are in progress" : "")));
}

/* Get the bytes that are free in the budget now. */
static uint64
free_bytes(void)
{
	uint64		free_granules;

	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	free_granules = region->budget - region->used;
	LWLockRelease(emogi_shared->lock);
	return free_granules * EMOGI_GRANULE_BYTES;
}

/* Raise 53200 unless this many more bytes fit in the budget, after cached Graphs have made room for them. */
void
emogi_region_check_budget(uint64 bytes)
{
	while (granules(bytes) * EMOGI_GRANULE_BYTES > free_bytes())
		if (granules(bytes) > region->budget || !emogi_cache_make_room())
			report_full(bytes, region->budget - free_bytes() / EMOGI_GRANULE_BYTES);
}

/* Take LEAVING granules [first, first + count) out of use: punch without the lock, then free. */
static void
release_run(uint64 first, uint64 count)
{
	punch(first, count);
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	for (uint64 i = first; i < first + count; i++)
		region->owner[i] = 0;
	region->used -= count;
	LWLockRelease(emogi_shared->lock);
}

/*
 * Get the account that an owner's granules are counted in, and where there; NULL for those of cached Graphs, and of nobody.
 * Caller holds lock, as for the three that follow.
 */
static EmogiAccount *
account_of(EmogiOwner owner, uint32 **counter)
{
	uint32		kind = owner & ~EMOGI_OWNER_INDEX;
	uint32		index = (owner & EMOGI_OWNER_INDEX) - 1;
	EmogiAccount *account;

	if (kind == EMOGI_OWNER_GRAPH(-1) || owner >= EMOGI_OWNER_SMALL)
		return NULL;
	account = &emogi_shared->accounts[kind == EMOGI_OWNER_HOLDING(-1) ? EMOGI_NSLOTS + index : index];
	*counter = kind == EMOGI_OWNER_EDGES(-1) ? &account->nchunks : &account->nothers;
	return account;
}

/* Count granules that an owner has got. */
static void
count_in(EmogiOwner owner, uint64 first, uint64 count)
{
	uint32	   *counter;
	EmogiAccount *account = account_of(owner, &counter);

	if (account == NULL)
		return;
	if (account->nchunks + account->nothers == 0)
		account->first = first;
	account->end = Max(account->nchunks + account->nothers == 0 ? 0 : account->end, first + count);
	account->first = Min(account->first, first);
	*counter += (uint32) count;
}

/* Count granules that an owner has no more. */
static void
count_out(EmogiOwner owner, uint64 count)
{
	uint32	   *counter;

	if (account_of(owner, &counter) != NULL)
		*counter -= (uint32) count;
}

/* Narrow [*first, *end) down to where an owner's granules are; false when it has none. */
static bool
find_span(EmogiOwner owner, uint64 *first, uint64 *end)
{
	uint32	   *counter;
	const EmogiAccount *account = account_of(owner, &counter);

	if (account == NULL)
		return true;
	*first = Max(*first, account->first);
	*end = Min(*end, account->end);
	return *counter > 0 && *first < *end;
}

/* Take granules out of use that are their owner's, in a row; they stay warm if there may be so many. Caller holds lock. */
static bool
keep_warm(uint64 first, uint64 count)
{
	if (region->warm + count > region->budget / EMOGI_WARM_SHARE)
		return false;
	for (uint64 i = first; i < first + count; i++)
		region->owner[i] = EMOGI_OWNER_WARM;
	region->warm += count;
	region->used -= count;
	return true;
}

/* Find `count` granules of one kind, free or warm, in a row within [from, to); returns `to` when there are none. */
static uint64
find_run(EmogiOwner kind, uint64 from, uint64 to, uint64 count)
{
	uint64		run = 0;

	for (uint64 i = from; i < to; i++)
	{
		run = region->owner[i] == kind ? run + 1 : 0;
		if (run == count)
			return i + 1 - count;
	}
	return to;
}

/*
 * Take granules in a row for an owner, warm or cold; NULL when the budget, the gaps or, then *limit is set, the limits do not
 * allow it.
 */
static void *
take_granules(EmogiOwner owner, uint64 count, bool warm, EmogiLimit *limit)
{
	uint64		first = region->ngranules;
	const EmogiAccount *account;
	uint32	   *counter;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	account = account_of(owner, &counter);
	*limit = account != NULL ? emogi_limits_of_memory(account, count) : EMOGI_WITHIN_LIMITS;
	if (*limit != EMOGI_WITHIN_LIMITS)
		;
	else if (warm && count <= region->warm)
		first = find_run(EMOGI_OWNER_WARM, 0, region->ngranules, count);
	else if (!warm && count <= region->budget - region->used - region->warm)
	{
		first = find_run(0, region->hint, region->ngranules, count);
		if (first == region->ngranules)
			first = find_run(0, 0, region->ngranules, count);
		if (first < region->ngranules)
			region->hint = first + count < region->ngranules ? first + count : 0;
	}
	if (first < region->ngranules)
	{
		for (uint64 i = first; i < first + count; i++)
			region->owner[i] = owner;
		count_in(owner, first, count);
		region->used += count;
		region->warm -= warm ? count : 0;
	}
	LWLockRelease(emogi_shared->lock);
	return first < region->ngranules ? region_start + first * EMOGI_GRANULE_BYTES : NULL;
}

/* Give the pages of up to `count` warm granules back to the kernel; false when there are none. */
static bool
cool(uint64 count)
{
	uint64		first;
	uint64		n = 0;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	first = find_run(EMOGI_OWNER_WARM, 0, region->ngranules, 1);
	while (first + n < region->ngranules && n < count && region->owner[first + n] == EMOGI_OWNER_WARM)
		region->owner[first + n++] = EMOGI_OWNER_LEAVING;
	region->warm -= n;
	region->used += n;			/* until they are punched */
	LWLockRelease(emogi_shared->lock);
	if (n > 0)
		release_run(first, n);
	return n > 0;
}

/* Give all warm granules back to the kernel. */
void
emogi_region_cool(void)
{
	while (cool(region->ngranules))
		;
}

/* Allocate granules, warm ones if they will do and are there. See below. */
static void *
allocate(EmogiOwner owner, Size bytes, bool any_content)
{
	uint64		count = Max(granules(bytes), 1);
	EmogiLimit	limit;
	void	   *start;

	if (emogi_fault_allocation())
		report_full(bytes, region->budget - free_bytes() / EMOGI_GRANULE_BYTES);
	if (any_content && (start = take_granules(owner, count, true, &limit)) != NULL)
		return start;
	while ((start = take_granules(owner, count, false, &limit)) == NULL)
	{
		if (limit != EMOGI_WITHIN_LIMITS)
		{
			if (emogi_calls_end_finished())
				continue;
			emogi_limits_report(limit);
		}
		if (cool(count))
			continue;
		if (count <= region->budget && emogi_cache_make_room())
			continue;
		if (count > free_bytes() / EMOGI_GRANULE_BYTES)
			report_full(bytes, region->budget - free_bytes() / EMOGI_GRANULE_BYTES);
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("no contiguous %zu bytes are left in the shared memory of emogi", bytes),
				 errhint("Raise emogi.max_memory (%dMB now) and restart the server.", emogi_max_memory_mb)));
	}
	return start;
}

/*
 * Allocate bytes for an owner: whole granules, in a row, aligned to a granule, content zero, not yet populated. Cached
 * Graphs that are not in use make room. Raises 53200 when that is not enough.
 */
void *
emogi_region_alloc(EmogiOwner owner, Size bytes)
{
	return allocate(owner, bytes, false);
}

/* The same for who writes before reading: with any content, and populated if it is warm. */
void *
emogi_region_alloc_any(EmogiOwner owner, Size bytes)
{
	return allocate(owner, bytes, true);
}

/* Hand what emogi_region_alloc gave, the same bytes, to another owner. Returns the bytes that it takes. */
uint64
emogi_region_give(void *start, Size bytes, EmogiOwner owner)
{
	uint64		first = granule_of(start);
	uint64		count = Max(granules(bytes), 1);

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	count_out(region->owner[first], count);
	for (uint64 i = first; i < first + count; i++)
		region->owner[i] = owner;
	count_in(owner, first, count);
	LWLockRelease(emogi_shared->lock);
	return count * EMOGI_GRANULE_BYTES;
}

/* Hand all that an owner has to another. */
void
emogi_region_give_all(EmogiOwner from, EmogiOwner to)
{
	uint64		first = 0;
	uint64		end = region->ngranules;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	if (find_span(from, &first, &end))
		for (uint64 i = first; i < end; i++)
			if (region->owner[i] == from)
			{
				region->owner[i] = to;
				count_out(from, 1);
				count_in(to, i, 1);
			}
	LWLockRelease(emogi_shared->lock);
}

/* Free what emogi_region_alloc gave, the same bytes. */
void
emogi_region_free(void *start, Size bytes)
{
	uint64		first = granule_of(start);
	uint64		count = Max(granules(bytes), 1);
	bool		warm;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	count_out(region->owner[first], count);
	warm = keep_warm(first, count);
	for (uint64 i = first; i < first + count && !warm; i++)
		region->owner[i] = EMOGI_OWNER_LEAVING;
	LWLockRelease(emogi_shared->lock);
	if (!warm)
		release_run(first, count);
}

/* Find the next run of granules of an owner from *first on, and keep it warm or hide it; false when there is none. */
static bool
hide_next_run(EmogiOwner owner, uint64 *first, uint64 *count, bool *warm)
{
	uint64		end = region->ngranules;
	uint64		i;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	if (!find_span(owner, first, &end))
		*first = end;
	i = *first;
	while (i < end && region->owner[i] != owner)
		i++;
	*first = i;
	while (i < end && region->owner[i] == owner)
		i++;
	*count = i - *first;
	count_out(owner, *count);
	*warm = keep_warm(*first, *count);
	for (i = *first; i < *first + *count && !*warm; i++)
		region->owner[i] = EMOGI_OWNER_LEAVING;
	LWLockRelease(emogi_shared->lock);
	return *count > 0;
}

/* Free all granules of an owner. Raises nothing, so it may run while a transaction aborts. */
void
emogi_region_free_owner(EmogiOwner owner)
{
	uint64		first = 0;
	uint64		count;
	bool		warm;

	while (hide_next_run(owner, &first, &count, &warm))
	{
		if (!warm)
			release_run(first, count);
		first += count;
	}
}

/* ---- small blocks ---- */

static uint64
units_for(Size bytes)
{
	return Max((bytes + unit_bytes - 1) / unit_bytes, 1);
}

/* Mark units [first, first + count) of a granule as taken, or as free. Caller holds lock. */
static void
mark_units(Units *units, uint64 first, uint64 count, bool taken)
{
	uint64		change = taken ? count : -count;

	for (uint64 i = first; i < first + count; i++)
		if (taken)
			units->taken[i / 64] |= UINT64CONST(1) << i % 64;
		else
			units->taken[i / 64] &= ~(UINT64CONST(1) << i % 64);
	units->ntaken += change;
	region->ntaken += change;
}

/* Find `count` free units in a row; get -1 when there are none. Caller holds lock. */
static int
find_units(const Units *units, uint64 count)
{
	uint64		nunits = EMOGI_GRANULE_BYTES / unit_bytes;
	uint64		run = 0;

	if (nunits - units->ntaken < count)
		return -1;
	for (uint64 i = 0; i < nunits; i++)
	{
		run = units->taken[i / 64] >> i % 64 & 1 ? 0 : run + 1;
		if (run == count)
			return (int) (i + 1 - count);
	}
	return -1;
}

/* Take `count` units in a row of a granule that is cut already; NULL when there are none. Caller holds lock. */
static void *
take_units(uint64 count)
{
	uint64		nseen = 0;

	for (uint64 n = 0; n < region->ngranules && nseen < region->nsmall; n++)
	{
		uint64		i = (region->small_hint + n) % region->ngranules;
		int			first;

		if (region->owner[i] != EMOGI_OWNER_SMALL)
			continue;
		nseen++;
		first = find_units(&region_units[i], count);
		if (first < 0)
			continue;
		mark_units(&region_units[i], first, count, true);
		region->small_hint = i;
		return region_start + i * EMOGI_GRANULE_BYTES + first * unit_bytes;
	}
	return NULL;
}

/* Cut a granule, whose content is anything, and take its first `count` units. Caller holds lock. */
static void
cut_granule(uint64 granule, uint64 count)
{
	memset(&region_units[granule], 0, sizeof(Units));
	mark_units(&region_units[granule], 0, count, true);
	region->owner[granule] = EMOGI_OWNER_SMALL;
	region->nsmall++;
	region->small_hint = granule;
}

/* Get the bytes that a small block takes. */
uint64
emogi_region_small_bytes(Size bytes)
{
	return units_for(bytes) * unit_bytes;
}

/*
 * Allocate a small block, with any content; NULL when the budget does not allow it as it is. For use under cache_lock:
 * evicts nothing, raises nothing.
 */
void *
emogi_region_alloc_small(Size bytes)
{
	EmogiLimit	limit;
	void	   *start;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	start = take_units(units_for(bytes));
	LWLockRelease(emogi_shared->lock);
	if (start != NULL)
		return start;
	start = take_granules(EMOGI_OWNER_LEAVING, 1, true, &limit);	/* nobody's, until it is cut */
	if (start == NULL)
		start = take_granules(EMOGI_OWNER_LEAVING, 1, false, &limit);
	if (start == NULL)
		return NULL;
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	cut_granule(granule_of(start), units_for(bytes));
	LWLockRelease(emogi_shared->lock);
	return start;
}

/* Free what emogi_region_alloc_small or emogi_region_pack gave, the same bytes. Raises nothing. */
void
emogi_region_free_small(void *start, Size bytes)
{
	uint64		granule = granule_of(start);
	uint64		offset = (uint64) ((char *) start - region_start) % EMOGI_GRANULE_BYTES;
	Units	   *units = &region_units[granule];
	bool		warm = true;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	mark_units(units, offset / unit_bytes, units_for(bytes), false);
	if (units->ntaken == 0)
	{
		region->nsmall--;
		warm = keep_warm(granule, 1);
		if (!warm)
			region->owner[granule] = EMOGI_OWNER_LEAVING;
	}
	LWLockRelease(emogi_shared->lock);
	if (!warm)
		release_run(granule, 1);
}

/*
 * Make a small block of what emogi_region_alloc gave, which holds `bytes` of content. Where no granule has room for it, its
 * own is cut, so this takes no memory and cannot fail; else it moves there, and its granule is freed. Gets where it is then.
 */
void *
emogi_region_pack(void *start, Size bytes)
{
	uint64		count = units_for(bytes);
	void	   *place;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	place = take_units(count);
	if (place == NULL)
	{
		count_out(region->owner[granule_of(start)], 1);
		cut_granule(granule_of(start), count);
	}
	LWLockRelease(emogi_shared->lock);
	if (place == NULL)
		return start;
	memcpy(place, start, bytes);
	emogi_region_free(start, bytes);
	return place;
}

/* ---- edges ---- */

/* Count an owner's granules. */
static uint64
count_granules(EmogiOwner owner)
{
	uint64		first = 0;
	uint64		end = region->ngranules;
	uint64		n = 0;

	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	if (find_span(owner, &first, &end))
		for (uint64 i = first; i < end; i++)
			n += region->owner[i] == owner;
	LWLockRelease(emogi_shared->lock);
	return n;
}

/*
 * Get an owner's granules as edge chunks, and their sum. The array of chunks comes from `allocate`: palloc in a
 * backend, malloc in the worker. False when that returns NULL. The scan that fills the chunks must be over.
 */
bool
emogi_region_edges(EmogiOwner owner, EmogiEdges *edges, void *(*allocate) (Size))
{
	uint64		n = count_granules(owner);
	EmogiEdgeChunk **chunks = allocate(Max(n, 1) * sizeof(EmogiEdgeChunk *));

	memset(edges, 0, sizeof *edges);
	edges->chunks = chunks;
	edges->min_key = PG_INT64_MAX;
	edges->max_key = PG_INT64_MIN;
	if (chunks == NULL)
		return false;
	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	for (uint64 i = 0; i < region->ngranules && edges->nchunks < n; i++)
		if (region->owner[i] == owner)
			chunks[edges->nchunks++] = (EmogiEdgeChunk *) (region_start + i * EMOGI_GRANULE_BYTES);
	LWLockRelease(emogi_shared->lock);
	for (uint64 i = 0; i < edges->nchunks; i++)
	{
		if (chunks[i]->nedges == 0)
			continue;
		edges->nedges += chunks[i]->nedges;
		edges->weight_misfits |= chunks[i]->weight_misfits;
		edges->min_key = Min(edges->min_key, chunks[i]->min_key);
		edges->max_key = Max(edges->max_key, chunks[i]->max_key);
	}
	return true;
}
