/*
 * merge.h: merge changes of edges into a graph's CSR.
 *
 * Unchanged parts are copied at memory speed, all lists between two changed vertices at once;
 * changed lists are merged. The result is byte-identical to what emogi_csr_build makes of the new
 * multiset of edges: the same ids, offsets, targets, weights, weight type and padding. New
 * vertices, wherever they sort, and vertices that have lost their last edge are renumbered on the
 * way.
 */
#ifndef EMOGI_MERGE_H
#define EMOGI_MERGE_H

#include "contract/csr.h"
#include "contract/derivation.h"

/* Added (times > 0) or removed (times < 0) copies of an edge. */
typedef struct EmogiEdgeChange
{
	int64_t		src;
	int64_t		dst;
	double		weight;			/* 0 if the graph has no weights */
	int64_t		times;
} EmogiEdgeChange;

typedef struct EmogiMergeInput
{
	const EmogiGraph *graph;	/* the old graph, read-only; laid out by emogi_csr_build or by a
								 * merge; may be empty (no vertices, no memory) */
	EmogiDirection direction;	/* of graph->forward */
	bool		with_backward;	/* the transpose exists too, and is made; for EMOGI_BOTH it is
								 * forward itself */
	EmogiWeightType weight_type;	/* of the new graph: the narrowest that holds all its
									 * weights; NONE iff the old one has none */
	uint64_t	nchanges;
	const EmogiEdgeChange *changes; /* [nchanges], unordered; may repeat and cancel each other.
									 * Removed edges exist */
	void	   *memory;			/* emogi_merge_bytes, page-aligned, undefined content, not
								 * populated */
	void	   *scratch;		/* emogi_merge_scratch_bytes, EMOGI_LINE_BYTES-aligned, likewise */
	EmogiDerivation *derivation;	/* filled in too, with arrays in the scratch; NULL = not
									 * wanted, and there is no scratch for it */
} EmogiMergeInput;

/* Get an upper bound of the bytes of the new graph's block. */
extern size_t emogi_merge_bytes(const EmogiMergeInput *input);

/* Get the bytes of scratch. */
extern size_t emogi_merge_scratch_bytes(const EmogiMergeInput *input, int nthreads);

#endif							/* EMOGI_MERGE_H */
