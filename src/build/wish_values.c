/*
 * wish_values.c: whether a query is for all whose values other calls may not have (Q6).
 *
 * A graph of values that no other call gives would only take room. So a query with a folded value, and one that differs from an earlier one in
 * nothing but constants, is given an entry when it is asked for a second time. A query that was asked for with the same constants alone, which is the usual one, has
 * its entry from the first call on. Views do not count: what is written in them is no value of a call's.
 */
#include "postgres.h"

#include "build/wish.h"
#include "server/fault.h"

/*
 * Say why the wish's query, which is asked for, is not for all yet: it has values that other calls need not have, and these are asked for the
 * first time; NULL when nothing is against it. noted: they were asked for from now on.
 */
const char *
emogi_wish_asked_first(const EmogiWish *wish, bool noted)
{
	bool		is_first;

	if (!wish->has_values)
		return NULL;
	emogi_cache_lock();
	is_first = emogi_asked_first(&wish->key, wish->shape, noted);
	emogi_cache_unlock();
	if (!is_first || emogi_faults.tree[EMOGI_TREE_AGAIN])
		return NULL;
	return wish->shape == 0 ? EMOGI_NOT_ASKED_BEFORE : EMOGI_NEW_CONSTANTS;
}
