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
#include "utils/array.h"
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
emogi_inputs_set_keys(EmogiScan *scan, NullableDatum operand)
{
	const EmogiInput *input = &scan->inputs[scan->vertex_input];
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
			emogi_inputs_set_keys(scan, input->value);
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
