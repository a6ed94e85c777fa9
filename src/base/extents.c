/*
 * extents.c: the arena's memory, and the owner of each extent
 *
 * The arena is one sparse memfd, mapped by the postmaster before it forks, so that every process
 * sees it at the same address. It is not in /dev/shm (64 MB in many containers) and not in
 * PostgreSQL's own shared memory (fixed size, never returned to the system). Address space is cheap
 * and memory is not: the mapping is EMOGI_ADDRESS_FACTOR times the budget, so that a large
 * allocation always finds a gap, and the budget counts the extents in use.
 *
 * Memory is allocated in extents (2 MiB), first fit from a moving hint. The only bookkeeping is one
 * owner word per extent, in PostgreSQL's shared memory, under EmogiShared.lock. The kernel provides
 * a page when it is first touched (emogi_pool_populate populates pages in bulk and in parallel);
 * freeing an extent returns its pages by punching a hole. After a crash restart the postmaster's
 * shmem_startup_hook runs again and empties the arena. Without shared_preload_libraries, trial.c
 * maps the file.
 *
 * With emogi.huge_pages the memfd consists of huge pages, each as large as an extent. The kernel
 * has a fixed pool of them, and touching a huge page that is not available would raise SIGBUS.
 * Therefore an extent gets its page as soon as it is allocated (emogi_extents_fill).
 *
 * Getting pages from the kernel costs up to a third of a scan, or more than a short traversal.
 * Therefore part of the freed extents stay warm: free, but with their pages, for callers that
 * accept undefined content. The budget covers warm extents and extents in use together; warm
 * extents are returned to the kernel first if memory is needed.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "miscadmin.h"

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

/* At most 1 / EMOGI_WARM_SHARE of the budget is warm. */
#define EMOGI_WARM_SHARE 8

static int	arena_fd = -1;
static off_t arena_offset = 0;	/* of the arena in its file */
char	   *emogi_arena_start;
EmogiArena *emogi_arena;
EmogiExtents *emogi_extent_units;

/* Get the budget in extents, rounded down. */
static uint64
budget_extents(void)
{
	return emogi_arena_budget_bytes() / EMOGI_EXTENT_BYTES;
}

static uint64
address_extents(void)
{
	return budget_extents() * EMOGI_ADDRESS_FACTOR;
}

/* Get the size of the arena's address space. */
Size
emogi_extents_address_bytes(void)
{
	return address_extents() * EMOGI_EXTENT_BYTES;
}

/* Create the file behind the arena; -1 and errno if the system refuses. */
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
 * Create the file from huge pages, if the pool has enough for the budget. Otherwise return -1, or
 * raise FATAL if emogi.huge_pages is on.
 */
static int
make_huge_file(Size bytes)
{
	uint64		needed_bytes = budget_extents() * EMOGI_EXTENT_BYTES;
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
 * Reserve the arena's address space; called once, in the postmaster. PostgreSQL has reserved its
 * own huge pages by then.
 */
static void
reserve(void)
{
	Size		bytes = address_extents() * EMOGI_EXTENT_BYTES;

	if (emogi_huge_pages != EMOGI_HUGE_PAGES_OFF)
		arena_fd = make_huge_file(bytes);
	if (arena_fd >= 0)
		SetConfigOption("emogi.huge_pages_status", "on", PGC_INTERNAL, PGC_S_DYNAMIC_DEFAULT);
	else
		arena_fd = make_file(bytes, 0);
	if (arena_fd < 0)
		ereport(FATAL,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("could not create the shared memory of emogi: %m")));
	emogi_arena_start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
							 arena_fd, 0);
	if (emogi_arena_start == MAP_FAILED)
		ereport(FATAL,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("could not map %zu bytes of address space for emogi: %m", bytes),
				 errhint("Lower emogi.max_memory.")));
	(void) madvise(emogi_arena_start, bytes, MADV_DONTDUMP);
	if (!emogi_huge_pages_status)
		(void) madvise(emogi_arena_start, bytes, MADV_HUGEPAGE);
}

/* Create a file of ordinary pages for the arena and `extra` bytes; -1 and errno as make_file. */
int
emogi_extents_make_file(Size extra)
{
	return make_file(extra + emogi_extents_address_bytes(), 0);
}

/* Use a file that is already mapped (trial.c): the arena is at this address and offset. */
void
emogi_extents_use_file(int fd, off_t offset, char *start)
{
	arena_fd = fd;
	arena_offset = offset;
	emogi_arena_start = start;
	(void) madvise(start, emogi_extents_address_bytes(), MADV_HUGEPAGE);
}

static Size
owners_bytes(void)
{
	return add_size(offsetof(EmogiArena, owner), mul_size(address_extents(), sizeof(EmogiOwner)));
}

Size
emogi_extents_shmem_size(void)
{
	return add_size(MAXALIGN(owners_bytes()),
					MAXALIGN(mul_size(address_extents(), sizeof(EmogiExtents))));
}

/* Return the pages of a run of extents to the kernel. */
static void
punch(uint64 first, uint64 count)
{
	if (fallocate(arena_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				  arena_offset + (off_t) (first * EMOGI_EXTENT_BYTES),
				  (off_t) (count * EMOGI_EXTENT_BYTES)) != 0)
		elog(LOG, "could not return memory of emogi to the kernel: %m");
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
	emogi_arena = emogi_shared_struct("emogi arena", owners_bytes(), &found_region);
	emogi_extent_units = emogi_shared_struct("emogi arena units",
											 address_extents() * sizeof(EmogiExtents),
											 &found_region);
	if (found)
		return;
	memset(emogi_arena, 0, owners_bytes());	/* units are set up when an extent is split */
	emogi_arena->nextents = address_extents();
	emogi_arena->unit_bytes = Max(EMOGI_UNIT_BYTES, sysconf(_SC_PAGESIZE));
	emogi_arena->budget = budget_extents();
	punch(0, emogi_arena->nextents);
}

/* Get the number of free extents within the budget. */
uint64
emogi_extents_free(void)
{
	uint64		count;

	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	count = emogi_arena->budget - emogi_arena->used;
	LWLockRelease(emogi_shared->lock);
	return count;
}

/* Free LEAVING extents [first, first + count): punch them without the lock, then mark them free. */
void
emogi_extents_release(uint64 first, uint64 count)
{
	punch(first, count);
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	for (uint64 i = first; i < first + count; i++)
		emogi_arena->owner[i] = 0;
	emogi_arena->used -= count;
	LWLockRelease(emogi_shared->lock);
}

/*
 * Get the account, and its counter, that an owner's extents are counted in; NULL for cached graphs,
 * change trackers, dictionaries, and extents without an owner. Caller holds lock, as for the three
 * functions that follow.
 */
static EmogiAccount *
account_of(EmogiOwner owner, uint32 **counter)
{
	uint32		kind = owner & ~EMOGI_OWNER_INDEX;
	uint32		index = (owner & EMOGI_OWNER_INDEX) - 1;
	EmogiAccount *account;

	if (kind == EMOGI_OWNER_GRAPH(-1) || kind == EMOGI_OWNER_TRACKER(-1) ||
		kind == EMOGI_OWNER_DICTIONARY(-1) || owner >= EMOGI_OWNER_SMALL)
		return NULL;
	account = &emogi_shared->accounts[kind == EMOGI_OWNER_HELD(-1) ? EMOGI_NSLOTS + index :
									  index];
	*counter = kind == EMOGI_OWNER_EDGES(-1) ? &account->nchunks : &account->nothers;
	return account;
}

/* Count extents that an owner has received. */
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

/* Stop counting extents of an owner. */
void
emogi_extents_count_out(EmogiOwner owner, uint64 count)
{
	uint32	   *counter;

	if (account_of(owner, &counter) != NULL)
		*counter -= (uint32) count;
}

/* Narrow [*first, *end) to the range of an owner's extents; return false if it has none. */
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
 * Remove a contiguous run of an owner's extents from use. Keep them warm if the warm share allows
 * it; return false if it does not. Caller holds lock.
 */
bool
emogi_extents_keep_warm(uint64 first, uint64 count)
{
	if (emogi_arena->warm + count > emogi_arena->budget / EMOGI_WARM_SHARE)
		return false;
	for (uint64 i = first; i < first + count; i++)
		emogi_arena->owner[i] = EMOGI_OWNER_WARM;
	emogi_arena->warm += count;
	emogi_arena->used -= count;
	return true;
}

/*
 * Find `count` contiguous extents of one kind, free or warm, within [from, to); return `to` if
 * there are none.
 */
static uint64
find_run(EmogiOwner kind, uint64 from, uint64 to, uint64 count)
{
	uint64		run = 0;

	for (uint64 i = from; i < to; i++)
	{
		run = emogi_arena->owner[i] == kind ? run + 1 : 0;
		if (run == count)
			return i + 1 - count;
	}
	return to;
}

/*
 * Allocate contiguous extents for an owner, warm or cold; return NULL if the budget, fragmentation
 * or the limits (which set *limit) do not allow it.
 */
void *
emogi_extents_take(EmogiOwner owner, uint64 count, bool warm, EmogiLimit *limit)
{
	uint64		first = emogi_arena->nextents;
	const EmogiAccount *account;
	uint32	   *counter;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	account = account_of(owner, &counter);
	*limit = account != NULL ? emogi_limits_check_memory(account, count) : EMOGI_WITHIN_LIMITS;
	if (*limit != EMOGI_WITHIN_LIMITS)
		;
	else if (warm && count <= emogi_arena->warm)
		first = find_run(EMOGI_OWNER_WARM, 0, emogi_arena->nextents, count);
	else if (!warm && count <= emogi_arena->budget - emogi_arena->used - emogi_arena->warm)
	{
		first = find_run(0, emogi_arena->hint, emogi_arena->nextents, count);
		if (first == emogi_arena->nextents)
			first = find_run(0, 0, emogi_arena->nextents, count);
		if (first < emogi_arena->nextents)
			emogi_arena->hint = first + count < emogi_arena->nextents ? first + count : 0;
	}
	if (first < emogi_arena->nextents)
	{
		for (uint64 i = first; i < first + count; i++)
			emogi_arena->owner[i] = owner;
		emogi_extents_count_in(owner, first, count);
		emogi_arena->used += count;
		emogi_arena->warm -= warm ? count : 0;
	}
	LWLockRelease(emogi_shared->lock);
	return first < emogi_arena->nextents ? emogi_arena_start + first * EMOGI_EXTENT_BYTES : NULL;
}

/*
 * Get the huge pages of cold extents that an owner has just allocated: the kernel's pool may have
 * been exhausted since the server started. If there are too few, free the extents and return false.
 * Without huge pages, do nothing.
 */
bool
emogi_extents_fill(EmogiOwner owner, void *start, uint64 count)
{
	uint64		first = emogi_extents_of(start);

	if (!emogi_huge_pages_status)
		return true;
	while (fallocate(arena_fd, 0, (off_t) (first * EMOGI_EXTENT_BYTES),
					 (off_t) (count * EMOGI_EXTENT_BYTES)) != 0)
	{
		if (errno == EINTR)
		{
			if (owner != EMOGI_OWNER_LEAVING)
				CHECK_FOR_INTERRUPTS();	/* the owner's abort frees them; nobody would free LEAVING
										 * extents */
			continue;
		}
		LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
		emogi_extents_count_out(owner, count);
		for (uint64 i = first; i < first + count; i++)
			emogi_arena->owner[i] = EMOGI_OWNER_LEAVING;
		LWLockRelease(emogi_shared->lock);
		emogi_extents_release(first, count);
		return false;
	}
	return true;
}

/* Return the pages of up to `count` warm extents to the kernel; return false if there are none. */
bool
emogi_extents_trim(uint64 count)
{
	uint64		first;
	uint64		n = 0;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	first = find_run(EMOGI_OWNER_WARM, 0, emogi_arena->nextents, 1);
	while (first + n < emogi_arena->nextents && n < count &&
		   emogi_arena->owner[first + n] == EMOGI_OWNER_WARM)
		emogi_arena->owner[first + n++] = EMOGI_OWNER_LEAVING;
	emogi_arena->warm -= n;
	emogi_arena->used += n;	/* until they are punched */
	LWLockRelease(emogi_shared->lock);
	if (n > 0)
		emogi_extents_release(first, n);
	return n > 0;
}
