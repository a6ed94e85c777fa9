/*
 * search_trees.c: rows of shortest path trees, emogi_bfs_tree and emogi_shortest_path_tree: one per
 * reached vertex, with its predecessor and the name of the edge from it, which sources do not have
 */
#include "postgres.h"

#include "contract/partition_point.h"
#include "function/cursor.h"

/* Column numbers of a row. */
enum
{
	VERTEX,
	VALUE,
	PREDECESSOR,
	NAME,
	SOURCE
};

/* Columns of the result, [nvertices]. */
enum
{
	VALUES,
	/* predecessor, EMOGI_NO_VERTEX = a source, or not reached */
	PREDECESSORS,
	SOURCES,					/* source, EMOGI_NO_VERTEX = not reached */
	NAMES						/* NullableDatum, of vertices with a predecessor; NULL = names are
								 * not requested */
};

/* ---- names of edges ---- */

/* A tree whose edges are named. */
typedef struct NamedTree
{
	const EmogiTask *task;
	const EmogiGraph *graph;
	const EmogiResult *result;
} NamedTree;

/* Is the name of the edge to a vertex requested, as far as the task knows? */
static bool
is_requested_key(const EmogiTask *task, int64 key)
{
	uint64		place;

	if (!task->has_targets || task->last_is_target)
		return true;
	place = EMOGI_PARTITION_POINT(0, task->ntargets, middle, task->targets[middle] < key);
	return place < task->ntargets && task->targets[place] == key;
}

/* Get the edge to a vertex; return false if there is none, or its name is not requested. */
static bool
get_edge(const void *arg, uint64 v, uint32 *from, uint32 *to)
{
	const NamedTree *tree = arg;

	*from = tree->result->columns[PREDECESSORS].vertex[v];
	*to = (uint32) v;
	return *from != EMOGI_NO_VERTEX &&
		tree->result->columns[SOURCES].vertex[v] != EMOGI_NO_VERTEX &&
		is_requested_key(tree->task, tree->graph->ids[v]);
}

/* Find the names of a tree's edges, of those that may be requested. */
static void
name_edges(const EmogiTask *task, const EmogiGraph *graph, EmogiResult *result)
{
	const NamedTree tree = {task, graph, result};

	result->columns[NAMES].any = emogi_edge_batches_name(task, graph, graph->nvertices, get_edge,
														 &tree, false);
}

/* ---- rows ---- */

/* Elements are all vertices. */
static void
begin_tree(EmogiRowCursor *cursor)
{
	cursor->nelements = cursor->graph->nvertices;
}

/* An element has at most one row. */
static void
enter_reached(EmogiRowCursor *cursor)
{
	cursor->place = 0;
	cursor->nplaces = cursor->nulls == EMOGI_NULLS_CONTRADICTORY ? 0 : 1;
}

/* Does a row meet the conditions on NULL predecessors? */
static inline bool
is_requested(const EmogiRowCursor *cursor, bool has_predecessor)
{
	if (cursor->nulls == EMOGI_NULLS_ONLY)
		return !has_predecessor;
	return cursor->nulls != EMOGI_NULLS_EXCLUDED || has_predecessor;
}

/*
 * Fill in the common columns: vertex, predecessor, edge, source; return false if the vertex is not
 * reached or not requested.
 */
static bool
fill_common(EmogiRowCursor *cursor)
{
	const EmogiArray *columns = cursor->result->columns;
	const NullableDatum *names = columns[NAMES].any;
	const uint64 v = cursor->element;
	const bool	has_predecessor = columns[PREDECESSORS].vertex[v] != EMOGI_NO_VERTEX;

	if (columns[SOURCES].vertex[v] == EMOGI_NO_VERTEX || !is_requested(cursor, has_predecessor))
		return false;
	cursor->cells[VERTEX].number = (int64) v;
	cursor->cells[PREDECESSOR].number = columns[PREDECESSORS].vertex[v];
	cursor->cells[NAME].name = names != NULL && has_predecessor ? &names[v] : NULL;
	cursor->cells[SOURCE].number = columns[SOURCES].vertex[v];
	return true;
}

/* Rows in ascending order of vertices */
#define TREE_ROWS \
	.key = 0, .element = 0, .place = -1, .nullable = PREDECESSOR, .norder = 1, \
	.name = name_edges, .begin = begin_tree, .enter = enter_reached

/* Fill in a row: vertex, level, predecessor, edge, source. */
static bool
fill_hops(EmogiRowCursor *cursor)
{
	cursor->cells[VALUE].number = cursor->result->columns[VALUES].int32[cursor->element];
	return fill_common(cursor);
}

const EmogiRowKind emogi_bfs_tree_rows = {
	.columns = {{"vertex", EMOGI_VERTEX, NAN}, {"level", EMOGI_INT32, NAN},
				{"predecessor", EMOGI_VERTEX, NAN}, {"edge", EMOGI_EDGE, NAN},
	{"source", EMOGI_VERTEX, NAN}},
	TREE_ROWS,
	.fill = fill_hops
};

/* Fill in a row: vertex, distance, predecessor, edge, source. */
static bool
fill_distance(EmogiRowCursor *cursor)
{
	cursor->cells[VALUE].real = cursor->result->columns[VALUES].float64[cursor->element];
	return fill_common(cursor);
}

const EmogiRowKind emogi_shortest_path_tree_rows = {
	.columns = {{"vertex", EMOGI_VERTEX, NAN}, {"distance", EMOGI_FLOAT64, NAN},
				{"predecessor", EMOGI_VERTEX, NAN}, {"edge", EMOGI_EDGE, NAN},
	{"source", EMOGI_VERTEX, NAN}},
	TREE_ROWS,
	.fill = fill_distance
};
