/*
 * view_rows.c: the rows of all views, and who may see those that are about others.
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "views/views.h"

/* Add a column's value to a row. */
void
emogi_views_add(EmogiViewRow *row, Datum value)
{
	emogi_views_add_if(row, true, value);
}

/* Add a column's value to a row, or NULL where it is not known. */
void
emogi_views_add_if(EmogiViewRow *row, bool known, Datum value)
{
	row->values[row->ncolumns] = value;
	row->nulls[row->ncolumns] = !known;
	row->ncolumns++;
}

/*
 * Add text to a row, NULL when it is empty. It may come from a database of another encoding, or be cut off within a
 * character: what this database cannot hold is left out.
 */
void
emogi_views_add_text(EmogiViewRow *row, const char *text)
{
	int			length = pg_encoding_verifymbstr(GetDatabaseEncoding(), text, (int) strlen(text));

	emogi_views_add_if(row, text[0] != '\0', PointerGetDatum(cstring_to_text_with_len(text, length)));
}

/* Add a name from the catalogs to a row; NULL = it is gone. */
void
emogi_views_add_name(EmogiViewRow *row, const char *name)
{
	emogi_views_add_if(row, name != NULL, name != NULL ? DirectFunctionCall1(namein, CStringGetDatum(name)) : (Datum) 0);
}

/* Add a time to a row, NULL when it is 0. */
void
emogi_views_add_time(EmogiViewRow *row, TimestampTz when)
{
	emogi_views_add_if(row, when != 0, TimestampTzGetDatum(when));
}

/* Put a finished row into the tuplestore, and begin the next. */
void
emogi_views_put(EmogiViewRow *row, FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	Assert(row->ncolumns == rsinfo->setDesc->natts);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, row->values, row->nulls);
	row->ncolumns = 0;
}

/* May the current user see what others do? */
bool
emogi_views_may_see_all(void)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
}

/* May the current user see what this role does? */
bool
emogi_views_may_see_role(Oid role)
{
	return emogi_views_may_see_all() || has_privs_of_role(GetUserId(), role);
}
