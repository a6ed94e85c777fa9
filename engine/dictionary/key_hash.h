/*
 * key_hash.h: keyed hash functions of byte strings.
 *
 * The fast hash multiplies and folds [1]. Everything mixed with the input is secret and drawn for
 * each table, so nobody who has read this code can make a factor zero. The careful hash is
 * SipHash-2-4 [2]. Hashes never leave the memory of their table: they are not shown, and no visible
 * order depends on them.
 *
 * [1] Wang Yi. wyhash. https://github.com/wangyi-fudan/wyhash
 * [2] J.-P. Aumasson, D. J. Bernstein. SipHash: a fast short-input PRF. INDOCRYPT 2012.
 */
#ifndef EMOGI_KEY_HASH_H
#define EMOGI_KEY_HASH_H

#include "contract/key_table.h"

#include <string.h>

typedef struct EmogiKeyHash
{
	uint64_t	words[4];		/* secret */
	uint64_t	secure_hash;	/* 1 = SipHash-2-4 */
} EmogiKeyHash;

/* Read 8 bytes, unaligned. */
static inline uint64_t
emogi_key_read8(const char *from)
{
	uint64_t	x;

	memcpy(&x, from, sizeof(x));
	return x;
}

/* Read 4 bytes, unaligned. */
static inline uint64_t
emogi_key_read4(const char *from)
{
	uint32_t	x;

	memcpy(&x, from, sizeof(x));
	return x;
}

/* Multiply to 128 bits, and fold the two halves of the product. */
static inline uint64_t
emogi_key_fold(uint64_t a, uint64_t b)
{
	const unsigned __int128 product = (unsigned __int128) a * b;

	return (uint64_t) product ^ (uint64_t) (product >> 64);
}

/*
 * Hash by multiplying and folding, 16 bytes a step; the last 16 bytes may overlap the previous
 * ones.
 */
static inline uint64_t
emogi_key_hash_fast(const uint64_t words[4], const char *bytes, uint32_t length)
{
	uint64_t	a = 0,
				b = 0,
				seed = words[0] ^ length;

	if (length > 16)
	{
		uint32_t	left = length;

		for (; left > 16; left -= 16, bytes += 16)
			seed = emogi_key_fold(emogi_key_read8(bytes) ^ words[1],
								  emogi_key_read8(bytes + 8) ^ seed);
		a = emogi_key_read8(bytes + left - 16);
		b = emogi_key_read8(bytes + left - 8);
	}
	else if (length >= 8)
	{
		a = emogi_key_read8(bytes);
		b = emogi_key_read8(bytes + length - 8);
	}
	else if (length >= 4)
	{
		a = emogi_key_read4(bytes);
		b = emogi_key_read4(bytes + length - 4);
	}
	else if (length > 0)
		a = (uint64_t) (uint8_t) bytes[0] << 16 | (uint64_t) (uint8_t) bytes[length >> 1] << 8 |
			(uint8_t) bytes[length - 1];
	return emogi_key_fold(words[2] ^ length, emogi_key_fold(a ^ words[1], b ^ seed) ^ words[3]);
}

/* Rotate left. */
static inline uint64_t
emogi_key_rotate(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

/* Run rounds of SipHash. */
static inline void
emogi_key_sip_rounds(uint64_t v[4], int rounds)
{
	for (int i = 0; i < rounds; i++)
	{
		v[0] += v[1];
		v[2] += v[3];
		v[1] = emogi_key_rotate(v[1], 13) ^ v[0];
		v[3] = emogi_key_rotate(v[3], 16) ^ v[2];
		v[0] = emogi_key_rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = emogi_key_rotate(v[1], 17) ^ v[2];
		v[3] = emogi_key_rotate(v[3], 21) ^ v[0];
		v[2] = emogi_key_rotate(v[2], 32);
	}
}

/* Absorb 8 bytes. */
static inline void
emogi_key_sip_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	emogi_key_sip_rounds(v, 2);
	v[0] ^= word;
}

/* Hash by SipHash-2-4. */
static inline uint64_t
emogi_key_siphash(const uint64_t words[4], const char *bytes, uint32_t length)
{
	uint64_t	v[4] = {words[0] ^ UINT64_C(0x736f6d6570736575),
		words[1] ^ UINT64_C(0x646f72616e646f6d),
	words[0] ^ UINT64_C(0x6c7967656e657261), words[1] ^ UINT64_C(0x7465646279746573)};
	uint64_t	last = (uint64_t) length << 56;

	for (uint32_t i = length / 8; i > 0; i--, bytes += 8)
		emogi_key_sip_word(v, emogi_key_read8(bytes));
	for (uint32_t i = 0; i < length % 8; i++)
		last |= (uint64_t) (uint8_t) bytes[i] << (8 * i);
	emogi_key_sip_word(v, last);
	v[2] ^= 0xff;
	emogi_key_sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Hash a key by the function that its table uses. */
static inline uint64_t
emogi_key_hash(const EmogiKeyHash *hash, const char *bytes, uint32_t length)
{
	if (hash->secure_hash)
		return emogi_key_siphash(hash->words, bytes, length);
	return emogi_key_hash_fast(hash->words, bytes, length);
}

/* Compare two byte strings of the same length for equality. */
static inline bool
emogi_key_same_bytes(const char *a, const char *b, uint32_t length)
{
	if (length > 64)
		return memcmp(a, b, length) == 0;
	if (length < 8)
	{
		for (uint32_t i = 0; i < length; i++)
		{
			if (a[i] != b[i])
				return false;
		}
		return true;
	}
	for (uint32_t i = 0; i + 8 < length; i += 8)
	{
		if (emogi_key_read8(a + i) != emogi_key_read8(b + i))
			return false;
	}
	return emogi_key_read8(a + length - 8) == emogi_key_read8(b + length - 8);
}

#endif							/* EMOGI_KEY_HASH_H */
