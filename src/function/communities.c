/*
 * communities.c: rows of a hierarchy of communities, emogi_louvain and emogi_leiden: one for each
 * vertex and level; and emogi_modularity, one number.
 */
#include "postgres.h"

#include <math.h>

#include "contract/hierarchy.h"

#include "function/cursor.h"

/* ---- rows of a hierarchy ---- */

/* All vertices. */
static void
begin_hierarchy(EmogiRowCursor *cursor)
{
	cursor->nelements = cursor->graph->nvertices;
}

/* All levels; at the last one, and there alone, a community has no parent. */
static void
enter_vertex(EmogiRowCursor *cursor)
{
	const uint32 nlevels = cursor->result->nlevels;

	cursor->community = (uint32) cursor->element;
	cursor->place = cursor->nulls == EMOGI_NULLS_ONLY && nlevels > 0 ? nlevels - 1 : 0;
	cursor->nplaces = nlevels;
	if (cursor->nulls == EMOGI_NULLS_NONE)
		cursor->nplaces = 0;
	else if (cursor->nulls == EMOGI_NULLS_NEVER && nlevels > 0)
		cursor->nplaces = nlevels - 1;
}

/* Fill in a vertex at a level: vertex, level, community, parent. */
static bool
fill_level(EmogiRowCursor *cursor)
{
	const int32 *heads = cursor->result->columns[0].int32;
	const uint32 *joins = cursor->result->columns[1].vertex;
	const uint32 level = (uint32) cursor->place;

	cursor->community = emogi_hierarchy_community(joins, heads, cursor->community, level);
	cursor->cells[0].number = (int64) cursor->element;
	cursor->cells[1].number = level;
	cursor->cells[2].number = cursor->community;
	if (level + 1 == cursor->result->nlevels)
		cursor->cells[3].number = EMOGI_NO_VERTEX;
	else if ((cursor->wanted & 1U << 3) != 0)
		cursor->cells[3].number = emogi_hierarchy_community(joins, heads, cursor->community,
															level + 1);
	return true;
}

/* In ascending order of vertices, then of levels. */
const EmogiRowKind emogi_hierarchy_rows = {
	.columns = {{"vertex", EMOGI_VERTEX, NAN}, {"level", EMOGI_INT32, NAN},
				{"community", EMOGI_VERTEX, NAN}, {"parent", EMOGI_VERTEX, NAN}},
	.key = 0,
	.element = 0,
	.place = 1,
	.nullable = 3,
	.norder = 2,
	.begin = begin_hierarchy,
	.enter = enter_vertex,
	.fill = fill_level
};

/* ---- one number ---- */

/*
 * Add up a column, and make of the sum what the function returns; NULL where that is not defined.
 */
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
	call = emogi_course_run(fcinfo->flinfo->fn_oid, &task, &graph, &result);
	if (call == NULL && algorithm == EMOGI_TRIANGLE_COUNT)
		PG_RETURN_INT64(0);
	if (call == NULL)
		PG_RETURN_NULL();
	total = add_up(fcinfo, algorithm, result.columns[0], graph.nvertices);
	call->record.nrows = 1;
	emogi_call_end(call);
	return total;
}
