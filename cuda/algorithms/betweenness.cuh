/*
 * betweenness.cuh: kernels of betweenness centrality. betweenness.cu describes the method and
 * launches them.
 */
#ifndef EMOGI_BETWEENNESS_CUH
#define EMOGI_BETWEENNESS_CUH

#include "contract/sample.h"
#include "cuda/access/set_reads.cuh"
#include "cuda/core/run.cuh"

#define BATCH 4					/* sources: their levels fill a word, their path counts a sector
								 * of 32 bytes */
#define MAX_LEVELS 254			/* that fit in a byte, except the last */
#define MAX_PATHS 0x1p900
#define EACH_BYTE 0x01010101u

/* Arrays in device memory. */
typedef struct Brandes
{
	uint64_t	nvertices;
	uint32_t   *level;			/* [nvertices], one byte a search, 255 = not reached */
	/* [nvertices][BATCH], shortest paths; of finished vertices (1 + dependency) / paths */
	double	   *paths;
	double	   *centrality;		/* [nvertices], sum of dependencies on a part's sources */
	double	   *total;			/* [nvertices], sum over all previous parts; same array as
								 * `centrality` if there is one part */
	double	   *part;			/* [slices][BATCH], the sums of each slice; see slice_capacity */
	uint32_t   *has_many;		/* a vertex has MAX_PATHS paths or more */
} Brandes;

/* One sum for each search. */
typedef struct Sums
{
	double		of[BATCH];
} Sums;

/* Store the levels of search i of the batch. Bytes: 5 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
betweenness_keep_kernel(Brandes brandes, const int32_t *level, uint32_t i)
{
	for_each(brandes.nvertices, [&](uint64_t v) {
		((uint8_t *) brandes.level)[BATCH * v + i] = (uint8_t) level[v];	/* -1 = 255 */
	});
}

/* Initialize the path counts: 1 at levels 0 and 1. Bytes: 36 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
betweenness_begin_kernel(Brandes brandes)
{
	for_each(BATCH * brandes.nvertices, [&](uint64_t i) {
		brandes.paths[i] = ((const uint8_t *) brandes.level)[i] <= 1 ? 1.0 : 0.0;
	});
}

/*
 * Sum the path values of those entries of `part` of a list that are at level `from_level`, in the
 * searches whose bytes in `searches` are set, with `stride` lanes. Return the lane's sums. Called
 * by whole warps.
 */
static __device__ __forceinline__ Sums
sum_entries(const Lists<Target> &lists, const Brandes &brandes, Span list, Span part,
			uint32_t searches, uint32_t from_level, uint32_t stride)
{
	Sums		sums = {};

	walk_distinct(lists.targets, list, part, EMOGI_NO_VERTEX, lane_number() % stride, stride,
				  [&](const Target (&target)[PIECE], uint32_t wanted) {
		uint32_t	counts[PIECE];

#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			counts[j] = wanted >> j & 1 ? __vcmpeq4(__ldg(&brandes.level[target[j]]),
													from_level * EACH_BYTE) & searches : 0;
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
		{
			const double2 *paths = (const double2 *) (brandes.paths + BATCH * (uint64_t) target[j]);
			const double2 low = (counts[j] & 0xFFFFu) != 0 ? __ldcg(paths) : make_double2(0.0, 0.0);
			const double2 high = counts[j] >> 16 != 0 ? __ldcg(paths + 1) : make_double2(0.0, 0.0);

			sums.of[0] += (counts[j] & 1) != 0 ? low.x : 0.0;
			sums.of[1] += (counts[j] >> 8 & 1) != 0 ? low.y : 0.0;
			sums.of[2] += (counts[j] >> 16 & 1) != 0 ? high.x : 0.0;
			sums.of[3] += (counts[j] >> 24 & 1) != 0 ? high.y : 0.0;
		}
	});
	return sums;
}

/* Add the sums of groups of nlanes lanes. */
static __device__ __forceinline__ Sums
sum_lanes(Sums sums, uint32_t nlanes)
{
#pragma unroll
	for (uint32_t i = 0; i < BATCH; i++)
		for (uint32_t step = nlanes / 2; step > 0; step /= 2)
			sums.of[i] += __shfl_xor_sync(FULL_WARP, sums.of[i], step);
	return sums;
}

/*
 * Store the sums of a vertex as path counts, or if BACK turn them into dependencies. Called by
 * LINE_LANES lanes with the same arguments; each of the first BATCH processes one search.
 * `searches` is 0 if there is nothing to do. Called by whole warps.
 */
template <bool BACK>
static __device__ __forceinline__ void
finish_vertex(const Brandes &brandes, uint64_t vertex, uint32_t searches, const Sums &sums)
{
	const uint32_t i = lane_number() % LINE_LANES;
	const bool	does = i < BATCH && (searches >> 8 * i & 1) != 0;
	double	   *own = &brandes.paths[BATCH * vertex + i];
	const double sum = i == 0 ? sums.of[0] : i == 1 ? sums.of[1] : i == 2 ? sums.of[2] : sums.of[3];
	double		dependency = 0.0;

	if (does && !BACK)
	{
		*own = sum;
		if (!(sum < MAX_PATHS))
			*brandes.has_many = 1;
	}
	if (does && BACK)
	{
		const double paths = *own;

		dependency = paths * sum;
		*own = (1.0 + dependency) / paths;
	}
	if (BACK)
	{
#pragma unroll
		for (uint32_t step = BATCH / 2; step > 0; step /= 2)
			dependency += __shfl_xor_sync(FULL_WARP, dependency, step);
		if (i == 0 && searches != 0)
			brandes.centrality[vertex] += dependency;
	}
}

/*
 * Process the vertices at `level` in any search by their neighbors at `from_level`. Long lists are
 * queued. A warp takes 32 vertices, WARP_LINES at a time. from_level = level: there are no such
 * neighbors, and no list is read. Bytes: see the head of the file.
 */
template <bool BACK>
static __global__ void __launch_bounds__(BLOCK_THREADS)
betweenness_level_kernel(Lists<Target> lists, Brandes brandes, uint32_t level, uint32_t from_level,
						 Step step)
{
	const uint32_t group = lane_number() / LINE_LANES;
	unsigned long long nread = 0;
	unsigned long long entries = 0;

	sweep_chunks(step, 0, (brandes.nvertices + 31) / 32, [&](uint64_t word) {
		const uint64_t vertex = word * 32 + lane_number();
		const uint32_t searches = vertex < brandes.nvertices ?
			__vcmpeq4(__ldg(&brandes.level[vertex]), level * EACH_BYTE) : 0;
		Span		list = {0, 0};
		uint64_t	nlines;
		uint32_t	lanes;

		if (searches != 0 && from_level != level)
			list = Span{__ldg(&lists.offsets[vertex]), __ldg(&lists.offsets[vertex + 1])};
		nlines = count_lines<Target>(list);
		nread += nlines;
		entries += list.end - list.start;
		queue_slices(step, nlines > SLICE_LINES, (uint32_t) vertex, nlines, 0);
		lanes = __ballot_sync(FULL_WARP, searches != 0 && nlines <= SLICE_LINES);
		while (lanes != 0)
		{
			uint32_t	lane = WARP_LANES;
			uint32_t	its;
			Span		span;
			Sums		sums;

#pragma unroll
			for (uint32_t g = 0; g < WARP_LINES; g++)
			{
				if (g == group && lanes != 0)
					lane = __ffs(lanes) - 1;
				lanes &= lanes - 1;
			}
			its = __shfl_sync(FULL_WARP, searches, lane % WARP_LANES);
			span = Span{__shfl_sync(FULL_WARP, list.start, lane % WARP_LANES),
				__shfl_sync(FULL_WARP, list.end, lane % WARP_LANES)};
			if (lane == WARP_LANES)
			{
				its = 0;
				span = Span{0, 0};
			}
			sums = sum_lanes(sum_entries(lists, brandes, span, span, its, from_level, LINE_LANES),
							 LINE_LANES);
			finish_vertex<BACK>(brandes, word * 32 + lane, its, sums);
		}
	});
	block_add(&step.counters->lines, nread);
	block_add(&step.counters->entries, entries);
}

/* Sum the slices of long lists, one warp each. Bytes: as betweenness_level_kernel. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
betweenness_slices_kernel(Lists<Target> lists, Brandes brandes, uint32_t level, uint32_t from_level,
						  Step step)
{
	const uint64_t nslices = step.counters->nslices;
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;

	for (uint64_t i = ((uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x) / WARP_LANES;
		 i < nslices; i += nwarps)
	{
		const Slice slice = step.slices[i];
		const Span	list = {__ldg(&lists.offsets[slice.vertex]),
			__ldg(&lists.offsets[(uint64_t) slice.vertex + 1])};
		const uint32_t searches = __vcmpeq4(__ldg(&brandes.level[slice.vertex]), level * EACH_BYTE);
		uint64_t	first;
		const uint32_t nlines = open_slice(slice, list, &first);
		Sums		sums;

		if (__any_sync(FULL_WARP, lane_number() == 0 && must_leave(step)))
			break;
		sums = sum_lanes(sum_entries(lists, brandes, list, clip_slice(list, first, nlines),
									 searches, from_level, WARP_LANES), WARP_LANES);
#pragma unroll
		for (uint32_t s = 0; s < BATCH; s++)
			if (lane_number() == s)
				brandes.part[BATCH * i + s] = sums.of[s];
	}
}

/*
 * Add the slices of each long list in order, one warp a list, and finish its vertex. Bytes: 40 a
 * slice.
 */
template <bool BACK>
static __global__ void __launch_bounds__(BLOCK_THREADS)
betweenness_add_slices_kernel(Lists<Target> lists, Brandes brandes, uint32_t level, Step step)
{
	const uint64_t nslices = step.counters->nslices;
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;

	for (uint64_t i = ((uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x) / WARP_LANES;
		 i < nslices; i += nwarps)
	{
		const Slice slice = step.slices[i];
		const Span	list = {__ldg(&lists.offsets[slice.vertex]),
			__ldg(&lists.offsets[(uint64_t) slice.vertex + 1])};
		const uint64_t its_slices = (count_lines<Target>(list) + SLICE_LINES - 1) / SLICE_LINES;
		const uint32_t searches = __vcmpeq4(__ldg(&brandes.level[slice.vertex]), level * EACH_BYTE);
		Sums		sums = {};

		if (slice.index > 0)
			continue;			/* the first slice represents the list; the others follow it in
								 * the queue */
		for (uint64_t k = lane_number(); k < its_slices; k += WARP_LANES)
#pragma unroll
			for (uint32_t s = 0; s < BATCH; s++)
				sums.of[s] += brandes.part[BATCH * (i + k) + s];
		finish_vertex<BACK>(brandes, slice.vertex, lane_number() < LINE_LANES ? searches : 0,
							sum_lanes(sums, WARP_LANES));
	}
}

/* Add the sums of a part to the total. Bytes: 24 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
betweenness_add_kernel(double *total, const double *part, uint64_t nvertices)
{
	for_each(nvertices, [&](uint64_t v) {
		total[v] += part[v];
	});
}

/*
 * Scale the sums. samples: bitmap of the sampled vertices, NULL = all are sources. Bytes: 16 a
 * vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
betweenness_scale_kernel(Brandes brandes, const uint32_t *samples, EmogiSampleScale scale)
{
	for_each(brandes.nvertices, [&](uint64_t v) {
		brandes.total[v] *= samples != NULL && (samples[v / 32] >> v % 32 & 1) != 0 ?
			scale.of_samples : scale.of_others;
	});
}

#endif							/* EMOGI_BETWEENNESS_CUH */
