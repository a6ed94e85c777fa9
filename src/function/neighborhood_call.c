/*
 * neighborhood_call.c: calls whose answer depends only on edges near given vertices, which an index
 * search can collect (index_search/neighborhood.h) instead of building the graph of all edges.
 *
 *   tree, distances by hops   the edges within max_depth or max_distance hops of the sources
 *   degrees                   the edges of the vertices that a condition names
 *   distances of pairs        the edges of the shortest paths
 *   cycles, shortest paths    as the function requests in EmogiTask.collects
 *
 * Weights are not collected. A graph that other calls could use is built instead.
 */
#include "postgres.h"

#include <math.h>

#include "function/function.h"

/* Return the max number of hops within a task's max_distance; -1 = unlimited. */
static int64
hops_within(double max_distance)
{
	return max_distance < (double) PG_INT32_MAX ? (int64) floor(max_distance) : -1;
}

/* Return what a task's algorithm needs; sets *max_depth. EMOGI_SEARCHES = the whole graph. */
EmogiIndexSearchKind
emogi_neighborhood_call_kind(const EmogiTask *task, int64 *max_depth)
{
	*max_depth = task->query.max_depth;
	if (task->collects != EMOGI_SEARCHES)
		return task->collects;
	switch (task->query.algorithm)
	{
		case EMOGI_BFS_TREE:
			return EMOGI_COLLECTS_BALL;
		case EMOGI_SSSP:
		case EMOGI_SHORTEST_PATH_TREE:
			*max_depth = hops_within(task->query.max_distance);
			return task->has_sources && task->pairs == NULL ? EMOGI_COLLECTS_BALL : EMOGI_SEARCHES;
		case EMOGI_DISTANCE_MATRIX:
			return task->has_target_array ? EMOGI_COLLECTS_PATHS : EMOGI_SEARCHES;
		case EMOGI_DEGREE:
			*max_depth = 1;
			return task->has_targets ? EMOGI_COLLECTS_BALL : EMOGI_SEARCHES;
		default:
			return EMOGI_SEARCHES;
	}
}

/*
 * Can the graph of a task be a neighborhood? Not if it asks for a GPU or for kernels of the papers.
 */
bool
emogi_neighborhood_call_may_serve(const EmogiTask *task)
{
	int64		max_depth;

	return emogi_answer_is_index_enabled() && !task->is_shared &&
		emogi_neighborhood_call_kind(task, &max_depth) != EMOGI_SEARCHES;
}

/*
 * Fill in the search of a task. Return false if it has no vertices, or if one cannot be a key.
 */
static bool
describe(EmogiIndexSearch *search, const EmogiKeyType *key)
{
	EmogiTask  *task = search->context;

	emogi_index_search_call_begin(search, key);
	search->targets = task->target_array.datums;
	search->ntargets = task->target_array.count;
	search->cost_before = task->collection_cost;
	search->kind = emogi_neighborhood_call_kind(task, &search->max_depth);
	if (task->query.algorithm == EMOGI_DEGREE)
	{
		if (!emogi_key_io_can_lookup(key, task->form->type))
			return false;
		search->sources = emogi_index_search_call_wanted(task, &search->nsources);
	}
	else if (task->last_is_target && search->nsources == 2)
	{
		search->targets = &search->sources[--search->nsources];
		search->ntargets = 1;
	}
	return search->nsources > 0 &&
		emogi_index_search_call_are_keys(task->form, search->sources, search->nsources) &&
		emogi_index_search_call_are_keys(task->form, search->targets, search->ntargets);
}

/* Return the collection for a task, to be filled in by describe() once the key type is known. */
EmogiIndexSearch
emogi_neighborhood_call_search(EmogiTask *task, Oid function)
{
	return (EmogiIndexSearch) {.describe = describe,.context = task,.function = function};
}

/*
 * Note the outcome of a collection. If the graph was collected, ids of keys that are not integers
 * are indexes into the search's keys.
 */
void
emogi_neighborhood_call_take(EmogiTask *task, const EmogiIndexSearch *search)
{
	task->collection_cost += search->cost;
	task->is_collected = search->is_answered;
	if (!search->is_answered)
		return;
	task->form->keys = search->keys;
	task->form->nkeys = search->count;
}
