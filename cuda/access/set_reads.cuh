/*
 * set_reads.cuh: how kernels read a list as a set: an entry like the one before it, and one that leads to the list's own vertex, are
 * passed over where they stand, so that no simple graph has to be made.
 *
 * A list is read in pieces of 16 bytes, by `stride` neighbouring threads: LINE_LANES of them for a short list, four lists a warp; a
 * warp for a longer one, or a whole block. They begin at the start of a line, so that lines are asked for whole.
 */
#ifndef EMOGI_SET_READS_CUH
#define EMOGI_SET_READS_CUH

#include "cuda/access/push.cuh"

/*
 * Call visit(targets[PIECE], wanted) for the entries of `part` of a list, which begins where the list does or a line does; `wanted` has a bit
 * for each that counts. self: a target that does not, the list's own vertex or EMOGI_NO_VERTEX. rank: of the thread among `stride`, a power
 * of two, of which each warp has neighbours. Called by whole warps, and so is visit; a thread without a list gives an empty part.
 */
template <class Visit>
static __device__ __forceinline__ void
walk_distinct(const Target *targets, Span list, Span part, uint32_t self, uint32_t rank, uint32_t stride, Visit visit)
{
	const uint32_t width = stride < WARP_LANES ? stride : WARP_LANES;

	for (uint64_t piece = part.start / ENTRIES * LINE_LANES + rank; __any_sync(FULL_WARP, piece * PIECE < part.end); piece += stride)
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
