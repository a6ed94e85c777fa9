/*
 * worker.h: the engine worker, the one background process that computes.
 *
 * Its main thread (worker.c) takes queued requests from the slots in fair-share order, and passes
 * them to compute threads (threads.c, threads.h), which own the engines and call no PostgreSQL
 * function.
 */
#ifndef EMOGI_WORKER_H
#define EMOGI_WORKER_H

extern void emogi_worker_register(void);

#endif							/* EMOGI_WORKER_H */
