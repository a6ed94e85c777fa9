/*
 * topological_order.c: are levels, order and longest paths of a graph without a cycle right?
 *
 * Both are made again, plainly: vertices leave a queue when all edges in have been followed, one after the other. Largest values do not
 * depend on the order in which edges are followed, so distances have to be equal to the last bit. Positions are counted level by level.
 */
#include "check.h"

#include "contract/semirings.h"

#include <stdlib.h>

/* What is made again. */
typedef struct Again
{
	uint64_t   *nedges;			/* [nvertices + 1]: edges in that were not followed yet; later of each level the next position */
	uint64_t   *level;			/* [nvertices] */
	double	   *distance;		/* [nvertices] */
	uint32_t   *queue;			/* [nvertices] */
} Again;

/* Follow all edges of a vertex; gets the new end of the queue. */
static uint64_t
follow_edges(const EmogiGraph *graph, Again *again, uint32_t v, uint64_t tail)
{
	for (uint64_t e = graph->forward.offsets[v]; e < graph->forward.offsets[v + 1]; e++)
	{
		const uint32_t w = graph->forward.targets[e];
		const double offer = again->distance[v] + emogi_weight(graph->forward.weights, graph->weight_type, e);

		if (again->level[w] < again->level[v] + 1)
			again->level[w] = again->level[v] + 1;
		if (again->distance[w] < offer)
			again->distance[w] = offer;
		if (--again->nedges[w] == 0)
			again->queue[tail++] = w;
	}
	return tail;
}

/* Make levels and distances; false when there is a cycle. */
static bool
follow_all(const EmogiGraph *graph, Again *again)
{
	uint64_t	tail = 0;

	for (uint64_t e = 0; e < graph->forward.nedges; e++)
		again->nedges[graph->forward.targets[e]]++;
	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		again->distance[v] = again->nedges[v] == 0 ? 0.0 : -(double) INFINITY;
		if (again->nedges[v] == 0)
			again->queue[tail++] = (uint32_t) v;
	}
	for (uint64_t head = 0; head < tail; head++)
		tail = follow_edges(graph, again, again->queue[head], tail);
	return tail == graph->nvertices;
}

/* Check levels and positions. All edges have been followed, so nedges is 0. */
static bool
check_order(EmogiCheck *check, Again *again)
{
	const EmogiArray *columns = check->result->columns;
	const uint64_t n = check->graph->nvertices;
	uint64_t	sum = 0;

	for (uint64_t v = 0; v < n; v++)
		again->nedges[again->level[v] + 1]++;
	for (uint64_t level = 0; level <= n; level++)
	{
		sum += again->nedges[level];
		again->nedges[level] = sum;
	}
	for (uint64_t v = 0; v < n; v++)
	{
		const uint64_t position = again->nedges[again->level[v]]++;

		if (columns[0].int32[v] != (int32_t) again->level[v])
			return emogi_check_wrong(check, "vertex %llu is of level %llu, not %d", (unsigned long long) v,
									 (unsigned long long) again->level[v], columns[0].int32[v]);
		if (columns[1].int64[v] != (int64_t) position)
			return emogi_check_wrong(check, "vertex %llu has position %llu, not %lld", (unsigned long long) v, (unsigned long long) position,
									 (long long) columns[1].int64[v]);
	}
	return true;
}

/* Check distances. */
static bool
check_distances(EmogiCheck *check, const Again *again)
{
	for (uint64_t v = 0; v < check->graph->nvertices; v++)
		if (!(check->result->columns[0].float64[v] == again->distance[v]))
			return emogi_check_wrong(check, "the longest path to vertex %llu is of %.17g, not %.17g", (unsigned long long) v,
									 again->distance[v], check->result->columns[0].float64[v]);
	return true;
}

bool
emogi_verify_topological_order(EmogiCheck *check)
{
	const uint64_t n = check->graph->nvertices;
	uint64_t   *memory = calloc(4 * n + 2, sizeof *memory);
	Again		again = {memory, memory + n + 2, (double *) (memory + 2 * n + 2), (uint32_t *) (memory + 3 * n + 2)};
	bool		is_right;

	if (memory == NULL)
		return emogi_check_wrong(check, "out of memory");
	if (!follow_all(check->graph, &again))
		is_right = emogi_check_wrong(check, "a graph with a cycle");
	else if (check->query->algorithm == EMOGI_LONGEST_PATH)
		is_right = check_distances(check, &again);
	else
		is_right = check_order(check, &again);
	free(memory);
	return is_right;
}
