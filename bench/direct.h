/*
 * direct.h: derive directed graphs from undirected ones.
 */
#ifndef EMOGI_BENCH_DIRECT_H
#define EMOGI_BENCH_DIRECT_H

#include "build.h"

/*
 * Replace a symmetric graph without repeated edges and self-loops by a graph in which each edge has
 * one direction, chosen by the seed, together with its transpose. Returns false if out of memory.
 * Vertices and weights do not change.
 */
extern bool emogi_direct_edges(EmogiPool *pool, uint64_t seed, EmogiBuiltGraph *built);

#endif							/* EMOGI_BENCH_DIRECT_H */
