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
	if ((emogi_algorithm_row(algorithm)->traits & EMOGI_IS_PART) != 0)
		elog(ERROR, "emogi_%s is no function", emogi_algorithm_row(algorithm)->name);
	if ((emogi_algorithm_row(algorithm)->traits & EMOGI_IS_TOTAL) != 0)
		return emogi_communities_total(fcinfo, algorithm);
	return emogi_course_to_rows(fcinfo, algorithm,
								emogi_kinds_find(emogi_algorithm_row(algorithm)));
}

#define ENTRY(NAME, name, ...) \
	PG_FUNCTION_INFO_V1(emogi_##name); \
	Datum \
	emogi_##name(PG_FUNCTION_ARGS) \
	{ \
		return enter(fcinfo, EMOGI_##NAME); \
	}
EMOGI_ALGORITHMS(ENTRY, ENTRY, ENTRY)
