/*
 * test_lists.c: tests of the cpu engine's similarities, random walks, distance matrices, flows, and
 * sums over BFS levels.
 *
 * On all shapes, answers are checked by verifiers, which must detect changes, and must be
 * bit-identical for any number of threads. Steps of random walks must have the probabilities of
 * their definition, and the counter-based random numbers their published values. Failed allocations
 * and cancellation must end a run.
 */
#include "contract/philox.h"
#include "contract/query.h"
#include "contract/semirings.h"
#include "engines.h"
#include "karate.h"
#include "verify/verify.h"

#define MAX_DISTANCE_EDGES 100000	/* of graphs for 70 searches */
#define NRANDOM 150
#define MAX_VERTICES 5000		/* of graphs for top-k similarities of all vertices */
/* vertices; of larger graphs the verifier may check a sample */
#define MAX_VERIFIED_VERTICES 300
#define NPAIRS 300
#define NTARGETS 40
#define NWALKS 20000			/* from each source, to count steps */
#define LARGE 3000000			/* edges */

/* An answer. */
typedef struct Answer
{
	EmogiStatus status;
	EmogiResult result;
	EmogiError	error;
	uint64_t	length;
} Answer;

/* Run a query on an engine. */
static Answer
run_query(EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query,
		  uint32_t fail_allocation)
{
	EmogiControl control = {.fail_allocation = fail_allocation};
	const EmogiResultColumn *columns = emogi_algorithm_row(query->algorithm)->columns;
	Answer		answer = {.length = emogi_query_length(graph, query)};

	for (int i = 0; columns[i].name != NULL; i++)
		answer.result.columns[i].any = naive_alloc(answer.length,
												   emogi_algorithm_column_bytes(columns[i].type));
	answer.status = engine->run(state, graph, query, &answer.result, &control, &answer.error);
	return answer;
}

/* Free an answer. */
static void
free_answer(Answer *answer)
{
	for (int i = 0; i < EMOGI_MAX_COLUMNS; i++)
		free(answer->result.columns[i].any);
}

/* Return true if two answers to a query are bit-identical. */
static bool
same_bits(const EmogiQuery *query, const Answer *a, const Answer *b)
{
	const EmogiResultColumn *columns = emogi_algorithm_row(query->algorithm)->columns;
	bool		same = a->length == b->length;

	for (int i = 0; columns[i].name != NULL; i++)
		same = same &&
			memcmp(a->result.columns[i].any, b->result.columns[i].any,
				   a->length * emogi_algorithm_column_bytes(columns[i].type)) == 0;
	return same;
}

/* Check that the verifier detects a changed element. */
static void
check_detected(const char *name, const EmogiGraph *graph, const EmogiQuery *query, Answer *answer,
			   uint64_t seed)
{
	const uint64_t i = emogi_random(seed, 5) % answer->length;
	uint32_t   *vertex = &answer->result.columns[0].vertex[i];
	EmogiError	error = {{0}, {0}};

	*vertex ^= UINT32_C(0x40000000);
	CHECK(!emogi_verify(graph, query, &answer->result, &error),
		  "%s: the verifier missed a change of vertex %llu", name, (unsigned long long) i);
	*vertex ^= UINT32_C(0x40000000);
	if (query->algorithm != EMOGI_SIMILARITY || *vertex == EMOGI_NO_VERTEX)
		return;
	answer->result.columns[1].float64[i] *= 0.99;
	answer->result.columns[1].float64[i] += 0.001;
	CHECK(!emogi_verify(graph, query, &answer->result, &error),
		  "%s: the verifier missed a change of similarity %llu", name, (unsigned long long) i);
}

/* Check that the verifier detects a changed flow. */
static void
check_flow_detected(const char *name, const EmogiGraph *graph, const EmogiQuery *query,
					Answer *answer, uint64_t seed)
{
	const uint64_t i = emogi_random(seed, 5) % answer->length;
	double	   *flow = &answer->result.columns[0].float64[i];
	EmogiError	error = {{0}, {0}};

	*flow = *flow * 1.5 + 1.0;
	CHECK(!emogi_verify(graph, query, &answer->result, &error),
		  "%s: the verifier missed a change of flow %llu", name, (unsigned long long) i);
}

/* Run a query on all engines, and with failing allocations, and check the answers. */
static void
check_query(const char *name, const EmogiGraph *graph, const EmogiQuery *query, uint64_t seed)
{
	Answer		first = run_query(states[0], graph, query, 0);

	CHECK(first.status == EMOGI_OK && emogi_verify(graph, query, &first.result, &first.error),
		  "%s: status %d %s", name, first.status, first.error.message);
	for (int e = 1; e < NENGINES; e++)
	{
		Answer		other = run_query(states[e], graph, query, 0);

		CHECK(other.status == EMOGI_OK && same_bits(query, &first, &other),
			  "%s: not bit-identical to one thread", name);
		free_answer(&other);
	}
	for (uint32_t allocation = 1; allocation < 3; allocation++)
	{
		Answer		other = run_query(states[1], graph, query, allocation);

		CHECK(other.status == EMOGI_NO_MEMORY || other.status == EMOGI_OK,
			  "%s: status %d without memory", name, other.status);
		free_answer(&other);
	}
	if (first.length > 0 &&
		emogi_algorithm_row(query->algorithm)->weights == EMOGI_WEIGHTS_CAPACITIES)
		check_flow_detected(name, graph, query, &first, seed);
	else if (first.length > 0 &&
			 (query->algorithm != EMOGI_SIMILARITY || query->pairs != NULL ||
			  graph->nvertices <= MAX_VERIFIED_VERTICES))
		check_detected(name, graph, query, &first, seed);
	free_answer(&first);
}

/* Check the similarities of pairs. */
static void
check_pairs(const char *name, const EmogiGraph *graph, EmogiQuery query, uint64_t seed)
{
	uint32_t	pairs[NPAIRS][2];

	for (uint64_t i = 0; i < NPAIRS; i++)
		for (uint64_t k = 0; k < 2; k++)
			pairs[i][k] = graph->nvertices == 0 ? 0
				: (uint32_t) (emogi_random(seed + k, i) %
							  (i % 3 == 0 && graph->nvertices > 20 ? 20 : graph->nvertices));
	query.pairs = pairs[0];
	query.npairs = graph->nvertices == 0 ? 0 : NPAIRS;
	check_query(name, graph, &query, seed);
}

/* Check that the top-k similarities of some vertices equal those in the answer for all vertices. */
static void
check_targets(const char *name, const EmogiGraph *graph, EmogiQuery query, uint64_t seed)
{
	uint32_t	targets[NTARGETS];
	Answer		all = run_query(states[0], graph, &query, 0);
	Answer		some;

	query.targets = targets;
	query.ntargets = graph->nvertices == 0 ? 0 : 1 + seed % NTARGETS;
	for (uint64_t i = 0; i < query.ntargets; i++)
		targets[i] = (uint32_t) (emogi_random(seed + 5, i) % graph->nvertices);
	check_query(name, graph, &query, seed);
	some = run_query(states[0], graph, &query, 0);
	for (uint64_t i = 0; i < some.length; i++)
	{
		const uint64_t k = (uint64_t) query.top_k;
		const uint64_t same = query.ntargets > 0 ? targets[i / k] * k + i % k : i;

		CHECK(some.result.columns[0].vertex[i] == all.result.columns[0].vertex[same] &&
			  some.result.columns[1].float64[i] == all.result.columns[1].float64[same],
			  "%s: element %llu of targets", name, (unsigned long long) i);
	}
	free_answer(&some);
	free_answer(&all);
}

/* Check similarities. */
static void
check_similarity(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	EmogiQuery query = {.algorithm = EMOGI_SIMILARITY, .measure = (EmogiMeasure) (seed % 3),
		.top_k = 1 + (int64_t) (emogi_random(seed, 1) % 20)};

	if (seed % 2 == 0)
		query.cutoff = (double) (emogi_random(seed, 2) % 100) / 150.0;
	check_pairs(name, graph, query, seed);
	if (graph->nvertices <= MAX_VERTICES && graph->backward.offsets != NULL)
	{
		check_query(name, graph, &query, seed);
		check_targets(name, graph, query, seed);
	}
}

/* Check random walks. */
static void
check_walks(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	static const double biases[] = {1.0, 0.25, 4.0, 1e-100, 1e100, 1.0};
	uint32_t	sources[40];
	EmogiQuery	query = {.algorithm = EMOGI_RANDOM_WALK, .nsources = 40, .sources = sources,
		.walks = 1 + (int64_t) (seed % 4), .length = (int64_t) (seed % 13), .seed = seed,
		.return_parameter = biases[emogi_random(seed, 3) % 6],
		.in_out_parameter = biases[emogi_random(seed, 4) % 6]};

	if (graph->nvertices == 0)
		query.nsources = 0;
	for (uint64_t i = 0; i < query.nsources; i++)
		sources[i] = (uint32_t) (emogi_random(seed + 9, i) % graph->nvertices);
	check_query(name, graph, &query, seed);
	query.is_weighted = true;
	check_query(name, graph, &query, seed);
}

/*
 * Check distances, from few sources and from more than one batch, to targets with duplicates in any
 * order, or ascending.
 */
static void
check_distances(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	uint32_t	sources[70];
	uint32_t	targets[9];
	EmogiQuery	query = {.algorithm = EMOGI_DISTANCE_MATRIX,
		.nsources = seed % 3 == 0 ? 70 : 1 + seed % 5, .sources = sources,
		.ntargets = emogi_random(seed, 50) % 10, .targets = targets};

	if (graph->nvertices == 0 || graph->forward.nedges > MAX_DISTANCE_EDGES)
		return;
	for (uint64_t i = 0; i < query.nsources; i++)
		sources[i] = (uint32_t) (emogi_random(seed + 51, i) % graph->nvertices);
	for (uint64_t i = 0; i < query.ntargets; i++)
		targets[i] = seed % 4 == 0 ? (uint32_t) (emogi_random(seed + 52, i) % graph->nvertices)
			: (uint32_t) (i * graph->nvertices / query.ntargets);
	check_query(name, graph, &query, seed);
}

/*
 * Check sums over BFS levels, from few sources and from more than one batch, one third of them
 * duplicates, bounded or not.
 */
static void
check_sums(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	static const int64_t depths[] = {-1, -1, 0, 2, 70};
	uint32_t	sources[150];
	EmogiQuery	query = {.algorithm = EMOGI_BFS_SUMS, .sources = sources,
		.nsources = seed % 3 == 0 ? 150 : 1 + seed % 70, .max_depth = depths[seed % 5],
		.first_level = seed % 2 == 0 ? 0 : (uint32_t) (seed % 4)};

	if (graph->nvertices == 0 || graph->forward.nedges > MAX_DISTANCE_EDGES)
		return;
	for (uint64_t i = 0; i < query.nsources; i++)
		sources[i] = i % 3 == 2 ? sources[i / 2]
			: (uint32_t) (emogi_random(seed + 53, i) % graph->nvertices);
	check_query(name, graph, &query, seed);
}

/* Check flows and cuts between one or several sources and targets. */
static void
check_flows(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	static const EmogiAlgorithm algorithms[] = {EMOGI_MAX_FLOW, EMOGI_MAX_FLOW_EDGES,
	EMOGI_MIN_CUT};
	uint32_t	ends[6];
	EmogiQuery query = {.nsources = 1 + seed % 3, .sources = ends, .ntargets = 1 + seed % 2,
		.targets = ends + 3};

	if (graph->nvertices < 6 || graph->backward.offsets == NULL ||
		graph->forward.nedges > MAX_DISTANCE_EDGES)
		return;
	for (uint64_t i = 0; i < 6; i++)
		ends[i] = (uint32_t) (i * (graph->nvertices / 6) + emogi_random(seed + 54, i) %
							  (graph->nvertices / 6));
	for (int a = 0; a < 3; a++)
	{
		query.algorithm = algorithms[a];
		check_query(name, graph, &query, seed);
	}
}

/* Check that a vertex that is both a source and a target is refused. */
static void
check_refused(const EmogiGraph *graph)
{
	const uint32_t ends[] = {2, 5, 3, 5};
	const EmogiQuery query = {.algorithm = EMOGI_MIN_CUT, .nsources = 2, .sources = ends,
		.ntargets = 2, .targets = ends + 2};
	Answer		answer = run_query(states[1], graph, &query, 0);

	CHECK(answer.status == EMOGI_BAD_INPUT && answer.result.refusal.kind == EMOGI_ENDS_MEET &&
		  answer.result.refusal.cycle[0] == 5 && answer.error.message[0] != '\0',
		  "a source that is a target: status %d", answer.status);
	free_answer(&answer);
}

/* Check all queries on a graph. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	check_similarity(name, graph, seed);
	check_walks(name, graph, seed);
	check_distances(name, graph, seed);
	check_sums(name, graph, seed);
	check_flows(name, graph, seed);
}

/*
 * Return the probability of a step of a walk that came from `before`, by the definition: the
 * weights of the list, divided by p or q.
 */
static double
step_probability(const EmogiGraph *graph, const EmogiQuery *query, uint32_t before, uint32_t v,
				 uint32_t to)
{
	const uint64_t *offsets = graph->forward.offsets;
	double		all = 0.0;
	double		selected = 0.0;

	for (uint64_t e = offsets[v]; e < offsets[v + 1]; e++)
	{
		const uint32_t w = graph->forward.targets[e];
		double		weight = query->is_weighted
			? emogi_weight(graph->forward.weights, graph->weight_type, e) : 1.0;
		bool		is_neighbor = false;

		for (uint64_t b = offsets[before]; b < offsets[before + 1]; b++)
			is_neighbor |= graph->forward.targets[b] == w;
		weight /= w == before ? query->return_parameter : is_neighbor ? 1.0
			: query->in_out_parameter;
		all += weight;
		selected += w == to ? weight : 0.0;
	}
	return selected / all;
}

/*
 * Count the second steps of many walks, and compare them with their expected values. The
 * differences must be a few standard deviations at most.
 */
static void
check_probabilities(const char *name, const EmogiGraph *graph, double p, double q, bool is_weighted)
{
	const uint32_t sources[] = {0, 2, 33};
	const EmogiQuery query = {.algorithm = EMOGI_RANDOM_WALK, .nsources = 3, .sources = sources,
		.walks = NWALKS, .length = 2, .seed = 42, .return_parameter = p, .in_out_parameter = q,
		.is_weighted = is_weighted};
	Answer		answer = run_query(states[1], graph, &query, 0);
	uint64_t	ncompared = 0;

	for (uint32_t s = 0; s < 3; s++)
	{
		uint64_t	counts[KARATE_VERTICES][KARATE_VERTICES] = {{0}};
		uint64_t	firsts[KARATE_VERTICES] = {0};

		for (uint64_t i = 0; i < NWALKS; i++)
		{
			const uint32_t *path = answer.result.columns[0].vertex + (s * NWALKS + i) * 3;

			firsts[path[1]]++;
			counts[path[1]][path[2]]++;
		}
		for (uint32_t v = 0; v < KARATE_VERTICES; v++)
			for (uint32_t w = 0; w < KARATE_VERTICES && firsts[v] > 0; w++)
			{
				const double probability = step_probability(graph, &query, sources[s], v, w);
				const double expected = (double) firsts[v] * probability;
				const double deviation = sqrt(expected * (1.0 - probability));

				CHECK(fabs((double) counts[v][w] - expected) <= 4.5 * deviation + 4.0,
					  "%s: %u -> %u -> %u: %llu of %llu walks, %.1f expected", name, sources[s], v,
					  w, (unsigned long long) counts[v][w], (unsigned long long) firsts[v],
					  expected);
				ncompared += probability > 0.0;
			}
	}
	CHECK(ncompared > 100, "%s: only %llu steps compared", name, (unsigned long long) ncompared);
	free_answer(&answer);
}

/*
 * Check the probabilities of walks on the karate club, for p and q that use rejection sampling, and
 * for such that scan whole lists.
 */
static void
check_karate(void)
{
	EmogiShape	shape = karate_shape();
	double	   *weights = naive_weights(1, 7, shape.nedges);
	EmogiGraph	graph = naive_build(&shape, weights, EMOGI_BOTH, false);

	check_probabilities("p 1, q 1", &graph, 1.0, 1.0, false);
	check_probabilities("p 0.25, q 4", &graph, 0.25, 4.0, false);
	check_probabilities("p 4, q 0.5, weights", &graph, 4.0, 0.5, true);
	check_probabilities("p 1e-4, q 1e4, weights", &graph, 1e-4, 1e4, true);
	check_probabilities("p 1000, q 1000", &graph, 1000.0, 1000.0, false);
	naive_free(&graph);
	free(weights);
}

/*
 * Check random numbers against the known answers of the authors' library Random123 (kat_vectors,
 * philox4x32, 10 rounds).
 */
static void
check_philox(void)
{
	const EmogiRandom zero = emogi_philox(0, 0, 0, 0, 0);
	const EmogiRandom ones = emogi_philox(UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
										  UINT32_MAX);

	CHECK(zero.words[0] == 0x6627e8d5 && zero.words[1] == 0xe169c58d &&
		  zero.words[2] == 0xbc57ac4c && zero.words[3] == 0x9b00dbd8, "philox of 0");
	CHECK(ones.words[0] == 0x408f276d && ones.words[1] == 0x41c83b0e &&
		  ones.words[2] == 0xa20bc7c6 && ones.words[3] == 0x6d5451fd, "philox of ones");
	CHECK(emogi_random_unit(UINT64_MAX) < 1.0 && emogi_random_unit(2047) == 0.0, "numbers below 1");
}

/* Check a graph that is large enough for all threads, and cancel before and during a run. */
static void
check_large(void)
{
	uint32_t	sources[1000];
	EmogiQuery	similarity = {.algorithm = EMOGI_SIMILARITY, .top_k = 10};
	EmogiQuery walk = {.algorithm = EMOGI_RANDOM_WALK, .nsources = 1000, .sources = sources,
		.walks = 50, .length = 100, .return_parameter = 0.5, .in_out_parameter = 2.0};
	const EmogiQuery sums = {.algorithm = EMOGI_BFS_SUMS, .nsources = 1000, .sources = sources,
		.max_depth = -1};
	const EmogiQuery flow = {.algorithm = EMOGI_MAX_FLOW_EDGES, .nsources = 500, .sources = sources,
		.ntargets = 500, .targets = sources + 500};
	EmogiShape shape = {.name = "large", .nedges = LARGE,
		.edges = malloc(LARGE * sizeof(EmogiEdge))};
	EmogiGraph	graph;
	Answer		answer;

	for (uint64_t i = 0; i < LARGE; i++)
		shape.edges[i] = (EmogiEdge) {(int64_t) (emogi_random(1, i) %
												 (emogi_random(2, i) % 65536 + 1)),
			(int64_t) (emogi_random(3, i) % 65536)};
	for (uint32_t i = 0; i < 1000; i++)
		sources[i] = i;
	graph = naive_build(&shape, NULL, EMOGI_OUT, true);
	check_pairs("large", &graph, similarity, 1);
	check_query("large", &graph, &walk, 1);
	answer = run_query(states[1], &graph, &walk, 0);
	engines_check_cancel("walks", &graph, &walk, answer.result);
	free_answer(&answer);
	check_query("large", &graph, &sums, 1);
	answer = run_query(states[1], &graph, &sums, 0);
	engines_check_cancel("sums of levels", &graph, &sums, answer.result);
	free_answer(&answer);
	answer = run_query(states[1], &graph, &flow, 0);
	engines_check_cancel("flows", &graph, &flow, answer.result);
	free_answer(&answer);
	check_refused(&graph);
	answer = (Answer) {.length = emogi_query_length(&graph, &similarity)};
	answer.result.columns[0].any = naive_alloc(answer.length, 4);
	answer.result.columns[1].any = naive_alloc(answer.length, 8);
	engines_check_cancel("similarities", &graph, &similarity, answer.result);
	free_answer(&answer);
	naive_free(&graph);
	emogi_shape_free(&shape);
}

int
main(void)
{
	engines_open();
	check_philox();
	check_karate();
	engines_check_shapes(NRANDOM, 7, check_graph);	/* finite weights */
	check_large();
	engines_close();
	return check_report("test_lists");
}
