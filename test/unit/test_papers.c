/*
 * test_papers.c: what the papers' mappings and placements answer is what the cpu engine answers, for every algorithm:
 * bit for bit for paths, components and counts up to 2^53, to 1e-9 for larger counts and for sums, and the same bits in two
 * runs. Every other Graph has an id, so that the engine keeps what it may.
 *
 * EMOGI_AGREE_GRAPHS random graphs (default 140) are made from seeds EMOGI_AGREE_SEED (default 1) and up. The matrix that
 * is printed says how many of them each way answered right for each algorithm: -, a pair that is refused.
 * EMOGI_AGREE_LARGE = 0 leaves out the larger graph with capped device memory, and failures of memory and the driver.
 */
#include "both.h"

#include "contract/semirings.h"
#include "cpu/cpu.h"

#define DEFAULT_GRAPHS 140		/* of which every algorithm has an answer for 100 and more */
#define MAX_SOURCES 8
#define FINITE_KINDS 7			/* kinds of weights from this one on make infinities of sums */
#define CAPPED_VERTICES 30000
#define MAX_TAKES 60			/* more than any run takes of device memory */
#define MAX_CALLS 600			/* more than a short run makes of the driver */

/* A way to run a query. */
typedef struct Way
{
	const char *name;
	EmogiMapping mapping;
	EmogiPlacement placement;
	bool		option;			/* MANAGED: prefetch; STAGED: asynchronous; else: requests are counted */
	uint32_t	id_bytes;
} Way;

static const Way ways[] = {
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

#define NWAYS (sizeof(ways) / sizeof(ways[0]))

static uint64_t right[NWAYS][EMOGI_NALGORITHMS];

/* Say whether a pair is one of those that make no sense. */
static bool
is_refused(const Way *way, EmogiAlgorithm algorithm)
{
	if (way->mapping == EMOGI_MAPPING_DEGREE_CUT && way->placement == EMOGI_PLACEMENT_STAGED)
		return true;
	return way->id_bytes == 8 && (way->mapping > EMOGI_MAPPING_ALIGNED ||
		(algorithm != EMOGI_BFS && algorithm != EMOGI_CC && !emogi_is_path(algorithm)));
}

/* Make a query go a way. */
static EmogiQuery
go_way(EmogiQuery query, const Way *way)
{
	query.papers.mapping = way->mapping;
	query.placement = way->placement;
	query.papers.id_bytes = way->id_bytes;
	query.papers.prefetch = query.papers.asynchronous = way->option;
	query.papers.count_requests = way->option;
	return query;
}

/* Compare an answer with the one expected. */
static bool
is_right(EmogiQuery query, uint64_t nvertices, const EmogiResult *result, const EmogiResult *expected)
{
	return agree(query.algorithm, nvertices, result, expected) && result->nreached == expected->nreached;
}

/* Check what a run says of what it read. */
static void
check_counters(const char *what, const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result)
{
	const bool	in_place = result->placement == EMOGI_PLACEMENT_HOST && query->papers.mapping <= EMOGI_MAPPING_DEGREE_CUT;
	uint64_t	nrequests = 0;

	for (int i = 0; i < 4; i++)
		nrequests += result->papers.requests[i];
	if (in_place && query->papers.count_requests)
		CHECK(nrequests * EMOGI_LINE_BYTES == result->link_bytes, "%s: %llu requests, %llu bytes", what,
			  (unsigned long long) nrequests, (unsigned long long) result->link_bytes);
	else
		CHECK(nrequests == 0, "%s: %llu requests", what, (unsigned long long) nrequests);
	if (query->placement >= EMOGI_PLACEMENT_MANAGED && query->papers.mapping < EMOGI_MAPPING_SHARDS && graph->forward.nedges > 0 &&
		(query->nsources > 0 || emogi_algorithm_takes(emogi_algorithm_row(query->algorithm), EMOGI_SOURCES) < 0))
		CHECK(result->placement == query->placement, "%s was %d", what, result->placement);
}

/* Ask a query a way; of sums twice, as they are not compared with the bits of the cpu's. Get whether it was right. */
static bool
ask_way(const char *name, const EmogiGraph *graph, EmogiQuery query, const Way *way, const EmogiResult *expected)
{
	Answer		first = make_answer(graph->nvertices);
	Answer		second = make_answer(graph->nvertices);
	EmogiResult given = first.result;
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	EmogiStatus status;
	char		what[200];
	bool		good;

	query = go_way(query, way);
	snprintf(what, sizeof(what), "%s, %s, algorithm %d, weights %d", name, way->name, query.algorithm, graph->weight_type);
	status = cuda->run(cuda_state, graph, &query, &first.result, &control, &error);
	if (is_refused(way, query.algorithm))
	{
		CHECK(status == EMOGI_BAD_INPUT || graph->nvertices == 0, "%s: status %d", what, status);
		good = false;
	}
	else
	{
		CHECK(status == EMOGI_OK, "%s: status %d, %s (%s)", what, status, error.message, error.detail);
		good = status == EMOGI_OK && is_right(query, graph->nvertices, &first.result, expected);
		CHECK(good, "%s is wrong: %llu sources, max depth %lld", what, (unsigned long long) query.nsources,
			  (long long) query.max_depth);
		CHECK(within_bounds(query.algorithm, graph->nvertices, &given), "%s wrote beyond the end", what);
		check_counters(what, graph, &query, &first.result);
		if (emogi_algorithm_iterates(query.algorithm))
			CHECK(cuda->run(cuda_state, graph, &query, &second.result, &control, &error) == EMOGI_OK &&
				  memcmp(first.result.columns[0].float64, second.result.columns[0].float64, graph->nvertices * sizeof(double)) == 0,
				  "%s: two answers", what);
	}
	free(first.memory);
	free(second.memory);
	return good;
}

/* Make the query of an algorithm. values[nvertices] and sources[MAX_SOURCES] are the caller's. */
static EmogiQuery
make_query(const EmogiGraph *graph, EmogiAlgorithm algorithm, uint64_t seed, uint32_t *sources, double *values)
{
	static const int64_t iterations[EMOGI_NALGORITHMS] = {[EMOGI_PAGERANK] = 20, [EMOGI_HEAT] = 3, [EMOGI_CIRCUIT] = 12};
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

/* Say whether a Graph has an answer to compare, by the papers' systems too. */
static bool
has_answer(const EmogiGraph *graph, EmogiAlgorithm algorithm, int kind)
{
	if (strcmp(emogi_algorithm_row(algorithm)->papers, "none") == 0)
		return false;
	if (algorithm == EMOGI_SSNSP)
		return graph->backward.offsets != NULL;
	return !emogi_is_sum(algorithm) || kind < FINITE_KINDS;
}

/* Ask all algorithms of a Graph, all ways. */
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
			for (size_t w = 0; w < NWAYS; w++)
				right[w][a] += ask_way(name, graph, query, &ways[w], &expected.result);
		}
		free(expected.memory);
	}
	free(values);
}

/* Build a Graph of edges with weights of a kind. */
static EmogiBuiltGraph
build_graph(const EmogiEdge *edges, uint64_t nedges, int kind, EmogiDirection direction, bool with_backward, uint64_t seed)
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
		filled = emogi_edge_set_fill_weighted(&set, edges, weights, nedges, EMOGI_CHUNK_WEIGHTED_EDGES);
	if (!filled || emogi_build_graph(emogi_cpu_engine_pool(cpu_state), &set.edges, direction, with_backward, &built, &control,
									 &error) != EMOGI_OK)
		abort();
	emogi_edge_set_free(&set);
	free(weights);
	return built;
}

/* Check a random graph: of most, all algorithms have an answer. */
static void
check_random(uint64_t seed)
{
	static const EmogiDirection directions[] = {EMOGI_OUT, EMOGI_BOTH, EMOGI_OUT, EMOGI_IN};
	const uint64_t kind = seed % 8 > 0 ? seed % FINITE_KINDS : FINITE_KINDS + seed / 8 % (NAIVE_KINDS - FINITE_KINDS);
	EmogiBuiltGraph built;
	EmogiShape	shape;

	if (!emogi_shape_random(seed, &shape))
		abort();
	built = build_graph(shape.edges, shape.nedges, (int) kind, directions[seed % 4], seed % 4 >= 2, seed);
	if (seed % 2 == 1)
		built.graph.id = ++last_id;
	check_graph(shape.name, &built.graph, (int) kind, seed);
	CHECK(cuda->forget(cuda_state, built.graph.id) == 0, "%s was not forgotten", shape.name);
	check_nothing_held(shape.name, 0);
	emogi_built_graph_free(&built);
	emogi_shape_free(&shape);
}

/* Build a random Graph with weights 1 .. 72 and both orientations, in which a few vertices have many edges. */
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

/* Open the cuda engine anew, with a cap of its device memory. */
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
 * Run the algorithms of the papers' systems under caps of device memory, from too little for the edges, so that staged lists come
 * in parts, to enough.
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
			for (size_t w = 0; w < NWAYS; w++)
			{
				Answer		answer = make_answer(graph->nvertices);
				const EmogiQuery way = go_way(query, &ways[w]);
				EmogiStatus status = cuda->run(cuda_state, graph, &way, &answer.result, &control, &error);

				if (status == EMOGI_OK)
				{
					CHECK(is_right(way, graph->nvertices, &answer.result, &expected.result), "%s, algorithm %d, cap %llu", ways[w].name,
						  a, (unsigned long long) cap);
					nanswers[answer.result.placement]++;
				}
				else
				{
					CHECK(status == EMOGI_NO_MEMORY || status == EMOGI_UNSUPPORTED || is_refused(&ways[w], query.algorithm), "%s, algorithm %d, cap %llu: %d",
						  ways[w].name, a, (unsigned long long) cap, status);
					nrefused++;
				}
				check_nothing_held(ways[w].name, cap);
				free(answer.memory);
			}
		}
		free(expected.memory);
	}
	CHECK(nrefused > 0 && nanswers[EMOGI_PLACEMENT_STAGED] > 0 && nanswers[EMOGI_PLACEMENT_MANAGED] > 0 &&
		  nanswers[EMOGI_PLACEMENT_HOST] > 0, "refused %llu, staged %llu, managed %llu, host %llu",
		  (unsigned long long) nrefused, (unsigned long long) nanswers[EMOGI_PLACEMENT_STAGED],
		  (unsigned long long) nanswers[EMOGI_PLACEMENT_MANAGED], (unsigned long long) nanswers[EMOGI_PLACEMENT_HOST]);
	reopen(0);
	free(values);
	emogi_built_graph_free(&built);
}

/* Ask a way with something that fails. */
static EmogiStatus
ask_failing(const EmogiGraph *graph, EmogiQuery query, const Way *way, EmogiControl control)
{
	Answer		answer = make_answer(graph->nvertices);
	EmogiError	error = {{0}, {0}};
	EmogiStatus status;

	query = go_way(query, way);
	status = cuda->run(cuda_state, graph, &query, &answer.result, &control, &error);
	CHECK(status == EMOGI_OK || status == EMOGI_CANCELED || error.message[0] != '\0', "%s: status %d without a message", way->name, status);
	free(answer.memory);
	return status;
}

/* Let each allocation of device memory of a run fail in turn, then calls of the driver, ever fewer, each in its own engine. */
static void
check_failing(const EmogiGraph *graph, EmogiQuery query, const Way *way)
{
	EmogiControl control = {0};
	EmogiStatus status = EMOGI_NO_MEMORY;

	while (status == EMOGI_NO_MEMORY && control.fail_device_allocation < MAX_TAKES)
	{
		control.fail_device_allocation++;
		status = ask_failing(graph, query, way, control);
		CHECK(used_bytes() == 0, "%s, algorithm %d, take %u: %llu bytes", way->name, query.algorithm,
			  control.fail_device_allocation, (unsigned long long) used_bytes());
	}
	CHECK(status == EMOGI_OK && control.fail_device_allocation > 2, "%s, algorithm %d: %d at take %u", way->name,
		  query.algorithm, status, control.fail_device_allocation);
	control = (EmogiControl) {0};
	status = EMOGI_DEVICE_ERROR;
	while (status == EMOGI_DEVICE_ERROR && control.fail_device_call < MAX_CALLS)
	{
		control.fail_device_call += 1 + control.fail_device_call / 4;
		status = ask_failing(graph, query, way, control);
		if (status == EMOGI_DEVICE_ERROR)
			reopen(0);
	}
	CHECK(status == EMOGI_OK && control.fail_device_call > 12, "%s, algorithm %d: %d at call %u", way->name, query.algorithm,
		  status, control.fail_device_call);
}

/* Let memory and the driver fail in every way; a canceled run says so. */
static void
check_all_failing(void)
{
	EmogiBuiltGraph built = build_random(300, 3000, 9);
	double	   *values = naive_alloc(built.graph.nvertices, sizeof(double));
	uint32_t	sources[MAX_SOURCES];

	for (size_t w = 0; w < NWAYS; w++)
	{
		const EmogiAlgorithm algorithm = w % 3 == 0 ? EMOGI_SSNSP : w % 3 == 1 ? EMOGI_SSSP : EMOGI_CIRCUIT;
		const EmogiAlgorithm chosen = ways[w].id_bytes == 8 ? EMOGI_SSSP : algorithm;
		EmogiQuery	query = make_query(&built.graph, chosen, 6, sources, values);

		if (is_refused(&ways[w], chosen))
			continue;
		check_failing(&built.graph, query, &ways[w]);
		CHECK(ask_failing(&built.graph, query, &ways[w], (EmogiControl) {.cancel = 1}) == EMOGI_CANCELED, "%s was not canceled",
			  ways[w].name);
	}
	free(values);
	emogi_built_graph_free(&built);
}

/* Print how many graphs each way has answered right. */
static void
print_matrix(void)
{
	printf("%-28s", "");
	for (int a = 0; a < EMOGI_NALGORITHMS; a++)
		printf("%10s", emogi_algorithm_row((EmogiAlgorithm) a)->name);
	printf("\n");
	for (size_t w = 0; w < NWAYS; w++)
	{
		printf("%-28s", ways[w].name);
		for (int a = 0; a < EMOGI_NALGORITHMS; a++)
			if (is_refused(&ways[w], (EmogiAlgorithm) a))
				printf("%10s", "-");
			else
				printf("%10llu", (unsigned long long) right[w][a]);
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
