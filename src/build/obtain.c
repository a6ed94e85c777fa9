/*
 * obtain.c: the Graph of a call: found in the cache, or built and shared.
 *
 * A call that names tables looks for a Graph of the same columns that holds exactly what its snapshot sees (ring.c
 * decides), and pins it for as long as its slot lives. When there is none, the call reserves an entry, builds, and
 * publishes; others that could use the Graph wait for it. Several Graphs of one table may stand side by side, for older
 * and newer snapshots, for directions, with and without weights. A Graph that leads the other way is a donor: its edges
 * are taken from memory and not from the table.
 *
 * What is not shared: queries, views, foreign tables and tables under row security (other rows for other users);
 * temporary tables; catalogs, whose writers do not hold their locks to the end; tables that the own transaction has
 * changed; SERIALIZABLE transactions, whose reads PostgreSQL must see.
 */
#include "server/emogi.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/snapmgr.h"

/* Graphs with equal keys, for different snapshots, that are kept. */
#define EMOGI_MAX_VERSIONS 8

/* What a call asks of the cache. */
typedef struct Wish
{
	EmogiGraphKey key;
	int			nleaves;
	Oid		   *relids;			/* [nleaves], tables, ascending as find_all_inheritors has them */
	Oid		   *relfilenumbers; /* [nleaves] */
	int		   *tables;			/* [nleaves], their entries in ring.c; by track_leaves */
	EmogiView	view;
} Wish;

/* What comes of it. */
typedef enum Finding
{
	FOUND,						/* slot->graph is pinned */
	MUST_WAIT,					/* another call builds it */
	MUST_BUILD,					/* slot->graph is reserved, slot->donor pinned or -1 */
	MUST_MAKE_ROOM,				/* there is no entry left, for the Graph or for a table */
	MUST_BUILD_PRIVATELY
} Finding;

/* ---- finding; caller holds cache_lock ---- */

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
is_exact(const EmogiCached *cached, const Wish *wish)
{
	if (cached->nleaves != wish->nleaves)
		return false;
	for (int i = 0; i < wish->nleaves; i++)
	{
		const EmogiLeaf *leaf = &cached->leaves[i];

		if (emogi_ring_relid(leaf->table) != wish->relids[i] || leaf->relfilenumber != wish->relfilenumbers[i] ||
			!emogi_ring_usable(leaf->table, &wish->view) ||
			!emogi_ring_alike(leaf->table, &cached->view, &wish->view))
			return false;
	}
	return true;
}

/* Find a Graph in some state that will do; `fits` says whether it has what is wanted. */
static EmogiCached *
find_graph(const Wish *wish, EmogiCachedState state, bool (*fits) (const EmogiCached *, const EmogiGraphKey *))
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
untrack_leaves(const Wish *wish, int count)
{
	for (int i = 0; i < count; i++)
		emogi_ring_release(wish->tables[i]);
}

/* Take references to the rings of all leaves: MUST_BUILD; with none taken when there is no room, or a rule is against it. */
static Finding
track_leaves(const Wish *wish)
{
	bool		usable = true;

	if (!emogi_ring_can_hold(wish->nleaves))
		return MUST_BUILD_PRIVATELY;
	for (int i = 0; i < wish->nleaves; i++)
	{
		wish->tables[i] = emogi_ring_track(wish->relids[i], &wish->view);
		if (wish->tables[i] < 0)
		{
			untrack_leaves(wish, i);
			return MUST_MAKE_ROOM;
		}
		usable &= emogi_ring_usable(wish->tables[i], &wish->view);
	}
	if (usable)
		return MUST_BUILD;
	untrack_leaves(wish, wish->nleaves);
	return MUST_BUILD_PRIVATELY;
}

/* Reserve an entry for the Graph that a slot is to build. */
static Finding
reserve(EmogiSlot *slot, const Wish *wish)
{
	EmogiGraphKey key = wish->key;
	EmogiCached *donor;
	EmogiCached *cached;
	Finding		finding = track_leaves(wish);

	if (finding != MUST_BUILD)
		return finding;
	donor = find_graph(wish, EMOGI_GRAPH_READY, is_donor);
	key.any_direction = false;
	cached = emogi_cache_add(&key, &wish->view, wish->nleaves);
	if (cached == NULL)
	{
		untrack_leaves(wish, wish->nleaves);
		return MUST_MAKE_ROOM;
	}
	for (int i = 0; i < wish->nleaves; i++)
		cached->leaves[i] = (EmogiLeaf) {.table = wish->tables[i], .relfilenumber = wish->relfilenumbers[i]};
	cached->nleaves = wish->nleaves;
	slot->graph = (int) (cached - emogi_cache_shared->graphs);
	slot->donor = donor != NULL ? pin(donor) : -1;
	return MUST_BUILD;
}

/* Look for a Graph, or reserve an entry for it. */
static Finding
look_up(EmogiSlot *slot, const Wish *wish)
{
	EmogiCached *cached;
	Finding		finding;

	emogi_cache_lock();
	emogi_ring_forget_recovery();
	cached = find_graph(wish, EMOGI_GRAPH_READY, has_lists);
	if (cached != NULL)
	{
		slot->graph = pin(cached);
		cached->hits++;
		emogi_cache_shared->counters.hits++;
		finding = FOUND;
	}
	else if ((cached = find_graph(wish, EMOGI_GRAPH_BUILDING, has_lists)) != NULL)
	{
		slot->awaited_graph = (int) (cached - emogi_cache_shared->graphs);
		finding = MUST_WAIT;
	}
	else
		finding = reserve(slot, wish);
	emogi_cache_unlock();
	return finding;
}

/* ---- getting a Graph ---- */

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
wish_for_leaves(Wish *wish, List *leaves)
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

/* Make a wish for a Graph. */
static Wish *
make_wish(const EmogiGraphKey *key)
{
	Wish	   *wish = palloc0(sizeof *wish);

	wish->key = *key;
	return wish;
}

static void
free_wish(Wish *wish)
{
	if (wish->relids != NULL)
	{
		pfree(wish->relids);
		pfree(wish->relfilenumbers);
		pfree(wish->tables);
	}
	if (wish->view.running != NULL)
		pfree(wish->view.running);
	pfree(wish);
}

/* Look for a Graph as look_up does, after waiting for the call that builds it. */
static Finding
wait_for_builder(EmogiSlot *slot, const Wish *wish)
{
	Finding		finding;

	emogi_cache_lock();
	emogi_cache_shared->counters.waits++;
	emogi_cache_unlock();
	for (;;)
	{
		ConditionVariablePrepareToSleep(&emogi_cache_shared->changed);
		finding = look_up(slot, wish);
		if (finding != MUST_WAIT)
			break;
		CHECK_FOR_INTERRUPTS();
		ConditionVariableTimedSleep(&emogi_cache_shared->changed, 1000, emogi_wait_event(EMOGI_WAIT_BUILD));
	}
	ConditionVariableCancelSleep();
	slot->awaited_graph = -1;
	return finding;
}

/* Find the Graph in the cache, or reserve an entry for it. */
static Finding
find_or_reserve(EmogiSlot *slot, const Wish *wish)
{
	Finding		finding = look_up(slot, wish);

	while (finding == MUST_WAIT || finding == MUST_MAKE_ROOM)
	{
		if (finding == MUST_MAKE_ROOM && !emogi_cache_make_room())
			return MUST_BUILD_PRIVATELY;
		finding = finding == MUST_WAIT ? wait_for_builder(slot, wish) : look_up(slot, wish);
	}
	return finding;
}

/* Will no snapshot ever again see the rows of this Graph? */
static bool
is_outdated(const EmogiCached *cached, TransactionId oldest_xid)
{
	for (int i = 0; i < cached->nleaves; i++)
		if (emogi_ring_outdated(cached->leaves[i].table, &cached->view, oldest_xid))
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
			!emogi_ring_alike(cached->leaves[i].table, &other->view, &cached->view))
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
static void
publish(EmogiCall *call, EmogiGraph *graph, uint32 weight_misfits, uint64 nskipped)
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
		emogi_ring_publish(cached->leaves[i].table);
	emogi_cache_shared->counters.builds++;
	doom_predecessors(cached, oldest_xid);
	emogi_cache_unlock();
	ConditionVariableBroadcast(&emogi_cache_shared->changed);
	emogi_cache_free_doomed();
	emogi_fault_sleep(EMOGI_AT_PUBLISHED);
}

/* Hide the weights of a Graph from a call that reads none. */
static void
hide_weights(EmogiGraph *graph)
{
	graph->weight_type = EMOGI_WEIGHT_NONE;
	graph->forward.weights = graph->backward.weights = NULL;
}

/* Show a cached Graph the way that a call wants to see it. */
static void
present(const EmogiCached *cached, const EmogiGraphKey *key, EmogiGraph *graph)
{
	*graph = cached->graph;
	if (!key->any_direction && cached->key.direction != key->direction)
	{
		graph->forward = cached->graph.backward;
		graph->backward = cached->graph.forward;
	}
	if (key->weight == 0)
		hide_weights(graph);
}

/* Let go of the donor. */
static void
release_donor(EmogiSlot *slot)
{
	int			donor = slot->donor;

	slot->donor = -1;
	if (donor >= 0)
		emogi_cache_unpin(donor);
}

/* Build the Graph that is reserved, from a donor's edges or from the table, and publish it. */
static void
build_shared(EmogiCall *call, const EmogiSource *source, List *leaves, const Wish *wish)
{
	EmogiSlot  *slot = call->slot;
	EmogiGraph	graph;
	uint64		nskipped;
	uint32		misfits;

	emogi_fault_sleep(EMOGI_AT_REGISTERED);
	if (slot->donor >= 0)
	{
		const EmogiCached *donor = &emogi_cache_shared->graphs[slot->donor];

		nskipped = donor->nskipped;
		graph = donor->graph;
		if (wish->key.weight == 0)
			hide_weights(&graph);
		emogi_build_edges_of(call, &graph, donor->key.direction, wish->key.weights);
		release_donor(slot);
	}
	else
	{
		emogi_build_edges(call, source, leaves, wish->key.weights);
		nskipped = pg_atomic_read_u64(&slot->nskipped);
	}
	emogi_build_graph(call, wish->key.direction, wish->key.with_backward, &graph, &misfits);
	emogi_call_phase(call, EMOGI_PHASE_IDLE);
	publish(call, &graph, misfits, nskipped);
}

/* Build a Graph that lives no longer than the call. A relation of which no heap is left has no edges. */
static void
build_privately(EmogiCall *call, const EmogiSource *source, bool from_heaps, List *leaves, const EmogiGraphKey *wanted,
				EmogiGraph *graph)
{
	uint32		misfits;

	strlcpy(call->run.cache, "private", sizeof call->run.cache);
	if (!from_heaps || leaves != NIL)
		emogi_build_edges(call, source, leaves, wanted->weights);
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
			if (emogi_scan_heaps(source, relids, leaves))
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

/* May the Graph of these heaps be shared, as the active snapshot sees them? Fills in the wish. */
static bool
may_share(Wish *wish, List *leaves)
{
	return emogi_cache && !IsolationIsSerializable() && wish_for_leaves(wish, leaves) &&
		emogi_view_take(GetActiveSnapshot(), &wish->view);
}

/* Put together what is wanted of a Graph. */
static EmogiGraphKey
key_of(const EmogiSource *source, const EmogiGraphKey *wanted)
{
	EmogiGraphKey key = *wanted;

	key.database = MyDatabaseId;
	key.relid = source->relid;
	key.src = source->src;
	key.dst = source->dst;
	key.weight = source->weight;
	return key;
}

/*
 * Get the Graph of a Source as the caller's snapshot sees it, from the cache or newly built, for as long as the call
 * lasts. The caller's rights are checked first, on every call. Raises 42501, 40001, 53200, 22004 and 22023 for weights, and
 * whatever a query raises. wanted: what kind of lists and weights (emogi_wish_of).
 */
void
emogi_graph_get(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted, EmogiGraph *graph)
{
	List	   *leaves;
	bool		from_heaps = find_leaves(source, &leaves);
	EmogiGraphKey key = key_of(source, wanted); /* of what was found in the end */
	Wish	   *wish = make_wish(&key);
	Finding		finding = MUST_BUILD_PRIVATELY;

	if (from_heaps)
		emogi_snapshot_answer();
	if (may_share(wish, leaves))
		finding = find_or_reserve(call->slot, wish);
	if (finding == MUST_BUILD_PRIVATELY)
		build_privately(call, source, from_heaps, leaves, wanted, graph);
	else
	{
		strlcpy(call->run.cache, finding == FOUND ? "hit" : "built", sizeof call->run.cache);
		if (finding == MUST_BUILD)
			build_shared(call, source, leaves, wish);
		else
			emogi_fault_sleep(EMOGI_AT_FOUND);
		present(&emogi_cache_shared->graphs[call->slot->graph], &wish->key, graph);
	}
	if (from_heaps)
		PopActiveSnapshot();
	call->run.nvertices = graph->nvertices;
	call->run.nedges = graph->forward.nedges;
	free_wish(wish);
}

/*
 * Where would a call find its Graph, as the active snapshot sees it? The caller may read the relation (it was peeked
 * at), and holds a lock on it.
 */
EmogiOutlook
emogi_graph_outlook(const EmogiSource *source, const EmogiGraphKey *wanted)
{
	EmogiGraphKey key = key_of(source, wanted);
	Wish	   *wish = make_wish(&key);
	EmogiOutlook outlook = EMOGI_GRAPH_WILL_BE_PRIVATE;
	List	   *leaves;

	if (emogi_scan_possible(source, &leaves) && may_share(wish, leaves))
	{
		emogi_cache_lock();
		outlook = find_graph(wish, EMOGI_GRAPH_READY, has_lists) != NULL ? EMOGI_GRAPH_IS_CACHED : EMOGI_GRAPH_WILL_BE_BUILT;
		emogi_cache_unlock();
	}
	free_wish(wish);
	return outlook;
}
