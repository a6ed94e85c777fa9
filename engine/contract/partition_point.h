/*
 * partition_point.h: binary search
 */
#ifndef EMOGI_PARTITION_POINT_H
#define EMOGI_PARTITION_POINT_H

#include <stdint.h>

/*
 * Get the first number of [from, to) for which a condition on `middle` is false; `to` if there is
 * none. The condition must be true for all smaller numbers, and false for all greater ones.
 */
#define EMOGI_PARTITION_POINT(from, to, middle, condition) \
	({ \
		uint64_t	low_ = (from); \
		uint64_t	high_ = (to); \
\
		while (low_ < high_) \
		{ \
			const uint64_t middle = low_ + (high_ - low_) / 2; \
\
			if (condition) \
				low_ = middle + 1; \
			else \
				high_ = middle; \
		} \
		low_; \
	})

#endif							/* EMOGI_PARTITION_POINT_H */
