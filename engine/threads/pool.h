/*
 * pool.h: thread pool of the CPU engine.
 *
 * All signals are blocked in the threads, so the signal handlers of the process (PostgreSQL's)
 * never run in them. The caller of emogi_pool_run participates as thread 0.
 */
#ifndef EMOGI_THREADS_POOL_H
#define EMOGI_THREADS_POOL_H

#include "contract/engine.h"
#include "contract/pool.h"

/* Body of a parallel step, called once in each thread: thread = 0 .. nthreads-1. */
typedef void (*EmogiPoolTask) (void *arg, int thread, int nthreads);

/*
 * Create a pool of nthreads >= 1 threads, including the caller; NULL if threads or memory are
 * exhausted.
 */
extern EmogiPool *emogi_pool_create(int nthreads);
extern void emogi_pool_destroy(EmogiPool *pool);
extern int	emogi_pool_size(const EmogiPool *pool);

/*
 * Run task in all threads and return after the last has finished. Not reentrant; one caller at a
 * time.
 */
extern void emogi_pool_run(EmogiPool *pool, EmogiPoolTask task, void *arg);

#endif							/* EMOGI_THREADS_POOL_H */
