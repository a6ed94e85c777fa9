/*
 * edge_filter_leaves.h: the predicates of edge filters on whole words of entries, without NULLs
 */
#ifndef EMOGI_EDGE_FILTER_LEAVES_H
#define EMOGI_EDGE_FILTER_LEAVES_H

#include "contract/edge_filter.h"

/*
 * Set bits[nwords] to the predicate of a RANGE, AMONG, IN_SET, COMPARE or COMPARE_COLUMNS of the
 * values from word `first` on. Entries with NULL, and those beyond the last, have any result.
 */
extern void emogi_edge_filter_leaf(const EmogiFilterStep *step, const EmogiProperties *properties,
								   uint64_t first, uint64_t nwords, uint64_t *bits);

#endif							/* EMOGI_EDGE_FILTER_LEAVES_H */
