/*
 * local_search.h: BFS, SSSP and SSNSP for searches that reach few vertices. The cost depends on the
 * vertices reached, not on the size of the graph.
 */
#ifndef EMOGI_LOCAL_SEARCH_H
#define EMOGI_LOCAL_SEARCH_H

#include "contract/engine.h"
#include "contract/overlay.h"

/* The vertices that a search has reached, in ascending order of keys. */
typedef struct EmogiLocalAnswer
{
	uint64_t	count;
	uint32_t   *vertices;		/* [count], malloc'ed; >= nvertices: vertices of the overlay */
	double	   *values;			/* [count], malloc'ed: levels, or distances bit-identical to
								 * SSSP's */
	double	   *paths;			/* [count], malloc'ed, SSNSP only; otherwise NULL */
	uint32_t	nlevels;		/* levels entered, including the sources' own; with weights 1 */
	uint64_t	edges_traversed;	/* edges examined */
} EmogiLocalAnswer;

typedef enum EmogiLocalOutcome
{
	EMOGI_LOCAL_ANSWERED,
	/*
	 * the edge limit was reached, out of memory, a source may have been removed, or there are more
	 * paths than a double represents exactly; there is no answer
	 */
	EMOGI_LOCAL_GAVE_UP
} EmogiLocalOutcome;

/* Check whether an algorithm has a local search. */
static inline bool
emogi_local_search_answers(const EmogiAlgorithmRow *row)
{
	return (row->traits & (EMOGI_STOPS | EMOGI_COUNTS_PATHS)) != 0;
}

/*
 * Answer a query of one of these algorithms, examining at most max_edges edges. Sources and targets
 * of the query may be vertices of the overlay; overlay NULL = nothing has changed. With targets,
 * the reached ones are in the answer, and other vertices may be. SSNSP takes no targets, because
 * all paths to a vertex are counted when its level is made.
 *
 * A mask of the query is used by BFS without targets and without an overlay; all others give up. A
 * source that may have no passing edge gives up, too.
 *
 * Runs in the calling thread without polling, so max_edges must be limited to milliseconds of work.
 * Memory use is proportional to it.
 */
extern EmogiLocalOutcome emogi_local_search(const EmogiGraph *graph, const EmogiOverlay *overlay,
											const EmogiQuery *query,
											uint64_t max_edges, EmogiLocalAnswer *answer);

/* Free the arrays of an answer. */
extern void emogi_local_search_free(EmogiLocalAnswer *answer);

#endif							/* EMOGI_LOCAL_SEARCH_H */
