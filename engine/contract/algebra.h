/*
 * algebra.h: the applications, each defined once, for both engines.
 *
 * Plain inline C that gcc and nvcc both take. Two algebras cover the applications of EMOGI, CuSha, EtaGraph and Subway
 * (CuSha, HPDC 2014, Table 3, shows how): a *path* algebra takes the best over all paths of a value that only gets
 * worse along a path, so that the answer does not depend on the order of the work, bit for bit; a *sum* algebra
 * gathers over the edges that end in a vertex, iteration by iteration.
 *
 * Weights are converted to double first; all arithmetic is double.
 */
#ifndef EMOGI_ALGEBRA_H
#define EMOGI_ALGEBRA_H

#include <math.h>

#include "engine.h"

#ifdef __CUDACC__
#define EMOGI_INLINE static __host__ __device__ __forceinline__
#else
#define EMOGI_INLINE static inline
#endif

/* Get weight i as a double. */
EMOGI_INLINE double
emogi_weight(const void *weights, EmogiWeightType type, uint64_t i)
{
	switch (type)
	{
		case EMOGI_WEIGHT_U8:
			return (double) ((const uint8_t *) weights)[i];
		case EMOGI_WEIGHT_U16:
			return (double) ((const uint16_t *) weights)[i];
		case EMOGI_WEIGHT_U32:
			return (double) ((const uint32_t *) weights)[i];
		case EMOGI_WEIGHT_F32:
			return (double) ((const float *) weights)[i];
		case EMOGI_WEIGHT_F64:
			return ((const double *) weights)[i];
		case EMOGI_WEIGHT_NONE:
			break;
	}
	return 1.0;
}

/*
 * ---- path algebra: candidate(value of u, weight of u -> v) is an offer to v, taken when better. Weights are >= 0; +inf is
 * impassable: its offer is no better than the value of what is not reached, +inf (EMOGI_LEAST) or -1 (EMOGI_MOST). No offer
 * is better than the value it is made of, and better values make no worse offers ----
 */

/*
 * SSSP. Floating-point addition is monotone, so the least value over all paths of the sum from left to right is well
 * defined and every order of work finds it.
 */
EMOGI_INLINE double
emogi_sssp_candidate(double value, double weight)
{
	return value + weight;
}

/* SSWP. The width of a path is its smallest weight, +inf without an edge; +inf is impassable here too. */
EMOGI_INLINE double
emogi_sswp_candidate(double value, double weight)
{
	if (weight == (double) INFINITY)
		return -1.0;
	return value < weight ? value : weight;
}

/*
 * ---- sum algebra: contribution(value of u, own value, weight of u -> v); finish(own value, sum of the contributions of all
 * u -> v in an order set by the list alone, sum of their weights or 0 where the application does not ask for it);
 * stretch(sum of weights, sum of their sizes): how many times the difference of two sets of values, the largest of a
 * vertex, can be larger after an iteration, at most ----
 */

/*
 * PAGERANK. Start 1/n. value' = (1 - damping) / n + damping * (sum + dangling / n), where u contributes value / (its
 * edges out, parallel ones counted) and dangling is the value of all vertices without an edge out. The L1 change of
 * an iteration is compared with the tolerance.
 */
EMOGI_INLINE double
emogi_pagerank_finish(double damping, double nvertices, double dangling, double sum)
{
	return (1.0 - damping) / nvertices + damping * (sum + dangling / nvertices);
}

/*
 * HEAT (CuSha's HS). value' = value + the sum of weight * (value of u - value): what flows in over each edge in one
 * step of time. The largest change of a vertex is compared with the tolerance, here and below.
 */
EMOGI_INLINE double
emogi_heat_contribution(double other, double own, double weight)
{
	return weight * (other - own);
}

EMOGI_INLINE double
emogi_heat_finish(double own, double sum, double total)
{
	return own + sum;
}

EMOGI_INLINE double
emogi_heat_stretch(double total, double magnitude)
{
	return fabs(1.0 - total) + magnitude;
}

/*
 * CIRCUIT (CuSha's CS). Weights are conductances. Vertices with a start value keep it (the poles); the others, NaN at
 * the start and 0 in the first iteration, take the mean of their neighbours weighted by conductance (Kirchhoff's
 * current law), 0 where no conductance leads to them.
 */
EMOGI_INLINE double
emogi_circuit_contribution(double other, double own, double weight)
{
	return weight * other;
}

EMOGI_INLINE double
emogi_circuit_finish(double own, double sum, double total)
{
	return total > 0.0 ? sum / total : 0.0;
}

EMOGI_INLINE double
emogi_circuit_stretch(double total, double magnitude)
{
	return 1.0;
}

/* NEURAL (CuSha's NN). value' = tanh(sum of weight * value of u); a vertex without an edge in keeps its value. */
EMOGI_INLINE double
emogi_neural_contribution(double other, double own, double weight)
{
	return weight * other;
}

EMOGI_INLINE double
emogi_neural_finish(double own, double sum, double total)
{
	return tanh(sum);
}

EMOGI_INLINE double
emogi_neural_stretch(double total, double magnitude)
{
	return magnitude;
}

/* ---- the same by algorithm, which is a constant where it is to be fast; 0 for other algorithms ---- */

#define CANDIDATE(NAME, name, order, source, traits) \
	case EMOGI_##NAME: \
		return emogi_##name##_candidate(value, weight);

EMOGI_INLINE double
emogi_path_candidate(EmogiAlgorithm algorithm, double value, double weight)
{
	switch (algorithm)
	{
		EMOGI_PATH_APPLICATIONS(CANDIDATE)
		default:
			return 0.0;
	}
}

#define ORDER(NAME, name, order, source, traits) \
	case EMOGI_##NAME: \
		return (order) == EMOGI_MOST;

/* Say whether the more is the better, not the less. */
EMOGI_INLINE bool
emogi_path_wants_most(EmogiAlgorithm algorithm)
{
	switch (algorithm)
	{
		EMOGI_PATH_APPLICATIONS(ORDER)
		default:
			return false;
	}
}

/* Say whether a is better than b. */
EMOGI_INLINE bool
emogi_path_better(EmogiAlgorithm algorithm, double a, double b)
{
	return emogi_path_wants_most(algorithm) ? a > b : a < b;
}

/* Get the value of a vertex that is not reached; that of any path is better. */
EMOGI_INLINE double
emogi_path_none(EmogiAlgorithm algorithm)
{
	return emogi_path_wants_most(algorithm) ? -1.0 : (double) INFINITY;
}

#define SOURCE(NAME, name, order, source, traits) \
	case EMOGI_##NAME: \
		return source;

/* Get the value of a source. */
EMOGI_INLINE double
emogi_path_source(EmogiAlgorithm algorithm)
{
	switch (algorithm)
	{
		EMOGI_PATH_APPLICATIONS(SOURCE)
		default:
			return 0.0;
	}
}

#define ADDS(NAME, name, order, source, traits) \
	case EMOGI_##NAME: \
		return ((traits) & EMOGI_PATH_ADDS) != 0;

/* Say whether values are sums of weights (EMOGI_PATH_ADDS). */
EMOGI_INLINE bool
emogi_path_adds(EmogiAlgorithm algorithm)
{
	switch (algorithm)
	{
		EMOGI_PATH_APPLICATIONS(ADDS)
		default:
			return false;
	}
}

#define ITSELF(NAME, name, order, source, traits) \
	case EMOGI_##NAME:

/* Say whether an algorithm is an application of the path algebra. */
EMOGI_INLINE bool
emogi_is_path(EmogiAlgorithm algorithm)
{
	switch (algorithm)
	{
		EMOGI_PATH_APPLICATIONS(ITSELF)
			return true;
		default:
			return false;
	}
}

#define CONTRIBUTION(NAME, name, direction, weights, traits) \
	case EMOGI_##NAME: \
		return emogi_##name##_contribution(other, own, weight);

EMOGI_INLINE double
emogi_sum_contribution(EmogiAlgorithm algorithm, double other, double own, double weight)
{
	switch (algorithm)
	{
		EMOGI_SUM_APPLICATIONS(CONTRIBUTION)
		default:
			return 0.0;
	}
}

#define FINISH(NAME, name, direction, weights, traits) \
	case EMOGI_##NAME: \
		return emogi_##name##_finish(own, sum, total);

EMOGI_INLINE double
emogi_sum_finish(EmogiAlgorithm algorithm, double own, double sum, double total)
{
	switch (algorithm)
	{
		EMOGI_SUM_APPLICATIONS(FINISH)
		default:
			return 0.0;
	}
}

#define STRETCH(NAME, name, direction, weights, traits) \
	case EMOGI_##NAME: \
		return emogi_##name##_stretch(total, magnitude);

EMOGI_INLINE double
emogi_sum_stretch(EmogiAlgorithm algorithm, double total, double magnitude)
{
	switch (algorithm)
	{
		EMOGI_SUM_APPLICATIONS(STRETCH)
		default:
			return 0.0;
	}
}

#define TRAITS(NAME, name, direction, weights, traits) \
	case EMOGI_##NAME: \
		return traits;

/* Get EMOGI_SUM_* of an application. */
EMOGI_INLINE uint32_t
emogi_sum_traits(EmogiAlgorithm algorithm)
{
	switch (algorithm)
	{
		EMOGI_SUM_APPLICATIONS(TRAITS)
		default:
			return 0;
	}
}

#undef CANDIDATE
#undef ORDER
#undef SOURCE
#undef ADDS
#undef ITSELF
#undef CONTRIBUTION
#undef FINISH
#undef STRETCH
#undef TRAITS

#endif							/* EMOGI_ALGEBRA_H */
