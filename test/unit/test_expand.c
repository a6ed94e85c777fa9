/*
 * test_expand.c: tests of emogi_csr_expand: a graph built from the edges of another graph is
 * identical, byte for byte, to one built from the edges themselves
 */
#include "build.h"
#include "check.h"
#include "generate.h"
#include "shapes.h"

#include <stdlib.h>
#include <string.h>

#define NRANDOM 60

static EmogiPool *pools[2];		/* of 1 and 3 threads */

/* Return a weight of a kind; the kinds cover all widths. */
static double
weight_of(uint64_t i, int kind)
{
	const uint64_t random = emogi_random(17, i);

	switch (kind)
	{
		case 1:
			return (double) (random % 200);
		case 2:
			return (double) (random % 60000);
		case 3:
			return (double) (random % 4000000000u);
		case 4:
			return (double) (random % 1000) / 8 - 30;
		default:
			return (double) random / 3.0;
	}
}

/* Expand a graph into a set of edges. */
static void
expand(const EmogiGraph *graph, bool reversed, EmogiPool *pool, EmogiEdgeSet *set)
{
	const uint64_t capacity = graph->weight_type == EMOGI_WEIGHT_NONE ? EMOGI_CHUNK_EDGES
		: EMOGI_CHUNK_WEIGHTED_EDGES;
	EmogiControl control = {0};
	EmogiError	error;

	if (!emogi_edge_set_create(set, (graph->forward.nedges + capacity - 1) / capacity))
		abort();
	CHECK(emogi_csr_expand(pool, graph, reversed, &set->edges, &control, &error) == EMOGI_OK,
		  "expand");
	CHECK(control.done == graph->forward.nedges, "done");
	set->edges.weighted = graph->weight_type != EMOGI_WEIGHT_NONE;
	set->edges.nedges = 0;
	set->edges.weight_misfits = 0;
	set->edges.min_key = INT64_MAX;
	set->edges.max_key = INT64_MIN;
	for (uint64_t c = 0; c < set->edges.nchunks; c++)
	{
		const EmogiEdgeChunk *chunk = set->chunks[c];

		set->edges.nedges += chunk->nedges;
		set->edges.weight_misfits |= chunk->weight_misfits;
		set->edges.min_key = chunk->min_key < set->edges.min_key ? chunk->min_key
			: set->edges.min_key;
		set->edges.max_key = chunk->max_key > set->edges.max_key ? chunk->max_key
			: set->edges.max_key;
	}
	CHECK(set->edges.nedges == graph->forward.nedges, "edges");
}

/* Build a graph from edges; the caller frees it. */
static EmogiBuiltGraph
build(const EmogiEdges *edges, EmogiDirection direction, bool with_backward)
{
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;

	if (emogi_build_graph(pools[1], edges, direction, with_backward, &built, &control, &error) !=
		EMOGI_OK)
		abort();
	return built;
}

/*
 * Compare the graph built from the edges of a graph in another direction with the one built from
 * the edges themselves.
 */
static void
check_pair(const EmogiShape *shape, const EmogiEdges *edges, EmogiDirection from, EmogiDirection to,
		   EmogiPool *pool)
{
	EmogiBuiltGraph base_graph = build(edges, from, false);
	EmogiBuiltGraph straight = build(edges, to, true);
	EmogiBuiltGraph round;
	EmogiEdgeSet set;

	expand(&base_graph.graph, from == EMOGI_IN, pool, &set);
	round = build(&set.edges, to, true);
	CHECK(round.graph.memory_bytes == straight.graph.memory_bytes &&
		  memcmp(round.memory, straight.memory, straight.graph.memory_bytes) == 0,
		  "%s: from %d to %d", shape->name, from, to);
	emogi_edge_set_free(&set);
	emogi_built_graph_free(&base_graph);
	emogi_built_graph_free(&straight);
	emogi_built_graph_free(&round);
}

/* Check a shape without weights (kind 0) or with weights of a kind. */
static void
check_shape(const EmogiShape *shape, int kind)
{
	const uint64_t per_chunk = shape->nedges / 3 + 1;
	EmogiEdgeSet set;
	double	   *weights = malloc((shape->nedges + 1) * sizeof(double));

	for (uint64_t i = 0; i < shape->nedges; i++)
		weights[i] = weight_of(i, kind);
	if (kind == 0
		? !emogi_edge_set_fill(&set, shape->edges, shape->nedges,
							   per_chunk > EMOGI_CHUNK_EDGES ? EMOGI_CHUNK_EDGES : per_chunk)
		: !emogi_edge_set_fill_weighted(&set, shape->edges, weights, shape->nedges,
										per_chunk > EMOGI_CHUNK_WEIGHTED_EDGES
										? EMOGI_CHUNK_WEIGHTED_EDGES : per_chunk))
		abort();
	if (set.edges.nedges > 0)
		for (int from = EMOGI_OUT; from <= EMOGI_IN; from++)
			for (int to = EMOGI_OUT; to <= EMOGI_BOTH; to++)
				check_pair(shape, &set.edges, (EmogiDirection) from, (EmogiDirection) to,
						   pools[(from + to) % 2]);
	emogi_edge_set_free(&set);
	free(weights);
}

/* Check that hidden weights are not read. */
static void
check_hidden_weights(void)
{
	EmogiShape	shape;
	EmogiEdgeSet set,
				back;
	EmogiBuiltGraph built;
	double	   *weights;

	if (!emogi_shape_random(7, &shape))
		abort();
	weights = malloc((shape.nedges + 1) * sizeof(double));
	for (uint64_t i = 0; i < shape.nedges; i++)
		weights[i] = weight_of(i, 5);
	if (!emogi_edge_set_fill_weighted(&set, shape.edges, weights, shape.nedges, 1000))
		abort();
	built = build(&set.edges, EMOGI_OUT, false);
	built.graph.weight_type = EMOGI_WEIGHT_NONE;
	built.graph.forward.weights = NULL;
	expand(&built.graph, false, pools[0], &back);
	CHECK(!back.edges.weighted && back.edges.nedges == shape.nedges, "hidden weights");
	emogi_edge_set_free(&set);
	emogi_edge_set_free(&back);
	emogi_built_graph_free(&built);
	emogi_shape_free(&shape);
	free(weights);
}

/* Check edges that fill several chunks. */
static void
check_large(void)
{
	const EmogiShape shape = {.name = "large"};
	EmogiEdgeSet set;

	if (!emogi_generate_edges(pools[1], EMOGI_KRON, 15, 16, 3, &set))
		abort();
	check_pair(&shape, &set.edges, EMOGI_OUT, EMOGI_BOTH, pools[1]);
	check_pair(&shape, &set.edges, EMOGI_IN, EMOGI_OUT, pools[1]);
	emogi_edge_set_free(&set);
}

/* Check the status after cancellation, and with too few chunks. */
static void
check_failures(void)
{
	EmogiShape	shape;
	EmogiEdgeSet set,
				none = {0};
	EmogiBuiltGraph built;
	EmogiControl control = {.cancel = 1};
	EmogiError	error;

	if (!emogi_shape_random(3, &shape) ||
		!emogi_edge_set_fill(&set, shape.edges, shape.nedges, 1000))
		abort();
	built = build(&set.edges, EMOGI_OUT, false);
	CHECK(emogi_csr_expand(pools[1], &built.graph, false, &set.edges, &control, &error) ==
		  EMOGI_CANCELED, "cancel");
	control.cancel = 0;
	CHECK(emogi_csr_expand(pools[1], &built.graph, false, &none.edges, &control, &error) ==
		  EMOGI_BAD_INPUT, "chunks");
	emogi_edge_set_free(&set);
	emogi_built_graph_free(&built);
	emogi_shape_free(&shape);
}

int
main(void)
{
	EmogiShape	shape;

	pools[0] = emogi_pool_create(1);
	pools[1] = emogi_pool_create(3);
	for (int i = 0; i < emogi_shape_count(); i++)
	{
		if (!emogi_shape_make(i, &shape))
			abort();
		for (int kind = 0; kind <= 5; kind++)
			check_shape(&shape, kind);
		emogi_shape_free(&shape);
	}
	for (uint64_t seed = 1; seed <= NRANDOM; seed++)
	{
		if (!emogi_shape_random(seed, &shape))
			abort();
		check_shape(&shape, (int) (seed % 6));
		emogi_shape_free(&shape);
	}
	check_large();
	check_hidden_weights();
	check_failures();
	return check_report("test_expand");
}
