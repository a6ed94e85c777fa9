/*
 * local_keys.c: copies of the keys of a few rows that the backend itself has found
 *
 * Keys that are not integers are in the dictionary of a cached graph. To hold the result until its
 * last row is read takes longer than to copy a few keys, but less than to copy many, which may
 * never be read.
 */
#include "postgres.h"

#include "scan_node/scan.h"

/* Max number of rows whose keys are copied */
#define MAX_ROWS 32

/* Copy a key into the current memory context. */
static EmogiKeyBytes
copy_key(EmogiKeyBytes key)
{
	key.bytes = memcpy(palloc(Max(key.length, 1)), key.bytes, key.length);
	return key;
}

/*
 * Replace the dictionary of a run's graph by copies of its keys, in the current memory context;
 * return false, with nothing changed, if that does not pay, or the dictionary is needed later.
 */
bool
emogi_local_keys_copy(EmogiScan *scan)
{
	const EmogiGraph *graph = &scan->graph;
	const uint64 count = graph->nvertices;
	EmogiKeyBytes *keys;
	int64	   *ids;

	if (!scan->call->rows_are_local || scan->is_shared || scan->looks_up || scan->kind != NULL ||
		scan->keys != NULL || scan->ncolumns == 0 || count > MAX_ROWS || scan->form->keys != NULL)
		return false;
	keys = palloc(Max(count, 1) * sizeof *keys);
	ids = palloc(Max(count, 1) * sizeof *ids);
	for (uint64 i = 0; i < count; i++)
	{
		keys[i] = copy_key(emogi_key_io_key_bytes(scan->form, graph, graph->ids[i]));
		ids[i] = (int64) i;
	}
	scan->form->keys = keys;
	scan->form->nkeys = count;
	scan->graph.ids = ids;
	scan->graph.dictionary = NULL;
	return true;
}
