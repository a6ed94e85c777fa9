/*
 * stable_sort.cuh: stable radix sort of numbers in device memory by their keys.
 *
 * Each pass sorts by eight bits, starting from the lowest. Each block counts the digits of
 * SORT_TILE numbers; prefix sums over all counts, digit by digit, give each block's output
 * positions; then the block reads its numbers again, and in each round of 256 the warps assign
 * positions one after another, the lanes of a warp in ascending order.
 */
#ifndef EMOGI_STABLE_SORT_CUH
#define EMOGI_STABLE_SORT_CUH

#include "cuda/access/prefix_sum.cuh"

#define SORT_DIGITS 256
/* of BLOCK_THREADS numbers: more rounds mean fewer counts, fewer rounds mean more blocks */
#define SORT_ROUNDS 16
#define SORT_TILE (SORT_ROUNDS * BLOCK_THREADS)

static_assert(SORT_DIGITS == BLOCK_THREADS, "a thread has a digit");

/*
 * Count the digits of each tile: counts[SORT_DIGITS][ntiles]. Bytes: 4 per number, and 4 of its key
 * at random.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
stable_sort_count_kernel(const uint32_t *number, uint64_t length, const uint32_t *key,
						 uint32_t shift, uint32_t *counts, uint64_t ntiles)
{
	__shared__ uint32_t count[SORT_DIGITS];

	for (uint64_t tile = blockIdx.x; tile < ntiles; tile += gridDim.x)
	{
		count[threadIdx.x] = 0;
		__syncthreads();
		for (uint64_t i = tile * SORT_TILE + threadIdx.x; i < length && i < (tile + 1) * SORT_TILE;
			 i += BLOCK_THREADS)
			atomicAdd(&count[key[number[i]] >> shift & (SORT_DIGITS - 1)], 1u);
		__syncthreads();
		counts[threadIdx.x * ntiles + tile] = count[threadIdx.x];
		__syncthreads();
	}
}

/*
 * Write the numbers of each tile to their positions; `counts` holds the prefix sums. Bytes: 8 per
 * number, 8 at random.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
stable_sort_write_kernel(const uint32_t *number, uint64_t length, const uint32_t *key,
						 uint32_t shift, const uint32_t *counts, uint64_t ntiles, uint32_t *sorted)
{
	__shared__ uint32_t before[SORT_DIGITS];	/* the next position of each digit */
	__shared__ uint32_t count[BLOCK_WARPS][SORT_DIGITS];	/* of the round, then positions */

	for (uint64_t tile = blockIdx.x; tile < ntiles; tile += gridDim.x)
	{
		before[threadIdx.x] = counts[threadIdx.x * ntiles + tile];
		for (uint32_t round = 0; round < SORT_ROUNDS; round++)
		{
			const uint64_t i = tile * SORT_TILE + round * BLOCK_THREADS + threadIdx.x;
			const bool	there = i < length;
			const uint32_t own = there ? number[i] : 0;
			const uint32_t digit = there ? key[own] >> shift & (SORT_DIGITS - 1) : SORT_DIGITS;
			const uint32_t lanes = __match_any_sync(FULL_WARP, digit);
			uint32_t	place;

			for (uint32_t w = 0; w < BLOCK_WARPS; w++)
				count[w][threadIdx.x] = 0;
			__syncthreads();
			if (there && lane_number() == (uint32_t) __ffs(lanes) - 1)
				count[threadIdx.x / WARP_LANES][digit] = __popc(lanes);
			__syncthreads();
			place = before[threadIdx.x];
			for (uint32_t w = 0; w < BLOCK_WARPS; w++)
			{
				const uint32_t its = count[w][threadIdx.x];

				count[w][threadIdx.x] = place;
				place += its;
			}
			before[threadIdx.x] = place;
			__syncthreads();
			if (there)
				sorted[count[threadIdx.x / WARP_LANES][digit] + __popc(lanes & lanes_below())] =
					own;
			__syncthreads();
		}
	}
}

/*
 * Return the number of counts that a sort of `length` numbers needs, including the work space of
 * the prefix sums.
 */
static inline uint64_t
stable_sort_counts(uint64_t length)
{
	const uint64_t ncounts = SORT_DIGITS * ((length + SORT_TILE - 1) / SORT_TILE);

	return ncounts + count_tiles(ncounts);
}

/*
 * Sort (*number)[length] by key[number], with keys below `bound`; queued on the stream.
 * other[length] is work space; the two pointers may be exchanged, so that *number points to the
 * sorted numbers. counts[stable_sort_counts(length)] is work space, too.
 */
static EmogiStatus
stable_sort(Run *run, uint32_t **number, uint32_t **other, uint64_t length, const uint32_t *key,
			uint64_t bound, uint32_t *counts, EmogiError *error)
{
	const uint64_t ntiles = (length + SORT_TILE - 1) / SORT_TILE;
	cudaStream_t stream = run->state->stream;

	for (uint32_t shift = 0; length > 0 && shift < 32 && bound - 1 >> shift > 0; shift += 8)
	{
		uint32_t   *const sorted = *other;

		CUDA_LAUNCH(stable_sort_count_kernel, run->full_blocks, BLOCK_THREADS, stream, *number,
					length, key, shift, counts, ntiles);
		TRY(prefix_sum(run, counts, SORT_DIGITS * ntiles, counts + SORT_DIGITS * ntiles, error));
		CUDA_LAUNCH(stable_sort_write_kernel, run->full_blocks, BLOCK_THREADS, stream, *number,
					length, key, shift, counts, ntiles, sorted);
		*other = *number;
		*number = sorted;
	}
	return EMOGI_OK;
}

#endif							/* EMOGI_STABLE_SORT_CUH */
