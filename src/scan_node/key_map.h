/*
 * key_map.h: sets of integer keys, and where a key is among ascending ones (key_map.c).
 */
#ifndef EMOGI_KEY_MAP_H
#define EMOGI_KEY_MAP_H

#include "postgres.h"

/* A bit for each key from the smallest that there may be to the largest. */
typedef struct EmogiKeySet
{
	int64		first;
	uint64		range;			/* from the smallest to the largest */
	uint64	   *bits;			/* [range / 64 + 1] */
} EmogiKeySet;

/*
 * Where keys lie close together: which there are, and how many come before each 64. Else where to
 * begin to search for one.
 */
typedef struct EmogiKeyMap
{
	const int64 *keys;			/* [nkeys], ascending, the caller's */
	EmogiKeySet *set;			/* NULL = by places */
	uint32	   *before;			/* [set->range / 64 + 1], keys before the word */
	uint64		range;			/* from the smallest key to the largest */
	int			shift;
	uint32	   *places;			/* [(range >> shift) + 2], index of the first key that is so far
								 * from the smallest */
} EmogiKeyMap;

extern EmogiKeySet *emogi_key_set_make(int64 first, int64 last, Size most_bytes);
extern EmogiKeyMap *emogi_key_map_make(const int64 *keys, uint64 nkeys, Size most_bytes);
extern bool emogi_key_map_search(const EmogiKeyMap *map, int64 key, uint64 *number);

/* Put a key into a set, from the smallest to the largest that there may be. */
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

/* Get the number of a key among those that are there, ascending; false when it is not there. */
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
		(uint64) __builtin_popcountll(map->set->bits[at / 64] & ((UINT64CONST(1) << (at % 64)) -
																 1));
	return true;
}

#endif							/* EMOGI_KEY_MAP_H */
