/*
 * kcore.cuh: degrees and the work queue of k-core peeling (kcore.cu).
 *
 * Degrees have 8, 16 or 32 bits, whichever holds the maximum. Most graphs without hubs fit in 8
 * bits, so that all degrees stay in the L2 cache, where an atomic takes a sixth of its time in
 * device memory.
 *
 * A queue has two counters that all warps update, each at one address, which the cache serializes.
 * So a warp takes up to WARP_LANES items at a time, depending on how many are queued. It buffers
 * new items until there are MAX_KEPT of them or its own items are finished. If items are scarce, it
 * takes MIN_TAKEN and buffers nothing, because the chain waits for every step.
 */
#ifndef EMOGI_KCORE_CUH
#define EMOGI_KCORE_CUH

#include "cuda/access/set_reads.cuh"

#define NO_ITEM UINT64_MAX		/* in the queue: not filled yet */
#define REST 0x80000000u		/* of an item: it is a slice of a long list, not the first */
#define MIN_TAKEN WARP_LINES	/* items at a time: one for each LINE_LANES lanes */
#define MAX_KEPT 32				/* items that a warp buffers before it queues them */
#define KEPT_ROOM (MAX_KEPT + WARP_LANES * PIECE)

/* ---- degrees ---- */

/* Get a degree of BITS bits. */
template <uint32_t BITS>
static __device__ __forceinline__ int32_t
get_degree(const uint32_t *degrees, uint64_t vertex)
{
	if constexpr (BITS == 8)
		return ((const uint8_t *) degrees)[vertex];
	else if constexpr (BITS == 16)
		return ((const uint16_t *) degrees)[vertex];
	else
		return ((const int32_t *) degrees)[vertex];
}

/*
 * Add 1 or -1 to a degree. Return the previous word, for degree_in, which first waits for it. The
 * other degrees of the word are not affected: a degree never drops below 0, because each neighbor
 * decrements it once, and it never exceeds its initial value.
 */
template <uint32_t BITS>
static __device__ __forceinline__ uint32_t
change_degree(uint32_t *degrees, uint32_t vertex, int32_t difference)
{
	constexpr uint32_t EACH = 32 / BITS;

	return atomicAdd(&degrees[vertex / EACH], (uint32_t) difference << vertex % EACH * BITS);
}

/* Extract a vertex's degree from its word. */
template <uint32_t BITS>
static __device__ __forceinline__ int32_t
degree_in(uint32_t word, uint32_t vertex)
{
	return (int32_t) (word >> vertex % (32 / BITS) * BITS & (UINT32_MAX >> (32 - BITS)));
}

/* ---- the queue ---- */

/*
 * The queue of vertices to peel. An item is a vertex in the upper half; the lower half is the
 * number of steps of its chain, or REST and the number of a slice. In device memory; each counter
 * is on a line of its own.
 */
typedef struct PeelQueue
{
	unsigned long long *item;	/* [capacity], NO_ITEM until filled */
	uint64_t	capacity;
	unsigned long long *head;	/* next place to take; may run ahead of the queued items */
	/*
	 * items queued (upper half) and items finished (lower half): one word, so a reader that sees
	 * the second sees the first
	 */
	unsigned long long *state;
} PeelQueue;

/* A warp's buffer of updates to the queue. Uniform across the warp. */
typedef struct PeelBuffer
{
	unsigned long long *kept;	/* [KEPT_ROOM], shared memory: items not yet queued */
	uint32_t	nkept;
	/* finished items not yet reported; everything they produced is queued or in `kept` */
	uint32_t	ndone;
	uint64_t	queued;			/* items in the queue when last read */
} PeelBuffer;

/*
 * The batch that a warp took from the queue: one place for each lane of `todo`. Uniform across the
 * warp except `item` and `list`.
 */
typedef struct PeelBatch
{
	uint64_t	first;			/* place of the first lane */
	uint32_t	size;
	uint32_t	todo;			/* lanes whose items are not finished */
	unsigned long long item;	/* NO_ITEM: none, or not filled yet */
	Span		list;			/* of its vertex */
} PeelBatch;

/*
 * Reserve `count` places in the queue, and report `ndone` finished items. Return the first place.
 * Called by whole warps.
 */
static __device__ __forceinline__ uint64_t
take_places(const PeelQueue &queue, uint32_t count, uint32_t ndone)
{
	unsigned long long place = 0;

	if (lane_number() == 0)
		place = atomicAdd(queue.state, (unsigned long long) count << 32 | ndone) >> 32;
	return __shfl_sync(FULL_WARP, place, 0);
}

/* Queue an item. */
static __device__ __forceinline__ void
put_item(const PeelQueue &queue, uint64_t place, unsigned long long item)
{
	*(volatile unsigned long long *) &queue.item[place] = item;
}

/* Flush the buffered items, and report the finished ones. Called by whole warps. */
static __device__ __forceinline__ void
flush_buffer(const PeelQueue &queue, PeelBuffer *buffer)
{
	const uint64_t place = take_places(queue, buffer->nkept, buffer->ndone);

	__syncwarp();				/* other lanes have written kept[] */
#pragma unroll 1
	for (uint32_t i = lane_number(); i < buffer->nkept; i += WARP_LANES)
		put_item(queue, place + i, buffer->kept[i]);
	__syncwarp();				/* kept[] has been read */
	buffer->queued = place + buffer->nkept;
	buffer->nkept = buffer->ndone = 0;
}

/*
 * Buffer those of a lane's targets that have dropped to the level, after `steps` steps. Flush if
 * more than `max` are buffered. Called by whole warps.
 */
static __device__ __forceinline__ void
keep_fallen(const PeelQueue &queue, PeelBuffer *buffer, const Target (&target)[PIECE],
			uint32_t fallen, uint32_t steps, uint32_t max)
{
	const uint32_t upto = warp_prefix_sum(__popc(fallen));
	uint32_t	at = buffer->nkept + upto - __popc(fallen);

#pragma unroll
	for (uint32_t j = 0; j < PIECE; j++)
		if (fallen >> j & 1)
			buffer->kept[at++] = (unsigned long long) target[j] << 32 | steps;
	buffer->nkept += __shfl_sync(FULL_WARP, upto, WARP_LANES - 1);
	if (buffer->nkept > max)
		flush_buffer(queue, buffer);
}

/*
 * Queue the slices of long lists, except the first, for the lanes with `cut`. Called by whole
 * warps.
 */
static __device__ __forceinline__ void
queue_rest(const PeelQueue &queue, bool cut, uint32_t vertex, uint64_t nlines)
{
	const uint32_t nslices = (uint32_t) ((nlines + SLICE_LINES - 1) / SLICE_LINES);
	uint32_t	lanes = __ballot_sync(FULL_WARP, cut);

	while (lanes != 0)
	{
		const uint32_t lane = __ffs(lanes) - 1;
		const uint32_t its_vertex = __shfl_sync(FULL_WARP, vertex, lane);
		const uint32_t its_slices = __shfl_sync(FULL_WARP, nslices, lane);
		const uint64_t place = take_places(queue, its_slices - 1, 0);

		lanes &= lanes - 1;
#pragma unroll 1
		for (uint32_t s = 1 + lane_number(); s < its_slices; s += WARP_LANES)
			put_item(queue, place + s - 1, (unsigned long long) its_vertex << 32 | REST | s);
	}
}

/* Start taking from the queue. Called by whole warps. */
static __device__ __forceinline__ PeelBatch
begin_batches(const PeelQueue &queue, PeelBuffer *buffer)
{
	unsigned long long head = 0;
	unsigned long long state = 0;

	if (lane_number() == 0)
	{
		head = *(volatile unsigned long long *) queue.head;
		state = *(volatile unsigned long long *) queue.state;
	}
	buffer->nkept = buffer->ndone = 0;
	buffer->queued = __shfl_sync(FULL_WARP, state, 0) >> 32;
	return PeelBatch{__shfl_sync(FULL_WARP, head, 0), 0, 0, NO_ITEM, {0, 0}};
}

/*
 * Take the next places: half of the warp's share of the items that are not taken, as far as it
 * knows. It assumes that every other warp has taken as many as itself since the counters were read.
 * Called by whole warps.
 */
static __device__ __forceinline__ void
take_batch(const PeelQueue &queue, const PeelBuffer &buffer, PeelBatch *batch)
{
	const int64_t nwarps = (int64_t) gridDim.x * BLOCK_WARPS;
	const int64_t left = (int64_t) (buffer.queued - batch->first) - batch->size -
		nwarps * batch->size;
	const int64_t share = left / (2 * nwarps);
	unsigned long long first = 0;

	batch->size = share <= (int64_t) MIN_TAKEN ? MIN_TAKEN : share >= WARP_LANES ? WARP_LANES :
		(uint32_t) share;
	if (lane_number() == 0)
		first = atomicAdd(queue.head, (unsigned long long) batch->size);
	batch->first = __shfl_sync(FULL_WARP, first, 0);
	batch->todo = FULL_WARP >> (WARP_LANES - batch->size);
}

/*
 * Read the items that are filled, and the spans of their lists. Return the lanes that have an item.
 * Called by whole warps.
 */
static __device__ __forceinline__ uint32_t
read_items(const PeelQueue &queue, const uint64_t *offsets, PeelBatch *batch)
{
	const uint64_t place = batch->first + lane_number();

	if ((batch->todo >> lane_number() & 1) != 0 && batch->item == NO_ITEM && place < queue.capacity)
	{
		batch->item = *(volatile unsigned long long *) &queue.item[place];
		if (batch->item != NO_ITEM)
			batch->list = Span{__ldg(&offsets[batch->item >> 32]),
				__ldg(&offsets[(batch->item >> 32) + 1])};
	}
	return __ballot_sync(FULL_WARP, batch->item != NO_ITEM);
}

/*
 * Choose up to one of the lanes in `ready` for each group of LINE_LANES lanes, and remove it from
 * the batch. Return the lanes chosen. item and list: those of the group's lane, NO_ITEM = none.
 * Called by whole warps.
 */
static __device__ __forceinline__ uint32_t
choose_items(PeelBatch *batch, uint32_t ready, unsigned long long *item, Span *list)
{
	uint32_t	left = ready;
	uint32_t	source = WARP_LANES;

#pragma unroll
	for (uint32_t g = 0; g < WARP_LINES; g++)
	{
		if (g == lane_number() / LINE_LANES && left != 0)
			source = __ffs(left) - 1;
		left &= left - 1;
	}
	*item = __shfl_sync(FULL_WARP, batch->item, source % WARP_LANES);
	list->start = __shfl_sync(FULL_WARP, batch->list.start, source % WARP_LANES);
	list->end = __shfl_sync(FULL_WARP, batch->list.end, source % WARP_LANES);
	if (source == WARP_LANES)
		*item = NO_ITEM;
	batch->todo &= left | ~ready;
	if ((ready & ~left) >> lane_number() & 1)
		batch->item = NO_ITEM;
	return ready & ~left;
}

#endif							/* EMOGI_KCORE_CUH */
