/*
 * argument_defaults.c: insertion of omitted arguments into the calls of a query (Q10)
 *
 * The planner fills in the defaults of a function's arguments, and puts named arguments in order.
 * Here this is done before constant folding and the cacheability check, so that a default is
 * treated like an explicit argument: folded if it is STABLE, checked, and part of the key.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/syscache.h"

#include "base/fault.h"
#include "analysis/analysis_internal.h"

/*
 * Get the arguments of a call as the planner will pass them; the same list if nothing is missing.
 */
static List *
expand_arguments(Oid function, List *args, Oid result_type)
{
	HeapTuple	row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	List	   *expanded = args;

	if (!HeapTupleIsValid(row))
		elog(ERROR, "cache lookup failed for function %u", function);
	if (((Form_pg_proc) GETSTRUCT(row))->prokind != PROKIND_AGGREGATE)
		expanded = expand_function_arguments(args, false, result_type, row);
	ReleaseSysCache(row);
	return expanded;
}

/* Does a call omit arguments, or name them? Named arguments come last. */
static bool
has_gaps(List *args, Oid function)
{
	HeapTuple	row;
	bool		lacks;

	if (args != NIL && IsA(llast(args), NamedArgExpr))
		return true;
	row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	lacks = HeapTupleIsValid(row) &&
		((Form_pg_proc) GETSTRUCT(row))->prokind != PROKIND_AGGREGATE &&
		list_length(args) < ((Form_pg_proc) GETSTRUCT(row))->pronargs;
	if (HeapTupleIsValid(row))
		ReleaseSysCache(row);
	return lacks;
}

/* Find a call that omits arguments, or names them. */
static bool
find_gaps(Node *node, void *context)
{
	if (node == NULL)
		return false;
	CHECK_FOR_INTERRUPTS();
	if (IsA(node, FuncExpr) && has_gaps(((FuncExpr *) node)->args, ((FuncExpr *) node)->funcid))
		return true;
	if (IsA(node, WindowFunc) &&
		has_gaps(((WindowFunc *) node)->args, ((WindowFunc *) node)->winfnoid))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, find_gaps, context, 0);
	return expression_tree_walker(node, find_gaps, context);
}

/* Copy an expression tree, inserting omitted arguments. */
static Node *
expand(Node *node, void *context)
{
	Node	   *copy;

	if (node == NULL)
		return NULL;
	CHECK_FOR_INTERRUPTS();
	if (IsA(node, Query))
		return (Node *) query_tree_mutator((Query *) node, expand, context, 0);
	copy = expression_tree_mutator(node, expand, context);
	if (IsA(copy, FuncExpr))
	{
		FuncExpr   *call = (FuncExpr *) copy;

		call->args = expand_arguments(call->funcid, call->args, call->funcresulttype);
	}
	else if (IsA(copy, WindowFunc))
	{
		WindowFunc *call = (WindowFunc *) copy;

		call->args = expand_arguments(call->winfnoid, call->args, call->wintype);
	}
	return copy;
}

/* Get a query in which no call omits or names arguments: the same one, or a copy. */
Query *
emogi_argument_defaults_expand(Query *query)
{
	if (emogi_faults.analysis[EMOGI_ANALYSIS_DEFAULTS] || !find_gaps((Node *) query, NULL))
		return query;
	return castNode(Query, expand((Node *) query, NULL));
}
