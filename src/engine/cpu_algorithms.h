/*
 * cpu_algorithms.h: the algorithms of the cpu engine, as cpu.c calls them.
 *
 * Each fills result for its query (engine.h says what), whose sources have been checked, and returns OK, CANCELED,
 * NO_MEMORY or BAD_INPUT with everything freed.
 */
#ifndef EMOGI_CPU_ALGORITHMS_H
#define EMOGI_CPU_ALGORITHMS_H

#include "engine.h"
#include "pool.h"

typedef EmogiStatus (EmogiCpuAlgorithm) (EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
										 EmogiResult *result, EmogiControl *control, EmogiError *error);

extern EmogiCpuAlgorithm emogi_cpu_path;	/* cpu_path.c: those of the path algebra (applications.h) */
extern EmogiCpuAlgorithm emogi_cpu_ssnsp;	/* cpu_ssnsp.c */
extern EmogiCpuAlgorithm emogi_cpu_cc;	/* cpu_cc.c */
extern EmogiCpuAlgorithm emogi_cpu_pagerank;	/* cpu_pagerank.c */
extern EmogiCpuAlgorithm emogi_cpu_gather;	/* cpu_gather.c: those of the sum algebra */

#endif							/* EMOGI_CPU_ALGORITHMS_H */
