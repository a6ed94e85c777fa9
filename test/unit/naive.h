/*
 * naive.h: weights of all kinds, and simple builders of weighted graphs: the oracle of
 * emogi_csr_build, and the input of the tests of algorithms
 */
#ifndef EMOGI_NAIVE_H
#define EMOGI_NAIVE_H

#include "contract/builder.h"
#include "threads/pool.h"
#include "generate.h"
#include "shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Kinds of weights: none, then one or more for each type. */
#define NAIVE_KINDS 10

/* Get the weight of edge i, for a kind of weights. */
static inline double
naive_weight(int kind, uint64_t seed, uint64_t i)
{
	static const double extremes[] = {0.0, 5e-324, 1e-308, 1.0, 72.0, 9007199254740992.0, 1e308,
	1.7e308, INFINITY};
	uint64_t	bits = emogi_random(seed + 77, i);

	switch (kind)
	{
		case 1:
			return (double) (bits % 72 + 1);
		case 2:
			return (double) (bits % 3); /* many zeros and ties */
		case 3:
			return (double) (bits % 60000);
		case 4:
			return (double) (bits % UINT64_C(4294967296));
		case 5:
			return (double) (bits % 100) / 8.0;
		case 6:
			return (double) (bits >> 11) / 9007199254740992.0;
		case 7:
			return extremes[bits % (sizeof(extremes) / sizeof(extremes[0]))];
		case 8:
			return ldexp(1.0 + (double) (bits % 1000) / 1000.0, (int) (bits >> 32) % 1000 - 500);
		case 9:
			return bits % 10 == 0 ? (double) INFINITY : (double) (bits % 7);
		default:
			return 1.0;
	}
}

/* Get the narrowest type that holds the weights exactly. */
static inline EmogiWeightType
naive_type(const double *weights, uint64_t nedges)
{
	uint32_t	misfits = 0;

	for (uint64_t i = 0; i < nedges; i++)
		misfits |= emogi_weight_misfits(weights[i]);
	return emogi_weight_type(misfits);
}

/* An edge of an adjacency list. */
typedef struct NaiveEntry
{
	int64_t		from;
	int64_t		to;
	double		weight;
} NaiveEntry;

/* Order keys for qsort. */
static inline int
naive_compare_keys(const void *a, const void *b)
{
	int64_t		x = *(const int64_t *) a,
				y = *(const int64_t *) b;

	return (x > y) - (x < y);
}

/* Order edges for qsort: by vertex, target, weight. */
static inline int
naive_compare_entries(const void *a, const void *b)
{
	const NaiveEntry *x = a,
			   *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->weight > y->weight) - (x->weight < y->weight);
}

/* Allocate zeroed memory of whole cache lines; never NULL. */
static inline void *
naive_alloc(uint64_t count, size_t element_bytes)
{
	size_t		bytes = (count * element_bytes / EMOGI_LINE_BYTES + 1) * EMOGI_LINE_BYTES;
	void	   *memory = aligned_alloc(EMOGI_LINE_BYTES, bytes);

	if (memory == NULL)
		abort();
	return memset(memory, 0, bytes);
}

/* Store a weight. */
static inline void
naive_store(void *weights, EmogiWeightType type, uint64_t i, double weight)
{
	if (type == EMOGI_WEIGHT_U8)
		((uint8_t *) weights)[i] = (uint8_t) weight;
	else if (type == EMOGI_WEIGHT_U16)
		((uint16_t *) weights)[i] = (uint16_t) weight;
	else if (type == EMOGI_WEIGHT_U32)
		((uint32_t *) weights)[i] = (uint32_t) weight;
	else if (type == EMOGI_WEIGHT_F32)
		((float *) weights)[i] = (float) weight;
	else if (type == EMOGI_WEIGHT_F64)
		((double *) weights)[i] = weight;
}

/* Get the size of a weight in bytes. */
static inline size_t
naive_weight_bytes(EmogiWeightType type)
{
	static const size_t bytes[] = {0, 1, 2, 4, 4, 8};

	return bytes[type];
}

/* Build adjacency lists from edges between vertex numbers. */
static inline EmogiAdjacency
naive_lists(NaiveEntry *entries, uint64_t nentries, uint64_t nvertices, EmogiWeightType type)
{
	uint64_t   *offsets = naive_alloc(nvertices + 1, sizeof(uint64_t));
	uint32_t   *targets = naive_alloc(nentries, sizeof(uint32_t));
	void	   *weights = type == EMOGI_WEIGHT_NONE ? NULL
		: naive_alloc(nentries, naive_weight_bytes(type));

	qsort(entries, nentries, sizeof(NaiveEntry), naive_compare_entries);
	for (uint64_t i = 0; i < nentries; i++)
	{
		offsets[entries[i].from + 1]++;
		targets[i] = (uint32_t) entries[i].to;
		naive_store(weights, type, i, entries[i].weight);
	}
	for (uint64_t v = 0; v < nvertices; v++)
		offsets[v + 1] += offsets[v];
	return (EmogiAdjacency) {.nedges = nentries, .offsets = offsets, .targets = targets,
		.weights = weights};
}

/* Get the vertex number of a key. */
static inline int64_t
naive_number(const int64_t *ids, uint64_t nvertices, int64_t key)
{
	const int64_t *found = bsearch(&key, ids, nvertices, sizeof(int64_t), naive_compare_keys);

	return found - ids;
}

/* Collect the distinct keys, ascending. */
static inline int64_t *
naive_ids(const EmogiShape *shape, uint64_t *nvertices)
{
	int64_t    *ids = naive_alloc(2 * shape->nedges, sizeof(int64_t));
	uint64_t	count = 0;

	for (uint64_t i = 0; i < shape->nedges; i++)
	{
		ids[2 * i] = shape->edges[i].src;
		ids[2 * i + 1] = shape->edges[i].dst;
	}
	qsort(ids, 2 * shape->nedges, sizeof(int64_t), naive_compare_keys);
	for (uint64_t i = 0; i < 2 * shape->nedges; i++)
	{
		if (count == 0 || ids[i] != ids[count - 1])
			ids[count++] = ids[i];
	}
	*nvertices = count;
	return ids;
}

/* Build a graph. weights[nedges]; NULL = none. */
static inline EmogiGraph
naive_build(const EmogiShape *shape, const double *weights, EmogiDirection direction,
			bool with_backward)
{
	EmogiGraph	graph = {0};
	NaiveEntry *entries = naive_alloc(2 * shape->nedges, sizeof(NaiveEntry));
	uint64_t	count = 0;

	graph.ids = naive_ids(shape, &graph.nvertices);
	graph.weight_type = weights != NULL ? naive_type(weights, shape->nedges) : EMOGI_WEIGHT_NONE;
	for (uint64_t i = 0; i < shape->nedges; i++)
	{
		int64_t		src = naive_number(graph.ids, graph.nvertices, shape->edges[i].src);
		int64_t		dst = naive_number(graph.ids, graph.nvertices, shape->edges[i].dst);
		double		weight = weights != NULL ? weights[i] : 1.0;

		if (direction != EMOGI_IN)
			entries[count++] = (NaiveEntry) {src, dst, weight};
		if (direction == EMOGI_IN || (direction == EMOGI_BOTH && src != dst))
			entries[count++] = (NaiveEntry) {dst, src, weight};
	}
	graph.forward = naive_lists(entries, count, graph.nvertices, graph.weight_type);
	if (direction == EMOGI_BOTH)
		graph.backward = graph.forward;
	else if (with_backward)
	{
		for (uint64_t i = 0; i < count; i++)
			entries[i] = (NaiveEntry) {entries[i].to, entries[i].from, entries[i].weight};
		graph.backward = naive_lists(entries, count, graph.nvertices, graph.weight_type);
	}
	free(entries);
	return graph;
}

/* Free a graph of naive_build. */
static inline void
naive_free(EmogiGraph *graph)
{
	if (graph->backward.targets != graph->forward.targets)
	{
		free((void *) graph->backward.offsets);
		free((void *) graph->backward.targets);
		free((void *) graph->backward.weights);
	}
	free((void *) graph->forward.offsets);
	free((void *) graph->forward.targets);
	free((void *) graph->forward.weights);
	free((void *) graph->ids);
	*graph = (EmogiGraph) {0};
}

/* Make the weights of a shape's edges; NULL for kind 0. */
static inline double *
naive_weights(int kind, uint64_t seed, uint64_t nedges)
{
	double	   *weights = kind == 0 ? NULL : naive_alloc(nedges, sizeof(double));

	for (uint64_t i = 0; weights != NULL && i < nedges; i++)
		weights[i] = naive_weight(kind, seed, i);
	return weights;
}

/* Make a star: vertex 0 and its leaves. The caller frees the edges. */
static inline EmogiShape
naive_star(uint64_t nleaves)
{
	EmogiShape star = {.name = "star", .edges = naive_alloc(nleaves, sizeof(EmogiEdge)),
		.nedges = nleaves};

	for (uint64_t i = 0; i < nleaves; i++)
		star.edges[i] = (EmogiEdge) {0, (int64_t) i + 1};
	return star;
}

/* Make the first random shape with at least 5000 edges and fewer vertices than edges. */
static inline EmogiShape
naive_random_shape(void)
{
	EmogiShape	shape;

	for (uint64_t seed = 1;; seed++)
	{
		uint64_t	nvertices;

		if (!emogi_shape_random(seed, &shape))
			abort();
		free(naive_ids(&shape, &nvertices));
		if (shape.nedges >= 5000 && nvertices < shape.nedges)
			return shape;
		emogi_shape_free(&shape);
	}
}

#endif							/* EMOGI_NAIVE_H */
