/*
 * query.c: emogi_query(query, params ...) -> text: a graph query with values for its parameters.
 *
 * A function of its own, and not an argument of all others: beside emogi_cc(graph, columns) one more optional argument would leave
 * PostgreSQL no way to tell emogi_cc('edges', 'a, b'). It is STABLE, for how strings are read is a setting.
 */
#include "postgres.h"

#include "utils/array.h"
#include "utils/builtins.h"

#include "function/function.h"

PG_FUNCTION_INFO_V1(emogi_query);

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
