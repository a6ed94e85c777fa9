/*
 * segments.cuh: lists cut by where their targets are, so that what entries read at random stays in the second-level cache.
 *
 * The vertices are cut into segments of `width`. List s * nvertices + v of the cut Graph has those targets of v's list
 * that are in segment s, in order. A sweep over the cut lists, in ascending order, reads one segment's values after the
 * other: from the cache at 159 G reads/s, where device memory gives 38 (DESIGN.md section 10).
 */
#ifndef EMOGI_SEGMENTS_CUH
#define EMOGI_SEGMENTS_CUH

#include "chunks.cuh"

/* In device memory, of the run. */
typedef struct Cut
{
	uint32_t	nsegments;		/* 1 = not cut */
	uint64_t	width;			/* vertices of a segment */
	uint64_t	nlists;			/* nsegments * nvertices, < 2^32 when cut */
	Lists<Target> lists;		/* the Graph's own when not cut; no weights when cut */
	uint32_t   *list;			/* [nchunks], the list that the chunk's first entry is in; filled when cut */

	/* The rest is there when it is cut. */
	uint64_t   *offsets;		/* lists.offsets, to write */
	Target	   *targets;		/* lists.targets, to write */
	uint64_t   *tile;			/* [ntiles], sums */
	uint64_t	ntiles;
	double	   *sum;			/* [nlists], for the caller */
} Cut;

/*
 * Decide whether to cut the forward lists of a Graph, and take the arrays: when it is placed in device memory, the values
 * are too many for the cache, there are sweeps enough to pay for it, and room without evicting anything. `list` is the
 * caller's, with room for all chunks. *cut is good for sweeps over the lists as they are, when it is not to be cut.
 */
extern EmogiStatus emogi_cut_open(Run *run, uint64_t nsweeps, uint32_t *list, Cut *cut, EmogiError *error);

/* Cut the lists, and wait for it. */
extern EmogiStatus emogi_cut_lists(Run *run, const Cut *cut, EmogiError *error);
extern EmogiStatus emogi_cut_load(EmogiError *error);

#endif							/* EMOGI_SEGMENTS_CUH */
