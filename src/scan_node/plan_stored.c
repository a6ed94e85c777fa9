/*
 * plan_stored.c: planning of scans for functions that store all their rows: paths of many pairs,
 * cycles, and functions that return one number
 *
 * The scan (stored_scan.c) executes the function as a FunctionScan does, and costs the same. It is
 * planned for EXPLAIN, which shows the graph of the call.
 */
#include "postgres.h"

#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"

#include "scan_node/call_expr.h"
#include "scan_node/plan.h"
#include "base/compat.h"

/* Make the plan of a path: it has all columns of the function, in order. */
static Plan *
plan_stored(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
			List *children)
{
	CustomScan *scan = makeNode(CustomScan);

	scan->custom_exprs =
		list_make1(copyObject(emogi_call_expr_of_stored(planner_rt_fetch(rel->relid, root))));
	scan->custom_private = list_make5(emogi_plan_mark(), NIL, NIL, NIL, NIL);
	scan->custom_scan_tlist = build_physical_tlist(root, rel);
	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = extract_actual_clauses(clauses, false);
	scan->scan.scanrelid = 0;
	scan->flags = path->flags;
	scan->methods = &emogi_scan_methods;
	return (Plan *) scan;
}

static const CustomPathMethods path_methods = {.CustomName = "EmogiScan",
											   .PlanCustomPath = plan_stored};

/* Replace the path of the FunctionScan of a call that stores all its rows, if possible. */
void
emogi_plan_stored_replace(RelOptInfo *rel, const RangeTblEntry *rte)
{
	const FuncExpr *call = emogi_call_expr_of_stored(rte);
	const Path *replaced;
	CustomPath *path;

	if (call == NULL || list_length(rel->pathlist) != 1 || rel->partial_pathlist != NIL ||
		emogi_unused_names_uses_column(rel, InvalidAttrNumber) ||
		contain_subplans((Node *) call->args))
		return;
	replaced = linitial(rel->pathlist);
	path = makeNode(CustomPath);
	path->path = *replaced;
	path->path.type = T_CustomPath;
	path->path.pathtype = T_CustomScan;
	path->path.parallel_aware = path->path.parallel_safe = false;
	path->path.pathkeys = NIL;
	path->flags = emogi_compat_projects() | CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	path->methods = &path_methods;
	rel->pathlist = NIL;
	add_path(rel, (Path *) path);
}
