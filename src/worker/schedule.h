/*
 * schedule.h: which request is next. Called by the worker's main thread.
 */
#ifndef EMOGI_SCHEDULE_H
#define EMOGI_SCHEDULE_H

#include "worker/threads.h"

extern bool emogi_schedule_is_long(const EmogiRequest *request);
extern EmogiSlot *emogi_schedule_pick(void);
extern void emogi_schedule_count(const EmogiWork *work, int change);

#endif							/* EMOGI_SCHEDULE_H */
