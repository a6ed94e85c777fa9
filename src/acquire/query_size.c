/*
 * query_size.c: what the planner can know of a graph that is a query or a view: its cached Graph, or the rows, keys and costs of its own
 * plan.
 *
 * The query is planned, never run, as the caller and in a subtransaction: text that does not plan is no reason for an error
 * before its call is made. A query within the query is not looked into: one whose view calls itself would never end.
 * The planner asks several times for one plan, so the last answers are remembered for the statement.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/snapmgr.h"

#include "acquire/acquire.h"
#include "base/attempt.h"
#include "base/compat.h"

#define MEMORIES 4

/* A query whose text is longer is looked at anew each time: sessions keep what they remember. */
#define MOST_REMEMBERED_BYTES 1048576

/* What a query was found to be, in TopMemoryContext. */
typedef struct Memory
{
	char	   *query;			/* NULL = none, or too long a one */
	Oid			userid;
	TimestampTz statement;
	bool		known;			/* it could be planned */
	EmogiQuerySize foresight;
} Memory;

static Memory memories[MEMORIES];
static int	oldest = 0;
static bool is_looking = false;

/* Plan a query, inside SPI, and get the rows and the cost of its plan. Raises what is wrong with it. */
static void
plan_query(const char *query, double *rows, double *cost)
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
 * Estimate the size of a filtered table's Graph by one plan of its tree, which is analysed, and the statistics of the table; false when there are
 * none. Raises what the planner does.
 */
static bool
estimate_filtered(const EmogiSource *filtered, EmogiQuerySize *foresight)
{
	double		nvertices;
	double		nedges;

	foresight->may_walk = emogi_index_search_cost_may_walk(filtered);
	if (!emogi_graph_estimate_size(filtered, &nvertices, &nedges))
		return false;
	foresight->cost = emogi_table_filter_cost(filtered, &foresight->nedges);
	foresight->nvertices = Max(Min(nvertices, foresight->nedges), 1);
	return true;
}

/*
 * Ask the cache for the size of a query's Graph, whatever snapshot it was made for, or estimate that of a filtered table; false when neither is possible.
 * Raises what is wrong with it.
 */
static bool
look_at_tree(const EmogiSource *source, EmogiQuerySize *foresight)
{
	EmogiQueryAnalysis  *tree = emogi_analysis_peek(source);
	uint64		nvertices;
	uint64		nedges;
	EmogiKeyType keys;
	bool		found = tree->refusal == NULL && emogi_cache_query_size(tree->fingerprint, &nvertices, &nedges, &keys);

	if (found)
	{
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

		*foresight = (EmogiQuerySize) {(double) nedges, (double) nvertices, 0, false, true, tree->is_unsafe || tree->is_folded,
			list_concat_unique_oid(list_copy(tree->named), tree->relations), list_copy(tree->functions), keys};
		MemoryContextSwitchTo(old);
	}
	if (!found && tree->refusal == NULL && tree->filtered != NULL)
		found = estimate_filtered(tree->filtered, foresight);
	emogi_analysis_close(tree);
	return found;
}

/* Look at the plans of a query, and of its second column grouped: one of its ends, wherever an edge's own key stands first. */
static void
look_at_plans(const char *query, EmogiQuerySize *foresight)
{
	TupleDesc	desc;
	StringInfoData sql;
	double		cost;
	int			length;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	length = emogi_query_describe(query, &desc);
	plan_query(query, &foresight->nedges, &foresight->cost);
	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT FROM (");
	appendBinaryStringInfo(&sql, query, length);
	appendStringInfoString(&sql, "\n) AS q(s, d) GROUP BY q.d");
	plan_query(sql.data, &foresight->nvertices, &cost);
	SPI_finish();
}

/* A look at a query. */
typedef struct Look
{
	const EmogiSource *source;
	const char *query;
	EmogiQuerySize found;
} Look;

/* Look at a query. Raises what is wrong with it. */
static void
look_at(void *context)
{
	Look	   *look = context;

	is_looking = true;
	if (!look_at_tree(look->source, &look->found))
		look_at_plans(look->query, &look->found);
}

/* Look at a query; false when it cannot be planned. */
static bool
look_safely(Look *look)
{
	ErrorData  *error = emogi_attempt(look_at, look);

	is_looking = false;
	if (error == NULL)
		return true;
	if (emogi_attempt_was_stopped(error))
		ReThrowError(error);
	FreeErrorData(error);
	return false;
}

/* Find what is remembered of a query in this statement; NULL when that is nothing. */
static Memory *
recall(const char *query)
{
	for (int i = 0; i < MEMORIES; i++)
		if (memories[i].query != NULL && memories[i].statement == GetCurrentStatementStartTimestamp() &&
			memories[i].userid == GetUserId() && strcmp(memories[i].query, query) == 0)
			return &memories[i];
	return NULL;
}

/* Remember nothing yet of a query, in place of what was remembered first. */
static Memory *
make_memory(const char *query)
{
	Memory	   *memory = &memories[oldest++ % MEMORIES];
	char	   *copy = strlen(query) <= MOST_REMEMBERED_BYTES ? MemoryContextStrdup(TopMemoryContext, query) : NULL;

	if (memory->query != NULL)
		pfree(memory->query);
	list_free(memory->foresight.relations);
	list_free(memory->foresight.functions);
	memory->foresight = (EmogiQuerySize) {0};
	memory->query = copy;
	memory->userid = GetUserId();
	memory->statement = GetCurrentStatementStartTimestamp();
	memory->known = false;
	return memory;
}

/*
 * Find out what is known of a query that gives edges, or of the SELECT of a view, as the current user; false when that is nothing:
 * the query has errors, or this is no place to plan it. Raises nothing but a cancel.
 */
bool
emogi_query_size_get(const EmogiSource *source, EmogiQuerySize *foresight)
{
	const char *query = emogi_source_select(source);
	Memory	   *memory;

	if (query == NULL || is_looking || !ActiveSnapshotSet() || IsInParallelMode())
		return false;
	memory = recall(query);
	if (memory == NULL)
	{
		Look		look = {source, query};
		bool		known = look_safely(&look);

		memory = make_memory(query);
		memory->known = known;
		memory->foresight = look.found;
	}
	*foresight = memory->foresight;
	return memory->known;
}
