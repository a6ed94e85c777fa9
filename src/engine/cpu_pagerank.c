/*
 * cpu_pagerank.c: PageRank by the threads of a pool.
 *
 * Fills value[nvertices]: ranks that sum to 1 (algebra.h has the formula).
 *
 * Every vertex pulls [1] what the sources of its edges give, their rank over their edges out; graph->forward holds those
 * sources. A share is divided once, when the rank is made, for the next iteration. Sums over all vertices are
 * made of fixed blocks in order, and the entries of a list are added in four interleaved sums, so that neither
 * depends on the threads: the same bits with any number of them.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson. The GAP Benchmark Suite. arXiv:1508.03619, 2015. Section 3 (PageRank).
 */
#include "cpu_algorithms.h"
#include "cpu_run.h"

#include "algebra.h"

#define BLOCK 1024				/* vertices whose sums are made together */
#define ENTRIES_AT_ONCE 65536

/* What a block of vertices adds to the sums over all. */
typedef struct Part
{
	double		change;
	double		dangling;
} Part;

typedef struct Ranking
{
	EmogiCpuRun run;
	EmogiAdjacency in;			/* the list of v: the sources of the edges that end in v */
	const uint64_t *out_offsets;	/* [nvertices + 1], when the edges out are there as lists */
	uint64_t   *out_degree;		/* [nvertices], atomic while counted; NULL when out_offsets are there */
	uint64_t	nvertices;
	uint64_t	nblocks;
	double		damping;
	double		dangling;		/* the rank of all vertices without an edge out */
	double	   *rank;			/* [nvertices] */
	double	   *share;			/* [nvertices], what a vertex gives along each edge */
	double	   *next_share;		/* [nvertices] */
	Part	   *parts;			/* [nblocks] */
} Ranking;

/* Count the edges out of every vertex: how often it stands in a list. */
static void
count_degrees(void *arg, int thread, int nthreads)
{
	Ranking    *ranking = arg;
	uint64_t	i;

	while (!emogi_job_stopped(&ranking->run.job) &&
		   (i = emogi_job_take(&ranking->run.next, ENTRIES_AT_ONCE)) < ranking->in.nedges)
	{
		uint64_t	end = emogi_run_chunk_end(i, ENTRIES_AT_ONCE, ranking->in.nedges);

		for (; i < end; i++)
			__atomic_fetch_add(&ranking->out_degree[ranking->in.targets[i]], 1, __ATOMIC_RELAXED);
	}
}

/* Get the edges out of a vertex. */
static inline uint64_t
degree_of(const Ranking *ranking, uint64_t v)
{
	if (ranking->out_degree != NULL)
		return ranking->out_degree[v];
	return ranking->out_offsets[v + 1] - ranking->out_offsets[v];
}

/* Note the new rank of a vertex: its share for the next iteration, or its part of what dangles. */
static inline void
put_rank(Ranking *ranking, uint64_t v, double rank, Part *part)
{
	uint64_t	degree = degree_of(ranking, v);

	ranking->rank[v] = rank;
	if (degree > 0)
		ranking->next_share[v] = rank / (double) degree;
	else
		part->dangling += rank;
}

/* Give every vertex 1 / n. */
static void
start_ranks(void *arg, int thread, int nthreads)
{
	Ranking    *ranking = arg;
	uint64_t	b;

	while (!emogi_job_stopped(&ranking->run.job) && (b = emogi_job_take(&ranking->run.next, 1)) < ranking->nblocks)
	{
		uint64_t	end = emogi_run_chunk_end(b * BLOCK, BLOCK, ranking->nvertices);
		Part		part = {0};

		for (uint64_t v = b * BLOCK; v < end; v++)
			put_rank(ranking, v, 1.0 / (double) ranking->nvertices, &part);
		ranking->parts[b] = part;
	}
}

/* Add up the shares of list entries. */
static inline double
sum_entries(const double *share, const uint32_t *targets, uint64_t count)
{
	double		sums[4] = {0};
	uint64_t	i = 0;

	for (; i + 4 <= count; i += 4)
	{
		sums[0] += share[targets[i]];
		sums[1] += share[targets[i + 1]];
		sums[2] += share[targets[i + 2]];
		sums[3] += share[targets[i + 3]];
	}
	for (; i < count; i++)
		sums[i % 4] += share[targets[i]];
	return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* Add up the shares of a long list; false when the job has stopped. */
static bool
sum_long_list(Ranking *ranking, uint64_t first, uint64_t end, double *sum)
{
	*sum = 0.0;
	for (uint64_t i = first; i < end; i += EMOGI_RUN_POLL)
	{
		uint64_t	stop = emogi_run_chunk_end(i, EMOGI_RUN_POLL, end);

		*sum += sum_entries(ranking->share, ranking->in.targets + i, stop - i);
		if (emogi_job_stopped(&ranking->run.job))
			return false;
	}
	return true;
}

/* Make the new ranks of blocks. */
static void
pull_ranks(void *arg, int thread, int nthreads)
{
	Ranking    *ranking = arg;
	double		n = (double) ranking->nvertices;
	uint64_t	b;

	while (!emogi_job_stopped(&ranking->run.job) && (b = emogi_job_take(&ranking->run.next, 1)) < ranking->nblocks)
	{
		uint64_t	end = emogi_run_chunk_end(b * BLOCK, BLOCK, ranking->nvertices);
		uint64_t	first = ranking->in.offsets[b * BLOCK];
		uint64_t	polled = first;
		Part		part = {0};

		for (uint64_t v = b * BLOCK; v < end; v++)
		{
			uint64_t	after = ranking->in.offsets[v + 1];
			double		sum;
			double		rank;

			if (after - first <= EMOGI_RUN_POLL)
				sum = sum_entries(ranking->share, ranking->in.targets + first, after - first);
			else if (!sum_long_list(ranking, first, after, &sum))
				return;
			first = after;
			rank = emogi_pagerank_finish(ranking->damping, n, ranking->dangling, sum);
			part.change += fabs(rank - ranking->rank[v]);
			put_rank(ranking, v, rank, &part);
			if (after - polled > EMOGI_RUN_POLL)
			{
				if (emogi_job_stopped(&ranking->run.job))
					return;
				polled = after;
			}
		}
		ranking->parts[b] = part;
		emogi_job_done(&ranking->run.job, end - b * BLOCK);
	}
}

/* Add up the parts of all blocks and let the next shares be the shares. */
static void
close_iteration(Ranking *ranking)
{
	double	   *swap = ranking->share;
	double		change = 0.0;

	ranking->dangling = 0.0;
	for (uint64_t b = 0; b < ranking->nblocks; b++)
	{
		change += ranking->parts[b].change;
		ranking->dangling += ranking->parts[b].dangling;
	}
	ranking->run.result->change = change;
	ranking->share = ranking->next_share;
	ranking->next_share = swap;
}

/* Iterate until the change is below the tolerance; false when the job has stopped. */
static bool
iterate(Ranking *ranking, const EmogiQuery *query)
{
	EmogiResult *result = ranking->run.result;
	EmogiControl *control = ranking->run.job.control;

	if (ranking->out_degree != NULL && !emogi_run_step(&ranking->run, count_degrees, ranking, false))
		return false;
	if (!emogi_run_step(&ranking->run, start_ranks, ranking, false))
		return false;
	close_iteration(ranking);
	do
	{
		control->level = result->nlevels;
		control->done = 0;
		if (!emogi_run_step(&ranking->run, pull_ranks, ranking, false))
			return false;
		close_iteration(ranking);
		result->nlevels++;
		result->edges_traversed += ranking->in.nedges;
	} while (result->nlevels < query->max_iterations && !(result->change < query->tolerance));
	return true;
}

/* Get the scratch memory; false when there is none. */
static bool
open_ranking(Ranking *ranking)
{
	EmogiCpuRun *run = &ranking->run;

	ranking->share = emogi_run_scratch(run, ranking->nvertices, sizeof(double));
	ranking->next_share = emogi_run_scratch(run, ranking->nvertices, sizeof(double));
	ranking->parts = emogi_run_scratch(run, ranking->nblocks, sizeof(Part));
	if (ranking->out_offsets == NULL)
		ranking->out_degree = emogi_run_scratch(run, ranking->nvertices, sizeof(uint64_t));
	return !emogi_job_stopped(&run->job);
}

EmogiStatus
emogi_cpu_pagerank(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
				   EmogiControl *control, EmogiError *error)
{
	Ranking		ranking = {.in = graph->forward, .nvertices = graph->nvertices, .damping = query->damping};

	emogi_run_begin(&ranking.run, pool, graph, graph->nvertices, result, control, error, "PageRank");
	ranking.rank = result->value;
	ranking.out_offsets = graph->backward.offsets;
	ranking.nblocks = (graph->nvertices + BLOCK - 1) / BLOCK;
	if (open_ranking(&ranking) && graph->nvertices > 0 && iterate(&ranking, query))
		result->nreached = graph->nvertices;
	return emogi_run_end(&ranking.run);
}
