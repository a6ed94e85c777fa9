/*
 * trace_path.c: one shortest path, from the distances of all vertices.
 *
 * Method. An edge u -> v of weight w is tight if distance[u] + w = distance[v] in the arithmetic of
 * SSSP, so that each reached vertex except the source has a tight incoming edge. A breadth-first
 * search from the target against tight edges ends at the source; cycles of zero weight are
 * harmless. It visits only vertices that lie on some shortest path to the target.
 *
 * Two cases need no search. Without weights, all shortest paths have as many edges as the distance
 * of the target, so that each vertex takes the first neighbor in its list that is one nearer. And
 * if exactly one tight edge leads to each vertex, from the target on, there is no other path; with
 * weights other than small integers this is nearly always so.
 */
#include "contract/trace_path.h"

#include <string.h>

#include "contract/semirings.h"

/* Edges examined between two polls for cancellation: milliseconds, even if each is a cache miss. */
#define CHECK_ENTRIES 65536

typedef struct Search
{
	const EmogiGraph *graph;
	const double *distance;		/* [nvertices] */
	uint32_t   *queue;			/* [nvertices] */
	uint64_t	tail;
	uint32_t   *next;			/* [nvertices], towards the target; EMOGI_NO_VERTEX = not visited */
	EmogiPoll	poll;			/* NULL = no polling */
	uint64_t	until_poll;		/* edges */
} Search;

/* Append the unvisited vertices with a tight edge to v to the queue; false if stopped. */
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
			emogi_path_candidate(EMOGI_SSSP, distance[u],
								 emogi_weight(lists->weights, graph->weight_type, e)) ==
			distance[v])
		{
			search->next[u] = v;
			search->queue[search->tail++] = u;
		}
	}
	return true;
}

/*
 * Get the vertex before v on its path; EMOGI_NO_VERTEX = several have tight edges to v. With
 * `first`, take the first of several.
 */
static uint32_t
find_before(Search *search, uint32_t v, bool first)
{
	const EmogiGraph *graph = search->graph;
	const EmogiAdjacency *lists = &graph->backward;
	const double *distance = search->distance;
	uint32_t	before = EMOGI_NO_VERTEX;

	for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
	{
		const uint32_t u = lists->targets[e];

		if (u == before ||
			emogi_path_candidate(EMOGI_SSSP, distance[u],
								 emogi_weight(lists->weights, graph->weight_type, e)) !=
			distance[v])
			continue;
		if (before != EMOGI_NO_VERTEX)
			return EMOGI_NO_VERTEX;
		before = u;
		if (first)
			break;
	}
	return before;
}

/*
 * Trace back from the target as long as the path is unique; false if it is not. *length: length of
 * the path, 0 = poll returned true.
 */
static bool
trace_unique(Search *search, uint32_t source, uint32_t target, uint32_t *path, uint64_t *length)
{
	const EmogiAdjacency *lists = &search->graph->backward;
	const bool	first = search->graph->weight_type == EMOGI_WEIGHT_NONE;
	uint64_t	nscanned = 0;

	path[0] = target;
	for (*length = 1; path[*length - 1] != source; ++*length)
	{
		const uint32_t v = path[*length - 1];

		nscanned += lists->offsets[v + 1] - lists->offsets[v];
		if (nscanned > CHECK_ENTRIES)
		{
			nscanned = 0;
			if (search->poll != NULL && search->poll())
			{
				*length = 0;
				return true;
			}
		}
		path[*length] = find_before(search, v, first);
		if (path[*length] == EMOGI_NO_VERTEX)
			return false;
	}
	for (uint64_t i = 0; i < *length / 2; i++)
	{
		const uint32_t v = path[i];

		path[i] = path[*length - 1 - i];
		path[*length - 1 - i] = v;
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

	if (trace_unique(&search, source, target, path, &length))
		return length;
	length = 1;
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
