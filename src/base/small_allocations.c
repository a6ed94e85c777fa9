/*
 * small_allocations.c: small allocations of the arena, for cached graphs and their entries, which
 * share extents
 *
 * Such an extent is split into units of one page, with one bit each, and freed when its last unit
 * is free. No two allocations share a page, because a GPU registers a graph's memory by the page.
 * The users of small allocations account for their memory; the extent itself has no owner.
 */
#include "postgres.h"

#include "base/extents.h"

/* Get the number of units needed for this many bytes. */
static uint64
units_for(Size bytes)
{
	return Max((bytes + emogi_arena->unit_bytes - 1) / emogi_arena->unit_bytes, 1);
}

/* Mark units [first, first + count) of an extent as allocated or free. Caller holds lock. */
static void
mark_units(EmogiExtents *units, uint64 first, uint64 count, bool taken)
{
	uint64		change = taken ? count : -count;

	for (uint64 i = first; i < first + count; i++)
		if (taken)
			units->taken[i / 64] |= UINT64CONST(1) << i % 64;
		else
			units->taken[i / 64] &= ~(UINT64CONST(1) << i % 64);
	units->ntaken += change;
	emogi_arena->ntaken += change;
}

/* Find `count` contiguous free units; -1 if there are none. Caller holds lock. */
static int
find_units(const EmogiExtents *units, uint64 count)
{
	uint64		nunits = EMOGI_EXTENT_BYTES / emogi_arena->unit_bytes;
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

/*
 * Allocate `count` contiguous units of an extent that is split already; NULL if there are none.
 * Caller holds lock.
 */
static void *
allocate_units(uint64 count)
{
	uint64		nseen = 0;

	for (uint64 n = 0; n < emogi_arena->nextents && nseen < emogi_arena->nsmall; n++)
	{
		uint64		i = (emogi_arena->small_hint + n) % emogi_arena->nextents;
		int			first;

		if (emogi_arena->owner[i] != EMOGI_OWNER_SMALL)
			continue;
		nseen++;
		first = find_units(&emogi_extent_units[i], count);
		if (first < 0)
			continue;
		mark_units(&emogi_extent_units[i], first, count, true);
		emogi_arena->small_hint = i;
		return emogi_arena_start + i * EMOGI_EXTENT_BYTES + first * emogi_arena->unit_bytes;
	}
	return NULL;
}

/*
 * Split an extent, with undefined content, and allocate its first `count` units. Caller holds lock.
 */
static void
split_extent(uint64 extent, uint64 count)
{
	memset(&emogi_extent_units[extent], 0, sizeof(EmogiExtents));
	mark_units(&emogi_extent_units[extent], 0, count, true);
	emogi_arena->owner[extent] = EMOGI_OWNER_SMALL;
	emogi_arena->nsmall++;
	emogi_arena->small_hint = extent;
}

/* Get the bytes that a small allocation occupies. */
uint64
emogi_small_allocations_bytes(Size bytes)
{
	return units_for(bytes) * emogi_arena->unit_bytes;
}

/*
 * Make a small allocation with undefined content; NULL if the budget does not allow it without
 * eviction. For use under cache_lock: evicts nothing, raises nothing.
 */
void *
emogi_small_allocations_alloc(Size bytes)
{
	EmogiLimit	limit;
	void	   *start;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	start = allocate_units(units_for(bytes));
	LWLockRelease(emogi_shared->lock);
	if (start != NULL)
		return start;
	/* without owner until it is split */
	start = emogi_extents_take(EMOGI_OWNER_LEAVING, 1, true, &limit);
	if (start == NULL)
	{
		start = emogi_extents_take(EMOGI_OWNER_LEAVING, 1, false, &limit);
		if (start == NULL || !emogi_extents_fill(EMOGI_OWNER_LEAVING, start, 1))
			return NULL;
	}
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	split_extent(emogi_extents_of(start), units_for(bytes));
	LWLockRelease(emogi_shared->lock);
	return start;
}

/*
 * Free memory of emogi_small_allocations_alloc or emogi_small_allocations_pack, of the same size.
 * Raises nothing.
 */
void
emogi_small_allocations_free(void *start, Size bytes)
{
	uint64		extent = emogi_extents_of(start);
	uint64		offset = (uint64) ((char *) start - emogi_arena_start) % EMOGI_EXTENT_BYTES;
	EmogiExtents *units = &emogi_extent_units[extent];
	bool		warm = true;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	mark_units(units, offset / emogi_arena->unit_bytes, units_for(bytes), false);
	if (units->ntaken == 0)
	{
		emogi_arena->nsmall--;
		warm = emogi_extents_keep_warm(extent, 1);
		if (!warm)
			emogi_arena->owner[extent] = EMOGI_OWNER_LEAVING;
	}
	LWLockRelease(emogi_shared->lock);
	if (!warm)
		emogi_extents_release(extent, 1);
}

/*
 * Turn an extent of emogi_arena_alloc that holds `bytes` of content into a small allocation. If
 * another split extent has room, the content is moved there and its own extent is freed; otherwise
 * its own extent is split, so this needs no memory and cannot fail. is_read: others still read the
 * content, so if it is moved, its own extent is left to the caller to free. Return the new address.
 */
void *
emogi_small_allocations_pack(void *start, Size bytes, bool is_read)
{
	uint64		count = units_for(bytes);
	void	   *place;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	place = allocate_units(count);
	if (place == NULL)
	{
		emogi_extents_count_out(emogi_arena->owner[emogi_extents_of(start)], 1);
		split_extent(emogi_extents_of(start), count);
	}
	LWLockRelease(emogi_shared->lock);
	if (place == NULL)
		return start;
	memcpy(place, start, bytes);
	if (!is_read)
		emogi_arena_free(start, bytes);
	return place;
}
