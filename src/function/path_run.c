/*
 * path_run.c: how one path is found, by each answerer (../answer) that can, and its steps
 *
 * Usually in this order:
 * 1. local search: a bidirectional search (contract/path_search.h) in the backend;
 * 2. a contraction hierarchy, if the graph has one (hierarchy_search.c);
 * 3. the engine: the bidirectional search in the worker, with a higher limit; then the distances up
 *    to the target, along which the path is traced back (contract/trace_path.h).
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "contract/semirings.h"
#include "contract/trace_path.h"
#include "function/function.h"
#include "base/arena.h"

/* Check for interrupts; a cancel raises its error. */
static bool
serve_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
	return false;
}

/*
 * Return true if the dictionary of a graph does not have the source of a course's path
 * (EmogiGraphRequest.is_empty). Others may add the key meanwhile, but not to the graph.
 */
bool
emogi_path_run_is_empty(void *arg, const EmogiGraph *graph)
{
	const EmogiTask *task = ((const EmogiCourse *) arg)->task;

	if (task->sources.count == 0 || task->form == NULL ||
		task->form->coder.key.class == EMOGI_KEY_INTEGER)
		return false;
	/* this call, or one after the new row, looks it up */
	emogi_key_io_prefetch(task->form, graph, task->sources.datums[1]);
	return emogi_key_io_find(task->form, graph, task->sources.datums[0]) == EMOGI_NO_CODE;
}

/* Report an end of a path that is not in the graph; graph NULL = it has no edges. Raises 42804. */
void
emogi_path_run_notice_ends(const EmogiTask *task, const EmogiOverlay *overlay,
								const EmogiGraph *graph)
{
	if (task->sources.count == 0)
		return;
	if (graph == NULL || !emogi_local_search_has_vertex(graph, overlay, task->keys[0]))
		emogi_vertices_notice_end("source", task->form, graph, task->sources.datums[0],
								  EMOGI_ARITY_PAIR);
	else if (!emogi_local_search_has_vertex(graph, overlay, task->targets[0]))
		emogi_vertices_notice_end("target", task->form, graph, task->sources.datums[1],
								  EMOGI_ARITY_PAIR);
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

/*
 * Return the minimum weight of the edges from one vertex to another, of which there is at least
 * one.
 */
double
emogi_path_run_cost(const EmogiListsView *lists, uint32 from, uint32 to)
{
	EmogiListPiece	whole;
	uint32		npieces;
	const EmogiListPiece *pieces = emogi_lists_pieces(lists, from, &whole, &npieces);
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
		emogi_edge_names_find(task, steps, steps->ids, steps->ids + 1, n - 1, false,
							  names);
	if (n > 0)
		names[n - 1] = (NullableDatum) {.isnull = true};
	return names;
}

/*
 * Replace *graph by the steps of a path, so that a row is a vertex of it, as in
 * local_search_call.c. Everything is in the current context. overlay: changes since the graph was
 * built, NULL = none.
 */
static void
set_steps(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *overlay, const uint32 *path,
		  const double *distance, uint64 length, EmogiGraph *graph, EmogiResult *result)
{
	const EmogiListsView lists = emogi_lists_forward(graph, overlay);
	int64	   *ids = palloc_extended(Max(length, 1) * sizeof *ids, MCXT_ALLOC_HUGE);

	memset(result, 0, sizeof *result);
	result->columns[EMOGI_PATH_DISTANCE].float64 = palloc_extended(Max(length, 1) * sizeof(double),
														MCXT_ALLOC_HUGE);
	result->columns[EMOGI_PATH_COST].float64 = palloc_extended(Max(length, 1) * sizeof(double),
													MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i < length; i++)
	{
		ids[i] = emogi_overlay_key(graph, overlay, path[i]);
		result->columns[EMOGI_PATH_DISTANCE].float64[i] = distance[i];
		result->columns[EMOGI_PATH_COST].float64[i] = i + 1 < length ?
			emogi_path_run_cost(&lists, path[i], path[i + 1]) : 0.0;
	}
	*graph = (EmogiGraph) {.nvertices = length,.ids = ids,.dictionary = graph->dictionary};
	if (task->names_edges)
		result->columns[EMOGI_PATH_EDGE].any = find_names(task, graph);
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

/* Search for the path in the backend; false if that exceeds the limit. */
bool
emogi_path_run_local(EmogiCourse *course)
{
	EmogiLocalPath path;

	course->tried = emogi_answer_max_edges(&course->question);
	if (!emogi_local_search_path(course->call, course->task, course->view.overlay,
								 &course->view.graph, course->tried, &path))
		return false;
	set_steps(course->call, course->task, course->view.overlay, path.vertices, path.distance,
			  path.length, course->graph, course->result);
	return true;
}

/*
 * Search for the path in the hierarchy of the call's graph, building it if due; false if there is
 * none.
 */
bool
emogi_path_run_hierarchy(EmogiCourse *course)
{
	EmogiLocalPath path;

	emogi_hierarchy_search_prepare(course->call, course->graph);
	if (!emogi_hierarchy_search_path(course->call, course->task, course->graph, &path))
		return false;
	set_steps(course->call, course->task, NULL, path.vertices, path.distance, path.length,
			  course->graph, course->result);
	return true;
}

/* Have the worker find the path, and note the time for the choice to build a hierarchy. */
void
emogi_path_run_engine(EmogiCourse *course)
{
	const int	cached = emogi_hierarchy_search_may_serve(course->call, course->graph) ?
		course->call->slot->graph : -1;
	const double start_ms = emogi_pool_now_ms();

	ask_worker(course->call, course->task, course->tried, course->graph, course->result);
	if (cached >= 0)
		emogi_cache_contraction_record_path(cached, emogi_pool_now_ms() - start_ms);
}

