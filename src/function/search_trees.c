/*
 * search_trees.c: rows of a tree of shortest paths, emogi_bfs_tree and emogi_shortest_path_tree: one for each vertex that is reached, with the vertex before, which a source
 * does not have.
 */
#include "postgres.h"

#include "function/cursor.h"

/* Places of columns. */
#define PREDECESSOR 2

/* All vertices. */
static void
begin_tree(EmogiRowCursor *cursor)
{
	cursor->nelements = cursor->graph->nvertices;
}

/* One row, at most. */
static void
enter_reached(EmogiRowCursor *cursor)
{
	cursor->place = 0;
	cursor->nplaces = cursor->nulls == EMOGI_NULLS_NONE ? 0 : 1;
}

/* Is a row wanted for what its predecessor is? */
static inline bool
is_wanted(const EmogiRowCursor *cursor, bool has_predecessor)
{
	if (cursor->nulls == EMOGI_NULLS_ONLY)
		return !has_predecessor;
	return cursor->nulls != EMOGI_NULLS_NEVER || has_predecessor;
}

/* Fill in what all trees have: the vertex, its predecessor, its source; false when it is not reached, or not wanted. */
static bool
fill_way(EmogiRowCursor *cursor)
{
	const EmogiArray *columns = cursor->result->columns;
	const uint64 v = cursor->element;

	if (columns[2].vertex[v] == EMOGI_NO_VERTEX || !is_wanted(cursor, columns[1].vertex[v] != EMOGI_NO_VERTEX))
		return false;
	cursor->cells[0].number = (int64) v;
	cursor->cells[PREDECESSOR].number = columns[1].vertex[v];
	cursor->cells[3].number = columns[2].vertex[v];
	return true;
}

/* Fill in a row: vertex, level, predecessor, source. */
static bool
fill_hops(EmogiRowCursor *cursor)
{
	cursor->cells[1].number = cursor->result->columns[0].int32[cursor->element];
	return fill_way(cursor);
}

/* In ascending order of vertices. */
const EmogiRowKind emogi_bfs_tree_rows = {
	.columns = {{"vertex", EMOGI_VERTEX, NAN}, {"level", EMOGI_INT32, NAN}, {"predecessor", EMOGI_VERTEX, NAN}, {"source", EMOGI_VERTEX, NAN}},
	.key = 0,
	.element = 0,
	.place = -1,
	.nullable = PREDECESSOR,
	.norder = 1,
	.begin = begin_tree,
	.enter = enter_reached,
	.fill = fill_hops
};

/* Fill in a row: vertex, distance, predecessor, source. */
static bool
fill_distance(EmogiRowCursor *cursor)
{
	cursor->cells[1].real = cursor->result->columns[0].float64[cursor->element];
	return fill_way(cursor);
}

/* In ascending order of vertices. */
const EmogiRowKind emogi_shortest_path_tree_rows = {
	.columns = {{"vertex", EMOGI_VERTEX, NAN}, {"distance", EMOGI_FLOAT64, NAN}, {"predecessor", EMOGI_VERTEX, NAN}, {"source", EMOGI_VERTEX, NAN}},
	.key = 0,
	.element = 0,
	.place = -1,
	.nullable = PREDECESSOR,
	.norder = 1,
	.begin = begin_tree,
	.enter = enter_reached,
	.fill = fill_distance
};
