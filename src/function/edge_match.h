/*
 * edge_match.h: search for the names of steps among the rows of a query
 */
#ifndef EMOGI_EDGE_MATCH_H
#define EMOGI_EDGE_MATCH_H

#include "executor/spi.h"

#include "function/function.h"

/* Steps whose names are searched. */
typedef struct EmogiEdgeMatch
{
	EmogiKeyIO  *form;			/* form of the vertices of the graph */
	const EmogiGraph *graph;
	const int64 *from;			/* [count], ids of the graph */
	const int64 *to;			/* [count] */
	uint64		count;
	EmogiDirection direction;	/* steps follow rows forward, backward, or both */
	bool		are_parallel;	/* steps with the same ends follow one another, and are all parallel
								 * edges between them: each gets the name of another row, in
								 * ascending order of weights, then of names. Otherwise all get the
								 * name of the cheapest row */
	bool		has_reverse;	/* rows are also edges backward, at their reverse cost; a negative
								 * cost means no edge in that direction */
	Oid			type;			/* type that orders names, */
	Oid			collation;		/* its collation, */
	Oid			given_type;		/* and type in which they are returned */
	NullableDatum *names;		/* [count], the result */
} EmogiEdgeMatch;

extern int64 *emogi_edge_match_ends(const EmogiEdgeMatch *wanted, uint64 *nends);
extern uint64 emogi_edge_match_find(const EmogiEdgeMatch *wanted, SPIPlanPtr plan, Datum *values,
									MemoryContext context);

#endif
