/*
 * dictionaries.c: the dictionaries of graphs whose keys are not integers
 *
 * The users of a dictionary are the slot of the call that builds it, or whose own graph has its
 * codes, held results, cached graphs, and change trackers. The last user frees it. Everything
 * except its content is protected by cache_lock; its users may read the content, and only the
 * holder of the change tracker may add to it.
 */
#include "postgres.h"


#include "cache/cache.h"
#include "base/arena.h"
#include "contract/pool.h"

typedef struct SharedDictionary
{
	uint32		users;			/* 0 = free */
	bool		packed;			/* its memory is a small allocation; otherwise whole extents */
	bool		shared;			/* the extents belong to the dictionary; otherwise to the call that
								 * has built it, and count as its memory */
	EmogiKeyType type;
	EmogiDictionary *dictionary;	/* NULL = not built yet */
	void	   *memory;
	Size		bytes;
	void	   *room;			/* for later keys; NULL = none yet */
	Size		room_bytes;
	bool		room_packed;	/* the room is a small allocation */
} SharedDictionary;

static SharedDictionary *dictionaries;	/* [EMOGI_MAX_DICTIONARIES] */

Size
emogi_dictionaries_shmem_size(void)
{
	return mul_size(EMOGI_MAX_DICTIONARIES, sizeof(SharedDictionary));
}

/* Attach to the dictionaries, and initialize them if they do not exist. */
void
emogi_dictionaries_shmem_startup(void)
{
	bool		found;

	dictionaries = emogi_shared_struct("emogi dictionaries", emogi_dictionaries_shmem_size(),
									   &found);
	if (!found)
		memset(dictionaries, 0, emogi_dictionaries_shmem_size());
}

/* Allocate an entry; -1 if there is none. */
static int
allocate_entry(const EmogiKeyType *type)
{
	int			index;

	emogi_cache_lock();
	for (index = 0; index < EMOGI_MAX_DICTIONARIES && dictionaries[index].users > 0; index++)
		;
	if (index < EMOGI_MAX_DICTIONARIES)
		dictionaries[index] = (SharedDictionary) {.users = 1,.type = *type};
	emogi_cache_unlock();
	return index < EMOGI_MAX_DICTIONARIES ? index : -1;
}

/* Allocate memory for a slot's dictionary; *packed: a small allocation. Raises 53200. */
static void *
allocate(const EmogiSlot *slot, Size bytes, bool *packed)
{
	void	   *memory = bytes <= EMOGI_SMALL_BYTES ? emogi_small_allocations_alloc(bytes) : NULL;

	*packed = memory != NULL;
	return memory != NULL ? memory :
		emogi_arena_alloc_any(EMOGI_OWNER(slot - emogi_shared->slots), bytes);
}

/*
 * Start to build a slot's dictionary; return false if there are too many. emogi_dictionaries_alloc
 * must follow.
 */
bool
emogi_dictionaries_begin(EmogiSlot *slot, const EmogiKeyType *type)
{
	int			index = allocate_entry(type);

	if (index < 0)
		return false;
	emogi_dictionaries_attach(slot, -1);
	slot->dictionary = index;
	return true;
}

/* Allocate memory for a slot's dictionary, with undefined content, not populated. Raises 53200. */
void *
emogi_dictionaries_alloc(EmogiSlot *slot, Size bytes)
{
	SharedDictionary *entry = &dictionaries[slot->dictionary];

	entry->memory = allocate(slot, bytes, &entry->packed);
	entry->bytes = bytes;
	return entry->memory;
}

/* Record that a slot's dictionary is complete. */
void
emogi_dictionaries_finish(EmogiSlot *slot, EmogiDictionary *dictionary)
{
	dictionaries[slot->dictionary].dictionary = dictionary;
}

/*
 * Let a dictionary outlive the call that has built it and owns it; index = -1: none. Raises
 * nothing.
 */
void
emogi_dictionaries_share(int index)
{
	SharedDictionary *entry = &dictionaries[index];

	if (index < 0 || entry->shared)
		return;
	if (!entry->packed)
		(void) emogi_arena_transfer(entry->memory, entry->bytes, EMOGI_OWNER_DICTIONARY(index));
	entry->shared = true;
}

/*
 * Allocate room for later keys of a dictionary that has none; return false if there is no memory.
 * Only called by a process that may add keys.
 */
bool
emogi_dictionaries_allocate_room(int index)
{
	SharedDictionary *entry = &dictionaries[index];
	Size		bytes = emogi_dictionary_room_bytes(entry->dictionary);
	void	   *room = bytes <= EMOGI_SMALL_BYTES ? emogi_small_allocations_alloc(bytes) : NULL;
	const bool	packed = room != NULL;

	if (!packed)
	{
		room = emogi_arena_try_alloc(EMOGI_OWNER_DICTIONARY(index), bytes);
		if (room == NULL || !emogi_pool_populate(room, bytes))
			return false;
	}
	emogi_cache_lock();
	entry->room = room;
	entry->room_bytes = bytes;
	entry->room_packed = packed;
	emogi_cache_unlock();
	emogi_dictionary_set_room(entry->dictionary, room, bytes);
	return true;
}

/* Add a user; index = -1: no dictionary. Return the index. Caller holds cache_lock. */
int
emogi_dictionaries_use(int index)
{
	if (index >= 0)
		dictionaries[index].users++;
	return index;
}

/* Remove a user, and free the dictionary after the last; index = -1: none. Raises nothing. */
void
emogi_dictionaries_release(int index)
{
	SharedDictionary *entry = &dictionaries[index];
	bool		last;

	if (index < 0)
		return;
	emogi_cache_lock();
	last = entry->users == 1;
	if (!last)
		entry->users--;
	emogi_cache_unlock();
	if (!last)
		return;
	if (entry->packed)
		emogi_small_allocations_free(entry->memory, entry->bytes);
	else if (!entry->shared && entry->memory != NULL)
		emogi_arena_free(entry->memory, entry->bytes);
	if (entry->room_packed)
		emogi_small_allocations_free(entry->room, entry->room_bytes);
	emogi_arena_free_owner(EMOGI_OWNER_DICTIONARY(index));
	emogi_cache_lock();
	entry->users = 0;
	emogi_cache_unlock();
}

/*
 * Set the dictionary of a slot's edges and its own graph, -1 = none. The previous one is kept until
 * the end of the call, but only one: it may belong to another graph of the call. Raises nothing.
 */
void
emogi_dictionaries_attach(EmogiSlot *slot, int index)
{
	emogi_dictionaries_release(slot->old_dictionary);
	slot->old_dictionary = slot->dictionary;
	emogi_cache_lock();
	slot->dictionary = emogi_dictionaries_use(index);
	emogi_cache_unlock();
}

/* Get a dictionary; NULL for index = -1. The caller is one of its users, or has one pinned. */
EmogiDictionary *
emogi_dictionaries_get(int index)
{
	return index >= 0 ? dictionaries[index].dictionary : NULL;
}

/* Get the type of a dictionary's keys. */
const EmogiKeyType *
emogi_dictionaries_type(int index)
{
	return &dictionaries[index].type;
}

/* Get the bytes of a dictionary as it was built; 0 for index = -1. Caller holds cache_lock. */
uint64
emogi_dictionaries_built_bytes(int index)
{
	const SharedDictionary *entry = &dictionaries[index];

	if (index < 0)
		return 0;
	return entry->packed ? emogi_small_allocations_bytes(entry->bytes) :
		TYPEALIGN64(EMOGI_EXTENT_BYTES, entry->bytes);
}

/* Get the bytes of a dictionary with its room for later keys. */
uint64
emogi_dictionaries_bytes(int index)
{
	const SharedDictionary *entry = &dictionaries[index];

	if (index < 0)
		return 0;
	return emogi_dictionaries_built_bytes(index) +
		(entry->room_packed ? emogi_small_allocations_bytes(entry->room_bytes) :
		 TYPEALIGN64(EMOGI_EXTENT_BYTES, entry->room_bytes));
}

/* Get the bytes of all dictionaries. Caller holds cache_lock. */
uint64
emogi_dictionaries_total_bytes(void)
{
	uint64		bytes = 0;

	for (int i = 0; i < EMOGI_MAX_DICTIONARIES; i++)
		if (dictionaries[i].users > 0)
			bytes += emogi_dictionaries_bytes(i);
	return bytes;
}
