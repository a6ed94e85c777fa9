/*
 * trace_path.h: one shortest path out of the distances of all vertices.
 */
#ifndef EMOGI_TRACE_PATH_H
#define EMOGI_TRACE_PATH_H

#include "contract/engine.h"

/* Asked every few milliseconds; true = stop. */
typedef bool (*EmogiPoll) (void);

/*
 * Find a shortest path from source to target: among those of least distance one with the fewest
 * edges, and among those the one whose vertices, read from the target back, have the smallest
 * numbers. distance: [nvertices], what SSSP gave for this graph and this source alone;
 * distance[target] must be finite. graph->backward must be built.
 *
 * path, next: [nvertices], any content. path gets the vertices from the source to the target.
 * Returns how many, or 0 when poll said so. The caller's own thread does it all, and holds nothing
 * meanwhile: poll may also leave by a jump.
 */
extern uint64_t emogi_trace_path(const EmogiGraph *graph, const double *distance, uint32_t source,
								 uint32_t target, uint32_t *path, uint32_t *next, EmogiPoll poll);

#endif							/* EMOGI_TRACE_PATH_H */
