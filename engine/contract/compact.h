/*
 * compact.h: make the graph of the edges that pass a filter from a graph and bitmaps of its entries
 *
 * The result is byte-identical to what emogi_csr_build makes of the edges that pass: the same ids,
 * offsets, targets, weights, weight type and padding. Its vertices are the ends of passing edges.
 * If keys are codes of a dictionary, the new graph has the codes, and the dictionary, of the old
 * one. So codes and dictionary differ from those of a build, and keys do not.
 *
 * There are two steps, so that the caller can allocate exactly the memory of the result.
 */
#ifndef EMOGI_COMPACT_H
#define EMOGI_COMPACT_H

#include "contract/engine.h"
#include "contract/csr.h"
#include "contract/pool.h"

typedef struct EmogiCompactInput
{
	const EmogiGraph *graph;
	EmogiDirection direction;	/* of graph->forward */
	bool		with_backward;	/* as in EmogiCsrInput; graph->backward exists then */
	const uint64_t *forward;	/* bitmap [graph->forward.nedges], 1 = passes */
	const uint64_t *backward;	/* bitmap [graph->backward.nedges], of the same edges; NULL for
								 * EMOGI_BOTH. NULL without with_backward: targets are marked one
								 * by one */
	const uint64_t *kept;		/* bitmap [graph->nvertices]: vertices that exist even without a
								 * passing edge; NULL = none */
	void	   *scratch;		/* emogi_compact_scratch_bytes, line-aligned, any content */
} EmogiCompactInput;

/* The size of the new graph. */
typedef struct EmogiCompactSize
{
	uint64_t	nvertices;
	uint64_t	nedges;			/* entries of the forward lists */
	EmogiWeightType weight_type;
	size_t		bytes;			/* of its block */
} EmogiCompactSize;

/* Get the bytes of scratch, which must persist until emogi_compact_build returns. */
extern size_t emogi_compact_scratch_bytes(const EmogiGraph *graph);

/* Step 1: count vertices and edges. */
extern EmogiStatus emogi_compact_count(EmogiPool *pool, const EmogiCompactInput *input,
									   EmogiCompactSize *size, EmogiControl *control,
									   EmogiError *error);

/*
 * Step 2: fill *compacted, whose pointers lead into memory: size->bytes, page-aligned, any content,
 * not populated.
 */
extern EmogiStatus emogi_compact_build(EmogiPool *pool, const EmogiCompactInput *input,
									   const EmogiCompactSize *size, void *memory,
									   EmogiGraph *compacted, EmogiControl *control,
									   EmogiError *error);

#endif							/* EMOGI_COMPACT_H */
