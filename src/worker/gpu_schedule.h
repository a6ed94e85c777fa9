/*
 * gpu_schedule.h: assignment of GPUs to requests. Called by the worker's main thread, which alone
 * acquires GPUs, so a free GPU remains free meanwhile.
 */
#ifndef EMOGI_GPU_SCHEDULE_H
#define EMOGI_GPU_SCHEDULE_H

#include "worker/threads.h"

/* Assign a GPU, of which at least one must be free, and helpers to the request of some work. */
extern void emogi_gpu_schedule_assign(EmogiWork *work);

/* Get a GPU to derive its copies of the graph that some work has merged; EMOGI_NO_GPU = none. */
extern int	emogi_gpu_schedule_choose_deriving(const EmogiWork *work);

#endif							/* EMOGI_GPU_SCHEDULE_H */
