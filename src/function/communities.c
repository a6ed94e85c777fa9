/*
 * communities.c: rows of a hierarchy of communities, emogi_louvain and emogi_leiden: one for each vertex and level; and emogi_modularity,
 * one number.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "contract/hierarchy.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "function/function.h"
#include "function/rows.h"

/* Vertices between two looks for a cancel. */
#define VERTICES_PER_CHECK 4096

/* Put the rows of a vertex into the tuplestore: vertex, level, community, parent. */
static void
put_vertex(ReturnSetInfo *rsinfo, EmogiForm *form, const EmogiGraph *graph, const EmogiResult *result, uint32 v)
{
	const int32 *heads = result->columns[0].int32;
	const uint32 *joins = result->columns[1].vertex;
	bool		nulls[4] = {false, false, false, false};
	Datum		values[4];
	uint32		community = emogi_hierarchy_community(joins, heads, v, 0);

	values[0] = emogi_rows_vertex(form, graph, v);
	for (uint32 level = 0; level < result->nlevels; level++)
	{
		const uint32 parent = emogi_hierarchy_community(joins, heads, community, level + 1);

		values[1] = Int32GetDatum((int32) level);
		values[2] = emogi_rows_vertex(form, graph, community);
		nulls[3] = level + 1 == result->nlevels;
		values[3] = nulls[3] ? (Datum) 0 : emogi_rows_vertex(form, graph, parent);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		community = parent;
	}
}

/* Put all rows of a hierarchy into the tuplestore, in ascending order of keys, then of levels. */
void
emogi_communities_put(FunctionCallInfo fcinfo, EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, const EmogiResult *result)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext, "emogi row", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(row_context);

	for (uint64 v = 0; v < graph->nvertices; v++)
	{
		if (v % VERTICES_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		put_vertex(rsinfo, task->form, graph, result, (uint32) v);
		MemoryContextReset(row_context);
	}
	call->record.nrows = graph->nvertices * result->nlevels;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(row_context);
}

/* Add up a column, and make of the sum what the function returns; NULL where that is not defined. */
static Datum
add_up(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm, EmogiArray column, uint64 nvertices)
{
	double		sum = 0.0;
	int64		ncorners = 0;

	if (algorithm == EMOGI_TRIANGLE_COUNT)
	{
		for (uint64 v = 0; v < nvertices; v++)
			ncorners += column.int64[v];
		PG_RETURN_INT64(ncorners / 3);
	}
	for (uint64 v = 0; v < nvertices; v++)
		sum += column.float64[v];
	if (isnan(sum))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(sum);
}

/* Carry out a function that returns a number; of a graph without an edge NULL, or no triangle. */
Datum
emogi_communities_total(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm)
{
	EmogiTask	task;
	EmogiGraph	graph;
	EmogiResult result;
	EmogiCall  *call;
	Datum		total;

	emogi_arguments_read(fcinfo, algorithm, &task);
	call = emogi_run(fcinfo->flinfo->fn_oid, &task, &graph, &result);
	if (call == NULL && algorithm == EMOGI_TRIANGLE_COUNT)
		PG_RETURN_INT64(0);
	if (call == NULL)
		PG_RETURN_NULL();
	total = add_up(fcinfo, algorithm, result.columns[0], graph.nvertices);
	call->record.nrows = 1;
	emogi_call_end(call);
	return total;
}
