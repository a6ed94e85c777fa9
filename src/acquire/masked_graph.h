/*
 * masked_graph.h: the graph of a whole table with an edge mask, instead of the graph of a condition
 *
 * masked_graph.c decides whether the mask can be used, and makes it. columns.c loads the property
 * columns that it needs.
 */
#ifndef EMOGI_MASKED_GRAPH_H
#define EMOGI_MASKED_GRAPH_H

#include "acquire/cache_lookup.h"
#include "cache/columns.h"

/* ---- columns.c ---- */

/* Columns of a relation that a call needs. */
typedef struct EmogiNeededColumns
{
	int			count;
	EmogiColumnIdentity columns[EMOGI_FILTER_MAX_COLUMNS];
} EmogiNeededColumns;

extern bool emogi_columns_get(EmogiCall *call, const EmogiSource *source, List *leaves,
							  const EmogiCacheLookup *lookup, const EmogiNeededColumns *needed,
							  bool loads);

/* ---- masked_graph.c ---- */

extern bool emogi_masked_graph_get(EmogiCall *call, const EmogiGraphSource *rows,
								   const EmogiGraphRequest *request, bool loads,
								   EmogiGraphView *view);

#endif							/* EMOGI_MASKED_GRAPH_H */
