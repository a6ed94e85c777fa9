/*
 * parser_hints.c: hints for errors that PostgreSQL raises while it analyzes a call
 *
 * A literal of type regclass and the types of parameters are read before a function is called, so
 * the function cannot explain them. The hint is added when the error is sent to the client; code
 * that catches the error does not see it.
 */
#include "postgres.h"

#include "tcop/tcopprot.h"
#include "utils/memutils.h"

#include "source/source.h"

/* An error of a statement that contains both texts, in any case, and its hint. */
static const struct
{
	int			sqlstate;
	const char *function;
	const char *argument;
	const char *hint;
}			explained[] = {
	{ERRCODE_INDETERMINATE_DATATYPE, "emogi_query", "$",
		"Cast a parameter that is passed along with values of other types: emogi_query('... WHERE "
		"kind = $1 AND km < $2', $1::text, 10)."},
	{ERRCODE_INVALID_NAME, "emogi_", "columns",
		"The argument \"columns\" is for a table or view as regclass. A query lists its columns "
		"itself, 'SELECT a AS src, b AS dst FROM ...', and so does a graph as text, 'edges(a, b)'."}
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

/* Add the hint to an error that has none. */
static void
add_hint(ErrorData *error)
{
	const char *statement = debug_query_string;

	for (int i = 0; i < (int) lengthof(explained) && error->elevel == ERROR; i++)
		if (error->sqlerrcode == explained[i].sqlstate && error->hint == NULL &&
			statement != NULL && contains(statement, explained[i].function) &&
			contains(statement, explained[i].argument))
			error->hint = MemoryContextStrdup(error->assoc_context, explained[i].hint);
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
