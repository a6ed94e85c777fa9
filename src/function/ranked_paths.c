/*
 * ranked_paths.c: emogi_k_shortest_paths(graph, source, target, k, direction) and
 * emogi_all_shortest_paths(graph, source, target, max_paths, direction) -> setof (path_id int, seq
 * int, vertex, edge, cost float8, distance float8): the k shortest paths between two vertices in
 * ascending order, and all paths of minimal distance.
 *
 * The backend ranks them itself (contract/yen.h), in local memory limited to a share of what its
 * role may use, in a graph or in an older one with its overlay. If the graph has a contraction
 * hierarchy, the ranking uses it. A reader of a hierarchy must release it, so a cancel ends the
 * ranking first and is raised afterwards.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "contract/yen.h"
#include "function/path_steps.h"
#include "base/compat.h"
#include "base/limits.h"
#include "base/arena.h"

PG_FUNCTION_INFO_V1(emogi_k_shortest_paths);
PG_FUNCTION_INFO_V1(emogi_all_shortest_paths);

#define MAX_PATHS 1000			/* default */

/* State of a ranking. */
typedef struct RankingState
{
	EmogiYen   *ranking;
	EmogiControl control;
	EmogiError	error;
	int			cached;			/* cached graph whose hierarchy is in use; -1 = none */
} RankingState;

/* Raise 53200, or a cancel, for a ranking that failed. error: in memory of the caller. */
static void
require_ok(EmogiStatus status, const EmogiError *error)
{
	CHECK_FOR_INTERRUPTS();
	if (status == EMOGI_CANCELED)
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 errmsg("canceling statement due to user request")));
	if (status == EMOGI_OK)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg("%s", error->message),
			 error->detail[0] != '\0' ? errdetail_internal("%s", error->detail) : 0,
			 errhint("Request fewer paths, or raise the lowest of emogi.max_memory, "
					 "emogi.session_memory and emogi.role_memory.")));
}

/*
 * Return the hierarchy of the call's graph, building it if it is due; NULL if there is none. Raises
 * a cancel.
 */
static const EmogiContraction *
acquire_hierarchy(EmogiCall *call, const EmogiGraph *graph, bool may_contract, bool *reversed,
				  int *cached)
{
	const EmogiContraction *hierarchy;

	*reversed = false;
	*cached = -1;
	if (!may_contract)
		return NULL;
	emogi_hierarchy_search_prepare(call, graph);
	(void) emogi_cache_contraction_graph(call->slot->graph, graph, reversed);
	hierarchy = emogi_cache_contraction_begin(call->slot->graph);
	if (hierarchy != NULL)
		*cached = call->slot->graph;
	return hierarchy;
}

/* Find paths, as rank does; *has_more: there are more than `count`. */
static EmogiStatus
find_paths(RankingState *state, EmogiPathSteps *paths, uint64 count, bool only_shortest,
		   bool *has_more)
{
	double		max_distance = (double) INFINITY;
	EmogiYenFoundPath path;

	while (only_shortest || paths->npaths < count)
	{
		const EmogiStatus status = emogi_yen_next(state->ranking, max_distance, &path);

		*has_more = path.length > 0 && paths->npaths == count;
		if (status != EMOGI_OK || path.length == 0 || *has_more)
			return status;
		if (only_shortest)
			max_distance = path.distance[path.length - 1];
		emogi_path_steps_add(paths, path.vertices, path.length, path.distance, false);
	}
	return EMOGI_OK;
}

/*
 * Find at most `count` paths, of the minimal distance only or of any. Return whether there are more
 * of the minimal distance.
 */
static bool
rank(EmogiCall *call, EmogiPathSteps *paths, uint32 source, uint32 target, uint64 count,
	 bool only_shortest)
{
	const double start_ms = emogi_pool_now_ms();
	RankingState *state = palloc0(sizeof *state);
	bool		reversed;
	const bool	may_contract = paths->overlay == NULL &&
		emogi_hierarchy_search_may_serve(call, paths->graph);
	const EmogiContraction *hierarchy = acquire_hierarchy(call, paths->graph, may_contract,
														  &reversed, &state->cached);
	EmogiStatus status;
	uint64		edges_scanned = 0;
	bool		has_more = false;

	PG_TRY();
	{
		status = emogi_yen_begin(paths->graph, paths->overlay, hierarchy, reversed, source, target,
								 emogi_limits_backend_bytes(), emogi_cache_labels_must_stop,
								 &state->ranking, &state->control, &state->error);
		if (status == EMOGI_OK)
			status = find_paths(state, paths, count, only_shortest, &has_more);
		if (state->ranking != NULL)
			edges_scanned = emogi_yen_edges_scanned(state->ranking);
	}
	PG_FINALLY();
	{
		emogi_yen_free(state->ranking);
		if (state->cached >= 0)
			emogi_cache_contraction_end(state->cached);
	}
	PG_END_TRY();
	require_ok(status, &state->error);
	emogi_local_search_record_run(call, paths->graph, paths->nsteps, 0, edges_scanned, start_ms);
	if (hierarchy != NULL)
		strlcpy(call->record.engine, "hierarchy", sizeof call->record.engine);
	else if (may_contract)
		emogi_cache_contraction_record_path(call->slot->graph, emogi_pool_now_ms() - start_ms);
	return has_more;
}

/* Find the paths of a call whose arguments have been read, and put their rows. */
static void
find_and_put(FunctionCallInfo fcinfo, EmogiTask *task, uint64 count, bool only_shortest)
{
	EmogiGraphView view;
	const EmogiGraph *graph = &view.graph;
	EmogiPathSteps paths = {.task = task,.graph = graph};
	EmogiCall  *call = emogi_task_open(fcinfo->flinfo->fn_oid, task,
									   emogi_answer_is_local_enabled(), &view);
	const EmogiOverlay *overlay = view.overlay;
	bool		has_more = false;
	MemoryContext old;

	emogi_path_run_notice_ends(task, overlay, call != NULL ? graph : NULL);
	if (call == NULL)
		return;
	paths.overlay = overlay;
	old = emogi_path_steps_enter();
	if (emogi_local_search_has_vertex(graph, overlay, task->keys[0]) &&
		emogi_local_search_has_vertex(graph, overlay, task->targets[0]))
		has_more = rank(call, &paths, emogi_overlay_vertex(graph, overlay, task->keys[0]),
						emogi_overlay_vertex(graph, overlay, task->targets[0]), count,
						only_shortest);
	emogi_path_steps_finish(fcinfo, call, &paths, old);
	if (has_more)
		ereport(WARNING,
				(errmsg("there are more than %llu shortest paths", (unsigned long long) count),
				 errdetail("Only the first max_paths, %llu, are returned.",
						   (unsigned long long) count),
				 errhint("Raise max_paths.")));
}

/* Read the arguments except the number of paths: graph, source, target, (number), direction. */
static void
read_arguments(FunctionCallInfo fcinfo, EmogiTask *task)
{
	emogi_compat_init_rows(fcinfo);
	emogi_arguments_begin(fcinfo, EMOGI_SSSP, task);
	emogi_arguments_source_and_target(fcinfo, task);
	task->direction = emogi_arguments_direction(fcinfo, 4, EMOGI_OUT);
	task->with_backward = true;
}

/*
 * emogi_k_shortest_paths(graph, source, target, k, direction) -> setof (path_id, seq, vertex, edge,
 * cost, distance)
 */
Datum
emogi_k_shortest_paths(PG_FUNCTION_ARGS)
{
	EmogiTask	task;
	uint64		k;

	read_arguments(fcinfo, &task);
	if (PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("k must not be NULL"),
				 errhint("Pass the number of paths.")));
	k = (uint64) emogi_arguments_count(fcinfo, 3, 1, "k",
									   "Use 1 or more paths.");
	task.further_arguments = psprintf(", %llu", (unsigned long long) k);
	task.collects = EMOGI_COLLECTS_RANKED;
	task.npaths = k;
	find_and_put(fcinfo, &task, k, false);
	return (Datum) 0;
}

/*
 * emogi_all_shortest_paths(graph, source, target, max_paths, direction) -> setof (path_id, seq,
 * vertex, edge, cost, distance)
 */
Datum
emogi_all_shortest_paths(PG_FUNCTION_ARGS)
{
	EmogiTask	task;

	read_arguments(fcinfo, &task);
	task.collects = EMOGI_COLLECTS_PATHS;
	find_and_put(fcinfo, &task, (uint64) emogi_arguments_count(fcinfo, 3, MAX_PATHS, "max_paths",
															   "Use 1 or more. The default is "
															   "1000."), true);
	return (Datum) 0;
}
