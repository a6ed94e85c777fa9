/*
 * cache_lookup.c: find a call's graph in the shared cache, or reserve an entry for the call to
 * build it.
 *
 * cache_lookup_tracker.c does the same with the help of a change tracker; cache_lookup_publish.c
 * publishes the graphs that were built.
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
 *
 * Not shared are graphs of:
 * - foreign tables and other rows that change undetected;
 * - temporary tables;
 * - catalogs, because their writers release their locks before the end of the transaction;
 * - tables changed by the caller's own transaction;
 * - SERIALIZABLE transactions, because PostgreSQL must see their reads.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/catalog.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "tcop/pquery.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "acquire/cache_lookup.h"
#include "changes/changes.h"
#include "base/compat.h"
#include "base/fault.h"

/* ---- lookups ---- */

/*
 * Make a lookup for the graph of a source, or of its query analysis, if not NULL. wanted: the
 * requested adjacency lists and weights.
 */
EmogiCacheLookup *
emogi_cache_lookup_make(const EmogiSource *source, const EmogiQueryAnalysis *tree,
						const EmogiGraphKey *wanted)
{
	EmogiCacheLookup  *lookup = palloc0(sizeof *lookup);

	lookup->registration = palloc0(sizeof *lookup->registration);
	lookup->key = *wanted;
	lookup->key.database = MyDatabaseId;
	lookup->key.relid = source->relid;
	lookup->key.of_query = tree != NULL;
	lookup->key.of_servers = false;
	memset(lookup->key.fingerprint, 0, sizeof lookup->key.fingerprint);
	if (tree != NULL)
	{
		memcpy(lookup->key.fingerprint, tree->fingerprint, sizeof lookup->key.fingerprint);
		lookup->key.src = lookup->key.dst = lookup->key.reverse = 0;
		lookup->key.weight = tree->columns.weight;
		lookup->key.keys = tree->columns.key;
		lookup->has_vertices = tree->columns.vertex > 0;
		lookup->text = tree->text;
		lookup->shape = tree->is_folded ? 0 : tree->shape;
		lookup->tree = tree;
	}
	else
	{
		lookup->key.src = source->src;
		lookup->key.dst = source->dst;
		lookup->key.weight = source->weight;
		lookup->key.reverse = source->reverse;
		lookup->key.keys = source->key;
	}
	return lookup;
}

/* Free a lookup. */
void
emogi_cache_lookup_free(EmogiCacheLookup *lookup)
{
	if (lookup->relids != NULL)
	{
		pfree(lookup->relids);
		pfree(lookup->relfilenumbers);
		pfree(lookup->tables);
	}
	if (lookup->xids.running != NULL)
		pfree(lookup->xids.running);
	pfree(lookup->registration);
	pfree(lookup);
}

/*
 * Check whether a table has no blocks at all. If so, no snapshot taken before this check sees a row
 * in it, provided that the caller's lock prevents a rewrite: all rows that such a snapshot sees as
 * committed were written earlier. Rows added after the check are not visible to the caller's
 * snapshot, which is older.
 */
static bool
is_empty(Relation rel)
{
	return !RecoveryInProgress() && RelationGetNumberOfBlocks(rel) == 0;
}

/*
 * Fill in the lookup's leaves; return false if one of them cannot be shared, or there are too many.
 * An empty leaf among several is left out: a graph without it holds all rows that the active
 * snapshot, which exists already, sees in it, and so does a graph made when the leaf was empty. So
 * partitions may be created, attached and detached while they are empty.
 */
static bool
fill_in_leaves(EmogiCacheLookup *lookup, List *leaves)
{
	int			count = list_length(leaves);
	ListCell   *cell;

	if ((count == 0 && !lookup->key.of_query && !lookup->key.of_servers) ||
		count > EMOGI_MAX_BASE_TABLES)
		return false;
	lookup->relids = palloc(count * sizeof(Oid));
	lookup->relfilenumbers = palloc(count * sizeof(Oid));
	lookup->tables = palloc(count * sizeof(int));
	lookup->nleaves = 0;
	lookup->can_follow = emogi_enable_incremental &&
		(lookup->tree == NULL || lookup->tree->filtered != NULL) && !lookup->key.of_servers;
	foreach(cell, leaves)
	{
		Oid			relid = lfirst_oid(cell);
		Relation	rel = relation_open(relid, NoLock);
		bool		shared = !RelationUsesLocalBuffers(rel) && !IsCatalogRelation(rel);

		lookup->own |= emogi_recent_writers_changed_by_me(relid) &&
			!(lookup->key.of_query && emogi_faults.tree[EMOGI_TREE_OWN]);
		lookup->can_follow = lookup->can_follow && emogi_changed_pages_can_follow(rel);
		if (shared && ((count == 1 && !lookup->key.of_servers) || !is_empty(rel)))
		{
			lookup->relids[lookup->nleaves] = relid;
			lookup->relfilenumbers[lookup->nleaves++] = emogi_compat_relfilenumber(rel);
		}
		relation_close(rel, NoLock);
		if (!shared)
			return false;
	}
	return true;
}

/* Check whether the call's graph can be shared at all. */
bool
emogi_cache_lookup_may_be_shared(void)
{
	return emogi_enable_cache && !IsolationIsSerializable();
}

/*
 * Get a lower bound of the time when the active snapshot was taken. The snapshot of a cursor is
 * that of the statement that opened it, or, if a function opened it, of any enclosing statement. An
 * unnamed portal may have been bound by an earlier message.
 */
static TimestampTz
get_snapshot_time(void)
{
	if (IsolationUsesXactSnapshot() ||
		(ActivePortal != NULL && ActivePortal->visible && ActivePortal->name[0] != '\0'))
		return GetCurrentTransactionStartTimestamp();
	return ActivePortal != NULL ? Min(GetCurrentStatementStartTimestamp(),
									  ActivePortal->creation_time) :
									  GetCurrentStatementStartTimestamp();
}

/*
 * Check whether the graph of these heaps, as the active snapshot sees them, can be shared. Fills in
 * the lookup, and sets can_follow if changes can be tracked.
 */
bool
emogi_cache_lookup_may_share(EmogiCacheLookup *lookup, List *leaves)
{
	if (emogi_cache_lookup_may_be_shared() && fill_in_leaves(lookup, leaves) &&
		emogi_transaction_snapshot_take(GetActiveSnapshot(), &lookup->xids))
	{
		lookup->can_follow &= lookup->key.keys.class != EMOGI_KEY_COMPARED && lookup->nleaves > 0 &&
			lookup->xids.recovery == RecoveryInProgress();
		lookup->taken_at = get_snapshot_time();
		return !lookup->own;
	}
	lookup->can_follow = false;
	return false;
}

/*
 * Return why a query's graph cannot be shared, after emogi_cache_lookup_may_share has returned
 * false.
 */
const char *
emogi_cache_lookup_why_not(const EmogiCacheLookup *lookup)
{
	if (!emogi_enable_cache)
		return "emogi.cache is off";
	if (IsolationIsSerializable())
		return "the transaction is SERIALIZABLE";
	if (lookup->own)
		return "this transaction has changed a table that it reads";
	return "the snapshot is of a kind that is not compared, "
		"or sees too many transactions as running";
}

/*
 * Check whether the graph of the lookup's query was built or missed before, and record that it was.
 */
bool
emogi_cache_lookup_built_before(const EmogiCacheLookup *lookup)
{
	bool		built;

	emogi_cache_lock();
	built = emogi_asked_queries_built_before(&lookup->key);
	emogi_cache_unlock();
	return built;
}

/* ---- lookup, under cache_lock ---- */

/* Check whether a call that uses weights in this way accepts all weights of a graph. */
bool
emogi_cache_lookup_takes_weights(EmogiWeights weights, uint32 misfits)
{
	switch (weights)
	{
		case EMOGI_WEIGHTS_LENGTHS:
			return (misfits & EMOGI_NEGATIVE) == 0;
		case EMOGI_WEIGHTS_CONDUCTANCES:
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
		 emogi_cache_lookup_takes_weights(key->weights, cached->weight_misfits));
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

/* Check whether a graph holds exactly the rows that the lookup's snapshot sees. */
static bool
is_exact(const EmogiCached *cached, const EmogiCacheLookup *lookup)
{
	if (!cached->by_ring || cached->nleaves != lookup->nleaves)
		return false;
	for (int i = 0; i < lookup->nleaves; i++)
	{
		const EmogiLeaf *leaf = &cached->leaves[i];

		if (i > 0 && lookup->key.of_query && emogi_faults.tree[EMOGI_TREE_LEAVES])
			break;
		if (emogi_tables_relid(leaf->table) != lookup->relids[i] ||
			leaf->relfilenumber != lookup->relfilenumbers[i] ||
			!emogi_recent_writers_usable(leaf->table, &lookup->xids) ||
			!emogi_recent_writers_alike(leaf->table, &cached->xids, &lookup->xids))
			return false;
	}
	return true;
}

/* Find a suitable graph in the given state; `fits` checks its adjacency lists. */
static EmogiCached *
find_graph(const EmogiCacheLookup *lookup, EmogiCachedState state,
		   bool (*fits) (const EmogiCached *, const EmogiGraphKey *))
{
	dlist_iter	iter;

	dlist_foreach(iter, emogi_cache_chain(&lookup->key))
	{
		EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (cached->state == state && emogi_cache_lookup_has_columns(cached, &lookup->key) &&
			fits(cached, &lookup->key) &&
			is_exact(cached, lookup))
			return cached;
	}
	return NULL;
}

/* Release the base graph of a slot. */
void
emogi_cache_lookup_release_donor(EmogiSlot *slot)
{
	int			donor = slot->donor;

	slot->donor = -1;
	if (donor >= 0)
		emogi_cache_unpin(donor);
}

/* Pin a graph, and return its index. */
int
emogi_cache_lookup_pin(EmogiCached *cached)
{
	cached->pins++;
	emogi_cache_touch(cached);
	return (int) (cached - emogi_cache_shared->graphs);
}

/* Count a hit of a graph, pin it, and return its index. */
static int
take(EmogiCached *cached)
{
	cached->hits++;
	cached->asked_once = false;
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
 * Take references to the rings of all leaves. Return EMOGI_MUST_BUILD, and set *usable if their
 * rules allow graphs under the lookup's snapshot; or EMOGI_MUST_REGISTER if registration may still
 * allow them. If there is no room, return another outcome, without references.
 */
EmogiLookupOutcome
emogi_cache_lookup_track(const EmogiCacheLookup *lookup, bool *usable)
{
	bool		must_register = false;

	*usable = true;
	if (!emogi_tables_can_hold(lookup->nleaves))
		return EMOGI_MUST_BUILD_PRIVATELY;
	for (int i = 0; i < lookup->nleaves; i++)
	{
		lookup->tables[i] = emogi_recent_writers_track(lookup->relids[i], &lookup->xids);
		if (lookup->tables[i] < 0)
		{
			untrack_leaves(lookup, i);
			return EMOGI_MUST_MAKE_ROOM;
		}
		*usable &= emogi_recent_writers_usable(lookup->tables[i], &lookup->xids);
		must_register |= emogi_recent_writers_must_register(lookup->tables[i], &lookup->xids);
	}
	return must_register && !lookup->registration->is_done ? EMOGI_MUST_REGISTER : EMOGI_MUST_BUILD;
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
	for (int i = 0; i < lookup->nleaves; i++)
		cached->leaves[i] = (EmogiLeaf) {.table = lookup->tables[i],
										 .relfilenumber = lookup->relfilenumbers[i]};
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
	EmogiCached *donor;

	if (outcome != EMOGI_MUST_BUILD)
		return outcome;
	if (!usable)
	{
		emogi_cache_lookup_untrack(lookup);
		return EMOGI_MUST_BUILD_PRIVATELY;
	}
	donor = lookup->has_vertices ? NULL : find_graph(lookup, EMOGI_GRAPH_READY, can_be_base);
	if (emogi_cache_lookup_add(slot, lookup, &lookup->key) == NULL)
		return EMOGI_MUST_MAKE_ROOM;
	slot->donor = donor != NULL ? emogi_cache_lookup_pin(donor) : -1;
	pg_atomic_write_u64(&slot->nskipped, donor != NULL ? donor->nskipped : 0);
	return EMOGI_MUST_BUILD;
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
		outcome = EMOGI_FOUND;
	}
	else if ((cached = find_graph(lookup, EMOGI_GRAPH_BUILDING, emogi_cache_lookup_has_lists)) !=
			 NULL)
	{
		slot->awaited_graph = (int) (cached - emogi_cache_shared->graphs);
		outcome = EMOGI_MUST_WAIT;
	}
	else
		outcome = reserves ? reserve(slot, lookup) : EMOGI_MUST_BUILD;
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
		if (outcome != EMOGI_MUST_WAIT)
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

	while (outcome == EMOGI_MUST_WAIT || outcome == EMOGI_MUST_REGISTER ||
		   outcome == EMOGI_MUST_MAKE_ROOM)
	{
		if (outcome == EMOGI_MUST_MAKE_ROOM && !emogi_call_make_room(0))
			return EMOGI_MUST_BUILD_PRIVATELY;
		if (outcome == EMOGI_MUST_REGISTER)
			emogi_cache_lookup_register(lookup);
		outcome = outcome == EMOGI_MUST_WAIT ? wait_for_builder(slot, lookup, true) :
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

	if (outcome == EMOGI_MUST_WAIT)
		outcome = wait_for_builder(slot, lookup, false);
	return outcome == EMOGI_FOUND;
}

/* Get what the cache has if changes of the lookup's tables can be tracked. */
static EmogiCacheHas
find_tracker(const EmogiCacheLookup *lookup)
{
	const EmogiChangeTracker *tracker = lookup->can_follow ?
		emogi_change_tracker_find(&lookup->key) : NULL;

	if (tracker == NULL || tracker->phase != EMOGI_LIVE_READY)
		return EMOGI_CACHE_HAS_NOTHING;
	return tracker->holder >= 0 ? EMOGI_CACHE_HAS_HELD_TRACKER : EMOGI_CACHE_HAS_TRACKER;
}

/*
 * Look once at what the cache has for a call: without waiting, and at one time. Pin a graph for the
 * call, which may have no slot yet; call NULL = do not, for EXPLAIN. may_share: the graph can be
 * shared.
 */
EmogiCacheLook
emogi_cache_lookup_look(EmogiCall *call, const EmogiCacheLookup *lookup, bool may_share)
{
	EmogiCacheLook look = {EMOGI_CACHE_HAS_NOTHING};
	EmogiCached *cached = NULL;

	if (!may_share && !lookup->can_follow)
		return look;
	emogi_cache_lock();
	emogi_recent_writers_forget_recovery();
	if (may_share)
		cached = find_graph(lookup, EMOGI_GRAPH_READY, emogi_cache_lookup_has_lists);
	if (cached == NULL)
	{
		look.has = find_tracker(lookup);
		look.is_building = may_share &&
			find_graph(lookup, EMOGI_GRAPH_BUILDING, emogi_cache_lookup_has_lists) != NULL;
	}
	else
	{
		look.has = EMOGI_CACHE_HAS_GRAPH;
		if (call != NULL)
		{
			emogi_call_pin(call, take(cached), cached->nskipped);
			cached->exact_at = Max(cached->exact_at, lookup->taken_at);
		}
	}
	emogi_cache_unlock();
	return look;
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

	dlist_foreach(iter, emogi_cache_chain(&lookup->key))
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
emogi_cache_lookup_look_back(EmogiSlot *slot, const EmogiCacheLookup *lookup, double *age_ms)
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
emogi_cache_lookup_present(const EmogiGraph *graph, EmogiDirection direction,
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
emogi_cache_lookup_borrow(const EmogiGraphKey *key, int *index, uint64 *id, EmogiGraph *graph)
{
	EmogiCached *latest = NULL;
	dlist_iter	iter;

	emogi_cache_lock();
	dlist_foreach(iter, emogi_cache_chain(key))
	{
		EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (cached->state == EMOGI_GRAPH_READY && emogi_cache_lookup_has_columns(cached, key) &&
			emogi_cache_lookup_has_lists(cached, key) &&
			(latest == NULL || cached->id > latest->id))
			latest = cached;
	}
	if (latest != NULL)
	{
		*index = emogi_cache_lookup_pin(latest);
		*id = latest->id;
		emogi_cache_lookup_present(&latest->graph, latest->key.direction, key, graph);
	}
	emogi_cache_unlock();
	return latest != NULL;
}
