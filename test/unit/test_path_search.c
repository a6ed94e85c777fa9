/*
 * test_path_search.c: tests of the bidirectional path search against emogi_trace_path on the
 * distances to all vertices
 */
#include "path_graphs.h"
#include "contract/path_search.h"

#include <limits.h>

#define NRANDOM 200
#define SOURCES 3
#define TARGETS 12
#define MAX_FAILURES 200

static uint64_t noutcomes[3];

/*
 * Search for a path and compare it with the one traced from all distances; returns the edges
 * traversed.
 */
static uint64_t
check_pair(const char *name, const EmogiGraph *graph, PathDistances *full, uint32_t source,
		   uint32_t target)
{
	EmogiControl control = {0};
	EmogiError	error;
	EmogiPathAnswer answer;
	EmogiStatus status = emogi_path_search(graph, NULL, source, target, UINT64_MAX, &answer,
										   &control, &error);
	uint64_t	length;
	uint64_t	ndifferent = path_graphs_differ(graph, full, source, target, answer.vertices,
												answer.distance, answer.length, &length);

	CHECK(status == EMOGI_OK && answer.outcome == (length > 0 ? EMOGI_PATH_FOUND : EMOGI_PATH_NONE),
		  "%s: %u to %u: status %d, outcome %d", name, source, target, status, answer.outcome);
	CHECK(answer.length == length, "%s: %u to %u: %llu vertices, not %llu", name, source, target,
		  (unsigned long long) answer.length, (unsigned long long) length);
	CHECK(ndifferent == 0, "%s: %u to %u: %llu of %llu vertices differ", name, source, target,
		  (unsigned long long) ndifferent, (unsigned long long) length);
	noutcomes[answer.outcome]++;
	emogi_path_search_free(&answer);
	return answer.edges_traversed;
}

/* Search from some vertices to others. */
static void
check_pairs(const char *name, const EmogiGraph *graph, uint64_t seed, uint64_t nsources,
			uint64_t ntargets)
{
	for (uint64_t i = 0; i < nsources; i++)
	{
		uint32_t	source = (uint32_t) (emogi_random(seed + 13, i) % graph->nvertices);
		PathDistances full = path_graphs_distances(graph, source);

		check_pair(name, graph, &full, source, source);
		for (uint64_t t = 0; t < ntargets; t++)
			check_pair(name, graph, &full, source,
					   (uint32_t) (emogi_random(seed + 14 + i, t) % graph->nvertices));
		path_graphs_free(&full);
	}
}

/* Check a graph that has both orientations. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	if (graph->backward.offsets != NULL && graph->nvertices > 0)
		check_pairs(name, graph, seed, SOURCES, TARGETS);
}

/* Check a path whose length overflows if added up from the target. */
static void
check_overflow(void)
{
	EmogiGraph	graph = path_graphs_overflow();
	PathDistances full = path_graphs_distances(&graph, 0);

	CHECK(full.distance[4] == DBL_MAX, "%g", full.distance[4]);
	check_pair("overflow", &graph, &full, 0, 4);
	check_pair("overflow", &graph, &full, 0, 30);
	path_graphs_free(&full);
	naive_free(&graph);
}

/* Check that a limit of edges is respected, and suffices if it is large enough. */
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
		CHECK(emogi_path_search(graph, NULL, source, target, budget, &answer, &control, &error) ==
			  EMOGI_OK, "%s: budget", name);
		CHECK(answer.edges_traversed <= budget, "%s: %llu edges of %llu", name,
			  (unsigned long long) answer.edges_traversed, (unsigned long long) budget);
		CHECK(answer.outcome == EMOGI_PATH_FOUND ||
			  (budget < 2 * needed && answer.outcome == EMOGI_PATH_GAVE_UP && answer.length == 0 &&
			   answer.vertices == NULL && answer.distance == NULL),
			  "%s: outcome %d with %llu of %llu", name, answer.outcome, (unsigned long long) budget,
			  (unsigned long long) needed);
		noutcomes[answer.outcome]++;
		if (answer.outcome == EMOGI_PATH_FOUND)
			enough = budget;
		emogi_path_search_free(&answer);
	}
	CHECK(enough >= needed, "%s: a limit of %llu was sufficient, not %llu", name,
		  (unsigned long long) enough, (unsigned long long) needed);
}

static int	npolls;
static int	max_polls;

/* Stop after max_polls polls. */
static bool
count_poll(void)
{
	return ++npolls > max_polls;
}

/* Check that emogi_trace_path polls often enough to be stopped within one long list. */
static void
check_stopped(const EmogiGraph *graph, PathDistances *full, uint32_t source, uint32_t target)
{
	npolls = 0;
	max_polls = INT_MAX;
	CHECK(emogi_trace_path(graph, full->distance, source, target, full->path, full->next,
						   count_poll) == 2 && npolls > 0, "%d polls", npolls);
	npolls = max_polls = 0;
	CHECK(emogi_trace_path(graph, full->distance, source, target, full->path, full->next,
						   count_poll) == 0 && npolls == 1, "not stopped: %d polls", npolls);
}

/* Check large graphs: paths, and that a search traverses a small part of them. */
static void
check_large(EmogiGenerator generator, int kind, EmogiDirection direction)
{
	EmogiBuiltGraph built = path_graphs_generate(generator, kind, direction);
	uint64_t	nscanned = 0;

	for (uint64_t i = 0; i < 4; i++)
	{
		uint32_t	source = (uint32_t) (emogi_random(11, i) % built.graph.nvertices);
		PathDistances full = path_graphs_distances(&built.graph, source);

		for (uint64_t t = 0; t < 10; t++)
			nscanned += check_pair("large", &built.graph, &full, source,
								   (uint32_t) (emogi_random(12 + i, t) % built.graph.nvertices));
		path_graphs_free(&full);
	}
	CHECK(nscanned / 40 < built.graph.forward.nedges / 12,
		  "generator %d, weights %d, direction %d: %llu of %llu edges traversed", generator, kind,
		  direction, (unsigned long long) nscanned / 40,
		  (unsigned long long) built.graph.forward.nedges);
	check_budget("large", &built.graph);
	emogi_built_graph_free(&built);
}

/* Check that a list longer than the limit is not traversed. */
static void
check_hub(void)
{
	EmogiShape shape = {.name = "hubs", .edges = malloc(200001 * sizeof(EmogiEdge)),
		.nedges = 200001};
	EmogiGraph	graph;
	EmogiControl control = {0};
	EmogiError	error;
	EmogiPathAnswer answer;
	PathDistances full;

	for (int64_t i = 0; i < 100000; i++)
	{
		shape.edges[2 * i] = (EmogiEdge) {0, i + 2};
		shape.edges[2 * i + 1] = (EmogiEdge) {i + 100002, 1};
	}
	shape.edges[200000] = (EmogiEdge) {0, 1};
	graph = naive_build(&shape, NULL, EMOGI_OUT, true);
	emogi_path_search(&graph, NULL, 0, 1, 100000, &answer, &control, &error);
	CHECK(answer.outcome == EMOGI_PATH_GAVE_UP && answer.edges_traversed == 0,
		  "%llu edges traversed", (unsigned long long) answer.edges_traversed);
	full = path_graphs_distances(&graph, 0);
	check_pair("from hub to hub", &graph, &full, 0, 1);
	check_stopped(&graph, &full, 0, 1);
	CHECK(check_pair("from hub to leaf", &graph, &full, 0, 77) <= 2,
		  "the hub's list was traversed");
	path_graphs_free(&full);
	naive_free(&graph);
	emogi_shape_free(&shape);
}

/*
 * Let each allocation fail by turns: the search must return a message and no answer. Without a
 * failure, it must succeed.
 */
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
			CHECK(error.message[0] != '\0' && error.detail[0] != '\0' && answer.vertices == NULL &&
				  answer.distance == NULL && answer.length == 0, "%s: allocation %u", name, n);
		emogi_path_search_free(&answer);
	}
	CHECK(status == EMOGI_OK && n > 6 && n < MAX_FAILURES, "%s: status %d at allocation %u", name,
		  status, n);
}

/* Check that a search is canceled before and during its run. */
static void
check_cancel(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	uint32_t	target = (uint32_t) graph->nvertices - 1;
	EmogiControl control = {.cancel = 1};
	EmogiError	error;
	EmogiPathAnswer answer;
	EmogiStatus status = emogi_path_search(graph, NULL, 0, target, UINT64_MAX, &answer, &control,
										   &error);
	pthread_t	thread;

	CHECK(status == EMOGI_CANCELED && answer.vertices == NULL, "%s: status %d before", name,
		  status);
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
	path_graphs_check_tiny(check_graph);
	path_graphs_check_grids(check_pairs, check_graph);
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
		CHECK(noutcomes[outcome] > 20, "outcome %d: %llu times", outcome,
			  (unsigned long long) noutcomes[outcome]);
	emogi_shape_free(&chain);
	engines_close();
	return check_report("test_path_search");
}
