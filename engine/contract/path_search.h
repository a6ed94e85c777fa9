/*
 * path_search.h: point-to-point shortest paths, without computing the distances of all vertices.
 */
#ifndef EMOGI_PATH_SEARCH_H
#define EMOGI_PATH_SEARCH_H

#include "contract/engine.h"
#include "contract/overlay.h"

typedef enum EmogiPathOutcome
{
	EMOGI_PATH_FOUND,
	EMOGI_PATH_NONE,			/* no path from the source to the target */
	EMOGI_PATH_GAVE_UP			/* the edge or vertex limit was reached */
} EmogiPathOutcome;

/* The result of a search, and its cost. */
typedef struct EmogiPathAnswer
{
	EmogiPathOutcome outcome;
	uint64_t	length;			/* vertices on the path, including both ends; 0 unless found */
	uint32_t   *vertices;		/* [length], malloc'ed, from the source to the target; NULL
								 * unless found */
	double	   *distance;		/* [length], malloc'ed, from the source, bit-identical to SSSP's;
								 * NULL unless found */
	uint64_t	edges_traversed;	/* edges examined, <= max_edges */
	uint64_t	vertices_settled;	/* <= max_vertices, or one more if it gave up */
} EmogiPathAnswer;

/*
 * Find the path that emogi_trace_path finds from the distances of SSSP from the source, with the
 * same distances, examining at most max_edges edges. overlay: changes since the graph was built,
 * NULL = none; vertex numbers may then be those of the overlay's new vertices. source, target: <
 * nvertices, or vertices of the overlay. graph->backward must be built. Time and memory depend on
 * the region between the two vertices, not on nvertices or nedges: up to 250 bytes per visited
 * vertex, and at most max_edges + 2 vertices are visited. Without weights the search gives up
 * before a level that might exceed max_edges.
 *
 * Runs in the calling thread. Returns OK with any outcome, CANCELED, or NO_MEMORY; answer is always
 * set, and holds memory only if a path was found.
 */
extern EmogiStatus emogi_path_search(const EmogiGraph *graph, const EmogiOverlay *overlay,
									 uint32_t source, uint32_t target, uint64_t max_edges,
									 EmogiPathAnswer *answer, EmogiControl *control,
									 EmogiError *error);

/*
 * The same, additionally settling at most max_vertices vertices: with short adjacency lists, an
 * edge takes far longer than with long ones.
 */
extern EmogiStatus emogi_path_search_within(const EmogiGraph *graph, const EmogiOverlay *overlay,
											uint32_t source, uint32_t target, uint64_t max_edges,
											uint64_t max_vertices, EmogiPathAnswer *answer,
											EmogiControl *control, EmogiError *error);

/* Free the arrays of an answer. */
extern void emogi_path_search_free(EmogiPathAnswer *answer);

#endif							/* EMOGI_PATH_SEARCH_H */
