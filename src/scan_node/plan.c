/*
 * plan.c: planning of scans for functions in FROM
 *
 * A FunctionScan collects all rows in a tuplestore before it returns the first. The CustomScan that
 * replaces it streams the rows (stream.c) in order of `vertex`, returns only the columns that are
 * used, and evaluates conditions itself: those on `vertex` select rows, those on level or distance
 * bound the traversal. A join that compares `vertex` with another table's column can look up single
 * vertices in the result of one run.
 *
 * The FunctionScan remains for row marks (UPDATE ... FROM, FOR UPDATE), whole-row variables, WITH
 * ORDINALITY, ROWS FROM with several functions, column definition lists, and arguments with
 * correlated sub-selects.
 *
 * The planner knows that `vertex` is unique; size.c estimates rows and costs. Rows that are not
 * vertices get scans as well (row_scan.c), but other nodes do not share, aggregate or join them;
 * column_stats.c provides statistics of their columns.
 */
#include "postgres.h"

#include <math.h>

#include "funcapi.h"
#include "nodes/makefuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/selfuncs.h"

#include "function/cursor.h"
#include "scan_node/call_expr.h"
#include "scan_node/plan.h"
#include "base/compat.h"

/* fewer rows are sorted as fast */
#define MIN_GROUPED 1024

static set_rel_pathlist_hook_type previous_set_rel_pathlist_hook = NULL;
static get_relation_stats_hook_type previous_get_relation_stats_hook = NULL;

/*
 * Provide statistics: vertices, and the steps of one path, are unique; rows that are not vertices
 * have column statistics, and so has the component column of emogi_cc.
 */
static bool
get_stats(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attnum, VariableStatData *variable)
{
	const EmogiAlgorithmRow *function;
	const FuncExpr *call = emogi_call_expr_of(rte, &function);
	const bool	is_vertices = call != NULL && emogi_row_kind_find(function) == NULL;

	if (call != NULL && attnum > 0 && variable->rel != NULL &&
		(!is_vertices || (attnum == 2 && (function->traits & EMOGI_KEEPS_COMPONENTS) != 0)))
	{
		variable->statsTuple = emogi_column_stats_make(root, call, function,
													   variable->rel->tuples, attnum);
		variable->freefunc = heap_freetuple;
		variable->acl_ok = true;	/* no value comes from a table */
		variable->isunique = attnum == 1 &&
			(function->shape == EMOGI_SHAPE_STEPS || emogi_shape_is_tree(function->shape));
		return HeapTupleIsValid(variable->statsTuple) || variable->isunique;
	}
	if (is_vertices && attnum == 1)
	{
		variable->statsTuple = NULL;
		variable->isunique = true;
		return true;
	}
	return previous_get_relation_stats_hook != NULL &&
		previous_get_relation_stats_hook(root, rte, attnum, variable);
}

/* ---- plans ---- */

/* Append the columns of relid that occur in the expressions to tlist and columns, each once. */
void
emogi_plan_add_columns(Index relid, Node *expressions, List **tlist, List **columns)
{
	ListCell   *cell;

	foreach(cell, pull_var_clause(expressions, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
								  PVC_RECURSE_PLACEHOLDERS))
	{
		Var		   *var = lfirst_node(Var, cell);

		if (var->varno != relid || list_member_int(*columns, var->varattno - 1))
			continue;
		*columns = lappend_int(*columns, var->varattno - 1);
		*tlist = lappend(*tlist, makeTargetEntry((Expr *) copyObject(var), list_length(*tlist) + 1,
												 NULL, false));
	}
}

/* Make the mark that precedes the lists of custom_private. */
Node *
emogi_plan_mark(void)
{
	return (Node *) makeString(pstrdup("emogi"));
}

/*
 * Make the scan of a call, without columns: push down the supported conditions, and leave the
 * others as quals.
 */
CustomScan *
emogi_plan_make(PlannerInfo *root, const RelOptInfo *rel, List *clauses)
{
	CustomScan *scan = makeNode(CustomScan);
	const EmogiAlgorithmRow *function;
	FuncExpr   *call = emogi_call_expr_of(planner_rt_fetch(rel->relid, root), &function);
	EmogiConditions sorted;

	emogi_conditions_sort(root, rel, clauses, &sorted);
	scan->custom_exprs = lcons(copyObject(call), copyObject(sorted.operands));
	scan->custom_private = lcons(emogi_plan_mark(),
								 list_make4(NIL, sorted.pushdowns, sorted.names, sorted.places));
	scan->scan.plan.qual = list_copy(sorted.quals);
	scan->scan.scanrelid = 0;
	scan->flags = emogi_compat_projects();
	scan->methods = &emogi_scan_methods;
	return scan;
}

/* Append copies of target entries to the columns of a scan. */
void
emogi_plan_add_entries(CustomScan *scan, const List *entries)
{
	ListCell   *cell;

	foreach(cell, entries)
		scan->custom_scan_tlist =
			lappend(scan->custom_scan_tlist,
					makeTargetEntry(copyObject(lfirst_node(TargetEntry, cell)->expr),
									list_length(scan->custom_scan_tlist) + 1, NULL, false));
}

/*
 * Make the plan of a call's scan for the rows of an outer plan, whose columns precede those of the
 * call. The caller adds its own to custom_scan_tlist, EMOGI_PLAN_COLUMNS and custom_private.
 */
CustomScan *
emogi_plan_make_above(PlannerInfo *root, const RelOptInfo *inner, const CustomPath *path,
					  List *tlist, List *children, const EmogiConditions *conditions)
{
	CustomScan *scan = makeNode(CustomScan);
	const EmogiAlgorithmRow *function;

	scan->custom_exprs =
		lcons(copyObject(emogi_call_expr_of(planner_rt_fetch(inner->relid, root), &function)),
			  copyObject(conditions->operands));
	emogi_plan_add_entries(scan, ((const Plan *) linitial(children))->targetlist);
	scan->scan.plan.targetlist = tlist;
	scan->flags = path->flags;
	scan->custom_plans = children;
	scan->custom_private = list_make5(emogi_plan_mark(), NIL, conditions->pushdowns,
									  conditions->names, conditions->places);
	return scan;
}

/* Add the columns of a call that its plan above an outer plan, and the plans above that, use. */
void
emogi_plan_add_used(CustomScan *scan, const RelOptInfo *inner, const CustomPath *path,
					List *filter)
{
	List	   *columns = NIL;

	emogi_plan_add_columns(inner->relid, (Node *) path->path.pathtarget->exprs,
						   &scan->custom_scan_tlist, &columns);
	emogi_plan_add_columns(inner->relid, (Node *) scan->scan.plan.targetlist,
						   &scan->custom_scan_tlist, &columns);
	emogi_plan_add_columns(inner->relid, (Node *) filter, &scan->custom_scan_tlist, &columns);
	lfirst(list_nth_cell(scan->custom_private, EMOGI_PLAN_COLUMNS)) = columns;
}

/* Make the plan of a path, with the columns that are used. */
static Plan *
plan_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
		  List *children)
{
	CustomScan *scan = emogi_plan_make(root, rel, clauses);

	/*
	 * The target list may still be replaced by another projection of the path's target.
	 * rel->reltarget does not tell which columns that needs: when the plan is created, it may be
	 * the target of all joins, which uses less than the path was made for.
	 */
	scan->scan.plan.targetlist = tlist;
	emogi_plan_add_used(scan, rel, path, scan->scan.plan.qual);
	scan->custom_private = lappend(scan->custom_private, path->custom_private);
	return (Plan *) scan;
}

/* Make the plan of a path whose rows are ordered by the first column of values. */
static Plan *
plan_grouped(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
			 List *children)
{
	CustomScan *scan = (CustomScan *) plan_scan(root, rel, path, tlist, clauses, children);

	scan->custom_private = lappend(scan->custom_private, list_make3_int(0, 1, false));
	return (Plan *) scan;
}

/* ---- paths ---- */

static const CustomPathMethods path_methods = {.CustomName = "EmogiScan",
											   .PlanCustomPath = plan_scan};

/*
 * Paths whose rows are not vertices. The separate address keeps the steps above scans of vertices
 * from finding these.
 */
static const CustomPathMethods row_path_methods = {.CustomName = "EmogiScan",
												   .PlanCustomPath = plan_scan};

/* Likewise, because their rows are in another order. */
static const CustomPathMethods grouped_path_methods = {.CustomName = "EmogiScan",
													   .PlanCustomPath = plan_grouped};

/*
 * Find the path, perhaps below a projection, of a scan that returns all rows; NULL if there is
 * none.
 */
static const Path *
find_scan_in(const List *paths)
{
	ListCell   *cell;

	foreach(cell, paths)
	{
		const Path *path = lfirst(cell);

		if (IsA(path, ProjectionPath))
			path = ((const ProjectionPath *) path)->subpath;
		if (IsA(path, CustomPath) && ((const CustomPath *) path)->methods == &path_methods &&
			bms_equal(PATH_REQ_OUTER(path), path->parent->lateral_relids))
			return path;
	}
	return NULL;
}

/*
 * Find the path of a scan that returns all rows of a relation; NULL if there is none. The partial
 * path may have dominated the other one; it proves the same.
 */
const Path *
emogi_plan_find_scan(const RelOptInfo *rel)
{
	const Path *path = find_scan_in(rel->pathlist);

	return path != NULL ? path : find_scan_in(rel->partial_pathlist);
}

/* Make a path for these outer relations, without rows and costs. */
CustomPath *
emogi_plan_make_path(PlannerInfo *root, RelOptInfo *rel, Relids required_outer)
{
	CustomPath *path = makeNode(CustomPath);
	const EmogiAlgorithmRow *function;

	(void) emogi_call_expr_of(planner_rt_fetch(rel->relid, root), &function);

	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = rel->reltarget;
	path->path.param_info = get_baserel_parampathinfo(root, rel, required_outer);
	path->flags = emogi_compat_projects();
	path->methods = emogi_row_kind_find(function) != NULL ? &row_path_methods : &path_methods;
	emogi_plan_order_set(root, rel, path);
	return path;
}

/* Narrow the bounds of a search by a condition that the scan evaluates. */
static void
narrow(const EmogiAlgorithmRow *function, const EmogiCondition *condition, EmogiBounds *bounds)
{
	const double bound = emogi_call_expr_number((Node *) condition->operand);

	if (emogi_algorithm_takes(function, EMOGI_MAX_DEPTH) < 0)
		bounds->distance = Min(bounds->distance, bound);
	else if (bound < (double) INFINITY)
		bounds->depth = bounds->depth < 0 ? bound : Min(bounds->depth, bound);
}

/*
 * Apply the pushed-down bounds to the relation's row estimates; return by how much they reduce the
 * cost of the call.
 */
static double
adjust_rows(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call,
			const EmogiAlgorithmRow *function)
{
	const bool	stops = emogi_algorithm_takes(function, EMOGI_MAX_DEPTH) >= 0 ||
		emogi_algorithm_takes(function, EMOGI_MAX_DISTANCE) >= 0;
	EmogiGraphSize size;
	EmogiBounds bounds;
	EmogiBounds given;
	double		cost;
	ListCell   *cell;

	if (!stops || !emogi_size_find(root, call, function->algorithm, &size))
		return 0;
	bounds = given = emogi_size_bounds(call, function);
	foreach(cell, rel->baserestrictinfo)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);
		EmogiCondition condition;

		if (emogi_conditions_match(root, rel, function, clause, &condition) &&
			condition.pushdown >= EMOGI_BOUND_AT_MOST &&
			emogi_conditions_may_bound(root, call, (Node *) condition.operand))
			narrow(function, &condition, &bounds);
	}
	if (bounds.depth == given.depth && bounds.distance == given.distance)
		return 0;
	emogi_size_probe(root, call, function, &given, &size);
	cost = emogi_size_call_cost(&size, &given);
	emogi_size_probe(root, call, function, &bounds, &size);
	/* the search stops at the bounds, so no more rows are read */
	rel->tuples = Min(rel->tuples, emogi_size_reached(&size, bounds.depth));
	rel->rows = clamp_row_est(Min(rel->rows, rel->tuples));
	return cost - emogi_size_call_cost(&size, &bounds);
}

/*
 * Apply a condition on the component to the relation's row estimates: a component that is asked for
 * is that of some vertex, so it is larger than the mean of all components. Return how many rows the
 * scan forms.
 */
static double
adjust_components(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call,
				  const EmogiAlgorithmRow *function)
{
	EmogiComponentSizes sizes;
	bool		is_one;

	if (!emogi_size_components(root, rel, call, function, &sizes, &is_one))
		return rel->tuples;
	if (is_one)
		rel->rows = clamp_row_est(Min(rel->rows * sizes.nmembers * sizes.ncomponents /
									  Max(rel->tuples, 1), rel->tuples));
	return rel->rows;
}

/*
 * Estimate how many rows the scan forms: all, or for rows that are not vertices those that pass the
 * pushed-down conditions.
 */
static double
count_made(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call,
		   const EmogiAlgorithmRow *function)
{
	List	   *pushed = NIL;
	ListCell   *cell;

	if (emogi_row_kind_find(function) == NULL)
		return adjust_components(root, rel, call, function);
	foreach(cell, rel->baserestrictinfo)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);
		EmogiCondition condition;

		if (emogi_conditions_match(root, rel, function, clause, &condition) && condition.exact)
			pushed = lappend(pushed, clause);
	}
	return clamp_row_est(rel->tuples * clauselist_selectivity(root, pushed, 0, JOIN_INNER, NULL));
}

/*
 * Set the costs of a path that forms ntuples rows, read by nreaders processes. path->rows counts
 * the rows of one process.
 */
void
emogi_plan_set_costs(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call, double ntuples,
					 double nreaders, Path *path)
{
	QualCost	call_cost;
	QualCost	qual_cost;

	cost_qual_eval_node(&call_cost, (Node *) call, root);
	cost_qual_eval(&qual_cost, rel->baserestrictinfo, root);
	path->startup_cost = call_cost.startup + call_cost.per_tuple + qual_cost.startup +
		rel->reltarget->cost.startup;
	path->total_cost = path->startup_cost +
		ntuples * (EMOGI_ROW_COST + qual_cost.per_tuple) / nreaders +
		path->rows * rel->reltarget->cost.per_tuple;
}

/*
 * Add the path that returns all rows. saved: by how much the call is cheaper than its own estimate.
 */
static void
add_scan_path(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call, double ntuples,
			  double saved)
{
	CustomPath *path = emogi_plan_make_path(root, rel, rel->lateral_relids);

	path->path.rows = path->path.param_info != NULL ? path->path.param_info->ppi_rows : rel->rows;
	emogi_plan_set_costs(root, rel, call, ntuples, 1, &path->path);
	path->path.startup_cost -= saved;
	path->path.total_cost -= saved;
	add_path(rel, (Path *) path);
}

/*
 * Does a condition select the vertices of rows, or the value of a vertex column? Then few rows
 * remain, and lists of vertices are not shared with workers.
 */
bool
emogi_plan_chooses_vertices(PlannerInfo *root, RelOptInfo *rel, const EmogiAlgorithmRow *function)
{
	EmogiConditions sorted;
	ListCell   *pushdown;
	ListCell   *place;

	emogi_conditions_sort(root, rel, rel->baserestrictinfo, &sorted);
	forboth(pushdown, sorted.pushdowns, place, sorted.places)
	{
		const EmogiPushdown kind = (EmogiPushdown) lfirst_int(pushdown);

		if (kind <= EMOGI_VERTEX_IN ||
			kind == EMOGI_MEMBER_OF || kind == EMOGI_IS_LIKELY || kind == EMOGI_IS_IN ||
			(kind == EMOGI_IS &&
			 emogi_row_kind_column(function, lfirst_int(place))->type == EMOGI_VERTEX))
			return true;
	}
	return false;
}

/*
 * Add the path that returns all rows of a component after those of the one before it, and in it by
 * vertex, if that is of use: neither the components nor their keys need a sort.
 */
static void
add_grouped_path(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call,
				 const EmogiAlgorithmRow *function, double ntuples, double saved)
{
	CustomPath *path;
	EmogiSource source;
	TupleDesc	desc;

	if (!emogi_enable_topk || rel->tuples < MIN_GROUPED || !bms_is_empty(rel->lateral_relids) ||
		function->columns[0].type != EMOGI_VERTEX ||
		emogi_plan_chooses_vertices(root, rel, function) ||
		(desc = emogi_call_expr_row_type(call)) == NULL)
		return;
	path = emogi_plan_make_path(root, rel, NULL);
	path->methods = &grouped_path_methods;
	path->path.pathkeys = path->custom_private = NIL;
	if (!emogi_plan_order_append(root, rel, call, function, TupleDescAttr(desc, 1), &source, path))
		return;
	(void) emogi_plan_order_append(root, rel, call, function, TupleDescAttr(desc, 0), &source,
								   path);
	path->path.pathkeys = truncate_useless_pathkeys(root, rel, path->path.pathkeys);
	if (path->path.pathkeys == NIL)
		return;
	if (path->custom_private != NIL)
		root->glob->relationOids = list_append_unique_oid(root->glob->relationOids, source.relid);
	path->path.rows = rel->rows;
	emogi_plan_set_costs(root, rel, call, ntuples, 1, &path->path);
	path->path.startup_cost += rel->tuples * EMOGI_LOOKUP_COST - saved;
	path->path.total_cost += rel->tuples * EMOGI_LOOKUP_COST - saved;
	add_path(rel, (Path *) path);
}

/*
 * Add a path that looks up the vertices (or the members of the components) that outer rows name, in
 * the result of one run. Its cost does not include the run, which is made once for any path, while
 * this cost applies to every outer row.
 */
static void
add_lookup_path(PlannerInfo *root, RelOptInfo *rel, const EmogiAlgorithmRow *function,
				RestrictInfo *clause, bool names_members, Relids *done)
{
	Relids		required_outer = bms_union(clause->clause_relids, rel->lateral_relids);
	EmogiCondition	condition;
	CustomPath *path;

	required_outer = bms_del_member(required_outer, rel->relid);
	if (!join_clause_is_movable_to(clause, rel) || bms_is_empty(required_outer) ||
		bms_is_subset(required_outer, *done) ||
		!(names_members ? emogi_conditions_match_member(root, rel, function, clause, &condition) :
		  emogi_conditions_match(root, rel, function, clause,
								 &condition) && condition.pushdown == EMOGI_VERTEX_IS))
		return;
	*done = bms_union(*done, required_outer);
	path = emogi_plan_make_path(root, rel, required_outer);
	path->path.rows = path->path.param_info->ppi_rows;
	path->path.startup_cost = 0;
	path->path.total_cost = EMOGI_RESCAN_COST +
		emogi_size_lookup_cost((Node *) condition.operand, EMOGI_LOOKUP_COST) +
		path->path.rows * (EMOGI_ROW_COST + rel->reltarget->cost.per_tuple);
	add_path(rel, (Path *) path);
}

/* Is this equivalence member the column that selects vertices? */
static bool
is_vertex(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *class, EquivalenceMember *member,
		  void *function)
{
	return emogi_conditions_is_key((Node *) member->em_expr, rel, function);
}

/* Is this equivalence member the component column? */
static bool
is_component(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *class, EquivalenceMember *member,
			 void *function)
{
	return emogi_conditions_is_column((Node *) member->em_expr, rel, 2);
}

/* Can rows be found by vertex without scanning all of them? */
static bool
finds_by_vertex(const FuncExpr *call, const EmogiAlgorithmRow *function)
{
	const EmogiRowKind *kind = emogi_row_kind_find(function);
	char	   *pairs;

	return kind == NULL || (kind->key >= 0 && kind->key == kind->element &&
							emogi_call_expr_pairs(call, function, &pairs) && pairs == NULL);
}

/* Add the paths that look up vertices, one for each relation that may name them. */
static void
add_lookup_paths(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call,
				 const EmogiAlgorithmRow *function)
{
	Relids		done = NULL;
	ListCell   *cell;
	List	   *clauses;

	/* with arguments from an outer relation, each outer row needs a run of its own */
	if (!bms_is_empty(rel->lateral_relids) || !finds_by_vertex(call, function))
		return;
	clauses = generate_implied_equalities_for_column(root, rel, is_vertex, (void *) function,
													 rel->lateral_referencers);
	foreach(cell, list_concat_copy(clauses, rel->joininfo))
		add_lookup_path(root, rel, function, lfirst_node(RestrictInfo, cell), false, &done);
	if (!emogi_conditions_names_members(function))
		return;
	done = NULL;
	clauses = generate_implied_equalities_for_column(root, rel, is_component, (void *) function,
													 rel->lateral_referencers);
	foreach(cell, list_concat_copy(clauses, rel->joininfo))
		add_lookup_path(root, rel, function, lfirst_node(RestrictInfo, cell), true, &done);
}

/* Replace the FunctionScan by the scan where possible. */
static void
set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	const EmogiAlgorithmRow *function;
	FuncExpr   *call;
	double		saved;

	if (previous_set_rel_pathlist_hook)
		previous_set_rel_pathlist_hook(root, rel, rti, rte);
	emogi_unused_names_mark(rel, rte);
	if (!emogi_enable_scan || IS_DUMMY_REL(rel) || root->rowMarks != NIL ||
		(root->parse->commandType != CMD_SELECT && root->parse->commandType != CMD_INSERT))
		return;
	call = emogi_call_expr_of(rte, &function);
	if (call == NULL)
		emogi_plan_stored_replace(rel, rte);
	if (call == NULL || emogi_unused_names_uses_column(rel, InvalidAttrNumber) ||
		contain_subplans((Node *) call->args))
		return;
	saved = adjust_rows(root, rel, call, function);
	if ((function->traits & EMOGI_SUMS_LISTS) != 0 &&
		emogi_plan_chooses_vertices(root, rel, function))
		saved += emogi_size_saved_build(root, call, function, rel->rows);
	rel->pathlist = rel->partial_pathlist = NIL;
	add_scan_path(root, rel, call, count_made(root, rel, call, function), saved);
	if (emogi_row_kind_find(function) == NULL)
	{
		add_grouped_path(root, rel, call, function, count_made(root, rel, call, function), saved);
		emogi_plan_add_shared(root, rel, call, function);
	}
	add_lookup_paths(root, rel, call, function);
}

/* Install the planner hooks; called once, in the postmaster. */
void
emogi_plan_init(void)
{
	RegisterCustomScanMethods(&emogi_scan_methods);
	previous_set_rel_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = set_rel_pathlist;
	previous_get_relation_stats_hook = get_relation_stats_hook;
	get_relation_stats_hook = get_stats;
}
