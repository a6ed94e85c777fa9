/*
 * test_semiring_sum.c: tests of the cpu engine's PageRank, HEAT, CIRCUIT, and NEURAL against the
 * formulas of algorithms.h, computed in long double
 */
#include "contract/semirings.h"
#include "engines.h"
#include "refused.h"
#include "verify/verify.h"

#define NRANDOM 200
#define ITERATIONS 12
#define FINITE_KINDS 7			/* kinds of weights from this one on have sums that overflow */

/* Compute one iteration of PageRank by the formula. */
static void
oracle_pagerank(const EmogiGraph *graph, const EmogiQuery *query, const long double *value,
				long double *next)
{
	const EmogiWeightType type = query->is_weighted ? graph->weight_type : EMOGI_WEIGHT_NONE;
	const long double damping = (long double) query->damping;
	uint64_t	n = graph->nvertices;
	long double *out = calloc(n + 1, sizeof(long double));
	long double dangling = 0;

	for (uint64_t i = 0; i < graph->forward.nedges; i++)
		out[graph->forward.targets[i]] += emogi_weight(graph->forward.weights, type, i);
	for (uint64_t v = 0; v < n; v++)
		dangling += out[v] == 0 ? value[v] : 0;
	for (uint64_t v = 0; v < n; v++)
	{
		const long double teleport = query->teleport != NULL ? (long double) query->teleport[v]
			: 1 / (long double) n;

		next[v] = (1 - damping) * teleport + damping * dangling * teleport;
		for (uint64_t i = graph->forward.offsets[v]; i < graph->forward.offsets[v + 1]; i++)
			if (out[graph->forward.targets[i]] > 0)
				next[v] += damping * value[graph->forward.targets[i]] *
					emogi_weight(graph->forward.weights, type, i) /
					out[graph->forward.targets[i]];
	}
	free(out);
}

/* Compute one iteration of HEAT, CIRCUIT, or NEURAL by the formula. */
static void
oracle_gather(const EmogiGraph *graph, const EmogiQuery *query, const long double *value,
			  long double *next)
{
	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		uint64_t	first = graph->forward.offsets[v];
		uint64_t	end = graph->forward.offsets[v + 1];
		long double heat = 0,
					sum = 0,
					total = 0;

		for (uint64_t i = first; i < end; i++)
		{
			long double weight = emogi_weight(graph->forward.weights, graph->weight_type, i);
			long double other = value[graph->forward.targets[i]];

			heat += weight * (other - value[v]);
			sum += weight * other;
			total += weight;
		}
		if (query->algorithm == EMOGI_HEAT)
			next[v] = value[v] + heat;
		else if (query->algorithm == EMOGI_CIRCUIT)
			next[v] = !isnan(query->values[v]) ? (long double) query->values[v] : total > 0
				? sum / total : 0;
		else
			next[v] = first == end ? value[v] : tanhl(sum);
	}
}

/* Fill value[nvertices] after some iterations; returns the change of the last one. */
static long double
oracle(const EmogiGraph *graph, const EmogiQuery *query, uint32_t iterations, long double *value)
{
	uint64_t	n = graph->nvertices;
	long double *next = malloc((n + 1) * sizeof(long double));
	long double change = 0;

	for (uint64_t v = 0; v < n; v++)
	{
		if (query->algorithm == EMOGI_PAGERANK)
			value[v] = 1 / (long double) n;
		else
			value[v] = query->algorithm == EMOGI_CIRCUIT && isnan(query->values[v]) ? 0
				: query->values[v];
	}
	for (uint32_t k = 0; k < iterations; k++)
	{
		change = 0;
		if (query->algorithm == EMOGI_PAGERANK)
			oracle_pagerank(graph, query, value, next);
		else
			oracle_gather(graph, query, value, next);
		for (uint64_t v = 0; v < n; v++)
		{
			long double by = fabsl(next[v] - value[v]);

			change = query->algorithm == EMOGI_PAGERANK ? change + by : by > change ? by : change;
		}
		memcpy(value, next, n * sizeof(long double));
	}
	free(next);
	return change;
}

/*
 * Count the values that differ from the oracle's by more than rounding errors, relative to the
 * maximum.
 */
static uint64_t
count_wrong(uint64_t nvertices, const double *value, const long double *expected, double tolerance)
{
	long double scale = 0;
	uint64_t	nwrong = 0;

	for (uint64_t v = 0; v < nvertices; v++)
		scale = fabsl(expected[v]) > scale ? fabsl(expected[v]) : scale;
	for (uint64_t v = 0; v < nvertices; v++)
		nwrong += !(fabsl(value[v] - expected[v]) <= tolerance * scale);
	return nwrong;
}

/* Run one query on all engines, and check the answers. */
static void
check_query(const char *name, const EmogiGraph *graph, const EmogiQuery *query)
{
	uint64_t	n = graph->nvertices;
	double	   *value = malloc((n + 1) * sizeof(double));
	double	   *first = malloc((n + 1) * sizeof(double));
	long double *expected = malloc((n + 1) * sizeof(long double));

	for (int e = 0; e < NENGINES; e++)
	{
		EmogiResult result = {.columns[0].float64 = value};
		EmogiControl control = {0};
		EmogiError	error = {{0}, {0}};
		EmogiStatus status;

		memset(value, 0x55, (n + 1) * sizeof(double));
		status = engine->run(states[e], graph, query, &result, &control, &error);
		CHECK(status == EMOGI_OK, "%s: status %d", name, status);
		CHECK(((unsigned char *) (value + n))[0] == 0x55, "%s: wrote beyond the end", name);
		if (e == 0)
		{
			long double change = oracle(graph, query, result.nlevels, expected);
			uint64_t	nwrong = count_wrong(n, value, expected, 1e-9);

			CHECK(nwrong == 0, "%s: algorithm %d, %llu wrong values after %u iterations", name,
				  query->algorithm, (unsigned long long) nwrong, result.nlevels);
			CHECK(fabsl(change - result.change) <= 1e-9L * (change + 1),
				  "%s: algorithm %d, change %g, not %Lg", name, query->algorithm, result.change,
				  change);
			memcpy(first, value, n * sizeof(double));
		}
		CHECK(memcmp(value, first, n * sizeof(double)) == 0,
			  "%s: algorithm %d, engine %d: not bit-identical to engine 0", name, query->algorithm,
			  e);
		CHECK(emogi_verify(graph, query, &result, &error), "%s: algorithm %d: %s", name,
			  query->algorithm, error.message);
	}
	free(value);
	free(first);
	free(expected);
}

/* Divide the weights by the maximum sum of a list, so that HEAT and NEURAL are bounded. */
static EmogiGraph
bound_weights(const EmogiGraph *graph, double **weights)
{
	EmogiGraph	bounded = *graph;
	double		largest = 1.0;

	*weights = naive_alloc(graph->forward.nedges, sizeof(double));
	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		double		total = 0;

		for (uint64_t i = graph->forward.offsets[v]; i < graph->forward.offsets[v + 1]; i++)
			total += (*weights)[i] = emogi_weight(graph->forward.weights, graph->weight_type, i);
		largest = total > largest ? total : largest;
	}
	for (uint64_t i = 0; i < graph->forward.nedges; i++)
		(*weights)[i] *= (i % 3 == 0 ? -0.5 : 1.0) / largest;
	bounded.weight_type = EMOGI_WEIGHT_F64;
	bounded.forward.weights = *weights;
	return bounded;
}

/*
 * Check ranks with weights, with teleport probabilities, and with both. values: [nvertices],
 * scratch memory.
 */
static void
check_ranks(const char *name, const EmogiGraph *graph, EmogiQuery query, double *values,
			uint64_t seed)
{
	double		sum = 0.0;

	query.algorithm = EMOGI_PAGERANK;
	query.is_weighted = graph->backward.offsets != NULL;
	check_query(name, graph, &query);
	for (uint64_t v = 0; v < graph->nvertices; v++)
		sum += values[v] = emogi_random(seed, v) % 3 == 0 || v == 0
			? (double) (1 + emogi_random(seed + 1, v) % 1000) : 0.0;
	for (uint64_t v = 0; v < graph->nvertices; v++)
		values[v] /= sum;
	query.teleport = values;
	check_query(name, graph, &query);
	query.is_weighted = false;
	check_query(name, graph, &query);
}

/*
 * Check that weights whose sums overflow or underflow are refused, and weighted ranks without the
 * transpose.
 */
static void
check_refused_weights(void)
{
	const EmogiEdge edges[] = {{0, 1}, {1, 2}};
	EmogiShape	shape = {.name = "two edges", .edges = (EmogiEdge *) edges, .nedges = 2};
	static const double invalid[][2] = {{1e300, 1.0}, {1.0, 1e-320}};
	double		rank[3];

	for (int i = 0; i < 2; i++)
	{
		EmogiGraph	graph = naive_build(&shape, invalid[i], EMOGI_IN, true);
		EmogiQuery query = {.algorithm = EMOGI_PAGERANK, .max_iterations = 3, .damping = 0.85,
			.is_weighted = true};
		EmogiResult result = {.columns[0].float64 = rank};
		EmogiControl control = {0};
		EmogiError	error = {{0}, {0}};

		CHECK(engine->run(states[1], &graph, &query, &result, &control, &error) ==
			  EMOGI_BAD_INPUT && error.message[0] != '\0', "weights %g and %g", invalid[i][0],
			  invalid[i][1]);
		graph.backward = (EmogiAdjacency) {0};
		error.message[0] = '\0';
		CHECK(engine->run(states[1], &graph, &query, &result, &control, &error) ==
			  EMOGI_BAD_INPUT && error.message[0] != '\0', "weights without the transpose");
	}
}

/* Check queries on a graph. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	static const double dampings[] = {0.85, 0.0, 1.0, 0.5};
	EmogiQuery	query = {.max_iterations = ITERATIONS, .damping = dampings[seed % 4]};
	double	   *values = naive_alloc(graph->nvertices, sizeof(double));
	double	   *weights;
	EmogiGraph	bounded = bound_weights(graph, &weights);

	query.values = values;
	for (int round = 0; round < 2; round++)
	{
		query.tolerance = round == 0 ? 0.0 : 1e-3;
		for (uint64_t v = 0; v < graph->nvertices; v++)
			values[v] = (double) (emogi_random(seed, v) % 1000) / 100.0 - 3.0;
		query.algorithm = EMOGI_PAGERANK;
		check_query(name, graph, &query);
		check_ranks(name, graph, query, values, seed);
		for (uint64_t v = 0; v < graph->nvertices; v++)
			values[v] = (double) (emogi_random(seed, v) % 1000) / 100.0 - 3.0;
		query.algorithm = EMOGI_HEAT;
		check_query(name, &bounded, &query);
		query.algorithm = EMOGI_NEURAL;
		check_query(name, &bounded, &query);
		query.algorithm = EMOGI_CIRCUIT;
		for (uint64_t v = 0; v < graph->nvertices; v++)
			values[v] = emogi_random(seed, v) % 4 == 0 ? values[v] : NAN;
		check_query(name, graph, &query);
	}
	free(weights);
	free(values);
}

/*
 * Check all types of weights: one iteration of HEAT and NEURAL with the weights as they are stored.
 */
static void
check_types(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	EmogiQuery	query = {.algorithm = EMOGI_HEAT, .max_iterations = 1};
	double	   *values = naive_alloc(graph->nvertices, sizeof(double));

	for (uint64_t v = 0; v < graph->nvertices; v++)
		values[v] = (double) (emogi_random(seed, v) % 100);
	query.values = values;
	check_query(name, graph, &query);
	query.algorithm = EMOGI_NEURAL;
	check_query(name, graph, &query);
	free(values);
}

static void
check_refused(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	refused_check(name, engine, states[1], graph);
}

/*
 * Check that the verifier rejects changed answers, that overflow does not end an iteration, and
 * that runs can be canceled.
 */
static void
check_verifier(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	double	   *value = malloc(graph->nvertices * sizeof(double));
	double	   *start = naive_alloc(graph->nvertices, sizeof(double));
	double	   *second = naive_alloc(graph->nvertices, sizeof(double));
	EmogiQuery query = {.algorithm = EMOGI_PAGERANK, .max_iterations = 100, .tolerance = 1e-9,
		.damping = 0.85};
	EmogiResult result = {.columns[0].float64 = value};
	EmogiControl control = {0};
	EmogiError	error;

	query.values = start;
	engine->run(states[1], graph, &query, &result, &control, &error);
	CHECK(result.change < 1e-9 && emogi_verify(graph, &query, &result, &error), "%s",
		  error.message);
	value[0] += 1e-6;
	value[1] -= 1e-6;
	CHECK(!emogi_verify(graph, &query, &result, &error), "wrong ranks");
	value[1] += 1e-6;
	CHECK(!emogi_verify(graph, &query, &result, &error), "ranks whose sum is not 1");
	value[0] -= 1e-6;
	result.change = 1;
	CHECK(!emogi_verify(graph, &query, &result, &error), "an early stop");
	for (uint64_t v = 0; v < graph->nvertices; v++)
		start[v] = v % 2 ? 1e300 : -1e300;
	query.algorithm = EMOGI_HEAT;
	CHECK(engine->run(states[1], graph, &query, &result, &control, &error) == EMOGI_OK &&
		  result.nlevels == 100, "%u iterations with overflow", result.nlevels);
	query.max_iterations = INT64_MAX;
	result.columns[1].float64 = second;
	query.tolerance = 0.0;
	for (int a = 0; a < EMOGI_NALGORITHMS; a++)
	{
		query.algorithm = (EmogiAlgorithm) a;
		/* which ends when the labels are stable */
		if (emogi_algorithm_iterates(query.algorithm) && query.algorithm != EMOGI_CDLP)
			engines_check_cancel(name, graph, &query, result);
	}
	free(value);
	free(start);
	free(second);
}

int
main(void)
{
	EmogiShape	shape = naive_random_shape();

	emogi_build_fill = 0xA5;	/* no code may rely on zeroed memory */
	engines_open();
	engines_check_shapes(NRANDOM, FINITE_KINDS, check_graph);
	for (int kind = 0; kind < FINITE_KINDS; kind++)
		engines_check_graph(&shape, kind, EMOGI_OUT, false, 1, check_types);
	engines_check_graph(&shape, 1, EMOGI_BOTH, false, 1, check_verifier);
	engines_check_graph(&shape, 1, EMOGI_OUT, true, 1, check_refused);
	emogi_shape_free(&shape);
	check_refused_weights();
	engines_close();
	return check_report("test_semiring_sum");
}
