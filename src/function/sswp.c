/*
 * sswp.c: emogi_sswp(graph, source, direction text) -> setof (vertex, width float8): widest paths: the largest width of a path,
 * which is its smallest weight; Infinity at the source.
 */
#include "postgres.h"

#include "function/function.h"

PG_FUNCTION_INFO_V1(emogi_sswp);

Datum
emogi_sswp(PG_FUNCTION_ARGS)
{
	return emogi_run_to_rows(fcinfo, EMOGI_SSWP);
}
