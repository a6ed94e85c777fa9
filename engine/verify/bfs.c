/*
 * bfs.c: verify the levels of a breadth-first search.
 *
 * Exactly the sources have level 0; an edge from level d leads to a level <= d + 1, unless d is the
 * bound; every vertex of a level d > 0 has an edge from level d - 1; no level exceeds the bound
 * [1]. By induction over d, these levels are the distances.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson. The GAP Benchmark Suite. arXiv:1508.03619, 2015.
 *     Section 4 (verification).
 */
#include "check.h"

#include <stdlib.h>

/* State of the check. */
typedef struct Levels
{
	EmogiCheck *check;
	uint64_t   *explained;		/* bits: sources, and targets of edges that lead to the next
								 * level */
	uint64_t	nreached;		/* atomic */
} Levels;

/* Check the sources, and mark them as explained. */
static bool
check_sources(Levels *levels)
{
	const EmogiQuery *query = levels->check->query;
	const int32_t *level = levels->check->result->columns[0].int32;

	for (uint64_t i = 0; i < query->nsources; i++)
	{
		emogi_add_bit(levels->explained, query->sources[i]);
		if (level[query->sources[i]] != 0)
			return emogi_check_wrong(levels->check, "source %u has level %d", query->sources[i],
									 level[query->sources[i]]);
	}
	return true;
}

/*
 * Check the range of the levels and that only sources have level 0, and count the reached vertices.
 */
static void
check_vertices(void *arg, uint64_t first, uint64_t end)
{
	Levels	   *levels = arg;
	const int32_t *level = levels->check->result->columns[0].int32;
	int64_t		bound = levels->check->query->max_depth;
	uint64_t	nreached = 0;

	for (uint64_t v = first; v < end; v++)
	{
		if (level[v] < -1 || (bound >= 0 && level[v] > bound))
			emogi_check_wrong(levels->check, "vertex %llu has level %d", (unsigned long long) v,
							  level[v]);
		if (level[v] == 0 && !emogi_has_bit(levels->explained, v))
			emogi_check_wrong(levels->check, "vertex %llu has level 0 and is no source",
							  (unsigned long long) v);
		nreached += level[v] >= 0;
	}
	emogi_add_count(&levels->nreached, nreached);
}

/*
 * Check every edge that leaves a level below the bound, and mark the targets of those that lead to
 * the next level.
 */
static void
check_edges(void *arg, uint64_t first, uint64_t end)
{
	Levels	   *levels = arg;
	const EmogiAdjacency *forward = &levels->check->graph->forward;
	const int32_t *level = levels->check->result->columns[0].int32;

	for (uint64_t u = first; u < end; u++)
	{
		if (level[u] < 0 || level[u] == levels->check->query->max_depth)
			continue;
		for (uint64_t i = forward->offsets[u]; i < forward->offsets[u + 1]; i++)
		{
			uint32_t	v = forward->targets[i];

			if (level[v] < 0 || level[v] > level[u] + 1)
			{
				emogi_check_wrong(levels->check, "edge %llu -> %u leads from level %d to level %d",
								  (unsigned long long) u, v, level[u], level[v]);
				return;
			}
			if (level[v] == level[u] + 1)
				emogi_add_bit(levels->explained, v);
		}
	}
}

/* Check that every reached vertex is a source or the target of an edge from the previous level. */
static void
check_explained(void *arg, uint64_t first, uint64_t end)
{
	Levels	   *levels = arg;
	const int32_t *level = levels->check->result->columns[0].int32;

	for (uint64_t v = first; v < end; v++)
	{
		if (level[v] >= 0 && !emogi_has_bit(levels->explained, v))
			emogi_check_wrong(levels->check,
							  "vertex %llu has level %d but no edge leads to it from level %d",
							  (unsigned long long) v, level[v], level[v] - 1);
	}
}

bool
emogi_verify_bfs(EmogiCheck *check)
{
	const uint64_t n = check->graph->nvertices;
	Levels		levels = {.check = check, .explained = emogi_check_bits(n)};
	bool		right;

	if (levels.explained == NULL)
		return emogi_check_wrong(check, "no memory to verify");
	right = check_sources(&levels) && emogi_check_parts(check, check_vertices, &levels, n);
	if (right && levels.nreached != check->result->nreached)
		right = emogi_check_wrong(check, "%llu vertices have levels but nreached is %llu",
								  (unsigned long long) levels.nreached,
								  (unsigned long long) check->result->nreached);
	right = right && emogi_check_parts(check, check_edges, &levels, n) &&
		emogi_check_parts(check, check_explained, &levels, n);
	free(levels.explained);
	return right;
}
