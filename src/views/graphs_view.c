/*
 * graphs_view.c: functions that show and administer the cache: emogi_graphs, emogi_cache,
 * emogi_evict, emogi_reset.
 *
 * A cached graph reveals data of its table, so only roles that could read the table see it: a row
 * of emogi_graphs is visible to a role whose call would use this graph, and to members of
 * pg_read_all_stats. The text of a query is private to its author: the row of its graph is only
 * visible to the role that built it. Rows are copied first, so that no lock is held during catalog
 * lookups; a table may have been dropped by then, which is not an error. Query texts are copied
 * last, only for roles that may see them.
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
#include "cache/columns.h"
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

/* Number of graphs copied, and of cache entries examined, per lock acquisition. */
#define PORTION		128
#define MAX_LOOKUPS	1024

/* A copy of a cached graph without its base tables, snapshot and text. */
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
	uint64		tracker_bytes;		/* of the change tracker */
	int			ncolumns;		/* property columns that are stored */
	AttrNumber	columns[EMOGI_FILTER_MAX_COLUMNS];	/* [ncolumns] */
	uint64		columns_bytes;	/* of these */
	uint64		nskipped;
	uint64		hits;
	TimestampTz built_at;
	TimestampTz last_used;
	double		build_ms;
} Cached;

/*
 * Cached graphs, copied in portions because commits wait for cache_lock. Graphs added after the
 * first portion are skipped, so that a table or query that is evicted and rebuilt does not appear
 * twice.
 */
typedef struct CopiedGraphs
{
	uint32		next;			/* next entry to examine */
	uint64		end;			/* graphs that existed at the start have smaller ids */
	int			count;
	Cached		graphs[PORTION];	/* [count] */
} CopiedGraphs;

/* Copy the numbers of the property columns of an entry that are stored. Caller holds cache_lock. */
static void
copy_columns(const EmogiCached *cached, Cached *graph)
{
	const EmogiColumns *columns = cached->columns;

	graph->columns_bytes = emogi_cache_columns_bytes(cached);
	graph->ncolumns = 0;
	for (uint32 i = 0; columns != NULL && i < columns->forward.ncolumns; i++)
		if (columns->columns[i].kind != EMOGI_COLUMN_ABSENT)
			graph->columns[graph->ncolumns++] = (AttrNumber) columns->columns[i].identity.attnum;
}

/* Copy an entry. Caller holds cache_lock. */
static void
copy_graph(const EmogiCached *cached, Cached *graph)
{
	graph->id = cached->id;
	graph->state = cached->state;
	graph->key = cached->key;
	graph->builder = cached->builder;
	graph->backward = cached->state == EMOGI_GRAPH_BUILDING ? cached->key.with_backward :
		cached->graph.backward.offsets != NULL;
	graph->pins = cached->pins - (cached->contraction_making ? 1 : 0);
	graph->kept = cached->kept;
	graph->on_device = cached->gpus != 0;
	graph->hierarchy = cached->contraction != NULL ? "ready" :
		cached->contraction_making || cached->contraction_wanted ? "making" : "";
	graph->nvertices = cached->graph.nvertices;
	graph->nedges = cached->graph.forward.nedges;
	graph->bytes = cached->bytes;
	graph->key_bytes = emogi_dictionaries_bytes(cached->dictionary);
	graph->tracker_bytes = cached->tracker_id != 0 ?
		emogi_change_tracker_bytes(cached->tracker_id) : 0;
	copy_columns(cached, graph);
	graph->nskipped = cached->nskipped;
	graph->hits = cached->hits;
	graph->built_at = cached->built_at;
	graph->last_used = cached->last_used;
	graph->build_ms = cached->build_ms;
}

/* Copy the next portion; false if there are no more graphs. */
static bool
copy_portion(CopiedGraphs *portion)
{
	const EmogiCache *cache = emogi_cache_shared;

	CHECK_FOR_INTERRUPTS();
	portion->count = 0;
	LWLockAcquire(emogi_shared->cache_lock, LW_SHARED);
	if (portion->next == 0)
		portion->end = cache->next_id * EMOGI_MAX_GRAPHS;
	for (uint32 i = 0; i < MAX_LOOKUPS && portion->count < PORTION && portion->next < cache->nused;
		 i++)
	{
		const EmogiCached *cached = &cache->graphs[portion->next++];

		if (cached->state != EMOGI_GRAPH_FREE && cached->id < portion->end)
			copy_graph(cached, &portion->graphs[portion->count++]);
	}
	LWLockRelease(emogi_shared->cache_lock);
	return portion->count > 0 || portion->next < cache->nused;
}

/* ---- emogi_graphs ---- */

/* Get the quoted name of a column; NULL if it has been dropped. */
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

/* List the columns from which a graph was built; empty if one of them has been dropped. */
static const char *
column_list(const EmogiGraphKey *key)
{
	const char *src = column_name(key->relid, key->src);
	const char *dst = column_name(key->relid, key->dst);
	const char *weight = key->weight > 0 ? column_name(key->relid, key->weight) : "";
	const char *reverse = key->reverse > 0 ? column_name(key->relid, key->reverse) : "";

	if (src == NULL || dst == NULL || weight == NULL || reverse == NULL)
		return "";
	return psprintf("%s, %s%s%s%s%s", src, dst, key->weight > 0 ? ", " : "", weight,
					key->reverse > 0 ? ", " : "", reverse);
}

/* Get the names of the property columns of a graph; empty if there are none. */
static char *
property_list(const Cached *graph)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < graph->ncolumns; i++)
	{
		const char *name = column_name(graph->key.relid, graph->columns[i]);

		if (name != NULL)
			appendStringInfo(&list, "%s%s", list.len > 0 ? ", " : "", name);
	}
	return list.data;
}

/* Check whether the current user may select a column. */
static bool
may_select_column(Oid relid, AttrNumber attnum)
{
	bool		missing = false;

	return pg_attribute_aclcheck_ext(relid, attnum, GetUserId(), ACL_SELECT,
									 &missing) == ACLCHECK_OK && !missing;
}

/*
 * Check whether the current user may select the columns of a graph, by a privilege on the table or
 * on each column.
 */
static bool
may_select_columns(const EmogiGraphKey *key)
{
	bool		missing = false;

	if (pg_class_aclcheck_ext(key->relid, GetUserId(), ACL_SELECT, &missing) == ACLCHECK_OK &&
		!missing)
		return true;
	return may_select_column(key->relid, key->src) && may_select_column(key->relid, key->dst) &&
		(key->weight <= 0 || may_select_column(key->relid, key->weight)) &&
		(key->reverse <= 0 || may_select_column(key->relid, key->reverse));
}

/*
 * Check whether a call of the current user would use this graph: the privileges checked in
 * access.c, but without errors.
 */
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
 * Get the text of a graph's query, or NULL if the graph has been evicted; or the name of its table,
 * qualified as the search path requires, empty if it has been dropped or is in another database.
 */
static const char *
source_name(const Cached *graph)
{
	const EmogiGraphKey *key = &graph->key;
	char		text[EMOGI_MAX_TEXT + 1];

	if (key->of_query)
		return emogi_cache_text(graph->id, text) ? pstrdup(text) : NULL;
	if (key->database != MyDatabaseId ||
		!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(key->relid)))
		return "";
	return DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(key->relid)));
}

/*
 * Add a graph that the caller may see to emogi_graphs. Columns that are unknown until the graph is
 * built are NULL.
 */
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
	emogi_views_add_text(&row, source[0] != '\0' && !graph->key.of_query ?
						 column_list(&graph->key) : "");
	emogi_views_add_text(&row, directions[graph->key.direction]);
	emogi_views_add(&row, BoolGetDatum(graph->backward));
	emogi_views_add_text(&row, states[graph->state]);
	emogi_views_add_if(&row, built, Int64GetDatum(graph->nvertices));
	emogi_views_add_if(&row, built, Int64GetDatum(graph->nedges));
	emogi_views_add_if(&row, built, Int64GetDatum(graph->nskipped));
	emogi_views_add(&row, Int64GetDatum(graph->bytes));
	emogi_views_add(&row, Int64GetDatum(graph->key_bytes));
	emogi_views_add(&row, Int64GetDatum(graph->tracker_bytes));
	emogi_views_add_text(&row, graph->key.database == MyDatabaseId ? property_list(graph) : "");
	emogi_views_add(&row, Int64GetDatum(graph->columns_bytes));
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

/*
 * emogi_graphs() -> the rows of the view emogi_graphs: the cached graphs that the caller may see.
 */
Datum
emogi_graphs(PG_FUNCTION_ARGS)
{
	CopiedGraphs    *portion = palloc0(sizeof *portion);

	emogi_sql_version_require();
	emogi_compat_init_rows(fcinfo);
	while (copy_portion(portion))
	{
		emogi_fault_sleep(EMOGI_FAULT_AT_GRAPHS_COPIED);
		for (int i = 0; i < portion->count; i++)
			if (emogi_views_may_see_all() || may_use(&portion->graphs[i]))
				put_graph(fcinfo, &portion->graphs[i]);
	}
	pfree(portion);
	return (Datum) 0;
}

/* ---- emogi_cache ---- */

/* Sum up a portion of the entries; false if there are no more entries behind it. */
static bool
sum_up(uint32 first, int *ngraphs, uint64 *bytes)
{
	uint32		nused;

	LWLockAcquire(emogi_shared->cache_lock, LW_SHARED);
	nused = emogi_cache_shared->nused;
	for (uint32 i = first; i < Min(first + MAX_LOOKUPS, nused); i++)
	{
		const EmogiCached *cached = &emogi_cache_shared->graphs[i];

		*ngraphs += cached->state == EMOGI_GRAPH_READY;
		*bytes += cached->state != EMOGI_GRAPH_FREE ? cached->bytes : 0;
	}
	LWLockRelease(emogi_shared->cache_lock);
	return first + MAX_LOOKUPS < nused;
}

/* emogi_cache() -> the row of the view emogi_cache. */
Datum
emogi_cache(PG_FUNCTION_ARGS)
{
	EmogiCacheCounters counters;
	int			ngraphs = 0;
	uint64		bytes = 0;
	uint64		key_bytes;
	uint64		tracker_bytes;
	EmogiViewRow row = {0};

	emogi_sql_version_require();
	emogi_compat_init_rows(fcinfo);
	for (uint32 first = 0; sum_up(first, &ngraphs, &bytes); first += MAX_LOOKUPS)
		;
	LWLockAcquire(emogi_shared->cache_lock, LW_SHARED);
	counters = emogi_cache_shared->counters;
	key_bytes = emogi_dictionaries_total_bytes();
	tracker_bytes = emogi_change_tracker_bytes(0);
	LWLockRelease(emogi_shared->cache_lock);

	emogi_views_add(&row, Int32GetDatum(ngraphs));
	emogi_views_add(&row, Int32GetDatum((int32) emogi_tables_ntracked()));
	emogi_views_add(&row, Int64GetDatum(bytes));
	emogi_views_add(&row, Int64GetDatum(key_bytes));
	emogi_views_add(&row, Int64GetDatum(tracker_bytes));
	emogi_views_add(&row, Int64GetDatum(emogi_arena_budget_bytes()));
	emogi_views_add(&row, Int64GetDatum(counters.hits));
	emogi_views_add(&row, Int64GetDatum(counters.builds));
	emogi_views_add(&row, Int64GetDatum(counters.merges));
	emogi_views_add(&row, Int64GetDatum(counters.overlays));
	emogi_views_add(&row, Int64GetDatum(counters.private_builds));
	emogi_views_add(&row, Int64GetDatum(counters.waits));
	emogi_views_add(&row, Int64GetDatum(counters.evictions));
	emogi_views_add(&row, Int64GetDatum(counters.drops));
	emogi_views_add_time(&row, counters.reset_at);
	emogi_views_put(&row, fcinfo);
	return (Datum) 0;
}

/* emogi_reset() -> void: clear the run log, and reset the counters of the cache. */
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

/* Selection of graphs of queries to evict. */
typedef struct EvictionFilter
{
	List	   *builders;		/* OIDs of roles that built them */
	const uint8 *fingerprint;	/* of one query; NULL = any query */
} EvictionFilter;

/* Check whether a graph is selected. */
static bool
is_doomed(const EmogiCached *cached, const void *arg)
{
	const EvictionFilter *doomed = arg;

	return list_member_oid(doomed->builders, cached->builder) &&
		(doomed->fingerprint == NULL ||
		 memcmp(cached->key.fingerprint, doomed->fingerprint, EMOGI_FINGERPRINT_BYTES) == 0);
}

/*
 * Evict the graphs of queries built by the current user or by roles whose privileges the user has.
 * fingerprint: of one query; NULL = all queries.
 */
static uint64
evict_queries(const uint8 *fingerprint)
{
	EvictionFilter		doomed = {.fingerprint = fingerprint};
	CopiedGraphs    *portion = palloc0(sizeof *portion);

	while (copy_portion(portion))
		for (int i = 0; i < portion->count; i++)
		{
			const Oid	builder = portion->graphs[i].builder;

			if (portion->graphs[i].key.of_query && has_privs_of_role(GetUserId(), builder))
				doomed.builders = list_append_unique_oid(doomed.builders, builder);
		}
	pfree(portion);
	return emogi_cache_evict_queries(is_doomed, &doomed);
}

/* Check whether a graph was built from this view. */
static bool
is_of_view(const EmogiCached *cached, const void *relid)
{
	return cached->key.relid == *(const Oid *) relid;
}

/* Evict the graphs that the current user has built of a query, as it is analyzed now. */
static uint64
evict_query(const EmogiGraphArgument *graph)
{
	EmogiSource source;
	EmogiQueryAnalysis  *analysis;
	uint64		bytes = 0;

	emogi_source_resolve(graph, EMOGI_WANTS_NO_WEIGHT, &source);
	analysis = emogi_analysis_peek(&source);
	if (analysis->refusal == NULL)
		bytes = evict_queries(analysis->fingerprint);
	emogi_analysis_close(analysis);
	return bytes;
}

/*
 * Evict the graphs of a graph argument; raises 42501 unless the current user owns the table or
 * view.
 */
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

/* Check whether the current user owns a table. Superusers also own dropped ones. */
static bool
owns_table(Oid relid)
{
	return superuser() ||
		(SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)) &&
		 emogi_compat_owns_relation(relid));
}

/*
 * Evict the graphs of all tables of this database that the current user owns, and of all queries of
 * the user.
 */
static uint64
evict_all(void)
{
	CopiedGraphs    *portion = palloc0(sizeof *portion);
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
	foreach(cell, emogi_change_tracker_relations(MyDatabaseId))	/* those without a graph at the
																 * moment */
		if (owns_table(lfirst_oid(cell)))
			bytes += emogi_cache_evict(MyDatabaseId, lfirst_oid(cell));
	return bytes;
}

/*
 * emogi_evict(graph) -> bigint: evict the cached graphs of a table, a view or a query, or all;
 * return the freed bytes.
 */
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
		graph.missing_hint = "The view emogi_graphs lists the graphs that are cached. emogi_evict() "
			"without an argument evicts all that you may evict.";
		bytes = evict_named(&graph);
	}
	emogi_cache_wait_for_room();
	emogi_arena_trim();
	PG_RETURN_INT64((int64) bytes);
}
