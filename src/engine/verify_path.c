/*
 * verify_path.c: are best paths, and the numbers of shortest paths, right?
 *
 * SSSP, SSWP [1]: the sources have the value of the empty path; no edge makes an offer that is better than what its
 * end has; and every vertex that is reached is reached from a source over tight edges, whose offer is exactly what their
 * end has. So each value is that of a path, and no path has a better one. (A tight edge into every vertex would not do:
 * a cycle of zero weights explains itself.)
 *
 * SSNSP: the levels are right, and counts pushed from level to level are the counts, exactly up to 2^53.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson. The GAP Benchmark Suite. arXiv:1508.03619, 2015. Section 4 (verification).
 */
#include "verify.h"

#include "algebra.h"
#include "verify_wrong.h"

#include <stdlib.h>

#define EXACT_COUNT 9007199254740992.0	/* 2^53 */
#define COUNT_TOLERANCE 1e-9

/* A search over tight edges. */
typedef struct Search
{
	const EmogiGraph *graph;
	bool		widest;
	double		bound;			/* distances beyond it count as not reached */
	const double *value;		/* [nvertices] */
	bool	   *explained;		/* [nvertices] */
	uint32_t   *queue;			/* [nvertices] */
	uint64_t	tail;
} Search;

/* Say whether a is better than b. */
static bool
is_better(const Search *search, double a, double b)
{
	return search->widest ? emogi_sswp_better(a, b) : emogi_sssp_better(a, b);
}

/* Put a vertex into the queue unless it was there. */
static void
explain(Search *search, uint32_t v)
{
	if (!search->explained[v])
		search->queue[search->tail++] = v;
	search->explained[v] = true;
}

/* Check the edges of a vertex that is reached; explains the ends of tight ones. */
static bool
check_edges(Search *search, uint32_t u, EmogiError *error)
{
	const EmogiAdjacency *forward = &search->graph->forward;

	for (uint64_t i = forward->offsets[u]; i < forward->offsets[u + 1]; i++)
	{
		double		weight = emogi_weight(forward->weights, search->graph->weight_type, i);
		double		offer = search->widest ? emogi_sswp_candidate(search->value[u], weight) :
			emogi_sssp_candidate(search->value[u], weight);
		uint32_t	v = forward->targets[i];

		if (!search->widest && !(offer <= search->bound))
			continue;
		if (is_better(search, offer, search->value[v]))
			return emogi_wrong(error, "edge %u -> %u of weight %.17g makes %.17g of %.17g, better than %.17g", u, v,
							   weight, offer, search->value[u], search->value[v]);
		if (offer == search->value[v] && weight != (double) INFINITY)
			explain(search, v);
	}
	return true;
}

/* Search from the sources and see that all is reached that has a value. */
static bool
check_paths(Search *search, const EmogiQuery *query, const EmogiResult *result, EmogiError *error)
{
	double		none = search->widest ? -1.0 : (double) INFINITY;
	double		at_source = search->widest ? (double) INFINITY : 0.0;
	uint64_t	nreached = 0;

	for (uint64_t i = 0; i < query->nsources && at_source <= search->bound; i++)
	{
		uint32_t	source = query->sources[i];

		if (search->value[source] != at_source)
			return emogi_wrong(error, "source %u has %.17g", source, search->value[source]);
		explain(search, source);
	}
	for (uint64_t head = 0; head < search->tail; head++)
	{
		if (!check_edges(search, search->queue[head], error))
			return false;
	}
	for (uint64_t v = 0; v < search->graph->nvertices; v++)
	{
		bool		reached = search->value[v] != none;

		if (reached && !search->explained[v])
			return emogi_wrong(error, "vertex %llu has %.17g, which no path has", (unsigned long long) v,
							   search->value[v]);
		nreached += reached;
	}
	if (nreached != result->nreached)
		return emogi_wrong(error, "%llu vertices have values but nreached is %llu", (unsigned long long) nreached,
						   (unsigned long long) result->nreached);
	return true;
}

bool
emogi_verify_path(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result, EmogiError *error)
{
	Search		search = {.graph = graph, .widest = query->algorithm == EMOGI_SSWP, .value = result->distance};
	bool		right;

	search.bound = search.widest ? (double) INFINITY : query->max_distance;
	search.explained = calloc(graph->nvertices + 1, sizeof(bool));
	search.queue = malloc((graph->nvertices + 1) * sizeof(uint32_t));
	if (search.explained == NULL || search.queue == NULL)
		right = emogi_wrong(error, "no memory to verify");
	else
		right = check_paths(&search, query, result, error);
	free(search.explained);
	free(search.queue);
	return right;
}

/* Push the counts of all vertices in the order of levels; the sources stand in the queue. */
static void
push_counts(const EmogiGraph *graph, const int32_t *level, double *count, uint32_t *queue, uint64_t tail)
{
	const EmogiAdjacency *forward = &graph->forward;

	for (uint64_t head = 0; head < tail; head++)
	{
		uint32_t	u = queue[head];

		for (uint64_t i = forward->offsets[u]; i < forward->offsets[u + 1]; i++)
		{
			uint32_t	v = forward->targets[i];

			if (level[v] != level[u] + 1)
				continue;
			if (count[v] == 0.0)
				queue[tail++] = v;
			count[v] += count[u];
		}
	}
}

/* Compare the counts. */
static bool
compare_counts(uint64_t nvertices, const double *expected, const double *paths, EmogiError *error)
{
	for (uint64_t v = 0; v < nvertices; v++)
	{
		double		allowed = expected[v] <= EXACT_COUNT ? 0.0 : expected[v] * COUNT_TOLERANCE;

		if (paths[v] != expected[v] && !(fabs(paths[v] - expected[v]) <= allowed))
			return emogi_wrong(error, "vertex %llu has %.17g paths instead of %.17g", (unsigned long long) v, paths[v],
							   expected[v]);
	}
	return true;
}

bool
emogi_verify_ssnsp(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result, EmogiError *error)
{
	EmogiQuery	levels = *query;
	double	   *count = calloc(graph->nvertices + 1, sizeof(double));
	uint32_t   *queue = malloc((graph->nvertices + 1) * sizeof(uint32_t));
	uint64_t	tail = 0;
	bool		right;

	levels.max_depth = -1;
	if (count == NULL || queue == NULL)
		right = emogi_wrong(error, "no memory to verify");
	else
		right = emogi_verify_bfs(graph, &levels, result, error);
	if (right)
	{
		for (uint64_t v = 0; v < graph->nvertices; v++)
		{
			if (result->level[v] == 0)
			{
				count[v] = 1.0;
				queue[tail++] = (uint32_t) v;
			}
		}
		push_counts(graph, result->level, count, queue, tail);
		right = compare_counts(graph->nvertices, count, result->paths, error);
	}
	free(count);
	free(queue);
	return right;
}
