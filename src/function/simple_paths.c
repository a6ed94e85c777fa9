/*
 * simple_paths.c: emogi_simple_paths(graph, source, target, max_depth, max_cost, max_paths,
 * direction) -> setof (path_id int, seq int, vertex, edge, cost float8, distance float8): the paths
 * without a repeated vertex from a source to one or more targets, in ascending order of length in
 * edges.
 *
 * The backend searches for them itself (contract/simple_paths.h), in local memory limited to a
 * share of what its role may use, in a graph or in an older one with its overlay.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

#include "contract/simple_paths.h"
#include "function/path_steps.h"
#include "base/compat.h"
#include "base/limits.h"

PG_FUNCTION_INFO_V1(emogi_simple_paths);

#define MAX_PATHS 1000			/* default */

/* A search, freed with its memory context. */
typedef struct SearchState
{
	EmogiSimplePaths *search;
	EmogiControl control;
	EmogiError	error;
	MemoryContextCallback callback;
} SearchState;

/* Memory context callback: free the search of a SearchState. */
static void
free_search(void *arg)
{
	SearchState *state = arg;

	emogi_simple_paths_free(state->search);
	state->search = NULL;
}

/* Check for interrupts; a cancel raises its error. */
static bool
serve_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
	return false;
}

/* Raise 53200 for a search that failed. */
static void
require_ok(const SearchState *state, EmogiStatus status)
{
	if (status == EMOGI_OK)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg("%s", state->error.message),
			 state->error.detail[0] != '\0' ? errdetail_internal("%s", state->error.detail) : 0,
			 errhint("Lower max_depth or max_cost, or raise the lowest of emogi.max_memory, "
					 "emogi.session_memory and emogi.role_memory.")));
}

/* Find at most `count` paths; return whether there are more. */
static bool
search(EmogiCall *call, EmogiPathSteps *paths, const EmogiSimplePathsQuery *query, uint64 count)
{
	const double start_ms = emogi_pool_now_ms();
	SearchState *state = palloc0(sizeof *state);
	EmogiSimplePath path;

	state->callback = (MemoryContextCallback) {.func = free_search,.arg = state};
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &state->callback);
	require_ok(state, emogi_simple_paths_begin(query, &state->search, &state->control,
											   &state->error));
	for (;;)
	{
		require_ok(state, emogi_simple_paths_next(state->search, &path));
		if (path.nvertices == 0 || paths->npaths == count)
			break;
		emogi_path_steps_add(paths, path.vertices, path.nvertices, path.distance, false);
	}
	emogi_local_search_record_run(call, paths->graph, paths->nsteps, 0,
								  emogi_simple_paths_edges_scanned(state->search), start_ms);
	free_search(state);
	return path.nvertices > 0;
}

/* Raise 22023 for several sources. */
static void
require_one_source(const EmogiTask *task)
{
	if (task->nkeys != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("emogi_simple_paths takes one source, not %llu",
						(unsigned long long) task->nkeys),
				 errhint("For several sources, call the function in LATERAL.")));
}

/* Get the vertices of the targets that are in the graph. */
static uint32 *
find_targets(const EmogiTask *task, const EmogiGraphView *view, uint64 *ntargets)
{
	uint32	   *targets = palloc_extended(Max(task->target_array.count, 1) * sizeof *targets,
										  MCXT_ALLOC_HUGE);

	*ntargets = 0;
	for (uint64 i = 0; i < task->target_array.count; i++)
		if (emogi_local_search_has_vertex(&view->graph, view->overlay, task->target_array_ids[i]))
			targets[(*ntargets)++] = emogi_overlay_vertex(&view->graph, view->overlay,
														  task->target_array_ids[i]);
	return targets;
}

/* Find at most `count` paths of a call; return whether there are more. */
static bool
find_paths(EmogiCall *call, const EmogiTask *task, const EmogiGraphView *view,
		   EmogiPathSteps *paths, uint64 count)
{
	EmogiSimplePathsQuery query = {
		.graph = &view->graph,.overlay = view->overlay,
		.max_depth = task->query.max_depth < 0 ? PG_UINT64_MAX : (uint64) task->query.max_depth,
		.max_cost = task->query.max_distance,
		.max_bytes = emogi_limits_backend_bytes(),.poll = serve_interrupts
	};

	query.targets = find_targets(task, view, &query.ntargets);
	if (query.ntargets == 0 ||
		!emogi_local_search_has_vertex(&view->graph, view->overlay, task->keys[0]))
		return false;
	query.source = emogi_overlay_vertex(&view->graph, view->overlay, task->keys[0]);
	return search(call, paths, &query, count);
}

/* Read max_cost, argument n; raises 22023. */
static double
cost_argument(FunctionCallInfo fcinfo, int n)
{
	const double cost = PG_ARGISNULL(n) ? (double) INFINITY : PG_GETARG_FLOAT8(n);

	if (!(cost >= 0.0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_cost is out of range: %s",
						DatumGetCString(DirectFunctionCall1(float8out, Float8GetDatum(cost)))),
				 errhint("It must be 0 or more.")));
	return cost;
}

/* Warn that there are more paths than requested. */
static void
warn_of_more(uint64 count)
{
	ereport(WARNING,
			(errmsg("there are more than %llu simple paths", (unsigned long long) count),
			 errdetail("Only the first max_paths, %llu, are returned.",
					   (unsigned long long) count),
			 errhint("Raise max_paths, or lower max_depth or max_cost.")));
}

/* Read the arguments; return max_paths. */
static uint64
read_arguments(FunctionCallInfo fcinfo, EmogiTask *task)
{
	emogi_arguments_begin(fcinfo, EMOGI_SSSP, task);
	emogi_arguments_sources_and_targets(fcinfo, task);
	task->query.max_depth = emogi_arguments_count(fcinfo, 3, -1, "max_depth",
												  "Use NULL for no limit, or 1 or more edges.");
	task->query.max_distance = cost_argument(fcinfo, 4);
	task->direction = emogi_arguments_direction(fcinfo, 6, EMOGI_OUT);
	/* without a limit, all edges that the source reaches may be on a path */
	task->collects = task->query.max_depth < 0 ? EMOGI_COLLECTS_WALKS : EMOGI_COLLECTS_CYCLES;
	return (uint64) emogi_arguments_count(fcinfo, 5, MAX_PATHS, "max_paths",
										  "Use 1 or more. The default is 1000.");
}

/*
 * emogi_simple_paths(graph, source, target, max_depth, max_cost, max_paths, direction) -> setof
 * (path_id, seq, vertex, edge, cost, distance)
 */
Datum
emogi_simple_paths(PG_FUNCTION_ARGS)
{
	EmogiTask	task;
	EmogiGraphView view;
	EmogiPathSteps paths = {.task = &task,.graph = &view.graph};
	EmogiCall  *call;
	uint64		max_paths;
	bool		has_more;
	MemoryContext old;

	emogi_compat_init_rows(fcinfo);
	max_paths = read_arguments(fcinfo, &task);
	call = emogi_task_open(fcinfo->flinfo->fn_oid, &task, emogi_answer_is_local_enabled(), &view);
	if (call == NULL)
	{
		emogi_task_notice_sets(&task, NULL, NULL);
		return (Datum) 0;
	}
	require_one_source(&task);
	emogi_task_notice_sets(&task, view.overlay, &view.graph);
	paths.overlay = view.overlay;
	old = emogi_path_steps_enter();
	has_more = find_paths(call, &task, &view, &paths, max_paths);
	emogi_path_steps_finish(fcinfo, call, &paths, old);
	if (has_more)
		warn_of_more(max_paths);
	return (Datum) 0;
}
