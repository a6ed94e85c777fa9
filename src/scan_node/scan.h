/*
 * scan.h: execution state of a scan of a function's rows
 *
 * inputs.c and scan.c create its run; stream.c and, with parallel workers, shared_rows.c read the
 * rows. batch.c executes many searches at once, and explain.c shows all of them.
 */
#ifndef EMOGI_SCAN_H
#define EMOGI_SCAN_H

#include "executor/executor.h"
#include "access/parallel.h"
#include "nodes/execnodes.h"
#include "utils/resowner.h"

#include "function/cursor.h"
#include "function/rows.h"
#include "scan_node/ranges.h"
#include "scan_node/scan_node.h"

/* An expression that the run or the selection of rows depends on */
typedef struct EmogiInput
{
	Expr	   *expression;
	const Const *constant;		/* the expression, or NULL */
	ExprState  *state;			/* NULL = it is constant */
	bool		is_fixed;		/* it has one value in the plan, which is computed once */
	Oid			type;
	int16		length;
	bool		by_value;
	NullableDatum value;		/* of the current run, in the scan's run context, or, if is_fixed,
								 * in the plan's memory */
} EmogiInput;

typedef struct EmogiScan
{
	CustomScanState css;
	const EmogiAlgorithmRow *function;
	const EmogiRowKind *kind;	/* NULL = its rows are vertices */
	FuncExpr   *call_expr;
	FmgrInfo	flinfo;
	FunctionCallInfo fcinfo;	/* the call's arguments, as passed to the function */
	int			ninputs;
	EmogiInput *inputs;			/* [ninputs]: the arguments, then the operands of the conditions */
	int			nconditions;
	EmogiPushdown *pushdowns;	/* [nconditions] */
	int		   *places;			/* [nconditions] column numbers: 0 = the first, `vertex` if rows are
								 * vertices */
	int			vertex_input;	/* input of the condition on `vertex`; -1 = none */
	bool		is_batch;		/* EmogiBatchState: a call for many sources */
	bool		is_stored;		/* the function stores its rows (stored_scan.c) */
	EmogiIndexSearchKind collects;	/* then: as in EmogiTask */
	bool		looks_up;		/* it changes between rescans: the run covers all vertices */
	Bitmapset  *run_params;		/* PARAM_EXEC parameters that the run depends on */
	bool		may_run_again;	/* one of them can change between rescans */
	Oid			order;			/* collation of the plan's order by `vertex`; InvalidOid = the order
								 * does not depend on one */
	bool		keeps;			/* the result may be read again */
	int			ncolumns;
	int		   *columns;		/* [ncolumns] column numbers of the scan tuple */

	/* the current run */
	MemoryContext run_context;
	MemoryContext rows_context; /* arrays and values that the run creates */
	bool		has_inputs;		/* values of the current run's inputs are set */
	bool		changed;		/* a parameter that the run depends on may have changed */
	EmogiCall  *call;			/* NULL = no run, or a run without rows: */
	bool		is_empty;
	bool		is_copied;		/* keys and result are in rows_context; the call holds no shared
								 * memory */
	bool		is_shared;		/* other processes read the rows, too, so they are not copied, */
	bool		tries_local_search;	/* except for few rows found by the backend itself */
	EmogiKeyIO  *form;			/* of the graph's vertices */
	EmogiGraph	graph;
	EmogiResult result;

	EmogiRanges ranges;			/* ranges of the rows' values; indexed by column number if rows are
								 * not vertices */
	EmogiNulls	nulls;			/* if rows are not vertices, like the next two: */
	EmogiQuery	query;			/* the engine's query; its pairs, targets, and the sources that rows
								 * name are stored with the result */
	EmogiRowCursor *cursor;		/* of the current run, in rows_context; NULL = none yet */
	const EmogiSummary *summary;	/* of the rows, in the arena or rows_context; valid if
									 * result.is_summarized */

	/*
	 * Describe what a node needs if that is less than all rows. Return false if the engine has no
	 * such summary. NULL = all rows are needed
	 */
	bool		(*summarize) (const struct EmogiScan *scan, EmogiSummary *summary);

	/* the remaining rows */
	bool		started;
	uint64		position;		/* vertex number, or index into keys or picked */
	uint64		end;			/* end of the current chunk of vertices, if all are returned */
	struct EmogiSharedRows *share;	/* with parallel workers: the shared state of the run */
	int			joined;			/* in a worker: the held result whose rows it reads; -1 = none */
	bool		is_inline;		/* in a worker: the rows are stored in the share */
	uint64		nrows;			/* in a worker: rows returned since they were last added to the
								 * share */
	const uint32 *members;		/* [nvertices], the next vertex of the same component, in
								 * rows_context or of the cached graph; NULL = not linked yet */
	bool		follows_members;	/* return the rows of one component, by its members: */
	uint32		member;			/* the next one; EMOGI_NO_VERTEX = none is left */
	MemoryContext keys_context; /* of keys that are looked up; NULL = none are */
	const int64 *keys;			/* [nkeys], ascending: return rows of these vertices only; NULL = of
								 * all */
	uint64		nkeys;
	uint8	   *mask;			/* [EMOGI_BLOCK_VERTICES]: whether each vertex from mask_first on
								 * has a row in the ranges; NULL = no ranges to check */
	uint64		mask_first;
	uint64		mask_end;
	struct EmogiTopK *top;		/* if only the first rows of an order are returned; NULL
								 * otherwise: */
	uint32	   *picked;			/* [npicked], vertex numbers */
	uint64		npicked;

	/* open until the end of the plan, in its memory context */
	List	   *roots;			/* of Oid: relations named by graph arguments */
	List	   *tables;			/* of Relation: these, their partitions and children */
	ResourceOwner tables_owner;
	struct EmogiKeptIndexes *kept;	/* indexes that index searches have opened; NULL = none are
									 * kept */

	/* for EXPLAIN ANALYZE */
	uint64		nruns;
	EmogiCallRecord *total;		/* the last run's record, with times and counts summed over all
								 * runs; NULL = none was recorded */
} EmogiScan;

/* inputs.c */
extern void emogi_inputs_init(EmogiScan *scan);
extern void emogi_inputs_look_up(EmogiScan *scan, NullableDatum operand);
extern void emogi_inputs_apply_conditions(EmogiScan *scan, EmogiTask *task);
extern void emogi_inputs_find_values(EmogiScan *scan);
extern void emogi_inputs_report_keys(void);
extern bool emogi_inputs_looks_up_members(const EmogiScan *scan);

/* scan.c */
extern void emogi_scan_init(EmogiScan *scan, int eflags);
extern void emogi_scan_run(EmogiScan *scan);
extern void emogi_scan_end_run(EmogiScan *scan);
extern void emogi_scan_end(CustomScanState *node);
extern void emogi_scan_rescan(CustomScanState *node);
extern void emogi_scan_rescan_rows(CustomScanState *node);
extern void emogi_scan_rescan_outer(CustomScanState *node, PlanState *outer);
extern TupleTableSlot *emogi_scan_next(CustomScanState *node,
									   TupleTableSlot *(*next) (ScanState *state));
extern bool emogi_scan_has_row(const EmogiScan *scan, uint64 v);
extern void emogi_scan_add_to_total(EmogiScan *scan, const EmogiCall *call);
extern void emogi_scan_open_tables(EmogiScan *scan, Oid root);
extern void emogi_scan_close_tables(EmogiScan *scan);

/* local_keys.c */
extern bool emogi_local_keys_copy(EmogiScan *scan);

/* row_scan.c */
extern const CustomExecMethods emogi_row_scan_methods;

/* stored_scan.c */
extern Node *emogi_stored_scan_create(void);

/* summary.c */
extern void emogi_summary_init(EmogiScan *scan, EmogiTask *task);
extern void emogi_summary_copy(EmogiScan *scan);

/* topk.c */
extern void emogi_topk_init(EmogiScan *scan, List *spec);
extern void emogi_topk_select(EmogiScan *scan);

/* shared_rows.c */

/* Vertices that one process reads at a time; it checks for interrupts after each chunk */
#define EMOGI_PIECE_VERTICES 65536

extern Size emogi_shared_rows_estimate(CustomScanState *node, ParallelContext *context);
extern void emogi_shared_rows_begin(CustomScanState *node, ParallelContext *context, void *memory);
extern void emogi_shared_rows_attach(CustomScanState *node, shm_toc *toc, void *memory);
extern void emogi_shared_rows_end(CustomScanState *node);
extern uint64 emogi_shared_rows_next(EmogiScan *scan);

/* explain.c */
extern void emogi_explain_scan(CustomScanState *node, List *ancestors, ExplainState *es);
extern bool emogi_explain_is_detailed(const ExplainState *es);

/* Evaluate an input in the per-row memory of a context. */
static inline Datum
emogi_input_evaluate(const EmogiInput *input, ExprContext *context, bool *isnull)
{
	if (input->constant == NULL)
		return ExecEvalExprSwitchContext(input->state, context, isnull);
	*isnull = input->constant->constisnull;
	return input->constant->constvalue;
}

#endif							/* EMOGI_SCAN_H */
