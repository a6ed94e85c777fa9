/*
 * communities_scan.cuh: loops over list entries with several loads of a lane in flight.
 */
#ifndef EMOGI_COMMUNITIES_SCAN_CUH
#define EMOGI_COMMUNITIES_SCAN_CUH

#include "cuda/algorithms/communities.cuh"

#define UNROLL 4
#define NO_ENTRY UINT64_MAX

/*
 * Call add(community, weight) for the entries at `place`, NO_ENTRY = none. key(target) gets the
 * community, EMOGI_NO_VERTEX = skip.
 */
template <class Key, class Add>
static __device__ __forceinline__ void
add_entries(const Level &level, const uint64_t (&place)[UNROLL], Key key, Add add)
{
	uint32_t	community[UNROLL];
	long long	weight[UNROLL];

#pragma unroll
	for (uint32_t j = 0; j < UNROLL; j++)
		community[j] = place[j] != NO_ENTRY ? __ldg(&level.targets[place[j]]) : EMOGI_NO_VERTEX;
#pragma unroll
	for (uint32_t j = 0; j < UNROLL; j++)
		weight[j] = community[j] != EMOGI_NO_VERTEX ? level_weight(level, place[j]) : 0;
#pragma unroll
	for (uint32_t j = 0; j < UNROLL; j++)
		if (community[j] != EMOGI_NO_VERTEX)
			community[j] = key(community[j]);
#pragma unroll
	for (uint32_t j = 1; j < UNROLL; j++)
#pragma unroll
		for (uint32_t i = 0; i < j; i++)
			if (community[i] == community[j])
			{
				weight[i] += weight[j];
				weight[j] = 0;
			}
#pragma unroll
	for (uint32_t j = 0; j < UNROLL; j++)
		if (community[j] != EMOGI_NO_VERTEX && weight[j] > 0)
			add(community[j], weight[j]);
}

/* Call add(community, weight) for entries from .. upto - 1 with `stride` threads; key as above. */
template <class Key, class Add>
static __device__ __forceinline__ void
walk_list(const Level &level, uint64_t from, uint64_t upto, uint32_t rank, uint32_t stride, Key key,
		  Add add)
{
	for (uint64_t base = from + rank; base < upto; base += UNROLL * stride)
	{
		uint64_t	place[UNROLL];

#pragma unroll
		for (uint32_t j = 0; j < UNROLL; j++)
			place[j] = base + j * stride < upto ? base + j * stride : NO_ENTRY;
		add_entries(level, place, key, add);
	}
}

/*
 * Sum (community + 1) * weight over entries from .. upto - 1 of a list with `stride` threads.
 * Return the sum of the thread's warp, or of the lanes of mask.
 */
template <class Rule>
static __device__ __forceinline__ long long
sum_entries(const Rule &rule, const typename Rule::Item &item, uint64_t from, uint64_t upto,
			uint32_t rank, uint32_t stride, uint32_t mask)
{
	long long	sum = 0;

	rule.walk(item, from, upto, rank, stride,
			  [&](uint32_t more, long long weight) { sum += (more + 1) * weight; });
	for (uint32_t step = (stride < WARP_LANES ? stride : WARP_LANES) / 2; step > 0; step /= 2)
		sum += __shfl_xor_sync(mask, sum, step);
	return sum;
}

/* The same with a block. The first thread has the sum. */
template <class Rule>
static __device__ __forceinline__ long long
sum_entries_together(const Rule &rule, const typename Rule::Item &item, uint64_t from,
					 uint64_t upto)
{
	__shared__ long long part[BLOCK_WARPS];
	long long	sum = sum_entries(rule, item, from, upto, threadIdx.x, BLOCK_THREADS, FULL_WARP);

	if (lane_number() == 0)
		part[threadIdx.x / WARP_LANES] = sum;
	__syncthreads();
	for (uint32_t w = 1; threadIdx.x == 0 && w < BLOCK_WARPS; w++)
		sum += part[w];
	return sum;
}

#endif							/* EMOGI_COMMUNITIES_SCAN_CUH */
