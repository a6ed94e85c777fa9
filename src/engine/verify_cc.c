/*
 * verify_cc.c: are the components right?
 *
 * Both ends of an edge have one component; a component is a vertex of its own, none in it is smaller, and there are as
 * many as sets remain when all edges are united [1]: so no component could be cut further.
 *
 * [1] R. Tarjan. Efficiency of a Good But Not Linear Set Union Algorithm. J. ACM 22(2), 1975. (Path halving instead of
 *     compression; no ranks: this is a check.)
 */
#include "verify.h"

#include "verify_wrong.h"

#include <stdlib.h>

/* Find the root of a vertex's set, halving the path to it. */
static uint32_t
find_root(uint32_t *parent, uint32_t v)
{
	while (parent[v] != v)
	{
		parent[v] = parent[parent[v]];
		v = parent[v];
	}
	return v;
}

/* Check that every edge joins equals; gets how many sets remain of all vertices by uniting them. */
static bool
check_edges(const EmogiGraph *graph, const uint32_t *component, uint32_t *parent, uint64_t *nsets, EmogiError *error)
{
	const EmogiAdjacency *forward = &graph->forward;

	*nsets = graph->nvertices;
	for (uint64_t v = 0; v < graph->nvertices; v++)
		parent[v] = (uint32_t) v;
	for (uint32_t u = 0; u < graph->nvertices; u++)
	{
		for (uint64_t i = forward->offsets[u]; i < forward->offsets[u + 1]; i++)
		{
			uint32_t	v = forward->targets[i];
			uint32_t	a,
						b;

			if (component[u] != component[v])
				return emogi_wrong(error, "edge %u -> %u joins components %u and %u", u, v, component[u],
								   component[v]);
			a = find_root(parent, u);
			b = find_root(parent, v);
			parent[a > b ? a : b] = a > b ? b : a;
			*nsets -= a != b;
		}
	}
	return true;
}

/* Check that components are their smallest vertices; gets how many there are. */
static bool
check_vertices(const EmogiGraph *graph, const uint32_t *component, uint64_t *ncomponents, EmogiError *error)
{
	*ncomponents = 0;
	for (uint32_t v = 0; v < graph->nvertices; v++)
	{
		if (component[v] > v || component[component[v]] != component[v])
			return emogi_wrong(error, "vertex %u has component %u, which is not its smallest vertex", v, component[v]);
		*ncomponents += component[v] == v;
	}
	return true;
}

bool
emogi_verify_cc(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result, EmogiError *error)
{
	uint32_t   *parent = malloc((graph->nvertices + 1) * sizeof(uint32_t));
	uint64_t	nsets = 0,
				ncomponents = 0;
	bool		right;

	if (parent == NULL)
		return emogi_wrong(error, "no memory to verify");
	right = check_vertices(graph, result->component, &ncomponents, error) &&
		check_edges(graph, result->component, parent, &nsets, error);
	free(parent);
	if (right && nsets != ncomponents)
		return emogi_wrong(error, "%llu components where the edges leave %llu", (unsigned long long) ncomponents,
						   (unsigned long long) nsets);
	if (right && result->nreached != graph->nvertices)
		return emogi_wrong(error, "nreached is %llu", (unsigned long long) result->nreached);
	return right;
}
