/*
 * small.c: small blocks of the Region, of cached Graphs and their entries, which share granules.
 *
 * Such a granule is cut into units of a page, one bit each, and given back when the last unit is free. No two blocks share a
 * page, for a GPU registers a Graph's memory by the page. Who has a small block keeps account of it; the granule has no owner
 * but all of them.
 */
#include "postgres.h"

#include "server/granules.h"

/* Get the number of units that hold this many bytes. */
static uint64
units_for(Size bytes)
{
	return Max((bytes + emogi_region->unit_bytes - 1) / emogi_region->unit_bytes, 1);
}

/* Mark units [first, first + count) of a granule as taken, or as free. Caller holds lock. */
static void
mark_units(EmogiUnits *units, uint64 first, uint64 count, bool taken)
{
	uint64		change = taken ? count : -count;

	for (uint64 i = first; i < first + count; i++)
		if (taken)
			units->taken[i / 64] |= UINT64CONST(1) << i % 64;
		else
			units->taken[i / 64] &= ~(UINT64CONST(1) << i % 64);
	units->ntaken += change;
	emogi_region->ntaken += change;
}

/* Find `count` free units in a row; get -1 when there are none. Caller holds lock. */
static int
find_units(const EmogiUnits *units, uint64 count)
{
	uint64		nunits = EMOGI_GRANULE_BYTES / emogi_region->unit_bytes;
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

	for (uint64 n = 0; n < emogi_region->ngranules && nseen < emogi_region->nsmall; n++)
	{
		uint64		i = (emogi_region->small_hint + n) % emogi_region->ngranules;
		int			first;

		if (emogi_region->owner[i] != EMOGI_OWNER_SMALL)
			continue;
		nseen++;
		first = find_units(&emogi_region_units[i], count);
		if (first < 0)
			continue;
		mark_units(&emogi_region_units[i], first, count, true);
		emogi_region->small_hint = i;
		return emogi_region_start + i * EMOGI_GRANULE_BYTES + first * emogi_region->unit_bytes;
	}
	return NULL;
}

/* Cut a granule, whose content is anything, and take its first `count` units. Caller holds lock. */
static void
cut_granule(uint64 granule, uint64 count)
{
	memset(&emogi_region_units[granule], 0, sizeof(EmogiUnits));
	mark_units(&emogi_region_units[granule], 0, count, true);
	emogi_region->owner[granule] = EMOGI_OWNER_SMALL;
	emogi_region->nsmall++;
	emogi_region->small_hint = granule;
}

/* Get the bytes that a small block takes. */
uint64
emogi_small_bytes(Size bytes)
{
	return units_for(bytes) * emogi_region->unit_bytes;
}

/*
 * Allocate a small block, with any content; NULL when the budget does not allow it as it is. For use under cache_lock:
 * evicts nothing, raises nothing.
 */
void *
emogi_small_alloc(Size bytes)
{
	EmogiLimit	limit;
	void	   *start;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	start = take_units(units_for(bytes));
	LWLockRelease(emogi_shared->lock);
	if (start != NULL)
		return start;
	start = emogi_granules_take(EMOGI_OWNER_LEAVING, 1, true, &limit);	/* nobody's, until it is cut */
	if (start == NULL)
	{
		start = emogi_granules_take(EMOGI_OWNER_LEAVING, 1, false, &limit);
		if (start == NULL || !emogi_granules_fill(EMOGI_OWNER_LEAVING, start, 1))
			return NULL;
	}
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	cut_granule(emogi_granules_of(start), units_for(bytes));
	LWLockRelease(emogi_shared->lock);
	return start;
}

/* Free what emogi_small_alloc or emogi_small_pack gave, the same bytes. Raises nothing. */
void
emogi_small_free(void *start, Size bytes)
{
	uint64		granule = emogi_granules_of(start);
	uint64		offset = (uint64) ((char *) start - emogi_region_start) % EMOGI_GRANULE_BYTES;
	EmogiUnits *units = &emogi_region_units[granule];
	bool		warm = true;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	mark_units(units, offset / emogi_region->unit_bytes, units_for(bytes), false);
	if (units->ntaken == 0)
	{
		emogi_region->nsmall--;
		warm = emogi_granules_keep_warm(granule, 1);
		if (!warm)
			emogi_region->owner[granule] = EMOGI_OWNER_LEAVING;
	}
	LWLockRelease(emogi_shared->lock);
	if (!warm)
		emogi_granules_release(granule, 1);
}

/*
 * Make a small block of what emogi_region_alloc gave, which holds `bytes` of content. Where no granule has room for it, its
 * own is cut, so this takes no memory and cannot fail; else it moves there, and its granule is freed. Gets where it is then.
 */
void *
emogi_small_pack(void *start, Size bytes)
{
	uint64		count = units_for(bytes);
	void	   *place;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	place = take_units(count);
	if (place == NULL)
	{
		emogi_granules_count_out(emogi_region->owner[emogi_granules_of(start)], 1);
		cut_granule(emogi_granules_of(start), count);
	}
	LWLockRelease(emogi_shared->lock);
	if (place == NULL)
		return start;
	memcpy(place, start, bytes);
	emogi_region_free(start, bytes);
	return place;
}
