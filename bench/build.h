/*
 * acquire.h: edges and Graphs in private memory, for programs without a server.
 */
#ifndef EMOGI_BENCH_BUILD_H
#define EMOGI_BENCH_BUILD_H

#include "contract/builder.h"
#include "threads/pool.h"

/* Edges in chunks that lie one after the other in one mapping. */
typedef struct EmogiEdgeSet
{
	EmogiEdges	edges;			/* what the functions of csr.h take */
	EmogiEdgeChunk **chunks;	/* [edges.nchunks] */
	void	   *memory;
	size_t		memory_bytes;
} EmogiEdgeSet;

/* A Graph and its memory, and what building it took. */
typedef struct EmogiBuiltGraph
{
	EmogiGraph	graph;
	void	   *memory;
	size_t		memory_bytes;
	EmogiKeyMethod method;
	double		keys_ms;
	double		csr_ms;
} EmogiBuiltGraph;

/* Map bytes of zeros that are taken when they are touched, in huge pages where there are any; NULL without memory. */
extern void *emogi_map_memory(size_t bytes);

/* Take mapped memory now, by all threads of the pool; false when there is not enough. */
extern bool emogi_populate_memory(EmogiPool *pool, void *memory, size_t bytes);
extern void emogi_unmap_memory(void *memory, size_t bytes);

/* Make nchunks empty chunks; false without memory. */
extern bool emogi_edge_set_create(EmogiEdgeSet *set, uint64_t nchunks);
extern void emogi_edge_set_free(EmogiEdgeSet *set);

/* Put nedges edges into chunks of at most per_chunk <= EMOGI_CHUNK_EDGES; false without memory. */
extern bool emogi_edge_set_fill(EmogiEdgeSet *set, const EmogiEdge *edges, uint64_t nedges, uint64_t per_chunk);

/* The same with weights [nedges]; per_chunk <= EMOGI_CHUNK_WEIGHTED_EDGES. */
extern bool emogi_edge_set_fill_weighted(EmogiEdgeSet *set, const EmogiEdge *edges, const double *weights,
										 uint64_t nedges, uint64_t per_chunk);

/* Set the bounds of a chunk, and those of the whole set. */
extern void emogi_edge_chunk_bound(EmogiEdgeChunk *chunk);
extern void emogi_edge_set_bound(EmogiEdgeSet *set);

/* For tests: the byte with which the memory of Graphs, and of their making, is filled beforehand; -1 = none. */
extern int	emogi_build_fill;

/* Take both steps of csr.h. What is not EMOGI_OK leaves nothing allocated. */
extern EmogiStatus emogi_build_graph(EmogiPool *pool, const EmogiEdges *edges, EmogiDirection direction,
									 bool with_backward, EmogiBuiltGraph *built, EmogiControl *control,
									 EmogiError *error);
extern void emogi_built_graph_free(EmogiBuiltGraph *built);

#endif							/* EMOGI_BENCH_BUILD_H */
