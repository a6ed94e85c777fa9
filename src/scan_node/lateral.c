/*
 * lateral.c: planning of BFS from the rows of an outer relation, many at once
 *
 *   SELECT ... FROM sources s, LATERAL emogi_bfs('edges', s.vertex) b
 *
 * A nested loop would run one search after the other. If only the source comes from the outer rows,
 * a CustomScan in place of the loop (batch.c) takes EMOGI_MSBFS_SOURCES outer rows at a time and
 * searches from all of them in one pass over the graph, on the CPU. Rows are returned in the order
 * of the nested loop.
 *
 * It reads ahead in the outer relation, as a hash join does. Outer joins are left to the nested
 * loop.
 *
 *   SELECT s.vertex, count(*), avg(level) FROM sources s, LATERAL emogi_bfs('edges', s.vertex)
 *   GROUP BY s.vertex
 *
 * If the rows are only aggregated, and groups consist of outer rows, no rows are returned: for each
 * outer row the batch returns partial aggregates (batch_sums.c), and PostgreSQL's own Agg combines
 * those of a group. A GPU computes them, too.
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
#include "optimizer/planner.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/selfuncs.h"

#include "scan_node/call_expr.h"
#include "scan_node/plan.h"
#include "base/compat.h"

/* A vertex of the graph in a pass, in the planner's units */
#define PASS_VERTEX_COST (EMOGI_COST_BATCH_VERTEX_US * EMOGI_COST_UNITS_PER_US)
#define SEARCH_COST (EMOGI_COST_LATERAL_US * EMOGI_COST_UNITS_PER_US)

static set_join_pathlist_hook_type previous_set_join_pathlist_hook = NULL;

/* Is an expression independent of the query's relations, and constant during execution? */
static bool
is_fixed(PlannerInfo *root, Node *node)
{
	return bms_is_empty(pull_varnos(root, node)) && !contain_volatile_functions(node) &&
		!contain_subplans(node);
}

/*
 * Is a source argument of this type a single vertex? Text may name several, if the keys of the
 * graph are integers or unknown.
 */
static bool
is_one_vertex(const FuncExpr *call, const EmogiAlgorithmRow *function, Oid type)
{
	EmogiKeyType key;

	if (type != TEXTOID)
		return type == INT8OID || type == UUIDOID;
	return emogi_call_expr_key(call, function->algorithm, &key) && key.class != EMOGI_KEY_INTEGER;
}

/*
 * Is this a call of a function with multi-source searches (emogi_bfs), with one source, in which
 * only the source depends on other relations?
 */
static bool
is_batchable(PlannerInfo *root, const FuncExpr *call, const EmogiAlgorithmRow *function)
{
	Node	   *source;

	if ((function->traits & EMOGI_HAS_MSBFS) == 0)
		return false;
	source = lsecond(call->args);
	return is_one_vertex(call, function, exprType(source)) && !contain_volatile_functions(source) &&
		is_fixed(root, linitial(call->args)) &&
		is_fixed(root, (Node *) list_copy_tail(call->args, 2));
}

/*
 * Is there a pseudoconstant clause? PostgreSQL makes gating nodes for joins, but not for a custom
 * scan in place of one.
 */
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
 * Split clauses into those that a batch evaluates itself and those that are checked for each row. A
 * bound must be the same for all outer rows; the vertices looked up need not.
 */
static void
split_clauses(PlannerInfo *root, const RelOptInfo *rel, const EmogiAlgorithmRow *function,
			  List *clauses, EmogiConditions *conditions)
{
	const RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	bool		has_vertices = false;
	ListCell   *cell;

	foreach(cell, clauses)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);
		EmogiCondition condition;

		if (!emogi_conditions_match(root, rel, function, clause, &condition) ||
			(condition.pushdown <= EMOGI_VERTEX_IN ? has_vertices :
			 !is_fixed(root, (Node *) condition.operand)))
		{
			conditions->quals = lappend(conditions->quals, clause->clause);
			continue;
		}
		has_vertices |= condition.pushdown <= EMOGI_VERTEX_IN;
		if (!condition.exact)
			conditions->quals = lappend(conditions->quals, clause->clause);
		emogi_conditions_push_down(rte, &condition, conditions);
	}
}

/* Make the number of the outer plan's columns. */
static Node *
count_columns(List *children)
{
	return (Node *) makeInteger(list_length(((const Plan *) linitial(children))->targetlist));
}

/*
 * Make the plan of a path. Its tuple has the outer plan's columns, then the used columns of the
 * function; custom_private is that of a scan, preceded by the number of the outer plan's columns.
 */
static Plan *
plan_batch(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
		   List *children)
{
	const RelOptInfo *inner = linitial(path->custom_private);
	const EmogiAlgorithmRow *function;
	EmogiConditions conditions = {0};
	CustomScan *scan;

	(void) emogi_call_expr_of(planner_rt_fetch(inner->relid, root), &function);
	split_clauses(root, inner, function,
				  list_concat_copy(inner->baserestrictinfo, lsecond(path->custom_private)),
				  &conditions);
	scan = emogi_plan_make_above(root, inner, path, tlist, children, &conditions);
	emogi_plan_add_used(scan, inner, path, conditions.quals);
	scan->scan.plan.qual = conditions.quals;
	scan->custom_private = lappend(scan->custom_private, count_columns(children));
	scan->methods = &emogi_batch_methods;
	return (Plan *) scan;
}

static const CustomPathMethods path_methods = {.CustomName = "EmogiBatch",
											   .PlanCustomPath = plan_batch};

/*
 * Estimate the cost of the searches for this many outer rows: the searches of a pass share their
 * scans, and none scans more than it would alone.
 */
static double
search_cost(const PlannerInfo *root, const FuncExpr *call, const EmogiAlgorithmRow *function,
			const QualCost *call_cost, double outer_rows)
{
	const double passes = ceil(outer_rows / EMOGI_MSBFS_SOURCES);
	EmogiGraphSize size;
	EmogiBounds bounds;
	double		alone;

	if (!emogi_size_find(root, call, function->algorithm, &size))
		return passes * (call_cost->startup + call_cost->per_tuple);
	bounds = emogi_size_bounds(call, function);
	emogi_size_probe(root, call, function, &bounds, &size);
	alone = bounds.depth >= 0 || size.reached >= 0 ?
		emogi_size_reached(&size, bounds.depth) * EMOGI_LOCAL_EDGE_COST : (double) INFINITY;
	return passes * (EMOGI_CALL_COST + size.nvertices * PASS_VERTEX_COST) +
		Min(passes * EMOGI_COST_BATCH_PASS * size.nedges * EMOGI_EDGE_COST, outer_rows * alone);
}

/*
 * Are searches without a bound, one by one, likely to cost less than a pass over all vertices? So
 * it is if the graph consists of small components, which its statistics do not show.
 */
static bool
is_cheaper_alone(const PlannerInfo *root, const FuncExpr *call, const EmogiAlgorithmRow *function,
				 double outer_rows)
{
	const double passes = ceil(outer_rows / EMOGI_MSBFS_SOURCES);
	const EmogiBounds bounds = emogi_size_bounds(call, function);
	EmogiGraphSize size;

	if (bounds.depth >= 0 || !emogi_size_find(root, call, function->algorithm, &size))
		return false;
	emogi_size_probe(root, call, function, &bounds, &size);
	return size.reached >= 0 &&
		outer_rows * (SEARCH_COST + size.reached * EMOGI_LOCAL_EDGE_COST) <
		passes * size.nvertices * PASS_VERTEX_COST;
}

/*
 * Record a batch in the RelOptInfo of its join, for aggregates that may be computed from it; in the
 * list of paths it could be pruned. It uses fdw_private, which is unused because a join with a
 * function is never a foreign join.
 */
static void
note_batch(RelOptInfo *joinrel, const CustomPath *path)
{
	const CustomPath *noted = joinrel->fdw_private;
	CustomPath *copy;

	if (joinrel->fdwroutine != NULL ||
		(noted != NULL && noted->path.total_cost <= path->path.total_cost))
		return;
	copy = palloc(sizeof *copy);
	*copy = *path;
	joinrel->fdw_private = copy;
}

/* Add the path that searches from many outer rows at once. */
static void
add_batch_path(PlannerInfo *root, RelOptInfo *joinrel, Path *outer_path, RelOptInfo *inner,
			   const FuncExpr *call,
			   const EmogiAlgorithmRow *function, List *clauses)
{
	CustomPath *path = makeNode(CustomPath);
	double		inner_rows = inner->tuples * outer_path->rows;
	QualCost	call_cost;
	QualCost	qual_cost;

	cost_qual_eval_node(&call_cost, (Node *) call, root);
	cost_qual_eval(&qual_cost, clauses, root);
	path->path.pathtype = T_CustomScan;
	path->path.parent = joinrel;
	path->path.pathtarget = joinrel->reltarget;
	path->path.pathkeys = build_join_pathkeys(root, joinrel, JOIN_INNER, outer_path->pathkeys);
	path->path.rows = joinrel->rows;
	path->path.startup_cost = outer_path->startup_cost + call_cost.startup + call_cost.per_tuple +
		qual_cost.startup;
	path->path.total_cost = path->path.startup_cost +
		(outer_path->total_cost - outer_path->startup_cost) +
		inner_rows * (EMOGI_ROW_COST + qual_cost.per_tuple) +
		joinrel->rows * joinrel->reltarget->cost.per_tuple +
		search_cost(root, call, function, &call_cost, outer_path->rows);
	emogi_compat_add_disabled(&path->path, outer_path);
	path->flags = emogi_compat_projects();
	path->custom_paths = list_make1(outer_path);
	path->custom_private = list_make2(inner, clauses);
	path->methods = &path_methods;
	note_batch(joinrel, path);
	if (!emogi_answer_requires_gpu())	/* it returns no rows of several searches at once */
		add_path(joinrel, (Path *) path);
}

/* Can the configured engine search from many sources at once? A GPU can for aggregates. */
static bool
engine_supports(const PlannerInfo *root)
{
	return !emogi_answer_requires_gpu() ||
		(root->parse->hasAggs && emogi_answer_can_batch_sums());
}

/* Add the path for a join of outer rows with emogi_bfs from each, if possible. */
static void
set_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner,
				  JoinType jointype,
				  JoinPathExtraData *extra)
{
	const EmogiAlgorithmRow *function;
	FuncExpr   *call;
	Path	   *outer_path;

	if (previous_set_join_pathlist_hook)
		previous_set_join_pathlist_hook(root, joinrel, outer, inner, jointype, extra);
	if (!emogi_enable_scan || !emogi_enable_batch || !engine_supports(root) ||
		jointype != JOIN_INNER ||
		inner->reloptkind != RELOPT_BASEREL || !bms_is_empty(joinrel->lateral_relids) ||
		bms_is_empty(inner->lateral_relids) ||
		!bms_is_subset(inner->lateral_relids, outer->relids) ||
		emogi_plan_find_scan(inner) == NULL)
		return;
	call = emogi_call_expr_of(planner_rt_fetch(inner->relid, root), &function);
	outer_path = outer->cheapest_total_path;
	if (outer_path == NULL || PATH_REQ_OUTER(outer_path) != NULL ||
		!is_batchable(root, call, function) ||
		has_gate(extra->restrictlist) || has_gate(inner->baserestrictinfo) ||
		is_cheaper_alone(root, call, function, outer_path->rows))
		return;
	add_batch_path(root, joinrel, outer_path, inner, call, function, extra->restrictlist);
}

/* ---- aggregates of each search ---- */

/* A batch of searches that are aggregated. */
typedef struct Sums
{
	RelOptInfo *inner;
	Path	   *outer_path;
	EmogiConditions conditions;
	PathTarget *partial;		/* columns of outer rows, and partial aggregates */
	List	   *tlist;			/* TargetEntry: these aggregates, each once */
	List	   *outputs;		/* integer lists, as in aggregate.h */
} Sums;

/*
 * Find the batch of a join without any conditions except bounds of the searches; return false if
 * there is none.
 */
static bool
find_batch(PlannerInfo *root, const RelOptInfo *rel, Sums *sums)
{
	const CustomPath *batch = rel->fdw_private;

	if (rel->reloptkind != RELOPT_JOINREL || rel->fdwroutine != NULL || batch == NULL)
		return false;
	sums->inner = linitial(batch->custom_private);
	sums->outer_path = linitial(batch->custom_paths);
	emogi_conditions_sort(root, sums->inner, list_concat_copy(sums->inner->baserestrictinfo,
															  lsecond(batch->custom_private)),
						  &sums->conditions);
	return sums->conditions.quals == NIL && !list_member_int(sums->conditions.places, 0) &&
		is_fixed(root, (Node *) sums->conditions.operands);
}

/*
 * Add a column of the outer rows, or an aggregate of a search's levels or number of rows; return
 * false for anything else. DISTINCT aggregates do not qualify, because a vertex has a row in each
 * search.
 */
static bool
add_sum(PlannerInfo *root, Sums *sums, Node *node)
{
	EmogiOutput output;
	int			place;
	Aggref	   *aggregate;

	if (!IsA(node, Aggref))
	{
		add_new_column_to_pathtarget(sums->partial, (Expr *) node);
		return IsA(node, Var) && !bms_is_member(sums->inner->relid, pull_varnos(root, node));
	}
	if (((const Aggref *) node)->aggdistinct != NIL ||
		!emogi_aggregate_match(sums->inner, (Aggref *) node, &output, &place) ||
		(output != EMOGI_OUTPUT_COUNT && place == 0))
		return false;
	aggregate = copyObject((Aggref *) node);
	mark_partial_aggref(aggregate, AGGSPLIT_INITIAL_SERIAL);
	if (tlist_member((Expr *) aggregate, sums->tlist) != NULL)
		return true;
	sums->tlist = lappend(sums->tlist, makeTargetEntry((Expr *) aggregate,
													   list_length(sums->tlist) + 1, NULL, false));
	sums->outputs = lappend(sums->outputs, list_make2_int(output, place));
	add_new_column_to_pathtarget(sums->partial, (Expr *) aggregate);
	return true;
}

/*
 * Determine what a batch must return for the target and HAVING; return false if it cannot. Groups
 * must consist of outer rows.
 */
static bool
find_sums(PlannerInfo *root, const PathTarget *target, List *having, Sums *sums)
{
	List	   *others = list_copy(having);
	ListCell   *cell;
	int			i = 0;

	sums->partial = create_empty_pathtarget();
	foreach(cell, target->exprs)
	{
		const Index sortgroupref = get_pathtarget_sortgroupref(target, i++);
		Node	   *node = lfirst(cell);

		if (sortgroupref == 0 ||
			get_sortgroupref_clause_noerr(sortgroupref, root->parse->groupClause) == NULL)
			others = lappend(others, node);
		else if (bms_is_member(sums->inner->relid, pull_varnos(root, node)) ||
				 contain_volatile_functions(node) || contain_subplans(node))
			return false;		/* it may differ between rows of one search */
		else
			add_column_to_pathtarget(sums->partial, (Expr *) node, sortgroupref);
	}
	foreach(cell, pull_var_clause((Node *) others, PVC_INCLUDE_AGGREGATES |
								  PVC_RECURSE_WINDOWFUNCS | PVC_INCLUDE_PLACEHOLDERS))
		if (!add_sum(root, sums, lfirst(cell)))
			return false;
	return true;
}

/*
 * Make the plan of a path of partial aggregates. Its tuple has the outer plan's columns, then the
 * aggregates.
 */
static Plan *
plan_sums(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
		  List *children)
{
	const Sums *sums = linitial(path->custom_private);
	CustomScan *scan = emogi_plan_make_above(root, sums->inner, path, tlist, children,
											 &sums->conditions);

	emogi_plan_add_entries(scan, sums->tlist);
	scan->custom_private = lappend(lappend(scan->custom_private, count_columns(children)),
								   lcons(list_make1_int(0), sums->outputs));
	scan->methods = &emogi_batch_sums_methods;
	return (Plan *) scan;
}

static const CustomPathMethods sums_methods = {.CustomName = "EmogiBatchAggregate",
											   .PlanCustomPath = plan_sums};

/* Make the path of partial aggregates, one row per outer row. */
static Path *
make_sums_path(PlannerInfo *root, RelOptInfo *output, Sums *sums)
{
	CustomPath *path = makeNode(CustomPath);
	const Path *outer_path = sums->outer_path;
	const EmogiAlgorithmRow *function;
	const FuncExpr *call = emogi_call_expr_of(planner_rt_fetch(sums->inner->relid, root),
											  &function);
	QualCost	call_cost;

	cost_qual_eval_node(&call_cost, (Node *) call, root);
	path->path.pathtype = T_CustomScan;
	path->path.parent = output;
	path->path.pathtarget = set_pathtarget_cost_width(root, sums->partial);
	path->path.rows = outer_path->rows;
	path->path.startup_cost = outer_path->startup_cost + call_cost.startup + call_cost.per_tuple;
	path->path.total_cost = path->path.startup_cost +
		(outer_path->total_cost - outer_path->startup_cost) +
		search_cost(root, call, function, &call_cost, outer_path->rows) +
		outer_path->rows * (cpu_tuple_cost + sums->partial->cost.per_tuple);
	emogi_compat_add_disabled(&path->path, outer_path);
	path->flags = emogi_compat_projects();
	path->custom_paths = list_make1(sums->outer_path);
	path->custom_private = list_make1(sums);
	path->methods = &sums_methods;
	return &path->path;
}

/* Add an Agg path that combines the partial aggregates of each group. */
static void
add_combining_path(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output, PathTarget *target,
				   List *having, Path *partial)
{
	List	   *clauses = root->parse->groupClause;
	const bool	is_hashed = clauses != NIL && grouping_is_hashable(clauses);
	double		ngroups = 1;
	AggClauseCosts costs = {0};

	if (clauses != NIL)
		ngroups = estimate_num_groups(root, get_sortgrouplist_exprs(clauses, root->processed_tlist),
									  input->rows, NULL, NULL);
	if (clauses != NIL && !is_hashed)
		partial = (Path *) create_sort_path(root, output, partial,
											make_pathkeys_for_sortclauses(root, clauses,
													root->processed_tlist), -1);
	get_agg_clause_costs(root, AGGSPLIT_FINAL_DESERIAL, &costs);
	add_path(output, (Path *) create_agg_path(root, output, partial, target, clauses == NIL ?
											  AGG_PLAIN : is_hashed ? AGG_HASHED : AGG_SORTED,
											  AGGSPLIT_FINAL_DESERIAL, clauses, having, &costs,
											  ngroups));
}

/*
 * Add a path for aggregates, grouped by outer rows, over the rows that searches from outer rows
 * reach, if possible.
 */
void
emogi_lateral_add_sums(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
					   const GroupPathExtraData *extra)
{
	PathTarget *target = root->upper_targets[UPPERREL_GROUP_AGG];
	List	   *having = extra != NULL ? (List *) extra->havingQual : NIL;
	Sums	   *sums = palloc0(sizeof *sums);

	if (!root->parse->hasAggs || root->parse->groupingSets != NIL || root->parse->hasTargetSRFs ||
		root->hasPseudoConstantQuals ||
		(root->parse->groupClause != NIL && !grouping_is_hashable(root->parse->groupClause) &&
		 !grouping_is_sortable(root->parse->groupClause)))
		return;
	if (find_batch(root, input, sums) && find_sums(root, target, having, sums) &&
		sums->tlist != NIL)
		add_combining_path(root, input, output, target, having, make_sums_path(root, output, sums));
}

/* Install the planner hooks; called once, in the postmaster. */
void
emogi_lateral_init(void)
{
	RegisterCustomScanMethods(&emogi_batch_methods);
	RegisterCustomScanMethods(&emogi_batch_sums_methods);
	previous_set_join_pathlist_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = set_join_pathlist;
}
