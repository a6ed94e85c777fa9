/*
 * test_path.c: tests of the cpu engine's best paths against a queue-based search for the fixpoint,
 * bit for bit, for all applications of the path semiring
 */
#include "contract/semirings.h"
#include "engines.h"
#include "verify/verify.h"

#define NRANDOM 220
#define MAX_SOURCES 40
#define MAX_TARGETS 6
#define QUERIES 3
#define GRID_SIDE 200

/*
 * Fill value[nvertices] by the definition, with a queue of improved vertices; returns the number of
 * reached vertices.
 */
static uint64_t
oracle_path(const EmogiGraph *graph, const EmogiQuery *query, double *value)
{
	const EmogiAlgorithm algorithm = query->algorithm;
	const double none = emogi_path_none(algorithm);
	const double source = emogi_path_source(algorithm);
	const double bound = emogi_path_is_additive(algorithm) ? query->max_distance
		: (double) INFINITY;
	uint64_t	n = graph->nvertices;
	uint32_t   *queue = malloc((n + 1) * sizeof(uint32_t));
	bool	   *queued = calloc(n + 1, sizeof(bool));
	uint64_t	head = 0,
				count = 0,
				nreached = 0;

	for (uint64_t v = 0; v < n; v++)
		value[v] = none;
	for (uint64_t i = 0; i < query->nsources; i++)
	{
		uint32_t	s = query->sources[i];

		if (!(source <= bound))
			break;
		value[s] = source;
		if (!queued[s])
			queue[count++] = s;
		queued[s] = true;
	}
	while (count > 0)
	{
		uint32_t	u = queue[head];

		head = (head + 1) % (n + 1);
		count--;
		queued[u] = false;
		for (uint64_t i = graph->forward.offsets[u]; i < graph->forward.offsets[u + 1]; i++)
		{
			double		weight = emogi_weight(graph->forward.weights, graph->weight_type, i);
			uint32_t	v = graph->forward.targets[i];
			double		candidate = emogi_path_candidate(algorithm, value[u], weight);

			if (isinf(weight) || !emogi_path_better(algorithm, candidate, value[v]) ||
				!(candidate <= bound))
				continue;
			value[v] = candidate;
			if (!queued[v])
				queue[(head + count++) % (n + 1)] = v;
			queued[v] = true;
		}
	}
	for (uint64_t v = 0; v < n; v++)
		nreached += value[v] != none;
	free(queue);
	free(queued);
	return nreached;
}

/*
 * Check a query with targets against expected[nvertices], the values of all vertices. Algorithms
 * that are not additive ignore the targets.
 */
static void
check_targets(const char *name, const EmogiGraph *graph, const EmogiQuery *query,
			  const double *expected)
{
	uint64_t	unwritten = UINT64_C(0x5555555555555555);
	uint32_t	targets[MAX_TARGETS];
	EmogiQuery	targeted = *query;
	double	   *value = malloc((graph->nvertices + 1) * sizeof(double));

	targeted.targets = targets;
	targeted.ntargets = emogi_random(graph->nvertices, query->nsources) % 3 == 0 ? MAX_TARGETS : 1;
	for (uint64_t i = 0; i < targeted.ntargets; i++)
		targets[i] = (uint32_t) (emogi_random(graph->forward.nedges + query->nsources, i / 2) %
								 graph->nvertices);
	for (int e = 0; e < NENGINES; e++)
	{
		EmogiResult result = {.columns[0].float64 = value};
		EmogiControl control = {0};
		EmogiError	error;
		EmogiStatus status;
		uint64_t	ndifferent = 0,
					nunwritten = 0;

		memset(value, 0x55, graph->nvertices * sizeof(double));
		status = engine->run(states[e], graph, &targeted, &result, &control, &error);
		for (uint64_t v = 0; v < graph->nvertices; v++)
			nunwritten += memcmp(&value[v], &unwritten, sizeof(double)) == 0;
		for (uint64_t i = 0; i < targeted.ntargets; i++)
			ndifferent += memcmp(&value[targets[i]], &expected[targets[i]], sizeof(double)) != 0;
		CHECK(status == EMOGI_OK && ndifferent == 0 && nunwritten == 0,
			  "%s: algorithm %d, status %d, %llu targets differ, %llu unwritten", name,
			  query->algorithm, status, (unsigned long long) ndifferent,
			  (unsigned long long) nunwritten);
		CHECK(emogi_path_is_additive(query->algorithm) ||
			  memcmp(value, expected, graph->nvertices * sizeof(double)) == 0,
			  "%s: algorithm %d and targets", name, query->algorithm);
	}
	free(value);
}

/* Run one query on all engines, and check the answers. */
static void
check_query(const char *name, const EmogiGraph *graph, const EmogiQuery *query)
{
	size_t		bytes = graph->nvertices * sizeof(double);
	double	   *expected = malloc(bytes + 8);
	double	   *value = malloc(bytes + 8);
	uint64_t	nreached = oracle_path(graph, query, expected);

	for (int e = 0; e < NENGINES; e++)
	{
		EmogiResult result = {.columns[0].float64 = value};
		EmogiControl control = {0};
		EmogiError	error = {{0}, {0}};
		EmogiStatus status;

		memset(value, 0x55, bytes + 8);
		status = engine->run(states[e], graph, query, &result, &control, &error);
		CHECK(status == EMOGI_OK, "%s: status %d", name, status);
		CHECK(memcmp(value, expected, bytes) == 0,
			  "%s: algorithm %d, engine %d, %llu sources, bound %g", name, query->algorithm, e,
			  (unsigned long long) query->nsources, query->max_distance);
		CHECK(((unsigned char *) value)[bytes] == 0x55, "%s: wrote beyond the end", name);
		CHECK(result.columns[0].float64 == value && result.nreached == nreached,
			  "%s: algorithm %d reached %llu, not %llu", name, query->algorithm,
			  (unsigned long long) result.nreached, (unsigned long long) nreached);
		CHECK(emogi_verify(graph, query, &result, &error), "%s: %s", name, error.message);
	}
	if (graph->nvertices > 0)
		check_targets(name, graph, query, expected);
	free(expected);
	free(value);
}

/* Check queries on a graph. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	static const double bounds[] = {INFINITY, INFINITY, 0.0, 3.0, 100.5, 1e5, 1e300, 0.5};
	uint32_t	sources[MAX_SOURCES] = {0};

	for (uint64_t i = 0; i < QUERIES; i++)
	{
		EmogiQuery query = {.algorithm = EMOGI_SSSP, .sources = sources, .nsources = 1,
			.max_distance = INFINITY};

		if (i == 2)
			query.nsources = emogi_random(seed, i) % MAX_SOURCES;
		if (graph->nvertices == 0)
			query.nsources = 0;
		for (uint64_t s = 0; s < query.nsources && i > 0; s++)
			sources[s] = (uint32_t) (emogi_random(seed, 100 * i + s) % graph->nvertices);
		if (i > 0)
			query.max_distance = bounds[emogi_random(seed, 50 + i) %
										(sizeof(bounds) / sizeof(bounds[0]))];
		for (int a = 0; a < EMOGI_NALGORITHMS; a++)
		{
			query.algorithm = (EmogiAlgorithm) a;
			if (emogi_is_path(query.algorithm))
				check_query(name, graph, &query);
		}
	}
}

/* Check graphs that are large enough for all threads, with few bins and with many. */
static void
check_large(int kind)
{
	EmogiShape shape = {.name = "large", .nedges = 300000,
		.edges = malloc(300000 * sizeof(EmogiEdge))};

	for (uint64_t i = 0; i < shape.nedges; i++)
	{
		uint64_t	a = emogi_random(5, 2 * i) % 30000;

		shape.edges[i] = (EmogiEdge) {(int64_t) (a * a / 30000),
			(int64_t) (emogi_random(5, 2 * i + 1) % 30000)};
	}
	engines_check_graph(&shape, kind, EMOGI_OUT, false, (uint64_t) kind, check_graph);
	engines_check_graph(&shape, kind, EMOGI_BOTH, false, (uint64_t) kind, check_graph);
	emogi_shape_free(&shape);
}

/*
 * Check that on a grid, a search for near targets traverses a small part, and for an unreachable
 * target everything.
 */
static void
check_near_targets(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	static const uint32_t near_targets[] = {GRID_SIDE + 1, 3, 3};
	static const uint32_t unreachable[] = {3, GRID_SIDE * GRID_SIDE};
	uint32_t	source = 0;
	double	   *value = malloc(graph->nvertices * sizeof(double));
	EmogiQuery query = {.algorithm = EMOGI_SSSP, .nsources = 1, .sources = &source,
		.max_distance = INFINITY};

	for (int e = 0; e < NENGINES; e++)
	{
		EmogiResult result = {.columns[0].float64 = value};
		EmogiControl control = {0};
		EmogiError	error;

		query.targets = near_targets;
		query.ntargets = 3;
		engine->run(states[e], graph, &query, &result, &control, &error);
		CHECK(result.edges_traversed > 0 && result.edges_traversed < graph->forward.nedges / 20,
			  "%s: %llu edges traversed", name, (unsigned long long) result.edges_traversed);
		query.targets = unreachable;
		query.ntargets = 2;
		engine->run(states[e], graph, &query, &result, &control, &error);
		CHECK(result.nreached == GRID_SIDE * GRID_SIDE, "%s: %llu reached", name,
			  (unsigned long long) result.nreached);
		query.targets = &source;
		query.ntargets = 1;
		engine->run(states[e], graph, &query, &result, &control, &error);
		/* edges of the source, and of vertices at distance zero, which must be settled as well */
		CHECK(result.edges_traversed < graph->forward.nedges / 20, "%s: %llu edges traversed", name,
			  (unsigned long long) result.edges_traversed);
	}
	free(value);
}

/* Check single targets on a grid, where the first path found is rarely the best. */
static void
check_single_targets(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	uint32_t	source = (uint32_t) (emogi_random(seed, 0) % graph->nvertices);
	double	   *expected = malloc(graph->nvertices * sizeof(double));
	EmogiResult result = {.columns[0].float64 = malloc(graph->nvertices * sizeof(double))};
	EmogiQuery query = {.algorithm = EMOGI_SSSP, .nsources = 1, .sources = &source,
		.max_distance = INFINITY};

	oracle_path(graph, &query, expected);
	for (uint64_t i = 0; i < 100; i++)
	{
		uint32_t	target = (uint32_t) (emogi_random(seed, i + 1) % graph->nvertices);
		EmogiControl control = {0};
		EmogiError	error;

		query.targets = &target;
		query.ntargets = 1;
		CHECK(engine->run(states[i % NENGINES], graph, &query, &result, &control, &error) ==
			  EMOGI_OK &&
			  memcmp(&result.columns[0].float64[target], &expected[target], sizeof(double)) == 0,
			  "%s: %u to %u: %g, not %g", name, source, target, result.columns[0].float64[target],
			  expected[target]);
	}
	free(expected);
	free(result.columns[0].float64);
}

/*
 * Check that a target at the end of a heavy edge is not settled before paths of light edges, many
 * bins later.
 */
static void
check_detour(uint64_t nedges)
{
	EmogiShape	chain = engines_chain(nedges);
	double	   *weights = malloc((nedges + 1) * sizeof(double));
	uint32_t	source = 0,
				target = (uint32_t) nedges;
	EmogiQuery query = {.algorithm = EMOGI_SSSP, .nsources = 1, .sources = &source, .ntargets = 1,
		.targets = &target, .max_distance = INFINITY};
	EmogiResult result = {.columns[0].float64 = malloc((nedges + 1) * sizeof(double))};
	EmogiGraph	graph;

	chain.edges = realloc(chain.edges, (nedges + 1) * sizeof(EmogiEdge));
	chain.edges[chain.nedges++] = (EmogiEdge) {0, (int64_t) nedges};
	for (uint64_t i = 0; i <= nedges; i++)
		weights[i] = i < nedges ? 1.0 : 1.25 * (double) nedges;
	graph = naive_build(&chain, weights, EMOGI_OUT, false);
	for (int e = 0; e < NENGINES; e++)
	{
		EmogiControl control = {0};
		EmogiError	error;

		CHECK(engine->run(states[e], &graph, &query, &result, &control, &error) == EMOGI_OK &&
			  result.columns[0].float64[target] == (double) nedges,
			  "engine %d: %g instead of a path of %llu edges", e, result.columns[0].float64[target],
			  (unsigned long long) nedges);
	}
	free(result.columns[0].float64);
	free(weights);
	naive_free(&graph);
	emogi_shape_free(&chain);
}

/* Make a grid, and an edge that is not reachable from it. */
static EmogiShape
make_grid(void)
{
	EmogiShape grid = {.name = "grid",
		.edges = malloc((2 * GRID_SIDE * GRID_SIDE + 1) * sizeof(EmogiEdge))};

	for (int64_t v = 0; v < GRID_SIDE * GRID_SIDE; v++)
	{
		if (v % GRID_SIDE + 1 < GRID_SIDE)
			grid.edges[grid.nedges++] = (EmogiEdge) {v, v + 1};
		if (v + GRID_SIDE < GRID_SIDE * GRID_SIDE)
			grid.edges[grid.nedges++] = (EmogiEdge) {v, v + GRID_SIDE};
	}
	grid.edges[grid.nedges++] = (EmogiEdge) {GRID_SIDE * GRID_SIDE, GRID_SIDE * GRID_SIDE + 1};
	return grid;
}

/* Check that the verifier rejects changed answers. */
static void
check_verifier(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	double	   *value = malloc((graph->nvertices + 1) * sizeof(double));
	uint32_t	source = 0;
	EmogiQuery query = {.algorithm = EMOGI_SSSP, .nsources = 1, .sources = &source,
		.max_distance = INFINITY};
	EmogiResult result = {.columns[0].float64 = value};
	EmogiControl control = {0};
	EmogiError	error;

	for (int widest = 0; widest < 2; widest++)
	{
		query.algorithm = widest ? EMOGI_SSWP : EMOGI_SSSP;
		engine->run(states[0], graph, &query, &result, &control, &error);
		CHECK(emogi_verify(graph, &query, &result, &error), "%s: %s", name, error.message);
		for (uint64_t v = 0; v < graph->nvertices; v += graph->nvertices / 5 + 1)
		{
			double		before = value[v];

			value[v] = before == 0.5 ? 0.25 : 0.5;
			CHECK(!emogi_verify(graph, &query, &result, &error), "%s: accepts %g of %g", name,
				  value[v], before);
			value[v] = before;
		}
		result.nreached++;
		CHECK(!emogi_verify(graph, &query, &result, &error), "%s: accepts nreached", name);
	}
	free(value);
}

/* Check a long chain, which needs one level per edge, and cancel. */
static void
check_chain(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	uint32_t	source = 0;
	EmogiQuery query = {.algorithm = EMOGI_SSSP, .nsources = 1, .sources = &source,
		.max_distance = INFINITY};
	EmogiResult result = {.columns[0].float64 = malloc(graph->nvertices * sizeof(double))};

	engines_check_cancel(name, graph, &query, result);
	query.algorithm = EMOGI_SSWP;
	engines_check_cancel(name, graph, &query, result);
	free(result.columns[0].float64);
}

int
main(void)
{
	EmogiShape	shape = naive_random_shape();
	EmogiShape	chain = engines_chain(4000000);
	EmogiShape	grid = make_grid();

	engines_open();
	engines_check_shapes(NRANDOM, NAIVE_KINDS, check_graph);
	for (int kind = 1; kind < NAIVE_KINDS; kind++)
		check_large(kind);
	for (int kind = 0; kind < 7; kind++)
	{
		engines_check_graph(&grid, kind, EMOGI_BOTH, false, 1, check_near_targets);
		engines_check_graph(&grid, kind, EMOGI_BOTH, false, 1, check_single_targets);
	}
	emogi_shape_free(&grid);
	check_detour(1000);
	check_detour(20000);
	engines_check_graph(&shape, 1, EMOGI_BOTH, false, 1, check_verifier);
	emogi_shape_free(&shape);
	engines_check_graph(&chain, 1, EMOGI_OUT, false, 1, check_chain);
	emogi_shape_free(&chain);
	engines_close();
	return check_report("test_path");
}
