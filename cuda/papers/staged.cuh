/*
 * staged.cuh: STAGED placement: Subway [1]. Edges stay in ordinary host memory; of each iteration the device gets the
 * lists of the active vertices alone, packed into a SubCSR.
 *
 * Steps of an iteration, numbered as in [1]:
 *   1-4  the active vertices are listed in ascending order, with their degrees (emogi_staged_list);
 *   5    running sums of the degrees are where their lists start in the SubCSR; vertices and starts go to the host;
 *   6    the host's threads gather the lists into pinned memory, each as many edges, and they are copied to the device.
 * A SubCSR that is larger than the edge buffer is cut into parts, between lists; a list that is larger than the buffer
 * is cut too, where nothing is summed. There are two buffers, and two pieces of pinned memory: the host gathers the
 * next part, and it is copied, while kernels sweep over the one before. When more than WHOLE_PERCENT of the edges are
 * active, no SubCSR is made: the parts are ranges of the Graph's own lists, as they stand, first to last active one.
 * What sums over all vertices always goes this way, so that its entries have the Graph's numbers, and its bits do not
 * depend on the buffer.
 *
 * Asynchronous [1]: a part is swept again, over those of its vertices that have improved meanwhile, until
 * there is none, and only then does the next one come. Vertices whose list is cut, or not there, wait for the next
 * iteration. That is for best paths and CC. It makes no sense, and each list is swept once, in
 *   sums, and the counts of SSNSP      their iterations are fixed
 *   BFS, and the levels of SSNSP       a vertex improves once, before its list is brought: nothing is to be swept again
 *   CC by forward lists alone          who takes from its targets must see it when they improve, and they cannot tell it
 *   CC's backward lists                whom they improve must be swept along both of its lists; whom forward's improve
 *                                      is, since it is active, and backward lists come after
 * DEGREE_CUT makes no sense either: it cuts lists where they stand. It is refused.
 *
 * Bytes an iteration, for k active vertices with e edges of w bytes: to the device e w; to the host 12 k (4 k when no
 * SubCSR is made); on the device n/4 of bitmap and counts, 48 k of lists, then what the mapping reads.
 *
 * [1] A. H. N. Sabet, Z. Zhao, R. Gupta: Subway: Minimizing Data Transfer during Out-of-GPU-Memory Graph Processing.
 *     EuroSys 2020.
 */
#ifndef EMOGI_STAGED_CUH
#define EMOGI_STAGED_CUH

#include "cuda/papers/mapping.cuh"
#include "cuda/papers/staged_gather.h"

/*
 * Tuned constants, of bc1d508. bench/PAPERS.md (subway) has the figures of an NVIDIA H200 at b47e0c8 with these values; of
 * others there is no record.
 */
#define WHOLE_PERCENT 80		/* of the edges [1]: above it gathering is not worth while */
#define STAGED_LEAST_BYTES (UINT64_C(1) << 20)	/* of an edge buffer, unless all edges take less */
#define STAGED_PIECE_BYTES (UINT64_C(64) << 20) /* of pinned memory: 1 ms of the link */
#define STAGED_SLEEP_US 20		/* between looks at a copy: a piece takes at least ten times as long */

#define STAGED_BUFFERS 2
#define STAGED_UNIT UINT64_C(128)	/* entries: weights of a byte then start on a line as well */

/* What is in a buffer: entries of some items' lists, of which the first and the last may be cut. */
typedef struct StagedPart
{
	uint64_t	first;			/* item */
	uint64_t	nitems;
	Span		entries;
} StagedPart;

/* What a STAGED run has. The device's arrays belong to run->memory. The host thread of the run alone touches it. */
typedef struct Staged
{
	Run		   *run;
	EmogiAdjacency forward;		/* the Graph's, in host memory */
	EmogiAdjacency backward;	/* the same when the run does not read it */
	uint32_t	weight_bytes;	/* of a weight that is read; 0 = none are */
	struct EmogiPool *pool;
	uint32_t	nallocations;	/* of host memory, of which a test lets one fail */

	/* Device memory. */
	uint32_t   *before;			/* [nwords], active vertices below each word; NULL: all are active, always */
	uint64_t   *start;			/* [items' capacity + 1], where lists start in the SubCSR; NULL likewise */
	uint64_t   *tile;			/* for the prefix sums of both */
	uint32_t   *pick;			/* [items' capacity], items to sweep again; NULL = not asynchronous */
	uint64_t	buffer_entries; /* a multiple of STAGED_UNIT */
	char	   *buffer;			/* [STAGED_BUFFERS] times targets, then weights */

	/* Pinned memory. */
	uint64_t	piece_entries;	/* a multiple of STAGED_UNIT */
	char	   *piece[STAGED_BUFFERS];	/* targets, then weights */
	char	   *listed;			/* start[capacity + 1], then vertex[capacity]; NULL likewise */

	cudaStream_t stream;		/* for copies of edges */
	cudaEvent_t copied[STAGED_BUFFERS]; /* a piece is on the device */
	cudaEvent_t filled[STAGED_BUFFERS]; /* a part is */
	cudaEvent_t emptied[STAGED_BUFFERS];	/* the last sweep over a part is over */

	/* The sweep under way. */
	EmogiSemiringSum gather;			/* the Items' lists, as the host knows them */
	bool		cuts;			/* lists may be cut */
	uint64_t	item;			/* the next part begins with this one .. */
	uint64_t	entry;			/* .. at this entry */

	/* Over all sweeps. BySource and pieces take the buffers in turn. */
	StagedPart	part[STAGED_BUFFERS];
	uint64_t	nfilled;		/* parts that are copied, or will be */
	uint64_t	nswept;			/* parts of which the last sweep is launched */
	uint64_t	npieces;
} Staged;

#endif							/* EMOGI_STAGED_CUH */
