/*
 * settings.h: the settings, emogi.*, and what the machine has; see guc.c.
 */
#ifndef EMOGI_SETTINGS_H
#define EMOGI_SETTINGS_H

#include "contract/engine.h"

typedef enum EmogiEngineChoice
{
	EMOGI_ENGINE_AUTO,
	EMOGI_ENGINE_CPU,
	EMOGI_ENGINE_CUDA
} EmogiEngineChoice;

extern int	emogi_engine;			/* EmogiEngineChoice */
extern int	emogi_placement;		/* EmogiPlacement */
extern int	emogi_max_memory_mb;	/* budget of the Region */
extern int	emogi_device_memory_mb; /* cap on each GPU, 0 = none */
extern int	emogi_cpu_threads;		/* of the CPU engine, >= 1 once the server is up */
extern int	emogi_build_workers;	/* parallel workers of a scan, -1 = max_parallel_workers_per_gather */
extern int	emogi_session_calls;	/* limits of those who are no superusers: see limits.c. 0 = none */
extern int	emogi_role_calls;
extern int	emogi_role_slots;
extern int	emogi_session_memory_mb;	/* -1 = three quarters of emogi.max_memory */
extern int	emogi_role_memory_mb;
extern bool emogi_cache;			/* Graphs of tables are shared between calls and sessions */
extern bool emogi_enable_scan;		/* rows of functions in FROM are streamed */
extern bool emogi_enable_batch;		/* ... and in a LATERAL join searched from many outer rows at once */
extern bool emogi_notice_missing_source;	/* a source that the graph does not have is told of */

extern void emogi_define_gucs(void);
extern const char *emogi_placement_name(EmogiPlacement placement);
extern uint64 emogi_machine_bytes(void);

#endif							/* EMOGI_SETTINGS_H */
