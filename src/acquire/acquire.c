/*
 * acquire.c: the Graph of a call: found in the cache, or built and shared.
 *
 * Rows of a Source lie in heaps, or on servers of foreign tables beside them, or in shards of Citus tables (../servers), or come of its tree (../tree), or of its query's
 * text where that may not be shared.
 *
 * The caller's rights are checked and a snapshot taken that sees what the graph argument names; cache_lookup.c says whether a Graph in
 * the cache will do. When none does, apply_delta.c brings one that is there up to date, if the tables can be followed. Else it is built
 * here. A Graph that leads the other way is a donor: its edges are taken from memory and not from the table. A search that reaches little
 * may do without a Graph that would have to be built (index_or_build.c).
 */
#include "postgres.h"

#include "access/relation.h"
#include "storage/ipc.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "acquire/cache_lookup.h"
#include "cache/change_tracker.h"
#include "remote/remote.h"

#define EMOGI_NOT_TRACKED "a writer of one of its tables was at work before that was tracked, or there is no room"

/* What the edges of a call's Graph are read from. */
typedef struct Rows
{
	bool		are_heaps;
	List	   *leaves;			/* the heaps, locked; NIL = the relation has none */
	List	   *elsewhere;		/* foreign tables beside the heaps, or Citus tables, locked; then are_heaps is not set */
	EmogiRemote *servers;		/* theirs; NULL = there are none */
	EmogiQueryAnalysis  *tree;			/* else the tree; NULL = the query's text */
} Rows;

/* Gather the edges of a Source. A relation of which no heap is left has none. */
static void
build_edges(EmogiCall *call, const EmogiSource *source, const Rows *rows, EmogiWeights weights)
{
	if (rows->tree != NULL)
		emogi_build_edges_of_query(call, rows->tree, weights);
	else if (rows->servers != NULL)
		emogi_build_edges_of_remote(call, source, rows->leaves, rows->servers, weights);
	else if (!rows->are_heaps || rows->leaves != NIL)
		emogi_build_edges(call, source, rows->leaves, weights, NULL);
}

/* Note that a Graph is for its call alone, and why, unless that is known: NULL. */
static void
note_private(EmogiCall *call, const char *why)
{
	strlcpy(call->record.cache, "private", sizeof call->record.cache);
	if (why != NULL)
		emogi_call_note_private(call, why);
	emogi_cache_lock();
	emogi_cache_shared->counters.private_builds++;
	emogi_cache_unlock();
}

/*
 * Build the Graph that is reserved, from a donor's edges or from the table, and publish it. False when what was read is not what the
 * lookup says: then the Graph is the call's alone.
 */
static bool
build_shared(EmogiCall *call, const EmogiSource *source, const Rows *rows, const EmogiCacheLookup *lookup, EmogiGraph *built)
{
	EmogiSlot  *slot = call->slot;
	EmogiGraph	graph;
	uint32		misfits;
	bool		publishes = true;

	emogi_fault_sleep(EMOGI_AT_REGISTERED);
	if (slot->donor >= 0)
	{
		const EmogiCached *donor = &emogi_cache_shared->graphs[slot->donor];

		graph = donor->graph;
		if (lookup->key.weight == 0)
			emogi_cache_lookup_hide_weights(&graph);
		emogi_dictionaries_attach(slot, donor->dictionary);
		emogi_build_edges_of(call, &graph, donor->key.direction, lookup->key.weights);
		emogi_cache_lookup_release_donor(slot);
	}
	else
	{
		build_edges(call, source, rows, lookup->key.weights);
		publishes = emogi_source_keys_are_current(source) && (rows->tree == NULL || emogi_analysis_may_publish(rows->tree));
	}
	emogi_build_graph(call, lookup->key.direction, lookup->key.with_backward, &graph, &misfits);
	emogi_call_phase(call, EMOGI_PHASE_IDLE);
	if (!publishes)
	{
		emogi_cache_unpin(slot->graph);
		slot->graph = -1;
		*built = graph;
		note_private(call, "its plan read something else than was expected, or a function was replaced, a type altered or a name led elsewhere meanwhile");
		return false;
	}
	emogi_cache_lookup_publish(call, &graph, misfits, pg_atomic_read_u64(&slot->nskipped), &emogi_cache_shared->counters.builds);
	return true;
}

/* Raise 55000 for a Graph that is wanted for all, and why it cannot be had, unless that is to be found out: NULL. */
static void
report_private(const EmogiCall *call, const EmogiSource *source, const Rows *rows, const char *why)
{
	if (why == NULL && call->record.why_private[0] != '\0')
		why = call->record.why_private;
	emogi_not_cacheable_report(source, rows->are_heaps, rows->leaves, why);
}

/* Build a Graph that lives no longer than the call. why: it is not shared; NULL = that is known, or of no interest. */
static void
build_privately(EmogiCall *call, const EmogiSource *source, const Rows *rows, const EmogiGraphKey *wanted, const char *why,
				EmogiGraph *graph)
{
	uint32		misfits;

	if (wanted->shared_only)
		report_private(call, source, rows, why);
	note_private(call, why);
	build_edges(call, source, rows, wanted->weights);
	emogi_build_graph(call, wanted->direction, wanted->with_backward, graph, &misfits);
}

/*
 * List the heaps of a relation that the caller may read, and its foreign tables and Citus tables that are read beside them, under a snapshot that sees them,
 * which becomes the active one; false, and no snapshot, when it must be read by the executor. What the graph argument names may change on
 * the way. Raises 42501 and 40001.
 */
static bool
find_leaves(EmogiSource *source, List **leaves, List **elsewhere)
{
	*leaves = *elsewhere = NIL;
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
			if (emogi_heap_scan_list(source, relids, leaves) || emogi_remote_list(source, relids, leaves, elsewhere))
				return true;
			*leaves = *elsewhere = NIL;
			PopActiveSnapshot();
			return false;
		}
		PopActiveSnapshot();
		emogi_snapshot_renew(source->relid);
		emogi_source_resolve(source->graph, source->wants_weight, source);
	}
}

/*
 * Find what the edges of a Source are to be read from, under a snapshot that sees it, which becomes the active one; none does for a
 * query's text, which sees to that itself. Raises 42501, 40001, and what is wrong with a query.
 */
static Rows
find_rows(EmogiCall *call, EmogiSource *source)
{
	Rows		rows = {0};

	if (find_leaves(source, &rows.leaves, &rows.elsewhere))
	{
		emogi_snapshot_answer();
		rows.are_heaps = rows.elsewhere == NIL;
		return rows;
	}
	rows.tree = emogi_analysis_open(source);
	if (emogi_source_is_query(source->graph))
		source->guess = emogi_guess_copy(&rows.tree->columns.guess);
	if (rows.tree->refusal == NULL)
		rows.leaves = rows.tree->leaves;
	else
	{
		emogi_call_note_private(call, rows.tree->refusal);
		emogi_analysis_close(rows.tree);
		rows.tree = NULL;
	}
	return rows;
}

/* Forget what was found. */
static void
leave_rows(Rows *rows)
{
	if (rows->are_heaps || rows->elsewhere != NIL || rows->tree != NULL)
		PopActiveSnapshot();
	if (rows->tree != NULL)
		emogi_analysis_close(rows->tree);
}

/* Show the call the Graph that its slot has pinned. */
static void
show_cached(EmogiCall *call, const EmogiCacheLookup *lookup, const char *cache, EmogiGraph *graph)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[call->slot->graph];

	strlcpy(call->record.cache, cache, sizeof call->record.cache);
	emogi_fault_sleep(EMOGI_AT_FOUND);
	emogi_cache_lookup_present(&cached->graph, cached->key.direction, &lookup->key, graph);
}

/* Get the Graph from the cache, or build it for the cache, or, where the rules are against that, for this call alone. */
static void
obtain_shared(EmogiCall *call, const EmogiSource *source, const Rows *rows, const EmogiCacheLookup *lookup, EmogiGraph *graph)
{
	const bool	is_new = emogi_cache_lookup_asked_first(lookup, true) && !lookup->key.shared_only;

	if (is_new && rows->tree->is_folded && !emogi_cache_lookup_is_cached(lookup))
	{
		emogi_cache_lookup_drop_for_private(lookup);
		build_privately(call, source, rows, &lookup->key, EMOGI_NOT_ASKED_BEFORE, graph);
		return;
	}
	switch (emogi_cache_lookup_find(call->slot, lookup))
	{
		case EMOGI_FOUND:
			show_cached(call, lookup, "hit", graph);
			break;
		case EMOGI_MUST_BUILD:
			emogi_cache_shared->graphs[call->slot->graph].asked_once = is_new;
			if (build_shared(call, source, rows, lookup, graph))
				show_cached(call, lookup, "built", graph);
			break;
		case EMOGI_MUST_BUILD_PRIVATELY:
			build_privately(call, source, rows, &lookup->key, rows->tree != NULL ? EMOGI_NOT_TRACKED : NULL, graph);
			break;
		case EMOGI_MUST_WAIT:
		case EMOGI_MUST_REGISTER:
		case EMOGI_MUST_MAKE_ROOM:
			break;				/* emogi_cache_lookup_find has done that */
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
uncover(EmogiSlot *slot, EmogiSource *source, EmogiGraphKey *key, EmogiAcquired *acquired)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[slot->graph];

	/* whoever may run a query may read all columns of its result */
	if (cached->key.weight > 0 && (cached->key.of_query || may_read_weights(source, cached->key.weight)))
	{
		key->weight = cached->key.weight;
		if (!cached->key.of_query)
			source->weight = cached->key.weight;
		key->weights = EMOGI_WEIGHTS_ANY;
		source->wants_weight = true;
	}
	emogi_cache_lookup_present(&cached->graph, cached->key.direction, key, &acquired->graph);
	acquired->nskipped = pg_atomic_read_u64(&slot->nskipped);
	acquired->weight_misfits = key->weight > 0 ? cached->weight_misfits : 0;
}

/*
 * Build the Graph of a call once more, with all that it has, from what the active snapshot sees, for the call alone. That of a query is
 * built of its text, as if there were no tree.
 */
static void
build_again(EmogiCall *call, const EmogiSource *source, const Rows *rows, const EmogiCacheLookup *lookup, const EmogiGraph *graph,
			EmogiAcquiredTwice *twice)
{
	EmogiSlot  *slot = call->slot;
	EmogiSource whole = *source;
	EmogiGraphKey key = lookup->key;
	EmogiAcquired *rebuilt = &twice->rebuilt;
	const Rows	again = {.are_heaps = rows->are_heaps,.leaves = rows->are_heaps ? rows->leaves : NIL};

	twice->is_cached = slot->graph >= 0;
	twice->from_heaps = rows->are_heaps || (rows->tree != NULL && rows->tree->filtered != NULL);
	if (twice->is_cached && twice->patch == NULL)
		uncover(slot, &whole, &key, &twice->acquired);
	else
		twice->acquired = (EmogiAcquired) {.graph = *graph,.nskipped = pg_atomic_read_u64(&slot->nskipped)};
	pg_atomic_write_u64(&slot->nskipped, 0);
	build_edges(call, &whole, &again, key.weights);
	emogi_build_graph(call, key.direction, twice->acquired.graph.backward.offsets != NULL, &rebuilt->graph, &rebuilt->weight_misfits);
	rebuilt->nskipped = pg_atomic_read_u64(&slot->nskipped);
	if (!twice->is_cached || key.weight == 0 || twice->patch != NULL)
		rebuilt->weight_misfits = 0;
	if (twice->patch != NULL)
		twice->acquired.nskipped = rebuilt->nskipped;	/* nobody has asked */
}

/* Get the Graph of rows that have been found; the arguments are those of obtain. */
static void
obtain_of_rows(EmogiCall *call, EmogiSource *source, const Rows *found, const EmogiCacheLookup *lookup, bool may_share, EmogiGraph *graph,
			   EmogiOverlay **patch, EmogiAcquiredTwice *twice)
{
	const Rows	rows = *found;
	const EmogiGraphKey *wanted = &lookup->key;

	if (wanted->shared_only && !may_share)
		report_private(call, source, &rows, rows.tree != NULL ? emogi_cache_lookup_why_not(lookup) : NULL);
	if (may_share && emogi_cache_lookup_look(call->slot, lookup))
		show_cached(call, lookup, "hit", graph);
	else if (may_share && twice == NULL && !wanted->shared_only && emogi_cache_lookup_look_back(call->slot, lookup, &call->record.age_ms))
		show_cached(call, lookup, "stale", graph);
	else if (!emogi_apply_delta(call, source, lookup, patch, graph))
	{
		if (may_share)
			obtain_shared(call, source, &rows, lookup, graph);
		else
			build_privately(call, source, &rows, wanted, rows.tree != NULL ? emogi_cache_lookup_why_not(lookup) : NULL, graph);
	}
	if (source->is_query)
		source->key = rows.tree != NULL ? rows.tree->columns.key : call->slot->keys;
	if (wanted->shared_only && call->slot->graph < 0)
		report_private(call, source, &rows, NULL);
	if (twice != NULL)
		build_again(call, source, &rows, lookup, graph, twice);
	else if (wanted->weights == EMOGI_WEIGHTS_UNUSED)
		emogi_cache_lookup_hide_weights(graph); /* of rows with a weight of the way back it has some all the same */
	call->record.nvertices = graph->nvertices;
	call->record.nedges = graph->forward.nedges;
}

/* Get the table, which may be a filtered one, whose indexes a search on rows may walk over; NULL when there is none. */
static const EmogiSource *
find_walked(const EmogiSource *source, const Rows *rows)
{
	if (rows->tree != NULL)
		source = rows->tree->filtered;
	else if (!rows->are_heaps)
		return NULL;
	return source != NULL && emogi_index_search_supports(source) ? source : NULL;
}

/* Carry out a search by walking over indexes, if it may and that is worth while; false when it needs a Graph. Raises 42883 for vertices of another type. */
static bool
walk_instead(EmogiCall *call, EmogiSource *source, const Rows *rows, const EmogiCacheLookup *lookup, bool may_share, EmogiIndexSearch *walk)
{
	const EmogiSource *walked = find_walked(source, rows);

	if (walked == NULL || !walk->describe(walk, &walked->key) || !emogi_index_or_build_search(call, walked, rows->leaves, lookup, may_share, walk))
		return false;
	source->key = walked->key;
	return true;
}

/* Obtain a Graph of rows that are here; the arguments are those of obtain. */
static void
obtain_here(EmogiCall *call, EmogiSource *source, const Rows *rows, EmogiCacheLookup *lookup, EmogiGraph *graph, EmogiOverlay **patch,
			EmogiAcquiredTwice *twice, EmogiIndexSearch *walk)
{
	const bool	may_share = emogi_cache_lookup_may_share(lookup, rows->leaves);

	if (walk != NULL && walk_instead(call, source, rows, lookup, may_share, walk))
		return;
	emogi_call_take_slot(call);
	obtain_of_rows(call, source, rows, lookup, may_share, graph, patch, twice);
}

/* May the Graph of rows on servers be shared? They are asked. What is compared with a Graph is not to be one that is kept. */
static bool
may_share_of_servers(EmogiCall *call, const Rows *rows, EmogiCacheLookup *lookup, bool is_compared)
{
	const char *why = NULL;

	if (!is_compared && emogi_cache_lookup_may_be_shared())
	{
		emogi_call_phase(call, EMOGI_PHASE_SCAN);
		why = emogi_remote_ask(rows->servers, lookup->key.fingerprint);
		emogi_call_phase(call, EMOGI_PHASE_IDLE);
		lookup->key.of_servers = why == NULL;
		if (lookup->key.of_servers && emogi_cache_lookup_may_share(lookup, rows->leaves))
			return true;
	}
	if (why == NULL)
		why = is_compared ? emogi_cacheability_elsewhere(linitial_oid(rows->elsewhere)) : emogi_cache_lookup_why_not(lookup);
	emogi_call_note_private(call, why);
	return false;
}

/* Obtain a Graph of rows that are on servers, beside those that are here; the arguments are those of obtain. */
static void
obtain_of_servers(EmogiCall *call, EmogiSource *source, Rows *rows, EmogiCacheLookup *lookup, EmogiGraph *graph, EmogiOverlay **patch,
				  EmogiAcquiredTwice *twice)
{
	emogi_call_take_slot(call);
	rows->servers = emogi_remote_open(call, source, rows->elsewhere);
	PG_ENSURE_ERROR_CLEANUP(emogi_remote_close, PointerGetDatum(rows->servers));
	{
		const bool	may_share = may_share_of_servers(call, rows, lookup, twice != NULL);

		obtain_of_rows(call, source, rows, lookup, may_share, graph, patch, twice);
	}
	PG_END_ENSURE_ERROR_CLEANUP(emogi_remote_close, PointerGetDatum(rows->servers));
	emogi_remote_leave(rows->servers);
	rows->servers = NULL;
}

/*
 * Obtain a Graph; patch: it may be an older one, with *patch then what has changed since, NULL = it may not; twice: build it once
 * more under the same snapshot, NULL = no; walk: a search that may do without, NULL = there is none.
 */
static void
obtain(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted, EmogiGraph *graph, EmogiOverlay **patch,
	   EmogiAcquiredTwice *twice, EmogiIndexSearch *walk)
{
	Rows		rows = find_rows(call, source);
	EmogiCacheLookup  *lookup = emogi_cache_lookup_make(source, rows.tree, wanted);	/* of what was found in the end */

	if (rows.elsewhere != NIL)
		obtain_of_servers(call, source, &rows, lookup, graph, patch, twice);
	else
		obtain_here(call, source, &rows, lookup, graph, patch, twice, walk);
	emogi_cache_lookup_free(lookup);
	leave_rows(&rows);
}

/*
 * Get the Graph of a Source as the caller's snapshot sees it, from the cache or newly built, for as long as the call
 * lasts. The caller's rights are checked first, on every call. Raises 42501, 40001, 53200, 22004 and 22023 for weights, 55000 if
 * it is wanted for all but cannot be shared, and whatever a query raises. wanted: what kind of lists and weights (emogi_course_graph_key).
 */
void
emogi_acquire_graph(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted, EmogiGraph *graph)
{
	obtain(call, source, wanted, graph, NULL, NULL, NULL);
}

/*
 * Get the Graph of a Source as emogi_acquire_graph does, or an older one and what has changed since, in memory of the current
 * context; NULL = nothing has. Raises the same.
 */
EmogiOverlay *
emogi_acquire_patched(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted, EmogiGraph *graph)
{
	EmogiOverlay *patch = NULL;

	obtain(call, source, wanted, graph, &patch, NULL, NULL);
	return patch;
}

/*
 * Get the Graph of a Source as emogi_acquire_patched does, or, unless `patched`, as emogi_acquire_graph does, for a call that need have no slot.
 * Where it would have to be built for a search that reaches little, have that walk over indexes of the tables: then walk->is_answered,
 * there is no Graph, and the call has no slot. Raises the same.
 */
EmogiOverlay *
emogi_acquire_or_search(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted, bool patched, EmogiGraph *graph, EmogiIndexSearch *walk)
{
	EmogiOverlay *patch = NULL;

	obtain(call, source, wanted, graph, patched ? &patch : NULL, NULL, walk);
	return patch;
}

/* Let go of the Graph that a call has got, to get another. */
void
emogi_acquire_release(EmogiCall *call)
{
	int			graph = call->slot->graph;

	call->slot->graph = -1;
	pg_atomic_write_u64(&call->slot->nskipped, 0);
	if (graph >= 0)
		emogi_cache_unpin(graph);
}

/*
 * Get the Graph of a Source as emogi_acquire_graph does, with all that it has, and another that is built under the same snapshot
 * of the same rows and not by way of the cache. patched: the first may be an older one, as for emogi_acquire_patched. Raises the same.
 */
void
emogi_acquire_twice(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted, bool patched, EmogiAcquiredTwice *twice)
{
	EmogiGraph	graph;

	twice->patch = NULL;
	obtain(call, source, wanted, &graph, patched ? &twice->patch : NULL, twice, NULL);
}
