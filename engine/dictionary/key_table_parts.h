/*
 * key_table_parts.h: internal layout of a key table, for the files in this folder and for tests.
 *
 * A partition is an open-addressing hash table that is at most 3/5 full. A slot is 0, or the tag of
 * a key and the location of its record. Lookups take no lock: slots and arrays are stored with
 * release semantics after the data they lead to is written, and outgrown arrays are left unchanged.
 * If a lookup in an old array misses, it is repeated under the lock.
 *
 * An array has at most 2^max_slots slots, so that it fits one piece of memory. When it is full,
 * new keys go to one of 64 children of the partition, chosen by bits of the tag that the array does
 * not use. This gives room for 10 G keys.
 */
#ifndef EMOGI_KEY_TABLE_PARTS_H
#define EMOGI_KEY_TABLE_PARTS_H

#include "dictionary/key_hash.h"

#define EMOGI_KEY_PARTITION_BITS 10
#define EMOGI_KEY_PARTITIONS (1 << EMOGI_KEY_PARTITION_BITS)
#define EMOGI_KEY_CHILDREN 64
#define EMOGI_KEY_FIRST_SLOTS 6	/* log2 */
#define EMOGI_KEY_MAX_SLOTS (EMOGI_KEY_SLOT_SIZES - 1) /* log2; EMOGI_KEY_PIECE_BYTES */

/* A distinct key. */
typedef struct EmogiKeyRecord
{
	uint32_t	temporary;
	uint32_t	length;
	char		bytes[];		/* [length] */
} EmogiKeyRecord;

/* All fields but the lock are written under the lock. */
typedef struct EmogiKeyPartition
{
	uint64_t	slots;			/* address of the array | log2 of its length, atomic; 0 = no array
								 * yet */
	struct EmogiKeyPartition *children; /* [EMOGI_KEY_CHILDREN], atomic; NULL = none */
	uint64_t	key_bytes;
	uint32_t	nkeys;			/* in the array, without the children */
	uint32_t	lock;			/* atomic: 1 = locked */
	char		pad[32];
} EmogiKeyPartition;

struct EmogiKeyTable
{
	EmogiKeyHash hash;
	uint32_t	max_slots;		/* log2; less than EMOGI_KEY_MAX_SLOTS in tests */
	uint32_t	max_steps;		/* maximum probe length of the fast hash */
	uint32_t	outcome;		/* atomic: the first EmogiKeyOutcome that is not EMOGI_KEYS_PUT
								 * stays */
	char		pad[76];
	uint64_t	next_number;	/* atomic: temporary numbers reserved by fillers */
	char		pad2[120];
	EmogiKeyPartition partitions[EMOGI_KEY_PARTITIONS];
};

/*
 * Get the record of a nonzero slot: its low 40 bits are the signed offset from the table in units
 * of 4 bytes.
 */
static inline EmogiKeyRecord *
emogi_key_record(const EmogiKeyTable *table, uint64_t slot)
{
	return (EmogiKeyRecord *) ((char *) (uintptr_t) table + ((int64_t) (slot << 24) >> 24) * 4);
}

/* Get the number of keys of a partition of a finished table, including its children. */
extern uint64_t emogi_key_partition_nkeys(const EmogiKeyPartition *partition);

/*
 * List the records of a partition of a finished table in any order:
 * records[emogi_key_partition_nkeys].
 */
extern void emogi_key_partition_list(const EmogiKeyTable *table, const EmogiKeyPartition *partition,
									 const EmogiKeyRecord **records);

#endif							/* EMOGI_KEY_TABLE_PARTS_H */
