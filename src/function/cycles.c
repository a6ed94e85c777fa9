/*
 * cycles.c: emogi_cycles(graph, source, max_length, max_cycles, direction) -> setof (cycle_id int,
 * seq int, vertex, edge, cost float8, distance float8): the simple cycles through a vertex, in
 * ascending order of length in edges.
 *
 * The backend searches for them itself (contract/cycles.h), in local memory limited to a share of
 * what its role may use, in a graph or in an older one with its overlay.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "contract/cycles.h"
#include "function/path_steps.h"
#include "base/compat.h"
#include "base/limits.h"

PG_FUNCTION_INFO_V1(emogi_cycles);

#define MAX_LENGTH 6			/* default */
#define MAX_CYCLES 1000			/* default */

/* A search, freed with its memory context. */
typedef struct SearchState
{
	EmogiCycles *cycles;
	EmogiControl control;
	EmogiError	error;
	MemoryContextCallback callback;
} SearchState;

/* Memory context callback: free the search of a SearchState. */
static void
free_search(void *arg)
{
	SearchState *state = arg;

	emogi_cycles_free(state->cycles);
	state->cycles = NULL;
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
			 errhint("Lower max_length, or raise the lowest of emogi.max_memory, "
					 "emogi.session_memory and emogi.role_memory.")));
}

/* Find at most `count` cycles; return whether there are more. */
static bool
search(EmogiCall *call, const EmogiTask *task, EmogiPathSteps *paths, uint32 source,
	   uint64 max_length, uint64 count)
{
	const double start_ms = emogi_pool_now_ms();
	SearchState *state = palloc0(sizeof *state);
	EmogiCycle	cycle;

	state->callback = (MemoryContextCallback) {.func = free_search,.arg = state};
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &state->callback);
	require_ok(state, emogi_cycles_begin(paths->graph, paths->overlay, source, max_length,
										 task->direction == EMOGI_BOTH,
										 emogi_limits_backend_bytes(), serve_interrupts,
										 &state->cycles, &state->control, &state->error));
	for (;;)
	{
		require_ok(state, emogi_cycles_next(state->cycles, &cycle));
		if (cycle.length == 0 || paths->npaths == count)
			break;
		emogi_path_steps_add(paths, cycle.vertices, cycle.length + 1, cycle.distance, false);
	}
	emogi_local_search_record_run(call, paths->graph, paths->nsteps, 0,
								  emogi_cycles_edges_scanned(state->cycles), start_ms);
	free_search(state);
	return cycle.length > 0;
}

/*
 * Return the vertex number of the source; EMOGI_NO_VERTEX, with a notice, if it is not in the
 * graph. Raises 22023 for several sources.
 */
static uint32
find_source(const EmogiTask *task, const EmogiOverlay *overlay, const EmogiGraph *graph)
{
	if (task->nkeys != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("emogi_cycles takes one source, not %llu",
						(unsigned long long) task->nkeys),
				 errhint("For several sources, call the function in LATERAL.")));
	if (emogi_local_search_has_vertex(graph, overlay, task->keys[0]))
		return emogi_overlay_vertex(graph, overlay, task->keys[0]);
	emogi_vertices_notice_end("source", task->form, graph, task->sources.datums[0],
							  EMOGI_ARITY_ONE);
	return EMOGI_NO_VERTEX;
}

/* Warn that there are more cycles than requested. */
static void
warn_of_more(uint64 count)
{
	ereport(WARNING,
			(errmsg("there are more than %llu cycles", (unsigned long long) count),
			 errdetail("Only the first max_cycles, %llu, are returned.",
					   (unsigned long long) count),
			 errhint("Raise max_cycles, or lower max_length.")));
}

/*
 * emogi_cycles(graph, source, max_length, max_cycles, direction) -> setof (cycle_id, seq, vertex,
 * edge, cost, distance)
 */
Datum
emogi_cycles(PG_FUNCTION_ARGS)
{
	EmogiTask	task;
	EmogiGraphView view;
	EmogiPathSteps paths = {.task = &task,.graph = &view.graph};
	EmogiCall  *call;
	uint64		max_length;
	uint64		max_cycles;
	uint32		source;
	bool		has_more = false;
	MemoryContext old;

	emogi_compat_init_rows(fcinfo);
	emogi_arguments_begin(fcinfo, EMOGI_SSSP, &task);
	emogi_arguments_source(fcinfo, &task);
	max_length = (uint64) emogi_arguments_count(fcinfo, 2, MAX_LENGTH, "max_length",
												"Use 1 or more edges. The default is 6.");
	max_cycles = (uint64) emogi_arguments_count(fcinfo, 3, MAX_CYCLES, "max_cycles",
												"Use 1 or more. The default is 1000.");
	task.direction = emogi_arguments_direction(fcinfo, 4, EMOGI_OUT);
	task.with_backward = true;
	task.collects = EMOGI_COLLECTS_CYCLES;
	task.query.max_depth = (int64) max_length;
	call = emogi_task_open(fcinfo->flinfo->fn_oid, &task, emogi_answer_is_local_enabled(), &view);
	if (call == NULL)
		return (Datum) 0;
	paths.overlay = view.overlay;
	source = find_source(&task, view.overlay, &view.graph);
	old = emogi_path_steps_enter();
	if (source != EMOGI_NO_VERTEX)
		has_more = search(call, &task, &paths, source, max_length, max_cycles);
	emogi_path_steps_finish(fcinfo, call, &paths, old);
	if (has_more)
		warn_of_more(max_cycles);
	return (Datum) 0;
}
