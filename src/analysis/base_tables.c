/*
 * base_tables.c: the tables that the rows of a tree lie in (Q15).
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

/* List the relations that a tree reads with all below them, locked, ascending. */
List *
emogi_base_tables_relations(const EmogiQueryAnalysis *tree)
{
	List	   *relations = list_copy(tree->alone);
	ListCell   *cell;

	foreach(cell, tree->roots)
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

/* Is a relation's content for sharing? Its rows, if it has any, are a leaf. */
static bool
judge_leaf(Relation rel, EmogiAnalysisState *look)
{
	const char *name = RelationGetRelationName(rel);
	char		kind = rel->rd_rel->relkind;

	if (RELATION_IS_OTHER_TEMP(rel))
		return false;			/* another session's child of a table: plans leave it out as well */
	if (RelationUsesLocalBuffers(rel))
		return emogi_cacheability_refuse(look, "\"%s\" is a temporary table, which no other "
											   "session has", name);
	if (IsCatalogRelation(rel) || kind == RELKIND_TOASTVALUE)
		return emogi_cacheability_refuse(look, "\"%s\" is a system catalog, whose writers leave no "
											   "trace", name);
	if (kind == RELKIND_FOREIGN_TABLE || emogi_citus_is_table(RelationGetRelid(rel)))
		return emogi_cacheability_refuse(look, "%s",
										 emogi_cacheability_elsewhere(RelationGetRelid(rel)));
	if (kind == RELKIND_PARTITIONED_TABLE)
		return false;
	if (rel->rd_rel->relam != HEAP_TABLE_AM_OID)
		return emogi_cacheability_refuse(look, "table \"%s\" is not a heap", name);
	if (!RelationIsScannable(rel))
		return emogi_cacheability_refuse(look, "materialized view \"%s\" has not been populated",
										 name);
	look->tree->leaves = lappend_oid(look->tree->leaves, RelationGetRelid(rel));
	return false;
}

/* List the relations and leaves of a tree; true when one of them is not for sharing. */
bool
emogi_base_tables_list(EmogiAnalysisState *look)
{
	EmogiQueryAnalysis  *tree = look->tree;
	ListCell   *cell;

	tree->relations = emogi_base_tables_relations(tree);
	foreach(cell, tree->relations)
	{
		Relation	rel = relation_open(lfirst_oid(cell), AccessShareLock);
		bool		refused = judge_leaf(rel, look);

		relation_close(rel, NoLock);
		if (refused)
			return true;
	}
	if (list_length(tree->leaves) > EMOGI_MAX_LEAVES)
		return emogi_cacheability_refuse(look, "it reads more than %d tables and partitions",
										 EMOGI_MAX_LEAVES);
	return false;
}
