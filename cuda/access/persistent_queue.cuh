/*
 * persistent_queue.cuh: items, queues and the barrier that the blocks of a persistent kernel share.
 * persistent.cuh describes the steps.
 *
 * The barrier is a word in device memory. Blocks add to it when they arrive, and poll it until all
 * have arrived. The added value also carries the sums of what the blocks found, so nothing else has
 * to be read after the barrier. Each barrier has a word of its own, which is cleared while the
 * previous barrier is in use. At a barrier at which only the first block arrives, the others merely
 * wait: they may still be at the previous barrier when the first block reaches the next one, and
 * that is why there are four.
 */
#ifndef EMOGI_PERSISTENT_QUEUE_CUH
#define EMOGI_PERSISTENT_QUEUE_CUH

#include "cuda/access/persistent_tuning.cuh"
#include "cuda/access/weights.cuh"

#define PERSISTENT_WARPS (PERSISTENT_THREADS / WARP_LANES)
/* sets of a block's counters: one in use, one still being read, one being cleared */
#define PERSISTENT_TURNS 3
/* the same for barriers, and one more for a barrier at which not all blocks arrive */
#define PERSISTENT_PHASES 4

/*
 * Layout of the value that an arrival adds to the barrier's word: one block, whether it wants to
 * leave, its items, their edges.
 */
#define ARRIVED_SHIFT 56
#define LEAVE_SHIFT 54
#define ITEMS_SHIFT 32
#define ENTRIES_CLAMP ((1u << 24) - 1)	/* per block: the sum of 255 of them fits in 32 bits */
/*
 * per item: the sum over a warp does not overflow; more than PERSISTENT_ENTRIES is too many anyway
 */
#define LIST_CLAMP (1u << 19)

static_assert(PERSISTENT_WARPS <= WARP_LANES, "a warp sums over the warps");
static_assert(PERSISTENT_ENTRIES < LIST_CLAMP && PERSISTENT_BLOCKS < 256,
			  "sums must not spill over");

/* A vertex to expand. */
typedef struct QueueItem
{
	uint64_t	start;			/* of its adjacency list */
	uint32_t	vertex;
	uint32_t	length;			/* of its list; UINT32_MAX if that is 2^32 or more */
} QueueItem;

/* The outcome of visiting an edge, for its target. */
typedef enum VisitOutcome
{
	FATE_NONE,
	FATE_NEAR,					/* it enters the next frontier */
	FATE_FAR					/* it is postponed */
} VisitOutcome;

/* A barrier, and the length of the queue that is filled before it; each on a line of its own. */
typedef struct BarrierPhase
{
	alignas(EMOGI_LINE_BYTES) unsigned long long word;
	alignas(EMOGI_LINE_BYTES) uint32_t length;
} BarrierPhase;

/*
 * Arguments of a launch. All pointers are device addresses. The kernel leaves if the next step
 * would be too large.
 */
template <class Item>
struct PersistentLaunch
{
	Lists<Target> lists;
	Item	   *queue;			/* [2][capacity] */
	BarrierPhase *phase;		/* [PERSISTENT_PHASES], zeroed */
	Counters   *counters;
	const volatile uint32_t *stop;	/* as in Step */
	uint32_t	capacity;		/* > 0; maximum items, and edges of a step */
	uint32_t	max_lines;		/* maximum lines of a step */
	uint32_t	max_steps;
	uint32_t	now;			/* queue[now] has the frontier */
	uint32_t	items;			/* in the frontier */
	uint32_t	entries;		/* edges of the frontier, at most `capacity` */
	unsigned long long spent;	/* as in Walk */
};

/* A block's shared memory. */
template <class Item>
struct PersistentBlock
{
	Item		item[PERSISTENT_THREADS];	/* items that it expands */
	uint32_t	upto[PERSISTENT_THREADS];	/* edges of the items up to and including this one */
	uint32_t	warp_upto[PERSISTENT_WARPS];
	uint32_t	nfound[PERSISTENT_TURNS];	/* items that this step finds, and their edges */
	uint32_t	entries[PERSISTENT_TURNS];
	uint32_t	steps;			/* made by a warp */
	unsigned long long spent;
	unsigned long long word;	/* the value that came with the barrier */
};

/* The state of a traversal: equal in all working threads, except the sums. */
template <class S>
struct Walk
{
	typedef S Search;
	typedef typename S::Item Item;

	Search		search;
	PersistentLaunch<Item> launch;
	PersistentBlock<Item> *block;
	uint32_t	nblocks;		/* that run the step: the first, or all */
	uint32_t	turn;			/* number of the set of the block's counters */
	uint32_t	phase;
	uint32_t	now;			/* queue[now] has the frontier */
	uint32_t	items;			/* in the frontier */
	uint32_t	entries;		/* edges of the frontier; above `capacity` only approximate */
	uint32_t	steps;			/* in this launch */
	unsigned long long spent;	/* edges of the steps since the last refill */
	bool		leave;

	/* The thread's share of the sums. */
	unsigned long long lines;
	unsigned long long entries_seen;
	unsigned long long found;	/* vertices */
};

/* Read an item that another block may have written. */
template <class Item>
static __device__ __forceinline__ Item
load_item(const Item *from)
{
	unsigned long long word[sizeof(Item) / 8];
	Item		item;

	static_assert(sizeof(Item) % 8 == 0, "an item is read in words");
#pragma unroll
	for (uint32_t i = 0; i < sizeof(Item) / 8; i++)
		word[i] = __ldcg((const unsigned long long *) from + i);
	memcpy(&item, word, sizeof item);
	return item;
}

/* Return another lane's item. */
template <class Item>
static __device__ __forceinline__ Item
shuffle_item(const Item &own, uint32_t lane)
{
	unsigned long long word[sizeof(Item) / 8];
	Item		item;

	memcpy(word, &own, sizeof item);
#pragma unroll
	for (uint32_t i = 0; i < sizeof(Item) / 8; i++)
		word[i] = __shfl_sync(FULL_WARP, word[i], lane);
	memcpy(&item, word, sizeof item);
	return item;
}

/*
 * Look up the location of the adjacency list of an item's vertex. Both reads are in flight
 * together.
 */
static __device__ __forceinline__ void
locate(QueueItem *item, const uint64_t *offsets)
{
	const uint64_t start = __ldg(&offsets[item->vertex]);
	const uint64_t length = __ldg(&offsets[(uint64_t) item->vertex + 1]) - start;

	item->start = start;
	item->length = length < UINT32_MAX ? (uint32_t) length : UINT32_MAX;
}

/* Count what expanding an item reads. */
template <class Search>
static __device__ __forceinline__ void
count_item(Walk<Search> &walk, const QueueItem &item)
{
	walk.entries_seen += item.length;
	walk.lines += count_lines<Target>(Span{item.start, item.start + item.length});
}

/*
 * Visit an edge of an item's list if `live`. Return the outcome and the target's item. The location
 * of the target's list is read before it is known whether it will be needed.
 */
template <class Search>
static __device__ __forceinline__ VisitOutcome
look(const Walk<Search> &walk, const typename Search::Item &item, uint64_t entry, bool live,
	 typename Search::Item *fresh)
{
	const Lists<Target> &lists = walk.launch.lists;
	unsigned long long known;
	double		weight = 1.0;

	if (!live)
		return FATE_NONE;
	fresh->vertex = __ldg(&lists.targets[entry]);
	if constexpr (weight_bytes<typename Search::Weight>() > 0)
		weight = (double) __ldg((const typename Search::Weight *) lists.weights + entry);
	known = walk.search.own(item);
	locate(fresh, lists.offsets);
	return walk.search.visit(item, known, fresh->vertex, weight, walk.steps, fresh);
}

/* Return one of the two queues. */
template <class Search>
static __device__ __forceinline__ typename Search::Item *
frontier_queue(const Walk<Search> &walk, uint32_t which)
{
	return walk.launch.queue + (uint64_t) which * walk.launch.capacity;
}

/*
 * Claim slots in the next queue for the items that lanes have found. Returns the first of them in
 * lane 0. Whole warps.
 */
template <class Search>
static __device__ __forceinline__ uint32_t
claim_slots(Walk<Search> &walk, bool found, const typename Search::Item &item)
{
	const uint32_t lanes = __ballot_sync(FULL_WARP, found);
	const uint32_t clamped = found ? item.length < LIST_CLAMP ? item.length : LIST_CLAMP : 0;
	const uint32_t turn = walk.turn % PERSISTENT_TURNS;
	uint32_t	entries;
	uint32_t	slot = 0;

	if (lanes == 0)
		return 0;
	if (lane_number() == 0 && walk.nblocks > 1)
		slot = atomicAdd(&walk.launch.phase[walk.phase % PERSISTENT_PHASES].length, __popc(lanes));
	entries = __reduce_add_sync(FULL_WARP, clamped);
	if (lane_number() == 0)
	{
		const uint32_t in_block = atomicAdd(&walk.block->nfound[turn], __popc(lanes));
		volatile uint32_t *sum = &walk.block->entries[turn];

		if (walk.nblocks == 1)
			slot = in_block;
		/* larger sums need no distinction; all warps together stay below 2^30 */
		if (*sum <= ENTRIES_CLAMP)
			atomicAdd(&walk.block->entries[turn], entries);
	}
	return slot;
}

/* Write the items to the claimed slots. */
template <class Search>
static __device__ __forceinline__ void
fill_slots(const Walk<Search> &walk, bool found, const typename Search::Item &item, uint32_t slot)
{
	const uint32_t lanes = __ballot_sync(FULL_WARP, found);

	if (lanes == 0)
		return;
	slot = __shfl_sync(FULL_WARP, slot, 0) + __popc(lanes & lanes_below());
	if (found)
		frontier_queue(walk, walk.now ^ 1)[slot] = item;
}

/*
 * Begin a turn, which end_turn ends: clear the counters of the next turn, which are no longer read.
 */
template <class Search>
static __device__ void
begin_turn(const Walk<Search> &walk)
{
	if (threadIdx.x == 0)
	{
		const uint32_t next = (walk.turn + 1) % PERSISTENT_TURNS;

		walk.block->nfound[next] = 0;
		walk.block->entries[next] = 0;
	}
}

/*
 * Add to a word after all earlier writes of the thread, and of its block before a block barrier
 * (release).
 */
static __device__ __forceinline__ void
add_release(unsigned long long *word, unsigned long long value)
{
	asm volatile("red.release.gpu.global.add.u64 [%0], %1;" : : "l"(__cvta_generic_to_global(word)),
				 "l"(value) : "memory");
}

/*
 * Read a word before all later reads of the thread, and of its block after a block barrier
 * (acquire).
 */
static __device__ __forceinline__ unsigned long long
load_acquire(const unsigned long long *word)
{
	unsigned long long value;

	asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) :
				 "l"(__cvta_generic_to_global(word)) : "memory");
	return value;
}

/*
 * Clear the phase after this one, which is no longer read, and arrive at the barrier of this one.
 */
static __device__ void
arrive(BarrierPhase *phases, uint32_t phase, uint32_t items, uint32_t entries, bool leave)
{
	if (blockIdx.x == 0)
	{
		phases[(phase + 1) % PERSISTENT_PHASES].word = 0;
		phases[(phase + 1) % PERSISTENT_PHASES].length = 0;
	}
	add_release(&phases[phase % PERSISTENT_PHASES].word,
				1ull << ARRIVED_SHIFT | (unsigned long long) leave << LEAVE_SHIFT |
				(unsigned long long) items << ITEMS_SHIFT | entries);
}

/* Wait until nblocks blocks have arrived. Return the sum of the values that they added. */
static __device__ unsigned long long
await(const BarrierPhase *phase, uint32_t nblocks, uint32_t pause_ns)
{
	unsigned long long sum;

	while ((sum = load_acquire(&phase->word)) >> ARRIVED_SHIFT < nblocks)
		__nanosleep(pause_ns);
	return sum;
}

/* Apply the value that came with a barrier. */
template <class Search>
static __device__ __forceinline__ void
take_word(Walk<Search> &walk)
{
	const unsigned long long word = walk.block->word;

	walk.items = (uint32_t) (word >> ITEMS_SHIFT) & ((1u << (LEAVE_SHIFT - ITEMS_SHIFT)) - 1);
	walk.entries = (uint32_t) word;
	walk.leave = (word >> LEAVE_SHIFT & 3) != 0;
	walk.phase++;
}

/*
 * Pass the barrier: the queued items become the frontier. stop: the value of the stop word as read
 * by the first thread of the first block, to make all blocks leave.
 */
template <class Search>
static __device__ void
end_turn(Walk<Search> &walk, uint32_t stop)
{
	PersistentBlock<typename Search::Item> *block = walk.block;
	const uint32_t turn = walk.turn % PERSISTENT_TURNS;

	__syncthreads();
	if (walk.nblocks > 1)
	{
		if (threadIdx.x == 0)
		{
			const uint32_t entries = block->entries[turn] < ENTRIES_CLAMP ? block->entries[turn] :
				ENTRIES_CLAMP;

			arrive(walk.launch.phase, walk.phase, block->nfound[turn], entries, stop != 0);
			block->word = await(&walk.launch.phase[walk.phase % PERSISTENT_PHASES], walk.nblocks,
								POLL_NS);
		}
		__syncthreads();
		take_word(walk);
	}
	else
	{
		walk.items = block->nfound[turn];
		walk.entries = block->entries[turn];
	}
	walk.now ^= 1;
	walk.turn++;
}

#endif							/* EMOGI_PERSISTENT_QUEUE_CUH */
