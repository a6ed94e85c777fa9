/*
 * cdlp.c: verify community detection by label propagation.
 *
 * The iterations are recomputed by sorting the labels around each vertex.
 */
#include "check.h"

#include "contract/sort_order.h"

#include <stdlib.h>
#include <string.h>

/* State of the recomputed iterations. */
typedef struct Labels
{
	EmogiCheck *check;
	const EmogiAdjacency *lists[2]; /* along and against the edges; NULL = symmetric */
	uint32_t   *label;			/* [nvertices] */
	uint32_t   *next;			/* [nvertices] */
} Labels;

/* Get the most frequent of sorted values; the smallest one if there is a tie. */
static uint32_t
most_frequent(const uint32_t *values, uint64_t count)
{
	uint32_t	best = values[0];
	uint64_t	max_count = 0;

	for (uint64_t i = 0, first = 0; i < count; i++)
	{
		if (values[i] != values[first])
			first = i;
		if (i - first + 1 > max_count)
		{
			max_count = i - first + 1;
			best = values[i];
		}
	}
	return best;
}

/* Collect the labels of the neighbors of a vertex. */
static uint64_t
collect(const Labels *labels, uint64_t v, uint32_t *found)
{
	uint64_t	count = 0;

	for (int i = 0; i < 2 && labels->lists[i] != NULL; i++)
	{
		const EmogiAdjacency *lists = labels->lists[i];

		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
			if (lists->targets[e] != v &&
				(e == lists->offsets[v] || lists->targets[e - 1] != lists->targets[e]))
				found[count++] = labels->label[lists->targets[e]];
	}
	return count;
}

/* Compute the labels of a range of vertices. */
static void
make_labels(void *arg, uint64_t first, uint64_t end)
{
	const Labels *labels = arg;
	uint64_t	room = 1;
	uint32_t   *found;

	for (uint64_t v = first; v < end; v++)
	{
		uint64_t	length = 0;

		for (int i = 0; i < 2 && labels->lists[i] != NULL; i++)
			length += labels->lists[i]->offsets[v + 1] - labels->lists[i]->offsets[v];
		room = length > room ? length : room;
	}
	found = malloc(room * sizeof *found);
	if (found == NULL)
	{
		emogi_check_wrong(labels->check, "out of memory");
		return;
	}
	for (uint64_t v = first; v < end; v++)
	{
		const uint64_t count = collect(labels, v, found);

		qsort(found, count, sizeof *found, emogi_compare_uint32);
		labels->next[v] = count > 0 ? most_frequent(found, count) : labels->label[v];
	}
	free(found);
}

/* Run all iterations, and emogi_compare_uint32 the labels. */
static bool
compare_labels(EmogiCheck *check, Labels *labels)
{
	const uint64_t n = check->graph->nvertices;

	for (uint64_t v = 0; v < n; v++)
		labels->label[v] = (uint32_t) v;
	for (int64_t i = 0; i < check->query->max_iterations; i++)
	{
		uint32_t   *swap = labels->label;

		if (!emogi_check_parts(check, make_labels, labels, n))
			return false;
		labels->label = labels->next;
		labels->next = swap;
		if (memcmp(labels->label, labels->next, n * sizeof *swap) == 0)
			break;
	}
	for (uint64_t v = 0; v < n; v++)
		if (labels->label[v] != check->result->columns[0].vertex[v])
			return emogi_check_wrong(check, "the label of vertex %llu is %u, not %u",
									 (unsigned long long) v, labels->label[v],
									 check->result->columns[0].vertex[v]);
	return true;
}

bool
emogi_verify_cdlp(EmogiCheck *check)
{
	const EmogiGraph *graph = check->graph;
	const bool	is_symmetric = graph->backward.offsets == graph->forward.offsets;
	uint32_t   *memory = malloc((2 * graph->nvertices + 1) * sizeof *memory);
	Labels		labels = {check, {&graph->forward, is_symmetric ? NULL : &graph->backward}, memory,
		memory + graph->nvertices};
	bool		is_right = memory != NULL ? compare_labels(check, &labels)
		: emogi_check_wrong(check, "out of memory");

	free(memory);
	return is_right;
}
