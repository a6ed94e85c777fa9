/*
 * query.c: validation of queries by the row of their algorithm.
 */
#include "query.h"

#include "edge_mask.h"
#include "parameters.h"

#include <stdio.h>

/* Set the error message. */
static EmogiStatus
refuse(EmogiError *error, const char *message)
{
	snprintf(error->message, sizeof error->message, "%s", message);
	error->detail[0] = '\0';
	return EMOGI_BAD_INPUT;
}

/* Check that all numbers are vertices. */
static EmogiStatus
check_vertices(const EmogiGraph *graph, const uint32_t *numbers, uint64_t count, const char *what,
			   EmogiError *error)
{
	for (uint64_t i = 0; i < count; i++)
	{
		if (numbers[i] < graph->nvertices)
			continue;
		snprintf(error->message, sizeof error->message, "a %s is not a vertex of the graph", what);
		snprintf(error->detail, sizeof error->detail, "number %u of %llu", numbers[i],
				 (unsigned long long) graph->nvertices);
		return EMOGI_BAD_INPUT;
	}
	return EMOGI_OK;
}

uint64_t
emogi_query_length(const EmogiGraph *graph, const EmogiQuery *query)
{
	const double most = 9007199254740992.0;
	uint64_t	count = graph->nvertices;
	uint64_t	each = 1;

	switch (emogi_algorithm_row(query->algorithm)->shape)
	{
#define LIST(NAME, kind, count_of, each_of) \
		case EMOGI_SHAPE_##NAME: \
			count = count_of; \
			each = each_of; \
			break;
		EMOGI_SHAPES(EMOGI_NOTHING, EMOGI_NOTHING, LIST)
#undef LIST
		default:
			break;
	}
	return (double) count * (double) each <= most ? count * each : UINT64_MAX;
}

bool
emogi_query_is_small(const EmogiQuery *query)
{
	const double nsteps = (double) query->nsources * (double) query->walks * (double) query->length;

	return emogi_algorithm_row(query->algorithm)->shape == EMOGI_SHAPE_WALKS &&
		nsteps < EMOGI_WALK_STEPS;
}

/*
 * Check the parameters of a query that have a range. The number of similar vertices is not used if
 * pairs are given.
 */
static EmogiStatus
check_ranges(const EmogiAlgorithmRow *row, const EmogiQuery *query, EmogiError *error)
{
	for (int i = 0; row->parameters[i].kind != EMOGI_NO_PARAMETER; i++)
	{
		const EmogiParameterRow *parameter = emogi_parameter_row(row->parameters[i].kind);
		const double value = parameter != NULL ? emogi_parameter_value(parameter, query) : 0.0;

		if (parameter == NULL || (row->parameters[i].kind == EMOGI_TOP_K && query->pairs != NULL) ||
			(value >= parameter->min && value <= parameter->max) || value == parameter->none)
			continue;
		snprintf(error->message, sizeof error->message, "%s is out of range", parameter->name);
		snprintf(error->detail, sizeof error->detail, "%g, of %g to %g", value,
				 parameter->min, parameter->max);
		return EMOGI_BAD_INPUT;
	}
	return EMOGI_OK;
}

/* Check the measure and the pairs. */
static EmogiStatus
check_pairs(const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error)
{
	if ((unsigned int) query->measure > EMOGI_COSINE)
		return refuse(error, "unknown measure");
	return check_vertices(graph, query->pairs, query->pairs != NULL ? 2 * query->npairs : 0,
						  "vertex of a pair", error);
}

/* Check the mask of a query, which is not NULL. */
static EmogiStatus
check_mask(const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error)
{
	const EmogiProperties *reverse = query->mask->backward.properties;

	if (query->mask->forward.properties->nedges != graph->forward.nedges ||
		(reverse != NULL && reverse->nedges != graph->backward.nedges))
		return refuse(error, "the mask is not one of the graph");
	if (query->algorithm == EMOGI_BFS)
		return EMOGI_OK;
	refuse(error, "this algorithm cannot use a part of the edges");
	return EMOGI_UNSUPPORTED;
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
	status = query->mask != NULL ? check_mask(graph, query, error) : EMOGI_OK;
	if (status == EMOGI_OK)
		status = check_ranges(row, query, error);
	if (status != EMOGI_OK)
		return status;
	if (emogi_algorithm_takes(row, EMOGI_COMMUNITIES) >= 0 && query->values == NULL &&
		graph->nvertices > 0)
		return refuse(error, "communities are needed");
	if (emogi_algorithm_takes(row, EMOGI_START) >= 0 && query->values == NULL &&
		graph->nvertices > 0)
		return refuse(error, "start values are needed");
	if (emogi_query_needs_backward(query) && graph->backward.offsets == NULL &&
		graph->nvertices > 0)
		return refuse(error, "the graph's transpose is needed");
	if (emogi_algorithm_takes(row, EMOGI_PAIRS) >= 0)
		status = check_pairs(graph, query, error);
	if (status != EMOGI_OK)
		return status;
	if (emogi_query_length(graph, query) == UINT64_MAX)
		return refuse(error, "the result would have too many rows");
	if (emogi_algorithm_takes(row, EMOGI_SOURCES) >= 0)
		status = check_vertices(graph, query->sources, query->nsources, "source", error);
	if (status == EMOGI_OK &&
		((row->traits & (EMOGI_STOPS | EMOGI_OF_TARGETS)) != 0 ||
		 emogi_algorithm_takes(row, EMOGI_TARGETS) >= 0))
		status = check_vertices(graph, query->targets, query->ntargets, "target", error);
	return status;
}
