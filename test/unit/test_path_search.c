/*
 * test_path_search.c: the search between two vertices finds the path that emogi_trace_path finds among all distances.
 */
#include "build.h"
#include "engines.h"
#include "cpu/cpu.h"
#include "contract/path_search.h"
#include "contract/trace_path.h"

#include <float.h>
#include <limits.h>

#define NRANDOM 200
#define NTINY 3000
#define SOURCES 3
#define TARGETS 12
#define MAX_FAILURES 200

/* What the full way gives from one source. */
typedef struct Full
{
	double	   *distance;
	uint32_t   *path;
	uint32_t   *next;
} Full;

static uint64_t noutcomes[3];

/* Run SSSP from a source. */
static Full
run_full(const EmogiGraph *graph, uint32_t source)
{
	uint64_t	n = graph->nvertices;
	Full		full = {.distance = malloc(n * sizeof(double)), .path = malloc(n * sizeof(uint32_t)),
		.next = malloc(n * sizeof(uint32_t))};
	EmogiQuery	query = {.algorithm = EMOGI_SSSP, .nsources = 1, .sources = &source, .max_distance = INFINITY};
	EmogiResult result = {.columns[0].float64 = full.distance};
	EmogiControl control = {0};
	EmogiError	error;

	if (engine->run(states[1], graph, &query, &result, &control, &error) != EMOGI_OK)
		abort();
	return full;
}

/* Free what run_full took. */
static void
free_full(Full *full)
{
	free(full->distance);
	free(full->path);
	free(full->next);
}

/* Search a path and compare it with the one in all distances; gets the list entries looked at. */
static uint64_t
check_pair(const char *name, const EmogiGraph *graph, Full *full, uint32_t source, uint32_t target)
{
	EmogiControl control = {0};
	EmogiError	error;
	EmogiPathAnswer answer;
	EmogiStatus status = emogi_path_search(graph, NULL, source, target, UINT64_MAX, &answer, &control, &error);
	uint64_t	length = 0,
				ndifferent = 0;

	if (full->distance[target] < (double) INFINITY)
		length = emogi_trace_path(graph, full->distance, source, target, full->path, full->next, NULL);
	CHECK(status == EMOGI_OK && answer.outcome == (length > 0 ? EMOGI_PATH_FOUND : EMOGI_PATH_NONE),
		  "%s: %u to %u: status %d, outcome %d", name, source, target, status, answer.outcome);
	CHECK(answer.length == length, "%s: %u to %u: %llu vertices, not %llu", name, source, target,
		  (unsigned long long) answer.length, (unsigned long long) length);
	for (uint64_t i = 0; i < length && answer.length == length; i++)
		ndifferent += answer.vertices[i] != full->path[i] ||
			memcmp(&answer.distance[i], &full->distance[full->path[i]], sizeof(double)) != 0;
	CHECK(ndifferent == 0, "%s: %u to %u: %llu of %llu vertices differ", name, source, target,
		  (unsigned long long) ndifferent, (unsigned long long) length);
	noutcomes[answer.outcome]++;
	emogi_path_search_free(&answer);
	return answer.edges_traversed;
}

/* Search from some vertices to others. */
static void
check_pairs(const char *name, const EmogiGraph *graph, uint64_t seed, uint64_t nsources, uint64_t ntargets)
{
	for (uint64_t i = 0; i < nsources; i++)
	{
		uint32_t	source = (uint32_t) (emogi_random(seed + 13, i) % graph->nvertices);
		Full		full = run_full(graph, source);

		check_pair(name, graph, &full, source, source);
		for (uint64_t t = 0; t < ntargets; t++)
			check_pair(name, graph, &full, source, (uint32_t) (emogi_random(seed + 14 + i, t) % graph->nvertices));
		free_full(&full);
	}
}

/* Search in a Graph that has both directions. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	if (graph->backward.offsets != NULL && graph->nvertices > 0)
		check_pairs(name, graph, seed, SOURCES, TARGETS);
}

/* A few vertices with many edges: ties, repeated edges, self-loops. */
static void
check_tiny(void)
{
	static const EmogiDirection directions[] = {EMOGI_OUT, EMOGI_IN, EMOGI_BOTH};

	for (uint64_t seed = 0; seed < NTINY; seed++)
	{
		uint64_t	nvertices = 2 + emogi_random(seed, 0) % 30;
		EmogiEdge	edges[120];
		EmogiShape	shape = {.name = "tiny", .edges = edges, .nedges = 1 + emogi_random(seed, 1) % 120};

		for (uint64_t i = 0; i < shape.nedges; i++)
			edges[i] = (EmogiEdge) {(int64_t) (emogi_random(seed, 2 * i + 2) % nvertices),
			(int64_t) (emogi_random(seed, 2 * i + 3) % nvertices)};
		engines_check_graph(&shape, (int) (seed % NAIVE_KINDS), directions[seed / NAIVE_KINDS % 3], true, seed, check_graph);
	}
}

/* Get a weight of which sums in another order differ by rounding: nearly ties, or very small, or very large. */
static double
rough_weight(int kind, uint64_t bits)
{
	if (kind == 0)
		return (double) (1 + bits % 3) * 0.1;
	if (kind == 1)
		return (double) (bits % 4) * 5e-324;
	if (kind == 2)
		return (double) (1 + bits % 3) * 0.1 * 1.4e306;
	return bits % 4 == 0 ? 1e16 : (double) (bits % 3) * 0.7;
}

/* Grids on which very many paths are equal but for rounding, or overflow. */
static void
check_grids(void)
{
	EmogiShape	grid = {.name = "grid", .edges = malloc(2 * 50 * 50 * sizeof(EmogiEdge))};

	for (int64_t v = 0; v < 50 * 50; v++)
	{
		if (v % 50 < 49)
			grid.edges[grid.nedges++] = (EmogiEdge) {v, v + 1};
		if (v < 49 * 50)
			grid.edges[grid.nedges++] = (EmogiEdge) {v, v + 50};
	}
	for (int kind = 0; kind < 8; kind++)
	{
		double	   *weights = malloc(grid.nedges * sizeof(double));
		EmogiGraph	graph;

		for (uint64_t i = 0; i < grid.nedges; i++)
			weights[i] = rough_weight(kind / 2, emogi_random(3, i));
		graph = naive_build(&grid, weights, kind % 2 == 0 ? EMOGI_BOTH : EMOGI_OUT, true);
		check_pairs("grid", &graph, (uint64_t) kind, 6, 100);
		naive_free(&graph);
		free(weights);
	}
	for (int kind = 0; kind < NAIVE_KINDS; kind++)
		engines_check_graph(&grid, kind, EMOGI_BOTH, true, 1, check_graph);
	emogi_shape_free(&grid);
}

/* A path whose sum is finite from the source on but overflows from the target on, from where nearly all of it is found. */
static void
check_overflow(void)
{
	/* Less than 2^970 is lost when added to the largest double; the last three weights are that together. */
	static const double weights[] = {DBL_MAX, 0x1p968, 0x1p968, 0x1p969};
	EmogiEdge	edges[50];
	double		all_weights[50];
	EmogiShape	shape = {.name = "overflow", .edges = edges, .nedges = 50};
	EmogiGraph	graph;
	Full		full;

	for (int i = 0; i < 50; i++)
	{
		edges[i] = i < 4 ? (EmogiEdge) {i, i + 1} : (EmogiEdge) {0, i + 1};
		all_weights[i] = i < 4 ? weights[i] : 1.0;
	}
	graph = naive_build(&shape, all_weights, EMOGI_OUT, true);
	full = run_full(&graph, 0);
	CHECK(full.distance[4] == DBL_MAX, "%g", full.distance[4]);
	check_pair("overflow", &graph, &full, 0, 4);
	check_pair("overflow", &graph, &full, 0, 30);
	free_full(&full);
	naive_free(&graph);
}

/* Give the edges of a set weights of a kind; gets the set of weighted edges in its place. */
static EmogiEdgeSet
add_weights(EmogiEdgeSet *set, int kind)
{
	uint64_t	nedges = 0;
	EmogiEdge  *edges = malloc(set->edges.nedges * sizeof(EmogiEdge));
	double	   *weights = naive_weights(kind, 5, set->edges.nedges);
	EmogiEdgeSet weighted;

	for (uint64_t c = 0; c < set->edges.nchunks; c++)
	{
		memcpy(edges + nedges, set->chunks[c]->edges, set->chunks[c]->nedges * sizeof(EmogiEdge));
		nedges += set->chunks[c]->nedges;
	}
	if (!emogi_edge_set_fill_weighted(&weighted, edges, weights, nedges, EMOGI_CHUNK_WEIGHTED_EDGES))
		abort();
	emogi_edge_set_free(set);
	free(edges);
	free(weights);
	return weighted;
}

/* Build a generated graph with weights of a kind. */
static EmogiBuiltGraph
generate(EmogiGenerator generator, int kind, EmogiDirection direction)
{
	EmogiPool  *pool = emogi_cpu_engine_pool(states[1]);
	EmogiEdgeSet set;
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;

	if (!emogi_generate_edges(pool, generator, 16, 16, 7, &set))
		abort();
	if (kind > 0)
		set = add_weights(&set, kind);
	if (emogi_build_graph(pool, &set.edges, direction, true, &built, &control, &error) != EMOGI_OK)
		abort();
	emogi_edge_set_free(&set);
	return built;
}

/* A small budget is kept, and one that suffices is enough. */
static void
check_budget(const char *name, const EmogiGraph *graph)
{
	EmogiControl control = {0};
	EmogiError	error;
	EmogiPathAnswer answer = {0};
	uint32_t	source = 0,
				target = 0;
	uint64_t	needed,
				enough = UINT64_MAX;

	for (uint64_t i = 0; answer.outcome != EMOGI_PATH_FOUND || answer.edges_traversed < 100; i++)
	{
		emogi_path_search_free(&answer);
		source = (uint32_t) (emogi_random(21, i) % graph->nvertices);
		target = (uint32_t) (emogi_random(22, i) % graph->nvertices);
		emogi_path_search(graph, NULL, source, target, UINT64_MAX, &answer, &control, &error);
	}
	needed = answer.edges_traversed;
	emogi_path_search_free(&answer);
	for (uint64_t budget = 0; budget < enough; budget = budget * 3 / 2 + 1)
	{
		CHECK(emogi_path_search(graph, NULL, source, target, budget, &answer, &control, &error) == EMOGI_OK, "%s: budget", name);
		CHECK(answer.edges_traversed <= budget, "%s: %llu entries of %llu", name,
			  (unsigned long long) answer.edges_traversed, (unsigned long long) budget);
		CHECK(answer.outcome == EMOGI_PATH_FOUND || (budget < 2 * needed && answer.outcome == EMOGI_PATH_GAVE_UP &&
													 answer.length == 0 && answer.vertices == NULL &&
													 answer.distance == NULL), "%s: outcome %d with %llu of %llu", name,
			  answer.outcome, (unsigned long long) budget, (unsigned long long) needed);
		noutcomes[answer.outcome]++;
		if (answer.outcome == EMOGI_PATH_FOUND)
			enough = budget;
		emogi_path_search_free(&answer);
	}
	CHECK(enough >= needed, "%s: %llu were enough, not %llu", name, (unsigned long long) enough, (unsigned long long) needed);
}

static int	npolls;
static int	most_polls;

/* Stop after so many looks. */
static bool
poll_so_often(void)
{
	return ++npolls > most_polls;
}

/* The way through all distances looks up often enough to be stopped in the middle of one long list. */
static void
check_stopped(const EmogiGraph *graph, Full *full, uint32_t source, uint32_t target)
{
	npolls = 0;
	most_polls = INT_MAX;
	CHECK(emogi_trace_path(graph, full->distance, source, target, full->path, full->next, poll_so_often) == 2 && npolls > 0,
		  "%d looks", npolls);
	npolls = most_polls = 0;
	CHECK(emogi_trace_path(graph, full->distance, source, target, full->path, full->next, poll_so_often) == 0 && npolls == 1,
		  "not stopped: %d looks", npolls);
}

/* Large graphs: the same path, and far less to look at than all there is. */
static void
check_large(EmogiGenerator generator, int kind, EmogiDirection direction)
{
	EmogiBuiltGraph built = generate(generator, kind, direction);
	uint64_t	looked = 0;

	for (uint64_t i = 0; i < 4; i++)
	{
		uint32_t	source = (uint32_t) (emogi_random(11, i) % built.graph.nvertices);
		Full		full = run_full(&built.graph, source);

		for (uint64_t t = 0; t < 10; t++)
			looked += check_pair("large", &built.graph, &full, source,
								 (uint32_t) (emogi_random(12 + i, t) % built.graph.nvertices));
		free_full(&full);
	}
	CHECK(looked / 40 < built.graph.forward.nedges / 12, "generator %d, weights %d, direction %d: %llu of %llu entries",
		  generator, kind, direction, (unsigned long long) looked / 40, (unsigned long long) built.graph.forward.nedges);
	check_budget("large", &built.graph);
	emogi_built_graph_free(&built);
}

/* One list too long for the budget is not begun. */
static void
check_hub(void)
{
	EmogiShape	shape = {.name = "hubs", .edges = malloc(200001 * sizeof(EmogiEdge)), .nedges = 200001};
	EmogiGraph	graph;
	EmogiControl control = {0};
	EmogiError	error;
	EmogiPathAnswer answer;
	Full		full;

	for (int64_t i = 0; i < 100000; i++)
	{
		shape.edges[2 * i] = (EmogiEdge) {0, i + 2};
		shape.edges[2 * i + 1] = (EmogiEdge) {i + 100002, 1};
	}
	shape.edges[200000] = (EmogiEdge) {0, 1};
	graph = naive_build(&shape, NULL, EMOGI_OUT, true);
	emogi_path_search(&graph, NULL, 0, 1, 100000, &answer, &control, &error);
	CHECK(answer.outcome == EMOGI_PATH_GAVE_UP && answer.edges_traversed == 0, "%llu entries",
		  (unsigned long long) answer.edges_traversed);
	full = run_full(&graph, 0);
	check_pair("from hub to hub", &graph, &full, 0, 1);
	check_stopped(&graph, &full, 0, 1);
	CHECK(check_pair("from hub to leaf", &graph, &full, 0, 77) <= 2, "the hub's list was walked");
	free_full(&full);
	naive_free(&graph);
	emogi_shape_free(&shape);
}

/* Every allocation fails once: no answer, a message, nothing lost; without failures the answer is there. */
static void
check_memory(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	uint32_t	target = (uint32_t) graph->nvertices - 1;
	EmogiStatus status = EMOGI_NO_MEMORY;
	uint32_t	n = 0;

	while (status == EMOGI_NO_MEMORY && n < MAX_FAILURES)
	{
		EmogiControl control = {.fail_allocation = ++n};
		EmogiError	error;
		EmogiPathAnswer answer;

		status = emogi_path_search(graph, NULL, 0, target, UINT64_MAX, &answer, &control, &error);
		if (status == EMOGI_NO_MEMORY)
			CHECK(error.message[0] != '\0' && error.detail[0] != '\0' && answer.vertices == NULL && answer.distance == NULL &&
				  answer.length == 0, "%s: allocation %u", name, n);
		emogi_path_search_free(&answer);
	}
	CHECK(status == EMOGI_OK && n > 6 && n < MAX_FAILURES, "%s: status %d at allocation %u", name, status, n);
}

/* Check that a search is canceled before and during its run. */
static void
check_cancel(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	uint32_t	target = (uint32_t) graph->nvertices - 1;
	EmogiControl control = {.cancel = 1};
	EmogiError	error;
	EmogiPathAnswer answer;
	EmogiStatus status = emogi_path_search(graph, NULL, 0, target, UINT64_MAX, &answer, &control, &error);
	pthread_t	thread;

	CHECK(status == EMOGI_CANCELED && answer.vertices == NULL, "%s: status %d before", name, status);
	for (int tries = 0; tries < 20 && (tries == 0 || status == EMOGI_OK); tries++)
	{
		control.cancel = 0;
		pthread_create(&thread, NULL, engines_cancel_soon, &control);
		status = emogi_path_search(graph, NULL, 0, target, UINT64_MAX, &answer, &control, &error);
		pthread_join(thread, NULL);
		emogi_path_search_free(&answer);
	}
	CHECK(status == EMOGI_CANCELED, "%s: status %d during", name, status);
}

int
main(void)
{
	static const int kinds[] = {0, 1, 6};	/* no weights, 1 to 72, fractions */
	EmogiShape	chain = engines_chain(1000000);

	engines_open();
	engines_check_shapes(NRANDOM, NAIVE_KINDS, check_graph);
	check_tiny();
	check_grids();
	check_overflow();
	for (int i = 0; i < 3; i++)
	{
		check_large(EMOGI_KRON, kinds[i], EMOGI_BOTH);
		check_large(EMOGI_URAND, kinds[i], EMOGI_BOTH);
		check_large(EMOGI_KRON, kinds[i], EMOGI_OUT);
		engines_check_graph(&chain, kinds[i], EMOGI_OUT, true, 1, check_memory);
		engines_check_graph(&chain, kinds[i], EMOGI_OUT, true, 1, check_cancel);
	}
	check_hub();
	for (int outcome = 0; outcome < 3; outcome++)
		CHECK(noutcomes[outcome] > 20, "outcome %d: %llu times", outcome, (unsigned long long) noutcomes[outcome]);
	emogi_shape_free(&chain);
	engines_close();
	return check_report("test_path_search");
}
