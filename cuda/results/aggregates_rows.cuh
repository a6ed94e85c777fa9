/*
 * aggregates_rows.cuh: rows of a result that aggregates are computed from, for the kernels of both
 * kinds of aggregates.
 */
#ifndef EMOGI_AGGREGATES_ROWS_CUH
#define EMOGI_AGGREGATES_ROWS_CUH

#include "cuda/core/run.cuh"

#define SIGN (1ull << 63)

typedef unsigned long long Key;	/* a value, as an unsigned integer in the same order */

/* The vertices that have a wanted row. */
typedef struct Rows
{
	uint64_t	nvertices;
	const void *arrays[EMOGI_MAX_COLUMNS];	/* [nvertices] each; NULL = end of the columns */
	EmogiColumnType types[EMOGI_MAX_COLUMNS];
	EmogiRange	ranges[EMOGI_MAX_COLUMNS];
	bool		has_none;
	double		none;			/* value of the first column if there is no row */
} Rows;

/* Output of the kernels. */
typedef struct Found
{
	long long	min;			/* values of the grouping column */
	long long	max;
	Key			count;			/* groups, or vertices */
} Found;
/* Return an integer value; column -1 is the vertex number. */
static __device__ __forceinline__ long long
integer_at(const Rows &rows, int column, uint64_t v)
{
	if (column < 0)
		return (long long) v;
	switch (rows.types[column])
	{
		case EMOGI_INT32:
			return static_cast<const int32_t *>(rows.arrays[column])[v];
		case EMOGI_INT64:
			return static_cast<const int64_t *>(rows.arrays[column])[v];
		case EMOGI_VERTEX:
			return static_cast<const uint32_t *>(rows.arrays[column])[v];
		case EMOGI_FLOAT64:
			break;
	}
	return 0;
}

/* Return a float value. */
static __device__ __forceinline__ double
float_at(const Rows &rows, int column, uint64_t v)
{
	return static_cast<const double *>(rows.arrays[column])[v];
}

/* Return the key of a number. */
static __device__ __forceinline__ Key
key_of_float(double value)
{
	const Key bits = (Key) __double_as_longlong(value);

	return (bits & SIGN) != 0 ? ~bits : bits | SIGN;
}

/* Return whether a vertex has a wanted row. */
static __device__ __forceinline__ bool
is_wanted(const Rows &rows, uint64_t v)
{
#pragma unroll
	for (int i = 0; i < EMOGI_MAX_COLUMNS; i++)
	{
		const EmogiRange &range = rows.ranges[i];
		const bool	has_none = i == 0 && rows.has_none;

		if (rows.arrays[i] == NULL)
			break;
		if (!has_none && !range.given)
			continue;
		if (rows.types[i] == EMOGI_FLOAT64)
		{
			const double value = float_at(rows, i, v);

			if ((has_none && value == rows.none) ||
				(range.given && !(value >= range.min_float && value <= range.max_float)))
				return false;
		}
		else
		{
			const long long value = integer_at(rows, i, v);

			if ((has_none && value == (long long) rows.none) ||
				(range.given && !(value >= range.min && value <= range.max)))
				return false;
		}
	}
	return true;
}

/* Allocate a Found and initialize it. */
static inline EmogiStatus
take_found(Run *run, Found **found, EmogiError *error)
{
	const Found none = {INT64_MAX, INT64_MIN, 0};

	TRY(take_array(&run->memory, found, 1, "what a summary finds", error));
	return emogi_run_send(run, *found, &none, sizeof none, error);
}

/* Group the rows; *fits is false if there are more groups than the caller has room for. */
extern EmogiStatus emogi_aggregates_groups(Run *run, const Rows *rows, const EmogiSummary *summary,
										   uint64_t *count, bool *fits, EmogiError *error);
/*
 * Select the rows that may be among the first; *fits is false if there are more than the caller has
 * room for.
 */
extern EmogiStatus emogi_aggregates_first(Run *run, const Rows *rows, const EmogiSummary *summary,
										  EmogiResult *result, uint64_t *count, bool *fits,
										  EmogiError *error);
#endif							/* EMOGI_AGGREGATES_ROWS_CUH */
