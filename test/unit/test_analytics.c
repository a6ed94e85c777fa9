/*
 * test_analytics.c: tests of the cpu engine's algorithms on whole graphs, without sources or start
 * values.
 *
 * Answers are checked by verifiers, must be bit-identical for any number of threads, and must match
 * published results for the karate club. The verifiers must detect a changed answer.
 */
#include "cpu/cpu.h"
#include "engines.h"
#include "karate.h"
#include "verify/verify.h"

#define NRANDOM 250
#define NKINDS 7				/* kinds of weights, all finite */

static const EmogiAlgorithm tested[] = {EMOGI_SCC, EMOGI_TRIANGLES, EMOGI_TRIANGLE_COUNT, EMOGI_LCC,
	EMOGI_CORE, EMOGI_CDLP,
	EMOGI_DEGREE};

#define NTESTED (sizeof tested / sizeof *tested)

/* Return the bytes of a vertex's values in all columns. */
static uint64_t
row_bytes(const EmogiAlgorithmRow *row)
{
	uint64_t	bytes = 0;

	for (int i = 0; row->columns[i].name != NULL; i++)
		bytes += emogi_algorithm_column_bytes(row->columns[i].type);
	return bytes;
}

/* Point a result's columns to consecutive parts of the memory. */
static EmogiResult
set_columns(const EmogiAlgorithmRow *row, uint64_t nvertices, char *memory)
{
	EmogiResult result = {.nlevels = 0};

	for (int i = 0; row->columns[i].name != NULL; i++)
	{
		result.columns[i].any = memory;
		memory += nvertices * emogi_algorithm_column_bytes(row->columns[i].type);
	}
	return result;
}

/* Check that the verifier detects a changed value. */
static void
check_detected(const char *name, const EmogiGraph *graph, const EmogiQuery *query,
			   EmogiResult result, uint64_t seed)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(query->algorithm);
	const uint64_t v = emogi_random(seed, 77) % graph->nvertices;
	EmogiError	error = {{0}, {0}};

	switch (row->columns[0].type)
	{
		case EMOGI_INT32:
			result.columns[0].int32[v] += 1;
			break;
		case EMOGI_INT64:
			result.columns[0].int64[v] += 1;
			break;
		case EMOGI_FLOAT64:
			result.columns[0].float64[v] += 0.25;
			break;
		case EMOGI_VERTEX:
			result.columns[0].vertex[v] = (result.columns[0].vertex[v] + 1) %
				(uint32_t) graph->nvertices;
			break;
		case EMOGI_EDGE:
			break;
	}
	CHECK((graph->nvertices == 1 && row->columns[0].type == EMOGI_VERTEX) ||
		  !emogi_verify(graph, query, &result, &error),
		  "%s, %s: the verifier missed a change of vertex %llu", name, row->name,
		  (unsigned long long) v);
}

/* Run one query on all engines, and check the answers. */
static void
check_query(const char *name, const EmogiGraph *graph, const EmogiQuery *query, uint64_t seed)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(query->algorithm);
	const uint64_t bytes = graph->nvertices * row_bytes(row);
	char	   *memory = malloc(2 * (bytes + 8));
	EmogiResult result = {.nlevels = 0};

	for (int e = 0; e < NENGINES; e++)
	{
		char	   *own = memory + (e == 0 ? 0 : bytes + 8);
		EmogiControl control = {0};
		EmogiError	error = {{0}, {0}};
		EmogiStatus status;

		memset(own, 0x55, bytes + 8);
		result = set_columns(row, graph->nvertices, own);
		status = engine->run(states[e], graph, query, &result, &control, &error);
		CHECK(status == EMOGI_OK, "%s, %s: status %d %s", name, row->name, status, error.message);
		CHECK(memcmp(own + bytes, "UUUUUUUU", 8) == 0, "%s, %s: wrote beyond the end", name,
			  row->name);
		CHECK(memcmp(memory, own, bytes) == 0, "%s, %s: not bit-identical to one thread", name,
			  row->name);
		CHECK(e > 0 || emogi_verify(graph, query, &result, &error), "%s, %s: %s", name, row->name,
			  error.message);
	}
	if (graph->nvertices > 0)
		check_detected(name, graph, query, result, seed);
	for (int e = 0; e < NENGINES; e++)
	{
		EmogiControl control = {.cancel = 1};
		EmogiError	error = {{0}, {0}};

		CHECK(engine->run(states[e], graph, query, &result, &control, &error) == EMOGI_CANCELED ||
			  graph->nvertices + graph->forward.nedges < 100000,
			  "%s, %s: runs although it is canceled", name, row->name);
	}
	free(memory);
}

/* Run all algorithms that the graph's lists support, on all engines. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	for (uint64_t i = 0; i < NTESTED; i++)
	{
		const EmogiAlgorithmRow *row = emogi_algorithm_row(tested[i]);
		EmogiQuery	query = {.algorithm = tested[i], .max_iterations = 1 + (int64_t) (seed % 12)};

		if (!engines_suits(graph, row))
			continue;
		if ((row->traits & EMOGI_NEEDS_BACKWARD) != 0 && graph->backward.offsets == NULL &&
			graph->nvertices > 0)
		{
			EmogiResult result = {.nlevels = 0};
			EmogiControl control = {0};
			EmogiError	error = {{0}, {0}};

			CHECK(engine->run(states[0], graph, &query, &result, &control, &error) ==
				  EMOGI_BAD_INPUT && error.message[0] != '\0',
				  "%s, %s: not refused without the transpose", name, row->name);
			continue;
		}
		check_query(name, graph, &query, seed);
	}
}

/* Check graphs that are large enough for all threads and all code paths. */
static void
check_large(const char *name, EmogiGenerator generator, int degree)
{
	for (int d = 0; d < 2; d++)
	{
		EmogiEdgeSet set;
		EmogiBuiltGraph built;
		EmogiControl control = {0};
		EmogiError	error;

		if (!emogi_generate_edges(emogi_cpu_engine_pool(states[1]), generator, 14, degree, 7,
								  &set) ||
			emogi_build_graph(emogi_cpu_engine_pool(states[1]), &set.edges,
							  d == 0 ? EMOGI_OUT : EMOGI_BOTH, true, &built, &control, &error) !=
			EMOGI_OK)
			abort();
		emogi_edge_set_free(&set);
		check_graph(name, &built.graph, (uint64_t) degree);
		emogi_built_graph_free(&built);
	}
}

/* Check the karate club against the results of networkx 3.4. */
static void
check_karate(void)
{
	EmogiShape	shape = karate_shape();
	EmogiGraph	graph = naive_build(&shape, NULL, EMOGI_BOTH, true);
	int64_t		triangles[34];
	double		coefficients[34];
	int32_t		cores[34];
	EmogiResult results[] = {{.columns[0].int64 = triangles}, {.columns[0].float64 = coefficients},
	{.columns[0].int32 = cores}};
	const EmogiAlgorithm algorithms[] = {EMOGI_TRIANGLES, EMOGI_LCC, EMOGI_CORE};
	int64_t		ntriangles = 0;
	double		mean = 0.0;
	int			ninner = 0;

	for (int i = 0; i < 3; i++)
	{
		EmogiQuery	query = {.algorithm = algorithms[i]};
		EmogiControl control = {0};
		EmogiError	error;

		CHECK(engine->run(states[1], &graph, &query, &results[i], &control, &error) == EMOGI_OK,
			  "karate club");
	}
	for (int v = 0; v < 34; v++)
	{
		ntriangles += triangles[v];
		mean += coefficients[v] / 34;
		ninner += cores[v] == 4;
	}
	CHECK(graph.nvertices == 34 && ntriangles == 3 * 45, "karate club: %lld triangles",
		  (long long) ntriangles);
	CHECK(mean > 0.57063 && mean < 0.57064, "karate club: a mean coefficient of %.9f", mean);
	CHECK(ninner == 10, "karate club: %d vertices in the 4-core", ninner);
	naive_free(&graph);
}

int
main(void)
{
	engines_open();
	check_karate();
	engines_check_shapes(NRANDOM, NKINDS, check_graph);
	check_large("kron", EMOGI_KRON, 16);
	check_large("urand", EMOGI_URAND, 4);
	engines_close();
	return check_report("test_analytics");
}
