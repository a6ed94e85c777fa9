/*
 * near_hops.h: breadth-first searches that reach little (near_hops.c), and the order of what such searches reach (near_order.c).
 */
#ifndef EMOGI_NEAR_HOPS_H
#define EMOGI_NEAR_HOPS_H

#include "cpu/near_search.h"

/* As emogi_near_search, of BFS without targets. */
extern EmogiNearOutcome emogi_near_hops(const EmogiGraph *graph, const EmogiPatch *patch, const EmogiQuery *query, uint64_t max_edges,
										EmogiNearAnswer *answer);

/* Put vertices, each shifted left by 32 bits and with anything below, into ascending order of keys. sort: [2 * count + 1], the second half scratch. */
extern void emogi_near_order(const EmogiGraph *graph, const EmogiPatch *patch, uint64_t *sort, uint64_t count);

#endif							/* EMOGI_NEAR_HOPS_H */
