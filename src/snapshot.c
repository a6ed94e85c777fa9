/*
 * snapshot.c: the snapshot that a call reads under.
 *
 * A SELECT takes its snapshot when it has its locks. A call comes later: its statement has a snapshot already, and while the
 * call waits for its locks, or before, others may swap the table for another by renaming it, detach and attach partitions,
 * TRUNCATE and load, drop and create. Names are looked up in the newest catalog; the rows of what they lead to may all be
 * newer than the snapshot. The answer would be that of a state which never was.
 *
 * So whatever a call reads must be what its snapshot sees in the catalogs: under that name, in that schema, on that search
 * path, in that file, with those columns; for a view that rule, for the tables of a query the same partitions and children.
 * What is compared is what is used, with locks held: that the catalogs change again in the meantime does no harm. A catalog
 * row whose writer the snapshot sees as ended is the row that the snapshot sees; only if it does not, the catalog is read
 * under the snapshot.
 *
 * Partitions come and go without a lock that keeps readers out, beside a SELECT in the same statement, which goes on with
 * those that it was planned with. So of a relation that the statement may have read already, those partitions and children
 * are read that the snapshot sees, be they its own no longer.
 *
 * Where the snapshot does not agree, the calls of the statement go over to a newer one, taken with the locks held, and names
 * are looked up again, until both agree. All calls of a statement read under one snapshot: once one of them has been
 * answered, there is no going over, and a call that cannot be answered under that snapshot fails (40001). A statement is
 * known by its snapshot, which is kept registered, lest its address be taken by that of another statement.
 *
 * In REPEATABLE READ and SERIALIZABLE snapshots are older on purpose: a call sees what a SELECT would. A query's functions
 * that are not inlined look up names of their own, as they do in a SELECT.
 */
#include "emogi.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "rewrite/rewriteSupport.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

/* A statement in which calls are made. Its snapshots are registered with the transaction. */
typedef struct Statement
{
	Snapshot	snapshot;		/* its own */
	Snapshot	newer;			/* that its calls read under instead; NULL = its own will do */
	int			nrenewals;
	bool		answered;		/* a call has read under it */
} Statement;

/* Newer snapshots that a statement takes one after the other before it gives up. */
#define MOST_RENEWALS 1000

static List *statements = NIL;	/* of this transaction; in its memory */
static ExecutorEnd_hook_type previous_executor_end_hook = NULL;

/* ---- statements ---- */

/* Is the snapshot kept, whatever the catalogs say? */
static bool
is_kept(void)
{
	return IsolationUsesXactSnapshot() || emogi_faults.no_snapshot_rule;
}

/* Forget a statement. */
static void
forget(Statement *statement)
{
	UnregisterSnapshotFromOwner(statement->snapshot, TopTransactionResourceOwner);
	if (statement->newer != NULL)
		UnregisterSnapshotFromOwner(statement->newer, TopTransactionResourceOwner);
	statements = list_delete_ptr(statements, statement);
	pfree(statement);
}

/* Forget the statements that have ended: nobody else has their snapshots, but for the query that is just ending. */
static void
forget_ended(Snapshot ending)
{
	for (int i = list_length(statements) - 1; i >= 0; i--)
	{
		Statement  *statement = list_nth(statements, i);
		Snapshot	snapshot = statement->snapshot;

		if (snapshot->active_count == 0 && snapshot->regd_count == (snapshot == ending ? 2 : 1))
			forget(statement);
	}
}

/* Get the statement that the active snapshot belongs to. */
static Statement *
current_statement(void)
{
	Snapshot	active = GetActiveSnapshot();
	MemoryContext old;
	Statement  *statement;
	ListCell   *cell;

	foreach(cell, statements)
	{
		statement = lfirst(cell);
		if (statement->snapshot == active || statement->newer == active)
			return statement;
	}
	forget_ended(InvalidSnapshot);
	old = MemoryContextSwitchTo(TopTransactionContext);
	statement = palloc0(sizeof *statement);
	statements = lappend(statements, statement);
	statement->snapshot = RegisterSnapshotOnOwner(active, TopTransactionResourceOwner);
	MemoryContextSwitchTo(old);
	return statement;
}

/* Make the snapshot that the statement's calls read under the active one. */
void
emogi_snapshot_push(void)
{
	Statement  *statement;

	if (is_kept())
	{
		PushActiveSnapshot(GetActiveSnapshot());
		return;
	}
	statement = current_statement();
	PushActiveSnapshot(statement->newer != NULL ? statement->newer : statement->snapshot);
}

/* Note that a call reads under the active snapshot: from now on the statement keeps it. */
void
emogi_snapshot_answer(void)
{
	if (!is_kept())
		current_statement()->answered = true;
}

/* Raise 40001. */
static void
report_change(Oid relid)
{
	char	   *name = get_rel_name(relid);

	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not read relation \"%s\" under the snapshot of the statement's other calls",
					name != NULL ? name : "(dropped)"),
			 errdetail("It, or what it consists of, was swapped, rewritten or altered after that snapshot was taken."),
			 errhint("Run the statement again.")));
}

/*
 * Have the statement's calls read under a newer snapshot, which sees all that the locks at hand have waited for. Raises 40001
 * when one of them has read under the old one; relid: the relation that asks for it. Commands of the own transaction that
 * came after the statement's are seen only if it does not go without.
 */
void
emogi_snapshot_renew(Oid relid)
{
	Statement  *statement = current_statement();
	Snapshot	newer;

	CHECK_FOR_INTERRUPTS();
	if (statement->answered || ++statement->nrenewals > MOST_RENEWALS)
		report_change(relid);
	/* GetLatestSnapshot refuses in parallel mode; for what is no catalog this is as new */
	newer = RegisterSnapshotOnOwner(GetNonHistoricCatalogSnapshot(InvalidOid), TopTransactionResourceOwner);
	if (statement->newer == NULL)
		newer->curcid = statement->snapshot->curcid;
	else
		UnregisterSnapshotFromOwner(statement->newer, TopTransactionResourceOwner);
	statement->newer = newer;
}

/* Forget statements as queries end, so that an idle transaction holds back no VACUUM. */
static void
end_executor(QueryDesc *query)
{
	Snapshot	ending = query->snapshot;

	if (previous_executor_end_hook)
		previous_executor_end_hook(query);
	else
		standard_ExecutorEnd(query);
	if (statements != NIL)
		forget_ended(ending);
}

/* Forget all statements at the end of a transaction. What fails releases the snapshots by itself. */
static void
at_end_of_transaction(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			while (statements != NIL)
				forget(linitial(statements));
			break;
		case XACT_EVENT_ABORT:
			statements = NIL;
			break;
		default:
			break;
	}
}

/* Watch the ends of statements; called once, in the postmaster. */
void
emogi_snapshot_init(void)
{
	RegisterXactCallback(at_end_of_transaction, NULL);
	previous_executor_end_hook = ExecutorEnd_hook;
	ExecutorEnd_hook = end_executor;
}

/*
 * Raise 25000 in a parallel worker. It would read under the snapshot of its leader, but not see what the leader has written,
 * nor know what snapshot the statement's other calls read under.
 */
void
emogi_refuse_worker(void)
{
	if (IsParallelWorker())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("emogi's functions cannot be called in a parallel worker"),
				 errhint("Mark the function that calls them PARALLEL RESTRICTED or PARALLEL UNSAFE.")));
}

/* ---- catalogs under a snapshot ---- */

/* Does a snapshot see this row, which is the newest? Own rows may be of a later command. */
static bool
sees_row(HeapTuple row, Snapshot snapshot)
{
	TransactionId xmin = HeapTupleHeaderGetXmin(row->t_data);

	if (TransactionIdIsCurrentTransactionId(xmin))
		return HeapTupleHeaderGetCmin(row->t_data) < snapshot->curcid;
	return !XidInMVCCSnapshot(xmin, snapshot);
}

/* Get the first row that a snapshot sees under some keys of a catalog's unique index, copied; NULL when there is none. */
static HeapTuple
fetch_row(Oid catalog, Oid index, ScanKey keys, int nkeys, Snapshot snapshot)
{
	Relation	rel = table_open(catalog, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, index, true, snapshot, nkeys, keys);
	HeapTuple	row = systable_getnext(scan);

	if (HeapTupleIsValid(row))
		row = heap_copytuple(row);
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return row;
}

/* Find a schema by its name; InvalidOid when there was none. */
static Oid
find_schema(const char *name, Snapshot snapshot)
{
	HeapTuple	row = SearchSysCache1(NAMESPACENAME, CStringGetDatum(name));
	Oid			schema = InvalidOid;
	ScanKeyData key;
	NameData	padded;

	if (HeapTupleIsValid(row))
	{
		if (sees_row(row, snapshot))
			schema = ((Form_pg_namespace) GETSTRUCT(row))->oid;
		ReleaseSysCache(row);
	}
	if (OidIsValid(schema))
		return schema;
	namestrcpy(&padded, name);
	ScanKeyInit(&key, Anum_pg_namespace_nspname, BTEqualStrategyNumber, F_NAMEEQ, NameGetDatum(&padded));
	row = fetch_row(NamespaceRelationId, NamespaceNameIndexId, &key, 1, snapshot);
	return HeapTupleIsValid(row) ? ((Form_pg_namespace) GETSTRUCT(row))->oid : InvalidOid;
}

/* Find a relation by its name in a schema; InvalidOid when there was none. */
static Oid
find_relation(const char *name, Oid schema, Snapshot snapshot)
{
	HeapTuple	row = SearchSysCache2(RELNAMENSP, CStringGetDatum(name), ObjectIdGetDatum(schema));
	Oid			relid = InvalidOid;
	ScanKeyData keys[2];
	NameData	padded;

	if (HeapTupleIsValid(row))
	{
		if (sees_row(row, snapshot))
			relid = ((Form_pg_class) GETSTRUCT(row))->oid;
		ReleaseSysCache(row);
	}
	if (OidIsValid(relid))
		return relid;
	namestrcpy(&padded, name);
	ScanKeyInit(&keys[0], Anum_pg_class_relname, BTEqualStrategyNumber, F_NAMEEQ, NameGetDatum(&padded));
	ScanKeyInit(&keys[1], Anum_pg_class_relnamespace, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(schema));
	row = fetch_row(RelationRelationId, ClassNameNspIndexId, keys, 2, snapshot);
	return HeapTupleIsValid(row) ? ((Form_pg_class) GETSTRUCT(row))->oid : InvalidOid;
}

/* May the user look into a schema? One that is no more keeps nobody out. */
static bool
may_look_into(Oid schema)
{
	return !SearchSysCacheExists1(NAMESPACEOID, ObjectIdGetDatum(schema)) ||
		emogi_compat_schema_usage(schema) == ACLCHECK_OK;
}

/* Find what a name without a schema leads to. */
static Oid
search_path_leads_to(const char *name, Snapshot snapshot)
{
	List	   *path;
	ListCell   *cell;

	if (!SplitIdentifierString(pstrdup(namespace_search_path), ',', &path))
		return InvalidOid;
	foreach(cell, path)
	{
		char	   *schema_name = lfirst(cell);
		Oid			schema;
		Oid			relid;

		if (strcmp(schema_name, "$user") == 0)
			schema_name = GetUserNameFromId(GetUserId(), true);
		schema = schema_name != NULL ? find_schema(schema_name, snapshot) : InvalidOid;
		if (!OidIsValid(schema) || !may_look_into(schema))
			continue;
		relid = find_relation(name, schema, snapshot);
		if (OidIsValid(relid))
			return relid;
	}
	return InvalidOid;
}

/* Does a name, qualified or not, lead to this relation? Nobody else changes pg_catalog, or the own temporary tables. */
static bool
sees_name(List *name, Oid relid, Snapshot snapshot)
{
	Oid			schema = get_rel_namespace(relid);

	if (schema == PG_CATALOG_NAMESPACE || isTempNamespace(schema))
		return true;
	if (list_length(name) == 1)
		return search_path_leads_to(strVal(linitial(name)), snapshot) == relid;
	schema = find_schema(strVal(list_nth(name, list_length(name) - 2)), snapshot);
	return OidIsValid(schema) && find_relation(strVal(llast(name)), schema, snapshot) == relid;
}

/* Does a relation have the same file, and is it of the same kind? *childless = true: it is known to have no children. */
static bool
sees_relation(Oid relid, Snapshot snapshot, bool *childless)
{
	HeapTuple	newest = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	HeapTuple	row;
	ScanKeyData key;
	bool		seen;

	*childless = false;
	if (!HeapTupleIsValid(newest))
		return false;
	seen = sees_row(newest, snapshot);
	if (seen)
		*childless = !((Form_pg_class) GETSTRUCT(newest))->relhassubclass;
	else
	{
		ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
		row = fetch_row(RelationRelationId, ClassOidIndexId, &key, 1, snapshot);
		seen = HeapTupleIsValid(row) &&
			((Form_pg_class) GETSTRUCT(row))->relfilenode == ((Form_pg_class) GETSTRUCT(newest))->relfilenode &&
			((Form_pg_class) GETSTRUCT(row))->relkind == ((Form_pg_class) GETSTRUCT(newest))->relkind;
	}
	ReleaseSysCache(newest);
	return seen;
}

/* Is a column of the same name and type? newest: its row, from the cache and given back to it; invalid = there is none. */
static bool
sees_column(HeapTuple newest, Snapshot snapshot)
{
	HeapTuple	row;
	ScanKeyData keys[2];
	bool		seen;

	if (!HeapTupleIsValid(newest))
		return false;
	seen = sees_row(newest, snapshot);
	if (!seen)
	{
		Form_pg_attribute now = (Form_pg_attribute) GETSTRUCT(newest);

		ScanKeyInit(&keys[0], Anum_pg_attribute_attrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(now->attrelid));
		ScanKeyInit(&keys[1], Anum_pg_attribute_attnum, BTEqualStrategyNumber, F_INT2EQ, Int16GetDatum(now->attnum));
		row = fetch_row(AttributeRelationId, AttributeRelidNumIndexId, keys, 2, snapshot);
		if (HeapTupleIsValid(row))
		{
			Form_pg_attribute then = (Form_pg_attribute) GETSTRUCT(row);

			seen = namestrcmp(&then->attname, NameStr(now->attname)) == 0 && then->atttypid == now->atttypid &&
				then->attisdropped == now->attisdropped;
		}
	}
	ReleaseSysCache(newest);
	return seen;
}

/* Are the columns of these names (NULL = none) the same? */
static bool
sees_columns(Oid relid, char *const names[3], Snapshot snapshot)
{
	for (int i = 0; i < 3; i++)
		if (names[i] != NULL && !sees_column(SearchSysCacheAttName(relid, names[i]), snapshot))
			return false;
	return true;
}

/* Does a view, if it is one, have the same query? */
static bool
sees_rule(Oid relid, Snapshot snapshot)
{
	HeapTuple	newest;
	bool		seen;

	if (get_rel_relkind(relid) != RELKIND_VIEW)
		return true;
	newest = SearchSysCache2(RULERELNAME, ObjectIdGetDatum(relid), CStringGetDatum(ViewSelectRuleName));
	if (!HeapTupleIsValid(newest))
		return false;
	seen = sees_row(newest, snapshot);
	ReleaseSysCache(newest);
	return seen;
}

/* ---- a relation and its children ---- */

/* Begin to read the rows of pg_inherits that name a parent, under a snapshot or the newest (NULL). */
static SysScanDesc
begin_children(Relation catalog, Oid parent, Snapshot snapshot)
{
	ScanKeyData key;

	ScanKeyInit(&key, Anum_pg_inherits_inhparent, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(parent));
	return systable_beginscan(catalog, InheritsParentIndexId, true, snapshot, 1, &key);
}

/* List the children of a relation but those that are being detached, in the order in which to lock them. */
static List *
list_children(Oid parent, Snapshot snapshot)
{
	Relation	catalog = table_open(InheritsRelationId, AccessShareLock);
	SysScanDesc scan = begin_children(catalog, parent, snapshot);
	List	   *children = NIL;
	HeapTuple	row;

	while (HeapTupleIsValid(row = systable_getnext(scan)))
		if (!((Form_pg_inherits) GETSTRUCT(row))->inhdetachpending)
			children = lappend_oid(children, ((Form_pg_inherits) GETSTRUCT(row))->inhrelid);
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	list_sort(children, list_oid_cmp);
	return children;
}

/* Add the children of a relation to a list, locked; false when one of them is no more. */
static bool
add_children(Oid parent, Snapshot snapshot, List **relids)
{
	bool		several_parents = get_rel_relkind(parent) != RELKIND_PARTITIONED_TABLE;
	List	   *children = list_children(parent, snapshot);
	ListCell   *cell;

	foreach(cell, children)
	{
		Oid			relid = lfirst_oid(cell);

		if (several_parents && list_member_oid(*relids, relid))
			continue;
		LockRelationOid(relid, AccessShareLock);
		if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		{
			UnlockRelationOid(relid, AccessShareLock);
			return false;
		}
		*relids = lappend_oid(*relids, relid);
	}
	list_free(children);
	return true;
}

/* Does a relation have the same children, bounds and all? */
static bool
sees_children(Oid parent, Snapshot snapshot)
{
	Relation	catalog = table_open(InheritsRelationId, AccessShareLock);
	SysScanDesc scan = begin_children(catalog, parent, NULL);
	bool		seen = true;
	int			balance = 0;
	HeapTuple	row;

	for (; HeapTupleIsValid(row = systable_getnext(scan)); balance++)
		seen &= sees_row(row, snapshot);
	systable_endscan(scan);
	if (seen)
	{
		scan = begin_children(catalog, parent, snapshot);
		while (HeapTupleIsValid(systable_getnext(scan)))
			balance--;
		systable_endscan(scan);
	}
	table_close(catalog, AccessShareLock);
	return seen && balance == 0;
}

/*
 * Does the active snapshot see a relation as it was resolved? Lists it and all below it that the snapshot sees, locked. The
 * root is locked. Where other children have come or gone since, a newer snapshot is asked for only if nothing else in the
 * statement can have read the relation yet.
 */
bool
emogi_snapshot_sees(const EmogiSource *source, List **relids)
{
	Snapshot	snapshot = GetActiveSnapshot();
	char	   *const names[3] = {
		get_attname(source->relid, source->src, false),
		get_attname(source->relid, source->dst, false),
		source->weight > 0 ? get_attname(source->relid, source->weight, false) : NULL
	};
	bool		same_children = !source->was_locked;

	if (is_kept())
	{
		*relids = find_all_inheritors(source->relid, AccessShareLock, NULL);
		return true;
	}
	same_children &= !current_statement()->answered;
	*relids = list_make1_oid(source->relid);
	if (source->name != NIL && !sees_name(source->name, source->relid, snapshot))
		return false;
	for (int i = 0; i < list_length(*relids); i++)
	{
		Oid			relid = list_nth_oid(*relids, i);
		bool		childless;

		if (!sees_relation(relid, snapshot, &childless) || !sees_columns(relid, names, snapshot) ||
			(!childless && same_children && !sees_children(relid, snapshot)) ||
			(!childless && !add_children(relid, snapshot, relids)))
			return false;
	}
	return true;
}

/* ---- a query ---- */

/* Count the columns of a relation, dropped ones included. */
static AttrNumber
count_columns(Oid relid)
{
	HeapTuple	row = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	AttrNumber	natts = 0;

	if (HeapTupleIsValid(row))
	{
		natts = ((Form_pg_class) GETSTRUCT(row))->relnatts;
		ReleaseSysCache(row);
	}
	return natts;
}

/* Does a relation have the same name, columns and rule? A partition shares its table's. */
static bool
sees_definition(Oid relid, Snapshot snapshot)
{
	AttrNumber	natts = count_columns(relid);
	List	   *name;

	if (get_rel_relispartition(relid))
		return true;
	for (AttrNumber attnum = 1; attnum <= natts; attnum++)
		if (!sees_column(SearchSysCache2(ATTNUM, ObjectIdGetDatum(relid), Int16GetDatum(attnum)), snapshot))
			return false;
	name = list_make1(makeString(get_rel_name(relid)));
	if (!RelationIsVisible(relid))
		name = lcons(makeString(get_namespace_name(get_rel_namespace(relid))), name);
	return sees_name(name, relid, snapshot) && sees_rule(relid, snapshot);
}

/* Does the active snapshot see a relation as a plan reads it? */
static bool
sees_planned(Oid relid, Snapshot snapshot)
{
	bool		childless;

	return relid < FirstNormalObjectId ||
		(sees_relation(relid, snapshot, &childless) && sees_definition(relid, snapshot) &&
		 (childless || sees_children(relid, snapshot)));
}

/* Find a relation of a query's plan that the active snapshot sees otherwise; InvalidOid when there is none. Plans it. */
static Oid
find_unseen(SPIPlanPtr plan, int *generation)
{
	Snapshot	snapshot = GetActiveSnapshot();
	CachedPlan *cached = SPI_plan_get_cached_plan(plan);
	Oid			unseen = InvalidOid;
	ListCell   *cell;

	if (cached == NULL || list_length(cached->stmt_list) != 1)
		elog(ERROR, "could not plan a query");
	*generation = cached->generation;
	foreach(cell, linitial_node(PlannedStmt, cached->stmt_list)->relationOids)
		if (!OidIsValid(unseen) && !sees_planned(lfirst_oid(cell), snapshot))
			unseen = lfirst_oid(cell);
	ReleaseCachedPlan(cached, NULL);
	return unseen;
}

/* Prepare a query, inside SPI, under a snapshot that sees what it reads, and make that the active one. */
static EmogiReading
prepare(const char *query, int nargs, Oid *types, int cursor_options)
{
	EmogiReading reading = {NULL, 0};

	for (;;)
	{
		Oid			unseen;

		emogi_snapshot_push();
		reading.plan = SPI_prepare_cursor(query, nargs, types, cursor_options | CURSOR_OPT_GENERIC_PLAN);
		if (reading.plan == NULL)
			elog(ERROR, "could not prepare a query: %s", SPI_result_code_string(SPI_result));
		if (is_kept())
			return reading;
		unseen = find_unseen(reading.plan, &reading.generation);
		if (!OidIsValid(unseen))
			return reading;
		PopActiveSnapshot();
		SPI_freeplan(reading.plan);
		emogi_snapshot_renew(unseen);
	}
}

/*
 * Prepare a query to read, inside SPI, under the statement's snapshot, which becomes the active one until
 * emogi_snapshot_close. Raises 40001.
 */
EmogiReading
emogi_snapshot_open(const char *query, int nargs, Oid *types, int cursor_options)
{
	EmogiReading reading = prepare(query, nargs, types, cursor_options);

	emogi_snapshot_answer();
	return reading;
}

/* See, before a statement's call is answered, that its snapshot will do for a query, inside SPI; else take a newer one. */
void
emogi_snapshot_settle(const char *query)
{
	SPI_freeplan(prepare(query, 0, NULL, 0).plan);
	PopActiveSnapshot();
}

/*
 * See that a query was read as it was prepared, under the snapshot that is still active. PostgreSQL plans anew when it finds that a table has other partitions than
 * before; nothing else can have changed under the plan's locks. Raises 40001.
 */
void
emogi_snapshot_check(const EmogiReading *reading)
{
	CachedPlanSource *source = linitial(SPI_plan_get_plan_sources(reading->plan));
	int			generation;
	Oid			unseen;

	if (is_kept() || source->generation == reading->generation)
		return;
	unseen = find_unseen(reading->plan, &generation);
	if (OidIsValid(unseen))
		report_change(unseen);
}
