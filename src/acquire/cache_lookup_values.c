/*
 * cache_lookup_values.c: whether a query has values that no other call may request (Q6).
 *
 * A graph for values that no other call uses only takes memory. A query with a folded value gets an
 * entry when it is requested for the second time. A query that differs from an earlier one only in
 * its constants gets an entry at once, marked `asked_once`: the last few graphs with this mark are
 * kept (cache_lookup_drop.c), and they are evicted first. The mark is cleared when a call finds the
 * graph. A query that is repeated, or always the same, has an ordinary entry. So has a view,
 * because its name is part of the shape.
 */
#include "postgres.h"

#include "acquire/cache_lookup.h"
#include "base/fault.h"

/*
 * Check whether a query has values that other calls may not use, and is requested for the first
 * time. noted: record the request.
 */
bool
emogi_cache_lookup_is_first_request(const EmogiCacheLookup *lookup, bool noted)
{
	bool		is_first;

	if (!lookup->key.of_query)
		return false;
	emogi_cache_lock();
	is_first = emogi_asked_queries_is_first(&lookup->key, lookup->shape, noted);
	emogi_cache_unlock();
	return is_first && !emogi_faults.analysis[EMOGI_ANALYSIS_SECOND_LOOKUP];
}
