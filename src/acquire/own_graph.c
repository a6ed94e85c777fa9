/*
 * own_graph.c: get the graph of a call in a transaction that has only inserted rows since its last
 * call
 *
 * Neither the cache is searched nor a change tracker held: the graph that the last call has used is
 * pinned again, and the new rows are added to its overlay (changes/own_rows.c).
 */
#include "postgres.h"

#include "acquire/cache_lookup.h"
#include "changes/own_changes.h"

/* Return true if others have changed no table of a lookup since the last call (O6). */
static bool
are_left_alone(const EmogiOwnChanges *own, const EmogiCacheLookup *lookup)
{
	bool		alone = true;

	emogi_cache_lock();
	for (int i = 0; i < lookup->nleaves && alone; i++)
		alone = emogi_recent_writers_left_alone(lookup->relids[i], &own->xids, &lookup->xids);
	emogi_cache_unlock();
	return alone;
}

/* Pin a graph for a call; return false if it is no longer in the cache. */
static bool
pin(EmogiCall *call, uint64 graph, uint64 nskipped)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[graph % EMOGI_MAX_GRAPHS];
	bool		is_there;

	emogi_cache_lock();
	is_there = cached->id == graph && cached->state == EMOGI_GRAPH_READY;
	if (is_there)
	{
		emogi_call_pin(call, emogi_cache_lookup_pin(cached), nskipped);
		emogi_cache_shared->counters.overlays++;
	}
	emogi_cache_unlock();
	return is_there;
}

/* Return true if a call may use kept changes, which it has itself. */
static bool
may_use(const EmogiCacheLookup *lookup, const EmogiGraphRequest *request)
{
	const EmogiGraphKey *key = &lookup->key;

	return lookup->own && lookup->can_track && request->accepts_overlay && !request->is_verified &&
		!key->shared_only && !key->by_labels && key->keys.class == EMOGI_KEY_INTEGER;
}

/*
 * Get the graph of a call as the last call of its transaction has got it, with an overlay of all
 * changes of the transaction; return false if that is impossible. source: of the rows, perhaps a
 * filtered table.
 */
bool
emogi_own_graph_get(EmogiCall *call, const EmogiSource *source, const EmogiCacheLookup *lookup,
					const EmogiGraphRequest *request, EmogiGraphView *view)
{
	EmogiOwnChanges *own;
	EmogiKeptOverlay *overlay;
	bool		same_others;

	if (!may_use(lookup, request))
		return false;
	own = emogi_own_changes_of(&lookup->key, &lookup->xids, &same_others);
	overlay = own != NULL ? emogi_own_overlay_find(own, call, &lookup->key) : NULL;
	if (overlay == NULL)
		return false;
	if (!same_others)
	{
		if (!are_left_alone(own, lookup))
			return false;
		own->others++;
	}
	if (!emogi_own_rows_follow(own, source, lookup->relids, lookup->relfilenumbers,
							   lookup->nleaves, &lookup->xids, lookup->key.weights) ||
		(lookup->key.weight > 0 &&
		 !emogi_cache_lookup_accepts_weights(lookup->key.weights,
											 emogi_misfits_of(&own->misfits))) ||
		!emogi_own_overlay_follow(own, call, overlay) ||
		!pin(call, overlay->graph, own->nskipped))
		return false;
	view->graph = overlay->growing.graph;
	view->overlay = &overlay->growing.overlay;
	view->origin = call->record.origin = EMOGI_GRAPH_OVERLAID;
	call->record.nchanges = Max(call->record.nchanges, own->changes.count);
	return true;
}
