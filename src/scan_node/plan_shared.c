/*
 * plan_shared.c: the path of a scan whose rows parallel workers read
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "function/cursor.h"
#include "scan_node/call_expr.h"
#include "scan_node/plan.h"

/* Bytes of a table row with two columns */
#define TABLE_ROW_BYTES 44

/*
 * Does the query, or one around it, have a one-time filter, or a LIMIT that may change between
 * rescans?
 */
static bool
may_stop(const PlannerInfo *root)
{
	for (; root != NULL; root = root->parent_root)
	{
		const Node *const limits[] = {root->parse->limitCount, root->parse->limitOffset};

		if (root->hasPseudoConstantQuals)
			return true;
		for (int i = 0; i < (int) lengthof(limits); i++)
			if (limits[i] != NULL && !IsA(limits[i], Const))
				return true;
	}
	return false;
}

/*
 * May a call be made in parallel mode, where code of a foreign data wrapper or in an edge query may
 * fail?
 *
 * For a table, yes. For a query or view, only if its graph is cached, no value in it depends on
 * this call, and nothing in it is marked parallel unsafe. *depends: what the answer depends on.
 */
static bool
may_call_in_parallel(const FuncExpr *call, const EmogiAlgorithmRow *function,
					 EmogiQuerySize *depends)
{
	EmogiSource source;
	char		kind;

	*depends = (EmogiQuerySize) {0};
	if (emogi_call_expr_query(call, function->algorithm, &source))
		return emogi_query_size_get(&source, depends) && depends->is_cached && !depends->is_unsafe;
	if (!emogi_call_expr_source(call, function->algorithm, &source))
		return false;
	kind = get_rel_relkind(source.relid);
	if (kind == RELKIND_VIEW)
		return emogi_query_size_get(&source, depends) && depends->is_cached && !depends->is_unsafe;
	depends->relations = list_make1_oid(source.relid);
	return kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE || kind == RELKIND_MATVIEW;
}

/* Does a call run a query of start values? */
static bool
has_query(const FuncExpr *call, const EmogiAlgorithmRow *function)
{
	const int	place = emogi_algorithm_takes(function, EMOGI_TELEPORT);
	const Const *argument = place >= 0 ? list_nth(call->args, place + 1) : NULL;

	return emogi_algorithm_takes(function, EMOGI_START) >= 0 ||
		(argument != NULL && !(IsA(argument, Const) && argument->constisnull));
}

/*
 * May parallel workers read the rows?
 *
 * The leader makes the call in parallel mode, which excludes queries of start values. Members of a
 * UNION ALL have no parallel paths of their own. The call is made before the first row is
 * requested, so there must be no one-time filter that could make it unnecessary. If a LIMIT
 * changes, workers keep using its first value (PostgreSQL 15, ExecParallelReinitialize).
 */
static bool
may_share_rows(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call,
			   const EmogiAlgorithmRow *function, EmogiQuerySize *depends)
{
	return !(!root->glob->parallelModeOK || may_stop(root) || rel->reloptkind != RELOPT_BASEREL ||
			 !bms_is_empty(rel->lateral_relids) || has_query(call, function) ||
			 !is_parallel_safe(root, (Node *) call->args) ||
			 !is_parallel_safe(root, (Node *) rel->baserestrictinfo) ||
			 !is_parallel_safe(root, (Node *) rel->reltarget->exprs) ||
			 emogi_plan_chooses_vertices(root, rel, function)) &&
		may_call_in_parallel(call, function, depends);
}

/*
 * Add the path whose rows parallel workers read, if allowed, with as many workers as for a table of
 * that size. The plan then depends on the current definitions of the graph's relations and
 * functions, and on the role.
 */
void
emogi_plan_add_shared(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call,
					  const EmogiAlgorithmRow *function)
{
	int			nworkers = compute_parallel_worker(rel, rel->tuples * TABLE_ROW_BYTES / BLCKSZ, -1,
												   max_parallel_workers_per_gather);
	double		leader_share = parallel_leader_participation ? Max(1 - 0.3 * nworkers, 0) : 0;
	EmogiQuerySize depends;
	ListCell   *cell;
	CustomPath *path;

	if (nworkers == 0 || !may_share_rows(root, rel, call, function, &depends))
		return;
	path = emogi_plan_make_path(root, rel, NULL);
	path->path.parallel_aware = path->path.parallel_safe = true;
	path->path.parallel_workers = nworkers;
	path->path.rows = clamp_row_est(rel->rows / (nworkers + leader_share));
	emogi_plan_set_costs(root, rel, call, rel->tuples, nworkers + leader_share, &path->path);
	root->glob->relationOids = list_concat_unique_oid(root->glob->relationOids, depends.relations);
	foreach(cell, depends.functions)
		record_plan_function_dependency(root, lfirst_oid(cell));
	root->glob->dependsOnRole = true;
	rel->consider_parallel = true;
	add_partial_path(rel, (Path *) path);
}
