/*
 * test_power_iteration.c: the cpu engine's hubs and authorities, eigenvector centralities and Katz centralities are what plain iterations in long double
 * make, and the same bits for any number of threads; an alpha that is not proven to converge is refused, and the one that is proposed instead
 * is not. Verifiers notice what is changed. Canceled runs and those without memory end.
 */
#include "cpu/cpu.h"
#include "engines.h"
#include "contract/semirings.h"
#include "verify/verify.h"

#include <float.h>

#define NRANDOM 60
#define MANY 600				/* vertices and entries from which on few iterations are made */
#define VERY_MANY 50000
#define FINITE_KINDS 7			/* kinds of weights from this one on make infinities */
#define ROUNDING 1e-9
#define NCOLUMNS 2

static uint64_t nanswered;
static uint64_t nrefused[2];	/* that grow without bound, that have not converged */

/* An answer, or a refusal. */
typedef struct Answer
{
	EmogiStatus status;
	EmogiResult result;
	EmogiError	error;
	double	   *memory;			/* [NCOLUMNS][nvertices + 1] */
} Answer;

/* Ask an engine. */
static Answer
ask(EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query, uint32_t fail_allocation)
{
	const uint64_t n = graph->nvertices;
	EmogiControl control = {.fail_allocation = fail_allocation};
	Answer		answer = {.memory = malloc(NCOLUMNS * (n + 1) * sizeof(double))};

	memset(answer.memory, 0x55, NCOLUMNS * (n + 1) * sizeof(double));
	for (uint64_t i = 0; i < NCOLUMNS; i++)
		answer.result.columns[i].float64 = answer.memory + i * (n + 1);
	answer.status = engine->run(state, graph, query, &answer.result, &control, &answer.error);
	for (uint64_t i = 0; i < NCOLUMNS; i++)
		CHECK(((unsigned char *) (answer.memory + i * (n + 1) + n))[0] == 0x55, "wrote beyond the end of column %d", (int) i);
	return answer;
}

/* Add up lists as a query says. */
static void
naive_sums(const EmogiGraph *graph, const EmogiAdjacency *lists, const EmogiQuery *query, const long double *from, long double *to)
{
	const EmogiWeightType type = query->is_weighted ? graph->weight_type : EMOGI_WEIGHT_NONE;

	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		to[v] = 0;
		for (uint64_t i = lists->offsets[v]; i < lists->offsets[v + 1]; i++)
			to[v] += from[lists->targets[i]] * emogi_weight(lists->weights, type, i);
	}
}

/* Divide values by the sum of their powers, to the inverse of the power: 1 or 2. */
static void
naive_divide(uint64_t n, long double *value, int power)
{
	long double total = 0;

	for (uint64_t v = 0; v < n; v++)
		total += power == 1 ? value[v] : value[v] * value[v];
	total = power == 1 ? total : sqrtl(total);
	for (uint64_t v = 0; v < n; v++)
		value[v] = total > 0 ? value[v] / total : 0;
}

/* Get the power of two, 1 or more, that brings the heaviest weight above a half. */
static long double
naive_scale(const EmogiGraph *graph, const EmogiQuery *query)
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

/* Make the columns after so many iterations; get the change of the last. columns: [NCOLUMNS][n]. */
static long double
naive_iterate(const EmogiGraph *graph, const EmogiQuery *query, uint32_t iterations, long double *columns)
{
	const uint64_t n = graph->nvertices;
	const bool	is_hits = query->algorithm == EMOGI_HITS;
	const long double scale = naive_scale(graph, query);
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
			naive_sums(graph, &graph->forward, query, before, columns + n);
			naive_divide(n, columns + n, 1);
			naive_sums(graph, &graph->backward, query, columns + n, columns);
			naive_divide(n, columns, 1);
		}
		else
		{
			naive_sums(graph, &graph->forward, query, before, columns);
			for (uint64_t v = 0; v < n; v++)
				columns[v] = before[v] + scale * columns[v];
			naive_divide(n, columns, 2);
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

/* What becomes of a Katz query. */
typedef struct Fate
{
	EmogiRefusalKind kind;
	uint32_t	iterations;
	long double change;
	bool		is_close;		/* rounding may decide */
} Fate;

/* Say whether two numbers are as good as the same. */
static bool
near(long double a, long double b)
{
	return fabsl(a - b) <= 1e-12L * (fabsl(a) + fabsl(b));
}

/* Add walks, one edge after the other, and say what becomes of the query. */
static Fate
naive_katz(const EmogiGraph *graph, const EmogiQuery *query, long double *value)
{
	const uint64_t n = graph->nvertices;
	long double *added = malloc((n + 1) * sizeof(long double));
	long double *next = malloc((n + 1) * sizeof(long double));
	Fate		fate = {.kind = EMOGI_HAS_NOT_CONVERGED};
	bool		proven = false;
	bool		goes_on = true;

	for (uint64_t v = 0; v < n; v++)
		value[v] = added[v] = 1;
	while (goes_on && fate.iterations < query->max_iterations)
	{
		long double most = 0,
					largest = 0;
		bool		shrinks = false;
		bool		underflows = false;

		naive_sums(graph, &graph->forward, query, added, next);
		for (uint64_t v = 0; v < n; v++)
		{
			next[v] *= query->alpha;
			shrinks |= next[v] < added[v] && !near(next[v], added[v]);
			fate.is_close |= next[v] > 0 && near(next[v], added[v]);
			underflows |= next[v] > 0 && next[v] < 1e-290L;
			value[v] += next[v];
			most = next[v] > most ? next[v] : most;
			largest = value[v] > largest ? value[v] : largest;
			added[v] = next[v];
		}
		fate.iterations++;
		fate.change = fabsl(query->beta) * most;
		fate.is_close = (fate.is_close && !shrinks) || near(most, 1) || near(fate.change, query->tolerance) || underflows;
		proven |= most < 1;
		goes_on = !fate.is_close && largest <= DBL_MAX && (shrinks || proven) && !(proven && fate.change < query->tolerance);
		if (!goes_on)
			fate.kind = largest > DBL_MAX || (!shrinks && !proven) ? EMOGI_DIVERGES : EMOGI_NOT_REFUSED;
	}
	if (goes_on && proven && query->tolerance == 0)
		fate.kind = EMOGI_NOT_REFUSED;
	if (query->normalized && query->beta != 0)
		naive_divide(n, value, 2);
	for (uint64_t v = 0; v < n; v++)
		value[v] *= !query->normalized || query->beta == 0 ? query->beta : query->beta < 0 ? -1 : 1;
	free(added);
	free(next);
	return fate;
}

/* Count the values that are farther from those expected than rounding allows: relative to the largest of all. */
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

/* Check a refusal: what is proposed instead is accepted, or is on its way. */
static void
check_refusal(const char *name, const EmogiGraph *graph, EmogiQuery query, const EmogiResult *result)
{
	Answer		other;

	CHECK(result->refusal.rate > 0.0, "%s: a rate of %g", name, result->refusal.rate);
	nrefused[result->refusal.kind == EMOGI_HAS_NOT_CONVERGED]++;
	query.alpha *= 0.99 / result->refusal.rate;
	query.max_iterations = graph->forward.nedges > MANY ? 50 : 500;
	other = ask(states[0], graph, &query, 0);
	CHECK(other.status == EMOGI_OK || other.result.refusal.rate < 1.0, "%s: alpha %.17g is proposed and refused, rate %g", name, query.alpha,
		  other.result.refusal.rate);
	free(other.memory);
}

/* Compare an answer with what is expected. */
static void
compare(const char *name, const EmogiGraph *graph, const EmogiQuery *query, const Answer *answer)
{
	const uint64_t n = graph->nvertices;
	long double *expected = calloc(NCOLUMNS * n + 1, sizeof(long double));
	long double change;
	bool		is_close = false;

	if (query->algorithm == EMOGI_KATZ)
	{
		const Fate	fate = naive_katz(graph, query, expected);

		is_close = fate.is_close;
		change = fate.change;
		CHECK(is_close || (fate.kind == answer->result.refusal.kind && fate.iterations == answer->result.nlevels),
			  "%s: alpha %.17g: %d after %u iterations, not %d after %u", name, query->alpha, (int) answer->result.refusal.kind,
			  answer->result.nlevels, (int) fate.kind, fate.iterations);
	}
	else
		change = naive_iterate(graph, query, answer->result.nlevels, expected);
	if (answer->status == EMOGI_OK && !is_close)
	{
		CHECK(count_wrong(n, answer->result.columns[0].float64, expected) == 0, "%s: %s are wrong after %u iterations", name,
			  emogi_algorithm_row(query->algorithm)->name, answer->result.nlevels);
		CHECK(query->algorithm != EMOGI_HITS || count_wrong(n, answer->result.columns[1].float64, expected + n) == 0,
			  "%s: authorities are wrong after %u iterations", name, answer->result.nlevels);
		CHECK(fabsl(change - answer->result.change) <= ROUNDING * (1 + change), "%s: a change of %g, not %Lg", name, answer->result.change, change);
	}
	free(expected);
}

/* Change a value, or two in a way that keeps sums, and see that the verifier notices. */
static void
check_noticed(const char *name, const EmogiGraph *graph, const EmogiQuery *query, Answer *answer, uint64_t seed)
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
		CHECK((query->algorithm == EMOGI_KATZ && answer->result.change > 1e-3 * fabs(query->beta)) || !emogi_verify(graph, query, &answer->result, &error), "%s: %s: a changed value of vertex %llu was not noticed", name,
			  emogi_algorithm_row(query->algorithm)->name, (unsigned long long) v);
		value[v] = -was[0] - 1e-6;
		CHECK((query->algorithm == EMOGI_KATZ && query->beta < 0) || !emogi_verify(graph, query, &answer->result, &error),
			  "%s: a value below 0 was not noticed", name);
		value[v] = was[0];
		if (was[0] != was[1] && fabs(was[0] - was[1]) > 1e-3 && answer->result.change < 1e-7 && query->algorithm == EMOGI_EIGENVECTOR &&
			graph->forward.offsets[v + 1] == graph->forward.offsets[v] + 1 && graph->forward.targets[graph->forward.offsets[v]] == v)
		{
			value[v] = was[1];
			value[w] = was[0];
			CHECK(!emogi_verify(graph, query, &answer->result, &error), "%s: two values that changed places were not noticed", name);
			value[v] = was[0];
			value[w] = was[1];
		}
	}
	answer->result.nlevels++;
	CHECK(query->tolerance > 0.0 || !emogi_verify(graph, query, &answer->result, &answer->error), "%s: an iteration too many was not noticed", name);
	answer->result.nlevels--;
}

/* Ask all engines, with and without memory. */
static void
check_query(const char *name, const EmogiGraph *graph, const EmogiQuery *query, uint64_t seed, bool naive)
{
	const uint64_t n = graph->nvertices;
	Answer		first = ask(states[0], graph, query, 0);
	const bool	refused = first.status == EMOGI_BAD_INPUT && query->algorithm == EMOGI_KATZ && first.result.refusal.kind != EMOGI_NOT_REFUSED;

	CHECK(first.status == EMOGI_OK || refused, "%s: status %d %s", name, first.status, first.error.message);
	nanswered += first.status == EMOGI_OK;
	for (int e = 1; e < NENGINES; e++)
	{
		Answer		other = ask(states[e], graph, query, 0);

		CHECK(other.status == first.status && memcmp(&other.result.refusal, &first.result.refusal, sizeof first.result.refusal) == 0 &&
			  other.result.nlevels == first.result.nlevels && other.result.change == first.result.change, "%s: another course", name);
		CHECK(first.status != EMOGI_OK || memcmp(first.memory, other.memory, NCOLUMNS * (n + 1) * sizeof(double)) == 0,
			  "%s: not the bits of one thread", name);
		free(other.memory);
	}
	for (uint32_t allocation = 1; naive && allocation < (n + graph->forward.nedges > VERY_MANY ? 2 : 6); allocation++)
	{
		Answer		other = ask(states[1], graph, query, allocation);

		CHECK(other.status == EMOGI_NO_MEMORY || other.status == first.status, "%s: status %d without memory", name, other.status);
		free(other.memory);
	}
	if (first.status == EMOGI_OK)
		CHECK(emogi_verify(graph, query, &first.result, &first.error), "%s: %s: %s", name, emogi_algorithm_row(query->algorithm)->name,
			  first.error.message);
	if (naive && n > 0)
		compare(name, graph, query, &first);
	if (refused && naive)
		check_refusal(name, graph, *query, &first.result);
	else if (!refused && naive && n > 0)
		check_noticed(name, graph, query, &first, seed);
	free(first.memory);
}

/* Get the most that a list of a Graph weighs. */
static double
heaviest_list(const EmogiGraph *graph, bool is_weighted)
{
	const EmogiWeightType type = is_weighted ? graph->weight_type : EMOGI_WEIGHT_NONE;
	double		most = 1.0;

	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		double		weight = 0.0;

		for (uint64_t i = graph->forward.offsets[v]; i < graph->forward.offsets[v + 1]; i++)
			weight += emogi_weight(graph->forward.weights, type, i);
		most = weight > most ? weight : most;
	}
	return most;
}

/* Ask queries of a Graph, with and without weights. */
static void
check_both_weights(const char *name, const EmogiGraph *graph, uint64_t seed, bool is_weighted, bool naive)
{
	static const double alphas[] = {0.0, 0.3, 0.9, 0.97, 1.7, 6.1, 1e3};
	static const double betas[] = {1.0, 1.0, -2.5, 0.0, 1e-12, 1e200};
	const double tolerances[] = {0.0, 1e-3, 1e-12};
	const uint64_t size = graph->nvertices + graph->forward.nedges;
	const int64_t most = naive && size > VERY_MANY ? 3 : !naive || size > MANY ? 12 : 200;
	EmogiQuery	query = {.is_weighted = is_weighted};

	for (uint64_t turn = 0; turn < (size <= MANY ? 3 : naive ? 1 : 2); turn++)
	{
		query.tolerance = tolerances[turn];
		query.max_iterations = turn == 0 ? 1 + (int64_t) (seed % 20) : turn == 1 ? 40 : 200;
		query.max_iterations = query.max_iterations < most ? query.max_iterations : most;
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

/* Ask of a graph that is large enough for all threads; canceled before and while it runs. */
static void
check_large(const char *name, const EmogiGraph *graph)
{
	static const EmogiAlgorithm algorithms[] = {EMOGI_EIGENVECTOR, EMOGI_KATZ, EMOGI_HITS};
	const uint64_t n = graph->nvertices;
	double	   *memory = malloc(NCOLUMNS * (n + 1) * sizeof(double));

	check_both_weights(name, graph, 5, false, false);
	for (int a = 0; a < 3; a++)
	{
		const EmogiQuery query = {.algorithm = algorithms[a], .alpha = 0.5 / heaviest_list(graph, false), .beta = 1.0, .max_iterations = INT64_MAX};

		if (algorithms[a] != EMOGI_HITS || graph->backward.offsets != NULL)
			engines_check_cancel(name, graph, &query, (EmogiResult) {.columns = {{.float64 = memory}, {.float64 = memory + n + 1}}});
	}
	free(memory);
}

/* Ask of generated graphs, and of one with a list that is polled within. */
static void
check_large_ones(void)
{
	static const EmogiGenerator generators[] = {EMOGI_KRON, EMOGI_URAND};
	const uint64_t nspokes = 1300000;
	EmogiShape	star = {.name = "star", .nedges = nspokes, .edges = malloc(nspokes * sizeof(EmogiEdge))};
	EmogiGraph	graph;

	for (int g = 0; g < 2; g++)
	{
		EmogiEdgeSet set;
		EmogiBuiltGraph built;
		EmogiControl control = {0};
		EmogiError	error;

		if (!emogi_generate_edges(emogi_cpu_engine_pool(states[1]), generators[g], 15, 16, 7, &set) ||
			emogi_build_graph(emogi_cpu_engine_pool(states[1]), &set.edges, EMOGI_IN, true, &built, &control, &error) != EMOGI_OK)
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

/* Ask for Katz centralities with one alpha; gets the result, without columns. */
static EmogiResult
ask_katz(const EmogiGraph *graph, double alpha, int64_t max_iterations)
{
	const EmogiQuery query = {.algorithm = EMOGI_KATZ, .alpha = alpha, .beta = 1.0, .max_iterations = max_iterations, .tolerance = 1e-9};
	Answer		answer = ask(states[0], graph, &query, 0);

	free(answer.memory);
	return answer.result;
}

/* Ask of graphs whose largest eigenvalue is known: complete, a cycle, a star, and one without a cycle. */
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
	CHECK(ask_katz(&graph, 0.199, 10000).refusal.kind == EMOGI_NOT_REFUSED, "complete, below 1 / 5");
	CHECK(ask_katz(&graph, 0.2, 10000).refusal.kind == EMOGI_DIVERGES && ask_katz(&graph, 0.2, 10000).nlevels == 1, "complete, 1 / 5");
	CHECK(fabs(ask_katz(&graph, 0.4, 10000).refusal.rate - 2.0) < 1e-12, "complete, 2 / 5: rate %g", ask_katz(&graph, 0.4, 10000).refusal.rate);
	naive_free(&graph);
	for (int64_t i = 0; i < 100; i++)
		edges[i] = (EmogiEdge) {i, (i + 1) % 100};
	shape.nedges = 100;
	graph = naive_build(&shape, NULL, EMOGI_IN, false);
	CHECK(ask_katz(&graph, 0.999, 100000).refusal.kind == EMOGI_NOT_REFUSED, "a cycle, below 1");
	CHECK(ask_katz(&graph, 0.999, 1000).refusal.kind == EMOGI_HAS_NOT_CONVERGED && ask_katz(&graph, 0.999, 1000).refusal.rate < 1.0, "a cycle, early");
	CHECK(ask_katz(&graph, 1.0, 100000).refusal.kind == EMOGI_DIVERGES, "a cycle, 1");
	naive_free(&graph);
	for (int64_t i = 0; i < 100; i++)
		edges[i] = (EmogiEdge) {0, i + 1};
	graph = naive_build(&shape, NULL, EMOGI_BOTH, false);
	CHECK(ask_katz(&graph, 0.0999, 100000).refusal.kind == EMOGI_NOT_REFUSED, "a star, below 1 / 10");
	CHECK(ask_katz(&graph, 0.1001, 1000).refusal.kind == EMOGI_HAS_NOT_CONVERGED && ask_katz(&graph, 0.1001, 1000).refusal.rate >= 1.0, "a star, above");
	CHECK(ask_katz(&graph, 0.1001, 10000000).refusal.kind == EMOGI_DIVERGES, "a star, above, for long");
	naive_free(&graph);
	for (int64_t i = 0; i < 100; i++)
		edges[i] = (EmogiEdge) {i, i + 1};
	graph = naive_build(&shape, NULL, EMOGI_IN, false);
	CHECK(ask_katz(&graph, 500.0, 1000).refusal.kind == EMOGI_NOT_REFUSED && ask_katz(&graph, 500.0, 1000).refusal.rate == 0.0, "no cycle");
	CHECK(ask_katz(&graph, 5e5, 1000).refusal.kind == EMOGI_DIVERGES, "no cycle, but numbers out of range");
	naive_free(&graph);
}

/* Ask for eigenvector centralities by weights that are all small, and by the same times a power of two: the answers are the same, to the bit. */
static void
check_small_weights(void)
{
	const EmogiEdge edges[] = {{0, 1}, {1, 2}, {2, 0}, {2, 1}, {0, 3}, {3, 0}};
	EmogiShape	shape = {.name = "small weights", .edges = (EmogiEdge *) edges, .nedges = 6};
	const EmogiQuery query = {.algorithm = EMOGI_EIGENVECTOR, .max_iterations = 300, .tolerance = 1e-12, .is_weighted = true};
	static const int exponents[] = {-1, -30, -500, -960};
	const double plain[] = {0.9, 0.7, 0.6, 0.3, 0.95, 0.8};
	double		weights[6];
	EmogiGraph	graph = naive_build(&shape, plain, EMOGI_IN, true);
	Answer		answer = ask(states[0], &graph, &query, 0);

	for (int i = 0; i < 4; i++)
	{
		EmogiGraph	small;
		Answer		other;

		for (int e = 0; e < 6; e++)
			weights[e] = ldexp(plain[e], exponents[i]);
		small = naive_build(&shape, weights, EMOGI_IN, true);
		other = ask(states[0], &small, &query, 0);
		CHECK(other.result.nlevels == answer.result.nlevels && other.result.nlevels > 10 &&
			  memcmp(other.result.columns[0].float64, answer.result.columns[0].float64, 4 * sizeof(double)) == 0,
			  "weights times 2^%d: %u iterations, not %u", exponents[i], other.result.nlevels, answer.result.nlevels);
		free(other.memory);
		naive_free(&small);
	}
	CHECK(fabs(answer.result.columns[0].float64[1] - answer.result.columns[0].float64[3]) > 0.01, "weights count");
	free(answer.memory);
	naive_free(&graph);
}

/* See that a query is refused, of a kind. */
static void
check_refused_query(const EmogiGraph *graph, const EmogiQuery *query, EmogiRefusalKind kind)
{
	Answer		answer = ask(states[0], graph, query, 0);

	CHECK(answer.status == EMOGI_BAD_INPUT && answer.error.message[0] != '\0' && answer.result.refusal.kind == kind,
		  "alpha %g, beta %g, weights %d: status %d", query->alpha, query->beta, query->is_weighted, answer.status);
	free(answer.memory);
}

/* Ask with what is out of range: arguments, weights, and lists that are not there. */
static void
check_bad(void)
{
	const EmogiEdge edges[] = {{0, 1}, {1, 2}, {2, 1}};
	EmogiShape	shape = {.name = "three edges", .edges = (EmogiEdge *) edges, .nedges = 3};
	static const double bad[] = {-1e-300, -1.0, (double) NAN, (double) INFINITY, -(double) INFINITY};
	static const double large[] = {1e300, 1e300, 1e300};
	static const double small[] = {1e-300, 1e-300, 1e-300};
	EmogiGraph	graph = naive_build(&shape, NULL, EMOGI_IN, true);
	EmogiQuery	query = {.algorithm = EMOGI_KATZ, .max_iterations = 10, .alpha = 0.1, .beta = 1.0, .is_weighted = true};

	for (int i = 0; i < 5; i++)
	{
		query.alpha = bad[i];
		check_refused_query(&graph, &query, EMOGI_NOT_REFUSED);
		query.alpha = 0.1;
		query.beta = bad[i];
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
	emogi_build_fill = 0xA5;	/* nothing counts on memory that is zero */
	engines_open();
	check_bad();
	check_eigenvalues();
	check_small_weights();
	engines_check_shapes(NRANDOM, FINITE_KINDS, check_graph);
	check_large_ones();
	CHECK(nanswered > 1000 && nrefused[0] > 100 && nrefused[1] > 100, "%llu answers, %llu grow, %llu have not converged", (unsigned long long) nanswered,
		  (unsigned long long) nrefused[0], (unsigned long long) nrefused[1]);
	engines_close();
	return check_report("test_power_iteration");
}
