/*
 * staged_gather.c: gathering of a graph's lists by the threads of a pool.
 */
#include "cuda/papers/staged_gather.h"

#include <string.h>

#include "threads/pool.h"

/* lists copied between two polls of cancel: each may cost a cache miss or two */
#define LISTS_PER_CHECK 1024

/* Copy entries that are contiguous in the graph, from `entry` on, to position `at`. */
static void
copy_entries(const EmogiStagedGather *gather, uint64_t entry, uint64_t count, uint64_t at)
{
	const uint64_t width = gather->weight_bytes;

	memcpy(gather->targets + at, gather->adjacency->targets + entry,
		   count * sizeof(*gather->targets));
	if (width > 0)
		memcpy(gather->weights + at * width,
			   (const char *) gather->adjacency->weights + entry * width, count * width);
}

/* Return the list that contains an entry of the SubCSR. */
static uint64_t
find_list(const EmogiStagedGather *gather, uint64_t entry)
{
	uint64_t	low = 0;
	uint64_t	high = gather->nlists;	/* start[low] <= entry < start[high] */

	while (high - low > 1)
	{
		const uint64_t middle = low + (high - low) / 2;

		if (gather->start[middle] <= entry)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Copy this thread's share: lists, or parts of them. */
static void
gather_share(void *arg, int thread, int nthreads)
{
	const EmogiStagedGather *gather = arg;
	const uint64_t length = gather->upto - gather->from;
	const uint64_t upto = gather->from + length * ((uint64_t) thread + 1) / (uint64_t) nthreads;
	uint64_t	entry = gather->from + length * (uint64_t) thread / (uint64_t) nthreads;

	if (entry == upto)
		return;
	if (gather->start == NULL)
	{
		copy_entries(gather, entry, upto - entry, entry - gather->from);
		return;
	}
	for (uint64_t list = find_list(gather, entry); entry < upto; list++)
	{
		const uint64_t start = gather->start[list];
		const uint64_t end = gather->start[list + 1] < upto ? gather->start[list + 1] : upto;

		if (list % LISTS_PER_CHECK == 0 && *gather->cancel)
			return;
		copy_entries(gather, gather->adjacency->offsets[gather->vertex[list]] + (entry - start),
					 end - entry, entry - gather->from);
		entry = end;
	}
}

EmogiPool *
emogi_staged_gather_open(int32_t nthreads)
{
	return emogi_pool_create(nthreads);
}

void
emogi_staged_gather_close(EmogiPool *pool)
{
	emogi_pool_destroy(pool);
}

bool
emogi_staged_gather(EmogiPool *pool, EmogiStagedGather *gather)
{
	if (*gather->cancel)
		return false;
	emogi_pool_run(pool, gather_share, gather);
	return !*gather->cancel;
}
