/*
 * views.h: the functions behind the views, and those that administer the cache.
 *
 * views.c shows devices, runs and calls in progress; statistics_view.c sums over runs; graphs_view.c shows and evicts cached Graphs; view_rows.c makes the rows of all.
 */
#ifndef EMOGI_VIEWS_H
#define EMOGI_VIEWS_H

#include "fmgr.h"
#include "utils/timestamp.h"

#define EMOGI_MAX_VIEW_COLUMNS 48

/* A row in the making, from its first column to its last. */
typedef struct EmogiViewRow
{
	int			ncolumns;
	Datum		values[EMOGI_MAX_VIEW_COLUMNS];
	bool		nulls[EMOGI_MAX_VIEW_COLUMNS];
} EmogiViewRow;

extern bool emogi_views_may_see_all(void);
extern bool emogi_views_may_see_role(Oid role);
extern void emogi_views_add(EmogiViewRow *row, Datum value);
extern void emogi_views_add_if(EmogiViewRow *row, bool known, Datum value);
extern void emogi_views_add_text(EmogiViewRow *row, const char *text);
extern void emogi_views_add_name(EmogiViewRow *row, const char *name);
extern void emogi_views_add_time(EmogiViewRow *row, TimestampTz when);
extern void emogi_views_put(EmogiViewRow *row, FunctionCallInfo fcinfo);

#endif							/* EMOGI_VIEWS_H */
