/*
 * shortest_path.c: emogi_shortest_path(graph, source, target, direction) -> setof (seq int, vertex, distance float8): the
 * steps of one shortest path, by weight; no row when there is none.
 *
 * A search from both ends looks for it first (cpu/path_search.h), in the backend (near.c), then in the worker, where it may look at
 * more. When that gives up, the distances up to the target are computed, and the path is traced back along them (cpu/trace_path.h).
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "cpu/trace_path.h"
#include "function/function.h"
#include "server/compat.h"

PG_FUNCTION_INFO_V1(emogi_shortest_path);

/* Put the steps of a path into the tuplestore. distance: [length], along the path. patch: what has changed in the graph, NULL = nothing. */
static void
put_path(FunctionCallInfo fcinfo, EmogiForm *form, const EmogiGraph *graph, const EmogiPatch *patch, const uint32 *path,
		 const double *distance, uint64 length)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext, "emogi row", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(row_context);
	bool		nulls[3] = {false, false, false};

	for (uint64 i = 0; i < length; i++)
	{
		Datum		values[3];

		values[0] = Int32GetDatum((int32) i + 1);
		values[1] = emogi_form_give(form, graph, emogi_patch_key(graph, patch, path[i]));
		values[2] = Float8GetDatum(distance[i]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		MemoryContextReset(row_context);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(row_context);
}

/* Serve a cancel, which raises its error. */
static bool
serve_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
	return false;
}

/* Tell of an end of a path that is no vertex of the graph, NULL = one without any. */
static void
notice_ends(const EmogiTask *task, const EmogiPatch *patch, const EmogiGraph *graph)
{
	if (task->sources.count == 0)
		return;
	if (graph == NULL || !emogi_near_has_vertex(graph, patch, task->keys[0]))
		emogi_vertices_notice_missing("source", task->form, task->sources.datums[0]);
	else if (!emogi_near_has_vertex(graph, patch, task->targets[0]))
		emogi_vertices_notice_missing("target", task->form, task->sources.datums[1]);
}

/* Find a path by way of the distances up to its target. path, distance: [nvertices]. Gets its length, 0 = there is none. */
static uint64
path_of_distances(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, uint32 *path, double *distance)
{
	uint32		source = emogi_graph_vertex(graph, task->keys[0]);
	uint32		target = emogi_graph_vertex(graph, task->targets[0]);
	EmogiResult result = {0};
	uint32	   *next;
	uint64		length;

	if (!emogi_task_query(call, task, graph, &result) || !(result.columns[0].float64[target] < (double) INFINITY))
		return 0;
	next = emogi_call_alloc_any(call, graph->nvertices * sizeof(uint32));
	length = emogi_trace_path(graph, result.columns[0].float64, source, target, path, next, serve_interrupts);
	for (uint64 i = 0; i < length; i++)
		distance[i] = result.columns[0].float64[path[i]];
	return length;
}

/* Put the path that the worker finds into the tuplestore; get its length. */
static uint64
put_path_of_worker(FunctionCallInfo fcinfo, EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph)
{
	uint32	   *path = emogi_call_alloc_any(call, graph->nvertices * sizeof *path);
	double	   *distance = emogi_call_alloc_any(call, graph->nvertices * sizeof *distance);
	uint64		length;

	if (!emogi_task_path(call, task, graph, path, distance, &length))
		length = path_of_distances(call, task, graph, path, distance);
	emogi_call_phase(call, EMOGI_PHASE_ROWS);
	put_path(fcinfo, task->form, graph, NULL, path, distance, length);
	return length;
}

/* emogi_shortest_path(graph, source, target, direction) -> setof (seq int, vertex, distance float8) */
Datum
emogi_shortest_path(PG_FUNCTION_ARGS)
{
	EmogiPatch *patch = NULL;
	EmogiNearPath path;
	EmogiTask	task;
	EmogiGraph	graph;
	EmogiCall  *call;
	bool		near;
	bool		answered;

	emogi_compat_init_rows(fcinfo);
	emogi_arguments_begin(fcinfo, EMOGI_SSSP, &task);
	emogi_arguments_ends(fcinfo, &task);
	task.direction = emogi_arguments_direction(fcinfo, 3, EMOGI_OUT);
	task.with_backward = true;
	near = emogi_near_may_serve(&task);
	call = emogi_run_open(fcinfo->flinfo->fn_oid, &task, near ? &patch : NULL, &graph);
	answered = call != NULL && near && emogi_near_path(call, &task, patch, &graph, &path);
	if (!answered && patch != NULL)
	{
		patch = NULL;
		if (!emogi_run_reopen(call, &task, &graph))
			call = NULL;
	}
	notice_ends(&task, patch, call != NULL ? &graph : NULL);
	if (call == NULL)
		return (Datum) 0;
	if (answered)
	{
		emogi_call_phase(call, EMOGI_PHASE_ROWS);
		put_path(fcinfo, task.form, &graph, patch, path.vertices, path.distance, path.length);
		call->record.nrows = path.length;
	}
	else
		call->record.nrows = put_path_of_worker(fcinfo, call, &task, &graph);
	emogi_call_end(call);
	return (Datum) 0;
}
