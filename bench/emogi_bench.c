/*
 * emogi_bench.c: generates a GAP graph, builds it, and times breadth-first search on the engines, without a server.
 */
#include "generate.h"
#include "verify.h"

#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SOURCES 1024
#define MAX_CHOICES 4

typedef struct Options
{
	EmogiGenerator generator;
	int			scale;
	int			degree;
	int			nsources;
	int			ntrials;
	uint64_t	seed;
	bool		verify;
	const char *module;			/* path of emogi_cuda.so */
	FILE	   *csv;
	EmogiEngineOptions engine;
	int			nengines;
	bool		cuda[MAX_CHOICES];	/* [nengines]; false = cpu */
	int			nplacements;
	EmogiPlacement placements[MAX_CHOICES];	/* [nplacements] */
} Options;

/* One Graph and what all runs on it share. */
typedef struct Bench
{
	Options		options;
	EmogiBuiltGraph built;
	uint32_t	sources[MAX_SOURCES];
	int32_t    *level;			/* [nvertices] */
} Bench;

static const char *const graph_names[] = {"kron", "urand"};
static const char *const placement_names[] = {"auto", "host", "device"};

static const char help[] =
"emogi_bench: breadth-first search on a GAP graph\n"
"\n"
"  --graph kron|urand        (kron)\n"
"  --scale N                 2^N vertices (20)\n"
"  --degree N                edges a vertex, before both directions (16)\n"
"  --seed N                  of edges and sources (1)\n"
"  --engine cpu|cuda[,...]   (cpu)\n"
"  --placement host|device|auto[,...]  where the GPU reads edges (auto)\n"
"  --threads N               of the builder and the cpu engine (all processors)\n"
"  --sources N               up to 1024, random vertices with neighbours (16)\n"
"  --trials N                runs of each source (1)\n"
"  --device-memory BYTES     cap on one GPU (all that is free)\n"
"  --cuda-module PATH        (./emogi_cuda.so)\n"
"  --verify                  check every timed answer\n"
"  --csv FILE                append one line a run\n"
"\n"
"TEPS = list entries of the reached vertices / 2 / run time: every undirected edge of the component once.\n"
"run ms is what the engine reports, wall ms what the whole call took. A warm-up run comes first and is not counted.\n";

/* Print a message and leave. */
static void
die(const char *what, const EmogiError *error)
{
	fprintf(stderr, "emogi_bench: %s", what);
	if (error != NULL)
		fprintf(stderr, ": %s%s%s", error->message, error->detail[0] ? ": " : "", error->detail);
	fputc('\n', stderr);
	exit(1);
}

/* Read a number within bounds. */
static uint64_t
parse_number(const char *option, const char *text, uint64_t low, uint64_t high)
{
	char	   *end;
	unsigned long long value;
	char		message[128];

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno != 0 || *end != '\0' || end == text || *text == '-' || value < low || value > high)
	{
		snprintf(message, sizeof(message), "--%s takes a number from %llu to %llu", option,
				 (unsigned long long) low, (unsigned long long) high);
		die(message, NULL);
	}
	return value;
}

/* Find a word among n names; words end at a comma. */
static int
parse_word(const char *option, const char *text, const char *const *names, int n)
{
	size_t		length = strcspn(text, ",");
	char		message[128];

	for (int i = 0; i < n; i++)
	{
		if (strlen(names[i]) == length && strncmp(names[i], text, length) == 0)
			return i;
	}
	snprintf(message, sizeof(message), "--%s does not know \"%.*s\"", option, (int) length, text);
	die(message, NULL);
	return -1;
}

/* Read a comma list of words; get how many. */
static int
parse_words(const char *option, const char *text, const char *const *names, int n, int *found)
{
	int			count = 0;

	while (text != NULL && count < MAX_CHOICES)
	{
		found[count++] = parse_word(option, text, names, n);
		text = strchr(text, ',');
		text = text != NULL ? text + 1 : NULL;
	}
	return count;
}

/* Open the CSV file and write its head if it is new. */
static FILE *
open_csv(const char *path)
{
	FILE	   *csv = fopen(path, "a");

	if (csv == NULL)
		die("cannot write the csv file", NULL);
	if (ftell(csv) == 0)
		fprintf(csv, "graph,scale,degree,vertices,entries,engine,placement,threads,source,trial,run_ms,wall_ms,"
				"transfer_ms,levels,reached,looked_at,link_bytes,teps\n");
	return csv;
}

static const struct option long_options[] = {
	{"graph", required_argument, NULL, 'g'}, {"scale", required_argument, NULL, 's'},
	{"degree", required_argument, NULL, 'd'}, {"seed", required_argument, NULL, 'r'},
	{"engine", required_argument, NULL, 'e'}, {"placement", required_argument, NULL, 'p'},
	{"threads", required_argument, NULL, 't'}, {"sources", required_argument, NULL, 'n'},
	{"trials", required_argument, NULL, 'k'}, {"device-memory", required_argument, NULL, 'm'},
	{"cuda-module", required_argument, NULL, 'c'}, {"verify", no_argument, NULL, 'v'},
	{"csv", required_argument, NULL, 'o'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}
};

/* Take one option. */
static void
take_option(Options *options, int option, const char *text)
{
	static const char *const engine_names[] = {"cpu", "cuda"};
	int			found[MAX_CHOICES];

	switch (option)
	{
		case 'g':
			options->generator = (EmogiGenerator) parse_word("graph", text, graph_names, 2);
			break;
		case 's':
			options->scale = (int) parse_number("scale", text, 1, 31);
			break;
		case 'd':
			options->degree = (int) parse_number("degree", text, 1, 1024);
			break;
		case 'r':
			options->seed = parse_number("seed", text, 0, UINT64_MAX);
			break;
		case 'e':
			options->nengines = parse_words("engine", text, engine_names, 2, found);
			for (int i = 0; i < options->nengines; i++)
				options->cuda[i] = found[i] == 1;
			break;
		case 'p':
			options->nplacements = parse_words("placement", text, placement_names, 3, found);
			for (int i = 0; i < options->nplacements; i++)
				options->placements[i] = (EmogiPlacement) found[i];
			break;
		case 't':
			options->engine.cpu_threads = (int32_t) parse_number("threads", text, 1, 1024);
			break;
		case 'n':
			options->nsources = (int) parse_number("sources", text, 1, MAX_SOURCES);
			break;
		case 'k':
			options->ntrials = (int) parse_number("trials", text, 1, 1000000);
			break;
		case 'm':
			options->engine.device_memory_bytes = parse_number("device-memory", text, 0, UINT64_MAX);
			break;
		case 'c':
			options->module = text;
			break;
		case 'v':
			options->verify = true;
			break;
		case 'o':
			options->csv = open_csv(text);
			break;
		case 'h':
			fputs(help, stdout);
			exit(0);
		default:
			fputs("try emogi_bench --help\n", stderr);
			exit(1);
	}
}

/* Read the command line. */
static void
parse_options(Options *options, int argc, char **argv)
{
	int			option;

	*options = (Options) {.scale = 20, .degree = 16, .nsources = 16, .ntrials = 1, .seed = 1};
	options->module = "./emogi_cuda.so";
	options->nengines = options->nplacements = 1;
	options->engine.cpu_threads = (int32_t) sysconf(_SC_NPROCESSORS_ONLN);
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		take_option(options, option, optarg);
	if (optind < argc)
		die("takes options only; try --help", NULL);
}

/* Generate and build the Graph and pick the sources; prints how long each took. */
static void
prepare(Bench *bench)
{
	const Options *options = &bench->options;
	EmogiPool  *pool = emogi_pool_create(options->engine.cpu_threads);
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	EmogiEdgeSet set;
	double		start = emogi_now_ms(),
				generated;

	if (pool == NULL)
		die("could not start the threads", NULL);
	if (!emogi_generate_edges(pool, options->generator, options->scale, options->degree, options->seed, &set))
		die("no memory for the edges", NULL);
	generated = emogi_now_ms();
	if (emogi_build_graph(pool, &set.edges, EMOGI_BOTH, false, &bench->built, &control, &error) != EMOGI_OK)
		die("could not build the graph", &error);
	emogi_edge_set_free(&set);
	printf("%s scale %d degree %d seed %llu: n = %llu (%llu occur), threads %d\n", graph_names[options->generator],
		   options->scale, options->degree, (unsigned long long) options->seed, 1ULL << options->scale,
		   (unsigned long long) bench->built.graph.nvertices, options->engine.cpu_threads);
	printf("generate %.1f ms, keys %.1f ms (%s), csr %.1f ms for %llu edges both ways = %llu entries\n",
		   generated - start, bench->built.keys_ms,
		   bench->built.method == EMOGI_KEYS_DIRECT ? "direct" : "sorted", bench->built.csr_ms,
		   (unsigned long long) options->degree << options->scale,
		   (unsigned long long) bench->built.graph.forward.nedges);
	start = emogi_now_ms();
	if (!emogi_remove_repeats(pool, &bench->built))
		die("no memory for the graph without repeats", NULL);
	printf("remove repeats and self-loops %.1f ms: m = %llu entries\n", emogi_now_ms() - start,
		   (unsigned long long) bench->built.graph.forward.nedges);
	emogi_pool_destroy(pool);
	bench->level = emogi_map_memory(bench->built.graph.nvertices * sizeof(int32_t));
	if (bench->level == NULL)
		die("no memory for the levels", NULL);
	if (!emogi_pick_sources(&bench->built.graph, options->seed + 27, bench->sources, options->nsources))
		die("no vertex has a neighbour", NULL);
}

/* Get an engine by its name; never returns without one. */
static const EmogiEngine *
load_engine(const Options *options, bool cuda)
{
	void	   *module;
	void	   *symbol;
	EmogiEngineEntry entry;
	const EmogiEngine *engine;

	if (!cuda)
		return emogi_cpu_engine();
	module = dlopen(options->module, RTLD_NOW | RTLD_LOCAL);
	if (module == NULL)
		die(dlerror(), NULL);
	symbol = dlsym(module, EMOGI_CUDA_ENTRY);
	if (symbol == NULL)
		die(dlerror(), NULL);
	memcpy(&entry, &symbol, sizeof(entry));
	engine = entry();
	if (engine->abi != EMOGI_ENGINE_ABI)
		die("the cuda module was built for another version of engine.h", NULL);
	return engine;
}

/* Count the list entries of the reached vertices. */
static uint64_t
reached_entries(const EmogiGraph *graph, const int32_t *level)
{
	uint64_t	sum = 0;

	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		if (level[v] >= 0)
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

/* What a series of runs has given. */
typedef struct Series
{
	int			count;
	double	   *run_ms;			/* [count] */
	double	   *wall_ms;
	double	   *teps;
	double	   *link_gb;
} Series;

/* Run one source once; prints, checks and adds it to the series, unless series is NULL: a warm-up. */
static void
run_once(Bench *bench, const EmogiEngine *engine, EmogiEngineState *state, EmogiPlacement placement, int s, int trial,
		 Series *series)
{
	const Options *options = &bench->options;
	const EmogiGraph *graph = &bench->built.graph;
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	EmogiResult result = {.level = bench->level};
	EmogiQuery	query = {EMOGI_BFS, placement, 1, &bench->sources[s], -1};
	double		start = emogi_now_ms(),
				wall_ms,
				teps;

	if (engine->run(state, graph, &query, &result, &control, &error) != EMOGI_OK)
		die("run failed", &error);
	wall_ms = emogi_now_ms() - start;
	if (series == NULL)
		return;
	if (options->verify && !emogi_verify_bfs(graph, &query, &result, &error))
		die("WRONG ANSWER", &error);
	teps = (double) reached_entries(graph, bench->level) / 2 / result.run_ms * 1e3;
	printf("  source %10u  run %9.3f ms  wall %9.3f ms  transfer %9.3f ms  %6.2f GTEPS  link %7.3f GB  levels %4u"
		   "  reached %llu  looked at %llu\n", bench->sources[s], result.run_ms, wall_ms, result.transfer_ms,
		   teps / 1e9, (double) result.link_bytes / 1e9, result.nlevels, (unsigned long long) result.nreached,
		   (unsigned long long) result.edges_traversed);
	if (options->csv != NULL)
		fprintf(options->csv, "%s,%d,%d,%llu,%llu,%s,%s,%d,%u,%d,%.4f,%.4f,%.4f,%u,%llu,%llu,%llu,%.0f\n",
				graph_names[options->generator], options->scale, options->degree,
				(unsigned long long) graph->nvertices, (unsigned long long) graph->forward.nedges, engine->name,
				placement_names[placement], options->engine.cpu_threads, bench->sources[s], trial, result.run_ms,
				wall_ms, result.transfer_ms, result.nlevels, (unsigned long long) result.nreached,
				(unsigned long long) result.edges_traversed, (unsigned long long) result.link_bytes, teps);
	series->run_ms[series->count] = result.run_ms;
	series->wall_ms[series->count] = wall_ms;
	series->teps[series->count] = teps;
	series->link_gb[series->count++] = (double) result.link_bytes / 1e9;
}

/* Run all sources on one engine and placement and print the medians. */
static void
run_series(Bench *bench, const EmogiEngine *engine, EmogiEngineState *state, EmogiPlacement placement)
{
	const Options *options = &bench->options;
	size_t		nruns = (size_t) options->nsources * (size_t) options->ntrials;
	double	   *values = calloc(4 * nruns, sizeof(double));
	Series		series = {0, values, values + nruns, values + 2 * nruns, values + 3 * nruns};

	if (values == NULL)
		die("no memory for the figures", NULL);
	printf("bfs %s, placement %s%s\n", engine->name, placement_names[placement],
		   options->verify ? ", every answer verified" : "");
	run_once(bench, engine, state, placement, 0, 0, NULL);
	for (int s = 0; s < options->nsources; s++)
	{
		for (int trial = 0; trial < options->ntrials; trial++)
			run_once(bench, engine, state, placement, s, trial, &series);
	}
	printf("bfs %s, placement %s: median of %d: run %.3f ms, wall %.3f ms, %.3f GTEPS, link %.3f GB\n\n",
		   engine->name, placement_names[placement], series.count, median(series.run_ms, series.count),
		   median(series.wall_ms, series.count), median(series.teps, series.count) / 1e9,
		   median(series.link_gb, series.count));
	fflush(stdout);
	free(values);
}

/* Run everything that was asked of one engine. */
static void
run_engine(Bench *bench, bool cuda)
{
	const Options *options = &bench->options;
	const EmogiEngine *engine = load_engine(options, cuda);
	EmogiEngineState *state = NULL;
	EmogiError	error = {{0}, {0}};
	EmogiDevice device;

	if (engine->open(&options->engine, &state, &error) != EMOGI_OK)
		die("could not open the engine", &error);
	for (int32_t d = 0; d < engine->ndevices(state); d++)
	{
		if (engine->describe(state, d, &device, &error) != EMOGI_OK)
			die("could not describe the device", &error);
		printf("%s device %d: %s, %d units, %.1f GB, link %.1f GB/s %s\n", engine->name, d, device.name, device.units,
			   (double) device.memory_bytes / 1e9, device.link_gbps, device.driver);
	}
	for (int p = 0; p < (cuda ? options->nplacements : 1); p++)
		run_series(bench, engine, state, cuda ? options->placements[p] : EMOGI_PLACEMENT_AUTO);
	engine->close(state);
}

int
main(int argc, char **argv)
{
	Bench		bench = {0};

	parse_options(&bench.options, argc, argv);
	prepare(&bench);
	for (int e = 0; e < bench.options.nengines; e++)
		run_engine(&bench, bench.options.cuda[e]);
	emogi_unmap_memory(bench.level, bench.built.graph.nvertices * sizeof(int32_t));
	emogi_built_graph_free(&bench.built);
	if (bench.options.csv != NULL && fclose(bench.options.csv) != 0)
		die("could not write the csv file", NULL);
	return 0;
}
