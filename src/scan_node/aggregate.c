/*
 * aggregate.c: aggregates of a call's rows, computed over the result arrays (grouping.c)
 *
 * The node is a scan that returns one row for each group, in ascending order of the grouping
 * column. scan.c provides the run, its inputs and what is kept of it. HAVING is the node's qual.
 */
#include "postgres.h"

#include "catalog/objectaccess.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "scan_node/aggregate.h"
#include "scan_node/grouping.h"
#include "scan_node/scan.h"
#include "base/compat.h"

/* A column of the scan tuple */
typedef struct Column
{
	EmogiOutput output;
	int			place;			/* number of the aggregated column */
	int			fold;			/* index of the fold that provides the value */
} Column;

typedef struct Aggregate
{
	EmogiScan	scan;			/* must be first: this node is a scan */
	int			noutputs;
	Column	   *outputs;		/* [noutputs] */
	EmogiGrouping  *folds;
	MemoryContext groups_context;
	EmogiGroups groups;
	bool		distinguishes;	/* the plan requires that different keys differ in their text */
	bool		counts_groups;	/* return one row with the number of groups: */
	uint64		ndistinct;
	uint64		next;			/* next group to return */
} Aggregate;

/* ---- the groups ---- */

/* Get the vertex numbers of the keys whose rows are needed. */
static uint32 *
find_wanted_vertices(const EmogiScan *scan, uint64 *nwanted)
{
	uint32	   *wanted = palloc_extended(Max(scan->nkeys, 1) * sizeof *wanted, MCXT_ALLOC_HUGE);

	*nwanted = 0;
	for (uint64 i = 0; i < scan->nkeys; i++)
	{
		uint32		v = emogi_graph_vertex(&scan->graph, scan->keys[i]);

		if (v != EMOGI_NO_VERTEX)
			wanted[(*nwanted)++] = v;
	}
	return wanted;
}

/* Finish the call if all groups have been returned. */
static void
finish_after_last(Aggregate *aggregate)
{
	EmogiScan  *scan = &aggregate->scan;

	if (scan->call != NULL && !scan->keeps && aggregate->next >= aggregate->groups.ngroups)
		emogi_call_finish(scan->call, scan->is_copied ? NULL : &scan->call);
}

/*
 * Describe the groups for an engine; return false if an engine cannot compute them: too many folds,
 * or sums of keys or floats, whose order matters.
 */
static bool
describe_groups(const EmogiScan *scan, EmogiSummary *summary)
{
	const EmogiGroups *groups = &((const Aggregate *) scan)->groups;

	if (groups->nfolds > EMOGI_MAX_FOLDS)
		return false;
	summary->kind = EMOGI_SUMMARY_GROUPS;
	summary->column = groups->place - 1;
	summary->nfolds = groups->nfolds;
	for (int i = 0; i < groups->nfolds; i++)
	{
		const EmogiGrouping *fold = &groups->folds[i];

		if (fold->kind == EMOGI_FOLD_SUM &&
			(fold->place == 0 || scan->function->columns[fold->place - 1].type != EMOGI_INT32))
			return false;
		summary->folds[i] = (EmogiSummaryFold) {fold->kind, fold->place - 1};
	}
	return true;
}

/* Copy the groups that the engine computed into the current context. */
static void
copy_groups(const EmogiScan *scan, EmogiGroups *groups)
{
	const EmogiSummary *summary = scan->summary;
	const uint64 nvalues = scan->result.nsummarized * groups->nfolds;

	groups->ngroups = scan->result.nsummarized;
	groups->labels = summary->labels;
	groups->counts = summary->counts;
	groups->values = palloc_extended(Max(nvalues, 1) * sizeof *groups->values, MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i < nvalues; i++)
	{
		if (emogi_grouping_is_float(scan->function->columns,
									groups->folds[i % groups->nfolds].place))
			groups->values[i].number = summary->values[i].number;
		else
			groups->values[i].integer = summary->values[i].integer;
	}
}

/* Replace the groups by one that has their number and the count of all their rows. */
static void
collapse_groups(Aggregate *aggregate)
{
	EmogiGroups *groups = &aggregate->groups;
	uint64	   *count = palloc0(sizeof *count);

	aggregate->ndistinct = groups->ngroups;
	for (uint64 i = 0; i < groups->ngroups; i++)
		*count += groups->counts[i];
	groups->counts = count;
	groups->ngroups = 1;
}

/* Run the call, or use the current run, and compute the groups. */
static void
compute(Aggregate *aggregate)
{
	EmogiScan  *scan = &aggregate->scan;
	MemoryContext old;
	uint32	   *wanted = NULL;
	uint64		nwanted = 0;
	EmogiGraph	none = {0};

	emogi_scan_run(scan);
	if (aggregate->distinguishes && scan->call != NULL &&
		!emogi_key_io_is_injective(&scan->form->coder.key, scan->form->type))
		emogi_inputs_report_keys();
	MemoryContextReset(aggregate->groups_context);
	old = MemoryContextSwitchTo(aggregate->groups_context);
	if (scan->call != NULL && scan->keys != NULL)
		wanted = find_wanted_vertices(scan, &nwanted);
	if (scan->call != NULL && scan->result.is_summarized)
		copy_groups(scan, &aggregate->groups);
	else
		emogi_grouping_rows(scan->function->columns, scan->call != NULL ? &scan->graph : &none,
							&scan->result, &scan->ranges, wanted, nwanted, &aggregate->groups);
	if (aggregate->counts_groups)
		collapse_groups(aggregate);
	MemoryContextSwitchTo(old);
	for (uint64 i = 0; scan->call != NULL && i < aggregate->groups.ngroups; i++)
		scan->call->record.nrows += aggregate->groups.counts[i];
	aggregate->next = 0;
	scan->started = true;
	finish_after_last(aggregate);
}

/* ---- values ---- */

/* Convert an integer to numeric. */
static Numeric
numeric_of(int128 value)
{
	char		digits[48];
	char	   *p = digits + sizeof digits;
	const bool	is_negative = value < 0;

	if (value >= PG_INT64_MIN && value <= PG_INT64_MAX)
		return int64_to_numeric((int64) value);
	*--p = '\0';
	for (; value != 0; value /= 10)
		*--p = '0' + (is_negative ? -(int) (value % 10) : (int) (value % 10));
	if (is_negative)
		*--p = '-';
	return DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(p),
											   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}

/* Get the Datum of an integer column's value, or the key of a vertex number. */
static Datum
integer_datum(const EmogiScan *scan, int place, int64 value)
{
	if (place > 0 && scan->function->columns[place - 1].type == EMOGI_INT32)
		return Int32GetDatum((int32) value);
	if (place > 0 && scan->function->columns[place - 1].type == EMOGI_INT64)
		return Int64GetDatum(value);
	return emogi_rows_vertex(scan->form, &scan->graph, (uint64) value);
}

/*
 * Get the sum or mean of a float column. A mean uses a sum that starts at 0, so that -0 becomes 0.
 */
static Datum
float_result(EmogiOutput output, double value, uint64 count)
{
	return Float8GetDatum(output == EMOGI_OUTPUT_AVG ? (value + 0.0) / (double) count : value);
}

/*
 * Get the sum or mean of an integer column with the type of PostgreSQL's aggregate: bigint for the
 * sum of integers, otherwise numeric.
 */
static Datum
integer_result(EmogiOutput output, bool is_int32, int128 value, uint64 count)
{
	if (output == EMOGI_OUTPUT_AVG)
		return DirectFunctionCall2(numeric_div, NumericGetDatum(numeric_of(value)),
								   NumericGetDatum(int64_to_numeric((int64) count)));
	return is_int32 ? Int64GetDatum((int64) value) : NumericGetDatum(numeric_of(value));
}

/* Get a column of a group's row. */
static Datum
group_column(const Aggregate *aggregate, uint64 group, const Column *column, bool *isnull)
{
	const EmogiScan *scan = &aggregate->scan;
	const EmogiGroups *groups = &aggregate->groups;
	const uint64 count = groups->counts[group];
	const EmogiGrouped *folded = &groups->values[group * groups->nfolds + column->fold];
	const bool	is_float = emogi_grouping_is_float(scan->function->columns, column->place);

	*isnull = column->output > EMOGI_OUTPUT_COUNT && count == 0;
	if (*isnull)
		return (Datum) 0;
	switch (column->output)
	{
		case EMOGI_OUTPUT_GROUP:
			return integer_datum(scan, column->place, groups->labels[group]);
		case EMOGI_OUTPUT_GROUPS:
			return Int64GetDatum((int64) aggregate->ndistinct);
		case EMOGI_OUTPUT_COUNT:
			return Int64GetDatum((int64) count);
		case EMOGI_OUTPUT_MIN:
		case EMOGI_OUTPUT_MAX:
			return is_float ? Float8GetDatum(folded->number) :
				integer_datum(scan, column->place, (int64) folded->integer);
		case EMOGI_OUTPUT_SUM:
		case EMOGI_OUTPUT_AVG:
			break;
	}
	if (is_float)
		return float_result(column->output, folded->number, count);
	return integer_result(column->output, column->place > 0 &&
						  scan->function->columns[column->place - 1].type == EMOGI_INT32,
						  folded->integer, count);
}

/* Return the next group's row, or an empty slot. */
static TupleTableSlot *
next_group(ScanState *state)
{
	Aggregate  *aggregate = (Aggregate *) state;
	EmogiScan  *scan = &aggregate->scan;
	TupleTableSlot *slot = state->ss_ScanTupleSlot;
	ExprContext *context = state->ps.ps_ExprContext;
	MemoryContext old;

	if (!scan->started)
		compute(aggregate);
	ExecClearTuple(slot);
	if (aggregate->next >= aggregate->groups.ngroups)
		return slot;
	if (state->ps.qual == NULL && state->ps.ps_ProjInfo == NULL)
		ResetExprContext(context);	/* otherwise emogi_scan_next resets it */
	old = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
	for (int i = 0; i < aggregate->noutputs; i++)
		slot->tts_values[i] = group_column(aggregate, aggregate->next, &aggregate->outputs[i],
										   &slot->tts_isnull[i]);
	MemoryContextSwitchTo(old);
	aggregate->next++;
	finish_after_last(aggregate);
	return ExecStoreVirtualTuple(slot);
}

/* Return the next row that satisfies HAVING. */
static TupleTableSlot *
exec_aggregate(CustomScanState *node)
{
	return emogi_scan_next(node, next_group);
}

/* ---- startup and shutdown ---- */

/* Get the index of the fold with this kind and column; add it if it does not exist. */
static int
find_fold(Aggregate *aggregate, EmogiFoldKind kind, int place)
{
	int			n = 0;

	while (n < aggregate->groups.nfolds &&
		   (aggregate->folds[n].kind != kind || aggregate->folds[n].place != place))
		n++;
	if (n == aggregate->groups.nfolds)
		aggregate->folds[aggregate->groups.nfolds++] = (EmogiGrouping) {kind, place};
	return n;
}

/* Check that the caller may execute the aggregates, as the executor does. Raises 42501. */
static void
check_permissions(const CustomScan *plan)
{
	ListCell   *cell;

	foreach(cell, plan->custom_scan_tlist)
	{
		const Aggref *aggregate = (const Aggref *) lfirst_node(TargetEntry, cell)->expr;

		if (!IsA(aggregate, Aggref))
			continue;
		if (emogi_compat_may_execute(aggregate->aggfnoid) != ACLCHECK_OK)
			aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_AGGREGATE, get_func_name(aggregate->aggfnoid));
		InvokeFunctionExecuteHook(aggregate->aggfnoid);
	}
}

/* Read the list of outputs from the plan. */
static void
read_spec(Aggregate *aggregate, List *spec)
{
	aggregate->outputs = palloc0(list_length(spec) * sizeof *aggregate->outputs);
	aggregate->folds = palloc0(list_length(spec) * sizeof *aggregate->folds);
	aggregate->groups.place = linitial_int(linitial(spec));
	aggregate->distinguishes = lsecond_int(linitial(spec)) != 0;
	aggregate->groups.folds = aggregate->folds;
	for (int i = 1; i < list_length(spec); i++)
	{
		Column	   *column = &aggregate->outputs[aggregate->noutputs++];

		column->output = (EmogiOutput) linitial_int(list_nth(spec, i));
		column->place = lsecond_int(list_nth(spec, i));
		aggregate->counts_groups |= column->output == EMOGI_OUTPUT_GROUPS;
		if (column->output > EMOGI_OUTPUT_COUNT)
			column->fold = find_fold(aggregate,
									 column->output == EMOGI_OUTPUT_MIN ? EMOGI_FOLD_MIN :
									 column->output == EMOGI_OUTPUT_MAX ? EMOGI_FOLD_MAX :
									 EMOGI_FOLD_SUM, column->place);
	}
}

static void
begin_aggregate(CustomScanState *node, EState *estate, int eflags)
{
	Aggregate  *aggregate = (Aggregate *) node;
	List	   *lists = ((CustomScan *) node->ss.ps.plan)->custom_private;

	emogi_scan_init(&aggregate->scan, eflags);
	check_permissions((CustomScan *) node->ss.ps.plan);
	if (list_nth(lists, EMOGI_PLAN_ORDER) != NIL)
		aggregate->scan.order = linitial_oid(list_nth(lists, EMOGI_PLAN_ORDER));
	read_spec(aggregate, list_nth(lists, EMOGI_PLAN_UPPER));
	aggregate->scan.summarize = describe_groups;
	aggregate->groups_context = AllocSetContextCreate(CurrentMemoryContext, "emogi groups",
													  ALLOCSET_DEFAULT_SIZES);
}

static const CustomExecMethods exec_methods = {
	.CustomName = "EmogiAggregate",
	.BeginCustomScan = begin_aggregate,
	.ExecCustomScan = exec_aggregate,
	.EndCustomScan = emogi_scan_end,
	.ReScanCustomScan = emogi_scan_rescan_rows,
	.ExplainCustomScan = emogi_explain_scan
};

/* Create the node's state. */
static Node *
create_state(CustomScan *plan)
{
	Aggregate  *aggregate = (Aggregate *) newNode(sizeof(Aggregate), T_CustomScanState);

	aggregate->scan.css.methods = &exec_methods;
	return (Node *) aggregate;
}

const CustomScanMethods emogi_aggregate_methods = {.CustomName = "EmogiAggregate",
												   .CreateCustomScanState = create_state};
