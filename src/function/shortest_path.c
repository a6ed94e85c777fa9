/*
 * shortest_path.c: emogi_shortest_path(graph, source, target, direction) -> setof (seq int, vertex,
 * edge, cost float8, distance float8): the steps of one shortest path by weight; no row if there is
 * none. edge and cost belong to the edge to the next step: NULL and 0 in the last row.
 *
 * Four methods are tried in this order:
 * 1. a bidirectional search (contract/path_search.h) in the backend (local_search_call.c);
 * 2. a contraction hierarchy, if the graph has one (hierarchy_search.c);
 * 3. the bidirectional search in the worker, with a higher limit;
 * 4. the distances up to the target, along which the path is traced back (contract/trace_path.h).
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "contract/semirings.h"
#include "contract/trace_path.h"
#include "function/cursor.h"
#include "base/compat.h"
#include "base/arena.h"

PG_FUNCTION_INFO_V1(emogi_shortest_path);

/* Check for interrupts; a cancel raises its error. */
static bool
serve_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
	return false;
}

/* Report an end of a path that is not in the graph; graph NULL = it has no edges. Raises 42804. */
void
emogi_shortest_path_notice_ends(const EmogiTask *task, const EmogiOverlay *patch,
								const EmogiGraph *graph)
{
	if (task->sources.count == 0)
		return;
	if (graph == NULL || !emogi_local_search_has_vertex(graph, patch, task->keys[0]))
		emogi_vertices_notice_end("source", task->form, graph, task->sources.datums[0],
								  EMOGI_TAKES_PAIR);
	else if (!emogi_local_search_has_vertex(graph, patch, task->targets[0]))
		emogi_vertices_notice_end("target", task->form, graph, task->sources.datums[1],
								  EMOGI_TAKES_PAIR);
}

/*
 * Find a path from the distances up to its target. path, distance: [nvertices]. Return its length,
 * 0 = no path.
 */
static uint64
path_of_distances(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, uint32 *path,
				  double *distance)
{
	uint32		source = emogi_graph_vertex(graph, task->keys[0]);
	uint32		target = emogi_graph_vertex(graph, task->targets[0]);
	EmogiResult result = {0};
	uint32	   *next;
	uint64		length;

	if (!emogi_task_query(call, task, graph, &result) ||
		!(result.columns[0].float64[target] < (double) INFINITY))
		return 0;
	next = emogi_call_alloc_any(call, graph->nvertices * sizeof(uint32));
	length = emogi_trace_path(graph, result.columns[0].float64, source, target, path, next,
							  serve_interrupts);
	for (uint64 i = 0; i < length; i++)
		distance[i] = result.columns[0].float64[path[i]];
	return length;
}

/* Columns of a path's result, [steps]. */
enum
{
	DISTANCE,
	COST,						/* of the edge to the next step; 0 in the last */
	EDGE						/* NullableDatum; NULL = names are not wanted */
};

/*
 * Return the minimum weight of the edges from one vertex to another, of which there is at least
 * one.
 */
double
emogi_shortest_path_cost(const EmogiListsView *lists, uint32 from, uint32 to)
{
	EmogiPiece	whole;
	uint32		npieces;
	const EmogiPiece *pieces = emogi_lists_pieces(lists, from, &whole, &npieces);
	double		min_cost = (double) INFINITY;

	if (lists->weight_type == EMOGI_WEIGHT_NONE)
		return 1.0;
	for (uint32 i = 0; i < npieces; i++)
		for (uint64 e = 0; e < pieces[i].count; e++)
			if (pieces[i].targets[e] == to)
				min_cost = Min(min_cost, emogi_weight(pieces[i].weights, lists->weight_type, e));
	return min_cost;
}

/*
 * Look up the names of the edges of a path, whose vertices are the ids of `steps`; that of the last
 * step is NULL.
 */
static NullableDatum *
find_names(const EmogiTask *task, const EmogiGraph *steps)
{
	const uint64 n = steps->nvertices;
	NullableDatum *names = palloc_extended(Max(n, 1) * sizeof *names, MCXT_ALLOC_HUGE);

	if (n > 1)
		emogi_edge_names_find(task, steps, steps->ids, steps->ids + 1, n - 1, names);
	if (n > 0)
		names[n - 1] = (NullableDatum) {.isnull = true};
	return names;
}

/*
 * Replace *graph by the steps of a path, so that a row is a vertex of it, as in
 * local_search_call.c. Everything is in the current context. patch: changes since the graph was
 * built, NULL = none.
 */
static void
set_steps(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *patch, const uint32 *path,
		  const double *distance, uint64 length, EmogiGraph *graph, EmogiResult *result)
{
	const EmogiListsView lists = emogi_lists_forward(graph, patch);
	int64	   *ids = palloc_extended(Max(length, 1) * sizeof *ids, MCXT_ALLOC_HUGE);

	memset(result, 0, sizeof *result);
	result->columns[DISTANCE].float64 = palloc_extended(Max(length, 1) * sizeof(double),
														MCXT_ALLOC_HUGE);
	result->columns[COST].float64 = palloc_extended(Max(length, 1) * sizeof(double),
													MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i < length; i++)
	{
		ids[i] = emogi_overlay_key(graph, patch, path[i]);
		result->columns[DISTANCE].float64[i] = distance[i];
		result->columns[COST].float64[i] = i + 1 < length ?
			emogi_shortest_path_cost(&lists, path[i], path[i + 1]) : 0.0;
	}
	*graph = (EmogiGraph) {.nvertices = length,.ids = ids,.dictionary = graph->dictionary};
	if (task->names_edges)
		result->columns[EDGE].any = find_names(task, graph);
	call->rows_are_local = true;
}

/* Find the path in the worker. tried: edges that an earlier search has scanned in vain. */
static void
ask_worker(EmogiCall *call, const EmogiTask *task, uint64 tried, EmogiGraph *graph,
		   EmogiResult *result)
{
	const uint64 n = graph->nvertices;
	uint32	   *path = emogi_call_alloc_any(call, n * sizeof *path);
	double	   *distance = emogi_call_alloc_any(call, n * sizeof *distance);
	uint64		length;

	if (!emogi_task_path(call, task, graph, tried, path, distance, &length))
		length = path_of_distances(call, task, graph, path, distance);
	set_steps(call, task, NULL, path, distance, length, graph, result);
	emogi_arena_free(path, n * sizeof *path);
	emogi_arena_free(distance, n * sizeof *distance);
}

/* Read the arguments: graph, source, target, direction. */
void
emogi_shortest_path_read(FunctionCallInfo fcinfo, EmogiTask *task)
{
	emogi_arguments_begin(fcinfo, EMOGI_SSSP, task);
	emogi_arguments_ends(fcinfo, task);
	task->direction = emogi_arguments_direction(fcinfo, 3, EMOGI_OUT);
	task->with_backward = true;
}

/*
 * Search for a path in the backend, with a low limit if a hierarchy can be used next. *tried: max
 * edges to scan.
 */
static bool
search_local(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *patch,
			 const EmogiGraph *graph, uint64 *tried, EmogiLocalPath *path)
{
	*tried = emogi_local_search_most_edges(task, graph);
	if (patch == NULL && emogi_hierarchy_search_may_serve(call, graph) &&
		emogi_hierarchy_search_is_prepared(call))
		*tried = Min(*tried, EMOGI_NEAR_EDGES);
	return emogi_local_search_path(call, task, patch, graph, *tried, path);
}

/*
 * Search for a path in the hierarchy of the call's graph, building it if due; false if there is
 * none.
 */
static bool
search_hierarchy(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph,
				 EmogiLocalPath *path)
{
	emogi_hierarchy_search_prepare(call, graph);
	return emogi_hierarchy_search_path(call, task, graph, path);
}

/*
 * Begin a call and find its path: the steps are the rows of *graph and *result, in the current
 * context. Return NULL if there is nothing to search for, or no rows are wanted. The caller reads
 * the rows and ends the call.
 */
EmogiCall *
emogi_shortest_path_run(Oid function, EmogiTask *task, EmogiGraph *graph, EmogiResult *result)
{
	const bool	may_run_local = emogi_local_search_may_serve(task);
	EmogiGraphView view;
	EmogiCall  *call = emogi_course_open(function, task, may_run_local, &view);
	EmogiLocalPath path;
	uint64		tried = 0;
	bool		answered = call != NULL && may_run_local &&
		search_local(call, task, view.overlay, &view.graph, &tried, &path);

	if (!answered && view.overlay != NULL && !emogi_course_reopen(call, task, &view))
		call = NULL;
	*graph = view.graph;
	emogi_shortest_path_notice_ends(task, view.overlay, call != NULL ? graph : NULL);
	if (call != NULL && task->no_rows)
	{
		emogi_call_end(call);
		call = NULL;
	}
	if (call == NULL)
		return NULL;
	if (!answered && view.overlay == NULL && emogi_hierarchy_search_may_serve(call, graph))
		answered = search_hierarchy(call, task, graph, &path);
	if (answered)
		set_steps(call, task, view.overlay, path.vertices, path.distance, path.length, graph, result);
	else
	{
		const int	cached = emogi_hierarchy_search_may_serve(call, graph) ? call->slot->graph : -1;
		const double start_ms = emogi_pool_now_ms();

		ask_worker(call, task, tried, graph, result);
		if (cached >= 0)
			emogi_cache_contraction_note(cached, emogi_pool_now_ms() - start_ms);
	}
	emogi_call_phase(call, EMOGI_PHASE_ROWS);
	return call;
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
	call = emogi_shortest_path_run(fcinfo->flinfo->fn_oid, &task, &graph, &result);
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
	const NullableDatum *names = cursor->result->columns[EDGE].any;

	cursor->cells[0].number = (int64) cursor->element + 1;
	cursor->cells[1].number = (int64) cursor->element;
	cursor->cells[2].name = names != NULL ? &names[cursor->element] : NULL;
	cursor->cells[3].real = cursor->result->columns[COST].float64[cursor->element];
	cursor->cells[4].real = cursor->result->columns[DISTANCE].float64[cursor->element];
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
	.lists = EMOGI_LISTS_ALONG,
	.weights = EMOGI_WEIGHTS_LENGTHS,
	.parameters = {{EMOGI_SOURCES, 0}, {EMOGI_SOURCES, 0}, {EMOGI_DIRECTION, EMOGI_OUT}},
	.columns = {{"distance", EMOGI_FLOAT64, NAN}}
};
