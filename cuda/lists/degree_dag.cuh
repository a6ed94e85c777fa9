/*
 * degree_dag.cuh: degree-ordered DAG of a graph: each edge of the simple undirected graph once,
 * from its end of lower degree to that of higher degree, among equal degrees from the smaller
 * number to the larger. So the lists of hubs are short: none of a graph of m edges has more than
 * sqrt(2m) edges.
 *
 * T. Schank, D. Wagner: Finding, Counting and Listing All Triangles in Large Graphs. WEA 2005.
 * Section 3 (forward).
 */
#ifndef EMOGI_DEGREE_DAG_CUH
#define EMOGI_DEGREE_DAG_CUH

#include "cuda/lists/simple_graph.cuh"

/* All arrays are in device memory. */
typedef struct DegreeDag
{
	Csr			csr;
	/* [csr.nedges]: number of directions of the edge, 1 or 2; NULL = all have 2, or not wanted */
	uint8_t	   *ways;
	uint32_t   *degree;			/* [nvertices], in the simple undirected graph */
} DegreeDag;

/* Return the maximum device memory used during the construction. */
extern uint64_t emogi_degree_dag_bytes(const EmogiGraph *graph);

/*
 * Build the DAG of a placed graph; its backward, if placed and different from forward, has the
 * edges of the other direction. Allocates from the run's memory.
 */
extern EmogiStatus emogi_degree_dag_make(Run *run, const EmogiGraph *graph, bool with_ways,
										 DegreeDag *dag, EmogiResult *result, EmogiError *error);

#endif							/* EMOGI_DEGREE_DAG_CUH */
