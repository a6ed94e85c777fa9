/*
 * ddl_invalidation.c: eviction of the graphs of dropped tables and databases
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "cache/cache.h"

static object_access_hook_type previous_object_access_hook = NULL;

/* What this transaction drops, in TopTransactionContext. */
static List *dropped_relations = NIL;
static List *dropped_databases = NIL;

/* Remember a table or database that this transaction drops. */
static void
on_object_access(ObjectAccessType access, Oid class_id, Oid object_id, int sub_id, void *arg)
{
	MemoryContext old;

	if (previous_object_access_hook)
		previous_object_access_hook(access, class_id, object_id, sub_id, arg);
	if (access != OAT_DROP || sub_id != 0 ||
		(class_id != RelationRelationId && class_id != DatabaseRelationId))
		return;
	old = MemoryContextSwitchTo(TopTransactionContext);
	if (class_id == RelationRelationId)
		dropped_relations = lappend_oid(dropped_relations, object_id);
	else
		dropped_databases = lappend_oid(dropped_databases, object_id);
	MemoryContextSwitchTo(old);
}

/* Evict the graphs of dropped tables and databases: nobody can read or build them any longer. */
static void
at_end_of_transaction(XactEvent event, void *arg)
{
	ListCell   *cell;

	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_PREPARE && event != XACT_EVENT_ABORT)
		return;
	if (event != XACT_EVENT_ABORT && emogi_shared != NULL)
	{
		foreach(cell, dropped_relations)
			(void) emogi_cache_evict(MyDatabaseId, lfirst_oid(cell));
		foreach(cell, dropped_databases)
			(void) emogi_cache_evict(lfirst_oid(cell), InvalidOid);
	}
	dropped_relations = dropped_databases = NIL;
}

/* Install the hooks; called once, in the postmaster. */
void
emogi_ddl_invalidation_init(void)
{
	previous_object_access_hook = object_access_hook;
	object_access_hook = on_object_access;
	RegisterXactCallback(at_end_of_transaction, NULL);
}
