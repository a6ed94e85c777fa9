/*
 * cache_lookup.c: what a call asks of the cache: the Graph that will do is found there, or an entry is reserved for the call that builds it.
 * cache_lookup_tracker.c does the same with the help of a live state; cache_lookup_publish.c publishes what has been built.
 *
 * A call that names tables looks for a Graph of the same columns that holds exactly what its snapshot sees (recent_writers.c
 * decides), and pins it for as long as its slot lives. When there is none, the call reserves an entry, builds, and
 * publishes; others that could use the Graph wait for it. Several Graphs of one table may stand side by side, for older
 * and newer snapshots, for directions, with and without weights.
 *
 * A call that names a query or a view looks for a Graph of the same tree (../tree) in the same way.
 *
 * A Graph of foreign tables, or of Citus tables, is found by what their servers tell (../servers), which is part of its key.
 *
 * What is not shared: foreign tables and other rows that change unseen; temporary tables; catalogs, whose writers do not hold their
 * locks to the end; what the own transaction has changed; SERIALIZABLE transactions, whose reads PostgreSQL must see.
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

/* Make a lookup for a Graph of a Source, or of its tree, if it has one. wanted: what kind of lists and weights. */
EmogiCacheLookup *
emogi_cache_lookup_make(const EmogiSource *source, const EmogiQueryAnalysis *tree, const EmogiGraphKey *wanted)
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
 * Has a table no block at all? Then no snapshot that is older than this look sees a row in it, as long as the caller's lock
 * keeps others from rewriting it: what such a snapshot sees as committed was written before. Nor will rows come into a
 * table whose look was after the caller's snapshot, but such as that does not see.
 */
static bool
is_empty(Relation rel)
{
	return !RecoveryInProgress() && RelationGetNumberOfBlocks(rel) == 0;
}

/*
 * Fill in the lookup's leaves; false when one of them is not for sharing, or there are too many. An empty one among several
 * is left out: a Graph without it holds all that the active snapshot, which is there already, sees in it; and so does one
 * that was made when it was empty. So partitions may come and go, and be set up, as long as nobody fills them.
 */
static bool
wish_for_leaves(EmogiCacheLookup *lookup, List *leaves)
{
	int			count = list_length(leaves);
	ListCell   *cell;

	if ((count == 0 && !lookup->key.of_query && !lookup->key.of_servers) || count > EMOGI_MAX_BASE_TABLES)
		return false;
	lookup->relids = palloc(count * sizeof(Oid));
	lookup->relfilenumbers = palloc(count * sizeof(Oid));
	lookup->tables = palloc(count * sizeof(int));
	lookup->nleaves = 0;
	lookup->can_follow = emogi_enable_live && (lookup->tree == NULL || lookup->tree->filtered != NULL) && !lookup->key.of_servers;
	foreach(cell, leaves)
	{
		Oid			relid = lfirst_oid(cell);
		Relation	rel = relation_open(relid, NoLock);
		bool		shared = !RelationUsesLocalBuffers(rel) && !IsCatalogRelation(rel);

		lookup->own |= emogi_recent_writers_changed_by_me(relid) && !(lookup->key.of_query && emogi_faults.tree[EMOGI_TREE_OWN]);
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

/* May a call's Graph be shared at all? */
bool
emogi_cache_lookup_may_be_shared(void)
{
	return emogi_enable_cache && !IsolationIsSerializable();
}

/*
 * Get a time that is not after the one at which the active snapshot was taken. The snapshot of a cursor is that of the statement that opened it,
 * or, if that was a function's, of any statement around it. A portal without a name may have been bound by an earlier message.
 */
static TimestampTz
get_snapshot_time(void)
{
	if (IsolationUsesXactSnapshot() || (ActivePortal != NULL && ActivePortal->visible && ActivePortal->name[0] != '\0'))
		return GetCurrentTransactionStartTimestamp();
	return ActivePortal != NULL ? Min(GetCurrentStatementStartTimestamp(), ActivePortal->creation_time) : GetCurrentStatementStartTimestamp();
}

/* May the Graph of these heaps be shared, as the active snapshot sees them? Fills in the lookup; can_follow is set if that may be. */
bool
emogi_cache_lookup_may_share(EmogiCacheLookup *lookup, List *leaves)
{
	if (emogi_cache_lookup_may_be_shared() && wish_for_leaves(lookup, leaves) &&
		emogi_transaction_snapshot_take(GetActiveSnapshot(), &lookup->xids))
	{
		lookup->can_follow &= lookup->key.keys.class != EMOGI_KEY_COMPARED && lookup->nleaves > 0 && lookup->xids.recovery == RecoveryInProgress();
		lookup->taken_at = get_snapshot_time();
		return !lookup->own;
	}
	lookup->can_follow = false;
	return false;
}

/* Say why a query's Graph may not be shared, which emogi_cache_lookup_may_share has not allowed. */
const char *
emogi_cache_lookup_why_not(const EmogiCacheLookup *lookup)
{
	if (!emogi_enable_cache)
		return "emogi.cache is off";
	if (IsolationIsSerializable())
		return "the transaction is SERIALIZABLE";
	if (lookup->own)
		return "this transaction has changed a table that it reads";
	return "the snapshot is of a kind that is not compared, or sees too many transactions as running";
}

/* Was the Graph of the lookup's query built or wanted before, for which there was none? It counts as that from now on. */
bool
emogi_cache_lookup_built_before(const EmogiCacheLookup *lookup)
{
	bool		built;

	emogi_cache_lock();
	built = emogi_asked_queries_built_before(&lookup->key);
	emogi_cache_unlock();
	return built;
}

/* ---- finding, under cache_lock ---- */

/* Does a call that reads such weights take all of a Graph's? */
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

/* Does a Graph have the columns that are wanted? */
bool
emogi_cache_lookup_has_columns(const EmogiCached *cached, const EmogiGraphKey *key)
{
	if (!emogi_cache_same_source(&cached->key, key) || cached->key.src != key->src || cached->key.dst != key->dst ||
		cached->key.reverse != key->reverse || cached->key.of_servers != key->of_servers ||
		(key->of_servers && memcmp(cached->key.fingerprint, key->fingerprint, sizeof key->fingerprint) != 0) ||
		!emogi_key_type_equal(&cached->key.keys, &key->keys))
		return false;
	return key->weight == 0 || (cached->key.weight == key->weight && emogi_cache_lookup_takes_weights(key->weights, cached->weight_misfits));
}

/* Does a Graph have the lists that are wanted? The transpose of 'out' is 'in'. */
bool
emogi_cache_lookup_has_lists(const EmogiCached *cached, const EmogiGraphKey *key)
{
	bool		both_ways = cached->key.with_backward || cached->key.direction == EMOGI_BOTH;

	if (key->with_backward && !both_ways)
		return false;
	if (key->any_direction || cached->key.direction == key->direction)
		return true;
	return cached->key.direction != EMOGI_BOTH && key->direction != EMOGI_BOTH && cached->key.with_backward;
}

/* Can a Graph's edges be read out of it? With both directions in one list they cannot be told from each other. */
static bool
is_donor(const EmogiCached *cached, const EmogiGraphKey *key)
{
	return cached->key.direction != EMOGI_BOTH && emogi_cache_lookup_has_columns(cached, key);
}

/* Does a Graph hold exactly the rows that the lookup's snapshot sees? */
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
		if (emogi_tables_relid(leaf->table) != lookup->relids[i] || leaf->relfilenumber != lookup->relfilenumbers[i] ||
			!emogi_recent_writers_usable(leaf->table, &lookup->xids) ||
			!emogi_recent_writers_alike(leaf->table, &cached->xids, &lookup->xids))
			return false;
	}
	return true;
}

/* Find a Graph in some state that will do; `fits` says whether it has what is wanted. */
static EmogiCached *
find_graph(const EmogiCacheLookup *lookup, EmogiCachedState state, bool (*fits) (const EmogiCached *, const EmogiGraphKey *))
{
	dlist_iter	iter;

	dlist_foreach(iter, emogi_cache_chain(&lookup->key))
	{
		EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (cached->state == state && emogi_cache_lookup_has_columns(cached, &lookup->key) && fits(cached, &lookup->key) &&
			is_exact(cached, lookup))
			return cached;
	}
	return NULL;
}

/* Let go of a slot's donor. */
void
emogi_cache_lookup_release_donor(EmogiSlot *slot)
{
	int			donor = slot->donor;

	slot->donor = -1;
	if (donor >= 0)
		emogi_cache_unpin(donor);
}

/* Pin a Graph. */
int
emogi_cache_lookup_pin(EmogiCached *cached)
{
	cached->pins++;
	emogi_cache_touch(cached);
	return (int) (cached - emogi_cache_shared->graphs);
}

/* Pin a Graph for a slot's call. What it skipped may become another number as soon as the lock is gone (cache_lookup_tracker.c). */
static void
take(EmogiSlot *slot, EmogiCached *cached)
{
	slot->graph = emogi_cache_lookup_pin(cached);
	pg_atomic_write_u64(&slot->nskipped, cached->nskipped);
	cached->hits++;
	cached->asked_once = false;
	cached->staleness_ms = Max(cached->staleness_ms, emogi_max_staleness_ms);
	emogi_cache_shared->counters.hits++;
}

/* Give the references to the rings of the first `count` leaves back. */
static void
untrack_leaves(const EmogiCacheLookup *lookup, int count)
{
	for (int i = 0; i < count; i++)
		emogi_tables_release(lookup->tables[i]);
}

/* Give the references to the rings of all leaves back. */
void
emogi_cache_lookup_untrack(const EmogiCacheLookup *lookup)
{
	untrack_leaves(lookup, lookup->nleaves);
}

/*
 * Take references to the rings of all leaves: EMOGI_MUST_BUILD, and whether their rules allow Graphs under the lookup's snapshot;
 * EMOGI_MUST_REGISTER where they do not yet; with none taken when there is no room.
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

/* Register the leaves, which have been tracked. Their references stay until the next look-up, so that the entries do; an error gives them back. Caller does not hold cache_lock. */
void
emogi_cache_lookup_register(const EmogiCacheLookup *lookup)
{
	emogi_recent_writers_register(lookup->tables, lookup->relids, lookup->nleaves, &lookup->xids);
	lookup->registration->is_done = lookup->registration->has_references = true;
}

/* Give the references back that were taken to register the leaves, if they were. */
void
emogi_cache_lookup_end_registration(const EmogiCacheLookup *lookup)
{
	if (lookup->registration->has_references)
		emogi_cache_lookup_untrack(lookup);
	lookup->registration->is_done = lookup->registration->has_references = false;
}

/* Reserve an entry on the leaves, which have been tracked, for the Graph that a slot is to build; NULL, and none tracked, without room. */
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
		cached->leaves[i] = (EmogiLeaf) {.table = lookup->tables[i], .relfilenumber = lookup->relfilenumbers[i]};
	cached->nleaves = lookup->nleaves;
	slot->graph = (int) (cached - emogi_cache_shared->graphs);
	return cached;
}

/* Reserve an entry for the Graph that a slot is to build. */
static EmogiLookupOutcome
reserve(EmogiSlot *slot, const EmogiCacheLookup *lookup)
{
	bool		usable;
	EmogiLookupOutcome finding = emogi_cache_lookup_track(lookup, &usable);
	EmogiCached *donor;

	if (finding != EMOGI_MUST_BUILD)
		return finding;
	if (!usable)
	{
		emogi_cache_lookup_untrack(lookup);
		return EMOGI_MUST_BUILD_PRIVATELY;
	}
	donor = lookup->has_vertices ? NULL : find_graph(lookup, EMOGI_GRAPH_READY, is_donor);
	if (emogi_cache_lookup_add(slot, lookup, &lookup->key) == NULL)
		return EMOGI_MUST_MAKE_ROOM;
	slot->donor = donor != NULL ? emogi_cache_lookup_pin(donor) : -1;
	pg_atomic_write_u64(&slot->nskipped, donor != NULL ? donor->nskipped : 0);
	return EMOGI_MUST_BUILD;
}

/* Look for a Graph; where there is none reserve an entry for it, or, with reserves = false, do nothing. */
static EmogiLookupOutcome
look_up(EmogiSlot *slot, const EmogiCacheLookup *lookup, bool reserves)
{
	const bool	was_registered = lookup->registration->has_references;
	EmogiCached *cached;
	EmogiLookupOutcome finding;

	emogi_cache_lock();
	emogi_recent_writers_forget_recovery();
	cached = find_graph(lookup, EMOGI_GRAPH_READY, emogi_cache_lookup_has_lists);
	if (cached != NULL)
	{
		take(slot, cached);
		cached->exact_at = Max(cached->exact_at, lookup->taken_at);
		finding = EMOGI_FOUND;
	}
	else if ((cached = find_graph(lookup, EMOGI_GRAPH_BUILDING, emogi_cache_lookup_has_lists)) != NULL)
	{
		slot->awaited_graph = (int) (cached - emogi_cache_shared->graphs);
		finding = EMOGI_MUST_WAIT;
	}
	else
		finding = reserves ? reserve(slot, lookup) : EMOGI_MUST_BUILD;
	if (was_registered)
		emogi_cache_lookup_end_registration(lookup);
	emogi_cache_unlock();
	return finding;
}

/* ---- finding or reserving ---- */

/* Look for a Graph as look_up does, after waiting for the call that builds it. */
static EmogiLookupOutcome
wait_for_builder(EmogiSlot *slot, const EmogiCacheLookup *lookup, bool reserves)
{
	EmogiLookupOutcome finding;

	emogi_cache_lock();
	emogi_cache_shared->counters.waits++;
	emogi_cache_unlock();
	for (;;)
	{
		ConditionVariablePrepareToSleep(&emogi_cache_shared->changed);
		finding = look_up(slot, lookup, reserves);
		if (finding != EMOGI_MUST_WAIT)
			break;
		emogi_shared_sleep(&emogi_cache_shared->changed, 1000, EMOGI_WAIT_BUILD);
	}
	ConditionVariableCancelSleep();
	slot->awaited_graph = -1;
	return finding;
}

/* Find the Graph in the cache, or reserve an entry for it. */
EmogiLookupOutcome
emogi_cache_lookup_find(EmogiSlot *slot, const EmogiCacheLookup *lookup)
{
	EmogiLookupOutcome finding = look_up(slot, lookup, true);

	while (finding == EMOGI_MUST_WAIT || finding == EMOGI_MUST_REGISTER || finding == EMOGI_MUST_MAKE_ROOM)
	{
		if (finding == EMOGI_MUST_MAKE_ROOM && !emogi_call_make_room(0))
			return EMOGI_MUST_BUILD_PRIVATELY;
		if (finding == EMOGI_MUST_REGISTER)
			emogi_cache_lookup_register(lookup);
		finding = finding == EMOGI_MUST_WAIT ? wait_for_builder(slot, lookup, true) : look_up(slot, lookup, true);
	}
	return finding;
}

/* Find the Graph in the cache, after waiting for a call that builds it; false, and nothing reserved, when it is not there. */
bool
emogi_cache_lookup_look(EmogiSlot *slot, const EmogiCacheLookup *lookup)
{
	EmogiLookupOutcome finding = look_up(slot, lookup, false);

	if (finding == EMOGI_MUST_WAIT)
		finding = wait_for_builder(slot, lookup, false);
	return finding == EMOGI_FOUND;
}

/* Find the READY Graph with the wanted columns and lists that was known to be exact last; NULL without one. */
static EmogiCached *
find_latest(const EmogiCacheLookup *lookup)
{
	EmogiCached *latest = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, emogi_cache_chain(&lookup->key))
	{
		EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (cached->state == EMOGI_GRAPH_READY && emogi_cache_lookup_has_columns(cached, &lookup->key) &&
			emogi_cache_lookup_has_lists(cached, &lookup->key) && (latest == NULL || cached->exact_at > latest->exact_at))
			latest = cached;
	}
	return latest;
}

/*
 * Find a Graph that was exact not longer ago than emogi.max_staleness allows, and how long ago; false when there is none. Not where the
 * transaction has one snapshot for all its statements, nor where it has changed a table itself.
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
		take(slot, cached);
	emogi_cache_unlock();
	return cached != NULL;
}

/* Is there a Graph in the cache that will do? */
bool
emogi_cache_lookup_is_cached(const EmogiCacheLookup *lookup)
{
	bool		found;

	emogi_cache_lock();
	found = find_graph(lookup, EMOGI_GRAPH_READY, emogi_cache_lookup_has_lists) != NULL;
	emogi_cache_unlock();
	return found;
}

/* Hide the weights of a Graph from a call that reads none. */
void
emogi_cache_lookup_hide_weights(EmogiGraph *graph)
{
	graph->weight_type = EMOGI_WEIGHT_NONE;
	graph->forward.weights = graph->backward.weights = NULL;
}

/* Show a Graph, whose lists lead in some direction, the way that a call wants to see it. */
void
emogi_cache_lookup_present(const EmogiGraph *graph, EmogiDirection direction, const EmogiGraphKey *wanted, EmogiGraph *shown)
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
 * Pin the latest Graph in the cache that has what is wanted, whatever snapshot it was made for, and show it as a call would see it; false when
 * there is none. Whoever borrows it unpins *index, and lets nothing come between.
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

		if (cached->state == EMOGI_GRAPH_READY && emogi_cache_lookup_has_columns(cached, key) && emogi_cache_lookup_has_lists(cached, key) &&
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
