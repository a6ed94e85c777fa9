/*
 * batch_call.c: the call of a batch: its graph, its searches, and the memory it keeps between them
 *
 * The call has a slot only during a request, and keeps its memory in between as a held result; if
 * the query pauses (a cursor), and the graph and the answers are small, it copies them to backend
 * memory. Sources are searched from one by one if a pass cannot represent the levels (more than 254
 * of them, or no memory for 64 answers), and if a GPU is requested. Aggregates are always computed
 * for many searches at once, by the engine that runs on this graph.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "pgstat.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "answer/answer.h"
#include "answer/cost.h"
#include "scan_node/batch.h"
#include "base/arena.h"

/* End the call. */
void
emogi_batch_close(EmogiBatchState *batch)
{
	EmogiCall  *call = batch->scan.call;

	batch->scan.call = NULL;
	batch->is_open = batch->is_checked = batch->task.is_collected = false;
	batch->graph_copy = batch->answer_copy = NULL;
	if (call == NULL)
		return;
	emogi_scan_add_to_total(&batch->scan, call);
	emogi_call_end(call);
}

/*
 * Choose the number of sources per request. For aggregates they are always searched from together,
 * because that needs no memory.
 */
static void
choose_passes(EmogiBatchState *batch)
{
	int			nsources;

	batch->in_passes = true;
	batch->max_sources = batch->max_rows;
	memset(&batch->single, 0, sizeof batch->single);
	memset(&batch->passed, 0, sizeof batch->passed);
	if (batch->nsums > 0)
		return;

	nsources = emogi_answer_batch_sources(batch->scan.graph.nvertices,
										  batch->task.query.max_depth, EMOGI_MSBFS_SOURCES,
										  emogi_arena_budget_bytes() / EMOGI_COST_BATCH_SHARE);
	batch->in_passes = nsources > 0;
	batch->max_sources = Max(nsources, 1);
}

/* Set the levels of each search that are aggregated. */
static void
bound_sums(EmogiBatchState *batch)
{
	const EmogiRange *range = &batch->scan.ranges.of[0];
	EmogiQuery *query = &batch->task.query;

	if (!range->given)
		return;
	batch->task.no_rows |= range->max < 0 || range->min > range->max;
	query->first_level = (uint32) Min(Max(range->min, 0), PG_UINT32_MAX);
	if (query->max_depth < 0 || range->max < query->max_depth)
		query->max_depth = Max(range->max, 0);
}

/*
 * Allocate the answer of a pass over this graph, for the maximum number of sources. Only if rows
 * are returned.
 */
static void
allocate_answer(EmogiBatchState *batch)
{
	EmogiScan  *scan = &batch->scan;
	const uint64 nvertices = scan->graph.nvertices;
	const int64 max_depth = batch->task.query.max_depth;
	uint64		scratch_bytes = emogi_msbfs_scratch_bytes(nvertices, max_depth);

	batch->passed.memory_bytes = emogi_msbfs_bytes(nvertices, batch->max_sources, max_depth);
	batch->passed.memory = emogi_call_alloc_any(scan->call, batch->passed.memory_bytes);
	batch->passed.scratch = NULL;
	if (scratch_bytes <= emogi_arena_budget_bytes() / EMOGI_COST_BATCH_SHARE)
		batch->passed.scratch = emogi_call_alloc(scan->call, scratch_bytes);
}

/* ---- releasing resources between searches ---- */

/* Relocate a graph to another block to which it was copied. It is no longer a cached graph. */
static void
move_graph(EmogiGraph *graph, const void *block)
{
	emogi_graph_relocate(graph, block);
	graph->id = 0;
}

/* Get the answer that rows are currently read from, and its size. */
static void *
answer_at_hand(EmogiBatchState *batch, Size *bytes)
{
	*bytes = batch->in_passes ? batch->passed.used_bytes :
		batch->scan.graph.nvertices * sizeof *batch->single.columns[0].int32;
	return batch->in_passes ? batch->passed.memory : batch->single.columns[0].int32;
}

/* Replace the current answer. */
static void
set_answer(EmogiBatchState *batch, void *answer)
{
	if (batch->in_passes)
		batch->passed.memory = answer;
	else
		batch->single.columns[0].int32 = answer;
}

/*
 * While no rows are requested, keep nothing in shared memory if the graph and the answer are small;
 * otherwise keep no slot.
 */
static void
pause_batch(void *arg)
{
	EmogiBatchState *batch = arg;
	EmogiScan  *scan = &batch->scan;
	Size		bytes;
	void	   *answer = answer_at_hand(batch, &bytes);
	MemoryContext old;

	if (batch->answer_copy != NULL)
		return;
	if (answer == NULL || scan->graph.memory == NULL || scan->graph.dictionary != NULL ||
		scan->graph.memory_bytes + bytes > EMOGI_COPIED_BYTES)
	{
		(void) emogi_call_release_slot(scan->call);
		return;
	}
	old = MemoryContextSwitchTo(scan->run_context);
	if (batch->graph_copy == NULL)
		batch->graph_copy = memcpy(palloc(scan->graph.memory_bytes), scan->graph.memory,
								   scan->graph.memory_bytes);
	batch->answer_copy = memcpy(palloc(Max(bytes, 1)), answer, bytes);
	MemoryContextSwitchTo(old);
	move_graph(&scan->graph, batch->graph_copy);
	set_answer(batch, batch->answer_copy);
	emogi_call_release_shared(scan->call);
}

/*
 * Get a slot for the next search, and copy the graph back into the arena if necessary. The previous
 * answer is discarded.
 */
static void
get_ready(EmogiBatchState *batch)
{
	EmogiScan  *scan = &batch->scan;
	void	   *block;

	emogi_call_take_slot(scan->call);
	emogi_call_phase(scan->call, EMOGI_PHASE_RUN);
	if (batch->answer_copy == NULL)
		return;
	block = emogi_call_alloc_any(scan->call, scan->graph.memory_bytes);
	memcpy(block, batch->graph_copy, scan->graph.memory_bytes);
	move_graph(&scan->graph, block);
	pfree(batch->answer_copy);
	batch->answer_copy = NULL;
	if (batch->in_passes)
		allocate_answer(batch);
	else
		batch->single.columns[0].int32 = NULL;
}

/* Release the slot after a search, or before the first. */
static void
give_back_slot(EmogiBatchState *batch)
{
	emogi_call_phase(batch->scan.call, EMOGI_PHASE_ROWS);
	(void) emogi_call_release_slot(batch->scan.call);
}

/* ---- start ---- */

/* Compute an input of the scan, in the current context. */
static NullableDatum
compute(EmogiBatchState *batch, int input)
{
	const EmogiInput *given = &batch->scan.inputs[input];
	NullableDatum datum;

	if (given->constant != NULL)
		return (NullableDatum) {given->constant->constvalue, given->constant->constisnull};
	datum.value = ExecEvalExpr(given->state, batch->scan.css.ss.ps.ps_ExprContext, &datum.isnull);
	return datum;
}

/*
 * Read the arguments of the call, with the first source, into the task, and let its graph be one of
 * the edges near all sources.
 */
static void
read_task(EmogiBatchState *batch, const Datum *sources, int nsources)
{
	EmogiScan  *scan = &batch->scan;
	EmogiTask  *task = &batch->task;

	for (int i = 0; i < scan->fcinfo->nargs; i++)
		scan->fcinfo->args[i] = scan->inputs[i].value;
	scan->fcinfo->args[1].isnull = nsources == 0;
	if (nsources > 0)
		scan->fcinfo->args[1].value = datumCopy(sources[0], scan->inputs[1].by_value,
												scan->inputs[1].length);
	emogi_arguments_read(scan->fcinfo, scan->function->algorithm, task);
	emogi_inputs_apply_conditions(scan, task);
	task->collects = EMOGI_COLLECTS_WALKS;
	task->collection_cost = batch->collection_cost;
	if (nsources > 0)
	{
		task->sources.datums = palloc(nsources * sizeof *sources);
		memcpy(task->sources.datums, sources, nsources * sizeof *sources);
		task->sources.count = nsources;
	}
}

/*
 * Begin the call for the sources of outer rows: read its arguments and get the graph. Without
 * sources, only check the arguments and permissions, as a separate run would. batch->task tells
 * whether the graph serves only these sources.
 */
void
emogi_batch_open(EmogiBatchState *batch, const Datum *sources, int nsources)
{
	EmogiScan  *scan = &batch->scan;
	PgStat_FunctionCallUsage usage;
	MemoryContext old;
	EmogiGraphView view;
	Oid			table = InvalidOid;

	MemoryContextReset(scan->run_context);
	old = MemoryContextSwitchTo(scan->run_context);
	for (int i = 0; i < scan->ninputs; i++)
		if (i != 1 && i != scan->vertex_input)
			scan->inputs[i].value = compute(batch, i);
	read_task(batch, sources, nsources);
	if (batch->nsums > 0)
		bound_sums(batch);
	batch->task.table = &table;
	pgstat_init_function_usage(scan->fcinfo, &usage);
	scan->call = emogi_task_open(scan->flinfo.fn_oid, &batch->task, false, &view);
	scan->graph = view.graph;
	pgstat_end_function_usage(&usage, true);
	batch->task.table = NULL;
	batch->collection_cost = batch->task.collection_cost;
	scan->form = batch->task.form;
	emogi_scan_open_tables(scan, table);
	if (scan->call != NULL)
	{
		choose_passes(batch);
		if (batch->nsums == 0 && batch->in_passes)
			allocate_answer(batch);
		scan->call->rest = pause_batch;
		scan->call->rest_arg = batch;
		give_back_slot(batch);
	}
	MemoryContextSwitchTo(old);
	batch->is_checked = true;
	batch->is_open = nsources > 0;
	scan->nruns += nsources > 0;
}

/* ---- the searches ---- */

/*
 * Search from all current sources in one request; if that is not possible, switch to one by one
 * from now on.
 */
void
emogi_batch_search_all(EmogiBatchState *batch)
{
	EmogiScan  *scan = &batch->scan;

	get_ready(batch);
	if (batch->nsums > 0)
		emogi_task_sums(scan->call, &batch->task, &scan->graph, batch->sources, batch->nsearches,
						batch->found);
	else
	{
		emogi_task_batch(scan->call, &batch->task, &scan->graph, batch->sources, batch->nsearches,
						 &batch->passed);
		batch->in_passes = !batch->passed.too_deep;
	}
	give_back_slot(batch);
}

/* Search from one source, unless it is the current search. */
void
emogi_batch_search_one(EmogiBatchState *batch, int search)
{
	EmogiScan  *scan = &batch->scan;
	EmogiTask	task = batch->task;
	int64		key = scan->graph.ids[batch->sources[search]];

	if (batch->searched == search)
		return;
	batch->searched = search;
	task.keys = &key;
	task.nkeys = 1;
	get_ready(batch);
	(void) emogi_task_query(scan->call, &task, &scan->graph, &batch->single);
	give_back_slot(batch);
}
