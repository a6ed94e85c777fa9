/*
 * bins.h: the work of a label-correcting search, sorted by urgency: every thread has bins of its own to add to, and
 * a round takes one bin of all threads together.
 *
 * Work lies in blocks. A thread takes blocks from its own store, which grows by slabs; whoever has emptied a block
 * keeps it. Nothing is copied and nothing is locked: between steps the caller's thread links the bins of all threads.
 */
#ifndef EMOGI_CPU_BINS_H
#define EMOGI_CPU_BINS_H

#include "contract/engine.h"

#define EMOGI_NBINS 128
#define EMOGI_FAR_BIN EMOGI_NBINS	/* what is beyond the last bin */
#define EMOGI_BLOCK_ITEMS 254
#define EMOGI_SLAB_BLOCKS 64

/* A vertex to be looked at because its value has become `value`; stale when it has become a better one since. */
typedef struct EmogiBinItem
{
	double		value;
	uint32_t	vertex;
} EmogiBinItem;

typedef struct EmogiBinBlock
{
	struct EmogiBinBlock *below;
	uint64_t	count;
	uint64_t	pad[2];
	EmogiBinItem items[EMOGI_BLOCK_ITEMS];
} EmogiBinBlock;

typedef struct EmogiBinSlab
{
	struct EmogiBinSlab *below;
	char		pad[EMOGI_LINE_BYTES - sizeof(void *)];
	EmogiBinBlock blocks[EMOGI_SLAB_BLOCKS];
} EmogiBinSlab;

/* The bins of one thread. Written by that thread within a step, by the caller between steps. */
typedef struct EmogiBins
{
	EmogiBinBlock *top[EMOGI_NBINS + 1];	/* NULL = empty; only the top block of a bin may be less than full */
	EmogiBinBlock *spare;
	EmogiBinSlab *slabs;
	uint64_t	used;			/* blocks of the top slab */
	char		pad[EMOGI_LINE_BYTES];
} EmogiBins;

/* Put an empty block on top of a bin; NULL without memory. */
extern EmogiBinBlock *emogi_bins_grow(EmogiBins *bins, uint32_t bin);

/* Free all blocks. */
extern void emogi_bins_free(EmogiBins *bins);

/* Add an item to a bin; false without memory. */
static inline bool
emogi_bins_add(EmogiBins *bins, uint32_t bin, uint32_t vertex, double value)
{
	EmogiBinBlock *block = bins->top[bin];

	if (__builtin_expect(block == NULL || block->count == EMOGI_BLOCK_ITEMS, 0))
	{
		block = emogi_bins_grow(bins, bin);
		if (block == NULL)
			return false;
	}
	block->items[block->count++] = (EmogiBinItem) {value, vertex};
	return true;
}

/* Keep an emptied block for later. */
static inline void
emogi_bins_keep(EmogiBins *bins, EmogiBinBlock *block)
{
	block->below = bins->spare;
	bins->spare = block;
}

#endif							/* EMOGI_CPU_BINS_H */
