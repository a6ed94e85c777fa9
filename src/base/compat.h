/*
 * compat.h: differences between PostgreSQL 14 .. 19. No other file has a version #if.
 *
 * A comment's leading number is the major version that introduced the change.
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
#include "commands/explain_state.h"
#endif
#include "executor/executor.h"
#include "executor/functions.h"
#if PG_VERSION_NUM >= 190000
#include "executor/instrument.h"
#endif
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "optimizer/paths.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
#include "parser/scanner.h"
#include "pgstat.h"
#include "postmaster/interrupt.h"
#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteManip.h"
#include "storage/bufmgr.h"
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif
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
#include "utils/guc_tables.h"
#include "utils/lsyscache.h"
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

/* 17: shared memory can be requested at any time, by name. Can emogi run without preloading? */
#if PG_VERSION_NUM >= 170000
#define EMOGI_HAS_DSM_REGISTRY 1
#else
#define EMOGI_HAS_DSM_REGISTRY 0
#endif

/* 19: the callback gets an argument, here the callback of older versions. */
#if PG_VERSION_NUM >= 190000
static inline void
emogi_compat_init_segment(void *segment, void *init)
{
	(*(void (**) (void *)) init) (segment);
}
#endif

/* Get the segment of a name in the DSM registry; `init` initializes a new one. */
static inline void *
emogi_compat_named_segment(const char *name, Size bytes, void (*init) (void *))
{
	bool		found;

#if PG_VERSION_NUM >= 190000
	return GetNamedDSMSegment(name, bytes, emogi_compat_init_segment, &found, (void *) &init);
#elif PG_VERSION_NUM >= 170000
	return GetNamedDSMSegment(name, bytes, init, &found);
#else
	(void) found;
	elog(ERROR, "there is no DSM registry");
#endif
}

/* 19: a tranche of locks is named when it is made. */
static inline int
emogi_compat_new_tranche(const char *name)
{
#if PG_VERSION_NUM >= 190000
	return LWLockNewTrancheId(name);
#else
	return LWLockNewTrancheId();
#endif
}

/* Name a tranche of locks in this process. */
static inline void
emogi_compat_register_tranche(int tranche, const char *name)
{
#if PG_VERSION_NUM < 190000
	LWLockRegisterTranche(tranche, name);
#endif
}

/* 17: a setting may be set in a parallel query, as when the library is loaded there. */
#if PG_VERSION_NUM >= 170000
#define EMOGI_ALLOW_IN_PARALLEL GUC_ALLOW_IN_PARALLEL
#else
#define EMOGI_ALLOW_IN_PARALLEL 0
#endif

/* 15: columns of ROW(...) returned by a sub-query can be named f1, f2 and so on. */
#if PG_VERSION_NUM >= 150000
#define EMOGI_HAS_FIELDS_OF_ROWS 1
#else
#define EMOGI_HAS_FIELDS_OF_ROWS 0
#endif

/* 15: renamed. Reserve emogi's prefix, so that a misspelt emogi.* setting is reported. */
static inline void
emogi_compat_reserve_prefix(const char *prefix)
{
#if PG_VERSION_NUM >= 150000
	MarkGUCPrefixReserved(prefix);
#else
	EmitWarningsOnPlaceholders(prefix);
#endif
}

/* 19: signal handlers have the type of pqsignal's, of which SIG_IGN is none. */
#if PG_VERSION_NUM < 190000
#define PG_SIG_IGN	SIG_IGN
#endif

/* 19: signal handlers get the sender. Ask the process to exit, from a handler of `signo`. */
static inline void
emogi_compat_request_shutdown(int signo)
{
#if PG_VERSION_NUM >= 190000
	SignalHandlerForShutdownRequest(signo, NULL);
#else
	SignalHandlerForShutdownRequest(signo);
#endif
}

/* 16: the `extra` of a check hook is allocated by guc_malloc. */
static inline void *
emogi_compat_guc_malloc(size_t bytes)
{
#if PG_VERSION_NUM >= 160000
	return guc_malloc(LOG, bytes);
#else
	return malloc(bytes);
#endif
}

/* 18: the locale has a flag. Does a collation order strings as memcmp does? */
static inline bool
emogi_compat_collates_bytes(Oid collation)
{
#if PG_VERSION_NUM >= 180000
	return pg_newlocale_from_collation(collation)->collate_is_c;
#else
	return lc_collate_is_c(collation);
#endif
}

/* 17: extensions can name their wait events; before, all are shown as "Extension". */
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

/* 16: one aclcheck function for all kinds of objects. Check USAGE on a schema. */
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
 * 16: permissions are no longer in the range table entry. Raise 42501 as a SELECT of these columns
 * would.
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

/* 16: likewise. Raise 42501 as execution of a plan would; planning alone checks no privileges. */
static inline void
emogi_compat_check_plan(PlannedStmt *plan)
{
#if PG_VERSION_NUM >= 160000
	ExecCheckPermissions(plan->rtable, plan->permInfos, true);
#else
	ExecCheckRTPerms(plan->rtable, true);
#endif
}

/*
 * 16: one ownercheck function for all kinds of objects. Is the current user the owner of a
 * relation?
 */
static inline bool
emogi_compat_owns_relation(Oid relid)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, relid, GetUserId());
#else
	return pg_class_ownercheck(relid, GetUserId());
#endif
}

/* 18: a generated column may be virtual. Is a column stored in the tuple? */
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

/*
 * 18: generated columns may be virtual. Return the expression of a virtual column; NULL = it is
 * stored.
 */
static inline Node *
emogi_compat_virtual_expression(Relation rel, AttrNumber attnum)
{
#if PG_VERSION_NUM >= 180000
	if (!emogi_compat_is_stored(TupleDescAttr(RelationGetDescr(rel), attnum - 1)))
		return build_generation_expression(rel, attnum);
#endif
	return NULL;
}

/*
 * 17: the struct was renamed. Return the oldest xid in the commit log. The caller holds
 * XactTruncationLock.
 */
static inline TransactionId
emogi_compat_oldest_clog_xid(void)
{
#if PG_VERSION_NUM >= 170000
	return TransamVariables->oldestClogXid;
#else
	return ShmemVariableCache->oldestClogXid;
#endif
}

/* 16: relfilenode was renamed to relfilenumber. */
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
 * 17: LockHeldByMe got an argument that includes stronger modes. Does the current transaction hold
 * exactly this lock on a table? CheckRelationOidLockedByMe would do, but the first minor releases
 * of 14, 15 and 16 lack it.
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

/* 18: any number of fast-path slots, in groups. Return the number of slots. */
static inline int
emogi_compat_fast_path_slots(void)
{
#if PG_VERSION_NUM >= 180000
	return FastPathLockSlotsPerBackend();
#else
	return FP_LOCK_SLOTS_PER_BACKEND;
#endif
}

/* Return the modes of the own fast-path lock in slot n, as a mask of three bits. */
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
 * 16: dlist instead of SHM_QUEUE. Return the own lock after this one (NULL = the first) in a
 * partition; NULL at the end.
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
 * Call a function, which must not take locks, for each table of this database that the current
 * transaction has locked in one of these modes; for some tables more than once. Fast-path locks are
 * read first: if another process moves one to the main table meanwhile, it is there before its
 * fast-path bit is cleared. Shared relations are skipped.
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
		 * Read without a lock: other processes only add entries moved from the fast path, which was
		 * read under its lock.
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

/*
 * 17: a wait event set belongs to a resource owner. Create one with room for `count` events; the
 * caller frees it.
 */
static inline WaitEventSet *
emogi_compat_make_events(int count)
{
#if PG_VERSION_NUM >= 170000
	return CreateWaitEventSet(NULL, count);
#else
	return CreateWaitEventSet(CurrentMemoryContext, count);
#endif
}

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
 * 16: settings are in a hash table; 19: those of all types are in one. Have a function called when
 * a value is assigned to a setting of the server, which is on or off, in this process and those
 * that it forks; return the function that was called before, or NULL.
 */
static inline GucBoolAssignHook
emogi_compat_watch_setting(const char *name, GucBoolAssignHook hook)
{
	GucBoolAssignHook *place;
	GucBoolAssignHook previous;

#if PG_VERSION_NUM >= 190000
	place = &find_option(name, false, false, ERROR)->_bool.assign_hook;
#elif PG_VERSION_NUM >= 160000
	place = &((struct config_bool *) find_option(name, false, false, ERROR))->assign_hook;
#else
	struct config_generic **settings = get_guc_variables();
	int			i = 0;

	while (strcmp(settings[i]->name, name) != 0)
		i++;
	place = &((struct config_bool *) settings[i])->assign_hook;
#endif
	previous = *place;
	*place = hook;
	return previous;
}

/* Before 19: strings may be set to treat backslashes as escapes. */
static inline bool
emogi_compat_standard_strings(void)
{
#if PG_VERSION_NUM >= 190000
	return true;
#else
	return standard_conforming_strings;
#endif
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
 * 15: InitMaterializedSRF. Begin a set-returning function that fills a tuplestore. Rows have the
 * type that the caller expects, because looking up the function's own row type leaks memory for
 * each call of a statement.
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
 * 16: without a set of nullable relations. Return the pathkeys of one expression in ascending
 * order; NIL if they are not useful.
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

/* 18: a comparison type instead of a btree strategy. Is a pathkey descending? */
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
 * 16: Vars record which outer joins may have nulled them. Mark the Vars of a join's inner relation
 * in expressions as they are marked in the join's target. If outer joins have changed places, these
 * are more than the join itself.
 */
static inline List *
emogi_compat_below_join(List *expressions, const RelOptInfo *inner, const RelOptInfo *joinrel,
						const SpecialJoinInfo *join)
{
#if PG_VERSION_NUM >= 160000
	Relids		nulling = join->ojrelid != 0 ? bms_make_singleton(join->ojrelid) : NULL;
	ListCell   *cell;

	foreach(cell, joinrel->reltarget->exprs)
	{
		const Var  *var = lfirst(cell);

		if (IsA(var, Var) && bms_is_member(var->varno, inner->relids))
			nulling = var->varnullingrels;
	}
	if (nulling != NULL)
		return (List *) add_nulling_relids((Node *) expressions, inner->relids, nulling);
#else
	(void) inner;
	(void) joinrel;
	(void) join;
#endif
	return expressions;
}

/*
 * 18: disabled nodes are counted instead of being made expensive. Add the count of a path's input.
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

/* 15: a custom scan declares that it can project; before, every one must. */
static inline uint32
emogi_compat_projects(void)
{
#if PG_VERSION_NUM >= 150000
	return CUSTOMPATH_SUPPORT_PROJECTION;
#else
	return 0;
#endif
}

/* 16: one aclcheck function for all kinds of objects. Check EXECUTE on a function. */
static inline AclResult
emogi_compat_may_execute(Oid function)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE);
#else
	return pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE);
#endif
}

/* 18: ExecutorRun has no parameter execute_once any more. */
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
 * 16: RelFileLocator. Pin a page in the buffer where it was last; false if it is not there any
 * more.
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

/* 19: any reader of a page may set bits in the visibility map. Does only VACUUM set them? */
static inline bool
emogi_compat_only_vacuum_sets_bits(void)
{
	return PG_VERSION_NUM < 190000;
}

/* 16: fields were renamed. Was the file of a table created by the current transaction? */
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

/* 17: old_snapshot_threshold was removed. May rows that old snapshots see be removed? */
static inline bool
emogi_compat_snapshots_age(void)
{
#if PG_VERSION_NUM < 170000
	return OldSnapshotThresholdActive();
#else
	return false;
#endif
}

/* ---- analysis/: parsing and rewriting of queries ---- */

/* 15: renamed. Analyze and rewrite a statement without parameters. */
static inline List *
emogi_compat_analyze(RawStmt *statement, const char *text, const Oid *types, int ntypes)
{
#if PG_VERSION_NUM >= 150000
	return pg_analyze_and_rewrite_fixedparams(statement, text, types, ntypes, NULL);
#else
	return pg_analyze_and_rewrite(statement, text, unconstify(Oid *, types), ntypes, NULL);
#endif
}

/* 19: another argument, for EXPLAIN. Plan a query without parameters, in parallel if that pays. */
static inline PlannedStmt *
emogi_compat_plan(Query *query, const char *text)
{
#if PG_VERSION_NUM >= 190000
	return pg_plan_query(query, text, CURSOR_OPT_PARALLEL_OK, NULL, NULL);
#else
	return pg_plan_query(query, text, CURSOR_OPT_PARALLEL_OK, NULL);
#endif
}

/* 19: the warning was removed. Do not warn of backslashes in the strings that a scanner reads. */
static inline void
emogi_compat_accept_backslashes(core_yy_extra_type *scanner)
{
#if PG_VERSION_NUM < 190000
	scanner->escape_string_warning = false;
#else
	(void) scanner;
#endif
}

/* 15: likewise. Analyze and rewrite the body of an SQL function. */
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
 * 16: permissions are no longer in the range table entry. Does the caller have the privileges for
 * one level of a query? Raises nothing.
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
 * 16: an expanded view keeps its OID in its subquery entry; before, it has a relation entry of its
 * own. Return the view's OID, InvalidOid if the entry is not a view.
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
 * 18: GROUP BY has an entry of its own. Does a range table entry read nothing by itself, apart from
 * its subexpressions?
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

/* 17: nodeToString omits parse locations. Does it write them? */
static inline bool
emogi_compat_writes_locations(void)
{
	return PG_VERSION_NUM < 170000;
}

/* 18: ExecutorRun has no parameter execute_once any more. Run a plan to completion. */
static inline void
emogi_compat_run(QueryDesc *query)
{
#if PG_VERSION_NUM >= 180000
	ExecutorRun(query, ForwardScanDirection, 0);
#else
	ExecutorRun(query, ForwardScanDirection, 0, true);
#endif
}

/* ---- pages.c: heap scans ---- */

/*
 * 17: a sequential scan reads its pages through a read stream, which takes them from the blocks
 * shared by parallel workers. Return the next page of a parallel scan, pinned; InvalidBuffer at the
 * end.
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
 * 17: no "snapshot too old" errors. Raise 72000 if rows that the snapshot may see have been removed
 * from a page.
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

/* 19: flags of the scan. Take part in a parallel scan of a table. */
static inline TableScanDesc
emogi_compat_begin_parallel(Relation rel, ParallelTableScanDesc shared)
{
#if PG_VERSION_NUM >= 190000
	return table_beginscan_parallel(rel, shared, SO_NONE);
#else
	return table_beginscan_parallel(rel, shared);
#endif
}

/*
 * 19: pruning can also set the page's bits of the visibility map, but does not here. Prune a
 * pinned, unlocked page if that is useful.
 */
static inline void
emogi_compat_prune(Relation rel, Buffer buffer)
{
#if PG_VERSION_NUM >= 190000
	Buffer		map = InvalidBuffer;

	heap_page_prune_opt(rel, buffer, &map, false);
	if (BufferIsValid(map))
		ReleaseBuffer(map);
#else
	heap_page_prune_opt(rel, buffer);
#endif
}

/* 18: another argument, for EXPLAIN; 19: flags. Begin an index scan with a number of keys. */
static inline IndexScanDesc
emogi_compat_begin_index(Relation heap, Relation index, Snapshot snapshot, int nkeys)
{
#if PG_VERSION_NUM >= 190000
	return index_beginscan(heap, index, snapshot, NULL, nkeys, 0, SO_NONE);
#elif PG_VERSION_NUM >= 180000
	return index_beginscan(heap, index, snapshot, NULL, nkeys, 0);
#else
	return index_beginscan(heap, index, snapshot, nkeys, 0);
#endif
}

/*
 * 18: GROUP BY expressions have a range table entry of their own. Return them; NIL if the entry is
 * not of that kind.
 */
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
 * Write at most `size` bytes of a string's sort key in a collation. Return the key's length; if it
 * exceeds `size`, the written bytes are undefined. 0 = no sort key available. 16: pg_strxfrm, used
 * for ICU only because PostgreSQL does not trust the C library. 19: the provider is private to the
 * locale; all of them have pg_strxfrm.
 */
static inline size_t
emogi_compat_sort_key(char *to, const char *string, size_t size, Oid collation)
{
	pg_locale_t locale = pg_newlocale_from_collation(collation);

#if PG_VERSION_NUM >= 190000
	return locale->collate_is_c ? 0 : pg_strxfrm(to, string, size, locale);
#else
	if (locale == NULL)
		return strxfrm(to, string, size);
	if (locale->provider == COLLPROVIDER_LIBC)
		return strxfrm_l(to, string, size, locale->info.lt);
#if PG_VERSION_NUM >= 160000
	if (locale->provider == COLLPROVIDER_ICU)
		return pg_strxfrm(to, string, size, locale);
#endif
	return 0;
#endif
}

/*
 * 18: extensions can add options to EXPLAIN; 19: a setting of auto_explain can name them. Define a
 * Boolean option, and return the number under which its state is kept.
 */
static inline int
emogi_compat_define_explain_option(const char *name,
								   void (*handler) (ExplainState *, DefElem *, ParseState *))
{
#if PG_VERSION_NUM >= 190000
	RegisterExtensionExplainOption(name, handler, GUCCheckBooleanExplainOption);
	return GetExplainExtensionId(name);
#elif PG_VERSION_NUM >= 180000
	RegisterExtensionExplainOption(name, handler);
	return GetExplainExtensionId(name);
#else
	(void) name;
	(void) handler;
	return 0;
#endif
}

/* 18: likewise. Get the state of an option in an EXPLAIN; NULL = not given. */
static inline void *
emogi_compat_get_explain_state(const ExplainState *es, int id)
{
#if PG_VERSION_NUM >= 180000
	return GetExplainExtensionState(unconstify(ExplainState *, es), id);
#else
	(void) es;
	(void) id;
	return NULL;
#endif
}

/* 18: likewise. Set it. */
static inline void
emogi_compat_set_explain_state(ExplainState *es, int id, void *state)
{
#if PG_VERSION_NUM >= 180000
	SetExplainExtensionState(es, id, state);
#else
	(void) es;
	(void) id;
	(void) state;
#endif
}

/*
 * Get the setting timezone_abbreviations, which has no exported variable. GetConfigOption searches
 * all settings by name.
 */
static inline const char *
emogi_compat_zone_abbreviations(void)
{
	static char **variable = NULL;

#if PG_VERSION_NUM >= 190000
	if (variable == NULL)
		variable = find_option("timezone_abbreviations", false, false, ERROR)->_string.variable;
#elif PG_VERSION_NUM >= 160000
	if (variable == NULL)
		variable = ((struct config_string *) find_option("timezone_abbreviations", false, false,
														 ERROR))->variable;
#else
	for (int i = 0; variable == NULL && i < GetNumConfigOptions(); i++)
		if (strcmp(get_guc_variables()[i]->name, "timezone_abbreviations") == 0)
			variable = ((struct config_string *) get_guc_variables()[i])->variable;
#endif
	return variable != NULL ? *variable : NULL;
}

#endif							/* EMOGI_COMPAT_H */
