/*
 * placement.cuh: a Graph where kernels can read it.
 *
 * Offsets always go to device memory (8 bytes a vertex, read at random). Targets and weights stay in the Graph's own
 * memory, which is registered with CUDA and read over the link (host placement, EMOGI PVLDB 14(2) 2020 section 4.1),
 * or are copied to device memory (device placement). Hybrid is host placement with something of the lists in device
 * memory as well: prefixes, a few targets of every list, those of the highest degree (hybrid.cuh); or all weights, which are
 * narrow, so that of a line of them a short list needs little; or, for runs that read every edge in every sweep, as many
 * whole pieces of the arrays as there is room for (copy_pipeline.cuh). Peer is device placement with part of the edges in the memory of
 * GPUs that help (peer_memory.cuh). What is copied or
 * registered for a Graph with an id is kept, and found again by the next run on it (device_cache.cuh).
 */
#ifndef EMOGI_PLACEMENT_CUH
#define EMOGI_PLACEMENT_CUH

#include "cuda/core/device.cuh"

/* One orientation as kernels see it. All pointers are the device's. */
template <typename Target>
struct Lists
{
	const uint64_t *offsets;	/* [nvertices + 1], edges, device memory; NULL = not there */
	const Target *targets;		/* [nedges], vertex numbers, 128-byte aligned, readable to the end of the last line */
	const void *weights;		/* [nedges], the same; NULL = none, or not asked for */
	uint64_t	nedges;

	/*
	 * [nwords][prefix_length][32], device memory: entry j of the prefix of vertex v is at [v / 32][j][v % 32], so that lanes with
	 * neighbouring vertices read one line; EMOGI_NO_VERTEX beyond the end of a list that is shorter. NULL = no prefixes.
	 */
	const Target *prefixes;
	uint32_t	prefix_length;	/* 0 = no prefixes */
	bool		near_weights;	/* weights are in device memory, though targets are not */
};

/* Device memory that AUTO, and hybrid without a cap, leave alone. */
#define HEADROOM_BYTES (UINT64_C(256) << 20)

/* What a run needs beside the forward targets: bits. */
#define PLACE_WEIGHTS 1u
#define PLACE_BACKWARD 2u		/* when the Graph has it; in host placement left out when its offsets do not fit */
#define PLACE_BACKWARD_SURELY 6u	/* the run cannot do without */
#define PLACE_FORWARD_PREFIXES 8u	/* hybrid placement serves it: it looks at the prefixes of these lists first. Only of */
#define PLACE_BACKWARD_PREFIXES 16u	/* use, and only made, when the Graph has backward, and that is placed */
#define PLACE_PARTS 32u			/* hybrid placement serves it: the run reads all edges by a CopyPipeline, which keeps parts */
#define PLACE_PARTS_REPAID 96u	/* the same, more than once: they are of use even if the Graph is not kept */
#define PLACE_NEAR_WEIGHTS 257u	/* PLACE_WEIGHTS, and hybrid placement serves it: by weights in device memory */
#define PLACE_BACKWARD_OFFSETS 128u	/* when the Graph has it; the run cannot do without these, and reads no edges of it */

typedef struct PlacedGraph
{
	EmogiPlacement placement;	/* HOST, DEVICE or HYBRID; a CopyPipeline that finds no room for parts makes it HOST */
	bool		is_spread;		/* DEVICE, and some of the edges are in other GPUs' memory: PEER to the caller */
	Lists<uint32_t> forward;
	Lists<uint32_t> backward;	/* the same pointers as forward when the Graph's are the same */
	void	   *registered;		/* what emogi_placement_undo must unregister; NULL = nothing, or kept */
} PlacedGraph;

/*
 * Place forward and what `wants` asks for. Take from `memory`, after everything else that the run needs, since
 * AUTO and HYBRID look at what is left. A Graph without edges has offsets alone, in device placement. Once in a
 * run, after emogi_device_cache_begin. The caller calls emogi_placement_undo and releases `memory`, also after an error.
 */
extern EmogiStatus emogi_placement_place(EmogiEngineState *state, const EmogiGraph *graph, EmogiPlacement placement,
										 unsigned wants, DeviceMemory *memory, PlacedGraph *placed,
										 EmogiControl *control, EmogiError *error);

/* Unregister host memory that is not kept. The stream must be idle. */
extern void emogi_placement_undo(PlacedGraph *placed);

#endif							/* EMOGI_PLACEMENT_CUH */
