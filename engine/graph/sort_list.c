/*
 * sort_list.c: single-threaded sorting of an adjacency list, whose targets and weights are in two
 * arrays.
 *
 * Without weights, the targets are sorted (radix.c). Weights of up to 32 bits are packed with the
 * target into one integer, mapped such that integers order as weights do, so that one sort
 * suffices. Doubles are permuted afterwards; those of parallel edges are then sorted. A list longer
 * than the scratch is first split in place by the highest digit of its targets, as in radix.c.
 */
#include "sort_list.h"

#include "contract/builder.h"

#include <string.h>

#define POLL_ENTRIES ((uint64_t) 1 << 20)

/* Map a float to an integer of the same order. */
static inline uint32_t
order_f32(uint32_t bits)
{
	return bits ^ (bits >> 31 ? UINT32_MAX : UINT32_C(1) << 31);
}

/* Map back. */
static inline uint32_t
restore_f32(uint32_t order)
{
	return order ^ (order >> 31 ? UINT32_C(1) << 31 : UINT32_MAX);
}

/* Map a double to an integer of the same order. */
static inline uint64_t
order_f64(uint64_t bits)
{
	return bits ^ (bits >> 63 ? UINT64_MAX : UINT64_C(1) << 63);
}

/* Map back. */
static inline uint64_t
restore_f64(uint64_t order)
{
	return order ^ (order >> 63 ? UINT64_C(1) << 63 : UINT64_MAX);
}

/* Get a weight of up to 32 bits as an integer of the same order. */
static inline uint32_t
load_order(const void *weights, EmogiWeightType type, uint64_t i)
{
	if (type == EMOGI_WEIGHT_U8)
		return ((const uint8_t *) weights)[i];
	if (type == EMOGI_WEIGHT_U16)
		return ((const uint16_t *) weights)[i];
	if (type == EMOGI_WEIGHT_F32)
		return order_f32(((const uint32_t *) weights)[i]);
	return ((const uint32_t *) weights)[i];
}

/* Store it. */
static inline void
store_order(void *weights, EmogiWeightType type, uint64_t i, uint32_t order)
{
	if (type == EMOGI_WEIGHT_U8)
		((uint8_t *) weights)[i] = (uint8_t) order;
	else if (type == EMOGI_WEIGHT_U16)
		((uint16_t *) weights)[i] = (uint16_t) order;
	else if (type == EMOGI_WEIGHT_F32)
		((uint32_t *) weights)[i] = restore_f32(order);
	else
		((uint32_t *) weights)[i] = order;
}

/* Check whether the targets strictly ascend, so that nothing needs to be done. */
static bool
is_sorted(const uint32_t *targets, uint64_t count)
{
	for (uint64_t i = 1; i < count; i++)
	{
		if (targets[i - 1] >= targets[i])
			return false;
	}
	return true;
}

/* Sort edges with weights of up to 32 bits that fit the scratch. */
static inline __attribute__((always_inline)) void
sort_narrow(uint32_t *targets, void *weights, EmogiWeightType type, uint64_t count, uint64_t *items,
			EmogiJob *job)
{
	for (uint64_t i = 0; i < count; i++)
		items[i] = (uint64_t) targets[i] << 32 | load_order(weights, type, i);
	emogi_radix_sort_u64(items, count, items + EMOGI_SORT_SCRATCH, EMOGI_SORT_SCRATCH, job);
	for (uint64_t i = 0; i < count; i++)
	{
		targets[i] = (uint32_t) (items[i] >> 32);
		store_order(weights, type, i, (uint32_t) items[i]);
	}
}

/* Sort any number of doubles in place. */
static void
sort_doubles(uint64_t *weights, uint64_t count, uint64_t *scratch, EmogiJob *job)
{
	for (uint64_t i = 0; i < count; i++)
		weights[i] = order_f64(weights[i]);
	emogi_radix_sort_u64(weights, count, scratch, EMOGI_SORT_SCRATCH, job);
	for (uint64_t i = 0; i < count; i++)
		weights[i] = restore_f64(weights[i]);
}

/* Sort edges with doubles that fit the scratch. */
static void
sort_wide(uint32_t *targets, uint64_t *weights, uint64_t count, uint64_t *items, EmogiJob *job)
{
	uint64_t   *moved = items + EMOGI_SORT_SCRATCH;

	for (uint64_t i = 0; i < count; i++)
		items[i] = (uint64_t) targets[i] << 32 | i;
	emogi_radix_sort_u64(items, count, moved, EMOGI_SORT_SCRATCH, job);
	for (uint64_t i = 0; i < count; i++)
		moved[i] = weights[(uint32_t) items[i]];
	memcpy(weights, moved, count * sizeof(uint64_t));
	for (uint64_t i = 0; i < count; i++)
		targets[i] = (uint32_t) (items[i] >> 32);
	for (uint64_t first = 0, i = 1; i <= count; i++)
	{
		if (i < count && targets[i] == targets[first])
			continue;
		if (i - first > 1)
			sort_doubles(weights + first, i - first, items, job);
		first = i;
	}
}

/* Sort edges that fit the scratch. */
static void
sort_short(uint32_t *targets, void *weights, EmogiWeightType type, uint64_t count, uint64_t *items,
		   EmogiJob *job)
{
	switch (type)
	{
		case EMOGI_WEIGHT_U8:
			sort_narrow(targets, weights, EMOGI_WEIGHT_U8, count, items, job);
			break;
		case EMOGI_WEIGHT_U16:
			sort_narrow(targets, weights, EMOGI_WEIGHT_U16, count, items, job);
			break;
		case EMOGI_WEIGHT_U32:
			sort_narrow(targets, weights, EMOGI_WEIGHT_U32, count, items, job);
			break;
		case EMOGI_WEIGHT_F32:
			sort_narrow(targets, weights, EMOGI_WEIGHT_F32, count, items, job);
			break;
		case EMOGI_WEIGHT_F64:
			sort_wide(targets, weights, count, items, job);
			break;
		case EMOGI_WEIGHT_NONE:
			break;
	}
}

/*
 * Sort the weights of very many parallel edges in place: small types by counting, others as
 * integers.
 */
static void
sort_weights(void *weights, EmogiWeightType type, uint64_t count, uint64_t *items, EmogiJob *job)
{
	uint64_t	at = 0;

	if (type == EMOGI_WEIGHT_F64)
		sort_doubles(weights, count, items, job);
	else if (type == EMOGI_WEIGHT_U32 || type == EMOGI_WEIGHT_F32)
	{
		for (uint64_t i = 0; i < count; i++)
			((uint32_t *) weights)[i] = load_order(weights, type, i);
		emogi_radix_sort_u32(weights, count, (uint32_t *) items, EMOGI_SORT_SCRATCH, job);
		for (uint64_t i = 0; i < count; i++)
			store_order(weights, type, i, ((uint32_t *) weights)[i]);
	}
	else
	{
		memset(items, 0, 65536 * sizeof(uint64_t));
		for (uint64_t i = 0; i < count; i++)
			items[load_order(weights, type, i)]++;
		for (uint32_t order = 0; order < 65536; order++)
		{
			for (; items[order] > 0; items[order]--)
				store_order(weights, type, at++, order);
		}
	}
}

/* Load a weight's bits. */
static inline uint64_t
load_bits(const void *weights, size_t bytes, uint64_t i)
{
	uint64_t	bits = 0;

	memcpy(&bits, (const char *) weights + i * bytes, bytes);
	return bits;
}

/* Store a weight's bits. */
static inline void
store_bits(void *weights, size_t bytes, uint64_t i, uint64_t bits)
{
	memcpy((char *) weights + i * bytes, &bits, bytes);
}

/*
 * Move each edge to the part of its digit at shift, in place; ends[256] receives the ends of the
 * parts.
 */
static bool
split(uint32_t *targets, void *weights, size_t bytes, uint64_t count, int shift, uint64_t *ends,
	  EmogiJob *job)
{
	uint64_t	starts[256] = {0};
	uint64_t	sum = 0,
				moved = 0;

	for (uint64_t i = 0; i < count; i++)
		starts[targets[i] >> shift & 255]++;
	for (int d = 0; d < 256; d++)
	{
		uint64_t	first = sum;

		ends[d] = sum += starts[d];
		starts[d] = first;
	}
	for (int d = 0; d < 256; d++)
	{
		while (starts[d] < ends[d])
		{
			uint64_t	hole = starts[d];
			uint32_t	target = targets[hole];
			uint64_t	weight = load_bits(weights, bytes, hole);
			uint64_t	place;

			do
			{
				uint32_t	other;
				uint64_t	other_weight;

				place = starts[target >> shift & 255]++;
				other = targets[place];
				other_weight = load_bits(weights, bytes, place);
				targets[place] = target;
				store_bits(weights, bytes, place, weight);
				target = other;
				weight = other_weight;
				if (++moved % POLL_ENTRIES == 0 && emogi_job_stopped(job))
					return false;
			} while (place != hole);
		}
	}
	return true;
}

/* Sort more edges than the scratch holds. */
static void
sort_long(uint32_t *targets, void *weights, EmogiWeightType type, uint64_t count, uint64_t *items,
		  EmogiJob *job)
{
	size_t		bytes = emogi_weight_bytes(type);
	uint64_t	ends[256];
	uint64_t	start = 0;
	uint32_t	varying = 0;
	int			high;

	for (uint64_t i = 0; i < count; i++)
		varying |= targets[i] ^ targets[0];
	if (varying == 0)
	{
		sort_weights(weights, type, count, items, job);
		return;
	}
	high = 32 - __builtin_clz(varying);
	if (!split(targets, weights, bytes, count, high > 8 ? high - 8 : 0, ends, job))
		return;
	for (int d = 0; d < 256 && !emogi_job_stopped(job); start = ends[d++])
		emogi_sort_list(targets + start, (char *) weights + start * bytes, type, ends[d] - start,
						items, job);
}

void
emogi_sort_list(uint32_t *targets, void *weights, EmogiWeightType type, uint64_t count,
				void *scratch, EmogiJob *job)
{
	if (type == EMOGI_WEIGHT_NONE)
		emogi_radix_sort_u32(targets, count, scratch, EMOGI_SORT_SCRATCH, job);
	else if (is_sorted(targets, count))
		return;
	else if (count > EMOGI_SORT_SCRATCH)
		sort_long(targets, weights, type, count, scratch, job);
	else
		sort_short(targets, weights, type, count, scratch, job);
}
