/*
 * test_device_cache.c: tests of the cuda engine's cache of graphs: what queries reuse, what is
 * evicted and freed, and failures of memory and the driver. Answers are compared with the cpu
 * engine's.
 *
 * EMOGI_AGREE_LARGE = 0 skips the driver failures, which take racecheck hours. EMOGI_PLAIN_MEMORY =
 * 0 tests only the engine with memory pools, 1 only the one without them; racecheck takes minutes
 * for each.
 */
#include "both.h"

#define PLAIN_VERTICES 40000
#define PREFIX_VERTICES 2000
#define MAX_ALLOCATIONS 60			/* more than the allocations of device memory of any run */
#define MAX_CALLS 400			/* more than the driver calls of a short run */

/* True if the engine is opened as on a device without memory pools. */
static bool plain_memory;

/* Make a query from vertex 0, or of one iteration from values of 0.5. */
static EmogiQuery
plain_query(const EmogiGraph *graph, EmogiAlgorithm algorithm, EmogiPlacement placement)
{
	static const uint32_t source = 0;
	static double values[PLAIN_VERTICES];

	for (uint64_t v = 0; v < graph->nvertices; v++)
		values[v] = 0.5;
	return (EmogiQuery) {.algorithm = algorithm, .placement = placement, .nsources = 1,
		.sources = &source,
		.max_depth = -1, .max_distance = INFINITY, .damping = 0.85, .alpha = 1e-6, .beta = 1.0,
		.max_iterations = 1, .samples = 3, .values = values};
}

/* Overwrite what a run on a cached graph must not read on the host any more. */
static void
hide_arrays(const EmogiGraph *graph, EmogiPlacement placement)
{
	size_t		offset_bytes = (graph->nvertices + 1) * sizeof(uint64_t);

	if (placement == EMOGI_PLACEMENT_DEVICE)
		memset((void *) graph->memory, 0xFF, graph->memory_bytes);
	memset((void *) graph->forward.offsets, 0xFF, offset_bytes);
	memset((void *) graph->backward.offsets, 0xFF, offset_bytes);
}

/*
 * Run a query on both engines and compare the answers. Returns the status and, unless NULL, the
 * placement.
 */
static EmogiStatus
check_run(const char *what, const EmogiGraph *graph, EmogiQuery query, EmogiControl control,
		  bool hidden, EmogiPlacement *placement)
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
	CHECK(status != EMOGI_OK ||
		  agree(query.algorithm, graph->nvertices, &answer.result, &expected.result),
		  "%s: algorithm %d placement %d", what, query.algorithm, query.placement);
	if (placement != NULL)
		*placement = answer.result.placement;
	free(expected.memory);
	free(answer.memory);
	free(copy);
	return status;
}

/* Run a query without faults; returns the placement. */
static EmogiPlacement
run_without_faults(const char *what, const EmogiGraph *graph, EmogiAlgorithm algorithm,
				   EmogiPlacement placement)
{
	EmogiQuery	query = plain_query(graph, algorithm, placement);
	EmogiStatus status = check_run(what, graph, query, (EmogiControl) {0}, false, &placement);

	CHECK(status == EMOGI_OK, "%s: algorithm %d placement %d: status %d", what, algorithm,
		  query.placement, status);
	return placement;
}

/*
 * Run a query that needs cached arrays only. They must not be read on the host, and no more device
 * memory may be used afterwards.
 */
static void
run_cached(const char *what, const EmogiGraph *graph, EmogiAlgorithm algorithm,
		   EmogiPlacement placement)
{
	uint64_t	before = used_bytes();
	EmogiQuery	query = plain_query(graph, algorithm, placement);
	EmogiStatus status = check_run(what, graph, query, (EmogiControl) {0}, true, NULL);

	CHECK(status == EMOGI_OK && used_bytes() == before,
		  "%s: algorithm %d placement %d: status %d, %llu bytes for %llu", what, algorithm,
		  query.placement, status, (unsigned long long) used_bytes(), (unsigned long long) before);
}

/* Run a query twice: the second run makes prefixes from what the first one cached. */
static void
run_twice(const char *what, const EmogiGraph *graph, EmogiAlgorithm algorithm,
		  EmogiPlacement placement)
{
	run_without_faults(what, graph, algorithm, placement);
	run_without_faults(what, graph, algorithm, placement);
}

/* Check for all algorithms that the second run uses the arrays that the first one cached. */
static void
check_cached_for_all(const EmogiGraph *graph)
{
	for (int p = EMOGI_PLACEMENT_HOST; p <= EMOGI_PLACEMENT_HYBRID; p++)
		for (int a = 0; a < EMOGI_NALGORITHMS; a++)
		{
			if (!is_supported(graph, (EmogiAlgorithm) a))
				continue;
			run_twice("cached", graph, (EmogiAlgorithm) a, (EmogiPlacement) p);
			run_cached("cached", graph, (EmogiAlgorithm) a, (EmogiPlacement) p);
		}
}

/* Check the same on an undirected graph. */
static void
check_cached_undirected(void)
{
	EmogiBuiltGraph built = build_weighted(700, 9000, EMOGI_BOTH, 15);

	check_cached_for_all(&built.graph);
	CHECK(cuda->forget(cuda_state, built.graph.id) == 0, "still cached");
	emogi_built_graph_free(&built);
}

/*
 * Check that runs use the arrays that other runs cached, on any view of the graph, until it is
 * forgotten.
 */
static void
check_cached(void)
{
	EmogiBuiltGraph built = build_weighted(700, 9000, EMOGI_OUT, 5);
	EmogiGraph	swapped = built.graph;
	EmogiGraph	stripped;

	check_cached_for_all(&built.graph);
	CHECK(run_without_faults("cached", &built.graph, EMOGI_BFS, EMOGI_PLACEMENT_AUTO) ==
		  EMOGI_PLACEMENT_DEVICE, "not cached");

	swapped.forward = built.graph.backward;
	swapped.backward = built.graph.forward;
	run_cached("swapped", &swapped, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE);
	run_cached("swapped", &swapped, EMOGI_SSNSP, EMOGI_PLACEMENT_HOST);
	/* its weights are not cached yet */
	run_without_faults("swapped", &swapped, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE);
	stripped = swapped;
	stripped.weight_type = EMOGI_WEIGHT_NONE;
	stripped.forward.weights = stripped.backward.weights = NULL;
	run_cached("stripped", &stripped, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE);
	run_cached("whole again", &built.graph, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE);

	CHECK(used_bytes() > 0, "nothing is cached");
	CHECK(cuda->forget(cuda_state, built.graph.id + 1) == used_bytes(), "forgot the wrong graph");
	CHECK(cuda->forget(cuda_state, built.graph.id) == 0 && used_bytes() == 0, "%llu bytes",
		  (unsigned long long) used_bytes());
	built.graph.id = 0;
	run_without_faults("without an id", &built.graph, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE);
	CHECK(used_bytes() == 0, "%llu bytes", (unsigned long long) used_bytes());
	emogi_built_graph_free(&built);
}

/* Reopen the cuda engine, with a memory limit. */
static void
reopen(uint64_t device_memory_bytes)
{
	EmogiEngineOptions options = {.cpu_threads = 2, .device_memory_bytes = device_memory_bytes,
		.plain_memory = plain_memory};
	EmogiError	error;

	cuda->close(cuda_state);
	if (cuda->open(&options, &cuda_state, &error) != EMOGI_OK)
		abort();
}

/*
 * Check that with a memory limit that only one of two graphs fits, each is cached when it is
 * queried.
 */
static void
check_evicted(void)
{
	EmogiBuiltGraph a = build_weighted(1000, 60000, EMOGI_OUT, 6);
	EmogiBuiltGraph b = build_weighted(1000, 60000, EMOGI_OUT, 7);
	uint64_t	needed;

	run_without_faults("alone", &a.graph, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE);
	needed = used_bytes();
	reopen(needed + needed / 2);
	for (int round = 0; round < 2; round++)
	{
		run_twice("evicting", &a.graph, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE);
		run_cached("evicting", &a.graph, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE);
		CHECK(run_without_faults("there", &a.graph, EMOGI_BFS, EMOGI_PLACEMENT_AUTO) ==
			  EMOGI_PLACEMENT_DEVICE, "not cached");
		run_without_faults("another graph", &b.graph, EMOGI_SSSP, EMOGI_PLACEMENT_HOST);
		run_cached("another graph", &a.graph, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE);
		run_twice("evicting", &b.graph, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE);
		run_cached("evicting", &b.graph, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE);
		CHECK(run_without_faults("gone", &a.graph, EMOGI_BFS, EMOGI_PLACEMENT_AUTO) !=
			  EMOGI_PLACEMENT_DEVICE, "still cached");
		CHECK(used_bytes() <= needed + needed / 2, "%llu bytes", (unsigned long long) used_bytes());
	}
	CHECK(cuda->forget(cuda_state, b.graph.id) < needed, "still cached");
	CHECK(cuda->forget(cuda_state, a.graph.id) == 0, "still cached");
	check_nothing_held("evicting", needed + needed / 2);

	reopen(needed / 2);
	CHECK(check_run("too large", &a.graph, plain_query(&a.graph, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE),
					(EmogiControl) {0}, false, NULL) == EMOGI_NO_MEMORY, "it fits");
	check_nothing_held("too large", needed / 2);
	run_without_faults("in place", &a.graph, EMOGI_BFS, EMOGI_PLACEMENT_HOST);
	reopen(0);
	emogi_built_graph_free(&a);
	emogi_built_graph_free(&b);
}

/* Check that a run evicts copies of its own graph if it does not fit into the memory otherwise. */
static void
check_own_copies_evicted(void)
{
	EmogiBuiltGraph built = build_weighted(PLAIN_VERTICES, PLAIN_VERTICES, EMOGI_OUT, 8);

	/* PAGERANK takes 40 bytes per vertex, and offsets 8 */
	reopen(48 * built.graph.nvertices + 65536);
	run_without_faults("own", &built.graph, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE);
	run_without_faults("own", &built.graph, EMOGI_PAGERANK, EMOGI_PLACEMENT_HOST);
	run_without_faults("own", &built.graph, EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE);
	CHECK(cuda->forget(cuda_state, built.graph.id) == 0, "still cached");
	reopen(0);
	emogi_built_graph_free(&built);
}

/*
 * Check hybrid placement with memory limits from too small for a run to enough for all prefixes,
 * and that the prefixes of both orientations are cached.
 */
static void
check_prefixes(void)
{
	EmogiBuiltGraph built = build_weighted(PREFIX_VERTICES, 12 * PREFIX_VERTICES, EMOGI_OUT, 11);
	EmogiBuiltGraph symmetric = build_weighted(PREFIX_VERTICES, 6 * PREFIX_VERTICES, EMOGI_BOTH,
											   16);
	uint64_t	placed[EMOGI_PLACEMENT_HYBRID + 1] = {0};

	for (uint64_t cap = 8 * PREFIX_VERTICES; cap < 256 * PREFIX_VERTICES; cap += cap / 4)
	{
		reopen(cap);
		for (int i = 0; i < 16; i++)
		{
			EmogiAlgorithm algorithm = (EmogiAlgorithm) (emogi_random(cap, i) % EMOGI_NALGORITHMS);
			EmogiPlacement placement = i % 4 == 0 ? EMOGI_PLACEMENT_AUTO : EMOGI_PLACEMENT_HYBRID;
			EmogiGraph	view = i % 5 == 4 ? symmetric.graph : built.graph;
			EmogiStatus status;

			if (i % 3 == 0)
			{
				const EmogiAdjacency forward = view.forward;

				view.forward = view.backward;
				view.backward = forward;
			}
			if (!is_supported(&view, algorithm))
				continue;
			status = check_run("capped", &view, plain_query(&view, algorithm, placement),
							   (EmogiControl) {0}, false, &placement);
			CHECK(status == EMOGI_OK || status == EMOGI_NO_MEMORY,
				  "limit %llu algorithm %d: status %d", (unsigned long long) cap, algorithm,
				  status);
			CHECK(used_bytes() <= cap, "%llu bytes of %llu", (unsigned long long) used_bytes(),
				  (unsigned long long) cap);
			if (status != EMOGI_OK)
				continue;
			placed[placement]++;
			if (placement == EMOGI_PLACEMENT_HYBRID)
				run_cached("capped", &view, algorithm, placement);
		}
	}
	CHECK(placed[EMOGI_PLACEMENT_HOST] > 0 && placed[EMOGI_PLACEMENT_HYBRID] > 0,
		  "host %llu, hybrid %llu", (unsigned long long) placed[EMOGI_PLACEMENT_HOST],
		  (unsigned long long) placed[EMOGI_PLACEMENT_HYBRID]);
	(void) cuda->forget(cuda_state, symmetric.graph.id);
	CHECK(cuda->forget(cuda_state, built.graph.id) == 0, "arrays are still cached");
	reopen(0);
	emogi_built_graph_free(&symmetric);
	emogi_built_graph_free(&built);
}

/* Let each allocation of device memory of a run fail by turns. Only complete copies may remain. */
static void
check_failing_memory(EmogiBuiltGraph *built, EmogiQuery query, bool cached)
{
	EmogiControl control = {0};
	EmogiStatus status = EMOGI_NO_MEMORY;

	while (status == EMOGI_NO_MEMORY && control.fail_device_allocation < MAX_ALLOCATIONS)
	{
		control.fail_device_allocation++;
		built->graph.id = cached ? ++last_id : 0;
		status = check_run("failing memory", &built->graph, query, control, false, NULL);
		CHECK(cached || used_bytes() == 0, "algorithm %d placement %d allocation %u: %llu bytes",
			  query.algorithm, query.placement, control.fail_device_allocation,
			  (unsigned long long) used_bytes());
		if (cached && status == EMOGI_NO_MEMORY)
			run_without_faults("after failing memory", &built->graph, query.algorithm,
							   query.placement);
		CHECK(cuda->forget(cuda_state, built->graph.id) == 0,
			  "algorithm %d placement %d allocation %u", query.algorithm, query.placement,
			  control.fail_device_allocation);
	}
	CHECK(status == EMOGI_OK && control.fail_device_allocation > 2,
		  "algorithm %d placement %d: %d at %u", query.algorithm, query.placement, status,
		  control.fail_device_allocation);
}

/* Let memory fail in all algorithms and placements, on graphs that are cached and others. */
static void
check_all_failing_memory(void)
{
	EmogiBuiltGraph built = build_weighted(300, 3000, EMOGI_OUT, 9);
	EmogiBuiltGraph symmetric = build_weighted(300, 3000, EMOGI_BOTH, 17);

	for (int a = 0; a < EMOGI_NALGORITHMS; a++)
		for (int p = EMOGI_PLACEMENT_HOST; p <= EMOGI_PLACEMENT_HYBRID; p++)
			for (int cached = 0; cached < 2; cached++)
			{
				const EmogiQuery query = plain_query(&built.graph, (EmogiAlgorithm) a,
													 (EmogiPlacement) p);

				if (is_supported(&built.graph, query.algorithm))
					check_failing_memory(&built, query, cached);
				if (is_supported(&symmetric.graph, query.algorithm))
					check_failing_memory(&symmetric, query, cached);
			}
	CHECK(plain_memory ? describe_cuda().ready_bytes == 0 : describe_cuda().ready_bytes > 0,
		  "%llu bytes in reserve", (unsigned long long) describe_cuda().ready_bytes);
	CHECK(check_run("failing host memory", &built.graph,
					plain_query(&built.graph, EMOGI_SSNSP, EMOGI_PLACEMENT_HOST),
					(EmogiControl) {.fail_allocation = 1}, false, NULL) == EMOGI_NO_MEMORY,
		  "it did not fail");
	CHECK(cuda->forget(cuda_state, built.graph.id) == 0, "arrays are still cached");
	check_nothing_held("failing memory", 0);
	emogi_built_graph_free(&symmetric);
	emogi_built_graph_free(&built);
}

/*
 * Let driver calls fail, the first ones and then ever fewer, each in an engine of its own, which
 * must still close.
 */
static void
check_failing_driver(EmogiAlgorithm algorithm, EmogiPlacement placement)
{
	EmogiBuiltGraph built = build_weighted(300, 3000, EMOGI_OUT, 10);
	EmogiQuery	query = plain_query(&built.graph, algorithm, placement);
	EmogiControl control = {0};
	EmogiStatus status = EMOGI_DEVICE_ERROR;

	while (status == EMOGI_DEVICE_ERROR && control.fail_device_call < MAX_CALLS)
	{
		control.fail_device_call += 1 + control.fail_device_call / 12;
		status = check_run("failing driver", &built.graph, query, control, false, NULL);
		if (status == EMOGI_DEVICE_ERROR)
			reopen(0);
		run_without_faults("after a failing driver", &built.graph, algorithm, placement);
	}
	CHECK(status == EMOGI_OK && control.fail_device_call > 12,
		  "algorithm %d placement %d: %d at %u", algorithm, placement, status,
		  control.fail_device_call);
	CHECK(cuda->forget(cuda_state, built.graph.id) == 0, "still cached");
	emogi_built_graph_free(&built);
}

int
main(void)
{
	uint64_t	only = number_from_environment("EMOGI_PLAIN_MEMORY", 2);	/* 2 = both */

	if (!open_both())
		return check_report("test_device_cache");
	for (uint64_t plain = 0; plain < 2; plain++)
	{
		if (only < 2 && plain != only)
			continue;
		plain_memory = plain == 1;
		reopen(0);
		check_cached();
		check_cached_undirected();
		check_evicted();
		check_own_copies_evicted();
		check_prefixes();
		check_all_failing_memory();
	}
	if (number_from_environment("EMOGI_AGREE_LARGE", 1) != 0)
	{
		check_failing_driver(EMOGI_BFS, EMOGI_PLACEMENT_HOST);
		check_failing_driver(EMOGI_SSSP, EMOGI_PLACEMENT_DEVICE);
		check_failing_driver(EMOGI_BFS, EMOGI_PLACEMENT_HYBRID);
		check_failing_driver(EMOGI_LCC, EMOGI_PLACEMENT_DEVICE);
		check_failing_driver(EMOGI_SCC, EMOGI_PLACEMENT_HOST);
	}
	close_both();
	return check_report("test_device_cache");
}
