/*
 * compat.h: every difference between PostgreSQL 14 .. 18 that emogi meets. No other file has a
 * version #if.
 */
#ifndef EMOGI_COMPAT_H
#define EMOGI_COMPAT_H

#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/transam.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#endif
#include "executor/executor.h"
#include "executor/functions.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "optimizer/paths.h"
#include "parser/parse_relation.h"
#include "pgstat.h"
#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteManip.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lock.h"
#include "storage/proc.h"
#if PG_VERSION_NUM >= 170000
#include "storage/read_stream.h"
#endif
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/pg_locale.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif
#if PG_VERSION_NUM >= 150000
#include "utils/pgstat_internal.h"
#endif

#if PG_VERSION_NUM < 140000
#error "emogi needs PostgreSQL 14 or later"
#endif

/* 15: shared memory is requested from a hook of its own. */
#if PG_VERSION_NUM >= 150000
#define EMOGI_HAS_SHMEM_REQUEST_HOOK 1
#else
#define EMOGI_HAS_SHMEM_REQUEST_HOOK 0
#endif

/* 15: columns of ROW(...) that a sub-query returns can be named, as f1, f2 and so on. */
#if PG_VERSION_NUM >= 150000
#define EMOGI_HAS_FIELDS_OF_ROWS 1
#else
#define EMOGI_HAS_FIELDS_OF_ROWS 0
#endif

/* Reserve our prefix, so that a misspelt emogi.* setting is reported. */
static inline void
emogi_compat_reserve_prefix(const char *prefix)
{
#if PG_VERSION_NUM >= 150000
	MarkGUCPrefixReserved(prefix);
#else
	EmitWarningsOnPlaceholders(prefix);
#endif
}

/* 16: what a check hook hands over comes from guc_malloc. */
static inline void *
emogi_compat_guc_malloc(size_t bytes)
{
#if PG_VERSION_NUM >= 160000
	return guc_malloc(LOG, bytes);
#else
	return malloc(bytes);
#endif
}

/* Does a collation order strings as memcmp does? 18: the locale says so. */
static inline bool
emogi_compat_collates_bytes(Oid collation)
{
#if PG_VERSION_NUM >= 180000
	return pg_newlocale_from_collation(collation)->collate_is_c;
#else
	return lc_collate_is_c(collation);
#endif
}

/* 17: extensions name their wait events; before, all show as "Extension". */
static inline uint32
emogi_compat_wait_event(const char *name)
{
#if PG_VERSION_NUM >= 170000
	return WaitEventExtensionNew(name);
#else
	(void) name;
	return PG_WAIT_EXTENSION;
#endif
}

/* 16: one aclcheck for all kinds of object. */
static inline AclResult
emogi_compat_schema_usage(Oid schema)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(NamespaceRelationId, schema, GetUserId(), ACL_USAGE);
#else
	return pg_namespace_aclcheck(schema, GetUserId(), ACL_USAGE);
#endif
}

/*
 * 16: permissions live beside the range table, no longer in it. Raises 42501 as a SELECT of these
 * columns would.
 */
static inline void
emogi_compat_check_select(Relation rel, Bitmapset *columns)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);

	rte->rtekind = RTE_RELATION;
	rte->relid = RelationGetRelid(rel);
	rte->relkind = rel->rd_rel->relkind;
	rte->rellockmode = AccessShareLock;
#if PG_VERSION_NUM >= 160000
	{
		List	   *infos = NIL;
		RTEPermissionInfo *info = addRTEPermissionInfo(&infos, rte);

		info->requiredPerms = ACL_SELECT;
		info->selectedCols = columns;
		ExecCheckPermissions(list_make1(rte), infos, true);
	}
#else
	rte->requiredPerms = ACL_SELECT;
	rte->selectedCols = columns;
	ExecCheckRTPerms(list_make1(rte), true);
#endif
}

/* 16: likewise. Raises 42501 as the execution of a plan would; planning alone asks for no right. */
static inline void
emogi_compat_check_plan(PlannedStmt *plan)
{
#if PG_VERSION_NUM >= 160000
	ExecCheckPermissions(plan->rtable, plan->permInfos, true);
#else
	ExecCheckRTPerms(plan->rtable, true);
#endif
}

/* 16: one ownercheck for all kinds of object. */
static inline bool
emogi_compat_owns_relation(Oid relid)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, relid, GetUserId());
#else
	return pg_class_ownercheck(relid, GetUserId());
#endif
}

/* 18: a generated column need not be stored, so a tuple may not hold it. */
static inline bool
emogi_compat_is_stored(Form_pg_attribute attribute)
{
#if PG_VERSION_NUM >= 180000
	return attribute->attgenerated != ATTRIBUTE_GENERATED_VIRTUAL;
#else
	(void) attribute;
	return true;
#endif
}

/* 18: get the expression that a column is computed by as it is read; NULL = it is stored. */
static inline Node *
emogi_compat_virtual_expression(Relation rel, AttrNumber attnum)
{
#if PG_VERSION_NUM >= 180000
	if (!emogi_compat_is_stored(TupleDescAttr(RelationGetDescr(rel), attnum - 1)))
		return build_generation_expression(rel, attnum);
#endif
	return NULL;
}

/* 17: the variables of transaction ids have a new name. The caller holds XactTruncationLock. */
static inline TransactionId
emogi_compat_oldest_clog_xid(void)
{
#if PG_VERSION_NUM >= 170000
	return TransamVariables->oldestClogXid;
#else
	return ShmemVariableCache->oldestClogXid;
#endif
}

/* 16: relfilenode is relfilenumber. */
static inline Oid
emogi_compat_relfilenumber(Relation rel)
{
#if PG_VERSION_NUM >= 160000
	return rel->rd_locator.relNumber;
#else
	return rel->rd_node.relNode;
#endif
}

/*
 * 17: the question may include stronger modes. CheckRelationOidLockedByMe asks the same, but the
 * first minor releases of 14, 15 and 16 lack it. Does the own transaction hold just this lock on a
 * table?
 */
static inline bool
emogi_compat_holds_lock(Oid relid, LOCKMODE mode)
{
	LOCKTAG		tag;

	SET_LOCKTAG_RELATION(tag, IsSharedRelation(relid) ? InvalidOid : MyDatabaseId, relid);
#if PG_VERSION_NUM >= 170000
	return LockHeldByMe(&tag, mode, false);
#else
	return LockHeldByMe(&tag, mode);
#endif
}

/*
 * 18: any number of slots, in groups. Get the modes of the own fast-path locks in slot n, as a mask
 * of three bits.
 */
static inline int
emogi_compat_fast_path_slots(void)
{
#if PG_VERSION_NUM >= 180000
	return FastPathLockSlotsPerBackend();
#else
	return FP_LOCK_SLOTS_PER_BACKEND;
#endif
}

static inline LOCKMASK
emogi_compat_fast_path_modes(int n)
{
#if PG_VERSION_NUM >= 180000
	uint64		bits =
		MyProc->fpLockBits[n / FP_LOCK_SLOTS_PER_GROUP] >> (3 * (n % FP_LOCK_SLOTS_PER_GROUP));
#else
	uint64		bits = MyProc->fpLockBits >> (3 * n);
#endif

	return (LOCKMASK) (bits & 7) << AccessShareLock;
}

/*
 * 16: lists are of another kind. Get the own lock after this one (NULL = the first) in a partition;
 * NULL at the end.
 */
static inline PROCLOCK *
emogi_compat_next_lock(int partition, PROCLOCK *lock)
{
#if PG_VERSION_NUM >= 160000
	dlist_head *list = &MyProc->myProcLocks[partition];

	if (lock == NULL)
		return dlist_is_empty(list) ? NULL : dlist_head_element(PROCLOCK, procLink, list);
	return dlist_has_next(list, &lock->procLink) ?
		dlist_container(PROCLOCK, procLink, dlist_next_node(list, &lock->procLink)) : NULL;
#else
	SHM_QUEUE  *list = &MyProc->myProcLocks[partition];

	return (PROCLOCK *) SHMQueueNext(list, lock != NULL ? &lock->procLink : list,
									 offsetof(PROCLOCK, procLink));
#endif
}

/*
 * Call a function, which takes no lock, for each table of this database that the own transaction
 * has locked in one of these modes; more than once for some. Fast-path locks come first: when
 * another process moves one to the main table meanwhile, it stands there before its bit is gone.
 * Shared relations, which are of no database, are left out.
 */
static inline void
emogi_compat_each_lock(LOCKMASK modes, void (*function) (Oid relid))
{
	LWLockAcquire(&MyProc->fpInfoLock, LW_SHARED);
	for (int i = 0; i < emogi_compat_fast_path_slots(); i++)
		if (emogi_compat_fast_path_modes(i) & modes)
			function(MyProc->fpRelId[i]);
	LWLockRelease(&MyProc->fpInfoLock);

	for (int i = 0; i < NUM_LOCK_PARTITIONS; i++)
	{
		PROCLOCK   *lock;

		/*
		 * looked at without lock: others only add what was in the fast path, which was read under
		 * its lock
		 */
		if (emogi_compat_next_lock(i, NULL) == NULL)
			continue;
		LWLockAcquire(LockHashPartitionLockByIndex(i), LW_SHARED);
		for (lock = emogi_compat_next_lock(i, NULL); lock != NULL;
			 lock = emogi_compat_next_lock(i, lock))
		{
			const LOCKTAG *tag = &lock->tag.myLock->tag;

			if (tag->locktag_type == LOCKTAG_RELATION && tag->locktag_field1 == MyDatabaseId &&
				(lock->holdMask & modes))
				function(tag->locktag_field2);
		}
		LWLockRelease(LockHashPartitionLockByIndex(i));
	}
}

/* 17: sets of events are of a resource owner. Make one of so many; the caller frees it. */
static inline WaitEventSet *
emogi_compat_make_events(int count)
{
#if PG_VERSION_NUM >= 170000
	return CreateWaitEventSet(NULL, count);
#else
	return CreateWaitEventSet(CurrentMemoryContext, count);
#endif
}

/* 15: the name of a field. Has a (sub)transaction counted changes of a table? */
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

/*
 * 15: counts that are not yet reported moved. Has the own transaction counted changes of this
 * table?
 */
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
 * 15: a transaction's counts can be walked. At the end of a transaction, when there is one level
 * left: call a function for each table that it has counted changes of.
 *
 * Before, the list is pgstat.c's own; but to count no row of a table that has none puts it before
 * all others, and what it leads to is the rest. That table is ours, and is none: nothing is
 * reported of a table without counts.
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
 * 15: the usual opening of a set-returning function that fills a tuplestore. Rows are as the caller
 * expects them: to ask for the function's own row type leaves memory behind for each call of a
 * statement.
 */
static inline void
emogi_compat_init_rows(FunctionCallInfo fcinfo)
{
#if PG_VERSION_NUM >= 150000
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
#else
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext old;

	if (rsinfo == NULL || !IsA(rsinfo, ReturnSetInfo) ||
		!(rsinfo->allowedModes & SFRM_Materialize) || rsinfo->expectedDesc == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-valued function called in context that cannot accept a set")));
	old = MemoryContextSwitchTo(rsinfo->econtext->ecxt_per_query_memory);
	rsinfo->returnMode = SFRM_Materialize;
	rsinfo->setResult = tuplestore_begin_heap((rsinfo->allowedModes & SFRM_Materialize_Random) != 0,
											  false, work_mem);
	rsinfo->setDesc = CreateTupleDescCopy(rsinfo->expectedDesc);
	MemoryContextSwitchTo(old);
#endif
}

/*
 * 16: no set of nullable relations. Get the pathkeys of one expression in ascending order; NIL when
 * they are of no use.
 */
static inline List *
emogi_compat_pathkeys(PlannerInfo *root, Expr *expression, Oid less_than, Relids relids)
{
#if PG_VERSION_NUM >= 160000
	return build_expression_pathkey(root, expression, less_than, relids, false);
#else
	return build_expression_pathkey(root, expression, NULL, less_than, relids, false);
#endif
}

/* 18: a comparison and no strategy of a btree. Does a pathkey descend? */
static inline bool
emogi_compat_descends(const PathKey *key)
{
#if PG_VERSION_NUM >= 180000
	return key->pk_cmptype == COMPARE_GT;
#else
	return key->pk_strategy == BTGreaterStrategyNumber;
#endif
}

/*
 * 16: columns say which outer joins may have made them NULL. Say so in expressions under an outer
 * join, for the rows that it has made.
 */
static inline List *
emogi_compat_below_join(List *expressions, Relids nullable, const SpecialJoinInfo *join)
{
#if PG_VERSION_NUM >= 160000
	if (join->ojrelid != 0)
		return (List *) add_nulling_relids((Node *) expressions, nullable,
										   bms_make_singleton(join->ojrelid));
#else
	(void) nullable;
	(void) join;
#endif
	return expressions;
}

/*
 * 18: what is switched off is counted, no longer made expensive. Count in a path what is of its
 * input.
 */
static inline void
emogi_compat_add_disabled(Path *path, const Path *input)
{
#if PG_VERSION_NUM >= 180000
	path->disabled_nodes += input->disabled_nodes;
#else
	(void) path;
	(void) input;
#endif
}

/* 15: a custom scan says that it can project; before, every one must. */
static inline uint32
emogi_compat_projects(void)
{
#if PG_VERSION_NUM >= 150000
	return CUSTOMPATH_SUPPORT_PROJECTION;
#else
	return 0;
#endif
}

/* 16: one aclcheck for all kinds of object. */
static inline AclResult
emogi_compat_may_execute(Oid function)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE);
#else
	return pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE);
#endif
}

/* 18: a plan is run in one way, again and again. */
#if PG_VERSION_NUM >= 180000
#define EMOGI_EXECUTOR_RUN_PARAMETERS \
	QueryDesc *query, ScanDirection direction, uint64 count
#define EMOGI_EXECUTOR_RUN_ARGUMENTS	query, direction, count
#else
#define EMOGI_EXECUTOR_RUN_PARAMETERS \
	QueryDesc *query, ScanDirection direction, uint64 count, bool once
#define EMOGI_EXECUTOR_RUN_ARGUMENTS	query, direction, count, once
#endif

/*
 * 16: relation files have another type. Pin a page where it was last; false when it is not there
 * any more.
 */
static inline bool
emogi_compat_read_recent(Relation rel, BlockNumber block, Buffer buffer)
{
#if PG_VERSION_NUM >= 160000
	return ReadRecentBuffer(rel->rd_locator, MAIN_FORKNUM, block, buffer);
#else
	return ReadRecentBuffer(rel->rd_node, MAIN_FORKNUM, block, buffer);
#endif
}

/* 19: whoever reads a page may set its bits in the visibility map. Before, is that VACUUM alone? */
static inline bool
emogi_compat_only_vacuum_sets_bits(void)
{
	return PG_VERSION_NUM < 190000;
}

/* 16: the names of fields. Was the file of a table made by the own transaction? */
static inline bool
emogi_compat_has_own_file(Relation rel)
{
#if PG_VERSION_NUM >= 160000
	return rel->rd_createSubid != InvalidSubTransactionId ||
		rel->rd_firstRelfilelocatorSubid != InvalidSubTransactionId;
#else
	return rel->rd_createSubid != InvalidSubTransactionId ||
		rel->rd_firstRelfilenodeSubid != InvalidSubTransactionId;
#endif
}

/* 17: old_snapshot_threshold is gone. May rows that old snapshots see be removed? */
static inline bool
emogi_compat_snapshots_age(void)
{
#if PG_VERSION_NUM < 170000
	return OldSnapshotThresholdActive();
#else
	return false;
#endif
}

/* ---- what analysis/ needs of analysed queries ---- */

/* 15: the name. Analyse and rewrite a statement without parameters. */
static inline List *
emogi_compat_analyze(RawStmt *statement, const char *text, const Oid *types, int ntypes)
{
#if PG_VERSION_NUM >= 150000
	return pg_analyze_and_rewrite_fixedparams(statement, text, types, ntypes, NULL);
#else
	return pg_analyze_and_rewrite(statement, text, unconstify(Oid *, types), ntypes, NULL);
#endif
}

/* 15: likewise. Analyse and rewrite the body of a function in SQL. */
static inline List *
emogi_compat_analyze_body(RawStmt *statement, const char *text, SQLFunctionParseInfoPtr info)
{
#if PG_VERSION_NUM >= 150000
	return pg_analyze_and_rewrite_withcb(statement, text, (ParserSetupHook) sql_fn_parser_setup,
										 info, NULL);
#else
	return pg_analyze_and_rewrite_params(statement, text, (ParserSetupHook) sql_fn_parser_setup,
										 info, NULL);
#endif
}

/*
 * 16: permissions live beside the range table. May the executor do what one level of a query does?
 * Raises nothing.
 */
static inline bool
emogi_compat_may_do(Query *query)
{
#if PG_VERSION_NUM >= 160000
	return ExecCheckPermissions(query->rtable, query->rteperminfos, false);
#else
	return ExecCheckRTPerms(query->rtable, false);
#endif
}

/*
 * 16: what is left of a view in its place keeps its name; before, it stands beside it as a
 * relation. InvalidOid when it is none.
 */
static inline Oid
emogi_compat_view_of(const RangeTblEntry *entry)
{
#if PG_VERSION_NUM >= 160000
	return entry->rtekind == RTE_SUBQUERY ? entry->relid : InvalidOid;
#else
	(void) entry;
	return InvalidOid;
#endif
}

/*
 * 18: GROUP BY has an entry of its own. Is an entry one that reads nothing, but for what hangs on
 * it?
 */
static inline bool
emogi_compat_reads_nothing(RTEKind kind)
{
#if PG_VERSION_NUM >= 180000
	if (kind == RTE_GROUP)
		return true;
#endif
	return kind == RTE_SUBQUERY || kind == RTE_JOIN || kind == RTE_FUNCTION || kind == RTE_VALUES ||
		kind == RTE_CTE ||
		kind == RTE_RESULT;
}

/* 17: nodeToString leaves the places in the text out by itself. */
static inline bool
emogi_compat_writes_locations(void)
{
	return PG_VERSION_NUM < 170000;
}

/* 18: a plan is run in one way. Run it to its end. */
static inline void
emogi_compat_run(QueryDesc *query)
{
#if PG_VERSION_NUM >= 180000
	ExecutorRun(query, ForwardScanDirection, 0);
#else
	ExecutorRun(query, ForwardScanDirection, 0, true);
#endif
}

/* ---- what pages.c needs of heaps ---- */

/*
 * 17: a sequential scan reads its pages through a stream, which takes them of the blocks that
 * parallel workers share. Get the next page of a parallel scan, pinned; InvalidBuffer at the end.
 */
static inline Buffer
emogi_compat_next_page(HeapScanDesc scan)
{
#if PG_VERSION_NUM >= 170000
	return read_stream_next_buffer(scan->rs_read_stream, NULL);
#else
	Relation	rel = scan->rs_base.rs_rd;
	ParallelBlockTableScanDesc shared = (ParallelBlockTableScanDesc) scan->rs_base.rs_parallel;
	BlockNumber block;

	if (!scan->rs_inited)
		table_block_parallelscan_startblock_init(rel, scan->rs_parallelworkerdata, shared);
	scan->rs_inited = true;
	block = table_block_parallelscan_nextpage(rel, scan->rs_parallelworkerdata, shared);
	if (block == InvalidBlockNumber)
		return InvalidBuffer;
	return ReadBufferExtended(rel, MAIN_FORKNUM, block, RBM_NORMAL, scan->rs_strategy);
#endif
}

/*
 * 17: snapshots no longer grow too old. Raises 72000 when rows that this one may see have gone from
 * a page.
 */
static inline void
emogi_compat_check_snapshot_age(Snapshot snapshot, Relation rel, Page page)
{
#if PG_VERSION_NUM < 170000
	TestForOldSnapshot(snapshot, rel, page);
#else
	(void) snapshot;
	(void) rel;
	(void) page;
#endif
}

/*
 * 15: counts are set up on first use; 16: the names of fields. Count rows that a sequential scan
 * has returned.
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

/* 18: an argument more, for EXPLAIN. Begin to read an index by some keys. */
static inline IndexScanDesc
emogi_compat_begin_index(Relation heap, Relation index, Snapshot snapshot, int nkeys)
{
#if PG_VERSION_NUM >= 180000
	return index_beginscan(heap, index, snapshot, NULL, nkeys, 0);
#else
	return index_beginscan(heap, index, snapshot, nkeys, 0);
#endif
}

/* 18: what is grouped by is an item of the range table of its own. NIL = this is none. */
static inline List *
emogi_compat_grouped(const RangeTblEntry *entry)
{
#if PG_VERSION_NUM >= 180000
	return entry->rtekind == RTE_GROUP ? entry->groupexprs : NIL;
#else
	(void) entry;
	return NIL;
#endif
}

/*
 * Write the first `size` bytes at most of the sort key of a string in a collation; get how many it
 * has, and then what was written is of no meaning if they are more. 0 = there is none to be had.
 * 16: pg_strxfrm, which is for ICU: PostgreSQL does not trust the C library.
 */
static inline size_t
emogi_compat_sort_key(char *to, const char *string, size_t size, Oid collation)
{
	pg_locale_t locale = pg_newlocale_from_collation(collation);

	if (locale == NULL)
		return strxfrm(to, string, size);
	if (locale->provider == COLLPROVIDER_LIBC)
		return strxfrm_l(to, string, size, locale->info.lt);
#if PG_VERSION_NUM >= 160000
	if (locale->provider == COLLPROVIDER_ICU)
		return pg_strxfrm(to, string, size, locale);
#endif
	return 0;
}

#endif							/* EMOGI_COMPAT_H */
