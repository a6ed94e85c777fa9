/*
 * wish.c: what a call asks of the cache: the Graph that will do is found there, or an entry is reserved for the call that builds it,
 * and what has been built is published.
 *
 * A call that names tables looks for a Graph of the same columns that holds exactly what its snapshot sees (ring.c
 * decides), and pins it for as long as its slot lives. When there is none, the call reserves an entry, builds, and
 * publishes; others that could use the Graph wait for it. Several Graphs of one table may stand side by side, for older
 * and newer snapshots, for directions, with and without weights.
 *
 * What is not shared: queries, views, foreign tables and tables under row security (other rows for other users);
 * temporary tables; catalogs, whose writers do not hold their locks to the end; tables that the own transaction has
 * changed; SERIALIZABLE transactions, whose reads PostgreSQL must see.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/catalog.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "utils/snapmgr.h"

#include "build/wish.h"
#include "server/compat.h"

/* Graphs with equal keys, for different snapshots, that are kept. */
#define EMOGI_MAX_VERSIONS 8

/* ---- wishes ---- */

/* Make a wish for a Graph of a Source. wanted: what kind of lists and weights. */
EmogiWish *
emogi_wish_make(const EmogiSource *source, const EmogiGraphKey *wanted)
{
	EmogiWish  *wish = palloc0(sizeof *wish);

	wish->key = *wanted;
	wish->key.database = MyDatabaseId;
	wish->key.relid = source->relid;
	wish->key.src = source->src;
	wish->key.dst = source->dst;
	wish->key.weight = source->weight;
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

	if (count == 0 || count > EMOGI_MAX_LEAVES)
		return false;
	wish->relids = palloc(count * sizeof(Oid));
	wish->relfilenumbers = palloc(count * sizeof(Oid));
	wish->tables = palloc(count * sizeof(int));
	wish->nleaves = 0;
	foreach(cell, leaves)
	{
		Oid			relid = lfirst_oid(cell);
		Relation	rel = relation_open(relid, NoLock);
		bool		shared = !RelationUsesLocalBuffers(rel) && !IsCatalogRelation(rel) && !emogi_ring_changed_by_me(relid);

		if (shared && (count == 1 || !is_empty(rel)))
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

/* May the Graph of these heaps be shared, as the active snapshot sees them? Fills in the wish. */
bool
emogi_wish_may_share(EmogiWish *wish, List *leaves)
{
	return emogi_enable_cache && !IsolationIsSerializable() && wish_for_leaves(wish, leaves) &&
		emogi_xids_take(GetActiveSnapshot(), &wish->xids);
}

/* ---- finding, under cache_lock ---- */

/* Does a call that reads such weights take all of a Graph's? */
static bool
takes_weights(EmogiWeights weights, uint32 misfits)
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
static bool
has_columns(const EmogiCached *cached, const EmogiGraphKey *key)
{
	if (cached->key.database != key->database || cached->key.relid != key->relid || cached->key.src != key->src ||
		cached->key.dst != key->dst)
		return false;
	return key->weight == 0 || (cached->key.weight == key->weight && takes_weights(key->weights, cached->weight_misfits));
}

/* Does a Graph have the lists that are wanted? The transpose of 'out' is 'in'. */
static bool
has_lists(const EmogiCached *cached, const EmogiGraphKey *key)
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
	return cached->key.direction != EMOGI_BOTH && has_columns(cached, key);
}

/* Does a Graph hold exactly the rows that the wish's snapshot sees? */
static bool
is_exact(const EmogiCached *cached, const EmogiWish *wish)
{
	if (cached->nleaves != wish->nleaves)
		return false;
	for (int i = 0; i < wish->nleaves; i++)
	{
		const EmogiLeaf *leaf = &cached->leaves[i];

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

		if (cached->state == state && has_columns(cached, &wish->key) && fits(cached, &wish->key) &&
			is_exact(cached, wish))
			return cached;
	}
	return NULL;
}

/* Pin a Graph. */
static int
pin(EmogiCached *cached)
{
	cached->pins++;
	emogi_cache_touch(cached);
	return (int) (cached - emogi_cache_shared->graphs);
}

/* Give the references to the rings of the first `count` leaves back. */
static void
untrack_leaves(const EmogiWish *wish, int count)
{
	for (int i = 0; i < count; i++)
		emogi_tables_release(wish->tables[i]);
}

/* Take references to the rings of all leaves: EMOGI_MUST_BUILD; with none taken when there is no room, or a rule is against it. */
static EmogiFinding
track_leaves(const EmogiWish *wish)
{
	bool		usable = true;

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
		usable &= emogi_ring_usable(wish->tables[i], &wish->xids);
	}
	if (usable)
		return EMOGI_MUST_BUILD;
	untrack_leaves(wish, wish->nleaves);
	return EMOGI_MUST_BUILD_PRIVATELY;
}

/* Reserve an entry for the Graph that a slot is to build. */
static EmogiFinding
reserve(EmogiSlot *slot, const EmogiWish *wish)
{
	EmogiGraphKey key = wish->key;
	EmogiCached *donor;
	EmogiCached *cached;
	EmogiFinding finding = track_leaves(wish);

	if (finding != EMOGI_MUST_BUILD)
		return finding;
	donor = find_graph(wish, EMOGI_GRAPH_READY, is_donor);
	key.any_direction = false;
	cached = emogi_cache_add(&key, &wish->xids, wish->nleaves);
	if (cached == NULL)
	{
		untrack_leaves(wish, wish->nleaves);
		return EMOGI_MUST_MAKE_ROOM;
	}
	for (int i = 0; i < wish->nleaves; i++)
		cached->leaves[i] = (EmogiLeaf) {.table = wish->tables[i], .relfilenumber = wish->relfilenumbers[i]};
	cached->nleaves = wish->nleaves;
	slot->graph = (int) (cached - emogi_cache_shared->graphs);
	slot->donor = donor != NULL ? pin(donor) : -1;
	return EMOGI_MUST_BUILD;
}

/* Look for a Graph, or reserve an entry for it. */
static EmogiFinding
look_up(EmogiSlot *slot, const EmogiWish *wish)
{
	EmogiCached *cached;
	EmogiFinding finding;

	emogi_cache_lock();
	emogi_ring_forget_recovery();
	cached = find_graph(wish, EMOGI_GRAPH_READY, has_lists);
	if (cached != NULL)
	{
		slot->graph = pin(cached);
		cached->hits++;
		emogi_cache_shared->counters.hits++;
		finding = EMOGI_FOUND;
	}
	else if ((cached = find_graph(wish, EMOGI_GRAPH_BUILDING, has_lists)) != NULL)
	{
		slot->awaited_graph = (int) (cached - emogi_cache_shared->graphs);
		finding = EMOGI_MUST_WAIT;
	}
	else
		finding = reserve(slot, wish);
	emogi_cache_unlock();
	return finding;
}

/* ---- finding or reserving ---- */

/* Look for a Graph as look_up does, after waiting for the call that builds it. */
static EmogiFinding
wait_for_builder(EmogiSlot *slot, const EmogiWish *wish)
{
	EmogiFinding finding;

	emogi_cache_lock();
	emogi_cache_shared->counters.waits++;
	emogi_cache_unlock();
	for (;;)
	{
		ConditionVariablePrepareToSleep(&emogi_cache_shared->changed);
		finding = look_up(slot, wish);
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
	EmogiFinding finding = look_up(slot, wish);

	while (finding == EMOGI_MUST_WAIT || finding == EMOGI_MUST_MAKE_ROOM)
	{
		if (finding == EMOGI_MUST_MAKE_ROOM && !emogi_call_make_room())
			return EMOGI_MUST_BUILD_PRIVATELY;
		finding = finding == EMOGI_MUST_WAIT ? wait_for_builder(slot, wish) : look_up(slot, wish);
	}
	return finding;
}

/* Is there a Graph in the cache that will do? */
bool
emogi_wish_is_cached(const EmogiWish *wish)
{
	bool		found;

	emogi_cache_lock();
	found = find_graph(wish, EMOGI_GRAPH_READY, has_lists) != NULL;
	emogi_cache_unlock();
	return found;
}

/* ---- publishing ---- */

/* Will no snapshot ever again see the rows of this Graph? */
static bool
is_outdated(const EmogiCached *cached, TransactionId oldest_xid)
{
	for (int i = 0; i < cached->nleaves; i++)
		if (emogi_ring_outdated(cached->leaves[i].table, &cached->xids, oldest_xid))
			return true;
	return false;
}

/* Does one Graph do all that the other does, for the same snapshots? */
static bool
does_all_of(const EmogiCached *cached, const EmogiCached *other)
{
	if (!has_columns(cached, &other->key) || !has_lists(cached, &other->key) || cached->nleaves != other->nleaves)
		return false;
	for (int i = 0; i < cached->nleaves; i++)
		if (cached->leaves[i].table != other->leaves[i].table ||
			cached->leaves[i].relfilenumber != other->leaves[i].relfilenumber ||
			!emogi_ring_alike(cached->leaves[i].table, &other->xids, &cached->xids))
			return false;
	return true;
}

/* Has a Graph fewer leaves than another, for those that were empty then are so no more? Nobody will find it. */
static bool
is_outgrown(const EmogiCached *cached, const EmogiCached *other)
{
	int			nfound = 0;

	if (cached->nleaves >= other->nleaves)
		return false;
	for (int i = 0; i < other->nleaves && nfound < cached->nleaves; i++)
		nfound += cached->leaves[nfound].table == other->leaves[i].table &&
			cached->leaves[nfound].relfilenumber == other->leaves[i].relfilenumber;
	return nfound == cached->nleaves;
}

/* Doom what the Graph that has just been published makes superfluous. Caller holds cache_lock. */
static void
doom_predecessors(const EmogiCached *published, TransactionId oldest_xid)
{
	EmogiCached *oldest = NULL;
	int			versions = 0;
	dlist_iter	iter;

	dlist_foreach(iter, emogi_cache_chain(&published->key))
	{
		EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (cached == published || cached->state != EMOGI_GRAPH_READY ||
			cached->key.database != published->key.database || cached->key.relid != published->key.relid)
			continue;
		if (is_outdated(cached, oldest_xid) || is_outgrown(cached, published) || does_all_of(published, cached))
			emogi_cache_doom(cached);
		else if (cached->key.direction == published->key.direction && cached->key.weight == published->key.weight)
		{
			versions++;
			if (oldest == NULL || cached->last_used < oldest->last_used)
				oldest = cached;
		}
	}
	if (versions >= EMOGI_MAX_VERSIONS)
		emogi_cache_doom(oldest);
}

/* Publish the Graph that a call has built. */
void
emogi_wish_publish(EmogiCall *call, EmogiGraph *graph, uint32 weight_misfits, uint64 nskipped)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[call->slot->graph];
	TransactionId oldest_xid = GetOldestNonRemovableTransactionId(NULL);

	emogi_fault_sleep(EMOGI_AT_BUILT);
	emogi_cache_take_over(call->slot->graph, graph);
	emogi_cache_lock();
	cached->weight_misfits = weight_misfits;
	cached->nskipped = nskipped;
	cached->build_ms = call->phase_ms[EMOGI_PHASE_SCAN] + call->phase_ms[EMOGI_PHASE_KEYS] + call->phase_ms[EMOGI_PHASE_CSR];
	cached->state = EMOGI_GRAPH_READY;
	emogi_cache_touch(cached);
	cached->built_at = cached->last_used;
	for (int i = 0; i < cached->nleaves; i++)
		emogi_tables_publish(cached->leaves[i].table);
	emogi_cache_shared->counters.builds++;
	doom_predecessors(cached, oldest_xid);
	emogi_cache_unlock();
	ConditionVariableBroadcast(&emogi_cache_shared->changed);
	emogi_cache_free_doomed();
	emogi_fault_sleep(EMOGI_AT_PUBLISHED);
}
