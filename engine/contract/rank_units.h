/*
 * rank_units.h: the ranks of PAGERANK as integers, whose sums are the same bits in any order: on every engine, with any number of threads,
 * whatever the method.
 *
 * Plain inline C that gcc and nvcc both take. All ranks sum to 1, which is 2^63 units, so that no sum of shares overflows. What a vertex
 * gives along an edge is rounded to whole units, and in a Graph of many edges to 36 significant bits or fewer, which fit the numbers of the GPU's
 * bins: above 2^36 units to multiples of a power of 4, so that such a share is off by less than 2^-34 of itself. It is rounded up with a
 * probability of what is cut off, as a hash of the vertex has it, so that the errors of vertices with the same rank do not add up. Ranks
 * themselves are doubles, made of the sums by products and sums that no compiler fuses. The change of an iteration and the rank of those without
 * edges out are sums of integers, too.
 *
 * With leaps to all alike the least rank is (1 - damping) / n, of which a unit is 2^-34 at most: every rank is right to 1e-9 of itself. With
 * proportions ranks can be any less: they are right to that or to a unit, 1.1e-19, an edge that ends in the vertex, whichever is more.
 */
#ifndef EMOGI_RANK_UNITS_H
#define EMOGI_RANK_UNITS_H

#include <math.h>

#include "engine.h"

#define EMOGI_RANK_UNITS 9223372036854775808.0	/* 2^63, of a rank of 1 */
#define EMOGI_RANK_MANTISSA_BITS 36
#define EMOGI_RANK_LEAST (1.0 / (UINT64_C(1) << 29))	/* of the least rank, beside a unit */
#define EMOGI_RANK_LEAST_TOLERANCE 1e-9	/* changes below are not told apart by 36 bits */
#define EMOGI_RANK_MANY_EDGES (UINT64_C(3) << 24)	/* from which on shares have 36 bits */

/* Say whether the shares in a Graph of so many edges have 36 significant bits at most. */
EMOGI_INLINE bool
emogi_rank_units_coarse(uint64_t nedges)
{
	return nedges >= EMOGI_RANK_MANY_EDGES;
}

/* Say whether ranks are integers, as the query and the numbers of vertices and edges have it; else they are sums of doubles. */
EMOGI_INLINE bool
emogi_rank_units_suit(const EmogiQuery *query, uint64_t nvertices, bool coarse)
{
	return query->algorithm == EMOGI_PAGERANK && !query->is_weighted &&
		(!coarse || query->tolerance == 0.0 || query->tolerance >= EMOGI_RANK_LEAST_TOLERANCE) &&
		(query->leap != NULL || (1.0 - query->damping) / (double) nvertices >= EMOGI_RANK_LEAST);
}

/* Say whether ranks, which are doubles then, can be divided by such a sum of weights: shares are numbers then; by 0 they are not. */
EMOGI_INLINE bool
emogi_rank_strength_suits(double sum)
{
	return sum == 0.0 || (sum >= 1e-290 && sum <= 1e290);
}

/* Get a * b + c * d, each rounded. gcc is told by -ffp-contract=off. */
EMOGI_INLINE double
emogi_rank_units_two_products(double a, double b, double c, double d)
{
#ifdef __CUDA_ARCH__
	return __dadd_rn(__dmul_rn(a, b), __dmul_rn(c, d));
#else
	return a * b + c * d;
#endif
}

/* Get how much leaps bring in an iteration, all together: those of readers, and of what dangles. */
EMOGI_INLINE double
emogi_rank_units_leaps(double damping, uint64_t dangling)
{
	return emogi_rank_units_two_products(1.0 - damping, 1.0, damping, (double) dangling / EMOGI_RANK_UNITS);
}

/* Get the new rank of a vertex to which such a proportion of the leaps goes, of the sum of what it was given. */
EMOGI_INLINE double
emogi_rank_units_finish(double damping, double leaps, double proportion, uint64_t sum)
{
	return emogi_rank_units_two_products(leaps, proportion, damping, (double) sum / EMOGI_RANK_UNITS);
}

/* Get a rank in units, rounded. */
EMOGI_INLINE uint64_t
emogi_rank_units_of(double rank)
{
	return (uint64_t) (rank * EMOGI_RANK_UNITS + 0.5);
}

/* Get a change of a rank in units of twice the size, for all changes can sum to 2. */
EMOGI_INLINE uint64_t
emogi_rank_units_change(double before, double rank)
{
	return (uint64_t) (fabs(rank - before) * (EMOGI_RANK_UNITS / 2) + 0.5);
}

/* Get the sum of changes. */
EMOGI_INLINE double
emogi_rank_units_total_change(uint64_t change)
{
	return (double) change / (EMOGI_RANK_UNITS / 2);
}

/* Get 32 bits that have no pattern of the vertex. */
EMOGI_INLINE uint32_t
emogi_rank_units_hash(uint32_t vertex)
{
	uint32_t	hash = (vertex + 1) * UINT32_C(0x9E3779B1);

	hash = (hash ^ hash >> 16) * UINT32_C(0x85EBCA6B);
	hash = (hash ^ hash >> 13) * UINT32_C(0xC2B2AE35);
	return hash ^ hash >> 16;
}

/* Get the exponent, to the base 4, of a share of so many units. */
EMOGI_INLINE uint32_t
emogi_rank_units_exponent(uint64_t units)
{
#ifdef __CUDA_ARCH__
	const uint32_t bits = 64 - (uint32_t) __clzll((long long) (units | 1));
#else
	const uint32_t bits = 64 - (uint32_t) __builtin_clzll(units | 1);
#endif

	return bits <= EMOGI_RANK_MANTISSA_BITS ? 0 : (bits - EMOGI_RANK_MANTISSA_BITS + 1) / 2;
}

/* Get what a vertex gives along each of its edges out, of which there are some: a number of units, if coarse with 36 significant bits at most. */
EMOGI_INLINE uint64_t
emogi_rank_units_share(double rank, uint64_t nedges, uint32_t vertex, bool coarse)
{
	const uint32_t hash = emogi_rank_units_hash(vertex);
	const uint64_t units = (uint64_t) (rank / (double) nedges * EMOGI_RANK_UNITS + hash * (1.0 / 4294967296.0));
	const uint64_t below = coarse ? (UINT64_C(1) << 2 * emogi_rank_units_exponent(units)) - 1 : 0;

	return (units + (hash & below)) & ~below;
}

#endif							/* EMOGI_RANK_UNITS_H */
