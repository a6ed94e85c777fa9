/*
 * persistent.cuh: persistent kernels, which run many small steps in one launch, for graphs of high
 * diameter, where kernel launches dominate the cost of a step.
 *
 * The frontier is a queue in device memory. A queue item holds the location of a vertex's adjacency
 * list, which is read when the vertex is discovered, together with the data that decides whether
 * the vertex is new. So the critical path of a step is an item, a target, the target's state, a
 * slot in the other queue, and a barrier. The number of edges in the frontier determines which
 * threads run the step:
 *   warp   up to WARP_LANES edges: one warp, which keeps the items in registers and needs no
 *          barrier
 *   block  up to BLOCK_STEP_EDGES: the first block, with __syncthreads as barrier
 *   grid   up to the queue's capacity: all blocks, with a barrier in device memory that also
 *          carries the sums of what they found
 *
 * Idle threads wait in the same launch, so a frontier may grow and shrink freely. A larger frontier
 * leaves the kernel for ordinary (wide) steps, and returns when it is half as large. Edges are
 * distributed evenly over threads, regardless of list boundaries: over all blocks up to
 * PERSISTENT_THREADS items, beyond that within a block, and blocks take the items round-robin.
 *
 * An algorithm supplies a struct, Search:
 *   Weight, Item
 *       the type of the weights that it reads, NoWeight for none; QueueItem or a struct derived
 *       from it
 *   own(item)
 *       read the state that decides whether an item is still valid
 *   visit(item, own, target, weight, step, fresh)
 *       process an edge: return what becomes of the target, and fill the fields that Item adds to
 *       QueueItem
 *   PILES
 *       whether there is a pile of postponed vertices. If so:
 *   claim(waits, item)
 *       by whole warps: reserve places on the pile; return the first of them in lane 0
 *   wait(waits, item, place)
 *       by whole warps: write items to those places
 *   piled()
 *       return the number of items on the pile
 *   refill(walk)
 *       build the next frontier from the pile; return false if the kernel cannot do this
 *   publish(), adopt()
 *       write to and read from device memory the state that refill changes
 *
 * Bytes, per discovered vertex: 16 of offsets, and its item twice; per edge: the target, a random
 * read unless it follows the previous one, and the reads of own and visit. Their latency determines
 * the cost.
 */
#ifndef EMOGI_PERSISTENT_CUH
#define EMOGI_PERSISTENT_CUH

#include "cuda/access/persistent_queue.cuh"

/*
 * Lay out the block's items, at most one per thread: compute a prefix sum over their edges. Return
 * the number of edges.
 */
template <class Item>
static __device__ __forceinline__ uint32_t
lay_out(PersistentBlock<Item> *block, const Item &item)
{
	const uint32_t warp = threadIdx.x / WARP_LANES;
	const uint32_t upto = warp_prefix_sum(item.length);
	uint32_t	sums;
	uint32_t	before;

	block->item[threadIdx.x] = item;
	if (lane_number() == WARP_LANES - 1)
		block->warp_upto[warp] = upto;
	__syncthreads();
	sums = warp_prefix_sum(lane_number() < PERSISTENT_WARPS ? block->warp_upto[lane_number()] : 0);
	before = __shfl_sync(FULL_WARP, sums, warp > 0 ? warp - 1 : 0);
	block->upto[threadIdx.x] = upto + (warp > 0 ? before : 0);
	__syncthreads();
	return __shfl_sync(FULL_WARP, sums, WARP_LANES - 1);
}

/* Store discovered items: near ones in the next queue, far ones on the pile. Whole warps. */
template <class Search>
static __device__ __forceinline__ void
put_items(Walk<Search> &walk, bool near, bool far, const typename Search::Item &item)
{
	const uint32_t slot = claim_slots(walk, near, item);
	uint32_t	place = 0;

	if constexpr (Search::PILES)
		place = walk.search.claim(far, item);	/* both reservations are in flight together */
	fill_slots(walk, near, item, slot);
	if constexpr (Search::PILES)
		walk.search.wait(far, item, place);
}

/* Expand the items laid out: every stride-th edge from `first` on. Whole warps. */
template <class Search>
static __device__ __forceinline__ void
expand(Walk<Search> &walk, uint32_t nitems, uint32_t nentries, uint32_t first, uint32_t stride)
{
	const PersistentBlock<typename Search::Item> *block = walk.block;

	for (uint32_t base = first + threadIdx.x - lane_number(); base < nentries; base += stride)
	{
		const uint32_t e = base + lane_number();
		typename Search::Item fresh = {};
		uint32_t	low = 0;	/* the first item with upto > e */
		uint32_t	high = nitems - 1;
		VisitOutcome		fate;

		while (low < high)
		{
			const uint32_t middle = (low + high) / 2;

			if (block->upto[middle] > e)
				high = middle;
			else
				low = middle + 1;
		}
		fate = look(walk, block->item[low], block->item[low].start +
					(e - (low > 0 ? block->upto[low - 1] : 0)), e < nentries, &fresh);
		walk.found += fate == FATE_NEAR;
		put_items(walk, fate == FATE_NEAR, fate == FATE_FAR, fresh);
	}
}

/* Return how many of n items belong to this block if blocks take chunks of items round-robin. */
static __device__ __forceinline__ uint32_t
count_own(uint32_t n, uint32_t nblocks)
{
	const uint32_t round = CHUNK_ITEMS * nblocks;
	const uint32_t rest = n % round;
	const uint32_t before = blockIdx.x * CHUNK_ITEMS;
	const uint32_t own = rest > before ? rest - before : 0;

	return n / round * CHUNK_ITEMS + (own < CHUNK_ITEMS ? own : CHUNK_ITEMS);
}

/* Run a step with this block, or with all blocks. */
template <class Search>
static __device__ void
step_blocks(Walk<Search> &walk)
{
	typedef typename Search::Item Item;
	/* Every block lays out all items and takes its share of the edges. */
	const bool	together = walk.items <= PERSISTENT_THREADS;
	const uint32_t nown = together ? walk.items : count_own(walk.items, walk.nblocks);
	const uint32_t all = together ? walk.nblocks * PERSISTENT_THREADS : PERSISTENT_THREADS;
	uint32_t	stop = 0;

	begin_turn(walk);
	if (walk.nblocks > 1 && walk.steps % STOP_STEPS == 0 && blockIdx.x == 0 && threadIdx.x == 0)
		stop = *walk.launch.stop;	/* read over the link while the step runs */
	for (uint32_t base = 0; base < nown; base += PERSISTENT_THREADS)
	{
		const uint32_t i = base + threadIdx.x;
		const uint32_t chunk = i / CHUNK_ITEMS * walk.nblocks + blockIdx.x;
		Item		item = {};
		uint32_t	nentries;

		if (i < nown)
			item = load_item(&frontier_queue(walk, walk.now)[together ? i : chunk * CHUNK_ITEMS +
															 i % CHUNK_ITEMS]);
		if (!together || blockIdx.x == 0)
			count_item(walk, item);
		if (base > 0)
			__syncthreads();	/* the previous layout is no longer read */
		nentries = lay_out(walk.block, item);
		expand(walk, nown - base < PERSISTENT_THREADS ? nown - base : PERSISTENT_THREADS, nentries,
			   together ? blockIdx.x * PERSISTENT_THREADS : 0, all);
	}
	walk.steps++;
	walk.spent += walk.entries;
	end_turn(walk, stop);
}

/*
 * Traverse the lists of the items in the lanes, one edge per lane. Return the item that this lane
 * discovers; *there says whether there is one.
 */
template <class Search>
static __device__ __forceinline__ typename Search::Item
follow(Walk<Search> &walk, const typename Search::Item &item, uint32_t total, bool *there)
{
	const uint32_t filled = __ballot_sync(FULL_WARP, item.length > 0);
	uint32_t	owner = __ffs(filled) - 1;
	uint32_t	before = 0;
	typename Search::Item fresh = {};
	typename Search::Item own;
	VisitOutcome		fate;

	if ((filled & (filled - 1)) != 0)
	{
		const uint32_t upto = warp_prefix_sum(item.length);

		owner = 0;				/* the first lane with upto > lane_number() */
#pragma unroll
		for (uint32_t step = WARP_LANES / 2; step > 0; step /= 2)
			if (__shfl_sync(FULL_WARP, upto, owner + step - 1) <= lane_number())
				owner += step;
		before = __shfl_sync(FULL_WARP, upto - item.length, owner);
	}
	own = shuffle_item(item, owner);
	fate = look(walk, own, own.start + (lane_number() - before), lane_number() < total, &fresh);
	if constexpr (Search::PILES)
		walk.search.wait(fate == FATE_FAR, fresh, walk.search.claim(fate == FATE_FAR, fresh));
	*there = fate == FATE_NEAR;
	if (!*there)
		fresh.length = 0;
	return fresh;
}

/*
 * Return the number of edges of the items in the lanes; numbers above WARP_LANES are not
 * distinguished.
 */
static __device__ __forceinline__ uint32_t
count_entries(const QueueItem &item)
{
	return __reduce_add_sync(FULL_WARP, item.length <= WARP_LANES ? item.length : WARP_LANES + 1);
}

/* Run steps with the first warp of the block while they are small enough. */
template <class Search>
static __device__ void
step_warp(Walk<Search> &walk)
{
	PersistentBlock<typename Search::Item> *block = walk.block;

	begin_turn(walk);
	if (threadIdx.x < WARP_LANES)
	{
		typename Search::Item item = {};
		bool		there = lane_number() < walk.items;
		uint32_t	total = walk.entries;

		if (there)
			item = load_item(&frontier_queue(walk, walk.now)[lane_number()]);
		do
		{
			count_item(walk, item);
			item = follow(walk, item, total, &there);
			walk.found += there;
			walk.steps++;
			walk.spent += total;
			total = count_entries(item);
		} while (total > 0 && total <= WARP_LANES && walk.steps < walk.launch.max_steps);
		if (lane_number() == 0)
		{
			block->steps = walk.steps;
			block->spent = walk.spent;
		}
		fill_slots(walk, there, item, claim_slots(walk, there, item));
	}
	__syncthreads();
	walk.steps = block->steps;
	walk.spent = block->spent;
	end_turn(walk, 0);
}

/* Return whether the first block should run the next step alone. */
template <class Search>
static __device__ __forceinline__ bool
is_small(const Walk<Search> &walk)
{
	if constexpr (Search::PILES)
		if (walk.entries == 0)
			return walk.search.piled() <= BLOCK_STEP_EDGES;
	return walk.entries <= BLOCK_STEP_EDGES && walk.items <= PERSISTENT_THREADS;
}

/* Run the next step, or decide to leave the kernel. */
template <class Search>
static __device__ void
take_step(Walk<Search> &walk)
{
	const PersistentLaunch<typename Search::Item> &launch = walk.launch;

	if (walk.steps >= launch.max_steps || walk.entries > launch.capacity ||
		walk.items + walk.entries / ENTRIES > launch.max_lines)
		walk.leave = true;
	else if (walk.entries == 0)
	{
		walk.leave = true;
		if constexpr (Search::PILES)
			walk.leave = !walk.search.refill(walk);
	}
	else if (walk.nblocks == 1 && walk.entries <= WARP_LANES && walk.items <= WARP_LANES)
		step_warp(walk);
	else
		step_blocks(walk);
}

/* Write the traversal's state for waiting blocks, the next launch and the host. */
template <class Search>
static __device__ void
publish(const Walk<Search> &walk)
{
	Counters   *counters = walk.launch.counters;

	counters->now = walk.now;
	counters->steps = walk.steps;
	counters->spent = walk.spent;
	if constexpr (Search::PILES)
		walk.search.publish();
}

/* Read the state from the first block. */
template <class Search>
static __device__ void
adopt(Walk<Search> &walk)
{
	const Counters *counters = walk.launch.counters;

	walk.now = __ldcg(&counters->now);
	walk.steps = __ldcg(&counters->steps);
	walk.spent = __ldcg(&counters->spent);
	if constexpr (Search::PILES)
		walk.search.adopt();
}

/*
 * Let the first block continue alone while the steps are small; all other blocks wait for it and
 * then read its state.
 */
template <class Search>
static __device__ void
walk_in_first_block(Walk<Search> &walk)
{
	walk.nblocks = 1;
	if (blockIdx.x == 0)
	{
		do
			take_step(walk);
		while (!walk.leave && (is_small(walk) || gridDim.x == 1));
		if (threadIdx.x == 0)
		{
			publish(walk);
			arrive(walk.launch.phase, walk.phase, walk.items, walk.entries, walk.leave);
		}
		__syncthreads();		/* the cleared phase must not be used before that */
		walk.phase++;
		return;
	}
	__syncthreads();			/* the previous word is no longer read */
	if (threadIdx.x == 0)
		walk.block->word = await(&walk.launch.phase[walk.phase % PERSISTENT_PHASES], 1, IDLE_NS);
	__syncthreads();
	take_word(walk);
	adopt(walk);
}

/*
 * Traverse until it is time to leave the kernel; all blocks must be resident. This leaves the
 * frontier in a queue, and in `counters` the queue's number, its size, the number of steps, and
 * their sums.
 */
template <class Search>
static __global__ void __launch_bounds__(PERSISTENT_THREADS, 1)
persistent_walk_kernel(PersistentLaunch<typename Search::Item> launch, Search search)
{
	__shared__ PersistentBlock<typename Search::Item> block;
	Walk<Search> walk = {search, launch, &block};
	unsigned long long edges = 0;

	walk.now = launch.now;
	walk.items = launch.items;
	walk.entries = launch.entries;
	walk.spent = launch.spent;
	if (threadIdx.x < PERSISTENT_TURNS)
		block.nfound[threadIdx.x] = block.entries[threadIdx.x] = 0;
	__syncthreads();
	while (!walk.leave)
	{
		walk.nblocks = gridDim.x;
		if (is_small(walk) || gridDim.x == 1)
			walk_in_first_block(walk);
		else
			take_step(walk);
	}
	for (uint32_t i = blockIdx.x * PERSISTENT_THREADS + threadIdx.x; i < walk.items;
		 i += gridDim.x * PERSISTENT_THREADS)
		edges += load_item(&frontier_queue(walk, walk.now)[i]).length;
	block_add(&launch.counters->edges, edges);
	block_add(&launch.counters->claimed, walk.found);
	block_add(&launch.counters->lines, walk.lines);
	block_add(&launch.counters->entries, walk.entries_seen);
	if (blockIdx.x == 0 && threadIdx.x == 0)
	{
		publish(walk);
		launch.counters->vertices = walk.items;
	}
}

/*
 * Queue the vertices of a frontier; fill(item) fills the fields that Item adds to QueueItem. Bytes:
 * the bitmap, n/8.
 */
template <class Item, class Fill>
static __global__ void __launch_bounds__(BLOCK_THREADS)
persistent_queue_kernel(const uint32_t *bitmap, uint64_t nwords, const uint64_t *offsets,
						Item *queue, Counters *counters, Fill fill)
{
	for_each(nwords, [&](uint64_t word) {
		uint32_t	bits = bitmap[word];
		uint32_t	slot = bits != 0 ? atomicAdd(&counters->nqueued, __popc(bits)) : 0;

		for (; bits != 0; bits &= bits - 1)
		{
			Item		item = {};

			item.vertex = (uint32_t) (word * 32 + __ffs(bits) - 1);
			locate(&item, offsets);
			fill(&item);
			queue[slot++] = item;
		}
	});
}

/*
 * Mark in a bitmap the vertices of a queue for which holds(item). Bytes: one item each, and an
 * atomic operation.
 */
template <class Item, class Holds>
static __global__ void __launch_bounds__(BLOCK_THREADS)
persistent_mark_kernel(const Item *queue, uint32_t nitems, uint32_t *bitmap, Holds holds)
{
	for (uint32_t i = blockIdx.x * BLOCK_THREADS + threadIdx.x; i < nitems;
		 i += gridDim.x * BLOCK_THREADS)
	{
		const Item	item = load_item(&queue[i]);

		if (holds(item))
			atomicOr(&bitmap[item.vertex / 32], 1u << item.vertex % 32);
	}
}

/* A run's state for its persistent kernel: the limits of a frontier, and where the frontier is. */
typedef struct PersistentPlan
{
	BarrierPhase *phase;		/* [PERSISTENT_PHASES], device memory */
	uint32_t	capacity;		/* of a queue */
	uint32_t	max_lines;
	int			nblocks;
	bool		queued;			/* the frontier is in a queue */
	uint32_t	now;			/* queue[now] has the frontier */
	uint64_t	spent;			/* edges of the steps since the last refill */
} PersistentPlan;

/*
 * Return the capacity of a queue. It is large even for a small graph, which is then traversed
 * without any host interaction.
 */
static inline uint32_t
queue_capacity(const Run *run)
{
	const uint64_t capped = run->state->cap_bytes / PERSISTENT_CAP_BYTES;

	if (run->state->cap_bytes == 0 || capped > PERSISTENT_ENTRIES)
		return PERSISTENT_ENTRIES;
	return (uint32_t) (capped > PERSISTENT_MIN_ITEMS ? capped : PERSISTENT_MIN_ITEMS);
}

/* Allocate the memory that every algorithm needs, before the graph is placed. */
template <class Item>
static EmogiStatus
take_persistent(Run *run, PersistentPlan *plan, Item **queue, EmogiError *error)
{
	plan->capacity = queue_capacity(run);
	TRY(take_array(&run->memory, &plan->phase, PERSISTENT_PHASES, "barriers", error));
	return take_array(&run->memory, queue, 2 * (uint64_t) plan->capacity, "queues", error);
}

/* Choose the number of blocks and the limits, after the graph has been placed. */
extern EmogiStatus emogi_persistent_size(const Run *run, PersistentPlan *plan, const void *kernel,
										 EmogiError *error);

/*
 * Return whether a frontier should be processed by the persistent kernel. If it is not there yet,
 * half of the limits applies.
 */
static inline bool
fits_persistent(const PersistentPlan *plan, uint64_t vertices, uint64_t edges)
{
	const uint64_t times = plan->queued ? 1 : 2;

	return times * vertices <= plan->capacity && times * edges <= plan->capacity &&
		times * (vertices + edges / ENTRIES) <= plan->max_lines;
}

/*
 * Launch a traversal from the frontier in the queue. The caller has zeroed the counters, and reads
 * them afterwards.
 */
template <class Search>
static EmogiStatus
launch_persistent(Run *run, const PersistentPlan *plan, typename Search::Item *queue,
				  uint64_t items, uint64_t entries, uint32_t max_steps, const Search &search,
				  EmogiError *error)
{
	PersistentLaunch<typename Search::Item> launch = {
		run->graph.forward, queue, plan->phase, run->step.counters, run->step.stop
	};
	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute together = {};

	launch.capacity = plan->capacity;
	launch.max_lines = plan->max_lines;
	launch.max_steps = max_steps < PERSISTENT_STEPS ? max_steps : PERSISTENT_STEPS;
	launch.now = plan->now;
	launch.items = (uint32_t) items;
	launch.entries = (uint32_t) entries;
	launch.spent = plan->spent;
	together.id = cudaLaunchAttributeCooperative;
	together.val.cooperative = 1;
	config.gridDim = dim3(plan->nblocks);
	config.blockDim = dim3(PERSISTENT_THREADS);
	config.stream = run->state->stream;
	config.attrs = &together;
	config.numAttrs = plan->nblocks > 1;
	CUDA_TRY(cudaMemsetAsync(plan->phase, 0, PERSISTENT_PHASES * sizeof *plan->phase,
							 run->state->stream));
	CUDA_TRY(cudaLaunchKernelEx(&config, persistent_walk_kernel<Search>, launch, search));
	return EMOGI_OK;
}

#endif							/* EMOGI_PERSISTENT_CUH */
