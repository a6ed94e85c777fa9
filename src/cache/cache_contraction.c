/*
 * cache_contraction.c: contraction hierarchies of cached graphs (contract/contraction.h), which
 * speed up distant shortest paths
 *
 * Like labels (cache_labels.c), a hierarchy is a copy that belongs to the entry of its graph,
 * counts in the entry's bytes, and is freed with it, or alone if memory is short; calls register as
 * readers. A graph that is derived from this one has no hierarchy until distant paths are requested
 * in it, too.
 *
 * The worker builds a hierarchy, while calls continue, when paths have taken as long as the
 * construction will, and the graph has not changed for several times as long. With
 * emogi.contraction_min_calls a call is told to build it. A failed construction is not retried.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "cache/cache.h"
#include "contract/contraction.h"
#include "base/arena.h"

/* Construction time per edge, in a grid (bench/RESULTS.md). */
#define MAKE_MS_AN_EDGE 0.025
/* a graph that lives less than this many construction times gets no hierarchy */
#define SHORT_LIVED 4

/* Get the bytes that a hierarchy occupies in the arena. */
static uint64
occupied_bytes(uint64 bytes)
{
	return bytes <= EMOGI_SMALL_BYTES ? emogi_small_allocations_bytes(bytes) :
		TYPEALIGN(EMOGI_EXTENT_BYTES, bytes);
}

/* Free the memory of a hierarchy. */
static void
free_memory(EmogiContraction *made, uint64 bytes)
{
	if (bytes <= EMOGI_SMALL_BYTES)
		emogi_small_allocations_free(made, bytes);
	else
		emogi_arena_free(made, bytes);
}

/*
 * Detach the hierarchy from an entry. The caller holds cache_lock, and frees its memory afterwards.
 */
static EmogiContraction *
detach(EmogiCached *cached, uint64 *bytes)
{
	EmogiContraction *made = cached->contraction;

	*bytes = cached->contraction_bytes;
	if (made != NULL)
		cached->bytes -= occupied_bytes(*bytes);
	cached->contraction = NULL;
	cached->contraction_bytes = 0;
	cached->path_ms = 0;
	cached->npaths = 0;
	cached->contraction_asked = cached->contraction_wanted = false;
	return made;
}

/*
 * Get the bytes of a graph's hierarchy; 0 = it has none. Caller holds cache_lock, or has the graph
 * pinned.
 */
uint64
emogi_cache_contraction_bytes(const EmogiCached *cached)
{
	return cached->contraction != NULL ? occupied_bytes(cached->contraction_bytes) : 0;
}

/*
 * Get the cached graph itself, to which the hierarchy belongs, given the graph as a call with a pin
 * sees it; NULL if the call sees it differently, without weights. reversed: the call sees the
 * reverse graph.
 */
const EmogiGraph *
emogi_cache_contraction_graph(int index, const EmogiGraph *shown, bool *reversed)
{
	const EmogiGraph *graph = &emogi_cache_shared->graphs[index].graph;

	*reversed = shown->forward.targets != graph->forward.targets;
	if (shown->weight_type != graph->weight_type || shown->nvertices != graph->nvertices ||
		graph->backward.offsets == NULL ||
		shown->forward.targets != (*reversed ? graph->backward.targets : graph->forward.targets))
		return NULL;
	return graph;
}

/*
 * Start to read the hierarchy of a graph, which the caller has pinned; NULL if it has none. If not
 * NULL, emogi_cache_contraction_end must follow.
 */
const EmogiContraction *
emogi_cache_contraction_begin(int index)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	const EmogiContraction *made;

	emogi_cache_lock();
	made = cached->contraction;
	cached->contraction_readers += made != NULL;
	emogi_cache_unlock();
	return made;
}

/* Stop reading the hierarchy. */
void
emogi_cache_contraction_end(int index)
{
	emogi_cache_lock();
	emogi_cache_shared->graphs[index].contraction_readers--;
	emogi_cache_unlock();
}

/* Should the worker build the hierarchy of a graph now? Caller holds cache_lock. */
static bool
pays_off(const EmogiCached *cached)
{
	const double make_ms = cached->graph.forward.nedges * MAKE_MS_AN_EDGE;

	return cached->path_ms >= make_ms &&
		TimestampDifferenceExceeds(cached->built_at, GetCurrentTimestamp(),
								   (int) Min(SHORT_LIVED * make_ms, PG_INT32_MAX));
}

/*
 * Must the caller, who has a graph pinned and is about to search a distant path, build its
 * hierarchy? True once, after emogi.contraction_min_calls such searches. Without that setting, tell
 * the worker to build it when it pays off.
 */
bool
emogi_cache_contraction_is_due(int index)
{
	const bool	by_caller = emogi_contraction_min_calls >= 0;
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	bool		due;

	emogi_cache_lock();
	due = !cached->contraction_asked && cached->state == EMOGI_GRAPH_READY &&
		emogi_contraction_is_suitable(&cached->graph) &&
		(by_caller ? cached->npaths >= (uint32) emogi_contraction_min_calls : pays_off(cached));
	cached->contraction_asked |= due;
	if (due && !by_caller)
		cached->contraction_wanted = emogi_cache_shared->contractions_wanted = true;
	emogi_cache_unlock();
	if (due && !by_caller)
		emogi_shared_wake_worker();
	return due && by_caller;
}

/* Allow a canceled construction to be retried. */
void
emogi_cache_contraction_retry(int index)
{
	emogi_cache_lock();
	emogi_cache_shared->graphs[index].contraction_asked = false;
	emogi_cache_unlock();
}

/* ---- called by the worker ---- */

/*
 * Pin a graph whose hierarchy the worker must build; -1 = none. emogi_cache_contraction_made must
 * follow.
 */
int
emogi_cache_contraction_next(void)
{
	int			index = -1;
	dlist_iter	iter;

	if (!emogi_cache_shared->contractions_wanted)
		return -1;
	emogi_cache_lock();
	dlist_foreach(iter, &emogi_cache_shared->used)
	{
		EmogiCached *cached = dlist_container(EmogiCached, order, iter.cur);

		if (!cached->contraction_wanted || cached->state != EMOGI_GRAPH_READY)
			continue;
		cached->contraction_wanted = false;
		cached->contraction_making = true;
		cached->pins++;
		index = (int) (cached - emogi_cache_shared->graphs);
		break;
	}
	emogi_cache_shared->contractions_wanted = index >= 0;
	emogi_cache_unlock();
	return index;
}

/*
 * Store the hierarchy that the worker has built for a graph, which it has pinned; NULL = failed.
 * again: it was canceled, and may be retried.
 */
void
emogi_cache_contraction_made(int index, const EmogiContraction *made, bool again)
{
	if (made != NULL)
		emogi_cache_contraction_keep(index, made);
	emogi_cache_lock();
	emogi_cache_shared->graphs[index].contraction_making = false;
	emogi_cache_shared->graphs[index].contraction_asked &= !again;
	emogi_cache_unlock();
	emogi_cache_unpin(index);
}

/* ---- storing and freeing ---- */

/* Record the time of a distant path in a graph, which the caller has pinned. */
void
emogi_cache_contraction_record_path(int index, double ms)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];

	emogi_cache_lock();
	cached->path_ms += ms;
	cached->npaths++;
	emogi_cache_unlock();
}

/*
 * Store a copy of a hierarchy with its graph, which the caller has pinned, if there is room without
 * eviction.
 */
void
emogi_cache_contraction_keep(int index, const EmogiContraction *made)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	const uint64 bytes = made->bytes;
	EmogiContraction *copy = bytes <= EMOGI_SMALL_BYTES ? emogi_small_allocations_alloc(bytes) :
		emogi_arena_try_alloc(EMOGI_OWNER_GRAPH(index), bytes);
	bool		set;

	if (copy == NULL)
		return;
	memcpy(copy, made, bytes);
	emogi_cache_lock();
	set = cached->contraction == NULL && cached->state == EMOGI_GRAPH_READY;
	if (set)
	{
		cached->contraction = copy;
		cached->contraction_bytes = bytes;
		cached->bytes += occupied_bytes(bytes);
	}
	emogi_cache_unlock();
	if (!set)
		free_memory(copy, bytes);
}

/* Free the hierarchy of an entry without pins. Raises nothing. */
void
emogi_cache_contraction_free(int index)
{
	EmogiContraction *made;
	uint64		bytes;

	emogi_cache_lock();
	made = detach(&emogi_cache_shared->graphs[index], &bytes);
	emogi_cache_unlock();
	if (made != NULL)
		free_memory(made, bytes);
}

/* Find the first entry of a list with a hierarchy that nobody reads. Caller holds cache_lock. */
static EmogiCached *
find_unread(dlist_head *list)
{
	dlist_iter	iter;

	dlist_foreach(iter, list)
	{
		EmogiCached *cached = dlist_container(EmogiCached, order, iter.cur);

		if (cached->contraction != NULL && cached->contraction_readers == 0)
			return cached;
	}
	return NULL;
}

/*
 * Free a hierarchy to make room; the caller has checked that no graph can be evicted. Return false
 * if there is none.
 */
bool
emogi_cache_contraction_drop(void)
{
	EmogiCached *cached;
	EmogiContraction *made = NULL;
	uint64		bytes = 0;

	emogi_cache_lock();
	cached = find_unread(&emogi_cache_shared->doomed);
	if (cached == NULL)
		cached = find_unread(&emogi_cache_shared->used);
	if (cached != NULL)
		made = detach(cached, &bytes);
	emogi_cache_unlock();
	if (made != NULL)
		free_memory(made, bytes);
	return made != NULL;
}
