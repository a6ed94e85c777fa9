/*
 * local_hops.h: breadth-first searches that reach little (local_hops.c), and the order of what such
 * searches reach (local_order.c).
 */
#ifndef EMOGI_LOCAL_HOPS_H
#define EMOGI_LOCAL_HOPS_H

#include "cpu/local_search.h"

/* As emogi_local_search, of BFS without targets. */
extern EmogiLocalOutcome emogi_local_hops(const EmogiGraph *graph, const EmogiOverlay *patch,
										  const EmogiQuery *query, uint64_t max_edges,
										  EmogiLocalAnswer *answer);

/*
 * Put vertices, each shifted left by 32 bits and with anything below, into ascending order of keys.
 * sort: [2 * count + 1], the second half scratch.
 */
extern void emogi_local_order(const EmogiGraph *graph, const EmogiOverlay *patch, uint64_t *sort,
							  uint64_t count);

#endif							/* EMOGI_LOCAL_HOPS_H */
