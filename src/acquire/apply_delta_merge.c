/*
 * apply_delta_merge.c: the graph of a call from an older graph and the changes since: with an
 * overlay of the changes, or merged with them
 *
 * A merge works on copies of the changes; the resulting graph is published like any other.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "utils/timestamp.h"

#include "acquire/apply_delta.h"
#include "contract/local_components.h"
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
 * ... and while these calls have taken less time for refreshes than a merge. They read the headers
 * of all pages that the visibility map does not prove unchanged.
 */
#define FEW_OVERLAYS 4			/* whose time does not count */
#define MIN_TIMED_EDGES 262144	/* smaller graphs are merged soon anyway */
#define MERGE_MIN_MS 1.0
#define MERGE_EDGES_PER_MS 500000.0

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
 * expensive; if there is an overlay that lacks at most OWN_MIN of them; or if an earlier call of
 * the transaction has merged them, because the overlay of all changes costs no more than a few
 * merges, and later calls grow it.
 */
#define OWN_MIN 16384
#define OWN_SHARE 32
#define OWN_MAX 131072

/*
 * Before its changes are applied, the changes of others since the base graph are merged if there
 * are more than max(BASE_MIN, min(edges / BASE_SHARE, BASE_MAX)).
 */
#define BASE_MIN 512
#define BASE_SHARE 1024
#define BASE_MAX 8192

#define LABELS_BYTES (32 * 1024 * 1024)	/* maximum size of an overlay for components */

/*
 * A GPU derives its copy of the new graph from the old copy if at most 1 / EMOGI_DERIVE_SHARE of
 * the edges have changed; otherwise it copies the whole graph.
 */
#define EMOGI_DERIVE_SHARE 32

/*
 * All changes since a graph's position: those of the log, then those that only this snapshot sees.
 */
typedef struct ChangesSince
{
	const EmogiEdgeChange *logged;
	uint64		nlogged;
	const EmogiEdgeChange *own;
	uint64		nown;
} ChangesSince;

/* Get the changes since a graph's position. */
static ChangesSince
find_changes(const EmogiDeltaCall *delta, const EmogiCached *base)
{
	const EmogiChangeTracker *tracker = delta->tracker;
	const EmogiChanges *found = &delta->refresh.changes;
	ChangesSince		since = {NULL, 0, found->changes, found->count};

	if (base->tracker_position < tracker->log_start)
		/* too many for the log; the base graph is at the position before them */
		return since;
	since.logged = tracker->log + (base->tracker_position - tracker->log_start);
	since.nlogged = tracker->position - base->tracker_position;
	if (delta->refresh.outcome != EMOGI_REFRESH_PRIVATE)
		since.nown = 0;			/* the log includes them */
	return since;
}

/* Copy changes to memory that the worker can read. Raises 53200. */
static EmogiChanges
share_changes(const EmogiDeltaCall *delta, const ChangesSince *since)
{
	EmogiChanges changes = {delta->call};

	if (since->nlogged == 0 && since->nown > 0 && delta->refresh.changes.context == NULL)
		return delta->refresh.changes;
	emogi_tracker_diff_add(&changes, since->logged, since->nlogged);
	emogi_tracker_diff_add(&changes, since->own, since->nown);
	return changes;
}

/*
 * Does the call use the component labels of the slot's base graph? Without them, rows of a few
 * vertices come from the edges around these, as those of a search.
 */
static bool
uses_labels(const EmogiDeltaCall *delta)
{
	return delta->lookup->key.by_labels &&
		(delta->request->needs_labels || emogi_cache_labels_exist(delta->slot->base_graph));
}

/* Get the maximum number of changes in an overlay, for components or for a search. */
static uint64
max_overlay_changes(const EmogiCached *base, bool by_labels)
{
	return by_labels ? emogi_cache_labels_max_changes(base) : OVERLAY_CHANGES;
}

/*
 * Make an overlay of all changes to a graph, in the form that the call requested; return NULL if
 * that is impossible or takes too much memory.
 */
static EmogiOverlay *
make_overlay(const EmogiGraph *shown, EmogiDirection direction, bool by_labels,
			 const ChangesSince *since)
{
	const uint64 count = since->nlogged + since->nown;
	EmogiEdgeChange *changes = palloc(Max(count, 1) * sizeof *changes);
	EmogiMergeInput input = {.graph = shown, .direction = direction,
							 .weight_type = shown->weight_type, .nchanges = count,
		.changes = changes};
	EmogiOverlay *overlay = palloc(sizeof *overlay);

	if (since->nlogged > 0)
		memcpy(changes, since->logged, since->nlogged * sizeof *changes);
	if (since->nown > 0)
		memcpy(changes + since->nlogged, since->own, since->nown * sizeof *changes);
	if (emogi_overlay_bytes(&input) > (by_labels ? LABELS_BYTES : OVERLAY_BYTES))
		return NULL;
	input.memory = (void *) TYPEALIGN(EMOGI_LINE_BYTES,
									  palloc(emogi_overlay_bytes(&input) + EMOGI_LINE_BYTES));
	if (!emogi_overlay_make(&input, overlay) || (by_labels && overlay->nlosers > 0))
		return NULL;			/* removed edges may split components */
	pfree(changes);
	return overlay;
}

/*
 * Check whether the changes of the caller's own transaction are cached as an overlay for searches.
 */
static bool
keeps_own(const EmogiDeltaCall *delta)
{
	return delta->refresh.own_changes != NULL && !delta->lookup->key.by_labels;
}

/* Get the time that a merge takes: that of the last one, or an estimate. */
static double
estimate_merge_ms(const EmogiChangeTracker *tracker, uint64 nedges)
{
	const double ms = tracker->merge_ms > 0 ? tracker->merge_ms : nedges / MERGE_EDGES_PER_MS;

	return Max(ms, MERGE_MIN_MS);
}

/*
 * Check whether the call may use the slot's base graph with an overlay of so many changes. Adds the
 * cost and the time of the refresh to those of overlays.
 */
static bool
may_overlay(const EmogiDeltaCall *delta, const EmogiCached *base, const ChangesSince *since)
{
	const uint64 nedges = base->graph.forward.nedges;
	const bool	by_labels = uses_labels(delta);
	const uint64 unit = by_labels ? LABELS_EDGES : OVERLAY_EDGES;
	/* all labels may be written */
	const uint64 cost = by_labels ? 1 + base->graph.nvertices / unit : 1;
	EmogiChangeTracker *tracker = delta->tracker;

	if (!delta->request->accepts_overlay)
		return false;
	if (keeps_own(delta) &&
		(since->nlogged + since->nown <= Max(OWN_MIN, Min(nedges / OWN_SHARE, OWN_MAX)) ||
		 emogi_own_overlay_missing(delta->refresh.own_changes, base->id) <= OWN_MIN ||
		 emogi_own_overlay_merged_before(delta->refresh.own_changes)))
		return true;
	if (since->nlogged + since->nown > MAX_MERGING_CHANGES ||
		(by_labels && !emogi_cache_labels_exist(delta->slot->base_graph)))
		return false;
	if (GetCurrentTimestamp() < tracker->merge_until)
		return true;
	if (since->nlogged + since->nown > max_overlay_changes(base, by_labels))
		return false;
	if (since->nown > 0)
		return true;
	tracker->noverlays += cost;
	tracker->overlays_ms += delta->call->phase_ms[EMOGI_PHASE_REFRESH];
	return tracker->noverlays - cost <= nedges / unit + MIN_OVERLAYS &&
		(tracker->noverlays <= FEW_OVERLAYS || nedges < MIN_TIMED_EDGES ||
		 tracker->overlays_ms <= estimate_merge_ms(tracker, nedges));
}

/*
 * Set the call's view to its base graph, in the form that the call requested, for an overlay. A
 * graph without vertices has no lists and no type of weights: it gets lists that can be changed,
 * and the type that holds all weights.
 */
static void
set_base_view(EmogiDeltaCall *delta, const EmogiCached *base, EmogiDirection direction)
{
	const EmogiGraphKey *wanted = &delta->lookup->key;
	EmogiGraph *shown = &delta->view->graph;

	emogi_cache_lookup_set_view(&base->graph, base->key.direction, wanted, shown);
	if (base->graph.nvertices > 0)
		return;
	emogi_csr_view_empty(direction, base->key.with_backward,
						 wanted->weight > 0 ? EMOGI_WEIGHT_F64 : EMOGI_WEIGHT_NONE, shown);
	shown->dictionary = base->graph.dictionary;
}

/*
 * Return the slot's base graph with an overlay to the call; return false if a merge is better or
 * necessary.
 */
static bool
overlay_graph(EmogiDeltaCall *delta, const EmogiCached *base, const ChangesSince *since)
{
	EmogiSlot  *slot = delta->slot;
	const EmogiGraphKey *wanted = &delta->lookup->key;
	const EmogiDirection direction = wanted->any_direction ? base->key.direction :
		wanted->direction;
	const bool	by_labels = uses_labels(delta);
	EmogiOverlay *overlay;

	if (!may_overlay(delta, base, since))
		return false;
	set_base_view(delta, base, direction);
	overlay = NULL;
	if (keeps_own(delta))
		overlay = emogi_own_overlay(delta->refresh.own_changes, delta->call, base->id,
									&delta->view->graph, direction, wanted, since->logged,
									since->nlogged);
	else if (since->nown == 0 && since->nlogged <= OVERLAY_CHANGES && !by_labels)
		overlay = emogi_logged_overlay(delta->tracker, delta->call, base->id, &delta->view->graph,
									   direction, since->logged, since->nlogged);
	if (overlay == NULL && since->nlogged + since->nown <= MAX_MERGING_CHANGES)
		overlay = make_overlay(&delta->view->graph, direction, by_labels, since);
	if (overlay == NULL)
		return false;
	delta->view->overlay = overlay;
	delta->view->origin = EMOGI_GRAPH_OVERLAID;
	slot->graph = slot->base_graph;
	slot->base_graph = -1;
	return true;
}

/* ---- the labels of a merged graph ---- */

/*
 * Make an overlay from which the new graph gets the old graph's labels; NULL if it cannot. *shown:
 * set to the old graph, without weights.
 */
static EmogiOverlay *
make_label_overlay(const EmogiDeltaCall *delta, const EmogiCached *base, const ChangesSince *since,
				   EmogiGraph *shown)
{
	if (!emogi_enable_local_search || base->graph.nvertices == 0 ||
		since->nlogged + since->nown > max_overlay_changes(base, true) ||
		!emogi_cache_labels_may_be_carried(delta->slot->base_graph))
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
carry_labels(EmogiSlot *slot, const EmogiGraph *shown, const EmogiOverlay *overlay)
{
	EmogiLocalComponents components = {.graph = shown, .overlay = overlay};
	void	   *memory = palloc(emogi_local_components_bytes(overlay) + EMOGI_LINE_BYTES);
	const uint64 nvertices = emogi_cache_shared->graphs[slot->graph].graph.nvertices;
	uint32	   *labels = nvertices == shown->nvertices + overlay->nnew ?
		emogi_cache_labels_alloc(slot->graph) : NULL;
	bool		written = false;

	if (labels == NULL)
		return;
	components.labels = emogi_cache_labels_begin(slot->base_graph, false);
	if (components.labels != NULL)
	{
		emogi_local_components_join(&components, (void *) TYPEALIGN(EMOGI_LINE_BYTES, memory));
		written = emogi_local_components_write(&components, emogi_cache_labels_must_stop, NULL,
											   labels);
		emogi_cache_labels_end(slot->base_graph);
	}
	if (written)
		emogi_cache_labels_set(slot->graph, labels, slot->base_graph);
	else
		emogi_cache_labels_free_unused(slot->graph, labels);
}

/* ---- merge ---- */

/*
 * Have the worker make the new graph, in memory of the call. If it is shared, it is reserved as the
 * slot's graph. The data for an incremental device copy is in the scratch memory; the worker keeps
 * and frees it. Raises 53200.
 */
static EmogiGraph
merge_graph(const EmogiDeltaCall *delta, const EmogiCached *base, const EmogiChanges *changes,
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
	request->merge = input;
	request->derived_id = derived_id;
	graph = emogi_call_request(call)->graph;
	graph.dictionary = base->graph.dictionary;
	emogi_arena_free(input.scratch, scratch_bytes);
	if (changes->changes != NULL)
		emogi_arena_free(changes->changes, changes->room * sizeof(EmogiEdgeChange));
	return graph;
}

/* A merge of logged changes into a base graph. */
typedef struct BaseMerge
{
	const EmogiDeltaCall *delta;
	const EmogiCached *base;
	const ChangesSince *since;
	uint32		misfits;
	EmogiGraph	graph;			/* the result */
} BaseMerge;

/* Merge logged changes into a base graph. Raises 53200. */
static void
merge_logged(void *arg)
{
	BaseMerge  *merge = arg;
	EmogiChanges changes = share_changes(merge->delta, merge->since);

	merge->graph = merge_graph(merge->delta, merge->base, &changes, merge->misfits, true);
}

/*
 * Merge logged changes into a base graph, if there is enough memory for the merge. Otherwise the
 * memory that it has allocated remains until the call ends.
 */
static bool
try_merge_logged(BaseMerge *merge)
{
	EmogiCall  *call = merge->delta->call;
	ErrorData  *error = NULL;

	emogi_call_phase(call, EMOGI_PHASE_MERGE);
	if (IsInParallelMode())
		merge_logged(merge);	/* there are no subtransactions */
	else
		error = emogi_own_changes_run(merge_logged, merge);
	emogi_call_phase(call, EMOGI_PHASE_IDLE);
	if (error != NULL && error->sqlerrcode != ERRCODE_OUT_OF_MEMORY)
		ReThrowError(error);
	if (error != NULL)
		FreeErrorData(error);
	return error == NULL;
}

/*
 * In a transaction that has changed the tables, merge the logged changes into the slot's base graph
 * before the log loses them, and publish the result as the new base graph: no call of such a
 * transaction publishes a graph of its own. The tracker remains held. Return the base graph: the
 * old one if memory is short.
 */
static const EmogiCached *
merge_base(EmogiDeltaCall *delta, const EmogiCached *base)
{
	EmogiSlot  *slot = delta->slot;
	EmogiChangeTracker *tracker = delta->tracker;
	const EmogiCacheLookup *lookup = delta->lookup;
	ChangesSince since = find_changes(delta, base);
	BaseMerge	merge = {delta, base, &since, emogi_misfits_of(&tracker->misfits)};
	EmogiGraphKey key = base->key;
	EmogiGraph	shown;
	EmogiOverlay *overlay;

	since.nown = 0;
	key.weights = lookup->key.weights;
	if (!lookup->own || !keeps_own(delta) ||
		since.nlogged <= Max(BASE_MIN, Min(base->graph.forward.nedges / BASE_SHARE, BASE_MAX)) ||
		!emogi_cache_lookup_reserve_of_tracker(slot, lookup, &key, tracker->id, tracker->position,
											   false))
		return base;
	overlay = make_label_overlay(delta, base, &since, &shown);
	if (!try_merge_logged(&merge))
	{
		emogi_cache_unpin(slot->graph);
		slot->graph = -1;
		return base;
	}
	emogi_cache_lookup_publish(delta->call, &merge.graph, merge.misfits, tracker->nskipped,
							   &emogi_cache_shared->counters.merges);
	if (overlay != NULL)
		carry_labels(slot, &shown, overlay);
	emogi_cache_lookup_release_base(slot);
	slot->base_graph = slot->graph;
	slot->graph = -1;
	return &emogi_cache_shared->graphs[slot->base_graph];
}

/*
 * Make the graph from the slot's base graph: for all calls, or for this call if only its snapshot
 * sees these rows.
 */
bool
emogi_apply_delta_merge(EmogiDeltaCall *delta, const EmogiCached *base)
{
	EmogiSlot  *slot = delta->slot;
	const EmogiCacheLookup *lookup = delta->lookup;
	EmogiChangeTracker *tracker = delta->tracker;
	const uint64 tracker_id = tracker->id;
	EmogiGraphKey key;
	EmogiDirection direction;
	ChangesSince		since;
	EmogiChanges changes;
	uint64		nskipped = delta->refresh.nskipped;
	uint32		misfits = delta->refresh.weight_misfits;
	bool		stored = delta->refresh.outcome != EMOGI_REFRESH_PRIVATE;
	bool		shared;
	EmogiGraph	graph;
	EmogiGraph	shown;
	EmogiOverlay *overlay;

	base = merge_base(delta, base);
	key = base->key;
	direction = base->key.direction;
	since = find_changes(delta, base);
	if (overlay_graph(delta, base, &since))
	{
		emogi_change_tracker_release(slot);
		return true;
	}
	if (delta->request->accepts_overlay)
		tracker->merge_until = GetCurrentTimestamp() + MERGE_MIN_US +
			(int64) (base->graph.forward.nedges / MERGE_EDGES_PER_US);
	overlay = make_label_overlay(delta, base, &since, &shown);
	changes = share_changes(delta, &since);
	key.weights = lookup->key.weights;
	if (stored)
		shared = emogi_cache_lookup_reserve_of_tracker(slot, lookup, &key, tracker->id,
													   tracker->position, true);
	else
		shared = !lookup->own && !delta->refresh.own &&
			emogi_cache_lookup_reserve_of_tracker(slot, lookup, &key, 0, 0, true);
	emogi_change_tracker_release(slot);
	emogi_call_phase(delta->call, EMOGI_PHASE_MERGE);
	graph = merge_graph(delta, base, &changes, misfits, shared);
	emogi_change_tracker_end_merge(tracker_id,
								   delta->call->phase_ms[EMOGI_PHASE_MERGE]);
	emogi_call_phase(delta->call, EMOGI_PHASE_IDLE);
	if (shared)
	{
		emogi_cache_lookup_publish(delta->call, &graph, misfits, nskipped,
								   &emogi_cache_shared->counters.merges);
		if (overlay != NULL)
			carry_labels(slot, &shown, overlay);
		emogi_cache_lookup_release_base(slot);
		return emogi_apply_delta_show(delta, EMOGI_GRAPH_MERGED);
	}
	emogi_cache_lookup_release_base(slot);
	pg_atomic_write_u64(&slot->nskipped, nskipped);
	return emogi_apply_delta_show_private(delta, &graph, direction);
}
