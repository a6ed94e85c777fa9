/*
 * contraction_parts.h: shared declarations of contraction.c, contraction_arcs.c,
 * contraction_order.c and contraction_witness.c for making a hierarchy.
 */
#ifndef EMOGI_CONTRACTION_PARTS_H
#define EMOGI_CONTRACTION_PARTS_H

#include "contract/contraction.h"
#include "threads/job.h"

/*
 * Maximum number of neighbors of a vertex in one direction; beyond it, the graph is not road-like.
 */
#define EMOGI_CONTRACTION_MAX_NEIGHBORS 400

/*
 * The arcs of a vertex to, or from, vertices not contracted yet: a slice of the pool. `over` and
 * `to` are vertices, not ranks.
 */
typedef struct EmogiArcList
{
	uint64_t	first;
	uint32_t	count;
	uint32_t	room;
} EmogiArcList;

/* A vertex in a witness search. */
typedef struct EmogiWitnessNode
{
	double		distance;
	uint32_t	search;			/* valid if equal to the current search's number */
	uint32_t	wanted;			/* likewise: the search ends when all such vertices are settled */
} EmogiWitnessNode;

typedef struct EmogiWitnessEntry
{
	double		distance;
	uint32_t	vertex;
} EmogiWitnessEntry;

typedef struct EmogiContractionBuild
{
	EmogiJob	job;
	uint64_t	nvertices;
	double		tolerance;
	uint64_t	max_bytes;
	bool		(*poll) (void);
	bool		gave_up;

	/* contraction_arcs.c */
	EmogiArcList *lists[2];		/* [nvertices]: out, in */
	EmogiArc   *pool;			/* [pool_end of pool_room] */
	uint64_t	pool_end;
	uint64_t	pool_room;
	EmogiArcAlternative *ways;			/* [nways of way_room] */
	uint64_t	nways;
	uint64_t	way_room;
	uint64_t	narcs;			/* in one direction, among remaining vertices */

	/* contraction_witness.c */
	EmogiWitnessNode *nodes;	/* [nvertices] */
	EmogiWitnessEntry *heap;	/* [heap_room] */
	uint64_t	heap_end;
	uint64_t	heap_room;
	uint32_t	search;
	uint64_t	work;			/* arcs examined by all searches */
} EmogiContractionBuild;

static inline EmogiArc *
emogi_contraction_make_arcs(const EmogiContractionBuild *work, int side, uint32_t v)
{
	return work->pool + work->lists[side][v].first;
}

/* contraction_arcs.c: false, with the job failed or given up, if out of memory */
extern bool emogi_contraction_make_read(EmogiContractionBuild *work, const EmogiGraph *graph);
extern bool emogi_contraction_make_add(EmogiContractionBuild *work, uint32_t from, uint32_t to,
									   uint32_t over, double weight);
extern void emogi_contraction_make_remove(EmogiContractionBuild *work, uint32_t v);
extern EmogiContraction *emogi_contraction_make_pack(EmogiContractionBuild *work,
													 const uint32_t *order);
extern void emogi_contraction_make_free(EmogiContractionBuild *work);

/* contraction.c: check whether the job has been canceled or has failed; calls poll */
extern bool emogi_contraction_make_stopped(EmogiContractionBuild *work);

/* contraction_order.c */
extern void emogi_contraction_make_order(const EmogiContractionBuild *work, const uint32_t *levels,
										 uint32_t *order, uint64_t *places, uint32_t *ranks,
										 uint64_t *starts);

/*
 * contraction_witness.c: find the shortcuts that contracting a vertex needs; adds: and add them.
 * *count: their number. False as above.
 */
extern bool emogi_contraction_make_shortcuts(EmogiContractionBuild *work, uint32_t v, bool adds,
											 uint64_t *count);

/* Get approximately the largest distance from a vertex; any value if the job has stopped. */
extern double emogi_contraction_make_farthest(EmogiContractionBuild *work, uint32_t source);

#endif							/* EMOGI_CONTRACTION_PARTS_H */
