/*
 * distance_matrix.c: the distances from several sources to several targets.
 *
 * One search from each source, which ends when all targets are settled (best_paths.c), with all
 * threads. Without weights, up to 64 sources share a search (msbfs.h) if the searches from single
 * sources indicate that this costs less: in deep graphs, single searches examine less.
 */
#include "cpu_algorithms.h"
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
	EmogiMsbfsSingles singles;
	uint64_t	max_batch;		/* sources of a batch; 0 = no batches */
	void	   *batch_memory;	/* [batch_bytes]; NULL = not allocated */
	uint64_t	batch_bytes;
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
	emogi_msbfs_note_single(&matrix->singles, result.nlevels, result.edges_traversed);
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
search_batch(Matrix *matrix, uint64_t first, uint64_t count)
{
	const EmogiQuery *query = matrix->query;
	EmogiMsbfsResult batch = {.memory = matrix->batch_memory, .memory_bytes = matrix->batch_bytes,
		.done = first, .total = query->nsources};
	const EmogiStatus status = emogi_msbfs_run(matrix->pool, matrix->graph, query->sources + first,
											   (int) count, -1, &batch, matrix->control,
											   matrix->error);

	if (status != EMOGI_OK)
		emogi_job_fail(&matrix->run.job, status);
	matrix->run.result->edges_traversed += batch.edges_traversed;
	if (batch.too_deep)
		matrix->max_batch = 0;
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

/* Choose the number of sources of a batch. */
static void
choose_batch(Matrix *matrix)
{
	const uint64_t n = matrix->graph->nvertices;
	int			max = EMOGI_MSBFS_SOURCES;

	while (max >= MIN_BATCH && emogi_msbfs_bytes(n, max, -1) > BATCH_BYTES)
		max /= 2;
	if (matrix->graph->weight_type != EMOGI_WEIGHT_NONE || max < MIN_BATCH ||
		matrix->query->nsources < MIN_BATCH || !is_ascending(matrix->query))
		return;
	matrix->max_batch = (uint64_t) max;
	matrix->batch_bytes = emogi_msbfs_bytes(n, max, -1);
}

/*
 * Search from the next sources together, if that is likely to cost less; returns their number, 0 =
 * they are to be searched one by one, or the job has stopped.
 */
static uint64_t
search_together(Matrix *matrix, uint64_t first)
{
	const uint64_t left = matrix->query->nsources - first;
	const uint64_t count = left < matrix->max_batch ? left : matrix->max_batch;

	if (count < MIN_BATCH || matrix->singles.count == 0 ||
		!emogi_msbfs_is_cheaper(matrix->graph->nvertices, count, &matrix->singles))
		return 0;
	if (matrix->batch_memory == NULL)
		matrix->batch_memory = emogi_cpu_run_scratch(&matrix->run, matrix->batch_bytes, 1);
	if (matrix->batch_memory == NULL)
		return 0;
	return search_batch(matrix, first, count);
}

/* Search from the next sources; returns their number, 0 = the job has stopped. */
static uint64_t
search_next(Matrix *matrix, uint64_t first)
{
	const uint64_t count = search_together(matrix, first);

	if (count > 0)
		return count;
	return !emogi_job_stopped(&matrix->run.job) && search_from(matrix, first) ? 1 : 0;
}

EmogiStatus
emogi_cpu_distance_matrix(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
						  EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Matrix		matrix = {.pool = pool, .graph = graph, .query = query, .control = control,
		.error = error,
		.distance = result->columns[0].float64};
	uint64_t	count;

	emogi_cpu_run_begin(&matrix.run, pool, graph, query->nsources, result, control, error,
						"distances");
	result->nreached = query->nsources;
	choose_batch(&matrix);
	for (uint64_t done = 0; query->ntargets > 0 && done < query->nsources; done += count)
	{
		count = search_next(&matrix, done);
		if (count == 0)
			break;
	}
	return emogi_cpu_run_end(&matrix.run);
}
