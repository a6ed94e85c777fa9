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

/* At most this share of the budget is warm. */
#define EMOGI_WARM_SHARE 8

typedef struct EmogiRegion
{
	/* under EmogiShared.lock */
	uint64		ngranules;		/* address space */
	uint64		budget;			/* granules that may be in use */
	uint64		used;
	uint64		warm;
	uint64		hint;			/* where the next search begins */
	EmogiOwner	owner[FLEXIBLE_ARRAY_MEMBER];	/* [ngranules] */
} EmogiRegion;

static int	region_fd = -1;
static char *region_start;
static EmogiRegion *region;

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

Size
emogi_region_shmem_size(void)
{
	return add_size(offsetof(EmogiRegion, owner), mul_size(address_granules(), sizeof(EmogiOwner)));
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

	region = ShmemInitStruct("emogi region", emogi_region_shmem_size(), &found_region);
	if (found)
		return;
	memset(region, 0, emogi_region_shmem_size());
	region->ngranules = address_granules();
	region->budget = budget_granules();
	punch(0, region->ngranules);
}

uint64
emogi_region_used_bytes(void)
{
	uint64		used;

	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	used = region->used;
	LWLockRelease(emogi_shared->lock);
	return used * EMOGI_GRANULE_BYTES;
}

/* Raise the error of a full budget. */
static void
report_full(uint64 needed, uint64 used)
{
	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg("emogi.max_memory is too small for this graph"),
			 errdetail("%llu bytes are needed and %llu are in use; emogi.max_memory allows %llu.",
					   (unsigned long long) needed, (unsigned long long) (used * EMOGI_GRANULE_BYTES),
					   (unsigned long long) emogi_region_budget_bytes()),
			 errhint("Raise emogi.max_memory (%dMB now) and restart the server, or select fewer edges.",
					 emogi_max_memory_mb)));
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

/* Take granules in a row for an owner, warm or cold; NULL when the budget or the gaps do not allow it. */
static void *
take_granules(EmogiOwner owner, uint64 count, bool warm)
{
	uint64		first = region->ngranules;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	if (warm && count <= region->warm)
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
	void	   *start;

	if (emogi_fault_allocation())
		report_full(bytes, emogi_region_used_bytes() / EMOGI_GRANULE_BYTES);
	if (any_content && (start = take_granules(owner, count, true)) != NULL)
		return start;
	while ((start = take_granules(owner, count, false)) == NULL)
	{
		if (cool(count))
			continue;
		if (count <= region->budget && emogi_cache_make_room())
			continue;
		if (count > free_bytes() / EMOGI_GRANULE_BYTES)
			report_full(bytes, emogi_region_used_bytes() / EMOGI_GRANULE_BYTES);
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
	for (uint64 i = first; i < first + count; i++)
		region->owner[i] = owner;
	LWLockRelease(emogi_shared->lock);
	return count * EMOGI_GRANULE_BYTES;
}

/* Hand all that an owner has to another. */
void
emogi_region_give_all(EmogiOwner from, EmogiOwner to)
{
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	for (uint64 i = 0; i < region->ngranules; i++)
		if (region->owner[i] == from)
			region->owner[i] = to;
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
	uint64		i = *first;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	while (i < region->ngranules && region->owner[i] != owner)
		i++;
	*first = i;
	while (i < region->ngranules && region->owner[i] == owner)
		i++;
	*count = i - *first;
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

/* Count an owner's granules. */
static uint64
count_granules(EmogiOwner owner)
{
	uint64		n = 0;

	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	for (uint64 i = 0; i < region->ngranules; i++)
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
