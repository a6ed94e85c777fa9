/*
 * shared_rows.c: read the rows of one run by the leader of a parallel query and its workers
 *
 * The leader makes the call and runs it before it launches workers. Only the leader uses the
 * engine, so the function need not be parallel safe. The result is stored in the arena, which all
 * processes map at the same address; the query's dynamic shared memory has the pointers. Leader and
 * workers take chunks of vertices in ascending order, so each returns its rows in the order of
 * `vertex`.
 *
 * Results that the backend computes itself (local_search_call.c, index_search_call.c) are usually
 * small. A small one is copied into the dynamic shared memory, including the bytes of non-integer
 * keys, because the keys of an overlay or an index search are not in a dictionary that workers
 * could read. Otherwise the engine runs the call again.
 *
 * A worker joins the call's held result, which is freed when the last process has left it, because
 * a plan may end before its workers do. A worker that is too late to join returns no rows: the
 * leader has ended the call, because the plan has all rows or needs no more.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/memutils.h"

#include "scan_node/scan.h"

/* Bytes in dynamic shared memory for the keys and columns of small results */
#define INLINE_BYTES 65536

/* Written by the leader before workers read it, except the atomics */
typedef struct EmogiSharedRows
{
	bool		is_inline;		/* ids, columns and bytes of keys follow this struct */
	int			held_result;	/* index of the held result; -1 = no rows, or they are inline */
	uint64		token;
	EmogiKeyType key;			/* of the graph's keys */
	Oid			vertex_type;	/* of the column `vertex` */
	EmogiGraph	graph;
	EmogiResult result;
	EmogiRanges ranges;
	pg_atomic_uint64 next;		/* start of the next chunk */
	pg_atomic_uint64 nrows;		/* returned by workers, except those of their current chunks */
} EmogiSharedRows;

/* Held results that this worker has joined */
static List *joined = NIL;

/* Add the rows that this worker has returned to the shared count. */
static void
add_rows(EmogiScan *scan)
{
	pg_atomic_fetch_add_u64(&scan->share->nrows, scan->nrows);
	scan->nrows = 0;
}

/* Take the next chunk of vertices; return its first vertex, >= nvertices if there are none left. */
uint64
emogi_shared_rows_next(EmogiScan *scan)
{
	if (scan->nrows > 0)
		add_rows(scan);
	return pg_atomic_fetch_add_u64(&scan->share->next, EMOGI_PIECE_VERTICES);
}

/* ---- the leader ---- */

/* Get the size of the dynamic shared memory. */
Size
emogi_shared_rows_estimate(CustomScanState *node, ParallelContext *context)
{
	return sizeof(EmogiSharedRows) + INLINE_BYTES;
}

/* The data after EmogiSharedRows, as mapped in one process */
typedef struct Inline
{
	int64	   *ids;			/* [nrows] */
	EmogiResult result;			/* columns of [nrows] */
	uint32	   *lengths;		/* [nrows], bytes of each key; for non-integer keys, like the next
								 * one: */
	char	   *bytes;			/* of all keys, concatenated */
} Inline;

/* Lay out nrows rows after the share; return the size before the bytes of keys. */
static Size
lay_out(EmogiSharedRows *share, const EmogiResultColumn *columns, uint64 nrows, Inline *rows)
{
	char	   *place = (char *) (share + 1);

	rows->ids = (int64 *) place;
	place += nrows * sizeof(int64);
	for (int i = 0; columns[i].name != NULL; i++)
	{
		rows->result.columns[i].any = place;
		place += MAXALIGN(nrows * emogi_algorithm_column_bytes(columns[i].type));
	}
	rows->lengths = (uint32 *) place;
	rows->bytes = place + nrows * sizeof(uint32);
	return rows->bytes - (char *) (share + 1);
}

/*
 * Copy the bytes of the current run's non-integer keys, and set the ids to their positions; return
 * false if they do not fit.
 */
static bool
copy_keys(const EmogiScan *scan, Inline *rows, Size room)
{
	char	   *place = rows->bytes;

	for (uint64 i = 0; i < scan->graph.nvertices; i++)
	{
		const EmogiKeyBytes key = emogi_key_io_key_bytes(scan->form, &scan->graph,
														 scan->graph.ids[i]);

		if (key.length > room - (Size) (place - rows->bytes))
			return false;
		if (key.length > 0)
			memcpy(place, key.bytes, key.length);
		place += key.length;
		rows->lengths[i] = key.length;
		rows->ids[i] = (int64) i;
	}
	return true;
}

/* Copy the rows of the current run into the share; return false if they do not fit. */
static bool
copy_inline(const EmogiScan *scan, EmogiSharedRows *share)
{
	const EmogiResultColumn *columns = scan->function->columns;
	const uint64 n = scan->graph.nvertices;
	Inline		rows = {0};
	Size		used;

	if (n > INLINE_BYTES || (used = lay_out(share, columns, n, &rows)) > INLINE_BYTES)
		return false;
	for (int i = 0; columns[i].name != NULL; i++)
		memcpy(rows.result.columns[i].any, scan->result.columns[i].any,
			   n * emogi_algorithm_column_bytes(columns[i].type));
	if (scan->form->coder.key.class != EMOGI_KEY_INTEGER)
		return copy_keys(scan, &rows, INLINE_BYTES - used);
	memcpy(rows.ids, scan->graph.ids, n * sizeof *rows.ids);
	return true;
}

/* Add the workers' rows to the call's count. */
static void
add_worker_rows(EmogiScan *scan)
{
	if (scan->call != NULL)
		scan->call->record.nrows += pg_atomic_read_u64(&scan->share->nrows);
}

/*
 * Run the call, and share its result with workers that will be launched, the first time or for a
 * rescan.
 */
void
emogi_shared_rows_begin(CustomScanState *node, ParallelContext *context, void *memory)
{
	EmogiScan  *scan = (EmogiScan *) node;
	EmogiSharedRows *share = memory;

	if (scan->share != NULL)
		add_worker_rows(scan);
	/*
	 * this runs before the rescan of the node, so it is not known yet whether a parameter has
	 * changed
	 */
	scan->changed = scan->is_shared = scan->tries_local_search = true;
	emogi_scan_run(scan);
	share->held_result = -1;
	share->is_inline = scan->call != NULL && scan->call->rows_are_local && copy_inline(scan, share);
	if (scan->call != NULL && scan->call->rows_are_local && !share->is_inline)
	{
		emogi_scan_end_run(scan);
		scan->tries_local_search = false;
		emogi_scan_run(scan);
	}
	if (scan->call != NULL)
	{
		if (scan->call->held_result < 0 && !share->is_inline)
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
					 errmsg("more than %d results of emogi's functions are being read",
							EMOGI_NHELD_RESULTS),
					 errhint("Close cursors over emogi's functions, or set "
							 "max_parallel_workers_per_gather to 0.")));
		if (!share->is_inline)
		{
			share->held_result = scan->call->held_result;
			share->token = emogi_held_results_token(share->held_result);
		}
		share->key = scan->form->coder.key;
		share->vertex_type = scan->form->type;
		share->graph = scan->graph;
		share->result = scan->result;
		share->ranges = scan->ranges;
	}
	pg_atomic_init_u64(&share->next, 0);
	pg_atomic_init_u64(&share->nrows, 0);
	scan->share = share;
}

/* End sharing in the leader, which has no more rows to return either. */
static void
end_leader(EmogiScan *scan)
{
	add_worker_rows(scan);
	scan->share = NULL;
	scan->position = scan->end = scan->graph.nvertices;
	if (scan->call != NULL && !scan->keeps)
		emogi_call_finish(scan->call, &scan->call);
}

/* ---- a worker ---- */

/* Leave the joined results if a worker exits early. */
static void
leave_all(int code, Datum arg)
{
	ListCell   *cell;

	foreach(cell, joined)
		emogi_held_results_detach(lfirst_int(cell));
	joined = NIL;
}

/* Remember that this worker has joined a held result. */
static void
remember(int held_result)
{
	static bool registered = false;
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	if (!registered)
		before_shmem_exit(leave_all, 0);
	registered = true;
	joined = lappend_int(joined, held_result);
	MemoryContextSwitchTo(old);
}

/*
 * Use rows stored after the share. Non-integer keys are read like those of an index search: their
 * ids are positions.
 */
static void
use_inline(EmogiScan *scan, EmogiSharedRows *share)
{
	const uint64 n = scan->graph.nvertices;
	Inline		rows = {0};
	EmogiKeyBytes *keys;

	(void) lay_out(share, scan->function->columns, n, &rows);
	scan->graph = (EmogiGraph) {.nvertices = n,.ids = rows.ids};
	scan->result = rows.result;
	if (share->key.class == EMOGI_KEY_INTEGER)
		return;
	keys = palloc(Max(n, 1) * sizeof *keys);
	for (uint64 i = 0; i < n; i++)
	{
		keys[i] = (EmogiKeyBytes) {rows.bytes, rows.lengths[i]};
		rows.bytes += rows.lengths[i];
	}
	scan->form->keys = keys;
	scan->form->nkeys = n;
}

/* Prepare a worker to read rows of the leader's result. */
void
emogi_shared_rows_attach(CustomScanState *node, shm_toc *toc, void *memory)
{
	EmogiScan  *scan = (EmogiScan *) node;
	EmogiSharedRows *share = memory;

	scan->share = share;
	scan->started = true;
	if (share->held_result < 0 && !share->is_inline)
		return;
	if (!share->is_inline)
	{
		remember(share->held_result);
		if (!emogi_held_results_attach(share->held_result, share->token))
		{
			joined = list_delete_last(joined);
			return;
		}
		scan->joined = share->held_result;
	}
	scan->form = palloc(sizeof *scan->form);
	emogi_key_io_init(scan->form, &share->key, share->vertex_type);
	scan->graph = share->graph;
	scan->result = share->result;
	scan->ranges = share->ranges;
	scan->is_inline = share->is_inline;
	if (share->is_inline)
		use_inline(scan, share);
}

/* End sharing in a worker. */
static void
end_worker(EmogiScan *scan)
{
	add_rows(scan);
	if (scan->joined < 0)
		return;
	joined = list_delete_int(joined, scan->joined);
	emogi_held_results_detach(scan->joined);
	scan->joined = -1;
}

/* End sharing, if all rows have been read or no more are needed. */
void
emogi_shared_rows_end(CustomScanState *node)
{
	EmogiScan  *scan = (EmogiScan *) node;

	if (IsParallelWorker())
		end_worker(scan);
	else
		end_leader(scan);
}
