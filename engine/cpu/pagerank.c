/*
 * pagerank.c: PageRank.
 *
 * Fills value[nvertices]: ranks that sum to 1 (algorithms.h has the formula).
 *
 * Each vertex pulls [1] the shares of its predecessors, which graph->forward holds; the share of a
 * vertex is its rank divided by its out-degree. A share is computed once, together with the rank,
 * for the next iteration; pull_spmv.h sums the shares. Shares are integers (contract/rank_units.h)
 * unless there are weights or integers would be too coarse (emogi_rank_units_applicable). With
 * weights, a share is multiplied by each edge's weight; graph->backward has the weights of the
 * outgoing edges, which are summed in list order.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson. The GAP Benchmark Suite. arXiv:1508.03619, 2015.
 *     Section 3 (PageRank).
 */
#include "cpu_algorithms.h"
#include "cpu.h"
#include "cpu/pull_spmv.h"

#include "contract/rank_units.h"

#include <stdio.h>

#define BLOCK EMOGI_PULL_BLOCK
#define EDGE_CHUNK 65536

bool		emogi_cpu_ranks_always_coarse = false;

/* The contribution of a block of vertices to the global sums. */
typedef struct Part
{
	double		change;
	double		dangling;
	uint64_t	unit_change;	/* the same for integers */
	uint64_t	unit_dangling;
} Part;

typedef struct Ranking
{
	EmogiCpuRun run;
	EmogiPullSpmv pull;			/* over `in` */
	EmogiAdjacency in;			/* the list of v: the sources of the edges that end in v */
	EmogiAdjacency out;			/* the outgoing edges; offsets may be NULL */
	const uint64_t *out_offsets;	/* [nvertices + 1], if the outgoing edges exist as lists */
	uint64_t   *out_degree;		/* [nvertices], atomic while counted; NULL if out_offsets exist */
	double	   *strength;		/* [nvertices], sums of the weights of outgoing edges; NULL =
								 * unweighted */
	uint32_t   *counts;			/* [ncounters][nvertices], while outgoing edges are counted */
	uint64_t	ncounters;
	uint64_t	nvertices;
	double		damping;
	const double *teleport;			/* [nvertices], teleport distribution; NULL = uniform */
	EmogiWeightType weight_type;
	double		dangling;		/* the rank of all vertices without outgoing edges */
	double		teleport_share;	/* total teleport rank, if shares are integers */
	double	   *rank;			/* [nvertices] */
	double	   *share;			/* [nvertices], the share of each outgoing edge */
	double	   *next_share;		/* [nvertices] */
	uint64_t   *units;			/* [nvertices], integer shares; NULL = shares are doubles */
	uint64_t   *next_units;
	bool		coarse;			/* integers have 36 significant bits */
	Part	   *parts;			/* [nblocks] */
} Ranking;

/* Count the outgoing edges of each vertex, with all threads in the same counters. */
static void
count_degrees(void *arg, int thread, int nthreads)
{
	Ranking    *ranking = arg;

	for (uint64_t i, end;
		 emogi_cpu_run_take(&ranking->run, EDGE_CHUNK, ranking->in.nedges, &i, &end);)
		for (; i < end; i++)
			__atomic_fetch_add(&ranking->out_degree[ranking->in.targets[i]], 1, __ATOMIC_RELAXED);
}

/* Count the outgoing edges in counters of this thread. */
static void
count_per_thread(void *arg, int thread, int nthreads)
{
	Ranking    *ranking = arg;
	uint32_t   *counts = ranking->counts + (uint64_t) thread * ranking->nvertices;

	for (uint64_t i, end;
		 emogi_cpu_run_take(&ranking->run, EDGE_CHUNK, ranking->in.nedges, &i, &end);)
		for (; i < end; i++)
			counts[ranking->in.targets[i]]++;
}

/* Sum the counters of all threads. */
static void
add_counts(void *arg, int thread, int nthreads)
{
	Ranking    *ranking = arg;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&ranking->run, EDGE_CHUNK, ranking->nvertices, &v, &end);)
		for (; v < end; v++)
		{
			for (uint64_t t = 0; t < ranking->ncounters; t++)
				ranking->out_degree[v] += ranking->counts[t * ranking->nvertices + v];
		}
}

/*
 * Count the outgoing edges: in counters per thread if these are small relative to the edges,
 * otherwise in shared ones.
 */
static bool
count_edges_out(Ranking *ranking)
{
	EmogiCpuRun *run = &ranking->run;

	ranking->ncounters = (uint64_t) emogi_pool_size(run->pool);
	if (ranking->ncounters * ranking->nvertices > ranking->in.nedges / 4 ||
		ranking->in.nedges > UINT32_MAX)
		return emogi_cpu_run_step(run, count_degrees, ranking, false);
	ranking->counts = emogi_cpu_run_scratch(run, ranking->ncounters * ranking->nvertices,
											sizeof(uint32_t));
	return ranking->counts != NULL && emogi_cpu_run_step(run, count_per_thread, ranking, false) &&
		emogi_cpu_run_step(run, add_counts, ranking, false);
}

/* Sum the weights of the outgoing edges of each vertex. */
static void
sum_weights(void *arg, int thread, int nthreads)
{
	Ranking    *ranking = arg;

	for (uint64_t v, end; emogi_cpu_run_take(&ranking->run, BLOCK, ranking->nvertices, &v, &end);)
		for (; v < end; v++)
		{
			double		sum = 0.0;

			for (uint64_t i = ranking->out.offsets[v]; i < ranking->out.offsets[v + 1]; i++)
				sum += emogi_weight(ranking->out.weights, ranking->weight_type, i);
			if (!emogi_rank_strength_is_valid(sum))
			{
				snprintf(ranking->run.error->message, sizeof ranking->run.error->message,
						 "the sum of the weights of the edges of a vertex, %g, is out of range for "
						 "ranks", sum);
				__atomic_store_n(&ranking->run.result->refusal.kind, EMOGI_WEIGHTS_OUT_OF_RANGE,
								 __ATOMIC_RELAXED);
				emogi_job_fail(&ranking->run.job, EMOGI_BAD_INPUT);
				return;
			}
			ranking->strength[v] = sum;
		}
}

/* Get the out-degree of a vertex. */
static inline uint64_t
degree_of(const Ranking *ranking, uint64_t v)
{
	if (ranking->out_degree != NULL)
		return ranking->out_degree[v];
	return ranking->out_offsets[v + 1] - ranking->out_offsets[v];
}

/*
 * Store the new rank of a vertex, and its share for the next iteration or its part of the dangling
 * rank.
 */
static inline void
put_rank(Ranking *ranking, uint64_t v, double rank, Part *part)
{
	const double shares = ranking->strength != NULL ? ranking->strength[v]
		: (double) degree_of(ranking, v);

	ranking->rank[v] = rank;
	if (shares > 0.0)
		ranking->next_share[v] = rank / shares;
	else
	{
		ranking->next_share[v] = 0.0;
		part->dangling += rank;
	}
}

/* The same with integer shares. */
static inline __attribute__((always_inline)) void
put_rank_units(Ranking *ranking, uint64_t v, double rank, Part *part)
{
	const uint64_t nedges = degree_of(ranking, v);

	ranking->rank[v] = rank;
	if (nedges > 0)
		ranking->next_units[v] = emogi_rank_units_share(rank, nedges, (uint32_t) v,
														ranking->coarse);
	else
	{
		ranking->next_units[v] = 0;
		part->unit_dangling += emogi_rank_units_of(rank);
	}
}

/* Set every rank to 1 / n. */
static void
start_ranks(void *arg, int thread, int nthreads)
{
	Ranking    *ranking = arg;

	for (uint64_t v, end; emogi_cpu_run_take(&ranking->run, BLOCK, ranking->nvertices, &v, &end);)
	{
		const uint64_t b = v / BLOCK;

		Part		part = {0};

		for (; v < end; v++)
		{
			if (ranking->next_units != NULL)
				put_rank_units(ranking, v, 1.0 / (double) ranking->nvertices, &part);
			else
				put_rank(ranking, v, 1.0 / (double) ranking->nvertices, &part);
		}
		ranking->parts[b] = part;
	}
}

/* Get the new rank of a vertex, given the sum of its shares. */
static inline double
finish_rank(const Ranking *ranking, uint64_t v, double sum)
{
	if (ranking->teleport != NULL)
		return emogi_pagerank_finish_at(ranking->damping, ranking->teleport[v], ranking->dangling,
										sum);
	return emogi_pagerank_finish(ranking->damping, (double) ranking->nvertices, ranking->dangling,
								 sum);
}

/* The accumulators of a block. */
typedef struct Block
{
	Ranking    *ranking;
	Part		part;
} Block;

/* Compute the new rank of a vertex from the sum of its shares. */
static inline __attribute__((always_inline)) void
put_sum(void *arg, uint64_t v, double sum)
{
	Block	   *block = arg;
	Ranking    *ranking = block->ranking;
	double		rank = finish_rank(ranking, v, sum);

	block->part.change += fabs(rank - ranking->rank[v]);
	put_rank(ranking, v, rank, &block->part);
}

/* The same for a sum of integers. */
static inline __attribute__((always_inline)) void
put_units(void *arg, uint64_t v, uint64_t sum)
{
	Block	   *block = arg;
	Ranking    *ranking = block->ranking;
	double		proportion = ranking->teleport != NULL ? ranking->teleport[v]
		: 1.0 / (double) ranking->nvertices;
	double      rank = emogi_rank_units_finish(ranking->damping, ranking->teleport_share,
											   proportion, sum);

	block->part.unit_change += emogi_rank_units_change(ranking->rank[v], rank);
	put_rank_units(ranking, v, rank, &block->part);
}

/* Compute the new ranks of blocks. */
static void
pull_ranks(void *arg, int thread, int nthreads)
{
	Ranking    *ranking = arg;
	EmogiPullCursor turn = {.pull = &ranking->pull, .thread = thread};

	while (emogi_pull_spmv_next(&turn))
	{
		Block		block = {.ranking = ranking};

		if (!(ranking->units != NULL ? emogi_pull_spmv_block_units(&turn, put_units, &block)
			  : emogi_pull_spmv_block(&turn, put_sum, &block)))
			return;
		ranking->parts[turn.block] = block.part;
	}
}

/* Add up the parts of all blocks and replace the shares by the next ones. */
static void
close_iteration(Ranking *ranking)
{
	double	   *swap = ranking->share;
	uint64_t   *swap_units = ranking->units;
	Part		all = {0};

	for (uint64_t b = 0; b < ranking->pull.nblocks; b++)
	{
		const Part *part = &ranking->parts[b];

		all.change += part->change;
		all.dangling += part->dangling;
		all.unit_change += part->unit_change;
		all.unit_dangling += part->unit_dangling;
	}
	ranking->dangling = all.dangling;
	ranking->teleport_share = emogi_rank_units_teleports(ranking->damping, all.unit_dangling);
	ranking->run.result->change = ranking->units != NULL
		? emogi_rank_units_total_change(all.unit_change) : all.change;
	ranking->share = ranking->next_share;
	ranking->next_share = swap;
	ranking->units = ranking->next_units;
	ranking->next_units = swap_units;
}

/* Iterate until the change is below the tolerance; false if the job has stopped. */
static bool
iterate(Ranking *ranking, const EmogiQuery *query)
{
	EmogiResult *result = ranking->run.result;
	EmogiControl *control = ranking->run.job.control;

	if (ranking->out_degree != NULL && !count_edges_out(ranking))
		return false;
	if (ranking->strength != NULL &&
		!emogi_cpu_run_step(&ranking->run, sum_weights, ranking, false))
		return false;
	if (!emogi_cpu_run_step(&ranking->run, start_ranks, ranking, false))
		return false;
	close_iteration(ranking);
	do
	{
		control->level = result->nlevels;
		control->done = 0;
		ranking->pull.values = ranking->share;
		ranking->pull.units = ranking->units;
		if (!emogi_pull_spmv_step(&ranking->pull, pull_ranks, ranking))
			return false;
		close_iteration(ranking);
		result->nlevels++;
		result->edges_traversed += ranking->in.nedges;
	} while (result->nlevels < query->max_iterations && !(result->change < query->tolerance));
	return true;
}

/* Allocate the scratch memory; false if out of memory. */
static bool
open_ranking(Ranking *ranking, const EmogiQuery *query)
{
	EmogiCpuRun *run = &ranking->run;

	ranking->coarse = emogi_cpu_ranks_always_coarse || emogi_rank_units_coarse(ranking->in.nedges);
	if (emogi_rank_units_applicable(query, ranking->nvertices, ranking->coarse))
	{
		ranking->units = emogi_cpu_run_scratch(run, ranking->nvertices, sizeof(uint64_t));
		ranking->next_units = emogi_cpu_run_scratch(run, ranking->nvertices, sizeof(uint64_t));
	}
	else
	{
		ranking->share = emogi_cpu_run_scratch(run, ranking->nvertices, sizeof(double));
		ranking->next_share = emogi_cpu_run_scratch(run, ranking->nvertices, sizeof(double));
	}
	ranking->parts = emogi_cpu_run_scratch(run, ranking->pull.nblocks, sizeof(Part));
	if (query->is_weighted)
		ranking->strength = emogi_cpu_run_scratch(run, ranking->nvertices, sizeof(double));
	else if (ranking->out_offsets == NULL)
		ranking->out_degree = emogi_cpu_run_scratch(run, ranking->nvertices, sizeof(uint64_t));
	return !emogi_job_stopped(&run->job);
}

EmogiStatus
emogi_cpu_pagerank(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
				   EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Ranking		ranking = {.in = graph->forward, .nvertices = graph->nvertices,
		.damping = query->damping};

	emogi_cpu_run_begin(&ranking.run, pool, graph, graph->nvertices, result, control, error,
						"PageRank");
	ranking.rank = result->columns[0].float64;
	ranking.out = graph->backward;
	ranking.out_offsets = graph->backward.offsets;
	ranking.teleport = query->teleport;
	ranking.weight_type = graph->weight_type;
	ranking.pull = emogi_pull_spmv_over(&ranking.run, graph, &graph->forward, query);
	if (open_ranking(&ranking, query) && graph->nvertices > 0 && iterate(&ranking, query))
		result->nreached = graph->nvertices;
	return emogi_cpu_run_end(&ranking.run);
}
