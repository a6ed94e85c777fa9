/*
 * row_filter.h: evaluation of conditions on the rows of a heap.
 */
#ifndef EMOGI_ROW_FILTER_H
#define EMOGI_ROW_FILTER_H

#include "edges/visibility.h"

/* The conditions that select the edges among the rows of a source's leaves. */
typedef struct EmogiRowFilterPlan
{
	Oid			relid;			/* of the source */
	List	   *quals;			/* see EmogiFilter; NIL = all rows are edges */
	bool		is_rescan;		/* used for a page rescan */
} EmogiRowFilterPlan;

typedef struct EmogiRowFilter EmogiRowFilter;

extern EmogiRowFilterPlan emogi_row_filter_plan(const EmogiSource *source);
extern char *emogi_row_filter_text(const EmogiRowFilterPlan *plan);
extern EmogiRowFilterPlan emogi_row_filter_read(const char *text, Oid relid);
extern bool emogi_row_filter_may_share(const EmogiSource *source);

extern EmogiRowFilter *emogi_row_filter_open(const EmogiRowFilterPlan *plan, Relation leaf);
extern EmogiRowFilter *emogi_row_filter_keep(const EmogiRowFilterPlan *plan, Relation leaf);
extern bool emogi_row_filter_row_passes(EmogiRowFilter *filter, HeapTupleHeader row,
										uint32 length);
extern List *emogi_row_filter_quals(const EmogiRowFilterPlan *plan, Relation leaf);
extern bool emogi_row_filter_passes(EmogiRowFilter *filter, TupleTableSlot *slot);
extern void emogi_row_filter_page(EmogiRowFilter *filter, EmogiVisiblePage *seen, Buffer buffer);
extern void emogi_row_filter_close(EmogiRowFilter *filter);

extern int	emogi_row_filter_columns(const EmogiSource *source, Relation leaf, AttrNumber *columns);

#endif							/* EMOGI_ROW_FILTER_H */
