/*
 * semirings.h: the formulas of the path and the sum semiring, as functions of the algorithm, for both engines.
 *
 * Plain inline C that gcc and nvcc both take. The formulas stand in the rows of algorithms.h. The algorithm is a constant where a
 * function is to be fast; for algorithms that are not of the semiring it gets 0.
 *
 * Weights are converted to double first; all arithmetic is double.
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

#define PATH(NAME, name, column, order, source, traits, candidate) case EMOGI_##NAME: return candidate;

/* Get the offer that the value of u makes over an edge to v. */
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

#define PATH(NAME, name, column, order, source, traits, candidate) case EMOGI_##NAME: return (order) == EMOGI_MOST;

/* Say whether the more is the better, not the less. */
EMOGI_INLINE bool
emogi_path_wants_most(EmogiAlgorithm algorithm)
{
	switch (algorithm)
	{
		EMOGI_ALGORITHMS(EMOGI_LEAVE, PATH, EMOGI_LEAVE)
	}
	return false;
}
#undef PATH

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

#define PATH(NAME, name, column, order, source, traits, candidate) case EMOGI_##NAME: return ((traits) & EMOGI_PATH_ADDITIVE) != 0;

/* Say whether values are sums of weights (EMOGI_PATH_ADDITIVE). */
EMOGI_INLINE bool
emogi_path_adds(EmogiAlgorithm algorithm)
{
	switch (algorithm)
	{
		EMOGI_ALGORITHMS(EMOGI_LEAVE, PATH, EMOGI_LEAVE)
	}
	return false;
}
#undef PATH

#define PATH(NAME, ...) case EMOGI_##NAME: return true;

/* Say whether an algorithm is of the path semiring. */
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

/* Get the new rank of a vertex in PAGERANK, which gathers as the sum semiring does. */
EMOGI_INLINE double
emogi_pagerank_finish(double damping, double nvertices, double dangling, double sum)
{
	return (1.0 - damping) / nvertices + damping * (sum + dangling / nvertices);
}

/* The same where leaps go to the vertex in a proportion of its own. */
EMOGI_INLINE double
emogi_pagerank_finish_at(double damping, double leap, double dangling, double sum)
{
	return (1.0 - damping) * leap + damping * (sum + dangling * leap);
}

#define SUM(NAME, name, direction, weights, traits, contribution, finish, lipschitz) case EMOGI_##NAME: return contribution;

/* Get what u contributes to v over an edge u -> v. */
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

#define SUM(NAME, name, direction, weights, traits, contribution, finish, lipschitz) case EMOGI_##NAME: return finish;

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

#define SUM(NAME, name, direction, weights, traits, contribution, finish, lipschitz) case EMOGI_##NAME: return lipschitz;

/* Get how many times a difference of values can grow in an iteration, at most. */
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

#define SUM(NAME, name, direction, weights, traits, contribution, finish, lipschitz) case EMOGI_##NAME: return traits;

/* Get EMOGI_SUM_USES_OWN_VALUE, EMOGI_SUM_DIRICHLET and EMOGI_SUM_KEEPS_ISOLATED of an application. */
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

/* Say whether an algorithm is of the sum semiring. */
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
