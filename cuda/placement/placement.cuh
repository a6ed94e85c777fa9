/*
 * placement.cuh: placement of a graph in memory that kernels can read.
 *
 * Offsets always go to device memory (8 bytes per vertex, read at random). Targets and weights stay
 * in the graph's own memory, which is registered with CUDA and read over the link (host placement,
 * EMOGI PVLDB 14(2) 2020 section 4.1), or are copied to device memory (device placement).
 *
 * Hybrid placement is host placement with some of the edges' data in device memory: prefixes, a few
 * targets of every list, those of the highest degree (hybrid.cuh); or all weights, because a short
 * list needs little of a line of narrow weights; or, for runs that read every edge in every sweep,
 * as many whole pieces of the arrays as fit (copy_pipeline.cuh). Peer placement is device placement
 * with part of the edges in the memory of helper GPUs (peer_memory.cuh).
 *
 * Copies and registrations of a graph with an id are cached and reused by the next run on it
 * (device_cache.cuh).
 */
#ifndef EMOGI_PLACEMENT_CUH
#define EMOGI_PLACEMENT_CUH

#include "cuda/core/device.cuh"

/* One orientation as kernels see it. All pointers are device addresses. */
template <typename Target>
struct Lists
{
	const uint64_t *offsets;	/* [nvertices + 1], edges, device memory; NULL = not placed */
	/* [nedges], vertex numbers, 128-byte aligned, readable to the end of the last line */
	const Target *targets;
	const void *weights;		/* [nedges], the same; NULL = none, or not wanted */
	uint64_t	nedges;

	/*
	 * [nwords][prefix_length][32], device memory: target j of the prefix of vertex v is at [v /
	 * 32][j][v % 32], so that lanes with neighboring vertices read one line; EMOGI_NO_VERTEX beyond
	 * the end of a shorter list. NULL = no prefixes.
	 */
	const Target *prefixes;
	uint32_t	prefix_length;	/* 0 = no prefixes */
	bool		near_weights;	/* weights are in device memory, although targets are not */
};

/* Device memory that AUTO, and hybrid placement without a cap, leave free. */
#define HEADROOM_BYTES (UINT64_C(256) << 20)

/* Bits of the data that a run needs in addition to the forward targets. */
#define PLACE_WEIGHTS 1u
/* if the graph has it; in host placement omitted if its offsets do not fit */
#define PLACE_BACKWARD 2u
#define PLACE_BACKWARD_REQUIRED 6u	/* the run cannot do without it */
/* hybrid placement is useful: the run reads the prefixes of these lists first. They are */
#define PLACE_FORWARD_PREFIXES 8u
/* useful, and made, only if the graph has backward and it is placed */
#define PLACE_BACKWARD_PREFIXES 16u
/* hybrid placement is useful: the run reads all edges by a CopyPipeline, which keeps parts */
#define PLACE_PARTS 32u
/* the same, more than once: parts are useful even if the graph is not cached */
#define PLACE_PARTS_REPAID 96u
/* PLACE_WEIGHTS, and hybrid placement is useful, with weights in device memory */
#define PLACE_NEAR_WEIGHTS 257u
/* if the graph has it; the run requires these, and reads no edges of it */
#define PLACE_BACKWARD_OFFSETS 128u

typedef struct PlacedGraph
{
	/* HOST, DEVICE or HYBRID; a CopyPipeline without room for parts sets it to HOST */
	EmogiPlacement placement;
	/* DEVICE, with some of the edges in other GPUs' memory: PEER to the caller */
	bool		is_peer;
	Lists<uint32_t> forward;
	Lists<uint32_t> backward;	/* the same pointers as forward if the graph's are the same */
	/* registration that emogi_placement_undo must drop; NULL = none, or cached */
	void	   *registered;
} PlacedGraph;

/*
 * Place forward and the data that `wants` names. Allocate from `memory` after everything else that
 * the run needs, because AUTO and HYBRID depend on the remaining memory. A graph without edges has
 * offsets only, in device placement. Called once per run, after emogi_device_cache_begin. The
 * caller calls emogi_placement_undo and releases `memory`, also after an error.
 */
extern EmogiStatus emogi_placement_place(EmogiEngineState *state, const EmogiGraph *graph,
										 EmogiPlacement placement, unsigned wants,
										 DeviceMemory *memory, PlacedGraph *placed,
										 EmogiControl *control, EmogiError *error);

/* Unregister host memory that is not cached. The stream must be idle. */
extern void emogi_placement_undo(PlacedGraph *placed);

#endif							/* EMOGI_PLACEMENT_CUH */
