/*
 * shortest_path.c: emogi_shortest_path(graph, source, target, direction) -> setof (seq int, vertex,
 * edge, cost float8, distance float8): the steps of one shortest path by weight; no row if there is
 * none. edge and cost belong to the edge to the next step: NULL and 0 in the last row.
 *
 * task_run.c runs it as all tasks; path_run.c finds the path.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "function/cursor.h"
#include "base/compat.h"

PG_FUNCTION_INFO_V1(emogi_shortest_path);

/* Read the arguments: graph, source, target, direction. */
void
emogi_shortest_path_read(FunctionCallInfo fcinfo, EmogiTask *task)
{
	emogi_arguments_begin(fcinfo, EMOGI_SSSP, task);
	emogi_arguments_source_and_target(fcinfo, task);
	task->direction = emogi_arguments_direction(fcinfo, 3, EMOGI_OUT);
	task->with_backward = true;
	task->collects = EMOGI_COLLECTS_PATHS;
}

/*
 * emogi_shortest_path(graph, source, target, direction) -> setof (seq int, vertex, edge, cost
 * float8, distance float8)
 */
Datum
emogi_shortest_path(PG_FUNCTION_ARGS)
{
	EmogiTask	task;
	EmogiGraph	graph;
	EmogiResult result;
	EmogiCall  *call;

	emogi_compat_init_rows(fcinfo);
	emogi_shortest_path_read(fcinfo, &task);
	call = emogi_task_run(fcinfo->flinfo->fn_oid, &task, &graph, &result);
	if (call == NULL)
		return (Datum) 0;
	emogi_cursor_put(fcinfo, call, task.form, &emogi_path_rows, &graph, &result, &task.query);
	emogi_call_end(call);
	return (Datum) 0;
}

/* ---- rows ---- */

/* The elements of the cursor are steps. */
static void
begin_steps(EmogiRowCursor *cursor)
{
	cursor->nelements = cursor->graph->nvertices;
}

static void
enter_step(EmogiRowCursor *cursor)
{
	cursor->place = 0;
	cursor->nplaces = 1;
}

/* Fill in a step: seq, vertex, edge, cost, distance. */
static bool
fill_step(EmogiRowCursor *cursor)
{
	const NullableDatum *names = cursor->result->columns[EMOGI_PATH_EDGE].any;

	cursor->cells[0].number = (int64) cursor->element + 1;
	cursor->cells[1].number = (int64) cursor->element;
	cursor->cells[2].name = names != NULL ? &names[cursor->element] : NULL;
	cursor->cells[3].real = cursor->result->columns[EMOGI_PATH_COST].float64[cursor->element];
	cursor->cells[4].real = cursor->result->columns[EMOGI_PATH_DISTANCE].float64[cursor->element];
	return true;
}

/* Rows are in path order. The column `vertex` is the index of the step, not the key. */
const EmogiRowKind emogi_path_rows = {
	.columns = {{"seq", EMOGI_INT32, NAN}, {"vertex", EMOGI_VERTEX, NAN}, {"edge", EMOGI_EDGE, NAN},
				{"cost", EMOGI_FLOAT64, NAN},
	{"distance", EMOGI_FLOAT64, NAN}},
	.key = -1,
	.element = -1,
	.place = -1,
	.nullable = -1,
	.norder = 1,
	.begin = begin_steps,
	.enter = enter_step,
	.fill = fill_step
};

const EmogiAlgorithmRow emogi_path_function = {
	.algorithm = EMOGI_SSSP,
	.name = "shortest_path",
	.cuda = "none",
	.papers = "none",
	.shape = EMOGI_SHAPE_STEPS,
	.lists = EMOGI_LISTS_FORWARD,
	.weights = EMOGI_WEIGHTS_LENGTHS,
	.parameters = {{EMOGI_SOURCES, 0}, {EMOGI_SOURCES, 0}, {EMOGI_DIRECTION, EMOGI_OUT}},
	.columns = {{"distance", EMOGI_FLOAT64, NAN}}
};
