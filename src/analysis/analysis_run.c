/*
 * analysis_run.c: a tree is run as it was judged (Q3, Q16): a second analysis of its text might
 * find other objects.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "analysis/analysis_internal.h"

/* A receiver of one number. */
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
 * Write the SELECT of columns, of no rows that matter, that stands for the tree in a query: those
 * of a domain by its base type.
 */
static void
write_stand_in(const EmogiQueryAnalysis *tree, StringInfo sql)
{
	TupleDesc	desc = ExecCleanTypeFromTL(tree->query->targetList);
	const EmogiEdgeColumns *columns = &tree->columns;

	appendStringInfoString(sql, "(SELECT ");
	for (int i = 1; i <= desc->natts; i++)
	{
		bool		is_read = i == columns->src || i == columns->dst || i == columns->weight ||
			i == columns->vertex;
		Oid			type = is_read ? getBaseType(TupleDescAttr(desc, i - 1)->atttypid) : INT4OID;

		appendStringInfo(sql, "%sNULL::%s AS c%d", i > 1 ? ", " : "",
						 format_type_extended(type, -1, FORMAT_TYPE_TYPEMOD_GIVEN |
											  FORMAT_TYPE_FORCE_QUALIFY), i);
	}
	appendStringInfoString(sql, ") AS q");
}

/* Have columns of the stand-in mean those of the tree, which may be of a domain over their type. */
static Node *
mean_tree(Node *node, Query *tree)
{
	Var		   *column = (Var *) node;
	const TargetEntry *target;
	Var		   *var;

	if (node == NULL || !IsA(node, Var))
		return node == NULL ? NULL : expression_tree_mutator(node, mean_tree, tree);
	target = list_nth_node(TargetEntry, tree->targetList, column->varattno - 1);
	var = makeVar(column->varno, column->varattno, exprType((Node *) target->expr),
				  exprTypmod((Node *) target->expr),
				  exprCollation((Node *) target->expr), 0);
	if (var->vartype == column->vartype)
		return (Node *) var;
	return (Node *) makeRelabelType((Expr *) var, column->vartype, -1, column->varcollid,
									COERCE_IMPLICIT_CAST);
}

/*
 * Analyse a query of one number over the stand-in, whose parameter is a bigint, and put the tree
 * into its place.
 */
static Query *
wrap(const EmogiQueryAnalysis *tree, const char *sql)
{
	const Oid	type = INT8OID;
	Query	   *query = emogi_query_analyse_with(sql, &type, 1);
	RangeTblEntry *entry = linitial_node(RangeTblEntry, query->rtable);

	entry->subquery = copyObject(tree->query);
	query->stmt_location = -1;	/* whoever shows its text is given the tree's */
	query->stmt_len = 0;
	query->targetList = castNode(List, mean_tree((Node *) query->targetList, tree->query));
	return query;
}

/* Does a plan read what is not among the relations of its tree? */
static bool
reads_others(const PlannedStmt *plan, const EmogiQueryAnalysis *tree)
{
	ListCell   *cell;

	foreach(cell, plan->rtable)
	{
		const RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

		if (entry->rtekind == RTE_RELATION && entry->relkind != RELKIND_VIEW &&
			!list_member_oid(tree->relations, entry->relid))
			return true;
	}
	return false;
}

/* Is there a scan of something that is not PostgreSQL's? What it reads cannot be known. */
static bool
has_foreign_scan(PlanState *state, void *context)
{
	if (state == NULL)
		return false;
	return IsA(state, ForeignScanState) || IsA(state, CustomScanState) ||
		planstate_tree_walker(state, has_foreign_scan, context);
}

/*
 * Run a tree under the active snapshot, which it was opened with, in a query of one number:
 * `select` is its SELECT list, over q.c1, q.c2 and so on, of which it may name those that make an
 * edge. params: one bigint. Get the number.
 */
int64
emogi_analysis_run(EmogiQueryAnalysis *tree, const char *select, ParamListInfo params)
{
	Number		number =
		{.receiver = {receive_number, start_receiver, end_receiver, end_receiver, DestNone}};
	StringInfoData sql;
	PlannedStmt *plan;
	QueryDesc  *query;

	initStringInfo(&sql);
	appendStringInfo(&sql, "%s FROM ", select);
	write_stand_in(tree, &sql);
	plan = pg_plan_query(wrap(tree, sql.data), tree->text, CURSOR_OPT_PARALLEL_OK, NULL);
	tree->reads_elsewhere = reads_others(plan, tree);
	query = CreateQueryDesc(plan, tree->text, GetActiveSnapshot(), InvalidSnapshot,
							&number.receiver, params, NULL, 0);
	ExecutorStart(query, 0);
	tree->reads_elsewhere |= has_foreign_scan(query->planstate, NULL);
	emogi_compat_run(query);
	ExecutorFinish(query);
	ExecutorEnd(query);
	FreeQueryDesc(query);
	return number.value;
}
