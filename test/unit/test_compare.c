/*
 * test_compare.c: tests of graph comparison: equal for equal edges; for other edges, or a changed
 * byte in any array, different with a message that names the place
 */
#include "build.h"
#include "check.h"
#include "generate.h"
#include "contract/compare.h"

#include <stdlib.h>
#include <string.h>

static EmogiPool *pool;
static int	npolls;
static char difference[256];

static bool
go_on(void)
{
	npolls++;
	return false;
}

static bool
stop(void)
{
	return true;
}

static bool
is_equal(const EmogiGraph *a, const EmogiGraph *b)
{
	return emogi_graph_compare(a, b, go_on, difference, sizeof difference);
}

/* Build a graph; weights may be NULL. The caller frees it. */
static EmogiBuiltGraph
build(const EmogiEdge *edges, const double *weights, uint64_t nedges, EmogiDirection direction,
	  bool with_backward)
{
	EmogiBuiltGraph built;
	EmogiEdgeSet set;
	EmogiControl control = {0};
	EmogiError	error;

	if (!(weights == NULL ? emogi_edge_set_fill(&set, edges, nedges, EMOGI_CHUNK_EDGES)
		  : emogi_edge_set_fill_weighted(&set, edges, weights, nedges,
										 EMOGI_CHUNK_WEIGHTED_EDGES)) ||
		emogi_build_graph(pool, &set.edges, direction, with_backward, &built, &control, &error) !=
		EMOGI_OK)
		abort();
	emogi_edge_set_free(&set);
	return built;
}

/* Check that the graphs of two sets of edges differ, with the expected message. */
static void
check_pair(const EmogiEdge *a, const double *a_weights, uint64_t na, const EmogiEdge *b,
		   const double *b_weights, uint64_t nb, EmogiDirection direction, const char *expected)
{
	EmogiBuiltGraph ga = build(a, a_weights, na, direction, false);
	EmogiBuiltGraph gb = build(b, b_weights, nb, direction, false);

	CHECK(!is_equal(&ga.graph, &gb.graph), "a pair");
	CHECK(strcmp(difference, expected) == 0, "%s: %s", expected, difference);
	CHECK(is_equal(&ga.graph, &ga.graph) && difference[0] == '\0', "itself: %s", difference);
	emogi_built_graph_free(&ga);
	emogi_built_graph_free(&gb);
}

/* Check the messages for missing and additional edges and for other weights. */
static void
check_places(void)
{
	const EmogiEdge edges[] = {{10, 20}, {10, 30}, {20, 30}, {30, -5}};
	const EmogiEdge twice[] = {{10, 20}, {10, 20}, {10, 30}, {20, 30}, {30, -5}};
	const EmogiEdge other[] = {{10, 20}, {10, -5}, {20, 30}, {30, 30}};
	const double weights[] = {1, 2, 3, 4};
	const double heavier[] = {1, 2.5, 3, 4};
	const double changed[] = {1, 7, 3, 4};

	check_pair(edges, NULL, 3, edges, NULL, 4, EMOGI_OUT,
			   "vertex -5 is missing (vertices: 3, not 4)");
	check_pair(edges, NULL, 4, edges, NULL, 3, EMOGI_OUT,
			   "vertex -5 should not be there (vertices: 4, not 3)");
	check_pair(edges, NULL, 2, other, NULL, 2, EMOGI_OUT,
			   "vertex -5 is missing (vertices: 3, not 3)");
	check_pair(edges, NULL, 4, twice, NULL, 5, EMOGI_OUT,
			   "list of vertex 10: 20 is missing (entries: 2, not 3)");
	check_pair(twice, NULL, 5, edges, NULL, 4, EMOGI_OUT,
			   "list of vertex 10: 20 should not be there (entries: 3, not 2)");
	check_pair(twice, NULL, 5, edges, NULL, 4, EMOGI_IN,
			   "list of vertex 20: 10 should not be there (entries: 2, not 1)");
	check_pair(edges, NULL, 4, other, NULL, 4, EMOGI_OUT,
			   "list of vertex 10: -5 is missing (entries: 2, not 2)");
	check_pair(edges, NULL, 4, twice, NULL, 5, EMOGI_BOTH,
			   "list of vertex 10: 20 is missing (entries: 2, not 3)");
	check_pair(edges, weights, 4, edges, changed, 4, EMOGI_OUT,
			   "list of vertex 10: 30 has the weight 2, not 7 (entries: 2, not 2)");
	check_pair(edges, weights, 4, edges, heavier, 4, EMOGI_OUT, "weights: of 1 byte, not float4");
	check_pair(edges, weights, 4, edges, NULL, 4, EMOGI_OUT, "weights: of 1 byte, not none");
	check_pair(edges, NULL, 0, edges, NULL, 2, EMOGI_OUT,
			   "vertex 10 is missing (vertices: 0, not 3)");
}

/* Check that a changed byte of an array in a copy is detected. */
static void
check_byte(const EmogiGraph *graph, EmogiGraph *copy, const void *array, size_t bytes,
		   uint64_t seed, const char *name)
{
	const uint64_t at = emogi_random(seed, 1) % bytes;
	char *byte = (char *) copy->memory + ((const char *) array - (const char *) graph->memory) + at;

	*byte ^= (char) (1 << emogi_random(seed, 2) % 8);
	CHECK(!is_equal(copy, graph) && difference[0] != '\0', "byte %lu of %s", (unsigned long) at,
		  name);
	CHECK(!is_equal(graph, copy) && difference[0] != '\0', "byte %lu of %s, the other way",
		  (unsigned long) at, name);
	*byte ^= (char) (1 << emogi_random(seed, 2) % 8);
	CHECK(is_equal(copy, graph), "%s: %s", name, difference);
}

/* Check that comparing an invalid graph does not access memory outside of it. */
static void
check_bytes(EmogiDirection direction)
{
	EmogiEdge	edges[500];
	double		weights[500];
	EmogiBuiltGraph built;
	EmogiBuiltGraph forward;
	EmogiGraph	copy;
	void	   *memory;

	for (uint64_t i = 0; i < 500; i++)
	{
		edges[i] = (EmogiEdge) {(int64_t) (emogi_random(1, i) % 100) * 1000000007,
			(int64_t) (emogi_random(2, i) % 100)};
		weights[i] = (double) emogi_random(3, i) / 3;
	}
	built = build(edges, weights, 500, direction, true);
	forward = build(edges, weights, 500, direction, false);
	CHECK(is_equal(&built.graph, &forward.graph) == (direction == EMOGI_BOTH),
		  "with and without transpose: %s", difference);
	memory = malloc(built.graph.memory_bytes);
	memcpy(memory, built.memory, built.graph.memory_bytes);
	copy = built.graph;
	emogi_graph_relocate(&copy, memory);
	for (uint64_t seed = 0; seed < 2000; seed++)
	{
		const EmogiGraph *graph = &built.graph;
		const EmogiAdjacency *lists = seed % 2 == 0 ? &graph->forward : &graph->backward;

		check_byte(graph, &copy, graph->ids, graph->nvertices * 8, seed, "ids");
		check_byte(graph, &copy, lists->offsets, (graph->nvertices + 1) * 8, seed, "offsets");
		check_byte(graph, &copy, lists->targets, lists->nedges * 4, seed, "targets");
		check_byte(graph, &copy, lists->weights, lists->nedges * 8, seed, "weights");
	}
	free(memory);
	emogi_built_graph_free(&built);
	emogi_built_graph_free(&forward);
}

/* Check that large arrays are compared up to their ends, with regular polls. */
static void
check_large(void)
{
	EmogiEdgeSet set;
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;
	EmogiGraph	copy;
	uint32_t   *targets;

	if (!emogi_generate_edges(pool, EMOGI_KRON, 19, 16, 3, &set) ||
		emogi_build_graph(pool, &set.edges, EMOGI_OUT, false, &built, &control, &error) != EMOGI_OK)
		abort();
	copy = built.graph;
	targets = malloc(copy.forward.nedges * sizeof *targets);
	memcpy(targets, copy.forward.targets, copy.forward.nedges * sizeof *targets);
	copy.forward.targets = targets;
	npolls = 0;
	CHECK(is_equal(&copy, &built.graph) && npolls >= 4, "large: %s, %d polls", difference, npolls);
	targets[copy.forward.nedges - 1]--;
	CHECK(!is_equal(&copy, &built.graph), "the last target");
	CHECK(!emogi_graph_compare(&copy, &built.graph, stop, difference, sizeof difference) &&
		  difference[0] == '\0', "stopped: %s", difference);
	free(targets);
	emogi_built_graph_free(&built);
	emogi_edge_set_free(&set);
}

int
main(void)
{
	const EmogiGraph empty = {0};

	pool = emogi_pool_create(2);
	CHECK(is_equal(&empty, &empty), "nothing");
	check_places();
	check_bytes(EMOGI_OUT);
	check_bytes(EMOGI_BOTH);
	check_large();
	emogi_pool_destroy(pool);
	return check_report("test_compare");
}
