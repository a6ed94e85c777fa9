/*
 * closeness_formula.h: computations of closeness that must agree in all engines: the formula, and
 * when searches are not batched.
 */
#ifndef EMOGI_CONTRACT_CLOSENESS_H
#define EMOGI_CONTRACT_CLOSENESS_H

#include "engine.h"

#define EMOGI_CLOSENESS_BATCH 64	/* searches per batch; those of samples are added up in this
									 * order */

/* Tuned. */
#define EMOGI_CLOSENESS_FEW_HOPS 64
#define EMOGI_CLOSENESS_FEW_SHARE 4	/* if samples reach fewer than 1 / FEW_SHARE of all vertices in
									 * FEW_HOPS hops, batching does not pay */

/*
 * Get the closeness of a vertex that reaches `others` of the n - 1 other vertices, from the sum of
 * hops to them.
 */
EMOGI_INLINE double
emogi_closeness_of(double n, double others, double sum)
{
	double		closeness = 0.0;

	if (others > 0.0)
	{
		closeness = others / sum;
		closeness *= others / (n - 1.0);
	}
	return closeness;
}

/*
 * Check whether searches from samples should not be batched because they share too little: whether
 * the first `nsources` of them reach few of the n vertices in a few hops (nreached in total) and
 * have not ended yet. The last bits of the result depend on it.
 */
EMOGI_INLINE bool
emogi_closeness_is_per_thread(uint64_t n, uint64_t nsources, uint64_t nreached)
{
	return nreached / nsources < n / EMOGI_CLOSENESS_FEW_SHARE;
}

#endif							/* EMOGI_CONTRACT_CLOSENESS_H */
