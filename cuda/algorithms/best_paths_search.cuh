/*
 * best_paths_search.cuh: the persistent near-far search of the path semirings: buckets of keys, and
 * piles of the vertices beyond them. best_paths.cu describes the method.
 */
#ifndef EMOGI_BEST_PATHS_SEARCH_CUH
#define EMOGI_BEST_PATHS_SEARCH_CUH

#include "cuda/access/persistent.cuh"
#include "cuda/algorithms/best_paths.cuh"

#define PILE_COUNTS 3			/* one that is filled, one that is read, one that is cleared */

/*
 * A frontier item: a vertex and its key at the time. It is stale once the vertex has another key.
 */
struct PathItem : QueueItem
{
	unsigned long long key;
};

/* A vertex that waits beyond the threshold, and its key at the time. */
typedef struct WaitingItem
{
	unsigned long long key;
	uint32_t	vertex;
	uint32_t	unused;
} WaitingItem;

/*
 * Number of items in a pile, and the complement of the upper half of their minimum key or a lower
 * bound of it.
 */
typedef struct PileCount
{
	uint32_t	length;
	uint32_t	nearest;
} PileCount;

/* State of the piles, in device memory. Zeroed when the frontier is copied to the queue. */
typedef struct PileState
{
	PileCount	count[PILE_COUNTS];
	uint32_t	strays;			/* 1 = the pile overflowed, so vertices were marked as pending
								 * instead */
} PileState;

/*
 * Far piles: vertices that wait beyond the threshold, in device memory. Pile i is item[i % 2] and
 * count[i % PILE_COUNTS].
 */
typedef struct Piles
{
	WaitingItem *item;			/* [2][capacity] */
	PileState  *state;
	uint32_t	capacity;		/* 0 = no piles: waiting vertices are only marked as pending */
} Piles;

/* How far the steps go before they return to the waiting vertices. */
typedef struct Bucket
{
	unsigned long long threshold;	/* smaller keys are near; KEY_NONE = all are */
	/* width of the next bucket; a number of limits if values are not additive */
	double		delta;
} Bucket;

typedef struct BucketRule
{
	uint64_t	min_entries;	/* below it the next bucket is twice as wide */
	uint64_t	max_entries;	/* above it the next bucket is half as wide */
	uint32_t	nlimits;
	const double *limit;		/* [nlimits], weights, the best first */
} BucketRule;

/* Get the threshold of the next bucket, `delta` limits beyond `best`, the best pending value. */
template <class Semiring>
static __host__ __device__ inline unsigned long long
limit_beyond(const BucketRule &rule, double delta, double best)
{
	uint32_t	low = 0;		/* the first limit that is not better than `best` */
	uint32_t	high = rule.nlimits;
	uint64_t	last;
	unsigned long long key;

	while (low < high)
	{
		const uint32_t middle = (low + high) / 2;

		if (emogi_path_better(Semiring::ALGORITHM, rule.limit[middle], best))
			low = middle + 1;
		else
			high = middle;
	}
	last = low + (uint64_t) delta - 1;
	key = last < rule.nlimits ? Semiring::encode(rule.limit[last]) : KEY_NONE;
	return key != KEY_NONE ? key + 1 : KEY_NONE;
}

/*
 * Move the threshold beyond the minimum waiting key. The bucket's width adapts to the number of
 * edges of the last bucket. `nearest`: the minimum waiting key or a lower bound; `min_threshold`:
 * lower bound of the new threshold.
 */
template <class Semiring>
static __host__ __device__ inline void
raise_threshold(Bucket *bucket, const BucketRule &rule, uint64_t entries,
				unsigned long long nearest, unsigned long long min_threshold)
{
	const double factor = entries < rule.min_entries ? 2 : entries > rule.max_entries ? 0.5 : 1;
	const double delta = bucket->delta * factor;

	if (Semiring::ADDS ? delta > 0 && delta < (double) INFINITY :
		delta >= 1 && delta <= rule.nlimits)
		bucket->delta = delta;
	bucket->threshold = Semiring::ADDS ?
		Semiring::encode(Semiring::decode(nearest) + bucket->delta) :
		limit_beyond<Semiring>(rule, bucket->delta, Semiring::decode(nearest));
	if (bucket->threshold < min_threshold)	/* delta was lost in rounding */
		bucket->threshold = min_threshold;
}

/* Search functor of a path semiring: near-far, with the far vertices in a pile. */
template <class Semiring, typename W>
struct PathSearch
{
	typedef W Weight;
	typedef PathItem Item;
	static constexpr bool PILES = true;

	Paths		paths;
	Piles		piles;
	BucketRule	rule;
	Counters   *counters;
	Bucket		bucket;
	uint32_t	pile;			/* number of the pile that is filled */

	__device__ __forceinline__ unsigned long long
	own(const PathItem &item) const
	{
		return __ldcg(&paths.key[item.vertex]);
	}

	/* A stale item has a newer one in the queue, which makes offers at least as good. */
	__device__ __forceinline__ VisitOutcome
	visit(const PathItem &item, unsigned long long own, Target target, double weight, uint32_t step,
		  PathItem *fresh) const
	{
		const unsigned long long offer = own == item.key ?
			make_offer<Semiring>(paths, Semiring::decode(item.key), weight) : KEY_NONE;
		unsigned long long known;

		if (offer == KEY_NONE)
			return FATE_NONE;
		known = atomicMin(&paths.key[target], offer);
		if (offer >= known)
			return FATE_NONE;
		fresh->key = offer;
		if (offer >= bucket.threshold && bucket.threshold != KEY_NONE)
			return FATE_FAR;
		if (piles.capacity == 0 && known >= bucket.threshold && known != KEY_NONE)
			atomicAnd(&paths.pending[target / 32], ~(1u << target % 32));
		return FATE_NEAR;
	}

	__device__ __forceinline__ uint32_t
	claim(bool waits, const PathItem &item) const
	{
		const uint32_t lanes = __ballot_sync(FULL_WARP, waits);
		PileCount  *count = &piles.state->count[pile % PILE_COUNTS];
		uint32_t	best;
		uint32_t	place = 0;

		if (lanes == 0 || piles.capacity == 0)
			return 0;
		if (lane_number() == 0)
			place = atomicAdd(&count->length, __popc(lanes));
		best = __reduce_min_sync(FULL_WARP, waits ? (uint32_t) (item.key >> 32) : UINT32_MAX);
		if (lane_number() == 0)
			atomicMax(&count->nearest, ~best);
		return place;
	}

	__device__ __forceinline__ void
	wait(bool waits, const PathItem &item, uint32_t place) const
	{
		const uint32_t lanes = __ballot_sync(FULL_WARP, waits);

		if (lanes == 0)
			return;
		place = __shfl_sync(FULL_WARP, place, 0) + __popc(lanes & lanes_below());
		if (waits && place < piles.capacity)
			piles.item[(uint64_t) (pile % 2) * piles.capacity + place] = WaitingItem{item.key,
				item.vertex, 0};
		else if (waits)
		{
			atomicOr(&paths.pending[item.vertex / 32], 1u << item.vertex % 32);
			piles.state->strays = 1;
		}
	}

	__device__ __forceinline__ uint32_t
	piled(void) const
	{
		const uint32_t length = __ldcg(&piles.state->count[pile % PILE_COUNTS].length);

		return length < piles.capacity ? length : piles.capacity;
	}

	/*
	 * Split the waiting items: near ones become the frontier, far ones move to the next pile, stale
	 * ones are dropped.
	 */
	template <class Walk>
	__device__ __forceinline__ bool
	refill(Walk &walk)
	{
		const WaitingItem *from = piles.item + (uint64_t) (pile % 2) * piles.capacity;
		const uint32_t waiting = piled();
		const unsigned long long nearest =
			(unsigned long long) ~__ldcg(&piles.state->count[pile % PILE_COUNTS].nearest) << 32;

		if (waiting == 0 || __ldcg(&piles.state->strays) != 0)
			return false;
		raise_threshold<Semiring>(&bucket, rule, walk.spent, nearest, nearest + (1ull << 32));
		walk.spent = 0;
		pile++;
		if (blockIdx.x == 0 && threadIdx.x == 0)
			piles.state->count[(pile + 1) % PILE_COUNTS] = PileCount{0, 0};
		begin_turn(walk);
		for (uint32_t base = blockIdx.x * PERSISTENT_THREADS + threadIdx.x - lane_number();
			 base < waiting; base += walk.nblocks * PERSISTENT_THREADS)
			sort_out(walk, from, base + lane_number(), waiting);
		end_turn(walk, 0);
		return true;
	}

	/* Classify item i of the last pile. Called by whole warps. */
	template <class Walk>
	__device__ __forceinline__ void
	sort_out(Walk &walk, const WaitingItem *from, uint32_t i, uint32_t waiting) const
	{
		PathItem	item = {};
		bool		valid = i < waiting;
		bool		near;

		if (valid)
		{
			const WaitingItem waits = load_item(&from[i]);

			item.vertex = waits.vertex;
			item.key = waits.key;
			valid = own(item) == item.key;
			locate(&item, walk.launch.lists.offsets);
		}
		near = valid && (item.key < bucket.threshold || bucket.threshold == KEY_NONE);
		put_items(walk, near, valid && !near, item);
	}

	__device__ __forceinline__ void
	publish(void) const
	{
		counters->pile = pile;
		counters->waiting = piled();
		counters->threshold = bucket.threshold;
		counters->delta = bucket.delta;
	}

	__device__ __forceinline__ void
	adopt(void)
	{
		pile = __ldcg(&counters->pile);
		bucket.threshold = __ldcg(&counters->threshold);
		bucket.delta = __ldcg(&counters->delta);
	}
};

/* Functor of persistent_queue_kernel and persistent_mark_kernel for paths. */
struct KeyedItem
{
	const unsigned long long *key;

	__device__ __forceinline__ void
	operator()(PathItem *item) const
	{
		item->key = key[item->vertex];
	}

	template <class Item>
	__device__ __forceinline__ bool
	operator()(const Item &item) const
	{
		return key[item.vertex] == item.key;
	}
};

/*
 * Put the pending vertices into the first pile, which has room for them. Bytes: the bitmap, n/8,
 * and 24 each.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
best_paths_pile_kernel(Paths paths, Piles piles)
{
	for_each(paths.nwords, [&](uint64_t word) {
		uint32_t	bits = paths.pending[word];
		uint32_t	slot = bits != 0 ? atomicAdd(&piles.state->count[0].length, __popc(bits)) : 0;

		if (bits != 0)
			paths.pending[word] = 0;
		for (; bits != 0; bits &= bits - 1)
		{
			const uint32_t vertex = (uint32_t) (word * 32 + __ffs(bits) - 1);
			const unsigned long long key = paths.key[vertex];

			piles.item[slot++] = WaitingItem{key, vertex, 0};
			atomicMax(&piles.state->count[0].nearest, ~(uint32_t) (key >> 32));
		}
	});
}

#endif							/* EMOGI_BEST_PATHS_SEARCH_CUH */
