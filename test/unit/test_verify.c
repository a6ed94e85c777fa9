/*
 * test_verify.c: what one thread finds right or wrong of an answer, many threads do, for every algorithm.
 */
#include "engines.h"
#include "verify/verify.h"

#define NPOOLS 3
#define NSPOILED 20				/* answers of each algorithm */
#define NRANDOM 40

static EmogiPool *pools[NPOOLS];	/* none, of 2 and of 5 threads */

/* Check that all pools find the same of an answer; says what that is. */
static bool
judge(const char *name, const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result)
{
	EmogiError	error = {{0}, {0}};
	bool		right = emogi_verify(graph, query, result, &error);

	for (int p = 0; p < NPOOLS; p++)
	{
		EmogiError	other = {{0}, {0}};

		CHECK(emogi_verify_parallel(pools[p], graph, query, result, &other) == right && (right || other.message[0] != '\0'),
			  "%s: algorithm %d, pool %d: %s, but one thread: %s", name, query->algorithm, p, other.message, error.message);
	}
	return right;
}

/* Spoil an answer at one vertex. */
static void
spoil(EmogiAlgorithm algorithm, EmogiResult *result, uint64_t nvertices, uint64_t random)
{
	uint64_t	v = random % nvertices;

	if (algorithm == EMOGI_BFS)
		result->level[v] += random >> 40 & 1 ? 1 : -1;
	else if (algorithm == EMOGI_CC)
		result->component[v] = (uint32_t) (random >> 32) % (uint32_t) nvertices;
	else
		result->value[v] = isinf(result->value[v]) ? 1.0 : result->value[v] * 1.5 + 1.0;
}

/* Ask for every algorithm and spoil the answers. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	uint64_t	n = graph->nvertices;
	int32_t    *levels = malloc((n + 1) * 2 * sizeof(int32_t));
	double	   *values = malloc((n + 1) * 3 * sizeof(double));
	uint32_t	source = n > 0 ? (uint32_t) (emogi_random(seed, 1) % n) : 0;
	EmogiQuery	query = {.nsources = n > 0, .sources = &source, .max_depth = -1, .max_distance = (double) INFINITY,
		.damping = 0.85, .max_iterations = 10, .values = values};

	for (uint64_t v = 0; v < n; v++)
		values[v] = (double) (emogi_random(seed, v) % 100);
	for (int a = 0; a < EMOGI_NALGORITHMS; a++)
	{
		EmogiResult result = {.level = levels, .value = values + n + 1};
		EmogiResult spoiled;
		EmogiControl control = {0};
		EmogiError	error = {{0}, {0}};
		int			nwrong = 0;

		query.algorithm = (EmogiAlgorithm) a;
		result.distance = result.paths = result.value;
		result.component = (uint32_t *) result.value;
		if (engine->run(states[1], graph, &query, &result, &control, &error) != EMOGI_OK)
			continue;			/* no backward */
		CHECK(judge(name, graph, &query, &result), "%s: algorithm %d", name, a);
		spoiled = result;
		spoiled.level = levels + n + 1;
		spoiled.value = spoiled.distance = spoiled.paths = values + 2 * (n + 1);
		spoiled.component = (uint32_t *) spoiled.value;
		for (uint64_t i = 0; i < NSPOILED && n > 0; i++)
		{
			memcpy(spoiled.level, result.level, n * sizeof(int32_t));
			memcpy(spoiled.value, result.value, n * sizeof(double));
			spoil(query.algorithm, &spoiled, n, emogi_random(seed + 1000, i));
			nwrong += !judge(name, graph, &query, &spoiled);
		}
		CHECK(n < 100 || a >= EMOGI_HEAT || nwrong > NSPOILED / 2, "%s: algorithm %d: %d spoiled answers found", name, a, nwrong);
	}
	free(levels);
	free(values);
}

int
main(void)
{
	engines_open();
	pools[1] = emogi_pool_create(2);
	pools[2] = emogi_pool_create(5);
	if (pools[1] == NULL || pools[2] == NULL)
		abort();
	engines_check_shapes(NRANDOM, 3, check_graph);
	emogi_pool_destroy(pools[1]);
	emogi_pool_destroy(pools[2]);
	engines_close();
	return check_report("test_verify");
}
