/*
 * cache_key.c: keys of Graphs: which are of one source, and those of queries that were asked for lately.
 *
 * What is asked for once gets neither an entry, if a value of the call is in it, nor a live state. All of this is under cache_lock.
 */
#include "postgres.h"

#include "cache/cache.h"

/* Are two Graphs of the same table, or of the same query? */
bool
emogi_cache_same_source(const EmogiGraphKey *a, const EmogiGraphKey *b)
{
	return a->database == b->database && a->of_query == b->of_query &&
		(a->of_query ? memcmp(a->digest, b->digest, sizeof a->digest) == 0 : a->relid == b->relid);
}

/* Get the first bytes of a digest. */
uint64
emogi_cache_digest_start(const EmogiGraphKey *key)
{
	uint64		start;

	memcpy(&start, key->digest, sizeof start);
	return Max(start, 1);
}

/* Is a key among those that were noted lately? It is from now on, with notes. */
bool
emogi_cache_key_is_noted(EmogiNotedKeys *noted, const EmogiGraphKey *key, bool notes)
{
	const uint64 start = emogi_cache_digest_start(key);

	for (int i = 0; i < EMOGI_KEYS_NOTED; i++)
		if (noted->starts[i] == start)
			return true;
	if (notes)
		noted->starts[noted->next++ % EMOGI_KEYS_NOTED] = start;
	return false;
}
