/*
 * cache_blocking.cuh: targets for sweeps in device memory, so that what entries read at random stays in the caches.
 *
 * A sweep reads 8 bytes an entry at random. The second-level cache serves 159 G of such reads a second, device memory 38
 * (docs/design.md, "Facts measured on an H200"), the first-level caches more than either. There are two ways to stay in them:
 *
 *   renumbering   where few vertices have most of the edges. Targets are replaced by labels, in descending order of
 *                 degree, and values are kept in that order: what is read most often lies together. Lists stay as they are.
 *   segments      elsewhere. The vertices are cut into segments, and the entries are sorted by segment, stably: list
 *                 s * nvertices + v has those targets of v's list that are in segment s. A sweep reads one segment's
 *                 values after the other.
 *
 * Neither is of use where the targets of a list are near to each other as they are.
 */
#ifndef EMOGI_CACHE_BLOCKING_CUH
#define EMOGI_CACHE_BLOCKING_CUH

#include "cuda/lists/degree_order.cuh"

/* What to sweep instead of a Graph's forward lists, in device memory. */
typedef struct SegmentedGraph
{
	uint32_t	nsegments;		/* 1 = renumbered; 0 = there is nothing better than the lists as they are */
	Lists<Target> lists;		/* targets alone */
	ListIndex		outline;		/* of each segment's lists, one segment after the other */
	const uint32_t *label;		/* [nvertices], index of each vertex in what entries read; NULL = its number */
	double	   *sum;			/* [nsegments * nvertices], for the caller; NULL when renumbered: its own has room */
} SegmentedGraph;

/*
 * Find the SegmentedGraph that was kept, of the Graph's forward lists, whose targets are `array` in host memory; a run that would not
 * make segments does not get them, for they add in another order.
 */
extern EmogiStatus emogi_cache_blocking_find(Run *run, const Target *array, uint64_t nsweeps, SegmentedGraph *cut, EmogiError *error);

/* Say whether there are sweeps enough for a SegmentedGraph to pay. */
extern bool emogi_cache_blocking_pay(uint64_t nsweeps);

/*
 * Make a SegmentedGraph, and keep it: when the Graph is placed in device memory, the values are too many for the cache, there are
 * sweeps enough to pay for it, and room without evicting anything. `outline` is that of the lists.
 */
extern EmogiStatus emogi_cache_blocking_make(Run *run, const Target *array, const ListIndex *outline, const Degrees *degrees,
									   uint64_t nsweeps, SegmentedGraph *cut, EmogiError *error);

/* Bring the kernels to the device. */
extern EmogiStatus emogi_cache_blocking_load(EmogiError *error);

#endif							/* EMOGI_CACHE_BLOCKING_CUH */
