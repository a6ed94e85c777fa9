/*
 * union_find.h: concurrent union-find over component[].
 *
 * component[v] is a smaller vertex of the same component (the parent), or v itself at a root.
 * Because parents are always smaller, the root of a component is its smallest vertex, regardless of
 * the order of the work. cc.c names the paper.
 */
#ifndef EMOGI_UNION_FIND_H
#define EMOGI_UNION_FIND_H

#include "contract/engine.h"

#define EMOGI_UNION_FIND_SAMPLES 1024	/* vertices sampled to find the giant component */

/* Read the parent of a vertex. */
static inline uint32_t
emogi_union_find_read(const uint32_t *component, uint32_t v)
{
	return __atomic_load_n(&component[v], __ATOMIC_RELAXED);
}

/* Join the sets of u and v, halving the paths that are climbed. */
static inline void
emogi_union_find_join(uint32_t *component, uint32_t u, uint32_t v)
{
	uint32_t	high = emogi_union_find_read(component, u);
	uint32_t	low = emogi_union_find_read(component, v);

	while (high != low)
	{
		uint32_t	parent,
					above;

		if (high < low)
		{
			uint32_t	swap = high;

			high = low;
			low = swap;
		}
		parent = emogi_union_find_read(component, high);
		if (parent == high &&
			__atomic_compare_exchange_n(&component[high], &parent, low, false, __ATOMIC_RELAXED,
										__ATOMIC_RELAXED))
			return;
		above = emogi_union_find_read(component, parent);
		/* high is not a root, so that any ancestor of it is a valid parent */
		if (above != parent)
			__atomic_store_n(&component[high], above, __ATOMIC_RELAXED);
		high = above;
	}
}

/* Replace the parent of a vertex by its root. */
static inline void
emogi_union_find_compress(uint32_t *component, uint32_t v)
{
	uint32_t	root = emogi_union_find_read(component, v);
	uint32_t	above;

	while ((above = emogi_union_find_read(component, root)) != root)
		root = above;
	__atomic_store_n(&component[v], root, __ATOMIC_RELAXED);
}

/*
 * Guess the giant component: the majority root (by majority vote) among samples spread evenly over
 * the vertices. All vertices must be compressed.
 */
static inline uint32_t
emogi_union_find_giant(const uint32_t *component, uint64_t nvertices)
{
	uint32_t	giant = EMOGI_NO_VERTEX;
	uint64_t	votes = 0;

	for (uint64_t i = 0; i < EMOGI_UNION_FIND_SAMPLES; i++)
	{
		uint32_t	root = component[(i * UINT64_C(0x9E3779B97F4A7C15) >> 32) * nvertices >> 32];

		if (votes == 0)
			giant = root;
		votes = giant == root ? votes + 1 : votes - 1;
	}
	return giant;
}

#endif							/* EMOGI_UNION_FIND_H */
