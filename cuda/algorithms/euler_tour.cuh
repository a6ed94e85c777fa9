/*
 * euler_tour.cuh: roots the trees of a forest, given as edges only, at their smallest vertices.
 */
#ifndef EMOGI_EULER_TOUR_CUH
#define EMOGI_EULER_TOUR_CUH

#include "cuda/core/run.cuh"

#define NO_EDGE UINT64_MAX

/* Edges of a forest, in device memory. */
typedef struct Edges
{
	const uint32_t *tree;		/* [nvertices], a label of the tree: one of its vertices, the
								 * same for all of them */
	/* [nvertices], (smaller end << 32 | larger end); NO_EDGE = none */
	const unsigned long long *edge;
	uint64_t	nedges;			/* number of edges */
} Edges;

/* Working memory of the Euler tour, in device memory: 44.4n bytes for n vertices. */
typedef struct EulerTour
{
	uint32_t   *start;			/* [nvertices + 1], first arc of each vertex */
	uint32_t   *tile;			/* prefix-sum scratch for `start` */
	/* [nvertices], of each edge: the arc at its smaller end, and the arc at its larger end */
	uint2	   *arcs;
	uint32_t   *smallest;	/* [nvertices], of a tree's label: the smallest vertex of the tree */
	/*
	 * [arcs], upper half: the next arc; once traversed, the distance from the first arc of its part
	 */
	unsigned long long *node;
								/* lower half: the part of the tour, NO_PART = unknown */
	uint32_t   *first;			/* [parts], first arc of a part */
	/*
	 * [parts], upper half: arcs from the first of the part on; lower half: the part after these,
	 * NO_PART = none
	 */
	unsigned long long *chain;
	/*
	 * [TOUR_NUMBERS], tours, other parts, and whether each round of pointer jumping changed
	 * anything
	 */
	uint32_t   *number;
} EulerTour;

/* Take the device memory. EMOGI_UNSUPPORTED if the vertices exceed the range of arc numbers. */
extern EmogiStatus emogi_euler_tour_open(Run *run, EulerTour *tour, EmogiError *error);

/*
 * Find the parent of each vertex: parent[nvertices], EMOGI_NO_VERTEX for the smallest vertex of a
 * tree; queued on the stream.
 */
extern EmogiStatus emogi_euler_tour_trees(Run *run, const EulerTour *tour, const Edges *edges,
										  uint32_t *parent, EmogiError *error);

#endif							/* EMOGI_EULER_TOUR_CUH */
