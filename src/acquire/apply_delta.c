/*
 * apply_delta.c: get a call's graph from a change tracker.
 *
 * The graph is found in the cache, or merged from an older graph and the changes since, or built
 * from the tracker's edges; or it is built from the tables, together with a change tracker for
 * later calls.
 *
 * The tracker is held only while it is read and changed; a merge works on copies. The resulting
 * graph is published like any other.
 */
#include "postgres.h"

#include "utils/snapmgr.h"

#include "acquire/acquire.h"
#include "acquire/cache_lookup.h"
#include "contract/local_components.h"
#include "edges/sink.h"
#include "changes/changes.h"
#include "base/arena.h"

/* Use an overlay instead of a merge up to this number of changes and this size of the overlay. */
#define OVERLAY_CHANGES 1024
#define OVERLAY_BYTES (4 * 1024 * 1024)

/*
 * ... and while the calls since the last change that used an overlay have, together, cost less than
 * a merge: a call with an overlay costs as much as merging this number of edges.
 */
#define OVERLAY_EDGES 16384
#define LABELS_EDGES 250000		/* the same for components */
#define MIN_OVERLAYS 16

/*
 * While another call is merging, allow overlays of more changes. Otherwise all concurrent calls
 * would merge beside it, each for its own snapshot. The duration of the merge is a conservative
 * estimate; if it ends sooner, its graph is found.
 */
#define MAX_MERGING_CHANGES 16384
#define MERGE_MIN_US 20000
#define MERGE_EDGES_PER_US 50		/* edges merged per microsecond */

/*
 * Cached changes of the caller's own transaction pay for an overlay only once. They are used as an
 * overlay up to max(OWN_MIN, min(edges / OWN_SHARE, OWN_MAX)) changes, where a merge is not more
 * expensive.
 */
#define OWN_MIN 16384
#define OWN_SHARE 32
#define OWN_MAX 131072

/*
 * For components, an overlay also saves a run, so it may have up to
 * max(OVERLAY_CHANGES, min(edges / LABELS_SHARE, LABELS_CHANGES)) changes.
 */
#define LABELS_SHARE 512
#define LABELS_CHANGES 16384
#define LABELS_BYTES (32 * 1024 * 1024)

/*
 * A GPU derives its copy of the new graph from the old copy if at most 1 / EMOGI_DERIVE_SHARE of
 * the edges have changed; otherwise it copies the whole graph.
 */
#define EMOGI_DERIVE_SHARE 32

/*
 * Do not track a filtered table with more pages than this per cost unit of the query's plan,
 * because its indexes are cheaper.
 */
#define PAGES_PER_COST 64

/* A call that uses a change tracker. */
typedef struct DeltaCall
{
	EmogiCall  *call;
	EmogiSlot  *slot;
	const EmogiSource *source;
	const EmogiCacheLookup *lookup;
	EmogiChangeTracker *tracker;
	EmogiRefresh refresh;
	bool		accepts_overlay;
	/* result: the graph, with an overlay of the changes since if it is an older one */
	EmogiGraphView *view;
} DeltaCall;

/* Return the slot's pinned graph to the call. */
static bool
show(DeltaCall *delta, EmogiGraphOrigin origin)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[delta->slot->graph];

	emogi_cache_lookup_present(&cached->graph, cached->key.direction, &delta->lookup->key,
							   &delta->view->graph);
	delta->view->origin = origin;
	return true;
}

/* Return a graph to the call that lives as long as the call. */
static bool
show_private(DeltaCall *delta, const EmogiGraph *graph, EmogiDirection direction)
{
	emogi_cache_lookup_present(graph, direction, &delta->lookup->key, &delta->view->graph);
	delta->view->origin = EMOGI_GRAPH_PRIVATE;
	return true;
}

/* ---- from an older graph ---- */

/*
 * All changes since a graph's position: those of the log, then those that only this snapshot sees.
 */
typedef struct Since
{
	const EmogiEdgeChange *logged;
	uint64		nlogged;
	const EmogiEdgeChange *own;
	uint64		nown;
} Since;

/* Get the changes since a graph's position. */
static Since
find_changes(const DeltaCall *delta, const EmogiCached *base)
{
	const EmogiChangeTracker *tracker = delta->tracker;
	const EmogiChanges *found = &delta->refresh.changes;
	Since		since = {NULL, 0, found->changes, found->count};

	if (base->live_position < tracker->log_start)
		/* too many for the log; the base graph is at the position before them */
		return since;
	since.logged = tracker->log + (base->live_position - tracker->log_start);
	since.nlogged = tracker->position - base->live_position;
	if (delta->refresh.outcome != EMOGI_REFRESH_PRIVATE)
		since.nown = 0;			/* the log includes them */
	return since;
}

/* Copy changes to memory that the worker can read. Raises 53200. */
static EmogiChanges
share_changes(const DeltaCall *delta, const Since *since)
{
	EmogiChanges changes = {delta->call};

	if (since->nlogged == 0 && since->nown > 0 && delta->refresh.changes.context == NULL)
		return delta->refresh.changes;
	emogi_tracker_diff_add(&changes, since->logged, since->nlogged);
	emogi_tracker_diff_add(&changes, since->own, since->nown);
	return changes;
}

/* Get the maximum number of changes in an overlay, for components or for a search. */
static uint64
max_overlay_changes(const EmogiCached *base, bool by_labels)
{
	return by_labels ? Max(OVERLAY_CHANGES,
						   Min(base->graph.forward.nedges / LABELS_SHARE, LABELS_CHANGES)) :
						   OVERLAY_CHANGES;
}

/*
 * Make an overlay of all changes to a graph, in the form that the call requested; return NULL if
 * that is impossible or takes too much memory.
 */
static EmogiOverlay *
make_overlay(const EmogiGraph *shown, EmogiDirection direction, bool by_labels, const Since *since)
{
	const uint64 count = since->nlogged + since->nown;
	EmogiEdgeChange *changes = palloc(Max(count, 1) * sizeof *changes);
	EmogiMergeInput input = {.graph = shown, .direction = direction,
							 .weight_type = shown->weight_type, .nchanges = count,
		.changes = changes};
	EmogiOverlay *patch = palloc(sizeof *patch);

	if (since->nlogged > 0)
		memcpy(changes, since->logged, since->nlogged * sizeof *changes);
	if (since->nown > 0)
		memcpy(changes + since->nlogged, since->own, since->nown * sizeof *changes);
	if (emogi_overlay_bytes(&input) > (by_labels ? LABELS_BYTES : OVERLAY_BYTES))
		return NULL;
	input.memory = (void *) TYPEALIGN(EMOGI_LINE_BYTES,
									  palloc(emogi_overlay_bytes(&input) + EMOGI_LINE_BYTES));
	if (!emogi_overlay_make(&input, patch) || (by_labels && patch->nlosers > 0))
		return NULL;			/* removed edges may split components */
	pfree(changes);
	return patch;
}

/*
 * Check whether the changes of the caller's own transaction are cached as an overlay for searches.
 */
static bool
keeps_own(const DeltaCall *delta)
{
	return delta->refresh.own_changes != NULL && !delta->lookup->key.by_labels;
}

/*
 * Check whether the call may use the slot's base graph with an overlay of so many changes. Adds the
 * cost to npatched.
 */
static bool
may_overlay(const DeltaCall *delta, const EmogiCached *base, const Since *since)
{
	const uint64 nedges = base->graph.forward.nedges;
	const bool	by_labels = delta->lookup->key.by_labels;
	const uint64 unit = by_labels ? LABELS_EDGES : OVERLAY_EDGES;
	/* all labels may be written */
	const uint64 cost = by_labels ? 1 + base->graph.nvertices / unit : 1;
	EmogiChangeTracker *tracker = delta->tracker;

	if (!delta->accepts_overlay || base->graph.nvertices == 0)
		return false;
	if (keeps_own(delta) && since->nlogged + since->nown <=
		Max(OWN_MIN, Min(nedges / OWN_SHARE, OWN_MAX)))
		return true;
	if (since->nlogged + since->nown > MAX_MERGING_CHANGES ||
		(by_labels && !emogi_cache_labels_exist(delta->slot->donor)))
		return false;
	if (GetCurrentTimestamp() < tracker->splice_until)
		return true;
	if (since->nlogged + since->nown > max_overlay_changes(base, by_labels))
		return false;
	if (since->nown > 0)
		return true;
	tracker->npatched += cost;
	return tracker->npatched - cost <= nedges / unit + MIN_OVERLAYS;
}

/*
 * Return the slot's base graph with an overlay to the call; return false if a merge is better or
 * necessary.
 */
static bool
overlay_graph(DeltaCall *delta, const EmogiCached *base, const Since *since)
{
	EmogiSlot  *slot = delta->slot;
	const EmogiGraphKey *wanted = &delta->lookup->key;
	const EmogiDirection direction = wanted->any_direction ? base->key.direction :
		wanted->direction;
	EmogiOverlay *patch;

	if (!may_overlay(delta, base, since))
		return false;
	emogi_cache_lookup_present(&base->graph, base->key.direction, wanted,
							   &delta->view->graph);
	patch = NULL;
	if (keeps_own(delta))
		patch = emogi_own_overlay(delta->refresh.own_changes, delta->call, base->id,
								  &delta->view->graph, direction, since->logged, since->nlogged);
	if (patch == NULL && since->nlogged + since->nown <= MAX_MERGING_CHANGES)
		patch = make_overlay(&delta->view->graph, direction, wanted->by_labels, since);
	if (patch == NULL)
		return false;
	delta->view->overlay = patch;
	delta->view->origin = EMOGI_GRAPH_OVERLAID;
	slot->graph = slot->donor;
	slot->donor = -1;
	return true;
}

/* ---- the labels of a merged graph ---- */

/*
 * Make an overlay from which the new graph gets the old graph's labels; NULL if it cannot. *shown:
 * set to the old graph, without weights.
 */
static EmogiOverlay *
make_label_overlay(const DeltaCall *delta, const EmogiCached *base, const Since *since,
				   EmogiGraph *shown)
{
	if (!emogi_enable_local_search || base->graph.nvertices == 0 ||
		since->nlogged + since->nown > max_overlay_changes(base, true) ||
		!emogi_cache_labels_may_be_carried(delta->slot->donor))
		return NULL;
	*shown = base->graph;
	emogi_cache_lookup_hide_weights(shown);
	return make_overlay(shown, base->key.direction, true, since);
}

/*
 * Set the labels of the new graph, which is published, to those of the slot's base graph, joined by
 * the added edges.
 */
static void
carry_labels(EmogiSlot *slot, const EmogiGraph *shown, const EmogiOverlay *patch)
{
	EmogiLocalComponents components = {.graph = shown, .patch = patch};
	void	   *memory = palloc(emogi_local_components_bytes(patch) + EMOGI_LINE_BYTES);
	const uint64 nvertices = emogi_cache_shared->graphs[slot->graph].graph.nvertices;
	uint32	   *labels = nvertices == shown->nvertices + patch->nnew ?
		emogi_cache_labels_alloc(slot->graph) : NULL;
	bool		written = false;

	if (labels == NULL)
		return;
	components.labels = emogi_cache_labels_begin(slot->donor, false);
	if (components.labels != NULL)
	{
		emogi_local_components_join(&components, (void *) TYPEALIGN(EMOGI_LINE_BYTES, memory));
		written = emogi_local_components_write(&components, emogi_cache_labels_stop, NULL, labels);
		emogi_cache_labels_end(slot->donor);
	}
	if (written)
		emogi_cache_labels_set(slot->graph, labels, slot->donor);
	else
		emogi_cache_labels_give_up(slot->graph, labels);
}

/* ---- merge ---- */

/*
 * Have the worker make the new graph, in memory of the call. If it is shared, it is reserved as the
 * slot's graph. The data for an incremental device copy is in the scratch memory; the worker keeps
 * and frees it. Raises 53200.
 */
static EmogiGraph
merge_graph(const DeltaCall *delta, const EmogiCached *base, const EmogiChanges *changes,
			uint32 misfits, bool shared)
{
	EmogiCall  *call = delta->call;
	bool		few = changes->count <= base->graph.forward.nedges / EMOGI_DERIVE_SHARE;
	uint64		derived_id = shared && few ? emogi_cache_derived_id(delta->slot->graph, base) : 0;
	EmogiDerivation derivation;
	EmogiRequest *request = &delta->slot->request;
	bool		weighted = base->graph.weight_type != EMOGI_WEIGHT_NONE ||
		(base->key.weight > 0 && base->graph.nvertices == 0);
	EmogiMergeInput input = {
		.graph = &base->graph, .direction = base->key.direction,
			.with_backward = base->key.with_backward,
		.weight_type = weighted ? emogi_weight_type(misfits) : EMOGI_WEIGHT_NONE,
		.nchanges = changes->count, .changes = changes->changes,
		.derivation = derived_id != 0 ? &derivation : NULL
	};
	Size		scratch_bytes = emogi_merge_scratch_bytes(&input, emogi_cpu_threads);
	EmogiGraph	graph;

	input.memory = emogi_call_alloc_any(call, emogi_merge_bytes(&input));
	input.scratch = emogi_call_alloc_any(call, scratch_bytes);
	request->kind = EMOGI_REQUEST_MERGE;
	request->graph = base->graph;
	request->splice = input;
	request->derived_id = derived_id;
	graph = emogi_call_request(call)->graph;
	graph.dictionary = base->graph.dictionary;
	emogi_arena_free(input.scratch, scratch_bytes);
	if (changes->changes != NULL)
		emogi_arena_free(changes->changes, changes->room * sizeof(EmogiEdgeChange));
	return graph;
}

/*
 * Make the graph from the slot's base graph: for all calls, or for this call if only its snapshot
 * sees these rows.
 */
static bool
merge_from(DeltaCall *delta, const EmogiCached *base)
{
	EmogiSlot  *slot = delta->slot;
	const EmogiCacheLookup *lookup = delta->lookup;
	EmogiChangeTracker *tracker = delta->tracker;
	const uint64 tracker_id = tracker->id;
	EmogiGraphKey key = base->key;
	EmogiDirection direction = base->key.direction;
	Since		since = find_changes(delta, base);
	EmogiChanges changes;
	uint64		nskipped = delta->refresh.nskipped;
	uint32		misfits = delta->refresh.weight_misfits;
	bool		stored = delta->refresh.outcome != EMOGI_REFRESH_PRIVATE;
	bool		shared;
	EmogiGraph	graph;
	EmogiGraph	shown;
	EmogiOverlay *patch;

	if (overlay_graph(delta, base, &since))
	{
		emogi_change_tracker_release(slot);
		return true;
	}
	if (delta->accepts_overlay)
		tracker->splice_until = GetCurrentTimestamp() + MERGE_MIN_US +
			(int64) (base->graph.forward.nedges / MERGE_EDGES_PER_US);
	patch = make_label_overlay(delta, base, &since, &shown);
	changes = share_changes(delta, &since);
	key.weights = lookup->key.weights;
	if (stored)
		shared = emogi_cache_lookup_reserve_at(slot, lookup, &key, tracker->id, tracker->position,
											   true);
	else
		shared = !lookup->own && !delta->refresh.own &&
			emogi_cache_lookup_reserve_at(slot, lookup, &key, 0, 0, true);
	emogi_change_tracker_release(slot);
	emogi_call_phase(delta->call, EMOGI_PHASE_MERGE);
	graph = merge_graph(delta, base, &changes, misfits, shared);
	emogi_change_tracker_note_spliced(tracker_id);
	emogi_call_phase(delta->call, EMOGI_PHASE_IDLE);
	if (shared)
	{
		emogi_cache_lookup_publish(delta->call, &graph, misfits, nskipped,
								   &emogi_cache_shared->counters.splices);
		if (patch != NULL)
			carry_labels(slot, &shown, patch);
		emogi_cache_lookup_release_donor(slot);
		return show(delta, EMOGI_GRAPH_MERGED);
	}
	emogi_cache_lookup_release_donor(slot);
	pg_atomic_write_u64(&slot->nskipped, nskipped);
	return show_private(delta, &graph, direction);
}

/* ---- from the tracker's edges ---- */

/* Copy the edges of the tracker to the chunks of the call's slot. Raises 53200. */
static void
unpack_edges(const DeltaCall *delta)
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
static bool
build_from_edges(DeltaCall *delta, bool done)
{
	EmogiCall  *call = delta->call;
	const EmogiCacheLookup *lookup = delta->lookup;
	EmogiChangeTracker *tracker = delta->tracker;
	uint64		nskipped = tracker->nskipped;
	EmogiGraph	graph;
	uint32		misfits;

	if (!emogi_cache_lookup_reserve_at(delta->slot, lookup, &lookup->key, tracker->id,
									   tracker->position, done))
		return false;
	emogi_call_phase(call, EMOGI_PHASE_MERGE);
	unpack_edges(delta);
	if (done)
		emogi_change_tracker_release(delta->slot);
	emogi_build_graph(call, lookup->key.direction, lookup->key.with_backward, &graph, &misfits);
	emogi_call_phase(call, EMOGI_PHASE_IDLE);
	emogi_cache_lookup_publish(call, &graph, misfits, nskipped,
							   &emogi_cache_shared->counters.builds);
	return show(delta, EMOGI_GRAPH_BUILT);
}

/* ---- from the tables ---- */

/*
 * Build the graph and the tracker, as the active snapshot sees the tables. Return false if the
 * cache has no room for the graph, or if an object that the conditions depend on was replaced
 * meanwhile. If the caller's own transaction has changed the tables, the active snapshot does not
 * see those changes and the graph is not for the call; then return false also if there is no room
 * for the tracker.
 */
static bool
build_with_tracker(DeltaCall *delta)
{
	EmogiCall  *call = delta->call;
	EmogiSlot  *slot = delta->slot;
	const EmogiCacheLookup *lookup = delta->lookup;
	EmogiTrackerCreation creation;
	bool		shared = true;
	bool		is_current;
	List	   *leaves = NIL;
	EmogiGraphSource rows;
	EmogiGraph	graph;
	uint32		misfits;

	if (!emogi_cache_lookup_reserve_at(slot, lookup, &lookup->key, delta->tracker->id, 0, true))
		return false;
	emogi_fault_sleep(EMOGI_AT_REGISTERED);
	for (int i = 0; i < lookup->nleaves; i++)
		leaves = lappend_oid(leaves, lookup->relids[i]);
	emogi_tracker_create_begin(call, delta->source, delta->tracker, lookup->relids, lookup->nleaves,
							   &creation);
	rows = emogi_graph_source_of_heaps(delta->source, leaves);
	emogi_build_edges(call, &rows, lookup->key.weights, creation.notes);
	creation.own_unseen = lookup->own;
	is_current = emogi_analysis_filter_is_current(delta->source);
	if (!is_current)
		emogi_tracker_create_cancel(&creation);
	if (!is_current || !emogi_tracker_create_finish(call, &creation, &lookup->xids))
	{
		shared = emogi_cache_lookup_forget_state(slot, creation.own || !is_current);
		if (lookup->own || !is_current)
		{
			emogi_arena_free_owner(EMOGI_OWNER_EDGES(call->slot_index));
			pg_atomic_write_u64(&slot->nskipped, 0);
			return false;
		}
	}
	emogi_build_graph(call, lookup->key.direction, lookup->key.with_backward, &graph, &misfits);
	emogi_call_phase(call, EMOGI_PHASE_IDLE);
	if (shared)
		emogi_cache_lookup_publish(call, &graph, misfits, pg_atomic_read_u64(&slot->nskipped),
								   &emogi_cache_shared->counters.builds);
	emogi_change_tracker_release(slot);
	return shared ? show(delta, EMOGI_GRAPH_BUILT) : show_private(delta, &graph, lookup->key.direction);
}

/*
 * In a transaction that has changed the tables, build the graph and the tracker as other
 * transactions see them, and hold the tracker again. So its calls pay only for the transaction's
 * own changes. Return false if that is impossible.
 */
static bool
build_for_others(DeltaCall *delta)
{
	EmogiSlot  *slot = delta->slot;
	bool		built;
	bool		waited;

	PushCopiedSnapshot(GetActiveSnapshot());
	GetActiveSnapshot()->curcid = FirstCommandId;	/* before any command of this transaction */
	built = build_with_tracker(delta);
	PopActiveSnapshot();
	pg_atomic_write_u64(&slot->nskipped, 0);	/* counted by that scan, not for the call's graph */
	if (!built)
		return false;
	emogi_cache_unpin(slot->graph);
	slot->graph = -1;
	delta->tracker = emogi_change_tracker_hold(slot, &delta->lookup->key, false, &waited);
	return delta->tracker != NULL && delta->tracker->phase == EMOGI_LIVE_READY;
}

/* ---- choice between them ---- */

/*
 * Build the graph of the tracker's content, shared, as the slot's base graph, for a call with
 * changes that only its snapshot sees. Return NULL without room.
 */
static const EmogiCached *
build_base(DeltaCall *delta)
{
	EmogiSlot  *slot = delta->slot;

	if (!build_from_edges(delta, false))
		return NULL;
	slot->donor = slot->graph;
	slot->graph = -1;
	return &emogi_cache_shared->graphs[slot->donor];
}

/* Find or make the graph from the refreshed tracker; return false if the call cannot use it. */
static bool
use_tracker(DeltaCall *delta)
{
	const EmogiCacheLookup *lookup = delta->lookup;
	EmogiChangeTracker *tracker = delta->tracker;
	const EmogiRefresh *refresh = &delta->refresh;
	const EmogiCached *base;

	if (lookup->key.weight > 0 &&
		!emogi_cache_lookup_takes_weights(lookup->key.weights, refresh->weight_misfits))
		return false;			/* a build reports the offending weight */
	if (refresh->outcome == EMOGI_REFRESH_UNCHANGED &&
		emogi_cache_lookup_find_at(delta->slot, lookup, tracker, refresh->newer))
	{
		emogi_change_tracker_release(delta->slot);
		pg_atomic_write_u64(&delta->slot->nskipped, refresh->nskipped);
		return show(delta, EMOGI_GRAPH_FOUND);
	}
	base = emogi_cache_lookup_find_base(delta->slot, lookup, tracker, refresh->old_position);
	if (base == NULL && refresh->outcome != EMOGI_REFRESH_PRIVATE)
		return build_from_edges(delta, true);
	if (base == NULL)
		base = build_base(delta);
	return base != NULL && merge_from(delta, base);
}

/*
 * Refresh the tracker to the call's snapshot, and get the graph; return false if that is
 * impossible.
 */
static bool
refresh_and_use(DeltaCall *delta)
{
	const EmogiCacheLookup *lookup = delta->lookup;

	emogi_dictionaries_attach(delta->slot, delta->tracker->dictionary);
	emogi_call_phase(delta->call, EMOGI_PHASE_REFRESH);
	emogi_tracker_refresh(delta->call, delta->source, lookup->relids, lookup->nleaves,
						  &lookup->xids,
						  lookup->key.weights, delta->tracker, &delta->refresh);
	emogi_call_phase(delta->call, EMOGI_PHASE_IDLE);
	return delta->refresh.outcome != EMOGI_REFRESH_HOPELESS && use_tracker(delta);
}

/*
 * Check whether the tables of a lookup, whose changes can be tracked, are large enough to start
 * tracking them.
 */
bool
emogi_apply_delta_may_begin(const EmogiCacheLookup *lookup)
{
	return emogi_tracker_refresh_pages(lookup->relids, lookup->nleaves) * (BLCKSZ / 1024) >=
		(uint64) emogi_live_min_size_kb;
}

/*
 * Check whether to make a tracker if there is none. For a filtered table: not at the first build,
 * nor the first time that one of the call's values is used, nor if an index makes a build cheaper
 * than tracking all pages.
 */
static bool
may_make_tracker(const EmogiCacheLookup *lookup)
{
	double		nrows;

	if (!emogi_apply_delta_may_begin(lookup))
		return false;
	if (lookup->tree == NULL || emogi_change_tracker_exists(&lookup->key))
		return true;
	return (lookup->tree->is_folded ? !emogi_cache_lookup_asked_first(lookup, false) :
			emogi_cache_lookup_built_before(lookup)) &&
		emogi_table_filter_cost(lookup->tree->filtered, &nrows) * PAGES_PER_COST >=
		(double) emogi_tracker_refresh_pages(lookup->relids, lookup->nleaves);
}

/*
 * Check whether the graph and the tracker can be built as other transactions see them, in a
 * transaction that has changed the tables. Not with weights: other transactions may see a weight
 * that the call rejects and the transaction has corrected.
 */
static bool
may_build_for_others(const EmogiCacheLookup *lookup)
{
	return lookup->key.weight == 0;
}

/* Get the graph of a call from its tracker, or make both; see emogi_apply_delta. */
static bool
hold_and_use(DeltaCall *delta)
{
	EmogiCall  *call = delta->call;
	const EmogiCacheLookup *lookup = delta->lookup;
	const bool	make = may_make_tracker(lookup);
	bool		waited;

	delta->tracker = emogi_change_tracker_hold(call->slot, &lookup->key, make, &waited);
	emogi_cache_lock();
	emogi_cache_shared->counters.waits += waited;
	emogi_cache_unlock();
	if (delta->tracker == NULL)
		return false;
	if (!lookup->own && emogi_cache_lookup_await(call->slot, lookup))
	{
		emogi_change_tracker_release(call->slot);	/* another call made it while this one waited */
		return show(delta, EMOGI_GRAPH_FOUND);
	}
	if (delta->tracker->phase == EMOGI_LIVE_READY && refresh_and_use(delta))
		return true;
	if (make && (delta->tracker->phase == EMOGI_LIVE_NEW ||
				 (delta->refresh.outcome == EMOGI_REFRESH_HOPELESS && delta->refresh.newer &&
				  !lookup->own)))
	{
		emogi_change_tracker_empty(delta->tracker);
		if (!lookup->own ? build_with_tracker(delta) :
			may_build_for_others(lookup) && build_for_others(delta) && refresh_and_use(delta))
			return true;
	}
	if (delta->tracker == NULL)
		return false;
	if (delta->refresh.outcome == EMOGI_REFRESH_HOPELESS && delta->refresh.newer && !lookup->own)
		/* it can never be refreshed again; without own changes, because those may be rolled back */
		delta->tracker->broken = true;
	emogi_change_tracker_release(call->slot);
	return false;
}

/*
 * Get the graph of a call that found none in the cache, if changes of its tables can be tracked.
 * accepts_overlay: see EmogiGraphRequest. Return how, or EMOGI_GRAPH_NONE, with nothing reserved or
 * held, if the graph must be built. Raises the errors of a build.
 */
EmogiGraphOrigin
emogi_apply_delta(EmogiCall *call, const EmogiSource *source, const EmogiCacheLookup *lookup,
				  bool accepts_overlay, EmogiGraphView *view)
{
	DeltaCall	delta = {.call = call,.slot = call->slot,
						 .source = lookup->tree != NULL ? lookup->tree->filtered : source,
						 .lookup = lookup,.accepts_overlay = accepts_overlay,.view = view};

	return lookup->can_follow && hold_and_use(&delta) ? view->origin : EMOGI_GRAPH_NONE;
}
