/*
 * closeness.h: what passes between closeness.c, which chooses how searches are made and makes 64 at
 * a time, and closeness_per_thread.c, where each thread makes searches of its own.
 */
#ifndef EMOGI_CPU_CLOSENESS_H
#define EMOGI_CPU_CLOSENESS_H

#include "msbfs.h"
#include "cpu/cpu_run.h"

/*
 * Add the hops from each of sources[nsources] to what its searches reach to `totals`, those of a
 * vertex in the order of the sources. Takes three mappings of scratch memory. False when the job
 * has stopped.
 */
extern bool emogi_closeness_per_thread(EmogiCpuRun *run, const EmogiGraph *graph,
									   const uint32_t *sources, uint64_t nsources,
									   const EmogiMsbfsTotals *totals);

#endif							/* EMOGI_CPU_CLOSENESS_H */
