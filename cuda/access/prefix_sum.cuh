/*
 * prefix_sum.cuh: exclusive prefix sums of numbers in device memory, in place and in their own
 * width.
 *
 * One warp per tile sums TILE numbers; one warp scans the tile sums; then each tile is scanned
 * starting from the sum of the tiles before it.
 */
#ifndef EMOGI_PREFIX_SUM_CUH
#define EMOGI_PREFIX_SUM_CUH

#include "cuda/core/run.cuh"

/*
 * Tuned constant, of 753e333, previously 256: larger tiles leave fewer for the one warp that scans
 * their sums, smaller ones keep more warps busy.
 */
#define TILE_ROUNDS 64			/* of one warp */

#define TILE (TILE_ROUNDS * WARP_LANES)

/*
 * Replace numbers first .. upto - 1 by their exclusive prefix sums, starting from `carry`. Return
 * the total. Whole warp.
 */
template <typename Number>
static __device__ __forceinline__ Number
sum_before(Number *number, uint64_t first, uint64_t upto, Number carry)
{
	for (uint64_t base = first; base < upto; base += WARP_LANES)
	{
		const uint64_t i = base + lane_number();
		const Number value = i < upto ? number[i] : 0;
		Number		sum = value;

#pragma unroll
		for (uint32_t step = 1; step < WARP_LANES; step *= 2)
		{
			const Number other = __shfl_up_sync(FULL_WARP, sum, step);

			if (lane_number() >= step)
				sum += other;
		}
		if (i < upto)
			number[i] = carry + sum - value;
		carry += __shfl_sync(FULL_WARP, sum, WARP_LANES - 1);
	}
	return carry;
}

/* Sum the tiles. Bytes: those of the numbers. */
template <typename Number>
static __global__ void __launch_bounds__(BLOCK_THREADS)
prefix_sum_reduce_kernel(const Number *number, uint64_t count, Number *tile, uint64_t ntiles)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;

	for (uint64_t t = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES; t < ntiles;
		 t += nwarps)
	{
		unsigned long long sum = 0;

		for (uint64_t i = t * TILE + lane_number(); i < count && i < (t + 1) * TILE;
			 i += WARP_LANES)
			sum += number[i];
		sum = warp_sum(sum);
		if (lane_number() == 0)
			tile[t] = (Number) sum;
	}
}

/* Scan the tile sums in one warp. Bytes: twice those of the tile sums. */
template <typename Number>
static __global__ void __launch_bounds__(WARP_LANES)
prefix_sum_tiles_kernel(Number *tile, uint64_t ntiles)
{
	(void) sum_before<Number>(tile, 0, ntiles, 0);
}

/* Scan the numbers of each tile. Bytes: twice those of the numbers. */
template <typename Number>
static __global__ void __launch_bounds__(BLOCK_THREADS)
prefix_sum_numbers_kernel(Number *number, uint64_t count, const Number *tile, uint64_t ntiles)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;

	for (uint64_t t = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES; t < ntiles;
		 t += nwarps)
		(void) sum_before<Number>(number, t * TILE, (t + 1) * TILE < count ? (t + 1) * TILE : count,
								  tile[t]);
}

/* Return the number of tiles of `count` numbers. */
static inline uint64_t
count_tiles(uint64_t count)
{
	return (count + TILE - 1) / TILE;
}

/*
 * Replace number[count] by its exclusive prefix sums, queued on the stream.
 * tile[count_tiles(count)] is work space.
 */
template <typename Number>
static EmogiStatus
prefix_sum(Run *run, Number *number, uint64_t count, Number *tile, EmogiError *error)
{
	const uint64_t ntiles = count_tiles(count);

	CUDA_LAUNCH(prefix_sum_reduce_kernel<Number>, run->full_blocks, BLOCK_THREADS,
				run->state->stream, number, count, tile, ntiles);
	CUDA_LAUNCH(prefix_sum_tiles_kernel<Number>, 1, WARP_LANES, run->state->stream, tile, ntiles);
	CUDA_LAUNCH(prefix_sum_numbers_kernel<Number>, run->full_blocks, BLOCK_THREADS,
				run->state->stream, number, count, tile, ntiles);
	return EMOGI_OK;
}

#endif							/* EMOGI_PREFIX_SUM_CUH */
