/*
 * cancel.h: a thread that cancels a run after a delay.
 */
#ifndef EMOGI_BENCH_CANCEL_H
#define EMOGI_BENCH_CANCEL_H

#include "contract/engine.h"

#include <pthread.h>

typedef struct EmogiCancel
{
	EmogiControl *control;
	double		after_ms;
	double		set_at_ms;		/* when cancel was set, by emogi_pool_now_ms; 0 = not set */
	bool		over;			/* the run has returned; protected by lock, as is set_at_ms */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t	thread;
} EmogiCancel;

/* Start the delay; returns false if no thread can be created. */
extern bool emogi_cancel_start(EmogiCancel *cancel, EmogiControl *control, double after_ms);

/* Signal that the run has returned; returns when cancel was set, or 0 if it was not. */
extern double emogi_cancel_stop(EmogiCancel *cancel);

#endif							/* EMOGI_BENCH_CANCEL_H */
