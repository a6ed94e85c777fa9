/*
 * eigenvector.c: eigenvector centrality.
 *
 * Fills centrality[nvertices] with a vector of Euclidean length 1, an eigenvector of the largest
 * eigenvalue
 * [1] if the iteration has converged.
 *
 * Power iteration: x' = (x + A x) / |x + A x|, where (A x)(v) is the sum over v's list, from equal
 * initial values. The added x shifts every eigenvalue by 1, so that in a bipartite graph no other
 * eigenvalue has the same absolute value. If all weights are small, A x is scaled first, because it
 * would vanish beside x (power_iteration.h).
 *
 * [1] P. Bonacich. Factoring and Weighting Approaches to Status Scores and Clique Identification.
 *     J. Mathematical Sociology 2, 1972.
 */
#include "cpu_algorithms.h"
#include "cpu/pull_spmv.h"

#include "contract/power_iteration.h"

typedef struct Eigen
{
	EmogiCpuRun run;
	EmogiPullSpmv pull;
	double	   *value;			/* [nvertices] */
	double	   *sum;			/* [nvertices], before division */
	double	   *squares;		/* [nblocks], sums of squares */
	double	   *changes;		/* [nblocks], maximum over the vertices */
	double		scale;			/* factor of the sums over lists */
	double		length;			/* Euclidean length of sum */
} Eigen;

/* Set all values equal, with total length 1. */
static void
start_values(void *arg, int thread, int nthreads)
{
	Eigen	   *eigen = arg;
	const double value = 1.0 / sqrt((double) eigen->pull.nvertices);

	for (uint64_t v, end;
		 emogi_cpu_run_take(&eigen->run, EMOGI_PULL_BLOCK, eigen->pull.nvertices, &v, &end);)
		for (; v < end; v++)
			eigen->value[v] = value;
}

/* The accumulators of a block. */
typedef struct Block
{
	Eigen	   *eigen;
	double		squares;
} Block;

/* Store the sum of a vertex. */
static inline __attribute__((always_inline)) void
put_sum(void *arg, uint64_t v, double sum)
{
	Block	   *block = arg;
	const double shifted = block->eigen->value[v] + block->eigen->scale * sum;

	block->eigen->sum[v] = shifted;
	block->squares += shifted * shifted;
}

/* Compute the sums of all vertices. */
static void
pull_sums(void *arg, int thread, int nthreads)
{
	Eigen	   *eigen = arg;
	EmogiPullCursor turn = {.pull = &eigen->pull, .thread = thread};

	while (emogi_pull_spmv_next(&turn))
	{
		Block		block = {.eigen = eigen};

		if (!emogi_pull_spmv_block(&turn, put_sum, &block))
			return;
		eigen->squares[turn.block] = block.squares;
	}
}

/* Divide the sums by their length, which gives the new values. */
static void
divide_sums(void *arg, int thread, int nthreads)
{
	Eigen	   *eigen = arg;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&eigen->run, EMOGI_PULL_BLOCK, eigen->pull.nvertices, &v, &end);)
	{
		const uint64_t b = v / EMOGI_PULL_BLOCK;
		double		change = 0.0;

		for (; v < end; v++)
		{
			const double value = eigen->sum[v] / eigen->length;
			const double by = fabs(value - eigen->value[v]);

			change = by > change ? by : change;
			eigen->value[v] = value;
		}
		eigen->changes[b] = change;
	}
}

/* Run an iteration; false if the job has stopped. */
static bool
make_iteration(Eigen *eigen)
{
	double		squares;
	double		change = 0.0;

	eigen->pull.values = eigen->value;
	if (!emogi_pull_spmv_step(&eigen->pull, pull_sums, eigen))
		return false;
	squares = emogi_pull_spmv_total(eigen->squares, eigen->pull.nblocks);
	if (!emogi_eigenvector_squares_are_fine(squares, eigen->run.result, eigen->run.error))
	{
		emogi_job_fail(&eigen->run.job, EMOGI_BAD_INPUT);
		return false;
	}
	eigen->length = sqrt(squares);
	if (!emogi_cpu_run_step(&eigen->run, divide_sums, eigen, false))
		return false;
	for (uint64_t b = 0; b < eigen->pull.nblocks; b++)
		change = eigen->changes[b] > change ? eigen->changes[b] : change;
	eigen->run.result->change = change;
	return true;
}

/* Iterate until the change is below the tolerance; false if the job has stopped. */
static bool
iterate(Eigen *eigen, const EmogiQuery *query)
{
	EmogiResult *result = eigen->run.result;
	EmogiControl *control = eigen->run.job.control;

	if (!emogi_cpu_run_step(&eigen->run, start_values, eigen, false))
		return false;
	do
	{
		control->level = result->nlevels;
		control->done = 0;
		if (!make_iteration(eigen))
			return false;
		result->nlevels++;
		result->edges_traversed += eigen->pull.lists.nedges;
	} while (result->nlevels < query->max_iterations && !(result->change < query->tolerance));
	return true;
}

EmogiStatus
emogi_cpu_eigenvector(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
					  EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Eigen		eigen = {.value = result->columns[0].float64};

	emogi_cpu_run_begin(&eigen.run, pool, graph, graph->nvertices, result, control, error,
						"eigenvector centrality");
	eigen.pull = emogi_pull_spmv_over(&eigen.run, graph, &graph->forward, query);
	eigen.scale = emogi_eigenvector_scale(graph, eigen.pull.weighted, control);
	eigen.sum = emogi_cpu_run_scratch(&eigen.run, graph->nvertices, sizeof(double));
	eigen.squares = emogi_cpu_run_scratch(&eigen.run, eigen.pull.nblocks, sizeof(double));
	eigen.changes = emogi_cpu_run_scratch(&eigen.run, eigen.pull.nblocks, sizeof(double));
	if (!emogi_job_stopped(&eigen.run.job) && graph->nvertices > 0 && iterate(&eigen, query))
		result->nreached = graph->nvertices;
	return emogi_cpu_run_end(&eigen.run);
}
