/*
 * cache_key.c: comparison and hashing of graph keys.
 */
#include "postgres.h"

#include "cache/cache.h"

/* Check whether two graphs are of the same table, or of the same query. */
bool
emogi_cache_same_source(const EmogiGraphKey *a, const EmogiGraphKey *b)
{
	return a->database == b->database && a->of_query == b->of_query &&
		(a->of_query ? memcmp(a->fingerprint, b->fingerprint, sizeof a->fingerprint) == 0 :
		 a->relid == b->relid);
}

/* Get the first bytes of a fingerprint. */
uint64
emogi_cache_fingerprint_prefix(const EmogiGraphKey *key)
{
	uint64		start;

	memcpy(&start, key->fingerprint, sizeof start);
	return start;
}
