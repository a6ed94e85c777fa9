/*
 * communities_move.h: what the two halves of local moving share: communities_choose.c, where nodes
 * choose, and communities_move.c.
 */
#ifndef EMOGI_CPU_COMMUNITIES_MOVE_H
#define EMOGI_CPU_COMMUNITIES_MOVE_H

#include "communities.h"

#define EMOGI_MOVING_NODES 64	/* that a thread takes at once */
#define EMOGI_MOVING_AHEAD 8	/* nodes between the steps in which what a node needs is fetched */
#define EMOGI_MOVING_FETCHED 8	/* entries of a list */
#define EMOGI_MOVING_OPEN 1		/* marks */
#define EMOGI_MOVING_WANTS_OUT 2	/* would be alone, and has not gone yet */

/* A sweep of local moving. */
typedef struct EmogiMoving
{
	EmogiCommunities *all;
	const EmogiLevel *level;
	uint64_t	salt;			/* of the sweep */
	bool		sure;
	bool		alone;			/* the batch is one thread's */
	bool		to_empty;		/* the batch is of those that want out */
	bool		few;			/* not all that want to move ask for it */
	uint64_t	sweep;
	uint64_t	first;			/* of the batch, in order */
	uint64_t	end;
	uint64_t	nmovers;		/* atomic */
	uint64_t	nleaving;		/* atomic: that want out, in the sweep */
	uint64_t	nmoved;			/* atomic: in the sweep */
	uint64_t	nopen;			/* atomic: that would have gone, in the sweep */
} EmogiMoving;

/* Let the nodes of a batch choose: a step of all threads. */
extern void emogi_communities_choose_all(void *arg, int thread, int nthreads);

#endif							/* EMOGI_CPU_COMMUNITIES_MOVE_H */
