/*
 * table_filter.c: a tree that is one table with conditions on its rows (Q19).
 *
 * SELECT src, dst FROM t WHERE kind = 'x', a table under row security, and simple views over them have the edges of a table's rows of
 * which conditions are true. Which rows those are can be told row by row, so changes of the table can be followed as those of a table
 * without conditions are (changes/), at the cost of the change.
 *
 * Views are flattened from the inside out. The conditions of a level precede those of the levels around it, and those of row security
 * precede the others of their level: a function never sees a row that a policy or a security barrier hides from the caller.
 *
 * What is judged (cacheability.c) depends on the row alone. The tree has constants in place of what is one value for the call.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "tcop/tcopprot.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "analysis/analysis_internal.h"

/* A query, flattened: columns and conditions are expressions over the columns of one relation, which is varno 1. */
typedef struct Flat
{
	Oid			relid;
	List	   *targets;		/* Node *, of the columns of the result */
	List	   *conditions;		/* Node *, in the order of evaluation */
} Flat;

/* The relation or subquery that a level reads, and what its columns are. */
typedef struct Level
{
	int			varno;
	const List *targets;		/* of the subquery; NIL = it is the relation */
	bool		failed;			/* an expression of another kind was met */
} Level;

/* ---- flattening ---- */

/* Does a query do nothing but select rows of one item of FROM? Without LIMIT, the order of its rows does not matter. */
static bool
is_simple(const Query *query)
{
	return query->commandType == CMD_SELECT && !query->hasAggs && !query->hasWindowFuncs && !query->hasTargetSRFs && !query->hasSubLinks &&
		query->groupClause == NIL && query->groupingSets == NIL && query->havingQual == NULL && query->windowClause == NIL &&
		query->distinctClause == NIL && query->limitOffset == NULL && query->limitCount == NULL && query->setOperations == NULL &&
		query->cteList == NIL && query->rowMarks == NIL && list_length(query->jointree->fromlist) == 1 &&
		IsA(linitial(query->jointree->fromlist), RangeTblRef);
}

/* Copy an expression of a level, with what its columns are in their place. */
static Node *
express(Node *node, void *context)
{
	Level	   *level = context;
	Var		   *var = (Var *) node;

	if (node == NULL || level->failed)
		return NULL;
	CHECK_FOR_INTERRUPTS();
	if (IsA(node, Query) || IsA(node, Param) || IsA(node, SubLink))
	{
		level->failed = true;
		return NULL;
	}
	if (!IsA(node, Var))
		return expression_tree_mutator(node, express, context);
	level->failed = var->varlevelsup != 0 || var->varno != level->varno ||
		(var->varattno <= 0 && (level->targets != NIL || var->varattno != TableOidAttributeNumber));
	if (level->failed)
		return NULL;
	if (level->targets != NIL)
		return copyObject(list_nth(level->targets, var->varattno - 1));
	return (Node *) makeVar(1, var->varattno, var->vartype, var->vartypmod, var->varcollid, 0);
}

/* Add conditions of a level. */
static void
add_conditions(List *quals, Level *level, Flat *flat)
{
	ListCell   *cell;

	foreach(cell, quals)
		flat->conditions = lappend(flat->conditions, express(lfirst(cell), level));
}

/* Flatten a query; false when it is not simple. */
static bool
flatten(const Query *query, Flat *flat)
{
	const RangeTblEntry *entry;
	Level		level = {0};
	List	   *targets = NIL;
	ListCell   *cell;

	check_stack_depth();
	if (!is_simple(query))
		return false;
	level.varno = linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex;
	entry = rt_fetch(level.varno, query->rtable);
	if (entry->rtekind == RTE_SUBQUERY && !entry->lateral)
	{
		if (!flatten(entry->subquery, flat))
			return false;
		level.targets = flat->targets;
	}
	else if (entry->rtekind == RTE_RELATION && entry->relkind != RELKIND_VIEW && entry->tablesample == NULL)
		flat->relid = entry->relid;
	else
		return false;
	add_conditions(entry->securityQuals, &level, flat);
	add_conditions(make_ands_implicit((Expr *) query->jointree->quals), &level, flat);
	foreach(cell, query->targetList)
		targets = lappend(targets, express((Node *) lfirst_node(TargetEntry, cell)->expr, &level));
	flat->targets = targets;
	return !level.failed;
}

/* Get the query of rows of one way in a tree that has an edge for each; NULL when it is not where emogi_query_both_ways puts it. */
static const Query *
rows_of_one_way(const EmogiQueryAnalysis *tree)
{
	const RangeTblEntry *entry = linitial_node(RangeTblEntry, tree->query->rtable);

	return entry->rtekind == RTE_SUBQUERY ? entry->subquery : NULL;
}

/* ---- columns ---- */

/* Get the column of the relation that a column of the result is; 0 for no column, or for none, -1 when it is something else. */
static AttrNumber
column_of(const Flat *flat, int number)
{
	const Var  *var = number > 0 ? list_nth(flat->targets, number - 1) : NULL;

	if (number <= 0)
		return 0;
	return IsA(var, Var) && var->varattno > 0 ? var->varattno : -1;
}

/* Is a column of a relation in its tuples? */
static bool
is_stored(Relation rel, AttrNumber attnum)
{
	return emogi_compat_is_stored(TupleDescAttr(RelationGetDescr(rel), attnum - 1));
}

/* List the columns that conditions read; false when they are too many, or one is not stored. */
static bool
list_columns(Relation rel, EmogiFilter *filter)
{
	Bitmapset  *attnums = NULL;
	int			at = -1;

	pull_varattnos((Node *) filter->quals, 1, &attnums);
	while ((at = bms_next_member(attnums, at)) >= 0)
	{
		const AttrNumber attnum = (AttrNumber) (at + FirstLowInvalidHeapAttributeNumber);

		if (attnum == TableOidAttributeNumber)
			continue;
		if (filter->ncolumns == EMOGI_FILTER_MAX_COLUMNS || !is_stored(rel, attnum))
			return false;
		filter->columns[filter->ncolumns++] = attnum;
	}
	bms_free(attnums);
	return true;
}

/* ---- the whole ---- */

/* Is a function built in? Then no catalog that is read anew has another one. */
static bool
are_builtin(List *functions)
{
	ListCell   *cell;

	foreach(cell, functions)
		if (lfirst_oid(cell) >= FirstNormalObjectId)
			return false;
	return true;
}

/*
 * May parallel workers evaluate conditions? Only those of built-in functions and types: a worker reads the catalogs anew, and may find another
 * definition than the fingerprint is of a moment before the caller is told of it (Q17).
 */
static bool
may_share_work(const EmogiAnalysisState *look, List *quals)
{
	Query	   *query = makeNode(Query);

	if (!are_builtin(look->functions) || look->types.definition.len > 0)
		return false;
	query->commandType = CMD_SELECT;
	query->jointree = makeFromExpr(NIL, (Node *) quals);
	return max_parallel_hazard(query) == PROPARALLEL_SAFE;
}

/* Get conditions as a list of which all must be true, ready to be evaluated. Constant parts are left: a call that finds its Graph has no use for their values. */
static List *
list_conditions(List *conditions)
{
	List	   *quals = NIL;
	ListCell   *cell;

	foreach(cell, conditions)
		quals = list_concat(quals, make_ands_implicit(lfirst(cell)));
	fix_opfuncids((Node *) quals);
	return quals;
}

/* Make the relation that has the edges of a flat tree; NULL when there is none. */
static EmogiSource *
make_source(const EmogiAnalysisState *look, const Flat *flat)
{
	const EmogiQueryAnalysis *tree = look->tree;
	const EmogiEdgeColumns *columns = tree->columns.both_ways ? &look->inner : &tree->columns;
	EmogiFilter *filter = palloc0(sizeof *filter);
	EmogiSource *source = palloc0(sizeof *source);
	Relation	rel;
	bool		is_possible;

	source->graph = tree->source->graph;
	source->wants_weight = tree->source->wants_weight;
	source->key = tree->columns.key;
	source->relid = flat->relid;
	source->src = column_of(flat, columns->src);
	source->dst = column_of(flat, columns->dst);
	source->weight = column_of(flat, columns->weight);
	source->reverse = tree->columns.both_ways ? column_of(flat, columns->reverse) : 0;
	source->filter = filter;
	if (source->src <= 0 || source->dst <= 0 || source->weight < 0 || source->reverse < 0)
		return NULL;
	filter->tree = tree;
	filter->quals = list_conditions(flat->conditions);
	filter->may_share_work = may_share_work(look, filter->quals);
	rel = relation_open(flat->relid, NoLock);
	is_possible = is_stored(rel, source->src) && is_stored(rel, source->dst) && (source->weight == 0 || is_stored(rel, source->weight)) &&
		(source->reverse == 0 || is_stored(rel, source->reverse)) && list_columns(rel, filter);
	relation_close(rel, NoLock);
	return is_possible ? source : NULL;
}

/*
 * Get a relation with conditions that has the same edges as a tree, which is judged and has a fingerprint; NULL when it is not as simple as that. A
 * function in SQL that reads a table makes it none, though it reads that table alone.
 */
EmogiSource *
emogi_table_filter_recognize(const EmogiAnalysisState *look)
{
	const EmogiQueryAnalysis *tree = look->tree;
	const Query *query = tree->columns.both_ways ? rows_of_one_way(tree) : tree->query;
	Flat		flat = {0};

	if (look->nrelations != 1 || tree->columns.vertex > 0 || tree->columns.key.nparts > 0 || query == NULL || !flatten(query, &flat))
		return NULL;
	return make_source(look, &flat);
}

/* Get the cost of a plan of the tree of a Source with conditions, in the planner's unit, and the rows that it expects. Raises what the planner does. */
double
emogi_table_filter_cost(const EmogiSource *source, double *nrows)
{
	const EmogiQueryAnalysis *tree = source->filter->tree;
	const Plan *plan = pg_plan_query(copyObject(tree->query), tree->text, CURSOR_OPT_PARALLEL_OK, NULL)->planTree;

	*nrows = plan->plan_rows;
	return plan->total_cost;
}
