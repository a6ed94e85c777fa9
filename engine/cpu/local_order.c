/*
 * local_order.c: the order of keys for what a search has reached.
 *
 * Numbers ascend with the keys, but for those of a patch, which come after all of the Graph, and ascend by themselves unless it has grown. What is sorted is a few dozen vertices, mostly far
 * apart: one pass puts them into buckets by their leading bits, and then most stand where they belong. Where many fall into one bucket they
 * are sorted as integers are.
 */
#include "cpu/local_hops.h"

#include "graph/radix.h"

#include <string.h>

#define BUCKET_BITS 8
#define MOST_IN_BUCKET 16
#define MOST_BUCKETED 2048		/* vertices; of more the integers are sorted */
#define INSERTION_MAX 24

/* Sort by insertion. */
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

/* Sort by leading bits, then by insertion; false, with nothing changed, when many have the same. */
static bool
sort_apart(uint64_t *sort, uint64_t count)
{
	uint16_t	ends[1 << BUCKET_BITS] = {0};
	uint64_t   *scratch = sort + count;
	uint64_t	least = UINT64_MAX,
				most = 0,
				largest = 0,
				sum = 0;
	int			shift;

	for (uint64_t i = 0; i < count; i++)
	{
		least = sort[i] < least ? sort[i] : least;
		most = sort[i] > most ? sort[i] : most;
	}
	shift = 64 - BUCKET_BITS - (most > least ? __builtin_clzll(most - least) : 63);
	shift = shift < 0 ? 0 : shift;
	for (uint64_t i = 0; i < count; i++)
		ends[(sort[i] - least) >> shift]++;
	for (int b = 0; b < 1 << BUCKET_BITS; b++)
	{
		largest = ends[b] > largest ? ends[b] : largest;
		sum += ends[b];
		ends[b] = (uint16_t) sum;
	}
	if (largest > MOST_IN_BUCKET)
		return false;
	for (uint64_t i = 0; i < count; i++)
		scratch[--ends[(sort[i] - least) >> shift]] = sort[i];
	memcpy(sort, scratch, count * sizeof(*sort));
	insert_all(sort, count);
	return true;
}

/* Merge those of the Graph, nold of them, with those of the patch. */
static void
merge(const EmogiGraph *graph, const EmogiOverlay *patch, uint64_t *sort, uint64_t count, uint64_t nold)
{
	uint64_t   *merged = sort + count;
	uint64_t	old = 0;
	uint64_t	new = nold;

	for (uint64_t i = 0; i < count; i++)
	{
		const bool	takes_old = old < nold &&
			(new == count || emogi_overlay_before(graph, patch, (uint32_t) (sort[old] >> 32), (uint32_t) (sort[new] >> 32)));

		merged[i] = takes_old ? sort[old++] : sort[new++];
	}
	memcpy(sort, merged, count * sizeof(*sort));
}

/* Sort vertices of a patch that has grown by their keys; scratch: [count + 1]. */
static void
sort_new(const EmogiGraph *graph, const EmogiOverlay *patch, uint64_t *sort, uint64_t count, uint64_t *scratch)
{
	EmogiControl control = {0};
	EmogiJob	job = {.control = &control};

	for (uint64_t i = 0; i < count; i++)
		sort[i] = emogi_overlay_rank(patch, (sort[i] >> 32) - graph->nvertices) << 32 | (uint32_t) sort[i];
	emogi_radix_sort_u64(sort, count, scratch, count + 1, &job);
	for (uint64_t i = 0; i < count; i++)
		sort[i] = (graph->nvertices + emogi_overlay_new(patch, sort[i] >> 32)) << 32 | (uint32_t) sort[i];
}

void
emogi_local_order(const EmogiGraph *graph, const EmogiOverlay *patch, uint64_t *sort, uint64_t count)
{
	EmogiControl control = {0};
	EmogiJob	job = {.control = &control};
	uint64_t	nold = count;

	if (count <= INSERTION_MAX)
		insert_all(sort, count);
	else if (count > MOST_BUCKETED || !sort_apart(sort, count))
		emogi_radix_sort_u64(sort, count, sort + count, count + 1, &job);
	while (nold > 0 && sort[nold - 1] >> 32 >= graph->nvertices)
		nold--;
	if (nold < count && patch->new_order != NULL)
		sort_new(graph, patch, sort + nold, count - nold, sort + count);
	if (nold < count)
		merge(graph, patch, sort, count, nold);
}
