/*
 * distance_matrix.c: verify distances against Dijkstra's algorithm from each source, bit for bit.
 */
#include "check.h"

#include <stdlib.h>

#include "contract/semirings.h"

typedef struct Entry
{
	double		distance;
	uint32_t	vertex;
} Entry;

/* A search from one source. */
typedef struct Search
{
	double	   *distance;		/* [nvertices] */
	Entry	   *heap;			/* [end], capacity room */
	uint64_t	end;
	uint64_t	room;
} Search;

/* Push an entry onto the heap; false if out of memory. */
static bool
push(Search *search, Entry entry)
{
	uint64_t	i = search->end;

	if (search->end == search->room)
	{
		const uint64_t room = 2 * search->room + 64;
		Entry	   *larger = realloc(search->heap, room * sizeof *larger);

		if (larger == NULL)
			return false;
		search->heap = larger;
		search->room = room;
	}
	for (search->end++; i > 0 && entry.distance < search->heap[(i - 1) / 2].distance;
		 i = (i - 1) / 2)
		search->heap[i] = search->heap[(i - 1) / 2];
	search->heap[i] = entry;
	return true;
}

/* Pop the nearest entry. */
static Entry
pop(Search *search)
{
	const Entry first = search->heap[0];
	const Entry last = search->heap[--search->end];
	uint64_t	i = 0;

	for (uint64_t child = 1; child < search->end; child = 2 * i + 1)
	{
		if (child + 1 < search->end &&
			search->heap[child + 1].distance < search->heap[child].distance)
			child++;
		if (!(search->heap[child].distance < last.distance))
			break;
		search->heap[i] = search->heap[child];
		i = child;
	}
	search->heap[i] = last;
	return first;
}

/* Compute the distances of all vertices; false if out of memory. */
static bool
find_distances(const EmogiGraph *graph, uint32_t source, Search *search)
{
	for (uint64_t v = 0; v < graph->nvertices; v++)
		search->distance[v] = (double) INFINITY;
	search->distance[source] = 0.0;
	search->end = 0;
	if (!push(search, (Entry) {0.0, source}))
		return false;
	while (search->end > 0)
	{
		const Entry entry = pop(search);

		if (entry.distance > search->distance[entry.vertex])
			continue;
		for (uint64_t e = graph->forward.offsets[entry.vertex];
			 e < graph->forward.offsets[entry.vertex + 1]; e++)
		{
			const uint32_t target = graph->forward.targets[e];
			const double distance = entry.distance +
				emogi_weight(graph->forward.weights, graph->weight_type, e);

			if (!(distance < search->distance[target]))
				continue;
			search->distance[target] = distance;
			if (!push(search, (Entry) {distance, target}))
				return false;
		}
	}
	return true;
}

/* Check the distances from sources first .. end-1. */
static void
check_sources(void *arg, uint64_t first, uint64_t end)
{
	EmogiCheck *check = arg;
	const EmogiQuery *query = check->query;
	Search		search = {.distance = malloc((check->graph->nvertices + 1) * sizeof(double))};

	for (uint64_t s = first; s < end && emogi_check_ok(check); s++)
	{
		if (search.distance == NULL || !find_distances(check->graph, query->sources[s], &search))
		{
			emogi_check_wrong(check, "out of memory");
			break;
		}
		for (uint64_t t = 0; t < query->ntargets; t++)
		{
			const double found = check->result->columns[0].float64[s * query->ntargets + t];

			if (found != search.distance[query->targets[t]])
				emogi_check_wrong(check, "the distance from %u to %u is %.17g, not %.17g",
								  query->sources[s], query->targets[t],
								  search.distance[query->targets[t]], found);
		}
	}
	free(search.distance);
	free(search.heap);
}

bool
emogi_verify_distance_matrix(EmogiCheck *check)
{
	return emogi_check_parts(check, check_sources, check, check->query->nsources);
}
