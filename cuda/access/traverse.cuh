/*
 * traverse.cuh: reads of adjacency lists: the aligned edge loop and the distribution of its work in
 * order.
 *
 * Over the link a request costs the same whether it transfers 32 or 128 bytes, so the cost is the
 * number of 128-byte lines. Therefore:
 * - A line is read whole, by 8 neighboring lanes with 16 bytes each: one merged, aligned request
 *   (EMOGI, PVLDB 14(2) 2020, section 4.3; there 32 lanes with 4 bytes, here a warp reads four
 *   lines in one instruction).
 * - A warp works on 32 neighboring vertices (one word of a bitmap). A line shared by several of
 *   their lists is read once for all of them.
 * - Words are assigned in ascending order, so that all blocks read one narrow, moving window of
 *   host memory: address translation degrades for a window above some 256 MB
 *   (docs/design/hardware.md, "Facts measured on an H200").
 * - Lists above SLICE_LINES lines are cut into slices that any warp may take.
 *
 * Every function here but for_each is called by whole, converged warps, in one-dimensional blocks.
 */
#ifndef EMOGI_TRAVERSE_CUH
#define EMOGI_TRAVERSE_CUH

#include <stdint.h>
#include <string.h>

#include "cuda/placement/placement.cuh"

/*
 * Tuned constants, of edf1050. All figures of an NVIDIA H200 in bench/RESULTS.md (ad4a202) were
 * measured with these values.
 */
/* of most kernels: more threads share a ticket, fewer fill the device more evenly */
#define BLOCK_THREADS 256
/* instructions in flight, WARP_LINES lines each: more hide latency but take registers */
#define LINE_UNROLL 2
/* of a long list, 4 KB: fewer lines spread hubs more evenly, in a longer queue of slices */
#define SLICE_LINES 32

#define WARP_LANES 32
#define FULL_WARP 0xFFFFFFFFu
#define BLOCK_WARPS (BLOCK_THREADS / WARP_LANES)

#define PIECE_BYTES 16			/* that a lane reads of a line */
#define LINE_LANES (EMOGI_LINE_BYTES / PIECE_BYTES)
#define WARP_LINES (WARP_LANES / LINE_LANES)	/* lines in one instruction */
#define NO_BATCH UINT32_MAX

/* Get the number of threads of the grid. */
static __device__ __forceinline__ uint64_t
grid_threads(void)
{
	return (uint64_t) gridDim.x * BLOCK_THREADS;
}

/* Get the number in the grid of the first thread of the caller's warp. */
static __device__ __forceinline__ uint64_t
first_of_warp(void)
{
	return (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x / WARP_LANES * WARP_LANES;
}

/* Call visit(i) for each i < count, with all threads of the grid. */
template <class Visit>
static __device__ __forceinline__ void
for_each(uint64_t count, Visit visit)
{
	for (uint64_t i = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; i < count;
		 i += grid_threads())
		visit(i);
}

/* The number of targets in a line, and in a lane's piece of it. */
template <typename Target>
struct Line
{
	static constexpr uint32_t ENTRIES = EMOGI_LINE_BYTES / sizeof(Target);
	static constexpr uint32_t PIECE = PIECE_BYTES / sizeof(Target);
};

/* Edges [start, end) of the targets; empty if start = end. */
typedef struct Span
{
	uint64_t	start;
	uint64_t	end;
} Span;

/*
 * Lines from first + SLICE_LINES * index on of the adjacency list of `vertex`, where `first` is the
 * line in which the list starts.
 */
typedef struct Slice
{
	uint32_t	vertex;
	uint32_t	index;
} Slice;

/* Counters of the kernels, in device memory. */
typedef struct Counters
{
	/* Zeroed by the host before each step, up to `lines`. */
	unsigned long long vertices;	/* in the new frontier */
	unsigned long long edges;	/* from the new frontier */
	/* vertices reached in this step, which may comprise several levels */
	unsigned long long claimed;
	unsigned long long nslices;
	uint32_t	ticket;			/* the next batch of words */
	uint32_t	nqueued;

	/*
	 * State that a persistent kernel leaves behind (persistent.cuh; pile .. delta only if it has a
	 * pile of postponed vertices).
	 */
	uint32_t	steps;			/* made */
	uint32_t	now;			/* queue[now] has the frontier */
	unsigned long long spent;	/* edges of the steps since the last refill from the pile */
	uint32_t	pile;			/* number of refills */
	uint32_t	waiting;		/* items on the pile */
	unsigned long long threshold;	/* chosen at the last refill, like delta */
	double		delta;

	unsigned long long far;		/* pending vertices that did not enter the new frontier */
	unsigned long long nearest;	/* ~ of the minimum key among them */

	/* Sums over the run. */
	unsigned long long lines;	/* requested */
	unsigned long long entries;	/* visited */
	unsigned long long lists;	/* nonempty lists that bottom-up steps read */
	unsigned long long starts;	/* lines in which at least one of them starts */

	/* Zeroed when the run is opened, and never again. */
	uint32_t	halt;	/* 1 = a cancel was seen: this kernel and those queued behind it return */
} Counters;

/* Arguments that the kernels of a step share. */
typedef struct Step
{
	Counters   *counters;
	Slice	   *slices;			/* see slice_capacity */
	const volatile uint32_t *stop;	/* in host memory: the host wants the kernels to return */
	uint32_t	batch_words;	/* words that a block takes at a time: a multiple of BLOCK_WARPS */
} Step;

/*
 * Return the maximum number of slices that lists of nedges edges give. A list of d edges touches at
 * most (d + 2 (E - 1)) / E lines of E edges. It is cut if these are 33 or more, hence d >= 31 E +
 * 2, into at most (lines + 31) / 32 slices. Relative to d, this is largest for the shortest such
 * list: 2 slices for 31 E + 2 edges. So 2 slices per 31 E edges is an upper bound.
 */
static inline uint64_t
slice_capacity(uint64_t nedges, uint32_t line_entries)
{
	return 2 * (nedges / (31 * (uint64_t) line_entries)) + 2;
}

static __device__ __forceinline__ uint32_t
lane_number(void)
{
	return threadIdx.x % WARP_LANES;
}

/* Masks of the lanes below, and above, this lane. */
static __device__ __forceinline__ uint32_t
lanes_below(void)
{
	return (1u << lane_number()) - 1;
}

static __device__ __forceinline__ uint32_t
lanes_above(void)
{
	return ~lanes_below() << 1;
}

/* Return the sum over the lanes up to and including this lane. */
static __device__ __forceinline__ uint32_t
warp_prefix_sum(uint32_t value)
{
#pragma unroll
	for (uint32_t step = 1; step < WARP_LANES; step *= 2)
	{
		const uint32_t other = __shfl_up_sync(FULL_WARP, value, step);

		if (lane_number() >= step)
			value += other;
	}
	return value;
}

static __device__ __forceinline__ unsigned long long
warp_sum(unsigned long long value)
{
#pragma unroll
	for (uint32_t step = WARP_LANES / 2; step > 0; step /= 2)
		value += __shfl_xor_sync(FULL_WARP, value, step);
	return value;
}

/*
 * Add every thread's value to a sum in device memory, with one atomic operation per block. All
 * threads must call it.
 */
static __device__ void
block_add(unsigned long long *sum, unsigned long long value)
{
	__shared__ unsigned long long total;

	__syncthreads();
	if (threadIdx.x == 0)
		total = 0;
	__syncthreads();
	value = warp_sum(value);
	if (lane_number() == 0 && value > 0)
		atomicAdd(&total, value);
	__syncthreads();
	if (threadIdx.x == 0 && total > 0)
		atomicAdd(sum, total);
}

/* Return the number of lines that a span touches. */
template <typename Target>
static __device__ __forceinline__ uint64_t
count_lines(Span list)
{
	return list.start < list.end ?
		(list.end - 1) / Line<Target>::ENTRIES - list.start / Line<Target>::ENTRIES + 1 : 0;
}

/* Return a bit for each edge of a line that belongs to a span. */
template <typename Target>
static __device__ __forceinline__ uint32_t
overlap(Span list, uint64_t line)
{
	const uint64_t base = line * Line<Target>::ENTRIES;
	const uint64_t low = list.start > base ? list.start : base;
	const uint64_t high = list.end < base + Line<Target>::ENTRIES ? list.end :
		base + Line<Target>::ENTRIES;

	return low < high ? FULL_WARP >> (32 - (uint32_t) (high - low)) << (uint32_t) (low - base) : 0;
}

/*
 * Return edge j of a vertex's prefix, j < prefix_length; EMOGI_NO_VERTEX beyond the end of its
 * list.
 */
template <typename Target>
static __device__ __forceinline__ Target
read_prefix(const Lists<Target> &lists, uint64_t vertex, uint32_t j)
{
	return __ldg(&lists.prefixes[(vertex / WARP_LANES * lists.prefix_length + j) * WARP_LANES +
								 vertex % WARP_LANES]);
}

/* Read the lane's piece of a line: one request for the LINE_LANES lanes that share the line. */
template <typename Target>
static __device__ __forceinline__ uint4
read_piece(const Target *targets, uint64_t line)
{
	const uint4 *pieces = reinterpret_cast<const uint4 *>(targets + line * Line<Target>::ENTRIES);

	return __ldg(pieces + lane_number() % LINE_LANES);
}

/*
 * Visit WARP_LINES lines that the warp holds, one per group of LINE_LANES lanes. Lane i selects the
 * edges of its own span `list` in all of them; only edges that some lane selects are visited.
 * nlines: the number of valid lines. If SEARCH, return whether a visited edge of the lane's list
 * was a hit.
 */
template <bool SEARCH, typename Target, class Visit>
static __device__ __forceinline__ bool
visit_lines(uint64_t line, uint4 piece, uint32_t nlines, Span list, Visit visit)
{
	constexpr uint32_t PIECE = Line<Target>::PIECE;
	const uint32_t group = lane_number() / LINE_LANES;
	const uint32_t shift = lane_number() % LINE_LANES * PIECE;
	uint32_t	own[WARP_LINES];
	uint32_t	wanted = 0;
	uint32_t	hits;
	Target		target[PIECE];
	bool		found = false;

#pragma unroll
	for (uint32_t g = 0; g < WARP_LINES; g++)
	{
		const uint64_t that = __shfl_sync(FULL_WARP, line, g * LINE_LANES);
		uint32_t	all;

		own[g] = g < nlines ? overlap<Target>(list, that) : 0;
		all = __reduce_or_sync(FULL_WARP, own[g]);
		if (g == group)
			wanted = all;
	}
	memcpy(target, &piece, sizeof target);
	hits = visit(target, wanted >> shift & ((1u << PIECE) - 1));
	if (SEARCH)
	{
#pragma unroll
		for (uint32_t g = 0; g < WARP_LINES; g++)
			found |= (__reduce_or_sync(FULL_WARP, g == group ? hits << shift : 0) & own[g]) != 0;
	}
	return found;
}

/*
 * The aligned edge loop. Lane i requests the lines first .. first + nlines - 1; the warp reads the
 * lines of all lanes, one after another, WARP_LINES at a time. nlines may be 0. read(line, there)
 * returns the lane's piece of a line, zeroes if `there` is false. look(line, piece, n) is called by
 * the whole warp with what it read; the first n groups are valid. *nread grows by the lines read,
 * equally in all lanes.
 */
template <class Read, class Look>
static __device__ __forceinline__ void
deal_lines(uint64_t first, uint32_t nlines, unsigned long long *nread, Read read, Look look)
{
	const uint32_t upto = warp_prefix_sum(nlines);
	const uint32_t nasked = __shfl_sync(FULL_WARP, upto, WARP_LANES - 1);
	/* request a of this lane is for line origin + a; may wrap */
	const uint64_t origin = first - (upto - nlines);

	for (uint32_t base = 0; base < nasked; base += LINE_UNROLL * WARP_LINES)
	{
		uint64_t	line[LINE_UNROLL];
		decltype(read(first, true)) piece[LINE_UNROLL];

#pragma unroll
		for (uint32_t k = 0; k < LINE_UNROLL; k++)
		{
			const uint32_t ask = base + k * WARP_LINES + lane_number() / LINE_LANES;
			uint32_t	asker = 0;	/* the first lane with upto > ask */

#pragma unroll
			for (uint32_t step = WARP_LANES / 2; step > 0; step /= 2)
				if (__shfl_sync(FULL_WARP, upto, asker + step - 1) <= ask)
					asker += step;
			line[k] = __shfl_sync(FULL_WARP, origin, asker) + ask;
			piece[k] = read(line[k], ask < nasked);
		}
#pragma unroll
		for (uint32_t k = 0; k < LINE_UNROLL; k++)
			if (base + k * WARP_LINES < nasked)
				look(line[k], piece[k], nasked - base - k * WARP_LINES);
	}
	*nread += nasked;
}

/*
 * Run the aligned edge loop over adjacency lists: select in each line the edges of every lane's
 * span `list`, so if lists share a line, only one of their lanes needs to request it.
 *
 * visit(targets[PIECE], wanted) gets a lane's piece of a line and the bits of the edges to visit;
 * it returns the bits of the hits. If SEARCH, return whether the lane's list had a hit.
 */
template <bool SEARCH, typename Target, class Visit>
static __device__ __forceinline__ bool
walk_lines(const Target *targets, Span list, uint64_t first, uint32_t nlines,
		   unsigned long long *nread, Visit visit)
{
	bool		found = false;

	deal_lines(first, nlines, nread,
			   [&](uint64_t line, bool there) {
		return there ? read_piece(targets, line) : make_uint4(0, 0, 0, 0);
	},
			   [&](uint64_t line, const uint4 &piece, uint32_t n) {
		found |= visit_lines<SEARCH, Target>(line, piece, n, list, visit);
	});
	return found;
}

/*
 * Queue the slices from number `from` on of each list that `cut` marks; nlines is the length of the
 * list in lines.
 */
static __device__ void
queue_slices(const Step &step, bool cut, uint32_t vertex, uint64_t nlines, uint32_t from)
{
	const uint32_t upto = (uint32_t) ((nlines + SLICE_LINES - 1) / SLICE_LINES);
	uint32_t	lanes = __ballot_sync(FULL_WARP, cut);

	while (lanes != 0)
	{
		const uint32_t lane = __ffs(lanes) - 1;
		const uint32_t its_vertex = __shfl_sync(FULL_WARP, vertex, lane);
		const uint32_t its_upto = __shfl_sync(FULL_WARP, upto, lane);
		unsigned long long slot = 0;

		lanes &= lanes - 1;
		if (lane_number() == 0)
			slot = atomicAdd(&step.counters->nslices, (unsigned long long) (its_upto - from));
		slot = __shfl_sync(FULL_WARP, slot, 0);
		for (uint32_t i = from + lane_number(); i < its_upto; i += WARP_LANES)
			step.slices[slot + (i - from)] = Slice{its_vertex, i};
	}
}

/*
 * Return whether a cancel was seen before this kernel began. Earlier kernels of the queue may then
 * have returned early, so a kernel that uses their output as an index or as a bound, and does not
 * take its work from one of the sweeps below, checks this first and returns.
 */
static __device__ __forceinline__ bool
is_halted(const Step &step)
{
	return *(const volatile uint32_t *) &step.counters->halt != 0;
}

/*
 * Return whether the kernel must return early. The first thread polls the host over the link, and
 * tells the others.
 */
static __device__ __forceinline__ bool
must_leave(const Step &step)
{
	volatile uint32_t *halt = &step.counters->halt;

	if (blockIdx.x == 0 && threadIdx.x == 0 && *step.stop != 0)
		*halt = 1;
	return *halt != 0;
}

/*
 * The same for a block that may be the last one running for a long time: it polls the host itself,
 * in every 64th round.
 */
static __device__ __forceinline__ bool
must_leave_polling(const Step &step, uint32_t round)
{
	if (round % 64 == 63 && *step.stop != 0)
		*(volatile uint32_t *) &step.counters->halt = 1;
	return must_leave(step);
}

/* Take the number of the next batch, or NO_BATCH. Both reads are in flight together. */
static __device__ __forceinline__ uint32_t
take_ticket(const Step &step)
{
	const uint32_t ticket = atomicAdd(&step.counters->ticket, 1);

	return must_leave(step) ? NO_BATCH : ticket;
}

/*
 * Distribute the words of a bitmap that are not zero after ^ flip to the warps of the grid, in
 * ascending order: a block takes batch_words at a time, its warps every BLOCK_WARPS-th of them.
 * Whole warps call process(word number, bits).
 */
template <class Process>
static __device__ __forceinline__ void
sweep_words(const Step &step, const uint32_t *bitmap, uint32_t flip, uint64_t nwords,
			Process process)
{
	__shared__ uint32_t ticket[2];
	const uint64_t nbatches = (nwords + step.batch_words - 1) / step.batch_words;
	const uint32_t own_words = 0x01010101u << (threadIdx.x / WARP_LANES);

	static_assert(BLOCK_WARPS == 8, "own_words marks every eighth word");
	if (threadIdx.x == 0)
		ticket[0] = take_ticket(step);
	for (uint32_t round = 0;; round ^= 1)
	{
		uint64_t	first;

		/*
		 * All threads have read ticket[round ^ 1] before this barrier, and none reads it again
		 * before the next one.
		 */
		__syncthreads();
		if (ticket[round] >= nbatches)
			break;
		first = (uint64_t) ticket[round] * step.batch_words;
		if (threadIdx.x == 0)
			ticket[round ^ 1] = take_ticket(step);
		for (uint32_t j = 0; j < step.batch_words; j += WARP_LANES)
		{
			const uint32_t i = j + lane_number();
			const uint32_t bits = i < step.batch_words &&
				first + i < nwords ? __ldg(bitmap + first + i) ^ flip : 0;
			uint32_t	todo = __ballot_sync(FULL_WARP, bits != 0) & own_words;

			while (todo != 0)
			{
				const uint32_t lane = __ffs(todo) - 1;

				todo &= todo - 1;
				process(first + j + lane, __shfl_sync(FULL_WARP, bits, lane));
			}
		}
	}
}

/* Distribute the queued slices to the warps of the grid. Whole warps call process(slice). */
template <class Process>
static __device__ __forceinline__ void
sweep_slices(const Step &step, Process process)
{
	const uint64_t nslices = step.counters->nslices;
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;

	for (uint64_t i = ((uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x) / WARP_LANES;
		 i < nslices; i += nwarps)
	{
		if (__any_sync(FULL_WARP, lane_number() == 0 && must_leave(step)))
			break;
		process(step.slices[i]);
	}
}

#endif							/* EMOGI_TRAVERSE_CUH */
