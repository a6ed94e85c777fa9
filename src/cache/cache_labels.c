/*
 * cache_labels.c: the labels of cached Graphs: their components, as a run has found them, for the calls to come. With them, from the first call on
 * that asks for a component by its name, which vertices each has: one list in an array, of the same size and life.
 *
 * Labels belong to the entry of their Graph, are counted in its bytes and freed with it. They are a copy, for which nothing is evicted.
 * Nobody else's memory leads there: whoever wants them has them copied, or looks some up, and says meanwhile that he reads them. So
 * they can go alone when memory is short, from a Graph that cannot.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "cache/cache.h"
#include "cpu/local_components.h"
#include "base/arena.h"

#define PIECE_VERTICES (UINT64CONST(1) << 20)	/* between two questions whether to stop */

/* Splices that labels go through without being used. */
#define MAX_CARRIES 8

/* Get the bytes that the labels of a Graph hold. */
static Size
content_bytes(const EmogiCached *cached)
{
	return cached->graph.nvertices * sizeof(uint32);
}

/* Free the memory of labels. */
static void
free_memory(uint32 *labels, Size bytes)
{
	if (bytes <= EMOGI_SMALL_BYTES)
		emogi_small_allocations_free(labels, bytes);
	else
		emogi_arena_free(labels, bytes);
}

/* Get the bytes that an array of labels or members counts for. */
static Size
counted_bytes(Size bytes)
{
	return bytes <= EMOGI_SMALL_BYTES ? emogi_small_allocations_bytes(bytes) : TYPEALIGN(EMOGI_EXTENT_BYTES, bytes);
}

/* Take an array, of the labels or of the members, off an entry; the caller, who holds cache_lock, then frees its memory. */
static uint32 *
take_off(EmogiCached *cached, uint32 **array)
{
	uint32	   *taken = *array;
	const Size	bytes = taken != NULL ? counted_bytes(content_bytes(cached)) : 0;

	*array = NULL;
	cached->bytes -= bytes;
	cached->labels_bytes -= bytes;
	return taken;
}

/* Has a Graph, which the caller has pinned, labels? */
bool
emogi_cache_labels_exist(int index)
{
	bool		exist;

	emogi_cache_lock();
	exist = emogi_cache_shared->graphs[index].labels != NULL;
	emogi_cache_unlock();
	return exist;
}

/* Has a Graph, which the caller has pinned, labels that one which is made of it is to have, too? They are not carried on unused for ever. */
bool
emogi_cache_labels_may_be_carried(int index)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[index];
	bool		may;

	emogi_cache_lock();
	may = cached->labels != NULL && cached->label_carries < MAX_CARRIES;
	emogi_cache_unlock();
	return may;
}

/*
 * Begin to read the labels of a Graph, which the caller has pinned; NULL without any. uses: for rows. emogi_cache_labels_end must
 * follow, with no error between.
 */
const uint32 *
emogi_cache_labels_begin(int index, bool uses)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	const uint32 *labels;

	emogi_cache_lock();
	labels = cached->labels;
	cached->label_readers += labels != NULL;
	if (uses)
		cached->label_carries = 0;
	emogi_cache_unlock();
	return labels;
}

/* Get the members of the components of a Graph, to be read while the caller reads its labels; NULL without any. */
const uint32 *
emogi_cache_labels_members(int index)
{
	const uint32 *members;

	emogi_cache_lock();
	members = emogi_cache_shared->graphs[index].members;
	emogi_cache_unlock();
	return members;
}

/* End reading them. */
void
emogi_cache_labels_end(int index)
{
	emogi_cache_lock();
	emogi_cache_shared->graphs[index].label_readers--;
	emogi_cache_unlock();
}

/* Is the statement to end? For who reads or writes labels, asked every few milliseconds; raises nothing. */
bool
emogi_cache_labels_stop(void)
{
	return QueryCancelPending || ProcDiePending;
}

/* Allocate memory for an array of a Graph, if there is room as it is; else NULL. */
static uint32 *
alloc_array(int index, Size bytes)
{
	return bytes <= EMOGI_SMALL_BYTES ? emogi_small_allocations_alloc(bytes) : emogi_arena_try_alloc(EMOGI_OWNER_GRAPH(index), bytes);
}

/*
 * Allocate memory for the labels of a Graph, which the caller has pinned, if it has none and there is room as it is; else NULL.
 * emogi_cache_labels_set or emogi_cache_labels_give_up must follow, with no error between.
 */
uint32 *
emogi_cache_labels_alloc(int index)
{
	return emogi_cache_labels_exist(index) ? NULL : alloc_array(index, content_bytes(&emogi_cache_shared->graphs[index]));
}

/* Give such memory back. */
void
emogi_cache_labels_give_up(int index, uint32 *labels)
{
	free_memory(labels, content_bytes(&emogi_cache_shared->graphs[index]));
}

/* Make labels those of a Graph, unless another has been faster. donor: the Graph from whose labels they were made, -1 = from a run. */
void
emogi_cache_labels_set(int index, uint32 *labels, int donor)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	const Size	bytes = content_bytes(cached);
	bool		set;

	emogi_cache_lock();
	set = cached->labels == NULL && cached->state == EMOGI_GRAPH_READY;
	if (set)
	{
		cached->labels = labels;
		cached->label_carries = donor >= 0 ? emogi_cache_shared->graphs[donor].label_carries + 1 : 0;
		cached->labels_bytes += counted_bytes(bytes);
		cached->bytes += counted_bytes(bytes);
	}
	emogi_cache_unlock();
	if (!set)
		free_memory(labels, bytes);
}

/* Have a Graph, which the caller has pinned, know the members of its components, if it has labels and there is room as it is. */
void
emogi_cache_labels_link(int index)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	const Size	bytes = content_bytes(cached);
	const uint32 *labels;
	uint32	   *members;
	bool		set = false;

	if (emogi_cache_labels_members(index) != NULL || !emogi_cache_labels_exist(index) || (members = alloc_array(index, bytes)) == NULL)
		return;
	labels = emogi_cache_labels_begin(index, true);
	if (labels != NULL)
	{
		const bool	linked = emogi_local_search_components_link(labels, cached->graph.nvertices, emogi_cache_labels_stop, members);

		emogi_cache_lock();
		set = linked && cached->members == NULL && cached->state == EMOGI_GRAPH_READY;
		if (set)
		{
			cached->members = members;
			cached->labels_bytes += counted_bytes(bytes);
			cached->bytes += counted_bytes(bytes);
		}
		cached->label_readers--;
		emogi_cache_unlock();
	}
	if (!set)
		free_memory(members, bytes);
}

/* Keep a copy of what a run has found with a Graph, which the caller has pinned, as its labels. */
void
emogi_cache_labels_keep(int index, const uint32 *component)
{
	const uint64 nvertices = emogi_cache_shared->graphs[index].graph.nvertices;
	uint32	   *labels = emogi_cache_labels_alloc(index);

	if (labels == NULL)
		return;
	for (uint64 v = 0; v < nvertices; v += PIECE_VERTICES)
	{
		memcpy(labels + v, component + v, Min(nvertices - v, PIECE_VERTICES) * sizeof *labels);
		if (emogi_cache_labels_stop())
		{
			emogi_cache_labels_give_up(index, labels);
			return;
		}
	}
	emogi_cache_labels_set(index, labels, -1);
}

/* Free the labels of an entry that nobody has pinned any more. Raises nothing. */
void
emogi_cache_labels_free(int index)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	uint32	   *labels;
	uint32	   *members;

	emogi_cache_lock();
	labels = take_off(cached, &cached->labels);
	members = take_off(cached, &cached->members);
	emogi_cache_unlock();
	if (labels != NULL)
		free_memory(labels, content_bytes(cached));
	if (members != NULL)
		free_memory(members, content_bytes(cached));
}

/*
 * Find labels that nobody reads, the first in a list of entries. Sets *other when there is a Graph that can go itself. Caller holds
 * cache_lock.
 */
static EmogiCached *
find_unread(dlist_head *list, bool *other)
{
	EmogiCached *found = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, list)
	{
		EmogiCached *cached = dlist_container(EmogiCached, order, iter.cur);

		*other |= cached->pins == 0 && !cached->kept;
		if (found == NULL && cached->labels != NULL && cached->label_readers == 0)
			found = cached;
	}
	return found;
}

/* Free the members of a Graph, or its labels if it has none, to make room, when no Graph can go itself; false when there are none. */
bool
emogi_cache_labels_drop(void)
{
	bool		other = false;
	EmogiCached *cached;
	EmogiCached *doomed;
	uint32	   *labels = NULL;
	Size		bytes = 0;

	emogi_cache_lock();
	cached = find_unread(&emogi_cache_shared->used, &other);
	doomed = find_unread(&emogi_cache_shared->doomed, &other);
	if (doomed != NULL)
		cached = doomed;
	if (cached != NULL && !other)
	{
		bytes = content_bytes(cached);
		labels = take_off(cached, cached->members != NULL ? &cached->members : &cached->labels);
	}
	emogi_cache_unlock();
	if (labels != NULL)
		free_memory(labels, bytes);
	return labels != NULL;
}
