/*
 * cpu.h: the CPU engine's interface beyond the contract of all engines.
 */
#ifndef EMOGI_CPU_H
#define EMOGI_CPU_H

#include "contract/engine.h"
#include "threads/pool.h"

/*
 * Get the thread pool of an open CPU engine. Graph building, and searches that are not an
 * EmogiQuery, share it with the algorithms.
 */
extern EmogiPool *emogi_cpu_engine_pool(EmogiEngineState *state);

/*
 * For tests: if set, PageRank rounds its shares to 36 significant bits in small graphs too, as an
 * engine with always_bins does.
 */
extern bool emogi_cpu_ranks_always_coarse;

#endif							/* EMOGI_CPU_H */
