/*
 * query.c: functions that make the text of a graph query: emogi_query(query, params ...), with values for its parameters, and
 * emogi_with_vertices(graph, vertices), with vertices that are in it with or without an edge.
 *
 * They are functions of their own, and not arguments of all others: beside emogi_cc(graph, columns) one more optional argument would leave
 * PostgreSQL no way to tell emogi_cc('edges', 'a, b'). emogi_query is
 * STABLE, for how strings are read is a setting; the other, for what names lead to is one.
 */
#include "postgres.h"

#include "utils/array.h"
#include "utils/builtins.h"

#include "function/function.h"

PG_FUNCTION_INFO_V1(emogi_query);
PG_FUNCTION_INFO_V1(emogi_with_vertices);

/* emogi_query(query text, VARIADIC params text[]) -> text */
Datum
emogi_query(PG_FUNCTION_ARGS)
{
	char	   *query;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the query must not be NULL"),
				 errhint("Give a query and its values: emogi_query('SELECT src, dst FROM edges WHERE kind = $1', 'road').")));
	query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	return PointerGetDatum(cstring_to_text(emogi_params_put(query, PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1))));
}

/* emogi_with_vertices(graph text, vertices text) -> text */
Datum
emogi_with_vertices(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the %s must not be NULL", PG_ARGISNULL(0) ? "graph" : "vertices"),
				 errhint("Give a graph and its vertices: emogi_with_vertices('edges', 'person(id)').")));
	return CStringGetTextDatum(emogi_vertices_add(text_to_cstring(PG_GETARG_TEXT_PP(0)), text_to_cstring(PG_GETARG_TEXT_PP(1))));
}
