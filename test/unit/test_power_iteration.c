/*
 * test_power_iteration.c: tests of the cpu engine's hubs and authorities, eigenvector centrality,
 * and Katz centrality against iterations in long double.
 *
 * Answers must be bit-identical for any number of threads. An alpha whose convergence is not proven
 * is refused, and the proposed one must be accepted. The verifiers must detect changes. Failed
 * allocations and cancellation must end a run.
 */
#include "cpu/cpu.h"
#include "engines.h"
#include "contract/semirings.h"
#include "verify/verify.h"

#include <float.h>

#define NRANDOM 60
#define MANY 600				/* with this many vertices and edges, fewer iterations are made */
#define VERY_MANY 50000
#define FINITE_KINDS 7			/* kinds of weights from this one on have sums that overflow */
#define ROUNDING 1e-9
#define NCOLUMNS 2

static uint64_t nanswered;
static uint64_t nrefused[2];	/* [0] that diverge, [1] that have not converged */

/* An answer, or a refusal. */
typedef struct Answer
{
	EmogiStatus status;
	EmogiResult result;
	EmogiError	error;
	double	   *memory;			/* [NCOLUMNS][nvertices + 1] */
} Answer;

/* Run a query on an engine. */
static Answer
run_query(EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query,
		  uint32_t fail_allocation)
{
	const uint64_t n = graph->nvertices;
	EmogiControl control = {.fail_allocation = fail_allocation};
	Answer		answer = {.memory = malloc(NCOLUMNS * (n + 1) * sizeof(double))};

	memset(answer.memory, 0x55, NCOLUMNS * (n + 1) * sizeof(double));
	for (uint64_t i = 0; i < NCOLUMNS; i++)
		answer.result.columns[i].float64 = answer.memory + i * (n + 1);
	answer.status = engine->run(state, graph, query, &answer.result, &control, &answer.error);
	for (uint64_t i = 0; i < NCOLUMNS; i++)
		CHECK(((unsigned char *) (answer.memory + i * (n + 1) + n))[0] == 0x55,
			  "wrote beyond the end of column %d", (int) i);
	return answer;
}

/* Sum over adjacency lists, weighted if the query is. */
static void
sum_lists(const EmogiGraph *graph, const EmogiAdjacency *lists, const EmogiQuery *query,
		  const long double *from, long double *to)
{
	const EmogiWeightType type = query->is_weighted ? graph->weight_type : EMOGI_WEIGHT_NONE;

	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		to[v] = 0;
		for (uint64_t i = lists->offsets[v]; i < lists->offsets[v + 1]; i++)
			to[v] += from[lists->targets[i]] * emogi_weight(lists->weights, type, i);
	}
}

/* Divide values by their norm: the sum (power 1), or the root of the sum of squares (power 2). */
static void
normalize(uint64_t n, long double *value, int power)
{
	long double total = 0;

	for (uint64_t v = 0; v < n; v++)
		total += power == 1 ? value[v] : value[v] * value[v];
	total = power == 1 ? total : sqrtl(total);
	for (uint64_t v = 0; v < n; v++)
		value[v] = total > 0 ? value[v] / total : 0;
}

/* Return the power of two, at least 1, that scales the maximum weight to more than 0.5. */
static long double
weight_scale(const EmogiGraph *graph, const EmogiQuery *query)
{
	const EmogiWeightType type = query->is_weighted ? graph->weight_type : EMOGI_WEIGHT_NONE;
	long double heaviest = 0,
				scale = 1;

	for (uint64_t i = 0; type != EMOGI_WEIGHT_NONE && i < graph->forward.nedges; i++)
		heaviest = fmaxl(heaviest, emogi_weight(graph->forward.weights, type, i));
	while (heaviest > 0 && heaviest * scale < 0.5L)
		scale *= 2;
	return scale;
}

/*
 * Compute the columns after some iterations; returns the change of the last one. columns:
 * [NCOLUMNS][n].
 */
static long double
iterate_in_long_double(const EmogiGraph *graph, const EmogiQuery *query, uint32_t iterations,
					   long double *columns)
{
	const uint64_t n = graph->nvertices;
	const bool	is_hits = query->algorithm == EMOGI_HITS;
	const long double scale = weight_scale(graph, query);
	long double *before = malloc((n + 1) * sizeof(long double));
	long double change = 0;

	for (uint64_t v = 0; v < n; v++)
		columns[v] = is_hits ? 1 / (long double) n : 1 / sqrtl((long double) n);
	for (uint32_t k = 0; k < iterations; k++)
	{
		memcpy(before, columns, n * sizeof(long double));
		change = 0;
		if (is_hits)
		{
			sum_lists(graph, &graph->forward, query, before, columns + n);
			normalize(n, columns + n, 1);
			sum_lists(graph, &graph->backward, query, columns + n, columns);
			normalize(n, columns, 1);
		}
		else
		{
			sum_lists(graph, &graph->forward, query, before, columns);
			for (uint64_t v = 0; v < n; v++)
				columns[v] = before[v] + scale * columns[v];
			normalize(n, columns, 2);
		}
		for (uint64_t v = 0; v < n; v++)
		{
			const long double by = fabsl(columns[v] - before[v]);

			change = is_hits ? change + by : by > change ? by : change;
		}
	}
	free(before);
	return change;
}

/* The outcome of a Katz query. */
typedef struct Outcome
{
	EmogiRefusalKind kind;
	uint32_t	iterations;
	long double change;
	bool		is_close;		/* it may depend on rounding */
} Outcome;

/* Return true if two numbers are equal up to rounding. */
static bool
is_near(long double a, long double b)
{
	return fabsl(a - b) <= 1e-12L * (fabsl(a) + fabsl(b));
}

/* Sum over walks of increasing length; returns the outcome of the query. */
static Outcome
katz_in_long_double(const EmogiGraph *graph, const EmogiQuery *query, long double *value)
{
	const uint64_t n = graph->nvertices;
	long double *added = malloc((n + 1) * sizeof(long double));
	long double *next = malloc((n + 1) * sizeof(long double));
	Outcome		outcome = {.kind = EMOGI_HAS_NOT_CONVERGED};
	bool		proven = false;
	bool		continues = true;

	for (uint64_t v = 0; v < n; v++)
		value[v] = added[v] = 1;
	while (continues && outcome.iterations < query->max_iterations)
	{
		long double max = 0,
					largest = 0;
		bool		shrinks = false;
		bool		underflows = false;

		sum_lists(graph, &graph->forward, query, added, next);
		for (uint64_t v = 0; v < n; v++)
		{
			next[v] *= query->alpha;
			shrinks |= next[v] < added[v] && !is_near(next[v], added[v]);
			outcome.is_close |= next[v] > 0 && is_near(next[v], added[v]);
			underflows |= next[v] > 0 && next[v] < 1e-290L;
			value[v] += next[v];
			max = next[v] > max ? next[v] : max;
			largest = value[v] > largest ? value[v] : largest;
			added[v] = next[v];
		}
		outcome.iterations++;
		outcome.change = fabsl(query->beta) * max;
		outcome.is_close = (outcome.is_close && !shrinks) || is_near(max, 1) ||
			is_near(outcome.change, query->tolerance) || underflows;
		proven |= max < 1;
		continues = !outcome.is_close && largest <= DBL_MAX && (shrinks || proven) &&
			!(proven && outcome.change < query->tolerance);
		if (!continues)
			outcome.kind = largest > DBL_MAX || (!shrinks && !proven) ? EMOGI_DIVERGES
				: EMOGI_NOT_REFUSED;
	}
	if (continues && proven && query->tolerance == 0)
		outcome.kind = EMOGI_NOT_REFUSED;
	if (query->normalized && query->beta != 0)
		normalize(n, value, 2);
	for (uint64_t v = 0; v < n; v++)
		value[v] *= !query->normalized || query->beta == 0 ? query->beta : query->beta < 0 ? -1 : 1;
	free(added);
	free(next);
	return outcome;
}

/*
 * Count the values that differ from the expected ones by more than rounding errors, relative to the
 * maximum.
 */
static uint64_t
count_wrong(uint64_t n, const double *value, const long double *expected)
{
	long double scale = 0;
	uint64_t	nwrong = 0;

	for (uint64_t v = 0; v < n; v++)
		scale = fabsl(expected[v]) > scale ? fabsl(expected[v]) : scale;
	for (uint64_t v = 0; v < n; v++)
		nwrong += !(fabsl(value[v] - expected[v]) <= ROUNDING * scale);
	return nwrong;
}

/* Check a refusal: the proposed alpha must be accepted, or be converging. */
static void
check_refusal(const char *name, const EmogiGraph *graph, EmogiQuery query,
			  const EmogiResult *result)
{
	Answer		other;

	CHECK(result->refusal.rate > 0.0, "%s: a rate of %g", name, result->refusal.rate);
	nrefused[result->refusal.kind == EMOGI_HAS_NOT_CONVERGED]++;
	query.alpha *= 0.99 / result->refusal.rate;
	query.max_iterations = graph->forward.nedges > MANY ? 50 : 500;
	other = run_query(states[0], graph, &query, 0);
	CHECK(other.status == EMOGI_OK || other.result.refusal.rate < 1.0,
		  "%s: alpha %.17g is proposed and refused, rate %g", name, query.alpha,
		  other.result.refusal.rate);
	free(other.memory);
}

/* Compare an answer with the expected one. */
static void
compare(const char *name, const EmogiGraph *graph, const EmogiQuery *query, const Answer *answer)
{
	const uint64_t n = graph->nvertices;
	long double *expected = calloc(NCOLUMNS * n + 1, sizeof(long double));
	long double change;
	bool		is_close = false;

	if (query->algorithm == EMOGI_KATZ)
	{
		const Outcome	outcome = katz_in_long_double(graph, query, expected);

		is_close = outcome.is_close;
		change = outcome.change;
		CHECK(is_close ||
			  (outcome.kind == answer->result.refusal.kind &&
			   outcome.iterations == answer->result.nlevels),
			  "%s: alpha %.17g: %d after %u iterations, not %d after %u", name, query->alpha,
			  (int) answer->result.refusal.kind, answer->result.nlevels, (int) outcome.kind,
			  outcome.iterations);
	}
	else
		change = iterate_in_long_double(graph, query, answer->result.nlevels, expected);
	if (answer->status == EMOGI_OK && !is_close)
	{
		CHECK(count_wrong(n, answer->result.columns[0].float64, expected) == 0,
			  "%s: %s are wrong after %u iterations", name,
			  emogi_algorithm_row(query->algorithm)->name, answer->result.nlevels);
		CHECK(query->algorithm != EMOGI_HITS ||
			  count_wrong(n, answer->result.columns[1].float64, expected + n) == 0,
			  "%s: authorities are wrong after %u iterations", name, answer->result.nlevels);
		CHECK(fabsl(change - answer->result.change) <= ROUNDING * (1 + change),
			  "%s: a change of %g, not %Lg", name, answer->result.change, change);
	}
	free(expected);
}

/*
 * Check that the verifier detects a changed value, two swapped values, and a wrong number of
 * iterations.
 */
static void
check_detected(const char *name, const EmogiGraph *graph, const EmogiQuery *query, Answer *answer,
			   uint64_t seed)
{
	const uint64_t v = emogi_random(seed, 77) % graph->nvertices;
	const uint64_t w = emogi_random(seed, 78) % graph->nvertices;
	const int	ncolumns = query->algorithm == EMOGI_HITS ? 2 : 1;

	for (int i = 0; i < ncolumns; i++)
	{
		double	   *value = answer->result.columns[i].float64;
		const double by = 0.125 + fabs(value[v]);
		const double was[] = {value[v], value[w]};
		EmogiError	error = {{0}, {0}};

		value[v] += by;
		CHECK((query->algorithm == EMOGI_KATZ &&
			   answer->result.change > 1e-3 * fabs(query->beta)) ||
			  !emogi_verify(graph, query, &answer->result, &error),
			  "%s: %s: the verifier missed a changed value of vertex %llu", name,
			  emogi_algorithm_row(query->algorithm)->name, (unsigned long long) v);
		value[v] = -was[0] - 1e-6;
		CHECK((query->algorithm == EMOGI_KATZ && query->beta < 0) ||
			  !emogi_verify(graph, query, &answer->result, &error),
			  "%s: the verifier missed a negative value", name);
		value[v] = was[0];
		if (was[0] != was[1] && fabs(was[0] - was[1]) > 1e-3 && answer->result.change < 1e-7 &&
			query->algorithm == EMOGI_EIGENVECTOR &&
			graph->forward.offsets[v + 1] == graph->forward.offsets[v] + 1 &&
			graph->forward.targets[graph->forward.offsets[v]] == v)
		{
			value[v] = was[1];
			value[w] = was[0];
			CHECK(!emogi_verify(graph, query, &answer->result, &error),
				  "%s: the verifier missed two swapped values", name);
			value[v] = was[0];
			value[w] = was[1];
		}
	}
	answer->result.nlevels++;
	CHECK(query->tolerance > 0.0 || !emogi_verify(graph, query, &answer->result, &answer->error),
		  "%s: the verifier missed an additional iteration", name);
	answer->result.nlevels--;
}

/* Run a query on all engines, and with failing allocations, and check the answers. */
static void
check_query(const char *name, const EmogiGraph *graph, const EmogiQuery *query, uint64_t seed,
			bool naive)
{
	const uint64_t n = graph->nvertices;
	Answer		first = run_query(states[0], graph, query, 0);
	const bool refused = first.status == EMOGI_BAD_INPUT && query->algorithm == EMOGI_KATZ &&
		first.result.refusal.kind != EMOGI_NOT_REFUSED;

	CHECK(first.status == EMOGI_OK || refused, "%s: status %d %s", name, first.status,
		  first.error.message);
	nanswered += first.status == EMOGI_OK;
	for (int e = 1; e < NENGINES; e++)
	{
		Answer		other = run_query(states[e], graph, query, 0);

		CHECK(other.status == first.status &&
			  memcmp(&other.result.refusal, &first.result.refusal, sizeof first.result.refusal) ==
			  0 && other.result.nlevels == first.result.nlevels &&
			  other.result.change == first.result.change, "%s: other iterations", name);
		CHECK(first.status != EMOGI_OK ||
			  memcmp(first.memory, other.memory, NCOLUMNS * (n + 1) * sizeof(double)) == 0,
			  "%s: not bit-identical to one thread", name);
		free(other.memory);
	}
	for (uint32_t allocation = 1;
		 naive && allocation < (n + graph->forward.nedges > VERY_MANY ? 2 : 6); allocation++)
	{
		Answer		other = run_query(states[1], graph, query, allocation);

		CHECK(other.status == EMOGI_NO_MEMORY || other.status == first.status,
			  "%s: status %d without memory", name, other.status);
		free(other.memory);
	}
	if (first.status == EMOGI_OK)
		CHECK(emogi_verify(graph, query, &first.result, &first.error), "%s: %s: %s", name,
			  emogi_algorithm_row(query->algorithm)->name, first.error.message);
	if (naive && n > 0)
		compare(name, graph, query, &first);
	if (refused && naive)
		check_refusal(name, graph, *query, &first.result);
	else if (!refused && naive && n > 0)
		check_detected(name, graph, query, &first, seed);
	free(first.memory);
}

/* Return the maximum weight of an adjacency list, at least 1. */
static double
heaviest_list(const EmogiGraph *graph, bool is_weighted)
{
	const EmogiWeightType type = is_weighted ? graph->weight_type : EMOGI_WEIGHT_NONE;
	double		max = 1.0;

	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		double		weight = 0.0;

		for (uint64_t i = graph->forward.offsets[v]; i < graph->forward.offsets[v + 1]; i++)
			weight += emogi_weight(graph->forward.weights, type, i);
		max = weight > max ? weight : max;
	}
	return max;
}

/* Check queries on a graph, weighted or not. */
static void
check_both_weights(const char *name, const EmogiGraph *graph, uint64_t seed, bool is_weighted,
				   bool naive)
{
	static const double alphas[] = {0.0, 0.3, 0.9, 0.97, 1.7, 6.1, 1e3};
	static const double betas[] = {1.0, 1.0, -2.5, 0.0, 1e-12, 1e200};
	const double tolerances[] = {0.0, 1e-3, 1e-12};
	const uint64_t size = graph->nvertices + graph->forward.nedges;
	const int64_t max = naive && size > VERY_MANY ? 3 : !naive || size > MANY ? 12 : 200;
	EmogiQuery	query = {.is_weighted = is_weighted};

	for (uint64_t turn = 0; turn < (size <= MANY ? 3 : naive ? 1 : 2); turn++)
	{
		query.tolerance = tolerances[turn];
		query.max_iterations = turn == 0 ? 1 + (int64_t) (seed % 20) : turn == 1 ? 40 : 200;
		query.max_iterations = query.max_iterations < max ? query.max_iterations : max;
		query.algorithm = EMOGI_EIGENVECTOR;
		check_query(name, graph, &query, seed, naive);
		query.algorithm = EMOGI_HITS;
		if (graph->backward.offsets != NULL)
			check_query(name, graph, &query, seed, naive);
		query.algorithm = EMOGI_KATZ;
		for (uint64_t i = 0; i < 3; i++)
		{
			query.alpha = alphas[(seed + 3 * turn + i) % 7] / heaviest_list(graph, is_weighted);
			query.beta = betas[emogi_random(seed, turn * 3 + i) % 6];
			query.normalized = emogi_random(seed, 100 + turn * 3 + i) % 2 == 0;
			check_query(name, graph, &query, seed, naive);
		}
	}
}

static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	if (graph->weight_type == EMOGI_WEIGHT_NONE || seed % 4 == 0)
		check_both_weights(name, graph, seed, false, true);
	if (graph->weight_type != EMOGI_WEIGHT_NONE)
		check_both_weights(name, graph, seed, true, true);
}

/* Check a graph that is large enough for all threads, and cancel before and during a run. */
static void
check_large(const char *name, const EmogiGraph *graph)
{
	static const EmogiAlgorithm algorithms[] = {EMOGI_EIGENVECTOR, EMOGI_KATZ, EMOGI_HITS};
	const uint64_t n = graph->nvertices;
	double	   *memory = malloc(NCOLUMNS * (n + 1) * sizeof(double));

	check_both_weights(name, graph, 5, false, false);
	for (int a = 0; a < 3; a++)
	{
		const EmogiQuery query = {.algorithm = algorithms[a],
			.alpha = 0.5 / heaviest_list(graph, false), .beta = 1.0, .max_iterations = INT64_MAX};

		if (algorithms[a] != EMOGI_HITS || graph->backward.offsets != NULL)
			engines_check_cancel(name, graph, &query,
								 (EmogiResult) {.columns = {{.float64 = memory},
				{.float64 = memory + n + 1}}});
	}
	free(memory);
}

/* Check generated graphs, and one with a list so long that it must be polled within. */
static void
check_large_graphs(void)
{
	static const EmogiGenerator generators[] = {EMOGI_KRON, EMOGI_URAND};
	const uint64_t nspokes = 1300000;
	EmogiShape star = {.name = "star", .nedges = nspokes,
		.edges = malloc(nspokes * sizeof(EmogiEdge))};
	EmogiGraph	graph;

	for (int g = 0; g < 2; g++)
	{
		EmogiEdgeSet set;
		EmogiBuiltGraph built;
		EmogiControl control = {0};
		EmogiError	error;

		if (!emogi_generate_edges(emogi_cpu_engine_pool(states[1]), generators[g], 15, 16, 7,
								  &set) ||
			emogi_build_graph(emogi_cpu_engine_pool(states[1]), &set.edges, EMOGI_IN, true, &built,
							  &control, &error) != EMOGI_OK)
			abort();
		emogi_edge_set_free(&set);
		check_large(g == 0 ? "kron" : "urand", &built.graph);
		emogi_built_graph_free(&built);
	}
	for (uint64_t i = 0; i < nspokes; i++)
		star.edges[i] = (EmogiEdge) {(int64_t) i + 1, 0};
	graph = naive_build(&star, NULL, EMOGI_IN, true);
	check_large("star", &graph);
	naive_free(&graph);
	emogi_shape_free(&star);
}

/* Run Katz centrality with an alpha; returns the result, without columns. */
static EmogiResult
run_katz(const EmogiGraph *graph, double alpha, int64_t max_iterations)
{
	const EmogiQuery query = {.algorithm = EMOGI_KATZ, .alpha = alpha, .beta = 1.0,
		.max_iterations = max_iterations, .tolerance = 1e-9};
	Answer		answer = run_query(states[0], graph, &query, 0);

	free(answer.memory);
	return answer.result;
}

/* Check graphs whose maximum eigenvalue is known: complete, a cycle, a star, and an acyclic one. */
static void
check_eigenvalues(void)
{
	EmogiEdge	edges[400];
	EmogiShape	shape = {.name = "known", .edges = edges};
	EmogiGraph	graph;

	for (int64_t i = 0; i < 6; i++)
		for (int64_t j = 0; j < 6; j++)
			if (i != j)
				edges[shape.nedges++] = (EmogiEdge) {i, j};
	graph = naive_build(&shape, NULL, EMOGI_IN, false);
	CHECK(run_katz(&graph, 0.199, 10000).refusal.kind == EMOGI_NOT_REFUSED,
		  "complete, below 1 / 5");
	CHECK(run_katz(&graph, 0.2, 10000).refusal.kind == EMOGI_DIVERGES &&
		  run_katz(&graph, 0.2, 10000).nlevels == 1, "complete, 1 / 5");
	CHECK(fabs(run_katz(&graph, 0.4, 10000).refusal.rate - 2.0) < 1e-12, "complete, 2 / 5: rate %g",
		  run_katz(&graph, 0.4, 10000).refusal.rate);
	naive_free(&graph);
	for (int64_t i = 0; i < 100; i++)
		edges[i] = (EmogiEdge) {i, (i + 1) % 100};
	shape.nedges = 100;
	graph = naive_build(&shape, NULL, EMOGI_IN, false);
	CHECK(run_katz(&graph, 0.999, 100000).refusal.kind == EMOGI_NOT_REFUSED, "a cycle, below 1");
	CHECK(run_katz(&graph, 0.999, 1000).refusal.kind == EMOGI_HAS_NOT_CONVERGED &&
		  run_katz(&graph, 0.999, 1000).refusal.rate < 1.0, "a cycle, early");
	CHECK(run_katz(&graph, 1.0, 100000).refusal.kind == EMOGI_DIVERGES, "a cycle, 1");
	naive_free(&graph);
	for (int64_t i = 0; i < 100; i++)
		edges[i] = (EmogiEdge) {0, i + 1};
	graph = naive_build(&shape, NULL, EMOGI_BOTH, false);
	CHECK(run_katz(&graph, 0.0999, 100000).refusal.kind == EMOGI_NOT_REFUSED,
		  "a star, below 1 / 10");
	CHECK(run_katz(&graph, 0.1001, 1000).refusal.kind == EMOGI_HAS_NOT_CONVERGED &&
		  run_katz(&graph, 0.1001, 1000).refusal.rate >= 1.0, "a star, above");
	CHECK(run_katz(&graph, 0.1001, 10000000).refusal.kind == EMOGI_DIVERGES,
		  "a star, above, many iterations");
	naive_free(&graph);
	for (int64_t i = 0; i < 100; i++)
		edges[i] = (EmogiEdge) {i, i + 1};
	graph = naive_build(&shape, NULL, EMOGI_IN, false);
	CHECK(run_katz(&graph, 500.0, 1000).refusal.kind == EMOGI_NOT_REFUSED &&
		  run_katz(&graph, 500.0, 1000).refusal.rate == 0.0, "acyclic");
	CHECK(run_katz(&graph, 5e5, 1000).refusal.kind == EMOGI_DIVERGES, "acyclic, but overflows");
	naive_free(&graph);
}

/*
 * Check that eigenvector centrality is bit-identical if all weights are scaled by a power of two.
 */
static void
check_small_weights(void)
{
	const EmogiEdge edges[] = {{0, 1}, {1, 2}, {2, 0}, {2, 1}, {0, 3}, {3, 0}};
	EmogiShape	shape = {.name = "small weights", .edges = (EmogiEdge *) edges, .nedges = 6};
	const EmogiQuery query = {.algorithm = EMOGI_EIGENVECTOR, .max_iterations = 300,
		.tolerance = 1e-12, .is_weighted = true};
	static const int exponents[] = {-1, -30, -500, -960};
	const double plain[] = {0.9, 0.7, 0.6, 0.3, 0.95, 0.8};
	double		weights[6];
	EmogiGraph	graph = naive_build(&shape, plain, EMOGI_IN, true);
	Answer		answer = run_query(states[0], &graph, &query, 0);

	for (int i = 0; i < 4; i++)
	{
		EmogiGraph	small;
		Answer		other;

		for (int e = 0; e < 6; e++)
			weights[e] = ldexp(plain[e], exponents[i]);
		small = naive_build(&shape, weights, EMOGI_IN, true);
		other = run_query(states[0], &small, &query, 0);
		CHECK(other.result.nlevels == answer.result.nlevels && other.result.nlevels > 10 &&
			  memcmp(other.result.columns[0].float64, answer.result.columns[0].float64,
					 4 * sizeof(double)) == 0, "weights times 2^%d: %u iterations, not %u",
			  exponents[i], other.result.nlevels, answer.result.nlevels);
		free(other.memory);
		naive_free(&small);
	}
	CHECK(fabs(answer.result.columns[0].float64[1] - answer.result.columns[0].float64[3]) > 0.01,
		  "weights are ignored");
	free(answer.memory);
	naive_free(&graph);
}

/* Check that a query is refused for a reason. */
static void
check_refused_query(const EmogiGraph *graph, const EmogiQuery *query, EmogiRefusalKind kind)
{
	Answer		answer = run_query(states[0], graph, query, 0);

	CHECK(answer.status == EMOGI_BAD_INPUT && answer.error.message[0] != '\0' &&
		  answer.result.refusal.kind == kind, "alpha %g, beta %g, weights %d: status %d",
		  query->alpha, query->beta, query->is_weighted, answer.status);
	free(answer.memory);
}

/* Check arguments and weights out of range, and a missing transpose. */
static void
check_invalid(void)
{
	const EmogiEdge edges[] = {{0, 1}, {1, 2}, {2, 1}};
	EmogiShape	shape = {.name = "three edges", .edges = (EmogiEdge *) edges, .nedges = 3};
	static const double invalid[] = {-1e-300, -1.0, (double) NAN, (double) INFINITY,
		-(double) INFINITY};
	static const double large[] = {1e300, 1e300, 1e300};
	static const double small[] = {1e-300, 1e-300, 1e-300};
	EmogiGraph	graph = naive_build(&shape, NULL, EMOGI_IN, true);
	EmogiQuery query = {.algorithm = EMOGI_KATZ, .max_iterations = 10, .alpha = 0.1, .beta = 1.0,
		.is_weighted = true};

	for (int i = 0; i < 5; i++)
	{
		query.alpha = invalid[i];
		check_refused_query(&graph, &query, EMOGI_NOT_REFUSED);
		query.alpha = 0.1;
		query.beta = invalid[i];
		if (i >= 2)
			check_refused_query(&graph, &query, EMOGI_NOT_REFUSED);
		query.beta = 1.0;
	}
	graph.backward = (EmogiAdjacency) {0};
	query.algorithm = EMOGI_HITS;
	check_refused_query(&graph, &query, EMOGI_NOT_REFUSED);
	naive_free(&graph);
	graph = naive_build(&shape, large, EMOGI_IN, true);
	check_refused_query(&graph, &query, EMOGI_WEIGHTS_OUT_OF_RANGE);
	query.algorithm = EMOGI_EIGENVECTOR;
	check_refused_query(&graph, &query, EMOGI_WEIGHTS_OUT_OF_RANGE);
	naive_free(&graph);
	graph = naive_build(&shape, small, EMOGI_IN, true);
	query.algorithm = EMOGI_HITS;
	check_refused_query(&graph, &query, EMOGI_WEIGHTS_OUT_OF_RANGE);
	naive_free(&graph);
}

int
main(void)
{
	emogi_build_fill = 0xA5;	/* no code may rely on zeroed memory */
	engines_open();
	check_invalid();
	check_eigenvalues();
	check_small_weights();
	engines_check_shapes(NRANDOM, FINITE_KINDS, check_graph);
	check_large_graphs();
	CHECK(nanswered > 1000 && nrefused[0] > 100 && nrefused[1] > 100,
		  "%llu answers, %llu diverge, %llu have not converged", (unsigned long long) nanswered,
		  (unsigned long long) nrefused[0], (unsigned long long) nrefused[1]);
	engines_close();
	return check_report("test_power_iteration");
}
