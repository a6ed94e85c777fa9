/*
 * ranges.c: select the vertices whose values lie in given ranges, block by block of the result
 * arrays
 *
 * All comparisons of a column with a value are combined into one range. The loops have no branches,
 * so that the compiler can vectorize them.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"

#include "contract/partition_point.h"
#include "scan_node/ranges.h"

/* Make a range empty. */
static void
make_empty(EmogiRange *range)
{
	range->min = 1;
	range->max = 0;
	range->min_float = 1;
	range->max_float = 0;
}

/* Narrow a range of integers. */
static void
narrow_integers(EmogiRange *range, EmogiPushdown pushdown, int64 operand)
{
	if ((pushdown == EMOGI_IS_BELOW && operand == PG_INT64_MIN) ||
		(pushdown == EMOGI_IS_ABOVE && operand == PG_INT64_MAX))
	{
		make_empty(range);
		return;
	}
	if (pushdown == EMOGI_IS_BELOW || pushdown == EMOGI_IS_AT_MOST || pushdown == EMOGI_IS)
		range->max = Min(range->max, operand - (pushdown == EMOGI_IS_BELOW));
	if (pushdown == EMOGI_IS_ABOVE || pushdown == EMOGI_IS_AT_LEAST || pushdown == EMOGI_IS)
		range->min = Max(range->min, operand + (pushdown == EMOGI_IS_ABOVE));
}

/* Narrow a range of floats. No result is NaN, which is greater than any number. */
static void
narrow_floats(EmogiRange *range, EmogiPushdown pushdown, double operand)
{
	if (isnan(operand))
	{
		if (pushdown != EMOGI_IS_BELOW && pushdown != EMOGI_IS_AT_MOST)
			make_empty(range);
		return;
	}
	if ((pushdown == EMOGI_IS_BELOW && operand == -(double) INFINITY) ||
		(pushdown == EMOGI_IS_ABOVE && operand == (double) INFINITY))
	{
		make_empty(range);
		return;
	}
	if (pushdown == EMOGI_IS_BELOW || pushdown == EMOGI_IS_AT_MOST || pushdown == EMOGI_IS)
		range->max_float = Min(range->max_float, pushdown == EMOGI_IS_BELOW ?
							   nextafter(operand, -(double) INFINITY) : operand);
	if (pushdown == EMOGI_IS_ABOVE || pushdown == EMOGI_IS_AT_LEAST || pushdown == EMOGI_IS)
		range->min_float = Max(range->min_float, pushdown == EMOGI_IS_ABOVE ?
							   nextafter(operand, (double) INFINITY) : operand);
}

/*
 * Narrow a column's range (0 = the first) by a comparison with a value. type: the operand's type,
 * an integer or float; for a vertex column it is INT8OID, and the operand a vertex number, or -1 if
 * there is no such vertex.
 */
void
emogi_ranges_narrow(EmogiRanges *ranges, const EmogiResultColumn *columns, int column,
					EmogiPushdown pushdown, Datum operand, Oid type)
{
	EmogiRange *range = &ranges->of[column];

	if (!range->given)
		*range = (EmogiRange) {true, PG_INT64_MIN, PG_INT64_MAX, -(double) INFINITY,
							   (double) INFINITY};
	ranges->given = true;
	if (type == FLOAT8OID)
		narrow_floats(range, pushdown, DatumGetFloat8(operand));
	else if (type == FLOAT4OID)
		narrow_floats(range, pushdown, DatumGetFloat4(operand));
	else if (type == INT4OID)
		narrow_integers(range, pushdown, DatumGetInt32(operand));
	else if (type == INT2OID)
		narrow_integers(range, pushdown, DatumGetInt16(operand));
	else
		narrow_integers(range, pushdown, DatumGetInt64(operand));
}

/*
 * Restrict a vertex column (0 = the first) to an ascending list of vertices, which is not copied.
 * There can be one list.
 */
void
emogi_ranges_list(EmogiRanges *ranges, const EmogiResultColumn *columns, int column,
				  const uint32 *listed, uint64 nlisted)
{
	emogi_ranges_narrow(ranges, columns, column, EMOGI_IS_AT_LEAST,
						Int64GetDatum(nlisted > 0 ? (int64) listed[0] : 1), INT8OID);
	emogi_ranges_narrow(ranges, columns, column, EMOGI_IS_AT_MOST,
						Int64GetDatum(nlisted > 0 ? (int64) listed[nlisted - 1] : 0), INT8OID);
	ranges->listed_column = column;
	ranges->listed = listed;
	ranges->nlisted = nlisted > 1 ? nlisted : 0;
}

/* Exclude one vertex from a vertex column (0 = the first). There can be one such vertex. */
void
emogi_ranges_exclude(EmogiRanges *ranges, int column, uint32 excluded)
{
	ranges->given = ranges->excludes = true;
	ranges->excluded_column = column;
	ranges->excluded = excluded;
}

/* Allow only values of a vertex column (0 = the first) that are, or are not, the row's vertex. */
void
emogi_ranges_compare_self(EmogiRanges *ranges, int column, bool is_self)
{
	ranges->given = ranges->compares_self = true;
	ranges->self_column = column;
	ranges->is_self = is_self;
}

/* ---- blocks ---- */

/* Clear the mask if a column's value lies outside its range. */
static EMOGI_VECTORS void
clear_int32(const int32 *values, uint32 count, const EmogiRange *range, uint8 *mask)
{
	const int32 min = (int32) Max(range->min, PG_INT32_MIN);
	const int32 max = (int32) Min(range->max, PG_INT32_MAX);

	if (range->min > range->max || range->min > PG_INT32_MAX || range->max < PG_INT32_MIN)
		memset(mask, 0, count);
	else
		for (uint32 i = 0; i < count; i++)
			mask[i] &= (values[i] >= min) & (values[i] <= max);
}

static EMOGI_VECTORS void
clear_int64(const int64 *values, uint32 count, const EmogiRange *range, uint8 *mask)
{
	const int64 min = range->min;
	const int64 max = range->max;

	for (uint32 i = 0; i < count; i++)
		mask[i] &= (values[i] >= min) & (values[i] <= max);
}

static EMOGI_VECTORS void
clear_vertex(const uint32 *values, uint32 count, const EmogiRange *range, uint8 *mask)
{
	const uint32 min = (uint32) Max(range->min, 0);
	const uint32 max = (uint32) Min(range->max, PG_UINT32_MAX);

	if (range->min > range->max || range->min > PG_UINT32_MAX || range->max < 0)
		memset(mask, 0, count);
	else
		for (uint32 i = 0; i < count; i++)
			mask[i] &= (values[i] >= min) & (values[i] <= max);
}

static EMOGI_VECTORS void
clear_float64(const double *values, uint32 count, const EmogiRange *range, uint8 *mask)
{
	const double min = range->min_float;
	const double max = range->max_float;

	for (uint32 i = 0; i < count; i++)
		mask[i] &= (values[i] >= min) & (values[i] <= max);
}

/* Clear the mask for the excluded vertex. */
static EMOGI_VECTORS void
clear_excluded(const uint32 *values, uint32 count, uint32 excluded, uint8 *mask)
{
	for (uint32 i = 0; i < count; i++)
		mask[i] &= values[i] != excluded;
}

/* Clear the mask for vertices that are (is_self = false), or are not, those of their rows. */
static EMOGI_VECTORS void
clear_self(const uint32 *values, uint32 first, uint32 count, bool is_self, uint8 *mask)
{
	for (uint32 i = 0; i < count; i++)
		mask[i] &= (values[i] == first + i) == is_self;
}

/*
 * Clear the mask for vertices that are not in the list. Few are left to look up between its first
 * and last element.
 */
static void
clear_unlisted(const uint32 *values, uint32 count, const EmogiRanges *ranges, uint8 *mask)
{
	const uint8 *end = mask + count;

	for (uint8 *p = mask; p < end && (p = memchr(p, 1, end - p)) != NULL; p++)
	{
		const uint32 value = values[p - mask];
		const uint64 low = EMOGI_PARTITION_POINT(0, ranges->nlisted, middle,
												 ranges->listed[middle] < value);

		*p = low < ranges->nlisted && ranges->listed[low] == value;
	}
}

/*
 * Set the mask for the vertices that have a row: those whose value in the first column is not
 * `none`.
 */
static EMOGI_VECTORS void
mark_rows(const EmogiResultColumn *column, EmogiArray array, uint64 first, uint32 count,
		  uint8 *mask)
{
	const double none = column->none;

	if (isnan(none))
	{
		memset(mask, 1, count);
		return;
	}
	switch (column->type)
	{
		case EMOGI_INT32:
			for (uint32 i = 0; i < count; i++)
				mask[i] = array.int32[first + i] != (int32) none;
			break;
		case EMOGI_INT64:
			for (uint32 i = 0; i < count; i++)
				mask[i] = array.int64[first + i] != (int64) none;
			break;
		case EMOGI_FLOAT64:
			for (uint32 i = 0; i < count; i++)
				mask[i] = array.float64[first + i] != none;
			break;
		case EMOGI_VERTEX:
			for (uint32 i = 0; i < count; i++)
				mask[i] = array.vertex[first + i] != (uint32) none;
			break;
		case EMOGI_EDGE:
			break;
	}
}

/* Count the ones in a mask of zeros and ones, [count], in words whose bytes cannot overflow. */
EMOGI_VECTORS uint32
emogi_ranges_count(const uint8 *mask, uint32 count)
{
	uint32		ones = 0;
	uint32		i = 0;

	while (count - i >= sizeof(uint64))
	{
		const uint32 nwords = Min((count - i) / sizeof(uint64), 255);
		uint64		sums = 0;

		for (uint32 k = 0; k < nwords; k++, i += sizeof(uint64))
		{
			uint64		word;

			memcpy(&word, mask + i, sizeof word);
			sums += word;
		}
		for (int k = 0; k < 8; k++)
			ones += (sums >> (8 * k)) & 0xFF;
	}
	for (; i < count; i++)
		ones += mask[i];
	return ones;
}

/*
 * Mark which of the vertices [first, first + count) have a row whose values lie in the ranges;
 * return their number. mask: [count], 0 or 1; count <= EMOGI_BLOCK_VERTICES.
 */
uint32
emogi_ranges_select(const EmogiRanges *ranges, const EmogiResultColumn *columns,
					const EmogiResult *result, uint64 first, uint32 count, uint8 *mask)
{
	mark_rows(&columns[0], result->columns[0], first, count, mask);
	for (int i = 0; ranges->given && columns[i].name != NULL; i++)
	{
		const EmogiRange *range = &ranges->of[i];
		const EmogiArray array = result->columns[i];

		if (!range->given)
			continue;
		if (columns[i].type == EMOGI_INT32)
			clear_int32(array.int32 + first, count, range, mask);
		else if (columns[i].type == EMOGI_INT64)
			clear_int64(array.int64 + first, count, range, mask);
		else if (columns[i].type == EMOGI_VERTEX)
			clear_vertex(array.vertex + first, count, range, mask);
		else
			clear_float64(array.float64 + first, count, range, mask);
	}
	if (ranges->excludes)
		clear_excluded(result->columns[ranges->excluded_column].vertex + first, count,
					   ranges->excluded, mask);
	if (ranges->compares_self)
		clear_self(result->columns[ranges->self_column].vertex + first, (uint32) first, count,
				   ranges->is_self, mask);
	if (ranges->nlisted > 0)
		clear_unlisted(result->columns[ranges->listed_column].vertex + first, count, ranges, mask);
	return emogi_ranges_count(mask, count);
}
