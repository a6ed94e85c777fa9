/*
 * cpu_algorithms.h: the algorithms of the CPU engine, one entry point for each row of
 * EMOGI_ALGORITHMS.
 *
 * Each fills result for a query that emogi_query_check() has accepted; the algorithm's row says
 * with what. Each returns OK, CANCELED, NO_MEMORY or BAD_INPUT, with everything freed.
 */
#ifndef EMOGI_CPU_ALGORITHMS_H
#define EMOGI_CPU_ALGORITHMS_H

#include "contract/engine.h"
#include "threads/pool.h"

typedef EmogiStatus (EmogiCpuAlgorithm) (EmogiPool *pool, const EmogiGraph *graph,
										 const EmogiQuery *query, EmogiResult *result,
										 EmogiControl *control, EmogiError *error);

/* Algorithms outside the semirings, then one entry point for each semiring. */
#define OTHER(NAME, name, cpu, ...) extern EmogiCpuAlgorithm emogi_cpu_##cpu;
EMOGI_ALGORITHMS(OTHER, EMOGI_NOTHING, EMOGI_NOTHING)
#undef OTHER
extern EmogiCpuAlgorithm emogi_cpu_path;	/* best_paths.c */
extern EmogiCpuAlgorithm emogi_cpu_semiring_sum;	/* semiring_sum.c */

#endif							/* EMOGI_CPU_ALGORITHMS_H */
