/*
 * search_trees.c: rows of shortest path trees, emogi_bfs_tree and emogi_shortest_path_tree: one per
 * reached vertex, with its predecessor and the name of the edge from it, which sources do not have
 */
#include "postgres.h"

#include "miscadmin.h"

#include "contract/partition_point.h"
#include "function/cursor.h"

/* Vertices between two checks for interrupts. */
#define VERTICES_PER_CHECK 65536

/* Edges whose names are looked up by one query: its arrays must be below 1 GB. */
#define NAMES_PER_QUERY UINT64CONST(4194304)

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

/* A batch of edges whose names are looked up. */
typedef struct Steps
{
	const EmogiTask *task;
	const EmogiGraph *graph;
	NullableDatum *names;		/* [nvertices], the result */
	uint64		count;
	uint32	   *vertices;		/* [NAMES_PER_QUERY, or fewer if there are fewer vertices], ends of
								 * the edges */
	int64	   *from;
	int64	   *to;
	NullableDatum *found;
} Steps;

/* Look up the names of a batch of edges. */
static void
look_up(Steps *steps, const uint32 *predecessors)
{
	for (uint64 i = 0; i < steps->count; i++)
	{
		steps->from[i] = steps->graph->ids[predecessors[steps->vertices[i]]];
		steps->to[i] = steps->graph->ids[steps->vertices[i]];
	}
	emogi_edge_names_find(steps->task, steps->graph, steps->from, steps->to, steps->count,
						  steps->found);
	for (uint64 i = 0; i < steps->count; i++)
		steps->names[steps->vertices[i]] = steps->found[i];
	steps->count = 0;
}

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

/*
 * Find the names of a tree's edges, of those that may be requested, in the current context. Raises
 * the errors of emogi_edge_names_find, and a cancel.
 */
void
emogi_search_trees_name(const EmogiTask *task, const EmogiGraph *graph, EmogiResult *result)
{
	const uint64 n = graph->nvertices;
	const uint64 room = Min(n, NAMES_PER_QUERY);
	const uint32 *predecessors = result->columns[PREDECESSORS].vertex;
	Steps		steps = {.task = task,.graph = graph};

	if (n == 0)
		return;
	steps.names = palloc_extended(n * sizeof *steps.names, MCXT_ALLOC_HUGE);
	steps.vertices = palloc_extended(room * sizeof *steps.vertices, MCXT_ALLOC_HUGE);
	steps.from = palloc_extended(room * sizeof *steps.from, MCXT_ALLOC_HUGE);
	steps.to = palloc_extended(room * sizeof *steps.to, MCXT_ALLOC_HUGE);
	steps.found = palloc_extended(room * sizeof *steps.found, MCXT_ALLOC_HUGE);
	for (uint64 v = 0; v < n; v++)
	{
		if (v % VERTICES_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		if (predecessors[v] == EMOGI_NO_VERTEX ||
			result->columns[SOURCES].vertex[v] == EMOGI_NO_VERTEX)
			continue;
		steps.names[v] = (NullableDatum) {.isnull = true};
		if (!is_requested_key(task, graph->ids[v]))
			continue;
		steps.vertices[steps.count++] = (uint32) v;
		if (steps.count == room)
			look_up(&steps, predecessors);
	}
	look_up(&steps, predecessors);
	result->columns[NAMES].any = steps.names;
	pfree(steps.vertices);
	pfree(steps.from);
	pfree(steps.to);
	pfree(steps.found);
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
	.begin = begin_tree, .enter = enter_reached

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
