/*
 * blocks.cuh: what finding blocks, and making answers of them, share.
 */
#ifndef EMOGI_BLOCKS_CUH
#define EMOGI_BLOCKS_CUH

#include "cuda/algorithms/spanning_bfs.cuh"

/* Arrays in device memory, [nvertices] each but for the last two. */
typedef struct Blocks
{
	SpanningBfs		rooted;
	uint64_t	nvertices;
	uint32_t   *parent;			/* rooted's */
	uint32_t   *first;			/* the number of a vertex */
	uint32_t   *size;			/* vertices that hang from it, itself among them */
	/* the least number at the ends of edges of these; before that the next number to be given below a vertex */
	uint32_t   *low;
	uint32_t   *high;			/* the greatest */
	uint32_t   *label;			/* of a block without its top: its smallest vertex */
	uint32_t   *top;			/* of such a block, the parent of the topmost; memory of `low` */
	/* of such a block, its second vertex, EMOGI_NO_VERTEX = none; memory of `high` */
	uint32_t   *second;
	uint32_t   *met;			/* bitmap: the edge to the parent has been met in the list */
	uint32_t   *given;			/* [1], numbers that were given to trees; behind that */
} Blocks;

/* Say whether v is the label of a block. */
static __device__ __forceinline__ bool
is_block(const Blocks &blocks, uint64_t v)
{
	return blocks.label[v] == v && blocks.parent[v] != EMOGI_NO_VERTEX;
}

/* Number the blocks, and write the number of each vertex's: component[nvertices]; queued on the stream. */
extern EmogiStatus emogi_blocks_number(Run *run, const Blocks *blocks, int64_t *component,
									   EmogiError *error);

/* Bring its kernels to the device. */
extern EmogiStatus emogi_blocks_number_load(EmogiError *error);

#endif							/* EMOGI_BLOCKS_CUH */
