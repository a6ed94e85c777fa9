/*
 * edge_filter.c: the condition on edges that a call has besides its graph argument: edge_filter =>
 * 'kind = $1', params => ROW('sms')
 *
 * Such a call is one on SELECT ... FROM (graph) WHERE (condition). Values take the place of
 * parameters as literals, as in emogi_query (params.c), so that calls with other values are texts
 * of one form. The parameters of the graph's own query are separate: emogi_query has replaced them.
 *
 * A condition is parsed on its own, as one expression, before it is written into a query. So it
 * cannot close the parentheses around it, and an application may restrict with it what the author
 * of the graph argument can see. Positions of errors are those in the text as given.
 * analysis/edge_filter_check.c checks types and parts.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "nodes/parsenodes.h"
#include "parser/parser.h"
#include "utils/builtins.h"

#include "source/source.h"

#define FILTER_HINT \
	"Pass one condition on the columns of an edge: edge_filter => 'kind = $1 AND amount > $2', " \
	"params => ROW('sms', 10)."

/* ---- positions of errors ---- */

/* Get the offset in the text as given of an offset in the condition with values. */
static int
offset_as_given(const EmogiEdgeCondition *filter, int offset)
{
	int			shift = 0;

	for (int i = 0; i < filter->values.nplaces; i++)
	{
		const EmogiParamPlace *place = &filter->values.places[i];

		if (offset < place->place + shift)
			break;
		if (offset < place->place + shift + place->written)
			return place->place;
		shift += place->written - place->length;
	}
	return Min(offset - shift, (int) strlen(filter->text));
}

/* Get the position in the text as given, in characters, of one in the condition with values. */
static int
position_as_given(const EmogiEdgeCondition *filter, int position)
{
	const char *p = filter->condition;
	int			offset;

	for (int i = 1; i < position && *p != '\0'; i++)
		p += pg_mblen(p);
	offset = offset_as_given(filter, (int) (p - filter->condition));
	return pg_mbstrlen_with_len(filter->text, offset) + 1;
}

/* Error context callback: show the filter as given, and the position in it. */
void
emogi_edge_condition_explain(void *arg)
{
	const EmogiEdgeCondition *filter = arg;
	const int	position = geterrposition();

	if (position > 0)
	{
		errposition(0);
		internalerrposition(filter->condition == NULL ? position :
							position_as_given(filter, position));
		internalerrquery(filter->text);
	}
	if (geterrcode() == ERRCODE_UNDEFINED_PARAMETER)
		errhint("Pass one value for each of $1, $2 and so on: params => ROW('sms', 10). The type of "
				"NULL must be known, as in NULL::text.");
	errcontext("edge_filter");
}

/* ---- making ---- */

/* Raise 42601 for a filter without a condition. */
static void
report_empty(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("edge_filter must not be empty"),
			 errhint("For all edges, omit it or pass NULL.")));
}

/* Raise 42601 for a direction, or a list of columns, that was passed by position. */
static void
refuse_others(const char *text)
{
	List	   *columns;

	if (strcmp(text, "in") == 0 || strcmp(text, "out") == 0 || strcmp(text, "both") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("edge_filter must be one condition, not the direction \"%s\"", text),
				 errhint("If the function has a direction, pass it by name: direction => '%s'.",
						 text)));
	if (strchr(text, ',') == NULL || strpbrk(text, "'$=<>") != NULL ||
		!emogi_columns_split(text, &columns))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("edge_filter must be one condition, not the list of columns \"%s\"", text),
			 errhint("Name columns as in 'edges(%s)', or with columns => '%s'.", text, text)));
}

/*
 * Get the filter of a call. text: as given; NULL = none. Raises 22023 for values without a filter,
 * 42601, and the errors of values (params.c).
 */
EmogiEdgeCondition *
emogi_edge_condition_make(char *text, const EmogiParamValue *values, int nvalues)
{
	EmogiEdgeCondition *filter;

	if (text == NULL && nvalues > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("params has %d %s, but there is no edge_filter", nvalues,
						nvalues == 1 ? "value" : "values"),
				 errhint(FILTER_HINT)));
	if (text == NULL)
		return NULL;
	if (text[strspn(text, " \t\n\r\f\v")] == '\0')
		report_empty();
	refuse_others(text);
	filter = palloc0(sizeof *filter);
	filter->text = text;
	filter->condition = emogi_params_put(text, "edge_filter", emogi_edge_condition_explain, filter,
										 values, nvalues, &filter->values);
	return filter;
}

/* ---- parsing ---- */

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

/* Is a node a `*`, which only a select list can have? */
static bool
is_star(const Node *node)
{
	return IsA(node, ColumnRef) && IsA(llast(((const ColumnRef *) node)->fields), A_Star);
}

/* Parse a condition that must be one expression; NULL if it is not. Raises errors of syntax. */
Node *
emogi_edge_condition_parse_condition(const char *condition)
{
	List	   *statements = raw_parser(condition, RAW_PARSE_PLPGSQL_EXPR);
	SelectStmt *select;
	Node	   *expression;

	if (list_length(statements) != 1 ||
		!IsA(linitial_node(RawStmt, statements)->stmt, SelectStmt))
		return NULL;
	select = (SelectStmt *) linitial_node(RawStmt, statements)->stmt;
	if (!is_expression(select))
		return NULL;
	expression = linitial_node(ResTarget, select->targetList)->val;
	return is_star(expression) ? NULL : expression;
}

/* Get the text without the blanks and semicolons at its end. */
static char *
without_semicolon(const char *text)
{
	size_t		length = strlen(text);

	while (length > 0 && (isspace((unsigned char) text[length - 1]) || text[length - 1] == ';'))
		length--;
	return pnstrdup(text, length);
}

/* Error context callback: explain a semicolon at the end, and show the filter. */
static void
explain_syntax(void *arg)
{
	const EmogiEdgeCondition *filter = arg;
	const char *bare = without_semicolon(filter->text);

	if (geterrcode() == ERRCODE_SYNTAX_ERROR && bare[0] != '\0' &&
		strchr(filter->text + strlen(bare), ';') != NULL)
		errhint("Pass the condition without a semicolon: %s.", quote_literal_cstr(bare));
	emogi_edge_condition_explain(arg);
}

/* Return true if the first word of the text is WHERE. */
static bool
begins_with_where(const char *text)
{
	return pg_strncasecmp(text + strspn(text, " \t\r\n"), "where ", strlen("where ")) == 0;
}

/* Parse a filter. Raises 42601 unless it is one expression. */
Node *
emogi_edge_condition_parse(const EmogiEdgeCondition *filter)
{
	ErrorContextCallback context = {.previous = error_context_stack,.callback = explain_syntax,
									.arg = unconstify(EmogiEdgeCondition *, filter)};
	Node	   *expression;

	error_context_stack = &context;
	expression = emogi_edge_condition_parse_condition(filter->condition);
	error_context_stack = context.previous;
	if (expression == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("edge_filter must be one condition: \"%s\"", filter->text),
				 begins_with_where(filter->text) ? errhint("Leave out WHERE.") :
				 errhint(FILTER_HINT)));
	return expression;
}

/* ---- writing ---- */

/* Write a condition in parentheses; it may end with a comment. */
static void
write_in_parentheses(StringInfo query, const char *condition)
{
	int			length = (int) strlen(condition);

	while (length > 0 && isspace((unsigned char) condition[length - 1]))
		length--;
	while (length > 0 && isspace((unsigned char) *condition))
		condition++, length--;
	appendStringInfo(query, "(%.*s%s)", length, condition,
					 strstr(condition, "--") != NULL ? "\n" : "");
}

/*
 * Write WHERE with the condition of a graph argument, which is one expression, and that of a
 * filter; NULL = none. Raises 42601 for the filter.
 */
void
emogi_edge_condition_write_where(StringInfo query, const char *condition,
							  const EmogiEdgeCondition *filter)
{
	if (filter != NULL)
		(void) emogi_edge_condition_parse(filter);
	if (condition != NULL)
	{
		appendStringInfoString(query, " WHERE ");
		write_in_parentheses(query, condition);
	}
	if (filter == NULL)
		return;
	appendStringInfoString(query, condition != NULL ? " AND " : " WHERE ");
	write_in_parentheses(query, filter->condition);
}

/* Get a query of the rows of a graph argument's query that a filter accepts. Raises 42601. */
char *
emogi_edge_condition_select(const EmogiGraphArgument *graph)
{
	StringInfoData query;

	initStringInfo(&query);
	appendStringInfo(&query, "SELECT * FROM (%.*s\n) AS " EMOGI_FILTERED_QUERY,
					 emogi_query_text_length(graph->text, EMOGI_GRAPH_QUERY), graph->text);
	emogi_edge_condition_write_where(&query, NULL, graph->filter);
	return query.data;
}

/* Get a graph argument with its filter as one text, for display. */
char *
emogi_edge_condition_show(const EmogiGraphArgument *graph)
{
	StringInfoData text;
	char	   *relation;
	const char *condition = NULL;

	if (graph->filter == NULL)
		return graph->text;
	initStringInfo(&text);
	if (!graph->is_relation && emogi_graph_grammar_is_query(graph->text))
		appendStringInfo(&text, "SELECT * FROM (%s) AS " EMOGI_FILTERED_QUERY,
						 without_semicolon(graph->text));
	else if (!graph->is_relation &&
			 emogi_graph_grammar_split_where(graph->text, &relation, &condition))
		appendStringInfoString(&text, without_semicolon(relation));
	else
		appendStringInfoString(&text, graph->text);
	appendStringInfoString(&text, " WHERE ");
	if (condition != NULL)
	{
		write_in_parentheses(&text, condition);
		appendStringInfoString(&text, " AND ");
	}
	write_in_parentheses(&text, graph->filter->condition);
	return text.data;
}
