/*
 * spanning_forest.c: verify that a spanning forest is the first one in the order of edges, and that
 * each tree is rooted at its smallest vertex.
 *
 * The edges are sorted, and each edge that connects two trees is taken (Kruskal), which gives a
 * unique forest. Each of its edges must be stored at exactly one of its endpoints. A tree has one
 * edge fewer than vertices, so one of its vertices stores no edge; this vertex is the root.
 */
#include "check.h"

#include "contract/lists.h"
#include "contract/semirings.h"

#include <stdlib.h>

typedef struct Edge
{
	double		weight;			/* negated if the maximum is requested */
	uint32_t	low;
	uint32_t	high;
} Edge;

/* Compare edges for qsort. */
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

/* Collect and sort the edges. */
static uint64_t
collect_edges(const EmogiCheck *check, Edge *edges)
{
	const EmogiAdjacency *lists = &check->graph->forward;
	uint64_t	count = 0;

	for (uint64_t v = 0; v < check->graph->nvertices; v++)
		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1] && lists->targets[e] < v;
			 e++)
		{
			const double weight = emogi_weight(lists->weights, check->graph->weight_type, e);

			edges[count++] = (Edge) {check->query->maximum ? -weight : weight, lists->targets[e],
				(uint32_t) v};
		}
	qsort(edges, count, sizeof *edges, compare_edges);
	return count;
}

/* Find the smallest vertex of a tree by path halving. */
static uint32_t
find_root(uint32_t *ancestor, uint32_t v)
{
	while (ancestor[v] != v)
		v = ancestor[v] = ancestor[ancestor[v]];
	return v;
}

/*
 * Check that the parents are neighbors and the weights are those of the edges. Most errors are
 * found here, before anything is sorted.
 */
static void
check_parents(void *arg, uint64_t first, uint64_t end)
{
	EmogiCheck *check = arg;
	const EmogiAdjacency *lists = &check->graph->forward;
	const EmogiArray *columns = check->result->columns;

	for (uint64_t v = first; v < end; v++)
	{
		const uint32_t parent = columns[0].vertex[v];
		const uint64_t low = parent == EMOGI_NO_VERTEX ? 0 : emogi_lists_find(lists, v, parent);
		const uint64_t high = parent == EMOGI_NO_VERTEX ? 0
			: emogi_lists_find(lists, v, parent + UINT64_C(1));
		const double weight = parent == EMOGI_NO_VERTEX || low == high ? 0.0 :
			emogi_weight(lists->weights, check->graph->weight_type,
						 check->query->maximum ? high - 1 : low);

		if ((parent != EMOGI_NO_VERTEX && (low == high || parent == v)) ||
			columns[1].float64[v] != weight)
		{
			emogi_check_wrong(check, "vertex %llu has no edge to %u that weighs %.17g",
							  (unsigned long long) v, parent, columns[1].float64[v]);
			return;
		}
	}
}

/* Check that exactly one endpoint stores an edge of the forest. */
static bool
check_edge(EmogiCheck *check, const Edge *edge)
{
	const uint32_t *parent = check->result->columns[0].vertex;
	const bool	is_high = parent[edge->high] == edge->low;

	if (is_high == (parent[edge->low] == edge->high))
		return emogi_check_wrong(check, "the edge of %u and %u is told by %s of them", edge->low,
								 edge->high, is_high ? "both" : "none");
	return true;
}

/* Take the edges of the forest, and check each. */
static bool
check_edges(EmogiCheck *check, const Edge *edges, uint64_t count, uint32_t *ancestor)
{
	for (uint64_t i = 0; i < count; i++)
	{
		const uint32_t low = find_root(ancestor, edges[i].low);
		const uint32_t high = find_root(ancestor, edges[i].high);

		if (low == high)
			continue;
		ancestor[low < high ? high : low] = low < high ? low : high;
		if (!check_edge(check, &edges[i]))
			return false;
	}
	return true;
}

/* Check that exactly the smallest vertices of the trees have no parent. */
static bool
check_roots(EmogiCheck *check, uint32_t *ancestor)
{
	const uint32_t *parent = check->result->columns[0].vertex;

	for (uint64_t v = 0; v < check->graph->nvertices; v++)
	{
		const bool	is_root = find_root(ancestor, (uint32_t) v) == v;

		if (is_root != (parent[v] == EMOGI_NO_VERTEX))
			return emogi_check_wrong(check, "vertex %llu is %s root", (unsigned long long) v,
									 is_root ? "a" : "no");
	}
	return true;
}

bool
emogi_verify_spanning_forest(EmogiCheck *check)
{
	Edge	   *edges;
	uint32_t   *ancestor;
	bool		is_right;

	if (!emogi_check_parts(check, check_parents, check, check->graph->nvertices))
		return false;
	edges = malloc((check->graph->forward.nedges + 1) * sizeof *edges);
	ancestor = malloc((check->graph->nvertices + 1) * sizeof *ancestor);
	if (edges == NULL || ancestor == NULL)
		is_right = emogi_check_wrong(check, "out of memory");
	else
	{
		for (uint64_t v = 0; v < check->graph->nvertices; v++)
			ancestor[v] = (uint32_t) v;
		is_right = check_edges(check, edges, collect_edges(check, edges), ancestor) &&
			check_roots(check, ancestor);
	}
	free(edges);
	free(ancestor);
	return is_right;
}
