/*
 * csr.h: the steps of contract/csr.h, with the threads of a pool.
 */
#ifndef EMOGI_GRAPH_CSR_H
#define EMOGI_GRAPH_CSR_H

#include "contract/csr.h"
#include "threads/pool.h"

/*
 * Step 1. scratch: plan->scratch_bytes, EMOGI_LINE_BYTES-aligned, undefined content, not yet
 * populated (the threads populate it). BAD_INPUT if there are more than EMOGI_MAX_VERTICES distinct
 * keys.
 */
extern EmogiStatus emogi_key_numbers_build(EmogiPool *pool, const EmogiEdges *edges,
										   const EmogiKeyPlan *plan,
										   void *scratch, EmogiKeyNumbers *keys,
										   EmogiControl *control, EmogiError *error);

/*
 * Step 2. Fills *graph, whose pointers lead into input->memory; backward.offsets is NULL if there
 * is no transpose.
 */
extern EmogiStatus emogi_csr_build(EmogiPool *pool, const EmogiCsrInput *input, EmogiGraph *graph,
								   EmogiControl *control, EmogiError *error);

/*
 * The reverse: write the edges of forward's lists, with keys as ends and the graph's weights, to
 * edges->chunks, which are empty, not yet populated, and large enough. reversed: forward leads from
 * dst to src.
 */
extern EmogiStatus emogi_csr_expand(EmogiPool *pool, const EmogiGraph *graph, bool reversed,
									const EmogiEdges *edges, EmogiControl *control,
									EmogiError *error);

#endif							/* EMOGI_GRAPH_CSR_H */
