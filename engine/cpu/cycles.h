/*
 * cycles.h: the simple cycles through a vertex, one after the other, the shortest first.
 */
#ifndef EMOGI_CYCLES_H
#define EMOGI_CYCLES_H

#include "graph/overlay.h"
#include "trace_path.h"

/* A search under way: it holds all that it has taken, so that a poll may leave by a jump as long as it is freed then. */
typedef struct EmogiCycles EmogiCycles;

/* A cycle, until the next one is looked for. */
typedef struct EmogiCycle
{
	uint64_t	length;			/* edges; 0 = there is none left */
	const uint32_t *vertices;	/* [length + 1]: the source first and last, the others once */
	const double *distance;		/* [length + 1], from the source, added up along the cycle in SSSP's arithmetic */
} EmogiCycle;

/*
 * Begin a search. source: a vertex of the Graph or of the patch, NULL = nothing has changed. graph->backward must be built. max_length: edges of a cycle, at most. both: edges lead either way (EMOGI_BOTH),
 * so that a cycle of three edges and more comes once, not in either sense, and there are none of two. most_bytes: memory that it may take. poll:
 * NULL = nobody stops it but control->cancel. Returns OK or NO_MEMORY; there is no search then. The Graph, the patch, the control and the error
 * stay the caller's.
 */
extern EmogiStatus emogi_cycles_begin(const EmogiGraph *graph, const EmogiOverlay *patch, uint32_t source, uint64_t max_length, bool both,
									  uint64_t most_bytes, EmogiPoll poll, EmogiCycles **cycles, EmogiControl *control, EmogiError *error);

/*
 * Find the next cycle, in the order of edges, and of those of as many in that of the vertices from the source on, by their keys. One over
 * parallel edges counts once, with the least weights. Returns OK, CANCELED, or NO_MEMORY; but for OK the search is of no use any more.
 */
extern EmogiStatus emogi_cycles_next(EmogiCycles *cycles, EmogiCycle *cycle);

/* Get the list entries that were looked at. */
extern uint64_t emogi_cycles_looked(const EmogiCycles *cycles);

/* Free a search; NULL is none. */
extern void emogi_cycles_free(EmogiCycles *cycles);

#endif							/* EMOGI_CYCLES_H */
