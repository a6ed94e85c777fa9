/*
 * test_blocked_spmv.c: tests of blocked SpMV against sums over adjacency lists.
 *
 * Sums must be bit-identical with and without tiles, for any number of threads, and wherever an
 * allocation fails. Tiles are made only if they pay off and fit into the spare memory.
 */
#include "cpu/cpu.h"
#include "cpu/blocked_spmv.h"
#include "engines.h"

#define NCOLUMNS 2
#define PATH_VERTICES 200000
#define PATH_REACH 4

static const EmogiAlgorithm algorithms[] = {EMOGI_PAGERANK, EMOGI_EIGENVECTOR, EMOGI_KATZ,
	EMOGI_HITS};

/* Run a query; answer[NCOLUMNS][nvertices]. */
static EmogiStatus
run_query(EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query,
		  EmogiControl control, double *answer)
{
	EmogiResult result = {0};
	EmogiError	error;

	memset(answer, 0, NCOLUMNS * graph->nvertices * sizeof(double));
	for (uint64_t i = 0; i < NCOLUMNS; i++)
		result.columns[i].float64 = answer + i * graph->nvertices;
	return engine->run(state, graph, query, &result, &control, &error);
}

/* Compare an algorithm's answers with and without tiles. */
static void
check_answers(const char *name, const EmogiGraph *graph, EmogiAlgorithm algorithm)
{
	const EmogiQuery query = {.algorithm = algorithm, .damping = 0.85, .alpha = 1e-6, .beta = 1.0,
		.max_iterations = 6, .tolerance = algorithm == EMOGI_KATZ ? 1.0 : 0.0};
	const size_t bytes = NCOLUMNS * graph->nvertices * sizeof(double);
	double	   *plain = malloc(bytes);
	double	   *tiled = malloc(bytes);
	uint32_t	nfailed = 0;
	EmogiStatus status;

	status = run_query(states[0], graph, &query, (EmogiControl) {0}, plain);
	CHECK(status == EMOGI_OK, "%s, algorithm %d without tiles: %d", name, algorithm, status);
	for (int e = 0; e < NENGINES; e++)
	{
		status = run_query(states[e], graph, &query, (EmogiControl) {.spare_bytes = UINT64_MAX},
						   tiled);
		CHECK(status == EMOGI_OK && memcmp(plain, tiled, bytes) == 0,
			  "%s, algorithm %d, engine %d: %d, or not bit-identical", name, algorithm, e, status);
	}
	do
	{
		status = run_query(states[1], graph, &query,
						   (EmogiControl) {.spare_bytes = UINT64_MAX, .fail_allocation = ++nfailed},
						   tiled);
		CHECK(status == EMOGI_NO_MEMORY || (status == EMOGI_OK && memcmp(plain, tiled, bytes) == 0),
			  "%s, algorithm %d, allocation %u fails: %d, or not bit-identical", name, algorithm,
			  nfailed, status);
	} while (nfailed < EMOGI_RUN_MAPPINGS);
	status = run_query(states[1], graph, &query,
					   (EmogiControl) {.spare_bytes = UINT64_MAX, .cancel = 1}, tiled);
	CHECK(status == EMOGI_CANCELED, "%s, algorithm %d, canceled: %d", name, algorithm, status);
	free(plain);
	free(tiled);
}

/*
 * Count the sums of a group of tiles that differ from those over the lists, for values and for
 * integers.
 */
static uint64_t
count_wrong(const EmogiBlockedSpmv *tiles, EmogiJob *job, const EmogiGraph *graph,
			const double *values, const uint64_t *units, uint64_t group)
{
	const double *sums = emogi_blocked_spmv_sum(tiles, job, values, group, (int) (group % 2));
	const uint64_t *unit_sums = emogi_blocked_spmv_sum_units(tiles, job, units, group,
															 (int) ((group + 1) % 2));
	const uint64_t first = group << tiles->group_bits;
	uint64_t	nwrong = 0;

	for (uint64_t v = first; v < graph->nvertices && v >> tiles->group_bits == group; v++)
	{
		double		sum = 0.0;
		uint64_t	unit_sum = 0;

		for (uint64_t i = graph->forward.offsets[v]; i < graph->forward.offsets[v + 1]; i++)
		{
			sum += values[graph->forward.targets[i]];
			unit_sum += units[graph->forward.targets[i]];
		}
		nwrong += sum != sums[v - first] || unit_sum != unit_sums[v - first];
	}
	return nwrong;
}

/*
 * Make tiles with this much spare memory, for nsteps steps, with or without the transposed lists,
 * and compare their sums with those over the lists. Returns true if there are tiles.
 */
static bool
has_tiles(const char *name, const EmogiGraph *graph, bool transposed, uint64_t spare_bytes,
		  int64_t nsteps)
{
	const EmogiAdjacency none = {0};
	EmogiControl control = {.spare_bytes = spare_bytes};
	EmogiResult result = {0};
	EmogiError	error;
	EmogiCpuRun run;
	EmogiBlockedSpmv	tiles;
	double	   *values = malloc(graph->nvertices * sizeof(double));
	uint64_t   *units = malloc(graph->nvertices * sizeof(uint64_t));
	uint64_t	nwrong = 0;
	bool		has;

	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		values[v] = 1.0 / (double) (v + 3);
		units[v] = v * v + (UINT64_C(1) << 40);
	}
	emogi_cpu_run_begin(&run, emogi_cpu_engine_pool(states[1]), graph, 0, &result, &control, &error,
						"tiles");
	CHECK(emogi_blocked_spmv_make(&tiles, &run, &graph->forward,
								  transposed ? &graph->backward : &none, graph->nvertices, nsteps),
		  "%s: tiles failed", name);
	has = tiles.entries != NULL;
	for (uint64_t g = 0; has && g < tiles.ngroups; g++)
		nwrong += count_wrong(&tiles, &run.job, graph, values, units, g);
	CHECK(nwrong == 0, "%s: %llu sums of tiles are wrong", name, (unsigned long long) nwrong);
	emogi_cpu_run_end(&run);
	free(values);
	free(units);
	return has;
}

/*
 * Compare PageRank with and without the transposed lists. Without them, the tiles are different,
 * and out-degrees are counted.
 */
static void
check_transposed(const char *name, const EmogiGraph *graph)
{
	const size_t bytes = NCOLUMNS * graph->nvertices * sizeof(double);
	double	   *teleport = calloc(graph->nvertices, sizeof(double));
	EmogiQuery	query = {.algorithm = EMOGI_PAGERANK, .damping = 0.85, .max_iterations = 6};
	EmogiGraph	alone = *graph;
	double	   *answers[2] = {malloc(bytes), malloc(bytes)};

	alone.backward = (EmogiAdjacency) {0};
	teleport[1] = teleport[graph->nvertices / 2] = 0.5;
	for (int personalised = 0; personalised < 2; personalised++)
	{
		query.teleport = personalised ? teleport : NULL;
		CHECK(run_query(states[1], graph, &query, (EmogiControl) {.spare_bytes = UINT64_MAX},
						answers[0]) == EMOGI_OK &&
			  run_query(states[1], &alone, &query, (EmogiControl) {.spare_bytes = UINT64_MAX},
						answers[1]) == EMOGI_OK && memcmp(answers[0], answers[1], bytes) == 0,
			  "%s, personalised %d: not bit-identical without the transposed lists", name,
			  personalised);
	}
	free(teleport);
	free(answers[0]);
	free(answers[1]);
}

/* Build a generated graph. */
static EmogiBuiltGraph
generate(EmogiGenerator generator, int scale, int degree)
{
	EmogiPool  *pool = emogi_cpu_engine_pool(states[1]);
	EmogiControl control = {0};
	EmogiEdgeSet set;
	EmogiBuiltGraph built;
	EmogiError	error;

	if (!emogi_generate_edges(pool, generator, scale, degree, 11, &set) ||
		emogi_build_graph(pool, &set.edges, EMOGI_IN, true, &built, &control, &error) != EMOGI_OK)
		abort();
	emogi_edge_set_free(&set);
	return built;
}

/* Check graphs for which tiles are made. */
static void
check_tiled(void)
{
	static const char *const names[] = {"kron", "urand"};
	EmogiBuiltGraph built[] = {generate(EMOGI_KRON, 18, 8), generate(EMOGI_URAND, 17, 8)};

	for (int g = 0; g < 2; g++)
	{
		const EmogiGraph *graph = &built[g].graph;

		for (int transposed = 0; transposed < 2; transposed++)
		{
			CHECK(has_tiles(names[g], graph, transposed, UINT64_MAX, 20), "%s has no tiles",
				  names[g]);
			CHECK(!has_tiles(names[g], graph, transposed, graph->forward.nedges * 4, 20),
				  "%s has tiles larger than the spare memory", names[g]);
			CHECK(!has_tiles(names[g], graph, transposed, 0, 20),
				  "%s has tiles without spare memory", names[g]);
			CHECK(!has_tiles(names[g], graph, transposed, UINT64_MAX, 3),
				  "%s has tiles for three steps", names[g]);
		}
		for (size_t a = 0; a < sizeof algorithms / sizeof algorithms[0]; a++)
			check_answers(names[g], graph, algorithms[a]);
		check_transposed(names[g], graph);
		emogi_built_graph_free(&built[g]);
	}
}

/* Check graphs for which tiles do not pay off: small ones, and one with short edges. */
static void
check_untiled(void)
{
	EmogiShape	path = {.name = "path", .nedges = (uint64_t) PATH_VERTICES * PATH_REACH};
	EmogiBuiltGraph small = generate(EMOGI_URAND, 15, 16);
	EmogiGraph	graph;

	CHECK(!has_tiles("a small graph", &small.graph, true, UINT64_MAX, 20),
		  "a small graph has tiles");
	emogi_built_graph_free(&small);
	path.edges = malloc(path.nedges * sizeof(EmogiEdge));
	for (int64_t i = 0; i < PATH_VERTICES; i++)
		for (int64_t j = 0; j < PATH_REACH; j++)
			path.edges[i * PATH_REACH + j] = (EmogiEdge) {i, (i + j + 1) % PATH_VERTICES};
	graph = naive_build(&path, NULL, EMOGI_IN, true);
	CHECK(!has_tiles("short edges", &graph, true, UINT64_MAX, 20), "short edges have tiles");
	naive_free(&graph);
	emogi_shape_free(&path);
}

int
main(void)
{
	engines_open();
	check_tiled();
	check_untiled();
	engines_close();
	return check_report("test_blocked_spmv");
}
