/*
 * cache_blocking.cuh: cache blocking: reordered targets for sweeps in device memory, so that random
 * reads hit the caches.
 *
 * A sweep reads 8 random bytes per edge. The L2 cache serves 159 G of such reads per second, device
 * memory 38 (docs/design/hardware.md, "Facts measured on an H200"), the L1 caches more than either.
 * There are two ways to hit the caches:
 *   renumbering  if few vertices have most of the edges. Targets are replaced by labels, in
 *                descending order of degree, and values are stored in that order, so the values
 *                read most often lie together. Lists stay as they are.
 *   segments     otherwise. The vertices are divided into segments, and the edges are sorted by
 *                segment, stably: list s * nvertices + v has the targets of v's list that are in
 *                segment s. A sweep reads the values of one segment after the other.
 *
 * Neither is useful if the targets of a list are already close to each other.
 */
#ifndef EMOGI_CACHE_BLOCKING_CUH
#define EMOGI_CACHE_BLOCKING_CUH

#include "cuda/lists/degree_order.cuh"

/* Lists in device memory to be swept in place of a graph's forward lists. */
typedef struct SegmentedGraph
{
	uint32_t	nsegments;	/* 1 = renumbered; 0 = nothing is better than the lists as they are */
	Lists<Target> lists;		/* targets only */
	ListIndex	list_index;	/* of each segment's lists, one segment after the other */
	/* [nvertices], index of each vertex in the values that edges read; NULL = its number */
	const uint32_t *label;
	/*
	 * [nsegments * nvertices], for the caller; NULL if renumbered: the caller's own array suffices
	 */
	double	   *sum;
} SegmentedGraph;

/*
 * Find the cached SegmentedGraph of the graph's forward lists, whose targets are `array` in host
 * memory. A run that would not make segments does not get segments, because they add in another
 * order.
 */
extern EmogiStatus emogi_cache_blocking_find(Run *run, const Target *array, uint64_t nsweeps,
											 SegmentedGraph *segmented, EmogiError *error);

/* Return whether there are enough sweeps for a SegmentedGraph to pay. */
extern bool emogi_cache_blocking_pays_off(uint64_t nsweeps);

/*
 * Build a SegmentedGraph and cache it, if the graph is placed in device memory, the values do not
 * fit in the cache, there are enough sweeps for it to pay, and there is memory without any
 * eviction. `list_index` is the index of the lists.
 */
extern EmogiStatus emogi_cache_blocking_make(Run *run, const Target *array,
											 const ListIndex *list_index, const Degrees *degrees,
											 uint64_t nsweeps, SegmentedGraph *segmented,
											 EmogiError *error);

#endif							/* EMOGI_CACHE_BLOCKING_CUH */
