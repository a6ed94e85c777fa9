/*
 * sort_list.h: single-threaded sorting of an adjacency list.
 */
#ifndef EMOGI_SORT_LIST_H
#define EMOGI_SORT_LIST_H

#include "threads/radix.h"

/* Get the bytes of scratch that sorting any list needs. */
static inline size_t
emogi_sort_list_bytes(bool weighted)
{
	return weighted ? 2 * EMOGI_SORT_SCRATCH * sizeof(uint64_t)
		: EMOGI_SORT_SCRATCH * sizeof(uint32_t);
}

/*
 * Sort a list of `count` edges by target, then by weight, in place. scratch: emogi_sort_list_bytes,
 * word-aligned, undefined content. Returns early, with the list undefined, if the job has stopped.
 */
extern void emogi_sort_list(uint32_t *targets, void *weights, EmogiWeightType type, uint64_t count,
							void *scratch, EmogiJob *job);

#endif							/* EMOGI_SORT_LIST_H */
