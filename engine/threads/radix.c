/*
 * radix.c: single-threaded radix sort of unsigned integers.
 *
 * Few keys are sorted by insertion. Keys that fit the scratch are sorted by an LSD radix sort over
 * only the bits in which they differ, with digits as wide as pays for the number of keys. More keys
 * are first split in place by the highest digit (MSD): so an array of any length, such as the list
 * of a vertex with a billion neighbors, needs only constant additional memory.
 *
 * [1] P. McIlroy, K. Bostic, M. McIlroy. Engineering Radix Sort. Computing Systems 6(1), 1993.
 *     Section 3 (the split).
 */
#include "radix.h"

#include <string.h>

#define INSERTION_MAX 32
#define MAX_DIGIT_BITS 11
#define POLL_KEYS ((size_t) 1 << 20)	/* moves between two polls, about 5 ms */

/* Get the widest digit whose counters cost less than the keys. */
static int
digit_bits(size_t count)
{
	if (count < 128)
		return 6;
	return count < 4096 ? 8 : MAX_DIGIT_BITS;
}

/* Count the zero bits below the lowest set one; bits != 0. */
static int
count_trailing(uint64_t bits)
{
	return __builtin_ctzll(bits);
}

/* Count the zero bits of 64 above the highest set one; bits != 0. */
static int
count_leading(uint64_t bits)
{
	return __builtin_clzll(bits);
}

/* Replace counts[n] by their exclusive prefix sums. */
static void
counts_to_starts(size_t *counts, size_t n)
{
	size_t		sum = 0;

	for (size_t d = 0; d < n; d++)
	{
		size_t		count = counts[d];

		counts[d] = sum;
		sum += count;
	}
}

#define KEY uint32_t
#define NAME(x) x##_u32
#include "radix_sort.h"
#undef KEY
#undef NAME

#define KEY uint64_t
#define NAME(x) x##_u64
#include "radix_sort.h"
#undef KEY
#undef NAME

void
emogi_radix_sort_u32(uint32_t *keys, size_t count, uint32_t *scratch, size_t scratch_count,
					 EmogiJob *job)
{
	if (count > scratch_count && count > INSERTION_MAX)
		sort_long_u32(keys, count, scratch, scratch_count, job);
	else
		sort_short_u32(keys, count, scratch);
}

void
emogi_radix_sort_u64(uint64_t *keys, size_t count, uint64_t *scratch, size_t scratch_count,
					 EmogiJob *job)
{
	if (count > scratch_count && count > INSERTION_MAX)
		sort_long_u64(keys, count, scratch, scratch_count, job);
	else
		sort_short_u64(keys, count, scratch);
}
