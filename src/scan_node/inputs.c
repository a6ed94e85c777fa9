/*
 * inputs.c: what the run of a scan depends on: the arguments of its call and the operands of the conditions that it sees to.
 *
 * A condition on `vertex` becomes the keys of the rows that are wanted; one on the level or the distance bounds the task.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "scan_node/scan.h"

/* ---- beginning ---- */

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
	EmogiInput *input = &scan->inputs[scan->ninputs++];

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

	scan->vertex_input = -1;
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

/* Prepare the inputs of a scan for its plan. */
void
emogi_inputs_init(EmogiScan *scan)
{
	CustomScan *plan = (CustomScan *) scan->css.ss.ps.plan;
	FuncExpr   *call = linitial_node(FuncExpr, plan->custom_exprs);
	ListCell   *cell;

	scan->inputs = palloc0((list_length(call->args) + list_length(plan->custom_exprs)) * sizeof *scan->inputs);
	foreach(cell, call->args)
		init_input(scan, lfirst(cell));
	(void) collect_params((Node *) call->args, &scan->run_params);
	init_conditions(scan, list_copy_tail(plan->custom_exprs, 1), lsecond(plan->custom_private));
}

/* ---- the condition on `vertex` ---- */

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

/* Get the vertices that the operand of the condition on `vertex` names, as the column has them; integers as bigint. */
static EmogiGiven
vertices_of(const EmogiScan *scan, NullableDatum operand)
{
	EmogiPushdown pushdown = scan->pushdowns[scan->vertex_input - (scan->ninputs - scan->nconditions)];
	Oid			type = scan->inputs[scan->vertex_input].type;
	EmogiGiven	given = {0};

	if (operand.isnull)
		return given;
	if (pushdown == EMOGI_VERTEX_IN)
	{
		given = emogi_vertices_of_array(operand.value);
		type = get_element_type(type);
	}
	else
	{
		given.datums = palloc(sizeof(Datum));
		given.datums[given.count++] = operand.value;
	}
	if (type == INT2OID || type == INT4OID)
		for (uint64 i = 0; i < given.count; i++)
			given.datums[i] = Int64GetDatum(integer_of(given.datums[i], type));
	return given;
}

/* Look up the vertices that the condition on `vertex` names in the Graph of the run at hand: rows of these are returned, or of all. */
void
emogi_inputs_look_up(EmogiScan *scan, NullableDatum operand)
{
	MemoryContext old;
	EmogiGiven	given;

	MemoryContextReset(scan->keys_context);
	scan->keys = NULL;
	scan->nkeys = 0;
	if (scan->call == NULL || !emogi_form_seeks(&scan->form->coder.key, scan->form->type))
		return;
	old = MemoryContextSwitchTo(scan->keys_context);
	given = vertices_of(scan, operand);
	scan->keys = emogi_vertices_seek(scan->form, &scan->graph, &given, &scan->nkeys);
	MemoryContextSwitchTo(old);
}

/* ---- conditions to a task ---- */

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
emogi_inputs_apply_conditions(EmogiScan *scan, EmogiTask *task)
{
	for (int i = 0; i < scan->nconditions; i++)
	{
		const EmogiInput *input = &scan->inputs[scan->ninputs - scan->nconditions + i];
		EmogiPushdown pushdown = scan->pushdowns[i];

		if (pushdown <= EMOGI_VERTEX_IN)
		{
			if (scan->looks_up)
				continue;
			task->has_targets = true;
			task->wanted = vertices_of(scan, input->value);
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
