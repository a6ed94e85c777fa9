/*
 * semirings.h: formulas of the path and the sum semiring as functions of the algorithm, for both
 * engines.
 *
 * Plain inline C for both gcc and nvcc. The formulas are in the rows of algorithms.h. In fast code
 * the algorithm should be a compile-time constant. The functions return 0 for algorithms of other
 * kinds.
 *
 * Weights are converted to double first; all arithmetic is in double.
 */
#ifndef EMOGI_SEMIRINGS_H
#define EMOGI_SEMIRINGS_H

#include <math.h>

#include "engine.h"

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

/* ---- path semiring ---- */

#define PATH(NAME, name, column, order, source, traits, candidate) \
	case EMOGI_##NAME: return candidate;

/* Get the value that a path to v has if it extends a path to u of this value by an edge u -> v. */
EMOGI_INLINE double
emogi_path_candidate(EmogiAlgorithm algorithm, double value, double weight)
{
	switch (algorithm)
	{
		EMOGI_ALGORITHMS(EMOGI_LEAVE, PATH, EMOGI_LEAVE)
	}
	return 0.0;
}
#undef PATH

#define PATH(NAME, name, column, order, source, traits, candidate) \
	case EMOGI_##NAME: return (order) == EMOGI_MAXIMIZE;

/* Check whether larger values are better. */
EMOGI_INLINE bool
emogi_path_maximizes(EmogiAlgorithm algorithm)
{
	switch (algorithm)
	{
		EMOGI_ALGORITHMS(EMOGI_LEAVE, PATH, EMOGI_LEAVE)
	}
	return false;
}
#undef PATH

/* Check whether a is better than b. */
EMOGI_INLINE bool
emogi_path_better(EmogiAlgorithm algorithm, double a, double b)
{
	return emogi_path_maximizes(algorithm) ? a > b : a < b;
}

/* Get the value of a vertex that is not reached; the value of every path is better. */
EMOGI_INLINE double
emogi_path_none(EmogiAlgorithm algorithm)
{
	return emogi_path_maximizes(algorithm) ? -1.0 : (double) INFINITY;
}

#define PATH(NAME, name, column, order, source, traits, candidate) case EMOGI_##NAME: return source;

/* Get the value of a source. */
EMOGI_INLINE double
emogi_path_source(EmogiAlgorithm algorithm)
{
	switch (algorithm)
	{
		EMOGI_ALGORITHMS(EMOGI_LEAVE, PATH, EMOGI_LEAVE)
	}
	return 0.0;
}
#undef PATH

#define PATH(NAME, name, column, order, source, traits, candidate) \
	case EMOGI_##NAME: return ((traits) & EMOGI_PATH_ADDITIVE) != 0;

/* Check whether values are sums of weights (EMOGI_PATH_ADDITIVE). */
EMOGI_INLINE bool
emogi_path_is_additive(EmogiAlgorithm algorithm)
{
	switch (algorithm)
	{
		EMOGI_ALGORITHMS(EMOGI_LEAVE, PATH, EMOGI_LEAVE)
	}
	return false;
}
#undef PATH

#define PATH(NAME, ...) case EMOGI_##NAME: return true;

/* Check whether an algorithm is of the path semiring. */
EMOGI_INLINE bool
emogi_is_path(EmogiAlgorithm algorithm)
{
	switch (algorithm)
	{
		EMOGI_ALGORITHMS(EMOGI_LEAVE, PATH, EMOGI_LEAVE)
	}
	return false;
}
#undef PATH

/* ---- sum semiring ---- */

/* Get the new rank of a vertex in PAGERANK. */
EMOGI_INLINE double
emogi_pagerank_finish(double damping, double nvertices, double dangling, double sum)
{
	return (1.0 - damping) / nvertices + damping * (sum + dangling / nvertices);
}

/* Get the new rank if the vertex has its own teleport probability. */
EMOGI_INLINE double
emogi_pagerank_finish_at(double damping, double teleport, double dangling, double sum)
{
	return (1.0 - damping) * teleport + damping * (sum + dangling * teleport);
}

#define SUM(NAME, name, direction, weights, traits, contribution, finish, lipschitz) \
	case EMOGI_##NAME: return contribution;

/* Get the contribution of u to v over an edge u -> v. */
EMOGI_INLINE double
emogi_sum_contribution(EmogiAlgorithm algorithm, double other, double own, double weight)
{
	switch (algorithm)
	{
		EMOGI_ALGORITHMS(EMOGI_LEAVE, EMOGI_LEAVE, SUM)
	}
	return 0.0;
}
#undef SUM

#define SUM(NAME, name, direction, weights, traits, contribution, finish, lipschitz) \
	case EMOGI_##NAME: return finish;

/* Get the new value of a vertex. */
EMOGI_INLINE double
emogi_sum_finish(EmogiAlgorithm algorithm, double own, double sum, double total)
{
	switch (algorithm)
	{
		EMOGI_ALGORITHMS(EMOGI_LEAVE, EMOGI_LEAVE, SUM)
	}
	return 0.0;
}
#undef SUM

#define SUM(NAME, name, direction, weights, traits, contribution, finish, lipschitz) \
	case EMOGI_##NAME: return lipschitz;

/* Get an upper bound of the factor by which a difference of values can grow in an iteration. */
EMOGI_INLINE double
emogi_sum_lipschitz(EmogiAlgorithm algorithm, double total, double magnitude)
{
	switch (algorithm)
	{
		EMOGI_ALGORITHMS(EMOGI_LEAVE, EMOGI_LEAVE, SUM)
	}
	return 0.0;
}
#undef SUM

#define SUM(NAME, name, direction, weights, traits, contribution, finish, lipschitz) \
	case EMOGI_##NAME: return traits;

/*
 * Get EMOGI_SUM_USES_OWN_VALUE, EMOGI_SUM_DIRICHLET and EMOGI_SUM_KEEPS_ISOLATED of an algorithm.
 */
EMOGI_INLINE uint32_t
emogi_sum_traits(EmogiAlgorithm algorithm)
{
	switch (algorithm)
	{
		EMOGI_ALGORITHMS(EMOGI_LEAVE, EMOGI_LEAVE, SUM)
	}
	return 0;
}
#undef SUM

#define SUM(NAME, ...) case EMOGI_##NAME: return true;

/* Check whether an algorithm is of the sum semiring. */
EMOGI_INLINE bool
emogi_is_sum(EmogiAlgorithm algorithm)
{
	switch (algorithm)
	{
		EMOGI_ALGORITHMS(EMOGI_LEAVE, EMOGI_LEAVE, SUM)
	}
	return false;
}
#undef SUM

#endif							/* EMOGI_SEMIRINGS_H */
