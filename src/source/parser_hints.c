/*
 * parser_hints.c: hints for errors that PostgreSQL raises while it analyzes a call
 *
 * Literals and the types of parameters are read before a function is called, so the function cannot
 * explain them. The hint is added when the error is sent to the client; code
 * that catches the error does not see it.
 */
#include "postgres.h"

#include "tcop/tcopprot.h"
#include "utils/memutils.h"

#include "source/source.h"

/* The hint for a direction in the place of another argument. */
#define BY_NAME(direction) \
	"Arguments are taken in order. If the function has a direction, pass it by name: direction " \
	"=> '" direction "'."

/* An error of a statement that contains both texts, in any case, and its hint. */
static const struct
{
	int			sqlstate;
	const char *message;		/* end of the error's message; NULL = any */
	const char *function;
	const char *argument;
	const char *hint;
}			explained[] = {
	{ERRCODE_INDETERMINATE_DATATYPE, NULL, "emogi_query", "$",
		"Cast a parameter that is passed along with values of other types: emogi_query('... WHERE "
		"kind = $1 AND km < $2', $1::text, 10)."},
	{ERRCODE_INVALID_TEXT_REPRESENTATION, ": \"both\"", "emogi_", "'both'", BY_NAME("both")},
	{ERRCODE_INVALID_TEXT_REPRESENTATION, ": \"in\"", "emogi_", "'in'", BY_NAME("in")},
	{ERRCODE_INVALID_TEXT_REPRESENTATION, ": \"out\"", "emogi_", "'out'", BY_NAME("out")},
	{ERRCODE_UNDEFINED_TABLE, ")\" does not exist", "emogi_", "regclass",
		"A regclass is a relation without columns: 'edges'::regclass, columns => 'a, b'. As text: "
		"'edges(a, b)'."},
	{ERRCODE_INVALID_NAME, NULL, "emogi_", "columns",
		"The argument \"columns\" is for a table or view as regclass. A query lists its columns "
		"itself, 'SELECT a AS src, b AS dst FROM ...', and so does a graph as text, 'edges(a, "
		"b)'."},
	{ERRCODE_INVALID_NAME, NULL, "emogi_", "::regclass",
		"Only the name of a relation can be a regclass. Give columns as columns => 'a, b', and a "
		"query as text: 'SELECT src, dst FROM ...'."}
};

static emit_log_hook_type previous_emit_log_hook = NULL;

/* Does a statement contain a text, in any case? */
static bool
contains(const char *statement, const char *text)
{
	const size_t length = strlen(text);

	for (; *statement != '\0'; statement++)
		if (pg_strncasecmp(statement, text, length) == 0)
			return true;
	return false;
}

/* Does a message end with a text? */
static bool
ends_with(const char *message, const char *text)
{
	const size_t length = strlen(message);

	return length >= strlen(text) && strcmp(message + length - strlen(text), text) == 0;
}

/* Return true if a character can be part of a name. */
static bool
is_in_name(char sign)
{
	return isalnum((unsigned char) sign) || sign == '_';
}

/*
 * Get the hint for a function of the extension that PostgreSQL does not find, instead of that it
 * could need casts; NULL for another function.
 */
static char *
explain_function(const char *message)
{
	const char *name = strstr(message, "emogi_");
	int			length = 0;

	while (name != NULL && is_in_name(name[length]))
		length++;
	if (name == NULL || name[length] != '(' || (name > message && is_in_name(name[-1])))
		return NULL;
	return emogi_function_names_hint(name, length);
}

/* Get the hint for a column that does not exist and is given as the graph; NULL for another. */
static char *
explain_graph(const char *message, const char *statement)
{
	const char *column = strchr(message, '"');
	const size_t length = column != NULL ? strcspn(column + 1, "\"") : 0;

	while (length > 0 && (statement = strstr(statement, "emogi_")) != NULL)
	{
		while (is_in_name(*statement))
			statement++;
		if (*statement != '(')
			continue;
		statement += 1 + strspn(statement + 1, " \t\n\"");
		if (pg_strncasecmp(statement, column + 1, length) == 0 && !is_in_name(statement[length]))
			return psprintf("The graph is text, in single quotes: '%.*s'.", (int) length,
							column + 1);
	}
	return NULL;
}

/* Is a literal an argument of the call whose parenthesis is here? */
static bool
is_argument(const char *call, const char *literal)
{
	int			depth = 0;

	for (; *call != '\0'; call++)
	{
		if (*call == '(')
			depth++;
		else if (*call == ')' && --depth == 0)
			return false;
		if (*call != '\'')
			continue;
		if (depth == 1 && strncmp(call, literal, strlen(literal)) == 0)
			return true;
		call = strchr(call + 1, '\'');
		if (call == NULL)
			return false;
	}
	return false;
}

/*
 * Get the hint for a text that is no number and is an argument of a call that has numbers as
 * vertices; NULL for another text.
 */
static char *
explain_vertex(const ErrorData *error, const char *statement)
{
	static const char begin[] = "invalid input syntax for type bigint: \"";
	const size_t length = strlen(error->message);
	char	   *value;

	if (error->sqlerrcode != ERRCODE_INVALID_TEXT_REPRESENTATION ||
		strncmp(error->message, begin, strlen(begin)) != 0 || length <= strlen(begin))
		return NULL;
	value = psprintf("'%.*s'", (int) (length - strlen(begin) - 1), error->message + strlen(begin));
	while ((statement = strstr(statement, "emogi_")) != NULL)
	{
		while (is_in_name(*statement))
			statement++;
		if (*statement == '(' && is_argument(statement, value))
			return pstrdup("The first argument is the graph. Then come the vertices: all of them "
						   "numbers, all of them texts in quotes, or arrays of either: "
						   "ARRAY[1, 2].");
	}
	return NULL;
}

/* Get the hint of the table for an error; NULL = it has none. */
static const char *
find_hint(const ErrorData *error, const char *statement)
{
	for (int i = 0; i < (int) lengthof(explained); i++)
		if (error->sqlerrcode == explained[i].sqlstate &&
			(explained[i].message == NULL || ends_with(error->message, explained[i].message)) &&
			contains(statement, explained[i].function) &&
			contains(statement, explained[i].argument))
			return explained[i].hint;
	return NULL;
}

/* Add the hint to an error that has none, or only one on casts. */
static void
add_hint(ErrorData *error)
{
	const char *statement = debug_query_string;
	const char *hint = NULL;

	if (error->elevel == ERROR && error->message != NULL && statement != NULL)
	{
		if (error->sqlerrcode == ERRCODE_UNDEFINED_FUNCTION)
			hint = explain_function(error->message);
		else if (error->hint == NULL && error->sqlerrcode == ERRCODE_UNDEFINED_COLUMN)
			hint = explain_graph(error->message, statement);
		else if (error->hint == NULL)
		{
			hint = find_hint(error, statement);
			if (hint == NULL)
				hint = explain_vertex(error, statement);
		}
	}
	if (hint != NULL)
		error->hint = MemoryContextStrdup(error->assoc_context, hint);
	if (previous_emit_log_hook)
		previous_emit_log_hook(error);
}

/* Install the hook; called once, in the postmaster. */
void
emogi_parser_hints_init(void)
{
	previous_emit_log_hook = emit_log_hook;
	emit_log_hook = add_hint;
}
