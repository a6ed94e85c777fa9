/*
 * arena.c: the shared-memory arena that holds graphs, edges and results, allocated in whole extents
 * per owner
 *
 * Large allocations are made here, in extents (extents.c); small ones in small_allocations.c. If
 * the budget or a limit does not allow an allocation, a callback of a higher layer makes room: it
 * frees finished calls and evicts cached graphs.
 */
#include "postgres.h"

#include "base/fault.h"
#include "base/extents.h"
#include "base/machine.h"
#include "base/settings.h"

/* Frees memory to make room; returns false if there is nothing to free. See arena.h. */
static bool (*make_room) (bool at_limit, uint64 bytes);

/* Set the callback that makes room, see arena.h; called once, in the postmaster. */
void
emogi_arena_set_room_callback(bool (*ask) (bool at_limit, uint64 bytes))
{
	make_room = ask;
}

/* Gets the bytes of kept graphs; set by the cache. */
static uint64 (*kept_bytes) (void);

/* Set the callback that counts kept bytes, see arena.h; called once, in the postmaster. */
void
emogi_arena_set_kept_callback(uint64 (*bytes) (void))
{
	kept_bytes = bytes;
}

/* Get the bytes in use; of a split extent only its allocated units count. */
uint64
emogi_arena_used_bytes(void)
{
	uint64		bytes;

	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	bytes = (emogi_arena->used - emogi_arena->nsmall) * EMOGI_EXTENT_BYTES +
		emogi_arena->ntaken * emogi_arena->unit_bytes;
	LWLockRelease(emogi_shared->lock);
	return bytes;
}

/*
 * Raise the error of a full budget. Say whether other sessions' calls use part of it: if so, the
 * same call may succeed later.
 */
static void
report_full(uint64 needed, uint64 used)
{
	uint64		used_bytes = used * EMOGI_EXTENT_BYTES;
	uint64		others_bytes = Min(emogi_limits_others_bytes(), used_bytes);
	uint64		kept = kept_bytes();

	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg(others_bytes > 0 ? "emogi.max_memory is too small for this graph beside those "
									   "of other calls" :
					"emogi.max_memory is too small for this graph"),
			 errdetail("%llu more bytes are needed; %llu are in use, %llu of them by other "
					   "sessions. emogi.max_memory allows %llu.%s",
					   (unsigned long long) needed, (unsigned long long) used_bytes,
					   (unsigned long long) others_bytes,
					   (unsigned long long) emogi_arena_budget_bytes(),
					   kept > 0 ? psprintf(" Kept graphs use %llu bytes.",
										   (unsigned long long) kept) : ""),
			 errhint("Raise emogi.max_memory (%dMB now) and restart the server, or select fewer "
					 "edges%s%s.", emogi_max_memory_mb,
					 others_bytes > 0 ? ", or call again when fewer calls are in progress" : "",
					 kept > 0 ?
					 ", or release kept graphs with emogi_prewarm(..., keep => false)" : "")));
}

/* Raise the error that the system's pool of huge pages has been exhausted by other processes. */
static void
report_pool(uint64 needed)
{
	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg("the system has too few huge pages for this graph"),
			 errdetail("%llu more bytes are needed; %llu bytes of huge pages of 2 MB are free.",
					   (unsigned long long) needed,
					   (unsigned long long) emogi_machine_free_huge_bytes()),
			 errhint("Raise vm.nr_hugepages, or set emogi.huge_pages to \"off\" and restart the "
					 "server.")));
}

/* Raise 53200 unless this many more bytes fit in the budget, after evicting cached graphs. */
void
emogi_arena_check_budget(uint64 bytes)
{
	while (emogi_extents_for(bytes) > emogi_extents_free())
		if (emogi_extents_for(bytes) > emogi_arena->budget || !make_room(false, bytes))
			report_full(bytes, emogi_arena->budget - emogi_extents_free());
}

/* Return all warm extents to the kernel. */
void
emogi_arena_trim(void)
{
	while (emogi_extents_trim(emogi_arena->nextents))
		;
}

/* Allocate extents, warm ones if any_content allows it and enough exist; see emogi_arena_alloc. */
static void *
allocate(EmogiOwner owner, Size bytes, bool any_content)
{
	uint64		count = Max(emogi_extents_for(bytes), 1);
	EmogiLimit	limit;
	void	   *start;

	if (emogi_fault_allocation())
		report_full(bytes, emogi_arena->budget - emogi_extents_free());
	if (any_content && (start = emogi_extents_take(owner, count, true, &limit)) != NULL)
		return start;
	while ((start = emogi_extents_take(owner, count, false, &limit)) == NULL ||
		   !emogi_extents_fill(owner, start, count))
	{
		if (limit != EMOGI_WITHIN_LIMITS)
		{
			if (make_room(true, bytes))
				continue;
			emogi_limits_report(limit);
		}
		if (emogi_extents_trim(count))
			continue;
		if (count <= emogi_arena->budget && make_room(false, bytes))
			continue;
		if (start != NULL)
			report_pool(bytes);
		if (count > emogi_extents_free())
			report_full(bytes, emogi_arena->budget - emogi_extents_free());
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("could not allocate %zu contiguous bytes in the shared memory of emogi",
						bytes),
				 errhint("Raise emogi.max_memory (%dMB now) and restart the server.",
						 emogi_max_memory_mb)));
	}
	return start;
}

/*
 * Allocate zeroed bytes for an owner: contiguous whole extents, aligned to an extent, not yet
 * populated. Evicts unpinned cached graphs if necessary; raises 53200 if that is not enough.
 */
void *
emogi_arena_alloc(EmogiOwner owner, Size bytes)
{
	return allocate(owner, bytes, false);
}

/*
 * Allocate like emogi_arena_alloc, for callers that write before they read: the content is
 * undefined, and warm extents are populated.
 */
void *
emogi_arena_alloc_any(EmogiOwner owner, Size bytes)
{
	return allocate(owner, bytes, true);
}

/*
 * Allocate like emogi_arena_alloc_any, but return NULL instead of making room. Raises nothing
 * except a cancel.
 */
void *
emogi_arena_try_alloc(EmogiOwner owner, Size bytes)
{
	const uint64 count = Max(emogi_extents_for(bytes), 1);
	EmogiLimit	limit;
	void	   *start = emogi_extents_take(owner, count, true, &limit);

	if (start != NULL)
		return start;
	start = emogi_extents_take(owner, count, false, &limit);
	return start != NULL && emogi_extents_fill(owner, start, count) ? start : NULL;
}

/*
 * Transfer an allocation of emogi_arena_alloc, of the same size, to another owner. Return the bytes
 * that it occupies.
 */
uint64
emogi_arena_transfer(void *start, Size bytes, EmogiOwner owner)
{
	uint64		first = emogi_extents_of(start);
	uint64		count = Max(emogi_extents_for(bytes), 1);

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	emogi_extents_count_out(emogi_arena->owner[first], count);
	for (uint64 i = first; i < first + count; i++)
		emogi_arena->owner[i] = owner;
	emogi_extents_count_in(owner, first, count);
	LWLockRelease(emogi_shared->lock);
	return count * EMOGI_EXTENT_BYTES;
}

/* Transfer all extents of one owner to another. */
void
emogi_arena_transfer_all(EmogiOwner from, EmogiOwner to)
{
	uint64		first = 0;
	uint64		end = emogi_arena->nextents;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	if (emogi_extents_find_span(from, &first, &end))
		for (uint64 i = first; i < end; i++)
			if (emogi_arena->owner[i] == from)
			{
				emogi_arena->owner[i] = to;
				emogi_extents_count_out(from, 1);
				emogi_extents_count_in(to, i, 1);
			}
	LWLockRelease(emogi_shared->lock);
}

/* Free an allocation of emogi_arena_alloc, of the same size. */
void
emogi_arena_free(void *start, Size bytes)
{
	uint64		first = emogi_extents_of(start);
	uint64		count = Max(emogi_extents_for(bytes), 1);
	bool		warm;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	emogi_extents_count_out(emogi_arena->owner[first], count);
	warm = emogi_extents_keep_warm(first, count);
	for (uint64 i = first; i < first + count && !warm; i++)
		emogi_arena->owner[i] = EMOGI_OWNER_LEAVING;
	LWLockRelease(emogi_shared->lock);
	if (!warm)
		emogi_extents_release(first, count);
}

/*
 * Find the owner's next run of extents at or after *first, and keep it warm or mark it LEAVING;
 * return false if there is none.
 */
static bool
hide_next_run(EmogiOwner owner, uint64 *first, uint64 *count, bool *warm)
{
	uint64		end = emogi_arena->nextents;
	uint64		i;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	if (!emogi_extents_find_span(owner, first, &end))
		*first = end;
	i = *first;
	while (i < end && emogi_arena->owner[i] != owner)
		i++;
	*first = i;
	while (i < end && emogi_arena->owner[i] == owner)
		i++;
	*count = i - *first;
	emogi_extents_count_out(owner, *count);
	*warm = emogi_extents_keep_warm(*first, *count);
	for (i = *first; i < *first + *count && !*warm; i++)
		emogi_arena->owner[i] = EMOGI_OWNER_LEAVING;
	LWLockRelease(emogi_shared->lock);
	return *count > 0;
}

/* Free all extents of an owner. Raises nothing, so it can run during a transaction's abort. */
void
emogi_arena_free_owner(EmogiOwner owner)
{
	uint64		first = 0;
	uint64		count;
	bool		warm;

	while (hide_next_run(owner, &first, &count, &warm))
	{
		if (!warm)
			emogi_extents_release(first, count);
		first += count;
	}
}

/* ---- edges ---- */

/* Count the extents of an owner. */
static uint64
count_extents(EmogiOwner owner)
{
	uint64		first = 0;
	uint64		end = emogi_arena->nextents;
	uint64		n = 0;

	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	if (emogi_extents_find_span(owner, &first, &end))
		for (uint64 i = first; i < end; i++)
			n += emogi_arena->owner[i] == owner;
	LWLockRelease(emogi_shared->lock);
	return n;
}

/*
 * Get an owner's extents as edge chunks, and their totals. The array of chunks comes from
 * `allocate`: palloc in a backend, malloc in the worker. Return false if that returns NULL. The
 * scan that fills the chunks must have finished.
 */
bool
emogi_arena_edges(EmogiOwner owner, EmogiEdges *edges, void *(*allocate) (Size))
{
	uint64		n = count_extents(owner);
	EmogiEdgeChunk **chunks = allocate(Max(n, 1) * sizeof(EmogiEdgeChunk *));

	memset(edges, 0, sizeof *edges);
	edges->chunks = chunks;
	edges->min_key = PG_INT64_MAX;
	edges->max_key = PG_INT64_MIN;
	if (chunks == NULL)
		return false;
	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	for (uint64 i = 0; i < emogi_arena->nextents && edges->nchunks < n; i++)
		if (emogi_arena->owner[i] == owner)
			chunks[edges->nchunks++] =
				(EmogiEdgeChunk *) (emogi_arena_start + i * EMOGI_EXTENT_BYTES);
	LWLockRelease(emogi_shared->lock);
	for (uint64 i = 0; i < edges->nchunks; i++)
	{
		if (chunks[i]->nedges == 0)
			continue;
		edges->nedges += chunks[i]->nedges;
		edges->nisolated += chunks[i]->isolated ? chunks[i]->nedges : 0;
		edges->weight_misfits |= chunks[i]->weight_misfits;
		edges->min_key = Min(edges->min_key, chunks[i]->min_key);
		edges->max_key = Max(edges->max_key, chunks[i]->max_key);
	}
	return true;
}
