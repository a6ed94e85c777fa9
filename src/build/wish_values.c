/*
 * wish_values.c: whether a query is for all whose values other calls may not have (Q6).
 *
 * A Graph of values that no other call gives only takes room. A query with a folded value is given an entry when it is asked for a second
 * time. One that differs from an earlier one in nothing but constants is given one, but it is marked `asked_once`: of Graphs with this mark only the last few
 * stay (wish_drop.c), and they are the first that make room. The next call that finds the Graph, or asks for the query again, ends that. A query
 * that is always the same has a Graph like any other from the first call on. Views do not count: what is written in them is no value of a call's.
 */
#include "postgres.h"

#include "build/wish.h"
#include "server/fault.h"

/*
 * Does a wish's query, which is asked for, have values that other calls need not have, and are these asked for the first time? noted: they were
 * asked for from now on.
 */
bool
emogi_wish_asked_first(const EmogiWish *wish, bool noted)
{
	bool		is_first;

	if (!wish->has_values)
		return false;
	emogi_cache_lock();
	is_first = emogi_asked_first(&wish->key, wish->shape, noted);
	emogi_cache_unlock();
	return is_first && !emogi_faults.tree[EMOGI_TREE_AGAIN];
}
