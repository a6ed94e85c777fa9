/*
 * emogi_bench.c: benchmark of the algorithms on a synthetic graph or on that of a file, on all
 * engines, without a server.
 */
#include "load.h"
#include "make_graph.h"
#include "series.h"

#include <math.h>

#define TOP_K 10				/* k of top-k similarity, used if there are no pairs */
#define WALK_LENGTH 80
#define DAMPING 0.85

/* Choose the sources. */
static void
choose_sources(EmogiBench *bench)
{
	const EmogiBenchOptions *options = &bench->options;

	if (options->source >= 0)
	{
		if ((uint64_t) options->source >= bench->built.graph.nvertices)
			emogi_bench_die("--source is not the number of a vertex", NULL);
		bench->sources[0] = (uint32_t) options->source;
	}
	else if (!emogi_pick_sources(&bench->built.graph, options->seed + 27, bench->sources, options->nsources))
		emogi_bench_die("no vertex has an edge", NULL);
}

/* Choose the pairs, unless top-k similarity of all vertices is requested. */
static void
choose_pairs(EmogiBench *bench)
{
	const uint64_t n = bench->built.graph.nvertices;

	if (bench->options.npairs == 0)
		return;
	bench->npairs = bench->options.npairs < n ? bench->options.npairs : n;
	bench->pairs = emogi_map_memory(2 * bench->npairs * sizeof *bench->pairs);
	if (bench->pairs == NULL)
		emogi_bench_die("out of memory for the pairs", NULL);
	for (uint64_t i = 0; i < 2 * bench->npairs; i++)
		bench->pairs[i] = (uint32_t) (emogi_random(bench->options.seed + 81, i) % n);
}

/* Choose the sources of bfs_sums. */
static void
choose_samples(EmogiBench *bench)
{
	const uint64_t n = bench->built.graph.nvertices;
	const uint64_t asked = (uint64_t) bench->options.samples;

	bench->nsamples = asked > 0 && asked < n ? asked : n;
	bench->samples = emogi_map_memory(bench->nsamples * sizeof *bench->samples);
	if (bench->samples == NULL)
		emogi_bench_die("out of memory for the samples", NULL);
	if (!emogi_pick_sources(&bench->built.graph, bench->options.seed + 82, bench->samples, (int) bench->nsamples))
		emogi_bench_die("no vertex has an edge", NULL);
}

/* Get the bytes of the longest result column of any requested algorithm. */
static size_t
answer_bytes(const EmogiBench *bench)
{
	const size_t walks = (size_t) bench->options.nwalks * (WALK_LENGTH + 1) * sizeof(uint32_t);
	const size_t bytes = bench->built.graph.nvertices * sizeof(double) * (bench->options.npairs == 0 ? TOP_K : 1);

	return bytes > walks ? bytes : walks;
}

/* Choose the teleport proportions of personalized PageRank, if requested. */
static void
choose_leaps(EmogiBench *bench)
{
	const uint64_t n = bench->built.graph.nvertices;
	const uint64_t seed = bench->options.seed;
	double		sum = 0.0;

	if (bench->options.nleaps == 0)
		return;
	bench->teleport = emogi_map_memory(n * sizeof(double));
	if (bench->teleport == NULL)
		emogi_bench_die("out of memory for the teleport proportions", NULL);
	for (uint64_t i = 0; i < (uint64_t) bench->options.nleaps; i++)
	{
		double		part = 1.0 + (double) (emogi_random(seed + 91, i) % 1000);

		bench->teleport[emogi_random(seed + 90, i) % n] += part;
		sum += part;
	}
	for (uint64_t v = 0; v < n; v++)
		bench->teleport[v] /= sum;
}

/* Build the graph, choose the sources and pairs, and allocate start values and results. */
static void
prepare(EmogiBench *bench)
{
	size_t		bytes;

	emogi_bench_make_graph(&bench->options, bench->pool, &bench->built);
	bytes = bench->built.graph.nvertices * sizeof(double);
	bench->values = emogi_map_memory(bytes);
	if (bench->values == NULL)
		emogi_bench_die("out of memory for the start values", NULL);
	for (int i = 0; i < EMOGI_MAX_COLUMNS; i++)
	{
		bench->arrays[i] = emogi_map_memory(answer_bytes(bench));
		if (bench->arrays[i] == NULL)
			emogi_bench_die("out of memory for the results", NULL);
	}
	choose_sources(bench);
	choose_samples(bench);
	choose_pairs(bench);
	choose_leaps(bench);
}

/* Free all memory. */
static void
clean_up(EmogiBench *bench)
{
	size_t		bytes = bench->built.graph.nvertices * sizeof(double);

	emogi_unmap_memory(bench->values, bytes);
	emogi_unmap_memory(bench->teleport, bytes);
	emogi_unmap_memory(bench->samples, bench->nsamples * sizeof *bench->samples);
	if (bench->pairs != NULL)
		emogi_unmap_memory(bench->pairs, 2 * bench->npairs * sizeof *bench->pairs);
	for (int i = 0; i < EMOGI_MAX_COLUMNS; i++)
		emogi_unmap_memory(bench->arrays[i], answer_bytes(bench));
	emogi_unmap_memory(bench->reference, bytes);
	emogi_built_graph_free(&bench->built);
	emogi_pool_destroy(bench->pool);
}

/* Get the options of the papers' systems for one placement and mapping. */
static EmogiPapersQuery
ask_papers(const EmogiBenchOptions *options, EmogiPlacement placement, EmogiMapping mapping)
{
	EmogiPapersQuery papers = options->papers;

	papers.mapping = mapping;
	papers.prefetch &= placement == EMOGI_PLACEMENT_MANAGED;
	papers.asynchronous &= placement == EMOGI_PLACEMENT_STAGED;
	return papers;
}

/* Run all requested algorithms with one placement and all mappings. */
static void
run_placement(EmogiBench *bench, EmogiSeries *series, EmogiPlacement placement, uint64_t graph_id)
{
	const EmogiBenchOptions *options = &bench->options;
	const bool	cuda = series->engine != emogi_cpu_engine();

	series->query.placement = placement;
	for (int m = 0; m < (cuda ? options->nmappings : 1); m++)
	{
		series->query.papers = cuda ? ask_papers(options, placement, options->mappings[m]) :
			(EmogiPapersQuery) {.id_bytes = sizeof(uint32_t)};
		for (int a = 0; a < options->nalgorithms; a++)
			emogi_bench_series(bench, *series, options->algorithms[a], graph_id);
	}
	series->engine->forget(series->state, graph_id);
}

/* Open the engines of the other GPUs whose links are requested. */
static void
open_helpers(const EmogiBenchOptions *options, EmogiSeries *series)
{
	EmogiEngineOptions own = options->engine;
	EmogiError	error = {{0}, {0}};

	for (own.device = 1; own.device < options->nlinks; own.device++)
		if (series->engine->open(&own, &series->helper[series->nhelpers++], &error) != EMOGI_OK)
			emogi_bench_die("could not open the engine of another GPU", &error);
}

/* Run all requested placements, mappings and algorithms on one engine. */
static void
run_engine(EmogiBench *bench, bool cuda)
{
	const EmogiBenchOptions *options = &bench->options;
	EmogiSeries series = {.engine = emogi_bench_engine(options, cuda)};
	EmogiError	error = {{0}, {0}};
	EmogiDevice device;

	if (series.engine->open(&options->engine, &series.state, &error) != EMOGI_OK)
		emogi_bench_die("could not open the engine", &error);
	if (cuda)
		open_helpers(options, &series);
	if (series.engine->describe(series.state, &device, &error) != EMOGI_OK)
		emogi_bench_die("could not describe the device", &error);
	printf("%s device %d: %s, %d units, %.1f GB, link %.1f GB/s %s\n", series.engine->name, device.number, device.name,
		   device.units, (double) device.memory_bytes / 1e9, device.link_gbps, device.driver);
	series.query = (EmogiQuery) {.devices = (UINT32_C(1) << options->nlinks) - 1, .nsources = 1, .sources = bench->sources, .max_depth = -1, .max_distance = (double) INFINITY,
		.damping = DAMPING, .alpha = options->alpha, .beta = 1.0, .max_iterations = options->max_iterations, .tolerance = options->tolerance,
		.samples = options->samples, .resolution = 1.0, .theta = 0.01, .seed = options->seed, .normalized = true,
		.top_k = TOP_K, .length = WALK_LENGTH, .walks = options->nwalks, .return_parameter = 1.0, .in_out_parameter = options->in_out, .npairs = bench->npairs,
		.pairs = bench->pairs, .values = bench->values};
	for (int p = 0; p < (cuda ? options->nplacements : 1); p++)
		run_placement(bench, &series, cuda ? options->placements[p] : EMOGI_PLACEMENT_AUTO,
					  options->cached ? (uint64_t) p + 1 : 0);
	while (series.nhelpers > 0)
		series.engine->close(series.helper[--series.nhelpers]);
	series.engine->close(series.state);
}

int
main(int argc, char **argv)
{
	EmogiBench	bench = {0};

	emogi_bench_options(&bench.options, argc, argv);
	bench.pool = emogi_pool_create(bench.options.engine.cpu_threads);
	if (bench.pool == NULL)
		emogi_bench_die("could not start the threads", NULL);
	if (bench.options.check_generate)
	{
		emogi_bench_check_generate(&bench.options, bench.pool);
		emogi_pool_destroy(bench.pool);
		return 0;
	}
	prepare(&bench);
	if (bench.options.nfar_paths > 0)
		emogi_bench_far_paths(&bench);
	for (int e = 0; e < bench.options.nengines && bench.options.nfar_paths == 0; e++)
		run_engine(&bench, bench.options.cuda[e]);
	clean_up(&bench);
	if ((bench.options.csv != NULL && fclose(bench.options.csv) != 0) ||
		(bench.options.summary != NULL && fclose(bench.options.summary) != 0))
		emogi_bench_die("could not write the result files", NULL);
	return bench.failed ? 1 : 0;
}
