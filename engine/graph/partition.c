/*
 * partition.c: the memory layout and allocation of partitions (partition.h).
 */
#include "partition.h"

#include "layout.h"
#include "threads/pool.h"

#include <string.h>

#define GROUP_BYTES ((uint64_t) 256 << 10)	/* taken and populated by a thread at a time */
#define MIN_BLOCK_ENTRIES 16
#define MAX_BLOCK_ENTRIES 1024

/*
 * Choose the size of a block, such that half-filled blocks cost about a sixteenth, and the number
 * of groups.
 */
static void
plan_blocks(EmogiPartition *partition, uint64_t nentries, uint32_t nbuckets, int nthreads)
{
	uint64_t	nchains = (uint64_t) nbuckets * (uint64_t) nthreads;
	uint64_t	nblocks;

	partition->nbuckets = nbuckets;
	partition->nthreads = nthreads;
	partition->block_entries = MIN_BLOCK_ENTRIES;
	while (partition->block_entries < MAX_BLOCK_ENTRIES &&
		   partition->block_entries * 2 * nchains * 8 <= nentries)
		partition->block_entries *= 2;
	nblocks = nentries / partition->block_entries + nchains;
	partition->group_blocks = GROUP_BYTES / (partition->block_entries * sizeof(uint64_t));
	partition->ngroups = (nblocks + partition->group_blocks - 1) / partition->group_blocks +
		(uint64_t) nthreads;
}

/*
 * Lay out the arrays from memory on; *fixed: the bytes before the blocks; returns the bytes of all.
 */
static size_t
lay_out(EmogiPartition *partition, void *memory, size_t *fixed)
{
	size_t		nchains = (size_t) partition->nbuckets * (size_t) partition->nthreads;
	size_t		block_bytes = partition->block_entries * sizeof(uint64_t);
	size_t		nblocks = partition->ngroups * partition->group_blocks;
	uintptr_t	place = (uintptr_t) memory;

	partition->supply = emogi_carve(&place, (size_t) partition->nthreads *
									sizeof(EmogiBlockSupply));
	partition->chains = emogi_carve(&place, nchains * sizeof(EmogiChain));
	partition->cursor = emogi_carve(&place, nchains * sizeof(uint64_t *));
	partition->next = emogi_carve(&place, nblocks * sizeof(uint32_t));
	*fixed = (size_t) (place - (uintptr_t) memory);
	place += block_bytes - place % block_bytes;
	partition->blocks = (uint64_t *) place;
	return (size_t) (place - (uintptr_t) memory) + nblocks * block_bytes;
}

size_t
emogi_partition_bytes(uint64_t nentries, uint32_t nbuckets, int nthreads)
{
	EmogiPartition partition;
	size_t		fixed;

	plan_blocks(&partition, nentries, nbuckets, nthreads);
	return lay_out(&partition, NULL, &fixed) + partition.block_entries * sizeof(uint64_t);
}

bool
emogi_partition_init(EmogiPartition *partition, EmogiJob *job, uint64_t nentries, uint32_t nbuckets,
					 int nthreads, void *memory)
{
	size_t		nchains = (size_t) nbuckets * (size_t) nthreads;
	size_t		fixed;

	plan_blocks(partition, nentries, nbuckets, nthreads);
	partition->job = job;
	partition->next_group = 0;
	lay_out(partition, memory, &fixed);
	if (!emogi_job_populate(job, memory, fixed))
		return false;
	memset(partition->supply, 0, (size_t) nthreads * sizeof(EmogiBlockSupply));
	memset(partition->cursor, 0, nchains * sizeof(uint64_t *));
	for (size_t i = 0; i < nchains; i++)
		partition->chains[i] = (EmogiChain) {EMOGI_NO_BLOCK, EMOGI_NO_BLOCK, 0};
	return true;
}

/*
 * Get a block number for a thread; false, with the job failed, if no group is left or out of
 * memory.
 */
static bool
take_block(EmogiPartition *partition, int thread, uint64_t *block)
{
	EmogiBlockSupply *supply = &partition->supply[thread];

	if (supply->next == supply->end)
	{
		uint64_t	group = emogi_job_claim(&partition->next_group, 1);
		size_t		block_bytes = partition->block_entries * sizeof(uint64_t);
		uint64_t	first = group * partition->group_blocks;

		if (group >= partition->ngroups ||
			!emogi_job_populate(partition->job, (char *) partition->blocks + first * block_bytes,
								partition->group_blocks * block_bytes))
		{
			emogi_job_fail(partition->job, EMOGI_NO_MEMORY);
			return false;
		}
		supply->next = first;
		supply->end = first + partition->group_blocks;
	}
	*block = supply->next++;
	return true;
}

uint64_t *
emogi_partition_grow(EmogiPartition *partition, int thread, uint32_t bucket)
{
	EmogiChain *chain = &partition->chains[(size_t) thread * partition->nbuckets + bucket];
	uint64_t	block;

	if (!take_block(partition, thread, &block))
		return NULL;
	if (chain->nblocks++ == 0)
		chain->first = (uint32_t) block;
	else
		partition->next[chain->last] = (uint32_t) block;
	chain->last = (uint32_t) block;
	return partition->blocks + block * partition->block_entries;
}

uint64_t
emogi_partition_count(const EmogiPartition *partition, int thread, uint32_t bucket)
{
	size_t		i = (size_t) thread * partition->nbuckets + bucket;
	const EmogiChain *chain = &partition->chains[i];

	if (chain->nblocks == 0)
		return 0;
	return (chain->nblocks - 1) * partition->block_entries +
		(uint64_t) (partition->cursor[i] -
					(partition->blocks + (size_t) chain->last * partition->block_entries));
}
