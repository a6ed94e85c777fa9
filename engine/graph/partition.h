/*
 * partition.h: partition 8-byte entries into buckets with many threads in one pass, without
 * counting first.
 *
 * Each thread has a chain of fixed-size blocks for each bucket. Blocks come from groups that a
 * thread claims with an atomic counter and populates. Reading a bucket's chains in the order of
 * threads yields each thread's entries in the order in which it appended them. There are no locks
 * and no moves; the cost is 8 bytes per entry plus a bounded slack.
 */
#ifndef EMOGI_PARTITION_H
#define EMOGI_PARTITION_H

#include "threads/job.h"

#define EMOGI_NO_BLOCK UINT32_MAX

/* The blocks of one thread for one bucket. */
typedef struct EmogiChain
{
	uint32_t	first;			/* block numbers; EMOGI_NO_BLOCK = none */
	uint32_t	last;
	uint64_t	nblocks;
} EmogiChain;

/* The group of blocks that a thread is using up. */
typedef struct EmogiBlockSupply
{
	uint64_t	next;
	uint64_t	end;
	char		pad[EMOGI_LINE_BYTES - 16];
} EmogiBlockSupply;

typedef struct EmogiPartition
{
	EmogiJob   *job;
	int			nthreads;
	uint32_t	nbuckets;
	uint32_t	block_entries;	/* a power of two */
	uint64_t	group_blocks;
	uint64_t	ngroups;
	uint64_t	next_group;		/* atomic */
	EmogiBlockSupply *supply;	/* [nthreads] */
	EmogiChain *chains;			/* [nthreads][nbuckets] */
	uint64_t  **cursor;			/* [nthreads][nbuckets], address of the next entry; at a block's
								 * end: a new block is needed */
	uint32_t   *next;			/* [ngroups * group_blocks], the next block in a chain */
	uint64_t   *blocks;			/* [ngroups * group_blocks][block_entries], aligned to the block
								 * size */
} EmogiPartition;

/* Get the bytes that a partition of at most nentries needs. */
extern size_t emogi_partition_bytes(uint64_t nentries, uint32_t nbuckets, int nthreads);

/*
 * Make an empty partition in memory (line-aligned, undefined content); false if the memory cannot
 * be populated.
 */
extern bool emogi_partition_init(EmogiPartition *partition, EmogiJob *job, uint64_t nentries,
								 uint32_t nbuckets, int nthreads, void *memory);

/*
 * Add a block to the chain of (thread, bucket) and return its first entry; NULL, with the job
 * failed, if out of memory.
 */
extern uint64_t *emogi_partition_grow(EmogiPartition *partition, int thread, uint32_t bucket);

/* Count the entries of (thread, bucket). */
extern uint64_t emogi_partition_count(const EmogiPartition *partition, int thread, uint32_t bucket);

/* Get the cursors of a thread, [nbuckets], for emogi_partition_append. */
static inline uint64_t **
emogi_partition_cursors(EmogiPartition *partition, int thread)
{
	return partition->cursor + (size_t) thread * partition->nbuckets;
}

/* Append an entry; false, with the job failed, if out of memory. */
static inline bool
emogi_partition_append(EmogiPartition *partition, uint64_t **cursor, size_t block_mask, int thread,
					   uint32_t bucket, uint64_t entry)
{
	uint64_t   *place = cursor[bucket];

	if (__builtin_expect(((uintptr_t) place & block_mask) == 0, 0))
	{
		place = emogi_partition_grow(partition, thread, bucket);
		if (place == NULL)
			return false;
	}
	*place = entry;
	cursor[bucket] = place + 1;
	return true;
}

/* An iterator over the entries of one bucket, block by block. */
typedef struct EmogiPartitionIterator
{
	const EmogiPartition *partition;
	uint32_t	bucket;
	int			thread;			/* whose chain is next */
	uint32_t	block;
	uint64_t	left;			/* entries of the chain from block on */
} EmogiPartitionIterator;

/* Begin to iterate over a bucket. */
static inline EmogiPartitionIterator
emogi_partition_iterate(const EmogiPartition *partition, uint32_t bucket)
{
	return (EmogiPartitionIterator) {.partition = partition, .bucket = bucket};
}

/* Get the next block and its number of entries; NULL at the end. */
static inline const uint64_t *
emogi_partition_next(EmogiPartitionIterator *walk, uint32_t *count)
{
	const EmogiPartition *partition = walk->partition;
	const uint64_t *entries;

	while (walk->left == 0)
	{
		if (walk->thread == partition->nthreads)
			return NULL;
		walk->left = emogi_partition_count(partition, walk->thread, walk->bucket);
		walk->block = partition->chains[(size_t) walk->thread * partition->nbuckets +
										walk->bucket].first;
		walk->thread++;
	}
	entries = partition->blocks + (size_t) walk->block * partition->block_entries;
	*count = walk->left < partition->block_entries ? (uint32_t) walk->left
		: partition->block_entries;
	walk->left -= *count;
	if (walk->left > 0)
	{
		walk->block = partition->next[walk->block];
		__builtin_prefetch(partition->blocks + (size_t) walk->block * partition->block_entries);
	}
	return entries;
}

#endif							/* EMOGI_PARTITION_H */
