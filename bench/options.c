/*
 * options.c: the command line of emogi_bench.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const emogi_graph_names[] = {"kron", "urand", "grid", "path", "star", "rmat", "file"};
const char *const emogi_placement_names[EMOGI_NPLACEMENTS] = {"auto", "host", "device", "hybrid", "peer", "managed", "staged"};
const char *const emogi_mapping_names[EMOGI_NMAPPINGS] = {
	"auto", "thread", "warp", "aligned", "virtual2", "virtual4", "virtual8", "virtual16", "degree_cut", "shards", "windows"
};
#define NAME_OF(NAME, name, ...) #name,
static const char *const algorithm_names[] = {EMOGI_ALGORITHMS(NAME_OF, NAME_OF, NAME_OF)};
#undef NAME_OF
static const char *const engine_names[] = {"cpu", "cuda"};

static const char help[] =
"emogi_bench: benchmark of the algorithms on a synthetic graph or a graph from a file\n"
"\n"
"The graph\n"
"  --graph kron|urand|rmat|grid|path|star|file  GAP's generators, R-MAT, a square grid, a path, a star, or --file (kron)\n"
"  --scale N                 2^N vertices (20); star: 2^N leaves; grid: largest square of at most 2^N\n"
"  --vertices N              like --scale, with N instead of 2^N (grid, path, star)\n"
"  --degree N                edges per vertex, each counted once (kron, urand, rmat: 16)\n"
"  --directed                each edge has one direction, chosen by the seed; for algorithms on directed graphs\n"
"  --rmat A,B,C              rmat: probabilities of the first three quadrants of the matrix; vertices are permuted\n"
"                            as in kron (0.45,0.22,0.22, so D is 0.11: the defaults of PaRMAT, the generator of\n"
"                            CuSha's author; kron has 0.57,0.19,0.19)\n"
"  --file PATH               file: text file with a line \"source target\" for each edge; # and % begin comments\n"
"  --unweighted              no edge weights\n"
"  --seed N                  seed of edges, weights and sources (1)\n"
"  --generate-on cpu|cuda    where to build the graph, with identical results (cpu); --graph file always uses the cpu\n"
"  --generator-module PATH   module of the GPU generator (./build/emogi_bench_cuda.so)\n"
"  --check-generate          build small graphs of all kinds on CPU and GPU, compare, and exit; --scale is the maximum (18)\n"
"\n"
"The runs\n"
"  --algorithm NAME[,...]   "
#define NAME_OF(NAME, name, ...) " " #name
EMOGI_ALGORITHMS(NAME_OF, NAME_OF, NAME_OF)
" (bfs)\n"
"  --engine cpu|cuda[,...]   in this order; may be repeated to run engines in turn (cpu)\n"
"  --placement host|device|hybrid|peer|managed|staged|auto[,...]  where the GPU reads edges (auto)\n"
"  --mapping NAME[,...]      assignment of edges to GPU threads: auto (the default kernels), thread, warp, aligned, virtual2,\n"
"                            virtual4, virtual8, virtual16, degree_cut, shards, windows; each combined with every placement (auto)\n"
"  --prefetch                managed: prefetch all edges to the device before the run\n"
"  --asynchronous            staged: iterate over the staged lists until nothing changes\n"
"  --count-requests          count requests of 32, 64, 96 and 128 bytes of each run, which slows it down\n"
"  --id-bytes 4|8            bytes of a vertex number in the kernels (4)\n"
"  --threads N               threads of the builder, the verifier and the cpu engine (all processors)\n"
"  --sources N               number of random sources with at least one edge, up to 1024 (16)\n"
"  --source V                single source, a vertex number; in a grid: row * side + column\n"
"  --trials N                runs per source (1)\n"
"  --iterations N            maximum iterations of iterative algorithms (20)\n"
"  --samples N               closeness, betweenness, bfs_sums: number of vertices to search from; 0: all (4)\n"
"  --pairs N                 similarity: number of random pairs, at most the number of vertices (1048576);\n"
"                            0: the ten most similar vertices of each vertex\n"
"  --walks N                 random_walk: walks of 80 steps per source (100000)\n"
"  --in-out X                random_walk: node2vec's q; p is 1 (1)\n"
"  --tolerance X             change below which iterative algorithms stop (0.0001)\n"
"  --alpha X                 katz: attenuation factor per edge (1e-6)\n"
"  --leaps N                 pagerank: personalized, with N random teleport vertices, up to 1024, in random proportions\n"
"  --far-paths N             run no algorithm; build a contraction hierarchy, and time N random paths with it and without it\n"
"  --weighted                use edge weights in pagerank and other algorithms that can\n"
"  --distance X              pagerank: use the fewest iterations with an L1 distance below X from a reference\n"
"  --device-memory BYTES     memory limit per GPU (all free memory)\n"
"  --cuda-module PATH        module of the cuda engine (./emogi_cuda.so)\n"
"  --links N                 read edges over the links of the first N GPUs (1)\n"
"  --cached                  keep the graph in the engine between runs of a placement: after the first run, nothing is\n"
"                            copied or registered (cuda)\n"
"  --cancel-after MS         cancel each run after MS milliseconds and report how long it takes to return\n"
"  --verify                  verify the result of every timed run\n"
"\n"
"The figures\n"
"  --csv FILE                append one line per run\n"
"  --summary FILE            append one line per combination of algorithm, engine, placement and mapping; input of\n"
"                            bench/plot\n"
"  --label TEXT              label of these lines, such as a commit\n"
"\n"
"TEPS = list entries of the reached vertices / 2 / run time (of an iteration): each undirected edge counts once.\n"
"Vertices without edges get no number. Self-loops and repeated edges are removed. Graphs are symmetric.\n"
"Weights are 1 .. 72, a function of the seed and the endpoints. These algorithms use a semiring:"
EMOGI_ALGORITHMS(EMOGI_NOTHING, NAME_OF, NAME_OF)
#undef NAME_OF
".\n"
"cc, bfs_sums and iterative algorithms take no source; they run sources * trials times.\n"
"\"run\" is the time reported by the engine, \"wall\" that of the whole call. A warm-up run is not counted.\n"
"With --cached its times are printed too: in the first run of a placement the graph is not yet on the device.\n"
"The reference of --distance is the ranks after a change below 1e-14 on the first requested engine.\n"
"Runs that do not fit in memory are skipped, and the exit status is 1. A wrong answer ends the program.\n"
"Unsupported combinations of mapping, placement and algorithm are skipped without an error.\n";

void
emogi_bench_die(const char *what, const EmogiError *error)
{
	fprintf(stderr, "emogi_bench: %s", what);
	if (error != NULL)
		fprintf(stderr, ": %s%s%s", error->message, error->detail[0] ? ": " : "", error->detail);
	fputc('\n', stderr);
	exit(1);
}

/* Parse an integer within bounds. */
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
		snprintf(message, sizeof(message), "--%s requires a number from %llu to %llu", option,
				 (unsigned long long) low, (unsigned long long) high);
		emogi_bench_die(message, NULL);
	}
	return value;
}

/* Parse a number that is not negative. */
static double
parse_real(const char *option, const char *text)
{
	char	   *end;
	double		value = strtod(text, &end);
	char		message[128];

	if (*end != '\0' || end == text || !(value >= 0.0))
	{
		snprintf(message, sizeof(message), "--%s requires a number of at least 0", option);
		emogi_bench_die(message, NULL);
	}
	return value;
}

/* Look up a word among n names; words end at a comma. */
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
	snprintf(message, sizeof(message), "unrecognized value for --%s: \"%.*s\"", option, (int) length, text);
	emogi_bench_die(message, NULL);
	return -1;
}

/* Parse a comma-separated list of at most EMOGI_BENCH_CHOICES words; returns their number. */
static int
parse_words(const char *option, const char *text, const char *const *names, int n, int *found)
{
	int			count = 0;

	while (text != NULL)
	{
		if (count == EMOGI_BENCH_CHOICES)
		{
			char		message[100];

			snprintf(message, sizeof(message), "--%s accepts at most %d values", option, count);
			emogi_bench_die(message, NULL);
		}
		found[count++] = parse_word(option, text, names, n);
		text = strchr(text, ',');
		text = text != NULL ? text + 1 : NULL;
	}
	return count;
}

/* Parse the quadrant probabilities of an R-MAT graph. */
static void
parse_quarters(const char *text, double quarters[3])
{
	char		rest;

	if (sscanf(text, "%lf,%lf,%lf%c", &quarters[0], &quarters[1], &quarters[2], &rest) != 3 || !(quarters[0] >= 0.0) ||
		!(quarters[1] >= 0.0) || !(quarters[2] >= 0.0) || !(quarters[0] + quarters[1] + quarters[2] < 1.0))
		emogi_bench_die("--rmat requires three comma-separated numbers of at least 0 whose sum is below 1", NULL);
}

/* Parse a label, which must not need quoting in a CSV file. */
static const char *
parse_label(const char *text)
{
	if (strpbrk(text, ",\"\r\n") != NULL)
		emogi_bench_die("--label must not contain commas, quotes or newlines", NULL);
	return text;
}

/* Values of getopt_long for options without a letter. */
enum
{
	OPTION_VERTICES = 256, OPTION_GENERATE_ON, OPTION_GENERATOR_MODULE, OPTION_CHECK_GENERATE, OPTION_SOURCE,
	OPTION_DISTANCE, OPTION_CANCEL_AFTER, OPTION_SUMMARY, OPTION_LABEL, OPTION_FILE, OPTION_RMAT, OPTION_DIRECTED, OPTION_UNWEIGHTED, OPTION_MAPPING,
	OPTION_PREFETCH, OPTION_ASYNCHRONOUS, OPTION_COUNT_REQUESTS, OPTION_ID_BYTES, OPTION_SAMPLES, OPTION_PAIRS, OPTION_WALKS, OPTION_LINKS, OPTION_IN_OUT, OPTION_ALPHA,
	OPTION_LEAPS, OPTION_WEIGHTED, OPTION_FAR_PATHS
};

static const struct option long_options[] = {
	{"graph", required_argument, NULL, 'g'}, {"scale", required_argument, NULL, 's'},
	{"vertices", required_argument, NULL, OPTION_VERTICES}, {"degree", required_argument, NULL, 'd'},
	{"seed", required_argument, NULL, 'r'}, {"generate-on", required_argument, NULL, OPTION_GENERATE_ON},
	{"generator-module", required_argument, NULL, OPTION_GENERATOR_MODULE},
	{"check-generate", no_argument, NULL, OPTION_CHECK_GENERATE}, {"algorithm", required_argument, NULL, 'a'},
	{"engine", required_argument, NULL, 'e'}, {"placement", required_argument, NULL, 'p'},
	{"threads", required_argument, NULL, 't'}, {"sources", required_argument, NULL, 'n'},
	{"source", required_argument, NULL, OPTION_SOURCE}, {"trials", required_argument, NULL, 'k'},
	{"iterations", required_argument, NULL, 'i'}, {"tolerance", required_argument, NULL, 'x'},
	{"samples", required_argument, NULL, OPTION_SAMPLES}, {"pairs", required_argument, NULL, OPTION_PAIRS},
	{"walks", required_argument, NULL, OPTION_WALKS}, {"links", required_argument, NULL, OPTION_LINKS}, {"in-out", required_argument, NULL, OPTION_IN_OUT}, {"alpha", required_argument, NULL, OPTION_ALPHA},
	{"leaps", required_argument, NULL, OPTION_LEAPS}, {"weighted", no_argument, NULL, OPTION_WEIGHTED},
	{"distance", required_argument, NULL, OPTION_DISTANCE}, {"device-memory", required_argument, NULL, 'm'},
	{"cuda-module", required_argument, NULL, 'c'}, {"cached", no_argument, NULL, 'w'},
	{"cancel-after", required_argument, NULL, OPTION_CANCEL_AFTER}, {"verify", no_argument, NULL, 'v'},
	{"csv", required_argument, NULL, 'o'}, {"summary", required_argument, NULL, OPTION_SUMMARY},
	{"label", required_argument, NULL, OPTION_LABEL}, {"file", required_argument, NULL, OPTION_FILE},
	{"rmat", required_argument, NULL, OPTION_RMAT}, {"directed", no_argument, NULL, OPTION_DIRECTED}, {"unweighted", no_argument, NULL, OPTION_UNWEIGHTED},
	{"mapping", required_argument, NULL, OPTION_MAPPING},
	{"prefetch", no_argument, NULL, OPTION_PREFETCH}, {"asynchronous", no_argument, NULL, OPTION_ASYNCHRONOUS},
	{"count-requests", no_argument, NULL, OPTION_COUNT_REQUESTS}, {"id-bytes", required_argument, NULL, OPTION_ID_BYTES},
	{"far-paths", required_argument, NULL, OPTION_FAR_PATHS}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}
};

/* Parse an option of the graph; returns false if it is another option. */
static bool
take_graph_option(EmogiBenchOptions *options, int option, const char *text)
{
	switch (option)
	{
		case 'g':
			options->generator = (EmogiGenerator) parse_word("graph", text, emogi_graph_names, EMOGI_NGENERATORS);
			return true;
		case 's':
			options->scale = (int) parse_number("scale", text, 1, 31);
			return true;
		case OPTION_VERTICES:
			options->nvertices = parse_number("vertices", text, 1, UINT64_C(1) << 31);
			return true;
		case 'd':
			options->degree = (int) parse_number("degree", text, 1, 1024);
			return true;
		case 'r':
			options->seed = parse_number("seed", text, 0, UINT64_MAX);
			return true;
		case OPTION_GENERATE_ON:
			options->generate_on_cuda = parse_word("generate-on", text, engine_names, 2) == 1;
			return true;
		case OPTION_GENERATOR_MODULE:
			options->generator_module = text;
			return true;
		case OPTION_CHECK_GENERATE:
			options->check_generate = true;
			return true;
		case OPTION_FILE:
			options->file = text;
			return true;
		case OPTION_RMAT:
			parse_quarters(text, options->quarters);
			return true;
		case OPTION_DIRECTED:
			options->directed = true;
			return true;
		case OPTION_UNWEIGHTED:
			options->unweighted = true;
			return true;
		default:
			return false;
	}
}

/* Parse an option of the result files; returns false if it is another option. */
static bool
take_figures_option(EmogiBenchOptions *options, int option, const char *text)
{
	switch (option)
	{
		case 'o':
			options->csv = emogi_bench_open_csv(text);
			return true;
		case OPTION_SUMMARY:
			options->summary = emogi_bench_open_summary(text);
			return true;
		case OPTION_LABEL:
			options->label = parse_label(text);
			return true;
		default:
			return false;
	}
}

/* Parse an option of the papers' systems; returns false if it is another option. */
static bool
take_papers_option(EmogiBenchOptions *options, int option, const char *text)
{
	static const char *const id_bytes[] = {"4", "8"};
	int			found[EMOGI_BENCH_CHOICES];

	switch (option)
	{
		case OPTION_MAPPING:
			options->nmappings = parse_words("mapping", text, emogi_mapping_names, EMOGI_NMAPPINGS, found);
			for (int i = 0; i < options->nmappings; i++)
				options->mappings[i] = (EmogiMapping) found[i];
			return true;
		case OPTION_PREFETCH:
			options->papers.prefetch = true;
			return true;
		case OPTION_ASYNCHRONOUS:
			options->papers.asynchronous = true;
			return true;
		case OPTION_COUNT_REQUESTS:
			options->papers.count_requests = true;
			return true;
		case OPTION_ID_BYTES:
			options->papers.id_bytes = parse_word("id-bytes", text, id_bytes, 2) == 0 ? 4 : 8;
			return true;
		default:
			return false;
	}
}

/* Parse an option of edge access on GPUs; returns false if it is another option. */
static bool
take_placement_option(EmogiBenchOptions *options, int option, const char *text)
{
	int			found[EMOGI_BENCH_CHOICES];

	switch (option)
	{
		case 'p':
			options->nplacements = parse_words("placement", text, emogi_placement_names, EMOGI_NPLACEMENTS, found);
			for (int i = 0; i < options->nplacements; i++)
				options->placements[i] = (EmogiPlacement) found[i];
			return true;
		case 'm':
			options->engine.device_memory_bytes = parse_number("device-memory", text, 0, UINT64_MAX);
			return true;
		case OPTION_LINKS:
			options->nlinks = (int) parse_number("links", text, 1, 16);
			return true;
		case 'w':
			options->cached = true;
			return true;
		default:
			return false;
	}
}

/* Parse an option of the runs; returns false if it is another option. */
static bool
take_run_option(EmogiBenchOptions *options, int option, const char *text)
{
	int			found[EMOGI_BENCH_CHOICES];

	switch (option)
	{
		case 'a':
			options->nalgorithms = parse_words("algorithm", text, algorithm_names, EMOGI_NALGORITHMS, found);
			for (int i = 0; i < options->nalgorithms; i++)
				options->algorithms[i] = (EmogiAlgorithm) found[i];
			return true;
		case 'i':
			options->max_iterations = (int64_t) parse_number("iterations", text, 1, 1000000000);
			return true;
		case OPTION_SAMPLES:
			options->samples = (int64_t) parse_number("samples", text, 0, 1000000000);
			return true;
		case OPTION_PAIRS:
			options->npairs = parse_number("pairs", text, 0, 1000000000);
			return true;
		case OPTION_WALKS:
			options->nwalks = (int64_t) parse_number("walks", text, 1, 100000000);
			return true;
		case OPTION_IN_OUT:
			options->in_out = parse_real("in-out", text);
			return true;
		case 'x':
			options->tolerance = parse_real("tolerance", text);
			return true;
		case OPTION_ALPHA:
			options->alpha = parse_real("alpha", text);
			return true;
		case OPTION_LEAPS:
			options->nleaps = (int) parse_number("leaps", text, 1, EMOGI_BENCH_SOURCES);
			return true;
		case OPTION_FAR_PATHS:
			options->nfar_paths = parse_number("far-paths", text, 1, 1000000);
			return true;
		case OPTION_WEIGHTED:
			options->is_weighted = true;
			return true;
		case OPTION_DISTANCE:
			options->distance = parse_real("distance", text);
			return true;
		case 'e':
			options->nengines = parse_words("engine", text, engine_names, 2, found);
			for (int i = 0; i < options->nengines; i++)
				options->cuda[i] = found[i] == 1;
			return true;
		case 't':
			options->engine.cpu_threads = (int32_t) parse_number("threads", text, 1, 1024);
			return true;
		case 'n':
			options->nsources = (int) parse_number("sources", text, 1, EMOGI_BENCH_SOURCES);
			return true;
		case OPTION_SOURCE:
			options->source = (int64_t) parse_number("source", text, 0, EMOGI_MAX_VERTICES - 1);
			return true;
		case 'k':
			options->ntrials = (int) parse_number("trials", text, 1, 1000000);
			return true;
		case 'c':
			options->module = text;
			return true;
		case 'v':
			options->verify = true;
			return true;
		case OPTION_CANCEL_AFTER:
			options->cancel_after_ms = (double) parse_number("cancel-after", text, 0, 86400000);
			return true;
		default:
			return false;
	}
}

/* Exit if a requested algorithm does not support directed graphs. */
static void
check_directed(const EmogiBenchOptions *options)
{
	for (int a = 0; a < options->nalgorithms; a++)
	{
		const EmogiLists lists = emogi_algorithm_row(options->algorithms[a])->lists;

		if (lists == EMOGI_LISTS_BOTH || lists == EMOGI_LISTS_ANY)
			emogi_bench_die("--directed requires algorithms that support directed graphs", NULL);
	}
}

/* Set the values derived from other options. */
static void
complete(EmogiBenchOptions *options)
{
	const bool	by_degree = emogi_generator_has_degree(options->generator);

	if (options->nvertices > 0 && (by_degree || options->generator == EMOGI_FILE))
		emogi_bench_die("--vertices applies to grid, path and star; use --scale for kron, urand and rmat", NULL);
	if ((options->generator == EMOGI_FILE) != (options->file != NULL))
		emogi_bench_die("--graph file requires --file PATH", NULL);
	if (options->nvertices > 0 || options->generator == EMOGI_FILE)
		options->scale = 0;
	else if (!options->check_generate)
	{
		options->scale = options->scale > 0 ? options->scale : 20;
		options->nvertices = UINT64_C(1) << options->scale;
	}
	if (!by_degree && !options->check_generate)
		options->degree = 0;
	if (options->source >= 0)
		options->nsources = 1;
	if (options->directed)
		check_directed(options);
}

void
emogi_bench_options(EmogiBenchOptions *options, int argc, char **argv)
{
	int			option;

	*options = (EmogiBenchOptions) {.degree = 16, .source = -1, .nsources = 16, .ntrials = 1, .seed = 1,
		.max_iterations = 20, .samples = 4, .npairs = 1048576, .nwalks = 100000, .in_out = 1.0, .tolerance = 1e-4, .alpha = 1e-6, .cancel_after_ms = -1.0, .nalgorithms = 1};
	options->module = "./emogi_cuda.so";
	options->generator_module = "./build/emogi_bench_cuda.so";
	options->label = "";
	options->nengines = options->nplacements = options->nmappings = 1;
	options->papers.id_bytes = 4;
	memcpy(options->quarters, emogi_rmat_quarters, sizeof(options->quarters));
	options->engine.cpu_threads = (int32_t) sysconf(_SC_NPROCESSORS_ONLN);
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
	{
		if (option == 'h')
		{
			fputs(help, stdout);
			exit(0);
		}
		if (!take_graph_option(options, option, optarg) && !take_run_option(options, option, optarg) &&
			!take_placement_option(options, option, optarg) && !take_papers_option(options, option, optarg) &&
			!take_figures_option(options, option, optarg))
		{
			fputs("try emogi_bench --help\n", stderr);
			exit(1);
		}
	}
	if (optind < argc)
		emogi_bench_die("unexpected argument; try --help", NULL);
	complete(options);
}
