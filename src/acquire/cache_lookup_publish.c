/*
 * cache_lookup_publish.c: publish a built graph, and doom the graphs that it supersedes.
 */
#include "postgres.h"

#include "storage/procarray.h"

#include "acquire/cache_lookup.h"
#include "base/fault.h"

/*
 * Maximum number of graphs of the same columns and direction, for different snapshots; those of a
 * change tracker are cheap to make again.
 */
#define EMOGI_MAX_VERSIONS 8
#define EMOGI_MAX_TRACKER_VERSIONS 3

/*
 * Maximum number of graphs of one table or query, for all columns, directions and snapshots,
 * because each lookup scans them under cache_lock.
 */
#define EMOGI_MAX_OF_SOURCE 256

/* Check whether `cached` serves every call that `other` serves, for the same snapshots. */
static bool
serves_all_of(const EmogiCached *cached, const EmogiCached *other)
{
	if (!emogi_cache_lookup_has_columns(cached, &other->key) ||
		!emogi_cache_lookup_has_lists(cached, &other->key) || cached->nleaves != other->nleaves)
		return false;
	if (!cached->by_writers || !other->by_writers)
		return false;
	for (int i = 0; i < cached->nleaves; i++)
		if (cached->leaves[i].table != other->leaves[i].table ||
			cached->leaves[i].relfilenumber != other->leaves[i].relfilenumber ||
			cached->leaves[i].columns != other->leaves[i].columns ||
			!emogi_recent_writers_see_same_rows(cached->leaves[i].table, &other->xids,
												&cached->xids, NULL, 0))
			return false;
	return true;
}

/*
 * Check whether `cached` has fewer leaves than `other`, because the others were empty then and no
 * longer are. No lookup will find it.
 */
static bool
lacks_leaves(const EmogiCached *cached, const EmogiCached *other)
{
	int			nfound = 0;

	if (cached->nleaves >= other->nleaves)
		return false;
	for (int i = 0; i < other->nleaves && nfound < cached->nleaves; i++)
		nfound += cached->leaves[nfound].table == other->leaves[i].table &&
			cached->leaves[nfound].relfilenumber == other->leaves[i].relfilenumber;
	return nfound == cached->nleaves;
}

/* Check whether two graphs of one source have the same columns, regardless of their rows. */
static bool
has_same_columns(const EmogiCached *cached, const EmogiCached *other)
{
	return cached->key.src == other->key.src && cached->key.dst == other->key.dst &&
		cached->key.weight == other->key.weight &&
		cached->key.reverse == other->key.reverse &&
		cached->key.of_servers == other->key.of_servers &&
		emogi_key_type_equal(&cached->key.keys, &other->key.keys);
}

/*
 * Check whether two graphs of the same columns were built from different reports of servers to the
 * same role. The servers will not repeat an old report. This is unknown for graphs of other
 * columns: one with older rows stays until its columns are requested, or memory is short.
 */
static bool
has_older_stamps(const EmogiCached *cached, const EmogiCached *published)
{
	return published->key.of_servers && has_same_columns(cached, published) &&
		cached->builder == published->builder &&
		memcmp(cached->key.fingerprint, published->key.fingerprint,
			   sizeof cached->key.fingerprint) != 0;
}

/* Check whether two graphs were made from one change tracker, at any positions. */
static bool
same_tracker(const EmogiCached *cached, const EmogiCached *other)
{
	return cached->tracker_id != 0 && cached->tracker_id == other->tracker_id;
}

/*
 * Check whether a graph is the best base for merges, though no snapshot needs it any more, or
 * another serves as well: it must be the newest of its change tracker with its adjacency lists.
 */
static bool
is_best_base(const EmogiCached *cached, const EmogiCached *newer)
{
	if (same_tracker(cached, newer))
		return !emogi_cache_lookup_has_lists(newer, &cached->key);
	return cached->tracker_id != 0 && emogi_change_tracker_has_id(cached->tracker_id);
}

/*
 * Check whether a graph, which only calls with its change tracker can find, is behind a newer one
 * that has its adjacency lists.
 */
static bool
is_behind_tracker(const EmogiCached *cached, const EmogiCached *newer)
{
	return !cached->by_writers && same_tracker(cached, newer) &&
		cached->tracker_position <= newer->tracker_position &&
		emogi_cache_lookup_has_lists(newer, &cached->key);
}

/* Check whether the graph that has just been published supersedes another. */
static bool
is_superseded(const EmogiCached *cached, const EmogiCached *published, TransactionId oldest_xid)
{
	if (lacks_leaves(cached, published) || is_behind_tracker(cached, published) ||
		emogi_cache_lookup_is_unreachable(cached) || has_older_stamps(cached, published))
		return true;
	return (emogi_cache_lookup_is_outdated(cached, oldest_xid) ||
			serves_all_of(published, cached)) && !is_best_base(cached, published);
}

/*
 * Doom the graphs that the one just published supersedes; return whether one of them passes on its
 * exemption from eviction. An exempt graph stays until a graph with its adjacency lists is
 * published. Caller holds cache_lock.
 */
static bool
doom_predecessors(const EmogiCached *published, TransactionId oldest_xid)
{
	bool		inherits = false;
	EmogiCached *oldest = NULL;
	EmogiCached *oldest_of_all = NULL;
	int			versions = 0;
	int			nothers = 0;
	dlist_iter	iter;

	dlist_foreach(iter, emogi_cache_bucket(&published->key))
	{
		EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (cached == published || cached->state != EMOGI_GRAPH_READY ||
			!emogi_cache_same_source(&cached->key, &published->key))
			continue;
		inherits |= emogi_cache_lookup_inherits_kept(cached, published);
		if (cached->kept)
			continue;
		if (is_superseded(cached, published, oldest_xid))
		{
			if (cached->tracker_id == 0 && published->tracker_id == 0)
				emogi_index_cost_record_end(published->key.of_query ?
											emogi_index_cost_of_query(published->key.fingerprint) :
											published->key.relid, cached->hits);
			emogi_cache_doom(cached);
			emogi_cache_shared->counters.drops++;
			continue;
		}
		nothers++;
		if (oldest_of_all == NULL || cached->last_used < oldest_of_all->last_used)
			oldest_of_all = cached;
		if (cached->key.direction != published->key.direction ||
			!has_same_columns(cached, published))
			continue;
		versions++;
		if (oldest == NULL || cached->last_used < oldest->last_used)
			oldest = cached;
	}
	if (versions >= (published->tracker_id != 0 ? EMOGI_MAX_TRACKER_VERSIONS : EMOGI_MAX_VERSIONS))
		emogi_cache_doom(oldest);
	else if (nothers >= EMOGI_MAX_OF_SOURCE)
		emogi_cache_doom(oldest_of_all);
	return inherits;
}

/*
 * Make the memory of a call's graph that of its entry. A small graph is moved; if the worker runs
 * the call's query on it meanwhile, it keeps the original until that run ends.
 */
static void
transfer(EmogiCall *call, EmogiGraph *graph)
{
	void	   *memory = unconstify(void *, graph->memory);

	emogi_cache_transfer_graph(call->slot->graph, graph, call->slot->dictionary, call->chains);
	if (!call->chains || graph->memory == memory)
		return;
	call->moved_memory = memory;
	call->moved_bytes = graph->memory_bytes;
}

/* Publish the graph that a call has made, and increment a counter of the cache. */
void
emogi_cache_lookup_publish(EmogiCall *call, EmogiGraph *graph, uint32 weight_misfits,
						   uint64 nskipped, uint64 *counter)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[call->slot->graph];
	TransactionId oldest_xid = GetOldestNonRemovableTransactionId(NULL);
	EmogiKeptTotals	together;
	bool		mark_lost;

	emogi_fault_sleep(EMOGI_FAULT_AT_BUILT);
	pg_atomic_write_u64(&call->slot->nskipped, nskipped);
	transfer(call, graph);
	emogi_cache_lock();
	cached->weight_misfits = weight_misfits;
	cached->nskipped = nskipped;
	cached->build_ms = call->phase_ms[EMOGI_PHASE_SCAN] + call->phase_ms[EMOGI_PHASE_KEYS] +
		call->phase_ms[EMOGI_PHASE_CSR] +
		call->phase_ms[EMOGI_PHASE_REFRESH] + call->phase_ms[EMOGI_PHASE_MERGE];
	cached->state = EMOGI_GRAPH_READY;
	emogi_cache_touch(cached);
	cached->built_at = cached->last_used;
	for (int i = 0; i < cached->nleaves; i++)
		emogi_tables_publish(cached->leaves[i].table);
	(*counter)++;
	emogi_cache_forget_eviction(&cached->key);
	mark_lost = doom_predecessors(cached, oldest_xid) && !emogi_cache_keep(cached, &together);
	emogi_cache_lookup_drop_unusable(&cached->xids, oldest_xid);
	if (cached->asked_once)
		emogi_cache_lookup_drop_asked_once(cached);
	emogi_cache_unlock();
	ConditionVariableBroadcast(&emogi_cache_shared->changed);
	emogi_change_tracker_free_doomed();
	emogi_cache_free_doomed();
	if (mark_lost)
		emogi_cache_lookup_log_not_kept(cached, &together);
	emogi_fault_sleep(EMOGI_FAULT_AT_PUBLISHED);
}
