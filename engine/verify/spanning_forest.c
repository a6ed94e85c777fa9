/*
 * spanning_forest.c: is a spanning forest the one that comes first, and does each tree hang from its smallest vertex?
 *
 * Edges are sorted and taken one after the other, where their ends are in different trees (Kruskal): there is one such forest. Each of its
 * edges must be told by one of its ends. A tree has one edge fewer than vertices, so one of its vertices tells none, and that is its root.
 */
#include "check.h"

#include "contract/lists.h"
#include "contract/semirings.h"

#include <stdlib.h>

typedef struct Edge
{
	double		weight;			/* with the sign turned, where the maximum is wanted */
	uint32_t	low;
	uint32_t	high;
} Edge;

/* Order edges for qsort. */
static int
compare_edges(const void *a, const void *b)
{
	const Edge *x = a,
			   *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return (x->high > y->high) - (x->high < y->high);
}

/* Collect the edges, sorted. */
static uint64_t
collect_edges(const EmogiCheck *check, Edge *edges)
{
	const EmogiAdjacency *lists = &check->graph->forward;
	uint64_t	count = 0;

	for (uint64_t v = 0; v < check->graph->nvertices; v++)
		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1] && lists->targets[e] < v; e++)
		{
			const double weight = emogi_weight(lists->weights, check->graph->weight_type, e);

			edges[count++] = (Edge) {check->query->maximum ? -weight : weight, lists->targets[e], (uint32_t) v};
		}
	qsort(edges, count, sizeof *edges, compare_edges);
	return count;
}

/* Find the smallest vertex of a tree; halves the way to it. */
static uint32_t
find_root(uint32_t *above, uint32_t v)
{
	while (above[v] != v)
		v = above[v] = above[above[v]];
	return v;
}

/* Check that what vertices tell are edges, with the weights that count: what is wrong is mostly found here, before anything is sorted. */
static void
check_told(void *arg, uint64_t first, uint64_t end)
{
	EmogiCheck *check = arg;
	const EmogiAdjacency *lists = &check->graph->forward;
	const EmogiArray *columns = check->result->columns;

	for (uint64_t v = first; v < end; v++)
	{
		const uint32_t parent = columns[0].vertex[v];
		const uint64_t low = parent == EMOGI_NO_VERTEX ? 0 : emogi_lists_find(lists, v, parent);
		const uint64_t high = parent == EMOGI_NO_VERTEX ? 0 : emogi_lists_find(lists, v, parent + UINT64_C(1));
		const double weight = parent == EMOGI_NO_VERTEX || low == high ? 0.0 :
			emogi_weight(lists->weights, check->graph->weight_type, check->query->maximum ? high - 1 : low);

		if ((parent != EMOGI_NO_VERTEX && (low == high || parent == v)) || columns[1].float64[v] != weight)
		{
			emogi_check_wrong(check, "vertex %llu has no edge to %u that weighs %.17g", (unsigned long long) v, parent, columns[1].float64[v]);
			return;
		}
	}
}

/* Check that an edge of the forest is told by one of its ends. */
static bool
check_edge(EmogiCheck *check, const Edge *edge)
{
	const uint32_t *parent = check->result->columns[0].vertex;
	const bool	is_high = parent[edge->high] == edge->low;

	if (is_high == (parent[edge->low] == edge->high))
		return emogi_check_wrong(check, "the edge of %u and %u is told by %s of them", edge->low, edge->high, is_high ? "both" : "none");
	return true;
}

/* Take the edges of the forest and check each. */
static bool
check_edges(EmogiCheck *check, const Edge *edges, uint64_t count, uint32_t *above)
{
	for (uint64_t i = 0; i < count; i++)
	{
		const uint32_t low = find_root(above, edges[i].low);
		const uint32_t high = find_root(above, edges[i].high);

		if (low == high)
			continue;
		above[low < high ? high : low] = low < high ? low : high;
		if (!check_edge(check, &edges[i]))
			return false;
	}
	return true;
}

/* Check that the smallest vertices alone have no parent. */
static bool
check_roots(EmogiCheck *check, uint32_t *above)
{
	const uint32_t *parent = check->result->columns[0].vertex;

	for (uint64_t v = 0; v < check->graph->nvertices; v++)
	{
		const bool	is_root = find_root(above, (uint32_t) v) == v;

		if (is_root != (parent[v] == EMOGI_NO_VERTEX))
			return emogi_check_wrong(check, "vertex %llu is %s root", (unsigned long long) v, is_root ? "a" : "no");
	}
	return true;
}

bool
emogi_verify_spanning_forest(EmogiCheck *check)
{
	Edge	   *edges;
	uint32_t   *above;
	bool		is_right;

	if (!emogi_check_parts(check, check_told, check, check->graph->nvertices))
		return false;
	edges = malloc((check->graph->forward.nedges + 1) * sizeof *edges);
	above = malloc((check->graph->nvertices + 1) * sizeof *above);
	if (edges == NULL || above == NULL)
		is_right = emogi_check_wrong(check, "out of memory");
	else
	{
		for (uint64_t v = 0; v < check->graph->nvertices; v++)
			above[v] = (uint32_t) v;
		is_right = check_edges(check, edges, collect_edges(check, edges), above) && check_roots(check, above);
	}
	free(edges);
	free(above);
	return is_right;
}
