/*
 * traverse.cuh: how kernels read neighbour lists. The one aligned edge loop, and what hands out its work in order.
 *
 * Over the link a request costs the same whether it brings 32 or 128 bytes, so what counts is the number of 128-byte
 * lines. Therefore
 *   - a line is read whole, by 8 neighbouring lanes with 16 bytes each: one merged, aligned request (EMOGI, PVLDB
 *     14(2) 2020, section 4.3; there 32 lanes with 4 bytes, here a warp has four lines in one instruction);
 *   - a warp works on 32 neighbouring vertices (one word of a bitmap), and a line that several of their lists share
 *     is read once for all of them;
 *   - words are handed out in ascending order, so that all blocks read one narrow, moving window of host memory:
 *     address translation fails a window above some 256 MB (docs/design.md, "Facts measured on an H200");
 *   - lists above SLICE_LINES lines are cut into slices for any warp to take, whatever vertex has them.
 *
 * Every function here is called by whole, converged warps, in blocks of one dimension.
 */
#ifndef EMOGI_TRAVERSE_CUH
#define EMOGI_TRAVERSE_CUH

#include <stdint.h>
#include <string.h>

#include "cuda/placement/placement.cuh"

/* Tuned constants, of edf1050. All figures of an NVIDIA H200 in bench/RESULTS.md (ad4a202) are with these values. */
#define BLOCK_THREADS 256		/* of most kernels: more share a ticket, fewer fill the device more evenly */
#define LINE_UNROLL 2			/* instructions in flight, WARP_LINES lines each: more hide latency and take registers */
#define SLICE_LINES 32			/* of a long list, 4 KB: fewer spread hubs more evenly, in a longer queue of slices */

#define WARP_LANES 32
#define FULL_WARP 0xFFFFFFFFu
#define BLOCK_WARPS (BLOCK_THREADS / WARP_LANES)

#define PIECE_BYTES 16			/* what a lane reads of a line */
#define LINE_LANES (EMOGI_LINE_BYTES / PIECE_BYTES)
#define WARP_LINES (WARP_LANES / LINE_LANES)	/* lines in one instruction */
#define NO_BATCH UINT32_MAX

/* How many targets a line and a lane's piece of it hold. */
template <typename Target>
struct Line
{
	static constexpr uint32_t ENTRIES = EMOGI_LINE_BYTES / sizeof(Target);
	static constexpr uint32_t PIECE = PIECE_BYTES / sizeof(Target);
};

/* Entries [start, end) of the targets; empty when start = end. */
typedef struct Span
{
	uint64_t	start;
	uint64_t	end;
} Span;

/* Lines first + SLICE_LINES * index .. of the list of `vertex`, where first is the line in which the list starts. */
typedef struct Slice
{
	uint32_t	vertex;
	uint32_t	index;
} Slice;

/* What kernels count, in device memory. */
typedef struct Counters
{
	/* Zeroed by the host before each step, up to `lines`. */
	unsigned long long vertices;	/* of the new frontier */
	unsigned long long edges;	/* that lead from the new frontier */
	unsigned long long claimed; /* vertices reached in this step, of several levels if it has several */
	unsigned long long nslices;
	uint32_t	ticket;			/* the next batch of words */
	uint32_t	nqueued;

	/* What a persistent kernel leaves behind (persistent.cuh; the last three only when it has a pile of vertices that wait). */
	uint32_t	steps;			/* made */
	uint32_t	now;			/* the queue that has the frontier */
	unsigned long long spent;	/* entries of the steps since the pile was looked at */
	uint32_t	pile;			/* how often it has been */
	uint32_t	waiting;		/* items on it */
	unsigned long long threshold;	/* and what was chosen then */
	double		delta;

	unsigned long long far;		/* pending vertices that were not taken into the new frontier */
	unsigned long long nearest; /* ~ of the least key among them */

	/* Sums over the run. */
	unsigned long long lines;	/* requested */
	unsigned long long entries; /* looked at */
	unsigned long long lists;	/* not empty, of the lists that bottom-up steps read */
	unsigned long long starts;	/* lines in which at least one of them starts */

	/* Zeroed when the run is opened, and never again. */
	uint32_t	halt;			/* 1 = cancel was seen: kernels leave, this one and those queued behind it */
} Counters;

/* What the kernels of a step share. */
typedef struct Step
{
	Counters   *counters;
	Slice	   *slices;			/* see slice_capacity */
	const volatile uint32_t *stop;	/* host memory: the host wants the kernels to leave */
	uint32_t	batch_words;	/* words that a block takes at once: a multiple of BLOCK_WARPS */
} Step;

/*
 * The most slices that lists of nedges entries give. A list of d entries touches at most (d + 2 (E - 1)) / E lines of
 * E entries; it is cut when they are 33 or more, hence d >= 31 E + 2, into at most (lines + 31) / 32 slices. Over d
 * that is largest for the shortest such list: 2 slices for 31 E + 2 entries. Two for 31 E is thus a bound.
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

/* Lanes below, and above, the own one. */
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

/* Sum over the lanes up to and including the own one. */
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

/* Add every thread's value to a sum in device memory, with one atomic operation a block. All threads must call it. */
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

/* Get the lines that a span touches. */
template <typename Target>
static __device__ __forceinline__ uint64_t
count_lines(Span list)
{
	return list.start < list.end ? (list.end - 1) / Line<Target>::ENTRIES - list.start / Line<Target>::ENTRIES + 1 : 0;
}

/* Get the entries of a line that belong to a span, one bit each. */
template <typename Target>
static __device__ __forceinline__ uint32_t
overlap(Span list, uint64_t line)
{
	const uint64_t base = line * Line<Target>::ENTRIES;
	const uint64_t low = list.start > base ? list.start : base;
	const uint64_t high = list.end < base + Line<Target>::ENTRIES ? list.end : base + Line<Target>::ENTRIES;

	return low < high ? FULL_WARP >> (32 - (uint32_t) (high - low)) << (uint32_t) (low - base) : 0;
}

/* Get entry j of a vertex's prefix, j below prefix_length; EMOGI_NO_VERTEX beyond the end of its list. */
template <typename Target>
static __device__ __forceinline__ Target
read_prefix(const Lists<Target> &lists, uint64_t vertex, uint32_t j)
{
	return __ldg(&lists.prefixes[(vertex / WARP_LANES * lists.prefix_length + j) * WARP_LANES + vertex % WARP_LANES]);
}

/* Read the own piece of a line: one request for the LINE_LANES lanes that share the line. */
template <typename Target>
static __device__ __forceinline__ uint4
read_piece(const Target *targets, uint64_t line)
{
	const uint4 *pieces = reinterpret_cast<const uint4 *>(targets + line * Line<Target>::ENTRIES);

	return __ldg(pieces + lane_number() % LINE_LANES);
}

/*
 * Look at WARP_LINES lines that the warp holds, one for each group of LINE_LANES lanes. Lane i looks for the entries
 * of its own span `list` in all of them; only entries that some lane wants are visited. nlines: how many of the lines
 * are there. Get, when SEARCH, whether a visited entry of the own list was a hit.
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
 * The aligned edge loop. Lane i asks for the lines first .. first + nlines - 1; the warp reads the lines of all lanes,
 * one after another, WARP_LINES at a time. nlines may be 0. read(line, there) gets the own piece of a line, zeroes when
 * it is not there; look(line, piece, n) is called by the whole warp with what it read, of which the first n groups
 * are there. *nread grows by the lines read, alike in all lanes.
 */
template <class Read, class Look>
static __device__ __forceinline__ void
deal_lines(uint64_t first, uint32_t nlines, unsigned long long *nread, Read read, Look look)
{
	const uint32_t upto = warp_prefix_sum(nlines);
	const uint32_t nasked = __shfl_sync(FULL_WARP, upto, WARP_LANES - 1);
	const uint64_t origin = first - (upto - nlines);	/* ask a of this lane is for line origin + a; may wrap */

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
 * Deal lines on behalf of lists: look in each line for the entries of every lane's span `list`, so lanes whose lists
 * share a line let one of them ask for it.
 *
 * visit(targets[PIECE], wanted) gets a lane's piece of a line and the bits of the entries to look at; it returns the
 * bits of those that are hits. Get (when SEARCH) whether the own list had one.
 */
template <bool SEARCH, typename Target, class Visit>
static __device__ __forceinline__ bool
walk_lines(const Target *targets, Span list, uint64_t first, uint32_t nlines, unsigned long long *nread, Visit visit)
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

/* Queue the slices from number `from` on of each list that `cut` marks, as many as nlines lines make. */
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
 * Say whether cancel was seen before this kernel began. Kernels queued earlier may have left early then, so a kernel that uses what they wrote as
 * an index or as a bound, and does not take its work from a sweep below, asks this first and returns.
 */
static __device__ __forceinline__ bool
is_halted(const Step &step)
{
	return *(const volatile uint32_t *) &step.counters->halt != 0;
}

/* Say whether the kernel shall leave. The first thread asks the host over the link, and tells the others. */
static __device__ __forceinline__ bool
must_leave(const Step &step)
{
	volatile uint32_t *halt = &step.counters->halt;

	if (blockIdx.x == 0 && threadIdx.x == 0 && *step.stop != 0)
		*halt = 1;
	return *halt != 0;
}

/* The same where a block may be the last for long: it asks the host itself, in every 64th round. */
static __device__ __forceinline__ bool
must_leave_alone(const Step &step, uint32_t round)
{
	if (round % 64 == 63 && *step.stop != 0)
		*(volatile uint32_t *) &step.counters->halt = 1;
	return must_leave(step);
}

/* Take the number of the next batch, or NO_BATCH. Both reads are under way together. */
static __device__ __forceinline__ uint32_t
take_ticket(const Step &step)
{
	const uint32_t ticket = atomicAdd(&step.counters->ticket, 1);

	return must_leave(step) ? NO_BATCH : ticket;
}

/*
 * Give the warps of the grid the words of a bitmap that are not zero after ^ flip, in ascending order: a block takes
 * batch_words at a time, its warps every BLOCK_WARPS-th of them. process(word number, bits) is called by whole warps.
 */
template <class Process>
static __device__ __forceinline__ void
sweep_words(const Step &step, const uint32_t *bitmap, uint32_t flip, uint64_t nwords, Process process)
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

		/* Everyone has read ticket[round ^ 1] before this, and nobody reads it again before the next. */
		__syncthreads();
		if (ticket[round] >= nbatches)
			break;
		first = (uint64_t) ticket[round] * step.batch_words;
		if (threadIdx.x == 0)
			ticket[round ^ 1] = take_ticket(step);
		for (uint32_t j = 0; j < step.batch_words; j += WARP_LANES)
		{
			const uint32_t i = j + lane_number();
			const uint32_t bits = i < step.batch_words && first + i < nwords ? __ldg(bitmap + first + i) ^ flip : 0;
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

/* Give the warps of the grid the queued slices. process(slice) is called by whole warps. */
template <class Process>
static __device__ __forceinline__ void
sweep_slices(const Step &step, Process process)
{
	const uint64_t nslices = step.counters->nslices;
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;

	for (uint64_t i = ((uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x) / WARP_LANES; i < nslices; i += nwarps)
	{
		if (__any_sync(FULL_WARP, lane_number() == 0 && must_leave(step)))
			break;
		process(step.slices[i]);
	}
}

#endif							/* EMOGI_TRAVERSE_CUH */
