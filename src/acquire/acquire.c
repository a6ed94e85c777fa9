/*
 * acquire.c: look up a call's graph in the shared cache, bring it up to date, or build it.
 *
 * The rows of a source are read from heaps; from servers of foreign tables, besides heaps; from
 * shards of Citus tables (../servers); from the analyzed query (../analysis); or, if that cannot be
 * shared, by executing the query's text.
 *
 * The caller's rights are checked, and a snapshot is taken that sees the objects named by the graph
 * argument. cache_lookup.c then looks for a suitable cached graph. If there is none, apply_delta.c
 * brings an existing graph up to date, provided that the changes of the tables can be tracked.
 * Otherwise the graph is built here. A cached graph of the opposite direction is a base graph: its
 * edges are read from memory instead of the table. A search that reaches few vertices may use
 * indexes rather than have a graph built (index_or_build.c).
 */
#include "postgres.h"

#include "access/relation.h"
#include "storage/ipc.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "acquire/cache_lookup.h"
#include "cache/change_tracker.h"
#include "remote/remote.h"

#define EMOGI_NOT_TRACKED \
	"a writer of one of its tables was at work before that was tracked, or there is no room"

/* Where the edges of a call's graph are read from. */
typedef struct Rows
{
	bool		are_heaps;
	List	   *leaves;			/* the heaps, locked; NIL = the relation has none */
	/* foreign tables besides the heaps, or Citus tables, locked; if set, are_heaps is false */
	List	   *elsewhere;
	EmogiRemote *servers;		/* connections for `elsewhere`; NULL = none */
	/* the query's analysis; NULL = if it is a query, execute its text */
	EmogiQueryAnalysis  *analysis;
} Rows;

/* Read the edges of a source. A relation without remaining heaps has none. */
static void
build_edges(EmogiCall *call, const EmogiSource *source, const Rows *rows, EmogiWeights weights)
{
	if (rows->analysis != NULL)
		emogi_build_edges_of_query(call, rows->analysis, weights);
	else if (rows->servers != NULL)
		emogi_build_edges_of_remote(call, source, rows->leaves, rows->servers, weights);
	else if (!rows->are_heaps || rows->leaves != NIL)
		emogi_build_edges(call, source, rows->leaves, weights, NULL);
}

/*
 * Record how a call gets its graph, for its view, emogi_runs and EXPLAIN. why: it is private to the
 * call; NULL = the reason is recorded already, or irrelevant.
 */
static void
note_origin(EmogiCall *call, EmogiGraphView *view, EmogiGraphOrigin origin, const char *why)
{
	view->origin = call->record.origin = origin;
	if (why != NULL)
		emogi_call_note_private(call, why);
	if (origin != EMOGI_GRAPH_PRIVATE && origin != EMOGI_GRAPH_OVERLAID)
		return;
	if (origin == EMOGI_GRAPH_PRIVATE && call->record.why_private[0] != '\0')
		view->why = call->record.why_private;
	emogi_cache_lock();
	if (origin == EMOGI_GRAPH_PRIVATE)
		emogi_cache_shared->counters.private_builds++;
	else
		emogi_cache_shared->counters.patches++;
	emogi_cache_unlock();
}

/*
 * Build the reserved graph, from a base graph's edges or from the table, and publish it. Return
 * false if the rows read were not those of the lookup; then the graph is private to the call.
 */
static bool
build_shared(EmogiCall *call, const EmogiSource *source, const Rows *rows,
			 const EmogiCacheLookup *lookup, EmogiGraphView *view)
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
		publishes = emogi_source_keys_are_current(source) &&
			(rows->analysis == NULL || emogi_analysis_may_publish(rows->analysis));
	}
	emogi_build_graph(call, lookup->key.direction, lookup->key.with_backward, &graph, &misfits);
	emogi_call_phase(call, EMOGI_PHASE_IDLE);
	if (!publishes)
	{
		emogi_cache_unpin(slot->graph);
		slot->graph = -1;
		view->graph = graph;
		note_origin(call, view, EMOGI_GRAPH_PRIVATE,
					"its plan read something else than was expected, or a function was "
					"replaced, a type altered or a name led elsewhere meanwhile");
		return false;
	}
	emogi_cache_lookup_publish(call, &graph, misfits, pg_atomic_read_u64(&slot->nskipped),
							   &emogi_cache_shared->counters.builds);
	return true;
}

/*
 * Raise 55000 because a shared graph was requested but is not possible, and say why; NULL = find
 * the reason.
 */
static void
report_private(const EmogiCall *call, const EmogiSource *source, const Rows *rows, const char *why)
{
	if (why == NULL && call->record.why_private[0] != '\0')
		why = call->record.why_private;
	emogi_not_cacheable_report(source, rows->are_heaps, rows->leaves, why);
}

/*
 * Build a graph that lives as long as the call. why: it is not shared; NULL = recorded already, or
 * irrelevant.
 */
static void
build_privately(EmogiCall *call, const EmogiSource *source, const Rows *rows,
				const EmogiGraphKey *wanted, const char *why, EmogiGraphView *view)
{
	uint32		misfits;

	if (wanted->shared_only)
		report_private(call, source, rows, why);
	note_origin(call, view, EMOGI_GRAPH_PRIVATE, why);
	build_edges(call, source, rows, wanted->weights);
	emogi_build_graph(call, wanted->direction, wanted->with_backward, &view->graph, &misfits);
}

/*
 * List the heaps of a relation that the caller may read, and its foreign tables and Citus tables,
 * under a snapshot that sees them. Make that snapshot the active one. Return false, without a
 * snapshot, if the executor must read the relation. The meaning of the graph argument may change
 * during this. Raises 42501 and 40001.
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
			if (emogi_heap_scan_list(source, relids, leaves) ||
				emogi_remote_list(source, relids, leaves, elsewhere))
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
 * Find where to read the edges of a source, under a snapshot that sees it, which becomes the active
 * one. A query's text sets its own snapshot, so none becomes active for it. Raises 42501, 40001,
 * and the errors of a query.
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
	rows.analysis = emogi_analysis_open(source);
	if (emogi_source_is_query(source->graph))
		source->guess = emogi_guess_copy(&rows.analysis->columns.guess);
	if (rows.analysis->refusal == NULL)
		rows.leaves = rows.analysis->leaves;
	else
	{
		emogi_call_note_private(call, rows.analysis->refusal);
		emogi_analysis_close(rows.analysis);
		rows.analysis = NULL;
	}
	return rows;
}

/* Release the result of find_rows. */
static void
release_rows(Rows *rows)
{
	if (rows->are_heaps || rows->elsewhere != NIL || rows->analysis != NULL)
		PopActiveSnapshot();
	if (rows->analysis != NULL)
		emogi_analysis_close(rows->analysis);
}

/* Set a view to the slot's pinned graph, in the form that the call requested. */
static void
show_cached(EmogiCall *call, const EmogiCacheLookup *lookup, EmogiGraphOrigin origin,
			EmogiGraphView *view)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[call->slot->graph];

	note_origin(call, view, origin, NULL);
	emogi_fault_sleep(EMOGI_AT_FOUND);
	emogi_cache_lookup_present(&cached->graph, cached->key.direction, &lookup->key, &view->graph);
}

/*
 * Get the graph from the cache, or build it: for the cache if allowed, otherwise for this call
 * only.
 */
static void
acquire_shared(EmogiCall *call, const EmogiSource *source, const Rows *rows,
			   const EmogiCacheLookup *lookup, EmogiGraphView *view)
{
	const bool	is_new = emogi_cache_lookup_asked_first(lookup, true) && !lookup->key.shared_only;

	if (is_new && rows->analysis->is_folded && !emogi_cache_lookup_is_cached(lookup))
	{
		emogi_cache_lookup_drop_for_private(lookup);
		build_privately(call, source, rows, &lookup->key, EMOGI_NOT_ASKED_BEFORE, view);
		return;
	}
	switch (emogi_cache_lookup_find(call->slot, lookup))
	{
		case EMOGI_FOUND:
			show_cached(call, lookup, EMOGI_GRAPH_FOUND, view);
			break;
		case EMOGI_MUST_BUILD:
			emogi_cache_shared->graphs[call->slot->graph].asked_once = is_new;
			if (build_shared(call, source, rows, lookup, view))
				show_cached(call, lookup, EMOGI_GRAPH_BUILT, view);
			break;
		case EMOGI_MUST_BUILD_PRIVATELY:
			build_privately(call, source, rows, &lookup->key,
							rows->analysis != NULL ? EMOGI_NOT_TRACKED : NULL, view);
			break;
		case EMOGI_MUST_WAIT:
		case EMOGI_MUST_REGISTER:
		case EMOGI_MUST_MAKE_ROOM:
			break;				/* handled within emogi_cache_lookup_find */
	}
}

/*
 * Check whether the caller may read the column of a cached graph's weights. It may have been
 * dropped.
 */
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
 * Get all data of the call's cached graph, in the call's direction, without weights if the caller
 * may not read them. The number of skipped rows comes from the slot, as the call's snapshot sees
 * it, because the graph may meanwhile serve other calls with other counts.
 */
static void
reveal_all(EmogiSlot *slot, EmogiSource *source, EmogiGraphKey *key, EmogiAcquired *acquired)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[slot->graph];

	/* a user who may run a query may read all columns of its result */
	if (cached->key.weight > 0 &&
		(cached->key.of_query || may_read_weights(source, cached->key.weight)))
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
 * Build the graph of a call again, complete, from the rows that the active snapshot sees, for the
 * call only. The graph of a query is built from its text, without the query analysis.
 */
static void
build_again(EmogiCall *call, const EmogiSource *source, const Rows *rows,
			const EmogiCacheLookup *lookup, EmogiGraphView *view)
{
	EmogiSlot  *slot = call->slot;
	EmogiSource whole = *source;
	EmogiGraphKey key = lookup->key;
	EmogiVerification *verification = &view->verification;
	EmogiAcquired *acquired = &verification->acquired;
	EmogiAcquired *rebuilt = &verification->rebuilt;
	const Rows	again = {.are_heaps = rows->are_heaps,.leaves = rows->are_heaps ? rows->leaves :
						 NIL};

	verification->is_cached = slot->graph >= 0;
	verification->from_heaps = rows->are_heaps ||
		(rows->analysis != NULL && rows->analysis->filtered != NULL);
	if (verification->is_cached && view->overlay == NULL)
		reveal_all(slot, &whole, &key, acquired);
	else
		*acquired = (EmogiAcquired) {view->graph, pg_atomic_read_u64(&slot->nskipped)};
	pg_atomic_write_u64(&slot->nskipped, 0);
	build_edges(call, &whole, &again, key.weights);
	emogi_build_graph(call, key.direction, acquired->graph.backward.offsets != NULL,
					  &rebuilt->graph, &rebuilt->weight_misfits);
	rebuilt->nskipped = pg_atomic_read_u64(&slot->nskipped);
	if (!verification->is_cached || key.weight == 0 || view->overlay != NULL)
		rebuilt->weight_misfits = 0;
	if (view->overlay != NULL)
		/* not counted for an older graph with an overlay */
		acquired->nskipped = rebuilt->nskipped;
}

/* Get the graph of rows that find_rows has found; the arguments are those of emogi_acquire. */
static void
acquire_from_rows(EmogiCall *call, EmogiSource *source, const Rows *found,
				  const EmogiCacheLookup *lookup, bool may_share,
				  const EmogiGraphRequest *request, EmogiGraphView *view)
{
	const Rows	rows = *found;
	const EmogiGraphKey *wanted = &lookup->key;
	EmogiGraphOrigin origin;

	if (wanted->shared_only && !may_share)
		report_private(call, source, &rows,
					   rows.analysis != NULL ? emogi_cache_lookup_why_not(lookup) : NULL);
	if (may_share && emogi_cache_lookup_look(call->slot, lookup))
		show_cached(call, lookup, EMOGI_GRAPH_FOUND, view);
	else if (may_share && !request->is_verified && !wanted->shared_only &&
			 emogi_cache_lookup_look_back(call->slot, lookup, &call->record.age_ms))
		show_cached(call, lookup, EMOGI_GRAPH_STALE, view);
	else if ((origin = emogi_apply_delta(call, source, lookup, request->accepts_overlay, view)) !=
			 EMOGI_GRAPH_NONE)
		note_origin(call, view, origin, NULL);
	else if (may_share)
		acquire_shared(call, source, &rows, lookup, view);
	else
		build_privately(call, source, &rows, wanted,
						rows.analysis != NULL ? emogi_cache_lookup_why_not(lookup) : NULL, view);
	if (source->is_query)
		source->key = rows.analysis != NULL ? rows.analysis->columns.key : call->slot->keys;
	if (wanted->shared_only && call->slot->graph < 0)
		report_private(call, source, &rows, NULL);
	if (request->is_verified)
		build_again(call, source, &rows, lookup, view);
	else if (wanted->weights == EMOGI_WEIGHTS_UNUSED)
		/* rows with a reverse weight have weights even if unused */
		emogi_cache_lookup_hide_weights(&view->graph);
	call->record.nvertices = view->graph.nvertices;
	call->record.nedges = view->graph.forward.nedges;
}

/* Get the table, perhaps a filtered one, whose indexes a search may use; NULL if there is none. */
static const EmogiSource *
find_indexed(const EmogiSource *source, const Rows *rows)
{
	if (rows->analysis != NULL)
		source = rows->analysis->filtered;
	else if (!rows->are_heaps)
		return NULL;
	return source != NULL && emogi_index_search_supports(source) ? source : NULL;
}

/*
 * Run a search on indexes, if that is possible and cheaper; return false if it needs a graph.
 * Raises 42883 for vertices of another type.
 */
static bool
search_indexes(EmogiCall *call, EmogiSource *source, const Rows *rows,
			   const EmogiCacheLookup *lookup, bool may_share, EmogiIndexSearch *search)
{
	const EmogiSource *indexed = find_indexed(source, rows);

	if (indexed == NULL || !search->describe(search, &indexed->key) ||
		!emogi_index_or_build_search(call, indexed, rows->leaves, lookup, may_share, search))
		return false;
	source->key = indexed->key;
	return true;
}

/* Get a graph of local rows; the arguments are those of emogi_acquire. */
static void
acquire_local(EmogiCall *call, EmogiSource *source, const Rows *rows, EmogiCacheLookup *lookup,
			  const EmogiGraphRequest *request, EmogiGraphView *view)
{
	const bool	may_share = emogi_cache_lookup_may_share(lookup, rows->leaves);

	if (request->search != NULL &&
		search_indexes(call, source, rows, lookup, may_share, request->search))
		note_origin(call, view, EMOGI_GRAPH_INDEX, NULL);
	else
	{
		emogi_call_take_slot(call);
		acquire_from_rows(call, source, rows, lookup, may_share, request, view);
	}
}

/*
 * Check whether the graph of rows on servers can be shared, which the servers decide. A graph for
 * comparison must not come from the cache.
 */
static bool
may_share_from_servers(EmogiCall *call, const Rows *rows, EmogiCacheLookup *lookup,
					   bool is_compared)
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
		why = is_compared ? emogi_cacheability_elsewhere(linitial_oid(rows->elsewhere)) :
			emogi_cache_lookup_why_not(lookup);
	emogi_call_note_private(call, why);
	return false;
}

/* Get a graph of rows on servers, besides local ones; the arguments are those of emogi_acquire. */
static void
acquire_from_servers(EmogiCall *call, EmogiSource *source, Rows *rows, EmogiCacheLookup *lookup,
					 const EmogiGraphRequest *request, EmogiGraphView *view)
{
	emogi_call_take_slot(call);
	rows->servers = emogi_remote_open(call, source, rows->elsewhere);
	PG_ENSURE_ERROR_CLEANUP(emogi_remote_close, PointerGetDatum(rows->servers));
	{
		const bool	may_share = may_share_from_servers(call, rows, lookup, request->is_verified);

		acquire_from_rows(call, source, rows, lookup, may_share, request, view);
	}
	PG_END_ENSURE_ERROR_CLEANUP(emogi_remote_close, PointerGetDatum(rows->servers));
	emogi_remote_leave(rows->servers);
	rows->servers = NULL;
}

/*
 * Get the graph of a source as the caller's snapshot sees it, from the cache or newly built, for
 * the duration of the call; see EmogiGraphRequest for what else the call accepts. The call may have
 * no slot yet; it has one on return, unless an index search has answered it. The caller's rights
 * are checked first, on every call. Raises 42501, 40001, 53200, 22004 and 22023 for weights, 55000
 * if a shared graph is requested but not possible, and any error of a query.
 */
void
emogi_acquire(EmogiCall *call, EmogiSource *source, const EmogiGraphRequest *request,
			  EmogiGraphView *view)
{
	Rows		rows = find_rows(call, source);
	/* made after find_rows, which may have resolved the source again */
	EmogiCacheLookup  *lookup = emogi_cache_lookup_make(source, rows.analysis, &request->key);

	memset(view, 0, sizeof *view);
	if (rows.elsewhere != NIL)
		acquire_from_servers(call, source, &rows, lookup, request, view);
	else
		acquire_local(call, source, &rows, lookup, request, view);
	emogi_cache_lookup_free(lookup);
	release_rows(&rows);
}

/* Release the graph of a call, so that it can get another. */
void
emogi_acquire_release(EmogiCall *call)
{
	int			graph = call->slot->graph;

	call->slot->graph = -1;
	pg_atomic_write_u64(&call->slot->nskipped, 0);
	if (graph >= 0)
		emogi_cache_unpin(graph);
}
