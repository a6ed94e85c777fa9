/*
 * snapshot.c: the snapshot of a call
 *
 * A SELECT takes its snapshot after its locks. A call comes later: its statement already has a
 * snapshot, and before the call gets its locks, others may swap the table for another by renaming
 * it, detach and attach partitions, TRUNCATE and load, drop and create. Names are looked up in the
 * newest catalog, so all rows of the relation found may be newer than the snapshot, and the answer
 * would be that of a state that never existed.
 *
 * Therefore the snapshot must see in the catalogs what a call reads: under that name, in that
 * schema, on that search path, with that file, those columns and policies; for a view the same
 * rule, for the tables of a query the same partitions and children. The comparison covers exactly
 * what is used, with locks held; later changes of the catalogs do no harm (catalog_visibility.c).
 *
 * Partitions can be attached and detached without a lock that excludes readers, while a SELECT of
 * the same statement continues with those it was planned with. Therefore, for a relation that the
 * statement may have read already, the partitions and children that the snapshot sees are read,
 * even if they no longer belong to it.
 *
 * If the snapshot and the catalogs disagree, the calls of the statement switch to a newer snapshot,
 * taken with the locks held, and names are looked up again, until both agree. All calls of a
 * statement use one snapshot: once one of them has been answered, no switch is possible, and a call
 * that cannot be answered under that snapshot fails (40001). A statement is identified by its
 * snapshot, which is kept registered so that its address is not reused for another statement's.
 *
 * In REPEATABLE READ and SERIALIZABLE, snapshots are intentionally older: a call sees what a SELECT
 * would, except for shards of Citus that the snapshot does not see (40001). Functions of a query
 * that are not inlined look up names by themselves, as in a SELECT.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "citus/citus.h"
#include "base/fault.h"
#include "source/catalog_visibility.h"
#include "source/source.h"

/* A statement with calls. Its snapshots are registered with the transaction. */
typedef struct Statement
{
	Snapshot	snapshot;		/* its own */
	Snapshot	newer;			/* used by its calls instead; NULL = its own */
	int			nrenewals;
	bool		answered;		/* a call has read under its snapshot */
} Statement;

/* Maximum number of newer snapshots that a statement tries. */
#define MAX_RENEWALS 1000

static List *statements = NIL;	/* of this transaction; in its memory context */
static ExecutorEnd_hook_type previous_executor_end_hook = NULL;

/* ---- statements ---- */

/* Is the snapshot kept, whatever the catalogs say? */
bool
emogi_snapshot_is_kept(void)
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

/*
 * Forget the statements that have ended: their snapshots have no other references, except that of
 * the query that is just ending.
 */
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

/* Make the snapshot of the statement's calls the active one. */
void
emogi_snapshot_push(void)
{
	Statement  *statement;

	if (emogi_snapshot_is_kept())
	{
		PushActiveSnapshot(GetActiveSnapshot());
		return;
	}
	statement = current_statement();
	PushActiveSnapshot(statement->newer != NULL ? statement->newer : statement->snapshot);
}

/* Note that a call reads under the active snapshot: the statement keeps it from now on. */
void
emogi_snapshot_mark_used(void)
{
	if (!emogi_snapshot_is_kept())
		current_statement()->answered = true;
}

/* Raise 40001. */
static void
report_change(Oid relid)
{
	char	   *name = get_rel_name(relid);

	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not read relation \"%s\" under the snapshot of the statement's other "
					"calls",
					name != NULL ? name : "(dropped)"),
			 errdetail("The relation, or one that it reads, was swapped, rewritten or altered "
					   "after that snapshot was taken."),
			 errhint("Run the statement again.")));
}

/*
 * Switch the statement's calls to a newer snapshot, which sees everything that the current locks
 * have waited for. Raises 40001 if one of them has read under the old one; relid: the relation that
 * needs it. Changes of the current transaction by commands after the statement's own are seen only
 * after a second switch.
 */
void
emogi_snapshot_renew(Oid relid)
{
	Statement  *statement = current_statement();
	Snapshot	newer;

	CHECK_FOR_INTERRUPTS();
	if (statement->answered || ++statement->nrenewals > MAX_RENEWALS)
		report_change(relid);
	/*
	 * GetLatestSnapshot is not allowed in parallel mode; for non-catalog relations this one is as
	 * new
	 */
	newer = RegisterSnapshotOnOwner(GetNonHistoricCatalogSnapshot(InvalidOid),
									TopTransactionResourceOwner);
	if (statement->newer == NULL)
		newer->curcid = statement->snapshot->curcid;
	else
		UnregisterSnapshotFromOwner(statement->newer, TopTransactionResourceOwner);
	statement->newer = newer;
}

/* Forget statements as queries end, so that an idle transaction does not hold back VACUUM. */
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

/*
 * Forget all statements at the end of a transaction. After an error their snapshots are released by
 * the resource owner.
 */
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

/* Install the hooks for the ends of statements; called once, in the postmaster. */
void
emogi_snapshot_init(void)
{
	RegisterXactCallback(at_end_of_transaction, NULL);
	previous_executor_end_hook = ExecutorEnd_hook;
	ExecutorEnd_hook = end_executor;
}

/*
 * Raise 25000 in a parallel worker. It would read under its leader's snapshot, but would not see
 * the leader's writes, nor know the snapshot of the statement's other calls.
 */
void
emogi_snapshot_refuse_worker(void)
{
	if (IsParallelWorker())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("emogi's functions cannot be called in a parallel worker"),
				 errhint("Mark the function that calls them PARALLEL RESTRICTED or PARALLEL "
						 "UNSAFE.")));
}

/* ---- a relation ---- */

/*
 * List the names of the columns that a call reads of a relation; a child may have them under other
 * numbers.
 */
static List *
list_names(const EmogiSource *source)
{
	const AttrNumber columns[] = {source->src, source->dst, source->weight, source->reverse,
								  source->graph->reads_names ? source->edge : 0};
	List	   *names = NIL;

	for (int i = 0; i < (int) lengthof(columns); i++)
		if (columns[i] > 0)
			names = lappend(names, get_attname(source->relid, columns[i], false));
	return names;
}

/*
 * Does the active snapshot see a relation as it was resolved? Get the relation, which is locked,
 * and all its descendants that the snapshot sees, and lock them. If its children have changed
 * since, ask for a newer snapshot only if nothing else in the statement can have read the relation
 * yet.
 */
bool
emogi_snapshot_sees(const EmogiSource *source, List **relids)
{
	Snapshot	snapshot = GetActiveSnapshot();
	bool		same_children = !source->was_locked;
	bool		childless = false;
	List	   *names;

	if (emogi_snapshot_is_kept())
	{
		*relids = find_all_inheritors(source->relid, AccessShareLock, NULL);
		return true;
	}
	if (emogi_known_sources_are_seen(source))
	{
		*relids = list_make1_oid(source->relid);
		return true;
	}
	names = list_names(source);
	same_children &= !current_statement()->answered;
	*relids = list_make1_oid(source->relid);
	if (source->name != NIL &&
		!emogi_catalog_visibility_name(source->name, source->relid, snapshot))
		return false;
	for (int i = 0; i < list_length(*relids); i++)
	{
		Oid			relid = list_nth_oid(*relids, i);

		if (!emogi_catalog_visibility_relation(relid, snapshot, &childless) ||
			!emogi_catalog_visibility_columns(relid, names, snapshot) ||
			(!childless && same_children && !emogi_catalog_visibility_children(relid, snapshot)) ||
			(!childless && !emogi_catalog_visibility_list_children(relid, snapshot, relids)))
			return false;
	}
	if (childless && list_length(*relids) == 1)
		emogi_known_sources_note_seen(source);
	return true;
}

/* ---- a query ---- */

/* Count the columns of a relation, including dropped ones. */
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

/*
 * Is a relation a partition of a table that is in the list, too? Then it is read by the name of
 * that table, with that table's columns.
 */
static bool
is_read_by_parent(Oid relid, List *relids)
{
	return get_rel_relispartition(relid) &&
		list_member_oid(relids, get_partition_parent(relid, true));
}

/* Does a relation have the same name, columns and rule? */
static bool
sees_definition(Oid relid, Snapshot snapshot)
{
	AttrNumber	natts = count_columns(relid);
	List	   *name;

	for (AttrNumber attnum = 1; attnum <= natts; attnum++)
		if (!emogi_catalog_visibility_column(SearchSysCache2(ATTNUM, ObjectIdGetDatum(relid),
															 Int16GetDatum(attnum)), snapshot))
			return false;
	name = list_make1(makeString(get_rel_name(relid)));
	if (!RelationIsVisible(relid))
		name = lcons(makeString(get_namespace_name(get_rel_namespace(relid))), name);
	return emogi_catalog_visibility_name(name, relid, snapshot) &&
		emogi_catalog_visibility_rule(relid, snapshot);
}

/*
 * Does the active snapshot see a relation of a list as a plan reads it? Relations in `named` must
 * also match by their own names.
 */
static bool
sees_planned(Oid relid, List *relids, List *named, Snapshot snapshot)
{
	bool		childless;

	/*
	 * a plan also lists the values of constants of type oid, which need not be relations; relations
	 * that it reads are locked and exist
	 */
	return relid < FirstNormalObjectId || !SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)) ||
		(emogi_catalog_visibility_relation(relid, snapshot, &childless) &&
		 ((!list_member_oid(named, relid) && is_read_by_parent(relid, relids)) ||
		  sees_definition(relid, snapshot)) &&
		 (childless || emogi_catalog_visibility_children(relid, snapshot)));
}

/*
 * Find a relation that the active snapshot sees differently from how a query reads it; InvalidOid
 * if there is none. They are locked. named: those that the query names; NIL = unknown.
 */
Oid
emogi_snapshot_find_unseen(List *relids, List *named)
{
	Snapshot	snapshot = GetActiveSnapshot();
	ListCell   *cell;

	if (emogi_snapshot_is_kept())
		return InvalidOid;
	foreach(cell, relids)
		if (!sees_planned(lfirst_oid(cell), relids, named, snapshot))
			return lfirst_oid(cell);
	return InvalidOid;
}

/*
 * Raise 40001 if the active snapshot sees a relation of a list differently from how a plan reads
 * it. They are locked. named: those that the query names.
 */
void
emogi_snapshot_require_seen(List *relids, List *named)
{
	const Oid	unseen = emogi_snapshot_find_unseen(relids, named);

	if (OidIsValid(unseen))
		report_change(unseen);
}

/*
 * Find a Citus table of a query whose shards have been moved according to the active snapshot;
 * InvalidOid if there is none. Plans of Citus do not name its tables.
 */
static Oid
find_unseen_shards(const CachedPlanSource *source)
{
	ListCell   *cell;

	foreach(cell, source->relationOids)
		if (!emogi_citus_snapshot_sees_shards(lfirst_oid(cell), GetActiveSnapshot()))
			return lfirst_oid(cell);
	return InvalidOid;
}

/*
 * Raise 40001 if the transaction's snapshot, which is kept, sees shards of a query's Citus tables
 * in other places.
 */
static void
check_shards(const CachedPlanSource *source)
{
	const Oid	unseen = IsolationUsesXactSnapshot() ? find_unseen_shards(source) : InvalidOid;

	if (OidIsValid(unseen))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not read Citus table \"%s\" under the snapshot of the transaction",
						get_rel_name(unseen)),
				 errdetail("A shard was moved after the snapshot was taken, and the snapshot does "
						   "not see its rows there."),
				 errhint("Run the transaction again.")));
}

/*
 * Plan a query, and find a relation of it that the active snapshot sees differently; InvalidOid if
 * there is none.
 */
static Oid
find_unseen(SPIPlanPtr plan, int *generation)
{
	CachedPlan *cached = SPI_plan_get_cached_plan(plan);
	Oid			unseen;

	if (cached == NULL || list_length(cached->stmt_list) != 1)
		elog(ERROR, "could not plan a query");
	*generation = cached->generation;
	unseen = emogi_snapshot_find_unseen(linitial_node(PlannedStmt, cached->stmt_list)->relationOids,
										NIL);
	ReleaseCachedPlan(cached, NULL);
	return OidIsValid(unseen) ? unseen :
		find_unseen_shards(linitial(SPI_plan_get_plan_sources(plan)));
}

/*
 * Prepare a query, inside SPI, under a snapshot that sees what it reads, and make that snapshot
 * active.
 */
static EmogiPreparedQuery
prepare(const char *query, int nargs, Oid *types, int cursor_options)
{
	EmogiPreparedQuery reading = {NULL, 0};

	for (;;)
	{
		Oid			unseen;

		emogi_snapshot_push();
		reading.plan = SPI_prepare_cursor(query, nargs, types,
										  (cursor_options & CURSOR_OPT_CUSTOM_PLAN) ?
										  cursor_options : cursor_options |
										  CURSOR_OPT_GENERIC_PLAN);
		if (reading.plan == NULL)
			elog(ERROR, "could not prepare a query: %s", SPI_result_code_string(SPI_result));
		if (emogi_snapshot_is_kept())
		{
			check_shards(linitial(SPI_plan_get_plan_sources(reading.plan)));
			return reading;
		}
		unseen = find_unseen(reading.plan, &reading.generation);
		if (!OidIsValid(unseen))
			return reading;
		PopActiveSnapshot();
		SPI_freeplan(reading.plan);
		emogi_snapshot_renew(unseen);
	}
}

/*
 * Prepare a query to read, inside SPI, under the statement's snapshot, which is active until
 * emogi_snapshot_close. Raises 40001.
 */
EmogiPreparedQuery
emogi_snapshot_open(const char *query, int nargs, Oid *types, int cursor_options)
{
	EmogiPreparedQuery reading = prepare(query, nargs, types, cursor_options);

	emogi_snapshot_mark_used();
	return reading;
}

/*
 * Before a call of the statement is answered, ensure that its snapshot is valid for a query, inside
 * SPI; if it is not, take a newer one.
 */
void
emogi_snapshot_prepare(const char *query)
{
	SPI_freeplan(prepare(query, 0, NULL, 0).plan);
	PopActiveSnapshot();
}

/*
 * Check that a query was read as prepared, under the snapshot that is still active. PostgreSQL
 * replans when a table's partitions have changed; nothing else can have changed under the plan's
 * locks. Raises 40001.
 */
void
emogi_snapshot_check(const EmogiPreparedQuery *reading)
{
	CachedPlanSource *source = linitial(SPI_plan_get_plan_sources(reading->plan));
	int			generation;
	Oid			unseen;

	if (emogi_snapshot_is_kept() || source->generation == reading->generation)
		return;
	unseen = find_unseen(reading->plan, &generation);
	if (OidIsValid(unseen))
		report_change(unseen);
}
