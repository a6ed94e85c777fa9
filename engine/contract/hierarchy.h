/*
 * hierarchy.h: representation of a hierarchy of communities by two columns (algorithms.h:
 * EMOGI_SHAPE_HIERARCHY).
 *
 * A community is identified by its smallest vertex, its head. Level 0 is the finest; each community
 * of a level is contained in one of the next level. A vertex is therefore the head of its community
 * at the first heads[v] levels (possibly none). joins[v] is the head of v's community at the next
 * level, or v itself if v remains a head up to the last level. joins[v] <= v, and heads[joins[v]] >
 * heads[v] if they differ.
 */
#ifndef EMOGI_HIERARCHY_H
#define EMOGI_HIERARCHY_H

#include <stdint.h>

/*
 * Get the head of a vertex's community at a level, starting from v or any head of v's community at
 * a lower level.
 */
static inline uint32_t
emogi_hierarchy_community(const uint32_t *joins, const int32_t *heads, uint32_t v, uint32_t level)
{
	while (heads[v] <= (int32_t) level && joins[v] != v)
		v = joins[v];
	return v;
}

#endif							/* EMOGI_HIERARCHY_H */
