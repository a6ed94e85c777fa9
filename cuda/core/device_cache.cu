/*
 * device_cache.cu: the table of graphs and copies that the device cache keeps between runs.
 * device_cache.cuh describes ownership and lifetimes.
 */
#include "cuda/core/device.cuh"
#include "cuda/core/host_registration.cuh"

/* Free copy number i and move the last copy into its place. */
static void
drop_copy(EmogiEngineState *state, int i)
{
	DeviceCache *residents = &state->residents;

	emogi_memory_free(state, residents->copy[i].memory, residents->copy[i].bytes);
	residents->copy[i] = residents->copy[--residents->ncopies];
}

/* Unregister a block, if it is registered. */
static void
unregister(DeviceCacheEntry *resident)
{
	if (!resident->registered)
		return;
	emogi_host_registration_release(resident->block);
	resident->registered = false;
}

/* Drop a DeviceCacheEntry with everything that it owns. */
static void
drop_entry(EmogiEngineState *state, DeviceCacheEntry *resident)
{
	for (int i = state->residents.ncopies - 1; i >= 0; i--)
		if (state->residents.copy[i].id == resident->id)
			drop_copy(state, i);
	unregister(resident);
	*resident = DeviceCacheEntry{};
}

/*
 * Find the DeviceCacheEntry of a graph, or the one to replace: a free one, or the least recently
 * used.
 */
static DeviceCacheEntry *
find_entry(DeviceCache *residents, uint64_t id)
{
	DeviceCacheEntry *found = &residents->resident[0];

	for (int i = 0; i < EMOGI_MAX_CACHED_GRAPHS; i++)
	{
		DeviceCacheEntry *resident = &residents->resident[i];

		if (resident->id == id)
			return resident;
		if (resident->last_run < found->last_run)
			found = resident;
	}
	return found;
}

void
emogi_device_cache_open(EmogiEngineState *state)
{
	state->idle_bytes = emogi_device_cache_idle_bytes;
	state->evict = emogi_device_cache_evict;
}

EmogiStatus
emogi_device_cache_begin(EmogiEngineState *state, const EmogiGraph *graph, EmogiError *error)
{
	DeviceCache *residents = &state->residents;
	DeviceCacheEntry *own;

	residents->run++;
	residents->own = NULL;
	if (graph->id == 0)
		return EMOGI_OK;
	own = find_entry(residents, graph->id);
	if (own->id != graph->id)
	{
		drop_entry(state, own);
		own->id = graph->id;
		own->block = graph->memory;
		own->block_bytes = graph->memory_bytes;
	}
	else if (own->block != graph->memory || own->block_bytes != graph->memory_bytes)
		return emogi_device_fail(error, EMOGI_BAD_INPUT, "the graph's id belongs to another graph",
								 "id %llu: block %p of %llu bytes, now %p of %llu",
								 (unsigned long long) graph->id, own->block,
								 (unsigned long long) own->block_bytes, graph->memory,
								 (unsigned long long) graph->memory_bytes);
	own->last_run = residents->run;
	own->nruns++;
	own->unread = 0;
	residents->own = own;
	return EMOGI_OK;
}

EmogiStatus
emogi_device_cache_begin_derived(EmogiEngineState *state, uint64_t old_id, const EmogiGraph *graph,
								 EmogiError *error)
{
	DeviceCache *residents = &state->residents;
	DeviceCacheEntry *old = find_entry(residents, old_id);
	int			unread;

	if (old_id == 0 || old->id != old_id || graph->id == 0 || graph->id == old_id ||
		old->unread == EMOGI_MAX_UNREAD)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED,
								 "the old graph is not cached on the GPU, or was not used recently",
								 "id %llu", (unsigned long long) old_id);
	unread = old->unread + 1;
	old->last_run = residents->run + 1;	/* protect it from eviction */
	TRY(emogi_device_cache_begin(state, graph, error));
	residents->own->nruns = 0;
	residents->own->unread = unread;
	return EMOGI_OK;
}

bool
emogi_device_cache_is_first(const EmogiEngineState *state)
{
	return state->residents.own != NULL && state->residents.own->nruns <= 1;
}

/* Find a copy of a graph for which fits() is true and mark it as in use; NULL if there is none. */
template <class Fits>
static const DeviceCacheCopy *
use_copy(DeviceCache *residents, uint64_t graph_id, const void *array, EmogiCopyKind kind,
		 Fits fits)
{
	for (int i = 0; graph_id != 0 && i < residents->ncopies; i++)
	{
		DeviceCacheCopy *copy = &residents->copy[i];

		if (copy->id == graph_id && copy->array == array && copy->kind == kind && fits(copy))
		{
			copy->last_run = residents->run;
			return copy;
		}
	}
	return NULL;
}

/* Return the id of the own graph; 0 if it has none. */
static uint64_t
own_id(const DeviceCache *residents)
{
	return residents->own != NULL ? residents->own->id : 0;
}

const void *
emogi_device_cache_use_other(EmogiEngineState *state, uint64_t graph_id, const void *array,
							 uint64_t bytes)
{
	const DeviceCacheCopy *copy = use_copy(&state->residents, graph_id, array, EMOGI_COPY_WHOLE,
										   [&](const DeviceCacheCopy *one) {
		return one->bytes == bytes;
	});

	return copy != NULL ? copy->memory : NULL;
}

const void *
emogi_device_cache_use(EmogiEngineState *state, const void *array, uint64_t bytes)
{
	return emogi_device_cache_use_other(state, own_id(&state->residents), array, bytes);
}

const void *
emogi_device_cache_use_derived(EmogiEngineState *state, const void *array, EmogiCopyKind kind,
							uint64_t min_length, uint64_t max_length, uint64_t *length)
{
	const DeviceCacheCopy *copy = use_copy(&state->residents, own_id(&state->residents), array,
										   kind, [&](const DeviceCacheCopy *one) {
		return one->length >= min_length && one->length <= max_length;
	});

	if (copy == NULL)
		return NULL;
	*length = copy->length;
	return copy->memory;
}

void
emogi_device_cache_release_all(EmogiEngineState *state)
{
	DeviceCache *residents = &state->residents;

	for (int i = 0; i < residents->ncopies; i++)
		if (residents->copy[i].last_run == residents->run)
			residents->copy[i].last_run--;
}

void
emogi_device_cache_keep(EmogiEngineState *state, DeviceMemory *memory, const void *array,
						EmogiCopyKind kind, uint64_t length)
{
	DeviceCache *residents = &state->residents;
	int			i;

	if (residents->own == NULL || residents->ncopies == EMOGI_MAX_COPIES)
		return;
	memory->nblocks--;
	i = memory->nblocks;
	residents->copy[residents->ncopies++] = DeviceCacheCopy{
		residents->own->id, residents->run, array, kind, length, memory->block[i], memory->bytes[i],
		memory->elsewhere_bytes[i]
	};
}

void
emogi_device_cache_drop_memory(EmogiEngineState *state, const void *memory)
{
	for (int i = state->residents.ncopies - 1; i >= 0; i--)
		if (state->residents.copy[i].memory == memory)
			drop_copy(state, i);
}

void
emogi_device_cache_drop(EmogiEngineState *state, const void *array, EmogiCopyKind kind)
{
	DeviceCache *residents = &state->residents;

	for (int i = residents->ncopies - 1; residents->own != NULL && i >= 0; i--)
	{
		const DeviceCacheCopy *copy = &residents->copy[i];

		if (copy->id == residents->own->id && copy->array == array && copy->kind == kind &&
			copy->last_run < residents->run)
			drop_copy(state, i);
	}
}

uint64_t
emogi_device_cache_idle_bytes(const EmogiEngineState *state)
{
	const DeviceCache *residents = &state->residents;
	uint64_t	bytes = 0;

	for (int i = 0; i < residents->ncopies; i++)
		if (residents->copy[i].last_run < residents->run)
			bytes += residents->copy[i].bytes - residents->copy[i].elsewhere_bytes;
	return bytes;
}

/* Find the least recently used idle copy, of the own graph or of others; -1 if there is none. */
static int
find_idle(const DeviceCache *residents, bool own)
{
	uint64_t	oldest = residents->run;
	int			found = -1;

	for (int i = 0; i < residents->ncopies; i++)
		if ((residents->copy[i].id == own_id(residents)) == own &&
			residents->copy[i].last_run < oldest)
		{
			oldest = residents->copy[i].last_run;
			found = i;
		}
	return found;
}

bool
emogi_device_cache_evict(EmogiEngineState *state)
{
	int			i = find_idle(&state->residents, false);

	if (i < 0)
		i = find_idle(&state->residents, true);
	if (i >= 0)
		drop_copy(state, i);
	return i >= 0;
}

bool
emogi_device_cache_unregister_other(EmogiEngineState *state)
{
	DeviceCache *residents = &state->residents;
	DeviceCacheEntry *found = NULL;

	for (int i = 0; i < EMOGI_MAX_CACHED_GRAPHS; i++)
	{
		DeviceCacheEntry *resident = &residents->resident[i];

		if (resident->registered && resident != residents->own &&
			(found == NULL || resident->last_run < found->last_run))
			found = resident;
	}
	if (found != NULL)
		unregister(found);
	return found != NULL;
}

uint64_t
emogi_device_cache_bytes(const EmogiEngineState *state, uint64_t graph_id)
{
	uint64_t	bytes = 0;

	for (int i = 0; graph_id != 0 && i < state->residents.ncopies; i++)
		if (state->residents.copy[i].id == graph_id)
			bytes += state->residents.copy[i].bytes;
	return bytes;
}

void
emogi_device_cache_forget(EmogiEngineState *state, uint64_t graph_id)
{
	DeviceCacheEntry *resident = find_entry(&state->residents, graph_id);

	if (graph_id != 0 && resident->id == graph_id)
		drop_entry(state, resident);
}

void
emogi_device_cache_forget_all(EmogiEngineState *state)
{
	for (int i = 0; i < EMOGI_MAX_CACHED_GRAPHS; i++)
		if (state->residents.resident[i].id != 0)
			drop_entry(state, &state->residents.resident[i]);
}
