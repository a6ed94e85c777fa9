/*
 * degree_dag.h: the degree-ordered DAG of a graph: the simple undirected graph without loops and
 * parallel edges, each edge stored once, from the endpoint of lower degree to that of higher
 * degree.
 *
 * Vertices are numbered by rank: rank 0 has the highest degree; ties go to the smaller vertex
 * first. So an adjacency list holds ranks below its own, the lists of hubs are short [1], and the
 * most frequent targets have the smallest numbers.
 *
 * [1] T. Schank, D. Wagner. Finding, Counting and Listing All Triangles in Large Graphs. WEA 2005.
 *     Section 3 (forward).
 */
#ifndef EMOGI_DEGREE_DAG_H
#define EMOGI_DEGREE_DAG_H

#include "cpu/cpu_run.h"

/* The directions in which an undirected edge exists. */
#define EMOGI_ONE_WAY 1
#define EMOGI_BOTH_WAYS 2

/* A neighbor, and the directions of the edge to it: EMOGI_ONE_WAY or EMOGI_BOTH_WAYS. */
typedef struct EmogiNeighbor
{
	uint32_t	vertex;
	uint32_t	ways;
} EmogiNeighbor;

typedef struct EmogiDegreeDag
{
	EmogiCpuRun *run;
	EmogiAdjacency forward;
	EmogiAdjacency backward;	/* offsets NULL = forward is symmetric */
	uint64_t	nvertices;
	uint64_t	longest;		/* maximum length of a merged list */
	EmogiNeighbor *buffers;		/* [nthreads * longest], if there are two directions */
	uint32_t   *degree;			/* [nvertices], by vertex, of the simple graph */
	uint32_t   *rank;			/* [nvertices], by vertex */
	uint64_t   *offsets;		/* [nvertices + 1], by rank */
	uint32_t   *targets;		/* [offsets[nvertices]], ranks, unordered */
	uint8_t    *ways;			/* [offsets[nvertices]], if requested and not all equal; NULL =
								 * all edges lead both ways */
} EmogiDegreeDag;

/*
 * Build the DAG in scratch memory of the run (at most 6 mappings) with the threads of its pool.
 * graph->backward, if it exists and is not graph->forward, gives the edges in the other direction.
 * with_ways: record the directions of each edge. False if the job has stopped.
 */
extern bool emogi_degree_dag_make(EmogiCpuRun *run, const EmogiGraph *graph, bool with_ways,
								  EmogiDegreeDag *dag);

#endif							/* EMOGI_DEGREE_DAG_H */
