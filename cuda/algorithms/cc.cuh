/*
 * cc.cuh: the union-find forest of CC and its kernels. cc.cu describes the method.
 *
 * component[v] is a smaller vertex of v's tree, or v itself if v is a root. Two kinds of writes
 * happen while other threads read. A root is linked under a smaller vertex of another tree by an
 * atomic compare-and-swap, which fails if it is no longer a root. A vertex that is not a root gets
 * a higher ancestor by a plain store (path compression). So trees only merge, no cycle can arise,
 * and every ancestor once seen stays in the vertex's tree. A kernel may therefore read stale
 * parents from the L1 cache, as long as it may treat one tree as two.
 */
#ifndef EMOGI_CC_CUH
#define EMOGI_CC_CUH

#include "cuda/placement/hybrid.cuh"
#include "cuda/access/push.cuh"

/*
 * Tuned constants, measured on an NVIDIA H200: START_* at e52fca1 (bench/RESULTS.md, CC, has before
 * and after, and the alternatives tried, among them one vertex in 64 instead of 16). HUB_DEGREE is
 * of 804490e, SMALL_BYTES of 26a6e58, the others of 1c8365d. The figures in bench/RESULTS.md
 * (ad4a202) are with all of them.
 */
#define SAMPLE_PREFIX 4			/* prefix entries to search for the two smallest neighbors */
#define HUB_DEGREE 8			/* times the mean degree: a hub */
#define SAMPLE_HOOKED 8			/* one word of vertices in so many always hooks the second
								 * neighbor */
#define START_HUBS 16			/* one vertex in so many is a first vertex if prefixes lead to
								 * hubs */
#define START_MIN_VERTICES (START_HUBS * BLOCK_THREADS)	/* with fewer vertices all of them are first
													 * vertices: too few to vote */
#define START_LISTS 4			/* as START_HUBS, if the smallest neighbors are read from lists */
#define COVER_HOOKED 8			/* one edge in so many is always hooked when lines are read */
#define SMALL_BYTES (UINT64_C(32) << 20)	/* component arrays up to this size stay in the L2
											 * cache, however they are accessed */

/* State that the kernels share, in device memory. */
typedef struct Forest
{
	uint32_t	giant;	/* root of the tree that won the last vote; EMOGI_NO_VERTEX = none */
	uint32_t	hooked;			/* 1 = trees were merged while lists were pushed */
	uint32_t	prefixed;		/* 1 = sample neighbors from prefixes, if there are any */
	/*
	 * root of another forest's giant tree that was merged with this one's; EMOGI_NO_VERTEX = none
	 */
	uint32_t	twin;
	uint64_t	start;	/* vertices below it grow the giant tree that the other vertices look for */
} Forest;

/* The two smallest sampled neighbors of a vertex. */
typedef struct SampledNeighbors
{
	Target		smallest;		/* EMOGI_NO_VERTEX = none */
	Target		next;			/* EMOGI_NO_VERTEX = none */
} SampledNeighbors;

/* Get a vertex's current parent, bypassing the L1 cache, which may be stale. */
static __device__ __forceinline__ uint32_t
parent_of(const uint32_t *component, uint32_t vertex)
{
	return *(const volatile uint32_t *) (component + vertex);
}

/*
 * Merge the trees of two vertices. Return whether they were different trees. Climbs on the side
 * whose parent is larger [2], and halves the path it climbs [3].
 */
static __device__ __forceinline__ bool
hook(uint32_t *component, uint32_t a, uint32_t b)
{
	uint32_t	above_a = parent_of(component, a);
	uint32_t	above_b = parent_of(component, b);

	while (above_a != above_b)
	{
		const bool	climb_a = above_a > above_b;
		const uint32_t high = climb_a ? a : b;
		const uint32_t parent = climb_a ? above_a : above_b;
		uint32_t	above;

		if (parent == high)
		{
			above = atomicCAS(&component[high], high, climb_a ? above_b : above_a);
			if (above == high)
				return true;
		}
		else
		{
			above = parent_of(component, parent);
			if (above != parent)
				*(volatile uint32_t *) (component + high) = above;
		}
		if (climb_a)
		{
			a = parent == high ? a : parent;
			above_a = above;
		}
		else
		{
			b = parent == high ? b : parent;
			above_b = above;
		}
	}
	return false;
}

/*
 * Link the larger end of an edge under the smaller one if it is a root. `parent`: the larger end's
 * parent as last read. Return whether the ends are now in one tree. Most vertices are roots when
 * they are first visited, and this needs no climb.
 */
static __device__ __forceinline__ bool
link_root(uint32_t *component, uint32_t a, uint32_t b, uint32_t parent)
{
	const uint32_t high = a > b ? a : b;

	return a == b || (parent == high && atomicCAS(&component[high], high, a > b ? b : a) == high);
}

/* Get the root of a vertex, possibly a stale one. */
static __device__ __forceinline__ uint32_t
root_of(const uint32_t *component, uint32_t vertex)
{
	uint32_t	parent = component[vertex];

	while (parent != vertex)
	{
		vertex = parent;
		parent = component[vertex];
	}
	return vertex;
}

/*
 * Point a vertex to its root, and return the root. A vertex that points to `giant` is left alone.
 */
static __device__ __forceinline__ uint32_t
compress_path(uint32_t *component, uint32_t vertex, uint32_t giant)
{
	const uint32_t parent = component[vertex];
	const uint32_t root = parent == giant ? giant : root_of(component, parent);

	if (root != parent)
		component[vertex] = root;
	return root;
}

/* Add a neighbor to the two smallest. */
static __device__ __forceinline__ void
add_neighbor(SampledNeighbors *sampled, Target target)
{
	if (target < sampled->smallest)
	{
		sampled->next = sampled->smallest;
		sampled->smallest = target;
	}
	else if (target < sampled->next)
		sampled->next = target;
}

/*
 * Sample the neighbors of a vertex: its prefix if `prefixed`, otherwise the first two entries of
 * its list, *list.
 */
static __device__ __forceinline__ SampledNeighbors
sample_neighbors(const Lists<Target> &lists, uint64_t vertex, bool prefixed, Span *list)
{
	SampledNeighbors sampled = {EMOGI_NO_VERTEX, EMOGI_NO_VERTEX};

	if (prefixed)
	{
		Target		prefix[SAMPLE_PREFIX];

#pragma unroll
		for (uint32_t j = 0; j < SAMPLE_PREFIX; j++)
			prefix[j] = j < lists.prefix_length ? read_prefix(lists, vertex, j) : EMOGI_NO_VERTEX;
#pragma unroll
		for (uint32_t j = 0; j < SAMPLE_PREFIX; j++)
			add_neighbor(&sampled, prefix[j]);
		return sampled;
	}
	*list = Span{__ldg(&lists.offsets[vertex]), __ldg(&lists.offsets[vertex + 1])};
	if (list->end > list->start + 2)
		list->end = list->start + 2;
	if (list->start < list->end)
	{
		const Target first = __ldg(&lists.targets[list->start]);
		const Target last = __ldg(&lists.targets[list->end - 1]);

		add_neighbor(&sampled, first);
		if (list->end - list->start > 1)
			add_neighbor(&sampled, last);
	}
	return sampled;
}

/*
 * Get the first entry of a vertex's prefix if `prefixed`, otherwise of its list. EMOGI_NO_VERTEX =
 * it has no neighbors.
 */
static __device__ __forceinline__ Target
read_first(const Lists<Target> &lists, uint64_t vertex, bool prefixed)
{
	Span		list;

	if (prefixed)
		return read_prefix(lists, vertex, 0);
	list = Span{__ldg(&lists.offsets[vertex]), __ldg(&lists.offsets[vertex + 1])};
	return list.start < list.end ? __ldg(&lists.targets[list.start]) : EMOGI_NO_VERTEX;
}

/*
 * Say whether the lane's list starts in the last line of the nearest nonempty list of a lower lane.
 */
static __device__ __forceinline__ bool
shares_line(Span list)
{
	const uint32_t below = __ballot_sync(FULL_WARP, list.start < list.end) & lanes_below();
	const uint64_t line_below = __shfl_sync(FULL_WARP, (list.end - 1) / ENTRIES,
											below != 0 ? 31 - __clz(below) : 0);

	return below != 0 && line_below == list.start / ENTRIES;
}

/* Push functor of CC: hook each edge's target to the vertex whose list it is in. */
struct Hook
{
	typedef NoWeight Weight;
	typedef uint32_t Value;

	uint32_t   *component;
	Forest	   *forest;

	__device__ __forceinline__ uint32_t
	own(uint64_t vertex) const
	{
		return (uint32_t) vertex;
	}

	__device__ __forceinline__ void
	visit(const Target (&target)[PIECE], const double (&weight)[PIECE],
		  const uint32_t (&vertex)[PIECE], uint32_t wanted) const
	{
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			if ((wanted >> j & 1) && hook(component, vertex[j], target[j]))
				*(volatile uint32_t *) &forest->hooked = 1;
	}
};

/*
 * Push functor of cc_join_lines_kernel: link the roots that need no climb. Hook an edge if its
 * vertex would stay a singleton, and hook a few more edges so that the trees meet.
 */
struct Cover
{
	typedef NoWeight Weight;
	typedef uint32_t Value;

	uint32_t   *component;
	unsigned long long *entries;	/* counter of the thread */

	__device__ __forceinline__ void
	visit(const Target (&target)[PIECE], const double (&weight)[PIECE],
		  const uint32_t (&vertex)[PIECE], uint32_t wanted) const
	{
		uint32_t	parent[PIECE];

#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			if (wanted >> j & 1)
				parent[j] = parent_of(component, vertex[j] > target[j] ? vertex[j] : target[j]);
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
		{
			const bool	chosen = ((vertex[j] ^ target[j]) * 0x9E3779B1u >> 16) % COVER_HOOKED == 0;

			if (!(wanted >> j & 1) || link_root(component, vertex[j], target[j], parent[j]))
				continue;
			if (chosen || parent_of(component, vertex[j]) == vertex[j])
				hook(component, vertex[j], target[j]);
		}
		*entries += __popc(wanted);
	}
};

/* Get how many first vertices grow the giant tree: all, or a multiple of 32. */
static __device__ __forceinline__ uint64_t
start_length(uint64_t nvertices, bool prefixed)
{
	return nvertices < START_MIN_VERTICES ? nvertices :
		nvertices / (prefixed ? START_HUBS : START_LISTS) / 32 * 32;
}

/* Make every vertex a tree of its own. Bytes: 4 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
cc_init_kernel(uint32_t *component, uint64_t nvertices, bool prefixed, Forest *forest)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < nvertices;
		 v += nthreads)
		component[v] = (uint32_t) v;
	if (blockIdx.x == 0 && threadIdx.x == 0)
		*forest = Forest{EMOGI_NO_VERTEX, 0, prefixed, EMOGI_NO_VERTEX,
			start_length(nvertices, prefixed)};
}

/*
 * Choose between prefixes and lists if both are in device memory. If there are hubs, prefixes lead
 * to them and so to one tree at once. Otherwise the smallest neighbors are fewer distinct vertices
 * than those of prefixes, and stay in the caches. One block samples the first entries of some
 * prefixes. Bytes: 36 each.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
cc_choose_sample_kernel(Lists<Target> lists, uint64_t nvertices, Forest *forest)
{
	const uint64_t vertex = nvertices * threadIdx.x / BLOCK_THREADS;
	const Target first = vertex < nvertices ? read_prefix(lists, vertex, 0) : EMOGI_NO_VERTEX;
	const uint64_t mean = lists.nedges / nvertices + 1;
	const bool	there = first != EMOGI_NO_VERTEX;
	const bool	hub = there && __ldg(&lists.offsets[first + (uint64_t) 1]) -
		__ldg(&lists.offsets[first]) > HUB_DEGREE * mean;
	const int	nthere = __syncthreads_count(there);
	const int	nhubs = __syncthreads_count(hub);

	if (threadIdx.x == 0)
	{
		forest->prefixed = 2 * nhubs > nthere;
		forest->start = start_length(nvertices, forest->prefixed);
	}
}

/*
 * Merge a vertex with the smaller of its two sampled neighbors, and that one with the other. Return
 * how many neighbors there are.
 */
static __device__ __forceinline__ uint32_t
join_two(uint32_t *component, uint32_t vertex, SampledNeighbors sampled)
{
	const bool	two = sampled.next != EMOGI_NO_VERTEX;
	const uint32_t low = vertex < sampled.smallest ? vertex : sampled.smallest;
	const uint32_t high = vertex < sampled.smallest ? sampled.smallest : vertex;
	uint32_t	parent;
	uint32_t	parent_next;

	if (sampled.smallest == EMOGI_NO_VERTEX)
		return 0;
	parent = parent_of(component, high);
	parent_next = two ? parent_of(component, sampled.next) : EMOGI_NO_VERTEX;
	if (!link_root(component, low, high, parent) && parent_of(component, vertex) == vertex)
		hook(component, low, high);
	if (two && !link_root(component, low, sampled.next, parent_next) &&
		vertex / WARP_LANES % SAMPLE_HOOKED == 0)
		hook(component, low, sampled.next);
	return two ? 2 : 1;
}

/* Merge a vertex with the tree of `giant`, by one compare-and-swap if it is a root. */
static __device__ __forceinline__ void
join_giant(uint32_t *component, uint32_t vertex, uint32_t giant)
{
	const uint32_t above = vertex > giant ? atomicCAS(&component[vertex], vertex, giant) :
		EMOGI_NO_VERTEX;

	if (above != vertex && above != giant)
		hook(component, vertex, giant);
}

static __device__ __forceinline__ bool
is_marked(const uint32_t *marked, uint32_t vertex)
{
	return marked[vertex / 32] >> vertex % 32 & 1;
}

/*
 * Merge a vertex with the giant tree if its first neighbor, or that neighbor's first neighbor,
 * belongs to it. Return whether it did, and count the entries read. Membership is looked up in a
 * bitmap, which stays in the caches even if components do not. A bit that another block has cleared
 * may be seen late.
 */
static __device__ __forceinline__ bool
join_by_neighbor(const Lists<Target> &lists, uint32_t vertex, bool prefixed, uint32_t giant,
				 uint32_t *component, uint32_t *outside, unsigned long long *entries)
{
	const Target first = read_first(lists, vertex, prefixed);

	if (first == EMOGI_NO_VERTEX)
		return false;
	++*entries;
	if (is_marked(outside, first))
	{
		const Target second = read_first(lists, first, prefixed);

		if (second == EMOGI_NO_VERTEX)
			return false;
		++*entries;
		if (is_marked(outside, second))
			return false;
		join_giant(component, first, giant);
		atomicAnd(&outside[first / 32], ~(1u << first % 32));
	}
	join_giant(component, vertex, giant);
	return true;
}

/*
 * Merge the first vertices with the smaller of their two sampled neighbors, and that one with the
 * other. With `then`, process the other vertices instead: those marked in `outside` are merged with
 * the giant tree if their first neighbors lead there, otherwise like the first ones. Bytes a
 * vertex: 4 of a prefix, or 16 of offsets and a sector of 32; 4 of its parent; random reads of a
 * bitmap. Without a path to the giant tree 16 of prefixes, and two or three random reads of 4.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
cc_join_sampled_kernel(Lists<Target> lists, uint64_t nvertices, bool then, uint32_t *component,
					   uint32_t *outside, const Forest *forest, Step step)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t own = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;
	const uint64_t end = then ? nvertices : forest->start;
	const bool	prefixed = lists.prefixes != NULL && forest->prefixed;
	const uint32_t giant = forest->giant;
	unsigned long long entries = 0;

	for (uint64_t base = (then ? forest->start : 0) + own - lane_number(); base < end;
		 base += nthreads)
	{
		const uint64_t vertex = base + lane_number();
		const uint32_t word = giant != EMOGI_NO_VERTEX ? outside[base / 32] : FULL_WARP;
		const bool	alone = vertex < end && (word >> lane_number() & 1);
		const bool	by_neighbor = alone && giant != EMOGI_NO_VERTEX &&
			join_by_neighbor(lists, (uint32_t) vertex, prefixed, giant, component, outside,
							 &entries);
		const uint32_t joined = __ballot_sync(FULL_WARP, by_neighbor);
		Span		list = {0, 0};

		if (lane_number() == 0 && joined != 0)
			atomicAnd(&outside[base / 32], ~joined);
		if (alone && !by_neighbor)
			entries += join_two(component, (uint32_t) vertex,
								sample_neighbors(lists, vertex, prefixed, &list));
	}
	block_add(&step.counters->entries, entries);
}

/*
 * Read the first line of the list of each vertex that is still a root, in ascending order, and
 * merge all the edges in it, whichever list of the word they belong to. Processes the vertices of
 * the bitmap `open` in nwords words from first_word on. Bytes: 4 a vertex and 16 of offsets; the
 * lines, each once a word; a random read of 4 an edge, and more for one edge in COVER_HOOKED.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
cc_join_lines_kernel(Lists<Target> lists, uint64_t nvertices, const uint32_t *open,
					 uint64_t first_word, uint64_t nwords, uint32_t *component, Step step)
{
	unsigned long long nread = 0;
	unsigned long long entries = 0;
	const Cover push = {component, &entries};

	sweep_words(step, open + first_word, 0, nwords, [&](uint64_t word, uint32_t bits) {
		const uint64_t vertex = (first_word + word) * 32 + lane_number();
		const bool	alone = vertex < nvertices && (bits >> lane_number() & 1) &&
			parent_of(component, (uint32_t) vertex) == vertex;
		Span		list = {0, 0};
		Span		asked = {0, 0};
		bool		shared;

		if (!__any_sync(FULL_WARP, alone))
			return;
		if (vertex < nvertices)
			list = Span{__ldg(&lists.offsets[vertex]), __ldg(&lists.offsets[vertex + 1])};
		if (alone && list.start < list.end)
			asked = Span{list.start, list.start + 1};
		shared = shares_line(asked);
		push_lines(lists, list, list.start / ENTRIES, asked.start < asked.end && !shared,
				   (uint32_t) vertex, &nread, push);
	});
	add_sums(step.counters, nread, entries);
}

/*
 * Point every vertex to its root, and hook the vertices outside the giant tree to their two sampled
 * neighbors. Bytes: 4 to 8 a vertex and random reads of 4 in a few hot lines; for a vertex outside
 * 16 of offsets and a line, or 4 of a prefix.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
cc_hook_outside_kernel(Lists<Target> lists, uint64_t nvertices, uint32_t *component,
					   const Forest *forest, Step step)
{
	const uint32_t giant = forest->giant;
	const bool	prefixed = lists.prefixes != NULL && forest->prefixed;
	unsigned long long nread = 0;
	unsigned long long entries = 0;

	for (uint64_t base = first_of_warp(); base < nvertices; base += grid_threads())
	{
		const uint64_t vertex = base + lane_number();
		const bool	outside = vertex < nvertices &&
			compress_path(component, (uint32_t) vertex, giant) != giant;
		SampledNeighbors sampled = {EMOGI_NO_VERTEX, EMOGI_NO_VERTEX};
		Span		list = {0, 0};
		bool		shared;

		if (!__any_sync(FULL_WARP, outside))
			continue;
		if (__any_sync(FULL_WARP, lane_number() == 0 && must_leave(step)))
			break;
		if (outside)
			sampled = sample_neighbors(lists, vertex, prefixed, &list);
		shared = shares_line(list);
		nread += count_lines<Target>(list) - (list.start < list.end && shared);
		if (sampled.smallest != EMOGI_NO_VERTEX)
		{
			hook(component, (uint32_t) vertex, sampled.smallest);
			entries++;
		}
		if (sampled.next != EMOGI_NO_VERTEX)
		{
			hook(component, (uint32_t) vertex, sampled.next);
			entries++;
		}
	}
	block_add(&step.counters->lines, nread);
	block_add(&step.counters->entries, entries);
}

/*
 * Let up to BLOCK_THREADS evenly spaced vertices vote for the giant tree. `half`: the winner needs
 * half of the votes. One block. Bytes: 4 a step up, at random.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
cc_vote_kernel(const uint32_t *component, uint64_t nvertices, bool half, Forest *forest)
{
	__shared__ uint32_t root[BLOCK_THREADS];
	__shared__ unsigned long long winner;	/* votes in the upper half, root in the lower */
	const uint64_t vertex = (nvertices + BLOCK_THREADS - 1) / BLOCK_THREADS * threadIdx.x;
	const uint32_t own = vertex < nvertices ? root_of(component, (uint32_t) vertex) :
		EMOGI_NO_VERTEX;
	const int	nvoters = __syncthreads_count(own != EMOGI_NO_VERTEX);
	unsigned long long votes = 0;

	root[threadIdx.x] = own;
	if (threadIdx.x == 0)
		winner = 0;
	__syncthreads();
	for (uint32_t i = 0; i < BLOCK_THREADS; i++)
		votes += root[i] == own;
	if (own != EMOGI_NO_VERTEX)
		atomicMax(&winner, votes << 32 | own);
	__syncthreads();
	if (threadIdx.x == 0)
		forest->giant = half && 2 * (winner >> 32) < (unsigned) nvoters ? EMOGI_NO_VERTEX :
			(uint32_t) winner;
}

/*
 * Point every vertex to its root, and mark in a bitmap those outside the giant tree, or all
 * vertices. Does nothing if there is no giant tree. Bytes: 4 to 8 a vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
cc_mark_outside_kernel(uint32_t *component, uint64_t nvertices, const Forest *forest, bool all,
					   uint32_t *outside)
{
	const uint32_t giant = forest->giant;

	if (giant == EMOGI_NO_VERTEX)
		return;
	for (uint64_t base = first_of_warp(); base < nvertices; base += grid_threads())
	{
		const uint64_t vertex = base + lane_number();
		const bool	is_outside = vertex < nvertices &&
			compress_path(component, (uint32_t) vertex, giant) != giant;
		const uint32_t bits = __ballot_sync(FULL_WARP, is_outside || (all && vertex < nvertices));

		if (lane_number() == 0)
			outside[base / 32] = bits;
	}
}

/*
 * Point every vertex to its root, if any trees were merged since the last compression. Bytes: none,
 * or 4 to 8 a vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
cc_compress_kernel(uint32_t *component, uint64_t nvertices, const Forest *forest)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	if (forest->hooked == 0)
		return;
	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < nvertices;
		 v += nthreads)
		compress_path(component, (uint32_t) v, EMOGI_NO_VERTEX);
}

#endif							/* EMOGI_CC_CUH */
