/*
 * reached_graph.h: a small graph of the edges that sources reach, with the same rows as the whole
 * graph
 *
 * The rows of an algorithm with EMOGI_OF_REACHED depend only on these edges. The order of vertices
 * and lists is that of the whole graph, so sums are bit-identical.
 */
#ifndef EMOGI_REACHED_GRAPH_H
#define EMOGI_REACHED_GRAPH_H

#include "contract/engine.h"
#include "contract/overlay.h"

typedef struct EmogiReachedGraph
{
	EmogiGraph	graph;			/* forward and backward lists, with the weights; without
								 * dictionary */
	void	   *memory;			/* malloc'ed, of the graph; NULL = none */
	uint32_t   *sources;		/* [nsources], malloc'ed, their vertices in the small graph */
	uint64_t	edges_scanned;
} EmogiReachedGraph;

/*
 * Make the graph of the edges of all vertices that the sources reach with fewer than max_depth hops
 * (-1 = unlimited) in a graph with its overlay (NULL = no changes). Returns false, without a graph,
 * if it would have more than max_edges edges, or if out of memory. Does not poll, like
 * emogi_local_search.
 */
extern bool emogi_reached_graph_make(const EmogiGraph *graph, const EmogiOverlay *overlay,
									 const uint32_t *sources, uint64_t nsources, int64_t max_depth,
									 uint64_t max_edges, EmogiReachedGraph *reached);

/* Free a small graph. */
extern void emogi_reached_graph_free(EmogiReachedGraph *reached);

#endif							/* EMOGI_REACHED_GRAPH_H */
