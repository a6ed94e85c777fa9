/*
 * both.h: fixture of the tests that compare the cuda engine with the cpu engine.
 *
 * EMOGI_CUDA_MODULE names the module. If it is not set, or there is no device, the test checks
 * nothing and prints a line that begins with "skipped".
 */
#ifndef EMOGI_BOTH_H
#define EMOGI_BOTH_H

#include "check.h"
#include "naive.h"
#include "oracle.h"

#include "contract/semirings.h"
#include "cpu/cpu.h"

#include <dlfcn.h>
#include <string.h>

#define MAX_HELPERS 15

static const EmogiEngine *cpu,
		   *cuda;
static EmogiEngineState *cpu_state,
		   *cuda_state;
static EmogiEngineState *cuda_helpers[MAX_HELPERS]; /* of other GPUs */
static int	ncuda_helpers;
static uint64_t last_id;		/* the last id given to a graph */

/*
 * Return true if the cuda engine has the algorithm, its answer has one row per vertex, and the
 * graph has the adjacency lists that it reads.
 */
static inline bool
is_supported(const EmogiGraph *graph, EmogiAlgorithm algorithm)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(algorithm);

	if (!emogi_algorithm_is_on_cuda(row) || emogi_shape_is_list(row->shape))
		return false;
	if ((row->traits & EMOGI_NEEDS_BACKWARD) != 0 && graph->backward.offsets == NULL &&
		graph->nvertices > 0)
		return false;
	return row->lists != EMOGI_LISTS_BOTH || graph->backward.offsets == graph->forward.offsets;
}

/* The answer of an algorithm. */
typedef struct Answer
{
	EmogiResult result;
	void	   *memory;
} Answer;

/* Allocate an answer, filled with bytes of 0x55. */
static inline Answer
make_answer(uint64_t nvertices)
{
	uint64_t	room = nvertices + 1;
	Answer		answer = {.memory = malloc(room * 8 * EMOGI_MAX_COLUMNS)};

	memset(answer.memory, 0x55, room * 8 * EMOGI_MAX_COLUMNS);
	for (uint64_t i = 0; i < EMOGI_MAX_COLUMNS; i++)
		answer.result.columns[i].any = (char *) answer.memory + i * room * 8;
	return answer;
}

/*
 * Count the values that differ by more than 1e-9 of `scale`; if that is 0, of the expected value.
 */
static inline uint64_t
count_apart(uint64_t nvertices, const double *values, const double *expected, double exact_below,
			double scale)
{
	uint64_t	napart = 0;

	for (uint64_t v = 0; v < nvertices; v++)
	{
		double		allowed = 1e-9 * (scale > 0.0 ? scale : expected[v]);

		if (values[v] != expected[v])
			napart += expected[v] <= exact_below || !(fabs(values[v] - expected[v]) <= allowed);
	}
	return napart;
}

/* Return the largest absolute value. */
static inline double
largest(uint64_t nvertices, const double *values)
{
	double		found = 0.0;

	for (uint64_t v = 0; v < nvertices; v++)
		found = fabs(values[v]) > found ? fabs(values[v]) : found;
	return found;
}

/*
 * Return true if two columns agree: bit for bit, except sums (of an iteration, or of paths) and
 * counts above 2^53.
 */
static inline bool
columns_agree(EmogiAlgorithm algorithm, EmogiColumnType type, uint64_t n, EmogiArray values,
			  EmogiArray expected)
{
	if (type != EMOGI_FLOAT64 || emogi_is_path(algorithm) || algorithm == EMOGI_CLOSENESS ||
		algorithm == EMOGI_BFS_SUMS)
		return memcmp(values.any, expected.any, n * emogi_algorithm_column_bytes(type)) == 0;
	if (algorithm == EMOGI_BETWEENNESS)
		return count_apart(n, values.float64, expected.float64, -INFINITY, 0.0) == 0;
	if (emogi_algorithm_iterates(algorithm))
		return count_apart(n, values.float64, expected.float64, -INFINITY,
						   largest(n, expected.float64)) == 0;
	return count_apart(n, values.float64, expected.float64, 9007199254740992.0, 0.0) == 0;
}

/*
 * Return true if two answers agree: their columns, and the number of levels or iterations if the
 * algorithm sets it.
 */
static inline bool
agree(EmogiAlgorithm algorithm, uint64_t n, const EmogiResult *result, const EmogiResult *expected)
{
	const EmogiResultColumn *columns = emogi_algorithm_row(algorithm)->columns;
	const bool	counted = columns[0].type == EMOGI_INT32 || emogi_algorithm_iterates(algorithm);
	bool		right = !counted || result->nlevels == expected->nlevels;

	for (int i = 0; columns[i].name != NULL; i++)
		right = right &&
			columns_agree(algorithm, columns[i].type, n, result->columns[i], expected->columns[i]);
	return right;
}

/*
 * Return true if nothing was written beyond the end of the arrays, including those that the
 * algorithm does not fill.
 */
static inline bool
within_bounds(EmogiAlgorithm algorithm, uint64_t n, const EmogiResult *result)
{
	static const unsigned char nonsense[8] = {0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55};
	const EmogiResultColumn *columns = emogi_algorithm_row(algorithm)->columns;
	bool		within = true;

	for (int i = 0; i < EMOGI_MAX_COLUMNS; i++)
	{
		uint32_t	bytes = columns[i].name != NULL ? emogi_algorithm_column_bytes(columns[i].type)
			: 8;

		within = within &&
			memcmp((char *) result->columns[i].any + n * bytes, nonsense, bytes) == 0;
	}
	return within;
}

/* Get the cuda engine's description of its device. */
static inline EmogiDevice
describe_cuda(void)
{
	EmogiDevice device;
	EmogiError	error;

	if (cuda->describe(cuda_state, &device, &error) != EMOGI_OK)
		abort();
	return device;
}

/* Get the device memory that the cuda engine uses, in bytes. */
static inline uint64_t
used_bytes(void)
{
	return describe_cuda().used_bytes;
}

/*
 * Check that the cuda engine, with a memory limit or without (0), uses no device memory and keeps
 * at most 1/64 of it in reserve.
 */
static inline void
check_nothing_held(const char *what, uint64_t cap)
{
	EmogiDevice device = describe_cuda();
	uint64_t	limit = (cap > 0 && cap < device.memory_bytes ? cap : device.memory_bytes) / 64;

	CHECK(device.used_bytes == 0, "%s left %llu bytes", what,
		  (unsigned long long) device.used_bytes);
	CHECK(device.ready_bytes <= limit, "%s: %llu bytes in reserve, at most %llu allowed", what,
		  (unsigned long long) device.ready_bytes, (unsigned long long) limit);
}

/* Get a number from the environment. */
static inline uint64_t
number_from_environment(const char *name, uint64_t default_value)
{
	const char *text = getenv(name);

	return text != NULL ? strtoull(text, NULL, 10) : default_value;
}

/*
 * Load the module and open its engine. Returns NULL, or the reason why there is no engine to test.
 */
static inline const char *
open_cuda(EmogiError *error)
{
	const char *path = getenv("EMOGI_CUDA_MODULE");
	EmogiEngineOptions options = {.cpu_threads = 2, .always_help = true};
	EmogiEngineEntry entry;
	void	   *module;
	void	   *symbol;

	if (path == NULL)
		return "EMOGI_CUDA_MODULE is not set";
	emogi_cuda_load_eagerly();
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

/* Open the engines of the other GPUs, if there are any. */
static inline void
open_helpers(void)
{
	EmogiEngineOptions options = {.cpu_threads = 2};
	EmogiError	error;

	for (options.device = 1; options.device < cuda->ndevices() && ncuda_helpers < MAX_HELPERS;
		 options.device++)
		if (cuda->open(&options, &cuda_helpers[ncuda_helpers], &error) == EMOGI_OK)
			ncuda_helpers++;
	printf("%d GPUs help\n", ncuda_helpers);
}

/* Let a random number of them help the next run. */
static inline void
use_random_helpers(void)
{
	if (ncuda_helpers > 0)
		cuda->help(cuda_state, cuda_helpers, rand() % (ncuda_helpers + 1));
}

/* Make all of them forget a graph. */
static inline void
forget_helpers(uint64_t id)
{
	for (int i = 0; i < ncuda_helpers; i++)
		(void) cuda->forget(cuda_helpers[i], id);
}

static inline void
close_helpers(void)
{
	while (ncuda_helpers > 0)
		cuda->close(cuda_helpers[--ncuda_helpers]);
}

/* Open both engines. If there is no cuda engine to test, print the reason and return false. */
static inline bool
open_both(void)
{
	EmogiEngineOptions options = {.cpu_threads = 2};
	EmogiError	error = {{0}, {0}};
	const char *why_not = open_cuda(&error);

	if (why_not != NULL)
	{
		printf("skipped: %s\n", why_not);
		checks_passed = 0;
		return false;
	}
	cpu = emogi_cpu_engine();
	if (cpu->open(&options, &cpu_state, &error) != EMOGI_OK)
		abort();
	return true;
}

static inline void
close_both(void)
{
	cuda->close(cuda_state);
	cpu->close(cpu_state);
}

/*
 * Build a random graph with weights 1 .. 72 and both orientations, which are the same if the
 * direction is EMOGI_BOTH.
 */
static inline EmogiBuiltGraph
build_weighted(uint64_t nvertices, uint64_t nedges, EmogiDirection direction, uint64_t seed)
{
	double	   *weights = naive_weights(1, seed, nedges);
	EmogiEdge  *edges = naive_alloc(nedges, sizeof(EmogiEdge));
	EmogiControl control = {0};
	EmogiBuiltGraph built;
	EmogiEdgeSet set;
	EmogiError	error;

	for (uint64_t i = 0; i < nedges; i++)
		edges[i] = (EmogiEdge) {(int64_t) (emogi_random(seed, 2 * i) % nvertices),
			(int64_t) (emogi_random(seed, 2 * i + 1) % nvertices)};
	if (!emogi_edge_set_fill_weighted(&set, edges, weights, nedges, EMOGI_CHUNK_WEIGHTED_EDGES) ||
		emogi_build_graph(emogi_cpu_engine_pool(cpu_state), &set.edges, direction, true, &built,
						  &control, &error) != EMOGI_OK)
		abort();
	emogi_edge_set_free(&set);
	free(edges);
	free(weights);
	built.graph.id = ++last_id;
	return built;
}

#endif							/* EMOGI_BOTH_H */
