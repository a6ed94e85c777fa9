/*
 * yen.h: enumeration of the simple paths between two vertices, one by one, shortest first
 */
#ifndef EMOGI_YEN_H
#define EMOGI_YEN_H

#include "contract/contraction.h"
#include "contract/overlay.h"
#include "contract/trace_path.h"

/*
 * A ranking in progress. It owns all its memory, so a poll may exit by longjmp if it is freed
 * afterwards.
 */
typedef struct EmogiYen EmogiYen;

/* A path, valid as long as its ranking. */
typedef struct EmogiYenFoundPath
{
	uint64_t	length;			/* vertices, both endpoints included; 0 = no more paths */
	const uint32_t *vertices;	/* [length], from the source to the target, each once */
	const double *distance;		/* [length], from the source, added up along the path in SSSP's
								 * arithmetic */
} EmogiYenFoundPath;

/*
 * Begin a ranking. source, target: vertices of the graph or the overlay (NULL = no changes).
 * graph->backward must be built. max_bytes: memory limit. poll: NULL = only control->cancel stops
 * it. hierarchy: the graph's contraction hierarchy, with which distant targets are found much
 * faster, NULL = none, as always with an overlay; reversed: the hierarchy is that of the transposed
 * graph.
 *
 * Returns OK, or NO_MEMORY with a NULL ranking. The graph, the overlay, the hierarchy, the control
 * and the error remain the caller's and must outlive the ranking.
 */
extern EmogiStatus emogi_yen_begin(const EmogiGraph *graph, const EmogiOverlay *overlay,
								   const EmogiContraction *hierarchy, bool reversed,
								   uint32_t source, uint32_t target, uint64_t max_bytes,
								   EmogiPoll poll, EmogiYen **ranking, EmogiControl *control,
								   EmogiError *error);

/*
 * Get the next path, ordered by distance, then by the keys of the vertices from the source on.
 * Parallel edges count once, with their minimum weight. max_distance: longer paths are not
 * searched; it may only decrease between calls. Returns OK, CANCELED, or NO_MEMORY, also above the
 * memory limit; if not OK, the ranking can only be freed.
 */
extern EmogiStatus emogi_yen_next(EmogiYen *ranking, double max_distance, EmogiYenFoundPath *path);

/* Get the number of edges scanned. */
extern uint64_t emogi_yen_edges_scanned(const EmogiYen *ranking);

/* Free a ranking; NULL is allowed. */
extern void emogi_yen_free(EmogiYen *ranking);

#endif							/* EMOGI_YEN_H */
