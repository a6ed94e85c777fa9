/*
 * dictionary.h: keys of a graph whose vertices are not integers, and their codes.
 *
 * A graph and all code that builds, updates and reads it identify a vertex by an int64 in ids[]. If
 * the user's keys are not integers, this int64 is a code, and a dictionary maps each code to its
 * key. Codes ascend as keys do, so vertices keep the order of their keys. A key keeps its code for
 * the lifetime of the dictionary. Codes are assigned with gaps of 2^shift: the i-th key of a build
 * gets (i + 1) << shift. Keys that are added later get codes between those of their neighbors, and
 * nothing derived from existing codes changes. If a gap or the room for added keys is exhausted,
 * the graph is rebuilt.
 *
 * A key also keeps its number: 0 .. nkeys - 1 in order for those of the build, then in the order of
 * addition. Where there is one for each end of an edge (coo.h), numbers save memory, because codes
 * have up to 63 bits.
 *
 * A dictionary is one block of the arena. Any number of processes read it without a lock while one
 * at a time adds keys.
 */
#ifndef EMOGI_DICTIONARY_H
#define EMOGI_DICTIONARY_H

#include "contract/csr.h"
#include "contract/key_table.h"

#define EMOGI_NO_CODE INT64_MIN

typedef struct EmogiDictionary EmogiDictionary;

/*
 * An order of keys that only the server can compare. Equal keys of different bytes are one vertex,
 * whose key is the first of them; the others are not found by their bytes. Without an order, keys
 * are ordered by memcmp, a prefix before its extensions.
 */
typedef struct EmogiKeyOrder
{
	uint64_t	nkeys;			/* keys in the table */
	const EmogiTemporaryKey *keys;	/* [nkeys], ascending; equal keys are adjacent, and the first of
									 * them represents the vertex */
	const uint8_t *is_equal;	/* [nkeys], 1 = equal to the previous key; NULL = no keys are
								 * equal */
} EmogiKeyOrder;

typedef struct EmogiDictionaryInput
{
	const EmogiKeyTable *table;	/* finished, at least one key */
	const EmogiKeyOrder *order; /* NULL = by bytes */
	uint32_t	fixed_length;	/* length of all keys in bytes; 0 = lengths differ */
	uint64_t	room_keys;		/* expected number of keys to be added; 0 = unknown */
	void	   *memory;			/* emogi_dictionary_bytes, page-aligned, uninitialized, not
								 * populated */
	void	   *scratch;		/* emogi_dictionary_scratch_bytes, EMOGI_LINE_BYTES-aligned,
								 * likewise */
	const EmogiEdges *edges;	/* endpoints are temporary numbers; replaced by codes in place, with
								 * min_key and max_key of all chunks */
} EmogiDictionaryInput;

extern size_t emogi_dictionary_bytes(const EmogiKeyTable *table, uint32_t fixed_length,
									 uint64_t room_keys);
extern size_t emogi_dictionary_scratch_bytes(const EmogiKeyTable *table, bool ordered,
											 int nthreads);

/* Get the number of keys of the build; their codes are (1 .. nkeys) << shift. */
extern uint64_t emogi_dictionary_nkeys(const EmogiDictionary *dictionary);
extern int	emogi_dictionary_shift(const EmogiDictionary *dictionary);

/* Get the shift of a dictionary that will be built of so many keys. */
extern int	emogi_dictionary_plan_shift(uint64_t nkeys);

/* Get the maximum number of keys that can be added to it; wanted: see EmogiDictionaryInput. */
extern uint64_t emogi_dictionary_plan_room(uint64_t nkeys, uint64_t wanted);

/*
 * Make a dictionary without keys, with the hash of an empty table, in emogi_dictionary_bytes of
 * memory.
 */
extern EmogiDictionary *emogi_dictionary_make_empty(const EmogiKeyTable *table,
													uint32_t fixed_length, uint64_t room_keys,
													void *memory);

/*
 * Get the key of a code; bytes = NULL if the dictionary has not assigned the code. The bytes stay
 * valid for the lifetime of the dictionary.
 */
extern EmogiKeyBytes emogi_dictionary_key(const EmogiDictionary *dictionary, int64_t code);

/*
 * Prefetch what emogi_dictionary_key reads for a code: first the place of the key, then, once that
 * has arrived, its bytes.
 */
extern void emogi_dictionary_prefetch_place(const EmogiDictionary *dictionary, int64_t code);
extern void emogi_dictionary_prefetch_bytes(const EmogiDictionary *dictionary, int64_t code);

/* Get the number of the key of an assigned code, and its code again. */
extern uint64_t emogi_dictionary_number(const EmogiDictionary *dictionary, int64_t code);
extern int64_t emogi_dictionary_code(const EmogiDictionary *dictionary, uint64_t number);

/* Get the code of the key with exactly these bytes; EMOGI_NO_CODE if there is none. */
extern int64_t emogi_dictionary_find(const EmogiDictionary *dictionary, EmogiKeyBytes key);

/* Likewise for count <= EMOGI_KEYS_IN_FLIGHT keys at once. */
extern void emogi_dictionary_find_many(const EmogiDictionary *dictionary, const EmogiKeyBytes *keys,
									   int count, int64_t *codes);

/* Prefetch what emogi_dictionary_find reads first. */
extern void emogi_dictionary_prefetch_find(const EmogiDictionary *dictionary, EmogiKeyBytes key);

/*
 * Compare two keys: < 0, 0, > 0. May raise an error, so the dictionary is consistent at each call.
 */
typedef int (*EmogiKeyCompare) (void *arg, EmogiKeyBytes a, EmogiKeyBytes b);

/* Compare as memcmp does, a prefix before its extensions; arg is unused. */
extern int	emogi_key_compare_bytes(void *arg, EmogiKeyBytes a, EmogiKeyBytes b);

/* Get the code of a key that compares equal; EMOGI_NO_CODE if there is none. */
extern int64_t emogi_dictionary_search(const EmogiDictionary *dictionary, EmogiKeyBytes key,
									   EmogiKeyCompare compare, void *arg);

/*
 * Get the bytes of the room for added keys, which the caller provides before the first addition;
 * 0 = already provided.
 */
extern size_t emogi_dictionary_room_bytes(const EmogiDictionary *dictionary);
/* room is populated and page-aligned */
extern void emogi_dictionary_set_room(EmogiDictionary *dictionary, void *room, size_t bytes);
extern void *emogi_dictionary_room(const EmogiDictionary *dictionary);	/* NULL = not provided
																		 * yet */

/*
 * Add a key that emogi_dictionary_find does not find: assign it a code between those of its
 * neighbors in the order of the comparison, which must never return 0 for different bytes.
 * EMOGI_NO_CODE: no room or no code is left. One process adds keys at a time; others may read. Keys
 * that come in ascending or descending order divide a gap unevenly, so that more of them fit. Codes
 * are in -2^61 .. 2^62.
 */
extern int64_t emogi_dictionary_add(EmogiDictionary *dictionary, EmogiKeyBytes key,
									EmogiKeyCompare compare, void *arg);

/* Check whether the room for added keys has been provided, and holds one more. */
extern bool emogi_dictionary_has_room(const EmogiDictionary *dictionary, EmogiKeyBytes key);

/* Get the number of added keys. */
extern uint64_t emogi_dictionary_nadded(const EmogiDictionary *dictionary);

#endif							/* EMOGI_DICTIONARY_H */
