/*
 * cache_lookup.c: find a call's graph in the shared cache, or reserve an entry for the call to
 * build it.
 *
 * cache_lookup_make.c tells what a call requests. cache_lookup_tracker.c does the same as this file
 * with the help of a change tracker; cache_lookup_publish.c publishes the graphs that were built.
 *
 * A call that names tables looks for a graph of the same columns that holds exactly the rows that
 * its snapshot sees (recent_writers.c decides), and pins it for the lifetime of its slot. If there
 * is none, the call reserves an entry, builds the graph and publishes it; other calls that can use
 * it wait for it. Several graphs of one table may coexist, for older and newer snapshots, for
 * different directions, with and without weights.
 *
 * A call that names a query or a view looks for a graph with the same query fingerprint
 * (../analysis) in the same way.
 *
 * For foreign tables and Citus tables, the servers report the version of their rows (../servers),
 * which is part of the key.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/timestamp.h"

#include "acquire/cache_lookup.h"
#include "base/fault.h"
#include "cache/tables.h"

/* ---- lookup, under cache_lock ---- */

/* Check whether a call that uses weights in this way accepts all weights of a graph. */
bool
emogi_cache_lookup_accepts_weights(EmogiWeights weights, uint32 misfits)
{
	switch (weights)
	{
		case EMOGI_WEIGHTS_LENGTHS:
			return (misfits & EMOGI_NEGATIVE) == 0;
		case EMOGI_WEIGHTS_CONDUCTANCES:
		case EMOGI_WEIGHTS_CAPACITIES:
			return (misfits & (EMOGI_NEGATIVE | EMOGI_INFINITE)) == 0;
		case EMOGI_WEIGHTS_FACTORS:
			return (misfits & EMOGI_INFINITE) == 0;
		default:
			return true;
	}
}

/* Check whether a graph has the requested columns. */
bool
emogi_cache_lookup_has_columns(const EmogiCached *cached, const EmogiGraphKey *key)
{
	if (!emogi_cache_same_source(&cached->key, key) || cached->key.src != key->src ||
		cached->key.dst != key->dst ||
		cached->key.reverse != key->reverse || cached->key.of_servers != key->of_servers ||
		(key->of_servers && memcmp(cached->key.fingerprint, key->fingerprint,
								   sizeof key->fingerprint) != 0) ||
		!emogi_key_type_equal(&cached->key.keys, &key->keys))
		return false;
	return key->weight == 0 ||
		(cached->key.weight == key->weight &&
		 emogi_cache_lookup_accepts_weights(key->weights, cached->weight_misfits));
}

/* Check whether a graph has the requested adjacency lists. The transpose of 'out' is 'in'. */
bool
emogi_cache_lookup_has_lists(const EmogiCached *cached, const EmogiGraphKey *key)
{
	bool		both_ways = cached->key.with_backward || cached->key.direction == EMOGI_BOTH;

	if (key->with_backward && !both_ways)
		return false;
	if (key->any_direction || cached->key.direction == key->direction)
		return true;
	return cached->key.direction != EMOGI_BOTH && key->direction != EMOGI_BOTH &&
		cached->key.with_backward;
}

/*
 * Check whether a graph can serve as a base graph, from which edges are read. Not with direction
 * 'both': its lists do not tell an edge from its reverse.
 */
static bool
can_be_base(const EmogiCached *cached, const EmogiGraphKey *key)
{
	return cached->key.direction != EMOGI_BOTH && emogi_cache_lookup_has_columns(cached, key);
}

/* Check whether a leaf of a graph is one of a lookup, with the same file and columns. */
bool
emogi_cache_lookup_has_leaf(const EmogiLeaf *leaf, const EmogiCacheLookup *lookup, int i)
{
	return emogi_tables_relid(leaf->table) == lookup->relids[i] &&
		leaf->relfilenumber == lookup->relfilenumbers[i] && leaf->columns == lookup->columns[i];
}

/* Check whether a graph holds exactly the rows that the lookup's snapshot sees. */
static bool
is_exact(const EmogiCached *cached, const EmogiCacheLookup *lookup)
{
	if (!cached->by_writers || cached->nleaves != lookup->nleaves)
		return false;
	for (int i = 0; i < lookup->nleaves; i++)
	{
		const EmogiLeaf *leaf = &cached->leaves[i];

		if (i > 0 && lookup->key.of_query && emogi_faults.analysis[EMOGI_ANALYSIS_BASE_TABLES])
			break;
		if (!emogi_cache_lookup_has_leaf(leaf, lookup, i) ||
			!emogi_recent_writers_allow_snapshot(leaf->table, &lookup->xids) ||
			!emogi_recent_writers_see_same_rows(leaf->table, &cached->xids, &lookup->xids,
												NULL, 0))
			return false;
	}
	return true;
}

/*
 * Check whether a call prefers a graph, if it is suitable, to others: one with component labels if
 * it can use them, because they save a run.
 */
bool
emogi_cache_lookup_prefers(const EmogiCached *cached, const EmogiGraphKey *key)
{
	return !key->by_labels || cached->labels != NULL;
}

/*
 * Find a suitable graph in the given state, a preferred one if there is any; `fits` checks its
 * adjacency lists.
 */
static EmogiCached *
find_graph(const EmogiCacheLookup *lookup, EmogiCachedState state,
		   bool (*fits) (const EmogiCached *, const EmogiGraphKey *))
{
	EmogiCached *found = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, emogi_cache_bucket(&lookup->key))
	{
		EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		const bool	is_preferred = emogi_cache_lookup_prefers(cached, &lookup->key);

		if (cached->state == state && (found == NULL || is_preferred) &&
			emogi_cache_lookup_has_columns(cached, &lookup->key) &&
			fits(cached, &lookup->key) &&
			is_exact(cached, lookup))
		{
			found = cached;
			if (is_preferred)
				break;
		}
	}
	return found;
}

/* Release the base graph of a slot. */
void
emogi_cache_lookup_release_base(EmogiSlot *slot)
{
	int			base_graph = slot->base_graph;

	slot->base_graph = -1;
	if (base_graph >= 0)
		emogi_cache_unpin(base_graph);
}

/* Pin a graph, and return its index. */
int
emogi_cache_lookup_pin(EmogiCached *cached)
{
	cached->pins++;
	cached->asked_once = false;
	emogi_cache_touch(cached);
	return (int) (cached - emogi_cache_shared->graphs);
}

/* Count a hit of a graph, pin it, and return its index. */
static int
take(EmogiCached *cached)
{
	cached->hits++;
	cached->staleness_ms = Max(cached->staleness_ms, emogi_max_staleness_ms);
	emogi_cache_shared->counters.hits++;
	return emogi_cache_lookup_pin(cached);
}

/*
 * Pin a graph for a slot's call. Copy nskipped now, because it may change as soon as the lock is
 * released (cache_lookup_tracker.c).
 */
static void
take_for_slot(EmogiSlot *slot, EmogiCached *cached)
{
	slot->graph = take(cached);
	pg_atomic_write_u64(&slot->nskipped, cached->nskipped);
}

/* Release the references to the rings of the first `count` leaves. */
static void
untrack_leaves(const EmogiCacheLookup *lookup, int count)
{
	for (int i = 0; i < count; i++)
		emogi_tables_release(lookup->tables[i]);
}

/* Release the references to the rings of all leaves. */
void
emogi_cache_lookup_untrack(const EmogiCacheLookup *lookup)
{
	untrack_leaves(lookup, lookup->nleaves);
}

/*
 * Take references to the rings of all leaves. Return EMOGI_LOOKUP_BUILD, and set *usable if their
 * rules allow graphs under the lookup's snapshot; or EMOGI_LOOKUP_REGISTER if registration may
 * still allow them. If there is no room, return another outcome, without references.
 */
EmogiLookupOutcome
emogi_cache_lookup_track(const EmogiCacheLookup *lookup, bool *usable)
{
	bool		must_register = false;

	*usable = true;
	if (!emogi_tables_can_hold(lookup->nleaves))
		return EMOGI_LOOKUP_BUILD_PRIVATE;
	for (int i = 0; i < lookup->nleaves; i++)
	{
		lookup->tables[i] = emogi_recent_writers_track(lookup->relids[i], &lookup->xids);
		if (lookup->tables[i] < 0)
		{
			untrack_leaves(lookup, i);
			return EMOGI_LOOKUP_MAKE_ROOM;
		}
		*usable &= emogi_recent_writers_allow_snapshot(lookup->tables[i], &lookup->xids);
		must_register |= emogi_recent_writers_must_register(lookup->tables[i], &lookup->xids);
	}
	return must_register && !lookup->registration->is_done ? EMOGI_LOOKUP_REGISTER :
		EMOGI_LOOKUP_BUILD;
}

/*
 * Register the leaves, which must have been tracked. Their references last until the next lookup,
 * so that the entries do; on error they are released. Caller does not hold cache_lock.
 */
void
emogi_cache_lookup_register(const EmogiCacheLookup *lookup)
{
	emogi_recent_writers_register(lookup->tables, lookup->relids, lookup->nleaves, &lookup->xids);
	lookup->registration->is_done = lookup->registration->has_references = true;
}

/* Release the references held for registration, if any. */
void
emogi_cache_lookup_end_registration(const EmogiCacheLookup *lookup)
{
	if (lookup->registration->has_references)
		emogi_cache_lookup_untrack(lookup);
	lookup->registration->is_done = lookup->registration->has_references = false;
}

/*
 * Reserve an entry for the graph that a slot will build, on leaves that have been tracked. Without
 * room, release their references and return NULL.
 */
EmogiCached *
emogi_cache_lookup_add(EmogiSlot *slot, const EmogiCacheLookup *lookup, const EmogiGraphKey *key)
{
	EmogiCached *cached = emogi_cache_add(key, &lookup->xids, lookup->nleaves, lookup->text);

	if (cached == NULL)
	{
		untrack_leaves(lookup, lookup->nleaves);
		return NULL;
	}
	cached->key.any_direction = cached->key.shared_only = false;
	cached->exact_at = lookup->taken_at;
	cached->of_values = lookup->key.of_query &&
		emogi_asked_queries_has_values(&lookup->key, lookup->shape);
	for (int i = 0; i < lookup->nleaves; i++)
		cached->leaves[i] = (EmogiLeaf) {.table = lookup->tables[i],
										 .relfilenumber = lookup->relfilenumbers[i],
										 .columns = lookup->columns[i]};
	cached->nleaves = lookup->nleaves;
	slot->graph = (int) (cached - emogi_cache_shared->graphs);
	return cached;
}

/* Reserve an entry for the graph that a slot will build. */
static EmogiLookupOutcome
reserve(EmogiSlot *slot, const EmogiCacheLookup *lookup)
{
	bool		usable;
	EmogiLookupOutcome outcome = emogi_cache_lookup_track(lookup, &usable);
	EmogiCached *base_graph;

	if (outcome != EMOGI_LOOKUP_BUILD)
		return outcome;
	if (!usable)
	{
		emogi_cache_lookup_untrack(lookup);
		return EMOGI_LOOKUP_BUILD_PRIVATE;
	}
	base_graph = lookup->has_vertices ? NULL : find_graph(lookup, EMOGI_GRAPH_READY, can_be_base);
	if (emogi_cache_lookup_add(slot, lookup, &lookup->key) == NULL)
		return EMOGI_LOOKUP_MAKE_ROOM;
	slot->base_graph = base_graph != NULL ? emogi_cache_lookup_pin(base_graph) : -1;
	pg_atomic_write_u64(&slot->nskipped, base_graph != NULL ? base_graph->nskipped : 0);
	return EMOGI_LOOKUP_BUILD;
}

/*
 * Look up a graph. If there is none, reserve an entry for it, or, if reserves is false, do nothing.
 */
static EmogiLookupOutcome
look_up(EmogiSlot *slot, const EmogiCacheLookup *lookup, bool reserves)
{
	const bool	was_registered = lookup->registration->has_references;
	EmogiCached *cached;
	EmogiLookupOutcome outcome;

	emogi_cache_lock();
	emogi_recent_writers_forget_recovery();
	cached = find_graph(lookup, EMOGI_GRAPH_READY, emogi_cache_lookup_has_lists);
	if (cached != NULL)
	{
		take_for_slot(slot, cached);
		cached->exact_at = Max(cached->exact_at, lookup->taken_at);
		outcome = EMOGI_LOOKUP_FOUND;
	}
	else if ((cached = find_graph(lookup, EMOGI_GRAPH_BUILDING, emogi_cache_lookup_has_lists)) !=
			 NULL)
	{
		slot->awaited_graph = (int) (cached - emogi_cache_shared->graphs);
		outcome = EMOGI_LOOKUP_WAIT;
	}
	else
		outcome = reserves ? reserve(slot, lookup) : EMOGI_LOOKUP_BUILD;
	if (was_registered)
		emogi_cache_lookup_end_registration(lookup);
	emogi_cache_unlock();
	return outcome;
}

/* ---- lookup with waiting ---- */

/* Look up a graph as look_up does, after waiting for the call that builds it. */
static EmogiLookupOutcome
wait_for_builder(EmogiSlot *slot, const EmogiCacheLookup *lookup, bool reserves)
{
	EmogiLookupOutcome outcome;

	emogi_cache_lock();
	emogi_cache_shared->counters.waits++;
	emogi_cache_unlock();
	for (;;)
	{
		ConditionVariablePrepareToSleep(&emogi_cache_shared->changed);
		outcome = look_up(slot, lookup, reserves);
		if (outcome != EMOGI_LOOKUP_WAIT)
			break;
		emogi_shared_sleep(&emogi_cache_shared->changed, 1000, EMOGI_WAIT_BUILD);
	}
	ConditionVariableCancelSleep();
	slot->awaited_graph = -1;
	return outcome;
}

/* Find the graph in the cache, or reserve an entry for it. */
EmogiLookupOutcome
emogi_cache_lookup_find(EmogiSlot *slot, const EmogiCacheLookup *lookup)
{
	EmogiLookupOutcome outcome = look_up(slot, lookup, true);

	while (outcome == EMOGI_LOOKUP_WAIT || outcome == EMOGI_LOOKUP_REGISTER ||
		   outcome == EMOGI_LOOKUP_MAKE_ROOM)
	{
		if (outcome == EMOGI_LOOKUP_MAKE_ROOM && !emogi_call_make_room(0))
			return EMOGI_LOOKUP_BUILD_PRIVATE;
		if (outcome == EMOGI_LOOKUP_REGISTER)
			emogi_cache_lookup_register(lookup);
		outcome = outcome == EMOGI_LOOKUP_WAIT ? wait_for_builder(slot, lookup, true) :
			look_up(slot, lookup, true);
	}
	return outcome;
}

/*
 * Find the graph in the cache, after waiting for a call that builds it. Return false, with nothing
 * reserved, if there is none.
 */
bool
emogi_cache_lookup_await(EmogiSlot *slot, const EmogiCacheLookup *lookup)
{
	EmogiLookupOutcome outcome = look_up(slot, lookup, false);

	if (outcome == EMOGI_LOOKUP_WAIT)
		outcome = wait_for_builder(slot, lookup, false);
	return outcome == EMOGI_LOOKUP_FOUND;
}

/* Get what the cache has if changes of the lookup's tables can be tracked. */
static EmogiCacheHas
find_tracker(const EmogiCacheLookup *lookup)
{
	const EmogiChangeTracker *tracker = lookup->can_track ?
		emogi_change_tracker_find(&lookup->key) : NULL;

	if (tracker == NULL || tracker->phase != EMOGI_TRACKER_READY)
		return EMOGI_CACHE_HAS_NOTHING;
	return tracker->holder >= 0 ? EMOGI_CACHE_HAS_HELD_TRACKER : EMOGI_CACHE_HAS_TRACKER;
}

/*
 * Find the graph of a lookup that can be shared, as emogi_cache_lookup_find_or_wait does; NULL if
 * there is none. Caller holds cache_lock.
 */
const EmogiCached *
emogi_cache_lookup_find_shared(const EmogiCacheLookup *lookup)
{
	emogi_recent_writers_forget_recovery();
	return find_graph(lookup, EMOGI_GRAPH_READY, emogi_cache_lookup_has_lists);
}

/*
 * Look once at what the cache has for a call: without waiting, and at one time. Pin a graph for the
 * call, which may have no slot yet; call NULL = do not, for EXPLAIN. may_share: the graph can be
 * shared.
 */
EmogiCacheResult
emogi_cache_lookup_find_or_wait(EmogiCall *call, const EmogiCacheLookup *lookup, bool may_share)
{
	EmogiCacheResult result = {EMOGI_CACHE_HAS_NOTHING};
	EmogiCached *cached = NULL;

	if (!may_share && !lookup->can_track)
		return result;
	emogi_cache_lock();
	emogi_recent_writers_forget_recovery();
	if (may_share)
		cached = find_graph(lookup, EMOGI_GRAPH_READY, emogi_cache_lookup_has_lists);
	if (cached == NULL)
	{
		result.has = find_tracker(lookup);
		result.is_building = may_share &&
			find_graph(lookup, EMOGI_GRAPH_BUILDING, emogi_cache_lookup_has_lists) != NULL;
	}
	else
	{
		result.has = EMOGI_CACHE_HAS_GRAPH;
		if (call != NULL)
		{
			emogi_call_pin(call, take(cached), cached->nskipped);
			cached->exact_at = Max(cached->exact_at, lookup->taken_at);
		}
	}
	emogi_cache_unlock();
	return result;
}

/*
 * Find the READY graph with the requested columns and adjacency lists that was known to be exact
 * most recently; NULL if there is none.
 */
static EmogiCached *
find_latest(const EmogiCacheLookup *lookup)
{
	EmogiCached *latest = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, emogi_cache_bucket(&lookup->key))
	{
		EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (cached->state == EMOGI_GRAPH_READY &&
			emogi_cache_lookup_has_columns(cached, &lookup->key) &&
			emogi_cache_lookup_has_lists(cached, &lookup->key) &&
			(latest == NULL || cached->exact_at > latest->exact_at))
			latest = cached;
	}
	return latest;
}

/*
 * Find a graph that was exact within the last emogi.max_staleness milliseconds, and its age; return
 * false if there is none. Not used if the transaction has one snapshot for all its statements, or
 * has changed a table itself.
 */
bool
emogi_cache_lookup_find_stale(EmogiSlot *slot, const EmogiCacheLookup *lookup, double *age_ms)
{
	EmogiCached *cached;

	if (emogi_max_staleness_ms == 0 || lookup->own || IsolationUsesXactSnapshot())
		return false;
	emogi_cache_lock();
	cached = find_latest(lookup);
	*age_ms = cached != NULL ? (double) (GetCurrentTimestamp() - cached->exact_at) / 1000.0 : 0;
	if (cached != NULL && *age_ms > emogi_max_staleness_ms)
		cached = NULL;
	if (cached != NULL)
		take_for_slot(slot, cached);
	emogi_cache_unlock();
	return cached != NULL;
}

/* Hide the weights of a graph from a call that uses none. */
void
emogi_cache_lookup_hide_weights(EmogiGraph *graph)
{
	graph->weight_type = EMOGI_WEIGHT_NONE;
	graph->forward.weights = graph->backward.weights = NULL;
}

/* Set *shown to a graph of the given direction, in the form that a call requested. */
void
emogi_cache_lookup_set_view(const EmogiGraph *graph, EmogiDirection direction,
							const EmogiGraphKey *wanted, EmogiGraph *shown)
{
	*shown = *graph;
	if (!wanted->any_direction && direction != wanted->direction)
	{
		shown->forward = graph->backward;
		shown->backward = graph->forward;
	}
	if (wanted->weight == 0)
		emogi_cache_lookup_hide_weights(shown);
}

/*
 * Pin the latest cached graph that matches the request, regardless of its snapshot, and set *graph
 * to it in the requested form; return false if there is none. The caller must unpin *index, and
 * must not raise an error before that.
 */
bool
emogi_cache_lookup_pin_latest(const EmogiGraphKey *key, int *index, uint64 *id, EmogiGraph *graph)
{
	EmogiCached *latest = NULL;
	dlist_iter	iter;

	emogi_cache_lock();
	dlist_foreach(iter, emogi_cache_bucket(key))
	{
		EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (cached->state == EMOGI_GRAPH_READY && emogi_cache_lookup_has_columns(cached, key) &&
			emogi_cache_lookup_has_lists(cached, key) &&
			(latest == NULL || emogi_cache_lookup_prefers(cached, key) >
			 emogi_cache_lookup_prefers(latest, key) ||
			 (emogi_cache_lookup_prefers(cached, key) ==
			  emogi_cache_lookup_prefers(latest, key) && cached->id > latest->id)))
			latest = cached;
	}
	if (latest != NULL)
	{
		*index = emogi_cache_lookup_pin(latest);
		*id = latest->id;
		emogi_cache_lookup_set_view(&latest->graph, latest->key.direction, key, graph);
	}
	emogi_cache_unlock();
	return latest != NULL;
}
