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

/*
 * Find the weight of edges of a relation for which the user named no columns, and the reverse
 * weight that belongs to it: without it, half of the edges might be missing. 0 = none.
 */
void
emogi_default_columns_weights(Oid relid, EmogiWantedWeight wants_weight, EmogiSource *source)
{
	const AttrNumber capacity = wants_weight == EMOGI_WANTS_CAPACITY ?
		get_attnum(relid, "capacity") : 0;

	source->weight = capacity > 0 ? capacity : get_attnum(relid, "weight");
	source->reverse = capacity > 0 ? Max(get_attnum(relid, "reverse_capacity"), 0) : 0;
	if (source->weight > 0)
		return;
	source->weight = Max(get_attnum(relid, "cost"), 0);
	if (source->weight > 0)
		source->reverse = Max(get_attnum(relid, "reverse_cost"), 0);
	else if (wants_weight == EMOGI_WANTS_ANY_WEIGHT)
		emogi_default_columns_weights(relid, EMOGI_WANTS_CAPACITY, source);
}
