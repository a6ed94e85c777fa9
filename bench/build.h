/*
 * build.h: edge sets and graphs in private memory, for programs without a server.
 */
#ifndef EMOGI_BENCH_BUILD_H
#define EMOGI_BENCH_BUILD_H

#include "contract/builder.h"
#include "threads/pool.h"

/* Edges in chunks, stored contiguously in one mapping. */
typedef struct EmogiEdgeSet
{
	EmogiEdges	edges;			/* input of the functions of csr.h */
	EmogiEdgeChunk **chunks;	/* [edges.nchunks] */
	void	   *memory;
	size_t		memory_bytes;
} EmogiEdgeSet;

/* A graph, its memory, and the times of building it. */
typedef struct EmogiBuiltGraph
{
	EmogiGraph	graph;
	void	   *memory;
	size_t		memory_bytes;
	EmogiKeyMethod method;
	double		keys_ms;
	double		csr_ms;
} EmogiBuiltGraph;

/*
 * Map zeroed memory that is populated on first touch, with huge pages if available; returns NULL if
 * out of memory.
 */
extern void *emogi_map_memory(size_t bytes);

/* Populate mapped memory with all threads of the pool; returns false if out of memory. */
extern bool emogi_populate_memory(EmogiPool *pool, void *memory, size_t bytes);
extern void emogi_unmap_memory(void *memory, size_t bytes);

/* Allocate nchunks empty chunks; returns false if out of memory. */
extern bool emogi_edge_set_create(EmogiEdgeSet *set, uint64_t nchunks);
extern void emogi_edge_set_free(EmogiEdgeSet *set);

/*
 * Store nedges edges in chunks of at most per_chunk <= EMOGI_CHUNK_EDGES; returns false if out of
 * memory.
 */
extern bool emogi_edge_set_fill(EmogiEdgeSet *set, const EmogiEdge *edges, uint64_t nedges, uint64_t per_chunk);

/* The same with weights [nedges]; per_chunk <= EMOGI_CHUNK_WEIGHTED_EDGES. */
extern bool emogi_edge_set_fill_weighted(EmogiEdgeSet *set, const EmogiEdge *edges, const double *weights,
										 uint64_t nedges, uint64_t per_chunk);

/* Set the bounds of a chunk, and those of the whole set. */
extern void emogi_edge_chunk_bound(EmogiEdgeChunk *chunk);
extern void emogi_edge_set_bound(EmogiEdgeSet *set);

/* For tests: fill byte for the memory of graphs and for scratch memory; -1 = none. */
extern int	emogi_build_fill;

/* Run both steps of csr.h. Frees all memory unless it returns EMOGI_OK. */
extern EmogiStatus emogi_build_graph(EmogiPool *pool, const EmogiEdges *edges, EmogiDirection direction,
									 bool with_backward, EmogiBuiltGraph *built, EmogiControl *control,
									 EmogiError *error);
extern void emogi_built_graph_free(EmogiBuiltGraph *built);

#endif							/* EMOGI_BENCH_BUILD_H */
