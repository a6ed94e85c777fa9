/*
 * path_search.h: one shortest path between two vertices without the distances of all others.
 */
#ifndef EMOGI_PATH_SEARCH_H
#define EMOGI_PATH_SEARCH_H

#include "contract/engine.h"
#include "graph/overlay.h"

typedef enum EmogiPathOutcome
{
	EMOGI_PATH_FOUND,
	EMOGI_PATH_NONE,			/* no path leads from the source to the target */
	EMOGI_PATH_GAVE_UP			/* it would take more list entries than were allowed */
} EmogiPathOutcome;

/* What a search found, and what it took. */
typedef struct EmogiPathAnswer
{
	EmogiPathOutcome outcome;
	uint64_t	length;			/* vertices on the path, both ends included; 0 unless found */
	uint32_t   *vertices;		/* [length], malloced, from the source to the target; NULL unless
								 * found */
	double	   *distance;		/* [length], malloced, from the source, SSSP's bits; NULL unless
								 * found */
	uint64_t	edges_traversed;	/* list entries looked at, <= max_edges */
	uint64_t	vertices_settled;	/* <= max_vertices, or one more when it gave up */
} EmogiPathAnswer;

/*
 * Find the path that emogi_trace_path finds among the distances of SSSP from the source, with the
 * same distances, looking at max_edges list entries at most. patch: changes since the Graph was
 * made, NULL = none; then numbers may be those of its new vertices. source, target: < nvertices,
 * and those of the patch. graph->backward must be built. Time and memory depend on what lies
 * between the two vertices, not on nvertices or nedges: up to 250 bytes for a vertex met, of which
 * there are no more than list entries looked at, and the two.
 *
 * Runs in the calling thread. Returns OK with any outcome, CANCELED, or NO_MEMORY; answer is always
 * set, and holds memory only when a path was found.
 */
extern EmogiStatus emogi_path_search(const EmogiGraph *graph, const EmogiOverlay *patch,
									 uint32_t source, uint32_t target, uint64_t max_edges,
									 EmogiPathAnswer *answer, EmogiControl *control,
									 EmogiError *error);

/*
 * The same, settling max_vertices at most, too: a short list takes far longer for an entry than a
 * long one.
 */
extern EmogiStatus emogi_path_search_within(const EmogiGraph *graph, const EmogiOverlay *patch,
											uint32_t source, uint32_t target, uint64_t max_edges,
											uint64_t max_vertices, EmogiPathAnswer *answer,
											EmogiControl *control, EmogiError *error);

/* Free the arrays of an answer. */
extern void emogi_path_search_free(EmogiPathAnswer *answer);

#endif							/* EMOGI_PATH_SEARCH_H */
