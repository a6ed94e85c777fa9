/*
 * queue_buffer.h: one thread's buffer in front of a shared queue; vertices are appended many at a
 * time.
 */
#ifndef EMOGI_QUEUE_BUFFER_H
#define EMOGI_QUEUE_BUFFER_H

#include "threads/job.h"

#include <string.h>

#define EMOGI_QUEUE_BUFFER_SIZE 256

/* Vertices found by one thread and not yet appended to the queue. Set count to 0 first. */
typedef struct EmogiQueueBuffer
{
	uint64_t	count;
	uint32_t	vertices[EMOGI_QUEUE_BUFFER_SIZE];
} EmogiQueueBuffer;

/* Append the buffered vertices to the queue. tail: the queue's length, shared by all threads. */
static inline void
emogi_queue_buffer_flush(EmogiQueueBuffer *found, uint32_t *queue, uint64_t *tail)
{
	const uint64_t place = emogi_job_claim(tail, found->count);

	memcpy(queue + place, found->vertices, found->count * sizeof *found->vertices);
	found->count = 0;
}

/* Add a vertex, flushing the buffer if it is full. */
static inline void
emogi_queue_buffer_add(EmogiQueueBuffer *found, uint32_t v, uint32_t *queue, uint64_t *tail)
{
	if (found->count == EMOGI_QUEUE_BUFFER_SIZE)
		emogi_queue_buffer_flush(found, queue, tail);
	found->vertices[found->count++] = v;
}

#endif							/* EMOGI_QUEUE_BUFFER_H */
