/*
 * hybrid.cuh: the heads of lists, which hybrid placement has in device memory, and device placement beside the lists.
 *
 * A head is a copy of a few targets of a list, those whose own lists are the longest first: the neighbours that most
 * paths lead through, and so those that a BFS reaches first and that belong to the giant component. A bottom-up step
 * that finds one of them in the frontier needs no line of the list, nor does Afforest when it samples. A list that is no
 * longer than the heads is in its head as a whole. The shape is in placement.cuh, Lists.heads.
 */
#ifndef EMOGI_HYBRID_CUH
#define EMOGI_HYBRID_CUH

#include "placement.cuh"

#define HEAD_LEAST 2			/* targets a vertex: what Afforest samples */
#define HEAD_MOST 16			/* more would settle next to nothing */
#define HEAD_NEAR 4				/* beside lists that are in device memory, where a list costs little */

/* Get the entries that the heads of all vertices take. */
static inline uint64_t
head_entries(uint64_t nvertices, uint32_t length)
{
	return (nvertices + 31) / 32 * 32 * length;
}

/* Get the device memory that choosing the heads takes for a while: for a few percent of the targets, 4 KB to 16 MB. */
static inline uint64_t
head_stage_bytes(const EmogiAdjacency *adjacency)
{
	const uint64_t bytes = adjacency->nedges / 64 * sizeof *adjacency->targets;

	return bytes < 4096 ? 4096 : bytes < UINT64_C(16) << 20 ? bytes : UINT64_C(16) << 20;
}

/*
 * Choose the heads of all lists of an orientation: heads[head_entries(nvertices, length)]. `offsets` is the device's copy
 * of the orientation's; length <= HEAD_MOST. Reads all targets over the link once. Takes the stage from `memory`, and
 * frees it when all went well.
 */
extern EmogiStatus emogi_choose_heads(EmogiEngineState *state, uint64_t nvertices, const EmogiAdjacency *adjacency,
									  const uint64_t *offsets, uint32_t length, uint32_t *heads, DeviceMemory *memory,
									  EmogiControl *control, EmogiError *error);

/* The same of lists that are in device memory: heads[head_entries(nvertices, length)]. Takes nothing. */
extern EmogiStatus emogi_choose_near_heads(EmogiEngineState *state, uint64_t nvertices, const Lists<uint32_t> *lists,
										   uint32_t length, uint32_t *heads, EmogiControl *control, EmogiError *error);

/* Bring the kernel to the device. */
extern EmogiStatus emogi_heads_load(EmogiError *error);

#endif							/* EMOGI_HYBRID_CUH */
