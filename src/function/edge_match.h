/*
 * edge_match.h: the names of steps among the rows of a query.
 */
#ifndef EMOGI_EDGE_MATCH_H
#define EMOGI_EDGE_MATCH_H

#include "executor/spi.h"

#include "function/function.h"

/* Steps between vertices that are integers, whose names are looked for. */
typedef struct EmogiEdgeMatch
{
	const Datum *from;			/* [count], int8 */
	const Datum *to;			/* [count] */
	uint64		count;
	EmogiDirection direction;	/* along rows, against them, or both */
	bool		has_reverse;	/* rows lead back, too, at their reverse cost; at none where a cost is negative */
	Oid			type;			/* of names */
	NullableDatum *names;		/* [count], what is found */
} EmogiEdgeMatch;

extern Datum emogi_edge_match_ends(const EmogiEdgeMatch *wanted);
extern uint64 emogi_edge_match_find(const EmogiEdgeMatch *wanted, SPIPlanPtr plan, Datum *values, MemoryContext context);

#endif
