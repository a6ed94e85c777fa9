/*
 * stream.c: scans whose rows are vertices
 *
 * The run starts when the first row is requested, or before parallel workers are launched that will
 * request rows (shared_rows.c). Then rows are read from the result on demand, or single vertices
 * are looked up; unused columns are not read.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "scan_node/call_expr.h"
#include "scan_node/scan.h"

/* rows between the steps of a prefetch */
#define PREFETCH_ROWS 8

/* ---- the rows ---- */

/*
 * Start to return rows. If they are shared with parallel workers, the run was made before those
 * were launched.
 */
static void
start(EmogiScan *scan)
{
	if (scan->share == NULL)
		emogi_scan_run(scan);
	scan->position = scan->end = scan->mask_first = scan->mask_end = 0;
	if (scan->top != NULL && scan->call != NULL)
		emogi_topk_select(scan);
	scan->started = true;
}

/* Advance to the next chunk of vertices; return false if there is none left. */
static bool
take_piece(EmogiScan *scan)
{
	uint64		first = scan->share != NULL ? emogi_shared_rows_next(scan) : scan->end;

	CHECK_FOR_INTERRUPTS();
	if (first >= scan->graph.nvertices)
		return false;
	scan->position = first;
	scan->end = Min(first + EMOGI_PIECE_VERTICES, scan->graph.nvertices);
	return true;
}

/* Get the first vertex of [v, end) that has a row in the ranges; `end` if there is none. */
static uint64
next_in_ranges(EmogiScan *scan, uint64 v, uint64 end)
{
	while (v < end)
	{
		const uint8 *found;

		if (v < scan->mask_first || v >= scan->mask_end)
		{
			scan->mask_first = v;
			scan->mask_end = Min(v + EMOGI_BLOCK_VERTICES, end);
			(void) emogi_ranges_select(&scan->ranges, scan->function->columns, &scan->result, v,
									   (uint32) (scan->mask_end - v), scan->mask);
		}
		found = memchr(scan->mask + (v - scan->mask_first), 1, Min(scan->mask_end, end) - v);
		if (found != NULL)
			return scan->mask_first + (uint64) (found - scan->mask);
		v = scan->mask_end;
	}
	return end;
}

/*
 * Find the next vertex that has a row, checking for interrupts from time to time; return false if
 * there is none.
 */
static bool
next_vertex(EmogiScan *scan, uint64 *v)
{
	for (;;)
	{
		if (scan->ranges.given)
			*v = next_in_ranges(scan, scan->position, scan->end);
		else
			*v = emogi_rows_next(scan->function->columns, &scan->result, scan->position, scan->end);
		if (*v < scan->end)
		{
			scan->position = *v + 1;
			return true;
		}
		scan->position = scan->end;
		if (!take_piece(scan))
			return false;
	}
}

/* Find the next of the keys that has a row; return false if there is none. */
static bool
next_key(EmogiScan *scan, uint64 *v)
{
	while (scan->position < scan->nkeys)
	{
		uint32		number = emogi_graph_vertex(&scan->graph, scan->keys[scan->position++]);

		*v = number;
		if (number != EMOGI_NO_VERTEX && emogi_scan_has_row(scan, number))
			return true;
	}
	return false;
}

/* Find the next member of the component that has a row; return false if there is none. */
static bool
next_member(EmogiScan *scan, uint64 *v)
{
	while (scan->member != EMOGI_NO_VERTEX)
	{
		CHECK_FOR_INTERRUPTS();
		*v = scan->member;
		scan->member = scan->members[*v];
		if (emogi_scan_has_row(scan, *v))
			return true;
	}
	return false;
}

/* Get a vertex that will be picked so many rows later; EMOGI_NO_VERTEX if there are fewer. */
static inline uint32
picked_later(const EmogiScan *scan, uint64 rows)
{
	return scan->position + rows < scan->npicked ? scan->picked[scan->position + rows] :
		EMOGI_NO_VERTEX;
}

/*
 * Prefetch what the rows of the next picked vertices read: they are in the order of a value, so
 * their keys and values are anywhere in memory. Each step needs what the one before has fetched.
 */
static inline void
prefetch_picked(const EmogiScan *scan)
{
	const EmogiDictionary *dictionary = scan->form->keys == NULL ? scan->graph.dictionary : NULL;
	const uint32 third = picked_later(scan, 3 * PREFETCH_ROWS);
	const uint32 second = picked_later(scan, 2 * PREFETCH_ROWS);
	const uint32 first = picked_later(scan, PREFETCH_ROWS);

	if (third != EMOGI_NO_VERTEX)
	{
		__builtin_prefetch(&scan->graph.ids[third]);
		for (int i = 0; i < scan->ncolumns; i++)
			if (scan->columns[i] > 0 &&
				scan->function->columns[scan->columns[i] - 1].type == EMOGI_VERTEX)
				__builtin_prefetch(&scan->result.columns[scan->columns[i] - 1].vertex[third]);
	}
	if (dictionary != NULL && second != EMOGI_NO_VERTEX)
		emogi_dictionary_prefetch_place(dictionary, scan->graph.ids[second]);
	if (dictionary != NULL && first != EMOGI_NO_VERTEX)
		emogi_dictionary_prefetch_bytes(dictionary, scan->graph.ids[first]);
}

/* Get the next of the picked vertices; return false if there is none. */
static bool
next_picked(EmogiScan *scan, uint64 *v)
{
	if (scan->position >= scan->npicked)
		return false;
	prefetch_picked(scan);
	*v = scan->picked[scan->position++];
	return true;
}

/* Find the next row; return false if there is none. */
static bool
find_next(EmogiScan *scan, uint64 *v)
{
	if (scan->top != NULL)
		return next_picked(scan, v);
	if (scan->follows_members)
		return next_member(scan, v);
	return scan->keys != NULL ? next_key(scan, v) : next_vertex(scan, v);
}

/* Store the columns of vertex v's row into the slot. */
static inline void
put_row(EmogiScan *scan, TupleTableSlot *slot, uint64 v)
{
	for (int i = 0; i < scan->ncolumns; i++)
	{
		int			column = scan->columns[i];

		slot->tts_values[i] = column == 0 ? emogi_rows_vertex(scan->form, &scan->graph, v) :
			emogi_rows_column(scan->function->columns, scan->form, &scan->graph, &scan->result, v,
							  column - 1);
		slot->tts_isnull[i] = false;
	}
}

/* Store a row whose keys may be by reference: they are valid until the next row. */
static void
put_row_of_keys(EmogiScan *scan, TupleTableSlot *slot, uint64 v)
{
	ExprContext *context = scan->css.ss.ps.ps_ExprContext;
	MemoryContext old = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);

	if (scan->css.ss.ps.qual == NULL && scan->css.ss.ps.ps_ProjInfo == NULL)
		ResetExprContext(context);	/* otherwise emogi_scan_next does */
	put_row(scan, slot, v);
	MemoryContextSwitchTo(old);
}

/* Return the next row, or an empty slot. */
static TupleTableSlot *
next_row(ScanState *state)
{
	EmogiScan  *scan = (EmogiScan *) state;
	TupleTableSlot *slot = state->ss_ScanTupleSlot;
	uint64		v = 0;

	if (unlikely(!scan->started))
		start(scan);
	ExecClearTuple(slot);
	if (scan->call == NULL && scan->joined < 0 && !scan->is_inline)
		return slot;
	if (!find_next(scan, &v))
	{
		if (!scan->keeps && scan->share == NULL)
			emogi_call_finish(scan->call, scan->is_copied ? NULL : &scan->call);
		return slot;
	}
	if (scan->form->kind == EMOGI_KEY_IO_INTEGER)
		put_row(scan, slot, v);
	else
		put_row_of_keys(scan, slot, v);
	if (scan->call != NULL)
		scan->call->record.nrows++;
	else
		scan->nrows++;
	return ExecStoreVirtualTuple(slot);
}

/* Return the next row that passes the remaining conditions. */
static TupleTableSlot *
exec_scan(CustomScanState *node)
{
	return emogi_scan_next(node, next_row);
}

/* ---- start and end ---- */

static void
begin_scan(CustomScanState *node, EState *estate, int eflags)
{
	EmogiScan  *scan = (EmogiScan *) node;
	List	   *lists = ((CustomScan *) node->ss.ps.plan)->custom_private;

	emogi_scan_init(scan, eflags);
	if (list_nth(lists, EMOGI_PLAN_ORDER) != NIL)
		scan->order = linitial_oid(list_nth(lists, EMOGI_PLAN_ORDER));
	if (list_length(lists) > EMOGI_PLAN_UPPER)
		emogi_topk_init(scan, list_nth(lists, EMOGI_PLAN_UPPER));
	scan->follows_members = scan->top == NULL && emogi_inputs_looks_up_members(scan);
}

/* End sharing with parallel workers, if there is any. */
static void
end_sharing(CustomScanState *node)
{
	if (((EmogiScan *) node)->share != NULL)
		emogi_shared_rows_end(node);
}

static void
end_scan(CustomScanState *node)
{
	end_sharing(node);
	emogi_scan_end(node);
}

static const CustomExecMethods exec_methods = {
	.CustomName = "EmogiScan",
	.BeginCustomScan = begin_scan,
	.ExecCustomScan = exec_scan,
	.EndCustomScan = end_scan,
	.ReScanCustomScan = emogi_scan_rescan_rows,
	.EstimateDSMCustomScan = emogi_shared_rows_estimate,
	.InitializeDSMCustomScan = emogi_shared_rows_begin,
	.ReInitializeDSMCustomScan = emogi_shared_rows_begin,
	.InitializeWorkerCustomScan = emogi_shared_rows_attach,
	.ShutdownCustomScan = end_sharing,
	.ExplainCustomScan = emogi_explain_scan
};

/* Make the state of a scan. */
static Node *
create_scan_state(CustomScan *plan)
{
	const EmogiAlgorithmRow *function =
		emogi_call_expr_function(linitial_node(FuncExpr, plan->custom_exprs)->funcid);
	EmogiScan  *scan;

	if (function == NULL)
		return emogi_stored_scan_create();
	scan = (EmogiScan *) newNode(sizeof(EmogiScan), T_CustomScanState);
	scan->function = function;
	scan->css.methods = emogi_row_kind_find(function) != NULL ?
		&emogi_row_scan_methods : &exec_methods;
	return (Node *) scan;
}

const CustomScanMethods emogi_scan_methods = {.CustomName = "EmogiScan",
											  .CreateCustomScanState = create_scan_state};
