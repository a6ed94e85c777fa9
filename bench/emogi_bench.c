/*
 * emogi_bench.c: generates a GAP graph, builds it, and times the algorithms on the engines, without a server.
 */
#include "options.h"
#include "verify.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WEIGHT 72
#define DAMPING 0.85

/* One Graph and what all runs on it share. */
typedef struct Bench
{
	EmogiBenchOptions options;
	EmogiBuiltGraph built;
	uint32_t	sources[EMOGI_BENCH_SOURCES];
	double	   *values;			/* [nvertices], start values */
	void	   *arrays[2];		/* [nvertices] of 8 bytes: what the runs fill */
} Bench;

/* One series of runs. */
typedef struct Series
{
	const EmogiEngine *engine;
	EmogiEngineState *state;
	EmogiQuery	query;			/* but for the source */
	EmogiGraph	graph;
	uint64_t	graph_id;		/* 0 = the engine keeps nothing of it */
	int			count;
	double	   *run_ms;			/* [count] */
	double	   *wall_ms;
	double	   *iteration_ms;
	double	   *teps;
	double	   *link_gb;
} Series;

/* Say whether an algorithm's edges have weights. */
static bool
uses_weights(EmogiAlgorithm algorithm)
{
	return algorithm == EMOGI_SSSP || algorithm == EMOGI_SSWP || algorithm >= EMOGI_HEAT;
}

/* Say whether an algorithm makes iterations over all edges. */
static bool
iterates(EmogiAlgorithm algorithm)
{
	return algorithm >= EMOGI_PAGERANK;
}

/* Generate and build the Graph without repeats, with weights if any algorithm needs them; prints how long each took. */
static void
build_bench_graph(Bench *bench, EmogiPool *pool)
{
	const EmogiBenchOptions *options = &bench->options;
	uint32_t	max_weight = 0;
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	EmogiEdgeSet set;
	double		start = emogi_now_ms(),
				generated;

	for (int a = 0; a < options->nalgorithms; a++)
		max_weight = uses_weights(options->algorithms[a]) ? MAX_WEIGHT : max_weight;
	if (!emogi_generate_edges(pool, options->generator, options->scale, options->degree, options->seed, &set))
		emogi_bench_die("no memory for the edges", NULL);
	generated = emogi_now_ms();
	if (emogi_build_graph(pool, &set.edges, EMOGI_BOTH, false, &bench->built, &control, &error) != EMOGI_OK)
		emogi_bench_die("could not build the graph", &error);
	emogi_edge_set_free(&set);
	printf("%s scale %d degree %d seed %llu: n = %llu (%llu occur), threads %d\n",
		   emogi_graph_names[options->generator], options->scale, options->degree, (unsigned long long) options->seed,
		   1ULL << options->scale, (unsigned long long) bench->built.graph.nvertices, options->engine.cpu_threads);
	printf("generate %.1f ms, keys %.1f ms (%s), csr %.1f ms for %llu edges both ways = %llu entries\n",
		   generated - start, bench->built.keys_ms,
		   bench->built.method == EMOGI_KEYS_DIRECT ? "direct" : "sorted", bench->built.csr_ms,
		   (unsigned long long) options->degree << options->scale,
		   (unsigned long long) bench->built.graph.forward.nedges);
	start = emogi_now_ms();
	if (!emogi_remove_repeats(pool, max_weight, options->seed, &bench->built))
		emogi_bench_die("no memory for the graph without repeats", NULL);
	printf("remove repeats and self-loops %.1f ms: m = %llu entries%s\n", emogi_now_ms() - start,
		   (unsigned long long) bench->built.graph.forward.nedges, max_weight > 0 ? ", weights 1 .. 72" : "");
}

/* Make the Graph, the sources, start values, and room for the answers. */
static void
prepare(Bench *bench)
{
	const EmogiBenchOptions *options = &bench->options;
	EmogiPool  *pool = emogi_pool_create(options->engine.cpu_threads);
	size_t		bytes;

	if (pool == NULL)
		emogi_bench_die("could not start the threads", NULL);
	build_bench_graph(bench, pool);
	emogi_pool_destroy(pool);
	bytes = bench->built.graph.nvertices * sizeof(double);
	bench->values = emogi_map_memory(bytes);
	bench->arrays[0] = emogi_map_memory(bytes);
	bench->arrays[1] = emogi_map_memory(bytes);
	if (bench->values == NULL || bench->arrays[0] == NULL || bench->arrays[1] == NULL)
		emogi_bench_die("no memory for the answers", NULL);
	if (!emogi_pick_sources(&bench->built.graph, options->seed + 27, bench->sources, options->nsources))
		emogi_bench_die("no vertex has a neighbour", NULL);
}

/* Get an engine by its name; never returns without one. */
static const EmogiEngine *
load_engine(const EmogiBenchOptions *options, bool cuda)
{
	void	   *module;
	void	   *symbol;
	EmogiEngineEntry entry;
	const EmogiEngine *engine;

	if (!cuda)
		return emogi_cpu_engine();
	module = dlopen(options->module, RTLD_NOW | RTLD_LOCAL);
	if (module == NULL)
		emogi_bench_die(dlerror(), NULL);
	symbol = dlsym(module, EMOGI_CUDA_ENTRY);
	if (symbol == NULL)
		emogi_bench_die(dlerror(), NULL);
	memcpy(&entry, &symbol, sizeof(entry));
	engine = entry();
	if (engine->abi != EMOGI_ENGINE_ABI)
		emogi_bench_die("the cuda module was built for another version of engine.h", NULL);
	return engine;
}

/* Count the list entries of the reached vertices, whatever the algorithm calls reached. */
static uint64_t
reached_entries(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result)
{
	uint64_t	sum = 0;

	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		bool		reached = true;

		if (query->algorithm == EMOGI_BFS || query->algorithm == EMOGI_SSNSP)
			reached = result->level[v] >= 0;
		else if (query->algorithm == EMOGI_SSSP)
			reached = result->distance[v] < (double) INFINITY;
		else if (query->algorithm == EMOGI_SSWP)
			reached = result->distance[v] >= 0.0;
		if (reached)
			sum += graph->forward.offsets[v + 1] - graph->forward.offsets[v];
	}
	return sum;
}

/* Order doubles for qsort. */
static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a,
				y = *(const double *) b;

	return (x > y) - (x < y);
}

/* Get the median of values[count]; sorts them. */
static double
median(double *values, int count)
{
	qsort(values, (size_t) count, sizeof(double), compare_doubles);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Print a run, add it to the CSV file and to the series. */
static void
note_run(Bench *bench, Series *series, const EmogiResult *result, uint32_t source, int trial, double wall_ms)
{
	const EmogiBenchOptions *options = &bench->options;
	const char *algorithm = emogi_algorithm_names[series->query.algorithm];
	double		iteration_ms = result->run_ms;
	double		teps;

	if (iterates(series->query.algorithm) && result->nlevels > 0)
		iteration_ms /= result->nlevels;
	teps = (double) reached_entries(&series->graph, &series->query, result) / 2 / iteration_ms * 1e3;
	printf("  source %10u  run %9.3f ms  wall %9.3f ms  transfer %9.3f ms  %6.2f GTEPS  link %7.3f GB  levels %4u"
		   "  reached %llu  looked at %llu\n", source, result->run_ms, wall_ms, result->transfer_ms,
		   teps / 1e9, (double) result->link_bytes / 1e9, result->nlevels, (unsigned long long) result->nreached,
		   (unsigned long long) result->edges_traversed);
	if (options->csv != NULL)
		fprintf(options->csv, "%s,%d,%d,%llu,%llu,%s,%s,%s,%d,%u,%d,%.4f,%.4f,%.4f,%u,%llu,%llu,%llu,%.0f,%.4f,%d,%s\n",
				emogi_graph_names[options->generator], options->scale, options->degree,
				(unsigned long long) series->graph.nvertices, (unsigned long long) series->graph.forward.nedges,
				algorithm, series->engine->name, emogi_placement_names[series->query.placement],
				options->engine.cpu_threads, source, trial, result->run_ms, wall_ms, result->transfer_ms,
				result->nlevels, (unsigned long long) result->nreached, (unsigned long long) result->edges_traversed,
				(unsigned long long) result->link_bytes, teps, iteration_ms, options->cached,
				emogi_placement_names[result->placement]);
	series->run_ms[series->count] = result->run_ms;
	series->wall_ms[series->count] = wall_ms;
	series->iteration_ms[series->count] = iteration_ms;
	series->teps[series->count] = teps;
	series->link_gb[series->count++] = (double) result->link_bytes / 1e9;
}

/* Run one source once; prints, checks and adds it to the series, unless it is a warm-up: trial < 0. */
static void
run_once(Bench *bench, Series *series, int s, int trial)
{
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	EmogiQuery	query = series->query;
	EmogiResult result = {0};
	double		start,
				wall_ms;

	query.sources = &bench->sources[s];
	result.level = bench->arrays[1];
	result.distance = result.value = result.paths = bench->arrays[0];
	result.component = bench->arrays[0];
	start = emogi_now_ms();
	if (series->engine->run(series->state, &series->graph, &query, &result, &control, &error) != EMOGI_OK)
		emogi_bench_die("run failed", &error);
	wall_ms = emogi_now_ms() - start;
	if (trial < 0 && series->graph_id != 0)
		printf("  warm-up            run %9.3f ms  wall %9.3f ms  transfer %9.3f ms  placed %s\n", result.run_ms,
			   wall_ms, result.transfer_ms, emogi_placement_names[result.placement]);
	if (trial < 0)
		return;
	if (bench->options.verify && !emogi_verify(&series->graph, &query, &result, &error))
		emogi_bench_die("WRONG ANSWER", &error);
	note_run(bench, series, &result, bench->sources[s], trial, wall_ms);
}

/* Make the start values of an algorithm: noise, or two poles for a circuit. */
static void
make_values(Bench *bench, EmogiAlgorithm algorithm)
{
	uint64_t	n = bench->built.graph.nvertices;

	for (uint64_t v = 0; v < n; v++)
	{
		bench->values[v] = (double) (emogi_random(bench->options.seed + 72, v) >> 11) / 9007199254740992.0;
		if (algorithm == EMOGI_CIRCUIT)
			bench->values[v] = (double) NAN;
	}
	if (algorithm == EMOGI_CIRCUIT)
	{
		bench->values[bench->sources[0]] = 1.0;
		bench->values[bench->sources[bench->options.nsources - 1]] = 0.0;
	}
}

/* Run one algorithm from all sources on one engine and placement and print the medians. */
static void
run_series(Bench *bench, Series series, EmogiAlgorithm algorithm)
{
	const EmogiBenchOptions *options = &bench->options;
	size_t		nruns = (size_t) options->nsources * (size_t) options->ntrials;
	double	   *values = calloc(5 * nruns, sizeof(double));
	char		title[64];

	if (values == NULL)
		emogi_bench_die("no memory for the figures", NULL);
	series.run_ms = values;
	series.wall_ms = values + nruns;
	series.iteration_ms = values + 2 * nruns;
	series.teps = values + 3 * nruns;
	series.link_gb = values + 4 * nruns;
	series.graph = bench->built.graph;
	series.graph.id = series.graph_id;
	if (!uses_weights(algorithm))
	{
		series.graph.weight_type = EMOGI_WEIGHT_NONE;
		series.graph.forward.weights = series.graph.backward.weights = NULL;
	}
	series.query.algorithm = algorithm;
	make_values(bench, algorithm);
	snprintf(title, sizeof(title), "%s %s, placement %s%s", emogi_algorithm_names[algorithm], series.engine->name,
			 emogi_placement_names[series.query.placement], series.graph_id != 0 ? ", cached" : "");
	printf("%s%s\n", title, options->verify ? ", every answer verified" : "");
	run_once(bench, &series, 0, -1);
	for (int s = 0; s < options->nsources; s++)
	{
		for (int trial = 0; trial < options->ntrials; trial++)
			run_once(bench, &series, s, trial);
	}
	printf("%s: median of %d: run %.3f ms, wall %.3f ms, %.3f GTEPS, link %.3f GB", title, series.count,
		   median(series.run_ms, series.count), median(series.wall_ms, series.count),
		   median(series.teps, series.count) / 1e9, median(series.link_gb, series.count));
	if (iterates(algorithm))
		printf(", %.3f ms an iteration", median(series.iteration_ms, series.count));
	printf("\n\n");
	fflush(stdout);
	free(values);
}

/* Run everything that was asked of one engine. */
static void
run_engine(Bench *bench, bool cuda)
{
	const EmogiBenchOptions *options = &bench->options;
	Series		series = {.engine = load_engine(options, cuda)};
	EmogiError	error = {{0}, {0}};
	EmogiDevice device;

	if (series.engine->open(&options->engine, &series.state, &error) != EMOGI_OK)
		emogi_bench_die("could not open the engine", &error);
	for (int32_t d = 0; d < series.engine->ndevices(series.state); d++)
	{
		if (series.engine->describe(series.state, d, &device, &error) != EMOGI_OK)
			emogi_bench_die("could not describe the device", &error);
		printf("%s device %d: %s, %d units, %.1f GB, link %.1f GB/s %s\n", series.engine->name, d, device.name,
			   device.units, (double) device.memory_bytes / 1e9, device.link_gbps, device.driver);
	}
	series.query = (EmogiQuery) {.nsources = 1, .max_depth = -1, .max_distance = (double) INFINITY,
		.damping = DAMPING, .max_iterations = options->max_iterations, .tolerance = options->tolerance,
		.values = bench->values};
	for (int p = 0; p < (cuda ? options->nplacements : 1); p++)
	{
		series.query.placement = cuda ? options->placements[p] : EMOGI_PLACEMENT_AUTO;
		series.graph_id = options->cached ? (uint64_t) p + 1 : 0;
		for (int a = 0; a < options->nalgorithms; a++)
			run_series(bench, series, options->algorithms[a]);
		series.engine->forget(series.state, series.graph_id);
	}
	series.engine->close(series.state);
}

int
main(int argc, char **argv)
{
	Bench		bench = {0};
	size_t		bytes;

	emogi_bench_options(&bench.options, argc, argv);
	prepare(&bench);
	for (int e = 0; e < bench.options.nengines; e++)
		run_engine(&bench, bench.options.cuda[e]);
	bytes = bench.built.graph.nvertices * sizeof(double);
	emogi_unmap_memory(bench.values, bytes);
	emogi_unmap_memory(bench.arrays[0], bytes);
	emogi_unmap_memory(bench.arrays[1], bytes);
	emogi_built_graph_free(&bench.built);
	if (bench.options.csv != NULL && fclose(bench.options.csv) != 0)
		emogi_bench_die("could not write the csv file", NULL);
	return 0;
}
