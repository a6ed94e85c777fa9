/*
 * communities_tally.cuh: sums weights by community for each node of a batch, in hash tables.
 *
 * The length of a node's list decides who processes it: SHORT_LANES lanes, a warp or a block, with
 * a table in shared memory. Long lists are cut into pieces, one block each; their tables are merged
 * into one in device memory, which blocks process slab by slab.
 *
 * A rule defines what is summed and how the sums are used:
 *   Item                       state of a node while it is processed
 *   bool open(i, item)         start with index i of the order; false = skip it
 *   uint64_t length(item)      entries of the list
 *   walk(item, from, upto, rank, stride, add)
 *                              call add(community, weight) for entries from .. upto - 1, with
 *                              `stride` threads
 *   SUMS                       no table: item.sum is the sum of (community + 1) * weight, and
 *                              only finish is called
 *   begin(item, find)          find(community) gets its weight
 *   COUNTS                     if set, count(item, mask, n) is called before a table is visited;
 *                              n: communities that the lane will visit
 *   look_up(community)         get the value that visit needs
 *   visit(item, mask, there, community, weight, known)
 *                              called by all lanes of mask; a lane without a community has
 *                              there = false
 *   merge(item, mask, lanes)   combine the results of lanes
 *   merge_with(item, other)    combine with the result of another item
 *   finish(item, i)            called by one thread
 *
 * Bytes: entries once, 4 at random an entry, and 8 at random for each community in a list.
 */
#ifndef EMOGI_COMMUNITIES_TALLY_CUH
#define EMOGI_COMMUNITIES_TALLY_CUH

#include "cuda/algorithms/communities_table.cuh"
#include "cuda/algorithms/communities_scan.cuh"

#define UNIT_ROUNDS 4			/* lists that a group of lanes processes in turn before its block
								 * takes the next unit */
#define POLL_ROUNDS 8			/* units of work of a block between two checks for cancellation */

/* ---- reduction of the best move ---- */

/* Combine the best moves of groups of `lanes` lanes. */
static __device__ __forceinline__ void
merge_best(EmogiBestCommunity *best, uint64_t salt, uint32_t mask, uint32_t lanes)
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

/* Get a table in the block's shared memory, `before` slots behind the first. */
template <typename Sum>
static __device__ __forceinline__ Table<Sum>
shared_table(uint32_t before, uint32_t shift)
{
	extern __shared__ uint4 tally_shared[];

	return Table<Sum>{(uint32_t *) ((Sum *) tally_shared + BLOCK_SLOTS) + before,
					  (Sum *) tally_shared + before, shift};
}

/*
 * Visit slots from .. upto - 1 of a table with `stride` threads, a multiple of the lanes in mask.
 * The number of slots is a multiple of `stride`. FAR: the table is in device memory, so sums are
 * loaded ahead, which costs registers.
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
			/* all loads are in flight at once */
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

/* Process a node with the lanes of mask and a table of their own. The first lane has the result. */
template <uint32_t LANES, class Rule, typename Sum>
static __device__ __forceinline__ void
tally_list(const Rule &rule, typename Rule::Item *item, Table<Sum> table, uint32_t rank,
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

/* Process nodes first .. end - 1 of the order, LANES lanes each. Called by the whole block. */
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
			tally_list<LANES>(rule, &item, shared_table<Sum>(group * SLOTS, 0), rank, mask);
		if (rank == 0)
			rule.finish(item, i);
		__syncwarp(mask);
	}
}

/* Combine the results of the warps of a block. The first thread has the result. */
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

/* Process a node with a block. The first thread has the result. */
template <class Rule, typename Sum>
static __device__ __forceinline__ void
tally_list_together(const Rule &rule, typename Rule::Item *item, Table<Sum> table)
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

/* Process one node of the order. Called by the whole block. */
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
		tally_list_together(rule, &item, shared_table<Sum>(0, 0));
	if (threadIdx.x == 0)
		rule.finish(item, i);
}

/* Get the last long list whose `field` is <= number. */
static __device__ __forceinline__ uint64_t
find_long(const LongList *longs, uint64_t nlongs, uint64_t LongList::*field, uint64_t number)
{
	uint64_t	low = 0;

	while (nlongs - low > 1)
	{
		const uint64_t middle = (low + nlongs) / 2;

		if (longs[middle].*field <= number)
			low = middle;
		else
			nlongs = middle;
	}
	return low;
}

/* Get the table of a long list. */
static __device__ __forceinline__ Table<unsigned long long>
long_table(const Arena &arena, const LongList &its)
{
	return Table<unsigned long long>{arena.keys + its.table, arena.sums + its.table, its.shift};
}

static_assert(BLOCK_SLOTS % (UNROLL * BLOCK_THREADS) == 0, "threads have as many slots each");

/* Add the sums of a table in shared memory to one in device memory. Called by the whole block. */
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
			/* all loads are in flight at once */
			key[j] = community[j] != EMOGI_NO_VERTEX ?
				read_key(all, first_slot(community[j], all.shift)) : 0;
#pragma unroll
		for (uint32_t j = 0; j < UNROLL; j++)
			if (community[j] != EMOGI_NO_VERTEX)
				atomicAdd(&all.sum[take_slot(all, community[j], key[j])],
						  (unsigned long long) table.sum[slot + j * BLOCK_THREADS]);
	}
}

/*
 * Sum piece p of the long lists, and add the sums to the table of its list, or with SUMS to the
 * table's first sum. Called by the whole block.
 */
template <class Rule, typename Sum>
static __device__ __forceinline__ void
tally_piece(const Rule &rule, const LongList *longs, uint64_t nlongs, uint64_t p,
			const Arena &arena)
{
	const LongList its = longs[find_long(longs, nlongs, &LongList::piece, p)];
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

/*
 * Work of tally_kernel, in units of a block: pieces of long lists, then lists that fit in shared
 * memory, the longest first.
 */
typedef struct TallyWork
{
	const LongList *longs;
	uint64_t	nlongs;
	uint64_t	npieces;
	/* indexes in the order where the classes begin; the last is the end of the third class */
	uint64_t	starts[NCLASSES];
	uint64_t	warp_lists;		/* lists in a unit */
	uint64_t	short_lists;
	uint64_t	warp_units;		/* first unit of this class */
	uint64_t	short_units;
	uint64_t	nunits;
} TallyWork;

/*
 * Sum the pieces of long lists, and process the lists of a batch that fit in shared memory. Dynamic
 * shared memory: BLOCK_SLOTS keys and sums; none for rules with SUMS.
 */
template <class Rule, typename Sum>
static __global__ void __launch_bounds__(BLOCK_THREADS)
tally_kernel(Rule rule, TallyWork work, Arena arena, Step step)
{
	uint32_t	round = 0;

	for (uint64_t u = blockIdx.x; u < work.nunits; u += gridDim.x, round++)
	{
		/* The barrier also ends all use of the shared memory. */
		if (__syncthreads_or(threadIdx.x == 0 && round % POLL_ROUNDS == POLL_ROUNDS - 1 &&
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

/*
 * Process slabs of the tables of long lists, one block each. The result of slab s goes to
 * arena.found[s].
 */
template <class Rule>
static __global__ void __launch_bounds__(BLOCK_THREADS)
tally_slabs_kernel(Rule rule, const LongList *longs, uint64_t nlongs, uint64_t nslabs, Arena arena,
				   Step step)
{
	__shared__ typename Rule::Item found[BLOCK_WARPS];

	static_assert(sizeof(typename Rule::Item) <= FOUND_BYTES, "what is found has its place");
	for (uint64_t s = blockIdx.x; s < nslabs; s += gridDim.x)
	{
		const LongList its = longs[find_long(longs, nlongs, &LongList::slab, s)];
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

/* Combine the results of the slabs of long lists, one warp a list. */
template <class Rule>
static __global__ void __launch_bounds__(BLOCK_THREADS)
tally_merge_kernel(Rule rule, const LongList *longs, uint64_t nlongs, Arena arena, Step step)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;

	if (is_halted(step))
		return;					/* not all slabs were processed */
	for (uint64_t x = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES; x < nlongs;
		 x += nwarps)
	{
		const LongList its = longs[x];
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

/* Finish the long lists of rules with SUMS, one thread each, and reset their sums to 0. */
template <class Rule>
static __global__ void __launch_bounds__(BLOCK_THREADS)
tally_sums_kernel(Rule rule, const LongList *longs, uint64_t nlongs, Arena arena)
{
	for_each(nlongs, [&](uint64_t x) {
		const LongList its = longs[x];
		typename Rule::Item item;

		if (!rule.open(its.item, &item))
			return;
		item.sum = (long long) arena.sums[its.table];
		arena.sums[its.table] = 0;
		rule.finish(item, its.item);
	});
}

/* ---- launches ---- */

/* Get the grid size for `count` items, `each` items a block. */
static inline int
blocks_of(const Search *search, uint64_t count, uint32_t each, int resident)
{
	const uint64_t blocks = (count + each - 1) / each;
	const uint64_t max = (uint64_t) search->run->state->units * resident;

	return (int) (blocks < max ? blocks : max);
}

/*
 * Get the number of lists in a unit of `groups` groups: fewer if not all blocks would get a unit.
 */
static inline uint64_t
lists_of_unit(const Search *search, uint64_t count, uint64_t groups)
{
	const uint64_t rounds = count / (groups * search->run->state->units * 4);

	return groups * (rounds < 1 ? 1 : rounds < UNIT_ROUNDS ? rounds : UNIT_ROUNDS);
}

/*
 * Launch tally_kernel for long lists first .. upto - 1 and, unless starts is NULL, for the lists of
 * a batch that fit in shared memory.
 */
template <class Rule, typename Sum>
static EmogiStatus
launch_tally(Search *search, const Rule &rule, const unsigned long long *starts, uint64_t first,
			 uint64_t upto, EmogiError *error)
{
	const size_t bytes = Rule::SUMS ? 0 : BLOCK_SLOTS * (sizeof(uint32_t) + sizeof(Sum));
	TallyWork	work = {search->longs + first, upto - first};

	if (upto > first)
	{
		const LongList &last = search->order.longs.at[upto - 1];

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
	if (bytes > 0)
		CUDA_TRY(cudaFuncSetAttribute((const void *) tally_kernel<Rule, Sum>,
									  cudaFuncAttributeMaxDynamicSharedMemorySize, (int) bytes));
	CUDA_LAUNCH_SHARED((tally_kernel<Rule, Sum>), blocks_of(search, work.nunits, 1, 16),
					   BLOCK_THREADS, bytes, search->run->state->stream, rule, work, search->arena,
					   search->run->step);
	return EMOGI_OK;
}

/* Process the tables of long lists first .. upto - 1, and clear them. */
template <class Rule>
static EmogiStatus
finish_tables(Search *search, const Rule &rule, uint64_t first, uint64_t upto, EmogiError *error)
{
	const cudaStream_t stream = search->run->state->stream;
	const Arena &arena = search->arena;
	const LongList &last = search->order.longs.at[upto - 1];

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

/*
 * Process the nodes of a batch; its long lists first .. end - 1 as many at a time as their tables
 * fit.
 */
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
			TRY(finish_tables(search, rule, first, upto, error));
		first = upto;
		starts = NULL;
	} while (first < end);
	return EMOGI_OK;
}

/*
 * Process the nodes of batch b of the order. *first_long: number of long lists in earlier batches;
 * advanced past this batch.
 */
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

#endif							/* EMOGI_COMMUNITIES_TALLY_CUH */
