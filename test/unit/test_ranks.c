/*
 * test_ranks.c: tests of PageRank on the GPU against the cpu engine.
 *
 * Ranks computed in integers (contract/rank_units.h) must be bit-identical: with uniform and
 * personalized teleport, with propagation blocking (cuda/algorithms/propagation_blocking.cuh) and
 * with pull, in all placements. Other ranks, such as weighted ones, may have a relative error of
 * 1e-9, but must not differ between runs. The graphs are shapes, random graphs, and generated ones.
 * All of them use propagation blocking, however small. Memory limits and failures are tested as
 * well.
 *
 * The environment variables are:
 *
 *   EMOGI_CUDA_MODULE   the module
 *   EMOGI_AGREE_GRAPHS  number of random graphs (default 40)
 *   EMOGI_AGREE_LARGE   0 = skip generated graphs and most failures, which take racecheck hours
 */
#include "both.h"

#include "contract/rank_units.h"
#include "cpu/cpu.h"

#define DEFAULT_GRAPHS 40
#define MAX_ALLOCATIONS 64			/* more than the allocations of device memory of a run */
/* of naive_weights, from 1 on; others have infinite weights or sums */
#define FINITE_KINDS 6
#define MAX_CALLS 400			/* driver calls */

static uint64_t cap;

/* Reopen the cuda engine, with propagation blocking for all graphs or not, and a memory limit. */
static void
reopen(bool always_bins, uint64_t device_memory_bytes)
{
	EmogiEngineOptions options = {.cpu_threads = 2, .device_memory_bytes = device_memory_bytes,
		.always_bins = always_bins};
	EmogiError	error;

	cap = device_memory_bytes;
	emogi_cpu_ranks_always_coarse = always_bins;
	cuda->close(cuda_state);
	if (cuda->open(&options, &cuda_state, &error) != EMOGI_OK)
		abort();
}

/* Build a graph; with an id if it is to be cached. */
static EmogiBuiltGraph
build_edges(const EmogiEdges *edges, EmogiDirection direction, bool with_backward, bool is_cached)
{
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;

	if (emogi_build_graph(emogi_cpu_engine_pool(cpu_state), edges, direction, with_backward, &built,
						  &control, &error) != EMOGI_OK)
		abort();
	built.graph.id = is_cached ? ++last_id : 0;
	return built;
}

static void
free_graph(const char *name, EmogiBuiltGraph *built)
{
	CHECK(cuda->forget(cuda_state, built->graph.id) == 0, "%s is still cached", name);
	check_nothing_held(name, cap);
	emogi_built_graph_free(built);
}

/* Run a query on the cuda engine. */
static EmogiStatus
run_cuda(const EmogiGraph *graph, const EmogiQuery *query, EmogiControl control, Answer *answer)
{
	EmogiError	error;

	return cuda->run(cuda_state, graph, query, &answer->result, &control, &error);
}

/* Run a query on both engines, and compare the ranks; returns the cuda engine's answer. */
static Answer
compare_engines(const char *name, const EmogiGraph *graph, const EmogiQuery *query)
{
	const uint64_t n = graph->nvertices;
	Answer		expected = make_answer(n);
	Answer		answer = make_answer(n);
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	EmogiStatus status;

	if (cpu->run(cpu_state, graph, query, &expected.result, &control, &error) != EMOGI_OK)
		abort();
	status = run_cuda(graph, query, (EmogiControl) {0}, &answer);
	CHECK(status == EMOGI_OK, "%s: status %d", name, status);
	CHECK(answer.result.nlevels == expected.result.nlevels, "%s: %u iterations, not %u", name,
		  answer.result.nlevels, expected.result.nlevels);
	if (emogi_rank_units_applicable(query, n, emogi_cpu_ranks_always_coarse ||
									emogi_rank_units_coarse(graph->forward.nedges)))
		CHECK(answer.result.change == expected.result.change &&
			  memcmp(answer.memory, expected.memory, n * sizeof(double)) == 0,
			  "%s, damping %g, personalised %d, placement %d: ranks are not bit-identical", name,
			  query->damping, query->teleport != NULL, query->placement);
	else
	{
		CHECK(fabs(answer.result.change - expected.result.change) <= 1e-9, "%s: change %g, not %g",
			  name, answer.result.change, expected.result.change);
		CHECK(count_apart(n, answer.result.columns[0].float64, expected.result.columns[0].float64,
						  -INFINITY, 0.0) == 0, "%s, damping %g, weighted %d: ranks differ", name,
			  query->damping, query->is_weighted);
	}
	CHECK(within_bounds(EMOGI_PAGERANK, n, &answer.result), "%s: wrote beyond the ranks", name);
	free(expected.memory);
	return answer;
}

/* Check that a second run returns the same bits, and uses no more device memory. */
static void
check_again(const char *name, const EmogiGraph *graph, const EmogiQuery *query, const Answer *first)
{
	const uint64_t used = used_bytes();
	Answer		again = make_answer(graph->nvertices);

	CHECK(run_cuda(graph, query, (EmogiControl) {0}, &again) == EMOGI_OK &&
		  memcmp(first->memory, again.memory, graph->nvertices * sizeof(double)) == 0,
		  "%s: other bits in the second run", name);
	CHECK(used_bytes() == used, "%s: %llu bytes used, then %llu", name, (unsigned long long) used,
		  (unsigned long long) used_bytes());
	free(again.memory);
}

/* Make teleport probabilities of a few vertices, including the first. */
static double *
make_teleport(uint64_t nvertices)
{
	double	   *teleport = calloc(nvertices + 1, sizeof(double));
	uint64_t	step = nvertices / 3 + 1;
	double		sum = 0.0;

	for (uint64_t v = 0; v < nvertices; v += step)
		sum += (double) (v + 1);
	for (uint64_t v = 0; v < nvertices; v += step)
		teleport[v] = (double) (v + 1) / sum;
	return teleport;
}

/* Check all kinds of queries on a graph. */
static void
check_graph(const char *name, const EmogiGraph *graph)
{
	static const struct
	{
		double		damping;
		int64_t		max_iterations;
		double		tolerance;
	} queries[] = {{0.85, 20, 0}, {0.85, 1, 0}, {0.0, 3, 0}, {0.5, 100, 1e-6}, {0.99, 30, 0},
		{1.0, 10, 0}, {0.85, 60, 1e-12}};
	double	   *teleport = make_teleport(graph->nvertices);

	for (size_t i = 0; i < 2 * sizeof(queries) / sizeof(queries[0]); i++)
	{
		EmogiQuery query = {.algorithm = EMOGI_PAGERANK, .placement = EMOGI_PLACEMENT_DEVICE,
			.damping = queries[i / 2].damping, .max_iterations = queries[i / 2].max_iterations,
			.tolerance = queries[i / 2].tolerance, .teleport = i % 2 == 1 ? teleport : NULL};
		Answer		answer = compare_engines(name, graph, &query);

		check_again(name, graph, &query, &answer);
		free(answer.memory);
	}
	free(teleport);
}

/* Check ranks in other placements, which use pull. */
static void
check_placements(const char *name, const EmogiGraph *graph)
{
	static const EmogiPlacement placements[] = {EMOGI_PLACEMENT_HOST, EMOGI_PLACEMENT_HYBRID,
		EMOGI_PLACEMENT_DEVICE};
	double	   *teleport = make_teleport(graph->nvertices);

	for (int i = 0; i < 6; i++)
	{
		EmogiQuery query = {.algorithm = EMOGI_PAGERANK, .placement = placements[i / 2],
			.damping = 0.85, .max_iterations = 12, .teleport = i % 2 == 1 ? teleport : NULL};
		Answer		answer = compare_engines(name, graph, &query);

		check_again(name, graph, &query, &answer);
		free(answer.memory);
	}
	free(teleport);
}

/* Check weighted ranks, with uniform and personalized teleport, in all placements. */
static void
check_weighted(const char *name, const EmogiShape *shape, uint64_t seed)
{
	static const EmogiPlacement placements[] = {EMOGI_PLACEMENT_HOST, EMOGI_PLACEMENT_HYBRID,
		EMOGI_PLACEMENT_DEVICE};
	static const EmogiDirection directions[] = {EMOGI_OUT, EMOGI_BOTH, EMOGI_IN};
	double	   *weights = naive_weights((int) (seed % FINITE_KINDS) + 1, seed, shape->nedges);
	EmogiEdgeSet set;
	EmogiBuiltGraph built;
	double	   *teleport;

	if (!emogi_edge_set_fill_weighted(&set, shape->edges, weights, shape->nedges,
									  EMOGI_CHUNK_WEIGHTED_EDGES))
		abort();
	built = build_edges(&set.edges, directions[seed % 3], true, seed % 2 == 1);
	teleport = make_teleport(built.graph.nvertices);
	for (int i = 0; i < 6; i++)
	{
		EmogiQuery query = {.algorithm = EMOGI_PAGERANK, .placement = placements[i / 2],
			.damping = 0.85, .max_iterations = 12, .teleport = i % 2 == 1 ? teleport : NULL,
			.is_weighted = true};
		Answer		answer = compare_engines(name, &built.graph, &query);

		check_again(name, &built.graph, &query, &answer);
		free(answer.memory);
	}
	free(teleport);
	free_graph(name, &built);
	emogi_edge_set_free(&set);
	free(weights);
}

/* Check edges in all directions, with and without the transpose. */
static void
check_edges(const char *name, const EmogiEdges *edges)
{
	static const struct
	{
		EmogiDirection direction;
		bool		with_backward;
	} ways[] = {{EMOGI_OUT, false}, {EMOGI_OUT, true}, {EMOGI_IN, true}, {EMOGI_BOTH, false}};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
	{
		EmogiBuiltGraph built = build_edges(edges, ways[i].direction, ways[i].with_backward,
											i % 2 == 1);

		check_graph(name, &built.graph);
		check_placements(name, &built.graph);
		free_graph(name, &built);
	}
}

static void
check_shape(EmogiShape *shape, uint64_t seed)
{
	EmogiEdgeSet set;

	if (!emogi_edge_set_fill(&set, shape->edges, shape->nedges, EMOGI_CHUNK_EDGES))
		abort();
	check_edges(shape->name, &set.edges);
	check_weighted(shape->name, shape, seed);
	emogi_edge_set_free(&set);
	emogi_shape_free(shape);
}

/*
 * Check generated graphs with several blocks of sources and bins of targets; their sizes make 0, 1,
 * and 2 blocks in rows.
 */
static void
check_large(EmogiGenerator generator)
{
	for (uint64_t seed = 11; seed < 14; seed++)
	{
		EmogiEdgeSet set;

		if (!emogi_generate_edges(emogi_cpu_engine_pool(cpu_state), generator, 17, 8, seed, &set))
			abort();
		check_edges("large", &set.edges);
		emogi_edge_set_free(&set);
	}
}

/*
 * Check that propagation blocking is used, which takes device memory in addition to the lists, and
 * that little memory does not change the ranks.
 */
static void
check_memory(const EmogiEdges *edges)
{
	EmogiBuiltGraph built = build_edges(edges, EMOGI_OUT, true, true);
	EmogiQuery query = {.algorithm = EMOGI_PAGERANK, .placement = EMOGI_PLACEMENT_DEVICE,
		.damping = 0.85, .max_iterations = 20};
	uint64_t	without;
	uint64_t	with;
	Answer		answer;

	reopen(false, 0);
	answer = compare_engines("without propagation blocking", &built.graph, &query);
	free(answer.memory);
	without = used_bytes();
	reopen(true, 0);
	answer = compare_engines("with propagation blocking", &built.graph, &query);
	free(answer.memory);
	with = used_bytes();
	CHECK(with > without, "%llu bytes with propagation blocking, %llu without",
		  (unsigned long long) with, (unsigned long long) without);
	for (int i = 1; i < 12; i++)
	{
		reopen(true, with * (uint64_t) i / 4);
		answer = make_answer(built.graph.nvertices);
		if (run_cuda(&built.graph, &query, (EmogiControl) {0}, &answer) == EMOGI_OK)
		{
			Answer		right = compare_engines("with a memory limit", &built.graph, &query);

			CHECK(used_bytes() <= with * (uint64_t) i / 4, "%llu bytes used",
				  (unsigned long long) used_bytes());
			free(right.memory);
		}
		free(answer.memory);
	}
	reopen(true, 0);
	free_graph("memory", &built);
}

/*
 * Check that canceled and failed runs use no memory afterwards, and that the next run is correct.
 */
static void
check_faults(const EmogiEdges *edges, uint32_t stride)
{
	EmogiBuiltGraph built = build_edges(edges, EMOGI_OUT, true, false);
	EmogiQuery query = {.algorithm = EMOGI_PAGERANK, .placement = EMOGI_PLACEMENT_DEVICE,
		.damping = 0.85, .max_iterations = 3};
	Answer		answer = compare_engines("before faults", &built.graph, &query);
	EmogiStatus status;
	uint32_t	nfaults = 0;

	CHECK(run_cuda(&built.graph, &query, (EmogiControl) {.cancel = 1}, &answer) == EMOGI_CANCELED,
		  "not canceled");
	for (uint32_t i = 1; i < MAX_ALLOCATIONS; i++)
	{
		status = run_cuda(&built.graph, &query, (EmogiControl) {.fail_device_allocation = i},
						  &answer);
		CHECK(status == EMOGI_OK || status == EMOGI_NO_MEMORY, "allocation %u: status %d", i,
			  status);
		check_nothing_held("allocation", cap);
		nfaults += status != EMOGI_OK;
	}
	CHECK(nfaults > 0, "no allocation failed");
	nfaults = 0;
	for (uint32_t i = 1; i < MAX_CALLS; i += stride)
	{
		status = run_cuda(&built.graph, &query, (EmogiControl) {.fail_device_call = i}, &answer);
		CHECK(status == EMOGI_OK || status == EMOGI_DEVICE_ERROR, "call %u: status %d", i, status);
		check_nothing_held("call", cap);
		nfaults += status != EMOGI_OK;
	}
	CHECK(nfaults > 0, "no call failed");
	free(answer.memory);
	answer = compare_engines("after faults", &built.graph, &query);
	free(answer.memory);
	free_graph("faults", &built);
}

int
main(void)
{
	const uint64_t ngraphs = number_from_environment("EMOGI_AGREE_GRAPHS", DEFAULT_GRAPHS);
	const bool	large = number_from_environment("EMOGI_AGREE_LARGE", 1) != 0;
	EmogiShape	shape;
	EmogiEdgeSet set;

	if (!open_both())
		return check_report("test_ranks");
	reopen(true, 0);
	for (int i = 0; large && i < emogi_shape_count(); i++)
	{
		if (!emogi_shape_make(i, &shape))
			abort();
		check_shape(&shape, (uint64_t) i);
	}
	for (uint64_t seed = 1; seed <= ngraphs; seed++)
	{
		if (seed == ngraphs / 2 + 1)
			reopen(false, 0);	/* the remaining graphs use pull in device memory, too */
		if (!emogi_shape_random(seed, &shape))
			abort();
		check_shape(&shape, seed);
	}
	reopen(true, 0);
	if (large)
	{
		check_large(EMOGI_KRON);
		check_large(EMOGI_URAND);
	}
	if (!emogi_generate_edges(emogi_cpu_engine_pool(cpu_state), EMOGI_KRON, large ? 16 : 10, 8, 7,
							  &set))
		abort();
	check_memory(&set.edges);
	check_faults(&set.edges, large ? 1 : 17);
	emogi_edge_set_free(&set);
	close_both();
	return check_report("test_ranks");
}
