/*
 * compat_planner.h: differences between PostgreSQL 14 .. 19: parsing, rewriting and planning
 *
 * A comment's leading number is the major version that introduced the change.
 */
#ifndef EMOGI_COMPAT_PLANNER_H
#define EMOGI_COMPAT_PLANNER_H

#include "postgres.h"

#include "executor/functions.h"
#include "nodes/extensible.h"
#include "optimizer/paths.h"
#include "parser/parser.h"
#include "parser/scanner.h"
#include "rewrite/rewriteManip.h"
#include "tcop/tcopprot.h"

/* 15: columns of ROW(...) returned by a sub-query can be named f1, f2 and so on. */
#if PG_VERSION_NUM >= 150000
#define EMOGI_HAS_FIELDS_OF_ROWS 1
#else
#define EMOGI_HAS_FIELDS_OF_ROWS 0
#endif

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

#endif							/* EMOGI_COMPAT_PLANNER_H */
