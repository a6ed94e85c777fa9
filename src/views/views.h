/*
 * views.h: functions behind the views, and functions that administer the cache.
 *
 * views.c            devices, runs and calls in progress
 * statistics_view.c  cumulative statistics of calls
 * graphs_view.c      cached graphs and their eviction
 * view_rows.c        rows of all views
 */
#ifndef EMOGI_VIEWS_H
#define EMOGI_VIEWS_H

#include "fmgr.h"
#include "utils/timestamp.h"

#define EMOGI_MAX_VIEW_COLUMNS 48

/* A row under construction, from its first column to its last. */
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
