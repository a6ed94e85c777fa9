/*
 * apply_delta_build.c: the graph of a call from all edges: those of a change tracker, or those of
 * the tables, together with a change tracker for later calls
 */
#include "postgres.h"

#include "acquire/apply_delta.h"
#include "edges/sink.h"
#include "base/arena.h"

/* ---- from the tracker's edges ---- */

/* Copy the edges of the tracker to the chunks of the call's slot. Raises 53200. */
static void
unpack_edges(const EmogiDeltaCall *delta)
{
	EmogiRequest *request = &delta->slot->request;
	const EmogiChangeTracker *tracker = delta->tracker;
	bool		weighted = tracker->coo.weight_type != EMOGI_WEIGHT_NONE;
	uint64		per_chunk = weighted ? EMOGI_CHUNK_WEIGHTED_EDGES : EMOGI_CHUNK_EDGES;
	EmogiCooRun *runs;
	uint64		nruns;

	delta->slot->weights = emogi_sink_weights(weighted, true, delta->lookup->key.weights);
	delta->slot->all_codes = false;
	if (tracker->nedges == 0)
		return;
	runs = emogi_tracker_store_runs(delta->call, tracker, &nruns);
	for (uint64 i = 0; i < tracker->nedges; i += per_chunk)
		(void) emogi_arena_alloc(EMOGI_OWNER_EDGES(delta->call->slot_index), EMOGI_CHUNK_BYTES);
	request->kind = EMOGI_REQUEST_UNPACK;
	request->coo = tracker->coo;
	request->runs = runs;
	request->nruns = nruns;
	(void) emogi_call_request(delta->call);
	emogi_arena_free(runs, Max(tracker->pages.npages, 1) * sizeof(EmogiCooRun));
}

/*
 * Build the graph from the tracker's edges; return false if the cache has no room. done: it is the
 * call's graph, exactly as its snapshot sees it; otherwise the tracker remains held.
 */
bool
emogi_apply_delta_build(EmogiDeltaCall *delta, bool done)
{
	EmogiCall  *call = delta->call;
	const EmogiCacheLookup *lookup = delta->lookup;
	EmogiChangeTracker *tracker = delta->tracker;
	uint64		nskipped = tracker->nskipped;
	EmogiBuilt	built;

	emogi_cache_miss_record(call, lookup, EMOGI_MISS_LOG);
	if (!emogi_cache_lookup_reserve_of_tracker(delta->slot, lookup, &lookup->key, tracker->id,
											   tracker->position, done))
		return false;
	emogi_call_phase(call, EMOGI_PHASE_MERGE);
	unpack_edges(delta);
	if (done)
		emogi_change_tracker_release(delta->slot);
	emogi_build_graph(call, &lookup->key,
					  done ? emogi_graph_request_chained(delta->request) : NULL, NULL, &built);
	emogi_call_phase(call, EMOGI_PHASE_IDLE);
	emogi_cache_lookup_publish(call, &built.graph, built.weight_misfits, nskipped,
							   &emogi_cache_shared->counters.builds);
	return emogi_apply_delta_show(delta, EMOGI_GRAPH_BUILT);
}

/* ---- from the tables ---- */

/* A scan of the tables for a new tracker. */
typedef struct TablesScan
{
	EmogiDeltaCall *delta;
	EmogiGraphSource *rows;
	EmogiTrackerCreation *creation;
} TablesScan;

/* Put the edges that the active snapshot sees into the call's slot. */
static void
scan_tables(void *arg)
{
	const TablesScan *scan = arg;

	emogi_build_edges(scan->delta->call, scan->rows, scan->delta->lookup->key.weights,
					  scan->creation->page_scans);
}

/*
 * Scan the tables; return false if the scan, which is then one for other transactions, has failed
 * because of rows that the call may not see.
 */
static bool
try_scan_tables(EmogiDeltaCall *delta, EmogiGraphSource *rows, EmogiTrackerCreation *creation)
{
	TablesScan	scan = {delta, rows, creation};

	if (!delta->lookup->own)
		scan_tables(&scan);
	else if (!emogi_tracker_scan_others(delta->source, scan_tables, &scan))
	{
		emogi_arena_free_owner(EMOGI_OWNER_KEYS(delta->call->slot_index));
		return false;
	}
	return true;
}

/*
 * Build the graph and the tracker, as the active snapshot sees the tables. Return false if the
 * cache has no room for the graph, or if an object that the conditions depend on was replaced
 * meanwhile. If the caller's own transaction has changed the tables, the active snapshot does not
 * see those changes and the graph is not for the call; then return false also if there is no room
 * for the tracker, or if the scan fails.
 */
bool
emogi_apply_delta_build_tracker(EmogiDeltaCall *delta)
{
	EmogiCall  *call = delta->call;
	EmogiSlot  *slot = delta->slot;
	const EmogiCacheLookup *lookup = delta->lookup;
	EmogiTrackerCreation creation;
	bool		shared = true;
	bool		tracked;
	bool		is_current;
	List	   *leaves = NIL;
	EmogiGraphSource rows;
	EmogiBuilt	built;

	emogi_cache_miss_record(call, lookup, call->record.why_built);
	if (!emogi_cache_lookup_reserve_of_tracker(slot, lookup, &lookup->key, delta->tracker->id, 0,
											   true))
		return false;
	emogi_cache_shared->graphs[slot->graph].asked_once =
		emogi_cache_lookup_is_first_followed(lookup);
	emogi_fault_sleep(EMOGI_FAULT_AT_REGISTERED);
	for (int i = 0; i < lookup->nleaves; i++)
		leaves = lappend_oid(leaves, lookup->relids[i]);
	emogi_tracker_create_begin(call, delta->source, delta->tracker, lookup->relids, lookup->nleaves,
							   &creation);
	rows = emogi_graph_source_of_heaps(delta->source, leaves);
	is_current = try_scan_tables(delta, &rows, &creation) &&
		emogi_analysis_filter_is_current(delta->source);
	creation.own_unseen = lookup->own;
	if (!is_current)
		emogi_tracker_create_cancel(&creation);
	tracked = is_current && emogi_tracker_create_prepare(call, &creation);
	if (!tracked)
	{
		shared = emogi_cache_lookup_detach_tracker(slot, creation.own || !is_current);
		if (lookup->own || !is_current)
		{
			emogi_build_end(call);
			emogi_call_phase(call, EMOGI_PHASE_IDLE);
			pg_atomic_write_u64(&slot->nskipped, 0);
			return false;
		}
	}
	emogi_build_graph(call, &lookup->key,
					  lookup->own ? NULL : emogi_graph_request_chained(delta->request),
					  tracked ? &creation.storing.coo : NULL, &built);
	emogi_call_phase(call, EMOGI_PHASE_IDLE);
	if (tracked)
	{
		emogi_tracker_create_finish(call, &creation, &lookup->xids, &built.coo, &built.misfits);
		emogi_build_end(call);
	}
	if (shared)
		emogi_cache_lookup_publish(call, &built.graph, built.weight_misfits,
								   pg_atomic_read_u64(&slot->nskipped),
								   &emogi_cache_shared->counters.builds);
	emogi_change_tracker_release(slot);
	return shared ? emogi_apply_delta_show(delta, EMOGI_GRAPH_BUILT) :
		emogi_apply_delta_show_private(delta, &built.graph, lookup->key.direction);
}
