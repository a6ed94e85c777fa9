/*
 * test_communities.c: tests of the cpu engine's Louvain and Leiden methods.
 *
 * Answers are checked by verifiers and must be bit-identical for any number of threads. On the
 * karate club, they must be as good as published ones; on a graph of cliques, they are known. The
 * verifiers must reject an invalid hierarchy.
 */
#include "cpu/cpu.h"
#include "contract/community_rules.h"
#include "contract/hierarchy.h"
#include "engines.h"
#include "karate.h"
#include "verify/verify.h"

#define NRANDOM 300
#define NKINDS 7				/* kinds of weights, all finite */
#define LEAVES 200000
#define MAX_SWEEPS 128			/* for the convergence of a star, each over all its edges */

/* An answer, followed by a few bytes that must not change. */
typedef struct Answer
{
	EmogiResult result;
	char	   *memory;
	uint64_t	bytes;
} Answer;

/* Allocate an answer, filled with bytes of 0x55. */
static Answer
make_answer(uint64_t nvertices)
{
	Answer		answer = {.bytes = nvertices * 8};

	answer.memory = malloc(answer.bytes + 8);
	memset(answer.memory, 0x55, answer.bytes + 8);
	answer.result.columns[0].any = answer.memory;
	answer.result.columns[1].any = answer.memory + nvertices * 4;
	return answer;
}

/* Compute the modularity of a level. */
static double
modularity(const EmogiGraph *graph, const EmogiResult *result, uint32_t level, double resolution)
{
	const EmogiAdjacency *lists = &graph->forward;
	double	   *total = calloc(graph->nvertices + 1, sizeof *total);
	double		inside = 0.0;
	double		whole = 0.0;
	double		sum = 0.0;

	for (uint64_t v = 0; v < graph->nvertices; v++)
		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
		{
			const double weight = emogi_weight(lists->weights, graph->weight_type, e) *
				(lists->targets[e] == v ? 2.0 : 1.0);
			const uint32_t c = emogi_hierarchy_community(result->columns[1].vertex,
														 result->columns[0].int32, (uint32_t) v,
														 level);

			total[c] += weight;
			whole += weight;
			if (emogi_hierarchy_community(result->columns[1].vertex, result->columns[0].int32,
										  lists->targets[e], level) == c)
				inside += weight;
		}
	for (uint64_t v = 0; v < graph->nvertices; v++)
		sum += total[v] / whole * (total[v] / whole);
	free(total);
	return whole > 0.0 ? inside / whole - resolution * sum : 0.0;
}

/* Check that the verifier detects an invalid hierarchy. */
static void
check_detected(const char *name, const EmogiGraph *graph, const EmogiQuery *query,
			   EmogiResult result, uint64_t seed)
{
	const uint64_t v = emogi_random(seed, 77) % graph->nvertices;
	const uint32_t joins = result.columns[1].vertex[v];
	EmogiError	error = {{0}, {0}};

	result.columns[0].int32[v] = joins == v ? (int32_t) result.nlevels - 1
		: result.columns[0].int32[joins];
	CHECK(!emogi_verify(graph, query, &result, &error),
		  "%s: the verifier missed invalid levels of vertex %llu", name, (unsigned long long) v);
}

/* Run one query on all engines, and check the answers. */
static void
check_query(const char *name, const EmogiGraph *graph, const EmogiQuery *query, uint64_t seed)
{
	Answer		answers[NENGINES];

	for (int e = 0; e < NENGINES; e++)
	{
		EmogiControl control = {0};
		EmogiError	error = {{0}, {0}};
		EmogiStatus status;

		answers[e] = make_answer(graph->nvertices);
		status = engine->run(states[e], graph, query, &answers[e].result, &control, &error);
		CHECK(status == EMOGI_OK, "%s: status %d %s", name, status, error.message);
		CHECK(memcmp(answers[e].memory + answers[e].bytes, "UUUUUUUU", 8) == 0,
			  "%s: wrote beyond the end", name);
		CHECK(memcmp(answers[0].memory, answers[e].memory, answers[e].bytes) == 0 &&
			  answers[0].result.nlevels == answers[e].result.nlevels,
			  "%s: not bit-identical to one thread", name);
		CHECK(e > 0 || emogi_verify(graph, query, &answers[e].result, &error), "%s, %d: %s", name,
			  query->algorithm, error.message);
		CHECK(query->max_levels == 0 || answers[e].result.nlevels <= query->max_levels,
			  "%s: too many levels", name);
	}
	if (graph->nvertices > 0)
		check_detected(name, graph, query, answers[0].result, seed);
	for (int e = 0; e < NENGINES; e++)
		free(answers[e].memory);
}

/* Run all kinds of queries on a graph, on all engines. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	static const double resolutions[] = {1.0, 0.0, 0.3, 4.0, 1.0};
	static const double thetas[] = {0.01, 0.0, 1.0, 1e9};
	EmogiQuery louvain = {.algorithm = EMOGI_LOUVAIN, .resolution = resolutions[seed % 5],
		.tolerance = seed % 3 == 0 ? 1e-3 : 1e-7, .max_levels = (int64_t) (seed % 4), .seed = seed};
	EmogiQuery leiden = {.algorithm = EMOGI_LEIDEN, .resolution = resolutions[seed % 5],
		.theta = thetas[seed % 4], .max_levels = (int64_t) (seed % 3), .seed = -seed};

	if (graph->backward.offsets != graph->forward.offsets)
		return;
	check_query(name, graph, &louvain, seed);
	check_query(name, graph, &leiden, seed);
	leiden.max_cluster_size = 1 + (int64_t) (seed % 7);
	check_query(name, graph, &leiden, seed);
}

/* Generate a graph that is large enough for all threads. */
static EmogiBuiltGraph
make_large(EmogiGenerator generator, int scale, int degree)
{
	EmogiRecipe recipe = emogi_recipe(generator, scale, degree, (uint64_t) 1 << scale, 7, 0);
	EmogiEdgeSet set;
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;

	if (!emogi_generate(emogi_cpu_engine_pool(states[1]), &recipe, &set) ||
		emogi_build_graph(emogi_cpu_engine_pool(states[1]), &set.edges, EMOGI_BOTH, true, &built,
						  &control, &error) != EMOGI_OK)
		abort();
	emogi_edge_set_free(&set);
	return built;
}

/* Check a graph that is large enough for all threads, and cancel. */
static void
check_large(const char *name, EmogiGenerator generator, int scale, int degree,
			double min_modularity)
{
	EmogiBuiltGraph built = make_large(generator, scale, degree);
	EmogiQuery	query = {.resolution = 1.0, .theta = 0.01, .tolerance = 1e-7};
	const EmogiAlgorithm algorithms[] = {EMOGI_LOUVAIN, EMOGI_LEIDEN};

	for (int a = 0; a < 2; a++)
	{
		Answer		answer = make_answer(built.graph.nvertices);
		EmogiControl control = {0};
		EmogiError	error = {{0}, {0}};
		double		found;

		query.algorithm = algorithms[a];
		check_query(name, &built.graph, &query, 1);
		CHECK(engine->run(states[1], &built.graph, &query, &answer.result, &control, &error) ==
			  EMOGI_OK, "%s: %s", name, error.message);
		found = modularity(&built.graph, &answer.result, answer.result.nlevels - 1, 1.0);
		CHECK(found >= min_modularity, "%s: a modularity of %.5f", name, found);
		engines_check_cancel(name, &built.graph, &query, answer.result);
		free(answer.memory);
	}
	query.max_cluster_size = 10;
	check_query(name, &built.graph, &query, 1);
	emogi_built_graph_free(&built);
}

/*
 * Check the modularity on the karate club: the maximum is 0.4198, and Louvain finds more than 0.41
 * (both rounded down).
 */
static void
check_karate(void)
{
	EmogiShape	shape = karate_shape();
	EmogiGraph	graph = naive_build(&shape, NULL, EMOGI_BOTH, true);
	Answer		answer = make_answer(34);

	for (uint64_t seed = 0; seed < 20; seed++)
	{
		EmogiQuery query = {.algorithm = EMOGI_LEIDEN, .resolution = 1.0, .theta = 0.01,
			.seed = seed};
		EmogiControl control = {0};
		EmogiError	error;
		double		found;

		CHECK(engine->run(states[1], &graph, &query, &answer.result, &control, &error) == EMOGI_OK,
			  "karate club");
		found = modularity(&graph, &answer.result, answer.result.nlevels - 1, 1.0);
		CHECK(found >= 0.4188 && found < 0.4199,
			  "karate club, Leiden with seed %d: a modularity of %.5f", (int) seed, found);
		query.algorithm = EMOGI_LOUVAIN;
		CHECK(engine->run(states[1], &graph, &query, &answer.result, &control, &error) == EMOGI_OK,
			  "karate club");
		found = modularity(&graph, &answer.result, answer.result.nlevels - 1, 1.0);
		CHECK(found >= 0.38 && found < 0.4199,
			  "karate club, Louvain with seed %d: a modularity of %.5f", (int) seed, found);
	}
	free(answer.memory);
	naive_free(&graph);
}

/* Check that the verifier rejects communities that are too large, too small, or not connected. */
static void
check_verifier(void)
{
	EmogiShape	shape = karate_shape();
	EmogiGraph	graph = naive_build(&shape, NULL, EMOGI_BOTH, true);
	EmogiQuery	query = {.algorithm = EMOGI_LEIDEN, .resolution = 1.0};
	Answer		answer = make_answer(34);
	EmogiError	error;

	for (int kind = 0; kind < 3; kind++)
	{
		for (uint32_t v = 0; v < 34; v++)
		{
			const bool	alone = kind == 1 || v == 0 || (kind == 2 && v != 26);

			answer.result.columns[1].vertex[v] = alone ? v : 0;
			answer.result.columns[0].int32[v] = alone ? 1 : 0;
		}
		answer.result.nlevels = 1;
		for (int a = 0; a < 2; a++)
		{
			query.algorithm = a == 0 ? EMOGI_LEIDEN : EMOGI_LOUVAIN;
			query.max_levels = 1;
			query.resolution = kind == 0 ? 4.0 : 1.0;
			CHECK(!emogi_verify(&graph, &query, &answer.result, &error),
				  "communities of kind %d are accepted", kind);
		}
	}
	free(answer.memory);
	naive_free(&graph);
}

/*
 * Check a ring of 64 cliques of 6 vertices. The last level has 64 communities, or 32 if pairs are
 * merged. If the size is limited to 6, no clique is split.
 */
static void
check_cliques(void)
{
	EmogiShape	shape = {.name = "cliques", .edges = malloc(64 * 16 * sizeof(EmogiEdge))};
	Answer		answer = make_answer(384);
	EmogiGraph	graph;

	for (int64_t c = 0; c < 64; c++)
	{
		for (int64_t i = 0; i < 6; i++)
			for (int64_t j = i + 1; j < 6; j++)
				shape.edges[shape.nedges++] = (EmogiEdge) {c * 6 + i, c * 6 + j};
		shape.edges[shape.nedges++] = (EmogiEdge) {c * 6 + 5, (c + 1) % 64 * 6};
	}
	graph = naive_build(&shape, NULL, EMOGI_BOTH, true);
	for (int64_t size = 6; size < 1000; size += 900)
	{
		EmogiQuery query = {.algorithm = EMOGI_LEIDEN, .resolution = 1.0, .theta = 0.01,
			.max_cluster_size = size};
		EmogiControl control = {0};
		EmogiError	error;
		int			nsplit = 0;

		CHECK(engine->run(states[1], &graph, &query, &answer.result, &control, &error) == EMOGI_OK,
			  "cliques");
		for (uint32_t v = 0; v < 384; v++)
			nsplit += emogi_hierarchy_community(answer.result.columns[1].vertex,
												answer.result.columns[0].int32, v, 0) != v / 6 * 6;
		CHECK(size > 6 ? answer.result.nlevels == 1 : nsplit == 0,
			  "cliques of at most %d: %d vertices in other communities, %u levels", (int) size,
			  nsplit, answer.result.nlevels);
	}
	naive_free(&graph);
	free(shape.edges);
	free(answer.memory);
}

/*
 * Check that local moving terminates if a community has room for one neighbor, and several of each
 * batch want to join it.
 */
static void
check_star(void)
{
	EmogiShape	star = naive_star(LEAVES);
	EmogiGraph	graph = naive_build(&star, NULL, EMOGI_BOTH, true);
	EmogiQuery	query = {.resolution = 2.0 - 3.0 / LEAVES, .theta = 0.01, .max_levels = 1};
	const EmogiAlgorithm algorithms[] = {EMOGI_LOUVAIN, EMOGI_LEIDEN};
	Answer		answer = make_answer(graph.nvertices);

	for (int a = 0; a < 2; a++)
	{
		EmogiControl control = {0};
		EmogiError	error = {{0}, {0}};

		query.algorithm = algorithms[a];
		CHECK(engine->run(states[1], &graph, &query, &answer.result, &control, &error) == EMOGI_OK,
			  "star: %s", error.message);
		CHECK(answer.result.edges_traversed < MAX_SWEEPS * graph.forward.nedges,
			  "star: %llu edges traversed", (unsigned long long) answer.result.edges_traversed);
		CHECK(emogi_verify(&graph, &query, &answer.result, &error), "star: %s", error.message);
	}
	free(answer.memory);
	naive_free(&graph);
	free(star.edges);
}

/* Check that arguments out of range are refused, and that failed allocations are reported. */
static void
check_refused(void)
{
	EmogiShape	shape = {.name = "karate club", .edges = (EmogiEdge *) karate, .nedges = 2};
	const double weights[] = {1.7e308, 1.7e308};
	EmogiGraph	graph = naive_build(&shape, weights, EMOGI_BOTH, true);
	EmogiQuery	query = {.algorithm = EMOGI_LEIDEN, .resolution = 1.0, .theta = 0.01};
	Answer		answer = make_answer(3);
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};

	CHECK(engine->run(states[0], &graph, &query, &answer.result, &control, &error) ==
		  EMOGI_BAD_INPUT && error.message[0] != '\0', "a sum out of range");
	query.resolution = -1.0;
	CHECK(engine->run(states[0], &graph, &query, &answer.result, &control, &error) ==
		  EMOGI_BAD_INPUT, "a negative resolution");
	query.resolution = NAN;
	CHECK(engine->run(states[0], &graph, &query, &answer.result, &control, &error) ==
		  EMOGI_BAD_INPUT, "a resolution that is NaN");
	query.resolution = 1.0;
	query.max_levels = -3;
	CHECK(engine->run(states[0], &graph, &query, &answer.result, &control, &error) ==
		  EMOGI_BAD_INPUT, "negative max_levels");
	for (uint32_t n = 1; n < 8; n++)
	{
		control.fail_allocation = n;
		query.max_levels = 0;
		query.max_cluster_size = 1;
		naive_free(&graph);
		graph = naive_build(&shape, NULL, EMOGI_BOTH, true);
		CHECK(engine->run(states[1], &graph, &query, &answer.result, &control, &error) ==
			  (n <= 6 ? EMOGI_NO_MEMORY : EMOGI_OK), "allocation %u", n);
	}
	free(answer.memory);
	naive_free(&graph);
}

/* Check the logarithm, and that random choices have the expected probabilities. */
static void
check_choices(void)
{
	const EmogiGainParameters gains = {.theta = 0.5};
	uint64_t	counts[3] = {0};

	for (uint64_t i = 0; i < 100000; i++)
	{
		const double x = ldexp(1.0 + (double) (emogi_random(3, i) >> 12) * 0x1p-52,
							   (int) (i % 130) - 64);
		const double expected = log(x);

		CHECK(fabs(emogi_communities_log(x) - expected) <= 4e-15 * fmax(1.0, fabs(expected)),
			  "log(%.17g) is %.17g", x, emogi_communities_log(x));
	}
	for (uint64_t i = 0; i < 100000; i++)
	{
		EmogiBestCommunity	best = {.value = -(double) INFINITY, .community = EMOGI_NO_VERTEX};
		const uint64_t salt = emogi_communities_random(7, i);

		for (uint32_t c = 0; c < 3; c++)
			emogi_communities_offer_randomly(&best, &gains, salt, c * gains.theta, c, 0);
		counts[best.community]++;
	}
	for (int c = 0; c < 3; c++)
		CHECK(fabs((double) counts[c] / 1e5 - exp(c) / (1.0 + exp(1.0) + exp(2.0))) < 0.01,
			  "%d was chosen %llu times of 100000", c, (unsigned long long) counts[c]);
}

int
main(void)
{
	engines_open();
	check_choices();
	check_karate();
	check_verifier();
	check_cliques();
	check_refused();
	check_star();
	engines_check_shapes(NRANDOM, NKINDS, check_graph);
	check_large("kron", EMOGI_KRON, 14, 16, 0.05);
	check_large("grid", EMOGI_GRID, 16, 0, 0.94);
	engines_close();
	return check_report("test_communities");
}
