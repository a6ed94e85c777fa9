/*
 * edge_filter_leaves.c: the predicates of edge filters on whole words of entries.
 *
 * A loop over the 64 values of a word computes 64 bytes, for which the compiler uses vector
 * instructions, and packs them.
 *
 * Comparisons of floats need only <, <= and =. The others are their opposites: NaN equals itself
 * and is the largest value, so the order is total.
 */
#include "edge_filter_leaves.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define FEW_VALUES 8			/* compared one after the other, with vectors */

/* Pack 64 bytes, each 0 or 1, into a word. */
static inline uint64_t
pack(const uint8_t *bytes)
{
	uint64_t	word = 0;

#ifdef __SSE2__
	for (int i = 0; i < 64; i += 16)
	{
		const __m128i sixteen = _mm_loadu_si128((const __m128i *) (bytes + i));

		word |= (uint64_t) (uint32_t) _mm_movemask_epi8(_mm_slli_epi16(sixteen, 7)) << i;
	}
#else
	for (int i = 0; i < 64; i++)
		word |= (uint64_t) bytes[i] << i;
#endif
	return word;
}

/* The body of a loop over words: the bits of v[0 .. 63] that satisfy a condition on x. */
#define WORDS(type, condition) \
	for (uint64_t w = 0; w < nwords; w++) \
	{ \
		const type *v = (const type *) values + w * 64; \
		uint8_t		bytes[64]; \
\
		for (int i = 0; i < 64; i++) \
		{ \
			const type	x = v[i]; \
\
			bytes[i] = (condition); \
		} \
		bits[w] = pack(bytes); \
	}

/* ---- integers ---- */

/* Test integers against [low, low + width], one unsigned comparison each. */
static void
range_i8(const void *values, uint64_t nwords, int8_t low, uint8_t width, uint64_t *bits)
{
	WORDS(int8_t, (uint8_t) (x - low) <= width);
}

static void
range_i16(const void *values, uint64_t nwords, int16_t low, uint16_t width, uint64_t *bits)
{
	WORDS(int16_t, (uint16_t) (x - low) <= width);
}

static void
range_i32(const void *values, uint64_t nwords, uint32_t low, uint32_t width, uint64_t *bits)
{
	WORDS(int32_t, (uint32_t) x - low <= width);
}

static void
range_i64(const void *values, uint64_t nwords, uint64_t low, uint64_t width, uint64_t *bits)
{
	WORDS(int64_t, (uint64_t) x - low <= width);
}

/* Get the smallest and the largest integer of a type. */
static void
get_limits(EmogiPropertyType type, int64_t *min, int64_t *max)
{
	static const int64_t maxima[] = {INT8_MAX, INT16_MAX, INT32_MAX, INT64_MAX};

	*max = maxima[type];
	*min = -*max - 1;
}

/* Test integers against [low, high]. */
static void
test_range(EmogiPropertyType type, const void *values, uint64_t nwords, int64_t low, int64_t high,
		   uint64_t *bits)
{
	int64_t		min,
				max;

	get_limits(type, &min, &max);
	low = low < min ? min : low;
	high = high > max ? max : high;
	if (low > high)
		memset(bits, 0, nwords * sizeof(*bits));
	else if (type == EMOGI_PROPERTY_I8)
		range_i8(values, nwords, (int8_t) low, (uint8_t) (high - low), bits);
	else if (type == EMOGI_PROPERTY_I16)
		range_i16(values, nwords, (int16_t) low, (uint16_t) (high - low), bits);
	else if (type == EMOGI_PROPERTY_I32)
		range_i32(values, nwords, (uint32_t) low, (uint32_t) (high - low), bits);
	else
		range_i64(values, nwords, (uint64_t) low, (uint64_t) high - (uint64_t) low, bits);
}

/* Load the 64 integers of a word. */
static void
load_integers(EmogiPropertyType type, const void *values, uint64_t word, int64_t *to)
{
#define LOAD(type) \
	for (int i = 0; i < 64; i++) \
		to[i] = ((const type *) values)[word * 64 + i]
	if (type == EMOGI_PROPERTY_I8)
		LOAD(int8_t);
	else if (type == EMOGI_PROPERTY_I16)
		LOAD(int16_t);
	else if (type == EMOGI_PROPERTY_I32)
		LOAD(int32_t);
	else
		LOAD(int64_t);
}

/* Check whether an integer is in an ascending list. */
static bool
has_integer(const int64_t *list, uint64_t count, int64_t value)
{
	const int64_t *base = list;

	for (uint64_t n = count; n > 1; n -= n / 2)
		base += base[n / 2] <= value ? n / 2 : 0;
	return *base == value;
}

/* Test integers against a list. */
static void
among_integers(const EmogiFilterStep *step, EmogiPropertyType type, const void *values,
			   uint64_t nwords, uint64_t *bits)
{
	const int64_t *list = step->values;

	for (uint64_t w = 0; w < nwords; w++)
	{
		int64_t		integers[64];
		uint64_t	word = 0;

		load_integers(type, values, w, integers);
		for (int i = 0; i < 64; i++)
			word |= (uint64_t) has_integer(list, step->nvalues, integers[i]) << i;
		bits[w] = word;
	}
}

/* Test integers against a set. */
static void
in_set(const EmogiFilterStep *step, EmogiPropertyType type, const void *values, uint64_t nwords,
	   uint64_t *bits)
{
	const uint64_t *members = step->values;
	const uint64_t width = (uint64_t) step->high - (uint64_t) step->low;

	for (uint64_t w = 0; w < nwords; w++)
	{
		int64_t		integers[64];
		uint64_t	word = 0;

		load_integers(type, values, w, integers);
		for (int i = 0; i < 64; i++)
		{
			const uint64_t place = (uint64_t) integers[i] - (uint64_t) step->low;
			const uint64_t bounded = place <= width ? place : 0;

			word |= (members[bounded / 64] >> (bounded % 64) & (place <= width)) << i;
		}
		bits[w] = word;
	}
}

/* ---- floats ---- */

/* Compare floats with a number that is not NaN by <, <= or =. */
#define COMPARE(suffix, type) \
static void \
compare_##suffix(const void *values, uint64_t nwords, EmogiComparison comparison, double number, \
				 uint64_t *bits) \
{ \
	if (comparison == EMOGI_LESS) \
		WORDS(type, x < number) \
	else if (comparison == EMOGI_LESS_OR_EQUAL) \
		WORDS(type, x <= number) \
	else \
		WORDS(type, x == number) \
} \
\
/* Find the NaNs. */ \
static void \
find_nan_##suffix(const void *values, uint64_t nwords, uint64_t *bits) \
{ \
	WORDS(type, x != x) \
}
COMPARE(f32, float)
COMPARE(f64, double)

/* Invert all bits. */
static void
invert(uint64_t nwords, uint64_t *bits)
{
	for (uint64_t w = 0; w < nwords; w++)
		bits[w] = ~bits[w];
}

/* Get which of <, <=, = decides a comparison; *is_opposite: it is true if that is false. */
static EmogiComparison
get_basic(EmogiComparison comparison, bool *is_opposite)
{
	static const EmogiComparison basic[] = {EMOGI_LESS, EMOGI_LESS_OR_EQUAL, EMOGI_EQUAL,
		EMOGI_LESS, EMOGI_LESS_OR_EQUAL, EMOGI_EQUAL};

	*is_opposite = comparison >= EMOGI_GREATER_OR_EQUAL;
	return basic[comparison];
}

/* Compare floats with NaN by <, <= or =. */
static void
compare_with_nan(EmogiPropertyType type, const void *values, uint64_t nwords,
				 EmogiComparison comparison, uint64_t *bits)
{
	if (comparison == EMOGI_LESS_OR_EQUAL)
		memset(bits, 0xFF, nwords * sizeof(*bits));
	else if (type == EMOGI_PROPERTY_F32)
		find_nan_f32(values, nwords, bits);
	else
		find_nan_f64(values, nwords, bits);
	if (comparison == EMOGI_LESS)
		invert(nwords, bits);
}

/* Compare floats with a number. */
static void
compare(EmogiPropertyType type, const void *values, uint64_t nwords, EmogiComparison comparison,
		double number, uint64_t *bits)
{
	bool		is_opposite;
	const EmogiComparison basic = get_basic(comparison, &is_opposite);

	if (number != number)
		compare_with_nan(type, values, nwords, basic, bits);
	else if (type == EMOGI_PROPERTY_F32)
		compare_f32(values, nwords, basic, number, bits);
	else
		compare_f64(values, nwords, basic, number, bits);
	if (is_opposite)
		invert(nwords, bits);
}

/* Check whether a < b, a <= b, a = b in PostgreSQL's order. */
static inline bool
is_less(double a, double b)
{
	return (a < b) | ((b != b) & (a == a));
}

static inline bool
is_equal(double a, double b)
{
	return (a == b) | ((a != a) & (b != b));
}

static inline bool
is_less_or_equal(double a, double b)
{
	return (a <= b) | (b != b);
}

/* Load the 64 values of a word as doubles. */
static void
load_floats(EmogiPropertyType type, const void *values, uint64_t word, double *to)
{
	if (type == EMOGI_PROPERTY_F64)
		LOAD(double);
	else if (type == EMOGI_PROPERTY_F32)
		LOAD(float);
	else
	{
		int64_t		integers[64];

		load_integers(type, values, word, integers);
		for (int i = 0; i < 64; i++)
			to[i] = (double) integers[i];
	}
}

/* Check whether a float is in an ascending list. */
static bool
has_float(const double *list, uint64_t count, double value)
{
	const double *base = list;

	for (uint64_t n = count; n > 1; n -= n / 2)
		base += is_less_or_equal(base[n / 2], value) ? n / 2 : 0;
	return is_equal(*base, value);
}

/* Test floats against a list. */
static void
among_floats(const EmogiFilterStep *step, EmogiPropertyType type, const void *values,
			 uint64_t nwords, uint64_t *bits)
{
	const double *list = step->values;

	for (uint64_t w = 0; w < nwords; w++)
	{
		double		floats[64];
		uint64_t	word = 0;

		load_floats(type, values, w, floats);
		for (int i = 0; i < 64; i++)
			word |= (uint64_t) has_float(list, step->nvalues, floats[i]) << i;
		bits[w] = word;
	}
}

/* ---- lists and columns ---- */

/* Test values against a list of at most FEW_VALUES. */
static void
among_few(const EmogiFilterStep *step, EmogiPropertyType type, const void *values, uint64_t nwords,
		  uint64_t *bits)
{
	memset(bits, 0, nwords * sizeof(*bits));
	for (uint64_t i = 0; i < step->nvalues; i++)
	{
		const int64_t *integers = step->values;
		const double *floats = step->values;

		for (uint64_t w = 0; w < nwords; w++)
		{
			const char *word = (const char *) values + w * 64 * emogi_property_width(type);
			uint64_t	equal;

			if (emogi_property_is_float(type))
				compare(type, word, 1, EMOGI_EQUAL, floats[i], &equal);
			else
				test_range(type, word, 1, integers[i], integers[i], &equal);
			bits[w] |= equal;
		}
	}
}

/* Compare the values of two columns, from their words `first` on. */
static void
compare_columns(const EmogiFilterStep *step, const EmogiProperty *a, const EmogiProperty *b,
				uint64_t first, uint64_t nwords, uint64_t *bits)
{
	const bool	are_integers = !emogi_property_is_float(a->type) &&
		!emogi_property_is_float(b->type);
	bool		is_opposite;
	const EmogiComparison basic = get_basic(step->comparison, &is_opposite);

#define PAIRS(condition) \
	for (int i = 0; i < 64; i++) \
		word |= (uint64_t) (condition) << i
	for (uint64_t w = 0; w < nwords; w++)
	{
		union
		{
			int64_t		integers[64];
			double		floats[64];
		}			x,
					y;
		uint64_t	word = 0;

		if (are_integers)
		{
			load_integers(a->type, a->values, first + w, x.integers);
			load_integers(b->type, b->values, first + w, y.integers);
			if (basic == EMOGI_LESS)
				PAIRS(x.integers[i] < y.integers[i]);
			else if (basic == EMOGI_LESS_OR_EQUAL)
				PAIRS(x.integers[i] <= y.integers[i]);
			else
				PAIRS(x.integers[i] == y.integers[i]);
		}
		else
		{
			load_floats(a->type, a->values, first + w, x.floats);
			load_floats(b->type, b->values, first + w, y.floats);
			if (basic == EMOGI_LESS)
				PAIRS(is_less(x.floats[i], y.floats[i]));
			else if (basic == EMOGI_LESS_OR_EQUAL)
				PAIRS(is_less_or_equal(x.floats[i], y.floats[i]));
			else
				PAIRS(is_equal(x.floats[i], y.floats[i]));
		}
		bits[w] = is_opposite ? ~word : word;
	}
}

void
emogi_edge_filter_leaf(const EmogiFilterStep *step, const EmogiProperties *properties,
					   uint64_t first, uint64_t nwords, uint64_t *bits)
{
	const EmogiProperty *column = &properties->columns[step->column];
	const void *values = (const char *) column->values +
		first * 64 * emogi_property_width(column->type);

	if (step->kind == EMOGI_FILTER_RANGE)
		test_range(column->type, values, nwords, step->low, step->high, bits);
	else if (step->kind == EMOGI_FILTER_COMPARE)
		compare(column->type, values, nwords, step->comparison, step->number, bits);
	else if (step->kind == EMOGI_FILTER_IN_SET)
		in_set(step, column->type, values, nwords, bits);
	else if (step->kind == EMOGI_FILTER_COMPARE_COLUMNS)
		compare_columns(step, column, &properties->columns[step->other], first, nwords, bits);
	else if (step->nvalues <= FEW_VALUES)
		among_few(step, column->type, values, nwords, bits);
	else if (emogi_property_is_float(column->type))
		among_floats(step, column->type, values, nwords, bits);
	else
		among_integers(step, column->type, values, nwords, bits);
}
