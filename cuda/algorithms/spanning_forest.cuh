/*
 * spanning_forest.cuh: kernels of Boruvka's method. spanning_forest.cu describes it and launches
 * them.
 */
#ifndef EMOGI_SPANNING_FOREST_CUH
#define EMOGI_SPANNING_FOREST_CUH

#include "cuda/access/push.cuh"
#include "cuda/algorithms/euler_tour.cuh"

#define NO_RANK UINT64_MAX		/* no edge is cached, or offered */

/* Arrays in device memory. */
typedef struct Boruvka
{
	uint64_t	nvertices;
	bool		maximum;
	uint32_t   *tree;			/* [nvertices], a vertex of the tree, the same for all its
								 * vertices */
	/*
	 * [nvertices], rank of the first outgoing edge; a 32-bit rank is in the upper half, above the
	 * target
	 */
	unsigned long long *best;
	/* [nvertices], target of a 64-bit rank; NULL for 32-bit ranks */
	uint32_t   *target;
	/* [nvertices], by tree: minimum offered; kept when the tree joins another */
	unsigned long long *rank;
	unsigned long long *edge;	/* [nvertices], by tree: ends of that edge (euler_tour.cuh);
								 * likewise */
	/* [nvertices], by tree: the tree that it joins, or itself */
	uint32_t   *link;
	uint32_t   *open;			/* bitmap: vertices that may have an outgoing edge */
	uint32_t   *marked;			/* bitmap: vertices that need a new outgoing edge */
	uint32_t   *giant;			/* [1], the tree that selects no edge; EMOGI_NO_VERTEX = all do */
} Boruvka;

/* Say whether ranks have 64 bits. */
template <typename Weight>
static __host__ __device__ constexpr bool
is_wide(void)
{
	return weight_bytes<Weight>() == 8;
}

/* Map a weight to an integer: smaller = earlier. -0 maps like 0. */
template <typename Weight>
static __device__ __forceinline__ unsigned long long
rank_of(double weight, bool maximum)
{
	const double value = (maximum ? -weight : weight) + 0.0;

	if constexpr (is_wide<Weight>())
	{
		const unsigned long long bits = (unsigned long long) __double_as_longlong(value);

		return bits ^ (bits >> 63 != 0 ? UINT64_MAX : UINT64_C(1) << 63);
	}
	else if constexpr (std::is_same<Weight, float>::value)
	{
		const uint32_t bits = __float_as_uint((float) value);

		return bits ^ (bits >> 31 != 0 ? UINT32_MAX : UINT32_C(1) << 31);
	}
	else
		return maximum ? ~(uint32_t) weight : (uint32_t) weight;
}

/* Get the weight of a rank. */
template <typename Weight>
static __device__ __forceinline__ double
weight_of(unsigned long long rank, bool maximum)
{
	if constexpr (is_wide<Weight>())
	{
		const double value = __longlong_as_double((long long) (rank ^ (rank >> 63 != 0 ?
																	   UINT64_C(1) << 63 :
																	   UINT64_MAX)));

		return maximum ? 0.0 - value : value;
	}
	else if constexpr (std::is_same<Weight, float>::value)
	{
		const double value = __uint_as_float((uint32_t) rank ^ (rank >> 31 != 0 ?
																UINT32_C(1) << 31 : UINT32_MAX));

		return maximum ? 0.0 - value : value;
	}
	else
		return maximum ? ~(uint32_t) rank : (uint32_t) rank;
}

/* Get the rank of a vertex's cached edge, and its target. NO_RANK = none. */
template <typename Weight>
static __device__ __forceinline__ unsigned long long
cached_edge(const Boruvka &boruvka, uint64_t vertex, uint32_t *target)
{
	const unsigned long long best = boruvka.best[vertex];

	*target = is_wide<Weight>() ? boruvka.target[vertex] : (uint32_t) best;
	return is_wide<Weight>() || best == NO_RANK ? best : best >> 32;
}

/* The vertex whose list an entry is in, and its tree. */
typedef struct Side
{
	uint32_t	vertex;
	uint32_t	tree;
} Side;

/*
 * Push functor that finds first edges: the ranks, and for 32-bit ranks the targets. NAMES: the
 * targets of known 64-bit ranks.
 */
template <typename W, bool NAMES>
struct Find
{
	typedef W Weight;
	typedef Side Value;

	Boruvka		boruvka;
	bool		is_first;		/* in the first round every vertex is a tree */

	__device__ __forceinline__ Side
	own(uint64_t vertex) const
	{
		return Side{(uint32_t) vertex, boruvka.tree[vertex]};
	}

	/* Get the bits of the wanted entries that leave their tree. */
	__device__ __forceinline__ uint32_t
	lead_out(const Target (&target)[PIECE], const Side (&side)[PIECE], uint32_t wanted) const
	{
		uint32_t	tree[PIECE];
		uint32_t	out = 0;

#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			tree[j] = is_first || !(wanted >> j & 1) ? target[j] : __ldg(&boruvka.tree[target[j]]);
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			out |= ((wanted >> j & 1) && tree[j] != side[j].tree) << j;
		return out;
	}

	__device__ __forceinline__ void
	visit(const Target (&target)[PIECE], const double (&weight)[PIECE], const Side (&side)[PIECE],
		  uint32_t wanted) const
	{
		const uint32_t out = lead_out(target, side, wanted);
		unsigned long long word[PIECE];

#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
		{
			const unsigned long long rank = rank_of<Weight>(weight[j], boruvka.maximum);

			if (NAMES && (out >> j & 1) && rank == boruvka.best[side[j].vertex])
				atomicMin(&boruvka.target[side[j].vertex], target[j]);
			word[j] = !(out >> j & 1) ? NO_RANK : is_wide<Weight>() ? rank : rank << 32 | target[j];
		}
#pragma unroll
		for (uint32_t j = 0; !NAMES && j < PIECE; j++)
		{
			unsigned long long *best = &boruvka.best[side[j].vertex];

			if (j + 1 < PIECE && side[j + 1 < PIECE ? j + 1 : j].vertex == side[j].vertex)
			{
				if (word[j] < word[j + 1])
					word[j + 1] = word[j];	/* one atomic for all entries of a list */
			}
			else if (word[j] != NO_RANK && word[j] < *(volatile unsigned long long *) best)
				atomicMin(best, word[j]);
		}
	}
};

/* Make every vertex a tree. Bytes: 40 and 1/8 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
forest_begin_kernel(const uint64_t *offsets, Boruvka boruvka)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t own = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;

	for (uint64_t base = own - lane_number(); base < boruvka.nvertices; base += nthreads)
	{
		const uint64_t v = base + lane_number();
		const bool	there = v < boruvka.nvertices;
		const uint32_t bits = __ballot_sync(FULL_WARP, there && offsets[v] < offsets[v + 1]);

		if (lane_number() == 0)
			boruvka.open[base / 32] = bits;
		if (!there)
			continue;
		boruvka.tree[v] = (uint32_t) v;
		boruvka.best[v] = boruvka.rank[v] = NO_RANK;
		boruvka.edge[v] = NO_EDGE;
		if (boruvka.target != NULL)
			boruvka.target[v] = EMOGI_NO_VERTEX;
	}
	if (own == 0)
		*boruvka.giant = EMOGI_NO_VERTEX;
}

/*
 * Mark the vertices that need a new edge: outside the giant tree, with a cached edge inside their
 * tree. Bytes: 20 an open vertex, and 4 at random.
 */
template <typename Weight>
static __global__ void __launch_bounds__(BLOCK_THREADS)
forest_mark_kernel(Boruvka boruvka)
{
	const uint32_t giant = *boruvka.giant;

	for (uint64_t base = first_of_warp(); base < boruvka.nvertices; base += grid_threads())
	{
		const uint64_t v = base + lane_number();
		const uint32_t word = boruvka.open[base / 32];
		bool		needs_edge = false;

		if (word >> lane_number() & 1)
		{
			const uint32_t tree = boruvka.tree[v];
			uint32_t	target;

			needs_edge = tree != giant && (cached_edge<Weight>(boruvka, v, &target) == NO_RANK ||
										   boruvka.tree[target] == tree);
		}
		if (needs_edge)
			boruvka.best[v] = NO_RANK;
		if (needs_edge && is_wide<Weight>())
			boruvka.target[v] = EMOGI_NO_VERTEX;
		const uint32_t marked = __ballot_sync(FULL_WARP, needs_edge);

		if (lane_number() == 0)
			boruvka.marked[base / 32] = marked;
	}
}

/*
 * Say whether a vertex, which may be beyond the last, has an edge to offer. Closes it if it has
 * found none. Called by whole warps.
 */
template <typename Weight>
static __device__ __forceinline__ bool
has_offer(const Boruvka &boruvka, uint64_t base, uint32_t giant, unsigned long long *rank,
		  uint32_t *target)
{
	const uint64_t v = base + lane_number();
	const uint32_t word = boruvka.open[base / 32];
	const bool	offers = (word >> lane_number() & 1) && boruvka.tree[v] != giant;
	uint32_t	closed;

	if (offers)
		*rank = cached_edge<Weight>(boruvka, v, target);
	closed = __ballot_sync(FULL_WARP, offers && *rank == NO_RANK);
	if (closed != 0 && lane_number() == 0)
		boruvka.open[base / 32] = word & ~closed;
	return offers && *rank != NO_RANK;
}

/* Offer every tree the ranks of its vertices' edges. Bytes: 12 an open vertex, and 8 at random. */
template <typename Weight>
static __global__ void __launch_bounds__(BLOCK_THREADS)
forest_offer_kernel(Boruvka boruvka, Step step)
{
	const uint32_t giant = *boruvka.giant;

	if (is_halted(step))
		return;					/* a cached edge may have no target yet */
	for (uint64_t base = first_of_warp(); base < boruvka.nvertices; base += grid_threads())
	{
		unsigned long long rank;
		uint32_t	target;

		if (has_offer<Weight>(boruvka, base, giant, &rank, &target))
		{
			unsigned long long *min = &boruvka.rank[boruvka.tree[base + lane_number()]];

			if (rank < *(volatile unsigned long long *) min)
				atomicMin(min, rank);
		}
	}
}

/* Offer the ends of the edges with the minimum rank. Bytes: as forest_offer_kernel. */
template <typename Weight>
static __global__ void __launch_bounds__(BLOCK_THREADS)
forest_offer_ends_kernel(Boruvka boruvka, Step step)
{
	const uint32_t giant = *boruvka.giant;

	if (is_halted(step))
		return;
	for (uint64_t base = first_of_warp(); base < boruvka.nvertices; base += grid_threads())
	{
		const uint32_t v = (uint32_t) (base + lane_number());
		unsigned long long rank;
		uint32_t	target;

		if (has_offer<Weight>(boruvka, base, giant, &rank, &target) &&
			rank == boruvka.rank[boruvka.tree[v]])
		{
			unsigned long long *min = &boruvka.edge[boruvka.tree[v]];
			const unsigned long long edge = v < target ? (unsigned long long) v << 32 | target :
				(unsigned long long) target << 32 | v;

			if (edge < *(volatile unsigned long long *) min)
				atomicMin(min, edge);
		}
	}
}

/*
 * Let each tree join the one at its edge's other end; if two selected the same edge, the smaller
 * one stays. Bytes: 4 a vertex, 36 a tree.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
forest_join_kernel(Boruvka boruvka, Step step)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	unsigned long long njoined = 0;

	if (is_halted(step))
		return;
	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < boruvka.nvertices;
		 v += nthreads)
	{
		unsigned long long edge;
		uint32_t	other = (uint32_t) v;

		if (boruvka.tree[v] != v)
			continue;
		edge = boruvka.edge[v];
		if (edge != NO_EDGE)
		{
			const uint32_t tree = boruvka.tree[edge >> 32];

			other = tree != v ? tree : boruvka.tree[(uint32_t) edge];
			if (v < other && boruvka.edge[other] == edge)
				other = (uint32_t) v;
		}
		boruvka.link[v] = other;
		njoined += other != v;
	}
	block_add(&step.counters->claimed, njoined);
}

/*
 * Link every tree to the one it has become part of. Each step is stored for other threads, so a
 * chain takes logarithmic time. The offers of the remaining trees are reset. Bytes: 8 a vertex, 20
 * a tree, and random reads of 4.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
forest_follow_kernel(Boruvka boruvka, Step step)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	if (is_halted(step))
		return;					/* links were not written */
	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < boruvka.nvertices;
		 v += nthreads)
	{
		volatile uint32_t *link = boruvka.link;
		uint32_t	found;
		uint32_t	next;

		if (boruvka.tree[v] != v)
			continue;
		found = link[v];
		if (found == v)
		{
			boruvka.rank[v] = NO_RANK;
			boruvka.edge[v] = NO_EDGE;
		}
		while ((next = link[found]) != found)
			link[v] = found = next;
	}
}

/* Give all vertices their new trees. Bytes: 8 a vertex, and 4 at random. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
forest_update_kernel(Boruvka boruvka, Step step)
{

	if (is_halted(step))
		return;
	for_each(boruvka.nvertices, [&](uint64_t v) {
		boruvka.tree[v] = boruvka.link[boruvka.tree[v]];
	});
}

/*
 * Let up to BLOCK_THREADS evenly spaced vertices vote for the giant tree. One block. Bytes: 4 a
 * vote, at random.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
forest_vote_kernel(Boruvka boruvka)
{
	__shared__ uint32_t tree[BLOCK_THREADS];
	__shared__ unsigned long long winner;	/* votes in the upper half, tree in the lower */
	const uint64_t vertex = (boruvka.nvertices + BLOCK_THREADS - 1) / BLOCK_THREADS * threadIdx.x;
	const uint32_t own = vertex < boruvka.nvertices ? boruvka.tree[vertex] : EMOGI_NO_VERTEX;
	unsigned long long votes = 0;

	tree[threadIdx.x] = own;
	if (threadIdx.x == 0)
		winner = 0;
	__syncthreads();
	for (uint32_t i = 0; i < BLOCK_THREADS; i++)
		votes += tree[i] == own;
	if (own != EMOGI_NO_VERTEX)
		atomicMax(&winner, votes << 32 | own);
	__syncthreads();
	if (threadIdx.x == 0)
		*boruvka.giant = (uint32_t) winner;
}

/* Write the weight of each edge to its child. Bytes: 16 a vertex, and 12 at random an edge. */
template <typename Weight>
static __global__ void __launch_bounds__(BLOCK_THREADS)
forest_weights_kernel(Boruvka boruvka, const uint32_t *parent, double *weight)
{
	for_each(boruvka.nvertices, [&](uint64_t i) {
		const unsigned long long edge = boruvka.edge[i];
		const uint32_t small = (uint32_t) (edge >> 32);
		const uint32_t large = (uint32_t) edge;

		if (edge != NO_EDGE)
			weight[parent[large] == small ? large : small] = weight_of<Weight>(boruvka.rank[i],
																			   boruvka.maximum);
	});
}

#endif							/* EMOGI_SPANNING_FOREST_CUH */
