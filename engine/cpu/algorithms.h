/*
 * algorithms.h: the algorithms of the cpu engine, as cpu.c calls them: those that the table of
 * algorithms names.
 *
 * Each fills result for its query (the algorithm's row says what), which has been checked, and
 * returns OK, CANCELED, NO_MEMORY or BAD_INPUT with everything freed.
 */
#ifndef EMOGI_CPU_ALGORITHMS_H
#define EMOGI_CPU_ALGORITHMS_H

#include "contract/engine.h"
#include "threads/pool.h"

typedef EmogiStatus (EmogiCpuAlgorithm) (EmogiPool *pool, const EmogiGraph *graph,
										 const EmogiQuery *query, EmogiResult *result,
										 EmogiControl *control, EmogiError *error);

/* Those that rows name; one for each semiring. */
#define OTHER(NAME, name, cpu, ...) extern EmogiCpuAlgorithm emogi_cpu_##cpu;
EMOGI_ALGORITHMS(OTHER, EMOGI_NOTHING, EMOGI_NOTHING)
#undef OTHER
extern EmogiCpuAlgorithm emogi_cpu_path;	/* best_paths.c */
extern EmogiCpuAlgorithm emogi_cpu_gather;	/* semiring_sum.c */

#endif							/* EMOGI_CPU_ALGORITHMS_H */
