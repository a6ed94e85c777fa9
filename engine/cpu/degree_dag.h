/*
 * degree_dag.h: a Graph as a simple undirected one: no loops, no repeats, each edge once, from its
 * end of lower degree to that of higher.
 *
 * Vertices are named by rank: 0 has the highest degree, among equals the smallest vertex comes
 * first. So a list holds ranks below its own, the lists of hubs are short [1], and what is looked
 * up most has the smallest names.
 *
 * [1] T. Schank, D. Wagner. Finding, Counting and Listing All Triangles in Large Graphs. WEA 2005.
 *     Section 3 (forward).
 */
#ifndef EMOGI_DEGREE_DAG_H
#define EMOGI_DEGREE_DAG_H

#include "cpu/cpu_run.h"

/* Which ways an edge leads. */
#define EMOGI_ONE_WAY 1
#define EMOGI_BOTH_WAYS 2

/* A vertex, and which ways the edge to it leads: EMOGI_ONE_WAY or EMOGI_BOTH_WAYS. */
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
	uint64_t	longest;		/* list of both orientations */
	EmogiNeighbor *buffers;		/* [nthreads * longest], when there are two orientations */
	uint32_t   *degree;			/* [nvertices], by vertex, of the simple graph */
	uint32_t   *rank;			/* [nvertices], by vertex */
	uint64_t   *offsets;		/* [nvertices + 1], by rank */
	uint32_t   *targets;		/* [offsets[nvertices]], ranks, in no order */
	uint8_t    *ways;			/* [offsets[nvertices]], when they are wanted and differ; NULL =
								 * all lead both ways */
} EmogiDegreeDag;

/*
 * Make it, in scratch memory of the run (of at most 6 mappings), by the threads of its pool.
 * graph->backward, where it is there and not graph->forward, gives the edges in the other
 * direction. with_ways: say of each edge which ways it leads. False when the job has stopped.
 */
extern bool emogi_degree_dag_make(EmogiCpuRun *run, const EmogiGraph *graph, bool with_ways,
								  EmogiDegreeDag *oriented);

#endif							/* EMOGI_DEGREE_DAG_H */
