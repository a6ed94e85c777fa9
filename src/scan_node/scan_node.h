/*
 * scan_node.h: custom scan nodes for calls of the extension's functions in FROM
 *
 * Planner:
 *
 *   plan.c              replace the FunctionScan of a call by a custom scan
 *   plan_order.c        the order of its rows
 *   plan_shared.c       the path whose rows parallel workers read
 *   plan_stored.c       calls that store all their rows
 *   conditions.c        conditions that the scan evaluates itself; conditions_value.c: those that
 *                       compare a column with a value
 *   lateral.c           a LATERAL join as a batch
 *   join_lookup_plan.c  joins by `vertex`
 *   upper_paths.c       aggregates, and the first rows of an order
 *   aggregate_match.c   which aggregates are supported
 *   unused_names.c      whether a call needs the names of edges
 *   size.c              estimates of rows and costs; size_probe.c: by trying a search
 *   column_stats.c      column statistics of rows that are not vertices
 *   call_expr.c         what a call's expression tells before execution
 *
 * Executor:
 *
 *   scan.c              the run of a scan
 *   inputs.c            the inputs of the run: arguments and operands of conditions
 *   stream.c            return rows that are vertices
 *   shared_rows.c       share rows with parallel workers
 *   row_scan.c          return rows that are not vertices
 *   stored_scan.c       return rows that the function has stored
 *   ranges.c, topk.c    select rows by value; pick the first rows of an order
 *   grouping.c          compute aggregates, with grouping_fold.c; returned by aggregate.c
 *   summary.c           have the engine compute aggregates or the first rows
 *   batch.c             execute a batch, with batch_call.c
 *   batch_sums.c        the same if only aggregates are needed
 *   join_lookup.c       execute a join by `vertex`, with key_map.c
 *   explain.c           EXPLAIN of all nodes, with explain_option.c
 *
 * plan.h is shared by the planner's files, scan.h by the executor's.
 */
#ifndef EMOGI_SCAN_NODE_H
#define EMOGI_SCAN_NODE_H

#include "nodes/extensible.h"
#include "nodes/primnodes.h"

#include "function/function.h"

/* Conditions that a scan evaluates itself */
typedef enum EmogiPushdown
{
	EMOGI_VERTEX_IS,			/* vertex = x */
	EMOGI_VERTEX_IN,			/* vertex = ANY (x) */
	EMOGI_BOUND_AT_MOST,		/* level or distance <= x */
	EMOGI_BOUND_BELOW,			/* level or distance < x */
	EMOGI_BOUND_EXACTLY,		/* level or distance = x: bounds the traversal; each row is
								 * rechecked */
	EMOGI_IS_BELOW,				/* any column after `vertex`, compared with x in the result arrays:
								 * < */
	EMOGI_IS_AT_MOST,			/* <= */
	EMOGI_IS,					/* = (the only one of these for vertex columns other than bigint) */
	EMOGI_IS_AT_LEAST,			/* >= */
	EMOGI_IS_ABOVE,				/* > */
	EMOGI_IS_LIKELY,			/* text =, for a vertex column if the key type is unknown at
								 * planning: narrows the rows, each of which is rechecked */
	EMOGI_IS_IN,				/* = ANY (x), for a vertex column */
	EMOGI_IS_NOT,				/* <> x, for a vertex column */
	EMOGI_MEMBER_OF,			/* component = x of emogi_cc or emogi_scc, where x changes between
								 * rescans: the component's vertices are looked up */
	EMOGI_IS_NULL,				/* for a nullable column; IS NULL and IS NOT NULL have no operand,
								 * and the list of operands has a NULL constant */
	EMOGI_IS_NOT_NULL,
	EMOGI_IS_SELF,				/* = vertex, for a vertex column; like the next one, without an
								 * operand, too */
	EMOGI_IS_NOT_SELF			/* <> vertex */
} EmogiPushdown;

/*
 * A scan's custom_exprs: the call (a FuncExpr), then the right-hand sides of the pushed-down
 * conditions.
 *
 * custom_private, after the mark:
 *
 *   - columns returned (integers, 0 = the first, which is `vertex` if rows are vertices), in the
 *     order of custom_scan_tlist
 *   - EmogiPushdown of each condition
 *   - names of the columns of these conditions (strings)
 *   - numbers of these columns (integers)
 *   - scan: the collation that the plan's row order depends on, if any
 *   - scan of the first rows of an order: that order (topk.c)
 *   - aggregates: their outputs (aggregate.c)
 */
extern const CustomScanMethods emogi_scan_methods;
extern const CustomScanMethods emogi_aggregate_methods;

/*
 * Positions in custom_private. A mark precedes the lists because Citus inspects the first element
 * of custom_private of each scan in a plan. It expects a node there, and an empty list is not a
 * node.
 */
enum
{
	EMOGI_PLAN_MARK, EMOGI_PLAN_COLUMNS, EMOGI_PLAN_PUSHDOWNS, EMOGI_PLAN_NAMES, EMOGI_PLAN_PLACES,
	EMOGI_PLAN_ORDER, EMOGI_PLAN_UPPER,
	EMOGI_PLAN_NOUTER = EMOGI_PLAN_ORDER
};

/*
 * A batch (lateral.c, batch.c): the same lists up to the column numbers, followed by the number of
 * columns of the outer plan
 */
extern const CustomScanMethods emogi_batch_methods;

/*
 * A batch that returns aggregates (lateral.c, batch_sums.c): like a batch, followed by the list for
 * aggregates; there is one row for each outer row
 */
extern const CustomScanMethods emogi_batch_sums_methods;

extern void emogi_plan_init(void);
extern void emogi_lateral_init(void);
extern void emogi_join_lookup_init(void);
extern void emogi_upper_paths_init(void);
extern void emogi_explain_option_init(void);

#endif							/* EMOGI_SCAN_NODE_H */
