/*
 * lateral.c: BFS for each row of an outer relation, many at once: what the planner sees.
 *
 *   SELECT ... FROM sources s, LATERAL emogi_bfs('edges', s.vertex) b
 *
 * A nested loop would run one search after the other. Where the source is all that comes from the outer rows, a
 * CustomScan in the loop's place (batch.c) takes EMOGI_MSBFS_SOURCES outer rows at a time and searches from all of them
 * in one pass over the Graph. Rows come in the order of the nested loop.
 *
 * It reads ahead in the outer relation, as a hash join does. Outer joins are left to the nested loop.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"

#include "scan_node/call_expr.h"
#include "scan_node/plan.h"
#include "server/compat.h"

/* A pass for 64 sources against one for a single source, by measurement: of all its time, not only that of edges. */
#define PASS_COST 8

static set_join_pathlist_hook_type previous_set_join_pathlist_hook = NULL;

/* Does this use nothing of the query's relations, and give the same whenever it is computed? */
static bool
is_fixed(PlannerInfo *root, Node *node)
{
	return bms_is_empty(pull_varnos(root, node)) && !contain_volatile_functions(node) && !contain_subplans(node);
}

/* Is a source of this type one vertex? Text may be several, of a graph whose keys are integers or not known. */
static bool
is_one_vertex(const FuncExpr *call, const EmogiAlgorithmRow *function, Oid type)
{
	EmogiKeyType key;

	if (type != TEXTOID)
		return type == INT8OID || type == UUIDOID;
	return emogi_call_expr_key(call, function->algorithm, &key) && key.class != EMOGI_KEY_INTEGER;
}

/* Is this a call of a function with multi-source searches (emogi_bfs), with one source, of which nothing but the source comes from other relations? */
static bool
is_batchable(PlannerInfo *root, const FuncExpr *call, const EmogiAlgorithmRow *function)
{
	Node	   *source;

	if ((function->traits & EMOGI_HAS_MSBFS) == 0)
		return false;
	source = lsecond(call->args);
	return is_one_vertex(call, function, exprType(source)) && !contain_volatile_functions(source) &&
		is_fixed(root, linitial(call->args)) && is_fixed(root, (Node *) list_copy_tail(call->args, 2));
}

/* Is there a clause that holds or not for all rows? Gates are made for joins, but not for what takes their place. */
static bool
has_gate(List *clauses)
{
	ListCell   *cell;

	foreach(cell, clauses)
		if (lfirst_node(RestrictInfo, cell)->pseudoconstant)
			return true;
	return false;
}

/*
 * Split clauses into those that a batch sees to itself and those that are checked for each row. A bound must be the same
 * for all outer rows; the vertices looked up need not.
 */
static void
split_clauses(PlannerInfo *root, const RelOptInfo *rel, const EmogiAlgorithmRow *function, List *clauses, CustomScan *scan,
			  List **quals, List **pushdowns)
{
	bool		has_vertices = false;
	ListCell   *cell;

	foreach(cell, clauses)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);
		EmogiCondition condition;

		if (!emogi_conditions_match(root, rel, function, clause, &condition) ||
			(condition.pushdown <= EMOGI_VERTEX_IN ? has_vertices : !is_fixed(root, (Node *) condition.operand)))
		{
			*quals = lappend(*quals, clause->clause);
			continue;
		}
		has_vertices |= condition.pushdown <= EMOGI_VERTEX_IN;
		if (!condition.exact)
			*quals = lappend(*quals, clause->clause);
		scan->custom_exprs = lappend(scan->custom_exprs, copyObject(condition.operand));
		*pushdowns = lappend_int(*pushdowns, condition.pushdown);
	}
}

/* Get the places of the columns that pushed-down conditions are about. */
static List *
condition_places(List *pushdowns)
{
	List	   *places = NIL;
	ListCell   *cell;

	foreach(cell, pushdowns)
		places = lappend_int(places, lfirst_int(cell) <= EMOGI_VERTEX_IN ? 0 : 1);
	return places;
}

/* Get their names. */
static List *
condition_names(const RangeTblEntry *rte, List *pushdowns)
{
	List	   *names = NIL;
	ListCell   *cell;

	foreach(cell, condition_places(pushdowns))
		names = lappend(names, makeString(pstrdup(strVal(list_nth(rte->eref->colnames, lfirst_int(cell))))));
	return names;
}

/*
 * Make the plan of a path. Its tuple is the outer plan's, then the columns of the function that are used; custom_private
 * as for a scan, with the number of the outer plan's columns in front.
 */
static Plan *
plan_batch(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *children)
{
	CustomScan *scan = makeNode(CustomScan);
	RelOptInfo *inner = linitial(path->custom_private);
	Plan	   *outer_plan = linitial(children);
	RangeTblEntry *rte = planner_rt_fetch(inner->relid, root);
	const EmogiAlgorithmRow *function;
	List	   *quals = NIL;
	List	   *columns = NIL;
	List	   *pushdowns = NIL;
	ListCell   *cell;

	scan->custom_exprs = list_make1(copyObject(emogi_call_expr_of(rte, &function)));
	split_clauses(root, inner, function, list_concat_copy(inner->baserestrictinfo, lsecond(path->custom_private)), scan,
				  &quals, &pushdowns);
	foreach(cell, outer_plan->targetlist)
		scan->custom_scan_tlist = lappend(scan->custom_scan_tlist,
										  makeTargetEntry(copyObject(lfirst_node(TargetEntry, cell)->expr),
														  list_length(scan->custom_scan_tlist) + 1, NULL, false));
	emogi_plan_add_columns(inner->relid, (Node *) path->path.pathtarget->exprs, &scan->custom_scan_tlist, &columns);
	emogi_plan_add_columns(inner->relid, (Node *) tlist, &scan->custom_scan_tlist, &columns);
	emogi_plan_add_columns(inner->relid, (Node *) quals, &scan->custom_scan_tlist, &columns);
	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = quals;
	scan->scan.scanrelid = 0;
	scan->flags = path->flags;
	scan->custom_plans = children;
	scan->custom_private = list_make5(columns, pushdowns, condition_names(rte, pushdowns), condition_places(pushdowns),
									  makeInteger(list_length(outer_plan->targetlist)));
	scan->methods = &emogi_batch_methods;
	return (Plan *) scan;
}

static const CustomPathMethods path_methods = {.CustomName = "EmogiBatch",.PlanCustomPath = plan_batch};

/* Add the path that searches from many outer rows at once. */
static void
add_batch_path(PlannerInfo *root, RelOptInfo *joinrel, Path *outer_path, RelOptInfo *inner, const FuncExpr *call,
			   const EmogiAlgorithmRow *function, List *clauses)
{
	CustomPath *path = makeNode(CustomPath);
	double		passes = ceil(outer_path->rows / EMOGI_MSBFS_SOURCES);
	double		inner_rows = inner->tuples * outer_path->rows;
	EmogiGraphSize size;
	QualCost	call_cost;
	QualCost	qual_cost;

	cost_qual_eval_node(&call_cost, (Node *) call, root);
	cost_qual_eval(&qual_cost, clauses, root);
	path->path.pathtype = T_CustomScan;
	path->path.parent = joinrel;
	path->path.pathtarget = joinrel->reltarget;
	path->path.pathkeys = build_join_pathkeys(root, joinrel, JOIN_INNER, outer_path->pathkeys);
	path->path.rows = joinrel->rows;
	path->path.startup_cost = outer_path->startup_cost + call_cost.startup + call_cost.per_tuple + qual_cost.startup;
	path->path.total_cost = path->path.startup_cost + (outer_path->total_cost - outer_path->startup_cost) +
		inner_rows * (EMOGI_ROW_COST + qual_cost.per_tuple) + joinrel->rows * joinrel->reltarget->cost.per_tuple;
	emogi_compat_add_disabled(&path->path, outer_path);
	if (emogi_size_find(call, function->algorithm, &size))
		path->path.total_cost += passes * PASS_COST * size.nedges * EMOGI_EDGE_COST;
	else
		path->path.total_cost += passes * (call_cost.startup + call_cost.per_tuple);
	path->flags = emogi_compat_projects();
	path->custom_paths = list_make1(outer_path);
	path->custom_private = list_make2(inner, clauses);
	path->methods = &path_methods;
	add_path(joinrel, (Path *) path);
}

/* Is the scan of all rows among the paths of this relation? */
static bool
has_scan_path(const RelOptInfo *rel)
{
	ListCell   *cell;

	foreach(cell, rel->pathlist)
		if (emogi_plan_is_scan(lfirst(cell)))
			return true;
	return false;
}

/* Add the path for a join of outer rows with emogi_bfs of each, where it can be taken. */
static void
set_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner, JoinType jointype,
				  JoinPathExtraData *extra)
{
	const EmogiAlgorithmRow *function;
	FuncExpr   *call;
	Path	   *outer_path;

	if (previous_set_join_pathlist_hook)
		previous_set_join_pathlist_hook(root, joinrel, outer, inner, jointype, extra);
	if (!emogi_enable_scan || !emogi_enable_batch || emogi_engine == EMOGI_ENGINE_CUDA || jointype != JOIN_INNER ||
		inner->reloptkind != RELOPT_BASEREL || !bms_is_empty(joinrel->lateral_relids) ||
		bms_is_empty(inner->lateral_relids) || !bms_is_subset(inner->lateral_relids, outer->relids) ||
		!has_scan_path(inner))
		return;
	call = emogi_call_expr_of(planner_rt_fetch(inner->relid, root), &function);
	outer_path = outer->cheapest_total_path;
	if (outer_path == NULL || PATH_REQ_OUTER(outer_path) != NULL || !is_batchable(root, call, function) ||
		has_gate(extra->restrictlist) || has_gate(inner->baserestrictinfo))
		return;
	add_batch_path(root, joinrel, outer_path, inner, call, function, extra->restrictlist);
}

/* Take part in the planning of joins; called once, in the postmaster. */
void
emogi_lateral_init(void)
{
	RegisterCustomScanMethods(&emogi_batch_methods);
	previous_set_join_pathlist_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = set_join_pathlist;
}
