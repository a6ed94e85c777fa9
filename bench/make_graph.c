/*
 * make_graph.c: build the graph of a benchmark on the CPU or on a GPU, with identical results, or
 * read it.
 */
#include "make_graph.h"

#include "direct.h"
#include "edge_file.h"
#include "load.h"

#include <string.h>

#define MAX_WEIGHT 72			/* as in the papers */

/* Times of the steps of building a graph, in ms. */
typedef struct Times
{
	double		generate;		/* generate edges, or read them; on a GPU, build the whole graph */
	double		remove;			/* remove repeated edges and self-loops */
	double		populate;		/* populate memory for the graph */
	double		copy;
} Times;

/*
 * Build a graph with the threads of a pool from the edges in `file`, or from generated edges if it
 * is NULL. Sets the recipe's number of edges.
 */
static void
make_on_cpu(EmogiRecipe *recipe, const char *file, EmogiPool *pool, EmogiBuiltGraph *built, Times *times)
{
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	double		start = emogi_pool_now_ms();
	EmogiEdgeSet set;

	if (file != NULL && emogi_read_edges(file, &set, &error) != EMOGI_OK)
		emogi_bench_die("could not read the graph", &error);
	if (file == NULL && !emogi_generate(pool, recipe, &set))
		emogi_bench_die("out of memory for the edges", NULL);
	recipe->nedges = set.edges.nedges;
	times->generate = emogi_pool_now_ms() - start;
	if (emogi_build_graph(pool, &set.edges, EMOGI_BOTH, false, built, &control, &error) != EMOGI_OK)
		emogi_bench_die("could not build the graph", &error);
	emogi_edge_set_free(&set);
	start = emogi_pool_now_ms();
	if (!emogi_remove_repeats(pool, recipe->max_weight, recipe->seed, built))
		emogi_bench_die("out of memory for the graph without repeated edges", NULL);
	times->remove = emogi_pool_now_ms() - start;
}

/*
 * Build a graph on a GPU and copy it to memory populated by the threads of a pool. Frees all device
 * memory.
 */
static void
make_on_device(const EmogiBenchOptions *options, const EmogiRecipe *recipe, EmogiPool *pool, EmogiBuiltGraph *built,
			   Times *times)
{
	const EmogiDeviceGenerator *generator = emogi_bench_device_generator(options);
	EmogiWeightType type = recipe->max_weight > 0 ? EMOGI_WEIGHT_U8 : EMOGI_WEIGHT_NONE;
	EmogiDeviceGraph *made = NULL;
	EmogiError	error = {{0}, {0}};
	uint64_t	nvertices = 0,
				nedges = 0;
	double		start = emogi_pool_now_ms();

	*built = (EmogiBuiltGraph) {0};
	if (generator->generate(recipe, &made, &nvertices, &nedges, &error) != EMOGI_OK)
		emogi_bench_die("could not build the graph on the GPU", &error);
	times->generate = emogi_pool_now_ms() - start;
	start = emogi_pool_now_ms();
	built->memory_bytes = emogi_csr_bytes(nvertices, nedges, EMOGI_OUT, false, type);
	built->memory = emogi_map_memory(built->memory_bytes);
	if (built->memory == NULL || !emogi_populate_memory(pool, built->memory, built->memory_bytes))
		emogi_bench_die("out of memory for the graph", NULL);
	times->populate = emogi_pool_now_ms() - start;
	start = emogi_pool_now_ms();
	emogi_csr_view(built->memory, nvertices, nedges, EMOGI_BOTH, false, type, &built->graph);
	if (generator->fetch(made, &built->graph, &error) != EMOGI_OK)
		emogi_bench_die("could not copy the graph from the GPU", &error);
	generator->release(made);
	times->copy = emogi_pool_now_ms() - start;
}

/* Return true if a requested algorithm uses edge weights. */
static bool
wants_weights(const EmogiBenchOptions *options)
{
	for (int a = 0; a < options->nalgorithms && !options->unweighted; a++)
	{
		const EmogiAlgorithmRow *row = emogi_algorithm_row(options->algorithms[a]);

		if (row->weights != EMOGI_WEIGHTS_UNUSED || (options->is_weighted && emogi_algorithm_takes(row, EMOGI_WEIGHTED) >= 0))
			return true;
	}
	return false;
}

/* Print the properties of the graph. */
static void
print_graph(const EmogiBenchOptions *options, const EmogiRecipe *recipe, const EmogiGraph *graph)
{
	if (options->file != NULL)
		printf("file %s seed %llu: n = %llu", options->file, (unsigned long long) options->seed,
			   (unsigned long long) graph->nvertices);
	else
		printf("%s %s %llu seed %llu: n = %llu of %llu keys", emogi_graph_names[options->generator],
			   options->scale > 0 ? "scale" : "vertices",
			   options->scale > 0 ? (unsigned long long) options->scale : (unsigned long long) options->nvertices,
			   (unsigned long long) options->seed, (unsigned long long) graph->nvertices,
			   (unsigned long long) recipe->nkeys);
	if (options->generator == EMOGI_RMAT)
		printf(", quarters %g, %g, %g", options->quarters[0], options->quarters[1], options->quarters[2]);
	printf(", m = %llu list entries from %llu edges %s%s, threads %d\n", (unsigned long long) graph->forward.nedges,
		   (unsigned long long) recipe->nedges, options->directed ? "one way" : "both ways", recipe->max_weight > 0 ? ", weights 1 .. 72" : "",
		   options->engine.cpu_threads);
}

void
emogi_bench_make_graph(const EmogiBenchOptions *options, EmogiPool *pool, EmogiBuiltGraph *built)
{
	EmogiRecipe recipe = emogi_recipe(options->generator, options->scale, options->degree, options->nvertices,
									  options->seed, wants_weights(options) ? MAX_WEIGHT : 0);
	const bool	on_cuda = options->generate_on_cuda && options->file == NULL;
	Times		times = {0};

	if (options->generator == EMOGI_RMAT)
		emogi_recipe_quarters(&recipe, options->quarters);
	if (recipe.nedges == 0 && options->file == NULL)
		emogi_bench_die("the graph has no edges", NULL);
	if (on_cuda)
		make_on_device(options, &recipe, pool, built, &times);
	else
		make_on_cpu(&recipe, options->file, pool, built, &times);
	if (options->directed && !emogi_direct_edges(pool, options->seed, built))
		emogi_bench_die("out of memory for the directed graph", NULL);
	print_graph(options, &recipe, &built->graph);
	if (on_cuda)
		printf("made on the GPU %.1f ms, memory %.1f ms, copy %.1f ms for %.2f GB\n\n", times.generate, times.populate,
			   times.copy, (double) built->memory_bytes / 1e9);
	else
		printf("generate %.1f ms, keys %.1f ms (%s), csr %.1f ms, remove repeats and self-loops %.1f ms\n\n", times.generate,
			   built->keys_ms, built->method == EMOGI_KEYS_DIRECT ? "direct" : "sorted", built->csr_ms, times.remove);
	fflush(stdout);
}

/* Build one graph on the CPU and on the GPU, and compare. */
static void
check_recipe(const EmogiBenchOptions *options, EmogiPool *pool, EmogiRecipe *recipe)
{
	EmogiBuiltGraph expected,
				found;
	Times		times;
	bool		equal;

	make_on_cpu(recipe, NULL, pool, &expected, &times);
	make_on_device(options, recipe, pool, &found, &times);
	printf("%-5s %10llu edges of %10llu keys, seed %llu, weights to %2u: n = %llu, m = %llu on the CPU, ",
		   emogi_graph_names[recipe->generator], (unsigned long long) recipe->nedges, (unsigned long long) recipe->nkeys,
		   (unsigned long long) recipe->seed, recipe->max_weight, (unsigned long long) expected.graph.nvertices,
		   (unsigned long long) expected.graph.forward.nedges);
	printf("n = %llu, m = %llu on the GPU: ", (unsigned long long) found.graph.nvertices,
		   (unsigned long long) found.graph.forward.nedges);
	equal = expected.graph.nvertices == found.graph.nvertices &&
		expected.graph.forward.nedges == found.graph.forward.nedges && expected.memory_bytes == found.memory_bytes &&
		memcmp(expected.memory, found.memory, found.memory_bytes) == 0;
	puts(equal ? "equal" : "NOT EQUAL");
	fflush(stdout);
	if (!equal)
		emogi_bench_die("the GPU built a different graph", NULL);
	emogi_built_graph_free(&expected);
	emogi_built_graph_free(&found);
}

void
emogi_bench_check_generate(const EmogiBenchOptions *options, EmogiPool *pool)
{
	const int	scales[] = {2, 5, 13, options->scale > 0 ? options->scale : 18};

	for (int generator = 0; generator < EMOGI_NGENERATORS; generator++)
	{
		if (generator == EMOGI_FILE)
			continue;
		for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
		{
			EmogiRecipe recipe = emogi_recipe((EmogiGenerator) generator, scales[i], options->degree,
											  UINT64_C(1) << scales[i], options->seed + i, i == 2 ? 0 : MAX_WEIGHT);

			check_recipe(options, pool, &recipe);
		}
	}
}
