/*
 * circuit.c: emogi_circuit(graph, start text, max_iterations int, tolerance float8, direction text) -> setof (vertex, value float8):
 * voltages in a net of resistors, CuSha's CS (HPDC 2014, Table 3).
 */
#include "postgres.h"

#include "function/function.h"

PG_FUNCTION_INFO_V1(emogi_circuit);

Datum
emogi_circuit(PG_FUNCTION_ARGS)
{
	return emogi_run_to_rows(fcinfo, EMOGI_CIRCUIT);
}
