/*
 * local_hops.h: breadth-first searches that reach few vertices (local_hops.c), and the order of
 * local search results (local_sort.c).
 */
#ifndef EMOGI_LOCAL_HOPS_H
#define EMOGI_LOCAL_HOPS_H

#include "contract/local_search.h"

/* As emogi_local_search, for BFS without targets. */
extern EmogiLocalOutcome emogi_local_hops(const EmogiGraph *graph, const EmogiOverlay *overlay,
										  const EmogiQuery *query, uint64_t max_edges,
										  EmogiLocalAnswer *answer);

/* The same with a mask. */
extern EmogiLocalOutcome emogi_local_masked_hops(const EmogiGraph *graph,
												 const EmogiOverlay *overlay,
												 const EmogiQuery *query, uint64_t max_edges,
												 EmogiLocalAnswer *answer);

/*
 * Sort vertices, each shifted left by 32 bits with arbitrary low bits, in ascending order of keys.
 * sort: [2 * count + 1], of which the second half is scratch.
 */
extern void emogi_local_sort(const EmogiGraph *graph, const EmogiOverlay *overlay, uint64_t *sort,
							 uint64_t count);

#endif							/* EMOGI_LOCAL_HOPS_H */
