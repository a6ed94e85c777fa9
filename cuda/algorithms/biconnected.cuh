/*
 * biconnected.cuh: shared declarations of biconnected components: the search for blocks and the
 * numbering of results.
 */
#ifndef EMOGI_BICONNECTED_CUH
#define EMOGI_BICONNECTED_CUH

#include "cuda/algorithms/spanning_bfs.cuh"

/* Arrays in device memory, [nvertices] each except the last two. */
typedef struct Blocks
{
	SpanningBfs	spanning;
	uint64_t	nvertices;
	uint32_t   *parent;			/* of the spanning BFS */
	uint32_t   *first;			/* preorder number of the vertex */
	uint32_t   *size;			/* size of the vertex's subtree, itself included */
	/*
	 * minimum preorder number at the ends of the subtree's edges; before that, the next number to
	 * assign below the vertex
	 */
	uint32_t   *low;
	uint32_t   *high;			/* maximum preorder number at these ends */
	uint32_t   *label;			/* label of the vertex's block without its top: its smallest
								 * vertex */
	uint32_t   *top;			/* of a labeled block: the parent of its topmost vertex; shares
								 * the memory of `low` */
	/* of a labeled block: its second vertex, EMOGI_NO_VERTEX = none; shares the memory of `high` */
	uint32_t   *second;
	uint32_t   *parent_seen;	/* bitmap: the edge to the parent was seen in the list */
	/* [1], preorder numbers assigned to whole trees; lies behind `parent_seen` */
	uint32_t   *nnumbered;
} Blocks;

/* Say whether v is the label of a block. */
static __device__ __forceinline__ bool
is_block(const Blocks &blocks, uint64_t v)
{
	return blocks.label[v] == v && blocks.parent[v] != EMOGI_NO_VERTEX;
}

/*
 * Number the blocks, and write each vertex's block number to component[nvertices]; queued on the
 * stream.
 */
extern EmogiStatus emogi_biconnected_number(Run *run, const Blocks *blocks, int64_t *component,
											EmogiError *error);

#endif							/* EMOGI_BICONNECTED_CUH */
