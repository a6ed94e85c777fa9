/*
 * compare.h: whether two Graphs are the same, and where they differ.
 */
#ifndef EMOGI_COMPARE_H
#define EMOGI_COMPARE_H

#include "contract/engine.h"

/*
 * Are the arrays of two Graphs the same, byte for byte: ids, weight type, and offsets, targets and
 * weights of both orientations? Two without vertices are. Else *difference, of this size, gets
 * where the first parts first, in the words of their keys and as seen from b, which is right.
 * Neither needs be a Graph that makes sense: nothing outside of its arrays is read.
 *
 * The caller's own thread does it all. poll is asked every few milliseconds: true = stop, with
 * false and an empty difference. It may also leave by a jump.
 */
extern bool emogi_graph_compare(const EmogiGraph *a, const EmogiGraph *b, bool (*poll) (void),
								char *difference, size_t bytes);

#endif							/* EMOGI_COMPARE_H */
