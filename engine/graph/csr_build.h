/*
 * csr_build.h: what passes between csr.c, which leads the building of a Graph from step to step,
 * and csr_lists.c, which makes the lists of a bucket.
 *
 * One pass over the edges appends the entries of the lists to be to buckets of neighbouring sources
 * (partition.h). Then each bucket is counted, laid out, and dealt out to the lists of its sources,
 * each in ascending order. The transpose is made from the finished lists: they are read in order of
 * sources, so that nothing is to be sorted.
 *
 * An entry of a bucket is one word, source << 32 | target, which with weights is followed by
 * another, the weight as a double. All that is done for each entry is written once and compiled for
 * both.
 */
#ifndef EMOGI_CSR_BUILD_H
#define EMOGI_CSR_BUILD_H

#include "csr.h"
#include "graph/key_numbers.h"
#include "partition.h"

/*
 * Tuned. A bucket is to fit the cache of one processor, and its blocks, one a thread, to be filled.
 */
#define EMOGI_CSR_ENTRIES_PER_BUCKET 16384	/* aim */
#define EMOGI_CSR_MAX_BUCKETS 2048
/* fewer do not repay its desk and its blocks, most of a megabyte */
#define EMOGI_CSR_ENTRIES_PER_THREAD 131072
/* a bucket that is sorted at once has at most so many times what it should have */
#define EMOGI_CSR_ROOM_FACTOR 2
/* entries that a thread sorts without a look at the job, about 30 ms */
#define EMOGI_CSR_MAX_ROOM ((uint32_t) 1 << 21)
#define EMOGI_CSR_DIGIT_BITS 11
#define EMOGI_CSR_POLL ((uint64_t) 1 << 20)	/* words between two looks at the job */
/* of the Graph's memory that a thread takes at once */
#define EMOGI_CSR_POPULATE_BYTES ((size_t) 2 << 20)

typedef struct EmogiCsrBuild
{
	EmogiJob	job;
	const EmogiEdges *edges;
	const EmogiKeyNumbers *keys;
	EmogiDirection direction;
	EmogiWeightType type;		/* of the weights; EMOGI_WEIGHT_NONE = there are none */
	uint32_t	words;			/* of an entry in a bucket: 1, with weights 2 */
	uint64_t	nvertices;
	uint64_t	nentries;		/* the most that one orientation can have */
	uint64_t	aim;			/* entries that a bucket should have */
	uint32_t	nbuckets;
	uint32_t	shift;			/* bucket = source >> shift */
	int			nthreads;		/* the first so many of the pool's take part: few for few entries */
	EmogiPartition partition;
	char	   *desks;			/* [nthreads] of desk_bytes */
	size_t		desk_bytes;
	uint64_t	base[EMOGI_CSR_MAX_BUCKETS + 1];	/* entries before each bucket */
	const EmogiAdjacency *from; /* the lists to transpose */
	EmogiAdjacency to;			/* the lists in the making */
	bool		sorted;			/* entries come in the order that lists have */
	int64_t    *ids;
	char	   *populate_start;
	size_t		populate_bytes;
	uint64_t	next;			/* atomic: next chunk, bucket or piece */
} EmogiCsrBuild;

/* Get the bytes that a thread needs to make lists; the sources have been cut. */
extern size_t emogi_csr_desk_bytes(const EmogiCsrBuild *build);

/* Make the lists of the buckets: a task of the pool, arg is the EmogiCsrBuild. */
extern void emogi_csr_make_lists(void *arg, int thread, int nthreads);

#endif							/* EMOGI_CSR_BUILD_H */
