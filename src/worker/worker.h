/*
 * worker.h: the engine worker, the one background process that computes.
 *
 * Its main thread (worker.c) takes queued requests from the slots in fair-share order (schedule.c),
 * passes them to compute threads (threads.c, threads.h), which own the engines and call no
 * PostgreSQL function, and continues those of several steps (steps.c).
 */
#ifndef EMOGI_WORKER_H
#define EMOGI_WORKER_H

extern void emogi_worker_register(void);

#endif							/* EMOGI_WORKER_H */
