/*
 * communities_table.cuh: hash tables from community to weight, in shared or device memory.
 */
#ifndef EMOGI_COMMUNITIES_TABLE_CUH
#define EMOGI_COMMUNITIES_TABLE_CUH

#include "cuda/algorithms/communities.cuh"

#define SHORT_SLOTS (2 * SHORT_ENTRIES)
#define WARP_SLOTS (2 * WARP_ENTRIES)
#define BLOCK_SLOTS (2 * BLOCK_ENTRIES)

/* A hash table with linear probing. */
template <typename Sum>
struct Table
{
	uint32_t   *key;			/* [1 << shift], EMOGI_NO_VERTEX = free */
	Sum		   *sum;
	uint32_t	shift;
};

/*
 * Get log2 of the slots of a table for nentries entries, at least twice as many slots as entries.
 */
static __host__ __device__ __forceinline__ uint32_t
slots_shift(uint64_t nentries, uint32_t min)
{
	uint32_t	shift = min;

	while ((UINT64_C(1) << shift) < 2 * nentries)
		shift++;
	return shift;
}

/* Get the first slot that a community probes. */
static __device__ __forceinline__ uint32_t
first_slot(uint32_t community, uint32_t shift)
{
	return community * 0x9E3779B1u >> (32 - shift);
}

/*
 * Add to a sum in shared memory. There is no 64-bit atomic for it there, so the lower half carries
 * into the upper one.
 */
static __device__ __forceinline__ void
add_shared(uint32_t *sum, long long weight)
{
	atomicAdd(sum, (uint32_t) weight);
}

static __device__ __forceinline__ void
add_shared(unsigned long long *sum, long long weight)
{
	uint32_t   *half = (uint32_t *) sum;
	const uint32_t low = (uint32_t) weight;
	const uint32_t before = atomicAdd(&half[0], low);
	const uint32_t high = (uint32_t) ((unsigned long long) weight >> 32) + (before + low < before);

	if (high > 0)
		atomicAdd(&half[1], high);
}

/* Read the key of a slot. */
template <typename Sum>
static __device__ __forceinline__ uint32_t
read_key(const Table<Sum> &table, uint32_t slot)
{
	return *(volatile uint32_t *) &table.key[slot];
}

/* Find or insert a community. key: the key last read from its first_slot. */
template <typename Sum>
static __device__ __forceinline__ uint32_t
take_slot(const Table<Sum> &table, uint32_t community, uint32_t key)
{
	uint32_t	slot = first_slot(community, table.shift);

	for (;;)
	{
		if (key == EMOGI_NO_VERTEX)
			key = atomicCAS(&table.key[slot], EMOGI_NO_VERTEX, community);
		if (key == EMOGI_NO_VERTEX || key == community)
			return slot;
		slot = (slot + 1) & ((1u << table.shift) - 1);
		key = read_key(table, slot);
	}
}

/* Add a weight to a community's sum, in shared memory. */
template <typename Sum>
static __device__ __forceinline__ void
add_weight(const Table<Sum> &table, uint32_t community, long long weight)
{
	add_shared(&table.sum[take_slot(table, community,
									read_key(table, first_slot(community, table.shift)))], weight);
}

/* Get the weight of a community, 0 if it is not in the table. */
template <typename Sum>
static __device__ __forceinline__ long long
find_weight(const Table<Sum> &table, uint32_t community)
{
	uint32_t	slot = first_slot(community, table.shift);

	for (;;)
	{
		const uint32_t key = table.key[slot];

		if (key == community)
			return (long long) table.sum[slot];
		if (key == EMOGI_NO_VERTEX)
			return 0;
		slot = (slot + 1) & ((1u << table.shift) - 1);
	}
}

/* Clear a table with `stride` threads. */
template <typename Sum>
static __device__ __forceinline__ void
clear_table(const Table<Sum> &table, uint32_t rank, uint32_t stride)
{
	for (uint32_t slot = rank; slot < 1u << table.shift; slot += stride)
	{
		table.key[slot] = EMOGI_NO_VERTEX;
		table.sum[slot] = 0;
	}
}

#endif							/* EMOGI_COMMUNITIES_TABLE_CUH */
