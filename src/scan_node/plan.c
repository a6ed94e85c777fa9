/*
 * plan.c: the rows of a function in FROM as a scan: what the planner sees.
 *
 * PostgreSQL would have a FunctionScan collect all rows in a tuplestore before the first is used. In its place comes a
 * CustomScan that streams them (stream.c), returns the columns that are used and no others, in order of `vertex`, and
 * sees to conditions itself: those on `vertex` choose rows, those on level or distance bound the traversal. A join that
 * compares `vertex` with another table's column may look up single vertices in the result of one run.
 *
 * The FunctionScan stays where whole rows are asked for: row marks (UPDATE ... FROM, FOR UPDATE), whole-row variables,
 * WITH ORDINALITY, ROWS FROM of several functions, column definitions, arguments with correlated sub-selects.
 *
 * The planner is told that `vertex` is unique; how many rows there are, and what they cost, is told in size.c. Rows that are not vertices are
 * scans as well (row_scan.c), of which nothing is shared, aggregated or joined by other nodes; what their columns hold column_stats.c says.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_class.h"
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
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

#include "function/cursor.h"
#include "scan_node/call_expr.h"
#include "scan_node/plan.h"
#include "base/compat.h"

/* A row of two columns in a table. */
#define TABLE_ROW_BYTES 44

static set_rel_pathlist_hook_type previous_set_rel_pathlist_hook = NULL;
static get_relation_stats_hook_type previous_get_relation_stats_hook = NULL;

/* Tell the planner that no vertex has two rows, nor a step of a path, and of rows that are not vertices what values there are. */
static bool
get_stats(PlannerInfo *root, RangeTblEntry *rte, AttrNumber attnum, VariableStatData *variable)
{
	const EmogiAlgorithmRow *function;
	const FuncExpr *call = emogi_call_expr_of(rte, &function);
	const bool	is_vertices = call != NULL && emogi_kinds_find(function) == NULL;

	if (call != NULL && !is_vertices && attnum > 0 && variable->rel != NULL)
	{
		variable->statsTuple = emogi_column_stats_make(call, function, variable->rel->tuples, attnum);
		variable->freefunc = heap_freetuple;
		variable->acl_ok = true;	/* nothing of it comes from a table */
		variable->isunique = attnum == 1 && (function == &emogi_path_function || (function->traits & EMOGI_IS_TREE) != 0);
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

/* Append the item's columns in these expressions to the scan's, each once. */
void
emogi_plan_add_columns(Index relid, Node *expressions, List **tlist, List **columns)
{
	ListCell   *cell;

	foreach(cell, pull_var_clause(expressions, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS))
	{
		Var		   *var = lfirst_node(Var, cell);

		if (var->varno != relid || list_member_int(*columns, var->varattno - 1))
			continue;
		*columns = lappend_int(*columns, var->varattno - 1);
		*tlist = lappend(*tlist, makeTargetEntry((Expr *) copyObject(var), list_length(*tlist) + 1, NULL, false));
	}
}

/* Make what stands before the lists of a plan. */
Node *
emogi_plan_mark(void)
{
	return (Node *) makeString(pstrdup("emogi"));
}

/* Make the scan of a call, without columns: push down the conditions that can be, and leave the others to be checked for each row. */
CustomScan *
emogi_plan_make(PlannerInfo *root, const RelOptInfo *rel, List *clauses)
{
	CustomScan *scan = makeNode(CustomScan);
	const EmogiAlgorithmRow *function;
	FuncExpr   *call = emogi_call_expr_of(planner_rt_fetch(rel->relid, root), &function);
	EmogiConditions sorted;

	emogi_conditions_sort(root, rel, clauses, &sorted);
	scan->custom_exprs = lcons(copyObject(call), sorted.operands);
	scan->custom_private = lcons(emogi_plan_mark(), list_make4(NIL, sorted.pushdowns, sorted.names, sorted.places));
	scan->scan.plan.qual = sorted.quals;
	scan->scan.scanrelid = 0;
	scan->flags = emogi_compat_projects();
	scan->methods = &emogi_scan_methods;
	return scan;
}

/* Make the plan of a path: return the columns that are left to be used. */
static Plan *
plan_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses, List *children)
{
	CustomScan *scan = emogi_plan_make(root, rel, clauses);
	List	   *columns = NIL;

	/*
	 * The target list may yet be exchanged for another projection of what the path returns. rel->reltarget is no measure of
	 * that: when the plan is made it may be the target of all joins, which uses less than the path was made for.
	 */
	emogi_plan_add_columns(rel->relid, (Node *) path->path.pathtarget->exprs, &scan->custom_scan_tlist, &columns);
	emogi_plan_add_columns(rel->relid, (Node *) tlist, &scan->custom_scan_tlist, &columns);
	emogi_plan_add_columns(rel->relid, (Node *) scan->scan.plan.qual, &scan->custom_scan_tlist, &columns);
	lfirst(list_nth_cell(scan->custom_private, EMOGI_PLAN_COLUMNS)) = columns;
	scan->custom_private = lappend(scan->custom_private, path->custom_private);
	scan->scan.plan.targetlist = tlist;
	return (Plan *) scan;
}

/* ---- paths ---- */

static const CustomPathMethods path_methods = {.CustomName = "EmogiScan",.PlanCustomPath = plan_scan};

/* The same where rows are not vertices: what stands over rows of vertices does not find these. */
static const CustomPathMethods row_path_methods = {.CustomName = "EmogiScan",.PlanCustomPath = plan_scan};

/* Find the path of a scan that returns all rows, be it projected; NULL when there is none. */
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
 * Find the path of a scan that returns all rows of a relation; NULL when there is none. That for parallel workers may have pushed the other
 * out, and says as well that there is one.
 */
const Path *
emogi_plan_find_scan(const RelOptInfo *rel)
{
	const Path *path = find_scan_in(rel->pathlist);

	return path != NULL ? path : find_scan_in(rel->partial_pathlist);
}

/*
 * Are rows in the order of vertices in that of this type and collation? Where there is a collation the keys need not be of the type, nor have
 * it: what the planner sees of that, of *source, is checked when the call is made.
 */
bool
emogi_plan_orders_vertices(const FuncExpr *call, const EmogiAlgorithmRow *function, Oid type, Oid collation, EmogiSource *source)
{
	const TypeCacheEntry *order = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY | TYPECACHE_LT_OPR);

	return OidIsValid(order->lt_opr) && order->btree_opintype == type &&
		(!OidIsValid(collation) || (emogi_call_expr_source(call, function->algorithm, source) &&
									emogi_form_orders(&source->key, type, collation)));
}

/* Get by how many of its first columns a call's rows come in order: by `vertex`, or what the kind of its rows says. Given pairs come as they come. */
static int
count_ordered(const FuncExpr *call, const EmogiAlgorithmRow *function)
{
	const EmogiRowKind *kind = emogi_kinds_find(function);
	char	   *pairs;

	if (kind == NULL)
		return 1;
	return emogi_call_expr_pairs(call, function, &pairs) && pairs == NULL ? kind->norder : 0;
}

/* Append the order of a column to that of those before; false when there is none, or nobody cares for it. */
static bool
append_order(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call, const EmogiAlgorithmRow *function, const FormData_pg_attribute *column,
			 EmogiSource *source, CustomPath *path)
{
	const Oid	type = column->atttypid;
	const bool	is_vertex = emogi_kinds_column(function, column->attnum - 1)->type == EMOGI_VERTEX;
	List	   *keys;
	const PathKey *key;

	if (is_vertex && !emogi_plan_orders_vertices(call, function, type, column->attcollation, source))
		return false;
	keys = emogi_compat_pathkeys(root, (Expr *) makeVar(rel->relid, column->attnum, type, -1, column->attcollation, 0),
								 lookup_type_cache(type, TYPECACHE_LT_OPR)->lt_opr, rel->relids);
	if (keys == NIL)
		return false;
	key = linitial_node(PathKey, keys);
	if (key->pk_eclass->ec_has_const && emogi_kinds_find(function) != NULL)
		return true;			/* one value is no order */
	path->path.pathkeys = list_append_unique_ptr(path->path.pathkeys, (void *) key);
	if (OidIsValid(column->attcollation))
		path->custom_private = list_make1_oid(column->attcollation);
	return true;
}

/* Set the order in which rows come: that of the keys. */
static void
set_order(PlannerInfo *root, RelOptInfo *rel, CustomPath *path)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	const EmogiAlgorithmRow *function;
	const FuncExpr *call = emogi_call_expr_of(rte, &function);
	const int	nordered = count_ordered(call, function);
	EmogiSource source;
	TupleDesc	desc;

	if (get_expr_result_type((Node *) call, NULL, &desc) != TYPEFUNC_COMPOSITE)
		return;
	for (int i = 0; i < nordered; i++)
		if (!append_order(root, rel, call, function, TupleDescAttr(desc, i), &source, path))
			break;
	/* an order that only a join cared for which was left out is none: `vertex` may not be among the columns above */
	path->path.pathkeys = truncate_useless_pathkeys(root, rel, path->path.pathkeys);
	if (path->path.pathkeys == NIL)
		path->custom_private = NIL;
	if (path->custom_private != NIL)
		root->glob->relationOids = list_append_unique_oid(root->glob->relationOids, source.relid);
}

/* Make a path for those outer relations, without rows and costs. */
static CustomPath *
make_path(PlannerInfo *root, RelOptInfo *rel, Relids required_outer)
{
	CustomPath *path = makeNode(CustomPath);
	const EmogiAlgorithmRow *function;

	(void) emogi_call_expr_of(planner_rt_fetch(rel->relid, root), &function);

	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = rel->reltarget;
	path->path.param_info = get_baserel_parampathinfo(root, rel, required_outer);
	path->flags = emogi_compat_projects();
	path->methods = emogi_kinds_find(function) != NULL ? &row_path_methods : &path_methods;
	set_order(root, rel, path);
	return path;
}

/* Narrow the bounds of a search by a condition that its scan sees to. */
static void
narrow(const EmogiAlgorithmRow *function, const EmogiCondition *condition, EmogiBounds *bounds)
{
	const double bound = emogi_call_expr_number((Node *) condition->operand);

	if (emogi_algorithm_takes(function, EMOGI_MAX_DEPTH) < 0)
		bounds->distance = Min(bounds->distance, bound);
	else if (bound < (double) INFINITY)
		bounds->depth = bounds->depth < 0 ? bound : Min(bounds->depth, bound);
}

/* Take what the pushed-down conditions say into account for the rows of the item; get what its call costs less for them. */
static double
adjust_rows(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call, const EmogiAlgorithmRow *function)
{
	const bool	stops = emogi_algorithm_takes(function, EMOGI_MAX_DEPTH) >= 0 || emogi_algorithm_takes(function, EMOGI_MAX_DISTANCE) >= 0;
	EmogiGraphSize size;
	EmogiBounds bounds;
	EmogiBounds given;
	double		cost;
	ListCell   *cell;

	if (!stops || !emogi_size_find(call, function->algorithm, &size))
		return 0;
	bounds = given = emogi_size_bounds(call, function);
	foreach(cell, rel->baserestrictinfo)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);
		EmogiCondition condition;

		if (emogi_conditions_match(root, rel, function, clause, &condition) && condition.pushdown >= EMOGI_AT_MOST &&
			emogi_conditions_may_bound(root, call, (Node *) condition.operand))
			narrow(function, &condition, &bounds);
	}
	if (bounds.depth == given.depth && bounds.distance == given.distance)
		return 0;
	emogi_size_try(call, function, &given, &size);
	cost = emogi_size_call_cost(&size, given.depth);
	emogi_size_try(call, function, &bounds, &size);
	rel->tuples = Min(rel->tuples, emogi_size_reached(&size, bounds.depth));	/* the search stops there: no more are read */
	rel->rows = clamp_row_est(Min(rel->rows, rel->tuples));
	return cost - emogi_size_call_cost(&size, bounds.depth);
}

/* Estimate how many rows are made of a call: all, but of rows that are not vertices those alone that pushed-down conditions leave. */
static double
count_made(PlannerInfo *root, RelOptInfo *rel, const EmogiAlgorithmRow *function)
{
	List	   *pushed = NIL;
	ListCell   *cell;

	if (emogi_kinds_find(function) == NULL)
		return rel->tuples;
	foreach(cell, rel->baserestrictinfo)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);
		EmogiCondition condition;

		if (emogi_conditions_match(root, rel, function, clause, &condition) && condition.exact)
			pushed = lappend(pushed, clause);
	}
	return clamp_row_est(rel->tuples * clauselist_selectivity(root, pushed, 0, JOIN_INNER, NULL));
}

/* Set the costs of a path of which so many rows are made and read, by so many processes; its rows are those of one of them. */
static void
set_costs(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call, double ntuples, double nreaders, Path *path)
{
	QualCost	call_cost;
	QualCost	qual_cost;

	cost_qual_eval_node(&call_cost, (Node *) call, root);
	cost_qual_eval(&qual_cost, rel->baserestrictinfo, root);
	path->startup_cost = call_cost.startup + call_cost.per_tuple + qual_cost.startup + rel->reltarget->cost.startup;
	path->total_cost = path->startup_cost + ntuples * (EMOGI_ROW_COST + qual_cost.per_tuple) / nreaders +
		path->rows * rel->reltarget->cost.per_tuple;
}

/* Add the path that returns all rows. saved: what the call costs less than it says itself. */
static void
add_scan_path(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call, double ntuples, double saved)
{
	CustomPath *path = make_path(root, rel, rel->lateral_relids);

	path->path.rows = path->path.param_info != NULL ? path->path.param_info->ppi_rows : rel->rows;
	set_costs(root, rel, call, ntuples, 1, &path->path);
	path->path.startup_cost -= saved;
	path->path.total_cost -= saved;
	add_path(rel, (Path *) path);
}

/* Does a condition name the vertices of rows, or of a column of rows that are vertices? Then few are left, and lists of them are not shared. */
static bool
chooses_vertices(PlannerInfo *root, RelOptInfo *rel, const EmogiAlgorithmRow *function)
{
	EmogiConditions sorted;
	ListCell   *pushdown;
	ListCell   *place;

	emogi_conditions_sort(root, rel, rel->baserestrictinfo, &sorted);
	forboth(pushdown, sorted.pushdowns, place, sorted.places)
	{
		const EmogiPushdown kind = (EmogiPushdown) lfirst_int(pushdown);

		if (kind <= EMOGI_VERTEX_IN || kind == EMOGI_MEMBER_OF || kind == EMOGI_IS_LIKELY || kind == EMOGI_IS_IN ||
			(kind == EMOGI_IS && emogi_kinds_column(function, lfirst_int(place))->type == EMOGI_VERTEX))
			return true;
	}
	return false;
}

/* Has a query, or one around it, a condition that holds for all rows or none, or a LIMIT that may change from scan to scan? */
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
 * May a call be made in parallel mode, where code that someone has written for a foreign table or a query of edges may fail? For a table
 * it may, for a query or view if its Graph is there, no value in it is of this call, and nothing in it is labelled as unsafe. *depends: what that depends on.
 */
static bool
may_call_in_parallel(const FuncExpr *call, const EmogiAlgorithmRow *function, EmogiQuerySize *depends)
{
	EmogiGraphArgument graph;
	EmogiSource source;
	char		kind;

	*depends = (EmogiQuerySize) {0};
	if (emogi_shared != NULL && emogi_call_expr_graph(call, &graph) && emogi_source_peek_query(&graph, &source))
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

	return emogi_algorithm_takes(function, EMOGI_START) >= 0 || (argument != NULL && !(IsA(argument, Const) && argument->constisnull));
}

/*
 * May parallel workers read the rows? The leader makes the call, in parallel mode; not so with a query of start values. A part of a
 * UNION ALL has no parallel paths of its own. The call is made before anyone asks for a row: no condition may say that
 * nobody will. And where a LIMIT changes, workers go by its first value (PostgreSQL 15, ExecParallelReinitialize).
 */
static bool
may_share_rows(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call, const EmogiAlgorithmRow *function, EmogiQuerySize *depends)
{
	return !(!root->glob->parallelModeOK || may_stop(root) || rel->reloptkind != RELOPT_BASEREL || !bms_is_empty(rel->lateral_relids) ||
		has_query(call, function) || !is_parallel_safe(root, (Node *) call->args) ||
		!is_parallel_safe(root, (Node *) rel->baserestrictinfo) || !is_parallel_safe(root, (Node *) rel->reltarget->exprs) ||
		chooses_vertices(root, rel, function)) && may_call_in_parallel(call, function, depends);
}

/*
 * Add the path that has parallel workers read the rows, as many as for a table of that size, where they may. The plan then
 * depends on what the graph's relations and functions are now, and on who asks.
 */
static void
add_shared_path(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call, const EmogiAlgorithmRow *function)
{
	int			nworkers = compute_parallel_worker(rel, rel->tuples * TABLE_ROW_BYTES / BLCKSZ, -1,
												   max_parallel_workers_per_gather);
	double		leader_share = parallel_leader_participation ? Max(1 - 0.3 * nworkers, 0) : 0;
	EmogiQuerySize depends;
	ListCell   *cell;
	CustomPath *path;

	if (nworkers == 0 || !may_share_rows(root, rel, call, function, &depends))
		return;
	path = make_path(root, rel, NULL);
	path->path.parallel_aware = path->path.parallel_safe = true;
	path->path.parallel_workers = nworkers;
	path->path.rows = clamp_row_est(rel->rows / (nworkers + leader_share));
	set_costs(root, rel, call, rel->tuples, nworkers + leader_share, &path->path);
	root->glob->relationOids = list_concat_unique_oid(root->glob->relationOids, depends.relations);
	foreach(cell, depends.functions)
		record_plan_function_dependency(root, lfirst_oid(cell));
	root->glob->dependsOnRole = true;
	rel->consider_parallel = true;
	add_partial_path(rel, (Path *) path);
}

/*
 * Add a path that looks up the vertices that an outer relation names, or those of components that it names, in the result of one run. The run is not in its
 * cost: it is paid once, whichever path is taken, while this cost counts for every row of the outer relation.
 */
static void
add_lookup_path(PlannerInfo *root, RelOptInfo *rel, const EmogiAlgorithmRow *function, RestrictInfo *clause, bool names_members,
				Relids *done)
{
	Relids		required_outer = bms_union(clause->clause_relids, rel->lateral_relids);
	EmogiCondition	condition;
	CustomPath *path;

	required_outer = bms_del_member(required_outer, rel->relid);
	if (!join_clause_is_movable_to(clause, rel) || bms_is_empty(required_outer) || bms_is_subset(required_outer, *done) ||
		!(names_members ? emogi_conditions_match_member(root, rel, function, clause, &condition) :
		  emogi_conditions_match(root, rel, function, clause, &condition) && condition.pushdown == EMOGI_VERTEX_IS))
		return;
	*done = bms_union(*done, required_outer);
	path = make_path(root, rel, required_outer);
	path->path.rows = path->path.param_info->ppi_rows;
	path->path.startup_cost = 0;
	path->path.total_cost = EMOGI_RESCAN_COST + emogi_size_lookup_cost((Node *) condition.operand, EMOGI_LOOKUP_COST) +
		path->path.rows * (EMOGI_ROW_COST + rel->reltarget->cost.per_tuple);
	add_path(rel, (Path *) path);
}

/* Is this member of an equivalence class the column by which the item's vertices are chosen? */
static bool
is_vertex(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *class, EquivalenceMember *member, void *function)
{
	return emogi_conditions_is_key((Node *) member->em_expr, rel, function);
}

/* Is it the column of components? */
static bool
is_component(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *class, EquivalenceMember *member, void *function)
{
	return emogi_conditions_is_column((Node *) member->em_expr, rel, 2);
}

/* Are rows found by their vertices without a look at all of them? */
static bool
finds_by_vertex(const FuncExpr *call, const EmogiAlgorithmRow *function)
{
	const EmogiRowKind *kind = emogi_kinds_find(function);
	char	   *pairs;

	return kind == NULL || (kind->key >= 0 && kind->key == kind->element && emogi_call_expr_pairs(call, function, &pairs) && pairs == NULL);
}

/* Add the paths that look up vertices, one for each relation that may name them. */
static void
add_lookup_paths(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call, const EmogiAlgorithmRow *function)
{
	Relids		done = NULL;
	ListCell   *cell;
	List	   *clauses;

	/* with arguments from an outer relation, every row of it would have a run of its own */
	if (!bms_is_empty(rel->lateral_relids) || !finds_by_vertex(call, function))
		return;
	clauses = generate_implied_equalities_for_column(root, rel, is_vertex, (void *) function, rel->lateral_referencers);
	foreach(cell, list_concat_copy(clauses, rel->joininfo))
		add_lookup_path(root, rel, function, lfirst_node(RestrictInfo, cell), false, &done);
	if (!emogi_conditions_names_members(function))
		return;
	done = NULL;
	clauses = generate_implied_equalities_for_column(root, rel, is_component, (void *) function, rel->lateral_referencers);
	foreach(cell, list_concat_copy(clauses, rel->joininfo))
		add_lookup_path(root, rel, function, lfirst_node(RestrictInfo, cell), true, &done);
}

/* Put the scan in the place of the FunctionScan, where it can be. */
static void
set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	const EmogiAlgorithmRow *function;
	FuncExpr   *call;
	double		saved;

	if (previous_set_rel_pathlist_hook)
		previous_set_rel_pathlist_hook(root, rel, rti, rte);
	emogi_names_note(rel, rte);
	if (!emogi_enable_scan || IS_DUMMY_REL(rel) || root->rowMarks != NIL ||
		(root->parse->commandType != CMD_SELECT && root->parse->commandType != CMD_INSERT))
		return;
	call = emogi_call_expr_of(rte, &function);
	if (call == NULL || emogi_names_uses(rel, InvalidAttrNumber) || contain_subplans((Node *) call->args))
		return;
	saved = adjust_rows(root, rel, call, function);
	rel->pathlist = rel->partial_pathlist = NIL;
	add_scan_path(root, rel, call, count_made(root, rel, function), saved);
	if (emogi_kinds_find(function) == NULL)
		add_shared_path(root, rel, call, function);
	add_lookup_paths(root, rel, call, function);
}

/* Take part in planning; called once, in the postmaster. */
void
emogi_plan_init(void)
{
	RegisterCustomScanMethods(&emogi_scan_methods);
	previous_set_rel_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = set_rel_pathlist;
	previous_get_relation_stats_hook = get_relation_stats_hook;
	get_relation_stats_hook = get_stats;
}
