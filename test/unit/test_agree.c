/*
 * test_agree.c: comparison of the cuda engine with the cpu engine for all algorithms, unweighted
 * and with all kinds of weights.
 *
 * Paths, components, closeness, sums of levels, and counts up to 2^53 must be bit-identical. Larger
 * counts, sums, and betweenness may differ by 1e-9. A query that one engine refuses, the other must
 * refuse as well. Every other graph has an id, so that the engine caches it between queries.
 *
 * The environment variables are:
 *
 *   EMOGI_AGREE_GRAPHS      number of random graphs (default 220)
 *   EMOGI_AGREE_SEED        seed of the first one (default 1)
 *   EMOGI_AGREE_LARGE       0 = skip the fixed shapes and large graphs, which take racecheck hours
 *   EMOGI_AGREE_ALGORITHMS  names of the algorithms, separated by commas (default all)
 */
#include "both.h"

#include "contract/query.h"
#include "contract/rank_units.h"
#include "contract/semirings.h"
#include "cpu/cpu.h"
#include "refused.h"

#define DEFAULT_GRAPHS 220
#define MAX_SOURCES 50
#define QUERIES 3
/* up to so many vertices, all are sources; above, some queries sample */
#define MAX_EXACT_VERTICES 300
#define SAMPLES 9
#define MAX_PAIRS 200
#define DEEP_LEVELS 254			/* with more levels, betweenness is left to the cpu engine */
/* closeness is left to the cpu engine above this number of levels ... */
#define FEW_LEVELS 64
#define EDGES_PER_LEVEL 40000		/* ... plus one per so many edges; sampled queries may be */
#define MAX_SECOND_EDGES 100000000	/* edges at distance two */
#define MAX_SIMILARITY_ROWS 2000000		/* rows of an answer */
#define WALK_SOURCES 20
#define SUMS_SOURCES 1200		/* so many that several GPUs share them */
#define MAX_SUMS_EDGES 20000	/* edges; larger graphs are searched from a tenth of the sources */
#define HUBS 40
#define HUB_VERTICES 6000		/* with edges to hubs: more than fit into a table */
#define DENSE_VERTICES 2200
#define LEAVES 200000
#define FINITE_KINDS 7			/* kinds of weights from this one on have sums that overflow */

static uint64_t nrefused;		/* queries that the cpu engine refused */

/* Return true if an algorithm is selected by EMOGI_AGREE_ALGORITHMS. */
static bool
is_selected(EmogiAlgorithm algorithm)
{
	const char *names = getenv("EMOGI_AGREE_ALGORITHMS");
	const char *name = emogi_algorithm_row(algorithm)->name;
	const size_t length = strlen(name);

	for (const char *at = names; at != NULL && *at != '\0'; at += strcspn(at, ","),
		 at += *at == ',')
		if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
			return true;
	return names == NULL;
}

/* Return true if the cuda engine must leave a query with this answer to the cpu engine. */
static bool
must_leave_to_cpu(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *expected)
{
	return (query->algorithm == EMOGI_BETWEENNESS && expected->nlevels > DEEP_LEVELS) ||
		((query->algorithm == EMOGI_CLOSENESS || query->algorithm == EMOGI_BFS_SUMS) &&
		 expected->nlevels > FEW_LEVELS + 1 + graph->forward.nedges / EDGES_PER_LEVEL) ||
		(query->algorithm == EMOGI_MODULARITY &&
		 (graph->weight_type == EMOGI_WEIGHT_F32 || graph->weight_type == EMOGI_WEIGHT_F64));
}

/* Return true if the cuda engine may leave a query to the cpu engine. */
static bool
may_leave_to_cpu(const EmogiQuery *query, const EmogiResult *expected)
{
	return query->algorithm == EMOGI_CLOSENESS && query->samples > 0 &&
		expected->nlevels > FEW_LEVELS;
}

/*
 * Return true if both engines refuse a KATZ query for the same reason, or its convergence depends
 * on rounding.
 */
static bool
refusals_agree(const Answer *answer, EmogiStatus status, const Answer *expected,
			   EmogiStatus expected_status)
{
	const EmogiRefusal *refusal = status == EMOGI_BAD_INPUT ? &answer->result.refusal
		: &expected->result.refusal;

	if (status == expected_status && answer->result.refusal.kind == expected->result.refusal.kind)
		return fabs(answer->result.refusal.rate - expected->result.refusal.rate) <=
			1e-9 * expected->result.refusal.rate ||
			answer->result.nlevels != expected->result.nlevels;
	return fabs(refusal->rate - 1.0) < 1e-9;
}

/*
 * Check that another run returns the same bits, on one link and one GPU, or with helpers that fail
 * after some calls: the order of additions does not depend on them.
 */
static void
check_again(const char *name, const EmogiGraph *graph, const EmogiQuery *query, const Answer *first)
{
	const uint64_t n = emogi_query_length(graph, query);
	Answer		again = make_answer(n);
	EmogiQuery	alone = *query;
	EmogiControl control = {0};
	EmogiError	error;

	alone.devices = 0;
	if (rand() % 2 == 0)
	{
		control.fail_device_call = EMOGI_FAULT_OF_HELPER | (uint32_t) (1 + rand() % 300);
		use_random_helpers();
	}
	CHECK(cuda->run(cuda_state, graph, &alone, &again.result, &control, &error) == EMOGI_OK &&
		  memcmp(again.memory, first->memory, (n + 1) * 8 * EMOGI_MAX_COLUMNS) == 0 &&
		  again.result.nlevels == first->result.nlevels,
		  "%s algorithm %d placement %d: another run returned other bits", name, query->algorithm,
		  query->placement);
	free(again.memory);
}

/*
 * Return true if ranks that are computed in integers are bit-identical, or are not computed in
 * integers.
 */
static bool
same_ranks(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result,
		   const EmogiResult *expected)
{
	if (!emogi_algorithm_has(query->algorithm, EMOGI_DAMPED) ||
		!emogi_rank_units_applicable(query, graph->nvertices,
									 emogi_rank_units_coarse(graph->forward.nedges)))
		return true;
	return result->change == expected->change &&
		memcmp(result->columns[0].any, expected->columns[0].any,
			   graph->nvertices * sizeof(double)) == 0;
}

/* Run a query on both engines, in all placements, and compare the answers. */
static void
check_query(const char *name, const EmogiGraph *graph, EmogiQuery query)
{
	const uint64_t n = emogi_query_length(graph, &query);
	Answer		expected;
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	EmogiStatus expected_status;

	if (!is_selected(query.algorithm))
		return;
	expected = make_answer(n);
	expected_status = cpu->run(cpu_state, graph, &query, &expected.result, &control, &error);
	if (expected_status != EMOGI_OK &&
		(expected_status != EMOGI_BAD_INPUT || expected.result.refusal.kind == EMOGI_NOT_REFUSED))
		abort();
	nrefused += expected_status != EMOGI_OK;
	for (int p = EMOGI_PLACEMENT_AUTO; p <= EMOGI_PLACEMENT_PEER; p++)
	{
		Answer		answer = make_answer(n);
		EmogiResult given = answer.result;
		EmogiStatus status;

		query.placement = (EmogiPlacement) p;
		query.devices = ~UINT32_C(0);	/* all links of the machine */
		use_random_helpers();
		status = cuda->run(cuda_state, graph, &query, &answer.result, &control, &error);
		if (must_leave_to_cpu(graph, &query, &expected.result))
		{
			CHECK(status == EMOGI_UNSUPPORTED, "%s algorithm %d placement %d: status %d", name,
				  query.algorithm, p, status);
			free(answer.memory);
			continue;
		}
		if (expected_status != EMOGI_OK ||
			(query.algorithm == EMOGI_KATZ && status == EMOGI_BAD_INPUT) ||
			(status == EMOGI_UNSUPPORTED && may_leave_to_cpu(&query, &expected.result)))
		{
			CHECK(status == EMOGI_UNSUPPORTED ||
				  refusals_agree(&answer, status, &expected, expected_status),
				  "%s algorithm %d placement %d alpha %.17g: status %d, not "
				  "%d, refused %d at %.17g, not %d at %.17g", name, query.algorithm, p, query.alpha,
				  status, expected_status, answer.result.refusal.kind, answer.result.refusal.rate,
				  expected.result.refusal.kind, expected.result.refusal.rate);
			free(answer.memory);
			continue;
		}
		CHECK(status == EMOGI_OK, "%s algorithm %d placement %d: status %d, %s (%s)", name,
			  query.algorithm, p, status, error.message, error.detail);
		CHECK(agree(query.algorithm, n, &answer.result, &expected.result),
			  "%s algorithm %d placement %d weights %d, %llu "
			  "sources, max depth %lld, max distance %g", name, query.algorithm, p,
			  graph->weight_type, (unsigned long long) query.nsources, (long long) query.max_depth,
			  query.max_distance);
		CHECK(same_ranks(graph, &query, &answer.result, &expected.result),
			  "%s placement %d: ranks are not bit-identical", name, p);
		CHECK(within_bounds(query.algorithm, n, &given),
			  "%s algorithm %d placement %d wrote beyond the end", name, query.algorithm, p);
		CHECK(answer.result.nreached == expected.result.nreached,
			  "%s algorithm %d placement %d: reached %llu of %llu", name, query.algorithm, p,
			  (unsigned long long) answer.result.nreached,
			  (unsigned long long) expected.result.nreached);
		CHECK(answer.result.placement == EMOGI_PLACEMENT_DEVICE ||
			  (answer.result.placement == EMOGI_PLACEMENT_HOST && p != EMOGI_PLACEMENT_DEVICE) ||
			  (answer.result.placement == EMOGI_PLACEMENT_HYBRID && p == EMOGI_PLACEMENT_HYBRID) ||
			  (answer.result.placement == EMOGI_PLACEMENT_PEER && ncuda_helpers > 0),
			  "%s algorithm %d placement %d was %d", name, query.algorithm, p,
			  answer.result.placement);
		if (query.algorithm == EMOGI_EIGENVECTOR || query.algorithm == EMOGI_KATZ ||
			query.algorithm == EMOGI_HITS || query.algorithm == EMOGI_BETWEENNESS ||
			query.algorithm == EMOGI_CLOSENESS || query.algorithm == EMOGI_BFS_SUMS)
			check_again(name, graph, &query, &answer);
		free(answer.memory);
	}
	free(expected.memory);
}

/* Check the similarity of pairs: neighbors, vertices two steps apart, and random ones. */
static void
check_pairs(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	const EmogiAdjacency *lists = &graph->forward;
	uint32_t	pairs[2 * MAX_PAIRS];
	EmogiQuery query = {.algorithm = EMOGI_SIMILARITY, .pairs = pairs,
		.npairs = emogi_random(seed, 400) % (MAX_PAIRS + 1)};

	if (graph->nvertices == 0)
		return;
	for (uint64_t i = 0; i < 2 * query.npairs; i++)
	{
		const uint32_t v = (uint32_t) (emogi_random(seed, 500 + i) % graph->nvertices);
		const uint64_t degree = lists->offsets[v + 1] - lists->offsets[v];

		pairs[i] = i % 4 < 2 && degree > 0
			? lists->targets[lists->offsets[v] + emogi_random(seed, 600 + i) % degree] : v;
	}
	query.cutoff = (double) (emogi_random(seed, 401) % 3) / 4.0;
	for (int measure = EMOGI_JACCARD; measure <= EMOGI_COSINE; measure++)
	{
		query.measure = (EmogiMeasure) measure;
		check_query(name, graph, query);
	}
}

/*
 * Check the top-k similarities of all vertices, for small and large k, on graphs that the cpu
 * engine processes quickly.
 */
static void
check_similar(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	static const int64_t counts[] = {1, 3, 10, 70, 300};
	const EmogiAdjacency *lists = &graph->forward;
	EmogiQuery query = {.algorithm = EMOGI_SIMILARITY, .top_k = counts[seed % 5],
		.measure = (EmogiMeasure) (seed % 3)};
	uint64_t	nsecond = 0;

	if (graph->nvertices == 0 || graph->backward.offsets == NULL)
		return;
	for (uint64_t e = 0; e < lists->nedges; e++)
		nsecond += graph->backward.offsets[lists->targets[e] + UINT64_C(1)] -
			graph->backward.offsets[lists->targets[e]];
	query.cutoff = (double) (emogi_random(seed, 402) % 3) / 8.0;
	if (graph->nvertices * (uint64_t) query.top_k > MAX_SIMILARITY_ROWS)
		query.top_k = 2;
	if (nsecond <= MAX_SECOND_EDGES)
		check_query(name, graph, query);
}

/*
 * Check random walks, as many as the cuda engine supports: plain, and biased by p and q, some of
 * which accept few draws.
 */
static void
check_walks(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	static const double parameters[][2] = {{1.0, 1.0}, {0.25, 4.0}, {50.0, 200.0}};
	uint32_t	sources[WALK_SOURCES];
	EmogiQuery query = {.algorithm = EMOGI_RANDOM_WALK, .sources = sources,
		.nsources = WALK_SOURCES, .walks = 60, .length = 60,
		.return_parameter = parameters[seed % 3][0], .in_out_parameter = parameters[seed % 3][1],
		.seed = seed << 40 | 7};

	if (graph->nvertices == 0)
		return;
	for (uint64_t i = 0; i < WALK_SOURCES; i++)
		sources[i] = (uint32_t) (emogi_random(seed, 700 + i) % graph->nvertices);
	check_query(name, graph, query);
}

/*
 * Check sums over BFS levels: from few sources and from several batches of them, with duplicates,
 * over all levels and over some.
 */
static void
check_level_sums(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	static const int64_t depths[] = {-1, -1, 0, 1, 3, 100};
	static const uint64_t counts[] = {1, 64, 65, 200, SUMS_SOURCES};
	uint32_t	sources[SUMS_SOURCES];
	EmogiQuery query = {.algorithm = EMOGI_BFS_SUMS, .sources = sources,
		.nsources = counts[seed % 5], .max_depth = depths[emogi_random(seed, 403) % 6],
		.first_level = (uint32_t) (emogi_random(seed, 404) % 2 * (emogi_random(seed, 405) % 4))};

	if (graph->nvertices == 0)
		return;
	if (graph->forward.nedges > MAX_SUMS_EDGES && query.nsources == SUMS_SOURCES)
		query.nsources = SUMS_SOURCES / 10;
	for (uint64_t i = 0; i < query.nsources; i++)
		sources[i] = i % 5 == 4 ? sources[i / 2]
			: (uint32_t) (emogi_random(seed, 2000 + i) % graph->nvertices);
	check_query(name, graph, query);
}

/* Check the algorithms that start from sources. */
static void
check_paths(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	static const double bounds[] = {INFINITY, INFINITY, 0.0, 3.0, 1e5, 1e300};
	uint32_t	sources[MAX_SOURCES];

	for (uint64_t i = 0; i < QUERIES; i++)
	{
		EmogiQuery	query = oracle_query(graph, seed, i, sources, MAX_SOURCES);

		query.max_distance = bounds[emogi_random(seed, 70 + i) %
									(sizeof(bounds) / sizeof(bounds[0]))];
		check_query(name, graph, query);
		query.max_depth = -1;
		for (int a = 0; a < EMOGI_NALGORITHMS; a++)
		{
			query.algorithm = (EmogiAlgorithm) a;
			if (emogi_is_path(query.algorithm))
				check_query(name, graph, query);
		}
		query.algorithm = EMOGI_SSNSP;
		if (graph->backward.offsets != NULL)
			check_query(name, graph, query);
	}
}

/* Return the maximum weight of an adjacency list. */
static double
heaviest_list(const EmogiGraph *graph, bool is_weighted)
{
	const EmogiWeightType type = is_weighted ? graph->weight_type : EMOGI_WEIGHT_NONE;
	double		max_weight = 1e-300;

	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		double		weight = 0.0;

		for (uint64_t i = graph->forward.offsets[v]; i < graph->forward.offsets[v + 1]; i++)
			weight += emogi_weight(graph->forward.weights, type, i);
		max_weight = weight > max_weight ? weight : max_weight;
	}
	return max_weight;
}

/*
 * Check power iterations, weighted or not: of few iterations, of many with truncation, and without
 * convergence.
 */
static void
check_power_iterations(const char *name, const EmogiGraph *graph, bool is_weighted, uint64_t seed)
{
	static const EmogiAlgorithm algorithms[] = {EMOGI_EIGENVECTOR, EMOGI_HITS, EMOGI_KATZ};
	static const double alphas[] = {0.0, 0.3, 0.93, 1.7, 5.9};
	static const double betas[] = {1.0, -2.5, 0.0, 1e200};
	const double heaviest = heaviest_list(graph, is_weighted);
	EmogiQuery query = {.is_weighted = is_weighted, .normalized = seed % 2 == 0,
		.beta = betas[seed % 4]};

	for (uint64_t i = 0; i < 2; i++)
	{
		query.max_iterations = i == 0 ? 1 + (int64_t) (seed % 3) : 12;
		query.tolerance = seed % 3 == 0 ? 0.0 : 1e-5;
		query.alpha = alphas[(seed + 2 * i) % 5] / heaviest;
		for (int a = 0; a < 3; a++)
		{
			query.algorithm = algorithms[a];
			if (is_supported(graph, query.algorithm))
				check_query(name, graph, query);
		}
	}
}

/*
 * Check the algorithms on the whole graph, with few iterations if rounding errors grow with each.
 */
static void
check_sums(const char *name, const EmogiGraph *graph, int kind, uint64_t seed)
{
	static const int64_t iterations[EMOGI_NALGORITHMS] = {[EMOGI_PAGERANK] = 20, [EMOGI_HEAT] = 3,
		[EMOGI_CIRCUIT] = 12, [EMOGI_CDLP] = 6};
	double	   *values = naive_alloc(graph->nvertices, sizeof(double));
	EmogiQuery query = {.damping = 0.85, .values = values, .seed = seed,
		.normalized = seed % 2 == 0, .maximum = seed % 4 < 2};

	if (graph->nvertices > MAX_EXACT_VERTICES || seed % 3 == 0)
		query.samples = SAMPLES;
	for (int a = 0; a < EMOGI_NALGORITHMS; a++)
	{
		const EmogiAlgorithmRow *row = emogi_algorithm_row((EmogiAlgorithm) a);
		const bool is_additive = emogi_is_sum((EmogiAlgorithm) a) ||
			row->weights == EMOGI_WEIGHTS_FACTORS || row->weights == EMOGI_WEIGHTS_CONDUCTANCES ||
			row->weights == EMOGI_WEIGHTS_CAPACITIES;

		if (emogi_algorithm_takes(row, EMOGI_SOURCES) >= 0 ||
			!is_supported(graph, (EmogiAlgorithm) a))
			continue;
		query.algorithm = (EmogiAlgorithm) a;
		query.max_iterations = iterations[a] > 0 ? iterations[a] : 1;
		for (uint64_t v = 0; v < graph->nvertices; v++)
		{
			values[v] = (double) (emogi_random(seed, v) % 1000) / 1000.0;
			if ((row->traits & EMOGI_SUM_DIRICHLET) != 0 && emogi_random(seed, v) % 3 != 0)
				values[v] = (double) NAN;
		}
		if (!is_additive || kind < FINITE_KINDS)
			check_query(name, graph, query);
	}
	query.samples = 0;
	query.algorithm = EMOGI_CLOSENESS;
	if (graph->nvertices <= MAX_EXACT_VERTICES && is_supported(graph, EMOGI_CLOSENESS))
		check_query(name, graph, query);
	query.samples = 70;			/* more than one batch of searches */
	if (is_supported(graph, EMOGI_CLOSENESS))
		check_query(name, graph, query);
	if (kind == 0 && graph->nvertices > 0)
		refused_check(name, cuda, cuda_state, graph);
	free(values);
}

/*
 * Check communities, coarse and fine, random and deterministic, of all levels and of the first
 * levels.
 */
static void
check_communities(const char *name, const EmogiGraph *graph, int kind, uint64_t seed)
{
	static const double resolutions[] = {1.0, 1.0, 0.5, 4.0};
	static const double thetas[] = {0.01, 0.0, 5.0, 0.01};
	double	   *values = naive_alloc(graph->nvertices, sizeof(double));
	EmogiQuery	query = {.values = values, .seed = seed, .tolerance = seed % 3 == 0 ? 0.0 : 1e-7};

	for (uint64_t v = 0; v < graph->nvertices; v++)
		values[v] = (double) (emogi_random(seed, v) % (2 + seed % 40)) - 7.5;
	for (int turn = 0; turn < 2; turn++)
	{
		const uint64_t of = (seed + (uint64_t) turn) % 4;

		query.resolution = resolutions[of];
		query.theta = thetas[of];
		query.max_levels = emogi_random(seed, 800 + (uint64_t) turn) % 3 == 0
			? 1 + (int64_t) (seed % 3) : 0;
		for (int a = EMOGI_LOUVAIN; a <= EMOGI_MODULARITY; a++)
		{
			query.algorithm = (EmogiAlgorithm) a;
			if (is_supported(graph, query.algorithm) && kind < FINITE_KINDS)
				check_query(name, graph, query);
		}
	}
	free(values);
}

/* Build a graph in a direction and check all queries on it. */
static void
check_edges(const char *name, const EmogiEdges *edges, int kind, EmogiDirection direction,
			bool with_backward, uint64_t seed)
{
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;

	if (emogi_build_graph(emogi_cpu_engine_pool(cpu_state), edges, direction, with_backward, &built,
						  &control, &error) != EMOGI_OK)
		abort();
	if (seed % 2 == 1)
		built.graph.id = ++last_id;
	check_paths(name, &built.graph, seed);
	check_sums(name, &built.graph, kind, seed);
	check_pairs(name, &built.graph, seed);
	check_power_iterations(name, &built.graph, false, seed);
	if (kind > 0 && kind < FINITE_KINDS)
		check_power_iterations(name, &built.graph, true, seed);
	check_similar(name, &built.graph, seed);
	if (kind == 0)
	{
		check_walks(name, &built.graph, seed);
		check_level_sums(name, &built.graph, seed);
	}
	check_communities(name, &built.graph, kind, seed);
	forget_helpers(built.graph.id);
	CHECK(cuda->forget(cuda_state, built.graph.id) == 0, "%s is still cached", name);
	check_nothing_held(name, 0);
	emogi_built_graph_free(&built);
}

/* Check edges with a kind of weights in all directions, with and without the transpose. */
static void
check_directions(const char *name, const EmogiEdge *edges, uint64_t nedges, int kind, uint64_t seed)
{
	double	   *weights = naive_weights(kind, seed, nedges);
	EmogiEdgeSet set;
	bool		filled;

	if (weights == NULL)
		filled = emogi_edge_set_fill(&set, edges, nedges, EMOGI_CHUNK_EDGES);
	else
		filled = emogi_edge_set_fill_weighted(&set, edges, weights, nedges,
											  EMOGI_CHUNK_WEIGHTED_EDGES);
	if (!filled)
		abort();
	check_edges(name, &set.edges, kind, EMOGI_OUT, false, seed);
	check_edges(name, &set.edges, kind, EMOGI_OUT, true, seed);
	check_edges(name, &set.edges, kind, EMOGI_IN, false, seed);
	check_edges(name, &set.edges, kind, EMOGI_BOTH, false, seed);
	emogi_edge_set_free(&set);
	free(weights);
}

/* Check a shape without weights and with one kind of weights. */
static void
check_shape(EmogiShape *shape, uint64_t seed)
{
	check_directions(shape->name, shape->edges, shape->nedges, 0, seed);
	check_directions(shape->name, shape->edges, shape->nedges, 1 + (int) (seed % (NAIVE_KINDS - 1)),
					 seed);
	emogi_shape_free(shape);
}

/* Check generated graphs. */
static void
check_large(EmogiGenerator generator)
{
	EmogiEdgeSet set;
	EmogiEdge  *edges;
	uint64_t	nedges = 0;

	if (!emogi_generate_edges(emogi_cpu_engine_pool(cpu_state), generator, 16, 16, 11, &set))
		abort();
	edges = naive_alloc(set.edges.nedges, sizeof(EmogiEdge));
	for (uint64_t c = 0; c < set.edges.nchunks; c++)
	{
		memcpy(edges + nedges, set.chunks[c]->edges, set.chunks[c]->nedges * sizeof(EmogiEdge));
		nedges += set.chunks[c]->nedges;
	}
	emogi_edge_set_free(&set);
	for (int kind = 0; kind < NAIVE_KINDS; kind += 2)
		check_directions("large", edges, nedges, kind, 99);
	check_directions("large", edges, nedges, 1, 99);
	free(edges);
}

/*
 * Check the algorithms on whole graphs with a complete graph, whose pairs of vertices have edges
 * one way or both ways: the lists of triangles are longer than one block processes at once.
 */
static void
check_dense(void)
{
	EmogiEdge  *edges = naive_alloc(DENSE_VERTICES * DENSE_VERTICES, sizeof(EmogiEdge));
	uint64_t	nedges = 0;

	for (int64_t i = 0; i < DENSE_VERTICES; i++)
		for (int64_t j = 0; j < i; j++)
		{
			const uint64_t ways = emogi_random(12, (uint64_t) (i * DENSE_VERTICES + j)) % 3;

			if (ways != 0)
				edges[nedges++] = (EmogiEdge) {i, j};
			if (ways != 1)
				edges[nedges++] = (EmogiEdge) {j, i};
		}
	for (int direction = EMOGI_OUT; direction <= EMOGI_BOTH; direction += EMOGI_BOTH - EMOGI_OUT)
	{
		EmogiBuiltGraph built;
		EmogiControl control = {0};
		EmogiError	error;
		EmogiEdgeSet set;

		if (!emogi_edge_set_fill(&set, edges, nedges, EMOGI_CHUNK_EDGES) ||
			emogi_build_graph(emogi_cpu_engine_pool(cpu_state), &set.edges,
							  (EmogiDirection) direction, true, &built, &control, &error) !=
			EMOGI_OK)
			abort();
		check_sums("dense", &built.graph, 1, 12);
		check_level_sums("dense", &built.graph, 12);
		check_pairs("dense", &built.graph, 12);
		check_nothing_held("dense", 0);
		emogi_edge_set_free(&set);
		emogi_built_graph_free(&built);
	}
	free(edges);
}

/* Check the top-k similarities of vertices with edges to few hubs, half of them to the same one. */
static void
check_hubs(void)
{
	EmogiEdge  *edges = naive_alloc(3 * HUB_VERTICES, sizeof(EmogiEdge));
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;
	EmogiEdgeSet set;

	for (uint64_t i = 0; i < 3 * HUB_VERTICES; i++)
		edges[i] = (EmogiEdge) {HUBS + (int64_t) (i / 3),
			emogi_random(13, i) % 4 < 2 ? 0 : (int64_t) (emogi_random(14, i) % HUBS)};
	if (!emogi_edge_set_fill(&set, edges, 3 * HUB_VERTICES, EMOGI_CHUNK_EDGES) ||
		emogi_build_graph(emogi_cpu_engine_pool(cpu_state), &set.edges, EMOGI_OUT, true, &built,
						  &control, &error) != EMOGI_OK)
		abort();
	for (uint64_t seed = 0; seed < 5; seed++)
		check_similar("hubs", &built.graph, seed);
	check_nothing_held("hubs", 0);
	emogi_edge_set_free(&set);
	emogi_built_graph_free(&built);
	free(edges);
}

/*
 * Check the communities of a star: in each batch, several leaves want to join the center, and one
 * may.
 */
static void
check_star(void)
{
	EmogiShape	star = naive_star(LEAVES);
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;
	EmogiEdgeSet set;

	if (!emogi_edge_set_fill(&set, star.edges, star.nedges, EMOGI_CHUNK_EDGES) ||
		emogi_build_graph(emogi_cpu_engine_pool(cpu_state), &set.edges, EMOGI_BOTH, true, &built,
						  &control, &error) != EMOGI_OK)
		abort();
	check_query("star", &built.graph,
				(EmogiQuery) {.algorithm = EMOGI_LOUVAIN, .resolution = 2.0 - 3.0 / LEAVES,
		.max_levels = 1});
	check_query("star", &built.graph,
				(EmogiQuery) {.algorithm = EMOGI_LEIDEN, .resolution = 2.0 - 3.0 / LEAVES,
		.theta = 0.01, .max_levels = 1});
	emogi_edge_set_free(&set);
	emogi_built_graph_free(&built);
	free(star.edges);
}

int
main(void)
{
	EmogiShape	shape;
	uint64_t	first = number_from_environment("EMOGI_AGREE_SEED", 1);
	uint64_t	ngraphs = number_from_environment("EMOGI_AGREE_GRAPHS", DEFAULT_GRAPHS);
	bool		large = number_from_environment("EMOGI_AGREE_LARGE", 1) != 0;

	if (!open_both())
		return check_report("test_agree");
	open_helpers();
	for (int i = 0; large && i < emogi_shape_count(); i++)
	{
		if (!emogi_shape_make(i, &shape))
			abort();
		check_shape(&shape, (uint64_t) i);
	}
	for (uint64_t seed = first; seed < first + ngraphs; seed++)
	{
		if (!emogi_shape_random(seed, &shape))
			abort();
		check_shape(&shape, seed);
	}
	if (large)
	{
		check_large(EMOGI_KRON);
		check_large(EMOGI_URAND);
		check_dense();
		check_star();
	}
	CHECK(nrefused > 0 || ngraphs < DEFAULT_GRAPHS || !is_selected(EMOGI_KATZ),
		  "no query was refused");
	if (ngraphs > 0)
		check_hubs();
	close_helpers();
	close_both();
	return check_report("test_agree");
}
