/*
 * key_map.c: sets of integer keys, and where a key is among ascending ones.
 *
 * A binary search costs as many looks into memory as there are halves. Where keys lie close
 * together two are enough, into 12 bytes for 64 keys: a bit for each that there may be, and for
 * every 64 how many come before. Where they do not, their leading bits say where to search: of keys
 * that are spread evenly there are few.
 */
#include "postgres.h"

#include "scan_node/key_map.h"

/*
 * Make an empty set for keys from `first` to `last`, in the current memory context; NULL when it
 * would take more bytes.
 */
EmogiKeySet *
emogi_key_set_make(int64 first, int64 last, Size most_bytes)
{
	const uint64 range = (uint64) last - (uint64) first;
	EmogiKeySet *set;

	if (range / 64 + 1 > most_bytes / sizeof *set->bits)
		return NULL;
	set = palloc(sizeof *set);
	*set = (EmogiKeySet) {first, range};
	set->bits = palloc_extended((range / 64 + 1) * sizeof *set->bits,
								MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	return set;
}

/* Have a map know how many keys come before. */
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
 * Have a map know where keys of the same leading bits begin: no more places than keys, nor than
 * there may be.
 */
static void
find_places(EmogiKeyMap *map, uint64 nkeys, uint64 most_places)
{
	const uint64 most = Max(Min(nkeys, most_places), 3);
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
 * Make the map of keys, [nkeys] ascending and at least one, in the current memory context. It takes
 * so many bytes at most, or very few.
 */
EmogiKeyMap *
emogi_key_map_make(const int64 *keys, uint64 nkeys, Size most_bytes)
{
	const Size	share = sizeof(uint64) + sizeof(uint32);
	EmogiKeyMap *map = palloc0(sizeof *map);

	map->keys = keys;
	map->range = (uint64) keys[nkeys - 1] - (uint64) keys[0];
	map->set = emogi_key_set_make(keys[0], keys[nkeys - 1], most_bytes / share * sizeof(uint64));
	if (map->set == NULL)
	{
		find_places(map, nkeys, most_bytes / sizeof *map->places);
		return map;
	}
	for (uint64 i = 0; i < nkeys; i++)
		emogi_key_set_add(map->set, keys[i]);
	count_before(map);
	return map;
}

/* Search for a key from its place on; get its number. */
bool
emogi_key_map_search(const EmogiKeyMap *map, int64 key, uint64 *number)
{
	const uint64 at = (uint64) key - (uint64) map->keys[0];
	uint64		low;
	uint64		end;
	uint64		high;

	if (at > map->range)
		return false;
	low = map->places[at >> map->shift];
	high = end = map->places[(at >> map->shift) + 1];
	while (low < high)
	{
		const uint64 middle = low + (high - low) / 2;

		if (map->keys[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	*number = low;
	return low < end && map->keys[low] == key;
}
