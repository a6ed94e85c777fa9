/*
 * shards_fixed.cuh: fixed-point sums in shared memory that do not depend on the order of the
 * additions.
 *
 * A sum is an integer of 96 bits, in two's complement, in units of a power of two that is chosen
 * before the first addition. It is stored in three words, low, middle and high; an addition to a
 * word is atomic, and the thread that causes a carry adds it to the next word. Unlike doubles,
 * integers add up to the same bits in any order.
 *
 * The unit is 2^(reach + bits - 94) if each of fewer than 2^bits contributions is below 2^reach in
 * magnitude: then their sum fits, and each contribution is truncated by less than 2^(bits - 94) of
 * the largest possible one, 2^-70 for a shard of 16 million entries. Integers above the unit are
 * added exactly. Infinities and NaN are recorded separately: two bits per sum.
 */
#ifndef EMOGI_SHARDS_FIXED_CUH
#define EMOGI_SHARDS_FIXED_CUH

#include <math.h>
#include <stdint.h>
#include <string.h>

#define FIXED_BITS 94
#define FIXED_MIN_UNIT (-1000)		/* so that the unit and its inverse are normal doubles */
#define FIXED_MAX_REACH 1024	/* of a finite double */
#define ODD_SUMS 16				/* sums per word of the infinity flags */

/* Sums of one block, in shared memory. */
typedef struct FixedSums
{
	uint32_t   *low;			/* [width] */
	uint32_t   *middle;			/* [width] */
	uint32_t   *high;			/* [width] */
	/* [width / ODD_SUMS], two bits each: there was +infinity or NaN; there was -infinity or NaN */
	uint32_t   *odd;
} FixedSums;

/* Return the bytes of a shard's sums, a multiple of 8. */
static __host__ __device__ __forceinline__ uint32_t
fixed_bytes(uint32_t width)
{
	return 3 * width * (uint32_t) sizeof(uint32_t) + width / ODD_SUMS * (uint32_t) sizeof(uint32_t);
}

/* Lay out sums in fixed_bytes(width) of shared memory. */
static __device__ __forceinline__ FixedSums
lay_out_sums(void *memory, uint32_t width)
{
	uint32_t   *word = (uint32_t *) memory;

	return FixedSums{word, word + width, word + 2 * width, word + 3 * width};
}

/* Return 2^exponent, which must be a normal double. */
static __host__ __device__ __forceinline__ double
power_of_two(int exponent)
{
	const unsigned long long bits = (unsigned long long) (exponent + 1023) << 52;
	double		power;

	memcpy(&power, &bits, sizeof power);
	return power;
}

/* Return an exponent e such that a finite |value| < 2^e, minimal except for denormals. */
static __host__ __device__ __forceinline__ int
reach_of(double value)
{
	unsigned long long bits;

	memcpy(&bits, &value, sizeof bits);
	return (int) (bits >> 52 & 0x7FF) - 1022;
}

/* Return the exponent of the unit for a number of contributions. */
static __device__ __forceinline__ int
fixed_unit(int reach, uint64_t contributions)
{
	const int	bits = 64 - __clzll((long long) contributions);
	const int	unit = (reach < FIXED_MAX_REACH ? reach : FIXED_MAX_REACH) + bits - FIXED_BITS;

	return unit > FIXED_MIN_UNIT ? unit : FIXED_MIN_UNIT;
}

/* Add to sum i; `scale` is 1 / unit. */
static __device__ __forceinline__ void
add_fixed(const FixedSums &sums, uint32_t i, double contribution, double scale)
{
	const double size = fabs(contribution);
	const double units = size * scale;
	uint32_t	high;
	uint32_t	carry;
	uint32_t	middle;
	unsigned long long low;

	if (!(size < (double) INFINITY))
	{
		const uint32_t bits = contribution != contribution ? 3 : contribution > 0 ? 1 : 2;

		atomicOr(&sums.odd[i / ODD_SUMS], bits << i % ODD_SUMS * 2);
		return;
	}
	high = (uint32_t) (units * power_of_two(-64));
	low = (unsigned long long) (units - (double) high * power_of_two(64));
	if (contribution < 0)
	{
		low = 0 - low;
		high = ~high + (low == 0);
	}
	if ((uint32_t) low == 0)
		carry = 0;
	else
		carry = atomicAdd(&sums.low[i], (uint32_t) low) + (uint32_t) low < (uint32_t) low;
	middle = (uint32_t) (low >> 32) + carry;
	carry = middle < carry;
	if (middle != 0)
		carry += atomicAdd(&sums.middle[i], middle) + middle < middle;
	if (high + carry != 0)
		atomicAdd(&sums.high[i], high + carry);
}

/* Return sum i, after all additions. */
static __device__ __forceinline__ double
read_fixed(const FixedSums &sums, uint32_t i, double unit)
{
	const uint32_t odd = sums.odd[i / ODD_SUMS] >> i % ODD_SUMS * 2 & 3;
	const bool	negative = sums.high[i] >> 31 != 0;
	uint32_t	high = sums.high[i];
	unsigned long long low = (unsigned long long) sums.middle[i] << 32 | sums.low[i];
	double		sum;

	if (odd != 0)
		return odd == 3 ? (double) NAN : odd == 1 ? (double) INFINITY : -(double) INFINITY;
	if (negative)
	{
		low = 0 - low;
		high = ~high + (low == 0);
	}
	sum = ((double) high * power_of_two(64) + (double) low) * unit;
	return negative ? -sum : sum;
}

#endif							/* EMOGI_SHARDS_FIXED_CUH */
