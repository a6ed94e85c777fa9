/*
 * join_lookup_plan.c: planning of joins with a call's rows by `vertex`
 *
 *   SELECT ... FROM t WHERE EXISTS (SELECT FROM emogi_bfs('edges', 42, 3) b WHERE b.vertex = t.x)
 *   SELECT ... FROM posts p JOIN emogi_bfs('follows', 1, 2) b ON b.vertex = p.author
 *
 * A hash join would form a row for each vertex, and a nested loop would rescan for each outer row.
 * A CustomScan over the outer relation (join_lookup.c) replaces them: for inner, left, semi- and
 * anti-joins, if the call does not depend on the outer rows and `vertex` can be looked up. Text is
 * compared again after the lookup, because a key that equals it may have another text.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"

#include "scan_node/call_expr.h"
#include "scan_node/join_lookup.h"
#include "scan_node/plan.h"
#include "base/compat.h"

/* Measured cost of an integer lookup: no more than a probe of a hash table */
#define INTEGER_COST (0.5 * cpu_operator_cost)

static set_join_pathlist_hook_type previous_set_join_pathlist_hook = NULL;

/* The parts of a join */
typedef struct LookupJoin
{
	RelOptInfo *inner;
	JoinType	type;
	EmogiConditions conditions; /* on the call's rows alone */
	Expr	   *key;			/* expression that is compared with `vertex` */
	bool		is_text;		/* the lookup depends on the type of the graph's keys */
	List	   *filter;			/* remaining clauses, including conditions that need a recheck */
} LookupJoin;

/* Is this join type supported? */
static bool
is_join_known(JoinType type)
{
	return type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_SEMI || type == JOIN_ANTI;
}

/* Is there a pseudoconstant clause, or for an outer join a clause that filters its result? */
static bool
has_other_clause(const RelOptInfo *joinrel, JoinType type, List *clauses)
{
	ListCell   *cell;

	foreach(cell, clauses)
	{
		const RestrictInfo *clause = lfirst_node(RestrictInfo, cell);

		if (clause->pseudoconstant ||
			(IS_OUTER_JOIN(type) && RINFO_IS_PUSHED_DOWN(clause, joinrel->relids)))
			return true;
	}
	return false;
}

/*
 * Does a relation's target contain anything but columns? For rows without a match it would have to
 * be NULL, whatever the expression returns for NULL columns.
 */
static bool
computes(const RelOptInfo *rel)
{
	ListCell   *cell;

	foreach(cell, rel->reltarget->exprs)
		if (!IsA(lfirst(cell), Var))
			return true;
	return false;
}

/*
 * Split the clauses of a join into the lookup and the others; return false if there is no lookup.
 */
static bool
find_key(PlannerInfo *root, const RelOptInfo *outer, const EmogiAlgorithmRow *function,
		 List *clauses, LookupJoin *join)
{
	ListCell   *cell;

	foreach(cell, clauses)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, cell);
		EmogiCondition condition;
		Relids		relids;

		if (join->key == NULL &&
			emogi_conditions_match(root, join->inner, function, clause, &condition) &&
			condition.pushdown == EMOGI_VERTEX_IS)
		{
			relids = pull_varnos(root, (Node *) condition.operand);
			if (!bms_is_empty(relids) && bms_is_subset(relids, outer->relids))
			{
				join->key = condition.operand;
				if (condition.exact)
					continue;
				join->is_text = true;
			}
		}
		join->filter = lappend(join->filter, clause->clause);
	}
	return join->key != NULL;
}

/* Make the plan of a path. */
static Plan *
plan_lookup(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
			List *children)
{
	const LookupJoin *join = linitial(path->custom_private);
	CustomScan *scan = emogi_plan_make_above(root, join->inner, path, tlist, children,
											 &join->conditions);
	const EmogiAlgorithmRow *function;
	const FuncExpr *call = emogi_call_expr_of(planner_rt_fetch(join->inner->relid, root),
											  &function);
	EmogiSource source;

	if (join->is_text && emogi_call_expr_source(call, function->algorithm, &source))
		root->glob->relationOids = list_append_unique_oid(root->glob->relationOids, source.relid);
	scan->custom_exprs = lappend(lappend(scan->custom_exprs, copyObject(join->key)),
								 copyObject(join->filter));
	emogi_plan_add_used(scan, join->inner, path, join->filter);
	scan->custom_private =
		lappend(scan->custom_private,
				list_make2_int(list_length(((const Plan *) linitial(children))->targetlist),
							   join->type));
	scan->methods = &emogi_lookup_methods;
	return &scan->scan.plan;
}

static const CustomPathMethods path_methods = {.CustomName = "EmogiLookup",
											   .PlanCustomPath = plan_lookup};

/*
 * Add the path that looks up the vertices of outer rows. As for scans that look up single vertices
 * (plan.c), its cost does not include the run, which is made once for any path.
 */
static void
add_lookup_path(PlannerInfo *root, RelOptInfo *joinrel, Path *outer_path, LookupJoin *join)
{
	CustomPath *path = makeNode(CustomPath);
	/* outer rows are returned unchanged */
	const bool	passes = join->type == JOIN_SEMI || join->type == JOIN_ANTI;
	QualCost	key_cost;
	QualCost	filter_cost;

	cost_qual_eval_node(&key_cost, (Node *) join->key, root);
	cost_qual_eval(&filter_cost, join->filter, root);
	path->path.pathtype = T_CustomScan;
	path->path.parent = joinrel;
	path->path.pathtarget = joinrel->reltarget;
	path->path.pathkeys = build_join_pathkeys(root, joinrel, join->type, outer_path->pathkeys);
	path->path.rows = joinrel->rows;
	path->path.startup_cost = outer_path->startup_cost + key_cost.startup + filter_cost.startup +
		joinrel->reltarget->cost.startup;
	path->path.total_cost = path->path.startup_cost +
		(outer_path->total_cost - outer_path->startup_cost) +
		outer_path->rows * (emogi_size_lookup_cost((Node *) join->key, INTEGER_COST) +
							key_cost.per_tuple + filter_cost.per_tuple) +
		joinrel->rows * ((passes ? 0 : EMOGI_ROW_COST) + joinrel->reltarget->cost.per_tuple);
	emogi_compat_add_disabled(&path->path, outer_path);
	path->flags = emogi_compat_projects();
	path->custom_paths = list_make1(outer_path);
	path->custom_private = list_make1(join);
	path->methods = &path_methods;
	add_path(joinrel, (Path *) path);
}

/* Add the path for a join of outer rows with a call's rows, if it is supported. */
static void
set_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner,
				  JoinType type, JoinPathExtraData *extra)
{
	const EmogiAlgorithmRow *function;
	Path	   *outer_path = outer->cheapest_total_path;
	LookupJoin	   *join;

	if (previous_set_join_pathlist_hook)
		previous_set_join_pathlist_hook(root, joinrel, outer, inner, type, extra);
	if (!emogi_enable_scan || !emogi_enable_join_lookup || !is_join_known(type) ||
		inner->reloptkind != RELOPT_BASEREL || !bms_is_empty(inner->lateral_relids) ||
		!bms_is_empty(joinrel->lateral_relids) || outer_path == NULL ||
		PATH_REQ_OUTER(outer_path) != NULL || emogi_plan_find_scan(inner) == NULL ||
		has_other_clause(joinrel, type, extra->restrictlist) ||
		has_other_clause(inner, JOIN_INNER, inner->baserestrictinfo) ||
		(IS_OUTER_JOIN(type) && computes(inner)))
		return;
	join = palloc0(sizeof *join);
	join->inner = inner;
	join->type = type;
	(void) emogi_call_expr_of(planner_rt_fetch(inner->relid, root), &function);
	emogi_conditions_sort(root, inner, inner->baserestrictinfo, &join->conditions);
	if (list_member_int(join->conditions.places, 0) ||
		list_member_int(join->conditions.pushdowns, EMOGI_MEMBER_OF) ||
		!find_key(root, outer, function, extra->restrictlist, join))
		return;
	/*
	 * the node's tuple has the call's columns as the result returns them, and the filter is checked
	 * there
	 */
	join->filter = emogi_compat_below_join(list_concat_copy(join->conditions.quals, join->filter),
										   inner, joinrel, extra->sjinfo);
	add_lookup_path(root, joinrel, outer_path, join);
}

/* Install the planner hook; called once, in the postmaster. */
void
emogi_join_lookup_init(void)
{
	RegisterCustomScanMethods(&emogi_lookup_methods);
	previous_set_join_pathlist_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = set_join_pathlist;
}
