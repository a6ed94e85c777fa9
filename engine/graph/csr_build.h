/*
 * csr_build.h: what building a Graph with and without weights has in common: the buckets of neighbouring sources, the
 * order of the steps, the memory. What differs is an EmogiCsrKind: csr.c and csr_weighted.c have one each.
 *
 * One pass over the edges appends the entries of the lists to be to buckets (partition.h). Then each bucket is counted
 * and laid out, and the kind deals its entries out to the lists of its sources, each in ascending order. The transpose is
 * made from the finished lists: they are read in order of sources, so that nothing is to be sorted.
 */
#ifndef EMOGI_CSR_BUILD_H
#define EMOGI_CSR_BUILD_H

#include "csr_weighted.h"
#include "keys.h"
#include "partition.h"

#define EMOGI_CSR_MAX_BUCKETS 2048
#define EMOGI_CSR_BATCH (EMOGI_KEYS_BATCH / 2)	/* edges whose keys are translated at once */
#define EMOGI_CSR_POLL ((uint64_t) 1 << 20)	/* entries or words between two looks at the job */

typedef struct EmogiCsrKind EmogiCsrKind;

typedef struct EmogiCsrBuild
{
	EmogiJob	job;
	const EmogiCsrKind *kind;
	const EmogiEdges *edges;
	const EmogiKeys *keys;
	EmogiDirection direction;
	EmogiWeightType type;		/* of the weights; EMOGI_WEIGHT_NONE = there are none */
	uint64_t	nvertices;
	uint64_t	nentries;		/* the most that one orientation can have */
	uint64_t	aim;			/* entries that a bucket should have */
	uint32_t	nbuckets;
	uint32_t	shift;			/* bucket = source >> shift */
	int			nthreads;		/* the first so many of the pool's take part: few for few entries */
	EmogiPartition partition;
	char	   *desks;			/* [nthreads] of desk_bytes: cursors, then the kind's own */
	size_t		desk_bytes;
	uint64_t	base[EMOGI_CSR_MAX_BUCKETS + 1];	/* entries before each bucket */
	const EmogiAdjacency *from;	/* the lists to transpose */
	EmogiAdjacency to;			/* the lists in the making */
	bool		sorted;			/* entries come in the order that lists have */
	int64_t    *ids;
	char	   *populate_start;
	size_t		populate_bytes;
	uint64_t	next;			/* atomic: next chunk, bucket or piece */
} EmogiCsrBuild;

/* A bucket to be dealt out. */
typedef struct EmogiCsrBucket
{
	uint32_t	number;
	uint64_t	first;			/* its sources: [first, end) */
	uint64_t	end;
	uint64_t   *cursor;			/* [end - first], where the next entry of each source goes: where its list starts, at first */
	uintptr_t	desk;			/* the thread's memory of the kind's desk_bytes, line-aligned */
} EmogiCsrBucket;

/* All but desk_bytes return false when the job has stopped. */
struct EmogiCsrKind
{
	uint32_t	words;			/* of an entry in a bucket, 1 or 2, the first of them source << 32 | target */

	/* Get the bytes that a thread needs to deal out buckets. Knows how the sources are cut. */
	size_t		(*desk_bytes) (const EmogiCsrBuild *build);

	/* Append the entries of edges [first, first + count) of a chunk, count <= EMOGI_CSR_BATCH. */
	bool		(*append_edges) (EmogiCsrBuild *build, int thread, uint64_t **cursors, EmogiEdgeChunk *chunk, uint64_t first,
								 size_t count);

	/* Append entry i of the finished lists, which is in the list of this vertex, to the bucket of its target. */
	bool		(*append_reversed) (EmogiCsrBuild *build, int thread, uint64_t **cursors, uint64_t i, uint64_t vertex);

	/* Deal the entries of a bucket out to its lists, and sort these unless build->sorted. */
	bool		(*deal) (EmogiCsrBuild *build, const EmogiCsrBucket *bucket);
};

/* Get the most list entries that nedges can make. */
static inline uint64_t
emogi_csr_most_entries(uint64_t nedges, EmogiDirection direction)
{
	return direction == EMOGI_BOTH ? 2 * nedges : nedges;
}

/* Get the mask for emogi_partition_append. */
static inline size_t
emogi_csr_block_mask(const EmogiCsrBuild *build)
{
	return build->partition.block_entries * sizeof(uint64_t) - 1;
}

/* Walks the words of a bucket, with a look at the job now and then. */
typedef struct EmogiCsrWalk
{
	EmogiBucketWalk walk;
	uint64_t	polled;			/* words since the last look */
} EmogiCsrWalk;

/* Begin a walk over a bucket. */
static inline EmogiCsrWalk
emogi_csr_walk(const EmogiCsrBuild *build, const EmogiCsrBucket *bucket)
{
	return (EmogiCsrWalk) {.walk = emogi_bucket_walk(&build->partition, bucket->number)};
}

/* Get the next words and their number; NULL at the end, or when the job was seen to have stopped. */
static inline const uint64_t *
emogi_csr_next(EmogiCsrBuild *build, EmogiCsrWalk *walk, uint32_t *count)
{
	const uint64_t *words;

	if (walk->polled >= EMOGI_CSR_POLL)
	{
		if (emogi_job_stopped(&build->job))
			return NULL;
		walk->polled = 0;
	}
	words = emogi_bucket_next(&walk->walk, count);
	walk->polled += words != NULL ? *count : 0;
	return words;
}

/* What emogi_csr_scratch_bytes and emogi_csr_build are, of a kind. */
extern size_t emogi_csr_scratch_bytes_of(const EmogiCsrKind *kind, uint64_t nvertices, uint64_t nedges,
										 EmogiDirection direction, int nthreads);
extern EmogiStatus emogi_csr_build_of(const EmogiCsrKind *kind, EmogiPool *pool, const EmogiEdges *edges,
									  const EmogiKeys *keys, EmogiDirection direction, bool with_backward, void *memory,
									  void *scratch, EmogiGraph *graph, EmogiControl *control, EmogiError *error);

/* The kind of edges with weights (csr_weighted.c). */
extern const EmogiCsrKind emogi_csr_weighted;

#endif							/* EMOGI_CSR_BUILD_H */
