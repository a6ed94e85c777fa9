/*
 * entries.c: the C entry points of the SQL functions, one per row of the table of algorithms
 * (contract/algorithms.h): emogi_NAME(graph, parameters ...) -> setof (vertex, columns ...), a
 * hierarchy, edges, blocks, a list, or the sum of a column
 */
#include "postgres.h"

#include "function/cursor.h"

/* Execute the function of an algorithm. */
static Datum
enter(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(algorithm);

	if (row->shape == EMOGI_SHAPE_AGGREGATES)
		elog(ERROR, "emogi_%s is not an SQL function", row->name);
	if (row->shape == EMOGI_SHAPE_SCALAR)
		return emogi_hierarchy_rows_total(fcinfo, algorithm);
	return emogi_task_to_rows(fcinfo, algorithm, emogi_row_kind_find(row));
}

#define ENTRY(NAME, name, ...) \
	PG_FUNCTION_INFO_V1(emogi_##name); \
	Datum \
	emogi_##name(PG_FUNCTION_ARGS) \
	{ \
		return enter(fcinfo, EMOGI_##NAME); \
	}
EMOGI_ALGORITHMS(ENTRY, ENTRY, ENTRY)
