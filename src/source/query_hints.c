/*
 * query_hints.c: errors and hints for text in place of a query that is another form of argument
 */
#include "postgres.h"

#include "catalog/namespace.h"

#include "source/source.h"

/* The queries other than the graph's, with the hint for a value in place of the query. */
static const struct
{
	const char *what;
	const char *hint;
}			forms[] = {
	{EMOGI_START_QUERY, "Use 'VALUES (1, 1.0), (2, 0.5)' or 'SELECT vertex, value FROM ...'."},
	{EMOGI_COMMUNITIES_QUERY, "Use 'VALUES (1, 1), (2, 1)' or 'SELECT vertex, community FROM "
		"...'."},
	{EMOGI_PAIRS_QUERY, "Use 'VALUES (1, 2), (3, 4)' or 'SELECT source, target FROM ...'."}
};

/*
 * Raise 42601 for a value, or for a list of values, that is no query: a number, an array, a row.
 * Other text is left to the parser.
 */
static void
check_no_value(const char *query, const char *what)
{
	if (emogi_graph_grammar_is_query(query) ||
		strspn(query, "0123456789+-.,:{}()[] ") != strlen(query))
		return;
	for (int i = 0; i < (int) lengthof(forms); i++)
		if (strcmp(what, forms[i].what) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_SYNTAX_ERROR),
					 errmsg("the %s must be one SELECT, not the value \"%s\"", what, query),
					 errhint("%s", forms[i].hint)));
}

/* Raise 42601 for a relation's name, as in graph arguments, if only a query is allowed. */
static void
check_no_name(const char *query, const char *what)
{
	List	   *columns;
	List	   *name;

	if (emogi_graph_grammar_is_query(query) ||
		!emogi_graph_grammar_split_relation(query, &name, &columns))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("the %s must be one SELECT, not the name \"%s\"", what, query),
			 errhint("Select its columns: 'SELECT ... FROM %s'.", NameListToQuotedString(name))));
}

/* Raise 42601 for a value, or a relation's name, where only a query is allowed. what: which query. */
void
emogi_query_hints_check(const char *query, const char *what)
{
	check_no_value(query, what);
	check_no_name(query, what);
}
