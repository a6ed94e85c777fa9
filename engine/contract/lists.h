/*
 * lists.h: binary search in adjacency lists.
 */
#ifndef EMOGI_LISTS_H
#define EMOGI_LISTS_H

#include "contract/engine.h"

/*
 * Get the position of the first edge in v's list with a target >= `target`; the end of the list if
 * there is none.
 */
static inline uint64_t
emogi_lists_find(const EmogiAdjacency *lists, uint64_t v, uint64_t target)
{
	uint64_t	low = lists->offsets[v];
	uint64_t	high = lists->offsets[v + 1];

	while (low < high)
	{
		const uint64_t middle = low + (high - low) / 2;

		if (lists->targets[middle] < target)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Check whether an edge leads from one vertex to another. */
static inline bool
emogi_lists_have_edge(const EmogiAdjacency *lists, uint64_t from, uint64_t to)
{
	const uint64_t e = emogi_lists_find(lists, from, to);

	return e < lists->offsets[from + 1] && lists->targets[e] == to;
}

#endif							/* EMOGI_LISTS_H */
