/*
 * query.c: is a query in order? What there is to check follows from its algorithm's row.
 */
#include "query.h"

#include <stdio.h>

/* Write what is wrong. */
static EmogiStatus
refuse(EmogiError *error, const char *message)
{
	snprintf(error->message, sizeof error->message, "%s", message);
	error->detail[0] = '\0';
	return EMOGI_BAD_INPUT;
}

/* Check that these are vertices. */
static EmogiStatus
check_vertices(const EmogiGraph *graph, const uint32_t *numbers, uint64_t count, const char *what, EmogiError *error)
{
	for (uint64_t i = 0; i < count; i++)
	{
		if (numbers[i] < graph->nvertices)
			continue;
		snprintf(error->message, sizeof error->message, "a %s is not a vertex of the graph", what);
		snprintf(error->detail, sizeof error->detail, "number %u of %llu", numbers[i], (unsigned long long) graph->nvertices);
		return EMOGI_BAD_INPUT;
	}
	return EMOGI_OK;
}

EmogiStatus
emogi_query_check(const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error)
{
	const EmogiAlgorithmRow *row;
	EmogiStatus status = EMOGI_OK;

	if ((unsigned int) query->algorithm >= EMOGI_NALGORITHMS)
		return refuse(error, "unknown algorithm");
	row = emogi_algorithm_row(query->algorithm);
	if (graph->nvertices > EMOGI_MAX_VERTICES)
		return refuse(error, "too many vertices");
	if ((unsigned int) graph->weight_type > EMOGI_WEIGHT_F64)
		return refuse(error, "unknown type of weights");
	if (emogi_algorithm_takes(row, EMOGI_MAX_ITERATIONS) >= 0 && query->max_iterations < 1)
		return refuse(error, "at least one iteration is needed");
	if (emogi_algorithm_takes(row, EMOGI_TOLERANCE) >= 0 && !(query->tolerance >= 0.0))
		return refuse(error, "a tolerance of 0 or more is needed");
	if (emogi_algorithm_takes(row, EMOGI_SAMPLES) >= 0 && query->samples < 0)
		return refuse(error, "the number of samples must not be negative");
	if (emogi_algorithm_takes(row, EMOGI_RESOLUTION) >= 0 && !(query->resolution >= 0.0 && query->resolution < (double) INFINITY))
		return refuse(error, "a finite resolution of 0 or more is needed");
	if (emogi_algorithm_takes(row, EMOGI_THETA) >= 0 && !(query->theta >= 0.0))
		return refuse(error, "a theta of 0 or more is needed");
	if (emogi_algorithm_takes(row, EMOGI_MAX_CLUSTER_SIZE) >= 0 && query->max_cluster_size < 0)
		return refuse(error, "a community has at least one vertex");
	if (emogi_algorithm_takes(row, EMOGI_MAX_LEVELS) >= 0 && query->max_levels < 0)
		return refuse(error, "at least one level is needed");
	if (emogi_algorithm_takes(row, EMOGI_COMMUNITIES) >= 0 && query->values == NULL && graph->nvertices > 0)
		return refuse(error, "communities are needed");
	if (emogi_algorithm_takes(row, EMOGI_START) >= 0 && query->values == NULL && graph->nvertices > 0)
		return refuse(error, "start values are needed");
	if ((row->traits & EMOGI_NEEDS_BACKWARD) != 0 && graph->backward.offsets == NULL && graph->nvertices > 0)
		return refuse(error, "the lists against the edges are needed, too");
	if (query->is_weighted && emogi_algorithm_takes(row, EMOGI_WEIGHTED) >= 0 && graph->backward.offsets == NULL && graph->nvertices > 0)
		return refuse(error, "the lists against the edges are needed, too, for sums of weights");
	if (emogi_algorithm_takes(row, EMOGI_SOURCES) >= 0)
		status = check_vertices(graph, query->sources, query->nsources, "source", error);
	if (status == EMOGI_OK && (row->traits & EMOGI_STOPS) != 0)
		status = check_vertices(graph, query->targets, query->ntargets, "target", error);
	return status;
}
