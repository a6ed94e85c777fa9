/*
 * distance.c: find the number of PageRank iterations after which the ranks are within a given
 * distance of the fixed point.
 *
 * An iteration reduces the L1 distance to the fixed point by a factor of at most the damping d.
 * After a change c the distance is therefore at most c d / (1 - d), and a run that stops below such
 * a change yields a sufficient number of iterations. The distance decreases almost geometrically,
 * so the minimum between this number and 0 is found by interpolating the logarithm of the distance,
 * in a few runs with fixed numbers of iterations.
 */
#include "series.h"

#include <math.h>

#define REFERENCE_CHANGE 1e-14
#define REFERENCE_ITERATIONS 2000
#define GUESSES 8				/* by interpolation; bisection afterwards */

/* Get the L1 distance of values, or of 1/n if values is NULL, from the reference. */
static double
distance_of(const EmogiBench *bench, const double *values)
{
	const uint64_t n = bench->built.graph.nvertices;
	double		sum = 0.0;

	for (uint64_t v = 0; v < n; v++)
		sum += fabs((values != NULL ? values[v] : 1.0 / (double) n) - bench->reference[v]);
	return sum;
}

/* Compute the reference if it does not exist; returns false if it does not fit in memory. */
static bool
make_reference(EmogiBench *bench, EmogiSeries *series)
{
	const uint64_t n = bench->built.graph.nvertices;
	EmogiQuery	query = series->query;
	EmogiRun	run;

	if (bench->reference != NULL)
		return true;
	query.tolerance = REFERENCE_CHANGE;
	query.max_iterations = REFERENCE_ITERATIONS;
	if (!emogi_bench_run(bench, series, &query, bench->options.verify, &run))
		return false;
	if (!(run.result.change < REFERENCE_CHANGE))
		emogi_bench_die("the reference does not converge", NULL);
	bench->reference = emogi_map_memory(n * sizeof(double));
	if (bench->reference == NULL)
		emogi_bench_die("no memory for the reference", NULL);
	for (uint64_t v = 0; v < n; v++)
		bench->reference[v] = run.result.columns[0].float64[v];
	printf("  reference: %u iterations on %s, %.1f ms, last change %.2g\n", run.result.nlevels, series->engine->name,
		   run.result.run_ms, run.result.change);
	return true;
}

/* Interpolate the iteration in low .. high at which the distance falls to the wanted one. */
static int64_t
guess(int64_t low, double low_distance, int64_t high, double high_distance, double wanted, int nguesses)
{
	double		part = log(low_distance / wanted) / log(low_distance / high_distance);
	int64_t		middle = low + (high - low) / 2;

	if (nguesses < GUESSES && part > 0.0 && part < 1.0)
		middle = low + (int64_t) ceil(part * (double) (high - low));
	if (middle <= low)
		return low + 1;
	return middle >= high ? high - 1 : middle;
}

bool
emogi_bench_find_iterations(EmogiBench *bench, EmogiSeries *series)
{
	const double wanted = bench->options.distance;
	EmogiQuery	query = series->query;
	EmogiRun	run;
	int64_t		low = 0,
				high;
	double		low_distance,
				high_distance;
	int			nruns = 1;

	if (!make_reference(bench, series))
		return false;
	query.tolerance = wanted * (1.0 - query.damping) / query.damping;
	query.max_iterations = REFERENCE_ITERATIONS;
	if (!emogi_bench_run(bench, series, &query, false, &run))
		return false;
	high = run.result.nlevels;
	low_distance = distance_of(bench, NULL);
	high_distance = distance_of(bench, run.result.columns[0].float64);
	if (!(high_distance <= wanted))
		emogi_bench_die("the requested distance is below the accuracy of the reference", NULL);
	for (query.tolerance = 0.0; high - low > 1; nruns++)
	{
		double		distance;

		query.max_iterations = guess(low, low_distance, high, high_distance, wanted, nruns);
		if (!emogi_bench_run(bench, series, &query, false, &run))
			return false;
		distance = distance_of(bench, run.result.columns[0].float64);
		if (distance <= wanted)
		{
			high = query.max_iterations;
			high_distance = distance;
		}
		else
		{
			low = query.max_iterations;
			low_distance = distance;
		}
	}
	series->query.max_iterations = high;
	series->query.tolerance = 0.0;
	series->distance = high_distance;
	printf("  %lld iterations leave an L1 distance of %.4g, one less %.4g (found in %d runs)\n", (long long) high,
		   high_distance, low_distance, nruns);
	return true;
}
