/*
 * katz.c: Katz centrality.
 *
 * Fills centrality[nvertices]: beta times the sum, over all walks that end at the vertex, of
 * alpha^(number of edges) times the product of their weights [1]; normalized: of Euclidean length
 * 1.
 *
 * Each iteration adds the walks with one more edge: M times what the previous iteration added,
 * where M is alpha times the transposed adjacency matrix; initially 1 for every vertex. Nothing is
 * subtracted, so that all digits of the additions are kept. The result is beta times the sum.
 *
 * The sum converges if and only if the spectral radius r of M is below 1. Because all entries are
 * non-negative, the maximum that iteration k adds is the maximum row sum of M^k, which is at least
 * r^k [2, 5.6]. So an iteration that adds less than 1 everywhere proves convergence, and the k-th
 * root of its maximum bounds r from then on; without such an iteration there is no result. Before
 * that: if an iteration adds nowhere less than the one before, and somewhere something, then r >= 1
 * [2, theorem 8.3.2], which ends the run early; otherwise values grow until max_iterations or an
 * overflow.
 *
 * [1] L. Katz. A New Status Index Derived from Sociometric Analysis. Psychometrika 18(1), 1953.
 * [2] R. Horn, C. Johnson. Matrix Analysis. 2nd edition, 2013.
 */
#include "cpu_algorithms.h"
#include "cpu/pull_spmv.h"

#include "contract/power_iteration.h"

typedef struct Katz
{
	EmogiCpuRun run;
	EmogiPullSpmv pull;
	double		alpha;
	double		factor;			/* from sums to the result */
	double	   *sum;			/* [nvertices], of all additions; in the end the result */
	double	   *share;			/* [nvertices], alpha times the last addition */
	double	   *next_share;		/* [nvertices] */
	double	   *squares;		/* [nblocks], sums of squares, relative to the largest sum */
	EmogiKatzFound *parts;		/* [nblocks] */
	EmogiKatzFound all;			/* totals of the last iteration */
	double		rate;			/* proven asymptotic bound of an iteration's addition relative to
								 * the previous one's */
} Katz;

/* Start with the walks without edges. */
static void
start_sums(void *arg, int thread, int nthreads)
{
	Katz	   *katz = arg;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&katz->run, EMOGI_PULL_BLOCK, katz->pull.nvertices, &v, &end);)
		for (; v < end; v++)
		{
			katz->sum[v] = 1.0;
			katz->share[v] = katz->alpha;
		}
}

/* The accumulators of a block. */
typedef struct Block
{
	Katz	   *katz;
	EmogiKatzFound part;
} Block;

/* Add the walks with one more edge that end at a vertex. */
static inline __attribute__((always_inline)) void
put_sum(void *arg, uint64_t v, double added)
{
	Block	   *block = arg;
	Katz	   *katz = block->katz;
	const double sum = katz->sum[v] + added;
	const double share = katz->alpha * added;

	block->part.max_increase = added > block->part.max_increase ? added : block->part.max_increase;
	block->part.largest = sum > block->part.largest ? sum : block->part.largest;
	block->part.shrinks |= share < katz->share[v];
	katz->sum[v] = sum;
	katz->next_share[v] = share;
}

/* Add the walks with one more edge at all vertices. */
static void
pull_walks(void *arg, int thread, int nthreads)
{
	Katz	   *katz = arg;
	EmogiPullCursor turn = {.pull = &katz->pull, .thread = thread};

	while (emogi_pull_spmv_next(&turn))
	{
		Block		block = {.katz = katz};

		if (!emogi_pull_spmv_block(&turn, put_sum, &block))
			return;
		katz->parts[turn.block] = block.part;
	}
}

/* Replace the shares by the next ones, and combine the blocks' findings. */
static void
close_iteration(Katz *katz)
{
	double	   *swap = katz->share;

	katz->share = katz->next_share;
	katz->next_share = swap;
	katz->all = (EmogiKatzFound) {0};
	for (uint64_t b = 0; b < katz->pull.nblocks; b++)
	{
		const EmogiKatzFound *part = &katz->parts[b];

		katz->all.max_increase = part->max_increase > katz->all.max_increase ? part->max_increase :
			katz->all.max_increase;
		katz->all.largest = part->largest > katz->all.largest ? part->largest : katz->all.largest;
		katz->all.shrinks |= part->shrinks;
	}
}

/*
 * Iterate until the change is below the tolerance; false if the job has stopped or there is no
 * result.
 */
static bool
iterate(Katz *katz, const EmogiQuery *query)
{
	EmogiResult *result = katz->run.result;
	EmogiControl *control = katz->run.job.control;

	if (!emogi_cpu_run_step(&katz->run, start_sums, katz, false))
		return false;
	do
	{
		control->level = result->nlevels;
		control->done = 0;
		katz->pull.values = katz->share;
		if (!emogi_pull_spmv_step(&katz->pull, pull_walks, katz))
			return false;
		close_iteration(katz);
		result->edges_traversed += katz->pull.lists.nedges;
	} while (!emogi_katz_end_iteration(&katz->all, query, &katz->rate, result, katz->run.error));
	if (result->refusal.kind != EMOGI_NOT_REFUSED)
		emogi_job_fail(&katz->run.job, EMOGI_BAD_INPUT);
	return result->refusal.kind == EMOGI_NOT_REFUSED;
}

/* Sum the squares of the sums, relative to the largest. */
static void
square_sums(void *arg, int thread, int nthreads)
{
	Katz	   *katz = arg;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&katz->run, EMOGI_PULL_BLOCK, katz->pull.nvertices, &v, &end);)
	{
		const uint64_t b = v / EMOGI_PULL_BLOCK;
		double		squares = 0.0;

		for (; v < end; v++)
			squares += katz->sum[v] / katz->all.largest * (katz->sum[v] / katz->all.largest);
		katz->squares[b] = squares;
	}
}

/* Scale the sums to the result. */
static void
scale_sums(void *arg, int thread, int nthreads)
{
	Katz	   *katz = arg;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&katz->run, EMOGI_PULL_BLOCK, katz->pull.nvertices, &v, &end);)
		for (; v < end; v++)
			katz->sum[v] *= katz->factor;
}

/* Compute the result; false if the job has stopped. */
static bool
finish(Katz *katz, const EmogiQuery *query)
{
	katz->factor = query->beta;
	if (query->normalized && query->beta != 0.0)
	{
		if (!emogi_cpu_run_step(&katz->run, square_sums, katz, false))
			return false;
		katz->factor =
			copysign(1.0 / sqrt(emogi_pull_spmv_total(katz->squares, katz->pull.nblocks)) /
					 katz->all.largest, query->beta);
	}
	return emogi_cpu_run_step(&katz->run, scale_sums, katz, false);
}

EmogiStatus
emogi_cpu_katz(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
			   EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Katz		katz = {.alpha = query->alpha, .sum = result->columns[0].float64,
		.rate = (double) INFINITY};

	emogi_cpu_run_begin(&katz.run, pool, graph, graph->nvertices, result, control, error,
						"Katz centrality");
	katz.pull = emogi_pull_spmv_over(&katz.run, graph, &graph->forward, query);
	katz.share = emogi_cpu_run_scratch(&katz.run, graph->nvertices, sizeof(double));
	katz.next_share = emogi_cpu_run_scratch(&katz.run, graph->nvertices, sizeof(double));
	katz.squares = emogi_cpu_run_scratch(&katz.run, katz.pull.nblocks, sizeof(double));
	katz.parts = emogi_cpu_run_scratch(&katz.run, katz.pull.nblocks, sizeof(EmogiKatzFound));
	if (!emogi_job_stopped(&katz.run.job) && graph->nvertices > 0 && iterate(&katz, query) &&
		finish(&katz, query))
		result->nreached = graph->nvertices;
	return emogi_cpu_run_end(&katz.run);
}
