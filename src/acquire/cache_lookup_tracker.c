/*
 * cache_lookup_tracker.c: cache lookups of a call that holds a change tracker: graphs are
 * identified by the tracker's position when they were built
 *
 * The tracker determines what a snapshot sees; the recent writers are not needed for that.
 * Therefore a graph can be cached here although the rules for recent writers do not allow it: then
 * only calls that hold the tracker find it, until the tracker finds that it is valid for a snapshot
 * under which the rules allow it.
 */
#include "postgres.h"

#include "acquire/cache_lookup.h"
#include "cache/tables.h"

/* Does a graph have exactly the base tables of a lookup? */
static bool
has_base_tables(const EmogiCached *cached, const EmogiCacheLookup *lookup)
{
	if (cached->nleaves != lookup->nleaves)
		return false;
	for (int i = 0; i < lookup->nleaves; i++)
		if (!emogi_cache_lookup_has_leaf(&cached->leaves[i], lookup, i))
			return false;
	return true;
}

/* Do the recent writers allow the graph for the lookup's snapshot? */
static bool
may_be_known(const EmogiCached *cached, const EmogiCacheLookup *lookup)
{
	if (lookup->own || lookup->xids.nrunning > cached->running_room ||
		!has_base_tables(cached, lookup))
		return false;
	for (int i = 0; i < cached->nleaves; i++)
		if (!emogi_recent_writers_allow_snapshot(cached->leaves[i].table, &lookup->xids))
			return false;
	return true;
}

/*
 * From now on identify a graph by the lookup's snapshot, if the rules for recent writers allow
 * that. Otherwise, if rows with a NULL end have been added or removed, it must no longer be found
 * by its previous snapshot.
 */
static void
renew(EmogiCached *cached, const EmogiCacheLookup *lookup, uint64 nskipped)
{
	uint64	   *running = cached->xids.running;

	if (may_be_known(cached, lookup))
	{
		memcpy(running, lookup->xids.running, lookup->xids.nrunning * sizeof(uint64));
		cached->xids = lookup->xids;
		cached->xids.running = running;
		cached->exact_at = Max(cached->exact_at, lookup->taken_at);
		cached->by_writers = true;
	}
	else if (cached->nskipped != nskipped)
		cached->by_writers = false;
	cached->nskipped = nskipped;
}

/*
 * Find a graph of a tracker at a position, READY before BUILDING, of these a preferred one; NULL if
 * there is none.
 */
static EmogiCached *
find_at(const EmogiCacheLookup *lookup, uint64 tracker_id, uint64 position)
{
	EmogiCached *found = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, emogi_cache_bucket(&lookup->key))
	{
		EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (cached->tracker_id == tracker_id && cached->tracker_position == position &&
			(cached->state == EMOGI_GRAPH_READY ||
			 (cached->state == EMOGI_GRAPH_BUILDING && found == NULL)) &&
			emogi_cache_lookup_has_columns(cached, &lookup->key) &&
			emogi_cache_lookup_has_lists(cached, &lookup->key) &&
			(found == NULL || found->state != EMOGI_GRAPH_READY ||
			 emogi_cache_lookup_prefers(cached, &lookup->key)))
			found = cached;
	}
	return found;
}

/*
 * Pin the graph of a tracker, which is held, if it is READY. Set *wait if another call is building
 * it.
 */
static bool
pin_at(EmogiSlot *slot, const EmogiCacheLookup *lookup, const EmogiChangeTracker *state, bool newer,
	   bool *wait)
{
	EmogiCached *cached;

	emogi_cache_lock();
	cached = find_at(lookup, state->id, state->position);
	*wait = cached != NULL && cached->state == EMOGI_GRAPH_BUILDING;
	slot->awaited_graph = *wait ? (int) (cached - emogi_cache_shared->graphs) : -1;
	if (cached != NULL && !*wait)
	{
		if (newer)
			renew(cached, lookup, state->nskipped);
		slot->graph = emogi_cache_lookup_pin(cached);
		cached->hits++;
		emogi_cache_shared->counters.hits++;
	}
	emogi_cache_unlock();
	return cached != NULL && !*wait;
}

/*
 * Pin the graph of a tracker at its current position, after waiting for another call that is
 * building it; return false if there is none. newer: the lookup's snapshot is the tracker's base,
 * and the graph may be identified by it. May be canceled.
 */
bool
emogi_cache_lookup_find_of_tracker(EmogiSlot *slot, const EmogiCacheLookup *lookup,
								   const EmogiChangeTracker *state, bool newer)
{
	bool		found;
	bool		wait;

	for (;;)
	{
		ConditionVariablePrepareToSleep(&emogi_cache_shared->changed);
		found = pin_at(slot, lookup, state, newer, &wait);
		if (!wait)
			break;
		emogi_shared_sleep(&emogi_cache_shared->changed, 1000, EMOGI_WAIT_BUILD);
	}
	ConditionVariableCancelSleep();
	slot->awaited_graph = -1;
	return found;
}

/*
 * Check whether the labels of a base graph, if it has any, are used with the changes since. The
 * call's own changes are not counted, because they are the same for all base graphs.
 */
static bool
has_usable_labels(const EmogiCached *base, const EmogiChangeTracker *state)
{
	return base->labels != NULL &&
		state->position - base->tracker_position <= emogi_cache_labels_max_changes(base);
}

/*
 * Check whether a graph is a better base for a lookup than another: it is newer, or the lookup is
 * for component labels and only this graph has them.
 */
static bool
is_better_base(const EmogiCached *cached, const EmogiCached *other, const EmogiGraphKey *key,
			   const EmogiChangeTracker *state)
{
	const bool	is_labeled = key->by_labels && has_usable_labels(cached, state);

	if (is_labeled != (key->by_labels && has_usable_labels(other, state)))
		return is_labeled;
	return cached->tracker_position > other->tracker_position;
}

/*
 * Pin, as the slot's base graph, the best graph of a tracker, which is held, that has the lists of
 * a lookup and can be brought to the tracker's position: by its log, or by the changes since
 * old_position. NULL if there is none.
 */
const EmogiCached *
emogi_cache_lookup_find_base(EmogiSlot *slot, const EmogiCacheLookup *lookup,
							 const EmogiChangeTracker *state, uint64 old_position)
{
	EmogiCached *base = NULL;
	dlist_iter	iter;

	emogi_cache_lock();
	dlist_foreach(iter, emogi_cache_bucket(&lookup->key))
	{
		EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (cached->tracker_id == state->id && cached->state == EMOGI_GRAPH_READY &&
			(cached->tracker_position >= state->log_start ||
			 cached->tracker_position == old_position) &&
			emogi_cache_lookup_has_columns(cached, &lookup->key) &&
			emogi_cache_lookup_has_lists(cached, &lookup->key) &&
			(base == NULL || is_better_base(cached, base, &lookup->key, state)))
			base = cached;
	}
	if (base != NULL)
		slot->base_graph = emogi_cache_lookup_pin(base);
	emogi_cache_unlock();
	return base;
}

/*
 * Take cache_lock and reserve an entry for a graph under a lookup's snapshot; *cached = NULL on
 * failure. of_state: also if the recent writers do not allow it, which by_writers records.
 */
static EmogiLookupOutcome
try_to_reserve(EmogiSlot *slot, const EmogiCacheLookup *lookup, const EmogiGraphKey *key,
			   bool of_state, EmogiCached **cached)
{
	const bool	was_registered = lookup->registration->has_references;
	bool		usable;
	EmogiLookupOutcome finding;

	*cached = NULL;
	emogi_cache_lock();
	finding = emogi_cache_lookup_track(lookup, &usable);
	if (finding == EMOGI_LOOKUP_BUILD && !usable && !of_state)
	{
		emogi_cache_lookup_untrack(lookup);
		finding = EMOGI_LOOKUP_BUILD_PRIVATE;
	}
	if (finding == EMOGI_LOOKUP_BUILD)
	{
		*cached = emogi_cache_lookup_add(slot, lookup, key);
		finding = *cached != NULL ? EMOGI_LOOKUP_BUILD : EMOGI_LOOKUP_MAKE_ROOM;
	}
	if (*cached != NULL)
		(*cached)->by_writers = usable;
	if (was_registered)
		emogi_cache_lookup_end_registration(lookup);
	return finding;
}

/*
 * Reserve an entry for a graph of a tracker at a position, which a slot will build; return false if
 * there is no room. tracker_id = 0: without a tracker, but valid for the lookup's snapshot; then
 * also return false if the recent writers do not allow it. exact: it will contain exactly what the
 * lookup's snapshot sees.
 */
bool
emogi_cache_lookup_reserve_of_tracker(EmogiSlot *slot, const EmogiCacheLookup *lookup,
									  const EmogiGraphKey *key, uint64 tracker_id, uint64 position,
									  bool exact)
{
	EmogiCached *cached;
	EmogiLookupOutcome finding;

	do
	{
		finding = try_to_reserve(slot, lookup, key, tracker_id != 0, &cached);
		if (cached != NULL)
		{
			cached->by_writers &= exact && !lookup->own;
			cached->tracker_id = tracker_id;
			cached->tracker_position = position;
		}
		emogi_cache_unlock();
		if (finding == EMOGI_LOOKUP_REGISTER)
			emogi_cache_lookup_register(lookup);
	} while (finding == EMOGI_LOOKUP_REGISTER ||
			 (finding == EMOGI_LOOKUP_MAKE_ROOM && emogi_call_make_room(0)));
	return cached != NULL;
}

/*
 * Separate the graph that a slot builds from its change tracker. If it cannot be cached without
 * one, because the recent writers do not allow it or it contains changes of the current
 * transaction, remove the entry and return false.
 */
bool
emogi_cache_lookup_detach_tracker(EmogiSlot *slot, bool own)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[slot->graph];
	bool		shared;

	emogi_cache_lock();
	cached->tracker_id = 0;
	shared = cached->by_writers && !own;
	emogi_cache_unlock();
	if (shared)
		return true;
	emogi_cache_unpin(slot->graph);
	slot->graph = -1;
	return false;
}
