/*
 * test_verify.c: tests of parallel verification against verification by one thread, on correct and
 * changed answers, for all algorithms
 */
#include "engines.h"
#include "contract/semirings.h"
#include "verify/verify.h"

#define NPOOLS 3
/* vertices for top-k similarities, which take quadratic time on a star */
#define MAX_SIMILARITY_VERTICES 2000
#define NCHANGED 20				/* changed answers per algorithm */
/* the same above LARGE vertices, where a verification takes a second */
#define NCHANGED_LARGE 2
#define LARGE 20000
#define NRANDOM 40

static EmogiPool *pools[NPOOLS];	/* none, and pools of 2 and 5 threads */

/* Check that all pools come to the same result; returns it. */
static bool
verify_by_all(const char *name, const EmogiGraph *graph, const EmogiQuery *query,
			  const EmogiResult *result)
{
	EmogiError	error = {{0}, {0}};
	bool		correct = emogi_verify(graph, query, result, &error);

	for (int p = 0; p < NPOOLS; p++)
	{
		EmogiError	other = {{0}, {0}};

		CHECK(emogi_verify_parallel(pools[p], graph, query, result, &other) == correct &&
			  (correct || other.message[0] != '\0'),
			  "%s: algorithm %d, pool %d: %s, but one thread: %s", name, query->algorithm, p,
			  other.message, error.message);
	}
	return correct;
}

/* Change an answer at one vertex, in its last column. */
static void
change_answer(const EmogiAlgorithmRow *row, EmogiResult *result, uint64_t nvertices,
			  uint64_t random)
{
	const uint64_t v = random % nvertices;
	int			last = 0;

	/* of biconnected components, the first column: another parent may be as good */
	while (row->columns[last + 1].name != NULL && row->shape != EMOGI_SHAPE_BLOCKS)
		last++;
	switch (row->columns[last].type)
	{
		case EMOGI_INT32:
			result->columns[last].int32[v] += random >> 40 & 1 ? 1 : -1;
			break;
		case EMOGI_INT64:
			result->columns[last].int64[v] += random >> 40 & 1 ? 1 : -1;
			break;
		case EMOGI_VERTEX:
			result->columns[last].vertex[v] = (uint32_t) (random >> 32) % (uint32_t) nvertices;
			break;
		case EMOGI_FLOAT64:
			result->columns[last].float64[v] = isinf(result->columns[last].float64[v]) ? 1.0 :
				result->columns[last].float64[v] * 1.5 + 1.0;
			break;
		case EMOGI_EDGE:
			break;
	}
}

/* Point an answer's columns to the memory, each with room for this many values of 8 bytes. */
static EmogiResult
set_columns(double *memory, uint64_t room)
{
	EmogiResult result = {0};

	for (uint64_t i = 0; i < EMOGI_MAX_COLUMNS; i++)
		result.columns[i].float64 = memory + i * room;
	return result;
}

/* Run all algorithms, and check their answers and changed ones. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	uint64_t	n = graph->nvertices;
	const uint64_t nchanged = n > LARGE ? NCHANGED_LARGE : NCHANGED;

	/* lists have as many elements as vertices or edges */
	const uint64_t room = (n > graph->forward.nedges ? n : graph->forward.nedges) + 1;
	size_t		bytes = room * EMOGI_MAX_COLUMNS * sizeof(double);
	double	   *correct = malloc(bytes);
	double	   *wrong = malloc(bytes);
	double	   *values = malloc((n + 1) * sizeof(double));
	uint32_t	source = n > 0 ? (uint32_t) (emogi_random(seed, 1) % n) : 0;
	uint32_t	target = n > 0 ? (uint32_t) (emogi_random(seed, 2) % n) : 0;
	EmogiQuery	query = {.nsources = n > 0, .sources = &source, .targets = &target, .max_depth = -1,
		.max_distance = (double) INFINITY, .damping = 0.85, .alpha = 1e-3, .beta = 1.0,
		.normalized = seed % 2 == 0, .max_iterations = 10, .samples = 3, .values = values,
		.resolution = 1.0, .theta = 0.01, .top_k = 1, .walks = 1,
		.length = n > 0 ? (int64_t) n - 1 : 0, .return_parameter = 0.5, .in_out_parameter = 2.0};

	for (uint64_t v = 0; v < n; v++)
		values[v] = (double) (emogi_random(seed, v) % 100);
	for (int a = 0; a < EMOGI_NALGORITHMS; a++)
	{
		const EmogiAlgorithmRow *row = emogi_algorithm_row((EmogiAlgorithm) a);
		EmogiResult result = set_columns(correct, room);
		EmogiResult changed;
		EmogiControl control = {0};
		EmogiError	error = {{0}, {0}};
		int			nwrong = 0;

		if (!engines_suits(graph, row) ||
			(row->algorithm == EMOGI_SIMILARITY && n > MAX_SIMILARITY_VERTICES))
			continue;
		query.algorithm = (EmogiAlgorithm) a;
		query.ntargets = n > 0 && emogi_algorithm_takes(row, EMOGI_TARGETS) >= 0;
		memset(correct, 0, bytes);
		if (engine->run(states[1], graph, &query, &result, &control, &error) != EMOGI_OK)
			continue;			/* no transpose */
		CHECK(verify_by_all(name, graph, &query, &result), "%s: algorithm %d: rejected", name, a);
		for (uint64_t i = 0; i < nchanged && n > 0; i++)
		{
			memcpy(wrong, correct, bytes);
			changed = result;
			memcpy(changed.columns, set_columns(wrong, room).columns, sizeof(changed.columns));
			change_answer(row, &changed, n, emogi_random(seed + 1000, i));
			nwrong += !verify_by_all(name, graph, &query, &changed);
		}
		/*
		 * Not wrong are changes below a sum's tolerance, of unused elements of lists, and of a
		 * step to a vertex that another edge leads to.
		 */
		CHECK(n < 100 || n > LARGE || emogi_is_sum(row->algorithm) ||
			  emogi_shape_is_list(row->shape) || nwrong > NCHANGED / 2,
			  "%s: algorithm %d: %d changed answers rejected", name, a, nwrong);
	}
	free(correct);
	free(wrong);
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
