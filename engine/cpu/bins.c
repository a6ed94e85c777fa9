/*
 * bins.c: the store of blocks behind the bins of bins.h.
 */
#include "bins.h"

#include <stdlib.h>

/* Get a block: one that was emptied, or a new one; NULL without memory. */
static EmogiBinBlock *
take_block(EmogiBins *bins)
{
	EmogiBinBlock *block = bins->spare;

	if (block != NULL)
	{
		bins->spare = block->below;
		return block;
	}
	if (bins->slabs == NULL || bins->used == EMOGI_SLAB_BLOCKS)
	{
		void	   *memory;
		EmogiBinSlab *slab;

		if (posix_memalign(&memory, EMOGI_LINE_BYTES, sizeof(EmogiBinSlab)) != 0)
			return NULL;
		slab = memory;
		slab->below = bins->slabs;
		bins->slabs = slab;
		bins->used = 0;
	}
	return &bins->slabs->blocks[bins->used++];
}

EmogiBinBlock *
emogi_bins_grow(EmogiBins *bins, uint32_t bin)
{
	EmogiBinBlock *block = take_block(bins);

	if (block != NULL)
	{
		block->below = bins->top[bin];
		block->count = 0;
		bins->top[bin] = block;
	}
	return block;
}

void
emogi_bins_free(EmogiBins *bins)
{
	while (bins->slabs != NULL)
	{
		EmogiBinSlab *below = bins->slabs->below;

		free(bins->slabs);
		bins->slabs = below;
	}
}
