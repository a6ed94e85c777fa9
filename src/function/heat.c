/*
 * heat.c: emogi_heat(graph, start text, max_iterations int, tolerance float8, direction text) -> setof (vertex, value float8): heat
 * simulation, CuSha's HS (HPDC 2014, Table 3).
 */
#include "postgres.h"

#include "function/function.h"

PG_FUNCTION_INFO_V1(emogi_heat);

Datum
emogi_heat(PG_FUNCTION_ARGS)
{
	return emogi_run_to_rows(fcinfo, EMOGI_HEAT);
}
