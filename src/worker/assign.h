/*
 * assign.h: assignment of GPUs to requests. Called by the worker's main thread, which alone
 * acquires GPUs, so a free GPU remains free meanwhile.
 */
#ifndef EMOGI_ASSIGN_H
#define EMOGI_ASSIGN_H

#include "worker/threads.h"

/* Assign a GPU, of which at least one must be free, and helpers to the request of some work. */
extern void emogi_assign_gpus(EmogiWork *work);

/* Get a GPU to derive its copies of the graph that some work has merged; EMOGI_NO_GPU = none. */
extern int	emogi_assign_deriving(const EmogiWork *work);

#endif							/* EMOGI_ASSIGN_H */
