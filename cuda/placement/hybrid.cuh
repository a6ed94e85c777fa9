/*
 * hybrid.cuh: prefixes of adjacency lists, used by hybrid placement in place of the lists, and by
 * device placement beside them.
 *
 * A prefix is a copy of a few targets of a list: those with the longest lists of their own first.
 * These are the hubs, which most paths lead through, so a BFS reaches them first and they belong to
 * the giant component. A bottom-up step that finds one of them in the frontier needs no line of the
 * list, and neither does the sampling of Afforest. A list that is not longer than the prefix length
 * is in its prefix completely. For the shape see placement.cuh, Lists.prefixes.
 */
#ifndef EMOGI_HYBRID_CUH
#define EMOGI_HYBRID_CUH

#include "cuda/placement/placement.cuh"

/*
 * Tuned constants, of 46b8c33, except PREFIX_NEAR and NEAR_VERTICES, which are of 804490e (NVIDIA
 * H200, BFS of kron 24: 1.15 ms before, 0.73 ms after; of urand 24: 1.50 and 1.26 ms;
 * bench/RESULTS.md). The figures there (ad4a202) were measured with all of them.
 */
#define PREFIX_MIN 2			/* targets per vertex: the number that Afforest samples */
#define PREFIX_MAX 16			/* more would answer next to nothing */
#define PREFIX_NEAR 4			/* beside lists in device memory, where reading a list is cheap */
/* per multiprocessor, of the selection kernel: random reads of offsets need many warps */
#define STAGE_BLOCKS 16
#define NEAR_VERTICES (UINT64_C(1) << 24)	/* between two polls of cancel: some 15 ms */
#define SEARCHED_ENTRIES 4096	/* of a longer list: surely some of them have long lists */

/* Return the number of targets in the prefixes of all vertices. */
static inline uint64_t
prefix_entries(uint64_t nvertices, uint32_t length)
{
	return (nvertices + 31) / 32 * 32 * length;
}

/* Return the bytes of the temporary staging buffer: a few percent of the targets, 4 KB to 16 MB. */
static inline uint64_t
prefix_stage_bytes(const EmogiAdjacency *adjacency)
{
	const uint64_t bytes = adjacency->nedges / 64 * sizeof *adjacency->targets;

	return bytes < 4096 ? 4096 : bytes < UINT64_C(16) << 20 ? bytes : UINT64_C(16) << 20;
}

/* Arguments of the prefix selection for one orientation. */
typedef struct PrefixChoice
{
	EmogiEngineState *state;
	EmogiControl *control;
	uint64_t	nvertices;
	const uint64_t *offsets;	/* [nvertices + 1], the device copy of the orientation's offsets */
	uint32_t	length;			/* targets per prefix, at most PREFIX_MAX */
	uint32_t   *prefixes;		/* [prefix_entries(nvertices, length)], device memory, output */
} PrefixChoice;

/*
 * Choose the prefixes of all lists. Reads all targets over the link once. Allocates the staging
 * buffer from `memory`, and frees it on success.
 */
extern EmogiStatus emogi_hybrid_choose(const PrefixChoice *choice, const EmogiAdjacency *adjacency,
									   DeviceMemory *memory, EmogiError *error);

/* Choose the prefixes of lists whose targets are in device memory. Allocates nothing. */
extern EmogiStatus emogi_hybrid_choose_near(const PrefixChoice *choice,
											const Lists<uint32_t> *lists, EmogiError *error);

/* Load the kernel to the device. */
#endif							/* EMOGI_HYBRID_CUH */
