/*
 * cache_evict.c: eviction of cached graphs and change trackers to make room in the arena
 *
 * The least recently used graph that no call has pinned goes first, after its change tracker; a
 * role above its share (cache_share.c) evicts its own graphs first.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "cache/cache.h"
#include "cache/change_tracker.h"
#include "cache/columns.h"

/*
 * Count the pins of a graph, except that of the worker that makes its contraction hierarchy, which
 * gives up when the graph is doomed. Caller holds cache_lock.
 */
static uint32
count_users(const EmogiCached *cached)
{
	return cached->pins - (cached->contraction_making ? 1 : 0);
}

/*
 * Find the least recently used READY graph that is neither pinned nor exempt from eviction, among
 * those built by a role (InvalidOid = all); or NULL. Caller holds cache_lock.
 */
static EmogiCached *
least_recently_used(Oid builder)
{
	dlist_iter	iter;

	dlist_foreach(iter, &emogi_cache_shared->used)
	{
		EmogiCached *cached = dlist_container(EmogiCached, order, iter.cur);

		if (cached->state == EMOGI_GRAPH_READY && count_users(cached) == 0 && !cached->kept &&
			(!OidIsValid(builder) || cached->builder == builder))
			return cached;
	}
	return NULL;
}

/* ---- recent evictions; caller holds cache_lock ---- */

/* What the key of a graph is hashed by. */
typedef struct HashedKey
{
	Oid			database;
	Oid			relid;			/* 0 = of a query */
	int			src;
	int			dst;
	int			weight;
	int			reverse;
	int			direction;
	int			with_backward;
	uint8		fingerprint[EMOGI_FINGERPRINT_BYTES];
} HashedKey;

/* Hash the key of a graph, without the type of its vertices; not 0. */
static uint64
hash_key(const EmogiGraphKey *key)
{
	HashedKey	hashed = {key->database, key->of_query ? InvalidOid : key->relid, key->src, key->dst,
		key->weight, key->reverse, key->direction, key->with_backward};
	uint64		hash;

	memcpy(hashed.fingerprint, key->fingerprint, sizeof hashed.fingerprint);
	hash = hash_bytes_extended((const unsigned char *) &hashed, sizeof hashed, 0);
	return Max(hash, 1);
}

/*
 * Check whether a graph with this key was evicted to make room, and no such graph was published
 * since; false if other evictions have overwritten that.
 */
bool
emogi_cache_was_evicted(const EmogiGraphKey *key)
{
	const uint64 hash = hash_key(key);

	return emogi_cache_shared->evicted[hash % EMOGI_MAX_EVICTIONS] == hash;
}

/* Forget the eviction of a graph with this key, because another is published. */
void
emogi_cache_forget_eviction(const EmogiGraphKey *key)
{
	const uint64 hash = hash_key(key);
	uint64	   *evicted = &emogi_cache_shared->evicted[hash % EMOGI_MAX_EVICTIONS];

	if (*evicted == hash)
		*evicted = 0;
}

/* ---- eviction ---- */

/* Doom a graph to make room. Caller holds cache_lock. */
static void
evict(EmogiCached *victim)
{
	const uint64 hash = hash_key(&victim->key);

	emogi_cache_shared->evicted[hash % EMOGI_MAX_EVICTIONS] = hash;
	for (int i = 0; i < victim->nleaves; i++)
		emogi_tables_record_eviction(victim->leaves[i].table);
	emogi_cache_doom(victim);
	emogi_cache_shared->counters.evictions++;
}

/*
 * Detach the columns of the least recently used graph to make room, or doom its change tracker, or
 * itself after these; return false if all are in use. Caller holds cache_lock, and frees *columns,
 * and calls emogi_change_tracker_free_doomed and emogi_cache_free_doomed, after releasing it.
 */
static bool
doom_oldest(EmogiColumns **columns)
{
	EmogiCached *victim = least_recently_used(InvalidOid);

	if (victim != NULL && (*columns = emogi_cache_columns_detach(victim, InvalidOid)) != NULL)
		return true;
	if (emogi_change_tracker_doom(victim != NULL ? victim->tracker_id : 0))
		return true;
	if (victim == NULL)
		return false;
	evict(victim);
	return true;
}

/*
 * Do the same among the columns that a role has loaded and the graphs that it has built, if
 * more_bytes would put it above its share; return false if they would not, or all are in use.
 */
static bool
doom_oldest_of(Oid role, uint64 more_bytes, EmogiColumns **columns)
{
	EmogiCached *victim;

	if (!emogi_cache_is_beyond_share(role, more_bytes))
		return false;
	*columns = emogi_cache_columns_detach(NULL, role);
	if (*columns != NULL)
		return true;
	victim = least_recently_used(role);
	if (victim == NULL)
		return emogi_change_tracker_doom_of(role);
	if (victim->tracker_id == 0 || !emogi_change_tracker_doom(victim->tracker_id))
		evict(victim);
	return true;
}

/* Check whether a DOOMED graph is about to be freed. Caller holds cache_lock. */
static bool
any_being_freed(void)
{
	dlist_iter	iter;

	dlist_foreach(iter, &emogi_cache_shared->doomed)
		if (count_users(dlist_container(EmogiCached, order, iter.cur)) == 0)
			return true;
	return false;
}

/* Wait until all evicted graphs that are not in use have been freed. May be canceled. */
void
emogi_cache_wait_for_room(void)
{
	for (;;)
	{
		bool		leaving;

		ConditionVariablePrepareToSleep(&emogi_cache_shared->changed);
		emogi_cache_lock();
		leaving = any_being_freed();
		emogi_cache_unlock();
		if (!leaving)
			break;
		emogi_shared_sleep(&emogi_cache_shared->changed, 1000, EMOGI_WAIT_ROOM);
	}
	ConditionVariableCancelSleep();
}

/*
 * Evict a graph, its columns or a change tracker, unless a graph is about to be freed, and wait
 * until the memory is free; return false if nothing is evicted. role: see doom_oldest_of;
 * InvalidOid = all.
 */
static bool
evict_and_wait(Oid role, uint64 more_bytes)
{
	EmogiColumns *columns = NULL;
	bool		leaving;
	bool		doomed;

	emogi_cache_lock();
	leaving = any_being_freed();
	doomed = !leaving && (OidIsValid(role) ? doom_oldest_of(role, more_bytes, &columns) :
						  doom_oldest(&columns));
	emogi_cache_unlock();
	emogi_cache_columns_free_detached(columns);
	if (columns != NULL)
		return true;
	if (doomed)
	{
		emogi_change_tracker_free_doomed();
		emogi_cache_free_doomed();
	}
	if (doomed || leaving)
		emogi_cache_wait_for_room();
	return doomed || leaving;
}

/*
 * Evict one graph that is not in use, or a change tracker, and wait until its memory is free; or
 * drop the labels or the contraction hierarchy of a graph in use. Return false if there is none.
 * The current user's graphs are evicted first, if `bytes` would put that role above its share.
 */
bool
emogi_cache_make_room(uint64 bytes)
{
	if (!superuser() && evict_and_wait(GetUserId(), bytes))
		return true;
	return emogi_cache_labels_drop() || evict_and_wait(InvalidOid, 0) ||
		emogi_cache_columns_drop() || emogi_cache_contraction_drop();
}
