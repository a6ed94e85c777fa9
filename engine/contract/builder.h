/*
 * builder.h: construction of graphs, and of what they are made from, with the threads of a pool
 *
 * The functions run on all threads of the pool, poll control->cancel, and return CANCELED,
 * NO_MEMORY or BAD_INPUT if they fail. csr.h, coo.h, merge.h and dictionary.h describe the inputs
 * and the memory that the caller allocates.
 */
#ifndef EMOGI_BUILDER_H
#define EMOGI_BUILDER_H

#include "contract/coo.h"
#include "contract/csr.h"
#include "contract/dictionary.h"
#include "contract/merge.h"
#include "contract/pool.h"

/*
 * Get the thread pool of an open CPU engine. Graph building, and searches that are not an
 * EmogiQuery, share it with the algorithms.
 */
extern EmogiPool *emogi_cpu_engine_pool(EmogiEngineState *state);

/*
 * Build a dictionary of all keys of a table, and turn the endpoints of edges into codes. The
 * dictionary depends only on the set of keys. The caller must read the edges' min_key and max_key
 * from the chunks again.
 */
extern EmogiStatus emogi_dictionary_build(EmogiPool *pool, const EmogiDictionaryInput *input,
										  EmogiDictionary **dictionary, EmogiControl *control,
										  EmogiError *error);

/*
 * Step 1 of csr.h. scratch: plan->scratch_bytes, EMOGI_LINE_BYTES-aligned, undefined content, not
 * yet populated (the threads populate it). BAD_INPUT if there are more than EMOGI_MAX_VERTICES
 * distinct keys.
 */
extern EmogiStatus emogi_key_numbers_build(EmogiPool *pool, const EmogiEdges *edges,
										   const EmogiKeyPlan *plan, void *scratch,
										   EmogiKeyNumbers *keys, EmogiControl *control,
										   EmogiError *error);

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

/*
 * Merge changes. Fills *graph, whose pointers lead into input->memory; all 0 if no edge is left.
 * BAD_INPUT if a removed edge does not exist in the old graph, or there are more than
 * EMOGI_MAX_VERTICES vertices.
 */
extern EmogiStatus emogi_merge(EmogiPool *pool, const EmogiMergeInput *input, EmogiGraph *graph,
							   EmogiControl *control, EmogiError *error);

/*
 * Fill an empty COO with all edges of the chunks, in order: chunk->first becomes the place of its
 * first edge, and coo->used the number of edges. Populates the block. counts: receives the misfits
 * of all weights, if there are any.
 */
extern EmogiStatus emogi_coo_pack(EmogiPool *pool, const EmogiEdges *edges, EmogiCoo *coo,
								  EmogiMisfitCounts *counts, EmogiControl *control,
								  EmogiError *error);

/*
 * The reverse: write the edges of these runs, in order, to edges->chunks, which are empty, not yet
 * populated, and large enough. Sets the chunks' key ranges and misfits.
 */
extern EmogiStatus emogi_coo_unpack(EmogiPool *pool, const EmogiCoo *coo, const EmogiCooRun *runs,
									uint64_t nruns, const EmogiEdges *edges, EmogiControl *control,
									EmogiError *error);

#endif							/* EMOGI_BUILDER_H */
