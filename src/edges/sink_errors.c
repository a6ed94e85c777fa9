/*
 * sink_errors.c: errors of a graph's query, in the query's own words
 *
 * The query runs inside one of emogi's, which the context of an error would show.
 */
#include "postgres.h"

#include "edges/sink.h"

/* Replace one text, which is there, by another. */
static char *
replace(const char *whole, const char *place, const char *text, const char *other)
{
	return psprintf("%.*s%s%s", (int) (place - whole), whole, other, place + strlen(text));
}

/*
 * In a PG_CATCH block, raise the error again with `rows`, the query of the user, in place of `sql`,
 * the one that was run, in its context.
 */
void
emogi_sink_rethrow(MemoryContext context, const char *sql, const char *rows)
{
	ErrorData  *error;
	const char *place;

	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	FlushErrorState();
	place = error->context != NULL ? strstr(error->context, sql) : NULL;
	if (place != NULL)
		error->context = replace(error->context, place, sql, rows);
	if (error->internalquery != NULL && strcmp(error->internalquery, sql) == 0)
	{
		error->internalquery = pstrdup(rows);
		error->internalpos = 0;
	}
	ReThrowError(error);
}
