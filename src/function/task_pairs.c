/*
 * task_pairs.c: shortest paths of vertex pairs, searched one by one from both ends, for functions
 * that can also answer all pairs by one run, the batch.
 *
 * How long they are is decided by answer/pair_budget.c. Without weights a search gives up before a
 * level that exceeds its budget. The answers are identical to those of the batch, bit for bit: see
 * contract/path_search.h.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "contract/multi_path.h"
#include "function/function.h"
#include "base/limits.h"
#include "base/arena.h"

#define ROOM_SHARE 8			/* 1/n of the role's limit, for a path of the worker */

/*
 * Begin the searches of a call. The graph, which has no weights if they are ignored, must stay
 * until the end. There are no searches if local ones are disabled, if a GPU was requested, or if
 * the graph has no backward lists.
 */
void
emogi_task_pairs_begin(EmogiPairSearch *search, EmogiCall *call, const EmogiTask *task,
					   const EmogiGraph *graph)
{
	*search = (EmogiPairSearch) {.call = call,.task = task,.graph = *graph};
	emogi_pair_budget_begin(&search->budget, graph->nvertices, graph->forward.nedges,
							graph->weight_type == EMOGI_WEIGHT_NONE);
	search->wants_paths = task->query.algorithm != EMOGI_BFS;
	search->may_search = emogi_answer_is_local_enabled() && graph->backward.offsets != NULL;
}

/* Search in the backend, unless that is likely to be in vain. */
static bool
search_backend(EmogiPairSearch *search, uint32 source, uint32 target, EmogiLocalPath *path)
{
	const EmogiPathCost next = emogi_pair_budget_next(&search->budget);
	const EmogiPathCost max = {Min(next.nedges,
								   emogi_answer_pair_edges(search->graph.forward.nedges)),
							   next.nvertices};
	EmogiPathCost cost;
	bool		found;

	if (search->skips_backend)
		return false;
	found = emogi_local_search_path_between(search->call, search->overlay, &search->graph, source,
											target, &max, path, &cost);
	search->used_backend |= found;
	emogi_pair_budget_charge(&search->budget, cost);
	return found;
}

/* Allocate arrays for a path of the worker, once; false if they are too large. */
static bool
alloc_path(EmogiPairSearch *search)
{
	const uint64 nvertices = search->graph.nvertices;

	if (search->path == NULL &&
		nvertices * (sizeof(uint32) + sizeof(double)) > emogi_limits_allowed_bytes() / ROOM_SHARE)
		return false;
	if (search->path == NULL)
	{
		search->path = emogi_call_alloc_any(search->call, nvertices * sizeof *search->path);
		search->distance = emogi_call_alloc_any(search->call, nvertices * sizeof *search->distance);
	}
	return true;
}

/* Search in the worker, which may scan more edges. */
static bool
search_worker(EmogiPairSearch *search, uint32 source, uint32 target, EmogiLocalPath *path)
{
	const uint64 max_local = emogi_answer_pair_edges(search->graph.forward.nedges);
	const double start_ms = emogi_pool_now_ms();
	const EmogiPathCost max = emogi_pair_budget_next(&search->budget);
	EmogiPathCost cost;
	bool		found;

	if ((!search->skips_backend && max.nedges <= max_local) || max.nedges == 0 ||
		!alloc_path(search))
		return false;
	found = emogi_task_path_between(search->call, search->task, &search->graph, source, target,
									&max, search->path, search->distance, &path->length, &cost);
	path->vertices = search->path;
	path->distance = search->distance;
	search->used_worker |= found;
	search->skips_backend = cost.nedges > max_local;
	emogi_pair_budget_charge(&search->budget, cost);
	search->worker_ms += emogi_pool_now_ms() - start_ms;
	return found;
}

/* ---- pairs with a common end ---- */

/* Searches of a group, freed with their memory context. */
typedef struct EmogiHeldPaths
{
	MemoryContextCallback callback;
	EmogiMultiPath *search;
} EmogiHeldPaths;

/* Memory context callback: free the searches of a group. */
static void
free_group_search(void *arg)
{
	EmogiHeldPaths *held = arg;

	emogi_multi_path_free(held->search);
	held->search = NULL;
}

/* Check for interrupts; a cancel raises its error. */
static bool
serve_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
	return false;
}

/* Begin the searches of a group, if not begun; false if out of memory. */
static bool
begin_group_search(EmogiPairSearch *search)
{
	if (search->held == NULL)
	{
		search->held = palloc0(sizeof *search->held);
		search->held->callback = (MemoryContextCallback) {.func = free_group_search,
														   .arg = search->held};
		MemoryContextRegisterResetCallback(CurrentMemoryContext, &search->held->callback);
	}
	if (search->held->search == NULL)
		search->held->search = emogi_multi_path_begin(&search->graph, search->overlay,
													  search->wants_paths,
													  emogi_limits_backend_bytes(),
													  serve_interrupts);
	return search->held->search != NULL;
}

/* Search for a pair of a group. */
static bool
find_grouped(EmogiPairSearch *search, uint32 source, uint32 target, EmogiLocalPath *path)
{
	const double start_ms = emogi_pool_now_ms();
	EmogiPairBudget *budget = &search->budget;
	const uint64 expected = budget->group_done == 0 ? 2 : PG_UINT64_MAX;
	EmogiMultiPathAnswer answer;

	if (!begin_group_search(search))
		return false;
	emogi_multi_path_next(search->held->search, source, target, Min(budget->same_source, expected),
						  Min(budget->same_target, expected), budget->group_left.nedges,
						  budget->group_left.nvertices, &answer);
	emogi_pair_budget_charge_group(budget, (EmogiPathCost) {answer.edges_traversed,
															answer.vertices_settled});
	if (answer.outcome == EMOGI_PATH_GAVE_UP)
	{
		free_group_search(search->held);
		return false;
	}
	emogi_local_search_record_run(search->call, &search->graph, answer.length, 0,
								  answer.edges_traversed, start_ms);
	search->used_backend = true;
	path->length = answer.outcome == EMOGI_PATH_FOUND ? Max(answer.length, 1) : 0;
	path->vertices = unconstify(uint32 *, answer.vertices);
	path->distance = unconstify(double *, answer.distance);
	return true;
}

/*
 * Find the path of the next pair of a run; false if the batch must answer this pair and all after
 * it. The path is valid until the next call; length 0 = no path.
 */
bool
emogi_task_pairs_find(EmogiPairSearch *search, uint32 source, uint32 target, EmogiLocalPath *path)
{
	if (search->local_path.vertices != NULL)
	{
		pfree(search->local_path.vertices);
		pfree(search->local_path.distance);
		search->local_path = (EmogiLocalPath) {0};
	}
	if (!search->may_search || emogi_pair_budget_is_hopeless(&search->budget))
		return false;
	if (search->budget.group_count > 0)
	{
		if (!find_grouped(search, source, target, path))
			return false;
	}
	else if (search_backend(search, source, target, &search->local_path))
		*path = search->local_path;
	else if (search->overlay != NULL || !search_worker(search, source, target, path))
		return false;
	search->budget.ndone++;
	return true;
}

/* End a run, and note whether the batch was needed. */
void
emogi_task_pairs_end_run(EmogiPairSearch *search, bool ran_batch)
{
	emogi_pair_budget_end_run(&search->budget, ran_batch);
	if (ran_batch)
		strlcpy(search->engine, search->call->record.engine, sizeof search->engine);
}

/* Free the memory of the searches. */
void
emogi_task_pairs_free(EmogiPairSearch *search)
{
	if (search->held != NULL)
		free_group_search(search->held);
	if (search->path == NULL)
		return;
	emogi_arena_free(search->path, search->graph.nvertices * sizeof *search->path);
	emogi_arena_free(search->distance, search->graph.nvertices * sizeof *search->distance);
	search->path = NULL;
	search->distance = NULL;
}

/*
 * Record in the call's record who found its pairs: the backend, the engine that ran the batch or
 * searches, or both.
 */
void
emogi_task_pairs_record(const EmogiPairSearch *search)
{
	const char *engine = search->engine[0] != '\0' ? search->engine :
		search->used_worker ? "cpu" : "";
	EmogiCallRecord *record = &search->call->record;

	if (search->used_backend && engine[0] != '\0' && strcmp(engine, "backend") != 0)
		snprintf(record->engine, sizeof record->engine, "backend, %s", engine);
}
