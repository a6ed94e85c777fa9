/*
 * local_hops.c: local BFS: a breadth-first search that reaches few vertices.
 *
 * Visited vertices are kept in a queue, level by level, and in a hash table of bare numbers, which
 * stays in the first-level cache. Nearly all of the cost is cache misses, three for each vertex:
 * the offset of its list, the list, and its key. So they are prefetched in batches: the offset and
 * the key when a vertex is visited, and the lists of a group of vertices before the previous group
 * is processed.
 */
#define HOPS_MASKED 0
#include "cpu/local_hops_body.h"
