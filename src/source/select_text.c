/*
 * select_text.c: SELECT text for a relation that is read as a query: one with a condition on its
 * rows, 'roads(a, b, km) WHERE open', or with endpoints of several columns
 *
 * The columns get the names by which the columns of a query are recognized.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/parsenodes.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "source/source.h"

/* Return true if a statement that PL/pgSQL would take for an expression is one without clauses. */
static bool
is_expression(const SelectStmt *select)
{
	return list_length(select->targetList) == 1 &&
		linitial_node(ResTarget, select->targetList)->name == NULL &&
		select->distinctClause == NIL && select->fromClause == NIL && select->whereClause == NULL &&
		select->groupClause == NIL && select->havingClause == NULL &&
		select->windowClause == NIL && select->sortClause == NIL && select->limitOffset == NULL &&
		select->limitCount == NULL && select->lockingClause == NIL && select->op == SETOP_NONE;
}

/* Error context callback: show the condition, and explain a semicolon at its end. */
static void
explain_condition(void *text)
{
	const char *condition = text;
	size_t		length = strlen(condition);
	size_t		bare;

	while (length > 0 && isspace((unsigned char) condition[length - 1]))
		length--;
	for (bare = length; bare > 0 && strchr("; \t\n", condition[bare - 1]) != NULL; bare--)
		;
	if (geterrcode() == ERRCODE_SYNTAX_ERROR && bare < length)
		errhint("Pass the condition without a semicolon: %s.",
				quote_literal_cstr(psprintf("edges WHERE%.*s", (int) bare, condition)));
	emogi_query_explain_text(text);
}

/*
 * Raise 42601 unless a condition is one expression. It must not close the parentheses that are
 * written around it: an application that passes a user's condition relies on it to restrict rows.
 */
static void
check_condition(const char *condition)
{
	ErrorContextCallback context = {.previous = error_context_stack,
									.callback = explain_condition,
									.arg = unconstify(char *, condition)};
	List	   *statements;

	error_context_stack = &context;
	statements = raw_parser(condition, RAW_PARSE_PLPGSQL_EXPR);
	error_context_stack = context.previous;
	if (list_length(statements) != 1 ||
		!IsA(linitial_node(RawStmt, statements)->stmt, SelectStmt) ||
		!is_expression((SelectStmt *) linitial_node(RawStmt, statements)->stmt))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("the condition on a relation must be one expression: \"%s\"", condition),
				 errhint("Pass a query instead: 'SELECT src, dst FROM edges WHERE ...'.")));
}

/* Write WHERE and a condition, which may end with a comment. Raises 42601. */
static void
write_condition(StringInfo query, const char *condition)
{
	int			length = (int) strlen(condition);

	check_condition(condition);
	while (length > 0 && isspace((unsigned char) condition[length - 1]))
		length--;
	while (length > 0 && isspace((unsigned char) *condition))
		condition++, length--;
	appendStringInfo(query, " WHERE (%.*s%s)", length, condition,
					 strstr(condition, "--") != NULL ? "\n" : "");
}

/* ---- endpoints of several columns ---- */

/* Write an endpoint of several columns as a row. */
static void
write_row(List *names, const char *as, StringInfo query)
{
	ListCell   *cell;

	foreach(cell, names)
		appendStringInfo(query, "%s%s", foreach_current_index(cell) == 0 ? "ROW(" : ", ",
						 quote_identifier(lfirst(cell)));
	appendStringInfo(query, ") AS %s", as);
}

/*
 * Get a query of rows for a relation with endpoints of several columns. condition: on its rows, or
 * NULL. Returns NULL if the relation no longer exists, which cannot happen if it is locked.
 */
char *
emogi_select_text_rows(Oid relid, List *columns, const char *condition,
					   EmogiWantedWeight wants_weight)
{
	char	   *relation = get_rel_name(relid);
	char	   *schema = get_namespace_name(get_rel_namespace(relid));
	StringInfoData query;

	if (relation == NULL || schema == NULL)
		return NULL;
	initStringInfo(&query);
	appendStringInfoString(&query, "SELECT ");
	write_row(linitial(columns), "src", &query);
	appendStringInfoString(&query, ", ");
	write_row(lsecond(columns), "dst", &query);
	if (emogi_columns_reverse(columns) != NULL)
		appendStringInfo(&query, ", %s AS cost, %s AS reverse_cost",
						 quote_identifier(emogi_columns_weight(columns)),
						 quote_identifier(emogi_columns_reverse(columns)));
	else if (wants_weight && emogi_columns_weight(columns) != NULL)
		appendStringInfo(&query, ", %s AS weight", quote_identifier(emogi_columns_weight(columns)));
	if (emogi_columns_edge(columns) != NULL)
		appendStringInfo(&query, ", %s AS id", quote_identifier(emogi_columns_edge(columns)));
	appendStringInfo(&query, " FROM %s", quote_qualified_identifier(schema, relation));
	if (condition != NULL)
		write_condition(&query, condition);
	return query.data;
}

/* ---- relation with weights and capacities ---- */

/* Write a column under its own name, if there is one. */
static void
write_named(StringInfo query, Oid relid, AttrNumber attnum)
{
	if (attnum > 0)
		appendStringInfo(query, "%s%s", query->len > 0 ? ", " : "SELECT ",
						 quote_identifier(get_attname(relid, attnum, false)));
}

/*
 * Get a query of the edges of a locked relation whose columns are not named, with weights and
 * capacities under their own names; NULL if it has no capacities. condition: on its rows, or NULL.
 */
char *
emogi_select_text_both_weights(Oid relid, const char *condition)
{
	const AttrNumber capacity = get_attnum(relid, "capacity");
	const AttrNumber reverse = get_attnum(relid, "reverse_capacity");
	EmogiSource source = {0};
	StringInfoData query;

	if ((capacity <= 0 && reverse <= 0) || !emogi_default_columns_find(relid, &source))
		return NULL;
	emogi_default_columns_weights(relid, EMOGI_WANTS_WEIGHT, &source);
	initStringInfo(&query);
	write_named(&query, relid, source.src);
	write_named(&query, relid, source.dst);
	write_named(&query, relid, source.weight);
	write_named(&query, relid, source.reverse);
	write_named(&query, relid, capacity);
	write_named(&query, relid, reverse);
	appendStringInfo(&query, " FROM %s",
					 quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
												get_rel_name(relid)));
	if (condition != NULL)
		write_condition(&query, condition);
	return query.data;
}

/* ---- relation with a condition ---- */

/* Return true if the caller may read a column of a relation. */
static bool
may_read(const EmogiSource *source, AttrNumber attnum)
{
	EmogiSource of_column = {.relid = source->relid,.src = attnum};

	return emogi_access_may_select(&of_column);
}

/* Write a column under a name by which the columns of a query are recognized. */
static void
write_column(StringInfo query, const EmogiSource *source, AttrNumber attnum, const char *as)
{
	appendStringInfo(query, "%s%s AS %s", query->len > 0 ? ", " : "SELECT ",
					 quote_identifier(get_attname(source->relid, attnum, false)), as);
}

/*
 * Get a query of the edges of a relation for which a condition is true; NULL if the relation no
 * longer exists, which cannot happen if it is locked. source: its columns, including unused ones.
 * The query selects those that the caller may read even if the call does not use them, so that all
 * functions share one graph.
 */
char *
emogi_select_text_filtered(const EmogiSource *source, const char *condition)
{
	char	   *relation = get_rel_name(source->relid);
	char	   *schema = get_namespace_name(get_rel_namespace(source->relid));
	StringInfoData query;

	if (relation == NULL || schema == NULL)
		return NULL;
	initStringInfo(&query);
	if (source->edge > 0 && (source->names_edge || may_read(source, source->edge)))
		write_column(&query, source, source->edge, "id");
	write_column(&query, source, source->src, "src");
	write_column(&query, source, source->dst, "dst");
	if (source->reverse > 0)
	{
		write_column(&query, source, source->weight, "cost");
		write_column(&query, source, source->reverse, "reverse_cost");
	}
	else if (source->weight > 0 && (source->wants_weight || may_read(source, source->weight)))
		write_column(&query, source, source->weight, "weight");
	appendStringInfo(&query, " FROM %s", quote_qualified_identifier(schema, relation));
	write_condition(&query, condition);
	return query.data;
}
