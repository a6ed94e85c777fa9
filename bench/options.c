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
"emogi_bench: the algorithms on a synthetic graph, or that of a file\n"
"\n"
"The graph\n"
"  --graph kron|urand|rmat|grid|path|star|file  GAP's two, R-MAT, a square grid, a path, a star, or --file (kron)\n"
"  --scale N                 2^N vertices (20); of a star 2^N leaves; of a grid the largest square of at most 2^N\n"
"  --vertices N              the same with N for 2^N (grid, path, star)\n"
"  --degree N                edges a vertex, before both directions (kron, urand, rmat: 16)\n"
"  --directed                every edge leads one way, as the seed says, not both; for algorithms that read directed graphs\n"
"  --rmat A,B,C              rmat: how likely an edge is in the first three quarters of the matrix, at every step; vertices\n"
"                            are permuted as those of kron (0.45,0.22,0.22, which leave 0.11: what PaRMAT, the generator\n"
"                            of CuSha's author, takes by itself; kron has 0.57,0.19,0.19)\n"
"  --file PATH               file: a text file, a line \"source target\" for each edge; # and % begin comments\n"
"  --unweighted              edges have no weights, whatever reads them\n"
"  --seed N                  of edges, weights and sources (1)\n"
"  --generate-on cpu|cuda    who makes the graph: both make the same (cpu); a file's is always made by the cpu\n"
"  --generator-module PATH   what makes it on a GPU (./build/emogi_bench_cuda.so)\n"
"  --check-generate          make small graphs of all kinds both ways, compare them and leave; --scale is the largest (18)\n"
"\n"
"The runs\n"
"  --algorithm NAME[,...]   "
#define NAME_OF(NAME, name, ...) " " #name
EMOGI_ALGORITHMS(NAME_OF, NAME_OF, NAME_OF)
" (bfs)\n"
"  --engine cpu|cuda[,...]   in this order; one may come again, for runs in turn (cpu)\n"
"  --placement host|device|hybrid|peer|managed|staged|auto[,...]  where the GPU reads edges (auto)\n"
"  --mapping NAME[,...]      how the GPU's threads take edges: auto (our own kernels), thread, warp, aligned, virtual2,\n"
"                            virtual4, virtual8, virtual16, degree_cut, shards, windows; each with every placement (auto)\n"
"  --prefetch                managed: bring all edges to the device before the run\n"
"  --asynchronous            staged: go on with the lists that were brought until nothing changes\n"
"  --count-requests          print and write how many requests of 32, 64, 96 and 128 bytes a run makes; it takes longer\n"
"  --id-bytes 4|8            bytes of a vertex number as kernels read it (4)\n"
"  --threads N               of the builder, the verifier and the cpu engine (all processors)\n"
"  --sources N               up to 1024, random vertices with neighbours (16)\n"
"  --source V                only this one, a vertex number: in a grid row x side + column\n"
"  --trials N                runs of each source (1)\n"
"  --iterations N            of algorithms that iterate, at most (20)\n"
"  --samples N               closeness, betweenness, bfs_sums: searches from so many vertices; 0: from all (4)\n"
"  --pairs N                 similarity: of so many random pairs of vertices, at most as many as there are vertices (1048576);\n"
"                            0: the ten vertices most like each\n"
"  --walks N                 random_walk: of 80 steps, from each source (100000)\n"
"  --in-out X                random_walk: node2vec's q; p is 1 (1)\n"
"  --tolerance X             below which change they stop (0.0001)\n"
"  --alpha X                 katz: what an edge more counts (1e-6)\n"
"  --leaps N                 pagerank: personalised, leaps go to N random vertices, up to 1024, in random proportions\n"
"  --far-paths N             no algorithm, but: prepare for far shortest paths, and search N of random pairs with that and without\n"
"  --weighted                pagerank and others that may: edges count as their weights\n"
"  --distance X              pagerank: as many iterations as bring the ranks within an L1 distance of X from a reference\n"
"  --device-memory BYTES     cap on one GPU (all that is free)\n"
"  --cuda-module PATH        (./emogi_cuda.so)\n"
"  --links N                 over which edges may come, of the first N GPUs (1)\n"
"  --cached                  let the engine keep the graph between runs of a placement: after the first, a run copies\n"
"                            and registers nothing (cuda)\n"
"  --cancel-after MS         cancel each run after so many ms and say how long it took to come back\n"
"  --verify                  check every timed answer\n"
"\n"
"The figures\n"
"  --csv FILE                append one line a run\n"
"  --summary FILE            append one line for all runs of an algorithm on an engine, placement and mapping: what\n"
"                            bench/plot draws\n"
"  --label TEXT              of these lines, a commit say\n"
"\n"
"TEPS = list entries of the reached vertices / 2 / run time (of an iteration): every undirected edge once.\n"
"Vertices are numbered as they occur; self-loops and repeated edges are left out; every edge leads both ways.\n"
"Edges have weights 1 .. 72, which follow from the seed and their two ends; those of a semiring use them:"
EMOGI_ALGORITHMS(EMOGI_NOTHING, NAME_OF, NAME_OF)
#undef NAME_OF
".\n"
"cc, bfs_sums and what iterates take no source: they run as often as there are sources and trials.\n"
"run ms is what the engine reports, wall ms what the whole call took. A warm-up run comes first and is not counted.\n"
"With --cached its times are printed too: the first of a placement has a graph that is not on the device yet.\n"
"The reference of --distance are the ranks after a change below 1e-14, on the first engine that was asked for.\n"
"What does not fit in memory is left out, and the exit status is 1; a wrong answer ends everything. Mappings,\n"
"placements and algorithms that do not go together are left out too, which is no failure.\n";

void
emogi_bench_die(const char *what, const EmogiError *error)
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
		emogi_bench_die(message, NULL);
	}
	return value;
}

/* Read a number that is not negative. */
static double
parse_real(const char *option, const char *text)
{
	char	   *end;
	double		value = strtod(text, &end);
	char		message[128];

	if (*end != '\0' || end == text || !(value >= 0.0))
	{
		snprintf(message, sizeof(message), "--%s takes a number of at least 0", option);
		emogi_bench_die(message, NULL);
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
	emogi_bench_die(message, NULL);
	return -1;
}

/* Read a comma list of at most EMOGI_BENCH_CHOICES words; return their number. */
static int
parse_words(const char *option, const char *text, const char *const *names, int n, int *found)
{
	int			count = 0;

	while (text != NULL)
	{
		if (count == EMOGI_BENCH_CHOICES)
		{
			char		message[100];

			snprintf(message, sizeof(message), "--%s takes at most %d words", option, count);
			emogi_bench_die(message, NULL);
		}
		found[count++] = parse_word(option, text, names, n);
		text = strchr(text, ',');
		text = text != NULL ? text + 1 : NULL;
	}
	return count;
}

/* Read the quarters of an R-MAT graph. */
static void
parse_quarters(const char *text, double quarters[3])
{
	char		rest;

	if (sscanf(text, "%lf,%lf,%lf%c", &quarters[0], &quarters[1], &quarters[2], &rest) != 3 || !(quarters[0] >= 0.0) ||
		!(quarters[1] >= 0.0) || !(quarters[2] >= 0.0) || !(quarters[0] + quarters[1] + quarters[2] < 1.0))
		emogi_bench_die("--rmat takes three numbers of at least 0 with commas between them, whose sum is below 1", NULL);
}

/* Read a label, which has to go into a line of a CSV file as it is. */
static const char *
parse_label(const char *text)
{
	if (strpbrk(text, ",\"\r\n") != NULL)
		emogi_bench_die("--label takes no comma, quote or line end", NULL);
	return text;
}

/* What getopt_long gets for options that have no letter here. */
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

/* Take an option of the graph; false when it is none. */
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

/* Take an option of the files of figures; false when it is none. */
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

/* Take an option of the papers' systems; false when it is none. */
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

/* Take an option of how a GPU reads edges; false when it is none. */
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

/* Take an option of the runs; false when it is none. */
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

/* Leave when an algorithm does not read directed graphs. */
static void
check_directed(const EmogiBenchOptions *options)
{
	for (int a = 0; a < options->nalgorithms; a++)
	{
		const EmogiLists lists = emogi_algorithm_row(options->algorithms[a])->lists;

		if (lists == EMOGI_LISTS_BOTH || lists == EMOGI_LISTS_ANY)
			emogi_bench_die("--directed is for algorithms that read directed graphs", NULL);
	}
}

/* Fill in what follows from other options. */
static void
complete(EmogiBenchOptions *options)
{
	const bool	by_degree = emogi_generator_has_degree(options->generator);

	if (options->nvertices > 0 && (by_degree || options->generator == EMOGI_FILE))
		emogi_bench_die("--vertices is for grid, path and star; kron, urand and rmat take --scale", NULL);
	if ((options->generator == EMOGI_FILE) != (options->file != NULL))
		emogi_bench_die("--graph file goes with --file PATH", NULL);
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
		emogi_bench_die("takes options only; try --help", NULL);
	complete(options);
}
