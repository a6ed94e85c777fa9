/*
 * copy_pipeline.cuh: edges from host memory by the copy engine, piece by piece, under the kernels that read the pieces before.
 *
 * For an algorithm that reads all edges in order, again and again: the copy engine gets 55 GB/s out of the link where
 * kernels that read in place get 50. A CopyPipeline has FEED_BUFFERS buffers in device memory, a stream of its own for copies,
 * and runs ahead of the kernels, into the next sweep too.
 *
 * Where the machine has other GPUs, and the query names them, their copy engines bring pieces, too, each over its own link into the buffers of this one:
 * the pieces go round, and there are FEED_BUFFERS buffers a link. So N links are as one of N times the rate, whatever reads the pieces, and what it computes is the
 * same. It needs buffers in memory of a pool, which can be shown to other GPUs: a copy into other memory is made by the engine of the GPU that has it.
 *
 * In hybrid placement as many pieces as there is room for, a part of each array, are in device memory for good and are
 * not copied in sweeps. They are spread evenly among the others, so that the copy engine always has a buffer to fill. A
 * part is kept for a Graph with an id (device_cache.cuh); it is known by the number of its pieces, since their size and which
 * they are is a matter of the Graph. One that has all of them is a copy of the whole array like any other.
 *
 * Where GPUs help each other (shared_step.cuh), each has a CopyPipeline of its own share of the pieces, every so many-th, over its own link, and keeps parts of that share.
 *
 * The host waits, polling cancel, until a buffer's kernel is over before it queues the next copy into it, so when a run
 * is canceled no more than FEED_BUFFERS copies a link are under way (1 ms). Only the host thread of the run touches a CopyPipeline.
 */
#ifndef EMOGI_COPY_PIPELINE_CUH
#define EMOGI_COPY_PIPELINE_CUH

#include "cuda/access/edge_chunks.cuh"
#include "cuda/multi_gpu/shared_step.cuh"

/*
 * Tuned constants, FEED_BUFFERS of 6130b04, the others of 753e333. With them PageRank in host placement on an NVIDIA H200
 * has 98 % of what the copy engine can bring (bench/RESULTS.md, ad4a202).
 */
#define FEED_BUFFERS 3			/* one under a kernel, one being filled, one between: no copy waits for the host */
#define FEED_PIECES 256			/* of a sweep, about: the finer, the more room is left for parts */
#define SHARE_PIECES 16			/* of each share of a sweep, about: one thread queues those of all */
#define FEED_LEAST UINT64_C(256)	/* chunks of a piece: 2 MB of targets; smaller ones are not worth a copy */
#define FEED_MOST UINT64_C(2048)	/* 16 MB, 0.3 ms of the link */
#define FEED_SLEEP_US 20		/* between looks at a buffer: a piece takes at least twice as long */

#define FEED_MOST_LINKS 16

/* A GPU whose copy engine brings pieces. */
typedef struct CopyPipelineLink
{
	int			device;
	cudaStream_t stream;		/* for copies, of that device */
} CopyPipelineLink;

/* What a CopyPipeline copies. */
typedef struct CopyPipelineArray
{
	const char *host;			/* pinned */
	uint32_t	entry_bytes;
	uint64_t	nkept;			/* pieces in device memory for good */
	const char *part;			/* [nkept] pieces; NULL = none */
} CopyPipelineArray;

typedef struct CopyPipeline
{
	Run		   *run;
	uint64_t	nedges;
	uint64_t	nchunks;
	uint64_t	piece_chunks;	/* of a full piece */
	uint32_t	member;			/* piece p of the CopyPipeline is piece p * nmembers + member of the lists */
	uint32_t	nmembers;
	uint64_t	npieces;		/* of a sweep; 0 = no CopyPipeline: read in place, or nothing is left for this share */
	uint64_t	ncopied;		/* pieces of a sweep that are copied, if only one of their arrays */
	int			narrays;
	CopyPipelineArray	array[2];		/* targets, weights */
	int			nlinks;
	CopyPipelineLink	link[FEED_MOST_LINKS];	/* the first is the run's own GPU; buffer b is filled by link b % nlinks */
	uint64_t	nbuffers;
	cudaEvent_t filled[FEED_MOST_LINKS * FEED_BUFFERS];	/* the copies of a piece are over */
	cudaEvent_t emptied[FEED_MOST_LINKS * FEED_BUFFERS];	/* the kernel on a piece is over */
	char	   *buffer;			/* [nbuffers] times targets, then weights, of a piece; belongs to run->memory */
	uint64_t	piece;			/* the next one for kernels; npieces = the sweep is over */
	bool		in_buffer;		/* the one taken last is */
	uint64_t	ahead;			/* the next piece to look at for copying */

	/* Copied pieces, numbered on from sweep to sweep. */
	uint64_t	allowed;		/* those below it may be copied */
	uint64_t	queued;			/* those below it are copied, or will be */
	uint64_t	taken;			/* those below it have been given to kernels */
	uint64_t	copied_bytes;	/* over the link, in sweeps */
} CopyPipeline;

/*
 * Open a CopyPipeline of lists placed in host memory, with weights of `width` bytes, 0 = none wanted; last of all that takes
 * device memory. In host placement it takes what is free, evicting nothing. When there is not enough, or little to copy,
 * npieces stays 0. A hybrid placement without any part turns into host placement. *feed is zero before. emogi_copy_pipeline_close
 * is called whatever comes of it. share: of what pieces; NULL = of all.
 */
extern EmogiStatus emogi_copy_pipeline_open(CopyPipeline *feed, Run *run, const EmogiAdjacency *adjacency, uint32_t width, const SharedStepShare *share,
								   EmogiError *error);

/* Begin a sweep; `more`: another one follows, for which it may run ahead. */
extern void emogi_copy_pipeline_begin(CopyPipeline *feed, bool more);

/*
 * Get the next pieces, until feed->piece = npieces: chunks *first .. *upto - 1, in lists->targets and weights, which are
 * set so that entries keep their numbers. Kernels that are launched next find them filled; emogi_copy_pipeline_give_back follows.
 */
extern EmogiStatus emogi_copy_pipeline_take(CopyPipeline *feed, Lists<Target> *lists, uint64_t *first, uint64_t *upto,
								   EmogiError *error);
extern EmogiStatus emogi_copy_pipeline_give_back(CopyPipeline *feed, EmogiError *error);

/* End a sweep: queue copies of the next one, as far as it may run ahead. */
extern EmogiStatus emogi_copy_pipeline_end(CopyPipeline *feed, EmogiError *error);

/* Wait for the copies under way and free everything but the memory of the run. */
extern void emogi_copy_pipeline_close(CopyPipeline *feed);

#endif							/* EMOGI_COPY_PIPELINE_CUH */
