/*
 * scan.h: the state of a scan of a function's rows: inputs.c and scan.c make its run, stream.c and share.c (with parallel workers)
 * read the rows, batch.c carries out many at once, and explain.c shows them.
 */
#ifndef EMOGI_SCAN_H
#define EMOGI_SCAN_H

#include "access/parallel.h"
#include "nodes/execnodes.h"
#include "utils/resowner.h"

#include "function/cursor.h"
#include "function/rows.h"
#include "scan_node/ranges.h"
#include "scan_node/scan_node.h"

/* An expression whose value the run, or the choice of rows, depends on. */
typedef struct EmogiInput
{
	Expr	   *expression;
	ExprState  *state;
	Oid			type;
	int16		length;
	bool		by_value;
	NullableDatum value;		/* in the scan's run context; of the run at hand */
} EmogiInput;

typedef struct EmogiScan
{
	CustomScanState css;
	const EmogiAlgorithmRow *function;
	const EmogiRowKind *kind;	/* NULL = its rows are vertices */
	FuncExpr   *call_expr;
	FmgrInfo	flinfo;
	FunctionCallInfo fcinfo;	/* the arguments of the call, as if it were called */
	int			ninputs;
	EmogiInput *inputs;			/* [ninputs]: the arguments, then the operands of the conditions */
	int			nconditions;
	EmogiPushdown *pushdowns;	/* [nconditions] */
	int		   *places;			/* [nconditions] of their columns: 0 = the first, `vertex` where rows are vertices */
	int			vertex_input;	/* of the condition on `vertex`; -1 = none */
	bool		looks_up;		/* that changes from scan to scan: the run is for all vertices */
	Bitmapset  *run_params;		/* executor parameters that the run depends on */
	Oid			order;			/* collation in which the plan has rows come by `vertex`; InvalidOid = it says nothing of that */
	bool		keeps;			/* the result will be wanted again */
	int			ncolumns;
	int		   *columns;		/* [ncolumns] of the scan tuple, by their places */

	/* the run at hand */
	MemoryContext run_context;
	MemoryContext rows_context; /* what the run has made */
	bool		has_inputs;		/* theirs are the values of its inputs */
	bool		changed;		/* a parameter that it depends on may have changed since */
	EmogiCall  *call;			/* NULL = there is none, or it has no rows: */
	bool		is_empty;
	bool		is_copied;		/* the keys and the result are in rows_context; the call has nothing in shared memory */
	bool		is_shared;		/* rows are read by other processes, too: nothing is copied, */
	bool		tries_near;		/* unless the backend itself finds them, and they are few */
	EmogiForm  *form;			/* of its vertices */
	EmogiGraph	graph;
	EmogiResult result;

	EmogiRanges ranges;			/* that values of its rows lie in; of rows that are not vertices by their places */
	EmogiNulls	nulls;			/* of rows that are not vertices, like what follows: */
	EmogiQuery	query;			/* what the engine was asked; its pairs, targets, and sources that rows name lie where the result does */
	EmogiRowCursor *cursor;		/* of the run at hand, in rows_context; NULL = there is none yet */
	const EmogiSummary *summary;	/* of the rows, in the Region or rows_context; there if result.is_summarized */

	/* Describes what a node wants that wants less than all rows; false when that is no summary that an engine makes. NULL = all are wanted */
	bool		(*summarize) (const struct EmogiScan *scan, EmogiSummary *summary);

	/* the rows that are still to come */
	bool		started;
	uint64		position;		/* vertex number, or index into keys or picked */
	uint64		end;			/* of the vertices at hand, when all are wanted */
	struct EmogiShare *share;	/* with parallel workers: what they know of the run */
	int			joined;			/* in one of them: the holding whose rows it reads; -1 = none, */
	bool		is_inline;		/* or those that lie in the share */
	uint64		nrows;			/* ... and how many it has returned */
	uint32	   *members;		/* [nvertices], the next vertex of the same component, in rows_context; NULL = nobody has asked */
	MemoryContext keys_context;
	const int64 *keys;			/* [nkeys], ascending: rows of these vertices; NULL = of all */
	uint64		nkeys;
	uint8	   *mask;			/* [EMOGI_BLOCK_VERTICES]: which vertices from mask_first on have a row in the ranges; NULL = all wanted rows have */
	uint64		mask_first;
	uint64		mask_end;
	struct EmogiTop *top;		/* NULL, or: the first rows in an order are wanted; then they are picked: */
	uint32	   *picked;			/* [npicked], vertex numbers */
	uint64		npicked;

	/* what the plan has open until its end, in its memory */
	List	   *roots;			/* of Oid: what graph arguments named */
	List	   *tables;			/* of Relation: they, their partitions and children */
	ResourceOwner tables_owner;

	/* for EXPLAIN ANALYZE */
	uint64		nruns;
	EmogiCallRecord total;		/* the last run, with the times and counts of all */
} EmogiScan;

/* inputs.c */
extern void emogi_inputs_init(EmogiScan *scan);
extern void emogi_inputs_look_up(EmogiScan *scan, NullableDatum operand);
extern void emogi_inputs_apply_conditions(EmogiScan *scan, EmogiTask *task);
extern void emogi_inputs_find_values(EmogiScan *scan);
extern void emogi_inputs_report_keys(void);

/* scan.c */
extern void emogi_scan_init(EmogiScan *scan, int eflags);
extern void emogi_scan_run(EmogiScan *scan);
extern void emogi_scan_end_run(EmogiScan *scan);
extern TupleTableSlot *emogi_scan_next(CustomScanState *node, TupleTableSlot *(*next) (ScanState *state));
extern bool emogi_scan_has_row(const EmogiScan *scan, uint64 v);
extern void emogi_scan_add_to_total(EmogiScan *scan, const EmogiCall *call);
extern void emogi_scan_open_tables(EmogiScan *scan, Oid root);
extern void emogi_scan_close_tables(EmogiScan *scan);

/* row_scan.c */
extern const CustomExecMethods emogi_row_scan_methods;

/* summary.c */
extern void emogi_summary_init(EmogiScan *scan, EmogiTask *task);
extern void emogi_summary_copy(EmogiScan *scan);

/* top.c */
extern void emogi_top_init(EmogiScan *scan, List *spec);
extern void emogi_top_pick(EmogiScan *scan);

/* share.c */

/* Vertices that one process reads at a time; between two of these it looks for a cancel. */
#define EMOGI_PIECE_VERTICES 65536

extern Size emogi_share_estimate(CustomScanState *node, ParallelContext *context);
extern void emogi_share_begin(CustomScanState *node, ParallelContext *context, void *memory);
extern void emogi_share_join(CustomScanState *node, shm_toc *toc, void *memory);
extern void emogi_share_end(CustomScanState *node);
extern uint64 emogi_share_next(EmogiScan *scan);

/* explain.c */
extern void emogi_explain_scan(CustomScanState *node, List *ancestors, ExplainState *es);

#endif							/* EMOGI_SCAN_H */
