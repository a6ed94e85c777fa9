/*
 * placement_internal.cuh: declarations shared by placement.cu, which places graphs, and
 * placement_choose.cu, which chooses the placement.
 */
#ifndef EMOGI_PLACEMENT_INTERNAL_CUH
#define EMOGI_PLACEMENT_INTERNAL_CUH

#include "cuda/placement/hybrid.cuh"

/* State of placing a graph. */
typedef struct Placing
{
	EmogiEngineState *state;
	const EmogiGraph *graph;
	unsigned	wants;			/* PLACE_*, only bits for data that the graph has */
	DeviceMemory *memory;
	EmogiControl *control;
	uint32_t	prefix_length;	/* of prefixes that fit; 0 = make none */
	bool		near_weights; /* the weights of forward fit in device memory, in hybrid placement */
	bool		spreads;	/* copied edges also go to other GPUs' memory, in device placement */
	double		own_share;		/* share of them that then goes to the GPU's own memory: 0 .. 1 */
} Placing;

static inline uint64_t
round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/* Return the bytes of the targets up to the end of their last line. */
static inline uint64_t
target_bytes(const EmogiAdjacency *adjacency)
{
	return round_up(adjacency->nedges * sizeof *adjacency->targets, EMOGI_LINE_BYTES);
}

/* Return the bytes of the weights up to the end of their last line. */
static inline uint64_t
weight_bytes(const EmogiGraph *graph, const EmogiAdjacency *adjacency)
{
	static const uint8_t width[] = {0, 1, 2, 4, 4, 8};	/* by EmogiWeightType */

	return round_up(adjacency->nedges * width[graph->weight_type], EMOGI_LINE_BYTES);
}

static inline uint64_t
offset_bytes(const EmogiGraph *graph)
{
	return (graph->nvertices + 1) * sizeof *graph->forward.offsets;
}

/* Return the orientation whose prefixes are useful to the run; NULL if there is none. */
extern const EmogiAdjacency *emogi_placement_wanted_prefixes(const Placing *placing);

/* Get the cached prefixes, unless there is room for more than twice as many targets. */
extern const uint32_t *emogi_placement_use_prefixes(const Placing *placing, uint32_t *length);

/*
 * Mark exactly those copies as in use that this placement needs. Return the bytes of the missing
 * ones.
 */
extern uint64_t emogi_placement_use_copies(const Placing *placing, EmogiPlacement placement);

/* Drop the copies of edges, to place them again. */
extern void emogi_placement_drop_edges(const Placing *placing);

/* Return whether AUTO wants parts if the whole does not fit. */
extern bool emogi_placement_wants_parts(const Placing *placing);

/*
 * Choose where edges are read from, and what else of the graph goes to device memory: prefix_length
 * and near_weights.
 */
extern EmogiStatus emogi_placement_choose(Placing *placing, EmogiPlacement *placement,
										  EmogiError *error);

#endif							/* EMOGI_PLACEMENT_INTERNAL_CUH */
