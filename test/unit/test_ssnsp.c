/*
 * test_ssnsp.c: tests of the cpu engine's numbers of shortest paths against a level-by-level
 * computation in long double; large numbers become infinite and never wrap
 */
#include "engines.h"
#include "oracle.h"
#include "verify/verify.h"

#include <float.h>

#define NRANDOM 200
#define MAX_SOURCES 40
#define QUERIES 3

/* Fill level and paths by the definition, level by level. */
static void
oracle_ssnsp(const EmogiGraph *graph, const EmogiQuery *query, int32_t *level, long double *paths)
{
	const EmogiAdjacency *forward = &graph->forward;
	int32_t		highest = -1;

	oracle_bfs(graph, query, level);
	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		paths[v] = level[v] == 0 ? 1.0L : 0.0L;
		highest = level[v] > highest ? level[v] : highest;
	}
	for (int32_t d = 0; d < highest; d++)
	{
		for (uint64_t u = 0; u < graph->nvertices; u++)
		{
			for (uint64_t i = forward->offsets[u]; level[u] == d && i < forward->offsets[u + 1];
				 i++)
				paths[forward->targets[i]] += level[forward->targets[i]] == d + 1 ? paths[u] : 0.0L;
		}
	}
}

/*
 * Compare with the oracle: equal where doubles are exact, close elsewhere, +inf above the maximum
 * double. Must also be bit-identical to the first engine's answer.
 */
static void
compare(const char *name, uint64_t nvertices, int e, const double *paths, const double *first,
		const long double *expected)
{
	uint64_t	nwrong = 0;

	for (uint64_t v = 0; v < nvertices; v++)
	{
		if (expected[v] <= 9007199254740992.0L || expected[v] > (long double) DBL_MAX)
			nwrong += paths[v] != (double) expected[v];
		else
			nwrong += !(fabsl(paths[v] - expected[v]) <= 1e-9L * expected[v]);
	}
	CHECK(nwrong == 0, "%s: engine %d, %llu wrong counts", name, e, (unsigned long long) nwrong);
	CHECK(memcmp(paths, first, nvertices * sizeof(double)) == 0,
		  "%s: engine %d is not bit-identical to engine 0", name, e);
}

/* Run one query on all engines, and check the answers. */
static void
check_query(const char *name, const EmogiGraph *graph, const EmogiQuery *query)
{
	uint64_t	n = graph->nvertices;
	int32_t    *levels = malloc((n + 1) * sizeof(int32_t));
	int32_t    *level = malloc((n + 1) * sizeof(int32_t));
	long double *expected = malloc((n + 1) * sizeof(long double));
	double	   *paths = malloc((n + 1) * sizeof(double));
	double	   *first = malloc((n + 1) * sizeof(double));

	oracle_ssnsp(graph, query, levels, expected);
	for (int e = 0; e < NENGINES; e++)
	{
		EmogiResult result = {.columns = {{.int32 = level}, {.float64 = paths}}};
		EmogiControl control = {0};
		EmogiError	error = {{0}, {0}};
		EmogiStatus status;

		memset(paths, 0x55, (n + 1) * sizeof(double));
		status = engine->run(states[e], graph, query, &result, &control, &error);
		CHECK(status == EMOGI_OK, "%s: status %d", name, status);
		if (e == 0)
			memcpy(first, paths, n * sizeof(double));
		CHECK(memcmp(level, levels, n * sizeof(int32_t)) == 0, "%s: engine %d, levels", name, e);
		compare(name, n, e, paths, first, expected);
		CHECK(((unsigned char *) (paths + n))[0] == 0x55, "%s: wrote beyond the end", name);
		CHECK(emogi_verify(graph, query, &result, &error), "%s: %s", name, error.message);
	}
	free(levels);
	free(level);
	free(expected);
	free(paths);
	free(first);
}

/* Check queries on a graph; without its transpose, they must be refused. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	uint32_t	sources[MAX_SOURCES];

	for (uint64_t i = 0; i < QUERIES; i++)
	{
		EmogiQuery	query = oracle_query(graph, seed, i, sources, MAX_SOURCES);

		query.algorithm = EMOGI_SSNSP;
		if (graph->backward.offsets == NULL)
		{
			EmogiResult result = {0};
			EmogiControl control = {0};
			EmogiError	error = {{0}, {0}};

			CHECK(engine->run(states[1], graph, &query, &result, &control, &error) ==
				  EMOGI_BAD_INPUT && error.message[0] != '\0',
				  "%s: not refused without the transpose", name);
		}
		else
			check_query(name, graph, &query);
	}
}

/*
 * Check that vertex v of a chain of double edges has exactly 2^v paths, even if the first vertex is
 * a target.
 */
static void
check_doubling(const char *name, const EmogiGraph *graph, uint64_t links)
{
	uint32_t	source = 0;
	EmogiQuery query = {.algorithm = EMOGI_SSNSP, .nsources = 1, .sources = &source,
		.max_depth = -1, .ntargets = 1, .targets = &source};
	double	   *paths = malloc((links + 1) * sizeof(double));
	int32_t    *level = malloc((links + 1) * sizeof(int32_t));
	EmogiResult result = {.columns = {{.int32 = level}, {.float64 = paths}}};
	EmogiControl control = {0};
	EmogiError	error;

	CHECK(engine->run(states[1], graph, &query, &result, &control, &error) == EMOGI_OK, "%s", name);
	for (uint64_t v = 0; v <= links; v++)
		CHECK(paths[v] == ldexp(1.0, (int) v), "2^%llu: %.17g", (unsigned long long) v, paths[v]);
	free(paths);
	free(level);
}

/* Check numbers up to 2^70, and numbers above the maximum double, which become +inf. */
static void
check_links(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	check_doubling(name, graph, graph->nvertices - 1);
}

/* Make a chain of double edges. */
static EmogiShape
double_chain(uint64_t links)
{
	EmogiShape	shape = {.name = "double edges", .edges = malloc(2 * links * sizeof(EmogiEdge))};

	for (uint64_t i = 0; i < 2 * links; i++)
		shape.edges[shape.nedges++] = (EmogiEdge) {(int64_t) i / 2, (int64_t) i / 2 + 1};
	return shape;
}

/* Check that a search in a long chain can be canceled. */
static void
check_chain(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	uint32_t	source = 0;
	EmogiQuery query = {.algorithm = EMOGI_SSNSP, .nsources = 1, .sources = &source,
		.max_depth = -1};
	EmogiResult result = {0};

	result.columns[0].int32 = malloc(graph->nvertices * sizeof(int32_t));
	result.columns[1].float64 = malloc(graph->nvertices * sizeof(double));
	engines_check_cancel(name, graph, &query, result);
	free(result.columns[0].int32);
	free(result.columns[1].float64);
}

int
main(void)
{
	EmogiShape	chain = engines_chain(2000000);
	EmogiShape	links = double_chain(70);

	engines_open();
	engines_check_shapes(NRANDOM, 1, check_graph);
	engines_check_graph(&links, 0, EMOGI_OUT, true, 1, check_links);
	emogi_shape_free(&links);
	links = double_chain(1100);
	engines_check_graph(&links, 0, EMOGI_OUT, true, 1, check_links);
	emogi_shape_free(&links);
	engines_check_graph(&chain, 0, EMOGI_OUT, true, 1, check_chain);
	emogi_shape_free(&chain);
	engines_close();
	return check_report("test_ssnsp");
}
