/*
 * test_weights.c: tests of builds of weighted graphs, in the narrowest type, against a naive
 * builder; the result must not depend on threads, chunks, or the order of edges
 */
#include "build.h"
#include "check.h"
#include "contract/builder.h"
#include "threads/pool.h"
#include "lines.h"
#include "naive.h"
#include "torn.h"

#include <sys/mman.h>

#define NRANDOM 120
#define NPOOLS 3

static EmogiPool *pools[NPOOLS];	/* of 1, 2 and 5 threads */

/* Put edges into chunks of at most per_chunk, rotated so that edge `turn` is the first. */
static EmogiEdgeSet
fill_set(const EmogiShape *shape, const double *weights, uint64_t per_chunk, uint64_t turn)
{
	EmogiEdge  *edges = naive_alloc(shape->nedges, sizeof(EmogiEdge));
	double	   *rotated = naive_alloc(shape->nedges, sizeof(double));
	EmogiEdgeSet set;

	for (uint64_t i = 0; i < shape->nedges; i++)
	{
		edges[i] = shape->edges[(i + turn) % shape->nedges];
		rotated[i] = weights[(i + turn) % shape->nedges];
	}
	if (!emogi_edge_set_fill_weighted(&set, edges, rotated, shape->nedges, per_chunk))
		abort();
	free(edges);
	free(rotated);
	return set;
}

/* Return true if two orientations are equal, byte for byte. */
static bool
same_lists(const EmogiAdjacency *a, const EmogiAdjacency *b, uint64_t nvertices,
		   EmogiWeightType type)
{
	return a->nedges == b->nedges &&
		memcmp(a->offsets, b->offsets, (nvertices + 1) * sizeof(uint64_t)) == 0 &&
		memcmp(a->targets, b->targets, a->nedges * sizeof(uint32_t)) == 0 &&
		memcmp(a->weights, b->weights, a->nedges * naive_weight_bytes(type)) == 0 &&
		line_aligned(a->weights, a->nedges * naive_weight_bytes(type)) &&
		line_aligned(a->targets, a->nedges * sizeof(uint32_t));
}

/* Build a shape in one direction with all pools, and compare with the naive build. */
static void
check_direction(const EmogiShape *shape, const double *weights, EmogiDirection direction,
				bool with_backward, uint64_t seed)
{
	EmogiGraph	expected = naive_build(shape, weights, direction, with_backward);

	for (int p = 0; p < NPOOLS; p++)
	{
		static const uint64_t per_chunk[NPOOLS] = {EMOGI_CHUNK_WEIGHTED_EDGES, 1000, 77};
		EmogiEdgeSet set = fill_set(shape, weights, shape->nedges > 100000 ? 50000 : per_chunk[p],
									seed * (uint64_t) p);
		EmogiBuiltGraph built;
		EmogiGraph	view;
		EmogiControl control = {0};
		EmogiError	error = {{0}, {0}};
		EmogiStatus status = emogi_build_graph(pools[p], &set.edges, direction, with_backward,
											   &built, &control, &error);
		EmogiGraph *graph = &built.graph;

		CHECK(status == EMOGI_OK, "%s: status %d, %s", shape->name, status, error.message);
		CHECK(graph->nvertices == expected.nvertices && graph->weight_type == expected.weight_type,
			  "%s: type %d, not %d", shape->name, graph->weight_type, expected.weight_type);
		CHECK(same_lists(&graph->forward, &expected.forward, graph->nvertices, graph->weight_type),
			  "%s: direction %d, type %d, pool %d: forward", shape->name, direction,
			  graph->weight_type, p);
		if (expected.backward.offsets != NULL)
			CHECK(same_lists(&graph->backward, &expected.backward, graph->nvertices,
							 graph->weight_type), "%s: direction %d, type %d, pool %d: backward",
				  shape->name, direction, graph->weight_type, p);
		CHECK(control.done == control.total, "%s: done %llu", shape->name,
			  (unsigned long long) control.done);
		emogi_csr_view(built.memory, graph->nvertices, graph->forward.nedges, direction,
					   with_backward, graph->weight_type, &view);
		CHECK(view.forward.weights == graph->forward.weights &&
			  view.backward.weights == graph->backward.weights &&
			  view.weight_type == graph->weight_type && view.memory_bytes <= built.memory_bytes,
			  "%s: view", shape->name);
		emogi_built_graph_free(&built);
		emogi_edge_set_free(&set);
	}
	naive_free(&expected);
}

/* Build a shape with weights of a kind in all directions. */
static void
check_shape(const EmogiShape *shape, int kind, uint64_t seed)
{
	double	   *weights = naive_weights(kind, seed, shape->nedges);

	check_direction(shape, weights, EMOGI_OUT, false, seed);
	check_direction(shape, weights, EMOGI_OUT, true, seed);
	check_direction(shape, weights, EMOGI_IN, true, seed);
	check_direction(shape, weights, EMOGI_BOTH, true, seed);
	free(weights);
}

/* Check that a failed allocation at any place is reported. */
static void
check_no_memory(void)
{
	EmogiShape	shape = naive_random_shape();
	double	   *weights;
	EmogiEdgeSet set;
	EmogiKeyPlan plan;
	EmogiKeyNumbers	keys;
	EmogiCsrInput input;
	EmogiGraph	graph;
	EmogiControl control = {0};
	EmogiError	error;
	size_t		bytes,
				scratch_bytes;
	void	   *memory,
			   *scratch;

	weights = naive_weights(1, 1, shape.nedges);
	set = fill_set(&shape, weights, 1000, 0);
	emogi_key_numbers_plan(&set.edges, &plan);
	if (emogi_key_numbers_build(pools[1], &set.edges, &plan, emogi_map_memory(plan.scratch_bytes),
								&keys, &control, &error) != EMOGI_OK)
		abort();
	bytes = emogi_csr_bytes(keys.nvertices, set.edges.nedges, EMOGI_OUT, true, EMOGI_WEIGHT_U8);
	scratch_bytes = emogi_csr_scratch_bytes(keys.nvertices, set.edges.nedges, EMOGI_OUT, 2, true);
	memory = emogi_map_memory(bytes);
	scratch = emogi_map_memory(scratch_bytes);
	input = (EmogiCsrInput) {.edges = &set.edges, .keys = &keys, .direction = EMOGI_OUT,
		.with_backward = true, .memory = memory, .scratch = map_torn(scratch_bytes)};
	CHECK(emogi_csr_build(pools[1], &input, &graph, &control, &error) == EMOGI_NO_MEMORY,
		  "scratch");
	input.memory = map_torn(bytes);
	input.scratch = scratch;
	CHECK(emogi_csr_build(pools[1], &input, &graph, &control, &error) == EMOGI_NO_MEMORY, "graph");
	input.memory = memory;
	CHECK(emogi_csr_build(pools[1], &input, &graph, &control, &error) == EMOGI_OK,
		  "with all memory");
	emogi_edge_set_free(&set);
	free(weights);
	emogi_shape_free(&shape);
}

/* Check one edge with more copies than any scratch memory holds, and another one. */
static void
check_repeats(int kind)
{
	EmogiShape shape = {.name = "one edge often", .nedges = 150000,
		.edges = malloc(150000 * sizeof(EmogiEdge))};

	for (uint64_t i = 0; i < shape.nedges; i++)
		shape.edges[i] = (EmogiEdge) {1, i % 1000 == 7 ? 3 : 2};
	check_shape(&shape, kind, 5);
	emogi_shape_free(&shape);
}

/* Check enough edges for several threads, many of them repeated. */
static void
check_many(int kind)
{
	EmogiShape shape = {.name = "many edges", .nedges = 400000,
		.edges = malloc(400000 * sizeof(EmogiEdge))};

	for (uint64_t i = 0; i < shape.nedges; i++)
		shape.edges[i] = (EmogiEdge) {(int64_t) (emogi_random(7, 2 * i) % 3000),
			(int64_t) (emogi_random(7, 2 * i + 1) % 70) * 40};
	check_shape(&shape, kind, 6);
	emogi_shape_free(&shape);
}

/* Check that negative weights are ordered as numbers, and that -0 becomes 0. */
static void
check_negative(void)
{
	EmogiEdge	edges[] = {{1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}};
	EmogiShape	shape = {.name = "negative", .nedges = 6, .edges = edges};
	double		floats[] = {2.0, -1.5, 0.0, -3.0, 0.5, -0.25};
	double		doubles[] = {2.0, -1.1, 0.0, -1e300, 1e-300, -1e-300};
	double		zeros[] = {-0.0, 0.5, 0.0, 0.25, -0.0, 1.0};
	EmogiEdgeSet set = fill_set(&shape, zeros, 10, 0);
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;

	check_direction(&shape, floats, EMOGI_OUT, true, 1);
	check_direction(&shape, doubles, EMOGI_OUT, true, 1);
	CHECK(emogi_build_graph(pools[0], &set.edges, EMOGI_OUT, false, &built, &control, &error) ==
		  EMOGI_OK && built.graph.weight_type == EMOGI_WEIGHT_F32 &&
		  !signbit(((const float *) built.graph.forward.weights)[0]), "-0");
	emogi_built_graph_free(&built);
	emogi_edge_set_free(&set);
}

/* Check that the narrowest type is the one that holds all weights exactly. */
static void
check_types(void)
{
	static const struct
	{
		double		weight;
		EmogiWeightType type;
	}			cases[] = {
		{0, EMOGI_WEIGHT_U8}, {255, EMOGI_WEIGHT_U8}, {256, EMOGI_WEIGHT_U16},
		{65535, EMOGI_WEIGHT_U16},
		{65536, EMOGI_WEIGHT_U32}, {4294967295.0, EMOGI_WEIGHT_U32},
		{4294967296.0, EMOGI_WEIGHT_F32},
		{4294967297.0, EMOGI_WEIGHT_F64}, {0.5, EMOGI_WEIGHT_F32}, {0.1, EMOGI_WEIGHT_F64},
		{-1, EMOGI_WEIGHT_F32},
		{INFINITY, EMOGI_WEIGHT_F32}, {1e308, EMOGI_WEIGHT_F64}, {5e-324, EMOGI_WEIGHT_F64},
		{9007199254740992.0, EMOGI_WEIGHT_F32}, {16777217.0, EMOGI_WEIGHT_U32}
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK(emogi_weight_type(emogi_weight_misfits(cases[i].weight)) == cases[i].type, "%.17g",
			  cases[i].weight);
}

/* Check that a canceled build stops. */
static void
check_cancel(void)
{
	EmogiShape	shape;
	double	   *weights;
	EmogiEdgeSet set;
	EmogiBuiltGraph built;
	EmogiControl control = {.cancel = 1};
	EmogiError	error;

	if (!emogi_shape_random(12, &shape))
		abort();
	weights = naive_weights(1, 1, shape.nedges);
	set = fill_set(&shape, weights, 100, 0);
	CHECK(emogi_build_graph(pools[1], &set.edges, EMOGI_OUT, true, &built, &control, &error) ==
		  EMOGI_CANCELED, "canceled before");
	emogi_edge_set_free(&set);
	free(weights);
	emogi_shape_free(&shape);
}

int
main(void)
{
	static const int threads[NPOOLS] = {1, 2, 5};
	EmogiShape	shape;

	emogi_build_fill = 0xA5;	/* no code may rely on zeroed memory */
	for (int p = 0; p < NPOOLS; p++)
	{
		pools[p] = emogi_pool_create(threads[p]);
		if (pools[p] == NULL)
			abort();
	}
	check_types();
	check_negative();
	for (int i = 0; i < emogi_shape_count(); i++)
	{
		if (!emogi_shape_make(i, &shape))
			abort();
		for (int turn = 0; turn < (shape.nedges > 10000 ? 2 : NAIVE_KINDS - 1); turn++)
			check_shape(&shape, 1 + (i * 2 + turn) % (NAIVE_KINDS - 1), (uint64_t) i);
		emogi_shape_free(&shape);
	}
	for (uint64_t seed = 1; seed <= NRANDOM; seed++)
	{
		if (!emogi_shape_random(seed, &shape))
			abort();
		check_shape(&shape, 1 + (int) (seed % (NAIVE_KINDS - 1)), seed);
		emogi_shape_free(&shape);
	}
	for (int kind = 1; kind < NAIVE_KINDS; kind++)
		check_repeats(kind);
	check_many(1);
	check_many(NAIVE_KINDS - 1);
	check_cancel();
	if (is_torn_noticed())
		check_no_memory();
	for (int p = 0; p < NPOOLS; p++)
		emogi_pool_destroy(pools[p]);
	return check_report("test_weights");
}
