/*
 * cache_labels.c: the labels of cached graphs: their components, as computed by a run, for later
 * calls. The first call that requests a single component adds the members of each: linked lists in
 * one array, of the same size and lifetime.
 *
 * Labels belong to the entry of their graph, are counted in its bytes and freed with it. They are a
 * copy, and nothing is evicted to make room for them. A call that copies them, looks some up, or
 * has them as its result is counted as a reader meanwhile. Without readers they can be dropped
 * alone if memory is short, from a graph that cannot be evicted, and the members also if all
 * readers are results that do not need them.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "cache/cache.h"
#include "contract/local_components.h"
#include "contract/sort_order.h"
#include "base/arena.h"

#define PIECE_VERTICES (UINT64CONST(1) << 20)	/* copied between two checks for cancellation */

/* Merges through which unused labels are carried. */
#define MAX_LABEL_CARRIES 8

/*
 * An overlay for components saves a run, so it may have up to
 * max(MIN_CHANGES, min(edges / CHANGES_SHARE, MAX_CHANGES)) changes.
 */
#define MIN_CHANGES UINT64CONST(1024)
#define MAX_CHANGES UINT64CONST(16384)
#define CHANGES_SHARE 512

/* Vertices sampled to estimate the size of components. */
#define SAMPLES 1024

/* Get the size of the labels of a graph. */
static Size
content_bytes(const EmogiCached *cached)
{
	return cached->graph.nvertices * sizeof(uint32);
}

/* Free the memory of labels or members. */
static void
free_memory(uint32 *labels, Size bytes)
{
	if (bytes <= EMOGI_SMALL_BYTES)
		emogi_small_allocations_free(labels, bytes);
	else
		emogi_arena_free(labels, bytes);
}

/* Get the size that an array of labels or members is accounted with. */
static Size
counted_bytes(Size bytes)
{
	return bytes <= EMOGI_SMALL_BYTES ? emogi_small_allocations_bytes(bytes) :
		TYPEALIGN(EMOGI_EXTENT_BYTES, bytes);
}

/*
 * Detach an array of labels or members from an entry; the caller, who holds cache_lock, then frees
 * it.
 */
static uint32 *
detach(EmogiCached *cached, uint32 **array)
{
	uint32	   *taken = *array;
	const Size	bytes = taken != NULL ? counted_bytes(content_bytes(cached)) : 0;

	*array = NULL;
	cached->bytes -= bytes;
	cached->labels_bytes -= bytes;
	return taken;
}

/* Check whether a graph that the caller has pinned has labels. */
bool
emogi_cache_labels_exist(int index)
{
	bool		exist;

	emogi_cache_lock();
	exist = emogi_cache_shared->graphs[index].labels != NULL;
	emogi_cache_unlock();
	return exist;
}

/*
 * Check whether the labels of a graph that the caller has pinned should be carried to a graph
 * merged from it. Unused labels are not carried forever.
 */
bool
emogi_cache_labels_may_be_carried(int index)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[index];
	bool		may;

	emogi_cache_lock();
	may = cached->labels != NULL && cached->label_carries < MAX_LABEL_CARRIES;
	emogi_cache_unlock();
	return may;
}

/* Get the maximum number of changes since a graph was made with which its labels are used. */
uint64
emogi_cache_labels_max_changes(const EmogiCached *cached)
{
	return Max(MIN_CHANGES, Min(cached->graph.forward.nedges / CHANGES_SHARE, MAX_CHANGES));
}

/*
 * Begin to read the labels of a graph that the caller has pinned; return NULL if there are none.
 * uses: they are read for a result. emogi_cache_labels_end must follow, without an error in
 * between.
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

/*
 * Get the members of the components of a graph, to read while the caller reads its labels; NULL if
 * there are none.
 */
const uint32 *
emogi_cache_labels_members(int index)
{
	const uint32 *members;

	emogi_cache_lock();
	members = emogi_cache_shared->graphs[index].members;
	emogi_cache_unlock();
	return members;
}

/* End reading labels. */
void
emogi_cache_labels_end(int index)
{
	emogi_cache_lock();
	emogi_cache_shared->graphs[index].label_readers--;
	emogi_cache_unlock();
}

/*
 * Begin to read the labels of a graph as the result of a call that has pinned it, and the members
 * of its components (NULL = not wanted) if there are any; return NULL if there are no labels. The
 * slot or held result that has the pin releases them with it, by *read.
 */
const uint32 *
emogi_cache_labels_hold(int index, const uint32 **members, EmogiLabelsRead *read)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	const uint32 *labels;

	emogi_cache_lock();
	labels = cached->labels;
	if (labels != NULL)
	{
		const bool	reads_members = members != NULL && cached->members != NULL;

		cached->label_readers++;
		cached->label_carries = 0;
		if (reads_members)
			*members = cached->members;
		else
			cached->results++;
		*read = reads_members ? EMOGI_LABELS_AND_MEMBERS : EMOGI_LABELS_ALONE;
	}
	emogi_cache_unlock();
	return labels;
}

/* End reading labels as a result; `read` may be EMOGI_LABELS_UNREAD. Raises nothing. */
void
emogi_cache_labels_release(int index, EmogiLabelsRead read)
{
	if (read == EMOGI_LABELS_UNREAD)
		return;
	emogi_cache_lock();
	emogi_cache_shared->graphs[index].label_readers--;
	if (read == EMOGI_LABELS_ALONE)
		emogi_cache_shared->graphs[index].results--;
	emogi_cache_unlock();
}

/*
 * Check whether the statement should end, every few milliseconds while reading or writing labels.
 * Raises nothing.
 */
bool
emogi_cache_labels_must_stop(void)
{
	return QueryCancelPending || ProcDiePending;
}

/*
 * Allocate memory for an array of a graph, if there is room without eviction; otherwise return
 * NULL.
 */
static uint32 *
alloc_array(int index, Size bytes)
{
	return bytes <= EMOGI_SMALL_BYTES ? emogi_small_allocations_alloc(bytes) :
		emogi_arena_try_alloc(EMOGI_OWNER_GRAPH(index), bytes);
}

/*
 * Allocate memory for the labels of a graph that the caller has pinned, if it has none and there is
 * room without eviction; otherwise return NULL. emogi_cache_labels_set or
 * emogi_cache_labels_free_unused must follow, without an error in between.
 */
uint32 *
emogi_cache_labels_alloc(int index)
{
	return emogi_cache_labels_exist(index) ? NULL :
		alloc_array(index, content_bytes(&emogi_cache_shared->graphs[index]));
}

/* Free the memory from emogi_cache_labels_alloc. */
void
emogi_cache_labels_free_unused(int index, uint32 *labels)
{
	free_memory(labels, content_bytes(&emogi_cache_shared->graphs[index]));
}

/*
 * Estimate the mean size of the component of a vertex: the share of pairs of sampled vertices that
 * are in one component, times the number of vertices. Evenly spaced, no pair is sampled twice.
 */
static double
estimate_members(const uint32 *labels, uint64 nvertices)
{
	const uint32 nsamples = (uint32) Min(nvertices, SAMPLES);
	uint32		sample[SAMPLES];
	double		npairs = 0;

	for (uint32 i = 0; i < nsamples; i++)
		sample[i] = labels[i * nvertices / nsamples];
	qsort(sample, nsamples, sizeof *sample, emogi_compare_uint32);
	for (uint32 i = 1, run = 0; i < nsamples; i++)
	{
		run = sample[i] == sample[i - 1] ? run + 1 : 0;
		npairs += run;
	}
	return nsamples < 2 ? nvertices :
		1 + npairs / ((double) nsamples * (nsamples - 1) / 2) * (nvertices - 1);
}

/* Count the components with these labels, each of which has the label of its smallest vertex. */
static EmogiComponentSizes
measure_components(const uint32 *labels, uint64 nvertices)
{
	EmogiComponentSizes sizes = {0};
	uint64		ncomponents = 0;

	for (uint64 v = 0; v < nvertices; v++)
		ncomponents += labels[v] == (uint32) v;
	sizes.ncomponents = ncomponents;
	sizes.nmembers = Max(estimate_members(labels, nvertices),
						 nvertices / Max(sizes.ncomponents, 1));
	return sizes;
}

/*
 * Set the labels of a graph, unless another call has set them already. base_graph: the graph from
 * whose labels they were made; -1 = a run.
 */
void
emogi_cache_labels_set(int index, uint32 *labels, int base_graph)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	const Size	bytes = content_bytes(cached);
	const EmogiComponentSizes sizes = measure_components(labels, cached->graph.nvertices);
	bool		set;

	emogi_cache_lock();
	set = cached->labels == NULL && cached->state == EMOGI_GRAPH_READY;
	if (set)
	{
		cached->labels = labels;
		cached->components = sizes;
		cached->label_carries = base_graph >= 0 ?
			emogi_cache_shared->graphs[base_graph].label_carries + 1 : 0;
		cached->labels_bytes += counted_bytes(bytes);
		cached->bytes += counted_bytes(bytes);
	}
	emogi_cache_unlock();
	if (!set)
		free_memory(labels, bytes);
}

/*
 * Add the members of its components to a graph that the caller has pinned, if it has labels and
 * there is room without eviction.
 */
void
emogi_cache_labels_add_members(int index)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	const Size	bytes = content_bytes(cached);
	const uint32 *labels;
	uint32	   *members;
	bool		set = false;

	if (emogi_cache_labels_members(index) != NULL || !emogi_cache_labels_exist(index) ||
		(members = alloc_array(index, bytes)) == NULL)
		return;
	labels = emogi_cache_labels_begin(index, true);
	if (labels != NULL)
	{
		const bool	linked = emogi_local_search_components_link(labels, cached->graph.nvertices,
																emogi_cache_labels_must_stop,
																members);

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

/* Keep a copy of a run's result as the labels of a graph that the caller has pinned. */
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
		if (emogi_cache_labels_must_stop())
		{
			emogi_cache_labels_free_unused(index, labels);
			return;
		}
	}
	emogi_cache_labels_set(index, labels, -1);
}

/* Free the labels of an entry that has no pins any more. Raises nothing. */
void
emogi_cache_labels_free(int index)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[index];
	uint32	   *labels;
	uint32	   *members;

	emogi_cache_lock();
	labels = detach(cached, &cached->labels);
	members = detach(cached, &cached->members);
	cached->components = (EmogiComponentSizes) {0};
	emogi_cache_unlock();
	if (labels != NULL)
		free_memory(labels, content_bytes(cached));
	if (members != NULL)
		free_memory(members, content_bytes(cached));
}

/* Can members or labels of a graph be dropped? Caller holds cache_lock. */
static bool
is_unread(const EmogiCached *cached)
{
	return cached->labels != NULL &&
		cached->label_readers == (cached->members != NULL ? cached->results : 0);
}

/*
 * Find the first graph in a list of entries with labels or members to drop. Sets *other if some
 * graph can itself be evicted. Caller holds cache_lock.
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
		if (found == NULL && is_unread(cached))
			found = cached;
	}
	return found;
}

/*
 * Free the members of a graph, or its labels if it has none, to make room, if no graph can be
 * evicted; return false if there are none.
 */
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
		labels = detach(cached, cached->members != NULL ? &cached->members : &cached->labels);
	}
	emogi_cache_unlock();
	if (labels != NULL)
		free_memory(labels, bytes);
	return labels != NULL;
}
