/*
 * shortest_paths.c: emogi_shortest_paths(graph, sources, targets, direction) and (graph, pairs,
 * direction) -> setof (source, target, seq int, vertex, edge, cost float8, distance float8): one
 * shortest path for each pair whose target is reachable, the same path as emogi_shortest_path
 * finds.
 *
 * Pairs of a source are first searched one by one from both ends, as long as that pays
 * (task_pairs.c): in a graph, or in an older one with its overlay, which must then serve all pairs
 * or none. The remaining pairs share one search: the distances up to the farthest target, along
 * which each path is traced back.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "contract/trace_path.h"
#include "answer/cost.h"
#include "function/path_steps.h"
#include "function/rows.h"
#include "base/compat.h"
#include "base/arena.h"

PG_FUNCTION_INFO_V1(emogi_shortest_paths);

typedef struct Paths
{
	EmogiTask  *task;
	EmogiCall  *call;
	const EmogiGraph *graph;
	const EmogiOverlay *overlay;	/* changes since the graph was built; NULL = none */
	EmogiVertexPair *pairs;		/* [npairs], ascending and distinct */
	uint64		npairs;
	EmogiPathSteps found;		/* at most one path per pair */
	EmogiVertexPair *ends;		/* [found.npaths] */
	EmogiPairSearch search;
	bool		has_hierarchy;	/* the graph has a contraction hierarchy */
	uint32	   *path;			/* [nvertices], scratch as the following fields; NULL = not
								 * allocated yet */
	uint32	   *next;
	EmogiResult result;
} Paths;

/* ---- pairs ---- */

/* Return the vertex numbers of given keys; keys that are not in the graph are skipped. */
static uint32 *
find_numbers(const EmogiGraph *graph, const EmogiOverlay *overlay, const int64 *keys, uint64 count,
			 uint64 *nfound)
{
	uint32	   *numbers = palloc_extended(Max(count, 1) * sizeof *numbers, MCXT_ALLOC_HUGE);

	*nfound = 0;
	for (uint64 i = 0; i < count; i++)
	{
		if (emogi_local_search_has_vertex(graph, overlay, keys[i]))
			numbers[(*nfound)++] = emogi_overlay_vertex(graph, overlay, keys[i]);
	}
	return numbers;
}

/* Raise 54000 if there are too many pairs. */
static void
require_room(uint64 nsources, uint64 ntargets)
{
	if (nsources > 0 && ntargets > emogi_pair_query_max() / nsources)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many paths: from %llu sources to %llu targets",
						(unsigned long long) nsources, (unsigned long long) ntargets),
				 errhint("Pass fewer sources or fewer targets, or raise emogi.max_memory. For the "
						 "distances alone, use emogi_distance_matrix.")));
}

/* Pair each source with each target. Raises 54000 if there are too many pairs. */
static void
combine(Paths *paths)
{
	const EmogiTask *task = paths->task;
	uint64		nsources;
	uint64		ntargets;
	const uint32 *sources = find_numbers(paths->graph, paths->overlay, task->keys, task->nkeys,
										 &nsources);
	const uint32 *targets = find_numbers(paths->graph, paths->overlay, task->target_array_ids,
										 task->target_array.count, &ntargets);

	require_room(nsources, ntargets);
	paths->pairs = palloc_extended(Max(nsources * ntargets, 1) * sizeof *paths->pairs,
								   MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i < nsources; i++)
		for (uint64 j = 0; j < ntargets; j++)
			paths->pairs[paths->npairs++] = (EmogiVertexPair) {sources[i], targets[j]};
}

/* Get the pairs whose paths are wanted. */
static void
find_pairs(Paths *paths)
{
	const EmogiTask *task = paths->task;

	if (task->pairs != NULL)
		paths->pairs = emogi_pair_query_read(paths->graph, paths->overlay, task, &paths->npairs);
	else
		combine(paths);
	paths->npairs = emogi_pair_query_sort(paths->graph, paths->overlay, paths->pairs,
										  paths->npairs);
	paths->ends = palloc_extended(Max(paths->npairs, 1) * sizeof *paths->ends, MCXT_ALLOC_HUGE);
}

/* ---- paths ---- */

/* Check for interrupts; a cancel raises its error. */
static bool
serve_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
	return false;
}

/*
 * Add a path. distance: indexed by vertex number if by_number, otherwise by position in the path.
 */
static void
add_path(Paths *paths, EmogiVertexPair ends, const uint32 *path, uint64 length,
		 const double *distance,
		 bool by_number)
{
	if (length == 0)
		return;
	paths->ends[paths->found.npaths] = ends;
	emogi_path_steps_add(&paths->found, path, length, distance, by_number);
}

/*
 * Return the task of a search from one source to the targets of its pairs. keys: [npairs + 1], in
 * memory of the caller.
 */
static EmogiTask
single_source_task(const Paths *paths, const EmogiVertexPair *pairs, uint64 npairs, int64 *keys)
{
	EmogiTask	task = *paths->task;

	keys[0] = emogi_overlay_key(paths->graph, NULL, pairs[0].from);
	for (uint64 i = 0; i < npairs; i++)
		keys[i + 1] = emogi_overlay_key(paths->graph, NULL, pairs[i].to);
	task.has_sources = task.has_targets = true;
	task.has_target_array = false;
	task.pairs = NULL;
	task.keys = keys;
	task.nkeys = 1;
	task.targets = keys + 1;
	task.ntargets = npairs;
	return task;
}

/* Allocate scratch arrays for tracing paths; those of the searches from both ends are reused. */
static void
alloc_scratch(Paths *paths)
{
	const uint64 nvertices = paths->graph->nvertices;

	if (paths->path != NULL)
		return;
	if (paths->search.path != NULL)
	{
		paths->path = paths->search.path;
		paths->result.columns[0].float64 = paths->search.distance;
	}
	else
		paths->path = emogi_call_alloc_any(paths->call, nvertices * sizeof *paths->path);
	paths->next = emogi_call_alloc_any(paths->call, nvertices * sizeof *paths->next);
}

/* Find the paths of pairs with one source from the distances up to their targets. */
static void
find_by_distances(Paths *paths, const EmogiTask *task, const EmogiVertexPair *pairs, uint64 npairs)
{
	const EmogiGraph *graph = paths->graph;

	alloc_scratch(paths);
	if (!emogi_task_query(paths->call, task, graph, &paths->result))
		return;
	paths->search.path = paths->path;
	paths->search.distance = paths->result.columns[0].float64;
	for (uint64 i = 0; i < npairs; i++)
	{
		const double *distance = paths->result.columns[0].float64;

		CHECK_FOR_INTERRUPTS();
		if (distance[pairs[i].to] < (double) INFINITY)
			add_path(paths, pairs[i], paths->path,
					 emogi_trace_path(graph, distance, pairs[i].from, pairs[i].to, paths->path,
									  paths->next, serve_interrupts), distance, true);
	}
}

/*
 * Find the paths of the first pairs with one source (nsources = 1), or of npairs with one target,
 * from both ends, as long as that pays; return how many pairs were searched.
 */
static uint64
find_from_both_ends(Paths *paths, const EmogiVertexPair *pairs, uint64 npairs, uint64 nsources)
{
	EmogiLocalPath found;
	uint64		nfound = 0;

	emogi_pair_budget_run(&paths->search.budget, npairs, nsources);
	emogi_pair_budget_group(&paths->search.budget, nsources == 1 ? npairs : 1,
							nsources == 1 ? 1 : npairs);
	for (; nfound < npairs; nfound++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!emogi_task_pairs_find(&paths->search, pairs[nfound].from, pairs[nfound].to, &found))
			break;
		add_path(paths, pairs[nfound], found.vertices, found.length, found.distance, false);
	}
	return nfound;
}

/* Find the path of a pair by a local search, or in the hierarchy of the graph. */
static bool
find_by_hierarchy(Paths *paths, const EmogiVertexPair *pair)
{
	const EmogiPathCost max = {EMOGI_COST_LOCAL_BEFORE_HIERARCHY, PG_UINT64_MAX};
	int64		keys[2];
	const EmogiTask task = single_source_task(paths, pair, 1, keys);
	EmogiPathCost cost;
	EmogiLocalPath found;

	if (!(paths->search.may_search &&
		  emogi_local_search_path_between(paths->call, NULL, paths->graph, pair->from, pair->to,
										  &max, &found, &cost)) &&
		!emogi_hierarchy_search_path(paths->call, &task, paths->graph, &found))
		return false;
	add_path(paths, *pair, found.vertices, found.length, found.distance, false);
	pfree(found.vertices);
	pfree(found.distance);
	return true;
}

/* Find the paths of all pairs of one source. */
static void
find_from(Paths *paths, const EmogiVertexPair *pairs, uint64 npairs)
{
	uint64		nfound = 0;
	const bool	by_hierarchy = paths->has_hierarchy &&
		emogi_hierarchy_search_paths_are_cheaper(paths->call, paths->graph, npairs);

	while (by_hierarchy && nfound < npairs && find_by_hierarchy(paths, &pairs[nfound]))
	{
		CHECK_FOR_INTERRUPTS();
		nfound++;
	}
	if (!by_hierarchy)
		nfound = find_from_both_ends(paths, pairs, npairs, 1);
	if (nfound < npairs)
	{
		int64	   *keys = palloc_extended((npairs - nfound + 1) * sizeof *keys, MCXT_ALLOC_HUGE);
		const EmogiTask task = single_source_task(paths, pairs + nfound, npairs - nfound, keys);

		find_by_distances(paths, &task, pairs + nfound, npairs - nfound);
		pfree(keys);
	}
	if (!by_hierarchy)
		emogi_task_pairs_end_run(&paths->search, nfound < npairs);
}

/*
 * Find the paths of the first pairs from both ends if all pairs have the same target and there are
 * several sources; return how many pairs were searched.
 */
static uint64
find_to_target(Paths *paths)
{
	uint64		nsources = 0;

	while (nsources < paths->npairs && paths->pairs[nsources].to == paths->pairs[0].to)
		nsources++;
	if (nsources < 2 || nsources < paths->npairs || paths->has_hierarchy)
		return 0;
	return find_from_both_ends(paths, paths->pairs, nsources, nsources);
}

/* Find all paths. */
static void
find_paths(Paths *paths)
{
	const bool	may_contract = emogi_hierarchy_search_may_serve(paths->call, paths->graph);
	uint64		end;

	emogi_task_pairs_begin(&paths->search, paths->call, paths->task, paths->graph);
	if (may_contract)
	{
		emogi_hierarchy_search_prepare(paths->call, paths->graph);
		paths->has_hierarchy = emogi_hierarchy_search_is_prepared(paths->call);
	}
	for (uint64 first = find_to_target(paths); first < paths->npairs; first = end)
	{
		for (end = first + 1;
			 end < paths->npairs && paths->pairs[end].from == paths->pairs[first].from;
			 end++)
			;
		CHECK_FOR_INTERRUPTS();
		find_from(paths, &paths->pairs[first], end - first);
	}
	emogi_task_pairs_record(&paths->search);
	if (may_contract && paths->search.worker_ms > 0)
		emogi_cache_contraction_record_path(paths->call->slot->graph, paths->search.worker_ms);
}

/*
 * Find all paths in a graph with an overlay. If that does not serve all pairs, return false, with
 * the pairs renumbered for the current graph. If that has no edge any more, end the call and set it
 * to NULL.
 */
static bool
search_with_overlay(Paths *paths, EmogiGraphView *view)
{
	const EmogiGraph *graph = &view->graph;
	uint64		first = 0;
	Datum	   *keys;

	emogi_task_pairs_begin(&paths->search, paths->call, paths->task, graph);
	paths->search.overlay = paths->overlay;
	for (uint64 end; first < paths->npairs; first = end)
	{
		for (end = first + 1;
			 end < paths->npairs && paths->pairs[end].from == paths->pairs[first].from;
			 end++)
			;
		if (find_from_both_ends(paths, &paths->pairs[first], end - first, 1) < end - first)
			break;
	}
	emogi_task_pairs_free(&paths->search);
	if (first == paths->npairs)
	{
		emogi_task_pairs_record(&paths->search);
		return true;
	}
	keys = emogi_pair_query_keys(graph, paths->overlay, paths->task->form, paths->pairs,
								 paths->npairs);
	paths->overlay = paths->found.overlay = NULL;
	paths->found.npaths = paths->found.nsteps = 0;
	if (!emogi_task_reopen(paths->call, paths->task, view))
	{
		paths->call = NULL;
		return true;
	}
	paths->npairs = emogi_pair_query_renumber(graph, paths->task->form, keys, paths->npairs,
											  paths->pairs);
	paths->npairs = emogi_pair_query_sort(graph, NULL, paths->pairs, paths->npairs);
	return false;
}

/* ---- rows ---- */

/* Put the rows of a path into the call's tuplestore. */
static void
put_path(FunctionCallInfo fcinfo, const Paths *paths, uint64 path, MemoryContext context)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	const uint64 length = emogi_path_steps_length(&paths->found, path);

	for (uint64 i = 0; i < length; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(context);
		Datum		values[2 + EMOGI_STEP_COLUMNS];
		bool		nulls[2 + EMOGI_STEP_COLUMNS] = {false};

		values[0] = emogi_rows_overlay_vertex(paths->task->form, paths->graph, paths->overlay,
											  paths->ends[path].from);
		values[1] = emogi_rows_overlay_vertex(paths->task->form, paths->graph, paths->overlay,
											  paths->ends[path].to);
		emogi_path_steps_fill(&paths->found, path, i, values + 2, nulls + 2);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
	}
	paths->call->record.nrows += length;
}

/* Put all rows. */
static void
put_rows(FunctionCallInfo fcinfo, const Paths *paths)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "emogi row",
												  ALLOCSET_SMALL_SIZES);

	for (uint64 i = 0; i < paths->found.npaths; i++)
	{
		CHECK_FOR_INTERRUPTS();
		put_path(fcinfo, paths, i, context);
	}
	MemoryContextDelete(context);
}

/* Read the arguments: graph, sources, targets, direction, or graph, pairs, direction. */
static void
read_arguments(FunctionCallInfo fcinfo, EmogiTask *task)
{
	const bool	has_pairs = !OidIsValid(get_element_type(get_fn_expr_argtype(fcinfo->flinfo, 1)));

	emogi_arguments_begin(fcinfo, EMOGI_SSSP, task);
	if (has_pairs)
		emogi_arguments_pairs(fcinfo, 1, task);
	else
		emogi_arguments_sources_and_targets(fcinfo, task);
	task->direction = emogi_arguments_direction(fcinfo, has_pairs ? 2 : 3, EMOGI_OUT);
	task->with_backward = true;
	task->collects = EMOGI_COLLECTS_PATHS;
}

/*
 * emogi_shortest_paths(graph, sources, targets, direction) -> setof (source, target, seq, vertex,
 * edge, cost, distance)
 */
Datum
emogi_shortest_paths(PG_FUNCTION_ARGS)
{
	EmogiTask	task;
	EmogiGraphView view;
	Paths		paths = {.task = &task,.graph = &view.graph,
		.found = {.task = &task,.graph = &view.graph}};
	MemoryContext old;

	emogi_compat_init_rows(fcinfo);
	read_arguments(fcinfo, &task);
	paths.call = emogi_task_open(fcinfo->flinfo->fn_oid, &task, emogi_answer_is_local_enabled(),
								 &view);
	emogi_task_notice_sets(&task, view.overlay, paths.call != NULL ? &view.graph : NULL);
	if (paths.call == NULL)
		return (Datum) 0;
	old = emogi_path_steps_enter();
	paths.overlay = paths.found.overlay = view.overlay;
	find_pairs(&paths);
	if (view.overlay == NULL || !search_with_overlay(&paths, &view))
		find_paths(&paths);
	if (paths.call == NULL)
	{
		emogi_path_steps_leave(old);
		return (Datum) 0;
	}
	emogi_path_steps_name(&paths.found);
	emogi_call_phase(paths.call, EMOGI_PHASE_ROWS);
	put_rows(fcinfo, &paths);
	emogi_call_end(paths.call);
	emogi_path_steps_leave(old);
	return (Datum) 0;
}
