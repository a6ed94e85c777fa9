/*
 * algorithms.h: the algorithms of the cpu engine, as cpu.c calls them.
 *
 * Each fills result for its query (engine.h says what), whose sources have been checked, and returns OK, CANCELED,
 * NO_MEMORY or BAD_INPUT with everything freed.
 */
#ifndef EMOGI_CPU_ALGORITHMS_H
#define EMOGI_CPU_ALGORITHMS_H

#include "contract/engine.h"
#include "threads/pool.h"

typedef EmogiStatus (EmogiCpuAlgorithm) (EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
										 EmogiResult *result, EmogiControl *control, EmogiError *error);

extern EmogiCpuAlgorithm emogi_cpu_path;	/* best_paths.c: those of the path semiring (applications.h) */
extern EmogiCpuAlgorithm emogi_cpu_ssnsp;	/* ssnsp.c */
extern EmogiCpuAlgorithm emogi_cpu_cc;	/* cc.c */
extern EmogiCpuAlgorithm emogi_cpu_pagerank;	/* pagerank.c */
extern EmogiCpuAlgorithm emogi_cpu_gather;	/* gather.c: those of the sum semiring */

#endif							/* EMOGI_CPU_ALGORITHMS_H */
