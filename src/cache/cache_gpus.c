/*
 * cache_gpus.c: which GPUs may know the memory of a cached graph, for the engine worker
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "cache/cache.h"

/* Find a graph by its id; NULL if it is gone. Caller holds cache_lock. */
static EmogiCached *
find_id(uint64 id)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[id % EMOGI_MAX_GRAPHS];

	return cached->state != EMOGI_GRAPH_FREE && cached->id == id ? cached : NULL;
}

/* Record that some GPUs (bit mask) are about to use a graph's memory. */
void
emogi_cache_mark_gpus(uint64 id, uint32 gpus)
{
	EmogiCached *cached;

	emogi_cache_lock();
	cached = find_id(id);
	if (cached != NULL)
		cached->gpus |= gpus;
	emogi_cache_unlock();
}

/* Get the GPUs (bit mask) that may know a graph's memory. */
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
 * Get the id of a BUILDING graph if GPUs should derive their copies from those that they may have
 * of its base graph; 0 if they should not.
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

/*
 * Get the id of a graph that one of these GPUs must forget, and that GPU; 0 if there is none.
 * emogi_cache_gpu_has_forgotten must follow.
 */
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

/* Record that a GPU has forgotten a graph, and free the graph if it was the last. */
void
emogi_cache_gpu_has_forgotten(uint64 id, int gpu)
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
		emogi_cache_free((int) (cached - emogi_cache_shared->graphs));
}

/*
 * Clean up after the engine worker has ended: no GPU knows any graph, and no contraction hierarchy
 * is being made.
 */
void
emogi_cache_worker_has_ended(void)
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
