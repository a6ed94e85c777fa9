/*
 * oracle.h: sequential breadth-first search as the oracle of the engines, and queries for both
 */
#ifndef EMOGI_ORACLE_H
#define EMOGI_ORACLE_H

#include "build.h"
#include "generate.h"

#include <stdlib.h>

/*
 * Fill level[nvertices] by sequential BFS with one queue; returns the number of reached vertices.
 */
static inline uint64_t
oracle_bfs(const EmogiGraph *graph, const EmogiQuery *query, int32_t *level)
{
	uint32_t   *queue = malloc((graph->nvertices + 1) * sizeof(uint32_t));
	uint64_t	head = 0,
				tail = 0;

	for (uint64_t v = 0; v < graph->nvertices; v++)
		level[v] = -1;
	for (uint64_t i = 0; i < query->nsources; i++)
	{
		if (level[query->sources[i]] < 0)
			queue[tail++] = query->sources[i];
		level[query->sources[i]] = 0;
	}
	while (head < tail)
	{
		uint32_t	u = queue[head++];

		if (query->max_depth >= 0 && level[u] >= query->max_depth)
			continue;
		for (uint64_t i = graph->forward.offsets[u]; i < graph->forward.offsets[u + 1]; i++)
		{
			uint32_t	v = graph->forward.targets[i];

			if (level[v] < 0)
			{
				level[v] = level[u] + 1;
				queue[tail++] = v;
			}
		}
	}
	free(queue);
	return tail;
}

/* Make the i-th query of a graph; sources has room for max_sources. */
static inline EmogiQuery
oracle_query(const EmogiGraph *graph, uint64_t seed, uint64_t i, uint32_t *sources,
			 uint64_t max_sources)
{
	static const int64_t depths[] = {-1, -1, 0, 1, 2, 5, 1000000};
	EmogiQuery	query = {.algorithm = EMOGI_BFS, .sources = sources};

	if (graph->nvertices > 0)
	{
		query.nsources = i % 3 == 2 ? emogi_random(seed, 100 + i) % max_sources : 1;
		for (uint64_t s = 0; s < query.nsources; s++)
			sources[s] = (uint32_t) (emogi_random(seed, 200 + i * max_sources + s) %
									 graph->nvertices);
		if (i == 0)
			sources[0] = 0;
	}
	query.max_depth = depths[emogi_random(seed, i) % (sizeof(depths) / sizeof(depths[0]))];
	if (i == 0)
		query.max_depth = -1;
	return query;
}

#endif							/* EMOGI_ORACLE_H */
