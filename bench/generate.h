/*
 * generate.h: synthetic graphs, including those of the GAP Benchmark Suite, and GAP's choice of
 * sources.
 */
#ifndef EMOGI_BENCH_GENERATE_H
#define EMOGI_BENCH_GENERATE_H

#include "build.h"
#include "edge.h"

/* A, B and C of GAP's kron, and the defaults of rmat. D is 1 - A - B - C. */
extern const double emogi_kron_quarters[3];
extern const double emogi_rmat_quarters[3];

/*
 * Create a recipe. kron, rmat, urand: degree * 2^scale edges over 2^scale keys. grid: the largest
 * square of at most nvertices; path: nvertices; star: nvertices leaves. file: only the weights.
 */
extern EmogiRecipe emogi_recipe(EmogiGenerator generator, int scale, int degree, uint64_t nvertices, uint64_t seed,
								uint32_t max_weight);

/*
 * Return true if the number of keys is a power of two and the number of edges is given by a degree.
 */
static inline bool
emogi_generator_has_degree(EmogiGenerator generator)
{
	return generator == EMOGI_KRON || generator == EMOGI_RMAT || generator == EMOGI_URAND;
}

/* Set A, B and C of rmat: at least 0, with a sum below 1. */
extern void emogi_recipe_quarters(EmogiRecipe *recipe, const double quarters[3]);

/* Generate the recipe's edges; returns false if out of memory. */
extern bool emogi_generate(EmogiPool *pool, const EmogiRecipe *recipe, EmogiEdgeSet *set);

/* The same for kron or urand. */
extern bool emogi_generate_edges(EmogiPool *pool, EmogiGenerator generator, int scale, int degree, uint64_t seed,
								 EmogiEdgeSet *set);

/*
 * Remove repeated edges and self-loops from a graph of EMOGI_BOTH, as GAP's builder does; returns
 * false if out of memory. Vertices that lose all their edges are kept. If max_weight > 0, edges get
 * uniform weights 1 .. max_weight <= 255, the same in both directions, as in GAP; a weight is a
 * function of the seed and the endpoints.
 */
extern bool emogi_remove_repeats(EmogiPool *pool, uint32_t max_weight, uint64_t seed, EmogiBuiltGraph *built);

/* Pick nsources random vertices with edges; returns false if there is none. */
extern bool emogi_pick_sources(const EmogiGraph *graph, uint64_t seed, uint32_t *sources, int nsources);

#endif							/* EMOGI_BENCH_GENERATE_H */
