/*
 * contraction.h: a contraction hierarchy: what makes far shortest paths of a road-like Graph fast,
 * once it is prepared.
 *
 * contraction.c tells what it is, makes it (with contraction_arcs.c, contraction_order.c and
 * contraction_witness.c) and proves why its answers are the bits of SSSP; contraction_search.c and
 * contraction_sweep.c ask it.
 *
 * It is one block of memory without a pointer, so that it may be copied, and read by another
 * process. Vertices go by their ranks, in an order in which they could have been contracted.
 */
#ifndef EMOGI_CONTRACTION_H
#define EMOGI_CONTRACTION_H

#include "path_search.h"

/*
 * How an arc came about: of the Graph's own edge, over one vertex, or in several ways that are as
 * good but for rounding.
 */
#define EMOGI_ARC_OWN UINT32_C(0x7FFFFFFF)	/* an edge */
/* this bit and the first of several ways; else the rank of the vertex that it leads over */
#define EMOGI_ARC_WAYS UINT32_C(0x80000000)
#define EMOGI_NO_WAY UINT32_C(0xFFFFFFFF)

/*
 * A way from a vertex to one of a higher rank, or from there, over vertices of lower ranks than
 * both.
 */
typedef struct EmogiArc
{
	double		weight;
	uint32_t	to;				/* rank of the higher end */
	uint32_t	over;
} EmogiArc;

/* One of several ways of an arc. */
typedef struct EmogiArcWay
{
	double		weight;
	uint32_t	over;			/* never EMOGI_ARC_WAYS */
	uint32_t	next;			/* EMOGI_NO_WAY = the last */
} EmogiArcWay;

/* The head of the block. Arrays stand so many bytes behind its beginning. */
typedef struct EmogiContraction
{
	uint64_t	bytes;			/* of the block */
	uint64_t	nvertices;
	uint64_t	narcs;			/* both ways */
	uint64_t	nways;
	double		tolerance;		/* ways that are longer by more than this have been left out */
	uint64_t	ranks;			/* uint32[nvertices], of vertices */
	uint64_t	vertices;		/* uint32[nvertices], by rank */
	uint64_t	firsts[2];		/* uint64[nvertices + 1], by rank: of arcs that lead up (0), and
								 * of those that lead down from above (1) */
	uint64_t	arcs[2];		/* EmogiArc[] */
	uint64_t	ways;			/* EmogiArcWay[nways] */
} EmogiContraction;

static inline const uint32_t *
emogi_contraction_ranks(const EmogiContraction *made)
{
	return (const uint32_t *) ((const char *) made + made->ranks);
}

static inline const uint32_t *
emogi_contraction_vertices(const EmogiContraction *made)
{
	return (const uint32_t *) ((const char *) made + made->vertices);
}

static inline const uint64_t *
emogi_contraction_firsts(const EmogiContraction *made, int side)
{
	return (const uint64_t *) ((const char *) made + made->firsts[side]);
}

static inline const EmogiArc *
emogi_contraction_arcs(const EmogiContraction *made, int side)
{
	return (const EmogiArc *) ((const char *) made + made->arcs[side]);
}

static inline const EmogiArcWay *
emogi_contraction_ways(const EmogiContraction *made)
{
	return (const EmogiArcWay *) ((const char *) made + made->ways);
}

/* Say, at a glance, whether a Graph may be road-like: weighted, with few edges a vertex. */
extern bool emogi_contraction_suits(const EmogiGraph *graph);

/*
 * Get by how much sums over the edges of a path err, whatever their order: a share of the sum. 0 =
 * they are exact.
 */
extern double emogi_contraction_error(const EmogiGraph *graph);

/*
 * Make the hierarchy of a Graph with both orientations, in the calling thread, in a block that is
 * malloced; *made = NULL, with status OK: the Graph is not road-like. max_bytes: of memory that it
 * may take, scratch included; it is not road-like either where that is too little. poll: asked
 * every few milliseconds, true = cancel; NULL = nobody asks.
 */
extern EmogiStatus emogi_contraction_make(const EmogiGraph *graph, uint64_t max_bytes,
										  bool (*poll) (void), EmogiContraction **made,
										  EmogiControl *control, EmogiError *error);

/*
 * Find the path that emogi_path_search finds, with the same distances; GAVE_UP: this hierarchy
 * cannot tell, ask otherwise. reversed: it was made of the Graph that leads the other way. Runs in
 * the calling thread; as emogi_path_search else.
 */
extern EmogiStatus emogi_contraction_path(const EmogiContraction *made, const EmogiGraph *graph,
										  bool reversed, uint32_t source, uint32_t target,
										  EmogiPathAnswer *answer, EmogiControl *control,
										  EmogiError *error);

/*
 * Find the distances of a query of DISTANCE_MATRIX, as it has them; UNSUPPORTED: this hierarchy
 * cannot tell. distance: [nsources][ntargets]. looked: gets the arcs and edges that were looked at.
 * Else as above.
 */
extern EmogiStatus emogi_contraction_distances(const EmogiContraction *made,
											   const EmogiGraph *graph, bool reversed,
											   const EmogiQuery *query, bool (*poll) (void),
											   double *distance, uint64_t *looked,
											   EmogiControl *control, EmogiError *error);

/*
 * Find the same, where there are many targets: each row costs a look at every arc, and little more
 * for a target. Takes EMOGI_CONTRACTION_SWEEP_BYTES for each vertex of the Graph and each thread,
 * and some. nthreads: >= 1, of this process, for as long as the call lasts; poll is asked by the
 * caller's.
 */
#define EMOGI_CONTRACTION_LANES 8	/* sources at once */
#define EMOGI_CONTRACTION_SWEEP_BYTES (EMOGI_CONTRACTION_LANES * 3 * sizeof(double))
extern EmogiStatus emogi_contraction_sweep(const EmogiContraction *made, const EmogiGraph *graph,
										   bool reversed, const EmogiQuery *query, int nthreads,
										   bool (*poll) (void), double *distance, uint64_t *looked,
										   EmogiControl *control, EmogiError *error);

#endif							/* EMOGI_CONTRACTION_H */
