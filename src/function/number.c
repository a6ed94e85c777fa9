/*
 * number.c: functions that return one number, the sum of a column, such as emogi_modularity
 */
#include "postgres.h"

#include <math.h>

#include "contract/query.h"

#include "function/function.h"

/* Sum a column, and compute the function's result from the sum; NULL if it is undefined. */
static Datum
add_up(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm, EmogiArray column, uint64 length)
{
	double		sum = 0.0;
	int64		ncorners = 0;

	if (emogi_algorithm_has(algorithm, EMOGI_COUNTS_CORNERS))
	{
		for (uint64 v = 0; v < length; v++)
			ncorners += column.int64[v];
		PG_RETURN_INT64(ncorners / 3);
	}
	for (uint64 v = 0; v < length; v++)
		sum += column.float64[v];
	if (isnan(sum))
		PG_RETURN_NULL();
	if (isinf(sum))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("the result is out of range for type double precision")));
	PG_RETURN_FLOAT8(sum);
}

/*
 * Get the number of a graph without edges: 0 triangles, and 0 between vertices that are not in the
 * graph; otherwise NULL, also if no vertices are given.
 */
static Datum
number_of_nothing(FunctionCallInfo fcinfo, const EmogiTask *task)
{
	if (emogi_algorithm_has(task->query.algorithm, EMOGI_COUNTS_CORNERS))
		PG_RETURN_INT64(0);
	if (!task->has_sources || task->sources.count == 0 ||
		(task->has_target_array && task->target_array.count == 0))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(0);
}

/* Execute a function that returns a number. */
Datum
emogi_number_get(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm)
{
	EmogiTask	task;
	EmogiGraph	graph;
	EmogiResult result;
	EmogiCall  *call;
	Datum		number;

	emogi_arguments_read(fcinfo, algorithm, &task);
	call = emogi_task_run(fcinfo->flinfo->fn_oid, &task, &graph, &result);
	if (call == NULL)
		return number_of_nothing(fcinfo, &task);
	number = add_up(fcinfo, algorithm, result.columns[0],
					emogi_query_length(&graph, &call->slot->request.query));
	call->record.nrows = 1;
	emogi_call_end(call);
	return number;
}
