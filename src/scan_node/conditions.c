/*
 * conditions.c: conditions on a function's rows that its scan evaluates itself
 *
 * A condition on `vertex` selects rows: an equality of the column's type, if the graph's keys can
 * be looked up by it. A text value may be the text form of keys of another type, for which a lookup
 * is not always possible; then each row is rechecked. A condition on the first column of a function
 * with a bound for it (the level of emogi_bfs, the distance of emogi_sssp) bounds the traversal. A
 * comparison of any other column, and `parent IS NULL`, is evaluated over the result arrays
 * (ranges.c), or by a cursor if rows are not vertices (function/cursor.h): conditions_value.c.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "function/cursor.h"
#include "scan_node/call_expr.h"
#include "scan_node/plan.h"

/* An IN list of integers is checked for gaps if its elements are in [0, MAX_LISTED). */
#define MAX_LISTED 100000

/* Is this expression column `attnum` of the scanned relation? */
bool
emogi_conditions_is_column(Node *node, const RelOptInfo *rel, AttrNumber attnum)
{
	return node != NULL && IsA(node, Var) && ((Var *) node)->varno == rel->relid &&
		((Var *) node)->varattno == attnum && ((Var *) node)->varlevelsup == 0;
}

/* Can this be computed once, before any row of the scanned relation exists? */
bool
emogi_conditions_is_known_before(PlannerInfo *root, const RelOptInfo *rel, Node *node)
{
	return !bms_is_member(rel->relid, pull_varnos(root, node)) &&
		!contain_volatile_functions(node) && !contain_subplans(node);
}

/* What an expression depends on that changes during execution */
typedef struct Dependence
{
	PlannerInfo *root;
	Relids		relids;			/* other relations in FROM */
	Bitmapset  *params;			/* PARAM_EXEC parameters, except results of initplans */
} Dependence;

/* Is this parameter the result of an initplan, of this query or one around it? */
static bool
is_computed_once(PlannerInfo *root, int param)
{
	for (; root != NULL; root = root->parent_root)
	{
		ListCell   *cell;

		foreach(cell, root->init_plans)
			if (list_member_int(lfirst_node(SubPlan, cell)->setParam, param))
				return true;
	}
	return false;
}

static bool
collect_params(Node *node, Dependence *dependence)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC &&
		!is_computed_once(dependence->root, ((Param *) node)->paramid))
		dependence->params = bms_add_member(dependence->params, ((Param *) node)->paramid);
	return expression_tree_walker(node, collect_params, (void *) dependence);
}

/* Find what an expression depends on. */
static Dependence
dependence_of(PlannerInfo *root, Node *node)
{
	Dependence	dependence = {.root = root, .relids = pull_varnos(root, node)};

	(void) collect_params(node, &dependence);
	return dependence;
}

/*
 * May this operand bound the traversal? Only if it does not change more often than the arguments of
 * the call: otherwise it would need a new run where the result of one run could be reused.
 */
bool
emogi_conditions_may_bound(PlannerInfo *root, const FuncExpr *call, Node *operand)
{
	Dependence	of_call = dependence_of(root, (Node *) call->args);
	Dependence	of_operand = dependence_of(root, operand);

	return bms_is_subset(of_operand.relids, of_call.relids) &&
		bms_is_subset(of_operand.params, of_call.params);
}

/*
 * Get the btree strategy of an operator between a column and another type of its family; 0 if it
 * has none.
 */
int
emogi_conditions_strategy(Oid operator, Oid column_type)
{
	return get_op_opfamily_strategy(operator,
									lookup_type_cache(column_type,
													  TYPECACHE_BTREE_OPFAMILY)->btree_opf);
}

/*
 * Can a text vertex be looked up in a call's graph? If its key type is unknown, which is the case
 * for a query, only outside joins.
 */
static bool
can_look_up_text(PlannerInfo *root, const RelOptInfo *rel, bool is_join)
{
	const EmogiAlgorithmRow *function;
	const FuncExpr *call = emogi_call_expr_of(planner_rt_fetch(rel->relid, root), &function);
	EmogiKeyType key;

	if (!emogi_call_expr_key(call, function->algorithm, &key))
		return !is_join;
	return emogi_key_io_can_lookup(&key, TEXTOID);
}

/*
 * Does an operator between `vertex` and a value (or the elements of an array) look up vertices?
 * *exact: no recheck is needed.
 */
static bool
is_vertex_lookup(PlannerInfo *root, const RelOptInfo *rel, Oid operator, Oid collation,
				 const Var *vertex, Node *value, bool is_array, bool *exact)
{
	const Oid	type = vertex->vartype;
	const Oid	given = is_array ? get_base_element_type(exprType(value)) : exprType(value);

	*exact = !OidIsValid(vertex->varcollid);
	if (type == INT8OID)
		return emogi_conditions_strategy(operator, INT8OID) == BTEqualStrategyNumber;
	if (emogi_conditions_strategy(operator, type) != BTEqualStrategyNumber || given != type)
		return false;
	return *exact || (OidIsValid(collation) && get_collation_isdeterministic(collation) &&
					  can_look_up_text(root, rel, !bms_is_empty(pull_varnos(root, value))));
}

/* Is this the column of the scanned relation that selects vertices? */
bool
emogi_conditions_is_key(Node *node, const RelOptInfo *rel, const EmogiAlgorithmRow *function)
{
	const int	key = emogi_row_kind_key(function);

	return key >= 0 && emogi_conditions_is_column(node, rel, key + 1);
}

/* Match `vertex = ANY (array)`. */
static bool
match_any(PlannerInfo *root, const RelOptInfo *rel, const EmogiAlgorithmRow *function,
		  ScalarArrayOpExpr *clause, EmogiCondition *condition)
{
	bool		exact;

	if (!clause->useOr || !emogi_conditions_is_key(linitial(clause->args), rel, function) ||
		!emogi_conditions_is_known_before(root, rel, lsecond(clause->args)) ||
		!is_vertex_lookup(root, rel, clause->opno, clause->inputcollid, linitial(clause->args),
						  lsecond(clause->args), true, &exact))
		return false;
	*condition = (EmogiCondition) {EMOGI_VERTEX_IN, emogi_row_kind_key(function),
								   lsecond(clause->args), exact};
	return true;
}

/*
 * Is a search bounded by conditions on its second column, a level or a distance? A roll-up is not:
 * its level is that of the longest path, and a bound changes quantities.
 */
static bool
is_bounded_by_column(const EmogiAlgorithmRow *function)
{
	return (function->traits & EMOGI_OF_REACHED) == 0 &&
		(emogi_algorithm_takes(function, EMOGI_MAX_DEPTH) >= 0 ||
		 emogi_algorithm_takes(function, EMOGI_MAX_DISTANCE) >= 0);
}

/* Match a comparison of `vertex`, level or distance with a value. */
static bool
match_comparison(PlannerInfo *root, const RelOptInfo *rel, const EmogiAlgorithmRow *function,
				 OpExpr *clause, EmogiCondition *condition)
{
	const bool	bounded = is_bounded_by_column(function);
	Node	   *left;
	Node	   *right;
	Oid			operator = clause->opno;
	bool		exact;

	if (list_length(clause->args) != 2)
		return false;
	left = linitial(clause->args);
	right = lsecond(clause->args);
	if (!emogi_conditions_is_key(left, rel, function) &&
		!(bounded && emogi_conditions_is_column(left, rel, 2)))
	{
		Node	   *swap = left;

		left = right;
		right = swap;
		operator = get_commutator(operator);
	}
	if (!OidIsValid(operator) || !emogi_conditions_is_known_before(root, rel, right))
		return false;
	if (emogi_conditions_is_key(left, rel, function))
	{
		if (!is_vertex_lookup(root, rel, operator, clause->inputcollid, (Var *) left, right, false,
							  &exact))
			return false;
		*condition = (EmogiCondition) {EMOGI_VERTEX_IS, emogi_row_kind_key(function),
									   (Expr *) right, exact};
		return true;
	}
	if (!bounded || !emogi_conditions_is_column(left, rel, 2))
		return false;
	switch (emogi_conditions_strategy(operator, exprType(left)))
	{
		case BTLessStrategyNumber:
			*condition = (EmogiCondition) {EMOGI_BOUND_BELOW, 1, (Expr *) right, true};
			return true;
		case BTLessEqualStrategyNumber:
			*condition = (EmogiCondition) {EMOGI_BOUND_AT_MOST, 1, (Expr *) right, true};
			return true;
		case BTEqualStrategyNumber:
			*condition = (EmogiCondition) {EMOGI_BOUND_EXACTLY, 1, (Expr *) right, false};
			return true;
		default:
			return false;
	}
}

/* Match `column IS NULL` and `column IS NOT NULL` for the nullable column. */
static bool
match_null(const RelOptInfo *rel, const EmogiAlgorithmRow *function, const NullTest *clause,
		   EmogiCondition *condition)
{
	const EmogiRowKind *kind = emogi_row_kind_find(function);

	if (kind == NULL || kind->nullable < 0 || clause->argisrow ||
		!emogi_conditions_is_column((Node *) clause->arg, rel, kind->nullable + 1))
		return false;
	*condition = (EmogiCondition) {
		clause->nulltesttype == IS_NULL ? EMOGI_IS_NULL : EMOGI_IS_NOT_NULL, kind->nullable,
		(Expr *) makeNullConst(exprType((Node *) clause->arg), -1, InvalidOid), true
	};
	return true;
}

/*
 * Can the scan evaluate this clause? Clauses outside a security barrier must wait for those inside.
 */
bool
emogi_conditions_match(PlannerInfo *root, const RelOptInfo *rel, const EmogiAlgorithmRow *function,
					   RestrictInfo *clause, EmogiCondition *condition)
{
	if (clause->pseudoconstant || clause->security_level > rel->baserestrict_min_security)
		return false;
	if (IsA(clause->clause, ScalarArrayOpExpr))
		return match_any(root, rel, function, (ScalarArrayOpExpr *) clause->clause, condition);
	if (IsA(clause->clause, NullTest))
		return match_null(rel, function, (NullTest *) clause->clause, condition);
	return IsA(clause->clause, OpExpr) &&
		match_comparison(root, rel, function, (OpExpr *) clause->clause, condition);
}

/* Add a condition to those that the scan evaluates. */
void
emogi_conditions_push_down(const RangeTblEntry *rte, const EmogiCondition *condition,
						   EmogiConditions *sorted)
{
	sorted->operands = lappend(sorted->operands, copyObject(condition->operand));
	sorted->pushdowns = lappend_int(sorted->pushdowns, condition->pushdown);
	sorted->names =
		lappend(sorted->names,
				makeString(pstrdup(strVal(list_nth(rte->eref->colnames, condition->place)))));
	sorted->places = lappend_int(sorted->places, condition->place);
}

/* Make a bigint constant. */
static Expr *
int8_const(int64 value)
{
	return (Expr *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(value), false,
							  FLOAT8PASSBYVAL);
}

/*
 * Find the minimum and maximum of a constant array of integers without NULLs, and whether it
 * contains all integers between them; return false for any other array.
 */
static bool
find_range(const Const *array, int64 *min, int64 *max, bool *is_complete)
{
	const Oid	type = IsA(array, Const) && !array->constisnull ?
		get_element_type(array->consttype) : InvalidOid;
	ArrayType  *values;
	Datum	   *datums;
	bool	   *nulls;
	int			count;
	int16		length;
	bool		by_value;
	char		align;
	Bitmapset  *seen = NULL;

	if (type != INT2OID && type != INT4OID && type != INT8OID)
		return false;
	values = DatumGetArrayTypeP(array->constvalue);
	if (array_contains_nulls(values))
		return false;
	get_typlenbyvalalign(type, &length, &by_value, &align);
	deconstruct_array(values, type, length, by_value, align, &datums, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		const int64 value = type == INT2OID ? DatumGetInt16(datums[i]) :
			type == INT4OID ? DatumGetInt32(datums[i]) : DatumGetInt64(datums[i]);

		*min = i == 0 ? value : Min(*min, value);
		*max = i == 0 ? value : Max(*max, value);
		if (value >= 0 && value < MAX_LISTED)
			seen = bms_add_member(seen, (int) value);
	}
	*is_complete = count > 0 && *min >= 0 && *max < MAX_LISTED &&
		bms_num_members(seen) == *max - *min + 1;
	return count > 0;
}

/*
 * Push down `column IN (integers)` for a column after `vertex` as a range from the minimum to the
 * maximum. Return true if no recheck is needed, because all integers between those are listed.
 */
static bool
push_down_range(const RelOptInfo *rel, const RangeTblEntry *rte, const EmogiAlgorithmRow *function,
				const ScalarArrayOpExpr *clause, EmogiConditions *sorted)
{
	int64		min;
	int64		max;
	bool		is_complete;

	const EmogiResultColumn *result;

	for (int place = emogi_conditions_first_value(function);
		 clause->useOr && (result = emogi_row_kind_column(function, place)) != NULL; place++)
	{
		const EmogiColumnType type = result->type;
		Node	   *column = linitial(clause->args);
		const bool	is_bound = place == 1 && is_bounded_by_column(function) &&
			emogi_algorithm_takes(function, EMOGI_MAX_DEPTH) >= 0;

		if ((type != EMOGI_INT32 && type != EMOGI_INT64) ||
			!emogi_conditions_is_column(column, rel, place + 1) ||
			emogi_conditions_strategy(clause->opno, exprType(column)) != BTEqualStrategyNumber ||
			!find_range(lsecond(clause->args), &min, &max, &is_complete))
			continue;
		emogi_conditions_push_down(rte, &(EmogiCondition) {EMOGI_IS_AT_LEAST, place,
														   int8_const(min)}, sorted);
		emogi_conditions_push_down(rte, &(EmogiCondition) {is_bound ? EMOGI_BOUND_AT_MOST :
														   EMOGI_IS_AT_MOST, place,
														   int8_const(max)}, sorted);
		return is_complete;
	}
	return false;
}

/* What emogi_conditions_sort knows while it goes through the clauses */
typedef struct Sorting
{
	PlannerInfo *root;
	const RelOptInfo *rel;
	const RangeTblEntry *rte;
	const FuncExpr *call;
	const EmogiAlgorithmRow *function;
	EmogiConditions *sorted;
	bool		has_vertices;	/* of each of these conditions, a scan evaluates one */
	bool		has_list;
	bool		has_exclusion;
	bool		has_self;
} Sorting;

/* Push down a condition that bounds a search or looks up vertices; return whether it is exact. */
static bool
push_search(Sorting *sorting, RestrictInfo *clause)
{
	EmogiCondition condition;

	if (!emogi_conditions_match(sorting->root, sorting->rel, sorting->function, clause,
								&condition) ||
		(condition.pushdown <= EMOGI_VERTEX_IN ? sorting->has_vertices :
		 !emogi_conditions_may_bound(sorting->root, sorting->call, (Node *) condition.operand)))
		return false;
	emogi_conditions_push_down(sorting->rte, &condition, sorting->sorted);
	sorting->has_vertices |= condition.pushdown <= EMOGI_VERTEX_IN;
	return condition.exact;
}

/* Push down a comparison of columns over the result arrays; return whether it is exact. */
static bool
push_comparison(Sorting *sorting, const OpExpr *clause)
{
	EmogiCondition condition;

	if (emogi_conditions_match_value(sorting->root, sorting->rel, sorting->function, sorting->call,
									 clause, &condition) &&
		!(condition.pushdown == EMOGI_IS_NOT && sorting->has_exclusion))
	{
		emogi_conditions_push_down(sorting->rte, &condition, sorting->sorted);
		sorting->has_exclusion |= condition.pushdown == EMOGI_IS_NOT;
		if (condition.exact)
			return true;
	}
	if (sorting->has_self ||
		!emogi_conditions_match_self(sorting->root, sorting->rel, sorting->function, sorting->call,
									 clause, &condition))
		return false;
	emogi_conditions_push_down(sorting->rte, &condition, sorting->sorted);
	sorting->has_self = true;
	return true;
}

/* Push down the choice of a component's vertices; return whether that was possible. */
static bool
push_member(Sorting *sorting, RestrictInfo *clause)
{
	EmogiCondition condition;

	if (sorting->has_vertices ||
		!emogi_conditions_match_member(sorting->root, sorting->rel, sorting->function, clause,
									   &condition))
		return false;
	emogi_conditions_push_down(sorting->rte, &condition, sorting->sorted);
	sorting->has_vertices = true;
	return true;
}

/* Push down `column IN (values)` over the result arrays; return whether it is exact. */
static bool
push_list(Sorting *sorting, const ScalarArrayOpExpr *clause)
{
	EmogiCondition condition;

	if (sorting->has_list ||
		!emogi_conditions_match_listed(sorting->root, sorting->rel, sorting->function,
									   sorting->call, clause, &condition))
		return push_down_range(sorting->rel, sorting->rte, sorting->function, clause,
							   sorting->sorted);
	emogi_conditions_push_down(sorting->rte, &condition, sorting->sorted);
	sorting->has_list = true;
	return true;
}

/* Split the conditions on a call's rows as emogi_conditions_sort does. */
static void
sort(PlannerInfo *root, const RelOptInfo *rel, List *clauses, EmogiConditions *sorted)
{
	Sorting		sorting = {.root = root,.rel = rel,.rte = planner_rt_fetch(rel->relid, root),
						   .sorted = sorted};
	ListCell   *cell;

	sorting.call = emogi_call_expr_of(sorting.rte, &sorting.function);
	*sorted = (EmogiConditions) {0};
	foreach(cell, clauses)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);
		const bool	is_inside = clause->security_level <= rel->baserestrict_min_security;
		const Node *expression = (const Node *) clause->clause;

		if (clause->pseudoconstant || push_search(&sorting, clause) ||
			(is_inside && IsA(expression, OpExpr) &&
			 push_comparison(&sorting, (const OpExpr *) expression)) ||
			push_member(&sorting, clause) ||
			(is_inside && IsA(expression, ScalarArrayOpExpr) &&
			 push_list(&sorting, (const ScalarArrayOpExpr *) expression)))
			continue;
		sorted->quals = lappend(sorted->quals, clause->clause);
	}
}

/*
 * Split the conditions on a call's rows into those that the scan evaluates and the others; leave
 * out those that do not depend on the rows. The caller must not change the lists.
 */
void
emogi_conditions_sort(PlannerInfo *root, const RelOptInfo *rel, List *clauses,
					  EmogiConditions *sorted)
{
	MemoryContext old;

	if (clauses != rel->baserestrictinfo)
	{
		sort(root, rel, clauses, sorted);
		return;
	}
	if (emogi_plan_sizes_conditions(root, rel, sorted))
		return;
	old = MemoryContextSwitchTo(root->planner_cxt);
	sort(root, rel, clauses, sorted);
	MemoryContextSwitchTo(old);
	emogi_plan_sizes_add_conditions(root, rel, sorted);
}
