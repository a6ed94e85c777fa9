/*
 * key_table.h: distinct keys of one build, collected while its rows are read.
 *
 * A key is a string of bytes. Each distinct string gets a temporary number in 0 .. ntemporaries -
 * 1, in any order and with gaps. Any number of processes fill a table at the same time; it is in
 * shared memory that is mapped at the same address in all of them. Finding an existing key takes no
 * lock. Temporary numbers depend on timing; the result of dictionary.h does not. There is room for
 * 10 G keys, so temporary numbers are the limit. The memory of the keys must be within 2 TiB of the
 * table.
 */
#ifndef EMOGI_KEY_TABLE_H
#define EMOGI_KEY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The maximum length of a key. */
#define EMOGI_MAX_KEY_BYTES ((uint32_t) 1 << 20)

/* Keys that are looked up at once, so that their cache misses overlap. */
#define EMOGI_KEYS_IN_FLIGHT 64

typedef struct EmogiKeyBytes
{
	const char *bytes;			/* [length]; may be NULL if length = 0 */
	uint32_t	length;			/* <= EMOGI_MAX_KEY_BYTES */
} EmogiKeyBytes;

typedef struct EmogiKeyTable EmogiKeyTable;

/*
 * Allocate memory that lives as long as the table, uninitialized and 64-byte aligned: a piece of at
 * most EMOGI_KEY_PIECE_BYTES. It may raise an error, so it is called only while the table is
 * consistent and nothing is locked.
 */
typedef void *(*EmogiKeyAlloc) (void *arg, size_t bytes);

#define EMOGI_KEY_PIECE_BYTES ((size_t) 2 << 20)

typedef enum EmogiKeyOutcome
{
	EMOGI_KEYS_PUT,
	EMOGI_KEYS_TOO_MANY,		/* more than EMOGI_MAX_VERTICES temporary numbers, or memory more
								 * than 2 TiB away from the table */
	EMOGI_KEYS_COLLISIONS			/* too many collisions: start over with the careful hash */
} EmogiKeyOutcome;

/* Lengths of slot arrays: 2^0 .. 2^18, which is EMOGI_KEY_PIECE_BYTES. */
#define EMOGI_KEY_SLOT_SIZES 19

/* State of a process that inserts keys; zero-initialize all but the first three fields. */
typedef struct EmogiKeyFiller
{
	EmogiKeyTable *table;
	EmogiKeyAlloc alloc;
	void	   *arg;
	char	   *arena;			/* rest of the piece to which records are written */
	size_t		arena_bytes;
	uint32_t	next_number;	/* temporary numbers reserved by this process */
	uint32_t	end_number;
	uint64_t   *spare_slots[EMOGI_KEY_SLOT_SIZES];	/* cleared arrays for later use, by log2 of
													 * length; NULL = none */
	void	   *spare_children; /* likewise */
} EmogiKeyFiller;

/*
 * Get the bytes of a table; EMOGI_LINE_BYTES-aligned. The memory of its keys comes from
 * EmogiKeyAlloc.
 */
extern size_t emogi_key_table_bytes(void);

/*
 * Initialize an empty table. words: random and secret, drawn for this table. secure_hash: hash by
 * SipHash-2-4, after the fast hash had too many collisions.
 */
extern void emogi_key_table_init(EmogiKeyTable *table, const uint64_t words[4], bool secure_hash);

/*
 * Get the temporary numbers of count <= EMOGI_KEYS_IN_FLIGHT keys, inserting those that are new:
 * numbers[count].
 */
extern EmogiKeyOutcome emogi_key_filler_put(EmogiKeyFiller *filler, const EmogiKeyBytes *keys,
											int count, uint32_t *numbers);

/*
 * After all processes have finished: get the number of distinct keys, their bytes, and the end of
 * the temporary numbers.
 */
extern uint64_t emogi_key_table_nkeys(const EmogiKeyTable *table);
extern uint64_t emogi_key_table_key_bytes(const EmogiKeyTable *table);
extern uint32_t emogi_key_table_ntemporaries(const EmogiKeyTable *table);

/*
 * Get the reason why the table cannot take more keys; EMOGI_KEYS_PUT if it can. For a process that
 * waits for those that fill the table.
 */
extern EmogiKeyOutcome emogi_key_table_outcome(const EmogiKeyTable *table);

/* A key of a finished table. */
typedef struct EmogiTemporaryKey
{
	EmogiKeyBytes key;
	uint32_t	temporary;
} EmogiTemporaryKey;

/* List all keys of a finished table in any order: keys[nkeys]. */
extern void emogi_key_table_list(const EmogiKeyTable *table, EmogiTemporaryKey *keys);

#endif							/* EMOGI_KEY_TABLE_H */
