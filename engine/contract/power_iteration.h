/*
 * power_iteration.h: rules of EIGENVECTOR, HITS and KATZ that must agree in all engines: when
 * iterations end, and which inputs are refused.
 */
#ifndef EMOGI_CONTRACT_POWERS_H
#define EMOGI_CONTRACT_POWERS_H

#include "semirings.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#define EMOGI_MIN_TOTAL 1e-290		/* HITS: smallest total, and its inverse the largest, by which
									 * values can be divided */
#define EMOGI_MAX_SQUARES 1e290		/* EIGENVECTOR: largest sum of squares; beyond it, sums may
									 * overflow */

/* Result of an iteration of KATZ. */
typedef struct EmogiKatzFound
{
	double		max_increase;	/* largest increase of a vertex */
	double		largest;		/* largest sum of a vertex */
	bool		shrinks;		/* some vertex increased less than in the previous iteration */
} EmogiKatzFound;

/* Refuse a KATZ query; the SQL layer reports the error in terms of the arguments. */
static inline void
emogi_katz_refuse(EmogiResult *result, EmogiRefusalKind kind, double rate, EmogiError *error)
{
	result->refusal.kind = kind;
	result->refusal.rate = rate;
	error->detail[0] = '\0';
	snprintf(error->message, sizeof error->message, "Katz centralities %s in %u iterations",
			 kind == EMOGI_DIVERGES ? "grow without bound" : "have not converged", result->nlevels);
}

/*
 * Account for an iteration of KATZ; return whether it was the last one. *rate is a proven bound of
 * the ratio of the increases of successive iterations in the long run; initially INFINITY. After
 * the last iteration, result->refusal says whether there is a result.
 */
static inline bool
emogi_katz_end_iteration(const EmogiKatzFound *found, const EmogiQuery *query, double *rate,
						 EmogiResult *result, EmogiError *error)
{
	result->nlevels++;
	result->change = fabs(query->beta) * found->max_increase;
	if (found->max_increase <= DBL_MAX)
		*rate = fmin(*rate, pow(found->max_increase, 1.0 / result->nlevels));
	if (!(found->largest <= DBL_MAX) || (!found->shrinks && *rate >= 1.0))
	{
		emogi_katz_refuse(result, EMOGI_DIVERGES, *rate, error);
		return true;
	}
	if (*rate < 1.0 && result->change < query->tolerance)
		return true;
	if (result->nlevels < query->max_iterations)
		return false;
	if (!(*rate < 1.0 && query->tolerance == 0.0))
		emogi_katz_refuse(result, EMOGI_HAS_NOT_CONVERGED, *rate, error);
	return true;
}

/* Check whether the sums of HITS can be divided by their total; refuse them if not. */
static inline bool
emogi_hits_total_is_fine(double total, EmogiResult *result, EmogiError *error)
{
	if (total == 0.0 || (total >= EMOGI_MIN_TOTAL && total <= 1.0 / EMOGI_MIN_TOTAL))
		return true;
	result->refusal.kind = EMOGI_WEIGHTS_OUT_OF_RANGE;
	error->detail[0] = '\0';
	snprintf(error->message, sizeof error->message,
			 "the sum of the weights, %g, is out of range for hubs and authorities", total);
	return false;
}

#define EMOGI_SCALE_PIECE 1048576	/* weights between two checks for cancellation */

/*
 * Get the scale of the sums of EIGENVECTOR, 1 or a greater power of two: if all weights are less
 * than 0.5, it brings the largest weight into 0.5 .. 1. Otherwise the values of the vertices
 * themselves, which are added to the sums, would mask the sums. A weight of at least 0.5, as in
 * most graphs, ends the search. 0 = canceled by control->cancel.
 */
static inline double
emogi_eigenvector_scale(const EmogiGraph *graph, bool is_weighted, const EmogiControl *control)
{
	const EmogiWeightType type = is_weighted ? graph->weight_type : EMOGI_WEIGHT_NONE;
	double		heaviest = 0.0;
	int			exponent;

	if (type != EMOGI_WEIGHT_F32 && type != EMOGI_WEIGHT_F64)
		return 1.0;
	for (uint64_t i = 0; i < graph->forward.nedges; i++)
	{
		const double weight = emogi_weight(graph->forward.weights, type, i);

		if (i % EMOGI_SCALE_PIECE == 0 && control->cancel != 0)
			return 0.0;
		heaviest = weight > heaviest ? weight : heaviest;
		if (heaviest >= 0.5)
			return 1.0;
	}
	if (heaviest < DBL_MIN)
		heaviest = heaviest == 0.0 ? 1.0 : DBL_MIN;	/* the inverse must be finite */
	(void) frexp(heaviest, &exponent);
	return ldexp(1.0, -exponent);
}

/* Check whether the squares of EIGENVECTOR's sums can be added up; refuse them if not. */
static inline bool
emogi_eigenvector_squares_are_fine(double squares, EmogiResult *result, EmogiError *error)
{
	if (squares <= EMOGI_MAX_SQUARES)
		return true;
	result->refusal.kind = EMOGI_WEIGHTS_OUT_OF_RANGE;
	error->detail[0] = '\0';
	snprintf(error->message, sizeof error->message,
			 "the sum of the squares of weighted degrees, %g, is out of range",
			 squares);
	return false;
}

#endif							/* EMOGI_CONTRACT_POWERS_H */
