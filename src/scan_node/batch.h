/*
 * batch.h: the state of a batch, which searches from many outer rows at once: batch_call.c has its
 * call, batch.c the rows, batch_sums.c aggregates instead of rows.
 */
#ifndef EMOGI_BATCH_H
#define EMOGI_BATCH_H

#include "utils/hsearch.h"

#include "scan_node/aggregate.h"
#include "scan_node/scan.h"

/*
 * Outer rows that are read ahead, at most, where sums are all that is wanted of their searches:
 * several GPUs share so many.
 */
#define EMOGI_BATCH_ROWS 4096

/* Outer rows that wait to be joined. */
typedef struct EmogiOuterRow
{
	MinimalTuple tuple;			/* in the batch's context */
	int			search;			/* index of the search from its source; -1 = there is none */
} EmogiOuterRow;

typedef struct EmogiBatchState
{
	EmogiScan	scan;			/* its inputs are the arguments, of which the source is computed for
								 * each outer row */
	PlanState  *outer;
	int			nouter;			/* columns of the outer plan, first in the scan tuple */
	TupleTableSlot *outer_slot;
	Datum	   *vertex_value;	/* where the tuple that is returned, or filtered, has them, or
								 * `unused` */
	Datum	   *level_value;
	Datum		unused;
	MemoryContext vertex_context;	/* of the vertex at hand, where it is by reference */
	int		   *from;			/* [columns of the result], columns of the scan tuple, when rows are
								 * returned without a look at anything else; NULL = filtered and
								 * projected */

	int			nsums;			/* of each search these are wanted, and no rows; 0 = rows are: */
	EmogiOutput *sums;			/* [nsums] */
	EmogiMsbfsSums *found;		/* [nsearches], room for most_rows: what the levels of each search
								 * come to */

	/* the call */
	bool		is_open;
	bool		is_checked;		/* a row without a source has seen to the arguments and rights */
	bool		in_passes;		/* not one by one */
	EmogiTask	task;
	int			most_sources;	/* in one request */
	EmogiMsbfsResult passed;
	EmogiResult single;			/* of the one search at hand, one by one */
	int			searched;		/* its index; -1 = there is none */
	void	   *graph_copy;		/* the block of the Graph in memory of our own, once it was put
								 * there; NULL = it was not */
	void	   *answer_copy;	/* likewise of the answer at hand; not NULL: the call has nothing in
								 * shared memory */

	/* the outer rows at hand */
	MemoryContext rows_context;
	bool		outer_ended;
	int			most_rows;		/* that are read ahead, at most */
	int			nrows;
	int			current;		/* -1 = none is entered yet */
	EmogiOuterRow *rows;		/* [nrows], room for most_rows */
	int			nsearches;
	uint32	   *sources;		/* [nsearches], room for most_rows: vertex numbers, distinct */
	HTAB	   *searches;		/* their indexes, in rows_context */

	/* what of the current row is still to come */
	EmogiMsbfsCursor cursor;	/* in passes */
	int			nunpacked;		/* vertices that the cursor has passed, and nobody has taken yet,
								 * when all are wanted */
	int			taken;			/* of them */
	uint32		vertices[EMOGI_MSBFS_VERTICES];
	uint32		levels[EMOGI_MSBFS_VERTICES];
	uint64		position;		/* one by one: vertex number */
	uint64		key_position;
} EmogiBatchState;

/* batch.c */
extern void emogi_batch_begin(CustomScanState *node, EState *estate, int eflags, int most_rows);
extern bool emogi_batch_next_outer(EmogiBatchState *batch);
extern TupleTableSlot *emogi_batch_end_rows(EmogiBatchState *batch, TupleTableSlot *slot);
extern void emogi_batch_end(CustomScanState *node);
extern void emogi_batch_rescan(CustomScanState *node);
extern void emogi_batch_explain(CustomScanState *node, List *ancestors, ExplainState *es);

/* batch_call.c */
extern void emogi_batch_open(EmogiBatchState *batch, NullableDatum source);
extern void emogi_batch_close(EmogiBatchState *batch);
extern void emogi_batch_search_all(EmogiBatchState *batch);
extern void emogi_batch_search_one(EmogiBatchState *batch, int search);

#endif							/* EMOGI_BATCH_H */
