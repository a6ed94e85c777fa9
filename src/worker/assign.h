/*
 * assign.h: which GPUs a request gets. For the worker's main thread, which alone takes GPUs: those that are free stay so meanwhile.
 */
#ifndef EMOGI_ASSIGN_H
#define EMOGI_ASSIGN_H

#include "worker/threads.h"

/* Give the request of some work a GPU, one of which is free, and its helpers. */
extern void emogi_assign_gpus(EmogiWork *work);

/* Get a GPU that is to derive its copies of the Graph that some work has spliced; EMOGI_NO_GPU = none. */
extern int	emogi_assign_deriving(const EmogiWork *work);

#endif							/* EMOGI_ASSIGN_H */
