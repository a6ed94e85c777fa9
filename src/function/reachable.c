/*
 * reachable.c: emogi_reachable(graph, pairs, direction) -> setof (source, target, reachable
 * boolean): whether a path exists, for each distinct pair that a query returns.
 *
 * If the graph has a contraction hierarchy, that is asked, unless many targets share a source.
 * Otherwise pairs are first searched one by one from both ends, as long as that pays
 * (task_pairs.c): in a graph, or in an older one with its overlay, which must then serve all pairs
 * or none. The remaining pairs are searched in batches.
 *
 * A batch is a multi-source BFS (msbfs.h), as for searches in LATERAL. Otherwise each source has
 * its own BFS, which ends at the level of its last target. The latter is faster in a deep graph,
 * where concurrent searches share little. So the first source is searched alone, and batches follow
 * once the single searches indicate that these cost less. If there are far fewer targets than
 * sources, and the backward lists exist, searches start from the targets, against the edges.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "answer/cost.h"
#include "function/function.h"
#include "function/rows.h"
#include "base/compat.h"
#include "base/limits.h"

PG_FUNCTION_INFO_V1(emogi_reachable);

typedef struct Reachability
{
	EmogiTask  *task;
	EmogiCall  *call;
	const EmogiGraph *graph;
	const EmogiOverlay *overlay;	/* changes since the graph was built; NULL = none */
	EmogiVertexPair *pairs;		/* [npairs], ascending and distinct */
	uint64		npairs;
	/* pairs are (target, source), and the graph's lists are reversed */
	bool		is_reversed;
	bool	   *found;			/* [npairs] */
	uint64		nsearched;		/* the first pairs, which were searched from both ends */
	bool		used_hierarchy; /* for one of them */
	EmogiResult result;			/* of searches from one source */
	EmogiMsbfsSingles singles;	/* searches from one source */
	double		singles_ms;
	int			max_sources;	/* sources per batch; 0 = no batches */
	double		batch_ms;		/* time of the last batch; 0 = there was none */
	EmogiMsbfsResult batch;
} Reachability;

/* Return the end of the run of pairs that share the source of pair `first`. */
static uint64
end_of_source(const Reachability *state, uint64 first)
{
	uint64		end = first + 1;

	while (end < state->npairs && state->pairs[end].from == state->pairs[first].from)
		end++;
	return end;
}

/* Count the distinct sources of the pairs that were not searched from both ends. */
static uint64
count_sources(const Reachability *state)
{
	uint64		count = 0;

	for (uint64 first = state->nsearched; first < state->npairs;
		 first = end_of_source(state, first))
		count++;
	return count;
}

/* Swap source and target of each pair. */
static void
reverse_pairs(Reachability *state)
{
	for (uint64 i = 0; i < state->npairs; i++)
		state->pairs[i] = (EmogiVertexPair) {state->pairs[i].to, state->pairs[i].from};
	state->npairs = emogi_pair_query_sort(state->graph, NULL, state->pairs, state->npairs);
}

/*
 * Search from the targets, against the edges, if there are far fewer of them and the graph has
 * backward lists.
 */
static void
reverse_if_cheaper(Reachability *state, EmogiGraph *graph)
{
	const EmogiAdjacency forward = graph->forward;
	const uint64 nsources = count_sources(state);

	if (graph->backward.offsets == NULL)
		return;
	reverse_pairs(state);
	if (count_sources(state) * EMOGI_COST_BATCH_REVERSE > nsources)
	{
		reverse_pairs(state);
		return;
	}
	graph->forward = graph->backward;
	graph->backward = forward;
	state->is_reversed = true;
}

/* ---- from both ends ---- */

/* Find out about a pair by a local search, or by the hierarchy of the graph. */
static bool
find_by_hierarchy(Reachability *state, const EmogiPairSearch *search, const EmogiVertexPair *pair,
				  EmogiLocalPath *path)
{
	const EmogiPathCost max = {EMOGI_COST_LOCAL_BEFORE_HIERARCHY, PG_UINT64_MAX};
	EmogiPathCost cost;
	bool		reaches;

	if (search->may_search &&
		emogi_local_search_path_between(state->call, NULL, state->graph, pair->from, pair->to, &max,
										path, &cost))
	{
		pfree(path->vertices);
		pfree(path->distance);
		return true;
	}
	if (!emogi_hierarchy_search_reaches(state->call, state->graph, pair->from, pair->to, &reaches))
		return false;
	state->used_hierarchy = true;
	path->length = reaches;
	return true;
}

/*
 * Begin a group of pairs of one source, from the next one on; return its end. *by_hierarchy:
 * whether the graph's hierarchy is asked first.
 */
static uint64
begin_group(const Reachability *state, EmogiPairSearch *search, bool *by_hierarchy)
{
	const uint64 end = end_of_source(state, state->nsearched);
	const uint64 count = end - state->nsearched;

	*by_hierarchy = state->overlay == NULL &&
		emogi_hierarchy_search_reaching_is_cheaper(state->call, state->graph, count);
	emogi_pair_budget_group(&search->budget, count, 1);
	return end;
}

/* Search the first pairs from both ends, as long as that pays. */
static void
search_pairs(Reachability *state, EmogiPairSearch *search)
{
	EmogiLocalPath path;
	uint64		group_end = 0;
	bool		by_hierarchy = false;

	state->found = palloc_extended(Max(state->npairs, 1) * sizeof(bool),
								   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	emogi_task_pairs_begin(search, state->call, state->task, state->graph);
	search->overlay = state->overlay;
	emogi_pair_budget_run(&search->budget, state->npairs,
						  emogi_pair_budget_batches(count_sources(state)));
	for (; state->nsearched < state->npairs; state->nsearched++)
	{
		const EmogiVertexPair *pair = &state->pairs[state->nsearched];

		CHECK_FOR_INTERRUPTS();
		if (state->nsearched == group_end)
			group_end = begin_group(state, search, &by_hierarchy);
		if (!(by_hierarchy && find_by_hierarchy(state, search, pair, &path)) &&
			!emogi_task_pairs_find(search, pair->from, pair->to, &path))
			break;
		state->found[state->nsearched] = path.length > 0;
	}
	if (state->used_hierarchy)
		strlcpy(state->call->record.engine, "hierarchy", sizeof state->call->record.engine);
	emogi_task_pairs_free(search);
}

/* ---- one by one ---- */

/* Search from the source of pairs first .. end-1, until all their targets are reached. */
static void
search_one(Reachability *state, uint64 first, uint64 end)
{
	const double start_ms = emogi_pool_now_ms();
	EmogiTask	task = *state->task;
	int64	   *keys = palloc_extended((end - first + 1) * sizeof *keys, MCXT_ALLOC_HUGE);
	bool		has_run;

	keys[0] = emogi_overlay_key(state->graph, NULL, state->pairs[first].from);
	for (uint64 i = first; i < end; i++)
		keys[i - first + 1] = emogi_overlay_key(state->graph, NULL, state->pairs[i].to);
	task.has_sources = task.has_targets = true;
	task.pairs = NULL;
	task.keys = keys;
	task.nkeys = 1;
	task.targets = keys + 1;
	task.ntargets = end - first;
	has_run = emogi_task_query(state->call, &task, state->graph, &state->result);
	for (uint64 i = first; has_run && i < end; i++)
		state->found[i] = state->result.columns[0].int32[state->pairs[i].to] >= 0;
	pfree(keys);
	emogi_msbfs_note_single(&state->singles, state->result.nlevels,
							state->result.edges_traversed);
	state->singles_ms += emogi_pool_now_ms() - start_ms;
}

/* ---- batches ---- */

/* Choose the number of sources per batch. */
static void
choose_batch(Reachability *state)
{
	state->max_sources =
		emogi_answer_batch_sources(state->graph->nvertices, -1,
								   (int) Min(count_sources(state), EMOGI_MSBFS_SOURCES),
								   emogi_limits_allowed_bytes() / EMOGI_COST_BATCH_SHARE);
}

/* Allocate the result of batches, once. */
static void
alloc_batch(Reachability *state)
{
	if (state->batch.memory != NULL)
		return;
	state->batch.memory_bytes = emogi_msbfs_bytes(state->graph->nvertices, state->max_sources, -1);
	state->batch.memory = emogi_call_alloc_any(state->call, state->batch.memory_bytes);
}

/*
 * Mark the targets of pairs first .. end-1 that a source of a batch has reached; both are
 * ascending.
 */
static void
mark_reached(Reachability *state, int source, uint64 first, uint64 end)
{
	EmogiMsbfsCursor cursor = {0};
	uint32		vertex;
	uint32		level;

	emogi_msbfs_skip_to(&state->batch, source, &cursor, state->pairs[first].to);
	while (first < end && emogi_msbfs_next(&state->batch, source, &cursor, &vertex, &level))
	{
		while (first < end && state->pairs[first].to < vertex)
			first++;
		if (first < end && state->pairs[first].to == vertex)
			state->found[first++] = true;
		if (first < end)
			emogi_msbfs_skip_to(&state->batch, source, &cursor, state->pairs[first].to);
	}
}

/* Search a batch of sources, from pair `first` on; return the first pair of the next batch. */
static uint64
search_batch(Reachability *state, uint64 first)
{
	uint64		starts[EMOGI_MSBFS_SOURCES + 1];
	uint32		sources[EMOGI_MSBFS_SOURCES] = {0};
	const double start_ms = emogi_pool_now_ms();
	int			nsources = 0;

	for (starts[0] = first; nsources < state->max_sources && starts[nsources] < state->npairs;
		 nsources++)
	{
		sources[nsources] = state->pairs[starts[nsources]].from;
		starts[nsources + 1] = end_of_source(state, starts[nsources]);
	}
	alloc_batch(state);
	emogi_task_batch(state->call, state->task, state->graph, sources, nsources, &state->batch);
	if (state->batch.too_deep)
	{
		state->max_sources = 0;
		return first;
	}
	for (int s = 0; s < nsources; s++)
	{
		CHECK_FOR_INTERRUPTS();
		mark_reached(state, s, starts[s], starts[s + 1]);
	}
	state->batch_ms = emogi_pool_now_ms() - start_ms;
	return starts[nsources];
}

/* ---- all pairs ---- */

/* Count the sources of pairs from `first` on, up to the number of a batch. */
static uint64
count_batch(const Reachability *state, uint64 first)
{
	uint64		count = 0;

	for (; first < state->npairs && count < (uint64) state->max_sources; count++)
		first = end_of_source(state, first);
	return count;
}

/* Decide whether the next sources, from pair `first` on, are likely to cost less as a batch. */
static bool
batch_is_cheaper(const Reachability *state, uint64 first)
{
	const uint64 nsources = count_batch(state, first);

	if (nsources < EMOGI_COST_BATCH_MIN_SOURCES || state->singles.count == 0)
		return false;
	if (state->batch_ms < EMOGI_COST_BATCH_LONG_MS)
		return emogi_msbfs_is_cheaper(state->graph->nvertices, nsources, &state->singles);
	return state->batch_ms < state->singles_ms / state->singles.count * nsources;
}

/* Search all pairs. */
static void
find_reached(Reachability *state)
{
	EmogiPairSearch search;
	uint64		first;
	uint64		end;

	search_pairs(state, &search);
	first = state->nsearched;
	choose_batch(state);
	for (; first < state->npairs; first = end)
	{
		CHECK_FOR_INTERRUPTS();
		if (batch_is_cheaper(state, first))
		{
			end = search_batch(state, first);
			continue;
		}
		end = end_of_source(state, first);
		search_one(state, first, end);
	}
	emogi_task_pairs_end_run(&search, state->nsearched < state->npairs);
	emogi_task_pairs_record(&search);
}

/*
 * Search all pairs in a graph with an overlay. If that does not serve all of them, return false,
 * with the pairs renumbered for the current graph. If that has no edge any more, end the call and
 * set it to NULL.
 */
static bool
search_with_overlay(Reachability *state, EmogiGraphView *view)
{
	const EmogiGraph *graph = &view->graph;
	EmogiPairSearch search;
	Datum	   *keys;

	search_pairs(state, &search);
	if (state->nsearched == state->npairs)
	{
		emogi_task_pairs_record(&search);
		return true;
	}
	keys = emogi_pair_query_keys(graph, state->overlay, state->task->form, state->pairs,
								 state->npairs);
	pfree(state->found);
	state->overlay = NULL;
	state->nsearched = 0;
	if (!emogi_task_reopen(state->call, state->task, view))
	{
		state->call = NULL;
		return true;
	}
	state->npairs = emogi_pair_query_renumber(graph, state->task->form, keys, state->npairs,
											  state->pairs);
	state->npairs = emogi_pair_query_sort(graph, NULL, state->pairs, state->npairs);
	pfree(keys);
	return false;
}

/* Put all rows. */
static void
put_rows(FunctionCallInfo fcinfo, const Reachability *state)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "emogi row",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	EmogiKeyIO  *form = state->task->form;
	bool		nulls[3] = {false};

	for (uint64 i = 0; i < state->npairs; i++)
	{
		const EmogiVertexPair pair = state->pairs[i];
		Datum		values[] = {
			emogi_rows_overlay_vertex(form, state->graph, state->overlay,
									  state->is_reversed ? pair.to : pair.from),
			emogi_rows_overlay_vertex(form, state->graph, state->overlay,
									  state->is_reversed ? pair.from : pair.to),
			BoolGetDatum(state->found[i])
		};

		CHECK_FOR_INTERRUPTS();
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	state->call->record.nrows = state->npairs;
}

/* emogi_reachable(graph, pairs, direction) -> setof (source, target, reachable) */
Datum
emogi_reachable(PG_FUNCTION_ARGS)
{
	EmogiTask	task;
	EmogiGraphView view;
	Reachability state = {.task = &task,.graph = &view.graph};

	emogi_compat_init_rows(fcinfo);
	emogi_arguments_begin(fcinfo, EMOGI_BFS, &task);
	task.graph.reads_names = false;
	emogi_arguments_pairs(fcinfo, 1, &task);
	task.direction = emogi_arguments_direction(fcinfo, 2, EMOGI_OUT);
	task.with_backward = true;
	task.collects = EMOGI_COLLECTS_PATHS;
	state.call = emogi_task_open(fcinfo->flinfo->fn_oid, &task, emogi_answer_is_local_enabled(),
								 &view);
	if (state.call == NULL)
		return (Datum) 0;
	state.overlay = view.overlay;
	state.pairs = emogi_pair_query_read(&view.graph, view.overlay, &task, &state.npairs);
	state.npairs = emogi_pair_query_sort(state.graph, view.overlay, state.pairs, state.npairs);
	if (view.overlay == NULL || !search_with_overlay(&state, &view))
	{
		reverse_if_cheaper(&state, &view.graph);
		find_reached(&state);
	}
	if (state.call == NULL)
		return (Datum) 0;
	emogi_call_phase(state.call, EMOGI_PHASE_ROWS);
	put_rows(fcinfo, &state);
	emogi_call_end(state.call);
	pfree(state.found);		/* the context is not reset while a cursor over the rows is open */
	pfree(state.pairs);
	return (Datum) 0;
}
