/*
 * options.c: the command line of emogi_bench.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const emogi_graph_names[] = {"kron", "urand"};
const char *const emogi_placement_names[] = {"auto", "host", "device", "hybrid"};
const char *const emogi_algorithm_names[EMOGI_NALGORITHMS] = {
	"bfs", "sssp", "sswp", "ssnsp", "cc", "pagerank", "heat", "circuit", "neural"
};

static const char help[] =
"emogi_bench: the algorithms on a GAP graph\n"
"\n"
"  --graph kron|urand        (kron)\n"
"  --scale N                 2^N vertices (20)\n"
"  --degree N                edges a vertex, before both directions (16)\n"
"  --seed N                  of edges and sources (1)\n"
"  --algorithm NAME[,...]    bfs, sssp, sswp, ssnsp, cc, pagerank, heat, circuit, neural (bfs)\n"
"  --engine cpu|cuda[,...]   (cpu)\n"
"  --placement host|device|hybrid|auto[,...]  where the GPU reads edges (auto)\n"
"  --threads N               of the builder and the cpu engine (all processors)\n"
"  --sources N               up to 1024, random vertices with neighbours (16)\n"
"  --trials N                runs of each source (1)\n"
"  --iterations N            of algorithms that iterate, at most (20)\n"
"  --tolerance X             below which change they stop (0.0001)\n"
"  --device-memory BYTES     cap on one GPU (all that is free)\n"
"  --cuda-module PATH        (./emogi_cuda.so)\n"
"  --cached                  let the engine keep the graph between runs of a placement: after the first, a run copies\n"
"                            and registers nothing (cuda)\n"
"  --verify                  check every timed answer\n"
"  --csv FILE                append one line a run\n"
"\n"
"TEPS = list entries of the reached vertices / 2 / run time (of an iteration): every undirected edge once.\n"
"sssp, sswp, heat, circuit and neural have weights 1 .. 72, which follow from the seed and the two ends of an edge.\n"
"cc and what iterates take no source: they run as often as there are sources and trials.\n"
"run ms is what the engine reports, wall ms what the whole call took. A warm-up run comes first and is not counted.\n"
"With --cached its times are printed too: the first of a placement has a graph that is not on the device yet.\n";

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

/* Read a comma list of words; get how many. */
static int
parse_words(const char *option, const char *text, const char *const *names, int n, int *found)
{
	int			count = 0;

	while (text != NULL && count < EMOGI_BENCH_CHOICES)
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
		emogi_bench_die("cannot write the csv file", NULL);
	if (ftell(csv) == 0)
		fprintf(csv, "graph,scale,degree,vertices,entries,algorithm,engine,placement,threads,source,trial,run_ms,wall_ms,"
				"transfer_ms,levels,reached,looked_at,link_bytes,teps,iteration_ms,cached,placed\n");
	return csv;
}

static const struct option long_options[] = {
	{"graph", required_argument, NULL, 'g'}, {"scale", required_argument, NULL, 's'},
	{"degree", required_argument, NULL, 'd'}, {"seed", required_argument, NULL, 'r'},
	{"algorithm", required_argument, NULL, 'a'}, {"iterations", required_argument, NULL, 'i'},
	{"tolerance", required_argument, NULL, 'x'}, {"engine", required_argument, NULL, 'e'},
	{"placement", required_argument, NULL, 'p'}, {"threads", required_argument, NULL, 't'}, {"sources", required_argument, NULL, 'n'},
	{"trials", required_argument, NULL, 'k'}, {"device-memory", required_argument, NULL, 'm'},
	{"cuda-module", required_argument, NULL, 'c'}, {"verify", no_argument, NULL, 'v'},
	{"cached", no_argument, NULL, 'w'},
	{"csv", required_argument, NULL, 'o'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}
};

/* Take one option. */
static void
take_option(EmogiBenchOptions *options, int option, const char *text)
{
	static const char *const engine_names[] = {"cpu", "cuda"};
	int			found[EMOGI_BENCH_CHOICES];

	switch (option)
	{
		case 'g':
			options->generator = (EmogiGenerator) parse_word("graph", text, emogi_graph_names, 2);
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
		case 'a':
			options->nalgorithms = parse_words("algorithm", text, emogi_algorithm_names, EMOGI_NALGORITHMS, found);
			for (int i = 0; i < options->nalgorithms; i++)
				options->algorithms[i] = (EmogiAlgorithm) found[i];
			break;
		case 'i':
			options->max_iterations = (int64_t) parse_number("iterations", text, 1, 1000000000);
			break;
		case 'x':
			options->tolerance = parse_real("tolerance", text);
			break;
		case 'e':
			options->nengines = parse_words("engine", text, engine_names, 2, found);
			for (int i = 0; i < options->nengines; i++)
				options->cuda[i] = found[i] == 1;
			break;
		case 'p':
			options->nplacements = parse_words("placement", text, emogi_placement_names, 4, found);
			for (int i = 0; i < options->nplacements; i++)
				options->placements[i] = (EmogiPlacement) found[i];
			break;
		case 't':
			options->engine.cpu_threads = (int32_t) parse_number("threads", text, 1, 1024);
			break;
		case 'n':
			options->nsources = (int) parse_number("sources", text, 1, EMOGI_BENCH_SOURCES);
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
		case 'w':
			options->cached = true;
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

void
emogi_bench_options(EmogiBenchOptions *options, int argc, char **argv)
{
	int			option;

	*options = (EmogiBenchOptions) {.scale = 20, .degree = 16, .nsources = 16, .ntrials = 1, .seed = 1,
		.max_iterations = 20, .tolerance = 1e-4, .nalgorithms = 1};
	options->module = "./emogi_cuda.so";
	options->nengines = options->nplacements = 1;
	options->engine.cpu_threads = (int32_t) sysconf(_SC_NPROCESSORS_ONLN);
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		take_option(options, option, optarg);
	if (optind < argc)
		emogi_bench_die("takes options only; try --help", NULL);
}
