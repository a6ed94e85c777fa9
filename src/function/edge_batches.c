/*
 * edge_batches.c: look-up of the names of the edges of many rows, a batch at a time, because the
 * arrays of one query are below 1 GB
 */
#include "postgres.h"

#include "miscadmin.h"

#include "function/cursor.h"

/* Rows between two checks for interrupts. */
#define ROWS_PER_CHECK 65536

/* Edges whose names are looked up by one query, unless there are more parallel ones. */
#define NAMES_PER_QUERY UINT64CONST(4194304)

/* A batch of edges whose names are looked up. */
typedef struct Batch
{
	const EmogiTask *task;
	const EmogiGraph *graph;
	bool		are_parallel;
	NullableDatum *names;		/* [nrows], the result */
	uint64		count;
	uint64		room;
	uint64	   *rows;			/* [room] */
	int64	   *from;			/* [room], ids of the graph */
	int64	   *to;				/* [room] */
	NullableDatum *found;		/* [room] */
} Batch;

/* Change the room of a batch. */
static void
resize(Batch *batch, uint64 room)
{
	batch->room = room;
	batch->rows = repalloc_huge(batch->rows, room * sizeof *batch->rows);
	batch->from = repalloc_huge(batch->from, room * sizeof *batch->from);
	batch->to = repalloc_huge(batch->to, room * sizeof *batch->to);
	batch->found = repalloc_huge(batch->found, room * sizeof *batch->found);
}

/* Look up the names of a batch of edges. */
static void
look_up(Batch *batch)
{
	emogi_edge_names_find(batch->task, batch->graph, batch->from, batch->to, batch->count,
						  batch->are_parallel, batch->found);
	for (uint64 i = 0; i < batch->count; i++)
		batch->names[batch->rows[i]] = batch->found[i];
	batch->count = 0;
}

/* Is an edge parallel to the last one of a batch, which must then contain both? */
static bool
belongs_to_last(const Batch *batch, int64 from, int64 to)
{
	return batch->are_parallel && batch->count > 0 && batch->from[batch->count - 1] == from &&
		batch->to[batch->count - 1] == to;
}

/* Add the edge of a row. */
static void
add(Batch *batch, uint64 row, int64 from, int64 to)
{
	if (batch->count >= NAMES_PER_QUERY && !belongs_to_last(batch, from, to))
		look_up(batch);
	if (batch->count == batch->room)
		resize(batch, 2 * batch->room);
	batch->rows[batch->count] = row;
	batch->from[batch->count] = from;
	batch->to[batch->count++] = to;
}

/*
 * Find the names of the edges of rows 0 .. nrows - 1: [nrows], in the current context; NULL for
 * rows of which `get` returns false. are_parallel: as in EmogiEdgeMatch. Raises the errors of
 * emogi_edge_names_find, and a cancel.
 */
NullableDatum *
emogi_edge_batches_name(const EmogiTask *task, const EmogiGraph *graph, uint64 nrows,
						EmogiNamedEdge get, const void *arg, bool are_parallel)
{
	Batch		batch = {.task = task,.graph = graph,.are_parallel = are_parallel,
		.rows = palloc(1),.from = palloc(1),.to = palloc(1),.found = palloc(1)};
	uint32		from;
	uint32		to;

	batch.names = palloc_extended(Max(nrows, 1) * sizeof *batch.names, MCXT_ALLOC_HUGE);
	resize(&batch, Max(Min(nrows, NAMES_PER_QUERY), 1));
	for (uint64 i = 0; i < nrows; i++)
	{
		if (i % ROWS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		batch.names[i] = (NullableDatum) {.isnull = true};
		if (get(arg, i, &from, &to))
			add(&batch, i, graph->ids[from], graph->ids[to]);
	}
	look_up(&batch);
	pfree(batch.rows);
	pfree(batch.from);
	pfree(batch.to);
	pfree(batch.found);
	return batch.names;
}
