/*
 * stored_scan.c: scans of functions that store all their rows before they return the first
 *
 * The function is executed as in a FunctionScan. In addition, EXPLAIN shows the graph of the call:
 * explain.c predicts it, and with ANALYZE the record of the call is copied at its end.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "funcapi.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "scan_node/call_expr.h"
#include "scan_node/scan.h"

typedef struct StoredScan
{
	EmogiScan	scan;
	SetExprState *call;
	MemoryContext arguments;	/* of the call's arguments */
	bool		is_backward;	/* rows may be fetched backward */
	Tuplestorestate *rows;		/* NULL = not executed yet */
	TupleTableSlot *row;		/* the current row, as stored */
} StoredScan;

/* Prepare a scan for its plan; raises 42501. */
static void
begin_stored_scan(CustomScanState *node, EState *estate, int eflags)
{
	StoredScan *stored = (StoredScan *) node;
	EmogiScan  *scan = &stored->scan;
	const CustomScan *plan = (const CustomScan *) node->ss.ps.plan;

	emogi_shared_require();		/* EXPLAIN looks up the graph without a call */
	scan->call_expr = linitial_node(FuncExpr, plan->custom_exprs);
	scan->function = emogi_call_expr_stored(scan->call_expr, &scan->collects);
	if (scan->function == NULL)
		elog(ERROR, "function %u is not one of emogi's", scan->call_expr->funcid);
	scan->is_stored = true;
	stored->is_backward = (eflags & EXEC_FLAG_BACKWARD) != 0;
	scan->joined = -1;
	emogi_inputs_init(scan);
	stored->call = ExecInitTableFunctionResult((Expr *) scan->call_expr,
											   node->ss.ps.ps_ExprContext, &node->ss.ps);
	stored->arguments = AllocSetContextCreate(CurrentMemoryContext, "emogi arguments",
											  ALLOCSET_DEFAULT_SIZES);
	stored->row = ExecInitExtraTupleSlot(estate, node->ss.ss_ScanTupleSlot->tts_tupleDescriptor,
										 &TTSOpsMinimalTuple);
}

/* Execute the function; return its rows. */
static Tuplestorestate *
execute(StoredScan *stored)
{
	CustomScanState *node = &stored->scan.css;

	stored->scan.nruns++;
	return ExecMakeTableFunctionResult(stored->call, node->ss.ps.ps_ExprContext,
									   stored->arguments,
									   node->ss.ss_ScanTupleSlot->tts_tupleDescriptor,
									   stored->is_backward);
}

/*
 * Execute the function as execute() does, and add the record of its call to the totals. The last
 * call of the function that ends is this one; its arguments may call functions of the extension,
 * too.
 */
static Tuplestorestate *
execute_recorded(StoredScan *stored)
{
	EmogiScan  *scan = &stored->scan;
	EmogiCall  *ended = palloc0(sizeof *ended);
	EmogiCall  *previous = emogi_call_watch(ended);
	Tuplestorestate *rows;

	PG_TRY();
	{
		rows = execute(stored);
	}
	PG_FINALLY();
	{
		(void) emogi_call_watch(previous);
	}
	PG_END_TRY();
	if (ended->function == scan->call_expr->funcid)
		emogi_scan_add_to_total(scan, ended);
	pfree(ended);
	return rows;
}

/* Return the next row, or an empty slot. */
static TupleTableSlot *
next_row(ScanState *state)
{
	StoredScan *stored = (StoredScan *) state;
	TupleTableSlot *slot = state->ss_ScanTupleSlot;
	const int	natts = slot->tts_tupleDescriptor->natts;

	ExecClearTuple(slot);
	if (stored->rows == NULL)
		stored->rows = state->ps.state->es_instrument != 0 ? execute_recorded(stored) :
			execute(stored);
	if (!tuplestore_gettupleslot(stored->rows,
								 ScanDirectionIsForward(state->ps.state->es_direction), false,
								 stored->row))
		return slot;
	slot_getallattrs(stored->row);
	memcpy(slot->tts_values, stored->row->tts_values, natts * sizeof *slot->tts_values);
	memcpy(slot->tts_isnull, stored->row->tts_isnull, natts * sizeof *slot->tts_isnull);
	return ExecStoreVirtualTuple(slot);
}

/* Return the next row that passes the conditions. */
static TupleTableSlot *
exec_stored_scan(CustomScanState *node)
{
	return emogi_scan_next(node, next_row);
}

/* Free the rows. */
static void
free_rows(StoredScan *stored)
{
	(void) ExecClearTuple(stored->row);
	if (stored->rows != NULL)
		tuplestore_end(stored->rows);
	stored->rows = NULL;
}

/* Rescan from the first row; execute the function again if a parameter has changed. */
static void
rescan_stored_scan(CustomScanState *node)
{
	StoredScan *stored = (StoredScan *) node;
	const bool	has_changed = bms_overlap(node->ss.ps.chgParam, stored->scan.run_params);

	ExecScanReScan(&node->ss);
	if (has_changed)
		free_rows(stored);
	else if (stored->rows != NULL)
		tuplestore_rescan(stored->rows);
}

static void
end_stored_scan(CustomScanState *node)
{
	free_rows((StoredScan *) node);
}

static const CustomExecMethods exec_methods = {
	.CustomName = "EmogiScan",
	.BeginCustomScan = begin_stored_scan,
	.ExecCustomScan = exec_stored_scan,
	.EndCustomScan = end_stored_scan,
	.ReScanCustomScan = rescan_stored_scan,
	.ExplainCustomScan = emogi_explain_scan
};

/* Make the state of a scan. */
Node *
emogi_stored_scan_create(void)
{
	StoredScan *stored = (StoredScan *) newNode(sizeof *stored, T_CustomScanState);

	stored->scan.css.methods = &exec_methods;
	return (Node *) stored;
}
