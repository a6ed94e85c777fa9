/*
 * pull_spmv.h: sparse matrix-vector products by pulling: each vertex sums the values of the
 * vertices in its adjacency list.
 *
 * The edges of a list are added in order, weighted ones in four interleaved sums, and totals over
 * all vertices are sums of fixed blocks in order. So the result is bit-identical for any number of
 * threads. Values may be integers instead, whose sums do not depend on the order. If the values do
 * not fit the caches, the matrix is blocked (blocked_spmv.h). If blocking does not pay, prefetching
 * helps for evenly spread accesses and hurts for skewed ones: the first two steps try both.
 */
#ifndef EMOGI_PULL_SPMV_H
#define EMOGI_PULL_SPMV_H

#include "cpu/cpu_run.h"
#include "cpu/blocked_spmv.h"

#include "contract/semirings.h"

/*
 * Tuned. Times with these values are in bench/RESULTS.md: two cores of an Intel Xeon, commit
 * 45449c8.
 */
#define EMOGI_PULL_PREFETCH 64	/* prefetch distance of values, edges */
#define EMOGI_PULL_BLOCK_BITS 10
/* vertices whose sums are made together */
#define EMOGI_PULL_BLOCK ((uint64_t) 1 << EMOGI_PULL_BLOCK_BITS)

/*
 * Sums over adjacency lists. Between steps it belongs to the caller's thread; during a step it is
 * read-only.
 */
typedef struct EmogiPullSpmv
{
	EmogiCpuRun *run;
	EmogiAdjacency lists;		/* the list of v holds the vertices whose values v sums */
	EmogiAdjacency transposed;	/* the transposed edges; offsets may be NULL */
	EmogiWeightType weight_type;
	bool		weighted;		/* multiply values by the edges' weights */
	const double *values;		/* [nvertices], of this step */
	const uint64_t *units;		/* [nvertices], integers used instead, without weights; NULL =
								 * none */
	uint64_t	nvertices;
	uint64_t	nblocks;
	EmogiBlockedSpmv tiles;		/* the blocked matrix, made before the first step if it pays */
	bool		ahead;			/* prefetch values; the sums are the same */
	uint32_t	nsteps;			/* steps made, up to 2 */
	int64_t		max_steps;		/* maximum number of steps */
	double		trial_ms[2];	/* times of the first step, without prefetching, and the second,
								 * with it */
} EmogiPullSpmv;

/* A thread's position in the blocks of a step. */
typedef struct EmogiPullCursor
{
	EmogiPullSpmv *pull;
	int			thread;
	uint64_t	block;			/* the current or last block */
	uint64_t	upto;			/* first block after the current group of tiles; 0 = no group
								 * begun */
	uint64_t	first;			/* first vertex of the group */
	const double *sums;			/* [group's vertices] */
	const uint64_t *unit_sums;	/* the same for integers */
} EmogiPullCursor;

/* A sum of values, or of integers. */
typedef union EmogiPullSum
{
	double		value;
	uint64_t	units;
} EmogiPullSum;

/* Receives the sum of a vertex; arg belongs to one block, whose vertices come in order. */
typedef void (EmogiPullPut) (void *arg, uint64_t v, double sum);
typedef void (EmogiPullPutUnits) (void *arg, uint64_t v, uint64_t sum);

/* Set up sums over adjacency lists of a graph, for at most the iterations of a query. */
extern EmogiPullSpmv emogi_pull_spmv_over(EmogiCpuRun *run, const EmogiGraph *graph,
										  const EmogiAdjacency *lists, const EmogiQuery *query);

/* Run a step that pulls; false if the job has stopped. */
extern bool emogi_pull_spmv_step(EmogiPullSpmv *pull, EmogiPoolTask step, void *arg);

/* Take the next group of tiles and sum it; false if none are left or the job has stopped. */
extern bool emogi_pull_spmv_next_group(EmogiPullCursor *turn);

/* Sum a list of more than EMOGI_RUN_POLL edges; false if the job has stopped. */
extern bool emogi_pull_spmv_long_list(const EmogiPullSpmv *pull, uint64_t first, uint64_t end,
									  EmogiPullSum *sum);

/* Add up the sums of all blocks, in order. */
static inline double
emogi_pull_spmv_total(const double *parts, uint64_t nblocks)
{
	double		total = 0.0;

	for (uint64_t b = 0; b < nblocks; b++)
		total += parts[b];
	return total;
}

/* Add a value to a sum. */
static inline __attribute__((always_inline)) void
emogi_pull_spmv_add(const EmogiPullSpmv *pull, uint32_t source, bool units, EmogiPullSum *sum)
{
	if (units)
		sum->units += pull->units[source];
	else
		sum->value += pull->values[source];
}

/*
 * Add the values of edges to a sum, in order. ahead: prefetch the values EMOGI_PULL_PREFETCH edges
 * ahead, which must exist.
 */
static inline __attribute__((always_inline)) EmogiPullSum
emogi_pull_spmv_entries(const EmogiPullSpmv *pull, const uint32_t *targets, uint64_t count,
						bool ahead, bool units, EmogiPullSum sum)
{
	const char *values = units ? (const char *) pull->units : (const char *) pull->values;
	const uint32_t *end = targets + count / 4 * 4;

	for (; targets < end; targets += 4)
	{
		for (int j = 0; ahead && j < 4; j++)
			__builtin_prefetch(values + targets[EMOGI_PULL_PREFETCH + j] * sizeof(double), 0, 2);
		for (int j = 0; j < 4; j++)
			emogi_pull_spmv_add(pull, targets[j], units, &sum);
	}
	for (uint64_t j = 0; j < count % 4; j++)
		emogi_pull_spmv_add(pull, targets[j], units, &sum);
	return sum;
}

/* Sum the weighted values of `count` edges from `first` on. */
static inline double
emogi_pull_spmv_weighted(const EmogiPullSpmv *pull, uint64_t first, uint64_t count)
{
	const uint32_t *targets = pull->lists.targets + first;
	double		sums[4] = {0.0};

	for (uint64_t i = 0; i < count; i++)
		sums[i % 4] += pull->values[targets[i]] *
			emogi_weight(pull->lists.weights, pull->weight_type, first + i);
	return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* Pass a sum on. Exactly one of put and put_units is given. */
static inline __attribute__((always_inline)) void
emogi_pull_spmv_put(EmogiPullPut *put, EmogiPullPutUnits *put_units, void *arg, uint64_t v,
					EmogiPullSum sum)
{
	if (put_units != NULL)
		put_units(arg, v, sum.units);
	else
		put(arg, v, sum.value);
}

/* Make the sums of a block, specialized by constants; false if the job has stopped. */
static inline __attribute__((always_inline)) bool
emogi_pull_spmv_block_specialized(const EmogiPullSpmv *pull, uint64_t b, bool ahead, bool weighted,
								  EmogiPullPut *put, EmogiPullPutUnits *put_units, void *arg)
{
	const bool	units = put_units != NULL;
	EmogiJob   *job = &pull->run->job;
	uint64_t	end = emogi_cpu_run_chunk_end(b * EMOGI_PULL_BLOCK, EMOGI_PULL_BLOCK,
											  pull->nvertices);
	uint64_t	first = pull->lists.offsets[b * EMOGI_PULL_BLOCK];
	uint64_t	polled = first;

	for (uint64_t v = b * EMOGI_PULL_BLOCK; v < end; v++)
	{
		uint64_t	after = pull->lists.offsets[v + 1];
		EmogiPullSum sum = {0};

		if (weighted && after - first <= EMOGI_RUN_POLL)
			sum.value = emogi_pull_spmv_weighted(pull, first, after - first);
		else if (after - first <= EMOGI_RUN_POLL)
			sum = emogi_pull_spmv_entries(pull, pull->lists.targets + first, after - first, ahead,
										  units, sum);
		else if (!emogi_pull_spmv_long_list(pull, first, after, &sum))
			return false;
		first = after;
		emogi_pull_spmv_put(put, put_units, arg, v, sum);
		if (after - polled > EMOGI_RUN_POLL)
		{
			if (emogi_job_stopped(job))
				return false;
			polled = after;
		}
	}
	emogi_job_done(job, end - b * EMOGI_PULL_BLOCK);
	return true;
}

/* Take the next block of a step; false if none are left or the job has stopped. */
static inline bool
emogi_pull_spmv_next(EmogiPullCursor *turn)
{
	EmogiPullSpmv *pull = turn->pull;

	if (turn->block + 1 < turn->upto)
	{
		turn->block++;
		return true;
	}
	if (pull->tiles.entries != NULL)
		return emogi_pull_spmv_next_group(turn);
	turn->block = emogi_job_stopped(&pull->run->job) ? pull->nblocks
		: emogi_job_claim(&pull->run->next, 1);
	return turn->block < pull->nblocks;
}

/*
 * Make the sums of a thread's current block, of values or of integers; false if the job has
 * stopped. put and put_units must be constants.
 */
static inline __attribute__((always_inline)) bool
emogi_pull_spmv_block_of(const EmogiPullCursor *turn, EmogiPullPut *put,
						 EmogiPullPutUnits *put_units, void *arg)
{
	const EmogiPullSpmv *pull = turn->pull;
	const uint64_t b = turn->block;
	uint64_t	end = emogi_cpu_run_chunk_end(b * EMOGI_PULL_BLOCK, EMOGI_PULL_BLOCK,
											  pull->nvertices);
	bool		ahead = pull->ahead && pull->lists.nedges - pull->lists.offsets[end] >=
		EMOGI_PULL_PREFETCH + 4;

	if (turn->upto > 0)
	{
		for (uint64_t v = b * EMOGI_PULL_BLOCK; v < end; v++)
			emogi_pull_spmv_put(put, put_units, arg, v,
								put_units != NULL
								? (EmogiPullSum) {.units = turn->unit_sums[v - turn->first]} :
								(EmogiPullSum) {.value = turn->sums[v - turn->first]});
		emogi_job_done(&pull->run->job, end - b * EMOGI_PULL_BLOCK);
		return true;
	}
	if (pull->weighted && put_units == NULL)
		return emogi_pull_spmv_block_specialized(pull, b, false, true, put, NULL, arg);
	if (ahead)
		return emogi_pull_spmv_block_specialized(pull, b, true, false, put, put_units, arg);
	return emogi_pull_spmv_block_specialized(pull, b, false, false, put, put_units, arg);
}

/*
 * Make the sums of values of a thread's current block; false if the job has stopped. put must be a
 * constant.
 */
static inline __attribute__((always_inline)) bool
emogi_pull_spmv_block(const EmogiPullCursor *turn, EmogiPullPut *put, void *arg)
{
	return emogi_pull_spmv_block_of(turn, put, NULL, arg);
}

/* The same for integers. */
static inline __attribute__((always_inline)) bool
emogi_pull_spmv_block_units(const EmogiPullCursor *turn, EmogiPullPutUnits *put, void *arg)
{
	return emogi_pull_spmv_block_of(turn, NULL, put, arg);
}

#endif							/* EMOGI_PULL_SPMV_H */
