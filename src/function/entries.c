/*
 * entries.c: the C entries of the functions whose rows are vertices, one for each row of the table of algorithms (contract/algorithms.h):
 * emogi_NAME(graph, parameters ...) -> setof (vertex, columns ...).
 */
#include "postgres.h"

#include "function/function.h"

#define ENTRY(NAME, name, ...) \
	PG_FUNCTION_INFO_V1(emogi_##name); \
	Datum \
	emogi_##name(PG_FUNCTION_ARGS) \
	{ \
		return emogi_run_to_rows(fcinfo, EMOGI_##NAME); \
	}
EMOGI_ALGORITHMS(ENTRY, ENTRY, ENTRY)
