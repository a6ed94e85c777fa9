/*
 * placing.cuh: what placement.cu, which places Graphs, and placement_choose.cu, which says where, share.
 */
#ifndef EMOGI_PLACING_CUH
#define EMOGI_PLACING_CUH

#include "cuda/placement/hybrid.cuh"

/* What placing a Graph works with. */
typedef struct Placing
{
	EmogiEngineState *state;
	const EmogiGraph *graph;
	unsigned	wants;			/* PLACE_*, none that the Graph does not have */
	DeviceMemory *memory;
	EmogiControl *control;
	uint32_t	prefix_length;	/* of prefixes that there is room for; 0 = do not make any */
	bool		near_weights;	/* there is room for the weights of forward, in hybrid placement */
	bool		spreads;		/* edges that are copied go to other GPUs' memory, too, in device placement */
	double		own_share;		/* of them that goes to the own, then: 0 .. 1 */
} Placing;

static inline uint64_t
round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/* Bytes of the targets up to the end of their last line. */
static inline uint64_t
target_bytes(const EmogiAdjacency *adjacency)
{
	return round_up(adjacency->nedges * sizeof *adjacency->targets, EMOGI_LINE_BYTES);
}

/* The same of the weights. */
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

/* Get the orientation whose prefixes the run has a use for; NULL when it has none. */
extern const EmogiAdjacency *emogi_placement_wanted_prefixes(const Placing *placing);

/* Get the prefixes that are kept, unless there is room for more than twice as many targets. */
extern const uint32_t *emogi_placement_use_prefixes(const Placing *placing, uint32_t *length);

/* Make the copies that this placement needs in use, and no others. Get the bytes of those that are missing. */
extern uint64_t emogi_placement_use_copies(const Placing *placing, EmogiPlacement placement);

/* Drop the copies of edges, to place them anew. */
extern void emogi_placement_drop_edges(const Placing *placing);

/* Say whether AUTO wants parts where the whole does not fit. */
extern bool emogi_placement_wants_parts(const Placing *placing);

/* Choose where edges are read from, and what else of the Graph belongs in device memory: prefix_length and near_weights. */
extern EmogiStatus emogi_placement_choose(Placing *placing, EmogiPlacement *placement, EmogiError *error);

#endif							/* EMOGI_PLACING_CUH */
