/*
 * test_contraction.c: tests of paths by contraction hierarchies against emogi_trace_path on the
 * distances of SSSP, vertex by vertex and bit by bit.
 *
 * The graphs are road networks with parallel edges, one-way streets, zero weights, ties, and
 * isolated parts. Graphs that are not road-like are refused. Failed allocations and cancellation
 * end a search with the right status.
 */
#include "build.h"
#include "engines.h"
#include "contract/contraction.h"
#include "cpu/cpu.h"
#include "contract/trace_path.h"

#include <float.h>

#define NNETS 450
#define NRANDOM 60
#define SOURCES 3
#define TARGETS 10
#define MAX_FAILURES 4000
#define MAX_BYTES ((uint64_t) 1 << 32)

static uint64_t noutcomes[3];
static uint64_t nrefused;
static uint64_t nmatrices;
static uint64_t nswept;
static uint64_t nunreachable;
static uint64_t ninfinite;

/* Check whether a vertex reaches another. */
static void
check_reaches(const char *name, const EmogiContraction *contraction, bool reversed, uint32_t source,
			  uint32_t target, bool expected)
{
	EmogiControl control = {0};
	EmogiError	error;
	uint64_t	nscanned;
	bool		reaches;

	CHECK(emogi_contraction_reaches(contraction, reversed, source, target, &reaches, &nscanned,
									&control, &error) == EMOGI_OK && reaches == expected,
		  "%s: %u %s %u", name, source, expected ? "reaches" : "does not reach", target);
	nunreachable += contraction->is_finite && !expected;
	ninfinite += !contraction->is_finite;
}

/* Check some paths against those traced from all distances. */
static void
check_paths(const char *name, const EmogiGraph *graph, const EmogiContraction *contraction,
			bool reversed, uint64_t seed)
{
	const uint64_t n = graph->nvertices;
	double	   *distance = malloc(n * sizeof(double));
	uint32_t   *path = malloc(n * sizeof(uint32_t));
	uint32_t   *next = malloc(n * sizeof(uint32_t));

	for (uint64_t s = 0; s < SOURCES; s++)
	{
		const uint32_t source = (uint32_t) (emogi_random(seed + 13, s) % n);
		const EmogiQuery query = {.algorithm = EMOGI_SSSP, .nsources = 1, .sources = &source,
			.max_distance = INFINITY};
		EmogiResult result = {.columns[0].float64 = distance};
		EmogiControl control = {0};
		EmogiError	error;

		CHECK(engine->run(states[1], graph, &query, &result, &control, &error) == EMOGI_OK,
			  "%s: no distances", name);
		for (uint64_t t = 0; t < TARGETS; t++)
		{
			const uint32_t target = t == 0 ? source
				: (uint32_t) (emogi_random(seed + 14 + s, t) % n);
			EmogiPathAnswer answer;
			const EmogiStatus status = emogi_contraction_path(contraction, graph, reversed, source,
															  target, &answer, &control, &error);
			uint64_t	length = 0,
						ndifferent = 0;

			if (distance[target] < (double) INFINITY)
				length = emogi_trace_path(graph, distance, source, target, path, next, NULL);
			noutcomes[answer.outcome]++;
			CHECK(status == EMOGI_OK, "%s: status %d", name, status);
			if (answer.outcome != EMOGI_PATH_GAVE_UP)
			{
				CHECK(answer.length == length, "%s: %u to %u: %llu vertices, not %llu", name,
					  source, target, (unsigned long long) answer.length,
					  (unsigned long long) length);
				for (uint64_t i = 0; i < length && answer.length == length; i++)
					ndifferent += answer.vertices[i] != path[i] ||
						memcmp(&answer.distance[i], &distance[path[i]], sizeof(double)) != 0;
				CHECK(ndifferent == 0, "%s: %u to %u: %llu vertices differ", name, source, target,
					  (unsigned long long) ndifferent);
			}
			emogi_path_search_free(&answer);
			check_reaches(name, contraction, reversed, source, target,
						  distance[target] < (double) INFINITY);
		}
	}
	free(distance);
	free(path);
	free(next);
}

/* Check distance matrices, with more targets than one batch holds, against the engine's. */
static void
check_matrix(const char *name, const EmogiGraph *graph, const EmogiContraction *contraction,
			 bool reversed, uint64_t seed)
{
	uint32_t	ends[2][80];
	double	   *found = malloc(80 * 80 * sizeof(double));
	double	   *expected = malloc(80 * 80 * sizeof(double));
	EmogiQuery query = {.algorithm = EMOGI_DISTANCE_MATRIX, .nsources = 1 + seed % 19,
		.sources = ends[0], .ntargets = 1 + seed % 80, .targets = ends[1]};
	EmogiResult result = {.columns[0].float64 = expected};
	EmogiControl control = {0};
	EmogiError	error;
	EmogiStatus status;
	uint64_t	nscanned;

	for (uint64_t i = 0; i < 160; i++)
		ends[i / 80][i % 80] = (uint32_t) (emogi_random(seed + 77, i) % graph->nvertices);
	CHECK(engine->run(states[1], graph, &query, &result, &control, &error) == EMOGI_OK,
		  "%s: no distances", name);
	status = emogi_contraction_distances(contraction, graph, reversed, &query, NULL, found,
										 &nscanned, &control, &error);
	CHECK(status == EMOGI_OK || status == EMOGI_UNSUPPORTED, "%s: status %d of a matrix", name,
		  status);
	CHECK(status != EMOGI_OK ||
		  memcmp(found, expected, query.nsources * query.ntargets * sizeof(double)) == 0,
		  "%s: distances differ", name);
	nmatrices += status == EMOGI_OK;
	memset(found, 0, 80 * 80 * sizeof(double));
	status = emogi_contraction_sweep(contraction, graph, reversed, &query, (int) (1 + seed % 3),
									 NULL, found, &nscanned, &control, &error);
	CHECK(status == EMOGI_OK || status == EMOGI_UNSUPPORTED, "%s: status %d of a matrix by sweeps",
		  name, status);
	CHECK(status != EMOGI_OK ||
		  memcmp(found, expected, query.nsources * query.ntargets * sizeof(double)) == 0,
		  "%s: distances by sweeps differ", name);
	nswept += status == EMOGI_OK;
	free(found);
	free(expected);
}

/* Contract a graph, and search in it, forward and reversed. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	EmogiContraction *contraction;
	EmogiControl control = {0};
	EmogiError	error;

	if (graph->backward.offsets == NULL || graph->nvertices == 0)
		return;
	CHECK(emogi_contraction_make(graph, MAX_BYTES, NULL, &contraction, &control, &error) ==
		  EMOGI_OK, "%s: %s", name, error.message);
	nrefused += contraction == NULL;
	if (contraction == NULL)
		return;
	check_paths(name, graph, contraction, false, seed);
	check_matrix(name, graph, contraction, false, seed);
	if (seed % 2 == 0)
	{
		EmogiGraph	reversed_graph = *graph;

		reversed_graph.forward = graph->backward;
		reversed_graph.backward = graph->forward;
		check_paths(name, &reversed_graph, contraction, true, seed);
		check_matrix(name, &reversed_graph, contraction, true, seed);
	}
	free(contraction);
}

/*
 * Get the weight of a street: arbitrary, of few digits, small integers, of very different
 * magnitudes, near ties, and some zeros.
 */
static double
street_weight(uint64_t kind, uint64_t bits)
{
	if (bits % 16 == 0 && kind % 2 == 0)
		return 0.0;
	bits >>= 8;
	switch (kind % 7)
	{
		case 0:
			return (double) (bits % 1000003) / 997.0;
		case 1:
			return (double) (1 + bits % 90) * 0.1;
		case 2:
			return (double) (1 + bits % 9);
		case 3:
			return ldexp(1.0 + (double) (bits % 1024) / 1024.0, (int) (bits >> 16 & 63) - 32);
		case 4:
			return (double) (1 + bits % 3) * 0.1;
		case 5:
			return (double) (float) (0.3 + (double) (bits % 77));
		default:
			return 1.0 + (double) (bits % 3) * DBL_EPSILON;
	}
}

/* Make a road network: a grid in which streets are missing, duplicated, or one-way. */
static EmogiShape
make_net(uint64_t seed)
{
	const int64_t width = 2 + (int64_t) (emogi_random(seed, 1) % 20);
	const int64_t height = 2 + (int64_t) (emogi_random(seed, 2) % 20);
	EmogiShape net = {.name = "net",
		.edges = malloc((size_t) (width * height) * 6 * sizeof(EmogiEdge))};

	for (int64_t v = 0; v < width * height; v++)
		for (int64_t way = 0; way < 2; way++)
		{
			const uint64_t bits = emogi_random(seed + 3, (uint64_t) (2 * v + way));
			const int64_t w = way == 0 ? v + 1 : v + width;

			if ((way == 0 && v % width == width - 1) || w >= width * height || bits % 10 == 0)
				continue;
			net.edges[net.nedges++] = bits % 7 == 1 ? (EmogiEdge) {w, v} : (EmogiEdge) {v, w};
			if (bits % 4 > 0)
				net.edges[net.nedges++] = (EmogiEdge) {w, v};
			if (bits % 11 == 0)
				net.edges[net.nedges++] = (EmogiEdge) {v, w};
		}
	return net;
}

/* Check road networks in all directions with all kinds of weights. */
static void
check_nets(void)
{
	static const EmogiDirection directions[] = {EMOGI_OUT, EMOGI_IN, EMOGI_BOTH};

	for (uint64_t seed = 0; seed < NNETS; seed++)
	{
		EmogiShape	net = make_net(seed);
		double	   *weights = malloc((net.nedges + 1) * sizeof(double));
		char		name[80];

		for (uint64_t i = 0; i < net.nedges; i++)
			weights[i] = seed % 9 == 8 && emogi_random(seed + 6, i) % 8 == 0 ? INFINITY
				: street_weight(seed / 3, emogi_random(seed + 5, i));
		if (net.nedges > 0)
		{
			EmogiGraph	graph = naive_build(&net, weights, directions[seed % 3], true);

			snprintf(name, sizeof name, "net %llu, weights %llu, direction %d",
					 (unsigned long long) seed, (unsigned long long) seed / 3 % 7,
					 (int) (seed % 3));
			check_graph(name, &graph, seed);
			naive_free(&graph);
		}
		free(weights);
		emogi_shape_free(&net);
	}
}

/*
 * Check that random graphs and graphs with hubs are refused quickly, because they are not
 * road-like.
 */
static void
check_refused(void)
{
	static const EmogiGenerator generators[] = {EMOGI_KRON, EMOGI_URAND};

	for (int g = 0; g < 2; g++)
		for (int degree = 2; degree <= 16; degree += 14)
		{
			EmogiEdgeSet set;
			EmogiBuiltGraph built;
			EmogiControl control = {0};
			EmogiError	error;
			EmogiContraction *contraction;
			EmogiPool  *pool = emogi_cpu_engine_pool(states[1]);
			double		start = emogi_pool_now_ms();
			void	   *ones;

			if (!emogi_generate_edges(pool, generators[g], 14, degree, 7, &set) ||
				emogi_build_graph(pool, &set.edges, EMOGI_BOTH, true, &built, &control, &error) !=
				EMOGI_OK)
				abort();
			ones = malloc(built.graph.forward.nedges + 1);
			memset(ones, 1, built.graph.forward.nedges + 1);
			built.graph.weight_type = EMOGI_WEIGHT_U8;
			built.graph.forward.weights = built.graph.backward.weights = ones;
			CHECK(emogi_contraction_make(&built.graph, MAX_BYTES, NULL, &contraction, &control,
										 &error) == EMOGI_OK && contraction == NULL,
				  "degree %d: not refused", degree);
			CHECK(emogi_pool_now_ms() - start < 20000.0, "degree %d: refused after %.0f ms", degree,
				  emogi_pool_now_ms() - start);
			free(ones);
			free(contraction);
			emogi_built_graph_free(&built);
			emogi_edge_set_free(&set);
		}
}

/*
 * Check that each failed allocation is reported, that a job can be canceled, and that the memory
 * limit applies.
 */
static void
check_failures(void)
{
	EmogiShape	net = make_net(19);
	double	   *weights = malloc((net.nedges + 1) * sizeof(double));
	EmogiGraph	graph;
	EmogiContraction *contraction = NULL;
	EmogiPathAnswer answer;
	EmogiControl control = {.cancel = 1};
	EmogiError	error;
	EmogiStatus status = EMOGI_NO_MEMORY;

	for (uint64_t i = 0; i < net.nedges; i++)
		weights[i] = street_weight(0, emogi_random(5, i));
	graph = naive_build(&net, weights, EMOGI_BOTH, true);
	CHECK(emogi_contraction_make(&graph, MAX_BYTES, NULL, &contraction, &control, &error) ==
		  EMOGI_CANCELED && contraction == NULL, "not canceled");
	control.cancel = 0;
	CHECK(emogi_contraction_make(&graph, 10000, NULL, &contraction, &control, &error) == EMOGI_OK &&
		  contraction == NULL, "not refused with 10000 bytes");
	for (uint32_t n = 1; status == EMOGI_NO_MEMORY && n < MAX_FAILURES; n++)
	{
		control = (EmogiControl) {.fail_allocation = n};
		status = emogi_contraction_make(&graph, MAX_BYTES, NULL, &contraction, &control, &error);
		CHECK(status == EMOGI_OK ? contraction != NULL && n > 8 : status == EMOGI_NO_MEMORY &&
			  contraction == NULL && error.message[0] != '\0', "allocation %u: status %d", n,
			  status);
	}
	status = EMOGI_NO_MEMORY;
	for (uint32_t n = 1; status == EMOGI_NO_MEMORY && n < MAX_FAILURES; n++)
	{
		control = (EmogiControl) {.fail_allocation = n};
		status = emogi_contraction_path(contraction, &graph, false, 0,
										(uint32_t) graph.nvertices - 1, &answer, &control, &error);
		CHECK(status == EMOGI_OK ? answer.length > 0 && n > 8 : status == EMOGI_NO_MEMORY &&
			  answer.length == 0 && error.message[0] != '\0', "allocation %u of a path: status %d",
			  n, status);
		emogi_path_search_free(&answer);
	}
	status = EMOGI_NO_MEMORY;
	for (uint32_t n = 1; status == EMOGI_NO_MEMORY && n < MAX_FAILURES; n++)
	{
		const uint32_t ends[] = {0, (uint32_t) graph.nvertices - 1};
		const EmogiQuery query = {.algorithm = EMOGI_DISTANCE_MATRIX, .nsources = 2,
			.sources = ends, .ntargets = 2, .targets = ends};
		double		distance[4];
		uint64_t	nscanned;

		control = (EmogiControl) {.fail_allocation = n};
		status = emogi_contraction_distances(contraction, &graph, false, &query, NULL, distance,
											 &nscanned, &control, &error);
		CHECK(status == EMOGI_OK ? n > 8 : status == EMOGI_NO_MEMORY && error.message[0] != '\0',
			  "allocation %u of a matrix: status %d", n, status);
	}
	status = EMOGI_NO_MEMORY;
	for (uint32_t n = 1; status == EMOGI_NO_MEMORY && n < MAX_FAILURES; n++)
	{
		const uint32_t ends[] = {0, (uint32_t) graph.nvertices - 1};
		const EmogiQuery query = {.algorithm = EMOGI_DISTANCE_MATRIX, .nsources = 2,
			.sources = ends, .ntargets = 2, .targets = ends};
		double		distance[4];
		uint64_t	nscanned;

		control = (EmogiControl) {.fail_allocation = n};
		status = emogi_contraction_sweep(contraction, &graph, false, &query, 1, NULL, distance,
										 &nscanned, &control, &error);
		CHECK(status == EMOGI_OK ? n > 5 : status == EMOGI_NO_MEMORY && error.message[0] != '\0',
			  "allocation %u of a sweep: status %d", n, status);
	}
	control = (EmogiControl) {.cancel = 1};
	CHECK(emogi_contraction_path(contraction, &graph, false, 0, 1, &answer, &control, &error) ==
		  EMOGI_CANCELED, "the path was not canceled");
	free(contraction);
	naive_free(&graph);
	free(weights);
	emogi_shape_free(&net);
}

int
main(void)
{
	engines_open();
	check_nets();
	CHECK(noutcomes[EMOGI_PATH_FOUND] > 5000 && noutcomes[EMOGI_PATH_NONE] > 500,
		  "%llu paths, %llu without", (unsigned long long) noutcomes[EMOGI_PATH_FOUND],
		  (unsigned long long) noutcomes[EMOGI_PATH_NONE]);
	CHECK(noutcomes[EMOGI_PATH_GAVE_UP] < 300 && nrefused < 10,
		  "%llu searches gave up, %llu networks refused",
		  (unsigned long long) noutcomes[EMOGI_PATH_GAVE_UP], (unsigned long long) nrefused);
	CHECK(nunreachable > 300 && ninfinite > 300,
		  "%llu pairs unreachable, %llu with infinite weights", (unsigned long long) nunreachable,
		  (unsigned long long) ninfinite);
	CHECK(nmatrices > 600 && nswept > 600, "%llu matrices, %llu by sweeps",
		  (unsigned long long) nmatrices, (unsigned long long) nswept);
	engines_check_shapes(NRANDOM, NAIVE_KINDS, check_graph);
	check_refused();
	check_failures();
	engines_close();
	return check_report("test_contraction");
}
