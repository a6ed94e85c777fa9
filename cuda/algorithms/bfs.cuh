/*
 * bfs.cuh: kernels of BFS. bfs.cu describes the method and launches them.
 */
#ifndef EMOGI_BFS_CUH
#define EMOGI_BFS_CUH

#include "cuda/access/persistent.cuh"
#include "cuda/access/push.cuh"

/* Bitmaps in device memory, [nwords] each. Bits beyond the last vertex stay 0. */
typedef struct Bitmaps
{
	uint32_t   *seen;
	uint32_t   *visited;
	uint32_t   *frontier;
	uint64_t	nwords;
} Bitmaps;

/* Count the lists longer than `length`, and the lines in which they start. Bytes: 8 a vertex. */
static __global__ void
bfs_survey_kernel(const uint64_t *offsets, uint64_t nvertices, uint32_t length, Counters *counters)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * blockDim.x;
	const uint64_t own = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x;
	unsigned long long lists = 0;
	unsigned long long starts = 0;

	for (uint64_t base = own - lane_number(); base < nvertices; base += nthreads)
	{
		const uint64_t vertex = base + lane_number();
		const uint64_t start = vertex < nvertices ? offsets[vertex] : 0;
		const bool	filled = vertex < nvertices && offsets[vertex + 1] > start + length;
		const uint64_t line = start / Line<Target>::ENTRIES;
		const uint32_t below = __ballot_sync(FULL_WARP, filled) & lanes_below();
		const uint64_t line_below = __shfl_sync(FULL_WARP, line,
												below != 0 ? 31 - __clz(below) : 0);

		lists += filled;
		starts += filled && (below == 0 || line_below != line);
	}
	block_add(&counters->lists, lists);
	block_add(&counters->starts, starts);
}

/*
 * Make the vertices that the step found the new frontier, at level `depth`. Bytes: the three
 * bitmaps and one of them again, n/2; for each word with new vertices 256 of offsets and 128 of
 * levels.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
bfs_settle_kernel(Bitmaps maps, const uint64_t *offsets, int32_t *level, int32_t depth,
				  Counters *counters)
{
	unsigned long long vertices = 0;
	unsigned long long edges = 0;

	for (uint64_t base = first_of_warp(); base < maps.nwords; base += grid_threads())
	{
		const uint64_t word = base + lane_number();
		uint32_t	fresh = 0;
		uint32_t	todo;

		if (word < maps.nwords)
		{
			const uint32_t seen = maps.seen[word];

			fresh = seen & ~maps.visited[word];
			maps.frontier[word] = fresh;
			if (fresh != 0)
				maps.visited[word] = seen;
			vertices += __popc(fresh);
		}
		todo = __ballot_sync(FULL_WARP, fresh != 0);
		while (todo != 0)
		{
			const uint32_t lane = __ffs(todo) - 1;
			const uint64_t vertex = (base + lane) * 32 + lane_number();

			todo &= todo - 1;
			if (__shfl_sync(FULL_WARP, fresh, lane) >> lane_number() & 1)
			{
				level[vertex] = depth;
				edges += offsets[vertex + 1] - offsets[vertex];
			}
		}
	}
	block_add(&counters->vertices, vertices);
	block_add(&counters->claimed, vertices);
	block_add(&counters->edges, edges);
}

/*
 * Mark the wanted targets as seen. It reads first because an atomic costs more and most targets
 * have been seen.
 */
static __device__ __forceinline__ void
mark_seen(uint32_t *seen, const Target (&target)[Line<Target>::PIECE], uint32_t wanted)
{
	uint32_t	word[Line<Target>::PIECE];

#pragma unroll
	for (uint32_t j = 0; j < Line<Target>::PIECE; j++)
		word[j] = wanted >> j & 1 ? __ldcg(&seen[target[j] / 32]) : FULL_WARP;
#pragma unroll
	for (uint32_t j = 0; j < Line<Target>::PIECE; j++)
		if ((word[j] >> target[j] % 32 & 1) == 0)
			atomicOr(&seen[target[j] / 32], 1u << target[j] % 32);
}

/*
 * Push functor of the top-down step (push_words_kernel, push_slices_kernel): mark every target of
 * the frontier as seen.
 */
struct MarkSeen
{
	typedef NoWeight Weight;
	typedef NoValue Value;

	uint32_t   *seen;

	__device__ __forceinline__ NoValue
	own(uint64_t vertex) const
	{
		return NoValue();
	}

	__device__ __forceinline__ void
	visit(const Target (&target)[Line<Target>::PIECE], uint32_t wanted) const
	{
		mark_seen(seen, target, wanted);
	}
};

/* Get the bits of the wanted targets that are in the frontier. */
static __device__ __forceinline__ uint32_t
find_in_frontier(const uint32_t *frontier, const Target (&target)[Line<Target>::PIECE],
				 uint32_t wanted)
{
	uint32_t	hits = 0;

#pragma unroll
	for (uint32_t j = 0; j < Line<Target>::PIECE; j++)
		if (wanted >> j & 1)
			hits |= (__ldg(&frontier[target[j] / 32]) >> target[j] % 32 & 1) << j;
	return hits;
}

/*
 * Bottom-up step over the prefixes: mark as `seen` the unvisited vertices with a prefix entry in
 * the frontier. Mark in `rest` the other unvisited vertices whose list is longer than the prefix.
 * Bytes: two bitmaps, n/4; for 32 vertices a line for each entry that one of them reads; a random
 * 4-byte read of `frontier` an entry; 16 of offsets for each prefix without a hit.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
bfs_bottom_up_prefixes_kernel(Lists<Target> lists, Bitmaps maps, uint64_t nvertices, uint32_t *rest,
							  Counters *counters)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;
	unsigned long long entries = 0;

	for (uint64_t word = ((uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x) / WARP_LANES;
		 word < maps.nwords; word += nwarps)
	{
		const uint64_t vertex = word * WARP_LANES + lane_number();
		bool		searches = vertex < nvertices &&
			(~maps.visited[word] >> lane_number() & 1) != 0;
		bool		found = false;
		uint32_t	bits;

		for (uint32_t j = 0; j < lists.prefix_length && __any_sync(FULL_WARP, searches); j++)
		{
			const Target target = searches ? read_prefix(lists, vertex, j) : EMOGI_NO_VERTEX;

			searches = target != EMOGI_NO_VERTEX;
			entries += searches;
			found |= searches && (__ldg(&maps.frontier[target / 32]) >> target % 32 & 1) != 0;
			searches &= !found;
		}
		if (searches)
			searches = __ldg(&lists.offsets[vertex + 1]) - __ldg(&lists.offsets[vertex]) >
				lists.prefix_length;
		bits = __ballot_sync(FULL_WARP, found);
		if (bits != 0 && lane_number() == 0)
			maps.seen[word] |= bits;	/* no other warp writes this word */
		bits = __ballot_sync(FULL_WARP, searches);
		if (lane_number() == 0)
			rest[word] = bits;
	}
	block_add(&counters->entries, entries);
}

/*
 * Bottom-up step for the 32 vertices of a word: read 1, 1, 2, 4, 8 and 16 lines of each list, until
 * an entry is in the frontier. The first line is often the whole list, and often shared with
 * adjacent lists. Lines left after these rounds are queued. Return the bits of the vertices found.
 */
static __device__ __forceinline__ uint32_t
search_word(const Lists<Target> &lists, const Bitmaps &maps, const Step &step, uint64_t vertex,
			Span list, unsigned long long *nread, unsigned long long *entries)
{
	const uint64_t nlines = count_lines<Target>(list);
	const uint64_t first = list.start / Line<Target>::ENTRIES;
	const uint32_t filled = __ballot_sync(FULL_WARP, nlines > 0);
	const uint32_t below = filled & lanes_below();
	const uint32_t above = filled & lanes_above();
	const uint64_t first_below = __shfl_sync(FULL_WARP, first, below != 0 ? 31 - __clz(below) : 0);
	const uint64_t first_above = __shfl_sync(FULL_WARP, first, above != 0 ? __ffs(above) - 1 : 0);
	const bool	leads = nlines > 0 && (below == 0 || first_below != first);
	/*
	 * Lines to read. The last line is skipped if the next list starts in it, because round 0 reads
	 * it.
	 */
	const uint64_t upto = nlines - (nlines > 0 && above != 0 && first_above == first + nlines - 1);
	auto		visit = [&](const Target (&target)[Line<Target>::PIECE], uint32_t wanted) {
		*entries += __popc(wanted);
		return find_in_frontier(maps.frontier, target, wanted);
	};
	uint64_t	done = 1;
	bool		found = walk_lines<true>(lists.targets, list, first, leads ? 1 : 0, nread, visit);

	for (uint32_t quota = 1; quota < SLICE_LINES; quota *= 2)
	{
		const bool	searches = !found && done < upto;
		const uint64_t left = searches ? upto - done : 0;

		if (!__any_sync(FULL_WARP, searches))
			break;
		found |= walk_lines<true>(lists.targets, searches ? list : Span{0, 0}, first + done,
								  (uint32_t) (left < quota ? left : quota), nread, visit);
		done += quota;
	}
	queue_slices(step, !found && done < upto, (uint32_t) vertex, nlines, 1);
	return __ballot_sync(FULL_WARP, found);
}

/*
 * Bottom-up step for the vertices of (bitmap ^ flip), none of them visited, except for long lists.
 * Bytes: 8 of offsets a vertex; the first lines of their lists, each once a word, and as many more
 * as the search needs; a random 4-byte read of `frontier` an entry.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
bfs_bottom_up_kernel(Lists<Target> lists, Bitmaps maps, const uint32_t *bitmap, uint32_t flip,
					 uint64_t nvertices, Step step)
{
	unsigned long long nread = 0;
	unsigned long long entries = 0;

	sweep_words(step, bitmap, flip, maps.nwords, [&](uint64_t word, uint32_t bits) {
		const uint64_t vertex = word * 32 + lane_number();
		Span		list = {0, 0};
		uint32_t	found;

		if (vertex < nvertices && (bits >> lane_number() & 1))
			list = Span{__ldg(&lists.offsets[vertex]), __ldg(&lists.offsets[vertex + 1])};
		found = search_word(lists, maps, step, vertex, list, &nread, &entries);
		if (found != 0 && lane_number() == 0)
			maps.seen[word] |= found;	/* no other warp writes this word */
	});
	add_sums(step.counters, nread, entries);
}

/*
 * Bottom-up step over slices of long lists, unless another slice has found the vertex. Bytes: as
 * bfs_bottom_up_kernel.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
bfs_bottom_up_slices_kernel(Lists<Target> lists, Bitmaps maps, Step step)
{
	constexpr uint32_t STRIDE = LINE_UNROLL * WARP_LINES;
	unsigned long long nread = 0;
	unsigned long long entries = 0;

	sweep_slices(step, [&](Slice slice) {
		uint32_t   *seen = &maps.seen[slice.vertex / 32];
		const uint32_t bit = 1u << slice.vertex % 32;
		Span		list = {__ldg(&lists.offsets[slice.vertex]),
			__ldg(&lists.offsets[(uint64_t) slice.vertex + 1])};
		uint64_t	first;
		const uint32_t nlines = open_slice(slice, list, &first);

		if (lane_number() > 0)
			list = Span{0, 0};
		for (uint32_t done = 0; done < nlines; done += STRIDE)
		{
			const uint32_t now = nlines - done < STRIDE ? nlines - done : STRIDE;
			bool		found = lane_number() == 0 && (__ldcg(seen) & bit) != 0;

			if (__any_sync(FULL_WARP, found))
				break;
			found = walk_lines<true>(lists.targets, list, first + done,
									 lane_number() == 0 ? now : 0, &nread,
									 [&](const Target (&target)[Line<Target>::PIECE],
										 uint32_t wanted) {
				entries += __popc(wanted);
				return find_in_frontier(maps.frontier, target, wanted);
			});
			if (found)
				atomicOr(seen, bit);
		}
	});
	add_sums(step.counters, nread, entries);
}

/*
 * Search functor of BFS: an unseen vertex belongs to the next level. Updates `seen`, not `visited`.
 */
struct LevelSearch
{
	typedef NoWeight Weight;
	typedef QueueItem Item;
	static constexpr bool PILES = false;

	uint32_t   *seen;
	int32_t    *level;
	int32_t		depth;			/* of the frontier when the kernel starts */

	__device__ __forceinline__ unsigned long long
	own(const QueueItem &item) const
	{
		return 0;
	}

	__device__ __forceinline__ VisitOutcome
	visit(const QueueItem &item, unsigned long long own, Target target, double weight,
		  uint32_t step, QueueItem *fresh) const
	{
		const uint32_t bit = 1u << target % 32;

		if ((atomicOr(&seen[target / 32], bit) & bit) != 0)
			return FATE_NONE;
		level[target] = depth + 1 + (int32_t) step;
		return FATE_NEAR;
	}
};

/* Functor of persistent_queue_kernel and persistent_mark_kernel for BFS: does nothing. */
struct PlainItem
{
	__device__ __forceinline__ void
	operator()(QueueItem *item) const
	{
	}

	__device__ __forceinline__ bool
	operator()(const QueueItem &item) const
	{
		return true;
	}
};

#endif							/* EMOGI_BFS_CUH */
