/*
 * local_similarity.h: the vertices most similar to one vertex, if few edges have to be scanned
 */
#ifndef EMOGI_LOCAL_SIMILARITY_H
#define EMOGI_LOCAL_SIMILARITY_H

#include "contract/engine.h"
#include "contract/overlay.h"

/*
 * The vertices most similar to one, best first, ties by key: the result of emogi_cpu_similarity for
 * it.
 */
typedef struct EmogiLocalSimilar
{
	uint64_t	count;
	uint32_t   *vertices;		/* [count], malloc'd; new vertices from nvertices on */
	double	   *similarity;		/* [count], malloc'd */
	uint64_t	edges_traversed; /* edges scanned */
} EmogiLocalSimilar;

/*
 * Find the query's top_k vertices most similar to a vertex of the graph or its overlay (NULL = no
 * changes), scanning at most max_edges edges. Returns false, without a result, if more would be
 * needed or if out of memory. The graph must have backward lists. Does not poll, like
 * emogi_local_search.
 */
extern bool emogi_local_similarity(const EmogiGraph *graph, const EmogiOverlay *overlay,
								   const EmogiQuery *query, uint32_t vertex, uint64_t max_edges,
								   EmogiLocalSimilar *similar);

/* Free the arrays of a result. */
extern void emogi_local_similarity_free(EmogiLocalSimilar *similar);

#endif							/* EMOGI_LOCAL_SIMILARITY_H */
