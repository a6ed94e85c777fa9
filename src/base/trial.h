/*
 * trial.h: emogi without shared_preload_libraries, for a trial without a restart; see trial.c
 */
#ifndef EMOGI_TRIAL_H
#define EMOGI_TRIAL_H

#include "base/shared.h"

/* What trial.c needs of other folders. */
typedef struct EmogiTrialHooks
{
	Size		(*state_bytes) (void);	/* size of the shared state, for the settings in use */
	void		(*startup) (void);	/* attach to the shared state, and initialize a new one */
	bool		(*start_worker) (void); /* register the engine worker; false = no slot is free */
} EmogiTrialHooks;

extern void emogi_trial_define(const EmogiTrialHooks *hooks);
extern bool emogi_trial_attach_worker(void);

#endif							/* EMOGI_TRIAL_H */
