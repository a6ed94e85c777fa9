/*
 * graphs_view.c: a look at the cache, and a hand in it: emogi_graphs, emogi_cache, emogi_evict, emogi_reset.
 *
 * A cached Graph tells of its table what only those may know who may read it: a row of emogi_graphs is for whom a call
 * would answer with this Graph, and for members of pg_read_all_stats. The text of a query is its author's: such a row is for the role
 * that built the Graph alone. What is shown is copied first, so that no lock is
 * held when the catalogs are asked; by then a table may be gone, which is no error. A text is copied last, for those who may see it.
 */
#include "postgres.h"

#include "catalog/objectaddress.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "cache/change_tracker.h"
#include "function/function.h"
#include "base/compat.h"
#include "base/fault.h"
#include "base/arena.h"
#include "base/sql_version.h"
#include "views/views.h"

PG_FUNCTION_INFO_V1(emogi_graphs);
PG_FUNCTION_INFO_V1(emogi_cache);
PG_FUNCTION_INFO_V1(emogi_evict);
PG_FUNCTION_INFO_V1(emogi_reset);

/* Graphs that are copied, and entries that are looked at, at a time. */
#define PORTION		128
#define MOST_LOOKS	1024

/* A cached Graph, copied without its leaves, its snapshot and its text. */
typedef struct Cached
{
	uint64		id;
	EmogiCachedState state;
	EmogiGraphKey key;
	Oid			builder;
	bool		backward;
	uint32		pins;
	bool		kept;
	bool		on_device;
	const char *hierarchy;
	uint64		nvertices;
	uint64		nedges;
	uint64		bytes;
	uint64		key_bytes;		/* of the dictionary */
	uint64		live_bytes;		/* of the live state */
	uint64		nskipped;
	uint64		hits;
	TimestampTz built_at;
	TimestampTz last_used;
	double		build_ms;
} Cached;

/*
 * Cached Graphs, copied some at a time: commits wait for cache_lock. Those that come after the first ones have been copied are left out, so that none of a
 * table or query that is evicted and built again comes twice.
 */
typedef struct Portion
{
	uint32		next;			/* entry that has not been looked at */
	uint64		end;			/* ids of those that were there at the start are below */
	int			count;
	Cached		graphs[PORTION];	/* [count] */
} Portion;

/* Copy an entry. Caller holds cache_lock. */
static void
copy_graph(const EmogiCached *cached, Cached *graph)
{
	graph->id = cached->id;
	graph->state = cached->state;
	graph->key = cached->key;
	graph->builder = cached->builder;
	graph->backward = cached->state == EMOGI_GRAPH_BUILDING ? cached->key.with_backward : cached->graph.backward.offsets != NULL;
	graph->pins = cached->pins - (cached->contraction_making ? 1 : 0);
	graph->kept = cached->kept;
	graph->on_device = cached->gpus != 0;
	graph->hierarchy = cached->contraction != NULL ? "ready" : cached->contraction_making || cached->contraction_wanted ? "making" : "";
	graph->nvertices = cached->graph.nvertices;
	graph->nedges = cached->graph.forward.nedges;
	graph->bytes = cached->bytes;
	graph->key_bytes = emogi_dictionaries_bytes(cached->dictionary);
	graph->live_bytes = cached->live_id != 0 ? emogi_change_tracker_bytes(cached->live_id) : 0;
	graph->nskipped = cached->nskipped;
	graph->hits = cached->hits;
	graph->built_at = cached->built_at;
	graph->last_used = cached->last_used;
	graph->build_ms = cached->build_ms;
}

/* Copy the next cached Graphs; false when there are no more. */
static bool
copy_portion(Portion *portion)
{
	const EmogiCache *cache = emogi_cache_shared;

	CHECK_FOR_INTERRUPTS();
	portion->count = 0;
	LWLockAcquire(emogi_shared->cache_lock, LW_SHARED);
	if (portion->next == 0)
		portion->end = cache->next_id * EMOGI_MAX_GRAPHS;
	for (uint32 i = 0; i < MOST_LOOKS && portion->count < PORTION && portion->next < cache->nused; i++)
	{
		const EmogiCached *cached = &cache->graphs[portion->next++];

		if (cached->state != EMOGI_GRAPH_FREE && cached->id < portion->end)
			copy_graph(cached, &portion->graphs[portion->count++]);
	}
	LWLockRelease(emogi_shared->cache_lock);
	return portion->count > 0 || portion->next < cache->nused;
}

/* ---- emogi_graphs ---- */

/* Get a column's name as SQL has it; NULL when it is gone. */
static const char *
column_name(Oid relid, AttrNumber attnum)
{
	HeapTuple	tuple = SearchSysCacheAttNum(relid, attnum);
	char	   *name;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	name = pstrdup(NameStr(((Form_pg_attribute) GETSTRUCT(tuple))->attname));
	ReleaseSysCache(tuple);
	return quote_identifier(name);
}

/* List the columns that a Graph was made of; empty when one of them is gone. */
static const char *
column_list(const EmogiGraphKey *key)
{
	const char *src = column_name(key->relid, key->src);
	const char *dst = column_name(key->relid, key->dst);
	const char *weight = key->weight > 0 ? column_name(key->relid, key->weight) : "";
	const char *reverse = key->reverse > 0 ? column_name(key->relid, key->reverse) : "";

	if (src == NULL || dst == NULL || weight == NULL || reverse == NULL)
		return "";
	return psprintf("%s, %s%s%s%s%s", src, dst, key->weight > 0 ? ", " : "", weight, key->reverse > 0 ? ", " : "", reverse);
}

/* May the current user select this column? */
static bool
may_select_column(Oid relid, AttrNumber attnum)
{
	bool		missing = false;

	return pg_attribute_aclcheck_ext(relid, attnum, GetUserId(), ACL_SELECT, &missing) == ACLCHECK_OK && !missing;
}

/* May the current user select the columns of a Graph, by a right on the table or on each of them? */
static bool
may_select_columns(const EmogiGraphKey *key)
{
	bool		missing = false;

	if (pg_class_aclcheck_ext(key->relid, GetUserId(), ACL_SELECT, &missing) == ACLCHECK_OK && !missing)
		return true;
	return may_select_column(key->relid, key->src) && may_select_column(key->relid, key->dst) &&
		(key->weight <= 0 || may_select_column(key->relid, key->weight)) &&
		(key->reverse <= 0 || may_select_column(key->relid, key->reverse));
}

/* Would a call of the current user answer with this Graph? The same rights as in access.c, but without errors. */
static bool
may_use(const Cached *graph)
{
	const EmogiGraphKey *key = &graph->key;
	Oid			schema;

	if (key->of_query)
		return key->database == MyDatabaseId && has_privs_of_role(GetUserId(), graph->builder);
	if (key->database != MyDatabaseId || column_list(key)[0] == '\0')
		return false;
	schema = get_rel_namespace(key->relid);
	return SearchSysCacheExists1(NAMESPACEOID, ObjectIdGetDatum(schema)) &&
		emogi_compat_schema_usage(schema) == ACLCHECK_OK && may_select_columns(key) &&
		check_enable_rls(key->relid, InvalidOid, true) != RLS_ENABLED;
}

/*
 * Get the text of a Graph's query, NULL when the Graph has gone, or the name of its table as the search path allows it; empty when that is
 * gone, or of another database.
 */
static const char *
source_name(const Cached *graph)
{
	const EmogiGraphKey *key = &graph->key;
	char		text[EMOGI_MAX_TEXT + 1];

	if (key->of_query)
		return emogi_cache_text(graph->id, text) ? pstrdup(text) : NULL;
	if (key->database != MyDatabaseId || !SearchSysCacheExists1(RELOID, ObjectIdGetDatum(key->relid)))
		return "";
	return DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(key->relid)));
}

/* Put the row of emogi_graphs of a Graph that the caller may know of. What is not known before a Graph stands is NULL. */
static void
put_graph(FunctionCallInfo fcinfo, const Cached *graph)
{
	static const char *const directions[] = {"out", "in", "both"};
	static const char *const states[] = {
		[EMOGI_GRAPH_BUILDING] = "building",
		[EMOGI_GRAPH_READY] = "ready",
		[EMOGI_GRAPH_DOOMED] = "evicting"
	};
	bool		built = graph->state != EMOGI_GRAPH_BUILDING;
	const char *source = source_name(graph);
	char	   *database = get_database_name(graph->key.database);
	EmogiViewRow row = {0};

	if (source == NULL)
		return;
	emogi_views_add_text(&row, source);
	emogi_views_add_text(&row, database != NULL ? database : "");
	emogi_views_add(&row, ObjectIdGetDatum(graph->key.relid));
	emogi_views_add_text(&row, source[0] != '\0' && !graph->key.of_query ? column_list(&graph->key) : "");
	emogi_views_add_text(&row, directions[graph->key.direction]);
	emogi_views_add(&row, BoolGetDatum(graph->backward));
	emogi_views_add_text(&row, states[graph->state]);
	emogi_views_add_if(&row, built, Int64GetDatum(graph->nvertices));
	emogi_views_add_if(&row, built, Int64GetDatum(graph->nedges));
	emogi_views_add_if(&row, built, Int64GetDatum(graph->nskipped));
	emogi_views_add(&row, Int64GetDatum(graph->bytes));
	emogi_views_add(&row, Int64GetDatum(graph->key_bytes));
	emogi_views_add(&row, Int64GetDatum(graph->live_bytes));
	emogi_views_add(&row, BoolGetDatum(graph->on_device));
	emogi_views_add_text(&row, graph->hierarchy);
	emogi_views_add(&row, Int32GetDatum(graph->pins));
	emogi_views_add(&row, BoolGetDatum(graph->kept));
	emogi_views_add(&row, Int64GetDatum(graph->hits));
	emogi_views_add_time(&row, built ? graph->built_at : 0);
	emogi_views_add_time(&row, built ? graph->last_used : 0);
	emogi_views_add_if(&row, built, Float8GetDatum(graph->build_ms));
	emogi_views_put(&row, fcinfo);
}

/* emogi_graphs() -> the rows of the view emogi_graphs: the cached Graphs that the caller may know of. */
Datum
emogi_graphs(PG_FUNCTION_ARGS)
{
	Portion    *portion = palloc0(sizeof *portion);

	emogi_sql_version_require();
	emogi_compat_init_rows(fcinfo);
	while (copy_portion(portion))
	{
		emogi_fault_sleep(EMOGI_AT_GRAPHS_COPIED);
		for (int i = 0; i < portion->count; i++)
			if (emogi_views_may_see_all() || may_use(&portion->graphs[i]))
				put_graph(fcinfo, &portion->graphs[i]);
	}
	pfree(portion);
	return (Datum) 0;
}

/* ---- emogi_cache ---- */

/* Add up some entries, from the first on; false when there are no more behind them. */
static bool
sum_up(uint32 first, int *ngraphs, uint64 *bytes)
{
	uint32		nused;

	LWLockAcquire(emogi_shared->cache_lock, LW_SHARED);
	nused = emogi_cache_shared->nused;
	for (uint32 i = first; i < Min(first + MOST_LOOKS, nused); i++)
	{
		const EmogiCached *cached = &emogi_cache_shared->graphs[i];

		*ngraphs += cached->state == EMOGI_GRAPH_READY;
		*bytes += cached->state != EMOGI_GRAPH_FREE ? cached->bytes : 0;
	}
	LWLockRelease(emogi_shared->cache_lock);
	return first + MOST_LOOKS < nused;
}

/* emogi_cache() -> the row of the view emogi_cache. */
Datum
emogi_cache(PG_FUNCTION_ARGS)
{
	EmogiCacheCounters counters;
	int			ngraphs = 0;
	uint64		bytes = 0;
	uint64		key_bytes;
	uint64		live_bytes;
	EmogiViewRow row = {0};

	emogi_sql_version_require();
	emogi_compat_init_rows(fcinfo);
	for (uint32 first = 0; sum_up(first, &ngraphs, &bytes); first += MOST_LOOKS)
		;
	LWLockAcquire(emogi_shared->cache_lock, LW_SHARED);
	counters = emogi_cache_shared->counters;
	key_bytes = emogi_dictionaries_all_bytes();
	live_bytes = emogi_change_tracker_bytes(0);
	LWLockRelease(emogi_shared->cache_lock);

	emogi_views_add(&row, Int32GetDatum(ngraphs));
	emogi_views_add(&row, Int32GetDatum((int32) emogi_tables_ntracked()));
	emogi_views_add(&row, Int64GetDatum(bytes));
	emogi_views_add(&row, Int64GetDatum(key_bytes));
	emogi_views_add(&row, Int64GetDatum(live_bytes));
	emogi_views_add(&row, Int64GetDatum(emogi_arena_budget_bytes()));
	emogi_views_add(&row, Int64GetDatum(counters.hits));
	emogi_views_add(&row, Int64GetDatum(counters.builds));
	emogi_views_add(&row, Int64GetDatum(counters.splices));
	emogi_views_add(&row, Int64GetDatum(counters.patches));
	emogi_views_add(&row, Int64GetDatum(counters.private_builds));
	emogi_views_add(&row, Int64GetDatum(counters.waits));
	emogi_views_add(&row, Int64GetDatum(counters.evictions));
	emogi_views_add(&row, Int64GetDatum(counters.drops));
	emogi_views_add_time(&row, counters.reset_at);
	emogi_views_put(&row, fcinfo);
	return (Datum) 0;
}

/* emogi_reset() -> void: forget the runs and set the counters of the cache to 0. */
Datum
emogi_reset(PG_FUNCTION_ARGS)
{
	emogi_sql_version_require();
	LWLockAcquire(emogi_shared->cache_lock, LW_EXCLUSIVE);
	memset(&emogi_cache_shared->counters, 0, sizeof emogi_cache_shared->counters);
	emogi_cache_shared->counters.reset_at = GetCurrentTimestamp();
	LWLockRelease(emogi_shared->cache_lock);
	emogi_run_log_clear();
	PG_RETURN_VOID();
}

/* ---- emogi_evict ---- */

/* Graphs of queries that are to be evicted. */
typedef struct Doomed
{
	List	   *builders;		/* OIDs of roles: those that one of them has built, ... */
	const uint8 *fingerprint;		/* ... of this query; NULL = of any */
} Doomed;

/* Is a Graph among them? */
static bool
is_doomed(const EmogiCached *cached, const void *arg)
{
	const Doomed *doomed = arg;

	return list_member_oid(doomed->builders, cached->builder) &&
		(doomed->fingerprint == NULL || memcmp(cached->key.fingerprint, doomed->fingerprint, EMOGI_FINGERPRINT_BYTES) == 0);
}

/* Evict the Graphs of queries that the current user, or a role whose rights that has, has built. fingerprint: of one query; NULL = of all. */
static uint64
evict_queries(const uint8 *fingerprint)
{
	Doomed		doomed = {.fingerprint = fingerprint};
	Portion    *portion = palloc0(sizeof *portion);

	while (copy_portion(portion))
		for (int i = 0; i < portion->count; i++)
			if (portion->graphs[i].key.of_query && has_privs_of_role(GetUserId(), portion->graphs[i].builder))
				doomed.builders = list_append_unique_oid(doomed.builders, portion->graphs[i].builder);
	pfree(portion);
	return emogi_cache_evict_queries(is_doomed, &doomed);
}

/* Is it a Graph that was built by the name of this view? */
static bool
is_of_view(const EmogiCached *cached, const void *relid)
{
	return cached->key.relid == *(const Oid *) relid;
}

/* Evict the Graphs of a query that the current user has built, as the query is now. */
static uint64
evict_query(const EmogiGraphArgument *graph)
{
	EmogiSource source;
	EmogiQueryAnalysis  *tree;
	uint64		bytes = 0;

	emogi_source_resolve(graph, false, &source);
	tree = emogi_analysis_peek(&source);
	if (tree->refusal == NULL)
		bytes = evict_queries(tree->fingerprint);
	emogi_analysis_close(tree);
	return bytes;
}

/* Evict the Graphs of what a graph argument names; raises 42501 unless the current user owns the table or view. */
static uint64
evict_named(const EmogiGraphArgument *graph)
{
	Oid			relid = emogi_source_relation(graph);

	if (!OidIsValid(relid))
		return evict_query(graph);
	if (!emogi_compat_owns_relation(relid))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relid)),
					   get_rel_name(relid));
	return emogi_cache_evict_queries(is_of_view, &relid) + emogi_cache_evict(MyDatabaseId, relid);
}

/* Does the current user own this table? Superusers own also those that are gone. */
static bool
owns_table(Oid relid)
{
	return superuser() ||
		(SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)) && emogi_compat_owns_relation(relid));
}

/* Evict the Graphs of all tables of this database that the current user owns, and of all queries that are the user's. */
static uint64
evict_all(void)
{
	Portion    *portion = palloc0(sizeof *portion);
	uint64		bytes = 0;
	ListCell   *cell;

	while (copy_portion(portion))
		for (int i = 0; i < portion->count; i++)
		{
			const EmogiGraphKey *key = &portion->graphs[i].key;

			if (key->database == MyDatabaseId && !key->of_query && owns_table(key->relid))
				bytes += emogi_cache_evict(MyDatabaseId, key->relid);
		}
	pfree(portion);
	bytes += evict_queries(NULL);
	foreach(cell, emogi_change_tracker_relations(MyDatabaseId))	/* those without a Graph at the moment */
		if (owns_table(lfirst_oid(cell)))
			bytes += emogi_cache_evict(MyDatabaseId, lfirst_oid(cell));
	return bytes;
}

/* emogi_evict(graph) -> bigint: drop cached Graphs of a table, a view or a query, or of all; get the bytes given back. */
Datum
emogi_evict(PG_FUNCTION_ARGS)
{
	EmogiGraphArgument graph;
	uint64		bytes;

	emogi_sql_version_require();
	if (PG_ARGISNULL(0))
		bytes = evict_all();
	else
	{
		emogi_arguments_graph(fcinfo, &graph);
		bytes = evict_named(&graph);
	}
	emogi_cache_wait_for_room();
	emogi_arena_cool();
	PG_RETURN_INT64((int64) bytes);
}
