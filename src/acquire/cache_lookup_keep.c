/*
 * cache_lookup_keep.c: kept graphs (cache/cache_keep.c): marking a graph, and transferring the mark
 * to its next version
 *
 * A version replaces another if it has all its columns and lists, and a newer state of the tables.
 * Until there is such a version, a kept graph stays in the cache, even if no snapshot can use it
 * any longer: it remembers that the next version is to be kept.
 */
#include "postgres.h"

#include "acquire/cache_lookup.h"
#include "base/arena.h"

/*
 * Does a graph have all lists and columns of another? The weights that calls accepted at that time
 * do not matter.
 */
static bool
has_all_of(const EmogiCached *cached, const EmogiCached *other)
{
	return cached->key.src == other->key.src && cached->key.dst == other->key.dst &&
		cached->key.reverse == other->key.reverse &&
		(other->key.weight == 0 || cached->key.weight == other->key.weight) &&
		emogi_cache_lookup_has_lists(cached, &other->key);
}

/* Is a graph that has just been published at least as new as another? */
static bool
is_newer(const EmogiCached *published, const EmogiCached *cached)
{
	return published->exact_at >= cached->exact_at ||
		emogi_transaction_snapshot_contain(&published->xids, &cached->xids);
}

/*
 * Remove the mark from a kept graph of the same table as one that has just been published, if that
 * replaces it; return whether it did. Caller holds cache_lock.
 */
bool
emogi_cache_lookup_inherits_kept(EmogiCached *cached, const EmogiCached *published)
{
	if (!cached->kept || !has_all_of(published, cached) || !is_newer(published, cached))
		return false;
	emogi_cache_unkeep(cached);
	return true;
}

/* Log that a version has not inherited the mark: it may be evicted from now on. */
void
emogi_cache_lookup_log_not_kept(const EmogiCached *published, const EmogiKeptTotals *together)
{
	ereport(LOG,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("the graph of relation %u of database %u is no longer kept in the cache",
					published->key.relid, published->key.database),
			 errdetail("With it, %u graphs of %u tables would be kept, %llu bytes; the limit is "
					   "half of emogi.max_memory, %llu bytes.",
					   together->ngraphs, together->nleaves, (unsigned long long) together->bytes,
					   (unsigned long long) emogi_arena_budget_bytes() / 2)));
}

/* Raise 53400: kept graphs would leave too little for others. */
static void
report_limit(const EmogiKeptTotals *together)
{
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("kept graphs would take too much of the cache"),
			 errdetail("With this one, %u graphs of %u tables would be kept, %llu bytes. The "
					   "limits are half of emogi.max_memory, %llu bytes, and half of the %u graphs "
					   "that can be cached.",
					   together->ngraphs, together->nleaves, (unsigned long long) together->bytes,
					   (unsigned long long) emogi_arena_budget_bytes() / 2,
					   emogi_cache_max_graphs()),
			 errhint("Release others with emogi_prewarm(..., keep => false), or raise "
					 "emogi.max_memory (%dMB now) and restart the server.",
					 emogi_max_memory_mb)));
}

/*
 * Keep the graph that a call has pinned; return false if it has been evicted meanwhile. Raises
 * 53400.
 */
bool
emogi_cache_lookup_keep(EmogiCall *call)
{
	EmogiCached *cached = &emogi_cache_shared->graphs[call->slot->graph];
	EmogiKeptTotals	together;
	bool		kept = true;
	bool		ready;

	emogi_cache_lock();
	ready = cached->state == EMOGI_GRAPH_READY;
	if (ready)
		kept = emogi_cache_keep(cached, &together);
	emogi_cache_unlock();
	if (!kept)
		report_limit(&together);
	return ready;
}

/*
 * Stop keeping all graphs, of any snapshots here and on servers, with the columns of the graph that
 * a call has pinned and with the requested lists.
 */
void
emogi_cache_lookup_unkeep(EmogiCall *call, const EmogiGraphKey *wanted)
{
	const EmogiCached *pinned = &emogi_cache_shared->graphs[call->slot->graph];
	EmogiGraphKey key = pinned->key;
	dlist_iter	iter;

	key.weights = wanted->weights;
	key.weight = wanted->weights != EMOGI_WEIGHTS_UNUSED ? pinned->key.weight : 0;
	key.direction = wanted->direction;
	key.with_backward = wanted->with_backward;
	emogi_cache_lock();
	dlist_foreach(iter, emogi_cache_bucket(&key))
	{
		EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (key.of_servers)
			memcpy(key.fingerprint, cached->key.fingerprint, sizeof key.fingerprint);
		if (cached->kept && emogi_cache_lookup_has_columns(cached, &key) &&
			emogi_cache_lookup_has_lists(cached, &key))
			emogi_cache_unkeep(cached);
	}
	emogi_cache_unlock();
}
