/*
 * entries.c: the C entries of the functions, one for each row of the table of algorithms (contract/algorithms.h):
 * emogi_NAME(graph, parameters ...) -> setof (vertex, columns ...), a hierarchy, edges, blocks, a list, or the sum of a column.
 */
#include "postgres.h"

#include "function/function.h"

/* Get what makes the rows of an algorithm. */
static EmogiPutRows
rows_of(uint32 traits)
{
	if ((traits & EMOGI_IS_HIERARCHY) != 0)
		return emogi_communities_put;
	if ((traits & EMOGI_IS_EDGES) != 0)
		return emogi_trees_put_edges;
	if ((traits & EMOGI_IS_BLOCKS) != 0)
		return emogi_trees_put_blocks;
	return (traits & EMOGI_IS_LIST) != 0 ? emogi_list_put : emogi_run_put;
}

/* Carry out the function of an algorithm. */
static Datum
enter(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm)
{
	const uint32 traits = emogi_algorithm_row(algorithm)->traits;

	if ((traits & EMOGI_IS_TOTAL) != 0)
		return emogi_communities_total(fcinfo, algorithm);
	return emogi_run_to_rows(fcinfo, algorithm, rows_of(traits));
}

#define ENTRY(NAME, name, ...) \
	PG_FUNCTION_INFO_V1(emogi_##name); \
	Datum \
	emogi_##name(PG_FUNCTION_ARGS) \
	{ \
		return enter(fcinfo, EMOGI_##NAME); \
	}
EMOGI_ALGORITHMS(ENTRY, ENTRY, ENTRY)
