/*
 * remaining_cycle.h: a cycle among the vertices that Kahn's method never takes.
 */
#ifndef EMOGI_REMAINING_CYCLE_H
#define EMOGI_REMAINING_CYCLE_H

#include "cpu/cpu_run.h"

/* The vertices that remain. Each has a remaining predecessor. */
typedef struct EmogiRemaining
{
	const EmogiAdjacency *lists;
	uint64_t	nvertices;		/* of the graph */
	uint64_t	nremaining;
	const uint32_t *nbefore;	/* [nvertices], predecessors not taken; 0 = not remaining */
	uint32_t   *queue;			/* [nvertices], scratch */
	const int32_t *hops;		/* [nvertices]: the edges of vertices with max_hops or more are not
								 * used; NULL = all are */
	int64_t		max_hops;
} EmogiRemaining;

/*
 * Reject the graph with the refusal EMOGI_HAS_CYCLE: a shortest cycle through its smallest vertex.
 * The job fails, by that or otherwise.
 */
extern void emogi_remaining_cycle_report(EmogiCpuRun *run, const EmogiRemaining *remaining);

#endif							/* EMOGI_REMAINING_CYCLE_H */
