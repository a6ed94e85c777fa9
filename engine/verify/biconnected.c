/*
 * biconnected.c: verify bridges, articulation points and biconnected components (blocks).
 *
 * A sequential depth-first search without recursion (J. Hopcroft, R. Tarjan, Algorithm 447,
 * Communications of the ACM 16(6), 1973): every edge leads to an ancestor or a descendant, and a
 * block is complete if no edge from the subtree of a vertex leads above its parent. Blocks are
 * numbered as they are found, and then sorted by their two smallest vertices.
 */
#include "check.h"

#include "contract/biconnected.h"
#include "contract/lists.h"

#include <stdlib.h>

typedef struct Search
{
	const EmogiGraph *graph;
	uint64_t   *next;			/* [nvertices], next edge to follow */
	uint32_t   *number;			/* [nvertices], preorder number, from 1; 0 = not found yet */
	uint32_t   *low;			/* [nvertices], smallest number that edges from the subtree lead to,
								 * except for the edge to the parent */
	uint32_t   *parent;			/* [nvertices] */
	uint32_t   *stack;			/* [nvertices], entered vertices that are in no block yet */
	uint32_t   *block;			/* [nvertices], block of the edge to the parent; undefined for a
								 * root */
	uint32_t   *smallest;		/* [nvertices], smallest vertex of a block */
	uint32_t   *second;			/* [nvertices], second smallest vertex of a block */
	uint32_t   *ntops;			/* [nvertices], number of blocks whose topmost vertex this is */
	uint64_t	stack_size;
	uint32_t	nblocks;
	uint32_t	nfound;
} Search;

/* Update the two smallest vertices of a block. */
static void
note_vertex(Search *search, uint32_t block, uint32_t v)
{
	if (v < search->smallest[block])
	{
		search->second[block] = search->smallest[block];
		search->smallest[block] = v;
	}
	else if (v < search->second[block])
		search->second[block] = v;
}

/* Complete a block: its topmost vertex, v, and the vertices above v on the stack. */
static void
end_block(Search *search, uint32_t v, uint32_t top)
{
	const uint32_t block = search->nblocks++;
	uint32_t	last;

	search->smallest[block] = search->second[block] = EMOGI_NO_VERTEX;
	note_vertex(search, block, top);
	search->ntops[top]++;
	do
	{
		last = search->stack[--search->stack_size];
		search->block[last] = block;
		note_vertex(search, block, last);
	} while (last != v);
}

/* Enter a vertex: assign its preorder number and push it. */
static void
enter(Search *search, uint32_t v, uint32_t parent)
{
	search->parent[v] = parent;
	search->number[v] = search->low[v] = ++search->nfound;
	search->next[v] = search->graph->forward.offsets[v];
	if (parent != EMOGI_NO_VERTEX)
		search->stack[search->stack_size++] = v;
}

/* Return from a vertex to its parent. */
static void
leave(Search *search, uint32_t v)
{
	const uint32_t parent = search->parent[v];

	if (search->low[v] >= search->number[parent])
		end_block(search, v, parent);
	if (search->low[v] < search->low[parent])
		search->low[parent] = search->low[v];
}

/* Follow the next edge of a vertex; return the vertex at which the search continues. */
static uint32_t
follow(Search *search, uint32_t v)
{
	const EmogiAdjacency *lists = &search->graph->forward;
	const uint64_t e = search->next[v]++;
	const uint32_t w = lists->targets[e];

	if (search->number[w] == 0)
	{
		enter(search, w, v);
		return w;
	}
	if ((w != search->parent[v] || (e > lists->offsets[v] && lists->targets[e - 1] == w)) &&
		search->number[w] < search->low[v])
		search->low[v] = search->number[w];
	return v;
}

/* Search the whole graph. */
static void
search_all(Search *search)
{
	for (uint64_t root = 0; root < search->graph->nvertices; root++)
	{
		uint32_t	v = (uint32_t) root;

		if (search->number[v] != 0)
			continue;
		enter(search, v, EMOGI_NO_VERTEX);
		for (;;)
			if (search->next[v] < search->graph->forward.offsets[v + UINT64_C(1)])
				v = follow(search, v);
			else if (v == root)
				break;
			else
			{
				leave(search, v);
				v = search->parent[v];
			}
	}
}

/* A block and its sort key. */
typedef struct Sorted
{
	uint32_t	smallest;
	uint32_t	second;
	uint32_t	block;
} Sorted;

/* Compare blocks for qsort. */
static int
compare_blocks(const void *a, const void *b)
{
	const Sorted *x = a,
			   *y = b;

	if (x->smallest != y->smallest)
		return x->smallest < y->smallest ? -1 : 1;
	return (x->second > y->second) - (x->second < y->second);
}

/* Renumber the blocks in sorted order; false if out of memory. */
static bool
sort_blocks(Search *search)
{
	Sorted	   *sorted = malloc((search->nblocks + UINT64_C(1)) * sizeof *sorted);

	if (sorted == NULL)
		return false;
	for (uint32_t i = 0; i < search->nblocks; i++)
		sorted[i] = (Sorted) {search->smallest[i], search->second[i], i};
	qsort(sorted, search->nblocks, sizeof *sorted, compare_blocks);
	for (uint32_t i = 0; i < search->nblocks; i++)
		search->smallest[sorted[i].block] = i;
	for (uint64_t v = 0; v < search->graph->nvertices; v++)
		if (search->parent[v] != EMOGI_NO_VERTEX)
			search->block[v] = search->smallest[search->block[v]];
	free(sorted);
	return true;
}

/* ---- checks of the three algorithms ---- */

/*
 * Check bridges. The search enters a component at its smallest vertex, where the engines root their
 * trees, too, so a bridge is reported at the same endpoint.
 */
static bool
check_bridges(EmogiCheck *check, const Search *search)
{
	for (uint64_t v = 0; v < check->graph->nvertices; v++)
	{
		const bool	has_bridge = search->parent[v] != EMOGI_NO_VERTEX &&
			search->low[v] == search->number[v];
		const uint32_t other = has_bridge ? search->parent[v] : EMOGI_NO_VERTEX;

		if (check->result->columns[0].vertex[v] != other)
			return emogi_check_wrong(check, "vertex %llu has a bridge to %u, not %u",
									 (unsigned long long) v, other,
									 check->result->columns[0].vertex[v]);
	}
	return true;
}

/* Check articulation points. */
static bool
check_points(EmogiCheck *check, const Search *search)
{
	for (uint64_t v = 0; v < check->graph->nvertices; v++)
	{
		const uint32_t nblocks = search->ntops[v] + (search->parent[v] != EMOGI_NO_VERTEX);
		const int64_t components = nblocks < 2 ? 0 : nblocks;

		if (check->result->columns[0].int64[v] != components)
			return emogi_check_wrong(check, "vertex %llu is in %u blocks, not %lld",
									 (unsigned long long) v, nblocks,
									 (long long) check->result->columns[0].int64[v]);
	}
	return true;
}

/*
 * Check that the parents form a forest without cycles. nbelow: [nvertices], zeroed; queue:
 * [nvertices].
 */
static bool
check_trees(EmogiCheck *check, const uint32_t *parent, uint32_t *nbelow, uint32_t *queue)
{
	const uint64_t n = check->graph->nvertices;
	uint64_t	tail = 0;

	for (uint64_t v = 0; v < n; v++)
		if (parent[v] != EMOGI_NO_VERTEX)
			nbelow[parent[v]]++;
	for (uint64_t v = 0; v < n; v++)
		if (nbelow[v] == 0)
			queue[tail++] = (uint32_t) v;
	for (uint64_t head = 0; head < tail; head++)
		if (parent[queue[head]] != EMOGI_NO_VERTEX && --nbelow[parent[queue[head]]] == 0)
			queue[tail++] = parent[queue[head]];
	return tail == n || emogi_check_wrong(check, "parents lead in a circle");
}

/*
 * Check the blocks of the edges of a spanning forest. The block of an edge is stored at the
 * endpoint that the search found later.
 */
static bool
check_blocks(EmogiCheck *check, const Search *search)
{
	const int64_t *component = check->result->columns[0].int64;
	const uint32_t *parent = check->result->columns[1].vertex;

	for (uint64_t v = 0; v < check->graph->nvertices; v++)
	{
		const uint32_t tree_parent = parent[v];
		uint32_t	block;

		if ((tree_parent == EMOGI_NO_VERTEX) != (search->parent[v] == EMOGI_NO_VERTEX) ||
			(tree_parent == EMOGI_NO_VERTEX) != (component[v] == -1))
			return emogi_check_wrong(check, "vertex %llu is%s a root", (unsigned long long) v,
									 tree_parent == EMOGI_NO_VERTEX ? "" : " not");
		if (tree_parent == EMOGI_NO_VERTEX)
			continue;
		if (tree_parent >= check->graph->nvertices || tree_parent == v ||
			!emogi_lists_have_edge(&check->graph->forward, v, tree_parent))
			return emogi_check_wrong(check, "vertex %llu hangs from %u, to which it has no edge",
									 (unsigned long long) v, tree_parent);
		block = search->block[search->number[v] > search->number[tree_parent] ? v : tree_parent];
		if (component[v] != block)
			return emogi_check_wrong(check, "the edge of %llu and %u is in block %u, not %lld",
									 (unsigned long long) v, tree_parent, block,
									 (long long) component[v]);
	}
	return check_trees(check, parent, search->ntops, search->stack);
}

/* Check the result of any of the three algorithms. */
static bool
check_answer(EmogiCheck *check, Search *search)
{
	const EmogiAnswerShape shape = emogi_algorithm_row(check->query->algorithm)->shape;

	search_all(search);
	if (shape == EMOGI_SHAPE_EDGES)
		return check_bridges(check, search);
	if (shape == EMOGI_SHAPE_VERTICES)
		return check_points(check, search);
	if (!sort_blocks(search))
		return emogi_check_wrong(check, "out of memory");
	for (uint64_t v = 0; v < check->graph->nvertices; v++)
		search->ntops[v] = 0;
	return check_blocks(check, search);
}

bool
emogi_verify_blocks(EmogiCheck *check)
{
	const uint64_t n = check->graph->nvertices;
	uint64_t   *next = calloc(n + 1, sizeof *next);
	uint32_t   *memory = calloc(8 * n + 8, sizeof *memory);
	Search		search = {check->graph, next, memory, memory + n, memory + 2 * n, memory + 3 * n,
		memory + 4 * n, memory + 5 * n,
		memory + 6 * n, memory + 7 * n, 0, 0, 0};
	const bool	is_right = next != NULL && memory != NULL ? check_answer(check, &search)
		: emogi_check_wrong(check, "out of memory");

	free(next);
	free(memory);
	return is_right;
}
