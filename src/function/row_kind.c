/*
 * row_kind.c: the kinds of rows of functions, and their columns
 */
#include "postgres.h"

#include "function/cursor.h"

/* Get the kind of a function's rows; NULL if they are plain vertices, or if it has none. */
const EmogiRowKind *
emogi_row_kind_find(const EmogiAlgorithmRow *function)
{
	static const EmogiRowKind *const kinds[EMOGI_NSHAPES] = {
		[EMOGI_SHAPE_EDGES] = &emogi_edge_rows,
		[EMOGI_SHAPE_WEIGHTED_EDGES] = &emogi_weighted_edge_rows,
		[EMOGI_SHAPE_BLOCKS] = &emogi_block_rows,
		[EMOGI_SHAPE_BFS_TREE] = &emogi_bfs_tree_rows,
		[EMOGI_SHAPE_PATH_TREE] = &emogi_shortest_path_tree_rows,
		[EMOGI_SHAPE_HIERARCHY] = &emogi_hierarchy_rows,
		[EMOGI_SHAPE_STEPS] = &emogi_path_rows,
		[EMOGI_SHAPE_SIMILARITIES] = &emogi_similarity_rows,
		[EMOGI_SHAPE_DISTANCES] = &emogi_distance_rows,
		[EMOGI_SHAPE_WALKS] = &emogi_walk_rows
	};

	return kinds[function->shape];
}

/* Get a column of a function's rows by its number, from 0; NULL if there is none. */
const EmogiResultColumn *
emogi_row_kind_column(const EmogiAlgorithmRow *function, int place)
{
	static const EmogiResultColumn vertex = {"vertex", EMOGI_VERTEX, NAN};
	const EmogiRowKind *kind = emogi_row_kind_find(function);
	const EmogiResultColumn *column = &vertex;

	if (kind != NULL)
		column = &kind->columns[place];
	else if (place > 0)
		column = &function->columns[place - 1];
	return column->name != NULL ? column : NULL;
}

/*
 * Get the number of the column of a function's rows whose vertices a condition can select; -1 =
 * none.
 */
int
emogi_row_kind_key(const EmogiAlgorithmRow *function)
{
	const EmogiRowKind *kind = emogi_row_kind_find(function);

	return kind != NULL ? kind->key : 0;
}
