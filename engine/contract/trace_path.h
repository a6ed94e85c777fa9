/*
 * trace_path.h: one shortest path, from the distances of all vertices.
 */
#ifndef EMOGI_TRACE_PATH_H
#define EMOGI_TRACE_PATH_H

#include "contract/engine.h"

/* Called every few milliseconds; true = stop. */
typedef bool (*EmogiPoll) (void);

/*
 * Find a shortest path from source to target: of minimum distance, then of the fewest edges, then
 * with the smallest vertex numbers, read from the target back. distance: [nvertices], the result of
 * SSSP for this graph and this source alone; distance[target] must be finite. graph->backward must
 * be built.
 *
 * path, next: [nvertices], undefined content. path receives the vertices from the source to the
 * target. Returns their number, or 0 if poll returned true. Runs in the caller's thread and holds
 * no resources, so that poll may also longjmp.
 */
extern uint64_t emogi_trace_path(const EmogiGraph *graph, const double *distance, uint32_t source,
								 uint32_t target, uint32_t *path, uint32_t *next, EmogiPoll poll);

#endif							/* EMOGI_TRACE_PATH_H */
