/*
 * cache_columns.c: the property columns of cached graphs (columns.h)
 *
 * They belong to the entry of their graph, are counted in its bytes and freed with it, or alone, if
 * memory is short and no call reads them. A slot that reads them has the graph pinned. If it gets
 * others meanwhile, or loses them, the last reader frees them.
 *
 * One slot at a time loads columns of a graph. Others do without, instead of waiting for it: the
 * deadlock detector would not see that. If it fails, its slot ends the load
 * (emogi_cache_columns_release), and another may begin.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "base/arena.h"
#include "cache/columns.h"

/* Get the bytes that columns occupy in the arena. */
static uint64
occupied_bytes(Size bytes)
{
	return bytes <= EMOGI_SMALL_BYTES ? emogi_small_allocations_bytes(bytes) :
		TYPEALIGN(EMOGI_EXTENT_BYTES, bytes);
}

/* Free the memory of columns; NULL = none. */
static void
free_memory(EmogiColumns *columns)
{
	if (columns == NULL)
		return;
	if (columns->bytes <= EMOGI_SMALL_BYTES)
		emogi_small_allocations_free(columns, columns->bytes);
	else
		emogi_arena_free(columns, columns->bytes);
}

/*
 * Detach the columns of an entry; return them if the caller, who holds cache_lock, must free them
 * afterwards.
 */
static EmogiColumns *
detach(EmogiCached *cached)
{
	EmogiColumns *columns = cached->columns;

	if (columns == NULL)
		return NULL;
	cached->columns = NULL;
	cached->bytes -= cached->columns_bytes;
	emogi_cache_count_bytes(columns->role, -(int64) cached->columns_bytes);
	cached->columns_bytes = 0;
	columns->is_detached = true;
	return columns->readers == 0 ? columns : NULL;
}

/* Get the bytes of a graph's columns. */
uint64
emogi_cache_columns_bytes(const EmogiCached *cached)
{
	return cached->columns_bytes;
}

/*
 * Look for columns of the graph that a slot has pinned, and have the slot read those that there
 * are, until emogi_cache_columns_release. loads: unless they fit, the slot begins to load others,
 * which must be followed by emogi_cache_columns_set or the end of the slot.
 */
EmogiColumnsOutcome
emogi_cache_columns_begin(EmogiSlot *slot, bool loads, EmogiColumnsFit fits, const void *arg)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[slot->graph];
	EmogiColumnsOutcome outcome;

	Assert(slot->columns == NULL);
	emogi_cache_lock();
	if (cached->columns != NULL && fits(cached->columns, arg))
		outcome = EMOGI_COLUMNS_FOUND;
	else
		outcome = loads && cached->columns_loader >= 0 ? EMOGI_COLUMNS_BUSY : EMOGI_COLUMNS_LOAD;
	if (outcome != EMOGI_COLUMNS_BUSY && cached->columns != NULL)
	{
		slot->columns = cached->columns;
		slot->columns->readers++;
		slot->columns->last_used = GetCurrentTimestamp();
		slot->columns->nuses += outcome == EMOGI_COLUMNS_FOUND;
	}
	if (outcome == EMOGI_COLUMNS_LOAD && loads)
	{
		cached->columns_loader = (int) (slot - emogi_shared->slots);
		slot->loads_columns = true;
	}
	emogi_cache_unlock();
	return outcome;
}

/* Move a pointer into a block that has been copied. */
#define MOVE(pointer, type, distance) \
	((pointer) = (pointer) != NULL ? (type) ((const char *) (pointer) + (distance)) : NULL)

/* Move the pointers of columns in one orientation. */
static void
move_properties(EmogiProperties *properties, ptrdiff_t distance)
{
	EmogiProperty *columns;

	MOVE(properties->columns, const EmogiProperty *, distance);
	columns = (EmogiProperty *) properties->columns;
	for (uint32 i = 0; i < properties->ncolumns; i++)
	{
		MOVE(columns[i].values, const void *, distance);
		MOVE(columns[i].nulls, const uint64_t *, distance);
	}
}

/* Correct the pointers of a copy of columns. */
static void
move_columns(EmogiColumns *copy, ptrdiff_t distance)
{
	EmogiColumn *columns;

	MOVE(copy->xids.running, uint64 *, distance);
	MOVE(copy->relids, const Oid *, distance);
	MOVE(copy->relfilenumbers, const Oid *, distance);
	move_properties(&copy->forward, distance);
	move_properties(&copy->backward, distance);
	MOVE(copy->columns, const EmogiColumn *, distance);
	MOVE(copy->in_offsets, const uint64_t *, distance);
	MOVE(copy->in_entries, const uint32_t *, distance);
	columns = (EmogiColumn *) copy->columns;
	for (uint32 i = 0; i < copy->forward.ncolumns; i++)
	{
		MOVE(columns[i].places, const uint32 *, distance);
		MOVE(columns[i].bytes, const char *, distance);
		MOVE(columns[i].hashes, const uint64 *, distance);
		MOVE(columns[i].order, uint32 *, distance);
	}
}

/*
 * End reading columns by a slot; return them if the caller, who holds cache_lock, must free them.
 */
static EmogiColumns *
end_reading(EmogiSlot *slot)
{
	EmogiColumns *columns = slot->columns;

	slot->columns = NULL;
	return columns != NULL && --columns->readers == 0 && columns->is_detached ? columns : NULL;
}

/* End loading columns by a slot, if it does. Caller holds cache_lock. */
static void
end_loading(EmogiSlot *slot)
{
	if (slot->loads_columns)
		emogi_cache_shared->graphs[slot->graph].columns_loader = -1;
	slot->loads_columns = false;
}

/*
 * Make columns that a slot has loaded, in its memory, those of its graph, and have the slot read
 * them instead of others.
 */
void
emogi_cache_columns_set(EmogiSlot *slot, EmogiColumns *columns)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[slot->graph];
	const Size	bytes = columns->bytes;
	EmogiColumns *stored = columns;
	EmogiColumns *replaced;
	EmogiColumns *read;

	if (bytes <= EMOGI_SMALL_BYTES)
	{
		stored = emogi_small_allocations_pack(columns, bytes, false);
		move_columns(stored, (char *) stored - (char *) columns);
	}
	else
		(void) emogi_arena_transfer(columns, bytes, EMOGI_OWNER_GRAPH(slot->graph));
	stored->readers = 1;
	stored->nuses = 0;
	stored->is_detached = false;
	stored->last_used = GetCurrentTimestamp();
	emogi_cache_lock();
	replaced = detach(cached);
	read = end_reading(slot);
	cached->columns = slot->columns = stored;
	cached->columns_bytes = occupied_bytes(bytes);
	cached->bytes += cached->columns_bytes;
	emogi_cache_count_bytes(stored->role, (int64) cached->columns_bytes);
	end_loading(slot);
	emogi_cache_unlock();
	free_memory(replaced);
	free_memory(read);
	ConditionVariableBroadcast(&emogi_cache_shared->changed);
}

/* End reading and loading columns by a slot. Raises nothing; also called in the worker. */
void
emogi_cache_columns_release(EmogiSlot *slot)
{
	const bool	loads = slot->loads_columns;
	EmogiColumns *columns;

	if (slot->columns == NULL && !loads)
		return;
	emogi_cache_lock();
	end_loading(slot);
	columns = end_reading(slot);
	emogi_cache_unlock();
	free_memory(columns);
	if (loads)
		ConditionVariableBroadcast(&emogi_cache_shared->changed);
}

/* Free the columns of an entry that has no pins any more. Raises nothing. */
void
emogi_cache_columns_free(int index)
{
	EmogiColumns *columns;

	emogi_cache_lock();
	columns = detach(&emogi_cache_shared->graphs[index]);
	emogi_cache_unlock();
	free_memory(columns);
}

/* ---- eviction ---- */

/*
 * Find the graph with the least recently used columns that no slot reads, of those that a role has
 * loaded (InvalidOid = all); NULL if there are none. Caller holds cache_lock.
 */
static EmogiCached *
find_unread(Oid role)
{
	EmogiCached *found = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, &emogi_cache_shared->used)
	{
		EmogiCached *cached = dlist_container(EmogiCached, order, iter.cur);
		const EmogiColumns *columns = cached->columns;

		if (columns != NULL && columns->readers == 0 &&
			(!OidIsValid(role) || columns->role == role) &&
			(found == NULL || columns->last_used < found->columns->last_used))
			found = cached;
	}
	return found;
}

/*
 * Detach columns that no slot reads from a graph, or, if it is NULL, the least recently used ones
 * of those that a role has loaded. Return them, for emogi_cache_columns_free_detached after the
 * caller has released cache_lock; NULL = there are none.
 */
EmogiColumns *
emogi_cache_columns_detach(EmogiCached *cached, Oid role)
{
	if (cached == NULL)
		cached = find_unread(role);
	if (cached == NULL || cached->columns == NULL || cached->columns->readers > 0)
		return NULL;
	return detach(cached);
}

/* Free detached columns; NULL = none. */
void
emogi_cache_columns_free_detached(EmogiColumns *columns)
{
	free_memory(columns);
}

/* Free the least recently used columns to make room; return false if all are read. */
bool
emogi_cache_columns_drop(void)
{
	EmogiColumns *columns;

	emogi_cache_lock();
	columns = emogi_cache_columns_detach(NULL, InvalidOid);
	emogi_cache_unlock();
	free_memory(columns);
	return columns != NULL;
}
