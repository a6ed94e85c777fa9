/*
 * flow_unit.c: the unit of a flow, from an upper bound on its value.
 *
 * Capacities become whole numbers of a unit. The unit must suit the flow, not the capacities: edges
 * from a super source often have capacities that stand for unlimited ones. The bound is the
 * smallest of several cuts: the edges from sources, those to targets, and the edges that leave the
 * vertices that heavy edges reach from the sources. An edge is heavy if its capacity is more than
 * bound / (2 m), so each cut of edges that are not heavy at least halves the bound. The search ends
 * when heavy edges reach a target; then the bound is at most 2 m times the flow.
 */
#include "residual_network.h"

#include <string.h>

#define MAX_SUM 0x1p900			/* larger sums are computed at 2^-SCALE_DOWN */
#define SCALE_DOWN 128
#define ROUND_UP 1.001			/* more than the rounding of a sum of 2^40 terms */

/* An upper bound of the flow, and the scale of all numbers. */
typedef struct FlowBound
{
	Network    *network;
	int			scale;			/* numbers are multiplied by 2^-scale */
	double		bound;
} FlowBound;

/* Sum the capacities of the edges that lead from sources to other vertices, each up to a limit. */
static double
sum_from_sources(const FlowBound *bound, double limit)
{
	const Network *network = bound->network;
	const EmogiQuery *query = network->query;
	double		sum = 0.0;

	for (uint64_t i = 0; i < query->nsources; i++)
	{
		const uint32_t v = query->sources[i];

		for (uint64_t e = network->out->offsets[v]; e < network->out->offsets[v + 1]; e++)
			if (network->label[network->out->targets[e]] != network->label[v])
				sum += fmin(ldexp(capacity_of(network, e), -bound->scale), limit);
	}
	return sum;
}

/* Sum the capacities of the edges that lead to targets from other vertices. */
static double
sum_to_targets(const FlowBound *bound)
{
	const Network *network = bound->network;
	const EmogiQuery *query = network->query;
	double		sum = 0.0;

	for (uint64_t i = 0; i < query->ntargets; i++)
	{
		const uint32_t v = query->targets[i];

		for (uint64_t b = network->in->offsets[v]; b < network->in->offsets[v + 1]; b++)
			if (network->label[network->in->targets[b]] != network->label[v])
				sum += ldexp(emogi_weight(network->in->weights, network->graph->weight_type, b),
							 -bound->scale);
	}
	return sum;
}

/*
 * Reach all vertices that edges of more than a capacity reach from the sources, whose `layer`
 * becomes 1; return their number, 0 if a target is one of them. They are in `order`.
 */
static uint64_t
reach_by_heavy(const FlowBound *bound, double capacity)
{
	Network    *network = bound->network;
	const EmogiAdjacency *out = network->out;
	const EmogiQuery *query = network->query;
	const uint32_t target = target_label(network);
	uint64_t	end = 0;

	memset(network->layer, 0, network->graph->nvertices * sizeof *network->layer);
	for (uint64_t i = 0; i < query->nsources; i++)
		if (network->layer[query->sources[i]] == 0)
		{
			network->layer[query->sources[i]] = 1;
			network->order[end++] = query->sources[i];
		}
	for (uint64_t i = 0; i < end && !has_stopped(network); i++)
	{
		const uint32_t v = network->order[i];

		for (uint64_t e = out->offsets[v]; e < out->offsets[v + 1]; e++)
		{
			const uint32_t to = out->targets[e];

			if (network->layer[to] != 0 ||
				!(ldexp(capacity_of(network, e), -bound->scale) > capacity))
				continue;
			if (network->label[to] == target)
				return 0;
			network->layer[to] = 1;
			network->order[end++] = to;
		}
		network->nscanned += out_degree(network, v);
	}
	return end;
}

/* Sum the capacities of the edges that leave the reached vertices. */
static double
sum_of_cut(const FlowBound *bound, uint64_t nreached)
{
	Network    *network = bound->network;
	const EmogiAdjacency *out = network->out;
	double		sum = 0.0;

	for (uint64_t i = 0; i < nreached && !has_stopped(network); i++)
	{
		const uint32_t v = network->order[i];

		for (uint64_t e = out->offsets[v]; e < out->offsets[v + 1]; e++)
			if (network->layer[out->targets[e]] == 0)
				sum += ldexp(capacity_of(network, e), -bound->scale);
		network->nscanned += out_degree(network, v);
	}
	return sum;
}

/* Lower the bound by cuts. */
static void
lower_bound(FlowBound *bound)
{
	const double factor = 2.0 * (double) bound->network->out->nedges;

	while (bound->bound > 0.0 && !has_stopped(bound->network))
	{
		const uint64_t nreached = reach_by_heavy(bound, bound->bound / factor);
		const double sum = nreached > 0 ? sum_of_cut(bound, nreached) : bound->bound;

		if (!(sum < bound->bound))
			break;
		bound->bound = sum;
	}
}

/*
 * Choose the unit, and the capacity as which larger ones count, so that those of the edges from
 * sources add up to at most 2^62 units. Return false if nothing can flow.
 */
bool
emogi_flow_unit_choose(Network *network)
{
	FlowBound	bound = {.network = network};
	double		sum;
	int			exponent;

	bound.bound = fmin(sum_from_sources(&bound, (double) INFINITY), sum_to_targets(&bound));
	if (bound.bound > MAX_SUM)
	{
		bound.scale = SCALE_DOWN;
		bound.bound = fmin(sum_from_sources(&bound, (double) INFINITY), sum_to_targets(&bound));
	}
	lower_bound(&bound);
	bound.bound *= ROUND_UP;
	network->max_capacity = ldexp(bound.bound, bound.scale);
	sum = sum_from_sources(&bound, bound.bound);
	(void) frexp(sum, &exponent);	/* sum < 2^exponent */
	network->unit = TOTAL_BITS - exponent - bound.scale;
	return sum > 0.0;
}
