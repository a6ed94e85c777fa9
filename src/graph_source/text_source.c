/*
 * text_source.c: graphs of everything that cannot be shared: the executor runs the text of a query,
 * or of a SELECT of a relation, for each call
 */
#include "postgres.h"

#include "executor/spi.h"
#include "nodes/plannodes.h"
#include "utils/plancache.h"

#include "base/compat.h"
#include "graph_source/graph_source.h"

/* Recognize any query. */
static bool
takes_query(EmogiGraphSource *source)
{
	source->tables = NIL;
	return true;
}

/* Run the text. */
static void
scan(EmogiCall *call, EmogiGraphSource *source, EmogiWeights weights, bool careful,
	 const struct EmogiPageScans *notes)
{
	emogi_sink_query(call, source->source, weights, careful);
}

/*
 * Plan a query, inside SPI, and get the rows and the cost of its plan. Raises the query's errors.
 */
void
emogi_graph_source_plan(const char *query, double *rows, double *cost)
{
	SPIPlanPtr	plan = SPI_prepare(query, 0, NULL);
	CachedPlan *cached = plan != NULL ? SPI_plan_get_cached_plan(plan) : NULL;
	PlannedStmt *statement;

	if (cached == NULL || list_length(cached->stmt_list) != 1)
		elog(ERROR, "could not plan the %s", EMOGI_GRAPH_QUERY);
	statement = linitial_node(PlannedStmt, cached->stmt_list);
	emogi_compat_check_plan(statement);
	*rows = statement->planTree != NULL ? statement->planTree->plan_rows : 0;
	*cost = statement->planTree != NULL ? statement->planTree->total_cost : 0;
	ReleaseCachedPlan(cached, NULL);
	SPI_freeplan(plan);
}

/*
 * Get the planner's estimate of the rows of a source's text, for the current user; raise 42501 if
 * its execution would.
 */
double
emogi_graph_source_planned_rows(const EmogiGraphSource *source)
{
	double		rows;
	double		cost;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	emogi_graph_source_plan(emogi_source_select(source->source), &rows, &cost);
	SPI_finish();
	return rows;
}

const EmogiGraphSourceKind emogi_graph_source_text = {
	.name = "text",
	.takes_query = takes_query,
	.scan = scan,
	.estimate_rows = emogi_graph_source_planned_rows
};

/* Get the source that runs the text of a resolved graph argument. */
EmogiGraphSource
emogi_graph_source_of_text(const EmogiSource *resolved)
{
	return (EmogiGraphSource) {.kind = &emogi_graph_source_text,.source = resolved};
}
