/*
 * key_table.c: concurrent insertion of keys into a table by many processes.
 *
 * Keys are inserted in batches: hash all keys and prefetch their slots, probe for slots with their
 * tags and prefetch the records, then compare. The cache misses of a batch thus overlap. If a key
 * is not found, the process allocates all memory that inserting it may need, takes the lock of the
 * partition, and searches again. Nothing allocates while the lock is held, so no error can leave it
 * locked.
 */
#include "key_table_parts.h"

#include "contract/engine.h"

#include <sched.h>

#define NUMBERS_PER_BLOCK 1024
#define MAX_PROBE_STEPS 512
#define TAG_SHIFT 40
#define SPINS_PER_YIELD 64
#define SLOT_PREFETCH_DISTANCE 16

_Static_assert(sizeof(EmogiKeyPartition) == 64, "a partition is a cache line");
_Static_assert(((size_t) 8 << EMOGI_KEY_MAX_SLOTS) == EMOGI_KEY_PIECE_BYTES,
			   "the longest array is a piece");

/* A key to be inserted. */
typedef struct PendingKey
{
	EmogiKeyBytes key;
	uint64_t	tag;			/* 24 bits of the hash: the low bits give the home slot, the high
								 * bits the child */
	EmogiKeyPartition *partition;
} PendingKey;

size_t
emogi_key_table_bytes(void)
{
	return sizeof(EmogiKeyTable);
}

void
emogi_key_table_init(EmogiKeyTable *table, const uint64_t words[4], bool secure_hash)
{
	memset(table, 0, sizeof(*table));
	memcpy(table->hash.words, words, sizeof(table->hash.words));
	table->hash.secure_hash = secure_hash;
	table->max_slots = EMOGI_KEY_MAX_SLOTS;
	table->max_steps = MAX_PROBE_STEPS;
}

EmogiKeyOutcome
emogi_key_table_outcome(const EmogiKeyTable *table)
{
	return (EmogiKeyOutcome) __atomic_load_n(&table->outcome, __ATOMIC_RELAXED);
}

/* End insertion into the table for all processes. */
static EmogiKeyOutcome
end_filling(EmogiKeyTable *table, EmogiKeyOutcome outcome)
{
	uint32_t	none = EMOGI_KEYS_PUT;

	__atomic_compare_exchange_n(&table->outcome, &none, (uint32_t) outcome, false, __ATOMIC_RELAXED,
								__ATOMIC_RELAXED);
	return emogi_key_table_outcome(table);
}

/* ---- slots ---- */

/* Get the slot array from the word `slots`. */
static inline uint64_t *
array_of(uint64_t slots)
{
	return (uint64_t *) (uintptr_t) (slots & ~UINT64_C(63));
}

/* Get the log2 of the length of the slot array. */
static inline uint32_t
log2_of(uint64_t slots)
{
	return (uint32_t) (slots & 63);
}

/* Check whether a record has this key. */
static inline bool
same_key(const EmogiKeyRecord *record, EmogiKeyBytes key)
{
	return record->length == key.length &&
		emogi_key_same_bytes(record->bytes, key.bytes, key.length);
}

/*
 * Probe a slot array for a key; NULL if it is not there. Sets *steps, and *last to the empty slot
 * where the key was not found.
 */
static EmogiKeyRecord *
probe(const EmogiKeyTable *table, uint64_t slots, const PendingKey *pending, uint64_t **last,
	  uint64_t *steps)
{
	uint64_t   *array = array_of(slots);
	const uint64_t mask = (UINT64_C(1) << log2_of(slots)) - 1;
	uint64_t	at = pending->tag & mask;
	uint64_t	slot;

	for (*steps = 0; (slot = __atomic_load_n(&array[at], __ATOMIC_ACQUIRE)) != 0;
		 at = (at + 1) & mask, (*steps)++)
	{
		if (slot >> TAG_SHIFT == pending->tag &&
			same_key(emogi_key_record(table, slot), pending->key))
			return emogi_key_record(table, slot);
	}
	*last = &array[at];
	return NULL;
}

/*
 * Find a key in its partition and the children; if not found, pending->partition is where it
 * belongs.
 */
static EmogiKeyRecord *
find_record(const EmogiKeyTable *table, PendingKey *pending)
{
	for (;;)
	{
		const uint64_t slots = __atomic_load_n(&pending->partition->slots, __ATOMIC_ACQUIRE);
		EmogiKeyPartition *children = __atomic_load_n(&pending->partition->children,
													  __ATOMIC_ACQUIRE);
		EmogiKeyRecord *record;
		uint64_t   *last;
		uint64_t	steps;

		record = slots == 0 ? NULL : probe(table, slots, pending, &last, &steps);
		if (record != NULL || children == NULL)
			return record;
		pending->partition = &children[pending->tag >> EMOGI_KEY_MAX_SLOTS];
	}
}

/* ---- memory ---- */

/*
 * Allocate aligned memory that is never freed; keep the rest of the piece for later. May raise an
 * error.
 */
static void *
take_memory(EmogiKeyFiller *filler, size_t bytes, size_t align)
{
	size_t		skip = (size_t) -(uintptr_t) filler->arena & (align - 1);
	char	   *piece;

	if (filler->arena != NULL && skip + bytes <= filler->arena_bytes)
	{
		char	   *memory = filler->arena + skip;

		filler->arena = memory + bytes;
		filler->arena_bytes -= skip + bytes;
		return memory;
	}
	piece = filler->alloc(filler->arg, EMOGI_KEY_PIECE_BYTES);
	skip = (size_t) -(uintptr_t) piece & (align - 1);
	if (EMOGI_KEY_PIECE_BYTES - skip - bytes > filler->arena_bytes)
	{
		filler->arena = piece + skip + bytes;
		filler->arena_bytes = EMOGI_KEY_PIECE_BYTES - skip - bytes;
	}
	return piece + skip;
}

/* Get the bytes of a record. */
static inline size_t
record_bytes(uint32_t length)
{
	return (offsetof(EmogiKeyRecord, bytes) + length + 3) & ~(size_t) 3;
}

/*
 * Get the log2 of the array length that a partition needs for one more key; 0 = the current array
 * suffices.
 */
static uint32_t
slots_needed(uint64_t slots, uint32_t nkeys)
{
	if (slots == 0)
		return EMOGI_KEY_FIRST_SLOTS;
	return ((uint64_t) nkeys + 1) * 5 > (UINT64_C(3) << log2_of(slots)) ? log2_of(slots) + 1 : 0;
}

/* Ensure that the arena has space for the record of a key. May raise an error. */
static void
reserve_record(EmogiKeyFiller *filler, uint32_t length)
{
	const size_t bytes = record_bytes(length);
	char	   *memory;

	if (filler->arena != NULL && bytes + 3 <= filler->arena_bytes)
		return;
	memory = filler->alloc(filler->arg, EMOGI_KEY_PIECE_BYTES);
	filler->arena = memory;
	filler->arena_bytes = EMOGI_KEY_PIECE_BYTES;
}

/*
 * Reserve what inserting a key may need: a larger array or children if they seem necessary, and a
 * record. May raise an error.
 */
static void
reserve(EmogiKeyFiller *filler, const PendingKey *pending)
{
	const uint64_t slots = __atomic_load_n(&pending->partition->slots, __ATOMIC_ACQUIRE);
	const uint32_t needed = slots_needed(slots,
										 __atomic_load_n(&pending->partition->nkeys,
														 __ATOMIC_RELAXED));

	if (needed > filler->table->max_slots)
	{
		if (filler->spare_children == NULL)
		{
			void	   *children = take_memory(filler,
											   EMOGI_KEY_CHILDREN * sizeof(EmogiKeyPartition),
											   sizeof(EmogiKeyPartition));

			filler->spare_children = memset(children, 0,
											EMOGI_KEY_CHILDREN * sizeof(EmogiKeyPartition));
		}
	}
	else if (needed > 0 && filler->spare_slots[needed] == NULL)
	{
		uint64_t   *array = take_memory(filler, sizeof(uint64_t) << needed, 64);

		filler->spare_slots[needed] = memset(array, 0, sizeof(uint64_t) << needed);
	}
	reserve_record(filler, pending->key.length);
}

/* Ensure that the filler has a temporary number; false if none is left. */
static bool
reserve_number(EmogiKeyFiller *filler)
{
	uint64_t	first;

	if (filler->next_number != filler->end_number)
		return true;
	first = __atomic_fetch_add(&filler->table->next_number, NUMBERS_PER_BLOCK, __ATOMIC_RELAXED);
	if (first + NUMBERS_PER_BLOCK > EMOGI_MAX_VERTICES)
	{
		__atomic_fetch_sub(&filler->table->next_number, NUMBERS_PER_BLOCK, __ATOMIC_RELAXED);
		return false;
	}
	filler->next_number = (uint32_t) first;
	filler->end_number = (uint32_t) first + NUMBERS_PER_BLOCK;
	return true;
}

/* ---- under the lock ---- */

/* Hint to the processor that this is a spin loop. */
static inline void
pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory");
#endif
}

/* Take the lock of a partition. */
static void
lock(EmogiKeyPartition *partition)
{
	while (__atomic_exchange_n(&partition->lock, 1, __ATOMIC_ACQUIRE) != 0)
	{
		for (int i = 1; __atomic_load_n(&partition->lock, __ATOMIC_RELAXED) != 0; i++)
		{
			if (i % SPINS_PER_YIELD == 0)
				sched_yield();	/* the lock holder may be waiting for this processor */
			else
				pause_briefly();
		}
	}
}

/* Release the lock of a partition. */
static void
unlock(EmogiKeyPartition *partition)
{
	__atomic_store_n(&partition->lock, 0, __ATOMIC_RELEASE);
}

/*
 * Copy the slots of a partition to a cleared array of twice the length, and replace the old array.
 */
static void
grow(EmogiKeyPartition *partition, uint64_t *array, uint32_t log2)
{
	const uint64_t *old = array_of(partition->slots);
	const uint64_t length = partition->slots == 0 ? 0 : UINT64_C(1) << log2_of(partition->slots);
	const uint64_t mask = (UINT64_C(1) << log2) - 1;

	for (uint64_t i = 0; i < length; i++)
	{
		uint64_t	at = (old[i] >> TAG_SHIFT) & mask;

		if (old[i] == 0)
			continue;
		while (array[at] != 0)
			at = (at + 1) & mask;
		array[at] = old[i];
	}
	__atomic_store_n(&partition->slots, (uint64_t) (uintptr_t) array | log2, __ATOMIC_RELEASE);
}

/*
 * Make space for one more key in the locked partition from reserved memory; false if that does not
 * suffice.
 */
static bool
make_room(EmogiKeyFiller *filler, EmogiKeyPartition *partition)
{
	const uint32_t needed = slots_needed(partition->slots, partition->nkeys);

	if (partition->children != NULL)
		return false;
	if (needed == 0)
		return true;
	if (needed > filler->table->max_slots)
	{
		if (filler->spare_children != NULL)
			__atomic_store_n(&partition->children, (EmogiKeyPartition *) filler->spare_children,
							 __ATOMIC_RELEASE);
		filler->spare_children = NULL;
		return false;
	}
	if (filler->spare_slots[needed] == NULL)
		return false;
	grow(partition, filler->spare_slots[needed], needed);
	filler->spare_slots[needed] = NULL;
	return true;
}

/* Write the record of a key to the arena, which has space; NULL if it is too far from the table. */
static EmogiKeyRecord *
write_record(EmogiKeyFiller *filler, EmogiKeyBytes key)
{
	const size_t skip = (size_t) -(uintptr_t) filler->arena & 3;
	EmogiKeyRecord *record = (EmogiKeyRecord *) (filler->arena + skip);
	const int64_t way = (int64_t) ((uintptr_t) record - (uintptr_t) filler->table) / 4;

	if (way < -(INT64_C(1) << 39) || way >= INT64_C(1) << 39)
		return NULL;
	record->temporary = filler->next_number++;
	record->length = key.length;
	if (key.length > 0)
		memcpy(record->bytes, key.bytes, key.length);
	filler->arena += skip + record_bytes(key.length);
	filler->arena_bytes -= skip + record_bytes(key.length);
	return record;
}

typedef enum LockedOutcome
{
	LOCKED_INSERTED,
	LOCKED_AGAIN,				/* reserve more, or search the child */
	LOCKED_CROWDED,
	LOCKED_TOO_FAR
} LockedOutcome;

/* Search the locked partition again, and insert the key if it is missing. */
static LockedOutcome
insert_locked(EmogiKeyFiller *filler, const PendingKey *pending, uint32_t *number)
{
	const EmogiKeyTable *table = filler->table;
	EmogiKeyPartition *partition = pending->partition;
	EmogiKeyRecord *record = NULL;
	uint64_t   *last = NULL;
	uint64_t	steps = 0;

	if (partition->slots != 0)
		record = probe(table, partition->slots, pending, &last, &steps);
	if (record == NULL)
	{
		const uint64_t slots = partition->slots;

		if (steps > table->max_steps && !table->hash.secure_hash)
			return LOCKED_CROWDED;
		if (!make_room(filler, partition))
			return LOCKED_AGAIN;
		if (partition->slots != slots)
			probe(table, partition->slots, pending, &last, &steps);
		record = write_record(filler, pending->key);
		if (record == NULL)
			return LOCKED_TOO_FAR;
		__atomic_store_n(&partition->nkeys, partition->nkeys + 1, __ATOMIC_RELAXED);
		partition->key_bytes += pending->key.length;
		__atomic_store_n(last, pending->tag << TAG_SHIFT |
						 ((uint64_t) ((int64_t) ((uintptr_t) record - (uintptr_t) table) / 4) &
						  ((UINT64_C(1) << TAG_SHIFT) - 1)),
						 __ATOMIC_RELEASE);
	}
	*number = record->temporary;
	return LOCKED_INSERTED;
}

/* Insert a key that was not found at first. */
static EmogiKeyOutcome
insert_key(EmogiKeyFiller *filler, PendingKey *pending, uint32_t *number)
{
	LockedOutcome outcome = LOCKED_AGAIN;

	while (outcome == LOCKED_AGAIN)
	{
		const EmogiKeyRecord *record = find_record(filler->table, pending);

		if (record != NULL)
		{
			*number = record->temporary;
			return EMOGI_KEYS_PUT;
		}
		if (!reserve_number(filler))
			return end_filling(filler->table, EMOGI_KEYS_TOO_MANY);
		reserve(filler, pending);
		lock(pending->partition);
		outcome = insert_locked(filler, pending, number);
		unlock(pending->partition);
	}
	if (outcome == LOCKED_INSERTED)
		return EMOGI_KEYS_PUT;
	return end_filling(filler->table,
					   outcome == LOCKED_CROWDED ? EMOGI_KEYS_COLLISIONS : EMOGI_KEYS_TOO_MANY);
}

/* ---- batches ---- */

/* Get the first slot from the home of a key on that is empty or has its tag. */
static inline uint64_t
probe_tag(uint64_t slots, uint64_t tag)
{
	const uint64_t *array = array_of(slots);
	const uint64_t mask = (UINT64_C(1) << log2_of(slots)) - 1;
	uint64_t	at = tag & mask;
	uint64_t	slot;

	while ((slot = __atomic_load_n(&array[at], __ATOMIC_ACQUIRE)) != 0 && slot >> TAG_SHIFT != tag)
		at = (at + 1) & mask;
	return slot;
}

EmogiKeyOutcome
emogi_key_filler_put(EmogiKeyFiller *filler, const EmogiKeyBytes *keys, int count,
					 uint32_t *numbers)
{
	EmogiKeyTable *table = filler->table;
	PendingKey	pending[EMOGI_KEYS_IN_FLIGHT];
	uint64_t	found[EMOGI_KEYS_IN_FLIGHT];	/* the slot array, then the slot */

	for (int i = 0; i < count; i++)
	{
		const uint64_t hash = emogi_key_hash(&table->hash, keys[i].bytes, keys[i].length);

		pending[i].key = keys[i];
		pending[i].partition = &table->partitions[hash >> (64 - EMOGI_KEY_PARTITION_BITS)];
		pending[i].tag = hash >> 30 & 0xFFFFFF;
		found[i] = __atomic_load_n(&pending[i].partition->slots, __ATOMIC_ACQUIRE);
		if (found[i] != 0)
			__builtin_prefetch(array_of(found[i]) +
							   (pending[i].tag & ((UINT64_C(1) << log2_of(found[i])) - 1)));
	}
	for (int i = 0; i < count; i++)
	{
		if (found[i] != 0)
			found[i] = probe_tag(found[i], pending[i].tag);
		if (found[i] != 0)
			__builtin_prefetch(emogi_key_record(table, found[i]));
	}
	for (int i = 0; i < count; i++)
	{
		const EmogiKeyRecord *record = found[i] != 0 ? emogi_key_record(table, found[i]) : NULL;

		if (record != NULL && same_key(record, pending[i].key))
			numbers[i] = record->temporary;
		else if (insert_key(filler, &pending[i], &numbers[i]) != EMOGI_KEYS_PUT)
			break;
	}
	return emogi_key_table_outcome(table);
}

/* ---- a finished table ---- */

uint64_t
emogi_key_partition_nkeys(const EmogiKeyPartition *partition)
{
	uint64_t	nkeys = partition->nkeys;

	for (int i = 0; partition->children != NULL && i < EMOGI_KEY_CHILDREN; i++)
		nkeys += emogi_key_partition_nkeys(&partition->children[i]);
	return nkeys;
}

/* Add up the bytes of the keys of a partition and its children. */
static uint64_t
partition_key_bytes(const EmogiKeyPartition *partition)
{
	uint64_t	key_bytes = partition->key_bytes;

	for (int i = 0; partition->children != NULL && i < EMOGI_KEY_CHILDREN; i++)
		key_bytes += partition_key_bytes(&partition->children[i]);
	return key_bytes;
}

void
emogi_key_partition_list(const EmogiKeyTable *table, const EmogiKeyPartition *partition,
						 const EmogiKeyRecord **records)
{
	const uint64_t *array = array_of(partition->slots);
	const uint64_t length = partition->slots == 0 ? 0 : UINT64_C(1) << log2_of(partition->slots);

	for (uint64_t i = 0; i < length; i++)
	{
		if (array[i] != 0)
			*records++ = emogi_key_record(table, array[i]);
	}
	for (int i = 0; partition->children != NULL && i < EMOGI_KEY_CHILDREN; i++)
	{
		emogi_key_partition_list(table, &partition->children[i], records);
		records += emogi_key_partition_nkeys(&partition->children[i]);
	}
}

uint64_t
emogi_key_table_nkeys(const EmogiKeyTable *table)
{
	uint64_t	nkeys = 0;

	for (int p = 0; p < EMOGI_KEY_PARTITIONS; p++)
		nkeys += emogi_key_partition_nkeys(&table->partitions[p]);
	return nkeys;
}

uint64_t
emogi_key_table_key_bytes(const EmogiKeyTable *table)
{
	uint64_t	key_bytes = 0;

	for (int p = 0; p < EMOGI_KEY_PARTITIONS; p++)
		key_bytes += partition_key_bytes(&table->partitions[p]);
	return key_bytes;
}

uint32_t
emogi_key_table_ntemporaries(const EmogiKeyTable *table)
{
	return (uint32_t) __atomic_load_n(&table->next_number, __ATOMIC_RELAXED);
}

void
emogi_key_table_list(const EmogiKeyTable *table, EmogiTemporaryKey *keys)
{
	for (int p = 0; p < EMOGI_KEY_PARTITIONS; p++)
	{
		const EmogiKeyPartition *partition = &table->partitions[p];
		const uint64_t nkeys = emogi_key_partition_nkeys(partition);
		const EmogiKeyRecord **records = (const EmogiKeyRecord **) ((char *) (keys + nkeys) -
																	nkeys * sizeof(*records));

		/*
		 * The records of the partition occupy the end of the memory of its keys; each is read
		 * before it is overwritten.
		 */
		emogi_key_partition_list(table, partition, records);
		for (uint64_t i = 0; i < nkeys; i++)
		{
			const EmogiKeyRecord *record = records[i];

			if (i + SLOT_PREFETCH_DISTANCE < nkeys)
				__builtin_prefetch(records[i + SLOT_PREFETCH_DISTANCE]);
			keys[i] = (EmogiTemporaryKey) {{record->bytes, record->length}, record->temporary};
		}
		keys += nkeys;
	}
}
