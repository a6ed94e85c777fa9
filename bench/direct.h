/*
 * direct.h: directed graphs of undirected ones.
 */
#ifndef EMOGI_BENCH_DIRECT_H
#define EMOGI_BENCH_DIRECT_H

#include "build.h"

/*
 * Replace a symmetric Graph without repeats and self-loops by one in which every edge leads one way, as the seed says, with its
 * transpose; false without memory. Vertices and weights stay.
 */
extern bool emogi_direct_edges(EmogiPool *pool, uint64_t seed, EmogiBuiltGraph *built);

#endif							/* EMOGI_BENCH_DIRECT_H */
