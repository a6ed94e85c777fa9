/*
 * test_multi_path.c: tests of searches for pairs with a common endpoint against emogi_trace_path on
 * the distances to all vertices
 */
#include "path_graphs.h"
#include "contract/multi_path.h"

#include <limits.h>

#define NRANDOM 200
#define SOURCES 3
#define TARGETS 12

typedef struct Pair
{
	uint32_t	source;
	uint32_t	target;
} Pair;

static uint64_t noutcomes[3];

/* Compare a path with the one traced from all distances. */
static void
check_answer(const char *name, const EmogiGraph *graph, PathDistances *full, uint32_t source,
			 uint32_t target, const EmogiMultiPathAnswer *answer)
{
	uint64_t	length;
	uint64_t ndifferent = path_graphs_differ(graph, full, source, target, answer->vertices,
											 answer->distance, answer->length, &length);

	CHECK(answer->outcome == (length > 0 ? EMOGI_PATH_FOUND : EMOGI_PATH_NONE),
		  "%s: %u to %u: outcome %d", name, source, target, answer->outcome);
	CHECK(answer->length == length, "%s: %u to %u: %llu vertices, not %llu", name, source, target,
		  (unsigned long long) answer->length, (unsigned long long) length);
	CHECK(ndifferent == 0, "%s: %u to %u: %llu of %llu vertices differ", name, source, target,
		  (unsigned long long) ndifferent, (unsigned long long) length);
	noutcomes[answer->outcome]++;
}

/*
 * Search for pairs with a common source or target, both for paths and for reachability only.
 * Returns the edges traversed by the former.
 */
static uint64_t
check_group(const char *name, const EmogiGraph *graph, PathDistances *fulls, const Pair *pairs,
			uint64_t npairs, bool one_source)
{
	EmogiMultiPath *paths = emogi_multi_path_begin(graph, NULL, true, UINT64_MAX, NULL);
	EmogiMultiPath *outcomes = emogi_multi_path_begin(graph, NULL, false, UINT64_MAX, NULL);
	uint64_t	nedges = 0;

	for (uint64_t i = 0; i < npairs; i++)
	{
		const uint64_t nleft = npairs - i;
		const Pair pair = pairs[i];
		EmogiMultiPathAnswer path;
		EmogiMultiPathAnswer outcome;

		emogi_multi_path_next(paths, pair.source, pair.target, one_source ? nleft : 1,
							  one_source ? 1 : nleft, UINT64_MAX, UINT64_MAX, &path);
		emogi_multi_path_next(outcomes, pair.source, pair.target, one_source ? nleft : 1,
							  one_source ? 1 : nleft, UINT64_MAX, UINT64_MAX, &outcome);
		check_answer(name, graph, one_source ? fulls : &fulls[i], pair.source, pair.target, &path);
		CHECK(outcome.outcome == path.outcome &&
			  (outcome.length == 0 || graph->weight_type != EMOGI_WEIGHT_NONE),
			  "%s: %u to %u: outcomes %d and %d", name, pair.source, pair.target, outcome.outcome,
			  path.outcome);
		nedges += path.edges_traversed;
	}
	emogi_multi_path_free(paths);
	emogi_multi_path_free(outcomes);
	return nedges;
}

/* Search from some vertices to others. */
static void
check_pairs(const char *name, const EmogiGraph *graph, uint64_t seed, uint64_t nsources,
			uint64_t ntargets)
{
	PathDistances *fulls = malloc((nsources + 1) * sizeof *fulls);
	Pair	   *pairs = malloc((nsources + ntargets + 2) * sizeof *pairs);
	uint32_t   *sources = malloc((nsources + 1) * sizeof *sources);

	for (uint64_t i = 0; i < nsources; i++)
	{
		sources[i] = (uint32_t) (emogi_random(seed + 13, i) % graph->nvertices);
		fulls[i] = path_graphs_distances(graph, sources[i]);
		for (uint64_t t = 0; t <= ntargets; t++)
			pairs[t] = (Pair) {sources[i],
				t ==
				seed % 4 ? sources[i]
				: (uint32_t) (emogi_random(seed + 14 + i, t) % graph->nvertices)};
		check_group(name, graph, &fulls[i], pairs, ntargets + 1, true);
	}
	for (uint64_t t = 0; t < ntargets && nsources > 1; t++)
	{
		const uint32_t target = t == 0 ? sources[1]
			: (uint32_t) (emogi_random(seed + 77, t) % graph->nvertices);

		for (uint64_t i = 0; i < nsources; i++)
			pairs[i] = (Pair) {sources[i], target};
		check_group(name, graph, fulls, pairs, nsources, false);
	}
	for (uint64_t i = 0; i < nsources; i++)
		path_graphs_free(&fulls[i]);
	free(fulls);
	free(pairs);
	free(sources);
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
	check_group("overflow", &graph, &full, (Pair[]) {{0, 4}, {0, 30}, {0, 4}}, 3, true);
	path_graphs_free(&full);
	naive_free(&graph);
}

/* Check large graphs: paths, and that a common search traverses fewer edges than separate ones. */
static void
check_large(EmogiGenerator generator, int kind, EmogiDirection direction)
{
	EmogiBuiltGraph built = path_graphs_generate(generator, kind, direction);
	EmogiControl control = {0};
	EmogiError	error;
	uint64_t	together = 0,
				separately = 0;

	for (uint64_t i = 0; i < 4; i++)
	{
		Pair		pairs[40];
		PathDistances full;

		for (uint64_t t = 0; t < 40; t++)
			pairs[t] = (Pair) {(uint32_t) (emogi_random(11, i) % built.graph.nvertices),
				(uint32_t) (emogi_random(12 + i, t) % built.graph.nvertices)};
		full = path_graphs_distances(&built.graph, pairs[0].source);
		together += check_group("large", &built.graph, &full, pairs, 40, true);
		for (uint64_t t = 0; t < 40; t++)
		{
			EmogiPathAnswer answer;

			emogi_path_search(&built.graph, NULL, pairs[t].source, pairs[t].target, UINT64_MAX,
							  &answer, &control, &error);
			separately += answer.edges_traversed;
			emogi_path_search_free(&answer);
		}
		path_graphs_free(&full);
	}
	CHECK(together < separately,
		  "generator %d, weights %d, direction %d: %llu edges traversed together, %llu separately",
		  generator, kind, direction, (unsigned long long) together,
		  (unsigned long long) separately);
	emogi_built_graph_free(&built);
}

static int	npolls;
static int	max_polls;

/* Stop after max_polls polls. */
static bool
count_poll(void)
{
	return ++npolls > max_polls;
}

/*
 * Search for all pairs of vertex 0 with vertices 1 .. n; returns the number of answers before the
 * search gives up.
 */
static uint64_t
count_found(EmogiMultiPath *search, uint32_t n, uint64_t max_edges, uint64_t max_vertices)
{
	uint64_t	count = 0;
	EmogiMultiPathAnswer answer = {0};

	for (uint32_t t = 1; t <= n && answer.outcome != EMOGI_PATH_GAVE_UP; t++)
	{
		emogi_multi_path_next(search, 0, t, n - t + 1, 1, max_edges, max_vertices, &answer);
		CHECK(answer.edges_traversed <= max_edges && answer.vertices_settled <= max_vertices,
			  "%llu edges, %llu vertices", (unsigned long long) answer.edges_traversed,
			  (unsigned long long) answer.vertices_settled);
		count += answer.outcome != EMOGI_PATH_GAVE_UP;
		noutcomes[answer.outcome]++;
	}
	emogi_multi_path_next(search, 0, n, 1, 1, UINT64_MAX, UINT64_MAX, &answer);
	CHECK((answer.outcome == EMOGI_PATH_GAVE_UP) == (count < n), "outcome %d after %llu of %u",
		  answer.outcome, (unsigned long long) count, n);
	emogi_multi_path_free(search);
	return count;
}

/* Check that the limits of edges, vertices, and memory are respected, and that the search polls. */
static void
check_bounds(void)
{
	EmogiBuiltGraph built = path_graphs_generate(EMOGI_URAND, 1, EMOGI_BOTH);
	const EmogiGraph *graph = &built.graph;

	CHECK(count_found(emogi_multi_path_begin(graph, NULL, true, UINT64_MAX, NULL), 200, UINT64_MAX,
					  UINT64_MAX) == 200, "not all were found");
	CHECK(count_found(emogi_multi_path_begin(graph, NULL, true, UINT64_MAX, NULL), 200, 0,
					  UINT64_MAX) == 0, "found with a limit of 0 edges");
	CHECK(count_found(emogi_multi_path_begin(graph, NULL, true, UINT64_MAX, NULL), 200, UINT64_MAX,
					  0) == 0, "found with a limit of 0 vertices");
	for (uint64_t budget = 16; budget <= 65536; budget *= 4)
	{
		count_found(emogi_multi_path_begin(graph, NULL, true, UINT64_MAX, NULL), 200, 16 * budget,
					UINT64_MAX);
		count_found(emogi_multi_path_begin(graph, NULL, true, UINT64_MAX, NULL), 200, UINT64_MAX,
					budget);
		count_found(emogi_multi_path_begin(graph, NULL, true, 1024 * budget, NULL), 200, UINT64_MAX,
					UINT64_MAX);
	}
	CHECK(count_found(emogi_multi_path_begin(graph, NULL, true, 65536, NULL), 200, UINT64_MAX,
					  UINT64_MAX) == 0, "found with little memory");
	npolls = 0;
	max_polls = INT_MAX;
	CHECK(count_found(emogi_multi_path_begin(graph, NULL, true, UINT64_MAX, count_poll), 200,
					  UINT64_MAX, UINT64_MAX) == 200 && npolls > 0, "%d polls", npolls);
	npolls = max_polls = 0;
	CHECK(count_found(emogi_multi_path_begin(graph, NULL, true, UINT64_MAX, count_poll), 200,
					  UINT64_MAX, UINT64_MAX) < 200, "not stopped");
	emogi_built_graph_free(&built);
}

int
main(void)
{
	static const int kinds[] = {0, 1, 6};	/* no weights, 1 to 72, fractions */

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
	}
	check_bounds();
	for (int outcome = 0; outcome < 3; outcome++)
		CHECK(noutcomes[outcome] > 10, "outcome %d: %llu times", outcome,
			  (unsigned long long) noutcomes[outcome]);
	engines_close();
	return check_report("test_multi_path");
}
