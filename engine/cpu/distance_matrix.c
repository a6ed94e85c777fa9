/*
 * distance_matrix.c: the distances from several sources to several targets.
 *
 * One search from each source, which ends when all targets are settled (best_paths.c), with all
 * threads. Without weights, up to 64 sources share a search (msbfs.h), unless a level is too deep
 * for it: in deep graphs, individual searches examine less.
 */
#include "algorithms.h"
#include "msbfs.h"
#include "cpu/cpu_run.h"

/* maximum memory for the levels of a batch */
#define BATCH_BYTES ((uint64_t) 256 << 20)
#define MIN_BATCH 4			/* sources: fewer are searched individually */

typedef struct Matrix
{
	EmogiCpuRun run;
	EmogiPool  *pool;
	const EmogiGraph *graph;
	const EmogiQuery *query;
	EmogiControl *control;
	EmogiError *error;
	double	   *distance;		/* [nsources][ntargets] */
	double	   *value;			/* [nvertices], of one search; NULL = not allocated */
} Matrix;

/* Search from one source; false if the job has stopped. */
static bool
search_from(Matrix *matrix, uint64_t s)
{
	const EmogiQuery *query = matrix->query;
	double	   *distance = matrix->distance + s * query->ntargets;
	const EmogiQuery one = {.algorithm = EMOGI_SSSP, .nsources = 1, .sources = &query->sources[s],
		.ntargets = query->ntargets,
		.targets = query->targets, .max_depth = -1, .max_distance = (double) INFINITY};
	EmogiResult result = {0};
	EmogiStatus status;

	if (matrix->value == NULL)
		matrix->value = emogi_cpu_run_scratch(&matrix->run, matrix->graph->nvertices,
											  sizeof(double));
	if (matrix->value == NULL)
		return false;
	result.columns[0].float64 = matrix->value;
	status = emogi_cpu_path(matrix->pool, matrix->graph, &one, &result, matrix->control,
							matrix->error);
	if (status != EMOGI_OK)
	{
		emogi_job_fail(&matrix->run.job, status);
		return false;
	}
	for (uint64_t t = 0; t < query->ntargets; t++)
		distance[t] = matrix->value[query->targets[t]];
	matrix->run.result->edges_traversed += result.edges_traversed;
	if (matrix->run.result->nlevels < result.nlevels)
		matrix->run.result->nlevels = result.nlevels;
	return true;
}

/* Read the distances of a source's targets, which ascend, from a batch. */
static void
take_levels(Matrix *matrix, const EmogiMsbfsResult *batch, int source, double *distance)
{
	const EmogiQuery *query = matrix->query;
	EmogiMsbfsCursor cursor = {0};
	uint32_t	vertex = 0,
				level = 0;
	bool		there = true,
				read = false;

	for (uint64_t t = 0; t < query->ntargets; t++)
	{
		const uint32_t target = query->targets[t];

		if (there && (!read || vertex < target))
		{
			emogi_msbfs_skip_to(batch, source, &cursor, target);
			do
				there = emogi_msbfs_next(batch, source, &cursor, &vertex, &level);
			while (there && vertex < target);
			read = true;
		}
		distance[t] = there && vertex == target ? (double) level : (double) INFINITY;
	}
}

/*
 * Search from a batch of sources; returns their number, 0 = a level is too deep, or the job has
 * stopped.
 */
static uint64_t
search_batch(Matrix *matrix, uint64_t first, uint64_t max, void *memory, uint64_t memory_bytes)
{
	const EmogiQuery *query = matrix->query;
	const uint64_t count = query->nsources - first < max ? query->nsources - first : max;
	EmogiMsbfsResult batch = {.memory = memory, .memory_bytes = memory_bytes, .done = first,
		.total = query->nsources};
	const EmogiStatus status = emogi_msbfs_run(matrix->pool, matrix->graph, query->sources + first,
											   (int) count, -1, &batch, matrix->control,
											   matrix->error);

	if (status != EMOGI_OK)
		emogi_job_fail(&matrix->run.job, status);
	matrix->run.result->edges_traversed += batch.edges_traversed;
	if (status != EMOGI_OK || batch.too_deep)
		return 0;
	for (uint64_t s = 0; s < count; s++)
		take_levels(matrix, &batch, (int) s, matrix->distance + (first + s) * query->ntargets);
	if (matrix->run.result->nlevels < batch.nlevels)
		matrix->run.result->nlevels = batch.nlevels;
	return count;
}

/* Check whether the targets ascend, as reading a batch requires. */
static bool
is_ascending(const EmogiQuery *query)
{
	for (uint64_t t = 1; t < query->ntargets; t++)
		if (query->targets[t] < query->targets[t - 1])
			return false;
	return true;
}

/* Search in batches from the first source on; returns the number of sources done. */
static uint64_t
search_batches(Matrix *matrix)
{
	const EmogiQuery *query = matrix->query;
	const uint64_t n = matrix->graph->nvertices;
	int			max = EMOGI_MSBFS_SOURCES;
	uint64_t	done = 0,
				count;
	void	   *memory;

	while (max >= MIN_BATCH && emogi_msbfs_bytes(n, max, -1) > BATCH_BYTES)
		max /= 2;
	if (query->nsources < MIN_BATCH || max < MIN_BATCH || !is_ascending(query))
		return 0;
	memory = emogi_cpu_run_scratch(&matrix->run, emogi_msbfs_bytes(n, max, -1), 1);
	if (memory == NULL)
		return 0;
	while (done < query->nsources &&
		   (count = search_batch(matrix, done, (uint64_t) max, memory,
								 emogi_msbfs_bytes(n, max, -1))) > 0)
		done += count;
	return done;
}

EmogiStatus
emogi_cpu_distance_matrix(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
						  EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Matrix		matrix = {.pool = pool, .graph = graph, .query = query, .control = control,
		.error = error,
		.distance = result->columns[0].float64};
	uint64_t	done = 0;

	emogi_cpu_run_begin(&matrix.run, pool, graph, query->nsources, result, control, error,
						"distances");
	result->nreached = query->nsources;
	if (query->ntargets > 0)
	{
		if (graph->weight_type == EMOGI_WEIGHT_NONE)
			done = search_batches(&matrix);
		while (done < query->nsources && !emogi_job_stopped(&matrix.run.job) &&
			   search_from(&matrix, done))
			done++;
	}
	return emogi_cpu_run_end(&matrix.run);
}
