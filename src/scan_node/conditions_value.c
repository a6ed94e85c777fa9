/*
 * conditions_value.c: conditions that compare a column with a value, over the result arrays
 *
 * The value does not change more often than the arguments of the call; otherwise PostgreSQL checks
 * the condition for each row. Vertices are compared with a key only if that can be looked up.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "function/cursor.h"
#include "scan_node/call_expr.h"
#include "scan_node/plan.h"

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

/* Is this the = operator of a column's type? */
static bool
is_equality(Oid operator, Oid column_type)
{
	return emogi_conditions_strategy(operator, column_type) == BTEqualStrategyNumber;
}

/* Is this the <> operator of a column's type? */
static bool
is_inequality(Oid operator, Oid column_type)
{
	const Oid negator = get_negator(operator);

	return OidIsValid(negator) && is_equality(negator, column_type);
}

/* Can an operand be computed once for each run of the call? */
static bool
is_settled(PlannerInfo *root, const RelOptInfo *rel, const FuncExpr *call, Node *operand)
{
	return emogi_conditions_is_known_before(root, rel, operand) &&
		emogi_conditions_may_bound(root, call, operand);
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
int
emogi_conditions_first_value(const EmogiAlgorithmRow *function)
{
	return emogi_row_kind_find(function) != NULL ? 0 : 1;
}

/*
 * Match a comparison of a column with an operand that does not change more often than the call's
 * arguments.
 */
bool
emogi_conditions_match_value(PlannerInfo *root, const RelOptInfo *rel,
							 const EmogiAlgorithmRow *function, const FuncExpr *call,
							 const OpExpr *clause, EmogiCondition *condition)
{
	static const EmogiPushdown pushdowns[] = {
		[BTLessStrategyNumber] = EMOGI_IS_BELOW, [BTLessEqualStrategyNumber] = EMOGI_IS_AT_MOST,
		[BTEqualStrategyNumber] = EMOGI_IS,
		[BTGreaterEqualStrategyNumber] = EMOGI_IS_AT_LEAST,
		[BTGreaterStrategyNumber] = EMOGI_IS_ABOVE
	};

	const EmogiResultColumn *column;
	bool		is_known = true;

	for (int place = emogi_conditions_first_value(function);
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
			!is_settled(root, rel, call, right))
			continue;
		if (column->type == EMOGI_VERTEX &&
			!finds_vertices(root, call, function, exprType(left), clause->inputcollid, &is_known))
			continue;
		strategy = emogi_conditions_strategy(operator, exprType(left));
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
bool
emogi_conditions_match_listed(PlannerInfo *root, const RelOptInfo *rel,
							  const EmogiAlgorithmRow *function, const FuncExpr *call,
							  const ScalarArrayOpExpr *clause, EmogiCondition *condition)
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
			!is_equality(clause->opno, exprType(left)) ||
			!is_comparable(column, exprType(left), get_base_element_type(exprType(right))) ||
			!is_settled(root, rel, call, right) ||
			!finds_vertices(root, call, function, exprType(left), clause->inputcollid, &is_known) ||
			!is_known)
			continue;
		*condition = (EmogiCondition) {EMOGI_IS_IN, place, (Expr *) right, true};
		return true;
	}
	return false;
}

/* Match `column = vertex` and `column <> vertex`, for a vertex column after `vertex`. */
bool
emogi_conditions_match_self(PlannerInfo *root, const RelOptInfo *rel,
							const EmogiAlgorithmRow *function, const FuncExpr *call,
							const OpExpr *clause, EmogiCondition *condition)
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
		const bool	is_equal = is_equality(clause->opno, type);

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
	return (function->traits & EMOGI_NAMES_MEMBERS) != 0;
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
	if (!emogi_conditions_is_column(left, rel, 2) ||
		!emogi_conditions_is_known_before(root, rel, right) ||
		!is_comparable(&function->columns[0], exprType(left), exprType(right)) ||
		!is_equality(is_swapped ? get_commutator(equality->opno) : equality->opno,
					 exprType(left)) ||
		!finds_vertices(root, call, function, exprType(left), equality->inputcollid, &is_known) ||
		!is_known)
		return false;
	*condition = (EmogiCondition) {EMOGI_MEMBER_OF, 1, (Expr *) right, true};
	return true;
}
