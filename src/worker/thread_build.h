/*
 * thread_build.h: requests that build, merge, pack or expand a graph. Called by a compute thread.
 */
#ifndef EMOGI_THREAD_BUILD_H
#define EMOGI_THREAD_BUILD_H

#include "worker/threads.h"

extern EmogiStatus emogi_thread_build(EmogiWork *work, EmogiEngineState *cpu);

#endif							/* EMOGI_THREAD_BUILD_H */
