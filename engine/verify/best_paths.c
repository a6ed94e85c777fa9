/*
 * best_paths.c: verify best paths and numbers of shortest paths.
 *
 * The path semiring (algorithms.h) [1]: the sources have the value of the empty path; no edge
 * offers its target a better value than the target has; and every reached vertex is reached from a
 * source over tight edges, whose offer equals the value of their target. Each value is therefore
 * that of a path, and no path has a better one. A tight edge into every vertex would not suffice,
 * because a cycle of edges that do not change the value would justify itself.
 *
 * SSNSP: the levels are correct, and the counts equal those pushed from level to level, exactly up
 * to 2^53, where the order of the additions does not matter.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson. The GAP Benchmark Suite. arXiv:1508.03619, 2015.
 *     Section 4 (verification).
 */
#include "check.h"

#include "contract/semirings.h"

#include <stdlib.h>

#define EXACT_COUNT 9007199254740992.0	/* 2^53 */
#define COUNT_TOLERANCE 1e-9

/* A search over tight edges. */
typedef struct Search
{
	EmogiCheck *check;
	EmogiAlgorithm algorithm;
	double		none;			/* value of a vertex that is not reached */
	double		bound;			/* sums beyond the bound count as not reached; +inf for other
								 * values */
	const double *value;		/* [nvertices] */
	uint64_t   *explained;		/* bits: sources, and vertices reached over tight edges */
	uint64_t	nreached;		/* atomic */
	EmogiCheckQueue queue;
} Search;

/* Check the edges of a reached vertex, and mark the targets of tight edges. */
static void
check_edges(void *arg, EmogiCheckQueueBuffer *found, uint32_t u)
{
	Search	   *search = arg;
	const EmogiGraph *graph = search->check->graph;
	const EmogiAdjacency *forward = &graph->forward;

	for (uint64_t i = forward->offsets[u]; i < forward->offsets[u + 1]; i++)
	{
		double		weight = emogi_weight(forward->weights, graph->weight_type, i);
		double		offer = emogi_path_candidate(search->algorithm, search->value[u], weight);
		uint32_t	v = forward->targets[i];

		if (!(offer <= search->bound) || !emogi_path_better(search->algorithm, offer, search->none))
			continue;
		if (emogi_path_better(search->algorithm, offer, search->value[v]))
		{
			emogi_check_wrong(search->check,
							  "edge %u -> %u of weight %.17g makes %.17g of %.17g, better than "
							  "%.17g", u, v,
							  weight, offer, search->value[u], search->value[v]);
			return;
		}
		if (offer == search->value[v] && weight != (double) INFINITY &&
			emogi_add_bit(search->explained, v))
			emogi_check_queue_buffer_add(found, v);
	}
}

/* Check the sources, and start the search from them. */
static bool
check_sources(Search *search)
{
	const EmogiQuery *query = search->check->query;
	const double at_source = emogi_path_source(search->algorithm);

	for (uint64_t i = 0; i < query->nsources && at_source <= search->bound; i++)
	{
		uint32_t	source = query->sources[i];

		if (search->value[source] != at_source)
			return emogi_check_wrong(search->check, "source %u has %.17g", source,
									 search->value[source]);
		if (emogi_add_bit(search->explained, source))
			search->queue.items[search->queue.tail++] = source;
	}
	return true;
}

/* Check that every vertex with a value was reached, and count these vertices. */
static void
check_explained(void *arg, uint64_t first, uint64_t end)
{
	Search	   *search = arg;
	uint64_t	nreached = 0;

	for (uint64_t v = first; v < end; v++)
	{
		bool		reached = search->value[v] != search->none;

		if (reached && !emogi_has_bit(search->explained, v))
			emogi_check_wrong(search->check, "vertex %llu has %.17g, which no path has",
							  (unsigned long long) v,
							  search->value[v]);
		nreached += reached;
	}
	emogi_add_count(&search->nreached, nreached);
}

/* Search from the sources, and check that the search reaches every vertex with a value. */
static bool
check_paths(Search *search)
{
	EmogiCheck *check = search->check;

	if (!check_sources(search) || !emogi_check_search(&search->queue) ||
		!emogi_check_parts(check, check_explained, search, check->graph->nvertices))
		return false;
	if (search->nreached != check->result->nreached)
		return emogi_check_wrong(check, "%llu vertices have values but nreached is %llu",
								 (unsigned long long) search->nreached,
								 (unsigned long long) check->result->nreached);
	return true;
}

bool
emogi_verify_path(EmogiCheck *check)
{
	const uint64_t n = check->graph->nvertices;
	const EmogiAlgorithm algorithm = check->query->algorithm;
	Search		search = {.check = check, .algorithm = algorithm,
		.none = emogi_path_none(algorithm)};
	bool		right;

	search.value = check->result->columns[0].float64;
	search.bound = emogi_path_is_additive(algorithm) ? check->query->max_distance :
		(double) INFINITY;
	search.explained = emogi_check_bits(n);
	if (!emogi_check_queue_init(&search.queue, check, check_edges, &search) ||
		search.explained == NULL)
		right = emogi_check_wrong(check, "no memory to verify");
	else
		right = check_paths(&search);
	free(search.explained);
	emogi_check_queue_free(&search.queue);
	return right;
}

/* State of counting shortest paths. */
typedef struct Count
{
	EmogiCheck *check;
	double	   *count;			/* [nvertices], atomic */
	EmogiCheckQueue queue;		/* each round is a level: a vertex is found from the level before
								 * its own */
} Count;

/* Add the count of a vertex to those of its neighbors in the next level. */
static void
push_count(void *arg, EmogiCheckQueueBuffer *found, uint32_t u)
{
	Count	   *count = arg;
	const EmogiAdjacency *forward = &count->check->graph->forward;
	const int32_t *level = count->check->result->columns[0].int32;
	double		own = count->count[u];

	for (uint64_t i = forward->offsets[u]; i < forward->offsets[u + 1]; i++)
	{
		uint32_t	v = forward->targets[i];

		if (level[v] == level[u] + 1 && emogi_add_double(&count->count[v], own) == 0.0)
			emogi_check_queue_buffer_add(found, v);
	}
}

/* Set the count of each source to 1. */
static void
count_sources(Count *count)
{
	const EmogiQuery *query = count->check->query;

	for (uint64_t i = 0; i < query->nsources; i++)
	{
		if (count->count[query->sources[i]] == 0.0)
			count->queue.items[count->queue.tail++] = query->sources[i];
		count->count[query->sources[i]] = 1.0;
	}
}

/* Compare the counts with the result. */
static void
compare_counts(void *arg, uint64_t first, uint64_t end)
{
	Count	   *count = arg;
	const double *paths = count->check->result->columns[1].float64;

	for (uint64_t v = first; v < end; v++)
	{
		double		expected = count->count[v];
		double		allowed = expected <= EXACT_COUNT ? 0.0 : expected * COUNT_TOLERANCE;

		if (paths[v] != expected && !(fabs(paths[v] - expected) <= allowed))
			emogi_check_wrong(count->check, "vertex %llu has %.17g paths instead of %.17g",
							  (unsigned long long) v,
							  paths[v], expected);
	}
}

/* If the levels are correct, the sources are exactly the vertices of level 0. */
bool
emogi_verify_ssnsp(EmogiCheck *check)
{
	const uint64_t n = check->graph->nvertices;
	Count		count = {.check = check, .count = calloc(n + 1, sizeof(double))};
	bool		right;

	if (!emogi_check_queue_init(&count.queue, check, push_count, &count) || count.count == NULL)
		right = emogi_check_wrong(check, "no memory to verify");
	else
		right = emogi_verify_bfs(check);
	if (right)
	{
		count_sources(&count);
		right = emogi_check_search(&count.queue) &&
			emogi_check_parts(check, compare_counts, &count, n);
	}
	free(count.count);
	emogi_check_queue_free(&count.queue);
	return right;
}
