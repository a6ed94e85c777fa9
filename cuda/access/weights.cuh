/*
 * weights.cuh: reads of weights: beside the targets, by edge number, in the graph's own width.
 *
 * A lane that holds edges 4i .. 4i + 3 of a line of targets reads the weights of the same edges: 4,
 * 8, 16 or 32 bytes. So a line of targets comes with a quarter, a half, one or two lines of
 * weights, and lanes that hold neighboring lines share the requests.
 */
#ifndef EMOGI_WEIGHTS_CUH
#define EMOGI_WEIGHTS_CUH

#include <type_traits>

#include "contract/semirings.h"
#include "cuda/core/run.cuh"

static constexpr uint32_t PIECE = Line<Target>::PIECE;
static constexpr uint32_t ENTRIES = Line<Target>::ENTRIES;

/* The weight type of a graph without weights: every edge has weight 1. */
struct NoWeight
{
};

template <typename Weight>
static __host__ __device__ constexpr uint32_t
weight_bytes(void)
{
	return std::is_same<Weight, NoWeight>::value ? 0 : (uint32_t) sizeof(Weight);
}

/* A lane's part of a line. */
template <typename Weight>
struct Piece
{
	uint4		targets;
	uint32_t	weights[weight_bytes<Weight>() > 0 ? PIECE * sizeof(Weight) / 4 : 1];
};

/* Read the lane's piece of a line, targets and weights; zeroes if the line does not exist. */
template <typename Weight>
static __device__ __forceinline__ Piece<Weight>
read_pieces(const Lists<Target> &lists, uint64_t line, bool there)
{
	constexpr uint32_t BYTES = PIECE * weight_bytes<Weight>();
	const uint64_t lane = line * LINE_LANES + lane_number() % LINE_LANES;
	const char *weights = (const char *) lists.weights + lane * BYTES;
	Piece<Weight> piece = {};

	if (!there)
		return piece;
	piece.targets = read_piece(lists.targets, line);
	if constexpr (BYTES == 4)
		piece.weights[0] = __ldg((const uint32_t *) weights);
	else if constexpr (BYTES == 8)
	{
		const uint2 pair = __ldg((const uint2 *) weights);

		memcpy(piece.weights, &pair, sizeof pair);
	}
	else if constexpr (BYTES > 0)
	{
		/* Weights wider than targets may end a line before the targets' last line does. */
		if (BYTES > PIECE_BYTES && lane * PIECE >= lists.nedges)
			return piece;
#pragma unroll
		for (uint32_t i = 0; i < BYTES / PIECE_BYTES; i++)
		{
			const uint4 quad = __ldg((const uint4 *) weights + i);

			memcpy(piece.weights + 4 * i, &quad, sizeof quad);
		}
	}
	return piece;
}

/* Convert the weights of a piece. */
template <typename Weight>
static __device__ __forceinline__ void
unpack_weights(const Piece<Weight> &piece, double (&weight)[PIECE])
{
	if constexpr (weight_bytes<Weight>() == 0)
	{
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			weight[j] = 1.0;
	}
	else
	{
		Weight		raw[PIECE];

		memcpy(raw, piece.weights, sizeof raw);
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			weight[j] = (double) raw[j];
	}
}

/*
 * Return the number of lines of weights that belong to n lines of targets, one per group of lanes.
 * Whole warps.
 */
template <typename Weight>
static __device__ __forceinline__ uint32_t
count_weight_lines(uint64_t line, uint32_t n)
{
	constexpr uint32_t BYTES = weight_bytes<Weight>();
	const uint32_t group = lane_number() / LINE_LANES;
	const uint64_t own = line * BYTES / 4;
	uint64_t	below;

	if (n > WARP_LINES)
		n = WARP_LINES;
	if (BYTES == 0 || BYTES >= 4)
		return n * (BYTES / 4);
	below = __shfl_up_sync(FULL_WARP, own, LINE_LANES);
	return __popc(__ballot_sync(FULL_WARP, lane_number() % LINE_LANES == 0 && group < n &&
								(group == 0 || own != below)));
}

/*
 * Call `call` with a value of the C type of a weight type, to instantiate a kernel for each type.
 */
template <class Call>
static auto
with_weight(EmogiWeightType type, Call call)
{
	switch (type)
	{
		case EMOGI_WEIGHT_U8:
			return call((uint8_t) 0);
		case EMOGI_WEIGHT_U16:
			return call((uint16_t) 0);
		case EMOGI_WEIGHT_U32:
			return call((uint32_t) 0);
		case EMOGI_WEIGHT_F32:
			return call((float) 0);
		case EMOGI_WEIGHT_F64:
			return call((double) 0);
		case EMOGI_WEIGHT_NONE:
			break;
	}
	return call(NoWeight());
}

/* Return the bytes of the graph per edge. */
static inline uint32_t
edge_bytes(EmogiWeightType type)
{
	return sizeof(Target) + with_weight(type, [](auto weight) {
		return weight_bytes<decltype(weight)>();
	});
}

#endif							/* EMOGI_WEIGHTS_CUH */
