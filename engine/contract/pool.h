/*
 * pool.h: the clock and the memory of the engines' thread pools, for their callers.
 */
#ifndef EMOGI_POOL_H
#define EMOGI_POOL_H

#include <stdbool.h>
#include <stddef.h>

/* A pool of threads (threads/pool.h) */
typedef struct EmogiPool EmogiPool;

/*
 * Allocate and map the pages of [start, start + bytes) for writing from the calling thread by
 * MADV_POPULATE_WRITE. On a sparse shared mapping, this allocates the memory now (an error here
 * instead of a SIGBUS later) and avoids page faults. Before Linux 5.14, do nothing and return true.
 * False = out of memory.
 */
extern bool emogi_pool_populate(void *start, size_t bytes);

/* Get the monotonic time in milliseconds. */
extern double emogi_pool_now_ms(void);

#endif							/* EMOGI_POOL_H */
