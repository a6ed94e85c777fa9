/*
 * key_table_parts.h: what a key table is made of, for the files of this room and for tests.
 *
 * A partition is an open table of slots that is never more than 3/5 full: a slot is 0, or the tag of a key and where its record lies.
 * Whoever looks takes no lock: slots and arrays are stored with release when what they lead to is written, and arrays that have
 * been outgrown stay as they were. A miss in an old array leads to the lock, under which the look is repeated.
 *
 * An array has at most 2^most_slots slots, so that it fits one piece of memory. When it is full it stays for good, and new keys go to the
 * partition's children, one of 64 by bits of the tag that the array does not use. Thus there is room for 10 G keys.
 */
#ifndef EMOGI_KEY_TABLE_PARTS_H
#define EMOGI_KEY_TABLE_PARTS_H

#include "dictionary/key_hash.h"

#define EMOGI_KEY_PARTITION_BITS 10
#define EMOGI_KEY_PARTITIONS (1 << EMOGI_KEY_PARTITION_BITS)
#define EMOGI_KEY_CHILDREN 64
#define EMOGI_KEY_FIRST_SLOTS 6		/* log2 */
#define EMOGI_KEY_MOST_SLOTS (EMOGI_KEY_SLOT_SIZES - 1) /* log2; EMOGI_KEY_PIECE_BYTES */

/* A distinct key. */
typedef struct EmogiKeyRecord
{
	uint32_t	temporary;
	uint32_t	length;
	char		bytes[];		/* [length] */
} EmogiKeyRecord;

/* All but the lock is written under the lock. */
typedef struct EmogiKeyPartition
{
	uint64_t	slots;			/* address of the array | log2 of its length, atomic; 0 = there is none yet */
	struct EmogiKeyPartition *children; /* [EMOGI_KEY_CHILDREN], atomic; NULL = none */
	uint64_t	key_bytes;
	uint32_t	nkeys;			/* in the array */
	uint32_t	lock;			/* atomic: 1 = taken */
	char		pad[32];
} EmogiKeyPartition;

struct EmogiKeyTable
{
	EmogiKeyHash hash;
	uint32_t	most_slots;		/* log2; less than EMOGI_KEY_MOST_SLOTS in tests */
	uint32_t	most_steps;		/* of a walk by the fast hash */
	uint32_t	outcome;		/* atomic: the first EmogiKeyOutcome that is not EMOGI_KEYS_PUT stays */
	char		pad[76];
	uint64_t	next_number;	/* atomic: temporary numbers that fillers have taken */
	char		pad2[120];
	EmogiKeyPartition partitions[EMOGI_KEY_PARTITIONS];
};

/* Get the record of a slot that is not 0: its low 40 bits are the way to it from the table, signed, in steps of 4 bytes. */
static inline EmogiKeyRecord *
emogi_key_record(const EmogiKeyTable *table, uint64_t slot)
{
	return (EmogiKeyRecord *) ((char *) (uintptr_t) table + ((int64_t) (slot << 24) >> 24) * 4);
}

/* Count the keys of a partition of a finished table, those of its children included. */
extern uint64_t emogi_key_partition_nkeys(const EmogiKeyPartition *partition);

/* List the records of a partition of a finished table in any order: records[emogi_key_partition_nkeys]. */
extern void emogi_key_partition_list(const EmogiKeyTable *table, const EmogiKeyPartition *partition, const EmogiKeyRecord **records);

#endif							/* EMOGI_KEY_TABLE_PARTS_H */
