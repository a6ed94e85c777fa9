/*
 * cache.c: the entries of Graphs that calls and sessions share: their life, their memory, their eviction.
 *
 * An entry's life: FREE -> BUILDING -> READY -> DOOMED -> FREE, all under EmogiShared.cache_lock. graph.c takes it as
 * far as READY. A DOOMED Graph is found by nobody. Whoever takes away its last pin frees it, unless a GPU may know its
 * memory (on_device): then the engine worker has the GPU forget it first. A builder that fails dooms its entry through
 * its slot.
 */
#include "emogi.h"

#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "storage/shmem.h"

EmogiCache *emogi_cache_shared;

static object_access_hook_type previous_object_access_hook = NULL;

/* What this transaction drops, in TopTransactionContext. */
static List *dropped_relations = NIL;
static List *dropped_databases = NIL;

Size
emogi_cache_shmem_size(void)
{
	return MAXALIGN(sizeof(EmogiCache));
}

/* Set up the cache, empty. Caller holds AddinShmemInitLock. */
void
emogi_cache_shmem_startup(bool found)
{
	bool		found_cache;

	emogi_cache_shared = ShmemInitStruct("emogi cache", emogi_cache_shmem_size(), &found_cache);
	if (found)
		return;
	memset(emogi_cache_shared, 0, emogi_cache_shmem_size());
	emogi_cache_shared->next_id = 1;
	emogi_cache_shared->counters.reset_at = GetCurrentTimestamp();
	ConditionVariableInit(&emogi_cache_shared->changed);
}

/* ---- freeing ---- */

/* Make an entry FREE; its memory is the caller's business. Caller holds cache_lock. */
static void
clear_entry(EmogiCached *cached)
{
	for (int i = 0; i < cached->nleaves; i++)
		emogi_ring_release(cached->leaves[i].table);
	cached->nleaves = 0;
	cached->state = EMOGI_GRAPH_FREE;
	cached->leaving = cached->on_device = false;
	cached->bytes = 0;
}

/* Free a DOOMED Graph that the caller has marked as leaving. Raises nothing. */
static void
free_graph(int index)
{
	emogi_region_free_owner(EMOGI_OWNER_GRAPH(index));
	emogi_cache_lock();
	clear_entry(&emogi_cache_shared->graphs[index]);
	emogi_cache_unlock();
	ConditionVariableBroadcast(&emogi_cache_shared->changed);
}

/* Take a DOOMED Graph away when it may be freed by this process; the caller, who holds cache_lock, then frees it. */
static bool
may_free(EmogiCached *cached)
{
	if (cached->state != EMOGI_GRAPH_DOOMED || cached->pins > 0 || cached->on_device || cached->leaving)
		return false;
	cached->leaving = true;
	return true;
}

/* Wake the worker, to have a Graph forgotten. */
static void
wake_worker(void)
{
	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	if (emogi_shared->worker_latch != NULL)
		SetLatch(emogi_shared->worker_latch);
	LWLockRelease(emogi_shared->lock);
}

/* Free all DOOMED Graphs that are not in use; the worker is told of those that it must free. Raises nothing. */
void
emogi_cache_free_doomed(void)
{
	bool		tell_worker = false;

	for (int i = 0; i < EMOGI_MAX_GRAPHS; i++)
	{
		EmogiCached *cached = &emogi_cache_shared->graphs[i];
		bool		mine;

		if (cached->state != EMOGI_GRAPH_DOOMED)	/* a look without lock: whoever dooms calls this afterwards */
			continue;
		emogi_cache_lock();
		mine = may_free(cached);
		tell_worker |= cached->state == EMOGI_GRAPH_DOOMED && cached->on_device && cached->pins == 0;
		emogi_cache_unlock();
		if (mine)
			free_graph(i);
	}
	if (tell_worker)
		wake_worker();
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
		cached->state = EMOGI_GRAPH_DOOMED;
	doomed = cached->state == EMOGI_GRAPH_DOOMED;
	emogi_cache_unlock();
	if (doomed)
		emogi_cache_free_doomed();
}

/* Find the READY Graph that is not pinned and was not used for longest; or NULL. Caller holds cache_lock. */
static EmogiCached *
least_recently_used(void)
{
	EmogiCached *oldest = NULL;

	for (int i = 0; i < EMOGI_MAX_GRAPHS; i++)
	{
		EmogiCached *cached = &emogi_cache_shared->graphs[i];

		if (cached->state == EMOGI_GRAPH_READY && cached->pins == 0 &&
			(oldest == NULL || cached->last_used < oldest->last_used))
			oldest = cached;
	}
	return oldest;
}

/*
 * Doom the Graph that was not used for longest, to make room; false when all are in use. Caller holds cache_lock, and
 * calls emogi_cache_free_doomed without it.
 */
static bool
doom_oldest(void)
{
	EmogiCached *victim = least_recently_used();

	if (victim == NULL)
		return false;
	victim->state = EMOGI_GRAPH_DOOMED;
	emogi_cache_shared->counters.evictions++;
	return true;
}

/* Is a DOOMED Graph about to be freed by somebody? Caller holds cache_lock. */
static bool
is_one_leaving(void)
{
	for (int i = 0; i < EMOGI_MAX_GRAPHS; i++)
		if (emogi_cache_shared->graphs[i].state == EMOGI_GRAPH_DOOMED && emogi_cache_shared->graphs[i].pins == 0)
			return true;
	return false;
}

/* Wait until every Graph that was evicted, and is not in use, has given its memory back. May be canceled. */
void
emogi_cache_settle(void)
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
		CHECK_FOR_INTERRUPTS();
		ConditionVariableTimedSleep(&emogi_cache_shared->changed, 1000, emogi_wait_engine());
	}
	ConditionVariableCancelSleep();
}

/* Evict one Graph that is not in use, and wait until its memory is free; false when there is none. */
bool
emogi_cache_make_room(void)
{
	bool		leaving;
	bool		doomed;

	emogi_cache_lock();
	leaving = is_one_leaving();
	doomed = !leaving && doom_oldest();
	emogi_cache_unlock();
	if (doomed)
		emogi_cache_free_doomed();
	if (doomed || leaving)
		emogi_cache_settle();
	return doomed || leaving;
}

/* Does a Graph stand on this table? */
static bool
stands_on(const EmogiCached *cached, Oid relid)
{
	if (cached->key.relid == relid)
		return true;
	for (int i = 0; i < cached->nleaves; i++)
		if (emogi_ring_relid(cached->leaves[i].table) == relid)
			return true;
	return false;
}

/*
 * Evict the Graphs of a table, or of a whole database (relid = InvalidOid). Those in use go when they are not. Raises
 * nothing. Returns the bytes of the others.
 */
uint64
emogi_cache_evict(Oid database, Oid relid)
{
	uint64		bytes = 0;

	emogi_cache_lock();
	for (int i = 0; i < EMOGI_MAX_GRAPHS; i++)
	{
		EmogiCached *cached = &emogi_cache_shared->graphs[i];

		if (cached->state == EMOGI_GRAPH_READY && cached->key.database == database &&
			(!OidIsValid(relid) || stands_on(cached, relid)))
		{
			cached->state = EMOGI_GRAPH_DOOMED;
			bytes += cached->pins == 0 ? cached->bytes : 0;
		}
	}
	emogi_cache_unlock();
	emogi_cache_free_doomed();
	emogi_cache_lock();
	emogi_ring_untrack(database, relid);
	emogi_cache_unlock();
	return bytes;
}

/*
 * Get the size of a cached Graph of these columns and any direction, the latest that there is, whatever snapshot it was
 * made for; false when there is none.
 */
bool
emogi_cache_size(const EmogiSource *source, uint64 *nvertices, uint64 *nedges)
{
	const EmogiCached *latest = NULL;

	emogi_cache_lock();
	for (int i = 0; i < EMOGI_MAX_GRAPHS; i++)
	{
		const EmogiCached *cached = &emogi_cache_shared->graphs[i];

		if (cached->state == EMOGI_GRAPH_READY && cached->key.database == MyDatabaseId &&
			cached->key.relid == source->relid && cached->key.src == source->src && cached->key.dst == source->dst &&
			(latest == NULL || cached->id > latest->id))
			latest = cached;
	}
	if (latest != NULL)
	{
		*nvertices = latest->graph.nvertices;
		*nedges = latest->graph.forward.nedges;
	}
	emogi_cache_unlock();
	return latest != NULL;
}

/* Remember a table or a database that this transaction drops. */
static void
on_object_access(ObjectAccessType access, Oid class_id, Oid object_id, int sub_id, void *arg)
{
	MemoryContext old;

	if (previous_object_access_hook)
		previous_object_access_hook(access, class_id, object_id, sub_id, arg);
	if (access != OAT_DROP || sub_id != 0 || (class_id != RelationRelationId && class_id != DatabaseRelationId))
		return;
	old = MemoryContextSwitchTo(TopTransactionContext);
	if (class_id == RelationRelationId)
		dropped_relations = lappend_oid(dropped_relations, object_id);
	else
		dropped_databases = lappend_oid(dropped_databases, object_id);
	MemoryContextSwitchTo(old);
}

/* Evict what belongs to dropped tables and databases: nobody can read them any more, and nobody builds. */
static void
at_end_of_transaction(XactEvent event, void *arg)
{
	ListCell   *cell;

	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_PREPARE && event != XACT_EVENT_ABORT)
		return;
	if (event != XACT_EVENT_ABORT && emogi_cache_shared != NULL)
	{
		foreach(cell, dropped_relations)
			(void) emogi_cache_evict(MyDatabaseId, lfirst_oid(cell));
		foreach(cell, dropped_databases)
			(void) emogi_cache_evict(lfirst_oid(cell), InvalidOid);
	}
	dropped_relations = dropped_databases = NIL;
}

/* Watch what is dropped; called once, in the postmaster. */
void
emogi_cache_init(void)
{
	previous_object_access_hook = object_access_hook;
	object_access_hook = on_object_access;
	RegisterXactCallback(at_end_of_transaction, NULL);
}

/* ---- the worker's side ---- */

/* Find a Graph by its id; NULL when it is gone. Caller holds cache_lock. */
static EmogiCached *
find_id(uint64 id)
{
	for (int i = 0; i < EMOGI_MAX_GRAPHS; i++)
		if (emogi_cache_shared->graphs[i].state != EMOGI_GRAPH_FREE && emogi_cache_shared->graphs[i].id == id)
			return &emogi_cache_shared->graphs[i];
	return NULL;
}

/* Note that a GPU is about to know a Graph's memory. */
void
emogi_cache_use_on_device(uint64 id)
{
	EmogiCached *cached;

	emogi_cache_lock();
	cached = find_id(id);
	if (cached != NULL)
		cached->on_device = true;
	emogi_cache_unlock();
}

/* Get the id of a Graph that the GPU must forget, 0 when there is none. emogi_cache_forgotten must follow. */
uint64
emogi_cache_next_to_forget(void)
{
	uint64		id = 0;

	emogi_cache_lock();
	for (int i = 0; i < EMOGI_MAX_GRAPHS && id == 0; i++)
	{
		EmogiCached *cached = &emogi_cache_shared->graphs[i];

		if (cached->state == EMOGI_GRAPH_DOOMED && cached->on_device && cached->pins == 0 && !cached->leaving)
		{
			cached->leaving = true;
			id = cached->id;
		}
	}
	emogi_cache_unlock();
	return id;
}

/* Free a Graph that the GPU has forgotten. */
void
emogi_cache_forgotten(uint64 id)
{
	EmogiCached *cached;

	emogi_cache_lock();
	cached = find_id(id);
	emogi_cache_unlock();
	if (cached != NULL)
		free_graph((int) (cached - emogi_cache_shared->graphs));
}

/* Note that the process whose GPU knew Graphs has ended. */
void
emogi_cache_worker_gone(void)
{
	emogi_cache_lock();
	for (int i = 0; i < EMOGI_MAX_GRAPHS; i++)
	{
		EmogiCached *cached = &emogi_cache_shared->graphs[i];

		if (cached->on_device)
			cached->on_device = cached->leaving = false;
	}
	emogi_cache_unlock();
	emogi_cache_free_doomed();
}
