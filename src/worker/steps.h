/*
 * steps.h: the steps of a request. Called by the worker's main thread.
 */
#ifndef EMOGI_STEPS_H
#define EMOGI_STEPS_H

#include "worker/threads.h"

extern void emogi_steps_inject_fault(const EmogiRequest *request, int at);
extern void emogi_steps_dispatch(EmogiWork *work);
extern bool emogi_steps_next(EmogiWork *work);

#endif							/* EMOGI_STEPS_H */
