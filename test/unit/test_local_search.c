/*
 * test_local_search.c: tests of local searches in the backend, and of their trees, against the cpu
 * engine; a search must give up exactly above its limit of edges
 */
#include "build.h"
#include "engines.h"
#include "cpu/cpu.h"
#include "contract/local_search.h"
#include "contract/local_trees.h"
#include "oracle.h"

#include <float.h>

#define NRANDOM 150
#define NQUERIES 8
#define MAX_SOURCES 5

static uint64_t nanswers,
			ntargeted,
			ntrees;

/* Run a query on the engine; columns[0] of the result is malloced. */
static EmogiResult
run_engine(const EmogiGraph *graph, const EmogiQuery *query)
{
	EmogiResult result = {.columns = {{.any = malloc((graph->nvertices + 1) * sizeof(double))},
	{.any = malloc((graph->nvertices + 1) * sizeof(double))}}};
	EmogiControl control = {0};
	EmogiError	error;

	if (engine->run(states[0], graph, query, &result, &control, &error) != EMOGI_OK)
		abort();
	return result;
}

/* Return the engine's value of a vertex; INFINITY = not reached. */
static double
value_of(const EmogiResult *result, EmogiAlgorithm algorithm, uint32_t vertex)
{
	if (algorithm != EMOGI_SSSP)
		return result->columns[0].int32[vertex] < 0 ? INFINITY : result->columns[0].int32[vertex];
	return result->columns[0].float64[vertex];
}

/* Compare the answer to a query without targets with the engine's. */
static void
check_answer(const char *name, const EmogiGraph *graph, const EmogiQuery *query,
			 const EmogiLocalAnswer *answer, const EmogiResult *result)
{
	uint64_t	at = 0,
				ndifferent = 0;

	for (uint32_t v = 0; v < graph->nvertices; v++)
	{
		const double value = value_of(result, query->algorithm, v);

		if (!(value < (double) INFINITY))
			continue;
		if (at < answer->count)
			ndifferent += answer->vertices[at] != v ||
				memcmp(&answer->values[at], &value, sizeof(double)) != 0 ||
				(query->algorithm == EMOGI_SSNSP &&
				 answer->paths[at] != result->columns[1].float64[v]);
		at++;
	}
	CHECK(at == answer->count && ndifferent == 0, "%s: %llu of %llu, not %llu", name,
		  (unsigned long long) ndifferent, (unsigned long long) answer->count,
		  (unsigned long long) at);
	CHECK(answer->count == result->nreached, "%s: reached", name);
	if (query->algorithm != EMOGI_SSSP)
		CHECK(answer->nlevels == result->nlevels, "%s: %u levels, not %u", name, answer->nlevels,
			  result->nlevels);
	nanswers++;
}

/* Return the vertex at a position in an answer. */
static uint32_t
vertex_at(const EmogiLocalAnswer *answer, uint32_t place)
{
	return place != EMOGI_NO_VERTEX ? answer->vertices[place] : EMOGI_NO_VERTEX;
}

/* Compare the tree of an answer to a query without targets with the engine's. */
static void
check_tree(const char *name, const EmogiGraph *graph, const EmogiQuery *query,
		   const EmogiLocalAnswer *answer)
{
	const uint64_t n = graph->nvertices;
	EmogiQuery	tree = *query;
	uint32_t   *predecessor = malloc((answer->count + 1) * sizeof *predecessor);
	uint32_t   *source = malloc((answer->count + 1) * sizeof *source);
	EmogiResult result = {.columns = {{.any = malloc((n + 1) * sizeof(double))},
	{.any = malloc((n + 1) * sizeof(uint32_t))}, {.any = malloc((n + 1) * sizeof(uint32_t))}}};
	EmogiControl control = {0};
	EmogiError	error;
	uint64_t	nscanned;
	uint64_t	ndifferent = 0;

	tree.algorithm = query->algorithm == EMOGI_BFS ? EMOGI_BFS_TREE : EMOGI_SHORTEST_PATH_TREE;
	CHECK(engine->run(states[0], graph, &tree, &result, &control, &error) == EMOGI_OK,
		  "%s: no tree", name);
	CHECK(emogi_local_trees(graph, NULL, query, answer, predecessor, source, &nscanned),
		  "%s: no memory", name);
	CHECK(nscanned <= graph->forward.nedges, "%s: traversed %llu edges", name,
		  (unsigned long long) nscanned);
	for (uint64_t i = 0; i < answer->count; i++)
		ndifferent += vertex_at(answer, predecessor[i]) !=
			result.columns[1].vertex[answer->vertices[i]] ||
			vertex_at(answer, source[i]) != result.columns[2].vertex[answer->vertices[i]];
	CHECK(ndifferent == 0, "%s: %llu of %llu in a tree", name, (unsigned long long) ndifferent,
		  (unsigned long long) answer->count);
	ntrees++;
	for (int i = 0; i < 3; i++)
		free(result.columns[i].any);
	free(predecessor);
	free(source);
}

/* Compare the values of the targets with the engine's. */
static void
check_targets(const char *name, const EmogiQuery *query, const EmogiLocalAnswer *answer,
			  const EmogiResult *result)
{
	uint64_t	ndifferent = 0;

	for (uint64_t t = 0; t < query->ntargets; t++)
	{
		double		value = INFINITY;

		for (uint64_t i = 0; i < answer->count; i++)
			if (answer->vertices[i] == query->targets[t])
				value = answer->values[i];
		ndifferent += value != value_of(result, query->algorithm, query->targets[t]);
	}
	CHECK(ndifferent == 0, "%s: %llu of %llu targets", name, (unsigned long long) ndifferent,
		  (unsigned long long) query->ntargets);
	ntargeted++;
}

/* Return true if a vertex has more paths than a double represents exactly. */
static bool
has_too_many_paths(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result)
{
	bool		has = false;

	for (uint64_t v = 0; v < graph->nvertices && query->algorithm == EMOGI_SSNSP; v++)
		has |= result->columns[1].float64[v] >= 9007199254740992.0;
	return has;
}

/* Check a query with the limit of edges that it needs, and with one edge less. */
static void
check_query(const char *name, const EmogiGraph *graph, const EmogiQuery *query)
{
	EmogiQuery	whole = *query;
	EmogiLocalAnswer answer;
	EmogiResult result;
	uint64_t	nscanned;

	whole.ntargets = 0;
	result = run_engine(graph, &whole);
	if (emogi_local_search(graph, NULL, query, UINT64_MAX, &answer) != EMOGI_LOCAL_ANSWERED)
	{
		CHECK(has_too_many_paths(graph, query, &result), "%s: gave up", name);
		free(result.columns[0].any);
		free(result.columns[1].any);
		return;
	}
	nscanned = answer.edges_traversed;
	if (query->ntargets > 0)
		check_targets(name, query, &answer, &result);
	else
	{
		check_answer(name, graph, query, &answer, &result);
		if (query->algorithm != EMOGI_SSNSP)
			check_tree(name, graph, query, &answer);
	}
	emogi_local_search_free(&answer);
	if (nscanned > query->ntargets + query->nsources)
	{
		CHECK(emogi_local_search(graph, NULL, query, nscanned, &answer) == EMOGI_LOCAL_ANSWERED,
			  "%s: gave up within the limit", name);
		emogi_local_search_free(&answer);
		CHECK(emogi_local_search(graph, NULL, query, nscanned - 1, &answer) ==
			  EMOGI_LOCAL_GAVE_UP && answer.vertices == NULL, "%s: did not give up above the limit",
			  name);
	}
	free(result.columns[0].any);
	free(result.columns[1].any);
}

/* Check random queries on a graph. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	uint32_t	sources[MAX_SOURCES];
	uint32_t	targets[MAX_SOURCES];

	for (uint64_t i = 0; i < NQUERIES && graph->nvertices > 0; i++)
	{
		EmogiQuery	query = oracle_query(graph, seed, i, sources, MAX_SOURCES);

		query.max_distance = i % 3 == 0 ? INFINITY : (double) (emogi_random(seed, 900 + i) % 200);
		query.targets = targets;
		query.ntargets = i % 4 == 3 ? 1 + emogi_random(seed, 1000 + i) % MAX_SOURCES : 0;
		for (uint64_t t = 0; t < query.ntargets; t++)
			targets[t] = (uint32_t) (emogi_random(seed, 1100 + i * MAX_SOURCES + t) %
									 graph->nvertices);
		query.algorithm = EMOGI_BFS;
		check_query(name, graph, &query);
		query.algorithm = EMOGI_SSSP;
		check_query(name, graph, &query);
		query.algorithm = EMOGI_SSNSP;
		query.ntargets = 0;
		if (graph->backward.offsets != NULL)
			check_query(name, graph, &query);
	}
}

/* Check that up to 2^53 paths are counted, along a chain of double edges, and more are not. */
static void
check_many_paths(void)
{
	uint32_t	targets[120];
	uint64_t	offsets[62];
	uint32_t	source = 0;
	EmogiGraph graph = {.nvertices = 61,
		.forward = {.nedges = 120,.offsets = offsets,.targets = targets}};
	EmogiQuery	query = {.algorithm = EMOGI_SSNSP,.nsources = 1,.sources = &source};
	EmogiLocalAnswer answer;

	for (uint32_t v = 0; v <= 60; v++)
		offsets[v] = 2 * v;
	offsets[61] = 120;
	for (uint32_t e = 0; e < 120; e++)
		targets[e] = e / 2 + 1;
	for (query.max_depth = 0; query.max_depth <= 60; query.max_depth++)
	{
		const bool	answered = emogi_local_search(&graph, NULL, &query, UINT64_MAX, &answer) ==
			EMOGI_LOCAL_ANSWERED;

		CHECK(answered == (query.max_depth <= 53), "%lld links", (long long) query.max_depth);
		CHECK(!answered || answer.paths[query.max_depth] == ldexp(1.0, (int) query.max_depth),
			  "%lld links: paths", (long long) query.max_depth);
		emogi_local_search_free(&answer);
	}
}

int
main(void)
{
	engines_open();
	check_many_paths();
	engines_check_shapes(NRANDOM, NAIVE_KINDS, check_graph);
	engines_close();
	CHECK(nanswers > 1000 && ntargeted > 300 && ntrees > 1000,
		  "%llu answers, %llu with targets, %llu trees", (unsigned long long) nanswers,
		  (unsigned long long) ntargeted, (unsigned long long) ntrees);
	return check_report("test_local_search");
}
