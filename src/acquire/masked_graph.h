/*
 * masked_graph.h: the graph of a whole table with an edge mask, instead of the graph of a condition
 *
 * masked_graph.c decides whether the mask can be used, and makes it. columns.c loads the property
 * columns that it needs, if that pays by columns_cost.c.
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
							  bool loads, bool *is_busy);

extern bool emogi_columns_are_there(const EmogiCacheLookup *lookup,
									const EmogiNeededColumns *needed);

/* ---- columns_cost.c ---- */

extern bool emogi_columns_cost_pays(const EmogiSource *table, EmogiDirection direction,
									int ncolumns, EmogiCacheHas has, bool builds);
extern void emogi_columns_cost_add(Oid relid, double us);
extern void emogi_columns_cost_record_load(Oid relid, const EmogiColumns *replaced);
extern void emogi_columns_cost_record_failure(Oid relid);

/* ---- masked_graph.c ---- */

/*
 * Have a call, which has a slot and no graph, pin the graph of a whole table: brought to the
 * call's snapshot, or built. Return how; NONE if such a graph cannot be shared. rows: of a condition on the
 * table. Raises 53200, and any error of a build.
 */
typedef EmogiGraphOrigin (*EmogiAcquireWhole) (EmogiCall *call, EmogiSource *table,
											   const EmogiGraphSource *rows,
											   EmogiCacheLookup *lookup);

extern bool emogi_masked_graph_get(EmogiCall *call, const EmogiGraphSource *rows,
								   const EmogiGraphRequest *request, EmogiCacheHas instead,
								   bool is_last, EmogiAcquireWhole acquire,
								   EmogiGraphView *view);
extern void emogi_masked_graph_add_cost(const EmogiGraphSource *rows,
										const EmogiGraphRequest *request, double us);

#endif							/* EMOGI_MASKED_GRAPH_H */
