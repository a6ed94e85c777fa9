/*
 * anonymous_rows.c: which columns an anonymous row has that a query returns.
 *
 * ROW(a, b) is of type record, which says nothing of a and b. So the expression is looked for in
 * the query, through sub-queries, joins, WITH, VALUES and all parts of a UNION, which must agree.
 * What is found is told by the type modifier of the column, as the server knows rows at run time.
 *
 * A query may refer to one column many times, and that one to another: c1 AS (SELECT r FROM c0
 * UNION ALL SELECT r FROM c0), c2 AS ... So each column of a query or of an item of FROM is
 * followed once in a search, whose cost is linear in the size of the parse tree.
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

/* Queries around the one at hand, itself first. */
typedef struct Level
{
	Query	   *query;
	const struct Level *outer;
} Level;

/* A column of a query or of an item of FROM: a key without padding. */
typedef struct Column
{
	uint64		of;				/* address of the Query or RangeTblEntry */
	int64		number;
} Column;

/* Columns that were found so far. */
typedef struct Search
{
	TupleDesc	desc;			/* NULL = none yet */
	bool		failed;			/* there are none, or not the same everywhere */
	HTAB	   *followed;		/* of Column: those that have been looked at, or are being */
} Search;

static void look_at(Node *node, const Level *level, Search *search);	/* they call each other */
static void look_at_column(Query *query, int n, const Level *outer, Search *search);

/* Are two columns of rows handled alike, as keys? */
static bool
are_alike(const Form_pg_attribute a, const Form_pg_attribute b)
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
 * Take columns that were found; all that are found must be alike. One that is a literal without a
 * type is what it is elsewhere.
 */
static void
take(TupleDesc desc, Search *search)
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
			search->failed |= !are_alike(a, b);
	}
}

/* Make columns that are literals without a type text, as they are elsewhere in a result. */
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
}

/* Make the columns of ROW(...). */
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
	return desc;
}

/* Take the columns of ROW(...). */
static void
take_row(const RowExpr *row, Search *search)
{
	TupleDesc	desc = columns_of(row);

	take(desc, search);
	FreeTupleDesc(desc);
}

/* Is this the first time that a search comes to a column? */
static bool
comes_first_to(Search *search, const void *of, int number)
{
	const Column column = {(uint64) (uintptr_t) of, number};
	bool		found;

	(void) hash_search(search->followed, &column, HASH_ENTER, &found);
	return !found;
}

/* Look at all of some expressions. */
static void
look_at_all(List *nodes, const Level *level, Search *search)
{
	ListCell   *cell;

	foreach(cell, nodes)
		look_at(lfirst(cell), level, search);
}

/* Look at all parts of a UNION, INTERSECT or EXCEPT for its n-th column. */
static void
look_at_parts(Node *node, int n, const Level *level, Search *search)
{
	check_stack_depth();
	if (IsA(node, SetOperationStmt))
	{
		look_at_parts(((SetOperationStmt *) node)->larg, n, level, search);
		look_at_parts(((SetOperationStmt *) node)->rarg, n, level, search);
		return;
	}
	look_at_column(rt_fetch(castNode(RangeTblRef, node)->rtindex, level->query->rtable)->subquery,
				   n, level, search);
}

/* Look at the n-th column of a query. */
static void
look_at_column(Query *query, int n, const Level *outer, Search *search)
{
	const Level level = {query, outer};
	TargetEntry *target;

	if (!comes_first_to(search, query, n))
		return;
	if (query->setOperations != NULL)
	{
		look_at_parts(query->setOperations, n, &level, search);
		return;
	}
	target = get_tle_by_resno(query->targetList, n);
	if (target == NULL || target->resjunk)
		search->failed = true;
	else
		look_at((Node *) target->expr, &level, search);
}

/* Look at a column of WITH; a recursive one is what its first part is, or all. */
static void
look_at_with(const RangeTblEntry *entry, int n, const Level *level, Search *search)
{
	ListCell   *cell;

	for (Index up = entry->ctelevelsup; up > 0 && level != NULL; up--)
		level = level->outer;
	if (level == NULL || entry->self_reference)
		return;					/* what refers to itself is looked at as a part of itself */
	foreach(cell, level->query->cteList)
	{
		CommonTableExpr *with = lfirst_node(CommonTableExpr, cell);

		if (strcmp(with->ctename, entry->ctename) == 0 && IsA(with->ctequery, Query))
		{
			look_at_column((Query *) with->ctequery, n, level, search);
			return;
		}
	}
	search->failed = true;
}

/* Look at a column of an item of FROM. */
static void
look_at_variable(const Var *var, const Level *level, Search *search)
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
			take(ExecCleanTypeFromTL(entry->subquery->targetList), search);
		else
			search->failed = true;
		return;
	}
	if (!comes_first_to(search, entry, var->varattno))
		return;
	grouped = emogi_compat_grouped(entry);
	if (entry->rtekind == RTE_SUBQUERY)
		look_at_column(entry->subquery, var->varattno, level, search);
	else if (entry->rtekind == RTE_CTE)
		look_at_with(entry, var->varattno, level, search);
	else if (entry->rtekind == RTE_JOIN)
		look_at(list_nth(entry->joinaliasvars, var->varattno - 1), level, search);
	else if (entry->rtekind == RTE_VALUES)
		foreach(cell, entry->values_lists)
			look_at(list_nth(lfirst(cell), var->varattno - 1), level, search);
	else if (grouped != NIL)
		look_at(list_nth(grouped, var->varattno - 1), level, search);
	else
		search->failed = true;
}

/* Look at an expression: rows that it may be. NULL is a row of any columns. */
static void
look_at(Node *node, const Level *level, Search *search)
{
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL || search->failed)
		return;
	if (IsA(node, RowExpr) && exprType(node) == RECORDOID)
		take_row((RowExpr *) node, search);
	else if (IsA(node, Var) && exprType(node) == RECORDOID)
		look_at_variable((Var *) node, level, search);
	else if (IsA(node, RelabelType))
		look_at((Node *) ((RelabelType *) node)->arg, level, search);
	else if (IsA(node, CoalesceExpr))
		look_at_all(((CoalesceExpr *) node)->args, level, search);
	else if (IsA(node, CaseExpr))
	{
		foreach(cell, ((CaseExpr *) node)->args)
			look_at((Node *) lfirst_node(CaseWhen, cell)->result, level, search);
		look_at((Node *) ((CaseExpr *) node)->defresult, level, search);
	}
	else if (IsA(node, SubLink) && ((SubLink *) node)->subLinkType == EXPR_SUBLINK)
		look_at_column(castNode(Query, ((SubLink *) node)->subselect), 1, level, search);
	else if (exprType(node) != RECORDOID && type_is_rowtype(exprType(node)))
		take(lookup_rowtype_tupdesc_copy(getBaseType(exprType(node)), -1), search);
	else if (!IsA(node, Const) || !((Const *) node)->constisnull)
		search->failed = true;
}

/*
 * Find the columns of the n-th column of a query's result, an anonymous row; NULL when they cannot
 * be told.
 */
static TupleDesc
find_columns(Query *query, int n)
{
	HASHCTL		info = {.keysize = sizeof(Column),.entrysize = sizeof(Column),
						.hcxt = CurrentMemoryContext};
	Search		search = {.followed = hash_create("columns followed", 64, &info,
												  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT)};

	look_at_column(query, n, NULL, &search);
	if (search.failed || search.desc == NULL)
		return NULL;
	resolve_literals(search.desc);
	return search.desc;
}

/*
 * Give each column of a query's result that is an anonymous row the type modifier of its columns,
 * where they can be found.
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
