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
 *   SUMS                            communities are not told apart: item.sum is the sum of (community + 1) * weight, finish alone follows
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

#include "cuda/algorithms/communities_table.cuh"
#include "cuda/algorithms/communities_walk.cuh"

#define UNIT_ROUNDS 4			/* lists that a group of lanes looks at, one after the other, before its block takes others */
#define LOOK_ROUNDS 8			/* units after which a block looks whether it must leave */

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

/* Get a table in the block's shared memory, of which others have that many slots before it. */
template <typename Sum>
static __device__ __forceinline__ Table<Sum>
shared_table(uint32_t before, uint32_t shift)
{
	extern __shared__ uint4 tally_shared[];

	return Table<Sum>{(uint32_t *) ((Sum *) tally_shared + BLOCK_SLOTS) + before,
					  (Sum *) tally_shared + before, shift};
}

/*
 * Visit places from .. upto - 1 of a table, by `stride` threads, a multiple of those in mask, of which the places are a multiple. FAR: it is in
 * device memory, so sums are read ahead, which takes registers.
 */
template <bool FAR, class Rule, typename Sum>
static __device__ __forceinline__ void
visit_table(const Rule &rule, typename Rule::Item *item, const Table<Sum> &table, uint64_t from,
			uint64_t upto, uint32_t rank, uint32_t stride, uint32_t mask)
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
			weight[j] = FAR && key[j] != EMOGI_NO_VERTEX ?
				(long long) table.sum[base + j * stride] : 0;
			/* all are under way at once */
			known[j] = key[j] != EMOGI_NO_VERTEX ? rule.look_up(key[j]) : 0;
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

/* Find out about a node by the lanes of mask, with a table of their own; the first has it. */
template <uint32_t LANES, class Rule, typename Sum>
static __device__ __forceinline__ void
look_at_list(const Rule &rule, typename Rule::Item *item, Table<Sum> table, uint32_t rank,
			 uint32_t mask)
{
	table.shift = slots_shift(rule.length(*item), 5);
	clear_table(table, rank, LANES);
	__syncwarp(mask);
	rule.walk(*item, 0, rule.length(*item), rank, LANES, [&](uint32_t community, long long weight) {
		add_weight(table, community, weight);
	});
	__syncwarp(mask);
	rule.begin(item, [&](uint32_t community) { return find_weight(table, community); });
	visit_table<false>(rule, item, table, 0, UINT64_C(1) << table.shift, rank, LANES, mask);
	rule.merge(item, mask, LANES);
}

/* Look at places first .. end - 1 of the order, LANES lanes each. Whole block. */
template <class Rule, typename Sum, uint32_t LANES, uint32_t SLOTS>
static __device__ __forceinline__ void
tally_groups(const Rule &rule, uint64_t first, uint64_t end)
{
	constexpr uint32_t GROUPS = BLOCK_THREADS / LANES;
	const uint32_t group = threadIdx.x / LANES;
	const uint32_t rank = threadIdx.x % LANES;
	const uint32_t mask = LANES == WARP_LANES ? FULL_WARP :
		((1u << LANES % WARP_LANES) - 1) << lane_number() / LANES * LANES;

	static_assert(GROUPS * SLOTS == BLOCK_SLOTS, "groups share what a block has");
	for (uint64_t i = first + group; i < end; i += GROUPS)
	{
		typename Rule::Item item;

		if (!rule.open(i, &item))
			continue;
		if constexpr (Rule::SUMS)
			item.sum = sum_entries(rule, item, 0, rule.length(item), rank, LANES, mask);
		else
			look_at_list<LANES>(rule, &item, shared_table<Sum>(group * SLOTS, 0), rank, mask);
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

/* Find out about a node by a block; the first thread has it. */
template <class Rule, typename Sum>
static __device__ __forceinline__ void
look_at_list_together(const Rule &rule, typename Rule::Item *item, Table<Sum> table)
{
	__shared__ typename Rule::Item found[BLOCK_WARPS];

	table.shift = slots_shift(rule.length(*item), 9);
	clear_table(table, threadIdx.x, BLOCK_THREADS);
	__syncthreads();
	rule.walk(*item, 0, rule.length(*item), threadIdx.x, BLOCK_THREADS,
			  [&](uint32_t community, long long weight) {
		add_weight(table, community, weight);
	});
	__syncthreads();
	rule.begin(item, [&](uint32_t community) { return find_weight(table, community); });
	visit_table<false>(rule, item, table, 0, UINT64_C(1) << table.shift, threadIdx.x, BLOCK_THREADS,
					   FULL_WARP);
	merge_block(rule, item, found);
}

/* Look at a place of the order. Whole block. */
template <class Rule, typename Sum>
static __device__ __forceinline__ void
tally_block(const Rule &rule, uint64_t i)
{
	typename Rule::Item item;

	if (!rule.open(i, &item))
		return;
	if constexpr (Rule::SUMS)
		item.sum = sum_entries_together(rule, item, 0, rule.length(item));
	else
		look_at_list_together(rule, &item, shared_table<Sum>(0, 0));
	if (threadIdx.x == 0)
		rule.finish(item, i);
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
			/* all are under way at once */
			key[j] = community[j] != EMOGI_NO_VERTEX ?
				read_key(all, first_slot(community[j], all.shift)) : 0;
#pragma unroll
		for (uint32_t j = 0; j < UNROLL; j++)
			if (community[j] != EMOGI_NO_VERTEX)
				atomicAdd(&all.sum[take_slot(all, community[j], key[j])],
						  (unsigned long long) table.sum[slot + j * BLOCK_THREADS]);
	}
}

/* Add up piece p of some long lists, and add that to the table of its list, or its first sum. Whole block. */
template <class Rule, typename Sum>
static __device__ __forceinline__ void
tally_piece(const Rule &rule, const Long *longs, uint64_t nlongs, uint64_t p, const Arena &arena)
{
	const Long	its = longs[find_long(longs, nlongs, &Long::piece, p)];
	const uint64_t from = (p - its.piece) * BLOCK_ENTRIES;
	const uint64_t upto = from + BLOCK_ENTRIES < its.length ? from + BLOCK_ENTRIES : its.length;
	typename Rule::Item item;

	if (!rule.open(its.item, &item))
		return;
	if constexpr (Rule::SUMS)
	{
		const long long sum = sum_entries_together(rule, item, from, upto);

		if (threadIdx.x == 0)
			add_units((long long *) &arena.sums[its.table], sum);
	}
	else
	{
		const Table<Sum> table = shared_table<Sum>(0, (uint32_t) (31 - __clz(BLOCK_SLOTS)));

		clear_table(table, threadIdx.x, BLOCK_THREADS);
		__syncthreads();
		rule.walk(item, from, upto, threadIdx.x, BLOCK_THREADS,
				  [&](uint32_t community, long long weight) {
			add_weight(table, community, weight);
		});
		__syncthreads();
		add_table(long_table(arena, its), table);
	}
}

/* What there is to do, in units of a block: pieces of long lists, then lists that fit in shared memory, the longest first. */
typedef struct TallyWork
{
	const Long *longs;
	uint64_t	nlongs;
	uint64_t	npieces;
	/* places of the order where the classes begin, and where the third ends */
	uint64_t	starts[NCLASSES];
	uint64_t	warp_lists;		/* of a unit */
	uint64_t	short_lists;
	uint64_t	warp_units;		/* the first of those */
	uint64_t	short_units;
	uint64_t	nunits;
} TallyWork;

/*
 * Add up weights of pieces of long lists, and look at the lists of a batch that fit in shared memory. Dynamic shared memory: BLOCK_SLOTS keys
 * and sums, but of rules that have SUMS none.
 */
template <class Rule, typename Sum>
static __global__ void __launch_bounds__(BLOCK_THREADS)
tally_kernel(Rule rule, TallyWork work, Arena arena, Step step)
{
	uint32_t	round = 0;

	for (uint64_t u = blockIdx.x; u < work.nunits; u += gridDim.x, round++)
	{
		/* The shared memory is nobody's any more. */
		if (__syncthreads_or(threadIdx.x == 0 && round % LOOK_ROUNDS == LOOK_ROUNDS - 1 &&
							 must_leave(step)))
			return;
		if (u < work.npieces)
			tally_piece<Rule, Sum>(rule, work.longs, work.nlongs, u, arena);
		else if (u < work.warp_units)
			tally_block<Rule, Sum>(rule, work.starts[2] + u - work.npieces);
		else if (u < work.short_units)
		{
			const uint64_t first = work.starts[1] + (u - work.warp_units) * work.warp_lists;

			tally_groups<Rule, Sum, WARP_LANES,
				WARP_SLOTS>(rule, first, first + work.warp_lists < work.starts[2] ?
							first + work.warp_lists : work.starts[2]);
		}
		else
		{
			const uint64_t first = work.starts[0] + (u - work.short_units) * work.short_lists;

			tally_groups<Rule, Sum, SHORT_LANES,
				SHORT_SLOTS>(rule, first, first + work.short_lists < work.starts[1] ?
							 first + work.short_lists : work.starts[1]);
		}
	}
}

/* Look at slabs of the tables of long lists, a block each; what it finds is its own of arena.found. */
template <class Rule>
static __global__ void __launch_bounds__(BLOCK_THREADS)
tally_slabs_kernel(Rule rule, const Long *longs, uint64_t nlongs, uint64_t nslabs, Arena arena,
				   Step step)
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
		visit_table<true>(rule, &item, table, from,
						  from + SLAB_SLOTS < slots ? from + SLAB_SLOTS : slots, threadIdx.x,
						  BLOCK_THREADS, FULL_WARP);
		merge_block(rule, &item, found);
		if (threadIdx.x == 0)
			*(typename Rule::Item *) (arena.found + s * FOUND_BYTES) = item;
	}
}

/* Bring together what was found in the slabs of long lists, a warp each. */
template <class Rule>
static __global__ void __launch_bounds__(BLOCK_THREADS)
tally_merge_kernel(Rule rule, const Long *longs, uint64_t nlongs, Arena arena, Step step)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;

	if (is_halted(step))
		return;					/* not all slabs have been looked at */
	for (uint64_t x = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES; x < nlongs;
		 x += nwarps)
	{
		const Long	its = longs[x];
		const Table<unsigned long long> table = long_table(arena, its);
		typename Rule::Item item;

		if (!rule.open(its.item, &item))
			continue;
		rule.begin(&item, [&](uint32_t community) { return find_weight(table, community); });
		for (uint64_t s = lane_number(); s * SLAB_SLOTS < UINT64_C(1) << its.shift; s += WARP_LANES)
			rule.merge_with(&item, *(const typename Rule::Item *) (arena.found +
																   (its.slab + s) * FOUND_BYTES));
		rule.merge(&item, FULL_WARP, WARP_LANES);
		if (lane_number() == 0)
			rule.finish(item, its.item);
	}
}

/* Have done with the sums of long lists, a thread each, and leave 0 there. */
template <class Rule>
static __global__ void __launch_bounds__(BLOCK_THREADS)
tally_sums_kernel(Rule rule, const Long *longs, uint64_t nlongs, Arena arena)
{
	for_each(nlongs, [&](uint64_t x) {
		const Long	its = longs[x];
		typename Rule::Item item;

		if (!rule.open(its.item, &item))
			return;
		item.sum = (long long) arena.sums[its.table];
		arena.sums[its.table] = 0;
		rule.finish(item, its.item);
	});
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

/* Get how many lists a unit of so many groups has, where there are so many: few where all blocks could not have one. */
static inline uint64_t
lists_of_unit(const Search *search, uint64_t count, uint64_t groups)
{
	const uint64_t rounds = count / (groups * search->run->state->units * 4);

	return groups * (rounds < 1 ? 1 : rounds < UNIT_ROUNDS ? rounds : UNIT_ROUNDS);
}

/* Launch what adds up weights of long lists first .. upto - 1, and looks at the nodes of a batch whose lists fit in shared memory, if any. */
template <class Rule, typename Sum>
static EmogiStatus
launch_tally(Search *search, const Rule &rule, const unsigned long long *starts, uint64_t first,
			 uint64_t upto, EmogiError *error)
{
	const size_t bytes = Rule::SUMS ? 0 : BLOCK_SLOTS * (sizeof(uint32_t) + sizeof(Sum));
	TallyWork	work = {search->longs + first, upto - first};

	if (upto > first)
	{
		const Long &last = search->order.longs.at[upto - 1];

		work.npieces = last.piece + (last.length + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES;
	}
	for (uint32_t c = 0; starts != NULL && c < NCLASSES; c++)
		work.starts[c] = starts[c];
	work.warp_lists = lists_of_unit(search, work.starts[2] - work.starts[1], BLOCK_WARPS);
	work.short_lists = lists_of_unit(search, work.starts[1] - work.starts[0],
									 BLOCK_THREADS / SHORT_LANES);
	work.warp_units = work.npieces + work.starts[3] - work.starts[2];
	work.short_units = work.warp_units +
		(work.starts[2] - work.starts[1] + work.warp_lists - 1) / work.warp_lists;
	work.nunits = work.short_units + (work.starts[1] - work.starts[0] + work.short_lists - 1) /
		work.short_lists;
	if (work.nunits == 0)
		return EMOGI_OK;
	CUDA_LAUNCH_SHARED((tally_kernel<Rule, Sum>), blocks_of(search, work.nunits, 1, 16),
					   BLOCK_THREADS, bytes, search->run->state->stream, rule, work, search->arena,
					   search->run->step);
	return EMOGI_OK;
}

/* Look at the tables of long lists first .. upto - 1, which are empty again then. */
template <class Rule>
static EmogiStatus
look_at_tables(Search *search, const Rule &rule, uint64_t first, uint64_t upto, EmogiError *error)
{
	const cudaStream_t stream = search->run->state->stream;
	const Arena &arena = search->arena;
	const Long &last = search->order.longs.at[upto - 1];

	if constexpr (Rule::SUMS)
		LAUNCH_EACH(tally_sums_kernel<Rule>, search, upto - first, rule, search->longs + first,
					upto - first, arena);
	else
	{
		const uint64_t nslots = last.table + (UINT64_C(1) << last.shift);
		const uint64_t nslabs = last.slab + count_slabs(last.shift);

		CUDA_LAUNCH((tally_slabs_kernel<Rule>), blocks_of(search, nslabs, 1, 16), BLOCK_THREADS,
					stream, rule, search->longs + first, upto - first, nslabs, arena,
					search->run->step);
		CUDA_LAUNCH((tally_merge_kernel<Rule>), blocks_of(search, upto - first, BLOCK_WARPS, 16),
					BLOCK_THREADS, stream, rule, search->longs + first, upto - first, arena,
					search->run->step);
		CUDA_TRY(cudaMemsetAsync(arena.keys, 0xFF, nslots * sizeof *arena.keys, stream));
		CUDA_TRY(cudaMemsetAsync(arena.sums, 0, nslots * sizeof *arena.sums, stream));
	}
	return EMOGI_OK;
}

/* Look at the nodes of a batch, its long lists first .. end - 1 as many at a time as there is room for their tables. */
template <class Rule, typename Sum>
static EmogiStatus
tally_lists(Search *search, const Rule &rule, const unsigned long long *starts, uint64_t first,
			uint64_t end, EmogiError *error)
{
	do
	{
		uint64_t	upto = first < end ? first + 1 : end;

		while (upto < end && search->order.longs.at[upto].table > 0)
			upto++;
		TRY((launch_tally<Rule, Sum>(search, rule, starts, first, upto, error)));
		if (upto > first)
			TRY(look_at_tables(search, rule, first, upto, error));
		first = upto;
		starts = NULL;
	} while (first < end);
	return EMOGI_OK;
}

/* Look at the nodes of batch b of the order. first_long: the long lists of the batches before; becomes that of this one, too. */
template <class Rule>
static EmogiStatus
tally_batch(Search *search, const Rule &rule, bool is_wide, uint32_t b, uint64_t *first_long,
			EmogiError *error)
{
	const unsigned long long *starts = search->order.starts.at + (uint64_t) b * NCLASSES;
	const uint64_t first = *first_long;

	*first_long += starts[4] - starts[3];
	return is_wide ? tally_lists<Rule, unsigned long long>(search, rule, starts, first, *first_long,
														   error) :
		tally_lists<Rule, uint32_t>(search, rule, starts, first, *first_long, error);
}

/* Bring the kernels of a rule to the device, and let them have their shared memory. */
template <class Rule>
static EmogiStatus
load_tally(EmogiError *error)
{
	const void *const kernels[] = {(const void *) tally_kernel<Rule, uint32_t>,
								   (const void *) tally_kernel<Rule, unsigned long long>};

	for (const void *kernel : kernels)
		CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
									  BLOCK_SLOTS * 12));
	TRY(LOAD_KERNELS(kernels));
	if constexpr (Rule::SUMS)
	{
		const void *const of_longs[] = {(const void *) tally_sums_kernel<Rule>};

		return LOAD_KERNELS(of_longs);
	}
	else
	{
		const void *const of_longs[] = {(const void *) tally_slabs_kernel<Rule>,
										(const void *) tally_merge_kernel<Rule>};

		return LOAD_KERNELS(of_longs);
	}
}

#endif							/* EMOGI_COMMUNITIES_TALLY_CUH */
