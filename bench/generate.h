/*
 * generate.h: synthetic graphs, those of the GAP Benchmark Suite among them, and GAP's choice of sources.
 */
#ifndef EMOGI_BENCH_GENERATE_H
#define EMOGI_BENCH_GENERATE_H

#include "build.h"
#include "edge.h"

/* A, B and C of GAP's kron, and of rmat unless others are wanted. D is what they leave of 1. */
extern const double emogi_kron_quarters[3];
extern const double emogi_rmat_quarters[3];

/*
 * Say what a graph is made of. kron, rmat, urand: degree * 2^scale edges over 2^scale keys. grid: the largest square of at
 * most nvertices; path: nvertices; star: nvertices beside the middle. file: of what weights, no more.
 */
extern EmogiRecipe emogi_recipe(EmogiGenerator generator, int scale, int degree, uint64_t nvertices, uint64_t seed,
								uint32_t max_weight);

/* Say whether a graph has a power of two of keys, and edges by degree. */
static inline bool
emogi_generator_has_degree(EmogiGenerator generator)
{
	return generator == EMOGI_KRON || generator == EMOGI_RMAT || generator == EMOGI_URAND;
}

/* Set A, B and C of rmat: at least 0, with a sum below 1. */
extern void emogi_recipe_quarters(EmogiRecipe *recipe, const double quarters[3]);

/* Generate the recipe's edges; false without memory. */
extern bool emogi_generate(EmogiPool *pool, const EmogiRecipe *recipe, EmogiEdgeSet *set);

/* The same for kron or urand. */
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
