/*
 * closeness.c: closeness centrality on the CPU.
 *
 * Fills reached[nvertices], farness, closeness and harmonic as the table of algorithms says. The
 * exact computation searches from every vertex. With samples, it searches backward from the
 * samples, which yields the hops from every vertex to each sample [2].
 *
 * 64 searches share one pass over the adjacency lists (msbfs.h) [1]: the vertices that a source
 * enters are counted level by level, or, with samples, the sources that enter a vertex. Nearby
 * sources share more, so the sources of a search are a ball of vertices around one of them where
 * possible. Sums of 1 / hops are made in ascending order of hops: they do not depend on the threads
 * or on the other sources of the same search.
 *
 * Samples are scattered. If few vertices are reached in few hops, as in road networks, their
 * searches seldom overlap and share next to nothing; then each thread runs searches of its own
 * (closeness_per_thread.c). The first hops from the first 64 samples decide.
 *
 * [1] M. Then et al. The More the Merrier: Efficient Multi-Source Graph Traversal. PVLDB 8(4),
 *     2014. Sections 3, 4.2.
 * [2] D. Eppstein, J. Wang. Fast Approximation of Centrality. J. Graph Algorithms and Applications
 *     8(1), 2004. Section 4.
 */
#include "cpu_algorithms.h"
#include "closeness.h"

#include "contract/closeness_formula.h"
#include "contract/sample.h"

#include <math.h>
#include <string.h>

_Static_assert(EMOGI_CLOSENESS_BATCH == EMOGI_MSBFS_SOURCES,
			   "searches are made together as msbfs.h does");

typedef struct Closeness
{
	EmogiCpuRun run;
	const EmogiGraph *graph;
	uint32_t   *sources;		/* [nsources], in the order of the searches */
	uint64_t	nsources;
	EmogiMsbfsResult *search;
} Closeness;

/* ---- grouping of sources ---- */

/*
 * Balls of vertices around seeds, disjoint, each in the order in which a search finds its vertices.
 */
typedef struct Neighborhoods
{
	const EmogiAdjacency *lists;
	uint8_t    *taken;			/* [nvertices] */
	uint32_t   *order;			/* [nvertices], ball by ball */
	uint64_t	count;			/* length of order */
} Neighborhoods;

/* Grow the last ball, which begins at order[from], until there are `end` vertices in all. */
static void
grow_neighborhood(Neighborhoods *balls, uint64_t from, uint64_t end)
{
	for (uint64_t i = from; i < balls->count && balls->count < end; i++)
	{
		const uint64_t *offsets = balls->lists->offsets + balls->order[i];

		for (uint64_t e = offsets[0]; e < offsets[1] && balls->count < end; e++)
		{
			const uint32_t w = balls->lists->targets[e];

			if (balls->taken[w])
				continue;
			balls->taken[w] = 1;
			balls->order[balls->count++] = w;
		}
	}
}

/*
 * Order all vertices such that the sources of a search are near each other; false if the job has
 * stopped.
 */
static bool
order_sources(Closeness *closeness)
{
	const uint64_t n = closeness->graph->nvertices;
	Neighborhoods		balls = {.lists = &closeness->graph->forward, .order = closeness->sources};

	balls.taken = emogi_cpu_run_scratch(&closeness->run, n, 1);
	if (balls.taken == NULL)
		return false;
	for (uint64_t v = 0; v < n; v++)
	{
		uint64_t	end = (balls.count / EMOGI_MSBFS_SOURCES + 1) * EMOGI_MSBFS_SOURCES;

		if (v % EMOGI_MSBFS_SOURCES == 0 && emogi_job_stopped(&closeness->run.job))
			return false;
		if (balls.taken[v])
			continue;
		balls.taken[v] = 1;
		balls.order[balls.count++] = (uint32_t) v;
		grow_neighborhood(&balls, balls.count - 1, end < n ? end : n);
	}
	return true;
}

/* ---- searches ---- */

/*
 * Search from the next sources, up to max_depth hops; returns their number, 0 if the job has
 * stopped.
 */
static int
search_from(Closeness *closeness, const EmogiGraph *graph, uint64_t first, int64_t max_depth)
{
	return emogi_msbfs_run_next(&closeness->run, graph, closeness->sources, closeness->nsources,
								first, max_depth, closeness->search);
}

/* Write the results of a vertex from its hops to `others` other vertices of n. */
static void
write_vertex(const EmogiArray *columns, uint64_t v, double n, double others, double sum,
			 double harmonic)
{
	columns[0].int64[v] = 1 + (int64_t) llround(others);
	columns[1].float64[v] = sum;
	columns[2].float64[v] = emogi_closeness_of(n, others, sum);
	columns[3].float64[v] = harmonic;
}

/* Search from every vertex. */
static void
search_from_all(Closeness *closeness)
{
	const double n = (double) closeness->graph->nvertices;

	closeness->search->wants_sums = true;
	closeness->search->last_level = UINT32_MAX;
	for (uint64_t first = 0; first < closeness->nsources; first += EMOGI_MSBFS_SOURCES)
	{
		const int	count = search_from(closeness, closeness->graph, first, -1);

		if (count == 0)
			return;
		for (int s = 0; s < count; s++)
		{
			const EmogiMsbfsSums *sums = &closeness->search->sums[s];

			write_vertex(closeness->run.result->columns, closeness->sources[first + (uint64_t) s],
						 n, (double) (sums->count - 1), (double) sums->sum, sums->harmonic);
		}
	}
}

/* Scale the sums over the samples that are other vertices to estimates over all other vertices. */
static void
estimate(const Closeness *closeness)
{
	const EmogiArray *columns = closeness->run.result->columns;
	const double n = (double) closeness->graph->nvertices;
	uint64_t	next = 0;

	for (uint64_t v = 0; v < closeness->graph->nvertices; v++)
	{
		const bool	is_sample = next < closeness->nsources && closeness->sources[next] == v;
		const double nothers = (double) closeness->nsources - is_sample;
		const double scale = nothers > 0.0 ? (n - 1.0) / nothers : 0.0;

		next += is_sample;
		write_vertex(columns, v, n, (double) (columns[0].int64[v] - is_sample) * scale,
					 columns[1].float64[v] * scale, columns[3].float64[v] * scale);
	}
}

/* Zero the totals. */
static void
clear_totals(const EmogiMsbfsTotals *totals, uint64_t n)
{
	memset(totals->count, 0, n * sizeof *totals->count);
	memset(totals->sum, 0, n * sizeof *totals->sum);
	memset(totals->harmonic, 0, n * sizeof *totals->harmonic);
}

/*
 * Run the first search for a few hops. If it was exhaustive, returns its number of samples;
 * otherwise 0, and *apart says whether the samples share too little.
 */
static int
probe(Closeness *closeness, const EmogiGraph *against, bool *per_thread)
{
	const EmogiMsbfsResult *search = closeness->search;
	const int	count = search_from(closeness, against, 0, EMOGI_CLOSENESS_FEW_HOPS);
	uint64_t	nreached = 0;

	if (count == 0 || search->nlevels <= EMOGI_CLOSENESS_FEW_HOPS)
		return count;
	for (int s = 0; s < count; s++)
		nreached += search->nreached[s];
	*per_thread = emogi_closeness_is_per_thread(closeness->graph->nvertices, (uint64_t) count,
												nreached);
	clear_totals(search->totals, closeness->graph->nvertices);
	closeness->run.result->edges_traversed = 0;
	return 0;
}

/* Search backward from the samples. */
static void
search_from_samples(Closeness *closeness)
{
	const EmogiArray *columns = closeness->run.result->columns;
	const EmogiMsbfsTotals totals = {columns[0].int64, columns[1].float64, columns[3].float64};
	const uint64_t n = closeness->graph->nvertices;
	EmogiGraph	against = *closeness->graph;
	uint64_t	first;
	bool		per_thread = false;

	against.forward = closeness->graph->backward;
	against.backward = closeness->graph->forward;
	clear_totals(&totals, n);
	closeness->search->totals = &totals;
	closeness->search->wants_sums = true;
	first = (uint64_t) probe(closeness, &against, &per_thread);
	if (per_thread)
		emogi_closeness_per_thread(&closeness->run, &against, closeness->sources,
								   closeness->nsources, &totals);
	for (; !per_thread && first < closeness->nsources && !emogi_job_stopped(&closeness->run.job);
		 first += EMOGI_MSBFS_SOURCES)
		search_from(closeness, &against, first, -1);
	if (!emogi_job_stopped(&closeness->run.job))
		estimate(closeness);
}

/*
 * Allocate the memory for the sources and for the searches, which reuse it; false if out of memory.
 */
static bool
open_closeness(Closeness *closeness)
{
	EmogiCpuRun *run = &closeness->run;
	const uint64_t bytes = emogi_msbfs_scratch_bytes(closeness->graph->nvertices, 0);

	closeness->sources = emogi_cpu_run_scratch(run, closeness->nsources,
											   sizeof *closeness->sources);
	closeness->search = closeness->sources == NULL ? NULL
		: emogi_cpu_run_scratch(run, 1, sizeof *closeness->search);
	if (closeness->search != NULL)
		closeness->search->scratch = emogi_cpu_run_scratch(run, bytes, 1);
	return !emogi_job_stopped(&run->job);
}

EmogiStatus
emogi_cpu_closeness(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
					EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Closeness	closeness = {.graph = graph,
		.nsources = emogi_sample_count(graph->nvertices, query)};
	const bool	partial = emogi_sample_is_partial(graph->nvertices, query);

	emogi_cpu_run_begin(&closeness.run, pool, graph, closeness.nsources, result, control, error,
						"closeness");
	if (graph->nvertices > 0 && open_closeness(&closeness))
	{
		if (partial)
		{
			emogi_sample_choose(graph->nvertices, closeness.nsources, query->seed,
								closeness.sources);
			search_from_samples(&closeness);
		}
		else if (order_sources(&closeness))
			search_from_all(&closeness);
		result->nreached = graph->nvertices;
	}
	return emogi_cpu_run_end(&closeness.run);
}
