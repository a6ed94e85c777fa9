/*
 * blocks.h: the biconnected components that two columns tell (algorithms.h: EMOGI_IS_BLOCKS).
 *
 * parent[v] is the vertex above v in a tree that spans v's component and hangs from its smallest vertex, EMOGI_NO_VERTEX of that one and of a
 * vertex without a neighbour. component[v] is the block of the edge between the two, -1 where there is none. All vertices of a block but
 * one, its top, hang below each other or below the top by edges of the block. So a vertex is in the block of the edge above it, and in those that
 * it is the top of. Any edge lies in the block that both its ends are in, and there is one such block.
 */
#ifndef EMOGI_BLOCKS_H
#define EMOGI_BLOCKS_H

#include "contract/algorithms.h"

/* Get the top of v's block, where v hangs below that; EMOGI_NO_VERTEX where there is no such block, or v hangs below another of its vertices. */
static inline uint32_t
emogi_block_top(const int64_t *component, const uint32_t *parent, uint32_t v)
{
	return component[v] >= 0 && component[parent[v]] != component[v] ? parent[v] : EMOGI_NO_VERTEX;
}

#endif							/* EMOGI_BLOCKS_H */
