/*
 * betweenness.c: betweenness centrality on the CPU.
 *
 * Fills centrality[nvertices] as the table of algorithms says, for the simple graph: parallel edges
 * and loops are skipped.
 *
 * Brandes [1]: for each source, count the shortest paths level by level away from it, then, on the
 * way back, compute how much the source depends on each vertex. Both pull from the adjacent level
 * in list order, so that no two threads add to the same number and the bits do not depend on the
 * threads. Dependencies are added up source by source, in the order of the sources.
 *
 * Large graphs with few levels are searched by all threads together, others with one search per
 * thread (betweenness_per_thread.c), which avoids a barrier at every level. The first search
 * determines the number of levels.
 *
 * With samples, the sums are over the samples as sources [2]; for a vertex that is a sample itself,
 * over the others.
 *
 * [1] U. Brandes. A Faster Algorithm for Betweenness Centrality. Journal of Mathematical Sociology
 *     25(2), 2001.
 * [2] U. Brandes, C. Pich. Centrality Estimation in Large Networks. International Journal of
 *     Bifurcation and Chaos 17(7), 2007.
 */
#include "cpu_algorithms.h"
#include "betweenness.h"
#include "bfs.h"

#include "contract/sample.h"

#include <string.h>

/* Tuned. */
#define TOGETHER_VERTICES ((uint64_t) 1 << 17)	/* smaller graphs use one search per thread */
#define TOGETHER_LEVELS 64		/* as do graphs with more levels */
#define NOT_REACHED 255			/* a level in 8 bits */
#define VERTEX_CHUNK 1024
#define WRITE_CHUNK 16384

/* A search by all threads together. */
typedef struct SharedSearch
{
	EmogiBetweenness *all;
	EmogiResult levels;			/* of breadth-first search */
	uint8_t    *level;			/* [nvertices + 8], or NOT_REACHED */
	double	   *paths;			/* [nvertices], number of paths to each vertex; once finished, (1
								 * + dependency) / paths */
	int32_t		depth;			/* the current level */
	uint32_t	has_many;		/* atomic: some path count exceeds EMOGI_BETWEENNESS_MANY */
	uint64_t	nscanned;		/* atomic: edges */
} SharedSearch;

/* Narrow the levels to 8 bits, and set path counts to 1, which is right for levels 0 and 1. */
static void
narrow_levels(void *arg, int thread, int nthreads)
{
	SharedSearch   *together = arg;
	EmogiBetweenness *all = together->all;
	const int32_t *level = together->levels.columns[0].int32;

	for (uint64_t v, end; emogi_cpu_run_take(&all->run, WRITE_CHUNK, all->nvertices, &v, &end);)
		for (; v < end; v++)
		{
			together->level[v] = level[v] < 0 ? NOT_REACHED : (uint8_t) level[v];
			together->paths[v] = 1.0;
		}
}

/* Get the first vertex of a level from v on, or end. */
static inline uint64_t
find_next(const uint8_t *level, uint8_t depth, uint64_t v, uint64_t end)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);

	while (v < end && level[v] != depth)
	{
		uint64_t	eight;

		v++;
		for (; v + 8 <= end; v += 8)
		{
			memcpy(&eight, level + v, 8);
			eight ^= depth * ones;
			if (((eight - ones) & ~eight & 0x80 * ones) != 0)
				break;
		}
	}
	return v;
}

/* Count the paths to the vertices of the current level. */
static void
count_level(void *arg, int thread, int nthreads)
{
	SharedSearch   *together = arg;
	EmogiBetweenness *all = together->all;
	const EmogiAdjacency *lists = &all->graph->backward;
	const uint8_t depth = (uint8_t) together->depth;
	bool		has_many = false;
	uint64_t	nscanned = 0;

	for (uint64_t first, end;
		 emogi_cpu_run_take(&all->run, VERTEX_CHUNK, all->nvertices, &first, &end);)
	{
		for (uint64_t v = find_next(together->level, depth, first, end); v < end;
			 v = find_next(together->level, depth, v + 1, end))
		{
			together->paths[v] = emogi_betweenness_sum(all, lists, v, together->level, true,
													   depth - 1, together->paths);
			has_many |= !(together->paths[v] < EMOGI_BETWEENNESS_MANY);
			nscanned += lists->offsets[v + 1] - lists->offsets[v];
		}
	}
	__atomic_fetch_add(&together->nscanned, nscanned, __ATOMIC_RELAXED);
	if (has_many)
		__atomic_store_n(&together->has_many, 1, __ATOMIC_RELAXED);
}

/* Compute how much the source depends on the vertices of the current level, and add it up. */
static void
depend_level(void *arg, int thread, int nthreads)
{
	SharedSearch   *together = arg;
	EmogiBetweenness *all = together->all;
	const EmogiAdjacency *lists = &all->graph->forward;
	const uint8_t depth = (uint8_t) together->depth;
	const bool	deepest = together->depth + 1 == (int32_t) together->levels.nlevels;
	uint64_t	nscanned = 0;

	for (uint64_t first, end;
		 emogi_cpu_run_take(&all->run, VERTEX_CHUNK, all->nvertices, &first, &end);)
	{
		for (uint64_t v = find_next(together->level, depth, first, end); v < end;
			 v = find_next(together->level, depth, v + 1, end))
		{
			double		dependency = 0.0;

			if (!deepest)
			{
				dependency = together->paths[v] *
					emogi_betweenness_sum(all, lists, v, together->level, true, depth + 1,
										  together->paths);
				nscanned += lists->offsets[v + 1] - lists->offsets[v];
			}
			all->centrality[v] += dependency;
			together->paths[v] = (1.0 + dependency) / together->paths[v];
		}
	}
	__atomic_fetch_add(&together->nscanned, nscanned, __ATOMIC_RELAXED);
}

/* Find the levels of a source's search; false if the job has stopped. */
static bool
find_levels(SharedSearch *together)
{
	EmogiBetweenness *all = together->all;
	EmogiCpuRun *run = &all->run;
	const EmogiQuery search = {.algorithm = EMOGI_BFS, .nsources = 1,
		.sources = all->sources + all->at, .max_depth = -1};
	const EmogiStatus status = emogi_cpu_bfs(run->pool, all->graph, &search, &together->levels,
											 run->job.control, run->error);

	emogi_job_phase(&run->job, EMOGI_PHASE_RUN, all->nsources);
	emogi_job_done(&run->job, all->at);
	if (status != EMOGI_OK)
		emogi_job_fail(&run->job, status);
	return status == EMOGI_OK;
}

/*
 * Add the dependencies of the next source; false if the job has stopped, or there are too many
 * levels or paths.
 */
static bool
add_source(SharedSearch *together)
{
	EmogiBetweenness *all = together->all;
	EmogiResult *result = all->run.result;
	int32_t		nlevels;

	if (!find_levels(together) || together->levels.nlevels > TOGETHER_LEVELS ||
		!emogi_cpu_run_step(&all->run, narrow_levels, together, false))
		return false;
	nlevels = (int32_t) together->levels.nlevels;
	for (together->depth = 2; together->depth < nlevels; together->depth++)
		if (!emogi_cpu_run_step(&all->run, count_level, together, false) || together->has_many)
			return false;
	for (together->depth = nlevels - 1; together->depth > 0; together->depth--)
		if (!emogi_cpu_run_step(&all->run, depend_level, together, false))
			return false;
	result->edges_traversed += together->levels.edges_traversed;
	if (together->levels.nlevels > result->nlevels)
		result->nlevels = together->levels.nlevels;
	all->at++;
	return true;
}

/*
 * Search with all threads together until no sources are left or one has too many levels or paths;
 * false if the job has stopped.
 */
static bool
search_together(EmogiBetweenness *all)
{
	SharedSearch	together = {.all = all};
	const uint64_t n = all->nvertices;

	together.paths = emogi_cpu_run_scratch(&all->run, n, sizeof(double));
	together.levels.columns[0].any = together.paths == NULL ? NULL
		: emogi_cpu_run_scratch(&all->run, n, sizeof(int32_t));
	together.level = together.levels.columns[0].any == NULL ? NULL
		: emogi_cpu_run_scratch(&all->run, n + 8, 1);
	while (together.level != NULL && all->at < all->nsources && add_source(&together))
		;
	all->run.result->edges_traversed += together.nscanned;
	return !emogi_job_stopped(&all->run.job);
}

/* Scale the sums to the requested centrality. */
static void
scale_sums(const EmogiBetweenness *all, const EmogiQuery *query)
{
	const bool	partial = all->nsources < all->nvertices;
	const EmogiSampleScale scale = emogi_sample_scale(all->graph, query);
	uint64_t	next = 0;

	for (uint64_t v = 0; v < all->nvertices; v++)
	{
		const bool	is_sample = partial && next < all->nsources && all->sources[next] == v;

		next += is_sample;
		all->centrality[v] *= is_sample ? scale.of_samples : scale.of_others;
	}
}

EmogiStatus
emogi_cpu_betweenness(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
					  EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	EmogiBetweenness all = {.graph = graph, .nvertices = graph->nvertices,
		.nsources = emogi_sample_count(graph->nvertices, query),
		.centrality = result->columns[0].float64};
	uint32_t   *sources;

	emogi_cpu_run_begin(&all.run, pool, graph, all.nsources, result, control, error, "betweenness");
	sources = graph->nvertices == 0 ? NULL
		: emogi_cpu_run_scratch(&all.run, all.nsources, sizeof *sources);
	if (sources != NULL)
	{
		emogi_sample_choose(graph->nvertices, all.nsources, query->seed, sources);
		all.sources = sources;
		memset(all.centrality, 0, graph->nvertices * sizeof *all.centrality);
		if ((graph->nvertices < TOGETHER_VERTICES || search_together(&all)) &&
			all.at < all.nsources)
			emogi_betweenness_per_thread(&all);
		scale_sums(&all, query);
		result->nreached = graph->nvertices;
	}
	return emogi_cpu_run_end(&all.run);
}
