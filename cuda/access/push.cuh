/*
 * push.cuh: the push step (top-down): traverse the adjacency lists of a frontier.
 *
 * An algorithm supplies a small struct, Push:
 *   Weight
 *       the type of the weights that it reads, NoWeight for none
 *   Value
 *       what an edge needs to know of its source vertex; NoValue for nothing
 *   own(vertex)
 *       return that value of a frontier vertex
 *   visit(targets, wanted)
 *       for NoValue: visit the targets whose bits are set in `wanted`
 *   visit(targets, weights, values, wanted)
 *       the same, with each edge's weight and its source's value
 */
#ifndef EMOGI_PUSH_CUH
#define EMOGI_PUSH_CUH

#include "cuda/access/weights.cuh"

struct NoValue
{
};

/* Mark vertices in a bitmap. Bytes: 4 per vertex, and an atomic operation. */
static __global__ void
push_mark_sources_kernel(const uint32_t *sources, uint64_t nsources, uint32_t *bitmap)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; i < nsources; i += nthreads)
		atomicOr(&bitmap[sources[i] / 32], 1u << sources[i] % 32);
}

/* Add to the sums of the run. `lines` is equal in the lanes of a warp, `entries` is per thread. */
static __device__ void
add_sums(Counters *counters, unsigned long long lines, unsigned long long entries)
{
	block_add(&counters->lines, lane_number() == 0 ? lines : 0);
	block_add(&counters->entries, entries);
}

/* Return the number of lines of a slice of a list, at most SLICE_LINES, and the first of them. */
static __device__ __forceinline__ uint32_t
open_slice(Slice slice, Span list, uint64_t *first)
{
	const uint64_t lines = count_lines<Target>(list);
	const uint64_t done = (uint64_t) slice.index * SLICE_LINES;

	*first = list.start / Line<Target>::ENTRIES + done;
	return (uint32_t) (lines - done < SLICE_LINES ? lines - done : SLICE_LINES);
}

/* Return the edges of a list that lie in nlines lines from line `first` on. */
static __device__ __forceinline__ Span
clip_slice(Span list, uint64_t first, uint32_t nlines)
{
	const uint64_t low = first * ENTRIES;
	const uint64_t high = (first + nlines) * ENTRIES;

	return Span{list.start > low ? list.start : low, list.end < high ? list.end : high};
}

/*
 * Find the list that contains each wanted edge of a line, as its rank among the lanes `filled`,
 * whose lists are not empty and ascend. Return the bits of the wanted edges of the lane's piece.
 */
static __device__ __forceinline__ uint32_t
find_owners(uint64_t line, uint32_t nlines, Span list, uint32_t filled, uint32_t (&rank)[PIECE])
{
	const uint32_t group = lane_number() / LINE_LANES;
	const uint32_t shift = lane_number() % LINE_LANES * PIECE;
	uint32_t	wanted = 0;
	uint32_t	begins = 0;		/* edges of this line with which a list begins */
	uint32_t	before = 0;		/* lists before the first that has edges in this line */

#pragma unroll
	for (uint32_t g = 0; g < WARP_LINES; g++)
	{
		const uint64_t that = __shfl_sync(FULL_WARP, line, g * LINE_LANES);
		const uint32_t own = g < nlines ? overlap<Target>(list, that) : 0;
		const uint32_t all = __reduce_or_sync(FULL_WARP, own);
		const uint32_t its_begins = __reduce_or_sync(FULL_WARP, own & (0 - own));
		const uint32_t lanes = __ballot_sync(FULL_WARP, own != 0);

		if (g == group)
		{
			wanted = all;
			begins = its_begins;
			before = __popc(filled & ((lanes & (0 - lanes)) - 1));
		}
	}
#pragma unroll
	for (uint32_t j = 0; j < PIECE; j++)
		rank[j] = (before + __popc(begins & ((2u << (shift + j)) - 1)) - 1) % WARP_LANES;
	return wanted >> shift & ((1u << PIECE) - 1);
}

/*
 * Visit lines as walk_lines does, for a Push. The lists of the lanes ascend; `value` belongs to the
 * source vertex of the lane's list. The values pass through shared memory, because an edge's source
 * is known by its rank.
 */
template <class Push>
static __device__ __forceinline__ void
push_lines(const Lists<Target> &lists, Span list, uint64_t first, uint32_t nlines,
		   typename Push::Value value, unsigned long long *nread, const Push &push)
{
	typedef typename Push::Weight Weight;
	typedef typename Push::Value Value;

	if constexpr (std::is_same<Value, NoValue>::value)
		walk_lines<false>(lists.targets, list, first, nlines, nread,
						  [&](const Target (&target)[PIECE], uint32_t wanted) {
			push.visit(target, wanted);
			return 0u;
		});
	else
	{
		__shared__ Value table[BLOCK_THREADS];
		Value	   *values = table + threadIdx.x / WARP_LANES * WARP_LANES;
		const uint32_t filled = __ballot_sync(FULL_WARP, list.start < list.end);
		unsigned long long more = 0;

		__syncwarp();			/* the previous values are no longer read */
		if (list.start < list.end)
			values[__popc(filled & lanes_below())] = value;
		__syncwarp();
		deal_lines(first, nlines, nread, [&](uint64_t line, bool there) {
			return read_pieces<Weight>(lists, line, there);
		}, [&](uint64_t line, const Piece<Weight> &piece, uint32_t n) {
			uint32_t	rank[PIECE];
			const uint32_t wanted = find_owners(line, n, list, filled, rank);
			Target		target[PIECE];
			double		weight[PIECE];
			Value		own[PIECE];

			memcpy(target, &piece.targets, sizeof target);
			unpack_weights(piece, weight);
#pragma unroll
			for (uint32_t j = 0; j < PIECE; j++)
				own[j] = values[rank[j]];
			push.visit(target, weight, own, wanted);
			more += lists.near_weights ? 0 : count_weight_lines<Weight>(line, n);
		});
		*nread += more;
	}
}

/*
 * Push from a frontier, except from long lists, whose slices are queued. Bytes: 16 of offsets and
 * the own value per vertex; the lines of the frontier's lists, each once per bitmap word, and their
 * weights; the reads of visit per edge.
 */
template <class Push>
static __global__ void __launch_bounds__(BLOCK_THREADS)
push_words_kernel(Lists<Target> lists, const uint32_t *frontier, uint64_t nwords, Step step,
				  Push push)
{
	unsigned long long nread = 0;
	unsigned long long entries = 0;

	sweep_words(step, frontier, 0, nwords, [&](uint64_t word, uint32_t bits) {
		const uint64_t vertex = word * 32 + lane_number();
		typename Push::Value value = {};
		Span		list = {0, 0};
		uint64_t	first;
		uint64_t	last;
		uint64_t	last_below;
		uint64_t	nlines;
		uint32_t	below;
		bool		cut;

		if (bits >> lane_number() & 1)
		{
			list = Span{__ldg(&lists.offsets[vertex]), __ldg(&lists.offsets[vertex + 1])};
			value = push.own(vertex);
		}
		nlines = count_lines<Target>(list);
		cut = nlines > SLICE_LINES;
		queue_slices(step, cut, (uint32_t) vertex, nlines, 0);
		if (cut)
		{
			list = Span{0, 0};
			nlines = 0;
		}
		entries += list.end - list.start;

		/* A line shared with the lists of lower lanes is requested there. */
		first = list.start / ENTRIES;
		last = first + nlines - 1;
		below = __ballot_sync(FULL_WARP, nlines > 0) & lanes_below();
		last_below = __shfl_sync(FULL_WARP, last, below != 0 ? 31 - __clz(below) : 0);
		if (nlines > 0 && below != 0 && last_below == first)
		{
			first++;
			nlines--;
		}
		push_lines(lists, list, first, (uint32_t) nlines, value, &nread, push);
	});
	add_sums(step.counters, nread, entries);
}

/* Push from the slices of long lists. Bytes: as push_words_kernel. */
template <class Push>
static __global__ void __launch_bounds__(BLOCK_THREADS)
push_slices_kernel(Lists<Target> lists, Step step, Push push)
{
	unsigned long long nread = 0;
	unsigned long long entries = 0;

	sweep_slices(step, [&](Slice slice) {
		const Span	whole = {
			__ldg(&lists.offsets[slice.vertex]), __ldg(&lists.offsets[(uint64_t) slice.vertex + 1])
		};
		const typename Push::Value value = push.own(slice.vertex);
		uint64_t	first;
		const uint32_t nlines = open_slice(slice, whole, &first);
		const Span	part = clip_slice(whole, first, nlines);

		push_lines(lists, lane_number() == 0 ? part : Span{0, 0}, first,
				   lane_number() == 0 ? nlines : 0, value, &nread, push);
		entries += lane_number() == 0 ? part.end - part.start : 0;
	});
	add_sums(step.counters, nread, entries);
}

#endif							/* EMOGI_PUSH_CUH */
