/*
 * closeness.c: verify closeness centrality and sums of BFS levels.
 *
 * Closeness is recomputed by a plain search from each vertex or, for estimates, by a search against
 * the edges from each sample. If this visits too many edges, only an evenly spaced subset of the
 * vertices is verified in this way. All other rows are checked along each edge u -> v: u reaches
 * every vertex that v reaches, and if it reaches no others, by at most one more hop. The columns of
 * every row must be consistent. Sums of levels from given sources are verified in the same way: a
 * subset by searches, all others for consistency.
 */
#include "check.h"

#include "contract/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_EDGES_VISITED 4e9	/* by all searches together */
#define ROUNDING 1e-9			/* relative */

/* A sequential BFS. */
typedef struct Search
{
	int32_t    *level;			/* [nvertices], -1 between searches */
	uint32_t   *queue;			/* [nvertices] */
	uint64_t	count;
} Search;

/* State of the check. */
typedef struct Closeness
{
	EmogiCheck *check;
	const EmogiAdjacency *lists;	/* adjacency lists that the searches follow */
	uint64_t	step;			/* every step-th vertex is the source of a search */
	uint32_t   *samples;		/* [nsamples] */
	uint64_t	nsamples;
	double	   *sums;			/* [nvertices][3]: count, sum of hops and sum of 1 / hops over the
								 * samples other than the vertex */
} Closeness;

/* Check whether two values are equal except for rounding. */
static inline bool
is_same(double a, double b)
{
	return fabs(a - b) <= ROUNDING * (fabs(a) + fabs(b));
}

/* Allocate the memory of a search; NULL if out of memory. */
static Search *
make_search(uint64_t n)
{
	Search	   *search = calloc(1, sizeof *search);

	if (search == NULL)
		return NULL;
	search->level = malloc((n + 1) * sizeof(int32_t));
	search->queue = malloc((n + 1) * sizeof(uint32_t));
	if (search->level != NULL)
		memset(search->level, 0xFF, (n + 1) * sizeof(int32_t));
	return search;
}

/* Free a search. */
static void
free_search(Search *search)
{
	if (search != NULL)
	{
		free(search->level);
		free(search->queue);
	}
	free(search);
}

/* Search from a vertex; the queue then has the vertices it reaches. */
static void
search_from(Search *search, const EmogiAdjacency *lists, uint32_t source)
{
	search->queue[0] = source;
	search->count = 1;
	search->level[source] = 0;
	for (uint64_t i = 0; i < search->count; i++)
	{
		const uint32_t u = search->queue[i];

		for (uint64_t e = lists->offsets[u]; e < lists->offsets[u + 1]; e++)
		{
			const uint32_t w = lists->targets[e];

			if (search->level[w] >= 0)
				continue;
			search->level[w] = search->level[u] + 1;
			search->queue[search->count++] = w;
		}
	}
}

/* Reset the levels of a search. */
static void
clear_levels(Search *search)
{
	for (uint64_t i = 0; i < search->count; i++)
		search->level[search->queue[i]] = -1;
}

/*
 * Check a row against the result of a search: how many of the other n - 1 vertices are reached, the
 * sum of hops to them, and the sum of 1 / hops.
 */
static void
check_row(EmogiCheck *check, uint64_t v, double others, double sum, double harmonic)
{
	const EmogiArray *columns = check->result->columns;
	const double n = (double) check->graph->nvertices;
	const double closeness = others > 0.0 ? others / sum * (others / (n - 1.0)) : 0.0;

	if (fabs((double) columns[0].int64[v] - 1.0 - others) > 0.5 + ROUNDING * others)
		emogi_check_wrong(check, "vertex %llu reaches %.17g, not %lld", (unsigned long long) v,
						  1.0 + others, (long long) columns[0].int64[v]);
	if (!is_same(columns[1].float64[v], sum))
		emogi_check_wrong(check, "vertex %llu has farness %.17g, not %.17g", (unsigned long long) v,
						  sum, columns[1].float64[v]);
	if (!is_same(columns[2].float64[v], closeness))
		emogi_check_wrong(check, "vertex %llu has closeness %.17g, not %.17g",
						  (unsigned long long) v, closeness, columns[2].float64[v]);
	if (!is_same(columns[3].float64[v], harmonic))
		emogi_check_wrong(check, "vertex %llu has harmonic closeness %.17g, not %.17g",
						  (unsigned long long) v, harmonic,
						  columns[3].float64[v]);
}

/* Search from a range of vertices, and check their rows. */
static void
check_searches(void *arg, uint64_t first, uint64_t end)
{
	Closeness  *closeness = arg;
	EmogiCheck *check = closeness->check;
	Search	   *search = make_search(check->graph->nvertices);

	if (search == NULL || search->level == NULL || search->queue == NULL)
		emogi_check_wrong(check, "no memory to verify");
	for (uint64_t i = first; i < end && emogi_check_ok(check); i++)
	{
		double		harmonic = 0.0;
		uint64_t	sum = 0;

		search_from(search, closeness->lists, (uint32_t) (i * closeness->step));
		for (uint64_t j = 1; j < search->count; j++)
		{
			sum += (uint64_t) search->level[search->queue[j]];
			harmonic += 1.0 / search->level[search->queue[j]];
		}
		clear_levels(search);
		check_row(check, i * closeness->step, (double) (search->count - 1), (double) sum, harmonic);
	}
	free_search(search);
}

/* Check the consistency of rows, and the bounds along the edges that leave their vertices. */
static void
check_bounds(void *arg, uint64_t first, uint64_t end)
{
	EmogiCheck *check = arg;
	const EmogiAdjacency *lists = &check->graph->forward;
	const int64_t *reached = check->result->columns[0].int64;
	const double *farness = check->result->columns[1].float64;
	const double *harmonic = check->result->columns[3].float64;

	for (uint64_t v = first; v < end; v++)
	{
		const double others = (double) (reached[v] - 1);

		if (reached[v] < 1 || reached[v] > (int64_t) check->graph->nvertices ||
			!(farness[v] >= others) || farness[v] != floor(farness[v]) ||
			!(harmonic[v] <= others * (1.0 + ROUNDING)) ||
			!(harmonic[v] * farness[v] >= others * others * (1.0 - ROUNDING)))
			emogi_check_wrong(check,
							  "vertex %llu reaches %lld with farness %.17g and harmonic "
							  "closeness %.17g", (unsigned long long) v,
							  (long long) reached[v], farness[v], harmonic[v]);
		check_row(check, v, others, farness[v], harmonic[v]);
		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
		{
			const uint32_t w = lists->targets[e];

			if (reached[v] < reached[w] ||
				(reached[v] == reached[w] && farness[v] > farness[w] + (double) reached[w]))
				emogi_check_wrong(check,
								  "vertex %llu with %lld and %.17g has an edge to vertex %u with "
								  "%lld and %.17g", (unsigned long long) v,
								  (long long) reached[v], farness[v], w, (long long) reached[w],
								  farness[w]);
		}
	}
}

/* Check exact rows. */
static bool
check_exact(Closeness *closeness)
{
	EmogiCheck *check = closeness->check;
	const uint64_t n = check->graph->nvertices;
	const double nsearches = MAX_EDGES_VISITED / ((double) n +
												  (double) check->graph->forward.nedges);

	closeness->lists = &check->graph->forward;
	closeness->step = nsearches >= (double) n ? 1 : (uint64_t) ((double) n / nsearches) + 1;
	return emogi_check_parts(check, check_bounds, check, n) &&
		emogi_check_parts(check, check_searches, closeness, (n - 1) / closeness->step + 1);
}

/* Add the distances of the samples to the sums of the vertices that reach them. */
static void
add_samples(Closeness *closeness, Search *search)
{
	EmogiCheck *check = closeness->check;

	emogi_sample_choose(check->graph->nvertices, closeness->nsamples, check->query->seed,
						closeness->samples);
	for (uint64_t s = 0; s < closeness->nsamples; s++)
	{
		search_from(search, &check->graph->backward, closeness->samples[s]);
		for (uint64_t i = 1; i < search->count; i++)
		{
			double	   *sums = closeness->sums + 3 * (uint64_t) search->queue[i];
			const double level = search->level[search->queue[i]];

			sums[0] += 1.0;
			sums[1] += level;
			sums[2] += 1.0 / level;
		}
		clear_levels(search);
	}
}

/* Check estimates. */
static bool
check_estimates(Closeness *closeness)
{
	EmogiCheck *check = closeness->check;
	const uint64_t n = check->graph->nvertices;
	Search	   *search = make_search(n);
	uint64_t	next = 0;

	closeness->samples = calloc(closeness->nsamples, sizeof(uint32_t));
	closeness->sums = calloc(3 * n, sizeof(double));
	if (search == NULL || search->level == NULL || search->queue == NULL ||
		closeness->samples == NULL || closeness->sums == NULL)
		emogi_check_wrong(check, "no memory to verify");
	else
		add_samples(closeness, search);
	for (uint64_t v = 0; v < n && emogi_check_ok(check); v++)
	{
		const bool	is_sample = next < closeness->nsamples && closeness->samples[next] == v;
		const double nothers = (double) (closeness->nsamples - is_sample);
		const double scale = nothers > 0.0 ? ((double) n - 1.0) / nothers : 0.0;
		const double *sums = closeness->sums + 3 * v;

		next += is_sample;
		check_row(check, v, sums[0] * scale, sums[1] * scale, sums[2] * scale);
	}
	free(closeness->samples);
	free(closeness->sums);
	free_search(search);
	return emogi_check_ok(check);
}

bool
emogi_verify_closeness(EmogiCheck *check)
{
	const uint64_t n = check->graph->nvertices;
	Closeness	closeness = {.check = check, .nsamples = emogi_sample_count(n, check->query)};

	if (n == 0)
		return true;
	return emogi_sample_is_partial(n, check->query) ? check_estimates(&closeness)
		: check_exact(&closeness);
}

/* ---- sums of levels ---- */

/* Sums of levels of one source. */
typedef struct Sums
{
	int64_t		count;
	int64_t		sum;
	int32_t		min_level;
	int32_t		max_level;
	double		harmonic;
} Sums;

/* Compute the sums over those levels of a search that the query includes. */
static Sums
add_up(const Search *search, const EmogiQuery *query)
{
	Sums		sums = {0};
	uint64_t	end;

	for (uint64_t i = 0; i < search->count; i = end)
	{
		const int32_t level = search->level[search->queue[i]];

		for (end = i; end < search->count && search->level[search->queue[end]] == level;)
			end++;
		if ((uint32_t) level < query->first_level ||
			(query->max_depth >= 0 && level > query->max_depth))
			continue;
		sums.min_level = sums.count == 0 ? level : sums.min_level;
		sums.max_level = level;
		sums.count += (int64_t) (end - i);
		sums.sum += (int64_t) (end - i) * level;
		sums.harmonic += level > 0 ? (double) (end - i) / level : 0.0;
	}
	return sums;
}

/* Read the sums of one source from the result. */
static Sums
read_sums(const EmogiCheck *check, uint64_t i)
{
	const EmogiArray *columns = check->result->columns;

	return (Sums) {columns[0].int64[i], columns[1].int64[i], columns[2].int32[i],
		columns[3].int32[i], columns[4].float64[i]};
}

/* Search from a range of sources, and compare their rows bit for bit. */
static void
check_sources(void *arg, uint64_t first, uint64_t end)
{
	const Closeness *closeness = arg;
	EmogiCheck *check = closeness->check;
	Search	   *search = make_search(check->graph->nvertices);

	if (search == NULL || search->level == NULL || search->queue == NULL)
		emogi_check_wrong(check, "no memory to verify");
	for (uint64_t i = first; i < end && emogi_check_ok(check); i++)
	{
		const uint32_t source = check->query->sources[i * closeness->step];
		const Sums	found = read_sums(check, i * closeness->step);
		Sums		sums;

		search_from(search, closeness->lists, source);
		sums = add_up(search, check->query);
		clear_levels(search);
		if (found.count != sums.count || found.sum != sums.sum ||
			found.min_level != sums.min_level || found.max_level != sums.max_level ||
			found.harmonic != sums.harmonic)
			emogi_check_wrong(check,
							  "vertex %u reaches %lld with levels %d to %d that sum to %lld and "
							  "%.17g, not %lld, %d to %d, %lld and %.17g", source,
							  (long long) sums.count, sums.min_level, sums.max_level,
							  (long long) sums.sum, sums.harmonic, (long long) found.count,
							  found.min_level,
							  found.max_level, (long long) found.sum, found.harmonic);
	}
	free_search(search);
}

/* Check that the columns of each row are consistent. */
static void
check_fit(void *arg, uint64_t first, uint64_t end)
{
	EmogiCheck *check = arg;

	for (uint64_t i = first; i < end; i++)
	{
		const Sums	sums = read_sums(check, i);

		if (sums.count < 0 || sums.count > (int64_t) check->graph->nvertices ||
			sums.min_level < 0 || sums.max_level < sums.min_level ||
			sums.sum < sums.count * sums.min_level || sums.sum > sums.count * sums.max_level ||
			!(sums.harmonic >= 0.0) ||
			!(sums.harmonic <= (double) sums.count))
			emogi_check_wrong(check,
							  "vertex %u has %lld levels, %d to %d, that sum to %lld and %.17g",
							  check->query->sources[i], (long long) sums.count,
							  sums.min_level, sums.max_level, (long long) sums.sum, sums.harmonic);
	}
}

bool
emogi_verify_bfs_sums(EmogiCheck *check)
{
	const uint64_t nsources = check->query->nsources;
	const double nsearches = MAX_EDGES_VISITED / ((double) check->graph->nvertices +
												  (double) check->graph->forward.nedges + 1.0);
	Closeness	closeness = {.check = check, .lists = &check->graph->forward};

	if (nsources == 0)
		return true;
	closeness.step = nsearches >= (double) nsources ? 1
		: (uint64_t) ((double) nsources / nsearches) + 1;
	return emogi_check_parts(check, check_fit, check, nsources) &&
		emogi_check_parts(check, check_sources, &closeness, (nsources - 1) / closeness.step + 1);
}
