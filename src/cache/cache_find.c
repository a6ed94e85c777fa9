/*
 * cache_find.c: cached graphs by the objects they were built from: the tables, the query, the role
 * that built them. Used for eviction, and for the planner's size estimates.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "cache/tables.h"
#include "cache/change_tracker.h"

/* Check whether this table is a leaf of a graph. */
static bool
depends_on(const EmogiCached *cached, Oid relid)
{
	for (int i = 0; i < cached->nleaves; i++)
		if (emogi_tables_relid(cached->leaves[i].table) == relid)
			return true;
	return false;
}

/*
 * Doom a graph if it is READY; return the memory that can then be freed at once. Caller holds
 * cache_lock.
 */
static uint64
doom_ready(EmogiCached *cached)
{
	if (cached->state != EMOGI_GRAPH_READY)
		return 0;
	emogi_cache_doom(cached);
	return cached->pins == 0 ? cached->bytes : 0;
}

/*
 * Doom the READY graphs of a whole database, or those in it that depend on a table. Caller holds
 * cache_lock.
 */
static uint64
doom_dependent(Oid database, Oid relid)
{
	uint64		bytes = 0;
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &emogi_cache_shared->used)
	{
		EmogiCached *cached = dlist_container(EmogiCached, order, iter.cur);

		if (cached->key.database == database && (!OidIsValid(relid) || depends_on(cached, relid)))
			bytes += doom_ready(cached);
	}
	return bytes;
}

/*
 * Doom the READY graphs whose source is this table; return the number of graphs that have it as a
 * leaf. Caller holds cache_lock.
 */
static int
doom_named(const EmogiGraphKey *key, uint64 *bytes)
{
	int			ndependent = 0;
	dlist_iter	iter;

	dlist_foreach(iter, emogi_cache_bucket(key))
	{
		EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (!emogi_cache_same_source(&cached->key, key))
			continue;
		ndependent += depends_on(cached, key->relid);
		*bytes += doom_ready(cached);
	}
	return ndependent;
}

/*
 * Evict the graphs of a table, or of a whole database (relid = InvalidOid). Graphs in use are freed
 * when they no longer are. Return the size of the others. All graphs are scanned only if some
 * depend on the table through another source. Raises nothing.
 */
uint64
emogi_cache_evict(Oid database, Oid relid)
{
	EmogiGraphKey key = {.database = database, .relid = relid};
	uint64		bytes = 0;

	emogi_cache_lock();
	if (!OidIsValid(relid) || doom_named(&key, &bytes) < emogi_tables_references(database, relid))
		bytes += doom_dependent(database, relid);
	bytes += emogi_change_tracker_doom_all(database, relid);
	emogi_cache_unlock();
	emogi_change_tracker_free_doomed();
	emogi_cache_free_doomed();
	emogi_cache_lock();
	emogi_tables_untrack(database, relid);
	emogi_cache_unlock();
	return bytes;
}

/*
 * Evict the graphs of queries in this database for which `evicts`, called under cache_lock, returns
 * true, with their change trackers; like emogi_cache_evict.
 */
uint64
emogi_cache_evict_queries(bool (*evicts) (const EmogiCached *, const void *), const void *arg)
{
	uint64		bytes = 0;
	dlist_mutable_iter iter;

	emogi_cache_lock();
	dlist_foreach_modify(iter, &emogi_cache_shared->used)
	{
		EmogiCached *cached = dlist_container(EmogiCached, order, iter.cur);

		if (cached->key.of_query && cached->key.database == MyDatabaseId && evicts(cached, arg))
		{
			if (cached->tracker_id != 0)
				(void) emogi_change_tracker_doom(cached->tracker_id);
			bytes += doom_ready(cached);
		}
	}
	emogi_cache_unlock();
	emogi_change_tracker_free_doomed();
	emogi_cache_free_doomed();
	return bytes;
}

/* ---- sizes ---- */

/* Get the number of edges of a graph, counting each once. */
uint64
emogi_cache_stored_edges(const EmogiCached *cached)
{
	return cached->graph.forward.nedges / (cached->key.direction == EMOGI_BOTH ? 2 : 1);
}

/* Is this a READY graph of a source? Caller holds cache_lock. */
static bool
is_ready_graph_of(const EmogiCached *cached, const EmogiGraphKey *key)
{
	return cached->state == EMOGI_GRAPH_READY && emogi_cache_same_source(&cached->key, key) &&
		cached->key.src == key->src && cached->key.dst == key->dst;
}

/*
 * Get the size of the latest READY graph of a source, in any direction (edges as they are stored),
 * the sizes of the components of the latest one where they are known, and the type of its keys; or,
 * for a query, the size of the last dropped one, without a type. Return false if there is none.
 */
static bool
find_size(const EmogiGraphKey *key, uint64 *id, uint64 *nvertices, uint64 *nedges,
		  EmogiComponentSizes *components, EmogiKeyType *keys)
{
	const EmogiCached *latest = NULL;
	const EmogiCached *counted = NULL;
	bool		found;
	dlist_iter	iter;

	emogi_cache_lock();
	dlist_foreach(iter, emogi_cache_bucket(key))
	{
		const EmogiCached *cached = dlist_container(EmogiCached, chain, iter.cur);

		if (!is_ready_graph_of(cached, key))
			continue;
		if (latest == NULL || cached->id > latest->id)
			latest = cached;
		if (cached->components.ncomponents > 0 && (counted == NULL || cached->id > counted->id))
			counted = cached;
	}
	memset(keys, 0, sizeof *keys);
	*components = counted != NULL ? counted->components : (EmogiComponentSizes) {0};
	found = latest != NULL || (key->of_query && emogi_asked_queries_size(key, nvertices, nedges));
	*id = latest != NULL ? latest->id : 0;
	if (latest != NULL)
	{
		*nvertices = latest->graph.nvertices;
		*nedges = emogi_cache_stored_edges(latest);
		*keys = latest->key.keys;
	}
	emogi_cache_unlock();
	return found;
}

/*
 * Get the id and the size of the latest cached graph of these columns, regardless of its snapshot;
 * return false if there is none.
 */
bool
emogi_cache_size(Oid relid, AttrNumber src, AttrNumber dst, uint64 *id, uint64 *nvertices,
				 uint64 *nedges, EmogiComponentSizes *components)
{
	EmogiGraphKey key = {.database = MyDatabaseId, .relid = relid, .src = src, .dst = dst};
	EmogiKeyType keys;

	return find_size(&key, id, nvertices, nedges, components, &keys);
}

/* Get the same for a query, and the type of its keys. */
bool
emogi_cache_query_size(const uint8 *fingerprint, uint64 *nvertices, uint64 *nedges,
					   EmogiComponentSizes *components, EmogiKeyType *keys)
{
	EmogiGraphKey key = {.database = MyDatabaseId, .of_query = true};
	uint64		id;

	memcpy(key.fingerprint, fingerprint, sizeof key.fingerprint);
	return find_size(&key, &id, nvertices, nedges, components, keys);
}

/*
 * Copy the text of a graph's query, at most EMOGI_MAX_TEXT bytes, with a terminating zero; return
 * false if the graph is gone.
 */
bool
emogi_cache_text(uint64 id, char *text)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[id % EMOGI_MAX_GRAPHS];
	bool		is_there;

	LWLockAcquire(emogi_shared->cache_lock, LW_SHARED);
	is_there = cached->state != EMOGI_GRAPH_FREE && cached->id == id && cached->text != NULL;
	if (is_there)
		strlcpy(text, cached->text, EMOGI_MAX_TEXT + 1);
	LWLockRelease(emogi_shared->cache_lock);
	return is_there;
}
