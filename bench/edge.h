/*
 * edge.h: edge i of a synthetic graph, and the weight of an edge, as functions of the recipe alone.
 *
 * Plain inline C for gcc and nvcc, so that any thread on the host or the device computes the same
 * edge.
 *
 * Kron and urand are those of the GAP Benchmark Suite, except for the random numbers: here edge i
 * depends on (seed, i).
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson. The GAP Benchmark Suite. arXiv:1508.03619, 2015. Section 3.
 * [2] D. Chakrabarti, Y. Zhan, C. Faloutsos. R-MAT: A Recursive Model for Graph Mining. SDM 2004. Section 3.
 * [3] G. Steele, D. Lea, C. Flood. Fast Splittable Pseudorandom Number Generators. OOPSLA 2014. Figure 20 (the mixer).
 */
#ifndef EMOGI_BENCH_EDGE_H
#define EMOGI_BENCH_EDGE_H

#include "contract/semirings.h"
#include "contract/builder.h"
#include "threads/pool.h"

typedef enum EmogiGenerator
{
	EMOGI_KRON = 0,				/* R-MAT with A 0.57, B 0.19, C 0.19, vertices permuted */
	EMOGI_URAND,				/* both endpoints uniform */
	EMOGI_GRID,					/* a square in row-major order, joined along rows and columns */
	EMOGI_PATH,					/* each vertex joined to the next */
	EMOGI_STAR,					/* vertex 0 joined to all others */
	EMOGI_RMAT,					/* as kron, with any A, B, C */
	EMOGI_FILE,					/* read from a file, not a function of the recipe */
	EMOGI_NGENERATORS
} EmogiGenerator;

/* All parameters of a graph. Created by emogi_recipe. */
typedef struct EmogiRecipe
{
	EmogiGenerator generator;
	int			scale;			/* kron, rmat, urand: nkeys = 2^scale */
	uint64_t	seed;
	uint32_t	upto[3];		/* kron, rmat: A, A + B, A + B + C, times 2^32 */
	uint64_t	side;			/* grid: vertices per row */
	uint64_t	nkeys;			/* keys are 0 .. nkeys-1; not all occur in edges */
	uint64_t	nedges;			/* each edge counted once; includes repeated edges and self-loops */
	uint32_t	max_weight;		/* <= 255; 0 = no weights */
} EmogiRecipe;

/* Get number i of a random sequence. */
EMOGI_INLINE uint64_t
emogi_random(uint64_t seed, uint64_t i)
{
	uint64_t	x = seed * UINT64_C(0xD1B54A32D192ED03) + (i + 1) * UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

/* Permute 0 .. 2^scale - 1: each step is invertible on scale bits. */
EMOGI_INLINE uint64_t
emogi_permute(uint64_t v, int scale, uint64_t seed)
{
	uint64_t	mask = (UINT64_C(1) << scale) - 1;
	int			half = scale / 2 + 1;

	for (uint64_t round = 0; round < 4; round++)
	{
		v = (v * (emogi_random(seed, 2 * round) | 1) + emogi_random(seed, 2 * round + 1)) & mask;
		v ^= v >> half;
	}
	return v & mask;
}

/* Choose one of the four quadrants at each of scale steps. */
EMOGI_INLINE EmogiEdge
emogi_rmat_edge(const EmogiRecipe *recipe, uint64_t i)
{
	const int	scale = recipe->scale;
	const uint32_t a = recipe->upto[0];
	const uint32_t ab = recipe->upto[1];
	const uint32_t abc = recipe->upto[2];
	uint64_t	src = 0,
				dst = 0;
	EmogiEdge	edge;

	for (int step = 0; step < scale; step += 2)
	{
		uint64_t	random = emogi_random(recipe->seed, i * 32 + (uint64_t) step / 2);

		for (int j = 0; j < 2 && step + j < scale; j++)
		{
			uint32_t	r = (uint32_t) (random >> (32 * j));

			src = src << 1 | (r >= ab);
			dst = dst << 1 | ((r >= a && r < ab) || r >= abc);
		}
	}
	edge.src = (int64_t) emogi_permute(src, scale, ~recipe->seed);
	edge.dst = (int64_t) emogi_permute(dst, scale, ~recipe->seed);
	return edge;
}

/* Get edge i < nedges. */
EMOGI_INLINE EmogiEdge
emogi_make_edge(const EmogiRecipe *recipe, uint64_t i)
{
	uint64_t	in_rows = recipe->side * (recipe->side - 1);
	EmogiEdge	edge = {0, 0};

	switch (recipe->generator)
	{
		case EMOGI_KRON:
		case EMOGI_RMAT:
			return emogi_rmat_edge(recipe, i);
		case EMOGI_URAND:
			edge.src = (int64_t) (emogi_random(recipe->seed, 2 * i) >> (64 - recipe->scale));
			edge.dst = (int64_t) (emogi_random(recipe->seed, 2 * i + 1) >> (64 - recipe->scale));
			break;
		case EMOGI_GRID:
			edge.src = (int64_t) (i < in_rows ? i / (recipe->side - 1) * recipe->side + i % (recipe->side - 1) : i - in_rows);
			edge.dst = edge.src + (int64_t) (i < in_rows ? 1 : recipe->side);
			break;
		case EMOGI_PATH:
			edge.src = (int64_t) i;
			edge.dst = (int64_t) i + 1;
			break;
		case EMOGI_STAR:
			edge.dst = (int64_t) i + 1;
			break;
		case EMOGI_FILE:
		case EMOGI_NGENERATORS:
			break;
	}
	return edge;
}

/*
 * Compute the weight of the edge between the vertices numbered u and v: 1 .. max_weight, the same
 * in both directions.
 */
EMOGI_INLINE uint8_t
emogi_make_weight(uint64_t seed, uint32_t max_weight, uint64_t u, uint64_t v)
{
	uint64_t	pair = u < v ? u << 32 | v : v << 32 | u;

	return (uint8_t) (1 + (emogi_random(seed + 1, pair) >> 32) * max_weight / (UINT64_C(1) << 32));
}

#endif							/* EMOGI_BENCH_EDGE_H */
