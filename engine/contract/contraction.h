/*
 * contraction.h: contraction hierarchies, which make long shortest-path searches on road-like
 * graphs fast after a preparation.
 *
 * contraction.c describes the method, makes a hierarchy (with contraction_arcs.c,
 * contraction_order.c and contraction_witness.c) and proves that its results are bit-identical to
 * those of SSSP. contraction_search.c, contraction_matrix.c and contraction_sweep.c query it.
 *
 * A hierarchy is one block of memory without pointers, so that it can be copied and read by other
 * processes. Vertices are numbered by rank: the order in which they could have been contracted.
 */
#ifndef EMOGI_CONTRACTION_H
#define EMOGI_CONTRACTION_H

#include "contract/path_search.h"

/*
 * The origin of an arc: an edge of the graph, a shortcut over one vertex, or several alternatives
 * whose lengths are equal but for rounding.
 */
#define EMOGI_ARC_OWN UINT32_C(0x7FFFFFFF)	/* an edge of the graph */
/*
 * this bit set: the other bits are the first of several ways; clear: the rank of the middle vertex
 */
#define EMOGI_ARC_ALTERNATIVES UINT32_C(0x80000000)
#define EMOGI_NO_ALTERNATIVE UINT32_C(0xFFFFFFFF)

/*
 * A path between a vertex and one of a higher rank, in either direction, over vertices of lower
 * rank than both.
 */
typedef struct EmogiArc
{
	double		weight;
	uint32_t	to;				/* rank of the higher endpoint */
	uint32_t	over;
} EmogiArc;

/* One of several alternatives of an arc. */
typedef struct EmogiArcAlternative
{
	double		weight;
	uint32_t	over;			/* as in EmogiArc, but never EMOGI_ARC_ALTERNATIVES */
	uint32_t	next;			/* EMOGI_NO_ALTERNATIVE = the last */
} EmogiArcAlternative;

/* The header of the block. Arrays are given by their byte offsets from its beginning. */
typedef struct EmogiContraction
{
	uint64_t	bytes;			/* of the block */
	uint64_t	nvertices;
	uint64_t	narcs;			/* in both directions */
	uint64_t	nways;
	bool		is_finite;		/* all paths have a finite length */
	double		tolerance;		/* alternatives longer by more than this were dropped */
	uint64_t	ranks;			/* uint32[nvertices], rank of each vertex */
	uint64_t	vertices;		/* uint32[nvertices], vertex of each rank */
	uint64_t	firsts[2];		/* uint64[nvertices + 1], by rank: offsets of the arcs that lead
								 * up (0), and of those that lead down from above (1) */
	uint64_t	arcs[2];		/* EmogiArc[] */
	uint64_t	ways;			/* EmogiArcAlternative[nways] */
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

static inline const EmogiArcAlternative *
emogi_contraction_alternatives(const EmogiContraction *made)
{
	return (const EmogiArcAlternative *) ((const char *) made + made->ways);
}

/* Check cheaply whether a graph may be road-like: weighted, with few edges per vertex. */
extern bool emogi_contraction_is_suitable(const EmogiGraph *graph);

/*
 * Get the relative error bound of sums over the edges of a path, in any order; 0 = sums are exact.
 */
extern double emogi_contraction_error(const EmogiGraph *graph);

/*
 * Make the hierarchy of a graph that has both directions, in the calling thread, in a malloc'ed
 * block. *made = NULL with status OK: the graph is not road-like, or max_bytes of memory, scratch
 * included, do not suffice. poll: called every few milliseconds, true = cancel; NULL = none.
 */
extern EmogiStatus emogi_contraction_make(const EmogiGraph *graph, uint64_t max_bytes,
										  bool (*poll) (void), EmogiContraction **made,
										  EmogiControl *control, EmogiError *error);

/*
 * Find the path that emogi_path_search finds, with the same distances. GAVE_UP: this hierarchy
 * cannot answer; fall back to another search. reversed: it was made of the transposed graph. Runs
 * in the calling thread; otherwise as emogi_path_search.
 */
extern EmogiStatus emogi_contraction_path(const EmogiContraction *made, const EmogiGraph *graph,
										  bool reversed, uint32_t source, uint32_t target,
										  EmogiPathAnswer *answer, EmogiControl *control,
										  EmogiError *error);

/*
 * Find out whether a path of finite length leads from a vertex to another; otherwise as
 * emogi_contraction_path. It is faster, because it ends at the first path that it meets. There may
 * be a path of infinite length, unless made->is_finite.
 */
extern EmogiStatus emogi_contraction_reaches(const EmogiContraction *made, bool reversed,
											 uint32_t source, uint32_t target, bool *reaches,
											 uint64_t *nscanned, EmogiControl *control,
											 EmogiError *error);

/*
 * Compute the distances of a DISTANCE_MATRIX query. UNSUPPORTED: this hierarchy cannot answer.
 * distance: [nsources][ntargets]. nscanned: receives the number of arcs and edges examined.
 * Otherwise as above.
 */
extern EmogiStatus emogi_contraction_distances(const EmogiContraction *made,
											   const EmogiGraph *graph, bool reversed,
											   const EmogiQuery *query, bool (*poll) (void),
											   double *distance, uint64_t *nscanned,
											   EmogiControl *control, EmogiError *error);

/*
 * Compute the same for many targets: each row scans every arc, so that additional targets cost
 * little. Uses EMOGI_CONTRACTION_SWEEP_BYTES for each vertex of the graph and each thread, plus a
 * constant. nthreads: >= 1, threads of this process, for the duration of the call; only the
 * caller's thread calls poll.
 */
#define EMOGI_CONTRACTION_LANES 8	/* sources at a time */
#define EMOGI_CONTRACTION_SWEEP_BYTES (EMOGI_CONTRACTION_LANES * 3 * sizeof(double))
extern EmogiStatus emogi_contraction_sweep(const EmogiContraction *made, const EmogiGraph *graph,
										   bool reversed, const EmogiQuery *query, int nthreads,
										   bool (*poll) (void), double *distance,
										   uint64_t *nscanned, EmogiControl *control,
										   EmogiError *error);

#endif							/* EMOGI_CONTRACTION_H */
