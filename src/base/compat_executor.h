/*
 * compat_executor.h: differences between PostgreSQL 14 .. 19: execution of plans, and EXPLAIN
 *
 * A comment's leading number is the major version that introduced the change.
 */
#ifndef EMOGI_COMPAT_EXECUTOR_H
#define EMOGI_COMPAT_EXECUTOR_H

#include "postgres.h"

#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#endif
#if PG_VERSION_NUM >= 180000
#include "commands/explain_state.h"
#endif
#include "executor/executor.h"
#if PG_VERSION_NUM >= 190000
#include "executor/instrument.h"
#endif
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "parser/parse_relation.h"
#include "utils/rel.h"

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

/* 19: a row descriptor that was filled in must be finished before it is used. */
#if PG_VERSION_NUM < 190000
#define TupleDescFinalize(desc)	((void) (desc))
#endif

#endif							/* EMOGI_COMPAT_EXECUTOR_H */
