/*
 * path.c: one shortest path out of the distances of all vertices.
 *
 * Method. An edge u -> v of weight w is tight when distance[u] + w = distance[v], in the very arithmetic that SSSP used,
 * so that every vertex reached, but the source, has a tight edge coming in. A breadth-first search from the target
 * against tight edges ends at the source; cycles of zero weight do it no harm. It looks only at vertices that lie on
 * some shortest path to the target.
 */
#include "path.h"

#include <string.h>

#include "algebra.h"

/* How many vertices are taken from the queue between two looks at the cancel flag. */
#define CHECK_VERTICES 1024

/* Put the vertices from which a tight edge leads to v, and that were not met before, at the end of the queue. */
static uint64_t
queue_tight(const EmogiGraph *graph, const double *distance, uint32_t v, uint32_t *queue, uint64_t tail,
			uint32_t *next)
{
	const EmogiAdjacency *lists = &graph->backward;

	for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
	{
		uint32_t	u = lists->targets[e];

		if (next[u] == EMOGI_NO_VERTEX &&
			emogi_sssp_candidate(distance[u], emogi_weight(lists->weights, graph->weight_type, e)) == distance[v])
		{
			next[u] = v;
			queue[tail++] = u;
		}
	}
	return tail;
}

uint64_t
emogi_path_find(const EmogiGraph *graph, const double *distance, uint32_t source, uint32_t target,
				uint32_t *path, uint32_t *next, EmogiControl *control)
{
	uint64_t	head = 0;
	uint64_t	tail = 1;
	uint64_t	length = 1;

	memset(next, 0xFF, graph->nvertices * sizeof *next);
	next[target] = target;
	path[0] = target;			/* path serves as the queue until the source is found */
	while (next[source] == EMOGI_NO_VERTEX)
	{
		if (head == tail || (head % CHECK_VERTICES == 0 && control->cancel))
			return 0;
		tail = queue_tight(graph, distance, path[head++], path, tail, next);
	}
	path[0] = source;
	for (uint32_t v = source; v != target; v = next[v])
		path[length++] = next[v];
	return length;
}
