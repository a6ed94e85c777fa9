/*
 * filter_bounds.h: ranges of stored integers for comparisons with a constant (filter_bounds.c)
 */
#ifndef EMOGI_FILTER_BOUNDS_H
#define EMOGI_FILTER_BOUNDS_H

#include "nodes/primnodes.h"

#include "contract/edge_filter.h"

/*
 * The place of a constant among ascending values: the first that is not less, and the first that is
 * greater; `no_...` = there is none.
 */
typedef struct EmogiFilterBounds
{
	int64		first;
	int64		after;
	bool		no_first;
	bool		no_after;
} EmogiFilterBounds;

extern EmogiFilterBounds emogi_filter_bounds_of_integer(int64 value);
extern EmogiFilterBounds emogi_filter_bounds_of_float(double constant);
extern EmogiFilterBounds emogi_filter_bounds_of_numeric(Datum constant);
extern int64 emogi_filter_bounds_integer(Datum value, Oid type);
extern double emogi_filter_bounds_double(Datum value, Oid type);
extern bool emogi_filter_bounds_is_safe_pattern(const Const *constant, Oid collation);
extern void emogi_filter_bounds_set_range(EmogiFilterStep *step, int strategy,
										  const EmogiFilterBounds *bounds);

#endif							/* EMOGI_FILTER_BOUNDS_H */
