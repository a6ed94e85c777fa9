/*
 * closeness.h: what hops come to, and when searches share too little to be made together, alike in every engine.
 */
#ifndef EMOGI_CONTRACT_CLOSENESS_H
#define EMOGI_CONTRACT_CLOSENESS_H

#include "engine.h"

#define EMOGI_CLOSENESS_TOGETHER 64	/* searches that are made at once; those of samples are added up in this order */

/* Tuned. */
#define EMOGI_CLOSENESS_FEW_HOPS 64
#define EMOGI_CLOSENESS_FEW_SHARE 4	/* of all vertices: where samples reach fewer in these hops, they share too little */

/* Get the closeness of a vertex of n that has `others` others at so many hops together. */
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
 * Say whether samples share too little: whether the first of them, `nsources`, reach few vertices of n in a few hops, nreached in all, with
 * more to come. The answer's last bits depend on it.
 */
EMOGI_INLINE bool
emogi_closeness_is_per_thread(uint64_t n, uint64_t nsources, uint64_t nreached)
{
	return nreached / nsources < n / EMOGI_CLOSENESS_FEW_SHARE;
}

#endif							/* EMOGI_CONTRACT_CLOSENESS_H */
