/*
 * cache_lookup_make.c: what a call requests of the cache, and whether its graph can be shared
 *
 * Not shared are graphs of:
 * - foreign tables and other rows that change undetected;
 * - temporary tables;
 * - catalogs, because their writers release their locks before the end of the transaction;
 * - tables changed by the caller's own transaction;
 * - SERIALIZABLE transactions, because PostgreSQL must see their reads.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/catalog.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "tcop/pquery.h"
#include "utils/snapmgr.h"

#include "acquire/cache_lookup.h"
#include "changes/changes.h"
#include "base/compat.h"
#include "base/fault.h"

/*
 * Make a lookup for the graph of a source, or of its query analysis, if not NULL. wanted: the
 * requested adjacency lists and weights.
 */
EmogiCacheLookup *
emogi_cache_lookup_make(const EmogiSource *source, const EmogiQueryAnalysis *analysis,
						const EmogiGraphKey *wanted)
{
	EmogiCacheLookup *lookup = palloc0(MAXALIGN(sizeof *lookup) + sizeof *lookup->registration);

	lookup->registration = (EmogiRegistration *) ((char *) lookup + MAXALIGN(sizeof *lookup));
	lookup->key = *wanted;
	lookup->key.database = MyDatabaseId;
	lookup->key.relid = source->relid;
	lookup->key.of_query = analysis != NULL;
	lookup->key.of_servers = false;
	memset(lookup->key.fingerprint, 0, sizeof lookup->key.fingerprint);
	if (analysis != NULL)
	{
		memcpy(lookup->key.fingerprint, analysis->fingerprint, sizeof lookup->key.fingerprint);
		lookup->key.src = lookup->key.dst = lookup->key.reverse = 0;
		lookup->key.weight = analysis->columns.weight;
		lookup->key.keys = analysis->columns.key;
		lookup->has_vertices = analysis->columns.vertex > 0;
		lookup->text = analysis->text;
		lookup->shape = analysis->is_folded ? 0 : analysis->shape;
		lookup->analysis = analysis;
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
		pfree(lookup->relids);
	if (lookup->xids.running != NULL)
		pfree(lookup->xids.running);
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

/* Get why changes of a lookup cannot be tracked, whatever its tables are; NONE = they can be. */
static EmogiCacheMiss
why_untracked(const EmogiCacheLookup *lookup)
{
	if (!emogi_enable_incremental)
		return EMOGI_MISS_INCREMENTAL_OFF;
	if (lookup->key.of_servers)
		return EMOGI_MISS_SERVERS;
	if (lookup->analysis != NULL && lookup->analysis->filtered == NULL)
		return EMOGI_MISS_QUERY;
	return lookup->key.keys.class == EMOGI_KEY_COMPARED ? EMOGI_MISS_KEY_TYPE : EMOGI_MISS_NONE;
}

/*
 * Identify the columns of a leaf that is not the relation of the source itself: a partition that
 * was detached, changed and attached again may have others of the same names in the same file,
 * which a snapshot that was taken before sees, too (C17).
 */
static uint32
identify_columns(const EmogiGraphKey *key, Relation leaf)
{
	const TupleDesc desc = RelationGetDescr(leaf);
	uint32		hash = 0;

	if (RelationGetRelid(leaf) == key->relid)
		return 0;
	for (int i = 0; i < desc->natts; i++)
	{
		const char *name = NameStr(TupleDescAttr(desc, i)->attname);

		if (TupleDescAttr(desc, i)->attisdropped)
			continue;
		hash = hash_combine(hash, (uint32) i);
		hash = hash_combine(hash, hash_bytes((const unsigned char *) name, (int) strlen(name)));
	}
	return hash;
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

	if (count == 0 && !lookup->key.of_query && !lookup->key.of_servers)
	{
		lookup->why_local = "the table has no partitions";
		return false;
	}
	if (count > EMOGI_MAX_BASE_TABLES)
	{
		lookup->why_local = "it has too many partitions or child tables";
		return false;
	}
	lookup->relids = palloc(count * (2 * sizeof(Oid) + sizeof(int) + sizeof(uint32)));
	lookup->relfilenumbers = lookup->relids + count;
	lookup->tables = (int *) (lookup->relfilenumbers + count);
	lookup->columns = (uint32 *) (lookup->tables + count);
	lookup->nleaves = 0;
	lookup->why_untracked = why_untracked(lookup);
	foreach(cell, leaves)
	{
		Oid			relid = lfirst_oid(cell);
		Relation	rel = relation_open(relid, NoLock);
		bool		shared = !RelationUsesLocalBuffers(rel) && !IsCatalogRelation(rel);

		lookup->own |= emogi_recent_writers_changed_by_me(relid) &&
			!(lookup->key.of_query && emogi_faults.analysis[EMOGI_ANALYSIS_OWN]);
		if (lookup->why_untracked == EMOGI_MISS_NONE && !emogi_changed_pages_can_track(rel))
			lookup->why_untracked = EMOGI_MISS_UNLOGGED;	/* others are not shared */
		if (shared && ((count == 1 && !lookup->key.of_servers) || !is_empty(rel)))
		{
			lookup->relids[lookup->nleaves] = relid;
			lookup->columns[lookup->nleaves] = identify_columns(&lookup->key, rel);
			lookup->relfilenumbers[lookup->nleaves++] = emogi_compat_relfilenumber(rel);
		}
		if (!shared)
			lookup->why_local = psprintf(RelationUsesLocalBuffers(rel) ?
										 "\"%s\" is a temporary table, which other sessions cannot "
										 "read" :
										 "\"%s\" is a system catalog, whose changes are not "
										 "tracked",
										 RelationGetRelationName(rel));
		relation_close(rel, NoLock);
		if (!shared)
			return false;
	}
	return true;
}

/* Check whether the call's graph can be shared at all. */
static bool
may_be_shared(void)
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
 * the lookup, and sets can_track if changes can be tracked.
 */
static bool
may_share_heaps(EmogiCacheLookup *lookup, List *leaves)
{
	if (may_be_shared() && fill_in_leaves(lookup, leaves) &&
		emogi_transaction_snapshot_take(GetActiveSnapshot(), &lookup->xids))
	{
		lookup->can_track = lookup->why_untracked == EMOGI_MISS_NONE && lookup->nleaves > 0 &&
			lookup->xids.recovery == RecoveryInProgress();
		lookup->taken_at = get_snapshot_time();
		return !lookup->own;
	}
	lookup->can_track = false;
	return false;
}

/*
 * Return why a graph of tables cannot be shared, after emogi_cache_lookup_may_share has returned
 * false.
 */
const char *
emogi_cache_lookup_refusal(const EmogiCacheLookup *lookup)
{
	if (!emogi_enable_cache)
		return "emogi.enable_cache is off";
	if (IsolationIsSerializable())
		return "the transaction is SERIALIZABLE";
	if (lookup->why_local != NULL)
		return lookup->why_local;
	if (lookup->own)
		return "this transaction has changed a table that it reads";
	return "the snapshot cannot be compared, or has too many transactions in progress";
}

/*
 * Check whether the graph of an open source, as the active snapshot sees it, can be shared. Fills
 * in the lookup, and sets can_track if changes can be tracked. If not all rows are in tables, the
 * version of the others is part of the key, and *why is set to why the graph cannot be shared.
 */
bool
emogi_cache_lookup_may_share(EmogiCacheLookup *lookup, EmogiGraphSource *rows, const char **why)
{
	*why = NULL;
	if (rows->kind->version == NULL)
		return may_share_heaps(lookup, rows->tables);
	if (may_be_shared())
	{
		*why = rows->kind->version(rows, lookup->key.fingerprint);
		lookup->key.of_servers = *why == NULL;
		if (*why == NULL && may_share_heaps(lookup, rows->tables))
			return true;
	}
	if (*why == NULL)
		*why = emogi_cache_lookup_refusal(lookup);
	return false;
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

/* ---- values that no other call may request (Q6) ---- */

/* Return why the graph of a query is not shared when it is requested for the first time. */
const char *
emogi_cache_lookup_first_request(const EmogiCacheLookup *lookup)
{
	return lookup->analysis->has_exact_time ? EMOGI_CLOCK_VALUE : EMOGI_FIRST_REQUEST;
}

/*
 * Check whether a query has values that other calls may not use, and is requested for the first
 * time. noted: record the request.
 *
 * A graph for values that no other call uses only takes memory. A query with a folded value gets an
 * entry when it is requested for the second time. A query that differs from an earlier one only in
 * its constants gets an entry at once, marked `asked_once`: the last few graphs with this mark are
 * kept (cache_lookup_drop.c), and they are evicted first. The mark is cleared when a call finds the
 * graph. The first graph with a change tracker for such values has it, too. A query that is
 * repeated, or always the same, has an ordinary entry. So has a view, because its name is part of
 * the shape.
 */
bool
emogi_cache_lookup_is_first_request(const EmogiCacheLookup *lookup, bool noted)
{
	bool		is_first;

	if (!lookup->key.of_query)
		return false;
	emogi_cache_lock();
	is_first = emogi_asked_queries_is_first(&lookup->key, lookup->shape, noted);
	emogi_cache_unlock();
	return is_first && !emogi_faults.analysis[EMOGI_ANALYSIS_SECOND_LOOKUP];
}

/* Check whether changes of a query with values are followed for the first time; record it. */
bool
emogi_cache_lookup_is_first_followed(const EmogiCacheLookup *lookup)
{
	bool		is_first;

	if (!lookup->key.of_query)
		return false;
	emogi_cache_lock();
	is_first = emogi_asked_queries_first_followed(&lookup->key, lookup->shape);
	emogi_cache_unlock();
	return is_first;
}

/* Record the cost of an index search instead of a graph that was not requested yet. */
void
emogi_cache_lookup_add_cost(const EmogiCacheLookup *lookup, uint64 cost)
{
	emogi_cache_lock();
	emogi_asked_queries_add_cost(&lookup->key, lookup->shape, cost);
	emogi_cache_unlock();
}

/* Get what all such searches have cost. */
uint64
emogi_cache_lookup_cost(const EmogiCacheLookup *lookup)
{
	uint64		cost;

	emogi_cache_lock();
	cost = emogi_asked_queries_cost(&lookup->key);
	emogi_cache_unlock();
	return cost;
}
