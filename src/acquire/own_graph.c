/*
 * own_graph.c: get the graph of a call if its session has only inserted rows since its last call
 *
 * Neither the cache is searched nor a change tracker held: the graph that the last call has used is
 * pinned again, and the new rows are added to its overlay (changes/own_rows.c).
 */
#include "postgres.h"

#include "acquire/cache_lookup.h"
#include "base/fault.h"
#include "changes/own_changes.h"

/* Return true if others have changed no table of a lookup since the last call (O6). */
static bool
are_left_alone(const EmogiOwnChanges *own, const EmogiCacheLookup *lookup)
{
	bool		alone = true;

	emogi_cache_lock();
	for (int i = 0; i < lookup->nleaves && alone; i++)
		alone = emogi_recent_writers_left_alone(lookup->relids[i], &own->xids, &lookup->xids,
												own->carried, own->ncarried);
	emogi_cache_unlock();
	return alone;
}

/*
 * Pin the graph of an overlay for a call; return its index, or -1 if it is no longer in the cache.
 */
static int
pin(EmogiCall *call, const EmogiKeptOverlay *overlay)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[overlay->graph % EMOGI_MAX_GRAPHS];
	int			index = -1;

	emogi_cache_lock();
	if (cached->id == overlay->graph && cached->state == EMOGI_GRAPH_READY)
	{
		index = emogi_cache_lookup_pin(cached);
		emogi_call_pin(call, index, 0);
		emogi_cache_shared->counters.overlays++;
	}
	emogi_cache_unlock();
	return index;
}

/* Release the graph that a call has pinned. */
static void
unpin(EmogiCall *call, int index)
{
	emogi_call_pin(call, -1, 0);
	emogi_cache_lock();
	emogi_cache_shared->counters.overlays--;
	emogi_cache_unlock();
	emogi_cache_unpin(index);
}

/* Return true if a call may use kept changes. */
static bool
may_use(const EmogiCacheLookup *lookup, const EmogiGraphRequest *request)
{
	const EmogiGraphKey *key = &lookup->key;

	return lookup->can_track && request->accepts_overlay && !request->is_verified &&
		!key->shared_only && !key->by_labels;
}

/* Read the new rows; return false if there is more to read, or a weight that the call rejects. */
static bool
follow(EmogiOwnChanges *own, EmogiCall *call, int graph, const EmogiSource *source,
	   const EmogiCacheLookup *lookup)
{
	const EmogiGraphKey *key = &lookup->key;
	const int	dictionary = emogi_cache_shared->graphs[graph].dictionary;

	return (dictionary < 0) == (key->keys.class == EMOGI_KEY_INTEGER) &&
		emogi_own_rows_follow(own, call, dictionary, source, lookup->relids,
							  lookup->relfilenumbers, lookup->nleaves, &lookup->xids,
							  key->weights) &&
		(key->weight == 0 ||
		 emogi_cache_lookup_accepts_weights(key->weights, emogi_misfits_of(&own->misfits)));
}

/*
 * Bring an overlay to the kept changes, unless the call finds nothing in any case: then a later
 * call adds them all at once. Return false if that is impossible.
 */
static bool
follow_overlay(EmogiOwnChanges *own, const EmogiCall *call, const EmogiGraphRequest *request,
			   EmogiKeptOverlay *overlay)
{
	return (request->is_empty != NULL &&
			request->is_empty(request->arg, &overlay->growing->graph) &&
			emogi_own_overlay_postpone(own, call, overlay)) ||
		emogi_own_overlay_follow(own, call, overlay);
}

/*
 * Get the graph that kept changes are applied to, with their overlay, brought to the lookup's
 * snapshot; return false if that is impossible.
 */
static bool
get(EmogiOwnChanges *own, bool same_others, EmogiCall *call, const EmogiSource *source,
	const EmogiCacheLookup *lookup, const EmogiGraphRequest *request, EmogiGraphView *view)
{
	EmogiKeptOverlay *overlay = emogi_own_overlay_find(own, call, &lookup->key);
	const bool	has_memory = call->slot != NULL || call->held_result >= 0;
	int			index;

	if (overlay == NULL)
		return false;
	if (!same_others)
	{
		if (!are_left_alone(own, lookup) && !emogi_faults.tracker[EMOGI_TRACKER_CARRIED])
			return false;
		own->others++;
	}
	if (lookup->key.keys.class != EMOGI_KEY_INTEGER)
		emogi_call_take_slot(call); /* which holds the tracker; no graph is pinned while it waits */
	index = pin(call, overlay);
	/* only now, because the overlay consists of pieces of the graph */
	if (index < 0 || !follow(own, call, index, source, lookup) ||
		!follow_overlay(own, call, request, overlay))
	{
		if (index >= 0)
			unpin(call, index);
		if (!has_memory)
			emogi_call_release_shared(call);	/* an index search may need no slot */
		return false;
	}
	emogi_call_pin(call, index, own->nskipped);
	view->graph = overlay->growing->graph;
	view->overlay = &overlay->growing->overlay;
	view->origin = call->record.origin = EMOGI_GRAPH_OVERLAID;
	call->record.nchanges = Max(call->record.nchanges, own->changes.count);
	return true;
}

/*
 * Get the graph of a call as the last call of its transaction, or of the session if the changes
 * were carried, has got it, with an overlay of all changes; return false if that is impossible.
 * source: of the rows, perhaps a filtered table.
 */
bool
emogi_own_graph_get(EmogiCall *call, const EmogiSource *source, const EmogiCacheLookup *lookup,
					const EmogiGraphRequest *request, EmogiGraphView *view)
{
	EmogiOwnChanges *own;
	bool		same_others;
	bool		is_carried;

	if (!may_use(lookup, request))
		return false;
	own = emogi_own_changes_of(&lookup->key, &lookup->xids, &same_others);
	if (own == NULL)
		return false;
	is_carried = own->is_carried;
	if ((lookup->own || is_carried) && get(own, same_others, call, source, lookup, request, view))
		return true;
	if (is_carried && emogi_own_changes_of(&lookup->key, &lookup->xids, &same_others) == own)
		emogi_own_changes_drop(own);
	return false;
}
