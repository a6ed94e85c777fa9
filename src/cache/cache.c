/*
 * cache.c: the entries of Graphs that calls and sessions share: their life, their memory, their eviction.
 *
 * An entry's life: FREE -> BUILDING -> READY -> DOOMED -> FREE, all under EmogiShared.cache_lock. cache_lookup.c takes it as
 * far as READY. A DOOMED Graph is found by nobody. Whoever takes away its last pin frees it, unless a GPU may know its
 * memory (gpus): then the engine worker has the GPUs forget it first. A builder that fails dooms its entry through
 * its slot.
 *
 * Entries are found by their table, through buckets, and stand in one of three lists: those that are FREE; those that are
 * BUILDING or READY in the order of their last use, which eviction follows; those that are DOOMED. So nothing that happens
 * often looks at all of them.
 *
 * A Graph that is small is moved, when it is published, into a small block of the Region (arena.c): thousands of them
 * would otherwise take a extent each. Where an entry has many leaves, these are kept in such a block, too.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/shmem.h"

#include "cache/cache.h"
#include "cache/change_tracker.h"
#include "base/fault.h"
#include "base/limits.h"
#include "base/arena.h"

EmogiCache *emogi_cache_shared;
static dlist_head *buckets;		/* [emogi_cache_max_graphs()], entries by database and table */

static Size
entries_bytes(void)
{
	return add_size(offsetof(EmogiCache, graphs), mul_size(emogi_cache_max_graphs(), sizeof(EmogiCached)));
}

Size
emogi_cache_shmem_size(void)
{
	return add_size(MAXALIGN(entries_bytes()), MAXALIGN(mul_size(emogi_cache_max_graphs(), sizeof(dlist_head))));
}

/* Set up the cache, empty. Caller holds AddinShmemInitLock. */
void
emogi_cache_shmem_startup(bool found)
{
	bool		found_cache;

	emogi_cache_shared = ShmemInitStruct("emogi cache", entries_bytes(), &found_cache);
	buckets = ShmemInitStruct("emogi cache buckets", emogi_cache_max_graphs() * sizeof(dlist_head), &found_cache);
	if (found)
		return;
	memset(emogi_cache_shared, 0, offsetof(EmogiCache, graphs));	/* an entry is set up when it is first taken */
	emogi_cache_shared->next_id = 1;
	emogi_cache_shared->counters.reset_at = GetCurrentTimestamp();
	ConditionVariableInit(&emogi_cache_shared->changed);
	pg_atomic_init_u32(&emogi_cache_shared->ndoomed, 0);
	dlist_init(&emogi_cache_shared->free);
	dlist_init(&emogi_cache_shared->used);
	dlist_init(&emogi_cache_shared->doomed);
	for (uint32 i = 0; i < emogi_cache_max_graphs(); i++)
		dlist_init(&buckets[i]);
}

/* ---- entries; caller holds cache_lock ---- */

/* Get the list of all entries of a table or a query, and of some others; linked by `chain`. */
dlist_head *
emogi_cache_chain(const EmogiGraphKey *key)
{
	if (key->of_query)
		return &buckets[emogi_cache_digest_start(key) % emogi_cache_max_graphs()];
	return &buckets[hash_combine(murmurhash32(key->database), murmurhash32(key->relid)) % emogi_cache_max_graphs()];
}

/* Take an entry that is FREE; NULL when there is none. */
static EmogiCached *
take_entry(void)
{
	EmogiCache *cache = emogi_cache_shared;

	if (!dlist_is_empty(&cache->free))
		return dlist_container(EmogiCached, order, dlist_pop_head_node(&cache->free));
	return cache->nused < emogi_cache_max_graphs() ? &cache->graphs[cache->nused++] : NULL;
}

/* Give an entry that is in no list back. */
static void
give_entry(EmogiCached *cached)
{
	cached->state = EMOGI_GRAPH_FREE;
	dlist_push_head(&emogi_cache_shared->free, &cached->order);
}

/* Find room for leaves, running transactions and text, in the entry or in the Region; false when there is none. */
static bool
find_room(EmogiCached *cached, int nleaves, uint32 nrunning, Size text_bytes)
{
	cached->leaves = cached->few_leaves;
	cached->xids.running = cached->few_running;
	if (nleaves <= EMOGI_FEW_LEAVES && nrunning <= EMOGI_FEW_RUNNING && text_bytes == 0)
		return true;
	nrunning = Max(nrunning, EMOGI_FEW_RUNNING);
	cached->many_bytes = nrunning * sizeof(uint64) + nleaves * sizeof(EmogiLeaf) + text_bytes;
	cached->many = emogi_small_allocations_alloc(cached->many_bytes);
	if (cached->many == NULL)
		return false;
	cached->bytes = emogi_small_allocations_bytes(cached->many_bytes);
	cached->xids.running = cached->many;
	cached->leaves = (EmogiLeaf *) (cached->xids.running + nrunning);
	if (text_bytes > 0)
		cached->text = (char *) (cached->leaves + nleaves);
	return true;
}

/*
 * Make an entry for a Graph that is to be built, with one pin and room for its leaves; NULL when there is no room. text: of a query,
 * else NULL.
 */
EmogiCached *
emogi_cache_add(const EmogiGraphKey *key, const EmogiTransactionSnapshot *xids, int nleaves, const char *text)
{
	const Size	text_bytes = text != NULL ? Min(strlen(text), EMOGI_MAX_TEXT) + 1 : 0;
	EmogiCached *cached = take_entry();
	uint64	   *running;

	if (cached == NULL)
		return NULL;
	memset(cached, 0, sizeof *cached);
	if (!find_room(cached, nleaves, xids->nrunning, text_bytes))
	{
		give_entry(cached);
		return NULL;
	}
	running = cached->xids.running;
	cached->running_room = Max(xids->nrunning, EMOGI_FEW_RUNNING);
	cached->by_ring = true;
	memcpy(running, xids->running, xids->nrunning * sizeof(uint64));
	cached->xids = *xids;
	cached->xids.running = running;
	cached->id = emogi_cache_shared->next_id++ * EMOGI_MAX_GRAPHS + (cached - emogi_cache_shared->graphs);
	cached->key = *key;
	cached->dictionary = -1;
	if (text != NULL)
		strlcpy(cached->text, text, text_bytes);
	cached->builder = GetUserId();
	cached->pins = 1;
	cached->staleness_ms = emogi_max_staleness_ms;
	cached->built_at = cached->last_used = GetCurrentTimestamp();
	cached->state = EMOGI_GRAPH_BUILDING;
	dlist_push_tail(emogi_cache_chain(key), &cached->chain);
	dlist_push_tail(&emogi_cache_shared->used, &cached->order);
	return cached;
}

/* Note that a Graph is being used. */
void
emogi_cache_touch(EmogiCached *cached)
{
	cached->last_used = GetCurrentTimestamp();
	dlist_delete(&cached->order);
	dlist_push_tail(&emogi_cache_shared->used, &cached->order);
}

/* Have a Graph that is BUILDING or READY found by nobody. The caller calls emogi_cache_free_doomed without the lock. */
void
emogi_cache_doom(EmogiCached *cached)
{
	emogi_cache_unkeep(cached);
	emogi_cache_count_out(cached);
	cached->state = EMOGI_GRAPH_DOOMED;
	dlist_delete(&cached->order);
	dlist_push_tail(&emogi_cache_shared->doomed, &cached->order);
	pg_atomic_fetch_add_u32(&emogi_cache_shared->ndoomed, 1);
}

/* ---- freeing ---- */

/* Take the memory of a Graph that its builder has made over to the entry, with its dictionary; small ones are packed, and so moved. */
void
emogi_cache_take_over(int index, EmogiGraph *built, int dictionary)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	uint64		bytes = built->memory_bytes;
	bool		packed = built->memory != NULL && built->memory_bytes <= EMOGI_SMALL_BYTES;

	if (packed)
	{
		bytes = emogi_small_allocations_bytes(built->memory_bytes);
		emogi_graph_relocate(built, emogi_small_allocations_pack((void *) built->memory, built->memory_bytes));
	}
	else if (built->memory != NULL)
		bytes = emogi_arena_give((void *) built->memory, built->memory_bytes, EMOGI_OWNER_GRAPH(index));
	emogi_dictionaries_share(dictionary);
	emogi_cache_lock();
	cached->graph = *built;
	cached->graph.id = cached->id;
	cached->dictionary = emogi_dictionaries_use(dictionary);
	cached->packed = packed;
	cached->bytes += bytes;
	emogi_cache_count_in(cached);
	emogi_cache_unlock();
}

/* Give the references of an entry to the rings back. Caller holds cache_lock. */
static void
release_leaves(EmogiCached *cached)
{
	for (int i = 0; i < cached->nleaves; i++)
		emogi_tables_release(cached->leaves[i].table);
	cached->nleaves = 0;
}

/* Take leaves, running transactions and text away from an entry, which others may look at; get the block that they are in. Caller holds cache_lock. */
static void *
take_many(EmogiCached *cached)
{
	void	   *many = cached->many;

	release_leaves(cached);
	cached->leaves = cached->few_leaves;
	cached->xids.running = cached->few_running;
	cached->xids.nrunning = 0;
	cached->text = NULL;
	cached->many = NULL;
	return many;
}

/* Free a DOOMED Graph that the caller has marked as leaving. Raises nothing. */
static void
free_graph(int index)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	void	   *many;
	int			dictionary;

	emogi_cache_lock();
	many = take_many(cached);
	dictionary = cached->dictionary;
	cached->dictionary = -1;
	cached->gpus = 0;
	emogi_cache_unlock();
	emogi_cache_labels_free(index);
	emogi_cache_contraction_free(index);
	emogi_dictionaries_release(dictionary);
	if (cached->packed)
		emogi_small_allocations_free((void *) cached->graph.memory, cached->graph.memory_bytes);
	else if (cached->graph.memory != NULL)
		emogi_arena_free_owner(EMOGI_OWNER_GRAPH(index));
	if (many != NULL)
		emogi_small_allocations_free(many, cached->many_bytes);
	emogi_fault_sleep(EMOGI_AT_GRAPH_FREED);
	emogi_cache_lock();
	dlist_delete(&cached->chain);
	dlist_delete(&cached->order);
	pg_atomic_fetch_sub_u32(&emogi_cache_shared->ndoomed, 1);
	give_entry(cached);
	emogi_cache_unlock();
	ConditionVariableBroadcast(&emogi_cache_shared->changed);
}

/* Take a DOOMED Graph away when it may be freed by this process; the caller, who holds cache_lock, then frees it. */
static bool
may_free(EmogiCached *cached)
{
	if (cached->state != EMOGI_GRAPH_DOOMED || cached->pins > 0 || cached->gpus != 0 || cached->leaving)
		return false;
	cached->leaving = true;
	return true;
}

/* Take a DOOMED Graph that this process may free; -1 when there is none. Sets *tell_worker when there are others. */
static int
next_to_free(bool *tell_worker)
{
	int			index = -1;
	dlist_iter	iter;

	emogi_cache_lock();
	dlist_foreach(iter, &emogi_cache_shared->doomed)
	{
		EmogiCached *cached = dlist_container(EmogiCached, order, iter.cur);

		*tell_worker |= cached->gpus != 0 && cached->pins == 0;
		if (may_free(cached))
		{
			index = (int) (cached - emogi_cache_shared->graphs);
			break;
		}
	}
	emogi_cache_unlock();
	return index;
}

/* Free all DOOMED Graphs that are not in use; the worker is told of those that it must free. Raises nothing. */
void
emogi_cache_free_doomed(void)
{
	bool		tell_worker = false;
	int			index;

	/* a look without lock: whoever dooms calls this afterwards */
	while (pg_atomic_read_u32(&emogi_cache_shared->ndoomed) > 0 && (index = next_to_free(&tell_worker)) >= 0)
		free_graph(index);
	if (tell_worker)
		emogi_shared_wake_worker();
}

/* Give a pin back, with the entry if it was never finished. Raises nothing; also called in the worker. */
void
emogi_cache_unpin(int index)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	bool		doomed;

	emogi_cache_lock();
	cached->pins--;
	if (cached->state == EMOGI_GRAPH_BUILDING)
		emogi_cache_doom(cached);
	doomed = cached->state == EMOGI_GRAPH_DOOMED;
	emogi_cache_unlock();
	if (doomed)
		emogi_cache_free_doomed();
}

/* Get how many have a Graph pinned, but for the worker that makes its hierarchy, who gives up when it is doomed. Caller holds cache_lock. */
static uint32
count_users(const EmogiCached *cached)
{
	return cached->pins - (cached->contraction_making ? 1 : 0);
}

/* Find the READY Graph, of those that a role has built (InvalidOid = of all), that is neither pinned nor kept and was not used for longest; or NULL. Caller holds cache_lock. */
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

/* Doom a Graph to make room. Caller holds cache_lock. */
static void
evict(EmogiCached *victim)
{
	for (int i = 0; i < victim->nleaves; i++)
		emogi_tables_displace(victim->leaves[i].table);
	emogi_cache_doom(victim);
	emogi_cache_shared->counters.evictions++;
}

/*
 * Doom the Graph that was not used for longest, to make room, or its live state before it; false when all are in use. Caller
 * holds cache_lock, and calls emogi_change_tracker_free_doomed and emogi_cache_free_doomed without it.
 */
static bool
doom_oldest(void)
{
	EmogiCached *victim = least_recently_used(InvalidOid);

	if (emogi_change_tracker_doom(victim != NULL ? victim->live_id : 0))
		return true;
	if (victim == NULL)
		return false;
	evict(victim);
	return true;
}

/* The same of what a role has built, if it would have more than its share with so many more bytes; false when it would not, or all is in use. */
static bool
doom_oldest_of(Oid role, uint64 more_bytes)
{
	EmogiCached *victim;

	if (!emogi_cache_is_beyond_share(role, more_bytes))
		return false;
	victim = least_recently_used(role);
	if (victim == NULL)
		return emogi_change_tracker_doom_of(role);
	if (victim->live_id == 0 || !emogi_change_tracker_doom(victim->live_id))
		evict(victim);
	return true;
}

/* Is a DOOMED Graph about to be freed by somebody? Caller holds cache_lock. */
static bool
is_one_leaving(void)
{
	dlist_iter	iter;

	dlist_foreach(iter, &emogi_cache_shared->doomed)
		if (count_users(dlist_container(EmogiCached, order, iter.cur)) == 0)
			return true;
	return false;
}

/* Wait until every Graph that was evicted, and is not in use, has given its memory back. May be canceled. */
void
emogi_cache_wait_for_room(void)
{
	for (;;)
	{
		bool		leaving;

		ConditionVariablePrepareToSleep(&emogi_cache_shared->changed);
		emogi_cache_lock();
		leaving = is_one_leaving();
		emogi_cache_unlock();
		if (!leaving)
			break;
		emogi_shared_sleep(&emogi_cache_shared->changed, 1000, EMOGI_WAIT_ROOM);
	}
	ConditionVariableCancelSleep();
}

/* Evict a Graph or a live state, unless a Graph is about to be freed, and wait until the memory is free; false when nothing is evicted. role: see doom_oldest_of; InvalidOid = of all. */
static bool
evict_and_wait(Oid role, uint64 more_bytes)
{
	bool		leaving;
	bool		doomed;

	emogi_cache_lock();
	leaving = is_one_leaving();
	doomed = !leaving && (OidIsValid(role) ? doom_oldest_of(role, more_bytes) : doom_oldest());
	emogi_cache_unlock();
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
 * Evict one Graph that is not in use, or a live state, and wait until its memory is free, or give up labels or a contraction hierarchy of a
 * Graph that is; false when there is none. What the current user has built goes first, if that role would have more than its share with
 * these bytes.
 */
bool
emogi_cache_make_room(uint64 bytes)
{
	if (!superuser() && evict_and_wait(GetUserId(), bytes))
		return true;
	return emogi_cache_labels_drop() || evict_and_wait(InvalidOid, 0) || emogi_cache_contraction_drop();
}

/* Get the bytes of a cached Graph, but for labels and a contraction hierarchy, which make room though it is pinned. Whoever asks has it pinned. */
static uint64
graph_bytes(int index)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[index];

	return cached->bytes - cached->labels_bytes - emogi_cache_contraction_bytes(cached) + emogi_dictionaries_bytes(cached->dictionary);
}

/* Tell those below how large Graphs are, and those that are kept; called once, in the postmaster. */
void
emogi_cache_init(void)
{
	emogi_limits_set_size_callback(graph_bytes);
	emogi_arena_set_kept_callback(emogi_cache_kept_bytes);
}

/* ---- the worker's side ---- */

/* Find a Graph by its id; NULL when it is gone. Caller holds cache_lock. */
static EmogiCached *
find_id(uint64 id)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[id % EMOGI_MAX_GRAPHS];

	return cached->state != EMOGI_GRAPH_FREE && cached->id == id ? cached : NULL;
}

/* Note that some GPUs, bits by number, are about to know a Graph's memory. */
void
emogi_cache_use_on_gpus(uint64 id, uint32 gpus)
{
	EmogiCached *cached;

	emogi_cache_lock();
	cached = find_id(id);
	if (cached != NULL)
		cached->gpus |= gpus;
	emogi_cache_unlock();
}

/* Get the GPUs that may know a Graph's memory, bits by number. */
uint32
emogi_cache_gpus(uint64 id)
{
	const EmogiCached *cached;
	uint32		gpus;

	emogi_cache_lock();
	cached = find_id(id);
	gpus = cached != NULL ? cached->gpus : 0;
	emogi_cache_unlock();
	return gpus;
}

/*
 * Get the id of a Graph that is BUILDING if the GPU should derive its copies from those that it may have of the Graph that this one is
 * made of; 0 when it should not.
 */
uint64
emogi_cache_derived_id(int index, const EmogiCached *base)
{
	uint64		id;

	emogi_cache_lock();
	id = base->gpus != 0 ? emogi_cache_shared->graphs[index].id : 0;
	emogi_cache_unlock();
	return id;
}

/* Get the id of a Graph that a GPU, one of some, must forget, and which; 0 when there is none. emogi_cache_forgotten must follow. */
uint64
emogi_cache_next_to_forget(uint32 gpus, int *gpu)
{
	uint64		id = 0;
	dlist_iter	iter;

	emogi_cache_lock();
	dlist_foreach(iter, &emogi_cache_shared->doomed)
	{
		EmogiCached *cached = dlist_container(EmogiCached, order, iter.cur);

		if ((cached->gpus & gpus) == 0 || cached->pins > 0 || cached->leaving)
			continue;
		cached->leaving = true;
		*gpu = pg_rightmost_one_pos32(cached->gpus & gpus);
		id = cached->id;
		break;
	}
	emogi_cache_unlock();
	return id;
}

/* Note that a GPU has forgotten a Graph, and free it if that was the last. */
void
emogi_cache_forgotten(uint64 id, int gpu)
{
	EmogiCached *cached;
	bool		is_last = false;

	emogi_cache_lock();
	cached = find_id(id);
	if (cached != NULL)
	{
		cached->gpus &= ~(UINT32_C(1) << gpu);
		is_last = cached->gpus == 0;
		cached->leaving = is_last;
	}
	emogi_cache_unlock();
	if (is_last)
		free_graph((int) (cached - emogi_cache_shared->graphs));
}

/* Note that the process whose GPUs knew Graphs, and that made a hierarchy, has ended. */
void
emogi_cache_worker_gone(void)
{
	emogi_cache_lock();
	for (uint32 i = 0; i < emogi_cache_shared->nused; i++)
	{
		EmogiCached *cached = &emogi_cache_shared->graphs[i];

		if (cached->state != EMOGI_GRAPH_FREE && cached->contraction_making)
		{
			cached->contraction_making = cached->contraction_asked = false;
			cached->pins--;
		}
		if (cached->state != EMOGI_GRAPH_FREE && cached->gpus != 0)
		{
			cached->gpus = 0;
			cached->leaving = false;
		}
	}
	emogi_cache_unlock();
	emogi_cache_free_doomed();
}
