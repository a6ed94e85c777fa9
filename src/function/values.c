/*
 * values.c: start values of vertices, from a query that returns (vertex, value).
 */
#include "server/emogi.h"

#include <math.h>

#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"

/* Rows fetched at a time. */
#define EMOGI_FETCH_ROWS 10000

/* Set the start value of one vertex. Raises 22023 for a value that is not finite or a vertex that has one already. */
static void
set_value(const EmogiGraph *graph, int64 key, double value, double *values, bool *given)
{
	uint32		v = emogi_vertex_number(graph, key);

	if (!isfinite(value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid start value %g of vertex " INT64_FORMAT, value, key),
				 errhint("Start values must be finite numbers.")));
	if (v == EMOGI_NO_VERTEX)
		return;
	if (given[v])
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("vertex " INT64_FORMAT " has more than one start value", key),
				 errhint("Group the query by vertex.")));
	given[v] = true;
	values[v] = value;
}

/* Take over the rows that SPI has just fetched; rows with a NULL are none. */
static void
take_rows(const EmogiGraph *graph, double *values, bool *given)
{
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple	row = SPI_tuptable->vals[i];
		bool		no_key;
		bool		no_value;
		Datum		key = SPI_getbinval(row, SPI_tuptable->tupdesc, 1, &no_key);
		Datum		value = SPI_getbinval(row, SPI_tuptable->tupdesc, 2, &no_value);

		if (!no_key && !no_value)
			set_value(graph, DatumGetInt64(key), DatumGetFloat8(value), values, given);
	}
}

/* Fill values[] from an open cursor. */
static void
take_cursor(const EmogiGraph *graph, Portal portal, double *values, bool *given)
{
	do
	{
		SPI_cursor_fetch(portal, true, EMOGI_FETCH_ROWS);
		take_rows(graph, values, given);
		SPI_freetuptable(SPI_tuptable);
	} while (SPI_processed > 0);
	SPI_cursor_close(portal);
}

/* See that query text is one SELECT of a vertex and a number, inside SPI; get its length without a semicolon. */
static int
check_query(const char *query)
{
	TupleDesc	desc;
	int			length = emogi_query_describe(query, EMOGI_START_QUERY, &desc);

	emogi_query_check_key(desc, 0);
	emogi_query_check_number(desc, 1, "start value");
	return length;
}

/* Raise the error that emogi_values_query would raise for the form of a query; does not run it. */
void
emogi_values_check(const char *query)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	(void) check_query(query);
	emogi_snapshot_settle(query);
	SPI_finish();
}

/*
 * Fill values[nvertices] from the text of a query that returns (vertex, value), run as the caller under the caller's
 * snapshot. Vertices without a row get `otherwise`; rows of vertices that the graph does not have are passed over.
 * given[nvertices] is scratch, zeroed. Raises 42601, 42804, 22023 and whatever the query raises.
 */
void
emogi_values_query(const EmogiGraph *graph, const char *query, double otherwise, double *values, bool *given)
{
	StringInfoData sql;
	EmogiReading reading;
	int			length;

	for (uint64 v = 0; v < graph->nvertices; v++)
		values[v] = otherwise;
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	length = check_query(query);
	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT q.v::pg_catalog.int8, q.x::pg_catalog.float8 FROM (");
	appendBinaryStringInfo(&sql, query, length);
	appendStringInfoString(&sql, "\n) AS q(v, x)");
	reading = emogi_snapshot_open(sql.data, 0, NULL, 0);
	take_cursor(graph, SPI_cursor_open(NULL, reading.plan, NULL, NULL, true), values, given);
	emogi_snapshot_check(&reading);
	PopActiveSnapshot();
	SPI_finish();
}
