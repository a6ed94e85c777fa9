/*
 * search_side.h: one side of a bidirectional search that may be kept for another pair: the vertices
 * reached, in a hash table, and a queue
 */
#ifndef EMOGI_SEARCH_SIDE_H
#define EMOGI_SEARCH_SIDE_H

#include "contract/overlay.h"
#include "search_queue.h"

#define VERTEX_EDGES 8			/* cost of settling a vertex, in edges */

/* A vertex that was reached. */
typedef struct Node
{
	uint32_t	vertex;			/* + 1; 0 = free slot */
	uint32_t	parent;			/* predecessor on the path from the source */
	uint32_t	hops;			/* edges on the path from the source; 0 on the target's side */
	bool		settled;
	double		distance;		/* from the root of the side */
} Node;

/* One side of the search, or the link. */
typedef struct Side
{
	EmogiListsView lists;
	bool		has_root;
	uint32_t	root;
	Node	   *nodes;			/* [2^bits], open addressing, at least half of them free */
	int			bits;
	uint64_t	nnodes;
	Queue		queue;
	double		nearest;		/* lower bound of the distance of unsettled vertices; +inf = all are
								 * settled */
	uint64_t	cost;			/* edges scanned plus the cost of settled vertices, in edges */
	uint64_t	waiting;		/* without weights: cost of settling the queue */
	double		level;			/* without weights: that of the entry removed last */
} Side;

/* Get the node of a vertex, or the free slot for it. */
static inline Node *
find_node(const Side *side, uint32_t v)
{
	const uint64_t mask = (UINT64_C(1) << side->bits) - 1;
	uint64_t	i = first_slot(v, side->bits);

	while (side->nodes[i].vertex != v + 1 && side->nodes[i].vertex != 0)
		i = (i + 1) & mask;
	return &side->nodes[i];
}

/* Add an entry to the queue, which must have room. */
static inline void
push(Side *side, Entry entry)
{
	if (!side->queue.is_heap)
		side->waiting += emogi_lists_degree(&side->lists, entry.vertex) + VERTEX_EDGES;
	queue_push(&side->queue, entry);
}

/* Remove the first entry of a nonempty queue. */
static inline Entry
pop(Side *side)
{
	const Entry first = queue_pop(&side->queue);

	if (!side->queue.is_heap)
	{
		side->waiting -= emogi_lists_degree(&side->lists, first.vertex) + VERTEX_EDGES;
		side->level = first.distance;
	}
	return first;
}

/* Update a side's nearest, dropping stale entries. */
static inline void
look_ahead(Side *side)
{
	while (queue_length(&side->queue) > 0)
	{
		const Entry *entry = &side->queue.entries[side->queue.head];
		const Node *node = find_node(side, entry->vertex);

		if (!node->settled && node->distance == entry->distance && node->hops == entry->hops)
			break;
		(void) pop(side);
	}
	side->nearest = queue_distance(&side->queue);
}

#endif							/* EMOGI_SEARCH_SIDE_H */
