/*
 * test_multi_path.c: searches for pairs with a common end find the paths that emogi_trace_path finds among all distances.
 */
#include "build.h"
#include "engines.h"
#include "cpu/cpu.h"
#include "contract/multi_path.h"
#include "contract/trace_path.h"

#include <float.h>
#include <limits.h>

#define NRANDOM 200
#define NTINY 3000
#define SOURCES 3
#define TARGETS 12

/* What the full way gives from one source. */
typedef struct Full
{
	double	   *distance;
	uint32_t   *path;
	uint32_t   *next;
} Full;

typedef struct Pair
{
	uint32_t	source;
	uint32_t	target;
} Pair;

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

/* Compare a path with the one in all distances. */
static void
check_answer(const char *name, const EmogiGraph *graph, Full *full, uint32_t source, uint32_t target, const EmogiMultiPathAnswer *answer)
{
	uint64_t	length = 0,
				ndifferent = 0;

	if (full->distance[target] < (double) INFINITY)
		length = emogi_trace_path(graph, full->distance, source, target, full->path, full->next, NULL);
	CHECK(answer->outcome == (length > 0 ? EMOGI_PATH_FOUND : EMOGI_PATH_NONE), "%s: %u to %u: outcome %d", name, source, target, answer->outcome);
	CHECK(answer->length == length, "%s: %u to %u: %llu vertices, not %llu", name, source, target,
		  (unsigned long long) answer->length, (unsigned long long) length);
	for (uint64_t i = 0; i < length && answer->length == length; i++)
		ndifferent += answer->vertices[i] != full->path[i] ||
			memcmp(&answer->distance[i], &full->distance[full->path[i]], sizeof(double)) != 0;
	CHECK(ndifferent == 0, "%s: %u to %u: %llu of %llu vertices differ", name, source, target,
		  (unsigned long long) ndifferent, (unsigned long long) length);
	noutcomes[answer->outcome]++;
}

/* Search for pairs with one source, or with one target, both paths and whether there is one; gets the list entries looked at for paths. */
static uint64_t
check_group(const char *name, const EmogiGraph *graph, Full *fulls, const Pair *pairs, uint64_t npairs, bool one_source)
{
	EmogiMultiPath *paths = emogi_multi_path_begin(graph, NULL, true, UINT64_MAX, NULL);
	EmogiMultiPath *outcomes = emogi_multi_path_begin(graph, NULL, false, UINT64_MAX, NULL);
	uint64_t	nlooked = 0;

	for (uint64_t i = 0; i < npairs; i++)
	{
		const uint64_t nleft = npairs - i;
		const Pair pair = pairs[i];
		EmogiMultiPathAnswer path;
		EmogiMultiPathAnswer outcome;

		emogi_multi_path_next(paths, pair.source, pair.target, one_source ? nleft : 1, one_source ? 1 : nleft, UINT64_MAX, UINT64_MAX, &path);
		emogi_multi_path_next(outcomes, pair.source, pair.target, one_source ? nleft : 1, one_source ? 1 : nleft, UINT64_MAX, UINT64_MAX, &outcome);
		check_answer(name, graph, one_source ? fulls : &fulls[i], pair.source, pair.target, &path);
		CHECK(outcome.outcome == path.outcome && (outcome.length == 0 || graph->weight_type != EMOGI_WEIGHT_NONE), "%s: %u to %u: outcomes %d and %d", name, pair.source, pair.target,
			  outcome.outcome, path.outcome);
		nlooked += path.edges_traversed;
	}
	emogi_multi_path_free(paths);
	emogi_multi_path_free(outcomes);
	return nlooked;
}

/* Search from some vertices to others. */
static void
check_pairs(const char *name, const EmogiGraph *graph, uint64_t seed, uint64_t nsources, uint64_t ntargets)
{
	Full	   *fulls = malloc((nsources + 1) * sizeof *fulls);
	Pair	   *pairs = malloc((nsources + ntargets + 2) * sizeof *pairs);
	uint32_t   *sources = malloc((nsources + 1) * sizeof *sources);

	for (uint64_t i = 0; i < nsources; i++)
	{
		sources[i] = (uint32_t) (emogi_random(seed + 13, i) % graph->nvertices);
		fulls[i] = run_full(graph, sources[i]);
		for (uint64_t t = 0; t <= ntargets; t++)
			pairs[t] = (Pair) {sources[i], t == seed % 4 ? sources[i] : (uint32_t) (emogi_random(seed + 14 + i, t) % graph->nvertices)};
		check_group(name, graph, &fulls[i], pairs, ntargets + 1, true);
	}
	for (uint64_t t = 0; t < ntargets && nsources > 1; t++)
	{
		const uint32_t target = t == 0 ? sources[1] : (uint32_t) (emogi_random(seed + 77, t) % graph->nvertices);

		for (uint64_t i = 0; i < nsources; i++)
			pairs[i] = (Pair) {sources[i], target};
		check_group(name, graph, fulls, pairs, nsources, false);
	}
	for (uint64_t i = 0; i < nsources; i++)
		free_full(&fulls[i]);
	free(fulls);
	free(pairs);
	free(sources);
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
	check_group("overflow", &graph, &full, (Pair[]) {{0, 4}, {0, 30}, {0, 4}}, 3, true);
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

/* Large graphs: the same paths, and less to look at for many together than for each by itself. */
static void
check_large(EmogiGenerator generator, int kind, EmogiDirection direction)
{
	EmogiBuiltGraph built = generate(generator, kind, direction);
	EmogiControl control = {0};
	EmogiError	error;
	uint64_t	together = 0,
				apart = 0;

	for (uint64_t i = 0; i < 4; i++)
	{
		Pair		pairs[40];
		Full		full;

		for (uint64_t t = 0; t < 40; t++)
			pairs[t] = (Pair) {(uint32_t) (emogi_random(11, i) % built.graph.nvertices), (uint32_t) (emogi_random(12 + i, t) % built.graph.nvertices)};
		full = run_full(&built.graph, pairs[0].source);
		together += check_group("large", &built.graph, &full, pairs, 40, true);
		for (uint64_t t = 0; t < 40; t++)
		{
			EmogiPathAnswer answer;

			emogi_path_search(&built.graph, NULL, pairs[t].source, pairs[t].target, UINT64_MAX, &answer, &control, &error);
			apart += answer.edges_traversed;
			emogi_path_search_free(&answer);
		}
		free_full(&full);
	}
	CHECK(together < apart, "generator %d, weights %d, direction %d: %llu list entries together, %llu apart", generator, kind, direction,
		  (unsigned long long) together, (unsigned long long) apart);
	emogi_built_graph_free(&built);
}

static int	npolls;
static int	most_polls;

/* Stop after so many polls. */
static bool
poll_so_often(void)
{
	return ++npolls > most_polls;
}

/* Search for all pairs of vertex 0 with vertices 1 .. n; gets how many are found before it gives up. */
static uint64_t
count_found(EmogiMultiPath *search, uint32_t n, uint64_t max_edges, uint64_t max_vertices)
{
	uint64_t	count = 0;
	EmogiMultiPathAnswer answer = {0};

	for (uint32_t t = 1; t <= n && answer.outcome != EMOGI_PATH_GAVE_UP; t++)
	{
		emogi_multi_path_next(search, 0, t, n - t + 1, 1, max_edges, max_vertices, &answer);
		CHECK(answer.edges_traversed <= max_edges && answer.vertices_settled <= max_vertices, "%llu list entries, %llu vertices",
			  (unsigned long long) answer.edges_traversed, (unsigned long long) answer.vertices_settled);
		count += answer.outcome != EMOGI_PATH_GAVE_UP;
		noutcomes[answer.outcome]++;
	}
	emogi_multi_path_next(search, 0, n, 1, 1, UINT64_MAX, UINT64_MAX, &answer);
	CHECK((answer.outcome == EMOGI_PATH_GAVE_UP) == (count < n), "outcome %d after %llu of %u", answer.outcome, (unsigned long long) count, n);
	emogi_multi_path_free(search);
	return count;
}

/* Budgets of list entries, vertices and memory are kept, and polls are asked. */
static void
check_bounds(void)
{
	EmogiBuiltGraph built = generate(EMOGI_URAND, 1, EMOGI_BOTH);
	const EmogiGraph *graph = &built.graph;

	CHECK(count_found(emogi_multi_path_begin(graph, NULL, true, UINT64_MAX, NULL), 200, UINT64_MAX, UINT64_MAX) == 200, "not all");
	CHECK(count_found(emogi_multi_path_begin(graph, NULL, true, UINT64_MAX, NULL), 200, 0, UINT64_MAX) == 0, "without list entries");
	CHECK(count_found(emogi_multi_path_begin(graph, NULL, true, UINT64_MAX, NULL), 200, UINT64_MAX, 0) == 0, "without vertices");
	for (uint64_t budget = 16; budget <= 65536; budget *= 4)
	{
		count_found(emogi_multi_path_begin(graph, NULL, true, UINT64_MAX, NULL), 200, 16 * budget, UINT64_MAX);
		count_found(emogi_multi_path_begin(graph, NULL, true, UINT64_MAX, NULL), 200, UINT64_MAX, budget);
		count_found(emogi_multi_path_begin(graph, NULL, true, 1024 * budget, NULL), 200, UINT64_MAX, UINT64_MAX);
	}
	CHECK(count_found(emogi_multi_path_begin(graph, NULL, true, 65536, NULL), 200, UINT64_MAX, UINT64_MAX) == 0, "without memory");
	npolls = 0;
	most_polls = INT_MAX;
	CHECK(count_found(emogi_multi_path_begin(graph, NULL, true, UINT64_MAX, poll_so_often), 200, UINT64_MAX, UINT64_MAX) == 200 && npolls > 0,
		  "%d polls", npolls);
	npolls = most_polls = 0;
	CHECK(count_found(emogi_multi_path_begin(graph, NULL, true, UINT64_MAX, poll_so_often), 200, UINT64_MAX, UINT64_MAX) < 200, "not stopped");
	emogi_built_graph_free(&built);
}

int
main(void)
{
	static const int kinds[] = {0, 1, 6};	/* no weights, 1 to 72, fractions */

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
	}
	check_bounds();
	for (int outcome = 0; outcome < 3; outcome++)
		CHECK(noutcomes[outcome] > 10, "outcome %d: %llu times", outcome, (unsigned long long) noutcomes[outcome]);
	engines_close();
	return check_report("test_multi_path");
}
