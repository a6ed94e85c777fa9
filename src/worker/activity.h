/*
 * activity.h: the engine worker's entry in pg_stat_activity. Called by its main thread.
 */
#ifndef EMOGI_ACTIVITY_H
#define EMOGI_ACTIVITY_H

#include "worker/threads.h"

extern void emogi_activity_begin(const EmogiWork *work);
extern void emogi_activity_end(const EmogiWork *work);
extern void emogi_activity_report(void);

#endif							/* EMOGI_ACTIVITY_H */
