/*
 * edge_filter_check.c: the check of a call's filter (source/edge_filter.c): it is a boolean
 * expression over the columns of an edge, and its value depends on nothing else
 *
 * The text is analyzed as the WHERE clause of SELECT FROM the relation or query, by PostgreSQL's
 * parser, so that errors have their position in it. No function is called. The graph's query, with
 * the filter in it, is analyzed afterwards like any other; that analysis checks privileges and
 * folds constants. An analysis that is kept has passed this check.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_node.h"
#include "parser/parse_relation.h"
#include "utils/builtins.h"

#include "analysis/analysis_internal.h"
#include "base/compat.h"

/* A filter that is checked. */
typedef struct Check
{
	const EmogiEdgeCondition *filter;
	ParseState *pstate;
} Check;

/* Raise 0A000 for a part that a filter must not have. */
static void
refuse_part(const Check *check, const char *part, const Node *node)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("edge_filter must not contain %s: \"%s\"", part, check->filter->text),
			 errhint("It may contain columns of an edge, values, operators and functions of "
					 "these. Compute anything else in a query, and pass this query as the graph."),
			 parser_errposition(check->pstate, exprLocation(node))));
}

/* Refuse subqueries before they are analyzed, so that no other relation is locked. */
static bool
refuse_subqueries(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubLink))
		refuse_part(context, "a subquery", node);
	return raw_expression_tree_walker(node, refuse_subqueries, context);
}

/* Refuse other parts that are no functions of the columns. */
static bool
refuse_parts(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref) || IsA(node, GroupingFunc))
		refuse_part(context, "an aggregate", node);
	if (IsA(node, WindowFunc))
		refuse_part(context, "a window function", node);
	if ((IsA(node, FuncExpr) && ((FuncExpr *) node)->funcretset) ||
		(IsA(node, OpExpr) && ((OpExpr *) node)->opretset))
		refuse_part(context, "a function that returns a set", node);
	if (IsA(node, Var) && ((Var *) node)->varattno == InvalidAttrNumber)
		refuse_part(context, "a whole row", node);
	if (IsA(node, Var) && ((Var *) node)->varattno < 0 &&
		((Var *) node)->varattno != TableOidAttributeNumber)
		refuse_part(context, "a system column other than tableoid", node);
	return expression_tree_walker(node, refuse_parts, context);
}

/* Make the columns of an edge known to the parser; return the relation, NULL for a query. */
static Relation
add_columns(const EmogiSource *source, ParseState *pstate)
{
	Relation	rel = NULL;
	ParseNamespaceItem *item;

	if (OidIsValid(source->filtered))
	{
		rel = relation_open(source->filtered, AccessShareLock);
		item = addRangeTableEntryForRelation(pstate, rel, AccessShareLock, NULL, true, true);
	}
	else
	{
		Query	   *query = emogi_query_analyze(source->graph->text);

		if (query == NULL)
			return NULL;
		item = addRangeTableEntryForSubquery(pstate, query, makeAlias(EMOGI_FILTERED_QUERY, NIL),
											 false, true);
	}
	addNSItemToQuery(pstate, item, true, true, true);
	return rel;
}

/* Analyze a filter as a condition. Raises its errors, with positions in the text with values. */
static Node *
analyze(const Check *check, Node *raw)
{
	ParseState *pstate = check->pstate;
	Node	   *expression;
	Node	   *condition;

	(void) refuse_subqueries(raw, unconstify(Check *, check));
	/* this kind accepts aggregates and the like, which are refused with a hint of their own */
	expression = transformExpr(pstate, raw, EXPR_KIND_OTHER);
	(void) refuse_parts(expression, unconstify(Check *, check));
	condition = coerce_to_target_type(pstate, expression, exprType(expression), BOOLOID, -1,
									  COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);
	if (condition == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("edge_filter must be of type boolean, not type %s: \"%s\"",
						format_type_be(exprType(expression)), check->filter->text),
				 errhint("Write a condition, such as edge_filter => 'amount > 10'."),
				 parser_errposition(pstate, exprLocation(expression))));
	assign_expr_collations(pstate, condition);
	return condition;
}

/*
 * Raise 42P17 if the value of a condition may depend on more than the columns and values of the
 * call (Q9, Q10). Expressions without columns are folded by the analysis of the query.
 */
static void
check_immutable(const Check *check, Node *condition)
{
	EmogiAnalysisState state = {.analysis = palloc0(sizeof(EmogiQueryAnalysis)),.only_checks = true};
	Query	   *query = makeNode(Query);

	initStringInfo(&state.analysis->versions);
	initStringInfo(&state.bytes);
	initStringInfo(&state.types.definition);
	query->commandType = CMD_SELECT;
	query->jointree = makeFromExpr(NIL, condition);
	query = emogi_constant_folding_apply(emogi_argument_defaults_expand(query), &state);
	if (!emogi_cacheability_node(query->jointree->quals, &state) && state.nrelations > 0)
		(void) emogi_cacheability_refuse(&state, "a function reads a table");
	if (state.analysis->refusal != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("edge_filter is not immutable: \"%s\"", check->filter->text),
				 errdetail("Reason: %s.", state.analysis->refusal),
				 errhint("Its value must depend only on the columns of an edge. Pass any other "
						 "condition in a query: 'SELECT src, dst FROM edges WHERE ...'.")));
}

/*
 * Check the filter of a source that has one. Raises 0A000, 42601, 42703, 42804, 42883, 42P17, other
 * errors of analysis, and those of the graph's own query.
 */
void
emogi_edge_condition_check(const EmogiSource *source)
{
	const EmogiEdgeCondition *filter = source->graph->filter;
	Node	   *raw = emogi_edge_condition_parse(filter);
	Check		check = {.filter = filter,.pstate = make_parsestate(NULL)};
	Relation	rel = add_columns(source, check.pstate);
	ErrorContextCallback context = {.previous = error_context_stack,
									.callback = emogi_edge_condition_explain,
									.arg = unconstify(EmogiEdgeCondition *, filter)};

	check.pstate->p_sourcetext = filter->condition;
	if (check.pstate->p_rtable != NIL)
	{
		error_context_stack = &context;
		check_immutable(&check, analyze(&check, raw));
		error_context_stack = context.previous;
	}
	if (rel != NULL)
		relation_close(rel, NoLock);
	free_parsestate(check.pstate);
}
