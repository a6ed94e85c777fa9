/*
 * semiring_sum.c: verify the values of the sum semiring and PageRank.
 *
 * One more iteration is computed. The step of each algorithm is a map with a known Lipschitz
 * constant: for PAGERANK, the damping in the L1 distance; for the others, at most the sum of
 * |weight| that each formula puts on its vertices, in the maximum distance. The change of the
 * additional iteration is therefore bounded by the reported change of the last one, whether or not
 * the run has converged. In addition, ranks must sum to 1, fixed vertices and those that keep their
 * value must have it, and the run must have stopped because it converged or reached the maximum
 * number of iterations.
 *
 * PAGERANK needs the out-degrees, but the adjacency lists contain the incoming edges. If the other
 * orientation is available, its degrees are used, but verified: the sum of r(u) over all list
 * entries u must equal the sum of degree(u) * r(u) over all vertices, modulo 2^64, for random
 * 64-bit numbers r(u). Wrong degrees pass with a probability of 2^-64 times the largest common
 * power of two of their differences [1]. Otherwise the entries are counted.
 *
 * [1] R. Freivalds. Probabilistic Machines Can Use Less Running Time. IFIP Congress 1977. (A random
 *     vector decides whether two linear maps of it are equal.)
 */
#include "check.h"

#include "contract/semirings.h"

#include <stdlib.h>

#define ROUNDING 1e-9			/* relative */

/* The share that a vertex passes along each outgoing edge; at first, the number of these edges. */
typedef union Share
{
	uint64_t	nedges;			/* atomic */
	double		value;
} Share;

/* State of a check of ranks. */
typedef struct Ranks
{
	EmogiCheck *check;
	Share	   *shares;			/* [nvertices] */
	uint64_t	of_entries;		/* atomic: sum of r(u) over the entries */
	uint64_t	of_degrees;		/* atomic: the same sum by degrees */
	double		dangling;		/* atomic, like those below */
	double		sum;
	double		change;			/* L1, of the additional iteration */
} Ranks;

/* Get r(u): a 64-bit permutation without a visible pattern of u. */
static inline uint64_t
random_of(uint64_t u)
{
	u = (u + 1) * UINT64_C(0x9E3779B97F4A7C15);
	u = (u ^ u >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	u = (u ^ u >> 27) * UINT64_C(0x94D049BB133111EB);
	return u ^ u >> 31;
}

/* Take the degrees of the other orientation, and add up both sums. */
static void
take_degrees(void *arg, uint64_t first, uint64_t end)
{
	Ranks	   *ranks = arg;
	const EmogiAdjacency *in = &ranks->check->graph->forward;
	const EmogiAdjacency *out = &ranks->check->graph->backward;
	uint64_t	of_entries = 0,
				of_degrees = 0;

	for (uint64_t i = in->offsets[first]; i < in->offsets[end]; i++)
		of_entries += random_of(in->targets[i]);
	for (uint64_t v = first; v < end; v++)
	{
		ranks->shares[v].nedges = out->offsets[v + 1] - out->offsets[v];
		of_degrees += ranks->shares[v].nedges * random_of(v);
	}
	emogi_add_count(&ranks->of_entries, of_entries);
	emogi_add_count(&ranks->of_degrees, of_degrees);
}

/* Reset the degrees. */
static void
clear_degrees(void *arg, uint64_t first, uint64_t end)
{
	Ranks	   *ranks = arg;

	for (uint64_t v = first; v < end; v++)
		ranks->shares[v].nedges = 0;
}

/* Count the entries of each vertex. */
static void
count_entries(void *arg, uint64_t first, uint64_t end)
{
	Ranks	   *ranks = arg;
	const EmogiAdjacency *in = &ranks->check->graph->forward;

	for (uint64_t i = in->offsets[first]; i < in->offsets[end]; i++)
		__atomic_fetch_add(&ranks->shares[in->targets[i]].nedges, 1, __ATOMIC_RELAXED);
}

/*
 * Turn ranks into shares, divided by the sum of the weights of the outgoing edges; a vertex with a
 * sum of 0 is dangling.
 */
static void
share_by_weights(void *arg, uint64_t first, uint64_t end)
{
	Ranks	   *ranks = arg;
	const EmogiGraph *graph = ranks->check->graph;
	const EmogiAdjacency *out = &graph->backward;
	const double *value = ranks->check->result->columns[0].float64;
	double		sum = 0.0,
				dangling = 0.0;

	for (uint64_t v = first; v < end; v++)
	{
		double		strength = 0.0;

		if (!(value[v] >= 0.0))
			emogi_check_wrong(ranks->check, "vertex %llu has rank %.17g", (unsigned long long) v,
							  value[v]);
		for (uint64_t i = out->offsets[v]; i < out->offsets[v + 1]; i++)
			strength += emogi_weight(out->weights, graph->weight_type, i);
		ranks->shares[v].value = strength > 0.0 ? value[v] / strength : 0.0;
		sum += value[v];
		dangling += strength > 0.0 ? 0.0 : value[v];
	}
	emogi_add_double(&ranks->sum, sum);
	emogi_add_double(&ranks->dangling, dangling);
}

/* Determine the out-degree of each vertex. */
static bool
find_degrees(Ranks *ranks)
{
	EmogiCheck *check = ranks->check;
	const uint64_t n = check->graph->nvertices;

	if (check->graph->backward.offsets != NULL)
	{
		emogi_check_parts(check, take_degrees, ranks, n);
		if (ranks->of_entries == ranks->of_degrees)
			return true;
	}
	return emogi_check_parts(check, clear_degrees, ranks, n) &&
		emogi_check_parts(check, count_entries, ranks, n);
}

/* Check that no rank is negative, add the ranks up, and turn out-degrees into shares. */
static void
share_ranks(void *arg, uint64_t first, uint64_t end)
{
	Ranks	   *ranks = arg;
	const double *value = ranks->check->result->columns[0].float64;
	double		sum = 0.0,
				dangling = 0.0;

	for (uint64_t v = first; v < end; v++)
	{
		uint64_t	nedges = ranks->shares[v].nedges;

		if (!(value[v] >= 0.0))
			emogi_check_wrong(ranks->check, "vertex %llu has rank %.17g", (unsigned long long) v,
							  value[v]);
		ranks->shares[v].value = nedges > 0 ? value[v] / (double) nedges : 0.0;
		sum += value[v];
		dangling += nedges == 0 ? value[v] : 0.0;
	}
	emogi_add_double(&ranks->sum, sum);
	emogi_add_double(&ranks->dangling, dangling);
}

/* Compute one more iteration, and add up its change. */
static void
step_ranks(void *arg, uint64_t first, uint64_t end)
{
	Ranks	   *ranks = arg;
	const EmogiGraph *graph = ranks->check->graph;
	const EmogiAdjacency *in = &graph->forward;
	const EmogiQuery *query = ranks->check->query;
	double		change = 0.0;

	for (uint64_t v = first; v < end; v++)
	{
		double		sum = 0.0;

		for (uint64_t i = in->offsets[v]; i < in->offsets[v + 1]; i++)
		{
			sum += ranks->shares[in->targets[i]].value *
				(query->is_weighted ? emogi_weight(in->weights, graph->weight_type, i) : 1.0);
		}
		change += fabs((query->teleport != NULL
						? emogi_pagerank_finish_at(query->damping, query->teleport[v],
												   ranks->dangling, sum) :
						emogi_pagerank_finish(query->damping, (double) graph->nvertices,
											  ranks->dangling, sum)) -
					   ranks->check->result->columns[0].float64[v]);
	}
	emogi_add_double(&ranks->change, change);
}

bool
emogi_verify_pagerank(EmogiCheck *check)
{
	const uint64_t n = check->graph->nvertices;
	double		allowed = check->query->damping * check->result->change + ROUNDING;
	Ranks		ranks = {.check = check};
	bool		right;

	if (n == 0)
		return true;
	if (!emogi_check_stop(check))
		return false;
	ranks.shares = malloc(n * sizeof(Share));
	if (ranks.shares == NULL)
		return emogi_check_wrong(check, "no memory to verify");
	right = (check->query->is_weighted ? emogi_check_parts(check, share_by_weights, &ranks, n) :
			 find_degrees(&ranks) && emogi_check_parts(check, share_ranks, &ranks, n)) &&
		emogi_check_parts(check, step_ranks, &ranks, n);
	free(ranks.shares);
	if (right && !(fabs(ranks.sum - 1.0) <= ROUNDING))
		return emogi_check_wrong(check, "the ranks sum to %.17g", ranks.sum);
	if (right && !(ranks.change <= allowed))
		return emogi_check_wrong(check, "one more iteration changes %.17g after %.17g",
								 ranks.change, check->result->change);
	return right;
}

/* Result of one more iteration at a vertex, and its Lipschitz constant. */
typedef struct Step
{
	double		value;
	double		lipschitz;
	double		scale;			/* sum of the absolute terms, to which rounding is relative */
} Step;

/* Compute one more iteration of a vertex. */
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
		double		part = emogi_sum_contribution(algorithm, other, value[v], weight);

		sum += part;
		total += weight;
		magnitude += fabs(weight);
		step.scale += fabs(part);
	}
	step.value = emogi_sum_finish(algorithm, value[v], sum, total);
	step.lipschitz = emogi_sum_lipschitz(algorithm, total, magnitude);
	if ((emogi_sum_traits(algorithm) & EMOGI_SUM_DIRICHLET) != 0 && total > 0.0)
		step.scale = step.scale / total + fabs(value[v]);
	return step;
}

/* Check the values of algorithms with start values. */
static void
check_values(void *arg, uint64_t first, uint64_t end)
{
	EmogiCheck *check = arg;
	const EmogiGraph *graph = check->graph;
	const EmogiQuery *query = check->query;
	const EmogiResult *result = check->result;
	const uint32_t traits = emogi_sum_traits(query->algorithm);

	for (uint64_t v = first; v < end; v++)
	{
		double		value = result->columns[0].float64[v];
		bool		keeps = ((traits & EMOGI_SUM_DIRICHLET) != 0 && !isnan(query->values[v])) ||
			((traits & EMOGI_SUM_KEEPS_ISOLATED) != 0 &&
			 graph->forward.offsets[v] == graph->forward.offsets[v + 1]);
		Step		step;

		if (keeps && value != query->values[v] && !(isnan(value) && isnan(query->values[v])))
			emogi_check_wrong(check, "vertex %llu has %.17g and should have kept %.17g",
							  (unsigned long long) v, value,
							  query->values[v]);
		if (keeps || !(fabs(result->change) < (double) INFINITY))
			continue;
		step = step_vertex(graph, query->algorithm, result->columns[0].float64, v);
		if (step.value != value &&
			!(fabs(step.value - value) <= step.lipschitz * result->change + ROUNDING * step.scale))
			emogi_check_wrong(check,
							  "one more iteration makes %.17g of vertex %llu's %.17g after a "
							  "change of %.17g",
							  step.value, (unsigned long long) v, value, result->change);
	}
}

bool
emogi_verify_values(EmogiCheck *check)
{
	if (check->graph->nvertices == 0)
		return true;
	return emogi_check_stop(check) &&
		emogi_check_parts(check, check_values, check, check->graph->nvertices);
}
