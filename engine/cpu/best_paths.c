/*
 * best_paths.c: best paths on the CPU, for all algorithms of the path semiring (algorithms.h).
 *
 * Fills distance[nvertices]: the best value of a path from a source, +inf (EMOGI_MINIMIZE) or -1
 * (EMOGI_MAXIMIZE) = not reached, or beyond max_distance. The result is the fixpoint that every
 * order of relaxations reaches (algorithms.h), bit for bit.
 *
 * Delta-stepping [1] with thread-local bins and bucket fusion [2]. Work is sorted by value into
 * bins. All threads empty the lowest bin together, round by round, until nothing more falls into
 * it; then the next. The width of a bin trades repeated work against parallelism. Values beyond the
 * last bin wait in a far bin, from which the bins are refilled when they are empty, so that any
 * range of distances works; if nearly all of the far bin stays far, the bins become wider. Light
 * and heavy edges are not distinguished: adjacency lists are short, so that a second pass over them
 * costs more than it saves. This paragraph applies to values that are sums of weights
 * (EMOGI_PATH_ADDITIVE).
 *
 * Once all targets of a query are reached, the value of the farthest one bounds the search. Values
 * only grow along a path, so that a vertex beyond the bound cannot improve a target. The search
 * ends with the bin of that value. Vertices exactly as far as the farthest target are still found:
 * over edges of weight 0 such a vertex may lie on a path to a target that has fewer edges than
 * others (trace_path.c).
 *
 * Values that are not sums are weights or close to them: their bins are bounded by the quantiles of
 * the weights, the best values first.
 *
 * Without weights, every search is breadth-first: values only get worse along a path, so that a
 * path of the fewest edges is a best path.
 *
 * [1] U. Meyer, P. Sanders. Delta-stepping: a parallelizable shortest path algorithm. J. Algorithms
 *     49(1), 2003. Section 2.
 * [2] Y. Zhang et al. Optimizing Ordered Graph Algorithms with GraphIt. CGO 2020. Section 3.3
 *     (bucket fusion).
 */
#include "best_paths.h"

#include "contract/semirings.h"
#include "cpu_algorithms.h"
#include "bfs.h"

#include <stdlib.h>

#define MIN_DELTA 1e-300
#define MAX_DELTA 1e300

/*
 * Sums grow along a path, and bins of equal width ascend; so an additive algorithm must minimize.
 */
#define CHECK_ORDER(NAME, name, column, order, source, traits, candidate) \
	_Static_assert(((traits) & EMOGI_PATH_ADDITIVE) == 0 || (order) == EMOGI_MINIMIZE, \
				   #name " adds up and wants the most");
EMOGI_ALGORITHMS(EMOGI_NOTHING, CHECK_ORDER, EMOGI_NOTHING)
#undef CHECK_ORDER

/* Compare doubles for qsort. */
static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a,
				y = *(const double *) b;

	return (x > y) - (x < y);
}

/* Sample finite weights at even intervals; returns their number. */
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

/* Set the width of a bin, clamped to values that can be divided by. */
static void
set_delta(EmogiBestPaths *path, double delta)
{
	if (!(delta >= MIN_DELTA))
		delta = MIN_DELTA;
	path->per_bin = 1.0 / (delta <= MAX_DELTA ? delta : MAX_DELTA);
}

/* Set the limits of the bins to the quantiles of sampled weights, best first. */
static void
set_limits(EmogiBestPaths *path, double *samples, uint64_t count)
{
	const bool	max = emogi_path_maximizes(path->algorithm);

	qsort(samples, count, sizeof(double), compare_doubles);
	for (uint64_t b = 1; b < EMOGI_NBINS && count > 0; b++)
	{
		uint64_t	rank = b * count / EMOGI_NBINS;
		double		limit = samples[max ? count - 1 - rank : rank];

		if (path->nlimits == 0 ||
			emogi_path_better(path->algorithm, path->limits[path->nlimits - 1], limit))
			path->limits[path->nlimits++] = limit;
	}
}

/* Choose the bins: a width for additive values, limits for others. */
static void
choose_bins(EmogiBestPaths *path)
{
	double		samples[EMOGI_BEST_PATHS_SAMPLES];
	uint64_t	count = sample_weights(path, samples);
	double		degree = (double) path->lists.nedges / (double) path->nvertices;
	double		mean = 0.0;

	if (!emogi_path_is_additive(path->algorithm))
	{
		set_limits(path, samples, count);
		return;
	}
	for (uint64_t i = 0; i < count; i++)
		mean += samples[i] / (double) count;
	set_delta(path, mean > 0.0 ? mean * EMOGI_BEST_PATHS_DELTA_SHARE * (1.0 + 32.0 / degree) : 1.0);
}

/*
 * Move the blocks of the current bin of all threads into the round; returns the number of items,
 * also 0 if out of memory.
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

/* Distribute the emptied blocks of the round among the threads. */
static void
close_round(EmogiBestPaths *path, int nthreads)
{
	for (uint64_t i = 0; i < path->nround; i++)
		emogi_buckets_recycle(&path->bins[i % (uint64_t) nthreads], path->round[i]);
}

/* Publish the progress of the search. */
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
 * Once all targets are reached, bound the search by the farthest one. The cost is at most
 * proportional to the edges examined since the last time.
 */
static void
bound_by_targets(EmogiBestPaths *path, const EmogiQuery *query, int nthreads)
{
	uint64_t	nscanned = 0;
	double		farthest = 0.0;

	if (!emogi_path_is_additive(path->algorithm) || query->ntargets == 0)
		return;
	while (path->nfound < query->ntargets && path->value[query->targets[path->nfound]] < path->none)
	{
		if ((++path->nfound & 0xFFFF) == 0 && emogi_job_stopped(&path->run.job))
			return;
	}
	for (int t = 0; t < nthreads; t++)
		nscanned += path->tally[t].nscanned;
	if (path->nfound < query->ntargets ||
		(path->farthest < path->none && nscanned - path->nscanned < query->ntargets))
		return;
	for (uint64_t i = 0; i < query->ntargets; i++)
	{
		double		value = path->value[query->targets[i]];

		farthest = value > farthest ? value : farthest;
		if ((i & 0xFFFF) == 0xFFFF && emogi_job_stopped(&path->run.job))
			return;
	}
	path->nscanned = nscanned;
	path->farthest = farthest;
	path->bound = farthest;
}

/*
 * Check whether all remaining work, in the current bin and later ones, lies beyond the farthest
 * target.
 */
static bool
has_enough(const EmogiBestPaths *path)
{
	return (path->farthest - path->base) * path->per_bin < (double) path->bin;
}

/* Empty the current bin, round by round; false if the job has stopped. */
static bool
empty_bin(EmogiBestPaths *path, const EmogiQuery *query, int nthreads)
{
	uint64_t	nitems;

	while ((nitems = open_round(path, nthreads)) > 0)
	{
		bound_by_targets(path, query, nthreads);
		if (!emogi_cpu_run_step(&path->run, emogi_best_paths_relax, path,
								nitems < EMOGI_BEST_PATHS_SERIAL_ITEMS) ||
			(path->nhubs > 0 &&
			 !emogi_cpu_run_step(&path->run, emogi_best_paths_relax_hubs, path, false)))
			return false;
		close_round(path, nthreads);
		path->run.result->nlevels++;
		report(path, nthreads);
	}
	return !emogi_job_stopped(&path->run.job);
}

/*
 * Refill the bins from the far bin; false if it holds nothing within the bound or the job has
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
	if (!emogi_path_is_additive(path->algorithm) ||
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

/* Search from the sources; false if the job has stopped. */
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

/* Allocate the scratch memory; false if out of memory. */
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

/* Run a search over a weighted graph. */
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
			result->edges_traversed += path->tally[t].nscanned;
			emogi_buckets_free(&path->bins[t]);
		}
	}
	free(path->round);
	return emogi_cpu_run_end(&path->run);
}

/* The conversion of BFS levels to values. */
typedef struct Conversion
{
	EmogiCpuRun run;
	EmogiAlgorithm algorithm;
	uint64_t	nvertices;
	const int32_t *level;		/* [nvertices] */
	double	   *of_level;		/* [levels reached], the value of a vertex on each level */
	double	   *value;			/* [nvertices] */
	uint64_t	nreached;		/* atomic */
} Conversion;

/*
 * Compute the value of each level: the candidate that the previous one offers over an edge of
 * weight
 * 1. False if the job has stopped.
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

/* Convert levels to values, counting reached vertices. */
static void
convert_levels(void *arg, int thread, int nthreads)
{
	Conversion *conversion = arg;
	const double none = emogi_path_none(conversion->algorithm);
	uint64_t	nreached = 0;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&conversion->run, EMOGI_BEST_PATHS_CONVERT_CHUNK, conversion->nvertices,
							&v, &end);)
		for (; v < end; v++)
		{
			int32_t		level = conversion->level[v];
			double		value = level < 0 ? none : conversion->of_level[level];

			conversion->value[v] = value;
			nreached += value != none;
		}
	__atomic_fetch_add(&conversion->nreached, nreached, __ATOMIC_RELAXED);
}

/* Convert a query to a BFS query. Its bounds apply only to additive values. */
static EmogiQuery
by_hops(const EmogiQuery *query)
{
	const double max = query->max_distance - emogi_path_source(query->algorithm);
	EmogiQuery	hops = *query;

	hops.algorithm = EMOGI_BFS;
	hops.summary = NULL;
	hops.max_depth = -1;
	if (!emogi_path_is_additive(query->algorithm))
		hops.ntargets = 0;
	else if (!(max >= 0.0))
		hops.nsources = 0;
	else if (max < (double) EMOGI_MAX_VERTICES)
		hops.max_depth = (int64_t) max;
	return hops;
}

/* Run a search over an unweighted graph: breadth-first. */
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
	const bool	adds = emogi_path_is_additive(query->algorithm);
	EmogiBestPaths path = {.algorithm = query->algorithm, .none = emogi_path_none(query->algorithm),
		.bound = adds ? query->max_distance : (double) INFINITY, .farthest = (double) INFINITY,
		.base = adds ? emogi_path_source(query->algorithm) : 0.0, .per_bin = 1.0};

	if (graph->weight_type == EMOGI_WEIGHT_NONE)
		return run_unweighted(pool, graph, query, result, control, error);
	return run_weighted(&path, pool, graph, query, result, control, error);
}
