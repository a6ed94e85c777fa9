/*
 * stored_functions.c: the functions that store all rows of paths before they return the first, for
 * the planner and EXPLAIN
 */
#include "postgres.h"

#include <math.h>

#include "function/function.h"

/* A function that reads a graph as an algorithm does: NAME(graph, parameters ...). */
#define ROW(function, of_shape, as_algorithm, ...) \
	{ \
		.algorithm = EMOGI_##as_algorithm, \
		.name = function, \
		.cuda = "none", \
		.papers = "none", \
		.shape = EMOGI_SHAPE_##of_shape, \
		.parameters = {__VA_ARGS__} \
	}

static const EmogiStoredFunction paths_of_pairs = {
	.row = ROW("shortest_paths", STEPS, SSSP, {EMOGI_PAIRS, 0}, {EMOGI_DIRECTION, EMOGI_OUT}),
	.collects = EMOGI_COLLECTS_PATHS
};

/* The kind of counts of paths and cycles does not matter: they do not affect the graph. */
static const EmogiStoredFunction functions[] = {
	{
		.row = ROW("shortest_paths", STEPS, SSSP, {EMOGI_SOURCES, 0}, {EMOGI_TARGETS, 0},
				   {EMOGI_DIRECTION, EMOGI_OUT}),
		.collects = EMOGI_COLLECTS_PATHS,
		.of_pairs = &paths_of_pairs
	},
	{
		.row = ROW("k_shortest_paths", STEPS, SSSP, {EMOGI_SOURCES, 0}, {EMOGI_TARGETS, 0},
				   {EMOGI_TOP_K, 0}, {EMOGI_DIRECTION, EMOGI_OUT}),
		.collects = EMOGI_COLLECTS_RANKED
	},
	{
		.row = ROW("all_shortest_paths", STEPS, SSSP, {EMOGI_SOURCES, 0}, {EMOGI_TARGETS, 0},
				   {EMOGI_TOP_K, 0}, {EMOGI_DIRECTION, EMOGI_OUT}),
		.collects = EMOGI_COLLECTS_PATHS
	},
	{
		.row = ROW("cycles", STEPS, SSSP, {EMOGI_SOURCES, 0}, {EMOGI_MAX_DEPTH, -1},
				   {EMOGI_TOP_K, 0}, {EMOGI_DIRECTION, EMOGI_OUT}),
		.collects = EMOGI_COLLECTS_CYCLES
	},
	{
		.row = ROW("simple_paths", STEPS, SSSP, {EMOGI_SOURCES, 0}, {EMOGI_TARGETS, 0},
				   {EMOGI_MAX_DEPTH, -1}, {EMOGI_MAX_DISTANCE, (double) INFINITY},
				   {EMOGI_TOP_K, 0}, {EMOGI_DIRECTION, EMOGI_OUT}),
		.collects = EMOGI_COLLECTS_CYCLES
	},
	{
		.row = ROW("reachable", DISTANCES, BFS, {EMOGI_PAIRS, 0}, {EMOGI_DIRECTION, EMOGI_OUT}),
		.collects = EMOGI_COLLECTS_PATHS
	}
};

/* Get the function emogi_NAME; NULL if it is not one of these. */
const EmogiStoredFunction *
emogi_stored_function_named(const char *name)
{
	for (int i = 0; i < (int) lengthof(functions); i++)
		if (strcmp(functions[i].row.name, name) == 0)
			return &functions[i];
	return NULL;
}
