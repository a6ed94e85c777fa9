/*
 * betweenness.c: verify betweenness centrality.
 *
 * Brandes's algorithm in its original form, from every source: path counts are pushed forward along
 * edges, and dependencies are accumulated backward along the edges that enter a vertex.
 */
#include "check.h"

#include "contract/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-9			/* relative */

/* State of the check. */
typedef struct Betweenness
{
	EmogiCheck *check;
	uint32_t   *sources;		/* [nsources] */
	double	   *sums;			/* [nvertices], atomic */
} Betweenness;

/* A search from one source. */
typedef struct Search
{
	int64_t    *level;			/* [nvertices], -1 between searches */
	long double *paths;			/* [nvertices] */
	double	   *dependency;		/* [nvertices] */
	uint32_t   *queue;			/* [nvertices] */
} Search;

/* Check whether an edge has the same target as the previous one in the adjacency list. */
static inline bool
is_repeat(const EmogiAdjacency *lists, uint64_t v, uint64_t e)
{
	return e > lists->offsets[v] && lists->targets[e] == lists->targets[e - 1];
}

/* Count the paths from a source to all vertices it reaches; return the number of these vertices. */
static uint64_t
count_paths(const Search *search, const EmogiAdjacency *lists, uint32_t source)
{
	uint64_t	count = 1;

	search->queue[0] = source;
	search->level[source] = 0;
	search->paths[source] = 1.0L;
	for (uint64_t i = 0; i < count; i++)
	{
		const uint32_t u = search->queue[i];

		for (uint64_t e = lists->offsets[u]; e < lists->offsets[u + 1]; e++)
		{
			const uint32_t w = lists->targets[e];

			if (is_repeat(lists, u, e))
				continue;
			if (search->level[w] < 0)
			{
				search->level[w] = search->level[u] + 1;
				search->paths[w] = 0.0L;
				search->queue[count++] = w;
			}
			if (search->level[w] == search->level[u] + 1)
				search->paths[w] += search->paths[u];
		}
	}
	return count;
}

/* Add the dependencies of a source to the sums, and reset the search. */
static void
add_dependencies(Betweenness *betweenness, const Search *search, uint64_t count)
{
	const EmogiAdjacency *lists = &betweenness->check->graph->backward;

	for (uint64_t i = 0; i < count; i++)
		search->dependency[search->queue[i]] = 0.0;
	for (uint64_t i = count; i-- > 1;)
	{
		const uint32_t w = search->queue[i];

		for (uint64_t e = lists->offsets[w]; e < lists->offsets[w + 1]; e++)
		{
			const uint32_t u = lists->targets[e];

			if (search->level[u] >= 0 && search->level[u] == search->level[w] - 1 &&
				!is_repeat(lists, w, e))
				search->dependency[u] += (double) (search->paths[u] / search->paths[w]) *
					(1.0 + search->dependency[w]);
		}
		emogi_add_double(&betweenness->sums[w], search->dependency[w]);
	}
	for (uint64_t i = 0; i < count; i++)
		search->level[search->queue[i]] = -1;
}

/* Add the dependencies of a range of sources. */
static void
add_sources(void *arg, uint64_t first, uint64_t end)
{
	Betweenness *betweenness = arg;
	EmogiCheck *check = betweenness->check;
	const uint64_t n = check->graph->nvertices;
	char	   *memory = malloc(n * (sizeof(long double) + 2 * sizeof(double) + sizeof(uint32_t)));
	Search		search = {.paths = (long double *) memory};

	if (memory == NULL)
	{
		emogi_check_wrong(check, "no memory to verify");
		return;
	}
	search.level = (int64_t *) (memory + n * sizeof(long double));
	search.dependency = (double *) (search.level + n);
	search.queue = (uint32_t *) (search.dependency + n);
	memset(search.level, 0xFF, n * sizeof *search.level);
	for (uint64_t i = first; i < end && emogi_check_ok(check); i++)
		add_dependencies(betweenness, &search,
						 count_paths(&search, &check->graph->forward, betweenness->sources[i]));
	free(memory);
}

/* Compare the result with the sums, scaled for all sources, for pairs, or for a sample. */
static bool
compare(Betweenness *betweenness, uint64_t nsources)
{
	EmogiCheck *check = betweenness->check;
	const EmogiGraph *graph = check->graph;
	const uint64_t n = graph->nvertices;
	const double npairs = ((double) n - 1.0) * ((double) n - 2.0);
	const bool	partial = nsources < n;
	uint64_t	next = 0;

	for (uint64_t v = 0; v < n; v++)
	{
		const bool	is_source = next < nsources && betweenness->sources[next] == v;
		const double nothers = (double) (nsources - is_source);
		double		expected = betweenness->sums[v];

		next += is_source;
		if (partial)
			expected = nothers > 0.0 ? expected / nothers * ((double) n - 1.0) : 0.0;
		if (check->query->normalized)
			expected = npairs > 0.0 ? expected / npairs : 0.0;
		else if (graph->forward.offsets == graph->backward.offsets)
			expected /= 2.0;
		if (!(fabs(expected - check->result->columns[0].float64[v]) <= ROUNDING * fabs(expected)))
			return emogi_check_wrong(check, "vertex %llu has betweenness %.17g, not %.17g",
									 (unsigned long long) v, expected,
									 check->result->columns[0].float64[v]);
	}
	return true;
}

bool
emogi_verify_betweenness(EmogiCheck *check)
{
	const uint64_t n = check->graph->nvertices;
	const uint64_t nsources = emogi_sample_count(n, check->query);
	Betweenness betweenness = {.check = check, .sources = calloc(nsources + 1, sizeof(uint32_t)),
		.sums = calloc(n + 1, sizeof(double))};
	bool		is_right;

	if (betweenness.sources == NULL || betweenness.sums == NULL)
		is_right = emogi_check_wrong(check, "no memory to verify");
	else
	{
		emogi_sample_choose(n, nsources, check->query->seed, betweenness.sources);
		is_right = emogi_check_parts(check, add_sources, &betweenness, nsources) &&
			compare(&betweenness, nsources);
	}
	free(betweenness.sources);
	free(betweenness.sums);
	return is_right;
}
