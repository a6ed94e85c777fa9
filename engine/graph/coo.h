/*
 * coo.h: packing and unpacking a COO (contract/coo.h), with the threads of a pool.
 */
#ifndef EMOGI_GRAPH_COO_H
#define EMOGI_GRAPH_COO_H

#include "contract/coo.h"
#include "threads/pool.h"

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

#endif							/* EMOGI_GRAPH_COO_H */
