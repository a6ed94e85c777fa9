/*
 * key_map.h: sets of integer keys, and look-up of keys in sorted arrays (key_map.c)
 */
#ifndef EMOGI_KEY_MAP_H
#define EMOGI_KEY_MAP_H

#include "postgres.h"

/* A bitmap of the keys from `first` to first + range. */
typedef struct EmogiKeySet
{
	int64		first;
	uint64		range;			/* largest possible key minus first */
	uint64	   *bits;			/* [range / 64 + 1] */
} EmogiKeySet;

/*
 * A map from keys to indexes in a sorted array: a bitmap with prefix counts if keys are dense,
 * otherwise intervals for a binary search.
 */
typedef struct EmogiKeyMap
{
	const int64 *keys;			/* [nkeys], ascending, owned by the caller */
	EmogiKeySet *set;			/* NULL = by intervals */
	uint32	   *before;			/* [set->range / 64 + 1], number of keys before each word */
	uint64		range;			/* largest key minus the smallest */
	int			shift;
	uint32	   *places;			/* [(range >> shift) + 2], index of the first key with each (key -
								 * smallest) >> shift */
} EmogiKeyMap;

extern EmogiKeySet *emogi_key_set_make(int64 first, int64 last, Size max_bytes);
extern EmogiKeyMap *emogi_key_map_make(const int64 *keys, uint64 nkeys, Size max_bytes);
extern bool emogi_key_map_search(const EmogiKeyMap *map, int64 key, uint64 *number);

/* Add a key within the range of a set. */
static inline void
emogi_key_set_add(EmogiKeySet *set, int64 key)
{
	const uint64 at = (uint64) key - (uint64) set->first;

	set->bits[at / 64] |= UINT64CONST(1) << (at % 64);
}

/* Is a key in a set? */
static inline bool
emogi_key_set_has(const EmogiKeySet *set, int64 key)
{
	const uint64 at = (uint64) key - (uint64) set->first;

	return at <= set->range && (set->bits[at / 64] >> (at % 64) & 1) != 0;
}

/* Get the index of a key in the sorted array; return false if it is not there. */
static inline bool
emogi_key_map_find(const EmogiKeyMap *map, int64 key, uint64 *number)
{
	uint64		at;

	if (map->set == NULL)
		return emogi_key_map_search(map, key, number);
	if (!emogi_key_set_has(map->set, key))
		return false;
	at = (uint64) key - (uint64) map->set->first;
	*number = map->before[at / 64] +
		(uint64) __builtin_popcountll(map->set->bits[at / 64] &
									  ((UINT64CONST(1) << (at % 64)) - 1));
	return true;
}

#endif							/* EMOGI_KEY_MAP_H */
