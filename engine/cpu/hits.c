/*
 * hits.c: hubs and authorities (HITS).
 *
 * Fills hub[nvertices] and authority[nvertices]: each sums to 1, or is 0 everywhere if no edge has
 * a positive weight.
 *
 * Power iteration [1]: the authority of a vertex is the sum of the hub values of its predecessors,
 * and its hub value the sum of the authorities of its successors, both normalized. graph->forward
 * holds the predecessors, graph->backward the successors. Hub values start at 1 / n.
 *
 * [1] J. Kleinberg. Authoritative Sources in a Hyperlinked Environment. J. ACM 46(5), 1999. Section
 *     3.
 */
#include "cpu_algorithms.h"
#include "cpu/pull_spmv.h"

#include "contract/power_iteration.h"

typedef struct Hits
{
	EmogiCpuRun run;
	EmogiPullSpmv to_authority; /* over lists of predecessors */
	EmogiPullSpmv to_hub;		/* over lists of successors */
	EmogiPullSpmv *pull;		/* the one of the current step */
	double	   *hub;			/* [nvertices] */
	double	   *authority;		/* [nvertices] */
	double	   *sum;			/* [nvertices], before division */
	double	   *value;			/* [nvertices], hub or authority: receives the normalized sums */
	double	   *totals;			/* [nblocks], sums */
	double	   *changes;		/* [nblocks], L1 */
	double		total;			/* of sum */
} Hits;

/* Set every hub value to 1 / n. */
static void
start_hubs(void *arg, int thread, int nthreads)
{
	Hits	   *hits = arg;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&hits->run, EMOGI_PULL_BLOCK, hits->to_hub.nvertices, &v, &end);)
		for (; v < end; v++)
		{
			hits->hub[v] = 1.0 / (double) hits->to_hub.nvertices;
			hits->authority[v] = 0.0;
		}
}

/* The accumulators of a block. */
typedef struct Block
{
	double	   *sum;
	double		total;
} Block;

/* Store the sum of a vertex. */
static inline __attribute__((always_inline)) void
put_sum(void *arg, uint64_t v, double sum)
{
	Block	   *block = arg;

	block->sum[v] = sum;
	block->total += sum;
}

/* Compute the sums of all vertices. */
static void
pull_sums(void *arg, int thread, int nthreads)
{
	Hits	   *hits = arg;
	EmogiPullCursor turn = {.pull = hits->pull, .thread = thread};

	while (emogi_pull_spmv_next(&turn))
	{
		Block		block = {.sum = hits->sum};

		if (!emogi_pull_spmv_block(&turn, put_sum, &block))
			return;
		hits->totals[turn.block] = block.total;
	}
}

/* Divide the sums by their total, which gives the new values. */
static void
divide_sums(void *arg, int thread, int nthreads)
{
	Hits	   *hits = arg;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&hits->run, EMOGI_PULL_BLOCK, hits->pull->nvertices, &v, &end);)
	{
		const uint64_t b = v / EMOGI_PULL_BLOCK;
		double		change = 0.0;

		for (; v < end; v++)
		{
			const double value = hits->total > 0.0 ? hits->sum[v] / hits->total : 0.0;

			change += fabs(value - hits->value[v]);
			hits->value[v] = value;
		}
		hits->changes[b] = change;
	}
}

/* Compute new values of one kind from those of the other; false if the job has stopped. */
static bool
make_half(Hits *hits, EmogiPullSpmv *pull, const double *from, double *to)
{
	hits->pull = pull;
	hits->value = to;
	pull->values = from;
	if (!emogi_pull_spmv_step(pull, pull_sums, hits))
		return false;
	hits->total = emogi_pull_spmv_total(hits->totals, pull->nblocks);
	if (!emogi_hits_total_is_fine(hits->total, hits->run.result, hits->run.error))
	{
		emogi_job_fail(&hits->run.job, EMOGI_BAD_INPUT);
		return false;
	}
	return emogi_cpu_run_step(&hits->run, divide_sums, hits, false);
}

/* Iterate until the change is below the tolerance; false if the job has stopped. */
static bool
iterate(Hits *hits, const EmogiQuery *query)
{
	EmogiResult *result = hits->run.result;
	EmogiControl *control = hits->run.job.control;

	if (!emogi_cpu_run_step(&hits->run, start_hubs, hits, false))
		return false;
	do
	{
		control->level = result->nlevels;
		control->done = 0;
		if (!make_half(hits, &hits->to_authority, hits->hub, hits->authority) ||
			!make_half(hits, &hits->to_hub, hits->authority, hits->hub))
			return false;
		result->change = emogi_pull_spmv_total(hits->changes, hits->to_hub.nblocks);
		result->nlevels++;
		result->edges_traversed += hits->to_hub.lists.nedges + hits->to_authority.lists.nedges;
	} while (result->nlevels < query->max_iterations && !(result->change < query->tolerance));
	return true;
}

EmogiStatus
emogi_cpu_hits(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
			   EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Hits		hits = {.hub = result->columns[0].float64, .authority = result->columns[1].float64};

	emogi_cpu_run_begin(&hits.run, pool, graph, 2 * graph->nvertices, result, control, error,
						"hubs and authorities");
	hits.to_authority = emogi_pull_spmv_over(&hits.run, graph, &graph->forward, query);
	hits.to_hub = emogi_pull_spmv_over(&hits.run, graph, &graph->backward, query);
	hits.sum = emogi_cpu_run_scratch(&hits.run, graph->nvertices, sizeof(double));
	hits.totals = emogi_cpu_run_scratch(&hits.run, hits.to_hub.nblocks, sizeof(double));
	hits.changes = emogi_cpu_run_scratch(&hits.run, hits.to_hub.nblocks, sizeof(double));
	if (!emogi_job_stopped(&hits.run.job) && graph->nvertices > 0 && iterate(&hits, query))
		result->nreached = graph->nvertices;
	return emogi_cpu_run_end(&hits.run);
}
