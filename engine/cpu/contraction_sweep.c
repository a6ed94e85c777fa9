/*
 * contraction_sweep.c: the distances from several sources to many targets by a contraction
 * hierarchy.
 *
 * Method. An upward search from a source, followed by one sweep down over all vertices in
 * descending rank, gives the distances to all vertices [1]. Several sources share a sweep, because
 * each arc is then read only once. These distances are exact but for rounding (contraction.c); let
 * g be the relative error of a sum. If SSSP reaches v over an edge of weight w from u, the swept
 * distances satisfy d(u) + w <= d(v) (1 + 4g). Such edges are followed back from the targets, each
 * vertex once, and SSSP's own sums are formed on the way back; the minimum of them is SSSP's
 * distance. Nearly always, one edge qualifies. If edges of nearly no weight form a cycle,
 * Dijkstra's search among the visited vertices forms the sums. The sources of a sweep are followed
 * back in turn, one step each, so that the cache misses of one overlap with the work of the others.
 *
 * [1] D. Delling, A. V. Goldberg, A. Nowatzyk, R. F. Werneck. PHAST: hardware-accelerated shortest
 *     path trees. IPDPS 2011.
 */
#include "contraction_sweep.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LANES EMOGI_CONTRACTION_LANES
#define PREFETCH_DISTANCE 32	/* prefetch distance of the endpoints of arcs, arcs */
#define ARC_PREFETCH_DISTANCE 192	/* prefetch distance of arcs */
/* Get the distances of a vertex that an upward search reaches. */
static inline double *
get_above(EmogiSweep *sweep, uint32_t rank)
{
	double	   *near = sweep->near + (uint64_t) rank * LANES;

	if ((sweep->above[rank / 64] >> rank % 64 & 1) == 0)
	{
		sweep->above[rank / 64] |= UINT64_C(1) << rank % 64;
		for (int lane = 0; lane < LANES; lane++)
			near[lane] = (double) INFINITY;
	}
	return near;
}

/*
 * Search up from a source, given by rank, in a lane. Vertices are settled in the order of ranks,
 * each once.
 */
static bool
search_up(EmogiSweep *sweep, uint32_t source, int lane)
{
	const EmogiArc *arcs = emogi_contraction_arcs(sweep->made, sweep->up);
	const uint64_t *firsts = emogi_contraction_firsts(sweep->made, sweep->up);

	get_above(sweep, source)[lane] = 0.0;
	sweep->heap.count = 0;
	if (!emogi_sweep_push(sweep, (EmogiSweepEntry) {(double) source, source}))
		return false;
	while (sweep->heap.count > 0)
	{
		const uint32_t rank = emogi_sweep_pop(sweep).vertex;
		const double distance = sweep->near[(uint64_t) rank * LANES + (uint64_t) lane];

		sweep->nscanned += firsts[rank + 1] - firsts[rank];
		for (uint64_t i = firsts[rank]; i < firsts[rank + 1]; i++)
		{
			double	   *above = &get_above(sweep, arcs[i].to)[lane];
			const bool	is_new = *above == (double) INFINITY;

			if (distance + arcs[i].weight < *above)
				*above = distance + arcs[i].weight;
			if (is_new && *above < (double) INFINITY &&
				!emogi_sweep_push(sweep, (EmogiSweepEntry) {(double) arcs[i].to, arcs[i].to}))
				return false;
		}
	}
	return true;
}

/* Relax an arc in all lanes: low = min(low, high + weight). */
static inline void
relax(double *low, const double *high, double weight)
{
#ifdef __SSE2__
	for (int lane = 0; lane < LANES; lane += 2)
		_mm_storeu_pd(low + lane,
					  _mm_min_pd(_mm_loadu_pd(low + lane),
								 _mm_add_pd(_mm_loadu_pd(high + lane), _mm_set1_pd(weight))));
#else
	for (int lane = 0; lane < LANES; lane++)
		low[lane] = high[lane] + weight < low[lane] ? high[lane] + weight : low[lane];
#endif
}

/* Sweep down over all vertices; false if the job has stopped. */
static bool
sweep_down(EmogiSweep *sweep)
{
	const EmogiArc *arcs = emogi_contraction_arcs(sweep->made, 1 - sweep->up);
	const uint64_t *firsts = emogi_contraction_firsts(sweep->made, 1 - sweep->up);

	for (uint64_t rank = sweep->made->nvertices; rank-- > 0;)
	{
		double		best[LANES];

		if (sweep->above[rank / 64] >> rank % 64 & 1)
			memcpy(best, sweep->near + rank * LANES, sizeof best);
		else
			for (int lane = 0; lane < LANES; lane++)
				best[lane] = (double) INFINITY;
		for (uint64_t i = firsts[rank]; i < firsts[rank + 1]; i++)
		{
			if (i >= ARC_PREFETCH_DISTANCE)
				__builtin_prefetch(&arcs[i - ARC_PREFETCH_DISTANCE]);
			if (i >= PREFETCH_DISTANCE)
				__builtin_prefetch(sweep->near + (uint64_t) arcs[i - PREFETCH_DISTANCE].to * LANES);
			relax(best, sweep->near + (uint64_t) arcs[i].to * LANES, arcs[i].weight);
		}
		memcpy(sweep->near + rank * LANES, best, sizeof best);
		if (rank % EMOGI_SWEEP_POLL_RANKS == 0 && emogi_sweep_is_stopped(sweep))
			return false;
	}
	sweep->nscanned += firsts[sweep->made->nvertices];
	return true;
}

/*
 * Compute the distances from up to LANES sources, a lane each; false if the job has stopped or
 * given up.
 */
static bool
find_rows(EmogiSweep *sweep, const EmogiQuery *query, uint64_t first, double *distance)
{
	const uint32_t *ranks = emogi_contraction_ranks(sweep->made);
	const int	count = (int) (query->nsources - first < LANES ? query->nsources - first : LANES);

	memset(sweep->above, 0, (sweep->made->nvertices + 63) / 64 * sizeof *sweep->above);
	for (int s = 0; s < count; s++)
		if (!search_up(sweep, ranks[query->sources[first + (uint64_t) s]], s))
			return false;
	if (!sweep_down(sweep))
		return false;
	for (int s = 0; s < count; s++)
		if (!emogi_contraction_begin_row(sweep, ranks, query,
										 query->sources[first + (uint64_t) s], s))
			return false;
	if (!emogi_contraction_follow(sweep, ranks, query, count))
		return false;
	for (int s = 0; s < count; s++)
		if (!emogi_contraction_end_row(sweep, query, s,
									   distance + (first + (uint64_t) s) * query->ntargets))
			return false;
	return !emogi_sweep_is_stopped(sweep);
}

/* ---- threads ---- */

/* Allocate zeroed memory; NULL, with the job failed, if out of memory. */
static void *
allocate(EmogiSweep *sweep, uint64_t count, size_t bytes)
{
	void	   *array = emogi_job_may_allocate(sweep->job) ? calloc(count > 0 ? count : 1, bytes)
		: NULL;

	if (array == NULL)
		emogi_job_fail(sweep->job, EMOGI_NO_MEMORY);
	return array;
}

/*
 * Allocate memory on huge pages for arrays with random access; NULL, with the job failed, if out of
 * memory. Each page is written to first: reading an untouched page would map the kernel's zero
 * page, and the later write would cost a TLB shootdown in all threads.
 */
static void *
allocate_huge(EmogiSweep *sweep, uint64_t bytes, void **memory)
{
	const uintptr_t page = 4096;
	char	   *start;

	*memory = allocate(sweep, bytes + page, 1);
	if (*memory == NULL)
		return NULL;
	start = (char *) (((uintptr_t) *memory + page - 1) & ~(page - 1));
	(void) madvise(start, bytes & ~(page - 1), MADV_HUGEPAGE);
	for (uint64_t i = 0; i < bytes; i += page)
		((volatile char *) start)[i] = 0;
	return start;
}

/* The rows to compute. Each thread takes blocks of LANES rows, and sweeps once for each. */
typedef struct Rows
{
	EmogiJob	job;
	EmogiSweep common;
	const EmogiQuery *query;
	double	   *distance;
	uint64_t	next;			/* the first row not taken by a thread */
	uint64_t	nscanned;
} Rows;

/*
 * Compute blocks of rows until none are left; a thread's task. Only the caller's thread polls for
 * cancellation.
 */
static void
find_blocks(void *arg, int thread, int nthreads)
{
	Rows	   *rows = arg;
	EmogiSweep sweep = rows->common;
	EmogiSweepSum *sums;
	void	   *sums_memory;
	uint64_t	first;

	(void) nthreads;
	if (thread != 0)
		sweep.poll = NULL;
	sweep.near = allocate_huge(&sweep, sweep.made->nvertices * LANES * sizeof(double),
							   &sweep.near_memory);
	sweep.above = allocate(&sweep, sweep.made->nvertices / 64 + 1, sizeof *sweep.above);
	sums = allocate_huge(&sweep, sweep.made->nvertices * LANES * sizeof *sums, &sums_memory);
	for (int lane = 0; lane < LANES && sums != NULL; lane++)
		sweep.rows[lane].sums = sums + (uint64_t) lane * sweep.made->nvertices;
	while (!emogi_job_stopped(&rows->job) && (first = emogi_job_claim(&rows->next, LANES)) <
		   rows->query->nsources)
		if (!find_rows(&sweep, rows->query, first, rows->distance))
			break;
	__atomic_fetch_add(&rows->nscanned, sweep.nscanned, __ATOMIC_RELAXED);
	free(sweep.near_memory);
	free(sweep.above);
	free(sums_memory);
	for (int lane = 0; lane < LANES; lane++)
	{
		free(sweep.rows[lane].visited.items);
		free(sweep.rows[lane].frames.items);
	}
	free(sweep.heap.items);
}

EmogiStatus
emogi_contraction_sweep(const EmogiContraction *made, const EmogiGraph *graph, bool reversed,
						const EmogiQuery *query, int nthreads, bool (*poll) (void),
						double *distance, uint64_t *nscanned, EmogiControl *control,
						EmogiError *error)
{
	Rows		rows = {.job = {.control = control}, .query = query, .distance = distance};
	EmogiPool  *pool = nthreads > 1 && query->nsources > LANES ? emogi_pool_create(nthreads) : NULL;

	error->message[0] = error->detail[0] = '\0';
	rows.common = (EmogiSweep) {.job = &rows.job, .made = made, .graph = graph,
		.up = reversed ? 1 : 0, .poll = poll};
	if (pool != NULL)
		emogi_pool_run(pool, find_blocks, &rows);
	else
		find_blocks(&rows, 0, 1);
	emogi_pool_destroy(pool);
	*nscanned = rows.nscanned;
	if (rows.job.status == EMOGI_NO_MEMORY)
	{
		snprintf(error->message, sizeof error->message, "out of memory while computing distances");
		snprintf(error->detail, sizeof error->detail, "%llu vertices",
				 (unsigned long long) made->nvertices);
	}
	return (EmogiStatus) rows.job.status;
}
