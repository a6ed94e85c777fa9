/*
 * change_tracker.c: the live states: their life, their memory, who holds them.
 *
 * A state is made by a call that builds a Graph, and held by one slot at a time: by calls that bring it to their snapshot, in turn.
 * It goes when its table does, when its tables changed in a way that it cannot follow, and when memory is short, before the
 * last Graph that was made of it does: without it a change of the table means a build, as it does without live states. Whoever fails while changing
 * its content leaves it broken, and it goes as he lets go of it.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/shmem.h"

#include "cache/change_tracker.h"
#include "base/fault.h"
#include "base/arena.h"

EmogiChangeTrackers *emogi_change_trackers;

/* Cached Graphs in use, of cache.c: some have states. */
static dlist_head *graphs_used;

Size
emogi_change_tracker_shmem_size(void)
{
	return MAXALIGN(sizeof(EmogiChangeTrackers));
}

/* Set up the states, none made, for Graphs of a list. Caller holds AddinShmemInitLock. */
void
emogi_change_tracker_shmem_startup(dlist_head *used, bool found)
{
	bool		found_states;

	graphs_used = used;
	emogi_change_trackers = ShmemInitStruct("emogi live states", sizeof(EmogiChangeTrackers), &found_states);
	if (found)
		return;
	memset(emogi_change_trackers, 0, sizeof(EmogiChangeTrackers));
	emogi_change_trackers->next_id = 1;
	ConditionVariableInit(&emogi_change_trackers->released);
}

/* ---- pages ---- */

/* Get the next array of a block, 8-byte aligned, and move on. */
static void *
carve(char **place, Size bytes)
{
	void	   *array = *place;

	*place += MAXALIGN(bytes);
	return array;
}

/* Point the arrays of pages into a block that begins at `place`; get its end. */
static char *
view_pages(EmogiTrackedPages *pages, char *place)
{
	pages->leaves = carve(&place, pages->nleaves * sizeof(EmogiTrackedTable));
	pages->running = carve(&place, EMOGI_MAX_RUNNING * sizeof(uint64));
	pages->group_lsn = carve(&place, pages->ngroups * sizeof(uint64));
	pages->trusted = carve(&place, pages->npages / 64 * sizeof(uint64));
	pages->lsn = carve(&place, pages->npages * sizeof(uint64));
	pages->newest = carve(&place, pages->npages * sizeof(uint64));
	pages->place = carve(&place, pages->npages * sizeof(uint64));
	pages->buffer = carve(&place, pages->npages * sizeof(Buffer));
	pages->nedges = carve(&place, pages->npages * sizeof(uint16));
	pages->nskipped = carve(&place, pages->npages * sizeof(uint16));
	return place;
}

Size
emogi_change_tracker_pages_bytes(int nleaves, uint64 npages, uint64 ngroups)
{
	EmogiTrackedPages pages = {.nleaves = nleaves, .npages = npages, .ngroups = ngroups};

	return view_pages(&pages, NULL) - (char *) NULL;
}

void
emogi_change_tracker_view_pages(EmogiTrackedPages *pages, void *block, int nleaves, uint64 npages, uint64 ngroups)
{
	*pages = (EmogiTrackedPages) {.nleaves = nleaves, .npages = npages, .ngroups = ngroups};
	view_pages(pages, block);
}

/* ---- memory ---- */

static int
index_of(const EmogiChangeTracker *state)
{
	return (int) (state - emogi_change_trackers->states);
}

/* Give a state an id that none has had; it leads to its place. Caller holds cache_lock. */
static void
number_state(EmogiChangeTracker *state)
{
	state->id = emogi_change_trackers->next_id++ * EMOGI_MAX_LIVE_STATES + index_of(state);
}

/* Find the state with this id; NULL when it is gone. Caller holds cache_lock. */
static EmogiChangeTracker *
find_id(uint64 id)
{
	EmogiChangeTracker *state = &emogi_change_trackers->states[id % EMOGI_MAX_LIVE_STATES];

	return state->phase != EMOGI_LIVE_FREE && state->id == id ? state : NULL;
}

/* Take over a block that the holder's slot has allocated, in whole extents; a small one is packed, and so moved. Raises nothing. */
void
emogi_change_tracker_keep(EmogiChangeTracker *state, EmogiTrackedBlock *block, void *start, Size bytes)
{
	uint64		taken;

	*block = (EmogiTrackedBlock) {.start = start, .bytes = bytes, .packed = bytes <= EMOGI_SMALL_BYTES};
	if (block->packed)
	{
		block->start = emogi_small_allocations_pack(start, bytes);
		taken = emogi_small_allocations_bytes(bytes);
	}
	else
		taken = emogi_arena_give(start, bytes, EMOGI_OWNER_TRACKER(index_of(state)));
	emogi_cache_lock();
	state->bytes += taken;
	emogi_cache_unlock();
}

/* Give a block back, if there is one. Raises nothing. */
void
emogi_change_tracker_drop(EmogiChangeTracker *state, EmogiTrackedBlock *block)
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
	state->bytes -= given;
	emogi_cache_unlock();
}

/* Forget all that a state has, which its holder is to make anew, under another id. Raises nothing. */
void
emogi_change_tracker_empty(EmogiChangeTracker *state)
{
	emogi_cache_lock();
	state->phase = EMOGI_LIVE_NEW;
	number_state(state);
	emogi_cache_unlock();
	emogi_change_tracker_drop(state, &state->pages_block);
	emogi_change_tracker_drop(state, &state->coo_block);
	emogi_change_tracker_drop(state, &state->log_block);
	emogi_dictionaries_release(state->dictionary);
	state->dictionary = -1;
	memset(&state->pages, 0, sizeof state->pages);
	memset(&state->coo, 0, sizeof state->coo);
	state->log_start = state->position = state->log_room = state->nedges = state->nskipped = state->npatched = 0;
}

/* Free a state that nobody else can hold any more: phase NEW, or doomed and held by the caller. Raises nothing. */
static void
free_state(EmogiChangeTracker *state)
{
	emogi_change_tracker_drop(state, &state->pages_block);
	emogi_change_tracker_drop(state, &state->coo_block);
	emogi_change_tracker_drop(state, &state->log_block);
	emogi_dictionaries_release(state->dictionary);
	state->dictionary = -1;
	emogi_cache_lock();
	state->phase = EMOGI_LIVE_FREE;
	state->holder = -1;
	emogi_cache_unlock();
}

/* ---- holding ---- */

/* Is this the state of such a Source? */
static bool
is_of(const EmogiChangeTracker *state, const EmogiGraphKey *key)
{
	return state->phase != EMOGI_LIVE_FREE && !state->doomed &&
		(emogi_cache_same_source(&state->key, key) || (emogi_faults.tree[EMOGI_TREE_STATE] && state->key.of_query && key->of_query)) && state->key.src == key->src && state->key.dst == key->dst &&
		state->key.weight == key->weight && state->key.reverse == key->reverse && emogi_key_type_equal(&state->key.keys, &key->keys);
}

/* Find the state of a Source; NULL when there is none. Caller holds cache_lock. */
static EmogiChangeTracker *
find_state(const EmogiGraphKey *key)
{
	for (uint32 i = 0; i < emogi_change_trackers->nused; i++)
		if (is_of(&emogi_change_trackers->states[i], key))
			return &emogi_change_trackers->states[i];
	return NULL;
}

/* Find a state that is free; NULL when there is none. Caller holds cache_lock. */
static EmogiChangeTracker *
find_free(void)
{
	for (uint32 i = 0; i < emogi_change_trackers->nused; i++)
		if (emogi_change_trackers->states[i].phase == EMOGI_LIVE_FREE)
			return &emogi_change_trackers->states[i];
	if (emogi_change_trackers->nused < EMOGI_MAX_LIVE_STATES)
		return &emogi_change_trackers->states[emogi_change_trackers->nused++];
	return NULL;
}

/* States of fewer bytes than this are small: they take at most three quarters of the places. */
#define EMOGI_LIVE_SMALL_BYTES ((uint64) 1 << 20)

/* May a state be doomed? A role: only one that it has made; InvalidOid = any. */
static bool
may_doom(const EmogiChangeTracker *state, Oid maker)
{
	return state->phase == EMOGI_LIVE_READY && state->holder < 0 && !state->doomed && (!OidIsValid(maker) || state->maker == maker);
}

/* Get when Graphs of each state were last used: used[EMOGI_MAX_LIVE_STATES], 0 = it has none. A hit leaves its state alone. Caller holds cache_lock. */
static void
list_uses(TimestampTz *used)
{
	dlist_iter	iter;

	memset(used, 0, EMOGI_MAX_LIVE_STATES * sizeof *used);
	dlist_foreach(iter, graphs_used)
	{
		const EmogiCached *cached = dlist_container(EmogiCached, order, iter.cur);
		const EmogiChangeTracker *state = find_id(cached->live_id);

		if (state != NULL)
			used[index_of(state)] = Max(used[index_of(state)], cached->last_used);
	}
}

/*
 * Doom the state, made by this role (InvalidOid = any) and of fewer bytes than `below`, whose Graphs were not used for longest, one without a
 * Graph first; false when all are held. Caller holds cache_lock.
 */
static bool
doom_least_used(Oid maker, uint64 below)
{
	TimestampTz used[EMOGI_MAX_LIVE_STATES];
	EmogiChangeTracker *victim = NULL;

	list_uses(used);
	for (uint32 i = 0; i < emogi_change_trackers->nused; i++)
	{
		EmogiChangeTracker *state = &emogi_change_trackers->states[i];

		if (may_doom(state, maker) && state->bytes < below &&
			(victim == NULL || used[i] < used[index_of(victim)] ||
			 (used[i] == used[index_of(victim)] && state->last_used < victim->last_used)))
			victim = state;
	}
	if (victim != NULL)
		victim->doomed = true;
	return victim != NULL;
}

/*
 * Doom the least recently used state to have its place: one of the current role's if that has made more than three quarters of all, and a
 * small one if those are more than three quarters, so that many small tables leave a large one its state. False when all are held. Caller
 * holds cache_lock.
 */
static bool
doom_for_place(void)
{
	const int	most = EMOGI_MAX_LIVE_STATES / 4 * 3;
	int			nown = 0;
	int			nsmall = 0;
	Oid			maker;

	for (uint32 i = 0; i < emogi_change_trackers->nused; i++)
	{
		const EmogiChangeTracker *state = &emogi_change_trackers->states[i];

		nown += state->phase != EMOGI_LIVE_FREE && state->maker == GetUserId();
		nsmall += state->phase != EMOGI_LIVE_FREE && state->bytes < EMOGI_LIVE_SMALL_BYTES;
	}
	maker = nown > most ? GetUserId() : InvalidOid;
	return (nsmall > most && doom_least_used(maker, EMOGI_LIVE_SMALL_BYTES)) || doom_least_used(maker, PG_UINT64_MAX) ||
		doom_least_used(InvalidOid, PG_UINT64_MAX);
}

/* Begin to make the state of a Source; NULL when there is no place. Caller holds cache_lock. */
static EmogiChangeTracker *
make_state(const EmogiGraphKey *key)
{
	EmogiChangeTracker *state = find_free();

	if (state == NULL)
		return NULL;
	memset(state, 0, sizeof *state);
	state->phase = EMOGI_LIVE_NEW;
	state->holder = -1;
	state->dictionary = -1;
	number_state(state);
	state->key = *key;
	state->maker = GetUserId();
	return state;
}

/* Hold the state of a Source, if nobody else does, and set *wait where somebody does. Caller holds cache_lock. */
static EmogiChangeTracker *
try_to_hold(EmogiSlot *slot, const EmogiGraphKey *key, bool make, bool *wait)
{
	EmogiChangeTracker *state = find_state(key);

	if (state == NULL && make)
		state = make_state(key);
	*wait = state != NULL && state->holder >= 0;
	slot->awaited_tracker = *wait ? index_of(state) : -1;
	if (state == NULL || *wait)
		return NULL;
	state->holder = (int) (slot - emogi_shared->slots);
	state->last_used = GetCurrentTimestamp();
	slot->live_state = index_of(state);
	return state;
}

/*
 * Hold the state of a Source, after waiting for others who do; NULL when there is none, and none is to be made, or can be. A
 * new one is empty. *waited: for another call. May be canceled.
 */
EmogiChangeTracker *
emogi_change_tracker_hold(EmogiSlot *slot, const EmogiGraphKey *key, bool make, bool *waited)
{
	EmogiChangeTracker *state;
	bool		wait;
	bool		doomed;

	*waited = false;
	for (;;)
	{
		ConditionVariablePrepareToSleep(&emogi_change_trackers->released);
		emogi_cache_lock();
		state = try_to_hold(slot, key, make, &wait);
		doomed = state == NULL && !wait && make && doom_for_place();
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
	return state;
}

/* Is there a state of a Source? */
bool
emogi_change_tracker_exists(const EmogiGraphKey *key)
{
	const EmogiChangeTracker *state;

	emogi_cache_lock();
	state = find_state(key);
	emogi_cache_unlock();
	return state != NULL && state->phase == EMOGI_LIVE_READY;
}

/* Note that the splice is over of which the state with this id knows, if it is still there. */
void
emogi_change_tracker_note_spliced(uint64 id)
{
	EmogiChangeTracker *state;

	emogi_cache_lock();
	state = find_id(id);
	if (state != NULL)
		state->splice_until = 0;
	emogi_cache_unlock();
}

/* Does a call hold the state of a Source? */
bool
emogi_change_tracker_is_held(const EmogiGraphKey *key)
{
	const EmogiChangeTracker *state;

	emogi_cache_lock();
	state = find_state(key);
	emogi_cache_unlock();
	return state != NULL && state->holder >= 0;
}

/* List the relations of a database whose changes are followed. */
List *
emogi_change_tracker_relations(Oid database)
{
	List	   *relids = NIL;
	Oid			found[EMOGI_MAX_LIVE_STATES];
	int			count = 0;

	emogi_cache_lock();
	for (uint32 i = 0; i < emogi_change_trackers->nused; i++)
		if (emogi_change_trackers->states[i].phase != EMOGI_LIVE_FREE && emogi_change_trackers->states[i].key.database == database)
			found[count++] = emogi_change_trackers->states[i].key.relid;
	emogi_cache_unlock();
	for (int i = 0; i < count; i++)
		relids = list_append_unique_oid(relids, found[i]);
	return relids;
}

/* Get the bytes of a live state, 0 when it is not there; with id = 0 those of all. Caller holds cache_lock. */
uint64
emogi_change_tracker_bytes(uint64 id)
{
	uint64		bytes = 0;

	for (uint32 i = 0; i < emogi_change_trackers->nused; i++)
	{
		const EmogiChangeTracker *state = &emogi_change_trackers->states[i];

		if (state->phase != EMOGI_LIVE_FREE && (id == 0 || state->id == id))
			bytes += state->bytes;
	}
	return bytes;
}

/* Is there a live state with this id? Caller holds cache_lock. */
bool
emogi_change_tracker_is_there(uint64 id)
{
	return find_id(id) != NULL;
}

/* Let go of the state that a slot holds, if it does. One that is not finished, broken or doomed goes. Raises nothing. */
void
emogi_change_tracker_release(EmogiSlot *slot)
{
	EmogiChangeTracker *state;
	bool		goes;

	if (slot->live_state < 0)
		return;
	state = &emogi_change_trackers->states[slot->live_state];
	emogi_cache_lock();
	goes = state->doomed |= state->phase == EMOGI_LIVE_NEW || state->broken;
	if (!goes)
		state->holder = -1;
	emogi_cache_unlock();
	if (goes)
		free_state(state);
	slot->live_state = -1;
	ConditionVariableBroadcast(&emogi_change_trackers->released);
}

/* ---- eviction; what is doomed and held by nobody is freed by whoever calls emogi_change_tracker_free_doomed ---- */

/*
 * Doom the state with this id; with id = 0 the one that was not used for longest. False when it is held or not there. Caller holds
 * cache_lock.
 */
bool
emogi_change_tracker_doom(uint64 id)
{
	EmogiChangeTracker *state = id != 0 ? find_id(id) : NULL;

	if (id == 0)
		return doom_least_used(InvalidOid, PG_UINT64_MAX);
	if (state == NULL || !may_doom(state, InvalidOid))
		return false;
	state->doomed = true;
	return true;
}

/* Doom the state that was not used for longest of those that a role has made. Caller holds cache_lock. */
bool
emogi_change_tracker_doom_of(Oid maker)
{
	return doom_least_used(maker, PG_UINT64_MAX);
}

/* Get the bytes of the states that a role has made. Caller holds cache_lock. */
uint64
emogi_change_tracker_bytes_of(Oid maker)
{
	uint64		bytes = 0;

	for (uint32 i = 0; i < emogi_change_trackers->nused; i++)
		if (emogi_change_trackers->states[i].phase != EMOGI_LIVE_FREE && emogi_change_trackers->states[i].maker == maker)
			bytes += emogi_change_trackers->states[i].bytes;
	return bytes;
}

/* Does a state follow this table, by its own name or as a leaf? What its holder changes is not looked at. */
static bool
follows(const EmogiChangeTracker *state, Oid relid)
{
	if (!OidIsValid(relid) || state->key.relid == relid)
		return true;
	for (int i = 0; state->holder < 0 && i < state->pages.nleaves; i++)
		if (state->pages.leaves[i].relid == relid)
			return true;
	return false;
}

/* Doom the states of a table, or of a whole database (relid = InvalidOid); get the bytes that are free then. Caller holds cache_lock. */
uint64
emogi_change_tracker_doom_all(Oid database, Oid relid)
{
	uint64		bytes = 0;

	for (uint32 i = 0; i < emogi_change_trackers->nused; i++)
	{
		EmogiChangeTracker *state = &emogi_change_trackers->states[i];

		if (state->phase == EMOGI_LIVE_FREE || state->doomed || state->key.database != database || !follows(state, relid))
			continue;
		state->doomed = true;
		bytes += state->holder < 0 ? state->bytes : 0;
	}
	return bytes;
}

/* Take a state that is doomed and held by nobody, to free it; NULL when there is none. */
static EmogiChangeTracker *
next_to_free(void)
{
	EmogiChangeTracker *found = NULL;

	emogi_cache_lock();
	for (uint32 i = 0; i < emogi_change_trackers->nused && found == NULL; i++)
	{
		EmogiChangeTracker *state = &emogi_change_trackers->states[i];

		if (state->phase == EMOGI_LIVE_READY && state->doomed && state->holder < 0)
			found = state;
	}
	if (found != NULL)
		found->holder = EMOGI_NSLOTS;	/* this process, which has no slot for it */
	emogi_cache_unlock();
	return found;
}

/* Free the states that are doomed and held by nobody. Raises nothing. */
void
emogi_change_tracker_free_doomed(void)
{
	EmogiChangeTracker *state;

	while ((state = next_to_free()) != NULL)
		free_state(state);
}
