/*
 * key_table.h: the distinct keys of one build, found while its rows are read.
 *
 * A key is a string of bytes. Every different string gets a temporary number, 0 .. ntemporaries - 1, in any order, with holes. Any
 * number of processes fill one table at once; it lies in memory that all of them have at one address. Who finds its key takes
 * no lock. Temporary numbers depend on chance; what is made of them by dictionary.h does not. There is room for 10 G keys, so
 * temporary numbers are the limit. What keys take must lie within 2 TiB of the table.
 */
#ifndef EMOGI_KEY_TABLE_H
#define EMOGI_KEY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest key. */
#define EMOGI_MAX_KEY_BYTES ((uint32_t) 1 << 20)

/* Keys that are looked for at once, so that their cache misses overlap. */
#define EMOGI_KEYS_IN_FLIGHT 64

typedef struct EmogiKeyBytes
{
	const char *bytes;			/* [length]; may be NULL where length = 0 */
	uint32_t	length;			/* <= EMOGI_MAX_KEY_BYTES */
} EmogiKeyBytes;

typedef struct EmogiKeyTable EmogiKeyTable;

/*
 * Get memory of so many bytes for good, any content, 64-byte aligned: a piece of at most EMOGI_KEY_PIECE_BYTES. It may not return (it may raise an
 * error); so it is called only where the table is in order and nothing is locked.
 */
typedef void *(*EmogiKeyAlloc) (void *arg, size_t bytes);

#define EMOGI_KEY_PIECE_BYTES ((size_t) 2 << 20)

typedef enum EmogiKeyOutcome
{
	EMOGI_KEYS_PUT,
	EMOGI_KEYS_TOO_MANY,		/* more than EMOGI_MAX_VERTICES temporary numbers, or memory 2 TiB away from the table */
	EMOGI_KEYS_CROWDED			/* the hash puts too many keys into one place: begin again, with the careful one */
} EmogiKeyOutcome;

/* Lengths of arrays of slots: 2^0 .. 2^18, which is EMOGI_KEY_PIECE_BYTES. */
#define EMOGI_KEY_SLOT_SIZES 19

/* What a process needs to put keys; zero-initialize all but the first three. */
typedef struct EmogiKeyFiller
{
	EmogiKeyTable *table;
	EmogiKeyAlloc alloc;
	void	   *arg;
	char	   *arena;			/* the rest of the piece that records are written to */
	size_t		arena_bytes;
	uint32_t	next_number;	/* temporary numbers that it has taken */
	uint32_t	end_number;
	uint64_t   *spare_slots[EMOGI_KEY_SLOT_SIZES];	/* cleared arrays that were not needed, by log2 of length; NULL = none */
	void	   *spare_children; /* likewise */
} EmogiKeyFiller;

/* Bytes of a table; EMOGI_LINE_BYTES-aligned. What its keys take comes from EmogiKeyAlloc. */
extern size_t emogi_key_table_bytes(void);

/*
 * Make an empty table in memory of any content. words: random, secret, drawn for this table. careful: hash by SipHash-2-4, for
 * when the fast hash was crowded.
 */
extern void emogi_key_table_init(EmogiKeyTable *table, const uint64_t words[4], bool careful);

/* Get the temporary numbers of count <= EMOGI_KEYS_IN_FLIGHT keys, new ones if need be: numbers[count]. */
extern EmogiKeyOutcome emogi_key_filler_put(EmogiKeyFiller *filler, const EmogiKeyBytes *keys, int count, uint32_t *numbers);

/* After all processes have finished: distinct keys, their bytes, and the end of the temporary numbers. */
extern uint64_t emogi_key_table_nkeys(const EmogiKeyTable *table);
extern uint64_t emogi_key_table_key_bytes(const EmogiKeyTable *table);
extern uint32_t emogi_key_table_ntemporaries(const EmogiKeyTable *table);

/* Say why the table cannot take more keys, EMOGI_KEYS_PUT if it can: for who waits for the processes that fill it. */
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
