/*
 * gpus.h: the GPUs of the engine worker. Each has a CUDA engine of its own, which one thread uses at a time.
 *
 * They are numbered from 0 in the order of emogi_devices; emogi_devices.device is the number that the driver gives them. Nothing of PostgreSQL runs here.
 */
#ifndef EMOGI_GPUS_H
#define EMOGI_GPUS_H

#include "base/shared.h"

/* What opening has found. Written by the thread that opens; by nobody once that work has finished. */
typedef struct EmogiOpened
{
	EmogiError	why_no_gpu;		/* when ncuda = 0 */
	int			ncuda;			/* GPUs that can be used, the first in cuda[] */
	int			nlisted;		/* with those that were asked for and cannot, and why */
	EmogiDeviceEntry cpu;
	EmogiDeviceEntry cuda[EMOGI_MAX_DEVICES];
} EmogiOpened;

/*
 * Load emogi_cuda.so and open an engine for each GPU of a set, bits by the numbers of the driver; 0 = all that there are. Fills in all of opened but the
 * processor. For the thread that opens.
 */
extern void emogi_gpus_open(const EmogiEngineOptions *options, const char *module, uint32 wanted, EmogiOpened *opened);

/* Functions of the engine of a GPU, for the thread that has it: engine.h. */
extern const EmogiEngine *emogi_gpus_engine(void);
extern EmogiEngineState *emogi_gpus_state(int gpu);

/* Take GPUs, bits by number, for the main thread alone; and leave one to others, for any thread. */
extern void emogi_gpus_take(uint32 gpus);
extern void emogi_gpus_leave(int gpu);

/* Get the GPUs that nobody uses, bits by number. For any thread. */
extern uint32 emogi_gpus_free(void);

#endif							/* EMOGI_GPUS_H */
