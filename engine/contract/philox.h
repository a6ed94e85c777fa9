/*
 * philox.h: counter-based random numbers: number i of the sequence of a seed can be computed
 * independently and in any order (Salmon, Moraes, Dror, Shaw, Parallel Random Numbers: As Easy as
 * 1, 2, 3, SC 2011, 3.3: Philox4x32-10).
 */
#ifndef EMOGI_PHILOX_H
#define EMOGI_PHILOX_H

#include "engine.h"

/* 128 random bits. */
typedef struct EmogiRandom
{
	uint32_t	words[4];
} EmogiRandom;

/* Get the random bits for a seed and a counter of four words. */
EMOGI_INLINE EmogiRandom
emogi_philox(uint64_t seed, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3)
{
	uint32_t	k0 = (uint32_t) seed;
	uint32_t	k1 = (uint32_t) (seed >> 32);
	EmogiRandom x = {{c0, c1, c2, c3}};

	for (int round = 0; round < 10; round++)
	{
		const uint64_t a = (uint64_t) UINT32_C(0xD2511F53) * x.words[0];
		const uint64_t b = (uint64_t) UINT32_C(0xCD9E8D57) * x.words[2];

		x.words[0] = (uint32_t) (b >> 32) ^ x.words[1] ^ k0;
		x.words[1] = (uint32_t) b;
		x.words[2] = (uint32_t) (a >> 32) ^ x.words[3] ^ k1;
		x.words[3] = (uint32_t) a;
		k0 += UINT32_C(0x9E3779B9);
		k1 += UINT32_C(0xBB67AE85);
	}
	return x;
}

/* Get 64 of the bits: half = 0 or 1. */
EMOGI_INLINE uint64_t
emogi_random_bits(EmogiRandom random, int half)
{
	return (uint64_t) random.words[2 * half + 1] << 32 | random.words[2 * half];
}

/* Convert 64 random bits to a number in [0, 1); all multiples of 2^-53 are equally likely. */
EMOGI_INLINE double
emogi_random_unit(uint64_t bits)
{
	return (double) (bits >> 11) * 0x1p-53;
}

#endif							/* EMOGI_PHILOX_H */
