/*
 * communities_move.h: shared declarations of local moving: communities_choose.c chooses moves,
 * communities_move.c applies them.
 */
#ifndef EMOGI_CPU_COMMUNITIES_MOVE_H
#define EMOGI_CPU_COMMUNITIES_MOVE_H

#include "communities.h"

#define EMOGI_MOVING_NODES 64	/* nodes that a thread takes at a time */
#define EMOGI_MOVING_PREFETCH 8	/* prefetch distance between the stages of a node, nodes */
#define EMOGI_MOVING_FETCHED 8	/* edges of a list that are prefetched */
#define EMOGI_MOVING_OPEN 1		/* marks in all->open */
#define EMOGI_MOVING_WANTS_SINGLETON 2	/* would be better off alone, and has not moved yet */

/* A sweep of local moving. */
typedef struct EmogiMoving
{
	EmogiCommunities *all;
	const EmogiLevel *level;
	uint64_t	salt;			/* of the sweep */
	bool		sure;
	bool		serial;			/* the batch is processed by one thread */
	bool		to_empty;		/* the batch is of nodes that leave for an empty community */
	bool		few;			/* only a sample of the nodes that want to move ask to */
	uint64_t	sweep;
	uint64_t	first;			/* of the batch, in all->order */
	uint64_t	end;
	uint64_t	nmovers;		/* atomic */
	uint64_t	nleaving;		/* atomic: nodes that want to be alone, in the sweep */
	uint64_t	nmoved;			/* atomic: in the sweep */
	uint64_t	nopen;			/* atomic: nodes that stay open, in the sweep */
} EmogiMoving;

/* Choose a community for each node of a batch; a step of all threads. */
extern void emogi_communities_choose_all(void *arg, int thread, int nthreads);

#endif							/* EMOGI_CPU_COMMUNITIES_MOVE_H */
