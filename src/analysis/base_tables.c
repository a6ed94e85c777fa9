/*
 * base_tables.c: the tables that contain the rows of a query (Q15)
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/catalog.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "utils/rel.h"

#include "cache/cache.h"
#include "citus/citus.h"
#include "analysis/analysis_internal.h"

/* List the relations that a query reads including all their descendants, locked, ascending. */
List *
emogi_base_tables_relations(const EmogiQueryAnalysis *analysis)
{
	List	   *relations = list_copy(analysis->alone);
	ListCell   *cell;

	foreach(cell, analysis->roots)
	{
		if (has_subclass(lfirst_oid(cell)))
			relations = list_concat_unique_oid(relations,
											   find_all_inheritors(lfirst_oid(cell),
																   AccessShareLock, NULL));
		else
			relations = list_append_unique_oid(relations, lfirst_oid(cell));
	}
	list_sort(relations, list_oid_cmp);
	return relations;
}

/*
 * Check whether a relation is cacheable, and list it as a base table if it has storage; return true
 * if it is not cacheable.
 */
static bool
check_table(Relation rel, EmogiAnalysisState *state)
{
	const char *name = RelationGetRelationName(rel);
	char		kind = rel->rd_rel->relkind;

	if (RELATION_IS_OTHER_TEMP(rel))
		/* another session's temporary child of a table: plans skip it, too */
		return false;
	if (RelationUsesLocalBuffers(rel))
		return emogi_cacheability_refuse(state, "\"%s\" is a temporary table, which other sessions "
												"cannot read", name);
	if (IsCatalogRelation(rel) || kind == RELKIND_TOASTVALUE)
		return emogi_cacheability_refuse(state, "\"%s\" is a system catalog, whose changes are not "
												"tracked", name);
	if (kind == RELKIND_FOREIGN_TABLE || emogi_citus_is_table(RelationGetRelid(rel)))
		return emogi_cacheability_refuse(state, "%s",
										 emogi_cacheability_elsewhere(RelationGetRelid(rel)));
	if (kind == RELKIND_PARTITIONED_TABLE)
		return false;
	if (rel->rd_rel->relam != HEAP_TABLE_AM_OID)
		return emogi_cacheability_refuse(state, "table \"%s\" is not a heap", name);
	if (!RelationIsScannable(rel))
		return emogi_cacheability_refuse(state, "materialized view \"%s\" has not been populated",
										 name);
	state->analysis->leaves = lappend_oid(state->analysis->leaves, RelationGetRelid(rel));
	return false;
}

/* List the relations and base tables of a query; return true if one of them is not cacheable. */
bool
emogi_base_tables_list(EmogiAnalysisState *state)
{
	EmogiQueryAnalysis  *analysis = state->analysis;
	ListCell   *cell;

	analysis->relations = emogi_base_tables_relations(analysis);
	foreach(cell, analysis->relations)
	{
		Relation	rel = relation_open(lfirst_oid(cell), AccessShareLock);
		bool		refused = check_table(rel, state);

		relation_close(rel, NoLock);
		if (refused)
			return true;
	}
	if (list_length(analysis->leaves) > EMOGI_MAX_BASE_TABLES)
		return emogi_cacheability_refuse(state, "it reads more than %d tables and partitions",
										 EMOGI_MAX_BASE_TABLES);
	return false;
}
