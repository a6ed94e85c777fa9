/*
 * labels.c: the labels of cached Graphs: their components, as a run has found them, for the calls to come.
 *
 * Labels belong to the entry of their Graph, are counted in its bytes and freed with it. They are a copy, for which nothing is evicted.
 * Nobody else's memory leads there: whoever wants them has them copied, or looks some up, and says meanwhile that he reads them. So
 * they can go alone when memory is short, from a Graph that cannot.
 */
#include "postgres.h"

#include "cache/cache.h"
#include "server/region.h"

#define PIECE_VERTICES (UINT64CONST(1) << 20)	/* between two questions whether to stop */

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
		emogi_small_free(labels, bytes);
	else
		emogi_region_free(labels, bytes);
}

/* Take the labels off an entry; the caller, who holds cache_lock, then frees their memory. */
static uint32 *
take_off(EmogiCached *cached)
{
	uint32	   *labels = cached->labels;

	cached->labels = NULL;
	cached->bytes -= cached->labels_bytes;
	cached->labels_bytes = 0;
	return labels;
}

/* Has a Graph, which the caller has pinned, labels? */
bool
emogi_labels_exist(int index)
{
	bool		exist;

	emogi_cache_lock();
	exist = emogi_cache_shared->graphs[index].labels != NULL;
	emogi_cache_unlock();
	return exist;
}

/* Begin to read the labels of a Graph, which the caller has pinned; NULL without any. emogi_labels_end must follow, with no error between. */
const uint32 *
emogi_labels_begin(int index)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	const uint32 *labels;

	emogi_cache_lock();
	labels = cached->labels;
	cached->label_readers += labels != NULL;
	emogi_cache_unlock();
	return labels;
}

/* End reading them. */
void
emogi_labels_end(int index)
{
	emogi_cache_lock();
	emogi_cache_shared->graphs[index].label_readers--;
	emogi_cache_unlock();
}

/* Copy labels in pieces; false when that is to stop. */
static bool
copy_labels(uint32 *to, const uint32 *from, uint64 count, bool (*stops) (void))
{
	for (uint64 v = 0; v < count; v += PIECE_VERTICES)
	{
		memcpy(to + v, from + v, Min(count - v, PIECE_VERTICES) * sizeof *to);
		if (stops())
			return false;
	}
	return true;
}

/*
 * Keep a copy of a Graph's labels with it, if it has none and there is room as it is. The caller has the Graph pinned. stops is asked
 * every few milliseconds, and raises nothing.
 */
void
emogi_labels_keep(int index, const uint32 *labels, bool (*stops) (void))
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	const Size	bytes = content_bytes(cached);
	const bool	small = bytes <= EMOGI_SMALL_BYTES;
	uint32	   *copy;
	bool		kept;

	if (emogi_labels_exist(index))
		return;
	copy = small ? emogi_small_alloc(bytes) : emogi_region_try_alloc(EMOGI_OWNER_GRAPH(index), bytes);
	if (copy == NULL)
		return;
	kept = copy_labels(copy, labels, cached->graph.nvertices, stops);
	emogi_cache_lock();
	kept &= cached->labels == NULL && cached->state == EMOGI_GRAPH_READY;
	if (kept)
	{
		cached->labels = copy;
		cached->labels_bytes = small ? emogi_small_bytes(bytes) : TYPEALIGN(EMOGI_GRANULE_BYTES, bytes);
		cached->bytes += cached->labels_bytes;
	}
	emogi_cache_unlock();
	if (!kept)
		free_memory(copy, bytes);
}

/* Free the labels of an entry that nobody has pinned any more. Raises nothing. */
void
emogi_labels_free(int index)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	uint32	   *labels;

	emogi_cache_lock();
	labels = take_off(cached);
	emogi_cache_unlock();
	if (labels != NULL)
		free_memory(labels, content_bytes(cached));
}

/* Find labels that nobody reads, the first in a list of entries. Sets *other when there is a Graph that can go itself. Caller holds cache_lock. */
static EmogiCached *
find_unread(dlist_head *list, bool *other)
{
	EmogiCached *found = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, list)
	{
		EmogiCached *cached = dlist_container(EmogiCached, order, iter.cur);

		*other |= cached->pins == 0;
		if (found == NULL && cached->labels != NULL && cached->label_readers == 0)
			found = cached;
	}
	return found;
}

/* Free the labels of a Graph, to make room, when no Graph can go itself; false when there are none. */
bool
emogi_labels_drop(void)
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
		labels = take_off(cached);
	}
	emogi_cache_unlock();
	if (labels != NULL)
		free_memory(labels, bytes);
	return labels != NULL;
}
