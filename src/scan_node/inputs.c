/*
 * inputs.c: what the run of a scan depends on: the call's arguments and the operands of pushed-down
 * conditions
 *
 * A condition on `vertex` becomes the keys of the rows to return, one on level or distance a bound
 * of the task, and a comparison of values a range.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "contract/partition_point.h"
#include "contract/sort_order.h"
#include "contract/local_components.h"
#include "scan_node/scan.h"

/* Vertices looked up between two checks for interrupts */
#define LOOKUPS_PER_CHECK 1024

/* ---- initialization ---- */

/* Collect the PARAM_EXEC parameters in an expression. */
static bool
collect_params(Node *node, Bitmapset **params)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		*params = bms_add_member(*params, ((Param *) node)->paramid);
	return expression_tree_walker(node, collect_params, (void *) params);
}

/*
 * Get the parameters that do not change before the end of the statement: the results of its
 * uncorrelated subqueries.
 */
static Bitmapset *
constant_params(const EState *estate)
{
	Bitmapset  *params = NULL;
	ListCell   *cell;
	ListCell   *param;

	foreach(cell, estate->es_plannedstmt->planTree->initPlan)
		foreach(param, lfirst_node(SubPlan, cell)->setParam)
			params = bms_add_member(params, lfirst_int(param));
	return params;
}

/* Prepare an expression that the run depends on. */
static void
init_input(EmogiScan *scan, Expr *expression)
{
	EmogiInput *input = &scan->inputs[scan->ninputs++];

	input->expression = expression;
	input->type = exprType((Node *) expression);
	if (IsA(expression, Const))
	{
		input->constant = (const Const *) expression;
		input->length = (int16) input->constant->constlen;
		input->by_value = input->constant->constbyval;
		return;
	}
	input->state = ExecInitExpr(expression, (PlanState *) scan);
	get_typlenbyval(input->type, &input->length, &input->by_value);
}

/* Does a condition select the vertices of the rows? */
static bool
chooses_rows(EmogiPushdown pushdown)
{
	return pushdown <= EMOGI_VERTEX_IN || pushdown == EMOGI_MEMBER_OF;
}

/* Prepare the conditions. If the one on `vertex` changes between rescans, it is looked up. */
static void
init_conditions(EmogiScan *scan, List *operands, List *pushdowns, List *places)
{
	ListCell   *operand;
	ListCell   *pushdown;
	ListCell   *place;
	Bitmapset  *constant = constant_params(scan->css.ss.ps.state);

	scan->vertex_input = -1;
	scan->pushdowns = palloc(Max(list_length(pushdowns), 1) * sizeof *scan->pushdowns);
	scan->places = palloc(Max(list_length(places), 1) * sizeof *scan->places);
	forthree(operand, operands, pushdown, pushdowns, place, places)
	{
		Bitmapset  *params = NULL;

		(void) collect_params(lfirst(operand), &params);
		scan->places[scan->nconditions] = lfirst_int(place);
		scan->pushdowns[scan->nconditions++] = (EmogiPushdown) lfirst_int(pushdown);
		if (lfirst_int(pushdown) >= EMOGI_IS_BELOW && scan->mask == NULL)
			scan->mask = palloc(EMOGI_BLOCK_VERTICES);
		if (chooses_rows((EmogiPushdown) lfirst_int(pushdown)))
		{
			scan->vertex_input = scan->ninputs;
			scan->looks_up = !bms_is_subset(params, constant) ||
				lfirst_int(pushdown) == EMOGI_MEMBER_OF;
		}
		if (!chooses_rows((EmogiPushdown) lfirst_int(pushdown)) || !scan->looks_up)
			scan->run_params = bms_join(scan->run_params, params);
		init_input(scan, lfirst(operand));
	}
}

/* Find the inputs that have one value in the plan, if the scan may run more than once. */
static void
find_fixed(EmogiScan *scan)
{
	scan->may_run_again = !bms_is_subset(scan->run_params,
										 constant_params(scan->css.ss.ps.state));
	for (int i = 0; scan->may_run_again && i < scan->ninputs; i++)
	{
		EmogiInput *input = &scan->inputs[i];
		Node	   *expression = (Node *) input->expression;
		Bitmapset  *params = NULL;

		(void) collect_params(expression, &params);
		input->is_fixed = input->constant == NULL && bms_is_empty(params) &&
			!contain_volatile_functions(expression) && !contain_subplans(expression);
	}
}

/* Prepare the inputs of a scan for its plan. */
void
emogi_inputs_init(EmogiScan *scan)
{
	CustomScan *plan = (CustomScan *) scan->css.ss.ps.plan;
	FuncExpr   *call = linitial_node(FuncExpr, plan->custom_exprs);
	ListCell   *cell;

	scan->inputs = palloc0((list_length(call->args) + list_length(plan->custom_exprs)) *
						   sizeof *scan->inputs);
	foreach(cell, call->args)
		init_input(scan, lfirst(cell));
	(void) collect_params((Node *) call->args, &scan->run_params);
	init_conditions(scan, list_copy_tail(plan->custom_exprs, 1),
					list_nth(plan->custom_private, EMOGI_PLAN_PUSHDOWNS),
					list_nth(plan->custom_private, EMOGI_PLAN_PLACES));
	find_fixed(scan);
}

/* ---- the condition on `vertex` ---- */

/* Convert the Datum of an integer of 2, 4 or 8 bytes to its value. */
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

/*
 * Get the vertices that a condition's operand names: one, or an array of this type. They get the
 * type of the column; integers become bigint.
 */
static EmogiVertexDatums
vertices_named(NullableDatum operand, Oid type, bool is_array)
{
	EmogiVertexDatums	given = {0};

	if (operand.isnull)
		return given;
	if (is_array)
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

/*
 * Raise 0A000 because the plan was made for keys of another type: the graph argument may now name
 * another table.
 */
void
emogi_inputs_report_keys(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("the vertices of this graph are of another type or collation than when the "
					"query was planned"),
			 errhint("Prepare the statement again, or use DISCARD PLANS.")));
}

/* Get the pushdown of the condition that selects vertices. */
static EmogiPushdown
selecting_pushdown(const EmogiScan *scan)
{
	return scan->pushdowns[scan->vertex_input - (scan->ninputs - scan->nconditions)];
}

/* Are the members of components looked up in the result? */
bool
emogi_inputs_looks_up_members(const EmogiScan *scan)
{
	return scan->looks_up && selecting_pushdown(scan) == EMOGI_MEMBER_OF;
}

/* Get the vertices that the operand of the condition on `vertex` names. */
static EmogiVertexDatums
vertices_of(const EmogiScan *scan, NullableDatum operand)
{
	return vertices_named(operand, scan->inputs[scan->vertex_input].type,
						  selecting_pushdown(scan) == EMOGI_VERTEX_IN);
}

/*
 * Get the number of the vertex that equals a value; -1 if there is none. The text is compared, too,
 * because emogi_key_io_lookup may find a key with another text.
 */
static int64
find_number(const EmogiScan *scan, Datum given)
{
	int64		key;
	uint32		number;

	if (!emogi_key_io_lookup(scan->form, &scan->graph, given, &key))
		return -1;
	number = emogi_graph_vertex(&scan->graph, key);
	if (number == EMOGI_NO_VERTEX)
		return -1;
	if (scan->form->type == TEXTOID &&
		!DatumGetBool(DirectFunctionCall2(byteaeq,
										  emogi_key_io_output(scan->form, &scan->graph, key),
										  given)))
		return -1;
	return number;
}

/* Link the vertices of each component of the current run, once per run. */
static void
link_members(EmogiScan *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->rows_context);
	const uint64 n = scan->graph.nvertices;
	uint32	   *members = palloc_extended(Max(n, 1) * sizeof *members, MCXT_ALLOC_HUGE);

	MemoryContextSwitchTo(old);
	if (!emogi_local_search_components_link(scan->result.columns[0].vertex, n,
											emogi_cache_labels_must_stop, members))
	{
		CHECK_FOR_INTERRUPTS();
		elog(ERROR, "the components of %llu vertices were not linked", (unsigned long long) n);
	}
	scan->members = members;
}

/* Set the keys of the rows to return to the vertices of a component, from `first` on. */
static void
list_members(EmogiScan *scan, uint32 first)
{
	MemoryContext old = MemoryContextSwitchTo(scan->keys_context);
	uint64		room = 16;
	int64	   *keys = palloc(room * sizeof *keys);

	for (uint32 v = first; v != EMOGI_NO_VERTEX; v = scan->members[v])
	{
		if (scan->nkeys == room)
		{
			CHECK_FOR_INTERRUPTS();
			room *= 2;
			keys = repalloc_huge(keys, room * sizeof *keys);
		}
		keys[scan->nkeys++] = scan->graph.ids[v];
	}
	scan->keys = keys;
	MemoryContextSwitchTo(old);
}

/*
 * Find the vertices of the component that the operand names, to follow or list them. Raises 0A000
 * as emogi_inputs_find_values does.
 */
static void
look_up_members(EmogiScan *scan, NullableDatum operand)
{
	const Oid	type = scan->inputs[scan->vertex_input].type;
	int64		number = -1;
	uint32		first = EMOGI_NO_VERTEX;

	if (!emogi_key_io_can_lookup(&scan->form->coder.key, scan->form->type))
		emogi_inputs_report_keys();
	if (scan->members == NULL)
		link_members(scan);
	if (!operand.isnull)
	{
		MemoryContext old = MemoryContextSwitchTo(scan->keys_context);

		number = find_number(scan, type == INT2OID || type == INT4OID ?
							 Int64GetDatum(integer_of(operand.value, type)) : operand.value);
		MemoryContextSwitchTo(old);
	}
	if (number >= 0 && scan->result.columns[0].vertex[number] == (uint32) number)
		first = (uint32) number;
	if (scan->follows_members)
		scan->member = first;
	else
		list_members(scan, first);
}

/*
 * Look up the vertices that the selecting condition names in the current run's graph. Only their
 * rows are returned, or all rows if the keys cannot be looked up.
 */
void
emogi_inputs_look_up(EmogiScan *scan, NullableDatum operand)
{
	MemoryContext old;
	EmogiVertexDatums	given;

	MemoryContextReset(scan->keys_context);
	scan->keys = NULL;
	scan->nkeys = 0;
	if (scan->call == NULL)
		return;
	if (selecting_pushdown(scan) == EMOGI_MEMBER_OF)
	{
		look_up_members(scan, operand);
		return;
	}
	if (!emogi_key_io_can_lookup(&scan->form->coder.key, scan->form->type))
		return;
	old = MemoryContextSwitchTo(scan->keys_context);
	given = vertices_of(scan, operand);
	scan->keys = emogi_vertices_find_ids(scan->form, &scan->graph, &given, &scan->nkeys);
	MemoryContextSwitchTo(old);
}

/* ---- applying conditions ---- */

/* Bound a task by a condition on the level. */
static void
bound_depth(EmogiTask *task, EmogiPushdown pushdown, int64 bound)
{
	if (pushdown == EMOGI_BOUND_BELOW && bound > PG_INT64_MIN)
		bound--;
	task->no_rows |= bound < 0;
	if (bound >= 0 && (task->query.max_depth < 0 || bound < task->query.max_depth))
		task->query.max_depth = bound;
}

/* Bound a task by a condition on the distance. NaN is greater than any distance. */
static void
bound_distance(EmogiTask *task, EmogiPushdown pushdown, double bound)
{
	if (isnan(bound))
		task->no_rows |= pushdown == EMOGI_BOUND_EXACTLY;
	else
	{
		if (pushdown == EMOGI_BOUND_BELOW)
			bound = nextafter(bound, -(double) INFINITY);
		task->no_rows |= bound < 0;
		task->query.max_distance = Min(task->query.max_distance, Max(bound, 0));
	}
}

/* Is a condition about a column of vertices? */
static bool
is_of_vertices(const EmogiScan *scan, int condition)
{
	return emogi_row_kind_column(scan->function, scan->places[condition])->type == EMOGI_VERTEX;
}

/*
 * Get the index of a condition's range: if rows are vertices, only the columns after `vertex` have
 * one.
 */
static int
range_of(const EmogiScan *scan, int condition)
{
	return scan->places[condition] - (scan->kind == NULL);
}

/* Apply the conditions to a task and to the ranges of its rows' values. */
void
emogi_inputs_apply_conditions(EmogiScan *scan, EmogiTask *task)
{
	memset(&scan->ranges, 0, sizeof scan->ranges);
	scan->nulls = EMOGI_NULLS_INCLUDED;
	for (int i = 0; i < scan->nconditions; i++)
	{
		const EmogiInput *input = &scan->inputs[scan->ninputs - scan->nconditions + i];
		EmogiPushdown pushdown = scan->pushdowns[i];

		if (chooses_rows(pushdown))
		{
			if (scan->looks_up)
				continue;
			task->has_targets = true;
			task->wanted = vertices_of(scan, input->value);
		}
		else if (pushdown >= EMOGI_IS_SELF)
			continue;			/* see emogi_inputs_find_values */
		else if (pushdown == EMOGI_IS_NULL || pushdown == EMOGI_IS_NOT_NULL)
			scan->nulls |= pushdown == EMOGI_IS_NULL ? EMOGI_NULLS_ONLY : EMOGI_NULLS_EXCLUDED;
		else if (input->value.isnull)
			task->no_rows = true;
		else if (pushdown >= EMOGI_IS_BELOW)
		{
			if (!is_of_vertices(scan, i))
				emogi_ranges_narrow(&scan->ranges, scan->function->columns, range_of(scan, i),
									pushdown, input->value.value, input->type);
			else if ((scan->function->traits & EMOGI_KEEPS_COMPONENTS) != 0 &&
					 !task->has_components &&
					 (pushdown == EMOGI_IS || pushdown == EMOGI_IS_LIKELY ||
					  pushdown == EMOGI_IS_IN))
			{
				task->has_components = true;
				task->named = vertices_named(input->value, input->type, pushdown == EMOGI_IS_IN);
			}
		}
		else if (input->type == FLOAT8OID)
			bound_distance(task, pushdown, DatumGetFloat8(input->value.value));
		else if (input->type == FLOAT4OID)
			bound_distance(task, pushdown, DatumGetFloat4(input->value.value));
		else
			bound_depth(task, pushdown, integer_of(input->value.value, input->type));
	}
}

/* Get the number of the first vertex whose integer key is >= key. */
static int64
first_from(const EmogiGraph *graph, int64 key)
{
	return EMOGI_PARTITION_POINT(0, graph->nvertices, middle,
								 (graph->ids != NULL ? graph->ids[middle] : (int64) middle) < key);
}

/* Convert an order comparison with an integer key into one with a vertex number. */
static EmogiPushdown
compare_number(const EmogiGraph *graph, EmogiPushdown pushdown, int64 key, int64 *number)
{
	const bool	is_lower_bound = pushdown == EMOGI_IS_AT_LEAST || pushdown == EMOGI_IS_ABOVE;
	const bool	is_after = pushdown == EMOGI_IS_AT_MOST || pushdown == EMOGI_IS_ABOVE;

	*number = is_after && key == PG_INT64_MAX ? (int64) graph->nvertices :
		first_from(graph, key + (is_after ? 1 : 0));
	return is_lower_bound ? EMOGI_IS_AT_LEAST : EMOGI_IS_BELOW;
}

/* Restrict a vertex column to the elements of an array. */
static void
narrow_to_list(EmogiScan *scan, int condition, const EmogiInput *input)
{
	const EmogiVertexDatums given = vertices_named(input->value, input->type, true);
	uint32	   *numbers = palloc_extended(Max(given.count, 1) * sizeof *numbers, MCXT_ALLOC_HUGE);
	uint64		count = 0;

	for (uint64 i = 0; i < given.count; i++)
	{
		const int64 number = find_number(scan, given.datums[i]);

		if (i % LOOKUPS_PER_CHECK == LOOKUPS_PER_CHECK - 1)
			CHECK_FOR_INTERRUPTS();
		if (number >= 0)
			numbers[count++] = (uint32) number;
	}
	qsort(numbers, count, sizeof *numbers, emogi_compare_uint32);
	emogi_ranges_list(&scan->ranges, scan->function->columns, range_of(scan, condition), numbers,
					  count);
}

/* Narrow a vertex column's range by a comparison with one vertex. */
static void
narrow_vertex(EmogiScan *scan, int condition, EmogiPushdown pushdown, Datum given)
{
	int64		number = -1;

	if (pushdown == EMOGI_IS || pushdown == EMOGI_IS_LIKELY || pushdown == EMOGI_IS_NOT)
		number = find_number(scan, given);
	else
		pushdown = compare_number(&scan->graph, pushdown, DatumGetInt64(given), &number);
	if (pushdown != EMOGI_IS_NOT)
		emogi_ranges_narrow(&scan->ranges, scan->function->columns, range_of(scan, condition),
							pushdown == EMOGI_IS_LIKELY ? EMOGI_IS : pushdown,
							Int64GetDatum(number), INT8OID);
	else if (number >= 0)
		emogi_ranges_exclude(&scan->ranges, range_of(scan, condition), (uint32) number);
}

/*
 * Apply the conditions on vertex columns to the ranges, once the graph is acquired. Raises 0A000 if
 * the plan assumes that keys can be looked up, and these cannot.
 */
void
emogi_inputs_find_values(EmogiScan *scan)
{
	for (int i = 0; i < scan->nconditions; i++)
	{
		const EmogiInput *input = &scan->inputs[scan->ninputs - scan->nconditions + i];
		const EmogiPushdown pushdown = scan->pushdowns[i];
		Datum		given = input->value.value;

		if (pushdown < EMOGI_IS_BELOW || pushdown == EMOGI_MEMBER_OF || !is_of_vertices(scan, i) ||
			(input->value.isnull && pushdown < EMOGI_IS_SELF))
			continue;
		if (!emogi_key_io_can_lookup(&scan->form->coder.key, scan->form->type))
		{
			if (pushdown == EMOGI_IS_LIKELY)
				continue;
			emogi_inputs_report_keys();
		}
		if (input->type == INT2OID || input->type == INT4OID)
			given = Int64GetDatum(integer_of(given, input->type));
		if (pushdown >= EMOGI_IS_SELF)
			emogi_ranges_compare_self(&scan->ranges, range_of(scan, i), pushdown == EMOGI_IS_SELF);
		else if (pushdown == EMOGI_IS_IN)
			narrow_to_list(scan, i, input);
		else
			narrow_vertex(scan, i, pushdown, given);
	}
}
