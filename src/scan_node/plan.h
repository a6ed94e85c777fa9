/*
 * plan.h: declarations shared by the planner's files
 *
 * plan.c plans scans, with plan_order.c and plan_shared.c; lateral.c plans batches of scans, and
 * upper_paths.c the steps above scans.
 * conditions.c, conditions_value.c, aggregate_match.c, unused_names.c, size.c and size_probe.c
 * serve all of them.
 */
#ifndef EMOGI_PLAN_H
#define EMOGI_PLAN_H

#include "access/htup.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"

#include "answer/answer.h"
#include "answer/cost.h"
#include "scan_node/aggregate.h"
#include "scan_node/scan_node.h"

/* Measured costs, relative to those of a sequential scan */
#define EMOGI_ROW_COST	(0.25 * cpu_tuple_cost) /* streamed row */
#define EMOGI_LOOKUP_COST (2 * cpu_operator_cost)	/* lookup of one vertex */
#define EMOGI_RESCAN_COST (25 * cpu_operator_cost)	/* rescan for such a lookup */
#define EMOGI_KEY_LOOKUP_COST (20 * cpu_operator_cost)	/* lookup of a non-integer key */
/*
 * in the planner's units: an edge read during a build, an edge in a search of the whole graph, and
 * a vertex in a local search
 */
#define EMOGI_BUILD_COST (EMOGI_COST_BUILD_EDGE_US * EMOGI_COST_UNITS_PER_US)
#define EMOGI_EDGE_COST (EMOGI_COST_EDGE_US * EMOGI_COST_UNITS_PER_US)
#define EMOGI_LOCAL_EDGE_COST (EMOGI_COST_LOCAL_VERTEX_US * EMOGI_COST_UNITS_PER_US)

/* Round trip to the engine: 0.1 ms even if there is no work */
#define EMOGI_CALL_COST (EMOGI_COST_CALL_US * EMOGI_COST_UNITS_PER_US)

/* A condition that a scan can evaluate */
typedef struct EmogiCondition
{
	EmogiPushdown pushdown;
	int			place;			/* column number: 0 = vertex, 1 .. = the others */
	Expr	   *operand;
	bool		exact;			/* needs no recheck */
} EmogiCondition;

/*
 * The conditions on a call's rows: four lists of equal length for those that the scan evaluates,
 * and the remaining ones
 */
typedef struct EmogiConditions
{
	List	   *operands;		/* of Expr */
	List	   *pushdowns;		/* of EmogiPushdown (integers) */
	List	   *names;			/* of the columns' names (strings) */
	List	   *places;			/* of the columns' numbers (integers) */
	List	   *quals;			/* clauses to check for each row */
} EmogiConditions;

/* What the planner knows about a call's graph */
typedef struct EmogiGraphSize
{
	EmogiAlgorithm algorithm;	/* of the call */
	uint64		latest;			/* id of the latest cached graph of these columns; 0 = none */
	double		nvertices;
	double		nedges;
	double		next_degree;	/* mean degree of a vertex that an edge points to */
	double		build_cost;		/* 0 = the graph is cached */
	bool		may_search_indexes;	/* an index search may replace the build if few vertices are
								 * reached */
	double		collect_us;		/* max cost of a neighborhood by index; +inf = not possible */
	EmogiComponentSizes components;
	double		reached;		/* vertices that a trial run reached; -1 = not tried, or it reached
								 * too many */
} EmogiGraphSize;

/* Bounds of a search */
typedef struct EmogiBounds
{
	double		depth;			/* hops; -1 = unlimited */
	double		distance;		/* +inf = unlimited */
} EmogiBounds;

/* conditions.c */
extern bool emogi_conditions_is_column(Node *node, const RelOptInfo *rel, AttrNumber attnum);
extern bool emogi_conditions_is_key(Node *node, const RelOptInfo *rel,
									const EmogiAlgorithmRow *function);
extern bool emogi_conditions_match(PlannerInfo *root, const RelOptInfo *rel,
								   const EmogiAlgorithmRow *function, RestrictInfo *clause,
								   EmogiCondition *condition);
extern bool emogi_conditions_is_known_before(PlannerInfo *root, const RelOptInfo *rel, Node *node);
extern bool emogi_conditions_may_bound(PlannerInfo *root, const FuncExpr *call, Node *operand);
extern int	emogi_conditions_strategy(Oid operator, Oid column_type);
extern void emogi_conditions_push_down(const RangeTblEntry *rte, const EmogiCondition *condition,
									   EmogiConditions *sorted);
extern void emogi_conditions_sort(PlannerInfo *root, const RelOptInfo *rel, List *clauses,
								  EmogiConditions *sorted);

/* conditions_value.c */
extern int	emogi_conditions_first_value(const EmogiAlgorithmRow *function);
extern bool emogi_conditions_match_value(PlannerInfo *root, const RelOptInfo *rel,
										 const EmogiAlgorithmRow *function, const FuncExpr *call,
										 const OpExpr *clause, EmogiCondition *condition);
extern bool emogi_conditions_match_listed(PlannerInfo *root, const RelOptInfo *rel,
										  const EmogiAlgorithmRow *function, const FuncExpr *call,
										  const ScalarArrayOpExpr *clause,
										  EmogiCondition *condition);
extern bool emogi_conditions_match_self(PlannerInfo *root, const RelOptInfo *rel,
										const EmogiAlgorithmRow *function, const FuncExpr *call,
										const OpExpr *clause, EmogiCondition *condition);
extern bool emogi_conditions_names_members(const EmogiAlgorithmRow *function);
extern bool emogi_conditions_match_member(PlannerInfo *root, const RelOptInfo *rel,
										  const EmogiAlgorithmRow *function, RestrictInfo *clause,
										  EmogiCondition *condition);

/* size.c */
extern bool emogi_size_find(const PlannerInfo *root, const FuncExpr *call,
							EmogiAlgorithm algorithm, EmogiGraphSize *size);
extern double emogi_size_reached(const EmogiGraphSize *size, double depth);
extern void emogi_size_probe(const PlannerInfo *root, const FuncExpr *call,
							 const EmogiAlgorithmRow *function, const EmogiBounds *bounds,
							 EmogiGraphSize *size);
extern EmogiBounds emogi_size_bounds(const FuncExpr *call, const EmogiAlgorithmRow *function);
extern double emogi_size_lookup_cost(const Node *vertex, double of_integer);
extern double emogi_size_call_cost(const EmogiGraphSize *size, const EmogiBounds *bounds);
extern double emogi_size_saved_build(const PlannerInfo *root, const FuncExpr *call,
									 const EmogiAlgorithmRow *function, double nrows);
extern bool emogi_size_components(PlannerInfo *root, const RelOptInfo *rel, const FuncExpr *call,
								  const EmogiAlgorithmRow *function, EmogiComponentSizes *sizes,
								  bool *is_one);
extern double emogi_size_levels(const FuncExpr *call, const EmogiAlgorithmRow *function);
extern double emogi_size_count_vertices(const FuncExpr *call, const EmogiAlgorithmRow *function,
										EmogiParameterKind kind);
extern double emogi_size_count_walks(const FuncExpr *call, const EmogiAlgorithmRow *function);
extern double emogi_size_steps(const FuncExpr *call, const EmogiAlgorithmRow *function);

/* plan_sizes.c */
extern bool emogi_plan_sizes_find(const PlannerInfo *root, const FuncExpr *call,
								  EmogiAlgorithm algorithm, EmogiGraphSize *size, bool *is_found);
extern void emogi_plan_sizes_add(const PlannerInfo *root, const FuncExpr *call,
								 const EmogiGraphSize *size, EmogiAlgorithm algorithm,
								 bool is_found);
extern bool emogi_plan_sizes_reach(const PlannerInfo *root, const FuncExpr *call,
								   EmogiAlgorithm algorithm, const EmogiBounds *bounds,
								   double *reached);
extern void emogi_plan_sizes_add_reach(const PlannerInfo *root, const FuncExpr *call,
									   EmogiAlgorithm algorithm, const EmogiBounds *bounds,
									   double reached);
extern bool emogi_plan_sizes_conditions(const PlannerInfo *root, const RelOptInfo *rel,
										EmogiConditions *conditions);
extern void emogi_plan_sizes_add_conditions(const PlannerInfo *root, const RelOptInfo *rel,
											const EmogiConditions *conditions);

/* column_stats.c */
extern HeapTuple emogi_column_stats_make(const PlannerInfo *root, const FuncExpr *call,
										 const EmogiAlgorithmRow *function, double nrows,
										 AttrNumber attnum);

/* size_probe.c */
extern double emogi_size_probe_sampled(const FuncExpr *call, const EmogiAlgorithmRow *function);
extern double emogi_size_probe_reached(const FuncExpr *call, const EmogiAlgorithmRow *function,
									   const EmogiBounds *bounds, uint64 latest);
extern bool emogi_size_probe_ask(const FuncExpr *call, const EmogiAlgorithmRow *function,
							const EmogiGraphKey *lists, EmogiQuestion *question);

/* unused_names.c */
extern bool emogi_unused_names_uses_column(const RelOptInfo *rel, AttrNumber attnum);
extern void emogi_unused_names_mark(const RelOptInfo *rel, RangeTblEntry *rte);

/* plan.c */
extern void emogi_plan_add_columns(Index relid, Node *expressions, List **tlist, List **columns);
extern Node *emogi_plan_mark(void);
extern CustomScan *emogi_plan_make(PlannerInfo *root, const RelOptInfo *rel, List *clauses);
extern void emogi_plan_add_entries(CustomScan *scan, const List *entries);
extern CustomScan *emogi_plan_make_above(PlannerInfo *root, const RelOptInfo *inner,
										 const CustomPath *path, List *tlist, List *children,
										 const EmogiConditions *conditions);
extern void emogi_plan_add_used(CustomScan *scan, const RelOptInfo *inner, const CustomPath *path,
								List *filter);
extern const Path *emogi_plan_find_scan(const RelOptInfo *rel);
extern CustomPath *emogi_plan_make_path(PlannerInfo *root, RelOptInfo *rel, Relids required_outer);
extern bool emogi_plan_chooses_vertices(PlannerInfo *root, RelOptInfo *rel,
										const EmogiAlgorithmRow *function);
extern void emogi_plan_set_costs(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call,
								 double ntuples, double nreaders, Path *path);

/* plan_order.c */
extern bool emogi_plan_order_is_by_vertex(const FuncExpr *call, const EmogiAlgorithmRow *function,
										  Oid type, Oid collation, EmogiSource *source);
extern bool emogi_plan_order_append(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call,
									const EmogiAlgorithmRow *function,
									const FormData_pg_attribute * column, EmogiSource *source,
									CustomPath *path);
extern void emogi_plan_order_set(PlannerInfo *root, RelOptInfo *rel, CustomPath *path);

/* plan_shared.c */
extern void emogi_plan_add_shared(PlannerInfo *root, RelOptInfo *rel, const FuncExpr *call,
								  const EmogiAlgorithmRow *function);

/* plan_stored.c */
extern void emogi_plan_stored_replace(RelOptInfo *rel, const RangeTblEntry *rte);

/* aggregate_match.c */
extern int	emogi_aggregate_match_column(const RelOptInfo *rel, const Node *node);
extern bool emogi_aggregate_match(const RelOptInfo *rel, const Aggref *aggregate,
								  EmogiOutput *output, int *place);

/* lateral.c */
extern void emogi_lateral_add_sums(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
								   const GroupPathExtraData *extra);

#endif							/* EMOGI_PLAN_H */
