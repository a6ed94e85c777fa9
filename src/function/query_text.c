/*
 * query_text.c: functions that make the text of a graph query: emogi_query(query, params ...), with
 * values for its parameters, and emogi_with_vertices(graph, vertices), with vertices that are
 * included even without an edge
 *
 * They are separate functions, not arguments of all others: beside emogi_cc(graph, columns), one
 * more optional argument would make emogi_cc('edges', 'a, b') ambiguous for PostgreSQL. emogi_query
 * has two forms: with text[], arguments of unknown type, as drivers pass strings, are text; with
 * "any" they may have any type. It is STABLE because standard_conforming_strings affects how a
 * query is parsed, and output functions are STABLE; emogi_with_vertices is STABLE because names
 * depend on search_path.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "function/function.h"

PG_FUNCTION_INFO_V1(emogi_query);
PG_FUNCTION_INFO_V1(emogi_query_any);
PG_FUNCTION_INFO_V1(emogi_with_vertices);

/*
 * Substitute the arguments from the second on, or the elements of a VARIADIC array, for the
 * parameters of the query, which is the first argument.
 */
static Datum
put_values(FunctionCallInfo fcinfo, const Datum *values, const Oid *types, const bool *nulls,
		   int nvalues)
{
	EmogiParamValue *params = palloc(Max(nvalues, 1) * sizeof(EmogiParamValue));

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the query must not be NULL"),
				 errhint("Pass a query and its values: emogi_query('SELECT src, dst FROM edges "
						 "WHERE kind = $1', 'road').")));
	for (int i = 0; i < nvalues; i++)
		params[i] = (EmogiParamValue) {.value = values[i],.type = types != NULL ? types[i] :
									   TEXTOID,.isnull = nulls[i]};
	return CStringGetTextDatum(emogi_params_substitute(text_to_cstring(PG_GETARG_TEXT_PP(0)),
													   params, nvalues));
}

/* emogi_query(query text, VARIADIC params text[]) -> text */
Datum
emogi_query(PG_FUNCTION_ARGS)
{
	Datum	   *values = NULL;
	bool	   *nulls = NULL;
	int			nvalues = 0;

	if (!PG_ARGISNULL(1))
		deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), TEXTOID, -1, false, TYPALIGN_INT, &values,
						  &nulls, &nvalues);
	return put_values(fcinfo, values, NULL, nulls, nvalues);
}

/* emogi_query(query text, VARIADIC params "any") -> text */
Datum
emogi_query_any(PG_FUNCTION_ARGS)
{
	Datum	   *values = NULL;
	Oid		   *types = NULL;
	bool	   *nulls = NULL;
	const int	nvalues = extract_variadic_args(fcinfo, 1, true, &values, &types, &nulls);

	return put_values(fcinfo, values, types, nulls, Max(nvalues, 0));
}

/* emogi_with_vertices(graph text, vertices text) -> text */
Datum
emogi_with_vertices(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the %s must not be NULL", PG_ARGISNULL(0) ? "graph" : "vertices"),
				 errhint("Pass a graph and its vertices: emogi_with_vertices('edges', "
						 "'person(id)').")));
	return CStringGetTextDatum(emogi_with_vertices_add(fcinfo->flinfo->fn_oid,
													   text_to_cstring(PG_GETARG_TEXT_PP(0)),
													   text_to_cstring(PG_GETARG_TEXT_PP(1))));
}
