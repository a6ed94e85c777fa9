/*
 * merge.h: the merge of contract/merge.h, with the threads of a pool.
 */
#ifndef EMOGI_GRAPH_MERGE_H
#define EMOGI_GRAPH_MERGE_H

#include "contract/merge.h"
#include "threads/pool.h"

/*
 * Fill *graph, whose pointers lead into input->memory; all 0 if no edge is left. All threads take
 * part; polls control->cancel. BAD_INPUT if a removed edge does not exist in the old graph, or
 * there are more than EMOGI_MAX_VERTICES vertices.
 */
extern EmogiStatus emogi_merge(EmogiPool *pool, const EmogiMergeInput *input, EmogiGraph *graph,
							   EmogiControl *control, EmogiError *error);

#endif							/* EMOGI_GRAPH_MERGE_H */
