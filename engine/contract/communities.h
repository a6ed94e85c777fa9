/*
 * communities.h: the rules of community detection, the same bits in C and CUDA. Plain inline C that gcc and nvcc both take.
 *
 * Nothing in an answer may depend on the order of the work. So weights are integers (units), and sums of them are exact; what is reckoned
 * of sums is made of roundings that both compilers make alike, for a product is never fused with the sum that it goes into; equals
 * are told apart by hashes; and random numbers are hashes of a seed and a counter.
 *
 * Units: weights of 8, 16 and 32 bits, and edges without weights, are integers. Others, and those of 32 bits where their sum might not fit,
 * are multiplied by the power of two that brings the sum of all, 2m, to 2^60 .. 2^61, and rounded.
 *
 * Nodes are moved batch by batch. All nodes of a batch choose where they would go as things stand when it begins. What wants to go into a
 * community and what out of it is added up, and a node goes if it gains even if all of those come and leave that are not good for it.
 * (Edges between those that move can only make the sum of their gains larger, where no community is both left and joined; from SURE_SWEEP
 * on this is seen to, so modularity grows then.) Where more nodes of each batch want to go than may go together, none goes. So in late sweeps a part
 * of them asks, chosen by hash: all, half, a quarter and so on, down to 2^-23 of them, and all again. A node that asks alone and gains goes, so the end
 * is reached.
 */
#ifndef EMOGI_CONTRACT_COMMUNITIES_H
#define EMOGI_CONTRACT_COMMUNITIES_H

#include "engine.h"

#include <string.h>

#define EMOGI_COMMUNITIES_SURE_SWEEP 6
#define EMOGI_COMMUNITIES_BATCHES 96	/* of a sweep, at most; more of one that comes late */
#define EMOGI_LOUVAIN_BATCHES 512	/* of many nodes: modularity is larger then, and the refinement does not come to make it so */
#define EMOGI_COMMUNITIES_BATCH_NODES 16384	/* of a batch of many nodes */
#define EMOGI_COMMUNITIES_LATE_SWEEP 64	/* from then on their number doubles every so often, up to MOST_BATCHES */
#define EMOGI_COMMUNITIES_MOST_BATCHES 16384
#define EMOGI_COMMUNITIES_FEW_SWEEP 512	/* from then on not all nodes that want to move ask for it: at last they go one by one, */
#define EMOGI_COMMUNITIES_FEW_IDLE 32	/* or after so many sweeps in a row in which none has moved */
#define EMOGI_COMMUNITIES_MOST_IDLE 512	/* such sweeps end local moving: gains that are left are no more than rounding */
#define EMOGI_LOUVAIN_ENOUGH 0.002	/* of all that was gained: where a sweep gains less, the next level gets there sooner */
#define EMOGI_LEIDEN_ENOUGH 0.005	/* which begins anew with a pass */
#define EMOGI_COMMUNITIES_ITERATIONS 2	/* of Leiden */
#define EMOGI_COMMUNITIES_SMALL_LEVEL 32768	/* nodes and entries: of such a level it is worth while to gain the last bit */
#define EMOGI_COMMUNITIES_ROUNDING 1e-12	/* of a node's strength: no gain */
#define EMOGI_COMMUNITIES_WHOLE_BITS 60
#define EMOGI_COMMUNITIES_LARGEST_GUMBEL 40.0
#define EMOGI_COMMUNITIES_RANDOM_RANGE 41.0	/* thetas: of two gains that are farther apart the larger is chosen surely */

/* How the weights of a level are stored. */
typedef enum EmogiWeightUnits
{
	EMOGI_UNITS_ONE = 0,		/* there are none: each is 1 */
	EMOGI_UNITS_U8,
	EMOGI_UNITS_U16,
	EMOGI_UNITS_U32,
	EMOGI_UNITS_I64
} EmogiWeightUnits;

/* What gains are reckoned with. */
typedef struct EmogiGains
{
	double		resolution;
	double		whole;			/* 2m in units; 1 where that is 0 */
	double		least;			/* a move must gain more, in units */
	double		scale;			/* a power of two: gains are added up in such fractions of a unit, as integers */
	double		theta;			/* in units; 0 = the best always */
	double		enough;			/* EMOGI_LOUVAIN_ENOUGH or EMOGI_LEIDEN_ENOUGH */
	uint64_t	batches;		/* EMOGI_LOUVAIN_BATCHES or EMOGI_COMMUNITIES_BATCHES */
} EmogiGains;

/* Get a random number of a seed and a counter. */
EMOGI_INLINE uint64_t
emogi_communities_random(uint64_t seed, uint64_t counter)
{
	uint64_t	x = seed + counter * UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

/* Get a product, rounded by itself. */
EMOGI_INLINE double
emogi_communities_product(double a, double b)
{
#ifdef __CUDA_ARCH__
	return __dmul_rn(a, b);
#else
	return a * b;				/* objects with this are made with -ffp-contract=off */
#endif
}

/* Get what a node of this strength loses by each unit of strength of the community that it is in. */
EMOGI_INLINE double
emogi_communities_rate(const EmogiGains *gains, int64_t strength)
{
	return emogi_communities_product(gains->resolution, (double) strength / gains->whole);
}

/* Get what it is worth to a node to be in a community of others of so much strength, with this weight to them. */
EMOGI_INLINE double
emogi_communities_value(double rate, int64_t weight, int64_t total)
{
	return (double) weight - emogi_communities_product(rate, (double) total);
}

/* Get what a gain must be larger than. */
EMOGI_INLINE double
emogi_communities_least(const EmogiGains *gains, int64_t strength)
{
	return gains->least + emogi_communities_product(EMOGI_COMMUNITIES_ROUNDING, (double) strength);
}

/* Turn a gain into what sums of gains are made of. */
EMOGI_INLINE int64_t
emogi_communities_gain(const EmogiGains *gains, double gain)
{
	return (int64_t) emogi_communities_product(gain, gains->scale);
}

/* Get what a vertex adds to modularity, of its weight to its own community, its strength, that of the community and 2m. */
EMOGI_INLINE double
emogi_communities_part_of(double resolution, double inside, double strength, double total, double whole)
{
	return inside / whole - emogi_communities_product(emogi_communities_product(resolution, strength / whole), total / whole);
}

/* ---- the best community ---- */

/* The best that was found. */
typedef struct EmogiBest
{
	double		value;			/* the next must be larger, or equal and come first by hash */
	uint32_t	community;		/* EMOGI_NO_VERTEX = none: `value` must be exceeded */
	int64_t		weight;			/* to it */
} EmogiBest;

/* Does a come before b among equals? */
EMOGI_INLINE bool
emogi_communities_before(uint64_t salt, uint32_t a, uint32_t b)
{
	const uint32_t x = (uint32_t) (emogi_communities_random(salt, a) >> 32);
	const uint32_t y = (uint32_t) (emogi_communities_random(salt, b) >> 32);

	return x != y ? x < y : a < b;
}

/* Keep the better one. */
EMOGI_INLINE void
emogi_communities_offer(EmogiBest *best, uint64_t salt, double value, uint32_t community, int64_t weight)
{
	if (value < best->value)
		return;
	if (value == best->value && (best->community == EMOGI_NO_VERTEX || community == EMOGI_NO_VERTEX ||
								 !emogi_communities_before(salt, community, best->community)))
		return;
	best->value = value;
	best->community = community;
	best->weight = weight;
}

/* ---- batches ---- */

/* Get the number of batches of a sweep over so many nodes. */
EMOGI_INLINE uint32_t
emogi_communities_nbatches(const EmogiGains *gains, uint64_t count, uint64_t sweep)
{
	uint64_t	most = count / EMOGI_COMMUNITIES_BATCH_NODES;

	if (most > gains->batches)
		most = gains->batches;
	if (most < EMOGI_COMMUNITIES_BATCHES)
		most = EMOGI_COMMUNITIES_BATCHES;
	for (uint64_t late = sweep / EMOGI_COMMUNITIES_LATE_SWEEP; late > 0 && most < EMOGI_COMMUNITIES_MOST_BATCHES; late--)
		most *= 2;
	if (most > EMOGI_COMMUNITIES_MOST_BATCHES)
		most = EMOGI_COMMUNITIES_MOST_BATCHES;
	return (uint32_t) (count < most ? count : most);
}

/* Get the batch of a node. */
EMOGI_INLINE uint32_t
emogi_communities_batch(uint64_t salt, uint64_t i, uint32_t nbatches)
{
	return (uint32_t) ((emogi_communities_random(salt, i) >> 32) * nbatches >> 32);
}

/* Do only some of the nodes that want to move ask for it, from this sweep on? nidle: the sweeps before it, in a row, in which none has moved. */
EMOGI_INLINE bool
emogi_communities_few_ask(uint64_t sweep, uint64_t nidle)
{
	return sweep >= EMOGI_COMMUNITIES_FEW_SWEEP || nidle >= EMOGI_COMMUNITIES_FEW_IDLE;
}

/*
 * Does a node that wants to move ask for it in this sweep, where not all do? Fewer of them at a time may where many together may not. few: as above;
 * before that only nodes that want to be alone are asked for so.
 */
EMOGI_INLINE bool
emogi_communities_asks(uint64_t salt, uint64_t i, uint64_t sweep, bool few)
{
	return (emogi_communities_random(~salt, i) >> 40 & ((UINT64_C(1) << sweep % (few ? 24 : 12)) - 1)) == 0;
}

/* What a node looks at when it has chosen, all as it was when the batch began, or added up for the batch. */
typedef struct EmogiCommunityMove
{
	uint32_t	from;
	uint32_t	to;
	bool		to_empty;		/* nobody is there, and nobody else wants to go there */
	int64_t		difference;		/* weight to there less that to where it is */
	int64_t		strength;
	int64_t		total_from;		/* with the node */
	int64_t		total_to;
	uint32_t	size_from;
	uint32_t	size_to;
	int64_t		into_from;		/* strength that wants to go there */
	int64_t		into_to;		/* with the node */
	int64_t		out_of_from;	/* with the node */
	int64_t		out_of_to;
} EmogiCommunityMove;

/* Get what a node gains at least, if all want what they want. */
EMOGI_INLINE double
emogi_communities_sure_gain(const EmogiGains *gains, const EmogiCommunityMove *wish)
{
	const int64_t joined = wish->to_empty ? 0 : wish->total_to + wish->into_to - wish->strength;
	const int64_t left = wish->total_from - wish->out_of_from;

	return emogi_communities_value(emogi_communities_rate(gains, wish->strength), wish->difference, joined - left);
}

/* May a node go where it wants to? `sure`: only if no community is both left and joined. */
EMOGI_INLINE bool
emogi_communities_may_go(const EmogiCommunityMove *wish, bool sure, uint64_t salt)
{
	if (wish->to_empty)
		return true;
	if (wish->size_from == 1 && wish->size_to == 1 && wish->out_of_to > 0 && wish->to > wish->from)
		return false;			/* the two would change places */
	if (!sure || (wish->out_of_to == 0 && wish->into_from == 0))
		return true;
	return (emogi_communities_random(salt, ~(uint64_t) wish->from) & 1) == 0 && (emogi_communities_random(salt, ~(uint64_t) wish->to) & 1) != 0;
}

/* ---- refinement ---- */

/* Is something of this strength, with this weight to the rest, well connected to the rest of a community? */
EMOGI_INLINE bool
emogi_communities_well_connected(const EmogiGains *gains, int64_t strength, int64_t cut, int64_t whole)
{
	return (double) cut >= emogi_communities_product(emogi_communities_product(emogi_communities_rate(gains, strength), (double) (whole - strength)),
													 1.0 - 1e-12);
}

/* Get the natural logarithm of a number above 0, not too small, to some 1e-15: the same bits everywhere. */
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
	return emogi_communities_product(sum, s) + emogi_communities_product((double) exponent, 0.69314718055994531);
}

/*
 * Get a number of the Gumbel distribution: of x + g with such numbers g, each is the largest with a chance in proportion to exp(x) (E. Gumbel,
 * Statistical Theory of Extreme Values, 1954). Less than LARGEST_GUMBEL.
 */
EMOGI_INLINE double
emogi_communities_gumbel(uint64_t random)
{
	const double unit = ((double) (random >> 12) + 0.5) * 0x1p-52;	/* above 0, below 1 */

	return -emogi_communities_log(-emogi_communities_log(unit));
}

/* Can what has this value be chosen at random, or is it so much worse than the best that it cannot be? */
EMOGI_INLINE bool
emogi_communities_may_win(const EmogiBest *best, const EmogiGains *gains, double value)
{
	return value + emogi_communities_product(EMOGI_COMMUNITIES_LARGEST_GUMBEL, gains->theta) >= best->value;
}

/* Offer a community that a node may join, or its own for staying alone (value 0), in the refinement's random choice. */
EMOGI_INLINE void
emogi_communities_offer_randomly(EmogiBest *best, const EmogiGains *gains, uint64_t salt, double value, uint32_t community, int64_t weight)
{
	if (gains->theta > 0.0)
	{
		if (!emogi_communities_may_win(best, gains, value))
			return;
		value = value + emogi_communities_product(gains->theta, emogi_communities_gumbel(emogi_communities_random(salt, community)));
	}
	emogi_communities_offer(best, salt, value, community, weight);
}

#endif							/* EMOGI_CONTRACT_COMMUNITIES_H */
