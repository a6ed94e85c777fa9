/*
 * topological_order.c: verify levels, order and longest paths of an acyclic graph.
 *
 * Both are recomputed: a vertex leaves a queue after all its incoming edges have been followed.
 * Maxima do not depend on the order in which edges are followed, so distances must be bitwise
 * equal. Positions are counted level by level.
 */
#include "check.h"

#include "contract/semirings.h"

#include <stdlib.h>

/* Recomputed values. */
typedef struct Reference
{
	uint64_t   *nedges;			/* [nvertices + 1]: incoming edges not yet followed; later the next
								 * position of each level */
	uint64_t   *level;			/* [nvertices] */
	double	   *distance;		/* [nvertices] */
	uint32_t   *queue;			/* [nvertices] */
} Reference;

/* Follow all edges of a vertex; return the new end of the queue. */
static uint64_t
follow_edges(const EmogiGraph *graph, Reference *reference, uint32_t v, uint64_t tail)
{
	for (uint64_t e = graph->forward.offsets[v]; e < graph->forward.offsets[v + 1]; e++)
	{
		const uint32_t w = graph->forward.targets[e];
		const double offer = reference->distance[v] +
			emogi_weight(graph->forward.weights, graph->weight_type, e);

		if (reference->level[w] < reference->level[v] + 1)
			reference->level[w] = reference->level[v] + 1;
		if (reference->distance[w] < offer)
			reference->distance[w] = offer;
		if (--reference->nedges[w] == 0)
			reference->queue[tail++] = w;
	}
	return tail;
}

/* Compute levels and distances; false if there is a cycle. */
static bool
follow_all(const EmogiGraph *graph, Reference *reference)
{
	uint64_t	tail = 0;

	for (uint64_t e = 0; e < graph->forward.nedges; e++)
		reference->nedges[graph->forward.targets[e]]++;
	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		reference->distance[v] = reference->nedges[v] == 0 ? 0.0 : -(double) INFINITY;
		if (reference->nedges[v] == 0)
			reference->queue[tail++] = (uint32_t) v;
	}
	for (uint64_t head = 0; head < tail; head++)
		tail = follow_edges(graph, reference, reference->queue[head], tail);
	return tail == graph->nvertices;
}

/* Check levels and positions. All edges have been followed, so nedges is 0. */
static bool
check_order(EmogiCheck *check, Reference *reference)
{
	const EmogiArray *columns = check->result->columns;
	const uint64_t n = check->graph->nvertices;
	uint64_t	sum = 0;

	for (uint64_t v = 0; v < n; v++)
		reference->nedges[reference->level[v] + 1]++;
	for (uint64_t level = 0; level <= n; level++)
	{
		sum += reference->nedges[level];
		reference->nedges[level] = sum;
	}
	for (uint64_t v = 0; v < n; v++)
	{
		const uint64_t position = reference->nedges[reference->level[v]]++;

		if (columns[0].int32[v] != (int32_t) reference->level[v])
			return emogi_check_wrong(check, "vertex %llu is of level %llu, not %d",
									 (unsigned long long) v,
									 (unsigned long long) reference->level[v], columns[0].int32[v]);
		if (columns[1].int64[v] != (int64_t) position)
			return emogi_check_wrong(check, "vertex %llu has position %llu, not %lld",
									 (unsigned long long) v, (unsigned long long) position,
									 (long long) columns[1].int64[v]);
	}
	return true;
}

/* Check distances. */
static bool
check_distances(EmogiCheck *check, const Reference *reference)
{
	for (uint64_t v = 0; v < check->graph->nvertices; v++)
		if (!(check->result->columns[0].float64[v] == reference->distance[v]))
			return emogi_check_wrong(check,
									 "the longest path to vertex %llu is of %.17g, not %.17g",
									 (unsigned long long) v,
									 reference->distance[v], check->result->columns[0].float64[v]);
	return true;
}

bool
emogi_verify_topological_order(EmogiCheck *check)
{
	const uint64_t n = check->graph->nvertices;
	uint64_t   *memory = calloc(4 * n + 2, sizeof *memory);
	Reference		reference = {memory, memory + n + 2, (double *) (memory + 2 * n + 2),
		(uint32_t *) (memory + 3 * n + 2)};
	bool		is_right;

	if (memory == NULL)
		return emogi_check_wrong(check, "out of memory");
	if (!follow_all(check->graph, &reference))
		is_right = emogi_check_wrong(check, "a graph with a cycle");
	else if (check->query->algorithm == EMOGI_LONGEST_PATH)
		is_right = check_distances(check, &reference);
	else
		is_right = check_order(check, &reference);
	free(memory);
	return is_right;
}
