/*
 * anonymous_rows.c: the columns of anonymous rows that a query returns
 *
 * ROW(a, b) has type record, which does not describe a and b. Therefore the expression is searched
 * for in the query, through subqueries, joins, WITH, VALUES and all branches of a UNION, which must
 * agree. The result is registered as the type modifier of the column, as the server does for rows
 * at run time.
 *
 * A query may refer to one column many times, and that one to another: c1 AS (SELECT r FROM c0
 * UNION ALL SELECT r FROM c0), c2 AS ... Therefore each column of a query or of a range table entry
 * is visited only once in a search, whose cost is linear in the size of the parse tree.
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "parser/parsetree.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "source/source.h"

/* Stack of nested queries, innermost first. */
typedef struct Level
{
	Query	   *query;
	const struct Level *outer;
} Level;

/* A column of a query or of a range table entry: a hash key without padding. */
typedef struct Column
{
	uint64		of;				/* address of the Query or RangeTblEntry */
	int64		number;
} Column;

/* State of a search. */
typedef struct Search
{
	TupleDesc	desc;			/* columns found so far; NULL = none yet */
	bool		failed;			/* no columns, or different ones in different places */
	HTAB	   *visited;		/* of Column: those visited, or being visited */
} Search;

static void visit(Node *node, const Level *level, Search *search);	/* mutually recursive */
static void visit_column(Query *query, int n, const Level *outer, Search *search);

/* Are two columns of rows equivalent as keys? */
static bool
are_equivalent(const Form_pg_attribute a, const Form_pg_attribute b)
{
	EmogiKeyType first;
	EmogiKeyType second;

	if (a->atttypid == b->atttypid && a->attcollation == b->attcollation)
		return true;
	return emogi_key_type_find(a->atttypid, a->attcollation, &first) &&
		emogi_key_type_find(b->atttypid, b->attcollation, &second) &&
		emogi_key_type_equal(&first, &second);
}

/*
 * Merge columns that were found; all must be equivalent. An untyped literal gets its type from the
 * other places.
 */
static void
merge_columns(TupleDesc desc, Search *search)
{
	if (search->desc == NULL)
	{
		search->desc = CreateTupleDescCopy(desc);
		return;
	}
	search->failed |= desc->natts != search->desc->natts;
	for (int i = 0; i < desc->natts && !search->failed; i++)
	{
		Form_pg_attribute a = TupleDescAttr(search->desc, i);
		Form_pg_attribute b = TupleDescAttr(desc, i);

		if (a->atttypid == UNKNOWNOID)
			TupleDescCopyEntry(search->desc, i + 1, desc, i + 1);
		else if (b->atttypid == UNKNOWNOID)
			search->failed |= a->atttypid != TEXTOID && a->atttypid != VARCHAROID;
		else
			search->failed |= !are_equivalent(a, b);
	}
}

/* Give columns that are only untyped literals the type text, as elsewhere in a result. */
static void
resolve_literals(TupleDesc desc)
{
	for (int i = 0; i < desc->natts; i++)
	{
		const Oid	collation = TupleDescAttr(desc, i)->attcollation;

		if (TupleDescAttr(desc, i)->atttypid != UNKNOWNOID)
			continue;
		TupleDescInitEntry(desc, i + 1, psprintf("f%d", i + 1), TEXTOID, -1, 0);
		if (OidIsValid(collation))
			TupleDescInitEntryCollation(desc, i + 1, collation);
	}
	TupleDescFinalize(desc);
}

/* Describe the columns of ROW(...). */
static TupleDesc
columns_of(const RowExpr *row)
{
	TupleDesc	desc = CreateTemplateTupleDesc(list_length(row->args));

	for (int i = 0; i < desc->natts; i++)
	{
		Node	   *column = list_nth(row->args, i);
		char		name[NAMEDATALEN];

		snprintf(name, sizeof name, "f%d", i + 1);
		TupleDescInitEntry(desc, i + 1, name, exprType(column), -1, 0);
		TupleDescInitEntryCollation(desc, i + 1, exprCollation(column));
	}
	TupleDescFinalize(desc);
	return desc;
}

/* Merge the columns of ROW(...). */
static void
merge_row(const RowExpr *row, Search *search)
{
	TupleDesc	desc = columns_of(row);

	merge_columns(desc, search);
	FreeTupleDesc(desc);
}

/* Mark a column as visited; was it the first visit? */
static bool
visit_first(Search *search, const void *of, int number)
{
	const Column column = {(uint64) (uintptr_t) of, number};
	bool		found;

	(void) hash_search(search->visited, &column, HASH_ENTER, &found);
	return !found;
}

/* Visit all expressions of a list. */
static void
visit_list(List *nodes, const Level *level, Search *search)
{
	ListCell   *cell;

	foreach(cell, nodes)
		visit(lfirst(cell), level, search);
}

/* Visit the n-th column of all branches of a UNION, INTERSECT or EXCEPT. */
static void
visit_set_operation(Node *node, int n, const Level *level, Search *search)
{
	check_stack_depth();
	if (IsA(node, SetOperationStmt))
	{
		visit_set_operation(((SetOperationStmt *) node)->larg, n, level, search);
		visit_set_operation(((SetOperationStmt *) node)->rarg, n, level, search);
		return;
	}
	visit_column(rt_fetch(castNode(RangeTblRef, node)->rtindex, level->query->rtable)->subquery,
				   n, level, search);
}

/* Visit the n-th column of a query. */
static void
visit_column(Query *query, int n, const Level *outer, Search *search)
{
	const Level level = {query, outer};
	TargetEntry *target;

	if (!visit_first(search, query, n))
		return;
	if (query->setOperations != NULL)
	{
		visit_set_operation(query->setOperations, n, &level, search);
		return;
	}
	target = get_tle_by_resno(query->targetList, n);
	if (target == NULL || target->resjunk)
		search->failed = true;
	else
		visit((Node *) target->expr, &level, search);
}

/* Visit a column of a WITH query. Of a recursive one, only the other branches matter. */
static void
visit_cte(const RangeTblEntry *entry, int n, const Level *level, Search *search)
{
	ListCell   *cell;

	for (Index up = entry->ctelevelsup; up > 0 && level != NULL; up--)
		level = level->outer;
	if (level == NULL || entry->self_reference)
		return;					/* a self-reference is visited as part of its own query */
	foreach(cell, level->query->cteList)
	{
		CommonTableExpr *with = lfirst_node(CommonTableExpr, cell);

		if (strcmp(with->ctename, entry->ctename) == 0 && IsA(with->ctequery, Query))
		{
			visit_column((Query *) with->ctequery, n, level, search);
			return;
		}
	}
	search->failed = true;
}

/* Visit a column of a range table entry. */
static void
visit_variable(const Var *var, const Level *level, Search *search)
{
	RangeTblEntry *entry;
	List	   *grouped;
	ListCell   *cell;

	for (Index up = var->varlevelsup; up > 0 && level != NULL; up--)
		level = level->outer;
	entry = level != NULL ? rt_fetch(var->varno, level->query->rtable) : NULL;
	if (entry == NULL || var->varattno <= 0)
	{
		if (entry != NULL && var->varattno == 0 && entry->rtekind == RTE_SUBQUERY)
			merge_columns(ExecCleanTypeFromTL(entry->subquery->targetList), search);
		else
			search->failed = true;
		return;
	}
	if (!visit_first(search, entry, var->varattno))
		return;
	grouped = emogi_compat_grouped(entry);
	if (entry->rtekind == RTE_SUBQUERY)
		visit_column(entry->subquery, var->varattno, level, search);
	else if (entry->rtekind == RTE_CTE)
		visit_cte(entry, var->varattno, level, search);
	else if (entry->rtekind == RTE_JOIN)
		visit(list_nth(entry->joinaliasvars, var->varattno - 1), level, search);
	else if (entry->rtekind == RTE_VALUES)
		foreach(cell, entry->values_lists)
			visit(list_nth(lfirst(cell), var->varattno - 1), level, search);
	else if (grouped != NIL)
		visit(list_nth(grouped, var->varattno - 1), level, search);
	else
		search->failed = true;
}

/* Visit an expression: collect the rows that it can be. NULL is compatible with any columns. */
static void
visit(Node *node, const Level *level, Search *search)
{
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL || search->failed)
		return;
	if (IsA(node, RowExpr) && exprType(node) == RECORDOID)
		merge_row((RowExpr *) node, search);
	else if (IsA(node, Var) && exprType(node) == RECORDOID)
		visit_variable((Var *) node, level, search);
	else if (IsA(node, RelabelType))
		visit((Node *) ((RelabelType *) node)->arg, level, search);
	else if (IsA(node, CoalesceExpr))
		visit_list(((CoalesceExpr *) node)->args, level, search);
	else if (IsA(node, CaseExpr))
	{
		foreach(cell, ((CaseExpr *) node)->args)
			visit((Node *) lfirst_node(CaseWhen, cell)->result, level, search);
		visit((Node *) ((CaseExpr *) node)->defresult, level, search);
	}
	else if (IsA(node, SubLink) && ((SubLink *) node)->subLinkType == EXPR_SUBLINK)
		visit_column(castNode(Query, ((SubLink *) node)->subselect), 1, level, search);
	else if (exprType(node) != RECORDOID && type_is_rowtype(exprType(node)))
		merge_columns(lookup_rowtype_tupdesc_copy(getBaseType(exprType(node)), -1), search);
	else if (!IsA(node, Const) || !((Const *) node)->constisnull)
		search->failed = true;
}

/*
 * Find the columns of the n-th result column of a query, an anonymous row; NULL if they are
 * unknown.
 */
static TupleDesc
find_columns(Query *query, int n)
{
	HASHCTL		info = {.keysize = sizeof(Column),.entrysize = sizeof(Column),
						.hcxt = CurrentMemoryContext};
	Search		search = {.visited = hash_create("columns followed", 64, &info,
												  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT)};

	visit_column(query, n, NULL, &search);
	if (search.failed || search.desc == NULL)
		return NULL;
	resolve_literals(search.desc);
	return search.desc;
}

/*
 * Set the type modifier of each result column that is an anonymous row, if its columns can be
 * found.
 */
void
emogi_anonymous_rows_describe(Query *query, TupleDesc desc)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "emogi columns of rows",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		TupleDesc	columns = attribute->atttypid == RECORDOID ? find_columns(query, i + 1) : NULL;

		if (columns != NULL)
			attribute->atttypmod = BlessTupleDesc(columns)->tdtypmod;
		MemoryContextReset(scratch);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
}
