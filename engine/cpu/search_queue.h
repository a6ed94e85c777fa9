/*
 * search_queue.h: the queue of a side of a bidirectional search, which is a heap or, without
 * weights, a FIFO
 */
#ifndef EMOGI_SEARCH_QUEUE_H
#define EMOGI_SEARCH_QUEUE_H

#include "threads/job.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define FANOUT 4				/* of the heaps */
#define MIN_QUEUE_ENTRIES 256
/* Bounds the relative difference of two sums of a path's weights: see path_search.c. */
#define SLACK (1.0 + 1.0 / 131072.0)	/* 1 + 2^-17 */

/* A queued vertex; stale if it has a better label now. */
typedef struct Entry
{
	double		distance;
	uint32_t	hops;			/* from the source; 0 from the target */
	uint32_t	vertex;
} Entry;

typedef struct Queue
{
	bool		is_heap;
	Entry	   *entries;		/* [room], those from head to end - 1 are in the queue */
	uint64_t	head;			/* 0 in a heap; in a FIFO, the entries before it were removed */
	uint64_t	end;
	uint64_t	room;
} Queue;

/* Get the first slot to probe for a vertex in a hash table of 2^bits slots. */
static inline uint64_t
first_slot(uint32_t v, int bits)
{
	return v * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits);
}

/* Get the number of entries. */
static inline uint64_t
queue_length(const Queue *queue)
{
	return queue->end - queue->head;
}

/* Get the distance of the first entry; +inf if there is none. */
static inline double
queue_distance(const Queue *queue)
{
	return queue->head < queue->end ? queue->entries[queue->head].distance : (double) INFINITY;
}

/* Make room for `more` entries; false if out of memory. */
static inline bool
queue_reserve(Queue *queue, uint64_t more, EmogiJob *job)
{
	uint64_t	room = queue->room * 2 + MIN_QUEUE_ENTRIES;
	Entry	   *larger = NULL;

	if (queue->end + more <= queue->room)
		return true;
	if (room < queue->end + more)
		room = queue->end + more;
	if (emogi_job_may_allocate(job))
		larger = realloc(queue->entries, room * sizeof(Entry));
	if (larger == NULL)
		return false;
	queue->entries = larger;
	queue->room = room;
	return true;
}

/* Return true if entry a is settled before b. */
static inline bool
is_before(const Entry *a, const Entry *b)
{
	return a->distance < b->distance || (a->distance == b->distance && a->hops < b->hops);
}

/* Add an entry to a queue, which must have room. */
static inline void
queue_push(Queue *queue, Entry entry)
{
	Entry	   *entries = queue->entries;
	uint64_t	i = queue->end++;

	if (queue->is_heap)
		for (; i > 0 && is_before(&entry, &entries[(i - 1) / FANOUT]); i = (i - 1) / FANOUT)
			entries[i] = entries[(i - 1) / FANOUT];
	entries[i] = entry;
}

/* Remove the first entry of a nonempty queue. */
static inline Entry
queue_pop(Queue *queue)
{
	Entry	   *entries = queue->entries;
	const Entry first = entries[queue->head];
	Entry		last;
	uint64_t	i = 0;

	if (!queue->is_heap)
	{
		queue->head++;
		return first;
	}
	last = entries[--queue->end];
	while (FANOUT * i + 1 < queue->end)
	{
		uint64_t	child = FANOUT * i + 1;
		const uint64_t end = child + FANOUT < queue->end ? child + FANOUT : queue->end;

		for (uint64_t other = child + 1; other < end; other++)
			if (is_before(&entries[other], &entries[child]))
				child = other;
		if (!is_before(&entries[child], &last))
			break;
		entries[i] = entries[child];
		i = child;
	}
	entries[i] = last;
	return first;
}

#endif							/* EMOGI_SEARCH_QUEUE_H */
