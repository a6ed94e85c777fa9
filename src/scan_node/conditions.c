/*
 * conditions.c: conditions on a function's rows that its scan evaluates itself
 *
 * A condition on `vertex` selects rows: an equality of the column's type, if the graph's keys can
 * be looked up by it. A text value may be the text form of keys of another type, for which a lookup
 * is not always possible; then each row is rechecked. A condition on the first column of a function
 * with a bound for it (the level of emogi_bfs, the distance of emogi_sssp) bounds the traversal. A
 * comparison of any other column, and `parent IS NULL`, is evaluated over the result arrays
 * (ranges.c), or by a cursor if rows are not vertices (function/cursor.h).
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
static bool
is_known_before(PlannerInfo *root, const RelOptInfo *rel, Node *node)
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
static int
strategy_of(Oid operator, Oid column_type)
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
		return strategy_of(operator, INT8OID) == BTEqualStrategyNumber;
	if (strategy_of(operator, type) != BTEqualStrategyNumber || given != type)
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
		!is_known_before(root, rel, lsecond(clause->args)) ||
		!is_vertex_lookup(root, rel, clause->opno, clause->inputcollid, linitial(clause->args),
						  lsecond(clause->args), true, &exact))
		return false;
	*condition = (EmogiCondition) {EMOGI_VERTEX_IN, emogi_row_kind_key(function),
								   lsecond(clause->args), exact};
	return true;
}

/* Match a comparison of `vertex`, level or distance with a value. */
static bool
match_comparison(PlannerInfo *root, const RelOptInfo *rel, const EmogiAlgorithmRow *function,
				 OpExpr *clause, EmogiCondition *condition)
{
	bool		bounded = emogi_algorithm_takes(function, EMOGI_MAX_DEPTH) >= 0 ||
		emogi_algorithm_takes(function, EMOGI_MAX_DISTANCE) >= 0;
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
	if (!OidIsValid(operator) || !is_known_before(root, rel, right))
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
	switch (strategy_of(operator, exprType(left)))
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

/* Can values of a column be compared with this type in the result arrays? */
static bool
is_comparable(const EmogiResultColumn *column, Oid column_type, Oid type)
{
	switch (column->type)
	{
		case EMOGI_INT32:
		case EMOGI_INT64:
			return type == INT2OID || type == INT4OID || type == INT8OID;
		case EMOGI_FLOAT64:
			return type == FLOAT4OID || type == FLOAT8OID;
		case EMOGI_VERTEX:
			return column_type == INT8OID ? type == INT2OID || type == INT4OID || type == INT8OID :
				(column_type == UUIDOID || column_type == TEXTOID) && type == column_type;
		case EMOGI_EDGE:
			break;
	}
	return false;
}

/* Is this a constant 0? */
static bool
is_zero(const Node *node)
{
	return emogi_call_expr_integer(node) == 0;
}

/* Is this the <> operator of a column's type? */
static bool
is_inequality(Oid operator, Oid column_type)
{
	const Oid negator = get_negator(operator);

	return OidIsValid(negator) && strategy_of(negator, column_type) == BTEqualStrategyNumber;
}

/*
 * Can the vertices that equal a value of this type be looked up? *is_known: false if that depends
 * on the key type, which the planner does not know.
 */
static bool
finds_vertices(PlannerInfo *root, const FuncExpr *call, const EmogiAlgorithmRow *function, Oid type,
			   Oid collation, bool *is_known)
{
	EmogiKeyType key;

	*is_known = true;
	if (type != TEXTOID)
		return true;
	if (!OidIsValid(collation) || !get_collation_isdeterministic(collation))
		return false;
	*is_known = emogi_call_expr_plan_keys(root, call, function->algorithm, &key);
	return !*is_known || emogi_key_io_can_lookup(&key, TEXTOID);
}

/*
 * Get the number of the first column that can be compared: if rows are vertices, the one after
 * `vertex`.
 */
static int
first_value(const EmogiAlgorithmRow *function)
{
	return emogi_row_kind_find(function) != NULL ? 0 : 1;
}

/*
 * Match a comparison of a column with an operand that does not change more often than the call's
 * arguments.
 */
static bool
match_value(PlannerInfo *root, const RelOptInfo *rel, const EmogiAlgorithmRow *function,
			const FuncExpr *call, OpExpr *clause, EmogiCondition *condition)
{
	static const EmogiPushdown pushdowns[] = {
		[BTLessStrategyNumber] = EMOGI_IS_BELOW, [BTLessEqualStrategyNumber] = EMOGI_IS_AT_MOST,
		[BTEqualStrategyNumber] = EMOGI_IS,
		[BTGreaterEqualStrategyNumber] = EMOGI_IS_AT_LEAST,
		[BTGreaterStrategyNumber] = EMOGI_IS_ABOVE
	};

	const EmogiResultColumn *column;
	bool		is_known = true;

	for (int place = first_value(function);
		 list_length(clause->args) == 2 &&
		 (column = emogi_row_kind_column(function, place)) != NULL; place++)
	{
		const bool	is_swapped = !emogi_conditions_is_column(linitial(clause->args), rel,
															 place + 1);
		Node	   *left = is_swapped ? lsecond(clause->args) : linitial(clause->args);
		Node	   *right = is_swapped ? linitial(clause->args) : lsecond(clause->args);
		Oid			operator = is_swapped ? get_commutator(clause->opno) : clause->opno;
		int			strategy;

		if (!emogi_conditions_is_column(left, rel, place + 1) ||
			!OidIsValid(operator) || !is_comparable(column, exprType(left), exprType(right)) ||
			(column->type == EMOGI_VERTEX && emogi_row_kind_key(function) < 0) ||
			!is_known_before(root, rel, right) || !emogi_conditions_may_bound(root, call, right))
			continue;
		if (column->type == EMOGI_VERTEX &&
			!finds_vertices(root, call, function, exprType(left), clause->inputcollid, &is_known))
			continue;
		strategy = strategy_of(operator, exprType(left));
		if (strategy == 0 && column->type == EMOGI_VERTEX &&
			emogi_row_kind_find(function) == NULL &&
			is_known && is_inequality(operator, exprType(left)))
		{
			*condition = (EmogiCondition) {EMOGI_IS_NOT, place, (Expr *) right, true};
			return true;
		}
		if (strategy == 0 && (column->type == EMOGI_INT32 || column->type == EMOGI_INT64) &&
			is_zero(right) && is_inequality(operator, exprType(left)))
			strategy = BTGreaterStrategyNumber; /* no value is below 0 */
		if (strategy == 0 || (column->type == EMOGI_VERTEX && exprType(left) != INT8OID &&
							  strategy != BTEqualStrategyNumber))
			continue;
		*condition = (EmogiCondition) {is_known ? pushdowns[strategy] : EMOGI_IS_LIKELY, place,
									   (Expr *) right, is_known};
		return true;
	}
	return false;
}

/*
 * Match `column = ANY (array)` for a vertex column after `vertex`, with an array that does not
 * change more often than the call's arguments.
 */
static bool
match_listed(PlannerInfo *root, const RelOptInfo *rel, const EmogiAlgorithmRow *function,
			 const FuncExpr *call, const ScalarArrayOpExpr *clause, EmogiCondition *condition)
{
	Node	   *left = linitial(clause->args);
	Node	   *right = lsecond(clause->args);
	const EmogiResultColumn *column;
	bool		is_known;

	if (emogi_row_kind_find(function) != NULL || !clause->useOr)
		return false;
	for (int place = 1; (column = emogi_row_kind_column(function, place)) != NULL; place++)
	{
		if (column->type != EMOGI_VERTEX || !emogi_conditions_is_column(left, rel, place + 1) ||
			strategy_of(clause->opno, exprType(left)) != BTEqualStrategyNumber ||
			!is_comparable(column, exprType(left), get_base_element_type(exprType(right))) ||
			!is_known_before(root, rel, right) || !emogi_conditions_may_bound(root, call, right) ||
			!finds_vertices(root, call, function, exprType(left), clause->inputcollid, &is_known) ||
			!is_known)
			continue;
		*condition = (EmogiCondition) {EMOGI_IS_IN, place, (Expr *) right, true};
		return true;
	}
	return false;
}

/* Match `column = vertex` and `column <> vertex`, for a vertex column after `vertex`. */
static bool
match_self(PlannerInfo *root, const RelOptInfo *rel, const EmogiAlgorithmRow *function,
		   const FuncExpr *call, const OpExpr *clause, EmogiCondition *condition)
{
	Node	   *left = linitial(clause->args);
	Node	   *right = llast(clause->args);
	const EmogiResultColumn *column;
	bool		is_known;

	if (emogi_row_kind_find(function) != NULL || list_length(clause->args) != 2)
		return false;
	for (int place = 1; (column = emogi_row_kind_column(function, place)) != NULL; place++)
	{
		const Oid	type = exprType(left);
		const bool	is_equal = strategy_of(clause->opno, type) == BTEqualStrategyNumber;

		if (column->type != EMOGI_VERTEX ||
			!((emogi_conditions_is_key(left, rel, function) &&
			   emogi_conditions_is_column(right, rel, place + 1)) ||
			  (emogi_conditions_is_key(right, rel, function) &&
			   emogi_conditions_is_column(left, rel, place + 1))) ||
			!is_comparable(column, type, exprType(right)) ||
			!(is_equal || is_inequality(clause->opno, type)) ||
			!finds_vertices(root, call, function, type, clause->inputcollid, &is_known) ||
			!is_known)
			continue;
		*condition = (EmogiCondition) {is_equal ? EMOGI_IS_SELF : EMOGI_IS_NOT_SELF, place,
									   (Expr *) makeNullConst(type, -1, InvalidOid), true};
		return true;
	}
	return false;
}

/*
 * Does a function name components by their smallest vertex, so that a component's vertices can be
 * linked?
 */
bool
emogi_conditions_names_members(const EmogiAlgorithmRow *function)
{
	return function->algorithm == EMOGI_CC || function->algorithm == EMOGI_SCC;
}

/*
 * Match `component = x` for such a function, with an operand that may change between rescans: the
 * vertices of the component are looked up in the result of one run.
 */
bool
emogi_conditions_match_member(PlannerInfo *root, const RelOptInfo *rel,
							  const EmogiAlgorithmRow *function, RestrictInfo *clause,
							  EmogiCondition *condition)
{
	const OpExpr *equality = (const OpExpr *) clause->clause;
	const FuncExpr *call = emogi_call_expr_of(planner_rt_fetch(rel->relid, root), &function);
	bool		is_known;
	bool		is_swapped;
	Node	   *left;
	Node	   *right;

	if (!emogi_conditions_names_members(function) || clause->pseudoconstant ||
		clause->security_level > rel->baserestrict_min_security || !IsA(equality, OpExpr) ||
		list_length(equality->args) != 2)
		return false;
	is_swapped = !emogi_conditions_is_column(linitial(equality->args), rel, 2);
	left = is_swapped ? lsecond(equality->args) : linitial(equality->args);
	right = is_swapped ? linitial(equality->args) : lsecond(equality->args);
	if (!emogi_conditions_is_column(left, rel, 2) || !is_known_before(root, rel, right) ||
		!is_comparable(&function->columns[0], exprType(left), exprType(right)) ||
		strategy_of(is_swapped ? get_commutator(equality->opno) : equality->opno,
					exprType(left)) != BTEqualStrategyNumber ||
		!finds_vertices(root, call, function, exprType(left), equality->inputcollid, &is_known) ||
		!is_known)
		return false;
	*condition = (EmogiCondition) {EMOGI_MEMBER_OF, 1, (Expr *) right, true};
	return true;
}

/* Add a condition to those that the scan evaluates. */
static void
push_down(const RangeTblEntry *rte, const EmogiCondition *condition, EmogiConditions *sorted)
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

	for (int place = first_value(function);
		 clause->useOr && (result = emogi_row_kind_column(function, place)) != NULL; place++)
	{
		const EmogiColumnType type = result->type;
		Node	   *column = linitial(clause->args);
		const bool	is_bound = place == 1 && emogi_algorithm_takes(function, EMOGI_MAX_DEPTH) >= 0;

		if ((type != EMOGI_INT32 && type != EMOGI_INT64) ||
			!emogi_conditions_is_column(column, rel, place + 1) ||
			strategy_of(clause->opno, exprType(column)) != BTEqualStrategyNumber ||
			!find_range(lsecond(clause->args), &min, &max, &is_complete))
			continue;
		push_down(rte, &(EmogiCondition) {EMOGI_IS_AT_LEAST, place, int8_const(min)}, sorted);
		push_down(rte, &(EmogiCondition) {is_bound ? EMOGI_BOUND_AT_MOST : EMOGI_IS_AT_MOST, place,
										  int8_const(max)}, sorted);
		return is_complete;
	}
	return false;
}

/*
 * Split the conditions on a call's rows into those that the scan evaluates and the others; leave
 * out those that do not depend on the rows.
 */
void
emogi_conditions_sort(PlannerInfo *root, const RelOptInfo *rel, List *clauses,
					  EmogiConditions *sorted)
{
	const RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	const EmogiAlgorithmRow *function;
	const FuncExpr *call = emogi_call_expr_of(rte, &function);
	bool		has_vertices = false;
	bool		has_list = false;
	bool		has_exclusion = false;
	bool		has_self = false;
	bool		is_matched;
	ListCell   *cell;

	*sorted = (EmogiConditions) {0};
	foreach(cell, clauses)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);
		EmogiCondition condition;
		bool		is_left = true;

		if (clause->pseudoconstant)
			continue;
		is_matched = emogi_conditions_match(root, rel, function, clause, &condition);
		if (is_matched && (condition.pushdown <= EMOGI_VERTEX_IN ? !has_vertices :
						   emogi_conditions_may_bound(root, call, (Node *) condition.operand)))
		{
			push_down(rte, &condition, sorted);
			has_vertices |= condition.pushdown <= EMOGI_VERTEX_IN;
			is_left = !condition.exact;
		}
		if (is_left && clause->security_level <= rel->baserestrict_min_security &&
			IsA(clause->clause, OpExpr) &&
			match_value(root, rel, function, call, (OpExpr *) clause->clause, &condition) &&
			!(condition.pushdown == EMOGI_IS_NOT && has_exclusion))
		{
			push_down(rte, &condition, sorted);
			has_exclusion |= condition.pushdown == EMOGI_IS_NOT;
			is_left = !condition.exact;
		}
		if (is_left && !has_self && clause->security_level <= rel->baserestrict_min_security &&
			IsA(clause->clause, OpExpr) &&
			match_self(root, rel, function, call, (OpExpr *) clause->clause, &condition))
		{
			push_down(rte, &condition, sorted);
			has_self = true;
			is_left = false;
		}
		if (is_left && !has_vertices &&
			emogi_conditions_match_member(root, rel, function, clause, &condition))
		{
			push_down(rte, &condition, sorted);
			has_vertices = true;
			is_left = false;
		}
		if (is_left && !has_list && clause->security_level <= rel->baserestrict_min_security &&
			IsA(clause->clause, ScalarArrayOpExpr) &&
			match_listed(root, rel, function, call, (ScalarArrayOpExpr *) clause->clause,
						 &condition))
		{
			push_down(rte, &condition, sorted);
			has_list = true;
			is_left = false;
		}
		if (is_left && clause->security_level <= rel->baserestrict_min_security &&
			IsA(clause->clause, ScalarArrayOpExpr))
			is_left = !push_down_range(rel, rte, function, (ScalarArrayOpExpr *) clause->clause,
									   sorted);
		if (is_left)
			sorted->quals = lappend(sorted->quals, clause->clause);
	}
}
