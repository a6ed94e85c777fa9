/*
 * katz.c: Katz centrality by the threads of a pool.
 *
 * Fills centrality[nvertices]: beta times the sum over all walks that end at the vertex of alpha to
 * the power of their edges, times the weights of these [1]; normalized: of Euclidean length 1.
 *
 * An iteration adds the walks of one edge more: M times what the one before has added, where M is
 * alpha times the transposed matrix of the edges; at first 1 for every vertex. Nothing is
 * subtracted, so what is added keeps all its digits. The answer is beta times the sum.
 *
 * Walks that can be of any length converge if and only if the spectral radius of M, r, is below 1.
 * As no number is below 0, the largest that the k-th iteration adds is the largest row sum of M to
 * the k, which r to the k cannot exceed [2, 5.6]. So one iteration that adds less than 1 everywhere
 * proves that the sum converges, and its k-th root is a bound of r for all that follow; without
 * such a one no answer is given. Before it is there: if an iteration adds nowhere less than the one
 * before, and somewhere something, r is 1 or more [2, theorem 8.3.2]. That ends a run early; else
 * values grow until max_iterations, or out of range.
 *
 * [1] L. Katz. A New Status Index Derived from Sociometric Analysis. Psychometrika 18(1), 1953.
 * [2] R. Horn, C. Johnson. Matrix Analysis. 2nd edition, 2013.
 */
#include "algorithms.h"
#include "cpu/pull_spmv.h"

#include "contract/powers.h"

typedef struct Katz
{
	EmogiCpuRun run;
	EmogiPullSpmv pull;
	double		alpha;
	double		factor;			/* that makes the answer of the sums */
	double	   *sum;			/* [nvertices], of all that was added; in the end the answer */
	double	   *share;			/* [nvertices], alpha times what the last iteration has added */
	double	   *next_share;		/* [nvertices] */
	double	   *squares;		/* [nblocks], of sums as parts of the largest */
	EmogiKatzFound *parts;		/* [nblocks] */
	EmogiKatzFound all;			/* of the last iteration */
	double		rate;			/* proven: in the long run an iteration adds at most so many
								 * times what the one before did */
} Katz;

/* Take walks without an edge. */
static void
start_sums(void *arg, int thread, int nthreads)
{
	Katz	   *katz = arg;
	uint64_t	b;

	while (!emogi_job_stopped(&katz->run.job) &&
		   (b = emogi_job_take(&katz->run.next, 1)) < katz->pull.nblocks)
	{
		uint64_t	end = emogi_cpu_run_chunk_end(b * EMOGI_PULL_BLOCK, EMOGI_PULL_BLOCK,
												  katz->pull.nvertices);

		for (uint64_t v = b * EMOGI_PULL_BLOCK; v < end; v++)
		{
			katz->sum[v] = 1.0;
			katz->share[v] = katz->alpha;
		}
	}
}

/* What the sums of a block go into. */
typedef struct Block
{
	Katz	   *katz;
	EmogiKatzFound part;
} Block;

/* Add the walks of one edge more that end at a vertex. */
static inline __attribute__((always_inline)) void
put_sum(void *arg, uint64_t v, double added)
{
	Block	   *block = arg;
	Katz	   *katz = block->katz;
	const double sum = katz->sum[v] + added;
	const double share = katz->alpha * added;

	block->part.most = added > block->part.most ? added : block->part.most;
	block->part.largest = sum > block->part.largest ? sum : block->part.largest;
	block->part.shrinks |= share < katz->share[v];
	katz->sum[v] = sum;
	katz->next_share[v] = share;
}

/* Add walks at all vertices. */
static void
pull_walks(void *arg, int thread, int nthreads)
{
	Katz	   *katz = arg;
	EmogiPullTurn turn = {.pull = &katz->pull, .thread = thread};

	while (emogi_pull_spmv_next(&turn))
	{
		Block		block = {.katz = katz};

		if (!emogi_pull_spmv_block(&turn, put_sum, &block))
			return;
		katz->parts[turn.block] = block.part;
	}
}

/* Let the next shares be the shares, and put together what the blocks have found. */
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

		katz->all.most = part->most > katz->all.most ? part->most : katz->all.most;
		katz->all.largest = part->largest > katz->all.largest ? part->largest : katz->all.largest;
		katz->all.shrinks |= part->shrinks;
	}
}

/*
 * Iterate until the change is below the tolerance; false when the job has stopped, or there is no
 * answer.
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
	} while (!emogi_katz_ends(&katz->all, query, &katz->rate, result, katz->run.error));
	if (result->refusal.kind != EMOGI_NOT_REFUSED)
		emogi_job_fail(&katz->run.job, EMOGI_BAD_INPUT);
	return result->refusal.kind == EMOGI_NOT_REFUSED;
}

/* Square the sums, as parts of the largest. */
static void
square_sums(void *arg, int thread, int nthreads)
{
	Katz	   *katz = arg;
	uint64_t	b;

	while (!emogi_job_stopped(&katz->run.job) &&
		   (b = emogi_job_take(&katz->run.next, 1)) < katz->pull.nblocks)
	{
		uint64_t	end = emogi_cpu_run_chunk_end(b * EMOGI_PULL_BLOCK, EMOGI_PULL_BLOCK,
												  katz->pull.nvertices);
		double		squares = 0.0;

		for (uint64_t v = b * EMOGI_PULL_BLOCK; v < end; v++)
			squares += katz->sum[v] / katz->all.largest * (katz->sum[v] / katz->all.largest);
		katz->squares[b] = squares;
	}
}

/* Turn the sums into the answer. */
static void
scale_sums(void *arg, int thread, int nthreads)
{
	Katz	   *katz = arg;
	uint64_t	b;

	while (!emogi_job_stopped(&katz->run.job) &&
		   (b = emogi_job_take(&katz->run.next, 1)) < katz->pull.nblocks)
	{
		uint64_t	end = emogi_cpu_run_chunk_end(b * EMOGI_PULL_BLOCK, EMOGI_PULL_BLOCK,
												  katz->pull.nvertices);

		for (uint64_t v = b * EMOGI_PULL_BLOCK; v < end; v++)
			katz->sum[v] *= katz->factor;
	}
}

/* Make the answer; false when the job has stopped. */
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
