/*
 * series.c: runs of one algorithm on one engine, placement and mapping, from all sources, timed or
 * canceled.
 */
#include "series.h"

#include "contract/semirings.h"
#include "cancel.h"
#include "verify/verify.h"

#include <math.h>
#include <stdlib.h>

/*
 * Set the start values of an algorithm: noise, or two fixed vertices if the algorithm fixes some.
 */
static void
make_values(EmogiBench *bench, EmogiAlgorithm algorithm)
{
	const bool	fixes = (emogi_sum_traits(algorithm) & EMOGI_SUM_DIRICHLET) != 0;
	uint64_t	n = bench->built.graph.nvertices;

	for (uint64_t v = 0; v < n; v++)
	{
		bench->values[v] = (double) (emogi_random(bench->options.seed + 72, v) >> 11) / 9007199254740992.0;
		if (fixes)
			bench->values[v] = (double) NAN;
	}
	if (fixes)
	{
		bench->values[bench->sources[0]] = 1.0;
		bench->values[bench->sources[bench->options.nsources - 1]] = 0.0;
	}
}

/* Return true if a run reads weights. */
static bool
reads_weights(const EmogiBenchOptions *options, const EmogiAlgorithmRow *row)
{
	return row->weights != EMOGI_WEIGHTS_UNUSED || (options->is_weighted && emogi_algorithm_takes(row, EMOGI_WEIGHTED) >= 0);
}

/* Get a result that points to the arrays of the benchmark. */
static EmogiResult
point_result(const EmogiBench *bench)
{
	EmogiResult result = {0};

	for (int i = 0; i < EMOGI_MAX_COLUMNS; i++)
		result.columns[i].any = bench->arrays[i];
	return result;
}

/* Return true if a query uses features that not every algorithm, placement and mapping supports. */
static bool
is_special(const EmogiQuery *query)
{
	return query->papers.mapping != EMOGI_MAPPING_AUTO || query->placement == EMOGI_PLACEMENT_MANAGED ||
		query->placement == EMOGI_PLACEMENT_STAGED || query->papers.count_requests || query->papers.id_bytes != sizeof(uint32_t);
}

/* Print why a run is skipped; exits if the error is unexpected. */
static void
leave_out(EmogiBench *bench, const EmogiQuery *query, EmogiStatus status, const EmogiError *error)
{
	if (status == EMOGI_NO_MEMORY)
		bench->failed = true;
	else if (status != EMOGI_UNSUPPORTED && (status != EMOGI_BAD_INPUT || !is_special(query)))
		emogi_bench_die("run failed", error);
	printf("  %s: %s: %s\n", status == EMOGI_NO_MEMORY ? "does not fit" : "left out", error->message, error->detail);
}

bool
emogi_bench_run(EmogiBench *bench, EmogiSeries *series, const EmogiQuery *query, bool verify, EmogiRun *run)
{
	EmogiControl control = {.spare_bytes = UINT64_MAX};
	EmogiError	error = {{0}, {0}};
	double		start = emogi_pool_now_ms();
	EmogiStatus status;

	run->result = point_result(bench);
	if (series->nhelpers > 0)
		series->engine->help(series->state, series->helper, series->nhelpers);
	status = series->engine->run(series->state, &series->graph, query, &run->result, &control, &error);
	run->wall_ms = emogi_pool_now_ms() - start;
	if (status != EMOGI_OK)
	{
		leave_out(bench, query, status, &error);
		return false;
	}
	if (verify && !emogi_verify_parallel(bench->pool, &series->graph, query, &run->result, &error))
		emogi_bench_die("WRONG ANSWER", &error);
	return true;
}

/* Set the sources of a query: the s-th source, or all samples for bfs_sums. */
static void
set_sources(const EmogiBench *bench, EmogiQuery *query, int s)
{
	query->sources = &bench->sources[s];
	if (query->algorithm != EMOGI_BFS_SUMS)
		return;
	query->sources = bench->samples;
	query->nsources = bench->nsamples;
}

/*
 * Run one source once. Verifies and records the run unless it is a warm-up. Returns false if it is
 * skipped.
 */
static bool
run_once(EmogiBench *bench, EmogiSeries *series, int s, int trial)
{
	EmogiQuery	query = series->query;
	EmogiRun	run = {.source = bench->sources[s], .trial = trial};

	set_sources(bench, &query, s);
	if (!emogi_bench_run(bench, series, &query, bench->options.verify && trial >= 0, &run))
		return false;
	if (trial >= 0)
	{
		emogi_bench_note_run(bench, series, &run);
		if (emogi_algorithm_row(query.algorithm)->shape == EMOGI_SHAPE_HIERARCHY)
			emogi_bench_print_hierarchy(bench, series, &run);
	}
	else if (series->graph.id != 0)
		printf("  warm-up            run %9.3f ms  wall %9.3f ms  transfer %9.3f ms  placed %s\n", run.result.run_ms,
			   run.wall_ms, run.result.transfer_ms, emogi_placement_names[run.result.placement]);
	return true;
}

/*
 * Cancel a run of one source and print how long it took to return; returns false if it is skipped.
 */
static bool
cancel_once(EmogiBench *bench, EmogiSeries *series, int s)
{
	EmogiControl control = {.spare_bytes = UINT64_MAX};
	EmogiError	error = {{0}, {0}};
	EmogiQuery	query = series->query;
	EmogiResult result = point_result(bench);
	EmogiCancel cancel;
	double		start = emogi_pool_now_ms(),
				end,
				set_at;
	EmogiStatus status;

	set_sources(bench, &query, s);
	if (!emogi_cancel_start(&cancel, &control, bench->options.cancel_after_ms))
		emogi_bench_die("could not start the canceling thread", NULL);
	status = series->engine->run(series->state, &series->graph, &query, &result, &control, &error);
	end = emogi_pool_now_ms();
	set_at = emogi_cancel_stop(&cancel);
	if (status == EMOGI_CANCELED)
	{
		printf("  source %10u  canceled after %9.3f ms, returned %9.3f ms later\n", bench->sources[s], set_at - start,
			   end - set_at);
		series->figures[EMOGI_CANCEL_MS][series->count++] = end - set_at;
	}
	else if (status == EMOGI_OK)
		printf("  source %10u  finished after %9.3f ms, %s\n", bench->sources[s], end - start,
			   set_at > 0.0 && set_at <= end ? "despite the cancel" : "before the cancel");
	else
		leave_out(bench, &query, status, &error);
	return status == EMOGI_OK || status == EMOGI_CANCELED;
}

/* Cancel sources * trials runs. */
static void
cancel_series(EmogiBench *bench, EmogiSeries *series)
{
	const int	nruns = bench->options.nsources * bench->options.ntrials;

	printf("%s, canceled after %.0f ms\n", series->title, bench->options.cancel_after_ms);
	for (int r = 0; r < nruns; r++)
	{
		if (!cancel_once(bench, series, r % bench->options.nsources))
			return;
	}
	emogi_bench_note_cancels(series, nruns);
}

/* Time sources * trials runs after a warm-up. */
static void
time_series(EmogiBench *bench, EmogiSeries *series)
{
	const EmogiBenchOptions *options = &bench->options;

	printf("%s%s\n", series->title, options->verify ? ", all answers verified" : "");
	if (series->query.algorithm == EMOGI_PAGERANK && options->distance > 0.0 &&
		!emogi_bench_find_iterations(bench, series))
		return;
	if (!run_once(bench, series, 0, -1))
		return;
	for (int s = 0; s < options->nsources; s++)
	{
		for (int trial = 0; trial < options->ntrials; trial++)
		{
			if (!run_once(bench, series, s, trial))
				return;
		}
	}
	emogi_bench_note_series(bench, series);
}

/* Set the title of a series. */
static void
write_title(EmogiSeries *series)
{
	const EmogiQuery *query = &series->query;

	snprintf(series->title, sizeof(series->title), "%s%s%s %s, placement %s%s%s, mapping %s%s%s%s",
			 emogi_algorithm_row(query->algorithm)->name, query->teleport != NULL ? " personalized" : "", query->is_weighted ? " weighted" : "", series->engine->name, emogi_placement_names[query->placement],
			 query->papers.prefetch ? " prefetched" : "", query->papers.asynchronous ? " asynchronous" : "",
			 emogi_mapping_names[query->papers.mapping], query->papers.id_bytes == 8 ? ", ids of 8 bytes" : "",
			 query->papers.count_requests ? ", requests counted" : "", series->graph.id != 0 ? ", cached" : "");
}

void
emogi_bench_series(EmogiBench *bench, EmogiSeries series, EmogiAlgorithm algorithm, uint64_t graph_id)
{
	const EmogiBenchOptions *options = &bench->options;
	size_t		nruns = (size_t) options->nsources * (size_t) options->ntrials;
	double	   *figures = calloc(EMOGI_NFIGURES * nruns, sizeof(double));

	if (figures == NULL)
		emogi_bench_die("out of memory for the figures", NULL);
	for (int f = 0; f < EMOGI_NFIGURES; f++)
		series.figures[f] = figures + (size_t) f * nruns;
	series.distance = (double) NAN;
	series.graph = bench->built.graph;
	series.graph.id = graph_id;
	if (!reads_weights(options, emogi_algorithm_row(algorithm)))
	{
		series.graph.weight_type = EMOGI_WEIGHT_NONE;
		series.graph.forward.weights = series.graph.backward.weights = NULL;
	}
	series.query.algorithm = algorithm;
	series.query.is_weighted = options->is_weighted && emogi_algorithm_takes(emogi_algorithm_row(algorithm), EMOGI_WEIGHTED) >= 0;
	series.query.teleport = algorithm == EMOGI_PAGERANK ? bench->teleport : NULL;
	if (emogi_algorithm_takes(emogi_algorithm_row(algorithm), EMOGI_START) >= 0)
		make_values(bench, algorithm);
	write_title(&series);
	if (options->cancel_after_ms >= 0.0)
		cancel_series(bench, &series);
	else
		time_series(bench, &series);
	printf("\n");
	fflush(NULL);				/* print all output so far, in case the program is killed */
	free(figures);
}
