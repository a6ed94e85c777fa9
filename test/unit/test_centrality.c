/*
 * test_centrality.c: tests of the cpu engine's closeness and betweenness against sequential
 * searches.
 *
 * Answers must be bit-identical for any number of threads. Estimates must match the searches from
 * the samples, and are exact if all vertices are samples. The verifiers must detect changed values.
 */
#include "cpu/cpu.h"
#include "engines.h"
#include "contract/sample.h"
#include "verify/verify.h"

#define NRANDOM 500
/* vertices * (vertices + edges) up to which exact answers are tested */
#define MAX_WORK 2e6
#define MAX_SAMPLES_WORK 4e7
#define ROUNDING 1e-9

/* State of the sequential searches. */
typedef struct Naive
{
	const EmogiGraph *graph;
	const EmogiQuery *query;
	uint64_t	n;
	uint64_t	nsources;
	uint32_t   *sources;		/* [nsources], ascending */
	int64_t    *level;			/* [n] */
	uint32_t   *queue;			/* [n] */
	uint64_t	count;
	double	   *columns[EMOGI_MAX_COLUMNS];	/* [n] each */
} Naive;

/* Search from a vertex. */
static void
naive_search(Naive *naive, const EmogiAdjacency *lists, uint32_t source)
{
	for (uint64_t v = 0; v < naive->n; v++)
		naive->level[v] = -1;
	naive->level[source] = 0;
	naive->queue[0] = source;
	naive->count = 1;
	for (uint64_t i = 0; i < naive->count; i++)
		for (uint64_t e = lists->offsets[naive->queue[i]]; e < lists->offsets[naive->queue[i] + 1];
			 e++)
			if (naive->level[lists->targets[e]] < 0)
			{
				naive->level[lists->targets[e]] = naive->level[naive->queue[i]] + 1;
				naive->queue[naive->count++] = lists->targets[e];
			}
}

/* Return the number of sources other than v. */
static double
naive_others(const Naive *naive, uint64_t v)
{
	bool		is_source = false;

	for (uint64_t s = 0; s < naive->nsources; s++)
		is_source |= naive->sources[s] == v;
	return (double) naive->nsources - is_source;
}

/*
 * Compute the expected four columns of closeness. Distances are those from a vertex to the sources.
 */
static void
naive_closeness(Naive *naive)
{
	for (uint64_t s = 0; s < naive->nsources; s++)
	{
		naive_search(naive, &naive->graph->backward, naive->sources[s]);
		for (uint64_t v = 0; v < naive->n; v++)
			if (naive->level[v] > 0)
			{
				naive->columns[0][v] += 1.0;
				naive->columns[1][v] += (double) naive->level[v];
				naive->columns[3][v] += 1.0 / (double) naive->level[v];
			}
	}
	for (uint64_t v = 0; v < naive->n; v++)
	{
		const double others = naive_others(naive, v);
		const double scale = others > 0 ? ((double) naive->n - 1) / others : 0;
		const double found = naive->columns[0][v] * scale;

		naive->columns[1][v] *= scale;
		naive->columns[3][v] *= scale;
		naive->columns[2][v] = found > 0
			? found / naive->columns[1][v] * found / ((double) naive->n - 1) : 0;
		naive->columns[0][v] = 1 + floor(found + 0.5);
	}
}

/* Return true if an edge is parallel to the one before. */
static bool
is_repeat(const EmogiAdjacency *lists, uint64_t v, uint64_t e)
{
	return e > lists->offsets[v] && lists->targets[e] == lists->targets[e - 1];
}

/* Add the dependencies of a source on all vertices to a column. paths, shares: [n]. */
static void
naive_depend(Naive *naive, uint32_t source, long double *paths, double *shares)
{
	const EmogiAdjacency *lists = &naive->graph->forward;

	naive_search(naive, lists, source);
	for (uint64_t v = 0; v < naive->n; v++)
		paths[v] = shares[v] = 0;
	paths[source] = 1;
	for (uint64_t i = 0; i < naive->count; i++)
		for (uint64_t u = naive->queue[i], e = lists->offsets[u]; e < lists->offsets[u + 1]; e++)
			if (naive->level[lists->targets[e]] == naive->level[u] + 1 && !is_repeat(lists, u, e))
				paths[lists->targets[e]] += paths[u];
	for (uint64_t i = naive->count; i-- > 1;)
	{
		const uint64_t u = naive->queue[i];

		for (uint64_t e = lists->offsets[u]; e < lists->offsets[u + 1]; e++)
			if (naive->level[lists->targets[e]] == naive->level[u] + 1 && !is_repeat(lists, u, e))
				shares[u] += (double) (paths[u] / paths[lists->targets[e]]) *
					(1 + shares[lists->targets[e]]);
		naive->columns[0][u] += shares[u];
	}
}

/* Compute the expected betweenness. */
static void
naive_betweenness(Naive *naive)
{
	long double *paths = naive_alloc(naive->n, sizeof(long double));
	double	   *shares = naive_alloc(naive->n, sizeof(double));
	const double n = (double) naive->n;

	for (uint64_t s = 0; s < naive->nsources; s++)
		naive_depend(naive, naive->sources[s], paths, shares);
	for (uint64_t v = 0; v < naive->n; v++)
	{
		const double others = naive_others(naive, v);
		double	   *value = &naive->columns[0][v];

		*value = others > 0 ? *value / others * (n - 1) : 0;
		if (naive->query->normalized)
			*value = n > 2 ? *value / (n - 1) / (n - 2) : 0;
		else if (naive->graph->forward.offsets == naive->graph->backward.offsets)
			*value /= 2;
	}
	free(paths);
	free(shares);
}

/* Begin the searches of a query. */
static Naive
naive_begin(const EmogiGraph *graph, const EmogiQuery *query)
{
	Naive naive = {.graph = graph, .query = query, .n = graph->nvertices,
		.nsources = emogi_sample_count(graph->nvertices, query)};

	naive.sources = naive_alloc(naive.nsources, sizeof(uint32_t));
	naive.level = naive_alloc(naive.n, sizeof(int64_t));
	naive.queue = naive_alloc(naive.n, sizeof(uint32_t));
	for (int i = 0; i < EMOGI_MAX_COLUMNS; i++)
		naive.columns[i] = naive_alloc(naive.n, sizeof(double));
	emogi_sample_choose(naive.n, naive.nsources, query->seed, naive.sources);
	return naive;
}

/* Free the searches. */
static void
naive_end(Naive *naive)
{
	free(naive->sources);
	free(naive->level);
	free(naive->queue);
	for (int i = 0; i < EMOGI_MAX_COLUMNS; i++)
		free(naive->columns[i]);
}

/* Point a result's columns to consecutive parts of the memory, each of 8 bytes per vertex. */
static EmogiResult
set_columns(double *memory, uint64_t n)
{
	EmogiResult result = {.nlevels = 0};

	for (int i = 0; i < EMOGI_MAX_COLUMNS; i++)
		result.columns[i].float64 = memory + (uint64_t) i * n;
	return result;
}

/* Compare an answer with the expected one. */
static void
compare(const char *name, const Naive *naive, const EmogiResult *result)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(naive->query->algorithm);

	for (int i = 0; row->columns[i].name != NULL; i++)
	{
		uint64_t	nwrong = 0;

		for (uint64_t v = 0; v < naive->n; v++)
		{
			const double is = emogi_algorithm_column_number(&row->columns[i], result->columns[i],
															v);
			const double expected = naive->columns[i][v];

			if (row->columns[i].type == EMOGI_INT64 && naive->query->samples == 0)
				nwrong += is != expected;
			else
				nwrong += !(fabs(is - expected) <= ROUNDING * (fabs(expected) + 1e-3) +
							(row->columns[i].type == EMOGI_INT64));
		}
		CHECK(nwrong == 0, "%s, %s %s of %lld samples: %llu are wrong", name, row->name,
			  row->columns[i].name, (long long) naive->query->samples, (unsigned long long) nwrong);
	}
}

/* Check that the verifier detects a changed value in each column. */
static void
check_detected(const char *name, const EmogiGraph *graph, const EmogiQuery *query,
			   EmogiResult result, uint64_t seed)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(query->algorithm);

	for (int i = 0; row->columns[i].name != NULL; i++)
	{
		const uint64_t v = emogi_random(seed, 77 + (uint64_t) i) % graph->nvertices;
		const EmogiArray column = result.columns[i];
		const int64_t was = column.int64[v];
		EmogiError	error = {{0}, {0}};

		if (row->columns[i].type == EMOGI_INT64)
			column.int64[v] += 1;
		else
			column.float64[v] += 0.25 + column.float64[v] * 1e-6;
		CHECK(!emogi_verify(graph, query, &result, &error),
			  "%s, %s of %lld samples: the verifier missed a changed %s of vertex %llu", name,
			  row->name, (long long) query->samples, row->columns[i].name, (unsigned long long) v);
		column.int64[v] = was;
	}
}

/* Run one query on all engines, and check the answers. */
static void
check_query(const char *name, const EmogiGraph *graph, const EmogiQuery *query, uint64_t seed)
{
	const uint64_t n = graph->nvertices;
	const size_t bytes = (size_t) n * EMOGI_MAX_COLUMNS * sizeof(double);
	double	   *memory = malloc(2 * bytes + 16);
	Naive		naive = naive_begin(graph, query);
	EmogiResult result = {.nlevels = 0};

	for (int e = 0; e < NENGINES; e++)
	{
		double	   *own = memory + (e == 0 ? 0 : n * EMOGI_MAX_COLUMNS);
		EmogiControl control = {0};
		EmogiError	error = {{0}, {0}};
		EmogiStatus status;

		memset(own, 0x55, bytes);
		result = set_columns(own, n);
		status = engine->run(states[e], graph, query, &result, &control, &error);
		CHECK(status == EMOGI_OK, "%s: status %d %s", name, status, error.message);
		CHECK(memcmp(memory, own, bytes) == 0,
			  "%s of %lld samples: not bit-identical to one thread", name,
			  (long long) query->samples);
		CHECK(e > 0 || emogi_verify(graph, query, &result, &error), "%s: %s", name, error.message);
	}
	query->algorithm == EMOGI_CLOSENESS ? naive_closeness(&naive) : naive_betweenness(&naive);
	compare(name, &naive, &result);
	if (n > 0)
		check_detected(name, graph, query, result, seed);
	naive_end(&naive);
	free(memory);
}

/* Check that a graph without its transpose is refused. */
static void
check_refused(const char *name, const EmogiGraph *graph, EmogiQuery query)
{
	EmogiResult result = {.nlevels = 0};
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};

	CHECK(engine->run(states[0], graph, &query, &result, &control, &error) == EMOGI_BAD_INPUT &&
		  error.message[0] != '\0', "%s: not refused without the transpose", name);
}

/* Run estimates, and exact queries on graphs that are small enough, on all engines. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	const double n = (double) graph->nvertices;
	const double work = n + (double) graph->forward.nedges;

	for (int a = 0; a < 2; a++)
	{
		EmogiQuery query = {.algorithm = a == 0 ? EMOGI_CLOSENESS : EMOGI_BETWEENNESS, .seed = seed,
			.normalized = seed % 3 > 0};

		if (graph->backward.offsets == NULL && n > 0)
		{
			check_refused(name, graph, query);
			continue;
		}
		if (n * work <= MAX_WORK)
			check_query(name, graph, &query, seed);
		query.samples = 1 + (int64_t) (emogi_random(seed, 5) % 200);
		if ((double) query.samples * work > MAX_SAMPLES_WORK)
			query.samples = 2;
		check_query(name, graph, &query, seed);
	}
}

/*
 * Check that samples have the requested number, ascend, are uniformly distributed, and depend on
 * the seed.
 */
static void
check_samples(void)
{
	uint32_t	counts[50] = {0};
	uint32_t	chosen[50];
	uint32_t	first[50];
	int			nsame = 0;

	for (uint64_t seed = 0; seed < 20000; seed++)
	{
		emogi_sample_choose(50, 7, seed, chosen);
		for (int i = 0; i < 7; i++)
		{
			CHECK(chosen[i] < 50 && (i == 0 || chosen[i - 1] < chosen[i]), "samples of seed %llu",
				  (unsigned long long) seed);
			counts[chosen[i]]++;
		}
		nsame += seed > 0 && memcmp(chosen, first, 7 * sizeof *chosen) == 0;
		memcpy(first, chosen, sizeof first);
	}
	for (int v = 0; v < 50; v++)
		CHECK(counts[v] > 2800 - 250 && counts[v] < 2800 + 250,
			  "vertex %d was chosen %u times of 2800", v, counts[v]);
	CHECK(nsame < 5, "%d seeds choose the samples of the seed before", nsame);
	emogi_sample_choose(50, 50, 1, chosen);
	CHECK(chosen[0] == 0 && chosen[49] == 49, "all vertices as samples");
}

/*
 * Check both algorithms on a graph that is large enough for all threads and all code paths, and
 * cancel them.
 */
static void
check_both(const char *name, const EmogiGraph *graph, int64_t nsamples)
{
	double	   *memory = naive_alloc(graph->nvertices * EMOGI_MAX_COLUMNS, sizeof(double));

	for (int a = 0; a < 2; a++)
	{
		EmogiQuery query = {.algorithm = a == 0 ? EMOGI_CLOSENESS : EMOGI_BETWEENNESS,
			.samples = nsamples, .seed = 3, .normalized = true};

		check_query(name, graph, &query, 9);
		query.samples = 0;
		engines_check_cancel(name, graph, &query, set_columns(memory, graph->nvertices));
	}
	free(memory);
}

/* Generate such a graph, and check it. */
static void
check_large(const char *name, EmogiGenerator generator, int scale, int degree, int64_t nsamples)
{
	EmogiEdgeSet set;
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;

	if (!emogi_generate_edges(emogi_cpu_engine_pool(states[1]), generator, scale, degree, 7,
							  &set) ||
		emogi_build_graph(emogi_cpu_engine_pool(states[1]), &set.edges, EMOGI_OUT, true, &built,
						  &control, &error) != EMOGI_OK)
		abort();
	emogi_edge_set_free(&set);
	check_both(name, &built.graph, nsamples);
	emogi_built_graph_free(&built);
}

/*
 * Check a chain with more levels than threads search together, or a square with more paths than a
 * double can represent.
 */
static void
check_deep(bool square, EmogiDirection direction)
{
	const uint64_t side = 560;
	EmogiShape	shape = square ? (EmogiShape) {.name = "square", .nedges = 2 * side * (side - 1)}
	: engines_chain(140000);
	EmogiGraph	graph;
	uint64_t	at = 0;

	if (square)
		shape.edges = malloc(shape.nedges * sizeof(EmogiEdge));
	for (uint64_t v = 0; square && v < side * side; v++)
	{
		if (v % side + 1 < side)
			shape.edges[at++] = (EmogiEdge) {(int64_t) v, (int64_t) v + 1};
		if (v + side < side * side)
			shape.edges[at++] = (EmogiEdge) {(int64_t) v, (int64_t) (v + side)};
	}
	graph = naive_build(&shape, NULL, direction, true);
	check_both(shape.name, &graph, 3);
	naive_free(&graph);
	free(shape.edges);
}

int
main(void)
{
	engines_open();
	check_samples();
	engines_check_shapes(NRANDOM, 1, check_graph);
	check_large("kron", EMOGI_KRON, 15, 16, 70);
	check_large("urand", EMOGI_URAND, 15, 2, 70);
	check_large("large urand", EMOGI_URAND, 18, 3, 3);
	check_deep(false, EMOGI_OUT);
	check_deep(true, EMOGI_BOTH);
	engines_close();
	return check_report("test_centrality");
}
