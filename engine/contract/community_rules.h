/*
 * community_rules.h: rules of community detection that give bitwise equal results in C and CUDA.
 * Plain inline C for both gcc and nvcc.
 *
 * The result must not depend on the order of execution. Weights are therefore integers (units), so
 * that sums of them are exact. Computations on sums round in the same way with both compilers,
 * because a product is never fused with an addition. Ties are broken by hashes, and random numbers
 * are hashes of a seed and a counter.
 *
 * Units: weights of 8, 16 and 32 bits, and edges without weights, are used as integers. Other
 * weights, and those of 32 bits if their sum might overflow, are multiplied by the power of two
 * that brings the sum of all weights, 2m, into 2^60 .. 2^61, and rounded.
 *
 * Nodes are moved in batches. All nodes of a batch choose their target communities based on the
 * state at the start of the batch. The strengths that request to enter and to leave each community
 * are added up, and a node moves if it gains even if exactly those of the other moves happen that
 * are bad for it. (Edges between moving nodes can only increase the sum of their gains if no
 * community is both left and joined; from SURE_SWEEP on this is enforced, so modularity increases.)
 * If in every batch too many nodes request to move, none moves. In late sweeps, therefore, only a
 * fraction of them, chosen by hash, may request: all, 1/2, 1/4 and so on down to 2^-23, and then
 * all again. A node that is the only one to request and gains does move, so the procedure
 * terminates.
 */
#ifndef EMOGI_CONTRACT_COMMUNITIES_H
#define EMOGI_CONTRACT_COMMUNITIES_H

#include "engine.h"

#include <string.h>

#define EMOGI_COMMUNITIES_SURE_SWEEP 6
#define EMOGI_COMMUNITIES_BATCHES 96	/* per sweep, if there are as many nodes; late sweeps use
										 * more */
#define EMOGI_LOUVAIN_BATCHES 512	/* maximum with many nodes: this increases modularity, and there
									 * is no refinement that would do so */
#define EMOGI_COMMUNITIES_BATCH_NODES 16384	/* per batch, with many nodes */
#define EMOGI_COMMUNITIES_LATE_SWEEP 64	/* after each so many sweeps the number of batches doubles,
										 * up to EMOGI_COMMUNITIES_MAX_BATCHES */
#define EMOGI_COMMUNITIES_MAX_BATCHES 16384
#define EMOGI_COMMUNITIES_FEW_SWEEP 512	/* from this sweep on only a fraction of the nodes requests
										 * to move, finally one at a time, */
#define EMOGI_COMMUNITIES_FEW_IDLE 32	/* or after this many consecutive sweeps without a move */
#define EMOGI_COMMUNITIES_MAX_IDLE 512	/* this many sweeps without a move end local moving:
										 * remaining gains are rounding errors */
#define EMOGI_LOUVAIN_ENOUGH 0.002	/* fraction of the total gain: if a sweep gains less, continue
									 * with the next level, which is faster */
#define EMOGI_LEIDEN_ENOUGH 0.005	/* likewise for Leiden, where the next level begins with another
									 * pass */
#define EMOGI_COMMUNITIES_ITERATIONS 2	/* of Leiden */
#define EMOGI_COMMUNITIES_SMALL_LEVEL 32768	/* nodes and edges: a level of at most this size is
											 * optimized to the last bit */
#define EMOGI_COMMUNITIES_ROUNDING 1e-12	/* relative to a node's strength: not counted as a
											 * gain */
#define EMOGI_COMMUNITIES_WHOLE_BITS 60
#define EMOGI_COMMUNITIES_LARGEST_GUMBEL 40.0
#define EMOGI_COMMUNITIES_RANDOM_RANGE 41.0	/* in thetas: if two gains differ by more, the larger
											 * one is always chosen */

/* Storage type of the weights of a level. */
typedef enum EmogiWeightUnits
{
	EMOGI_UNITS_ONE = 0,		/* no weights: each is 1 */
	EMOGI_UNITS_U8,
	EMOGI_UNITS_U16,
	EMOGI_UNITS_U32,
	EMOGI_UNITS_I64
} EmogiWeightUnits;

/* Parameters of the computation of gains. */
typedef struct EmogiGainParameters
{
	double		resolution;
	double		whole;			/* 2m in units; 1 if that is 0 */
	double		min_gain;		/* a move must gain more than this, in units */
	double		scale;			/* a power of two: gains are added up as integer multiples of 1 /
								 * scale units */
	double		theta;			/* in units; 0 = always choose the best */
	double		enough;			/* EMOGI_LOUVAIN_ENOUGH or EMOGI_LEIDEN_ENOUGH */
	uint64_t	batches;		/* EMOGI_LOUVAIN_BATCHES or EMOGI_COMMUNITIES_BATCHES */
} EmogiGainParameters;

/* Get a random number from a seed and a counter. */
EMOGI_INLINE uint64_t
emogi_communities_random(uint64_t seed, uint64_t counter)
{
	uint64_t	x = seed + counter * UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

/* Multiply without fusing the product with an addition. */
EMOGI_INLINE double
emogi_communities_product(double a, double b)
{
#ifdef __CUDA_ARCH__
	return __dmul_rn(a, b);
#else
	return a * b;				/* files that include this are compiled with -ffp-contract=off */
#endif
}

/* Get the loss of a node of this strength per unit of strength of its community. */
EMOGI_INLINE double
emogi_communities_rate(const EmogiGainParameters *gains, int64_t strength)
{
	return emogi_communities_product(gains->resolution, (double) strength / gains->whole);
}

/*
 * Get the value of being in a community of strength `total` (without the node), with edges of this
 * weight to it.
 */
EMOGI_INLINE double
emogi_communities_value(double rate, int64_t weight, int64_t total)
{
	return (double) weight - emogi_communities_product(rate, (double) total);
}

/* Get the threshold that a gain must exceed. */
EMOGI_INLINE double
emogi_communities_min_gain(const EmogiGainParameters *gains, int64_t strength)
{
	return gains->min_gain + emogi_communities_product(EMOGI_COMMUNITIES_ROUNDING,
													   (double) strength);
}

/* Convert a gain to the integers in which gains are added up. */
EMOGI_INLINE int64_t
emogi_communities_gain(const EmogiGainParameters *gains, double gain)
{
	return (int64_t) emogi_communities_product(gain, gains->scale);
}

/*
 * Get the contribution of a vertex to modularity, from its weight to its own community, its
 * strength, the strength of the community, and 2m.
 */
EMOGI_INLINE double
emogi_communities_part_of(double resolution, double inside, double strength, double total,
						  double whole)
{
	return inside / whole -
		emogi_communities_product(emogi_communities_product(resolution, strength / whole),
								  total / whole);
}

/* ---- the best community ---- */

/* The best community found so far. */
typedef struct EmogiBestCommunity
{
	double		value;			/* the next one must have a larger value, or the same value and come
								 * first by hash */
	uint32_t	community;		/* EMOGI_NO_VERTEX = none yet; `value` must then be exceeded */
	int64_t		weight;			/* of the edges to the community */
} EmogiBestCommunity;

/* Check whether a comes before b if they have the same value. */
EMOGI_INLINE bool
emogi_communities_breaks_tie(uint64_t salt, uint32_t a, uint32_t b)
{
	const uint32_t x = (uint32_t) (emogi_communities_random(salt, a) >> 32);
	const uint32_t y = (uint32_t) (emogi_communities_random(salt, b) >> 32);

	return x != y ? x < y : a < b;
}

/* Replace the best community if this one is better. */
EMOGI_INLINE void
emogi_communities_offer(EmogiBestCommunity *best, uint64_t salt, double value, uint32_t community,
						int64_t weight)
{
	if (value < best->value)
		return;
	if (value == best->value &&
		(best->community == EMOGI_NO_VERTEX || community == EMOGI_NO_VERTEX ||
		 !emogi_communities_breaks_tie(salt, community, best->community)))
		return;
	best->value = value;
	best->community = community;
	best->weight = weight;
}

/* ---- batches ---- */

/* Get the number of batches of a sweep over `count` nodes. */
EMOGI_INLINE uint32_t
emogi_communities_nbatches(const EmogiGainParameters *gains, uint64_t count, uint64_t sweep)
{
	uint64_t	limit = count / EMOGI_COMMUNITIES_BATCH_NODES;

	if (limit > gains->batches)
		limit = gains->batches;
	if (limit < EMOGI_COMMUNITIES_BATCHES)
		limit = EMOGI_COMMUNITIES_BATCHES;
	for (uint64_t late = sweep / EMOGI_COMMUNITIES_LATE_SWEEP;
		 late > 0 && limit < EMOGI_COMMUNITIES_MAX_BATCHES; late--)
		limit *= 2;
	if (limit > EMOGI_COMMUNITIES_MAX_BATCHES)
		limit = EMOGI_COMMUNITIES_MAX_BATCHES;
	return (uint32_t) (count < limit ? count : limit);
}

/* Get the batch of a node. */
EMOGI_INLINE uint32_t
emogi_communities_batch(uint64_t salt, uint64_t i, uint32_t nbatches)
{
	return (uint32_t) ((emogi_communities_random(salt, i) >> 32) * nbatches >> 32);
}

/*
 * Check whether, in this sweep, only a fraction of the nodes requests to move. nidle: number of
 * consecutive sweeps without a move before it.
 */
EMOGI_INLINE bool
emogi_communities_limits_requests(uint64_t sweep, uint64_t nidle)
{
	return sweep >= EMOGI_COMMUNITIES_FEW_SWEEP || nidle >= EMOGI_COMMUNITIES_FEW_IDLE;
}

/*
 * Check whether a node may request to move in a sweep in which only a fraction of the nodes may:
 * fewer requests at a time succeed where many would block each other. few: as returned by
 * emogi_communities_limits_requests; before that, only nodes that want to be alone are restricted
 * in this way.
 */
EMOGI_INLINE bool
emogi_communities_requests_move(uint64_t salt, uint64_t i, uint64_t sweep, bool few)
{
	return (emogi_communities_random(~salt, i) >> 40 &
			((UINT64_C(1) << sweep % (few ? 24 : 12)) - 1)) == 0;
}

/*
 * A requested move, with the state at the start of the batch and the sums over the requests of the
 * batch.
 */
typedef struct EmogiCommunityMove
{
	uint32_t	from;
	uint32_t	to;
	bool		to_empty;		/* the community is empty, and no other node requests to join it */
	int64_t		difference;		/* weight of the edges to `to` minus those to `from` */
	int64_t		strength;
	int64_t		total_from;		/* with the node */
	int64_t		total_to;
	uint32_t	size_from;
	uint32_t	size_to;
	int64_t		into_from;		/* strength that requests to join */
	int64_t		into_to;		/* with the node */
	int64_t		out_of_from;	/* strength that requests to leave, with the node */
	int64_t		out_of_to;
} EmogiCommunityMove;

/* Get the minimum gain of a node if all requested moves happen. */
EMOGI_INLINE double
emogi_communities_guaranteed_gain(const EmogiGainParameters *gains, const EmogiCommunityMove *move)
{
	const int64_t joined = move->to_empty ? 0 : move->total_to + move->into_to - move->strength;
	const int64_t left = move->total_from - move->out_of_from;

	return emogi_communities_value(emogi_communities_rate(gains, move->strength), move->difference,
								   joined - left);
}

/*
 * Check whether a node may move to its target. `sure`: only if no community is both left and
 * joined.
 */
EMOGI_INLINE bool
emogi_communities_accepts_move(const EmogiCommunityMove *move, bool sure, uint64_t salt)
{
	if (move->to_empty)
		return true;
	if (move->size_from == 1 && move->size_to == 1 && move->out_of_to > 0 && move->to > move->from)
		return false;			/* the two nodes would swap */
	if (!sure || (move->out_of_to == 0 && move->into_from == 0))
		return true;
	return (emogi_communities_random(salt, ~(uint64_t) move->from) & 1) == 0 &&
		(emogi_communities_random(salt, ~(uint64_t) move->to) & 1) != 0;
}

/* ---- refinement ---- */

/*
 * Check whether a node or community with this strength and this weight to the rest is well
 * connected to the rest of a community of strength `whole`.
 */
EMOGI_INLINE bool
emogi_communities_well_connected(const EmogiGainParameters *gains, int64_t strength, int64_t cut,
								 int64_t whole)
{
	return (double) cut >=
		emogi_communities_product(emogi_communities_product(emogi_communities_rate(gains, strength),
															(double) (whole - strength)),
								  1.0 - 1e-12);
}

/*
 * Get the natural logarithm of a positive, normal number with an error of about 1e-15: the same
 * bits on every platform.
 */
EMOGI_INLINE double
emogi_communities_log(double x)
{
	uint64_t	bits;
	int			exponent;
	double		s,
				square,
				sum = 0.0;

	memcpy(&bits, &x, sizeof bits);
	exponent = (int) (bits >> 52) - 1023;
	bits = (bits & UINT64_C(0xFFFFFFFFFFFFF)) | UINT64_C(0x3FF0000000000000);
	memcpy(&x, &bits, sizeof x);	/* 1 .. 2 */
	if (x > 1.4142135623730951)
	{
		x *= 0.5;
		exponent++;
	}
	s = (x - 1.0) / (x + 1.0);
	square = emogi_communities_product(s, s);
	for (int k = 19; k > 0; k -= 2)
		sum = emogi_communities_product(sum, square) + 2.0 / (double) k;
	return emogi_communities_product(sum, s) + emogi_communities_product((double) exponent,
																		 0.69314718055994531);
}

/*
 * Get a random number of the Gumbel distribution: if such a number is added to each x, the
 * probability that an x becomes the largest is proportional to exp(x) (E. Gumbel, Statistical
 * Theory of Extreme Values, 1954). Less than LARGEST_GUMBEL.
 */
EMOGI_INLINE double
emogi_communities_gumbel(uint64_t random)
{
	const double unit = ((double) (random >> 12) + 0.5) * 0x1p-52;	/* in (0, 1) */

	return -emogi_communities_log(-emogi_communities_log(unit));
}

/*
 * Check whether a community with this value can win the random choice, or is too much worse than
 * the best.
 */
EMOGI_INLINE bool
emogi_communities_may_win(const EmogiBestCommunity *best, const EmogiGainParameters *gains,
						  double value)
{
	return value + emogi_communities_product(EMOGI_COMMUNITIES_LARGEST_GUMBEL, gains->theta) >=
		best->value;
}

/*
 * Offer a community to join, or its own to stay alone (value 0), in the random choice of the
 * refinement.
 */
EMOGI_INLINE void
emogi_communities_offer_randomly(EmogiBestCommunity *best, const EmogiGainParameters *gains,
								 uint64_t salt, double value, uint32_t community, int64_t weight)
{
	if (gains->theta > 0.0)
	{
		if (!emogi_communities_may_win(best, gains, value))
			return;
		value = value +
			emogi_communities_product(gains->theta, emogi_communities_gumbel(
									  emogi_communities_random(salt, community)));
	}
	emogi_communities_offer(best, salt, value, community, weight);
}

#endif							/* EMOGI_CONTRACT_COMMUNITIES_H */
