/*
 * sha256.h: the SHA-256 of a few bytes (FIPS 180-4, 6.2)
 *
 * The library that PostgreSQL uses fetches the algorithm for each hash. For a few bytes this takes
 * longer than the hash, and in a small call its instructions are the least likely to be cached.
 */
#ifndef EMOGI_SHA256_H
#define EMOGI_SHA256_H

#include "engine.h"

#define EMOGI_SHA256_BYTES 32
#define EMOGI_SHA256_BLOCK 64

/* Rotate the bits of a word to the right. */
EMOGI_INLINE uint32_t
emogi_sha256_rotate(uint32_t x, int count)
{
	return x >> count | x << (32 - count);
}

/* Read a word, most significant byte first. */
EMOGI_INLINE uint32_t
emogi_sha256_word(const uint8_t *bytes)
{
	return (uint32_t) bytes[0] << 24 | (uint32_t) bytes[1] << 16 | (uint32_t) bytes[2] << 8 |
		bytes[3];
}

/* Write the lower bytes of a number, most significant byte first. */
EMOGI_INLINE void
emogi_sha256_write(uint64_t number, int nbytes, uint8_t *bytes)
{
	for (int i = 0; i < nbytes; i++)
		bytes[i] = (uint8_t) (number >> (8 * (nbytes - 1 - i)));
}

/* Add a block to the hash. block: [EMOGI_SHA256_BLOCK]; hash: [8]. */
EMOGI_INLINE void
emogi_sha256_add_block(const uint8_t *block, uint32_t *hash)
{
	static const uint32_t constants[64] = {
		0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
		0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
		0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
		0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
		0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
		0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
		0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
		0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
		0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
		0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
		0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
		0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
		0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
		0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
		0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
		0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
	};
	uint32_t	w[64];
	uint32_t	a = hash[0];
	uint32_t	b = hash[1];
	uint32_t	c = hash[2];
	uint32_t	d = hash[3];
	uint32_t	e = hash[4];
	uint32_t	f = hash[5];
	uint32_t	g = hash[6];
	uint32_t	h = hash[7];

	for (int i = 0; i < 16; i++)
		w[i] = emogi_sha256_word(block + 4 * i);
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
			(emogi_sha256_rotate(w[i - 15], 7) ^ emogi_sha256_rotate(w[i - 15], 18) ^
			 w[i - 15] >> 3) +
			(emogi_sha256_rotate(w[i - 2], 17) ^ emogi_sha256_rotate(w[i - 2], 19) ^
			 w[i - 2] >> 10);
	for (int i = 0; i < 64; i++)
	{
		const uint32_t one = h + constants[i] + w[i] + ((e & f) ^ (~e & g)) +
			(emogi_sha256_rotate(e, 6) ^ emogi_sha256_rotate(e, 11) ^ emogi_sha256_rotate(e, 25));
		const uint32_t two = ((a & b) ^ (a & c) ^ (b & c)) +
			(emogi_sha256_rotate(a, 2) ^ emogi_sha256_rotate(a, 13) ^ emogi_sha256_rotate(a, 22));

		h = g;
		g = f;
		f = e;
		e = d + one;
		d = c;
		c = b;
		b = a;
		a = one + two;
	}
	hash[0] += a;
	hash[1] += b;
	hash[2] += c;
	hash[3] += d;
	hash[4] += e;
	hash[5] += f;
	hash[6] += g;
	hash[7] += h;
}

/* Get the SHA-256 of some bytes. digest: [EMOGI_SHA256_BYTES]. */
EMOGI_INLINE void
emogi_sha256(const void *bytes, size_t nbytes, uint8_t *digest)
{
	uint32_t	hash[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
	};
	const uint8_t *p = (const uint8_t *) bytes;
	uint8_t		last[2 * EMOGI_SHA256_BLOCK] = {0};
	const size_t nwhole = nbytes / EMOGI_SHA256_BLOCK;
	const size_t nrest = nbytes % EMOGI_SHA256_BLOCK;
	const size_t nlast = nrest + 9 <= EMOGI_SHA256_BLOCK ? 1 : 2;	/* with a bit and the length */

	for (size_t i = 0; i < nwhole; i++)
		emogi_sha256_add_block(p + i * EMOGI_SHA256_BLOCK, hash);
	if (nrest > 0)
		memcpy(last, p + nwhole * EMOGI_SHA256_BLOCK, nrest);
	last[nrest] = 0x80;
	emogi_sha256_write((uint64_t) nbytes * 8, 8, last + nlast * EMOGI_SHA256_BLOCK - 8);
	for (size_t i = 0; i < nlast; i++)
		emogi_sha256_add_block(last + i * EMOGI_SHA256_BLOCK, hash);
	for (int i = 0; i < 8; i++)
		emogi_sha256_write(hash[i], 4, digest + 4 * i);
}

#endif							/* EMOGI_SHA256_H */
