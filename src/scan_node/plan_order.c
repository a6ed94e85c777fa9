/*
 * plan_order.c: the order of the rows of a scan, for its paths
 */
#include "postgres.h"

#include "funcapi.h"
#include "nodes/makefuncs.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "function/cursor.h"
#include "scan_node/call_expr.h"
#include "scan_node/plan.h"

/*
 * Do rows in vertex order have the order of this type and collation? If there is a collation, the
 * keys may have another type or collation when the plan is executed. The planner's knowledge of
 * that, from *source, is checked during the call.
 */
bool
emogi_plan_order_is_by_vertex(const FuncExpr *call, const EmogiAlgorithmRow *function, Oid type,
							  Oid collation, EmogiSource *source)
{
	const TypeCacheEntry *order = lookup_type_cache(type,
													TYPECACHE_BTREE_OPFAMILY | TYPECACHE_LT_OPR);

	return OidIsValid(order->lt_opr) && order->btree_opintype == type &&
		(!OidIsValid(collation) || (emogi_call_expr_source(call, function->algorithm, source) &&
									emogi_key_io_keeps_order(&source->key, type, collation)));
}

/*
 * Get the number of leading columns that a call's rows are ordered by: 1 for `vertex`, otherwise
 * the norder of their kind; 0 for given pairs, which keep their order.
 */
static int
count_ordered(const FuncExpr *call, const EmogiAlgorithmRow *function)
{
	const EmogiRowKind *kind = emogi_row_kind_find(function);
	char	   *pairs;

	if (kind == NULL)
		return 1;
	return emogi_call_expr_pairs(call, function, &pairs) && pairs == NULL ? kind->norder : 0;
}

/* Append a column's order to the path's; return false if it has none, or no pathkey is useful. */
bool
emogi_plan_order_append(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call,
						const EmogiAlgorithmRow *function, const FormData_pg_attribute * column,
						EmogiSource *source, CustomPath *path)
{
	const Oid	type = column->atttypid;
	const bool	is_vertex = emogi_row_kind_column(function, column->attnum - 1)->type ==
		EMOGI_VERTEX;
	List	   *keys;
	const PathKey *key;

	if (is_vertex && !emogi_plan_order_is_by_vertex(call, function, type, column->attcollation,
													source))
		return false;
	keys = emogi_compat_pathkeys(root, (Expr *) makeVar(rel->relid, column->attnum,
														type, -1, column->attcollation, 0),
								 lookup_type_cache(type, TYPECACHE_LT_OPR)->lt_opr, rel->relids);
	if (keys == NIL)
		return false;
	key = linitial_node(PathKey, keys);
	if (key->pk_eclass->ec_has_const && emogi_row_kind_find(function) != NULL)
		return true;			/* a constant column does not affect the order */
	path->path.pathkeys = list_append_unique_ptr(path->path.pathkeys, (void *) key);
	if (OidIsValid(column->attcollation))
		path->custom_private = list_make1_oid(column->attcollation);
	return true;
}

/* Set the path's order: that of the keys. */
void
emogi_plan_order_set(PlannerInfo *root, RelOptInfo *rel, CustomPath *path)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	const EmogiAlgorithmRow *function;
	const FuncExpr *call;
	int			nordered;
	EmogiSource source;
	TupleDesc	desc;

	if (!has_useful_pathkeys(root, rel))
		return;
	call = emogi_call_expr_of(rte, &function);
	desc = emogi_call_expr_row_type(call);
	if (desc == NULL)
		return;
	nordered = count_ordered(call, function);
	for (int i = 0; i < nordered; i++)
		if (!emogi_plan_order_append(root, rel, call, function, TupleDescAttr(desc, i), &source,
									 path))
			break;

	/*
	 * drop an order that was only useful for a join that was removed: the columns above may not
	 * include `vertex`
	 */
	path->path.pathkeys = truncate_useless_pathkeys(root, rel, path->path.pathkeys);
	if (path->path.pathkeys == NIL)
		path->custom_private = NIL;
	if (path->custom_private != NIL)
		root->glob->relationOids = list_append_unique_oid(root->glob->relationOids, source.relid);
}
