/*
 * rank_units.h: integer arithmetic for PAGERANK, so that sums are bitwise equal in any order: in
 * all engines, with any number of threads, by any method.
 *
 * Plain inline C for both gcc and nvcc. All ranks sum to 1, which is 2^63 units, so no sum of
 * shares overflows. The share that a vertex passes along an edge is rounded to whole units. In a
 * graph with many edges it is rounded to at most 36 significant bits, which fit the numbers in the
 * bins of the GPU: above 2^36 units, to multiples of a power of 4, so the relative error of such a
 * share is less than 2^-34. It is rounded up with a probability equal to the fraction that is cut
 * off, decided by a hash of the vertex, so that the errors of vertices with the same rank do not
 * add up. Ranks themselves are doubles, computed from the sums by multiplications and additions
 * that no compiler fuses. The change of an iteration and the rank of dangling vertices are sums of
 * integers, too.
 *
 * If teleports go to all vertices with the same probability, the smallest rank is (1 - damping) /
 * n, of which a unit is at most 2^-34; every rank then has a relative error of at most 1e-9. With
 * personalization, ranks can be arbitrarily small: their error is at most that, or one unit,
 * 1.1e-19, per edge that ends in the vertex, whichever is larger.
 */
#ifndef EMOGI_RANK_UNITS_H
#define EMOGI_RANK_UNITS_H

#include <math.h>

#include "engine.h"

#define EMOGI_RANK_UNITS 9223372036854775808.0	/* 2^63, for a rank of 1 */
#define EMOGI_RANK_MANTISSA_BITS 36
#define EMOGI_RANK_MIN (1.0 / (UINT64_C(1) << 29))	/* lower bound of the smallest rank */
#define EMOGI_RANK_MIN_TOLERANCE 1e-9	/* smaller changes cannot be resolved with 36 bits */
#define EMOGI_RANK_MANY_EDGES (UINT64_C(3) << 24)	/* from this number of edges on, shares have 36
													 * bits */

/* Check whether shares have at most 36 significant bits in a graph with this number of edges. */
EMOGI_INLINE bool
emogi_rank_units_coarse(uint64_t nedges)
{
	return nedges >= EMOGI_RANK_MANY_EDGES;
}

/*
 * Check whether ranks can be computed with integers for this query of PAGERANK and this graph;
 * otherwise they are sums of doubles.
 */
EMOGI_INLINE bool
emogi_rank_units_applicable(const EmogiQuery *query, uint64_t nvertices, bool coarse)
{
	return !query->is_weighted &&
		(!coarse || query->tolerance == 0.0 || query->tolerance >= EMOGI_RANK_MIN_TOLERANCE) &&
		(query->teleport != NULL || (1.0 - query->damping) / (double) nvertices >= EMOGI_RANK_MIN);
}

/*
 * Check whether ranks, which are doubles then, can be divided by a sum of weights without overflow;
 * a sum of 0 (dangling) is accepted.
 */
EMOGI_INLINE bool
emogi_rank_strength_is_valid(double sum)
{
	return sum == 0.0 || (sum >= 1e-290 && sum <= 1e290);
}

/* Get a * b + c * d without fusing; gcc needs -ffp-contract=off. */
EMOGI_INLINE double
emogi_rank_units_two_products(double a, double b, double c, double d)
{
#ifdef __CUDA_ARCH__
	return __dadd_rn(__dmul_rn(a, b), __dmul_rn(c, d));
#else
	return a * b + c * d;
#endif
}

/* Get the total of all teleports in an iteration, including those of dangling vertices. */
EMOGI_INLINE double
emogi_rank_units_teleports(double damping, uint64_t dangling)
{
	return emogi_rank_units_two_products(1.0 - damping, 1.0, damping,
										 (double) dangling / EMOGI_RANK_UNITS);
}

/*
 * Get the new rank of a vertex from the sum of its shares, and the proportion of teleports that go
 * to it.
 */
EMOGI_INLINE double
emogi_rank_units_finish(double damping, double teleports, double proportion, uint64_t sum)
{
	return emogi_rank_units_two_products(teleports, proportion, damping,
										 (double) sum / EMOGI_RANK_UNITS);
}

/* Convert a rank to units, rounded. */
EMOGI_INLINE uint64_t
emogi_rank_units_of(double rank)
{
	return (uint64_t) (rank * EMOGI_RANK_UNITS + 0.5);
}

/* Convert the change of a rank to units of twice the size, because all changes can sum to 2. */
EMOGI_INLINE uint64_t
emogi_rank_units_change(double before, double rank)
{
	return (uint64_t) (fabs(rank - before) * (EMOGI_RANK_UNITS / 2) + 0.5);
}

/* Convert a sum of changes back. */
EMOGI_INLINE double
emogi_rank_units_total_change(uint64_t change)
{
	return (double) change / (EMOGI_RANK_UNITS / 2);
}

/* Get a 32-bit hash without a visible pattern of the vertex. */
EMOGI_INLINE uint32_t
emogi_rank_units_hash(uint32_t vertex)
{
	uint32_t	hash = (vertex + 1) * UINT32_C(0x9E3779B1);

	hash = (hash ^ hash >> 16) * UINT32_C(0x85EBCA6B);
	hash = (hash ^ hash >> 13) * UINT32_C(0xC2B2AE35);
	return hash ^ hash >> 16;
}

/* Get the exponent, to base 4, of a share in units. */
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

/*
 * Get the share in units that a vertex passes along each of its nedges > 0 outgoing edges; at most
 * 36 significant bits if coarse.
 */
EMOGI_INLINE uint64_t
emogi_rank_units_share(double rank, uint64_t nedges, uint32_t vertex, bool coarse)
{
	const uint32_t hash = emogi_rank_units_hash(vertex);
	const uint64_t units = (uint64_t) (rank / (double) nedges * EMOGI_RANK_UNITS +
									   hash * (1.0 / 4294967296.0));
	const uint64_t below = coarse ? (UINT64_C(1) << 2 * emogi_rank_units_exponent(units)) - 1 : 0;

	return (units + (hash & below)) & ~below;
}

#endif							/* EMOGI_RANK_UNITS_H */
