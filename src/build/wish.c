/*
 * wish.c: what a call asks of the cache: the Graph that will do is found there, or an entry is reserved for the call that builds it.
 * wish_live.c does the same with the help of a live state; wish_publish.c publishes what has been built.
 *
 * A call that names tables looks for a Graph of the same columns that holds exactly what its snapshot sees (ring.c
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

#include "build/wish.h"
#include "live/live.h"
#include "server/compat.h"
#include "server/fault.h"

/* ---- wishes ---- */

/* Make a wish for a Graph of a Source, or of its tree, if it has one. wanted: what kind of lists and weights. */
EmogiWish *
emogi_wish_make(const EmogiSource *source, const EmogiTree *tree, const EmogiGraphKey *wanted)
{
	EmogiWish  *wish = palloc0(sizeof *wish);

	wish->registration = palloc0(sizeof *wish->registration);
	wish->key = *wanted;
	wish->key.database = MyDatabaseId;
	wish->key.relid = source->relid;
	wish->key.of_query = tree != NULL;
	wish->key.of_servers = false;
	memset(wish->key.digest, 0, sizeof wish->key.digest);
	if (tree != NULL)
	{
		memcpy(wish->key.digest, tree->digest, sizeof wish->key.digest);
		wish->key.src = wish->key.dst = wish->key.reverse = 0;
		wish->key.weight = tree->columns.weight;
		wish->key.keys = tree->columns.key;
		wish->has_vertices = tree->columns.vertex > 0;
		wish->text = tree->text;
		wish->shape = tree->is_folded ? 0 : tree->shape;
		wish->tree = tree;
	}
	else
	{
		wish->key.src = source->src;
		wish->key.dst = source->dst;
		wish->key.weight = source->weight;
		wish->key.reverse = source->reverse;
		wish->key.keys = source->key;
	}
	return wish;
}

/* Free a wish. */
void
emogi_wish_free(EmogiWish *wish)
{
	if (wish->relids != NULL)
	{
		pfree(wish->relids);
		pfree(wish->relfilenumbers);
		pfree(wish->tables);
	}
	if (wish->xids.running != NULL)
		pfree(wish->xids.running);
	pfree(wish->registration);
	pfree(wish);
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
 * Fill in the wish's leaves; false when one of them is not for sharing, or there are too many. An empty one among several
 * is left out: a Graph without it holds all that the active snapshot, which is there already, sees in it; and so does one
 * that was made when it was empty. So partitions may come and go, and be set up, as long as nobody fills them.
 */
static bool
wish_for_leaves(EmogiWish *wish, List *leaves)
{
	int			count = list_length(leaves);
	ListCell   *cell;

	if ((count == 0 && !wish->key.of_query && !wish->key.of_servers) || count > EMOGI_MAX_LEAVES)
		return false;
	wish->relids = palloc(count * sizeof(Oid));
	wish->relfilenumbers = palloc(count * sizeof(Oid));
	wish->tables = palloc(count * sizeof(int));
	wish->nleaves = 0;
	wish->can_follow = emogi_enable_live && (wish->tree == NULL || wish->tree->filtered != NULL) && !wish->key.of_servers;
	foreach(cell, leaves)
	{
		Oid			relid = lfirst_oid(cell);
		Relation	rel = relation_open(relid, NoLock);
		bool		shared = !RelationUsesLocalBuffers(rel) && !IsCatalogRelation(rel);

		wish->own |= emogi_ring_changed_by_me(relid) && !(wish->key.of_query && emogi_faults.tree[EMOGI_TREE_OWN]);
		wish->can_follow = wish->can_follow && emogi_discover_can_follow(rel);
		if (shared && ((count == 1 && !wish->key.of_servers) || !is_empty(rel)))
		{
			wish->relids[wish->nleaves] = relid;
			wish->relfilenumbers[wish->nleaves++] = emogi_compat_relfilenumber(rel);
		}
		relation_close(rel, NoLock);
		if (!shared)
			return false;
	}
	return true;
}

/* May a call's Graph be shared at all? */
bool
emogi_wish_may_be_shared(void)
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

/* May the Graph of these heaps be shared, as the active snapshot sees them? Fills in the wish; can_follow is set if that may be. */
bool
emogi_wish_may_share(EmogiWish *wish, List *leaves)
{
	if (emogi_wish_may_be_shared() && wish_for_leaves(wish, leaves) &&
		emogi_xids_take(GetActiveSnapshot(), &wish->xids))
	{
		wish->can_follow &= wish->key.keys.class != EMOGI_KEY_COMPARED && wish->nleaves > 0 && wish->xids.recovery == RecoveryInProgress();
		wish->taken_at = get_snapshot_time();
		return !wish->own;
	}
	wish->can_follow = false;
	return false;
}

/* Say why a query's Graph may not be shared, which emogi_wish_may_share has not allowed. */
const char *
emogi_wish_why_not(const EmogiWish *wish)
{
	if (!emogi_enable_cache)
		return "emogi.cache is off";
	if (IsolationIsSerializable())
		return "the transaction is SERIALIZABLE";
	if (wish->own)
		return "this transaction has changed a table that it reads";
	return "the snapshot is of a kind that is not compared, or sees too many transactions as running";
}

/* Was the Graph of the wish's query built or wanted before, for which there was none? It counts as that from now on. */
bool
emogi_wish_built_before(const EmogiWish *wish)
{
	bool		built;

	emogi_cache_lock();
	built = emogi_asked_built_before(&wish->key);
	emogi_cache_unlock();
	return built;
}

/* ---- finding, under cache_lock ---- */

/* Does a call that reads such weights take all of a Graph's? */
bool
emogi_wish_takes_weights(EmogiWeights weights, uint32 misfits)
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
emogi_wish_has_columns(const EmogiCached *cached, const EmogiGraphKey *key)
{
	if (!emogi_cache_same_source(&cached->key, key) || cached->key.src != key->src || cached->key.dst != key->dst ||
		cached->key.reverse != key->reverse || cached->key.of_servers != key->of_servers ||
		(key->of_servers && memcmp(cached->key.digest, key->digest, sizeof key->digest) != 0) ||
		!emogi_key_type_equal(&cached->key.keys, &key->keys))
		return false;
	return key->weight == 0 || (cached->key.weight == key->weight && emogi_wish_takes_weights(key->weights, cached->weight_misfits));
}

/* Does a Graph have the lists that are wanted? The transpose of 'out' is 'in'. */
bool
emogi_wish_has_lists(const EmogiCached *cached, const EmogiGraphKey *key)
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
	return cached->key.direction != EMOGI_BOTH && emogi_wish_has_columns(cached, key);
}

/* Does a Graph hold exactly the rows that the wish's snapshot sees? */
static bool
is_exact(const EmogiCached *cached, const EmogiWish *wish)
{
	if (!cached->by_ring || cached->nleaves != wish->nleaves)
		return false;
	for (int i = 0; i < wish->nleaves; i++)
	{
		const EmogiLeaf *leaf = &cached->leaves[i];

		if (i > 0 && wish->key.of_query && emogi_faults.tree[EMOGI_TREE_LEAVES])
			break;
		if (emogi_tables_relid(leaf->table) != wish->relids[i] || leaf->relfilenumber != wish->relfilenumbers[i] ||
			!emogi_ring_usable(leaf->table, &wish->xids) ||
			!emogi_ring_alike(leaf->table, &cached->xids, &wish->xids))
			return false;
	}
	return true;
}

/* Find a Graph in some state that will do; `fits` says whether it has what is wanted. */
static EmogiCached *
find_graph(const EmogiWish *wish, EmogiCachedState state, bool (*fits) (const EmogiCached *, const EmogiGraphKey *))
{
	dlist_iter	iter;

	dlist_foreach(iter, emogi_cache_chain(&wish->key))
	{
		EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (cached->state == state && emogi_wish_has_columns(cached, &wish->key) && fits(cached, &wish->key) &&
			is_exact(cached, wish))
			return cached;
	}
	return NULL;
}

/* Let go of a slot's donor. */
void
emogi_wish_release_donor(EmogiSlot *slot)
{
	int			donor = slot->donor;

	slot->donor = -1;
	if (donor >= 0)
		emogi_cache_unpin(donor);
}

/* Pin a Graph. */
int
emogi_wish_pin(EmogiCached *cached)
{
	cached->pins++;
	emogi_cache_touch(cached);
	return (int) (cached - emogi_cache_shared->graphs);
}

/* Pin a Graph for a slot's call. What it skipped may become another number as soon as the lock is gone (wish_live.c). */
static void
take(EmogiSlot *slot, EmogiCached *cached)
{
	slot->graph = emogi_wish_pin(cached);
	pg_atomic_write_u64(&slot->nskipped, cached->nskipped);
	cached->hits++;
	cached->asked_once = false;
	cached->staleness_ms = Max(cached->staleness_ms, emogi_max_staleness_ms);
	emogi_cache_shared->counters.hits++;
}

/* Give the references to the rings of the first `count` leaves back. */
static void
untrack_leaves(const EmogiWish *wish, int count)
{
	for (int i = 0; i < count; i++)
		emogi_tables_release(wish->tables[i]);
}

/* Give the references to the rings of all leaves back. */
void
emogi_wish_untrack(const EmogiWish *wish)
{
	untrack_leaves(wish, wish->nleaves);
}

/*
 * Take references to the rings of all leaves: EMOGI_MUST_BUILD, and whether their rules allow Graphs under the wish's snapshot;
 * EMOGI_MUST_REGISTER where they do not yet; with none taken when there is no room.
 */
EmogiFinding
emogi_wish_track(const EmogiWish *wish, bool *usable)
{
	bool		must_register = false;

	*usable = true;
	if (!emogi_tables_can_hold(wish->nleaves))
		return EMOGI_MUST_BUILD_PRIVATELY;
	for (int i = 0; i < wish->nleaves; i++)
	{
		wish->tables[i] = emogi_ring_track(wish->relids[i], &wish->xids);
		if (wish->tables[i] < 0)
		{
			untrack_leaves(wish, i);
			return EMOGI_MUST_MAKE_ROOM;
		}
		*usable &= emogi_ring_usable(wish->tables[i], &wish->xids);
		must_register |= emogi_ring_must_register(wish->tables[i], &wish->xids);
	}
	return must_register && !wish->registration->is_done ? EMOGI_MUST_REGISTER : EMOGI_MUST_BUILD;
}

/* Register the leaves, which have been tracked. Their references stay until the next look-up, so that the entries do; an error gives them back. Caller does not hold cache_lock. */
void
emogi_wish_register(const EmogiWish *wish)
{
	emogi_ring_register(wish->tables, wish->relids, wish->nleaves, &wish->xids);
	wish->registration->is_done = wish->registration->has_references = true;
}

/* Give the references back that were taken to register the leaves, if they were. */
void
emogi_wish_end_registration(const EmogiWish *wish)
{
	if (wish->registration->has_references)
		emogi_wish_untrack(wish);
	wish->registration->is_done = wish->registration->has_references = false;
}

/* Reserve an entry on the leaves, which have been tracked, for the Graph that a slot is to build; NULL, and none tracked, without room. */
EmogiCached *
emogi_wish_add(EmogiSlot *slot, const EmogiWish *wish, const EmogiGraphKey *key)
{
	EmogiCached *cached = emogi_cache_add(key, &wish->xids, wish->nleaves, wish->text);

	if (cached == NULL)
	{
		untrack_leaves(wish, wish->nleaves);
		return NULL;
	}
	cached->key.any_direction = cached->key.shared_only = false;
	cached->exact_at = wish->taken_at;
	for (int i = 0; i < wish->nleaves; i++)
		cached->leaves[i] = (EmogiLeaf) {.table = wish->tables[i], .relfilenumber = wish->relfilenumbers[i]};
	cached->nleaves = wish->nleaves;
	slot->graph = (int) (cached - emogi_cache_shared->graphs);
	return cached;
}

/* Reserve an entry for the Graph that a slot is to build. */
static EmogiFinding
reserve(EmogiSlot *slot, const EmogiWish *wish)
{
	bool		usable;
	EmogiFinding finding = emogi_wish_track(wish, &usable);
	EmogiCached *donor;

	if (finding != EMOGI_MUST_BUILD)
		return finding;
	if (!usable)
	{
		emogi_wish_untrack(wish);
		return EMOGI_MUST_BUILD_PRIVATELY;
	}
	donor = wish->has_vertices ? NULL : find_graph(wish, EMOGI_GRAPH_READY, is_donor);
	if (emogi_wish_add(slot, wish, &wish->key) == NULL)
		return EMOGI_MUST_MAKE_ROOM;
	slot->donor = donor != NULL ? emogi_wish_pin(donor) : -1;
	pg_atomic_write_u64(&slot->nskipped, donor != NULL ? donor->nskipped : 0);
	return EMOGI_MUST_BUILD;
}

/* Look for a Graph; where there is none reserve an entry for it, or, with reserves = false, do nothing. */
static EmogiFinding
look_up(EmogiSlot *slot, const EmogiWish *wish, bool reserves)
{
	const bool	was_registered = wish->registration->has_references;
	EmogiCached *cached;
	EmogiFinding finding;

	emogi_cache_lock();
	emogi_ring_forget_recovery();
	cached = find_graph(wish, EMOGI_GRAPH_READY, emogi_wish_has_lists);
	if (cached != NULL)
	{
		take(slot, cached);
		cached->exact_at = Max(cached->exact_at, wish->taken_at);
		finding = EMOGI_FOUND;
	}
	else if ((cached = find_graph(wish, EMOGI_GRAPH_BUILDING, emogi_wish_has_lists)) != NULL)
	{
		slot->awaited_graph = (int) (cached - emogi_cache_shared->graphs);
		finding = EMOGI_MUST_WAIT;
	}
	else
		finding = reserves ? reserve(slot, wish) : EMOGI_MUST_BUILD;
	if (was_registered)
		emogi_wish_end_registration(wish);
	emogi_cache_unlock();
	return finding;
}

/* ---- finding or reserving ---- */

/* Look for a Graph as look_up does, after waiting for the call that builds it. */
static EmogiFinding
wait_for_builder(EmogiSlot *slot, const EmogiWish *wish, bool reserves)
{
	EmogiFinding finding;

	emogi_cache_lock();
	emogi_cache_shared->counters.waits++;
	emogi_cache_unlock();
	for (;;)
	{
		ConditionVariablePrepareToSleep(&emogi_cache_shared->changed);
		finding = look_up(slot, wish, reserves);
		if (finding != EMOGI_MUST_WAIT)
			break;
		emogi_shared_sleep(&emogi_cache_shared->changed, 1000, EMOGI_WAIT_BUILD);
	}
	ConditionVariableCancelSleep();
	slot->awaited_graph = -1;
	return finding;
}

/* Find the Graph in the cache, or reserve an entry for it. */
EmogiFinding
emogi_wish_find(EmogiSlot *slot, const EmogiWish *wish)
{
	EmogiFinding finding = look_up(slot, wish, true);

	while (finding == EMOGI_MUST_WAIT || finding == EMOGI_MUST_REGISTER || finding == EMOGI_MUST_MAKE_ROOM)
	{
		if (finding == EMOGI_MUST_MAKE_ROOM && !emogi_call_make_room(0))
			return EMOGI_MUST_BUILD_PRIVATELY;
		if (finding == EMOGI_MUST_REGISTER)
			emogi_wish_register(wish);
		finding = finding == EMOGI_MUST_WAIT ? wait_for_builder(slot, wish, true) : look_up(slot, wish, true);
	}
	return finding;
}

/* Find the Graph in the cache, after waiting for a call that builds it; false, and nothing reserved, when it is not there. */
bool
emogi_wish_look(EmogiSlot *slot, const EmogiWish *wish)
{
	EmogiFinding finding = look_up(slot, wish, false);

	if (finding == EMOGI_MUST_WAIT)
		finding = wait_for_builder(slot, wish, false);
	return finding == EMOGI_FOUND;
}

/* Find the READY Graph with the wanted columns and lists that was known to be exact last; NULL without one. */
static EmogiCached *
find_latest(const EmogiWish *wish)
{
	EmogiCached *latest = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, emogi_cache_chain(&wish->key))
	{
		EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (cached->state == EMOGI_GRAPH_READY && emogi_wish_has_columns(cached, &wish->key) &&
			emogi_wish_has_lists(cached, &wish->key) && (latest == NULL || cached->exact_at > latest->exact_at))
			latest = cached;
	}
	return latest;
}

/*
 * Find a Graph that was exact not longer ago than emogi.max_staleness allows, and how long ago; false when there is none. Not where the
 * transaction has one snapshot for all its statements, nor where it has changed a table itself.
 */
bool
emogi_wish_look_back(EmogiSlot *slot, const EmogiWish *wish, double *age_ms)
{
	EmogiCached *cached;

	if (emogi_max_staleness_ms == 0 || wish->own || IsolationUsesXactSnapshot())
		return false;
	emogi_cache_lock();
	cached = find_latest(wish);
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
emogi_wish_is_cached(const EmogiWish *wish)
{
	bool		found;

	emogi_cache_lock();
	found = find_graph(wish, EMOGI_GRAPH_READY, emogi_wish_has_lists) != NULL;
	emogi_cache_unlock();
	return found;
}

/* Hide the weights of a Graph from a call that reads none. */
void
emogi_wish_hide_weights(EmogiGraph *graph)
{
	graph->weight_type = EMOGI_WEIGHT_NONE;
	graph->forward.weights = graph->backward.weights = NULL;
}

/* Show a Graph, whose lists lead in some direction, the way that a call wants to see it. */
void
emogi_wish_present(const EmogiGraph *graph, EmogiDirection direction, const EmogiGraphKey *wanted, EmogiGraph *shown)
{
	*shown = *graph;
	if (!wanted->any_direction && direction != wanted->direction)
	{
		shown->forward = graph->backward;
		shown->backward = graph->forward;
	}
	if (wanted->weight == 0)
		emogi_wish_hide_weights(shown);
}

/*
 * Pin the latest Graph in the cache that has what is wanted, whatever snapshot it was made for, and show it as a call would see it; false when
 * there is none. Whoever borrows it unpins *index, and lets nothing come between.
 */
bool
emogi_wish_borrow(const EmogiGraphKey *key, int *index, uint64 *id, EmogiGraph *graph)
{
	EmogiCached *latest = NULL;
	dlist_iter	iter;

	emogi_cache_lock();
	dlist_foreach(iter, emogi_cache_chain(key))
	{
		EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (cached->state == EMOGI_GRAPH_READY && emogi_wish_has_columns(cached, key) && emogi_wish_has_lists(cached, key) &&
			(latest == NULL || cached->id > latest->id))
			latest = cached;
	}
	if (latest != NULL)
	{
		*index = emogi_wish_pin(latest);
		*id = latest->id;
		emogi_wish_present(&latest->graph, latest->key.direction, key, graph);
	}
	emogi_cache_unlock();
	return latest != NULL;
}
