/*
 * csr_weighted.h: weights of edges, and lists that have them.
 */
#ifndef EMOGI_CSR_WEIGHTED_H
#define EMOGI_CSR_WEIGHTED_H

#include "csr.h"
#include "threads/job.h"

/* Items of scratch for sorting a list. */
#define EMOGI_LIST_SCRATCH 65536

/* Get the bytes of a weight; 0 for EMOGI_WEIGHT_NONE. */
static inline size_t
emogi_weight_bytes(EmogiWeightType type)
{
	static const unsigned char bytes[] = {0, 1, 2, 4, 4, 8};

	return bytes[type];
}

/*
 * sort_weighted.c: sort a list of `count` entries by target, then by weight, in place. items: [2][EMOGI_LIST_SCRATCH],
 * any content. Returns early, with the list undefined, when the job is stopped.
 */
extern void emogi_sort_weighted(uint32_t *targets, void *weights, EmogiWeightType type, uint64_t count,
								uint64_t *items, EmogiJob *job);

#endif							/* EMOGI_CSR_WEIGHTED_H */
