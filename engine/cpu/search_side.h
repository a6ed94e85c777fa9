/*
 * search_side.h: one side of a bidirectional search: the vertices reached, in a hash table, and a
 * queue, which is a heap or, without weights, a FIFO
 */
#ifndef EMOGI_SEARCH_SIDE_H
#define EMOGI_SEARCH_SIDE_H

#include <math.h>

#include "contract/overlay.h"

#define FANOUT 4				/* of the heaps */
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

/* A queued vertex; stale if its node has improved since. */
typedef struct Entry
{
	double		distance;
	uint32_t	hops;
	uint32_t	vertex;
} Entry;

/* One side of the search, or the link. Its queue is a heap or, without weights, a FIFO. */
typedef struct Side
{
	EmogiListsView lists;
	bool		is_heap;
	bool		has_root;
	uint32_t	root;
	Node	   *nodes;			/* [2^bits], open addressing, at least half of them free */
	int			bits;
	uint64_t	nnodes;
	Entry	   *entries;		/* [room], those from head to end - 1 are in the queue */
	uint64_t	head;
	uint64_t	end;
	uint64_t	room;
	double		nearest;		/* lower bound of the distance of unsettled vertices; +inf = all are
								 * settled */
	uint64_t	cost;			/* edges scanned plus the cost of settled vertices, in edges */
	uint64_t	waiting;		/* without weights: cost of settling the queue */
	double		level;			/* without weights: that of the entry removed last */
} Side;

/* Get the first slot to probe for a vertex. */
static inline uint64_t
first_place(const Side *side, uint32_t v)
{
	return v * UINT64_C(0x9E3779B97F4A7C15) >> (64 - side->bits);
}

/* Get the node of a vertex, or the free slot for it. */
static inline Node *
find_node(const Side *side, uint32_t v)
{
	const uint64_t mask = (UINT64_C(1) << side->bits) - 1;
	uint64_t	i = first_place(side, v);

	while (side->nodes[i].vertex != v + 1 && side->nodes[i].vertex != 0)
		i = (i + 1) & mask;
	return &side->nodes[i];
}

/* Return true if one entry is settled before another. */
static inline bool
is_before(const Entry *a, const Entry *b)
{
	return a->distance < b->distance || (a->distance == b->distance && a->hops < b->hops);
}

/* Add an entry to the queue, which must have room. */
static inline void
push(Side *side, Entry entry)
{
	uint64_t	i = side->end++;

	if (!side->is_heap)
		side->waiting += emogi_lists_degree(&side->lists, entry.vertex) + VERTEX_EDGES;
	else
		for (; i > 0 && is_before(&entry, &side->entries[(i - 1) / FANOUT]); i = (i - 1) / FANOUT)
			side->entries[i] = side->entries[(i - 1) / FANOUT];
	side->entries[i] = entry;
}

/* Remove the first entry of a nonempty queue. */
static inline Entry
pop(Side *side)
{
	Entry	   *entries = side->entries;
	const Entry first = entries[side->head];
	Entry		last;
	uint64_t	i = 0;

	if (!side->is_heap)
	{
		side->head++;
		side->waiting -= emogi_lists_degree(&side->lists, first.vertex) + VERTEX_EDGES;
		side->level = first.distance;
		return first;
	}
	last = entries[--side->end];
	while (FANOUT * i + 1 < side->end)
	{
		uint64_t	child = FANOUT * i + 1;
		const uint64_t end = child + FANOUT < side->end ? child + FANOUT : side->end;

		for (uint64_t other = child + 1; other < end; other++)
			if (is_before(&entries[other], &entries[child]))
				child = other;
		if (!is_before(&entries[child], &last))
			break;
		entries[i] = entries[child];
		i = child;
	}
	entries[i] = last;
	return first;
}

/* Update a side's nearest, dropping stale entries. */
static inline void
look_ahead(Side *side)
{
	while (side->head < side->end)
	{
		const Entry *entry = &side->entries[side->head];
		const Node *node = find_node(side, entry->vertex);

		if (!node->settled && node->distance == entry->distance && node->hops == entry->hops)
			break;
		(void) pop(side);
	}
	side->nearest = side->head < side->end ? side->entries[side->head].distance : (double) INFINITY;
}

#endif							/* EMOGI_SEARCH_SIDE_H */
