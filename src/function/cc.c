/*
 * cc.c: emogi_cc(graph) -> setof (vertex, component): weakly connected components; component is its smallest vertex.
 */
#include "postgres.h"

#include "function/function.h"

PG_FUNCTION_INFO_V1(emogi_cc);

Datum
emogi_cc(PG_FUNCTION_ARGS)
{
	return emogi_run_to_rows(fcinfo, EMOGI_CC);
}
