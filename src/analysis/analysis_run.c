/*
 * analysis_run.c: execution of an analyzed query exactly as it was analyzed (Q3, Q16): a second
 * analysis of its text might find other objects
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "analysis/analysis_internal.h"

/* A destination that receives one number. */
typedef struct Number
{
	DestReceiver receiver;
	int64		value;
} Number;

static bool
receive_number(TupleTableSlot *slot, DestReceiver *receiver)
{
	bool		isnull;
	Datum		value = slot_getattr(slot, 1, &isnull);

	((Number *) receiver)->value = isnull ? 0 : DatumGetInt64(value);
	return true;
}

static void
start_receiver(DestReceiver *receiver, int operation, TupleDesc desc)
{
}

static void
end_receiver(DestReceiver *receiver)
{
}

/*
 * Write a SELECT with the same columns as the analyzed query, as a placeholder for it. Columns of a
 * domain get its base type.
 */
static void
write_placeholder(const EmogiQueryAnalysis *analysis, StringInfo sql)
{
	TupleDesc	desc = ExecCleanTypeFromTL(analysis->query->targetList);
	const EmogiEdgeColumns *columns = &analysis->columns;

	appendStringInfoString(sql, "(SELECT ");
	for (int i = 1; i <= desc->natts; i++)
	{
		bool		is_read = i == columns->src || i == columns->dst || i == columns->weight ||
			i == columns->vertex || i == columns->back || i == columns->other;
		Oid			type = is_read ? getBaseType(TupleDescAttr(desc, i - 1)->atttypid) : INT4OID;

		appendStringInfo(sql, "%sNULL::%s AS c%d", i > 1 ? ", " : "",
						 format_type_extended(type, -1, FORMAT_TYPE_TYPEMOD_GIVEN |
											  FORMAT_TYPE_FORCE_QUALIFY), i);
	}
	appendStringInfoString(sql, ") AS q");
}

/* Replace the placeholder's columns by those of the query, relabeled if they are of a domain. */
static Node *
replace_columns(Node *node, Query *analysis)
{
	Var		   *column = (Var *) node;
	const TargetEntry *target;
	Var		   *var;

	if (node == NULL || !IsA(node, Var))
		return node == NULL ? NULL : expression_tree_mutator(node, replace_columns, analysis);
	target = list_nth_node(TargetEntry, analysis->targetList, column->varattno - 1);
	var = makeVar(column->varno, column->varattno, exprType((Node *) target->expr),
				  exprTypmod((Node *) target->expr),
				  exprCollation((Node *) target->expr), 0);
	if (var->vartype == column->vartype)
		return (Node *) var;
	return (Node *) makeRelabelType((Expr *) var, column->vartype, -1, column->varcollid,
									COERCE_IMPLICIT_CAST);
}

/*
 * Analyze an outer query over the placeholder, which returns one number and has a bigint parameter,
 * and substitute the analyzed query for the placeholder.
 */
static Query *
wrap(const EmogiQueryAnalysis *analysis, const char *sql)
{
	const Oid	type = INT8OID;
	Query	   *query = emogi_query_analyze_with(sql, &type, 1);
	RangeTblEntry *entry = linitial_node(RangeTblEntry, query->rtable);

	entry->subquery = copyObject(analysis->query);
	query->stmt_location = -1;	/* to show the text of the analyzed query instead */
	query->stmt_len = 0;
	query->targetList = castNode(List,
								 replace_columns((Node *) query->targetList, analysis->query));
	return query;
}

/* Does a plan read a relation that is not among those of its query? */
static bool
reads_others(const PlannedStmt *plan, const EmogiQueryAnalysis *analysis)
{
	ListCell   *cell;

	foreach(cell, plan->rtable)
	{
		const RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

		if (entry->rtekind == RTE_RELATION && entry->relkind != RELKIND_VIEW &&
			!list_member_oid(analysis->relations, entry->relid))
			return true;
	}
	return false;
}

/* Is there a scan by another extension? What it reads is unknown. */
static bool
has_foreign_scan(PlanState *state, void *context)
{
	if (state == NULL)
		return false;
	return IsA(state, ForeignScanState) || IsA(state, CustomScanState) ||
		planstate_tree_walker(state, has_foreign_scan, context);
}

/*
 * Run an analyzed query under the active snapshot, under which it was opened, as a subquery of a
 * query that returns one number. select: "SELECT" and a target list over q.c1, q.c2 and so on, of
 * which it may reference the columns of an edge. params: one bigint. Return the number. Raises
 * 40001 if the plan reads a partition or child that the snapshot does not see as one.
 */
int64
emogi_analysis_run(EmogiQueryAnalysis *analysis, const char *select, ParamListInfo params)
{
	Number		number =
		{.receiver = {receive_number, start_receiver, end_receiver, end_receiver, DestNone}};
	StringInfoData sql;
	PlannedStmt *plan;
	QueryDesc  *query;

	initStringInfo(&sql);
	appendStringInfo(&sql, "%s FROM ", select);
	write_placeholder(analysis, &sql);
	plan = emogi_compat_plan(wrap(analysis, sql.data), analysis->text);
	analysis->reads_elsewhere = reads_others(plan, analysis);
	if (analysis->reads_elsewhere)
		emogi_snapshot_require_seen(plan->relationOids, analysis->named);
	query = CreateQueryDesc(plan, analysis->text, GetActiveSnapshot(), InvalidSnapshot,
							&number.receiver, params, NULL, 0);
	ExecutorStart(query, 0);
	analysis->reads_elsewhere |= has_foreign_scan(query->planstate, NULL);
	emogi_compat_run(query);
	ExecutorFinish(query);
	ExecutorEnd(query);
	FreeQueryDesc(query);
	return number.value;
}
