/*
 * closeness.h: shared declarations of closeness.c, which chooses the method and searches from 64
 * sources at a time, and closeness_per_thread.c, in which each thread runs searches of its own.
 */
#ifndef EMOGI_CPU_CLOSENESS_H
#define EMOGI_CPU_CLOSENESS_H

#include "msbfs.h"
#include "cpu/cpu_run.h"

/*
 * Add the hops from each of sources[nsources] to the vertices it reaches to `totals`, in the order
 * of the sources for each vertex. Uses three mappings of scratch memory. False if the job has
 * stopped.
 */
extern bool emogi_closeness_per_thread(EmogiCpuRun *run, const EmogiGraph *graph,
									   const uint32_t *sources, uint64_t nsources,
									   const EmogiMsbfsTotals *totals);

#endif							/* EMOGI_CPU_CLOSENESS_H */
