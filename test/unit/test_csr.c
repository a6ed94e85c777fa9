/*
 * test_csr.c: tests of CSR builds against a naive reference; the result must not depend on threads,
 * chunks, or the order of edges
 */
#include "build.h"
#include "check.h"
#include "generate.h"
#include "graph/key_numbers.h"
#include "lines.h"
#include "shapes.h"
#include "torn.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NRANDOM 120
#define NPOOLS 3

static EmogiPool *pools[NPOOLS];	/* of 1, 2 and 5 threads */

/* The expected graph: distinct keys and edges (source, target), both sorted. */
typedef struct Reference
{
	int64_t    *ids;
	uint64_t	nvertices;
	EmogiEdge  *entries;		/* of keys */
	uint64_t	nentries;
} Reference;

/* Order keys for qsort. */
static int
compare_keys(const void *a, const void *b)
{
	int64_t		x = *(const int64_t *) a,
				y = *(const int64_t *) b;

	return (x > y) - (x < y);
}

/* Order edges for qsort. */
static int
compare_entries(const void *a, const void *b)
{
	const EmogiEdge *x = a,
			   *y = b;

	return x->src != y->src ? compare_keys(&x->src, &y->src) : compare_keys(&x->dst, &y->dst);
}

/* Make the reference. */
static Reference
make_reference(const EmogiShape *shape, EmogiDirection direction)
{
	Reference	r = {0};

	r.ids = malloc((2 * shape->nedges + 1) * sizeof(int64_t));
	r.entries = malloc((2 * shape->nedges + 1) * sizeof(EmogiEdge));
	for (uint64_t i = 0; i < shape->nedges; i++)
	{
		EmogiEdge	edge = shape->edges[i];

		r.ids[2 * i] = edge.src;
		r.ids[2 * i + 1] = edge.dst;
		if (direction != EMOGI_IN)
			r.entries[r.nentries++] = edge;
		if (direction == EMOGI_IN || (direction == EMOGI_BOTH && edge.src != edge.dst))
			r.entries[r.nentries++] = (EmogiEdge) {edge.dst, edge.src};
	}
	qsort(r.ids, 2 * shape->nedges, sizeof(int64_t), compare_keys);
	qsort(r.entries, r.nentries, sizeof(EmogiEdge), compare_entries);
	for (uint64_t i = 0; i < 2 * shape->nedges; i++)
	{
		if (i == 0 || r.ids[i] != r.ids[i - 1])
			r.ids[r.nvertices++] = r.ids[i];
	}
	return r;
}

/* Return true if an orientation has exactly the sorted edges. */
static bool
same_entries(const EmogiGraph *graph, const EmogiAdjacency *adjacency, const EmogiEdge *entries,
			 uint64_t nentries)
{
	uint64_t	i = 0;

	if (adjacency->nedges != nentries || adjacency->offsets[0] != 0 ||
		adjacency->offsets[graph->nvertices] != nentries)
		return false;
	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		if (adjacency->offsets[v] != i)
			return false;
		for (; i < adjacency->offsets[v + 1]; i++)
		{
			if (i >= nentries || adjacency->targets[i] >= graph->nvertices ||
				entries[i].src != graph->ids[v] ||
				entries[i].dst != graph->ids[adjacency->targets[i]])
				return false;
		}
	}
	return true;
}

/* Check a graph against the reference. */
static void
check_graph(const EmogiShape *shape, const EmogiBuiltGraph *built, EmogiDirection direction,
			bool with_backward)
{
	const EmogiGraph *graph = &built->graph;
	Reference	r = make_reference(shape, direction);

	CHECK(graph->nvertices == r.nvertices, "%s: %llu vertices", shape->name,
		  (unsigned long long) graph->nvertices);
	CHECK(graph->nvertices == r.nvertices &&
		  memcmp(graph->ids, r.ids, r.nvertices * sizeof(int64_t)) == 0, "%s: ids", shape->name);
	CHECK(graph->nvertices == r.nvertices &&
		  same_entries(graph, &graph->forward, r.entries, r.nentries), "%s direction %d: forward",
		  shape->name, direction);
	CHECK(line_aligned(graph->ids, graph->nvertices * 8) &&
		  line_aligned(graph->forward.offsets, (graph->nvertices + 1) * 8) &&
		  line_aligned(graph->forward.targets, graph->forward.nedges * 4), "%s: lines",
		  shape->name);
	CHECK(graph->memory_bytes <= built->memory_bytes, "%s: memory", shape->name);
	if (direction == EMOGI_BOTH)
		CHECK(graph->backward.offsets == graph->forward.offsets &&
			  graph->backward.nedges == graph->forward.nedges, "%s: backward of both", shape->name);
	else if (with_backward)
	{
		for (uint64_t i = 0; i < r.nentries; i++)
			r.entries[i] = (EmogiEdge) {r.entries[i].dst, r.entries[i].src};
		qsort(r.entries, r.nentries, sizeof(EmogiEdge), compare_entries);
		CHECK(graph->nvertices == r.nvertices &&
			  same_entries(graph, &graph->backward, r.entries, r.nentries),
			  "%s direction %d: backward", shape->name, direction);
		CHECK(line_aligned(graph->backward.targets, graph->backward.nedges * 4), "%s: lines",
			  shape->name);
	}
	else
		CHECK(graph->backward.offsets == NULL, "%s: an unrequested transpose", shape->name);
	for (uint64_t v = 0; v < graph->nvertices && v < 100; v++)
		CHECK(emogi_graph_vertex(graph, graph->ids[v]) == v, "%s: number of vertex %llu",
			  shape->name, (unsigned long long) v);
	for (uint64_t v = 0; v < graph->nvertices && v < 100; v++)
	{
		const bool	is_last = v + 1 == graph->nvertices;
		const bool	has_next = !is_last && graph->ids[v + 1] - 1 == graph->ids[v];

		CHECK(graph->ids[v] == INT64_MAX ||
			  emogi_graph_vertex(graph, graph->ids[v] + 1) == (has_next ? v + 1 : EMOGI_NO_VERTEX),
			  "%s: lookup of the successor of key %llu", shape->name, (unsigned long long) v);
	}
	CHECK(emogi_graph_vertex(graph, INT64_MIN) ==
		  (graph->nvertices > 0 && graph->ids[0] == INT64_MIN ? 0 : EMOGI_NO_VERTEX),
		  "%s: the smallest key", shape->name);
	CHECK(emogi_graph_vertex(graph, 123456789012345) == EMOGI_NO_VERTEX, "%s: an unknown key",
		  shape->name);
	free(r.ids);
	free(r.entries);
}

/* Return true if two orientations have the same addresses. */
static bool
same_addresses(const EmogiAdjacency *a, const EmogiAdjacency *b)
{
	return a->nedges == b->nedges && a->offsets == b->offsets && a->targets == b->targets &&
		a->weights == b->weights;
}

/* Check that a graph relocated to the block of an equal one has the same addresses. */
static void
check_move(const EmogiShape *shape, EmogiGraph graph, const EmogiGraph *there)
{
	emogi_graph_relocate(&graph, there->memory);
	CHECK(graph.memory == there->memory && graph.memory_bytes == there->memory_bytes &&
		  graph.ids == there->ids && same_addresses(&graph.forward, &there->forward) &&
		  same_addresses(&graph.backward, &there->backward), "%s: moved", shape->name);
}

/* Shuffle the edges. */
static void
shuffle(EmogiShape *shape)
{
	for (uint64_t i = shape->nedges; i > 1; i--)
	{
		uint64_t	j = emogi_random(shape->nedges, i) % i;
		EmogiEdge	edge = shape->edges[i - 1];

		shape->edges[i - 1] = shape->edges[j];
		shape->edges[j] = edge;
	}
}

/*
 * Build with all pools and in another order, and check that the results are identical, byte for
 * byte. Checks the first against the reference.
 */
static void
check_builds(EmogiShape *shape, EmogiDirection direction, bool with_backward, uint64_t per_chunk)
{
	EmogiBuiltGraph first = {0};
	EmogiControl control = {0};
	EmogiError	error;

	for (int p = 0; p < NPOOLS; p++)
	{
		EmogiEdgeSet set;
		EmogiBuiltGraph built;
		EmogiStatus status;

		if (p == 1)
			shuffle(shape);
		if (!emogi_edge_set_fill(&set, shape->edges, shape->nedges,
								 p == 2 ? EMOGI_CHUNK_EDGES : per_chunk))
			abort();
		status = emogi_build_graph(pools[p], &set.edges, direction, with_backward, &built, &control,
								   &error);
		CHECK(status == EMOGI_OK, "%s: status %d", shape->name, status);
		CHECK(control.done == control.total, "%s: done %llu of %llu", shape->name,
			  (unsigned long long) control.done, (unsigned long long) control.total);
		emogi_edge_set_free(&set);
		if (p == 0)
		{
			check_graph(shape, &built, direction, with_backward);
			first = built;
			continue;
		}
		CHECK(built.graph.memory_bytes == first.graph.memory_bytes &&
			  memcmp(built.memory, first.memory, first.graph.memory_bytes) == 0,
			  "%s: pool %d differs", shape->name, p);
		check_move(shape, first.graph, &built.graph);
		emogi_built_graph_free(&built);
	}
	emogi_built_graph_free(&first);
}

/* Build a shape in all directions. */
static void
check_shape(EmogiShape *shape)
{
	uint64_t	per_chunk = shape->nedges / 7 + 1;

	if (per_chunk > EMOGI_CHUNK_EDGES)
		per_chunk = EMOGI_CHUNK_EDGES;
	check_builds(shape, EMOGI_OUT, true, per_chunk);
	check_builds(shape, EMOGI_IN, true, per_chunk);
	check_builds(shape, EMOGI_BOTH, false, per_chunk);
	check_builds(shape, EMOGI_OUT, false, per_chunk);
	emogi_shape_free(shape);
}

/* Build with empty chunks between others. */
static void
check_empty_chunks(void)
{
	EmogiShape	shape;
	EmogiEdgeSet set,
				gaps;
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;

	if (!emogi_shape_random(5, &shape) ||
		!emogi_edge_set_fill(&set, shape.edges, shape.nedges, shape.nedges / 3 + 1) ||
		!emogi_edge_set_create(&gaps, 2 * set.edges.nchunks + 1))
		abort();
	for (uint64_t c = 0; c < set.edges.nchunks; c++)
		memcpy(gaps.chunks[2 * c + 1], set.chunks[c], EMOGI_CHUNK_BYTES);
	emogi_edge_set_bound(&gaps);
	CHECK(emogi_build_graph(pools[1], &gaps.edges, EMOGI_OUT, true, &built, &control, &error) ==
		  EMOGI_OK, "gaps");
	check_graph(&shape, &built, EMOGI_OUT, true);
	emogi_built_graph_free(&built);
	emogi_edge_set_free(&set);
	emogi_edge_set_free(&gaps);
	emogi_shape_free(&shape);
}

/*
 * Return true if a vertex's list is equal to its list in a graph with self-loops, except nloops of
 * these.
 */
static bool
same_except_loops(const EmogiAdjacency *a, const EmogiAdjacency *loops, uint32_t v, uint64_t nloops)
{
	uint64_t	i = a->offsets[v];

	for (uint64_t j = loops->offsets[v]; j < loops->offsets[v + 1]; j++)
	{
		if (loops->targets[j] == v && nloops > 0)
			nloops--;
		else if (i == a->offsets[v + 1] || a->targets[i++] != loops->targets[j])
			return false;
	}
	return nloops == 0 && i == a->offsets[v + 1];
}

/*
 * Check builds with isolated vertices, some of them with keys that no edge has, or with isolated
 * vertices only.
 */
static void
check_isolated(EmogiDirection direction, int64_t scale, bool all)
{
	EmogiShape	shape;
	EmogiEdgeSet set;
	EmogiBuiltGraph built,
				loops;
	EmogiControl control = {0};
	EmogiError	error;
	uint64_t	nwrong = 0;

	if (!emogi_shape_random(7, &shape) ||
		!emogi_edge_set_fill(&set, shape.edges, shape.nedges, shape.nedges / 8 + 1))
		abort();
	for (uint64_t c = 0; c < set.edges.nchunks; c++)
	{
		const bool	isolated = all || c % 2 == 1;

		for (uint64_t i = 0; i < set.chunks[c]->nedges; i++)
		{
			EmogiEdge  *edge = &set.chunks[c]->edges[i];

			if (isolated)
				edge->src = edge->dst = edge->src * 2 + (int64_t) i % 2;
			edge->src *= scale;
			edge->dst *= scale;
		}
		emogi_edge_chunk_bound(set.chunks[c]);
	}
	emogi_edge_set_bound(&set);
	CHECK(emogi_build_graph(pools[1], &set.edges, direction, true, &loops, &control, &error) ==
		  EMOGI_OK, "loops");
	for (uint64_t c = 0; c < set.edges.nchunks; c++)
		set.chunks[c]->isolated = all || c % 2 == 1;
	emogi_edge_set_bound(&set);
	CHECK(set.edges.nisolated > 0 &&
		  (all ? set.edges.nisolated == set.edges.nedges : set.edges.nisolated < set.edges.nedges),
		  "count");
	CHECK(emogi_build_graph(pools[2], &set.edges, direction, true, &built, &control, &error) ==
		  EMOGI_OK, "alone");
	CHECK(built.graph.nvertices == loops.graph.nvertices &&
		  memcmp(built.graph.ids, loops.graph.ids, built.graph.nvertices * sizeof(int64_t)) == 0,
		  "vertices");
	CHECK(built.graph.forward.nedges == loops.graph.forward.nedges - set.edges.nisolated,
		  "%llu entries", (unsigned long long) built.graph.forward.nedges);
	for (uint32_t v = 0; v < built.graph.nvertices; v++)
	{
		uint64_t	nloops = 0;

		for (uint64_t c = 0; c < set.edges.nchunks; c++)
			for (uint64_t i = 0; i < set.chunks[c]->nedges && set.chunks[c]->isolated; i++)
				nloops += set.chunks[c]->edges[i].src == built.graph.ids[v];
		nwrong += !same_except_loops(&built.graph.forward, &loops.graph.forward, v, nloops);
		nwrong += !same_except_loops(&built.graph.backward, &loops.graph.backward, v, nloops);
	}
	CHECK(nwrong == 0, "%llu lists are wrong", (unsigned long long) nwrong);
	emogi_built_graph_free(&built);
	emogi_built_graph_free(&loops);
	emogi_edge_set_free(&set);
	emogi_shape_free(&shape);
}

/* Check that the plan is as documented in csr.h, including its limits. */
static void
check_plans(void)
{
	EmogiEdges	edges = {.nedges = 1, .min_key = INT64_MIN, .max_key = INT64_MAX};
	EmogiKeyPlan plan;

	emogi_key_numbers_plan(&edges, &plan);
	CHECK(plan.method == EMOGI_KEYS_SORTED && plan.max_vertices == 2, "all keys");
	edges = (EmogiEdges) {.nedges = 1000, .min_key = -5, .max_key = 4};
	emogi_key_numbers_plan(&edges, &plan);
	CHECK(plan.method == EMOGI_KEYS_DIRECT && plan.max_vertices == 10, "ten keys");
	edges = (EmogiEdges) {.nedges = 0};
	emogi_key_numbers_plan(&edges, &plan);
	CHECK(plan.max_vertices == 0, "no edge");
	edges = (EmogiEdges) {.nedges = 1000000, .min_key = 0, .max_key = 32000000 - 1};
	emogi_key_numbers_plan(&edges, &plan);
	CHECK(plan.method == EMOGI_KEYS_DIRECT, "32 keys an edge");
	edges.max_key = 33000000;
	emogi_key_numbers_plan(&edges, &plan);
	CHECK(plan.method == EMOGI_KEYS_SORTED, "33 keys an edge");
}

/*
 * Check that the scratch memory of few edges does not depend on the number of threads, and is at
 * most twice the memory of the edges.
 */
static void
check_scratch(void)
{
	for (int weighted = 0; weighted <= 1; weighted++)
	{
		uint64_t	edge_bytes = weighted ? sizeof(EmogiWeightedEdge) : sizeof(EmogiEdge);

		for (uint64_t nedges = 1; nedges < 100000; nedges *= 10)
			CHECK(emogi_csr_scratch_bytes(nedges + 1, nedges, EMOGI_OUT, 1024, weighted) ==
				  emogi_csr_scratch_bytes(nedges + 1, nedges, EMOGI_OUT, 1, weighted),
				  "scratch of %d edges", (int) nedges);
		for (uint64_t nedges = 1000000; nedges <= 100000000; nedges *= 10)
			CHECK(emogi_csr_scratch_bytes(nedges / 16, nedges, EMOGI_OUT, 1024, weighted) <=
				  2 * nedges * edge_bytes, "scratch of %d edges", (int) nedges);
	}
}

/* Check a large generated graph with dense or sparse keys. */
static void
check_large(bool spread)
{
	EmogiEdgeSet set;
	EmogiShape	shape = {.name = "large"};
	uint64_t	n = 0;

	if (!emogi_generate_edges(pools[1], EMOGI_KRON, 16, 16, 3, &set))
		abort();
	shape.edges = malloc(set.edges.nedges * sizeof(EmogiEdge));
	for (uint64_t c = 0; c < set.edges.nchunks; c++)
	{
		for (uint64_t i = 0; i < set.chunks[c]->nedges; i++, n++)
		{
			EmogiEdge	edge = set.chunks[c]->edges[i];

			if (spread)
				edge = (EmogiEdge) {(int64_t) emogi_random(9, (uint64_t) edge.src),
					(int64_t) emogi_random(9, (uint64_t) edge.dst)};
			shape.edges[n] = edge;
		}
	}
	shape.nedges = n;
	emogi_edge_set_free(&set);
	check_builds(&shape, EMOGI_BOTH, false, EMOGI_CHUNK_EDGES);
	check_builds(&shape, EMOGI_OUT, true, 10000);
	emogi_shape_free(&shape);
}

/* Check a vertex with more edges than one sort can hold: its list is split in place. */
static void
check_large_star(void)
{
	EmogiShape	shape = {.name = "large star", .nedges = 2500000};

	shape.edges = malloc(shape.nedges * sizeof(EmogiEdge));
	for (uint64_t i = 0; i < shape.nedges; i++)
		shape.edges[i] = (EmogiEdge) {-1, (int64_t) (emogi_random(4, i) % 3000000)};
	check_builds(&shape, EMOGI_OUT, true, EMOGI_CHUNK_EDGES);
	emogi_shape_free(&shape);
}

/* Check that a failed allocation at any place returns NO_MEMORY with a message. */
static void
check_no_memory(bool spread)
{
	EmogiEdgeSet set;
	EmogiKeyPlan plan;
	EmogiKeyNumbers	keys;
	EmogiCsrInput input;
	EmogiGraph	graph;
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	void	   *map;
	size_t		bytes,
				scratch_bytes;
	EmogiStatus status;

	if (!emogi_generate_edges(pools[1], EMOGI_URAND, 16, 4, 3, &set))
		abort();
	for (uint64_t c = 0; c < set.edges.nchunks && spread; c++)
	{
		for (uint64_t i = 0; i < set.chunks[c]->nedges; i++)
			set.chunks[c]->edges[i].src *= INT64_C(100000000000);
		emogi_edge_chunk_bound(set.chunks[c]);
	}
	emogi_edge_set_bound(&set);
	emogi_key_numbers_plan(&set.edges, &plan);
	CHECK(plan.method == (spread ? EMOGI_KEYS_SORTED : EMOGI_KEYS_DIRECT), "method %d",
		  plan.method);
	status = emogi_key_numbers_build(pools[1], &set.edges, &plan, map_torn(plan.scratch_bytes),
									 &keys, &control, &error);
	CHECK(status == EMOGI_NO_MEMORY && error.message[0] != '\0', "keys: status %d", status);

	map = emogi_map_memory(plan.scratch_bytes);
	if (emogi_key_numbers_build(pools[1], &set.edges, &plan, map, &keys, &control, &error) !=
		EMOGI_OK)
		abort();
	bytes = emogi_csr_bytes(keys.nvertices, set.edges.nedges, EMOGI_OUT, true, EMOGI_WEIGHT_NONE);
	scratch_bytes = emogi_csr_scratch_bytes(keys.nvertices, set.edges.nedges, EMOGI_OUT, 2, false);
	input = (EmogiCsrInput) {.edges = &set.edges, .keys = &keys, .direction = EMOGI_OUT,
		.with_backward = true, .memory = emogi_map_memory(bytes),
		.scratch = map_torn(scratch_bytes)};
	status = emogi_csr_build(pools[1], &input, &graph, &control, &error);
	CHECK(status == EMOGI_NO_MEMORY, "scratch: status %d", status);
	input.memory = map_torn(bytes);
	input.scratch = emogi_map_memory(scratch_bytes);
	status = emogi_csr_build(pools[1], &input, &graph, &control, &error);
	CHECK(status == EMOGI_NO_MEMORY, "memory: status %d", status);
	emogi_unmap_memory(map, plan.scratch_bytes);
	emogi_edge_set_free(&set);
}

/* Set cancel shortly after the start. */
static void *
cancel_soon(void *arg)
{
	EmogiControl *control = arg;

	usleep(3000);
	__atomic_store_n(&control->cancel, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Check cancellation before and during a build. */
static void
check_cancel(bool star)
{
	EmogiEdgeSet set;
	EmogiBuiltGraph built;
	EmogiControl control = {.cancel = 1};
	EmogiError	error;
	pthread_t	thread;
	double		start;
	EmogiStatus status;

	if (!emogi_generate_edges(pools[1], EMOGI_URAND, 17, 16, 3, &set))
		abort();
	for (uint64_t c = 0; c < set.edges.nchunks && star; c++)
	{
		for (uint64_t i = 0; i < set.chunks[c]->nedges; i++)
			set.chunks[c]->edges[i].src = 5;
	}
	status = emogi_build_graph(pools[1], &set.edges, EMOGI_OUT, true, &built, &control, &error);
	CHECK(status == EMOGI_CANCELED, "status %d", status);
	control.cancel = 0;
	pthread_create(&thread, NULL, cancel_soon, &control);
	start = emogi_pool_now_ms();
	status = emogi_build_graph(pools[2], &set.edges, EMOGI_OUT, true, &built, &control, &error);
	CHECK(status == EMOGI_CANCELED, "status %d after %.1f ms", status, emogi_pool_now_ms() - start);
	pthread_join(thread, NULL);
	emogi_edge_set_free(&set);
}

int
main(void)
{
	static const int sizes[NPOOLS] = {1, 2, 5};
	EmogiShape	shape;

	emogi_build_fill = 0xA5;	/* no code may rely on zeroed memory */
	for (int p = 0; p < NPOOLS; p++)
		pools[p] = emogi_pool_create(sizes[p]);
	check_plans();
	check_scratch();
	for (int i = 0; i < emogi_shape_count(); i++)
	{
		if (!emogi_shape_make(i, &shape))
			abort();
		check_shape(&shape);
	}
	for (uint64_t seed = 1; seed <= NRANDOM; seed++)
	{
		if (!emogi_shape_random(seed, &shape))
			abort();
		check_shape(&shape);
	}
	check_empty_chunks();
	for (int i = 0; i < 12; i++)
		check_isolated((EmogiDirection[]) {EMOGI_OUT, EMOGI_IN, EMOGI_BOTH}[i % 3],
					   i < 6 ? 1 : INT64_C(10000000000), i % 2 == 1);
	check_large(false);
	check_large(true);
	check_large_star();
	if (is_torn_noticed())
	{
		check_no_memory(false);
		check_no_memory(true);
	}
	check_cancel(false);
	check_cancel(true);
	for (int p = 0; p < NPOOLS; p++)
		emogi_pool_destroy(pools[p]);
	return check_report("test_csr");
}
