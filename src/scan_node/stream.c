/*
 * stream.c: the scan of a function's rows, carried out.
 *
 * The call begins with the first row that is asked for, or before parallel workers are started that will ask for rows
 * (share.c): its arguments are computed, the Graph is got and the engine runs. Then the rows are read out of the result
 * one by one, as they are asked for, or those of single vertices are looked up; all other columns than those in use are
 * left alone. The call gives its slot back as soon as it has run, and its memory at the end of the plan, or at once where the
 * result is small: then it is read from a copy.
 *
 * A result is kept beyond its last row, as a FunctionScan keeps its own: the plan may come back to read it again, or to
 * look up other vertices. When it comes back with other arguments, they are compared with those of the result at hand, so
 * that neighbouring outer rows with the same source share one run. Of results that nothing but chance would ask for again,
 * a few are kept (emogi_call_finish); should one be missed, its call runs again, with the arguments that it had.
 */
#include "stream.h"

#include <math.h>

#include "access/relation.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "pgstat.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* ---- the run ---- */

/* Take the counts and times of a call that is about to end into the totals. */
void
emogi_scan_add_to_total(EmogiScan *scan, const EmogiCall *call)
{
	EmogiRunEntry sum = call->run;
	const EmogiRunEntry *total = &scan->total;

	sum.wait_ms += total->wait_ms;
	sum.transfer_ms += total->transfer_ms;
	sum.run_ms += total->run_ms;
	sum.scan_ms = total->scan_ms + call->phase_ms[EMOGI_PHASE_SCAN];
	sum.keys_ms = total->keys_ms + call->phase_ms[EMOGI_PHASE_KEYS];
	sum.csr_ms = total->csr_ms + call->phase_ms[EMOGI_PHASE_CSR];
	sum.nlevels = Max(sum.nlevels, total->nlevels);
	sum.nreached += total->nreached;
	sum.edges_traversed += total->edges_traversed;
	sum.link_bytes += total->link_bytes;
	scan->total = sum;
}

/* End the run at hand. */
static void
end_run(EmogiScan *scan)
{
	EmogiCall  *call = scan->call;

	scan->call = NULL;
	scan->is_empty = scan->is_copied = false;
	if (call != NULL)
		emogi_call_end(call);
}

/* Compute the inputs of the run anew. When they are other than those of the run at hand, that is over. */
static void
compute_inputs(EmogiScan *scan)
{
	ExprContext *context = scan->css.ss.ps.ps_ExprContext;
	bool		same = scan->has_inputs;
	NullableDatum *values = palloc(Max(scan->ninputs, 1) * sizeof *values);

	for (int i = 0; i < scan->ninputs; i++)
	{
		Input	   *input = &scan->inputs[i];

		if (i == scan->vertex_input && scan->looks_up)
			continue;
		values[i].value = ExecEvalExprSwitchContext(input->state, context, &values[i].isnull);
		same = same && values[i].isnull == input->value.isnull &&
			(values[i].isnull || datumIsEqual(values[i].value, input->value.value, input->by_value, input->length));
	}
	if (!same)
	{
		MemoryContext old;

		end_run(scan);
		MemoryContextReset(scan->run_context);
		old = MemoryContextSwitchTo(scan->run_context);
		for (int i = 0; i < scan->ninputs; i++)
		{
			Input	   *input = &scan->inputs[i];

			if (i == scan->vertex_input && scan->looks_up)
				continue;
			input->value.isnull = values[i].isnull;
			if (!values[i].isnull)
				input->value.value = datumCopy(values[i].value, input->by_value, input->length);
		}
		MemoryContextSwitchTo(old);
	}
	pfree(values);
	scan->has_inputs = true;
}

/* Turn the Datum of an integer of 2, 4 or 8 bytes into its value. */
static int64
integer_of(Datum datum, Oid type)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(datum);
		case INT4OID:
			return DatumGetInt32(datum);
		default:
			return DatumGetInt64(datum);
	}
}

static int
compare_keys(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

/* Get the keys of an array, ascending, each once, without NULLs. */
static int64 *
keys_of_array(ArrayType *array, uint64 *nkeys)
{
	Oid			type = ARR_ELEMTYPE(array);
	int16		length;
	bool		by_value;
	char		align;
	Datum	   *datums;
	bool	   *nulls;
	int			n;
	int64	   *keys;
	uint64		count = 0;

	get_typlenbyvalalign(type, &length, &by_value, &align);
	deconstruct_array(array, type, length, by_value, align, &datums, &nulls, &n);
	keys = palloc(Max(n, 1) * sizeof *keys);
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			keys[count++] = integer_of(datums[i], type);
	qsort(keys, count, sizeof *keys, compare_keys);
	*nkeys = 0;
	for (uint64 i = 0; i < count; i++)
		if (*nkeys == 0 || keys[*nkeys - 1] != keys[i])
			keys[(*nkeys)++] = keys[i];
	return keys;
}

/* Read the condition on `vertex` out of its operand. */
void
emogi_scan_set_keys(EmogiScan *scan, NullableDatum operand)
{
	const Input *input = &scan->inputs[scan->vertex_input];
	EmogiPushdown pushdown = scan->pushdowns[scan->vertex_input - (scan->ninputs - scan->nconditions)];
	MemoryContext old;

	MemoryContextReset(scan->keys_context);
	old = MemoryContextSwitchTo(scan->keys_context);
	scan->nkeys = 0;
	if (pushdown == EMOGI_VERTEX_IN && !operand.isnull)
		scan->keys = keys_of_array(DatumGetArrayTypeP(operand.value), &scan->nkeys);
	else
	{
		scan->keys = palloc(sizeof *scan->keys);
		if (!operand.isnull)
			scan->keys[scan->nkeys++] = integer_of(operand.value, input->type);
	}
	MemoryContextSwitchTo(old);
}

/* Have a condition on the level bound the task. */
static void
bound_depth(EmogiTask *task, EmogiPushdown pushdown, int64 bound)
{
	if (pushdown == EMOGI_BELOW && bound > PG_INT64_MIN)
		bound--;
	task->no_rows |= bound < 0;
	if (bound >= 0 && (task->query.max_depth < 0 || bound < task->query.max_depth))
		task->query.max_depth = bound;
}

/* Have a condition on the distance bound the task. NaN is more than any distance. */
static void
bound_distance(EmogiTask *task, EmogiPushdown pushdown, double bound)
{
	if (isnan(bound))
		task->no_rows |= pushdown == EMOGI_EXACTLY;
	else
	{
		if (pushdown == EMOGI_BELOW)
			bound = nextafter(bound, -(double) INFINITY);
		task->no_rows |= bound < 0;
		task->query.max_distance = Min(task->query.max_distance, Max(bound, 0));
	}
}

/* Apply the conditions to a task. */
void
emogi_scan_apply_conditions(EmogiScan *scan, EmogiTask *task)
{
	for (int i = 0; i < scan->nconditions; i++)
	{
		const Input *input = &scan->inputs[scan->ninputs - scan->nconditions + i];
		EmogiPushdown pushdown = scan->pushdowns[i];

		if (pushdown <= EMOGI_VERTEX_IN)
		{
			if (scan->looks_up)
				continue;
			emogi_scan_set_keys(scan, input->value);
			task->has_targets = true;
			task->targets = scan->keys;
			task->ntargets = scan->nkeys;
		}
		else if (input->value.isnull)
			task->no_rows = true;
		else if (input->type == FLOAT8OID)
			bound_distance(task, pushdown, DatumGetFloat8(input->value.value));
		else if (input->type == FLOAT4OID)
			bound_distance(task, pushdown, DatumGetFloat4(input->value.value));
		else
			bound_depth(task, pushdown, integer_of(input->value.value, input->type));
	}
}

/*
 * Have a relation that was read, with its partitions and children, open until the end of the plan, as a SELECT has: its own
 * transaction is refused to drop, truncate or rewrite it (55006), for the plan may come back to read it.
 */
void
emogi_scan_open_tables(EmogiScan *scan, Oid root)
{
	ResourceOwner old_owner = CurrentResourceOwner;
	MemoryContext old;
	List	   *relids;
	ListCell   *cell;

	if (!OidIsValid(root) || list_member_oid(scan->roots, root))
		return;
	relids = has_subclass(root) ? find_all_inheritors(root, AccessShareLock, NULL) : list_make1_oid(root);
	if (scan->tables_owner == NULL)
		scan->tables_owner = CurrentResourceOwner;
	old = MemoryContextSwitchTo(scan->css.ss.ps.state->es_query_cxt);
	CurrentResourceOwner = scan->tables_owner;
	scan->roots = lappend_oid(scan->roots, root);
	foreach(cell, relids)
		scan->tables = lappend(scan->tables, relation_open(lfirst_oid(cell), NoLock));
	CurrentResourceOwner = old_owner;
	MemoryContextSwitchTo(old);
}

/* Close them. */
void
emogi_scan_close_tables(EmogiScan *scan)
{
	ResourceOwner old_owner = CurrentResourceOwner;
	ListCell   *cell;

	if (scan->tables == NIL)
		return;
	CurrentResourceOwner = scan->tables_owner;
	foreach(cell, scan->tables)
		relation_close((Relation) lfirst(cell), NoLock);
	CurrentResourceOwner = old_owner;
	scan->roots = scan->tables = NIL;
}

/* Give the slot back if there was no holding to take its place, and there is one now. */
static void
rest_scan(void *arg)
{
	(void) emogi_call_hold(((EmogiScan *) arg)->call);
}

/* Copy one of the arrays that rows are read from, if it is there; else count its bytes. */
static void *
copy_array(void *array, Size bytes, bool only_count, Size *total)
{
	void	   *copy = array;

	if (array == NULL)
		return NULL;
	*total += bytes;
	if (!only_count)
		copy = memcpy(palloc(bytes), array, bytes);
	return copy;
}

/* Copy what rows are read from into the current context; get its bytes. only_count: but do not copy it. */
static Size
copy_rows(EmogiScan *scan, bool only_count)
{
	EmogiResult *result = &scan->result;
	const uint64 n = scan->graph.nvertices;
	Size		total = 0;

	scan->graph.ids = copy_array((void *) scan->graph.ids, n * sizeof *scan->graph.ids, only_count, &total);
	result->level = copy_array(result->level, n * sizeof *result->level, only_count, &total);
	result->distance = copy_array(result->distance, n * sizeof *result->distance, only_count, &total);
	result->paths = copy_array(result->paths, n * sizeof *result->paths, only_count, &total);
	result->component = copy_array(result->component, n * sizeof *result->component, only_count, &total);
	result->value = copy_array(result->value, n * sizeof *result->value, only_count, &total);
	return total;
}

/* Keep what rows are read from, in memory of our own if it is small, else in the Region, without a slot. */
static void
keep_rows(EmogiScan *scan)
{
	scan->is_copied = !scan->is_shared && copy_rows(scan, true) <= EMOGI_COPIED_BYTES;
	if (scan->is_copied)
	{
		(void) copy_rows(scan, false);
		emogi_call_leave(scan->call);
		return;
	}
	scan->call->rest = rest_scan;
	scan->call->rest_arg = scan;
	(void) emogi_call_hold(scan->call);
}

/* Run the call with its inputs. */
static void
run(EmogiScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->run_context);
	PgStat_FunctionCallUsage usage;
	EmogiTask	task;
	Oid			table = InvalidOid;

	for (int i = 0; i < scan->fcinfo->nargs; i++)
		scan->fcinfo->args[i] = scan->inputs[i].value;
	scan->function->read(scan->fcinfo, &task);
	emogi_scan_apply_conditions(scan, &task);
	task.table = &table;
	pgstat_init_function_usage(scan->fcinfo, &usage);
	scan->call = emogi_run(scan->flinfo.fn_oid, &task, &scan->graph, &scan->result);
	pgstat_end_function_usage(&usage, true);
	emogi_scan_open_tables(scan, table);
	scan->is_empty = scan->call == NULL;
	scan->nruns++;
	if (scan->call != NULL)
	{
		emogi_scan_add_to_total(scan, scan->call);
		keep_rows(scan);
	}
	MemoryContextSwitchTo(old);
}

/* ---- the rows ---- */

/* Get rows to return: from the run at hand if it will do, else from a new one. */
void
emogi_scan_run(EmogiScan *scan)
{
	ExprContext *context = scan->css.ss.ps.ps_ExprContext;

	ResetExprContext(context);
	if (!scan->has_inputs || scan->changed)
		compute_inputs(scan);
	if (scan->is_copied && scan->is_shared)
		end_run(scan);
	if (scan->call != NULL)
		emogi_call_resume(scan->call);
	else if (!scan->is_empty)
		run(scan);
	if (scan->looks_up)
	{
		NullableDatum operand;

		operand.value = ExecEvalExprSwitchContext(scan->inputs[scan->vertex_input].state, context, &operand.isnull);
		emogi_scan_set_keys(scan, operand);
	}
	scan->changed = false;
}

/* Begin to return rows. Where they are shared with parallel workers, the run was made before these were started. */
static void
start(EmogiScan *scan)
{
	if (scan->share == NULL)
		emogi_scan_run(scan);
	scan->position = scan->end = 0;
	scan->started = true;
}

/* Go on to the next vertices; false when there are none left. */
static bool
take_piece(EmogiScan *scan)
{
	uint64		first = scan->share != NULL ? emogi_share_next(scan) : scan->end;

	CHECK_FOR_INTERRUPTS();
	if (first >= scan->graph.nvertices)
		return false;
	scan->position = first;
	scan->end = Min(first + EMOGI_PIECE_VERTICES, scan->graph.nvertices);
	return true;
}

/* Find the next vertex that has a row, looking for a cancel now and then; false when there is none. */
static bool
next_vertex(EmogiScan *scan, uint64 *v)
{
	for (;;)
	{
		*v = scan->rows->next(&scan->result, scan->position, scan->end);
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

/* Find the next of the keys that has a row; false when there is none. */
static bool
next_key(EmogiScan *scan, uint64 *v)
{
	while (scan->position < scan->nkeys)
	{
		uint32		number = emogi_vertex_number(&scan->graph, scan->keys[scan->position++]);

		*v = number;
		if (number != EMOGI_NO_VERTEX && scan->rows->next(&scan->result, number, (uint64) number + 1) == number)
			return true;
	}
	return false;
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
	if (scan->call == NULL && scan->joined < 0)
		return slot;
	if (!(scan->keys != NULL ? next_key(scan, &v) : next_vertex(scan, &v)))
	{
		if (!scan->keeps && scan->share == NULL)
			emogi_call_finish(scan->call, scan->is_copied ? NULL : &scan->call);
		return slot;
	}
	for (int i = 0; i < scan->ncolumns; i++)
	{
		int			column = scan->columns[i];

		slot->tts_values[i] = column == 0 ? Int64GetDatum(scan->graph.ids[v]) :
			scan->rows->column(&scan->graph, &scan->result, v, column - 1);
		slot->tts_isnull[i] = false;
	}
	if (scan->call != NULL)
		scan->call->run.nrows++;
	else
		scan->nrows++;
	return ExecStoreVirtualTuple(slot);
}

/* No row of a function is ever locked, so none is rechecked. */
static bool
recheck_row(ScanState *state, TupleTableSlot *slot)
{
	return true;
}

/* Return the next row that the remaining conditions let pass. */
static TupleTableSlot *
exec_scan(CustomScanState *node)
{
	if (node->ss.ps.qual == NULL && node->ss.ps.ps_ProjInfo == NULL)
		return next_row(&node->ss);
	return ExecScan(&node->ss, next_row, recheck_row);
}

/* ---- beginning and end ---- */

/* Collect the executor's parameters in an expression. */
static bool
collect_params(Node *node, Bitmapset **params)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		*params = bms_add_member(*params, ((Param *) node)->paramid);
	return expression_tree_walker(node, collect_params, (void *) params);
}

/* Prepare an expression that the run depends on. */
static void
init_input(EmogiScan *scan, Expr *expression)
{
	Input	   *input = &scan->inputs[scan->ninputs++];

	input->expression = expression;
	input->state = ExecInitExpr(expression, (PlanState *) scan);
	input->type = exprType((Node *) expression);
	get_typlenbyval(input->type, &input->length, &input->by_value);
}

/* Prepare the conditions. One on `vertex` that changes from scan to scan is looked up. */
static void
init_conditions(EmogiScan *scan, List *operands, List *pushdowns)
{
	ListCell   *operand;
	ListCell   *pushdown;

	scan->vertex_input = scan->joined = -1;
	scan->pushdowns = palloc(Max(list_length(pushdowns), 1) * sizeof *scan->pushdowns);
	forboth(operand, operands, pushdown, pushdowns)
	{
		Bitmapset  *params = NULL;

		(void) collect_params(lfirst(operand), &params);
		scan->pushdowns[scan->nconditions++] = (EmogiPushdown) lfirst_int(pushdown);
		if (lfirst_int(pushdown) <= EMOGI_VERTEX_IN)
		{
			scan->vertex_input = scan->ninputs;
			scan->looks_up = !bms_is_empty(params);
		}
		if (lfirst_int(pushdown) > EMOGI_VERTEX_IN || !scan->looks_up)
			scan->run_params = bms_join(scan->run_params, params);
		init_input(scan, lfirst(operand));
	}
}

/* Prepare a scan for its plan, as ExecInitFunctionScan would: rights on the function, arguments. Raises 42501. */
void
emogi_scan_init(EmogiScan *scan, int eflags)
{
	CustomScan *plan = (CustomScan *) scan->css.ss.ps.plan;
	FuncExpr   *call = linitial_node(FuncExpr, plan->custom_exprs);
	List	   *columns = linitial(plan->custom_private);
	AclResult	may_execute = emogi_compat_may_execute(call->funcid);
	ListCell   *cell;

	if (may_execute != ACLCHECK_OK)
		aclcheck_error(may_execute, OBJECT_FUNCTION, get_func_name(call->funcid));
	InvokeFunctionExecuteHook(call->funcid);
	fmgr_info(call->funcid, &scan->flinfo);
	fmgr_info_set_expr((Node *) call, &scan->flinfo);
	scan->function = emogi_function_of(call->funcid);
	if (scan->function == NULL)
		elog(ERROR, "function %u is not one of emogi's", call->funcid);
	scan->rows = emogi_row_kind(scan->function->algorithm);
	scan->call_expr = call;
	scan->fcinfo = palloc0(SizeForFunctionCallInfo(list_length(call->args)));
	InitFunctionCallInfoData(*scan->fcinfo, &scan->flinfo, list_length(call->args), call->inputcollid, NULL, NULL);

	scan->inputs = palloc0((list_length(call->args) + list_length(plan->custom_exprs)) * sizeof *scan->inputs);
	foreach(cell, call->args)
		init_input(scan, lfirst(cell));
	(void) collect_params((Node *) call->args, &scan->run_params);
	init_conditions(scan, list_copy_tail(plan->custom_exprs, 1), lsecond(plan->custom_private));
	scan->keeps = (eflags & EXEC_FLAG_REWIND) != 0 || scan->looks_up;

	scan->columns = palloc(Max(list_length(columns), 1) * sizeof *scan->columns);
	foreach(cell, columns)
		scan->columns[scan->ncolumns++] = lfirst_int(cell);
	scan->keys_context = AllocSetContextCreate(CurrentMemoryContext, "emogi keys", ALLOCSET_SMALL_SIZES);
	scan->run_context = AllocSetContextCreate(CurrentMemoryContext, "emogi run", ALLOCSET_DEFAULT_SIZES);
}

static void
begin_scan(CustomScanState *node, EState *estate, int eflags)
{
	emogi_scan_init((EmogiScan *) node, eflags);
}

static void
end_scan(CustomScanState *node)
{
	emogi_share_end(node);
	end_run((EmogiScan *) node);
	emogi_scan_close_tables((EmogiScan *) node);
}

/* Come back to the first row, perhaps with other parameters. */
static void
rescan(CustomScanState *node)
{
	EmogiScan  *scan = (EmogiScan *) node;

	scan->started = false;
	scan->changed |= bms_overlap(node->ss.ps.chgParam, scan->run_params);
	ExecScanReScan(&node->ss);
}

static const CustomExecMethods exec_methods = {
	.CustomName = "EmogiScan",
	.BeginCustomScan = begin_scan,
	.ExecCustomScan = exec_scan,
	.EndCustomScan = end_scan,
	.ReScanCustomScan = rescan,
	.EstimateDSMCustomScan = emogi_share_estimate,
	.InitializeDSMCustomScan = emogi_share_begin,
	.ReInitializeDSMCustomScan = emogi_share_begin,
	.InitializeWorkerCustomScan = emogi_share_join,
	.ShutdownCustomScan = emogi_share_end,
	.ExplainCustomScan = emogi_explain_scan
};

/* Make the state of a scan. */
static Node *
create_scan_state(CustomScan *plan)
{
	EmogiScan  *scan = (EmogiScan *) newNode(sizeof(EmogiScan), T_CustomScanState);

	scan->css.methods = &exec_methods;
	return (Node *) scan;
}

const CustomScanMethods emogi_scan_methods = {.CustomName = "EmogiScan",.CreateCustomScanState = create_scan_state};
