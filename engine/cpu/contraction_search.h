/*
 * contraction_search.h: shared declarations of contraction_search.c, which searches a hierarchy,
 * contraction_corridor.c, which unpacks the arcs between two vertices, and contraction_settle.c,
 * which finds the path among the unpacked edges.
 */
#ifndef EMOGI_CONTRACTION_SEARCH_H
#define EMOGI_CONTRACTION_SEARCH_H

#include "contract/contraction.h"
#include "prefetch.h"
#include "threads/job.h"

#define EMOGI_LINE 64			/* bytes of a cache line */

/* A growing array. */
typedef struct EmogiGrowingArray
{
	void	   *items;
	uint64_t	count;
	uint64_t	room;
} EmogiGrowingArray;

/* An edge of the graph that lies on a candidate path. */
typedef struct EmogiCorridorEdge
{
	double		weight;
	uint32_t	from;			/* ranks */
	uint32_t	to;
} EmogiCorridorEdge;

/* An arc that has been unpacked up to a budget. */
typedef struct EmogiUnpacked
{
	uint64_t	arc;			/* 1 + 2 * index among the arcs of its side + side; 0 = free */
	double		budget;
} EmogiUnpacked;

/* An arc to unpack: all alternatives no longer than the budget. */
typedef struct EmogiUnpacking
{
	double		budget;
	uint64_t	arc;			/* index among the arcs of its side */
	uint32_t	low;			/* rank of the lower endpoint */
	int			side;
} EmogiUnpacking;

typedef struct EmogiCorridor
{
	EmogiJob   *job;
	const EmogiContraction *made;
	double		slack;
	bool		gave_up;		/* too many edges */
	EmogiGrowingArray edges;	/* EmogiCorridorEdge */
	EmogiGrowingArray queue;	/* EmogiUnpacking */
	EmogiUnpacked *unpacked;	/* [2^bits], open addressing */
	int			bits;
	uint64_t	nunpacked;
} EmogiCorridor;

/* Prefetch the first arcs of a vertex. Their offsets had better be cached already. */
static inline void
emogi_contraction_prefetch(const EmogiContraction *made, uint32_t rank)
{
	for (int side = 0; side < 2; side++)
	{
		const char *arcs = (const char *)
			&emogi_contraction_arcs(made, side)[emogi_contraction_firsts(made, side)[rank]];

		emogi_prefetch(arcs);
		emogi_prefetch(arcs + EMOGI_LINE);
	}
}

/*
 * contraction_corridor.c: make room for more items; false, with the job failed, if out of memory.
 */
extern bool emogi_contraction_reserve(EmogiJob *job, EmogiGrowingArray *array, uint64_t more,
									  size_t bytes);

/*
 * emogi_contraction_put() queues an arc for unpacking, unless it has been unpacked.
 * emogi_contraction_unpack() unpacks all queued arcs: it adds the edges of all alternatives no
 * longer than the budget. False if the job has failed or given up.
 */
extern bool emogi_contraction_put(EmogiCorridor *corridor, int side, uint32_t low, uint64_t arc,
								  double budget);
extern bool emogi_contraction_unpack(EmogiCorridor *corridor);
/* reverse all edges */
extern void emogi_contraction_reverse(EmogiCorridor *corridor);
extern void emogi_contraction_free(EmogiCorridor *corridor);

/*
 * contraction_settle.c: search the corridor in SSSP's arithmetic from a source to targets (ranks),
 * and write the distances of the targets, or the path to the only target, whichever is not NULL;
 * false, with the job failed, if out of memory.
 */
extern bool emogi_contraction_settle(EmogiCorridor *corridor, uint32_t source, uint64_t ntargets,
									 const uint32_t *targets, double *distance,
									 EmogiPathAnswer *answer);

#endif							/* EMOGI_CONTRACTION_SEARCH_H */
