/*
 * hierarchy.h: the hierarchy of communities that two columns tell (algorithms.h: EMOGI_IS_HIERARCHY).
 *
 * A community goes by its smallest vertex, its head. Level 0 is the finest; each community of a level lies in one of the next. So a vertex
 * is the head of its community at none of the levels, or at the first few. heads[v] is how many; joins[v] is the head of v's community at
 * the level after these, and v itself where v is a head to the last. joins[v] <= v, and heads[joins[v]] > heads[v] where they differ.
 */
#ifndef EMOGI_HIERARCHY_H
#define EMOGI_HIERARCHY_H

#include <stdint.h>

/* Get the head of a vertex's community at a level, of v's own or of any head below it. */
static inline uint32_t
emogi_hierarchy_community(const uint32_t *joins, const int32_t *heads, uint32_t v, uint32_t level)
{
	while (heads[v] <= (int32_t) level && joins[v] != v)
		v = joins[v];
	return v;
}

#endif							/* EMOGI_HIERARCHY_H */
