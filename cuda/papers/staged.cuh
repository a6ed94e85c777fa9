/*
 * staged.cuh: STAGED placement: Subway [1]. Edges stay in ordinary host memory; in each iteration,
 * only the lists of the active vertices are copied to the device, packed into a SubCSR.
 *
 * Steps of an iteration, numbered as in [1]:
 *   1-4  The active vertices are listed in ascending order, with their degrees (emogi_staged_list).
 *   5    Prefix sums of the degrees give the starts of their lists in the SubCSR; vertices and
 *        starts are copied to the host.
 *   6    The host's threads gather the lists into pinned memory, each thread the same number of
 *        edges, and the lists are copied to the device.
 *
 * A SubCSR that is larger than the edge buffer is split into parts, between lists; a list that is
 * larger than the buffer is split too, if nothing is summed. There are two buffers, and two pieces
 * of pinned memory: the host gathers and copies the next part while kernels sweep over the previous
 * one. If more than WHOLE_PERCENT of the edges are active, no SubCSR is made: the parts are ranges
 * of the graph's own lists, from the first to the last active one. Sums over all vertices always
 * use these ranges, so that their entries have the graph's numbers, and their bits do not depend on
 * the buffer size.
 *
 * Asynchronous [1]: a part is swept again, over those of its vertices that have improved meanwhile,
 * until there is none, and only then the next part is processed. Vertices whose list is split, or
 * not staged, wait for the next iteration. This applies to best paths and CC. Each list is swept
 * once if sweeping again is useless:
 *   sums, and the counts of SSNSP
 *       The number of iterations is fixed.
 *   BFS, and the levels of SSNSP
 *       A vertex improves once, before its list is copied, so there is nothing to sweep again.
 *   CC by forward lists only
 *       A vertex that takes keys from its targets would have to be swept when they improve, and the
 *       targets cannot find it.
 *   CC's backward lists
 *       A vertex that they improve must be swept along both of its lists. A vertex that forward
 *       lists improve is swept along both, because it is active and backward lists come later.
 *
 * DEGREE_CUT is not supported, because it cuts lists at their original positions.
 *
 * Bytes per iteration, for k active vertices with e edges of w bytes: to the device e w; to the
 * host 12 k (4 k if no SubCSR is made); on the device n/4 of bitmap and counts, 48 k of lists, then
 * the reads of the mapping.
 *
 * [1] A. H. N. Sabet, Z. Zhao, R. Gupta: Subway: Minimizing Data Transfer during Out-of-GPU-Memory
 *     Graph Processing. EuroSys 2020.
 */
#ifndef EMOGI_STAGED_CUH
#define EMOGI_STAGED_CUH

#include "cuda/papers/mapping.cuh"
#include "cuda/papers/staged_gather.h"

/*
 * Tuned constants, of bc1d508. bench/PAPERS.md (subway) has the figures of an NVIDIA H200 at
 * b47e0c8 with these values; other values were not recorded.
 */
#define WHOLE_PERCENT 80		/* of the edges [1]: above it, gathering does not pay */
#define STAGED_MIN_BYTES (UINT64_C(1) << 20) /* minimum edge buffer, unless all edges take less */
#define STAGED_PIECE_BYTES (UINT64_C(64) << 20)	/* of pinned memory: 1 ms of the link */
#define STAGED_SLEEP_US 20	/* between polls of a copy: a piece takes at least ten times as long */

#define STAGED_BUFFERS 2
#define STAGED_UNIT UINT64_C(128)	/* entries: weights of one byte then start on a line as well */

/*
 * Contents of a buffer: entries of some items' lists, of which the first and the last may be split.
 */
typedef struct StagedPart
{
	uint64_t	first;			/* item */
	uint64_t	nitems;
	Span		entries;
} StagedPart;

/*
 * State of a STAGED run. Device arrays belong to run->memory. Only the host thread of the run uses
 * it.
 */
typedef struct Staged
{
	Run		   *run;
	EmogiAdjacency forward;		/* the graph's, in host memory */
	EmogiAdjacency backward;	/* equal to forward if the run does not read it */
	uint32_t	weight_bytes;	/* per weight; 0 = weights are not read */
	struct EmogiPool *pool;
	uint32_t	nallocations;	/* of host memory; a test makes one of them fail */

	/* Device memory. */
	/* [nwords], active vertices before each word; NULL: all vertices are always active */
	uint32_t   *before;
	uint64_t   *start;	/* [items' capacity + 1], starts of lists in the SubCSR; NULL likewise */
	uint64_t   *tile;			/* work space of the prefix sums of both */
	uint32_t   *pick;	/* [items' capacity], items to sweep again; NULL = not asynchronous */
	uint64_t	buffer_entries;	/* a multiple of STAGED_UNIT */
	char	   *buffer;			/* [STAGED_BUFFERS], each targets, then weights */

	/* Pinned memory. */
	uint64_t	piece_entries;	/* a multiple of STAGED_UNIT */
	char	   *piece[STAGED_BUFFERS];	/* targets, then weights */
	char	   *listed;			/* start[capacity + 1], then vertex[capacity]; NULL likewise */

	cudaStream_t stream;		/* for copies of edges */
	cudaEvent_t copied[STAGED_BUFFERS];	/* a piece is on the device */
	cudaEvent_t filled[STAGED_BUFFERS];	/* a part is on the device */
	cudaEvent_t emptied[STAGED_BUFFERS];	/* the last sweep over a part has finished */

	/* The current sweep. */
	EmogiStagedGather gather;	/* the Items' lists, on the host */
	bool		cuts;			/* lists may be split */
	uint64_t	item;			/* the next part begins with this item ... */
	uint64_t	entry;			/* ... at this entry */

	/* Over all sweeps. Parts and pieces use the buffers alternately. */
	StagedPart	part[STAGED_BUFFERS];
	uint64_t	nfilled;		/* parts whose copies have been queued */
	uint64_t	nswept;			/* parts whose last sweep has been launched */
	uint64_t	npieces;
} Staged;

#endif							/* EMOGI_STAGED_CUH */
