/*
 * biconnected.h: representation of biconnected components by two columns (algorithms.h:
 * EMOGI_SHAPE_BLOCKS).
 *
 * parent[v] is the parent of v in a spanning tree that is rooted at the smallest vertex of v's
 * component; EMOGI_NO_VERTEX for the root and for a vertex without a neighbor. component[v] is the
 * block of the edge (v, parent[v]); -1 if there is no parent. All vertices of a block except its
 * topmost vertex are connected to it by tree edges of the block. A vertex is therefore in the block
 * of the edge to its parent, and in the blocks whose topmost vertex it is. Any edge is in the
 * unique block that contains both of its endpoints.
 */
#ifndef EMOGI_BICONNECTED_H
#define EMOGI_BICONNECTED_H

#include "contract/algorithms.h"

/*
 * Get the topmost vertex of v's block if v is its child; EMOGI_NO_VERTEX if v has no block, or if
 * v's parent is not the topmost vertex.
 */
static inline uint32_t
emogi_block_top(const int64_t *component, const uint32_t *parent, uint32_t v)
{
	return component[v] >= 0 && component[parent[v]] != component[v] ? parent[v] : EMOGI_NO_VERTEX;
}

#endif							/* EMOGI_BICONNECTED_H */
