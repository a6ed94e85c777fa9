/*
 * cpu.h: the CPU engine's interface beyond the contract of all engines.
 */
#ifndef EMOGI_CPU_H
#define EMOGI_CPU_H

#include "contract/builder.h"

/*
 * For tests: if set, PageRank rounds its shares to 36 significant bits in small graphs too, as an
 * engine with always_bins does.
 */
extern bool emogi_cpu_ranks_always_coarse;

#endif							/* EMOGI_CPU_H */
