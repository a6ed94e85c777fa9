/*
 * bfs_sums.c: sums over the levels of searches from many sources, one row for each source.
 *
 * Fills count, sum, least, most and harmonic, [nsources], as the table of algorithms says. 64
 * searches share one pass over the adjacency lists (msbfs.h). The first 64 allocate scratch memory
 * of their own; the others share memory that each batch leaves clean. It uses huge pages unless the
 * first batch examined few edges.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu_algorithms.h"
#include "msbfs_steps.h"

#include <sys/mman.h>

/* Write the sums of a source's levels. */
static void
write_source(const EmogiArray *columns, uint64_t i, const EmogiMsbfsSums *sums)
{
	columns[0].int64[i] = (int64_t) sums->count;
	columns[1].int64[i] = (int64_t) sums->sum;
	columns[2].int32[i] = (int32_t) sums->min;
	columns[3].int32[i] = (int32_t) sums->max;
	columns[4].float64[i] = sums->harmonic;
}

/*
 * Allocate memory for the remaining searches, assuming that they are like the last one; NULL, with
 * the job failed, if out of memory.
 */
static void *
allocate_scratch(EmogiCpuRun *run, const EmogiGraph *graph, const EmogiMsbfsResult *last)
{
	const uint64_t bytes = emogi_msbfs_scratch_bytes(graph->nvertices, 0);
	void	   *memory;

	if (last->edges_traversed > graph->nvertices / EMOGI_MSBFS_FEW_SHARE)
		return emogi_cpu_run_scratch(run, bytes, 1);
	memory = emogi_cpu_run_map(run, bytes);
	if (memory != NULL)
		madvise(memory, bytes, MADV_NOHUGEPAGE);
	return memory;
}

EmogiStatus
emogi_cpu_bfs_sums(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
				   EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	EmogiMsbfsResult search = {.wants_sums = true, .first_level = query->first_level,
		.last_level = UINT32_MAX};
	EmogiCpuRun run;
	uint64_t	done = 0;

	emogi_cpu_run_begin(&run, pool, graph, query->nsources, result, control, error,
						"breadth-first searches");
	while (done < query->nsources && !emogi_job_stopped(&run.job))
	{
		const int	count = emogi_msbfs_run_next(&run, graph, query->sources, query->nsources, done,
												 query->max_depth, &search);

		for (int s = 0; s < count; s++)
		{
			write_source(result->columns, done + (uint64_t) s, &search.sums[s]);
			result->nreached += search.nreached[s];
		}
		done += (uint64_t) count;
		if (done < query->nsources && search.scratch == NULL && !emogi_job_stopped(&run.job))
			search.scratch = allocate_scratch(&run, graph, &search);
	}
	return emogi_cpu_run_end(&run);
}
