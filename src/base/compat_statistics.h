/*
 * compat_statistics.h: differences between PostgreSQL 14 .. 19: counts of changed and returned rows
 *
 * A comment's leading number is the major version that introduced the change.
 */
#ifndef EMOGI_COMPAT_STATISTICS_H
#define EMOGI_COMPAT_STATISTICS_H

#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/rel.h"
#if PG_VERSION_NUM >= 150000
#include "utils/pgstat_internal.h"
#endif

/* 15: a field was renamed. Has a (sub)transaction counted changes of a table? */
static inline bool
emogi_compat_has_counts(const PgStat_TableXactStatus *level)
{
#if PG_VERSION_NUM >= 150000
	return level->tuples_inserted > 0 || level->tuples_updated > 0 || level->tuples_deleted > 0 ||
		level->truncdropped;
#else
	return level->tuples_inserted > 0 || level->tuples_updated > 0 || level->tuples_deleted > 0 ||
		level->truncated;
#endif
}

/* 15: pending counts were moved. Has the current transaction counted changes of a table? */
static inline bool
emogi_compat_counts_changes(Oid relid)
{
	PgStat_TableStatus *status;
	bool		changed = false;

#if PG_VERSION_NUM >= 150000
	PgStat_EntryRef *entry = pgstat_fetch_pending_entry(PGSTAT_KIND_RELATION, MyDatabaseId, relid);

	status = entry != NULL ? entry->pending : NULL;
#else
	status = find_tabstat_entry(relid);
#endif
	for (PgStat_TableXactStatus *level = status != NULL ? status->trans : NULL;
		 level != NULL; level = level->upper)
		changed |= emogi_compat_has_counts(level);
	return changed;
}

/*
 * 15: a field was renamed. Count the rows of a table that the current transaction has inserted, and
 * those that it has updated or deleted; return false if they are not counted, or it was truncated.
 */
static inline bool
emogi_compat_count_rows(Relation rel, int64 *ninserted, int64 *nchanged)
{
	*ninserted = *nchanged = 0;
	if (rel->pgstat_info == NULL)
		return false;
	for (PgStat_TableXactStatus *level = rel->pgstat_info->trans; level != NULL;
		 level = level->upper)
	{
#if PG_VERSION_NUM >= 150000
		if (level->truncdropped)
			return false;
#else
		if (level->truncated)
			return false;
#endif
		*ninserted += level->tuples_inserted;
		*nchanged += level->tuples_updated + level->tuples_deleted;
	}
	return true;
}

/*
 * 15: a transaction's counts can be traversed. At the end of a transaction, when one level is left:
 * call a function for each table that it has counted changes of.
 *
 * Before 15, the list is private to pgstat.c. However, counting a change (of no rows) of a table
 * that is not in the list puts it in front of all others, so its `next` is the list. The table used
 * for that is a dummy of our own; nothing is reported for a table without counts.
 */
static inline void
emogi_compat_each_counted(void (*function) (Oid relid))
{
#if PG_VERSION_NUM >= 150000
	PgStat_TableXactStatus *level = pgstat_get_xact_stack_level(1)->first;
#else
	static PgStat_TableStatus status;	/* pgstat.c clears its `trans` as the transaction ends */
	static RelationData none;
	PgStat_TableXactStatus *level;

	none.pgstat_info = &status;
	pgstat_count_heap_insert(&none, 0);
	level = status.trans->next;
#endif

	for (; level != NULL; level = level->next)
		if (emogi_compat_has_counts(level))
#if PG_VERSION_NUM >= 160000
			function(level->parent->id);
#else
			function(level->parent->t_id);
#endif
}

/*
 * 15: counts are allocated on first use; 16: fields were renamed. Count rows returned by a
 * sequential scan.
 */
static inline void
emogi_compat_count_returned(Relation rel, int nrows)
{
#if PG_VERSION_NUM >= 160000
	if (pgstat_should_count_relation(rel))
		rel->pgstat_info->counts.tuples_returned += nrows;
#elif PG_VERSION_NUM >= 150000
	if (pgstat_should_count_relation(rel))
		rel->pgstat_info->t_counts.t_tuples_returned += nrows;
#else
	if (rel->pgstat_info != NULL)
		rel->pgstat_info->t_counts.t_tuples_returned += nrows;
#endif
}

#endif							/* EMOGI_COMPAT_STATISTICS_H */
