/*
 * kcore.c: verify core numbers.
 *
 * The vertex of minimum degree is removed repeatedly; the maximum of these degrees so far is its
 * core number. The vertices are kept in one array, sorted by degree.
 */
#include "check.h"

#include <stdlib.h>

/* Remaining vertices in ascending order of their remaining degree. */
typedef struct Order
{
	uint32_t   *degree;			/* [nvertices] */
	uint32_t   *place;			/* [nvertices], position in vertices */
	uint32_t   *vertices;		/* [nvertices] */
	uint32_t   *first;			/* [nvertices + 2], position of the first vertex of a degree */
} Order;

/* Check whether an edge leads to a distinct neighbor: no self-loop, no repetition. */
static bool
is_neighbor(const EmogiAdjacency *lists, uint64_t v, uint64_t e)
{
	return lists->targets[e] != v &&
		(e == lists->offsets[v] || lists->targets[e - 1] != lists->targets[e]);
}

/* Sort the vertices by degree. */
static void
sort_vertices(const EmogiGraph *graph, Order *order)
{
	const EmogiAdjacency *lists = &graph->forward;

	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
			order->degree[v] += is_neighbor(lists, v, e);
		order->first[order->degree[v] + 1]++;
	}
	for (uint64_t d = 0; d < graph->nvertices; d++)
		order->first[d + 1] += order->first[d];
	for (uint64_t v = graph->nvertices; v-- > 0;)
	{
		order->place[v] = --order->first[order->degree[v] + 1];
		order->vertices[order->place[v]] = (uint32_t) v;
	}
	for (uint64_t d = 0; d < graph->nvertices; d++)
		order->first[d] = order->first[d + 1];
}

/* Decrement the degree of a vertex by swapping it with the first vertex of its degree. */
static void
lower(Order *order, uint32_t v)
{
	const uint32_t place = order->first[order->degree[v]]++;
	const uint32_t other = order->vertices[place];

	order->vertices[order->place[v]] = other;
	order->place[other] = order->place[v];
	order->vertices[place] = v;
	order->place[v] = place;
	order->degree[v]--;
}

/* Remove all vertices; false at the first whose core number differs. */
static bool
peel(EmogiCheck *check, Order *order)
{
	const EmogiAdjacency *lists = &check->graph->forward;

	for (uint64_t i = 0; i < check->graph->nvertices; i++)
	{
		const uint32_t v = order->vertices[i];

		if (check->result->columns[0].int32[v] != (int32_t) order->degree[v])
			return emogi_check_wrong(check, "the core number of vertex %u is %u, not %d", v,
									 order->degree[v],
									 check->result->columns[0].int32[v]);
		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
			if (is_neighbor(lists, v, e) && order->degree[lists->targets[e]] > order->degree[v])
				lower(order, lists->targets[e]);
	}
	return true;
}

bool
emogi_verify_core(EmogiCheck *check)
{
	const uint64_t n = check->graph->nvertices;
	uint32_t   *memory = calloc(4 * n + 2, sizeof *memory);
	Order		order = {memory, memory + n, memory + 2 * n, memory + 3 * n};
	bool		is_right;

	if (memory == NULL)
		return emogi_check_wrong(check, "out of memory");
	if (n > 0)
		sort_vertices(check->graph, &order);
	is_right = peel(check, &order);
	free(memory);
	return is_right;
}
