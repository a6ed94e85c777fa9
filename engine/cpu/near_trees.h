/*
 * near_trees.h: the trees of searches that reach little.
 */
#ifndef EMOGI_NEAR_TREES_H
#define EMOGI_NEAR_TREES_H

#include "near_search.h"

/*
 * Find the trees of a query of BFS or SSSP without targets that emogi_near_search has answered: the same as BFS_TREE and SHORTEST_PATH_TREE have (trees.c). predecessor, source: [answer->count], places in the answer, EMOGI_NO_VERTEX for the predecessor of a source. patch: as there.
 * *looked: gets the list entries that were looked at. False without memory.
 */
extern bool emogi_near_trees(const EmogiGraph *graph, const EmogiPatch *patch, const EmogiQuery *query, const EmogiNearAnswer *answer, uint32_t *predecessor,
							 uint32_t *source, uint64_t *looked);

#endif							/* EMOGI_NEAR_TREES_H */
