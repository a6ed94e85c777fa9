/*
 * make_graph.h: the graph of a benchmark, made by the processor or on a GPU.
 */
#ifndef EMOGI_BENCH_MAKE_GRAPH_H
#define EMOGI_BENCH_MAKE_GRAPH_H

#include "options.h"

/* Make the graph that the options describe and print how long each step took; never returns without it. */
extern void emogi_bench_make_graph(const EmogiBenchOptions *options, EmogiPool *pool, EmogiBuiltGraph *built);

/* Make small graphs of every kind both ways and leave when two are not equal, bit for bit. */
extern void emogi_bench_check_generate(const EmogiBenchOptions *options, EmogiPool *pool);

#endif							/* EMOGI_BENCH_MAKE_GRAPH_H */
