/*
 * cancel.h: a thread that cancels a run after a while.
 */
#ifndef EMOGI_BENCH_CANCEL_H
#define EMOGI_BENCH_CANCEL_H

#include "contract/engine.h"

#include <pthread.h>

typedef struct EmogiCancel
{
	EmogiControl *control;
	double		after_ms;
	double		set_at_ms;		/* when cancel was set, on the clock of emogi_pool_now_ms; 0 = not */
	bool		over;			/* the run has returned; guarded by lock, as is set_at_ms */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t	thread;
} EmogiCancel;

/* Begin to wait; false when there is no thread to be had. */
extern bool emogi_cancel_start(EmogiCancel *cancel, EmogiControl *control, double after_ms);

/* Say that the run has returned; gets when cancel was set, 0 if it never was. */
extern double emogi_cancel_stop(EmogiCancel *cancel);

#endif							/* EMOGI_BENCH_CANCEL_H */
