/*
 * gpus.h: the GPUs of the engine worker. Each has its own CUDA engine, which one thread uses at a
 * time.
 *
 * GPUs are numbered from 0 in the order of emogi_devices; emogi_devices.device is the driver's
 * number. No PostgreSQL function is called here.
 */
#ifndef EMOGI_GPUS_H
#define EMOGI_GPUS_H

#include "base/shared.h"

/* Result of opening the engines. Written by the thread that opens them, and constant afterwards. */
typedef struct EmogiOpenedEngines
{
	EmogiError	why_no_gpu;		/* if ncuda = 0 */
	int			ncuda;			/* number of usable GPUs, which are the first in cuda[] */
	int			nlisted;		/* including requested GPUs that cannot be used, with the reason */
	EmogiDeviceEntry cpu;
	EmogiDeviceEntry cuda[EMOGI_MAX_DEVICES];
} EmogiOpenedEngines;

/*
 * Load emogi_cuda.so and open an engine for each GPU in a set, a bit mask of the driver's numbers;
 * 0 = all GPUs. Fills in all of `opened` except cpu. Called by the thread that opens the engines.
 */
extern void emogi_gpus_open(const EmogiEngineOptions *options, const char *module, uint32 wanted,
							EmogiOpenedEngines *opened);

/*
 * Get the engine's functions and a GPU's state, for the thread that has acquired the GPU: engine.h.
 */
extern const EmogiEngine *emogi_gpus_engine(void);
extern EmogiEngineState *emogi_gpus_state(int gpu);

/* Acquire GPUs (a bit mask), only in the main thread; release one GPU, in any thread. */
extern void emogi_gpus_acquire(uint32 gpus);
extern void emogi_gpus_release(int gpu);

/* Get the GPUs that are not in use, as a bit mask. Any thread. */
extern uint32 emogi_gpus_free(void);

#endif							/* EMOGI_GPUS_H */
