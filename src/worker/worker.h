/*
 * worker.h: the engine worker, the one background process that computes.
 *
 * Its main thread (worker.c) takes queued requests out of the slots in the order of the fair share, and hands them to threads
 * (threads.c, with a header of its own), which have the engines and call nothing of PostgreSQL.
 */
#ifndef EMOGI_WORKER_H
#define EMOGI_WORKER_H

extern void emogi_worker_register(void);

#endif							/* EMOGI_WORKER_H */
