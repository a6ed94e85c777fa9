/*
 * fold.c: what is one value for a whole call becomes a constant of the tree (Q4, Q5).
 *
 * STABLE means one value for equal arguments within a statement. So a largest expression without rows in it, with something stable
 * and nothing volatile, may be evaluated beforehand, in any language and whatever it reads: its value is in the key, new on each
 * call. The planner does the same for its estimates.
 */
#include "postgres.h"

#include "access/xact.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

#include "server/attempt.h"
#include "server/fault.h"
#include "tree/look.h"

/* Does an expression depend on a row, or is it of a kind that cannot stand alone? */
static bool
depends_on_row(Node *node, void *context)
{
	if (node == NULL)
		return false;
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
			if (((FuncExpr *) node)->funcretset)
				return true;
			break;
		case T_OpExpr:
			if (((OpExpr *) node)->opretset)
				return true;
			break;
		default:
			break;
	}
	return expression_tree_walker(node, depends_on_row, context);
}

/* Is an expression of a kind that is looked at as a whole? Others are looked into. */
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

/* Must an error in an expression end the call? What a part of a query that no row reaches would raise must not. */
static bool
ends_call(const ErrorData *error)
{
	return emogi_attempt_was_stopped(error) || error->sqlerrcode == ERRCODE_STATEMENT_TOO_COMPLEX ||
		ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_INSUFFICIENT_RESOURCES;
}

/* An expression and its value. */
typedef struct Evaluation
{
	Node	   *node;
	Node	   *value;
} Evaluation;

/* Evaluate an expression as the current user under the active snapshot. Raises what it raises. */
static void
evaluate(void *context)
{
	Evaluation *evaluation = context;
	Node	   *plain = eval_const_expressions(NULL, copyObject(evaluation->node));

	if (!IsA(plain, Const))
		plain = (Node *) evaluate_expr((Expr *) plain, exprType(plain), exprTypmod(plain), exprCollation(plain));
	evaluation->value = plain;
}

/* Evaluate an expression; NULL, and the tree is refused, when that cannot be done. */
static Node *
evaluate_safely(Node *node, EmogiTreeLook *look)
{
	Evaluation	evaluation = {node};
	ErrorData  *error;

	if (IsInParallelMode())
		return NULL;			/* what is left of the expression is judged */
	error = emogi_attempt(evaluate, &evaluation);
	if (error == NULL)
		return IsA(evaluation.value, Const) ? evaluation.value : NULL;
	if (ends_call(error))
		ReThrowError(error);
	(void) emogi_judge_refuse(look, "a part of it that is one value cannot be evaluated: %s", error->message);
	FreeErrorData(error);
	return NULL;
}

/* Copy a tree, with values in place of expressions. */
static Node *
fold(Node *node, EmogiTreeLook *look)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Query))
		return (Node *) query_tree_mutator((Query *) node, fold, look, 0);
	if (is_foldable_kind(node) && !depends_on_row(node, NULL) && contain_mutable_functions(node) &&
		!contain_volatile_functions(node) && look->tree->refusal == NULL)
	{
		Node	   *value = evaluate_safely(node, look);

		if (value != NULL)
		{
			look->tree->is_folded = true;
			return value;
		}
	}
	return expression_tree_mutator(node, fold, look);
}

/* Copy a query, with the values of what is one value for the call. What cannot be evaluated has it refused. */
Query *
emogi_fold_query(Query *query, EmogiTreeLook *look)
{
	if (emogi_faults.tree[EMOGI_TREE_FOLD])
		return copyObject(query);
	return castNode(Query, fold((Node *) query, look));
}
