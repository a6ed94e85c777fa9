/*
 * walk_keys.h: the keys that a walk meets, for search.c; see keys.c.
 */
#ifndef EMOGI_WALK_KEYS_H
#define EMOGI_WALK_KEYS_H

#include "keys/keys.h"

typedef struct EmogiWalkKeys
{
	EmogiKeyCoder *coder;		/* the caller's */
	bool		are_integers;	/* and known by their values; the rest is not used then */
	MemoryContext context;
	MemoryContext scrap;		/* for a key at a time */
	struct numbers_hash *numbers;
	EmogiKeyBytes *bytes;		/* [count], room for [room]: the keys, in the order in which they were met */
	uint64		count;
	uint64		room;
} EmogiWalkKeys;

extern void emogi_walk_keys_init(EmogiWalkKeys *keys, EmogiKeyCoder *coder);
extern int64 emogi_walk_keys_id(EmogiWalkKeys *keys, Datum datum, Oid type);
extern bool emogi_walk_keys_datum(EmogiWalkKeys *keys, int64 id, Oid type, Datum *datum);
extern int	emogi_walk_keys_compare(int64 a, int64 b, void *keys);

#endif							/* EMOGI_WALK_KEYS_H */
