/*
 * query_size.c: the planner's size estimates for a graph that is a query or a view, from its cached
 * graph or from the rows, keys and costs of its own plan.
 *
 * The query is planned, never run, as the caller and in a subtransaction: text that cannot be
 * planned must not raise an error before its call is executed. A query within the query is not
 * examined, because the planning of a view that calls itself would not end.
 *
 * The planner asks several times for one plan, so the last answers are cached for the statement.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/snapmgr.h"

#include "acquire/acquire.h"
#include "base/subtransaction.h"
#include "base/compat.h"

#define CACHED_SIZES 4

/* A query with a longer text is examined each time, because sessions keep the cached answers. */
#define MAX_CACHED_QUERY_BYTES 1048576

/* A cached answer for a query, in TopMemoryContext. */
typedef struct CachedSize
{
	char	   *query;			/* NULL = none, or too long */
	Oid			userid;
	TimestampTz statement;
	bool		known;			/* it could be planned */
	EmogiQuerySize size;
} CachedSize;

static CachedSize cached_sizes[CACHED_SIZES];
static int	oldest = 0;
static bool is_examining = false;

/*
 * Estimate the size of a filtered table's graph from a plan of its analyzed query and the table's
 * statistics; return false if there are none. Raises the planner's errors.
 */
static bool
estimate_filtered(const EmogiSource *filtered, EmogiQuerySize *size)
{
	double		nvertices;
	double		nedges;

	size->may_search_indexes = emogi_index_search_cost_may_search(filtered);
	if (!emogi_graph_estimate_size(filtered, &nvertices, &nedges))
		return false;
	size->collect_us = emogi_index_search_cost_collect_us(filtered, nedges);
	if (!emogi_known_costs_guess(filtered->filter->analysis, &size->nedges, &size->cost))
		size->cost = emogi_table_filter_cost(filtered, &size->nedges);
	size->nvertices = Max(Min(nvertices, size->nedges), 1);
	return true;
}

/*
 * Get the size of the cached graph of an analyzed query, regardless of its snapshot, or estimate
 * that of a filtered table; return false if neither is possible. Raises the planner's errors.
 */
static bool
size_of_analysis(const EmogiQueryAnalysis *analysis, EmogiQuerySize *size)
{
	uint64		nvertices;
	uint64		nedges;
	EmogiComponentSizes components;
	EmogiKeyType keys;
	MemoryContext old;

	if (analysis->refusal != NULL)
		return false;
	if (!emogi_cache_query_size(analysis->fingerprint, &nvertices, &nedges, &components, &keys))
		return analysis->filtered != NULL && estimate_filtered(analysis->filtered, size);
	old = MemoryContextSwitchTo(TopMemoryContext);
	*size = (EmogiQuerySize) {(double) nedges, (double) nvertices, 0, false, (double) INFINITY, true,
		analysis->is_unsafe || analysis->is_folded,
		list_concat_unique_oid(list_copy(analysis->named), analysis->relations),
		list_copy(analysis->functions), keys, components};
	MemoryContextSwitchTo(old);
	return true;
}

/* Do the same for a query that is analyzed first. Raises the query's errors. */
static bool
size_from_analysis(const EmogiSource *source, EmogiQuerySize *size)
{
	EmogiQueryAnalysis *analysis = emogi_analysis_peek_size(source);
	const bool	found = size_of_analysis(analysis, size);

	emogi_analysis_close(analysis);
	return found;
}

/*
 * Do the same for a query that was analyzed, and planned, by an earlier call; return false if it
 * was not. Without a subtransaction, because nothing of the query can raise an error.
 */
static bool
size_from_known(const EmogiSource *source, EmogiQuerySize *size)
{
	EmogiQueryAnalysis *analysis = emogi_analysis_peek_known(source);
	double		nrows;
	double		cost;
	bool		found;

	if (analysis == NULL)
		return false;
	found = emogi_known_costs_guess(analysis, &nrows, &cost) &&
		size_of_analysis(analysis, size);
	emogi_analysis_close(analysis);
	return found;
}

/*
 * Estimate from the plans of a query, and of its second column grouped: this is an end of the edge
 * even if the first column is the edge's own key.
 */
static void
size_from_plans(const char *query, EmogiQuerySize *size)
{
	TupleDesc	desc;
	StringInfoData sql;
	double		cost;
	int			length;

	size->collect_us = (double) INFINITY;
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	length = emogi_query_describe(query, &desc);
	emogi_graph_source_plan(query, &size->nedges, &size->cost);
	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT FROM (");
	appendBinaryStringInfo(&sql, query, length);
	appendStringInfoString(&sql, "\n) AS q(s, d) GROUP BY q.d");
	emogi_graph_source_plan(sql.data, &size->nvertices, &cost);
	SPI_finish();
}

/* Arguments and result of examine. */
typedef struct Examination
{
	const EmogiSource *source;
	const char *query;
	EmogiQuerySize found;
} Examination;

/* Examine a query. Raises the query's errors. */
static void
examine(void *context)
{
	Examination	   *examination = context;

	is_examining = true;
	if (!size_from_analysis(examination->source, &examination->found))
		size_from_plans(examination->query, &examination->found);
}

/* Examine a query; return false if it cannot be planned. */
static bool
examine_safely(Examination *examination)
{
	ErrorData  *error = emogi_subtransaction_run(examine, examination);

	is_examining = false;
	return emogi_subtransaction_has_succeeded(error);
}

/* Find the cached answer for a query in this statement; NULL if there is none. */
static CachedSize *
find_cached(const char *query)
{
	for (int i = 0; i < CACHED_SIZES; i++)
		if (cached_sizes[i].query != NULL &&
			cached_sizes[i].statement == GetCurrentStatementStartTimestamp() &&
			cached_sizes[i].userid == GetUserId() && strcmp(cached_sizes[i].query, query) == 0)
			return &cached_sizes[i];
	return NULL;
}

/* Make an empty cached answer for a query, replacing the oldest. */
static CachedSize *
add_cached(const char *query)
{
	CachedSize	   *entry = &cached_sizes[oldest++ % CACHED_SIZES];
	char	   *copy = strlen(query) <= MAX_CACHED_QUERY_BYTES ?
		MemoryContextStrdup(TopMemoryContext, query) : NULL;

	if (entry->query != NULL)
		pfree(entry->query);
	list_free(entry->size.relations);
	list_free(entry->size.functions);
	entry->size = (EmogiQuerySize) {0};
	entry->query = copy;
	entry->userid = GetUserId();
	entry->statement = GetCurrentStatementStartTimestamp();
	entry->known = false;
	return entry;
}

/*
 * Get the size estimates of a query that returns edges, or of the SELECT of a view, as the current
 * user. Return false if there are none: the query has errors, or cannot be planned here. Raises
 * only cancels.
 */
bool
emogi_query_size_get(const EmogiSource *source, EmogiQuerySize *size)
{
	const char *query = emogi_source_select(source);
	CachedSize	   *entry;

	if (query == NULL || is_examining || !ActiveSnapshotSet() || IsInParallelMode())
		return false;
	entry = find_cached(query);
	if (entry == NULL)
	{
		Examination		examination = {source, query};
		bool		known = size_from_known(source, &examination.found) ||
			examine_safely(&examination);

		entry = add_cached(query);
		entry->known = known;
		entry->size = examination.found;
	}
	*size = entry->size;
	return entry->known;
}
