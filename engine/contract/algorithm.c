/*
 * algorithm.c: run-time table of the algorithms in algorithms.h.
 */
#include "engine.h"

#include <string.h>

#define THOSE(...) __VA_ARGS__

/* The search whose forest a shape encodes. */
#define SEARCH(NAME, shape) \
	((shape) == EMOGI_SHAPE_BFS_TREE ? EMOGI_BFS : \
	 (shape) == EMOGI_SHAPE_PATH_TREE ? EMOGI_SSSP : EMOGI_##NAME)

const EmogiAlgorithmRow emogi_algorithm_rows[EMOGI_NALGORITHMS] = {
#define OTHER(NAME, its_name, cpu, on_cuda, in_papers, verifier, its_shape, its_lists, \
			  its_weights, its_traits, its_parameters, its_columns) \
	{.algorithm = EMOGI_##NAME, .search = SEARCH(NAME, its_shape), .name = #its_name, \
		.cuda = #on_cuda, .papers = #in_papers, \
		.shape = its_shape, .lists = its_lists, .weights = its_weights, .traits = its_traits, \
		.parameters = {THOSE its_parameters}, .columns = {THOSE its_columns}},
#define PATH(NAME, its_name, column, order, source, its_traits, candidate) \
	{.algorithm = EMOGI_##NAME, .search = EMOGI_##NAME, .name = #its_name, .cuda = "path", \
		.papers = "path", .lists = EMOGI_LISTS_FORWARD, .weights = EMOGI_WEIGHTS_LENGTHS, \
		.traits = (its_traits) | (((its_traits) & EMOGI_PATH_ADDITIVE) != 0 ? EMOGI_STOPS : 0), \
		.parameters = {{EMOGI_SOURCES, 0}, \
			{((its_traits) & EMOGI_PATH_ADDITIVE) != 0 ? EMOGI_MAX_DISTANCE : EMOGI_DIRECTION, \
				((its_traits) & EMOGI_PATH_ADDITIVE) != 0 ? (double) INFINITY : EMOGI_OUT}, \
			{((its_traits) & EMOGI_PATH_ADDITIVE) != 0 ? EMOGI_DIRECTION : EMOGI_NO_PARAMETER, \
				EMOGI_OUT}}, \
		.columns = {{#column, EMOGI_FLOAT64, \
			(order) == EMOGI_MAXIMIZE ? -1.0 : (double) INFINITY}}},
#define SUM(NAME, its_name, direction, its_weights, its_traits, contribution, finish, lipschitz) \
	{.algorithm = EMOGI_##NAME, .search = EMOGI_##NAME, .name = #its_name, .cuda = "gather", \
		.papers = "sum", .lists = EMOGI_LISTS_BACKWARD, .weights = its_weights, \
		.traits = (its_traits) | EMOGI_MAY_DIVERGE, \
		.parameters = {{EMOGI_START, 0}, {EMOGI_MAX_ITERATIONS, 1000}, {EMOGI_TOLERANCE, 1e-6}, \
			{EMOGI_DIRECTION, direction}}, \
		.columns = {{"value", EMOGI_FLOAT64, NAN}}},
	EMOGI_ALGORITHMS(OTHER, PATH, SUM)
#undef OTHER
#undef PATH
#undef SUM
};

const EmogiAlgorithmRow *
emogi_algorithm_named(const char *name)
{
	for (int a = 0; a < EMOGI_NALGORITHMS; a++)
		if (strcmp(emogi_algorithm_rows[a].name, name) == 0)
			return &emogi_algorithm_rows[a];
	return NULL;
}

int
emogi_algorithm_takes(const EmogiAlgorithmRow *row, EmogiParameterKind kind)
{
	for (int i = 0; row->parameters[i].kind != EMOGI_NO_PARAMETER; i++)
		if (row->parameters[i].kind == kind)
			return i;
	return -1;
}

bool
emogi_algorithm_iterates(EmogiAlgorithm algorithm)
{
	return emogi_algorithm_takes(emogi_algorithm_row(algorithm), EMOGI_MAX_ITERATIONS) >= 0;
}

bool
emogi_algorithm_is_on_cuda(const EmogiAlgorithmRow *row)
{
	return strcmp(row->cuda, "none") != 0;
}

uint32_t
emogi_algorithm_column_bytes(EmogiColumnType type)
{
	switch (type)
	{
		case EMOGI_INT32:
		case EMOGI_VERTEX:
			return 4;
		case EMOGI_INT64:
		case EMOGI_FLOAT64:
			return 8;
		case EMOGI_EDGE:
			break;
	}
	return 0;
}
