/*
 * merge.h: a Graph from another Graph and the changes of its edges.
 *
 * What has not changed is copied at the speed of memory, lists between two changed vertices at
 * once; changed lists are merged. The result is, byte for byte, what emogi_csr_build makes of the
 * new set of edges: the same ids, offsets, targets, weights, weight type and padding. New vertices,
 * in the middle or at the end, and vertices that have lost their last edge are renumbered on the
 * way.
 */
#ifndef EMOGI_MERGE_H
#define EMOGI_MERGE_H

#include "contract/derivation.h"
#include "csr.h"

/* An edge more (times > 0) or less (times < 0). */
typedef struct EmogiEdgeChange
{
	int64_t		src;
	int64_t		dst;
	double		weight;			/* 0 where the Graph has no weights */
	int64_t		times;
} EmogiEdgeChange;

typedef struct EmogiMergeInput
{
	const EmogiGraph *graph;	/* the old one, only read; laid out by emogi_csr_build or by a
								 * splice; it may be empty (no vertices, no memory) */
	EmogiDirection direction;	/* of graph->forward */
	bool		with_backward;	/* the transpose is there too, and is made; for EMOGI_BOTH it is
								 * forward itself */
	EmogiWeightType weight_type;	/* of the new Graph: the narrowest that holds all its
									 * weights; NONE iff the old has none */
	uint64_t	nchanges;
	const EmogiEdgeChange *changes; /* [nchanges], in any order; they may repeat and cancel each
									 * other. Edges that go are there */
	void	   *memory;			/* emogi_merge_bytes, page-aligned, any content, not populated */
	void	   *scratch;		/* emogi_merge_scratch_bytes, EMOGI_LINE_BYTES-aligned, likewise */
	EmogiDerivation *derivation;	/* filled in too, with arrays in the scratch; NULL = not
									 * wanted, and there is no scratch for it */
} EmogiMergeInput;

/* Bytes that the new Graph's block has at most. */
extern size_t emogi_merge_bytes(const EmogiMergeInput *input);

/* Bytes of scratch. */
extern size_t emogi_merge_scratch_bytes(const EmogiMergeInput *input, int nthreads);

/*
 * Fill *graph, whose pointers lead into input->memory; all 0 when no edge is left. All threads take
 * part; polls control->cancel. BAD_INPUT when an edge is to go that the old Graph does not have, or
 * there are more than EMOGI_MAX_VERTICES vertices.
 */
extern EmogiStatus emogi_merge(EmogiPool *pool, const EmogiMergeInput *input, EmogiGraph *graph,
							   EmogiControl *control, EmogiError *error);

#endif							/* EMOGI_MERGE_H */
