/*
 * local_trees.h: the trees of searches that reach little.
 */
#ifndef EMOGI_LOCAL_TREES_H
#define EMOGI_LOCAL_TREES_H

#include "cpu/local_search.h"

/*
 * Find the trees of a query of BFS or SSSP without targets that emogi_local_search has answered:
 * the same as BFS_TREE and SHORTEST_PATH_TREE have (trees.c). predecessor, source: [answer->count],
 * places in the answer, EMOGI_NO_VERTEX for the predecessor of a source. patch: as there. *looked:
 * gets the list entries that were looked at. False without memory.
 */
extern bool emogi_local_trees(const EmogiGraph *graph, const EmogiOverlay *patch,
							  const EmogiQuery *query, const EmogiLocalAnswer *answer,
							  uint32_t *predecessor,
							  uint32_t *source, uint64_t *looked);

#endif							/* EMOGI_LOCAL_TREES_H */
