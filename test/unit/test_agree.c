/*
 * test_agree.c: the cuda engine's answers are the cpu engine's.
 *
 * EMOGI_CUDA_MODULE names the module; without it, or without a device, nothing is checked and one line says so.
 * EMOGI_AGREE_GRAPHS random graphs (default 220) are made from seeds EMOGI_AGREE_SEED (default 1) and up.
 */
#include "check.h"
#include "oracle.h"
#include "shapes.h"
#include "verify.h"

#include <dlfcn.h>
#include <string.h>

#define DEFAULT_GRAPHS 220
#define MAX_SOURCES 50
#define QUERIES 4

static const EmogiEngine *cpu,
		   *cuda;
static EmogiEngineState *cpu_state,
		   *cuda_state;

/* Ask one query of both engines, with the edges in either place. */
static void
check_query(const char *name, const EmogiGraph *graph, EmogiQuery query)
{
	size_t		bytes = graph->nvertices * sizeof(int32_t);
	EmogiResult expected = {.level = malloc(bytes + 4)};
	EmogiResult result = {.level = malloc(bytes + 4)};
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};

	if (cpu->run(cpu_state, graph, &query, &expected, &control, &error) != EMOGI_OK)
		abort();
	for (int p = EMOGI_PLACEMENT_AUTO; p <= EMOGI_PLACEMENT_DEVICE; p++)
	{
		EmogiStatus status;

		query.placement = (EmogiPlacement) p;
		memset(result.level, 0x55, bytes + 4);
		status = cuda->run(cuda_state, graph, &query, &result, &control, &error);
		CHECK(status == EMOGI_OK, "%s placement %d: status %d, %s (%s)", name, p, status, error.message, error.detail);
		CHECK(memcmp(result.level, expected.level, bytes) == 0, "%s placement %d, %llu sources, max depth %lld", name,
			  p, (unsigned long long) query.nsources, (long long) query.max_depth);
		CHECK(result.level[graph->nvertices] == 0x55555555, "%s placement %d wrote beyond the end", name, p);
		CHECK(result.nreached == expected.nreached && result.nlevels == expected.nlevels,
			  "%s placement %d: reached %llu of %llu, levels %u of %u", name, p, (unsigned long long) result.nreached,
			  (unsigned long long) expected.nreached, result.nlevels, expected.nlevels);
	}
	free(expected.level);
	free(result.level);
}

/* Build edges in a direction and ask queries. */
static void
check_edges(const char *name, const EmogiEdges *edges, EmogiDirection direction, bool with_backward, uint64_t seed)
{
	uint32_t	sources[MAX_SOURCES];
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;

	if (emogi_build_graph(emogi_cpu_engine_pool(cpu_state), edges, direction, with_backward, &built, &control,
						  &error) != EMOGI_OK)
		abort();
	for (uint64_t i = 0; i < QUERIES; i++)
		check_query(name, &built.graph, oracle_query(&built.graph, seed, i, sources, MAX_SOURCES));
	emogi_built_graph_free(&built);
}

/* Ask of edges in all directions, with and without the transpose. */
static void
check_directions(const char *name, const EmogiEdges *edges, uint64_t seed)
{
	check_edges(name, edges, EMOGI_OUT, false, seed);
	check_edges(name, edges, EMOGI_OUT, true, seed);
	check_edges(name, edges, EMOGI_IN, false, seed);
	check_edges(name, edges, EMOGI_BOTH, false, seed);
}

/* Ask of a shape. */
static void
check_shape(EmogiShape *shape, uint64_t seed)
{
	EmogiEdgeSet set;

	if (!emogi_edge_set_fill(&set, shape->edges, shape->nedges, EMOGI_CHUNK_EDGES))
		abort();
	check_directions(shape->name, &set.edges, seed);
	emogi_edge_set_free(&set);
	emogi_shape_free(shape);
}

/* Ask of generated graphs. */
static void
check_large(EmogiGenerator generator)
{
	EmogiEdgeSet set;

	if (!emogi_generate_edges(emogi_cpu_engine_pool(cpu_state), generator, 16, 16, 11, &set))
		abort();
	check_directions("large", &set.edges, 99);
	emogi_edge_set_free(&set);
}

/* Get a number from the environment. */
static uint64_t
number_from_environment(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

/* Load the module and open its engine; NULL, and why, when there is none to test. */
static const char *
open_cuda(EmogiError *error)
{
	const char *path = getenv("EMOGI_CUDA_MODULE");
	EmogiEngineOptions options = {.cpu_threads = 2};
	EmogiEngineEntry entry;
	void	   *module;
	void	   *symbol;

	if (path == NULL)
		return "EMOGI_CUDA_MODULE is not set";
	module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	CHECK(module != NULL, "%s", dlerror());
	if (module == NULL)
		return "the module does not load";
	symbol = dlsym(module, EMOGI_CUDA_ENTRY);
	CHECK(symbol != NULL, "%s has no %s", path, EMOGI_CUDA_ENTRY);
	if (symbol == NULL)
		return "the module has no engine";
	memcpy(&entry, &symbol, sizeof(entry));
	cuda = entry();
	CHECK(cuda->abi == EMOGI_ENGINE_ABI && strcmp(cuda->name, "cuda") == 0, "abi %u", cuda->abi);
	if (cuda->open(&options, &cuda_state, error) != EMOGI_OK)
		return error->message;
	return NULL;
}

int
main(void)
{
	EmogiEngineOptions options = {.cpu_threads = 2};
	EmogiError	error = {{0}, {0}};
	EmogiShape	shape;
	const char *why_not = open_cuda(&error);
	uint64_t	first = number_from_environment("EMOGI_AGREE_SEED", 1);
	uint64_t	ngraphs = number_from_environment("EMOGI_AGREE_GRAPHS", DEFAULT_GRAPHS);

	if (why_not != NULL)
	{
		printf("skipped: %s\n", why_not);
		checks_passed = 0;
		return check_report("test_agree");
	}
	cpu = emogi_cpu_engine();
	if (cpu->open(&options, &cpu_state, &error) != EMOGI_OK)
		abort();
	for (int i = 0; i < emogi_shape_count(); i++)
	{
		if (!emogi_shape_make(i, &shape))
			abort();
		check_shape(&shape, (uint64_t) i);
	}
	for (uint64_t seed = first; seed < first + ngraphs; seed++)
	{
		if (!emogi_shape_random(seed, &shape))
			abort();
		check_shape(&shape, seed);
	}
	check_large(EMOGI_KRON);
	check_large(EMOGI_URAND);
	cuda->close(cuda_state);
	cpu->close(cpu_state);
	return check_report("test_agree");
}
