/*
 * pool.h: the thread pool of the CPU engine.
 *
 * Threads are made with every signal blocked, so that the process's handlers (PostgreSQL's) never run in them.
 * The caller of emogi_pool_run takes part as thread 0.
 */
#ifndef EMOGI_POOL_H
#define EMOGI_POOL_H

#include "contract/engine.h"

typedef struct EmogiPool EmogiPool;

/* The body of a parallel step: called once in each thread, thread = 0 .. nthreads-1. */
typedef void (*EmogiPoolTask) (void *arg, int thread, int nthreads);

/* Make a pool of nthreads (>= 1, the caller included); NULL when threads or memory cannot be had. */
extern EmogiPool *emogi_pool_create(int nthreads);
extern void emogi_pool_destroy(EmogiPool *pool);
extern int	emogi_pool_size(const EmogiPool *pool);

/* Run task in all threads and return when the last has finished. Not reentrant; one caller at a time. */
extern void emogi_pool_run(EmogiPool *pool, EmogiPoolTask task, void *arg);

/*
 * Allocate and map the pages of [start, start + bytes) for writing, from the calling thread: MADV_POPULATE_WRITE,
 * which on a sparse shared mapping both takes the memory (an error here, not a SIGBUS later) and spares the faults.
 * On a kernel without it (before 5.14) does nothing and returns true. False = out of memory.
 */
extern bool emogi_pool_populate(void *start, size_t bytes);

/* Milliseconds on a clock that only goes forward. */
extern double emogi_pool_now_ms(void);

#endif							/* EMOGI_POOL_H */
