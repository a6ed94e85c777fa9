/*
 * verify.c: which verifier a query asks for, and the one for breadth-first search.
 *
 * BFS [1]: exactly the sources have level 0; an edge from level d leads to a level of at most d + 1, unless d is the
 * bound; every vertex of a level d > 0 is led to from level d - 1; no level is beyond the bound. By induction over d
 * these levels are the distances.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson. The GAP Benchmark Suite. arXiv:1508.03619, 2015. Section 4 (verification).
 */
#include "verify.h"

#include "verify_wrong.h"

#include <stdlib.h>

/* Vertices by bits. */
typedef struct BitSet
{
	uint64_t   *words;
} BitSet;

/* Add a vertex. */
static inline void
add_bit(BitSet set, uint64_t v)
{
	set.words[v / 64] |= UINT64_C(1) << (v % 64);
}

/* Say whether a vertex is in the set. */
static inline bool
has_bit(BitSet set, uint64_t v)
{
	return (set.words[v / 64] >> (v % 64) & 1) != 0;
}

/* Check the sources, the range of all levels and their count; leaves the sources in explained. */
static bool
check_vertices(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result, BitSet explained,
			   EmogiError *error)
{
	uint64_t	nreached = 0;

	for (uint64_t i = 0; i < query->nsources; i++)
	{
		add_bit(explained, query->sources[i]);
		if (result->level[query->sources[i]] != 0)
			return emogi_wrong(error, "source %u has level %d", query->sources[i], result->level[query->sources[i]]);
	}
	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		int32_t		level = result->level[v];

		if (level < -1 || (query->max_depth >= 0 && level > query->max_depth))
			return emogi_wrong(error, "vertex %llu has level %d", (unsigned long long) v, level);
		if (level == 0 && !has_bit(explained, v))
			return emogi_wrong(error, "vertex %llu has level 0 and is no source", (unsigned long long) v);
		nreached += level >= 0;
	}
	if (nreached != result->nreached)
		return emogi_wrong(error, "%llu vertices have levels but nreached is %llu", (unsigned long long) nreached,
						   (unsigned long long) result->nreached);
	return true;
}

/* Check every edge that leaves a level below the bound; adds the targets of tight ones to explained. */
static bool
check_edges(const EmogiGraph *graph, const EmogiQuery *query, const int32_t *level, BitSet explained,
			EmogiError *error)
{
	const EmogiAdjacency *forward = &graph->forward;

	for (uint64_t u = 0; u < graph->nvertices; u++)
	{
		if (level[u] < 0 || level[u] == query->max_depth)
			continue;
		for (uint64_t i = forward->offsets[u]; i < forward->offsets[u + 1]; i++)
		{
			uint32_t	v = forward->targets[i];

			if (level[v] < 0 || level[v] > level[u] + 1)
				return emogi_wrong(error, "edge %llu -> %u leads from level %d to level %d", (unsigned long long) u,
								   v, level[u], level[v]);
			if (level[v] == level[u] + 1)
				add_bit(explained, v);
		}
	}
	return true;
}

/* Check that every level is explained by a source or an edge. */
static bool
check_explained(const EmogiGraph *graph, const int32_t *level, BitSet explained, EmogiError *error)
{
	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		if (level[v] >= 0 && !has_bit(explained, v))
			return emogi_wrong(error, "vertex %llu has level %d but no edge leads to it from level %d",
							   (unsigned long long) v, level[v], level[v] - 1);
	}
	return true;
}

bool
emogi_verify_bfs(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result, EmogiError *error)
{
	BitSet		explained = {calloc(graph->nvertices / 64 + 1, sizeof(uint64_t))};
	bool		right;

	if (explained.words == NULL)
		return emogi_wrong(error, "no memory to verify");
	right = check_vertices(graph, query, result, explained, error) &&
		check_edges(graph, query, result->level, explained, error) &&
		check_explained(graph, result->level, explained, error);
	free(explained.words);
	return right;
}

bool
emogi_verify(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result, EmogiError *error)
{
	static EmogiVerifier *const verifiers[EMOGI_NALGORITHMS] = {
		[EMOGI_BFS] = emogi_verify_bfs,
		[EMOGI_SSSP] = emogi_verify_path,
		[EMOGI_SSWP] = emogi_verify_path,
		[EMOGI_SSNSP] = emogi_verify_ssnsp,
		[EMOGI_CC] = emogi_verify_cc,
		[EMOGI_PAGERANK] = emogi_verify_sum,
		[EMOGI_HEAT] = emogi_verify_sum,
		[EMOGI_CIRCUIT] = emogi_verify_sum,
		[EMOGI_NEURAL] = emogi_verify_sum
	};

	if ((unsigned int) query->algorithm >= EMOGI_NALGORITHMS)
		return emogi_wrong(error, "no such algorithm");
	return verifiers[query->algorithm] (graph, query, result, error);
}
