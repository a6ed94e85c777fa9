/*
 * dictionary.h: the keys of a Graph whose vertices are not integers, and their codes.
 *
 * A Graph, and all that makes, follows and reads it, knows a vertex by an int64, in ids[]. Where the user's keys are no integers,
 * this int64 is a code, and a dictionary has the key of each code. Codes ascend as keys do, so vertices keep the order of their
 * keys. A key keeps its code for as long as there is the dictionary. Codes are handed out with gaps, shift bits wide: the i-th
 * key of a build has (i + 1) << shift. So keys that come later get codes between those of their neighbours, and nothing that was made
 * of old codes changes. When a gap, or the room for later keys, is used up, the Graph is built anew.
 *
 * One block of the Region, read by any number of processes without a lock, while one at a time adds keys.
 */
#ifndef EMOGI_DICTIONARY_H
#define EMOGI_DICTIONARY_H

#include "dictionary/key_table.h"
#include "graph/csr.h"

#define EMOGI_NO_CODE INT64_MIN

typedef struct EmogiDictionary EmogiDictionary;

/*
 * The order of keys that only the server can compare. Equal keys of different bytes are one vertex, whose key is the first of them; the
 * others are not found by their bytes. Where there is no order, keys are ordered as memcmp does, a key before those that it begins.
 */
typedef struct EmogiKeyOrder
{
	uint64_t	nkeys;			/* of the table */
	const EmogiTemporaryKey *keys;	/* [nkeys], ascending; equal ones side by side, first the one that is to be given back */
	const uint8_t *is_equal;	/* [nkeys], 1 = this key is equal to the one before it; NULL = none is */
} EmogiKeyOrder;

typedef struct EmogiDictionaryInput
{
	const EmogiKeyTable *table;	/* finished, at least one key */
	const EmogiKeyOrder *order; /* NULL = by bytes */
	uint32_t	fixed_length;	/* all keys have so many bytes; 0 = they have not */
	void	   *memory;			/* emogi_dictionary_bytes, page-aligned, any content, not populated */
	void	   *scratch;		/* emogi_dictionary_scratch_bytes, EMOGI_LINE_BYTES-aligned, likewise */
	const EmogiEdges *edges;	/* their ends are temporary numbers, and become codes in place, with min_key and max_key of all chunks */
} EmogiDictionaryInput;

extern size_t emogi_dictionary_bytes(const EmogiKeyTable *table, uint32_t fixed_length);
extern size_t emogi_dictionary_scratch_bytes(const EmogiKeyTable *table, bool ordered, int nthreads);

/*
 * Make a dictionary of all keys of a table and turn the ends of edges into codes. On all threads of the pool; polls control->cancel. The
 * dictionary depends on the set of keys alone. The caller reads edges' min_key and max_key again from the chunks.
 */
extern EmogiStatus emogi_dictionary_build(EmogiPool *pool, const EmogiDictionaryInput *input, EmogiDictionary **dictionary,
										  EmogiControl *control, EmogiError *error);

/* Keys that a build gave it; their codes are (1 .. nkeys) << shift. */
extern uint64_t emogi_dictionary_nkeys(const EmogiDictionary *dictionary);
extern int	emogi_dictionary_shift(const EmogiDictionary *dictionary);

/* Get the key of a code that the dictionary has given; bytes = NULL for others. The bytes stay where they are as long as the dictionary. */
extern EmogiKeyBytes emogi_dictionary_key(const EmogiDictionary *dictionary, int64_t code);

/* Get the code of a key with exactly these bytes, EMOGI_NO_CODE if there is none. */
extern int64_t emogi_dictionary_find(const EmogiDictionary *dictionary, EmogiKeyBytes key);

/* The same for count <= EMOGI_KEYS_IN_FLIGHT keys at once. */
extern void emogi_dictionary_find_many(const EmogiDictionary *dictionary, const EmogiKeyBytes *keys, int count, int64_t *codes);

/*
 * Compare two keys: < 0, 0, > 0. May not return (raise an error): the dictionary is in order whenever it is called.
 */
typedef int (*EmogiKeyCompare) (void *arg, EmogiKeyBytes a, EmogiKeyBytes b);

/* Compare as memcmp does, a key before those that it begins; arg is not used. */
extern int	emogi_key_compare_bytes(void *arg, EmogiKeyBytes a, EmogiKeyBytes b);

/* Get the code of a key that is equal to this one by a comparison, EMOGI_NO_CODE if there is none. */
extern int64_t emogi_dictionary_search(const EmogiDictionary *dictionary, EmogiKeyBytes key, EmogiKeyCompare compare, void *arg);

/* Bytes of the room for later keys, which the caller gives when the first one comes; 0 = it has been given. */
extern size_t emogi_dictionary_room_bytes(const EmogiDictionary *dictionary);
extern void emogi_dictionary_give_room(EmogiDictionary *dictionary, void *room, size_t bytes);	/* populated, page-aligned */
extern void *emogi_dictionary_room(const EmogiDictionary *dictionary);	/* NULL = none yet */

/*
 * Give a key that it has not (by emogi_dictionary_find) a code between those of its neighbours by the comparison, which must never give 0
 * for different bytes. EMOGI_NO_CODE: there is no room, or no code, left. One process at a time; others may read. Keys
 * that come in order, ascending or descending, fit into a gap in larger numbers than others. Codes are within -2^31 .. 2^32.
 */
extern int64_t emogi_dictionary_add(EmogiDictionary *dictionary, EmogiKeyBytes key, EmogiKeyCompare compare, void *arg);

/* Keys that have been added. */
extern uint64_t emogi_dictionary_nadded(const EmogiDictionary *dictionary);

#endif							/* EMOGI_DICTIONARY_H */
