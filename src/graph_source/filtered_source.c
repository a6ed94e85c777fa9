/*
 * filtered_source.c: graphs of queries of one table with conditions (../analysis/table_filter.c),
 * whose changes can be tracked and whose searches may use indexes
 */
#include "postgres.h"

#include "graph_source/graph_source.h"

/* Recognize a query that selects rows of one table. */
static bool
takes_query(EmogiGraphSource *source)
{
	source->tables = source->analysis->leaves;
	return source->analysis->refusal == NULL && source->analysis->filtered != NULL;
}

static const EmogiSource *
indexed(const EmogiGraphSource *source)
{
	return source->analysis->filtered;
}

const EmogiGraphSourceKind emogi_graph_source_filtered = {
	.name = "filtered table",
	.takes_query = takes_query,
	.scan = emogi_graph_source_scan_query,
	.may_publish = emogi_graph_source_may_publish_query,
	.indexed = indexed,
	.estimate_rows = emogi_graph_source_planned_rows,
	.is_of_tables = true
};
