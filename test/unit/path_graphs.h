/*
 * path_graphs.h: graphs on which searches for single paths are compared with emogi_trace_path on
 * the distances to all vertices
 */
#ifndef EMOGI_PATH_GRAPHS_H
#define EMOGI_PATH_GRAPHS_H

#include "build.h"
#include "engines.h"
#include "cpu/cpu.h"
#include "contract/trace_path.h"

#include <float.h>

#define PATH_GRAPHS_NTINY 3000

/* The distances from one source, and scratch memory for tracing paths. */
typedef struct PathDistances
{
	double	   *distance;
	uint32_t   *path;
	uint32_t   *next;
} PathDistances;

/* Run SSSP from a source. */
static inline PathDistances
path_graphs_distances(const EmogiGraph *graph, uint32_t source)
{
	uint64_t	n = graph->nvertices;
	PathDistances full = {.distance = malloc(n * sizeof(double)),
		.path = malloc(n * sizeof(uint32_t)), .next = malloc(n * sizeof(uint32_t))};
	EmogiQuery query = {.algorithm = EMOGI_SSSP, .nsources = 1, .sources = &source,
		.max_distance = INFINITY};
	EmogiResult result = {.columns[0].float64 = full.distance};
	EmogiControl control = {0};
	EmogiError	error;

	if (engine->run(states[1], graph, &query, &result, &control, &error) != EMOGI_OK)
		abort();
	return full;
}

/* Free distances. */
static inline void
path_graphs_free(PathDistances *full)
{
	free(full->distance);
	free(full->path);
	free(full->next);
}

/*
 * Count the vertices of a path and their distances that differ from the path traced from all
 * distances. Sets *length to the number of vertices of the latter; 0 = no path.
 */
static inline uint64_t
path_graphs_differ(const EmogiGraph *graph, PathDistances *full, uint32_t source, uint32_t target,
				   const uint32_t *vertices, const double *distance, uint64_t nvertices,
				   uint64_t *length)
{
	uint64_t	ndifferent = 0;

	*length = 0;
	if (full->distance[target] < (double) INFINITY)
		*length = emogi_trace_path(graph, full->distance, source, target, full->path, full->next,
								   NULL);
	for (uint64_t i = 0; i < *length && nvertices == *length; i++)
		ndifferent += vertices[i] != full->path[i] ||
			memcmp(&distance[i], &full->distance[full->path[i]], sizeof(double)) != 0;
	return ndifferent;
}

/* Check graphs with few vertices and many edges: ties, repeated edges, self-loops. */
static inline void
path_graphs_check_tiny(GraphCheck *check)
{
	static const EmogiDirection directions[] = {EMOGI_OUT, EMOGI_IN, EMOGI_BOTH};

	for (uint64_t seed = 0; seed < PATH_GRAPHS_NTINY; seed++)
	{
		uint64_t	nvertices = 2 + emogi_random(seed, 0) % 30;
		EmogiEdge	edges[120];
		EmogiShape shape = {.name = "tiny", .edges = edges,
			.nedges = 1 + emogi_random(seed, 1) % 120};

		for (uint64_t i = 0; i < shape.nedges; i++)
			edges[i] = (EmogiEdge) {(int64_t) (emogi_random(seed, 2 * i + 2) % nvertices),
			(int64_t) (emogi_random(seed, 2 * i + 3) % nvertices)};
		engines_check_graph(&shape, (int) (seed % NAIVE_KINDS), directions[seed / NAIVE_KINDS % 3],
							true, seed, check);
	}
}

/*
 * Get a weight whose sums depend on the order of additions: near ties, very small, or very large.
 */
static inline double
path_graphs_rough_weight(int kind, uint64_t bits)
{
	if (kind == 0)
		return (double) (1 + bits % 3) * 0.1;
	if (kind == 1)
		return (double) (bits % 4) * 5e-324;
	if (kind == 2)
		return (double) (1 + bits % 3) * 0.1 * 1.4e306;
	return bits % 4 == 0 ? 1e16 : (double) (bits % 3) * 0.7;
}

/* A test's check of some pairs of vertices of a graph. */
typedef void (PairsCheck) (const char *name, const EmogiGraph *graph, uint64_t seed,
						   uint64_t nsources, uint64_t ntargets);

/* Check grids on which many paths have equal lengths up to rounding, or overflow. */
static inline void
path_graphs_check_grids(PairsCheck *check_pairs, GraphCheck *check)
{
	EmogiShape	grid = {.name = "grid", .edges = malloc(2 * 50 * 50 * sizeof(EmogiEdge))};

	for (int64_t v = 0; v < 50 * 50; v++)
	{
		if (v % 50 < 49)
			grid.edges[grid.nedges++] = (EmogiEdge) {v, v + 1};
		if (v < 49 * 50)
			grid.edges[grid.nedges++] = (EmogiEdge) {v, v + 50};
	}
	for (int kind = 0; kind < 8; kind++)
	{
		double	   *weights = malloc(grid.nedges * sizeof(double));
		EmogiGraph	graph;

		for (uint64_t i = 0; i < grid.nedges; i++)
			weights[i] = path_graphs_rough_weight(kind / 2, emogi_random(3, i));
		graph = naive_build(&grid, weights, kind % 2 == 0 ? EMOGI_BOTH : EMOGI_OUT, true);
		check_pairs("grid", &graph, (uint64_t) kind, 6, 100);
		naive_free(&graph);
		free(weights);
	}
	for (int kind = 0; kind < NAIVE_KINDS; kind++)
		engines_check_graph(&grid, kind, EMOGI_BOTH, true, 1, check);
	emogi_shape_free(&grid);
}

/*
 * Build a graph with a path from vertex 0 to 4 whose length is finite if added up from the source,
 * but overflows if added up from the target, where a search would find most of it.
 */
static inline EmogiGraph
path_graphs_overflow(void)
{
	/*
	 * Adding less than 2^970 to the largest double does not change it; the last three weights add
	 * up to 2^970.
	 */
	static const double weights[] = {DBL_MAX, 0x1p968, 0x1p968, 0x1p969};
	EmogiEdge	edges[50];
	double		all_weights[50];
	EmogiShape	shape = {.name = "overflow", .edges = edges, .nedges = 50};

	for (int i = 0; i < 50; i++)
	{
		edges[i] = i < 4 ? (EmogiEdge) {i, i + 1} : (EmogiEdge) {0, i + 1};
		all_weights[i] = i < 4 ? weights[i] : 1.0;
	}
	return naive_build(&shape, all_weights, EMOGI_OUT, true);
}

/* Add weights of a kind to a set of edges; returns a new set, and frees the old one. */
static inline EmogiEdgeSet
path_graphs_add_weights(EmogiEdgeSet *set, int kind)
{
	uint64_t	nedges = 0;
	EmogiEdge  *edges = malloc(set->edges.nedges * sizeof(EmogiEdge));
	double	   *weights = naive_weights(kind, 5, set->edges.nedges);
	EmogiEdgeSet weighted;

	for (uint64_t c = 0; c < set->edges.nchunks; c++)
	{
		memcpy(edges + nedges, set->chunks[c]->edges, set->chunks[c]->nedges * sizeof(EmogiEdge));
		nedges += set->chunks[c]->nedges;
	}
	if (!emogi_edge_set_fill_weighted(&weighted, edges, weights, nedges,
									  EMOGI_CHUNK_WEIGHTED_EDGES))
		abort();
	emogi_edge_set_free(set);
	free(edges);
	free(weights);
	return weighted;
}

/* Build a generated graph with weights of a kind. */
static inline EmogiBuiltGraph
path_graphs_generate(EmogiGenerator generator, int kind, EmogiDirection direction)
{
	EmogiPool  *pool = emogi_cpu_engine_pool(states[1]);
	EmogiEdgeSet set;
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;

	if (!emogi_generate_edges(pool, generator, 16, 16, 7, &set))
		abort();
	if (kind > 0)
		set = path_graphs_add_weights(&set, kind);
	if (emogi_build_graph(pool, &set.edges, direction, true, &built, &control, &error) != EMOGI_OK)
		abort();
	emogi_edge_set_free(&set);
	return built;
}

#endif							/* EMOGI_PATH_GRAPHS_H */
