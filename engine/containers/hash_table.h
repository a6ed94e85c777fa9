/*
 * hash_table.h: an open-addressing hash table of 2^bits entries, at most half full: its operations
 * for one type of entries
 *
 * As with PostgreSQL's lib/simplehash.h, the includer defines parameters, which are undefined again
 * at the end, and may include the file several times; without HASH_PREFIX, there are only the
 * functions that all tables share.
 *
 *	HASH_PREFIX			prefix of the functions
 *	HASH_ENTRY			type of an entry; a free slot consists of zero bytes
 *	HASH_STORED(entry)	what the entry at a pointer stores of its key: key + 1; 0 = free
 *	HASH_MIN_BITS		smallest size of a table that PREFIX_grow allocates (8)
 *
 * The functions:
 *
 *	HASH_ENTRY *PREFIX_find(entries, bits, key)	the entry of a key, or the free slot for it
 *	bool PREFIX_fits(entries, bits, count)		whether there is a table with room for `count`
 *	bool PREFIX_grow(&entries, &bits, count)	move the entries to a larger table, allocated by
 *												calloc; false, and nothing done, if out of memory
 */
#ifndef EMOGI_HASH_TABLE_H
#define EMOGI_HASH_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Get the first slot to probe for a key. */
static inline uint64_t
emogi_hash_slot(uint64_t key, int bits)
{
	return key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits);
}

/* Get the size of a table that `count` entries fill at most half; at least 2^min_bits slots. */
static inline int
emogi_hash_bits(int min_bits, uint64_t count)
{
	int			bits = min_bits;

	while (UINT64_C(1) << bits < 2 * count)
		bits++;
	return bits;
}

#endif							/* EMOGI_HASH_TABLE_H */

#ifdef HASH_PREFIX
#ifndef HASH_MIN_BITS
#define HASH_MIN_BITS 8
#endif
#define HASH_JOIN_(prefix, name) prefix##_##name
#define HASH_JOIN(prefix, name) HASH_JOIN_(prefix, name)
#define HASH_NAME(name) HASH_JOIN(HASH_PREFIX, name)

static inline HASH_ENTRY *
HASH_NAME(find)(const HASH_ENTRY *entries, int bits, uint64_t key)
{
	const uint64_t mask = (UINT64_C(1) << bits) - 1;
	uint64_t	i = emogi_hash_slot(key, bits);

	while (HASH_STORED(&entries[i]) != key + 1 && HASH_STORED(&entries[i]) != 0)
		i = (i + 1) & mask;
	return (HASH_ENTRY *) &entries[i];
}

static inline bool
HASH_NAME(fits)(const HASH_ENTRY *entries, int bits, uint64_t count)
{
	return entries != NULL && 2 * count <= UINT64_C(1) << bits;
}

static inline bool
HASH_NAME(grow)(HASH_ENTRY **entries, int *bits, uint64_t count)
{
	const HASH_ENTRY *before = *entries;
	const uint64_t nbefore = before != NULL ? UINT64_C(1) << *bits : 0;
	const int	larger_bits = emogi_hash_bits(before != NULL ? *bits : HASH_MIN_BITS, count);
	HASH_ENTRY *larger = calloc((size_t) 1 << larger_bits, sizeof *larger);

	if (larger == NULL)
		return false;
	for (uint64_t i = 0; i < nbefore; i++)
		if (HASH_STORED(&before[i]) != 0)
			*HASH_NAME(find)(larger, larger_bits, HASH_STORED(&before[i]) - 1) = before[i];
	free(*entries);
	*entries = larger;
	*bits = larger_bits;
	return true;
}

#undef HASH_PREFIX
#undef HASH_ENTRY
#undef HASH_STORED
#undef HASH_MIN_BITS
#undef HASH_JOIN_
#undef HASH_JOIN
#undef HASH_NAME
#endif							/* HASH_PREFIX */
