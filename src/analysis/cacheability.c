/*
 * cacheability.c: whether the graph of a query may be cached; every node is checked, and unknown
 * ones are refused (Q7, Q8)
 *
 * A query is refused if its rows may depend on anything but its expression tree, the other parts of
 * the key, and the rows of its tables that the snapshot sees. The first reason found is reported.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/sysattr.h"
#include "access/transam.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "citus/citus.h"
#include "base/compat.h"
#include "base/fault.h"
#include "analysis/analysis_internal.h"

/* Record why a query is not cacheable; only the first reason is kept. Returns true. */
bool
emogi_cacheability_refuse(EmogiAnalysisState *state, const char *format,...)
{
	char		sentence[1024];
	va_list		args;

	va_start(args, format);
	vsnprintf(sentence, sizeof sentence, format, args);
	va_end(args);
	if (state->analysis->refusal == NULL)
		state->analysis->refusal = pstrdup(sentence);
	return true;
}

/* Get the reason why a foreign table or a Citus table is not cacheable. */
const char *
emogi_cacheability_elsewhere(Oid relid)
{
	return psprintf("changes of %s \"%s\" cannot be tracked from this server; use a materialized "
					"view",
					get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE ?
					"foreign table" : "Citus table", get_rel_name(relid));
}

/* ---- permissions ---- */

/* Find a query level that the executor would refuse. */
static bool
find_forbidden(Node *node, void *context)
{
	if (node == NULL)
		return false;
	CHECK_FOR_INTERRUPTS();
	if (!IsA(node, Query))
		return expression_tree_walker(node, find_forbidden, context);
	return !emogi_compat_may_do((Query *) node) ||
		query_tree_walker((Query *) node, find_forbidden, context, 0);
}

/*
 * Check the caller's permissions on all relations of a query (Q18); return true if one is missing.
 * Such a query bypasses the cache, and its execution raises the proper error.
 */
bool
emogi_cacheability_rights(Query *query, EmogiAnalysisState *state)
{
	if (emogi_faults.analysis[EMOGI_ANALYSIS_PRIVILEGES] || !find_forbidden((Node *) query, NULL))
		return false;
	return emogi_cacheability_refuse(state, "it may not be read by this role");
}

/* ---- relations ---- */

/*
 * Check the expressions of a relation's virtual generated columns, which the planner substitutes
 * for the columns. Children are read through the expressions of the relation that the query names.
 */
static bool
check_virtual_columns(Oid relid, EmogiAnalysisState *state)
{
	Relation	rel = relation_open(relid, NoLock);
	bool		refused = false;

	for (AttrNumber attnum = 1; attnum <= RelationGetNumberOfAttributes(rel) && !refused; attnum++)
	{
		Node	   *expression = emogi_compat_virtual_expression(rel, attnum);

		if (expression == NULL)
			continue;
		state->trees = lappend(state->trees, expression);
		refused = emogi_cacheability_node(expression, state);
	}
	relation_close(rel, NoLock);
	return refused;
}

/* Check a relation, and record it. */
static bool
check_relation(const RangeTblEntry *entry, EmogiAnalysisState *state)
{
	const char *name = get_rel_name(entry->relid);
	char		kind = entry->relkind;

	state->named = list_append_unique_oid(state->named, entry->relid);
	if (kind == RELKIND_VIEW)
		return false;			/* views are expanded; this entry only checks permissions */
	state->nrelations++;
	if (entry->tablesample != NULL)
		return emogi_cacheability_refuse(state, "TABLESAMPLE chooses rows by where they are stored "
											   "or by chance");
	if (kind == RELKIND_FOREIGN_TABLE || emogi_citus_is_table(entry->relid))
		return emogi_cacheability_refuse(state, "%s", emogi_cacheability_elsewhere(entry->relid));
	if (kind == RELKIND_SEQUENCE)
		return emogi_cacheability_refuse(state, "sequence \"%s\" is changed outside transactions",
										 name);
	if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_MATVIEW)
		return emogi_cacheability_refuse(state, "\"%s\" is neither a table nor a materialized view",
										 name);
	if (entry->inh && !emogi_faults.analysis[EMOGI_ANALYSIS_CHILDREN])
		state->analysis->roots = list_append_unique_oid(state->analysis->roots, entry->relid);
	else
		state->analysis->alone = list_append_unique_oid(state->analysis->alone, entry->relid);
	return check_virtual_columns(entry->relid, state);
}

/* Check a range table entry; its subqueries and expressions are visited separately. */
static bool
check_entry(const RangeTblEntry *entry, EmogiAnalysisState *state)
{
	Oid			view = emogi_compat_view_of(entry);

	if (OidIsValid(view))
		state->named = list_append_unique_oid(state->named, view);
	if (entry->rtekind == RTE_RELATION)
		return check_relation(entry, state);
	if (entry->rtekind == RTE_TABLEFUNC)
		return emogi_cacheability_refuse(state, "XMLTABLE and JSON_TABLE depend on settings");
	if (entry->rtekind == RTE_NAMEDTUPLESTORE)
		return emogi_cacheability_refuse(state, "transition tables are visible only to their "
												"trigger");
	if (!emogi_compat_reads_nothing(entry->rtekind))
		return emogi_cacheability_refuse(state, "it reads an unsupported kind of relation");
	return false;
}

/* ---- nodes ---- */

static bool
check_query(Query *query, EmogiAnalysisState *state)
{
	if (query->commandType != CMD_SELECT || query->utilityStmt != NULL || query->hasModifyingCTE)
		return emogi_cacheability_refuse(state, "it changes data");
	if (query->rowMarks != NIL || query->hasForUpdate)
		return emogi_cacheability_refuse(state, "FOR UPDATE and FOR SHARE lock rows");
	return query_tree_walker(query, emogi_cacheability_node, state,
							 QTW_EXAMINE_RTES_BEFORE | QTW_EXAMINE_SORTGROUP);
}

/* Check the comparison function of a sort or group clause. */
static bool
check_operator(Oid operator, EmogiAnalysisState *state)
{
	return OidIsValid(operator) && emogi_cacheability_function(get_opcode(operator), state);
}

/* Check the functions of a node that PostgreSQL's tree walkers do not visit. */
static bool
check_hidden(Node *node, EmogiAnalysisState *state)
{
	ListCell   *cell;

	switch (nodeTag(node))
	{
		case T_SortGroupClause:
			return check_operator(((SortGroupClause *) node)->eqop, state) ||
				check_operator(((SortGroupClause *) node)->sortop, state);
		case T_SetOperationStmt:
			foreach(cell, ((SetOperationStmt *) node)->groupClauses)
				if (emogi_cacheability_node(lfirst(cell), state))
					return true;
			return false;
		case T_WindowClause:
			return (OidIsValid(((WindowClause *) node)->startInRangeFunc) &&
					emogi_cacheability_function(((WindowClause *) node)->startInRangeFunc,
												state)) ||
				(OidIsValid(((WindowClause *) node)->endInRangeFunc) &&
				 emogi_cacheability_function(((WindowClause *) node)->endInRangeFunc, state));
		case T_MinMaxExpr:
			{
				TypeCacheEntry *type = lookup_type_cache(((MinMaxExpr *) node)->minmaxtype,
														 TYPECACHE_CMP_PROC);

				return OidIsValid(type->cmp_proc) &&
					emogi_cacheability_function(type->cmp_proc, state);
			}
		default:
			return false;
	}
}

/* Is a node an expression that has a type of its own? */
static bool
is_expression(const Node *node)
{
	switch (nodeTag(node))
	{
		case T_Var:
		case T_Const:
		case T_Param:
		case T_Aggref:
		case T_WindowFunc:
		case T_FuncExpr:
		case T_OpExpr:
		case T_NullIfExpr:
		case T_CoerceViaIO:
		case T_SubscriptingRef:
		case T_SubLink:
		case T_FieldSelect:
		case T_RelabelType:
		case T_ArrayCoerceExpr:
		case T_ConvertRowtypeExpr:
		case T_CollateExpr:
		case T_CaseExpr:
		case T_CaseTestExpr:
		case T_ArrayExpr:
		case T_RowExpr:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
			return true;
		default:
			return false;		/* or its type is that of a part, or boolean */
	}
}

/*
 * Check the type of an expression: add its definition to the key, and check its comparison
 * functions.
 */
static bool
check_type(Oid type, EmogiAnalysisState *state)
{
	const int	nknown = list_length(state->types.functions);

	if (emogi_faults.analysis[EMOGI_ANALYSIS_TYPES] ||
		(type < FirstNormalObjectId && !type_is_array(type)))
		return false;
	emogi_type_walk(type, &state->types);
	for (int i = nknown; i < list_length(state->types.functions); i++)
		if (emogi_cacheability_function(list_nth_oid(state->types.functions, i), state))
			return true;
	return false;
}

/* Is a node of a kind that depends only on its parts and its functions? */
static bool
is_known_kind(const Node *node)
{
	switch (nodeTag(node))
	{
		case T_SortGroupClause:
		case T_SetOperationStmt:
		case T_WindowClause:
		case T_MinMaxExpr:
		case T_FuncExpr:
		case T_Aggref:
		case T_WindowFunc:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_CoerceViaIO:
		case T_RowCompareExpr:
		case T_Const:
		case T_Param:
		case T_GroupingFunc:
		case T_SubscriptingRef:
		case T_NamedArgExpr:
		case T_BoolExpr:
		case T_SubLink:
		case T_FieldSelect:
		case T_RelabelType:
		case T_ArrayCoerceExpr:
		case T_ConvertRowtypeExpr:
		case T_CollateExpr:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CaseTestExpr:
		case T_ArrayExpr:
		case T_RowExpr:
		case T_CoalesceExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_TargetEntry:
		case T_RangeTblRef:
		case T_JoinExpr:
		case T_FromExpr:
		case T_CommonTableExpr:
		case T_RangeTblFunction:
		case T_GroupingSet:
		case T_TableSampleClause:
		case T_List:
		case T_IntList:
		case T_OidList:
			return true;
		default:
			return false;
	}
}

/* Refuse a node of another kind. */
static bool
refuse_kind(const Node *node, EmogiAnalysisState *state)
{
	switch (nodeTag(node))
	{
		case T_SQLValueFunction:
			return emogi_cacheability_refuse(state, "an expression that depends on the time or the "
													"user cannot be evaluated in advance");
		case T_NextValueExpr:
			return emogi_cacheability_refuse(state, "nextval changes a sequence");
		case T_CoerceToDomain:
			return emogi_cacheability_refuse(state, "a cast to domain %s checks conditions that "
													"may "
												   "be altered; cast to its base type",
									  format_type_be(((const CoerceToDomain *) node)->resulttype));
		case T_XmlExpr:
			return emogi_cacheability_refuse(state, "XML expressions depend on settings");
		default:
			return emogi_cacheability_refuse(state, "it has an expression of an unsupported kind "
													"(%d)", (int) nodeTag(node));
	}
}

static bool
check_function(Oid function, void *state)
{
	return emogi_cacheability_function(function, state);
}

/* Check everything in an expression tree; return true if it is refused. */
bool
emogi_cacheability_node(Node *node, EmogiAnalysisState *state)
{
	if (node == NULL)
		return false;
	CHECK_FOR_INTERRUPTS();
	if (IsA(node, Query))
		return check_query((Query *) node, state);
	if (IsA(node, RangeTblEntry))
		return check_entry((RangeTblEntry *) node, state);
	if (IsA(node, Var))
	{
		AttrNumber	attnum = ((Var *) node)->varattno;

		if (attnum < 0 && attnum != TableOidAttributeNumber &&
			attnum != SelfItemPointerAttributeNumber)
			return emogi_cacheability_refuse(state, "system columns such as xmin and xmax change "
												   "without a change of the row");
		return check_type(((Var *) node)->vartype, state);
	}
	if (IsA(node, SQLValueFunction) && emogi_faults.analysis[EMOGI_ANALYSIS_FOLD])
		return false;
	if (!is_known_kind(node))
		return refuse_kind(node, state);
	if (is_expression(node) && check_type(exprType(node), state))
		return true;
	return check_hidden(node, state) || check_functions_in_node(node, check_function, state) ||
		expression_tree_walker(node, emogi_cacheability_node, state);
}
