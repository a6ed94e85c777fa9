/*
 * not_cacheable.c: reasons why a graph cannot be cached, for callers that require a cached graph;
 * the rules are in cache_lookup.c
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

#include "acquire/acquire.h"
#include "citus/citus.h"

/* A reason, as DETAIL, and how to avoid it, as HINT. */
typedef struct Reason
{
	const char *detail;
	const char *hint;
} Reason;

/* Get the reason why a relation's rows are read by the executor at each call. */
static Reason
reason_of_relation(const EmogiSource *source)
{
	const char *name = get_rel_name(source->relid);
	char		kind = get_rel_relkind(source->relid);
	Reason		reason = {.hint = "Store its rows in a table or a materialized view."};

	if (kind == RELKIND_VIEW)
		reason.detail = psprintf("\"%s\" is a view whose query each call runs.", name);
	else if (kind == RELKIND_FOREIGN_TABLE)
		reason.detail = psprintf("\"%s\" is a foreign table, whose changes cannot be tracked from "
								 "this server.",
								 name);
	else if (emogi_citus_is_table(source->relid))
		reason.detail = psprintf("\"%s\" is a Citus table, whose changes cannot be tracked from "
								 "this server.", name);
	else if (check_enable_rls(source->relid, InvalidOid, true) == RLS_ENABLED)
		reason = (Reason) {psprintf("Row security of \"%s\" applies to the current user.", name),
		"Call the function as a role that sees all rows, or use a materialized view."};
	else
		reason.detail = psprintf("\"%s\", or one of its partitions or children, is not a plain "
								 "table with stored columns.", name);
	return reason;
}

/* Get the reason why graphs of a base table cannot be cached; return false if there is none. */
static bool
is_not_cacheable(Oid relid, Reason *reason)
{
	Relation	rel = relation_open(relid, NoLock);
	const char *name = pstrdup(RelationGetRelationName(rel));
	bool		is_temporary = RelationUsesLocalBuffers(rel);
	bool		is_catalog = IsCatalogRelation(rel);

	relation_close(rel, NoLock);
	if (is_temporary)
		*reason = (Reason) {psprintf("\"%s\" is a temporary table, which other sessions cannot "
									 "read.", name),
		"Store the rows in a table that is not temporary."};
	else if (is_catalog)
		*reason =
			(Reason) {psprintf("\"%s\" is a system catalog, whose changes are not tracked.", name),
		"Store its rows in a table or a materialized view."};
	else if (emogi_recent_writers_changed_by_me(relid))
		*reason = (Reason) {psprintf("The current transaction has changed \"%s\", or holds a lock "
									 "to do so.", name),
		"Call the function again after COMMIT."};
	else
		return false;
	return true;
}

/* Is a source a query, or a view? */
static bool
reads_query(const EmogiSource *source)
{
	return source->is_query || get_rel_relkind(source->relid) == RELKIND_VIEW;
}

/* Find the reason; the last one is what remains. */
static Reason
find_reason(const EmogiGraphSource *rows, const char *why)
{
	const EmogiSource *source = rows->source;
	List	   *base_tables = rows->tables;
	Reason		reason;
	ListCell   *cell;

	if (!emogi_enable_cache)
		return (Reason) {"emogi.enable_cache is off.", "Set emogi.enable_cache to on."};
	if (IsolationIsSerializable())
		return (Reason) {"SERIALIZABLE transactions do not use the cache.",
						 "Use another isolation level."};
	if (why != NULL)
		return (Reason) {psprintf("Its %s is not shared: %s.",
								  reads_query(source) ? "query" : "graph", why),
						 "Store its rows in a table or a materialized view."};
	if (rows->kind != &emogi_graph_source_heaps)
		return reason_of_relation(source);
	if (base_tables == NIL)
		return (Reason) {"The table has no partitions.", "Attach a partition first."};
	if (list_length(base_tables) > EMOGI_MAX_BASE_TABLES)
		return (Reason) {psprintf("The table has %d partitions or children; at most %d can be "
								  "cached.",
								  list_length(base_tables), EMOGI_MAX_BASE_TABLES),
			"Name one of its partitions."};
	foreach(cell, base_tables)
		if (is_not_cacheable(lfirst_oid(cell), &reason))
			return reason;
	return (Reason) {"Transactions in progress have changed it or hold locks to do so, or graphs "
					 "that are in use or kept occupy the whole cache.",
		EMOGI_NOT_CACHEABLE_NOW};
}

/*
 * Raise 55000 if the graph of a source is requested for all sessions but cannot be cached. why: the
 * reason for a query; NULL = find it.
 */
void
emogi_not_cacheable_report(const EmogiGraphSource *rows, const char *why)
{
	Reason		reason = find_reason(rows, why);

	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the graph of \"%s\" cannot be cached", emogi_edge_condition_show(rows->source->graph)),
			 errdetail("%s", reason.detail),
			 errhint("%s", reason.hint)));
}
