/*
 * cache_contraction.c: the contraction hierarchies of cached Graphs (cpu/contraction.h): what makes
 * far shortest paths fast.
 *
 * As labels are (cache_labels.c), a hierarchy is a copy that belongs to the entry of its Graph, is
 * counted in its bytes, and freed with it or alone when memory is short; calls say that they read
 * it. A Graph that is made of this one has none until far paths have been asked of it, too.
 *
 * It is the worker that makes one, while calls go on as before, once paths have taken as long as
 * that will, and the Graph has been what it is for longer. With emogi.contraction_after a call is
 * told to make it. What could not be made is not tried again.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "cache/cache.h"
#include "cpu/contraction.h"
#include "base/arena.h"

/* Making takes about so long for a list entry of a grid (bench/RESULTS.md). */
#define MAKE_MS_AN_EDGE 0.025
#define SHORT_LIVED 4			/* times that: a Graph that changes as often is not worth one */

/* Get the bytes that memory for a hierarchy takes of the Region. */
static uint64
taken_bytes(uint64 bytes)
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

/* Take the hierarchy off an entry; the caller, who holds cache_lock, then frees its memory. */
static EmogiContraction *
take_off(EmogiCached *cached, uint64 *bytes)
{
	EmogiContraction *made = cached->contraction;

	*bytes = cached->contraction_bytes;
	if (made != NULL)
		cached->bytes -= taken_bytes(*bytes);
	cached->contraction = NULL;
	cached->contraction_bytes = 0;
	cached->path_ms = 0;
	cached->npaths = 0;
	cached->contraction_asked = cached->contraction_wanted = false;
	return made;
}

/*
 * Get the bytes that a Graph's hierarchy takes; 0 = it has none. Caller holds cache_lock, or has
 * the Graph pinned.
 */
uint64
emogi_cache_contraction_bytes(const EmogiCached *cached)
{
	return cached->contraction != NULL ? taken_bytes(cached->contraction_bytes) : 0;
}

/*
 * Get the Graph itself that a call has pinned, of which the hierarchy is, as its entry has it; NULL
 * when the call sees another in it, one without weights. reversed: the call's leads the other way.
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
 * Begin to read the hierarchy of a Graph, which the caller has pinned; NULL without one.
 * emogi_cache_contraction_end must follow.
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

/* End reading it. */
void
emogi_cache_contraction_end(int index)
{
	emogi_cache_lock();
	emogi_cache_shared->graphs[index].contraction_readers--;
	emogi_cache_unlock();
}

/* Is it time to have the worker make the hierarchy of a Graph? Caller holds cache_lock. */
static bool
is_worth_making(const EmogiCached *cached)
{
	const double make_ms = cached->graph.forward.nedges * MAKE_MS_AN_EDGE;

	return cached->path_ms >= make_ms &&
		TimestampDifferenceExceeds(cached->built_at, GetCurrentTimestamp(),
								   (int) Min(SHORT_LIVED * make_ms, PG_INT32_MAX));
}

/*
 * Is the caller, who has a Graph pinned and is about to look for a far path, to make its hierarchy?
 * Once: when there have been so many before (emogi.contraction_after). Without that setting the
 * worker is told when it pays.
 */
bool
emogi_cache_contraction_is_due(int index)
{
	const bool	by_caller = emogi_contraction_after >= 0;
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	bool		due;

	emogi_cache_lock();
	due = !cached->contraction_asked && cached->state == EMOGI_GRAPH_READY &&
		emogi_contraction_suits(&cached->graph) &&
		(by_caller ? cached->npaths >= (uint32) emogi_contraction_after : is_worth_making(cached));
	cached->contraction_asked |= due;
	if (due && !by_caller)
		cached->contraction_wanted = emogi_cache_shared->contractions_wanted = true;
	emogi_cache_unlock();
	if (due && !by_caller)
		emogi_shared_wake_worker();
	return due && by_caller;
}

/* Have a hierarchy whose making was canceled tried again. */
void
emogi_cache_contraction_retry(int index)
{
	emogi_cache_lock();
	emogi_cache_shared->graphs[index].contraction_asked = false;
	emogi_cache_unlock();
}

/* ---- the worker's side ---- */

/*
 * Pin a Graph whose hierarchy the worker is to make; -1 = there is none.
 * emogi_cache_contraction_made must follow.
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
 * Take what the worker has made for a Graph, which it has pinned; NULL = nothing came of it. again:
 * it was canceled, and may be tried again.
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

/* ---- keeping and freeing ---- */

/* Note how long a far path has taken in a Graph, which the caller has pinned. */
void
emogi_cache_contraction_note(int index, double ms)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];

	emogi_cache_lock();
	cached->path_ms += ms;
	cached->npaths++;
	emogi_cache_unlock();
}

/*
 * Keep a copy of a hierarchy with its Graph, which the caller has pinned, if there is room as it
 * is.
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
		cached->bytes += taken_bytes(bytes);
	}
	emogi_cache_unlock();
	if (!set)
		free_memory(copy, bytes);
}

/* Free the hierarchy of an entry that nobody has pinned any more. Raises nothing. */
void
emogi_cache_contraction_free(int index)
{
	EmogiContraction *made;
	uint64		bytes;

	emogi_cache_lock();
	made = take_off(&emogi_cache_shared->graphs[index], &bytes);
	emogi_cache_unlock();
	if (made != NULL)
		free_memory(made, bytes);
}

/* Find a hierarchy that nobody reads, the first in a list of entries. Caller holds cache_lock. */
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
 * Free a hierarchy, to make room, when no Graph can go itself: that is the caller's to know. False
 * when there is none.
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
		made = take_off(cached, &bytes);
	emogi_cache_unlock();
	if (made != NULL)
		free_memory(made, bytes);
	return made != NULL;
}
