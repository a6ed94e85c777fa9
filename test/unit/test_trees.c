/*
 * test_trees.c: tests of shortest-path trees against their definition, in all directions, with and
 * without the transpose, from one source and from several.
 *
 * Levels and distances must be bit-identical to those of searches without a tree, and everything
 * must be bit-identical for any number of threads. The verifier must detect changes. Failed
 * allocations and cancellation must end a run.
 */
#include "cpu/cpu.h"
#include "engines.h"
#include "contract/semirings.h"
#include "verify/verify.h"

#define NRANDOM 320
#define LARGE 600000			/* edges */
#define MAX_WORK 1e7			/* vertices * edges up to which the oracle is used */
#define MAX_SOURCES 40

static const EmogiAlgorithm algorithms[] = {EMOGI_BFS_TREE, EMOGI_SHORTEST_PATH_TREE};
static uint64_t ncompared;

/* An answer. */
typedef struct Answer
{
	EmogiStatus status;
	EmogiResult result;
	EmogiError	error;
	void	   *first;			/* [nvertices], level or distance, of `bytes` each */
	size_t		bytes;
	uint32_t   *predecessor;	/* [nvertices] */
	uint32_t   *source;			/* [nvertices] */
} Answer;

/* Run a query on an engine. */
static Answer
run_query(EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query,
		  uint32_t fail_allocation)
{
	EmogiControl control = {.fail_allocation = fail_allocation};
	Answer answer = {.predecessor = naive_alloc(graph->nvertices, 4),
		.source = naive_alloc(graph->nvertices, 4)};

	answer.bytes =
		emogi_algorithm_column_bytes(emogi_algorithm_row(query->algorithm)->columns[0].type);
	answer.first = naive_alloc(graph->nvertices, answer.bytes);
	answer.result.columns[0].any = answer.first;
	answer.result.columns[1].vertex = answer.predecessor;
	answer.result.columns[2].vertex = answer.source;
	answer.status = engine->run(state, graph, query, &answer.result, &control, &answer.error);
	return answer;
}

/* Free an answer. */
static void
free_answer(Answer *answer)
{
	free(answer->first);
	free(answer->predecessor);
	free(answer->source);
}

/* Return true if two answers are bit-identical. */
static bool
is_same(const Answer *a, const Answer *b, uint64_t n)
{
	return memcmp(a->first, b->first, n * a->bytes) == 0 &&
		memcmp(a->predecessor, b->predecessor, n * 4) == 0 &&
		memcmp(a->source, b->source, n * 4) == 0 && a->result.nreached == b->result.nreached;
}

/* Return the same query without a tree. */
static EmogiQuery
without_tree(const EmogiQuery *query)
{
	EmogiQuery	search = *query;

	search.algorithm = query->algorithm == EMOGI_BFS_TREE ? EMOGI_BFS : EMOGI_SSSP;
	return search;
}

/* Return the level or distance of a vertex; +inf = not reached. */
static double
value_of(const Answer *answer, uint64_t v)
{
	if (answer->bytes == 8)
		return ((const double *) answer->first)[v];
	return ((const int32_t *) answer->first)[v] < 0 ? (double) INFINITY
		: ((const int32_t *) answer->first)[v];
}

/* A path, as the definition orders paths of equal length. */
typedef struct Rank
{
	uint64_t	source;			/* UINT64_MAX = no path yet */
	uint64_t	nedges;
	uint64_t	before;
} Rank;

/* Return true if a path comes before another. */
static bool
comes_before(Rank a, Rank b)
{
	if (a.source != b.source)
		return a.source < b.source;
	return a.nedges != b.nedges ? a.nedges < b.nedges : a.before < b.before;
}

/* Find the first path to each vertex: relax all edges on shortest paths until nothing changes. */
static Rank *
rank_paths(const EmogiGraph *graph, const EmogiQuery *query, const Answer *answer)
{
	Rank	   *ranks = naive_alloc(graph->nvertices, sizeof *ranks);
	bool		changes = true;

	for (uint64_t v = 0; v < graph->nvertices; v++)
		ranks[v].source = UINT64_MAX;
	for (uint64_t i = 0; i < query->nsources; i++)
		if (value_of(answer, query->sources[i]) == 0.0)
			ranks[query->sources[i]] = (Rank) {query->sources[i], 0, EMOGI_NO_VERTEX};
	while (changes)
	{
		changes = false;
		for (uint64_t u = 0; u < graph->nvertices; u++)
			for (uint64_t e = graph->forward.offsets[u]; ranks[u].source != UINT64_MAX &&
				 e < graph->forward.offsets[u + 1]; e++)
			{
				const uint32_t v = graph->forward.targets[e];
				const double weight = query->algorithm == EMOGI_BFS_TREE ? 1.0
					: emogi_weight(graph->forward.weights, graph->weight_type, e);
				const Rank	candidate = {ranks[u].source, ranks[u].nedges + 1, u};

				if (value_of(answer, u) + weight != value_of(answer, v) ||
					isinf(value_of(answer, v)) || ranks[v].before == EMOGI_NO_VERTEX ||
					!comes_before(candidate, ranks[v]))
					continue;
				ranks[v] = candidate;
				changes = true;
			}
	}
	return ranks;
}

/* Compare an answer with the definition. */
static void
check_defined(const char *name, const EmogiGraph *graph, const EmogiQuery *query,
			  const Answer *answer)
{
	Rank	   *ranks;
	uint64_t	nwrong = 0;

	if ((double) graph->nvertices * (double) graph->forward.nedges > MAX_WORK)
		return;
	ranks = rank_paths(graph, query, answer);
	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		const bool	has_path = ranks[v].source != UINT64_MAX;

		nwrong += answer->source[v] != (has_path ? ranks[v].source : EMOGI_NO_VERTEX) ||
			answer->predecessor[v] != (has_path ? ranks[v].before : EMOGI_NO_VERTEX) ||
			has_path != !isinf(value_of(answer, v));
	}
	CHECK(nwrong == 0, "%s: %llu vertices have another path", name, (unsigned long long) nwrong);
	ncompared++;
	free(ranks);
}

/* Compare levels or distances with those of the search without a tree. */
static void
check_distances(const char *name, const EmogiGraph *graph, const EmogiQuery *query,
				const Answer *answer)
{
	const EmogiQuery search = without_tree(query);
	EmogiControl control = {0};
	EmogiError	error;
	void	   *values = naive_alloc(graph->nvertices, answer->bytes);
	EmogiResult result = {.columns = {{.any = values}}};

	CHECK(engine->run(states[1], graph, &search, &result, &control, &error) == EMOGI_OK,
		  "%s: no search", name);
	CHECK(memcmp(values, answer->first, graph->nvertices * answer->bytes) == 0 &&
		  result.nreached == answer->result.nreached,
		  "%s: not bit-identical to the search without a tree", name);
	free(values);
}

/* Check that the verifier detects a changed value. */
static void
check_detected(const char *name, const EmogiGraph *graph, const EmogiQuery *query, Answer *answer,
			   uint64_t seed)
{
	const uint64_t v = emogi_random(seed, 77) % graph->nvertices;
	const uint32_t predecessor = answer->predecessor[v];
	const uint32_t source = answer->source[v];
	EmogiError	error = {{0}, {0}};

	answer->predecessor[v] = predecessor != 0 ? 0 : EMOGI_NO_VERTEX;
	CHECK(!emogi_verify(graph, query, &answer->result, &error),
		  "%s: the verifier missed another predecessor of %llu", name, (unsigned long long) v);
	answer->predecessor[v] = predecessor;
	answer->source[v] = source != 0 ? 0 : EMOGI_NO_VERTEX;
	CHECK(!emogi_verify(graph, query, &answer->result, &error),
		  "%s: the verifier missed another source of %llu", name, (unsigned long long) v);
	answer->source[v] = source;
}

/* Run a query on all engines, and with failing allocations, and check the answers. */
static void
check_query(const char *name, const EmogiGraph *graph, const EmogiQuery *query, uint64_t seed)
{
	Answer		first = run_query(states[0], graph, query, 0);

	CHECK(first.status == EMOGI_OK, "%s: status %d %s", name, first.status, first.error.message);
	for (int e = 1; e < NENGINES; e++)
	{
		Answer		other = run_query(states[e], graph, query, 0);

		CHECK(other.status == EMOGI_OK && is_same(&first, &other, graph->nvertices),
			  "%s: not bit-identical to one thread", name);
		free_answer(&other);
	}
	CHECK(emogi_verify(graph, query, &first.result, &first.error), "%s: %s", name,
		  first.error.message);
	for (uint32_t allocation = 1; seed % 8 == 0 && allocation < 8; allocation++)
	{
		Answer		other = run_query(states[1], graph, query, allocation);

		CHECK(other.status == EMOGI_NO_MEMORY ||
			  (other.status == EMOGI_OK && is_same(&first, &other, graph->nvertices)),
			  "%s: status %d without memory", name, other.status);
		free_answer(&other);
	}
	check_distances(name, graph, query, &first);
	check_defined(name, graph, query, &first);
	if (graph->nvertices > 0)
		check_detected(name, graph, query, &first, seed);
	free_answer(&first);
}

/* Check a graph, from no source, one, a duplicate one, and several, with and without bounds. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	uint32_t	sources[MAX_SOURCES];
	char		text[240];

	for (int turn = 0; turn < 4; turn++)
	{
		const uint64_t random = emogi_random(seed + 5, (uint64_t) turn);
		EmogiQuery query = {.nsources = graph->nvertices == 0 ? 0 : (uint64_t) turn,
			.sources = sources, .max_depth = -1, .max_distance = (double) INFINITY};

		if (turn == 3 && graph->nvertices > 0)
			query.nsources = 2 + random % (MAX_SOURCES - 2);
		for (uint64_t i = 0; i < query.nsources; i++)
			sources[i] = (uint32_t) (emogi_random(random, turn == 2 ? 0 : i) % graph->nvertices);
		if (random >> 20 & 1)
		{
			query.max_depth = (int64_t) (random >> 24) % 4;
			query.max_distance = (double) ((random >> 24) % 40);
		}
		for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++)
		{
			query.algorithm = algorithms[a];
			snprintf(text, sizeof text, "%s of %s from %llu",
					 emogi_algorithm_row(query.algorithm)->name, name,
					 (unsigned long long) query.nsources);
			check_query(text, graph, &query, seed);
		}
	}
}

/*
 * Check a graph that is large enough for all threads, from one source and from thousands, and
 * cancel before and during a run.
 */
static void
check_large(void)
{
	EmogiShape shape = {.name = "large", .nedges = LARGE,
		.edges = malloc(LARGE * sizeof(EmogiEdge))};
	uint32_t   *sources = naive_alloc(4000, sizeof *sources);
	double	   *weights = naive_weights(2, 3, LARGE);

	for (uint64_t i = 0; i < LARGE; i++)
		shape.edges[i] = (EmogiEdge) {(int64_t) (emogi_random(1, i) %
												 (emogi_random(2, i) % 65536 + 1)),
			(int64_t) (emogi_random(3, i) % 65536)};
	for (int turn = 0; turn < 4; turn++)
	{
		EmogiGraph graph = naive_build(&shape, weights, turn % 2 == 0 ? EMOGI_OUT : EMOGI_BOTH,
									   false);
		EmogiQuery query = {.nsources = turn < 2 ? 1 : 4000, .sources = sources, .max_depth = -1,
			.max_distance = (double) INFINITY};

		for (uint64_t i = 0; i < 4000; i++)
			sources[i] = (uint32_t) (emogi_random(9, i) % graph.nvertices);
		for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++)
		{
			Answer		answer;

			query.algorithm = algorithms[a];
			check_query("large", &graph, &query, 8);
			answer = run_query(states[0], &graph, &query, 0);
			if (turn == 3)
				engines_check_cancel("large", &graph, &query, answer.result);
			free_answer(&answer);
		}
		naive_free(&graph);
	}
	free(weights);
	free(sources);
	emogi_shape_free(&shape);
}

/*
 * Check a long chain, which has as many levels as vertices, from its first vertex, and from all
 * vertices.
 */
static void
check_chains(void)
{
	EmogiShape	chain = engines_chain(100000);
	EmogiGraph	graph = naive_build(&chain, NULL, EMOGI_OUT, false);
	uint32_t   *sources = naive_alloc(graph.nvertices, sizeof *sources);

	for (uint64_t v = 0; v < graph.nvertices; v++)
		sources[v] = (uint32_t) v;
	for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++)
	{
		EmogiQuery query = {.algorithm = algorithms[a], .nsources = 1, .sources = sources,
			.max_depth = -1, .max_distance = (double) INFINITY};

		check_query("a long chain", &graph, &query, 8);
		query.nsources = 2;
		check_query("a long chain from two", &graph, &query, 8);
		query.nsources = graph.nvertices;
		check_query("a long chain from all", &graph, &query, 8);
	}
	free(sources);
	naive_free(&graph);
	emogi_shape_free(&chain);
}

int
main(void)
{
	engines_open();
	engines_check_shapes(NRANDOM, NAIVE_KINDS, check_graph);
	check_chains();
	check_large();
	CHECK(ncompared > 1000, "%llu answers were compared with the definition",
		  (unsigned long long) ncompared);
	engines_close();
	return check_report("test_trees");
}
