/*
 * cache_lookup_values.c: whether a query has values that no other call may ask for (Q6).
 *
 * A Graph of values that no other call gives only takes memory. A query with a folded value gets
 * an entry when it is asked for a second time. A query that differs from an earlier one in
 * nothing but constants gets one at once, marked `asked_once`: the last few Graphs with this mark
 * stay (cache_lookup_drop.c), and they are evicted first. The mark ends when a call finds the Graph. A
 * query that is asked for again, or that is always the same, has an entry like any other. So has
 * a view: the name of another one makes another shape.
 */
#include "postgres.h"

#include "acquire/cache_lookup.h"
#include "base/fault.h"

/*
 * Does a query have values that other calls need not have, and are they asked for the first time?
 * noted: they count as asked for from now on.
 */
bool
emogi_cache_lookup_asked_first(const EmogiCacheLookup *lookup, bool noted)
{
	bool		is_first;

	if (!lookup->key.of_query)
		return false;
	emogi_cache_lock();
	is_first = emogi_asked_queries_first(&lookup->key, lookup->shape, noted);
	emogi_cache_unlock();
	return is_first && !emogi_faults.tree[EMOGI_TREE_AGAIN];
}
