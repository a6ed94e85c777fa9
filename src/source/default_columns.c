/*
 * default_columns.c: the columns of a relation for which the user named none
 */
#include "postgres.h"

#include "utils/lsyscache.h"

#include "source/source.h"

/*
 * Find the endpoint columns of a relation for which the user named none; return false if they do
 * not exist.
 */
bool
emogi_default_columns_find(Oid relid, EmogiSource *source)
{
	for (int i = 0; i < (int) lengthof(emogi_query_end_names); i++)
	{
		source->src = get_attnum(relid, emogi_query_end_names[i][0]);
		source->dst = get_attnum(relid, emogi_query_end_names[i][1]);
		if (source->src > 0 && source->dst > 0)
			return true;
	}
	return false;
}

/* Find the weight column of a relation for which the user named no columns; 0 if it has none. */
AttrNumber
emogi_default_columns_weight(Oid relid)
{
	AttrNumber	weight = get_attnum(relid, "weight");

	if (weight <= 0)
		weight = get_attnum(relid, "cost");
	return Max(weight, 0);
}

/*
 * Find the reverse weight that belongs to a `cost` that the user did not name; 0 if there is none.
 * Without it, half of the edges might be missing.
 */
AttrNumber
emogi_default_columns_reverse(Oid relid, AttrNumber weight)
{
	return weight > 0 && weight == get_attnum(relid, "cost") ?
		Max(get_attnum(relid, "reverse_cost"), 0) : 0;
}
