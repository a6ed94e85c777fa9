/*
 * scan.c: the run of a scan: compute its arguments, acquire the graph and run the engine
 *
 * The call releases its slot as soon as it has run. It releases its memory at the end of the plan,
 * or immediately if the result is small enough to be copied. A result is kept after its last row
 * has been returned, as a FunctionScan keeps its tuplestore, because the plan may rescan it or look
 * up other vertices. If a rescan has new arguments, they are compared with those of the current
 * result, so that consecutive outer rows with the same source share one run. Results that are
 * unlikely to be read again are kept in a small number (emogi_call_finish); if one of them is
 * needed after it was dropped, its call runs again with the same arguments.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_inherits.h"
#include "executor/executor.h"
#include "contract/query.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "scan_node/call_expr.h"
#include "scan_node/scan.h"
#include "base/compat.h"

/* ---- initialization ---- */

/*
 * Prepare a scan for its plan, as ExecInitFunctionScan does: permission to execute, arguments.
 * Raises 42501.
 */
void
emogi_scan_init(EmogiScan *scan, int eflags)
{
	CustomScan *plan = (CustomScan *) scan->css.ss.ps.plan;
	FuncExpr   *call = linitial_node(FuncExpr, plan->custom_exprs);
	List	   *columns = list_nth(plan->custom_private, EMOGI_PLAN_COLUMNS);
	AclResult	may_execute = emogi_compat_may_execute(call->funcid);
	ListCell   *cell;

	if (may_execute != ACLCHECK_OK)
		aclcheck_error(may_execute, OBJECT_FUNCTION, get_func_name(call->funcid));
	emogi_shared_require();
	InvokeFunctionExecuteHook(call->funcid);
	fmgr_info(call->funcid, &scan->flinfo);
	fmgr_info_set_expr((Node *) call, &scan->flinfo);
	if (scan->function == NULL) /* the state of a scan of vertices has looked it up */
		scan->function = emogi_call_expr_function(call->funcid);
	if (scan->function == NULL)
		elog(ERROR, "function %u is not one of emogi's", call->funcid);
	scan->kind = emogi_row_kind_find(scan->function);
	scan->call_expr = call;
	scan->fcinfo = palloc0(SizeForFunctionCallInfo(list_length(call->args)));
	InitFunctionCallInfoData(*scan->fcinfo, &scan->flinfo, list_length(call->args),
							 call->inputcollid, NULL, NULL);

	emogi_inputs_init(scan);
	scan->joined = -1;
	scan->keeps = (eflags & EXEC_FLAG_REWIND) != 0 || scan->looks_up;

	scan->columns = palloc(Max(list_length(columns), 1) * sizeof *scan->columns);
	foreach(cell, columns)
		scan->columns[scan->ncolumns++] = lfirst_int(cell);
	if (scan->vertex_input >= 0)
		scan->keys_context = AllocSetContextCreate(CurrentMemoryContext, "emogi keys",
												   ALLOCSET_SMALL_SIZES);
	scan->run_context = AllocSetContextCreate(CurrentMemoryContext, "emogi run",
											  ALLOCSET_DEFAULT_SIZES);
	scan->rows_context = AllocSetContextCreate(CurrentMemoryContext, "emogi rows",
											   ALLOCSET_DEFAULT_SIZES);
}

/* ---- tables kept open ---- */

/* Raise 42P01 for a relation that the call itself has dropped, in a query among its arguments. */
static void
report_dropped(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("a table of the graph was dropped by a query among the arguments"),
			 errhint("Queries of start values, pairs and communities must not drop tables of "
					 "the graph.")));
}

/* Open a relation, which is locked; return all that are read with it: itself and its children. */
static List *
open_inheritors(Oid root)
{
	Relation	rel = try_relation_open(root, NoLock);
	List	   *rels;
	ListCell   *cell;

	if (rel == NULL)
		report_dropped();
	rels = list_make1(rel);
	if (!rel->rd_rel->relhassubclass)
		return rels;
	foreach(cell, find_all_inheritors(root, AccessShareLock, NULL))
		if (lfirst_oid(cell) != root)
			rels = lappend(rels, relation_open(lfirst_oid(cell), NoLock));
	return rels;
}

/*
 * Keep a relation that was read open until the end of the plan, with its partitions and children,
 * as a SELECT does. The plan may read it again, so its own transaction cannot drop, truncate or
 * rewrite it (55006).
 */
void
emogi_scan_open_tables(EmogiScan *scan, Oid root)
{
	ResourceOwner old_owner = CurrentResourceOwner;
	MemoryContext old;

	if (!OidIsValid(root) || list_member_oid(scan->roots, root))
		return;
	if (scan->tables_owner == NULL)
		scan->tables_owner = CurrentResourceOwner;
	old = MemoryContextSwitchTo(scan->css.ss.ps.state->es_query_cxt);
	CurrentResourceOwner = scan->tables_owner;
	scan->roots = lappend_oid(scan->roots, root);
	scan->tables = list_concat(scan->tables, open_inheritors(root));
	CurrentResourceOwner = old_owner;
	MemoryContextSwitchTo(old);
}

/* Close these tables. */
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

/* Make a place where index searches keep their indexes open until the end of the plan. */
static void
keep_indexes(EmogiScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->css.ss.ps.state->es_query_cxt);
	ResourceOwner old_owner = CurrentResourceOwner;

	if (scan->tables_owner == NULL)
		scan->tables_owner = CurrentResourceOwner;
	CurrentResourceOwner = scan->tables_owner;
	scan->kept = emogi_kept_indexes_create();
	CurrentResourceOwner = old_owner;
	MemoryContextSwitchTo(old);
}

/* ---- the run ---- */

/* Add the times and counts of a call that is about to end to the totals. */
void
emogi_scan_add_to_total(EmogiScan *scan, const EmogiCall *call)
{
	EmogiCallRecord sum = call->record;
	const EmogiCallRecord *total;

	if (scan->total == NULL)
		scan->total = MemoryContextAllocZero(scan->css.ss.ps.state->es_query_cxt,
											 sizeof *scan->total);
	total = scan->total;

	sum.wait_ms += total->wait_ms;
	sum.transfer_ms += total->transfer_ms;
	sum.run_ms += total->run_ms;
	sum.scan_ms = total->scan_ms + call->phase_ms[EMOGI_PHASE_SCAN];
	sum.keys_ms = total->keys_ms + call->phase_ms[EMOGI_PHASE_KEYS];
	sum.csr_ms = total->csr_ms + call->phase_ms[EMOGI_PHASE_CSR];
	sum.refresh_ms = total->refresh_ms + call->phase_ms[EMOGI_PHASE_REFRESH];
	sum.merge_ms = total->merge_ms + call->phase_ms[EMOGI_PHASE_MERGE];
	sum.rows_ms = total->rows_ms + call->phase_ms[EMOGI_PHASE_ROWS];
	sum.nrescanned += total->nrescanned;
	sum.nskipped_by_map += total->nskipped_by_map;
	sum.nskipped_by_lsn += total->nskipped_by_lsn;
	sum.nchanges += total->nchanges;
	sum.columns_ms += total->columns_ms;
	sum.mask_share = Max(sum.mask_share, total->mask_share);
	sum.age_ms = Max(sum.age_ms, total->age_ms);
	sum.nlevels = Max(sum.nlevels, total->nlevels);
	sum.nreached += total->nreached;
	sum.edges_traversed += total->edges_traversed;
	sum.link_bytes += total->link_bytes;
	sum.nservers = Max(sum.nservers, total->nservers);
	sum.nconnections += total->nconnections;
	sum.nranges += total->nranges;
	sum.network_bytes += total->network_bytes;
	*scan->total = sum;
}

/* End the current run. */
void
emogi_scan_end_run(EmogiScan *scan)
{
	EmogiCall  *call = scan->call;

	scan->call = NULL;
	scan->is_empty = scan->is_copied = false;
	if (call != NULL)
		emogi_call_end(call);
}

/* End a scan: its run, and the use of its tables. */
void
emogi_scan_end(CustomScanState *node)
{
	emogi_scan_end_run((EmogiScan *) node);
	emogi_kept_indexes_close(((EmogiScan *) node)->kept);
	emogi_scan_close_tables((EmogiScan *) node);
}

/* Begin a scan again, perhaps with other parameters. */
void
emogi_scan_rescan(CustomScanState *node)
{
	EmogiScan  *scan = (EmogiScan *) node;

	scan->started = false;
	scan->changed |= bms_overlap(node->ss.ps.chgParam, scan->run_params);
}

/* Rescan the outer plan of a node, now or, if its parameters have changed, at its next row. */
void
emogi_scan_rescan_outer(CustomScanState *node, PlanState *outer)
{
	if (node->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(outer, node->ss.ps.chgParam);
	if (outer->chgParam == NULL)
		ExecReScan(outer);
}

/* Rescan from the first row, perhaps with other parameters. */
void
emogi_scan_rescan_rows(CustomScanState *node)
{
	emogi_scan_rescan(node);
	ExecScanReScan(&node->ss);
}

/* Is this input computed for each rescan of one result? */
static bool
is_looked_up(const EmogiScan *scan, int input)
{
	return scan->looks_up && input == scan->vertex_input;
}

/* End the current run and store the inputs of the next one. values: [ninputs]. */
static void
set_inputs(EmogiScan *scan, const NullableDatum *values)
{
	MemoryContext old;

	emogi_scan_end_run(scan);
	MemoryContextReset(scan->run_context);
	old = MemoryContextSwitchTo(scan->run_context);
	for (int i = 0; i < scan->ninputs; i++)
	{
		EmogiInput *input = &scan->inputs[i];

		if (is_looked_up(scan, i))
			continue;
		if (input->constant != NULL || input->is_fixed)
		{
			input->value = values[i];
			continue;
		}
		input->value.isnull = values[i].isnull;
		if (!values[i].isnull)
			input->value.value = datumCopy(values[i].value, input->by_value, input->length);
	}
	MemoryContextSwitchTo(old);
}

/* Compute an input, in the memory of a row, or, if it is fixed, once in that of the plan. */
static NullableDatum
compute_input(const EmogiScan *scan, const EmogiInput *input)
{
	NullableDatum now;
	MemoryContext old;

	if (input->is_fixed && scan->has_inputs)
		return input->value;
	now.value = emogi_input_evaluate(input, scan->css.ss.ps.ps_ExprContext, &now.isnull);
	if (!input->is_fixed || now.isnull)
		return now;
	old = MemoryContextSwitchTo(scan->css.ss.ps.state->es_query_cxt);
	now.value = datumCopy(now.value, input->by_value, input->length);
	MemoryContextSwitchTo(old);
	return now;
}

/* Compute the inputs of the run. End the current run if they have changed. */
static void
compute_inputs(EmogiScan *scan)
{
	bool		same = scan->has_inputs;
	NullableDatum *values = palloc(Max(scan->ninputs, 1) * sizeof *values);

	for (int i = 0; i < scan->ninputs; i++)
	{
		const EmogiInput *input = &scan->inputs[i];

		if (is_looked_up(scan, i))
			continue;
		values[i] = compute_input(scan, input);
		same = same && values[i].isnull == input->value.isnull &&
			(values[i].isnull || input->constant != NULL || input->is_fixed ||
			 datumIsEqual(values[i].value, input->value.value, input->by_value, input->length));
	}
	if (!same)
		set_inputs(scan, values);
	pfree(values);
	scan->has_inputs = true;
}

/* Release the slot if no held result was free to replace it earlier, and one is free now. */
static void
release_slot(void *arg)
{
	(void) emogi_call_release_slot(((EmogiScan *) arg)->call);
}

/*
 * Copy one of the arrays that rows are read from, if it exists, and add its size to *total.
 * only_count: only add its size.
 */
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

/*
 * Copy the arrays that rows are read from into the current context; return their size in bytes.
 * only_count: do not copy.
 */
static Size
copy_rows(EmogiScan *scan, bool only_count)
{
	const EmogiResultColumn *columns = scan->function->columns;
	EmogiResult *result = &scan->result;
	EmogiQuery *query = &scan->query;
	const uint64 n = scan->graph.nvertices;
	const uint64 length = scan->kind != NULL ? emogi_query_length(&scan->graph, query) : n;
	Size		total = 0;

	scan->graph.ids = copy_array((void *) scan->graph.ids, n * sizeof *scan->graph.ids, only_count,
								 &total);
	for (int i = 0; columns[i].name != NULL; i++)
		result->columns[i].any = copy_array(result->columns[i].any,
											length * emogi_algorithm_column_bytes(columns[i].type),
											only_count, &total);
	if (scan->kind != NULL)
	{
		query->pairs = copy_array((void *) query->pairs, 2 * query->npairs * sizeof *query->pairs,
								  only_count, &total);
		query->targets = copy_array((void *) query->targets,
									query->ntargets * sizeof *query->targets, only_count, &total);
		if (scan->function->shape == EMOGI_SHAPE_DISTANCES)
			query->sources = copy_array((void *) query->sources,
										query->nsources * sizeof *query->sources, only_count,
										&total);
	}
	return total;
}

/*
 * Keep the arrays that rows are read from: in backend memory if they are small, otherwise in the
 * arena, without a slot.
 *
 * Non-integer keys need the graph's dictionary for as long as there are rows, and to look up
 * vertices. Holding the result costs less than copying the keys of rows that may never be read, and
 * thousands of results can be held.
 */
static void
keep_rows(EmogiScan *scan)
{
	const bool	are_local = scan->call->rows_are_local;
	const bool	has_dictionary = scan->graph.dictionary != NULL && !emogi_local_keys_copy(scan);
	/* nothing is left to do for a path without steps */
	const bool	is_done = are_local && scan->graph.nvertices == 0 && !scan->looks_up &&
		scan->kind != NULL && scan->function->shape == EMOGI_SHAPE_STEPS;

	if (is_done)
		scan->graph.dictionary = NULL;
	scan->is_copied = (!has_dictionary || is_done) &&
		(are_local || (!scan->is_shared && copy_rows(scan, true) <= EMOGI_COPIED_BYTES));
	if (scan->is_copied)
	{
		if (!are_local)
		{
			(void) copy_rows(scan, false);
			scan->members = NULL;
			emogi_summary_copy(scan);
		}
		emogi_call_release_shared(scan->call);
		return;
	}
	scan->call->rest = release_slot;
	scan->call->rest_arg = scan;
	(void) emogi_call_release_slot(scan->call);
}

/* Check that rows come in the order that the plan assumes. Raises 0A000. */
static void
check_order(const EmogiScan *scan)
{
	if (OidIsValid(scan->order) && scan->form != NULL &&
		!emogi_key_io_keeps_order(&scan->form->coder.key, scan->form->type, scan->order))
		emogi_inputs_report_keys();
}

/* Does a scan of rows return names of edges? */
static bool
uses_names(const EmogiScan *scan)
{
	for (int i = 0; i < scan->ncolumns; i++)
		if (emogi_row_kind_column(scan->function, scan->columns[i])->type == EMOGI_EDGE)
			return true;
	return false;
}

/* Read the arguments of the call. Raises the errors of invalid arguments. */
static void
read_arguments(EmogiScan *scan, EmogiTask *task)
{
	for (int i = 0; i < scan->fcinfo->nargs; i++)
		scan->fcinfo->args[i] = scan->inputs[i].value;
	if (scan->function->shape == EMOGI_SHAPE_STEPS)
	{
		emogi_shortest_path_read(scan->fcinfo, task);
		task->names_edges = uses_names(scan);
	}
	else
	{
		emogi_arguments_read(scan->fcinfo, scan->function->algorithm, task);
		task->graph.reads_names = emogi_row_kind_has_names(scan->function);
	}
	task->graph.reads_names = task->graph.reads_names && uses_names(scan);
}

/* Execute the call; return NULL if there is nothing to run or no row is needed. */
static EmogiCall *
execute_call(EmogiScan *scan, EmogiTask *task)
{
	EmogiCall  *call;

	call = emogi_task_run(scan->flinfo.fn_oid, task, &scan->graph, &scan->result);
	if (scan->function->shape == EMOGI_SHAPE_STEPS)
		return call;
	if (call != NULL && emogi_row_kind_has_names(scan->function) && uses_names(scan))
	{
		scan->kind->name(task, &scan->graph, &scan->result);
		emogi_call_phase(call, EMOGI_PHASE_ROWS);	/* count the time until now */
	}
	if (call != NULL && scan->kind != NULL)
		scan->query = call->slot->request.query;
	return call;
}

/* Run the call with its inputs. */
static void
run(EmogiScan *scan)
{
	MemoryContext old;
	PgStat_FunctionCallUsage usage;
	EmogiTask	task;
	Oid			table = InvalidOid;

	MemoryContextReset(scan->rows_context);
	old = MemoryContextSwitchTo(scan->rows_context);
	scan->cursor = NULL;
	scan->members = NULL;
	read_arguments(scan, &task);
	emogi_inputs_apply_conditions(scan, &task);
	task.table = &table;
	if (scan->may_run_again && scan->kept == NULL)
		keep_indexes(scan);
	task.kept = scan->kept;
	task.is_shared = scan->is_shared && !scan->tries_local_search;
	task.members = emogi_inputs_looks_up_members(scan) ? &scan->members : NULL;
	scan->summary = NULL;
	/* a summary could not answer what is looked up later */
	if (scan->summarize != NULL && !scan->looks_up)
		emogi_summary_init(scan, &task);
	pgstat_init_function_usage(scan->fcinfo, &usage);
	scan->call = execute_call(scan, &task);
	pgstat_end_function_usage(&usage, true);
	emogi_scan_open_tables(scan, table);
	scan->form = task.form;
	check_order(scan);
	scan->keys = task.has_targets && !task.last_is_target ? task.targets : NULL;
	scan->nkeys = task.ntargets;
	scan->is_empty = scan->call == NULL;
	scan->nruns++;
	if (scan->call != NULL)
	{
		emogi_inputs_find_values(scan);
		if (scan->css.ss.ps.state->es_instrument != 0)	/* EXPLAIN shows them */
			emogi_scan_add_to_total(scan, scan->call);
		keep_rows(scan);
	}
	MemoryContextSwitchTo(old);
}

/*
 * Ensure a result to return rows from: the current one if it is still valid, otherwise that of a
 * new run.
 */
void
emogi_scan_run(EmogiScan *scan)
{
	ExprContext *context = scan->css.ss.ps.ps_ExprContext;

	ResetExprContext(context);
	if (!scan->has_inputs || scan->changed)
		compute_inputs(scan);
	if (scan->is_shared && scan->call != NULL && (scan->is_copied || scan->call->rows_are_local))
		emogi_scan_end_run(scan);
	if (scan->call != NULL)
		emogi_call_resume(scan->call);
	else if (!scan->is_empty)
		run(scan);
	if (scan->looks_up)
	{
		NullableDatum operand;

		operand.value = emogi_input_evaluate(&scan->inputs[scan->vertex_input], context,
											 &operand.isnull);
		emogi_inputs_look_up(scan, operand);
	}
	scan->changed = false;
}

/* Does a vertex have a row in the ranges of values? */
bool
emogi_scan_has_row(const EmogiScan *scan, uint64 v)
{
	uint8		mask[1];

	if (!scan->ranges.given)
		return emogi_rows_next(scan->function->columns, &scan->result, v, v + 1) == v;
	return emogi_ranges_select(&scan->ranges, scan->function->columns, &scan->result, v, 1,
							   mask) == 1;
}

/* ---- rows ---- */

/*
 * Return the next row of a node that passes its quals, projected, as ExecScan does.
 *
 * ExecScan itself cannot be used: minor versions before 14.20, 15.15, 16.11, 17.7 and 18.1 return
 * no row for a node without a relation during an EvalPlanQual recheck of an UPDATE. There is
 * nothing to recheck, because rows of functions are never locked.
 */
TupleTableSlot *
emogi_scan_next(CustomScanState *node, TupleTableSlot *(*next) (ScanState *state))
{
	ExprState  *qual = node->ss.ps.qual;
	ProjectionInfo *projection = node->ss.ps.ps_ProjInfo;
	ExprContext *context = node->ss.ps.ps_ExprContext;

	if (qual == NULL && projection == NULL)
		return next(&node->ss);
	for (;;)
	{
		TupleTableSlot *slot;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(context);
		slot = next(&node->ss);
		if (TupIsNull(slot))
			return projection != NULL ? ExecClearTuple(projection->pi_state.resultslot) : slot;
		context->ecxt_scantuple = slot;
		if (qual == NULL || ExecQual(qual, context))
			return projection != NULL ? ExecProject(projection) : slot;
		InstrCountFiltered1(node, 1);
	}
}
