/*
 * guess.c: the weight of edges whose weight was not named.
 *
 * A weight is named by its column, weight or cost, or by its place, the third of a list that the caller has written: that beside a
 * relation, or that of a SELECT. `*` writes no list, so 'edges' and 'SELECT * FROM edges' are the same graph. What a call has to do
 * without a name is told by a notice, once a statement.
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "source/source.h"

/* ---- is the third column written? ---- */

static bool writes_third(SelectStmt *select, List *ctes);

/* Does this name columns, at least three? */
static bool
names_three(const Alias *alias)
{
	return alias != NULL && list_length(alias->colnames) >= 3;
}

/* Is the third column of a common table expression written? A table may have its name, too. */
static bool
is_written_by_cte(const RangeVar *name, List *ctes)
{
	for (int i = list_length(ctes) - 1; name->schemaname == NULL && i >= 0; i--)
	{
		CommonTableExpr *cte = list_nth_node(CommonTableExpr, ctes, i);

		if (strcmp(cte->ctename, name->relname) == 0)
			return list_length(cte->aliascolnames) >= 3 ||
				(IsA(cte->ctequery, SelectStmt) && writes_third((SelectStmt *) cte->ctequery, list_truncate(list_copy(ctes), i)));
	}
	return false;
}

/* Is the third column of `*` written, in what the query selects from? */
static bool
is_written_by_from(List *from, List *ctes)
{
	Node	   *item = list_length(from) == 1 ? linitial(from) : NULL;

	if (item == NULL)
		return false;
	if (IsA(item, RangeVar))
		return names_three(((RangeVar *) item)->alias) || is_written_by_cte((RangeVar *) item, ctes);
	if (IsA(item, RangeSubselect))
		return names_three(((RangeSubselect *) item)->alias) || writes_third((SelectStmt *) ((RangeSubselect *) item)->subquery, ctes);
	if (IsA(item, RangeFunction))
		return names_three(((RangeFunction *) item)->alias) || list_length(((RangeFunction *) item)->coldeflist) >= 3;
	return false;
}

/* Is this item of a SELECT list all columns of something? */
static bool
is_star(const ResTarget *target)
{
	if (IsA(target->val, ColumnRef))
		return IsA(llast(((ColumnRef *) target->val)->fields), A_Star);
	if (IsA(target->val, A_Indirection))
		return IsA(llast(((A_Indirection *) target->val)->indirection), A_Star);
	return false;
}

/* Is the third column of a SELECT written, and not one of `*`? ctes: that it may select from. */
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
			return list_length(select->targetList) == 1 && is_written_by_from(select->fromClause, ctes);
	return true;
}

/* Has the caller written the third column of a query, which has been analysed? */
bool
emogi_guess_is_written(const char *query)
{
	RawStmt    *raw = linitial_node(RawStmt, pg_parse_query(query));

	return writes_third((SelectStmt *) raw->stmt, NIL);
}

/* ---- what may be the weight ---- */

/* Can this column be a weight that the caller has meant? */
static bool
may_be_weight(const FormData_pg_attribute *attribute)
{
	const char *name = NameStr(attribute->attname);

	return !attribute->attisdropped && strcmp(name, "id") != 0 && strcmp(name, "vertex") != 0 &&
		emogi_columns_can_be_weights(attribute->atttypid);
}

/* Find the first column, of edges that have no weight, that may have been meant as one. src, dst: their ends. */
EmogiGuess
emogi_guess_weight(TupleDesc desc, int src, int dst)
{
	for (int i = 1; i <= desc->natts; i++)
		if (i != src && i != dst && may_be_weight(TupleDescAttr(desc, i - 1)))
			return emogi_guess_column(desc, src, dst, i, false);
	return (EmogiGuess) {0};
}

/* Note a column that is taken as the weight of edges, or that may have been meant as it. */
EmogiGuess
emogi_guess_column(TupleDesc desc, int src, int dst, int column, bool is_taken)
{
	return (EmogiGuess) {
		.column = pstrdup(NameStr(TupleDescAttr(desc, column - 1)->attname)),
		.src = pstrdup(NameStr(TupleDescAttr(desc, src - 1)->attname)),
		.dst = pstrdup(NameStr(TupleDescAttr(desc, dst - 1)->attname)),
		.is_taken = is_taken
	};
}

/* Get a copy of a guess in the current memory context. */
EmogiGuess
emogi_guess_copy(const EmogiGuess *guess)
{
	if (guess->column == NULL)
		return *guess;
	return (EmogiGuess) {pstrdup(guess->column), pstrdup(guess->src), pstrdup(guess->dst), guess->is_taken};
}

/* ---- the guesses behind queries that emogi_with_vertices has written ---- */

#define MEMORIES 4

/* A query whose text is longer is not remembered. */
#define MOST_REMEMBERED_BYTES 1048576

/* What was guessed of a graph that has become a part of a query, in TopMemoryContext. */
typedef struct Memory
{
	char	   *query;			/* NULL = none */
	char	   *relation;		/* the graph's name; NULL = it was a query */
	EmogiGuess	guess;
} Memory;

static Memory memories[MEMORIES];
static int	oldest = 0;

/* Find what was guessed of the graph within a query; NULL when that is nothing. */
static Memory *
recall(const char *query)
{
	for (int i = 0; i < MEMORIES; i++)
		if (memories[i].query != NULL && strcmp(memories[i].query, query) == 0)
			return &memories[i];
	return NULL;
}

/* Forget a guess. */
static void
forget(Memory *memory)
{
	if (memory->query == NULL)
		return;
	pfree(memory->query);
	if (memory->relation != NULL)
		pfree(memory->relation);
	pfree((char *) memory->guess.column);
	pfree((char *) memory->guess.src);
	pfree((char *) memory->guess.dst);
	*memory = (Memory) {0};
}

/*
 * Remember for the functions that read the weights of a query what was guessed of the graph that it was written of: they tell it in that graph's words. relation: the
 * graph's name, NULL = it is a query, and perhaps one that was written so itself.
 */
void
emogi_guess_remember(const char *query, const char *graph, const char *relation, const EmogiGuess *guess)
{
	Memory	   *memory = recall(query);
	const Memory *inner = guess->column == NULL && relation == NULL ? recall(graph) : NULL;
	Memory		made = {0};
	MemoryContext old;

	if (inner != NULL && inner == memory)
		return;
	old = MemoryContextSwitchTo(TopMemoryContext);
	if (inner != NULL)
	{
		relation = inner->relation;
		guess = &inner->guess;
	}
	if (guess->column != NULL && strlen(query) <= MOST_REMEMBERED_BYTES)
		made = (Memory) {pstrdup(query), relation != NULL ? pstrdup(relation) : NULL, emogi_guess_copy(guess)};
	MemoryContextSwitchTo(old);
	if (memory == NULL && made.query != NULL)
		memory = &memories[oldest++ % MEMORIES];
	if (memory != NULL)
	{
		forget(memory);
		*memory = made;
	}
}

/* ---- the notice ---- */

/* Tell that edges of a relation have no weight, and how to name one. */
static void
tell_of_relation(const char *relation, const char *ends, const char *column)
{
	ereport(NOTICE,
			(errmsg("relation \"%s\" has no column weight or cost: every edge has weight 1", relation),
			 errhint("To use a column as the weight, name it: '%1$s(%2$s, %3$s)'. To go without weights, name the ends: '%1$s(%2$s)'.",
					 quote_identifier(relation), ends, column)));
}

/* Tell which weight edges of a query have, and how to name it. */
static void
tell_of_query(bool is_taken, const char *name, const char *ends, const char *column)
{
	ereport(NOTICE,
			(is_taken ? errmsg("column \"%s\" of the %s is taken as the weight", name, EMOGI_GRAPH_QUERY) :
			 errmsg("the %s has no column weight or cost: every edge has weight 1", EMOGI_GRAPH_QUERY),
			 errhint("To use a column as the weight, select it by its name: 'SELECT %1$s, %2$s FROM ...'. To go without weights, select the ends: 'SELECT %1$s FROM ...'.",
					 ends, column)));
}

/* Tell what has become of the weight of edges. relation: NULL = they are of a query. */
static void
tell(const EmogiGuess *guess, const char *relation)
{
	const char *ends = psprintf("%s, %s", quote_identifier(guess->src), quote_identifier(guess->dst));
	const char *column = quote_identifier(guess->column);

	if (relation == NULL)
		tell_of_query(guess->is_taken, guess->column, ends, column);
	else
		tell_of_relation(relation, ends, column);
}

/* Tell the caller of a function that reads weights what it has taken as the weight without being told: once a statement. */
void
emogi_guess_tell(const EmogiSource *source)
{
	static TimestampTz told = 0;
	const Memory *memory = source->is_query && source->wants_weight && source->guess.column == NULL ? recall(source->graph->text) : NULL;

	if ((source->guess.column == NULL && memory == NULL) || told == GetCurrentStatementStartTimestamp())
		return;
	told = GetCurrentStatementStartTimestamp();
	if (memory != NULL)
		tell(&memory->guess, memory->relation);
	else
		tell(&source->guess, source->is_query ? NULL : get_rel_name(source->relid));
}
