/*
 * semiring_sum.c: the algorithms of the sum semiring that take start values.
 *
 * Fills value[nvertices] (algorithms.h lists the algorithms and their formulas).
 *
 * Jacobi iteration by pulling: the new value of a vertex is computed from the old values of its
 * predecessors, which graph->forward holds, in list order. There are no atomic operations, and the
 * result is bit-identical for any number of threads. The loop over a list is written once; the
 * compiler instantiates it for each algorithm and each weight type.
 *
 * [1] F. Khorasani, K. Vora, R. Gupta, L. Bhuyan. CuSha: Vertex-Centric Graph Processing on GPUs.
 *     HPDC 2014. Table 3.
 */
#include "cpu_algorithms.h"
#include "cpu/cpu_run.h"

#include "contract/semirings.h"

#include <string.h>

#define VERTEX_CHUNK 1024

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Counters of one thread in an iteration. */
typedef struct Tally
{
	double		change;			/* maximum over its vertices */
	char		pad[EMOGI_LINE_BYTES - 8];
} Tally;

typedef struct Gather
{
	EmogiCpuRun run;
	EmogiAlgorithm algorithm;
	EmogiAdjacency in;			/* the list of v: the sources of the edges that end in v */
	EmogiWeightType weight_type;
	uint64_t	nvertices;
	const double *start;		/* [nvertices] */
	double	   *value;			/* [nvertices] */
	double	   *next_value;		/* [nvertices] */
	Tally	   *tally;			/* [nthreads] */
} Gather;

/* Get the larger number, or NaN if either is NaN, so that an overflow never counts as converged. */
static inline double
larger(double a, double b)
{
	return a > b || a != a ? a : b;
}

/* Set the start values. Algorithms with fixed vertices start the others at 0. */
static void
start_values(void *arg, int thread, int nthreads)
{
	Gather	   *gather = arg;
	const bool	fixes = (emogi_sum_traits(gather->algorithm) & EMOGI_SUM_DIRICHLET) != 0;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&gather->run, VERTEX_CHUNK, gather->nvertices, &v, &end);)
		for (; v < end; v++)
		{
			bool		is_free = fixes && isnan(gather->start[v]);

			gather->value[v] = is_free ? 0.0 : gather->start[v];
		}
}

/* Sum the edges first .. end-1 of a vertex: contributions in *sum, weights in *total. */
ALWAYS_INLINE void
add_entries(const Gather *gather, EmogiAlgorithm algorithm, EmogiWeightType type, double own,
			uint64_t first, uint64_t end, double *sum, double *total)
{
	const uint32_t *targets = gather->in.targets;
	const void *weights = gather->in.weights;
	const double *value = gather->value;
	double		contributions = *sum;
	double		weights_sum = *total;

	for (uint64_t i = first; i < end; i++)
	{
		double		weight = emogi_weight(weights, type, i);
		double		other = value[targets[i]];

		contributions += emogi_sum_contribution(algorithm, other, own, weight);
		if (emogi_sum_traits(algorithm) & EMOGI_SUM_DIRICHLET)
			weights_sum += weight;
	}
	*sum = contributions;
	*total = weights_sum;
}

/* Compute the new value of a vertex; false if the job has stopped. */
ALWAYS_INLINE bool
make_value(Gather *gather, EmogiAlgorithm algorithm, EmogiWeightType type, uint64_t v, Tally *tally)
{
	uint64_t	first = gather->in.offsets[v];
	uint64_t	end = gather->in.offsets[v + 1];
	const uint32_t traits = emogi_sum_traits(algorithm);
	double		own = gather->value[v];
	double		sum = 0.0,
				total = 0.0,
				next;

	if (((traits & EMOGI_SUM_DIRICHLET) != 0 && !isnan(gather->start[v])) ||
		((traits & EMOGI_SUM_KEEPS_ISOLATED) != 0 && first == end))
	{
		gather->next_value[v] = own;
		return true;
	}
	while (end - first > EMOGI_RUN_POLL)
	{
		add_entries(gather, algorithm, type, own, first, first + EMOGI_RUN_POLL, &sum, &total);
		first += EMOGI_RUN_POLL;
		if (emogi_job_stopped(&gather->run.job))
			return false;
	}
	add_entries(gather, algorithm, type, own, first, end, &sum, &total);
	next = emogi_sum_finish(algorithm, own, sum, total);
	tally->change = larger(tally->change, fabs(next - own));
	gather->next_value[v] = next;
	return true;
}

/* Compute the new values of chunks of vertices. */
ALWAYS_INLINE void
make_values(Gather *gather, EmogiAlgorithm algorithm, EmogiWeightType type, Tally *tally)
{

	for (uint64_t v, end;
		 emogi_cpu_run_take(&gather->run, VERTEX_CHUNK, gather->nvertices, &v, &end);)
	{
		uint64_t	polled = gather->in.offsets[v];

		emogi_job_done(&gather->run.job, end - v);
		for (; v < end; v++)
		{
			if (!make_value(gather, algorithm, type, v, tally))
				return;
			if (gather->in.offsets[v + 1] - polled > EMOGI_RUN_POLL)
			{
				if (emogi_job_stopped(&gather->run.job))
					return;
				polled = gather->in.offsets[v + 1];
			}
		}
	}
}

/* Compute the new values with the algorithm as a constant. */
ALWAYS_INLINE void
make_typed_values(Gather *gather, EmogiAlgorithm algorithm, Tally *tally)
{
	switch (gather->weight_type)
	{
		case EMOGI_WEIGHT_NONE:
			make_values(gather, algorithm, EMOGI_WEIGHT_NONE, tally);
			break;
		case EMOGI_WEIGHT_U8:
			make_values(gather, algorithm, EMOGI_WEIGHT_U8, tally);
			break;
		case EMOGI_WEIGHT_U16:
			make_values(gather, algorithm, EMOGI_WEIGHT_U16, tally);
			break;
		case EMOGI_WEIGHT_U32:
			make_values(gather, algorithm, EMOGI_WEIGHT_U32, tally);
			break;
		case EMOGI_WEIGHT_F32:
			make_values(gather, algorithm, EMOGI_WEIGHT_F32, tally);
			break;
		case EMOGI_WEIGHT_F64:
			make_values(gather, algorithm, EMOGI_WEIGHT_F64, tally);
			break;
	}
}

/* Compute the new values of all vertices. */
static void
gather_values(void *arg, int thread, int nthreads)
{
	Gather	   *gather = arg;
	Tally	   *tally = &gather->tally[thread];

	switch (gather->algorithm)
	{
#define SUM(NAME, ...) \
		case EMOGI_##NAME: \
			make_typed_values(gather, EMOGI_##NAME, tally); \
			break;
			EMOGI_ALGORITHMS(EMOGI_LEAVE, EMOGI_LEAVE, SUM)
#undef SUM
	}
}

/* Replace the values by the new ones; returns the largest change. */
static double
close_iteration(Gather *gather, int nthreads)
{
	double	   *swap = gather->value;
	double		change = 0.0;

	for (int t = 0; t < nthreads; t++)
		change = larger(change, gather->tally[t].change);
	gather->value = gather->next_value;
	gather->next_value = swap;
	return change;
}

/* Iterate until the change is below the tolerance; false if the job has stopped. */
static bool
iterate(Gather *gather, const EmogiQuery *query, int nthreads)
{
	EmogiResult *result = gather->run.result;
	EmogiControl *control = gather->run.job.control;

	if (!emogi_cpu_run_step(&gather->run, start_values, gather, false))
		return false;
	do
	{
		control->level = result->nlevels;
		control->done = 0;
		memset(gather->tally, 0, (size_t) nthreads * sizeof(Tally));
		if (!emogi_cpu_run_step(&gather->run, gather_values, gather, false))
			return false;
		result->change = close_iteration(gather, nthreads);
		result->nlevels++;
		result->edges_traversed += gather->in.nedges;
	} while (result->nlevels < query->max_iterations && !(result->change < query->tolerance));
	return true;
}

EmogiStatus
emogi_cpu_semiring_sum(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
					   EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Gather		gather = {.algorithm = query->algorithm, .in = graph->forward,
		.weight_type = graph->weight_type};
	int			nthreads = emogi_pool_size(pool);

	emogi_cpu_run_begin(&gather.run, pool, graph, graph->nvertices, result, control, error,
						"values by iteration");
	gather.nvertices = graph->nvertices;
	gather.start = query->values;
	gather.value = result->columns[0].float64;
	gather.next_value = emogi_cpu_run_scratch(&gather.run, graph->nvertices, sizeof(double));
	gather.tally = emogi_cpu_run_scratch(&gather.run, (uint64_t) nthreads, sizeof(Tally));
	if (!emogi_job_stopped(&gather.run.job) && graph->nvertices > 0 &&
		iterate(&gather, query, nthreads))
	{
		if (gather.value != result->columns[0].float64)
			memcpy(result->columns[0].float64, gather.value, graph->nvertices * sizeof(double));
		result->nreached = graph->nvertices;
	}
	return emogi_cpu_run_end(&gather.run);
}
