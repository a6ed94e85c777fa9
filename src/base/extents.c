/*
 * extents.c: the Region's memory, and who has which extent of it.
 *
 * One sparse memfd, mapped by the postmaster before it forks, so that every process sees it at one
 * address. It does not live in /dev/shm (64 MB in many containers) and not in PostgreSQL's own
 * shared memory (fixed, never given back). Address space is cheap and memory is not: the mapping is
 * EMOGI_ADDRESS_FACTOR times the budget, so that a large block always finds a gap, and the budget
 * counts the extents in use.
 *
 * Allocation is by extent (2 MiB), first fit from a moving hint; one owner word a extent is all the
 * bookkeeping there is, in PostgreSQL's shared memory, under EmogiShared.lock. Memory is taken from
 * the kernel when a page is first touched (emogi_pool_populate does it in bulk and in parallel) and
 * given back by punching a hole when freed. After a crash restart the postmaster's
 * shmem_startup_hook runs again and empties the Region.
 *
 * With emogi.huge_pages the memfd is one of huge pages, each as large as a extent. The kernel has a
 * fixed pool of them, and touching one that is not to be had would be a SIGBUS. So a extent gets
 * its page as soon as it is taken (emogi_extents_fill).
 *
 * Taking pages from the kernel costs as much as a third of a scan, or more than a short traversal.
 * So a part of what is freed stays warm: free, but with its pages, for those who do not care what
 * is in them. Warm extents and those in use are together within the budget; when others need it,
 * warm ones are given back first.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/shmem.h"

#include "base/extents.h"
#include "base/machine.h"
#include "base/settings.h"

#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1U
#endif
#ifndef MFD_HUGETLB
#define MFD_HUGETLB 4U
#endif
#ifndef MFD_HUGE_2MB
#define MFD_HUGE_2MB (21U << 26)
#endif

StaticAssertDecl(EMOGI_EXTENT_BYTES == 1 << 21, "a extent is a huge page of 2 MB");

#define EMOGI_ADDRESS_FACTOR 4

/* At most this share of the budget is warm. */
#define EMOGI_WARM_SHARE 8

static int	region_fd = -1;
char	   *emogi_arena_start;
EmogiArena *emogi_region;
EmogiExtents *emogi_arena_units;

/* Get the budget in extents: not a byte more than the setting says. */
static uint64
budget_granules(void)
{
	return emogi_arena_budget_bytes() / EMOGI_EXTENT_BYTES;
}

static uint64
address_granules(void)
{
	return budget_granules() * EMOGI_ADDRESS_FACTOR;
}

/* Make the file behind the Region; -1 and errno when the system refuses. */
static int
make_file(Size bytes, unsigned int flags)
{
	int			fd = memfd_create("emogi", MFD_CLOEXEC | flags);

	if (fd >= 0 && ftruncate(fd, bytes) != 0)
	{
		int			error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

/*
 * Make that file of huge pages, if the pool has as many as the budget; else -1, or the server does
 * not start.
 */
static int
make_huge_file(Size bytes)
{
	uint64		needed_bytes = budget_granules() * EMOGI_EXTENT_BYTES;
	uint64		free_bytes = emogi_machine_free_huge_bytes();
	int			fd = -1;

	errno = ENOMEM;
	if (needed_bytes <= free_bytes)
		fd = make_file(bytes, MFD_HUGETLB | MFD_HUGE_2MB);
	if (fd >= 0)
		return fd;
	ereport(emogi_huge_pages == EMOGI_HUGE_PAGES_ON ? FATAL : LOG,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg("emogi could not use huge pages: %m"),
			 errdetail("emogi.max_memory needs %llu bytes of huge pages of 2 MB; %llu bytes of "
					   "them are free.",
					   (unsigned long long) needed_bytes, (unsigned long long) free_bytes),
			 emogi_huge_pages == EMOGI_HUGE_PAGES_ON ?
			 errhint("Raise vm.nr_hugepages by %llu, lower emogi.max_memory (%dMB now), or set "
					 "emogi.huge_pages to \"try\" or \"off\".",
					 (unsigned long long) ((needed_bytes -
											Min(free_bytes, needed_bytes)) / EMOGI_EXTENT_BYTES),
					 emogi_max_memory_mb) : 0));
	return -1;
}

/*
 * Reserve the Region's address space; called once, in the postmaster. PostgreSQL's own huge pages
 * are promised by then.
 */
static void
reserve(void)
{
	Size		bytes = address_granules() * EMOGI_EXTENT_BYTES;

	if (emogi_huge_pages != EMOGI_HUGE_PAGES_OFF)
		region_fd = make_huge_file(bytes);
	if (region_fd >= 0)
		SetConfigOption("emogi.huge_pages_status", "on", PGC_INTERNAL, PGC_S_DYNAMIC_DEFAULT);
	else
		region_fd = make_file(bytes, 0);
	if (region_fd < 0)
		ereport(FATAL,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("could not create the shared memory of emogi: %m")));
	emogi_arena_start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
							 region_fd, 0);
	if (emogi_arena_start == MAP_FAILED)
		ereport(FATAL,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("could not map %zu bytes of address space for emogi: %m", bytes),
				 errhint("Lower emogi.max_memory.")));
	(void) madvise(emogi_arena_start, bytes, MADV_DONTDUMP);
	if (!emogi_huge_pages_status)
		(void) madvise(emogi_arena_start, bytes, MADV_HUGEPAGE);
}

static Size
owners_bytes(void)
{
	return add_size(offsetof(EmogiArena, owner), mul_size(address_granules(), sizeof(EmogiOwner)));
}

Size
emogi_extents_shmem_size(void)
{
	return add_size(MAXALIGN(owners_bytes()),
					MAXALIGN(mul_size(address_granules(), sizeof(EmogiExtents))));
}

/* Give the pages of a run of extents back to the kernel. */
static void
punch(uint64 first, uint64 count)
{
	if (fallocate(region_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				  (off_t) (first * EMOGI_EXTENT_BYTES), (off_t) (count * EMOGI_EXTENT_BYTES)) != 0)
		elog(LOG, "emogi could not give memory back to the kernel: %m");
}

/*
 * Set up the allocator, at server start and again after every crash restart. Caller holds
 * AddinShmemInitLock.
 */
void
emogi_extents_shmem_startup(bool found)
{
	bool		found_region;

	if (emogi_arena_start == NULL)
		reserve();
	emogi_region = ShmemInitStruct("emogi region", owners_bytes(), &found_region);
	emogi_arena_units = ShmemInitStruct("emogi region units",
										address_granules() * sizeof(EmogiExtents), &found_region);
	if (found)
		return;
	memset(emogi_region, 0, owners_bytes());	/* units are set up when a extent is cut */
	emogi_region->ngranules = address_granules();
	emogi_region->unit_bytes = Max(EMOGI_UNIT_BYTES, sysconf(_SC_PAGESIZE));
	emogi_region->budget = budget_granules();
	punch(0, emogi_region->ngranules);
}

/* Get the extents that are free in the budget now. */
uint64
emogi_extents_free(void)
{
	uint64		count;

	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	count = emogi_region->budget - emogi_region->used;
	LWLockRelease(emogi_shared->lock);
	return count;
}

/* Take LEAVING extents [first, first + count) out of use: punch without the lock, then free. */
void
emogi_extents_release(uint64 first, uint64 count)
{
	punch(first, count);
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	for (uint64 i = first; i < first + count; i++)
		emogi_region->owner[i] = 0;
	emogi_region->used -= count;
	LWLockRelease(emogi_shared->lock);
}

/*
 * Get the account that an owner's extents are counted in, and where there; NULL for those of cached
 * Graphs, live states, dictionaries, and of nobody. Caller holds lock, as for the three that
 * follow.
 */
static EmogiAccount *
account_of(EmogiOwner owner, uint32 **counter)
{
	uint32		kind = owner & ~EMOGI_OWNER_INDEX;
	uint32		index = (owner & EMOGI_OWNER_INDEX) - 1;
	EmogiAccount *account;

	if (kind == EMOGI_OWNER_GRAPH(-1) || kind == EMOGI_OWNER_LIVE(-1) ||
		kind == EMOGI_OWNER_DICTIONARY(-1) || owner >= EMOGI_OWNER_SMALL)
		return NULL;
	account = &emogi_shared->accounts[kind == EMOGI_OWNER_HOLDING(-1) ? EMOGI_NSLOTS + index :
									  index];
	*counter = kind == EMOGI_OWNER_EDGES(-1) ? &account->nchunks : &account->nothers;
	return account;
}

/* Count extents that an owner has got. */
void
emogi_extents_count_in(EmogiOwner owner, uint64 first, uint64 count)
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

/* Count extents that an owner has no more. */
void
emogi_extents_count_out(EmogiOwner owner, uint64 count)
{
	uint32	   *counter;

	if (account_of(owner, &counter) != NULL)
		*counter -= (uint32) count;
}

/* Narrow [*first, *end) down to where an owner's extents are; false when it has none. */
bool
emogi_extents_find_span(EmogiOwner owner, uint64 *first, uint64 *end)
{
	uint32	   *counter;
	const EmogiAccount *account = account_of(owner, &counter);

	if (account == NULL)
		return true;
	*first = Max(*first, account->first);
	*end = Min(*end, account->end);
	return *counter > 0 && *first < *end;
}

/*
 * Take extents out of use that are their owner's, in a row; they stay warm if there may be so many.
 * Caller holds lock.
 */
bool
emogi_extents_keep_warm(uint64 first, uint64 count)
{
	if (emogi_region->warm + count > emogi_region->budget / EMOGI_WARM_SHARE)
		return false;
	for (uint64 i = first; i < first + count; i++)
		emogi_region->owner[i] = EMOGI_OWNER_WARM;
	emogi_region->warm += count;
	emogi_region->used -= count;
	return true;
}

/*
 * Find `count` extents of one kind, free or warm, in a row within [from, to); returns `to` when
 * there are none.
 */
static uint64
find_run(EmogiOwner kind, uint64 from, uint64 to, uint64 count)
{
	uint64		run = 0;

	for (uint64 i = from; i < to; i++)
	{
		run = emogi_region->owner[i] == kind ? run + 1 : 0;
		if (run == count)
			return i + 1 - count;
	}
	return to;
}

/*
 * Take extents in a row for an owner, warm or cold; NULL when the budget, the gaps or, then *limit
 * is set, the limits do not allow it.
 */
void *
emogi_extents_take(EmogiOwner owner, uint64 count, bool warm, EmogiLimit *limit)
{
	uint64		first = emogi_region->ngranules;
	const EmogiAccount *account;
	uint32	   *counter;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	account = account_of(owner, &counter);
	*limit = account != NULL ? emogi_limits_of_memory(account, count) : EMOGI_WITHIN_LIMITS;
	if (*limit != EMOGI_WITHIN_LIMITS)
		;
	else if (warm && count <= emogi_region->warm)
		first = find_run(EMOGI_OWNER_WARM, 0, emogi_region->ngranules, count);
	else if (!warm && count <= emogi_region->budget - emogi_region->used - emogi_region->warm)
	{
		first = find_run(0, emogi_region->hint, emogi_region->ngranules, count);
		if (first == emogi_region->ngranules)
			first = find_run(0, 0, emogi_region->ngranules, count);
		if (first < emogi_region->ngranules)
			emogi_region->hint = first + count < emogi_region->ngranules ? first + count : 0;
	}
	if (first < emogi_region->ngranules)
	{
		for (uint64 i = first; i < first + count; i++)
			emogi_region->owner[i] = owner;
		emogi_extents_count_in(owner, first, count);
		emogi_region->used += count;
		emogi_region->warm -= warm ? count : 0;
	}
	LWLockRelease(emogi_shared->lock);
	return first < emogi_region->ngranules ? emogi_arena_start + first * EMOGI_EXTENT_BYTES : NULL;
}

/*
 * Get the pages of cold extents that an owner has just taken, where they are huge: the rest of the
 * kernel's pool may be gone since the server started. When there are too few the extents are given
 * back, and this is false.
 */
bool
emogi_extents_fill(EmogiOwner owner, void *start, uint64 count)
{
	uint64		first = emogi_extents_of(start);

	if (!emogi_huge_pages_status)
		return true;
	while (fallocate(region_fd, 0, (off_t) (first * EMOGI_EXTENT_BYTES),
					 (off_t) (count * EMOGI_EXTENT_BYTES)) != 0)
	{
		if (errno == EINTR)
		{
			if (owner != EMOGI_OWNER_LEAVING)
				CHECK_FOR_INTERRUPTS();	/* the owner's abort frees them; what is nobody's yet none
										 * would */
			continue;
		}
		LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
		emogi_extents_count_out(owner, count);
		for (uint64 i = first; i < first + count; i++)
			emogi_region->owner[i] = EMOGI_OWNER_LEAVING;
		LWLockRelease(emogi_shared->lock);
		emogi_extents_release(first, count);
		return false;
	}
	return true;
}

/* Give the pages of up to `count` warm extents back to the kernel; false when there are none. */
bool
emogi_extents_cool(uint64 count)
{
	uint64		first;
	uint64		n = 0;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	first = find_run(EMOGI_OWNER_WARM, 0, emogi_region->ngranules, 1);
	while (first + n < emogi_region->ngranules && n < count &&
		   emogi_region->owner[first + n] == EMOGI_OWNER_WARM)
		emogi_region->owner[first + n++] = EMOGI_OWNER_LEAVING;
	emogi_region->warm -= n;
	emogi_region->used += n;	/* until they are punched */
	LWLockRelease(emogi_shared->lock);
	if (n > 0)
		emogi_extents_release(first, n);
	return n > 0;
}
