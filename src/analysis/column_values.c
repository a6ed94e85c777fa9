/*
 * column_values.c: find the values of a column's dictionary that are equal to a constant, or before
 * it, in the order of the type under the column's collation.
 *
 * Codes of few values are in this order. For many, equality needs only a hash of the type, which is
 * stored for each value. The order is made by the first call with a comparison that needs it, and
 * then shared: to sort hundreds of thousands of texts by a collation takes seconds.
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "miscadmin.h"
#include "utils/sortsupport.h"

#include "analysis/column_values.h"

/* Cost of a comparison of values, with abbreviated keys or without. */
#define ABBREVIATED_US 0.1
#define COMPARISON_US 1.0

/* Get the hash of a value by its type, in the upper half: equal values have equal hashes. */
uint64
emogi_column_values_hash(TypeCacheEntry *type, Oid collation, Datum value)
{
	return (uint64) DatumGetUInt32(FunctionCall1Coll(&type->hash_proc_finfo, collation, value)) << 32;
}

/* ---- equality ---- */

/* Find the first element of a column's hashes that is not below a hash. */
static uint32
find_hash(const EmogiColumn *column, uint64 hash)
{
	uint32		low = 0;
	uint32		high = column->nvalues;

	while (low < high)
	{
		const uint32 middle = low + (high - low) / 2;

		if (column->hashes[middle] < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Get the codes of the values that are equal to a constant, of a column whose codes are not in
 * order; return their number. Several values may be equal for the type, as 1.0 and 1.00 are.
 */
uint32
emogi_column_values_equal(const EmogiColumn *column, Datum value, uint32 **codes)
{
	TypeCacheEntry *type = lookup_type_cache(column->identity.type, TYPECACHE_HASH_PROC_FINFO |
											 TYPECACHE_EQ_OPR_FINFO);
	const Oid	collation = column->identity.collation;
	const uint64 hash = emogi_column_values_hash(type, collation, value);
	const uint32 first = find_hash(column, hash);
	uint32		end = first;
	uint32		count = 0;

	while (end < column->nvalues && column->hashes[end] >> 32 == hash >> 32)
		end++;
	*codes = palloc(Max(end - first, 1) * sizeof **codes);
	for (uint32 i = first; i < end; i++)
	{
		const uint32 code = (uint32) column->hashes[i];

		if (DatumGetBool(FunctionCall2Coll(&type->eq_opr_finfo, collation,
										   emogi_column_value(column, code, type->typbyval),
										   value)))
			(*codes)[count++] = code;
	}
	return count;
}

/* ---- order ---- */

/*
 * Get the number of values before a constant, or also of those equal to it. order: of the codes;
 * NULL = they are in order.
 */
uint32
emogi_column_values_before(const EmogiColumn *column, const uint32 *order, Datum value,
						   bool or_equal)
{
	TypeCacheEntry *type = lookup_type_cache(column->identity.type, TYPECACHE_CMP_PROC_FINFO);
	uint32		low = 0;
	uint32		high = column->nvalues;

	while (low < high)
	{
		const uint32 middle = low + (high - low) / 2;
		const Datum other = emogi_column_value(column, order != NULL ? order[middle] : middle,
											   type->typbyval);
		const int	sign = DatumGetInt32(FunctionCall2Coll(&type->cmp_proc_finfo,
														   column->identity.collation, other,
														   value));

		if (sign < 0 || (or_equal && sign == 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A value to sort. */
typedef struct SortedValue
{
	Datum		key;			/* abbreviated, if the type can do that */
	uint32		code;
} SortedValue;

/* A sort of the values of a column. */
typedef struct Sort
{
	const EmogiColumn *column;
	bool		by_value;
	SortSupportData support;
} Sort;

static int
compare_values(const void *a, const void *b, void *arg)
{
	Sort	   *sort = arg;
	const SortedValue *x = a;
	const SortedValue *y = b;
	int			order = ApplySortComparator(x->key, false, y->key, false, &sort->support);

	CHECK_FOR_INTERRUPTS();
	if (order == 0 && sort->support.abbrev_converter != NULL)
		order = ApplySortAbbrevFullComparator(emogi_column_value(sort->column, x->code,
																 sort->by_value), false,
											  emogi_column_value(sort->column, y->code,
																 sort->by_value), false,
											  &sort->support);
	return order != 0 ? order : x->code < y->code ? -1 : x->code > y->code;
}

/* Prepare a sort. */
static void
begin_sort(const EmogiColumn *column, Sort *sort)
{
	const TypeCacheEntry *type = lookup_type_cache(column->identity.type, TYPECACHE_LT_OPR);

	memset(sort, 0, sizeof *sort);
	sort->column = column;
	sort->by_value = type->typbyval;
	sort->support.ssup_cxt = CurrentMemoryContext;
	sort->support.ssup_collation = column->identity.collation;
	sort->support.abbreviate = true;
	PrepareSortSupportFromOrderingOp(type->lt_opr, &sort->support);
}

/* Estimate how long a sort takes. */
static double
sort_us(const Sort *sort)
{
	const double count = Max(sort->column->nvalues, 2);

	return count * log2(count) *
		(sort->support.abbrev_converter != NULL ? ABBREVIATED_US : COMPARISON_US);
}

/* Sort the codes of a column, in the current context. */
static uint32 *
sort_codes(Sort *sort)
{
	const EmogiColumn *column = sort->column;
	SortedValue *values = palloc(column->nvalues * sizeof *values);
	uint32	   *order = palloc(column->nvalues * sizeof *order);

	for (uint32 i = 0; i < column->nvalues; i++)
	{
		const Datum value = emogi_column_value(column, i, sort->by_value);

		values[i] = (SortedValue) {sort->support.abbrev_converter != NULL ?
								   sort->support.abbrev_converter(value, &sort->support) : value,
								   i};
	}
	qsort_arg(values, column->nvalues, sizeof *values, compare_values, sort);
	for (uint32 i = 0; i < column->nvalues; i++)
		order[i] = values[i].code;
	pfree(values);
	return order;
}

/*
 * Get the codes of a column in the order of its values, for a column whose codes are not in order.
 * If it is not known, it is made, and stored for other calls, unless this is estimated to take
 * longer than max_us: then return NULL. The call reads the column.
 */
static const uint32 *
get_order(const EmogiColumn *column, double max_us)
{
	pg_atomic_uint32 *state = (pg_atomic_uint32 *) &column->order_state;
	uint32		expected = EMOGI_ORDER_UNKNOWN;
	uint32	   *order;
	Sort		sort;

	if (pg_atomic_read_u32(state) == EMOGI_ORDER_KNOWN)
	{
		pg_read_barrier();
		return column->order;
	}
	begin_sort(column, &sort);
	if (sort_us(&sort) > max_us)
		return NULL;
	order = sort_codes(&sort);
	if (!pg_atomic_compare_exchange_u32(state, &expected, EMOGI_ORDER_BEING_WRITTEN))
		return order;			/* another call was faster */
	memcpy(column->order, order, column->nvalues * sizeof *order);
	pg_write_barrier();
	pg_atomic_write_u32(state, EMOGI_ORDER_KNOWN);
	pfree(order);
	return column->order;
}

/*
 * Get the codes of the values for which a comparison with a constant is true, of a column whose
 * codes are not in order; false if their order is needed, and to make it takes longer than max_us.
 */
bool
emogi_column_values_compare(const EmogiColumn *column, int strategy, Datum value, double max_us,
							const uint32 **codes, uint32 *count)
{
	const bool	is_below = strategy == BTLessStrategyNumber ||
		strategy == BTLessEqualStrategyNumber;
	const bool	or_equal = strategy == BTLessEqualStrategyNumber ||
		strategy == BTGreaterStrategyNumber;
	const uint32 *order;

	if (strategy == BTEqualStrategyNumber)
	{
		*count = emogi_column_values_equal(column, value, (uint32 **) codes);
		return true;
	}
	order = get_order(column, max_us);
	if (order == NULL)
		return false;
	*count = emogi_column_values_before(column, order, value, or_equal);
	*codes = is_below ? order : order + *count;
	if (!is_below)
		*count = column->nvalues - *count;
	return true;
}
