/*
 * wish_values.c: whether a query has values that no other call may ask for (Q6).
 *
 * A Graph of values that no other call gives only takes memory. A query with a folded value gets
 * an entry when it is asked for a second time. A query that differs from an earlier one in
 * nothing but constants gets one at once, marked `asked_once`: the last few Graphs with this mark
 * stay (wish_drop.c), and they are evicted first. The mark ends when a call finds the Graph. A
 * query that is asked for again, or that is always the same, has an entry like any other. So has
 * a view: the name of another one makes another shape.
 */
#include "postgres.h"

#include "build/wish.h"
#include "server/fault.h"

/*
 * Does a query have values that other calls need not have, and are they asked for the first time?
 * noted: they count as asked for from now on.
 */
bool
emogi_wish_asked_first(const EmogiWish *wish, bool noted)
{
	bool		is_first;

	if (!wish->key.of_query)
		return false;
	emogi_cache_lock();
	is_first = emogi_asked_first(&wish->key, wish->shape, noted);
	emogi_cache_unlock();
	return is_first && !emogi_faults.tree[EMOGI_TREE_AGAIN];
}
