/*
 * batch.c: BFS for each row of an outer plan, EMOGI_BATCH_SOURCES of them at once, carried out (lateral.c plans it).
 *
 * One call, with one Graph, lasts for all outer rows. So many of them are read ahead; a single pass over the Graph searches
 * from all their sources, each distinct one once; then the outer rows are joined in their order with what each of their
 * sources has reached. The call has a slot for each pass only, and keeps what it needs in between as a holding; when the query
 * stops for a while (a cursor), and Graph and answers are small, in memory of its own. Where a pass cannot tell the levels
 * (more than 254 of them, or no memory for 64 answers), and where the GPU was asked for, the sources are searched from one by
 * one.
 */
#include "stream.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"

/* The answers of one pass may take this share of the budget of the Region. */
#define ANSWER_SHARE 8

/* Fewer sources than these in one pass gain nothing. */
#define LEAST_SOURCES 8

/* Outer rows that wait to be joined. */
typedef struct OuterRow
{
	MinimalTuple tuple;			/* in the batch's context */
	int			search;			/* index of the search from its source; -1 = there is none */
} OuterRow;

typedef struct EmogiBatchState
{
	EmogiScan	scan;			/* its inputs are the arguments, of which the source is computed for each outer row */
	PlanState  *outer;
	int			nouter;			/* columns of the outer plan, first in the scan tuple */
	TupleTableSlot *outer_slot;
	Datum	   *vertex_value;	/* where the tuple that is returned, or filtered, has them, or `unused` */
	Datum	   *level_value;
	Datum		unused;
	int		   *from;			/* [columns of the result], columns of the scan tuple, when rows are returned without a look at
								 * anything else; NULL = filtered and projected */

	/* the call */
	bool		is_open;
	bool		is_checked;		/* a row without a source has seen to the arguments and rights */
	bool		in_passes;		/* not one by one */
	EmogiTask	task;
	int			most_sources;	/* in one pass */
	EmogiBatchResult passed;
	EmogiResult single;			/* of the one search at hand, one by one */
	int			searched;		/* its index; -1 = there is none */
	void	   *graph_copy;		/* the block of the Graph in memory of our own, once it was put there; NULL = it was not */
	void	   *answer_copy;	/* likewise of the answer at hand; not NULL: the call has nothing in shared memory */

	/* the outer rows at hand */
	MemoryContext rows_context;
	bool		outer_ended;
	int			nrows;
	int			current;		/* -1 = none is entered yet */
	OuterRow	rows[EMOGI_BATCH_SOURCES];
	int			nsearches;
	uint32		sources[EMOGI_BATCH_SOURCES];	/* vertex numbers, distinct */

	/* what of the current row is still to come */
	EmogiBatchCursor cursor;	/* in passes */
	int			nunpacked;		/* vertices that the cursor has passed, and nobody has taken yet, when all are wanted */
	int			taken;			/* of them */
	uint32		vertices[EMOGI_BATCH_VERTICES];
	uint32		levels[EMOGI_BATCH_VERTICES];
	uint64		position;		/* one by one: vertex number */
	uint64		key_position;
} EmogiBatchState;

/* ---- the call ---- */

/* End the call. */
static void
close_call(EmogiBatchState *batch)
{
	EmogiCall  *call = batch->scan.call;

	batch->scan.call = NULL;
	batch->is_open = batch->is_checked = false;
	batch->graph_copy = batch->answer_copy = NULL;
	if (call == NULL)
		return;
	emogi_scan_add_to_total(&batch->scan, call);
	emogi_call_end(call);
}

/* Decide how many sources are searched from in one pass, if there are passes. */
static void
choose_passes(EmogiBatchState *batch)
{
	const uint64 nvertices = batch->scan.graph.nvertices;
	const uint64 allowed = emogi_region_budget_bytes() / ANSWER_SHARE;
	int			nsources = EMOGI_BATCH_SOURCES;

	while (nsources >= LEAST_SOURCES && emogi_batch_bytes(nvertices, nsources, batch->task.query.max_depth) > allowed)
		nsources /= 2;
	batch->in_passes = nsources >= LEAST_SOURCES && emogi_engine != EMOGI_ENGINE_CUDA;
	batch->most_sources = batch->in_passes ? nsources : 1;
	memset(&batch->single, 0, sizeof batch->single);
	memset(&batch->passed, 0, sizeof batch->passed);
}

/* Allocate what a pass over this Graph answers into, for as many sources as there may be. */
static void
allocate_answer(EmogiBatchState *batch)
{
	EmogiScan  *scan = &batch->scan;
	const uint64 nvertices = scan->graph.nvertices;
	const int64 max_depth = batch->task.query.max_depth;
	uint64		scratch_bytes = emogi_batch_scratch_bytes(nvertices, max_depth);

	batch->passed.memory_bytes = emogi_batch_bytes(nvertices, batch->most_sources, max_depth);
	batch->passed.memory = emogi_call_alloc_any(scan->call, batch->passed.memory_bytes);
	batch->passed.scratch = NULL;
	if (scratch_bytes <= emogi_region_budget_bytes() / ANSWER_SHARE)
		batch->passed.scratch = emogi_call_alloc(scan->call, scratch_bytes);
}

/* ---- giving back what is not needed, and getting it again ---- */

/* Have a Graph stand in another block, to which it was copied. It is no cached one any more. */
static void
move_graph(EmogiGraph *graph, const void *block)
{
	emogi_graph_move(graph, block);
	graph->id = 0;
}

/* Get what rows are read from at present, and its bytes. */
static void *
answer_at_hand(EmogiBatchState *batch, Size *bytes)
{
	*bytes = batch->in_passes ? batch->passed.used_bytes : batch->scan.graph.nvertices * sizeof *batch->single.level;
	return batch->in_passes ? batch->passed.memory : batch->single.level;
}

/* Put an answer in the place of the one at hand. */
static void
set_answer(EmogiBatchState *batch, void *answer)
{
	if (batch->in_passes)
		batch->passed.memory = answer;
	else
		batch->single.level = answer;
}

/* Keep nothing in shared memory while no rows are asked for, if what is needed is small; else no slot. */
static void
rest_batch(void *arg)
{
	EmogiBatchState *batch = arg;
	EmogiScan  *scan = &batch->scan;
	Size		bytes;
	void	   *answer = answer_at_hand(batch, &bytes);
	MemoryContext old;

	if (batch->answer_copy != NULL)
		return;
	if (answer == NULL || scan->graph.memory == NULL || scan->graph.memory_bytes + bytes > EMOGI_COPIED_BYTES)
	{
		(void) emogi_call_hold(scan->call);
		return;
	}
	old = MemoryContextSwitchTo(scan->run_context);
	if (batch->graph_copy == NULL)
		batch->graph_copy = memcpy(palloc(scan->graph.memory_bytes), scan->graph.memory, scan->graph.memory_bytes);
	batch->answer_copy = memcpy(palloc(Max(bytes, 1)), answer, bytes);
	MemoryContextSwitchTo(old);
	move_graph(&scan->graph, batch->graph_copy);
	set_answer(batch, batch->answer_copy);
	emogi_call_leave(scan->call);
}

/* Get a slot for the next search, and what was given back into the Region. What the last one answered is forgotten. */
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
		batch->single.level = NULL;
}

/* Give the slot back after a search, or before the first. */
static void
give_back_slot(EmogiBatchState *batch)
{
	emogi_call_phase(batch->scan.call, EMOGI_PHASE_ROWS);
	(void) emogi_call_hold(batch->scan.call);
}

/* ---- beginning ---- */

/* Compute an input of the scan, in the current context. */
static NullableDatum
compute(EmogiBatchState *batch, int input)
{
	NullableDatum datum;

	datum.value = ExecEvalExpr(batch->scan.inputs[input].state, batch->scan.css.ss.ps.ps_ExprContext, &datum.isnull);
	return datum;
}

/* Compute an input of the scan that lasts until the next row. */
static NullableDatum
compute_for_row(EmogiBatchState *batch, int input)
{
	MemoryContext old = MemoryContextSwitchTo(batch->scan.css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	NullableDatum datum = compute(batch, input);

	MemoryContextSwitchTo(old);
	return datum;
}

/*
 * Begin the call, with the first outer row that has a source: read its arguments and get the Graph. A row without a source
 * has the arguments and rights checked and no more, as it would in a run of its own.
 */
static void
open_call(EmogiBatchState *batch, bool has_source)
{
	EmogiScan  *scan = &batch->scan;
	PgStat_FunctionCallUsage usage;
	MemoryContext old;
	Oid			table = InvalidOid;

	MemoryContextReset(scan->run_context);
	old = MemoryContextSwitchTo(scan->run_context);
	for (int i = 0; i < scan->ninputs; i++)
		if (i != 1 && i != scan->vertex_input)
			scan->inputs[i].value = compute(batch, i);
	for (int i = 0; i < scan->fcinfo->nargs; i++)
		scan->fcinfo->args[i] = scan->inputs[i].value;
	scan->fcinfo->args[1].value = Int64GetDatum(0);
	scan->fcinfo->args[1].isnull = !has_source;
	scan->function->read(scan->fcinfo, &batch->task);
	emogi_scan_apply_conditions(scan, &batch->task);
	batch->task.table = &table;
	pgstat_init_function_usage(scan->fcinfo, &usage);
	scan->call = emogi_run_open(scan->flinfo.fn_oid, &batch->task, &scan->graph);
	pgstat_end_function_usage(&usage, true);
	batch->task.table = NULL;
	emogi_scan_open_tables(scan, table);
	if (scan->call != NULL)
	{
		choose_passes(batch);
		if (batch->in_passes)
			allocate_answer(batch);
		scan->call->rest = rest_batch;
		scan->call->rest_arg = batch;
		give_back_slot(batch);
	}
	MemoryContextSwitchTo(old);
	batch->is_checked = true;
	batch->is_open = has_source;
	scan->nruns += has_source;
}

/* ---- the searches ---- */

/* Search from all sources at hand in one pass; when that cannot be, get ready to go one by one from now on. */
static void
search_in_one_pass(EmogiBatchState *batch)
{
	EmogiScan  *scan = &batch->scan;

	get_ready(batch);
	emogi_run_batch(scan->call, &batch->task, &scan->graph, batch->sources, batch->nsearches, &batch->passed);
	batch->in_passes = !batch->passed.too_deep;
	give_back_slot(batch);
}

/* Search from one source, unless that is the search at hand. */
static void
search_alone(EmogiBatchState *batch, int search)
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
	(void) emogi_run_query(scan->call, &task, &scan->graph, &batch->single);
	give_back_slot(batch);
}

/* ---- outer rows ---- */

/* Put the outer row in the scan tuple into the result, where it stays while there are rows to join with it. */
static void
place_outer(EmogiBatchState *batch)
{
	TupleTableSlot *slot = batch->scan.css.ss.ss_ScanTupleSlot;
	TupleTableSlot *result = batch->scan.css.ss.ps.ps_ResultTupleSlot;

	ExecClearTuple(result);
	for (int i = 0; i < result->tts_tupleDescriptor->natts; i++)
	{
		result->tts_values[i] = slot->tts_values[batch->from[i]];
		result->tts_isnull[i] = batch->from[i] < batch->nouter && slot->tts_isnull[batch->from[i]];
	}
	ExecStoreVirtualTuple(result);
}

/* Put an outer row into the scan tuple. */
static void
load_outer(EmogiBatchState *batch, TupleTableSlot *from)
{
	TupleTableSlot *slot = batch->scan.css.ss.ss_ScanTupleSlot;

	slot_getallattrs(from);
	ExecClearTuple(slot);
	memcpy(slot->tts_values, from->tts_values, batch->nouter * sizeof(Datum));
	memcpy(slot->tts_isnull, from->tts_isnull, batch->nouter * sizeof(bool));
	for (int i = 0; i < batch->scan.ncolumns; i++)
		slot->tts_isnull[batch->nouter + i] = true;
	ExecStoreVirtualTuple(slot);
	batch->scan.css.ss.ps.ps_ExprContext->ecxt_scantuple = slot;
}

/* Note that an outer row wants a search from this vertex; get the search's index. */
static int
want_search(EmogiBatchState *batch, uint32 source)
{
	for (int i = 0; i < batch->nsearches; i++)
		if (batch->sources[i] == source)
			return i;
	batch->sources[batch->nsearches] = source;
	return batch->nsearches++;
}

/* Take in one outer row. */
static void
take_outer(EmogiBatchState *batch, TupleTableSlot *outer)
{
	EmogiScan  *scan = &batch->scan;
	OuterRow   *row = &batch->rows[batch->nrows++];
	MemoryContext old = MemoryContextSwitchTo(batch->rows_context);
	NullableDatum source;
	uint32		number = EMOGI_NO_VERTEX;

	row->tuple = ExecCopySlotMinimalTuple(outer);
	MemoryContextSwitchTo(old);
	load_outer(batch, outer);
	ResetExprContext(scan->css.ss.ps.ps_ExprContext);
	source = compute_for_row(batch, 1);
	if (!batch->is_open && !(source.isnull && batch->is_checked))
		open_call(batch, !source.isnull);
	if (!source.isnull && scan->call != NULL && !batch->task.no_rows)
		number = emogi_vertex_number(&scan->graph, DatumGetInt64(source.value));
	if (!source.isnull && number == EMOGI_NO_VERTEX && !batch->task.no_rows)
		emogi_notice_missing("source", DatumGetInt64(source.value));
	row->search = number != EMOGI_NO_VERTEX ? want_search(batch, number) : -1;
}

/* Read ahead as many outer rows as there can be, and search from all their sources; false when there are none left. */
static bool
read_ahead(EmogiBatchState *batch)
{
	MemoryContextReset(batch->rows_context);
	batch->nrows = batch->nsearches = 0;
	batch->current = batch->searched = -1;
	while (!batch->outer_ended && batch->nrows < EMOGI_BATCH_SOURCES &&
		   (batch->nrows == 0 || batch->nsearches < batch->most_sources))
	{
		TupleTableSlot *outer = ExecProcNode(batch->outer);

		if (TupIsNull(outer))
			batch->outer_ended = true;
		else
			take_outer(batch, outer);
	}
	if (batch->nsearches > 0 && batch->in_passes)
		search_in_one_pass(batch);
	return batch->nrows > 0;
}

/* Go on to the next outer row; false when there are none left. */
static bool
next_outer(EmogiBatchState *batch)
{
	EmogiScan  *scan = &batch->scan;
	const OuterRow *row;

	if (batch->current + 1 >= batch->nrows)
	{
		if (batch->outer_ended || !read_ahead(batch))
			return false;
	}
	row = &batch->rows[++batch->current];
	ExecForceStoreMinimalTuple(row->tuple, batch->outer_slot, false);
	load_outer(batch, batch->outer_slot);
	batch->position = batch->key_position = 0;
	batch->nunpacked = batch->taken = 0;
	memset(&batch->cursor, 0, sizeof batch->cursor);
	if (row->search < 0)
		return true;
	memset(batch->scan.css.ss.ss_ScanTupleSlot->tts_isnull + batch->nouter, 0, scan->ncolumns * sizeof(bool));
	if (batch->from != NULL)
		place_outer(batch);
	if (scan->vertex_input >= 0)
	{
		ResetExprContext(scan->css.ss.ps.ps_ExprContext);
		emogi_scan_set_keys(scan, compute_for_row(batch, scan->vertex_input));
	}
	if (!batch->in_passes)
		search_alone(batch, row->search);
	return true;
}

/* ---- rows ---- */

/* Get the next vertex from `least` on that the current row's source has reached; false when there is none. */
static bool
next_reached(EmogiBatchState *batch, uint64 least, uint32 *v, uint32 *level)
{
	EmogiScan  *scan = &batch->scan;
	int			search = batch->rows[batch->current].search;

	if (batch->in_passes)
	{
		if (least > 0)
			emogi_batch_skip_to(&batch->passed, search, &batch->cursor, least);
		while (emogi_batch_next(&batch->passed, search, &batch->cursor, v, level))
			if (*v >= least)
				return true;
		return false;
	}
	batch->position = scan->rows->next(&batch->single, Max(batch->position, least), scan->graph.nvertices);
	if (batch->position >= scan->graph.nvertices)
		return false;
	*v = (uint32) batch->position++;
	*level = (uint32) batch->single.level[*v];
	return true;
}

/* The same, of all that it has reached: some of them are unpacked at a time. */
static inline bool
next_of_all(EmogiBatchState *batch, uint32 *v, uint32 *level)
{
	if (batch->taken == batch->nunpacked)
	{
		batch->nunpacked = emogi_batch_fill(&batch->passed, batch->rows[batch->current].search, &batch->cursor, batch->vertices,
											batch->levels);
		batch->taken = 0;
		if (batch->nunpacked == 0)
			return false;
	}
	*v = batch->vertices[batch->taken];
	*level = batch->levels[batch->taken++];
	return true;
}

/* Get the next vertex of the current row that is wanted; false when there is none. */
static bool
next_wanted(EmogiBatchState *batch, uint32 *v, uint32 *level)
{
	EmogiScan  *scan = &batch->scan;

	if (batch->current < 0 || batch->rows[batch->current].search < 0)
		return false;
	if (scan->vertex_input < 0)
		return batch->in_passes ? next_of_all(batch, v, level) : next_reached(batch, 0, v, level);
	while (batch->key_position < scan->nkeys)
	{
		uint32		wanted = emogi_vertex_number(&scan->graph, scan->keys[batch->key_position++]);

		if (wanted == EMOGI_NO_VERTEX)
			continue;
		if (!next_reached(batch, wanted, v, level))
			return false;
		if (*v == wanted)
			return true;
		/* what was found may be a later key */
		while (batch->key_position < scan->nkeys && scan->graph.ids[*v] > scan->keys[batch->key_position])
			batch->key_position++;
		if (batch->key_position < scan->nkeys && scan->graph.ids[*v] == scan->keys[batch->key_position])
		{
			batch->key_position++;
			return true;
		}
	}
	return false;
}

/* Return the next joined row that the conditions let pass. */
static TupleTableSlot *
exec_batch(CustomScanState *node)
{
	EmogiBatchState *batch = (EmogiBatchState *) node;
	EmogiScan  *scan = &batch->scan;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	ExprContext *context = node->ss.ps.ps_ExprContext;
	uint32		v;
	uint32		level;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (!next_wanted(batch, &v, &level))
		{
			if (next_outer(batch))
				continue;
			close_call(batch);
			batch->nrows = 0;	/* whoever asks again is told the same */
			batch->current = -1;
			return ExecClearTuple(node->ss.ps.ps_ProjInfo != NULL ? node->ss.ps.ps_ResultTupleSlot : slot);
		}
		if (batch->from != NULL && TTS_EMPTY(node->ss.ps.ps_ResultTupleSlot))
			place_outer(batch); /* whoever read the last row has cleared it */
		*batch->vertex_value = Int64GetDatum(scan->graph.ids[v]);
		*batch->level_value = Int32GetDatum((int32) level);
		scan->call->run.nrows++;
		if (batch->from != NULL)
			return node->ss.ps.ps_ResultTupleSlot;
		ResetExprContext(context);
		context->ecxt_scantuple = slot;
		if (!ExecQual(node->ss.ps.qual, context))
		{
			InstrCountFiltered1(node, 1);
			continue;
		}
		return node->ss.ps.ps_ProjInfo != NULL ? ExecProject(node->ss.ps.ps_ProjInfo) : slot;
	}
}

/* ---- beginning and end ---- */

/*
 * Rows are returned directly when there is nothing to filter, and every column of the result is one of the scan tuple; of
 * the function's each at most once, as it has one place to be written to.
 */
static void
choose_direct(EmogiBatchState *batch, CustomScan *plan)
{
	PlanState  *ps = &batch->scan.css.ss.ps;
	Bitmapset  *met = NULL;
	int			natts = 0;
	ListCell   *cell;

	if (ps->qual != NULL || ps->ps_ProjInfo == NULL)
		return;
	batch->from = palloc(Max(list_length(plan->scan.plan.targetlist), 1) * sizeof *batch->from);
	foreach(cell, plan->scan.plan.targetlist)
	{
		Var		   *var = (Var *) lfirst_node(TargetEntry, cell)->expr;

		if (!IsA(var, Var) || var->varno != INDEX_VAR || var->varattno < 1 ||
			(var->varattno > batch->nouter && bms_is_member(var->varattno, met)))
		{
			pfree(batch->from);
			batch->from = NULL;
			return;
		}
		met = bms_add_member(met, var->varattno);
		batch->from[natts++] = var->varattno - 1;
	}
}

/* Find where vertex and level are to be written. */
static void
find_values(EmogiBatchState *batch)
{
	TupleTableSlot *slot = batch->from != NULL ? batch->scan.css.ss.ps.ps_ResultTupleSlot : batch->scan.css.ss.ss_ScanTupleSlot;

	batch->vertex_value = batch->level_value = &batch->unused;
	for (int i = 0; i < slot->tts_tupleDescriptor->natts; i++)
	{
		int			column = (batch->from != NULL ? batch->from[i] : i) - batch->nouter;

		if (column >= 0)
			*(batch->scan.columns[column] == 0 ? &batch->vertex_value : &batch->level_value) = &slot->tts_values[i];
	}
}

/* Forget the outer rows at hand. */
static void
forget_rows(EmogiBatchState *batch)
{
	batch->outer_ended = false;
	batch->nrows = batch->nsearches = 0;
	batch->current = batch->searched = -1;
}

static void
begin_batch(CustomScanState *node, EState *estate, int eflags)
{
	EmogiBatchState *batch = (EmogiBatchState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;

	batch->outer = ExecInitNode(linitial(plan->custom_plans), estate, eflags);
	node->custom_ps = list_make1(batch->outer);
	emogi_scan_init(&batch->scan, eflags);
	batch->scan.looks_up = batch->scan.vertex_input >= 0;
	batch->nouter = intVal(lfourth(plan->custom_private));
	choose_direct(batch, plan);
	find_values(batch);
	batch->outer_slot = ExecInitExtraTupleSlot(estate, ExecGetResultType(batch->outer), &TTSOpsMinimalTuple);
	batch->rows_context = AllocSetContextCreate(CurrentMemoryContext, "emogi outer rows", ALLOCSET_DEFAULT_SIZES);
	forget_rows(batch);
}

static void
end_batch(CustomScanState *node)
{
	close_call((EmogiBatchState *) node);
	emogi_scan_close_tables(&((EmogiBatchState *) node)->scan);
	ExecEndNode(((EmogiBatchState *) node)->outer);
}

/* Come back to the first row, perhaps with other parameters. */
static void
rescan_batch(CustomScanState *node)
{
	EmogiBatchState *batch = (EmogiBatchState *) node;

	close_call(batch);
	forget_rows(batch);
	if (node->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(batch->outer, node->ss.ps.chgParam);
	if (batch->outer->chgParam == NULL)
		ExecReScan(batch->outer);
}

/* Show a batch in EXPLAIN. A call that is still open has not been added up yet, and goes on: whoever asks may want more rows. */
static void
explain_batch(CustomScanState *node, List *ancestors, ExplainState *es)
{
	EmogiScan  *scan = &((EmogiBatchState *) node)->scan;
	EmogiRunEntry total = scan->total;

	if (scan->call != NULL)
		emogi_scan_add_to_total(scan, scan->call);
	emogi_explain_scan(node, ancestors, es);
	scan->total = total;
}

static const CustomExecMethods exec_methods = {
	.CustomName = "EmogiBatch",
	.BeginCustomScan = begin_batch,
	.ExecCustomScan = exec_batch,
	.EndCustomScan = end_batch,
	.ReScanCustomScan = rescan_batch,
	.ExplainCustomScan = explain_batch
};

/* Make the state of a batch. */
static Node *
create_batch_state(CustomScan *plan)
{
	EmogiBatchState *batch = (EmogiBatchState *) newNode(sizeof(EmogiBatchState), T_CustomScanState);

	batch->scan.css.methods = &exec_methods;
	return (Node *) batch;
}

const CustomScanMethods emogi_batch_methods = {.CustomName = "EmogiBatch",.CreateCustomScanState = create_batch_state};
