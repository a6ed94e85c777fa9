/*
 * statistics_view.c: functions that show cumulative statistics of calls: emogi_stat_graphs,
 * emogi_stat_info, emogi_stat_reset.
 *
 * A row is visible to the roles to which emogi_runs shows the calls that it sums up. The name of a
 * table is looked up in the catalogs of this database; the table may have been dropped by then.
 */
#include "postgres.h"

#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/syscache.h"

#include "call/call.h"
#include "base/compat.h"
#include "base/sql_version.h"
#include "views/views.h"

PG_FUNCTION_INFO_V1(emogi_stat_graphs);
PG_FUNCTION_INFO_V1(emogi_stat_info);
PG_FUNCTION_INFO_V1(emogi_stat_reset);

/*
 * Get the name of a table, qualified as the search path requires, empty if it has been dropped; for
 * a table of another database, the name used by its first call; or the text of a query.
 */
static const char *
source_name(const EmogiStatistic *statistic)
{
	const EmogiStatisticKey *key = &statistic->key;

	if (!OidIsValid(key->relid) || key->database != MyDatabaseId)
		return statistic->source;
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(key->relid)))
		return "";
	return DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(key->relid)));
}

/* Add one row of emogi_stat_graphs. */
static void
put_statistic(FunctionCallInfo fcinfo, const EmogiStatistic *statistic)
{
	const EmogiStatisticKey *key = &statistic->key;
	const bool	is_query = !OidIsValid(key->relid) && OidIsValid(key->userid);
	EmogiViewRow row = {0};

	emogi_views_add_name(&row, get_database_name(key->database));
	emogi_views_add_name(&row, GetUserNameFromId(key->userid, true));
	emogi_views_add(&row, ObjectIdGetDatum(key->relid));
	emogi_views_add_if(&row, is_query, Int64GetDatum((int64) key->query));
	emogi_views_add_text(&row, source_name(statistic));
	emogi_views_add_text(&row, key->function);
	emogi_views_add(&row, Int64GetDatum(statistic->ncalls));
	emogi_views_add(&row, Int64GetDatum(statistic->nerrors));
	emogi_views_add(&row, Int64GetDatum(statistic->nhits));
	emogi_views_add(&row, Int64GetDatum(statistic->nsteps));
	emogi_views_add(&row, Int64GetDatum(statistic->nbuilds));
	emogi_views_add(&row, Int64GetDatum(statistic->nprivate));
	emogi_views_add(&row, Int64GetDatum(statistic->nindex_searches));
	emogi_views_add(&row, Float8GetDatum(statistic->total_ms));
	emogi_views_add(&row, Float8GetDatum(statistic->min_ms));
	emogi_views_add(&row, Float8GetDatum(statistic->max_ms));
	emogi_views_add(&row, Float8GetDatum(statistic->total_ms / (double) Max(statistic->ncalls, 1)));
	emogi_views_add(&row, Float8GetDatum(statistic->build_ms));
	emogi_views_add(&row, Float8GetDatum(statistic->run_ms));
	emogi_views_add(&row, Float8GetDatum(statistic->wait_ms));
	emogi_views_add(&row, Int64GetDatum(statistic->nrows));
	emogi_views_add(&row, Int64GetDatum(statistic->edges_traversed));
	emogi_views_add_time(&row, statistic->last_call);
	emogi_views_add_time(&row, statistic->since);
	emogi_views_put(&row, fcinfo);
}

/*
 * emogi_stat_graphs() -> the rows of the view emogi_stat_graphs: sums over the calls of roles whose
 * privileges the caller has.
 */
Datum
emogi_stat_graphs(PG_FUNCTION_ARGS)
{
	EmogiStatistic *statistics;
	uint64		ngone;
	TimestampTz reset_at;
	int			count;

	emogi_sql_version_require();
	emogi_compat_init_rows(fcinfo);
	statistics = palloc(mul_size(emogi_stat_max, sizeof(EmogiStatistic)));
	count = emogi_call_statistics_copy(statistics, &ngone, &reset_at);
	for (int i = 0; i < count; i++)
		if (emogi_views_may_see_role(statistics[i].key.userid))
			put_statistic(fcinfo, &statistics[i]);
	pfree(statistics);
	return (Datum) 0;
}

/* emogi_stat_info() -> the row of the view emogi_stat_info. */
Datum
emogi_stat_info(PG_FUNCTION_ARGS)
{
	uint64		ngone;
	TimestampTz reset_at;
	EmogiViewRow row = {0};
	int			count;

	emogi_sql_version_require();
	emogi_compat_init_rows(fcinfo);
	count = emogi_call_statistics_copy(NULL, &ngone, &reset_at);
	emogi_views_add(&row, Int32GetDatum(count));
	emogi_views_add(&row, Int32GetDatum(emogi_stat_max));
	emogi_views_add(&row, Int64GetDatum(ngone));
	emogi_views_add_time(&row, reset_at);
	emogi_views_add(&row, BoolGetDatum(!emogi_trial_is_on));
	emogi_views_put(&row, fcinfo);
	return (Datum) 0;
}

/* emogi_stat_reset() -> void: discard the statistics of all databases. */
Datum
emogi_stat_reset(PG_FUNCTION_ARGS)
{
	emogi_sql_version_require();
	emogi_call_statistics_reset();
	PG_RETURN_VOID();
}
