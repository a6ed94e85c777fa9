/*
 * call_expr.h: what a call's expression tells before execution (call_expr.c); used by planner,
 * executor and EXPLAIN
 */
#ifndef EMOGI_CALL_EXPR_H
#define EMOGI_CALL_EXPR_H

#include "nodes/parsenodes.h"
#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"

#include "function/function.h"

extern const EmogiAlgorithmRow *emogi_call_expr_algorithm(Oid function);
extern const EmogiAlgorithmRow *emogi_call_expr_function(Oid function);
extern bool emogi_call_expr_is_ours(Oid function);
extern bool emogi_call_expr_is_path(Oid function);
extern bool emogi_call_expr_is_paths(Oid function);
extern TupleDesc emogi_call_expr_row_type(const FuncExpr *call);
extern const EmogiAlgorithmRow *emogi_call_expr_stored(const FuncExpr *call,
													   EmogiIndexSearchKind *collects);
extern FuncExpr *emogi_call_expr_of(const RangeTblEntry *rte, const EmogiAlgorithmRow **function);
extern FuncExpr *emogi_call_expr_of_stored(const RangeTblEntry *rte);
extern bool emogi_call_expr_is_unfiltered(const FuncExpr *call);
extern bool emogi_call_expr_graph(const FuncExpr *call, EmogiGraphArgument *graph);
extern bool emogi_call_expr_source(const FuncExpr *call, EmogiAlgorithm algorithm,
								   EmogiSource *source);
extern bool emogi_call_expr_query(const FuncExpr *call, EmogiAlgorithm algorithm,
								  EmogiSource *source);
extern bool emogi_call_expr_plan_keys(PlannerInfo *root, const FuncExpr *call,
									  EmogiAlgorithm algorithm, EmogiKeyType *key);
extern bool emogi_call_expr_key(const FuncExpr *call, EmogiAlgorithm algorithm, EmogiKeyType *key);
extern bool emogi_call_expr_direction(const FuncExpr *call, const EmogiAlgorithmRow *function,
									  EmogiDirection *direction);
extern bool emogi_call_expr_pairs(const FuncExpr *call, const EmogiAlgorithmRow *function,
								  char **query);
extern void emogi_call_expr_graph_key(const FuncExpr *call, const EmogiAlgorithmRow *function,
									  EmogiDirection direction, EmogiGraphKey *lookup);
extern double emogi_call_expr_number(const Node *node);
extern double emogi_call_expr_integer(const Node *node);

#endif							/* EMOGI_CALL_EXPR_H */
