/*
 * index_search_keys.h: the keys visited by an index search; see index_search_keys.c
 */
#ifndef EMOGI_INDEX_SEARCH_KEYS_H
#define EMOGI_INDEX_SEARCH_KEYS_H

#include "keys/keys.h"

typedef struct EmogiSearchKeys
{
	EmogiKeyCoder *coder;		/* the caller's */
	bool		are_integers;	/* keys are their own numbers; the other fields are not used then */
	MemoryContext context;
	MemoryContext scrap;		/* for one key at a time */
	struct numbers_hash *numbers;
	EmogiKeyBytes *bytes;		/* [count], room for [room]: the keys, by number */
	uint64		count;
	uint64		room;
} EmogiSearchKeys;

extern void emogi_index_search_keys_init(EmogiSearchKeys *keys, EmogiKeyCoder *coder);
extern int64 emogi_index_search_keys_id(EmogiSearchKeys *keys, Datum datum, Oid type);
extern bool emogi_index_search_keys_datum(EmogiSearchKeys *keys, int64 id, Oid type, Datum *datum);
extern EmogiKeyBytes emogi_index_search_keys_copy(const EmogiSearchKeys *keys, int64 id);
extern int	emogi_index_search_keys_compare(int64 a, int64 b, void *keys);

#endif							/* EMOGI_INDEX_SEARCH_KEYS_H */
