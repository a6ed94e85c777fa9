/*
 * batch.h: the state of a batch, which searches from many outer rows at once: its call is in
 * batch_call.c, its rows in batch.c, aggregates instead of rows in batch_sums.c
 */
#ifndef EMOGI_BATCH_H
#define EMOGI_BATCH_H

#include "utils/hsearch.h"

#include "scan_node/aggregate.h"
#include "scan_node/scan.h"

/*
 * Maximum number of outer rows read ahead if only aggregates of their searches are needed: several
 * GPUs share this many.
 */
#define EMOGI_BATCH_ROWS 4096

/* Outer rows that wait to be joined. */
typedef struct EmogiOuterRow
{
	MinimalTuple tuple;			/* in the batch's context */
	NullableDatum source;		/* likewise */
	int			search;			/* index of the search from its source; -1 = none */
} EmogiOuterRow;

typedef struct EmogiBatchState
{
	EmogiScan	scan;			/* its inputs are the arguments; the source is computed for each
								 * outer row */
	PlanState  *outer;
	int			nouter;			/* columns of the outer plan, first in the scan tuple */
	TupleTableSlot *outer_slot;
	Datum	   *vertex_value;	/* pointers into the tuple that is returned or filtered, or to
								 * `unused` */
	Datum	   *level_value;
	Datum		unused;
	MemoryContext vertex_context;	/* of the current vertex, if it is passed by reference */
	int		   *from;			/* [columns of the result], columns of the scan tuple, if rows are
								 * returned directly; NULL = filtered and projected */

	int			nsums;			/* aggregates returned per search instead of rows; 0 = rows are
								 * returned */
	EmogiOutput *sums;			/* [nsums] */
	EmogiMsbfsSums *found;		/* [nsearches], room for max_rows: aggregates of the levels of each
								 * search */

	/* the call */
	bool		is_open;
	/* arguments and permissions were checked for a row without a source */
	bool		is_checked;
	bool		in_passes;		/* not one by one */
	EmogiTask	task;
	uint64		collection_cost;	/* of index searches for the graphs of earlier passes */
	int			max_sources;	/* in one request */
	EmogiMsbfsResult passed;
	EmogiResult single;			/* of the current search, one by one */
	int			searched;		/* its index; -1 = none */
	void	   *graph_copy;		/* copy of the graph in backend memory, if it was copied; NULL = it
								 * was not */
	void	   *answer_copy;	/* likewise, copy of the current answer; not NULL: the call has
								 * nothing in shared memory */

	/* the current outer rows */
	MemoryContext rows_context;
	bool		outer_ended;
	int			max_rows;		/* maximum number of rows read ahead */
	int			nread;			/* rows read ahead, */
	int			nrows;			/* of which these have been searched from */
	int			current;		/* -1 = none is entered yet */
	EmogiOuterRow *rows;		/* [nread], room for most_rows */
	int			nsearches;
	uint32	   *sources;		/* [nsearches], room for max_rows: vertex numbers, distinct */
	HTAB	   *searches;		/* hash from source to index of its search, in rows_context */

	/* remaining rows of the current outer row */
	EmogiMsbfsCursor cursor;	/* in passes */
	int			nunpacked;		/* vertices that the cursor has unpacked, if all are requested */
	int			taken;			/* of those, the number returned so far */
	uint32		vertices[EMOGI_MSBFS_VERTICES];
	uint32		levels[EMOGI_MSBFS_VERTICES];
	uint64		position;		/* one by one: vertex number */
	uint64		key_position;
} EmogiBatchState;

/* batch.c */
extern void emogi_batch_begin(CustomScanState *node, EState *estate, int eflags, int max_rows);
extern bool emogi_batch_next_outer(EmogiBatchState *batch);
extern TupleTableSlot *emogi_batch_end_rows(EmogiBatchState *batch, TupleTableSlot *slot);
extern void emogi_batch_end(CustomScanState *node);
extern void emogi_batch_rescan(CustomScanState *node);
extern void emogi_batch_explain(CustomScanState *node, List *ancestors, ExplainState *es);

/* batch_call.c */
extern void emogi_batch_open(EmogiBatchState *batch, const Datum *sources, int nsources);
extern void emogi_batch_close(EmogiBatchState *batch);
extern void emogi_batch_search_all(EmogiBatchState *batch);
extern void emogi_batch_search_one(EmogiBatchState *batch, int search);

#endif							/* EMOGI_BATCH_H */
