/*
 * best_paths.c: best paths by the threads of a pool: the applications of the path semiring
 * (algorithms.h).
 *
 * Fills distance[nvertices]: the best value of a path from a source, +inf (EMOGI_LEAST) or -1
 * (EMOGI_MOST) = not reached, or beyond max_distance. The answer is the fixpoint that every order
 * of work finds (algorithms.h), bit for bit.
 *
 * Delta-stepping [1] with the bins of each thread apart and bins fused over rounds [2]. Work is
 * sorted by value into bins; all threads empty the lowest together, round by round, until nothing
 * more falls into it; then the next. The width of a bin trades work done twice against work for
 * many threads. What lies beyond the last bin waits in a far bin, from which the bins are filled
 * again when they are empty, so that any range of distances will do; if nearly all of it stays far,
 * bins become wider. Light and heavy edges are not told apart: with short lists the second look
 * costs more than it saves. All this goes for values that are sums of weights
 * (EMOGI_PATH_ADDITIVE).
 *
 * When all targets of a Query are reached, the value of the farthest bounds the search: what is
 * farther leads to no better value of a target, for values only grow along a path. The search ends
 * with the bin of that value. What is as far as the farthest target is found, too: over edges that
 * weigh nothing it may lie on a way to a target, and have fewer edges than others (trace_path.c).
 *
 * Other values are weights or near them: their bins are cut at the quantiles of the weights, the
 * best values first.
 *
 * Without weights every search is breadth-first: values only get worse along a path, so that one of
 * the fewest edges is best.
 *
 * [1] U. Meyer, P. Sanders. Delta-stepping: a parallelizable shortest path algorithm. J. Algorithms
 *     49(1), 2003. Section 2.
 * [2] Y. Zhang et al. Optimizing Ordered Graph Algorithms with GraphIt. CGO 2020. Section 3.3
 *     (bucket fusion).
 */
#include "best_paths.h"

#include "contract/semirings.h"
#include "algorithms.h"
#include "bfs.h"

#include <stdlib.h>

#define LEAST_DELTA 1e-300
#define MOST_DELTA 1e300

/*
 * Sums grow along a path, and bins of equal width lead upwards: what adds up must want the least.
 */
#define CHECK_ORDER(NAME, name, column, order, source, traits, candidate) \
	_Static_assert(((traits) & EMOGI_PATH_ADDITIVE) == 0 || (order) == EMOGI_LEAST, #name " adds up and wants the most");
EMOGI_ALGORITHMS(EMOGI_NOTHING, CHECK_ORDER, EMOGI_NOTHING)
#undef CHECK_ORDER

/* Order doubles for qsort. */
static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a,
				y = *(const double *) b;

	return (x > y) - (x < y);
}

/* Take finite weights, spread evenly over all; get how many. */
static uint64_t
sample_weights(const EmogiBestPaths *path, double *samples)
{
	uint64_t	nedges = path->lists.nedges;
	uint64_t	step = nedges / EMOGI_BEST_PATHS_SAMPLES + 1;
	uint64_t	count = 0;

	for (uint64_t i = 0; i < nedges; i += step)
	{
		double		weight = emogi_weight(path->lists.weights, path->weight_type, i);

		if (weight < (double) INFINITY)
			samples[count++] = weight;
	}
	return count;
}

/* Set the width of a bin, within what divides. */
static void
set_delta(EmogiBestPaths *path, double delta)
{
	if (!(delta >= LEAST_DELTA))
		delta = LEAST_DELTA;
	path->per_bin = 1.0 / (delta <= MOST_DELTA ? delta : MOST_DELTA);
}

/* Choose the limits of the bins out of sampled weights: quantiles, best first. */
static void
set_limits(EmogiBestPaths *path, double *samples, uint64_t count)
{
	const bool	most = emogi_path_wants_most(path->algorithm);

	qsort(samples, count, sizeof(double), compare_doubles);
	for (uint64_t b = 1; b < EMOGI_NBINS && count > 0; b++)
	{
		uint64_t	rank = b * count / EMOGI_NBINS;
		double		limit = samples[most ? count - 1 - rank : rank];

		if (path->nlimits == 0 ||
			emogi_path_better(path->algorithm, path->limits[path->nlimits - 1], limit))
			path->limits[path->nlimits++] = limit;
	}
}

/* Choose the bins: their width where values add up, else their limits. */
static void
choose_bins(EmogiBestPaths *path)
{
	double		samples[EMOGI_BEST_PATHS_SAMPLES];
	uint64_t	count = sample_weights(path, samples);
	double		degree = (double) path->lists.nedges / (double) path->nvertices;
	double		mean = 0.0;

	if (!emogi_path_adds(path->algorithm))
	{
		set_limits(path, samples, count);
		return;
	}
	for (uint64_t i = 0; i < count; i++)
		mean += samples[i] / (double) count;
	set_delta(path, mean > 0.0 ? mean * EMOGI_BEST_PATHS_DELTA_SHARE * (1.0 + 32.0 / degree) : 1.0);
}

/*
 * Take the blocks of the current bin off all threads into the round; gets the number of items, 0
 * without memory too.
 */
static uint64_t
open_round(EmogiBestPaths *path, int nthreads)
{
	uint64_t	nitems = 0;

	path->nround = 0;
	path->nhubs = 0;
	for (int t = 0; t < nthreads; t++)
	{
		EmogiBucketBlock *block = path->bins[t].top[path->bin];

		for (; block != NULL; block = block->below)
		{
			if (path->nround == path->round_room)
			{
				uint64_t	room = path->round_room * 2 + 64;
				EmogiBucketBlock **larger = realloc(path->round, room * sizeof(*larger));

				if (larger == NULL)
				{
					emogi_job_fail(&path->run.job, EMOGI_NO_MEMORY);
					return 0;
				}
				path->round = larger;
				path->round_room = room;
			}
			path->round[path->nround++] = block;
			nitems += block->count;
		}
		path->bins[t].top[path->bin] = NULL;
	}
	return nitems;
}

/* Give the emptied blocks of the round back, to each thread its share. */
static void
close_round(EmogiBestPaths *path, int nthreads)
{
	for (uint64_t i = 0; i < path->nround; i++)
		emogi_buckets_keep(&path->bins[i % (uint64_t) nthreads], path->round[i]);
}

/* Tell how far the search is. */
static void
report(EmogiBestPaths *path, int nthreads)
{
	uint64_t	nreached = 0;

	for (int t = 0; t < nthreads; t++)
		nreached += path->tally[t].nreached;
	path->run.job.control->done = nreached;
	path->run.job.control->level = path->run.result->nlevels;
	path->run.result->nreached = nreached;
}

/*
 * Bound the search by the farthest target when all are reached; costs no more than the walk since
 * the last time.
 */
static void
bound_by_targets(EmogiBestPaths *path, const EmogiQuery *query, int nthreads)
{
	uint64_t	looked = 0;
	double		farthest = 0.0;

	if (!emogi_path_adds(path->algorithm) || query->ntargets == 0)
		return;
	while (path->nfound < query->ntargets && path->value[query->targets[path->nfound]] < path->none)
	{
		if ((++path->nfound & 0xFFFF) == 0 && emogi_job_stopped(&path->run.job))
			return;
	}
	for (int t = 0; t < nthreads; t++)
		looked += path->tally[t].looked;
	if (path->nfound < query->ntargets ||
		(path->farthest < path->none && looked - path->looked < query->ntargets))
		return;
	for (uint64_t i = 0; i < query->ntargets; i++)
	{
		double		value = path->value[query->targets[i]];

		farthest = value > farthest ? value : farthest;
		if ((i & 0xFFFF) == 0xFFFF && emogi_job_stopped(&path->run.job))
			return;
	}
	path->looked = looked;
	path->farthest = farthest;
	path->bound = farthest;
}

/*
 * Say whether all that is left, in the current bin and later ones, lies beyond the farthest target.
 */
static bool
has_enough(const EmogiBestPaths *path)
{
	return (path->farthest - path->base) * path->per_bin < (double) path->bin;
}

/* Empty the current bin, round by round; false when the job has stopped. */
static bool
empty_bin(EmogiBestPaths *path, const EmogiQuery *query, int nthreads)
{
	uint64_t	nitems;

	while ((nitems = open_round(path, nthreads)) > 0)
	{
		bound_by_targets(path, query, nthreads);
		if (!emogi_cpu_run_step(&path->run, emogi_best_paths_walk, path,
								nitems < EMOGI_BEST_PATHS_ALONE_ITEMS) ||
			(path->nhubs > 0 &&
			 !emogi_cpu_run_step(&path->run, emogi_best_paths_walk_hubs, path, false)))
			return false;
		close_round(path, nthreads);
		path->run.result->nlevels++;
		report(path, nthreads);
	}
	return !emogi_job_stopped(&path->run.job);
}

/*
 * Fill the bins from the far one; false when nothing that is wanted is there or the job has
 * stopped.
 */
static bool
refill_bins(EmogiBestPaths *path, int nthreads)
{
	double		nearest = path->none;
	uint64_t	nfar = 0,
				nnear = 0;

	for (int t = 0; t < nthreads; t++)
	{
		path->tally[t].nearest = path->none;
		path->tally[t].nfar = path->tally[t].nnear = 0;
	}
	if (!emogi_path_adds(path->algorithm) ||
		!emogi_cpu_run_step(&path->run, emogi_best_paths_find_nearest, path, false))
		return false;
	for (int t = 0; t < nthreads; t++)
		nearest = path->tally[t].nearest < nearest ? path->tally[t].nearest : nearest;
	if (nearest == path->none || nearest > path->farthest)
		return false;
	path->base = nearest;
	if (path->too_narrow)
		set_delta(path, 2.0 / path->per_bin);
	if (!emogi_cpu_run_step(&path->run, emogi_best_paths_sort_far, path, false))
		return false;
	for (int t = 0; t < nthreads; t++)
	{
		nfar += path->tally[t].nfar;
		nnear += path->tally[t].nnear;
	}
	path->too_narrow = nfar / 8 > nnear;
	return true;
}

/* Search from the sources; false when the job has stopped. */
static bool
search(EmogiBestPaths *path, const EmogiQuery *query, int nthreads)
{
	if (!emogi_cpu_run_step(&path->run, emogi_best_paths_clear, path, false))
		return false;
	for (uint64_t i = 0; i < query->nsources; i++)
	{
		if (!emogi_best_paths_enter(path, query->sources[i]))
			emogi_job_fail(&path->run.job, EMOGI_NO_MEMORY);
		if (i % EMOGI_RUN_POLL == 0 && emogi_job_stopped(&path->run.job))
			return false;
	}
	report(path, nthreads);
	do
	{
		for (path->bin = 0; path->bin < EMOGI_NBINS && !has_enough(path); path->bin++)
		{
			if (!empty_bin(path, query, nthreads))
				return false;
		}
	} while (path->bin == EMOGI_NBINS && refill_bins(path, nthreads));
	return !emogi_job_stopped(&path->run.job);
}

/* Get the scratch memory; false when there is none. */
static bool
open_path(EmogiBestPaths *path, int nthreads)
{
	path->hub_room = path->lists.nedges / EMOGI_BEST_PATHS_HUB_ENTRIES + 1;
	path->hubs = emogi_cpu_run_scratch(&path->run, path->hub_room, sizeof(EmogiBestPathsHub));
	path->bins = emogi_cpu_run_scratch(&path->run, (uint64_t) nthreads, sizeof(EmogiBuckets));
	path->tally = emogi_cpu_run_scratch(&path->run, (uint64_t) nthreads,
										sizeof(EmogiBestPathsTally));
	return !emogi_job_stopped(&path->run.job);
}

/* Run a search over weighted lists. */
static EmogiStatus
run_weighted(EmogiBestPaths *path, EmogiPool *pool, const EmogiGraph *graph,
			 const EmogiQuery *query, EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	int			nthreads = emogi_pool_size(pool);

	emogi_cpu_run_begin(&path->run, pool, graph, graph->nvertices, result, control, error,
						"best paths");
	path->lists = graph->forward;
	path->weight_type = graph->weight_type;
	path->nvertices = graph->nvertices;
	path->value = result->columns[0].float64;
	if (open_path(path, nthreads))
	{
		if (graph->forward.nedges > 0)
			choose_bins(path);
		search(path, query, nthreads);
		for (int t = 0; t < nthreads; t++)
		{
			result->edges_traversed += path->tally[t].looked;
			emogi_buckets_free(&path->bins[t]);
		}
	}
	free(path->round);
	return emogi_cpu_run_end(&path->run);
}

/* What turns levels into values. */
typedef struct Conversion
{
	EmogiCpuRun run;
	EmogiAlgorithm algorithm;
	uint64_t	nvertices;
	const int32_t *level;		/* [nvertices] */
	double	   *of_level;		/* [levels entered], the value of a vertex of each level */
	double	   *value;			/* [nvertices] */
	uint64_t	nreached;		/* atomic */
} Conversion;

/*
 * Find the value of each level: what the one before offers over an edge of weight 1. False when the
 * job has stopped.
 */
static bool
find_values(Conversion *conversion, uint32_t nlevels)
{
	const double none = emogi_path_none(conversion->algorithm);
	double		value = emogi_path_source(conversion->algorithm);

	conversion->of_level = emogi_cpu_run_scratch(&conversion->run, nlevels, sizeof(double));
	for (uint32_t k = 0; k < nlevels && conversion->of_level != NULL; k++)
	{
		conversion->of_level[k] = value;
		if (value != none)
			value = emogi_path_candidate(conversion->algorithm, value, 1.0);
		if (!emogi_path_better(conversion->algorithm, value, none))
			value = none;
		if (k % EMOGI_RUN_POLL == 0 && emogi_job_stopped(&conversion->run.job))
			return false;
	}
	return conversion->of_level != NULL;
}

/* Turn levels into values; counts those of vertices that are reached. */
static void
convert_levels(void *arg, int thread, int nthreads)
{
	Conversion *conversion = arg;
	const double none = emogi_path_none(conversion->algorithm);
	uint64_t	nreached = 0;
	uint64_t	v;

	while (!emogi_job_stopped(&conversion->run.job) &&
		   (v = emogi_job_take(&conversion->run.next, EMOGI_BEST_PATHS_CONVERT_AT_ONCE)) <
		   conversion->nvertices)
	{
		uint64_t	end = emogi_cpu_run_chunk_end(v, EMOGI_BEST_PATHS_CONVERT_AT_ONCE,
												  conversion->nvertices);

		for (; v < end; v++)
		{
			int32_t		level = conversion->level[v];
			double		value = level < 0 ? none : conversion->of_level[level];

			conversion->value[v] = value;
			nreached += value != none;
		}
	}
	__atomic_fetch_add(&conversion->nreached, nreached, __ATOMIC_RELAXED);
}

/* Turn a query into one by hops: bounds mean something where values add up. */
static EmogiQuery
by_hops(const EmogiQuery *query)
{
	const double most = query->max_distance - emogi_path_source(query->algorithm);
	EmogiQuery	hops = *query;

	hops.algorithm = EMOGI_BFS;
	hops.summary = NULL;
	hops.max_depth = -1;
	if (!emogi_path_adds(query->algorithm))
		hops.ntargets = 0;
	else if (!(most >= 0.0))
		hops.nsources = 0;
	else if (most < (double) EMOGI_MAX_VERTICES)
		hops.max_depth = (int64_t) most;
	return hops;
}

/* Run a search over lists without weights: breadth-first. */
static EmogiStatus
run_unweighted(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
			   EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Conversion	conversion = {.algorithm = query->algorithm, .nvertices = graph->nvertices};
	EmogiQuery	hops = by_hops(query);
	EmogiResult levels = {0};
	EmogiStatus status = EMOGI_OK;

	emogi_cpu_run_begin(&conversion.run, pool, graph, graph->nvertices, result, control, error,
						"best paths");
	conversion.value = result->columns[0].float64;
	conversion.level = levels.columns[0].int32 =
		emogi_cpu_run_scratch(&conversion.run, graph->nvertices, sizeof(int32_t));
	if (conversion.level != NULL)
		status = emogi_cpu_bfs(pool, graph, &hops, &levels, control, error);
	if (status != EMOGI_OK)
		emogi_job_fail(&conversion.run.job, status);
	else if (conversion.level != NULL && find_values(&conversion, levels.nlevels) &&
			 emogi_cpu_run_step(&conversion.run, convert_levels, &conversion, false))
	{
		result->nreached = conversion.nreached;
		result->nlevels = levels.nlevels;
		result->edges_traversed = levels.edges_traversed;
	}
	return emogi_cpu_run_end(&conversion.run);
}

EmogiStatus
emogi_cpu_path(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
			   EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	const bool	adds = emogi_path_adds(query->algorithm);
	EmogiBestPaths path = {.algorithm = query->algorithm, .none = emogi_path_none(query->algorithm),
		.bound = adds ? query->max_distance : (double) INFINITY, .farthest = (double) INFINITY,
		.base = adds ? emogi_path_source(query->algorithm) : 0.0, .per_bin = 1.0};

	if (graph->weight_type == EMOGI_WEIGHT_NONE)
		return run_unweighted(pool, graph, query, result, control, error);
	return run_weighted(&path, pool, graph, query, result, control, error);
}
