/*
 * weight_guess.c: choosing the weight column of edges if the caller has not named one
 *
 * A weight is named by its column, weight or cost, or by its position, the third in a list that the
 * caller has written: the column list beside a relation or the select list of a query. `*` is not
 * such a list, so 'edges' and 'SELECT * FROM edges' are the same graph. If a call has to do without
 * a name, a notice says so, once per statement.
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "parser/parsetree.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "source/source.h"

/* ---- is the third column written? ---- */

static bool writes_third(SelectStmt *select, List *ctes);

/* Return true if an alias names at least three columns. */
static bool
names_three(const Alias *alias)
{
	return alias != NULL && list_length(alias->colnames) >= 3;
}

/*
 * Return true if the third column of a common table expression is written. A table may have the
 * same name.
 */
static bool
is_written_by_cte(const RangeVar *name, List *ctes)
{
	for (int i = list_length(ctes) - 1; name->schemaname == NULL && i >= 0; i--)
	{
		CommonTableExpr *cte = list_nth_node(CommonTableExpr, ctes, i);

		if (strcmp(cte->ctename, name->relname) == 0)
			return list_length(cte->aliascolnames) >= 3 ||
				(IsA(cte->ctequery, SelectStmt) &&
				 writes_third((SelectStmt *) cte->ctequery, list_truncate(list_copy(ctes), i)));
	}
	return false;
}

/* Return true if the third column of `*` is written in the FROM clause. */
static bool
is_written_by_from(List *from, List *ctes)
{
	Node	   *item = list_length(from) == 1 ? linitial(from) : NULL;

	if (item == NULL)
		return false;
	if (IsA(item, RangeVar))
		return names_three(((RangeVar *) item)->alias) ||
			is_written_by_cte((RangeVar *) item, ctes);
	if (IsA(item, RangeSubselect))
		return names_three(((RangeSubselect *) item)->alias) ||
			writes_third((SelectStmt *) ((RangeSubselect *) item)->subquery, ctes);
	if (IsA(item, RangeFunction))
		return names_three(((RangeFunction *) item)->alias) ||
			list_length(((RangeFunction *) item)->coldeflist) >= 3;
	return false;
}

/* Return true if a select list item is a `*`. */
static bool
is_star(const ResTarget *target)
{
	if (IsA(target->val, ColumnRef))
		return IsA(llast(((ColumnRef *) target->val)->fields), A_Star);
	if (IsA(target->val, A_Indirection))
		return IsA(llast(((A_Indirection *) target->val)->indirection), A_Star);
	return false;
}

/*
 * Return true if the third column of a SELECT is written and not part of a `*`. ctes: CTEs in
 * scope.
 */
static bool
writes_third(SelectStmt *select, List *ctes)
{
	check_stack_depth();
	for (;; select = select->larg)
	{
		if (select->withClause != NULL)
			ctes = list_concat_copy(ctes, select->withClause->ctes);
		if (select->op == SETOP_NONE)
			break;
	}
	if (select->valuesLists != NIL)
		return true;
	for (int i = 0; i < Min(list_length(select->targetList), 3); i++)
		if (is_star(list_nth_node(ResTarget, select->targetList, i)))
			return list_length(select->targetList) == 1 &&
				is_written_by_from(select->fromClause, ctes);
	return true;
}

/* Return true if the caller has written the third column of a query, which has been analyzed. */
bool
emogi_weight_guess_is_explicit(const char *query)
{
	RawStmt    *raw = linitial_node(RawStmt, pg_parse_query(query));

	return writes_third((SelectStmt *) raw->stmt, NIL);
}

/* Return true if a select list item has this name. */
static bool
has_name(const ResTarget *target, const char *name)
{
	Node	   *field = IsA(target->val, ColumnRef) ?
		llast(((const ColumnRef *) target->val)->fields) : NULL;

	if (target->name != NULL)
		return strcmp(target->name, name) == 0;
	return field != NULL && IsA(field, String) && strcmp(strVal(field), name) == 0;
}

/* Return true if a result column is a column of a table, not of a view or subquery. */
static bool
is_of_table(const Query *query, const TargetEntry *entry)
{
	const Var  *var = (const Var *) entry->expr;
	const RangeTblEntry *rte;

	if (!IsA(var, Var))
		return false;
	rte = rt_fetch(var->varno, query->rtable);
	return rte->rtekind == RTE_RELATION && rte->relkind != RELKIND_MATVIEW;
}

/*
 * Return true if a `*` in a query, which has been analyzed, brings the column with this name from a
 * table: nobody has written that it is meant.
 */
bool
emogi_weight_guess_is_from_star(const char *text, const char *name)
{
	RawStmt    *raw = linitial_node(RawStmt, pg_parse_query(text));
	const SelectStmt *select = (const SelectStmt *) raw->stmt;
	const Query *query;
	bool		has_star = false;
	ListCell   *cell;

	if (select->op != SETOP_NONE)
		return false;
	foreach(cell, select->targetList)
	{
		if (has_name(lfirst(cell), name))
			return false;
		has_star |= is_star(lfirst(cell));
	}
	if (!has_star)
		return false;
	query = linitial_node(Query, emogi_compat_analyze(raw, text, NULL, 0));
	foreach(cell, query->targetList)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (!entry->resjunk && strcmp(entry->resname, name) == 0)
			return is_of_table(query, entry);
	}
	return false;
}

/* ---- candidates for the weight ---- */

/* Return true if a column is a candidate for the weight. */
static bool
may_be_weight(const FormData_pg_attribute *attribute)
{
	const char *name = NameStr(attribute->attname);

	return !attribute->attisdropped && strcmp(name, "id") != 0 && strcmp(name, "vertex") != 0 &&
		emogi_columns_can_be_weights(attribute->atttypid);
}

/* Is a candidate of an integer type? It may also be a key, such as that of a tenant. */
static bool
is_integer(const FormData_pg_attribute *attribute)
{
	const Oid	type = getBaseType(attribute->atttypid);

	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/*
 * Find the column that may have been meant as the weight of edges that have none: the only
 * candidate, or the only one that is no integer; weight_column if there are several. src, dst:
 * their endpoint columns.
 */
EmogiWeightGuess
emogi_weight_guess_find(TupleDesc desc, int src, int dst)
{
	EmogiWeightGuess guess = {0};
	int			count[2] = {0, 0};	/* candidates, of other types and integers */
	int			last[2] = {0, 0};

	for (int i = 1; i <= desc->natts; i++)
		if (i != src && i != dst && may_be_weight(TupleDescAttr(desc, i - 1)))
		{
			const bool	kind = is_integer(TupleDescAttr(desc, i - 1));

			count[kind]++;
			last[kind] = i;
		}
	if (count[0] + count[1] == 0)
		return guess;
	guess = emogi_weight_guess_of_column(desc, src, dst, last[count[0] == 0], false);
	if (count[0] > 1 || (count[0] == 0 && count[1] > 1))
		guess.column = "weight_column";
	return guess;
}

/* Make a guess: a column that is taken as the weight, or that may have been meant as it. */
EmogiWeightGuess
emogi_weight_guess_of_column(TupleDesc desc, int src, int dst, int column, bool is_taken)
{
	return (EmogiWeightGuess) {
		.column = pstrdup(NameStr(TupleDescAttr(desc, column - 1)->attname)),
		.src = pstrdup(NameStr(TupleDescAttr(desc, src - 1)->attname)),
		.dst = pstrdup(NameStr(TupleDescAttr(desc, dst - 1)->attname)),
		.is_taken = is_taken
	};
}

/* Copy a guess into the current memory context. */
EmogiWeightGuess
emogi_weight_guess_copy(const EmogiWeightGuess *guess)
{
	if (guess->column == NULL)
		return *guess;
	return (EmogiWeightGuess) {pstrdup(guess->column), pstrdup(guess->src), pstrdup(guess->dst),
						 guess->is_taken};
}

/* ---- guesses behind queries that emogi_with_vertices has written ---- */

#define ENTRIES 4

/* Queries with longer texts are not remembered. */
#define MAX_QUERY_BYTES 1048576

/* The guess for a graph that has become part of a query, in TopMemoryContext. */
typedef struct Entry
{
	char	   *query;			/* NULL = unused */
	char	   *relation;		/* name of the graph's relation; NULL = it was a query */
	EmogiWeightGuess	guess;
	bool		has_capacities;	/* calls that read these need no guess */
} Entry;

static Entry entries[ENTRIES];
static int	oldest = 0;

/* Find the guess for the graph within a query; NULL if there is none. */
static Entry *
find_entry(const char *query)
{
	for (int i = 0; i < ENTRIES; i++)
		if (entries[i].query != NULL && strcmp(entries[i].query, query) == 0)
			return &entries[i];
	return NULL;
}

/* Free an entry. */
static void
drop_entry(Entry *entry)
{
	if (entry->query == NULL)
		return;
	pfree(entry->query);
	if (entry->relation != NULL)
		pfree(entry->relation);
	pfree((char *) entry->guess.column);
	pfree((char *) entry->guess.src);
	pfree((char *) entry->guess.dst);
	*entry = (Entry) {0};
}

/*
 * Remember the guess for a graph, by the text of the query written from it. Functions that read
 * weights of the query report the guess in terms of the graph. relation: name of the graph's
 * relation; NULL = it is a query, possibly one written by this module. has_capacities: the query
 * has capacities, which flows read.
 */
void
emogi_weight_guess_remember(const char *query, const char *graph, const char *relation,
							const EmogiWeightGuess *guess, bool has_capacities)
{
	Entry	   *entry = find_entry(query);
	const Entry *inner = guess->column == NULL && relation == NULL ? find_entry(graph) : NULL;
	Entry		made = {0};
	MemoryContext old;

	if (inner != NULL && inner == entry)
		return;
	old = MemoryContextSwitchTo(TopMemoryContext);
	if (inner != NULL)
	{
		relation = inner->relation;
		guess = &inner->guess;
	}
	if (guess->column != NULL && strlen(query) <= MAX_QUERY_BYTES)
		made = (Entry) {pstrdup(query), relation != NULL ? pstrdup(relation) : NULL,
						emogi_weight_guess_copy(guess), has_capacities};
	MemoryContextSwitchTo(old);
	if (entry == NULL && made.query != NULL)
		entry = &entries[oldest++ % ENTRIES];
	if (entry != NULL)
	{
		drop_entry(entry);
		*entry = made;
	}
}

/* ---- the notice ---- */

/* How notices name what a call reads. */
typedef struct Words
{
	const char *one;
	const char *all;
} Words;

/* Report that edges of a relation have no weight, and how to name one. */
static void
report_relation(const char *relation, const char *missing, const char *ends, const char *column,
				Words words)
{
	ereport(NOTICE,
			(errmsg("relation \"%s\" has no column %s", relation, missing),
			 errhint("To use a column as the %4$s, name it: '%1$s(%2$s, %3$s)'. To ignore "
					 "%5$s, name only the ends: '%1$s(%2$s)'.",
					 quote_identifier(relation), ends, column, words.one, words.all)));
}

/* Report which weight the edges of a query have, and how to name it. */
static void
report_query(bool is_taken, const char *name, const char *missing, const char *ends,
			 const char *column, Words words)
{
	ereport(NOTICE,
			(is_taken ? errmsg("column \"%s\" of the %s is taken as the %s", name,
							   EMOGI_GRAPH_QUERY, words.one) :
			 errmsg("the %s has no column %s", EMOGI_GRAPH_QUERY, missing),
			 errhint("To use a column as the %3$s, select it by its name: 'SELECT %1$s, %2$s "
					 "FROM ...'. To ignore %4$s, select only the ends: 'SELECT %1$s FROM ...'.",
					 ends, column, words.one, words.all)));
}

/* Report the weight of edges. relation: NULL = they come from a query. */
static void
report(const EmogiWeightGuess *guess, const char *relation, EmogiWantedWeight wanted)
{
	const Words words = wanted == EMOGI_WANTS_CAPACITY ?
		(Words) {"capacity", "capacities"} : (Words) {"weight", "weights"};
	const char *missing = wanted == EMOGI_WANTS_CAPACITY ?
		"capacity, weight or cost: every edge has capacity 1" :
		"weight or cost: every edge has weight 1";
	const char *ends = psprintf("%s, %s", quote_identifier(guess->src),
								quote_identifier(guess->dst));
	const char *column = wanted == EMOGI_WANTS_CAPACITY &&
		strcmp(guess->column, "weight_column") == 0 ? "capacity_column" :
		quote_identifier(guess->column);

	if (relation == NULL)
		report_query(guess->is_taken, guess->column, missing, ends, column, words);
	else
		report_relation(relation, missing, ends, column, words);
}

/*
 * Report to the caller of a function that reads weights which column was taken as the weight
 * without being named, once per statement.
 */
void
emogi_weight_guess_report(const EmogiSource *source)
{
	static TimestampTz reported = 0;
	const Entry *entry = source->is_query && source->wants_weight ?
		find_entry(source->graph->text) : NULL;

	if ((source->guess.column == NULL && entry == NULL) ||
		(entry != NULL && entry->has_capacities && source->wants_weight == EMOGI_WANTS_CAPACITY) ||
		reported == GetCurrentStatementStartTimestamp())
		return;
	reported = GetCurrentStatementStartTimestamp();
	if (entry != NULL)
		report(&entry->guess, entry->relation, source->wants_weight);
	else
		report(&source->guess, source->is_query ? NULL : get_rel_name(source->relid),
			   source->wants_weight);
}
