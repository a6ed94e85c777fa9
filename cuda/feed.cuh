/*
 * feed.cuh: edges from host memory by the copy engine, piece by piece, under the kernels that read the pieces before.
 *
 * For an algorithm that reads all edges in order, again and again: the copy engine gets 55 GB/s out of the link where
 * kernels that read in place get 50. A Feed has FEED_BUFFERS buffers in device memory, a stream of its own for copies,
 * and runs ahead of the kernels, into the next sweep too. Pieces are numbered on from sweep to sweep.
 *
 * The host waits, polling cancel, until a buffer's kernel is over before it queues the next copy into it, so when a run
 * is canceled no more than FEED_BUFFERS copies are under way (2 ms). Only the host thread of the run touches a Feed.
 */
#ifndef EMOGI_FEED_CUH
#define EMOGI_FEED_CUH

#include "chunks.cuh"

#define FEED_BUFFERS 3
#define FEED_CHUNKS (UINT64_C(1) << 15)	/* of a piece: 32 MB of targets, 0.6 ms of the link */

typedef struct Feed
{
	Run		   *run;
	const EmogiAdjacency *adjacency;	/* in host memory that is pinned */
	uint32_t	width;			/* bytes of a weight; 0 = none wanted */
	uint64_t	nchunks;
	uint64_t	npieces;		/* of a sweep; 0 = no Feed: read in place */
	cudaStream_t stream;		/* for copies */
	cudaEvent_t filled[FEED_BUFFERS];	/* the copies of a piece are over */
	cudaEvent_t emptied[FEED_BUFFERS];	/* the kernel on a piece is over */
	char	   *buffer;			/* [FEED_BUFFERS] times targets, then weights, of a piece; belongs to run->memory */
	uint64_t	allowed;		/* pieces below it may be copied */
	uint64_t	queued;			/* pieces below it are copied, or will be */
	uint64_t	taken;			/* pieces below it have been given to kernels */
	uint64_t	copied_bytes;	/* over the link */
} Feed;

/*
 * Open a Feed of a Graph placed in host memory. Takes device memory that is free, evicting nothing. When there is not
 * enough, or little to copy, npieces stays 0. *feed is zero before. emogi_feed_close is called whatever comes of it.
 */
extern EmogiStatus emogi_feed_open(Feed *feed, Run *run, const EmogiAdjacency *adjacency, uint32_t width,
								   EmogiError *error);

/* Begin a sweep; `more`: another one follows, for which it may run ahead. */
extern void emogi_feed_begin(Feed *feed, bool more);

/*
 * Get the next piece: chunks *first .. *upto - 1, in lists->targets and weights, which are set so that entries keep
 * their numbers. Kernels that are launched next find it filled; emogi_feed_give_back follows them.
 */
extern EmogiStatus emogi_feed_take(Feed *feed, Lists<Target> *lists, uint64_t *first, uint64_t *upto,
								   EmogiError *error);
extern EmogiStatus emogi_feed_give_back(Feed *feed, EmogiError *error);

/* End a sweep: queue copies of the next one, as far as it may run ahead. */
extern EmogiStatus emogi_feed_end(Feed *feed, EmogiError *error);

/* Wait for the copies under way and free everything but the buffer. */
extern void emogi_feed_close(Feed *feed);

#endif							/* EMOGI_FEED_CUH */
