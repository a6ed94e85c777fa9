/*
 * batch_sums.c: partial aggregates of the levels that each of many searches reaches, one row per
 * outer row (planned in lateral.c)
 *
 * The value returned for an aggregate is its transition state, which the Agg node above combines
 * over the outer rows of a group. A source that reaches no requested vertex has no row, as in the
 * join.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/array.h"

#include "scan_node/batch.h"

/* Make the transition state of avg(integer): the number of values, and their sum. */
static Datum
make_average(const EmogiMsbfsSums *sums)
{
	Datum		values[] = {Int64GetDatum((int64) sums->count), Int64GetDatum((int64) sums->sum)};

	return PointerGetDatum(construct_array(values, lengthof(values), INT8OID, sizeof(int64),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* Get the transition state of an aggregate of the levels. */
static Datum
partial_value(EmogiOutput output, const EmogiMsbfsSums *sums)
{
	switch (output)
	{
		case EMOGI_OUTPUT_MIN:
			return Int32GetDatum((int32) sums->min);
		case EMOGI_OUTPUT_MAX:
			return Int32GetDatum((int32) sums->max);
		case EMOGI_OUTPUT_SUM:
			return Int64GetDatum((int64) sums->sum);
		case EMOGI_OUTPUT_AVG:
			return make_average(sums);
		case EMOGI_OUTPUT_COUNT:
		case EMOGI_OUTPUT_GROUP:
		case EMOGI_OUTPUT_GROUPS:
			break;
	}
	return Int64GetDatum((int64) sums->count);
}

/* Put the aggregates of a search after the outer row's columns in the scan tuple. */
static void
put_sums(EmogiBatchState *batch, const EmogiMsbfsSums *sums)
{
	TupleTableSlot *slot = batch->scan.css.ss.ss_ScanTupleSlot;
	ExprContext *context = batch->scan.css.ss.ps.ps_ExprContext;
	MemoryContext old;

	ResetExprContext(context);
	old = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
	for (int i = 0; i < batch->nsums; i++)
	{
		slot->tts_values[batch->nouter + i] = partial_value(batch->sums[i], sums);
		slot->tts_isnull[batch->nouter + i] = false;
	}
	MemoryContextSwitchTo(old);
}

/* Return the aggregates of the next outer row that has any. */
static TupleTableSlot *
exec_sums(CustomScanState *node)
{
	EmogiBatchState *batch = (EmogiBatchState *) node;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	for (;;)
	{
		const EmogiMsbfsSums *sums;

		CHECK_FOR_INTERRUPTS();
		if (!emogi_batch_next_outer(batch))
			return emogi_batch_end_rows(batch, node->ss.ps.ps_ProjInfo != NULL ?
										node->ss.ps.ps_ResultTupleSlot : slot);
		if (batch->rows[batch->current].search < 0)
			continue;
		sums = &batch->found[batch->rows[batch->current].search];
		if (sums->count == 0)
			continue;
		batch->scan.call->record.nrows += sums->count;
		put_sums(batch, sums);
		node->ss.ps.ps_ExprContext->ecxt_scantuple = slot;
		return node->ss.ps.ps_ProjInfo != NULL ? ExecProject(node->ss.ps.ps_ProjInfo) : slot;
	}
}

/* Begin a batch, and read the requested aggregates from the plan. */
static void
begin_sums(CustomScanState *node, EState *estate, int eflags)
{
	EmogiBatchState *batch = (EmogiBatchState *) node;
	const List *spec = list_nth(((CustomScan *) node->ss.ps.plan)->custom_private,
								EMOGI_PLAN_UPPER);

	emogi_batch_begin(node, estate, eflags, EMOGI_BATCH_ROWS);
	batch->found = palloc(EMOGI_BATCH_ROWS * sizeof *batch->found);
	batch->sums = palloc(list_length(spec) * sizeof *batch->sums);
	for (int i = 1; i < list_length(spec); i++)
		batch->sums[batch->nsums++] = (EmogiOutput) linitial_int(list_nth(spec, i));
}

static const CustomExecMethods exec_methods = {
	.CustomName = "EmogiBatchAggregate",
	.BeginCustomScan = begin_sums,
	.ExecCustomScan = exec_sums,
	.EndCustomScan = emogi_batch_end,
	.ReScanCustomScan = emogi_batch_rescan,
	.ExplainCustomScan = emogi_batch_explain
};

/* Make the state of a node. */
static Node *
create_state(CustomScan *plan)
{
	EmogiBatchState *batch = (EmogiBatchState *) newNode(sizeof(EmogiBatchState),
														 T_CustomScanState);

	batch->scan.css.methods = &exec_methods;
	return (Node *) batch;
}

const CustomScanMethods emogi_batch_sums_methods = {.CustomName = "EmogiBatchAggregate",
													.CreateCustomScanState = create_state};
