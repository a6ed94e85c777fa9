/*
 * sort_list.h: sorting of a list by one thread.
 */
#ifndef EMOGI_SORT_LIST_H
#define EMOGI_SORT_LIST_H

#include "radix.h"

/* Get the bytes of scratch that a list needs, whatever its length. */
static inline size_t
emogi_sort_list_bytes(bool weighted)
{
	return weighted ? 2 * EMOGI_SORT_SCRATCH * sizeof(uint64_t)
		: EMOGI_SORT_SCRATCH * sizeof(uint32_t);
}

/*
 * Sort a list of `count` entries by target, then by weight, in place. scratch:
 * emogi_sort_list_bytes, aligned to a word, any content. Returns early, with the list undefined,
 * when the job is stopped.
 */
extern void emogi_sort_list(uint32_t *targets, void *weights, EmogiWeightType type, uint64_t count,
							void *scratch, EmogiJob *job);

#endif							/* EMOGI_SORT_LIST_H */
