/*
 * cacheability.c: may the Graph of a tree be shared? Every node is looked at; what is not known is
 * refused (Q7, Q8).
 *
 * A tree is refused if its rows may depend on more than itself, what stands beside it in the key,
 * and the rows of its tables that the snapshot sees. The first reason that is found is given.
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

/* Note why a tree may not be shared; the first reason counts. Returns true. */
bool
emogi_cacheability_refuse(EmogiAnalysisState *look, const char *format,...)
{
	char		sentence[1024];
	va_list		args;

	va_start(args, format);
	vsnprintf(sentence, sizeof sentence, format, args);
	va_end(args);
	if (look->tree->refusal == NULL)
		look->tree->refusal = pstrdup(sentence);
	return true;
}

/* Get why the rows of a foreign table, or a Citus table, are not shared. */
const char *
emogi_cacheability_elsewhere(Oid relid)
{
	return psprintf("%s \"%s\" is changed elsewhere, unseen from here; use a materialized view",
					get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE ? "foreign table" :
					"Citus table", get_rel_name(relid));
}

/* ---- rights ---- */

/* Find a level of a query that the executor would refuse. */
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
 * Has the caller the rights on all relations of a query (Q18)? Who has not goes the way without the
 * cache, which raises the right error.
 */
bool
emogi_cacheability_rights(Query *query, EmogiAnalysisState *look)
{
	if (emogi_faults.tree[EMOGI_TREE_RIGHTS] || !find_forbidden((Node *) query, NULL))
		return false;
	return emogi_cacheability_refuse(look, "it may not be read by this role");
}

/* ---- what is read ---- */

/*
 * Judge what columns of a relation are computed by as they are read: a tree names them, and the
 * planner puts their expressions into its place. Children are read by those of the relation that
 * the tree names.
 */
static bool
judge_virtual_columns(Oid relid, EmogiAnalysisState *look)
{
	Relation	rel = relation_open(relid, NoLock);
	bool		refused = false;

	for (AttrNumber attnum = 1; attnum <= RelationGetNumberOfAttributes(rel) && !refused; attnum++)
	{
		Node	   *expression = emogi_compat_virtual_expression(rel, attnum);

		if (expression == NULL)
			continue;
		look->trees = lappend(look->trees, expression);
		refused = emogi_cacheability_node(expression, look);
	}
	relation_close(rel, NoLock);
	return refused;
}

/* Judge a relation, and note it. */
static bool
judge_relation(const RangeTblEntry *entry, EmogiAnalysisState *look)
{
	const char *name = get_rel_name(entry->relid);
	char		kind = entry->relkind;

	look->named = list_append_unique_oid(look->named, entry->relid);
	if (kind == RELKIND_VIEW)
		return false;			/* it has been expanded: what is left asks for rights */
	look->nrelations++;
	if (entry->tablesample != NULL)
		return emogi_cacheability_refuse(look, "TABLESAMPLE chooses rows by where they are stored "
											   "or by chance");
	if (kind == RELKIND_FOREIGN_TABLE || emogi_citus_is_table(entry->relid))
		return emogi_cacheability_refuse(look, "%s", emogi_cacheability_elsewhere(entry->relid));
	if (kind == RELKIND_SEQUENCE)
		return emogi_cacheability_refuse(look, "sequence \"%s\" is changed outside transactions",
										 name);
	if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_MATVIEW)
		return emogi_cacheability_refuse(look, "\"%s\" is neither table nor materialized view",
										 name);
	if (entry->inh && !emogi_faults.tree[EMOGI_TREE_CHILDREN])
		look->tree->roots = list_append_unique_oid(look->tree->roots, entry->relid);
	else
		look->tree->alone = list_append_unique_oid(look->tree->alone, entry->relid);
	return judge_virtual_columns(entry->relid, look);
}

/* Judge an entry of a range table; what hangs on it is walked to by itself. */
static bool
judge_entry(const RangeTblEntry *entry, EmogiAnalysisState *look)
{
	Oid			view = emogi_compat_view_of(entry);

	if (OidIsValid(view))
		look->named = list_append_unique_oid(look->named, view);
	if (entry->rtekind == RTE_RELATION)
		return judge_relation(entry, look);
	if (entry->rtekind == RTE_TABLEFUNC)
		return emogi_cacheability_refuse(look, "XMLTABLE and JSON_TABLE depend on settings");
	if (entry->rtekind == RTE_NAMEDTUPLESTORE)
		return emogi_cacheability_refuse(look, "the rows of a trigger are seen by it alone");
	if (!emogi_compat_reads_nothing(entry->rtekind))
		return emogi_cacheability_refuse(look, "it reads something of a kind that is not looked "
											   "into");
	return false;
}

/* ---- nodes ---- */

static bool
judge_query(Query *query, EmogiAnalysisState *look)
{
	if (query->commandType != CMD_SELECT || query->utilityStmt != NULL || query->hasModifyingCTE)
		return emogi_cacheability_refuse(look, "it changes data");
	if (query->rowMarks != NIL || query->hasForUpdate)
		return emogi_cacheability_refuse(look, "FOR UPDATE and FOR SHARE lock rows");
	return query_tree_walker(query, emogi_cacheability_node, look,
							 QTW_EXAMINE_RTES_BEFORE | QTW_EXAMINE_SORTGROUP);
}

/* Judge the comparison that a sort or group clause names. */
static bool
judge_operator(Oid operator, EmogiAnalysisState *look)
{
	return OidIsValid(operator) && emogi_cacheability_function(get_opcode(operator), look);
}

/* Judge the functions of a node that PostgreSQL's walkers do not show. */
static bool
judge_hidden(Node *node, EmogiAnalysisState *look)
{
	ListCell   *cell;

	switch (nodeTag(node))
	{
		case T_SortGroupClause:
			return judge_operator(((SortGroupClause *) node)->eqop, look) ||
				judge_operator(((SortGroupClause *) node)->sortop, look);
		case T_SetOperationStmt:
			foreach(cell, ((SetOperationStmt *) node)->groupClauses)
				if (emogi_cacheability_node(lfirst(cell), look))
					return true;
			return false;
		case T_WindowClause:
			return (OidIsValid(((WindowClause *) node)->startInRangeFunc) &&
					emogi_cacheability_function(((WindowClause *) node)->startInRangeFunc, look)) ||
				(OidIsValid(((WindowClause *) node)->endInRangeFunc) &&
				 emogi_cacheability_function(((WindowClause *) node)->endInRangeFunc, look));
		case T_MinMaxExpr:
			{
				TypeCacheEntry *type = lookup_type_cache(((MinMaxExpr *) node)->minmaxtype,
														 TYPECACHE_CMP_PROC);

				return OidIsValid(type->cmp_proc) &&
					emogi_cacheability_function(type->cmp_proc, look);
			}
		default:
			return false;
	}
}

/* Is a node an expression, which has a type? */
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
 * Judge the type of an expression: its definition becomes part of the key, and the functions that
 * it compares values with are judged.
 */
static bool
judge_type(Oid type, EmogiAnalysisState *look)
{
	const int	nknown = list_length(look->types.functions);

	if (emogi_faults.tree[EMOGI_TREE_TYPES] || (type < FirstNormalObjectId && !type_is_array(type)))
		return false;
	emogi_type_walk(type, &look->types);
	for (int i = nknown; i < list_length(look->types.functions); i++)
		if (emogi_cacheability_function(list_nth_oid(look->types.functions, i), look))
			return true;
	return false;
}

/* Is a node of a kind that adds nothing to its parts and its functions? */
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
refuse_kind(const Node *node, EmogiAnalysisState *look)
{
	switch (nodeTag(node))
	{
		case T_SQLValueFunction:
			return emogi_cacheability_refuse(look, "what depends on time or user stands where it "
												   "cannot be evaluated in advance");
		case T_NextValueExpr:
			return emogi_cacheability_refuse(look, "nextval changes a sequence");
		case T_CoerceToDomain:
			return emogi_cacheability_refuse(look, "a cast to domain %s checks conditions that may "
												   "be altered; cast to its base type",
									  format_type_be(((const CoerceToDomain *) node)->resulttype));
		case T_XmlExpr:
			return emogi_cacheability_refuse(look, "XML expressions depend on settings");
		default:
			return emogi_cacheability_refuse(look, "it has an expression of a kind that is not "
												   "looked into (%d)", (int) nodeTag(node));
	}
}

static bool
judge_function(Oid function, void *look)
{
	return emogi_cacheability_function(function, look);
}

/* Judge all there is in a tree. */
bool
emogi_cacheability_node(Node *node, EmogiAnalysisState *look)
{
	if (node == NULL)
		return false;
	CHECK_FOR_INTERRUPTS();
	if (IsA(node, Query))
		return judge_query((Query *) node, look);
	if (IsA(node, RangeTblEntry))
		return judge_entry((RangeTblEntry *) node, look);
	if (IsA(node, Var))
	{
		AttrNumber	attnum = ((Var *) node)->varattno;

		if (attnum < 0 && attnum != TableOidAttributeNumber &&
			attnum != SelfItemPointerAttributeNumber)
			return emogi_cacheability_refuse(look, "system columns such as xmin and xmax change "
												   "without a change of the row");
		return judge_type(((Var *) node)->vartype, look);
	}
	if (IsA(node, SQLValueFunction) && emogi_faults.tree[EMOGI_TREE_FOLD])
		return false;
	if (!is_known_kind(node))
		return refuse_kind(node, look);
	if (is_expression(node) && judge_type(exprType(node), look))
		return true;
	return judge_hidden(node, look) || check_functions_in_node(node, judge_function, look) ||
		expression_tree_walker(node, emogi_cacheability_node, look);
}
