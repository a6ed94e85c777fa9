/*
 * worker.h: the engine worker, the one background process that computes.
 *
 * Its main thread (worker.c) takes queued requests from the slots in fair-share order (schedule.c),
 * passes them to compute threads (threads.c), which own the engines and call no PostgreSQL
 * function, and continues those of several steps (steps.c). thread_build.c executes requests that
 * build, merge, pack or expand a graph. csr_memory.c allocates memory for a slot between two steps,
 * gpu_schedule.c assigns the GPUs (gpus.c) to requests, activity.c shows the requests in
 * pg_stat_activity, and watchdog.c ends a worker that outlives the postmaster.
 */
#ifndef EMOGI_WORKER_H
#define EMOGI_WORKER_H

extern void emogi_worker_register(void);
extern bool emogi_worker_start(void);

#endif							/* EMOGI_WORKER_H */
