/*
 * pagerank.c: emogi_pagerank(graph, damping float8, max_iterations int, tolerance float8) -> setof (vertex, rank float8): ranks sum to 1.
 */
#include "postgres.h"

#include "function/function.h"

PG_FUNCTION_INFO_V1(emogi_pagerank);

Datum
emogi_pagerank(PG_FUNCTION_ARGS)
{
	return emogi_run_to_rows(fcinfo, EMOGI_PAGERANK);
}
