/*
 * similarity.h: similarity of two sets from the number of common elements
 */
#ifndef EMOGI_SIMILARITY_H
#define EMOGI_SIMILARITY_H

#include <math.h>

#include "contract/engine.h"

/* Get the similarity of two sets with this many common elements. */
static inline double
emogi_similarity_of(EmogiMeasure measure, uint32_t a, uint32_t b, uint32_t nshared)
{
	if (nshared == 0)
		return 0.0;
	switch (measure)
	{
		case EMOGI_JACCARD:
			return nshared / ((double) a + (double) b - (double) nshared);
		case EMOGI_OVERLAP:
			return nshared / (double) (a < b ? a : b);
		case EMOGI_COSINE:
			break;
	}
	return nshared / sqrt((double) a * (double) b);
}

#endif							/* EMOGI_SIMILARITY_H */
