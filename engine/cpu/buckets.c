/*
 * buckets.c: the block allocator of buckets.h.
 */
#include "cpu/buckets.h"

#include <stdlib.h>

/* Get an emptied or new block; NULL if out of memory. */
static EmogiBucketBlock *
take_block(EmogiBuckets *bins)
{
	EmogiBucketBlock *block = bins->spare;

	if (block != NULL)
	{
		bins->spare = block->below;
		return block;
	}
	if (bins->slabs == NULL || bins->used == EMOGI_SLAB_BLOCKS)
	{
		void	   *memory;
		EmogiBucketSlab *slab;

		if (posix_memalign(&memory, EMOGI_LINE_BYTES, sizeof(EmogiBucketSlab)) != 0)
			return NULL;
		slab = memory;
		slab->below = bins->slabs;
		bins->slabs = slab;
		bins->used = 0;
	}
	return &bins->slabs->blocks[bins->used++];
}

EmogiBucketBlock *
emogi_buckets_grow(EmogiBuckets *bins, uint32_t bin)
{
	EmogiBucketBlock *block = take_block(bins);

	if (block != NULL)
	{
		block->below = bins->top[bin];
		block->count = 0;
		bins->top[bin] = block;
	}
	return block;
}

void
emogi_buckets_free(EmogiBuckets *bins)
{
	while (bins->slabs != NULL)
	{
		EmogiBucketSlab *below = bins->slabs->below;

		free(bins->slabs);
		bins->slabs = below;
	}
}
