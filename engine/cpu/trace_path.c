/*
 * trace_path.c: one shortest path out of the distances of all vertices.
 *
 * Method. An edge u -> v of weight w is tight when distance[u] + w = distance[v], in the very arithmetic that SSSP used,
 * so that every vertex reached, but the source, has a tight edge coming in. A breadth-first search from the target
 * against tight edges ends at the source; cycles of zero weight do it no harm. It looks only at vertices that lie on
 * some shortest path to the target.
 */
#include "trace_path.h"

#include <string.h>

#include "contract/semirings.h"

/* How many list entries are looked at between two looks for a cancel: milliseconds, though each may be a cache miss. */
#define CHECK_ENTRIES 65536

typedef struct Search
{
	const EmogiGraph *graph;
	const double *distance;		/* [nvertices] */
	uint32_t   *queue;			/* [nvertices] */
	uint64_t	tail;
	uint32_t   *next;			/* [nvertices], towards the target; EMOGI_NO_VERTEX = not met */
	EmogiPoll	poll;			/* NULL = nobody stops this */
	uint64_t	until_poll;		/* list entries */
} Search;

/* Put the vertices from which a tight edge leads to v, and that were not met before, into the queue; false when stopped. */
static bool
queue_tight(Search *search, uint32_t v)
{
	const EmogiGraph *graph = search->graph;
	const EmogiAdjacency *lists = &graph->backward;
	const double *distance = search->distance;

	for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
	{
		uint32_t	u = lists->targets[e];

		if (--search->until_poll == 0)
		{
			search->until_poll = CHECK_ENTRIES;
			if (search->poll != NULL && search->poll())
				return false;
		}
		if (search->next[u] == EMOGI_NO_VERTEX &&
			emogi_path_candidate(EMOGI_SSSP, distance[u], emogi_weight(lists->weights, graph->weight_type, e)) == distance[v])
		{
			search->next[u] = v;
			search->queue[search->tail++] = u;
		}
	}
	return true;
}

uint64_t
emogi_trace_path(const EmogiGraph *graph, const double *distance, uint32_t source, uint32_t target,
				 uint32_t *path, uint32_t *next, EmogiPoll poll)
{
	Search		search = {graph, distance, .queue = path, .tail = 1, next, poll, CHECK_ENTRIES};
	uint64_t	head = 0;
	uint64_t	length = 1;

	memset(next, 0xFF, graph->nvertices * sizeof *next);
	next[target] = target;
	path[0] = target;			/* path serves as the queue until the source is found */
	while (next[source] == EMOGI_NO_VERTEX)
		if (head == search.tail || !queue_tight(&search, path[head++]))
			return 0;
	path[0] = source;
	for (uint32_t v = source; v != target; v = next[v])
		path[length++] = next[v];
	return length;
}
