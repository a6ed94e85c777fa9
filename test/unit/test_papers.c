/*
 * test_papers.c: comparison of the papers' mappings and placements with the cpu engine, for all
 * algorithms.
 *
 * Paths, components, and counts up to 2^53 must be bit-identical. Larger counts and sums may differ
 * by 1e-9, but not between two runs. Every other graph has an id, so that the engine may cache it.
 *
 * The test prints a matrix: the number of graphs that each method answered correctly for each
 * algorithm; "-" is a pair that is refused. The environment variables are:
 *
 *   EMOGI_AGREE_GRAPHS  number of random graphs (default 140)
 *   EMOGI_AGREE_SEED    seed of the first one (default 1)
 *   EMOGI_AGREE_LARGE   0 = skip the larger graph with limited device memory, and failures
 */
#include "both.h"

#include "contract/semirings.h"
#include "cpu/cpu.h"

#define DEFAULT_GRAPHS 140		/* every algorithm has an answer for at least 100 of these */
#define MAX_SOURCES 8
#define FINITE_KINDS 7			/* kinds of weights from this one on have sums that overflow */
#define CAPPED_VERTICES 30000
#define MAX_ALLOCATIONS 60			/* more than the allocations of device memory of any run */
#define MAX_CALLS 600			/* more than the driver calls of a short run */

/* A method of running a query. */
typedef struct Method
{
	const char *name;
	EmogiMapping mapping;
	EmogiPlacement placement;
	bool		option;			/* MANAGED: prefetch; STAGED: asynchronous; other: count requests */
	uint32_t	id_bytes;
} Method;

static const Method methods[] = {
	{"thread, host", EMOGI_MAPPING_THREAD, EMOGI_PLACEMENT_HOST, false, 4},
	{"warp, host", EMOGI_MAPPING_WARP, EMOGI_PLACEMENT_HOST, false, 4},
	{"aligned, host", EMOGI_MAPPING_ALIGNED, EMOGI_PLACEMENT_HOST, false, 4},
	{"aligned, host, counted", EMOGI_MAPPING_ALIGNED, EMOGI_PLACEMENT_HOST, true, 4},
	{"thread, host, 8-byte ids", EMOGI_MAPPING_THREAD, EMOGI_PLACEMENT_HOST, false, 8},
	{"warp, host, 8-byte ids", EMOGI_MAPPING_WARP, EMOGI_PLACEMENT_HOST, true, 8},
	{"aligned, host, 8-byte ids", EMOGI_MAPPING_ALIGNED, EMOGI_PLACEMENT_HOST, true, 8},
	{"aligned, device, 8-byte ids", EMOGI_MAPPING_ALIGNED, EMOGI_PLACEMENT_DEVICE, false, 8},
	{"thread, device", EMOGI_MAPPING_THREAD, EMOGI_PLACEMENT_DEVICE, false, 4},
	{"warp, device", EMOGI_MAPPING_WARP, EMOGI_PLACEMENT_DEVICE, false, 4},
	{"aligned, device", EMOGI_MAPPING_ALIGNED, EMOGI_PLACEMENT_DEVICE, false, 4},
	{"virtual2, device", EMOGI_MAPPING_VIRTUAL2, EMOGI_PLACEMENT_DEVICE, false, 4},
	{"virtual4, device", EMOGI_MAPPING_VIRTUAL4, EMOGI_PLACEMENT_DEVICE, false, 4},
	{"virtual8, device", EMOGI_MAPPING_VIRTUAL8, EMOGI_PLACEMENT_DEVICE, false, 4},
	{"virtual16, device", EMOGI_MAPPING_VIRTUAL16, EMOGI_PLACEMENT_DEVICE, false, 4},
	{"virtual8, hybrid", EMOGI_MAPPING_VIRTUAL8, EMOGI_PLACEMENT_HYBRID, true, 4},
	{"degree_cut, host", EMOGI_MAPPING_DEGREE_CUT, EMOGI_PLACEMENT_HOST, true, 4},
	{"degree_cut, device", EMOGI_MAPPING_DEGREE_CUT, EMOGI_PLACEMENT_DEVICE, false, 4},
	{"degree_cut, managed", EMOGI_MAPPING_DEGREE_CUT, EMOGI_PLACEMENT_MANAGED, true, 4},
	{"aligned, managed", EMOGI_MAPPING_ALIGNED, EMOGI_PLACEMENT_MANAGED, false, 4},
	{"warp, managed, prefetched", EMOGI_MAPPING_WARP, EMOGI_PLACEMENT_MANAGED, true, 4},
	{"auto, managed", EMOGI_MAPPING_AUTO, EMOGI_PLACEMENT_MANAGED, false, 4},
	{"auto, staged", EMOGI_MAPPING_AUTO, EMOGI_PLACEMENT_STAGED, false, 4},
	{"auto, staged, asynchronous", EMOGI_MAPPING_AUTO, EMOGI_PLACEMENT_STAGED, true, 4},
	{"thread, staged", EMOGI_MAPPING_THREAD, EMOGI_PLACEMENT_STAGED, false, 4},
	{"virtual8, staged, async.", EMOGI_MAPPING_VIRTUAL8, EMOGI_PLACEMENT_STAGED, true, 4},
	{"degree_cut, staged", EMOGI_MAPPING_DEGREE_CUT, EMOGI_PLACEMENT_STAGED, false, 4},
	{"shards, auto", EMOGI_MAPPING_SHARDS, EMOGI_PLACEMENT_AUTO, false, 4},
	{"windows, auto", EMOGI_MAPPING_WINDOWS, EMOGI_PLACEMENT_AUTO, false, 4},
	{"windows, host", EMOGI_MAPPING_WINDOWS, EMOGI_PLACEMENT_HOST, true, 4},
	{"windows, host, 8-byte ids", EMOGI_MAPPING_WINDOWS, EMOGI_PLACEMENT_HOST, true, 8}
};

#define NMETHODS (sizeof(methods) / sizeof(methods[0]))

static uint64_t ncorrect[NMETHODS][EMOGI_NALGORITHMS];

/* Return true if the method is refused for the algorithm. */
static bool
is_refused(const Method *method, EmogiAlgorithm algorithm)
{
	if (method->mapping == EMOGI_MAPPING_DEGREE_CUT && method->placement == EMOGI_PLACEMENT_STAGED)
		return true;
	return method->id_bytes == 8 && (method->mapping > EMOGI_MAPPING_ALIGNED ||
		(algorithm != EMOGI_BFS && algorithm != EMOGI_CC && !emogi_is_path(algorithm)));
}

/* Make a query use a method. */
static EmogiQuery
use_method(EmogiQuery query, const Method *method)
{
	query.papers.mapping = method->mapping;
	query.placement = method->placement;
	query.papers.id_bytes = method->id_bytes;
	query.papers.prefetch = query.papers.asynchronous = method->option;
	query.papers.count_requests = method->option;
	return query;
}

/* Compare an answer with the expected one. */
static bool
is_correct(EmogiQuery query, uint64_t nvertices, const EmogiResult *result,
		   const EmogiResult *expected)
{
	return agree(query.algorithm, nvertices, result, expected) &&
		result->nreached == expected->nreached;
}

/* Check the counters of a run. */
static void
check_counters(const char *what, const EmogiGraph *graph, const EmogiQuery *query,
			   const EmogiResult *result)
{
	const bool in_place = result->placement == EMOGI_PLACEMENT_HOST &&
		query->papers.mapping <= EMOGI_MAPPING_DEGREE_CUT;
	uint64_t	nrequests = 0;

	for (int i = 0; i < 4; i++)
		nrequests += result->papers.requests[i];
	if (in_place && query->papers.count_requests)
		CHECK(nrequests * EMOGI_LINE_BYTES == result->link_bytes, "%s: %llu requests, %llu bytes",
			  what, (unsigned long long) nrequests, (unsigned long long) result->link_bytes);
	else
		CHECK(nrequests == 0, "%s: %llu requests", what, (unsigned long long) nrequests);
	if (query->placement >= EMOGI_PLACEMENT_MANAGED &&
		query->papers.mapping < EMOGI_MAPPING_SHARDS && graph->forward.nedges > 0 &&
		(query->nsources > 0 ||
		 emogi_algorithm_takes(emogi_algorithm_row(query->algorithm), EMOGI_SOURCES) < 0))
		CHECK(result->placement == query->placement, "%s was %d", what, result->placement);
}

/*
 * Run a query by a method. Iterations run twice, because their bits are not compared with the cpu
 * engine's. Returns true if the answer is correct.
 */
static bool
run_method(const char *name, const EmogiGraph *graph, EmogiQuery query, const Method *method,
		   const EmogiResult *expected)
{
	Answer		first = make_answer(graph->nvertices);
	Answer		second = make_answer(graph->nvertices);
	EmogiResult given = first.result;
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	EmogiStatus status;
	char		what[200];
	bool		is_good;

	query = use_method(query, method);
	snprintf(what, sizeof(what), "%s, %s, algorithm %d, weights %d", name, method->name,
			 query.algorithm, graph->weight_type);
	status = cuda->run(cuda_state, graph, &query, &first.result, &control, &error);
	if (is_refused(method, query.algorithm))
	{
		CHECK(status == EMOGI_BAD_INPUT || graph->nvertices == 0, "%s: status %d", what, status);
		is_good = false;
	}
	else
	{
		CHECK(status == EMOGI_OK, "%s: status %d, %s (%s)", what, status, error.message,
			  error.detail);
		is_good = status == EMOGI_OK &&
			is_correct(query, graph->nvertices, &first.result, expected);
		CHECK(is_good, "%s is wrong: %llu sources, max depth %lld", what,
			  (unsigned long long) query.nsources, (long long) query.max_depth);
		CHECK(within_bounds(query.algorithm, graph->nvertices, &given), "%s wrote beyond the end",
			  what);
		check_counters(what, graph, &query, &first.result);
		if (emogi_algorithm_iterates(query.algorithm))
			CHECK(cuda->run(cuda_state, graph, &query, &second.result, &control, &error) ==
				  EMOGI_OK &&
				  memcmp(first.result.columns[0].float64, second.result.columns[0].float64,
						 graph->nvertices * sizeof(double)) == 0, "%s: two runs differ", what);
	}
	free(first.memory);
	free(second.memory);
	return is_good;
}

/* Make a query of an algorithm, in the caller's values[nvertices] and sources[MAX_SOURCES]. */
static EmogiQuery
make_query(const EmogiGraph *graph, EmogiAlgorithm algorithm, uint64_t seed, uint32_t *sources,
		   double *values)
{
	static const int64_t iterations[EMOGI_NALGORITHMS] = {[EMOGI_PAGERANK] = 20, [EMOGI_HEAT] = 3,
		[EMOGI_CIRCUIT] = 12};
	static const double bounds[] = {INFINITY, INFINITY, 0.0, 3.0, 1e5};
	EmogiQuery	query = oracle_query(graph, seed, seed % 3, sources, MAX_SOURCES);

	query.algorithm = algorithm;
	if (algorithm != EMOGI_BFS)
		query.max_depth = -1;
	query.max_distance = bounds[seed % (sizeof(bounds) / sizeof(bounds[0]))];
	query.damping = 0.85;
	query.max_iterations = iterations[algorithm] > 0 ? iterations[algorithm] : 1;
	query.values = values;
	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		values[v] = (double) (emogi_random(seed, v) % 1000) / 1000.0;
		if (algorithm == EMOGI_CIRCUIT && emogi_random(seed, v) % 3 != 0)
			values[v] = (double) NAN;
	}
	return query;
}

/*
 * Return true if the algorithm has a comparable answer on the graph, and the papers' systems
 * support it.
 */
static bool
has_answer(const EmogiGraph *graph, EmogiAlgorithm algorithm, int kind)
{
	if (strcmp(emogi_algorithm_row(algorithm)->papers, "none") == 0)
		return false;
	if (algorithm == EMOGI_SSNSP)
		return graph->backward.offsets != NULL;
	return !emogi_is_sum(algorithm) || kind < FINITE_KINDS;
}

/* Run all algorithms on a graph by all methods. */
static void
check_graph(const char *name, const EmogiGraph *graph, int kind, uint64_t seed)
{
	uint32_t	sources[MAX_SOURCES];
	double	   *values = naive_alloc(graph->nvertices, sizeof(double));

	for (int a = 0; a < EMOGI_NALGORITHMS; a++)
	{
		EmogiQuery	query = make_query(graph, (EmogiAlgorithm) a, seed, sources, values);
		Answer		expected = make_answer(graph->nvertices);
		EmogiControl control = {0};
		EmogiError	error;

		if (has_answer(graph, query.algorithm, kind))
		{
			if (cpu->run(cpu_state, graph, &query, &expected.result, &control, &error) != EMOGI_OK)
				abort();
			for (size_t w = 0; w < NMETHODS; w++)
				ncorrect[w][a] += run_method(name, graph, query, &methods[w], &expected.result);
		}
		free(expected.memory);
	}
	free(values);
}

/* Build a graph with weights of a kind. */
static EmogiBuiltGraph
build_graph(const EmogiEdge *edges, uint64_t nedges, int kind, EmogiDirection direction,
			bool with_backward, uint64_t seed)
{
	double	   *weights = naive_weights(kind, seed, nedges);
	EmogiControl control = {0};
	EmogiBuiltGraph built;
	EmogiEdgeSet set;
	EmogiError	error;
	bool		filled;

	if (weights == NULL)
		filled = emogi_edge_set_fill(&set, edges, nedges, EMOGI_CHUNK_EDGES);
	else
		filled = emogi_edge_set_fill_weighted(&set, edges, weights, nedges,
											  EMOGI_CHUNK_WEIGHTED_EDGES);
	if (!filled || emogi_build_graph(emogi_cpu_engine_pool(cpu_state), &set.edges, direction,
									 with_backward, &built, &control, &error) != EMOGI_OK)
		abort();
	emogi_edge_set_free(&set);
	free(weights);
	return built;
}

/* Check a random graph; most have answers for all algorithms. */
static void
check_random(uint64_t seed)
{
	static const EmogiDirection directions[] = {EMOGI_OUT, EMOGI_BOTH, EMOGI_OUT, EMOGI_IN};
	const uint64_t kind = seed % 8 > 0 ? seed % FINITE_KINDS
		: FINITE_KINDS + seed / 8 % (NAIVE_KINDS - FINITE_KINDS);
	EmogiBuiltGraph built;
	EmogiShape	shape;

	if (!emogi_shape_random(seed, &shape))
		abort();
	built = build_graph(shape.edges, shape.nedges, (int) kind, directions[seed % 4], seed % 4 >= 2,
						seed);
	if (seed % 2 == 1)
		built.graph.id = ++last_id;
	check_graph(shape.name, &built.graph, (int) kind, seed);
	CHECK(cuda->forget(cuda_state, built.graph.id) == 0, "%s is still cached", shape.name);
	check_nothing_held(shape.name, 0);
	emogi_built_graph_free(&built);
	emogi_shape_free(&shape);
}

/*
 * Build a random graph with weights 1 .. 72 and both orientations, in which a few vertices have
 * many edges.
 */
static EmogiBuiltGraph
build_random(uint64_t nvertices, uint64_t nedges, uint64_t seed)
{
	EmogiEdge  *edges = naive_alloc(nedges, sizeof(EmogiEdge));
	EmogiBuiltGraph built;

	for (uint64_t i = 0; i < nedges; i++)
	{
		const uint64_t from = emogi_random(seed, 2 * i) % nvertices;

		edges[i] = (EmogiEdge) {(int64_t) (i % 3 == 0 ? from % 7 : from),
			(int64_t) (emogi_random(seed, 2 * i + 1) % nvertices)};
	}
	built = build_graph(edges, nedges, 1, EMOGI_OUT, true, seed);
	free(edges);
	return built;
}

/* Reopen the cuda engine, with a limit on device memory. */
static void
reopen(uint64_t cap)
{
	EmogiEngineOptions options = {.cpu_threads = 3, .device_memory_bytes = cap};
	EmogiError	error;

	cuda->close(cuda_state);
	if (cuda->open(&options, &cuda_state, &error) != EMOGI_OK)
		abort();
}

/*
 * Run the algorithms of the papers' systems with limits on device memory, from too small for the
 * edges, so that staged lists are split, to sufficient.
 */
static void
check_capped(void)
{
	EmogiBuiltGraph built = build_random(CAPPED_VERTICES, 40 * CAPPED_VERTICES, 12);
	const EmogiGraph *graph = &built.graph;
	const uint64_t edge_bytes = graph->forward.nedges * 5;
	double	   *values = naive_alloc(graph->nvertices, sizeof(double));
	uint64_t	nanswers[EMOGI_NPLACEMENTS] = {0};
	uint64_t	nrefused = 0;
	uint32_t	sources[MAX_SOURCES];

	for (int a = 0; a < EMOGI_NALGORITHMS; a++)
	{
		EmogiQuery	query = make_query(graph, (EmogiAlgorithm) a, 6, sources, values);
		Answer		expected = make_answer(graph->nvertices);
		EmogiControl control = {0};
		EmogiError	error;

		if (!has_answer(graph, query.algorithm, 1))
		{
			free(expected.memory);
			continue;
		}
		if (cpu->run(cpu_state, graph, &query, &expected.result, &control, &error) != EMOGI_OK)
			abort();
		for (uint64_t cap = edge_bytes / 8; cap < 16 * edge_bytes; cap *= 2)
		{
			reopen(cap);
			for (size_t w = 0; w < NMETHODS; w++)
			{
				Answer		answer = make_answer(graph->nvertices);
				const EmogiQuery method = use_method(query, &methods[w]);
				EmogiStatus status = cuda->run(cuda_state, graph, &method, &answer.result, &control,
											   &error);

				if (status == EMOGI_OK)
				{
					CHECK(is_correct(method, graph->nvertices, &answer.result, &expected.result),
						  "%s, algorithm %d, limit %llu", methods[w].name, a,
						  (unsigned long long) cap);
					nanswers[answer.result.placement]++;
				}
				else
				{
					CHECK(status == EMOGI_NO_MEMORY || status == EMOGI_UNSUPPORTED ||
						  is_refused(&methods[w], query.algorithm),
						  "%s, algorithm %d, limit %llu: %d", methods[w].name, a,
						  (unsigned long long) cap, status);
					nrefused++;
				}
				check_nothing_held(methods[w].name, cap);
				free(answer.memory);
			}
		}
		free(expected.memory);
	}
	CHECK(nrefused > 0 && nanswers[EMOGI_PLACEMENT_STAGED] > 0 &&
		  nanswers[EMOGI_PLACEMENT_MANAGED] > 0 && nanswers[EMOGI_PLACEMENT_HOST] > 0,
		  "refused %llu, staged %llu, managed %llu, host %llu", (unsigned long long) nrefused,
		  (unsigned long long) nanswers[EMOGI_PLACEMENT_STAGED],
		  (unsigned long long) nanswers[EMOGI_PLACEMENT_MANAGED],
		  (unsigned long long) nanswers[EMOGI_PLACEMENT_HOST]);
	reopen(0);
	free(values);
	emogi_built_graph_free(&built);
}

/* Run a query by a method, with an injected failure. */
static EmogiStatus
run_failing(const EmogiGraph *graph, EmogiQuery query, const Method *method, EmogiControl control)
{
	Answer		answer = make_answer(graph->nvertices);
	EmogiError	error = {{0}, {0}};
	EmogiStatus status;

	query = use_method(query, method);
	status = cuda->run(cuda_state, graph, &query, &answer.result, &control, &error);
	CHECK(status == EMOGI_OK || status == EMOGI_CANCELED || error.message[0] != '\0',
		  "%s: status %d without a message", method->name, status);
	free(answer.memory);
	return status;
}

/*
 * Let each allocation of device memory of a run fail by turns; then driver calls, ever fewer, each
 * in an engine of its own.
 */
static void
check_failing(const EmogiGraph *graph, EmogiQuery query, const Method *method)
{
	EmogiControl control = {0};
	EmogiStatus status = EMOGI_NO_MEMORY;

	while (status == EMOGI_NO_MEMORY && control.fail_device_allocation < MAX_ALLOCATIONS)
	{
		control.fail_device_allocation++;
		status = run_failing(graph, query, method, control);
		CHECK(used_bytes() == 0, "%s, algorithm %d, allocation %u: %llu bytes", method->name,
			  query.algorithm, control.fail_device_allocation, (unsigned long long) used_bytes());
	}
	CHECK(status == EMOGI_OK && control.fail_device_allocation > 2,
		  "%s, algorithm %d: %d at allocation %u", method->name, query.algorithm, status,
		  control.fail_device_allocation);
	control = (EmogiControl) {0};
	status = EMOGI_DEVICE_ERROR;
	while (status == EMOGI_DEVICE_ERROR && control.fail_device_call < MAX_CALLS)
	{
		control.fail_device_call += 1 + control.fail_device_call / 4;
		status = run_failing(graph, query, method, control);
		if (status == EMOGI_DEVICE_ERROR)
			reopen(0);
	}
	CHECK(status == EMOGI_OK && control.fail_device_call > 12, "%s, algorithm %d: %d at call %u",
		  method->name, query.algorithm, status, control.fail_device_call);
}

/* Let memory and the driver fail in all methods, and check that runs can be canceled. */
static void
check_all_failing(void)
{
	EmogiBuiltGraph built = build_random(300, 3000, 9);
	double	   *values = naive_alloc(built.graph.nvertices, sizeof(double));
	uint32_t	sources[MAX_SOURCES];

	for (size_t w = 0; w < NMETHODS; w++)
	{
		const EmogiAlgorithm algorithm = w % 3 == 0 ? EMOGI_SSNSP : w % 3 == 1 ? EMOGI_SSSP
			: EMOGI_CIRCUIT;
		const EmogiAlgorithm chosen = methods[w].id_bytes == 8 ? EMOGI_SSSP : algorithm;
		EmogiQuery	query = make_query(&built.graph, chosen, 6, sources, values);

		if (is_refused(&methods[w], chosen))
			continue;
		check_failing(&built.graph, query, &methods[w]);
		CHECK(run_failing(&built.graph, query, &methods[w], (EmogiControl) {.cancel = 1}) ==
			  EMOGI_CANCELED, "%s was not canceled", methods[w].name);
	}
	free(values);
	emogi_built_graph_free(&built);
}

/* Print the number of graphs that each method answered correctly. */
static void
print_matrix(void)
{
	printf("%-28s", "");
	for (int a = 0; a < EMOGI_NALGORITHMS; a++)
		printf("%10s", emogi_algorithm_row((EmogiAlgorithm) a)->name);
	printf("\n");
	for (size_t w = 0; w < NMETHODS; w++)
	{
		printf("%-28s", methods[w].name);
		for (int a = 0; a < EMOGI_NALGORITHMS; a++)
			if (is_refused(&methods[w], (EmogiAlgorithm) a))
				printf("%10s", "-");
			else
				printf("%10llu", (unsigned long long) ncorrect[w][a]);
		printf("\n");
	}
}

int
main(void)
{
	uint64_t	first = number_from_environment("EMOGI_AGREE_SEED", 1);
	uint64_t	ngraphs = number_from_environment("EMOGI_AGREE_GRAPHS", DEFAULT_GRAPHS);

	if (!open_both())
		return check_report("test_papers");
	for (uint64_t seed = first; seed < first + ngraphs; seed++)
		check_random(seed);
	print_matrix();
	if (number_from_environment("EMOGI_AGREE_LARGE", 1) != 0)
	{
		check_capped();
		check_all_failing();
	}
	close_both();
	return check_report("test_papers");
}
