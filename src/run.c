/*
 * run.c: the common course of every algorithm, from its arguments to its rows.
 *
 * What sets the algorithms apart on this side of the engine boundary is one row each in `applications`: which edges
 * they read, which arrays they fill, and what a row of theirs is.
 */
#include "emogi.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

/* Rows between two looks for a cancel. */
#define EMOGI_ROWS_PER_CHECK 65536

#define EMOGI_MAX_COLUMNS 3

/* The arrays of an EmogiResult. */
#define FILLS_LEVEL		0x01
#define FILLS_DISTANCE	0x02
#define FILLS_PATHS		0x04
#define FILLS_COMPONENT 0x08
#define FILLS_VALUE		0x10

typedef struct Application
{
	EmogiWeights weights;
	bool		against;		/* gathers: its lists lead against the edges */
	bool		with_backward;
	int			fills;			/* FILLS_* */

	/* Get the columns after `vertex` of vertex v; false when it has no row. */
	bool		(*row) (const EmogiGraph *graph, const EmogiResult *result, uint64 v, Datum *columns);
} Application;

static bool
level_row(const EmogiGraph *graph, const EmogiResult *result, uint64 v, Datum *columns)
{
	columns[0] = Int32GetDatum(result->level[v]);
	return result->level[v] >= 0;
}

static bool
distance_row(const EmogiGraph *graph, const EmogiResult *result, uint64 v, Datum *columns)
{
	columns[0] = Float8GetDatum(result->distance[v]);
	return result->distance[v] < (double) INFINITY;
}

static bool
width_row(const EmogiGraph *graph, const EmogiResult *result, uint64 v, Datum *columns)
{
	columns[0] = Float8GetDatum(result->distance[v]);
	return result->distance[v] >= 0;
}

static bool
paths_row(const EmogiGraph *graph, const EmogiResult *result, uint64 v, Datum *columns)
{
	columns[0] = Int32GetDatum(result->level[v]);
	columns[1] = Float8GetDatum(result->paths[v]);
	return result->level[v] >= 0;
}

static bool
component_row(const EmogiGraph *graph, const EmogiResult *result, uint64 v, Datum *columns)
{
	columns[0] = Int64GetDatum(graph->ids[result->component[v]]);
	return true;
}

/* The iterations of HEAT and NEURAL may grow without bound; what is left then is an error, not an answer. */
static bool
value_row(const EmogiGraph *graph, const EmogiResult *result, uint64 v, Datum *columns)
{
	if (!isfinite(result->value[v]))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("the value of vertex " INT64_FORMAT " grew out of range in %u iterations",
						graph->ids[v], result->nlevels),
				 errhint("Make the weights smaller, or max_iterations.")));
	columns[0] = Float8GetDatum(result->value[v]);
	return true;
}

static const Application applications[EMOGI_NALGORITHMS] = {
	[EMOGI_BFS] = {EMOGI_WEIGHTS_UNUSED, false, false, FILLS_LEVEL, level_row},
	[EMOGI_SSSP] = {EMOGI_WEIGHTS_LENGTHS, false, false, FILLS_DISTANCE, distance_row},
	[EMOGI_SSWP] = {EMOGI_WEIGHTS_LENGTHS, false, false, FILLS_DISTANCE, width_row},
	[EMOGI_SSNSP] = {EMOGI_WEIGHTS_UNUSED, false, true, FILLS_LEVEL | FILLS_PATHS, paths_row},
	[EMOGI_CC] = {EMOGI_WEIGHTS_UNUSED, false, false, FILLS_COMPONENT, component_row},
	[EMOGI_PAGERANK] = {EMOGI_WEIGHTS_UNUSED, true, false, FILLS_VALUE, value_row},
	[EMOGI_HEAT] = {EMOGI_WEIGHTS_FACTORS, true, false, FILLS_VALUE, value_row},
	[EMOGI_CIRCUIT] = {EMOGI_WEIGHTS_CONDUCTANCES, true, false, FILLS_VALUE, value_row},
	[EMOGI_NEURAL] = {EMOGI_WEIGHTS_FACTORS, true, false, FILLS_VALUE, value_row}
};

/* Get the direction in which lists must lead. */
static EmogiDirection
list_direction(const EmogiTask *task)
{
	if (!applications[task->query.algorithm].against || task->direction == EMOGI_BOTH)
		return task->direction;
	return task->direction == EMOGI_OUT ? EMOGI_IN : EMOGI_OUT;
}

/* Allocate an array of the Region for a call. */
static void *
take_array(EmogiCall *call, uint64 length, Size element)
{
	return emogi_call_alloc(call, Max(length, 1) * element);
}

/* Give the result the arrays that the algorithm fills. */
static void
take_result(EmogiCall *call, int fills, uint64 nvertices, EmogiResult *result)
{
	if (fills & FILLS_LEVEL)
		result->level = take_array(call, nvertices, sizeof(int32));
	if (fills & FILLS_DISTANCE)
		result->distance = take_array(call, nvertices, sizeof(double));
	if (fills & FILLS_PATHS)
		result->paths = take_array(call, nvertices, sizeof(double));
	if (fills & FILLS_COMPONENT)
		result->component = take_array(call, nvertices, sizeof(uint32));
	if (fills & FILLS_VALUE)
		result->value = take_array(call, nvertices, sizeof(double));
}

/* Turn source keys into vertex numbers, in the Region; keys that the graph does not have are dropped. */
static void
set_sources(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, EmogiQuery *query)
{
	uint32	   *numbers = take_array(call, task->nkeys, sizeof(uint32));

	query->sources = numbers;
	query->nsources = 0;
	for (uint64 i = 0; i < task->nkeys; i++)
	{
		uint32		number = emogi_vertex_number(graph, task->keys[i]);

		if (number != EMOGI_NO_VERTEX)
			numbers[query->nsources++] = number;
	}
}

/* Bring the start values into the Region. */
static void
set_values(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, EmogiQuery *query)
{
	double	   *values = take_array(call, graph->nvertices, sizeof(double));
	Size		given_bytes = Max(graph->nvertices, 1) * sizeof(bool);
	bool	   *given = emogi_call_alloc(call, given_bytes);

	emogi_values_query(graph, task->start, query->algorithm == EMOGI_CIRCUIT ? get_float8_nan() : 0.0, values, given);
	emogi_region_free(given, given_bytes);
	query->values = values;
}

/* Run the task's algorithm on its Graph. */
static EmogiResult
run_query(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph)
{
	EmogiRequest *request = &call->slot->request;
	EmogiQuery	query = task->query;
	EmogiResult result = {0};

	query.placement = emogi_placement;
	if (task->has_sources)
		set_sources(call, task, graph, &query);
	if (task->start != NULL)
		set_values(call, task, graph, &query);
	take_result(call, applications[query.algorithm].fills, graph->nvertices, &result);

	memset(request, 0, sizeof *request);
	request->kind = EMOGI_REQUEST_RUN;
	request->engine = emogi_engine;
	request->graph = *graph;
	request->query = query;
	request->result = result;
	return emogi_call_request(call)->result;
}

/* Put one row into the tuplestore for each vertex that has one, in ascending order of keys. */
static void
put_rows(FunctionCallInfo fcinfo, EmogiCall *call, const Application *application, const EmogiGraph *graph,
		 const EmogiResult *result)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		nulls[EMOGI_MAX_COLUMNS] = {false};
	Datum		values[EMOGI_MAX_COLUMNS];

	for (uint64 v = 0; v < graph->nvertices; v++)
	{
		if (v % EMOGI_ROWS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		if (!application->row(graph, result, v, values + 1))
			continue;
		values[0] = Int64GetDatum(graph->ids[v]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		call->run.nrows++;
	}
}

/*
 * Resolve the task's graph, check the caller's rights, build the Graph and run. Returns NULL when there is nothing to
 * run: no source was given, or the graph has no edge. The caller ends the call.
 */
EmogiCall *
emogi_run(FunctionCallInfo fcinfo, const EmogiTask *task, EmogiGraph *graph, EmogiResult *result)
{
	const Application *application = &applications[task->query.algorithm];
	bool		with_backward = application->with_backward || task->with_backward;
	EmogiSource source;
	EmogiCall  *call;

	emogi_source_resolve(task->graph, application->weights != EMOGI_WEIGHTS_UNUSED, &source);
	if (task->start != NULL)
		emogi_values_check(task->start);
	emogi_require_engine();
	if (task->has_sources && task->nkeys == 0)
	{
		emogi_source_check(&source);
		return NULL;
	}
	call = emogi_call_begin(fcinfo->flinfo->fn_oid, get_func_name(fcinfo->flinfo->fn_oid), task->graph);
	emogi_graph_get(call, &source, application->weights, list_direction(task), task->query.algorithm == EMOGI_CC,
					with_backward, graph);
	if (graph->nvertices == 0)
	{
		emogi_call_end(call);
		return NULL;
	}
	emogi_call_phase(call, EMOGI_PHASE_RUN);
	*result = run_query(call, task, graph);
	emogi_call_phase(call, EMOGI_PHASE_ROWS);
	return call;
}

/* Carry out a task whose rows are its vertices. */
void
emogi_run_to_rows(FunctionCallInfo fcinfo, const EmogiTask *task)
{
	EmogiGraph	graph;
	EmogiResult result;
	EmogiCall  *call = emogi_run(fcinfo, task, &graph, &result);

	if (call == NULL)
		return;
	put_rows(fcinfo, call, &applications[task->query.algorithm], &graph, &result);
	emogi_call_end(call);
}
