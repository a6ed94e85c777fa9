/*
 * peer_memory.cuh: memory of several GPUs at addresses in a row, which kernels of one of them read as they read their own.
 *
 * Edges that the memory of a run's GPU cannot hold lie partly in that of others, and come over NVLink, or whatever leads from GPU to GPU, at several times the
 * rate of the link to the host. A spread array is cut into pieces, mapped side by side (the driver's virtual memory management); the pieces of each GPU are
 * dealt out evenly, so that a reading in order is bound by neither memory nor link alone. The state whose run takes it is its owner, and frees it by
 * emogi_memory_free, as any other block; the states that lend it memory have helped with that run, and nobody else had them then.
 *
 * Afterwards lenders have runs of their own. One that is short of memory takes back what an owner keeps that is not at work: the owner's copy is dropped.
 * For that each state has a lock, which whoever uses it holds; lenders only try it.
 */
#ifndef EMOGI_PEER_MEMORY_CUH
#define EMOGI_PEER_MEMORY_CUH

#include "cuda/core/device.cuh"

#define SPREAD_MOST_PIECES 128	/* of a block: an even mixture, and few calls of the driver */

/*
 * Get the bytes that the helpers of a state may lend it for a Graph: what is free there beside some headroom, and what they keep of that Graph as helpers; nothing
 * else is evicted. The second has them drop what they keep of it. The state's device stays the current one.
 */
extern uint64_t emogi_peer_memory_room(EmogiEngineState *state, uint64_t graph_id);
extern void emogi_peer_memory_make_room(EmogiEngineState *state, uint64_t graph_id);

/*
 * Take memory of the state's own GPU, a share of it from 0 to 1, and of its helpers, as emogi_memory_take does of one. NO_MEMORY where there is too little, or
 * where the driver or the GPUs cannot do it.
 */
extern EmogiStatus emogi_peer_memory_take(DeviceMemory *memory, void **out, uint64_t bytes, double own_share, const char *what, EmogiError *error);

/* Copy an array of the host into spread memory that has just been taken, over the links of all its GPUs, and wait. */
extern EmogiStatus emogi_peer_memory_fill(EmogiEngineState *state, const void *block, const void *from, uint64_t bytes, EmogiControl *control,
									 EmogiError *error);

/* Say whether a block of a state is spread, and whether another state's GPU may read it: those that helped when it was taken may. */
extern bool emogi_peer_memory_is(const EmogiEngineState *state, const void *block);
extern bool emogi_peer_memory_reads(const EmogiEngineState *state, const void *block, const EmogiEngineState *other);

/* Get whose memory the pieces of a spread block are. */
typedef struct PeerMemoryLayout
{
	uint64_t	piece_bytes;
	int			npieces;		/* the last may be used in part */
	const EmogiEngineState *lender[SPREAD_MOST_PIECES];	/* the state itself, too */
} PeerMemoryLayout;

extern bool emogi_peer_memory_layout(const EmogiEngineState *state, const void *block, PeerMemoryLayout *layout);

/* Begin, so that memory.cu knows how such memory is freed, and reclaimed. End: have all drop what a state lends. Nobody else is at work then. */
extern void emogi_peer_memory_open(EmogiEngineState *state);
extern void emogi_peer_memory_close(EmogiEngineState *lender);

#endif							/* EMOGI_PEER_MEMORY_CUH */
