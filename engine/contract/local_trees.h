/*
 * local_trees.h: search trees of local searches.
 */
#ifndef EMOGI_LOCAL_TREES_H
#define EMOGI_LOCAL_TREES_H

#include "contract/local_search.h"

/*
 * Find the trees of a BFS or SSSP query without targets that emogi_local_search has answered: the
 * same trees as BFS_TREE and SHORTEST_PATH_TREE (trees.c). predecessor, source: [answer->count],
 * indexes in the answer; EMOGI_NO_VERTEX as the predecessor of a source. overlay: as in the search.
 * *nscanned: receives the number of edges examined. False if out of memory.
 */
extern bool emogi_local_trees(const EmogiGraph *graph, const EmogiOverlay *overlay,
							  const EmogiQuery *query, const EmogiLocalAnswer *answer,
							  uint32_t *predecessor, uint32_t *source, uint64_t *nscanned);

#endif							/* EMOGI_LOCAL_TREES_H */
