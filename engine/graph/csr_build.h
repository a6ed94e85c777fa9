/*
 * csr_build.h: shared declarations of csr.c, which builds a graph step by step, and csr_lists.c,
 * which makes the adjacency lists of a bucket.
 *
 * One pass over the edges appends the list entries to buckets of neighboring sources (partition.h).
 * Then each bucket is counted, laid out, and distributed to the lists of its sources, each in
 * ascending order. The transpose is made from the finished lists: they are read in the order of
 * sources, so that no sorting is needed.
 *
 * An entry of a bucket is one word, source << 32 | target, followed by another if there are
 * weights, the weight as a double. The per-entry code is written once and compiled for both.
 */
#ifndef EMOGI_CSR_BUILD_H
#define EMOGI_CSR_BUILD_H

#include "contract/builder.h"
#include "graph/key_numbers.h"
#include "partition.h"

/*
 * Tuned. A bucket should fit the cache of one core, and its blocks, one per thread, should be
 * filled.
 */
#define EMOGI_CSR_ENTRIES_PER_BUCKET 16384	/* target size */
#define EMOGI_CSR_MAX_BUCKETS 2048
/* fewer do not pay for a thread's workspace and blocks, nearly a megabyte */
#define EMOGI_CSR_ENTRIES_PER_THREAD 131072
/* maximum size of a bucket that is sorted at once, relative to `aim` */
#define EMOGI_CSR_ROOM_FACTOR 2
/* entries that a thread sorts without polling, about 30 ms */
#define EMOGI_CSR_MAX_ROOM ((uint32_t) 1 << 21)
#define EMOGI_CSR_DIGIT_BITS 11
#define EMOGI_CSR_POLL ((uint64_t) 1 << 20)	/* words between two polls */
/* of the graph's memory that a thread takes at a time */
#define EMOGI_CSR_POPULATE_BYTES ((size_t) 2 << 20)

typedef struct EmogiCsrBuild
{
	EmogiJob	job;
	const EmogiEdges *edges;
	const EmogiKeyNumbers *keys;
	EmogiDirection direction;
	EmogiWeightType type;		/* of the weights; EMOGI_WEIGHT_NONE = none */
	uint32_t	words;			/* of an entry in a bucket: 1, or 2 with weights */
	uint64_t	nvertices;
	uint64_t	nentries;		/* maximum of one direction */
	uint64_t	aim;			/* target size of a bucket, entries */
	uint32_t	nbuckets;
	uint32_t	shift;			/* bucket = source >> shift */
	int			nthreads;		/* only the first nthreads of the pool take part: few for few
								 * entries */
	EmogiPartition partition;
	char	   *desks;			/* [nthreads] of desk_bytes, the threads' workspaces */
	size_t		desk_bytes;
	uint64_t	base[EMOGI_CSR_MAX_BUCKETS + 1];	/* entries before each bucket */
	const EmogiAdjacency *from; /* the lists to transpose */
	EmogiAdjacency to;			/* the lists under construction */
	bool		sorted;			/* entries come in list order */
	int64_t    *ids;
	char	   *populate_start;
	size_t		populate_bytes;
	uint64_t	next;			/* atomic: next chunk, bucket or piece */
} EmogiCsrBuild;

/* Get the bytes of a thread's workspace for making lists; the buckets have been chosen. */
extern size_t emogi_csr_workspace_bytes(const EmogiCsrBuild *build);

/* Make the lists of the buckets: a task of the pool, arg is the EmogiCsrBuild. */
extern void emogi_csr_make_lists(void *arg, int thread, int nthreads);

#endif							/* EMOGI_CSR_BUILD_H */
