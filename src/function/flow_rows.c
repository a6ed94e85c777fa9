/*
 * flow_rows.c: rows that are edges with a flow, of emogi_max_flow_edges, or of a cut, of
 * emogi_min_cut (engine/cpu/max_flow.c)
 */
#include "postgres.h"

#include "contract/partition_point.h"
#include "contract/query.h"

#include "function/cursor.h"

/* Columns of the result: lists. */
enum
{
	FLOW,
	RESIDUAL,
	FROM,						/* EMOGI_NO_VERTEX after the last edge */
	TO,
	NAMES						/* NullableDatum; NULL = names are not requested */
};

/* Get the number of listed edges, of at most `length`. */
static uint64
count_edges(const EmogiResult *result, uint64 length)
{
	const uint32 *from = result->columns[FROM].vertex;

	return EMOGI_PARTITION_POINT(0, length, middle, from[middle] != EMOGI_NO_VERTEX);
}

/* Get the vertices of a listed edge. */
static bool
get_edge(const void *arg, uint64 i, uint32 *from, uint32 *to)
{
	const EmogiResult *result = arg;

	*from = result->columns[FROM].vertex[i];
	*to = result->columns[TO].vertex[i];
	return true;
}

/* Find the names of the edges; parallel ones are listed together, ascending by capacity. */
static void
name_edges(const EmogiTask *task, const EmogiGraph *graph, EmogiResult *result)
{
	result->columns[NAMES].any =
		emogi_edge_batches_name(task, graph, count_edges(result, graph->forward.nedges), get_edge,
								result, true);
}

/* Elements are the listed edges. */
static void
begin_flows(EmogiRowCursor *cursor)
{
	cursor->nelements = count_edges(cursor->result,
									emogi_query_length(cursor->graph, cursor->query));
}

/* An element has at most one row. */
static void
enter_edge(EmogiRowCursor *cursor)
{
	cursor->place = 0;
	cursor->nplaces = 1;
}

/* Fill in an edge: src, dst, edge, flow, residual; return false if it has no flow. */
static bool
fill_flow(EmogiRowCursor *cursor)
{
	const EmogiArray *columns = cursor->result->columns;
	const NullableDatum *names = columns[NAMES].any;
	const uint64 i = cursor->element;

	cursor->cells[0].number = columns[FROM].vertex[i];
	cursor->cells[1].number = columns[TO].vertex[i];
	cursor->cells[2].name = names != NULL ? &names[i] : NULL;
	cursor->cells[3].real = columns[FLOW].float64[i];
	cursor->cells[4].real = columns[RESIDUAL].float64[i];
	return columns[FLOW].float64[i] > 0;
}

/* Rows in ascending order of both vertices */
#define EDGE_LIST \
	.key = 0, .element = -1, .place = -1, .nullable = -1, .norder = 2, \
	.name = name_edges, .begin = begin_flows, .enter = enter_edge, .fill = fill_flow

const EmogiRowKind emogi_flow_rows = {
	.columns = {{"src", EMOGI_VERTEX, NAN}, {"dst", EMOGI_VERTEX, NAN}, {"edge", EMOGI_EDGE, NAN},
				{"flow", EMOGI_FLOAT64, NAN}, {"residual", EMOGI_FLOAT64, NAN}},
	EDGE_LIST
};

/* The last value of fill_flow, which is 0, is no column. */
const EmogiRowKind emogi_cut_rows = {
	.columns = {{"src", EMOGI_VERTEX, NAN}, {"dst", EMOGI_VERTEX, NAN}, {"edge", EMOGI_EDGE, NAN},
				{"capacity", EMOGI_FLOAT64, NAN}},
	EDGE_LIST
};
