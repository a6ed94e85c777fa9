/*
 * hybrid.cuh: the prefixes of lists, which hybrid placement has in device memory, and device placement beside the lists.
 *
 * A prefix is a copy of a few targets of a list, those whose own lists are the longest first: the hubs, which most
 * paths lead through, and so the ones that a BFS reaches first and that belong to the giant component. A bottom-up step
 * that finds one of them in the frontier needs no line of the list, nor does Afforest when it samples. A list that is no
 * longer than the prefixes is in its prefix as a whole. The shape is in placement.cuh, Lists.prefixes.
 */
#ifndef EMOGI_HYBRID_CUH
#define EMOGI_HYBRID_CUH

#include "cuda/placement/placement.cuh"

/*
 * Tuned constants, of 46b8c33, but PREFIX_NEAR and NEAR_VERTICES of 804490e (on an NVIDIA H200 BFS of kron 24 1.15 to
 * 0.73 ms, of urand 24 1.50 to 1.26; bench/RESULTS.md). The figures there (ad4a202) are with all of them.
 */
#define PREFIX_LEAST 2			/* targets a vertex: what Afforest samples */
#define PREFIX_MOST 16			/* more would answer next to nothing */
#define PREFIX_NEAR 4			/* beside lists that are in device memory, where a list costs little */
#define STAGE_BLOCKS 16			/* a multiprocessor, of the kernel that chooses: random reads of offsets want many warps */
#define NEAR_VERTICES (UINT64_C(1) << 24)	/* between two looks at cancel: some 15 ms */
#define SEARCHED_ENTRIES 4096	/* of a longer list no more: surely some of them have long lists */

/* Get the entries that the prefixes of all vertices take. */
static inline uint64_t
prefix_entries(uint64_t nvertices, uint32_t length)
{
	return (nvertices + 31) / 32 * 32 * length;
}

/* Get the device memory that choosing the prefixes takes for a while: for a few percent of the targets, 4 KB to 16 MB. */
static inline uint64_t
prefix_stage_bytes(const EmogiAdjacency *adjacency)
{
	const uint64_t bytes = adjacency->nedges / 64 * sizeof *adjacency->targets;

	return bytes < 4096 ? 4096 : bytes < UINT64_C(16) << 20 ? bytes : UINT64_C(16) << 20;
}

/* What prefixes of the lists of one orientation are chosen with, and where they go. */
typedef struct PrefixChoice
{
	EmogiEngineState *state;
	EmogiControl *control;
	uint64_t	nvertices;
	const uint64_t *offsets;	/* [nvertices + 1], the device's copy of the orientation's */
	uint32_t	length;			/* targets a prefix, at most PREFIX_MOST */
	uint32_t   *prefixes;		/* [prefix_entries(nvertices, length)], device memory, to fill */
} PrefixChoice;

/*
 * Choose the prefixes of all lists. Reads all targets over the link once. Takes the stage from `memory`, and frees it when all
 * went well.
 */
extern EmogiStatus emogi_hybrid_choose(const PrefixChoice *choice, const EmogiAdjacency *adjacency, DeviceMemory *memory,
									   EmogiError *error);

/* The same of lists whose targets are in device memory. Takes nothing. */
extern EmogiStatus emogi_hybrid_choose_near(const PrefixChoice *choice, const Lists<uint32_t> *lists, EmogiError *error);

/* Bring the kernel to the device. */
extern EmogiStatus emogi_hybrid_load(EmogiError *error);

#endif							/* EMOGI_HYBRID_CUH */
