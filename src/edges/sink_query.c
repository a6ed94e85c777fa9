/*
 * sink_query.c: queries whose edges _emogi_sink receives (sink.c)
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "executor/tstoreReceiver.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/queryenvironment.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "citus/citus.h"
#include "edges/edges.h"
#include "edges/sink.h"
#include "base/fault.h"

/*
 * Get the key type of a query, or raise the error that emogi_sink_query would raise for its form;
 * does not run it.
 */
EmogiKeyType
emogi_sink_check_query(const EmogiSource *source)
{
	EmogiEdgeColumns columns;
	TupleDesc	desc;
	char	   *text = pstrdup(source->query);

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	(void) emogi_query_describe_edges(&text, emogi_source_written(source, text),
									  source->wants_weight, &desc, &columns);
	SPI_finish();
	return columns.key;
}

/* Write a column of q as an argument. cast: type to cast to; NULL = no cast. */
static void
write_argument(StringInfo sql, int column, const char *cast)
{
	appendStringInfo(sql, ", q.c%d%s%s", column, cast != NULL ? "::" : "",
					 cast != NULL ? cast : "");
}

/*
 * Write the SELECT list that sinks the edges of q.c1, q.c2 and so on, with keys cast to the
 * aggregate's argument types. Its parameter is the load token.
 */
static void
write_select(StringInfo sql, const EmogiCall *call, const EmogiSource *source,
			 const EmogiEdgeColumns *columns)
{
	const char *cast = format_type_extended(columns->key.type, -1,
											FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY);
	const char *schema = quote_identifier(get_namespace_name(get_func_namespace(call->function)));
	const bool	is_row = columns->key.nparts > 0;

	appendStringInfo(sql, "SELECT %s._emogi_sink%s%s($1", schema, is_row ? "_rows" : "",
					 columns->vertex > 0 ? "_vertices" : "");
	write_argument(sql, columns->src, is_row ? NULL : cast);
	write_argument(sql, columns->dst, is_row ? NULL : cast);
	if (columns->vertex > 0)
		write_argument(sql, columns->vertex, is_row ? NULL : cast);
	if (columns->weight > 0)
	{
		appendStringInfoString(sql, ", ");
		emogi_query_write_weight(sql, schema, source, columns);
	}
	appendStringInfoChar(sql, ')');
}

/*
 * Start a load, that is, the execution of a query whose edges _emogi_sink receives; get its
 * parameter. Plans do not show its value: PostgreSQL puts a value into a plan only if it is marked
 * as constant.
 */
static ParamListInfo
begin_load(EmogiCall *call, const EmogiEdgeColumns *columns)
{
	ParamListInfo params = makeParamList(1);

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	call->slot->load = emogi_faults.known_load ? 1 : emogi_call_make_token();
	call->slot->load_vertices = columns->vertex > 0;
	call->slot->load_both_ways = columns->both_ways;
	LWLockRelease(emogi_shared->lock);
	params->params[0] = (ParamExternData) {.value = Int64GetDatum((int64) call->slot->load),
										   .ptype = INT8OID};
	return params;
}

/* End a load. After an error it ends with the slot. */
static void
end_load(EmogiCall *call)
{
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	call->slot->load = 0;
	LWLockRelease(emogi_shared->lock);
}

/* Run a prepared query of edges, inside SPI, as a load. */
static void
load(EmogiCall *call, SPIPlanPtr plan, const EmogiEdgeColumns *columns)
{
	SPIExecuteOptions options = {.params = begin_load(call, columns),.read_only = true};

	if (plan == NULL || SPI_execute_plan_extended(plan, &options) != SPI_OK_SELECT)
		elog(ERROR, "the query of _emogi_sink failed");
	end_load(call);
}

/*
 * Get the query, inside SPI, that sinks the edges of a source, the columns that it reads, and the
 * query of the rows alone. Its text is a user's: because it parses on its own as one SELECT, it is
 * safe to embed it in parentheses. There its columns get new names.
 */
static char *
sinking_query(const EmogiCall *call, const EmogiSource *source, EmogiEdgeColumns *columns,
			  char **rows)
{
	char	   *query = emogi_source_select(source);
	int			length = strlen(query);
	StringInfoData sql;
	TupleDesc	desc;

	if (source->is_query)
		length = emogi_query_describe_edges(&query, emogi_source_written(source, query),
											source->wants_weight, &desc, columns);
	else
		*columns = emogi_source_columns(source);
	*rows = pnstrdup(query, length);
	initStringInfo(&sql);
	write_select(&sql, call, source, columns);
	appendStringInfoString(&sql, " FROM (");
	appendBinaryStringInfo(&sql, query, length);
	appendStringInfoString(&sql, "\n) AS q(c1");
	for (int i = 2; i <= columns->ncolumns; i++)
		appendStringInfo(&sql, ", c%d", i);
	appendStringInfoChar(&sql, ')');
	return sql.data;
}

/* ---- queries of Citus tables ---- */

/* Does a prepared query read tables of Citus? */
static bool
reads_citus(SPIPlanPtr plan)
{
	const CachedPlanSource *source = linitial(SPI_plan_get_plan_sources(plan));
	ListCell   *cell;

	foreach(cell, source->relationOids)
		if (emogi_citus_is_table(lfirst_oid(cell)))
			return true;
	return false;
}

/*
 * Materialize the rows of a query, inside SPI and under the active snapshot, as a named relation
 * for other queries there; return its tuplestore.
 */
static Tuplestorestate *
keep_rows(const char *query, const char *name)
{
	SPIPlanPtr	plan = SPI_prepare(query, 0, NULL);
	EphemeralNamedRelation rows = palloc0(sizeof *rows);
	Tuplestorestate *store = tuplestore_begin_heap(false, false, work_mem);
	SPIExecuteOptions options = {.read_only = true,.dest = CreateTuplestoreDestReceiver()};

	if (plan == NULL)
		elog(ERROR, "the query of the rows failed");
	SetTuplestoreDestReceiverParams(options.dest, store, CurrentMemoryContext, false, NULL, NULL);
	if (SPI_execute_plan_extended(plan, &options) != SPI_OK_SELECT)
		elog(ERROR, "the query of the rows failed");
	rows->md.name = pstrdup(name);
	rows->md.tupdesc = ((CachedPlanSource *) linitial(SPI_plan_get_plan_sources(plan)))->resultDesc;
	rows->md.enrtype = ENR_NAMED_TUPLESTORE;
	rows->md.enrtuples = tuplestore_tuple_count(store);
	rows->reldata = store;
	if (SPI_register_relation(rows) != SPI_OK_REL_REGISTER)
		elog(ERROR, "the rows have no name");
	return store;
}

/*
 * Sink the rows of a query that reads tables of Citus, inside SPI. Citus would call our aggregate
 * on the nodes with the shards, where it does not exist: therefore the rows are first collected,
 * and then sunk.
 */
static void
sink_in_two_steps(EmogiCall *call, const EmogiSource *source, const EmogiEdgeColumns *columns,
				  const char *rows, Oid *types)
{
	Tuplestorestate *store = keep_rows(rows, "emogi_rows");
	StringInfoData sql;

	initStringInfo(&sql);
	write_select(&sql, call, source, columns);
	appendStringInfoString(&sql, " FROM emogi_rows AS q(c1");
	for (int i = 2; i <= columns->ncolumns; i++)
		appendStringInfo(&sql, ", c%d", i);
	appendStringInfoChar(&sql, ')');
	load(call, SPI_prepare(sql.data, 1, types), columns);
	SPI_unregister_relation("emogi_rows");
	tuplestore_end(store);
}

/*
 * Fill a call's slot with the edges of a source that is read by the executor: as the caller, under
 * the caller's snapshot, read only, in parallel if the planner chooses so.
 */
void
emogi_sink_query(EmogiCall *call, const EmogiSource *source, EmogiWeights weights, bool secure_hash)
{
	const MemoryContext context = CurrentMemoryContext;
	Oid			types[1] = {INT8OID};
	EmogiEdgeColumns columns;
	EmogiPreparedQuery reading;
	char	   *sql;
	char	   *rows;
	bool		isnull;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	sql = sinking_query(call, source, &columns, &rows);
	emogi_sink_begin(call, &columns.key, emogi_sink_weights(columns.weight > 0, columns.both_ways,
															weights), -1, secure_hash);
	reading = emogi_snapshot_open(sql, 1, types, CURSOR_OPT_PARALLEL_OK);
	if (reads_citus(reading.plan))
		sink_in_two_steps(call, source, &columns, rows, types);
	else
	{
		PG_TRY();
		{
			load(call, reading.plan, &columns);
		}
		PG_CATCH();
		{
			emogi_sink_rethrow(context, sql, rows);
		}
		PG_END_TRY();
		emogi_snapshot_check(&reading);
	}
	PopActiveSnapshot();
	pg_atomic_fetch_add_u64(&call->slot->nskipped,
							(uint64) DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
																 SPI_tuptable->tupdesc, 1,
																 &isnull)));
	SPI_finish();
}

/*
 * Fill a call's slot with the edges of an analyzed query, which is open, as emogi_sink_query does
 * with a source; the analyzed query itself is run, not its text.
 */
void
emogi_sink_analyzed_query(EmogiCall *call, EmogiQueryAnalysis *analysis, EmogiWeights weights,
						  bool secure_hash)
{
	StringInfoData select;
	int64		nskipped;

	initStringInfo(&select);
	write_select(&select, call, analysis->source, &analysis->columns);
	emogi_sink_begin(call, &analysis->columns.key,
					 emogi_sink_weights(analysis->columns.weight > 0, analysis->columns.both_ways,
										weights),
					 -1, secure_hash);
	nskipped = emogi_analysis_run(analysis, select.data, begin_load(call, &analysis->columns));
	end_load(call);
	pg_atomic_fetch_add_u64(&call->slot->nskipped, (uint64) nskipped);
}
