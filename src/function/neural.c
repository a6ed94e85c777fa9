/*
 * neural.c: emogi_neural(graph, start text, max_iterations int, tolerance float8, direction text) -> setof (vertex, value float8):
 * activations of a neural network, CuSha's NN (HPDC 2014, Table 3).
 */
#include "postgres.h"

#include "function/function.h"

PG_FUNCTION_INFO_V1(emogi_neural);

Datum
emogi_neural(PG_FUNCTION_ARGS)
{
	return emogi_run_to_rows(fcinfo, EMOGI_NEURAL);
}
