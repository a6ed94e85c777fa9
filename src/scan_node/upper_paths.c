/*
 * upper_paths.c: planning of aggregates and of the first rows of an order, over the rows of one
 * call
 *
 *   SELECT level, count(*) FROM emogi_bfs('edges', 42) GROUP BY level          EmogiAggregate
 *   SELECT DISTINCT component FROM emogi_cc('edges')                           EmogiAggregate
 *   SELECT vertex, rank FROM emogi_pagerank('edges') ORDER BY rank DESC LIMIT 20    EmogiScan
 *
 * None of these forms the rows that it reads. The scan must evaluate all conditions on the rows
 * itself. Aggregates are PostgreSQL's own count, min, max, sum and avg of plain columns, without
 * FILTER, DISTINCT or ORDER BY. There may be one grouping column, a level or a vertex. Vertices are
 * compared by their numbers. For text this requires keys in the same order if the result depends on
 * an order, and keys that differ in their text if it depends on groups.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

#include "scan_node/aggregate.h"
#include "scan_node/call_expr.h"
#include "scan_node/plan.h"
#include "base/compat.h"

/* Measured cost of a vertex examined in the result arrays */
#define VERTEX_COST (0.05 * EMOGI_ROW_COST)

/* Maximum LIMIT for picking the first rows; above it, a sort is faster */
#define MAX_PICKED 100000

static create_upper_paths_hook_type previous_create_upper_paths_hook = NULL;

/* A call whose rows are the only input of a query */
typedef struct Input
{
	RelOptInfo *rel;
	FuncExpr   *call;
	const EmogiAlgorithmRow *function;
	double		call_cost;
	double		nexamined;		/* vertices */
} Input;

/*
 * Find the call whose rows are the only input of an upper planning step; return false if there is
 * none, or if single rows must be checked.
 */
static bool
find_input(PlannerInfo *root, RelOptInfo *rel, Input *input)
{
	EmogiConditions sorted;
	EmogiComponentSizes sizes;
	bool		is_one;
	const Path *path;

	if (!emogi_enable_scan || rel->reloptkind != RELOPT_BASEREL || root->hasPseudoConstantQuals ||
		root->parse->hasTargetSRFs || !bms_is_empty(rel->lateral_relids))
		return false;
	path = emogi_plan_find_scan(rel);
	if (path == NULL)
		return false;
	input->rel = rel;
	input->call = emogi_call_expr_of(planner_rt_fetch(rel->relid, root), &input->function);
	input->call_cost = path->startup_cost;
	input->nexamined = emogi_size_components(root, rel, input->call, input->function, &sizes,
											 &is_one) ? rel->rows : rel->tuples;
	emogi_conditions_sort(root, rel, rel->baserestrictinfo, &sorted);
	return sorted.quals == NIL;
}

/* Get the result column with this number; NULL for `vertex`. */
static const EmogiResultColumn *
column_at(const Input *input, int place)
{
	return place > 0 ? &input->function->columns[place - 1] : NULL;
}

/* Is this a column of vertices? */
static bool
is_of_vertices(const Input *input, int place)
{
	return place == 0 || column_at(input, place)->type == EMOGI_VERTEX;
}

/*
 * Do vertex numbers have the order of this type, with this collation if it has any? *order is set
 * to the collation that the call must check at execution; it is unchanged if the type has no
 * collation. Return false if *order already has another value.
 */
static bool
has_order_of_numbers(PlannerInfo *root, const Input *input, Oid type, Oid collation, Oid *order)
{
	EmogiKeyType key;

	if (type == INT8OID || type == UUIDOID)
		return true;
	if (type != TEXTOID || !OidIsValid(collation) || (OidIsValid(*order) && *order != collation) ||
		!emogi_call_expr_plan_keys(root, input->call, input->function->algorithm, &key) ||
		!emogi_key_io_keeps_order(&key, type, collation))
		return false;
	*order = collation;
	return true;
}

/* Make the list with the collation that a plan's row order depends on, for custom_private. */
static List *
order_list(Oid order)
{
	return OidIsValid(order) ? list_make1_oid(order) : NIL;
}

/* ---- aggregates ---- */

/* What to compute from the input */
typedef struct Wanted
{
	PlannerInfo *root;
	const Input *input;
	int			place;			/* number of the grouping column, 0 = none */
	bool		counts_groups;	/* and return only their number, not the groups */
	bool		distinguishes;	/* depends on the key type: different keys must have different
								 * text */
	Oid			order;			/* collation that the order of vertex numbers must match; InvalidOid
								 * = none */
	List	   *tlist;			/* TargetEntry: grouping column and aggregates, each once */
	List	   *outputs;		/* [tlist] integer lists: EmogiOutput, column number */
} Wanted;

/*
 * Does a vertex column have as many different values as vertices? Different keys may have equal
 * text, such as floats, whose text depends on extra_float_digits. Different text may be equal under
 * a collation.
 */
static bool
has_distinct_vertices(Wanted *wanted, const Node *column)
{
	const Oid	collation = exprCollation(column);
	EmogiKeyType key;

	if (exprType(column) != TEXTOID)
		return true;
	if (!OidIsValid(collation) || !get_collation_isdeterministic(collation) ||
		!emogi_call_expr_plan_keys(wanted->root,
								   wanted->input->call, wanted->input->function->algorithm, &key) ||
		!emogi_key_io_is_injective(&key, TEXTOID))
		return false;
	wanted->distinguishes = true;
	return true;
}

/*
 * Can rows be grouped by a column? Values that are equal by their type's equality must denote the
 * same vertex.
 */
static bool
makes_groups(Wanted *wanted, int place, const Node *column)
{
	return column_at(wanted->input, place)->type == EMOGI_INT32 ||
		(is_of_vertices(wanted->input, place) && has_distinct_vertices(wanted, column));
}

/*
 * Group all rows by a column whose distinct values are counted; return false if there are other
 * groups.
 */
static bool
count_groups(Wanted *wanted, const Node *node, int place)
{
	const Node *argument =
		(const Node *) linitial_node(TargetEntry, ((const Aggref *) node)->args)->expr;

	if (wanted->place != 0 && !(wanted->counts_groups && wanted->place == place))
		return false;
	wanted->place = place;
	wanted->counts_groups = true;
	return makes_groups(wanted, place, argument);
}

/* Can all outputs be computed if groups are only counted? */
static bool
is_consistent(const Wanted *wanted)
{
	ListCell   *cell;

	foreach(cell, wanted->outputs)
		if (wanted->counts_groups && linitial_int(lfirst(cell)) > EMOGI_OUTPUT_COUNT)
			return false;
	return true;
}

/* Does an aggregate have the same result over vertex numbers as over the vertices themselves? */
static bool
is_of_numbers(Wanted *wanted, const Aggref *aggregate, EmogiOutput output)
{
	const Node *argument;

	if (aggregate->args == NIL)
		return true;
	argument = (const Node *) linitial_node(TargetEntry, aggregate->args)->expr;
	if (output == EMOGI_OUTPUT_COUNT && aggregate->aggdistinct != NIL)
		return has_distinct_vertices(wanted, argument);
	return (output != EMOGI_OUTPUT_MIN && output != EMOGI_OUTPUT_MAX) ||
		exprType(argument) != TEXTOID ||
		has_order_of_numbers(wanted->root, wanted->input, TEXTOID, aggregate->inputcollid,
							 &wanted->order);
}

/* Add the grouping column or an aggregate to the outputs; return false if it is neither. */
static bool
add_output(Wanted *wanted, Node *node)
{
	EmogiOutput output = EMOGI_OUTPUT_GROUP;
	int			place = wanted->place;

	if (IsA(node, Aggref) ? !emogi_aggregate_match(wanted->input->rel, (Aggref *) node,
												   &output, &place) :
		(wanted->place == 0 || emogi_aggregate_match_column(wanted->input->rel, node) !=
		 wanted->place))
		return false;
	if (output == EMOGI_OUTPUT_GROUPS && !count_groups(wanted, node, place))
		return false;
	if (IsA(node, Aggref) && !is_of_numbers(wanted, (const Aggref *) node, output))
		return false;
	if (tlist_member((Expr *) node, wanted->tlist) != NULL)
		return true;
	wanted->tlist = lappend(wanted->tlist,
							makeTargetEntry(copyObject((Expr *) node),
											list_length(wanted->tlist) + 1, NULL, false));
	wanted->outputs = lappend(wanted->outputs, list_make2_int(output, place));
	return true;
}

/*
 * Add all columns and aggregates in the expressions to the outputs; return false if one is not
 * supported.
 */
static bool
add_outputs(Wanted *wanted, Node *expressions)
{
	ListCell   *cell;

	foreach(cell, pull_var_clause(expressions, PVC_INCLUDE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
								  PVC_INCLUDE_PLACEHOLDERS))
		if (!add_output(wanted, lfirst(cell)))
			return false;
	return true;
}

/*
 * Find the grouping column; return false if there is more than one, or it is neither a level nor a
 * vertex.
 */
static bool
find_group(PlannerInfo *root, const Input *input, List *clauses, Wanted *wanted, Var **var)
{
	*var = NULL;
	if (clauses == NIL)
		return true;
	if (list_length(clauses) != 1)
		return false;
	*var = (Var *) get_sortgroupclause_expr(linitial_node(SortGroupClause, clauses),
											root->processed_tlist);
	wanted->place = Max(emogi_aggregate_match_column(input->rel, (Node *) *var), 0);
	if (wanted->place == 0)
		return false;
	return makes_groups(wanted, wanted->place, (const Node *) *var);
}

/* Make the plan of an aggregate path. */
static Plan *
plan_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
			   List *children)
{
	const RelOptInfo *input = linitial(path->custom_private);
	CustomScan *scan = emogi_plan_make(root, input, input->baserestrictinfo);

	scan->custom_scan_tlist = lsecond(path->custom_private);
	scan->custom_private = lappend(lappend(scan->custom_private, list_nth(path->custom_private, 4)),
								   lthird(path->custom_private));
	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = copyObject(lfourth(path->custom_private));
	scan->methods = &emogi_aggregate_methods;
	return &scan->scan.plan;
}

static const CustomPathMethods aggregate_methods = {.CustomName = "EmogiAggregate",
													.PlanCustomPath = plan_aggregate};

/* Set the order of the groups, if they have one. */
static void
set_order(PlannerInfo *root, Wanted *wanted, const Var *var, Path *path)
{
	const Input *input = wanted->input;
	const TypeCacheEntry *order = lookup_type_cache(var->vartype, TYPECACHE_LT_OPR);

	if (OidIsValid(order->lt_opr) &&
		(column_at(input, wanted->place)->type == EMOGI_INT32 ||
		 has_order_of_numbers(root, input, var->vartype, var->varcollid, &wanted->order)))
		path->pathkeys = emogi_compat_pathkeys(root, (Expr *) copyObject(var), order->lt_opr,
											   input->rel->relids);
}

/* Add a path for aggregates of the input, or for the distinct values of one of its columns. */
static void
add_aggregate_path(PlannerInfo *root, const Input *input, RelOptInfo *output, PathTarget *target,
				   List *clauses, List *having)
{
	CustomPath *path = makeNode(CustomPath);
	Wanted		wanted = {.root = root,.input = input};
	double		ngroups = 1;
	Var		   *var;

	if (!find_group(root, input, clauses, &wanted, &var) ||
		!add_outputs(&wanted, (Node *) target->exprs) || !add_outputs(&wanted, (Node *) having) ||
		!is_consistent(&wanted))
		return;
	if (var != NULL)
		ngroups = estimate_num_groups(root, list_make1(var), input->rel->rows, NULL, NULL);
	path->path.pathtype = T_CustomScan;
	path->path.parent = output;
	path->path.pathtarget = target;
	path->path.rows = clamp_row_est(ngroups * clauselist_selectivity(root, having, 0, JOIN_INNER,
																	 NULL));
	path->path.startup_cost = input->call_cost +
		input->nexamined * VERTEX_COST * (1 + list_length(wanted.outputs));
	path->path.total_cost = path->path.startup_cost + ngroups * cpu_tuple_cost +
		target->cost.startup + ngroups * target->cost.per_tuple;
	if (var != NULL)
		set_order(root, &wanted, var, &path->path);
	path->flags = emogi_compat_projects();
	path->custom_private = list_make5(input->rel, wanted.tlist,
									  lcons(list_make2_int(wanted.place, wanted.distinguishes),
											wanted.outputs), having, order_list(wanted.order));
	path->methods = &aggregate_methods;
	add_path(output, &path->path);
}

/* Add a path for GROUP BY, HAVING and aggregates. */
static void
add_groups(PlannerInfo *root, const Input *input, RelOptInfo *output,
		   const GroupPathExtraData *extra)
{
	if (root->parse->groupingSets == NIL)
		add_aggregate_path(root, input, output, root->upper_targets[UPPERREL_GROUP_AGG],
						   root->parse->groupClause,
						   extra != NULL ? (List *) extra->havingQual : NIL);
}

/* Add a path for SELECT DISTINCT of one column. */
static void
add_distinct(PlannerInfo *root, const Input *input, RelOptInfo *output)
{
	if (!root->parse->hasDistinctOn && root->parse->groupClause == NIL && !root->parse->hasAggs &&
		!root->parse->hasWindowFuncs)
		add_aggregate_path(root, input, output, root->upper_targets[UPPERREL_DISTINCT],
						   root->parse->distinctClause, NIL);
}

/* ---- the first rows of an order ---- */

/* Make the plan of a path for the first rows. */
static Plan *
plan_first(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
		   List *children)
{
	const RelOptInfo *input = linitial(path->custom_private);
	CustomScan *scan = emogi_plan_make(root, input, input->baserestrictinfo);
	List	   *columns = NIL;

	emogi_plan_add_columns(input->relid, (Node *) path->path.pathtarget->exprs,
						   &scan->custom_scan_tlist, &columns);
	emogi_plan_add_columns(input->relid, (Node *) tlist, &scan->custom_scan_tlist, &columns);
	lfirst(list_nth_cell(scan->custom_private, EMOGI_PLAN_COLUMNS)) = columns;
	scan->custom_private = lappend(lappend(scan->custom_private, lthird(path->custom_private)),
								   lsecond(path->custom_private));
	scan->scan.plan.targetlist = tlist;
	return &scan->scan.plan;
}

static const CustomPathMethods first_methods = {.CustomName = "EmogiScan",
												.PlanCustomPath = plan_first};

/*
 * Get the number of the input column that a pathkey sorts by; -1 if it sorts by something else.
 * order: see has_order_of_numbers.
 */
static int
place_of_key(PlannerInfo *root, const Input *input, const PathKey *key, Oid *order)
{
	ListCell   *cell;

	foreach(cell, key->pk_eclass->ec_members)
	{
		const Node *expression = (Node *) lfirst_node(EquivalenceMember, cell)->em_expr;
		int			place = emogi_aggregate_match_column(input->rel, expression);

		if (place >= 0 &&
			key->pk_opfamily == lookup_type_cache(exprType(expression),
												  TYPECACHE_BTREE_OPFAMILY)->btree_opf)
			return !is_of_vertices(input, place) ||
				has_order_of_numbers(root, input, exprType(expression),
									 key->pk_eclass->ec_collation, order) ? place : -1;
	}
	return -1;
}

/*
 * Describe the order and the number of rows as a list; NIL if rows cannot be picked by it. *order:
 * the collation that it depends on.
 */
static List *
describe_order(PlannerInfo *root, const Input *input, Oid *order)
{
	List	   *spec = list_make1_int((int) root->limit_tuples);
	ListCell   *cell;

	if (list_length(root->sort_pathkeys) > EMOGI_MAX_COLUMNS + 1)
		return NIL;
	foreach(cell, root->sort_pathkeys)
	{
		const PathKey *key = lfirst_node(PathKey, cell);
		int			place = place_of_key(root, input, key, order);

		if (place < 0)
			return NIL;
		spec = lappend_int(lappend_int(spec, place), emogi_compat_descends(key));
		if (place == 0)
			break;				/* no two rows have the same vertex */
	}
	return spec;
}

/* Is a LIMIT or OFFSET expression constant? For any other, the planner has only an estimate. */
static bool
is_constant(const Node *limit)
{
	return limit == NULL || IsA(limit, Const);
}

/* Add a path for ORDER BY with a constant LIMIT. */
static void
add_first(PlannerInfo *root, const Input *input, RelOptInfo *output)
{
	const Query *query = root->parse;
	CustomPath *path;
	List	   *spec;
	Oid			order = InvalidOid;

	if (root->limit_tuples < 1 || root->limit_tuples > MAX_PICKED ||
		!is_constant(query->limitCount) || !is_constant(query->limitOffset) ||
		query->limitOption == LIMIT_OPTION_WITH_TIES || root->sort_pathkeys == NIL)
		return;
	spec = describe_order(root, input, &order);
	if (spec == NIL)
		return;
	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = output;
	path->path.pathtarget = root->upper_targets[UPPERREL_ORDERED];
	path->path.pathkeys = root->sort_pathkeys;
	path->path.rows = Min(root->limit_tuples, input->rel->rows);
	path->path.startup_cost = input->call_cost + input->nexamined * VERTEX_COST +
		path->path.rows * log2(path->path.rows + 1) * cpu_operator_cost;
	path->path.total_cost = path->path.startup_cost +
		path->path.rows * (EMOGI_ROW_COST + path->path.pathtarget->cost.per_tuple);
	path->flags = emogi_compat_projects();
	path->custom_private = list_make3(input->rel, spec, order_list(order));
	path->methods = &first_methods;
	add_path(output, &path->path);
}

/* ---- hook ---- */

/* Add paths for upper planning steps over the rows of one call. */
static void
create_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
				   RelOptInfo *output, void *extra)
{
	Input		input;

	if (previous_create_upper_paths_hook)
		previous_create_upper_paths_hook(root, stage, input_rel, output, extra);
	if (stage == UPPERREL_ORDERED ? !emogi_enable_topk : !emogi_enable_aggregates)
		return;
	if (stage == UPPERREL_GROUP_AGG && input_rel->reloptkind == RELOPT_JOINREL)
		emogi_lateral_add_sums(root, input_rel, output, extra);
	if ((stage != UPPERREL_GROUP_AGG && stage != UPPERREL_DISTINCT && stage != UPPERREL_ORDERED) ||
		!find_input(root, input_rel, &input))
		return;
	if (stage == UPPERREL_GROUP_AGG)
		add_groups(root, &input, output, extra);
	else if (stage == UPPERREL_DISTINCT)
		add_distinct(root, &input, output);
	else
		add_first(root, &input, output);
}

/* Install the planner hook; called once, in the postmaster. */
void
emogi_upper_paths_init(void)
{
	RegisterCustomScanMethods(&emogi_aggregate_methods);
	previous_create_upper_paths_hook = create_upper_paths_hook;
	create_upper_paths_hook = create_upper_paths;
}
