/*
 * write_graph.c: write a synthetic graph as text, for COPY and other programs, or list the vertices
 * that samples select.
 *
 *   build/write_graph edges kron|urand|grid [SCALE [SEED [MAX_WEIGHT]]]
 *   build/write_graph samples NVERTICES COUNT SEED [SEED ...]
 *
 * edges: writes a line "source target weight", separated by tabs, for each undirected edge, with
 * source < target, without repeated edges and self-loops. Weights are 1 .. MAX_WEIGHT <= 255. The
 * grid is the largest square of at most 2^SCALE vertices.
 *
 * samples: writes for each seed a line with the COUNT vertices from which a call with these
 * `samples` and that `seed` starts its searches. Vertices are numbered in the order of their keys.
 */
#include "build.h"
#include "generate.h"
#include "options.h"

#include "contract/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEGREE 16
#define LINE_BYTES 64

/* Print a message and exit. */
static _Noreturn void
give_up(const char *message)
{
	fprintf(stderr, "write_graph: %s\n", message);
	exit(1);
}

/* Parse an argument, or use its default if it is missing. */
static uint64_t
read_number(int argc, char **argv, int i, uint64_t low, uint64_t high, uint64_t otherwise)
{
	char	   *end;
	unsigned long long value;

	if (i >= argc)
		return otherwise;
	value = strtoull(argv[i], &end, 10);
	if (*end != '\0' || end == argv[i] || value < low || value > high)
		give_up("a number is missing or out of range");
	return value;
}

/* Format a number and a separator; returns the end of the text. */
static char *
put_number(char *at, uint64_t number, char after)
{
	char		digits[24];
	int			n = 0;

	do
		digits[n++] = (char) ('0' + number % 10);
	while ((number /= 10) > 0);
	while (n > 0)
		*at++ = digits[--n];
	*at++ = after;
	return at;
}

/* Write each edge once. */
static void
write_lines(const EmogiGraph *graph)
{
	const EmogiAdjacency *lists = &graph->forward;
	const uint8_t *weights = lists->weights;

	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		for (uint64_t i = lists->offsets[v]; i < lists->offsets[v + 1]; i++)
		{
			char		line[LINE_BYTES];
			char	   *end = line;

			if (lists->targets[i] < v)
				continue;
			end = put_number(end, (uint64_t) graph->ids[v], '\t');
			end = put_number(end, (uint64_t) graph->ids[lists->targets[i]], '\t');
			end = put_number(end, weights[i], '\n');
			if (fwrite(line, 1, (size_t) (end - line), stdout) != (size_t) (end - line))
				give_up("could not write the output");
		}
	}
}

/* Parse the graph's name. */
static EmogiGenerator
read_generator(const char *name)
{
	static const EmogiGenerator known[] = {EMOGI_KRON, EMOGI_URAND, EMOGI_GRID};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(name, emogi_graph_names[known[i]]) == 0)
			return known[i];
	give_up("the graph must be kron, urand or grid");
}

/* Build a graph as GAP's builder does and write it. */
static void
write_edges(int argc, char **argv)
{
	const EmogiGenerator generator = read_generator(argc > 2 ? argv[2] : "");
	const int	scale = (int) read_number(argc, argv, 3, 1, 31, 20);
	const uint64_t seed = read_number(argc, argv, 4, 0, UINT64_MAX, 1);
	const uint32_t max_weight = (uint32_t) read_number(argc, argv, 5, 1, 255, 255);
	const EmogiRecipe recipe = emogi_recipe(generator, scale, DEGREE, UINT64_C(1) << scale, seed, 0);
	EmogiPool  *pool = emogi_pool_create((int) sysconf(_SC_NPROCESSORS_ONLN));
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	EmogiEdgeSet set;
	EmogiBuiltGraph built;

	if (pool == NULL || !emogi_generate(pool, &recipe, &set))
		give_up("out of memory");
	if (emogi_build_graph(pool, &set.edges, EMOGI_BOTH, false, &built, &control, &error) != EMOGI_OK)
		give_up(error.message);
	emogi_edge_set_free(&set);
	if (!emogi_remove_repeats(pool, max_weight, seed, &built))
		give_up("out of memory");
	write_lines(&built.graph);
	emogi_built_graph_free(&built);
	emogi_pool_destroy(pool);
}

/* Write a line of samples for each seed. */
static void
write_samples(int argc, char **argv)
{
	const uint64_t nvertices = read_number(argc, argv, 2, 1, EMOGI_MAX_VERTICES, 0);
	const uint64_t count = read_number(argc, argv, 3, 1, nvertices, 0);
	uint32_t   *chosen = malloc((size_t) count * sizeof(uint32_t));

	if (count == 0 || chosen == NULL)
		give_up("samples requires NVERTICES, COUNT and at least one SEED");
	for (int s = 4; s < argc; s++)
	{
		emogi_sample_choose(nvertices, count, read_number(argc, argv, s, 0, UINT64_MAX, 0), chosen);
		for (uint64_t i = 0; i < count; i++)
			printf("%u%c", chosen[i], i + 1 < count ? ' ' : '\n');
	}
	free(chosen);
}

int
main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "edges") == 0)
		write_edges(argc, argv);
	else if (argc > 1 && strcmp(argv[1], "samples") == 0)
		write_samples(argc, argv);
	else
		give_up("the first argument must be edges or samples");
	if (fflush(stdout) != 0)
		give_up("could not write the output");
	return 0;
}
