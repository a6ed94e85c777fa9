/*
 * kinds.c: the kinds of rows of functions, and their columns
 */
#include "postgres.h"

#include "function/cursor.h"

/* Get the kind of a function's rows; NULL if they are plain vertices, or if it has none. */
const EmogiRowKind *
emogi_kinds_find(const EmogiAlgorithmRow *function)
{
	if (function == &emogi_path_function)
		return &emogi_path_rows;
	if ((function->traits & EMOGI_HAS_OTHER_ROWS) == 0)
		return NULL;
	if ((function->traits & EMOGI_IS_HIERARCHY) != 0)
		return &emogi_hierarchy_rows;
	if ((function->traits & EMOGI_IS_EDGES) != 0)
		return function->columns[1].name != NULL ? &emogi_weighted_edge_rows : &emogi_edge_rows;
	if ((function->traits & EMOGI_IS_BLOCKS) != 0)
		return &emogi_block_rows;
	if ((function->traits & EMOGI_IS_TREE) != 0)
		return function->algorithm == EMOGI_BFS_TREE ? &emogi_bfs_tree_rows :
			&emogi_shortest_path_tree_rows;
	if (function->algorithm == EMOGI_DISTANCE_MATRIX)
		return &emogi_distance_rows;
	if ((function->traits & EMOGI_IS_LIST) != 0)
		return function->algorithm == EMOGI_SIMILARITY ? &emogi_similarity_rows :
			&emogi_walk_rows;
	return NULL;
}

/* Get a column of a function's rows by its number, from 0; NULL if there is none. */
const EmogiResultColumn *
emogi_kinds_column(const EmogiAlgorithmRow *function, int place)
{
	static const EmogiResultColumn vertex = {"vertex", EMOGI_VERTEX, NAN};
	const EmogiRowKind *kind = emogi_kinds_find(function);
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
emogi_kinds_key(const EmogiAlgorithmRow *function)
{
	const EmogiRowKind *kind = emogi_kinds_find(function);

	return kind != NULL ? kind->key : 0;
}
