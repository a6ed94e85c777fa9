/*
 * cc.c: verify connected components.
 *
 * All threads unite the endpoints of all edges at the same time [1] [2]. The larger root is always
 * linked to the smaller one, so the root of each set is its smallest vertex, which must be the
 * component of each vertex in the set.
 *
 * [1] R. Tarjan. Efficiency of a Good But Not Linear Set Union Algorithm. J. ACM 22(2), 1975. (Path
 *     halving instead of compression; no ranks, because this is a check.)
 * [2] S. Jayanti, R. Tarjan. A Randomized Concurrent Algorithm for Disjoint Set Union. PODC 2016.
 *     Section 3. (Roots are linked by compare and swap; a parent is only ever replaced by an
 *     ancestor.)
 */
#include "check.h"

#include <stdlib.h>

/* A union-find structure. */
typedef struct Sets
{
	EmogiCheck *check;
	uint32_t   *parent;			/* [nvertices], atomic; parent[v] <= v */
} Sets;

/* Get the parent of a vertex. */
static inline uint32_t
parent_of(const Sets *sets, uint32_t v)
{
	return __atomic_load_n(&sets->parent[v], __ATOMIC_RELAXED);
}

/* Find the root of a vertex's set by path halving. */
static uint32_t
find_root(const Sets *sets, uint32_t v)
{
	for (;;)
	{
		uint32_t	parent = parent_of(sets, v);
		uint32_t	grandparent = parent_of(sets, parent);

		if (parent == grandparent)
			return parent;
		__atomic_store_n(&sets->parent[v], grandparent, __ATOMIC_RELAXED);
		v = grandparent;
	}
}

/* Unite the sets of two vertices; return the root, which may already be outdated. */
static uint32_t
unite(const Sets *sets, uint32_t a, uint32_t b)
{
	for (;;)
	{
		uint32_t	root,
					other;

		a = find_root(sets, a);
		b = find_root(sets, b);
		root = a < b ? a : b;
		other = a < b ? b : a;
		if (root == other ||
			__atomic_compare_exchange_n(&sets->parent[other], &other, root, false, __ATOMIC_RELAXED,
										__ATOMIC_RELAXED))
			return root;
	}
}

/* Initialize sets of one vertex each. */
static void
separate(void *arg, uint64_t first, uint64_t end)
{
	Sets	   *sets = arg;

	for (uint64_t v = first; v < end; v++)
		sets->parent[v] = (uint32_t) v;
}

/* Unite vertices with their neighbors. */
static void
unite_edges(void *arg, uint64_t first, uint64_t end)
{
	Sets	   *sets = arg;
	const EmogiAdjacency *forward = &sets->check->graph->forward;

	for (uint64_t u = first; u < end; u++)
	{
		uint32_t	root = find_root(sets, (uint32_t) u);

		for (uint64_t i = forward->offsets[u]; i < forward->offsets[u + 1]; i++)
		{
			if (parent_of(sets, forward->targets[i]) != root)
				root = unite(sets, root, forward->targets[i]);
		}
	}
}

/* Compare the components with the roots. */
static void
compare_roots(void *arg, uint64_t first, uint64_t end)
{
	Sets	   *sets = arg;
	const uint32_t *component = sets->check->result->columns[0].vertex;

	for (uint64_t v = first; v < end; v++)
	{
		uint32_t	root = find_root(sets, (uint32_t) v);

		if (component[v] != root)
			emogi_check_wrong(sets->check, "vertex %llu has component %u instead of %u",
							  (unsigned long long) v,
							  component[v], root);
	}
}

bool
emogi_verify_cc(EmogiCheck *check)
{
	const uint64_t n = check->graph->nvertices;
	Sets		sets = {.check = check, .parent = malloc((n + 1) * sizeof(uint32_t))};
	bool		right;

	if (sets.parent == NULL)
		return emogi_check_wrong(check, "no memory to verify");
	right = emogi_check_parts(check, separate, &sets, n) &&
		emogi_check_parts(check, unite_edges, &sets, n) &&
		emogi_check_parts(check, compare_roots, &sets, n);
	free(sets.parent);
	if (right && check->result->nreached != n)
		return emogi_check_wrong(check, "nreached is %llu",
								 (unsigned long long) check->result->nreached);
	return right;
}
