/*
 * local_similarity.h: the vertices most like one, where little has to be looked at.
 */
#ifndef EMOGI_LOCAL_SIMILARITY_H
#define EMOGI_LOCAL_SIMILARITY_H

#include "contract/engine.h"
#include "graph/overlay.h"

/* Vertices that are like one, the most alike first, ties by key: what emogi_cpu_similarity finds for it. */
typedef struct EmogiLocalSimilar
{
	uint64_t	count;
	uint32_t   *vertices;		/* [count], malloced; from nvertices on those of the patch */
	double	   *similarity;		/* [count], malloced */
	uint64_t	edges_traversed;	/* list entries that were looked at */
} EmogiLocalSimilar;

/*
 * Find the query's top_k vertices most like one of the Graph or of its patch, NULL = nothing has changed, looking at max_edges list entries at most; false, and
 * no answer, where there are more, or no memory. The Graph leads backward. Polls nothing, as emogi_local_search.
 */
extern bool emogi_local_similarity(const EmogiGraph *graph, const EmogiOverlay *patch, const EmogiQuery *query, uint32_t vertex, uint64_t max_edges,
								  EmogiLocalSimilar *similar);

/* Free the arrays of an answer. */
extern void emogi_local_similarity_free(EmogiLocalSimilar *similar);

#endif							/* EMOGI_LOCAL_SIMILARITY_H */
