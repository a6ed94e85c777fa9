/*
 * wish_live.c: what a call asks of the cache that holds a live state: Graphs are known by where the state was when they were made.
 *
 * The state says what a snapshot sees; the rings need not. So a Graph may be shared here that their rules are against: then only calls
 * that have asked the state find it, until the state finds that it is right for a snapshot under which the rules allow it.
 */
#include "postgres.h"

#include "build/wish.h"

/* Has a Graph just the leaves that a wish has? */
static bool
has_leaves(const EmogiCached *cached, const EmogiWish *wish)
{
	if (cached->nleaves != wish->nleaves)
		return false;
	for (int i = 0; i < wish->nleaves; i++)
		if (emogi_tables_relid(cached->leaves[i].table) != wish->relids[i] ||
			cached->leaves[i].relfilenumber != wish->relfilenumbers[i])
			return false;
	return true;
}

/* May the rings know that a Graph is right for the wish's snapshot? */
static bool
may_be_known(const EmogiCached *cached, const EmogiWish *wish)
{
	if (wish->own || wish->xids.nrunning > cached->running_room || !has_leaves(cached, wish))
		return false;
	for (int i = 0; i < cached->nleaves; i++)
		if (!emogi_ring_usable(cached->leaves[i].table, &wish->xids))
			return false;
	return true;
}

/*
 * Have the rings know from now on that a Graph is right for the wish's snapshot, if their rules allow that. Rows with a NULL end may
 * have come or gone; then those who would find it by what was known before must not.
 */
static void
renew(EmogiCached *cached, const EmogiWish *wish, uint64 nskipped)
{
	uint64	   *running = cached->xids.running;

	if (may_be_known(cached, wish))
	{
		memcpy(running, wish->xids.running, wish->xids.nrunning * sizeof(uint64));
		cached->xids = wish->xids;
		cached->xids.running = running;
		cached->exact_at = Max(cached->exact_at, wish->taken_at);
		cached->by_ring = true;
	}
	else if (cached->nskipped != nskipped)
		cached->by_ring = false;
	cached->nskipped = nskipped;
}

/* Find a Graph of a state at a position, READY before BUILDING; NULL when there is none. */
static EmogiCached *
find_at(const EmogiWish *wish, uint64 live_id, uint64 position)
{
	EmogiCached *found = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, emogi_cache_chain(&wish->key))
	{
		EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (cached->live_id == live_id && cached->live_position == position &&
			(cached->state == EMOGI_GRAPH_READY || (cached->state == EMOGI_GRAPH_BUILDING && found == NULL)) &&
			emogi_wish_has_columns(cached, &wish->key) && emogi_wish_has_lists(cached, &wish->key))
			found = cached;
	}
	return found;
}

/* Pin the Graph of a state, which is held, when it is READY. Sets *wait when another call builds it. */
static bool
pin_at(EmogiSlot *slot, const EmogiWish *wish, const EmogiLiveState *state, bool newer, bool *wait)
{
	EmogiCached *cached;

	emogi_cache_lock();
	cached = find_at(wish, state->id, state->position);
	*wait = cached != NULL && cached->state == EMOGI_GRAPH_BUILDING;
	slot->awaited_graph = *wait ? (int) (cached - emogi_cache_shared->graphs) : -1;
	if (cached != NULL && !*wait)
	{
		if (newer)
			renew(cached, wish, state->nskipped);
		slot->graph = emogi_wish_pin(cached);
		cached->hits++;
		emogi_cache_shared->counters.hits++;
	}
	emogi_cache_unlock();
	return cached != NULL && !*wait;
}

/*
 * Pin the Graph of a state, where that is now, after waiting for another call that builds it; false when there is none. newer: the
 * wish's snapshot is the state's base, and one that the rings may know the Graph by. May be canceled.
 */
bool
emogi_wish_find_at(EmogiSlot *slot, const EmogiWish *wish, const EmogiLiveState *state, bool newer)
{
	bool		found;
	bool		wait;

	for (;;)
	{
		ConditionVariablePrepareToSleep(&emogi_cache_shared->changed);
		found = pin_at(slot, wish, state, newer, &wait);
		if (!wait)
			break;
		emogi_shared_sleep(&emogi_cache_shared->changed, 1000, EMOGI_WAIT_BUILD);
	}
	ConditionVariableCancelSleep();
	slot->awaited_graph = -1;
	return found;
}

/*
 * Pin, as the slot's donor, the newest Graph of a state, which is held, that has the lists of a wish and can be brought to where the
 * state is: by the log, or by the changes since old_position. NULL when there is none.
 */
const EmogiCached *
emogi_wish_find_base(EmogiSlot *slot, const EmogiWish *wish, const EmogiLiveState *state, uint64 old_position)
{
	EmogiCached *base = NULL;
	dlist_iter	iter;

	emogi_cache_lock();
	dlist_foreach(iter, emogi_cache_chain(&wish->key))
	{
		EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (cached->live_id == state->id && cached->state == EMOGI_GRAPH_READY &&
			(cached->live_position >= state->log_start || cached->live_position == old_position) &&
			emogi_wish_has_columns(cached, &wish->key) && emogi_wish_has_lists(cached, &wish->key) &&
			(base == NULL || cached->live_position > base->live_position))
			base = cached;
	}
	if (base != NULL)
		slot->donor = emogi_wish_pin(base);
	emogi_cache_unlock();
	return base;
}

/* Take cache_lock and reserve an entry for a Graph under a wish's snapshot; *cached = NULL when that fails. of_state: also where the rings are against it, which by_ring says. */
static EmogiFinding
try_to_reserve(EmogiSlot *slot, const EmogiWish *wish, const EmogiGraphKey *key, bool of_state, EmogiCached **cached)
{
	const bool	was_registered = wish->registration->has_references;
	bool		usable;
	EmogiFinding finding;

	*cached = NULL;
	emogi_cache_lock();
	finding = emogi_wish_track(wish, &usable);
	if (finding == EMOGI_MUST_BUILD && !usable && !of_state)
	{
		emogi_wish_untrack(wish);
		finding = EMOGI_MUST_BUILD_PRIVATELY;
	}
	if (finding == EMOGI_MUST_BUILD)
	{
		*cached = emogi_wish_add(slot, wish, key);
		finding = *cached != NULL ? EMOGI_MUST_BUILD : EMOGI_MUST_MAKE_ROOM;
	}
	if (*cached != NULL)
		(*cached)->by_ring = usable;
	if (was_registered)
		emogi_wish_end_registration(wish);
	return finding;
}

/*
 * Reserve an entry for the Graph of a state at a position, which a slot is to build; false when there is no room. live_id = 0: no
 * state's, but right for the wish's snapshot; then also false where the rings are against it. exact: it will hold what the wish's
 * snapshot sees.
 */
bool
emogi_wish_reserve_at(EmogiSlot *slot, const EmogiWish *wish, const EmogiGraphKey *key, uint64 live_id, uint64 position, bool exact)
{
	EmogiCached *cached;
	EmogiFinding finding;

	do
	{
		finding = try_to_reserve(slot, wish, key, live_id != 0, &cached);
		if (cached != NULL)
		{
			cached->by_ring &= exact && !wish->own;
			cached->live_id = live_id;
			cached->live_position = position;
		}
		emogi_cache_unlock();
		if (finding == EMOGI_MUST_REGISTER)
			emogi_wish_register(wish);
	} while (finding == EMOGI_MUST_REGISTER || (finding == EMOGI_MUST_MAKE_ROOM && emogi_call_make_room(0)));
	return cached != NULL;
}

/*
 * The Graph that a slot builds has no live state after all. False, and nothing is reserved any more, when it cannot be shared then:
 * the rings' rules are against it, or it holds changes of the own transaction.
 */
bool
emogi_wish_forget_state(EmogiSlot *slot, bool own)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[slot->graph];
	bool		shared;

	emogi_cache_lock();
	cached->live_id = 0;
	shared = cached->by_ring && !own;
	emogi_cache_unlock();
	if (shared)
		return true;
	emogi_cache_unpin(slot->graph);
	slot->graph = -1;
	return false;
}
