/*
 * local_batch.c: runs of the CPU engine in the backend, on a graph of the edges near given vertices
 * (neighborhood_call.c): of an algorithm, or of searches from many sources at once.
 *
 * The graph is small, so a request to the engine worker would take longer than the run.
 */
#include "postgres.h"

#include "contract/engine.h"
#include "function/function.h"

/*
 * Raise 53200 if a run has failed, other than by a refusal: it has checked its query before, and
 * nothing cancels it.
 */
static void
require_ok(EmogiStatus status, const EmogiError *error)
{
	if (status != EMOGI_OK)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("%s", error->message)));
}

/*
 * Run the query of a request that has been filled in, whose result gets the answer. Raises 53200.
 */
void
emogi_local_batch_query(EmogiCall *call, EmogiRequest *request)
{
	const double start_ms = emogi_pool_now_ms();
	EmogiResult *result = &request->result;
	EmogiControl control = {0};
	EmogiError	error;
	EmogiStatus status = emogi_cpu_engine_run_alone(&request->graph, &request->query, result,
													&control, &error);

	if (status == EMOGI_BAD_INPUT && result->refusal.kind != EMOGI_NOT_REFUSED)
		return;
	require_ok(status, &error);
	emogi_local_search_record_run(call, &request->graph, result->nreached, result->nlevels,
								  result->edges_traversed, start_ms);
}

/*
 * Search from at most EMOGI_MSBFS_SOURCES vertices. result: as for emogi_task_batch. Raises 53200.
 */
static void
search(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, const uint32 *sources,
	   int nsources, EmogiMsbfsResult *result)
{
	const double start_ms = emogi_pool_now_ms();
	EmogiControl control = {0};
	EmogiError	error;
	uint64		nreached = 0;

	require_ok(emogi_msbfs_run_alone(graph, sources, nsources, task->query.max_depth, result,
									 &control, &error), &error);
	for (int i = 0; i < result->nsources && !result->too_deep; i++)
		nreached += result->nreached[i];
	emogi_local_search_record_run(call, graph, nreached, result->nlevels, result->edges_traversed,
								  start_ms);
}

/* Run a BFS from each of the sources, as emogi_task_batch does. Raises 53200. */
void
emogi_local_batch_run(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph,
					  const uint32 *sources, int nsources, EmogiMsbfsResult *result)
{
	search(call, task, graph, sources, nsources, result);
}

/* Run a BFS from each of the sources, and get sums, as emogi_task_sums does. Raises 53200. */
void
emogi_local_batch_sums(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph,
					   const uint32 *sources, int nsources, EmogiMsbfsSums *sums)
{
	for (int first = 0; first < nsources; first += EMOGI_MSBFS_SOURCES)
	{
		const int	count = Min(nsources - first, EMOGI_MSBFS_SOURCES);
		EmogiMsbfsResult result = {.wants_sums = true,.first_level = task->query.first_level,
								   .last_level = task->query.max_depth < 0 ? PG_UINT32_MAX :
								   (uint32) task->query.max_depth};

		search(call, task, graph, sources + first, count, &result);
		for (int i = 0; i < count; i++)
			sums[first + i] = result.sums[i].count > 0 ? result.sums[i] : (EmogiMsbfsSums) {0};
	}
}
