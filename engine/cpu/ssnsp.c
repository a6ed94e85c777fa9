/*
 * ssnsp.c: single-source number of shortest paths, by hops.
 *
 * Fills level[nvertices] as breadth-first search does, and paths[nvertices]: the number of paths of
 * that many edges from the sources, counting parallel edges separately; 0 = not reached (or beyond
 * max_depth). Counts are doubles: exact up to 2^53, rounded above, never wrapped.
 *
 * The forward half of Brandes's algorithm [1]: first the levels, then the counts of each level from
 * those of the level before. Counts are pulled over graph->backward, which must exist, in list
 * order: there are no atomic additions, and the result is bit-identical for any number of threads.
 *
 * [1] U. Brandes. A Faster Algorithm for Betweenness Centrality. Journal of Mathematical Sociology
 *     25(2), 2001. Section 3.
 */
#include "cpu_algorithms.h"
#include "bfs.h"
#include "cpu/cpu_run.h"

#include <stdio.h>

/*
 * Tuned. Times with these values are in bench/RESULTS.md: two cores of an Intel Xeon, commit
 * 45449c8.
 */
#define VERTEX_CHUNK 64
#define CLEAR_CHUNK 16384
#define SERIAL_VERTICES 32		/* a smaller level is counted by the caller alone */
#define PREFETCH_DISTANCE 8		/* prefetch distance, vertices */

/* Counters of one thread. */
typedef struct Tally
{
	uint64_t	nscanned;
	char		pad[EMOGI_LINE_BYTES - 8];
} Tally;

typedef struct Counting
{
	EmogiCpuRun run;
	EmogiAdjacency backward;
	uint64_t	nvertices;
	const int32_t *level;		/* [nvertices] */
	double	   *paths;			/* [nvertices] */
	uint64_t   *start;			/* [nlevels + 2], offsets of the levels in order */
	uint32_t   *order;			/* [nreached], the vertices by level */
	uint64_t	first;			/* the level being counted: order[first .. end-1] */
	uint64_t	end;
	Tally	   *tally;			/* [nthreads] */
} Counting;

/* Set paths to 1 at the sources, 0 elsewhere. */
static void
clear_paths(void *arg, int thread, int nthreads)
{
	Counting   *counting = arg;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&counting->run, CLEAR_CHUNK, counting->nvertices, &v, &end);)
		for (; v < end; v++)
			counting->paths[v] = counting->level[v] == 0 ? 1.0 : 0.0;
}

/* Sort the reached vertices by (level, number); false if the job has stopped. */
static bool
sort_by_level(Counting *counting, uint32_t nlevels)
{
	uint64_t   *place = counting->start + 1;	/* where the next vertex of a level goes; in the
												 * end, the end of the level */
	uint64_t	sum = 0;

	for (uint64_t v = 0; v < counting->nvertices; v++)
	{
		if (counting->level[v] >= 0)
			place[counting->level[v]]++;
		if (v % EMOGI_RUN_POLL == 0 && emogi_job_stopped(&counting->run.job))
			return false;
	}
	for (uint32_t d = 0; d < nlevels; d++)
	{
		uint64_t	count = place[d];

		place[d] = sum;
		sum += count;
	}
	for (uint64_t v = 0; v < counting->nvertices; v++)
	{
		if (counting->level[v] >= 0)
			counting->order[place[counting->level[v]]++] = (uint32_t) v;
		if (v % EMOGI_RUN_POLL == 0 && emogi_job_stopped(&counting->run.job))
			return false;
	}
	return true;
}

/* Sum the counts of v's predecessors on the level before; false if the job has stopped. */
static bool
count_vertex(Counting *counting, uint32_t v, Tally *tally)
{
	const uint32_t *targets = counting->backward.targets;
	const int32_t *level = counting->level;
	int32_t		before = level[v] - 1;
	uint64_t	i = counting->backward.offsets[v];
	uint64_t	end = counting->backward.offsets[v + 1];
	double		sum = 0.0;

	tally->nscanned += end - i;
	while (i < end)
	{
		uint64_t	stop = emogi_cpu_run_chunk_end(i, EMOGI_RUN_POLL, end);

		for (; i < stop; i++)
		{
			if (level[targets[i]] == before)
				sum += counting->paths[targets[i]];
		}
		if (i < end && emogi_job_stopped(&counting->run.job))
			return false;
	}
	counting->paths[v] = sum;
	return true;
}

/* Count the paths to the vertices of a level. */
static void
count_level(void *arg, int thread, int nthreads)
{
	Counting   *counting = arg;
	const EmogiAdjacency *backward = &counting->backward;
	Tally	   *tally = &counting->tally[thread];
	uint64_t	nvertices = counting->end - counting->first;

	for (uint64_t at, end; emogi_cpu_run_take(&counting->run, VERTEX_CHUNK, nvertices, &at, &end);)
	{
		const uint32_t *order = counting->order + counting->first;
		uint64_t	polled = tally->nscanned;

		emogi_job_done(&counting->run.job, end - at);
		for (; at < end; at++)
		{
			if (at + PREFETCH_DISTANCE < end)
				__builtin_prefetch(&backward->targets[backward->offsets[order[at +
																			  PREFETCH_DISTANCE]]]);
			if (!count_vertex(counting, order[at], tally))
				return;
			if (tally->nscanned - polled > EMOGI_RUN_POLL)
			{
				if (emogi_job_stopped(&counting->run.job))
					return;
				polled = tally->nscanned;
			}
		}
	}
}

/* Count level by level; false if the job has stopped. */
static bool
count_paths(Counting *counting, uint32_t nlevels)
{
	EmogiControl *control = counting->run.job.control;

	if (!emogi_cpu_run_step(&counting->run, clear_paths, counting, false) ||
		!sort_by_level(counting, nlevels))
		return false;
	for (uint32_t d = 1; d < nlevels; d++)
	{
		control->level = d;
		counting->first = counting->start[d];
		counting->end = counting->start[d + 1];
		if (!emogi_cpu_run_step(&counting->run, count_level, counting,
								counting->end - counting->first < SERIAL_VERTICES))
			return false;
	}
	return true;
}

/* Allocate the scratch memory; false if out of memory. */
static bool
open_counting(Counting *counting, const EmogiResult *levels)
{
	EmogiCpuRun *run = &counting->run;

	counting->start = emogi_cpu_run_scratch(run, (uint64_t) levels->nlevels + 2, sizeof(uint64_t));
	counting->order = emogi_cpu_run_scratch(run, levels->nreached, sizeof(uint32_t));
	counting->tally = emogi_cpu_run_scratch(run, (uint64_t) emogi_pool_size(run->pool),
											sizeof(Tally));
	return !emogi_job_stopped(&run->job);
}

EmogiStatus
emogi_cpu_ssnsp(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
				EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Counting	counting = {.backward = graph->backward, .nvertices = graph->nvertices};
	EmogiResult levels = {.columns = {result->columns[0]}};
	EmogiQuery	search = *query;
	EmogiStatus status;

	if (graph->backward.offsets == NULL)
	{
		snprintf(error->message, sizeof(error->message),
				 "counting shortest paths needs the graph's transpose");
		error->detail[0] = '\0';
		return EMOGI_BAD_INPUT;
	}
	search.algorithm = EMOGI_BFS;
	search.ntargets = 0;
	search.summary = NULL;
	status = emogi_cpu_bfs(pool, graph, &search, &levels, control, error);
	if (status != EMOGI_OK)
		return status;
	emogi_cpu_run_begin(&counting.run, pool, graph, levels.nreached, result, control, error,
						"numbers of shortest paths");
	counting.run.start_ms -= levels.run_ms;
	counting.level = result->columns[0].int32;
	counting.paths = result->columns[1].float64;
	if (open_counting(&counting, &levels) && count_paths(&counting, levels.nlevels))
	{
		result->nreached = levels.nreached;
		result->nlevels = levels.nlevels;
		result->edges_traversed = levels.edges_traversed;
		for (int t = 0; t < emogi_pool_size(pool); t++)
			result->edges_traversed += counting.tally[t].nscanned;
	}
	return emogi_cpu_run_end(&counting.run);
}
