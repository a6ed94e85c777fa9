/*
 * start_values.c: start values of vertices, from a query that returns (vertex, value), or
 * communities, from a query that returns (vertex, community)
 *
 * Communities can be of any sortable type; equal ones get the same number.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

#include "function/function.h"

/* Rows fetched at a time. */
#define EMOGI_FETCH_ROWS 10000

/* Destination of start values. */
typedef struct Values
{
	const EmogiGraph *graph;
	EmogiKeyIO  *form;
	double	   *values;			/* [nvertices] */
	bool	   *given;			/* [nvertices] */
	const char *what;			/* name of a value in errors */
	const char *once;			/* hint for duplicate vertices */
} Values;

/*
 * Set the start value of one vertex. Raises 22023 for a value that is not finite or for a duplicate
 * vertex.
 */
static void
set_value(const Values *values, Datum key, double value)
{
	const EmogiKeyType *type = &values->form->coder.key;
	uint32		v;

	if (!isfinite(value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid start value %g of vertex %s", value,
						emogi_key_io_key_text(type, key)),
				 errhint("Start values must be finite numbers.")));
	v = emogi_graph_vertex(values->graph, emogi_key_io_find(values->form, values->graph, key));
	if (v == EMOGI_NO_VERTEX)
	{
		emogi_vertices_notice_missing("vertex", values->form, key);
		return;
	}
	if (values->given[v])
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("vertex %s has more than one %s", emogi_key_io_key_text(type, key),
						values->what),
				 errhint("%s", values->once)));
	values->given[v] = true;
	values->values[v] = value;
}

/* Process the rows that SPI has just fetched; skip rows with a NULL. */
static void
process_rows(const Values *values)
{
	MemoryContext old = MemoryContextSwitchTo(SPI_tuptable->tuptabcxt);

	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple	row = SPI_tuptable->vals[i];
		bool		no_key;
		bool		no_value;
		Datum		key = SPI_getbinval(row, SPI_tuptable->tupdesc, 1, &no_key);
		Datum		value = SPI_getbinval(row, SPI_tuptable->tupdesc, 2, &no_value);

		if (!no_key && !no_value && !emogi_key_coder_has_null(&values->form->coder, key))
			set_value(values, key, DatumGetFloat8(value));
	}
	MemoryContextSwitchTo(old);
}

/* Process all rows of an open cursor. */
static void
process_cursor(const Values *values, Portal portal)
{
	do
	{
		SPI_cursor_fetch(portal, true, EMOGI_FETCH_ROWS);
		process_rows(values);
		SPI_freetuptable(SPI_tuptable);
	} while (SPI_processed > 0);
	SPI_cursor_close(portal);
}

/*
 * Raise 42804 unless a column, numbered from 0, has the type of the graph's keys, if that is known.
 */
void
emogi_start_values_check_vertex(TupleDesc desc, int column, const EmogiKeyType *key)
{
	Form_pg_attribute attribute = TupleDescAttr(desc, column);
	EmogiEndpoint	end = {NameStr(attribute->attname), attribute->atttypid, attribute->atttypmod,
						   attribute->attcollation, false};
	EmogiKeyType given;
	bool		fits = emogi_endpoint_type_find_key(&end, &given) && given.type == key->type &&
		given.nparts == key->nparts;

	for (int i = 0; fits && i < key->nparts; i++)
		fits = given.parts[i].type == key->parts[i].type;
	if (!OidIsValid(key->type) || fits)
		return;
	if (key->nparts > 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of the query is not a row %s like the vertices of the graph",
						NameStr(attribute->attname), emogi_key_type_name(key)),
				 errhint("Select a vertex as a row of such columns: 'SELECT ROW(...), ...'.")));
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column \"%s\" of the query has type %s, but the vertices of the graph are of "
					"type %s",
					NameStr(attribute->attname), format_type_be(attribute->atttypid),
					format_type_be(key->type)),
			 errhint("Add a cast: 'SELECT %s::%s, ...'.",
					 quote_identifier(NameStr(attribute->attname)), format_type_be(key->type))));
}

/*
 * Check that query text is one SELECT of a vertex and a number, inside SPI; return its length
 * without a semicolon.
 */
static int
check_query(const char *query, bool are_communities, const EmogiKeyType *key)
{
	TupleDesc	desc;
	int			length = are_communities ?
		emogi_query_describe_two(query, EMOGI_COMMUNITIES_QUERY,
								 "SELECT vertex, community FROM ...", &desc) :
		emogi_query_describe_two(query, EMOGI_START_QUERY, "SELECT vertex, value FROM ...", &desc);

	emogi_start_values_check_vertex(desc, 0, key);
	if (!are_communities)
		emogi_query_check_number(desc, 1, "start value");
	return length;
}

/*
 * Raise the errors of emogi_start_values_read for the form of a query, without running it. key: of
 * the graph, or unknown.
 */
void
emogi_start_values_check(const char *query, bool are_communities, const EmogiKeyType *key)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	(void) check_query(query, are_communities, key);
	emogi_snapshot_prepare(query);
	SPI_finish();
}

/*
 * Fill values[nvertices] from the text of a query that returns (vertex, value), or (vertex,
 * community), run as the caller under the caller's snapshot. Vertices without a row get
 * `default_value`; rows of vertices that are not in the graph are skipped. given[nvertices] is
 * scratch, zeroed. Raises 42601, 42804, 22023 and errors of the query.
 */
void
emogi_start_values_read(const EmogiGraph *graph, EmogiKeyIO *form, const char *query,
						bool are_communities, double default_value, double *values,
						bool *given)
{
	const Values target = {graph, form, values, given,
						   are_communities ? "community" : "start value",
		are_communities ? "Select one level of a hierarchy: WHERE parent IS NULL selects the last "
						  "one." :
		"Group the query by vertex."};
	const EmogiKeyType *key = &form->coder.key;
	StringInfoData sql;
	EmogiPreparedQuery reading;
	int			length;

	for (uint64 v = 0; v < graph->nvertices; v++)
		values[v] = default_value;
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	length = check_query(query, are_communities, key);
	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT q.v");
	if (key->nparts == 0)
		appendStringInfo(&sql, "::%s",
						 format_type_extended(key->type, -1, FORMAT_TYPE_TYPEMOD_GIVEN |
											  FORMAT_TYPE_FORCE_QUALIFY));
	appendStringInfoString(&sql, are_communities ? ", (pg_catalog.dense_rank() OVER (ORDER BY "
												   "q.x))::pg_catalog.float8 FROM (" :
						   ", q.x::pg_catalog.float8 FROM (");
	appendBinaryStringInfo(&sql, query, length);
	appendStringInfoString(&sql, are_communities ? "\n) AS q(v, x) WHERE q.x IS NOT NULL" :
						   "\n) AS q(v, x)");
	reading = emogi_snapshot_open(sql.data, 0, NULL, 0);
	process_cursor(&target, SPI_cursor_open(NULL, reading.plan, NULL, NULL, true));
	emogi_snapshot_check(&reading);
	PopActiveSnapshot();
	SPI_finish();
}
