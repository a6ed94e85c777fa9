/*
 * row_filter.h: conditions on the rows of a heap, evaluated.
 */
#ifndef EMOGI_ROW_FILTER_H
#define EMOGI_ROW_FILTER_H

#include "edges/visibility.h"

/* What tells a process which rows of a Source's leaves are edges. */
typedef struct EmogiRowFilterPlan
{
	Oid			relid;			/* of the Source */
	List	   *quals;			/* see EmogiFilter; NIL = all rows are */
	bool		is_of_looks;	/* it is for pages that are looked at again */
} EmogiRowFilterPlan;

typedef struct EmogiRowFilter EmogiRowFilter;

extern EmogiRowFilterPlan emogi_row_filter_plan(const EmogiSource *source);
extern char *emogi_row_filter_text(const EmogiRowFilterPlan *plan);
extern EmogiRowFilterPlan emogi_row_filter_read(const char *text, Oid relid);
extern bool emogi_row_filter_may_share(const EmogiSource *source);

extern EmogiRowFilter *emogi_row_filter_open(const EmogiRowFilterPlan *plan, Relation leaf);
extern List *emogi_row_filter_quals(const EmogiRowFilterPlan *plan, Relation leaf);
extern bool emogi_row_filter_passes(EmogiRowFilter *filter, TupleTableSlot *slot);
extern void emogi_row_filter_page(EmogiRowFilter *filter, EmogiVisiblePage *seen, Buffer buffer);
extern void emogi_row_filter_close(EmogiRowFilter *filter);

extern int	emogi_row_filter_columns(const EmogiSource *source, Relation leaf, AttrNumber *columns);

#endif							/* EMOGI_ROW_FILTER_H */
