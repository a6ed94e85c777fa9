/*
 * entries.c: the C entry points of the SQL functions, one per row of the table of algorithms
 * (contract/algorithms.h): emogi_NAME(graph, parameters ...) -> setof (vertex, columns ...), a
 * hierarchy, edges, blocks, a list, or the sum of a column. PostgreSQL collects their rows where
 * scan_node/ has not replaced the call
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "function/cursor.h"
#include "function/rows.h"
#include "base/compat.h"

/* Rows between two CHECK_FOR_INTERRUPTS. */
#define EMOGI_ROWS_PER_CHECK 65536

/* Put a row into the tuplestore for each vertex that has one, ascending by key. */
static void
put_vertices(FunctionCallInfo fcinfo, EmogiCall *call, const EmogiTask *task,
			 const EmogiGraph *graph, const EmogiResult *result)
{
	const EmogiResultColumn *columns = emogi_algorithm_row(task->query.algorithm)->columns;
	EmogiKeyIO  *form = task->form;
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext, "emogi row",
													  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(row_context);
	bool		nulls[EMOGI_MAX_COLUMNS + 1] = {false};
	Datum		values[EMOGI_MAX_COLUMNS + 1];

	for (uint64 first = 0; first < graph->nvertices; first += EMOGI_ROWS_PER_CHECK)
	{
		uint64		end = Min(first + EMOGI_ROWS_PER_CHECK, graph->nvertices);

		CHECK_FOR_INTERRUPTS();
		for (uint64 v = emogi_rows_next(columns, result, first, end); v < end;
			 v = emogi_rows_next(columns, result, v + 1, end))
		{
			values[0] = emogi_rows_vertex(form, graph, v);
			for (int i = 0; columns[i].name != NULL; i++)
				values[i + 1] = emogi_rows_column(columns, form, graph, result, v, i);
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
			if (form->kind != EMOGI_KEY_IO_INTEGER)
				MemoryContextReset(row_context);
			call->record.nrows++;
		}
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(row_context);
}

/*
 * Execute an algorithm's function, with its rows in a tuplestore. kind: of the rows, NULL =
 * vertices.
 */
static Datum
run_to_rows(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm, const EmogiRowKind *kind)
{
	EmogiTask	task;
	EmogiGraph	graph;
	EmogiResult result;
	EmogiCall  *call;

	emogi_compat_init_rows(fcinfo);
	emogi_arguments_read(fcinfo, algorithm, &task);
	task.graph.reads_names = task.names_edges && kind != NULL && kind->name != NULL;
	call = emogi_task_run(fcinfo->flinfo->fn_oid, &task, &graph, &result);
	if (call == NULL)
		return (Datum) 0;
	if (task.graph.reads_names)
		kind->name(&task, &graph, &result);
	if (kind != NULL)
		emogi_cursor_put(fcinfo, call, task.form, kind, &graph, &result,
						 &call->slot->request.query);
	else
		put_vertices(fcinfo, call, &task, &graph, &result);
	emogi_call_end(call);
	return (Datum) 0;
}

/* Execute the function of an algorithm. */
static Datum
enter(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(algorithm);

	if (row->shape == EMOGI_SHAPE_AGGREGATES)
		elog(ERROR, "emogi_%s is not an SQL function", row->name);
	if (emogi_shape_is_number(row->shape))
		return emogi_number_get(fcinfo, algorithm);
	return run_to_rows(fcinfo, algorithm, emogi_row_kind_find(row));
}

#define ENTRY(NAME, name, ...) \
	PG_FUNCTION_INFO_V1(emogi_##name); \
	Datum \
	emogi_##name(PG_FUNCTION_ARGS) \
	{ \
		return enter(fcinfo, EMOGI_##NAME); \
	}
EMOGI_ALGORITHMS(ENTRY, ENTRY, ENTRY)
