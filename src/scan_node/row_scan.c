/*
 * row_scan.c: scans whose rows are not plain vertices
 *
 * A cursor finds the rows in the result of the run (function/cursor.h), by the conditions that are
 * pushed down to the scan. Unused columns are not computed. The run and its memory are managed as
 * for all scans (scan.c). A single process reads the rows.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "utils/memutils.h"

#include "scan_node/scan.h"

/* Get the numbers of the vertices selected by a condition, for a cursor. */
static const uint32 *
find_numbers(EmogiScan *scan, uint64 *nnumbers)
{
	uint32	   *numbers;

	if (scan->keys_context == NULL)
		scan->keys_context = AllocSetContextCreate(scan->css.ss.ps.state->es_query_cxt,
												   "emogi keys", ALLOCSET_SMALL_SIZES);
	else if (!scan->looks_up)
		MemoryContextReset(scan->keys_context); /* otherwise it was reset before, and contains the
												 * keys */
	numbers = MemoryContextAllocExtended(scan->keys_context, Max(scan->nkeys, 1) * sizeof *numbers,
										 MCXT_ALLOC_HUGE);
	*nnumbers = 0;
	for (uint64 i = 0; i < scan->nkeys; i++)
	{
		const uint32 v = emogi_graph_vertex(&scan->graph, scan->keys[i]);

		if (v != EMOGI_NO_VERTEX)
			numbers[(*nnumbers)++] = v;
	}
	return numbers;
}

/* Make a cursor over all rows of the current run. */
static EmogiRowCursor *
make_cursor(EmogiScan *scan)
{
	EmogiRowCursor *cursor = palloc0(sizeof *cursor);

	cursor->kind = scan->kind;
	cursor->form = scan->form;
	cursor->graph = &scan->graph;
	cursor->result = &scan->result;
	cursor->query = &scan->query;
	return cursor;
}

/* Position the cursor before the first requested row. */
static void
place_cursor(EmogiScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->rows_context);
	const bool	is_new = scan->cursor == NULL;
	EmogiRowCursor *cursor = is_new ? make_cursor(scan) : scan->cursor;

	cursor->wanted = 0;
	for (int i = 0; i < scan->ncolumns; i++)
		cursor->wanted |= 1U << scan->columns[i];
	memcpy(cursor->ranges, scan->ranges.of, sizeof cursor->ranges);
	cursor->nulls = scan->nulls;
	cursor->keys = scan->keys != NULL ? find_numbers(scan, &cursor->nkeys) : NULL;
	if (is_new)
		emogi_cursor_begin(cursor);
	else
		emogi_cursor_rewind(cursor);
	scan->cursor = cursor;
	MemoryContextSwitchTo(old);
}

/* ---- the rows ---- */

/* Start to return rows. */
static void
start(EmogiScan *scan)
{
	emogi_scan_run(scan);
	if (scan->call != NULL)
		place_cursor(scan);
	scan->started = true;
}

/* Store the columns of the current row into the slot. */
static inline void
put_row(const EmogiScan *scan, TupleTableSlot *slot)
{
	for (int i = 0; i < scan->ncolumns; i++)
		slot->tts_values[i] = emogi_cursor_datum(scan->cursor, scan->columns[i],
												 &slot->tts_isnull[i]);
}

/* Store a row whose keys may be by reference: they are valid until the next row. */
static void
put_row_of_keys(EmogiScan *scan, TupleTableSlot *slot)
{
	ExprContext *context = scan->css.ss.ps.ps_ExprContext;
	MemoryContext old = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);

	if (scan->css.ss.ps.qual == NULL && scan->css.ss.ps.ps_ProjInfo == NULL)
		ResetExprContext(context);	/* otherwise emogi_scan_next does */
	put_row(scan, slot);
	MemoryContextSwitchTo(old);
}

/* Return the next row, or an empty slot. */
static TupleTableSlot *
next_row(ScanState *state)
{
	EmogiScan  *scan = (EmogiScan *) state;
	TupleTableSlot *slot = state->ss_ScanTupleSlot;

	if (unlikely(!scan->started))
		start(scan);
	ExecClearTuple(slot);
	if (scan->call == NULL)
		return slot;
	if (!emogi_cursor_next(scan->cursor))
	{
		if (!scan->keeps)
			emogi_call_finish(scan->call, scan->is_copied ? NULL : &scan->call);
		return slot;
	}
	if (scan->form->kind == EMOGI_KEY_IO_INTEGER)
		put_row(scan, slot);
	else
		put_row_of_keys(scan, slot);
	scan->call->record.nrows++;
	return ExecStoreVirtualTuple(slot);
}

/* Return the next row that passes the remaining conditions. */
static TupleTableSlot *
exec_row_scan(CustomScanState *node)
{
	return emogi_scan_next(node, next_row);
}

/* ---- start and end ---- */

static void
begin_row_scan(CustomScanState *node, EState *estate, int eflags)
{
	EmogiScan  *scan = (EmogiScan *) node;
	const List *order = list_nth(((CustomScan *) node->ss.ps.plan)->custom_private,
								 EMOGI_PLAN_ORDER);

	emogi_scan_init(scan, eflags);
	if (order != NIL)
		scan->order = linitial_oid(order);
}

const CustomExecMethods emogi_row_scan_methods = {
	.CustomName = "EmogiScan",
	.BeginCustomScan = begin_row_scan,
	.ExecCustomScan = exec_row_scan,
	.EndCustomScan = emogi_scan_end,
	.ReScanCustomScan = emogi_scan_rescan_rows,
	.ExplainCustomScan = emogi_explain_scan
};
