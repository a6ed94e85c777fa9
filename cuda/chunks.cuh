/*
 * chunks.cuh: how kernels read every entry of every list: in chunks of eight lines, whatever the lists.
 *
 * Chunk c has the entries from CHUNK_ENTRIES * c on. Warps take chunks in ascending order, so the link sees whole lines,
 * each once, from one narrow moving window, and a hub is no more work than a thousand small lists.
 */
#ifndef EMOGI_CHUNKS_CUH
#define EMOGI_CHUNKS_CUH

#include "weights.cuh"

#define CHUNK_LINES (LINE_UNROLL * WARP_LINES)	/* what a warp reads at once */
#define CHUNK_ENTRIES (CHUNK_LINES * ENTRIES)
#define CHUNK_TARGET_BYTES (CHUNK_LINES * EMOGI_LINE_BYTES)
#define TICKET_CHUNKS 8			/* that a warp takes at once: 8 KB of targets */

/* Get the list that an entry is in, at or above `low`. */
static __device__ __forceinline__ uint64_t
find_list(const uint64_t *offsets, uint64_t low, uint64_t nlists, uint64_t entry)
{
	uint64_t	high = nlists - 1;

	while (low < high)
	{
		const uint64_t middle = low + (high - low) / 2;

		if (__ldg(&offsets[middle + 1]) > entry)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Find where each chunk begins. Bytes: 4 a chunk, and some 8 log n at random. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
find_lists(const uint64_t *offsets, uint64_t nlists, uint64_t nchunks, uint32_t *list)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t c = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; c < nchunks; c += nthreads)
		list[c] = (uint32_t) find_list(offsets, 0, nlists, c * CHUNK_ENTRIES);
}

/* Give the warps of the grid chunks first .. upto - 1 in ascending order. process(chunk) is called by whole warps. */
template <class Process>
static __device__ __forceinline__ void
sweep_chunks(const Step &step, uint64_t first, uint64_t upto, Process process)
{
	const uint64_t ntickets = (upto - first + TICKET_CHUNKS - 1) / TICKET_CHUNKS;
	uint32_t	next = lane_number() == 0 ? take_ticket(step) : 0;

	for (;;)
	{
		const uint32_t ticket = __shfl_sync(FULL_WARP, next, 0);
		uint64_t	chunk = first + (uint64_t) ticket * TICKET_CHUNKS;

		if (ticket >= ntickets)
			break;
		if (lane_number() == 0)
			next = take_ticket(step);	/* under way while the chunks are read */
		for (uint32_t i = 0; i < TICKET_CHUNKS && chunk < upto; i++)
			process(chunk++);
	}
}

/*
 * Walk the lists that have entries in a chunk, 32 at a time, from list `base`, which has its first one. use(list number,
 * start, stop, low, high) is called by the whole warp, each lane with the bounds of one list and of what the chunk has
 * of it, low >= high for nothing.
 */
template <class Use>
static __device__ __forceinline__ void
walk_chunk(const Lists<Target> &lists, uint64_t nlists, uint64_t chunk, uint64_t base, Use use)
{
	const uint64_t begin = chunk * CHUNK_ENTRIES;
	const uint64_t end = lists.nedges - begin < CHUNK_ENTRIES ? lists.nedges : begin + CHUNK_ENTRIES;

	for (;;)
	{
		const uint64_t own = base + lane_number();
		const bool	there = own < nlists;
		const uint64_t start = there ? __ldg(&lists.offsets[own]) : lists.nedges;
		const uint64_t stop = there ? __ldg(&lists.offsets[own + 1]) : lists.nedges;
		const uint64_t upto = __shfl_sync(FULL_WARP, stop, WARP_LANES - 1);

		use(own, start, stop, start > begin ? start : begin, stop < end ? stop : end);
		if (upto >= end)
			break;
		base += WARP_LANES;
		/* Lists that are empty may lie between, more than it would be wise to step through. */
		if (__ldg(&lists.offsets[base + WARP_LANES < nlists ? base + WARP_LANES : nlists]) <= upto)
			base = find_list(lists.offsets, base, nlists, upto);
	}
}

#endif							/* EMOGI_CHUNKS_CUH */
