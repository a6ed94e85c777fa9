/*
 * buckets.h: the buckets of a label-correcting search. Each thread adds work to bins of its own,
 * and a round takes one bin of all threads together.
 *
 * Work lies in blocks. A thread takes blocks from its own store, which grows by slabs; the thread
 * that has emptied a block keeps it. Nothing is copied or locked: between steps the caller's thread
 * links the bins of all threads.
 */
#ifndef EMOGI_BUCKETS_H
#define EMOGI_BUCKETS_H

#include "contract/engine.h"

#define EMOGI_NBINS 128
#define EMOGI_FAR_BIN EMOGI_NBINS		/* values beyond the last bin */
#define EMOGI_BLOCK_ITEMS 254
#define EMOGI_SLAB_BLOCKS 64

/*
 * A vertex to process because its value has become `value`; stale if the vertex has a better value
 * now.
 */
typedef struct EmogiBucketItem
{
	double		value;
	uint32_t	vertex;
} EmogiBucketItem;

typedef struct EmogiBucketBlock
{
	struct EmogiBucketBlock *below;
	uint64_t	count;
	uint64_t	pad[2];
	EmogiBucketItem items[EMOGI_BLOCK_ITEMS];
} EmogiBucketBlock;

typedef struct EmogiBucketSlab
{
	struct EmogiBucketSlab *below;
	char		pad[EMOGI_LINE_BYTES - sizeof(void *)];
	EmogiBucketBlock blocks[EMOGI_SLAB_BLOCKS];
} EmogiBucketSlab;

/* The bins of one thread. Written by that thread during a step, by the caller between steps. */
typedef struct EmogiBuckets
{
	EmogiBucketBlock *top[EMOGI_NBINS + 1];	/* NULL = empty; only the top block of a bin may be
											 * partly filled */
	EmogiBucketBlock *spare;
	EmogiBucketSlab *slabs;
	uint64_t	used;			/* blocks taken from the top slab */
	char		pad[EMOGI_LINE_BYTES];
} EmogiBuckets;

/* Push an empty block onto a bin; NULL if out of memory. */
extern EmogiBucketBlock *emogi_buckets_grow(EmogiBuckets *bins, uint32_t bin);

/* Free all blocks. */
extern void emogi_buckets_free(EmogiBuckets *bins);

/* Add an item to a bin; false if out of memory. */
static inline bool
emogi_buckets_add(EmogiBuckets *bins, uint32_t bin, uint32_t vertex, double value)
{
	EmogiBucketBlock *block = bins->top[bin];

	if (__builtin_expect(block == NULL || block->count == EMOGI_BLOCK_ITEMS, 0))
	{
		block = emogi_buckets_grow(bins, bin);
		if (block == NULL)
			return false;
	}
	block->items[block->count++] = (EmogiBucketItem) {value, vertex};
	return true;
}

/* Keep an emptied block for reuse. */
static inline void
emogi_buckets_recycle(EmogiBuckets *bins, EmogiBucketBlock *block)
{
	block->below = bins->spare;
	bins->spare = block;
}

#endif							/* EMOGI_BUCKETS_H */
