/*
 * test_bfs.c: tests of the cpu engine's breadth-first search against sequential BFS (oracle.h) and
 * the verifier
 */
#include "check.h"
#include "cpu/cpu.h"
#include "oracle.h"
#include "shapes.h"
#include "verify/verify.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define NRANDOM 250
#define NENGINES 3
#define MAX_SOURCES 300
#define MAX_TARGETS 6
#define QUERIES 6

static const EmogiEngine *engine;
static EmogiEngineState *states[NENGINES];	/* of 1, 2 and 5 threads */
/* searches that ended at their targets with less work than a full one */
static uint64_t nshorter;

/* Return the number of levels, which equals nlevels if no level is empty. */
static uint32_t
count_levels(const int32_t *level, uint64_t nvertices)
{
	int32_t		highest = -1;

	for (uint64_t v = 0; v < nvertices; v++)
		highest = level[v] > highest ? level[v] : highest;
	return (uint32_t) (highest + 1);
}

/*
 * Check a query that stops at targets against expected[nvertices], the levels of all vertices. It
 * must traverse at most max_edges[] edges.
 */
static void
check_targets(const char *name, const EmogiGraph *graph, const EmogiQuery *query,
			  const int32_t *expected, const uint64_t *max_edges)
{
	uint32_t	targets[MAX_TARGETS];
	EmogiQuery	targeted = *query;
	int32_t    *level = malloc((graph->nvertices + 1) * sizeof(int32_t));

	targeted.targets = targets;
	targeted.ntargets = emogi_random(graph->nvertices, query->nsources) % 3 == 0 ? MAX_TARGETS : 1;
	for (uint64_t i = 0; i < targeted.ntargets; i++)
		targets[i] = (uint32_t) (emogi_random(graph->forward.nedges + query->nsources, i / 2) %
								 graph->nvertices);
	for (int e = 0; e < NENGINES; e++)
	{
		EmogiResult result = {.columns[0].int32 = level};
		EmogiControl control = {0};
		EmogiError	error;
		EmogiStatus status;
		uint64_t	ndifferent = 0,
					nunwritten = 0;

		memset(level, 0x55, graph->nvertices * sizeof(int32_t));
		status = engine->run(states[e], graph, &targeted, &result, &control, &error);
		for (uint64_t i = 0; i < targeted.ntargets; i++)
			ndifferent += level[targets[i]] != expected[targets[i]];
		for (uint64_t v = 0; v < graph->nvertices; v++)
			nunwritten += level[v] == 0x55555555;
		CHECK(status == EMOGI_OK && ndifferent == 0 && nunwritten == 0,
			  "%s: status %d, %llu targets differ, %llu unwritten", name, status,
			  (unsigned long long) ndifferent, (unsigned long long) nunwritten);
		CHECK(result.edges_traversed <= max_edges[e],
			  "%s: engine %d, %llu edges traversed, not %llu", name, e,
			  (unsigned long long) result.edges_traversed, (unsigned long long) max_edges[e]);
		nshorter += result.edges_traversed < max_edges[e];
	}
	free(level);
}

/* Run one query on all engines, and check the answers. */
static void
check_query(const char *name, const EmogiGraph *graph, const EmogiQuery *query)
{
	size_t		bytes = graph->nvertices * sizeof(int32_t);
	int32_t    *expected = malloc(bytes + 4);
	int32_t    *level = malloc(bytes + 4);
	uint64_t	nreached = oracle_bfs(graph, query, expected);
	uint64_t	nscanned[NENGINES];

	for (int e = 0; e < NENGINES; e++)
	{
		EmogiResult result = {.columns[0].int32 = level};
		EmogiControl control = {0};
		EmogiError	error;
		EmogiStatus status;

		memset(level, 0x55, bytes + 4);
		status = engine->run(states[e], graph, query, &result, &control, &error);
		CHECK(status == EMOGI_OK, "%s: status %d", name, status);
		CHECK(memcmp(level, expected, bytes) == 0, "%s: engine %d, %llu sources, max depth %lld",
			  name, e, (unsigned long long) query->nsources, (long long) query->max_depth);
		CHECK(level[graph->nvertices] == 0x55555555, "%s: wrote beyond the end", name);
		CHECK(result.nreached == nreached, "%s: reached %llu", name,
			  (unsigned long long) result.nreached);
		CHECK(result.nlevels == count_levels(expected, graph->nvertices), "%s: %u levels", name,
			  result.nlevels);
		CHECK(emogi_verify(graph, query, &result, &error), "%s: %s", name, error.message);
		nscanned[e] = result.edges_traversed;
	}
	if (graph->nvertices > 0)
		check_targets(name, graph, query, expected, nscanned);
	free(expected);
	free(level);
}

/* Build a shape in a direction, and check queries. */
static void
check_graph(const EmogiShape *shape, EmogiDirection direction, bool with_backward, uint64_t seed)
{
	uint32_t	sources[MAX_SOURCES];
	EmogiEdgeSet set;
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;

	if (!emogi_edge_set_fill(&set, shape->edges, shape->nedges, EMOGI_CHUNK_EDGES) ||
		emogi_build_graph(emogi_cpu_engine_pool(states[1]), &set.edges, direction, with_backward,
						  &built, &control, &error) != EMOGI_OK)
		abort();
	for (uint64_t i = 0; i < QUERIES; i++)
	{
		EmogiQuery	query = oracle_query(&built.graph, seed, i, sources, MAX_SOURCES);

		check_query(shape->name, &built.graph, &query);
	}
	emogi_built_graph_free(&built);
	emogi_edge_set_free(&set);
}

/* Check a shape in all directions, with and without the transpose. */
static void
check_shape(EmogiShape *shape, uint64_t seed)
{
	check_graph(shape, EMOGI_OUT, false, seed);
	check_graph(shape, EMOGI_OUT, true, seed);
	check_graph(shape, EMOGI_IN, true, seed);
	check_graph(shape, EMOGI_BOTH, false, seed);
	emogi_shape_free(shape);
}

/* Build a generated graph. */
static EmogiBuiltGraph
generate(EmogiGenerator generator, int scale, EmogiDirection direction, bool with_backward)
{
	EmogiPool  *pool = emogi_cpu_engine_pool(states[1]);
	EmogiEdgeSet set;
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;

	if (!emogi_generate_edges(pool, generator, scale, 16, 7, &set) ||
		emogi_build_graph(pool, &set.edges, direction, with_backward, &built, &control, &error) !=
		EMOGI_OK)
		abort();
	emogi_edge_set_free(&set);
	return built;
}

/* Check graphs that are large enough for all kinds of steps. */
static void
check_large(EmogiGenerator generator, EmogiDirection direction, bool with_backward)
{
	EmogiBuiltGraph built = generate(generator, 16, direction, with_backward);
	uint32_t	sources[MAX_SOURCES];

	for (uint64_t i = 0; i < QUERIES; i++)
	{
		EmogiQuery	query = oracle_query(&built.graph, 77, i, sources, MAX_SOURCES);

		check_query("large", &built.graph, &query);
	}
	emogi_built_graph_free(&built);
}

/*
 * Check a hub in a graph so large that the frontier stays a queue: all threads share its adjacency
 * list.
 */
static void
check_hub_in_queue(void)
{
	EmogiShape	shape = {.name = "hub in a queue"};
	uint64_t	npairs = 700000,
				degree = 17000;

	shape.edges = malloc((npairs + degree) * sizeof(EmogiEdge));
	for (uint64_t i = 0; i < npairs; i++)
		shape.edges[shape.nedges++] = (EmogiEdge) {(int64_t) (2 * i), (int64_t) (2 * i + 1)};
	for (uint64_t i = 0; i < degree; i++)
		shape.edges[shape.nedges++] = (EmogiEdge) {0, (int64_t) (i * 64)};
	check_graph(&shape, EMOGI_OUT, false, 1);
	emogi_shape_free(&shape);
}

/* Check searches from all vertices, some of them given twice. */
static void
check_all_sources(void)
{
	EmogiBuiltGraph built = generate(EMOGI_KRON, 14, EMOGI_BOTH, false);
	uint64_t	n = built.graph.nvertices;
	uint32_t   *sources = malloc((n + 5) * sizeof(uint32_t));
	EmogiQuery query = {.algorithm = EMOGI_BFS, .nsources = n + 5, .sources = sources,
		.max_depth = -1};

	for (uint64_t i = 0; i < n + 5; i++)
		sources[i] = (uint32_t) (i % n);
	check_query("all sources", &built.graph, &query);
	query.nsources = n / 2;
	check_query("half of all sources", &built.graph, &query);
	query.nsources = 0;
	check_query("no source", &built.graph, &query);
	free(sources);
	emogi_built_graph_free(&built);
}

/*
 * Check that on a chain, a search ends at its last target, or at the end if a target is not
 * reachable.
 */
static void
check_near_targets(void)
{
	static const struct
	{
		uint32_t	targets[3];
		uint64_t	nscanned;
	} cases[] = {{{10, 10, 10}, 10}, {{3, 1000, 5}, 1000}, {{5, 5, 5}, 0}, {{10, 4, 7}, 19995}};
	EmogiShape chain = {.name = "chain", .nedges = 20000,
		.edges = malloc(20000 * sizeof(EmogiEdge))};
	EmogiEdgeSet set;
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;
	EmogiResult result = {.columns[0].int32 = malloc(20001 * sizeof(int32_t))};

	for (uint64_t i = 0; i < chain.nedges; i++)
		chain.edges[i] = (EmogiEdge) {(int64_t) i, (int64_t) i + 1};
	if (!emogi_edge_set_fill(&set, chain.edges, chain.nedges, EMOGI_CHUNK_EDGES) ||
		emogi_build_graph(emogi_cpu_engine_pool(states[1]), &set.edges, EMOGI_OUT, false, &built,
						  &control, &error) != EMOGI_OK)
		abort();
	for (int i = 0; i < 4 * NENGINES; i++)
	{
		uint32_t	source = i / NENGINES < 2 ? 0 : 5;
		EmogiQuery query = {.algorithm = EMOGI_BFS, .nsources = 1, .sources = &source,
			.max_depth = -1, .ntargets = 3, .targets = cases[i / NENGINES].targets};

		CHECK(engine->run(states[i % NENGINES], &built.graph, &query, &result, &control, &error) ==
			  EMOGI_OK && result.edges_traversed == cases[i / NENGINES].nscanned,
			  "case %d: %llu edges traversed", i / NENGINES,
			  (unsigned long long) result.edges_traversed);
	}
	CHECK(nshorter > 1000, "%llu searches ended early", (unsigned long long) nshorter);
	free(result.columns[0].int32);
	emogi_built_graph_free(&built);
	emogi_edge_set_free(&set);
	emogi_shape_free(&chain);
}

/* Check that the verifier rejects changed answers. */
static void
check_verifier(void)
{
	EmogiBuiltGraph built = generate(EMOGI_URAND, 10, EMOGI_BOTH, false);
	int32_t    *level = malloc(built.graph.nvertices * sizeof(int32_t));
	uint32_t	source = 3;
	EmogiQuery query = {.algorithm = EMOGI_BFS, .nsources = 1, .sources = &source, .max_depth = -1};
	EmogiResult result = {.columns[0].int32 = level};
	EmogiControl control = {0};
	EmogiError	error;

	engine->run(states[0], &built.graph, &query, &result, &control, &error);
	CHECK(emogi_verify(&built.graph, &query, &result, &error), "%s", error.message);
	for (int delta = -2; delta <= 2; delta++)
	{
		uint32_t v = (uint32_t) (emogi_random(1, (uint64_t) (delta + 2)) % built.graph.nvertices);

		if (delta == 0)
			continue;
		level[v] += delta;
		CHECK(!emogi_verify(&built.graph, &query, &result, &error), "level %d + %d",
			  level[v] - delta, delta);
		level[v] -= delta;
	}
	result.nreached++;
	CHECK(!emogi_verify(&built.graph, &query, &result, &error), "nreached");
	result.nreached--;
	query.max_depth = 1;
	CHECK(!emogi_verify(&built.graph, &query, &result, &error), "levels beyond the bound");
	free(level);
	emogi_built_graph_free(&built);
}

/* Set cancel shortly after the start. */
static void *
cancel_soon(void *arg)
{
	EmogiControl *control = arg;

	usleep(2000);
	__atomic_store_n(&control->cancel, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Check cancellation before a run and during a long one. */
static void
check_cancel(void)
{
	EmogiShape	chain = {.name = "chain", .nedges = 1000000};
	EmogiEdgeSet set;
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;
	uint32_t	source = 0;
	EmogiQuery query = {.algorithm = EMOGI_BFS, .nsources = 1, .sources = &source, .max_depth = -1};
	EmogiResult result = {0};
	pthread_t	thread;
	EmogiStatus status;

	chain.edges = malloc(chain.nedges * sizeof(EmogiEdge));
	for (uint64_t i = 0; i < chain.nedges; i++)
		chain.edges[i] = (EmogiEdge) {(int64_t) i, (int64_t) i + 1};
	if (!emogi_edge_set_fill(&set, chain.edges, chain.nedges, EMOGI_CHUNK_EDGES) ||
		emogi_build_graph(emogi_cpu_engine_pool(states[1]), &set.edges, EMOGI_OUT, true, &built,
						  &control, &error) != EMOGI_OK)
		abort();
	result.columns[0].int32 = malloc(built.graph.nvertices * sizeof(int32_t));
	control.cancel = 1;
	status = engine->run(states[1], &built.graph, &query, &result, &control, &error);
	CHECK(status == EMOGI_CANCELED, "status %d", status);
	/* on a busy machine, cancel may come too late */
	for (int tries = 0; tries < 20 && (tries == 0 || status == EMOGI_OK); tries++)
	{
		control.cancel = 0;
		pthread_create(&thread, NULL, cancel_soon, &control);
		status = engine->run(states[1], &built.graph, &query, &result, &control, &error);
		pthread_join(thread, NULL);
	}
	CHECK(status == EMOGI_CANCELED, "status %d after level %u", status, control.level);
	control.cancel = 0;
	status = engine->run(states[1], &built.graph, &query, &result, &control, &error);
	CHECK(status == EMOGI_OK && result.nlevels == 1000001, "status %d, %u levels", status,
		  result.nlevels);
	free(result.columns[0].int32);
	emogi_built_graph_free(&built);
	emogi_edge_set_free(&set);
	emogi_shape_free(&chain);
}

/* Check that invalid input is refused with a message. */
static void
check_bad_input(void)
{
	EmogiBuiltGraph built = generate(EMOGI_URAND, 4, EMOGI_BOTH, false);
	uint32_t	source = (uint32_t) built.graph.nvertices;
	EmogiQuery query = {.algorithm = EMOGI_BFS, .nsources = 1, .sources = &source, .max_depth = -1};
	EmogiResult result = {0};
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	EmogiDevice device;
	EmogiEngineOptions none = {0};
	EmogiEngineState *state;

	CHECK(engine->run(states[0], &built.graph, &query, &result, &control, &error) ==
		  EMOGI_BAD_INPUT && error.message[0] != '\0', "a source beyond the graph");
	query.nsources = 0;
	query.targets = &source;
	query.ntargets = 1;
	CHECK(engine->run(states[0], &built.graph, &query, &result, &control, &error) ==
		  EMOGI_BAD_INPUT && error.message[0] != '\0', "a target beyond the graph");
	CHECK(engine->open(&none, &state, &error) == EMOGI_BAD_INPUT && state == NULL, "zero threads");
	CHECK(engine->ndevices() == 1, "devices");
	CHECK(engine->describe(states[1], &device, &error) == EMOGI_OK && device.number == -1 &&
		  device.units == 2 && device.name[0] != '\0', "the processor");
	emogi_built_graph_free(&built);
}

int
main(void)
{
	static const int32_t threads[NENGINES] = {1, 2, 5};
	EmogiShape	shape;
	EmogiError	error;

	emogi_build_fill = 0xA5;	/* no code may rely on zeroed memory */
	engine = emogi_cpu_engine();
	for (int e = 0; e < NENGINES; e++)
	{
		EmogiEngineOptions options = {.cpu_threads = threads[e]};

		if (engine->open(&options, &states[e], &error) != EMOGI_OK)
			abort();
	}
	for (int i = 0; i < emogi_shape_count(); i++)
	{
		if (!emogi_shape_make(i, &shape))
			abort();
		check_shape(&shape, (uint64_t) i);
	}
	for (uint64_t seed = 1; seed <= NRANDOM; seed++)
	{
		if (!emogi_shape_random(seed, &shape))
			abort();
		check_shape(&shape, seed);
	}
	check_large(EMOGI_KRON, EMOGI_OUT, false);
	check_large(EMOGI_KRON, EMOGI_OUT, true);
	check_large(EMOGI_KRON, EMOGI_BOTH, false);
	check_large(EMOGI_URAND, EMOGI_IN, true);
	check_hub_in_queue();
	check_all_sources();
	check_near_targets();
	check_verifier();
	check_cancel();
	check_bad_input();
	for (int e = 0; e < NENGINES; e++)
		engine->close(states[e]);
	return check_report("test_bfs");
}
