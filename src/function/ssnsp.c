/*
 * ssnsp.c: emogi_ssnsp(graph, source, direction text) -> setof (vertex, level int, paths float8): number of shortest paths by hops,
 * exact to 2^53.
 */
#include "postgres.h"

#include "function/function.h"

PG_FUNCTION_INFO_V1(emogi_ssnsp);

Datum
emogi_ssnsp(PG_FUNCTION_ARGS)
{
	return emogi_run_to_rows(fcinfo, EMOGI_SSNSP);
}
