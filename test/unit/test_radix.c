/*
 * test_radix.c: tests of radix sort against qsort, for all lengths, distributions, and sizes of the
 * scratch memory
 */
#include "check.h"
#include "generate.h"
#include "threads/radix.h"

#include <stdlib.h>
#include <string.h>

/* Order uint64 for qsort. */
static int
compare_u64(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a,
				y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

/*
 * Make a key of a kind: all bits, few bits, high bits only, equal, two distant groups, descending.
 */
static uint64_t
make_key(int kind, uint64_t seed, uint64_t i)
{
	uint64_t	random = emogi_random(seed, i);

	switch (kind)
	{
		case 0:
			return random;
		case 1:
			return random & 0xFFF;
		case 2:
			return random << 52;
		case 3:
			return 42;
		case 4:
			return random & 1 ? UINT64_MAX - (random >> 40) : random >> 40;
		default:
			return UINT64_MAX - i;
	}
}

/* Sort count keys of a kind, as 64-bit and as 32-bit integers, and compare them with qsort's. */
static void
check_sort(int kind, size_t count, size_t scratch_count)
{
	EmogiControl control = {0};
	EmogiJob	job = {.control = &control};
	uint64_t   *keys = malloc((count + 1) * sizeof(uint64_t));
	uint64_t   *expected = malloc((count + 1) * sizeof(uint64_t));
	uint64_t   *scratch = malloc(scratch_count * sizeof(uint64_t));
	uint32_t   *small = malloc((count + 1) * sizeof(uint32_t));
	bool		same = true;

	for (size_t i = 0; i < count; i++)
		keys[i] = expected[i] = make_key(kind, count, i);
	keys[count] = 99;
	qsort(expected, count, sizeof(uint64_t), compare_u64);
	emogi_radix_sort_u64(keys, count, scratch, scratch_count, &job);
	CHECK(memcmp(keys, expected, count * sizeof(uint64_t)) == 0,
		  "u64 kind %d count %zu scratch %zu", kind, count, scratch_count);
	CHECK(keys[count] == 99, "wrote beyond the end");

	for (size_t i = 0; i < count; i++)
	{
		small[i] = (uint32_t) (make_key(kind, count, i) >> (kind == 2 ? 32 : 0));
		expected[i] = small[i];
	}
	qsort(expected, count, sizeof(uint64_t), compare_u64);
	emogi_radix_sort_u32(small, count, (uint32_t *) scratch, scratch_count, &job);
	for (size_t i = 0; i < count; i++)
		same = same && small[i] == expected[i];
	CHECK(same, "u32 kind %d count %zu scratch %zu", kind, count, scratch_count);
	free(keys);
	free(expected);
	free(scratch);
	free(small);
}

/* Check that a canceled sort returns and leaves the job canceled. */
static void
check_cancel(void)
{
	EmogiControl control = {.cancel = 1};
	EmogiJob	job = {.control = &control};
	size_t		count = 100000;
	uint32_t   *keys = malloc(count * sizeof(uint32_t));
	uint32_t	scratch[64];

	for (size_t i = 0; i < count; i++)
		keys[i] = (uint32_t) emogi_random(1, i);
	emogi_radix_sort_u32(keys, count, scratch, 64, &job);
	CHECK(job.status == EMOGI_CANCELED, "status %u", job.status);
	free(keys);
}

int
main(void)
{
	static const size_t counts[] = {0, 1, 2, 3, 16, 31, 32, 33, 34, 63, 64, 65, 127, 128, 255, 256,
	1000, 4095, 4097, 70000, 300000};

	for (int kind = 0; kind < 6; kind++)
	{
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		{
			check_sort(kind, counts[i], 1);
			check_sort(kind, counts[i], 100);
			check_sort(kind, counts[i], EMOGI_SORT_SCRATCH);
		}
	}
	check_cancel();
	return check_report("test_radix");
}
