/*
 * change_tracker.c: the change trackers: their life cycle, memory and holders.
 *
 * A tracker is made by a call that builds a graph. It is held by one slot at a time: by the calls
 * that refresh it to their snapshots, in turn.
 *
 * A tracker is freed with its table, if its tables have changed in a way that it cannot track, and
 * if memory is short. In the last case it is freed before the last graph that was made from it:
 * without a tracker, a change of the table only costs a build. A call that fails while changing a
 * tracker's content leaves it marked as broken, and releasing it frees it.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "cache/change_tracker.h"
#include "base/fault.h"
#include "base/arena.h"

EmogiChangeTrackers *emogi_change_trackers;

/* List of the cached graphs in use, owned by cache.c; some have trackers. */
static dlist_head *graphs_used;

Size
emogi_change_tracker_shmem_size(void)
{
	return MAXALIGN(sizeof(EmogiChangeTrackers));
}

/* Set up the trackers, all free, for the graphs in a list. Caller holds AddinShmemInitLock. */
void
emogi_change_tracker_shmem_startup(dlist_head *used, bool found)
{
	bool		found_trackers;

	graphs_used = used;
	emogi_change_trackers = emogi_shared_struct("emogi change trackers",
												sizeof(EmogiChangeTrackers), &found_trackers);
	if (found)
		return;
	memset(emogi_change_trackers, 0, sizeof(EmogiChangeTrackers));
	emogi_change_trackers->next_id = 1;
	ConditionVariableInit(&emogi_change_trackers->released);
}

/* ---- memory ---- */

static int
index_of(const EmogiChangeTracker *tracker)
{
	return (int) (tracker - emogi_change_trackers->states);
}

/* Assign a new id, from which the tracker's index can be computed. Caller holds cache_lock. */
static void
assign_id(EmogiChangeTracker *tracker)
{
	tracker->id = emogi_change_trackers->next_id++ * EMOGI_MAX_TRACKERS + index_of(tracker);
}

/* Find the tracker with this id; NULL if it is gone. Caller holds cache_lock. */
static EmogiChangeTracker *
find_id(uint64 id)
{
	EmogiChangeTracker *tracker = &emogi_change_trackers->states[id % EMOGI_MAX_TRACKERS];

	return tracker->phase != EMOGI_TRACKER_FREE && tracker->id == id ? tracker : NULL;
}

/*
 * Take over whole extents that the holder's slot has allocated; a small block is packed, and so
 * moved. Raises nothing.
 */
void
emogi_change_tracker_keep(EmogiChangeTracker *tracker, EmogiTrackedBlock *block, void *start,
						  Size bytes)
{
	uint64		taken;

	*block = (EmogiTrackedBlock) {.start = start, .bytes = bytes,
		.packed = bytes <= EMOGI_SMALL_BYTES};
	if (block->packed)
	{
		block->start = emogi_small_allocations_pack(start, bytes, false);
		taken = emogi_small_allocations_bytes(bytes);
	}
	else
		taken = emogi_arena_transfer(start, bytes, EMOGI_OWNER_TRACKER(index_of(tracker)));
	emogi_cache_lock();
	tracker->bytes += taken;
	emogi_cache_unlock();
}

/* Free a block of a tracker, if there is one. Raises nothing. */
void
emogi_change_tracker_drop(EmogiChangeTracker *tracker, EmogiTrackedBlock *block)
{
	uint64		given;

	if (block->start == NULL)
		return;
	if (block->packed)
	{
		given = emogi_small_allocations_bytes(block->bytes);
		emogi_small_allocations_free(block->start, block->bytes);
	}
	else
	{
		given = (block->bytes + EMOGI_EXTENT_BYTES - 1) / EMOGI_EXTENT_BYTES * EMOGI_EXTENT_BYTES;
		emogi_arena_free(block->start, block->bytes);
	}
	block->start = NULL;
	emogi_cache_lock();
	tracker->bytes -= given;
	emogi_cache_unlock();
}

/*
 * Free the content of a tracker, which its holder will make anew, under a new id. Raises nothing.
 */
void
emogi_change_tracker_reset(EmogiChangeTracker *tracker)
{
	emogi_cache_lock();
	tracker->phase = EMOGI_TRACKER_NEW;
	assign_id(tracker);
	emogi_cache_unlock();
	emogi_change_tracker_drop(tracker, &tracker->pages_block);
	emogi_change_tracker_drop(tracker, &tracker->coo_block);
	emogi_change_tracker_drop(tracker, &tracker->log_block);
	emogi_dictionaries_release(tracker->dictionary);
	tracker->dictionary = -1;
	memset(&tracker->pages, 0, sizeof tracker->pages);
	memset(&tracker->coo, 0, sizeof tracker->coo);
	tracker->log_start = tracker->position = tracker->log_room = tracker->nedges =
		tracker->nskipped = tracker->noverlays = 0;
	tracker->overlays_ms = tracker->merge_ms = 0;
}

/*
 * Free a tracker that no other process can hold any more: phase NEW, or doomed and held by the
 * caller. Raises nothing.
 */
static void
free_tracker(EmogiChangeTracker *tracker)
{
	emogi_change_tracker_drop(tracker, &tracker->pages_block);
	emogi_change_tracker_drop(tracker, &tracker->coo_block);
	emogi_change_tracker_drop(tracker, &tracker->log_block);
	emogi_dictionaries_release(tracker->dictionary);
	tracker->dictionary = -1;
	emogi_cache_lock();
	tracker->phase = EMOGI_TRACKER_FREE;
	tracker->holder = -1;
	emogi_cache_unlock();
}

/* ---- holding ---- */

/* Check whether the tracker of a source is also that of another. */
bool
emogi_change_tracker_has_key(const EmogiGraphKey *tracked, const EmogiGraphKey *key)
{
	return (emogi_cache_same_source(tracked, key) ||
			(emogi_faults.analysis[EMOGI_ANALYSIS_TRACKER] && tracked->of_query &&
			 key->of_query)) &&
		tracked->src == key->src && tracked->dst == key->dst && tracked->weight == key->weight &&
		tracked->reverse == key->reverse && emogi_key_type_equal(&tracked->keys, &key->keys);
}

/* Check whether this is the tracker of such a source. */
static bool
is_of(const EmogiChangeTracker *tracker, const EmogiGraphKey *key)
{
	return tracker->phase != EMOGI_TRACKER_FREE && !tracker->doomed &&
		emogi_change_tracker_has_key(&tracker->key, key);
}

/* Find the tracker of a source; NULL if there is none. Caller holds cache_lock. */
EmogiChangeTracker *
emogi_change_tracker_find(const EmogiGraphKey *key)
{
	for (uint32 i = 0; i < emogi_change_trackers->nused; i++)
		if (is_of(&emogi_change_trackers->states[i], key))
			return &emogi_change_trackers->states[i];
	return NULL;
}

/* Find a free entry; NULL if there is none. Caller holds cache_lock. */
static EmogiChangeTracker *
find_free(void)
{
	for (uint32 i = 0; i < emogi_change_trackers->nused; i++)
		if (emogi_change_trackers->states[i].phase == EMOGI_TRACKER_FREE)
			return &emogi_change_trackers->states[i];
	if (emogi_change_trackers->nused < EMOGI_MAX_TRACKERS)
		return &emogi_change_trackers->states[emogi_change_trackers->nused++];
	return NULL;
}

/* Trackers smaller than this are small: they take at most three quarters of the entries. */
#define EMOGI_TRACKER_SMALL_BYTES ((uint64) 1 << 20)

/* Check whether a tracker can be doomed. maker: only if that role has made it; InvalidOid = any. */
static bool
may_doom(const EmogiChangeTracker *tracker, Oid maker)
{
	return tracker->phase == EMOGI_TRACKER_READY && tracker->holder < 0 && !tracker->doomed &&
		(!OidIsValid(maker) || tracker->maker == maker);
}

/*
 * Get when the graphs of each tracker were last used: used[EMOGI_MAX_TRACKERS], 0 = no graph. A
 * cache hit does not touch the tracker itself. Caller holds cache_lock.
 */
static void
list_uses(TimestampTz *used)
{
	dlist_iter	iter;

	memset(used, 0, EMOGI_MAX_TRACKERS * sizeof *used);
	dlist_foreach(iter, graphs_used)
	{
		const EmogiCached *cached = dlist_container(EmogiCached, order, iter.cur);
		const EmogiChangeTracker *tracker = find_id(cached->tracker_id);

		if (tracker != NULL)
			used[index_of(tracker)] = Max(used[index_of(tracker)], cached->last_used);
	}
}

/*
 * Doom the tracker whose graphs are least recently used, first one without a graph, among those
 * made by this role (InvalidOid = any) and smaller than `below`; return false if all are held.
 * Caller holds cache_lock.
 */
static bool
doom_least_used(Oid maker, uint64 below)
{
	TimestampTz used[EMOGI_MAX_TRACKERS];
	EmogiChangeTracker *victim = NULL;

	list_uses(used);
	for (uint32 i = 0; i < emogi_change_trackers->nused; i++)
	{
		EmogiChangeTracker *tracker = &emogi_change_trackers->states[i];

		if (may_doom(tracker, maker) && tracker->bytes < below &&
			(victim == NULL || used[i] < used[index_of(victim)] ||
			 (used[i] == used[index_of(victim)] && tracker->last_used < victim->last_used)))
			victim = tracker;
	}
	if (victim != NULL)
		victim->doomed = true;
	return victim != NULL;
}

/*
 * Doom the least recently used tracker to free its entry: one of the current role if that has made
 * more than three quarters of all, and a small one if more than three quarters are small, so that
 * many small tables do not displace the tracker of a large one. Return false if all are held.
 * Caller holds cache_lock.
 */
static bool
doom_for_entry(void)
{
	const int	max_share = EMOGI_MAX_TRACKERS / 4 * 3;
	int			nown = 0;
	int			nsmall = 0;
	Oid			maker;

	for (uint32 i = 0; i < emogi_change_trackers->nused; i++)
	{
		const EmogiChangeTracker *tracker = &emogi_change_trackers->states[i];

		nown += tracker->phase != EMOGI_TRACKER_FREE && tracker->maker == GetUserId();
		nsmall += tracker->phase != EMOGI_TRACKER_FREE &&
			tracker->bytes < EMOGI_TRACKER_SMALL_BYTES;
	}
	maker = nown > max_share ? GetUserId() : InvalidOid;
	return (nsmall > max_share && doom_least_used(maker, EMOGI_TRACKER_SMALL_BYTES)) ||
		doom_least_used(maker, PG_UINT64_MAX) ||
		doom_least_used(InvalidOid, PG_UINT64_MAX);
}

/*
 * Begin to make the tracker of a source; return NULL if there is no free entry. Caller holds
 * cache_lock.
 */
static EmogiChangeTracker *
make_tracker(const EmogiGraphKey *key)
{
	EmogiChangeTracker *tracker = find_free();

	if (tracker == NULL)
		return NULL;
	memset(tracker, 0, sizeof *tracker);
	tracker->phase = EMOGI_TRACKER_NEW;
	tracker->holder = -1;
	tracker->dictionary = -1;
	assign_id(tracker);
	tracker->key = *key;
	tracker->maker = GetUserId();
	return tracker;
}

/* Hold the tracker of a source, or set *wait if another call holds it. Caller holds cache_lock. */
static EmogiChangeTracker *
try_to_hold(EmogiSlot *slot, const EmogiGraphKey *key, bool make, bool *wait)
{
	EmogiChangeTracker *tracker = emogi_change_tracker_find(key);

	if (tracker == NULL && make)
		tracker = make_tracker(key);
	*wait = tracker != NULL && tracker->holder >= 0;
	slot->awaited_tracker = *wait ? index_of(tracker) : -1;
	if (tracker == NULL || *wait)
		return NULL;
	tracker->holder = (int) (slot - emogi_shared->slots);
	tracker->last_used = GetCurrentTimestamp();
	slot->held_tracker = index_of(tracker);
	return tracker;
}

/*
 * Hold the tracker of a source, after waiting for other holders. Return NULL if there is none and
 * `make` is false or none can be made. A new one is empty. *waited: set if this waited for another
 * call. May be canceled.
 */
EmogiChangeTracker *
emogi_change_tracker_hold(EmogiSlot *slot, const EmogiGraphKey *key, bool make, bool *waited)
{
	EmogiChangeTracker *tracker;
	bool		wait;
	bool		doomed;

	*waited = false;
	for (;;)
	{
		ConditionVariablePrepareToSleep(&emogi_change_trackers->released);
		emogi_cache_lock();
		tracker = try_to_hold(slot, key, make, &wait);
		doomed = tracker == NULL && !wait && make && doom_for_entry();
		emogi_cache_unlock();
		if (doomed)
			emogi_change_tracker_free_doomed();
		else if (!wait)
			break;
		else
		{
			emogi_shared_sleep(&emogi_change_trackers->released, 1000, EMOGI_WAIT_BUILD);
			*waited = true;
		}
	}
	ConditionVariableCancelSleep();
	return tracker;
}

/* Hold the tracker of a source; return NULL if there is none, or another call holds it. */
EmogiChangeTracker *
emogi_change_tracker_try_hold(EmogiSlot *slot, const EmogiGraphKey *key)
{
	EmogiChangeTracker *tracker;
	bool		wait;

	emogi_cache_lock();
	tracker = try_to_hold(slot, key, false, &wait);
	emogi_cache_unlock();
	slot->awaited_tracker = -1;
	return tracker;
}

/* Check whether there is a finished tracker of a source. */
bool
emogi_change_tracker_exists(const EmogiGraphKey *key)
{
	const EmogiChangeTracker *tracker;

	emogi_cache_lock();
	tracker = emogi_change_tracker_find(key);
	emogi_cache_unlock();
	return tracker != NULL && tracker->phase == EMOGI_TRACKER_READY;
}

/* Record that the merge announced in the tracker with this id, if it still exists, has ended. */
void
emogi_change_tracker_end_merge(uint64 id, double merge_ms)
{
	EmogiChangeTracker *tracker;

	emogi_cache_lock();
	tracker = find_id(id);
	if (tracker != NULL)
	{
		tracker->merge_until = 0;
		tracker->merge_ms = merge_ms;
	}
	emogi_cache_unlock();
}

/* List the relations of a database whose changes are tracked. */
List *
emogi_change_tracker_relations(Oid database)
{
	List	   *relids = NIL;
	Oid			found[EMOGI_MAX_TRACKERS];
	int			count = 0;

	emogi_cache_lock();
	for (uint32 i = 0; i < emogi_change_trackers->nused; i++)
		if (emogi_change_trackers->states[i].phase != EMOGI_TRACKER_FREE &&
			emogi_change_trackers->states[i].key.database == database)
			found[count++] = emogi_change_trackers->states[i].key.relid;
	emogi_cache_unlock();
	for (int i = 0; i < count; i++)
		relids = list_append_unique_oid(relids, found[i]);
	return relids;
}

/*
 * Get the size of the tracker with this id, 0 if there is none; with id = 0 the size of all. Caller
 * holds cache_lock.
 */
uint64
emogi_change_tracker_bytes(uint64 id)
{
	uint64		bytes = 0;

	for (uint32 i = 0; i < emogi_change_trackers->nused; i++)
	{
		const EmogiChangeTracker *tracker = &emogi_change_trackers->states[i];

		if (tracker->phase != EMOGI_TRACKER_FREE && (id == 0 || tracker->id == id))
			bytes += tracker->bytes;
	}
	return bytes;
}

/* Check whether there is a tracker with this id. Caller holds cache_lock. */
bool
emogi_change_tracker_has_id(uint64 id)
{
	return find_id(id) != NULL;
}

/*
 * Release the tracker that a slot holds, if any. Free it if it is unfinished, broken or doomed.
 * Raises nothing.
 */
void
emogi_change_tracker_release(EmogiSlot *slot)
{
	EmogiChangeTracker *tracker;
	bool		goes;

	if (slot->held_tracker < 0)
		return;
	tracker = &emogi_change_trackers->states[slot->held_tracker];
	emogi_cache_lock();
	goes = tracker->doomed |= tracker->phase == EMOGI_TRACKER_NEW || tracker->broken;
	if (!goes)
		tracker->holder = -1;
	emogi_cache_unlock();
	if (goes)
		free_tracker(tracker);
	slot->held_tracker = -1;
	ConditionVariableBroadcast(&emogi_change_trackers->released);
}

/* ---- eviction; emogi_change_tracker_free_doomed frees doomed trackers that are not held ---- */

/*
 * Doom the tracker with this id; with id = 0 the least recently used one. Return false if it is
 * held or does not exist. Caller holds cache_lock.
 */
bool
emogi_change_tracker_doom(uint64 id)
{
	EmogiChangeTracker *tracker = id != 0 ? find_id(id) : NULL;

	if (id == 0)
		return doom_least_used(InvalidOid, PG_UINT64_MAX);
	if (tracker == NULL || !may_doom(tracker, InvalidOid))
		return false;
	tracker->doomed = true;
	return true;
}

/*
 * Doom the least recently used tracker among those that a role has made. Caller holds cache_lock.
 */
bool
emogi_change_tracker_doom_of(Oid maker)
{
	return doom_least_used(maker, PG_UINT64_MAX);
}

/* Get the size of the trackers that a role has made. Caller holds cache_lock. */
uint64
emogi_change_tracker_bytes_of(Oid maker)
{
	uint64		bytes = 0;

	for (uint32 i = 0; i < emogi_change_trackers->nused; i++)
		if (emogi_change_trackers->states[i].phase != EMOGI_TRACKER_FREE &&
			emogi_change_trackers->states[i].maker == maker)
			bytes += emogi_change_trackers->states[i].bytes;
	return bytes;
}

/*
 * Check whether a tracker covers this table, named itself or as a leaf. The leaves of a held
 * tracker are not checked, because its holder may change them.
 */
static bool
covers(const EmogiChangeTracker *tracker, Oid relid)
{
	if (!OidIsValid(relid) || tracker->key.relid == relid)
		return true;
	for (int i = 0; tracker->holder < 0 && i < tracker->pages.nleaves; i++)
		if (tracker->pages.leaves[i].relid == relid)
			return true;
	return false;
}

/*
 * Doom the trackers of a table, or of a whole database (relid = InvalidOid); return the memory that
 * can then be freed at once. Caller holds cache_lock.
 */
uint64
emogi_change_tracker_doom_all(Oid database, Oid relid)
{
	uint64		bytes = 0;

	for (uint32 i = 0; i < emogi_change_trackers->nused; i++)
	{
		EmogiChangeTracker *tracker = &emogi_change_trackers->states[i];

		if (tracker->phase == EMOGI_TRACKER_FREE || tracker->doomed ||
			tracker->key.database != database || !covers(tracker, relid))
			continue;
		tracker->doomed = true;
		bytes += tracker->holder < 0 ? tracker->bytes : 0;
	}
	return bytes;
}

/* Claim a doomed tracker that is not held, to free it; return NULL if there is none. */
static EmogiChangeTracker *
next_to_free(void)
{
	EmogiChangeTracker *found = NULL;

	emogi_cache_lock();
	for (uint32 i = 0; i < emogi_change_trackers->nused && found == NULL; i++)
	{
		EmogiChangeTracker *tracker = &emogi_change_trackers->states[i];

		if (tracker->phase == EMOGI_TRACKER_READY && tracker->doomed && tracker->holder < 0)
			found = tracker;
	}
	if (found != NULL)
		found->holder = EMOGI_NSLOTS;	/* held by this process, without a slot */
	emogi_cache_unlock();
	return found;
}

/* Free the doomed trackers that are not held. Raises nothing. */
void
emogi_change_tracker_free_doomed(void)
{
	EmogiChangeTracker *tracker;

	while ((tracker = next_to_free()) != NULL)
		free_tracker(tracker);
}
