/*
 * euler_tour.cuh: hangs trees, of which only the edges are known, from their smallest vertices.
 */
#ifndef EMOGI_EULER_TOUR_CUH
#define EMOGI_EULER_TOUR_CUH

#include "cuda/core/run.cuh"

#define NO_EDGE UINT64_MAX

/* Edges of a forest, in device memory. */
typedef struct Edges
{
	const uint32_t *tree;		/* [nvertices], a vertex of the tree, the same for all of it */
	/* [nvertices], its ends: the smaller above 32 bits of the larger; NO_EDGE = there is none */
	const unsigned long long *edge;
	uint64_t	nedges;			/* how many there are */
} Edges;

/* What hanging works with, in device memory: 44.4n for n vertices. */
typedef struct EulerTour
{
	uint32_t   *start;			/* [nvertices + 1], where the arcs of a vertex begin */
	uint32_t   *tile;			/* for finding that */
	/* [nvertices], of each edge: that of its smaller end, and that of the larger */
	uint2	   *arcs;
	uint32_t   *least;	/* [nvertices], of a tree's label: the smallest vertex of the tree */
	/* [arcs], above 32 bits: the arc that follows; once walked over, how far it is from the part's first */
	unsigned long long *node;
								/* below: the part of the tour, NO_PART = not known */
	uint32_t   *first;			/* [parts], the arc with which a part begins */
	/* [parts], above 32 bits: arcs from the first of the part on; below: the part after these, NO_PART = none */
	unsigned long long *chain;
	/* [HANG_NUMBERS], tours, other parts, and whether each round of adding up changed anything */
	uint32_t   *number;
} EulerTour;

/* Take the device memory. EMOGI_UNSUPPORTED when there are more vertices than arcs have numbers for. */
extern EmogiStatus emogi_euler_tour_open(Run *run, EulerTour *hanging, EmogiError *error);

/* Find the vertex above each: parent[nvertices], EMOGI_NO_VERTEX of the smallest of a tree; queued on the stream. */
extern EmogiStatus emogi_euler_tour_trees(Run *run, const EulerTour *hanging, const Edges *edges,
										  uint32_t *parent, EmogiError *error);

/* Bring the kernels to the device. */
extern EmogiStatus emogi_euler_tour_load(EmogiError *error);

#endif							/* EMOGI_EULER_TOUR_CUH */
