/*
 * test_compact.c: tests of graph compaction: a graph compacted by bitmaps must be identical, byte
 * for byte, to one built from the edges that pass
 */
#include "check.h"
#include "build.h"
#include "contract/compact.h"
#include "contract/edge_mask.h"
#include "generate.h"
#include "shapes.h"

#include <stdlib.h>
#include <string.h>

/* random multigraphs, each with NFILTERS filters; overridden by the first argument */
#define NSMALL 3000
#define NFILTERS 3
#define MAX_EDGES 60

static EmogiPool *pools[2];		/* of 1 and 3 threads */
static uint64_t nempty,
			ncomplete,
			nnarrower,
			/* filters that separate edges with equal endpoints and weights */
			nseparated,
			nkept;

/* Edges, weighted or not. */
typedef struct Edges
{
	const EmogiEdge *edges;
	const double *weights;		/* NULL = none */
	uint64_t	count;
} Edges;

static EmogiBuiltGraph
build(Edges edges, EmogiDirection direction, bool with_backward)
{
	EmogiEdgeSet set;
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;
	const bool	filled = edges.weights != NULL
		? emogi_edge_set_fill_weighted(&set, edges.edges, edges.weights, edges.count,
									   EMOGI_CHUNK_WEIGHTED_EDGES)
		: emogi_edge_set_fill(&set, edges.edges, edges.count, EMOGI_CHUNK_EDGES);

	if (!filled || emogi_build_graph(pools[0], &set.edges, direction, with_backward, &built,
									 &control, &error) != EMOGI_OK)
		abort();
	emogi_edge_set_free(&set);
	return built;
}

/*
 * Return true if the n-th edge with these endpoints and this weight passes. For EMOGI_BOTH, the
 * order of the endpoints does not matter.
 */
static bool
passes(uint64_t filter, uint64_t share, EmogiDirection direction, int64_t src, int64_t dst,
	   double weight, uint64_t n)
{
	const bool	swap = direction == EMOGI_BOTH && dst < src;
	const uint64_t a = (uint64_t) (swap ? dst : src),
				b = (uint64_t) (swap ? src : dst);
	uint64_t	bits;

	memcpy(&bits, &weight, sizeof bits);
	return emogi_random(filter ^ emogi_random(a, b) ^ emogi_random(bits, 7), n) % 1000 < share;
}

/* Make the bitmap of adjacency lists. loops: list entries of a self-loop. */
static uint64_t *
mark(const EmogiGraph *graph, const EmogiAdjacency *lists, bool reversed, EmogiDirection direction,
	 uint64_t filter, uint64_t share, uint64_t loops)
{
	uint64_t   *bitmap = calloc(emogi_bitmap_words(lists->nedges) + 1, sizeof(uint64_t));

	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		uint64_t	n = 0;

		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
		{
			const uint32_t u = lists->targets[e];
			const double weight = emogi_weight(lists->weights, graph->weight_type, e);
			const bool	same = e > lists->offsets[v] && lists->targets[e - 1] == u &&
				emogi_weight(lists->weights, graph->weight_type, e - 1) == weight;

			n = same ? n + 1 : 0;
			if (passes(filter, share, direction, graph->ids[reversed ? u : v],
					   graph->ids[reversed ? v : u],
					   graph->weight_type == EMOGI_WEIGHT_NONE ? 1.0 : weight,
					   u == v ? n / loops : n))
				bitmap[e / 64] |= UINT64_C(1) << (e % 64);
		}
	}
	return bitmap;
}

/* Get the edges that pass. */
static Edges
select_edges(Edges edges, EmogiDirection direction, uint64_t filter, uint64_t share, EmogiEdge *to,
			 double *weights)
{
	Edges		selected = {to, edges.weights != NULL ? weights : NULL, 0};

	for (uint64_t i = 0; i < edges.count; i++)
	{
		const EmogiEdge *edge = &edges.edges[i];
		const double weight = edges.weights != NULL ? edges.weights[i] : 1.0;
		uint64_t	n = 0;

		for (uint64_t j = 0; j < i; j++)
		{
			const EmogiEdge *other = &edges.edges[j];

			n += (edges.weights == NULL || edges.weights[j] == weight) &&
				((other->src == edge->src && other->dst == edge->dst) ||
				 (direction == EMOGI_BOTH && other->src == edge->dst && other->dst == edge->src));
		}
		nseparated += n > 0 && passes(filter, share, direction, edge->src, edge->dst, weight, n) !=
			passes(filter, share, direction, edge->src, edge->dst, weight, 0);
		if (!passes(filter, share, direction, edge->src, edge->dst, weight, n))
			continue;
		weights[selected.count] = weight;
		to[selected.count++] = *edge;
	}
	return selected;
}

/* Compact a graph into memory filled with other bytes; the caller frees the block. */
static void *
compact(EmogiPool *pool, EmogiCompactInput *input, EmogiGraph *compacted)
{
	EmogiCompactSize size;
	EmogiControl control = {0};
	EmogiError	error = {0};
	void	   *memory;
	const size_t scratch_bytes = emogi_compact_scratch_bytes(input->graph);
	void	   *scratch = aligned_alloc(4096, (scratch_bytes + 4095) / 4096 * 4096);

	memset(scratch, 0x5A, scratch_bytes);
	input->scratch = scratch;
	if (emogi_compact_count(pool, input, &size, &control, &error) != EMOGI_OK)
	{
		fprintf(stderr, "%s\n", error.message);
		abort();
	}
	memory = aligned_alloc(4096, (size.bytes + 4095) / 4096 * 4096);
	memset(memory, 0x5A, size.bytes);
	if (emogi_compact_build(pool, input, &size, memory, compacted, &control, &error) != EMOGI_OK)
		abort();
	CHECK(compacted->memory_bytes == size.bytes, "the block has another size");
	free(scratch);
	return memory;
}

/* Check that a graph equals a built one, including all bytes of the block. */
static void
check_same(const char *name, const EmogiGraph *compacted, const EmogiGraph *expected)
{
	const bool is_same = compacted->nvertices == expected->nvertices &&
		compacted->weight_type == expected->weight_type &&
		compacted->forward.nedges == expected->forward.nedges &&
			compacted->backward.nedges == expected->backward.nedges &&
		(compacted->backward.offsets == NULL) == (expected->backward.offsets == NULL) &&
		compacted->memory_bytes == expected->memory_bytes;

	CHECK(is_same, "%s: %llu vertices, not %llu, %llu edges, not %llu, weights %d, not %d", name,
		  (unsigned long long) compacted->nvertices, (unsigned long long) expected->nvertices,
		  (unsigned long long) compacted->forward.nedges,
		  (unsigned long long) expected->forward.nedges, compacted->weight_type,
		  expected->weight_type);
	if (is_same)
		CHECK(memcmp(compacted->memory, expected->memory, expected->memory_bytes) == 0,
			  "%s: the blocks differ", name);
}

/*
 * Check that with kept vertices, the compacted graph has these in addition, and otherwise the same
 * keys and edges.
 */
static void
check_kept(const char *name, EmogiCompactInput *input, const EmogiGraph *without)
{
	const EmogiGraph *graph = input->graph;
	uint64_t   *kept = calloc(emogi_bitmap_words(graph->nvertices) + 1, sizeof(uint64_t));
	EmogiGraph	compacted;
	void	   *memory;
	uint64_t	nmissing = 0,
				nexpected = 0;

	for (uint64_t v = 0; v < graph->nvertices; v++)
		if (emogi_random(graph->forward.nedges, v) % 3 == 0)
			kept[v / 64] |= UINT64_C(1) << (v % 64);
	input->kept = kept;
	memory = compact(pools[0], input, &compacted);
	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		const int64_t key = graph->ids[v];
		const uint32_t number = emogi_graph_vertex(&compacted, key);
		const uint32_t before = emogi_graph_vertex(without, key);
		const bool	expected = (kept[v / 64] >> (v % 64) & 1) != 0 || before != EMOGI_NO_VERTEX;

		nexpected += expected;
		nmissing += expected != (number != EMOGI_NO_VERTEX);
		if (before != EMOGI_NO_VERTEX && number != EMOGI_NO_VERTEX)
			nmissing += compacted.forward.offsets[number] != without->forward.offsets[before];
	}
	CHECK(nmissing == 0 && compacted.nvertices == nexpected &&
		  compacted.forward.nedges == without->forward.nedges, "%s: kept vertices: %llu wrong",
		  name, (unsigned long long) nmissing);
	nkept += nexpected > without->nvertices;
	input->kept = NULL;
	free(kept);
	free(memory);
}

/* Check a graph with one filter. */
static void
check_filter(const char *name, Edges edges, const EmogiGraph *graph, EmogiDirection direction,
			 bool with_backward, uint64_t loops, uint64_t filter, uint64_t share)
{
	EmogiEdge	to[MAX_EDGES];
	double		weights[MAX_EDGES];
	const Edges selected = select_edges(edges, direction, filter, share, to, weights);
	EmogiBuiltGraph expected = build(selected, direction, with_backward);
	EmogiCompactInput input = {.graph = graph, .direction = direction,
		.with_backward = with_backward};
	uint64_t *forward = mark(graph, &graph->forward, direction == EMOGI_IN, direction, filter,
							 share, loops);
	uint64_t   *backward = NULL;
	EmogiGraph	compacted;
	void	   *memory;

	if (with_backward && direction != EMOGI_BOTH)
		backward = mark(graph, &graph->backward, direction == EMOGI_OUT, direction, filter, share,
						loops);
	input.forward = forward;
	input.backward = backward;
	memory = compact(pools[filter % 16 == 0], &input, &compacted);
	check_same(name, &compacted, &expected.graph);
	free(memory);
	if (filter % 8 == 0)
		check_kept(name, &input, &expected.graph);
	nempty += selected.count == 0;
	ncomplete += selected.count == edges.count;
	nnarrower += expected.graph.weight_type != graph->weight_type;
	emogi_built_graph_free(&expected);
	free(forward);
	free(backward);
}

/* Make a random weight of the seed's kind. */
static double
make_weight(uint64_t seed, uint64_t i)
{
	const uint64_t bits = emogi_random(seed + 5, i);

	switch (bits % 16 + seed % 5)
	{
		case 17:
			return (double) (bits >> 20) / 3.0;
		case 18:
			return (double) (bits >> 34) + 0.5;
		case 19:
			return (double) (bits >> 33) * 2.0;
		case 16:
			return (double) (bits >> 44 & 0xFFFF);
		default:
			return (double) (bits >> 40 & 3);
	}
}

/* Return the number of list entries of a self-loop with EMOGI_BOTH. */
static uint64_t
count_loop_entries(void)
{
	const EmogiEdge loop = {3, 3};
	EmogiBuiltGraph built = build((Edges) {&loop, NULL, 1}, EMOGI_BOTH, false);
	const uint64_t count = built.graph.forward.nedges;

	emogi_built_graph_free(&built);
	return count;
}

/* Check random multigraphs with few keys, so that many edges are parallel. */
static void
check_random(uint64_t seed, uint64_t loops)
{
	const EmogiDirection directions[] = {EMOGI_OUT, EMOGI_IN, EMOGI_BOTH};
	const uint64_t shares[] = {0, 20, 200, 500, 800, 1000};
	EmogiEdge	edges[MAX_EDGES];
	double		weights[MAX_EDGES];
	const uint64_t count = emogi_random(seed, 1) % (MAX_EDGES + 1);
	const uint64_t nkeys = 1 + emogi_random(seed, 2) % (seed % 4 == 0 ? 150 : 12);
	const int64_t spread = seed % 7 == 0 ? INT64_C(1000000007) : 1;
	const EmogiDirection direction = directions[seed % 3];
	const bool	with_backward = seed / 3 % 2 == 0;
	const Edges all = {edges, seed / 6 % 3 != 0 ? weights : NULL, count};
	EmogiBuiltGraph base;

	for (uint64_t i = 0; i < count; i++)
	{
		edges[i].src = ((int64_t) (emogi_random(seed + 1, i) % nkeys) - 3) * spread;
		edges[i].dst = ((int64_t) (emogi_random(seed + 2, i) % nkeys) - 3) * spread;
		weights[i] = make_weight(seed, i);
	}
	base = build(all, direction, with_backward);
	for (uint64_t f = 0; f < NFILTERS; f++)
		check_filter("random", all, &base.graph, direction, with_backward,
					 direction == EMOGI_BOTH ? loops : 1, seed * NFILTERS + f,
					 shares[emogi_random(seed, f + 3) % 6]);
	emogi_built_graph_free(&base);
}

/*
 * Check a larger graph, in which all steps have many chunks. Parallel edges have different weights,
 * because n is not counted.
 */
static void
check_large(EmogiGenerator generator, EmogiDirection direction, bool weighted, uint64_t share)
{
	EmogiEdgeSet set;
	EmogiEdge  *edges,
			   *to;
	double	   *weights,
			   *to_weights;
	uint64_t	count = 0,
				n = 0;
	EmogiBuiltGraph base,
				expected;
	EmogiCompactInput input = {.direction = direction, .with_backward = true};

	if (!emogi_generate_edges(pools[1], generator, 13, 16, 1, &set))
		abort();
	edges = malloc(set.edges.nedges * sizeof(EmogiEdge));
	to = malloc(set.edges.nedges * sizeof(EmogiEdge));
	weights = malloc(set.edges.nedges * sizeof(double));
	to_weights = malloc(set.edges.nedges * sizeof(double));
	for (uint64_t c = 0; c < set.edges.nchunks; c++)
		for (uint64_t e = 0; e < set.chunks[c]->nedges; e++)
		{
			edges[n] = set.chunks[c]->edges[e];
			weights[n] = (double) n;
			if (passes(1, share, direction, edges[n].src, edges[n].dst, weighted ? weights[n] : 1.0,
					   0) && edges[n].src != edges[n].dst)
			{
				to[count] = edges[n];
				to_weights[count++] = weights[n];
			}
			n += edges[n].src != edges[n].dst;
		}
	base = build((Edges) {edges, weights, n}, direction, true);
	expected = build((Edges) {to, to_weights, count}, direction, true);
	input.graph = &base.graph;
	input.forward = mark(&base.graph, &base.graph.forward, direction == EMOGI_IN, direction, 1,
						 share, 1);
	input.backward = direction == EMOGI_BOTH ? NULL
		: mark(&base.graph, &base.graph.backward, direction == EMOGI_OUT, direction, 1, share, 1);
	for (int p = 0; p < 2; p++)
	{
		EmogiGraph	compacted;
		void	   *memory = compact(pools[p], &input, &compacted);

		check_same("large", &compacted, &expected.graph);
		free(memory);
	}
	free((void *) input.forward);
	free((void *) input.backward);
	emogi_built_graph_free(&base);
	emogi_built_graph_free(&expected);
	free(edges);
	free(to);
	free(weights);
	free(to_weights);
	emogi_edge_set_free(&set);
}

/* Check that bitmaps of different edges are refused, and that a job can be canceled. */
static void
check_refused(void)
{
	const EmogiEdge edges[] = {{1, 2}, {2, 3}};
	EmogiBuiltGraph base = build((Edges) {edges, NULL, 2}, EMOGI_OUT, true);
	const uint64_t one = 1,
				both = 3;
	EmogiCompactInput input = {.graph = &base.graph, .direction = EMOGI_OUT, .with_backward = true,
		.forward = &one, .backward = &both,
		.scratch = emogi_map_memory(emogi_compact_scratch_bytes(&base.graph))};
	EmogiCompactSize size;
	EmogiControl control = {0};
	EmogiError	error = {0};
	EmogiGraph	compacted;
	void	   *memory;

	CHECK(emogi_compact_count(pools[0], &input, &size, &control, &error) == EMOGI_BAD_INPUT,
		  "bitmaps of different edges");
	input.backward = NULL;
	CHECK(emogi_compact_count(pools[0], &input, &size, &control, &error) == EMOGI_BAD_INPUT,
		  "no reverse bitmap");
	input.backward = &one;
	control.cancel = 1;
	CHECK(emogi_compact_count(pools[0], &input, &size, &control, &error) == EMOGI_CANCELED,
		  "canceled");
	control.cancel = 0;
	CHECK(emogi_compact_count(pools[0], &input, &size, &control, &error) == EMOGI_OK,
		  "not canceled");
	memory = aligned_alloc(4096, 4096);
	control.fail_allocation = 1;
	CHECK(emogi_compact_build(pools[0], &input, &size, memory, &compacted, &control, &error) ==
		  EMOGI_NO_MEMORY && error.message[0] != '\0', "no memory");
	free(memory);
	emogi_unmap_memory(input.scratch, emogi_compact_scratch_bytes(&base.graph));
	emogi_built_graph_free(&base);
}

int
main(int argc, char **argv)
{
	const uint64_t nsmall = argc > 1 ? strtoull(argv[1], NULL, 10) : NSMALL;
	uint64_t	loops;

	pools[0] = emogi_pool_create(1);
	pools[1] = emogi_pool_create(3);
	loops = count_loop_entries();
	check_refused();
	for (uint64_t seed = 1; seed <= nsmall; seed++)
		check_random(seed, loops);
	for (uint64_t share = 0; share <= 1000; share += 250)
	{
		check_large(EMOGI_KRON, EMOGI_OUT, true, share);
		check_large(EMOGI_URAND, EMOGI_IN, true, share);
		check_large(EMOGI_URAND, EMOGI_BOTH, true, share);
	}
	CHECK(nsmall < NSMALL ||
		  (nempty > 500 && ncomplete > 500 && nnarrower > 300 && nseparated > 1000 && nkept > 100),
		  "%llu empty, %llu complete, %llu narrower, %llu separated, %llu kept",
		  (unsigned long long) nempty, (unsigned long long) ncomplete,
		  (unsigned long long) nnarrower, (unsigned long long) nseparated,
		  (unsigned long long) nkept);
	return check_report("test_compact");
}
