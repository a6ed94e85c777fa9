/*
 * sort_order.h: ascending orders of numbers, for qsort.
 */
#ifndef EMOGI_SORT_ORDER_H
#define EMOGI_SORT_ORDER_H

#include <stdint.h>

static inline int
emogi_compare_uint32(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *) a;
	const uint32_t y = *(const uint32_t *) b;

	return (x > y) - (x < y);
}

static inline int
emogi_compare_int64(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *) a;
	const int64_t y = *(const int64_t *) b;

	return (x > y) - (x < y);
}

#endif							/* EMOGI_SORT_ORDER_H */
