/*
 * constant_folding.c: what is one value for a whole call becomes a constant of the tree (Q4, Q5).
 *
 * STABLE means one value for equal arguments within a statement. So a largest expression without
 * rows in it, with something stable and nothing volatile, may be evaluated beforehand, in any
 * language and whatever it reads: its value is in the key, new on each call. The planner does the
 * same for its estimates.
 *
 * One walk from the leaves up finds the expressions without rows; the largest of them are looked at
 * once each, as a whole. So the cost is linear in the size of the tree, however deep expressions
 * are nested.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"

#include "base/attempt.h"
#include "base/fault.h"
#include "analysis/analysis_internal.h"

/* A tree that is folded. */
typedef struct Folding
{
	EmogiAnalysisState *look;
	HTAB	   *wholes;			/* of Node *: expressions without rows in them, and without anything
								 * volatile */
	bool		met;			/* a node that has no place in such an expression, since this was
								 * set to false */
} Folding;

/* Does a node by itself depend on a row, or is it of a kind that cannot stand alone? */
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

static bool
is_volatile(Oid function, void *context)
{
	return func_volatile(function) == PROVOLATILE_VOLATILE;
}

/* Find the expressions without rows in them, and without anything volatile, in subqueries too. */
static bool
find_wholes(Node *node, void *context)
{
	Folding    *folding = context;
	const bool	met_before = folding->met;

	if (node == NULL)
		return false;
	CHECK_FOR_INTERRUPTS();
	folding->met = false;
	if (IsA(node, Query))
		(void) query_tree_walker((Query *) node, find_wholes, context, 0);
	else
		(void) expression_tree_walker(node, find_wholes, context);
	folding->met |= depends_on_row(node) || check_functions_in_node(node, is_volatile, NULL);
	if (!folding->met && is_foldable_kind(node))
		(void) hash_search(folding->wholes, &node, HASH_ENTER, NULL);
	folding->met |= met_before;
	return false;
}

/*
 * Must an error in an expression end the call? What a part of a query that no row reaches would
 * raise must not.
 */
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
		plain = (Node *) evaluate_expr((Expr *) plain, exprType(plain), exprTypmod(plain),
									   exprCollation(plain));
	evaluation->value = plain;
}

/* Evaluate an expression; NULL, and the tree is refused, when that cannot be done. */
static Node *
evaluate_safely(Node *node, EmogiAnalysisState *look)
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
	(void) emogi_cacheability_refuse(look, "a part of it that is one value cannot be evaluated: %s",
									 error->message);
	FreeErrorData(error);
	return NULL;
}

/*
 * Copy a whole expression without rows, or get its value if that may be another for another call.
 */
static Node *
fold_whole(Node *node, EmogiAnalysisState *look)
{
	Node	   *value = look->tree->refusal == NULL && contain_mutable_functions(node) ?
		evaluate_safely(node, look) : NULL;

	if (value == NULL)
		return copyObject(node);
	look->tree->is_folded = true;
	return value;
}

/* Copy a tree, with values in place of expressions. */
static Node *
fold(Node *node, Folding *folding)
{
	if (node == NULL)
		return NULL;
	CHECK_FOR_INTERRUPTS();
	if (IsA(node, Query))
		return (Node *) query_tree_mutator((Query *) node, fold, folding, 0);
	if (is_foldable_kind(node) && hash_search(folding->wholes, &node, HASH_FIND, NULL) != NULL)
		return fold_whole(node, folding->look);
	return expression_tree_mutator(node, fold, folding);
}

/*
 * Get a query with the values of what is one value for the call: a copy, or the same one if there
 * is none. What cannot be evaluated has it refused.
 */
Query *
emogi_constant_folding_apply(Query *query, EmogiAnalysisState *look)
{
	HASHCTL		info = {.keysize = sizeof(Node *),.entrysize = sizeof(Node *),
						.hcxt = CurrentMemoryContext};
	Folding		folding = {look};
	Query	   *folded;

	if (emogi_faults.tree[EMOGI_TREE_FOLD] || !contain_mutable_functions((Node *) query))
		return query;
	folding.wholes = hash_create("expressions without rows", 256, &info,
								 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	(void) find_wholes((Node *) query, &folding);
	folded = castNode(Query, fold((Node *) query, &folding));
	hash_destroy(folding.wholes);
	return folded;
}
