/*
 * verify_sum.c: are the values of the sum algebra right?
 *
 * One more iteration is made, slowly. The step of each algorithm is a map of which is known how far it can carry two
 * values apart: PAGERANK shrinks the L1 distance by the damping; the others stretch the largest distance by no more
 * than the sum of |weight| that each formula puts on its vertices. So the change of that iteration is bounded by the change
 * that the run reports of its last, whether it has converged or not. Beside that: ranks sum to 1; poles and vertices
 * that keep their value have it; and the run stopped for a reason.
 */
#include "verify.h"

#include "algebra.h"
#include "verify_wrong.h"

#include <stdlib.h>

#define ROUNDING 1e-9			/* relative */

/* Check that the run stopped because it converged or had made its iterations. */
static bool
check_stop(const EmogiQuery *query, const EmogiResult *result, EmogiError *error)
{
	if (result->nlevels < 1 || result->nlevels > query->max_iterations)
		return emogi_wrong(error, "%u iterations of at most %lld", result->nlevels, (long long) query->max_iterations);
	if (result->nlevels < query->max_iterations && !(result->change < query->tolerance))
		return emogi_wrong(error, "stopped after %u iterations with a change of %.17g", result->nlevels, result->change);
	return true;
}

/* Make one more iteration of PageRank over next[nvertices]; gets its L1 change. out: [nvertices], edges out. */
static double
step_pagerank(const EmogiGraph *graph, const EmogiQuery *query, const double *value, const double *out)
{
	const EmogiAdjacency *in = &graph->forward;
	double		n = (double) graph->nvertices;
	double		dangling = 0.0,
				change = 0.0;

	for (uint64_t v = 0; v < graph->nvertices; v++)
		dangling += out[v] == 0.0 ? value[v] : 0.0;
	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		double		sum = 0.0;

		for (uint64_t i = in->offsets[v]; i < in->offsets[v + 1]; i++)
			sum += value[in->targets[i]] / out[in->targets[i]];
		change += fabs(emogi_pagerank_finish(query->damping, n, dangling, sum) - value[v]);
	}
	return change;
}

/* Check ranks. */
static bool
check_pagerank(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result, EmogiError *error)
{
	double	   *out = calloc(graph->nvertices, sizeof(double));
	double		sum = 0.0,
				change;

	if (out == NULL)
		return emogi_wrong(error, "no memory to verify");
	for (uint64_t i = 0; i < graph->forward.nedges; i++)
		out[graph->forward.targets[i]]++;
	change = step_pagerank(graph, query, result->value, out);
	free(out);
	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		if (!(result->value[v] >= 0.0))
			return emogi_wrong(error, "vertex %llu has rank %.17g", (unsigned long long) v, result->value[v]);
		sum += result->value[v];
	}
	if (!(fabs(sum - 1.0) <= ROUNDING))
		return emogi_wrong(error, "the ranks sum to %.17g", sum);
	if (!(change <= query->damping * result->change + ROUNDING))
		return emogi_wrong(error, "one more iteration changes %.17g after %.17g", change, result->change);
	return true;
}

/* What one more iteration makes of a vertex, and how far it can carry two values apart. */
typedef struct Step
{
	double		value;
	double		stretch;
	double		scale;			/* the sum of what was added, without signs: rounding is relative to it */
} Step;

/* Make one more iteration for a vertex. */
static Step
step_vertex(const EmogiGraph *graph, EmogiAlgorithm algorithm, const double *value, uint64_t v)
{
	const EmogiAdjacency *in = &graph->forward;
	double		sum = 0.0,
				total = 0.0,
				magnitude = 0.0;
	Step		step = {.scale = fabs(value[v])};

	for (uint64_t i = in->offsets[v]; i < in->offsets[v + 1]; i++)
	{
		double		weight = emogi_weight(in->weights, graph->weight_type, i);
		double		other = value[in->targets[i]];
		double		part = algorithm == EMOGI_HEAT ? emogi_heat_contribution(other, value[v], weight) :
			emogi_weighted_contribution(other, weight);

		sum += part;
		total += weight;
		magnitude += fabs(weight);
		step.scale += fabs(part);
	}
	if (algorithm == EMOGI_HEAT)
	{
		step.value = emogi_heat_finish(value[v], sum);
		step.stretch = fabs(1.0 - total) + magnitude;
	}
	else if (algorithm == EMOGI_CIRCUIT)
	{
		step.value = emogi_circuit_finish(sum, total);
		step.stretch = 1.0;
		step.scale = total > 0.0 ? step.scale / total + fabs(value[v]) : step.scale;
	}
	else
	{
		step.value = emogi_neural_finish(sum);
		step.stretch = magnitude;
	}
	return step;
}

/* Check values of HEAT, CIRCUIT and NEURAL. */
static bool
check_values(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result, EmogiError *error)
{
	const EmogiAdjacency *in = &graph->forward;

	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		double		value = result->value[v];
		bool		keeps = (query->algorithm == EMOGI_CIRCUIT && !isnan(query->values[v])) ||
			(query->algorithm == EMOGI_NEURAL && in->offsets[v] == in->offsets[v + 1]);
		Step		step;

		if (keeps && value != query->values[v] && !(isnan(value) && isnan(query->values[v])))
			return emogi_wrong(error, "vertex %llu has %.17g and should have kept %.17g", (unsigned long long) v, value,
							   query->values[v]);
		if (keeps || !(fabs(result->change) < (double) INFINITY))
			continue;
		step = step_vertex(graph, query->algorithm, result->value, v);
		if (!(fabs(step.value - value) <= step.stretch * result->change + ROUNDING * step.scale))
			return emogi_wrong(error, "one more iteration makes %.17g of vertex %llu's %.17g after a change of %.17g",
							   step.value, (unsigned long long) v, value, result->change);
	}
	return true;
}

bool
emogi_verify_sum(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result, EmogiError *error)
{
	if (graph->nvertices == 0)
		return true;
	if (!check_stop(query, result, error))
		return false;
	if (query->algorithm == EMOGI_PAGERANK)
		return check_pagerank(graph, query, result, error);
	return check_values(graph, query, result, error);
}
