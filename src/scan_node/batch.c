/*
 * batch.c: execution of BFS for each row of an outer plan, many at a time (lateral.c plans it)
 *
 * One call with one graph serves all outer rows (batch_call.c). EMOGI_MSBFS_SOURCES of them are
 * read ahead; a single pass over the graph searches from all their sources, each distinct one once.
 * Then the outer rows are joined, in their order, with the vertices that their sources reached. If
 * the graph only has the edges near the sources that were read ahead, the next rows have another
 * call.
 *
 * If only aggregates are needed, EMOGI_BATCH_ROWS are read ahead, within work_mem. This delays no
 * output, because the Agg above reads all rows before it returns one.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "scan_node/batch.h"

/* ---- outer rows ---- */

/* Compute an input of the scan; its value is valid until the next row. */
static NullableDatum
compute_for_row(EmogiBatchState *batch, int input)
{
	NullableDatum datum;

	datum.value = emogi_input_evaluate(&batch->scan.inputs[input], batch->scan.css.ss.ps.ps_ExprContext,
									   &datum.isnull);
	return datum;
}

/* Copy the outer row from the scan tuple to the result slot, where it stays while it is joined. */
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

/* Store an outer row in the scan tuple. */
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

/* The search from one source */
typedef struct Search
{
	uint32		source;			/* hash key */
	int			index;
} Search;

/* Request a search from this vertex for an outer row; return the search's index. */
static int
request_search(EmogiBatchState *batch, uint32 source)
{
	bool		found;
	Search	   *search = hash_search(batch->searches, &source, HASH_ENTER, &found);

	if (!found)
	{
		search->index = batch->nsearches++;
		batch->sources[search->index] = source;
	}
	return search->index;
}

/* Add an outer row to those read ahead, with its source. */
static void
read_outer(EmogiBatchState *batch, TupleTableSlot *outer)
{
	EmogiScan  *scan = &batch->scan;
	EmogiOuterRow   *row = &batch->rows[batch->nread++];
	MemoryContext old;

	load_outer(batch, outer);
	ResetExprContext(scan->css.ss.ps.ps_ExprContext);
	row->source = compute_for_row(batch, 1);
	old = MemoryContextSwitchTo(batch->rows_context);
	row->tuple = ExecCopySlotMinimalTuple(outer);
	if (!row->source.isnull)
		row->source.value = datumCopy(row->source.value, scan->inputs[1].by_value,
									  scan->inputs[1].length);
	MemoryContextSwitchTo(old);
}

/* Open the call for the sources of the rows that have not been searched from. */
static void
open_call(EmogiBatchState *batch)
{
	Datum	   *sources = MemoryContextAlloc(batch->rows_context,
											 (batch->nread - batch->nrows) * sizeof *sources);
	int			nsources = 0;

	for (int i = batch->nrows; i < batch->nread; i++)
		if (!batch->rows[i].source.isnull)
			sources[nsources++] = batch->rows[i].source.value;
	if (nsources == 0 && batch->is_checked)
		return;
	ExecForceStoreMinimalTuple(batch->rows[batch->nrows].tuple, batch->outer_slot, false);
	load_outer(batch, batch->outer_slot);
	emogi_batch_open(batch, sources, nsources);
}

/* Add the next row to those that are searched from. */
static void
add_outer(EmogiBatchState *batch)
{
	EmogiScan  *scan = &batch->scan;
	EmogiOuterRow   *row = &batch->rows[batch->nrows++];
	uint32		number = EMOGI_NO_VERTEX;
	Datum		key;
	MemoryContext old;

	row->search = -1;
	if (row->source.isnull || batch->task.no_rows)
		return;
	ResetExprContext(scan->css.ss.ps.ps_ExprContext);
	old = MemoryContextSwitchTo(scan->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	key = emogi_key_io_input(scan->form, row->source.value);
	if (scan->call != NULL)
		number = emogi_graph_vertex(&scan->graph, emogi_key_io_find(scan->form, &scan->graph, key));
	if (number == EMOGI_NO_VERTEX)
	{
		if (scan->call != NULL)
			(void) emogi_vertices_refuse_array("source", scan->form, &scan->graph, key,
											   EMOGI_ARITY_MANY);
		emogi_vertices_notice_missing("source", batch->task.form, key);
	}
	else
		row->search = request_search(batch, number);
	MemoryContextSwitchTo(old);
}

/* Clear the searches. */
static void
clear_searches(EmogiBatchState *batch)
{
	HASHCTL		control = {.keysize = sizeof(uint32),.entrysize = sizeof(Search),
						   .hcxt = batch->rows_context};

	batch->searches = hash_create("emogi searches", EMOGI_MSBFS_SOURCES, &control,
								  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	batch->nsearches = 0;
	batch->searched = -1;
}

/*
 * May another outer row be read ahead? Rows beyond those of one pass are limited by work_mem. If
 * sources are searched from one by one, rows are not read ahead.
 */
static bool
may_read(const EmogiBatchState *batch)
{
	if (batch->outer_ended || batch->nread >= batch->max_rows ||
		(batch->nread > 0 && batch->is_open && batch->nread >= batch->max_sources))
		return false;
	return batch->nread < EMOGI_MSBFS_SOURCES ||
		MemoryContextMemAllocated(batch->rows_context, true) < (Size) work_mem * 1024;
}

/* Read as many outer rows as possible, after all that were read have been joined. */
static void
read_rows(EmogiBatchState *batch)
{
	MemoryContextReset(batch->rows_context);
	batch->nread = batch->nrows = 0;
	batch->current = -1;
	if (batch->task.is_collected)
		emogi_batch_close(batch);
	while (may_read(batch))
	{
		TupleTableSlot *outer = ExecProcNode(batch->outer);

		if (TupIsNull(outer))
			batch->outer_ended = true;
		else
			read_outer(batch, outer);
	}
}

/*
 * Search from the sources of the next outer rows, reading them if necessary; return false if there
 * are none left.
 */
static bool
search_ahead(EmogiBatchState *batch)
{
	if (batch->nrows == batch->nread)
		read_rows(batch);
	if (batch->nread == 0)
		return false;
	clear_searches(batch);
	if (!batch->is_open)
		open_call(batch);
	while (batch->nrows < batch->nread &&
		   (batch->nsearches == 0 || batch->nsearches < batch->max_sources))
		add_outer(batch);
	if (batch->nsearches > 0 && batch->in_passes)
		emogi_batch_search_all(batch);
	return true;
}

/* Advance to the next outer row; return false if there are none left. */
bool
emogi_batch_next_outer(EmogiBatchState *batch)
{
	EmogiScan  *scan = &batch->scan;
	const EmogiOuterRow *row;

	if (batch->current + 1 >= batch->nrows &&
		((batch->outer_ended && batch->nrows == batch->nread) || !search_ahead(batch)))
		return false;
	row = &batch->rows[++batch->current];
	ExecForceStoreMinimalTuple(row->tuple, batch->outer_slot, false);
	load_outer(batch, batch->outer_slot);
	batch->position = batch->key_position = 0;
	batch->nunpacked = batch->taken = 0;
	memset(&batch->cursor, 0, sizeof batch->cursor);
	if (row->search < 0)
		return true;
	memset(batch->scan.css.ss.ss_ScanTupleSlot->tts_isnull + batch->nouter, 0,
		   scan->ncolumns * sizeof(bool));
	if (batch->from != NULL)
		place_outer(batch);
	if (scan->vertex_input >= 0)
	{
		ResetExprContext(scan->css.ss.ps.ps_ExprContext);
		emogi_inputs_look_up(scan, compute_for_row(batch, scan->vertex_input));
	}
	if (!batch->in_passes)
		emogi_batch_search_one(batch, row->search);
	return true;
}

/* ---- rows ---- */

/*
 * Get the next vertex >= min that the current row's source reached; return false if there is none.
 */
static bool
next_reached(EmogiBatchState *batch, uint64 min, uint32 *v, uint32 *level)
{
	EmogiScan  *scan = &batch->scan;
	int			search = batch->rows[batch->current].search;

	if (batch->in_passes)
	{
		if (min > 0)
			emogi_msbfs_skip_to(&batch->passed, search, &batch->cursor, min);
		while (emogi_msbfs_next(&batch->passed, search, &batch->cursor, v, level))
			if (*v >= min)
				return true;
		return false;
	}
	batch->position = emogi_rows_next(scan->function->columns, &batch->single,
									  Max(batch->position, min), scan->graph.nvertices);
	if (batch->position >= scan->graph.nvertices)
		return false;
	*v = (uint32) batch->position++;
	*level = (uint32) batch->single.columns[0].int32[*v];
	return true;
}

/* Like next_reached for all vertices, but unpack several at a time. */
static inline bool
next_of_all(EmogiBatchState *batch, uint32 *v, uint32 *level)
{
	if (batch->taken == batch->nunpacked)
	{
		batch->nunpacked = emogi_msbfs_next_batch(&batch->passed,
												  batch->rows[batch->current].search,
												  &batch->cursor, batch->vertices, batch->levels);
		batch->taken = 0;
		if (batch->nunpacked == 0)
			return false;
	}
	*v = batch->vertices[batch->taken];
	*level = batch->levels[batch->taken++];
	return true;
}

/* Get the next vertex to return for the current row; return false if there is none. */
static bool
next_wanted(EmogiBatchState *batch, uint32 *v, uint32 *level)
{
	EmogiScan  *scan = &batch->scan;

	if (batch->current < 0 || batch->rows[batch->current].search < 0)
		return false;
	if (scan->keys == NULL)
		return batch->in_passes ? next_of_all(batch, v, level) : next_reached(batch, 0, v, level);
	while (batch->key_position < scan->nkeys)
	{
		uint32		wanted = emogi_graph_vertex(&scan->graph, scan->keys[batch->key_position++]);

		if (wanted == EMOGI_NO_VERTEX)
			continue;
		if (!next_reached(batch, wanted, v, level))
			return false;
		if (*v == wanted)
			return true;
		/* the vertex found may be a later key */
		while (batch->key_position < scan->nkeys &&
			   scan->graph.ids[*v] > scan->keys[batch->key_position])
			batch->key_position++;
		if (batch->key_position < scan->nkeys &&
			scan->graph.ids[*v] == scan->keys[batch->key_position])
		{
			batch->key_position++;
			return true;
		}
	}
	return false;
}

/* Store a vertex in the row that is returned. */
static inline void
put_vertex(EmogiBatchState *batch, uint32 v)
{
	EmogiScan  *scan = &batch->scan;
	MemoryContext old;

	if (scan->form->kind == EMOGI_KEY_IO_INTEGER)
	{
		*batch->vertex_value = Int64GetDatum(scan->graph.ids[v]);
		return;
	}
	if (batch->vertex_value == &batch->unused)
		return;
	MemoryContextReset(batch->vertex_context);
	old = MemoryContextSwitchTo(batch->vertex_context);
	*batch->vertex_value = emogi_rows_vertex(scan->form, &scan->graph, v);
	MemoryContextSwitchTo(old);
}

/* End the call after the last outer row; return the slot, empty. */
TupleTableSlot *
emogi_batch_end_rows(EmogiBatchState *batch, TupleTableSlot *slot)
{
	emogi_batch_close(batch);
	batch->nread = batch->nrows = 0;	/* further calls return no rows either */
	batch->current = -1;
	return ExecClearTuple(slot);
}

/* Return the next joined row that passes the quals. */
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
			if (emogi_batch_next_outer(batch))
				continue;
			return emogi_batch_end_rows(batch, node->ss.ps.ps_ProjInfo != NULL ?
										node->ss.ps.ps_ResultTupleSlot : slot);
		}
		if (batch->from != NULL && TTS_EMPTY(node->ss.ps.ps_ResultTupleSlot))
			place_outer(batch); /* the caller cleared the slot after the last row */
		put_vertex(batch, v);
		*batch->level_value = Int32GetDatum((int32) level);
		scan->call->record.nrows++;
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

/* ---- startup and shutdown ---- */

/*
 * Decide whether rows are stored directly in the result slot. This requires that there is no qual,
 * and that every result column is a column of the scan tuple. Each of the function's columns may
 * occur only once, because it is written to one place.
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

/* Find where to store vertex and level. */
static void
find_values(EmogiBatchState *batch)
{
	TupleTableSlot *slot = batch->from != NULL ? batch->scan.css.ss.ps.ps_ResultTupleSlot :
		batch->scan.css.ss.ss_ScanTupleSlot;

	batch->vertex_value = batch->level_value = &batch->unused;
	for (int i = 0; i < slot->tts_tupleDescriptor->natts; i++)
	{
		int			column = (batch->from != NULL ? batch->from[i] : i) - batch->nouter;

		if (column >= 0)
			*(batch->scan.columns[column] == 0 ? &batch->vertex_value :
			  &batch->level_value) = &slot->tts_values[i];
	}
}

/* Discard the current outer rows. */
static void
forget_rows(EmogiBatchState *batch)
{
	batch->outer_ended = false;
	batch->nread = batch->nrows = batch->nsearches = 0;
	batch->collection_cost = 0;
	batch->current = batch->searched = -1;
}

/*
 * Initialize a batch that reads at most most_rows outer rows ahead, except for how it returns rows.
 */
void
emogi_batch_begin(CustomScanState *node, EState *estate, int eflags, int max_rows)
{
	EmogiBatchState *batch = (EmogiBatchState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;

	batch->outer = ExecInitNode(linitial(plan->custom_plans), estate, eflags);
	node->custom_ps = list_make1(batch->outer);
	emogi_scan_init(&batch->scan, eflags);
	batch->scan.looks_up = batch->scan.vertex_input >= 0;
	batch->scan.is_batch = true;
	batch->nouter = intVal(list_nth(plan->custom_private, EMOGI_PLAN_NOUTER));
	batch->outer_slot = ExecInitExtraTupleSlot(estate, ExecGetResultType(batch->outer),
											   &TTSOpsMinimalTuple);
	batch->max_rows = max_rows;
	batch->rows = palloc(max_rows * sizeof *batch->rows);
	batch->sources = palloc(max_rows * sizeof *batch->sources);
	batch->rows_context = AllocSetContextCreate(CurrentMemoryContext, "emogi outer rows",
												ALLOCSET_DEFAULT_SIZES);
	forget_rows(batch);
}

/* Initialize a batch that returns rows. */
static void
begin_batch(CustomScanState *node, EState *estate, int eflags)
{
	EmogiBatchState *batch = (EmogiBatchState *) node;

	emogi_batch_begin(node, estate, eflags, EMOGI_MSBFS_SOURCES);
	choose_direct(batch, (CustomScan *) node->ss.ps.plan);
	find_values(batch);
	batch->vertex_context = AllocSetContextCreate(CurrentMemoryContext, "emogi vertex",
												  ALLOCSET_SMALL_SIZES);
}

/* End a batch. */
void
emogi_batch_end(CustomScanState *node)
{
	emogi_batch_close((EmogiBatchState *) node);
	emogi_scan_close_tables(&((EmogiBatchState *) node)->scan);
	ExecEndNode(((EmogiBatchState *) node)->outer);
}

/* Rescan from the first row, perhaps with other parameters. */
void
emogi_batch_rescan(CustomScanState *node)
{
	EmogiBatchState *batch = (EmogiBatchState *) node;

	emogi_batch_close(batch);
	forget_rows(batch);
	emogi_scan_rescan_outer(node, batch->outer);
}

/*
 * Show a batch in EXPLAIN. An open call is added to the totals only for the output, because it may
 * continue if more rows are requested.
 */
void
emogi_batch_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	EmogiScan  *scan = &((EmogiBatchState *) node)->scan;
	EmogiCallRecord *closed = scan->total;
	EmogiCallRecord total;

	if (scan->call != NULL)
	{
		if (closed != NULL)
			total = *closed;
		emogi_scan_add_to_total(scan, scan->call);
	}
	emogi_explain_scan(node, ancestors, es);
	if (scan->call != NULL && closed != NULL)
		*closed = total;
	scan->total = closed;
}

static const CustomExecMethods exec_methods = {
	.CustomName = "EmogiBatch",
	.BeginCustomScan = begin_batch,
	.ExecCustomScan = exec_batch,
	.EndCustomScan = emogi_batch_end,
	.ReScanCustomScan = emogi_batch_rescan,
	.ExplainCustomScan = emogi_batch_explain
};

/* Create the state of a batch. */
static Node *
create_batch_state(CustomScan *plan)
{
	EmogiBatchState *batch = (EmogiBatchState *) newNode(sizeof(EmogiBatchState),
														 T_CustomScanState);

	batch->scan.css.methods = &exec_methods;
	return (Node *) batch;
}

const CustomScanMethods emogi_batch_methods = {.CustomName = "EmogiBatch",
											   .CreateCustomScanState = create_batch_state};
