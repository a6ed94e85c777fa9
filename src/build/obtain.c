/*
 * obtain.c: the Graph of a call: found in the cache, or built and shared.
 *
 * The caller's rights are checked and a snapshot taken that sees what the graph argument names; wish.c says whether a Graph in
 * the cache will do. When none does, follow.c brings one that is there up to date, if the tables can be followed. Else it is built
 * here. A Graph that leads the other way is a donor: its edges are taken from memory and not from the table.
 */
#include "postgres.h"

#include "access/relation.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "build/wish.h"
#include "cache/live_state.h"

/* Build the Graph that is reserved, from a donor's edges or from the table, and publish it. */
static void
build_shared(EmogiCall *call, const EmogiSource *source, List *leaves, const EmogiWish *wish)
{
	EmogiSlot  *slot = call->slot;
	EmogiGraph	graph;
	uint32		misfits;

	emogi_fault_sleep(EMOGI_AT_REGISTERED);
	if (slot->donor >= 0)
	{
		const EmogiCached *donor = &emogi_cache_shared->graphs[slot->donor];

		graph = donor->graph;
		if (wish->key.weight == 0)
			emogi_wish_hide_weights(&graph);
		emogi_build_edges_of(call, &graph, donor->key.direction, wish->key.weights);
		emogi_wish_release_donor(slot);
	}
	else
		emogi_build_edges(call, source, leaves, wish->key.weights, NULL);
	emogi_build_graph(call, wish->key.direction, wish->key.with_backward, &graph, &misfits);
	emogi_call_phase(call, EMOGI_PHASE_IDLE);
	emogi_wish_publish(call, &graph, misfits, pg_atomic_read_u64(&slot->nskipped), &emogi_cache_shared->counters.builds);
}

/* Build a Graph that lives no longer than the call. A relation of which no heap is left has no edges. */
static void
build_privately(EmogiCall *call, const EmogiSource *source, bool from_heaps, List *leaves, const EmogiGraphKey *wanted,
				EmogiGraph *graph)
{
	uint32		misfits;

	if (wanted->shared_only)
		emogi_unshared_report(source, from_heaps, leaves);
	strlcpy(call->record.cache, "private", sizeof call->record.cache);
	if (!from_heaps || leaves != NIL)
		emogi_build_edges(call, source, leaves, wanted->weights, NULL);
	emogi_build_graph(call, wanted->direction, wanted->with_backward, graph, &misfits);
	emogi_cache_lock();
	emogi_cache_shared->counters.private_builds++;
	emogi_cache_unlock();
}

/*
 * List the heaps of a relation that the caller may read, under a snapshot that sees them, which becomes the active one; false,
 * and no snapshot, when it must be read by the executor. What the graph argument names may change on the way. Raises 42501
 * and 40001.
 */
static bool
find_leaves(EmogiSource *source, List **leaves)
{
	*leaves = NIL;
	if (source->is_query)
		return false;
	for (;;)
	{
		Relation	rel = relation_open(source->relid, NoLock);
		bool		row_security = emogi_access_check(rel, source);
		List	   *relids;

		relation_close(rel, NoLock);
		if (row_security)
			return false;
		emogi_snapshot_push();
		if (emogi_snapshot_sees(source, &relids))
		{
			if (emogi_heap_scan_list(source, relids, leaves))
				return true;
			*leaves = NIL;
			PopActiveSnapshot();
			return false;
		}
		PopActiveSnapshot();
		emogi_snapshot_renew(source->relid);
		emogi_source_resolve(source->graph, source->wants_weight, source);
	}
}

/* Show the call the Graph that its slot has pinned. */
static void
show_cached(EmogiCall *call, const EmogiWish *wish, const char *cache, EmogiGraph *graph)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[call->slot->graph];

	strlcpy(call->record.cache, cache, sizeof call->record.cache);
	emogi_fault_sleep(EMOGI_AT_FOUND);
	emogi_wish_present(&cached->graph, cached->key.direction, &wish->key, graph);
}

/* Get the Graph from the cache, or build it for the cache, or, where the rules are against that, for this call alone. */
static void
obtain_shared(EmogiCall *call, const EmogiSource *source, List *leaves, const EmogiWish *wish, EmogiGraph *graph)
{
	switch (emogi_wish_find(call->slot, wish))
	{
		case EMOGI_FOUND:
			show_cached(call, wish, "hit", graph);
			break;
		case EMOGI_MUST_BUILD:
			build_shared(call, source, leaves, wish);
			show_cached(call, wish, "built", graph);
			break;
		case EMOGI_MUST_BUILD_PRIVATELY:
			build_privately(call, source, true, leaves, &wish->key, graph);
			break;
		case EMOGI_MUST_WAIT:
		case EMOGI_MUST_MAKE_ROOM:
			break;				/* emogi_wish_find has done that */
	}
}

/* May the caller read the column that a cached Graph has its weights from? It may have been dropped since. */
static bool
may_read_weights(const EmogiSource *source, AttrNumber weight)
{
	HeapTuple	column = SearchSysCacheAttNum(source->relid, weight);
	EmogiSource weighted = *source;

	if (!HeapTupleIsValid(column))
		return false;
	ReleaseSysCache(column);
	weighted.weight = weight;
	return emogi_access_peek(&weighted);
}

/*
 * Get all that the cached Graph of a call has, seen from the call's direction; without the weights where the caller may not read them.
 * What it skipped the slot has, as the call's snapshot sees it: the Graph may serve others meanwhile who see it otherwise.
 */
static void
uncover(EmogiSlot *slot, EmogiSource *source, EmogiGraphKey *key, EmogiObtained *obtained)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[slot->graph];

	if (cached->key.weight > 0 && may_read_weights(source, cached->key.weight))
	{
		key->weight = source->weight = cached->key.weight;
		key->weights = EMOGI_WEIGHTS_ANY;
		source->wants_weight = true;
	}
	emogi_wish_present(&cached->graph, cached->key.direction, key, &obtained->graph);
	obtained->nskipped = pg_atomic_read_u64(&slot->nskipped);
	obtained->weight_misfits = key->weight > 0 ? cached->weight_misfits : 0;
}

/* Build the Graph of a call once more, with all that it has, from what the active snapshot sees, for the call alone. */
static void
build_again(EmogiCall *call, const EmogiSource *source, bool from_heaps, List *leaves, const EmogiWish *wish,
			const EmogiGraph *graph, EmogiObtainedTwice *twice)
{
	EmogiSlot  *slot = call->slot;
	EmogiSource whole = *source;
	EmogiGraphKey key = wish->key;
	EmogiObtained *rebuilt = &twice->rebuilt;

	twice->is_cached = slot->graph >= 0;
	twice->from_heaps = from_heaps;
	if (twice->is_cached && twice->patch == NULL)
		uncover(slot, &whole, &key, &twice->obtained);
	else
		twice->obtained = (EmogiObtained) {.graph = *graph,.nskipped = pg_atomic_read_u64(&slot->nskipped)};
	pg_atomic_write_u64(&slot->nskipped, 0);
	if (!from_heaps || leaves != NIL)
		emogi_build_edges(call, &whole, leaves, key.weights, NULL);
	emogi_build_graph(call, key.direction, twice->obtained.graph.backward.offsets != NULL, &rebuilt->graph, &rebuilt->weight_misfits);
	rebuilt->nskipped = pg_atomic_read_u64(&slot->nskipped);
	if (!twice->is_cached || key.weight == 0 || twice->patch != NULL)
		rebuilt->weight_misfits = 0;
	if (twice->patch != NULL)
		twice->obtained.nskipped = rebuilt->nskipped;	/* nobody has asked */
}

/*
 * Obtain a Graph; patch: it may be an older one, with *patch then what has changed since, NULL = it may not; twice: build it once
 * more under the same snapshot, NULL = no.
 */
static void
obtain(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted, EmogiGraph *graph, EmogiPatch **patch,
	   EmogiObtainedTwice *twice)
{
	List	   *leaves;
	bool		from_heaps = find_leaves(source, &leaves);
	EmogiWish  *wish = emogi_wish_make(source, wanted); /* of what was found in the end */
	bool		may_share;

	if (from_heaps)
		emogi_snapshot_answer();
	may_share = emogi_wish_may_share(wish, leaves);
	if (wanted->shared_only && !may_share)
		emogi_unshared_report(source, from_heaps, leaves);
	if (may_share && emogi_wish_look(call->slot, wish))
		show_cached(call, wish, "hit", graph);
	else if (may_share && twice == NULL && !wanted->shared_only && emogi_wish_look_back(call->slot, wish, &call->record.age_ms))
		show_cached(call, wish, "stale", graph);
	else if (!emogi_follow_graph(call, source, wish, patch, graph))
	{
		if (may_share)
			obtain_shared(call, source, leaves, wish, graph);
		else
			build_privately(call, source, from_heaps, leaves, wanted, graph);
	}
	if (wanted->shared_only && call->slot->graph < 0)
		emogi_unshared_report(source, from_heaps, leaves);
	if (twice != NULL)
		build_again(call, source, from_heaps, leaves, wish, graph, twice);
	if (from_heaps)
		PopActiveSnapshot();
	call->record.nvertices = graph->nvertices;
	call->record.nedges = graph->forward.nedges;
	emogi_wish_free(wish);
}

/*
 * Get the Graph of a Source as the caller's snapshot sees it, from the cache or newly built, for as long as the call
 * lasts. The caller's rights are checked first, on every call. Raises 42501, 40001, 53200, 22004 and 22023 for weights, 55000 if
 * it is wanted for all but cannot be shared, and whatever a query raises. wanted: what kind of lists and weights (emogi_run_wish).
 */
void
emogi_obtain_graph(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted, EmogiGraph *graph)
{
	obtain(call, source, wanted, graph, NULL, NULL);
}

/*
 * Get the Graph of a Source as emogi_obtain_graph does, or an older one and what has changed since, in memory of the current
 * context; NULL = nothing has. Raises the same.
 */
EmogiPatch *
emogi_obtain_patched(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted, EmogiGraph *graph)
{
	EmogiPatch *patch = NULL;

	obtain(call, source, wanted, graph, &patch, NULL);
	return patch;
}

/* Let go of the Graph that a call has got, to get another. */
void
emogi_obtain_release(EmogiCall *call)
{
	int			graph = call->slot->graph;

	call->slot->graph = -1;
	pg_atomic_write_u64(&call->slot->nskipped, 0);
	if (graph >= 0)
		emogi_cache_unpin(graph);
}

/*
 * Get the Graph of a Source as emogi_obtain_graph does, with all that it has, and another that is built under the same snapshot
 * of the same rows and not by way of the cache. patched: the first may be an older one, as for emogi_obtain_patched. Raises the same.
 */
void
emogi_obtain_twice(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted, bool patched, EmogiObtainedTwice *twice)
{
	EmogiGraph	graph;

	twice->patch = NULL;
	obtain(call, source, wanted, &graph, patched ? &twice->patch : NULL, twice);
}

/*
 * Where would a call find its Graph, as the active snapshot sees it? The caller may read the relation (it was peeked
 * at), and holds a lock on it.
 */
EmogiOutlook
emogi_obtain_outlook(const EmogiSource *source, const EmogiGraphKey *wanted)
{
	EmogiWish  *wish = emogi_wish_make(source, wanted);
	EmogiOutlook outlook = EMOGI_GRAPH_WILL_BE_PRIVATE;
	List	   *leaves;
	bool		from_heaps = emogi_heap_scan_possible(source, &leaves);
	bool		may_share = from_heaps && emogi_wish_may_share(wish, leaves);

	if (may_share)
		outlook = emogi_wish_is_cached(wish) ? EMOGI_GRAPH_IS_CACHED : EMOGI_GRAPH_WILL_BE_BUILT;
	if (outlook != EMOGI_GRAPH_IS_CACHED && wish->can_follow && emogi_live_state_exists(&wish->key))
		outlook = EMOGI_GRAPH_WILL_BE_REFRESHED;
	emogi_wish_free(wish);
	return outlook;
}
