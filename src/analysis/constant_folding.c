/*
 * constant_folding.c: replacement of expressions that are constant within a call by their values
 * (Q4, Q5)
 *
 * STABLE means one value for equal arguments within a statement. Therefore a maximal expression
 * that does not depend on rows, and contains something stable and nothing volatile, can be
 * evaluated beforehand, in any language and whatever it reads: its value becomes part of the key,
 * evaluated again at each call. The planner does the same for its estimates.
 *
 * One bottom-up pass finds the expressions that do not depend on rows; each maximal one is
 * evaluated once. The cost is linear in the size of the expression tree, however deep expressions
 * are nested.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"

#include "base/subtransaction.h"
#include "base/fault.h"
#include "analysis/analysis_internal.h"

/* State of folding a query. */
typedef struct Folding
{
	EmogiAnalysisState *state;
	HTAB	   *row_free;			/* of Node *: expressions that do not depend on rows and contain
								 * nothing volatile */
	bool		contains_other;			/* such an expression cannot contain some node visited since
										 * this was set to false */
} Folding;

/* Does a node itself depend on a row, or is it of a kind that cannot stand alone? */
static bool
depends_on_row(const Node *node)
{
	switch (nodeTag(node))
	{
		case T_Var:
		case T_Param:
		case T_Aggref:
		case T_GroupingFunc:
		case T_WindowFunc:
		case T_SubLink:
		case T_CaseTestExpr:
		case T_CoerceToDomainValue:
		case T_SetToDefault:
		case T_NextValueExpr:
		case T_CurrentOfExpr:
		case T_Query:
			return true;
		case T_FuncExpr:
			return ((const FuncExpr *) node)->funcretset;
		case T_OpExpr:
			return ((const OpExpr *) node)->opretset;
		default:
			return false;
	}
}

/* Is an expression of a kind that is folded as a whole? Others are searched for such parts. */
static bool
is_foldable_kind(const Node *node)
{
	switch (nodeTag(node))
	{
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_BoolExpr:
		case T_CoerceViaIO:
		case T_SQLValueFunction:
		case T_RelabelType:
		case T_CaseExpr:
		case T_CoalesceExpr:
		case T_NullTest:
			return true;
		default:
			return false;
	}
}

static bool
is_volatile(Oid function, void *context)
{
	return func_volatile(function) == PROVOLATILE_VOLATILE;
}

/*
 * Find the expressions that do not depend on rows and contain nothing volatile, including those in
 * subqueries.
 */
static bool
find_row_free(Node *node, void *context)
{
	Folding    *folding = context;
	const bool	contained_before = folding->contains_other;

	if (node == NULL)
		return false;
	CHECK_FOR_INTERRUPTS();
	folding->contains_other = false;
	if (IsA(node, Query))
		(void) query_tree_walker((Query *) node, find_row_free, context, 0);
	else
		(void) expression_tree_walker(node, find_row_free, context);
	folding->contains_other |= depends_on_row(node) ||
		check_functions_in_node(node, is_volatile, NULL);
	if (!folding->contains_other && is_foldable_kind(node))
		(void) hash_search(folding->row_free, &node, HASH_ENTER, NULL);
	folding->contains_other |= contained_before;
	return false;
}

/*
 * Must an error in an expression end the call? Other errors must not, because the expression may be
 * in a part of the query that no row reaches.
 */
static bool
ends_call(const ErrorData *error)
{
	return emogi_subtransaction_was_stopped(error) ||
		error->sqlerrcode == ERRCODE_STATEMENT_TOO_COMPLEX ||
		ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_INSUFFICIENT_RESOURCES;
}

/* An expression and its value. */
typedef struct Evaluation
{
	Node	   *node;
	Node	   *value;
} Evaluation;

/* Evaluate an expression as the current user under the active snapshot. Raises its errors. */
static void
evaluate(void *context)
{
	Evaluation *evaluation = context;
	Node	   *plain = eval_const_expressions(NULL, copyObject(evaluation->node));

	if (!IsA(plain, Const))
		plain = (Node *) evaluate_expr((Expr *) plain, exprType(plain), exprTypmod(plain),
									   exprCollation(plain));
	evaluation->value = plain;
}

/* Evaluate an expression; if that fails, return NULL and refuse the query. */
static Node *
evaluate_safely(Node *node, EmogiAnalysisState *state)
{
	Evaluation	evaluation = {node};
	ErrorData  *error;

	if (state->only_checks)
		return (Node *) makeNullConst(exprType(node), exprTypmod(node), exprCollation(node));
	if (IsInParallelMode())
		return NULL;			/* the unfolded expression is checked instead */
	error = emogi_subtransaction_run(evaluate, &evaluation);
	if (error == NULL)
		return IsA(evaluation.value, Const) ? evaluation.value : NULL;
	if (ends_call(error))
		ReThrowError(error);
	(void) emogi_cacheability_refuse(state,
									 "an expression without columns cannot be evaluated: %s",
									 error->message);
	FreeErrorData(error);
	return NULL;
}

/* Note a folded expression, and mark its value. */
static void
note_folded(Node *node, Const *value, EmogiAnalysisState *state)
{
	EmogiFolded *folded = palloc(sizeof *folded);

	*folded = (EmogiFolded) {node, value};
	value->location = EMOGI_FOLDED_MARK - list_length(state->folded);
	state->folded = lappend(state->folded, folded);
}

/* Does an expression have the current time in it? */
static bool
reads_clock(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr) && (((FuncExpr *) node)->funcid == F_NOW ||
								((FuncExpr *) node)->funcid == F_TRANSACTION_TIMESTAMP ||
								((FuncExpr *) node)->funcid == F_STATEMENT_TIMESTAMP))
		return true;
	if (IsA(node, SQLValueFunction))
		return ((SQLValueFunction *) node)->op >= SVFOP_CURRENT_TIME &&
			((SQLValueFunction *) node)->op <= SVFOP_LOCALTIMESTAMP_N;
	return expression_tree_walker(node, reads_clock, context);
}

/*
 * Is a value one of the current time, to the microsecond? No other transaction has it again.
 */
static bool
is_exact_time(Node *node, const Const *value)
{
	return (value->consttype == TIMESTAMPTZOID || value->consttype == TIMESTAMPOID) &&
		!value->constisnull && DatumGetTimestampTz(value->constvalue) % USECS_PER_SEC != 0 &&
		reads_clock(node, NULL);
}

/*
 * Copy a maximal expression that does not depend on rows, or get its value if that may differ
 * between calls.
 */
static Node *
fold_expression(Node *node, EmogiAnalysisState *state)
{
	Node	   *value = state->analysis->refusal == NULL && contain_mutable_functions(node) ?
		evaluate_safely(node, state) : NULL;

	if (value == NULL)
		return copyObject(node);
	state->analysis->is_folded = true;
	state->analysis->has_exact_time |= is_exact_time(node, castNode(Const, value));
	note_folded(node, castNode(Const, value), state);
	return value;
}

/* Copy an expression tree, replacing expressions by their values. */
static Node *
fold(Node *node, Folding *folding)
{
	if (node == NULL)
		return NULL;
	CHECK_FOR_INTERRUPTS();
	if (IsA(node, Query))
		return (Node *) query_tree_mutator((Query *) node, fold, folding, 0);
	if (is_foldable_kind(node) && hash_search(folding->row_free, &node, HASH_FIND, NULL) != NULL)
		return fold_expression(node, folding->state);
	return expression_tree_mutator(node, fold, folding);
}

/*
 * Get a query with all expressions that are constant within the call replaced by their values: a
 * copy, or the same query if there are none. If an evaluation fails, the query is refused.
 */
Query *
emogi_constant_folding_apply(Query *query, EmogiAnalysisState *state)
{
	HASHCTL		info = {.keysize = sizeof(Node *),.entrysize = sizeof(Node *),
						.hcxt = CurrentMemoryContext};
	Folding		folding = {state};
	Query	   *folded;

	if (emogi_faults.analysis[EMOGI_ANALYSIS_FOLD] || !contain_mutable_functions((Node *) query))
		return query;
	folding.row_free = hash_create("expressions without rows", 256, &info,
								 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	(void) find_row_free((Node *) query, &folding);
	folded = castNode(Query, fold((Node *) query, &folding));
	hash_destroy(folding.row_free);
	return folded;
}

/* Folded expressions, and their values now. */
typedef struct Values
{
	List	   *folded;
	List	   *values;			/* Node * */
} Values;

/* Evaluate all folded expressions. Raises their errors. */
static void
evaluate_all(void *context)
{
	Values	   *values = context;
	ListCell   *cell;

	foreach(cell, values->folded)
	{
		Evaluation	evaluation = {((EmogiFolded *) lfirst(cell))->node};

		evaluate(&evaluation);
		values->values = lappend(values->values, evaluation.value);
	}
}

/*
 * Evaluate folded expressions once more, as the current user under the active snapshot, in the
 * current memory context. Return their values, as Const; NIL if one has none, or raises an error
 * that does not end the call.
 */
List *
emogi_constant_folding_evaluate(List *folded)
{
	Values		values = {folded};
	ErrorData  *error = emogi_subtransaction_run(evaluate_all, &values);
	ListCell   *cell;

	if (error != NULL && ends_call(error))
		ReThrowError(error);
	foreach(cell, values.values)
		if (!IsA(lfirst(cell), Const))
			return NIL;
	return error == NULL ? values.values : NIL;
}

/* Is a function one whose value may differ within a transaction? */
static bool
may_differ(Oid function, void *context)
{
	return function != F_NOW && function != F_TRANSACTION_TIMESTAMP &&
		function != F_TIMESTAMPTZ_PL_INTERVAL && function != F_TIMESTAMPTZ_MI_INTERVAL &&
		function != F_INTERVAL_PL_TIMESTAMPTZ &&
		(function >= FirstNormalObjectId || func_volatile(function) != PROVOLATILE_IMMUTABLE);
}

/* Find a part of an expression whose value may differ within a transaction. */
static bool
find_differing(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SQLValueFunction) && ((SQLValueFunction *) node)->op > SVFOP_LOCALTIMESTAMP_N)
		return true;
	return IsA(node, CoerceViaIO) || check_functions_in_node(node, may_differ, NULL) ||
		expression_tree_walker(node, find_differing, context);
}

/* Have folded expressions the same values in a whole transaction, under the same settings? */
bool
emogi_constant_folding_is_of_transaction(List *folded)
{
	ListCell   *cell;

	foreach(cell, folded)
		if (find_differing(((const EmogiFolded *) lfirst(cell))->node, NULL))
			return false;
	return true;
}
