/*
 * cycles.h: enumeration of the simple cycles through a vertex, one by one, shortest first
 */
#ifndef EMOGI_CYCLES_H
#define EMOGI_CYCLES_H

#include "contract/overlay.h"
#include "contract/trace_path.h"

/*
 * A search in progress. It owns all its memory, so a poll may exit by longjmp if the search is
 * freed afterwards.
 */
typedef struct EmogiCycles EmogiCycles;

/* A cycle, valid until the next one is requested. */
typedef struct EmogiCycle
{
	uint64_t	length;			/* edges; 0 = no more cycles */
	const uint32_t *vertices;	/* [length + 1]: the source first and last, the others once */
	const double *distance;		/* [length + 1], from the source, added up along the cycle in SSSP's
								 * arithmetic */
} EmogiCycle;

/*
 * Begin a search. source: a vertex of the graph or the overlay (NULL = no changes). graph->backward
 * must be built. max_length: maximum number of edges of a cycle. both: edges have both directions
 * (EMOGI_BOTH), so a cycle of three or more edges is returned in one orientation only, and there
 * are none of two edges. max_bytes: memory limit. poll: NULL = only control->cancel stops the
 * search.
 *
 * Returns OK, or NO_MEMORY without a search. The graph, the overlay, the control and the error
 * remain the caller's.
 */
extern EmogiStatus emogi_cycles_begin(const EmogiGraph *graph, const EmogiOverlay *overlay,
									  uint32_t source, uint64_t max_length, bool both,
									  uint64_t max_bytes, EmogiPoll poll, EmogiCycles **cycles,
									  EmogiControl *control, EmogiError *error);

/*
 * Get the next cycle, ordered by number of edges, then by the keys of the vertices from the source
 * on. Parallel edges count once, with their minimum weight. Returns OK, CANCELED, or NO_MEMORY; if
 * not OK, the search can only be freed.
 */
extern EmogiStatus emogi_cycles_next(EmogiCycles *cycles, EmogiCycle *cycle);

/* Get the number of edges scanned. */
extern uint64_t emogi_cycles_edges_scanned(const EmogiCycles *cycles);

/* Free a search; NULL is allowed. */
extern void emogi_cycles_free(EmogiCycles *cycles);

#endif							/* EMOGI_CYCLES_H */
