/*
 * set_reads.cuh: reads of an adjacency list as a set: duplicate edges and self-loops are skipped in
 * place, so no simple graph has to be materialized.
 *
 * A list is read in pieces of 16 bytes by `stride` neighboring threads: LINE_LANES of them for a
 * short list, four lists per warp; a warp or a whole block for a longer one. They begin at the
 * start of a line, so whole lines are requested.
 */
#ifndef EMOGI_SET_READS_CUH
#define EMOGI_SET_READS_CUH

#include "cuda/access/push.cuh"

/*
 * Call visit(targets[PIECE], wanted) for the edges of `part` of a list, which begins at the start
 * of the list or of a line; `wanted` has a bit for each edge that counts. self: a target to skip,
 * the list's own vertex or EMOGI_NO_VERTEX. rank: the thread's number among `stride`, a power of
 * two; each warp has neighboring ranks. Whole warps call this, and visit is called by whole warps;
 * a thread without a list passes an empty part.
 */
template <class Visit>
static __device__ __forceinline__ void
walk_distinct(const Target *targets, Span list, Span part, uint32_t self, uint32_t rank,
			  uint32_t stride, Visit visit)
{
	const uint32_t width = stride < WARP_LANES ? stride : WARP_LANES;

	for (uint64_t piece = part.start / ENTRIES * LINE_LANES + rank;
		 __any_sync(FULL_WARP, piece * PIECE < part.end); piece += stride)
	{
		const uint64_t first = piece * PIECE;
		const bool	there = first < part.end && first + PIECE > part.start;
		const uint4 quad = there ? __ldg((const uint4 *) targets + piece) : make_uint4(0, 0, 0, 0);
		Target		before = __shfl_up_sync(FULL_WARP, quad.w, 1, width);
		uint32_t	wanted = 0;
		Target		target[PIECE];

		if (rank % width == 0 && there && first > list.start)
			before = __ldg(&targets[first - 1]);
		memcpy(target, &quad, sizeof target);
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
		{
			const bool	is_in = first + j >= part.start && first + j < part.end;

			if (is_in && target[j] != self && (first + j == list.start || target[j] != before))
				wanted |= 1u << j;
			before = target[j];
		}
		visit(target, wanted);
	}
}

#endif							/* EMOGI_SET_READS_CUH */
