/*
 * local_graph.h: a small graph whose rows of given vertices equal those of the whole graph
 *
 * The rows of some algorithms depend on few edges, or may do so: those near the vertex, or in its
 * component. The small graph has the vertices of these edges, and all edges between them. Its rows
 * of other vertices are meaningless.
 */
#ifndef EMOGI_LOCAL_GRAPH_H
#define EMOGI_LOCAL_GRAPH_H

#include "contract/engine.h"
#include "contract/overlay.h"

/* The vertices on which the rows of a vertex depend. */
typedef enum EmogiLocalScope
{
	EMOGI_SCOPE_NONE = 0,		/* all */
	EMOGI_SCOPE_NEIGHBORS,		/* its neighbors: triangles */
	EMOGI_SCOPE_COMPONENT,		/* those connected with it: core numbers */
	/*
	 * all that it reaches, or all that reach it, whichever are fewer: the others of its strongly
	 * connected component are among both
	 */
	EMOGI_SCOPE_STRONG,
	/*
	 * those around it that tell which of its neighbors are connected without it: how many parts
	 * its component would fall into. At most one part is incomplete
	 */
	EMOGI_SCOPE_PARTS
} EmogiLocalScope;

/* Get the scope of an algorithm's rows. */
static inline EmogiLocalScope
emogi_local_scope(EmogiAlgorithm algorithm)
{
	switch (algorithm)
	{
		case EMOGI_TRIANGLES:
		case EMOGI_LCC:
			return EMOGI_SCOPE_NEIGHBORS;
		case EMOGI_CC:
		case EMOGI_CORE:
			return EMOGI_SCOPE_COMPONENT;
		case EMOGI_SCC:
			return EMOGI_SCOPE_STRONG;
		case EMOGI_ARTICULATION_POINTS:
			return EMOGI_SCOPE_PARTS;
		default:
			return EMOGI_SCOPE_NONE;
	}
}

#define EMOGI_LOCAL_MET 4

typedef struct EmogiLocalGraph
{
	EmogiGraph	graph;			/* without weights and dictionary, with the lists of the whole
								 * graph's directions; vertices ascend by key */
	void	   *memory;			/* malloc'ed, of the graph; NULL = none */
	uint64_t	edges_scanned;
} EmogiLocalGraph;

/*
 * Make the small graph for vertices of a graph with its overlay (NULL = no changes), all of which
 * exist. The graph must have backward lists. Returns false, without a graph, if more than max_edges
 * would be scanned, if it would have more than max_kept edges or EMOGI_LOCAL_MET times as many
 * vertices might be met, or if out of memory. Does not poll, like emogi_local_search.
 */
extern bool emogi_local_graph_make(const EmogiGraph *graph, const EmogiOverlay *overlay,
								   EmogiLocalScope scope, const uint32_t *vertices,
								   uint64_t nvertices, uint64_t max_edges, uint64_t max_kept,
								   EmogiLocalGraph *local);

/* Free a small graph. */
extern void emogi_local_graph_free(EmogiLocalGraph *local);

#endif							/* EMOGI_LOCAL_GRAPH_H */
