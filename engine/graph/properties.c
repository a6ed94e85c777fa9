/*
 * properties.c: bring property columns into the order of a graph's lists.
 *
 * The numbers of the edges, which lists carry as weights, lead from entries to rows. Threads take
 * chunks of entries, which begin at a whole word of the bitmap of NULLs.
 */
#include "contract/properties.h"

#include "graph/layout.h"
#include "graph/weights.h"
#include "threads/job.h"
#include "threads/pool.h"

#include <string.h>

#define CHUNK ((uint64_t) 128 * EMOGI_WEIGHTS_BATCH)	/* entries */

/* A column to fill. */
typedef struct Fill
{
	EmogiJob	job;
	const EmogiAdjacency *numbers;
	EmogiWeightType number_type;
	EmogiPropertyRows rows;
	EmogiPropertyType type;
	char	   *values;
	uint64_t   *nulls;			/* NULL = no value is NULL */
	uint64_t	next;			/* atomic: entry */
} Fill;

size_t
emogi_properties_bytes(EmogiPropertyType type, bool has_nulls, uint64_t nedges)
{
	const uint64_t nwords = emogi_bitmap_words(nedges);

	return emogi_whole_lines(nwords * 64 * emogi_property_width(type)) +
		(has_nulls ? emogi_whole_lines(nwords * sizeof(uint64_t)) : 0);
}

/* Store the values of rows; those of NULL are 0. */
#define STORE(type, from) \
	for (uint64_t i = 0; i < count; i++) \
	{ \
		const uint64_t row = (uint64_t) numbers[i]; \
		const bool	is_null = nulls != NULL && (nulls[row / 64] >> (row % 64) & 1) != 0; \
\
		((type *) fill->values)[first + i] = is_null ? 0 : (type) ((const from *) values)[row]; \
	}

/* Store the values of entries from `first` on, whose rows have these numbers. */
static void
store_values(const Fill *fill, uint64_t first, const double *numbers, uint64_t count)
{
	const void *values = fill->rows.values;
	const uint64_t *nulls = fill->rows.nulls;

	switch (fill->type)
	{
		case EMOGI_PROPERTY_I8:
			STORE(int8_t, int64_t);
			break;
		case EMOGI_PROPERTY_I16:
			STORE(int16_t, int64_t);
			break;
		case EMOGI_PROPERTY_I32:
			STORE(int32_t, int64_t);
			break;
		case EMOGI_PROPERTY_I64:
			STORE(int64_t, int64_t);
			break;
		case EMOGI_PROPERTY_F32:
			STORE(float, double);
			break;
		case EMOGI_PROPERTY_F64:
			STORE(double, double);
			break;
		case EMOGI_NPROPERTY_TYPES:
			break;
	}
}

/* Set the bits of NULL of entries from `first` on, which begins a word. */
static void
store_nulls(const Fill *fill, uint64_t first, const double *numbers, uint64_t count)
{
	const uint64_t *nulls = fill->rows.nulls;

	for (uint64_t i = 0; i < count; i += 64)
	{
		uint64_t	word = 0;

		for (uint64_t j = i; j < count && j < i + 64; j++)
		{
			const uint64_t row = (uint64_t) numbers[j];

			word |= (nulls[row / 64] >> (row % 64) & 1) << (j - i);
		}
		fill->nulls[(first + i) / 64] = word;
	}
}

static void
fill_chunks(void *arg, int thread, int nthreads)
{
	Fill	   *fill = arg;
	double		numbers[EMOGI_WEIGHTS_BATCH];
	uint64_t	first,
				end;

	while (emogi_job_take_chunk(&fill->job, &fill->next, CHUNK, fill->numbers->nedges, &first,
								&end))
	{
		for (uint64_t entry = first; entry < end; entry += EMOGI_WEIGHTS_BATCH)
		{
			const uint64_t count = end - entry < EMOGI_WEIGHTS_BATCH ? end - entry
				: EMOGI_WEIGHTS_BATCH;

			emogi_weights_load(numbers, fill->numbers->weights, fill->number_type, entry, count);
			store_values(fill, entry, numbers, count);
			if (fill->nulls != NULL)
				store_nulls(fill, entry, numbers, count);
		}
	}
}

/* Set the values between the last entry and the end of its word to 0. */
static void
pad_values(const Fill *fill)
{
	const size_t width = emogi_property_width(fill->type);
	const uint64_t nedges = fill->numbers->nedges;
	const uint64_t padded = emogi_bitmap_words(nedges) * 64;

	memset(fill->values + nedges * width, 0, (padded - nedges) * width);
}

EmogiStatus
emogi_properties_fill(EmogiPool *pool, const EmogiAdjacency *numbers, EmogiWeightType number_type,
					  const EmogiPropertyRows *rows, void *memory, EmogiProperty *property,
					  EmogiControl *control, EmogiError *error)
{
	const bool	has_nulls = rows->nulls != NULL;
	Fill		fill = {.job = {.control = control}, .numbers = numbers,
		.number_type = number_type, .rows = *rows, .type = property->type, .values = memory};

	if (has_nulls)
		fill.nulls = (uint64_t *) (fill.values +
								   emogi_properties_bytes(fill.type, false, numbers->nedges));
	if (!emogi_job_populate(&fill.job, memory,
							emogi_properties_bytes(fill.type, has_nulls, numbers->nedges)))
	{
		*error = (EmogiError) {.message = "out of memory for a column of the graph"};
		return EMOGI_NO_MEMORY;
	}
	emogi_pool_run(pool, fill_chunks, &fill);
	pad_values(&fill);
	property->values = fill.values;
	property->nulls = fill.nulls;
	return (EmogiStatus) fill.job.status;
}
