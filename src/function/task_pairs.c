/*
 * task_pairs.c: shortest paths of pairs of vertices, searched one by one from both ends, for functions that can also answer all pairs by one run, the batch.
 *
 * A search from both ends looks at little of a graph, a batch at most of it, so few pairs are sooner found one by one. How much a search will look at is not
 * known before. So the searches go on until they have cost as much as the batch would, and then the batch answers the rest: the two together never
 * cost more than twice the cheaper way (ski rental [1]). They end sooner if the first TRIALS pairs say that the others will not be found in time, and the
 * batches after one whose searches were in vain have smaller budgets.
 *
 * Costs are counted in list entries and settled vertices, as long and short lists differ. The answers are those of the batch, bit for bit: see
 * cpu/path_search.h.
 *
 * [1] A. R. Karlin, M. S. Manasse, L. Rudolph, D. D. Sleator. Competitive snoopy caching. Algorithmica 3, 1988.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "cpu/msbfs.h"
#include "cpu/multi_path.h"
#include "function/function.h"
#include "base/fault.h"
#include "base/limits.h"
#include "base/papers_settings.h"
#include "base/arena.h"

/* The budget for a search of one source, by figures of two threads: see bench/RESULTS.md. A search by hops visits an entry 4 times as fast. */
#define HOPS_SHARE 4
#define VERTEX_EDGES 20			/* settling a vertex costs as much as so many list entries */
#define MIN_EDGES UINT64CONST(4096) /* cost no more than to wake the worker */

#define PAIR_VERTICES 16		/* a search costs at least so many vertices */
#define GROUP_PAIR_VERTICES 2	/* likewise, of pairs with a common end */
#define GROUP_LEAST 2			/* fewer pairs with a common end are searched one by one */
#define GROUP_BUDGET 1.5		/* what a group may cost grows by this: the batch has the values of all vertices written and read, too */
#define GROUP_SHARE 0.2			/* of the budget, which a group may cost in vain */
#define PROBE_EXCESS 4.0		/* the first pair of a group may cost so many times its part of the budget, if that is no more than GROUP_SHARE */
#define GROUP_SAVING 2.6		/* a group of n costs as much as n pairs by themselves times this by the square root of n, at most */
#define GROUP_MOST 0.6			/* of the budget; a group that is likely to cost more, and more pair by pair than the batch, is left to that */
#define GROUP_SLACK 1.25		/* and may cost so many times that */
#define NEAR_VERTICES UINT64CONST(2500) /* that a group may settle in any case, up to a share of all */
#define NEAR_GROUP_SHARE 32
#define TRIALS 8				/* pairs, before an estimate for all */
#define MAX_DISCOUNT 6
#define GPU_THREADS 64			/* a GPU is as fast as so many threads */
#define BATCH_SEARCHES 8		/* a search of many sources at once costs as much as so many of one */
#define ROOM_SHARE 8			/* of what the role may have, for a path of the worker */

/*
 * Begin the searches of a call. The Graph, which has no weights if they are ignored, must stay until the end. There are no searches if local ones are
 * disabled, if a GPU was asked for, or if the Graph has no backward lists.
 */
void
emogi_task_pairs_begin(EmogiPairSearch *search, EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph)
{
	*search = (EmogiPairSearch) {.call = call,.task = task,.graph = *graph,.same_source = 1,.same_target = 1};
	search->wants_paths = task->query.algorithm != EMOGI_BFS;
	search->may_search = emogi_local_search_is_enabled() && graph->backward.offsets != NULL;
}

/* Get how many searches of one source cost as much as a batch from so many, by hops. */
uint64
emogi_task_pairs_batches(uint64 nsources)
{
	return nsources < BATCH_SEARCHES ? nsources : (nsources + EMOGI_MSBFS_SOURCES - 1) / EMOGI_MSBFS_SOURCES * BATCH_SEARCHES;
}

/* Begin to search for so many pairs, which a batch would find at the cost of so many searches of one source. */
void
emogi_task_pairs_run(EmogiPairSearch *search, uint64 npairs, uint64 nsearches)
{
	const EmogiGraph *graph = &search->graph;
	const int	nthreads = emogi_shared->ncuda > 0 && emogi_engine == EMOGI_ENGINE_AUTO ? Max(emogi_cpu_threads, GPU_THREADS) : emogi_cpu_threads;
	const double share = (double) nthreads * (graph->weight_type == EMOGI_WEIGHT_NONE ? HOPS_SHARE : 1) * (1 << search->discount);
	const double budget = Min((double) graph->forward.nedges * nsearches / share, (double) (PG_UINT64_MAX / 2));

	search->npairs = npairs;
	search->ndone = 0;
	search->spent = (EmogiPathCost) {0};
	search->left.nedges = Max((uint64) budget, MIN_EDGES);
	search->left.nvertices = search->left.nedges / VERTEX_EDGES;
	if (emogi_faults.pair_edges > 0)
		search->left = (EmogiPathCost) {emogi_faults.pair_edges - 1, emogi_faults.pair_edges > 1 ? PG_UINT64_MAX / 2 : 0};
}

/* Let a group cost a share of the budget, but not less than a search nearby. */
static void
allow_group(EmogiPairSearch *search, double share)
{
	const EmogiGraph *graph = &search->graph;
	const uint64 least_edges = Min(emogi_local_search_pair_edges(graph), Max(graph->forward.nedges / NEAR_GROUP_SHARE, 1));
	const uint64 near_vertices = graph->weight_type == EMOGI_WEIGHT_NONE ? NEAR_VERTICES / 2 : NEAR_VERTICES;	/* a batch by hops is sooner */
	const uint64 least_vertices = Min(near_vertices, Max(graph->nvertices / NEAR_GROUP_SHARE, 1));
	const double all = Min(share, 1.0);

	search->group_left.nedges = Min(search->left.nedges, Max((uint64) (search->group_budget.nedges * all), least_edges));
	search->group_left.nvertices = Min(search->left.nvertices, Max((uint64) (search->group_budget.nvertices * all), least_vertices));
}

/*
 * Begin a group of the pairs of a run: so many with one source, or with one target, otherwise 1. Its first pair is a probe, which tells whether the others
 * are likely to cost more than the batch.
 */
void
emogi_task_pairs_group(EmogiPairSearch *search, uint64 same_source, uint64 same_target)
{
	const uint64 count = Max(same_source, same_target);

	search->same_source = same_source;
	search->same_target = same_target;
	search->group_count = count < GROUP_LEAST ? 0 : count;
	search->group_done = 0;
	if (search->group_count > 0 && search->ndone == 0 && emogi_faults.pair_edges == 0)
	{
		search->left.nedges *= GROUP_BUDGET;
		search->left.nvertices *= GROUP_BUDGET;
	}
	search->group_budget = search->left;
	allow_group(search, Max(1.0 / count, Min(GROUP_SHARE, PROBE_EXCESS / count)));
}

/* Say how much the rest of a group may cost, by what its first pair has cost. */
static void
judge_group(EmogiPairSearch *search, const EmogiPathCost *cost)
{
	const double count = (double) search->group_count;
	const double apart = count * Max((double) cost->nedges / Max(search->group_budget.nedges, 1),
									 (double) cost->nvertices / Max(search->group_budget.nvertices, 1));
	const double expected = apart * Min(GROUP_SAVING / sqrt(count), 1.0);

	allow_group(search, apart > 1.0 && expected > GROUP_MOST ? 0.0 : Max(GROUP_SHARE, GROUP_SLACK * expected));
}

/* Will what is left not do for the pairs that are left, as far as those before tell? */
static bool
is_hopeless(const EmogiPairSearch *search)
{
	const double rest = (double) (search->npairs - search->ndone);

	if (emogi_faults.pair_edges > 0)
		return search->left.nedges == 0;
	if (search->left.nedges == 0 || search->left.nvertices < (search->group_count > 0 ? GROUP_PAIR_VERTICES : PAIR_VERTICES) * rest)
		return true;
	if (search->group_count > 0)
		return search->group_left.nedges == 0 || search->group_left.nvertices == 0;
	return search->ndone >= TRIALS && (search->spent.nedges * rest > 2.0 * search->left.nedges * search->ndone ||
									   search->spent.nvertices * rest > 2.0 * search->left.nvertices * search->ndone);
}

/* Take what a search has cost from the budget. */
static void
pay(EmogiPairSearch *search, const EmogiPathCost *cost)
{
	search->spent.nedges += cost->nedges;
	search->spent.nvertices += cost->nvertices;
	search->left.nedges -= Min(search->left.nedges, cost->nedges);
	search->left.nvertices -= Min(search->left.nvertices, cost->nvertices);
}

/* Search in the backend, where that is not likely to be in vain. */
static bool
find_near(EmogiPairSearch *search, uint32 source, uint32 target, EmogiLocalPath *path)
{
	const EmogiPathCost max = {Min(search->left.nedges, emogi_local_search_pair_edges(&search->graph)), search->left.nvertices};
	EmogiPathCost cost;
	bool		found;

	if (search->skips_backend)
		return false;
	found = emogi_local_search_path_between(search->call, search->patch, &search->graph, source, target, &max, path, &cost);
	search->used_backend |= found;
	cost.nvertices += PAIR_VERTICES;
	pay(search, &cost);
	return found;
}

/* Take room for a path of the worker, once; false where that is too much. */
static bool
take_room(EmogiPairSearch *search)
{
	const uint64 nvertices = search->graph.nvertices;

	if (search->path == NULL && nvertices * (sizeof(uint32) + sizeof(double)) > emogi_limits_allowed_bytes() / ROOM_SHARE)
		return false;
	if (search->path == NULL)
	{
		search->path = emogi_call_alloc_any(search->call, nvertices * sizeof *search->path);
		search->distance = emogi_call_alloc_any(search->call, nvertices * sizeof *search->distance);
	}
	return true;
}

/* Search in the worker, which may look at more. */
static bool
find_far(EmogiPairSearch *search, uint32 source, uint32 target, EmogiLocalPath *path)
{
	const uint64 most_near = emogi_local_search_pair_edges(&search->graph);
	const double start_ms = emogi_pool_now_ms();
	const EmogiPathCost max = search->left;
	EmogiPathCost cost;
	bool		found;

	if ((!search->skips_backend && max.nedges <= most_near) || max.nedges == 0 || !take_room(search))
		return false;
	found = emogi_task_path_between(search->call, search->task, &search->graph, source, target, &max, search->path, search->distance, &path->length,
									&cost);
	path->vertices = search->path;
	path->distance = search->distance;
	search->used_worker |= found;
	search->skips_backend = cost.nedges > most_near;
	cost.nvertices += PAIR_VERTICES;
	pay(search, &cost);
	search->worker_ms += emogi_pool_now_ms() - start_ms;
	return found;
}

/* ---- pairs with a common end ---- */

/* Searches, which are freed with a memory context. */
typedef struct EmogiHeldPaths
{
	MemoryContextCallback callback;
	EmogiMultiPath *search;
} EmogiHeldPaths;

/* Free the searches that are held. */
static void
free_held(void *arg)
{
	EmogiHeldPaths *held = arg;

	emogi_multi_path_free(held->search);
	held->search = NULL;
}

/* Serve a cancel, which raises its error. */
static bool
serve_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
	return false;
}

/* Begin searches for pairs with a common end; false without memory. */
static bool
hold_searches(EmogiPairSearch *search)
{
	if (search->held == NULL)
	{
		search->held = palloc0(sizeof *search->held);
		search->held->callback = (MemoryContextCallback) {.func = free_held,.arg = search->held};
		MemoryContextRegisterResetCallback(CurrentMemoryContext, &search->held->callback);
	}
	if (search->held->search == NULL)
		search->held->search = emogi_multi_path_begin(&search->graph, search->patch, search->wants_paths, emogi_limits_backend_bytes(), serve_interrupts);
	return search->held->search != NULL;
}

/* Note that a group has one pair less to search for, which has cost so much. */
static void
pay_group(EmogiPairSearch *search, const EmogiPathCost *cost)
{
	pay(search, cost);
	search->group_left.nedges -= Min(search->group_left.nedges, cost->nedges);
	search->group_left.nvertices -= Min(search->group_left.nvertices, cost->nvertices);
	if (search->group_done++ == 0)
		judge_group(search, cost);
	if (search->same_source > 1)
		search->same_source--;
	if (search->same_target > 1)
		search->same_target--;
}

/* Search for a pair that has an end in common with others. */
static bool
find_grouped(EmogiPairSearch *search, uint32 source, uint32 target, EmogiLocalPath *path)
{
	const double start_ms = emogi_pool_now_ms();
	const uint64 expected = search->group_done == 0 ? 2 : PG_UINT64_MAX;
	EmogiMultiPathAnswer answer;
	EmogiPathCost cost;

	if (!hold_searches(search))
		return false;
	emogi_multi_path_next(search->held->search, source, target, Min(search->same_source, expected),
						  Min(search->same_target, expected), search->group_left.nedges, search->group_left.nvertices, &answer);
	cost = (EmogiPathCost) {answer.edges_traversed, answer.vertices_settled + GROUP_PAIR_VERTICES};
	pay_group(search, &cost);
	if (answer.outcome == EMOGI_PATH_GAVE_UP)
	{
		free_held(search->held);
		return false;
	}
	emogi_local_search_note_run(search->call, &search->graph, answer.length, 0, answer.edges_traversed, start_ms);
	search->used_backend = true;
	path->length = answer.outcome == EMOGI_PATH_FOUND ? Max(answer.length, 1) : 0;
	path->vertices = unconstify(uint32 *, answer.vertices);
	path->distance = unconstify(double *, answer.distance);
	return true;
}

/*
 * Find the path of the next pair of a run; false where the batch is to answer it and all pairs after it. The path lasts until the next one; length 0: there
 * is none.
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
	else if (find_near(search, source, target, &search->near))
		*path = search->near;
	else if (search->patch != NULL || !find_far(search, source, target, path))
		return false;
	search->ndone++;
	return true;
}

/* Note whether the searches of a run have found all of its pairs, for those of the next; the batch may have answered some. */
void
emogi_task_pairs_ran(EmogiPairSearch *search, bool ran_batch)
{
	if (ran_batch)
	{
		search->discount = Min(search->discount + 2, MAX_DISCOUNT);
		strlcpy(search->engine, search->call->record.engine, sizeof search->engine);
	}
	else if (search->discount > 0)
		search->discount--;
}

/* Free what the searches have taken. */
void
emogi_task_pairs_free(EmogiPairSearch *search)
{
	if (search->held != NULL)
		free_held(search->held);
	if (search->path == NULL)
		return;
	emogi_arena_free(search->path, search->graph.nvertices * sizeof *search->path);
	emogi_arena_free(search->distance, search->graph.nvertices * sizeof *search->distance);
	search->path = NULL;
	search->distance = NULL;
}

/* Note in the record of the call how its pairs were found: by the backend, by the engine that ran the batch or made searches, or by both. */
void
emogi_task_pairs_note(const EmogiPairSearch *search)
{
	const char *engine = search->engine[0] != '\0' ? search->engine : search->used_worker ? "cpu" : "";
	EmogiCallRecord *record = &search->call->record;

	if (search->used_backend && engine[0] != '\0')
		snprintf(record->engine, sizeof record->engine, "backend, %s", engine);
}
