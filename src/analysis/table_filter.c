/*
 * table_filter.c: recognition of a query that is one table with conditions on its rows (Q17a, F1
 * to F8)
 *
 * SELECT src, dst FROM t WHERE kind = 'x', a table under row security, and simple views over them
 * have the edges of those rows of one table for which conditions are true. The conditions can be
 * evaluated row by row. So changes of the table can be tracked as those of a table without
 * conditions (changes/), at a cost proportional to the change.
 *
 * Views are flattened from the inside out. The conditions of a level precede those of the levels
 * around it, and row security conditions precede the others of their level. So a function never
 * sees a row that a policy or a security barrier hides from the caller.
 *
 * A query that passed cacheability.c depends on the row alone. In the tree, expressions with one
 * value per call are constants.
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
#include "utils/rel.h"

#include "base/compat.h"
#include "analysis/known_analyses.h"

/*
 * A flattened query: columns and conditions are expressions over the columns of one relation, which
 * is varno 1.
 */
typedef struct FlatQuery
{
	Oid			relid;
	List	   *targets;		/* Node *: columns of the result */
	List	   *conditions;		/* Node *: in order of evaluation */
} FlatQuery;

/* The relation or subquery that a query level reads, and its columns. */
typedef struct Level
{
	int			varno;
	const List *targets;		/* of the subquery; NIL = a relation */
	bool		failed;			/* an unsupported expression was met */
} Level;

/* ---- flattening ---- */

/*
 * Return true if a query only selects rows of one FROM item. Without LIMIT, the order of its rows
 * does not matter.
 */
static bool
is_simple(const Query *query)
{
	return query->commandType == CMD_SELECT && !query->hasAggs && !query->hasWindowFuncs &&
		!query->hasTargetSRFs && !query->hasSubLinks && query->groupClause == NIL &&
		query->groupingSets == NIL && query->havingQual == NULL && query->windowClause == NIL &&
		query->distinctClause == NIL && query->limitOffset == NULL && query->limitCount == NULL &&
		query->setOperations == NULL && query->cteList == NIL && query->rowMarks == NIL &&
		list_length(query->jointree->fromlist) == 1 &&
		IsA(linitial(query->jointree->fromlist), RangeTblRef);
}

/* Copy an expression of a level, replacing its columns by their definitions. */
static Node *
map_columns(Node *node, void *context)
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
		return expression_tree_mutator(node, map_columns, context);
	level->failed = var->varlevelsup != 0 || var->varno != level->varno ||
		(var->varattno <= 0 && (level->targets != NIL || var->varattno != TableOidAttributeNumber));
	if (level->failed)
		return NULL;
	if (level->targets != NIL)
		return copyObject(list_nth(level->targets, var->varattno - 1));
	return (Node *) makeVar(1, var->varattno, var->vartype, var->vartypmod, var->varcollid, 0);
}

/* Add the conditions of a level. */
static void
add_conditions(List *quals, Level *level, FlatQuery *flat)
{
	ListCell   *cell;

	foreach(cell, quals)
		flat->conditions = lappend(flat->conditions, map_columns(lfirst(cell), level));
}

/* Flatten a query; return false if it is not simple. */
static bool
flatten(const Query *query, FlatQuery *flat)
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
	else if (entry->rtekind == RTE_RELATION && entry->relkind != RELKIND_VIEW &&
			 entry->tablesample == NULL)
		flat->relid = entry->relid;
	else
		return false;
	add_conditions(entry->securityQuals, &level, flat);
	add_conditions(make_ands_implicit((Expr *) query->jointree->quals), &level, flat);
	foreach(cell, query->targetList)
		targets = lappend(targets,
						  map_columns((Node *) lfirst_node(TargetEntry, cell)->expr, &level));
	flat->targets = targets;
	return !level.failed;
}

/*
 * Return the original query inside one that was expanded to both directions; NULL if it is not
 * where emogi_query_both_ways puts it.
 */
static const Query *
unexpanded_query(const EmogiQueryAnalysis *analysis)
{
	const RangeTblEntry *entry = linitial_node(RangeTblEntry, analysis->query->rtable);

	return entry->rtekind == RTE_SUBQUERY ? entry->subquery : NULL;
}

/* ---- columns ---- */

/*
 * Return the relation's column that a result column is; 0 if there is no such result column, -1 if
 * it is an expression.
 */
static AttrNumber
column_of(const FlatQuery *flat, int number)
{
	const Var  *var = number > 0 ? list_nth(flat->targets, number - 1) : NULL;

	if (number <= 0)
		return 0;
	return IsA(var, Var) && var->varattno > 0 ? var->varattno : -1;
}

/* Return true if a column of a relation is stored in its tuples. */
static bool
is_stored(Relation rel, AttrNumber attnum)
{
	return emogi_compat_is_stored(TupleDescAttr(RelationGetDescr(rel), attnum - 1));
}

/*
 * List the columns that conditions read; return false if there are too many or one is not stored.
 */
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

/* ---- recognition ---- */

/* Return true if all functions are built in. Their catalog rows cannot have changed. */
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
 * Return true if parallel workers may evaluate the conditions. Only built-in functions and types
 * are allowed: a worker reads the catalogs again, and might find another definition than that of
 * the fingerprint before the caller receives its invalidation (Q17).
 */
static bool
may_share_work(const EmogiAnalysisState *state, List *quals)
{
	Query	   *query = makeNode(Query);

	if (!are_builtin(state->functions) || state->types.definition.len > 0)
		return false;
	query->commandType = CMD_SELECT;
	query->jointree = makeFromExpr(NIL, (Node *) quals);
	return max_parallel_hazard(query) == PROPARALLEL_SAFE;
}

/*
 * Return the conditions as an implicit-AND list, ready for evaluation. Constants are not folded
 * further, because a call that finds its graph in the cache does not use them.
 */
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

/* Make a source with the edges of a flattened query; return NULL if that is impossible. */
static EmogiSource *
make_source(const EmogiAnalysisState *state, const FlatQuery *flat)
{
	const EmogiQueryAnalysis *analysis = state->analysis;
	const EmogiEdgeColumns *columns = analysis->columns.both_ways ? &state->inner :
		&analysis->columns;
	EmogiFilter *filter = palloc0(sizeof *filter);
	EmogiSource *source = palloc0(sizeof *source);
	Relation	rel;
	bool		is_possible;

	source->graph = analysis->source->graph;
	source->wants_weight = analysis->source->wants_weight;
	source->key = analysis->columns.key;
	source->relid = flat->relid;
	source->src = column_of(flat, columns->src);
	source->dst = column_of(flat, columns->dst);
	source->weight = column_of(flat, columns->weight);
	source->reverse = analysis->columns.both_ways ? column_of(flat, columns->reverse) : 0;
	source->filter = filter;
	if (source->src <= 0 || source->dst <= 0 || source->weight < 0 || source->reverse < 0)
		return NULL;
	filter->analysis = analysis;
	if (source->reverse > 0)
	{
		filter->cost_name = emogi_query_cost_name(analysis->source, columns, false);
		filter->reverse_name = emogi_query_cost_name(analysis->source, columns, true);
	}
	filter->ready = palloc0(sizeof *filter->ready);
	filter->quals = list_conditions(flat->conditions);
	filter->may_share_work = may_share_work(state, filter->quals);
	rel = relation_open(flat->relid, NoLock);
	is_possible = is_stored(rel, source->src) && is_stored(rel, source->dst) &&
		(source->weight == 0 || is_stored(rel, source->weight)) &&
		(source->reverse == 0 || is_stored(rel, source->reverse)) && list_columns(rel, filter);
	relation_close(rel, NoLock);
	return is_possible ? source : NULL;
}

/*
 * Return a table with conditions that has the same edges as a query, which has passed cacheability
 * checks and has a fingerprint; NULL if it is not that simple. An SQL function that reads a table
 * is not supported, even if it reads the same table.
 */
EmogiSource *
emogi_table_filter_recognize(const EmogiAnalysisState *state)
{
	const EmogiQueryAnalysis *analysis = state->analysis;
	const Query *query = analysis->columns.both_ways ? unexpanded_query(analysis) : analysis->query;
	FlatQuery	flat = {0};

	if (state->nrelations != 1 || analysis->columns.vertex > 0 ||
		analysis->columns.key.nparts > 0 || query == NULL || !flatten(query, &flat))
		return NULL;
	return make_source(state, &flat);
}

/*
 * Return the planner's cost of the query of a source with conditions, and the estimated rows.
 * Raises the planner's errors.
 */
double
emogi_table_filter_cost(const EmogiSource *source, double *nrows)
{
	const EmogiQueryAnalysis *analysis = source->filter->analysis;
	const Plan *plan;
	double		cost;

	if (emogi_known_costs_get(analysis, nrows, &cost))
		return cost;
	plan = emogi_compat_plan(copyObject(analysis->query), analysis->text)->planTree;
	*nrows = plan->plan_rows;
	emogi_known_costs_set(analysis, plan->plan_rows, plan->total_cost);
	return plan->total_cost;
}
