/*
 * make_graph.h: build the graph of a benchmark on the CPU or on a GPU.
 */
#ifndef EMOGI_BENCH_MAKE_GRAPH_H
#define EMOGI_BENCH_MAKE_GRAPH_H

#include "options.h"

/* Build the graph described by the options and print the time of each step; exits on failure. */
extern void emogi_bench_make_graph(const EmogiBenchOptions *options, EmogiPool *pool, EmogiBuiltGraph *built);

/*
 * Build small graphs of every kind on CPU and GPU; exits with an error if they are not identical.
 */
extern void emogi_bench_check_generate(const EmogiBenchOptions *options, EmogiPool *pool);

#endif							/* EMOGI_BENCH_MAKE_GRAPH_H */
