/*
 * cache_miss.c: the reason why a call builds its graph: what the cache has of the same source, and
 * why that was not refreshed.
 */
#include "postgres.h"

#include "acquire/cache_lookup.h"
#include "cache/tables.h"

/* Get how a graph with other columns differs from a lookup of the same source. */
static EmogiCacheMiss
compare_columns(const EmogiCached *cached, const EmogiCacheLookup *lookup)
{
	EmogiGraphKey key = lookup->key;

	if (key.of_servers && cached->key.of_servers)
	{
		memcpy(key.fingerprint, cached->key.fingerprint, sizeof key.fingerprint);
		if (emogi_cache_lookup_has_columns(cached, &key))
			return EMOGI_MISS_SERVER_ROWS;
	}
	key.weight = 0;
	return emogi_cache_lookup_has_columns(cached, &key) ? EMOGI_MISS_WEIGHTS : EMOGI_MISS_COLUMNS;
}

/* Get how the rows of a graph with the right columns and lists differ from those of a lookup. */
static EmogiCacheMiss
compare_rows(const EmogiCached *cached, const EmogiCacheLookup *lookup)
{
	if (cached->nleaves != lookup->nleaves)
		return EMOGI_MISS_TABLES;
	for (int i = 0; i < lookup->nleaves; i++)
	{
		if (emogi_tables_relid(cached->leaves[i].table) != lookup->relids[i])
			return EMOGI_MISS_TABLES;
		if (cached->leaves[i].relfilenumber != lookup->relfilenumbers[i])
			return EMOGI_MISS_REWRITTEN;
	}
	return emogi_transaction_snapshot_contain(&cached->xids, &lookup->xids) &&
		!emogi_transaction_snapshot_contain(&lookup->xids, &cached->xids) ?
		EMOGI_MISS_OLD_SNAPSHOT : EMOGI_MISS_OUTDATED;
}

/*
 * Get how the most similar READY graph of a lookup's source differs from its graph; of several, the
 * latest. Caller holds cache_lock.
 */
static EmogiCacheMiss
find_miss(const EmogiCacheLookup *lookup)
{
	EmogiCacheMiss miss = EMOGI_MISS_NONE;
	const EmogiCached *latest = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, emogi_cache_bucket(&lookup->key))
	{
		const EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (cached->state != EMOGI_GRAPH_READY ||
			!emogi_cache_same_source(&cached->key, &lookup->key))
			continue;
		if (!emogi_cache_lookup_has_columns(cached, &lookup->key))
			miss = Max(miss, compare_columns(cached, lookup));
		else if (!emogi_cache_lookup_has_lists(cached, &lookup->key))
			miss = Max(miss, EMOGI_MISS_LISTS);
		else if (latest == NULL || cached->id > latest->id)
			latest = cached;
	}
	if (latest != NULL)
		return compare_rows(latest, lookup);
	if (emogi_cache_was_evicted(&lookup->key))
		return EMOGI_MISS_EVICTED;
	if (miss != EMOGI_MISS_NONE)
		return miss;
	/* the versions of the servers' rows are part of the fingerprint of a query */
	return lookup->key.of_query && lookup->key.of_servers ? EMOGI_MISS_SERVER_ROWS :
		EMOGI_MISS_NOT_CACHED;
}

/*
 * Record why a call builds its graph, before it does. not_refreshed: why an outdated graph was not
 * refreshed; NONE = unknown.
 */
void
emogi_cache_miss_record(EmogiCall *call, const EmogiCacheLookup *lookup,
						EmogiCacheMiss not_refreshed)
{
	EmogiCacheMiss miss;

	emogi_cache_lock();
	miss = find_miss(lookup);
	emogi_cache_unlock();
	call->record.why_built = miss == EMOGI_MISS_OUTDATED && not_refreshed != EMOGI_MISS_NONE ?
		not_refreshed : miss;
}
