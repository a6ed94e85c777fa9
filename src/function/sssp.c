/*
 * sssp.c: emogi_sssp(graph, source, max_distance float8, direction text) -> setof (vertex, distance float8): shortest paths by weight
 * from the nearest source. Without a weight column every edge weighs 1.
 */
#include "postgres.h"

#include "function/function.h"

PG_FUNCTION_INFO_V1(emogi_sssp);

Datum
emogi_sssp(PG_FUNCTION_ARGS)
{
	return emogi_run_to_rows(fcinfo, EMOGI_SSSP);
}
