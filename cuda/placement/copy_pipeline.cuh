/*
 * copy_pipeline.cuh: transfer of edges from host memory by the copy engine, piece by piece,
 * overlapped with the kernels that read the previous pieces.
 *
 * This is for algorithms that read all edges in order, repeatedly: the copy engine gets 55 GB/s out
 * of the link, whereas kernels that read in place get 50. A CopyPipeline has PIPELINE_BUFFERS
 * buffers in device memory and a stream of its own for copies, and runs ahead of the kernels, into
 * the next sweep too.
 *
 * If the machine has other GPUs and the query names them, their copy engines transfer pieces too,
 * each over its own link into the buffers of this GPU: pieces are assigned to links round-robin,
 * and there are PIPELINE_BUFFERS buffers per link. So N links act as one of N times the rate, and
 * neither the kernels nor their results change. This requires buffers in memory of a pool, which
 * can be made accessible to other GPUs: a copy into other memory is made by the engine of the GPU
 * that owns it.
 *
 * In hybrid placement, as many pieces as fit, a part of each array, are resident in device memory
 * and are not copied in sweeps. They are spread evenly among the others, so that the copy engine
 * always has a buffer to fill. A part is cached for a graph with an id (device_cache.cuh). Its key
 * is the number of its pieces, because the graph determines their size and which they are. A part
 * with all pieces is a copy of the whole array like any other.
 *
 * If GPUs share a step (shared_step.cuh), each has a CopyPipeline for its own share of the pieces,
 * every nmembers-th, over its own link, and caches parts of that share.
 *
 * The host waits, polling cancel, until a buffer's kernel has finished before it queues the next
 * copy into that buffer. So when a run is canceled, at most PIPELINE_BUFFERS copies per link are in
 * flight (1 ms). Only the host thread of the run uses a CopyPipeline.
 */
#ifndef EMOGI_COPY_PIPELINE_CUH
#define EMOGI_COPY_PIPELINE_CUH

#include "cuda/access/edge_chunks.cuh"
#include "cuda/multi_gpu/shared_step.cuh"

/*
 * Tuned constants: PIPELINE_BUFFERS of 6130b04, the others of 753e333. With them PageRank in host
 * placement on an NVIDIA H200 reaches 98 % of the copy engine's rate (bench/RESULTS.md, ad4a202).
 */
/* one read by a kernel, one being filled, one between: no copy waits for the host */
#define PIPELINE_BUFFERS 3
#define PIPELINE_PIECES 256			/* per sweep, about: finer pieces leave more memory for parts */
#define SHARE_PIECES 16	/* per share of a sweep, about: one thread queues those of all shares */
/* chunks per piece: 2 MB of targets; smaller ones are not worth a copy */
#define PIPELINE_MIN_CHUNKS UINT64_C(256)
#define PIPELINE_MAX_CHUNKS UINT64_C(2048)	/* 16 MB, 0.3 ms of the link */
/* between polls of a buffer: a piece takes at least twice as long */
#define PIPELINE_SLEEP_US 20

#define PIPELINE_MAX_LINKS 16

/* A GPU whose copy engine transfers pieces. */
typedef struct CopyPipelineLink
{
	int			device;
	cudaStream_t stream;		/* for copies, on that device */
} CopyPipelineLink;

/* An array that a CopyPipeline copies. */
typedef struct CopyPipelineArray
{
	const char *host;			/* pinned */
	uint32_t	entry_bytes;
	uint64_t	nkept;			/* number of resident pieces */
	const char *part;			/* [nkept] resident pieces; NULL = none */
} CopyPipelineArray;

typedef struct CopyPipeline
{
	Run		   *run;
	uint64_t	nedges;
	uint64_t	nchunks;
	uint64_t	piece_chunks;	/* per full piece */
	/* piece p of the CopyPipeline is piece p * nmembers + member of the lists */
	uint32_t	member;
	uint32_t	nmembers;
	/* per sweep; 0 = no CopyPipeline: read in place, or nothing is left for this share */
	uint64_t	npieces;
	uint64_t	ncopied;	/* pieces per sweep that are copied, for at least one of their arrays */
	int			narrays;
	CopyPipelineArray array[2];	/* targets, weights */
	int			nlinks;
	/* link[0] is that of the run's own GPU; buffer b is filled over link b % nlinks */
	CopyPipelineLink link[PIPELINE_MAX_LINKS];
	uint64_t	nbuffers;
	/* the copies of a piece have finished; the kernel on a piece has finished */
	cudaEvent_t filled[PIPELINE_MAX_LINKS * PIPELINE_BUFFERS];
	cudaEvent_t emptied[PIPELINE_MAX_LINKS * PIPELINE_BUFFERS];
	/* [nbuffers], each the targets, then the weights of a piece; belongs to run->memory */
	char	   *buffer;
	uint64_t	piece;			/* the next one for kernels; npieces = end of the sweep */
	bool		in_buffer;		/* the piece taken last is in a buffer */
	uint64_t	ahead;			/* the next piece to consider for copying */

	/* Numbers of copied pieces, which continue from sweep to sweep. */
	uint64_t	allowed;		/* pieces below it may be copied */
	uint64_t	queued;			/* pieces below it have been queued */
	uint64_t	taken;			/* pieces below it have been passed to kernels */
	uint64_t	copied_bytes;	/* over the link, by sweeps */
} CopyPipeline;

/*
 * Open a CopyPipeline for lists placed in host memory, with weights of `width` bytes, 0 = none.
 * This must be the last allocation of device memory. In host placement it uses free memory and
 * evicts nothing. If there is not enough memory, or little to copy, npieces stays 0. A hybrid
 * placement without any part becomes host placement. *pipeline must be zeroed. The caller calls
 * emogi_copy_pipeline_close on every path. share: the share of the pieces; NULL = all.
 */
extern EmogiStatus emogi_copy_pipeline_open(CopyPipeline *pipeline, Run *run,
											const EmogiAdjacency *adjacency, uint32_t width,
											const SharedStepShare *share, EmogiError *error);

/* Begin a sweep; more: another one follows, for which the pipeline may run ahead. */
extern void emogi_copy_pipeline_begin(CopyPipeline *pipeline, bool more);

/*
 * Get the next pieces, until pipeline->piece = npieces: chunks *first .. *upto - 1, in
 * lists->targets and weights, which are set so that edges keep their numbers. Kernels launched next
 * find the pieces filled; then the caller calls emogi_copy_pipeline_give_back.
 */
extern EmogiStatus emogi_copy_pipeline_take(CopyPipeline *pipeline, Lists<Target> *lists,
											uint64_t *first, uint64_t *upto, EmogiError *error);
extern EmogiStatus emogi_copy_pipeline_give_back(CopyPipeline *pipeline, EmogiError *error);

/* End a sweep: queue copies of the next one as far as the pipeline may run ahead. */
extern EmogiStatus emogi_copy_pipeline_end(CopyPipeline *pipeline, EmogiError *error);

/* Wait for the copies in flight and free everything but the memory of the run. */
extern void emogi_copy_pipeline_close(CopyPipeline *pipeline);

#endif							/* EMOGI_COPY_PIPELINE_CUH */
