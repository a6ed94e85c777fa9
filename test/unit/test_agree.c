/*
 * test_agree.c: the cuda engine's answers are the cpu engine's, for every algorithm, without weights and with those of
 * every kind: bit for bit for paths, components and counts up to 2^53, to 1e-9 for larger counts and for sums. Every
 * other Graph has an id, so that the engine keeps it from query to query; what is kept, evicted and freed, also when
 * memory or the driver fails, is then checked by itself.
 *
 * EMOGI_CUDA_MODULE names the module; without it, or without a device, nothing is checked and one line says so.
 * EMOGI_AGREE_GRAPHS random graphs (default 220) are made from seeds EMOGI_AGREE_SEED (default 1) and up;
 * EMOGI_AGREE_LARGE = 0 leaves out the fixed shapes, the large graphs and the failures of the driver, under which
 * racecheck takes hours.
 */
#include "check.h"
#include "naive.h"
#include "oracle.h"

#include <dlfcn.h>
#include <string.h>

#define DEFAULT_GRAPHS 220
#define MAX_SOURCES 50
#define QUERIES 3
#define FINITE_KINDS 7			/* kinds of weights from this one on make infinities of sums */
#define PLAIN_VERTICES 40000
#define HEADS_VERTICES 2000
#define MAX_TAKES 40			/* more than any run takes of device memory */
#define MAX_CALLS 400			/* more than a short run makes of the driver */

static const EmogiEngine *cpu,
		   *cuda;
static EmogiEngineState *cpu_state,
		   *cuda_state;
static uint64_t last_id;		/* that a Graph was given */

/* What is compared of an algorithm's answer. */
typedef struct Answer
{
	EmogiResult result;
	void	   *memory;
} Answer;

/* Make room for an answer, filled with nonsense. */
static Answer
make_answer(uint64_t nvertices)
{
	uint64_t	room = nvertices + 1;
	Answer		answer = {.memory = malloc(room * 32)};
	char	   *place = answer.memory;

	memset(place, 0x55, room * 32);
	answer.result.distance = (double *) place;
	answer.result.paths = (double *) (place + room * 8);
	answer.result.value = (double *) (place + room * 16);
	answer.result.level = (int32_t *) (place + room * 24);
	answer.result.component = (uint32_t *) (place + room * 28);
	return answer;
}

/* Count the values that are farther apart than 1e-9 of `scale`, or of their own size when that is 0. */
static uint64_t
count_apart(uint64_t nvertices, const double *values, const double *expected, double exact_below, double scale)
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

/* Get the largest size of a value. */
static double
largest(uint64_t nvertices, const double *values)
{
	double		found = 0.0;

	for (uint64_t v = 0; v < nvertices; v++)
		found = fabs(values[v]) > found ? fabs(values[v]) : found;
	return found;
}

/* Say whether two answers agree: bit for bit, but for counts above 2^53 and sums. */
static bool
agree(EmogiAlgorithm algorithm, uint64_t n, const EmogiResult *result, const EmogiResult *expected)
{
	switch (algorithm)
	{
		case EMOGI_BFS:
			return memcmp(result->level, expected->level, n * sizeof(int32_t)) == 0 &&
				result->nlevels == expected->nlevels;
		case EMOGI_SSSP:
		case EMOGI_SSWP:
			return memcmp(result->distance, expected->distance, n * sizeof(double)) == 0;
		case EMOGI_SSNSP:
			return memcmp(result->level, expected->level, n * sizeof(int32_t)) == 0 &&
				result->nlevels == expected->nlevels &&
				count_apart(n, result->paths, expected->paths, 9007199254740992.0, 0.0) == 0;
		case EMOGI_CC:
			return memcmp(result->component, expected->component, n * sizeof(uint32_t)) == 0;
		default:
			return result->nlevels == expected->nlevels &&
				count_apart(n, result->value, expected->value, -INFINITY, largest(n, expected->value)) == 0;
	}
}

/* Say whether nothing was written beyond the arrays. */
static bool
within_bounds(uint64_t n, const EmogiResult *result)
{
	static const unsigned char nonsense[8] = {0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55};

	return memcmp(&result->distance[n], nonsense, 8) == 0 && memcmp(&result->paths[n], nonsense, 8) == 0 &&
		memcmp(&result->value[n], nonsense, 8) == 0 && memcmp(&result->level[n], nonsense, 4) == 0 &&
		memcmp(&result->component[n], nonsense, 4) == 0;
}

/* Get the device memory that the cuda engine holds. */
static uint64_t
used_bytes(void)
{
	EmogiDevice device;
	EmogiError	error;

	if (cuda->describe(cuda_state, 0, &device, &error) != EMOGI_OK)
		abort();
	return device.used_bytes;
}

/* Ask one query of both engines, with the edges in either place. */
static void
check_query(const char *name, const EmogiGraph *graph, EmogiQuery query)
{
	Answer		expected = make_answer(graph->nvertices);
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};

	if (cpu->run(cpu_state, graph, &query, &expected.result, &control, &error) != EMOGI_OK)
		abort();
	for (int p = EMOGI_PLACEMENT_AUTO; p <= EMOGI_PLACEMENT_HYBRID; p++)
	{
		Answer		answer = make_answer(graph->nvertices);
		EmogiResult given = answer.result;
		EmogiStatus status;

		query.placement = (EmogiPlacement) p;
		status = cuda->run(cuda_state, graph, &query, &answer.result, &control, &error);
		CHECK(status == EMOGI_OK, "%s algorithm %d placement %d: status %d, %s (%s)", name, query.algorithm, p, status,
			  error.message, error.detail);
		CHECK(agree(query.algorithm, graph->nvertices, &answer.result, &expected.result),
			  "%s algorithm %d placement %d weights %d, %llu sources, max depth %lld, max distance %g", name,
			  query.algorithm, p, graph->weight_type, (unsigned long long) query.nsources, (long long) query.max_depth,
			  query.max_distance);
		CHECK(within_bounds(graph->nvertices, &given), "%s algorithm %d placement %d wrote beyond the end",
			  name, query.algorithm, p);
		CHECK(answer.result.nreached == expected.result.nreached, "%s algorithm %d placement %d: reached %llu of %llu",
			  name, query.algorithm, p, (unsigned long long) answer.result.nreached,
			  (unsigned long long) expected.result.nreached);
		CHECK(answer.result.placement == EMOGI_PLACEMENT_DEVICE ||
			  (answer.result.placement == EMOGI_PLACEMENT_HOST && p != EMOGI_PLACEMENT_DEVICE) ||
			  (answer.result.placement == EMOGI_PLACEMENT_HYBRID && p == EMOGI_PLACEMENT_HYBRID),
			  "%s algorithm %d placement %d was %d", name, query.algorithm, p, answer.result.placement);
		free(answer.memory);
	}
	free(expected.memory);
}

/* Ask of the algorithms that start from sources. */
static void
check_paths(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	static const double bounds[] = {INFINITY, INFINITY, 0.0, 3.0, 1e5, 1e300};
	uint32_t	sources[MAX_SOURCES];

	for (uint64_t i = 0; i < QUERIES; i++)
	{
		EmogiQuery	query = oracle_query(graph, seed, i, sources, MAX_SOURCES);

		query.max_distance = bounds[emogi_random(seed, 70 + i) % (sizeof(bounds) / sizeof(bounds[0]))];
		check_query(name, graph, query);
		query.max_depth = -1;
		query.algorithm = EMOGI_SSSP;
		check_query(name, graph, query);
		query.algorithm = EMOGI_SSWP;
		check_query(name, graph, query);
		query.algorithm = EMOGI_SSNSP;
		if (graph->backward.offsets != NULL)
			check_query(name, graph, query);
	}
}

/* Ask of components and of what iterates: few iterations where rounding grows with each. */
static void
check_sums(const char *name, const EmogiGraph *graph, int kind, uint64_t seed)
{
	static const struct
	{
		EmogiAlgorithm algorithm;
		int64_t		max_iterations;
	}			runs[] = {{EMOGI_CC, 1}, {EMOGI_PAGERANK, 20}, {EMOGI_HEAT, 3}, {EMOGI_CIRCUIT, 12}, {EMOGI_NEURAL, 1}};
	double	   *values = naive_alloc(graph->nvertices, sizeof(double));
	EmogiQuery	query = {.damping = 0.85, .values = values};

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
	{
		query.algorithm = runs[i].algorithm;
		query.max_iterations = runs[i].max_iterations;
		for (uint64_t v = 0; v < graph->nvertices; v++)
		{
			values[v] = (double) (emogi_random(seed, v) % 1000) / 1000.0;
			if (query.algorithm == EMOGI_CIRCUIT && emogi_random(seed, v) % 3 != 0)
				values[v] = (double) NAN;
		}
		if (query.algorithm <= EMOGI_PAGERANK || kind < FINITE_KINDS)
			check_query(name, graph, query);
	}
	free(values);
}

/* Build edges in a direction and ask queries. */
static void
check_edges(const char *name, const EmogiEdges *edges, int kind, EmogiDirection direction, bool with_backward,
			uint64_t seed)
{
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;

	if (emogi_build_graph(emogi_cpu_engine_pool(cpu_state), edges, direction, with_backward, &built, &control,
						  &error) != EMOGI_OK)
		abort();
	if (seed % 2 == 1)
		built.graph.id = ++last_id;
	check_paths(name, &built.graph, seed);
	check_sums(name, &built.graph, kind, seed);
	CHECK(cuda->forget(cuda_state, built.graph.id) == 0 && used_bytes() == 0, "%s left %llu bytes on the device", name,
		  (unsigned long long) used_bytes());
	emogi_built_graph_free(&built);
}

/* Ask of edges with weights of a kind in all directions, with and without the transpose. */
static void
check_directions(const char *name, const EmogiEdge *edges, uint64_t nedges, int kind, uint64_t seed)
{
	double	   *weights = naive_weights(kind, seed, nedges);
	EmogiEdgeSet set;
	bool		filled;

	if (weights == NULL)
		filled = emogi_edge_set_fill(&set, edges, nedges, EMOGI_CHUNK_EDGES);
	else
		filled = emogi_edge_set_fill_weighted(&set, edges, weights, nedges, EMOGI_CHUNK_WEIGHTED_EDGES);
	if (!filled)
		abort();
	check_edges(name, &set.edges, kind, EMOGI_OUT, false, seed);
	check_edges(name, &set.edges, kind, EMOGI_OUT, true, seed);
	check_edges(name, &set.edges, kind, EMOGI_IN, false, seed);
	check_edges(name, &set.edges, kind, EMOGI_BOTH, false, seed);
	emogi_edge_set_free(&set);
	free(weights);
}

/* Ask of a shape without weights and with those of one kind. */
static void
check_shape(EmogiShape *shape, uint64_t seed)
{
	check_directions(shape->name, shape->edges, shape->nedges, 0, seed);
	check_directions(shape->name, shape->edges, shape->nedges, 1 + (int) (seed % (NAIVE_KINDS - 1)), seed);
	emogi_shape_free(shape);
}

/* Ask of generated graphs. */
static void
check_large(EmogiGenerator generator)
{
	EmogiEdgeSet set;
	EmogiEdge  *edges;
	uint64_t	nedges = 0;

	if (!emogi_generate_edges(emogi_cpu_engine_pool(cpu_state), generator, 16, 16, 11, &set))
		abort();
	edges = naive_alloc(set.edges.nedges, sizeof(EmogiEdge));
	for (uint64_t c = 0; c < set.edges.nchunks; c++)
	{
		memcpy(edges + nedges, set.chunks[c]->edges, set.chunks[c]->nedges * sizeof(EmogiEdge));
		nedges += set.chunks[c]->nedges;
	}
	emogi_edge_set_free(&set);
	for (int kind = 0; kind < NAIVE_KINDS; kind += 2)
		check_directions("large", edges, nedges, kind, 99);
	check_directions("large", edges, nedges, 1, 99);
	free(edges);
}

/* Build a random Graph with weights 1 .. 72 and both orientations. */
static EmogiBuiltGraph
build_random(uint64_t nvertices, uint64_t nedges, uint64_t seed)
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
		emogi_build_graph(emogi_cpu_engine_pool(cpu_state), &set.edges, EMOGI_OUT, true, &built, &control,
						  &error) != EMOGI_OK)
		abort();
	emogi_edge_set_free(&set);
	free(edges);
	free(weights);
	built.graph.id = ++last_id;
	return built;
}

/* Make a query from vertex 0, or of one iteration from 0.5 everywhere. */
static EmogiQuery
plain_query(const EmogiGraph *graph, EmogiAlgorithm algorithm, EmogiPlacement placement)
{
	static const uint32_t source = 0;
	static double values[PLAIN_VERTICES];

	for (uint64_t v = 0; v < graph->nvertices; v++)
		values[v] = 0.5;
	return (EmogiQuery) {.algorithm = algorithm, .placement = placement, .nsources = 1, .sources = &source,
		.max_depth = -1, .max_distance = INFINITY, .damping = 0.85, .max_iterations = 1, .values = values};
}

/* Overwrite what a run on a Graph that is kept must not read from the host any more. */
static void
hide_arrays(const EmogiGraph *graph, EmogiPlacement placement)
{
	size_t		offset_bytes = (graph->nvertices + 1) * sizeof(uint64_t);

	if (placement == EMOGI_PLACEMENT_DEVICE)
		memset((void *) graph->memory, 0xFF, graph->memory_bytes);
	memset((void *) graph->forward.offsets, 0xFF, offset_bytes);
	memset((void *) graph->backward.offsets, 0xFF, offset_bytes);
}

/* Ask both engines and compare. Get the status and, unless NULL, where the edges were read from. */
static EmogiStatus
ask(const char *what, const EmogiGraph *graph, EmogiQuery query, EmogiControl control, bool hidden,
	EmogiPlacement *placement)
{
	Answer		expected = make_answer(graph->nvertices);
	Answer		answer = make_answer(graph->nvertices);
	EmogiControl cpu_control = {0};
	EmogiError	error = {{0}, {0}};
	void	   *copy = naive_alloc(graph->memory_bytes, 1);
	EmogiStatus status;

	if (cpu->run(cpu_state, graph, &query, &expected.result, &cpu_control, &error) != EMOGI_OK)
		abort();
	memcpy(copy, graph->memory, graph->memory_bytes);
	if (hidden)
		hide_arrays(graph, query.placement);
	status = cuda->run(cuda_state, graph, &query, &answer.result, &control, &error);
	if (hidden)
		memcpy((void *) graph->memory, copy, graph->memory_bytes);
	CHECK(status != EMOGI_OK || agree(query.algorithm, graph->nvertices, &answer.result, &expected.result),
		  "%s: algorithm %d placement %d", what, query.algorithm, query.placement);
	if (placement != NULL)
		*placement = answer.result.placement;
	free(expected.memory);
	free(answer.memory);
	free(copy);
	return status;
}

/* Ask without faults. Get where the edges were read from. */
static EmogiPlacement
ask_plainly(const char *what, const EmogiGraph *graph, EmogiAlgorithm algorithm, EmogiPlacement placement)
{
	EmogiQuery	query = plain_query(graph, algorithm, placement);
	EmogiStatus status = ask(what, graph, query, (EmogiControl) {0}, false, &placement);

	CHECK(status == EMOGI_OK, "%s: algorithm %d placement %d: status %d", what, algorithm, query.placement, status);
	return placement;
}

/* Ask what only needs arrays that are kept: they are not read from the host, and nothing more is held afterwards. */
static void
ask_hidden(const char *what, const EmogiGraph *graph, EmogiAlgorithm algorithm, EmogiPlacement placement)
{
	uint64_t	before = used_bytes();
	EmogiQuery	query = plain_query(graph, algorithm, placement);
	EmogiStatus status = ask(what, graph, query, (EmogiControl) {0}, true, NULL);

	CHECK(status == EMOGI_OK && used_bytes() == before, "%s: algorithm %d placement %d: status %d, %llu bytes for %llu",
		  what, algorithm, query.placement, status, (unsigned long long) used_bytes(), (unsigned long long) before);
}

/* Check that what one run has brought to the device serves the next, through whatever view, until it is forgotten. */
static void
check_kept(void)
{
	EmogiBuiltGraph built = build_random(700, 9000, 5);
	EmogiGraph	swapped = built.graph;
	EmogiGraph	stripped;

	for (int p = EMOGI_PLACEMENT_HOST; p <= EMOGI_PLACEMENT_HYBRID; p++)
		for (int a = EMOGI_BFS; a < EMOGI_NALGORITHMS; a++)
		{
			ask_plainly("kept", &built.graph, (EmogiAlgorithm) a, (EmogiPlacement) p);
			ask_hidden("kept", &built.graph, (EmogiAlgorithm) a, (EmogiPlacement) p);
		}
	CHECK(ask_plainly("kept", &built.graph, EMOGI_BFS, EMOGI_PLACEMENT_AUTO) == EMOGI_PLACEMENT_DEVICE, "not there");

	swapped.forward = built.graph.backward;
	swapped.backward = built.graph.forward;
	ask_hidden("swapped", &swapped, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE);
	ask_hidden("swapped", &swapped, EMOGI_SSNSP, EMOGI_PLACEMENT_HOST);
	ask_plainly("swapped", &swapped, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE);	/* its weights are new */
	stripped = swapped;
	stripped.weight_type = EMOGI_WEIGHT_NONE;
	stripped.forward.weights = stripped.backward.weights = NULL;
	ask_hidden("stripped", &stripped, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE);
	ask_hidden("whole again", &built.graph, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE);

	CHECK(used_bytes() > 0, "nothing was kept");
	CHECK(cuda->forget(cuda_state, built.graph.id + 1) == used_bytes(), "forgot the wrong graph");
	CHECK(cuda->forget(cuda_state, built.graph.id) == 0 && used_bytes() == 0, "%llu bytes",
		  (unsigned long long) used_bytes());
	built.graph.id = 0;
	ask_plainly("without an id", &built.graph, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE);
	CHECK(used_bytes() == 0, "%llu bytes", (unsigned long long) used_bytes());
	emogi_built_graph_free(&built);
}

/* Open the cuda engine again, with a cap. */
static void
reopen(uint64_t device_memory_bytes)
{
	EmogiEngineOptions options = {.cpu_threads = 2, .device_memory_bytes = device_memory_bytes};
	EmogiError	error;

	cuda->close(cuda_state);
	if (cuda->open(&options, &cuda_state, &error) != EMOGI_OK)
		abort();
}

/* Check that of two Graphs under a cap that one alone fits, each comes to the device when it is asked for. */
static void
check_evicted(void)
{
	EmogiBuiltGraph a = build_random(1000, 60000, 6);
	EmogiBuiltGraph b = build_random(1000, 60000, 7);
	uint64_t	needed;

	ask_plainly("alone", &a.graph, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE);
	needed = used_bytes();
	reopen(needed + needed / 2);
	for (int round = 0; round < 2; round++)
	{
		ask_plainly("evicting", &a.graph, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE);
		ask_hidden("evicting", &a.graph, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE);
		CHECK(ask_plainly("there", &a.graph, EMOGI_BFS, EMOGI_PLACEMENT_AUTO) == EMOGI_PLACEMENT_DEVICE, "not there");
		ask_plainly("beside", &b.graph, EMOGI_SSSP, EMOGI_PLACEMENT_HOST);
		ask_hidden("beside", &a.graph, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE);
		ask_plainly("evicting", &b.graph, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE);
		ask_hidden("evicting", &b.graph, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE);
		CHECK(ask_plainly("gone", &a.graph, EMOGI_BFS, EMOGI_PLACEMENT_AUTO) != EMOGI_PLACEMENT_DEVICE, "still there");
		CHECK(used_bytes() <= needed + needed / 2, "%llu bytes", (unsigned long long) used_bytes());
	}
	CHECK(cuda->forget(cuda_state, b.graph.id) < needed, "still there");
	CHECK(cuda->forget(cuda_state, a.graph.id) == 0, "still there");

	reopen(needed / 2);
	CHECK(ask("too large", &a.graph, plain_query(&a.graph, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE), (EmogiControl) {0},
			  false, NULL) == EMOGI_NO_MEMORY && used_bytes() == 0, "%llu bytes", (unsigned long long) used_bytes());
	ask_plainly("in place", &a.graph, EMOGI_BFS, EMOGI_PLACEMENT_HOST);
	reopen(0);
	emogi_built_graph_free(&a);
	emogi_built_graph_free(&b);
}

/* Check that a run for which there is memory without copies of its own Graph is not refused because they are kept. */
static void
check_own_gives_way(void)
{
	EmogiBuiltGraph built = build_random(PLAIN_VERTICES, PLAIN_VERTICES, 8);

	reopen(40 * built.graph.nvertices + 65536);	/* PAGERANK takes 32 a vertex, and offsets 8 */
	ask_plainly("own", &built.graph, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE);
	ask_plainly("own", &built.graph, EMOGI_PAGERANK, EMOGI_PLACEMENT_HOST);
	ask_plainly("own", &built.graph, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE);
	CHECK(cuda->forget(cuda_state, built.graph.id) == 0, "still there");
	reopen(0);
	emogi_built_graph_free(&built);
}

/*
 * Check hybrid placement under caps from too little for a run to enough for all heads, and that these are kept, whichever
 * orientation they are of.
 */
static void
check_heads(void)
{
	EmogiBuiltGraph built = build_random(HEADS_VERTICES, 12 * HEADS_VERTICES, 11);
	uint64_t	placed[EMOGI_PLACEMENT_HYBRID + 1] = {0};

	for (uint64_t cap = 8 * HEADS_VERTICES; cap < 256 * HEADS_VERTICES; cap += cap / 4)
	{
		reopen(cap);
		for (int i = 0; i < 16; i++)
		{
			EmogiAlgorithm algorithm = (EmogiAlgorithm) (emogi_random(cap, i) % EMOGI_NALGORITHMS);
			EmogiPlacement placement = i % 4 == 0 ? EMOGI_PLACEMENT_AUTO : EMOGI_PLACEMENT_HYBRID;
			EmogiGraph	view = built.graph;
			EmogiStatus status;

			if (i % 3 == 0)
			{
				view.forward = built.graph.backward;
				view.backward = built.graph.forward;
			}
			status = ask("capped", &view, plain_query(&view, algorithm, placement), (EmogiControl) {0}, false, &placement);
			CHECK(status == EMOGI_OK || status == EMOGI_NO_MEMORY, "cap %llu algorithm %d: status %d",
				  (unsigned long long) cap, algorithm, status);
			CHECK(used_bytes() <= cap, "%llu bytes of %llu", (unsigned long long) used_bytes(), (unsigned long long) cap);
			if (status != EMOGI_OK)
				continue;
			placed[placement]++;
			if (placement == EMOGI_PLACEMENT_HYBRID)
				ask_hidden("capped", &view, algorithm, placement);
		}
	}
	CHECK(placed[EMOGI_PLACEMENT_HOST] > 0 && placed[EMOGI_PLACEMENT_HYBRID] > 0, "host %llu, hybrid %llu",
		  (unsigned long long) placed[EMOGI_PLACEMENT_HOST], (unsigned long long) placed[EMOGI_PLACEMENT_HYBRID]);
	CHECK(cuda->forget(cuda_state, built.graph.id) == 0, "something is left");
	reopen(0);
	emogi_built_graph_free(&built);
}

/* Let each allocation of device memory of a run fail in turn: nothing may be left but complete copies. */
static void
check_failing_memory(EmogiBuiltGraph *built, EmogiQuery query, bool kept)
{
	EmogiControl control = {0};
	EmogiStatus status = EMOGI_NO_MEMORY;

	while (status == EMOGI_NO_MEMORY && control.fail_device_allocation < MAX_TAKES)
	{
		control.fail_device_allocation++;
		built->graph.id = kept ? ++last_id : 0;
		status = ask("failing memory", &built->graph, query, control, false, NULL);
		CHECK(kept || used_bytes() == 0, "algorithm %d placement %d take %u: %llu bytes", query.algorithm,
			  query.placement, control.fail_device_allocation, (unsigned long long) used_bytes());
		if (kept && status == EMOGI_NO_MEMORY)
			ask_plainly("after failing memory", &built->graph, query.algorithm, query.placement);
		CHECK(cuda->forget(cuda_state, built->graph.id) == 0, "algorithm %d placement %d take %u", query.algorithm,
			  query.placement, control.fail_device_allocation);
	}
	CHECK(status == EMOGI_OK && control.fail_device_allocation > 2, "algorithm %d placement %d: %d at %u",
		  query.algorithm, query.placement, status, control.fail_device_allocation);
}

/* Let memory fail in all algorithms, with the edges in either place, of Graphs that are kept and others. */
static void
check_all_failing_memory(void)
{
	EmogiBuiltGraph built = build_random(300, 3000, 9);

	for (int a = EMOGI_BFS; a < EMOGI_NALGORITHMS; a++)
		for (int p = EMOGI_PLACEMENT_HOST; p <= EMOGI_PLACEMENT_HYBRID; p++)
			for (int kept = 0; kept < 2; kept++)
				check_failing_memory(&built, plain_query(&built.graph, (EmogiAlgorithm) a, (EmogiPlacement) p), kept);
	CHECK(ask("failing host memory", &built.graph, plain_query(&built.graph, EMOGI_SSNSP, EMOGI_PLACEMENT_HOST),
			  (EmogiControl) {.fail_allocation = 1}, false, NULL) == EMOGI_NO_MEMORY, "it did not fail");
	CHECK(cuda->forget(cuda_state, built.graph.id) == 0, "something is left");
	emogi_built_graph_free(&built);
}

/* Let calls of the driver fail, the first ones and then ever fewer, each in an engine of its own, which must close. */
static void
check_failing_driver(EmogiAlgorithm algorithm, EmogiPlacement placement)
{
	EmogiBuiltGraph built = build_random(300, 3000, 10);
	EmogiQuery	query = plain_query(&built.graph, algorithm, placement);
	EmogiControl control = {0};
	EmogiStatus status = EMOGI_DEVICE_ERROR;

	while (status == EMOGI_DEVICE_ERROR && control.fail_device_call < MAX_CALLS)
	{
		control.fail_device_call += 1 + control.fail_device_call / 12;
		status = ask("failing driver", &built.graph, query, control, false, NULL);
		if (status == EMOGI_DEVICE_ERROR)
			reopen(0);
		ask_plainly("after a failing driver", &built.graph, algorithm, placement);
	}
	CHECK(status == EMOGI_OK && control.fail_device_call > 12, "algorithm %d placement %d: %d at %u", algorithm,
		  placement, status, control.fail_device_call);
	CHECK(cuda->forget(cuda_state, built.graph.id) == 0, "still there");
	emogi_built_graph_free(&built);
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
	bool		large = number_from_environment("EMOGI_AGREE_LARGE", 1) != 0;

	if (why_not != NULL)
	{
		printf("skipped: %s\n", why_not);
		checks_passed = 0;
		return check_report("test_agree");
	}
	cpu = emogi_cpu_engine();
	if (cpu->open(&options, &cpu_state, &error) != EMOGI_OK)
		abort();
	for (int i = 0; large && i < emogi_shape_count(); i++)
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
	if (large)
	{
		check_large(EMOGI_KRON);
		check_large(EMOGI_URAND);
	}
	check_kept();
	check_evicted();
	check_own_gives_way();
	check_heads();
	check_all_failing_memory();
	if (large)
	{
		check_failing_driver(EMOGI_BFS, EMOGI_PLACEMENT_HOST);
		check_failing_driver(EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE);
		check_failing_driver(EMOGI_BFS, EMOGI_PLACEMENT_HYBRID);
	}
	cuda->close(cuda_state);
	cpu->close(cpu_state);
	return check_report("test_agree");
}
