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

uint64_t
emogi_query_length(uint64_t nvertices, const EmogiQuery *query)
{
	const double most = 9007199254740992.0;
	uint64_t	count = nvertices;
	uint64_t	each = 1;

	if ((emogi_algorithm_row(query->algorithm)->traits & EMOGI_IS_LIST) == 0)
		return nvertices;
	if (query->algorithm == EMOGI_BFS_SUMS)
		return query->nsources;
	if (query->algorithm == EMOGI_SIMILARITY)
	{
		count = query->pairs != NULL ? query->npairs : query->ntargets > 0 ? query->ntargets : nvertices;
		each = query->pairs != NULL ? 1 : (uint64_t) query->top_k;
	}
	else if (query->algorithm == EMOGI_DISTANCE_MATRIX)
	{
		count = query->nsources;
		each = query->ntargets;
	}
	else
	{
		count = query->nsources * (uint64_t) query->walks;
		each = (uint64_t) query->length + 1;
	}
	return (double) count * (double) each <= most ? count * each : UINT64_MAX;
}

bool
emogi_query_needs_backward(const EmogiQuery *query)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(query->algorithm);

	if (query->algorithm == EMOGI_SIMILARITY)
		return query->pairs == NULL;
	return (row->traits & EMOGI_NEEDS_BACKWARD) != 0 || (query->is_weighted && (row->traits & EMOGI_WEIGHS_BACKWARD) != 0);
}

bool
emogi_query_is_small(const EmogiQuery *query)
{
	const double nsteps = (double) query->nsources * (double) query->walks * (double) query->length;

	return query->algorithm == EMOGI_RANDOM_WALK && nsteps < EMOGI_WALK_STEPS;
}

/* Check the arguments of walks. */
static EmogiStatus
check_walks(const EmogiQuery *query, EmogiError *error)
{
	const double p = query->return_parameter;
	const double q = query->in_out_parameter;

	if (query->length < 0 || query->length > INT32_MAX || query->walks < 1 || query->walks > INT32_MAX)
		return refuse(error, "walks have 0 steps or more, and there is at least one");
	if (!(p > 0.0 && q > 0.0 && p < (double) INFINITY && q < (double) INFINITY))
		return refuse(error, "finite p and q above 0 are needed");
	return EMOGI_OK;
}

/* Check the arguments of similarities. */
static EmogiStatus
check_similarity(const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error)
{
	if ((unsigned int) query->measure > EMOGI_COSINE)
		return refuse(error, "unknown measure");
	if (query->pairs == NULL && (query->top_k < 1 || query->top_k > INT32_MAX))
		return refuse(error, "at least one vertex is to be found for each");
	if (!(query->cutoff >= 0.0 && query->cutoff <= 1.0))
		return refuse(error, "a cutoff of 0 to 1 is needed");
	return check_vertices(graph, query->pairs, query->pairs != NULL ? 2 * query->npairs : 0, "vertex of a pair", error);
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
	if (emogi_algorithm_takes(row, EMOGI_ALPHA) >= 0 && !(query->alpha >= 0.0 && query->alpha < (double) INFINITY))
		return refuse(error, "a finite alpha of 0 or more is needed");
	if (emogi_algorithm_takes(row, EMOGI_BETA) >= 0 && !(fabs(query->beta) < (double) INFINITY))
		return refuse(error, "a finite beta is needed");
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
	if (emogi_query_needs_backward(query) && graph->backward.offsets == NULL && graph->nvertices > 0)
		return refuse(error, "the lists against the edges are needed, too");
	if (query->algorithm == EMOGI_RANDOM_WALK)
		status = check_walks(query, error);
	if (query->algorithm == EMOGI_SIMILARITY)
		status = check_similarity(graph, query, error);
	if (status != EMOGI_OK)
		return status;
	if (emogi_query_length(graph->nvertices, query) == UINT64_MAX)
		return refuse(error, "the answer would be too long");
	if (emogi_algorithm_takes(row, EMOGI_SOURCES) >= 0)
		status = check_vertices(graph, query->sources, query->nsources, "source", error);
	if (status == EMOGI_OK && ((row->traits & EMOGI_STOPS) != 0 || query->algorithm == EMOGI_SIMILARITY ||
							   emogi_algorithm_takes(row, EMOGI_TARGETS) >= 0))
		status = check_vertices(graph, query->targets, query->ntargets, "target", error);
	return status;
}
