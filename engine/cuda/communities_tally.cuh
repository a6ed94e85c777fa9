/*
 * communities_tally.cuh: adds up weights by community, for each node of a batch, in hash tables, by the length of its list: SHORT_LANES lanes,
 * a warp, a block, in shared memory; of long lists pieces, a block each, whose tables are added to one in device memory, which blocks look at
 * slab by slab.
 *
 * A rule says what is added up, and what is made of it:
 *   Item                            what is known of a node while it is looked at
 *   bool open(i, item)              begin with place i of the order; false = it is not looked at
 *   uint64_t length(item)           entries
 *   walk(item, from, upto, rank, stride, add)   call add(community, weight) for entries from .. upto - 1, by `stride` threads
 *   begin(item, find)               find(community) gets its weight
 *   COUNTS                          count(item, mask, n) is called before a table is visited, n: communities that the lane will visit there
 *   look_up(community)              get what visit wants to know of a community
 *   visit(item, mask, there, community, weight, known) by all lanes of mask, some of which have nothing
 *   merge(item, mask, lanes)        bring together what the lanes have found
 *   merge_with(item, other)         the same of another's
 *   finish(item, i)                 by one thread
 *
 * Bytes: entries once, with 4 at random for each, and 8 at random for each community that a list has.
 */
#ifndef EMOGI_COMMUNITIES_TALLY_CUH
#define EMOGI_COMMUNITIES_TALLY_CUH

#include "communities.cuh"

#define SHORT_SLOTS (2 * SHORT_ENTRIES)
#define WARP_SLOTS (2 * WARP_ENTRIES)
#define BLOCK_SLOTS (2 * BLOCK_ENTRIES)
#define UNROLL 4
#define NO_ENTRY UINT64_MAX

/* Weights by community. */
template <typename Sum>
struct Table
{
	uint32_t   *key;			/* [1 << shift], EMOGI_NO_VERTEX = free */
	Sum		   *sum;
	uint32_t	shift;
};

/* Get the logarithm of the slots of a table for so many entries: twice as many at least. */
static __host__ __device__ __forceinline__ uint32_t
slots_shift(uint64_t nentries, uint32_t least)
{
	uint32_t	shift = least;

	while ((UINT64_C(1) << shift) < 2 * nentries)
		shift++;
	return shift;
}

/* Get where a community's place in a table may begin. */
static __device__ __forceinline__ uint32_t
first_slot(uint32_t community, uint32_t shift)
{
	return community * 0x9E3779B1u >> (32 - shift);
}

/* Add to a sum in shared memory. A wide one has no addition of its own there: the lower half carries. */
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

/* Read who has a slot. */
template <typename Sum>
static __device__ __forceinline__ uint32_t
read_key(const Table<Sum> &table, uint32_t slot)
{
	return *(volatile uint32_t *) &table.key[slot];
}

/* Get a community's place in a table. key: who was seen to have its first_slot. */
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

/* Add a weight to a community's, in shared memory. */
template <typename Sum>
static __device__ __forceinline__ void
add_weight(const Table<Sum> &table, uint32_t community, long long weight)
{
	add_shared(&table.sum[take_slot(table, community, read_key(table, first_slot(community, table.shift)))], weight);
}

/* Get the weight of a community. */
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

/* Empty a table, by `stride` threads. */
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

/* Call add(community, weight) for the entries at those places, NO_ENTRY = none; key(target) gets a community, EMOGI_NO_VERTEX = none. */
template <class Key, class Add>
static __device__ __forceinline__ void
add_entries(const Level &level, const uint64_t (&place)[UNROLL], Key key, Add add)
{
	uint32_t	community[UNROLL];
	long long	weight[UNROLL];

#pragma unroll
	for (uint32_t j = 0; j < UNROLL; j++)
		community[j] = place[j] != NO_ENTRY ? __ldg(&level.targets[place[j]]) : EMOGI_NO_VERTEX;
#pragma unroll
	for (uint32_t j = 0; j < UNROLL; j++)
		weight[j] = community[j] != EMOGI_NO_VERTEX ? level_weight(level, place[j]) : 0;
#pragma unroll
	for (uint32_t j = 0; j < UNROLL; j++)
		if (community[j] != EMOGI_NO_VERTEX)
			community[j] = key(community[j]);
#pragma unroll
	for (uint32_t j = 1; j < UNROLL; j++)
#pragma unroll
		for (uint32_t i = 0; i < j; i++)
			if (community[i] == community[j])
			{
				weight[i] += weight[j];
				weight[j] = 0;
			}
#pragma unroll
	for (uint32_t j = 0; j < UNROLL; j++)
		if (community[j] != EMOGI_NO_VERTEX && weight[j] > 0)
			add(community[j], weight[j]);
}

/* Call add(community, weight) for entries of a node's list, by `stride` threads; key as above. */
template <class Key, class Add>
static __device__ __forceinline__ void
walk_list(const Level &level, uint64_t from, uint64_t upto, uint32_t rank, uint32_t stride, Key key, Add add)
{
	for (uint64_t base = from + rank; base < upto; base += UNROLL * stride)
	{
		uint64_t	place[UNROLL];

#pragma unroll
		for (uint32_t j = 0; j < UNROLL; j++)
			place[j] = base + j * stride < upto ? base + j * stride : NO_ENTRY;
		add_entries(level, place, key, add);
	}
}

/* ---- the best of several lanes ---- */

/* Bring together the best of the lanes of groups of so many. */
static __device__ __forceinline__ void
merge_best(EmogiBest *best, uint64_t salt, uint32_t mask, uint32_t lanes)
{
	for (uint32_t step = lanes / 2; step > 0; step /= 2)
	{
		const double value = __shfl_xor_sync(mask, best->value, step);
		const uint32_t community = __shfl_xor_sync(mask, best->community, step);
		const long long weight = __shfl_xor_sync(mask, (long long) best->weight, step);

		if (community != EMOGI_NO_VERTEX)
			emogi_communities_offer(best, salt, value, community, weight);
	}
}

/* ---- kernels ---- */

/*
 * Visit places from .. upto - 1 of a table, by `stride` threads, a multiple of those in mask, of which the places are a multiple. FAR: it is in
 * device memory, so sums are read ahead, which takes registers.
 */
template <bool FAR, class Rule, typename Sum>
static __device__ __forceinline__ void
visit_table(const Rule &rule, typename Rule::Item *item, const Table<Sum> &table, uint64_t from, uint64_t upto, uint32_t rank, uint32_t stride,
			uint32_t mask)
{
	if constexpr (Rule::COUNTS)
	{
		uint32_t	count = 0;

		for (uint64_t slot = from + rank; slot < upto; slot += stride)
			count += table.key[slot] != EMOGI_NO_VERTEX;
		rule.count(item, mask, count);
	}
	for (uint64_t base = from + rank; base < upto; base += UNROLL * stride)
	{
		uint32_t	key[UNROLL];
		long long	weight[UNROLL];
		long long	known[UNROLL];

#pragma unroll
		for (uint32_t j = 0; j < UNROLL; j++)
			key[j] = base + j * stride < upto ? table.key[base + j * stride] : EMOGI_NO_VERTEX;
#pragma unroll
		for (uint32_t j = 0; j < UNROLL; j++)
		{
			weight[j] = FAR && key[j] != EMOGI_NO_VERTEX ? (long long) table.sum[base + j * stride] : 0;
			known[j] = key[j] != EMOGI_NO_VERTEX ? rule.look_up(key[j]) : 0;	/* all are under way at once */
		}
#pragma unroll
		for (uint32_t j = 0; j < UNROLL; j++)
		{
			if (!FAR && key[j] != EMOGI_NO_VERTEX)
				weight[j] = (long long) table.sum[base + j * stride];
			rule.visit(item, mask, key[j] != EMOGI_NO_VERTEX, key[j], weight[j], known[j]);
		}
	}
}

/* Look at places first .. end - 1 of the order, LANES lanes each. Dynamic shared memory: SLOTS keys and sums a group. */
template <class Rule, typename Sum, uint32_t LANES, uint32_t SLOTS>
static __global__ void __launch_bounds__(BLOCK_THREADS)
tally_group_kernel(Rule rule, uint64_t first, uint64_t end, Step step)
{
	extern __shared__ uint4 tally_shared[];
	constexpr uint32_t GROUPS = BLOCK_THREADS / LANES;
	const uint32_t group = threadIdx.x / LANES;
	const uint32_t rank = threadIdx.x % LANES;
	const uint32_t mask = LANES == WARP_LANES ? FULL_WARP : ((1u << LANES % WARP_LANES) - 1) << lane_number() / LANES * LANES;
	Table<Sum>	table = {(uint32_t *) ((Sum *) tally_shared + GROUPS * SLOTS) + group * SLOTS, (Sum *) tally_shared + group * SLOTS, 0};

	for (uint64_t i = first + (uint64_t) blockIdx.x * GROUPS + group; i < end; i += (uint64_t) gridDim.x * GROUPS)
	{
		typename Rule::Item item;

		if (__any_sync(mask, rank == 0 && must_leave(step)))
			return;
		if (!rule.open(i, &item))
			continue;
		table.shift = slots_shift(rule.length(item), 5);
		clear_table(table, rank, LANES);
		__syncwarp(mask);
		rule.walk(item, 0, rule.length(item), rank, LANES, [&](uint32_t community, long long weight) {
			add_weight(table, community, weight);
		});
		__syncwarp(mask);
		rule.begin(&item, [&](uint32_t community) { return find_weight(table, community); });
		visit_table<false>(rule, &item, table, 0, UINT64_C(1) << table.shift, rank, LANES, mask);
		rule.merge(&item, mask, LANES);
		if (rank == 0)
			rule.finish(item, i);
		__syncwarp(mask);
	}
}

/* Bring together what the warps of a block have found; the first thread has it. */
template <class Rule>
static __device__ __forceinline__ void
merge_block(const Rule &rule, typename Rule::Item *item, typename Rule::Item *found)
{
	rule.merge(item, FULL_WARP, WARP_LANES);
	if (lane_number() == 0)
		found[threadIdx.x / WARP_LANES] = *item;
	__syncthreads();
	if (threadIdx.x == 0)
		for (uint32_t w = 1; w < blockDim.x / WARP_LANES; w++)
			rule.merge_with(item, found[w]);
}

/* Look at places first .. end - 1 of the order, a block each. Dynamic shared memory: BLOCK_SLOTS keys and sums. */
template <class Rule, typename Sum>
static __global__ void __launch_bounds__(BLOCK_THREADS)
tally_block_kernel(Rule rule, uint64_t first, uint64_t end, Step step)
{
	extern __shared__ uint4 tally_shared[];
	__shared__ typename Rule::Item found[BLOCK_WARPS];
	Table<Sum>	table = {(uint32_t *) ((Sum *) tally_shared + BLOCK_SLOTS), (Sum *) tally_shared, 0};

	for (uint64_t i = first + blockIdx.x; i < end; i += gridDim.x)
	{
		typename Rule::Item item;

		__syncthreads();
		if (__syncthreads_or(threadIdx.x == 0 && must_leave(step)))
			return;
		if (!rule.open(i, &item))
			continue;
		table.shift = slots_shift(rule.length(item), 9);
		clear_table(table, threadIdx.x, BLOCK_THREADS);
		__syncthreads();
		rule.walk(item, 0, rule.length(item), threadIdx.x, BLOCK_THREADS, [&](uint32_t community, long long weight) {
			add_weight(table, community, weight);
		});
		__syncthreads();
		rule.begin(&item, [&](uint32_t community) { return find_weight(table, community); });
		visit_table<false>(rule, &item, table, 0, UINT64_C(1) << table.shift, threadIdx.x, BLOCK_THREADS, FULL_WARP);
		merge_block(rule, &item, found);
		if (threadIdx.x == 0)
			rule.finish(item, i);
	}
}

/* Get the last of the long lists whose number, by a field, is this one or before. */
static __device__ __forceinline__ uint64_t
find_long(const Long *longs, uint64_t nlongs, uint64_t Long::*field, uint64_t number)
{
	uint64_t	least = 0;

	while (nlongs - least > 1)
	{
		const uint64_t middle = (least + nlongs) / 2;

		if (longs[middle].*field <= number)
			least = middle;
		else
			nlongs = middle;
	}
	return least;
}

/* Get the table of a long list. */
static __device__ __forceinline__ Table<unsigned long long>
long_table(const Arena &arena, const Long &its)
{
	return Table<unsigned long long>{arena.keys + its.table, arena.sums + its.table, its.shift};
}

static_assert(BLOCK_SLOTS % (UNROLL * BLOCK_THREADS) == 0, "threads have as many slots each");

/* Add the sums of a table in shared memory to one in device memory. Whole block. */
template <typename Sum>
static __device__ __forceinline__ void
add_table(const Table<unsigned long long> &all, const Table<Sum> &table)
{
	for (uint32_t slot = threadIdx.x; slot < BLOCK_SLOTS; slot += UNROLL * BLOCK_THREADS)
	{
		uint32_t	community[UNROLL];
		uint32_t	key[UNROLL];

#pragma unroll
		for (uint32_t j = 0; j < UNROLL; j++)
			community[j] = table.key[slot + j * BLOCK_THREADS];
#pragma unroll
		for (uint32_t j = 0; j < UNROLL; j++)
			key[j] = community[j] != EMOGI_NO_VERTEX ? read_key(all, first_slot(community[j], all.shift)) : 0;	/* all are under way at once */
#pragma unroll
		for (uint32_t j = 0; j < UNROLL; j++)
			if (community[j] != EMOGI_NO_VERTEX)
				atomicAdd(&all.sum[take_slot(all, community[j], key[j])], (unsigned long long) table.sum[slot + j * BLOCK_THREADS]);
	}
}

/* Add up pieces of long lists, a block each, and add that to the tables of the lists. Dynamic shared memory: BLOCK_SLOTS keys and sums. */
template <class Rule, typename Sum>
static __global__ void __launch_bounds__(BLOCK_THREADS)
tally_pieces_kernel(Rule rule, const Long *longs, uint64_t nlongs, uint64_t npieces, Arena arena, Step step)
{
	extern __shared__ uint4 tally_shared[];
	const Table<Sum> table = {(uint32_t *) ((Sum *) tally_shared + BLOCK_SLOTS), (Sum *) tally_shared, (uint32_t) (31 - __clz(BLOCK_SLOTS))};

	for (uint64_t p = blockIdx.x; p < npieces; p += gridDim.x)
	{
		const Long	its = longs[find_long(longs, nlongs, &Long::piece, p)];
		typename Rule::Item item;
		uint64_t	from,
					upto;

		__syncthreads();
		if (__syncthreads_or(threadIdx.x == 0 && must_leave(step)))
			return;
		if (!rule.open(its.item, &item))
			continue;
		from = (p - its.piece) * BLOCK_ENTRIES;
		upto = from + BLOCK_ENTRIES < its.length ? from + BLOCK_ENTRIES : its.length;
		clear_table(table, threadIdx.x, BLOCK_THREADS);
		__syncthreads();
		rule.walk(item, from, upto, threadIdx.x, BLOCK_THREADS, [&](uint32_t community, long long weight) {
			add_weight(table, community, weight);
		});
		__syncthreads();
		add_table(long_table(arena, its), table);
	}
}

/* Look at slabs of the tables of long lists, a block each; what it finds is its own of arena.found. */
template <class Rule>
static __global__ void __launch_bounds__(BLOCK_THREADS)
tally_slabs_kernel(Rule rule, const Long *longs, uint64_t nlongs, uint64_t nslabs, Arena arena, Step step)
{
	__shared__ typename Rule::Item found[BLOCK_WARPS];

	static_assert(sizeof(typename Rule::Item) <= FOUND_BYTES, "what is found has its place");
	for (uint64_t s = blockIdx.x; s < nslabs; s += gridDim.x)
	{
		const Long	its = longs[find_long(longs, nlongs, &Long::slab, s)];
		const Table<unsigned long long> table = long_table(arena, its);
		const uint64_t from = (s - its.slab) * SLAB_SLOTS;
		const uint64_t slots = UINT64_C(1) << its.shift;
		typename Rule::Item item;

		__syncthreads();
		if (__syncthreads_or(threadIdx.x == 0 && must_leave(step)))
			return;
		if (!rule.open(its.item, &item))
			continue;
		rule.begin(&item, [&](uint32_t community) { return find_weight(table, community); });
		visit_table<true>(rule, &item, table, from, from + SLAB_SLOTS < slots ? from + SLAB_SLOTS : slots, threadIdx.x, BLOCK_THREADS,
						  FULL_WARP);
		merge_block(rule, &item, found);
		if (threadIdx.x == 0)
			*(typename Rule::Item *) (arena.found + s * FOUND_BYTES) = item;
	}
}

/* Bring together what was found in the slabs of long lists, a warp each. */
template <class Rule>
static __global__ void __launch_bounds__(BLOCK_THREADS)
tally_merge_kernel(Rule rule, const Long *longs, uint64_t nlongs, Arena arena)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;

	for (uint64_t x = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES; x < nlongs; x += nwarps)
	{
		const Long	its = longs[x];
		const Table<unsigned long long> table = long_table(arena, its);
		typename Rule::Item item;

		if (!rule.open(its.item, &item))
			continue;
		rule.begin(&item, [&](uint32_t community) { return find_weight(table, community); });
		for (uint64_t s = lane_number(); s * SLAB_SLOTS < UINT64_C(1) << its.shift; s += WARP_LANES)
			rule.merge_with(&item, *(const typename Rule::Item *) (arena.found + (its.slab + s) * FOUND_BYTES));
		rule.merge(&item, FULL_WARP, WARP_LANES);
		if (lane_number() == 0)
			rule.finish(item, its.item);
	}
}

/* ---- launches ---- */

/* Get the blocks for so many items, so many a block. */
static inline int
blocks_of(const Search *search, uint64_t count, uint32_t each, int resident)
{
	const uint64_t blocks = (count + each - 1) / each;
	const uint64_t most = (uint64_t) search->run->state->units * resident;

	return (int) (blocks < most ? blocks : most);
}

/* Look at the nodes of a batch whose lists fit in shared memory. */
template <class Rule, typename Sum>
static EmogiStatus
tally_short(Search *search, const Rule &rule, const unsigned long long *starts, EmogiError *error)
{
	const cudaStream_t stream = search->run->state->stream;
	const size_t slot_bytes = sizeof(uint32_t) + sizeof(Sum);

	if (starts[1] > starts[0])
		CUDA_LAUNCH_SHARED((tally_group_kernel<Rule, Sum, SHORT_LANES, SHORT_SLOTS>),
						   blocks_of(search, starts[1] - starts[0], BLOCK_THREADS / SHORT_LANES, 16), BLOCK_THREADS,
						   BLOCK_THREADS / SHORT_LANES * SHORT_SLOTS * slot_bytes, stream, rule, starts[0], starts[1], search->run->step);
	if (starts[2] > starts[1])
		CUDA_LAUNCH_SHARED((tally_group_kernel<Rule, Sum, WARP_LANES, WARP_SLOTS>), blocks_of(search, starts[2] - starts[1], BLOCK_WARPS, 16),
						   BLOCK_THREADS, BLOCK_WARPS * WARP_SLOTS * slot_bytes, stream, rule, starts[1], starts[2], search->run->step);
	if (starts[3] > starts[2])
		CUDA_LAUNCH_SHARED((tally_block_kernel<Rule, Sum>), blocks_of(search, starts[3] - starts[2], 1, 16), BLOCK_THREADS,
						   BLOCK_SLOTS * slot_bytes, stream, rule, starts[2], starts[3], search->run->step);
	return EMOGI_OK;
}

/* Look at long lists first .. end - 1, as many at a time as there is room for their tables, which are empty again then. */
template <class Rule, typename Sum>
static EmogiStatus
tally_long(Search *search, const Rule &rule, uint64_t first, uint64_t end, EmogiError *error)
{
	const cudaStream_t stream = search->run->state->stream;
	const Long *longs = search->order.longs.at;
	const Arena &arena = search->arena;

	while (first < end)
	{
		uint64_t	upto = first + 1;
		uint64_t	npieces,
					nslabs,
					nslots;

		while (upto < end && longs[upto].table > 0)
			upto++;
		npieces = longs[upto - 1].piece + (longs[upto - 1].length + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES;
		nslots = longs[upto - 1].table + (UINT64_C(1) << longs[upto - 1].shift);
		nslabs = longs[upto - 1].slab + count_slabs(longs[upto - 1].shift);
		CUDA_LAUNCH_SHARED((tally_pieces_kernel<Rule, Sum>), blocks_of(search, npieces, 1, 16), BLOCK_THREADS,
						   BLOCK_SLOTS * (sizeof(uint32_t) + sizeof(Sum)), stream, rule, search->longs + first, upto - first, npieces,
						   arena, search->run->step);
		CUDA_LAUNCH((tally_slabs_kernel<Rule>), blocks_of(search, nslabs, 1, 16), BLOCK_THREADS, stream, rule, search->longs + first, upto - first,
					nslabs, arena, search->run->step);
		CUDA_LAUNCH((tally_merge_kernel<Rule>), blocks_of(search, upto - first, BLOCK_WARPS, 16), BLOCK_THREADS, stream, rule,
					search->longs + first, upto - first, arena);
		CUDA_TRY(cudaMemsetAsync(arena.keys, 0xFF, nslots * sizeof *arena.keys, stream));
		CUDA_TRY(cudaMemsetAsync(arena.sums, 0, nslots * sizeof *arena.sums, stream));
		first = upto;
	}
	return EMOGI_OK;
}

/* Look at the nodes of batch b of the order. first_long: the long lists of the batches before; becomes that of this one, too. */
template <class Rule>
static EmogiStatus
tally_batch(Search *search, const Rule &rule, bool is_wide, uint32_t b, uint64_t *first_long, EmogiError *error)
{
	const unsigned long long *starts = search->order.starts.at + (uint64_t) b * NCLASSES;
	const uint64_t nlongs = starts[4] - starts[3];

	if (is_wide)
	{
		TRY((tally_short<Rule, unsigned long long>(search, rule, starts, error)));
		TRY((tally_long<Rule, unsigned long long>(search, rule, *first_long, *first_long + nlongs, error)));
	}
	else
	{
		TRY((tally_short<Rule, uint32_t>(search, rule, starts, error)));
		TRY((tally_long<Rule, uint32_t>(search, rule, *first_long, *first_long + nlongs, error)));
	}
	*first_long += nlongs;
	return EMOGI_OK;
}

/* Bring the kernels of a rule to the device, and let them have their shared memory. */
template <class Rule, typename Sum>
static EmogiStatus
load_short(EmogiError *error)
{
	const void *const kernels[] = {(const void *) tally_group_kernel<Rule, Sum, SHORT_LANES, SHORT_SLOTS>,
		(const void *) tally_group_kernel<Rule, Sum, WARP_LANES, WARP_SLOTS>, (const void *) tally_block_kernel<Rule, Sum>,
		(const void *) tally_pieces_kernel<Rule, Sum>};

	for (const void *kernel : kernels)
		CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BLOCK_SLOTS * 12));
	return LOAD_KERNELS(kernels);
}

/* The same of all its kernels. */
template <class Rule>
static EmogiStatus
load_tally(EmogiError *error)
{
	const void *const kernels[] = {(const void *) tally_slabs_kernel<Rule>, (const void *) tally_merge_kernel<Rule>};

	TRY((load_short<Rule, uint32_t>(error)));
	TRY((load_short<Rule, unsigned long long>(error)));
	return LOAD_KERNELS(kernels);
}

#endif							/* EMOGI_COMMUNITIES_TALLY_CUH */
