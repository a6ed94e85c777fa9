/*
 * peer_memory.cuh: arrays in the memory of several GPUs at contiguous addresses, which kernels of
 * one GPU read like local memory.
 *
 * Edges that do not fit in the memory of a run's GPU are placed partly in that of others, and are
 * read over NVLink or another GPU interconnect, at several times the rate of the link to the host.
 * An array is cut into pieces that are mapped contiguously (the driver's virtual memory
 * management). The pieces of each GPU are interleaved evenly, so that a sequential read is bound by
 * neither memory nor link alone. The state whose run allocates the array is its owner, and frees it
 * by emogi_memory_free like any other block. The states that lend memory for it are helpers of that
 * run, which reserves them exclusively.
 *
 * Afterwards lenders have runs of their own. A lender that is short of memory reclaims an array
 * whose owner is idle: the owner's copy is dropped. For this each state has a lock, which every
 * user of the state holds; lenders only try it.
 */
#ifndef EMOGI_PEER_MEMORY_CUH
#define EMOGI_PEER_MEMORY_CUH

#include "cuda/core/device.cuh"

#define PEER_MAX_PIECES 128	/* per block: an even mixture, and few driver calls */

/*
 * Return the bytes that the helpers of a state may lend it for a graph: their free memory minus
 * some headroom, and their own copies of that graph; nothing else is evicted. The second function
 * makes them drop those copies. The state's device stays the current one.
 */
extern uint64_t emogi_peer_memory_room(EmogiEngineState *state, uint64_t graph_id);
extern void emogi_peer_memory_make_room(EmogiEngineState *state, uint64_t graph_id);

/*
 * Allocate memory of the state's own GPU, a share of it from 0 to 1, and of its helpers, as
 * emogi_memory_take does on one GPU. Return NO_MEMORY if there is too little, or if the driver or
 * the GPUs do not support it.
 */
extern EmogiStatus emogi_peer_memory_take(DeviceMemory *memory, void **out, uint64_t bytes,
										  double own_share, const char *what, EmogiError *error);

/* Copy a host array into newly allocated peer memory, over the links of all its GPUs, and wait. */
extern EmogiStatus emogi_peer_memory_fill(EmogiEngineState *state, const void *block,
										  const void *from, uint64_t bytes, EmogiControl *control,
										  EmogiError *error);

/*
 * Return whether a block of a state is peer memory, and whether another state's GPU may read it:
 * the helpers at its allocation may.
 */
extern bool emogi_peer_memory_is(const EmogiEngineState *state, const void *block);
extern bool emogi_peer_memory_reads(const EmogiEngineState *state, const void *block,
									const EmogiEngineState *other);

/* Get the lenders of the pieces of a block of peer memory. */
typedef struct PeerMemoryLayout
{
	uint64_t	piece_bytes;
	int			npieces;		/* the last one may be used in part */
	const EmogiEngineState *lender[PEER_MAX_PIECES];	/* may be the state itself */
} PeerMemoryLayout;

extern bool emogi_peer_memory_layout(const EmogiEngineState *state, const void *block,
									 PeerMemoryLayout *layout);

/*
 * Open: register the callbacks by which memory.cu frees and reclaims peer memory. Close: make all
 * owners drop the arrays for which a state lends memory. Everyone else must be idle then.
 */
extern void emogi_peer_memory_open(EmogiEngineState *state);
extern void emogi_peer_memory_close(EmogiEngineState *lender);

#endif							/* EMOGI_PEER_MEMORY_CUH */
