/*
 * cache_lookup_drop.c: drop cached graphs that no call can use any more.
 *
 * The next version of a graph supersedes the older ones (cache_lookup_publish.c). A query with a
 * value that no call repeats has no next version. Therefore each call that builds a graph checks a
 * few others: the most recently used ones, and some in turn.
 *
 * A graph of a query is dropped
 * - if its table has changed and no snapshot remains that sees the old rows;
 * - if its table has changed and the graph has not been used for EMOGI_IDLE_MS, although older
 *   snapshots may remain: a long transaction or a replication slot hides that there are none;
 * - if no call has requested its values since it was built for the first time, and
 *   EMOGI_MAX_ASKED_ONCE other such graphs were published since; or since their first change
 *   tracker was made, and EMOGI_MAX_FOLLOWED_ONCE other such graphs were published since;
 * - if its table has changed, and a call's values that a change tracker follows were not used for
 *   EMOGI_IDLE_FOLLOWED_MS. The tracker goes with its last graph.
 *
 * A graph that a call has used with emogi.max_staleness is kept as long as that allows. Graphs of
 * tables are not dropped here: each has at most one useless version, whose size the planner reads.
 * The size of a dropped graph of a query is recorded in cache/asked_queries.c.
 */
#include "postgres.h"

#include "storage/procarray.h"
#include "utils/timestamp.h"

#include "acquire/cache_lookup.h"
#include "base/fault.h"
#include "base/arena.h"

/* Limits of the work per built graph: recently used entries, entries in turn, leaves. */
#define EMOGI_MAX_LATEST 8
#define EMOGI_MAX_CHECKS 32
#define EMOGI_MAX_LEAVES 1024

#define EMOGI_IDLE_MS 60000
#define EMOGI_IDLE_FOLLOWED_MS 600000

/* The asked_once graphs, except the last, take at most 1 / EMOGI_ONCE_SHARE of emogi.max_memory. */
#define EMOGI_ONCE_SHARE 8

/* Check whether no snapshot will ever again see the rows of a graph. Caller holds cache_lock. */
bool
emogi_cache_lookup_is_outdated(const EmogiCached *cached, TransactionId oldest_xid)
{
	for (int i = 0; i < cached->nleaves; i++)
		if (emogi_recent_writers_outdated(cached->leaves[i].table, &cached->xids, oldest_xid))
			return true;
	return false;
}

/*
 * Check whether no lookup can find a graph: its change tracker is gone, and the rings do not cover
 * it. Caller holds cache_lock.
 */
bool
emogi_cache_lookup_is_unreachable(const EmogiCached *cached)
{
	return !cached->by_writers && !emogi_change_tracker_has_id(cached->tracker_id);
}

/* Check whether no snapshot as new as `newer` or newer sees the rows of a graph. */
static bool
is_passed(const EmogiCached *cached, const EmogiTransactionSnapshot *newer)
{
	for (int i = 0; i < cached->nleaves; i++)
		if (emogi_recent_writers_are_superseded(cached->leaves[i].table, &cached->xids, newer))
			return true;
	return false;
}

/*
 * Check whether a call may still get this stale graph, given the highest emogi.max_staleness of its
 * users.
 */
static bool
may_serve_stale(const EmogiCached *cached, TimestampTz now)
{
	return cached->staleness_ms > 0 &&
		!TimestampDifferenceExceeds(cached->exact_at, now, cached->staleness_ms);
}

/* Check whether a graph has not been used for a time. */
static bool
is_idle(const EmogiCached *cached, TimestampTz now, int ms)
{
	return TimestampDifferenceExceeds(cached->last_used, now,
									  emogi_faults.idle_ms > 0 ? emogi_faults.idle_ms - 1 : ms);
}

/* Check whether no call uses a graph that a change tracker follows because of its values. */
static bool
is_followed_idly(const EmogiCached *cached, const EmogiTransactionSnapshot *xids, TimestampTz now)
{
	return cached->of_values && is_idle(cached, now, EMOGI_IDLE_FOLLOWED_MS) &&
		(!cached->by_writers || is_passed(cached, xids));
}

/* Check whether a graph can be dropped. */
static bool
can_drop(const EmogiCached *cached, const EmogiTransactionSnapshot *xids, TransactionId oldest_xid,
		 TimestampTz now)
{
	if (!cached->key.of_query || cached->tracker_id != 0)
		return emogi_cache_lookup_is_unreachable(cached) ||
			(!may_serve_stale(cached, now) && is_followed_idly(cached, xids, now));
	if (may_serve_stale(cached, now) || emogi_faults.analysis[EMOGI_ANALYSIS_DROP])
		return false;
	return emogi_cache_lookup_is_outdated(cached, oldest_xid) ||
		(is_idle(cached, now, EMOGI_IDLE_MS) && is_passed(cached, xids));
}

/* Has a graph's change tracker no other graph? */
static bool
is_last_of_tracker(const EmogiCached *cached)
{
	dlist_iter	iter;

	dlist_foreach(iter, emogi_cache_bucket(&cached->key))
	{
		const EmogiCached *other = dlist_container(EmogiCached, chain, iter.cur);

		if (other != cached && other->tracker_id == cached->tracker_id)
			return false;
	}
	return cached->tracker_id != 0;
}

/* Drop a graph. Its tables remain tracked for a while, as after an eviction. */
static void
drop(EmogiCached *cached)
{
	if (cached->of_values && is_last_of_tracker(cached))
		(void) emogi_change_tracker_doom(cached->tracker_id);
	if (cached->key.of_query)
		emogi_asked_queries_keep_size(&cached->key, cached->graph.nvertices,
									  emogi_cache_stored_edges(cached));
	for (int i = 0; i < cached->nleaves; i++)
		emogi_tables_record_eviction(cached->leaves[i].table);
	emogi_cache_doom(cached);
	emogi_cache_shared->counters.drops++;
}

/* One search for graphs to drop. */
typedef struct Sweep
{
	const EmogiTransactionSnapshot *xids;
	TransactionId oldest_xid;
	TimestampTz now;
	int			nleaves;
} Sweep;

/* Drop a graph if no call uses it, and none can any more. */
static void
drop_if_useless(EmogiCached *cached, Sweep *sweep)
{
	if (cached->state != EMOGI_GRAPH_READY || cached->pins > 0 || cached->kept)
		return;
	sweep->nleaves += cached->nleaves;
	if (can_drop(cached, sweep->xids, sweep->oldest_xid, sweep->now))
		drop(cached);
}

/*
 * Drop some of the graphs of queries that no call can use any more. xids: a snapshot of the caller;
 * oldest_xid: all snapshots see the transactions below it as ended. Caller holds cache_lock, and
 * calls emogi_cache_free_doomed after releasing it.
 */
void
emogi_cache_lookup_drop_unusable(const EmogiTransactionSnapshot *xids, TransactionId oldest_xid)
{
	EmogiCache *cache = emogi_cache_shared;
	const uint32 nchecks = Min(cache->nused, EMOGI_MAX_CHECKS);
	Sweep		sweep = {.xids = xids,.oldest_xid = oldest_xid,.now = GetCurrentTimestamp()};
	dlist_node *node = dlist_is_empty(&cache->used) ? NULL : dlist_tail_node(&cache->used);

	for (int i = 0; i < EMOGI_MAX_LATEST && node != NULL && sweep.nleaves < EMOGI_MAX_LEAVES; i++)
	{
		EmogiCached *cached = dlist_container(EmogiCached, order, node);

		node = dlist_has_prev(&cache->used, node) ? dlist_prev_node(&cache->used, node) : NULL;
		drop_if_useless(cached, &sweep);
	}
	for (uint32 i = 0; i < nchecks && sweep.nleaves < EMOGI_MAX_LEAVES; i++)
		drop_if_useless(&cache->graphs[cache->swept++ % cache->nused], &sweep);
}

/*
 * Drop some graphs as emogi_cache_lookup_drop_unusable does, for a call that builds a private graph
 * under the lookup's snapshot.
 */
void
emogi_cache_lookup_drop_for_private(const EmogiCacheLookup *lookup)
{
	const TransactionId oldest_xid = GetOldestNonRemovableTransactionId(NULL);

	emogi_cache_lock();
	emogi_cache_lookup_drop_unusable(&lookup->xids, oldest_xid);
	emogi_cache_unlock();
	emogi_change_tracker_free_doomed();
	emogi_cache_free_doomed();
}

/* Get the size of a graph and its change tracker. */
static uint64
bytes_with_tracker(const EmogiCached *cached)
{
	return cached->bytes +
		(cached->tracker_id != 0 ? emogi_change_tracker_bytes(cached->tracker_id) : 0);
}

/* Find the graph with this id, if it is still asked_once and can be dropped; otherwise NULL. */
static EmogiCached *
find_once(uint64 id)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[id % EMOGI_MAX_GRAPHS];

	return id != 0 && cached->id == id && cached->state == EMOGI_GRAPH_READY &&
		cached->asked_once && !cached->kept ? cached : NULL;
}

/*
 * Put a graph that has just been published as asked_once into a ring of `room` such graphs, whose
 * next place is *next, and drop the previous ones that do not fit.
 */
static void
drop_from_ring(uint64 *ring, uint32 room, uint32 *next, const EmogiCached *published)
{
	uint64		bytes = bytes_with_tracker(published);

	for (uint32 i = 1; i <= room; i++)
	{
		/* the latest first */
		EmogiCached *cached = find_once(ring[(*next - i) % room]);

		if (cached == NULL)
			continue;
		bytes += bytes_with_tracker(cached);
		if (i == room || bytes > emogi_arena_budget_bytes() / EMOGI_ONCE_SHARE)
			drop(cached);
	}
	ring[(*next)++ % room] = published->id;
}

/*
 * Put a graph that has just been published as asked_once first in the order of eviction, and drop
 * the previous such graphs except the last few. Caller holds cache_lock, and calls
 * emogi_change_tracker_free_doomed and emogi_cache_free_doomed after releasing it.
 */
void
emogi_cache_lookup_drop_asked_once(EmogiCached *published)
{
	EmogiCache *cache = emogi_cache_shared;

	dlist_delete(&published->order);
	dlist_push_head(&cache->used, &published->order);
	if (published->tracker_id != 0)
		drop_from_ring(cache->followed_once, EMOGI_MAX_FOLLOWED_ONCE, &cache->next_followed_once,
					   published);
	else
		drop_from_ring(cache->once, EMOGI_MAX_ASKED_ONCE, &cache->next_once, published);
}
