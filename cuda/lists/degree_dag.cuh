/*
 * oriented.cuh: a Graph as a simple undirected one of which each edge is there once, from its end of lower degree to that of higher,
 * among equals from the smaller number to the larger. So the lists of hubs are short: none of a graph of m edges has more than
 * the square root of 2m entries.
 *
 * T. Schank, D. Wagner: Finding, Counting and Listing All Triangles in Large Graphs. WEA 2005. Section 3 (forward).
 */
#ifndef EMOGI_ORIENTED_CUH
#define EMOGI_ORIENTED_CUH

#include "cuda/lists/simple_graph.cuh"

/* All arrays in device memory. */
typedef struct DegreeDag
{
	Csr			csr;
	uint8_t    *ways;			/* [csr.nedges]: 1 = the edge leads one way, 2 = both; NULL = all lead both, or nobody asked */
	uint32_t   *degree;			/* [nvertices], of the simple undirected graph */
} DegreeDag;

/* Get the most device memory that the lists take meanwhile. */
extern uint64_t emogi_degree_dag_bytes(const EmogiGraph *graph);

/*
 * Make the oriented lists of a placed Graph, whose backward, where it is there and not forward, gives the edges in the other
 * direction. Takes memory of the run.
 */
extern EmogiStatus emogi_degree_dag_make(Run *run, const EmogiGraph *graph, bool with_ways, DegreeDag *oriented, EmogiResult *result,
									   EmogiError *error);

/* Bring the kernels to the device. */
extern EmogiStatus emogi_degree_dag_load(EmogiError *error);

#endif							/* EMOGI_ORIENTED_CUH */
