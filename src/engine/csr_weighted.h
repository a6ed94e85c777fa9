/*
 * csr_weighted.h: what csr.c leaves to csr_weighted.c and sort_weighted.c: Graphs whose edges have weights.
 */
#ifndef EMOGI_CSR_WEIGHTED_H
#define EMOGI_CSR_WEIGHTED_H

#include "csr.h"
#include "job.h"

/* Items of scratch for sorting a list. */
#define EMOGI_LIST_SCRATCH 65536

/* Get the bytes of a weight; 0 for EMOGI_WEIGHT_NONE. */
static inline size_t
emogi_weight_bytes(EmogiWeightType type)
{
	static const unsigned char bytes[] = {0, 1, 2, 4, 4, 8};

	return bytes[type];
}

/* csr_weighted.c: what emogi_csr_scratch_bytes and emogi_csr_build are for weighted edges. */
extern size_t emogi_csr_weighted_scratch_bytes(uint64_t nvertices, uint64_t nedges, EmogiDirection direction,
											   int nthreads);
extern EmogiStatus emogi_csr_weighted_build(EmogiPool *pool, const EmogiEdges *edges, const EmogiKeys *keys,
											EmogiDirection direction, bool with_backward, void *memory, void *scratch,
											EmogiGraph *graph, EmogiControl *control, EmogiError *error);

/*
 * sort_weighted.c: sort a list of `count` entries by target, then by weight, in place. items: [2][EMOGI_LIST_SCRATCH],
 * any content. Returns early, with the list undefined, when the job is stopped.
 */
extern void emogi_sort_weighted(uint32_t *targets, void *weights, EmogiWeightType type, uint64_t count,
								uint64_t *items, EmogiJob *job);

#endif							/* EMOGI_CSR_WEIGHTED_H */
