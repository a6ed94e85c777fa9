/*
 * apply_delta.c: get a call's graph from a change tracker.
 *
 * The graph is found in the cache, or merged from an older graph and the changes since
 * (apply_delta_merge.c), or built from the tracker's edges; or it is built from the tables,
 * together with a change tracker for later calls (apply_delta_build.c).
 *
 * The tracker is held only while it is read and changed.
 */
#include "postgres.h"

#include "utils/snapmgr.h"

#include "acquire/apply_delta.h"
#include "base/arena.h"

/*
 * Do not track a filtered table with more pages than this per cost unit of the query's plan,
 * because its indexes are cheaper.
 */
#define PAGES_PER_COST 64

/* Return the slot's pinned graph to the call. */
bool
emogi_apply_delta_show(EmogiDeltaCall *delta, EmogiGraphOrigin origin)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[delta->slot->graph];

	emogi_cache_lookup_set_view(&cached->graph, cached->key.direction, &delta->lookup->key,
								&delta->view->graph);
	delta->view->origin = origin;
	return true;
}

/* Return a graph to the call that lives as long as the call. */
bool
emogi_apply_delta_show_private(EmogiDeltaCall *delta, const EmogiGraph *graph,
							   EmogiDirection direction)
{
	emogi_cache_lookup_set_view(graph, direction, &delta->lookup->key, &delta->view->graph);
	delta->view->origin = EMOGI_GRAPH_PRIVATE;
	return true;
}

/*
 * In a transaction that has changed the tables, build the graph and the tracker as other
 * transactions see them, and hold the tracker again. So its calls pay only for the transaction's
 * own changes. Return false if that is impossible.
 */
static bool
build_for_others(EmogiDeltaCall *delta)
{
	EmogiSlot  *slot = delta->slot;
	bool		built;
	bool		waited;

	PushCopiedSnapshot(GetActiveSnapshot());
	GetActiveSnapshot()->curcid = FirstCommandId;	/* before any command of this transaction */
	built = emogi_apply_delta_build_tracker(delta);
	PopActiveSnapshot();
	pg_atomic_write_u64(&slot->nskipped, 0);	/* counted by that scan, not for the call's graph */
	if (!built)
		return false;
	emogi_cache_unpin(slot->graph);
	slot->graph = -1;
	delta->tracker = emogi_change_tracker_hold(slot, &delta->lookup->key, false, &waited);
	return delta->tracker != NULL && delta->tracker->phase == EMOGI_TRACKER_READY;
}

/*
 * Build the graph of the tracker's content, shared, as the slot's base graph, for a call with
 * changes that only its snapshot sees. Return NULL without room.
 */
static const EmogiCached *
build_base(EmogiDeltaCall *delta)
{
	EmogiSlot  *slot = delta->slot;

	if (!emogi_apply_delta_build(delta, false))
		return NULL;
	slot->base_graph = slot->graph;
	slot->graph = -1;
	return &emogi_cache_shared->graphs[slot->base_graph];
}

/* Find or make the graph from the refreshed tracker; return false if the call cannot use it. */
static bool
use_tracker(EmogiDeltaCall *delta)
{
	const EmogiCacheLookup *lookup = delta->lookup;
	EmogiChangeTracker *tracker = delta->tracker;
	const EmogiRefresh *refresh = &delta->refresh;
	const EmogiCached *base;

	if (lookup->key.weight > 0 &&
		!emogi_cache_lookup_accepts_weights(lookup->key.weights, refresh->weight_misfits))
		return false;			/* a build reports the offending weight */
	if (refresh->outcome == EMOGI_REFRESH_UNCHANGED &&
		emogi_cache_lookup_find_of_tracker(delta->slot, lookup, tracker, refresh->newer))
	{
		emogi_change_tracker_release(delta->slot);
		pg_atomic_write_u64(&delta->slot->nskipped, refresh->nskipped);
		return emogi_apply_delta_show(delta, EMOGI_GRAPH_FOUND);
	}
	base = emogi_cache_lookup_find_base(delta->slot, lookup, tracker, refresh->old_position);
	if (base == NULL && refresh->outcome != EMOGI_REFRESH_PRIVATE)
		return emogi_apply_delta_build(delta, true);
	if (base == NULL)
		base = build_base(delta);
	return base != NULL && emogi_apply_delta_merge(delta, base);
}

/*
 * Refresh the tracker to the call's snapshot, and get the graph; return false if that is
 * impossible.
 */
static bool
refresh_and_use(EmogiDeltaCall *delta)
{
	const EmogiCacheLookup *lookup = delta->lookup;

	emogi_dictionaries_attach(delta->slot, delta->tracker->dictionary);
	emogi_call_phase(delta->call, EMOGI_PHASE_REFRESH);
	emogi_tracker_refresh(delta->call, delta->source, lookup->relids, lookup->nleaves,
						  &lookup->xids, lookup->own, lookup->key.weights, delta->tracker,
						  &delta->refresh);
	emogi_call_phase(delta->call, EMOGI_PHASE_IDLE);
	delta->call->record.why_built = delta->refresh.why_rebuild;
	return delta->refresh.outcome != EMOGI_REFRESH_REBUILD && use_tracker(delta);
}

/*
 * Check whether the tables of a lookup, whose changes can be tracked, are large enough to start
 * tracking them.
 */
bool
emogi_apply_delta_may_begin(const EmogiCacheLookup *lookup)
{
	return emogi_incremental_min_size_kb == 0 ||
		emogi_tracker_refresh_pages(lookup->relids, lookup->nleaves) * (BLCKSZ / 1024) >=
		(uint64) emogi_incremental_min_size_kb;
}

/*
 * Get why not to make a tracker if there is none; NONE = make one. For a filtered table: not at the
 * first build, nor the first time that one of the call's values is used, nor if an index makes a
 * build cheaper than tracking all pages.
 */
static EmogiCacheMiss
why_make_none(const EmogiCacheLookup *lookup)
{
	double		nrows;

	if (!emogi_apply_delta_may_begin(lookup))
		return EMOGI_MISS_SMALL;
	if (lookup->analysis == NULL || emogi_change_tracker_exists(&lookup->key))
		return EMOGI_MISS_NONE;
	if (lookup->analysis->is_folded ? emogi_cache_lookup_is_first_request(lookup, false) :
		!emogi_cache_lookup_built_before(lookup))
		return EMOGI_MISS_FIRST_BUILD;
	return emogi_table_filter_cost(lookup->analysis->filtered, &nrows) * PAGES_PER_COST <
		(double) emogi_tracker_refresh_pages(lookup->relids, lookup->nleaves) ?
		EMOGI_MISS_INDEX : EMOGI_MISS_NONE;
}

/* Get the graph of a call from its tracker, or make both; see emogi_apply_delta. */
static bool
hold_and_use(EmogiDeltaCall *delta)
{
	EmogiCall  *call = delta->call;
	const EmogiCacheLookup *lookup = delta->lookup;
	const EmogiCacheMiss why_none = why_make_none(lookup);
	const bool	make = why_none == EMOGI_MISS_NONE;
	bool		waited;

	call->record.why_built = make ? EMOGI_MISS_NO_TRACKER : why_none;
	delta->tracker = emogi_change_tracker_hold(call->slot, &lookup->key, make, &waited);
	emogi_cache_lock();
	emogi_cache_shared->counters.waits += waited;
	emogi_cache_unlock();
	if (delta->tracker == NULL)
		return false;
	if (!lookup->own && emogi_cache_lookup_await(call->slot, lookup))
	{
		emogi_change_tracker_release(call->slot);	/* another call made it while this one waited */
		return emogi_apply_delta_show(delta, EMOGI_GRAPH_FOUND);
	}
	if (delta->tracker->phase == EMOGI_TRACKER_READY && refresh_and_use(delta))
		return true;
	if (make && (delta->tracker->phase == EMOGI_TRACKER_NEW ||
				 (delta->refresh.outcome == EMOGI_REFRESH_REBUILD && delta->refresh.newer &&
				  (!lookup->own || emogi_tracker_may_scan_others(delta->source)))))
	{
		emogi_change_tracker_reset(delta->tracker);
		if (!lookup->own ? emogi_apply_delta_build_tracker(delta) :
			emogi_tracker_may_scan_others(delta->source) && build_for_others(delta) &&
			refresh_and_use(delta))
			return true;
	}
	if (delta->tracker == NULL)
		return false;
	if (delta->refresh.outcome == EMOGI_REFRESH_REBUILD && delta->refresh.newer && !lookup->own)
		/* it can never be refreshed again; without own changes, because those may be rolled back */
		delta->tracker->broken = true;
	emogi_change_tracker_release(call->slot);
	return false;
}

/*
 * Get the graph of a call that found none in the cache, if changes of its tables can be tracked.
 * Return how, or EMOGI_GRAPH_NONE, with nothing reserved or held, if the graph must be built.
 * Raises the errors of a build.
 */
EmogiGraphOrigin
emogi_apply_delta(EmogiCall *call, const EmogiSource *source, const EmogiCacheLookup *lookup,
				  const EmogiGraphRequest *request, EmogiGraphView *view)
{
	EmogiDeltaCall	delta = {.call = call,.slot = call->slot,
						 .source = lookup->analysis != NULL ? lookup->analysis->filtered : source,
						 .lookup = lookup,.request = request,.view = view};

	call->record.why_built = lookup->why_untracked;
	return lookup->can_track && hold_and_use(&delta) ? view->origin : EMOGI_GRAPH_NONE;
}
