/*
 * local_sort.c: sorting the result of a local search by key
 *
 * Vertex numbers ascend with the keys, except those of an overlay, which follow all of the graph
 * and ascend by themselves unless the overlay has grown. The input is typically a few dozen
 * vertices with widely spread numbers: one pass distributes them to buckets by their leading bits,
 * after which most are in place. If many fall into one bucket, they are sorted as integers.
 */
#include "cpu/local_hops.h"

#include "threads/radix.h"

#include <string.h>

#define BUCKET_BITS 8
#define MAX_IN_BUCKET 16
#define MAX_BUCKETED 2048		/* vertices; more are sorted as integers */
#define INSERTION_MAX 24

/* Insertion sort. */
static void
insert_all(uint64_t *sort, uint64_t count)
{
	for (uint64_t i = 1; i < count; i++)
	{
		const uint64_t at = sort[i];
		uint64_t	place = i;

		for (; place > 0 && sort[place - 1] > at; place--)
			sort[place] = sort[place - 1];
		sort[place] = at;
	}
}

/*
 * Sort by leading bits, then by insertion; return false, with nothing changed, if many share a
 * bucket.
 */
static bool
sort_buckets(uint64_t *sort, uint64_t count)
{
	uint16_t	ends[1 << BUCKET_BITS] = {0};
	uint64_t   *scratch = sort + count;
	uint64_t	lowest = UINT64_MAX,
				highest = 0,
				largest = 0,
				sum = 0;
	int			shift;

	for (uint64_t i = 0; i < count; i++)
	{
		lowest = sort[i] < lowest ? sort[i] : lowest;
		highest = sort[i] > highest ? sort[i] : highest;
	}
	shift = 64 - BUCKET_BITS - (highest > lowest ? __builtin_clzll(highest - lowest) : 63);
	shift = shift < 0 ? 0 : shift;
	for (uint64_t i = 0; i < count; i++)
		ends[(sort[i] - lowest) >> shift]++;
	for (int b = 0; b < 1 << BUCKET_BITS; b++)
	{
		largest = ends[b] > largest ? ends[b] : largest;
		sum += ends[b];
		ends[b] = (uint16_t) sum;
	}
	if (largest > MAX_IN_BUCKET)
		return false;
	for (uint64_t i = 0; i < count; i++)
		scratch[--ends[(sort[i] - lowest) >> shift]] = sort[i];
	memcpy(sort, scratch, count * sizeof(*sort));
	insert_all(sort, count);
	return true;
}

/* Merge the nold vertices of the graph with those of the overlay. */
static void
merge(const EmogiGraph *graph, const EmogiOverlay *overlay, uint64_t *sort, uint64_t count,
	  uint64_t nold)
{
	uint64_t   *merged = sort + count;
	uint64_t	old = 0;
	uint64_t	new = nold;

	for (uint64_t i = 0; i < count; i++)
	{
		const bool	old_is_next = old < nold &&
			(new == count || emogi_overlay_before(graph, overlay, (uint32_t) (sort[old] >> 32),
												  (uint32_t) (sort[new] >> 32)));

		merged[i] = old_is_next ? sort[old++] : sort[new++];
	}
	memcpy(sort, merged, count * sizeof(*sort));
}

/* Sort the vertices of a grown overlay by their keys; scratch: [count + 1]. */
static void
sort_new(const EmogiGraph *graph, const EmogiOverlay *overlay, uint64_t *sort, uint64_t count,
		 uint64_t *scratch)
{
	EmogiControl control = {0};
	EmogiJob	job = {.control = &control};

	for (uint64_t i = 0; i < count; i++)
		sort[i] = emogi_overlay_rank(overlay, (sort[i] >> 32) - graph->nvertices) << 32 |
			(uint32_t) sort[i];
	emogi_radix_sort_u64(sort, count, scratch, count + 1, &job);
	for (uint64_t i = 0; i < count; i++)
		sort[i] = (graph->nvertices + emogi_overlay_new(overlay, sort[i] >> 32)) << 32 |
			(uint32_t) sort[i];
}

void
emogi_local_sort(const EmogiGraph *graph, const EmogiOverlay *overlay, uint64_t *sort,
				 uint64_t count)
{
	EmogiControl control = {0};
	EmogiJob	job = {.control = &control};
	uint64_t	nold = count;

	if (count <= INSERTION_MAX)
		insert_all(sort, count);
	else if (count > MAX_BUCKETED || !sort_buckets(sort, count))
		emogi_radix_sort_u64(sort, count, sort + count, count + 1, &job);
	while (nold > 0 && sort[nold - 1] >> 32 >= graph->nvertices)
		nold--;
	if (nold < count && overlay->new_order != NULL)
		sort_new(graph, overlay, sort + nold, count - nold, sort + count);
	if (nold < count)
		merge(graph, overlay, sort, count, nold);
}
