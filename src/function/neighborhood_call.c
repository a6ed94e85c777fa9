/*
 * neighborhood_call.c: calls whose answer depends only on edges near given vertices, which an index
 * search can collect (index_search/neighborhood.h) instead of building the graph of all edges.
 *
 * The table below has the algorithms whose rows of a vertex depend on few edges. A function of
 * other edges says so in EmogiTask.collects: cycles, and paths of pairs.
 */
#include "postgres.h"

#include <math.h>

#include "access/table.h"
#include "utils/rel.h"

#include "function/function.h"

/* The edges of more pairs are not collected: they are few only if most pairs are the same. */
#define MAX_PAIRS UINT64CONST(65536)

/* The depth of walks is that of the query. */
#define QUERY_DEPTH (-2)

/* The edges that an algorithm's rows depend on. */
typedef struct Neighborhood
{
	EmogiIndexSearchKind kind;	/* EMOGI_SEARCHES: on all edges; EMOGI_COUNTS: the edges need not
								 * be collected */
	bool		is_of_wanted;	/* around the vertices that a condition names; otherwise the
								 * sources or pairs */
	int			depth;			/* of walks, in steps; -1 = unlimited */
	const char *steps;
} Neighborhood;

static const Neighborhood neighborhoods[EMOGI_NALGORITHMS] = {
	[EMOGI_BFS_TREE] = {EMOGI_COLLECTS_WALKS, false, QUERY_DEPTH, ">"},
	[EMOGI_SSSP] = {EMOGI_COLLECTS_NEAR, false, QUERY_DEPTH, ">"},
	[EMOGI_SHORTEST_PATH_TREE] = {EMOGI_COLLECTS_NEAR, false, QUERY_DEPTH, ">"},
	[EMOGI_ROLLUP] = {EMOGI_COLLECTS_WALKS, false, QUERY_DEPTH, ">"},
	[EMOGI_DISTANCE_MATRIX] = {EMOGI_COLLECTS_PATHS, false, QUERY_DEPTH, ">"},
	[EMOGI_DEGREE] = {EMOGI_COUNTS, true, 1, ">"},
	[EMOGI_SIMILARITY] = {EMOGI_COLLECTS_WALKS, true, 3, "><>"},
	[EMOGI_TRIANGLES] = {EMOGI_COLLECTS_WALKS, true, 2, ">"},
	[EMOGI_LCC] = {EMOGI_COLLECTS_WALKS, true, 2, "*>"},
	/* components, and what is inside of them */
	[EMOGI_CC] = {EMOGI_COLLECTS_WALKS, true, -1, ">"},
	[EMOGI_SCC] = {EMOGI_COLLECTS_WALKS, true, -1, ">"},
	[EMOGI_CORE] = {EMOGI_COLLECTS_WALKS, true, -1, ">"},
	[EMOGI_ARTICULATION_POINTS] = {EMOGI_COLLECTS_WALKS, true, -1, ">"}
};

/* Return what a task's rows depend on. */
static Neighborhood
neighborhood_of(const EmogiTask *task)
{
	const Neighborhood requested = {task->collects, false, QUERY_DEPTH, ">"};
	const Neighborhood of_pairs = {EMOGI_COLLECTS_WALKS, false, 1, ">"};
	const Neighborhood none = {EMOGI_SEARCHES};
	Neighborhood row = neighborhoods[task->query.algorithm];

	if (task->collects != EMOGI_SEARCHES)
		return requested;
	if (task->pairs != NULL)
		return emogi_algorithm_takes(emogi_algorithm_row(task->query.algorithm),
									 EMOGI_PAIRS) >= 0 ? of_pairs : none;
	if (row.kind == EMOGI_COUNTS && task->no_rows)
		row.kind = EMOGI_COLLECTS_WALKS;
	if (row.is_of_wanted)
		return task->has_targets || task->has_components ? row : none;
	return task->has_sources ? row : none;
}

/* Return the direction in which an algorithm reads edges: of those it may read, the most. */
static EmogiDirection
direction_of(const EmogiTask *task)
{
	const EmogiLists lists = emogi_algorithm_row(task->query.algorithm)->lists;

	return lists == EMOGI_LISTS_BOTH || lists == EMOGI_LISTS_ANY ? EMOGI_BOTH : task->direction;
}

/* Return the max number of hops within a task's max_distance; -1 = unlimited. */
static int64
hops_within(double max_distance)
{
	return max_distance < (double) PG_INT32_MAX ? (int64) floor(max_distance) : -1;
}

/*
 * Fill in what a search collects for a task, except for the vertices. search->kind: EMOGI_SEARCHES
 * if the task needs the graph of all edges.
 */
void
emogi_neighborhood_call_describe(const EmogiTask *task, EmogiIndexSearch *search)
{
	const Neighborhood neighborhood = neighborhood_of(task);

	search->kind = neighborhood.kind;
	search->direction = direction_of(task);
	search->steps = neighborhood.steps;
	search->max_distance = task->query.max_distance;
	search->max_depth = search->kind == EMOGI_COLLECTS_NEAR ? hops_within(search->max_distance) :
		neighborhood.depth == QUERY_DEPTH ? task->query.max_depth : neighborhood.depth;
	search->is_paired = task->pairs != NULL;
	search->npaths = task->npaths;
}

/* Does an index search answer a task, whose neighborhood it need not collect? */
bool
emogi_neighborhood_call_is_answer(const EmogiTask *task)
{
	return neighborhood_of(task).kind == EMOGI_COUNTS;
}

/*
 * Is the neighborhood of a search from sources, within these bounds, likely to be collected? Those
 * of paths are, because few edges around both ends are expected to be read.
 */
bool
emogi_neighborhood_call_is_likely(EmogiAlgorithm algorithm, double depth, double distance)
{
	const Neighborhood *row = &neighborhoods[algorithm];

	return !row->is_of_wanted &&
		(row->kind == EMOGI_COLLECTS_PATHS ||
		 (row->kind == EMOGI_COLLECTS_WALKS && depth >= 0) ||
		 (row->kind == EMOGI_COLLECTS_NEAR && distance < (double) INFINITY));
}

/*
 * Can the graph of a task be a neighborhood? Not if it asks for a GPU or for kernels of the papers.
 */
bool
emogi_neighborhood_call_may_serve(const EmogiTask *task)
{
	return emogi_answer_is_index_enabled() && !task->is_shared &&
		neighborhood_of(task).kind != EMOGI_SEARCHES;
}

/*
 * Read a task's pairs. The query is the caller's, and may call functions that write. The tables to
 * be searched are in use meanwhile, as under a cursor, so that it cannot truncate, rewrite or drop
 * them: raises 55006.
 */
static void
read_pairs(EmogiTask *task, const List *tables)
{
	List	   *used = NIL;
	ListCell   *cell;

	foreach(cell, tables)
		used = lappend(used, table_open(lfirst_oid(cell), NoLock));
	emogi_pair_query_read_keys(task);
	foreach(cell, used)
		table_close(lfirst(cell), NoLock);
	list_free(used);
}

/*
 * Set a search's vertices to the ends of a task's pairs: of paths, or all as sources. Without
 * sources, there is nothing to collect.
 */
static void
set_pairs(EmogiIndexSearch *search, EmogiTask *task)
{
	Datum	   *ends;

	if (task->pair_keys == NULL)
		read_pairs(task, search->tables);
	search->nsources = 0;
	if (task->npair_keys > MAX_PAIRS)
		return;
	search->sources = task->pair_keys;
	search->nsources = 2 * task->npair_keys;
	if (search->kind != EMOGI_COLLECTS_PATHS)
		return;
	ends = palloc_extended(Max(search->nsources, 1) * sizeof *ends, MCXT_ALLOC_HUGE);
	search->nsources = search->ntargets = task->npair_keys;
	search->sources = ends;
	search->targets = ends + search->nsources;
	for (uint64 i = 0; i < search->nsources; i++)
	{
		ends[i] = task->pair_keys[2 * i];
		ends[search->nsources + i] = task->pair_keys[2 * i + 1];
	}
}

/* Set a search's sources to the vertices that a condition names. */
static void
set_wanted(EmogiIndexSearch *search, const EmogiTask *task)
{
	search->sources = emogi_index_search_call_wanted(task, task->has_targets ? &task->wanted :
													 &task->named, &search->nsources);
}

/* Set a search's targets to those of a task. */
static void
set_targets(EmogiIndexSearch *search, const EmogiTask *task)
{
	search->targets = task->target_array.datums;
	search->ntargets = task->target_array.count;
	if (task->last_is_target && search->nsources == 2)
	{
		search->targets = &search->sources[--search->nsources];
		search->ntargets = 1;
	}
}

/*
 * Collect paths to the vertices that a condition names, instead of all that are not farther than
 * any: their rows depend on these alone.
 */
static void
aim_at_wanted(EmogiIndexSearch *search, const EmogiTask *task)
{
	if (!task->has_targets || task->last_is_target || task->collects != EMOGI_SEARCHES ||
		search->max_depth >= 0 || search->max_distance < (double) INFINITY ||
		!emogi_key_io_can_lookup(&task->form->coder.key, task->form->type))
		return;
	search->kind = EMOGI_COLLECTS_PATHS;
	search->targets = emogi_index_search_call_wanted(task, &task->wanted, &search->ntargets);
}

/*
 * Fill in the search of a task. Return false if it has no vertices, or if one cannot be a key.
 */
static bool
describe(EmogiIndexSearch *search, const EmogiKeyType *key)
{
	EmogiTask  *task = search->context;

	emogi_index_search_call_begin(search, key);
	emogi_neighborhood_call_describe(task, search);
	search->cost_before = task->collection_cost;
	if (task->pairs != NULL)
		set_pairs(search, task);
	else if (!neighborhood_of(task).is_of_wanted)
	{
		set_targets(search, task);
		aim_at_wanted(search, task);
	}
	else if (emogi_key_io_can_lookup(key, task->form->type))
		set_wanted(search, task);
	else
		return false;
	return search->nsources > 0 &&
		emogi_index_search_call_are_keys(task->form, search->sources, search->nsources) &&
		emogi_index_search_call_are_keys(task->form, search->targets, search->ntargets);
}

/* Return the collection for a task, to be filled in by describe() once the key type is known. */
EmogiIndexSearch
emogi_neighborhood_call_search(EmogiTask *task, Oid function)
{
	return (EmogiIndexSearch) {.describe = describe,.context = task,.function = function,
							   .kept = task->kept};
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
