/*
 * task_pairs.c: shortest paths of vertex pairs, searched one by one from both ends, for functions
 * that can also answer all pairs by one run, the batch.
 *
 * A bidirectional search scans little of a graph, a batch most of it, so a few pairs are found
 * sooner one by one. The cost of a search is unknown in advance. Therefore searches go on until
 * they have cost as much as the batch would, and then the batch answers the rest: together they
 * never cost more than twice the cheaper way (ski rental [1]). They stop sooner if the first TRIALS
 * pairs indicate that the budget will not suffice, and the budget is reduced for runs that follow
 * one whose searches were in vain.
 *
 * Costs are counted in edges scanned and vertices settled, because list lengths differ. Without
 * weights a search gives up before a level that exceeds its budget. The answers are identical to
 * those of the batch, bit for bit: see contract/path_search.h.
 *
 * [1] A. R. Karlin, M. S. Manasse, L. Rudolph, D. D. Sleator. Competitive snoopy caching.
 *     Algorithmica 3, 1988.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "contract/msbfs.h"
#include "contract/multi_path.h"
#include "function/function.h"
#include "base/fault.h"
#include "base/limits.h"
#include "base/papers_settings.h"
#include "base/arena.h"

/*
 * Budget of a single-source search: see bench/RESULTS.md. A thread of the engine scans an edge
 * EDGE_SHARE times as fast as a search from both ends, and HOPS_SHARE times faster still by hops.
 */
#define EDGE_SHARE 4
#define HOPS_SHARE 4
/* edges that cost as much as settling a vertex, with weights and by hops */
#define VERTEX_EDGES 20
#define HOPS_VERTEX_EDGES 8
#define MIN_EDGES UINT64CONST(4096) /* cost no more than waking the worker */

#define PAIR_VERTICES 16		/* min cost of a search, in vertices */
#define GROUP_PAIR_VERTICES 2	/* min cost for a pair of a group */
#define GROUP_MIN_PAIRS 4		/* smaller groups are searched pair by pair */
/*
 * factor of the budget of a run by hops that is one group: the kept side outgrows the cache, and
 * the batch is a single search
 */
#define GROUP_HOPS_BUDGET 0.4
/*
 * ... and with weights, of its edges and vertices: the batch scans and settles these not so much
 * faster that a group should end sooner, and its first pair tells if it must
 */
#define GROUP_EDGES_BUDGET 3
#define GROUP_VERTICES_BUDGET 8
#define GROUP_SHARE 0.4			/* share of the budget that a group may spend in vain */
/* factor of the first pair's part of the budget, up to GROUP_SHARE */
#define PROBE_EXCESS 4.0
/* a group of n costs at most this * sqrt(n) single searches, without weights and with them */
#define GROUP_HOPS_SAVING 2.6
#define GROUP_SAVING 2.0
/*
 * share of the budget; a group expected to cost more than that, and more than the batch if searched
 * pair by pair, is left to the batch
 */
#define GROUP_MAX_COST 0.6
#define GROUP_SLACK 1.25		/* factor by which a group may exceed its expected cost */
/* a group may always settle min(this, nvertices / LOCAL_GROUP_SHARE) */
#define LOCAL_VERTICES UINT64CONST(2500)
#define LOCAL_GROUP_SHARE 32
#define TRIALS 8				/* pairs searched before all are estimated */
#define MAX_DISCOUNT 6
#define GPU_THREADS 64			/* CPU threads as fast as a GPU */
#define ROOM_SHARE 8			/* 1/n of the role's limit, for a path of the worker */

/* Is the graph searched by hops? */
static bool
is_by_hops(const EmogiPairSearch *search)
{
	return search->graph.weight_type == EMOGI_WEIGHT_NONE;
}

/*
 * Begin the searches of a call. The graph, which has no weights if they are ignored, must stay
 * until the end. There are no searches if local ones are disabled, if a GPU was requested, or if
 * the graph has no backward lists.
 */
void
emogi_task_pairs_begin(EmogiPairSearch *search, EmogiCall *call, const EmogiTask *task,
					   const EmogiGraph *graph)
{
	*search = (EmogiPairSearch) {.call = call,.task = task,.graph = *graph,.same_source = 1,
								 .same_target = 1};
	search->wants_paths = task->query.algorithm != EMOGI_BFS;
	search->may_search = emogi_answer_is_local_enabled() && graph->backward.offsets != NULL;
}

/* Return the cost of batches by hops from nsources, in single-source searches. */
uint64
emogi_task_pairs_batches(uint64 nsources)
{
	return nsources < EMOGI_MSBFS_MIN_COST ? nsources :
		(nsources + EMOGI_MSBFS_SOURCES - 1) / EMOGI_MSBFS_SOURCES * EMOGI_MSBFS_MIN_COST;
}

/*
 * Begin a run of npairs pairs, which a batch would find at the cost of nsearches single-source
 * searches.
 */
void
emogi_task_pairs_run(EmogiPairSearch *search, uint64 npairs, uint64 nsearches)
{
	const EmogiGraph *graph = &search->graph;
	const int	nthreads = emogi_shared->ncuda > 0 && emogi_engine == EMOGI_ENGINE_AUTO ?
		Max(emogi_cpu_threads, GPU_THREADS) : emogi_cpu_threads;
	const double share = (double) nthreads * EDGE_SHARE * (is_by_hops(search) ? HOPS_SHARE : 1) *
		(1 << search->discount);
	const double budget = Min((double) graph->forward.nedges * nsearches / share,
							  (double) (PG_UINT64_MAX / 2));

	search->npairs = npairs;
	search->ndone = 0;
	search->spent = (EmogiPathCost) {0};
	search->left.nedges = Max((uint64) budget, MIN_EDGES);
	search->left.nvertices = search->left.nedges /
		(is_by_hops(search) ? HOPS_VERTEX_EDGES : VERTEX_EDGES);
	if (emogi_faults.pair_edges > 0)
		search->left = (EmogiPathCost) {emogi_faults.pair_edges - 1,
										emogi_faults.pair_edges > 1 ? PG_UINT64_MAX / 2 : 0};
}

/* Allow a group to cost a share of the budget, but at least as much as a local search. */
static void
allow_group(EmogiPairSearch *search, double share)
{
	const EmogiGraph *graph = &search->graph;
	const uint64 min_edges = Min(emogi_answer_pair_edges(graph->forward.nedges),
								 Max(graph->forward.nedges / LOCAL_GROUP_SHARE, 1));
	/* a batch by hops is faster */
	const uint64 local_vertices = is_by_hops(search) ? LOCAL_VERTICES / 2 : LOCAL_VERTICES;
	const uint64 min_vertices = Min(local_vertices, Max(graph->nvertices / LOCAL_GROUP_SHARE, 1));
	const double all = Min(share, 1.0);

	search->group_left.nedges = Min(search->left.nedges,
									Max((uint64) (search->group_budget.nedges * all), min_edges));
	search->group_left.nvertices = Min(search->left.nvertices,
									   Max((uint64) (search->group_budget.nvertices * all),
										   min_vertices));
}

/*
 * Begin a group of pairs of a run that share the source (same_source = their number) or the target
 * (same_target); otherwise the values are 1. The first pair is a probe, which tells whether the
 * others are likely to cost more than the batch.
 */
void
emogi_task_pairs_group(EmogiPairSearch *search, uint64 same_source, uint64 same_target)
{
	const uint64 count = Max(same_source, same_target);

	search->same_source = same_source;
	search->same_target = same_target;
	search->group_count = count < GROUP_MIN_PAIRS ? 0 : count;
	search->group_done = 0;
	if (search->group_count > 0 && search->group_count == search->npairs &&
		emogi_faults.pair_edges == 0)
	{
		search->left.nedges *= is_by_hops(search) ? GROUP_HOPS_BUDGET : GROUP_EDGES_BUDGET;
		search->left.nvertices *= is_by_hops(search) ? GROUP_HOPS_BUDGET :
			GROUP_VERTICES_BUDGET;
	}
	search->group_budget = search->left;
	allow_group(search, Max(1.0 / count, Min(GROUP_SHARE, PROBE_EXCESS / count)));
}

/* Set the budget of the rest of a group from the cost of its first pair. */
static void
estimate_group(EmogiPairSearch *search, const EmogiPathCost *cost)
{
	const double count = (double) search->group_count;
	const double one_by_one = count *
		Max((double) cost->nedges / Max(search->group_budget.nedges, 1),
			(double) cost->nvertices / Max(search->group_budget.nvertices, 1));
	const double saving = is_by_hops(search) ? GROUP_HOPS_SAVING : GROUP_SAVING;
	const double expected = one_by_one * Min(saving / sqrt(count), 1.0);

	allow_group(search, one_by_one > 1.0 && expected > GROUP_MAX_COST ? 0.0 :
				Max(GROUP_SHARE, GROUP_SLACK * expected));
}

/* Is the remaining budget too small for the remaining pairs, by the cost of those before? */
static bool
is_hopeless(const EmogiPairSearch *search)
{
	const double rest = (double) (search->npairs - search->ndone);

	if (emogi_faults.pair_edges > 0)
		return search->left.nedges == 0;
	if (search->left.nedges == 0 ||
		search->left.nvertices <
		(search->group_count > 0 ? GROUP_PAIR_VERTICES : PAIR_VERTICES) * rest)
		return true;
	if (search->group_count > 0)
		return search->group_left.nedges == 0 || search->group_left.nvertices == 0;
	return search->ndone >= TRIALS &&
		(search->spent.nedges * rest > 2.0 * search->left.nedges * search->ndone ||
		 search->spent.nvertices * rest > 2.0 * search->left.nvertices * search->ndone);
}

/* Subtract the cost of a search from the budget. */
static void
charge(EmogiPairSearch *search, const EmogiPathCost *cost)
{
	search->spent.nedges += cost->nedges;
	search->spent.nvertices += cost->nvertices;
	search->left.nedges -= Min(search->left.nedges, cost->nedges);
	search->left.nvertices -= Min(search->left.nvertices, cost->nvertices);
}

/* Search in the backend, unless that is likely to be in vain. */
static bool
search_backend(EmogiPairSearch *search, uint32 source, uint32 target, EmogiLocalPath *path)
{
	const EmogiPathCost max = {Min(search->left.nedges,
								   emogi_answer_pair_edges(search->graph.forward.nedges)),
							   search->left.nvertices};
	EmogiPathCost cost;
	bool		found;

	if (search->skips_backend)
		return false;
	found = emogi_local_search_path_between(search->call, search->overlay, &search->graph, source,
											target, &max, path, &cost);
	search->used_backend |= found;
	cost.nvertices += PAIR_VERTICES;
	charge(search, &cost);
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
	const EmogiPathCost max = search->left;
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
	cost.nvertices += PAIR_VERTICES;
	charge(search, &cost);
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

/* Subtract the cost of a pair from the budgets of its group and run. */
static void
charge_group(EmogiPairSearch *search, const EmogiPathCost *cost)
{
	charge(search, cost);
	search->group_left.nedges -= Min(search->group_left.nedges, cost->nedges);
	search->group_left.nvertices -= Min(search->group_left.nvertices, cost->nvertices);
	if (search->group_done++ == 0)
		estimate_group(search, cost);
	if (search->same_source > 1)
		search->same_source--;
	if (search->same_target > 1)
		search->same_target--;
}

/* Search for a pair of a group. */
static bool
find_grouped(EmogiPairSearch *search, uint32 source, uint32 target, EmogiLocalPath *path)
{
	const double start_ms = emogi_pool_now_ms();
	const uint64 expected = search->group_done == 0 ? 2 : PG_UINT64_MAX;
	EmogiMultiPathAnswer answer;
	EmogiPathCost cost;

	if (!begin_group_search(search))
		return false;
	emogi_multi_path_next(search->held->search, source, target, Min(search->same_source, expected),
						  Min(search->same_target, expected), search->group_left.nedges,
						  search->group_left.nvertices, &answer);
	cost = (EmogiPathCost) {answer.edges_traversed, answer.vertices_settled + GROUP_PAIR_VERTICES};
	charge_group(search, &cost);
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
	if (search->near.vertices != NULL)
	{
		pfree(search->near.vertices);
		pfree(search->near.distance);
		search->near = (EmogiLocalPath) {0};
	}
	if (!search->may_search || is_hopeless(search))
		return false;
	if (search->group_count > 0)
	{
		if (!find_grouped(search, source, target, path))
			return false;
	}
	else if (search_backend(search, source, target, &search->near))
		*path = search->near;
	else if (search->overlay != NULL || !search_worker(search, source, target, path))
		return false;
	search->ndone++;
	return true;
}

/* End a run: adapt the budget of the next one to whether the batch was needed. */
void
emogi_task_pairs_end_run(EmogiPairSearch *search, bool ran_batch)
{
	if (ran_batch)
	{
		search->discount = Min(search->discount + 2, MAX_DISCOUNT);
		strlcpy(search->engine, search->call->record.engine, sizeof search->engine);
	}
	else if (search->discount > 0)
		search->discount--;
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

	if (search->used_backend && engine[0] != '\0')
		snprintf(record->engine, sizeof record->engine, "backend, %s", engine);
}
