/*
 * cpu.h: what the CPU engine offers beside the contract of all engines.
 */
#ifndef EMOGI_CPU_H
#define EMOGI_CPU_H

#include "contract/engine.h"
#include "threads/pool.h"

/*
 * Get the pool of an open CPU engine: the building of Graphs, and searches that are no Query, share
 * it with the algorithms.
 */
extern EmogiPool *emogi_cpu_engine_pool(EmogiEngineState *state);

/*
 * For tests: the shares of PageRank have 36 significant bits in small Graphs, too, as those of an
 * engine with always_bins have.
 */
extern bool emogi_cpu_ranks_always_coarse;

#endif							/* EMOGI_CPU_H */
