/*
 * local_search.h: BFS, SSSP and SSNSP that reach little: what they cost depends on what they reach,
 * not on the size of the Graph.
 */
#ifndef EMOGI_LOCAL_SEARCH_H
#define EMOGI_LOCAL_SEARCH_H

#include "contract/engine.h"
#include "graph/overlay.h"

/* What a search has reached, in ascending order of keys. */
typedef struct EmogiLocalAnswer
{
	uint64_t	count;
	uint32_t   *vertices;		/* [count], malloced; from nvertices on those of the patch */
	double	   *values;			/* [count], malloced: levels, or distances with SSSP's bits */
	double	   *paths;			/* [count], malloced, of SSNSP; NULL of others */
	uint32_t	nlevels;		/* levels entered, the sources' own included; with weights 1 */
	uint64_t	edges_traversed;	/* list entries that were looked at */
} EmogiLocalAnswer;

typedef enum EmogiLocalOutcome
{
	EMOGI_NEAR_ANSWERED,
	/*
	 * there is more to look at than was allowed, no memory, a source that may be gone, or more
	 * paths than a double holds exactly; no answer
	 */
	EMOGI_NEAR_GAVE_UP
} EmogiLocalOutcome;

/* Is there a search of that kind for an algorithm? */
static inline bool
emogi_local_search_answers(const EmogiAlgorithmRow *row)
{
	return (row->traits & EMOGI_STOPS) != 0 || row->algorithm == EMOGI_SSNSP;
}

/*
 * Answer a query of one of these algorithms, looking at max_edges list entries at most. Sources and
 * targets of the query may be vertices of the patch; NULL = nothing has changed. With targets,
 * those that are reached are in the answer, and others may be. SSNSP takes none: all paths to a
 * vertex are counted when its level is.
 *
 * Runs in the calling thread, and polls nothing: so max_edges is to be what takes milliseconds.
 * Memory is proportional to it.
 */
extern EmogiLocalOutcome emogi_local_search(const EmogiGraph *graph, const EmogiOverlay *patch,
											const EmogiQuery *query,
											uint64_t max_edges, EmogiLocalAnswer *answer);

/* Free the arrays of an answer. */
extern void emogi_local_search_free(EmogiLocalAnswer *answer);

#endif							/* EMOGI_LOCAL_SEARCH_H */
