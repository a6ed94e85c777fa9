/*
 * cpu.h: what the CPU engine offers beside the contract of all engines.
 */
#ifndef EMOGI_CPU_H
#define EMOGI_CPU_H

#include "contract/engine.h"
#include "threads/pool.h"

/* Get the pool of an open CPU engine: the building of Graphs, and searches that are no Query, share it with the algorithms. */
extern EmogiPool *emogi_cpu_engine_pool(EmogiEngineState *state);

#endif							/* EMOGI_CPU_H */
