/*
 * contraction_upward.h: the upward searches of contraction_search.c, for contraction_matrix.c.
 */
#ifndef EMOGI_CONTRACTION_UPWARD_H
#define EMOGI_CONTRACTION_UPWARD_H

#include "contraction_search.h"

#include <math.h>

/* A vertex in the hash table of a side, by rank. Four share a cache line. */
typedef struct EmogiUpNode
{
	uint32_t	rank;			/* rank + 1; 0 = a free slot */
	uint32_t	offers;			/* index of the last offer + 1; 0 = none */
	double		distance;		/* from the source, or to the target */
} EmogiUpNode;

#define HASH_PREFIX node
#define HASH_ENTRY EmogiUpNode
#define HASH_STORED(node) (node)->rank
#define HASH_MIN_BITS 10
#include "containers/hash_table.h"

/* An arc that a search went up. */
typedef struct EmogiUpOffer
{
	double		distance;		/* over this arc */
	uint64_t	arc;
	uint32_t	low;			/* rank of the lower endpoint */
	uint32_t	next;			/* index + 1 */
} EmogiUpOffer;

/* The upward search of one side. */
typedef struct EmogiUpSide
{
	EmogiUpNode *nodes;			/* [2^bits], open addressing, at most half full */
	double	   *budgets;		/* [2^bits], of nodes to be followed back: paths between the side's
								 * origin and the node that are no longer than this are needed; -1
								 * = none */
	int			bits;
	uint64_t	nnodes;
	EmogiGrowingArray offers;	/* EmogiUpOffer */
	EmogiGrowingArray heap;		/* EmogiUpEntry */
	EmogiGrowingArray back;		/* ranks to be followed back, a heap, the highest first */
} EmogiUpSide;

typedef struct EmogiUpEntry
{
	double		distance;
	uint32_t	rank;
} EmogiUpEntry;

#define HEAP_PREFIX entry
#define HEAP_ELEMENT EmogiUpEntry
#define HEAP_BEFORE(heap, a, b) ((a).distance < (b).distance)
#include "containers/heap.h"

typedef struct EmogiUpSearch
{
	EmogiJob   *job;
	const EmogiContraction *made;
	bool		reversed;		/* the path leads the other way */
	bool		wants_any;		/* the first path found suffices */
	double		error;			/* relative error of sums */
	double		best;			/* the shortest total found by both sides */
	EmogiUpSide sides[2];
	EmogiCorridor *corridor;	/* receives the unpacked arcs */
} EmogiUpSearch;

static inline EmogiUpNode *
emogi_up_node(const EmogiUpSide *side, uint32_t rank)
{
	return node_find(side->nodes, side->bits, rank);
}

/*
 * Get the distance of a vertex from a side's origin; +inf if not reached, or if the side does not
 * exist.
 */
static inline double
emogi_up_distance(const EmogiUpSide *side, uint32_t rank)
{
	const EmogiUpNode *node = side->nodes != NULL ? emogi_up_node(side, rank) : NULL;

	return node != NULL && node->rank != 0 ? node->distance : (double) INFINITY;
}

/*
 * Get the slack: how much longer than the best a path may be and still be the best but for
 * rounding.
 */
static inline double
emogi_up_slack(const EmogiUpSearch *search)
{
	return 4.0 * search->error * search->best;
}

/* Enter the origin of a side; false, with the job failed, if out of memory. */
extern bool emogi_contraction_enter(EmogiUpSearch *search, int s, uint32_t end);

/* Search up from the origins of both sides; false if the job has stopped. */
extern bool emogi_contraction_climb(EmogiUpSearch *search);

/*
 * Follow a side back, for the corridor: begin, request the paths to some nodes up to a budget, and
 * follow all requests. False, with the job failed, if out of memory.
 */
extern bool emogi_contraction_begin_back(EmogiUpSearch *search, EmogiUpSide *side);
extern bool emogi_contraction_request(EmogiUpSearch *search, EmogiUpSide *side,
									  const EmogiUpNode *node, double budget);
extern bool emogi_contraction_follow_back(EmogiUpSearch *search, int side);

extern uint64_t emogi_contraction_arcs_examined(const EmogiUpSearch *search);
extern void emogi_contraction_free_search(EmogiUpSearch *search);

/* Write the message of an out-of-memory failure; returns the job's status. */
extern EmogiStatus emogi_contraction_end(const EmogiJob *job, uint64_t nmet, EmogiError *error);

#endif							/* EMOGI_CONTRACTION_UPWARD_H */
