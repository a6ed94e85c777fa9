/*
 * view_rows.c: construction of the rows of all views, and visibility of other users' rows.
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

/* Add a column's value to a row, or NULL if it is unknown. */
void
emogi_views_add_if(EmogiViewRow *row, bool known, Datum value)
{
	row->values[row->ncolumns] = value;
	row->nulls[row->ncolumns] = !known;
	row->ncolumns++;
}

/*
 * Add text to a row, NULL if it is empty. It may come from a database with another encoding, or be
 * truncated within a character; parts that this database cannot represent are omitted.
 */
void
emogi_views_add_text(EmogiViewRow *row, const char *text)
{
	int			length = pg_encoding_verifymbstr(GetDatabaseEncoding(), text, (int) strlen(text));

	emogi_views_add_if(row, text[0] != '\0',
					   PointerGetDatum(cstring_to_text_with_len(text, length)));
}

/* Add a name from the catalogs to a row; NULL = dropped. */
void
emogi_views_add_name(EmogiViewRow *row, const char *name)
{
	emogi_views_add_if(row, name != NULL,
					   name == NULL ? (Datum) 0 :
					   DirectFunctionCall1(namein, CStringGetDatum(name)));
}

/* Add a time to a row, NULL if it is 0. */
void
emogi_views_add_time(EmogiViewRow *row, TimestampTz when)
{
	emogi_views_add_if(row, when != 0, TimestampTzGetDatum(when));
}

/* Put a complete row into the tuplestore, and start the next. */
void
emogi_views_put(EmogiViewRow *row, FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	Assert(row->ncolumns == rsinfo->setDesc->natts);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, row->values, row->nulls);
	row->ncolumns = 0;
}

/* Check whether the current user may see the rows of all users. */
bool
emogi_views_may_see_all(void)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
}

/* Check whether the current user may see the rows of a role. */
bool
emogi_views_may_see_role(Oid role)
{
	return emogi_views_may_see_all() || has_privs_of_role(GetUserId(), role);
}
