/*
 * list.c: rows of what has no row a vertex: pairs of emogi_similarity, steps of emogi_random_walk.
 */
#include "postgres.h"

#include "contract/query.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "function/function.h"
#include "function/rows.h"

/* Elements between two looks for a cancel. */
#define ELEMENTS_PER_CHECK 65536

#define MOST_COLUMNS 3

/* Make the row at a place of the list. */
static void
make_row(const EmogiTask *task, const EmogiQuery *query, const EmogiGraph *graph, const EmogiResult *result, uint64 i, Datum *values)
{
	const uint64 steps = (uint64) query->length + 1;

	if (query->algorithm == EMOGI_SIMILARITY)
	{
		values[0] = emogi_rows_vertex(task->form, graph, query->pairs != NULL ? query->pairs[2 * i] : i / (uint64) query->top_k);
		values[1] = emogi_rows_vertex(task->form, graph, result->columns[0].vertex[i]);
		values[2] = Float8GetDatum(result->columns[1].float64[i]);
		return;
	}
	values[0] = Int64GetDatum((int64) (i / steps));
	values[1] = Int32GetDatum((int32) (i % steps));
	values[2] = emogi_rows_vertex(task->form, graph, result->columns[0].vertex[i]);
}

/* Put the rows of a list into the tuplestore, in its order. */
void
emogi_list_put(FunctionCallInfo fcinfo, EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, const EmogiResult *result)
{
	const EmogiQuery *query = &call->slot->request.query;
	const EmogiResultColumn *columns = emogi_algorithm_row(query->algorithm)->columns;
	const uint64 length = emogi_query_length(graph->nvertices, query);
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext, "emogi row", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(row_context);
	bool		nulls[MOST_COLUMNS] = {false, false, false};
	Datum		values[MOST_COLUMNS];

	for (uint64 first = 0; first < length; first += ELEMENTS_PER_CHECK)
	{
		const uint64 end = Min(first + ELEMENTS_PER_CHECK, length);

		CHECK_FOR_INTERRUPTS();
		for (uint64 i = emogi_rows_next(columns, result, first, end); i < end; i = emogi_rows_next(columns, result, i + 1, end))
		{
			make_row(task, query, graph, result, i, values);
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
			if (task->form->kind != EMOGI_FORM_INTEGER)
				MemoryContextReset(row_context);
			call->record.nrows++;
		}
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(row_context);
}
