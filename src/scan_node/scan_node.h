/*
 * scan_node.h: calls of the functions in FROM, as nodes of a plan.
 *
 * plan.c replaces the scan of a function by a custom scan, with the conditions that it sees to itself (conditions.c); lateral.c
 * does the same for a LATERAL join, as a batch, join_lookup_plan.c for joins by `vertex`, and upper.c
 * for aggregates and for the first rows in an order. outputs.c says which aggregates; names.c tells calls that no names of edges are wanted; size.c tells the planner rows and costs; call_expr.c knows what a call says before
 * it is carried out. scan.c makes the run of a scan, of inputs.c's inputs; stream.c returns its rows, with parallel workers through
 * share.c, and row_scan.c those that are not vertices, of which column_stats.c tells the planner more; ranges.c, top.c and grouping.c compute which rows are wanted, and aggregates of them, which aggregate.c returns; summary.c has an engine do so; batch.c and batch_call.c carry out a batch, with batch_sums.c where only
 * aggregates of it are wanted; join_lookup.c, with key_map.c, a join; explain.c shows them all. plan.h and scan.h are what the planner's and the
 * executor's half of this room share.
 */
#ifndef EMOGI_SCAN_NODE_H
#define EMOGI_SCAN_NODE_H

#include "nodes/extensible.h"
#include "nodes/primnodes.h"

#include "function/function.h"

/* Conditions that a scan sees to itself. */
typedef enum EmogiPushdown
{
	EMOGI_VERTEX_IS,			/* vertex = x */
	EMOGI_VERTEX_IN,			/* vertex = ANY (x) */
	EMOGI_AT_MOST,				/* level or distance <= x */
	EMOGI_BELOW,				/* level or distance < x */
	EMOGI_EXACTLY,				/* level or distance = x: bounds the traversal, and is checked for each row besides */
	EMOGI_IS_BELOW,				/* any column after `vertex`, compared with x in the arrays: <, */
	EMOGI_IS_AT_MOST,			/* <=, */
	EMOGI_IS,					/* =, of vertices this alone, */
	EMOGI_IS_AT_LEAST,			/* >=, */
	EMOGI_IS_ABOVE,				/* > */
	EMOGI_IS_LIKELY,			/* = as text, of vertices whose keys' type is not known yet: narrows the rows, each of which is checked besides */
	EMOGI_IS_IN,				/* = ANY (x), of vertices */
	EMOGI_IS_NOT,				/* <> x, of vertices */
	EMOGI_MEMBER_OF,			/* component = x of emogi_cc or emogi_scc, with x changing from scan to scan: its vertices are looked up */
	EMOGI_IS_NULL,				/* of a column that may be NULL; these two have no value, and NULL stands in its place */
	EMOGI_IS_NOT_NULL
} EmogiPushdown;

/*
 * A scan's custom_exprs: the call (a FuncExpr), then the right sides of the conditions pushed down.
 * custom_private: a list of the columns it returns (integers, 0 = the first, which is `vertex` where rows are vertices), in the order of
 * custom_scan_tlist; a list of EmogiPushdown; a list of the names of the columns that these are about (strings); a list of the places of
 * these columns (integers); of a scan a list of the collation in which the plan has rows come, if it has; of a scan of the first rows in
 * an order a list of what that is (top.c), of aggregates a list of what is computed (aggregate.c).
 */
extern const CustomScanMethods emogi_scan_methods;
extern const CustomScanMethods emogi_aggregate_methods;

/* The places of these lists. Before them stands a mark: Citus looks at what is first in the private list of each scan of a plan, and wants a node there, which an empty list is not. */
enum
{
	EMOGI_PLAN_MARK, EMOGI_PLAN_COLUMNS, EMOGI_PLAN_PUSHDOWNS, EMOGI_PLAN_NAMES, EMOGI_PLAN_PLACES, EMOGI_PLAN_ORDER, EMOGI_PLAN_UPPER,
	EMOGI_PLAN_NOUTER = EMOGI_PLAN_ORDER
};

/* A batch (lateral.c, batch.c): likewise up to the places, and then the number of the outer plan's columns. */
extern const CustomScanMethods emogi_batch_methods;

/* A batch of which aggregates are wanted (lateral.c, batch_sums.c): then as for aggregates, of which there is one row for each outer row. */
extern const CustomScanMethods emogi_batch_sums_methods;

extern void emogi_plan_init(void);
extern void emogi_lateral_init(void);
extern void emogi_join_lookup_init(void);
extern void emogi_upper_init(void);

#endif							/* EMOGI_SCAN_NODE_H */
