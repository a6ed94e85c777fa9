/*
 * compare.h: compare two graphs, and describe the first difference.
 */
#ifndef EMOGI_COMPARE_H
#define EMOGI_COMPARE_H

#include "contract/engine.h"

/*
 * Check whether the arrays of two graphs are byte-identical: ids, weight type, and offsets, targets
 * and weights of both directions. Two graphs without vertices are equal. Otherwise *difference, of
 * size `bytes`, receives a description of the first difference, in terms of keys, taking b as
 * correct. Neither graph needs to be consistent: nothing outside its arrays is read.
 *
 * Runs in the caller's thread. poll is called every few milliseconds: true = stop, returning false
 * and an empty difference. It may also longjmp.
 */
extern bool emogi_graph_compare(const EmogiGraph *a, const EmogiGraph *b, bool (*poll) (void),
								char *difference, size_t bytes);

#endif							/* EMOGI_COMPARE_H */
