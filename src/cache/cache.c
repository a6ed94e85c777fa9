/*
 * cache.c: the entries of the shared graph cache: their life cycle and memory.
 *
 * Life cycle of an entry: FREE -> BUILDING -> READY -> DOOMED -> FREE, all under
 * EmogiShared.cache_lock. cache_lookup.c takes it to READY. A DOOMED graph is not found by lookups.
 * The process that releases its last pin frees it, unless a GPU may know its memory (gpus): then
 * the engine worker has the GPUs forget it first. A builder that fails dooms its entry through its
 * slot.
 *
 * Entries are looked up by table, in hash buckets, and are in one of three lists: the FREE entries;
 * the BUILDING and READY entries in the order of their last use, which cache_evict.c follows; the
 * DOOMED entries. So no frequent operation scans all entries.
 *
 * A small graph is moved to a small allocation in the arena (arena.c) when it is published;
 * thousands of them would otherwise take an extent each. The leaves of an entry with many of them
 * are in a small allocation, too.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"

#include "cache/cache.h"
#include "cache/change_tracker.h"
#include "base/fault.h"
#include "base/limits.h"
#include "base/arena.h"

EmogiCache *emogi_cache_shared;
dlist_head *emogi_cache_buckets;

static Size
entries_bytes(void)
{
	return add_size(offsetof(EmogiCache, graphs),
					mul_size(emogi_cache_max_graphs(), sizeof(EmogiCached)));
}

Size
emogi_cache_shmem_size(void)
{
	return add_size(MAXALIGN(entries_bytes()),
					MAXALIGN(mul_size(emogi_cache_max_graphs(), sizeof(dlist_head))));
}

/* Set up the cache, empty. Caller holds AddinShmemInitLock. */
void
emogi_cache_shmem_startup(bool found)
{
	bool		found_cache;

	emogi_cache_shared = emogi_shared_struct("emogi cache", entries_bytes(), &found_cache);
	emogi_cache_buckets = emogi_shared_struct("emogi cache buckets",
											  emogi_cache_max_graphs() * sizeof(dlist_head),
											  &found_cache);
	if (found)
		return;
	/* an entry is set up when it is first used */
	memset(emogi_cache_shared, 0, offsetof(EmogiCache, graphs));
	emogi_cache_shared->next_id = 1;
	emogi_cache_shared->counters.reset_at = GetCurrentTimestamp();
	ConditionVariableInit(&emogi_cache_shared->changed);
	pg_atomic_init_u32(&emogi_cache_shared->ndoomed, 0);
	dlist_init(&emogi_cache_shared->free);
	dlist_init(&emogi_cache_shared->used);
	dlist_init(&emogi_cache_shared->doomed);
	for (uint32 i = 0; i < emogi_cache_max_graphs(); i++)
		dlist_init(&emogi_cache_buckets[i]);
}

/* ---- entries; caller holds cache_lock ---- */

/* Take a FREE entry; NULL if there is none. */
static EmogiCached *
pop_entry(void)
{
	EmogiCache *cache = emogi_cache_shared;

	if (!dlist_is_empty(&cache->free))
		return dlist_container(EmogiCached, order, dlist_pop_head_node(&cache->free));
	return cache->nused < emogi_cache_max_graphs() ? &cache->graphs[cache->nused++] : NULL;
}

/* Return an entry that is in no list to the free list. */
static void
push_entry(EmogiCached *cached)
{
	cached->state = EMOGI_GRAPH_FREE;
	dlist_push_head(&emogi_cache_shared->free, &cached->order);
}

/*
 * Allocate room for leaves, running transactions and text, in the entry or in the arena; return
 * false if there is none.
 */
static bool
alloc_arrays(EmogiCached *cached, int nleaves, uint32 nrunning, Size text_bytes)
{
	cached->leaves = cached->inline_leaves;
	cached->xids.running = cached->inline_running;
	if (nleaves <= EMOGI_INLINE_LEAVES && nrunning <= EMOGI_INLINE_RUNNING && text_bytes == 0)
		return true;
	nrunning = Max(nrunning, EMOGI_INLINE_RUNNING);
	cached->overflow_bytes = nrunning * sizeof(uint64) + nleaves * sizeof(EmogiLeaf) + text_bytes;
	cached->overflow = emogi_small_allocations_alloc(cached->overflow_bytes);
	if (cached->overflow == NULL)
		return false;
	cached->bytes = emogi_small_allocations_bytes(cached->overflow_bytes);
	cached->xids.running = cached->overflow;
	cached->leaves = (EmogiLeaf *) (cached->xids.running + nrunning);
	if (text_bytes > 0)
		cached->text = (char *) (cached->leaves + nleaves);
	return true;
}

/*
 * Make an entry for a graph that will be built, with one pin and room for its leaves; return NULL
 * if there is no room. text: of a query, otherwise NULL.
 */
EmogiCached *
emogi_cache_add(const EmogiGraphKey *key, const EmogiTransactionSnapshot *xids, int nleaves,
				const char *text)
{
	const Size	text_bytes = text != NULL ? Min(strlen(text), EMOGI_MAX_TEXT) + 1 : 0;
	EmogiCached *cached = pop_entry();
	uint64	   *running;

	if (cached == NULL)
		return NULL;
	memset(cached, 0, sizeof *cached);
	if (!alloc_arrays(cached, nleaves, xids->nrunning, text_bytes))
	{
		push_entry(cached);
		return NULL;
	}
	running = cached->xids.running;
	cached->running_room = Max(xids->nrunning, EMOGI_INLINE_RUNNING);
	cached->by_writers = true;
	memcpy(running, xids->running, xids->nrunning * sizeof(uint64));
	cached->xids = *xids;
	cached->xids.running = running;
	cached->id = emogi_cache_shared->next_id++ * EMOGI_MAX_GRAPHS +
		(cached - emogi_cache_shared->graphs);
	cached->key = *key;
	cached->dictionary = cached->columns_loader = -1;
	if (text != NULL)
		strlcpy(cached->text, text, text_bytes);
	cached->builder = GetUserId();
	cached->pins = 1;
	cached->staleness_ms = emogi_max_staleness_ms;
	cached->built_at = cached->last_used = GetCurrentTimestamp();
	cached->state = EMOGI_GRAPH_BUILDING;
	dlist_push_tail(emogi_cache_bucket(key), &cached->chain);
	dlist_push_tail(&emogi_cache_shared->used, &cached->order);
	return cached;
}

/*
 * Hide a BUILDING or READY graph from lookups, to be freed. The caller calls
 * emogi_cache_free_doomed after releasing the lock.
 */
void
emogi_cache_doom(EmogiCached *cached)
{
	emogi_cache_unkeep(cached);
	emogi_cache_remove_from_totals(cached);
	cached->state = EMOGI_GRAPH_DOOMED;
	dlist_delete(&cached->order);
	dlist_push_tail(&emogi_cache_shared->doomed, &cached->order);
	pg_atomic_fetch_add_u32(&emogi_cache_shared->ndoomed, 1);
}

/* ---- freeing ---- */

/*
 * Transfer the memory of a graph and its dictionary from the builder to the entry; a small graph is
 * packed, and so moved.
 */
void
emogi_cache_transfer_graph(int index, EmogiGraph *built, int dictionary, bool is_read)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	uint64		bytes = built->memory_bytes;
	bool		packed = built->memory != NULL && built->memory_bytes <= EMOGI_SMALL_BYTES;

	if (packed)
	{
		bytes = emogi_small_allocations_bytes(built->memory_bytes);
		emogi_graph_relocate(built,
							 emogi_small_allocations_pack((void *) built->memory,
														  built->memory_bytes, is_read));
	}
	else if (built->memory != NULL)
		bytes = emogi_arena_transfer((void *) built->memory, built->memory_bytes,
									 EMOGI_OWNER_GRAPH(index));
	emogi_dictionaries_share(dictionary);
	emogi_cache_lock();
	cached->graph = *built;
	cached->graph.id = cached->id;
	cached->dictionary = emogi_dictionaries_use(dictionary);
	cached->packed = packed;
	cached->bytes += bytes;
	emogi_cache_add_to_totals(cached);
	emogi_cache_unlock();
}

/* Release an entry's references to the rings. Caller holds cache_lock. */
static void
release_leaves(EmogiCached *cached)
{
	for (int i = 0; i < cached->nleaves; i++)
		emogi_tables_release(cached->leaves[i].table);
	cached->nleaves = 0;
}

/*
 * Detach leaves, running transactions and text from an entry, which others may read; return their
 * allocation. Caller holds cache_lock.
 */
static void *
detach_overflow(EmogiCached *cached)
{
	void	   *overflow = cached->overflow;

	release_leaves(cached);
	cached->leaves = cached->inline_leaves;
	cached->xids.running = cached->inline_running;
	cached->xids.nrunning = 0;
	cached->text = NULL;
	cached->overflow = NULL;
	return overflow;
}

/* Free a DOOMED graph that the caller has marked as leaving. Raises nothing. */
void
emogi_cache_free(int index)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	void	   *overflow;
	int			dictionary;

	emogi_cache_lock();
	overflow = detach_overflow(cached);
	dictionary = cached->dictionary;
	cached->dictionary = -1;
	cached->gpus = 0;
	emogi_cache_unlock();
	emogi_cache_labels_free(index);
	emogi_cache_contraction_free(index);
	emogi_cache_columns_free(index);
	emogi_dictionaries_release(dictionary);
	if (cached->packed)
		emogi_small_allocations_free((void *) cached->graph.memory, cached->graph.memory_bytes);
	else if (cached->graph.memory != NULL)
		emogi_arena_free_owner(EMOGI_OWNER_GRAPH(index));
	if (overflow != NULL)
		emogi_small_allocations_free(overflow, cached->overflow_bytes);
	emogi_fault_sleep(EMOGI_FAULT_AT_GRAPH_FREED);
	emogi_cache_lock();
	dlist_delete(&cached->chain);
	dlist_delete(&cached->order);
	pg_atomic_fetch_sub_u32(&emogi_cache_shared->ndoomed, 1);
	push_entry(cached);
	emogi_cache_unlock();
	ConditionVariableBroadcast(&emogi_cache_shared->changed);
}

/*
 * Claim a DOOMED graph if this process may free it; the caller, who holds cache_lock, then does so.
 */
static bool
may_free(EmogiCached *cached)
{
	if (cached->state != EMOGI_GRAPH_DOOMED || cached->pins > 0 || cached->gpus != 0 ||
		cached->leaving)
		return false;
	cached->leaving = true;
	return true;
}

/*
 * Claim a DOOMED graph that this process may free; return -1 if there is none. Sets *tell_worker if
 * the worker must free some.
 */
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

/*
 * Free all DOOMED graphs that are not in use; wake the worker for those that it must free. Raises
 * nothing.
 */
void
emogi_cache_free_doomed(void)
{
	bool		tell_worker = false;
	int			index;

	/* read without lock: a process that dooms a graph calls this afterwards */
	while (pg_atomic_read_u32(&emogi_cache_shared->ndoomed) > 0 &&
		   (index = next_to_free(&tell_worker)) >= 0)
		emogi_cache_free(index);
	if (tell_worker)
		emogi_shared_wake_worker();
}

/*
 * Release a pin, and doom the entry if its graph was never finished. Raises nothing; also called in
 * the worker.
 */
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

/*
 * Get the size of a cached graph that the caller has pinned, without labels, contraction hierarchy
 * and columns, which can be dropped while it is pinned.
 */
static uint64
graph_bytes(int index)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[index];

	return cached->bytes - cached->labels_bytes - emogi_cache_contraction_bytes(cached) -
		emogi_cache_columns_bytes(cached) + emogi_dictionaries_bytes(cached->dictionary);
}

/*
 * Register callbacks for the sizes of graphs and of those exempt from eviction; called once, in the
 * postmaster.
 */
void
emogi_cache_init(void)
{
	emogi_limits_set_size_callback(graph_bytes);
	emogi_arena_set_kept_callback(emogi_cache_kept_bytes);
}
