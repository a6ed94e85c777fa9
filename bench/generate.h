/*
 * generate.h: the synthetic graphs of the GAP Benchmark Suite, and its choice of sources.
 */
#ifndef EMOGI_BENCH_GENERATE_H
#define EMOGI_BENCH_GENERATE_H

#include "build.h"

typedef enum EmogiGenerator
{
	EMOGI_KRON = 0,				/* Kronecker, A 0.57, B 0.19, C 0.19, vertices permuted */
	EMOGI_URAND					/* both ends uniform */
} EmogiGenerator;

/* Numbers that depend on (seed, i) alone: any thread can make any of them. */
extern uint64_t emogi_random(uint64_t seed, uint64_t i);

/* Generate degree * 2^scale edges over keys 0 .. 2^scale - 1; false without memory. */
extern bool emogi_generate_edges(EmogiPool *pool, EmogiGenerator generator, int scale, int degree, uint64_t seed,
								 EmogiEdgeSet *set);

/*
 * Replace a Graph of EMOGI_BOTH by one without repeated edges and self-loops, as GAP's builder makes it; false without
 * memory. Vertices that lose all their edges stay. max_weight > 0: edges get weights 1 .. max_weight <= 255, evenly, the
 * same both ways, as GAP's do; they follow from the seed and the edge's two ends.
 */
extern bool emogi_remove_repeats(EmogiPool *pool, uint32_t max_weight, uint64_t seed, EmogiBuiltGraph *built);

/* Pick nsources vertices with neighbours at random; false when there is none. */
extern bool emogi_pick_sources(const EmogiGraph *graph, uint64_t seed, uint32_t *sources, int nsources);

#endif							/* EMOGI_BENCH_GENERATE_H */
