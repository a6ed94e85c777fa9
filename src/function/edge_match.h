/*
 * edge_match.h: the names of steps among the rows of a query.
 */
#ifndef EMOGI_EDGE_MATCH_H
#define EMOGI_EDGE_MATCH_H

#include "executor/spi.h"

#include "function/function.h"

/* Steps whose names are looked for. */
typedef struct EmogiEdgeMatch
{
	EmogiForm  *form;			/* of the vertices of ... */
	const EmogiGraph *graph;
	const int64 *from;			/* [count], its ids */
	const int64 *to;			/* [count] */
	uint64		count;
	EmogiDirection direction;	/* along rows, against them, or both */
	bool		has_reverse;	/* rows lead back, too, at their reverse cost; at none where a cost
								 * is negative */
	Oid			type;			/* of names as they are ordered, */
	Oid			collation;		/* in this one, */
	Oid			given_type;		/* and as they are given */
	NullableDatum *names;		/* [count], what is found */
} EmogiEdgeMatch;

extern int64 *emogi_edge_match_ends(const EmogiEdgeMatch *wanted, uint64 *nends);
extern uint64 emogi_edge_match_find(const EmogiEdgeMatch *wanted, SPIPlanPtr plan, Datum *values,
									MemoryContext context);

#endif
