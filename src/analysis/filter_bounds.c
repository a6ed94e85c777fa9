/*
 * filter_bounds.c: the place of a constant among stored integers, and the range of those for which
 * a comparison with it is true.
 *
 * Conversions of integers to doubles and to numeric are monotone, so a comparison of the converted
 * values is a range of integers, too.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "analysis/filter_bounds.h"

/* Set a step to the values for which a comparison with a constant is true. */
void
emogi_filter_bounds_set_range(EmogiFilterStep *step, int strategy, const EmogiFilterBounds *bounds)
{
	const bool	is_below = strategy == BTLessStrategyNumber ||
		strategy == BTLessEqualStrategyNumber;
	const bool	to_first = strategy == BTLessStrategyNumber;
	const bool	from_after = strategy == BTGreaterStrategyNumber;
	const bool	no_end = to_first ? bounds->no_first : bounds->no_after;
	const int64 end = to_first ? bounds->first : bounds->after;
	bool		is_empty = false;

	step->low = PG_INT64_MIN;
	step->high = PG_INT64_MAX;
	if (!is_below)
	{
		is_empty = from_after ? bounds->no_after : bounds->no_first;
		step->low = from_after ? bounds->after : bounds->first;
	}
	if ((is_below || strategy == BTEqualStrategyNumber) && !no_end)
	{
		is_empty |= end == PG_INT64_MIN;
		step->high = is_empty ? 0 : end - 1;
	}
	if (is_empty || step->low > step->high)
	{
		step->low = 1;
		step->high = 0;
	}
}

/* Get the bounds of an integer. */
EmogiFilterBounds
emogi_filter_bounds_of_integer(int64 value)
{
	return (EmogiFilterBounds) {.first = value,.after = value < PG_INT64_MAX ? value + 1 : 0,
		.no_after = value == PG_INT64_MAX};
}

/* Is an integer, as a double, before a double, or equal to it? */
static bool
is_before(int64 value, double constant, bool or_equal)
{
	return or_equal ? float8_le((double) value, constant) : float8_lt((double) value, constant);
}

/* Find the first integer that is not before a double; false if there is none. */
static bool
find_first(double constant, bool or_equal, int64 *first)
{
	int64		low = PG_INT64_MIN;
	int64		high = PG_INT64_MAX;

	if (is_before(high, constant, or_equal))
		return false;
	while (low < high)
	{
		const int64 middle = low + (int64) (((uint64) high - (uint64) low) / 2);

		if (is_before(middle, constant, or_equal))
			low = middle + 1;
		else
			high = middle;
	}
	*first = low;
	return true;
}

/* Get the bounds of a double among integers, whose conversion is monotone. */
EmogiFilterBounds
emogi_filter_bounds_of_float(double constant)
{
	EmogiFilterBounds		bounds = {0};

	bounds.no_first = !find_first(constant, false, &bounds.first);
	bounds.no_after = !find_first(constant, true, &bounds.after);
	return bounds;
}

/* Compare a numeric with an integer. */
static int
compare_numeric(Datum numeric, int64 integer)
{
	return DatumGetInt32(DirectFunctionCall2(numeric_cmp, numeric,
											 DirectFunctionCall1(int8_numeric,
																 Int64GetDatum(integer))));
}

/* Get the bounds of a numeric among integers. */
EmogiFilterBounds
emogi_filter_bounds_of_numeric(Datum constant)
{
	int64		floor;
	EmogiFilterBounds		bounds;

	if (compare_numeric(constant, PG_INT64_MAX) > 0)
		return (EmogiFilterBounds) {.no_first = true,.no_after = true};
	if (compare_numeric(constant, PG_INT64_MIN) < 0)
		return (EmogiFilterBounds) {PG_INT64_MIN, PG_INT64_MIN};
	floor = DatumGetInt64(DirectFunctionCall1(numeric_int8,
											  DirectFunctionCall1(numeric_floor, constant)));
	bounds = emogi_filter_bounds_of_integer(floor);
	if (compare_numeric(constant, floor) != 0)
	{
		bounds.first = bounds.after;
		bounds.no_first = bounds.no_after;
	}
	return bounds;
}

/* Get the integer of a value of a type that is stored as one. */
int64
emogi_filter_bounds_integer(Datum value, Oid type)
{
	switch (type)
	{
		case BOOLOID:
			return DatumGetBool(value);
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
		case DATEOID:
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

/* Get the double of a constant of a type that is stored as a float. */
double
emogi_filter_bounds_double(Datum value, Oid type)
{
	return type == FLOAT4OID ? (double) DatumGetFloat4(value) : DatumGetFloat8(value);
}

/* Does a pattern end with an escape character, which may be an error? */
static bool
ends_with_escape(Datum pattern)
{
	const char *bytes = VARDATA_ANY(DatumGetPointer(pattern));
	int			length = VARSIZE_ANY_EXHDR(DatumGetPointer(pattern));
	bool		is_escaped = false;

	while (length > 0 && bytes[--length] == '\\')
		is_escaped = !is_escaped;
	return is_escaped;
}

/* Check whether LIKE under this collation with this constant cannot raise an error. */
bool
emogi_filter_bounds_is_safe_pattern(const Const *constant, Oid collation)
{
	return constant->consttype == TEXTOID && OidIsValid(collation) &&
		get_collation_isdeterministic(collation) &&
		!ends_with_escape(PointerGetDatum(PG_DETOAST_DATUM_PACKED(constant->constvalue)));
}
