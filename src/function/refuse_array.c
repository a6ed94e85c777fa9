/*
 * refuse_array.c: emogi_refuse_array, the C entry point of overloads that take arrays only to
 * report what the function really takes
 *
 * Without them PostgreSQL would find no function and suggest type casts. Such an overload must not
 * make a call with arguments of unknown type ambiguous: wherever it takes an array, another
 * overload with as many arguments takes text, which PostgreSQL prefers.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(emogi_refuse_array);

/* The errors, by function. */
static const struct
{
	const char *function;
	int			code;
	const char *message;
	const char *hint;
}			refusals[] = {
	{"emogi_shortest_path", ERRCODE_DATATYPE_MISMATCH, "emogi_shortest_path takes one source and "
													   "one target, not arrays",
	"For many, use emogi_shortest_paths(graph, sources, targets)."},
	{"emogi_shortest_paths", ERRCODE_DATATYPE_MISMATCH, "pairs must be a query, not an array",
	"Use 'VALUES (1, 2), (3, 4)' or 'SELECT source, target FROM ...', or two arrays: "
	"emogi_shortest_paths(graph, sources, targets)."},
	{"emogi_reachable", ERRCODE_DATATYPE_MISMATCH, "pairs must be a query, not an array",
	"Use 'VALUES (1, 2), (3, 4)' or 'SELECT source, target FROM ...'."},
	{"emogi_distance_matrix", ERRCODE_UNDEFINED_FUNCTION, "emogi_distance_matrix was called "
														  "without targets",
	"For the distances between the vertices of one array, pass it twice: "
	"emogi_distance_matrix(graph, vertices, vertices)."},
	{"emogi_heat", ERRCODE_DATATYPE_MISMATCH, "start values must be a query, not an array",
	"Use 'VALUES (1, 1.0), (2, 0.5)' or 'SELECT vertex, value FROM ...'."},
	{"emogi_circuit", ERRCODE_DATATYPE_MISMATCH, "start values must be a query, not an array",
	"Use 'VALUES (1, 1.0), (2, 0.5)' or 'SELECT vertex, value FROM ...'."},
	{"emogi_neural", ERRCODE_DATATYPE_MISMATCH, "start values must be a query, not an array",
	"Use 'VALUES (1, 1.0), (2, 0.5)' or 'SELECT vertex, value FROM ...'."},
};

/* Raise the error of the called function. */
Datum
emogi_refuse_array(PG_FUNCTION_ARGS)
{
	const char *name = get_func_name(fcinfo->flinfo->fn_oid);

	for (int i = 0; i < (int) lengthof(refusals); i++)
		if (name != NULL && strcmp(name, refusals[i].function) == 0)
			ereport(ERROR, (errcode(refusals[i].code), errmsg("%s", refusals[i].message),
							errhint("%s", refusals[i].hint)));
	elog(ERROR, "function %u does not refuse arrays", fcinfo->flinfo->fn_oid);
}
