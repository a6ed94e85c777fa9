/*
 * contraction_search.h: what passes between contraction_search.c, which searches a hierarchy,
 * contraction_corridor.c, which unpacks what lies between two vertices, and contraction_settle.c,
 * which finds the path in that.
 */
#ifndef EMOGI_CONTRACTION_SEARCH_H
#define EMOGI_CONTRACTION_SEARCH_H

#include "contraction.h"
#include "prefetch.h"
#include "threads/job.h"

#define EMOGI_LINE 64			/* bytes that memory brings at once */

/* An array that grows. */
typedef struct EmogiGrowing
{
	void	   *items;
	uint64_t	count;
	uint64_t	room;
} EmogiGrowing;

/* An edge of the Graph that lies on a path of interest. */
typedef struct EmogiCorridorEdge
{
	double		weight;
	uint32_t	from;			/* ranks */
	uint32_t	to;
} EmogiCorridorEdge;

/* An arc that has been unpacked as far as a budget. */
typedef struct EmogiUnpacked
{
	uint64_t	arc;			/* 1 + twice its place among those of its side, + side; 0 = free */
	double		budget;
} EmogiUnpacked;

/* An arc that is to be unpacked: ways over it that are no longer than the budget. */
typedef struct EmogiUnpacking
{
	double		budget;
	uint64_t	arc;			/* its place among those of its side */
	uint32_t	low;			/* rank of the lower end */
	int			side;
} EmogiUnpacking;

typedef struct EmogiCorridor
{
	EmogiJob   *job;
	const EmogiContraction *made;
	double		slack;
	bool		gave_up;		/* there are too many edges */
	EmogiGrowing edges;			/* EmogiCorridorEdge */
	EmogiGrowing queue;			/* EmogiUnpacking */
	EmogiUnpacked *unpacked;	/* [2^bits], open addressing */
	int			bits;
	uint64_t	nunpacked;
} EmogiCorridor;

/*
 * Have memory bring the first arcs of a vertex, which lie anywhere. Where they begin is better
 * there already.
 */
static inline void
emogi_contraction_foresee(const EmogiContraction *made, uint32_t rank)
{
	for (int side = 0; side < 2; side++)
	{
		const char *arcs = (const char *) &emogi_contraction_arcs(made,
																  side)[emogi_contraction_firsts(made, side)[rank]];

		emogi_prefetch(arcs);
		emogi_prefetch(arcs + EMOGI_LINE);
	}
}

/* contraction_corridor.c: make room for more items; false, with the job failed, without memory. */
extern bool emogi_contraction_reserve(EmogiJob *job, EmogiGrowing *array, uint64_t more,
									  size_t bytes);

/*
 * Note that an arc is to be unpacked, unless it has been. And unpack all that are: add the edges of
 * all ways over them that are no longer than the budget. False, with the job failed or given up.
 */
extern bool emogi_contraction_put(EmogiCorridor *corridor, int side, uint32_t low, uint64_t arc,
								  double budget);
extern bool emogi_contraction_unpack(EmogiCorridor *corridor);
/* have all edges lead the other way */
extern void emogi_contraction_turn(EmogiCorridor *corridor);
extern void emogi_contraction_free(EmogiCorridor *corridor);

/*
 * contraction_settle.c: search the corridor in SSSP's arithmetic from a source to targets, all
 * ranks, and write the distances of these, or the path to the only one, whichever is not NULL;
 * false, with the job failed, without memory.
 */
extern bool emogi_contraction_settle(EmogiCorridor *corridor, uint32_t source, uint64_t ntargets,
									 const uint32_t *targets, double *distance,
									 EmogiPathAnswer *answer);

#endif							/* EMOGI_CONTRACTION_SEARCH_H */
