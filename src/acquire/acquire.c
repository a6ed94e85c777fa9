/*
 * acquire.c: look up a call's graph in the shared cache, bring it up to date, or build it.
 *
 * graph_source.c checks the caller's rights, takes a snapshot that sees the objects named by the
 * graph argument, and tells how their rows are read. cache_lookup.c then looks for a suitable
 * cached graph, once. If there is none, apply_delta.c brings an existing graph up to date, provided
 * that the changes of the tables can be tracked. Otherwise the graph is built here. A cached graph
 * of the opposite direction is a base graph: its edges are read from memory instead of the table. A
 * search that reaches few vertices may use indexes rather than have a graph built
 * (index_or_build.c), and a call that depends on few edges may have a graph of these
 * (neighborhood_graph.c).
 */
#include "postgres.h"

#include "parser/parsetree.h"
#include "storage/ipc.h"
#include "utils/syscache.h"

#include "acquire/masked_graph.h"
#include "base/arena.h"
#include "cache/change_tracker.h"
#include "changes/own_changes.h"

#define EMOGI_NOT_TRACKED \
	"a transaction that changed one of its tables began before tracking did, or the cache is full"

/* What an acquisition works on. */
typedef struct Acquisition
{
	EmogiCall  *call;
	EmogiSource *source;
	const EmogiGraphRequest *request;
	EmogiGraphView *view;		/* result */
	EmogiGraphSource rows;		/* where edges are read from */
	EmogiCacheLookup *lookup;
	bool		may_share;
} Acquisition;

/*
 * Record how a call gets its graph, for its view, emogi_runs and EXPLAIN. why: it is private to the
 * call; NULL = the reason is recorded already, or irrelevant.
 */
static void
note_origin(EmogiCall *call, EmogiGraphView *view, EmogiGraphOrigin origin, const char *why)
{
	view->origin = call->record.origin = origin;
	if (why != NULL)
		emogi_call_record_private(call, why);
	if (origin != EMOGI_GRAPH_PRIVATE && origin != EMOGI_GRAPH_OVERLAID)
		return;
	if (origin == EMOGI_GRAPH_PRIVATE && call->record.why_private[0] != '\0')
		view->why = call->record.why_private;
	emogi_cache_lock();
	if (origin == EMOGI_GRAPH_PRIVATE)
		emogi_cache_shared->counters.private_builds++;
	else
		emogi_cache_shared->counters.overlays++;
	emogi_cache_unlock();
}

/*
 * Build the reserved graph, from a base graph's edges or from the source, and publish it. Return
 * false if the rows read were not those of the lookup; then the graph is private to the call.
 */
static bool
build_shared(Acquisition *acquisition)
{
	EmogiCall  *call = acquisition->call;
	EmogiSlot  *slot = call->slot;
	const EmogiGraphKey *key = &acquisition->lookup->key;
	EmogiGraphSource *rows = &acquisition->rows;
	EmogiGraph	graph;
	EmogiBuilt	built;
	bool		publishes = true;

	emogi_fault_sleep(EMOGI_FAULT_AT_REGISTERED);
	if (slot->base_graph >= 0)
	{
		const EmogiCached *base_graph = &emogi_cache_shared->graphs[slot->base_graph];

		graph = base_graph->graph;
		if (key->weight == 0)
			emogi_cache_lookup_hide_weights(&graph);
		emogi_dictionaries_attach(slot, base_graph->dictionary);
		emogi_build_edges_of_graph(call, &graph, base_graph->key.direction, key->weights);
		emogi_cache_lookup_release_base(slot);
	}
	else
	{
		emogi_build_edges(call, rows, key->weights, NULL);
		publishes = emogi_source_keys_are_current(rows->source) &&
			(rows->kind->may_publish == NULL || rows->kind->may_publish(rows));
	}
	emogi_build_graph(call, key, emogi_graph_request_chained(acquisition->request), NULL, &built);
	emogi_call_phase(call, EMOGI_PHASE_IDLE);
	if (!publishes)
	{
		emogi_cache_unpin(slot->graph);
		slot->graph = -1;
		acquisition->view->graph = built.graph;
		note_origin(call, acquisition->view, EMOGI_GRAPH_PRIVATE,
					"its plan differs from its analysis, or an object that it uses was replaced or "
					"altered during the call");
		return false;
	}
	emogi_cache_lookup_publish(call, &built.graph, built.weight_misfits,
							   pg_atomic_read_u64(&slot->nskipped),
							   &emogi_cache_shared->counters.builds);
	return true;
}

/* Raise 55000 because a shared graph was requested but is not possible, and say why. */
static void
report_private(const Acquisition *acquisition, const char *why)
{
	if (acquisition->rows.kind == &emogi_graph_source_heaps &&
		acquisition->lookup->analysis == NULL)
		why = NULL;				/* the tables tell why */
	else if (why == NULL && acquisition->call->record.why_private[0] != '\0')
		why = acquisition->call->record.why_private;
	emogi_not_cacheable_report(&acquisition->rows, why);
}

/*
 * Build a graph that lives as long as the call. why: it is not shared; NULL = recorded already, or
 * irrelevant.
 */
static void
build_privately(Acquisition *acquisition, const char *why)
{
	const EmogiGraphKey *wanted = &acquisition->lookup->key;
	EmogiCall  *call = acquisition->call;
	EmogiGraphView *view = acquisition->view;
	EmogiBuilt	built;

	if (wanted->shared_only)
		report_private(acquisition, why);
	note_origin(call, view, EMOGI_GRAPH_PRIVATE, why);
	emogi_build_edges(call, &acquisition->rows, wanted->weights, NULL);
	emogi_build_graph(call, wanted, emogi_graph_request_chained(acquisition->request), NULL,
					  &built);
	view->graph = built.graph;
}

/* Set the view to the call's pinned graph, in the form that the call requested. */
static void
show_cached(Acquisition *acquisition, EmogiGraphOrigin origin)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[emogi_call_graph(acquisition->call)];
	EmogiGraphView *view = acquisition->view;

	note_origin(acquisition->call, view, origin, NULL);
	emogi_fault_sleep(EMOGI_FAULT_AT_FOUND);
	emogi_cache_lookup_set_view(&cached->graph, cached->key.direction, &acquisition->lookup->key,
								&view->graph);
}

/*
 * Get a graph that the cache lookup has not found: from the cache if another call has made it
 * meanwhile, or build it: for the cache if allowed, otherwise for this call only.
 */
static void
acquire_shared(Acquisition *acquisition)
{
	EmogiSlot  *slot = acquisition->call->slot;
	const EmogiCacheLookup *lookup = acquisition->lookup;
	const bool  is_new = emogi_cache_lookup_is_first_request(lookup, true) &&
		!lookup->key.shared_only;

	if (is_new && lookup->analysis->is_folded)
	{
		emogi_cache_lookup_drop_for_private(lookup);
		build_privately(acquisition, emogi_cache_lookup_first_request(lookup));
		return;
	}
	emogi_cache_miss_record(acquisition->call, lookup, acquisition->call->record.why_built);
	switch (emogi_cache_lookup_find(slot, lookup))
	{
		case EMOGI_LOOKUP_FOUND:
			show_cached(acquisition, EMOGI_GRAPH_FOUND);
			break;
		case EMOGI_LOOKUP_BUILD:
			emogi_cache_shared->graphs[slot->graph].asked_once = is_new;
			if (build_shared(acquisition))
				show_cached(acquisition, EMOGI_GRAPH_BUILT);
			break;
		case EMOGI_LOOKUP_BUILD_PRIVATE:
			build_privately(acquisition, lookup->analysis != NULL ? EMOGI_NOT_TRACKED : NULL);
			break;
		case EMOGI_LOOKUP_WAIT:
		case EMOGI_LOOKUP_REGISTER:
		case EMOGI_LOOKUP_MAKE_ROOM:
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
 * Get which weights a query reads if its weight is that of the call's cached graph. A flow may have
 * built the graph: then it is the column `capacity`.
 */
static EmogiWantedWeight
find_wanted_weight(const EmogiSource *source, const EmogiCacheLookup *lookup, AttrNumber weight)
{
	const TargetEntry *column;

	if (source->wants_weight != EMOGI_WANTS_NO_WEIGHT && lookup->key.weight == weight)
		return source->wants_weight;
	if (lookup->analysis == NULL)
		return EMOGI_WANTS_WEIGHT;
	column = get_tle_by_resno(lookup->analysis->query->targetList, weight);
	return column != NULL && column->resname != NULL && strcmp(column->resname, "capacity") == 0 ?
		EMOGI_WANTS_CAPACITY : EMOGI_WANTS_WEIGHT;
}

/*
 * Get all data of the call's cached graph, in the call's direction, without weights if the caller
 * may not read them. The number of skipped rows comes from the slot, as the call's snapshot sees
 * it, because the graph may meanwhile serve other calls with other counts.
 */
static void
reveal_all(EmogiSlot *slot, EmogiSource *source, const EmogiCacheLookup *lookup,
		   EmogiGraphKey *key, EmogiAcquired *acquired)
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
		source->wants_weight = find_wanted_weight(source, lookup, cached->key.weight);
	}
	emogi_cache_lookup_set_view(&cached->graph, cached->key.direction, key, &acquired->graph);
	acquired->nskipped = pg_atomic_read_u64(&slot->nskipped);
	acquired->weight_misfits = key->weight > 0 ? cached->weight_misfits : 0;
}

/*
 * Build the graph of a call again, complete, from the rows that the active snapshot sees, for the
 * call only. The graph of a query is built from its text, without the query analysis.
 */
static void
build_again(Acquisition *acquisition)
{
	EmogiSlot  *slot = acquisition->call->slot;
	EmogiSource whole = *acquisition->source;
	EmogiGraphKey key = acquisition->lookup->key;
	EmogiGraphView *view = acquisition->view;
	EmogiVerification *verification = &view->verification;
	EmogiAcquired *acquired = &verification->acquired;
	EmogiAcquired *rebuilt = &verification->rebuilt;
	EmogiBuilt	built;
	const EmogiGraphSource *rows = &acquisition->rows;
	EmogiGraphSource again = rows->kind == &emogi_graph_source_heaps ?
		emogi_graph_source_of_heaps(&whole, rows->tables) : emogi_graph_source_of_text(&whole);

	verification->is_cached = slot->graph >= 0;
	verification->from_heaps = rows->kind->is_of_tables;
	if (verification->is_cached && view->overlay == NULL)
		reveal_all(slot, &whole, acquisition->lookup, &key, acquired);
	else
		*acquired = (EmogiAcquired) {view->graph, pg_atomic_read_u64(&slot->nskipped)};
	pg_atomic_write_u64(&slot->nskipped, 0);
	emogi_build_edges(acquisition->call, &again, key.weights, NULL);
	verification->is_changed = rows->analysis != NULL &&
		!emogi_analysis_is_unchanged(rows->analysis);
	key.with_backward = acquired->graph.backward.offsets != NULL;
	emogi_build_graph(acquisition->call, &key, NULL, NULL, &built);
	*rebuilt = (EmogiAcquired) {built.graph, pg_atomic_read_u64(&slot->nskipped),
								built.weight_misfits};
	if (!verification->is_cached || key.weight == 0 || view->overlay != NULL)
		rebuilt->weight_misfits = 0;
	if (view->overlay != NULL)
		/* not counted for an older graph with an overlay */
		acquired->nskipped = rebuilt->nskipped;
}

/* Get why the graph cannot be shared; NULL if it can be, or the reason is recorded already. */
static const char *
why_not_shared(const Acquisition *acquisition)
{
	return !acquisition->may_share && acquisition->call->record.why_private[0] == '\0' ?
		emogi_cache_lookup_refusal(acquisition->lookup) : NULL;
}

/*
 * Get a graph of rows that are open, for a call with a slot unless the graph was found. result:
 * what the cache has, with the graph pinned for the call.
 */
static void
acquire_graph(Acquisition *acquisition, const EmogiCacheResult *result)
{
	EmogiCall  *call = acquisition->call;
	const EmogiCacheLookup *lookup = acquisition->lookup;
	const bool	may_be_stale = acquisition->may_share && !acquisition->request->is_verified &&
		!lookup->key.shared_only;
	EmogiGraphOrigin origin;

	if (result->has == EMOGI_CACHE_HAS_GRAPH ||
		(result->is_building && emogi_cache_lookup_await(call->slot, lookup)))
		show_cached(acquisition, EMOGI_GRAPH_FOUND);
	else if (may_be_stale &&
			 emogi_cache_lookup_find_stale(call->slot, lookup, &call->record.age_ms))
		show_cached(acquisition, EMOGI_GRAPH_STALE);
	else if ((origin = emogi_apply_delta(call, acquisition->source, lookup,
										 acquisition->request, acquisition->view)) !=
			 EMOGI_GRAPH_NONE)
		note_origin(call, acquisition->view, origin,
					origin == EMOGI_GRAPH_PRIVATE ? why_not_shared(acquisition) : NULL);
	else if (acquisition->may_share)
		acquire_shared(acquisition);
	else
		build_privately(acquisition, why_not_shared(acquisition));
}

/* Complete the graph that a call has got, as it requested. */
static void
finish_graph(Acquisition *acquisition)
{
	EmogiCall  *call = acquisition->call;
	EmogiSource *source = acquisition->source;
	EmogiGraphView *view = acquisition->view;
	const EmogiQueryAnalysis *analysis = acquisition->lookup->analysis;

	if (source->is_query)
		source->key = analysis != NULL ? analysis->columns.key : call->slot->keys;
	if (acquisition->lookup->key.shared_only && emogi_call_graph(call) < 0)
		report_private(acquisition, NULL);
	if (acquisition->request->is_verified)
		build_again(acquisition);
	else if (acquisition->lookup->key.weights == EMOGI_WEIGHTS_UNUSED)
		/* rows with a reverse weight have weights even if unused */
		emogi_cache_lookup_hide_weights(&view->graph);
	call->record.nvertices = view->graph.nvertices;
	call->record.nedges = view->graph.forward.nedges;
}

/*
 * Run a search on indexes, if that is possible and cheaper than what the cache lookup has found:
 * it answers the call, or collects the edges of a graph for this call. Return false if the call
 * needs another graph. Raises 42883 for vertices of another type.
 */
static bool
search_indexes(Acquisition *acquisition, const EmogiCacheResult *result)
{
	EmogiIndexSearch *search = acquisition->request->search;
	const EmogiSource *indexed = emogi_graph_source_indexed(&acquisition->rows);

	if (search == NULL || indexed == NULL || !emogi_index_search_supports(indexed))
		return false;
	search->tables = acquisition->rows.tables;
	if (!search->describe(search, &indexed->key) ||
		!emogi_index_or_build_search(acquisition->call, indexed, acquisition->rows.tables,
									 acquisition->lookup, result->has, acquisition->may_share,
									 search))
		return false;
	acquisition->source->key = indexed->key;
	if (emogi_index_search_collects(search->kind))
	{
		emogi_call_take_slot(acquisition->call);
		emogi_neighborhood_graph_make(acquisition->call, &acquisition->lookup->key, search,
									  &acquisition->view->graph);
	}
	return true;
}

/* Have a call pin the graph of a whole table; an EmogiAcquireWhole. */
static EmogiGraphOrigin
acquire_whole(EmogiCall *call, EmogiSource *table, const EmogiGraphSource *rows,
			  EmogiCacheLookup *lookup)
{
	const EmogiGraphRequest request = {.key = lookup->key};
	EmogiGraphView view = {0};
	Acquisition acquisition = {.call = call,.source = table,.request = &request,.view = &view,
		.rows = emogi_graph_source_of_heaps(table, rows->tables),.lookup = lookup,
		.may_share = true};
	const EmogiCacheResult result = emogi_cache_lookup_find_or_wait(call, lookup, true);

	acquire_graph(&acquisition, &result);
	if (call->slot->graph >= 0 && view.overlay == NULL && view.origin != EMOGI_GRAPH_STALE &&
		view.origin != EMOGI_GRAPH_PRIVATE)
		return view.origin;
	if (call->slot->graph >= 0)
		emogi_acquire_release(call);
	else if (view.graph.memory != NULL)
		emogi_arena_free((void *) view.graph.memory, view.graph.memory_bytes);
	return EMOGI_GRAPH_NONE;
}

/*
 * Get the graph of the whole table that a condition is about, with a mask; false if that is
 * impossible, or does not pay. instead, is_last: see emogi_masked_graph_get.
 */
static bool
get_masked(Acquisition *acquisition, EmogiCacheHas instead, bool is_last)
{
	EmogiGraphView *view = acquisition->view;

	if (!emogi_masked_graph_get(acquisition->call, &acquisition->rows, acquisition->request,
								instead, is_last, acquire_whole, view))
		return false;
	note_origin(acquisition->call, view, view->origin, NULL);
	finish_graph(acquisition);
	return true;
}

/* Get the graph as the last call of the transaction has got it; false if that is impossible. */
static bool
get_own(Acquisition *acquisition)
{
	const EmogiCacheLookup *lookup = acquisition->lookup;
	const EmogiSource *source = lookup->analysis != NULL ? lookup->analysis->filtered :
		acquisition->source;

	if (emogi_own_changes_count == 0 ||
		!emogi_own_graph_get(acquisition->call, source, lookup, acquisition->request,
							 acquisition->view))
		return false;
	emogi_call_take_slot(acquisition->call);
	if (acquisition->call->slot->graph < 0)
		return false;			/* it had to wait, and has released the graph */
	finish_graph(acquisition);
	return true;
}

/*
 * Check whether the graph of an open source can be shared. A graph for comparison must not come
 * from the cache if some rows are not in tables.
 */
static bool
may_share(Acquisition *acquisition)
{
	EmogiCall  *call = acquisition->call;
	EmogiGraphSource *rows = &acquisition->rows;
	const char *why;
	bool		may = false;

	if (rows->kind->version == NULL)
		return emogi_cache_lookup_may_share(acquisition->lookup, rows, &why);
	if (acquisition->request->is_verified)
		why = emogi_cacheability_elsewhere(linitial_oid(rows->elsewhere));
	else
	{
		emogi_call_phase(call, EMOGI_PHASE_SCAN);
		may = emogi_cache_lookup_may_share(acquisition->lookup, rows, &why);
		emogi_call_phase(call, EMOGI_PHASE_IDLE);
	}
	if (!may)
		emogi_call_record_private(call, why);
	return may;
}

/*
 * Does the graph that a call without a slot has pinned suffice? A graph with a dictionary may stay
 * pinned while rows are read, which counts for the limits, and needs a slot.
 */
static bool
suffices_pinned(const Acquisition *acquisition)
{
	const int	graph = acquisition->call->graph;

	return acquisition->request->needs_no_slot && graph >= 0 &&
		emogi_cache_shared->graphs[graph].dictionary < 0;
}

/*
 * Get the graph or the answer from rows that are open, after one cache lookup. If the call had
 * to wait for its slot, it has given up the graph that it had pinned, and looks again.
 */
static void
acquire_from_rows(Acquisition *acquisition)
{
	EmogiCall  *call = acquisition->call;
	EmogiCacheResult result;
	double		start_ms;

	acquisition->may_share = may_share(acquisition);
	if (acquisition->lookup->key.shared_only && !acquisition->may_share)
		report_private(acquisition, why_not_shared(acquisition));
	if (get_own(acquisition))
		return;
	result = emogi_cache_lookup_find_or_wait(call, acquisition->lookup, acquisition->may_share);
	if (result.has != EMOGI_CACHE_HAS_GRAPH && get_masked(acquisition, result.has, false))
		return;
	if (result.has != EMOGI_CACHE_HAS_GRAPH && search_indexes(acquisition, &result))
	{
		note_origin(call, acquisition->view, EMOGI_GRAPH_INDEX, NULL);
		emogi_masked_graph_add_cost(&acquisition->rows, acquisition->request,
									(double) acquisition->request->search->cost);
		return;
	}
	if (result.has != EMOGI_CACHE_HAS_GRAPH && get_masked(acquisition, result.has, true))
		return;
	if (!suffices_pinned(acquisition))
		emogi_call_take_slot(call);
	if (result.has == EMOGI_CACHE_HAS_GRAPH && emogi_call_graph(call) < 0)
		result = emogi_cache_lookup_find_or_wait(call, acquisition->lookup, acquisition->may_share);
	start_ms = emogi_pool_now_ms();
	acquire_graph(acquisition, &result);
	if (result.has != EMOGI_CACHE_HAS_GRAPH)
		emogi_masked_graph_add_cost(&acquisition->rows, acquisition->request,
									(emogi_pool_now_ms() - start_ms) * 1000);
	finish_graph(acquisition);
}

/* Do the same for rows that must be connected to, which needs a slot. */
static void
acquire_connected(Acquisition *acquisition)
{
	EmogiGraphSource *rows = &acquisition->rows;

	emogi_call_take_slot(acquisition->call);
	rows->kind->connect(acquisition->call, rows);
	PG_ENSURE_ERROR_CLEANUP(rows->kind->abort, PointerGetDatum(rows->connection));
	acquire_from_rows(acquisition);
	PG_END_ENSURE_ERROR_CLEANUP(rows->kind->abort, PointerGetDatum(rows->connection));
	rows->kind->disconnect(rows);
}

/*
 * Get the graph of a source as the caller's snapshot sees it, from the cache or newly built, for
 * the duration of the call; see EmogiGraphRequest for what else the call accepts. The call may have
 * no slot yet; it has one on return, unless an index search has answered it, or the graph was found
 * and the request needs no slot. The caller's rights
 * are checked first, on every call. Raises 42501, 40001, 53200, 22004 and 22023 for weights, 55000
 * if a shared graph is requested but not possible, and any error of a query.
 */
void
emogi_acquire(EmogiCall *call, EmogiSource *source, const EmogiGraphRequest *request,
			  EmogiGraphView *view)
{
	Acquisition acquisition = {.call = call,.source = source,.request = request,.view = view};

	memset(view, 0, sizeof *view);
	emogi_graph_source_open(call, source, &acquisition.rows);
	/* made after that, because the source may have been resolved again */
	acquisition.lookup = emogi_cache_lookup_make(source, acquisition.rows.analysis, &request->key);
	if (acquisition.rows.kind->connect != NULL)
		acquire_connected(&acquisition);
	else
		acquire_from_rows(&acquisition);
	emogi_cache_lookup_free(acquisition.lookup);
	emogi_graph_source_close(&acquisition.rows);
}

/* Release the graph of a call, so that it can get another. */
void
emogi_acquire_release(EmogiCall *call)
{
	int			graph = call->slot->graph;

	emogi_cache_columns_release(call->slot);
	call->slot->graph = -1;
	pg_atomic_write_u64(&call->slot->nskipped, 0);
	if (graph >= 0)
		emogi_cache_unpin(graph);
}
