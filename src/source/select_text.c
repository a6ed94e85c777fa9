/*
 * select_text.c: SELECT text for a relation that is read as a query: one with a condition on its
 * rows, 'roads(a, b, km) WHERE open', or with endpoints of several columns
 *
 * The columns get the names by which the columns of a query are recognized.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "source/source.h"

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
	const Node *expression;

	error_context_stack = &context;
	expression = emogi_edge_condition_parse_condition(condition);
	error_context_stack = context.previous;
	if (expression == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("the condition on a relation must be one expression: \"%s\"", condition),
				 errhint("Pass a query instead: 'SELECT src, dst FROM edges WHERE ...'.")));
}

/* Write WHERE with a condition and a filter, which may be NULL. Raises 42601. */
static void
write_conditions(StringInfo query, const char *condition, const EmogiEdgeCondition *filter)
{
	if (condition != NULL)
		check_condition(condition);
	emogi_edge_condition_write_where(query, condition, filter);
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
 * Get a query of rows for a relation with endpoints of several columns. condition, filter: on its
 * rows, or NULL. Returns NULL if the relation no longer exists, which cannot happen if it is
 * locked.
 */
char *
emogi_select_text_rows(Oid relid, List *columns, const char *condition,
					   const EmogiEdgeCondition *filter, EmogiWantedWeight wants_weight)
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
	write_conditions(&query, condition, filter);
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
	write_conditions(&query, condition, NULL);
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
 * Get a query of the edges of a relation for which a condition and a filter are true, either of
 * which may be NULL; NULL if the relation no longer exists, which cannot happen if it is locked.
 * source: its columns, including unused ones.
 * The query selects those that the caller may read even if the call does not use them, so that all
 * functions share one graph.
 */
char *
emogi_select_text_filtered(const EmogiSource *source, const char *condition,
						   const EmogiEdgeCondition *filter)
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
	write_conditions(&query, condition, filter);
	return query.data;
}
