/*
 * yen.h: the paths without a repeated vertex between two vertices, one after the other, the shortest first.
 */
#ifndef EMOGI_YEN_H
#define EMOGI_YEN_H

#include "contraction.h"
#include "graph/overlay.h"
#include "trace_path.h"

/* A ranking under way: it holds all that it has taken, so that a poll may leave by a jump as long as it is freed then. */
typedef struct EmogiYen EmogiYen;

/* A path, as long as its ranking is there. */
typedef struct EmogiYenFoundPath
{
	uint64_t	length;			/* vertices, both ends included; 0 = there is none left */
	const uint32_t *vertices;	/* [length], from the source to the target, each once */
	const double *distance;		/* [length], from the source, added up along the path in SSSP's arithmetic */
} EmogiYenFoundPath;

/*
 * Begin a ranking. source, target: vertices of the Graph or of the patch, NULL = nothing has changed. graph->backward must be built. most_bytes: memory that it may take. poll: NULL = nobody
 * stops it but control->cancel. hierarchy: the Graph's contraction hierarchy, with which far paths are found much sooner, NULL = none, and there is none of a patched one; reversed: it was made of
 * the Graph that leads the other way. Returns OK or NO_MEMORY; the ranking is NULL then. The Graph, the patch, what was made of it, the control and the error stay the
 * caller's, and there.
 */
extern EmogiStatus emogi_yen_begin(const EmogiGraph *graph, const EmogiOverlay *patch, const EmogiContraction *hierarchy, bool reversed,
									   uint32_t source, uint32_t target, uint64_t most_bytes, EmogiPoll poll, EmogiYen **ranking, EmogiControl *control, EmogiError *error);

/*
 * Find the next path, in the order of distance, and of those of equal distance in that of the vertices from the source on, by their
 * keys. One over parallel edges counts once, with the least weight. most: paths that are farther are not looked for; it may only become less.
 * Returns OK, CANCELED, or NO_MEMORY, also for more memory than is allowed; but for OK the ranking is of no use any more.
 */
extern EmogiStatus emogi_yen_next(EmogiYen *ranking, double most, EmogiYenFoundPath *path);

/* Get the list entries that were looked at. */
extern uint64_t emogi_yen_looked(const EmogiYen *ranking);

/* Free a ranking; NULL is none. */
extern void emogi_yen_free(EmogiYen *ranking);

#endif							/* EMOGI_YEN_H */
