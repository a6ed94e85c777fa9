/*
 * key_map.c: sets of integer keys, and look-up of keys in sorted arrays
 *
 * A binary search costs one memory access per halving. If keys are dense, two accesses suffice, to
 * 12 bytes per 64 keys: one bit for each possible key, and for every 64 the number of keys before.
 * If keys are sparse, their leading bits determine the interval to search, which is short if keys
 * are evenly distributed.
 */
#include "postgres.h"

#include "contract/partition_point.h"
#include "scan_node/key_map.h"

/*
 * Make an empty set for keys from `first` to `last`, in the current memory context; NULL if it
 * would take more than this many bytes.
 */
EmogiKeySet *
emogi_key_set_make(int64 first, int64 last, Size max_bytes)
{
	const uint64 range = (uint64) last - (uint64) first;
	EmogiKeySet *set;

	if (range / 64 + 1 > max_bytes / sizeof *set->bits)
		return NULL;
	set = palloc(sizeof *set);
	*set = (EmogiKeySet) {first, range};
	set->bits = palloc_extended((range / 64 + 1) * sizeof *set->bits,
								MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	return set;
}

/* Compute the number of keys before each word of a map. */
static void
count_before(EmogiKeyMap *map)
{
	const uint64 nwords = map->set->range / 64 + 1;
	uint32		before = 0;

	map->before = palloc_extended(nwords * sizeof *map->before, MCXT_ALLOC_HUGE);
	for (uint64 w = 0; w < nwords; w++)
	{
		map->before[w] = before;
		before += (uint32) __builtin_popcountll(map->set->bits[w]);
	}
}

/*
 * Compute the start of the keys with the same leading bits: no more intervals than keys, nor than
 * max_intervals.
 */
static void
find_intervals(EmogiKeyMap *map, uint64 nkeys, uint64 max_intervals)
{
	const uint64 most = Max(Min(nkeys, max_intervals), 3);
	uint64		nplaces;
	uint64		place = 0;

	while (map->range >> map->shift > most - 2)
		map->shift++;
	nplaces = (map->range >> map->shift) + 2;
	map->places = palloc_extended(nplaces * sizeof *map->places, MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i < nkeys; i++)
	{
		const uint64 at = ((uint64) map->keys[i] - (uint64) map->keys[0]) >> map->shift;

		while (place <= at)
			map->places[place++] = (uint32) i;
	}
	while (place < nplaces)
		map->places[place++] = (uint32) nkeys;
}

/*
 * Make the map of keys, [nkeys] ascending and at least one, in the current memory context, with at
 * most max_bytes (or a few bytes if that is less).
 */
EmogiKeyMap *
emogi_key_map_make(const int64 *keys, uint64 nkeys, Size max_bytes)
{
	const Size	share = sizeof(uint64) + sizeof(uint32);
	EmogiKeyMap *map = palloc0(sizeof *map);

	map->keys = keys;
	map->range = (uint64) keys[nkeys - 1] - (uint64) keys[0];
	map->set = emogi_key_set_make(keys[0], keys[nkeys - 1], max_bytes / share * sizeof(uint64));
	if (map->set == NULL)
	{
		find_intervals(map, nkeys, max_bytes / sizeof *map->places);
		return map;
	}
	for (uint64 i = 0; i < nkeys; i++)
		emogi_key_set_add(map->set, keys[i]);
	count_before(map);
	return map;
}

/* Search for a key in its interval; get its index. */
bool
emogi_key_map_search(const EmogiKeyMap *map, int64 key, uint64 *number)
{
	const uint64 at = (uint64) key - (uint64) map->keys[0];
	uint64		end;

	if (at > map->range)
		return false;
	end = map->places[(at >> map->shift) + 1];
	*number = EMOGI_PARTITION_POINT(map->places[at >> map->shift], end, middle,
									map->keys[middle] < key);
	return *number < end && map->keys[*number] == key;
}
