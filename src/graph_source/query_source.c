/*
 * query_source.c: graphs of queries and views that can be shared, because the analysis knows all
 * that their rows depend on
 */
#include "postgres.h"

#include "graph_source/graph_source.h"

/* Recognize a query that its analysis has not refused. */
static bool
takes_query(EmogiGraphSource *source)
{
	source->tables = source->analysis->leaves;
	return source->analysis->refusal == NULL;
}

/* Run the analyzed query, not its text. */
void
emogi_graph_source_scan_query(EmogiCall *call, EmogiGraphSource *source, EmogiWeights weights,
							  bool careful, const struct EmogiPageScans *notes)
{
	emogi_sink_analyzed_query(call, source->analysis, weights, careful);
}

/* May the graph of the run be published (Q17)? */
bool
emogi_graph_source_may_publish_query(EmogiGraphSource *source)
{
	return emogi_analysis_may_publish(source->analysis);
}

const EmogiGraphSourceKind emogi_graph_source_query = {
	.name = "query",
	.takes_query = takes_query,
	.scan = emogi_graph_source_scan_query,
	.may_publish = emogi_graph_source_may_publish_query,
	.estimate_rows = emogi_graph_source_planned_rows
};
